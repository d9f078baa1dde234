#ifndef STEPPED_CLOCK_H
#define STEPPED_CLOCK_H

#include <stdio.h>

#include "base/clock.h"

/* Time that passes while somebody sleeps and at no other time, so that a test comes out
 * the same on a busy machine. What changes with time is brought up to date at every
 * multiple of step_s. */
struct stepped {
    double now_s, step_s;
    unsigned long long steps;
    void (*tick)(void *user, double now_s); /* may be NULL */
    void *user;
};

static double stepped_now(void *user)
{
    return ((const struct stepped *)user)->now_s;
}

static void stepped_sleep(void *user, double seconds)
{
    struct stepped *c = user;
    double end_s = c->now_s + seconds;

    while (c->tick && (double)(c->steps + 1) * c->step_s <= end_s) {
        c->now_s = (double)++c->steps * c->step_s;
        c->tick(c->user, c->now_s);
    }
    c->now_s = end_s;
}

static inline ft__clock stepped_clock(struct stepped *c)
{
    return (ft__clock){stepped_now, stepped_sleep, c};
}

/* Real time, but a program that is to last too long needs not last: as often as it
 * makes `file`, which the clock removes, hours have passed. */
struct leaping {
    char file[128];
    double ahead_s;
};

static double leaping_now(void *user)
{
    struct leaping *c = user;

    c->ahead_s += remove(c->file) ? 0 : 1e5;
    return ft__now_s() + c->ahead_s;
}

static void leaping_sleep(void *user, double seconds)
{
    (void)user;
    ft__sleep_s(seconds);
}

static inline ft__clock leaping_clock(struct leaping *c)
{
    return (ft__clock){leaping_now, leaping_sleep, c};
}

#endif
