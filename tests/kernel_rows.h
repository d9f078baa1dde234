/* Launches of made-up kernels on made-up GPUs, with times that the estimate has with
 * constants of ours, and whatever else is multiplied to them. */
#ifndef KERNEL_ROWS_H
#define KERNEL_ROWS_H

#include <math.h>

#include "base/prng.h"
#include "predict/model/kernels.h"

enum { MOST_ROWS = 6000 };

struct rows {
    ft_device_facts gpu[6];
    ft__kernel_row row[MOST_ROWS];
    size_t n;
};

static ft_device_facts gpu_like(const char *name, double sms, double clock_hz,
                                double bandwidth, double l2_bytes, double capability)
{
    return (ft_device_facts){.name = name,
                             .title = name,
                             .chip = name,
                             .vendor = "NVIDIA",
                             .type = "gpu",
                             .cores = sms,
                             .base_clock_hz = NAN,
                             .boost_clock_hz = clock_hz,
                             .memory_clock_hz = 1e9,
                             .peak_fp32 = sms * 128 * clock_hz,
                             .peak_fp64 = NAN,
                             .peak_fp16 = NAN,
                             .bandwidth_bytes_per_s = bandwidth,
                             .memory_bytes = 16e9,
                             .l2_bytes = l2_bytes,
                             .shared_memory_per_core_bytes = 98304,
                             .tdp_w = 200,
                             .compute_capability = capability,
                             .year = 2018};
}

/* Blocks of 128 threads that each read and write 16 bytes and compute in between. */
static ft__kernel_work work_like(double blocks, double instructions)
{
    ft__kernel_work w = {
        .blocks = blocks, .warps = 4 * blocks, .threads = 128 * blocks};

    w.warp[FT_PTX_FP32] = w.warps * instructions;
    w.warp[FT_PTX_INT] = w.warps * 10;
    w.warp[FT_PTX_LOAD] = w.warp[FT_PTX_STORE] = w.warps;
    w.lanes = 32;
    w.loaded_bytes = w.stored_bytes = 16 * w.threads;
    w.block_bytes = w.distinct_bytes = 32 * w.threads;
    w.sectors = w.threads;
    w.requests = 2 * w.warps;
    w.registers = 32;
    return w;
}

/* each: launches of a kernel and GPU. call: timed one by one from the host. noise: of
 * logarithms. */
static void make_rows(struct rows *r, uint32_t n_gpus, uint32_t each,
                      const ft__kernel_params *theta, int call, double noise)
{
    static const char *const kernels[] = {"light", "middling", "heavy"};
    ft__prng p = {7};

    r->gpu[0] = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    r->gpu[1] = gpu_like("b", 40, 1.6e9, 320e9, 4e6, 7.5);
    r->gpu[2] = gpu_like("c", 108, 1.4e9, 1500e9, 40e6, 8.0);
    r->gpu[3] = gpu_like("d", 20, 1.1e9, 190e9, 2e6, 6.1);
    r->gpu[4] = gpu_like("e", 56, 1.3e9, 700e9, 4e6, 6.0);
    r->gpu[5] = gpu_like("f", 132, 1.8e9, 3300e9, 50e6, 9.0);
    r->n = 0;
    for (uint32_t g = 0; g < n_gpus; g++)
        for (uint32_t k = 0; k < 3; k++)
            for (uint32_t i = 0; i < each && r->n < MOST_ROWS; i++) {
                ft__kernel_row *row = &r->row[r->n++];
                ft_kernel_terms t;
                ft__gpu gpu;
                double u = ft__prng_unit(&p),
                       call_s = call ? (20 + g) * 1e-6 : (double)NAN;

                *row = (ft__kernel_row){
                    .device = &r->gpu[g],
                    .kernel = kernels[k],
                    .call = call ? kernels[k] : NULL,
                    .work = work_like(ceil(exp(12 * u)), k == 0   ? 5
                                                         : k == 1 ? 150
                                                                  : 2000)};
                (void)ft__gpu_make(&gpu, row->device, NULL);
                ft__kernel_cost(&t, &row->work, &gpu, theta);
                row->time_s = ft__kernel_time(&t, call_s, theta) *
                              exp(noise * (2 * ft__prng_unit(&p) - 1));
            }
}

#endif
