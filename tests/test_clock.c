#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "check.h"
#include "predict/model/dvfs.h"

enum { N_WORKLOADS = 40, N_CORE = 8, N_MEMORY = 2, N_ROWS = 640 };

/* A simulated chip. A workload is tiles of so many cycles and bytes; each SM computes
 * one while it fetches the next, and memory serves one fetch at a time: what overlaps
 * comes out of events. */
enum { N_SM = 16, N_TILES = 20 * N_SM };

struct ran {
    double s;
    double computing, moving; /* shares of the time */
};

static struct ran run_tiles(uint32_t workload, double core, double memory)
{
    ft__prng p = ft__prng_stream(1, workload);
    const double moved = 0.1 + 0.8 * ft__prng_unit(&p), latency = 0.1;
    double asks[N_SM] = {0}, done[N_SM] = {0}, free = 0, computing = 0;
    struct ran out = {0};

    for (int i = 0; i < N_TILES; i++) {
        const double size = 0.7 + 0.6 * ft__prng_unit(&p);
        const double cycles = size * (1 - moved) / core;
        const double fetch = size * moved / memory / N_SM;
        int sm = 0;

        for (int k = 1; k < N_SM; k++)
            sm = asks[k] < asks[sm] ? k : sm;
        free = fmax(free, asks[sm]) + fetch;
        asks[sm] = fmax(free + latency, done[sm]); /* and begins to compute */
        done[sm] = asks[sm] + cycles;
        out.s = fmax(out.s, done[sm]);
        out.moving += fetch;
        computing += cycles;
    }
    out.moving /= out.s;
    out.computing = computing / out.s / N_SM;
    return out;
}

/* Watts: clock tree and what computes go with f V^2, leakage with voltage and heat, to
 * which all of it adds. The voltage has a floor below 60 % of the clock. */
static double power_of(const struct ran *r, double core, double memory)
{
    const double v = 0.75 + 0.25 * pow(fmax(0, (core - 0.6) / 0.4), 1.5);
    const double rest =
        (15 + 90 * r->computing) * core * v * v + (15 + 35 * r->moving) * memory;
    double power = rest;

    for (int i = 0; i < 10; i++) /* until it is as hot as it gets */
        power = rest + 25 * v * exp(2 * (v - 1) + 0.002 * (power - 150));
    return power;
}

/* As measured: 1 % off at most. */
static double measured(ft__prng *p, double x)
{
    return x * (0.99 + 0.02 * ft__prng_unit(p));
}

static ft__clock_row truth(uint32_t workload, double core, double memory)
{
    const struct ran ran = run_tiles(workload, core, memory);
    ft__prng p = ft__prng_stream(workload, (uint64_t)(1000 * core + 1e6 * memory));
    ft__clock_row r = {.workload = workload,
                       .core_hz = 1.5e9 * core,
                       .memory_hz = 1e9 * memory,
                       .cap_w = NAN,
                       .time_s = measured(&p, 1e-4 * ran.s),
                       .power_w = measured(&p, power_of(&ran, core, memory))};

    for (int i = 0; i < FT__CLOCK_HINTS; i++)
        r.hint[i] = NAN;
    r.hint[0] = ran.moving;
    r.hint[1] = ran.computing;
    return r;
}

static size_t rows(ft__clock_row *out, uint32_t from, uint32_t to)
{
    size_t n = 0;

    for (uint32_t w = from; w < to; w++)
        for (int c = 0; c < N_CORE; c++)
            for (int m = 0; m < N_MEMORY; m++) {
                out[n] = truth(w, 0.44 + 0.08 * c, m ? 1 : 0.6);
                out[n++].workload = w - from;
            }
    return n;
}

static ft__clocks *fitted(size_t n, const ft__clock_row *row, int trees)
{
    ft__clocks *c = NULL;

    CHECK_EQ(ft__clocks_fit(&c, row, n, trees, 1, NULL), FT_OK);
    return c;
}

/* Mean errors of workloads that were left out, from their highest clocks. NULL: of
 * saying that time and power go with the core clock, whatever runs. */
static void errors(double *time, double *power, const ft__clocks *c)
{
    static ft__clock_row test[N_ROWS];
    size_t n = rows(test, 100, 100 + N_WORKLOADS);

    *time = *power = 0;
    for (size_t i = 0; i < n; i++) {
        ft__clock_row from = truth(100 + test[i].workload, 1, 1);
        ft__clock_ratio r = {.time = from.core_hz / test[i].core_hz,
                             .power = test[i].core_hz / from.core_hz};

        if (c)
            r = ft__clocks_at(c, &from, test[i].core_hz, test[i].memory_hz, NAN);
        *time += fabs(r.time * from.time_s / test[i].time_s - 1) / (double)n;
        *power += fabs(r.power * from.power_w / test[i].power_w - 1) / (double)n;
    }
}

/* Formulae take away three quarters of the error of the plain rule, trees no less. */
TEST(workloads_that_were_left_out_are_told_from_one_clock)
{
    static ft__clock_row row[N_ROWS];
    size_t n = rows(row, 0, N_WORKLOADS);
    ft__clocks *formulae = fitted(n, row, 0), *trees = fitted(n, row, 1);
    double time, power, time_trees, power_trees, time_rule, power_rule;

    errors(&time, &power, formulae);
    errors(&time_trees, &power_trees, trees);
    errors(&time_rule, &power_rule, NULL);
    CHECK(CMP(time, <, 0.25 * time_rule));
    CHECK(CMP(power, <, 0.25 * power_rule));
    CHECK(CMP(time_trees, <, 0.25 * time_rule));
    CHECK(CMP(power_trees, <, 0.25 * power_rule));
    ft__clocks_free(formulae);
    ft__clocks_free(trees);
}

TEST(intervals_hold_most_of_what_was_left_out)
{
    static ft__clock_row row[N_ROWS], test[N_ROWS];
    size_t n = rows(row, 0, N_WORKLOADS), in = 0, wide = 0;
    ft__clocks *trees = fitted(n, row, 1), *formulae = fitted(n, row, 0);

    n = rows(test, 100, 100 + N_WORKLOADS);
    for (size_t i = 0; i < n; i++) {
        ft__clock_row from = truth(100 + test[i].workload, 1, 1);
        ft__clock_ratio r =
            ft__clocks_at(trees, &from, test[i].core_hz, test[i].memory_hz, NAN);
        double time = test[i].time_s / from.time_s;

        in += r.time_low <= time && time <= r.time_high;
        wide += r.time_high / r.time_low > 1.3 || r.power_high / r.power_low > 1.3;
        CHECK(CMP(r.time_low, <=, r.time) && CMP(r.time, <=, r.time_high));
        CHECK(CMP(r.power_low, <=, r.power) && CMP(r.power, <=, r.power_high));
        r = ft__clocks_at(formulae, &from, test[i].core_hz, test[i].memory_hz, NAN);
        CHECK(isnan(r.time_low) && isnan(r.power_high));
    }
    CHECK(CMP(10 * in, >=, 7 * n));
    CHECK(CMP(5 * wide, <, n));
    ft__clocks_free(trees);
    ft__clocks_free(formulae);
}

TEST(the_clocks_that_were_measured_change_nothing)
{
    static ft__clock_row row[N_ROWS];
    ft__clocks *c = fitted(rows(row, 0, N_WORKLOADS), row, 0);
    ft__clock_row from = truth(200, 0.8, 0.6);
    ft__clock_ratio r = ft__clocks_at(c, &from, from.core_hz, from.memory_hz, NAN);

    CHECK_NEAR(r.time, 1, 1e-12);
    CHECK_NEAR(r.power, 1, 1e-12);
    r = ft__clocks_at(c, &from, from.core_hz, NAN, NAN);
    CHECK_NEAR(r.time, 1, 1e-12);
    ft__clocks_free(c);
}

/* With constants common to GPUs alone: no row was ever seen. */
TEST(a_faster_clock_takes_less_time_and_more_power)
{
    ft__clocks *c = fitted(0, NULL, 1);
    ft__clock_row from = truth(7, 1, 1);
    ft__clock_ratio last = {.time = INFINITY, .power = 0};

    for (double core = 0.3; core <= 1; core += 0.05) {
        ft__clock_ratio r = ft__clocks_at(c, &from, 1.5e9 * core, NAN, NAN);

        CHECK(CMP(r.time, <=, last.time) && CMP(r.time, >=, 1 - 1e-9));
        CHECK(CMP(r.power, >=, last.power) && CMP(r.power, <=, 1 + 1e-9));
        last = r;
    }
    ft__clocks_free(c);
}

/* The workload that moves most and the one that computes most, at half the clock: each
 * is predicted nearer to what it takes than to what the other one takes. */
TEST(what_waits_for_memory_gains_little_from_the_core)
{
    static ft__clock_row row[N_ROWS];
    ft__clocks *c = fitted(rows(row, 0, N_WORKLOADS), row, 0);
    uint32_t which[2] = {100, 100};
    double takes[2], said[2];

    for (uint32_t w = 100; w < 140; w++)
        for (int i = 0; i < 2; i++)
            if (truth(w, 1, 1).hint[i] > truth(which[i], 1, 1).hint[i])
                which[i] = w;
    for (int i = 0; i < 2; i++) {
        const ft__clock_row from = truth(which[i], 1, 1);

        takes[i] = truth(which[i], 0.5, 1).time_s / from.time_s;
        said[i] = ft__clocks_at(c, &from, 0.75e9, NAN, NAN).time;
    }
    CHECK(CMP(takes[0], <, 1.2) && CMP(takes[1], >, 1.8)); /* the simulation */
    CHECK(CMP(fabs(said[0] - takes[0]), <, fabs(said[0] - takes[1])));
    CHECK(CMP(fabs(said[1] - takes[1]), <, fabs(said[1] - takes[0])));
    ft__clocks_free(c);
}

/* Of those tried: least energy x time^delay by what is said; n: none can be told. */
static size_t best_of(const ft__clocks *c, const ft__clock_row *from,
                      const double *core, size_t n, double delay)
{
    size_t best = n;
    double least = INFINITY;

    for (size_t i = 0; i < n; i++) {
        ft__clock_ratio r = ft__clocks_at(c, from, core[i], NAN, NAN);
        double cost = r.power * pow(r.time, 1 + delay);

        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

/* Held against every clock tried. */
TEST(the_best_clock_is_nearly_the_best_there_is)
{
    static ft__clock_row row[N_ROWS];
    ft__clocks *c = fitted(rows(row, 0, N_WORKLOADS), row, 1);
    double core[N_CORE], regret[2] = {0, 0};

    for (int i = 0; i < N_CORE; i++)
        core[i] = 1.5e9 * (0.44 + 0.08 * i);
    for (uint32_t w = 100; w < 120; w++)
        for (int delay = 0; delay < 2; delay++) {
            ft__clock_row from = truth(w, 1, 1);
            size_t best = best_of(c, &from, core, N_CORE, delay);
            double least = INFINITY, taken = NAN;

            for (size_t i = 0; i < N_CORE; i++) {
                ft__clock_row r = truth(w, core[i] / 1.5e9, 1);
                double cost = r.power_w * pow(r.time_s, 1 + delay);

                least = fmin(least, cost);
                taken = i == best ? cost : taken;
            }
            regret[delay] += (taken / least - 1) / 20;
        }
    /* As far as two measurements of one workload deviate. */
    CHECK(CMP(regret[0], <, 0.02));
    CHECK(CMP(regret[1], <, 0.02));
    ft__clocks_free(c);
}

/* Of 30 programs of a GTX 1080 Ti, 13 take 1.3 to 1.4 times as long at 4000 of 5500 MHz
 * of memory and 12 no longer, whatever they draw: the lower clock costs more than it
 * saves where nothing says which of them is asked for. */
TEST(a_lower_memory_clock_is_not_free)
{
    for (double drawn = 0.5; drawn <= 1; drawn += 0.1) {
        const ft__clock_row from = {.class = FT__CLOCK_KERNEL,
                                    .core_hz = 2e9,
                                    .memory_hz = 5.5e9,
                                    .cap_w = 300,
                                    .time_s = 1e-3,
                                    .power_w = 300 * drawn,
                                    .hint = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}};
        ft__clocks *c = fitted(1, &from, 1);
        const ft__clock_ratio r = ft__clocks_at(c, &from, NAN, 4e9, NAN);

        CHECK(CMP(r.power, <, 0.99) && CMP(r.power * r.time * r.time, >, 1));
        ft__clocks_free(c);
    }
}

TEST(unknown_power_stays_unknown)
{
    static ft__clock_row row[N_ROWS];
    ft__clocks *c = fitted(rows(row, 0, N_WORKLOADS), row, 1);
    ft__clock_row from = truth(7, 1, 1);
    double core[] = {1e9, 1.5e9};
    ft__clock_ratio r;

    from.power_w = NAN;
    r = ft__clocks_at(c, &from, 1e9, NAN, NAN);
    CHECK(isnan(r.power));
    CHECK(CMP(r.time, >, 1));
    CHECK_EQ(best_of(c, &from, core, 2, 0), 2);
    ft__clocks_free(c);
}

/* Nothing but the name says which half of the workloads waits for memory. */
TEST(workloads_called_alike_behave_alike)
{
    static ft__clock_row row[N_ROWS];
    static char name[N_WORKLOADS][24];
    size_t n = 0;
    ft__clocks *c;
    double said[2];

    for (uint32_t w = 0; w < N_WORKLOADS; w++) {
        snprintf(name[w], sizeof(name[w]), "kernel_%u", w % 2 ? 4u : 4096u);
        for (int i = 0; i < N_CORE; i++) {
            ft__clock_row r = truth(1, 0.44 + 0.08 * i, 1);

            r.workload = w;
            ft__clock_name(r.name, name[w]);
            r.hint[0] = NAN;
            r.power_w = NAN;
            r.time_s = w % 2 ? 1e-3 : 1e-3 * 1.5e9 / r.core_hz;
            row[n++] = r;
        }
    }
    c = fitted(n, row, 1);
    for (int i = 0; i < 2; i++) {
        ft__clock_row from = {
            .core_hz = 1.5e9, .memory_hz = 1e9, .cap_w = NAN, .time_s = 1e-3};

        for (int h = 0; h < FT__CLOCK_HINTS; h++)
            from.hint[h] = NAN;
        from.power_w = NAN;
        ft__clock_name(from.name, i ? "kernel_4" : "kernel_4096");
        said[i] = ft__clocks_at(c, &from, 0.78e9, NAN, NAN).time;
    }
    CHECK(CMP(said[0], >, 1.7));
    CHECK(CMP(said[1], <, 1.2));
    ft__clocks_free(c);
}

TEST(equal_rows_make_equal_models)
{
    static ft__clock_row row[N_ROWS];
    size_t n = rows(row, 0, N_WORKLOADS);
    ft__clocks *a = fitted(n, row, 1), *b = fitted(n, row, 1);
    ft__clock_row from = truth(300, 0.9, 1);

    for (double core = 0.5e9; core < 1.5e9; core += 0.1e9) {
        ft__clock_ratio x = ft__clocks_at(a, &from, core, 0.6e9, NAN);
        ft__clock_ratio y = ft__clocks_at(b, &from, core, 0.6e9, NAN);

        CHECK(EQ(x.time, y.time) && EQ(x.power, y.power));
    }
    ft__clocks_free(a);
    ft__clocks_free(b);
}

/* The simulated chip lowers its clock until it draws no more than the cap. */
static ft__clock_row under_cap(uint32_t workload, double cap_w)
{
    ft__clock_row r = truth(workload, 1, 1);

    for (int core = 98; r.power_w > cap_w && core >= 30; core -= 2)
        r = truth(workload, 0.01 * core, 1);
    r.core_hz = 1.5e9;
    r.cap_w = cap_w;
    r.class = FT__CLOCK_CAPPED;
    return r;
}

static const double caps_w[] = {100, 120, 140, 160, 200};
enum { N_CAPS = sizeof(caps_w) / sizeof(*caps_w) };

/* Without a row at another cap than the highest, and with other workloads at all. */
TEST(caps_are_told_from_what_is_drawn_under_the_highest)
{
    static ft__clock_row row[N_ROWS];
    size_t n = 0;
    double time[2] = {0, 0}, power[2] = {0, 0}, as_it_was[2] = {0, 0};

    for (uint32_t w = 0; w < N_WORKLOADS; w++)
        for (int i = 0; i < N_CAPS; i++) {
            row[n] = under_cap(w, caps_w[i]);
            row[n++].workload = w;
        }
    for (int known = 0; known < 2; known++) {
        ft__clocks *c = fitted(n, row, known);
        ft__clock_row top[N_WORKLOADS];

        for (uint32_t w = 0; w < N_WORKLOADS && !known; w++) {
            top[w] = under_cap(w, caps_w[N_CAPS - 1]);
            top[w].workload = w;
        }
        if (!known) {
            ft__clocks_free(c);
            c = fitted(N_WORKLOADS, top, 1);
        }
        for (uint32_t w = 100; w < 120; w++)
            for (int i = 0; i < N_CAPS - 1; i++) {
                const ft__clock_row from = under_cap(w, caps_w[N_CAPS - 1]);
                const ft__clock_row to = under_cap(w, caps_w[i]);
                const ft__clock_ratio r = ft__clocks_at(c, &from, NAN, NAN, caps_w[i]);
                const double part = 1. / (20 * (N_CAPS - 1));

                time[known] += part * fabs(r.time * from.time_s / to.time_s - 1);
                power[known] += part * fabs(r.power * from.power_w / to.power_w - 1);
                as_it_was[0] += part / 2 * fabs(from.time_s / to.time_s - 1);
                as_it_was[1] += part / 2 * fabs(from.power_w / to.power_w - 1);
            }
        ft__clocks_free(c);
    }
    CHECK(CMP(time[0], <, 0.7 * as_it_was[0]) && CMP(power[0], <, 0.85 * as_it_was[1]));
    CHECK(CMP(time[1], <, 0.4 * as_it_was[0]) && CMP(power[1], <, 0.2 * as_it_was[1]));
}

/* The lowest clock draws more than that: the cap is exceeded, and the time is finite.
 */
TEST(no_cap_goes_below_what_the_lowest_clock_draws)
{
    ft__clock_row from = under_cap(7, 200);
    ft__clocks *c = fitted(1, &from, 1);
    const ft__clock_ratio little = ft__clocks_at(c, &from, NAN, NAN, 20);
    const ft__clock_ratio less = ft__clocks_at(c, &from, NAN, NAN, 2);

    CHECK(CMP(little.power * from.power_w, >, 20));
    CHECK(CMP(little.time, <, 10));
    CHECK_NEAR(less.time, little.time, 1e-9);
    from = under_cap(7, 100); /* which holds it back */
    CHECK(CMP(ft__clocks_at(c, &from, NAN, NAN, 200).power, >, 1.1));
    CHECK(CMP(ft__clocks_at(c, &from, NAN, NAN, 200).time, <=, 1));
    ft__clocks_free(c);
}
