#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Bump allocator: many small pieces, one free. Zero-initialise to start.
 *
 *   block -> block -> block        each: header, then `cap` bytes
 *
 * Failure is an ordinary NULL; the arena stays usable. */
typedef struct ft__arena_block ft__arena_block;

typedef struct ft__arena {
    ft__arena_block *head;
    bool bad; /* ft__arena_need() has failed */
} ft__arena;

/* Begin with memory of the caller's, aligned for any type, which must outlive the
 * arena; it is not freed. */
void ft__arena_lend(ft__arena *a, void *memory, size_t size);
/* `size` zeroed bytes, aligned for any type. NULL when memory is short. */
void *ft__arena_alloc(ft__arena *a, size_t size);
/* n elements of `size` bytes; NULL also when the product overflows. */
void *ft__arena_array(ft__arena *a, size_t n, size_t size);
/* The same; a failure sets a->bad, so that the arrays of a whole struct are made one
 * after the other and looked at once. */
void *ft__arena_need(ft__arena *a, size_t n, size_t size);
/* A terminated copy of len bytes. */
char *ft__arena_strndup(ft__arena *a, const char *s, size_t len);
/* What vprintf() would print. */
char *ft__arena_vfmt(ft__arena *a, const char *fmt, va_list ap);
void ft__arena_free(ft__arena *a);

/* Not of an arena: room for one more behind the n elements of a list that grows, twice
 * as much each time. NULL when memory is short; the list is as it was. */
void *ft__list_grow(void *list, size_t n, size_t *cap, size_t size);

#endif
