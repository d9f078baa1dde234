/* Commands in turns: rounds, statistics, energy. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/stats.h"
#include "device/power/meter.h"
#include "measure/measure_inside.h"
#include "measure/spawn.h"

static const uint32_t default_runs = 10;
static const double default_time_s = 3;
/* Modified z-score, |x - median| / MAD scaled to sigma, from which on a run is an
 * outlier (Iglewicz and Hoaglin 1993 give 3.5; here as hyperfine has it). */
static const double far_off = 10 * 1.4826;

struct bench {
    const ft_command *c;
    ft_command_result *r;
    size_t n;
    const ft_command_options *opt;
    const ft__runner *runner;
    ft_monitor *monitor;
    ft__signals signals;
    double begin_s;
    uint64_t done, wanted; /* runs, for the progress */
    FILE *output;          /* of the run on its way, where it is kept; or NULL */
};

void ft_command_results_free(ft_command_result *r, size_t n)
{
    for (size_t i = 0; r && i < n; i++) {
        free(r[i].name);
        free(r[i].run);
        free(r[i].output);
        for (uint32_t d = 0; r[i].energy && d < r[i].n_domains; d++)
            free(r[i].energy[d].joules);
        free(r[i].energy);
    }
    free(r);
}

static char *join(const char *const *argv)
{
    ft__buf b = {0};

    for (size_t i = 0; argv[i]; i++) {
        if (i)
            ft__buf_str(&b, " ");
        ft__buf_str(&b, argv[i]);
    }
    if (b.bad) {
        ft__buf_free(&b);
        return NULL;
    }
    return b.s;
}

static ft_status judge(const struct bench *b, size_t i, const ft_command_run *run,
                       ft_error *err)
{
    const char *name = b->r[i].name;

    if (b->opt->ignore_failure)
        return FT_OK;
    if (run->timed_out)
        return ft_fail(err, FT_EBACKEND, 0, "%s took longer than %g s and was ended",
                       name, b->opt->timeout_s);
    if (run->signal)
        return ft_fail(err, FT_EBACKEND, 0, "%s was ended by signal %d (%s)", name,
                       run->signal, strsignal(run->signal));
    if (run->exit_code)
        return ft_fail(err, FT_EBACKEND, 0,
                       "%s ended with %d; --show-output tells why, --ignore-failure "
                       "measures it all the same",
                       name, run->exit_code);
    return FT_OK;
}

static ft_status start(const struct bench *b, size_t i, ft_command_run *run,
                       ft_error *err)
{
    ft__spawn s = {.argv = b->c[i].argv,
                   .env = b->c[i].env,
                   .output = b->output,
                   .most_output = b->output ? b->opt->most_output : 0,
                   .signals = &b->signals,
                   .input = b->opt->input,
                   .timeout_s = b->opt->timeout_s,
                   .show_output = b->opt->show_output,
                   .clock = b->runner->clock};
    ft_status st;

    if (b->output &&
        (lseek(fileno(b->output), 0, SEEK_SET) < 0 || ftruncate(fileno(b->output), 0)))
        return ft_fail(err, FT_EIO, 0, "cannot keep the output of %s", b->r[i].name);
    st = b->runner->run(b->runner->user, run, &s, err);
    return st ? st : judge(b, i, run, err);
}

/* The end of what the last run of i wrote. */
static ft_status keep_output(struct bench *b, size_t i, ft_error *err)
{
    long len = fseek(b->output, 0, SEEK_END) ? -1 : ftell(b->output), from;
    char *text;

    from = len > (long)b->opt->keep_output ? len - (long)b->opt->keep_output : 0;
    if (len < 0 || fseek(b->output, from, SEEK_SET))
        return ft_fail(err, FT_EIO, 0, "cannot read the output of %s", b->r[i].name);
    text = calloc(1, (size_t)(len - from) + 1);
    if (!text)
        return ft_fail(err, FT_ENOMEM, 0, "output of %s", b->r[i].name);
    text[fread(text, 1, (size_t)(len - from), b->output)] = '\0';
    for (long k = 0; k < len - from; k++) /* text ends with a zero */
        text[k] = text[k] ? text[k] : ' ';
    free(b->r[i].output);
    b->r[i].output = text;
    return FT_OK;
}

/* Shell text, untimed; FT_EBACKEND when it ends with anything but 0. NULL: nothing. */
static ft_status shell(const struct bench *b, const char *text, const char *what,
                       ft_error *err)
{
    const char *argv[] = {"/bin/sh", "-c", text, NULL};
    ft__spawn s = {
        .argv = argv, .signals = &b->signals, .show_output = b->opt->show_output};
    ft_command_run r;
    ft_status st;

    if (!text)
        return FT_OK;
    st = ft__system_runner.run(NULL, &r, &s, err);
    if (!st && r.exit_code)
        st = ft_fail(err, FT_EBACKEND, 0, "the %s command \"%s\" ended with %d", what,
                     text, r.exit_code);
    return st;
}

/* With what belongs around it. */
static ft_status run_once(const struct bench *b, size_t i, ft_command_run *run,
                          ft_error *err)
{
    ft_status st = shell(b, b->opt->prepare, "prepare", err);

    if (st)
        return st;
    if (b->monitor)
        ft_monitor_start(b->monitor);
    st = start(b, i, run, err);
    if (b->monitor)
        ft_monitor_stop(b->monitor, &run->conditions);
    return st ? st : shell(b, b->opt->conclude, "conclude", err);
}

static ft_status add_run(struct bench *b, size_t i, ft_error *err)
{
    ft_command_result *r = &b->r[i];
    ft_command_run *grown = r->run;
    ft_status st;

    if ((r->n_runs & (r->n_runs - 1)) == 0) /* grow at powers of two */
        grown = realloc(r->run, (r->n_runs ? 2 * r->n_runs : 1) * sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "runs of %s", r->name);
    r->run = grown;
    st = run_once(b, i, &r->run[r->n_runs], err);
    if (!st && b->output)
        st = keep_output(b, i, err);
    if (st)
        return st;
    r->run[r->n_runs].start_s -= b->begin_s;
    r->n_runs++;
    ft__progress(b->opt->log, ++b->done, b->wanted, r->name);
    return FT_OK;
}

/* How many runs a command gets, from how long its first one took. */
static uint64_t runs_for(const ft_command_options *o, double first_s)
{
    double time_s = o->time_s > 0 ? o->time_s : default_time_s;
    double n = fmin(ceil(time_s / fmax(first_s, 1e-6)), 1e6);
    uint32_t least = o->min_runs ? o->min_runs : default_runs;

    if (o->max_runs && least > o->max_runs)
        least = o->max_runs;
    if (o->max_runs)
        n = fmin(n, o->max_runs);
    return (uint64_t)fmax(n, least);
}

static ft_status warm_up(struct bench *b, ft_error *err)
{
    ft_command_run unused;
    ft_status st = FT_OK;

    for (size_t i = 0; i < b->n && !st; i++) {
        st = shell(b, b->opt->setup, "setup", err);
        for (uint32_t k = 0; k < b->opt->warmup && !st; k++)
            st = run_once(b, i, &unused, err);
    }
    return st;
}

static ft_status take_turns(struct bench *b, ft_error *err)
{
    uint64_t most = 0, *want = calloc(b->n, sizeof(*want));
    ft_status st = want ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "commands");

    b->begin_s = ft__clock_now(b->runner->clock);
    for (size_t i = 0; i < b->n && !st; i++) {
        st = add_run(b, i, err);
        if (st)
            break;
        want[i] = runs_for(b->opt, b->r[i].run[0].wall_s);
        most = want[i] > most ? want[i] : most;
        b->wanted += want[i];
    }
    for (uint64_t round = 1; round < most && !st; round++)
        for (size_t k = 0; k < b->n && !st; k++) {
            size_t i = (k + round) % b->n;

            if (round < want[i])
                st = add_run(b, i, err);
        }
    free(want);
    return st;
}

/* Mean, scatter and median of n values; `v` is reordered. */
static ft_measurement describe(double *v, size_t n, const char *unit)
{
    ft_measurement m = {.unit = unit, .n = n, .iterations = n};

    m.mean = ft__mean(v, n);
    m.std = ft__std(v, n);
    m.value = ft__median(v, n);
    m.mad = ft__mad(v, n, m.value);
    /* Standard error of a median of normal values: sigma sqrt(pi / 2n). */
    m.error = m.std * sqrt(1.5707963267948966 / (double)n);
    return m;
}

static ft_measurement of_means(double *v, size_t n)
{
    ft_measurement m = describe(v, n, "s");

    m.value = m.mean;
    m.error = m.std / sqrt((double)n);
    return m;
}

static void mark_outliers(ft_command_result *r)
{
    for (size_t i = 0; i < r->n_runs; i++) {
        double off = fabs(r->run[i].wall_s - r->time.value);

        r->run[i].outlier = r->time.mad > 0 && off > far_off * r->time.mad;
        r->n_outliers += (size_t)r->run[i].outlier;
        r->n_failed += r->run[i].exit_code != 0;
    }
}

static ft_status sum_up(ft_command_result *r, ft_error *err)
{
    size_t n = r->n_runs;
    double *v = calloc(n + 1, sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "runs of %s", r->name);
    for (size_t i = 0; i < n; i++)
        v[i] = r->run[i].user_s;
    r->user = of_means(v, n);
    for (size_t i = 0; i < n; i++)
        v[i] = r->run[i].system_s;
    r->system = of_means(v, n);
    for (size_t i = 0; i < n; i++)
        v[i] = (double)r->run[i].peak_bytes;
    ft__sort(v, n);
    r->memory = describe(v, n, "B");
    for (size_t i = 0; i < n; i++)
        r->memory.value = fmax(r->memory.value, (double)r->run[i].peak_bytes);
    for (size_t i = 0; i < n; i++)
        v[i] = r->run[i].wall_s;
    ft__sort(v, n);
    r->min_s = v[0];
    r->max_s = v[n - 1];
    r->p95_s = ft__quantile(v, n, 0.95);
    r->time = describe(v, n, "s");
    free(v);
    mark_outliers(r);
    return FT_OK;
}

static const double idle_s = 1;

static ft_status make_energy(ft_command_result *r, const ft_meter *m,
                             const double *idle_w, ft_error *err)
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
        e->energy = ft__measurement_unknown("J");
        e->power = ft__measurement_unknown("W");
    }
    return FT_OK;
}

/* Make r->energy, and find what the machine draws when nothing runs, if one looks. */
static ft_status begin_energy(ft_command_result *r, size_t n, ft_meter *m, bool looks,
                              ft_error *err)
{
    double long_s = idle_s, *idle_w = calloc(ft_meter_n_domains(m) + 1, sizeof(double));
    ft_status st;

    if (!idle_w)
        return ft_fail(err, FT_ENOMEM, 0, "energy of commands");
    for (uint32_t i = 0; i < ft_meter_n_domains(m); i++) {
        long_s = fmax(long_s, ft_meter_domain(m, i)->least_s);
        idle_w[i] = NAN;
    }
    st = looks ? ft__meter_idle(m, long_s, idle_w, err) : FT_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = make_energy(&r[i], m, idle_w, err);
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

/* From the readings taken while the commands took turns; run k of r lasted from
 * begin_s + start_s on. Domains for which runs are too short get their reason. */
static ft_status energy_of_runs(ft_command_result *r, const ft_meter *m,
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

/* Seconds to loop the command for the domains that are still unknown; 0: none is. */
static double energy_missing(const ft_command_result *r, const ft_command_options *opt)
{
    double long_s = 0;

    for (uint32_t i = 0; i < r->n_domains; i++)
        if (!isfinite(r->energy[i].energy.value))
            long_s = fmax(long_s, ft__meter_loop_s(opt->meter, i, opt->power_time_s,
                                                   opt->power_error));
    return long_s;
}

/* The same from one stretch of `runs` runs, which together took busy_s of it, for the
 * domains still unknown. What is drawn between two runs lies anywhere between idle
 * power and that of a run: it is taken for the latter, and the error has what that may
 * be off. */
static void energy_of_loop(ft_command_result *r, const ft_trace *t, double from_s,
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
        if (isfinite(e->idle_w))
            e->energy.error =
                hypot(e->energy.error, (1 - share) * (p.joules - e->idle_w * long_s) /
                                           sqrt(3) / (double)runs);
        e->power.value = e->power.mean = p.joules / long_s;
        e->power.error = p.joules_error / long_s;
        e->energy.n = e->power.n = p.n_fresh;
        e->energy.iterations = e->power.iterations = runs;
    }
}

/* Say why there was no such stretch: something has to be done between runs. */
static void explain_no_loop(ft_command_result *r, const ft_meter *m)
{
    for (uint32_t i = 0; i < r->n_domains; i++)
        if (!isfinite(r->energy[i].energy.value) && !*r->energy[i].reason)
            snprintf(
                r->energy[i].reason, sizeof(r->energy[i].reason),
                "runs are shorter than the %.3g s that the sensor needs, and are not "
                "looped with --prepare or --conclude",
                ft_meter_domain(m, i)->least_s);
}

/* Commands that are shorter than the sensors need are run back to back. What lies
 * between two runs is not theirs. */
static ft_status loop(struct bench *b, size_t i, double long_s, ft_error *err)
{
    ft_command_run run = {0};
    ft_trace t;
    double from_s, to_s, busy_s = 0;
    uint64_t runs = 0;
    ft_error why;
    ft_status st = ft__meter_start(b->opt->meter, err), stopped;

    if (st)
        return st;
    from_s = to_s = ft__clock_now(b->runner->clock);
    while (!st && to_s - from_s < long_s) {
        st = start(b, i, &run, err);
        runs++;
        busy_s += run.wall_s;
        to_s = ft__clock_now(b->runner->clock);
    }
    stopped = ft__meter_stop(b->opt->meter, &t, &why);
    if (stopped) {
        if (!st && err)
            *err = why;
        return st ? st : stopped;
    }
    if (!st)
        energy_of_loop(&b->r[i], &t, from_s, to_s, busy_s, runs);
    ft_trace_free(&t);
    return st;
}

static ft_status add_energy(struct bench *b, const ft_trace *t, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < b->n && !st; i++) {
        double long_s;

        st = energy_of_runs(&b->r[i], b->opt->meter, t, b->begin_s, err);
        if (st)
            break;
        long_s = energy_missing(&b->r[i], b->opt);
        if (long_s > 0 && b->r[i].n_failed)
            continue; /* energy of a failure means nothing */
        if (long_s > 0 && (b->opt->prepare || b->opt->conclude))
            explain_no_loop(&b->r[i], b->opt->meter);
        else if (long_s > 0)
            st = loop(b, i, long_s, err);
    }
    return st;
}

/* In this thread and those it makes. */
static void hold_signals(ft__signals *s)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    sigemptyset(&s->held);
    sigaddset(&s->held, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++) {
        struct sigaction how;

        if (sigaction(ending[i], NULL, &how) == 0 && how.sa_handler != SIG_IGN)
            sigaddset(&s->held, ending[i]);
    }
    pthread_sigmask(SIG_BLOCK, &s->held, &s->before);
}

static ft_status make_results(struct bench *b, ft_error *err)
{
    b->r = calloc(b->n, sizeof(*b->r));
    if (!b->r)
        return ft_fail(err, FT_ENOMEM, 0, "%zu commands", b->n);
    for (size_t i = 0; i < b->n; i++) {
        b->r[i].name = b->c[i].name ? strdup(b->c[i].name) : join(b->c[i].argv);
        if (!b->r[i].name)
            return ft_fail(err, FT_ENOMEM, 0, "%zu commands", b->n);
        if (b->opt->no_energy)
            snprintf(b->r[i].no_energy, sizeof(b->r[i].no_energy), "%s",
                     b->opt->no_energy);
    }
    return FT_OK;
}

/* The runs that count, watched by the meter where there is one. */
static ft_status watched(struct bench *b, ft_error *err)
{
    ft_meter *m = b->opt->meter;
    ft_trace t = {0};
    ft_error why = {0};
    ft_status st = m ? begin_energy(b->r, b->n, m, !b->opt->no_idle, err) : FT_OK,
              stopped;

    if (!st && m)
        st = ft__meter_start(m, err);
    if (st)
        return st;
    st = take_turns(b, err);
    stopped = m ? ft__meter_stop(m, &t, &why) : FT_OK;
    if (!st && stopped && err)
        *err = why;
    st = st ? st : stopped;
    for (size_t i = 0; i < b->n && !st; i++)
        st = sum_up(&b->r[i], err);
    if (!st && m)
        st = add_energy(b, &t, err);
    ft_trace_free(&t);
    return st;
}

static ft_status run_all(struct bench *b, ft_error *err)
{
    ft_status st = make_results(b, err);

    if (!st)
        st = ft_monitor_open(&b->monitor, b->opt->device, NULL, err);
    if (!st)
        st = warm_up(b, err);
    if (!st)
        st = watched(b, err);
    for (size_t i = 0; i < b->n && !st; i++)
        st = shell(b, b->opt->cleanup, "cleanup", err);
    ft_monitor_close(b->monitor);
    return st;
}

ft_status ft__runner_measure(ft_command_result **results, const ft_command *c, size_t n,
                             const ft_command_options *opt, const ft__runner *runner,
                             ft_error *err)
{
    struct bench b = {.c = c, .n = n, .opt = opt, .runner = runner};
    ft_status st;

    *results = NULL;
    for (size_t i = 0; i < n; i++)
        if (!c[i].argv || !c[i].argv[0])
            return ft_fail(err, FT_EINVAL, 0, "command %zu is empty", i + 1);
    if (n == 0)
        return ft_fail(err, FT_EINVAL, 0, "no command");
    if (opt->keep_output && !(b.output = tmpfile()))
        return ft_fail(err, FT_EIO, 0, "cannot keep output: no temporary file");
    hold_signals(&b.signals);
    st = run_all(&b, err);
    pthread_sigmask(SIG_SETMASK, &b.signals.before, NULL);
    if (b.output)
        fclose(b.output);
    if (st)
        ft_command_results_free(b.r, n);
    else
        *results = b.r;
    return st;
}

ft_status ft_measure_commands(ft_command_result **results, const ft_command *c,
                              size_t n, const ft_command_options *opt, ft_error *err)
{
    return ft__runner_measure(results, c, n, opt, &ft__system_runner, err);
}
