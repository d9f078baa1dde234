#ifndef PREDICT_LEARNER_H
#define PREDICT_LEARNER_H

#include "predict/columns.h"
#include "predict/fit.h"

/* All regressors of one metric, from samples of any number of datasets: one for each
 * kind and phase that has rows enough, one for a class where a kind has not, and one
 * for everything. */

/* Where devices that are not among the rows will be asked for, what is learned is
 * chosen by leaving known ones out; fewer of them say too little. */
enum { FT__LEAST_DEVICES = 4 };

typedef struct ft__learn_options {
    ft__metric metric;
    ft__fit_options fit;
    bool single; /* one regressor for all kinds, which is a column (the thesis's way) */
    bool unseen; /* devices that are not among the rows will be asked for: of four
                    devices or more each is left out in turn to choose by */
    double *held; /* NULL, or for every sample: takes what was said of those learned
                     from by regressors that had not seen them */
} ft__learn_options;

typedef enum ft__scope {
    FT__SCOPE_KIND,
    FT__SCOPE_CLASS,
    FT__SCOPE_ALL,
    FT__N_SCOPES
} ft__scope;

/* A group of rows that one regressor is for. */
typedef struct ft__part {
    ft__scope scope;
    uint32_t which; /* kind or class; 0 of all */
    ft_phase phase;
    ft__fit fit;
    float *least; /* range of its rows, by column */
    float *most;
} ft__part;

typedef struct ft__learner {
    ft__learn_options opt;
    ft__base base;
    ft__columns columns;
    ft__part *part;
    uint32_t n_parts;
    double centre; /* median target of all rows */
    double low;    /* residuals in spreads, of all parts */
    double high;
} ft__learner;

/* row[n]: what to learn from; ask[n_ask]: what will be asked for, so that no other
 * regressor is made (n_ask 0: all are). Rows without a value of the metric count for
 * nothing. FT_ENOTFOUND: no row is left. */
ft_status ft__learner_fit(ft__learner *out, const ft__samples *s, const uint32_t *row,
                          size_t n, const uint32_t *ask, size_t n_ask,
                          const ft__learn_options *opt, ft_error *err);
void ft__learner_free(ft__learner *l);

/* What is said of one sample. */
typedef struct ft__answer {
    double value;
    double low; /* 90 % */
    double high;
    double constant; /* had it always the same ratio to the base */
    double base;     /* the physical estimate itself */
    uint32_t part;   /* which regressor; l->n_parts: none */
    bool far;        /* outside of what it was trained on, or of another kind */
} ft__answer;

ft_status ft__learner_predict(const ft__learner *l, ft__answer *out,
                              const ft__samples *s, const uint32_t *row, size_t n,
                              ft_error *err);

#endif
