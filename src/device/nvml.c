#include "device/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* From nvml.h, the values that need an answer of their own. */
enum { NVML_NO_PERMISSION = 4, NVML_NO_DRIVER = 9, NVML_VERSIONS_DIFFER = 18 };

static const char *remedy_for(int code)
{
    switch (code) {
    case NVML_NO_PERMISSION: return "run as root, or ask the administrator";
    case NVML_NO_DRIVER: return "sudo modprobe nvidia";
    case NVML_VERSIONS_DIFFER:
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

bool ft__nvml_open(ft__nvml *n, const char *path, bool gpu_present)
{
    int (*init)(void), (*count)(unsigned *), code;

    n->remedy = "";
    n->dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!n->dl) {
        snprintf(n->reason, sizeof(n->reason), "%s is not installed", path);
        n->remedy =
            gpu_present ? "install the driver of this machine's NVIDIA GPU" : "";
        return false;
    }
    *(void **)&init = dlsym(n->dl, "nvmlInit_v2");
    *(void **)&count = dlsym(n->dl, "nvmlDeviceGetCount_v2");
    *(void **)&n->shutdown = dlsym(n->dl, "nvmlShutdown");
    *(void **)&n->handle_by_index = dlsym(n->dl, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&n->power_usage = dlsym(n->dl, "nvmlDeviceGetPowerUsage");
    *(void **)&n->total_energy = dlsym(n->dl, "nvmlDeviceGetTotalEnergyConsumption");
    *(void **)&n->error_string = dlsym(n->dl, "nvmlErrorString");
    if (!init || !count || !n->shutdown || !n->handle_by_index || !n->power_usage ||
        !n->error_string) {
        snprintf(n->reason, sizeof(n->reason), "%s lacks functions of NVML", path);
        n->shutdown = NULL;
        ft__nvml_close(n);
        return false;
    }
    code = init();
    if (code) {
        n->shutdown = NULL;
        return refuse(n, code, "NVML cannot start");
    }
    code = count(&n->n_devices);
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

const char *ft__nvml_read(const ft__nvml *n, unsigned device, double *joules,
                          double *watts)
{
    unsigned long long millijoules;
    unsigned milliwatts;
    void *handle;
    int code = n->handle_by_index(device, &handle);

    *joules = *watts = NAN;
    if (code)
        return n->error_string(code);
    if (n->total_energy && n->total_energy(handle, &millijoules) == 0)
        *joules = (double)millijoules * 1e-3;
    code = n->power_usage(handle, &milliwatts);
    if (code == 0)
        *watts = milliwatts * 1e-3;
    return isnan(*joules) && code ? n->error_string(code) : NULL;
}
