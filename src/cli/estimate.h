#ifndef CLI_ESTIMATE_H
#define CLI_ESTIMATE_H

#include "cli/cli.h"
#include "foretell/predictor.h"

/* What is estimated of one network on one device. */

/* What is made of a device's data sheet. */
typedef enum ft__by {
    FT__BY_PHYSICS,
    FT__BY_ROOFLINE,
    FT__BY_PALEO,
} ft__by;
/* NULL: physics. Complains itself. */
int ft__by_parse(ft__cli *c, ft__by *out, const char *text);

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

/* From what a device is called to the name of its file: an alias, or a product of
 * which there are variants ("h100"), with a note on which was taken. A name that is
 * none of these stays as it is. */
ft_status ft__device_resolve(char *name, size_t size, char *note, size_t note_size,
                             const char *data_dir, ft_error *err);

/* Where estimates come from: what a predictor learned, otherwise the data sheet. */
typedef struct ft__source {
    const ft_predictor *predictor; /* of one device, or of a family; or NULL */
    ft_device_use on; /* of a family, or without a predictor; otherwise NULL */
    ft__by by;
} ft__source;

/* The option of predict and rank: measurements that correct what a family says. */
#define FT__CORRECT_OPTION(type)                                                       \
    {                                                                                  \
        "correct", 0, FT__OPT_TEXT, offsetof(type, correct), "STORE|CSV",              \
            "a few measurements of a device correct what a predictor for a family "    \
            "says of it"                                                               \
    }
/* path NULL: none. Complains itself, also where no operation is in it. */
int ft__known_open(ft__cli *c, ft_known **out, const char *path, const char *data_dir);
/* `known`, or NULL where it holds nothing of the device. */
const ft_known *ft__known_of(const ft_known *known, const char *device);
/* The complaint that nothing was corrected. */
int ft__known_none(ft__cli *c, const char *path);

/* Predictors for families of devices that are found without being named: the user's
 * own, then those of the data folder. */
enum { FT__MAX_FAMILIES = 16 };
typedef struct ft__families {
    ft_predictor *predictor[FT__MAX_FAMILIES];
    char path[FT__MAX_FAMILIES][FT__PATH_MAX];
    size_t n;
    bool opened;
    bool own; /* the first is the user's */
} ft__families;
/* Once; later calls do nothing. */
ft_status ft__families_open(ft__families *f, const char *data_dir, ft_error *err);
void ft__families_close(ft__families *f);
/* The user's own; else the one that learned most of the operations of g, rather one
 * that has the device. NULL: none learned much of them. */
const ft_predictor *ft__families_best(const ft__families *f, const char *device,
                                      const ft_graph *g, const char **path);
/* Was it trained on the device? */
bool ft__family_has(const ft_predictor *p, const char *device);

/* A network as it is run, with its estimate. */
typedef struct ft__estimate {
    ft_graph *made; /* freed with the rest; NULL: the graph is the importer's */
    const ft_graph *graph;
    ft_network_estimate e;
} ft__estimate;
ft_status ft__estimate_make(ft__estimate *out, const ft__source *from,
                            const ft_graph *g, const ft__step *step, ft_error *err);
void ft__estimate_free(ft__estimate *x);
/* How graphs are lowered before it is asked, and asking about such a one. */
uint32_t ft__source_policy(const ft__source *from);
ft_status ft__estimate_lowered(ft_network_estimate *out, const ft__source *from,
                               const ft_graph *g, ft_error *err);
/* The largest batch that needs no more than this; 0: none does. */
ft_status ft__estimate_max_batch(int64_t *batch, const ft__source *from,
                                 const char *model, const ft__model_options *how,
                                 const ft__step *step, double limit_bytes,
                                 ft_error *err);
/* Why there is no energy. This machine's sensors are looked up, not watched, so that
 * it is quick. */
void ft__energy_why(char *why, size_t size, const char *device,
                    const ft_network_estimate *e);

/* Of the first input; 0: there is none. */
int64_t ft__graph_batch(const ft_graph *g);

#endif
