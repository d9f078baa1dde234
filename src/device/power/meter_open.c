/* Opening a meter: which sources it reads, which of them work, and how often they
 * change. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "device/power/integral.h"
#include "device/power/meter.h"
#include "device/power/updates.h"

/* The period of a lane's values, from watching it for a moment. False: it is useless.
 */
static bool learn(ft_meter *m, struct ft__lane *l)
{
    ft_domain *d = &l->source->d;
    double period = NAN;
    size_t steps = 0;
    bool has_watts = false;

    for (int j = 0; j < 2; j++) {
        ft__updates u;

        if (!(j ? d->counts : d->tells_power))
            continue;
        if (!ft__updates_find(&u, d, l->r, l->n, j, 0, INFINITY)) {
            m->short_of_memory = true;
            return true;
        }
        if (isfinite(u.period_s) && u.n > 3)
            period = isfinite(period) ? fmax(period, u.period_s) : u.period_s;
        steps = j ? u.n : 0;
        free(u.u);
    }
    for (size_t i = 0; i < l->n; i++)
        has_watts = has_watts || (isfinite(l->r[i].watts) && l->r[i].watts > 0);
    if (!isfinite(d->period_s))
        d->period_s = period;
    return !l->failed && (steps || has_watts);
}

static void drop_lane(ft_meter *m, uint32_t i)
{
    free(m->lane[i].r);
    memmove(&m->lane[i], &m->lane[i + 1], (m->n - i - 1) * sizeof(*m->lane));
    m->n--;
}

/* True: every lane has moved. */
static bool watch(ft_meter *m, double seconds, ft_status *st, ft_error *err)
{
    bool all = true;

    m->probing = true;
    *st = ft__meter_begin(m, err);
    m->probing = false;
    if (*st)
        return false;
    ft__meter_pass(m, seconds);
    ft__meter_end(m, false);
    for (uint32_t i = 0; i < m->n; i++)
        all = learn(m, &m->lane[i]) && all;
    if (m->short_of_memory)
        *st = ft_fail(err, FT_ENOMEM, 0, "a meter");
    return all;
}

/* Whether a name of the list asks for this source; *whole: by its full name. */
static bool asked_for(const char *list, const ft__power_source *s, bool *whole)
{
    while (list && *list) {
        size_t len = strcspn(list, ",");

        *whole = len == strlen(s->d.name);
        if (ft__source_is(s, list, len))
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

/* FT_ENOTFOUND names a source that was asked for by its full name and does not
 * work, and what would help. */
static ft_status cannot_use(const ft__power_source *s, ft_error *err)
{
    return ft_fail(err, FT_ENOTFOUND, 0, "%s: %s%s%s", s->d.name, s->reason,
                   *s->remedy ? ", try: " : "", s->remedy);
}

static ft_status names_exist(ft_meter *m, const char *list, ft_error *err)
{
    while (list && *list) {
        size_t len = strcspn(list, ",");
        bool found = false;

        for (size_t i = 0; i < m->all.n; i++)
            found = found || ft__source_is(&m->all.source[i], list, len);
        if (!found)
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "no source \"%.*s\" on this machine: foretell doctor lists "
                           "what there is",
                           (int)len, list);
        list += len + (list[len] == ',');
    }
    return FT_OK;
}

static ft_status add_lanes(ft_meter *m, const char *list, ft_error *err)
{
    m->lane = calloc(m->all.n + 1, sizeof(*m->lane));
    m->domain = calloc(m->all.n + 1, sizeof(*m->domain));
    if (!m->lane || !m->domain || m->all.bad)
        return ft_fail(err, FT_ENOMEM, 0, "a meter");
    for (size_t i = 0; i < m->all.n; i++) {
        ft__power_source *s = &m->all.source[i];
        bool whole = false;

        if (list && !asked_for(list, s, &whole))
            continue;
        if (s->read)
            m->lane[m->n++].source = s;
        else if (whole)
            return cannot_use(s, err);
    }
    return FT_OK;
}

static ft_status none_works(const ft_meter *m, ft_error *err)
{
    ft__buf why = {0};
    ft_status st;

    ft__sources_why_none(&m->all, &why);
    st = ft_fail(err, FT_EUNSUPPORTED, 0, "%s", why.s ? why.s : "");
    ft__buf_free(&why);
    return st;
}

/* Drops what stood still; what was named must work. */
static ft_status keep_the_living(ft_meter *m, const char *list, ft_error *err)
{
    for (uint32_t i = m->n; i-- > 0;) {
        struct ft__lane *l = &m->lane[i];
        ft__power_source *s = l->source;
        bool whole = false;

        if (learn(m, l))
            continue;
        if (l->failed)
            ft__source_refuse(
                s,
                ft__source_keep(&m->all, "%s", *s->why ? s->why : "it cannot be read"),
                ft__source_remedy(&m->all, s));
        else
            ft__source_refuse_still(&m->all, s, s->d.counts, 0.7);
        if (asked_for(list, s, &whole) && whole)
            return cannot_use(s, err);
        drop_lane(m, i);
    }
    return m->n ? FT_OK : none_works(m, err);
}

static bool is_prefixed(const char *text, const char *prefix)
{
    return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

static ft_status find(ft_meter *m, const ft_meter_options *opt, ft_error *err)
{
    const char *root = opt->root ? opt->root : "", *want = opt->sources;
    bool real = !*root;

    root = m->all.root =
        ft__source_keep(&m->all, "%s", root); /* outlives the caller's */
    m->plays = is_prefixed(want, "replay:");
    if (m->plays)
        return ft__add_replay(&m->all, want + strlen("replay:"), err);
    if (is_prefixed(want, "command:"))
        return ft__add_command(&m->all, want + strlen("command:"), err);
    ft__sources_find(&m->all, root,
                     opt->nvml ? opt->nvml
                     : real    ? FT__NVML_LIBRARY
                               : NULL,
                     opt->amd ? opt->amd
                     : real   ? FT__AMD_LIBRARIES
                              : NULL);
    return names_exist(m, want, err);
}

/* Copies of the lanes' domains, which watching has completed. */
static void settle_domains(ft_meter *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        m->domain[i] = m->lane[i].source->d;
        m->domain[i].least_s = ft__least_s(&m->domain[i]);
    }
}

static ft_status prepare(ft_meter *m, const ft_meter_options *opt, ft_error *err)
{
    bool played =
        is_prefixed(opt->sources, "replay:") || is_prefixed(opt->sources, "command:");
    const char *list = played ? NULL : opt->sources;
    ft_status st = find(m, opt, err);

    if (!st)
        st = add_lanes(m, list, err);
    if (!st && m->n == 0)
        st = none_works(m, err);
    if (!st && !played && !watch(m, 0.3, &st, err) && !st)
        (void)watch(m, 0.7, &st, err);
    if (!st && !played)
        st = keep_the_living(m, list, err);
    if (!st)
        settle_domains(m);
    return st;
}

ft_status ft__meter_open(ft_meter **out, const ft_meter_options *opt,
                         const ft__clock *clock, ft_error *err)
{
    const ft_meter_options none = {0};
    pthread_condattr_t attr;
    ft_meter *m;
    ft_status st;

    *out = NULL;
    opt = opt ? opt : &none;
    if (!(opt->period_s >= 0 && opt->period_s <= 60))
        return ft_fail(err, FT_EINVAL, 0, "a meter reads every 0 to 60 s");
    m = calloc(1, sizeof(*m));
    if (!m)
        return ft_fail(err, FT_ENOMEM, 0, "a meter");
    m->period_s = opt->period_s;
    m->all.clock = clock;
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->change, &attr);
    pthread_condattr_destroy(&attr);
    st = prepare(m, opt, err);
    if (st) {
        ft_meter_close(m);
        return st;
    }
    *out = m;
    return FT_OK;
}

ft_status ft_meter_open(ft_meter **out, const ft_meter_options *opt, ft_error *err)
{
    return ft__meter_open(out, opt, NULL, err);
}

const ft__clock *ft__meter_follow(ft_meter *m, const ft__clock *clock)
{
    const ft__clock *before = m->all.clock;

    if (m->plays)
        m->all.clock = clock;
    return before;
}
