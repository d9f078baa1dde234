#ifndef DEVICE_NVML_H
#define DEVICE_NVML_H

#include <stdbool.h>

#include "foretell/error.h"

/* NVIDIA's management library, loaded at run time. Layouts and numbers are those
 * of nvml.h (API documentation of NVML). */

enum { /* nvmlReturn_t, the values that need an answer of their own */
       FT__NVML_BAD_ARGUMENT = 2,
       FT__NVML_NOT_SUPPORTED = 3,
       FT__NVML_NO_PERMISSION = 4,
       FT__NVML_NOT_FOUND = 6,
       FT__NVML_INSUFFICIENT_SIZE = 7,
       FT__NVML_NO_DRIVER = 9,
       FT__NVML_LOST = 15,
       FT__NVML_VERSIONS_DIFFER = 18,
};
enum { /* nvmlClockType_t */
       FT__NVML_CLOCK_GRAPHICS = 0,
       FT__NVML_CLOCK_SM = 1,
       FT__NVML_CLOCK_MEMORY = 2,
};
enum { /* nvmlTemperatureThresholds_t */
       FT__NVML_THRESHOLD_SHUTDOWN = 0,
       FT__NVML_THRESHOLD_SLOWDOWN = 1,
};
enum { /* fields, and the part whose power they give */
       FT__NVML_POWER_AVERAGE = 185,
       FT__NVML_POWER_INSTANT = 186,
       FT__NVML_SCOPE_GPU = 0,
       FT__NVML_SCOPE_MODULE = 1,
       FT__NVML_SCOPE_MEMORY = 2,
};

typedef union ft__nvml_value {
    double d;
    int si;
    unsigned ui;
    unsigned long ul;
    unsigned long long ull;
    long long sll;
} ft__nvml_value;

typedef struct ft__nvml_field {
    unsigned field;
    unsigned scope;
    long long timestamp_us;
    long long latency_us;
    int type; /* nvmlValueType_t; 0 is double, 1 unsigned, 2 and 3 longer ones */
    int code;
    ft__nvml_value value;
} ft__nvml_field;

typedef struct ft__nvml_pci {
    char legacy_id[16];
    unsigned domain, bus, device;
    unsigned device_id, subsystem_id;
    char id[32]; /* "00000000:65:00.0" */
} ft__nvml_pci;

/* Zero-initialise. */
typedef struct ft__nvml {
    void *dl;
#define NEED(member, symbols, parameters) int(*member) parameters;
#define MAY(member, symbols, parameters) int(*member) parameters;
#include "device/nvml.def"
#undef NEED
#undef MAY
    const char *(*error_string)(int);
    unsigned n_devices;
    char reason[160]; /* why it cannot be used, "" when it can */
    const char *remedy;
} ft__nvml;

/* path: NULL for the usual name. False: n->reason and n->remedy say why and what
 * to do. */
bool ft__nvml_open(ft__nvml *n, const char *path, bool gpu_present);
void ft__nvml_close(ft__nvml *n);
/* A function that the driver lacks is not supported. */
#define FT__NVML_CALL(n, member, ...)                                                  \
    ((n)->member ? (n)->member(__VA_ARGS__) : (int)FT__NVML_NOT_SUPPORTED)

/* "nvml:0" or "nvml" (the first). FT_ENOTFOUND names those there are. */
ft_status ft__nvml_find(void **handle, unsigned *index, const ft__nvml *n,
                        const char *device, ft_error *err);
/* Power in watts by a field; NaN where the driver has no value. */
double ft__nvml_field_watts(const ft__nvml *n, void *device, unsigned field,
                            unsigned scope);
/* Clocks that can be set, ascending; 0: the device lists none. memory_mhz: core clocks
 * at this memory clock, 0: memory clocks. */
enum { FT__NVML_MAX_CLOCKS = 512 };
unsigned ft__nvml_clocks(double hz[FT__NVML_MAX_CLOCKS], const ft__nvml *n,
                         void *handle, unsigned memory_mhz);

#endif
