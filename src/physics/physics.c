/* The physical estimate: constants, and the sum over an operation's kernels. */
#include "physics/physics.h"

#include <math.h>

#include "physics/op_kernels.h"

static const struct constant {
    const char *name;
    double value;
} constants[FT__N_PHYSICS_PARAMS] = {
#define FT__CONSTANT(name, value, ...) {#name, value},
#include "physics/physics.def"
#undef FT__CONSTANT
};

const char *ft__physics_name(int i)
{
    return constants[i].name;
}

ft__physics_params ft__physics_default(void)
{
    return (ft__physics_params){{
#define FT__CONSTANT(name, value, ...) value,
#include "physics/physics.def"
#undef FT__CONSTANT
    }};
}

double ft__sustained(const ft__hardware_spec *chip, const ft__physics_params *params)
{
    const double *c = params->v;
    double budget = chip->power_w / (chip->vector_flops / 1e12);
    double most = c[FT__C_sustain_most] * (chip->lanes > 140 ? c[FT__C_wide_share] : 1);
    double share, corner = c[FT__C_sustain_corner];

    if (!(budget > 0) || !chip->gpu)
        return most;
    if (chip->process_nm > 0)
        budget /= pow(chip->process_nm / 16, c[FT__C_node_power]);
    share = c[FT__C_sustain_power] * pow(budget, c[FT__C_sustain_bend]);
    return pow(pow(most, -corner) + pow(share, -corner), -1 / corner);
}

static void add(ft__terms *sum, const ft__terms *one, double times)
{
    if (times * one->busy_s > sum->busy_s) {
        sum->waves = one->waves;
        sum->fill = one->fill;
    }
    sum->compute_s += times * one->compute_s;
    sum->cache_s += times * one->cache_s;
    sum->memory_s += times * one->memory_s;
    sum->busy_s += times * one->busy_s;
    sum->aside_s += times * one->aside_s;
}

static double host_s(const ft__calls *h, const double *c)
{
    return c[FT__C_floor_s] * (h->floor < 0 ? 1 : c[h->floor]) *
               (1 + c[FT__C_gradient_calls] * h->gradients) +
           (h->step ? c[FT__C_step_s] : 0);
}

double ft__host_s(const ft_op *op, const ft__physics_params *params)
{
    const ft__calls calls = ft__calls_of(op);

    return host_s(&calls, params->v);
}

/* Between the sum (power 1) and the larger (power infinite) of two times. */
static double together(double a, double b, double power)
{
    double large = fmax(a, b), ratio = large > 0 ? fmin(a, b) / large : 0;

    return large * pow(1 + pow(ratio, power), 1 / power);
}

/* Other libraries, other machines: what a GPU's constants say does not hold there. */
static ft__physics_params of_cpu(const ft__physics_params *params)
{
    static const int instead[][2] = {
        {FT__C_tile_share, FT__C_cpu_share},    {FT__C_conv_share, FT__C_cpu_conv},
        {FT__C_memory_share, FT__C_cpu_memory}, {FT__C_kernel_s, FT__C_cpu_kernel_s},
        {FT__C_depth_start, FT__C_cpu_start},
    };
    ft__physics_params t = *params;

    for (size_t i = 0; i < sizeof(instead) / sizeof(*instead); i++)
        t.v[instead[i][0]] = params->v[instead[i][1]];
    return t;
}

/* Constants that hold on the chip: those of CPUs, or the same. *room: for them. */
static const ft__physics_params *params_for(ft__physics_params *room,
                                            const ft__physics_params *params,
                                            const ft__hardware_spec *chip)
{
    if (chip->gpu)
        return params;
    *room = of_cpu(params);
    return room;
}

/* ---- a chip's pace ---- */

static double memory_rate(const ft__hardware_spec *chip, const double *c)
{
    int stacked = chip->bus_bytes > 400 && chip->year >= 2017;

    double wide = chip->lanes > 140 ? c[FT__C_wide_memory] : 1;

    return chip->bandwidth * c[FT__C_memory_share] * wide *
           (stacked ? c[FT__C_stacked_share] : 1);
}

/* The same constants on the same chip driven otherwise. */
static void pace_move(ft__pace *pace, const ft__hardware_spec *chip, double sustained)
{
    pace->chip = chip;
    pace->sustained = sustained;
    pace->memory_rate = memory_rate(chip, pace->c);
    pace->cache_rate = chip->clock_hz * chip->cores * pace->c[FT__C_cache_width];
    pace->kept_bytes = chip->l2_bytes * pace->c[FT__C_cache_keeps];
}

static void pace_make(ft__pace *out, const ft__hardware_spec *chip,
                      const ft__physics_params *params)
{
    double half = exp2(-params->v[FT__C_tile_slope]);

    out->c = params->v;
    out->tile[0] = params->v[FT__C_tile_share];
    for (int i = 1; i < FT__N_TILE_SIZES; i++)
        out->tile[i] = out->tile[i - 1] * half;
    out->tensor_half = exp2(-params->v[FT__C_tensor_slope]);
    pace_move(out, chip, ft__sustained(chip, params));
}

/* ---- one operation ---- */

/* range: NULL where algorithms are to be found first. */
static void price(ft__terms *out, const ft__work *w, const ft__pace *pace,
                  const ft__op_range *range)
{
    const double *c = pace->c;

    *out = (ft__terms){.fill = 1, .sustained = pace->sustained};
    for (uint32_t i = 0; i < w->n; i++) {
        const ft__op_kernel *p = &w->op_kernel[i];
        const double count = p->count * (p->added ? c[FT__C_added_gradients] : 1);
        ft__terms one = {.fill = 1, .sustained = out->sustained};

        if (p->what <= FT__OP_KERNEL_DIRECT)
            ft__product_cost(&one, p, range ? range->algorithm[i] : NULL,
                             range ? range->n_algorithms[i] : 0, pace);
        else
            ft__stream_cost(&one, p, pace);
        add(out, &one, count * (p->partial ? c[FT__C_step_data] : 1));
        out->kernels += count * p->kernels;
    }
    out->busy_s += out->kernels * c[FT__C_kernel_s];
}

void ft__work_cost(ft__terms *out, const ft__work *w, const ft__hardware_spec *chip,
                   const ft__physics_params *params)
{
    ft__physics_params cpu;
    ft__pace pace;

    params = params_for(&cpu, params, chip);
    pace_make(&pace, chip, params);
    price(out, w, &pace, NULL);
    out->launch_s = w->n && !chip->graph ? host_s(&w->calls, params->v) : 0;
    out->total_s = together(out->launch_s, out->busy_s, params->v[FT__C_overlap]);
}

void ft__physics(ft__terms *out, const ft_op *op, const ft__hardware_spec *chip,
                 const ft__physics_params *params)
{
    ft__work w;

    if (ft__hardware_spec_lacks(chip)) {
        *out = (ft__terms){.total_s = NAN, .busy_s = NAN};
        return;
    }
    ft__work_make(&w, op, chip);
    ft__work_cost(out, &w, chip, params);
}

/* ---- the same at many clocks ---- */

bool ft__op_range_make(ft__op_range *r, ft__terms *t, const ft_op *op,
                       const ft_device_facts *d, const char *policy,
                       const ft__physics_params *params, ft__arena *arena)
{
    const ft__operating_point as_it_comes = {NAN, NAN, NAN};
    bool good = true;

    ft__hardware_range_make(&r->chips, d, "", policy, op);
    r->chip = r->chips.chip;
    ft__hardware_range_at(&r->chip, &r->chips, &as_it_comes);
    r->params = params_for(&r->cpu, params, &r->chip);
    pace_make(&r->pace, &r->chip, r->params);
    ft__work_make(&r->work, op, &r->chip);
    for (uint32_t i = 0; i < r->work.n && good; i++)
        good = ft__algorithms_make(&r->algorithm[i], &r->n_algorithms[i],
                                   &r->work.op_kernel[i], &r->pace, arena);
    if (good)
        price(t, &r->work, &r->pace, r);
    return good;
}

void ft__op_range_cost(ft__terms *t, ft__op_range *r, const ft__operating_point *at,
                       double held, double *sustained)
{
    double capped;

    ft__hardware_range_at(&r->chip, &r->chips, at);
    if (isfinite(at->power_w)) {
        ft__hardware_spec_hold(&r->chip, r->chips.facts->tdp_w, held);
        capped = ft__sustained(&r->chip, r->params);
        sustained = &capped;
    } else if (isnan(*sustained)) {
        *sustained = ft__sustained(&r->chip, r->params);
    }
    pace_move(&r->pace, &r->chip, *sustained);
    price(t, &r->work, &r->pace, r);
}

/* ---- power ---- */

double ft__physics_power(const ft__terms *t, const ft__hardware_spec *chip,
                         const ft__physics_params *params)
{
    const double *c = params->v;
    double compute = fmin(1, t->compute_s / t->total_s);
    double memory = fmin(1, t->memory_s / t->total_s);

    if (!(t->total_s > 0))
        return NAN;
    return chip->power_w *
           fmin(1, c[FT__C_power_idle] + c[FT__C_power_compute] * compute +
                       c[FT__C_power_memory] * memory);
}
