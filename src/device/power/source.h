#ifndef DEVICE_POWER_SOURCE_H
#define DEVICE_POWER_SOURCE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "device/nvml.h"
#include "foretell/device.h"
#include "foretell/power.h"

/* Where watts and joules come from: one interface for all kinds of sources. */

typedef struct ft__power_source ft__power_source;
typedef struct ft__sources ft__sources;

typedef enum ft__read {
    FT__READ_GOOD,
    FT__READ_SAME,   /* known to be what was read before: nothing to write down */
    FT__READ_FAILED, /* source->why says why */
} ft__read;

struct ft__power_source {
    ft_domain d;
    const char *alias[2]; /* other names one may ask by; NULL */
    const char *reason;   /* why it cannot be used; "" when it can, or might */
    const char *remedy;
    double wraps_at_j; /* NaN: never */

    /* Watts and joules as they stand, NaN for what it does not have. Called by one
     * thread at a time. */
    ft__read (*read)(ft__power_source *s, ft_power_reading *out);
    void (*begin)(ft__power_source *s); /* before a stretch of reading; may be NULL */
    void (*close)(ft__power_source *s); /* may be NULL */
    bool hands_over;                    /* each value can be read once */
    char why[160];                      /* the last failure */
    const char *locked;                 /* a file that may not be read; NULL */

    /* of the kind */
    const ft__sources *all;
    const char *path[2]; /* below the root */
    int fd[2];           /* -1: not open */
    double unit;
    void *state;
    unsigned index;
};

#define FT__NVML_LIBRARY "libnvidia-ml.so.1"
/* The first that loads: rocm_smi has power beside energy. */
#define FT__AMD_LIBRARIES                                                              \
    "librocm_smi64.so.7|librocm_smi64.so.6|librocm_smi64.so.5|librocm_smi64.so|"       \
    "libamd_smi.so.26|libamd_smi.so.25|libamd_smi.so.24|libamd_smi.so"

struct ft__sources {
    const char *root; /* the caller's */
    const ft__clock *clock;
    bool is_virtual, is_x86;
    ft__power_source *source;
    size_t n, cap;
    ft__nvml nvml;
    void *amd; /* state of source_amd.c, and what frees it */
    void (*close_amd)(void *amd);
    ft__arena arena;
    bool bad; /* memory was short at some time */
};

/* ---- source.c: what all kinds share ---- */

/* A new source, NULL when memory is short; one that reads a number in a file, joules of
 * a counter or watts, in this unit; text that lives as long as the sources. */
ft__power_source *ft__source_add(ft__sources *all, const char *name);
ft__power_source *ft__source_add_file(ft__sources *all, const char *name, bool counts,
                                      double unit, const char *path);
FT_PRINTF(2, 3) const char *ft__source_keep(ft__sources *all, const char *fmt, ...);
/* The names in a folder below the root, sorted and ended by NULL. */
char **ft__source_folder(ft__sources *all, const char *folder);
void ft__source_refuse(ft__power_source *s, const char *reason, const char *remedy);
/* Nothing of this family: an entry that says so. */
void ft__source_absent(ft__sources *all, const char *family, const char *reason,
                       const char *remedy);
/* The number in file path[which], times unit; the file stays open. */
bool ft__source_number(ft__power_source *s, int which, double unit, double *v);
/* PCI vendor "0x10de"; a GPU only where `display`. */
bool ft__sources_has_pci(ft__sources *all, const char *vendor, bool display);

/* Whether the source answers to this name. */
bool ft__source_is(const ft__power_source *s, const char *name, size_t len);
/* What would help against the last failure. */
const char *ft__source_remedy(ft__sources *all, const ft__power_source *s);
/* It could be read, but what it showed in these seconds was no power. */
void ft__source_refuse_still(ft__sources *all, ft__power_source *s, bool has_joules,
                             double seconds);
/* "no power sensor on this machine (...)": each family's first reason. */
void ft__sources_why_none(const ft__sources *all, ft__buf *out);
/* Hand back libraries, files and programs; names and reasons stay. */
void ft__sources_release(ft__sources *all);
void ft__sources_free(ft__sources *all);

/* ---- the kinds ---- */
/* powercap: false when there are zones that may not be read. */
bool ft__find_powercap(ft__sources *all);
void ft__find_perf(ft__sources *all);
void ft__find_hwmon(ft__sources *all);
void ft__find_nvml(ft__sources *all, const char *library);
void ft__find_amd(ft__sources *all, const char *library);
/* One source a domain of the file. */
ft_status ft__add_replay(ft__sources *all, const char *path, ft_error *err);
ft_status ft__add_command(ft__sources *all, const char *command, ft_error *err);

/* ---- sensors.c ---- */
/* Everything this machine has. nvml, amd: libraries, NULL for not looking. `all`
 * may not move afterwards. Memory: all->bad. */
void ft__sources_find(ft__sources *all, const char *root, const char *nvml,
                      const char *amd);

/* ft_sensors_probe() with what it takes from the world as arguments: wait()
 * returns the seconds that passed, and `nvml` and `amd` name the libraries to load,
 * NULL for not looking. */
ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, const char *amd, ft_error *err);

#endif
