#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <time.h>

/* Seconds of the monotonic clock. */
static inline double ft__now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whatever signals come. */
static inline void ft__sleep_s(double seconds)
{
    double end_s = ft__now_s() + seconds;

    for (double left = seconds; left > 0; left = end_s - ft__now_s()) {
        struct timespec t = {.tv_sec = (time_t)left};

        t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
        nanosleep(&t, NULL);
    }
}

#endif
