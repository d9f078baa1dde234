/* This machine as a device, from /proc and /sys. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/number.h"
#include "device/cpus.h"
#include "device/spec/device.h"
#include "device/sysfs.h"

/* This machine while it is looked at. */
struct local_machine {
    const char *root;
    char *cpuinfo;
    ft__cpus online;
    ft__cpus cores; /* those of them that are the first of their core */
    unsigned first; /* the first one online */
    char title[160];
    char model[240]; /* whatever tells this processor model from others */
};

static void find_online(struct local_machine *m)
{
    char text[4096];
    unsigned n = 0;

    if (ft__sys_text(text, sizeof(text), m->root, FT__CPU "/online") == 0) {
        (void)ft__cpus_parse(&m->online, text);
    } else {
        for (const char *p = m->cpuinfo; (p = strstr(p, "processor\t")); p++)
            n += p == m->cpuinfo || p[-1] == '\n';
        snprintf(text, sizeof(text), "0-%u", n - 1);
        (void)ft__cpus_parse(&m->online, n ? text : "");
    }
    m->first = ft__cpus_first(&m->online);
}

/* Threads of one core list each other; only the first of them counts. */
static void find_cores(struct local_machine *m)
{
    char text[1024];

    for (unsigned i = 0; i < FT__MAX_CPUS; i++) {
        if (!m->online.has[i])
            continue;
        if (ft__sys_text(text, sizeof(text), m->root,
                         FT__CPU "/cpu%u/topology/thread_siblings_list", i) == 0 &&
            strtoul(text, NULL, 10) != i)
            continue;
        ft__cpus_put(&m->cores, i, true);
    }
}

/* "32K" in bytes; NaN when it is something else. */
static double parse_size(const char *text)
{
    char *end;
    double size = (double)strtoul(text, &end, 10);

    if (end == text)
        return NAN;
    return size * (*end == 'K' ? 0x1p10 : *end == 'M' ? 0x1p20 : *end ? NAN : 1);
}

/* The data cache of `level` as processor `cpu` sees it, and whom it serves; NaN
 * where there is none. */
static double cache_bytes(const struct local_machine *m, unsigned cpu, int level,
                          ft__cpus *serves)
{
    char text[1024];
    double found;

    for (int i = 0;
         ft__sys_number(&found, m->root, FT__CPU "/cpu%u/cache/index%d/level", cpu, i);
         i++) {
        ft__sys_text(text, sizeof(text), m->root, FT__CPU "/cpu%u/cache/index%d/type",
                     cpu, i);
        if (found != level || strcmp(text, "Instruction") == 0)
            continue;
        ft__sys_text(text, sizeof(text), m->root,
                     FT__CPU "/cpu%u/cache/index%d/shared_cpu_list", cpu, i);
        (void)ft__cpus_parse(serves, text);
        ft__sys_text(text, sizeof(text), m->root, FT__CPU "/cpu%u/cache/index%d/size",
                     cpu, i);
        return parse_size(text);
    }
    return NAN;
}

/* Of the first processor, divided among the cores that share it. */
static double l2_per_core(const struct local_machine *m)
{
    ft__cpus serves;
    double bytes = cache_bytes(m, m->first, 2, &serves);
    unsigned n = 0;

    if (isnan(bytes))
        return NAN;
    for (unsigned i = 0; i < FT__MAX_CPUS; i++)
        n += serves.has[i] && m->cores.has[i];
    return n ? bytes / n : bytes;
}

/* All there are: each is counted at the first processor that it serves. */
static double l3_in_all(const struct local_machine *m)
{
    ft__cpus serves;
    double sum = 0;

    for (unsigned i = 0; i < FT__MAX_CPUS; i++) {
        double bytes = m->online.has[i] ? cache_bytes(m, i, 3, &serves) : NAN;
        bool first = true;

        if (isnan(bytes))
            continue;
        for (unsigned j = 0; j < i; j++)
            first = first && !(serves.has[j] && m->online.has[j]);
        sum += first ? bytes : 0;
    }
    return sum > 0 ? sum : NAN;
}

/* The highest of all processors: cores may differ. */
static double clock_hz(const struct local_machine *m, const char *file)
{
    double highest = NAN, khz;

    for (unsigned i = 0; i < FT__MAX_CPUS; i++)
        if (m->online.has[i] &&
            ft__sys_number(&khz, m->root, FT__CPUFREQ "%s", i, file))
            highest = fmax(highest, khz * 1e3);
    return highest;
}

/* Intel writes the base clock into the name: "... CPU @ 2.50GHz". */
static double clock_in_name(const char *title)
{
    const char *at = strstr(title, "@ ");
    const char *end = at ? strstr(at, "GHz") : NULL;
    char text[16];
    double ghz;

    if (!end || end - at - 2 >= (ptrdiff_t)sizeof(text))
        return NAN;
    memcpy(text, at + 2, (size_t)(end - at - 2));
    text[end - at - 2] = '\0';
    return ft__number_parse(text, &ghz) ? ghz * 1e9 : NAN;
}

/* Arm's processors give numbers; these are the common ones. */
static const char *arm_core(unsigned long implementer, unsigned long part)
{
    static const struct {
        unsigned long implementer, part;
        const char *name;
    } known[] = {
        {0x41, 0xd03, "Cortex-A53"},   {0x41, 0xd07, "Cortex-A57"},
        {0x41, 0xd08, "Cortex-A72"},   {0x41, 0xd0b, "Cortex-A76"},
        {0x41, 0xd0c, "Neoverse-N1"},  {0x41, 0xd40, "Neoverse-V1"},
        {0x41, 0xd42, "Cortex-A78AE"}, {0x41, 0xd49, "Neoverse-N2"},
        {0x41, 0xd4f, "Neoverse-V2"},  {0x4e, 0x003, "Denver 2"},
        {0x4e, 0x004, "Carmel"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].implementer == implementer && known[i].part == part)
            return known[i].name;
    return "Arm core";
}

static const char *find_names(struct local_machine *m)
{
    char vendor[32], family[32], number[32], board[80];

    ft__cpuinfo_value(vendor, sizeof(vendor), m->cpuinfo, "vendor_id");
    if (*vendor) {
        ft__cpuinfo_value(family, sizeof(family), m->cpuinfo, "cpu family");
        ft__cpuinfo_value(number, sizeof(number), m->cpuinfo, "model");
        ft__cpuinfo_value(m->title, 100, m->cpuinfo, "model name");
        snprintf(m->model, sizeof(m->model), "%s %s %s", m->title, family, number);
        return strcmp(vendor, "GenuineIntel") == 0   ? "Intel"
               : strcmp(vendor, "AuthenticAMD") == 0 ? "AMD"
                                                     : "";
    }
    ft__cpuinfo_value(family, sizeof(family), m->cpuinfo, "CPU implementer");
    ft__cpuinfo_value(number, sizeof(number), m->cpuinfo, "CPU part");
    /* Boards say what they are; servers leave it to their firmware. */
    if (ft__sys_text(board, sizeof(board), m->root, "/proc/device-tree/model") != 0)
        *board = '\0';
    snprintf(m->title, sizeof(m->title), "%s%s%s", board, *board ? ", " : "",
             arm_core(strtoul(family, NULL, 16), strtoul(number, NULL, 16)));
    snprintf(m->model, sizeof(m->model), "%s %s %s", board, family, number);
    return strcmp(family, "0x41") == 0   ? "Arm"
           : strcmp(family, "0x4e") == 0 ? "NVIDIA"
                                         : "";
}

static double memory_bytes(const char *root)
{
    char text[4096], value[64];
    char *end;
    unsigned long kib;

    ft__sys_text(text, sizeof(text), root, "/proc/meminfo");
    ft__cpuinfo_value(value, sizeof(value), text, "MemTotal");
    kib = strtoul(value, &end, 10);
    return kib && strcmp(end, " kB") == 0 ? (double)kib * 1024 : NAN;
}

/* FNV-1a, 64 bits, folded to 32: fingerprints in stores hold it. */
static uint32_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

/* The telling words of a title: "Intel(R) Core(TM) i5-7200U CPU @ 2.50GHz"
 * becomes "intel-core-i5-7200u". */
static void slug(char *out, size_t size, const char *title)
{
    static const char *const skip[] = {"(R)",  "(TM)", "(r)",
                                       "(tm)", " CPU", " Processor"};
    size_t n = 0;

    while (*title && *title != '@' && *title != ',' && n + 1 < size) {
        size_t skipped = 0;

        for (size_t i = 0; i < sizeof(skip) / sizeof(*skip); i++)
            if (strncmp(title, skip[i], strlen(skip[i])) == 0)
                skipped = strlen(skip[i]);
        if (!skipped && isalnum((unsigned char)*title))
            out[n++] = (char)tolower((unsigned char)*title);
        else if (!skipped && n && out[n - 1] != '-')
            out[n++] = '-';
        title += skipped ? skipped : 1;
    }
    while (n && out[n - 1] == '-')
        n--;
    out[n] = '\0';
}

/* "nan" has two spellings. */
static double or_0(double v)
{
    return isnan(v) ? 0 : v;
}

/* Everything that must not change unnoticed between two measurements. The
 * kernel keeps a varying part of the memory for itself: whole GiB only. Clocks
 * are left out, they depend on permissions and governors. */
static const char *fingerprint(ft_device *d, const struct local_machine *m)
{
    const ft_device_facts *f = &d->facts;
    char facts[512], name[40], text[96];

    snprintf(facts, sizeof(facts), "%s|%zu|%zu|%.0f|%.0f|%.0f", m->model, m->cores.n,
             m->online.n, or_0(f->l2_bytes), or_0(f->l3_bytes),
             ceil(or_0(f->memory_bytes) / 0x1p30));
    slug(name, sizeof(name), m->title);
    snprintf(text, sizeof(text), "cpu-%s-%zuc-%08lx", *name ? name : "unknown",
             m->cores.n, (unsigned long)hash(facts));
    return ft__arena_strndup(&d->arena, text, strlen(text));
}

static ft_status describe(ft_device *d, struct local_machine *m, ft_error *err)
{
    ft_device_facts *f = &d->facts;

    find_online(m);
    if (m->online.n == 0)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s/proc/cpuinfo names no processor; is it a recorded machine?",
                       m->root);
    find_cores(m);
    f->name = "local";
    f->type = "cpu";
    f->source = "/proc and /sys of this machine";
    f->note = ft__is_virtual(m->root) ? "a virtual machine" : "";
    f->vendor = find_names(m);
    f->title = ft__arena_strndup(&d->arena, m->title, strlen(m->title));
    f->cores = (double)m->cores.n;
    f->base_clock_hz = clock_hz(m, "base_frequency");
    if (isnan(f->base_clock_hz))
        f->base_clock_hz = clock_in_name(m->title);
    f->boost_clock_hz = clock_hz(m, "cpuinfo_max_freq");
    f->l2_bytes = l2_per_core(m);
    f->l3_bytes = l3_in_all(m);
    f->memory_bytes = memory_bytes(m->root);
    f->fingerprint = fingerprint(d, m);
    return f->title && f->fingerprint ? FT_OK
                                      : ft_fail(err, FT_ENOMEM, 0, "this machine");
}

ft_status ft_device_local(ft_device **out, const char *root, ft_error *err)
{
    struct local_machine m = {.root = root};
    char path[PATH_MAX];
    ft_device *d = NULL;
    size_t len;
    ft_status st;

    *out = NULL;
    snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
    st = ft__file_read(&m.cpuinfo, &len, path, FT__MAX_TEXT_FILE, err);
    if (st != FT_OK)
        return st;
    d = ft__device_new();
    st = d ? describe(d, &m, err) : ft_fail(err, FT_ENOMEM, 0, "this machine");
    free(m.cpuinfo);
    if (st != FT_OK) {
        ft_device_free(d);
        return st;
    }
    *out = d;
    return FT_OK;
}
