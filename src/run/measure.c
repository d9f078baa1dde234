/* The measuring loop: batches of iterations, every batch time kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "run/op_job.h"

enum { MAX_READINGS = 1 << 16 };

static const double default_time_s = 0.2;
static const double default_batch_s = 1e-3;
static const uint32_t default_batches = 5;

void ft_timing_free(ft_timing *t)
{
    free(t->readings);
    t->readings = NULL;
}

ft_status ft_measurement_of_times(ft_measurement *out, const ft_reading *r, size_t n,
                                  ft_error *err)
{
    double *v = calloc(n + 1, sizeof(*v));

    *out = (ft_measurement){.unit = "s", .n = n};
    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", n);
    for (size_t i = 0; i < n; i++) {
        v[i] = r[i].value / (double)r[i].iterations;
        out->iterations += r[i].iterations;
    }
    out->mean = ft__mean(v, n);
    out->std = ft__std(v, n);
    out->value = ft__median(v, n);
    out->mad = ft__mad(v, n, out->value);
    /* Standard error of a median of normal values: sigma sqrt(pi / 2n). */
    out->error = n ? out->mad * sqrt(1.5707963267948966 / (double)n) : NAN;
    free(v);
    return FT_OK;
}

ft_status ft__run_batch(double *seconds, const ft__job *job, uint64_t first, uint64_t n,
                        ft_error *err)
{
    const ft_engine *e = job->session->engine;
    double t0 = e->now(job->session->context);
    ft_status st = FT_OK;

    for (uint64_t i = 0; i < n && !st; i++)
        st = job->run(job->self, first + i, err);
    if (!st)
        st = e->sync(job->session->context, err);
    *seconds = e->now(job->session->context) - t0;
    return st;
}

/* Run for warmup_s and find how many iterations take batch_s. */
static ft_status warm_up(uint64_t *per_batch, uint64_t *done, const ft__job *job,
                         double warmup_s, double batch_s, ft_error *err)
{
    double spent = 0, t = 0;
    uint64_t n = 1;

    *done = 0;
    for (;;) {
        ft_status st = ft__run_batch(&t, job, *done, n, err);

        if (st)
            return st;
        *done += n;
        spent += t;
        if (t >= batch_s) {
            double fit = ceil((double)n * batch_s / t);

            *per_batch = fit < 1 ? 1 : (uint64_t)fit;
            if (spent >= warmup_s)
                return FT_OK;
        } else {
            /* Grow towards the target, at most tenfold a step: the first
             * iterations are slow and mislead. */
            double want = t > 0 ? 1.2 * (double)n * batch_s / t : 10.0 * (double)n;

            n = (uint64_t)fmin(want, 10.0 * (double)n) + 1;
        }
    }
}

ft_status ft__measure_job(ft_measurement *time, ft_reading **readings, size_t *n,
                          const ft__job *job, const ft_measure_options *opt,
                          ft_error *err)
{
    double min_time = opt->min_time_s > 0 ? opt->min_time_s : default_time_s;
    double warmup = opt->warmup_s > 0 ? opt->warmup_s : min_time / 10;
    double batch = opt->batch_time_s > 0 ? opt->batch_time_s : default_batch_s;
    uint32_t batches = opt->min_batches ? opt->min_batches : default_batches;
    double spent = 0;
    uint64_t per_batch, done;
    size_t cap = 0;
    ft_status st;

    *readings = NULL;
    *n = 0;
    st = warm_up(&per_batch, &done, job, warmup, batch, err);
    while (!st && *n < MAX_READINGS && (*n < batches || spent < min_time)) {
        ft_reading *r;

        if (*n == cap) {
            cap = cap ? 2 * cap : 64;
            r = realloc(*readings, cap * sizeof(*r));
            if (!r) {
                st = ft_fail(err, FT_ENOMEM, 0, "%zu readings", cap);
                break;
            }
            *readings = r;
        }
        r = *readings + *n;
        *r = (ft_reading){.start_s = spent, .iterations = per_batch};
        st = ft__run_batch(&r->value, job, done, per_batch, err);
        done += per_batch;
        spent += r->value;
        ++*n;
    }
    if (!st)
        st = ft_measurement_of_times(time, *readings, *n, err);
    if (st) {
        free(*readings);
        *readings = NULL;
    }
    return st;
}

/* ---- one operation ---- */

ft_status ft_measure_op(ft_timing *out, ft_session *s, const ft_op *op,
                        const ft_measure_options *opt, ft_error *err)
{
    const ft_block_info *info;
    ft__op_job *j;
    ft__job job;
    ft_op low = *op;
    ft_status st;

    memset(out, 0, sizeof(*out));
    ft_op_lower(&low, s->engine->policy);
    st = ft__op_job_make(&j, s, &low, 0, err);
    if (st)
        return st;
    job = ft__op_job_get(j);
    st = ft__measure_job(&out->time, &out->readings, &out->n_readings, &job, opt, err);
    info = ft__op_job_info(j);
    out->weight_bytes = info->weight_bytes;
    out->workspace_bytes = info->workspace_bytes;
    out->instances = ft__op_job_instances(j);
    if (info->implementation)
        strncpy(out->implementation, info->implementation,
                sizeof(out->implementation) - 1);
    ft__op_job_free(j);
    return st;
}
