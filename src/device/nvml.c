#include "device/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
