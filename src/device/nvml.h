#ifndef DEVICE_NVML_H
#define DEVICE_NVML_H

#include <stdbool.h>

/* The few functions of NVIDIA's management library that are needed, loaded at
 * run time. Zero-initialise. */
typedef struct ft__nvml {
    void *dl;
    int (*shutdown)(void);
    int (*handle_by_index)(unsigned, void **);
    int (*power_usage)(void *, unsigned *);
    int (*total_energy)(void *, unsigned long long *);
    const char *(*error_string)(int);
    unsigned n_devices;
    char reason[160]; /* why it cannot be used, "" when it can */
    const char *remedy;
} ft__nvml;

/* False: n->reason and n->remedy say why and what to do. */
bool ft__nvml_open(ft__nvml *n, const char *path, bool gpu_present);
void ft__nvml_close(ft__nvml *n);

/* Energy since the driver was loaded, and power; NaN for what the device does
 * not tell. Returns why both are NaN, else NULL. */
const char *ft__nvml_read(const ft__nvml *n, unsigned device, double *joules,
                          double *watts);

#endif
