/* What a device offers one operation, from its specifications and its setting. */
#include <math.h>
#include <string.h>

#include "base/pairs.h"
#include "physics/physics.h"

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

/* Blackwell multiplies numbers of 4 bits twice as fast as those of 8; before it, they
 * are made to be of 16. */
static double peak_of_4_bits(const ft_device_facts *d)
{
    return d->compute_capability >= 10 ? 2 * d->peak_fp8 : d->peak_fp16;
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
        return ft_dtype_bits(op->dtype) == 8   ? first_known(d->peak_fp8, d->peak_int8)
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

static int makes_products(const ft_op *op)
{
    ft_class c = ft_kind_class(op->kind);

    return c == FT_CLASS_CONV || c == FT_CLASS_MATMUL;
}

/* AMD's matrix cores took fp32 at twice the vectors' rate until MI300. */
static double matrix_gain(const ft_device_facts *d)
{
    return is(d->vendor, "AMD") && has_tensor_cores(d) && d->year < 2023 ? 2 : 1;
}

static double optimizer_slots(const char *setting)
{
    static const struct {
        const char *name;
        double slots;
    } known[] = {
        {"none", 0},     {"sgd", 0},     {"gradientdescent", 0},
        {"momentum", 1}, {"adagrad", 1}, {"rmsprop", 2},
        {"adadelta", 2}, {"adam", 2},    {"adamw", 2},
    };
    size_t len = 0;
    const char *v = ft__pair(setting, "optimizer", &len);

    for (size_t i = 0; v && i < sizeof(known) / sizeof(*known); i++)
        if (strlen(known[i].name) == len) {
            size_t j = 0;

            while (j < len && (v[j] | 32) == known[i].name[j])
                j++;
            if (j == len)
                return known[i].slots;
        }
    return 1;
}

bool ft__is_graph_mode(const char *setting)
{
    size_t len = 0;
    const char *mode = ft__pair(setting, "run_mode", &len);

    return mode && len == 5 && memcmp(mode, "graph", len) == 0;
}

static int activated(const char *setting)
{
    size_t len = 0;
    const char *v = ft__pair(setting, "activation", &len);

    return v && !(len == 4 && (v[0] | 32) == 'n') && len > 0;
}

static int caches(const char *setting)
{
    size_t len = 0;
    const char *v = ft__pair(setting, "cache", &len);

    return v && len == 7 && memcmp(v, "written", len) == 0;
}

ft__operating_point ft__operating_point_of(const char *setting)
{
    return (ft__operating_point){.clock_hz = ft__pair_number(setting, "clock"),
                                 .memory_hz = ft__pair_number(setting, "memory"),
                                 .power_w = ft__pair_number(setting, "power")};
}

static bool differs(double asked, double measured)
{
    return isfinite(asked) && !(fabs(asked - measured) <= 1e-3 * asked);
}

bool ft__operating_point_differs(const ft__operating_point *asked,
                                 const ft__operating_point *measured)
{
    return differs(asked->clock_hz, measured->clock_hz) ||
           differs(asked->memory_hz, measured->memory_hz) ||
           differs(asked->power_w, measured->power_w);
}

bool ft__setting_differs(const char *asked, const char *measured)
{
    const ft__operating_point a = ft__operating_point_of(asked),
                              b = ft__operating_point_of(measured);

    return ft__operating_point_differs(&a, &b);
}

bool ft__setting_changes(const char *setting)
{
    static const char *const names[] = {"clock",     "memory",     "power",
                                        "optimizer", "activation", "cache"};
    size_t len;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (ft__pair(setting, names[i], &len))
            return true;
    return false;
}

/* FLOP/s at the nominal clock, of products with tensor cores where they serve. */
static double nominal_flops(ft__hardware_spec *chip, const ft_device_facts *d,
                            const char *policy, const ft_op *op)
{
    double peak = makes_products(op) ? tensor_peak(d, policy, op) : NAN;

    chip->tensor = chip->gpu && isfinite(peak) && has_tensor_cores(d);
    /* Without them, libraries add 16-bit products up in fp32, at its rate. */
    if (chip->gpu && !chip->tensor && ft_dtype_bits(op->dtype) == 16)
        peak = NAN;
    if (op->dtype == FT_DTYPE_fp64)
        return first_known(d->peak_fp64, d->peak_fp32 / 32);
    return first_known(peak, d->peak_fp32);
}

void ft__hardware_range_make(ft__hardware_range *out, const ft_device_facts *d,
                             const char *setting, const char *policy, const ft_op *op)
{
    double nominal = first_known(d->boost_clock_hz, d->base_clock_hz);
    ft__hardware_spec *chip = &out->chip;

    *chip =
        (ft__hardware_spec){.cores = d->cores,
                            .l2_bytes = d->l2_bytes,
                            .memory_bytes = d->memory_bytes,
                            .tensor_flops = d->peak_fp16,
                            .process_nm = d->process_nm,
                            .year = d->year,
                            .slots = optimizer_slots(setting),
                            .activated = activated(setting),
                            .caches = caches(setting),
                            .graph = ft__is_graph_mode(setting),
                            .gpu = is(d->type, "gpu"),
                            .amd = is(d->vendor, "AMD"),
                            .early = is(d->vendor, "NVIDIA") && !has_tensor_cores(d),
                            .lanes = d->peak_fp32 / (2 * d->cores * nominal),
                            .bus_bytes = d->bandwidth_bytes_per_s / d->memory_clock_hz};
    if (!chip->gpu)
        chip->l2_bytes = first_known(d->l3_bytes, d->l2_bytes * d->cores);
    out->facts = d;
    out->nominal_hz = nominal;
    out->flops = nominal_flops(chip, d, policy, op);
    chip->vector_share = d->peak_fp32 / out->flops;
    out->gain =
        chip->gpu && op->dtype == FT_DTYPE_fp32 && makes_products(op) && !chip->tensor
            ? matrix_gain(d)
            : 1;
}

void ft__hardware_range_at(ft__hardware_spec *out, const ft__hardware_range *r,
                           const ft__operating_point *operating_point)
{
    const ft_device_facts *d = r->facts;
    double scale = isfinite(operating_point->clock_hz) && r->nominal_hz > 0
                       ? operating_point->clock_hz / r->nominal_hz
                       : 1;

    out->clock_hz = first_known(operating_point->clock_hz, r->nominal_hz);
    out->vector_flops = d->peak_fp32 * scale;
    out->peak_flops = r->flops * scale * r->gain;
    out->bandwidth = d->bandwidth_bytes_per_s;
    if (isfinite(operating_point->memory_hz) && d->memory_clock_hz > 0)
        out->bandwidth *= operating_point->memory_hz / d->memory_clock_hz;
    out->power_w = first_known(operating_point->power_w, d->tdp_w);
}

void ft__hardware_spec_make(ft__hardware_spec *out, const ft_device_facts *d,
                            const char *setting, const char *policy, const ft_op *op)
{
    const ft__operating_point operating_point = ft__operating_point_of(setting);
    ft__hardware_range range;

    ft__hardware_range_make(&range, d, setting, policy, op);
    *out = range.chip;
    ft__hardware_range_at(out, &range, &operating_point);
}

void ft__hardware_spec_hold(ft__hardware_spec *chip, double tdp_w, double share)
{
    chip->power_w = tdp_w;
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
