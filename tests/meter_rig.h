#ifndef METER_RIG_H
#define METER_RIG_H

/* Meters in a scratch folder and on the test's own time (stepped_clock.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device/power/meter.h"
#include "files.h"
#include "foretell/power.h"
#include "scratch.h"
#include "stepped_clock.h"

static struct stepped now;
static ft__clock clock_of_test;

/* From here on time stands still; `tick` is called for every step_s of it. */
static void hold_time(double step_s, void (*tick)(void *user, double now_s), void *user)
{
    now = (struct stepped){.step_s = step_s, .tick = tick, .user = user};
    clock_of_test = stepped_clock(&now);
}

struct wait {
    ft_meter *meter;
    double seconds;
};

static void let_pass(void *user)
{
    const struct wait *w = user;

    ft__meter_pass(w->meter, w->seconds);
}

/* Watch for so long; the domain called `name` of what was seen. */
static ft_power power_for(ft_meter *m, int ms, const char *name, ft_trace *keep)
{
    struct wait w = {m, 1e-3 * ms};
    ft_power p = {.joules = NAN};
    double from, to;
    ft_trace t;
    bool found = false;

    CHECK_EQ(ft_meter_watch(m, let_pass, &w, &t, &from, &to, NULL), FT_OK);
    for (uint32_t i = 0; i < t.n_domains; i++)
        if (strcmp(t.domain[i].name, name) == 0) {
            ft_power_of(&p, &t, i, from, to);
            found = true;
        }
    CHECK(found);
    if (keep)
        *keep = t;
    else
        ft_trace_free(&t);
    return p;
}

/* `clock` NULL: in real time, with a thread. */
static ft_meter *open_by(const ft__clock *clock, const ft_meter_options *opt)
{
    ft_error err = {0};
    ft_meter *m;

    if (ft__meter_open(&m, opt, clock, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(m != NULL);
    return m;
}

static ft_meter *open_meter(const char *sources, const char *root)
{
    const ft_meter_options opt = {.sources = sources, .root = root};

    return open_by(&clock_of_test, &opt);
}

#endif
