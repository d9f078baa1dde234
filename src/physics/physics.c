/* The physical estimate. In: an operation, a device's file, a setting and constants;
 * out: what the device offers the operation, and how long it takes there, as the sum
 * over the kernels it is run as (op_kernels.h); once, or at many clocks and caps. */
#include "physics/physics.h"

#include <math.h>
#include <string.h>

#include "graph/op.h"
#include "physics/op_kernels.h"
#include "physics/power.h"
#include "physics/setting.h"

static int is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* Where nothing is said, frameworks let convolutions round to TF32, and products not.
 */
static int rounds_to_tf32(const char *policy, const ft_op *op)
{
    return is(policy, "tf32") ||
           (!is(policy, "ieee") && ft_kind_class(op->kind) == FT_CLASS_CONV);
}

static double first_known(double a, double b)
{
    return isfinite(a) ? a : b;
}

/* Devices without hardware for floating-point numbers of 4 or 8 bits make them 16 bits
 * wide. */
static double peak_of_16_bits(const ft_device_facts *d)
{
    return first_known(d->peak_fp16, d->peak_bf16);
}

/* Blackwell multiplies numbers of 4 bits at least twice as fast as those of 8. */
static double peak_of_4_bits(const ft_device_facts *d)
{
    return first_known(d->peak_fp4, d->compute_capability >= 10 ? 2 * d->peak_fp8
                                                                : peak_of_16_bits(d));
}

/* Products on tensor cores; NaN: there are none for this dtype. */
static double tensor_peak(const ft_device_facts *d, const char *policy, const ft_op *op)
{
    switch (op->dtype) {
    case FT_DTYPE_fp32: return rounds_to_tf32(policy, op) ? d->peak_tf32 : NAN;
    case FT_DTYPE_fp16: return d->peak_fp16;
    case FT_DTYPE_bf16: return first_known(d->peak_bf16, NAN);
    case FT_DTYPE_int8:
    case FT_DTYPE_uint8: return d->peak_int8;
    default:
        return ft_dtype_bits(op->dtype) == 8
                   ? first_known(d->peak_fp8, peak_of_16_bits(d))
               : ft_dtype_bits(op->dtype) == 4 ? peak_of_4_bits(d)
                                               : NAN;
    }
}

/* Those before Volta run 16-bit numbers on their vectors, twice as fast at best. */
static int has_tensor_cores(const ft_device_facts *d)
{
    return isfinite(d->compute_capability) ? d->compute_capability >= 7
                                           : d->peak_fp16 >= 3 * d->peak_fp32;
}

/* NVIDIA's, of that compute capability or a later one. */
static int is_since(const ft_device_facts *d, double capability)
{
    return is(d->vendor, "NVIDIA") && d->compute_capability >= capability;
}

/* Threads that a core holds; CUDA C++ Programming Guide, technical specifications. */
static double core_threads(const ft_device_facts *d)
{
    const double capability = d->compute_capability;

    if (capability == 7.5)
        return 1024;
    return (capability > 8 && capability < 9) || capability >= 12 ? 1536 : 2048;
}

/* Matrix cores of AMD's boards for data centres, which have many units of fp64, took
 * fp32 at twice the vectors' rate until MI300. */
static double matrix_gain(const ft_device_facts *d)
{
    return is(d->vendor, "AMD") && has_tensor_cores(d) && d->year < 2023 &&
                   d->peak_fp64 > d->peak_fp32 / 4
               ? 2
               : 1;
}

bool ft__is_joined(const ft_device_facts *d, const ft_op *op)
{
    const double ranks = (double)ft_op_at(op, FT_K_ranks, 0);

    return op->kind != FT_KIND_collective || !(d->link_devices > 0) ||
           ranks <= d->link_devices * (double)ft_op_at(op, FT_K_nodes, 0);
}

/* PCIe 3.0, 4.0 and 5.0 (which Hopper has as well) with 16 lanes where nothing else
 * connects GPUs. NVIDIA's with PCIe 3.0: of each switch four, and a ring of more goes
 * by processors at 9 GB/s (NCCL's issue 406), which is 0.8 of the 11.2 that are taken
 * of 16 within a switch. CPUs by a network of 100 Gbit/s. */
static double link_of(const ft_device_facts *d, const ft_op *op, bool joined)
{
    static const double by_processors = 0.8;
    const bool far = is(d->vendor, "NVIDIA") && d->year < 2020 &&
                     ft_op_at(op, FT_K_ranks, 0) > 4 * ft_op_at(op, FT_K_nodes, 0);
    const double pcie = d->year < 2020                      ? 16e9
                        : d->year < 2025 && !is_since(d, 9) ? 32e9
                                                            : 64e9;

    return first_known(joined ? d->link_bytes_per_s : NAN,
                       is(d->type, "gpu") ? pcie * (far ? by_processors : 1) : 12.5e9);
}

/* Kernels in which devices read each other's memory are limited on NVIDIA's GPUs: there
 * are none before Volta, they sum no numbers of 8 bits, and over PCIe no more than two
 * devices' (vLLM's custom all-reduce). */
static double kernel_sum_bytes(const ft_device_facts *d, const ft_op *op, bool joined)
{
    static const double nvlink = 1e11; /* B/s: more than PCIe has */
    const int64_t ranks = ft_op_at(op, FT_K_ranks, 0),
                  nodes = ft_op_at(op, FT_K_nodes, 0);

    if (!is(d->vendor, "NVIDIA"))
        return INFINITY;
    if (!is_since(d, 7) || ft_dtype_bits(op->dtype) <= 8)
        return 0;
    if (joined && d->link_bytes_per_s > nvlink)
        return is_since(d, 9) ? 16 << 20 : 8 << 20;
    return ranks > 2 * nodes ? 0 : INFINITY;
}

/* A network adapter for each GPU: 100, 200 and 400 Gbit/s. */
static double network_of(const ft_device_facts *d)
{
    return d->year < 2020 ? 12.5e9 : d->year < 2022 ? 25e9 : 50e9;
}

/* Of twice the rate that vectors have in 16 bits (P100), what cuDNN's convolutions
 * reach of what those in 32 bits do of theirs: DeepBench's. */
static const double HALF_CONV = 0.8;

/* 16-bit products without tensor cores: libraries add them up in fp32, at its rate. */
static double half_peak(const ft__hardware_spec *chip, const ft_device_facts *d,
                        const ft_op *op)
{
    return chip->early && op->dtype == FT_DTYPE_fp16 &&
                   ft_kind_class(op->kind) == FT_CLASS_CONV
               ? fmax(d->peak_fp32, HALF_CONV * d->peak_fp16)
               : NAN;
}

/* FLOP/s at the nominal clock, of products with tensor cores where they serve. */
static double nominal_flops(ft__hardware_spec *chip, const ft_device_facts *d,
                            const char *policy, const ft_op *op)
{
    double peak = ft__makes_products(op) ? tensor_peak(d, policy, op) : NAN;

    chip->tensor = chip->gpu && isfinite(peak) && has_tensor_cores(d);
    if (chip->gpu && !chip->tensor && ft_dtype_bits(op->dtype) == 16)
        peak = half_peak(chip, d, op);
    if (chip->gpu && ft__rnn_gates(op->kind) && ft_dtype_bits(op->dtype) == 8) {
        chip->tensor = 0; /* libraries have no 8-bit steps */
        peak = NAN;
    }
    if (op->dtype == FT_DTYPE_fp64)
        return first_known(d->peak_fp64, d->peak_fp32 / 32);
    return first_known(peak, d->peak_fp32);
}

/* Threads of "threads=8", one a core; of a CPU whose setting names none all cores. */
static double busy_cores(const ft_device_facts *d, double threads)
{
    return is(d->type, "cpu") && threads >= 1 ? fmin(threads, d->cores) : d->cores;
}

/* That peaks of the device file belong to: those of CPUs to the base clock. */
static double rated_clock(const ft_device_facts *d)
{
    return is(d->type, "cpu") ? first_known(d->base_clock_hz, d->boost_clock_hz)
                              : first_known(d->boost_clock_hz, d->base_clock_hz);
}

/* With so many cores busy: CPUs step down from the boost clock of one core to the clock
 * of all. GPUs stay at what they are delivered with. */
static double clock_under_load(const ft_device_facts *d, double cores)
{
    double one = first_known(d->boost_clock_hz, d->base_clock_hz);
    double all = first_known(d->load_clock_hz, sqrt(one * rated_clock(d)));

    if (!is(d->type, "cpu"))
        return first_known(d->load_clock_hz, one);
    if (!(d->cores > 1))
        return one;
    return one + (all - one) * (cores - 1) / (d->cores - 1);
}

/* Multiply-adds of 16 bits that a core's tensor cores do a clock on boards that are
 * not held below it (their device files); NaN: before Ampere. */
static double full_core_rate(const ft_device_facts *d)
{
    const double capability = d->compute_capability;

    if (!is_since(d, 8))
        return NAN;
    if (capability == 8 || capability == 8.7)
        return 1024;
    return capability < 9 || capability >= 12 ? 512 : capability < 10 ? 2048 : 4096;
}

/* Boards are sold with less in some types and the whole of others. Types that a
 * generation lacks are multiplied as 16 bits. */
static bool is_held(const ft__hardware_range *r, const ft_op *op)
{
    static const double held = 0.75; /* they have a half or a quarter */
    const ft_device_facts *d = r->facts;
    const double bits = r->flops == peak_of_16_bits(d) ? 16 : ft_dtype_bits(op->dtype);

    return r->chip.tensor && r->flops * bits / 16 / (2 * d->cores * r->rated_hz) <
                                 held * full_core_rate(d);
}

static const ft__chip_setting says_nothing = {.threads = NAN,
                                              .cuda = INFINITY,
                                              .slots = FT__UNNAMED_SLOTS,
                                              .reads = 2 + FT__UNNAMED_SLOTS};

static void hardware_range_make(ft__hardware_range *out, const ft_device_facts *d,
                                const ft__chip_setting *set, const char *policy,
                                const ft_op *asked)
{
    const bool widened = ft__is_widened(asked, d);
    const ft_op computed = widened ? ft__op_widened(asked) : *asked, *op = &computed;
    const double rated = rated_clock(d), cores = busy_cores(d, set->threads);
    const double capability = is(d->vendor, "NVIDIA") ? d->compute_capability : NAN;
    const bool joined = ft__is_joined(d, op);
    ft__hardware_spec *chip = &out->chip;

    *chip = (ft__hardware_spec){
        .cores = cores,
        .l2_bytes = d->l2_bytes,
        .memory_bytes = d->memory_bytes,
        .tensor_flops = d->peak_fp16,
        .process_nm = d->process_nm,
        .year = d->year,
        .slots = set->slots,
        .reads = set->reads,
        .tensorflow = set->tensorflow,
        .activated = set->activated,
        .caches = set->caches,
        .packed = set->packed,
        .masked = set->masked,
        .widened = widened,
        .apart = set->apart,
        .early_miopen = set->early_miopen,
        .bare = set->bare,
        .short_loop = set->short_loop,
        .graph = set->graph,
        .fused = set->fused,
        .gpu = is(d->type, "gpu"),
        .amd = is(d->vendor, "AMD"),
        .early = is(d->vendor, "NVIDIA") && !has_tensor_cores(d),
        .pascal = capability >= 6 && !has_tensor_cores(d),
        .volta = capability >= 7,
        .cuda = set->cuda,
        .ampere = capability >= 8,
        .kernel_sum_bytes = kernel_sum_bytes(d, op, joined),
        .hopper = capability >= 9 && !(capability >= 12),
        .blackwell = capability >= 10 && !(capability >= 12),
        .lanes = d->peak_fp32 / (2 * d->cores * rated),
        .threads = core_threads(d),
        .link = link_of(d, op, joined),
        .launch_factor = ft__launch_factor(d),
        .network = network_of(d),
        .inline_ecc = d->inline_ecc > 0,
        .stacked = ft__has_stacked_memory(d),
        .gddr = ft__has_gddr(d),
        .peak_tflops_16nm = ft__peak_tflops_16nm(d),
    };
    if (!chip->gpu)
        chip->l2_bytes = first_known(d->l3_bytes, d->l2_bytes * d->cores);
    out->facts = d;
    out->rated_hz = rated;
    out->nominal_hz = clock_under_load(d, cores);
    out->flops = nominal_flops(chip, d, policy, op);
    chip->halved = is_held(out, op);
    chip->vector_share = d->peak_fp32 / out->flops;
    out->gain = chip->gpu && op->dtype == FT_DTYPE_fp32 && ft__makes_products(op) &&
                        !chip->tensor
                    ? matrix_gain(d)
                    : 1;
}

static double fourth(double v)
{
    return v * v * v * v;
}

/* What memory delivers passes between cache and cores, whose paths go with the core
 * clock: 64 B a clock and core. What that leaves of the bandwidth at a share of the
 * nominal clock. */
double ft__crossed_bandwidth(const ft__hardware_spec *chip, double clock_share)
{
    const double path = 64 * chip->cores * chip->clock_hz / chip->clock_share;
    const double load = chip->full_bandwidth / path, slower = load / clock_share;

    if (!chip->gpu || !(clock_share < 1))
        return chip->full_bandwidth;
    return chip->full_bandwidth * sqrt(sqrt((1 + fourth(load)) / (1 + fourth(slower))));
}

/* *out: a copy of r->chip, or what was made of one. */
static void hardware_range_at(ft__hardware_spec *out, const ft__hardware_range *r,
                              const ft__operating_point *operating_point)
{
    const ft_device_facts *d = r->facts;
    double scale = r->chip.cores / d->cores;

    out->clock_hz = first_known(operating_point->clock_hz, r->nominal_hz);
    if (out->clock_hz > 0)
        scale *= out->clock_hz / r->rated_hz;
    out->vector_flops = d->peak_fp32 * scale;
    out->peak_flops = r->flops * scale * r->gain;
    out->full_bandwidth = d->bandwidth_bytes_per_s;
    if (isfinite(operating_point->memory_hz) && d->memory_clock_hz > 0)
        out->full_bandwidth *= operating_point->memory_hz / d->memory_clock_hz;
    out->power_w = first_known(operating_point->power_w, d->tdp_w);
    out->tdp_w = d->tdp_w;
    out->drawing_tdp_w = d->drawing_tdp_w > 0 ? d->drawing_tdp_w : d->tdp_w;
    out->clock_share = scale;
    out->bandwidth = ft__crossed_bandwidth(out, scale);
}

void ft__hardware_spec_set(ft__hardware_spec *out, const ft_device_facts *d,
                           const ft__chip_setting *set, const char *policy,
                           const ft_op *op)
{
    ft__hardware_range range;

    hardware_range_make(&range, d, set, policy, op);
    *out = range.chip;
    hardware_range_at(out, &range, &set->at);
}

void ft__hardware_spec_make(ft__hardware_spec *out, const ft_device_facts *d,
                            const char *setting, const char *policy, const ft_op *op)
{
    const ft__chip_setting set = ft__setting_read(setting);

    ft__hardware_spec_set(out, d, &set, policy, op);
}

void ft__hardware_spec_at(ft__hardware_spec *out, const ft_device_facts *d,
                          double clock_hz, const char *policy, const ft_op *op)
{
    ft__chip_setting set = says_nothing;

    set.at = (ft__operating_point){clock_hz, NAN, NAN};
    ft__hardware_spec_set(out, d, &set, policy, op);
}

void ft__hardware_spec_hold(ft__hardware_spec *chip, double share)
{
    if (share < 1)
        chip->bandwidth = ft__crossed_bandwidth(chip, share * chip->clock_share);
    chip->clock_share *= share;
    chip->clock_hz *= share;
    chip->peak_flops *= share;
    chip->vector_flops *= share;
}

const char *ft__hardware_spec_lacks(const ft__hardware_spec *chip)
{
    if (!(chip->cores > 0))
        return "cores";
    if (!(chip->vector_flops > 0))
        return "peak_fp32";
    return chip->bandwidth > 0 ? NULL : "bandwidth";
}

static const struct constant {
    const char *name;
    double value;
} constants[FT__N_PHYSICS_PARAMS] = {
#define FT__CONSTANT(name, value, ...) {#name, value},
#include "physics/physics.def"
#undef FT__CONSTANT
};

const char *ft__physics_name(int i)
{
    return constants[i].name;
}

const ft__physics_params *ft__physics_defaults(void)
{
    static const ft__physics_params params = {{
#define FT__CONSTANT(name, value, ...) value,
#include "physics/physics.def"
#undef FT__CONSTANT
    }};

    return &params;
}

ft__physics_params ft__physics_default(void)
{
    return *ft__physics_defaults();
}

/* Of the peak, whatever the budget. */
static double most_sustained(const ft__hardware_spec *chip, const double *c)
{
    return c[FT__C_sustain_most] * (chip->lanes > 140 ? c[FT__C_wide_share] : 1);
}

/* What is sold as 4 nm (TSMC's 4N and N4) are transistors of its 5 nm: 0.28 of the
 * energy of 16 nm by the foundry's own figures (N7 0.4 of 16FF+, N5 0.7 of that). */
static double node_of(const ft__hardware_spec *chip)
{
    return chip->process_nm == 4 ? 5 : chip->process_nm;
}

/* The smaller of a share and 1, with a corner so sharp. */
static double at_most_all(double share, double corner)
{
    return pow(1 + pow(share, -corner), -1 / corner);
}

double ft__sustained(const ft__hardware_spec *chip, const ft__physics_params *params)
{
    const double *c = params->v;
    double budget = chip->power_w / (chip->vector_flops / 1e12);
    double most = most_sustained(chip, c), share;

    if (!(budget > 0) || !chip->gpu)
        return most;
    if (chip->process_nm > 0)
        budget /= pow(node_of(chip) / 16, c[FT__C_node_power]);
    share = c[FT__C_sustain_power] * pow(budget, c[FT__C_sustain_bend]);
    return most * at_most_all(share / most, c[FT__C_sustain_corner]);
}

/* Joules of a FLOP on tensor cores that take operands and sums from memories of their
 * own (tcgen05, Blackwell's data centre), relative to Hopper's: large bf16 products
 * draw 1.17 kW for 1740 TFLOP/s on a GB200, 692 W for 711 on an H200. B200 and B300
 * have 1.7 and 1.77 PFLOP/s in published products. A Jetson Thor has such cores, too,
 * but no such figure: its budget feeds a CPU as well. */
static const double OWN_MEMORY = 0.69;

/* Hopper's tensor cores read operands from shared memory, for four warps at once
 * (wgmma), and take fewer joules: their budget was decided by the name of their node.
 */
static double tensor_node_of(const ft__hardware_spec *chip)
{
    return chip->hopper ? chip->process_nm : node_of(chip);
}

/* The same of tensor cores, out of what the waiting chip leaves. Clocks fall with
 * voltage, so that power goes with more than their square: half the budget leaves more
 * than half the rate. */
static double tensor_sustained(const ft__hardware_spec *chip, const double *c)
{
    double budget = chip->power_w / (chip->tensor_flops * chip->clock_share / 1e12);

    if (!(budget > 0) || !chip->tensor || chip->short_loop)
        return 1;
    if (chip->blackwell && chip->stacked)
        budget /= OWN_MEMORY;
    if (chip->process_nm > 0)
        budget /= pow(tensor_node_of(chip) / 16, c[FT__C_tensor_node]);
    if (!chip->amd) /* an MI300X's large products are not held by what waits */
        budget *= ft__left_by_waiting(chip);
    return at_most_all(c[FT__C_tensor_power] * sqrt(budget), c[FT__C_sustain_corner]);
}

static void add(ft__terms *sum, const ft__terms *one, double times)
{
    if (times * one->busy_s > sum->busy_s) {
        sum->waves = one->waves;
        sum->fill = one->fill;
    }
    sum->compute_s += times * one->compute_s;
    sum->drawing_s += times * one->drawing_s;
    sum->cache_s += times * one->cache_s;
    sum->memory_s += times * one->memory_s;
    sum->busy_s += times * one->busy_s;
    sum->aside_s += times * one->aside_s;
}

double ft__together(double a, double b, double power)
{
    double large = fmax(a, b), ratio = large > 0 ? fmin(a, b) / large : 0;

    return large * pow(1 + pow(ratio, power), 1 / power);
}

/* Other libraries, other machines: what a GPU's constants say does not hold there. */
static ft__physics_params of_cpu(const ft__physics_params *params, double cores)
{
    static const int instead[][2] = {
        {FT__C_tile_share, FT__C_cpu_share},    {FT__C_conv_share, FT__C_cpu_conv},
        {FT__C_memory_share, FT__C_cpu_memory}, {FT__C_kernel_s, FT__C_cpu_kernel_s},
        {FT__C_depth_start, FT__C_cpu_start},   {FT__C_cache_width, FT__C_cpu_cache},
        {FT__C_direct_share, FT__C_cpu_direct}, {FT__C_special_rate, FT__C_cpu_special},
    };
    ft__physics_params t = *params;

    for (size_t i = 0; i < sizeof(instead) / sizeof(*instead); i++)
        t.v[instead[i][0]] = params->v[instead[i][1]];
    t.v[FT__C_kernel_s] += params->v[FT__C_cpu_fork_s] * log2(cores);
    return t;
}

/* Constants that hold on the chip: those of CPUs, or the same. *room: for them. */
static const ft__physics_params *params_for(ft__physics_params *room,
                                            const ft__physics_params *params,
                                            const ft__hardware_spec *chip)
{
    if (chip->gpu)
        return params;
    *room = of_cpu(params, chip->cores);
    return room;
}

/* Of what boards before Ampere leave beside error correction in the same memory: long
 * passes of KernelBench reach 0.81 of an A10's and A10G's bandwidth, 0.76 of a T4's. */
static const double AMPERE_ECC = 1.07;

/* Of what NVIDIA's reach, AMD's with HBM: 0.80 of an MI300X's by AMD's own copies
 * (BabelStream in its customer acceptance guide) for 0.87. */
static const double AMD_STACKED = 0.92;

/* What a GPU's memory streams of its bandwidth, relative to HBM before 2017. */
static double streamed(const ft__hardware_spec *chip, const double *c)
{
    if (chip->stacked)
        return chip->year >= 2017
                   ? c[FT__C_stacked_share] * (chip->amd ? AMD_STACKED : 1)
                   : 1;
    if (chip->inline_ecc)
        return chip->ampere ? AMPERE_ECC : 1;
    return c[FT__C_plain_share];
}

double ft__stream_ratio(const ft__hardware_spec *chip)
{
    const double *c = ft__physics_defaults()->v;

    return chip->gpu ? streamed(chip, c) / c[FT__C_stacked_share] : 1;
}

static double memory_rate(const ft__hardware_spec *chip, const double *c)
{
    double share = c[FT__C_memory_share];

    if (!chip->gpu)
        return fmin(chip->bandwidth * share, chip->cores * c[FT__C_cpu_core_memory]);
    if (chip->lanes > 140)
        share *= c[FT__C_wide_memory];
    share *= streamed(chip, c);
    return chip->bandwidth * share;
}

static double cached_bytes(const ft__hardware_spec *chip)
{
    return chip->l2_bytes / ft__cache_copies(chip);
}

/* Of cache_width, GDDR boards since Ampere: 16 B a clock reach a core of an A40, 15 of
 * an L40, 35 of an A100 and 37 of an H200 (RRZE's gpu-benches). */
static const double BOARD_CACHE = 0.4;

static double cache_rate(const ft__hardware_spec *chip, const double *c)
{
    const double share = chip->ampere && chip->gddr ? BOARD_CACHE : 1;

    return chip->clock_hz * chip->cores * c[FT__C_cache_width] * share;
}

/* What power sustains of products. */
static void pace_products(ft__pace *pace, const ft__physics_params *params)
{
    pace->sustained = ft__sustained(pace->chip, params);
    pace->held = pace->sustained / most_sustained(pace->chip, pace->c);
    pace->tensor_sustained = tensor_sustained(pace->chip, pace->c);
}

/* The same constants on the same chip driven otherwise, but pace_products(). */
static void pace_move(ft__pace *pace, const ft__hardware_spec *chip)
{
    pace->chip = chip;
    pace->memory_rate = memory_rate(chip, pace->c);
    pace->cache_rate = cache_rate(chip, pace->c);
    pace->kept_bytes = cached_bytes(chip) * pace->c[FT__C_cache_keeps];
}

static void pace_make(ft__pace *out, const ft__hardware_spec *chip,
                      const ft__physics_params *params)
{
    double half = exp2(-params->v[FT__C_tile_slope]);

    out->c = params->v;
    out->tile[0] = params->v[FT__C_tile_share];
    for (int i = 1; i < FT__N_TILE_SIZES; i++)
        out->tile[i] = out->tile[i - 1] * half;
    out->tensor_half = exp2(-params->v[FT__C_tensor_slope]);
    pace_move(out, chip);
    pace_products(out, params);
}

/* Least time of a kernel: of a graph's, that of starting and ending one on the cores,
 * and no more than behind a launch. */
static double kernel_s(const ft__pace *pace)
{
    const ft__hardware_spec *chip = pace->chip;

    return chip->gpu && chip->graph && chip->clock_hz > 0
               ? fmin(pace->c[FT__C_replay_clocks] / chip->clock_hz,
                      pace->c[FT__C_kernel_s])
               : pace->c[FT__C_kernel_s];
}

/* By default constants: those fitted to products' rows, which were repeated alone, saw
 * weights in caches. */
static void from_memory(ft__terms *out, const ft__work *w,
                        const ft__hardware_spec *chip)
{
    const double *c = ft__physics_defaults()->v;
    const double kept = cached_bytes(chip) * c[FT__C_cache_keeps];

    if (!chip->gpu || !(kept > 0))
        return;
    out->weights_s = w->weights / memory_rate(chip, c);
    out->weights = w->weights / kept;
}

/* Of the gradient of its input, which few need, what counts of a training step. */
static const double STEP_DATA = 0.5;

/* range: NULL where algorithms are to be found first. */
static void price(ft__terms *out, const ft__work *w, const ft__pace *pace,
                  const ft__op_range *range)
{
    const double *c = pace->c;

    *out = (ft__terms){.fill = 1, .sustained = pace->sustained};
    for (uint32_t i = 0; i < w->n; i++) {
        const ft__op_kernel *p = &w->op_kernel[i];
        const double count = p->count * (p->added ? c[FT__C_added_gradients] : 1);
        ft__terms one = {.fill = 1, .sustained = out->sustained};

        ft__op_kernel_cost(&one, p, range ? range->algorithm[i] : NULL,
                           range ? range->n_algorithms[i] : 0, pace);
        if (!(one.drawing_s > 0))
            one.drawing_s = one.fill * one.compute_s;
        add(out, &one, count * (p->partial ? STEP_DATA : 1));
        out->kernels += count * p->kernels;
    }
    out->busy_s += out->kernels * kernel_s(pace);
    from_memory(out, w, pace->chip);
}

void ft__work_cost(ft__terms *out, const ft__work *w, const ft__hardware_spec *chip,
                   const ft__physics_params *params)
{
    ft__physics_params cpu;
    ft__pace pace;

    params = params_for(&cpu, params, chip);
    pace_make(&pace, chip, params);
    price(out, w, &pace, NULL);
    out->launch_s =
        w->n && chip->gpu && !chip->graph
            ? chip->launch_factor * ft__host_s(&w->calls, out->kernels, params)
            : 0;
    /* Session.run() returns after the device is done: times add up. */
    out->overlap = chip->tensorflow ? 1 : params->v[FT__C_overlap];
    out->total_s = ft__together(out->launch_s, out->busy_s, out->overlap);
}

void ft__physics(ft__terms *out, const ft_op *op, const ft__hardware_spec *chip,
                 const ft__physics_params *params)
{
    ft__work w;

    if (ft__hardware_spec_lacks(chip)) {
        *out = (ft__terms){.total_s = NAN, .busy_s = NAN};
        return;
    }
    ft__work_make(&w, op, chip);
    ft__work_cost(out, &w, chip, params);
}

void ft__physics_with_host(ft__terms *t, double times)
{
    t->launch_s *= times;
    t->total_s = ft__together(t->launch_s, t->busy_s, t->overlap);
}

/* Winograd's method and transforms save multiplications, a causal mask half of them;
 * what GPUs without tensor cores do with 8 bits stands in no device file. */
static bool may_save(const ft_op *op, const ft__hardware_spec *chip)
{
    return ft_op_at(op, FT_K_kernel, 0) > 1 || ft_op_at(op, FT_K_causal, 0) ||
           (ft_dtype_bits(op->dtype) < 16 && !chip->tensor);
}

double ft__physics_least(const ft_op *op, const ft__hardware_spec *chip)
{
    ft_cost cost;
    double bytes, flops;

    if (ft__rnn_gates(op->kind)) /* weights may stay in registers from step to step */
        return 0;
    ft_op_cost(op, &cost);
    bytes = cost.bytes_read + cost.bytes_written - fmax(0, chip->l2_bytes);
    flops = ft__makes_products(op) && !may_save(op, chip) ? cost.flops : 0;
    return fmax(bytes / chip->bandwidth, flops / chip->peak_flops);
}

bool ft__op_range_make(ft__op_range *r, ft__terms *t, const ft_op *op,
                       const ft_device_facts *d, const char *policy,
                       const ft__physics_params *params, ft__arena *arena)
{
    const ft__operating_point as_it_comes = {NAN, NAN, NAN};
    bool good = true;

    hardware_range_make(&r->chips, d, &says_nothing, policy, op);
    r->chip = r->chips.chip;
    hardware_range_at(&r->chip, &r->chips, &as_it_comes);
    r->params = params_for(&r->cpu, params, &r->chip);
    pace_make(&r->pace, &r->chip, r->params);
    ft__work_make(&r->work, op, &r->chip);
    r->multiplies = false;
    for (uint32_t i = 0; i < r->work.n && good; i++) {
        r->multiplies |= r->work.op_kernel[i].what <= FT__OP_KERNEL_DIRECT;
        good = ft__algorithms_make(&r->algorithm[i], &r->n_algorithms[i],
                                   &r->work.op_kernel[i], &r->pace, arena);
    }
    if (good)
        price(t, &r->work, &r->pace, r);
    return good;
}

void ft__op_range_cost(ft__terms *t, ft__op_range *r, const ft__operating_point *at,
                       double held)
{
    hardware_range_at(&r->chip, &r->chips, at);
    ft__hardware_spec_hold(&r->chip, held);
    pace_move(&r->pace, &r->chip);
    if (r->multiplies)
        pace_products(&r->pace, r->params);
    price(t, &r->work, &r->pace, r);
}
