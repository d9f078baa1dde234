/* Kernels that stream: elementwise ones, norms, softmax, pools, moves. */
#include <math.h>

#include "predict/passes.h"

static double memory_rate(const ft__chip *chip, const double *c)
{
    int stacked = chip->bus_bytes > 400 && chip->year >= 2017;

    double wide = chip->lanes > 140 ? c[FT__C_wide_memory] : 1;

    return chip->bandwidth * c[FT__C_memory_share] * wide *
           (stacked ? c[FT__C_stacked_share] : 1);
}

/* What was touched just before is still in the last-level cache, the less the more
 * there is of it. */
double ft__cached_s(double bytes, double working_set, const ft__chip *chip,
                    const ft__theta *theta)
{
    const double *c = theta->v;
    double memory = bytes / memory_rate(chip, c), hit, fast, over;

    if (!(chip->l2_bytes > 0) || !(chip->clock_hz > 0))
        return memory;
    over = working_set / (chip->l2_bytes * c[FT__C_cache_keeps]);
    hit = 1 / (1 + over * over * over);
    fast = bytes / (chip->clock_hz * chip->cores * c[FT__C_cache_width]);
    return hit * fmin(fast, memory) + (1 - hit) * memory;
}

/* TF32 runs channels-last whatever the tensors are: one pass there, one back. */
static int is_transposed(const ft__pass *p, const ft__chip *chip)
{
    return p->what == FT__PASS_LAYOUT && chip->tensor && p->size > 2;
}

static double passes(const ft__pass *p, const ft__chip *chip, const double *c)
{
    if (is_transposed(p, chip))
        return 1;
    switch (p->what) {
    case FT__PASS_NORM: return c[FT__C_norm_passes];
    case FT__PASS_SOFTMAX: return c[FT__C_softmax_passes];
    case FT__PASS_BIAS: return c[FT__C_bias_passes];
    case FT__PASS_LAYOUT: return c[FT__C_layout_passes];
    case FT__PASS_LOSS: return c[FT__C_step_passes];
    default: return 1;
    }
}

void ft__stream_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                      const ft__theta *theta)
{
    double bytes = p->read + p->written, times = passes(p, chip, theta->v);

    out->memory_s = times * ft__cached_s(bytes, bytes, chip, theta);
    out->compute_s = p->special / (chip->vector_flops * theta->v[FT__C_special_rate]);
    out->busy_s = fmax(out->memory_s, out->compute_s);
}
