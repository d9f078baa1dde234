/* Kernels that stream: elementwise ones, norms, softmax, pools, moves. */
#include <math.h>

#include "physics/op_kernels.h"

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

/* Rows of softmax that GPUs' libraries keep in registers between finding their maximum
 * and dividing by their sum. */
enum { IN_REGISTERS = 1024 };
/* Those of norms that are still in a core's own cache when they are read again. */
enum { IN_CACHE = 3072 };

static double op_kernels(const ft__op_kernel *p, const ft__hardware_spec *chip,
                         const double *c)
{
    switch (p->what) {
    case FT__OP_KERNEL_NORM:
        return c[FT__C_norm_passes] *
               (chip->gpu && p->row > IN_CACHE ? c[FT__C_norm_wide] : 1);
    case FT__OP_KERNEL_SOFTMAX:
        return c[FT__C_softmax_passes] *
               (chip->gpu && p->row > IN_REGISTERS ? c[FT__C_softmax_wide] : 1);
    case FT__OP_KERNEL_BIAS: return c[FT__C_bias_passes];
    case FT__OP_KERNEL_LAYOUT: /* TF32 counts its own: ft__algorithms() */
        return chip->tensor && p->size > 2 ? 0 : c[FT__C_layout_passes];
    case FT__OP_KERNEL_LOSS: return c[FT__C_step_passes];
    default: return 1;
    }
}

/* What is read after statistics is only read, whatever norms need besides: not `times`.
 */
static double read_again(const ft__op_kernel *p, const ft__pace *pace, double times)
{
    return p->what == FT__OP_KERNEL_NORM
               ? pace->c[FT__C_norm_again] * p->again / times
               : pace->c[FT__C_read_again] * p->again * (1 - kept(p->apart, pace));
}

/* What waits for itself: one block reads all of a channel, however few there are; a
 * short row ends before the next loads of its block have come. */
static double in_turn_s(const ft__op_kernel *p, double bytes, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;

    if (!chip->gpu || !(chip->clock_hz > 0))
        return 0;
    if (p->blocks > 0)
        return bytes / p->blocks / (pace->c[FT__C_norm_block] * chip->clock_hz);
    return p->rows / chip->cores * pace->c[FT__C_norm_row] / chip->clock_hz;
}

void ft__stream_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    double times = op_kernels(p, chip, pace->c);
    double bytes = p->read + p->written + read_again(p, pace, times);

    out->memory_s = times * ft__cached_s(bytes, pace);
    out->compute_s = p->special / (chip->vector_flops * pace->c[FT__C_special_rate]);
    if (p->what == FT__OP_KERNEL_POOL && chip->gpu)
        out->compute_s +=
            p->places * pace->c[FT__C_pool_place] * 2 / chip->vector_flops;
    out->busy_s = fmax(hypot(out->memory_s, in_turn_s(p, bytes, pace)), out->compute_s);
}
