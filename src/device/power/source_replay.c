/* A recorded trace as a source of power. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/power/power_inside.h"
#include "device/power/source.h"

/* A recorded trace, played at the speed it was recorded. Sources of one file share
 * it; the first one frees it. */
struct replay {
    ft_trace trace;
    double first_s, began_s;
};

static ft__read read_row(ft__power_source *s, ft_power_reading *out)
{
    const struct replay *p = s->state;
    const ft_power_reading *r = p->trace.reading[s->index];
    size_t n = p->trace.n[s->index], at = (size_t)s->unit;
    double now = ft__clock_now(s->all->clock) - p->began_s + p->first_s;

    if (at >= n) {
        snprintf(s->why, sizeof(s->why), "the recording has ended");
        return FT__READ_FAILED;
    }
    if (r[at].at_s > now)
        return FT__READ_SAME;
    while (at + 1 < n && r[at + 1].at_s <= now)
        at++;
    out->watts = r[at].watts;
    out->joules = r[at].joules;
    s->unit = (double)(at + 1);
    return FT__READ_GOOD;
}

static void begin(ft__power_source *s)
{
    struct replay *p = s->state;

    p->began_s = ft__clock_now(s->all->clock);
    s->unit = 0; /* rows played */
}

static void close_replay(ft__power_source *s)
{
    struct replay *p = s->state;

    if (s->index == 0) {
        ft_trace_free(&p->trace);
        free(p);
    }
}

static void add_domain(ft__sources *all, struct replay *p, uint32_t i)
{
    ft__power_source *s = ft__source_add(all, "");

    if (!s)
        return;
    s->d = p->trace.domain[i];
    s->state = p;
    s->index = i;
    s->read = read_row;
    s->begin = begin;
    s->hands_over = true;
    s->close = close_replay;
    if (p->trace.n[i] < 2)
        ft__source_refuse(s, "the recording has less than two readings of it", "");
}

ft_status ft__add_replay(ft__sources *all, const char *path, ft_error *err)
{
    struct replay *p = calloc(1, sizeof(*p));
    ft_status st = p ? ft__trace_read(&p->trace, path, err)
                     : ft_fail(err, FT_ENOMEM, 0, "%s", path);

    if (st) {
        free(p);
        return st;
    }
    p->first_s = INFINITY;
    for (uint32_t i = 0; i < p->trace.n_domains; i++)
        if (p->trace.n[i])
            p->first_s = fmin(p->first_s, p->trace.reading[i][0].at_s);
    for (uint32_t i = 0; i < p->trace.n_domains; i++)
        add_domain(all, p, i);
    if (all->n == 0 || all->bad) {
        if (!all->n) {
            ft_trace_free(&p->trace);
            free(p);
        }
        return ft_fail(err, all->bad ? FT_ENOMEM : FT_EFORMAT, 0, "%s: no readings",
                       path);
    }
    return FT_OK;
}
