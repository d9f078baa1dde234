/* Operations -> timings: alone, or several in rotation with calibration operations
 * among them, whose times say what state the machine was in; and, where there is a
 * meter, power and energy, for which the operation is looped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/power/meter.h"
#include "graph/graph_inside.h"
#include "measure/measure_inside.h"
#include "measure/op_job.h"
#include "measure/rounds.h"
#include "predict/data/features.h"

/* Calibrations are what every session measures between rounds. */

/* About a hundred million floating-point operations; 64 kilobytes and 8 megabytes of
 * operands. Instances lie in several places, for which cache lines meet depends on
 * that; they stay in memory as long as the session. */
static const char *const spec[FT__N_CALIBRATIONS] = {
    [FT__CALIBRATE_PRODUCTS] =
        "conv2d x=1x64x28x28 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32",
    [FT__CALIBRATE_CACHES] = "relu x=1x8000 dtype=fp32",
    [FT__CALIBRATE_MEMORY] = "relu x=1x1000000 dtype=fp32",
};

/* What touches less stays in the caches that nobody else uses. */
static const double own_bytes = 2 << 20;

/* Products of fewer operations a byte wait for their weights, like any other. */
static const double least_intensity = 8;

/* The one that an operation is compared with. */
static uint32_t calibration_for(const ft_op *op)
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

static ft_status prepare(ft_session *s, const ft_op *op, ft_error *err)
{
    const ft_engine *e = s->engine;
    ft_block *block = NULL;
    ft_block_info info;
    ft_status st = e->prepare(s->context, &block, &info, op, 1, NULL, 0, err);

    e->free_block(block);
    return st;
}

ft_status ft_session_prepare(ft_session *s, const ft_op *op, ft_error *err)
{
    ft_op own;

    if (!s->engine->prepare)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "engine %s keeps nothing of what it prepares", s->engine->name);
    if (op)
        return prepare(s, op, err);
    /* Those that it does not run are left out, here as when measuring. */
    for (uint32_t i = 0; i < FT__N_CALIBRATIONS; i++) {
        own = calibration_op(s, i);
        (void)prepare(s, &own, NULL);
    }
    for (uint32_t i = 0; i < FT__N_PROBES; i++) {
        own = ft__probe(i);
        ft__op_lower(&own, s->engine->policy);
        (void)prepare(s, &own, NULL);
    }
    return FT_OK;
}

/* An iteration that takes longer stands beside nothing: code that is emulated. */
static const double longest_calibration_s = 0.25;

static bool takes_long(const ft_session *s, ft__op_job *calibration)
{
    ft__job job = ft__op_job_get(calibration);
    double least = INFINITY, took;

    for (uint64_t i = 0; i < 2 && s->clock_is_real; i++)
        if (ft__run_batch(&took, &job, i, 1, NULL) == FT_OK)
            least = fmin(least, took);
    return isfinite(least) && least > longest_calibration_s;
}

bool ft__calibration_job(ft__job *out, ft_session *s, uint32_t which)
{
    ft_op op = calibration_op(s, which);

    if (!s->calibration[which] && !s->no_calibration[which]) {
        s->no_calibration[which] =
            ft__op_job_make(&s->calibration[which], s, &op, FT__CALIBRATION_INSTANCES,
                            NULL) != FT_OK ||
            takes_long(s, s->calibration[which]);
        if (s->no_calibration[which]) {
            ft__op_job_free(s->calibration[which]);
            s->calibration[which] = NULL;
        }
    }
    if (!s->calibration[which])
        return false;
    *out = ft__op_job_get(s->calibration[which]);
    return true;
}

/* How far operations and the calibration part in another state, as a share of how far
 * that is away: of 107 operations an hour apart, in four pairs, 90 to 97 % of the 90 %
 * intervals held with it (docs/notes/statistics.md). */
static const double of_state = 0.7;

/* Relative error of what was measured next to a calibration of so many seconds: in
 * another state than the usual one operations are slowed down by about as much as it
 * is, not by as much. 0: usual, or what that is is not known. */
static double calibration_doubt(const ft_session *s, uint32_t like, double seconds)
{
    double usual = ft__calibrations_so_far(s).usual_s * s->usual_ratio[like];

    return usual > 0 && seconds > 0 ? of_state * fabs(log(seconds / usual)) : 0;
}

/* Find out, once, whether the engine issues ahead. Something long to run, issued many
 * times: does waiting take part of the time? */
static void learn_issuing(ft_session *s)
{
    enum { N = 16, FEW = 2 };
    static const double long_s = 0.25;
    const ft_engine *e = s->engine;
    ft_op op = ft__probe(FT__PROBE_PEAK);
    double first, t0, t1, t2;
    uint64_t n;
    ft__op_job *j;
    ft__job job;
    ft_status st;

    if (s->knows_issuing)
        return;
    s->knows_issuing = true;
    ft__op_lower(&op, e->policy);
    if (ft__op_job_make(&j, s, &op, 1, NULL))
        return; /* whoever asks for the operation hears why */
    job = ft__op_job_get(j);
    st = ft__run_batch(&first, &job, 0, 1, NULL);
    n = first > long_s ? FEW : N; /* a slow device: two say as much */
    t0 = e->now(s->context);
    for (uint64_t i = 0; i < n && !st; i++)
        st = job.run(job.self, i, NULL);
    t1 = e->now(s->context);
    if (!st)
        st = e->sync(s->context, NULL);
    t2 = e->now(s->context);
    s->issues_ahead = !st && t2 - t1 > 0.1 * (t2 - t0);
    ft__op_job_free(j);
}

/* Between two looks at the clock; the meter's readings in simulated time lie there. */
static const double look_s = 0.02, simulated_look_s = 1e-3;

static void energy_free(ft_energy *e, uint32_t n)
{
    for (uint32_t i = 0; e && i < n; i++) {
        free(e[i].readings);
        free(e[i].counted);
    }
    free(e);
}

struct loop {
    const ft__job *job;
    uint64_t per_look; /* iterations */
    uint64_t done;
    ft_status st;
    ft_error *err;
};

static bool run_until_look(void *user)
{
    struct loop *l = user;
    double took;

    l->st = ft__run_batch(&took, l->job, l->done, l->per_look, l->err);
    l->done += l->per_look;
    return !l->st;
}

/* Long enough for every domain of the meter. */
static double time_for(const ft_measure_options *opt)
{
    double time_s = 0;

    for (uint32_t i = 0; i < ft_meter_n_domains(opt->meter); i++)
        time_s = fmax(time_s, ft__meter_loop_s(opt->meter, i, opt->power_time_s,
                                               opt->power_error));
    return time_s;
}

void ft__energy_of(double *joules, double *error_j, double watts, double watts_error,
                   double seconds, double seconds_error)
{
    *joules = watts * seconds;
    *error_j = hypot(watts * seconds_error, seconds * watts_error);
}

static ft_status keep_readings(ft_energy *e, const ft_trace *t, uint32_t domain,
                               double from_s, ft_error *err)
{
    size_t n = t->n[domain];

    e->readings = calloc(n + 1, sizeof(*e->readings));
    e->counted = calloc(n + 1, sizeof(*e->counted));
    if (!e->readings || !e->counted)
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings of power", n);
    e->n_readings = n;
    for (size_t i = 0; i < n; i++) {
        const ft_power_reading *r = &t->reading[domain][i];

        e->readings[i] = (ft_reading){.value = r->watts, .start_s = r->at_s - from_s};
        e->counted[i] = (ft_reading){.value = r->joules, .start_s = r->at_s - from_s};
    }
    return FT_OK;
}

/* Mean power of the loop times seconds of an iteration of the loop. */
static void work_out(ft_energy *e, const ft_power *p, const ft_measurement *time)
{
    double n = (double)e->iterations, each_s = e->seconds / n;

    e->power = ft__measurement_unknown("W");
    e->energy = ft__measurement_unknown("J");
    e->counter_j = p->counter_j / n;
    e->integral_j = p->integral_j / n;
    memcpy(e->reason, p->reason, sizeof(e->reason));
    if (p->reason[0])
        return;
    e->power.value = e->power.mean = p->watts;
    e->power.error = p->watts_error;
    e->power.std = p->watts_std;
    e->power.n = p->n_fresh;
    e->power.iterations = e->iterations;
    ft__energy_of(&e->energy.value, &e->energy.error, p->watts, p->watts_error, each_s,
                  each_s * time->error / time->value);
    e->energy.mean = e->energy.value;
    e->energy.n = p->n_fresh;
    e->energy.iterations = e->iterations;
}

/* Over domains that are part of no other; an unknown one makes the sum unknown. */
static void sum_up(ft_energy *sum, const ft_energy *e, const ft_trace *t)
{
    double power = 0, energy = 0, power_error = 0, energy_error = 0;

    *sum = e[0];
    sum->domain = "";
    sum->readings = sum->counted = NULL;
    sum->n_readings = 0;
    sum->counter_j = sum->integral_j = 0;
    sum->reason[0] = '\0';
    sum->power = ft__measurement_unknown("W");
    sum->energy = ft__measurement_unknown("J");
    for (uint32_t i = 0; i < t->n_domains; i++) {
        if (t->domain[i].part_of[0])
            continue;
        power += e[i].power.value;
        power_error = hypot(power_error, e[i].power.error);
        energy += e[i].energy.value;
        energy_error = hypot(energy_error, e[i].energy.error);
        sum->counter_j += e[i].counter_j;
        sum->integral_j += e[i].integral_j;
        sum->power.n += e[i].power.n;
        if (e[i].reason[0])
            memcpy(sum->reason, e[i].reason, sizeof(sum->reason));
    }
    sum->power.value = sum->power.mean = power;
    sum->power.error = power_error;
    sum->energy.value = sum->energy.mean = energy;
    sum->energy.error = energy_error;
    sum->energy.n = sum->power.n;
    sum->energy.iterations = sum->power.iterations = sum->iterations;
}

static ft_status evaluate_trace(ft_network_timing *out, const ft_meter *m,
                                const ft_trace *t, const struct loop *l, double from_s,
                                double to_s, ft_error *err)
{
    ft_status st = FT_OK;

    out->energy = calloc(t->n_domains + 1, sizeof(*out->energy));
    if (!out->energy)
        return ft_fail(err, FT_ENOMEM, 0, "energy");
    out->n_energy = t->n_domains + 1;
    for (uint32_t i = 0; i < t->n_domains && !st; i++) {
        ft_energy *e = &out->energy[i + 1];
        ft_power p;

        e->domain = ft_meter_domain(m, i)->name;
        e->iterations = l->done;
        e->seconds = to_s - from_s;
        ft_power_of(&p, t, i, from_s, to_s);
        work_out(e, &p, &out->time);
        st = keep_readings(e, t, i, from_s, err);
    }
    if (!st)
        sum_up(&out->energy[0], out->energy + 1, t);
    return st;
}

/* The sensor failed, not the operation: there is a time, and a reason. */
static ft_status no_trace(ft_network_timing *out, const char *why, ft_error *err)
{
    out->energy = calloc(1, sizeof(*out->energy));
    if (!out->energy)
        return ft_fail(err, FT_ENOMEM, 0, "energy");
    out->n_energy = 1;
    *out->energy = (ft_energy){.domain = "",
                               .power = ft__measurement_unknown("W"),
                               .energy = ft__measurement_unknown("J"),
                               .counter_j = NAN,
                               .integral_j = NAN,
                               .seconds = NAN};
    snprintf(out->energy->reason, sizeof(out->energy->reason), "%.150s", why);
    return FT_OK;
}

/* Loop for the meter: out->energy, with reasons where it is unknown. */
static ft_status measure_energy(ft_network_timing *out, const ft__job *job,
                                const ft_measure_options *opt, ft_error *err)
{
    double from_s, to_s;
    const ft__clock *simulated = ft__session_clock(job->session);
    struct loop l = {.job = job,
                     .per_look = (uint64_t)fmax(
                         1, (simulated ? simulated_look_s : look_s) / out->time.value),
                     .err = err};
    ft_error why = {0};
    ft_trace t;
    ft_status st;

    st = ft__meter_loop(opt->meter, simulated, time_for(opt), run_until_look, &l, &t,
                        &from_s, &to_s, &why);
    if (st)
        return l.st ? l.st : no_trace(out, why.msg, err);
    st = l.st ? l.st : evaluate_trace(out, opt->meter, &t, &l, from_s, to_s, err);
    ft_trace_free(&t);
    return st;
}

void ft_network_timing_free(ft_network_timing *t)
{
    free(t->readings);
    free(t->launches);
    energy_free(t->energy, t->n_energy);
    t->readings = t->launches = NULL;
    t->energy = NULL;
    t->n_energy = 0;
}

static void add_error(ft_measurement *m, double relative)
{
    m->error = hypot(m->error, relative * m->value);
}

ft_status ft__measure_job(ft_network_timing *out, const ft__job *job,
                          const ft_measure_options *opt, ft_error *err)
{
    ft_error why = {0};
    const ft__turn turn = {.job = *job, .out = out, .why = &why};
    ft_status st = ft__rounds_run(&turn, 1, job->session, opt, err);

    if (!st && why.status) {
        st = why.status;
        if (err)
            *err = why;
    }
    if (!st && opt->error_floor > 0)
        add_error(&out->time, opt->error_floor);
    if (!st && opt->meter)
        st = measure_energy(out, job, opt, err);
    if (st)
        ft_network_timing_free(out);
    return st;
}

static void take_timing(ft_network_timing *out, const ft_network_timing *t)
{
    out->time = t->time;
    out->readings = t->readings;
    out->n_readings = t->n_readings;
    out->launch = t->launch;
    out->launches = t->launches;
    out->energy = t->energy;
    out->n_energy = t->n_energy;
    out->conditions = t->conditions;
    out->rounds = t->rounds;
    out->redone = t->redone;
    out->outliers = t->outliers;
}

ft_status ft__measure_passes(ft_network_timing *out, uint64_t *held, const ft__job *job,
                             ft__first_pass how, const ft_measure_options *opt,
                             ft_error *err)
{
    const ft_engine *e = job->session->engine;
    ft_engine_context *c = job->session->context;
    uint64_t before = 0, now = 0, peak = 0;
    ft_network_timing t = {0};
    double first;
    ft_status st;

    if (how == FT__FIRST_PASS_COUNTS)
        ft__memory_trim(true);
    st = ft__run_batch(&first, job, 0, 1, err);
    if (!st && how == FT__FIRST_PASS_APART)
        ft__memory_trim(true);
    if (!st && held && e->memory)
        e->memory(c, &before, &peak, 1);
    if (!st)
        st = ft__measure_job(&t, job, opt, err);
    if (!st)
        take_timing(out, &t);
    if (!st && held && e->memory)
        e->memory(c, &now, &peak, 0);
    if (held)
        *held = peak;
    out->peak_process_bytes = ft__memory_now().peak;
    return st;
}

/* Operations that are ready at the same time, and what stands beside them. */
struct measured_group {
    ft_session *session;
    const ft_measure_options *opt;
    ft__op_job **job;
    ft__turn *turn; /* the calibrations last */
    size_t n;
};

static void group_free(struct measured_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        ft__op_job_free(g->job[i]);
    free(g->job);
    free(g->turn);
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
    g->turn = calloc(n + FT__N_CALIBRATIONS, sizeof(*g->turn));
    if (!g->job || !g->turn)
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

static ft_status run_group(struct measured_group *g, ft_network_timing *out,
                           ft_error *why, const ft_op *ops, bool calibrate,
                           ft_error *err)
{
    /* The one of products shows the state of the machine as well. */
    bool wanted[FT__N_CALIBRATIONS] = {[FT__CALIBRATE_PRODUCTS] = true};
    ft__job calibration;
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        if (g->job[i]) {
            g->turn[n] = (ft__turn){.job = ft__op_job_get(g->job[i]),
                                    .like = calibration_for(&ops[i]),
                                    .out = &out[i],
                                    .why = &why[i]};
            wanted[g->turn[n++].like] = true;
        }
    for (uint32_t i = 0; n && calibrate && i < FT__N_CALIBRATIONS; i++)
        if (wanted[i] && ft__calibration_job(&calibration, g->session, i))
            g->turn[n++] = (ft__turn){.job = calibration, .calibrates = i + 1};
    return ft__rounds_run(g->turn, n, g->session, g->opt, err);
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

static void describe(ft_network_timing *out, const ft__job *job)
{
    out->weight_bytes = job->info->weight_bytes;
    out->workspace_bytes = job->info->workspace_bytes;
    out->instances = job->instances;
    if (job->info->implementation)
        strncpy(out->implementation, job->info->implementation,
                sizeof(out->implementation) - 1);
}

static ft_status finish(ft_network_timing *out, ft_error *why,
                        const struct measured_group *g, size_t at)
{
    ft__job job = ft__op_job_get(g->job[at]);
    ft_status st = why->status;

    if (!st && g->opt->error_floor > 0)
        add_error(&out->time, g->opt->error_floor);
    if (!st && g->opt->meter && (!g->opt->powered || g->opt->powered[at]))
        st = measure_energy(out, &job, g->opt, why);
    if (st) {
        ft_network_timing_free(out);
        *out = (ft_network_timing){0};
        return st;
    }
    describe(out, &job);
    out->memory_bytes = memory_of(&job);
    return FT_OK;
}

/* As many of n as fit together; *taken of them. */
static ft_status measure_some(size_t *taken, ft_network_timing *out, ft_error *why,
                              ft_session *s, const ft_op *ops, size_t n, bool calibrate,
                              const ft_measure_options *opt, ft_error *err)
{
    ft_measure_options with_floor = *opt;
    struct measured_group g = {.session = s, .opt = &with_floor};
    ft_status st = group_make(&g, ops, n, why, err);

    *taken = g.n;
    if (!st)
        st = run_group(&g, out, why, ops, calibrate, err);
    if (st) {
        group_free(&g);
        return st;
    }
    calibrate = calibrate && !(opt->error_floor != 0);
    if (calibrate)
        with_floor.error_floor = ft__calibrations_so_far(s).scatter;
    for (size_t i = 0; i < g.n; i++)
        if (g.job[i] && !finish(&out[i], &why[i], &g, i) && calibrate)
            add_error(&out[i].time, calibration_doubt(s, calibration_for(&ops[i]),
                                                      out[i].calibration_s));
    group_free(&g);
    return FT_OK;
}

ft_status ft__measure_ops(ft_network_timing *out, ft_error *why, ft_session *s,
                          const ft_op *ops, size_t n, const ft_measure_options *opt,
                          ft_error *err)
{
    ft_status st = FT_OK;

    learn_issuing(s);
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

ft_status ft__measure_op(ft_network_timing *out, ft_session *s, const ft_op *op,
                         const ft_measure_options *opt, ft_error *err)
{
    ft_error why = {0};
    size_t taken;
    ft_status st;

    learn_issuing(s);
    memset(out, 0, sizeof(*out));
    st = measure_some(&taken, out, &why, s, op, 1, false, opt, err);
    if (!st && why.status) {
        st = why.status;
        if (err)
            *err = why;
    }
    return st;
}
