/* The regressors of a model set: which operations each is for, and samples as the rows
 * that they see. */
#include "predict/model/regressor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "graph/op_inside.h"
#include "learn/learn_inside.h"
#include "physics/op_kernels.h"
#include "physics/power.h"
#include "predict/file/image.h"
#include "predict/model/model_set.h"

uint32_t ft__kind_number(const ft_op *op)
{
    const uint32_t behind = ft__has_block_scales(op) ? 2 : ft__is_narrow(op) ? 1 : 0;

    return (uint32_t)op->kind + behind * FT_KIND_COUNT;
}

bool ft__regressor_has(const ft__regressor *p, const ft_op *op)
{
    uint32_t which = p->scope <= FT__SCOPE_KIND    ? ft__kind_number(op)
                     : p->scope == FT__SCOPE_CLASS ? (uint32_t)ft_kind_class(op->kind)
                                                   : 0;

    return p->phase == op->phase && p->which == which;
}

/* Kinds, then those of less than 16 bits, then with scales for blocks. */
static const char *const names[FT__N_KIND_NUMBERS] = {
#define FT_KIND(name, ...) [FT_KIND_##name] = #name,
#include "foretell/ops.def"
#undef FT_KIND
#define FT_KIND(name, ...) [FT_KIND_COUNT + FT_KIND_##name] = #name ".narrow",
#include "foretell/ops.def"
#undef FT_KIND
#define FT_KIND(name, ...) [2 * FT_KIND_COUNT + FT_KIND_##name] = #name ".blocks",
#include "foretell/ops.def"
#undef FT_KIND
};

const char *ft__regressor_name(const ft__regressor *p)
{
    return p->scope <= FT__SCOPE_KIND    ? names[p->which]
           : p->scope == FT__SCOPE_CLASS ? ft__class_name((ft_class)p->which)
                                         : "all";
}

/* Of devices nobody measured, what wide numbers take says nothing of narrow ones. */
static bool says_nothing_of(const ft__model_set *l, const ft__regressor *p,
                            const ft_op *op)
{
    return l->opt.unseen && l->opt.metric < FT__METRIC_MEMORY &&
           p->scope > FT__SCOPE_KIND && ft__is_narrow(op);
}

uint32_t ft__model_set_regressor(const ft__model_set *l, const ft_op *op)
{
    uint32_t best = l->n_regressors;

    for (uint32_t i = 0; i < l->n_regressors; i++)
        if (l->part[i].scope != FT__SCOPE_NEIGHBOURS &&
            ft__regressor_has(&l->part[i], op) &&
            (best == l->n_regressors || l->part[i].scope < l->part[best].scope))
            best = i;
    if (best < l->n_regressors && says_nothing_of(l, &l->part[best], op))
        return l->n_regressors;
    return best;
}

const ft__physics_params *ft__model_set_params(const ft__model_set *l, const ft_op *op)
{
    return ft__model_set_regressor(l, op) < l->n_regressors
               ? &l->base.params[ft__group_of(op)]
               : ft__physics_defaults();
}

uint32_t ft__model_set_pooled(const ft__model_set *l, ft_phase phase)
{
    uint32_t i = 0;

    while (i < l->n_regressors &&
           (l->part[i].scope != FT__SCOPE_ALL || l->part[i].phase != phase))
        i++;
    return i;
}

uint32_t ft__model_set_neighbours_of(const ft__model_set *l, const ft__regressor *kind)
{
    uint32_t i = 0;

    while (i < l->n_regressors &&
           !(kind->scope == FT__SCOPE_KIND &&
             l->part[i].scope == FT__SCOPE_NEIGHBOURS &&
             l->part[i].which == kind->which && l->part[i].phase == kind->phase))
        i++;
    return i;
}

void ft__regressor_free(ft__regressor *p)
{
    ft__fit *opened = atomic_load(&p->opened);

    if (opened)
        ft__fit_free(opened);
    free(opened);
    ft__fit_free(&p->fit);
    ft__neighbours_free(&p->neighbours);
    free(p->least);
    free(p->most);
}

/* W: of devices that are not in training as they are estimated, otherwise the TDP, to
 * which trees bring the device itself. */
static double power_scale(const ft__model_set *l, const ft__samples *s, uint32_t i,
                          const ft__terms *t)
{
    const ft__dataset *d = &s->dataset[s->v[i].dataset];
    const ft_op *op = &s->v[i].op;
    double power_w = d->file ? ft_device_get(d->file)->tdp_w : NAN;
    ft__hardware_spec chip;

    if (power_w > 0 && l->opt.unseen) {
        ft__hardware_spec_make(&chip, ft_device_get(d->file), d->setting, d->policy,
                               op);
        power_w = ft__physics_power(t, &chip, &l->base.params[ft__group_of(op)]);
    }
    return power_w > 0 ? power_w : 1;
}

/* What a value of the metric is predicted relative to. */
static double scale_of(const ft__model_set *l, const ft__samples *s, uint32_t i,
                       const ft__terms *t)
{
    switch (l->opt.metric) {
    case FT__METRIC_TIME: return t->total_s;
    case FT__METRIC_POWER: return power_scale(l, s, i, t);
    case FT__METRIC_ENERGY: return t->total_s * power_scale(l, s, i, t);
    default: return 1;
    }
}

static bool is_bytes(const ft__model_set *l)
{
    return l->opt.metric >= FT__METRIC_MEMORY;
}

static double target_of(const ft__model_set *l, double value, double scale)
{
    return is_bytes(l) ? log(1 + value) : log(value / scale);
}

double ft__model_set_value(const ft__model_set *l, double target, double scale)
{
    return is_bytes(l) ? fmax(0, exp(target) - 1) : scale * exp(target);
}

void ft__rows_free(struct regressor_rows *r)
{
    ft__arena_free(&r->room);
}

static double shift_of(const ft__base *b, const ft__samples *s, uint32_t i, double base)
{
    const double shift = log(base / ft__base_without_chip(b, s, i));

    return isfinite(shift) ? shift : 0;
}

static void fill(struct regressor_rows *r, const ft__model_set *l, const ft__samples *s)
{
    const bool others = l->opt.unseen && l->opt.metric == FT__METRIC_TIME && !s->terms;

    for (size_t i = 0; i < r->n; i++) {
        uint32_t at = r->index[i];
        ft__terms t;

        if (s->terms)
            t = s->terms[at];
        else if (others)
            ft__base_terms_on_host(&l->base, &t, s, at);
        else
            ft__base_terms(&l->base, &t, s, at);
        ft__columns_fill(&l->columns, r->x + i * l->columns.n, s, at, &t);
        r->scale[i] = scale_of(l, s, at, &t);
        r->y[i] = target_of(l, s->v[at].value[l->opt.metric], r->scale[i]);
        if (others)
            r->shift[i] = shift_of(&l->base, s, at, r->scale[i]);
        r->busy[i] = others ? ft__device_share(&t) : 1;
        r->out[i] = r->residual_scale[i] = r->pooled[i] = NAN;
        r->scope[i] = FT__N_SCOPES;
    }
}

ft_status ft__rows_make(struct regressor_rows *r, const ft__model_set *l,
                        const ft__samples *s, const uint32_t *index, size_t n,
                        ft_error *err)
{
    size_t cells = (n + 1) * l->columns.n, m = n + 1;
    size_t neighbours = (n + 1) * FT__MOST_AXES * FT__AXIS_COLUMNS;

    *r = (struct regressor_rows){.n = n, .index = index};
    r->x = ft__arena_need(&r->room, cells, sizeof(*r->x));
    r->y = ft__arena_need(&r->room, m, sizeof(*r->y));
    r->scale = ft__arena_need(&r->room, m, sizeof(*r->scale));
    r->shift = ft__arena_need(&r->room, m, sizeof(*r->shift));
    r->busy = ft__arena_need(&r->room, m, sizeof(*r->busy));
    r->out = ft__arena_need(&r->room, m, sizeof(*r->out));
    r->residual_scale = ft__arena_need(&r->room, m, sizeof(*r->residual_scale));
    r->pooled = ft__arena_need(&r->room, m, sizeof(*r->pooled));
    r->scope = ft__arena_need(&r->room, m, sizeof(*r->scope));
    r->of = ft__arena_need(&r->room, m, sizeof(*r->of));
    r->px = ft__arena_need(&r->room, cells + neighbours, sizeof(*r->px));
    r->py = ft__arena_need(&r->room, m, sizeof(*r->py));
    r->group = ft__arena_need(&r->room, m, sizeof(*r->group));
    r->pout = ft__arena_need(&r->room, m, sizeof(*r->pout));
    r->presidual_scale = ft__arena_need(&r->room, m, sizeof(*r->presidual_scale));
    r->ppooled = ft__arena_need(&r->room, m, sizeof(*r->ppooled));
    r->punused = ft__arena_need(&r->room, m, sizeof(*r->punused));
    if (r->room.bad) {
        ft__rows_free(r);
        return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    }
    fill(r, l, s);
    return FT_OK;
}

ft_status ft__regressor_errors(ft__regressor *p, const ft__model_set *l,
                               const struct regressor_rows *r, ft_error *err)
{
    double *v = calloc(4 * r->m + 1, sizeof(*v)), *truth = v, *predicted = v + r->m;
    double *same = predicted + r->m, *base = same + r->m;
    size_t n = 0;
    ft_status st;

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    for (size_t i = 0; i < r->m; i++) {
        double scale = r->scale[r->of[i]];

        if (!isfinite(r->pout[i]))
            continue;
        truth[n] = ft__model_set_value(l, r->y[r->of[i]], scale);
        predicted[n] = ft__model_set_value(l, r->pout[i], scale);
        same[n] = ft__model_set_value(l, p->fit.centre, scale);
        base[n++] = scale;
    }
    st = ft__errors_compute(&p->learned, truth, predicted, n, l->columns.n, err);
    if (!st)
        st = ft__errors_compute(&p->constant, truth, same, n, 1, err);
    if (!st)
        st = ft__errors_compute(&p->physics, truth, base, n, 1, err);
    free(v);
    return st;
}

/* Few rows do not tell which share is best: as many more count as if it were half. */
enum { ROWS_FOR_HALF = 20 };

static double mixed(double own, double pooled, uint32_t share)
{
    return own + (pooled - own) * share / FT__POOLED_SHARES;
}

/* The share of least mean relative error. */
static uint32_t best_share(const double *own, const double *pooled, const double *y,
                           size_t n)
{
    double least = INFINITY;
    uint32_t best = 0;

    for (uint32_t share = 0; share <= FT__POOLED_SHARES; share++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += fabs(exp(mixed(own[i], pooled[i], share) - y[i]) - 1);
        if (sum < least) {
            least = sum;
            best = share;
        }
    }
    return best;
}

uint32_t ft__pooled_share(double *own, const double *pooled, const double *y, size_t n)
{
    const double half = FT__POOLED_SHARES / 2.0, rows = (double)n;
    const double share = (rows * best_share(own, pooled, y, n) + ROWS_FOR_HALF * half) /
                         (rows + ROWS_FOR_HALF);
    const uint32_t tenths = (uint32_t)lround(share);

    for (size_t i = 0; i < n; i++)
        own[i] = mixed(own[i], pooled[i], tenths);
    return tenths;
}

static void say_share(ft__fit *f, uint32_t share)
{
    size_t len = strlen(f->choice);

    snprintf(f->choice + len, sizeof(f->choice) - len, ", 0.%u of all kinds", share);
    if (share == FT__POOLED_SHARES)
        snprintf(f->choice, sizeof(f->choice), "as all kinds");
}

ft_status ft__pooled_recalibrate(ft__fit *f, uint32_t share, const double *predicted,
                                 const double *y, const double *residual_scale,
                                 size_t n, ft_error *err)
{
    double *residual = malloc((n + 1) * sizeof(*residual));
    ft_status st;

    if (!residual)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    for (size_t i = 0; i < n; i++)
        residual[i] = (y[i] - predicted[i]) / residual_scale[i];
    st = ft__conformal(&f->low, &f->high, residual, n, FT__COVERAGE, err);
    free(residual);
    say_share(f, share);
    return st;
}
