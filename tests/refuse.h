/* Allocation that can be refused: link with
 * -Wl,--wrap=calloc,--wrap=malloc,--wrap=realloc. While allocs_left is above 0 it
 * counts down; at 0 nothing is given; below, everything. */
#ifndef REFUSE_H
#define REFUSE_H

#include <stdlib.h>

#include "check.h"
#include "foretell/error.h"

static int allocs_left = -1;

static int refused(void)
{
    if (allocs_left > 0)
        allocs_left--;
    return allocs_left == 0;
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return refused() ? NULL : __real_realloc(p, size);
}

/* One allocation after the other fails until the call succeeds: each failure comes back
 * as FT_ENOMEM, and there are more of them than `least`. */
static inline void every_refused_allocation_is_reported(ft_status (*call)(void),
                                                        int least)
{
    ft_status st = FT_ENOMEM;
    int n = 0;

    while (st == FT_ENOMEM && n < 100000) {
        allocs_left = ++n;
        st = call();
        allocs_left = -1;
    }
    CHECK_EQ(st, FT_OK);
    CHECK(CMP(n, >, least));
}

#endif
