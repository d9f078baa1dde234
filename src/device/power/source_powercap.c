#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/power/source.h"
#include "device/sysfs.h"

#define POWERCAP "/sys/class/powercap"

static ft__read read_counter(ft__source *s, ft_power_reading *out)
{
    return ft__source_number(s, 0, s->unit, &out->joules) ? FT__READ_GOOD
                                                          : FT__READ_FAILED;
}

/* "intel-rapl:0:1" is a part of "intel-rapl:0", and psys contains packages. */
static void add_zone(ft__sources *all, const char *zone, bool has_psys)
{
    const char *second = strchr(strchr(zone, ':') + 1, ':');
    char name[64] = "", parent[64] = "";
    ft__source *s;
    double range;

    if (second)
        ft__sys_text(parent, sizeof(parent) - 1, all->root, POWERCAP "/%.*s/name",
                     (int)(second - zone), zone);
    ft__sys_text(name, sizeof(name), all->root, POWERCAP "/%s/name", zone);
    s = ft__source_add(
        all, ft__source_keep(all, "powercap:%s%s%s", parent, second ? "/" : "", name));
    if (!s)
        return;
    if (second)
        s->d.part_of = ft__source_keep(all, "powercap:%s", parent);
    else if (has_psys && strcmp(name, "psys") != 0)
        s->d.part_of = "powercap:psys";
    s->d.counts = 1;
    s->d.least_s = 0.1;
    s->read = read_counter;
    s->unit = 1e-6;
    s->path[0] = ft__source_keep(all, POWERCAP "/%s/energy_uj", zone);
    if (ft__sys_number(&range, all->root, POWERCAP "/%s/max_energy_range_uj", zone))
        s->wraps_at_j = range * 1e-6;
}

static bool is_zone(const char *name)
{
    return strncmp(name, "intel-rapl:", 11) == 0;
}

static bool any_psys(ft__sources *all, char **names, size_t n)
{
    char text[64];

    for (size_t i = 0; i < n; i++)
        if (is_zone(names[i]) &&
            ft__sys_text(text, sizeof(text), all->root, POWERCAP "/%s/name",
                         names[i]) == 0 &&
            strcmp(text, "psys") == 0)
            return true;
    return false;
}

/* Zones of intel-rapl-mmio count the same energy a second time. */
bool ft__find_powercap(ft__sources *all)
{
    size_t n, before = all->n;
    char **names, text[64];
    bool readable = true, psys;

    if (ft__sys_names(&names, &n, all->root, POWERCAP) != FT_OK)
        all->bad = true;
    psys = any_psys(all, names, n);
    for (size_t i = 0; i < n; i++) {
        if (!is_zone(names[i]))
            continue;
        add_zone(all, names[i], psys);
        readable = readable && ft__sys_text(text, sizeof(text), all->root,
                                            POWERCAP "/%s/energy_uj", names[i]) == 0;
    }
    ft__sys_names_free(names, n);
    if (all->n == before) {
        ft__source_absent(all, "powercap",
                          all->is_x86 ? "the kernel shows no RAPL zone"
                                      : "this kind of processor has no RAPL counters",
                          all->is_x86 ? "sudo modprobe intel_rapl_msr" : "");
        return false;
    }
    return readable;
}
