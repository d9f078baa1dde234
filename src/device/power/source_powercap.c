/* Energy counters of Intel and AMD processors (Linux: powercap). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/power/source.h"
#include "device/sysfs.h"

#define POWERCAP "/sys/class/powercap"

/* "intel-rapl:0:1" is a part of "intel-rapl:0", and psys contains packages. */
static void add_zone(ft__sources *all, const char *zone, bool has_psys)
{
    const char *second = strchr(strchr(zone, ':') + 1, ':');
    char name[64] = "", parent[64] = "";
    ft__power_source *s;
    double range;

    if (second)
        ft__sys_text(parent, sizeof(parent) - 1, all->root, POWERCAP "/%.*s/name",
                     (int)(second - zone), zone);
    ft__sys_text(name, sizeof(name), all->root, POWERCAP "/%s/name", zone);
    s = ft__source_add_file(
        all, ft__source_keep(all, "powercap:%s%s%s", parent, second ? "/" : "", name),
        true, 1e-6, ft__source_keep(all, POWERCAP "/%s/energy_uj", zone));
    if (!s)
        return;
    if (second)
        s->d.part_of = ft__source_keep(all, "powercap:%s", parent);
    else if (has_psys && strcmp(name, "psys") != 0)
        s->d.part_of = "powercap:psys";
    s->d.least_s = 0.1;
    if (ft__sys_number(&range, all->root, POWERCAP "/%s/max_energy_range_uj", zone))
        s->wraps_at_j = range * 1e-6;
}

static bool is_zone(const char *name)
{
    return strncmp(name, "intel-rapl:", 11) == 0;
}

static bool any_psys(ft__sources *all, char **name)
{
    char text[64];

    for (; *name; name++)
        if (is_zone(*name) &&
            ft__sys_text(text, sizeof(text), all->root, POWERCAP "/%s/name", *name) ==
                0 &&
            strcmp(text, "psys") == 0)
            return true;
    return false;
}

/* Zones of intel-rapl-mmio count the same energy a second time. */
bool ft__find_powercap(ft__sources *all)
{
    char **name = ft__source_folder(all, POWERCAP), text[64];
    bool readable = true, psys = any_psys(all, name);
    size_t before = all->n;

    for (; *name; name++) {
        if (!is_zone(*name))
            continue;
        add_zone(all, *name, psys);
        readable = readable && ft__sys_text(text, sizeof(text), all->root,
                                            POWERCAP "/%s/energy_uj", *name) == 0;
    }
    if (all->n > before)
        return readable;
    ft__source_absent(all, "powercap",
                      all->is_x86 ? "the kernel shows no RAPL zone"
                                  : "this kind of processor has no RAPL counters",
                      all->is_x86 ? "sudo modprobe intel_rapl_msr" : "");
    return false;
}
