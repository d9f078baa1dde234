#ifndef FT_DEVICE_H
#define FT_DEVICE_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Specifications of a device. Every number is SI; NaN = unknown.
 * Described by text files (data/devices/NAME.yaml), each number with source. */
typedef struct ft_device ft_device;

typedef struct ft_device_facts {
    const char *name;   /* file name without .yaml, lower case: "a100-sxm-80gb" */
    const char *title;  /* "NVIDIA A100 SXM4 80 GB" */
    const char *vendor; /* "NVIDIA" */
    const char *type;   /* "gpu" or "cpu" */
    const char *chip;   /* its silicon, "gh100": hold-out tests leave out all devices
                           of one chip; the device's name where the file has none */
    const char *source; /* where the numbers come from, one line */
    const char *note;   /* "" when there is nothing to add */
    double cores;       /* CPU cores, or streaming multiprocessors / compute units */
    double base_clock_hz;
    double boost_clock_hz;
    double memory_clock_hz;
    double peak_fp64; /* FLOP/s, 2 per multiply-add, dense */
    double peak_fp32;
    double peak_tf32;
    double peak_fp16; /* tensor cores where there are any */
    double peak_bf16;
    double peak_fp8;
    double peak_int8;
    double bandwidth_bytes_per_s;
    double memory_bytes;
    double inline_ecc; /* 1: error correction takes bandwidth of the same memory */
    double l2_bytes;   /* GPU: L2; CPU: per core */
    double l3_bytes;   /* in all */
    double shared_memory_per_core_bytes;
    double tdp_w;
    double process_nm;
    double compute_capability; /* NVIDIA only */
    double year;
    const char *const *aliases; /* names in datasets */
    size_t n_aliases;
    /* This machine: a stable text of CPU model, visible cores, cache and memory sizes
     * ("cpu-amd-epyc-2c-1a2b3c4d"); other devices: the name. */
    const char *fingerprint;
    double load_clock_hz; /* CPU: all cores busy with its widest vectors; GPU: its default
                             clock, if that is not the boost clock */
    double link_bytes_per_s; /* GPU: to others of its node, each way; NaN: over PCIe */
    /* W: the smallest TDP of a board with the same chip at the same clock. What computes
     * draws a share of it. NaN: tdp_w. */
    double drawing_tdp_w;
    double peak_fp4;
    double link_devices;  /* GPU: how many the link joins; NaN: all of a node */
    double launch_factor; /* GPU in one module with its host: factor on the launch time
                             of an x86 server's host; NaN: 1 */
} ft_device_facts;

/* Load data_dir/devices/NAME.yaml. FT_ENOTFOUND lists the names there are;
 * FT_EFORMAT names file, line and key. */
FT_API ft_status ft_device_load(ft_device **out, const char *data_dir, const char *name,
                                ft_error *err);
/* Resolve an alias, or a product with variants ("h100": the fastest), to the name of
 * its file, in place; `note` says which variant was taken (or ""). Other names stay.
 * FT_EFORMAT as above. */
FT_API ft_status ft_device_resolve(char *name, size_t size, char *note,
                                   size_t note_size, const char *data_dir,
                                   ft_error *err);
/* This machine, from /proc and /sys below `root` ("" for the real ones, a
 * recorded tree otherwise). name is "local"; peaks stay NaN until measured. */
FT_API ft_status ft_device_local(ft_device **out, const char *root, ft_error *err);
FT_API void ft_device_free(ft_device *d);
FT_API const ft_device_facts *ft_device_get(const ft_device *d);
/* Name of NVIDIA GPU `index` (NVML order) in datasets: its model, "gpu-nvidia-h200".
 * nvml: the management library; NULL: the default name. FT_ENOTFOUND: no such GPU, or
 * no library. */
FT_API ft_status ft_device_gpu_name(char *out, size_t size, uint32_t index,
                                    const char *nvml, ft_error *err);

/* All names in data_dir/devices, sorted. *names and its strings are freed by
 * ft_device_names_free(). */
FT_API ft_status ft_device_names(char ***names, size_t *n, const char *data_dir,
                                 ft_error *err);
FT_API void ft_device_names_free(char **names, size_t n);

typedef struct ft_record_options {
    const char *root; /* as above; NULL or "": this machine */
    const char *nvml; /* the management library; NULL: the usual name */
    double trace_s;   /* duration of the power trace; 0: none */
} ft_record_options;

typedef struct ft_record {
    uint64_t files;      /* copied */
    uint64_t unreadable; /* named in files.txt, with the reason */
    uint64_t gpus;       /* in nvml.txt */
    uint64_t readings;   /* in trace.csv */
    char no_nvml[160];   /* why there is no nvml.txt; "" when there is one */
    char no_trace[1000]; /* why there is no trace.csv */
} ft_record;

/* Record this machine into the new folder `dir`: the files of
 * /proc and /sys that this library reads (as a tree that serves as `root` elsewhere),
 * files.txt (mode, outcome and name of each), nvml.txt, trace.csv (every reading of the
 * power sensors). No serial numbers, no names of hosts or users. FT_EIO: dir exists or
 * cannot be written. */
FT_API ft_status ft_machine_record(ft_record *out, const char *dir,
                                   const ft_record_options *opt, ft_error *err);

/* What this machine can measure. */

/* One power or energy source, usable or not. Sources may count the same energy
 * (package-0 contains package-0/core): do not add them up. */
typedef struct ft_sensor {
    const char *name; /* "powercap:package-0/core", "hwmon:ina3221:VDD_IN", "nvml:0" */
    int usable;       /* 1: its counter moved, or power is above 0 W */
    double power_w;   /* seen while probing; NaN when not usable */
    const char *reason;  /* why it is not usable; "" when it is */
    const char *remedy;  /* the exact command or step to enable it; "" if none */
    const char *part_of; /* as the following, of ft_domain (foretell/power.h) */
    const char *note;
    int counts;
    int tells_power;
    double window_s;
    double duty;
    double least_s;
} ft_sensor;

/* Made and freed by the library, so that fields can be appended; read only. */
typedef struct ft_sensors {
    const ft_sensor *sensor;
    size_t n;
    /* One sentence for answers without energy: "no power sensor on this machine
     * (powercap: ..., try: ...; hwmon: ...; nvml: ...)"; "" when one is usable. */
    const char *why_none;
} ft_sensors;
/* Look for every kind of source this build knows, and watch those found for
 * probe_s seconds (1 is plenty, GPUs move every 0.1 s): a counter that does not
 * move is not usable. `root` as in ft_device_local(); NVML is asked only for "".
 * Never fails for want of a sensor. */
FT_API ft_status ft_sensors_probe(ft_sensors **out, const char *root, double probe_s,
                                  ft_error *err);
FT_API void ft_sensors_free(ft_sensors *s);

FT_END_DECLS

#endif
