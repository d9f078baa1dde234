/* What all kinds of power sources share: adding one, reading files, refusing, closing.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

ft__power_source *ft__source_add(ft__sources *all, const char *name)
{
    ft__power_source *s = ft__list_grow(all->source, all->n, &all->cap, sizeof(*s));

    if (!s) {
        all->bad = true;
        return NULL;
    }
    all->source = s;
    s = &all->source[all->n++];
    *s = (ft__power_source){.reason = "", .remedy = "", .wraps_at_j = NAN};
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

void ft__source_refuse(ft__power_source *s, const char *reason, const char *remedy)
{
    s->read = NULL;
    s->reason = reason;
    s->remedy = remedy;
}

void ft__source_absent(ft__sources *all, const char *family, const char *reason,
                       const char *remedy)
{
    ft__power_source *s = ft__source_add(all, family);

    if (s && all->is_virtual)
        ft__source_refuse(s, "not exposed to this virtual machine", "run on the host");
    else if (s)
        ft__source_refuse(s, reason, remedy);
}

char **ft__source_folder(ft__sources *all, const char *folder)
{
    static char *nothing[] = {NULL};
    char **names, **kept;
    size_t n;

    if (ft__sys_names(&names, &n, all->root, "%s", folder) != FT_OK)
        all->bad = true;
    kept = ft__arena_array(&all->arena, n + 1, sizeof(*kept));
    for (size_t i = 0; kept && i < n; i++)
        if (!(kept[i] = ft__arena_strndup(&all->arena, names[i], strlen(names[i]))))
            all->bad = true;
    all->bad = all->bad || !kept;
    ft__sys_names_free(names, n);
    return kept ? kept : nothing;
}

static void fail(ft__power_source *s, const char *path, int code)
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

/* The number in file path[which], times unit; the file stays open. */
static bool read_number(ft__power_source *s, int which, double unit, double *v)
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

/* Joules; watts, or the product of volts and, from a second file, amperes. */
static ft__read read_file(ft__power_source *s, ft_power_reading *out)
{
    double value, amperes = 1;

    if (!read_number(s, 0, s->unit, &value) ||
        (s->path[1] && !read_number(s, 1, s->unit, &amperes)))
        return FT__READ_FAILED;
    *(s->d.counts ? &out->joules : &out->watts) = value * amperes;
    return FT__READ_GOOD;
}

ft__power_source *ft__source_add_file(ft__sources *all, const char *name, bool counts,
                                      double unit, const char *path)
{
    ft__power_source *s = ft__source_add(all, name);

    if (!s)
        return NULL;
    s->d.counts = counts;
    s->d.tells_power = !counts;
    s->unit = unit;
    s->path[0] = path;
    s->read = read_file;
    return s;
}

bool ft__sources_has_pci(ft__sources *all, const char *vendor, bool display)
{
    static const char pci[] = "/sys/bus/pci/devices";
    char text[16], class[16];
    bool found = false;

    for (char **name = ft__source_folder(all, pci); *name && !found; name++) {
        ft__sys_text(text, sizeof(text), all->root, "%s/%s/vendor", pci, *name);
        ft__sys_text(class, sizeof(class), all->root, "%s/%s/class", pci, *name);
        found =
            strcmp(text, vendor) == 0 && (!display || strncmp(class, "0x03", 4) == 0 ||
                                          strncmp(class, "0x12", 4) == 0);
    }
    return found;
}

/* Hand back libraries, files and programs. */
static void release(ft__sources *all)
{
    for (size_t i = 0; i < all->n; i++) {
        ft__power_source *s = &all->source[i];

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
    if (all->amd)
        all->close_amd(all->amd);
    all->amd = NULL;
    ft__nvml_close(&all->nvml);
}

void ft__sources_free(ft__sources *all)
{
    release(all);
    free(all->source);
    ft__arena_free(&all->arena);
    all->source = NULL;
    all->n = all->cap = 0;
}
