/* A launch on a GPU as a row of numbers for regressors. */
#include <math.h>

#include "physics/kernel.h"

/* Of the launch alone and of how it fits the GPU; then of the GPU itself, which tells
 * known ones apart. */
static const char *const names[] = {
    "issue / device",
    "compute / device",
    "shared / device",
    "cache / device",
    "memory / device",
    "latency / device",
    "launch / device",
    "host / device",
    "waves",
    "tail",
    "occupancy",
    "warps of a block",
    "active lanes",
    "bytes / L2",
    "read again",
    "loaded / stored",
    "sectors of requests",
    "instructions of warps",
    "instructions / byte",
    "FLOPs / byte",
    "special",
    "integer",
    "load and store",
    "control",
    "exchange",
    "divergent branches",
    "L2 hit",
};
static const char *const of_gpus[] = {"SMs", "bytes / clock and SM", "L2 cache / SM",
                                      "lanes", "slots"};
enum {
    N_NAMES = sizeof(names) / sizeof(*names),
    N_GPU = sizeof(of_gpus) / sizeof(*of_gpus)
};

uint32_t ft__kernel_columns(int of_gpu)
{
    return of_gpu ? N_NAMES + N_GPU : N_NAMES;
}

const char *ft__kernel_column(uint32_t i)
{
    return i < N_NAMES ? names[i] : of_gpus[i - N_NAMES];
}

static float ratio(double a, double b)
{
    return (float)log(fmax(a, 1e-12) / fmax(b, 1e-12));
}

static double all(const ft__kernel_work *w)
{
    double s = 0;

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        s += w->warp[i];
    return fmax(1, s);
}

void ft__kernel_fill(float *row, const ft__kernel_work *w, const ft__gpu *g,
                     const ft_kernel_terms *t, double call_s, int of_gpu)
{
    const double *n = w->warp;
    double device = t->device_s, bytes = w->loaded_bytes + w->stored_bytes,
           sum = all(w);
    double flops =
        64 * n[FT_PTX_FP32] + w->fp64_flops + w->fp16_flops + w->tensor_flops;
    double integer = n[FT_PTX_INT] + n[FT_PTX_MUL] + n[FT_PTX_DIV] + n[FT_PTX_LOGIC];

    *row++ = ratio(t->issue_s, device);
    *row++ = ratio(t->compute_s, device);
    *row++ = ratio(t->shared_s + 1e-9, device);
    *row++ = ratio(t->cache_s, device);
    *row++ = ratio(t->memory_s, device);
    *row++ = ratio(t->latency_s, device);
    *row++ = ratio(t->launch_s, device);
    *row++ = call_s > 0 ? ratio(call_s, device) : NAN;
    *row++ = ratio(t->waves, 1);
    *row++ = ratio(ceil(t->waves), t->waves);
    *row++ = (float)t->occupancy;
    *row++ = (float)(w->warps / fmax(1, w->blocks));
    *row++ = (float)(w->lanes / 32);
    *row++ = ratio(w->distinct_bytes, g->l2_bytes);
    *row++ = ratio(fmax(bytes, 1), w->distinct_bytes);
    *row++ = ratio(w->loaded_bytes + 1, w->stored_bytes + 1);
    *row++ = (float)(w->sectors / fmax(1, w->requests));
    *row++ = ratio(sum, w->warps);
    *row++ = ratio(32 * sum, bytes + 1);
    *row++ = ratio(flops + 1, bytes + 1);
    *row++ = (float)((n[FT_PTX_SPECIAL] + n[FT_PTX_FDIV]) / sum);
    *row++ = (float)(integer / sum);
    *row++ = (float)((n[FT_PTX_LOAD] + n[FT_PTX_STORE]) / sum);
    *row++ = (float)((n[FT_PTX_CONTROL] + n[FT_PTX_COMPARE]) / sum);
    *row++ = (float)((n[FT_PTX_WARP] + n[FT_PTX_SYNC]) / sum);
    *row++ = (float)(w->divergent / fmax(1, w->branches));
    *row++ = (float)t->hit;
    if (!of_gpu)
        return;
    *row++ = (float)g->sms;
    *row++ = (float)(g->bandwidth / (g->sms * g->clock_hz));
    *row++ = (float)(g->l2_bytes / g->sms);
    *row++ = (float)g->lanes;
    *row++ = (float)g->slots;
}
