/* For bench/trees, which loads it into Python: what compiled peers take for one row
 * after the other, called from C as a program would. Seconds a row; -1: it failed. */
#include <stdint.h>
#include <stdlib.h>

#include "cpu_time.h"

/* What TL2cgen makes of a Treelite model takes a row as values with room to say that
 * one is missing. */
union entry {
    int missing;
    double value;
    int rank;
};

typedef int lightgbm_row(void *config, const void *x, int64_t *len, double *out);
typedef void lleaves_rows(double *x, double *out, int first, int end);
typedef void treelite_row(union entry *x, int margin, double *out);

double rows_lightgbm(lightgbm_row *predict, void *config, const double *x, int n,
                     int cols, double *out);
double rows_lleaves(lleaves_rows *predict, double *x, int n, int cols, double *out);
double rows_treelite(treelite_row *predict, const double *x, int n, int cols,
                     double *out);

/* LGBM_BoosterPredictForMatSingleRowFast */
double rows_lightgbm(lightgbm_row *predict, void *config, const double *x, int n,
                     int cols, double *out)
{
    const double began = cpu_s();

    for (int i = 0; i < n; i++) {
        int64_t len;

        if (predict(config, x + (size_t)i * (size_t)cols, &len, out + i))
            return -1;
    }
    return (cpu_s() - began) / n;
}

double rows_lleaves(lleaves_rows *predict, double *x, int n, int cols, double *out)
{
    const double began = cpu_s();

    for (int i = 0; i < n; i++)
        predict(x + (size_t)i * (size_t)cols, out + i, 0, 1);
    return (cpu_s() - began) / n;
}

/* To write a row as it wants it is a part of predicting. */
double rows_treelite(treelite_row *predict, const double *x, int n, int cols,
                     double *out)
{
    union entry *row = calloc((size_t)cols, sizeof(*row));
    const double began = cpu_s();

    if (!row)
        return -1;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < cols; k++)
            row[k].value = x[(size_t)i * (size_t)cols + (size_t)k];
        out[i] = 0;
        predict(row, 0, out + i);
    }
    free(row);
    return (cpu_s() - began) / n;
}
