/* Latencies of a run -> their mean and percentiles. */
#include <math.h>
#include <stdlib.h>

#include "serve/serve.h"

static int by_value(const void *a, const void *b)
{
    const double x = ((const ft__serve_latency *)a)->s,
                 y = ((const ft__serve_latency *)b)->s;

    return (x > y) - (x < y);
}

void ft__serve_points(double out[FT_SERVE_POINT_COUNT], ft__serve_latency *v, size_t n)
{
    static const double share[FT_SERVE_POINT_COUNT] = {[FT_SERVE_P50] = 0.5,
                                                       [FT_SERVE_P90] = 0.9,
                                                       [FT_SERVE_P95] = 0.95,
                                                       [FT_SERVE_P99] = 0.99};
    double all = 0, sum = 0, seen = 0;
    int p = FT_SERVE_P50;

    for (int i = 0; i < FT_SERVE_POINT_COUNT; i++)
        out[i] = NAN;
    if (n)
        qsort(v, n, sizeof(*v), by_value);
    for (size_t i = 0; i < n; i++) {
        all += v[i].count;
        sum += v[i].s * v[i].count;
    }
    out[FT_SERVE_MEAN] = n ? sum / all : NAN;
    for (size_t i = 0; i < n; i++) {
        seen += v[i].count;
        while (p < FT_SERVE_POINT_COUNT && seen >= share[p] * all * (1 - 1e-12))
            out[p++] = v[i].s;
    }
}
