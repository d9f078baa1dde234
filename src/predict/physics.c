/* The physical estimate: constants, and the sum over an operation's kernels. */
#include "predict/physics.h"

#include <math.h>

#include "predict/passes.h"

static const struct constant {
    const char *name;
    double value;
} constants[FT__N_THETA] = {
#define FT__CONSTANT(name, value, least, most) {#name, value},
#include "predict/physics.def"
#undef FT__CONSTANT
};

const char *ft__physics_name(int i)
{
    return constants[i].name;
}

ft__theta ft__physics_default(void)
{
    ft__theta t;

    for (int i = 0; i < FT__N_THETA; i++)
        t.v[i] = constants[i].value;
    return t;
}

double ft__sustained(const ft__chip *chip, const ft__theta *theta)
{
    const double *c = theta->v;
    double budget = chip->power_w / (chip->vector_flops / 1e12);
    double most = c[FT__C_sustain_most] * (chip->lanes > 140 ? c[FT__C_wide_share] : 1);
    double share;

    if (!(budget > 0) || !chip->gpu)
        return most;
    if (chip->process_nm > 0)
        budget /= pow(chip->process_nm / 16, c[FT__C_node_power]);
    share = c[FT__C_sustain_power] * pow(budget, 0.75);
    return pow(pow(most, -6) + pow(share, -6), -1.0 / 6);
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

static double host_s(const ft__work *w, const double *c)
{
    return c[FT__C_floor_s] * (w->floor < 0 ? 1 : c[w->floor]) +
           (w->step ? c[FT__C_step_s] : 0);
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

static void price(ft__terms *out, const ft__work *w, const ft__chip *chip,
                  const ft__theta *theta)
{
    const double *c = theta->v;

    *out = (ft__terms){.fill = 1, .sustained = ft__sustained(chip, theta)};
    for (uint32_t i = 0; i < w->n; i++) {
        const ft__pass *p = &w->pass[i];
        ft__terms one = {.fill = 1, .sustained = out->sustained};

        if (p->what == FT__PASS_PRODUCT)
            ft__product_price(&one, p, chip, theta);
        else if (p->what <= FT__PASS_DIRECT)
            ft__conv_price(&one, p, chip, theta);
        else if (p->what == FT__PASS_ATTENTION)
            ft__attention_price(&one, p, chip, theta);
        else if (p->what == FT__PASS_CACHE)
            ft__cache_price(&one, p, chip, theta);
        else
            ft__stream_price(&one, p, chip, theta);
        add(out, &one, p->count * (p->partial ? c[FT__C_step_data] : 1));
        out->kernels += p->count * p->kernels;
    }
    out->busy_s += out->kernels * c[FT__C_kernel_s];
    out->launch_s = w->n ? host_s(w, c) : 0;
    out->total_s = together(out->launch_s, out->busy_s, c[FT__C_overlap]);
}

void ft__work_price(ft__terms *out, const ft__work *w, const ft__chip *chip,
                    const ft__theta *theta)
{
    ft__theta cpu;

    if (!chip->gpu)
        cpu = of_cpu(theta);
    price(out, w, chip, chip->gpu ? theta : &cpu);
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
