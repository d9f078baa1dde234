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

/* "1200", "1200MHz", "1.2GHz"; "150", "150W". False: it is not that. */
bool ft__hertz_from_text(double *hz, const char *text);
bool ft__watts_from_text(double *w, const char *text);
/* Both complain themselves. hz: FT__MAX_CLOCKS. */
int ft__settings_parse(ft__cli *c, ft_settings *out, const ft__settings_texts *t);
int ft__clock_list_parse(ft__cli *c, double *hz, size_t *n, const char *list);

/* Where settings are held, recorded and guarded; `how` points into it. */
typedef struct ft__this_machine {
    char state_dir[FT__PATH_MAX];
    char self[FT__PATH_MAX];
    const char *guard[4];
    ft_settings_options how;
} ft__this_machine;
/* root, nvml: NULL for this machine and the usual library. */
void ft__machine_open(ft__this_machine *m, const ft__cli *c, const char *root,
                      const char *nvml);

json_t *ft__settings_json(const ft_settings *s);
json_t *ft__conditions_json(const ft_conditions *x);

#endif
