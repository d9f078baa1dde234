/* What a device is called, by datasets and people: "h100-sxm", "NVIDIA H100 80GB HBM3",
 * "h100". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/spec/device.h"
#include "device/sysfs.h"

static char plain(char c)
{
    return c == ' ' || c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool alike(const char *a, const char *b)
{
    while (*a && plain(*a) == plain(*b)) {
        a++;
        b++;
    }
    return !*a && !*b;
}

static bool is_called(const ft_device_facts *f, const char *title)
{
    bool found = alike(f->title, title);

    for (size_t i = 0; i < f->n_aliases && !found; i++)
        found = alike(f->aliases[i], title);
    return found;
}

/* Does a title occur in a file? Parsing takes hundreds of times as long as this, and
 * next to no file has it. */
static bool mentions(const char *text, size_t len, const char *title)
{
    size_t n = strlen(title), same = 0;

    for (size_t i = 0; i + n <= len && same < n; i++)
        for (same = 0; same < n && plain(text[i + same]) == plain(title[same]);)
            same++;
    return same == n;
}

static ft_status describes(bool *found, const char *data_dir, const char *name,
                           const char *title, ft_error *err)
{
    char path[PATH_MAX], *text;
    size_t len;
    ft_device *d = NULL;
    ft_status st;

    *found = alike(name, title);
    if (*found)
        return FT_OK;
    if (!ft__device_path(path, data_dir, name))
        return ft_fail(err, FT_EFORMAT, 0, "%s is no name of a device", name);
    st = ft__sys_file(&text, &len, path, err);
    if (!st && mentions(text, len, title))
        st = ft__device_parse(&d, name, text, len, path, err);
    *found = d && is_called(ft_device_get(d), title);
    ft_device_free(d);
    free(text);
    return st;
}

/* Whether the file `name` describes it; a second one that does is an error. */
static ft_status try_file(char *out, size_t size, const char *data_dir,
                          const char *name, const char *title, ft_error *err)
{
    bool found;
    ft_status st = describes(&found, data_dir, name, title, err);

    if (st)
        return st;
    if (found && *out)
        return ft_fail(err, FT_EFORMAT, 0,
                       "\"%s\" may be %s or %s: take the alias out of one of "
                       "%s/devices/%s.yaml and %s.yaml",
                       title, out, name, data_dir, out, name);
    if (found && (size_t)snprintf(out, size, "%s", name) >= size)
        return ft_fail(err, FT_EINVAL, 0, "the name of device %s is too long", name);
    return FT_OK;
}

ft_status ft__device_find(char *out, size_t size, const char *data_dir,
                          const char *title, ft_error *err)
{
    char **names;
    size_t n;
    ft_status st = ft_device_names(&names, &n, data_dir, err);

    *out = '\0';
    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++)
        st = try_file(out, size, data_dir, names[i], title, err);
    ft_device_names_free(names, n);
    if (st || *out)
        return st;
    return ft_fail(err, FT_ENOTFOUND, 0, "no device file knows \"%s\"", title);
}

/* Of variants of one product the one that people mean when they name none: the one
 * that does most, then the one that moves most, then the largest. */
static bool before(const ft_device_facts *a, const ft_device_facts *b)
{
    if (a->peak_fp32 != b->peak_fp32)
        return a->peak_fp32 > b->peak_fp32;
    if (a->bandwidth_bytes_per_s != b->bandwidth_bytes_per_s)
        return a->bandwidth_bytes_per_s > b->bandwidth_bytes_per_s;
    return a->memory_bytes > b->memory_bytes;
}

static bool is_variant(const char *name, const char *asked)
{
    size_t len = strlen(asked);

    return strncmp(name, asked, len) == 0 && name[len] == '-';
}

static ft_status find_variant(char *name, size_t size, char *note, size_t note_size,
                              const char *data_dir, ft_error *err)
{
    ft_device *best = NULL;
    char **names, list[400] = "";
    size_t n, found = 0;
    ft_status st = ft_device_names(&names, &n, data_dir, err);

    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++) {
        ft_device *d;
        size_t len = strlen(list);

        if (!is_variant(names[i], name))
            continue;
        st = ft_device_load(&d, data_dir, names[i], err);
        if (st)
            break;
        snprintf(list + len, sizeof(list) - len, "%s%s", found++ ? ", " : "", names[i]);
        if (best && !before(ft_device_get(d), ft_device_get(best))) {
            ft_device_free(d);
            continue;
        }
        ft_device_free(best);
        best = d;
    }
    if (!st && best) {
        if (found > 1)
            snprintf(note, note_size, "%s is %s (there are %s)", name,
                     ft_device_get(best)->name, list);
        snprintf(name, size, "%s", ft_device_get(best)->name);
    }
    ft_device_free(best);
    ft_device_names_free(names, n);
    return st;
}

ft_status ft_device_resolve(char *name, size_t size, char *note, size_t note_size,
                            const char *data_dir, ft_error *err)
{
    char found[128], path[PATH_MAX];

    *note = '\0';
    if (strcmp(name, "local") == 0 ||
        (ft__device_path(path, data_dir, name) && access(path, F_OK) == 0))
        return FT_OK;
    if (!ft__device_find(found, sizeof(found), data_dir, name, NULL)) {
        snprintf(name, size, "%s", found);
        return FT_OK;
    }
    return find_variant(name, size, note, note_size, data_dir, err);
}
