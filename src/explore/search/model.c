/* Bayesian optimisation (Jones, Schonlau, Welch 1998) by expected gain of hypervolume,
 * times the chances that the point works and that limits are kept (Gardner et al.
 * 2014). In come the points observed so far, out comes the candidate that is worth
 * most. */
#include "explore/search/gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/solve.h"
#include "explore/search/process.h"
#include "explore/search/search.h"
#include "learn/learn_inside.h"
#include "learn/tree/forest.h"

enum {
    MOST_COLUMNS = 64,
    MOST_VALUES = 8, /* of a category that has columns of its own */
    PENALTY = 1,
};

/* A quadratic of the parameters: numbers, their squares and products, categories. Trees
 * know what is left, and nothing of this beyond the points seen. Squares and products
 * are there while all columns fit. */
struct trend {
    size_t n; /* columns; 1: only a constant, there are too many parameters */
    double weight[MOST_COLUMNS];
};

static bool is_number(const ft_parameter *p)
{
    return p->type != FT_PARAM_CATEGORICAL && p->n_values != 1;
}

static bool is_choice(const ft_parameter *p)
{
    return p->type == FT_PARAM_CATEGORICAL && p->n_values > 1 &&
           p->n_values <= MOST_VALUES;
}

/* Columns with what is asked for besides the parameters themselves. */
static size_t count(const ft_space *s, bool squares, bool products)
{
    size_t n = 1, numbers = 0;

    for (size_t k = 0; k < s->n; k++) {
        const ft_parameter *p = &s->param[k];

        n += is_choice(p) ? p->n_values : 0;
        n += is_number(p) ? (squares && p->n_values != 2 ? 2 : 1) : 0;
        numbers += is_number(p);
    }
    return n + (products ? numbers * (numbers - 1) / 2 : 0);
}

/* Columns of a point, column[MOST_COLUMNS]; how many. */
static size_t trend_columns(const ft_space *s, const double *point, double *column)
{
    const bool squares = count(s, true, false) <= MOST_COLUMNS;
    const bool products = squares && count(s, true, true) <= MOST_COLUMNS;
    double x[FT__MAX_PARAMS];
    size_t n = 0, numbers = 0;

    column[n++] = 1;
    if (count(s, squares, false) > MOST_COLUMNS)
        return n;
    ft__space_to_unit(s, x, point);
    for (size_t k = 0; k < s->n; k++) {
        const ft_parameter *p = &s->param[k];

        for (uint32_t v = 0; is_choice(p) && v < p->n_values; v++)
            column[n++] = point[k] == v;
        if (!is_number(p))
            continue;
        x[numbers] = isnan(point[k]) ? 0 : 2 * x[k] - 1;
        column[n++] = x[numbers];
        if (squares && p->n_values != 2)
            column[n++] = x[numbers] * x[numbers];
        for (size_t j = 0; products && j < numbers; j++)
            column[n++] = x[j] * x[numbers];
        numbers++;
    }
    return n;
}

/* Ridge regression of y on n rows of `columns`, as trend_columns() gave them. */
static void trend_fit(struct trend *t, const double *row, size_t columns,
                      const double *y, size_t n)
{
    double a[MOST_COLUMNS * MOST_COLUMNS] = {0};

    memset(t->weight, 0, sizeof(t->weight));
    t->n = columns;
    for (size_t i = 0; i < n; i++, row += columns)
        for (size_t j = 0; j < columns; j++) {
            t->weight[j] += row[j] * y[i];
            for (size_t k = 0; k <= j; k++)
                a[j * columns + k] += row[j] * row[k];
        }
    for (size_t j = 0; j < columns; j++)
        a[j * columns + j] += j ? PENALTY : 1e-9;
    ft__solve(a, t->weight, (int)columns);
}

static double trend_at(const struct trend *t, const double *column)
{
    double sum = 0;

    for (size_t j = 0; j < t->n; j++)
        sum += t->weight[j] * column[j];
    return sum;
}

enum { TREES = 16, TREES_OF_FAILURES = 32, TUNED_EVERY = 8, LEAST_POINTS = 4 };

/* An objective as the model sees it, itself or its logarithm, scaled so that the best
 * known is 0 and the reference, a tenth beyond the worst known, is 1. */
struct objective_scale {
    bool log;
    double low, width;
    double limit; /* scaled */
};

/* What is expected of points: a Gaussian process; beyond FT__PROCESS_MOST points, where
 * that is dear, for each objective a trend, and for what is left a forest of randomised
 * trees, whose standard deviation, too, is nothing where a point is known and grows
 * away from it. Zero-initialise. */
struct surrogate {
    ft__arena room;
    size_t n;       /* points observed that did not fail */
    size_t *row;    /* of the search, that these are */
    double *target; /* n of each objective, scaled; then what is to be learned of it */
    float *x;
    double *column; /* of trends */
    size_t columns;
    double *best; /* n_best rows of objectives: points within limits */
    size_t *base; /* rows of the search: the front of these; or, while there are none,
                     what is least beyond the limits */
    size_t n_best, n_base;
    struct objective_scale scale[FT__MAX_OBJECTIVES];
    struct trend trend[FT__MAX_OBJECTIVES];
    ft__process process;
    ft__forest *forest[FT__MAX_OBJECTIVES]; /* NULL: the process knows */
    ft__forest *good; /* share of points that work; NULL: none has failed */
    ft__gain gain;
};

/* Where more points fail than work, gains do not count for much: no measured point
 * bounds them there. */
static const double likely = 0.5, unlikely = 1e-3;

/* How far values lean to one side. */
static double skew(const double *v, size_t n)
{
    double mean = 0, square = 0, cube = 0;

    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double off = v[i] - mean;

        square += off * off;
        cube += off * off * off;
    }
    return square > 0 ? fabs(cube) / (square * sqrt(square)) : 0;
}

static double transformed(const struct objective_scale *c, double y)
{
    return ((c->log ? log(fmax(y, 0)) : y) - c->low) / c->width;
}

/* Logarithms where they lean less; room: n. */
static void choose_scale(struct objective_scale *c, const double *v, double *room,
                         size_t n, double limit)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        room[i] = v[i] > 0 ? log(v[i]) : 0;
    }
    c->log = low > 0 && skew(room, n) < skew(v, n);
    c->low = c->log ? log(low) : low;
    c->width = 1.1 * ((c->log ? log(high) : high) - c->low);
    c->width = c->width > 0 ? c->width : 1;
    c->limit = transformed(c, limit);
}

static void write_row(const ft__search *s, float *x, const double *point)
{
    double unit[FT__MAX_PARAMS];

    ft__space_to_unit(s->s, unit, point);
    for (size_t k = 0; k < s->s->n; k++)
        x[k] = isnan(point[k]) ? NAN : (float)unit[k];
}

static bool failed(const ft__search *s, size_t row)
{
    for (uint32_t k = 0; k < s->m; k++)
        if (!isfinite(s->y[row * s->m + k]))
            return true;
    return false;
}

static void take_rows(struct surrogate *o, const ft__search *s)
{
    double column[MOST_COLUMNS];

    for (size_t i = 0; i < s->n; i++) {
        const double *point = s->point + i * s->s->n;

        if (failed(s, i))
            continue;
        write_row(s, o->x + o->n * s->s->n, point);
        o->columns = trend_columns(s->s, point, column);
        memcpy(o->column + o->n * o->columns, column, o->columns * sizeof(*column));
        o->row[o->n++] = i;
    }
}

static void scale_targets(struct surrogate *o, const ft__search *s)
{
    for (uint32_t k = 0; k < s->m; k++) {
        double *t = o->target + k * s->n;

        for (size_t i = 0; i < o->n; i++)
            t[i] = s->y[o->row[i] * s->m + k];
        choose_scale(&o->scale[k], t, o->best, o->n, s->limit[k]);
        for (size_t i = 0; i < o->n; i++)
            t[i] = transformed(&o->scale[k], t[i]);
    }
}

/* Points within limits to the front of the list of rows, for the moment. */
static ft_status find_base(struct surrogate *o, const ft__search *s, ft_error *err)
{
    unsigned char *on = malloc(o->n);
    double least = INFINITY;
    ft_status st;

    if (!on)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a front");
    for (size_t i = 0; i < o->n; i++) {
        const double excess = ft__search_excess(s, s->y + o->row[i] * s->m);

        if (excess < least)
            o->base[0] = o->row[i];
        least = fmin(least, excess);
        for (uint32_t k = 0; k < s->m && excess <= 0; k++)
            o->best[o->n_best * s->m + k] = o->target[k * s->n + i];
        if (excess <= 0)
            o->base[o->n_best++] = o->row[i];
    }
    st = ft_pareto(on, o->best, o->n_best, s->m, err);
    for (size_t i = 0; i < o->n_best && !st; i++)
        if (on[i])
            o->base[o->n_base++] = o->base[i];
    o->n_base = o->n_best ? o->n_base : 1;
    free(on);
    return st;
}

/* What is expected where nothing is known, scaled: half-way to the reference. */
static const double middle = 0.5;

static void take_middle(struct surrogate *o, const ft__search *s)
{
    for (uint32_t k = 0; k < s->m; k++)
        for (size_t i = 0; i < o->n; i++)
            o->target[k * s->n + i] -= middle;
}

/* Lengths hold for some points to come. They depend on the first points alone, so that
 * a search that was cut off goes on as it would have. */
static ft_status tune(struct surrogate *o, ft__search *s, ft_error *err)
{
    const size_t all = o->n;
    ft_status st = FT_OK;

    o->n -= all < TUNED_EVERY ? 0 : all % TUNED_EVERY;
    if (s->tuned_on != o->n) {
        scale_targets(o, s);
        take_middle(o, s);
        st =
            ft__process_tune(&o->process, s->s, o->x, o->target, s->n, o->n, s->m, err);
        s->tuned_on = st ? 0 : o->n;
        memcpy(s->rate, o->process.rate, sizeof(s->rate));
        s->noise = o->process.noise;
    }
    memcpy(o->process.rate, s->rate, sizeof(s->rate));
    o->process.noise = s->noise;
    o->n = all;
    return st;
}

static ft_status fit_trees(struct surrogate *o, const ft__search *s, ft_error *err)
{
    const ft__forest_options opt = {
        .kind = FT_FOREST_EXTRA, .n_trees = TREES, .seed = s->n};
    const ft__matrix x = {o->x, o->n, s->s->n};
    ft_status st = FT_OK;

    for (uint32_t k = 0; k < s->m && !st; k++) {
        double *t = o->target + k * s->n;

        trend_fit(&o->trend[k], o->column, o->columns, t, o->n);
        for (size_t i = 0; i < o->n; i++)
            t[i] -= trend_at(&o->trend[k], o->column + i * o->columns);
        st = ft__forest_fit(&o->forest[k], &x, t, NULL, &opt, err);
    }
    return st;
}

static ft_status fit(struct surrogate *o, const ft__search *s, ft_error *err)
{
    ft_status st = ft__gain_start(&o->gain, o->best, o->n_best, s->m, err);

    if (st)
        return st;
    if (o->n > FT__PROCESS_MOST)
        return fit_trees(o, s, err);
    take_middle(o, s);
    return ft__process_fit(&o->process, s->s, o->x, o->target, s->n, o->n, s->m, err);
}

/* Where points fail, from all of them; nothing while none did. */
static ft_status learn_failures(struct surrogate *o, const ft__search *s, ft_error *err)
{
    const ft__forest_options opt = {.kind = FT_FOREST_EXTRA,
                                    .n_trees = TREES_OF_FAILURES};
    float *x = malloc((s->n + 1) * s->s->n * sizeof(*x));
    double *good = malloc((s->n + 1) * sizeof(*good));
    const ft__matrix rows = {x, s->n, s->s->n};
    ft_status st = x && good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);

    for (size_t i = 0; i < s->n && !st; i++) {
        write_row(s, x + i * s->s->n, s->point + i * s->s->n);
        good[i] = !failed(s, i);
    }
    if (!st && o->n < s->n)
        st = ft__forest_fit(&o->good, &rows, good, NULL, &opt, err);
    free(x);
    free(good);
    return st;
}

/* Learn from all that was observed; with fewer than LEAST_POINTS, only n is set. */
static ft_status learn(struct surrogate *o, ft__search *s, ft_error *err)
{
    const size_t n = s->n + 1;
    ft_status st = FT_OK;

    o->row = ft__arena_need(&o->room, n, sizeof(*o->row));
    o->base = ft__arena_need(&o->room, n, sizeof(*o->base));
    o->target = ft__arena_need(&o->room, n * s->m, sizeof(*o->target));
    o->best = ft__arena_need(&o->room, n * s->m, sizeof(*o->best));
    o->x = ft__arena_need(&o->room, n * s->s->n, sizeof(*o->x));
    o->column = ft__arena_need(&o->room, n * MOST_COLUMNS, sizeof(*o->column));
    if (o->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a model of %zu points", s->n);
    take_rows(o, s);
    if (o->n < LEAST_POINTS)
        return FT_OK;
    if (o->n <= FT__PROCESS_MOST)
        st = tune(o, s, err);
    scale_targets(o, s);
    if (!st)
        st = find_base(o, s, err);
    if (!st)
        st = fit(o, s, err);
    return st ? st : learn_failures(o, s, err);
}

static void surrogate_free(struct surrogate *o)
{
    ft__arena_free(&o->room);
    ft__forest_free(o->good);
    ft__gain_free(&o->gain);
    ft__arena_free(&o->process.arena);
    for (uint32_t k = 0; k < FT__MAX_OBJECTIVES; k++)
        ft__forest_free(o->forest[k]);
}

static void ask_trees(const struct surrogate *o, const ft__search *s,
                      const double *point, const float *x, double *mean, double *sigma)
{
    double column[MOST_COLUMNS], tree[TREES];

    trend_columns(s->s, point, column);
    for (uint32_t k = 0; k < s->m; k++) {
        double sum = 0, square = 0;

        ft__forest_each(o->forest[k], x, tree);
        for (int t = 0; t < TREES; t++) {
            sum += tree[t] / TREES;
            square += tree[t] * tree[t] / TREES;
        }
        mean[k] = sum + trend_at(&o->trend[k], column);
        sigma[k] = sqrt(fmax(0, square - sum * sum));
    }
}

/* Mean and standard deviation of each objective, scaled; x: the point's row. */
static void expect(struct surrogate *o, const ft__search *s, const double *point,
                   const float *x, double *mean, double *sigma)
{
    if (o->n > FT__PROCESS_MOST) {
        ask_trees(o, s, point, x, mean, sigma);
        return;
    }
    ft__process_ask(&o->process, s->s, x, mean, sigma);
    for (uint32_t k = 0; k < s->m; k++)
        mean[k] += middle;
}

/* The chance that a point does not fail. */
static double works_chance(const struct surrogate *o, const float *x)
{
    double share;

    if (!o->good)
        return 1;
    share = ft__forest_predict(o->good, x);
    return share > likely ? share : fmax(share, unlikely) * unlikely;
}

enum {
    CANDIDATES = 192,
    NEAR = 128, /* of these next to the front, the others anywhere */
};

static const double LEAST_SIGMA = 1e-3; /* of whether a limit is kept */

/* A point of the front, one or two of its parameters changed. */
static void step_from_front(ft__search *s, const struct surrogate *o, double *point)
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

static void draw(ft__search *s, double *point)
{
    double unit[FT__MAX_PARAMS];

    for (size_t k = 0; k < s->s->n; k++)
        unit[k] = ft__prng_unit(&s->rng);
    ft__space_from_unit(s->s, point, unit);
}

/* While nothing is within limits, what counts is how little is expected beyond them. */
static double worth(ft__search *s, struct surrogate *o, const double *point,
                    double *gain)
{
    double mean[FT__MAX_OBJECTIVES], sigma[FT__MAX_OBJECTIVES], beyond = 0;
    float x[FT__MAX_PARAMS];
    double works, chance;

    write_row(s, x, point);
    works = chance = works_chance(o, x);
    expect(o, s, point, x, mean, sigma);
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

static bool best_candidate(ft__search *s, struct surrogate *o, double *best,
                           double *gain)
{
    double point[FT__MAX_PARAMS], most = -INFINITY;

    for (int c = 0; c < CANDIDATES; c++) {
        double its_gain, its_worth;

        if (c < NEAR)
            step_from_front(s, o, point);
        else
            draw(s, point);
        if (!ft__space_allows(s->s, point) ||
            ft__points_find(&s->seen, point) < s->seen.n)
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

static ft_status ask_model(ft__search *s, double *point, double *gain, ft_error *err)
{
    struct surrogate o = {0};
    bool added = false;
    ft_status st = learn(&o, s, err);

    s->rng = ft__search_draws(s);
    if (!st && o.n >= LEAST_POINTS && best_candidate(s, &o, point, gain)) {
        *gain /= o.gain.volume;
        st = ft__points_add(&s->seen, point, &added, err);
    }
    surrogate_free(&o);
    return st || added ? st : FT_ENOTFOUND;
}

const ft__searcher_ops ft__search_model = {NULL, ask_model, NULL, NULL};
