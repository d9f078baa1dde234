#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* JSON over untrusted bytes, pulled value by value. Nothing is copied: strings
 * and values that are skipped are slices of the text. Failure is sticky in the
 * document: after the first one every call gives false, so that a walk ends and
 * `why` is looked at once.
 *
 *   if (ft__json_object(r))
 *       while (ft__json_member(r, &name))
 *           read or skip one value
 */
typedef struct ft__text {
    const char *s;
    size_t n;
} ft__text;

typedef struct ft__json_doc {
    const char *base;
    size_t len;
    size_t pos;      /* of the failure */
    const char *why; /* static text; NULL: all is well */
} ft__json_doc;

typedef struct ft__json {
    ft__json_doc *doc;
    const char *p, *end;
    uint32_t depth;
    bool fresh; /* an object or array was opened, nothing in it is read yet */
} ft__json;

/* A walk over a value of the document, given as its slice. */
static inline ft__json ft__json_open(ft__json_doc *doc, ft__text value)
{
    const char *end = value.n ? value.s + value.n : value.s; /* may be NULL */

    return (ft__json){.doc = doc, .p = value.s, .end = end};
}

/* What comes next: one of {["0tfn, 0 for all numbers, among them NaN and Infinity,
 * which Python writes; 0 (the byte) at the end, or where no value begins. */
char ft__json_peek(ft__json *r);
/* Step into an object or array; false (and nothing read) when it is none. */
bool ft__json_object(ft__json *r);
bool ft__json_array(ft__json *r);
/* The next member, its name as it is written; false behind the last one. */
bool ft__json_member(ft__json *r, ft__text *name);
/* Whether there is another element; false behind the last one. */
bool ft__json_element(ft__json *r);
/* Values. A value of another type fails the document. Strings are as written,
 * escapes included. */
bool ft__json_string(ft__json *r, ft__text *out);
bool ft__json_int(ft__json *r, int64_t *out);
bool ft__json_number(ft__json *r, double *out);
bool ft__json_bool(ft__json *r, bool *out);
/* Any value, of which only strings and brackets are looked at. */
bool ft__json_skip(ft__json *r, ft__text *out);
/* Past all that follows in the object that was stepped into, and out of it. */
void ft__json_leave(ft__json *r);
/* The text has ended. */
bool ft__json_done(ft__json *r);
/* What a string says, without a closing 0. False: a wrong escape, or it does
 * not fit in cap bytes. */
bool ft__json_unescape(ft__text s, char *out, size_t cap, size_t *len);

static inline bool ft__text_is(ft__text t, const char *s, size_t n)
{
    return t.n == n && __builtin_memcmp(t.s, s, n) == 0;
}
/* Compares with a string literal. */
#define FT__IS(t, literal) ft__text_is((t), "" literal, sizeof(literal) - 1)

#endif
