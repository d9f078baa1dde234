/* A regressor that was fitted, or read from a file: its answers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "learn/learn_inside.h"
#include "predict/model/fit.h"

void ft__fit_share_tails(ft__fit *const *fit, size_t n_fits, double low, double high)
{
    for (size_t i = 0; i < n_fits; i++) {
        double own = (double)fit[i]->n_rows / ((double)fit[i]->n_rows + FT__EVEN_ROWS);

        fit[i]->low = own * fit[i]->low + (1 - own) * low;
        fit[i]->high = own * fit[i]->high + (1 - own) * high;
    }
}

void ft__fit_shrink(ft__fit *f, double share)
{
    for (uint32_t k = 0; k < f->n_models; k++)
        f->weight[k] *= share;
    if (!f->n_models)
        f->centre *= share;
    if (share < 1) {
        size_t len = strlen(f->choice);

        snprintf(f->choice + len, sizeof(f->choice) - len, ", x %g", share);
    }
}

double ft__fit_least(double typical)
{
    /* No sensor tells less apart. */
    const double nothing = 0.0005;

    return typical < FT__LEAST_RESIDUAL_SCALE ? fmax(nothing, typical / 3)
                                              : FT__LEAST_RESIDUAL_SCALE;
}

void ft__fit_predict(const ft__fit *f, const float *rows, size_t n, double *value,
                     double *residual_scale, double *scratch)
{
    for (size_t i = 0; i < n; i++) {
        value[i] = f->n_models ? 0 : f->centre;
        residual_scale[i] = f->typical;
    }
    for (uint32_t k = 0; k < f->n_models; k++) {
        ft__model_predict(f->model[k], rows, n, scratch);
        for (size_t i = 0; i < n; i++)
            value[i] += f->weight[k] * scratch[i];
    }
    if (!f->residual_scale)
        return;
    ft__model_predict(f->residual_scale, rows, n, residual_scale);
    for (size_t i = 0; i < n; i++)
        residual_scale[i] = fmax(0, residual_scale[i]) + f->least;
}

size_t ft__fit_bytes(const ft__fit *f)
{
    size_t len = 0, sum = 0;

    for (uint32_t k = 0; k < f->n_models; k++) {
        ft__model_image(f->model[k], &len);
        sum += len;
    }
    if (f->residual_scale) {
        ft__model_image(f->residual_scale, &len);
        sum += len;
    }
    return sum;
}

void ft__fit_free(ft__fit *f)
{
    for (uint32_t k = 0; k < FT__MAX_MIXED; k++)
        ft__model_free(f->model[k]);
    ft__model_free(f->residual_scale);
    *f = (ft__fit){0};
}
