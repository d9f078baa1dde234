/* Kernels that stream: elementwise ones, norms, softmax, pools, moves. */
#include <math.h>

#include "predict/passes.h"

/* What was touched just before is still in the last-level cache, the less the more
 * there is of it. */
static double kept(double bytes, const ft__pace *pace)
{
    double over = bytes / pace->kept_bytes;

    return pace->kept_bytes > 0 ? 1 / (1 + over * over * over) : 0;
}

double ft__cached_s(double bytes, const ft__pace *pace)
{
    double memory = bytes / pace->memory_rate, hit = kept(bytes, pace), fast;

    if (!(hit > 0) || !(pace->chip->clock_hz > 0))
        return memory;
    fast = bytes / pace->cache_rate;
    return hit * fmin(fast, memory) + (1 - hit) * memory;
}

/* TF32 runs channels-last whatever the tensors are: one pass there, one back. */
static int is_transposed(const ft__pass *p, const ft__chip *chip)
{
    return p->what == FT__PASS_LAYOUT && chip->tensor && p->size > 2;
}

/* Rows of softmax that GPUs' libraries keep in registers between finding their maximum
 * and dividing by their sum. */
enum { IN_REGISTERS = 1024 };

static double passes(const ft__pass *p, const ft__chip *chip, const double *c)
{
    if (is_transposed(p, chip))
        return 1;
    switch (p->what) {
    case FT__PASS_NORM: return c[FT__C_norm_passes];
    case FT__PASS_SOFTMAX:
        return c[FT__C_softmax_passes] *
               (chip->gpu && p->row > IN_REGISTERS ? c[FT__C_softmax_wide] : 1);
    case FT__PASS_BIAS: return c[FT__C_bias_passes];
    case FT__PASS_LAYOUT: return c[FT__C_layout_passes];
    case FT__PASS_LOSS: return c[FT__C_step_passes];
    default: return 1;
    }
}

void ft__stream_price(ft__terms *out, const ft__pass *p, const ft__pace *pace)
{
    double times = passes(p, pace->chip, pace->c);
    double bytes = p->read + p->written +
                   pace->c[FT__C_read_again] * p->again * (1 - kept(p->apart, pace));

    out->memory_s = times * ft__cached_s(bytes, pace);
    out->compute_s =
        p->special / (pace->chip->vector_flops * pace->c[FT__C_special_rate]);
    out->busy_s = fmax(out->memory_s, out->compute_s);
}
