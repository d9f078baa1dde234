/* A few measurements of a device, by which a family's answers for it are corrected. */
#include "predict/model/calibration_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "graph/op_inside.h"
#include "learn/learn_inside.h"
#include "learn/numerics.h"
#include "predict/query/op_query.h"

ft_status ft_calibration_set_read(ft_calibration_set **out, ft_store *store,
                                  ft_error *err)
{
    ft_calibration_set *k = calloc(1, sizeof(*k));
    ft_status st;

    *out = NULL;
    if (!k)
        return ft_fail(err, FT_ENOMEM, 0, "measurements");
    st = ft__samples_read(&k->s, store, NULL, NULL, err);
    if (st) {
        free(k);
        return st;
    }
    *out = k;
    return FT_OK;
}

void ft_calibration_set_free(ft_calibration_set *k)
{
    if (k)
        ft__samples_free(&k->s);
    free(k);
}

static bool is_known(const ft__sample *v, ft__metric metric)
{
    return v->value[metric] > 0 && !ft__costs_nothing(&v->op);
}

size_t ft_calibration_set_count(const ft_calibration_set *k, const char *device)
{
    size_t n = 0;

    for (size_t i = 0; i < k->s.n; i++)
        n += is_known(&k->s.v[i], FT__METRIC_TIME) &&
             (!device || strcmp(k->s.dataset[k->s.v[i].dataset].device, device) == 0);
    return n;
}

/* ---- a Gaussian process over residuals ---- */

/* Times or power predicted for a device that nobody measured, corrected by the few
 * operations that were measured on it since: a Gaussian process over log(measured /
 * answer) (Rasmussen, Williams 2006, chapter 2), whose covariance has a part that all
 * operations share, one for each kind and phase, one linear in what bounds an operation
 * (arithmetic, cache, memory, host), as rates and floors that differ from the
 * estimate's would make it, and one for operations of like size; of power also one for
 * rows that divide by the same power of two, and no answer is above the cap. Intervals
 * are those of
 * the process, scaled so that each known row predicted from the others (leave-one-out)
 * is covered. */

enum { N_SHARES = 4, N_SIZES = 5 };

/* Standard deviations of log(measured / answer), before anything was measured. */
struct scales {
    double shared, of_kind, of_share, of_size, noise;
    double octaves; /* sizes that differ by so much are independent */
    /* Where rows divide by the same power of two, of all sizes and of like ones. */
    double of_twos, of_twos_size;
};
static const struct scales of_time = {.shared = 0.2,
                                      .of_kind = 0.15,
                                      .of_share = 0.3,
                                      .of_size = 0.25,
                                      .noise = 0.1,
                                      .octaves = 3};
/* A sensor saw a loop or its idle surroundings, depending on how long the loop ran,
 * which went by round numbers of rows: power jumps where time does not. */
static const struct scales of_power = {.shared = 0.2,
                                       .of_kind = 0.15,
                                       .of_share = 0.3,
                                       .of_size = 0.25,
                                       .noise = 0.3,
                                       .octaves = 5,
                                       .of_twos = 0.4,
                                       .of_twos_size = 0.4};

struct process_point {
    uint32_t kind;          /* and phase */
    double share[N_SHARES]; /* of the estimate: what bounds the operation */
    double size[N_SIZES];   /* logarithms to base 2 */
    double twos;            /* power of two in the rows */
};

struct process {
    const struct scales *scale;
    size_t n;
    struct process_point *at;
    double *inverse;  /* of the covariance, n x n */
    double *weight;   /* that times the residuals */
    double *cross;    /* n, scratch */
    double low, high; /* in standard deviations */
};

/* Of products; counted up to the 64 that tiles are multiples of. */
static double twos_in_rows(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t rows = 1;
    int twos = 0;

    if (ft_kind_class(op->kind) != FT_CLASS_MATMUL)
        return 0;
    for (uint32_t i = 0; i + 1 < x.rank; i++)
        rows *= x.dim[i];
    for (; rows > 0 && rows % 2 == 0 && twos < 6; rows /= 2)
        twos++;
    return twos;
}

static struct process_point point_of(const ft__model_set *l, const ft__samples *s,
                                     uint32_t i)
{
    const ft__sample *v = &s->v[i];
    const ft__roof one = ft__flat_roof(1, 1, 0);
    static const uint32_t sizes[N_SIZES] = {FT__F_input_elements, FT__F_output_elements,
                                            FT__F_weight_elements, FT__F_flops,
                                            FT__F_bytes};
    float f[FT__N_FEATURES];
    struct process_point p = {.kind = (uint32_t)v->op.kind * FT_PHASE_COUNT +
                                      (uint32_t)v->op.phase,
                              .twos = twos_in_rows(&v->op)};
    ft_cost cost;
    ft__terms t;

    ft__base_terms(&l->base, &t, s, i);
    if (isfinite(t.compute_s)) {
        double share[N_SHARES] = {t.compute_s, t.cache_s, t.memory_s, t.launch_s};

        for (int k = 0; k < N_SHARES; k++)
            p.share[k] = fmin(share[k] / t.total_s, 2);
    }
    ft_op_cost(&v->op, &cost);
    ft__features(f, &v->op, &cost, &one);
    for (int k = 0; k < N_SIZES; k++)
        p.size[k] = isfinite(f[sizes[k]]) ? (double)f[sizes[k]] : 0;
    return p;
}

static double covariance(const struct scales *s, const struct process_point *a,
                         const struct process_point *b)
{
    double sum = s->shared * s->shared, d = 0, twos = a->twos - b->twos;
    double of_twos = exp(-twos * twos / 2);

    for (int k = 0; k < N_SHARES; k++)
        sum += s->of_share * s->of_share * a->share[k] * b->share[k];
    if (a->kind != b->kind)
        return sum;
    for (int k = 0; k < N_SIZES; k++)
        d += (a->size[k] - b->size[k]) * (a->size[k] - b->size[k]);
    d = exp(-d / (2 * s->octaves * s->octaves));
    return sum + s->of_kind * s->of_kind + s->of_size * s->of_size * d +
           of_twos * (s->of_twos * s->of_twos + s->of_twos_size * s->of_twos_size * d);
}

/* ---- the process ---- */

static ft_status invert(struct process *p, ft_error *err)
{
    size_t n = p->n;
    double *factor = calloc(2 * n * n, sizeof(*factor));
    bool good;

    if (!factor)
        return ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            factor[i * n + j] = covariance(p->scale, &p->at[i], &p->at[j]);
    for (size_t i = 0; i < n; i++)
        factor[i * n + i] += p->scale->noise * p->scale->noise;
    good = ft__cholesky(factor, n);
    assert(good); /* the noise sees to it */
    (void)good;
    ft__cholesky_invert(p->inverse, factor, factor + n * n, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            p->inverse[j * n + i] = p->inverse[i * n + j];
    free(factor);
    return FT_OK;
}

/* Each known row predicted from the others: its residual is weight / d, its variance 1
 * / d, d on the diagonal of the inverse (Rasmussen, Williams 5.4.2). */
static ft_status learn(struct process *p, const double *residual, ft_error *err)
{
    ft_status st = invert(p, err);

    if (st)
        return st;
    for (size_t i = 0; i < p->n; i++) {
        p->weight[i] = ft__dot(p->inverse + i * p->n, residual, p->n);
        p->cross[i] = p->weight[i] / sqrt(p->inverse[i * p->n + i]);
    }
    return ft__conformal(&p->low, &p->high, p->cross, p->n, FT__COVERAGE, err);
}

/* Nothing is above `most`. */
static void correct_answer(ft__op_answer *a, const struct process *p,
                           const struct process_point *at, double most)
{
    double noise = p->scale->noise, change, residual_scale;
    double variance = covariance(p->scale, at, at) + noise * noise;

    for (size_t i = 0; i < p->n; i++)
        p->cross[i] = covariance(p->scale, at, &p->at[i]);
    change = ft__dot(p->cross, p->weight, p->n);
    for (size_t i = 0; i < p->n; i++)
        variance -= p->cross[i] * ft__dot(p->inverse + i * p->n, p->cross, p->n);
    residual_scale = sqrt(fmax(variance, noise * noise));
    a->value = fmin(a->value * exp(change), most);
    a->low = a->value * exp(fmin(0, p->low) * residual_scale);
    a->high = fmin(a->value * exp(fmax(0, p->high) * residual_scale), most);
}

/* ---- all of it ---- */

static void process_free(struct process *p)
{
    free(p->at);
    free(p->inverse);
    free(p->weight);
    free(p->cross);
}

static ft_status process_make(struct process *p, ft__metric metric, size_t n,
                              ft_error *err)
{
    *p = (struct process){.scale = metric == FT__METRIC_POWER ? &of_power : &of_time,
                          .at = calloc(n + 1, sizeof(*p->at)),
                          .inverse = calloc(n * n + 1, sizeof(double)),
                          .weight = calloc(n + 1, sizeof(double)),
                          .cross = calloc(n + 1, sizeof(double))};
    if (p->at && p->inverse && p->weight && p->cross)
        return FT_OK;
    process_free(p);
    return ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n);
}

/* Rows that say something: measured, answered. */
static void take_residuals(struct process *p, double *residual,
                           const ft__op_answer *predicted, const ft__model_set *l,
                           const ft__samples *s, const uint32_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double r = log(s->v[row[i]].value[l->opt.metric] / predicted[i].value);

        if (!isfinite(r))
            continue;
        residual[p->n] = r;
        p->at[p->n++] = point_of(l, s, row[i]);
    }
}

/* No device takes more than its cap, as it was seen to hold it. */
static double most_of(const ft__model_set *l, const ft__samples *s, const uint32_t *row,
                      size_t n_known)
{
    const ft_device *file = s->dataset[s->v[row[0]].dataset].file;
    double most = file ? ft_device_get(file)->tdp_w : NAN;

    if (l->opt.metric != FT__METRIC_POWER || !(most > 0))
        return INFINITY;
    for (size_t i = 0; i < n_known; i++)
        most = fmax(most, s->v[row[i]].value[FT__METRIC_POWER]);
    return most;
}

/* row[n]: indices into s->v, predicted[n]: what was answered for them. The first
 * n_known were measured, at most FT__MOST_CALIBRATION count; the answers of the others
 * change. Fewer than FT__LEAST_CALIBRATION change nothing. */
static ft_status correct_answers(ft__op_answer *predicted, const ft__model_set *l,
                                 const ft__samples *s, const uint32_t *row,
                                 size_t n_known, size_t n, ft_error *err)
{
    size_t used = n_known < FT__MOST_CALIBRATION ? n_known : FT__MOST_CALIBRATION;
    double *residual = calloc(used + 1, sizeof(*residual));
    struct process p = {0};
    double most = n_known ? most_of(l, s, row, n_known) : INFINITY;
    ft_status st = FT_OK;

    if (!residual)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n_known);
    if (!st)
        st = process_make(&p, l->opt.metric, used, err);
    if (!st) {
        take_residuals(&p, residual, predicted, l, s, row, used);
        if (p.n >= FT__LEAST_CALIBRATION)
            st = learn(&p, residual, err);
    }
    for (size_t i = n_known; i < n && !st && p.n >= FT__LEAST_CALIBRATION; i++) {
        struct process_point at = point_of(l, s, row[i]);

        correct_answer(&predicted[i], &p, &at, most);
    }
    process_free(&p);
    free(residual);
    return st;
}

/* ---- correcting ---- */

struct correcting {
    ft__metric metric;
    const ft__sample **of; /* the known samples that are used */
    uint32_t n;
    ft_op *op; /* theirs, then those asked */
    ft__op_answer *predicted;
    uint32_t *row;
    ft__samples s;
};

static void correcting_free(struct correcting *c)
{
    free(c->of);
    free(c->op);
    free(c->predicted);
    free(c->row);
    free(c->s.v);
    free(c->s.dataset);
}

static ft_status correcting_make(struct correcting *c, size_t n_known, size_t n,
                                 ft_error *err)
{
    size_t all = n_known + n + 1;

    c->of = calloc(all, sizeof(ft__sample *));
    c->op = calloc(all, sizeof(*c->op));
    c->predicted = calloc(all, sizeof(*c->predicted));
    c->row = calloc(all, sizeof(*c->row));
    return c->of && c->op && c->predicted && c->row
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n_known);
}

/* Those of the dataset; where there are too many, every so manieth of them. */
static void take_known(struct correcting *c, const ft__samples *s, const ft__dataset *d)
{
    size_t n = 0, seen = 0, most;

    for (size_t i = 0; i < s->n; i++)
        n += &s->dataset[s->v[i].dataset] == d && is_known(&s->v[i], c->metric);
    most = n < FT__MOST_CALIBRATION ? n : FT__MOST_CALIBRATION;
    for (size_t i = 0; i < s->n; i++) {
        if (&s->dataset[s->v[i].dataset] != d || !is_known(&s->v[i], c->metric))
            continue;
        if (c->n < (seen + 1) * most / n) {
            c->of[c->n] = &s->v[i];
            c->op[c->n++] = s->v[i].op;
        }
        seen++;
    }
}

/* What was measured is known. */
static void take_measured(ft__op_answer *a, const struct correcting *c, const ft_op *op)
{
    const uint64_t hash = ft__op_hash(op);

    for (uint32_t i = 0; i < c->n; i++)
        if (c->of[i]->hash == hash)
            ft__answer_as_measured(a, c->of[i]->value[c->metric]);
}

static ft_status correct(struct correcting *c, ft__op_answer *predicted,
                         const ft__family *f, const ft__dataset *on, const ft_op *ops,
                         size_t n, ft_error *err)
{
    ft_status st =
        ft__family_query(c->predicted, f, c->metric, on, c->op, NULL, c->n, err);

    if (st)
        return st;
    memcpy(c->op + c->n, ops, n * sizeof(*ops));
    memcpy(c->predicted + c->n, predicted, n * sizeof(*predicted));
    for (size_t i = 0; i < c->n + n; i++)
        c->row[i] = (uint32_t)i;
    st = ft__family_samples(&c->s, f, on, c->op, c->n + n, err);
    for (uint32_t i = 0; i < c->n && !st; i++)
        c->s.v[i].value[c->metric] = c->of[i]->value[c->metric];
    if (!st)
        st = correct_answers(c->predicted, ft__family_model_set(f, c->metric, on),
                             &c->s, c->row, c->n, c->n + n, err);
    for (size_t i = 0; i < n && !st; i++) {
        if (!predicted[i].measured)
            predicted[i] = c->predicted[c->n + i];
        take_measured(&predicted[i], c, &ops[i]);
    }
    return st;
}

ft_status ft__calibration_set_correct(ft__op_answer *predicted, uint32_t *n_used,
                                      const ft__family *f, ft__metric metric,
                                      const ft_calibration_set *known,
                                      const ft__dataset *d, const ft__dataset *on,
                                      const ft_op *ops, size_t n, ft_error *err)
{
    struct correcting c = {.metric = metric};
    ft_status st;

    *n_used = 0;
    if (!d)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "what was measured of %s was so at other clocks or under "
                       "another cap: ask for those (--clock, --memory-clock, "
                       "--power-cap)",
                       on->device);
    st = correcting_make(&c, d->n, n, err);
    if (!st) {
        take_known(&c, &known->s, d);
        st = correct(&c, predicted, f, on, ops, n, err);
    }
    *n_used = st ? 0 : c.n;
    correcting_free(&c);
    return st;
}
