#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "device/power/integral.h"
#include "device/power/source.h"
#include "device/spec/device.h"

struct sensors {
    ft_sensors shown; /* first */
    ft__sources all;
    ft_sensor *sensor;
    ft_power_reading *before; /* being watched */
    ft__buf why_none;
};

static void refuse(struct sensors *s, size_t i, const char *reason, const char *remedy)
{
    ft__source_refuse(&s->all.source[i], reason, remedy);
    s->sensor[i].reason = reason;
    s->sensor[i].remedy = remedy;
}

static bool take(struct sensors *s, size_t i, ft_power_reading *now)
{
    ft__source *x = &s->all.source[i];

    *now = (ft_power_reading){ft__now_s(), NAN, NAN};
    if (!x->read)
        return false;
    if (x->read(x, now) != FT__READ_FAILED)
        return true;
    refuse(s, i, ft__source_keep(&s->all, "%s", x->why), ft__source_remedy(&s->all, x));
    return false;
}

/* A counter must have moved; a source of power must tell some. */
static void judge(struct sensors *s, size_t i, double elapsed_s)
{
    ft_sensor *x = &s->sensor[i];
    const ft__source *source = &s->all.source[i];
    ft_power_reading now;
    double joules;

    if (!take(s, i, &now))
        return;
    joules = now.joules - s->before[i].joules;
    if (joules < 0)
        joules += source->wraps_at_j;
    x->power_w = joules > 0 ? joules / elapsed_s : (s->before[i].watts + now.watts) / 2;
    x->usable = x->power_w > 0 && isfinite(x->power_w);
    if (x->usable)
        return;
    x->power_w = NAN;
    if (s->all.is_virtual)
        refuse(s, i, "it stands still, as on many virtual machines", "run on the host");
    else
        refuse(s, i,
               isnan(now.joules)
                   ? "it reads 0 W"
                   : ft__source_keep(&s->all, "its counter did not move for %.3g s",
                                     elapsed_s),
               "");
}

/* One reason for each family: the first. */
static void sum_up(struct sensors *s)
{
    const char *family = "";
    size_t len = 0;

    for (size_t i = 0; i < s->all.n; i++)
        if (s->sensor[i].usable)
            return;
    ft__buf_str(&s->why_none, "no power sensor on this machine (");
    for (size_t i = 0; i < s->all.n; i++) {
        const ft_sensor *x = &s->sensor[i];

        if (len && strncmp(x->name, family, len) == 0)
            continue;
        family = x->name;
        len = strcspn(family, ":");
        ft__buf_fmt(&s->why_none, "%s%.*s: %s%s%s", i ? "; " : "", (int)len, family,
                    x->reason, *x->remedy ? ", try: " : "", x->remedy);
    }
    ft__buf_str(&s->why_none, ")");
    s->all.bad = s->all.bad || s->why_none.bad;
}

static bool new_probes(struct sensors *s)
{
    s->sensor = calloc(s->all.n + 1, sizeof(*s->sensor));
    s->before = calloc(s->all.n + 1, sizeof(*s->before));
    for (size_t i = 0; s->sensor && i < s->all.n; i++) {
        const ft__source *x = &s->all.source[i];

        s->sensor[i] = (ft_sensor){.name = x->d.name,
                                   .power_w = NAN,
                                   .reason = x->reason,
                                   .remedy = x->remedy,
                                   .part_of = x->d.part_of,
                                   .note = x->d.note,
                                   .counts = x->d.counts,
                                   .tells_power = x->d.tells_power,
                                   .window_s = x->d.window_s,
                                   .duty = x->d.duty,
                                   .least_s = ft__least_s(&x->d)};
    }
    return s->sensor && s->before;
}

ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, const char *amd, ft_error *err)
{
    struct sensors *s = calloc(1, sizeof(*s));
    double elapsed_s;

    *out = NULL;
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    ft__sources_find(&s->all, root, nvml, amd);
    if (new_probes(s)) {
        for (size_t i = 0; i < s->all.n; i++)
            (void)take(s, i, &s->before[i]);
        elapsed_s = wait(user, probe_s);
        for (size_t i = 0; i < s->all.n; i++)
            judge(s, i, elapsed_s);
        sum_up(s);
    }
    if (!s->sensor || !s->before || s->all.bad) {
        ft_sensors_free(&s->shown);
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    }
    ft__sources_release(&s->all);
    s->shown.sensor = s->sensor;
    s->shown.n = s->all.n;
    s->shown.why_none = s->why_none.s ? s->why_none.s : "";
    *out = &s->shown;
    return FT_OK;
}

static double sleep_for(void *user, double seconds)
{
    double begin = ft__now_s();

    (void)user;
    ft__sleep_s(seconds);
    return ft__now_s() - begin;
}

ft_status ft_sensors_probe(ft_sensors **out, const char *root, double probe_s,
                           ft_error *err)
{
    *out = NULL;
    if (!(probe_s >= 0 && probe_s <= 3600))
        return ft_fail(err, FT_EINVAL, 0, "sensors can be watched for 0 to 3600 s");
    return ft__sensors_probe(out, root, probe_s, sleep_for, NULL,
                             *root ? NULL : FT__NVML_LIBRARY,
                             *root ? NULL : FT__AMD_LIBRARIES, err);
}

void ft_sensors_free(ft_sensors *shown)
{
    struct sensors *s = (struct sensors *)shown;

    if (!s)
        return;
    ft__sources_free(&s->all);
    free(s->sensor);
    free(s->before);
    ft__buf_free(&s->why_none);
    free(s);
}
