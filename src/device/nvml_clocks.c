#include "device/nvml_clocks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ft_status ft__gpus_open(ft__gpus *g, const char *path, ft_error *err)
{
    memset(g, 0, sizeof(*g));
    if (!ft__nvml_open(&g->lib, path ? path : "libnvidia-ml.so.1", false))
        return ft_fail(err, FT_ENOTFOUND, 0, "no NVIDIA GPU can be asked: %s%s%s",
                       g->lib.reason, *g->lib.remedy ? "; try: " : "", g->lib.remedy);
#define LOAD(name, symbol, arguments) *(void **)&g->name = dlsym(g->lib.dl, symbol);
    FT__NVML_CALLS(LOAD)
#undef LOAD
    return FT_OK;
}

void ft__gpus_close(ft__gpus *g)
{
    if (g->lib.dl)
        ft__nvml_close(&g->lib);
    memset(g, 0, sizeof(*g));
}

ft_status ft__gpus_find(void **handle, unsigned *index, const ft__gpus *g,
                        const char *device, ft_error *err)
{
    const char *number = strchr(device, ':');
    char *end = NULL;
    unsigned long i = number ? strtoul(number + 1, &end, 10) : 0;
    int code;

    *handle = NULL;
    *index = (unsigned)i;
    if (strncmp(device, "nvml", 4) != 0 || (device[4] && device[4] != ':') ||
        (number && (end == number + 1 || *end)) || i >= g->lib.n_devices)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "there is no device \"%s\" here; cpu, and nvml:0 .. nvml:%u, are", device,
            g->lib.n_devices - 1);
    code = g->lib.handle_by_index(*index, handle);
    if (code)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: %s", device,
                       g->lib.error_string(code));
    return FT_OK;
}

static int ascending(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

unsigned ft__gpu_choices(unsigned mhz[FT__NVML_MAX_CLOCKS], const ft__gpus *g,
                         void *handle, unsigned memory)
{
    unsigned n = FT__NVML_MAX_CLOCKS;
    int code = memory ? FT__NVML_CALL(g, graphics_clocks, handle, memory, &n, mhz)
                      : FT__NVML_CALL(g, memory_clocks, handle, &n, mhz);

    if (code || n > FT__NVML_MAX_CLOCKS)
        return 0;
    qsort(mhz, n, sizeof(*mhz), ascending);
    return n;
}
