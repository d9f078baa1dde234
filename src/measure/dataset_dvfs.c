/* GPU kernels and programs at locked clocks: NV-DVFS-Benchmark, GPU-DVFS-Job-Schedule,
 * gpuPTXModel, GPU-DVFS-Dataset. */
#include <math.h>
#include <stdio.h>

#include "measure/dataset.h"

static void kernel(ft__import *im)
{
    const char *name = ft__text(im, FT__C_kernel), *args = ft__text(im, FT__C_args);
    char whole[300], rest[200] = "";

    snprintf(whole, sizeof(whole), "%.140s%s%.140s", ft__text(im, FT__C_benchmark),
             *name ? "/" : "", name);
    if (*args)
        snprintf(rest, sizeof(rest), "args=%.190s", args);
    for (char *p = rest; *p; p++)
        *p = *p == ' ' ? '_' : *p;
    ft__device(im, ft__text(im, FT__C_device));
    ft__engine(im, "cuda", ft__text(im, FT__C_source));
    ft__setting_unit(im, "clock", ft__real(im, FT__C_core_mhz), "MHz");
    ft__setting_unit(im, "memory", ft__real(im, FT__C_mem_mhz), "MHz");
    ft__about_whole(im, "kernel", whole, rest, FT_PHASE_FORWARD);
    ft__value(im, "time", "s", ft__real(im, FT__C_time_s), NAN, 1);
    ft__value(im, "power", "W", ft__real(im, FT__C_power_w), NAN, 1);
    ft__value(im, "energy", "J", ft__real(im, FT__C_energy_j), NAN, 1);
    /* Speed over that at the device's own clock, where no time is told. */
    ft__value(im, "relative_performance", "1", ft__real(im, FT__C_rel_perf), NAN, 1);
}

static const ft__column needs[] = {FT__C_source, FT__C_device,   FT__C_benchmark,
                                   FT__C_kernel, FT__C_core_mhz, FT__C_mem_mhz,
                                   FT__C_power_w};
const ft__form ft__dvfs_forms[1] = {
    {needs, sizeof(needs) / sizeof(*needs), "cuda", "", kernel}};
