#ifndef DEVICE_CLOCKS_NVML_CLOCKS_H
#define DEVICE_CLOCKS_NVML_CLOCKS_H

#include "device/nvml.h"
#include "foretell/error.h"

/* NVML for those who set and watch clocks. */

enum { FT__NVML_MAX_CLOCKS = 512 };

/* FT_ENOTFOUND with the reason and remedy. `path`: NULL: the usual name. */
ft_status ft__gpus_open(ft__nvml *n, const char *path, ft_error *err);
/* "nvml:0" or "nvml" (the first). FT_ENOTFOUND names those there are. */
ft_status ft__gpus_find(void **handle, unsigned *index, const ft__nvml *n,
                        const char *device, ft_error *err);
/* A call that a driver lacks is not supported. */
#define FT__NVML_CALL(n, member, ...)                                                  \
    ((n)->member ? (n)->member(__VA_ARGS__) : (int)FT__NVML_NOT_SUPPORTED)
/* Ascending MHz; 0: the device tells none. `memory`: core clocks at this memory
 * clock, 0: memory clocks. */
unsigned ft__gpu_choices(unsigned mhz[FT__NVML_MAX_CLOCKS], const ft__nvml *n,
                         void *handle, unsigned memory);

#endif
