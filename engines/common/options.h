#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "foretell/error.h"

/* One option into *to; false: there is none of that name, or none has that value. */
typedef bool ft__read_option_fn(void *to, const char *name, const char *value);

/* An engine's options, "NAME=VALUE,NAME=VALUE". FT_EINVAL: one that read() refuses,
 * with what the engine knows. */
ft_status ft__options_read(void *to, const char *engine, const char *text,
                           ft__read_option_fn *read, const char *knows, ft_error *err);
/* False: it is longer than the place for it. */
bool ft__option_text(char *out, size_t size, const char *value);
/* Which of the words, joined by '|', the value is; -1: none. */
int ft__option_word(const char *words, const char *value);
/* A whole number from 0 to `most`. */
bool ft__option_number(int *out, const char *value, long most);

/* Of an engine's library: `path`, or, where that is "", the first of `names` that the
 * loader finds; it stays until the process ends. NULL and FT_ENOTFOUND: why not, or how
 * to get it. */
void *ft__library_load(const char *engine, const char *path, const char *const names[2],
                       int mode, const char *how_to_get_it, ft_error *err);

#endif
