#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/settings.h"

/* "onnxruntime,device=cuda": a plug-in and its options; where the engine stands
 * over a library that may lie in a Python package, "lib=PATH" is added, and where it
 * compiles, "cache=FOLDER". */
typedef struct ft__engine_choice {
    char name[64];
    char options[2 * FT__PATH_MAX + 256];
    bool given; /* the user gave options */
} ft__engine_choice;
bool ft__engine_choose(ft__engine_choice *out, const char *text); /* false: too long */

typedef struct ft__clock_steps_options {
    const char *clocks, *memory_clock, *power_cap, *device;
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
/* Open an engine with its options; engine NULL: the default one, threads 0: 1. Setting
 * i of w (NULL: none) is in force while it is open. Complains itself. */
int ft__session_open(ft__cli *c, ft_session **out, const char *engine, uint64_t threads,
                     ft__clock_steps *w, size_t i);
/* "foretell train ..." of what the session measures; no newline. */
void ft__print_train(const ft__cli *c, const ft_session *s);
/* Is there such an engine, its options left out? Complains itself; NULL: there is. */
int ft__engine_needed(ft__cli *c, const char *engine);
/* Before the result of setting i, and behind the last one (i is w->n), so that --json
 * is one document. */
void ft__clock_steps_part(const ft__cli *c, const ft__clock_steps *w, size_t i);

/* sources NULL or "all": every one that works; then a machine without any is no
 * failure: *out is NULL and *why says why. Complains itself. */
int ft__power_open(ft__cli *c, ft_meter **out, const char *sources, ft_error *why);

#endif
