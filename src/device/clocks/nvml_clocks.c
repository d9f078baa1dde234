#include "device/clocks/nvml_clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ft_status ft__gpus_open(ft__nvml *n, const char *path, ft_error *err)
{
    if (ft__nvml_open(n, path, false))
        return FT_OK;
    return ft_fail(err, FT_ENOTFOUND, 0, "no NVIDIA GPU can be asked: %s%s%s",
                   n->reason, *n->remedy ? "; try: " : "", n->remedy);
}

ft_status ft__gpus_find(void **handle, unsigned *index, const ft__nvml *n,
                        const char *device, ft_error *err)
{
    const char *number = strchr(device, ':');
    char *end = NULL;
    unsigned long i = number ? strtoul(number + 1, &end, 10) : 0;
    int code;

    *handle = NULL;
    *index = (unsigned)i;
    if (strncmp(device, "nvml", 4) != 0 || (device[4] && device[4] != ':') ||
        (number && (end == number + 1 || *end)) || i >= n->n_devices)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "there is no device \"%s\" here; cpu, and nvml:0 .. nvml:%u, are", device,
            n->n_devices - 1);
    code = n->handle_by_index(*index, handle);
    if (code)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: %s", device,
                       n->error_string(code));
    return FT_OK;
}

static int ascending(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

unsigned ft__gpu_choices(unsigned mhz[FT__NVML_MAX_CLOCKS], const ft__nvml *n,
                         void *handle, unsigned memory)
{
    unsigned count = FT__NVML_MAX_CLOCKS;
    int code = memory ? FT__NVML_CALL(n, core_clocks, handle, memory, &count, mhz)
                      : FT__NVML_CALL(n, memory_clocks, handle, &count, mhz);

    if (code || count > FT__NVML_MAX_CLOCKS)
        return 0;
    qsort(mhz, count, sizeof(*mhz), ascending);
    return count;
}
