#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "foretell/error.h"

/* Growing, always terminated text. Failure is sticky: after one failed append
 * `bad` is set, later appends do nothing, and the caller tests once. */
typedef struct ft__buf {
    char *s;
    size_t len, cap;
    bool bad;
} ft__buf;

void ft__buf_add(ft__buf *b, const char *s, size_t len);
void ft__buf_str(ft__buf *b, const char *s);
/* As one word of a shell: in quotes where it needs them. */
void ft__buf_word(ft__buf *b, const char *s, size_t len);
FT_PRINTF(2, 3) void ft__buf_fmt(ft__buf *b, const char *fmt, ...);
void ft__buf_free(ft__buf *b);

/* A whole file of up to `most` bytes, terminated; *text is the caller's to free(), NULL
 * on failure. FT_EIO, FT_EFORMAT: it is larger. */
ft_status ft__file_read(char **text, size_t *len, const char *path, size_t most,
                        ft_error *err);

/* The part of a path behind its folders. */
const char *ft__base_name(const char *path);

#endif
