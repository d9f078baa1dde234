#ifndef EXPLORE_SEARCH_SEARCH_H
#define EXPLORE_SEARCH_SEARCH_H

#include "explore/analysis/front.h"
#include "explore/space/space.h"

/* Ask for points, tell their results. */
typedef struct ft__search ft__search;
typedef struct ft__search_options {
    ft_searcher searcher;
    uint32_t objectives;
    const double *limit; /* of each objective, INFINITY: none; NULL: none at all */
    uint32_t first;      /* points of a Latin hypercube before the model; 0: chosen */
    uint64_t seed;
} ft__search_options;

typedef struct ft__searcher_ops ft__searcher_ops;

struct ft__search {
    const ft_space *s;
    const ft__searcher_ops *ops;
    void *state; /* of ops */
    uint32_t m;
    double limit[FT__MAX_OBJECTIVES];
    ft__points seen; /* proposed, or observed without that */
    uint64_t seed;
    ft__prng rng;  /* of this proposal by the model, of all by evolution */
    double *point; /* observed: n rows of parameters, and of objectives */
    double *y;
    size_t n, cap;
    double *first; /* points of the hypercube that are still to be asked for */
    size_t n_first;
    /* Of the model's process: what was found on the first so many points. */
    size_t tuned_on;
    double rate[FT__MAX_PARAMS], noise;
};

/* How points are chosen once those of the hypercube are known. ask() proposes into
 * `point` and notes it in `seen`; FT_ENOTFOUND: it has no idea. tell() learns of the
 * last row observed; NULL: looks at all of them when it is asked. */
struct ft__searcher_ops {
    ft_status (*open)(ft__search *s, ft_error *err);
    ft_status (*ask)(ft__search *s, double *point, double *gain, ft_error *err);
    ft_status (*tell)(ft__search *s, ft_error *err);
    void (*close)(ft__search *s);
};

/* The space is borrowed. */
ft_status ft__search_new(ft__search **out, const ft_space *s,
                         const ft__search_options *opt, ft_error *err);
/* The next point, none that was observed or proposed before; *gain: what the model
 * expects of it, as a share of the hypervolume so far (NaN: not known). FT_ENOTFOUND:
 * there are no others. */
ft_status ft__search_ask(ft__search *s, double *point, double *gain, ft_error *err);
/* y: the objectives; NaN in all of them: it failed. */
ft_status ft__search_tell(ft__search *s, const double *point, const double *y,
                          ft_error *err);
void ft__search_free(ft__search *s);

extern const ft__searcher_ops ft__search_model;
extern const ft__searcher_ops ft__search_nsga2;

/* How far the objectives are beyond their limits, 0: within; INFINITY: failed. */
double ft__search_excess(const ft__search *s, const double *y);
/* What the next point is drawn with: known from how many there are, so that a search
 * that was cut off goes on as it would have. */
static inline ft__prng ft__search_draws(const ft__search *s)
{
    return ft__prng_stream(s->seed, 2 + s->seen.n);
}

/* Another value for parameter k of a point in unit coordinates: near by, or any other
 * of a category. */
void ft__search_step(const ft__search *s, double *unit, size_t k, ft__prng *rng);

#endif
