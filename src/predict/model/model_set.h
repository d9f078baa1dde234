#ifndef PREDICT_MODEL_MODEL_SET_H
#define PREDICT_MODEL_MODEL_SET_H

#include <stdatomic.h>

#include "predict/data/columns.h"
#include "predict/model/fit.h"
#include "predict/model/importance.h"
#include "predict/model/neighbours.h"
#include "predict/model/others.h"

/* All regressors of one metric, from samples of any number of datasets: one for each
 * kind and phase that has rows enough, one for a class where a kind has not, and one
 * for everything. */

/* For devices that are not among the rows, methods are chosen and intervals calibrated
 * by leaving each known chip out; one alone says nothing of others: */
/* Then an interval reaches at least this factor either way. Chosen, not measured. */
#define FT__LEAST_REACH 1.65
/* What kinds differ by beside one host whose launches are timed, 90 % of the logarithm
 * either way: ten rows of NeuSight's leave 0.5 beside a P100, 0.2 beside a T4, an A100
 * and an MI100. */
#define FT__TIMED_HOST 0.5

/* The most rows of a regressor for a class or for all kinds. */
static inline size_t ft__class_rows(size_t part_rows)
{
    return part_rows < 2400 ? part_rows / 4 : 600;
}

/* A kind with few rows is predicted in part by the regressor of all kinds: what a
 * device does with small operations or at its power cap, it does with every kind. */
enum { FT__POOLED_SHARES = 10 };

typedef struct ft__model_set_options {
    ft__metric metric;
    ft__fit_options fit;
    bool single; /* one regressor for all kinds, which is a column (the thesis's way) */
    bool plain;  /* nothing of neighbours (neighbours.h) is looked at */
    bool unseen; /* devices that are not among the rows will be asked for: each chip is
                    left out in turn to choose by */
    const ft__importance_to
        *importance;  /* NULL, or who receives what columns are worth */
    double *held;     /* NULL, or for every sample: takes what was predicted of those
                         learned from by regressors that had not seen them */
    double row_bytes; /* most that regressors may take in a file, for each of their
                         rows; 0: as much as they want */
    size_t part_rows; /* most that one regressor is made of, one for a class or for all
                         of ft__class_rows(); 0: all there are */
    const ft__base *base; /* fitted to the same rows already; NULL: it is fitted */
    const struct ft__model_set
        *before; /* of a file: its constants and columns are
                  kept, and what it learned of rows that are as
                  they were; or NULL. It outlives the model set */
} ft__model_set_options;

/* Scopes of regressors, the most specific first. */
typedef enum ft__scope {
    FT__SCOPE_NEIGHBOURS, /* rows of a kind that have neighbours (neighbours.h) */
    FT__SCOPE_KIND,
    FT__SCOPE_CLASS,
    FT__SCOPE_ALL,
    FT__N_SCOPES
} ft__scope;

/* Where a regressor lies in a file; its models are opened at first use. */
typedef struct ft__stored {
    const unsigned char *section; /* NULL: it does not */
    size_t bytes;
    uint64_t checksum;
    uint64_t pos; /* of the section in the file */
    const struct ft__mixture_image *mixture;
    const unsigned char *models;
} ft__stored;

/* A group of rows that one regressor is for. */
typedef struct ft__regressor {
    ft__scope scope;
    uint32_t which; /* ft__kind_number() or class; 0 of all */
    ft_phase phase;
    bool by_kind;    /* its interval is what kinds differ by; of a new one */
    uint32_t pooled; /* tenths of the prediction that the regressor of all kinds says */
    ft__fit fit;     /* of a stored one without its models */
    ft__others others; /* of devices that are not among the rows */
    float *least;      /* range of its rows, by column */
    float *most;
    ft_errors learned;         /* out of fold */
    ft_errors constant;        /* of always the same ratio to the base */
    ft_errors physics;         /* of the base itself */
    uint64_t rows;             /* which rows, as a sum of them */
    ft__neighbours neighbours; /* FT__SCOPE_NEIGHBOURS: what they are looked up in */
    ft__stored stored;
    _Atomic(ft__fit *) opened; /* a stored one's, with its models */
} ft__regressor;

typedef struct ft__model_set {
    ft__model_set_options opt;
    ft__base base;
    ft__columns columns;
    ft__regressor *part;
    uint32_t n_regressors;
    size_t *rows_of; /* of each dataset; base.n_datasets of them */
    double centre;   /* median target of all rows */
    double low;      /* residuals in residual scales, of all parts */
    double high;
} ft__model_set;

/* Is the dataset informative for devices outside it? Not power read in short loops,
 * which depends on the sensor. */
bool ft__tells_of_others(const ft__dataset *d, ft__metric metric);
/* row[n]: what to learn from; ask[n_ask]: what will be asked for, so that no other
 * regressor is made (n_ask 0: all are). Rows without a value of the metric count for
 * nothing. FT_ENOTFOUND: no row is left. */
ft_status ft__model_set_fit(ft__model_set *out, const ft__samples *s,
                            const uint32_t *row, size_t n, const uint32_t *ask,
                            size_t n_ask, const ft__model_set_options *opt,
                            ft_error *err);
void ft__model_set_free(ft__model_set *l);

/* The tenths of `general` in the mixture with `own` that is nearest to y, all of them
 * out of fold; own[n] becomes that mixture. 0: none is worth it. */
uint32_t ft__pooled_share(double *own, const double *pooled, const double *y, size_t n);
/* Recalibrates the interval of a fit to the residuals of `predicted` in place of its
 * own. */
ft_status ft__pooled_recalibrate(ft__fit *f, uint32_t share, const double *predicted,
                                 const double *y, const double *residual_scale,
                                 size_t n, ft_error *err);

/* The prediction for one sample. */
typedef struct ft__op_answer {
    double value;
    double low; /* 90 % */
    double high;
    double constant; /* had it always the same ratio to the base */
    double base;     /* the physical estimate itself */
    uint32_t part;   /* which regressor; l->n_regressors: none */
    bool far;        /* outside of what it was trained on, or of another kind */
    bool unlike;     /* of an unknown device, by a kernel that no row of it has */
    bool measured;   /* it was measured itself (families alone know) */
    ft_basis basis;  /* evaluation: as users are answered */
} ft__op_answer;

/* Products of less than 16 bits have other kernels, and those with scales for blocks of
 * weights others again: their kinds have numbers of their own, behind those of all
 * kinds. */
enum { FT__N_KIND_NUMBERS = 3 * FT_KIND_COUNT };
uint32_t ft__kind_number(const ft_op *op);
/* The name of the kind ("linear", "linear.narrow", "linear.blocks") or class, or "all".
 */
const char *ft__regressor_name(const ft__regressor *p);
/* Does an operation belong to it, leaving aside more particular ones and whether it has
 * neighbours? */
bool ft__regressor_has(const ft__regressor *p, const ft_op *op);
void ft__regressor_free(ft__regressor *p);
ft_status ft__model_set_predict(const ft__model_set *l, ft__op_answer *out,
                                const ft__samples *s, const uint32_t *row, size_t n,
                                ft_error *err);
/* The answer for an operation that was measured to take `value`, with this error of its
 * logarithm (one sigma; 0: not known). */
void ft__answer_as_measured(ft__op_answer *a, double value, double error);

#endif
