#ifndef CLI_EXPLORE_EXPLORE_H
#define CLI_EXPLORE_EXPLORE_H

#include <math.h>
#include <string.h>

#include "cli/predict.h"
#include "foretell/exploration.h"
#include "report/units.h"

/* Correlation of a parameter with an objective, or of two objectives: their names. */
typedef struct ft__relation {
    const char *a, *b;
    ft_correlation r[FT_CORRELATION_COUNT];
} ft__relation;

/* Share of a variance that is due to a parameter alone (a == b), or to a pair of
 * them. */
typedef struct ft__effect {
    size_t a, b;
    double share;
} ft__effect;

/* One workload with one objective. */
typedef struct ft__aspect {
    uint32_t workload;
    size_t objective;
    size_t n;           /* trials that have it */
    size_t best, worst; /* trials; t.n: none */
    double median;
    bool has_influence; /* else too few trials, or all alike */
    ft_influence influence;
    ft_influence_model model;
    ft__effect *effect; /* of the influence, the largest first */
    size_t n_effects;
} ft__aspect;

/* Points of a workload that did not fail, and their objectives. */
typedef struct ft__rows {
    const double **point, **value;
    size_t n;
} ft__rows;

/* Points whose objective is not known, so that they cannot be on a front. */
typedef struct ft__unknown {
    uint32_t workload;
    size_t objective;
    size_t points; /* that would be compared otherwise */
    size_t known;  /* of how many it is known; 0: the front does without it */
    char *which;   /* "those with device=jetson-tk1", or some of them */
} ft__unknown;

typedef struct ft__explored {
    const ft_exploration *x;
    ft_trials t;
    const ft_parameter *param;
    const ft_objective *objective;
    const char *const *workload;
    size_t n_params, n_objectives, n_workloads;
    unsigned char *front; /* of each trial */
    double *hypervolume;  /* of each workload, share of the box that the worst of every
                             objective spans with the best; NaN: under two objectives */
    ft__aspect *aspect;   /* workload * n_objectives + objective */
    ft__relation *relation; /* n_relations of each workload */
    size_t n_relations;
    ft_transfer *transfer; /* n_transfers of each objective */
    size_t n_transfers;
    ft__unknown *unknown; /* of all points, also of those that are not among trials */
    size_t n_unknown;
    char **warning;
    size_t n_warnings;
    size_t runs, failed;
    /* 0 where points are run: how many were predicted, and how long that took. */
    size_t predicted;
    double seconds;
    unsigned char *drawn; /* those that stand for all of them; NULL: all do */
} ft__explored;

/* What came of trials, which it takes; x is borrowed, drawn_take may be NULL. Complains
 * itself. */
int ft__explored_take(ft__cli *c, ft__explored *e, const ft_exploration *x,
                      ft_trials *trials_take, unsigned char *drawn_take, uint64_t seed);
void ft__explored_free(ft__explored *e);

/* At most so many of the trials with may[i], spread over what they reach in all
 * objectives, sorted by the first; out has room for them. */
size_t ft__explored_spread(size_t *out, const ft__explored *e, const unsigned char *may,
                           size_t most);

/* Adds what is not known of a workload's points; false: out of memory. */
bool ft__explored_find_unknown(ft__explored *e, uint32_t w, const ft__rows *r);
/* Those with in[i], by the values that they alone have, or some of them; NULL: out of
 * memory. The caller frees it. */
char *ft__points_describe(const ft_exploration *x, const ft__rows *r,
                          const unsigned char *in);

/* "threads", "threads with wait" */
static inline void ft__effect_print(char *buf, size_t size, const ft__explored *e,
                                    const ft__effect *v)
{
    snprintf(buf, size, "%s%s%s", e->param[v->a].name, v->a == v->b ? "" : " with ",
             v->a == v->b ? "" : e->param[v->b].name);
}

/* A value of an objective with its unit. */
static inline ft__formatted ft__objective_text(const ft_objective *o, double v)
{
    ft__formatted t = ft__text_plain(v);

    if (*o->unit && !o->unit[1] && strchr("sJWB", *o->unit))
        return ft__text_in(o->unit, v);
    if (*o->unit && !isnan(v))
        snprintf(t.s + strlen(t.s), sizeof(t.s) - strlen(t.s), " %.16s", o->unit);
    return t;
}

/* What a report says in short: texts; NULL: out of memory. */
json_t *ft__explored_sentences(const ft__explored *e);

/* A Jupyter notebook of a report's JSON; NULL: out of memory. */
json_t *ft__notebook(json_t *doc);

/* As text, at most `top` points of a front, as JSON or CSV, as the command line wants;
 * besides, unless they are NULL, as a page with charts in the file html and as a
 * Jupyter notebook. Complains itself.
 */
int ft__explored_show(ft__cli *c, const ft__explored *e, uint64_t top, const char *html,
                      const char *notebook);

/* As CSV a number, nothing for NaN; the values of a point, each with ',' behind it. */
static inline void ft__number_csv(double v, char end)
{
    if (!isnan(v))
        printf("%.17g", v);
    putchar(end);
}

static inline void ft__point_csv(const ft_exploration_facts *f, const double *point)
{
    for (size_t k = 0; k < f->n_params; k++)
        if (f->param[k].value && !isnan(point[k]))
            ft__record_csv_text(stdout, f->param[k].value[(size_t)point[k]], ',');
        else
            ft__number_csv(point[k], ',');
}

/* A space whose objectives are predicted: no point is run. */

/* What is answered of one point. */
typedef struct ft__point_prediction {
    ft_brief brief;
    double items;       /* in a pass */
    double price_per_s; /* NaN: not known */
    double limit_bytes; /* of the device; NaN: not known */
    char method[64]; /* "learned (nvidia-fp32.ftp)", "physics": from the data sheet */
    bool learned;
} ft__point_prediction;

typedef struct ft__point_queries ft__point_queries;
/* NULL: out of memory. */
ft__point_queries *ft__point_queries_new(ft__cli *c, const ft_exploration *x);
void ft__point_queries_free(ft__point_queries *a);
/* The setting that a point's words ask for; texts live as long as the asker. Complains
 * itself. */
int ft__point_queries_setting(ft__point_queries *a, const char **out, uint32_t workload,
                              const double *point);
/* out[n] for a point of a workload under each of n settings, everything else alike.
 * What cannot be predicted, as a clock above the highest, has NaN for its time; where
 * nothing can, *why says why (in a buffer of `size`), otherwise it is "". Complains
 * itself of what is wrong with the question. */
int ft__point_queries_ask(ft__point_queries *a, ft__point_prediction *out, char *why,
                          size_t size, uint32_t workload, const double *point,
                          const char *const *setting, size_t n);
/* The command for the shell that measures a point here, as JSON; false: it is of
 * another device, at another operating point than this machine was measured, or nothing
 * that runs. */
bool ft__point_queries_measure(ft__point_queries *a, char *command, size_t size,
                               uint32_t workload, const double *point);

/* Every point predicted, a line a point and workload. Complains itself. */
int ft__predict_csv(ft__cli *c, const ft_exploration *x,
                    const ft_design_options *design);
/* The same of those on the front, of all points or of a shard of them, each with its
 * number in the design. Complains itself. */
typedef struct ft__shard {
    size_t i, n; /* the first is 1 */
} ft__shard;
int ft__predict_front(ft__cli *c, const ft_exploration *x,
                      const ft_design_options *design, const ft__shard *shard);
/* The line above such points, without "point,". */
void ft__predicted_header(FILE *fp, const ft_exploration *x);
/* Fronts of shards, which ft__predict_front() printed into these files,
 * as one. Complains itself. */
int ft__fronts_merge(ft__cli *c, const ft_exploration *x, const char *const *file,
                     size_t n);
/* What came of every point predicted. Complains itself. */
int ft__explored_predict(ft__cli *c, ft__explored *e, const ft_exploration *x,
                         const ft_design_options *design);

enum { FT__REASON_SIZE = 256 };

/* All points of a design, or of a shard of it. */
typedef struct ft__predicted_design {
    const ft_exploration *x;
    size_t first;  /* point of the design */
    double *point; /* n rows */
    size_t n, n_params, n_objectives, n_workloads;
    double *value;       /* [(workload * n + point) * n_objectives + objective] */
    unsigned char *fits; /* of workload * n + point: the device's memory is enough */
    uint16_t *why;       /* likewise: 0, or behind which reason it has no time */
    char (*reason)[FT__REASON_SIZE];
    size_t n_reasons;
    uint16_t *method; /* likewise: behind which reason stands what answered */
    unsigned char *learned;
    double seconds;
} ft__predicted_design;

/* shard NULL: all of it. Complains itself; to be freed where it is good. */
int ft__design_predict(ft__cli *c, ft__predicted_design *out, const ft_exploration *x,
                       const ft_design_options *design, const ft__shard *shard);
void ft__predicted_design_free(ft__predicted_design *s);

#endif
