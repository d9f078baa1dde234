/* The measuring loop: batches of iterations, every batch time kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "run/session.h"

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

/* ---- operands ---- */

int64_t ft__operand_limit(const ft_op *op, uint32_t operand)
{
    if (op->kind == FT_KIND_embedding)
        return ft_op_at(op, FT_K_rows, 0);
    if (op->kind == FT_KIND_gather && operand == 1)
        return ft_op_at(op, FT_K_x, (uint32_t)ft_op_at(op, FT_K_axis, 0));
    return 2;
}

/* ---- one operation ---- */

/* Weights of all instances together pass any cache, as a network's do, as long
 * as that takes neither many instances nor much memory. */
enum { MAX_INSTANCES = 64 };
static const double block_bytes = 64.0 * 1024 * 1024;

/* Results go to several places in turn, more than the second-level cache holds
 * together: in a network each goes where no result has just been. The input
 * stays: it is what the operation before has just written. */
enum { MAX_PLACES = 16 };
static const uint64_t places_bytes = 4u << 20;

struct op_job {
    ft_session *session;
    ft_block *block;
    uint32_t instances;
    uint32_t places;
    const void *in[FT_OP_MAX_OPERANDS];
    void *out[MAX_PLACES][FT_OP_MAX_OPERANDS];
    void *memory[2 * FT_OP_MAX_OPERANDS + 1]; /* everything to release */
    uint32_t n_memory;
    void *workspace;
};

static ft_status run_op(void *self, uint64_t iteration, ft_error *err)
{
    struct op_job *j = self;

    return j->session->engine->run(j->block, (uint32_t)(iteration % j->instances),
                                   j->in, j->out[iteration % j->places], j->workspace,
                                   err);
}

static void *take(struct op_job *j, uint64_t bytes, const ft_op *op, ft_error *err)
{
    ft_session *s = j->session;
    void *p = s->engine->alloc(s->context, bytes ? bytes : 1);

    if (p)
        j->memory[j->n_memory++] = p;
    else
        ft_fail(err, FT_ENOMEM, 0, "no memory for %s (%.1f MiB)",
                ft_kind_name(op->kind), (double)bytes / 1048576.0);
    return p;
}

static ft_status make_input(struct op_job *j, const ft_op *op, uint32_t i,
                            ft_error *err)
{
    ft_session *s = j->session;
    ft_shape shape;
    ft_dtype t;
    void *p;

    ft_op_input(op, i, &shape, &t);
    p = take(j, (uint64_t)ft_tensor_bytes(&shape, t), op, err);
    if (!p)
        return FT_ENOMEM;
    j->in[i] = p;
    return s->engine->fill(s->context, p, t, (uint64_t)ft_shape_elements(&shape),
                           ft__operand_limit(op, i), s->seed + i, err);
}

static ft_status make_output(struct op_job *j, const ft_op *op, uint32_t i,
                             ft_error *err)
{
    ft_shape shape;
    ft_dtype t;
    uint64_t bytes;
    char *p;

    ft_op_output(op, i, &shape, &t);
    bytes = ((uint64_t)ft_tensor_bytes(&shape, t) + 63) / 64 * 64;
    p = take(j, bytes * j->places, op, err);
    for (uint32_t place = 0; p && place < j->places; place++)
        j->out[place][i] = p + place * bytes;
    return p ? FT_OK : FT_ENOMEM;
}

static uint32_t places_for(const ft_op *op)
{
    ft_cost c;
    double n;

    ft_op_cost(op, &c);
    n = c.bytes_written > 0 ? ceil((double)places_bytes / c.bytes_written) : 1;
    return n > MAX_PLACES ? MAX_PLACES : (uint32_t)n;
}

static void op_job_free(struct op_job *j)
{
    while (j->n_memory)
        j->session->engine->release(j->session->context, j->memory[--j->n_memory]);
    if (j->block)
        j->session->engine->free_block(j->block);
}

/* Prepare `op` (lowered) with its operands. */
static ft_status op_job_make(struct op_job *j, ft_session *s, const ft_op *op,
                             uint32_t instances, ft_block_info *info, ft_error *err)
{
    ft_status st;

    *j =
        (struct op_job){.session = s, .instances = instances, .places = places_for(op)};
    *info = (ft_block_info){0};
    st = s->engine->prepare(s->context, &j->block, info, op, instances, NULL, 0, err);
    if (st)
        return st;
    for (uint32_t i = 0; i < ft_op_n_inputs(op) && !st; i++)
        st = make_input(j, op, i, err);
    for (uint32_t i = 0; i < ft_op_n_outputs(op) && !st; i++)
        st = make_output(j, op, i, err);
    if (!st && info->workspace_bytes) {
        j->workspace = take(j, info->workspace_bytes, op, err);
        st = j->workspace ? FT_OK : FT_ENOMEM;
    }
    if (st)
        op_job_free(j);
    return st;
}

static uint32_t instances_for(const ft_op *op)
{
    ft_cost c;
    double n;

    ft_op_cost(op, &c);
    n = c.weight_bytes > 0 ? ceil(block_bytes / c.weight_bytes) : 1;
    return n > MAX_INSTANCES ? MAX_INSTANCES : (uint32_t)n;
}

ft_status ft_measure_op(ft_timing *out, ft_session *s, const ft_op *op,
                        const ft_measure_options *opt, ft_error *err)
{
    struct op_job j;
    ft__job job = {.session = s, .run = run_op, .self = &j};
    ft_block_info info;
    ft_op low = *op;
    ft_status st;

    memset(out, 0, sizeof(*out));
    ft_op_lower(&low, s->engine->policy);
    st = op_job_make(&j, s, &low, instances_for(&low), &info, err);
    if (st)
        return st;
    st = ft__measure_job(&out->time, &out->readings, &out->n_readings, &job, opt, err);
    out->weight_bytes = info.weight_bytes;
    out->workspace_bytes = info.workspace_bytes;
    out->instances = j.instances;
    if (info.implementation)
        strncpy(out->implementation, info.implementation,
                sizeof(out->implementation) - 1);
    op_job_free(&j);
    return st;
}

/* ---- proportionality ---- */

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
    struct op_job j;
    ft__job job = {.session = s, .run = run_op, .self = &j};
    ft_block_info info;
    uint64_t n = 1, done = 0;
    ft_op low = *op;
    ft_status st;

    memset(out, 0, sizeof(*out));
    ft_op_lower(&low, s->engine->policy);
    st = op_job_make(&j, s, &low, 1, &info, err);
    if (st)
        return st;
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
    op_job_free(&j);
    return st;
}
