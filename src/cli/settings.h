#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/cli.h"
#include "foretell/query.h"
#include "foretell/settings.h"

/* What the options of settings say, as it stands; NULL: not given. */
typedef struct ft__settings_texts {
    const char *device, *core, *memory, *power_cap;
    const char *cpus, *governor, *turbo, *affinity;
} ft__settings_texts;

enum { FT__MAX_CLOCKS = 64 };

/* Both complain themselves; hz: FT__MAX_CLOCKS. */
int ft__settings_parse(ft__cli *c, ft_settings *out, const ft__settings_texts *t);
int ft__clock_list_parse(ft__cli *c, double *hz, size_t *n, const char *list);
/* Likewise, of --power-caps. */
int ft__cap_list_parse(ft__cli *c, double *watts, size_t *n, const char *list);

json_t *ft__conditions_json(const ft_conditions *x);

/* The operating point of a device: what is given of its clocks and power cap. */
typedef struct ft__operating_options {
    const char *clock, *memory_clock, *power_cap, *policy;
} ft__operating_options;
extern const ft__option ft__operating_table[];
typedef struct ft__setting_options {
    double clock_hz; /* NaN: as it comes */
    double memory_hz, power_w;
    const char *policy; /* NULL: not said */
    char setting[96];   /* "clock=1200MHz power=250W"; "" when nothing is said */
} ft__setting_options;
/* Complains itself. */
int ft__operating_parse(ft__cli *c, ft__setting_options *out,
                        const ft__operating_options *o);
void ft__operating_set_clock(ft__setting_options *u, double clock_hz);
void ft__operating_set_cap(ft__setting_options *u, double power_w);

/* "clock=1200MHz cache=written": the operating point, and what datasets name beside it;
 * NULL: nothing. Complains itself. */
enum { FT__SETTING_MAX = 1024 };
int ft__operating_setting(ft__cli *c, char out[FT__SETTING_MAX],
                          const ft__setting_options *u, const char *more);

/* How a network is asked about, in the words of datasets. */
typedef struct ft__query_options {
    const char *setting, *engine_version, *run_mode, *host, *launch_time;
} ft__query_options;
extern const ft__option ft__query_table[];
/* --launch-time into q->launch_s; text NULL: nothing. A table is of q->device; d NULL:
 * it may be none. Complains itself. */
int ft__launch_time_read(ft__cli *c, ft_query *q, ft_data *d, const char *text);

/* Options of predict and rank: how images lie, ... */
#define FT__CHANNELS_LAST_OPTION(type)                                                 \
    FT__FLAG(type, channels_last, "channels-last",                                     \
             "images lie channels-last, as torch.channels_last")
/* ... and measurements that correct what a family says. */
#define FT__CORRECT_HELP                                                               \
    "few-shot correction of a predictor for a family by measurements of the device"
/* The complaint that nothing was corrected. */
int ft__nothing_corrected(ft__cli *c, const char *path);

#endif
