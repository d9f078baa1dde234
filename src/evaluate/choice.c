/* What choosing brings, played on measurements that are there. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/prng.h"
#include "decide/choose.h"
#include "evaluate/ask.h"
#include "predict/file/predictor.h"

enum { LEAST_OPS = 40, DEFAULT_SEEDS = 10, DEFAULT_STEPS = 15 };
static const double held_out = 0.25, least_part = 0.02, near = 1.05, close = 1.02;

/* The operations of a store, each with its rows: rows are sorted by operation. */
struct playing {
    ft__arena room;
    const ft_choice_options *opt;
    ft__samples s;
    uint32_t *row;
    size_t n_rows;
    size_t *first; /* of each operation, and one behind the last */
    size_t n_ops;
    /* of one seed: */
    uint32_t *pool; /* operations that may be measured */
    size_t n_pool;
    ft_op *op;     /* of the pool */
    double *count; /* its rows */
    double whole;  /* MAPE with all of the pool; NaN: not known yet */
    uint32_t *test;
    size_t n_test;
    uint32_t *train;
    ft__op_answer *answer;
    uint32_t *order; /* of the pool */
};

struct keyed {
    uint64_t hash;
    uint32_t row;
};

static int by_hash(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->row > y->row) - (x->row < y->row);
}

static int by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static ft_status sort_rows(struct playing *p, ft_error *err)
{
    struct keyed *k = calloc(p->s.n + 1, sizeof(*k));

    if (!k)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", p->s.n);
    for (size_t i = 0; i < p->s.n; i++)
        if (p->s.v[i].value[FT__METRIC_TIME] > 0)
            k[p->n_rows++] = (struct keyed){p->s.v[i].hash, (uint32_t)i};
    qsort(k, p->n_rows, sizeof(*k), by_hash);
    for (size_t i = 0; i < p->n_rows; i++) {
        p->row[i] = k[i].row;
        if (i == 0 || k[i].hash != k[i - 1].hash)
            p->first[p->n_ops++] = i;
    }
    p->first[p->n_ops] = p->n_rows;
    free(k);
    return FT_OK;
}

static ft_status start(struct playing *p, ft_store *store, const ft_choice_options *opt,
                       ft_error *err)
{
    ft_status st;
    size_t n;

    *p = (struct playing){.opt = opt};
    st = ft__samples_read(&p->s, store, NULL, opt->where, err);
    if (!st)
        st = ft__samples_know(&p->s, opt->data_dir, err);
    if (st)
        return st;
    n = p->s.n + 1;
    p->row = ft__arena_need(&p->room, n, sizeof(*p->row));
    p->first = ft__arena_need(&p->room, n + 1, sizeof(*p->first));
    p->pool = ft__arena_need(&p->room, n, sizeof(*p->pool));
    p->op = ft__arena_need(&p->room, FT__MOST_CHOOSABLE + 1, sizeof(*p->op));
    p->count = ft__arena_need(&p->room, FT__MOST_CHOOSABLE + 1, sizeof(*p->count));
    p->test = ft__arena_need(&p->room, n, sizeof(*p->test));
    p->train = ft__arena_need(&p->room, n, sizeof(*p->train));
    p->answer = ft__arena_need(&p->room, n, sizeof(*p->answer));
    p->order = ft__arena_need(&p->room, FT__MOST_CHOOSABLE + 1, sizeof(*p->order));
    if (p->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", p->s.n);
    st = sort_rows(p, err);
    if (!st && p->n_ops < LEAST_OPS)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "%zu operations fit: choosing is judged from %d on", p->n_ops,
                     LEAST_OPS);
    return st;
}

static void finish(struct playing *p)
{
    ft__samples_free(&p->s);
    ft__arena_free(&p->room);
}

/* A quarter of the operations is tested, of the others as many can be measured as can
 * be chosen among: where there are more, of both the same share is taken, by lot. */
static void deal(struct playing *p, uint64_t seed)
{
    const double all = (double)FT__MOST_CHOOSABLE / (1 - held_out);
    const double share = fmin(1, all / (double)p->n_ops);

    p->n_pool = p->n_test = 0;
    p->whole = NAN;
    for (size_t i = 0; i < p->n_ops; i++) {
        const ft__sample *v = &p->s.v[p->row[p->first[i]]];
        ft__prng lot = ft__prng_stream(seed, v->hash);
        double drawn = ft__prng_unit(&lot);

        if (drawn < held_out * share) {
            for (size_t r = p->first[i]; r < p->first[i + 1]; r++)
                p->test[p->n_test++] = p->row[r];
        } else if (drawn < share && p->n_pool < FT__MOST_CHOOSABLE) {
            p->op[p->n_pool] = v->op;
            p->count[p->n_pool] = (double)(p->first[i + 1] - p->first[i]);
            p->pool[p->n_pool++] = (uint32_t)i;
        }
    }
}

/* The rows of the first n operations of the order: in one order, so that all of them
 * are the same set however they were chosen. */
static size_t take_rows(struct playing *p, size_t n)
{
    size_t n_train = 0;

    for (size_t k = 0; k < n; k++) {
        size_t i = p->pool[p->order[k]];

        for (size_t r = p->first[i]; r < p->first[i + 1]; r++)
            p->train[n_train++] = p->row[r];
    }
    qsort(p->train, n_train, sizeof(*p->train), by_index);
    return n_train;
}

static ft_status put_in_order(struct playing *p, ft_criterion by, uint64_t seed,
                              ft_error *err)
{
    ft__choosing c;
    ft_status st = ft__choosing_make(&c, p->op, p->count, p->n_pool, by, seed, err);

    if (st)
        return st;
    for (size_t k = 0; k < p->n_pool && !st; k++) {
        size_t i = ft__choosing_next(&c, NULL, NULL);

        ft__choosing_know(&c, i);
        p->order[k] = (uint32_t)i;
        if (p->opt->chosen)
            p->opt->chosen(p->opt->chosen_user, seed, by, &p->op[i]);
        if (ft__choosing_is_due(&c))
            st = ft__choosing_learn(&c, &p->s, p->train, take_rows(p, k + 1),
                                    p->opt->threads, err);
    }
    ft__choosing_free(&c);
    return st;
}

/* MAPE of n tested rows. */
static ft_status score(const struct playing *p, const char *why, double *mape,
                       ft_error *err)
{
    double sum = 0;

    for (size_t i = 0; i < p->n_test; i++) {
        double truth = p->s.v[p->test[i]].value[FT__METRIC_TIME];

        sum += fabs(p->answer[i].value - truth) / truth;
    }
    *mape = sum / (double)p->n_test;
    return isfinite(sum)
               ? FT_OK
               : ft_fail(err, FT_ENOTFOUND, 0, "%s: choose for one device alone", why);
}

/* MAPE of the tested rows as the predictor answers that the first n operations of the
 * order make. */
static ft_status learn_from(struct playing *p, size_t n, uint64_t seed, double *mape,
                            ft_error *err)
{
    const size_t n_train = take_rows(p, n);
    ft__family_options how = {.learn = {.fit = {.methods = p->opt->methods,
                                                .seed = seed,
                                                .threads = p->opt->threads}},
                              .metrics = 1u << FT__METRIC_TIME};
    ft_predictor *made = NULL;
    char why[240] = "";
    ft_status st =
        ft__evaluate_needs(&how, &p->s, p->train, n_train, p->test, p->n_test, err);

    if (!st)
        st = ft__family_of_rows(&made, &p->s, p->train, n_train, &how, err);
    if (!st)
        st = ft__evaluate_query(p->answer, made, NULL, FT__METRIC_TIME, &p->s, p->test,
                                p->n_test, why, err);
    ft_predictor_free(made);
    return st ? st : score(p, why, mape, err);
}

static size_t steps_of(const struct playing *p)
{
    return p->opt->n_steps > 1 ? p->opt->n_steps : DEFAULT_STEPS;
}

/* How many operations are measured at a step; at least what makes one regressor. */
static size_t size_at(const struct playing *p, size_t step)
{
    const double least = fmax(12, least_part * (double)p->n_pool);
    const double part = (double)step / (double)(steps_of(p) - 1);

    return (size_t)(least * pow((double)p->n_pool / least, part) + 0.5);
}

/* One curve of one seed: mape[steps]. */
static ft_status play(struct playing *p, ft_criterion by, uint64_t seed, double *mape,
                      ft_error *err)
{
    ft_status st = put_in_order(p, by, seed, err);

    for (size_t k = 0; k + 1 < steps_of(p) && !st; k++)
        st = learn_from(p, size_at(p, k), seed, &mape[k], err);
    /* All of them are the same however they were put in order. */
    if (!st && isnan(p->whole))
        st = learn_from(p, p->n_pool, seed, &p->whole, err);
    mape[steps_of(p) - 1] = p->whole;
    return st;
}

static double area_of(const double *mape, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k + 1 < n; k++)
        sum += (mape[k] + mape[k + 1]) / 2;
    return sum / (double)(n - 1);
}

/* The error at a part of the operations, by the logarithm between steps. */
static double mape_at(const struct playing *p, const double *mape, double part)
{
    const double wanted = part * (double)p->n_pool;
    size_t k = 0;
    double below, above;

    while (k + 2 < steps_of(p) && (double)size_at(p, k + 1) < wanted)
        k++;
    below = (double)size_at(p, k);
    above = (double)size_at(p, k + 1);
    return mape[k] +
           (mape[k + 1] - mape[k]) * fmax(0, log(wanted / below) / log(above / below));
}

/* Part of the operations from which on the mean error stays at or below a limit. */
static double reached_at(const ft_choice_curves *c, ft_criterion by, double limit)
{
    size_t k = c->n_points - 1;
    const ft_choice_point *at = c->point;
    double above, below, share, ops;

    while (k > 0 && at[k - 1].mape[by] <= limit)
        k--;
    if (k == 0 || at[k].mape[by] > limit)
        return at[k].ops / at[c->n_points - 1].ops;
    above = at[k - 1].mape[by];
    below = at[k].mape[by];
    share = above > below ? (above - limit) / (above - below) : 1;
    ops = at[k - 1].ops * pow(at[k].ops / at[k - 1].ops, share);
    return ops / at[c->n_points - 1].ops;
}

static bool is_asked(const ft_choice_options *o, int by)
{
    return by == FT_CRITERION_RANDOM || o->criteria >> by & 1;
}

/* From sums of differences and of their squares. */
static void finish_excess(ft_choice_curves *c, int by, double full)
{
    const double n = c->n_seeds, mean = c->excess[by] / n;
    const double variance = (c->excess_error[by] - n * mean * mean) / (n - 1);

    c->excess[by] = mean / full;
    c->excess_error[by] = n > 1 ? sqrt(fmax(0, variance) / n) / full : (double)NAN;
}

static void finish_curves(ft_choice_curves *c, const ft_choice_options *o)
{
    for (int by = 0; by < FT_CRITERION_COUNT; by++) {
        double full = c->point[c->n_points - 1].mape[by];

        c->full_at[by] = c->close_at[by] = c->near_at[by] = NAN;
        if (!is_asked(o, by))
            continue;
        c->full_at[by] = reached_at(c, (ft_criterion)by, full);
        c->close_at[by] = reached_at(c, (ft_criterion)by, close * full);
        c->near_at[by] = reached_at(c, (ft_criterion)by, near * full);
        finish_excess(c, by, full);
    }
}

/* All criteria on one seed, added to the means. */
static ft_status play_seed(struct playing *p, ft_choice_curves *c, uint64_t seed,
                           double *mape, ft_error *err)
{
    double weight = 1 / (double)c->n_seeds, random = NAN;
    ft_status st = FT_OK;

    deal(p, seed);
    if (p->n_test == 0 || p->n_pool < LEAST_OPS / 2)
        return ft_fail(err, FT_ENOTFOUND, 0, "too few operations to hold any out");
    c->n_ops = p->n_pool;
    c->n_tested = p->n_test;
    for (size_t k = 0; k < c->n_points; k++)
        c->point[k].ops += weight * (double)size_at(p, k);
    /* Random last in the list, first here: the others are compared with it. */
    for (int i = FT_CRITERION_COUNT; i-- > 0 && !st;) {
        double area, more;

        if (!is_asked(p->opt, i))
            continue;
        st = play(p, (ft_criterion)i, seed, mape, err);
        area = area_of(mape, c->n_points);
        if (i == FT_CRITERION_RANDOM)
            random = area;
        c->area[i] += weight * area;
        c->better[i] += area < random ? weight : 0;
        more = mape_at(p, mape, FT_CHOICE_PERCENT / 100.0) - p->whole;
        c->excess[i] += more;
        c->excess_error[i] += more * more;
        for (size_t k = 0; k < c->n_points; k++)
            c->point[k].mape[i] += weight * mape[k];
    }
    return st;
}

static void begin_curves(ft_choice_curves *c, const ft_choice_options *o)
{
    for (int by = 0; by < FT_CRITERION_COUNT; by++) {
        double begin = is_asked(o, by) ? 0 : (double)NAN;

        c->area[by] = c->better[by] = begin;
        c->excess[by] = c->excess_error[by] = begin;
        for (size_t k = 0; k < c->n_points; k++)
            c->point[k].mape[by] = begin;
    }
}

ft_status ft_choice_evaluate(ft_choice_curves *out, ft_store *store,
                             const ft_choice_options *opt, ft_error *err)
{
    struct playing p;
    double *mape = NULL;
    ft_status st = start(&p, store, opt, err);

    *out = (ft_choice_curves){.n_seeds = opt->n_seeds ? opt->n_seeds : DEFAULT_SEEDS,
                              .n_points = steps_of(&p)};
    if (!st) {
        out->point = calloc(out->n_points, sizeof(*out->point));
        mape = calloc(out->n_points, sizeof(*mape));
        if (!out->point || !mape)
            st = ft_fail(err, FT_ENOMEM, 0, "learning curves");
    }
    if (!st)
        begin_curves(out, opt);
    for (uint32_t i = 0; i < out->n_seeds && !st; i++) {
        ft__progress(opt->log, i, out->n_seeds, "seeds");
        st = play_seed(&p, out, opt->seed + i, mape, err);
    }
    ft__progress(opt->log, out->n_seeds, out->n_seeds, "");
    if (st)
        ft_choice_curves_free(out);
    else
        finish_curves(out, opt);
    free(mape);
    finish(&p);
    return st;
}

void ft_choice_curves_free(ft_choice_curves *c)
{
    free(c->point);
    *c = (ft_choice_curves){0};
}
