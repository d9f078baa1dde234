#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/number.h"
#include "device/device.h"
#include "device/nvml.h"
#include "device/sysfs.h"

#define POWERCAP "/sys/class/powercap"
#define HWMON "/sys/class/hwmon"

/* What a source says at one moment; NaN for what it does not tell. */
struct sample {
    double joules; /* a counter */
    double watts;
};

/* A source while it is watched. Sources that cannot be there have no kind and
 * carry their reason from the beginning. */
struct probe {
    ft_sensor shown;
    enum kind { ABSENT, COUNTER_UJ, POWER_UW, MV_AND_MA, NVML } kind;
    const char *path[2]; /* below the root; two for MV_AND_MA */
    double wraps_at_j;   /* NaN: never */
    unsigned nvml_index;
    struct sample before;
};

struct ft_sensors {
    const char *root;
    bool is_virtual;
    bool is_x86;
    struct probe *probe;
    size_t n, cap;
    ft__nvml nvml;
    ft__arena arena;
    ft__buf why_none;
    bool bad; /* memory was short at some time */
};

/* Text that lives as long as the sensors; "" when memory is short. */
FT_PRINTF(2, 3) static const char *keep(ft_sensors *s, const char *fmt, ...)
{
    char text[512];
    const char *kept;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    kept = ft__arena_strndup(&s->arena, text, strlen(text));
    s->bad = s->bad || !kept;
    return kept ? kept : "";
}

static struct probe *add(ft_sensors *s, enum kind kind, const char *name)
{
    struct probe *p;

    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;

        p = realloc(s->probe, cap * sizeof(*p));
        if (!p) {
            s->bad = true;
            return NULL;
        }
        s->probe = p;
        s->cap = cap;
    }
    p = &s->probe[s->n++];
    *p = (struct probe){.kind = kind, .wraps_at_j = NAN};
    p->shown = (ft_sensor){.name = name, .power_w = NAN, .reason = "", .remedy = ""};
    return p;
}

static void refuse(struct probe *p, const char *reason, const char *remedy)
{
    p->kind = ABSENT;
    p->shown.reason = reason;
    p->shown.remedy = remedy;
}

/* Nothing of this family: say so by an entry of its own. */
static void add_absent(ft_sensors *s, const char *family, const char *reason,
                       const char *remedy)
{
    struct probe *p = add(s, ABSENT, family);

    if (p && s->is_virtual)
        refuse(p, "not exposed to this virtual machine", "run on the host");
    else if (p)
        refuse(p, reason, remedy);
}

static void add_zone(ft_sensors *s, const char *zone)
{
    const char *second = strchr(strchr(zone, ':') + 1, ':');
    char name[64] = "", parent[64] = "";
    struct probe *p;
    double range;

    /* "intel-rapl:0:1" is a part of "intel-rapl:0". */
    if (second) {
        ft__sys_text(parent, sizeof(parent) - 1, s->root, POWERCAP "/%.*s/name",
                     (int)(second - zone), zone);
        strcat(parent, "/");
    }
    ft__sys_text(name, sizeof(name), s->root, POWERCAP "/%s/name", zone);
    p = add(s, COUNTER_UJ, keep(s, "powercap:%s%s", parent, name));
    if (!p)
        return;
    p->path[0] = keep(s, POWERCAP "/%s/energy_uj", zone);
    if (ft__sys_number(&range, s->root, POWERCAP "/%s/max_energy_range_uj", zone))
        p->wraps_at_j = range * 1e-6;
}

/* Zones of intel-rapl-mmio count the same energy a second time. */
static void find_powercap(ft_sensors *s)
{
    char **names;
    size_t n, before = s->n;

    if (ft__sys_names(&names, &n, s->root, POWERCAP) != FT_OK)
        s->bad = true;
    for (size_t i = 0; i < n; i++)
        if (strncmp(names[i], "intel-rapl:", 11) == 0)
            add_zone(s, names[i]);
    ft__sys_names_free(names, n);
    if (s->n == before)
        add_absent(s, "powercap",
                   s->is_x86 ? "the kernel shows no RAPL zone"
                             : "this kind of processor has no RAPL counters",
                   s->is_x86 ? "sudo modprobe intel_rapl_msr" : "");
}

static const char *channel_name(ft_sensors *s, const char *dir, const char *chip,
                                const char *kind, int channel)
{
    char label[64];

    if (ft__sys_text(label, sizeof(label), s->root, "%s/%s%d_label", dir, kind,
                     channel) == 0)
        return keep(s, "hwmon:%s:%s", chip, label);
    return keep(s, "hwmon:%s:%s%d", chip, kind, channel);
}

static void add_channel(ft_sensors *s, enum kind as, const char *dir, const char *chip,
                        const char *kind, int channel, const char *suffix)
{
    struct probe *p = add(s, as, channel_name(s, dir, chip, kind, channel));

    if (p)
        p->path[0] = keep(s, "%s/%s%d_%s", dir, kind, channel, suffix);
    if (p && as == MV_AND_MA)
        p->path[1] = keep(s, "%s/curr%d_input", dir, channel);
}

/* The number in a file name such as "power1_input"; 0 for other names. */
static int channel_of(const char *file, const char *kind, const char *suffix)
{
    size_t len = strlen(kind);
    char *end;
    long channel;

    if (strncmp(file, kind, len) != 0)
        return 0;
    channel = strtol(file + len, &end, 10);
    return strcmp(end, suffix) == 0 && channel > 0 && channel < 1000 ? (int)channel : 0;
}

/* Files of a chip that tell power or energy. Drivers offer power1_input or
 * power1_average. The three channels of an INA3221, as on Jetson boards, tell
 * voltage and current. */
static void add_file(ft_sensors *s, const char *dir, const char *chip, const char *file)
{
    int c;

    if ((c = channel_of(file, "power", "_input")))
        add_channel(s, POWER_UW, dir, chip, "power", c, "input");
    else if ((c = channel_of(file, "power", "_average")))
        add_channel(s, POWER_UW, dir, chip, "power", c, "average");
    else if ((c = channel_of(file, "energy", "_input")))
        add_channel(s, COUNTER_UJ, dir, chip, "energy", c, "input");
    else if (strcmp(chip, "ina3221") == 0 && (c = channel_of(file, "in", "_input")) &&
             c <= 3)
        add_channel(s, MV_AND_MA, dir, chip, "in", c, "input");
}

static void find_hwmon(ft_sensors *s)
{
    char **chips, **files, chip[64];
    size_t n_chips, n_files, before = s->n;

    if (ft__sys_names(&chips, &n_chips, s->root, HWMON) != FT_OK)
        s->bad = true;
    for (size_t i = 0; i < n_chips; i++) {
        const char *dir = keep(s, HWMON "/%s", chips[i]);

        ft__sys_text(chip, sizeof(chip), s->root, "%s/name", dir);
        if (ft__sys_names(&files, &n_files, s->root, "%s", dir) != FT_OK)
            s->bad = true;
        for (size_t j = 0; j < n_files; j++)
            add_file(s, dir, chip, files[j]);
        ft__sys_names_free(files, n_files);
    }
    ft__sys_names_free(chips, n_chips);
    if (s->n == before)
        add_absent(s, "hwmon", "no chip here tells power or energy", "");
}

/* Whether a PCI device of NVIDIA's is plugged in, driver or not. */
static bool has_nvidia_gpu(ft_sensors *s)
{
    char **names, vendor[16];
    size_t n;
    bool found = false;

    if (ft__sys_names(&names, &n, s->root, "/sys/bus/pci/devices") != FT_OK)
        s->bad = true;
    for (size_t i = 0; i < n && !found; i++)
        found = ft__sys_text(vendor, sizeof(vendor), s->root,
                             "/sys/bus/pci/devices/%s/vendor", names[i]) == 0 &&
                strcmp(vendor, "0x10de") == 0;
    ft__sys_names_free(names, n);
    return found;
}

static void find_nvml(ft_sensors *s, const char *library)
{
    struct probe *p;

    if (!library || !ft__nvml_open(&s->nvml, library, has_nvidia_gpu(s))) {
        p = add(s, ABSENT, "nvml");
        if (p)
            refuse(p, library ? s->nvml.reason : "not part of a recorded machine",
                   library ? s->nvml.remedy : "");
        return;
    }
    for (unsigned i = 0; i < s->nvml.n_devices; i++) {
        p = add(s, NVML, keep(s, "nvml:%u", i));
        if (p)
            p->nvml_index = i;
    }
}

/* One number of a file, times `unit`. On failure the probe knows why. */
static bool read_file(ft_sensors *s, struct probe *p, const char *path, double unit,
                      double *v)
{
    char text[64];
    int code = ft__sys_text(text, sizeof(text), s->root, "%s", path);

    if (code == 0 && ft__number_parse(text, v)) {
        *v *= unit;
        return true;
    }
    if (code == EACCES || code == EPERM)
        refuse(p, keep(s, "%s may only be read by root", path),
               keep(s, "sudo chmod a+r %s", path));
    else
        refuse(p, keep(s, "%s: %s", path, code ? strerror(code) : "not a number"), "");
    return false;
}

static bool take(ft_sensors *s, struct probe *p, struct sample *now)
{
    double volts, amperes;
    const char *why;

    *now = (struct sample){NAN, NAN};
    switch (p->kind) {
    case COUNTER_UJ: return read_file(s, p, p->path[0], 1e-6, &now->joules);
    case POWER_UW: return read_file(s, p, p->path[0], 1e-6, &now->watts);
    case MV_AND_MA:
        if (!read_file(s, p, p->path[0], 1e-3, &volts) ||
            !read_file(s, p, p->path[1], 1e-3, &amperes))
            return false;
        now->watts = volts * amperes;
        return true;
    case NVML:
        why = ft__nvml_read(&s->nvml, p->nvml_index, &now->joules, &now->watts);
        if (why)
            refuse(p, keep(s, "%s", why), "");
        return !why;
    case ABSENT: break;
    }
    return false;
}

/* A counter must have moved; a source of power must tell some. */
static void judge(ft_sensors *s, struct probe *p, double elapsed_s)
{
    struct sample now;
    double joules;

    if (p->kind == ABSENT || !take(s, p, &now))
        return;
    joules = now.joules - p->before.joules;
    if (joules < 0)
        joules += p->wraps_at_j;
    p->shown.power_w =
        joules > 0 ? joules / elapsed_s : (p->before.watts + now.watts) / 2;
    p->shown.usable = p->shown.power_w > 0 && isfinite(p->shown.power_w);
    if (p->shown.usable)
        return;
    p->shown.power_w = NAN;
    if (s->is_virtual)
        refuse(p, "it stands still, as on many virtual machines", "run on the host");
    else
        refuse(p,
               isnan(now.joules)
                   ? "it reads 0 W"
                   : keep(s, "its counter did not move for %.3g s", elapsed_s),
               "");
}

/* One reason for each family: the first. */
static void sum_up(ft_sensors *s)
{
    const char *family = "";
    size_t len = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->probe[i].shown.usable)
            return;
    ft__buf_str(&s->why_none, "no power sensor on this machine (");
    for (size_t i = 0; i < s->n; i++) {
        const ft_sensor *x = &s->probe[i].shown;

        if (len && strncmp(x->name, family, len) == 0)
            continue;
        family = x->name;
        len = strcspn(family, ":");
        ft__buf_fmt(&s->why_none, "%s%.*s: %s%s%s", i ? "; " : "", (int)len, family,
                    x->reason, *x->remedy ? ", try: " : "", x->remedy);
    }
    ft__buf_str(&s->why_none, ")");
    s->bad = s->bad || s->why_none.bad;
}

/* What the machine is, for the words of the reasons. */
static void look_around(ft_sensors *s)
{
    ft__buf path = {0};
    char *cpuinfo = NULL, vendor[32];
    size_t len;

    ft__buf_fmt(&path, "%s/proc/cpuinfo", s->root);
    if (!path.bad && ft__sys_file(&cpuinfo, &len, path.s, NULL) == FT_OK) {
        s->is_virtual = ft__cpuinfo_is_virtual(cpuinfo);
        ft__cpuinfo_value(vendor, sizeof(vendor), cpuinfo, "vendor_id");
        s->is_x86 = *vendor != '\0';
    }
    free(cpuinfo);
    ft__buf_free(&path);
}

ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, ft_error *err)
{
    ft_sensors *s = calloc(1, sizeof(*s));
    double elapsed_s;

    *out = NULL;
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    s->root = root;
    look_around(s);
    find_powercap(s);
    find_hwmon(s);
    find_nvml(s, nvml);
    for (size_t i = 0; i < s->n; i++)
        (void)take(s, &s->probe[i], &s->probe[i].before);
    elapsed_s = wait(user, probe_s);
    for (size_t i = 0; i < s->n; i++)
        judge(s, &s->probe[i], elapsed_s);
    ft__nvml_close(&s->nvml);
    sum_up(s);
    if (s->bad) {
        ft_sensors_free(s);
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    }
    s->root = NULL; /* the caller's */
    *out = s;
    return FT_OK;
}

static double sleep_for(void *user, double seconds)
{
    double begin = ft__now_s(), left = seconds;

    (void)user;
    /* A signal cuts the sleep short; what counts is what the clock says. */
    while (left > 0) {
        struct timespec t = {(time_t)left, (long)(1e9 * (left - floor(left)))};

        nanosleep(&t, NULL);
        left = seconds - (ft__now_s() - begin);
    }
    return ft__now_s() - begin;
}

ft_status ft_sensors_probe(ft_sensors **out, const char *root, double probe_s,
                           ft_error *err)
{
    *out = NULL;
    if (!(probe_s >= 0 && probe_s <= 3600))
        return ft_fail(err, FT_EINVAL, 0, "sensors can be watched for 0 to 3600 s");
    return ft__sensors_probe(out, root, probe_s, sleep_for, NULL,
                             *root ? NULL : "libnvidia-ml.so.1", err);
}

size_t ft_sensors_count(const ft_sensors *s)
{
    return s->n;
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
    free(s->probe);
    ft__arena_free(&s->arena);
    ft__buf_free(&s->why_none);
    free(s);
}
