#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/number.h"
#include "device/power/source.h"
#include "device/sysfs.h"

const char *ft__source_keep(ft__sources *all, const char *fmt, ...)
{
    const char *kept;
    va_list ap;

    va_start(ap, fmt);
    kept = ft__arena_vfmt(&all->arena, fmt, ap);
    va_end(ap);
    all->bad = all->bad || !kept;
    return kept ? kept : "";
}

ft__source *ft__source_add(ft__sources *all, const char *name)
{
    ft__source *s = ft__list_grow(all->source, all->n, &all->cap, sizeof(*s));

    if (!s) {
        all->bad = true;
        return NULL;
    }
    all->source = s;
    s = &all->source[all->n++];
    *s = (ft__source){.reason = "", .remedy = "", .wraps_at_j = NAN};
    s->all = all;
    s->fd[0] = s->fd[1] = -1;
    s->d = (ft_domain){.name = name,
                       .part_of = "",
                       .note = "",
                       .period_s = NAN,
                       .window_s = NAN,
                       .duty = 1,
                       .least_s = NAN};
    return s;
}

void ft__source_refuse(ft__source *s, const char *reason, const char *remedy)
{
    s->read = NULL;
    s->reason = reason;
    s->remedy = remedy;
}

void ft__source_absent(ft__sources *all, const char *family, const char *reason,
                       const char *remedy)
{
    ft__source *s = ft__source_add(all, family);

    if (s && all->is_virtual)
        ft__source_refuse(s, "not exposed to this virtual machine", "run on the host");
    else if (s)
        ft__source_refuse(s, reason, remedy);
}

static void fail(ft__source *s, const char *path, int code)
{
    bool denied = code == EACCES || code == EPERM;

    if (denied)
        snprintf(s->why, sizeof(s->why), "%s may only be read by root", path);
    else
        snprintf(s->why, sizeof(s->why), "%s: %s", path,
                 code ? strerror(code) : "not a number");
    s->locked = denied ? path : NULL;
}

static int open_below(const char *root, const char *path)
{
    char full[PATH_MAX];

    if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(full, O_RDONLY | O_CLOEXEC);
}

bool ft__source_number(ft__source *s, int which, double unit, double *v)
{
    char text[64];
    ssize_t len = -1;

    /* A driver that was loaded anew leaves the old file dead: open once more. */
    for (int tries = 0; tries < 2 && len < 0; tries++) {
        if (s->fd[which] < 0)
            s->fd[which] = open_below(s->all->root, s->path[which]);
        if (s->fd[which] < 0)
            break;
        len = pread(s->fd[which], text, sizeof(text) - 1, 0);
        if (len < 0) {
            int code = errno;

            close(s->fd[which]);
            s->fd[which] = -1;
            errno = code;
        }
    }
    if (len < 0) {
        fail(s, s->path[which], errno);
        return false;
    }
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
        len--;
    text[len] = '\0';
    if (!ft__number_parse(text, v)) {
        fail(s, s->path[which], 0);
        return false;
    }
    *v *= unit;
    return true;
}

bool ft__sources_has_pci(ft__sources *all, const char *vendor, bool display)
{
    char **names, text[16], class[16];
    size_t n;
    bool found = false;

    if (ft__sys_names(&names, &n, all->root, "/sys/bus/pci/devices") != FT_OK)
        all->bad = true;
    for (size_t i = 0; i < n && !found; i++) {
        ft__sys_text(text, sizeof(text), all->root, "/sys/bus/pci/devices/%s/vendor",
                     names[i]);
        ft__sys_text(class, sizeof(class), all->root, "/sys/bus/pci/devices/%s/class",
                     names[i]);
        found =
            strcmp(text, vendor) == 0 && (!display || strncmp(class, "0x03", 4) == 0 ||
                                          strncmp(class, "0x12", 4) == 0);
    }
    ft__sys_names_free(names, n);
    return found;
}

/* What the machine is, for the words of the reasons. */
static void look_around(ft__sources *all)
{
    ft__buf path = {0};
    char *cpuinfo = NULL, vendor[32];
    size_t len;

    ft__buf_fmt(&path, "%s/proc/cpuinfo", all->root);
    if (!path.bad && ft__sys_file(&cpuinfo, &len, path.s, NULL) == FT_OK) {
        all->is_virtual = ft__cpuinfo_is_virtual(cpuinfo);
        ft__cpuinfo_value(vendor, sizeof(vendor), cpuinfo, "vendor_id");
        all->is_x86 = *vendor != '\0';
    }
    free(cpuinfo);
    ft__buf_free(&path);
}

void ft__sources_find(ft__sources *all, const char *root, const char *nvml,
                      const char *amd)
{
    all->root = root;
    look_around(all);
    /* perf counts what powercap counts: another way to the same, where need be. */
    if (!ft__find_powercap(all))
        ft__find_perf(all);
    ft__find_hwmon(all);
    ft__find_nvml(all, nvml);
    ft__find_amd(all, amd);
}

void ft__sources_release(ft__sources *all)
{
    for (size_t i = 0; i < all->n; i++) {
        ft__source *s = &all->source[i];

        if (s->close)
            s->close(s);
        s->close = NULL;
        s->read = NULL;
        for (int j = 0; j < 2; j++) {
            if (s->fd[j] >= 0)
                close(s->fd[j]);
            s->fd[j] = -1;
        }
    }
    ft__amd_close(all);
    ft__nvml_close(&all->nvml);
}

void ft__sources_free(ft__sources *all)
{
    ft__sources_release(all);
    free(all->source);
    ft__arena_free(&all->arena);
    all->source = NULL;
    all->n = all->cap = 0;
}

const char *ft__source_remedy(ft__sources *all, const ft__source *s)
{
    return s->locked ? ft__source_keep(all, "sudo chmod a+r %s", s->locked) : "";
}

bool ft__source_is(const ft__source *s, const char *name, size_t len)
{
    size_t family = strcspn(s->d.name, ":");

    if (strlen(s->d.name) == len && memcmp(s->d.name, name, len) == 0)
        return true;
    if (family == len && memcmp(s->d.name, name, len) == 0)
        return true;
    for (int i = 0; i < 2; i++)
        /* As in CUDA_VISIBLE_DEVICES the beginning of a UUID is enough. */
        if (s->alias[i] && len >= 12 && strlen(s->alias[i]) >= len &&
            memcmp(s->alias[i], name, len) == 0)
            return true;
    return false;
}
