#ifndef FT_EXPLORE_H
#define FT_EXPLORE_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Design-space exploration of settings of hardware, runtime and compiler: spaces, designs,
 * Pareto fronts, search, sensitivity, correlation (docs/exploration-methods.md). */

typedef enum ft_param_type {
    FT_PARAM_CATEGORICAL, /* one of n unordered values */
    FT_PARAM_ORDINAL,     /* one of n ordered values */
    FT_PARAM_INTEGER,     /* low .. high */
    FT_PARAM_REAL,        /* low .. high */
    FT_PARAM_TYPE_COUNT
} ft_param_type;

typedef enum ft_param_where {
    FT_ACTS_ARGUMENT,    /* {name} in the command */
    FT_ACTS_ENVIRONMENT, /* the variable `target` */
    FT_ACTS_BUILD,       /* {name} in the build step */
    FT_ACTS_SETTING,     /* clocks, cores, governor, power cap: settings.h */
} ft_param_where;

typedef struct ft_parameter {
    const char *name;
    ft_param_type type;
    ft_param_where where;
    const char *target;       /* the variable or setting; NULL with the others */
    const char *const *value; /* CATEGORICAL, ORDINAL: texts; else NULL */
    uint32_t n_values;        /* of these; INTEGER: high - low + 1; REAL: 0 */
    double low, high;         /* INTEGER, REAL */
    int log;                  /* 1: logarithmic scale */
} ft_parameter;

/* A point is a row of as many numbers as there are parameters: the index of the value
 * (CATEGORICAL, ORDINAL) or the value itself; NaN where the parameter is inactive,
 * because the condition it depends on does not hold. */

typedef struct ft_space ft_space;
/* A space of n parameters, 1 to 256, without conditions; those of a file are in
 * ft_exploration_get(). The parameters are copied, their texts and lists of values
 * borrowed. Freed with free(). FT_EINVAL names what is no range or has no values. */
FT_API ft_status ft_space_new(ft_space **out, const ft_parameter *param, size_t n,
                              ft_error *err);

typedef enum ft_design {
    FT_DESIGN_FULL,       /* every combination; a REAL at `levels` values */
    FT_DESIGN_FRACTIONAL, /* two levels, the first and the last, resolution III to V */
    FT_DESIGN_RANDOM,
    FT_DESIGN_LATIN, /* Latin hypercube, maximin among many (Morris, Mitchell 1995) */
    FT_DESIGN_SOBOL, /* Sobol 1967, directions of Joe and Kuo 2008, digitally shifted */
    FT_DESIGN_COUNT
} ft_design;

typedef struct ft_design_options {
    ft_design design;
    size_t n;            /* points; FULL, FRACTIONAL: 0, all of them; at most so many */
    uint32_t resolution; /* FRACTIONAL: 3, 4 or 5; 0: 4 */
    uint32_t levels;     /* FULL: of a REAL; 0: 5 */
    uint64_t seed;
} ft_design_options;

/* Points of the space, none twice, none forbidden: *out of *n rows, freed with free().
 * May be fewer than asked for where the space has no more. FT_EINVAL: a design of more
 * than 2^24 points, or none is allowed. */
FT_API ft_status ft_design_make(double **out, size_t *n, const ft_space *s,
                                const ft_design_options *opt, ft_error *err);

/* Fronts: all objectives are minimised. */

/* on[i] = 1: no other of the n rows of m objectives is at least as good in all and
 * better in one. Rows with NaN are never on it. FT_ENOMEM. */
FT_API ft_status ft_pareto(unsigned char *on, const double *y, size_t n, size_t m,
                           ft_error *err);
/* Volume between the front and a reference point that all of it should dominate (Zitzler,
 * Thiele 1998; computed by slices: Fonseca, Paquete, Lopez-Ibanez 2006, While et al.
 * 2012). Rows beyond the reference add nothing. */
FT_API ft_status ft_hypervolume(double *out, const double *y, size_t n, size_t m,
                                const double *reference, ft_error *err);

typedef enum ft_searcher {
    FT_SEARCH_MODEL, /* Bayesian optimisation: expected hypervolume improvement times
                        the probability of feasibility */
    FT_SEARCH_NSGA2, /* Deb et al. 2002 */
    FT_SEARCH_RANDOM,
    FT_SEARCH_COUNT
} ft_searcher;

/* Share of the variance of y over the space that is due to each parameter alone, main[k],
 * and to each pair beyond, pair[k * k] (symmetric, diagonal 0): functional ANOVA of a
 * forest fitted to the n points (Hutter, Hoos, Leyton-Brown 2014). r2: of the forest,
 * out of fold. */
typedef struct ft_influence {
    double *main;
    double *pair;
    double *main_sigma; /* between trees */
    size_t k;
    double r2;
} ft_influence;
FT_API ft_status ft_influence_compute(ft_influence *out, const ft_space *s,
                                      const double *points, const double *y, size_t n,
                                      uint64_t seed, ft_error *err);
FT_API void ft_influence_free(ft_influence *i);

/* A performance-influence model (Siegmund et al. 2015): y = sum of coefficients times
 * products of at most two parameters (values in [0, 1], categories as 0 or 1), chosen
 * forwards by cross-validated error. */
typedef struct ft_influence_term {
    double coefficient;
    int32_t param[2];    /* -1: none */
    int32_t category[2]; /* index of the value that it stands for; -1: the number */
    int32_t power[2];    /* 1 or 2 */
} ft_influence_term;
typedef struct ft_influence_model {
    ft_influence_term *term; /* the first is the constant */
    size_t n;
    double r2; /* out of fold */
} ft_influence_model;
FT_API ft_status ft_influence_fit(ft_influence_model *out, const ft_space *s,
                                  const double *points, const double *y, size_t n,
                                  uint64_t seed, ft_error *err);
FT_API void ft_influence_model_free(ft_influence_model *m);

typedef enum ft_correlation_kind {
    FT_PEARSON,
    FT_SPEARMAN,
    FT_KENDALL, /* tau-b */
    FT_CORRELATION_COUNT
} ft_correlation_kind;

typedef struct ft_correlation {
    double r;
    double low, high; /* 95 %: Fisher's z; Bonett and Wright 2000 for ranks */
    size_t n;         /* pairs of which neither is NaN */
} ft_correlation;
/* NaN where fewer than four pairs are known or one side does not vary. FT_ENOMEM. */
FT_API ft_status ft_correlate(ft_correlation *out, ft_correlation_kind kind,
                              const double *a, const double *b, size_t n, ft_error *err);

FT_END_DECLS

#endif
