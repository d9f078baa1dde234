/* Sensors of which the truth is known: random loads, seen by random sensors with
 * random faults. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/power.h"

static const double pi = 3.14159265358979323846;
enum { CELLS = 14000, MOST_POLLS = 60000 }; /* a cell is a millisecond */
static const double cell = 1e-3;

struct load {
    double energy[CELLS + 1]; /* up to the end of each cell */
    double from, to;
};

static double uniform(ft__prng *p, double lo, double hi)
{
    return lo + (hi - lo) * ft__prng_unit(p);
}

static double log_uniform(ft__prng *p, double lo, double hi)
{
    return lo * exp(ft__prng_unit(p) * log(hi / lo));
}

static double normal(ft__prng *p)
{
    return sqrt(-2 * log(1 - ft__prng_unit(p))) * cos(2 * pi * ft__prng_unit(p));
}

enum shape { CONSTANT, START_UP, STEPS, RAMP, SINE, N_SHAPES };

struct course {
    enum shape shape;
    double level, amplitude, time, phase, step_at[3], step[3];
};

/* Relative to the level, at 0 .. 1 of the duration. */
static double course_at(const struct course *c, double x, double seconds)
{
    double v = 1;

    switch (c->shape) {
    case START_UP: return 1 - c->amplitude * exp(-x / (0.1 * c->time));
    case STEPS:
        for (int i = 0; i < 3; i++)
            v += x > c->step_at[i] ? c->step[i] : 0;
        return v;
    case RAMP: return 1 + c->amplitude * (x - 0.5);
    case SINE: return 1 + c->amplitude * sin(2 * pi * x * seconds / c->time + c->phase);
    default: return 1;
    }
}

static void make_load(struct load *l, ft__prng *p, double seconds, double lead)
{
    double idle = uniform(p, 10, 60), noise = uniform(p, 0, 0.03);
    struct course c = {.shape = ft__prng_below(p, N_SHAPES),
                       .level = uniform(p, 80, 400),
                       .amplitude = uniform(p, 0, 0.3),
                       .phase = uniform(p, 0, 6)};

    c.time = c.shape == SINE ? log_uniform(p, 0.05, 5) : ft__prng_unit(p);
    for (int i = 0; i < 3; i++) {
        c.step_at[i] = ft__prng_unit(p);
        c.step[i] = uniform(p, -0.2, 0.2);
    }
    l->from = lead + uniform(p, 0, 0.1);
    l->to = l->from + seconds;
    l->energy[0] = 0;
    for (int i = 0; i < CELLS && (i - 500) * cell < l->to; i++) {
        double a = i * cell, b = a + cell, in, x = (a - l->from) / seconds;

        in = fmax(0, fmin(b, l->to) - fmax(a, l->from)) / cell;
        l->energy[i + 1] =
            l->energy[i] + cell * ((1 - in) * idle +
                                   in * c.level * course_at(&c, fmax(x, 0), seconds) *
                                       (1 + noise * normal(p)));
    }
}

static double energy_at(const struct load *l, double t)
{
    double x = fmin(fmax(t / cell, 0), CELLS - 1e-6);
    int i = (int)x;

    return l->energy[i] + (x - i) * (l->energy[i + 1] - l->energy[i]);
}

enum sort { COUNTER, AVERAGE, WINDOW, PART_TIME, BOTH, N_SORTS };
enum fault { NONE, SCATTERED_NAN, DROP_OUT, FREEZE, STUCK_FOR_GOOD, N_FAULTS };
static const char *const sort_name[] = {"counter", "average", "window", "part-time",
                                        "both"};
static const char *const fault_name[] = {"none", "NaN", "drop-out", "freeze", "stuck"};

struct sensor {
    enum sort sort;
    enum fault fault;
    double period, window, watt_step, joule_step, noise, wraps_at;
    double fault_from, fault_to;
    ft_domain domain;
};

static void make_sensor(struct sensor *s, ft__prng *p, double period, double seconds,
                        double from)
{
    bool told = ft__prng_below(p, 2);
    double length;

    s->sort = ft__prng_below(p, N_SORTS);
    s->fault = ft__prng_below(p, 2) ? NONE : ft__prng_below(p, N_FAULTS);
    s->period = period;
    s->window = s->sort == WINDOW                         ? uniform(p, 2, 10) * period
                : s->sort == PART_TIME || s->sort == BOTH ? 0.25 * period
                                                          : period;
    s->watt_step = ft__prng_below(p, 2) ? 0.001 : uniform(p, 0.05, 1);
    s->joule_step = ft__prng_below(p, 2) ? 1e-3 : 61e-6;
    /* Of the sensor's own samples, which a window averages. */
    s->noise = ft__prng_below(p, 2) ? 0 : 0.005 * sqrt(fmin(1, period / s->window));
    s->wraps_at = ft__prng_below(p, 2) ? 262.144 : INFINITY;
    length = seconds * uniform(p, 0.03, 0.3);
    s->fault_from = from + uniform(p, 0.05, 0.95) * (seconds - length);
    s->fault_to = s->fault == STUCK_FOR_GOOD ? INFINITY : s->fault_from + length;
    s->domain = (ft_domain){.name = "synthetic",
                            .part_of = "",
                            .counts = s->sort == COUNTER || s->sort == BOTH,
                            .tells_power = s->sort != COUNTER,
                            .period_s = told ? period : NAN,
                            .window_s = told || s->sort != AVERAGE ? s->window : NAN,
                            .duty = s->sort == PART_TIME || s->sort == BOTH ? 0.25 : 1,
                            .least_s = NAN};
}

static bool frozen(const struct sensor *s, double t)
{
    return (s->fault == FREEZE || s->fault == STUCK_FOR_GOOD) && t > s->fault_from &&
           t <= s->fault_to;
}

static bool missing(const struct sensor *s, ft__prng *p, double t)
{
    return (s->fault == SCATTERED_NAN && ft__prng_below(p, 20) == 0) ||
           (s->fault == DROP_OUT && t > s->fault_from && t <= s->fault_to);
}

struct shown {
    double next, watts, joules, lost, last_energy;
};

/* What the sensor's registers hold after its update at t. A frozen counter does
 * not catch up. */
static void update(struct shown *x, const struct sensor *s, const struct load *l,
                   ft__prng *p, double t)
{
    double e = energy_at(l, t), w;

    if (frozen(s, t)) {
        x->lost += e - x->last_energy;
    } else {
        w = (e - energy_at(l, t - s->window)) / s->window;
        w *= 1 + s->noise * normal(p);
        x->watts = s->watt_step * round(w / s->watt_step);
        x->joules = s->joule_step * floor((e - x->lost) / s->joule_step);
    }
    x->last_energy = e;
}

struct seen {
    ft_trace trace;
    size_t n;
    ft_power_reading *reading;
    uint64_t updates; /* inside */
};

/* As the meter does it: a counter that went back has begun anew. */
static double unwrap(double raw, double *last, double *turns, double wraps_at)
{
    if (raw < *last)
        *turns += wraps_at;
    *last = raw;
    return raw + *turns;
}

static void watch(struct seen *out, const struct sensor *s, const struct load *l,
                  ft__prng *p, double end)
{
    double poll = fmax(s->period / 10, 1e-3), t = 0.02 * ft__prng_unit(p);
    struct shown x = {s->period * ft__prng_unit(p) + s->window, NAN, NAN, 0, 0};
    double last = 0, turns = 0;

    out->n = 0;
    out->updates = 0;
    while (t < end && out->n < MOST_POLLS) {
        ft_power_reading *r = &out->reading[out->n++];

        while (x.next <= t) {
            update(&x, s, l, p, x.next);
            out->updates += x.next >= l->from && x.next <= l->to && !frozen(s, x.next);
            x.next += s->period * uniform(p, 0.98, 1.02);
        }
        *r = (ft_power_reading){t, NAN, NAN};
        if (!missing(s, p, t)) {
            r->watts = s->domain.tells_power ? x.watts : NAN;
            if (s->domain.counts && isfinite(x.joules))
                r->joules =
                    unwrap(fmod(x.joules, s->wraps_at), &last, &turns, s->wraps_at);
        }
        t += poll * (ft__prng_below(p, 200) ? uniform(p, 1, 1.1) : uniform(p, 1, 5));
    }
}

struct tally {
    unsigned n, told, near_, covered, fitting_reason;
    double worst;
};
struct tallies {
    struct tally by[N_SORTS][N_FAULTS];
    unsigned zeros, without_reason, fresh_off;
};

static bool names_the_fault(const char *reason)
{
    return strstr(reason, "stood still") || strstr(reason, "no readings");
}

static void judge(struct tallies *all, const struct sensor *s, const struct load *l,
                  const struct seen *seen, bool verbose, unsigned index)
{
    struct tally *t = &all->by[s->sort][s->fault];
    double truth = energy_at(l, l->to) - energy_at(l, l->from), off;
    double allowed = s->sort == PART_TIME ? 0.03 : 0.01;
    ft_power w;

    ft_power_of(&w, &seen->trace, 0, l->from, l->to);
    all->zeros += w.joules == 0 || w.watts == 0;
    all->without_reason += isnan(w.joules) != (*w.reason != '\0');
    if (seen->updates < 11)
        return;
    t->n++;
    t->fitting_reason += isnan(w.joules) && names_the_fault(w.reason);
    if (isnan(w.joules)) {
        if (verbose)
            printf("%u %s %s %s\n", index, sort_name[s->sort], fault_name[s->fault],
                   w.reason);
        return;
    }
    off = w.joules / truth - 1;
    t->told++;
    t->near_ += fabs(off) <= allowed;
    t->covered += fabs(w.joules - truth) <= 2 * w.joules_error;
    t->worst = fmax(t->worst, fabs(off));
    all->fresh_off +=
        s->fault == NONE && w.n_fresh > seen->updates + seen->updates / 10 + 2;
    if (verbose && fabs(off) > allowed)
        printf("%u %s %s off %.2f %% error %.2f %% n %llu\n", index, sort_name[s->sort],
               fault_name[s->fault], 100 * off, 100 * w.joules_error / truth,
               (unsigned long long)seen->updates);
}

static void run(struct tallies *all, uint64_t seed, unsigned n, bool verbose)
{
    struct load *l = malloc(sizeof(*l));
    struct seen seen = {.reading = calloc(MOST_POLLS, sizeof(ft_power_reading))};
    struct sensor s;

    seen.trace = (ft_trace){
        .n_domains = 1, .domain = &s.domain, .n = &seen.n, .reading = &seen.reading};
    for (unsigned i = 0; i < n && l && seen.reading; i++) {
        ft__prng p = ft__prng_stream(seed, i);
        double period = log_uniform(&p, 0.01, 0.1);
        double seconds = fmin(period * log_uniform(&p, 3, 300), 10), lead = 1.2;

        make_load(l, &p, seconds, lead);
        make_sensor(&s, &p, period, seconds, l->from);
        watch(&seen, &s, l, &p, l->to + 2.5 * period);
        judge(all, &s, l, &seen, verbose, i);
    }
    free(l);
    free(seen.reading);
}

static void print(const struct tallies *all)
{
    printf("%-10s %-9s %5s %6s %6s %6s %8s\n", "sensor", "fault", "n", "told", "near",
           "z<2", "worst");
    for (int s = 0; s < N_SORTS; s++)
        for (int f = 0; f < N_FAULTS; f++) {
            const struct tally *t = &all->by[s][f];
            double told = t->told ? t->told : 1;

            printf("%-10s %-9s %5u %5.1f%% %5.1f%% %5.1f%% %7.2f%%\n", sort_name[s],
                   fault_name[f], t->n, 100.0 * t->told / (t->n ? t->n : 1),
                   100 * t->near_ / told, 100 * t->covered / told, 100 * t->worst);
        }
    printf("zeros %u, no reason %u, too many fresh %u\n", all->zeros,
           all->without_reason, all->fresh_off);
}

/* Share of the traces, by what happened to them. */
static double share(unsigned part, unsigned whole)
{
    return whole ? (double)part / whole : 1;
}

/* A number for nearly all that leave one to be told, close to the truth, with an error
 * that covers it; and a reason for what does not. */
static void check_sort(const struct tallies *all, int s)
{
    struct tally sum = {0}, whole = {0};
    const struct tally *stuck = &all->by[s][STUCK_FOR_GOOD];

    for (int f = NONE; f <= DROP_OUT; f++) {
        const struct tally *t = &all->by[s][f];

        sum.n += t->n;
        sum.told += t->told;
        sum.covered += t->covered;
        /* What happened while nobody looked is in the error. */
        whole.told += f == DROP_OUT ? 0 : t->told;
        whole.near_ += f == DROP_OUT ? 0 : t->near_;
    }
    CHECK(CMP(sum.n, >, 500));
    CHECK(CMP(share(sum.told, sum.n), >=, 0.95));
    CHECK(CMP(share(whole.near_, whole.told), >=, 0.98));
    CHECK(CMP(share(sum.covered, sum.told), >=, 0.9));
    CHECK(CMP(share(stuck->told, stuck->n), <=, 0.15));
    for (int f = 0; f < N_FAULTS; f++)
        CHECK_EQ(all->by[s][f].told + all->by[s][f].fitting_reason, all->by[s][f].n);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20260101;
    unsigned n = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 10000;
    struct tallies all = {0};

    run(&all, seed, n, argc > 4);
    print(&all);
    for (int s = 0; s < N_SORTS && n >= 10000; s++)
        check_sort(&all, s);
    CHECK(EQ(all.zeros, 0) && EQ(all.without_reason, 0));
    CHECK(CMP(all.fresh_off, <=, n / 200));
    CHECK_DONE();
}
