/* What a device is called: "h100-sxm", "NVIDIA H100 80GB HBM3", "h100". */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/spec/device.h"

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
