/* Readings weighed by their errors against what is learned of other operations. */
#include "predict/train/readings.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "predict/model/model_set.h"

/* With fewer readings no regressor is trained to check them. */
enum { LEAST_READINGS = 40, TREES = 32 };
/* Regressors are fitted without readings that scatter so much. */
static const double too_rough = 0.2;
/* Before anything is known of it one reading in twenty was disturbed, and took anything
 * up to ten times as long; it is never disturbed to be faster. */
static const double disturbed_share = 0.05, disturbed_width = 2.302585092994046;
/* Readings this far apart, in their errors, or nearer than a tenth agree. */
static const double agree_errors = 3, agree_least = 0.1;
/* The least error that a regressor is credited with. */
static const double least_learned_error = 0.02;

struct reading {
    uint32_t at; /* sample */
    uint32_t dataset;
    uint64_t hash;
    double log_s, error;
    double learned;       /* log of what is learned of others, */
    double learned_error; /* INFINITY: nothing is */
};

struct weighing {
    const ft__samples *s;
    struct reading *reading;
    size_t n;
    double *held;       /* of every sample: predicted without it */
    ft__op_answer *say; /* of reading[] */
    uint32_t *row;
};

static bool is_weighed(const ft__samples *s, size_t i)
{
    const ft__sample *v = &s->v[i];

    return s->dataset[v->dataset].roof && v->value[FT__METRIC_TIME] > 0 &&
           v->error_s > 0 && isfinite(v->error_s);
}

/* Rows that regressors are fitted to: those that are not too rough, or all where few
 * are better. */
static size_t take_rows(struct weighing *w)
{
    size_t n = 0;

    for (size_t k = 0; k < w->n; k++)
        if (w->reading[k].error <= too_rough)
            w->row[n++] = w->reading[k].at;
    if (n >= LEAST_READINGS && 2 * n >= w->n)
        return n;
    for (size_t k = 0; k < w->n; k++)
        w->row[k] = w->reading[k].at;
    return w->n;
}

static ft_status learn(struct weighing *w, uint64_t seed, uint32_t threads,
                       ft_error *err)
{
    const ft__model_set_options how = {.metric = FT__METRIC_TIME,
                                       .plain = true,
                                       .held = w->held,
                                       .fit = {.methods = 1u << FT_METHOD_EXTRA,
                                               .n_trees = TREES,
                                               .seed = seed,
                                               .threads = threads}};
    ft__model_set l;
    ft_status st =
        ft__model_set_fit(&l, w->s, w->row, take_rows(w), NULL, 0, &how, err);

    if (st)
        return st;
    for (size_t k = 0; k < w->n; k++)
        w->row[k] = w->reading[k].at;
    st = ft__model_set_predict(&l, w->say, w->s, w->row, w->n, err);
    ft__model_set_free(&l);
    for (size_t k = 0; k < w->n && !st; k++) {
        const double held = w->held[w->reading[k].at];
        const ft__op_answer *a = &w->say[k];

        w->reading[k].learned = log(held > 0 ? held : a->value);
        w->reading[k].learned_error =
            fmax(least_learned_error, log(a->high / a->low) / (2 * FT__Z90));
    }
    return st;
}

/* Student's t with four degrees of freedom: regressors err by much now and then. */
static double student4(double z)
{
    return 0.375 * pow(1 + z * z / 4, -2.5);
}

static bool agrees(const struct reading *r, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++) {
        const double may = agree_errors * hypot(r[k].error, r[i].error);

        if (k != i && fabs(r[k].log_s - r[i].log_s) <= fmax(agree_least, may) &&
            r[k].error <= too_rough)
            return true;
    }
    return false;
}

bool ft__reading_disturbed(double slower, double error)
{
    return slower > 0 && isfinite(error) &&
           disturbed_share / disturbed_width >
               (1 - disturbed_share) * student4(slower / error) / error;
}

/* Inverse variances of logarithms. A reading whose rounds agree, or several that do, is
 * what was measured; of what scatters more than that others say their part, and all
 * where they say more than it. */
static void combine(ft__weighed *out, const struct reading *r, size_t n)
{
    const double fine = 1 / (FT__ROUGH_READING * FT__ROUGH_READING);
    double sum = 0, weight = 0, variance = 0, learned;
    bool known;

    for (size_t i = 0; i < n; i++) {
        const bool disturbed =
                       ft__reading_disturbed(r[i].log_s - r[i].learned,
                                             hypot(r[i].error, r[i].learned_error)) &&
                       !agrees(r, n, i),
                   is_rough = r[i].error > FT__ROUGH_READING;
        const double w = disturbed ? 0 : 1 / (r[i].error * r[i].error);

        out[r[i].at].doubtful = disturbed || is_rough;
        out[r[i].at].learned_of =
            !disturbed && (!is_rough || r[i].error <= r[i].learned_error);
        variance += r[i].learned_error * r[i].learned_error / (double)n;
        sum += w * r[i].log_s;
        weight += w;
    }
    learned = 1 / variance;
    known = weight > 0 && (weight >= fine || weight >= learned);
    if (known && weight < fine) {
        sum += learned * r->learned;
        weight += learned;
    }
    for (size_t i = 0; i < n; i++) {
        out[r[i].at].value_s = known ? exp(sum / weight) : (double)NAN;
        out[r[i].at].error = known ? sqrt(1 / weight) : 0;
    }
}

static int by_operation(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;

    if (x->dataset != y->dataset)
        return x->dataset < y->dataset ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void gather(struct weighing *w)
{
    for (size_t i = 0; i < w->s->n; i++) {
        const ft__sample *v = &w->s->v[i];

        if (is_weighed(w->s, i))
            w->reading[w->n++] =
                (struct reading){.at = (uint32_t)i,
                                 .dataset = v->dataset,
                                 .hash = v->hash,
                                 .log_s = log(v->value[FT__METRIC_TIME]),
                                 .error = v->error_s / v->value[FT__METRIC_TIME],
                                 .learned_error = INFINITY};
    }
    if (w->n)
        qsort(w->reading, w->n, sizeof(*w->reading), by_operation);
}

static void combine_all(ft__weighed *out, const struct weighing *w)
{
    for (size_t from = 0, to; from < w->n; from = to) {
        const struct reading *r = &w->reading[from];

        for (to = from + 1; to < w->n && w->reading[to].hash == r->hash &&
                            w->reading[to].dataset == r->dataset;)
            to++;
        combine(out, r, to - from);
    }
}

ft_status ft__readings_weigh(ft__weighed *out, const ft__samples *s, uint64_t seed,
                             uint32_t threads, ft_error *err)
{
    struct weighing w = {.s = s,
                         .reading = calloc(s->n + 1, sizeof(*w.reading)),
                         .held = calloc(s->n + 1, sizeof(*w.held)),
                         .say = calloc(s->n + 1, sizeof(*w.say)),
                         .row = calloc(s->n + 1, sizeof(*w.row))};
    ft_status st = w.reading && w.held && w.say && w.row
                       ? FT_OK
                       : ft_fail(err, FT_ENOMEM, 0, "%zu readings", s->n);

    for (size_t i = 0; i < s->n; i++)
        out[i] = (ft__weighed){.value_s = s->v[i].value[FT__METRIC_TIME],
                               .learned_of = true};
    if (!st)
        gather(&w);
    if (!st && w.n >= LEAST_READINGS)
        st = learn(&w, seed, threads, err);
    if (!st)
        combine_all(out, &w);
    free(w.reading);
    free(w.held);
    free(w.say);
    free(w.row);
    return st;
}
