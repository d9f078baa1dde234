#ifndef DEVICE_POWER_SOURCE_H
#define DEVICE_POWER_SOURCE_H

#include <stdbool.h>

#include "base/arena.h"
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
    const char *path[2]; /* below the root; of two, volts and amperes */
    int fd[2];           /* -1: not open */
    double unit;
    void *state;
    unsigned index;
};

struct ft__sources {
    const char *root; /* the caller's */
    const ft__clock *clock;
    bool is_virtual, is_x86;
    const char *nvml_library, *amd_library; /* NULL: not to be looked for */
    ft__power_source *source;
    size_t n, cap;
    ft__nvml nvml;
    void *amd; /* state of source_amd.c, and what frees it */
    void (*close_amd)(void *amd);
    ft__arena arena;
    bool bad; /* memory was short at some time */
};

/* A kind of sources, which is the one thing that its file gives. */
typedef struct ft__power_kind {
    void (*find)(ft__sources *all); /* those that this machine has; may be NULL */
    /* One that is asked for by name, which begins with this; what follows is `what`. */
    const char *name;
    ft_status (*open)(ft__sources *all, const char *what, ft_error *err);
} ft__power_kind;

#define FT__POWER_KIND(kind) extern const ft__power_kind ft__sources_##kind;
#include "device/power/kinds.def"
#undef FT__POWER_KIND

/* A new source, NULL when memory is short; one that reads a number in a file, joules of
 * a counter or watts, in this unit (in volts where it is given a second path, to
 * amperes); text that lives as long as the sources. */
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
/* PCI vendor "0x10de"; a GPU only where `display`. */
bool ft__sources_has_pci(ft__sources *all, const char *vendor, bool display);
void ft__sources_free(ft__sources *all);

/* ft_sensors_probe() with what it takes from the world as arguments: wait()
 * returns the seconds that passed, and `nvml` and `amd` name the libraries to load,
 * NULL for not looking. */
ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, const char *amd, ft_error *err);

#endif
