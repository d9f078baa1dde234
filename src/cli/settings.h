#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/cli.h"
#include "foretell/settings.h"

/* What the options of settings say, as it stands; NULL: not given. */
typedef struct ft__settings_texts {
    const char *device;
    const char *core;
    const char *memory;
    const char *power_cap;
    const char *cpus;
    const char *governor;
    const char *turbo;
    const char *affinity;
} ft__settings_texts;

enum { FT__MAX_CLOCKS = 64 };

/* All complain themselves. text NULL: *hz stays. */
int ft__hertz_parse(ft__cli *c, double *hz, const char *option, const char *text);
int ft__watts_parse(ft__cli *c, double *w, const char *option, const char *text);
/* hz: FT__MAX_CLOCKS. */
int ft__settings_parse(ft__cli *c, ft_settings *out, const ft__settings_texts *t);
int ft__clock_list_parse(ft__cli *c, double *hz, size_t *n, const char *list);

/* Where settings are held, recorded and guarded; `how` points into it. */
typedef struct ft__this_machine {
    char state_dir[FT__PATH_MAX];
    char self[FT__PATH_MAX];
    const char *guard[4];
    ft_settings_options how;
} ft__this_machine;
/* root: a recorded machine; NULL for this one. */
void ft__machine_open(ft__this_machine *m, const ft__cli *c, const char *root);

/* ---- measuring at one clock after the other ---- */
typedef struct ft__clock_steps_options {
    const char *clocks;
    const char *memory_clock;
    const char *power_cap;
    const char *device;
} ft__clock_steps_options;
extern const ft__option ft__clock_steps_table[];
/* The settings to measure at; one, without anything to set, when nothing was asked. */
typedef struct ft__clock_steps {
    ft__this_machine machine;
    ft_settings settings;
    char device[32];
    double clock_hz[FT__MAX_CLOCKS];
    size_t n;
    bool any;
} ft__clock_steps;
/* Complains itself. */
int ft__clock_steps_parse(ft__cli *c, ft__clock_steps *w,
                          const ft__clock_steps_options *o, const char *engine);
/* ft__session_open() at setting i of the sweep. */
int ft__clock_steps_open(ft__cli *c, ft_session **out, const char *engine,
                         uint64_t threads, ft__clock_steps *w, size_t i);
/* What watches the device meanwhile; NULL when memory is short. */
ft_monitor *ft__clock_steps_monitor(const ft__clock_steps *w);
/* Between the results of settings, so that --json is one document. */
void ft__clock_steps_begin(const ft__cli *c, const ft__clock_steps *w, size_t i);
void ft__clock_steps_end(const ft__cli *c, const ft__clock_steps *w);

json_t *ft__settings_json(const ft_settings *s);
json_t *ft__conditions_json(const ft_conditions *x);

#endif
