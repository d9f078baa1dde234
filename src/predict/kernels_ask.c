/* What is said of a launch. */
#include <math.h>

#include "predict/kernels.h"
#include "predict/kernels_inside.h"

enum { MOST_COLUMNS = 64 };
/* Around the physical estimate with its default constants: of launches that keep a GPU
 * busy 98 % lie there where blocks stream (docs/notes/ptx-prediction.md); of kernels
 * unlike those nobody knows. Of power neither. */
static const double PHYSICS_LOW = 0.6, PHYSICS_HIGH = 1.7, POWER = 2;

static const char *bound_of(const ft_kernel_terms *t, const ft__kernel_call *c)
{
    const struct {
        const char *name;
        double s;
    } part[] = {{"issue", t->issue_s},   {"compute", t->compute_s},
                {"shared", t->shared_s}, {"cache", t->cache_s},
                {"memory", t->memory_s}, {"latency", t->latency_s},
                {"launch", t->launch_s}};
    size_t most = 0;

    for (size_t i = 1; i < sizeof(part) / sizeof(*part); i++)
        if (part[i].s > part[most].s)
            most = i;
    return c->call_s > c->launches * t->device_s ? "host" : part[most].name;
}

/* The estimate times what the regressor says it misses. */
static void correct(ft_kernel_estimate *out, const ft_kernels *k,
                    const ft_kernel_work *work, const ft__gpu *gpu,
                    const ft__kernel_call *c)
{
    float row[MOST_COLUMNS];
    double value, spread, scratch;

    ft__kernel_fill(row, work, gpu, &out->terms, c->launches, c->call_s, k->of_gpu);
    ft__fit_predict(&k->fit, row, 1, &value, &spread, &scratch);
    out->time.value *= exp(value);
    out->time.low *= exp(value + k->fit.low * spread);
    out->time.high *= exp(value + k->fit.high * spread);
    out->time.basis = FT_BASIS_LEARNED;
}

void ft__kernels_ask(ft_kernel_estimate *out, const ft_kernels *k,
                     const ft_kernel_work *work, const ft__gpu *gpu,
                     const ft__kernel_call *c)
{
    const ft__kernel_theta theta = k ? k->theta : ft__kernel_default();
    double sum = 0, power;

    *out = (ft_kernel_estimate){0};
    for (int i = 0; i < FT_PTX_CLASSES; i++)
        sum += work->warp[i];
    ft__kernel_price(&out->terms, work, gpu, &theta);
    out->time = (ft_estimate){
        .value = ft__kernel_time(&out->terms, c->launches, c->call_s, &theta),
        .low =
            ft__kernel_time(&out->terms, c->launches, c->call_s * exp(c->low), &theta),
        .high =
            ft__kernel_time(&out->terms, c->launches, c->call_s * exp(c->high), &theta),
        .basis = FT_BASIS_SCALED,
        .why = ""};
    out->bound = bound_of(&out->terms, c);
    if (k) {
        correct(out, k, work, gpu, c);
    } else {
        out->time.low *= PHYSICS_LOW;
        out->time.high *= PHYSICS_HIGH;
    }
    power = ft__kernel_power(&out->terms, gpu, out->time.value / c->launches, &theta);
    out->power = (ft_estimate){power, power / POWER, fmin(power * POWER, gpu->power_w),
                               FT_BASIS_SCALED, ""};
    out->energy = (ft_estimate){power * out->time.value, out->power.low * out->time.low,
                                out->power.high * out->time.high, FT_BASIS_SCALED, ""};
    out->ipc = sum * c->launches / (out->time.value * gpu->clock_hz * gpu->sms);
}

ft_status ft__kernel_predict(ft_kernel_estimate *out, const ft_kernels *learned,
                             const ft_kernel_work *work, const ft_device_facts *device,
                             double call_s, ft_error *err)
{
    const ft__kernel_call call = {.launches = 1, .call_s = call_s};
    ft__gpu gpu;
    ft_status st = ft__gpu_make(&gpu, device, err);

    *out = (ft_kernel_estimate){.bound = ""};
    if (st)
        return st;
    ft__kernels_ask(out, learned, work, &gpu, &call);
    if (!(gpu.power_w > 0))
        out->power = out->energy = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                                 "the device's file has no tdp_w"};
    return FT_OK;
}
