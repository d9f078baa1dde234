/* What a GPU draws: static power and the clock tree's, and joules of what is computed
 * and moved, at a clock and the voltage that it needs; and the clock that a cap leaves.
 */
#include "physics/power.h"

#include <math.h>
#include <string.h>

/* V over that at the nominal clock: constant up to the knee, then with the clock. */
static double voltage(const double *c, double clock)
{
    const double slope = c[FT__C_voltage_slope], knee = c[FT__C_voltage_knee];

    return (1 + slope * fmax(0, clock - knee)) / (1 + slope * (1 - knee));
}

/* Of that, what GDDR draws whatever the core clock: 0.2 of the TDP of a Titan X, 0.155
 * of a GTX 1080 Ti's, by kernels that no memory clock slows down. Not fitted. */
static const double GDDR = 0.6;

static double gddr_share(bool gddr, double tdp_w, double standing_w)
{
    return gddr ? GDDR * fmin(1, tdp_w / standing_w) : 0;
}

static double idle_share(const double *c, double memory, double clock)
{
    const double v = voltage(c, clock), leak = c[FT__C_power_leak];

    return memory + (1 - memory) * (leak * v + (1 - leak) * clock * v * v);
}

/* Of what draws while kernels run, with no kernel on the device: loops that wait for
 * their host draw 0.19 of the TDP on H200 (fp8 by blocks), GB200 and A100. Not fitted.
 */
static const double WAITING = 2.0 / 3;

double ft__peak_tflops_16nm(const ft_device_facts *d)
{
    const bool gpu = d->type && strcmp(d->type, "gpu") == 0;

    return gpu ? d->peak_fp32 / 1e12 * d->process_nm / 16 : 0;
}

/* W of which a share is drawn while a device waits: its TDP, or what sustains the peak
 * (docs/physics.md). The chip waits, whatever its board is held to: with a model loaded
 * T4 31 of 70 W, L4 29 of 72, RTX A4000 38 of 140, MI300X 191 of 750
 * (docs/notes/power.md). By the constant as it comes: fits of times know nothing of
 * what waits. */
static double standing_power(double tdp_w, double peak_tflops_16nm)
{
    const double sustain = ft__physics_defaults()->v[FT__C_sustain_power];

    return tdp_w > 0 ? fmax(tdp_w, peak_tflops_16nm / sustain) : tdp_w;
}

double ft__idle_power(const ft__physics_params *params, const ft_device_facts *d)
{
    return WAITING * params->v[FT__C_power_idle] *
           standing_power(d->tdp_w, ft__peak_tflops_16nm(d));
}

/* An L4 leaves 0.74, an A10 0.75; the bound is for boards that are not known. */
double ft__left_by_waiting(const ft__hardware_spec *chip)
{
    const double share = WAITING * ft__physics_defaults()->v[FT__C_power_idle];
    const double standing_w = standing_power(chip->tdp_w, chip->peak_tflops_16nm);

    return chip->tdp_w > 0
               ? fmax(0.5, (1 - share * standing_w / chip->tdp_w) / (1 - share))
               : 1;
}

double ft__idle_share(const ft__physics_params *params, const ft_device_facts *d,
                      double clock)
{
    const double standing_w = standing_power(d->tdp_w, ft__peak_tflops_16nm(d));
    const double memory = gddr_share(ft__has_gddr(d), d->tdp_w, standing_w);

    return idle_share(params->v, memory, clock);
}

void ft__power_make(ft__power *out, const ft__terms *t, const ft__hardware_spec *chip,
                    const ft__physics_params *params)
{
    const double *c = params->v;
    const double node = chip->process_nm > 0 ? chip->process_nm / 7 : 1;
    const double standing_w = standing_power(chip->tdp_w, chip->peak_tflops_16nm);
    const double drawing_w = fmax(chip->drawing_tdp_w, WAITING * standing_w);
    const double units = c[chip->tensor ? FT__C_power_tensor : FT__C_power_vector];

    *out = (ft__power){.params = params,
                       .chip = chip,
                       .t = t,
                       .idle_w = c[FT__C_power_idle] * drawing_w,
                       .idle_memory = gddr_share(chip->gddr, chip->tdp_w, drawing_w),
                       .core_j = chip->drawing_tdp_w * units * chip->clock_share *
                                 fmin(t->drawing_s, t->busy_s),
                       .memory_j = 1e-12 * c[FT__C_pj_byte] * node * chip->bandwidth *
                                   fmin(t->memory_s, t->busy_s)};
}

double ft__power_at(const ft__power *p, double clock, double busy_s)
{
    const double v = voltage(p->params->v, clock);

    if (!(busy_s > 0))
        return NAN;
    return p->idle_w * idle_share(p->params->v, p->idle_memory, clock) +
           (p->core_j + p->memory_j) * v * v / busy_s;
}

double ft__busy_at(const ft__power *p, double clock)
{
    const ft__terms *t = p->t;
    const double slower = p->chip->clock_share / clock;
    const double cores_s = fmax(t->compute_s, t->cache_s);
    const double memory_s =
        t->memory_s * p->chip->bandwidth / ft__crossed_bandwidth(p->chip, clock);

    return fmax(0, t->busy_s - fmax(cores_s, t->memory_s)) * slower +
           fmax(cores_s * slower, memory_s);
}

double ft__clock_under_cap(const ft__power *p, double cap_w)
{
    const double clock = p->chip->clock_share;
    double low = fmin(clock, p->params->v[FT__C_clock_least]), high = clock;

    if (!(ft__power_at(p, clock, p->t->busy_s) > cap_w))
        return clock;
    for (int i = 0; i < 24; i++) {
        const double at = (low + high) / 2;

        if (ft__power_at(p, at, ft__busy_at(p, at)) > cap_w)
            high = at;
        else
            low = at;
    }
    return low;
}

/* As aiconfigurator's collector reads it: every 100 ms of a loop of a second at most,
 * first as it begins, which shows what was before, waiting. Loops of a second are taken
 * as steady: their rows show 0.99 of the estimate, not ten elevenths
 * (docs/notes/power.md). NVML's power is the mean of the last second since Hopper,
 * which shows for as long what was before, be it what it may. */
static const double read_every_s = 0.1, longest_loop_s = 1, averaged_s = 1;

ft__power_reading ft__power_read(double steady_w, double idle_w, double cap_w,
                                 double loop_calls, double call_s)
{
    const double loop_s = fmin(loop_calls * call_s, longest_loop_s);
    const double before =
        loop_s < longest_loop_s ? 1 / (1 + floor(loop_s / read_every_s)) : 0;
    const double averaged = loop_s / averaged_s / 2;
    ft__power_reading out = {steady_w, steady_w, steady_w};

    if (isnan(loop_calls) || isnan(call_s))
        return out;
    out.value = steady_w + before * (idle_w - steady_w);
    out.low = fmin(out.value, idle_w + averaged * (steady_w - idle_w));
    if (isfinite(cap_w))
        out.high = fmax(steady_w, cap_w + averaged * (steady_w - cap_w));
    return out;
}

double ft__physics_power(const ft__terms *t, const ft__hardware_spec *chip,
                         const ft__physics_params *params)
{
    ft__power p;

    if (isnan(chip->power_w))
        return NAN;
    ft__power_make(&p, t, chip, params);
    return fmin(chip->power_w, ft__power_at(&p, chip->clock_share, t->total_s));
}
