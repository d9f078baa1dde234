/* Bayesian optimisation with forests (Hutter, Hoos, Leyton-Brown 2011) of randomised
 * trees, whose spread is nothing where a point is known and grows away from it; by
 * expected gain of hypervolume, times the chance that limits are kept (Gardner et al.
 * 2014). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore/gain.h"
#include "explore/search.h"
#include "explore/trend.h"
#include "foretell/learn.h"
#include "learn/walk.h"

enum {
    TREES = 16,
    CANDIDATES = 192,
    NEAR = 128, /* of these next to the front, the others anywhere */
    LEAST = 4,  /* points that a forest can be fitted to */
};

/* An objective as trees see it: its logarithm where it is positive throughout, scaled
 * so that the best is 0 and the reference 1. */
struct scale {
    bool log;
    double low, width;
    double limit; /* scaled */
};

struct model {
    size_t n;          /* rows that did not fail */
    float *x;          /* told rows, in unit coordinates */
    double *target;    /* m x n, one objective after the other */
    double *y;         /* n x m, those within limits */
    size_t *row;       /* told rows that these are */
    unsigned char *on; /* the front of them */
    size_t n_within;
    double *column; /* n rows for the trends */
    size_t columns;
    struct scale scale[FT__MAX_OBJECTIVES];
    ft__trend trend[FT__MAX_OBJECTIVES];
    ft_forest *forest[FT__MAX_OBJECTIVES];
    ft__gain gain;
};

static double scaled(const struct scale *c, double y)
{
    return ((c->log ? log(y) : y) - c->low) / c->width;
}

static bool failed(const ft_search *s, size_t row)
{
    for (uint32_t k = 0; k < s->m; k++)
        if (!isfinite(s->y[row * s->m + k]))
            return true;
    return false;
}

static void choose_scale(const ft_search *s, struct scale *c, uint32_t k)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < s->n; i++) {
        if (failed(s, i))
            continue;
        low = fmin(low, s->y[i * s->m + k]);
        high = fmax(high, s->y[i * s->m + k]);
    }
    c->log = low > 0;
    c->low = c->log ? log(low) : low;
    c->width = 1.1 * ((c->log ? log(high) : high) - c->low);
    c->width = c->width > 0 ? c->width : 1;
    c->limit = isinf(s->limit[k]) ? s->limit[k] : scaled(c, s->limit[k]);
    if (isnan(c->limit)) /* below 0, where logarithms end */
        c->limit = -INFINITY;
}

/* ---- what is known ---- */

static void write_row(const ft_search *s, float *x, const double *point)
{
    double unit[FT__MAX_PARAMS];

    ft_space_to_unit(s->s, unit, point);
    for (size_t k = 0; k < s->s->n; k++)
        x[k] = isnan(point[k]) ? NAN : (float)unit[k];
}

static void take_rows(const ft_search *s, struct model *o)
{
    double column[FT__MAX_TREND];
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const double *y = s->y + i * s->m;
        const bool within = ft__search_excess(s, y) <= 0;

        if (failed(s, i))
            continue;
        write_row(s, o->x + n * s->s->n, s->point + i * s->s->n);
        o->columns = ft__trend_columns(s->s, s->point + i * s->s->n, column);
        memcpy(o->column + n * o->columns, column, o->columns * sizeof(*column));
        for (uint32_t k = 0; k < s->m; k++) {
            const double t = scaled(&o->scale[k], y[k]);

            o->target[k * s->n + n] = t;
            if (within)
                o->y[o->n_within * s->m + k] = t;
        }
        if (within)
            o->row[o->n_within++] = i;
        n++;
    }
    o->n = n;
}

static ft_status start(const ft_search *s, struct model *o, ft_error *err)
{
    const size_t n = s->n + 1;

    o->x = malloc(n * s->s->n * sizeof(*o->x));
    o->target = malloc(n * s->m * sizeof(*o->target));
    o->y = malloc(n * s->m * sizeof(*o->y));
    o->row = malloc(n * sizeof(*o->row));
    o->on = malloc(n);
    o->column = malloc(n * FT__MAX_TREND * sizeof(*o->column));
    if (!o->x || !o->target || !o->y || !o->row || !o->on)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a model of %zu points", s->n);
    for (uint32_t k = 0; k < s->m; k++)
        choose_scale(s, &o->scale[k], k);
    take_rows(s, o);
    return ft_pareto(o->on, o->y, o->n_within, s->m, err);
}

static ft_status learn(const ft_search *s, struct model *o, ft_error *err)
{
    const ft_forest_options opt = {
        .kind = FT_FOREST_EXTRA, .n_trees = TREES, .seed = s->n};
    const ft_matrix x = {o->x, o->n, s->s->n};
    ft_status st = ft__gain_start(&o->gain, o->y, o->n_within, s->m, err);

    for (uint32_t k = 0; k < s->m && !st; k++) {
        double *t = o->target + k * s->n;

        ft__trend_fit(&o->trend[k], o->column, o->columns, t, o->n);
        for (size_t i = 0; i < o->n; i++)
            t[i] -= ft__trend_at(&o->trend[k], o->column + i * o->columns);
        st = ft_forest_fit(&o->forest[k], &x, o->target + k * s->n, NULL, &opt, err);
    }
    return st;
}

static void finish(const ft_search *s, struct model *o)
{
    free(o->x);
    free(o->target);
    free(o->y);
    free(o->row);
    free(o->on);
    free(o->column);
    ft__gain_free(&o->gain);
    for (uint32_t k = 0; k < s->m; k++)
        ft_forest_free(o->forest[k]);
}

/* ---- what might be next ---- */

/* A point of the front, one or two of its parameters changed. */
static void step_from_front(ft_search *s, const struct model *o, double *point)
{
    double unit[FT__MAX_PARAMS];
    size_t i = ft__prng_below(&s->rng, (uint32_t)o->n_within);
    const uint32_t k = (uint32_t)s->s->n;

    while (!o->on[i])
        i = i ? i - 1 : o->n_within - 1;
    ft_space_to_unit(s->s, unit, s->point + o->row[i] * s->s->n);
    ft__search_step(s, unit, ft__prng_below(&s->rng, k), &s->rng);
    if (ft__prng_unit(&s->rng) < 0.5)
        ft__search_step(s, unit, ft__prng_below(&s->rng, k), &s->rng);
    ft_space_from_unit(s->s, point, unit);
}

static void draw(ft_search *s, double *point)
{
    double unit[FT__MAX_PARAMS];

    for (size_t k = 0; k < s->s->n; k++)
        unit[k] = ft__prng_unit(&s->rng);
    ft_space_from_unit(s->s, point, unit);
}

/* Mean and spread of what the trees say. */
static void ask_trees(const ft_forest *f, const float *x, double *mean, double *sigma)
{
    double tree[TREES], sum = 0, square = 0;

    ft__forest_each(f, x, tree);
    for (int t = 0; t < TREES; t++) {
        sum += tree[t];
        square += tree[t] * tree[t];
    }
    *mean = sum / TREES;
    *sigma = sqrt(fmax(0, square / TREES - *mean * *mean));
}

/* While nothing is within limits, only the chance to come there counts. */
static double worth(ft_search *s, const struct model *o, const double *point,
                    double *gain)
{
    double mean[FT__MAX_OBJECTIVES], sigma[FT__MAX_OBJECTIVES], chance = 1;
    float x[FT__MAX_PARAMS];
    double column[FT__MAX_TREND];

    write_row(s, x, point);
    ft__trend_columns(s->s, point, column);
    for (uint32_t k = 0; k < s->m; k++) {
        ask_trees(o->forest[k], x, &mean[k], &sigma[k]);
        mean[k] += ft__trend_at(&o->trend[k], column);
        if (!isinf(s->limit[k]))
            chance *= ft__chance_below(o->scale[k].limit, mean[k], sigma[k] + 1e-3);
    }
    if (o->n_within == 0) {
        *gain = NAN;
        return chance;
    }
    *gain = chance * ft__gain_expected(&o->gain, mean, sigma, &s->rng);
    return *gain;
}

static ft_status open_model(ft_search *s, ft_error *err)
{
    (void)s;
    (void)err;
    return FT_OK;
}

static void close_model(ft_search *s)
{
    (void)s;
}

static bool best_candidate(ft_search *s, const struct model *o, double *best,
                           double *gain)
{
    double point[FT__MAX_PARAMS], most = -INFINITY;

    for (int c = 0; c < CANDIDATES; c++) {
        double g, w;

        if (c < NEAR && o->n_within)
            step_from_front(s, o, point);
        else
            draw(s, point);
        if (!ft_space_allows(s->s, point) || ft__points_has(&s->seen, point))
            continue;
        w = worth(s, o, point, &g);
        if (w > most) {
            most = w;
            *gain = g;
            memcpy(best, point, s->s->n * sizeof(*best));
        }
    }
    return !isinf(most);
}

static ft_status ask_model(ft_search *s, double *point, double *gain, ft_error *err)
{
    struct model o = {0};
    bool added = false;
    ft_status st = start(s, &o, err);

    if (!st && o.n >= LEAST) {
        st = learn(s, &o, err);
        if (!st && best_candidate(s, &o, point, gain)) {
            *gain /= o.gain.volume;
            st = ft__points_add(&s->seen, point, &added, err);
        }
    }
    finish(s, &o);
    return st || added ? st : FT_ENOTFOUND;
}

const ft__searcher_ops ft__search_model = {open_model, ask_model, NULL, close_model};
