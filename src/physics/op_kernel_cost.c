/* One kernel of an operation, and what a chip reaches -> its time: what waits for
 * memory and attention by one kernel; products and convolutions by the fastest of the
 * algorithms that libraries have, each cut into tiles the best way. */
#include <math.h>
#include <string.h>

#include "physics/op_kernel_cost.h"

static void stream_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    if (p->what == FT__OP_KERNEL_ATTENTION)
        ft__attention_cost(out, p, pace);
    else if (p->what == FT__OP_KERNEL_CACHE)
        ft__cache_cost(out, p, pace);
    else if (p->what == FT__OP_KERNEL_COLLECTIVE)
        ft__collective_cost(out, p, pace);
    else
        ft__passes_cost(out, p, pace);
}

/* B from a row of both operands to the next that make a product half as slow again as
 * the deepest ones are, how sharply, and how much longer those take: by NeuSight's rows
 * of a P100. Its page translations may be why; that was not measured. */
static const double DEEP_ROW = 80e3, DEEP_BEND = 2.5, DEEPEST = 1.7;
/* What a tile reads of a row at a time is one sector where rows begin with one, else
 * two. */
static const double SECTOR = 32, RAGGED_SHARE = 0.92;

/* Kernels for products with a shorter side lose nothing so. */
static const double LEAST_SIDE = 32;

/* B of the smaller operand that do so by cuBLAS before 8.0.88, unless its rows are
 * whole blocks: DeepBench's of a Titan X (Pascal) and a Titan X (Maxwell). */
static const double DEEP_OPERAND = 35e6, BLOCK = 8192;

/* Of cuBLAS before Volta, where both operands lie along k. Of many columns a P100 and a
 * GTX 1080 Ti, measured by 8.0.88, lose nothing. */
static double crossed_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                            const double *c)
{
    const double row = p->k * p->size, side = fmin(p->m, p->n);
    double deep =
        pow(chip->bare ? side * row / DEEP_OPERAND : row / DEEP_ROW, DEEP_BEND);

    if (chip->bare != (chip->cuda <= 8))
        return 1;
    if (side < LEAST_SIDE || (chip->bare && fmod(row, BLOCK) == 0))
        deep = 0;
    return c[FT__C_crossed_share] * (fmod(row, SECTOR) > 0 ? RAGGED_SHARE : 1) /
           (1 + DEEPEST * deep / (1 + deep));
}

/* Products of a mixture's experts, whose tiles share little of what they read, reach so
 * much of one large product's rate. Decided on an H200's mixtures of 16 and 8 bits. */
static const double GROUPED_SHARE = 0.6;

/* Gradients' on NVIDIA's GPUs, whose operands do not lie along k, as those of 8 bits
 * have to: decided on steps of language models on A100 and half of timm's networks on
 * an RTX 3090. */
static const double GRADIENT_SHARE = 0.85;

/* Of a product by itself, one of cuDNN's steps before Volta: DeepBench's on a
 * P100, a GTX 1080 Ti, a Titan X Pascal and a Titan X Maxwell. */
static const double EARLY_STEP = 0.75;

/* What a library's plain products reach of the best ones'. */
static double library_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                            const double *c)
{
    if (!chip->gpu)
        return 1;
    if (ft__tensor_serves(p, chip))
        return (chip->amd                    ? c[FT__C_amd_share]
                : p->gradient && p->size > 1 ? GRADIENT_SHARE
                                             : 1) *
               (p->scaled ? c[FT__C_scaled_share] : 1) *
               (p->grouped ? GROUPED_SHARE : 1);
    return (chip->amd ? c[FT__C_amd_share] * (p->batch > 1 ? c[FT__C_amd_batched] : 1)
                      : 1) *
           (chip->early && p->crossed ? crossed_share(p, chip, c) : 1) *
           (chip->early && p->count > 1 && p->size > 1 ? EARLY_STEP : 1);
}

/* Of few columns, both operands along k, on cores of 128 lanes (shared memory gives a
 * lane half of what a P100's does, which may be why): DeepBench's take 1.0 to 4 times a
 * plain product's time on a GTX 1080 Ti, a Titan X (Pascal) and a Titan X (Maxwell), by
 * three libraries. As by more columns in full, which are never faster. */
static const double FEW_CROSSED = 0.82, MOST_FEW = 128;

static bool has_few_crossed(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const double side = fmin(p->m, p->n);

    return chip->early && chip->bare && p->crossed && chip->lanes > 100 &&
           chip->lanes <= 140 && side >= LEAST_SIDE && side <= MOST_FEW;
}

/* Those of a product or convolution, the plainest first. */
static uint32_t algorithms(ft__algorithm out[MAX_ALGORITHMS], const ft__op_kernel *p,
                           const ft__hardware_spec *chip, const double *c)
{
    if (p->what == FT__OP_KERNEL_CONV)
        return ft__conv_algorithms(out, p, chip, c);
    out[0] = (ft__algorithm){.op_kernel = *p,
                             .share = library_share(p, chip, c),
                             .tensor = ft__tensor_serves(p, chip),
                             .matrix = chip->tensor != 0};
    if (!has_few_crossed(p, chip))
        return 1;
    out[1] = out[0];
    *(p->m < p->n ? &out[1].op_kernel.m : &out[1].op_kernel.n) = MOST_FEW + 1;
    out[1].share = library_share(&out[1].op_kernel, chip, c);
    out[0].share = fmin(out[0].share, FEW_CROSSED);
    return 2;
}

/* The fastest of them: all of *out but its launches. */
static void fastest(ft__terms *out, const ft__algorithm *a, uint32_t n,
                    const ft__pace *pace)
{
    ft__terms best = {.busy_s = INFINITY};

    for (uint32_t i = 0; i < n; i++) {
        ft__terms t = *out;

        if (a[i].tensor)
            ft__tensor_cost(&t, &a[i], pace);
        else
            ft__product_cost(&t, &a[i], pace);
        if (a[i].added > 0) {
            double s =
                ft__cached_s(a[i].added, pace) + a[i].starts * pace->c[FT__C_kernel_s];

            t.memory_s += s;
            t.busy_s += s;
        }
        if (i == 0 || t.busy_s < best.busy_s)
            best = t;
    }
    *out = best;
}

static bool find_ways(ft__algorithm *a, const ft__pace *pace, ft__arena *arena)
{
    struct tiling way[MAX_WAYS], *own;

    if (!pace->chip->gpu)
        return true;
    a->n_ways =
        a->tensor ? ft__tensor_ways(way, a, pace) : ft__product_ways(way, a, pace);
    own = ft__arena_array(arena, a->n_ways, sizeof(*own));
    if (own)
        memcpy(own, way, a->n_ways * sizeof(*own));
    a->way = own;
    return own != NULL;
}

bool ft__algorithms_make(const ft__algorithm **out, uint32_t *n, const ft__op_kernel *p,
                         const ft__pace *pace, ft__arena *arena)
{
    ft__algorithm found[MAX_ALGORITHMS], *own;
    bool good = true;

    *n = p->what < FT__OP_KERNEL_DIRECT ? algorithms(found, p, pace->chip, pace->c) : 0;
    for (uint32_t i = 0; i < *n && good; i++)
        good = find_ways(&found[i], pace, arena);
    own = ft__arena_array(arena, *n + 1, sizeof(*own));
    if (own)
        memcpy(own, found, *n * sizeof(*own));
    *out = own;
    return good && own;
}

void ft__op_kernel_cost(ft__terms *out, const ft__op_kernel *p,
                        const ft__algorithm *known, uint32_t n, const ft__pace *pace)
{
    ft__algorithm found[MAX_ALGORITHMS];

    if (p->what > FT__OP_KERNEL_DIRECT)
        stream_cost(out, p, pace);
    else if (p->what == FT__OP_KERNEL_DIRECT)
        ft__direct_cost(out, p, pace);
    else if (known)
        fastest(out, known, n, pace);
    else
        fastest(out, found, algorithms(found, p, pace->chip, pace->c), pace);
}
