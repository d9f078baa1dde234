/* NVIDIA's management library: loading it, its GPUs, and what they are called. */
#include "device/nvml.h"

#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "foretell/device.h"

static const char *remedy_for(int code)
{
    switch (code) {
    case FT__NVML_NO_PERMISSION: return "run as root, or ask the administrator";
    case FT__NVML_NO_DRIVER: return "sudo modprobe nvidia";
    case FT__NVML_VERSIONS_DIFFER:
        return "reboot, so that driver and library have one version";
    default: return "";
    }
}

static bool refuse(ft__nvml *n, int code, const char *what)
{
    snprintf(n->reason, sizeof(n->reason), "%s: %s", what, n->error_string(code));
    n->remedy = remedy_for(code);
    ft__nvml_close(n);
    return false;
}

/* The first symbol there is of "one|other". */
static void *find(void *dl, const char *symbols)
{
    char name[64];
    void *at = NULL;

    while (!at && *symbols) {
        size_t len = strcspn(symbols, "|");

        snprintf(name, sizeof(name), "%.*s", (int)len, symbols);
        at = dlsym(dl, name);
        symbols += len + (symbols[len] == '|');
    }
    return at;
}

static bool find_all(ft__nvml *n)
{
    bool all = true;

#define MAY(member, symbols, parameters) *(void **)&n->member = find(n->dl, symbols);
#define NEED(member, symbols, parameters)                                              \
    MAY(member, symbols, parameters)                                                   \
    all = all && n->member;
#include "device/nvml.def"
#undef NEED
#undef MAY
    *(void **)&n->error_string = dlsym(n->dl, "nvmlErrorString");
    return all && n->error_string;
}

bool ft__nvml_open(ft__nvml *n, const char *path, bool gpu_present)
{
    int code;

    path = path ? path : "libnvidia-ml.so.1";
    n->remedy = "";
    n->dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!n->dl) {
        snprintf(n->reason, sizeof(n->reason), "%s is not installed", path);
        n->remedy =
            gpu_present ? "install the driver of this machine's NVIDIA GPU" : "";
        return false;
    }
    if (!find_all(n)) {
        snprintf(n->reason, sizeof(n->reason), "%s lacks functions of NVML", path);
        n->shutdown = NULL;
        ft__nvml_close(n);
        return false;
    }
    code = n->init();
    if (code) {
        n->shutdown = NULL;
        return refuse(n, code, "NVML cannot start");
    }
    code = n->count(&n->n_devices);
    if (code)
        return refuse(n, code, "NVML cannot count its devices");
    if (n->n_devices == 0) {
        ft__nvml_close(n);
        snprintf(n->reason, sizeof(n->reason), "NVML sees no GPU");
        return false;
    }
    return true;
}

void ft__nvml_close(ft__nvml *n)
{
    if (n->dl && n->shutdown)
        n->shutdown();
    if (n->dl)
        dlclose(n->dl);
    n->dl = NULL;
    n->n_devices = 0;
}

double ft__nvml_field_watts(const ft__nvml *n, void *device, unsigned field,
                            unsigned scope)
{
    ft__nvml_field f = {.field = field, .scope = scope};

    if (!n->field_values || n->field_values(device, 1, &f) || f.code)
        return NAN;
    switch (f.type) {
    case 0: return f.value.d * 1e-3;
    case 1: return f.value.ui * 1e-3;
    case 2: return (double)f.value.ul * 1e-3;
    case 3: return (double)f.value.ull * 1e-3;
    default: return NAN;
    }
}

ft_status ft__nvml_find(void **handle, unsigned *index, const ft__nvml *n,
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

unsigned ft__nvml_clocks(double hz[FT__NVML_MAX_CLOCKS], const ft__nvml *n,
                         void *handle, unsigned memory_mhz)
{
    unsigned mhz[FT__NVML_MAX_CLOCKS], count = FT__NVML_MAX_CLOCKS;
    int code = memory_mhz
                   ? FT__NVML_CALL(n, core_clocks, handle, memory_mhz, &count, mhz)
                   : FT__NVML_CALL(n, memory_clocks, handle, &count, mhz);

    if (code || count > FT__NVML_MAX_CLOCKS)
        return 0;
    for (unsigned i = 0; i < count; i++)
        hz[i] = mhz[i] * 1e6;
    ft__sort(hz, count);
    return count;
}

/* "NVIDIA H200" -> "gpu-nvidia-h200": words of letters and digits. */
static void make_name(char *out, size_t size, const char *said)
{
    size_t n = (size_t)snprintf(out, size, "gpu");
    bool apart = true;

    for (; *said && n + 2 < size; said++) {
        bool word = isalnum((unsigned char)*said);

        if (word && apart)
            out[n++] = '-';
        if (word)
            out[n++] = (char)tolower((unsigned char)*said);
        apart = !word;
    }
    out[n] = '\0';
}

ft_status ft_device_gpu_name(char *out, size_t size, uint32_t index, const char *nvml,
                             ft_error *err)
{
    ft__nvml n = {0};
    char said[128] = "";
    void *device;
    ft_status st = FT_OK;

    out[0] = '\0';
    if (!ft__nvml_open(&n, nvml, false))
        return ft_fail(err, FT_ENOTFOUND, 0, "GPU %u cannot be identified: %s", index,
                       n.reason);
    if (index >= n.n_devices)
        st = ft_fail(err, FT_ENOTFOUND, 0, "there is no GPU %u; there are %u, from 0",
                     index, n.n_devices);
    else if (n.handle_by_index(index, &device) ||
             FT__NVML_CALL(&n, name, device, said, sizeof(said)) || !*said)
        st = ft_fail(err, FT_ENOTFOUND, 0, "GPU %u does not say what it is", index);
    else
        make_name(out, size, said);
    ft__nvml_close(&n);
    return st;
}
