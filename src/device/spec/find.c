/* What datasets call a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
