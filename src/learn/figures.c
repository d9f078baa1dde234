#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "foretell/learn.h"
#include "learn/learn_inside.h"

static ft_status check_finite(const double *v, size_t n, const char *what,
                              ft_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return ft_fail(err, FT_EINVAL, 0, "%s %zu is %g: leave such rows out", what,
                           i, v[i]);
    return FT_OK;
}

static void absolute(ft_errors *e, const double *measured, const double *predicted,
                     size_t n, size_t n_features, double *ae)
{
    const double mean = ft__mean(measured, n);
    double residual = 0, total = 0;

    for (size_t i = 0; i < n; i++) {
        const double r = measured[i] - predicted[i], t = measured[i] - mean;

        residual += r * r;
        total += t * t;
        ae[i] = fabs(r);
    }
    if (total > 0)
        e->r2 = 1 - residual / total;
    if (n > n_features + 1)
        e->adjusted_r2 =
            1 - (1 - e->r2) * (double)(n - 1) / (double)(n - n_features - 1);
    e->mae = ft__mean(ae, n);
    e->median_ae = ft__median(ae, n);
    e->max_ae = ae[n - 1];
}

static void relative(ft_errors *e, const double *measured, const double *predicted,
                     size_t n, double *ape)
{
    size_t m = 0, close = 0;
    double bias = 0;

    for (size_t i = 0; i < n; i++) {
        const double r = (predicted[i] - measured[i]) / measured[i];

        if (measured[i] == 0)
            continue;
        bias += r;
        close += fabs(r) <= 0.10;
        ape[m++] = fabs(r);
    }
    if (m == 0)
        return;
    e->bias = bias / (double)m;
    e->within_10 = (double)close / (double)m;
    e->mape = ft__mean(ape, m);
    e->median_ape = ft__median(ape, m);
    e->p90_ape = ft__quantile(ape, m, 0.9);
    e->max_ape = ape[m - 1];
}

ft_status ft__errors_compute(ft_errors *out, const double *measured,
                             const double *predicted, size_t n, size_t n_features,
                             ft_error *err)
{
    ft_status st;
    double *scratch;

    *out = (ft_errors){n, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    st = check_finite(measured, n, "truth", err);
    if (!st)
        st = check_finite(predicted, n, "prediction", err);
    if (st || n == 0)
        return st;
    scratch = calloc(n, sizeof(*scratch));
    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu errors", n);
    absolute(out, measured, predicted, n, n_features, scratch);
    relative(out, measured, predicted, n, scratch);
    free(scratch);
    return FT_OK;
}

ft_status ft__conformal(double *low, double *high, const double *residuals, size_t n,
                        double coverage, ft_error *err)
{
    const double tail = (1 - coverage) / 2, rank = tail * ((double)n + 1);
    size_t below;
    double *sorted;
    ft_status st;

    *low = *high = NAN;
    if (!(coverage > 0 && coverage < 1))
        return ft_fail(err, FT_EINVAL, 0, "coverage %g is not between 0 and 1",
                       coverage);
    if (n == 0)
        return ft_fail(err, FT_EINVAL, 0, "no residuals to take an interval from");
    st = check_finite(residuals, n, "residual", err);
    if (st)
        return st;
    sorted = calloc(n, sizeof(*sorted));
    if (!sorted)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu residuals", n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = residuals[i];
    ft__sort(sorted, n);
    /* The floor(rank)-th from either end; the hair keeps an exact rank exact
     * when (1 - coverage) / 2 is not. */
    below = (size_t)(rank * (1 + 1e-12));
    *low = sorted[below ? below - 1 : 0];
    *high = sorted[below ? n - below : n - 1];
    free(sorted);
    return FT_OK;
}
