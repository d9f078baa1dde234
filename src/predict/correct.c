#include "predict/correct.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "learn/cholesky.h"

enum { N_SHARES = 4, N_SIZES = 5 };

/* Standard deviations of log(time / answer), before anything was measured. */
static const double shared = 0.2, of_kind = 0.15, of_share = 0.3, of_size = 0.25,
                    noise = 0.1;
static const double octaves = 3; /* sizes that differ by so much are strangers */

struct point {
    uint32_t kind;          /* and phase */
    double share[N_SHARES]; /* of the estimate: what bounds the operation */
    double size[N_SIZES];   /* logarithms to base 2 */
};

struct process {
    size_t n;
    struct point *at;
    double *inverse;  /* of the covariance, n x n */
    double *weight;   /* that times the residuals */
    double *cross;    /* n, scratch */
    double low, high; /* in standard deviations */
};

static struct point point_of(const ft__learner *l, const ft__samples *s, uint32_t i)
{
    const ft__sample *v = &s->v[i];
    const ft__roof one = ft__flat_roof(1, 1, 0);
    static const uint32_t sizes[N_SIZES] = {FT__F_input_elements, FT__F_output_elements,
                                            FT__F_weight_elements, FT__F_flops,
                                            FT__F_bytes};
    float f[FT__N_FEATURES];
    struct point p = {
        (uint32_t)v->op.kind * FT_PHASE_COUNT + (uint32_t)v->op.phase, {0}, {0}};
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

static double covariance(const struct point *a, const struct point *b)
{
    double sum = shared * shared, d = 0;

    for (int k = 0; k < N_SHARES; k++)
        sum += of_share * of_share * a->share[k] * b->share[k];
    if (a->kind != b->kind)
        return sum;
    for (int k = 0; k < N_SIZES; k++)
        d += (a->size[k] - b->size[k]) * (a->size[k] - b->size[k]);
    return sum + of_kind * of_kind +
           of_size * of_size * exp(-d / (2 * octaves * octaves));
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
            factor[i * n + j] = covariance(&p->at[i], &p->at[j]);
    for (size_t i = 0; i < n; i++)
        factor[i * n + i] += noise * noise;
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

/* Each known row told from the others: its residual is weight / d, its variance 1 / d,
 * d on the diagonal of the inverse (Rasmussen, Williams 5.4.2). */
static ft_status learn(struct process *p, const double *residual, ft_error *err)
{
    ft_status st = invert(p, err);

    if (st)
        return st;
    for (size_t i = 0; i < p->n; i++) {
        p->weight[i] = ft__dot(p->inverse + i * p->n, residual, p->n);
        p->cross[i] = p->weight[i] / sqrt(p->inverse[i * p->n + i]);
    }
    return ft_conformal(&p->low, &p->high, p->cross, p->n, 0.9, err);
}

static void correct(ft__answer *a, const struct process *p, const struct point *at)
{
    double change, variance = covariance(at, at) + noise * noise, spread;

    for (size_t i = 0; i < p->n; i++)
        p->cross[i] = covariance(at, &p->at[i]);
    change = ft__dot(p->cross, p->weight, p->n);
    for (size_t i = 0; i < p->n; i++)
        variance -= p->cross[i] * ft__dot(p->inverse + i * p->n, p->cross, p->n);
    spread = sqrt(fmax(variance, noise * noise));
    a->value *= exp(change);
    a->low = a->value * exp(fmin(0, p->low) * spread);
    a->high = a->value * exp(fmax(0, p->high) * spread);
}

/* ---- all of it ---- */

static void process_free(struct process *p)
{
    free(p->at);
    free(p->inverse);
    free(p->weight);
    free(p->cross);
}

static ft_status process_make(struct process *p, size_t n, ft_error *err)
{
    *p = (struct process){.at = calloc(n + 1, sizeof(*p->at)),
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
        double r = log(s->v[row[i]].value[FT__METRIC_TIME] / said[i].value);

        if (!isfinite(r))
            continue;
        residual[p->n] = r;
        p->at[p->n++] = point_of(l, s, row[i]);
    }
}

ft_status ft__correct_answers(ft__answer *said, const ft__learner *l,
                              const ft__samples *s, const uint32_t *row, size_t n_known,
                              size_t n, ft_error *err)
{
    size_t used = n_known < FT__MOST_KNOWN ? n_known : FT__MOST_KNOWN;
    double *residual = calloc(used + 1, sizeof(*residual));
    struct process p = {0};
    ft_status st = FT_OK;

    if (!residual)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n_known);
    if (!st)
        st = process_make(&p, used, err);
    if (!st) {
        take_known(&p, residual, said, l, s, row, used);
        if (p.n >= FT__LEAST_KNOWN)
            st = learn(&p, residual, err);
    }
    for (size_t i = n_known; i < n && !st && p.n >= FT__LEAST_KNOWN; i++) {
        struct point at = point_of(l, s, row[i]);

        correct(&said[i], &p, &at);
    }
    process_free(&p);
    free(residual);
    return st;
}
