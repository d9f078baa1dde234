/* Matrix products on vectors: tiles dealt to cores in waves. */
#include <math.h>

#include "physics/op_kernel_cost.h"

/* Tiles of the result that a core works on at a time; halved: 128 x 128 by 2^halved. */
static const struct tile {
    double m, n;
    uint32_t halved;
} tiles[] = {{128, 128, 0}, {128, 64, 1}, {64, 128, 1}, {64, 64, 2},
             {128, 32, 2},  {32, 128, 2}, {32, 32, 4}};
/* cuBLAS before Volta splits k less: DeepBench's products of 500,000 numbers. */
enum { N_TILES = sizeof(tiles) / sizeof(*tiles), MOST_SPLIT = 256, EARLY_SPLIT = 16 };
static const double ENOUGH_WAVES = 2; /* then it is not */
static const double STEP_ROWS = 16;   /* fewest of a product of a recurrent layer */

/* Is an fp32 product cut as cuBLAS cuts those of one batched call? Its kernels for that
 * are fewer. */
static bool is_batched_call(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return p->batched && p->size == 4 && !chip->tensor && (chip->early || chip->volta);
}

/* Before Volta convolutions of 16 bits (P100), all products of 8 (GTX 1080 Ti) and
 * those of fp32 by cuBLAS before CUDA 9 have none but large kernels, which leave k
 * whole but in gradients of weights: DeepBench's take as long for 8 images as for 16.
 * Two columns are still sums of threads. */
static bool has_large_tiles_only(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    if (!chip->early || p->count > 1 || (p->batched && p->size == 4) ||
        (chip->apart && p->gradient && p->what == FT__OP_KERNEL_PRODUCT))
        return false;
    if (p->what == FT__OP_KERNEL_CONV)
        return p->size < 2 || ft__has_vectors_of_16_bits(p, chip);
    return (p->size < 2 || (p->size == 4 && chip->cuda <= 8)) && fmin(p->m, p->n) > 2;
}

/* Kepler's (cores of 192 lanes): a weight of Justus' layers on a K80 takes 32 ps with 8
 * rows and 74 with 9 to 32 as with 64, whatever k, so that tiles have 64 of both
 * (sgemm_sm35_ldg_nn_64x16x64x16x16). Of his layers, with 500 outputs and more, k is
 * whole: it is cut where all parts have a core each. */
static bool has_wide_tiles(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    return chip->early && chip->lanes > 140 && p->what == FT__OP_KERNEL_PRODUCT &&
           (is_batched_call(p, chip) || fmin(p->m, p->n) > 8);
}

/* Batched on Maxwell and Pascal maxwell_sgemm_128x128 and 128x64 (columns by rows),
 * before Ampere those of 64 columns and more (NeuSight's of a T4), since then
 * ampere_sgemm_128x128 alone; convolutions before Volta maxwell_scudnn_128x128, 128x64
 * and 128x32, weights' gradients on cores of 128 lanes (not on a P100)
 * 128x128_stridedB_splitK and 128x64 of output channels, but for 32 of them. */
static bool has_tile(const ft__op_kernel *p, const struct tile *t,
                     const ft__hardware_spec *chip)
{
    if (has_large_tiles_only(p, chip))
        return t->halved == 0 || (t->halved == 1 && t->m == 128 &&
                                  (p->size >= 2 || p->what == FT__OP_KERNEL_PRODUCT));
    if (p->atomic && chip->lanes > 100)
        return p->m <= 32 ? t->m == 32 && t->n == 128 : t->m == 128 && t->n >= 64;
    if (has_wide_tiles(p, chip))
        return fmin(t->m, t->n) >= 64;
    if (!is_batched_call(p, chip))
        return !chip->early || p->what != FT__OP_KERNEL_CONV || fmax(t->m, t->n) == 128;
    if (chip->ampere)
        return t->halved == 0;
    if (!chip->early)
        return t->n >= 64;
    return t->halved == 0 ||
           (t->halved == 1 && (t->n == 128 || p->phase != FT_PHASE_FORWARD));
}

struct product_machine {
    const ft__pace *pace;
    double rate;       /* FLOP/s */
    double held;       /* of the clock, while all cores multiply */
    double core_cache; /* B/s of one core from the last-level cache */
};

struct product_plan {
    double compute_s, cache_s, waves, total_s;
};

/* Elements of a tile that are computed: steps of recurrent layers have few rows, and
 * libraries since Volta kernels for that. */
static double area_of(const ft__op_kernel *p, const struct tile *t,
                      const ft__hardware_spec *chip)
{
    if (p->count == 1 || chip->early || chip->amd)
        return t->m * t->n;
    return fmin(t->m, ft__up(p->m / STEP_ROWS) * STEP_ROWS) *
           fmin(t->n, ft__up(p->n / STEP_ROWS) * STEP_ROWS);
}

/* Steps of k that a tile takes to start: a time of loads and stores, in which tensor
 * cores make as many more steps as they are faster than vectors. None for vectors
 * where reading is priced apart. */
static double start_of(const ft__algorithm *a, const ft__pace *pace)
{
    const bool tf32 = a->matrix && a->op_kernel.size > 2;

    if (!a->matrix && !(a->op_kernel.read > 0))
        return 0;
    return pace->c[FT__C_depth_start] / (tf32 ? pace->chip->vector_share : 1);
}

/* Numbers that a core adds to memory in a clock, each to a place of its own:
 * DeepBench's gradients of 64 thousand to 2 million weights, by what twice the batch
 * takes (0.16 to 0.2 on a P100, a GTX 1080 Ti and both Titan X). In 16 bits a P100
 * alone was measured, whose time goes with the root of k, as if parts of a tile added
 * in turn; why is not known. No number from 0.5 to 1 puts its rows beyond 22 %. */
static const double ATOMIC_ADDS = 0.2, ADDS_IN_TURN = 0.7;

/* Likewise of a product by cuBLAS before CUDA 9, as if no second kernel added its parts
 * up: 512 x 512 by 32 takes a GTX 1080 Ti 6 us in all. DeepBench's of a P100 with 32
 * to 128 columns would be 1.3 times too slow; they do not tell 2 from 4. */
static const double PRODUCT_ADDS = 2;

static bool adds_in_place(const ft__op_kernel *p, uint32_t split,
                          const ft__hardware_spec *chip)
{
    return p->atomic ||
           (split > 1 && chip->early && chip->bare && p->what == FT__OP_KERNEL_PRODUCT);
}

/* Clocks that all parts take for that. */
static double atomic_clocks(const ft__op_kernel *p, const struct tile *t,
                            uint32_t split, const ft__hardware_spec *chip)
{
    if (p->atomic && ft__has_vectors_of_16_bits(p, chip))
        return split * t->m * t->n / ADDS_IN_TURN;
    return split * p->m * p->n * p->batch /
           ((p->atomic ? ATOMIC_ADDS : PRODUCT_ADDS) * chip->cores);
}

/* One tile a core has half the rate. Of 8 bits 128 x 64: for each of k DeepBench's
 * products of 4 columns take a GTX 1080 Ti 19 ns by 4 to 24 tiles, 25 to 29 by 36 and
 * 48, 48 to 50 by 60 and 66. */
static bool needs_two(const ft__op_kernel *p, const struct tile *t,
                      const ft__hardware_spec *chip)
{
    return has_large_tiles_only(p, chip) &&
           (p->size == 2 || (p->size < 2 && t->halved));
}

/* k in `split` parts, added up afterwards. */
static struct tiling way_of(const ft__algorithm *a, const struct tile *t,
                            uint32_t split, const ft__pace *pace)
{
    const ft__op_kernel *p = &a->op_kernel;
    const double *c = pace->c;
    double cores = pace->chip->cores;
    double blocks = ft__up(p->m / t->m) * ft__up(p->n / t->n) * p->batch * split;
    double depth = ft__up(p->k / split / 8) * 8, whole;
    struct tiling w = {.waves = blocks / cores, .halved = t->halved, .split = split};

    whole = ft__up(w.waves);
    if (needs_two(p, t, pace->chip))
        whole = 2 * ft__up(w.waves / 2);
    w.work = (whole + c[FT__C_wave_tail]) * area_of(p, t, pace->chip) * 2 *
             (depth + start_of(a, pace)) * cores;
    w.drawn = blocks * ft__drawn_b(p, t->m, t->n) * depth;
    w.cores = fmin(cores, blocks);
    if (adds_in_place(p, split, pace->chip))
        w.clocks = atomic_clocks(p, t, split, pace->chip);
    else if (split > 1)
        w.extra =
            (double)(2 * split) * p->m * p->n * p->batch * 4 * c[FT__C_split_cost];
    return w;
}

/* In place of *best where it is faster. */
static void try_way(struct product_plan *best, const struct tiling *w,
                    const struct product_machine *m)
{
    struct product_plan plan = {.waves = w->waves};

    plan.compute_s = w->work / (m->rate * m->pace->tile[w->halved]);
    if (w->waves < 1) /* few cores stay below the budget */
        plan.compute_s *= fmax(m->held, w->waves);
    if (plan.compute_s >= best->total_s)
        return;
    if (m->core_cache > 0)
        plan.cache_s = w->drawn / (m->core_cache * w->cores);
    plan.total_s = fmax(plan.compute_s, plan.cache_s);
    plan.total_s += ft__clocks_s(w->clocks, m->pace->chip);
    if (w->extra > 0)
        plan.total_s += ft__cached_s(w->extra, m->pace) + m->pace->c[FT__C_kernel_s];
    if (plan.total_s < best->total_s)
        *best = plan;
}

/* Of a part of k. cuBLAS before CUDA 9 splits that of DeepBench's products of 500,000
 * numbers and of none up to 8,448. */
static double least_depth(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    if (!has_large_tiles_only(p, chip) || p->gradient == FT_WRT_WEIGHTS)
        return 64;
    return p->size == 4 ? 16384 : INFINITY;
}

/* Into how many parts k is split at most: one batched call's is not, but by Volta and
 * Turing, of which nothing says so. Cores that are busy anyway gain nothing by
 * parts, whatever the way costs: then a faster device never leaves one out that a
 * slower one takes. */
static uint32_t most_split(const ft__op_kernel *p, const struct tile *t,
                           const ft__pace *pace)
{
    const double blocks = ft__up(p->m / t->m) * ft__up(p->n / t->n) * p->batch;
    const uint32_t most = pace->chip->early && p->what == FT__OP_KERNEL_PRODUCT
                              ? EARLY_SPLIT
                              : MOST_SPLIT;
    const double most_parts =
        has_wide_tiles(p, pace->chip) ? pace->chip->cores : INFINITY;
    uint32_t split = 1;

    if (!(blocks / pace->chip->cores <= ENOUGH_WAVES) || p->count > 1 ||
        (is_batched_call(p, pace->chip) && (pace->chip->early || pace->chip->ampere)))
        return 1;
    while (split < most && 2 * split * blocks <= most_parts &&
           p->k / (2 * split) >= least_depth(p, pace->chip))
        split *= 2;
    return split;
}

static struct product_plan best_of(const ft__algorithm *a,
                                   const struct product_machine *m)
{
    struct product_plan best = {.total_s = INFINITY};

    for (uint32_t i = 0; i < a->n_ways; i++)
        try_way(&best, &a->way[i], m);
    return best;
}

static struct product_plan best_cut(const ft__algorithm *a,
                                    const struct product_machine *m)
{
    const ft__op_kernel *p = &a->op_kernel;
    struct product_plan best = {.total_s = INFINITY};

    for (int i = 0; i < N_TILES; i++) {
        const uint32_t most = most_split(p, &tiles[i], m->pace);

        if (!has_tile(p, &tiles[i], m->pace->chip))
            continue;
        for (uint32_t split = 1; split <= most; split *= 2) {
            const struct tiling w = way_of(a, &tiles[i], split, m->pace);

            try_way(&best, &w, m);
        }
    }
    return best;
}

/* CPUs: what registers hold of the result, dealt to cores; blocks for the caches keep
 * reading it no bottleneck (Goto, van de Geijn 2008). One row needs no more than one.
 */
static const double REGISTER_ROWS = 8, REGISTER_COLUMNS = 32;

static struct product_plan cpu_cut(const ft__op_kernel *p,
                                   const struct product_machine *m)
{
    const double cores = m->pace->chip->cores;
    const double rows = fmin(REGISTER_ROWS, fmin(p->m, p->n));
    const double blocks = ft__up(fmin(p->m, p->n) / rows) *
                          ft__up(fmax(p->m, p->n) / REGISTER_COLUMNS) * p->batch;
    struct product_plan plan = {.waves = blocks / cores};

    plan.compute_s = ft__up(plan.waves) * rows * REGISTER_COLUMNS * 2 *
                     (p->k + m->pace->c[FT__C_depth_start]) * cores /
                     (m->rate * m->pace->tile[0]);
    plan.total_s = plan.compute_s;
    return plan;
}

/* NVIDIA's cores of 128 lanes since Ampere issue one instruction a clock to each 32 of
 * them, so that loads of operands take the place of multiply-adds; Pascal's issued two,
 * an A100's lanes are half as many. cuBLAS' largest products in fp32: 0.72 of the peak
 * of an RTX 5060 Ti (its benchmark in public), where tiles reach 0.93 elsewhere; an
 * A6000 and KernelBench's A10G 0.60 and 0.67 of theirs. */
static const double ISSUE_SHARE = 0.8;

static bool has_one_issue(const ft__hardware_spec *chip)
{
    return chip->gpu && chip->ampere && chip->lanes > 100;
}

/* Of the peak of vectors that multiply all the time. */
static double vector_share(const ft__hardware_spec *chip, double sustained)
{
    return has_one_issue(chip) ? fmin(sustained, ISSUE_SHARE) : sustained;
}

/* There epilogue stores do not overlap the main loop, of which a tile's start is no
 * part: KernelBench's products of small K (16, 32 and 256) on A10 and A10G. */
static double with_memory(double product_s, double memory_s, const ft__algorithm *a,
                          const ft__pace *pace)
{
    const ft__op_kernel *p = &a->op_kernel;
    const double multiplies_s = product_s * p->k / (p->k + start_of(a, pace));
    const double writes_s = memory_s * p->written / (p->read + p->written);
    const double longer_s = fmax(product_s, memory_s);

    if (a->matrix || !has_one_issue(pace->chip) || !(p->written > 0))
        return longer_s;
    return fmax(longer_s, multiplies_s + writes_s);
}

/* Of each of k, a product of 8 bits with one or two columns, whose rows a thread each
 * adds up: DeepBench's with k of 500,000 on a GTX 1080 Ti and a Titan X (Pascal), of
 * 512 rows as of 1,024. Others were not measured: without instructions for that they
 * are no faster. */
static const double VECTOR_CLOCKS = 11;

/* Clocks that steps take at least for each of k before Volta, as DeepBench's have them
 * on a P100, a GTX 1080 Ti and both Titan X, whatever a core's lanes
 * (docs/notes/physics.md, steps of recurrent layers by gates and rows; Keplers were not
 * measured and are no faster than Maxwells). Up to 16 columns take so much for each row
 * of a core. A larger batch is never faster, so that 64 columns back are up to 3.1
 * times too slow. Libraries have no 8-bit steps, which take fp32's; those of up to 4
 * columns are faster. */
static double step_clocks(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    static const double row_back = 1, row_forward = 1.4;
    const double columns = fmin(p->m, p->n), rows = fmax(p->m, p->n) / chip->cores;
    const bool halves =
        p->size == 2 && chip->tensor_flops * chip->clock_share > chip->vector_flops;
    const bool back = p->gradient, lstm = p->gates == 4;
    const double most =
        back ? (halves ? 190 : 160) : (halves ? 320 : 160) + 25 * (p->gates - 1);

    if (!chip->early)
        return 0;
    if (p->kernels < 2)
        return p->size < 2 && columns <= 2 ? VECTOR_CLOCKS : 0;
    if (columns <= 4 && p->size < 2)
        return 0;
    if (!chip->pascal)
        return back ? (columns > 32 ? 75 : 50) : lstm ? 190 : 80;
    if (columns > 16)
        return most;
    return fmin(most, fmax(back   ? 45
                           : lstm ? 145
                                  : 80,
                           (back ? row_back : row_forward) * rows * columns / 16));
}

void ft__product_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace)
{
    /* Tensor cores that wait draw less than those of large products. */
    const double tensor = pace->tensor_sustained /
                          ft__freed(pace->tensor_sustained, a->share * pace->tile[0]);
    const double sustained = a->matrix               ? tensor
                             : a->below_power_budget ? 1
                                                     : out->sustained;
    const struct product_machine m = {
        .pace = pace,
        .rate = pace->chip->peak_flops * a->share *
                (a->matrix ? sustained : vector_share(pace->chip, sustained)),
        .held = a->matrix || a->below_power_budget ? sustained : pace->held,
        .core_cache = pace->chip->clock_hz * pace->c[FT__C_cache_width]};
    struct product_plan plan = a->way            ? best_of(a, &m)
                               : pace->chip->gpu ? best_cut(a, &m)
                                                 : cpu_cut(&a->op_kernel, &m);

    out->compute_s = plan.compute_s;
    out->cache_s = plan.cache_s;
    out->memory_s = ft__moved_s(&a->op_kernel, 0, pace);
    out->waves = plan.waves;
    out->fill = plan.waves / ceil(plan.waves);
    out->busy_s = fmax(with_memory(plan.total_s, out->memory_s, a, pace),
                       step_clocks(&a->op_kernel, pace->chip) * a->op_kernel.k /
                           pace->chip->clock_hz);
}

/* A way that is always tried, and faster at every clock. Arithmetic and cache go with
 * the clock alike; of the sustained share only the most is known, and that fewer cores
 * are held back less. */
static bool beats(const struct tiling *a, const struct tiling *b,
                  const ft__algorithm *of, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    double most = pace->c[FT__C_sustain_most] * fmax(1, pace->c[FT__C_wide_share]);
    double bytes_per_flop = chip->clock_hz * pace->c[FT__C_cache_width] /
                            (chip->peak_flops * most * of->share);
    double work_a = a->work / pace->tile[a->halved],
           work_b = b->work / pace->tile[b->halved];
    double drawn_b = b->drawn / b->cores, at_least = work_b * bytes_per_flop;

    return a->split == 1 && a->clocks <= b->clocks &&
           (b->waves >= 1 || a->waves <= b->waves) && work_a * FT__SURELY <= work_b &&
           a->drawn / a->cores * FT__SURELY <=
               (at_least > drawn_b ? at_least : drawn_b);
}

/* The ways that may be the fastest at some clock of the chip. */
uint32_t ft__product_ways(struct tiling out[MAX_WAYS], const ft__algorithm *a,
                          const ft__pace *pace)
{
    uint32_t n = 0;

    for (int i = 0; i < N_TILES; i++) {
        const uint32_t most = most_split(&a->op_kernel, &tiles[i], pace);

        if (!has_tile(&a->op_kernel, &tiles[i], pace->chip))
            continue;
        for (uint32_t split = 1; split <= most; split *= 2) {
            bool beaten = false;

            out[n] = way_of(a, &tiles[i], split, pace);
            for (uint32_t j = 0; j < n && !beaten; j++)
                beaten = beats(&out[j], &out[n], a, pace);
            n += !beaten;
        }
    }
    return n;
}
