#include "predict/prices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "predict/features.h"

enum { N_TERMS = 7, N_COLUMNS = FT__N_FEATURES + N_TERMS };
/* Fewer rows of a kind say nothing of it. */
enum { LEAST_ROWS = 3, LEAST_FOR_FLOOR = 5 };
/* Times up to this multiple of the lowest are taken to be the host's. */
static const double floor_above = 1.5;
static const double floor_quantile = 0.03;

struct ft__prices {
    ft_forest *time;
    ft_forest *power; /* NULL: no row has one */
    ft__theta theta;
    double residual;
    uint32_t rows_of[FT_PHASE_COUNT][FT_KIND_COUNT];
    double floor[FT_PHASE_COUNT][FT_KIND_COUNT];
    double idle_w;
    double busy_w;
    double launch_s;
};

static void terms_of(ft__terms *t, const ft__theta *theta, const ft_op *op,
                     const ft__place *at)
{
    ft__chip chip;

    ft__chip_make(&chip, at->device, at->setting, at->policy, op);
    ft__physics(t, op, &chip, theta);
}

static float ratio(double a, double b)
{
    return (float)log2((a + 1e-9) / (b + 1e-9));
}

/* Columns of features.h that name sizes only; what a device makes of them is in the
 * terms. */
static void fill(float *row, const ft_op *op, const ft__place *at, const ft__terms *t)
{
    const ft__roof roof = ft__flat_roof(at->device->peak_fp32,
                                        at->device->bandwidth_bytes_per_s, t->launch_s);

    ft__features(row, op, &roof);
    row += FT__N_FEATURES;
    *row++ = ratio(t->busy_s, 1e-6);
    *row++ = ratio(t->compute_s, t->memory_s);
    *row++ = ratio(t->cache_s, t->memory_s);
    *row++ = ratio(t->launch_s, t->busy_s);
    *row++ = (float)t->fill;
    *row++ = (float)log2(1 + t->waves);
    *row++ = (float)op->phase;
}

/* ---- fitting ---- */

struct fit {
    const ft__samples *s;
    const ft__place *place;
    const uint32_t *row;
    size_t n;
    float *x;
    double *time;   /* log(time / estimate) */
    double *power;  /* log W */
    double *weight; /* 0: its power is not known */
};

static void fit_free(struct fit *f)
{
    free(f->x);
    free(f->time);
    free(f->power);
    free(f->weight);
}

static ft_status fit_theta(ft__prices *p, const struct fit *f,
                           const ft__prices_options *opt, ft_error *err)
{
    ft__physics_row *rows = calloc(f->n + 1, sizeof(*rows));
    ft__chip *chip = calloc(f->n + 1, sizeof(*chip));
    size_t every = 1 + f->n / opt->physics_rows, n = 0;
    ft_status st = FT_OK;

    if (!rows || !chip)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", f->n);
    for (size_t i = 0; i < f->n && !st; i += every, n++) {
        const ft__sample *v = &f->s->v[f->row[i]];
        const ft__place *at = &f->place[v->dataset];

        ft__chip_make(&chip[n], at->device, at->setting, at->policy, &v->op);
        rows[n] = (ft__physics_row){.op = &v->op,
                                    .chip = &chip[n],
                                    .time_s = v->value[FT__METRIC_TIME],
                                    .weight = 1,
                                    .group = v->dataset};
    }
    if (!st)
        st = ft__physics_fit(&p->theta, rows, n, opt->seed, err);
    free(rows);
    free(chip);
    return st;
}

static ft_status fill_rows(const ft__prices *p, struct fit *f, ft_error *err)
{
    f->x = malloc((f->n + 1) * N_COLUMNS * sizeof(*f->x));
    f->time = calloc(f->n + 1, sizeof(*f->time));
    f->power = calloc(f->n + 1, sizeof(*f->power));
    f->weight = calloc(f->n + 1, sizeof(*f->weight));
    if (!f->x || !f->time || !f->power || !f->weight)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", f->n);
    for (size_t i = 0; i < f->n; i++) {
        const ft__sample *v = &f->s->v[f->row[i]];
        const ft__place *at = &f->place[v->dataset];
        ft__terms t;

        terms_of(&t, &p->theta, &v->op, at);
        if (!(t.total_s > 0))
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "%s: its file lacks what an estimate needs; see "
                           "\"foretell devices %s\"",
                           at->device->name, at->device->name);
        fill(f->x + i * N_COLUMNS, &v->op, at, &t);
        f->time[i] = log(v->value[FT__METRIC_TIME] / t.total_s);
        f->weight[i] = v->value[FT__METRIC_POWER] > 0;
        f->power[i] = f->weight[i] > 0 ? log(v->value[FT__METRIC_POWER]) : 0;
    }
    return FT_OK;
}

static ft_status fit_forests(ft__prices *p, const struct fit *f,
                             const ft__prices_options *opt, ft_error *err)
{
    const ft_forest_options how = {.kind = FT_FOREST_EXTRA,
                                   .n_trees = opt->n_trees ? opt->n_trees : 64,
                                   .max_features = 0.7,
                                   .seed = opt->seed};
    const ft_matrix x = {f->x, f->n, N_COLUMNS};
    ft_status st = ft_forest_fit(&p->time, &x, f->time, NULL, &how, err);
    bool power = false;

    for (size_t i = 0; i < f->n; i++)
        power |= f->weight[i] > 0;
    if (!st && power)
        st = ft_forest_fit(&p->power, &x, f->power, f->weight, &how, err);
    return st;
}

static double floor_of(double *time, size_t n)
{
    ft__sort(time, n);
    return ft__quantile(time, n, floor_quantile);
}

/* Median over the rows above the host's floor; power: scratch. */
static double busy_power(const ft__prices *p, const struct fit *f, double *power)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        const ft__sample *v = &f->s->v[f->row[i]];

        if (v->value[FT__METRIC_POWER] > 0 &&
            v->value[FT__METRIC_TIME] > p->floor[v->op.phase][v->op.kind])
            power[n++] = v->value[FT__METRIC_POWER];
    }
    return ft__median(power, n);
}

/* Every kind has a host time of its own: what surrounds a kernel differs. */
static ft_status find_floors(ft__prices *p, const struct fit *f, ft_error *err)
{
    double *time = calloc(f->n + 1, sizeof(*time)), sum = 0;
    size_t n_kinds = 0;

    if (!time)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", f->n);
    p->idle_w = NAN;
    for (size_t i = 0; i < f->n; i++) {
        const ft__sample *v = &f->s->v[f->row[i]];

        p->rows_of[v->op.phase][v->op.kind]++;
        p->idle_w = fmin(p->idle_w, v->value[FT__METRIC_POWER]);
    }
    for (int phase = 0; phase < FT_PHASE_COUNT; phase++)
        for (int k = 0; k < FT_KIND_COUNT; k++) {
            size_t n = 0;

            if (p->rows_of[phase][k] < LEAST_FOR_FLOOR)
                continue;
            for (size_t i = 0; i < f->n; i++) {
                const ft__sample *v = &f->s->v[f->row[i]];

                if ((int)v->op.phase == phase && (int)v->op.kind == k)
                    time[n++] = v->value[FT__METRIC_TIME];
            }
            p->floor[phase][k] = floor_above * floor_of(time, n);
            sum += log(p->floor[phase][k] / floor_above);
            n_kinds++;
        }
    p->busy_w = busy_power(p, f, time);
    p->launch_s = n_kinds ? exp(sum / (double)n_kinds) : 0;
    free(time);
    return FT_OK;
}

/* At most `most` of the rows, drawn without an order of their own. */
static uint32_t *draw(const uint32_t *row, size_t *n, size_t most, uint64_t seed)
{
    uint32_t *out = malloc((*n + 1) * sizeof(*out));
    size_t kept = 0;

    if (!out)
        return NULL;
    for (size_t i = 0; i < *n; i++) {
        ft__prng r = ft__prng_stream(seed, row[i]);

        if (*n <= most || ft__prng_unit(&r) < (double)most / (double)*n)
            out[kept++] = row[i];
    }
    *n = kept;
    return out;
}

ft_status ft__prices_fit(ft__prices **out, const ft__samples *s, const ft__place *place,
                         const uint32_t *row, size_t n, const ft__prices_options *opt,
                         ft_error *err)
{
    uint32_t *drawn = draw(row, &n, opt->most_rows ? opt->most_rows : 8000, opt->seed);
    struct fit f = {.s = s, .place = place, .row = drawn, .n = n};
    ft__prices *p = calloc(1, sizeof(*p));
    ft_status st = FT_OK;

    *out = NULL;
    if (!drawn || !p)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    else if (n == 0)
        st = ft_fail(err, FT_ENOTFOUND, 0, "no operations are left to learn from");
    if (!st) {
        p->theta = ft__physics_default();
        p->residual = opt->residual;
        st = opt->physics_rows ? fit_theta(p, &f, opt, err) : FT_OK;
    }
    if (!st)
        st = fill_rows(p, &f, err);
    if (!st)
        st = fit_forests(p, &f, opt, err);
    if (!st)
        st = find_floors(p, &f, err);
    fit_free(&f);
    free(drawn);
    if (st) {
        ft__prices_free(p);
        return st;
    }
    *out = p;
    return FT_OK;
}

void ft__prices_free(ft__prices *p)
{
    if (!p)
        return;
    ft_forest_free(p->time);
    ft_forest_free(p->power);
    free(p);
}

/* ---- asking ---- */

double ft__prices_bare(const ft__prices *p, const ft_op *op, const ft__place *at)
{
    ft__terms t;

    terms_of(&t, &p->theta, op, at);
    return t.busy_s;
}

bool ft__prices_alone(const ft__prices *p, double *time_s, double *power_w,
                      const ft_op *op, const ft__place *at)
{
    float row[N_COLUMNS];
    ft__terms t;

    if (p->rows_of[op->phase][op->kind] < LEAST_ROWS)
        return false;
    terms_of(&t, &p->theta, op, at);
    fill(row, op, at, &t);
    *time_s = t.total_s * exp(p->residual * ft_forest_predict(p->time, row));
    *power_w = p->power ? exp(ft_forest_predict(p->power, row)) : NAN;
    return true;
}

double ft__prices_floor(const ft__prices *p, const ft_op *op)
{
    return p->floor[op->phase][op->kind];
}

double ft__prices_idle(const ft__prices *p)
{
    return p->idle_w;
}

double ft__prices_busy(const ft__prices *p)
{
    return p->busy_w;
}

double ft__prices_launch(const ft__prices *p)
{
    return p->launch_s;
}
