/* What a GPU of NVIDIA's offers a kernel, from its specifications and its compute
 * capability (CUDA C++ Programming Guide, tables of technical specifications and of
 * arithmetic instructions; whitepapers of the architectures). */
#include <math.h>
#include <string.h>

#include "physics/kernel.h"

static const struct generation {
    double from; /* compute capability */
    double slots, special_lanes;
    double warps, blocks;
    double registers, reserved_bytes;
} generations[] = {
    {12.0, 4, 16, 48, 24, 65536, 1024}, {10.0, 4, 16, 64, 32, 65536, 1024},
    {9.0, 4, 16, 64, 32, 65536, 1024},  {8.9, 4, 16, 48, 24, 65536, 1024},
    {8.6, 4, 16, 48, 16, 65536, 1024},  {8.0, 4, 16, 64, 32, 65536, 1024},
    {7.5, 4, 16, 32, 16, 65536, 0},     {7.0, 4, 16, 64, 32, 65536, 0},
    {6.1, 4, 32, 64, 32, 65536, 0},     {6.0, 2, 16, 64, 32, 65536, 0},
    {5.0, 4, 32, 64, 32, 65536, 0},     {3.7, 4, 32, 64, 16, 131072, 0},
    {3.0, 4, 32, 64, 16, 65536, 0},
};
enum { N_GENERATIONS = sizeof(generations) / sizeof(*generations) };

static const struct generation *generation(double capability)
{
    for (int i = 0; i < N_GENERATIONS; i++)
        if (capability >= generations[i].from - 1e-6)
            return &generations[i];
    return NULL;
}

static double or_else(double a, double b)
{
    return a > 0 ? a : b;
}

static ft_status lack(const ft_device_facts *d, const char *what, ft_error *err)
{
    return ft_fail(
        err, FT_ENOTFOUND, 0,
        "%s: %s is not known, so the time of a kernel cannot be told; add it "
        "to the device's file",
        d->name, what);
}

ft_status ft__gpu_make(ft__gpu *out, const ft_device_facts *d, ft_error *err)
{
    const struct generation *a = generation(d->compute_capability);
    double clock = or_else(d->boost_clock_hz, d->base_clock_hz);

    if (!d->vendor || strcmp(d->vendor, "NVIDIA") != 0 || !a)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: kernels in PTX run on GPUs of NVIDIA's, of compute "
                       "capability 3.0 and more; name one of them",
                       d->name);
    if (!(d->cores > 0))
        return lack(d, "cores", err);
    if (!(clock > 0))
        return lack(d, "boost_clock_mhz", err);
    if (!(d->peak_fp32 > 0))
        return lack(d, "peak_fp32_tflops", err);
    if (!(d->bandwidth_bytes_per_s > 0))
        return lack(d, "bandwidth_gb_s", err);
    *out = (ft__gpu){
        .sms = d->cores,
        .clock_hz = clock,
        .slots = a->slots,
        .lanes = d->peak_fp32 / (2 * d->cores * clock),
        .special_lanes = a->special_lanes,
        .warps = a->warps,
        .blocks = a->blocks,
        .registers = a->registers,
        .shared_bytes = or_else(d->shared_memory_per_core_bytes, 49152),
        .reserved_bytes = a->reserved_bytes,
        .bandwidth = d->bandwidth_bytes_per_s,
        .l2_bytes = or_else(d->l2_bytes, 1),
        .peak_fp32 = d->peak_fp32,
        .peak_fp64 = or_else(d->peak_fp64, d->peak_fp32 / 32),
        .peak_fp16 = 2 * d->peak_fp32,
        .peak_tensor = d->compute_capability >= 7 ? or_else(d->peak_fp16, d->peak_fp32)
                                                  : d->peak_fp32,
        .power_w = d->tdp_w,
        .stacked =
            d->year >= 2017 && d->bandwidth_bytes_per_s > 400 * d->memory_clock_hz,
    };
    return FT_OK;
}
