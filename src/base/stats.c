/* Mean, deviation, quantiles of arrays of doubles. */
#include "base/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void ft__sort(double *v, size_t n)
{
    if (n > 1)
        qsort(v, n, sizeof(*v), ascending);
}

double ft__mean(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / (double)n : NAN;
}

double ft__std(const double *v, size_t n)
{
    double mean = ft__mean(v, n), sum = 0;

    if (n < 2)
        return n ? 0 : NAN;
    for (size_t i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sqrt(sum / (double)(n - 1));
}

double ft__quantile(const double *sorted, size_t n, double q)
{
    double at;
    size_t i;

    if (n == 0)
        return NAN;
    at = q * (double)(n - 1);
    i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double ft__median(double *v, size_t n)
{
    ft__sort(v, n);
    return ft__quantile(v, n, 0.5);
}

double ft__mad(double *v, size_t n, double centre)
{
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - centre);
    return 1.4826 * ft__median(v, n);
}

double ft__student(size_t n)
{
    /* 95 %, of 1, 2, ... degrees of freedom. */
    static const double student[FT__STUDENT_ROWS] = {
        6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833,
        1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734};

    assert(n > 0);
    return student[(n < FT__STUDENT_ROWS ? n : FT__STUDENT_ROWS) - 1];
}

/* How much wider than a normal distribution's the interval of few values is. */
static double few(size_t n)
{
    return n > FT__STUDENT_ROWS ? 1 + 1.14 / (double)n : ft__student(n - 1) / FT__Z90;
}

double ft__median_error(const double *v, size_t n, double centre)
{
    double sum = 0;

    if (n < 2)
        return NAN;
    for (size_t i = 0; i < n; i++)
        sum += (v[i] - centre) * (v[i] - centre);
    /* A median scatters by sqrt(pi/2) more than a mean. */
    return few(n) * sqrt(1.5707963267948966 * sum / (double)(n - 1) / (double)n);
}
