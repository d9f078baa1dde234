/* A device that operations are asked of by its specifications and constants: what one
 * takes and draws there, at one setting or at many. */
#include "predict/query/op_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "physics/op_kernels.h"
#include "physics/physics.h"

/* What devices left out showed of operations (docs/networks.md): 90 % of the logarithm
 * of measured over estimate. */
static const double op_low = -0.9, op_high = 0.9;
/* Not named by the importer: what it moves is all that is known of it. */
static const double bound_high = 10;

/* PyTorch updates many parameters in one launch. For each, Python walks lists, and a
 * node of the graph has put its gradient where it is looked for. */
static const double parameter_launches = 1. / 3;

static double top_clock(const ft_device_facts *d)
{
    return isfinite(d->boost_clock_hz) ? d->boost_clock_hz : d->base_clock_hz;
}

/* What a clock does to power, by what GPUs have in common. */
static ft_status fit_clocks(ft__device_query *a, ft_error *err)
{
    const ft__clock_row highest = {.core_hz = top_clock(a->device),
                                   .memory_hz = NAN,
                                   .time_s = NAN,
                                   .power_w = a->device->tdp_w};

    return ft__clocks_fit(&a->clocks, &highest, 1, 0, 0, err);
}

static bool has_clock(const ft_device_facts *d, double clock_hz)
{
    return clock_hz <= 1.001 * top_clock(d);
}

static ft_status find_clock(ft__device_query *a, ft_error *err)
{
    const ft_device_facts *d = a->device;

    a->clock_hz = ft__pair_number(a->setting, "clock");
    if (isnan(a->clock_hz))
        return FT_OK;
    if (!(top_clock(d) > 0))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: the clock its peak rate belongs to is not known", d->name);
    if (!has_clock(d, a->clock_hz))
        return ft_fail(err, FT_ENOTFOUND, 0, "%s: its highest clock is %.0f MHz",
                       d->name, top_clock(d) / 1e6);
    return fit_clocks(a, err);
}

static ft_status check_facts(const ft__device_query *a, const ft_graph *g,
                             ft_error *err)
{
    ft_status st = ft__check_operations(g, err);
    const char *lacks;
    ft__hardware_spec chip;
    uint32_t i = 0;

    while (i < g->n_ops && ft__costs_nothing(&g->op[i]))
        i++;
    if (st || i == g->n_ops)
        return st;
    /* What is wanted of a chip is so whatever it computes. */
    ft__hardware_spec_make(&chip, a->device, a->setting, a->policy, &g->op[i]);
    lacks = ft__hardware_spec_lacks(&chip);
    return lacks ? ft_fail(err, FT_ENOTFOUND, 0,
                           "%s: its file does not say \"%s\", which an estimate needs",
                           a->device->name, lacks)
                 : FT_OK;
}

/* What the device draws at most under a cap (NaN: none), W. */
static double cap_under(const ft_device_facts *d, double power_w)
{
    return isfinite(power_w) ? power_w : d->tdp_w > 0 ? d->tdp_w : INFINITY;
}

/* Does a setting change anything of a chip but whether there are launches? */
static bool setting_changes(const char *setting)
{
    static const char *const names[] = {"clock",     "memory",     "power",
                                        "optimizer", "activation", "cache"};
    size_t len;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (ft__pair(setting, names[i], &len))
            return true;
    return false;
}

ft_status ft__device_query_open(ft__device_query *out, const ft_device_use *on,
                                const ft__physics_params *params, const ft_graph *g,
                                ft_error *err)
{
    double cap;
    ft_status st;

    *out = (ft__device_query){.device = ft_device_get(on->device),
                              .setting = on->setting ? on->setting : "",
                              .policy = on->policy ? on->policy : "default",
                              .params = *params};
    cap = ft__pair_number(out->setting, "power");
    out->graph = on->run_mode ? strcmp(on->run_mode, "graph") == 0
                              : ft__is_graph_mode(out->setting);
    out->capped = isfinite(cap);
    out->as_it_comes = !setting_changes(out->setting);
    out->cap_w = cap_under(out->device, cap);
    st = check_facts(out, g, err);
    return st ? st : find_clock(out, err);
}

/* What it draws at each of n clocks (NaN: that which it comes with) if nothing holds it
 * back; NaN: a CPU, or not known. */
static void draws_at(double *power_w, const ft__device_query *a, const ft__terms *t,
                     const ft__hardware_spec *chip, const double *clock_hz, size_t n)
{
    ft__clock_row row = {.core_hz = chip->clock_hz,
                         .memory_hz = NAN,
                         .time_s = t->busy_s,
                         .power_w = ft__physics_power(t, chip, &a->params)};
    const bool clocked = a->clocks && isfinite(row.power_w);

    for (int i = 0; i < FT__CLOCK_HINTS; i++)
        row.hint[i] = NAN;
    row.hint[0] = fmin(1, t->memory_s / t->busy_s);
    if (clocked)
        ft__clocks_power(power_w, a->clocks, &row, clock_hz, n);
    for (size_t k = 0; k < n; k++)
        power_w[k] =
            clocked && isfinite(clock_hz[k]) ? row.power_w * power_w[k] : row.power_w;
}

/* What the device would draw if nothing held it back; NaN: a CPU, or not known. known:
 * the terms where they are known, or NULL. */
static double free_power(const ft__device_query *a, const ft_op *op,
                         const ft__terms *known)
{
    ft__hardware_spec chip;
    ft__terms t;
    double power_w;

    if (!a->device)
        return NAN;
    ft__hardware_spec_make(&chip, a->device, "", a->policy, op);
    if (!chip.gpu || ft__costs_nothing(op))
        return NAN;
    if (known && a->as_it_comes)
        t = *known;
    else
        ft__physics(&t, op, &chip, &a->params);
    t.total_s = t.busy_s;
    draws_at(&power_w, a, &t, &chip, &a->clock_hz, 1);
    return power_w;
}

double ft__device_query_power(const ft__device_query *a, const ft_op *op,
                              const ft__terms *t)
{
    double w = free_power(a, op, t);

    return isfinite(w) ? fmin(w, a->cap_w) : w;
}

/* What switches draws as the clock times the square of the voltage, which falls with
 * the clock: nearly its cube. */
static double clock_under_cap(const ft__device_query *a, double free_w, double cap_w)
{
    double idle = a->params.v[FT__C_power_idle] * a->device->tdp_w;
    double wanted = free_w - idle, left = fmax(0.05 * idle, cap_w - idle);

    return wanted > left ? cbrt(left / wanted) : 1;
}

void ft__device_query_terms(ft__terms *out, const ft__device_query *a, const ft_op *op)
{
    ft__hardware_spec chip;

    ft__hardware_spec_make(&chip, a->device, a->setting, a->policy, op);
    if (a->capped)
        ft__hardware_spec_hold(&chip, a->device->tdp_w,
                               clock_under_cap(a, free_power(a, op, NULL), a->cap_w));
    ft__physics(out, op, &chip, &a->params);
}

/* ---- many settings ---- */

bool ft__device_query_may(const ft_device_facts *d, double clock_hz)
{
    return isnan(clock_hz) || (top_clock(d) > 0 && has_clock(d, clock_hz));
}

static ft_status range_open(ft__device_query_range *out, const ft_device_use *on,
                            const ft__operating_point *operating_point, size_t n,
                            const ft_graph *g, ft_error *err)
{
    const ft__physics_params params = ft__physics_default();
    ft_device_use plain = *on;
    bool clocked = false;
    ft_status st;

    *out = (ft__device_query_range){.operating_point = operating_point, .n = n};
    plain.setting = "";
    st = ft__device_query_open(&out->a, &plain, &params, g, err);
    if (st)
        return st;
    out->sustained = malloc((n + 1) * FT__MOST_PARAMS * sizeof(*out->sustained));
    out->cap_w = malloc((n + 1) * sizeof(*out->cap_w));
    out->clock_hz = malloc((n + 1) * sizeof(*out->clock_hz));
    out->free_w = malloc((n + 1) * sizeof(*out->free_w));
    if (!out->sustained || !out->cap_w || !out->clock_hz || !out->free_w)
        return ft_fail(err, FT_ENOMEM, 0, "%zu settings", n);
    for (size_t k = 0; k < n; k++) {
        const double clock_hz = operating_point[k].clock_hz;
        const bool open = ft__device_query_may(out->a.device, clock_hz);

        out->clock_hz[k] = clock_hz;
        out->cap_w[k] =
            open ? cap_under(out->a.device, operating_point[k].power_w) : (double)NAN;
        clocked = clocked || (open && !isnan(clock_hz));
    }
    return clocked ? fit_clocks(&out->a, err) : FT_OK;
}

/* One operation of many settings. */
struct range_op {
    ft__device_query_range *r;
    ft__op_range range;
    double *sustained; /* by operating_point */
};

/* Where what these constants sustain is remembered. */
static double *sustained_of(ft__device_query_range *r, const ft__physics_params *params)
{
    size_t i = 0;
    double *out;

    while (i < FT__MOST_PARAMS && r->params[i] && r->params[i] != params)
        i++;
    i = i < FT__MOST_PARAMS ? i : 0;
    out = r->sustained + i * r->n;
    for (size_t k = 0; k < r->n && r->params[i] != params; k++)
        out[k] = NAN;
    r->params[i] = params;
    return out;
}

static double power_at(const struct range_op *p, size_t k)
{
    const double free_w = p->r->free_w[k];

    return isfinite(free_w) ? fmin(free_w, p->r->cap_w[k]) : free_w;
}

static void price_at(struct range_op *p, size_t k, double *busy_s, double *power_w)
{
    const ft__operating_point *operating_point = &p->r->operating_point[k];
    double held = 1;
    ft__terms t;

    *power_w = power_at(p, k);
    if (isfinite(operating_point->power_w))
        held = clock_under_cap(&p->r->a, p->r->free_w[k], operating_point->power_w);
    ft__op_range_cost(&t, &p->range, operating_point, held, &p->sustained[k]);
    *busy_s = t.busy_s;
}

/* What no setting changes of an operation, and what it would draw if no cap held it. */
static bool range_op_make(struct range_op *p, const ft__physics_params *params,
                          const ft_op *op, ft__arena *arena)
{
    ft__device_query_range *r = p->r;
    ft__terms t;

    r->a.params = *params;
    if (!ft__op_range_make(&p->range, &t, op, r->a.device, r->a.policy, params, arena))
        return false;
    t.total_s = t.busy_s;
    for (size_t k = 0; k < r->n; k++)
        r->free_w[k] = NAN;
    if (p->range.chip.gpu)
        draws_at(r->free_w, &r->a, &t, &p->range.chip, r->clock_hz, r->n);
    return true;
}

static ft_status range_ask_op(ft__device_query_range *r, double *busy_s,
                              double *power_w, const ft__priced_by *by, const ft_op *op,
                              ft_error *err)
{
    struct range_op p = {.r = r};
    ft__arena arena = {0};
    bool good;

    for (size_t k = 0; k < r->n; k++) {
        busy_s[k] = 0;
        power_w[k] = NAN;
    }
    if (ft__costs_nothing(op))
        return FT_OK;
    p.sustained = sustained_of(r, by->time);
    good = range_op_make(&p, by->time, op, &arena);
    for (size_t k = 0; k < r->n && good; k++)
        price_at(&p, k, &busy_s[k], &power_w[k]);
    if (good && by->power != by->time) {
        good = range_op_make(&p, by->power, op, &arena);
        for (size_t k = 0; k < r->n && good; k++)
            power_w[k] = power_at(&p, k);
    }
    ft__arena_free(&arena);
    return good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu settings", r->n);
}

ft_status ft__device_query_range_ask(ft__device_query_range *out, double *busy_s,
                                     double *power_w, const ft_device_use *on,
                                     const ft__priced_by *by,
                                     const ft__operating_point *operating_point,
                                     size_t n, const ft_graph *g, ft_error *err)
{
    ft_status st = range_open(out, on, operating_point, n, g, err);

    for (uint32_t i = 0; i < g->n_ops && !st; i++)
        st = range_ask_op(out, &busy_s[i * n], &power_w[i * n], &by[i], &g->op[i], err);
    free(out->sustained);
    free(out->clock_hz);
    free(out->free_w);
    out->sustained = out->clock_hz = out->free_w = NULL;
    return st;
}

/* ---- host and device ---- */

/* Host time of an operation, in calls of the plainest one. */
static double launches(const ft__device_query *a, const ft_op *op)
{
    const ft__physics_params params = ft__physics_default();
    const ft__calls calls = ft__calls_of(op);

    if (a->graph)
        return 0;
    return op->phase == FT_PHASE_OPTIMIZER
               ? parameter_launches
               : ft__host_s(&calls, &params) / params.v[FT__C_floor_s];
}

void ft__device_query_bare(ft__op_task *task, ft_estimate *time,
                           const ft__device_query *a, const ft_op *op,
                           const ft__terms *t)
{
    *time = (ft_estimate){0, 0, 0, FT_BASIS_MEASURED, ""};
    task->group = ft__task_group_of(op);
    task->alone_s = task->bare_s = 0;
    if (ft__costs_nothing(op))
        return;
    task->launches = launches(a, op);
    task->alone_s = task->bare_s = t->busy_s;
    *time = ft_kind_class(op->kind) == FT_CLASS_GENERIC
                ? (ft_estimate){t->busy_s, t->busy_s, bound_high * t->busy_s,
                                FT_BASIS_ROOFLINE, ""}
                : (ft_estimate){t->busy_s, t->busy_s * exp(op_low),
                                t->busy_s * exp(op_high), FT_BASIS_SCALED, ""};
}
