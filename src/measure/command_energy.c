#include "measure/command_energy.h"

#include "device/power/power_inside.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double idle_s = 1;

static ft_measurement unknown(const char *unit)
{
    return (ft_measurement){
        .unit = unit, .value = NAN, .error = NAN, .mad = NAN, .mean = NAN, .std = NAN};
}

static ft_status make(ft_command_result *r, const ft_meter *m, const double *idle_w,
                      ft_error *err)
{
    r->n_domains = ft_meter_n_domains(m);
    r->energy = calloc(r->n_domains + 1, sizeof(*r->energy));
    if (!r->energy)
        return ft_fail(err, FT_ENOMEM, 0, "energy of commands");
    for (uint32_t i = 0; i < r->n_domains; i++) {
        ft_command_energy *e = &r->energy[i];

        e->domain = ft_meter_domain(m, i)->name;
        e->part_of = ft_meter_domain(m, i)->part_of;
        e->idle_w = idle_w[i];
        e->energy = unknown("J");
        e->power = unknown("W");
    }
    return FT_OK;
}

ft_status ft__command_energy_begin(ft_command_result *r, size_t n, ft_meter *m,
                                   ft_error *err)
{
    double long_s = idle_s, *idle_w = calloc(ft_meter_n_domains(m) + 1, sizeof(double));
    ft_status st;

    if (!idle_w)
        return ft_fail(err, FT_ENOMEM, 0, "energy of commands");
    for (uint32_t i = 0; i < ft_meter_n_domains(m); i++)
        long_s = fmax(long_s, ft_meter_domain(m, i)->least_s);
    st = ft__meter_idle(m, long_s, idle_w, err);
    for (size_t i = 0; i < n && !st; i++)
        st = make(&r[i], m, idle_w, err);
    free(idle_w);
    return st;
}

/* Mean and standard error over runs: what they scatter, or what the sensor is
 * unsure of, whichever is more. */
static void settle(ft_command_energy *e, double sum, double squares, double sensor,
                   double watts, double watts_error)
{
    double n = (double)e->runs, mean = sum / n;
    double var = n > 1 ? fmax(squares - n * mean * mean, 0) / (n - 1) : 0;

    e->energy.value = e->energy.mean = mean;
    e->energy.std = sqrt(var);
    e->energy.error = fmax(sqrt(var / n), sqrt(sensor) / n);
    e->energy.n = e->energy.iterations = e->runs;
    e->power.value = e->power.mean = watts / n;
    e->power.error = sqrt(watts_error) / n;
    e->power.n = e->power.iterations = e->runs;
}

static void from_runs(ft_command_energy *e, const ft_command_result *r,
                      const ft_trace *t, uint32_t domain, double begin_s)
{
    double sum = 0, squares = 0, sensor = 0, watts = 0, watts_error = 0;

    for (size_t k = 0; k < r->n_runs; k++) {
        double from_s = begin_s + r->run[k].start_s;
        ft_power p;

        ft_power_of(&p, t, domain, from_s, from_s + r->run[k].wall_s);
        e->joules[k] = p.joules;
        if (*p.reason || !isfinite(p.joules)) {
            snprintf(e->reason, sizeof(e->reason), "%s", p.reason);
            continue;
        }
        e->runs++;
        sum += p.joules;
        squares += p.joules * p.joules;
        sensor += p.joules_error * p.joules_error;
        watts += p.joules / r->run[k].wall_s;
        watts_error += pow(p.joules_error / r->run[k].wall_s, 2);
    }
    if (e->runs) {
        settle(e, sum, squares, sensor, watts, watts_error);
        e->reason[0] = '\0';
    }
}

ft_status ft__command_energy_of_runs(ft_command_result *r, const ft_meter *m,
                                     const ft_trace *t, double begin_s, ft_error *err)
{
    for (uint32_t i = 0; i < r->n_domains; i++) {
        ft_command_energy *e = &r->energy[i];

        if (r->time.value < ft_meter_domain(m, i)->least_s)
            continue;
        e->joules = calloc(r->n_runs, sizeof(*e->joules));
        if (!e->joules)
            return ft_fail(err, FT_ENOMEM, 0, "energy of commands");
        from_runs(e, r, t, i, begin_s);
    }
    return FT_OK;
}

double ft__command_energy_missing(const ft_command_result *r, const ft_meter *m)
{
    double long_s = 0;

    for (uint32_t i = 0; i < r->n_domains; i++)
        if (!isfinite(r->energy[i].energy.value))
            long_s = fmax(long_s, ft_meter_domain(m, i)->least_s);
    return long_s;
}

void ft__command_energy_of_loop(ft_command_result *r, const ft_trace *t, double from_s,
                                double to_s, double busy_s, uint64_t runs)
{
    double share = busy_s / (to_s - from_s);

    for (uint32_t i = 0; i < r->n_domains; i++) {
        ft_command_energy *e = &r->energy[i];
        double long_s = to_s - from_s;
        ft_power p;

        if (isfinite(e->energy.value))
            continue;
        ft_power_of(&p, t, i, from_s, to_s);
        snprintf(e->reason, sizeof(e->reason), "%s", p.reason);
        if (*p.reason || !isfinite(p.joules))
            continue;
        e->runs = runs;
        e->energy.value = e->energy.mean = share * p.joules / (double)runs;
        e->energy.error = share * p.joules_error / (double)runs;
        e->power.value = e->power.mean = p.joules / long_s;
        e->power.error = p.joules_error / long_s;
        e->energy.n = e->power.n = p.n_fresh;
        e->energy.iterations = e->power.iterations = runs;
    }
}

void ft__command_energy_no_loop(ft_command_result *r, const ft_meter *m)
{
    for (uint32_t i = 0; i < r->n_domains; i++)
        if (!isfinite(r->energy[i].energy.value) && !*r->energy[i].reason)
            snprintf(
                r->energy[i].reason, sizeof(r->energy[i].reason),
                "runs are shorter than the %.3g s that the sensor needs, and are not "
                "looped with --prepare or --conclude",
                ft_meter_domain(m, i)->least_s);
}
