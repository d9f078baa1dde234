/* Bump allocator: sizes in, zeroed memory out, all of it freed at once. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks double, so that a small job touches little memory. */
enum { FIRST_BYTES = 960, BLOCK_BYTES = 64 * 1024 };

struct ft__arena_block {
    ft__arena_block *next;
    size_t cap, used;
    bool lent;
    alignas(max_align_t) unsigned char data[];
};

void ft__arena_lend(ft__arena *a, void *memory, size_t size)
{
    ft__arena_block *b = memory;

    b->next = NULL;
    b->cap = size - sizeof(*b);
    b->used = 0;
    b->lent = true;
    a->head = b;
}

/* Bytes of the next block but for pieces that are larger. */
static size_t next_cap(const ft__arena *a)
{
    if (!a->head)
        return FIRST_BYTES;
    return a->head->cap < BLOCK_BYTES / 2 ? a->head->cap * 2 : BLOCK_BYTES;
}

static void *take(ft__arena *a, size_t size)
{
    const size_t align = alignof(max_align_t);
    ft__arena_block *b = a->head;
    void *p;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) / align * align;
    if (!b || b->cap - b->used < size) {
        size_t usual = next_cap(a), cap = size > usual ? size : usual;

        b = malloc(sizeof(*b) + cap);
        if (!b)
            return NULL;
        b->cap = cap;
        b->used = 0;
        b->lent = false;
        /* A piece with a block of its own goes behind the head, so that the
         * head's free space is not lost. */
        if (a->head && size > usual) {
            b->next = a->head->next;
            a->head->next = b;
        } else {
            b->next = a->head;
            a->head = b;
        }
    }
    p = b->data + b->used;
    b->used += size;
    return p;
}

void *ft__arena_alloc(ft__arena *a, size_t size)
{
    void *p = take(a, size);

    return p ? memset(p, 0, size) : NULL;
}

void *ft__arena_array(ft__arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / 2 / size)
        return NULL;
    return ft__arena_alloc(a, n * size);
}

void *ft__arena_need(ft__arena *a, size_t n, size_t size)
{
    void *p = ft__arena_array(a, n, size);

    a->bad |= !p;
    return p;
}

char *ft__arena_strndup(ft__arena *a, const char *s, size_t len)
{
    char *p = take(a, len + 1);

    if (!p)
        return NULL;
    memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

char *ft__arena_vfmt(ft__arena *a, const char *fmt, va_list ap)
{
    va_list again;
    char most[256], *text;
    int len;

    va_copy(again, ap);
    len = vsnprintf(most, sizeof(most), fmt, again);
    va_end(again);
    if (len >= 0 && (size_t)len < sizeof(most))
        return ft__arena_strndup(a, most, (size_t)len);
    text = len < 0 ? NULL : ft__arena_alloc(a, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, fmt, ap);
    return text;
}

void *ft__list_grow(void *list, size_t n, size_t *cap, size_t size)
{
    size_t more = *cap ? 2 * *cap : 16;
    void *grown;

    if (n < *cap)
        return list;
    grown = realloc(list, more * size);
    if (grown)
        *cap = more;
    return grown;
}

void ft__arena_free(ft__arena *a)
{
    while (a->head) {
        ft__arena_block *next = a->head->next;

        if (!a->head->lent)
            free(a->head);
        a->head = next;
    }
}
