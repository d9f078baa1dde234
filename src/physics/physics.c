/* The physical estimate: constants, and the sum over an operation's kernels. */
#include "physics/physics.h"

#include <math.h>
#include <string.h>

#include "physics/op_kernels.h"

static const struct constant {
    const char *name;
    double value;
} constants[FT__N_THETA] = {
#define FT__CONSTANT(name, value, ...) {#name, value},
#include "physics/physics.def"
#undef FT__CONSTANT
};

const char *ft__physics_name(int i)
{
    return constants[i].name;
}

ft__theta ft__physics_default(void)
{
    return (ft__theta){{
#define FT__CONSTANT(name, value, ...) value,
#include "physics/physics.def"
#undef FT__CONSTANT
    }};
}

double ft__sustained(const ft__chip *chip, const ft__theta *theta)
{
    const double *c = theta->v;
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

double ft__host_s(const ft_op *op, const ft__theta *theta)
{
    const ft__calls calls = ft__calls_of(op);

    return host_s(&calls, theta->v);
}

/* Between the sum (power 1) and the larger (power infinite) of two times. */
static double together(double a, double b, double power)
{
    double large = fmax(a, b), ratio = large > 0 ? fmin(a, b) / large : 0;

    return large * pow(1 + pow(ratio, power), 1 / power);
}

/* Other libraries, other machines: what a GPU's constants say does not hold there. */
static ft__theta of_cpu(const ft__theta *theta)
{
    static const int instead[][2] = {
        {FT__C_tile_share, FT__C_cpu_share},    {FT__C_conv_share, FT__C_cpu_conv},
        {FT__C_memory_share, FT__C_cpu_memory}, {FT__C_kernel_s, FT__C_cpu_kernel_s},
        {FT__C_depth_start, FT__C_cpu_start},
    };
    ft__theta t = *theta;

    for (size_t i = 0; i < sizeof(instead) / sizeof(*instead); i++)
        t.v[instead[i][0]] = theta->v[instead[i][1]];
    return t;
}

const ft__theta *ft__theta_for(ft__theta *room, const ft__theta *theta,
                               const ft__chip *chip)
{
    if (chip->gpu)
        return theta;
    *room = of_cpu(theta);
    return room;
}

/* ---- a chip's pace ---- */

static double memory_rate(const ft__chip *chip, const double *c)
{
    int stacked = chip->bus_bytes > 400 && chip->year >= 2017;

    double wide = chip->lanes > 140 ? c[FT__C_wide_memory] : 1;

    return chip->bandwidth * c[FT__C_memory_share] * wide *
           (stacked ? c[FT__C_stacked_share] : 1);
}

void ft__pace_move(ft__pace *pace, const ft__chip *chip, double sustained)
{
    pace->chip = chip;
    pace->sustained = sustained;
    pace->memory_rate = memory_rate(chip, pace->c);
    pace->cache_rate = chip->clock_hz * chip->cores * pace->c[FT__C_cache_width];
    pace->kept_bytes = chip->l2_bytes * pace->c[FT__C_cache_keeps];
}

void ft__pace_make(ft__pace *out, const ft__chip *chip, const ft__theta *theta)
{
    double half = exp2(-theta->v[FT__C_tile_slope]);

    out->c = theta->v;
    out->tile[0] = theta->v[FT__C_tile_share];
    for (int i = 1; i < FT__N_TILE_SIZES; i++)
        out->tile[i] = out->tile[i - 1] * half;
    out->tensor_half = exp2(-theta->v[FT__C_tensor_slope]);
    ft__pace_move(out, chip, ft__sustained(chip, theta));
}

/* ---- one operation ---- */

static bool has_algorithms(const ft__pass *p)
{
    return p->what == FT__PASS_PRODUCT || p->what == FT__PASS_CONV;
}

static void price_other(ft__terms *one, const ft__pass *p, const ft__pace *pace)
{
    if (p->what == FT__PASS_DIRECT)
        ft__direct_price(one, p, pace);
    else if (p->what == FT__PASS_ATTENTION)
        ft__attention_price(one, p, pace);
    else if (p->what == FT__PASS_CACHE)
        ft__cache_price(one, p, pace);
    else
        ft__stream_price(one, p, pace);
}

/* ready: NULL where algorithms are to be found first. */
static void price(ft__terms *out, const ft__work *w, const ft__pace *pace,
                  const ft__ready *ready)
{
    const double *c = pace->c;
    const ft__algorithm *known = ready ? ready->algorithm : NULL;

    *out = (ft__terms){.fill = 1, .sustained = pace->sustained};
    for (uint32_t i = 0; i < w->n; i++) {
        const ft__pass *p = &w->pass[i];
        const double count = p->count * (p->added ? c[FT__C_added_gradients] : 1);
        ft__terms one = {.fill = 1, .sustained = out->sustained};

        if (!has_algorithms(p)) {
            price_other(&one, p, pace);
        } else if (ready) {
            ft__algorithms_price(&one, known, ready->n_algorithms[i], pace);
            known += ready->n_algorithms[i];
        } else {
            ft__algorithm found[FT__MAX_ALGORITHMS];
            uint32_t n = ft__algorithms(found, p, pace->chip, c);

            ft__algorithms_price(&one, found, n, pace);
        }
        add(out, &one, count * (p->partial ? c[FT__C_step_data] : 1));
        out->kernels += count * p->kernels;
    }
    out->busy_s += out->kernels * c[FT__C_kernel_s];
}

void ft__work_price(ft__terms *out, const ft__work *w, const ft__chip *chip,
                    const ft__theta *theta)
{
    ft__theta cpu;
    ft__pace pace;

    theta = ft__theta_for(&cpu, theta, chip);
    ft__pace_make(&pace, chip, theta);
    price(out, w, &pace, NULL);
    out->launch_s = w->n && !chip->graph ? host_s(&w->calls, theta->v) : 0;
    out->total_s = together(out->launch_s, out->busy_s, theta->v[FT__C_overlap]);
}

void ft__physics(ft__terms *out, const ft_op *op, const ft__chip *chip,
                 const ft__theta *theta)
{
    ft__work w;

    if (ft__chip_lacks(chip)) {
        *out = (ft__terms){.total_s = NAN, .busy_s = NAN};
        return;
    }
    ft__work_make(&w, op, chip);
    ft__work_price(out, &w, chip, theta);
}

/* ---- the same at many clocks ---- */

static bool find_ways(ft__algorithm *a, const ft__pace *pace, ft__arena *arena)
{
    ft__way way[FT__MAX_WAYS], *own;

    a->n_ways =
        a->tensor ? ft__tensor_ways(way, a, pace) : ft__product_ways(way, a, pace);
    own = ft__arena_array(arena, a->n_ways, sizeof(*own));
    if (own)
        memcpy(own, way, a->n_ways * sizeof(*own));
    a->way = own;
    return own != NULL;
}

bool ft__ready_make(ft__ready *out, const ft_op *op, const ft__chip *chip,
                    const ft__theta *theta, ft__arena *arena)
{
    ft__algorithm found[FT__MAX_PASSES * FT__MAX_ALGORITHMS], *own;
    uint32_t n = 0;
    bool good = true;
    ft__theta cpu;
    ft__pace pace;

    theta = ft__theta_for(&cpu, theta, chip);
    ft__pace_make(&pace, chip, theta);
    ft__work_make(&out->work, op, chip);
    for (uint32_t i = 0; i < out->work.n; i++) {
        out->n_algorithms[i] =
            has_algorithms(&out->work.pass[i])
                ? ft__algorithms(found + n, &out->work.pass[i], chip, pace.c)
                : 0;
        n += out->n_algorithms[i];
    }
    for (uint32_t i = 0; i < n && good; i++)
        good = find_ways(&found[i], &pace, arena);
    own = ft__arena_array(arena, n + 1, sizeof(*own));
    if (own)
        memcpy(own, found, n * sizeof(*own));
    out->algorithm = own;
    return good && own;
}

void ft__ready_price(ft__terms *out, const ft__ready *r, const ft__pace *pace)
{
    price(out, &r->work, pace, r);
}

/* ---- power ---- */

double ft__physics_power(const ft__terms *t, const ft__chip *chip,
                         const ft__theta *theta)
{
    const double *c = theta->v;
    double compute = fmin(1, t->compute_s / t->total_s);
    double memory = fmin(1, t->memory_s / t->total_s);

    if (!(t->total_s > 0))
        return NAN;
    return chip->power_w *
           fmin(1, c[FT__C_power_idle] + c[FT__C_power_compute] * compute +
                       c[FT__C_power_memory] * memory);
}
