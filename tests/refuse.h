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

/* One allocation after the other fails until `call` succeeds: each failure comes back
 * as FT_ENOMEM, and there are more of them than `least`. */
#define CHECK_REFUSALS(call, least)                                                    \
    do {                                                                               \
        ft_status st_ = FT_ENOMEM;                                                     \
        int n_ = 0;                                                                    \
                                                                                       \
        while (st_ == FT_ENOMEM && n_ < 100000) {                                      \
            allocs_left = ++n_;                                                        \
            st_ = (call);                                                              \
            allocs_left = -1;                                                          \
        }                                                                              \
        CHECK_EQ(st_, FT_OK);                                                          \
        CHECK(CMP(n_, >, least));                                                      \
    } while (0)

#endif
