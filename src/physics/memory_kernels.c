/* Kernels that wait for memory or links: elementwise ones, norms, softmax, pools and
 * moves; storing keys and values; collectives. */
#include <math.h>

#include "physics/op_kernel_cost.h"

/* What was touched just before is still in the last-level cache, the less the more
 * there is of it. No CPU's rows say how much of theirs: by the power of 3. */
static double kept(double bytes, const ft__pace *pace)
{
    const double over = bytes / pace->kept_bytes;

    if (!(pace->kept_bytes > 0))
        return 0;
    return pace->chip->gpu ? ft__cache_hit(over) : 1 / (1 + over * over * over);
}

/* Seconds to move `bytes` when as many are touched. */
double ft__cached_s(double bytes, const ft__pace *pace)
{
    double memory = bytes / pace->memory_rate, hit = kept(bytes, pace), fast;

    if (!(hit > 0) || !(pace->chip->clock_hz > 0))
        return memory;
    fast = bytes / pace->cache_rate;
    return hit * fmin(fast, memory) + (1 - hit) * memory;
}

/* Of a CPU: what operations hand on is in its caches, weights come from memory, and so
 * do lines that are only written. */
static double cpu_moved_s(const ft__op_kernel *p, double again, const ft__pace *pace)
{
    const double bytes = p->read - p->weights + p->written + again;
    const double hit = kept(bytes, pace);

    return p->weights / pace->memory_rate + hit * bytes / pace->cache_rate +
           (1 - hit) * (bytes + p->written) / pace->memory_rate;
}

/* Seconds to move all that a kernel reads, `again` B of it twice, and writes. An
 * optimizer reads what other parameters' gradients have displaced since. */
double ft__moved_s(const ft__op_kernel *p, double again, const ft__pace *pace)
{
    const double bytes = p->read + p->written + again;

    if (!pace->chip->gpu)
        return cpu_moved_s(p, again, pace);
    return p->phase == FT_PHASE_OPTIMIZER ? bytes / pace->memory_rate
                                          : ft__cached_s(bytes, pace);
}

/* Those of norms that are still in a core's own cache when they are read again. */
enum { IN_CACHE = 3072 };

/* A generated kernel holds a row whatever lies between its numbers. */
static double softmax_passes(const ft__op_kernel *p, const ft__hardware_spec *chip,
                             const double *c)
{
    if (p->strided && !(chip->fused && p->row <= FT__IN_REGISTERS))
        return c[FT__C_softmax_strided];
    return p->row > FT__IN_REGISTERS ? c[FT__C_softmax_wide] : 1;
}

static double op_kernels(const ft__op_kernel *p, const ft__hardware_spec *chip,
                         const double *c)
{
    switch (p->what) {
    case FT__OP_KERNEL_NORM:
        return c[FT__C_norm_passes] *
               (chip->gpu && p->row > IN_CACHE ? c[FT__C_norm_wide] : 1);
    case FT__OP_KERNEL_SOFTMAX:
        return c[FT__C_softmax_passes] * (chip->gpu ? softmax_passes(p, chip, c) : 1);
    case FT__OP_KERNEL_BIAS: return chip->gpu && p->alone ? 1 : c[FT__C_bias_passes];
    case FT__OP_KERNEL_LAYOUT: /* TF32 counts its own: ft__tensor_cost() */
        return chip->tensor && p->size > 2 ? 0 : c[FT__C_layout_passes];
    case FT__OP_KERNEL_QUANTIZE: return c[FT__C_quantize_passes];
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

/* A block of moments, and what it loads in a clock: threads wait for each number before
 * they ask for the next, and divide in between. KernelBench's norm of groups on A10G,
 * A100 and T4: 1.7 to 1.8 B. */
static const double BLOCK_THREADS = 512, MOMENTS_BYTES = 1.8;

static double moments_s(const ft__op_kernel *p, double bytes,
                        const ft__hardware_spec *chip)
{
    const double at_once = chip->cores * floor(chip->threads / BLOCK_THREADS);

    return ft__up(p->blocks / at_once) * bytes / p->blocks /
           (MOMENTS_BYTES * chip->clock_hz);
}

/* Clocks of a core for a row of softmax that its block reads thrice: 1,400 to 1,900
 * beside memory for rows of 1,025 to 1,500 numbers on NeuSight's P100, T4 and A100. All
 * threads wait for one warp that adds up the sums of all warps. AMD's with HBM count
 * twice: its MI100 takes 4,600. */
static const double SOFTMAX_ROW = 1500;

static double row_clocks(const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;

    return p->what == FT__OP_KERNEL_SOFTMAX
               ? SOFTMAX_ROW * (chip->amd && chip->stacked ? 2 : 1)
               : pace->c[FT__C_norm_row];
}

/* What waits for itself: one block reads all of a channel, however few there are; a
 * short row ends before the next loads of its block have come. */
static double in_turn_s(const ft__op_kernel *p, double bytes, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;

    if (!chip->gpu || !(chip->clock_hz > 0))
        return 0;
    if (p->what == FT__OP_KERNEL_MOMENTS)
        return moments_s(p, bytes, chip);
    if (p->blocks > 0)
        return bytes / p->blocks / (pace->c[FT__C_norm_block] * chip->clock_hz);
    return p->rows / chip->cores * row_clocks(p, pace) / chip->clock_hz;
}

/* Lane operations of pools: finding a place by divisions, then bounds for every tap.
 * Since Turing at most 64 lanes of a core compute with integers. */
static double pool_s(const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    const double lanes = chip->early ? 1 : fmax(1, chip->lanes / 64);
    const double work = pace->c[FT__C_pool_place] + pace->c[FT__C_pool_tap] * p->taps;

    return p->places * work * lanes * 2 / chip->vector_flops;
}

/* Numbers that a core loads and stores in a clock where each is an instruction of its
 * own, and of rows that are gathered, with the divisions that find each place. vLLM's
 * norms and rotations and PyTorch's embeddings on an A100: docs/notes/physics.md. */
static const double SINGLE_NUMBERS = 4.5, GATHERED_NUMBERS = 0.51;

static double singly_s(const ft__op_kernel *p, double cores,
                       const ft__hardware_spec *chip)
{
    return ft__clocks_s(p->single / SINGLE_NUMBERS / cores, chip);
}

static double one_by_one_s(const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const double cores = p->rows > 0 ? fmin(chip->cores, p->rows) : chip->cores;
    const double clocks = p->waits + p->gathered / GATHERED_NUMBERS / chip->cores;

    return fmax(ft__clocks_s(clocks, chip), singly_s(p, cores, chip));
}

void ft__passes_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;
    const bool one_by_one = chip->gpu && !chip->fused;
    double times = op_kernels(p, chip, pace->c);
    double again = read_again(p, pace, times), bytes = p->read + p->written + again;
    const double besides = one_by_one ? p->unfused : 0;

    out->memory_s = times * ft__moved_s(p, again, pace) + ft__cached_s(besides, pace);
    out->compute_s =
        (p->special / pace->c[FT__C_special_rate] + p->lanes) / chip->vector_flops;
    if (p->what == FT__OP_KERNEL_POOL && chip->gpu)
        out->compute_s += pool_s(p, pace);
    if (one_by_one) /* draws as arithmetic does */
        out->compute_s = fmax(out->compute_s, singly_s(p, chip->cores, chip));
    out->busy_s = fmax(hypot(out->memory_s, in_turn_s(p, bytes, pace)), out->compute_s);
    if (p->what == FT__OP_KERNEL_LAYOUT) /* each thread divides, then loads */
        out->busy_s = out->memory_s + out->compute_s;
    if (one_by_one)
        out->busy_s = fmax(out->busy_s, one_by_one_s(p, chip));
}

/* A kernel that does next to nothing (kernel_s before anything is fitted). Not fitted
 * either: where every row has it, it cannot be distinguished from attention's own
 * start. */
static const double STORE_S = 3e-6;

/* The new keys and values to where the old ones are. */
void ft__cache_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    out->memory_s =
        (p->read + p->written) / (pace->chip->bandwidth * pace->c[FT__C_cache_share]);
    out->busy_s = STORE_S + out->memory_s;
    out->aside_s = out->busy_s;
}

/* Every device reads all of the others at once, or each a part of the sum, which the
 * others then read from it (two steps), whichever is faster: vLLM's custom all-reduce,
 * NCCL. Decided on all-reduces of aiconfigurator, 64 KiB and more, on A100 and H200:
 * docs/physics.md. */
static double summed_s(double bytes, double devices, double rate)
{
    static const double second_s = 3e-6;
    const double others = devices - 1;

    return fmin(bytes * others / rate, second_s + 2 * bytes * others / devices / rate);
}

/* Time of an NCCL collective: of what all devices of a machine have, in passes around a
 * ring, two for a sum: little of it beside flags that say it has come (protocols LL and
 * LL128), more in chunks that wait for each other. What a device keeps it copies,
 * unless it is summed. Switches between Hopper's (NVLink SHARP) add, 16 bits and more:
 * each of three devices and more sends all of its data once and reads its part of the
 * sum, the other way round for the sum. Decided on aiconfigurator's collectives on A100
 * and H200: docs/physics.md. */
static double nccl_s(double bytes, double devices, double rate, const ft__op_kernel *p,
                     const ft__hardware_spec *chip)
{
    static const double flagged_clocks = 8e3, chunk_clocks = 3e4, hop_s = 7.5e-7;
    static const double flagged_share = 0.64, kept = 0.2;
    const double passes = p->sums ? 2 : 1, hops_s = passes * hop_s * (devices - 1);
    const double ring =
        p->sums ? 2 * (devices - 1) / devices : (devices - 1 + kept) / devices;
    const bool switched = chip->hopper && chip->kernel_sum_bytes > 0 && devices > 2;
    const double sent =
        bytes * (p->sums && switched ? fmin(ring, 1 + 1 / devices) : ring);

    return hops_s + fmin(ft__clocks_s(flagged_clocks, chip) +
                             passes * bytes / (rate * flagged_share),
                         passes * ft__clocks_s(chunk_clocks, chip) + sent / rate);
}

/* Within a machine. */
static double summed_inside_s(double bytes, double devices, double rate,
                              const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    const double most = chip->kernel_sum_bytes;

    if (devices == 1 || bytes <= most)
        return summed_s(bytes, devices, rate);
    return fmax(nccl_s(bytes, devices, rate, p, chip), summed_s(most, devices, rate));
}

/* Each has a part for every other. */
static double exchanged_inside_s(double bytes, double devices, double rate,
                                 const ft__op_kernel *p, const ft__hardware_spec *chip)
{
    if (devices == 1 || !chip->volta)
        return bytes / devices * (devices - 1) / rate;
    return nccl_s(bytes, devices, rate, p, chip);
}

/* Over several machines each device has a share of the network: sums are made within
 * machines first, of a part on each device, then of that part between them; parts for
 * devices of other machines go over the network. DeepBench's machines of before Volta
 * have one adapter each. */
void ft__collective_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace)
{
    static const double start_s = 1.5e-6, network_s = 1e-5, share = 0.7;
    const ft__hardware_spec *chip = pace->chip;
    const double rate = chip->link * share, network = chip->network * share;
    const double inside = fmax(1, p->m / p->n), bytes = p->read;

    if (p->sums)
        out->memory_s = summed_inside_s(bytes, inside, rate, p, chip) +
                        summed_s(chip->early ? bytes : bytes / inside, p->n, network);
    else if (p->sends)
        out->memory_s = bytes / (p->n > 1 ? network : rate);
    else
        out->memory_s =
            fmax(exchanged_inside_s(bytes / p->m * inside, inside, rate, p, chip),
                 bytes / p->m * (p->m - inside) / network);
    out->busy_s = start_s + (p->n > 1 ? network_s : 0) + out->memory_s;
}
