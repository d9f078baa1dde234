/* Operations -> timings: alone, or several in rotation with calibration operations
 * among them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "measure/measure_inside.h"
#include "measure/op_job.h"
#include "measure/rounds.h"

void ft__timing_free(ft_timing *t)
{
    free(t->readings);
    free(t->launches);
    ft__energy_free(t->energy, t->n_energy);
    t->readings = t->launches = NULL;
    t->energy = NULL;
    t->n_energy = 0;
}

ft_status ft__measure_job(ft_timing *out, const ft__job *job,
                          const ft_measure_options *opt, ft_error *err)
{
    ft__timed t = {.job = *job};
    ft_status st = ft__rounds_run(&t, 1, job->session, opt, err);

    if (!st && t.st) {
        st = t.st;
        if (err)
            *err = t.why;
    }
    if (!st)
        st = ft__timing_take(out, &t, opt, err);
    if (!st && opt->meter)
        st = ft__measure_energy(out, job, opt, err);
    if (st)
        ft__timing_free(out);
    ft__timed_free(&t);
    return st;
}

/* ---- several operations ---- */

/* Operations that are ready at the same time, and what stands beside them. */
struct measured_group {
    ft_session *session;
    const ft_measure_options *opt;
    ft__op_job **job;
    ft__timed *timed; /* the calibration last */
    size_t n;
};

static void group_free(struct measured_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        ft__op_job_free(g->job[i]);
    for (size_t i = 0; g->timed && i < g->n + FT__N_CALIBRATIONS; i++)
        ft__timed_free(&g->timed[i]);
    free(g->job);
    free(g->timed);
}

/* More than this is not held at the same time: where memory is promised that is not
 * there, asking for less is the only way not to be killed. */
static const double group_bytes = 1024.0 * 1024 * 1024;

static double bytes_of(const ft_op *op)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return c.bytes_read + c.bytes_written;
}

/* Make as many of the n operations ready as there is memory for. What does not
 * fit beside others is tried alone, in a group of its own. Those that cannot be
 * made have a job of NULL and say why. */
static ft_status group_make(struct measured_group *g, const ft_op *ops, size_t n,
                            ft_error *why, ft_error *err)
{
    double held = 0;

    g->job = calloc(n + 1, sizeof(*g->job));
    g->timed = calloc(n + FT__N_CALIBRATIONS, sizeof(*g->timed));
    if (!g->job || !g->timed)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    for (g->n = 0; g->n < n; g->n++) {
        ft_op low = ops[g->n];
        ft_status st;

        ft__op_lower(&low, g->session->engine->policy);
        if (held > 0 && held + bytes_of(&low) > group_bytes)
            break;
        st = ft__op_job_make(&g->job[g->n], g->session, &low, 0, &why[g->n]);
        if (st == FT_ENOMEM && held > 0) {
            why[g->n] = (ft_error){0};
            break;
        }
        if (!st)
            held += bytes_of(&low);
    }
    return FT_OK;
}

static ft_status run_group(struct measured_group *g, const ft_op *ops, bool calibrate,
                           ft_error *err)
{
    /* The one of products shows the state of the machine as well. */
    bool wanted[FT__N_CALIBRATIONS] = {[FT__CALIBRATE_PRODUCTS] = true};
    ft__job calibration;
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        if (g->job[i]) {
            g->timed[n].like = ft__calibration_for(&ops[i]);
            wanted[g->timed[n].like] = true;
            g->timed[n++].job = ft__op_job_get(g->job[i]);
        }
    for (uint32_t i = 0; n && calibrate && i < FT__N_CALIBRATIONS; i++)
        if (wanted[i] && ft__calibration_job(&calibration, g->session, i)) {
            g->timed[n].calibrates = i + 1;
            g->timed[n++].job = calibration;
        }
    return ft__rounds_run(g->timed, n, g->session, g->opt, err);
}

static void describe(ft_timing *out, const ft__op_job *j)
{
    const ft_block_info *info = ft__op_job_info(j);

    out->weight_bytes = info->weight_bytes;
    out->workspace_bytes = info->workspace_bytes;
    out->instances = ft__op_job_instances(j);
    if (info->implementation)
        strncpy(out->implementation, info->implementation,
                sizeof(out->implementation) - 1);
}

/* Most that the engine's allocator held while one instance ran; 0: not known. */
static uint64_t memory_of(const ft__job *job)
{
    const ft_engine *e = job->session->engine;
    ft_engine_context *c = job->session->context;
    uint64_t before, now, peak;
    double took;

    if (!e->memory)
        return 0;
    e->memory(c, &before, &peak, 1);
    if (ft__run_batch(&took, job, 0, 1, NULL))
        return 0;
    e->memory(c, &now, &peak, 0);
    return peak > before ? peak - before : 0;
}

static ft_status finish(ft_timing *out, ft_error *why, const struct measured_group *g,
                        size_t job, ft__timed *t)
{
    ft_status st = t->st;

    if (st)
        *why = t->why;
    else
        st = ft__timing_take(out, t, g->opt, why);
    if (!st && g->opt->meter && (!g->opt->powered || g->opt->powered[job]))
        st = ft__measure_energy(out, &t->job, g->opt, why);
    if (st) {
        ft__timing_free(out);
        *out = (ft_timing){0};
        return st;
    }
    describe(out, g->job[job]);
    out->memory_bytes = memory_of(&t->job);
    return FT_OK;
}

static void add_error(ft_measurement *m, double relative)
{
    m->error = hypot(m->error, relative * m->value);
}

/* As many of n as fit together; *taken of them. */
static ft_status measure_some(size_t *taken, ft_timing *out, ft_error *why,
                              ft_session *s, const ft_op *ops, size_t n, bool calibrate,
                              const ft_measure_options *opt, ft_error *err)
{
    ft_measure_options with_floor = *opt;
    struct measured_group g = {.session = s, .opt = &with_floor};
    ft_status st = group_make(&g, ops, n, why, err);
    size_t at = 0;

    *taken = g.n;
    if (!st)
        st = run_group(&g, ops, calibrate, err);
    if (st) {
        group_free(&g);
        return st;
    }
    calibrate = calibrate && !(opt->error_floor != 0);
    if (calibrate)
        with_floor.error_floor = ft__calibration_scatter(s);
    for (size_t i = 0; i < g.n; i++) {
        ft__timed *t = &g.timed[at];

        if (!g.job[i])
            continue;
        at++;
        if (!finish(&out[i], &why[i], &g, i, t) && calibrate)
            add_error(&out[i].time,
                      ft__calibration_doubt(s, t->like, out[i].calibration_s));
    }
    group_free(&g);
    return FT_OK;
}

ft_status ft__measure_ops(ft_timing *out, ft_error *why, ft_session *s,
                          const ft_op *ops, size_t n, const ft_measure_options *opt,
                          ft_error *err)
{
    ft_status st = FT_OK;

    ft__session_learn_issuing(s);
    memset(out, 0, n * sizeof(*out));
    memset(why, 0, n * sizeof(*why));
    for (size_t i = 0, taken; i < n && !st; i += taken) {
        ft_measure_options rest = *opt;

        if (opt->powered)
            rest.powered = opt->powered + i;
        st =
            measure_some(&taken, out + i, why + i, s, ops + i, n - i, true, &rest, err);
    }
    return st;
}

ft_status ft__measure_op(ft_timing *out, ft_session *s, const ft_op *op,
                         const ft_measure_options *opt, ft_error *err)
{
    ft_error why = {0};
    size_t taken;
    ft_status st;

    ft__session_learn_issuing(s);
    memset(out, 0, sizeof(*out));
    st = measure_some(&taken, out, &why, s, op, 1, false, opt, err);
    if (!st && why.status) {
        st = why.status;
        if (err)
            *err = why;
    }
    return st;
}
