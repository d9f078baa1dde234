#ifndef CLI_OPERATING_POINT_H
#define CLI_OPERATING_POINT_H

#include "cli/cli.h"
#include "foretell/query.h"

/* The operating point of a device: what is given of its clocks and power cap. */
typedef struct ft__operating_options {
    const char *clock;
    const char *memory_clock;
    const char *power_cap;
    const char *policy;
} ft__operating_options;
extern const ft__option ft__operating_table[];
typedef struct ft__setting_options {
    double clock_hz; /* NaN: as it comes */
    double memory_hz;
    double power_w;
    const char *policy; /* NULL: not said */
    char setting[96];   /* "clock=1200MHz power=250W"; "" when nothing is said */
} ft__setting_options;
/* Complains itself. */
int ft__operating_parse(ft__cli *c, ft__setting_options *out,
                        const ft__operating_options *o);
void ft__operating_set_clock(ft__setting_options *u, double clock_hz);

/* "clock=1200MHz cache=written": the operating point, and what datasets name beside it;
 * NULL: nothing. Complains itself. */
enum { FT__SETTING_MAX = 1024 };
int ft__operating_setting(ft__cli *c, char out[FT__SETTING_MAX],
                          const ft__setting_options *u, const char *more);

/* How a network is asked about, in the words of datasets. */
typedef struct ft__query_options {
    const char *setting;
    const char *engine_version;
    const char *run_mode;
    const char *host;
} ft__query_options;
extern const ft__option ft__query_table[];

/* From any name of a device to that of its file, in place; complains itself. */
int ft__device_resolve(ft__cli *c, char *name, size_t size);
/* Is there a file of this name? Then *memory_bytes (or NULL) is what it says of it. */
bool ft__device_is_there(ft__cli *c, const char *name, double *memory_bytes);

/* The option of predict and rank: measurements that correct what a family says. */
#define FT__CORRECT_HELP                                                               \
    "a few measurements of a device correct what a predictor for a family says of it"
/* The complaint that nothing was corrected. */
int ft__nothing_corrected(ft__cli *c, const char *path);

#endif
