#ifndef CLI_USE_H
#define CLI_USE_H

#include "cli/cli.h"
#include "foretell/query.h"

/* How a device is driven, as far as it is said. */
typedef struct ft__use_options {
    const char *clock;
    const char *memory_clock;
    const char *power_cap;
    const char *policy;
} ft__use_options;
extern const ft__option ft__use_table[];
typedef struct ft__use {
    double clock_hz; /* NaN: as it comes */
    double memory_hz;
    double power_w;
    const char *policy; /* NULL: not said */
    char setting[96];   /* "clock=1200MHz power=250W"; "" when nothing is said */
} ft__use;
/* Complains itself. */
int ft__use_parse(ft__cli *c, ft__use *out, const ft__use_options *o);
void ft__use_set_clock(ft__use *u, double clock_hz);

/* "clock=1200MHz cache=written": how it is driven, and what datasets call it besides;
 * NULL: nothing. Complains itself. */
enum { FT__SETTING_MAX = 1024 };
int ft__use_setting(ft__cli *c, char out[FT__SETTING_MAX], const ft__use *u,
                    const char *more);

/* How a network is asked about, in the words of datasets. */
typedef struct ft__asked_options {
    const char *setting;
    const char *engine_version;
    const char *run_mode;
    const char *host;
} ft__asked_options;
extern const ft__option ft__asked_table[];

/* From any name of a device to that of its file, in place; complains itself. */
int ft__device_resolve(ft__cli *c, char *name, size_t size);
/* Is there a file of this name? Then *memory_bytes (or NULL) is what it says of it. */
bool ft__device_is_there(ft__cli *c, const char *name, double *memory_bytes);

/* The option of predict and rank: measurements that correct what a family says. */
#define FT__CORRECT_HELP                                                               \
    "a few measurements of a device correct what a predictor for a family says of it"
/* The complaint that nothing was corrected. */
int ft__known_none(ft__cli *c, const char *path);

#endif
