#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <sys/time.h>
#include <time.h>

static inline double ft__clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the monotonic clock. */
static inline double ft__now_s(void)
{
    return ft__clock_s(CLOCK_MONOTONIC);
}

static inline double ft__timeval_s(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static inline struct timespec ft__timespec(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};

    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    return t;
}

/* Whatever signals come. */
static inline void ft__sleep_s(double seconds)
{
    double end_s = ft__now_s() + seconds;

    for (double left = seconds; left > 0; left = end_s - ft__now_s()) {
        struct timespec t = ft__timespec(left);

        nanosleep(&t, NULL);
    }
}

/* The time that something goes by, where that is not the monotonic clock: an engine's
 * that simulates, or a test's. It stands still but while somebody works or sleeps on
 * it. Wherever one is asked for, NULL is the monotonic clock. */
typedef struct ft__clock {
    double (*now_s)(void *user);
    void (*sleep_s)(void *user, double seconds);
    void *user;
} ft__clock;

static inline double ft__clock_now(const ft__clock *c)
{
    return c ? c->now_s(c->user) : ft__now_s();
}

static inline void ft__clock_sleep(const ft__clock *c, double seconds)
{
    if (c)
        c->sleep_s(c->user, seconds);
    else
        ft__sleep_s(seconds);
}

#endif
