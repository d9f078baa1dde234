/* Time and power as functions of clocks and power caps. */
#include "predict/model/clock.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "learn/learn_inside.h"

/* Shares are of the largest power or cap that was seen, clocks of the highest. With
 * one clock, kernels are taken to spend a tenth of their time on memory, not overlapped
 * (docs/notes/clocks-model.md). */
enum clock_constant {
    IDLE,        /* power that no clock changes, but the voltage */
    MEMORY,      /* power that goes with the memory's clock alone */
    CLOCKED,     /* share of the rest that goes with the clock, not with the work */
    KNEE,        /* clock up to which the voltage stays what it is */
    SLOPE,       /* of the relative voltage above it */
    SMOOTH,      /* 1: core and memory one after the other; more: at once */
    BOUND,       /* how much of a workload waits for memory: logistic of this ... */
    BOUND_POWER, /* ... and this times log(power / largest) ... */
    BOUND_HINT,  /* ... and this times the activity of memory */
    WAITING,     /* power while the device waits for something else ... */
    STEADY,      /* ... while it is busy: the mean power to this; 1: it never waits */
    LEAST,       /* clock that no cap goes below */
    DRAWN,       /* share of a cap that is drawn under it */
    DEMAND,      /* times what is drawn at a cap: what would be without */
    N_CONSTANTS
};
static_assert((int)N_CONSTANTS == (int)FT__CLOCK_CONSTANTS,
              "as predictor files have them");
static const struct clock_range {
    double value[FT__N_CLOCK_CLASSES], least, most;
} ranges[N_CONSTANTS] = {
    [IDLE] = {{0.15, 0.15, 0.15}, 0.01, 0.6},
    [MEMORY] = {{0.10, 0.08, 0.08}, 0.001, 0.6},
    [CLOCKED] = {{0.4, 0.32, 0.32}, 0, 1},
    [KNEE] = {{0.65, 0.73, 0.73}, 0.2, 1},
    [SLOPE] = {{1.0, 1.17, 1.17}, 0, 4},
    [SMOOTH] = {{1, 2.8, 2.8}, 1, 12},
    [BOUND] = {{-2.2, 0.12, 0.12}, -8, 8},
    [BOUND_POWER] = {{0, -1.8, -1.8}, -8, 8},
    [BOUND_HINT] = {{2, 2, 2}, -12, 12},
    [WAITING] = {{0.33, 0.33, 0.33}, 0.05, 0.8},
    [STEADY] = {{1, 1, 0.3}, 0, 1},
    [LEAST] = {{0.12, 0.12, 0.12}, 0.08, 0.4},
    [DRAWN] = {{0.97, 0.97, 0.97}, 0.85, 1.05},
    [DEMAND] = {{1, 1.3, 1.3}, 1, 2},
};
/* Regularisation towards constants common to GPUs: added to the mean error, times the
 * squared moves as shares of each constant's range. */
static const double MOVED = 0.1;
enum { SWEEPS = 60 };
static const double FIRST_STEP = 0.2; /* of a range */
static const double LAST_STEP = 0.002;

/* A workload's row at its highest clocks and another of its rows. */
struct clock_pair {
    const ft__clock_row *from, *to;
};

static double relative(double value, double largest)
{
    return isfinite(value) && largest > 0 ? value / largest : 1;
}

static double voltage(const double *v, double core)
{
    return 1 + v[SLOPE] * fmax(0, core - v[KNEE]);
}

double ft__clock_swing(double core)
{
    double v[N_CONSTANTS];

    for (int i = 0; i < N_CONSTANTS; i++)
        v[i] = ranges[i].value[FT__CLOCK_KERNEL];
    return core * voltage(v, core) * voltage(v, core);
}

static double bound(const ft__clocks *c, const ft__clock_row *r)
{
    const double *v = c->v;
    double power = relative(r->power_w, c->power_w);
    double hint = isfinite(r->hint[0]) ? r->hint[0] : 0;

    return 1 /
           (1 + exp(-(v[BOUND] + v[BOUND_POWER] * log(power) + v[BOUND_HINT] * hint)));
}

static double to_power(double v, double q)
{
    return q == 3 ? v * v * v : pow(v, q);
}

/* Parameters of a workload that do not depend on clocks and cap. Powers and clocks are
 * shares of *_top. */
struct clock_state {
    const ft__clocks *c;
    double core_top, memory_top;
    double bound, held; /* share that memory has at the highest clocks, in it */
    double alone;       /* time there, in the units of time_at() */
    double level, dynamic;
    double busy, waiting_w; /* share of the time measured, and power in the rest */
};

struct clock_point {
    double time, power;
};

static double time_at(const struct clock_state *s, double core, double memory)
{
    const double q = s->c->v[SMOOTH];
    const double held = memory == 1 ? s->held : to_power(s->bound / memory, q);

    return pow(to_power((1 - s->bound) / core, q) + held, 1 / q);
}

static double level_at(const double *v, double core, double memory)
{
    return v[IDLE] * voltage(v, core) / voltage(v, 1) + v[MEMORY] * memory;
}

/* What switches at the time that it takes there, of what does at the highest clocks. */
static double switched(const struct clock_state *s, double core, double time)
{
    const double *v = s->c->v, volt = voltage(v, core) / voltage(v, 1);

    return volt * volt * (v[CLOCKED] * core + (1 - v[CLOCKED]) * s->alone / time);
}

static struct clock_point point_at(const struct clock_state *s, double core,
                                   double memory)
{
    const double *v = s->c->v, time = time_at(s, core, memory);

    return (struct clock_point){time, s->level * level_at(v, core, memory) /
                                              level_at(v, 1, 1) +
                                          s->dynamic * switched(s, core, time)};
}

/* The clock that a cap leaves. */
static double clock_under(const struct clock_state *s, double core, double memory,
                          double cap)
{
    const double most = cap * s->c->v[DRAWN];
    double low = fmin(core, s->c->v[LEAST]), high = core;

    if (!(point_at(s, core, memory).power > most))
        return core;
    for (int i = 0; i < 20; i++) {
        const double at = (low + high) / 2;

        *(point_at(s, at, memory).power > most ? &high : &low) = at;
    }
    return low;
}

/* The reference measurement of a ratio, decomposed. */
struct clock_start {
    struct clock_state state;
    double core, memory, cap, power; /* as measured */
    double busy_w;                   /* while busy */
    struct clock_point busy;         /* there, by the formulae */
};

/* What the measured power says of the busy part: its power, its share of the time. */
static void split_power(struct clock_start *out, const double *v)
{
    struct clock_state *s = &out->state;
    const double drawn = v[DRAWN] * out->cap, p = out->power;

    out->busy_w = fmax(p, fmin(drawn, pow(fmin(1, p), v[STEADY])));
    s->busy = v[STEADY] == 1 || out->busy_w == p ? 1
              : p > v[WAITING] ? (p - v[WAITING]) / (out->busy_w - v[WAITING])
                               : 0;
    s->waiting_w = s->busy < 1 ? (p - s->busy * out->busy_w) / (1 - s->busy) : 0;
}

/* The share `bound` of the time, at the highest clocks, is memory's. */
static void start_of(struct clock_start *out, const ft__clocks *c,
                     const ft__clock_row *r)
{
    const double *v = c->v, q = v[SMOOTH];
    struct clock_state *s = &out->state;
    double level, demand, reached, time;

    s->c = c;
    s->core_top = c->core_hz > 0 ? c->core_hz : r->core_hz;
    s->memory_top = c->memory_hz > 0 ? c->memory_hz : r->memory_hz;
    s->bound = bound(c, r);
    s->held = to_power(s->bound, q);
    s->alone = pow(to_power(1 - s->bound, q) + s->held, 1 / q);
    out->core = relative(r->core_hz, s->core_top);
    out->memory = relative(r->memory_hz, s->memory_top);
    out->power = relative(r->power_w, c->power_w);
    out->cap = isfinite(r->cap_w) && isfinite(r->power_w)
                   ? relative(r->cap_w, c->power_w)
                   : INFINITY;
    split_power(out, v);
    /* 0 well below the power drawn under a cap, 1 at it. */
    reached = fmin(1, fmax(0, (out->busy_w / (v[DRAWN] * out->cap) - 0.9) / 0.1));
    demand = out->busy_w * (1 + (v[DEMAND] - 1) * reached);
    /* A workload that takes less than what is always taken has its own share of it. */
    s->level = fmin(level_at(v, 1, 1), 0.8 * demand);
    level = s->level * level_at(v, out->core, out->memory) / level_at(v, 1, 1);
    time = time_at(s, out->core, out->memory);
    s->dynamic = (demand - level) / switched(s, out->core, time);
    out->busy = point_at(
        s, reached > 0 ? clock_under(s, out->core, out->memory, out->cap) : out->core,
        out->memory);
}

static ft__clock_ratio ratio_at(const struct clock_start *from, double core_hz,
                                double memory_hz, double cap_w)
{
    const struct clock_state *s = &from->state;
    double core = isfinite(core_hz) ? relative(core_hz, s->core_top) : from->core;
    double memory =
        isfinite(memory_hz) ? relative(memory_hz, s->memory_top) : from->memory;
    double cap = isfinite(cap_w) ? relative(cap_w, s->c->power_w) : from->cap, busy;
    struct clock_point at;
    ft__clock_ratio out = {
        .time_low = NAN, .time_high = NAN, .power_low = NAN, .power_high = NAN};

    at = point_at(s, clock_under(s, core, memory, cap), memory);
    busy = s->busy * (at.time / from->busy.time);
    out.time = busy + (1 - s->busy);
    out.power = (busy * at.power / from->busy.power * from->busy_w +
                 (1 - s->busy) * s->waiting_w) /
                out.time / from->power;
    return out;
}

static ft__clock_ratio formulae(const ft__clocks *c, const ft__clock_row *r,
                                double core_hz, double memory_hz, double cap_w)
{
    struct clock_start s;

    start_of(&s, c, r);
    return ratio_at(&s, core_hz, memory_hz, cap_w);
}

static double miss(double from, double to, double ratio)
{
    double e = fabs(log(to / from) - log(ratio));

    return isfinite(e) ? e : 0;
}

static double loss(const ft__clocks *c, const struct clock_pair *pair, size_t n,
                   ft__clock_class class)
{
    double sum = 0, moved = 0;

    for (size_t i = 0; i < n; i++) {
        const ft__clock_row *a = pair[i].from, *b = pair[i].to;
        ft__clock_ratio r = formulae(c, a, b->core_hz, b->memory_hz, b->cap_w);

        sum +=
            miss(a->time_s, b->time_s, r.time) + miss(a->power_w, b->power_w, r.power);
    }
    for (int i = 0; i < N_CONSTANTS; i++) {
        const double by =
            (c->v[i] - ranges[i].value[class]) / (ranges[i].most - ranges[i].least);

        moved += by * by;
    }
    return sum / (double)n + MOVED * moved;
}

/* Hooke and Jeeves (1961), one constant after the other. */
static void search(ft__clocks *c, const struct clock_pair *pair, size_t n,
                   ft__clock_class class)
{
    double step[N_CONSTANTS], least = loss(c, pair, n, class), largest = FIRST_STEP;

    for (int i = 0; i < N_CONSTANTS; i++)
        step[i] = FIRST_STEP;
    if (class != FT__CLOCK_CAPPED) /* clocks alone do not tell who waits */
        step[WAITING] = step[STEADY] = 0;
    for (int interpolation = 0; interpolation < SWEEPS && largest >= LAST_STEP;
         interpolation++) {
        largest = 0;
        for (int i = 0; i < N_CONSTANTS; i++) {
            double old = c->v[i], width = ranges[i].most - ranges[i].least;
            int better = 0;

            for (int sign = 1; sign >= -1 && !better; sign -= 2) {
                double l;

                c->v[i] = fmin(fmax(old + sign * step[i] * width, ranges[i].least),
                               ranges[i].most);
                l = loss(c, pair, n, class);
                better = l < least;
                least = better ? l : least;
            }
            if (!better)
                c->v[i] = old;
            step[i] *= better ? 1.5 : 0.5;
            largest = fmax(largest, step[i]);
        }
    }
}

static double log_of(double a, double b)
{
    return isfinite(a) && isfinite(b) ? log(a / b) : 0;
}

/* *to: clocks and cap, of which what is NaN is as measured. */
static void columns(float *out, const ft__clocks *c, const ft__clock_row *r,
                    const ft__clock_row *to)
{
    const ft__clock_ratio predicted =
        formulae(c, r, to->core_hz, to->memory_hz, to->cap_w);
    const double cap = isfinite(to->cap_w) ? to->cap_w : r->cap_w;

    *out++ = (float)log_of(to->core_hz, r->core_hz);
    *out++ = (float)log_of(to->memory_hz, r->memory_hz);
    *out++ = (float)relative(to->core_hz, c->core_hz);
    *out++ = (float)relative(r->core_hz, c->core_hz);
    *out++ = (float)log(relative(r->power_w, c->power_w));
    *out++ = (float)fmin(1, log_of(cap, r->power_w));
    *out++ = isfinite(r->time_s) ? (float)log(r->time_s) : 0;
    *out++ = (float)bound(c, r);
    *out++ = (float)log(predicted.time);
    *out++ = (float)log(predicted.power);
    for (int i = 0; i < FT__CLOCK_HINTS; i++)
        *out++ = isfinite(r->hint[i]) ? (float)r->hint[i] : NAN;
    memcpy(out, r->name, sizeof(r->name));
}

int ft__clocks_sound(const ft__clocks *c)
{
    for (int i = 0; i < N_CONSTANTS; i++)
        if (!(c->v[i] >= ranges[i].least && c->v[i] <= ranges[i].most))
            return 0;
    return c->core_hz >= 0 && c->memory_hz >= 0 && c->power_w >= 0 &&
           isfinite(c->core_hz) && isfinite(c->memory_hz) && isfinite(c->power_w);
}

/* Trees on what the formulae miss of time or of power. Without a pair that tells of
 * it: none. */
static ft_status learn(ft__clock_trees *out, const ft__clocks *c,
                       const struct clock_pair *pair, size_t n, bool power,
                       uint64_t seed, ft_error *err)
{
    ft__arena room = {0};
    float *x = ft__arena_need(&room, n, FT__CLOCK_COLUMNS * sizeof(*x));
    double *predicted = ft__arena_need(&room, n, sizeof(*predicted)),
           *miss = ft__arena_need(&room, n, sizeof(*miss));
    uint64_t *called = ft__arena_need(&room, n, sizeof(*called)),
             *workload = ft__arena_need(&room, n, sizeof(*workload));
    ft_status st = FT_OK;
    size_t used = 0;

    for (size_t i = 0; !room.bad && i < n; i++) {
        const ft__clock_row *a = pair[i].from, *b = pair[i].to;
        ft__clock_ratio r = formulae(c, a, b->core_hz, b->memory_hz, b->cap_w);

        predicted[used] = log(power ? r.power : r.time);
        miss[used] = log(power ? b->power_w / a->power_w : b->time_s / a->time_s) -
                     predicted[used];
        if (!isfinite(miss[used]))
            continue;
        columns(x + used * FT__CLOCK_COLUMNS, c, a, b);
        called[used] = a->called;
        workload[used++] = a->workload;
    }
    if (room.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu clocks", n);
    else if (used)
        st = ft__clock_trees_fit(
            out, &(ft__matrix){x, used, FT__CLOCK_COLUMNS}, predicted, miss,
            (const uint64_t *const[]){called, workload}, !power, seed, err);
    ft__arena_free(&room);
    return st;
}

static int higher(const ft__clock_row *a, const ft__clock_row *b)
{
    double x = isfinite(a->memory_hz) ? a->memory_hz : 0,
           y = isfinite(b->memory_hz) ? b->memory_hz : 0;

    if (isfinite(a->core_hz) && isfinite(b->core_hz) && a->core_hz != b->core_hz)
        return a->core_hz > b->core_hz;
    return x != y ? x > y : a->cap_w > b->cap_w;
}

/* The class of most rows; networks are FT__CLOCK_CAPPED if any is. */
static ft__clock_class class_of(const ft__clock_row *row, size_t n)
{
    size_t rows[FT__N_CLOCK_CLASSES] = {0};

    for (size_t i = 0; i < n; i++)
        rows[row[i].class]++;
    if (rows[FT__CLOCK_KERNEL] > n / 2)
        return FT__CLOCK_KERNEL;
    return rows[FT__CLOCK_CAPPED] ? FT__CLOCK_CAPPED : FT__CLOCK_NETWORK;
}

/* From the highest clocks of a workload, whose row answers start from, to all others of
 * its rows. */
static struct clock_pair *pairs(size_t *n_pairs, const ft__clock_row *row, size_t n)
{
    struct clock_pair *list = malloc((n + 1) * sizeof(*list));
    const ft__clock_row **top;
    uint32_t workloads = 0;

    *n_pairs = 0;
    for (size_t i = 0; i < n; i++)
        workloads = row[i].workload >= workloads ? row[i].workload + 1 : workloads;
    top = calloc(workloads + (size_t)1, sizeof(*top));
    for (size_t i = 0; list && top && i < n; i++) {
        const ft__clock_row **t = &top[row[i].workload];

        if (!*t || higher(&row[i], *t))
            *t = &row[i];
    }
    for (size_t i = 0; list && top && i < n; i++)
        if (top[row[i].workload] != &row[i])
            list[(*n_pairs)++] = (struct clock_pair){top[row[i].workload], &row[i]};
    if (!top) {
        free(list);
        list = NULL;
    }
    free(top);
    return list;
}

ft_status ft__clocks_fit(ft__clocks **out, const ft__clock_row *row, size_t n,
                         int trees, uint64_t seed, ft_error *err)
{
    ft__clocks *c = calloc(1, sizeof(*c));
    size_t n_pairs;
    struct clock_pair *pair = pairs(&n_pairs, row, n);
    const ft__clock_class class = n ? class_of(row, n) : FT__CLOCK_KERNEL;
    ft_status st = FT_OK;

    *out = NULL;
    for (int i = 0; c && i < N_CONSTANTS; i++)
        c->v[i] = ranges[i].value[class];
    for (size_t i = 0; c && i < n; i++) {
        c->core_hz = fmax(c->core_hz, row[i].core_hz);
        c->memory_hz = fmax(c->memory_hz, row[i].memory_hz);
        c->power_w = fmax(c->power_w, fmax(row[i].power_w, row[i].cap_w));
    }
    if (!c || !pair) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for %zu clocks", n);
    } else if (n_pairs) {
        search(c, pair, n_pairs, class);
        if (trees)
            st = learn(&c->time, c, pair, n_pairs, false, seed, err);
        if (trees && !st)
            st = learn(&c->power, c, pair, n_pairs, true, seed + 3, err);
    }
    free(pair);
    if (st)
        ft__clocks_free(c);
    else
        *out = c;
    return st;
}

void ft__clocks_free(ft__clocks *c)
{
    if (!c)
        return;
    ft__clock_trees_free(&c->time);
    ft__clock_trees_free(&c->power);
    free(c);
}

ft__clock_ratio ft__clocks_at(const ft__clocks *c, const ft__clock_row *measured,
                              double core_hz, double memory_hz, double cap_w)
{
    const ft__clock_row to = {
        .core_hz = core_hz, .memory_hz = memory_hz, .cap_w = cap_w};
    ft__clock_ratio r = formulae(c, measured, core_hz, memory_hz, cap_w);
    ft__log_ratio time, power;
    float row[FT__CLOCK_COLUMNS];

    if (!c->time.miss && !c->power.miss) {
        if (!isfinite(measured->power_w))
            r.power = NAN;
        return r;
    }
    columns(row, c, measured, &to);
    time = ft__clock_trees_at(&c->time, row, log(r.time));
    power = ft__clock_trees_at(&c->power, row, log(r.power));
    if (!isfinite(measured->power_w))
        power = (ft__log_ratio){NAN, NAN, NAN};
    return (ft__clock_ratio){.time = exp(time.value),
                             .time_low = exp(time.low),
                             .time_high = exp(time.high),
                             .power = exp(power.value),
                             .power_low = exp(power.low),
                             .power_high = exp(power.high)};
}
