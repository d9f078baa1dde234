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
#define FT__USE_OPTIONS(type, member)                                                  \
    {"clock",      0,                                                                  \
     FT__OPT_TEXT, offsetof(type, member.clock),                                       \
     "CLOCK",      "at this core clock, such as 1200 (MHz) or 1.2GHz"},                \
        {"memory-clock", 0,                                                            \
         FT__OPT_TEXT,   offsetof(type, member.memory_clock),                          \
         "CLOCK",        "at this memory clock"},                                      \
        {"power-cap",  0,                                                              \
         FT__OPT_TEXT, offsetof(type, member.power_cap),                               \
         "WATTS",      "under this power cap"},                                        \
    {                                                                                  \
        "policy", 0, FT__OPT_TEXT, offsetof(type, member.policy), "P",                 \
            "TF32 on devices that have it: default (in convolutions), tf32 (in all "   \
            "products), ieee (nowhere)"                                                \
    }
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
#define FT__ASKED_OPTIONS(type, member)                                                \
    {"setting",                                                                        \
     0,                                                                                \
     FT__OPT_TEXT,                                                                     \
     offsetof(type, member.setting),                                                   \
     "NAME=VALUE ...",                                                                 \
     "as datasets name it, beside clocks and caps: \"cache=written "                   \
     "optimizer=Adam\""},                                                              \
        {"engine-version",                                                             \
         0,                                                                            \
         FT__OPT_TEXT,                                                                 \
         offsetof(type, member.engine_version),                                        \
         "V",                                                                          \
         "of --engine; the one whose measurements are likest"},                        \
        {"run-mode",                                                                   \
         0,                                                                            \
         FT__OPT_TEXT,                                                                 \
         offsetof(type, member.run_mode),                                              \
         "MODE",                                                                       \
         "eager (the host issues each operation) or graph (replayed as "               \
         "a CUDA graph); as the device was measured, otherwise eager"},                \
    {                                                                                  \
        "host", 0, FT__OPT_TEXT, offsetof(type, member.host), "NAME",                  \
            "the processor that issues launches, as datasets name it"                  \
    }

/* From any name of a device to that of its file, in place; complains itself. */
int ft__device_resolve(ft__cli *c, char *name, size_t size);
/* Is there a file of this name? Then *memory_bytes (or NULL) is what it says of it. */
bool ft__device_is_there(ft__cli *c, const char *name, double *memory_bytes);

/* The option of predict and rank: measurements that correct what a family says. */
#define FT__CORRECT_OPTION(type)                                                       \
    {                                                                                  \
        "correct", 0, FT__OPT_TEXT, offsetof(type, correct), "STORE|CSV",              \
            "a few measurements of a device correct what a predictor for a family "    \
            "says of it"                                                               \
    }
/* The complaint that nothing was corrected. */
int ft__known_none(ft__cli *c, const char *path);

#endif
