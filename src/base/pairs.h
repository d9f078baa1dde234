#ifndef BASE_PAIRS_H
#define BASE_PAIRS_H

#include <stddef.h>

#include "base/buf.h"

/* Settings as text: "threads=1 clock=1200MHz", pairs of name and value apart by one
 * blank, names without '='. */

/* The value of `name` and its length, or NULL: not there. Borrowed from text. */
const char *ft__pair(const char *text, const char *name, size_t *len);
/* Of a name of so many bytes. */
const char *ft__pair_of(const char *text, const char *name, size_t n, size_t *len);
/* Its number in base units: "1200MHz" is 1.2e9, "250W" 250, "2" 2; prefixes k M G m u.
 * NaN: not there, or no number. */
double ft__pair_number(const char *text, const char *name);
/* The text without the pair of that name. */
void ft__pairs_without(ft__buf *out, const char *text, const char *name);

/* The same of several names at once, in one pass. */
typedef struct ft__pair_value {
    const char *s; /* NULL: not there */
    size_t len;
} ft__pair_value;
void ft__pairs_find(ft__pair_value *out, const char *text, const char *const *name,
                    size_t n);
double ft__pair_value_number(const ft__pair_value *v);

#endif
