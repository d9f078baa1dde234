#include "predict/model/few_shot.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "learn/cholesky.h"
#include "learn/learn_inside.h"

enum { N_SHARES = 4, N_SIZES = 5 };

/* Standard deviations of log(truth / answer), before anything was measured. */
struct scales {
    double shared, of_kind, of_share, of_size, noise;
    double octaves; /* sizes that differ by so much are strangers */
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

struct point {
    uint32_t kind;          /* and phase */
    double share[N_SHARES]; /* of the estimate: what bounds the operation */
    double size[N_SIZES];   /* logarithms to base 2 */
    double twos;            /* power of two in the rows */
};

struct process {
    const struct scales *scale;
    size_t n;
    struct point *at;
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

static struct point point_of(const ft__learner *l, const ft__samples *s, uint32_t i)
{
    const ft__sample *v = &s->v[i];
    const ft__roof one = ft__flat_roof(1, 1, 0);
    static const uint32_t sizes[N_SIZES] = {FT__F_input_elements, FT__F_output_elements,
                                            FT__F_weight_elements, FT__F_flops,
                                            FT__F_bytes};
    float f[FT__N_FEATURES];
    struct point p = {.kind =
                          (uint32_t)v->op.kind * FT_PHASE_COUNT + (uint32_t)v->op.phase,
                      .twos = twos_in_rows(&v->op)};
    ft__terms t;

    ft__base_terms(&l->base, &t, s, i);
    if (isfinite(t.compute_s)) {
        double share[N_SHARES] = {t.compute_s, t.cache_s, t.memory_s, t.launch_s};

        for (int k = 0; k < N_SHARES; k++)
            p.share[k] = fmin(share[k] / t.total_s, 2);
    }
    ft__features(f, &v->op, &one);
    for (int k = 0; k < N_SIZES; k++)
        p.size[k] = isfinite(f[sizes[k]]) ? (double)f[sizes[k]] : 0;
    return p;
}

static double covariance(const struct scales *s, const struct point *a,
                         const struct point *b)
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
    return ft__conformal(&p->low, &p->high, p->cross, p->n, 0.9, err);
}

/* Nothing is above `most`. */
static void correct(ft__answer *a, const struct process *p, const struct point *at,
                    double most)
{
    double noise = p->scale->noise, change, spread;
    double variance = covariance(p->scale, at, at) + noise * noise;

    for (size_t i = 0; i < p->n; i++)
        p->cross[i] = covariance(p->scale, at, &p->at[i]);
    change = ft__dot(p->cross, p->weight, p->n);
    for (size_t i = 0; i < p->n; i++)
        variance -= p->cross[i] * ft__dot(p->inverse + i * p->n, p->cross, p->n);
    spread = sqrt(fmax(variance, noise * noise));
    a->value = fmin(a->value * exp(change), most);
    a->low = a->value * exp(fmin(0, p->low) * spread);
    a->high = fmin(a->value * exp(fmax(0, p->high) * spread), most);
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
static void take_known(struct process *p, double *residual, const ft__answer *said,
                       const ft__learner *l, const ft__samples *s, const uint32_t *row,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double r = log(s->v[row[i]].value[l->opt.metric] / said[i].value);

        if (!isfinite(r))
            continue;
        residual[p->n] = r;
        p->at[p->n++] = point_of(l, s, row[i]);
    }
}

/* No device takes more than its cap, as it was seen to hold it. */
static double most_of(const ft__learner *l, const ft__samples *s, const uint32_t *row,
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

ft_status ft__correct_answers(ft__answer *said, const ft__learner *l,
                              const ft__samples *s, const uint32_t *row, size_t n_known,
                              size_t n, ft_error *err)
{
    size_t used = n_known < FT__MOST_KNOWN ? n_known : FT__MOST_KNOWN;
    double *residual = calloc(used + 1, sizeof(*residual));
    struct process p = {0};
    double most = n_known ? most_of(l, s, row, n_known) : INFINITY;
    ft_status st = FT_OK;

    if (!residual)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n_known);
    if (!st)
        st = process_make(&p, l->opt.metric, used, err);
    if (!st) {
        take_known(&p, residual, said, l, s, row, used);
        if (p.n >= FT__LEAST_KNOWN)
            st = learn(&p, residual, err);
    }
    for (size_t i = n_known; i < n && !st && p.n >= FT__LEAST_KNOWN; i++) {
        struct point at = point_of(l, s, row[i]);

        correct(&said[i], &p, &at, most);
    }
    process_free(&p);
    free(residual);
    return st;
}
