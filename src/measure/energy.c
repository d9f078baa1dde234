/* Power and energy of a job: it is looped while the meter runs, and the trace gives
 * watts and joules an iteration for each domain, with their errors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "device/power/meter.h"
#include "device/power/power_inside.h"
#include "measure/measure_inside.h"
#include "measure/rounds.h"

static const double default_power_time_s = 5;
/* Between two looks at the clock; the meter's readings in simulated time lie there. */
static const double look_s = 0.02, simulated_look_s = 1e-3;

void ft__energy_free(ft_energy *e, uint32_t n)
{
    for (uint32_t i = 0; e && i < n; i++) {
        free(e[i].readings);
        free(e[i].counted);
    }
    free(e);
}

/* ---- the loop ---- */

struct loop {
    const ft__job *job;
    ft_meter *meter;
    double time_s;
    uint64_t per_look; /* iterations */
    uint64_t done;
    ft_status st;
    ft_error *err;
};

static void run_loop(void *user)
{
    struct loop *l = user;
    double end_s = ft__meter_now(l->meter) + l->time_s, took;

    do {
        l->st = ft__run_batch(&took, l->job, l->done, l->per_look, l->err);
        l->done += l->per_look;
        ft__meter_pass(l->meter, 0);
    } while (!l->st && ft__meter_now(l->meter) < end_s);
}

/* Long enough for every domain of the meter. */
static double time_for(const ft_meter *m, double asked_s)
{
    double time_s = asked_s > 0 ? asked_s : default_power_time_s;

    for (uint32_t i = 0; i < ft_meter_n_domains(m); i++)
        time_s = fmax(time_s, ft_meter_domain(m, i)->least_s);
    return time_s;
}

/* ---- what the trace says ---- */

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

static ft_status evaluate_trace(ft_timing *out, const ft_meter *m, const ft_trace *t,
                                const struct loop *l, double from_s, double to_s,
                                ft_error *err)
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
static ft_status no_trace(ft_timing *out, const char *why, ft_error *err)
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

ft_status ft__measure_energy(ft_timing *out, const ft__job *job,
                             const ft_measure_options *opt, ft_error *err)
{
    const ft__clock *simulated = ft__session_clock(job->session), *before;
    struct loop l = {.job = job,
                     .meter = opt->meter,
                     .time_s = time_for(opt->meter, opt->power_time_s),
                     .per_look = (uint64_t)fmax(
                         1, (simulated ? simulated_look_s : look_s) / out->time.value),
                     .err = err};
    ft_error why = {0};
    double from_s, to_s;
    ft_trace t;
    ft_status st;

    before = simulated ? ft__meter_follow(opt->meter, simulated) : NULL;
    st = ft_meter_watch(opt->meter, run_loop, &l, &t, &from_s, &to_s, &why);
    if (simulated)
        (void)ft__meter_follow(opt->meter, before);
    if (st)
        return l.st ? l.st : no_trace(out, why.msg, err);
    st = l.st ? l.st : evaluate_trace(out, opt->meter, &t, &l, from_s, to_s, err);
    ft_trace_free(&t);
    return st;
}

/* ---- as text ---- */

size_t ft__energy_conditions(const ft_energy *e, char *buf, size_t size)
{
    ft__buf b = {0};
    size_t len;

    ft__buf_str(&b, "{");
    ft__add_number(&b, "counter_j", e->counter_j);
    ft__add_number(&b, "integral_j", e->integral_j);
    ft__add_number(&b, "loop_s", e->seconds);
    ft__add_text(&b, "reason", e->reason);
    ft__buf_str(&b, "}");
    len = b.bad ? 0 : b.len;
    snprintf(buf, size, "%s", b.bad ? "" : b.s);
    ft__buf_free(&b);
    return len;
}
