/* Ridge regression (Hoerl, Kennard 1970): the least of
 *   sum of w (y - a - u b)^2 + penalty |b|^2
 * over standardised columns u, by the normal equations, which the penalty keeps
 * positive definite. */
#include <math.h>
#include <stdlib.h>

#include "base/solve.h"
#include "learn/training_set.h"

/* The body of an image; columns and slopes of n of each follow. */
struct ridge {
    double intercept;
    uint32_t n, zero;
};

static const ft__column *columns(const struct ridge *r)
{
    return (const ft__column *)(r + 1);
}

static const double *slopes(const struct ridge *r)
{
    return (const double *)(columns(r) + r->n);
}

/* a[n x n] += sum of w u' u, the lower triangle; b[n] += sum of w u (y - mean). */
static void normal_equations(double *a, double *b, const ft__training_set *l)
{
    const uint32_t n = l->n_cols;

    for (uint32_t i = 0; i < l->n_rows; i++) {
        const float *u = l->u + (size_t)i * n;

        for (uint32_t j = 0; j < n; j++) {
            const double v = l->w[i] * (double)u[j];
            double *row = a + (size_t)j * n;

            for (uint32_t k = 0; k <= j; k++)
                row[k] += v * (double)u[k];
            b[j] += v * (l->y[i] - l->mean);
        }
    }
}

static ft_status write_body(ft__draft *out, const ft__training_set *l, const double *b,
                            ft_error *err)
{
    const uint32_t n = l->n_cols;
    struct ridge *r =
        ft__draft_body(out, sizeof(*r) + n * (sizeof(*l->column) + sizeof(*b)));
    ft__column *c;
    double *slope;

    if (!r)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a linear model");
    r->intercept = l->mean;
    r->n = n;
    c = (ft__column *)(r + 1);
    slope = (double *)(c + n);
    for (uint32_t j = 0; j < n; j++) {
        c[j] = l->column[j];
        slope[j] = b[j] * c[j].scale;
    }
    return FT_OK;
}

static ft_status ridge_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    const double penalty = ft__or(t->opt->penalty, 1);
    double *a = NULL, *b = NULL;
    ft__training_set l;
    ft_status st = ft__training_set_new(&l, t, err);

    if (st)
        return st;
    a = calloc((size_t)l.n_cols * l.n_cols + 1, sizeof(*a));
    b = calloc((size_t)l.n_cols + 1, sizeof(*b));
    if (!a || !b) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for %u equations", l.n_cols);
        goto done;
    }
    normal_equations(a, b, &l);
    for (uint32_t j = 0; j < l.n_cols; j++)
        a[(size_t)j * l.n_cols + j] += penalty;
    if (!ft__solve(a, b, (int)l.n_cols))
        st = ft_fail(err, FT_EINVAL, 0,
                     "columns depend on each other too closely for a penalty of %g",
                     penalty);
    else
        st = write_body(out, &l, b, err);
done:
    free(a);
    free(b);
    ft__training_set_free(&l);
    return st;
}

static ft_status ridge_open(ft__learn_model *m, ft_error *err)
{
    const struct ridge *r = m->body;
    ft_status st;

    if (m->len < sizeof(*r) || r->n >= m->len ||
        m->len != sizeof(*r) + r->n * (sizeof(ft__column) + sizeof(double)))
        return ft__model_damaged(m, m->body, err, "%zu bytes", m->len);
    st = ft__columns_check(m, columns(r), r->n, err);
    for (uint32_t j = 0; !st && j < r->n; j++)
        if (!isfinite(slopes(r)[j]))
            st =
                ft__model_damaged(m, &slopes(r)[j], err, "a slope is %g", slopes(r)[j]);
    if (!st && !isfinite(r->intercept))
        st = ft__model_damaged(m, r, err, "the intercept is %g", r->intercept);
    return st;
}

static double predict_row(const struct ridge *r, const float *row)
{
    const ft__column *c = columns(r);
    const double *slope = slopes(r);
    double sum = r->intercept;

    for (uint32_t j = 0; j < r->n; j++) {
        const float v = row[c[j].col];

        sum += slope[j] * ((double)(isnan(v) ? c[j].fill : v) - c[j].mean);
    }
    return sum;
}

static void ridge_predict(const ft__learn_model *m, const float *rows, size_t n,
                          double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = predict_row(m->body, rows + i * m->head->width);
}

const ft__method_ops ft__method_ridge = {NULL, ridge_fit, ridge_open, ridge_predict};
