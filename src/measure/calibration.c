/* What every session measures beside, and finds out about its engine once. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "graph/graph_inside.h"
#include "measure/measure_inside.h"
#include "measure/op_job.h"
#include "predict/data/features.h"

/* About a hundred million floating-point operations; 64 kilobytes and 8 megabytes of
 * operands. Instances lie in several places, for which cache lines meet depends on
 * that; they stay in memory as long as the session. */
static const char *const spec[FT__N_CALIBRATIONS] = {
    [FT__CALIBRATE_PRODUCTS] =
        "conv2d x=1x64x28x28 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32",
    [FT__CALIBRATE_CACHES] = "relu x=1x8000 dtype=fp32",
    [FT__CALIBRATE_MEMORY] = "relu x=1x1000000 dtype=fp32",
};

enum { INSTANCES = 8 };

/* What touches less stays in the caches that nobody else uses. */
static const double own_bytes = 2 << 20;

/* Products of fewer operations a byte wait for their weights, like any other. */
static const double least_intensity = 8;

uint32_t ft__calibration_for(const ft_op *op)
{
    ft_class class = ft_kind_class(op->kind);
    double bytes;
    ft_cost c;

    ft_op_cost(op, &c);
    bytes = c.bytes_read + c.bytes_written;
    if ((class == FT_CLASS_CONV || class == FT_CLASS_MATMUL) &&
        c.flops >= least_intensity * bytes)
        return FT__CALIBRATE_PRODUCTS;
    return bytes < own_bytes ? FT__CALIBRATE_CACHES : FT__CALIBRATE_MEMORY;
}

static ft_op calibration_op(const ft_session *s, uint32_t which)
{
    ft_op op;

    (void)ft_op_parse(&op, spec[which], strlen(spec[which]), NULL);
    ft__op_lower(&op, s->engine->policy);
    return op;
}

bool ft__calibration_job(ft__job *out, ft_session *s, uint32_t which)
{
    ft_op op = calibration_op(s, which);

    if (!s->calibration[which] && !s->no_calibration[which])
        s->no_calibration[which] =
            ft__op_job_make(&s->calibration[which], s, &op, INSTANCES, NULL) != FT_OK;
    if (!s->calibration[which])
        return false;
    *out = ft__op_job_get(s->calibration[which]);
    return true;
}

/* From here on what differs is not the scatter of stretches. */
static const double ratio_may_differ = 0.1;

double ft__calibration_beside(const ft_session *s, const double *beside, uint32_t like)
{
    double usual = beside[FT__CALIBRATE_PRODUCTS] * s->usual_ratio[like];

    if (like == FT__CALIBRATE_PRODUCTS || isnan(usual) ||
        fabs(log(beside[like] / usual)) > ratio_may_differ)
        return beside[like];
    return usual;
}

/* Seconds of an iteration, in a stretch of some milliseconds; NaN: it does not run. */
static double stretch(ft_session *s, uint32_t which)
{
    static const double want_s = 5e-3;
    double once, took;
    uint64_t n;
    ft__job job;

    if (!ft__calibration_job(&job, s, which) ||
        ft__run_batch(&once, &job, 0, INSTANCES, NULL) || !(once > 0))
        return NAN;
    n = (uint64_t)(want_s / once + 1) * INSTANCES;
    return ft__run_batch(&took, &job, INSTANCES, n, NULL) ? NAN : took / (double)n;
}

void ft__calibration_compare(ft_session *s)
{
    enum { STRETCHES = 15, P = FT__CALIBRATE_PRODUCTS };
    double ratio[STRETCHES];

    for (uint32_t k = 0; k < FT__N_CALIBRATIONS; k++) {
        size_t n = 0;

        if (!isnan(s->usual_ratio[k]))
            continue;
        for (int i = 0; i < STRETCHES; i++) {
            ratio[n] = k == P ? 1 : stretch(s, k) / stretch(s, P);
            n += isfinite(ratio[n]) ? 1 : 0;
        }
        s->usual_ratio[k] = ft__median(ratio, n); /* NaN of none */
    }
}

/* What measurements in two processes differ by where nothing else changes:
 * docs/notes/statistics.md. */
static const double least_floor = 0.0175;

/* What else differs when the calibration does, more than its own scatter. */
static const double may_differ = 0.04;

/* How far operations and the calibration part in another state, as a share of how far
 * that is away: of 107 operations an hour apart, in four pairs, 90 to 97 % of the 90 %
 * intervals held with it (docs/notes/statistics.md). */
static const double of_state = 0.7;

enum {
    KEPT = sizeof(((ft_session *)0)->calibrations) / sizeof(double),
    ENOUGH = 5, /* to say what is usual */
};

static size_t kept(double *sorted, const ft_session *s)
{
    size_t n = s->n_calibrations < KEPT ? s->n_calibrations : KEPT;

    memcpy(sorted, s->calibrations, n * sizeof(*sorted));
    ft__sort(sorted, n);
    return n;
}

double ft__calibration_usual(const ft_session *s)
{
    double v[KEPT];
    size_t n = kept(v, s);

    return fmin(s->usual_s, n >= ENOUGH ? ft__quantile(v, n, 0.1) : NAN);
}

bool ft__calibration_moved(ft_session *s, double seconds)
{
    s->calibrations[s->n_calibrations++ % KEPT] = seconds;
    return fabs(seconds / ft__calibration_usual(s) - 1) > may_differ;
}

double ft__calibration_scatter(const ft_session *s)
{
    double v[KEPT], centre;
    size_t n = kept(v, s);

    if (n < ENOUGH)
        return least_floor;
    centre = ft__quantile(v, n, 0.5);
    return fmax(least_floor, ft__mad(v, n, centre) / centre);
}

double ft__calibration_doubt(const ft_session *s, uint32_t like, double seconds)
{
    double usual = ft__calibration_usual(s) * s->usual_ratio[like];

    return usual > 0 && seconds > 0 ? of_state * fabs(log(seconds / usual)) : 0;
}

/* Something long to run, issued many times: does waiting take part of the time? */
void ft__session_learn_issuing(ft_session *s)
{
    enum { N = 16 };
    const ft_engine *e = s->engine;
    ft_op op = ft__probe(FT__PROBE_PEAK);
    double t0, t1, t2;
    ft__op_job *j;
    ft__job job;
    ft_status st = FT_OK;

    if (s->knows_issuing)
        return;
    s->knows_issuing = true;
    ft__op_lower(&op, e->policy);
    if (ft__op_job_make(&j, s, &op, 1, NULL))
        return; /* whoever asks for the operation hears why */
    job = ft__op_job_get(j);
    (void)ft__run_batch(&t0, &job, 0, 1, NULL);
    t0 = e->now(s->context);
    for (uint64_t i = 0; i < N && !st; i++)
        st = job.run(job.self, i, NULL);
    t1 = e->now(s->context);
    if (!st)
        st = e->sync(s->context, NULL);
    t2 = e->now(s->context);
    s->issues_ahead = !st && t2 - t1 > 0.1 * (t2 - t0);
    ft__op_job_free(j);
}
