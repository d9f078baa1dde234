#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

/* Seconds of the monotonic clock. */
static inline double ft__now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
