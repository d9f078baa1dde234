/* Over several networks that were validated: error figures, and the kinds of operations
 * that explain differences. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "foretell/validate.h"
#include "learn/learn_inside.h"

ft_status ft_validated_errors(ft_errors *out, const ft_validated *v, size_t n,
                              ft_quantity q, ft_estimator e, ft_error *err)
{
    double *measured = calloc(2 * n + 1, sizeof(*measured));
    double *estimate = measured ? measured + n : NULL;
    size_t m = 0;
    ft_status st;

    if (!measured)
        return ft_fail(err, FT_ENOMEM, 0, "error figures");
    for (size_t i = 0; i < n; i++) {
        double x = v[i].measured[q].value;
        double y = e == FT_ESTIMATOR_SUM ? v[i].sum[q].value : v[i].predicted[q].value;

        if (!isfinite(x) || !isfinite(y))
            continue;
        measured[m] = x;
        estimate[m++] = y;
    }
    st = ft__errors_compute(out, measured, estimate, m, 0, err);
    free(measured);
    return st;
}

enum { LEAST_NETWORKS = 3, SWEEPS = 2000 };
/* (relative error of a network's time / standard deviation of factors about 1)^2 */
static const double ridge = 0.02 / 0.1 * (0.02 / 0.1);

static size_t effect_of(ft_kind_effect *e, size_t *n, const ft_kind_sum *s)
{
    for (size_t i = 0; i < *n; i++)
        if (e[i].kind == s->kind && e[i].phase == s->phase)
            return i;
    e[*n] = (ft_kind_effect){
        .kind = s->kind, .phase = s->phase, .factor = NAN, .effect = NAN};
    return (*n)++;
}

static bool is_known(const ft_validated *v)
{
    return v->measured[FT_QUANTITY_TIME].value > 0 &&
           v->sum[FT_QUANTITY_TIME].value > 0;
}

static size_t find_kinds(ft_kind_effect *e, const ft_validated *v, size_t n)
{
    size_t n_kinds = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; is_known(&v[i]) && j < v[i].n_kinds; j++) {
            ft_kind_effect *k = &e[effect_of(e, &n_kinds, &v[i].kind[j])];

            k->n_networks++;
            k->share +=
                v[i].kind[j].time_s / v[i].sum[FT_QUANTITY_TIME].value / (double)n;
        }
    return n_kinds;
}

/* s[network * n_kinds + kind]: parts of the measured time. */
static void fill_shares(double *s, ft_kind_effect *e, size_t n_kinds,
                        const ft_validated *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; is_known(&v[i]) && j < v[i].n_kinds; j++)
            s[i * n_kinds + effect_of(e, &n_kinds, &v[i].kind[j])] =
                v[i].kind[j].time_s / v[i].measured[FT_QUANTITY_TIME].value;
}

/* Best factor of kind k when the others stand. */
static double best_factor(const double *s, const double *left, size_t n, size_t n_kinds,
                          size_t k, const ft_kind_effect *e)
{
    double above = ridge * e[k].share, below = above, now = e[k].factor;

    for (size_t i = 0; i < n; i++) {
        double x = s[i * n_kinds + k];

        above += x * (left[i] + x * now);
        below += x * x;
    }
    return fmax(0, above / below);
}

/* Coordinate descent; the objective is strictly convex. left[i] = 1 - sum f s. */
static void fit_factors(ft_kind_effect *e, size_t n_kinds, const double *s,
                        double *left, size_t n)
{
    for (size_t k = 0; k < n_kinds; k++)
        e[k].factor = 1;
    for (size_t i = 0; i < n; i++) {
        left[i] = 1;
        for (size_t k = 0; k < n_kinds; k++)
            left[i] -= s[i * n_kinds + k];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t k = 0; k < n_kinds; k++) {
            double f = best_factor(s, left, n, n_kinds, k, e);

            for (size_t i = 0; i < n; i++)
                left[i] -= (f - e[k].factor) * s[i * n_kinds + k];
            e[k].factor = f;
        }
    for (size_t k = 0; k < n_kinds; k++) {
        e[k].effect = 0;
        for (size_t i = 0; i < n; i++)
            e[k].effect += (e[k].factor - 1) * s[i * n_kinds + k] / (double)n;
    }
}

static int by_effect(const void *a, const void *b)
{
    const ft_kind_effect *x = a, *y = b;
    double p = isnan(x->effect) ? x->share : fabs(x->effect);
    double q = isnan(y->effect) ? y->share : fabs(y->effect);

    return (p < q) - (p > q);
}

ft_status ft_validated_kinds(ft_kind_effect **out, size_t *n_out, const ft_validated *v,
                             size_t n, ft_error *err)
{
    ft_validated *known = calloc(n + 1, sizeof(*known)); /* borrowed copies */
    size_t m = 0, most = 1;
    double *s = NULL;

    *out = NULL;
    *n_out = 0;
    for (size_t i = 0; known && i < n; i++)
        if (is_known(&v[i])) {
            known[m++] = v[i];
            most += v[i].n_kinds;
        }
    *out = calloc(most, sizeof(**out));
    if (known && *out)
        *n_out = find_kinds(*out, known, m);
    s = calloc((m + 1) * (*n_out + 1), sizeof(*s));
    if (!known || !*out || !s) {
        free(known);
        free(*out);
        free(s);
        *out = NULL;
        return ft_fail(err, FT_ENOMEM, 0, "kinds");
    }
    fill_shares(s, *out, *n_out, known, m);
    if (m >= LEAST_NETWORKS)
        fit_factors(*out, *n_out, s, s + m * *n_out, m);
    qsort(*out, *n_out, sizeof(**out), by_effect);
    free(known);
    free(s);
    return FT_OK;
}
