#ifndef DEVICE_NVML_CLOCKS_H
#define DEVICE_NVML_CLOCKS_H

#include "device/nvml.h"
#include "foretell/error.h"

/* Clocks, power limits, temperatures and throttle reasons of NVIDIA's GPUs. */

/* member, what nvml.h calls it, arguments after the device. Drivers lack some. */
#define FT__NVML_CALLS(F)                                                              \
    F(clock, "nvmlDeviceGetClockInfo", (void *, unsigned, unsigned *))                 \
    F(max_clock, "nvmlDeviceGetMaxClockInfo", (void *, unsigned, unsigned *))          \
    F(memory_clocks, "nvmlDeviceGetSupportedMemoryClocks",                             \
      (void *, unsigned *, unsigned *))                                                \
    F(graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks",                         \
      (void *, unsigned, unsigned *, unsigned *))                                      \
    F(lock_core, "nvmlDeviceSetGpuLockedClocks", (void *, unsigned, unsigned))         \
    F(unlock_core, "nvmlDeviceResetGpuLockedClocks", (void *))                         \
    F(lock_memory, "nvmlDeviceSetMemoryLockedClocks", (void *, unsigned, unsigned))    \
    F(unlock_memory, "nvmlDeviceResetMemoryLockedClocks", (void *))                    \
    F(application_clock, "nvmlDeviceGetApplicationsClock",                             \
      (void *, unsigned, unsigned *))                                                  \
    F(set_application_clocks, "nvmlDeviceSetApplicationsClocks",                       \
      (void *, unsigned, unsigned))                                                    \
    F(power_limit, "nvmlDeviceGetPowerManagementLimit", (void *, unsigned *))          \
    F(power_range, "nvmlDeviceGetPowerManagementLimitConstraints",                     \
      (void *, unsigned *, unsigned *))                                                \
    F(power_default, "nvmlDeviceGetPowerManagementDefaultLimit", (void *, unsigned *)) \
    F(set_power_limit, "nvmlDeviceSetPowerManagementLimit", (void *, unsigned))        \
    F(temperature, "nvmlDeviceGetTemperature", (void *, unsigned, unsigned *))         \
    F(threshold, "nvmlDeviceGetTemperatureThreshold", (void *, unsigned, unsigned *))  \
    F(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons",                           \
      (void *, unsigned long long *))                                                  \
    F(events, "nvmlDeviceGetCurrentClocksEventReasons", (void *, unsigned long long *))

/* Values of nvml.h. */
enum {
    FT__NVML_NOT_SUPPORTED = 3,
    FT__NVML_NO_PERMISSION = 4,
    FT__NVML_CORE = 1,   /* of the streaming multiprocessors */
    FT__NVML_MEMORY = 2, /* of nvmlClockType_t */
    FT__NVML_GRAPHICS = 0,
    FT__NVML_SLOWDOWN = 1, /* of nvmlTemperatureThresholds_t */
    FT__NVML_MAX_CLOCKS = 512,
};

typedef struct ft__gpus {
    ft__nvml lib;
#define MEMBER(name, symbol, arguments) int(*name) arguments;
    FT__NVML_CALLS(MEMBER)
#undef MEMBER
} ft__gpus;

/* FT_ENOTFOUND or FT_EUNSUPPORTED with the reason and remedy. `path`: NULL: the
 * usual name. Close also after a failure; zero-initialised is fine. */
ft_status ft__gpus_open(ft__gpus *g, const char *path, ft_error *err);
void ft__gpus_close(ft__gpus *g);
/* "nvml:0" or "nvml" (the first). FT_ENOTFOUND names those there are. */
ft_status ft__gpus_find(void **handle, unsigned *index, const ft__gpus *g,
                        const char *device, ft_error *err);
/* A call that a driver lacks is not supported. */
#define FT__NVML_CALL(g, name, ...)                                                    \
    ((g)->name ? (g)->name(__VA_ARGS__) : (int)FT__NVML_NOT_SUPPORTED)
/* Ascending MHz; 0: the device tells none. `memory`: core clocks at this memory
 * clock, 0: memory clocks. */
unsigned ft__gpu_choices(unsigned mhz[FT__NVML_MAX_CLOCKS], const ft__gpus *g,
                         void *handle, unsigned memory);

#endif
