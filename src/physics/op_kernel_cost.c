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

/* B that do so in calls of a library alone, by old ones unless rows are whole blocks:
 * DeepBench's of a GTX 1080 Ti, a Titan X (Pascal) and a Titan X (Maxwell). */
static const double DEEP_OPERAND = 35e6, BLOCK = 8192;

/* How much longer, at so many times that size. */
static double deep_loss(double times)
{
    const double deep = pow(times, DEEP_BEND);

    return DEEPEST * deep / (1 + deep);
}

/* Of cuBLAS before Volta, where both operands lie along k; by 8.0.88 alone plain
 * products are no faster, nor are TensorFlow 1's, whose weights lie across. */
static double crossed_share(const ft__op_kernel *p, const ft__hardware_spec *chip,
                            const double *c)
{
    const bool old = chip->cuda <= 8;
    const double row = p->k * p->size, side = fmin(p->m, p->n);
    const double whole =
        chip->bare == old
            ? c[FT__C_crossed_share] * (fmod(row, SECTOR) > 0 ? RAGGED_SHARE : 1)
            : 1;

    if (old && !chip->bare)
        return 1;
    if (side < LEAST_SIDE || (chip->bare && (!old || fmod(row, BLOCK) == 0)))
        return whole;
    return whole / (1 + deep_loss(old ? side * row / DEEP_OPERAND : row / DEEP_ROW));
}

/* Fewer columns have other kernels; more than those of a tile share what it reads. */
static const double FEW_COLUMNS = 64, TILE_COLUMNS = 128, MOST_ROWS = 5632;

/* Clocks that such products wait beside for rows of the larger operand, in calls of a
 * library alone: DeepBench's of a GTX 1080 Ti and both Titan X; a P100's are better
 * without. They are added, so that more columns are never faster, and in peaks, so that
 * a faster chip of as many bytes never is slower. */
static double few_columns_clocks(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const double columns = fmin(p->m, p->n), rows = fmin(fmax(p->m, p->n), MOST_ROWS);
    const double row = p->k * p->size;

    if (!chip->gpu || !chip->early || !chip->bare || chip->stacked || !p->crossed ||
        columns < FEW_COLUMNS || (chip->cuda <= 8 && fmod(row, BLOCK) == 0))
        return 0;
    return deep_loss(rows * row / DEEP_OPERAND) * 2 * rows *
           fmin(columns, TILE_COLUMNS) * p->k * p->batch * chip->clock_hz /
           chip->peak_flops;
}

/* Products of a mixture's experts, whose tiles share little of what they read, reach so
 * much of one large product's rate. Decided on an H200's mixtures of 16 and 8 bits. */
static const double GROUPED_SHARE = 0.6;

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
        return (chip->amd ? c[FT__C_amd_share] : 1) *
               (p->scaled ? c[FT__C_scaled_share] : 1) *
               (p->grouped ? GROUPED_SHARE : 1);
    return (chip->amd ? c[FT__C_amd_share] * (p->batch > 1 ? c[FT__C_amd_batched] : 1)
                      : 1) *
           (chip->early && p->crossed ? crossed_share(p, chip, c) : 1) *
           (chip->early && p->count > 1 && p->size > 1 ? EARLY_STEP : 1);
}

/* Those of a product or convolution, the plainest first. */
static uint32_t algorithms(ft__algorithm out[MAX_ALGORITHMS], const ft__op_kernel *p,
                           const ft__hardware_spec *chip, const double *c)
{
    if (p->what == FT__OP_KERNEL_CONV)
        return ft__conv_algorithms(out, p, chip, c);
    out[0] = (ft__algorithm){.op_kernel = *p,
                             .share = library_share(p, chip, c),
                             .clocks = few_columns_clocks(p, chip),
                             .tensor = ft__tensor_serves(p, chip),
                             .matrix = chip->tensor != 0};
    return 1;
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
        if (a[i].added > 0 || a[i].clocks > 0) {
            double s = ft__cached_s(a[i].added, pace) +
                       a[i].starts * pace->c[FT__C_kernel_s] +
                       ft__clocks_s(a[i].clocks, pace->chip);

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
