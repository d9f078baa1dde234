#ifndef CLI_EXPLORE_EXPLORE_H
#define CLI_EXPLORE_EXPLORE_H

#include "cli/predict.h"
#include "foretell/exploration.h"
#include "report/units.h"

/* ---- analysis.c: what came of an exploration ---- */

/* Correlation of a parameter with an objective, or of two objectives: their names. */
typedef struct ft__relation {
    const char *a, *b;
    ft_correlation r[FT_CORRELATION_COUNT];
} ft__relation;

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
} ft__aspect;

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
    size_t runs, failed;
    /* 0 where points are run: how many were predicted, and how long that took. */
    size_t predicted;
    double seconds;
    unsigned char *drawn; /* those that stand for all of them; NULL: all do */
} ft__explored;

/* x is borrowed. Complains itself. */
int ft__explored_make(ft__cli *c, ft__explored *e, const ft_exploration *x,
                      ft_store *store, uint64_t seed);
/* The same of trials that are there already, which it takes; drawn_take may be NULL. */
int ft__explored_take(ft__cli *c, ft__explored *e, const ft_exploration *x,
                      ft_trials *trials_take, unsigned char *drawn_take, uint64_t seed);
void ft__explored_free(ft__explored *e);

/* A value of objective k with its unit. */
ft__formatted ft__objective_text(const ft_objective *o, double v);
/* The point of a trial as text; in a buffer of the caller. */
void ft__trial_text(const ft__explored *e, const ft_trial *t, char *buf, size_t size);

/* ---- front.c ---- */
/* At most so many of the trials with may[i], spread over what they reach in all
 * objectives, sorted by the first; out has room for them. */
size_t ft__explored_spread(size_t *out, const ft__explored *e, const unsigned char *may,
                           size_t most);

/* ---- print.c, json.c ---- */
bool ft__explored_print(const ft__explored *e, uint64_t top);
bool ft__explored_json(const ft__explored *e);
/* One HTML page with the same data and charts to play with; nothing is fetched. */
bool ft__explored_page(const ft__explored *e, FILE *fp);
void ft__explored_csv(const ft__explored *e);
/* The values of a point, each with ',' behind it. */
void ft__point_csv(const ft_exploration_facts *f, const double *point);
void ft__number_csv(double v, char end);

/* ==== a space whose objectives are predicted: no point is run ==== */

/* What is answered of one point. */
typedef struct ft__point_prediction {
    ft_brief brief;
    double items;       /* in a pass */
    double price_per_s; /* NaN: not known */
    double limit_bytes; /* of the device; NaN: not known */
} ft__point_prediction;

/* ---- ask.c: questions, and what many of them share ---- */

typedef struct ft__point_queries ft__point_queries;
/* NULL: out of memory. */
ft__point_queries *ft__point_queries_new(ft__cli *c, const ft_exploration *x);
void ft__point_queries_free(ft__point_queries *a);
/* Is parameter k in the clock, the memory clock or the power cap? */
bool ft__sets_operating_point(const ft_exploration *x, size_t k);
/* Is parameter k only ever the clock, the memory clock or the power cap? */
bool ft__sets_only_operating_point(const ft_exploration *x, size_t k);
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
/* The value of an objective; NaN: not known. */
double ft__point_prediction_value(const ft__point_prediction *f, const ft_objective *o);

/* ---- predicted.c: all points of a design ---- */

typedef struct ft__predicted_design {
    const ft_exploration *x;
    double *point; /* n rows */
    size_t n, n_params, n_objectives, n_workloads;
    double *value;       /* [(workload * n + point) * n_objectives + objective] */
    unsigned char *fits; /* of workload * n + point: the device's memory is enough */
    uint16_t *why;       /* likewise: 0, or behind which reason it has no time */
    char (*reason)[256];
    size_t n_reasons;
    double seconds;
} ft__predicted_design;

/* Complains itself. */
int ft__design_predict(ft__cli *c, ft__predicted_design *out, const ft_exploration *x,
                       const ft_design_options *design);
void ft__predicted_design_free(ft__predicted_design *s);
/* Every point on the front of its workload, the best and the worst of every objective,
 * and `most` of each workload drawn at random, of which (*drawn)[i] says whether trial
 * i is one; the caller frees it. FT_ENOMEM. */
ft_status ft__predicted_design_trials(ft_trials *out, unsigned char **drawn,
                                      const ft__predicted_design *s, size_t most,
                                      uint64_t seed, ft_error *err);
/* ---- verify.c: measures `most` points of the front at most ---- */
int ft__design_verify(ft__cli *c, const ft__explored *e, uint64_t most);

/* A line a point and workload. */
void ft__predicted_design_csv(const ft__predicted_design *s);

#endif
