/* Bayesian optimisation (Jones, Schonlau, Welch 1998) by expected gain of hypervolume
 * (gain.h), times the chances that the point works and that limits are kept (Gardner et
 * al. 2014). */
#include <math.h>
#include <string.h>

#include "explore/explore_inside.h"
#include "explore/search/surrogate.h"

enum {
    CANDIDATES = 192,
    NEAR = 128, /* of these next to the front, the others anywhere */
};

static const double LEAST_SIGMA = 1e-3; /* of whether a limit is kept */

/* A point of the front, one or two of its parameters changed. */
static void step_from_front(ft_search *s, const ft__surrogate *o, double *point)
{
    const uint32_t n = (uint32_t)s->s->n;
    const size_t from = o->base[ft__prng_below(&s->rng, (uint32_t)o->n_base)];
    double unit[FT__MAX_PARAMS];

    ft__space_to_unit(s->s, unit, s->point + from * n);
    ft__search_step(s, unit, ft__prng_below(&s->rng, n), &s->rng);
    if (ft__prng_unit(&s->rng) < 0.5)
        ft__search_step(s, unit, ft__prng_below(&s->rng, n), &s->rng);
    ft__space_from_unit(s->s, point, unit);
}

static void draw(ft_search *s, double *point)
{
    double unit[FT__MAX_PARAMS];

    for (size_t k = 0; k < s->s->n; k++)
        unit[k] = ft__prng_unit(&s->rng);
    ft__space_from_unit(s->s, point, unit);
}

/* While nothing is within limits, what counts is how little is expected beyond them. */
static double worth(ft_search *s, ft__surrogate *o, const double *point, double *gain)
{
    double mean[FT__MAX_OBJECTIVES], sigma[FT__MAX_OBJECTIVES], beyond = 0;
    const double works = ft__surrogate_chance(o, s, point);
    double chance = works;

    ft__surrogate_ask(o, s, point, mean, sigma);
    for (uint32_t k = 0; k < s->m; k++) {
        const double limit = o->scale[k].limit;

        if (isinf(s->limit[k]))
            continue;
        chance *= ft__chance_below(limit, mean[k], sigma[k] + LEAST_SIGMA);
        beyond += ft__mean_below(mean[k], limit, sigma[k]);
    }
    *gain = NAN;
    if (o->n_best == 0)
        return -beyond / works;
    *gain = chance * ft__gain_expected(&o->gain, mean, sigma, &s->rng);
    return *gain;
}

static bool best_candidate(ft_search *s, ft__surrogate *o, double *best, double *gain)
{
    double point[FT__MAX_PARAMS], most = -INFINITY;

    for (int c = 0; c < CANDIDATES; c++) {
        double its_gain, its_worth;

        if (c < NEAR)
            step_from_front(s, o, point);
        else
            draw(s, point);
        if (!ft__space_allows(s->s, point) || ft__points_has(&s->seen, point))
            continue;
        its_worth = worth(s, o, point, &its_gain);
        if (its_worth > most) {
            most = its_worth;
            *gain = its_gain;
            memcpy(best, point, s->s->n * sizeof(*best));
        }
    }
    return !isinf(most);
}

static ft_status ask_model(ft_search *s, double *point, double *gain, ft_error *err)
{
    ft__surrogate o = {0};
    bool added = false;
    ft_status st = ft__surrogate_learn(&o, s, err);

    s->rng = ft__search_draws(s);
    if (!st && o.n >= FT__SURROGATE_LEAST && best_candidate(s, &o, point, gain)) {
        *gain /= o.gain.volume;
        st = ft__points_add(&s->seen, point, &added, err);
    }
    ft__surrogate_free(&o);
    return st || added ? st : FT_ENOTFOUND;
}

const ft__searcher_ops ft__search_model = {NULL, ask_model, NULL, NULL};
