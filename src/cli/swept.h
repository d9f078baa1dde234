#ifndef CLI_SWEPT_H
#define CLI_SWEPT_H

#include "cli/predict/predict.h"
#include "foretell/exploration.h"

/* A space whose objectives are predicted: every point asked about, without a run. */

/* What is answered of one point. */
typedef struct ft__forecast {
    ft_brief brief;
    double items;       /* in a pass */
    double price_per_s; /* NaN: not known */
    double limit_bytes; /* of the device; NaN: not known */
} ft__forecast;

/* ---- sweep_ask.c: questions, and what many of them share ---- */

typedef struct ft__asker ft__asker;
/* NULL: out of memory. */
ft__asker *ft__asker_new(ft__cli *c, const ft_exploration *x);
void ft__asker_free(ft__asker *a);
/* Is parameter k in the clock, the memory clock or the power cap? */
bool ft__asker_drives(const ft_exploration *x, size_t k);
/* Is parameter k only ever the clock, the memory clock or the power cap? */
bool ft__asker_is_drive(const ft_exploration *x, size_t k);
/* The setting that a point's words ask for; texts live as long as the asker. Complains
 * itself. */
int ft__asker_setting(ft__asker *a, const char **out, uint32_t workload,
                      const double *point);
/* out[n] for a point of a workload under each of n settings, everything else alike.
 * What cannot be foretold, as a clock above the highest, has NaN for its time; where
 * nothing can, *why says why (in a buffer of `size`), otherwise it is "". Complains
 * itself of what is wrong with the question. */
int ft__asker_ask(ft__asker *a, ft__forecast *out, char *why, size_t size,
                  uint32_t workload, const double *point, const char *const *setting,
                  size_t n);
/* The command for the shell that measures a point here, as JSON; false: it is of
 * another device, is driven otherwise than this machine was measured, or nothing that
 * runs. */
bool ft__asker_measure(ft__asker *a, char *command, size_t size, uint32_t workload,
                       const double *point);
/* The value of an objective; NaN: not known. */
double ft__forecast_value(const ft__forecast *f, const ft_objective *o);

/* ---- sweep.c: all points of a design ---- */

typedef struct ft__swept {
    const ft_exploration *x;
    double *point; /* n rows */
    size_t n, n_params, n_objectives, n_workloads;
    double *value;       /* [(workload * n + point) * n_objectives + objective] */
    unsigned char *fits; /* of workload * n + point: the device's memory is enough */
    uint16_t *why;       /* likewise: 0, or behind which reason it has no time */
    char (*reason)[256];
    size_t n_reasons;
    double seconds;
} ft__swept;

/* Complains itself. */
int ft__sweep_run(ft__cli *c, ft__swept *out, const ft_exploration *x,
                  const ft_design_options *design);
void ft__swept_free(ft__swept *s);
/* Every point on the front of its workload, the best and the worst of every objective,
 * and `most` of each workload drawn by lot, of which (*drawn)[i] says whether trial i
 * is one; the caller frees it. FT_ENOMEM. */
ft_status ft__swept_trials(ft_trials *out, unsigned char **drawn, const ft__swept *s,
                           size_t most, uint64_t seed, ft_error *err);
struct ft__explored;
/* ---- sweep_verify.c: measures `most` points of the front at most ---- */
int ft__sweep_verify(ft__cli *c, const struct ft__explored *e, uint64_t most);

/* ---- swept.c ---- */
/* A line a point and workload. */
void ft__swept_csv(const ft__swept *s);

#endif
