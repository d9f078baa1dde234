/* Energy counters of Intel and AMD processors (RAPL): zones of Linux's powercap, or,
 * where these may not be read, perf's events, which count the same. */
#define _GNU_SOURCE /* syscall() */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* False when there are zones that may not be read. Zones of intel-rapl-mmio count the
 * same energy a second time. */
static bool find_zones(ft__sources *all)
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

#define PMU "/sys/bus/event_source/devices/power"

static ft__read read_event(ft__power_source *s, ft_power_reading *out)
{
    uint64_t count;
    ssize_t got = read(s->fd[0], &count, sizeof(count));

    if (got != sizeof(count)) {
        snprintf(s->why, sizeof(s->why), "the kernel's counter: %s",
                 got < 0 ? strerror(errno) : "it has ended");
        return FT__READ_FAILED;
    }
    out->joules = (double)count * s->unit;
    return FT__READ_GOOD;
}

static int event_open(unsigned type, uint64_t config, int cpu)
{
    struct perf_event_attr attr = {
        .type = type, .config = config, .size = sizeof(attr)};

    return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void start_event(ft__sources *all, ft__power_source *s, unsigned type,
                        uint64_t config, int cpu)
{
    if (*all->root) {
        ft__source_refuse(s, "a recorded machine cannot be asked", "");
        return;
    }
    s->fd[0] = event_open(type, config, cpu);
    if (s->fd[0] >= 0)
        return;
    if (errno == EACCES || errno == EPERM)
        ft__source_refuse(s, "counters of the whole machine are not for this user",
                          "sudo sysctl kernel.perf_event_paranoid=0");
    else
        ft__source_refuse(
            s, ft__source_keep(all, "perf_event_open: %s", strerror(errno)), "");
}

/* One event on one socket: "energy-pkg" is called package there as in powercap. */
static void add_event(ft__sources *all, const char *event, unsigned type, int cpu,
                      unsigned socket)
{
    static const char *const known[][2] = {{"pkg", ""},        {"cores", "/core"},
                                           {"gpu", "/uncore"}, {"ram", "/dram"},
                                           {"psys", ""},       {NULL, NULL}};
    bool psys = strcmp(event, "energy-psys") == 0;
    char text[64];
    ft__power_source *s;
    double scale;
    unsigned config;
    int i = 0;

    while (known[i][0] && strcmp(known[i][0], event + strlen("energy-")) != 0)
        i++;
    ft__sys_text(text, sizeof(text), all->root, PMU "/events/%s", event);
    if (!known[i][0] || sscanf(text, "event=%x", &config) != 1 ||
        !ft__sys_number(&scale, all->root, PMU "/events/%s.scale", event))
        return;
    s = ft__source_add(
        all, psys ? "perf:psys"
                  : ft__source_keep(all, "perf:package-%u%s", socket, known[i][1]));
    if (!s)
        return;
    if (i > 0 && !psys)
        s->d.part_of = ft__source_keep(all, "perf:package-%u", socket);
    s->d.counts = 1;
    s->d.least_s = 0.1;
    s->unit = scale;
    s->read = read_event;
    start_event(all, s, type, config, cpu);
}

/* energy-pkg and its parts (Linux: arch/x86/events/rapl.c), of one CPU a socket as
 * cpumask lists them. */
static void find_events(ft__sources *all)
{
    char **names, mask[256], *end = mask;
    double type;

    if (!ft__sys_number(&type, all->root, PMU "/type"))
        return;
    if (ft__sys_text(mask, sizeof(mask), all->root, PMU "/cpumask"))
        snprintf(mask, sizeof(mask), "0");
    names = ft__source_folder(all, PMU "/events");
    for (unsigned socket = 0; *end; socket++) {
        int cpu = (int)strtol(end, &end, 10);

        for (char **name = names; *name; name++)
            if (strncmp(*name, "energy-", 7) == 0 && !strchr(*name, '.') &&
                (socket == 0 || strcmp(*name, "energy-psys") != 0))
                add_event(all, *name, (unsigned)type, cpu, socket);
        end += *end != '\0';
    }
}

static void find(ft__sources *all)
{
    if (!find_zones(all))
        find_events(all);
}

const ft__power_kind ft__sources_rapl = {.find = find};
