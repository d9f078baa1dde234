/* From which duration on is the time of a batch proportional to its iterations? */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "graph/graph_inside.h"
#include "measure/op_job.h"

/* Weighted least squares of t = slope n + offset over points from..to, each
 * with the same relative error. */
static void fit_line(ft_linearity *l, size_t from)
{
    double sw = 0, swx = 0, swy = 0, swxx = 0, swxy = 0, det, sum = 0;

    for (size_t i = from; i < l->n; i++) {
        double x = (double)l->iterations[i], y = l->duration_s[i], w = 1 / (y * y);

        sw += w;
        swx += w * x;
        swy += w * y;
        swxx += w * x * x;
        swxy += w * x * y;
    }
    det = sw * swxx - swx * swx;
    l->slope_s = (sw * swxy - swx * swy) / det;
    l->offset_s = (swxx * swy - swx * swxy) / det;
    for (size_t i = 0; i < l->n; i++) {
        double line = l->slope_s * (double)l->iterations[i];

        l->deviation[i] = (l->duration_s[i] - line) / line;
        if (i >= from)
            sum += pow((l->duration_s[i] - line - l->offset_s) / l->duration_s[i], 2);
    }
    l->sigma = sqrt(sum / (double)(l->n - from - 2));
}

ft_status ft_measure_linearity(ft_linearity *out, ft_session *s, const ft_op *op,
                               ft_error *err)
{
    enum { STEPS = 18, REPEATS = 7 };
    ft__op_job *j;
    ft__job job;
    uint64_t n = 1, done = 0;
    ft_op low = *op;
    ft_status st;

    memset(out, 0, sizeof(*out));
    ft__op_lower(&low, s->engine->policy);
    st = ft__op_job_make(&j, s, &low, 1, err);
    if (st)
        return st;
    job = ft__op_job_get(j);
    for (int i = 0; i < 3 && !st; i++)
        st = ft__run_batch(&(double){0}, &job, done++, 1, err);
    /* Powers of two up to a quarter of a second; the median of several. */
    for (; out->n < STEPS && !st; n *= 2) {
        double t[REPEATS];

        for (int i = 0; i < REPEATS && !st; i++, done += n)
            st = ft__run_batch(&t[i], &job, done, n, err);
        if (st)
            break;
        out->duration_s[out->n] = ft__median(t, REPEATS);
        out->iterations[out->n] = n;
        if (out->duration_s[out->n++] > 0.25 / REPEATS)
            break;
    }
    if (!st && out->n < 8)
        st = ft_fail(err, FT_EINVAL, 0,
                     "one iteration takes too long to look for the floor");
    if (!st) {
        fit_line(out, out->n / 2);
        out->floor_s = out->duration_s[out->n - 1];
        for (size_t i = out->n; i-- > 0;) {
            if (fabs(out->deviation[i]) > 5 * fmax(out->sigma, 0.002))
                break;
            out->floor_s = out->duration_s[i];
        }
    }
    ft__op_job_free(j);
    return st;
}
