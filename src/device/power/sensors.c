/* What power sources this machine has, and which of them work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/power/integral.h"
#include "device/power/source.h"
#include "device/spec/device.h"
#include "device/sysfs.h"

void ft__sources_find(ft__sources *all, const char *root, const char *nvml,
                      const char *amd)
{
    char *cpuinfo = ft__cpuinfo(root), vendor[32];

    ft__cpuinfo_value(vendor, sizeof(vendor), cpuinfo, "vendor_id");
    free(cpuinfo);
    all->root = root;
    all->is_virtual = ft__is_virtual(root);
    all->is_x86 = *vendor != '\0';
    /* perf counts what powercap counts: another way to the same, where need be. */
    if (!ft__find_powercap(all))
        ft__find_perf(all);
    ft__find_hwmon(all);
    ft__find_nvml(all, nvml);
    ft__find_amd(all, amd);
}

struct sensors {
    ft_sensors shown; /* first */
    ft__sources all;
    ft_sensor *sensor;
    ft__buf why_none;
};

static bool read_now(ft__sources *all, ft__power_source *s, ft_power_reading *now)
{
    *now = (ft_power_reading){ft__now_s(), NAN, NAN};
    if (!s->read)
        return false;
    if (s->read(s, now) != FT__READ_FAILED)
        return true;
    ft__source_refuse(s, ft__source_keep(all, "%s", s->why), ft__source_remedy(all, s));
    return false;
}

/* Mean power since `before`. NaN, and the source is refused: its counter did not move,
 * or it reads 0 W. */
static double watts_since(ft__sources *all, ft__power_source *s,
                          const ft_power_reading *before, double elapsed_s)
{
    ft_power_reading now;
    double joules, watts;

    if (!read_now(all, s, &now))
        return NAN;
    joules = now.joules - before->joules;
    if (joules < 0)
        joules += s->wraps_at_j;
    watts = joules > 0 ? joules / elapsed_s : (before->watts + now.watts) / 2;
    if (watts > 0 && isfinite(watts))
        return watts;
    ft__source_refuse_still(all, s, !isnan(now.joules), elapsed_s);
    return NAN;
}

static ft_sensor describe(const ft__power_source *s, double power_w)
{
    return (ft_sensor){.name = s->d.name,
                       .usable = isfinite(power_w) != 0,
                       .power_w = power_w,
                       .reason = s->reason,
                       .remedy = s->remedy,
                       .part_of = s->d.part_of,
                       .note = s->d.note,
                       .counts = s->d.counts,
                       .tells_power = s->d.tells_power,
                       .window_s = s->d.window_s,
                       .duty = s->d.duty,
                       .least_s = ft__least_s(&s->d)};
}

/* Reads all sources twice, and describes them. False: memory is short. */
static bool probe(struct sensors *s, double probe_s,
                  double (*wait)(void *user, double seconds), void *user)
{
    ft__sources *all = &s->all;
    ft_power_reading *before = calloc(all->n + 1, sizeof(*before));
    double elapsed_s;
    bool any = false;

    s->sensor = calloc(all->n + 1, sizeof(*s->sensor));
    if (before && s->sensor) {
        for (size_t i = 0; i < all->n; i++)
            (void)read_now(all, &all->source[i], &before[i]);
        elapsed_s = wait(user, probe_s);
        for (size_t i = 0; i < all->n; i++) {
            ft__power_source *x = &all->source[i];
            double watts = watts_since(all, x, &before[i], elapsed_s);

            s->sensor[i] = describe(x, watts);
            any = any || s->sensor[i].usable;
        }
        if (!any)
            ft__sources_why_none(all, &s->why_none);
    }
    all->bad = all->bad || s->why_none.bad || !before;
    free(before);
    return s->sensor && !all->bad;
}

ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, const char *amd, ft_error *err)
{
    struct sensors *s = calloc(1, sizeof(*s));

    *out = NULL;
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    ft__sources_find(&s->all, root, nvml, amd);
    if (!probe(s, probe_s, wait, user)) {
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
    ft__buf_free(&s->why_none);
    free(s);
}
