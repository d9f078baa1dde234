#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "device/device.h"
#include "device/integral.h"
#include "device/source.h"

/* What a source says before and after it was watched. */
struct probe {
    ft_sensor shown;
    ft_power_reading before;
};

struct ft_sensors {
    ft__sources all;
    struct probe *probe;
    ft__buf why_none;
};

static void refuse(ft_sensors *s, size_t i, const char *reason, const char *remedy)
{
    ft__source_refuse(&s->all.source[i], reason, remedy);
    s->probe[i].shown.reason = reason;
    s->probe[i].shown.remedy = remedy;
}

static bool take(ft_sensors *s, size_t i, ft_power_reading *now)
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
static void judge(ft_sensors *s, size_t i, double elapsed_s)
{
    ft_sensor *x = &s->probe[i].shown;
    const ft__source *source = &s->all.source[i];
    ft_power_reading now;
    double joules;

    if (!take(s, i, &now))
        return;
    joules = now.joules - s->probe[i].before.joules;
    if (joules < 0)
        joules += source->wraps_at_j;
    x->power_w =
        joules > 0 ? joules / elapsed_s : (s->probe[i].before.watts + now.watts) / 2;
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
static void sum_up(ft_sensors *s)
{
    const char *family = "";
    size_t len = 0;

    for (size_t i = 0; i < s->all.n; i++)
        if (s->probe[i].shown.usable)
            return;
    ft__buf_str(&s->why_none, "no power sensor on this machine (");
    for (size_t i = 0; i < s->all.n; i++) {
        const ft_sensor *x = &s->probe[i].shown;

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

static bool new_probes(ft_sensors *s)
{
    s->probe = calloc(s->all.n + 1, sizeof(*s->probe));
    for (size_t i = 0; s->probe && i < s->all.n; i++) {
        const ft__source *x = &s->all.source[i];

        s->probe[i].shown = (ft_sensor){.name = x->d.name,
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
    return s->probe != NULL;
}

ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, const char *amd, ft_error *err)
{
    ft_sensors *s = calloc(1, sizeof(*s));
    double elapsed_s;

    *out = NULL;
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    ft__sources_find(&s->all, root, nvml, amd);
    if (new_probes(s)) {
        for (size_t i = 0; i < s->all.n; i++)
            (void)take(s, i, &s->probe[i].before);
        elapsed_s = wait(user, probe_s);
        for (size_t i = 0; i < s->all.n; i++)
            judge(s, i, elapsed_s);
        sum_up(s);
    }
    if (!s->probe || s->all.bad) {
        ft_sensors_free(s);
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    }
    ft__sources_release(&s->all);
    *out = s;
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

size_t ft_sensors_count(const ft_sensors *s)
{
    return s->all.n;
}

const ft_sensor *ft_sensors_at(const ft_sensors *s, size_t i)
{
    return &s->probe[i].shown;
}

const char *ft_sensors_why_none(const ft_sensors *s)
{
    return s->why_none.s ? s->why_none.s : "";
}

void ft_sensors_free(ft_sensors *s)
{
    if (!s)
        return;
    ft__sources_free(&s->all);
    free(s->probe);
    ft__buf_free(&s->why_none);
    free(s);
}
