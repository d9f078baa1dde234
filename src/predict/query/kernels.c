/* What is answered about a launch. */
#include <math.h>
#include <string.h>

#include "predict/file/predictor.h"
#include "predict/model/family.h"
#include "predict/model/kernels.h"

enum { MOST_COLUMNS = 64 };
/* Around the physical estimate with its default constants: of launches that keep a GPU
 * busy 98 % lie there where blocks stream (docs/notes/ptx-prediction.md); of kernels
 * unlike those nobody knows. Of power neither. */
static const double PHYSICS_LOW = 0.6, PHYSICS_HIGH = 1.7, POWER = 2;

static const char *bound_of(const ft_kernel_terms *t, double call_s)
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
    return call_s > t->device_s ? "host" : part[most].name;
}

/* What was learned that tells of the launch. */
struct learned_kernels {
    const ft__kernel_models *k; /* NULL: nothing */
    const ft__kernel_regressor *by;
    bool device, kernel; /* are among those learned from */
};

/* Of other devices that is what was learned by leaving devices out; of kernels that are
 * new as well, as long as it is known how far off such are. */
static struct learned_kernels find_known(const ft__kernel_models *k, const char *device,
                                         const char *kernel)
{
    struct learned_kernels on = {
        .k = k,
        .device = k && ft__names_find(&k->devices, device) < k->devices.n,
        .kernel = k && ft__names_find(&k->kernels, kernel) < k->kernels.n};
    const bool kernels = k && k->of[FT__OF_KERNELS].fit.n_rows > 0;
    const bool devices = k && k->of[FT__OF_DEVICES].fit.n_rows > 0;

    if (on.device && kernels)
        on.by = &k->of[FT__OF_KERNELS];
    else if (devices && (on.kernel || kernels))
        on.by = &k->of[FT__OF_DEVICES];
    else
        on.k = NULL;
    return on;
}

/* The estimate times what the regressor says it misses. */
static void correct(ft_kernel_estimate *out, const struct learned_kernels *on,
                    const ft__kernel_work *work, const ft__gpu *gpu, double call_s)
{
    const ft__fit *f = &on->by->fit, *other = &on->k->of[FT__OF_KERNELS].fit;
    float row[MOST_COLUMNS];
    double value, residual_scale, scratch, low, high;

    ft__kernel_fill(row, work, gpu, &out->terms, call_s,
                    on->by == &on->k->of[FT__OF_KERNELS]);
    ft__fit_predict(f, row, 1, &value, &residual_scale, &scratch);
    low = fmin(0, f->low * residual_scale);
    high = fmax(0, f->high * residual_scale);
    if (!on->device && !on->kernel) { /* both are new */
        low = -hypot(low, fmin(0, other->low * other->typical));
        high = hypot(high, fmax(0, other->high * other->typical));
    }
    out->time.value *= exp(value);
    out->time.low *= exp(value + low);
    out->time.high *= exp(value + high);
    out->time.basis = on->device ? FT_BASIS_LEARNED : FT_BASIS_SCALED;
}

static void predict_time(ft_kernel_estimate *out, const struct learned_kernels *on,
                         const ft__kernel_params *params, const ft__kernel_work *work,
                         const ft__gpu *gpu, const ft__kernel_call *c)
{
    const ft_kernel_terms *t = &out->terms;

    out->physics_s = ft__kernel_time(t, c->call_s, params);
    out->time =
        (ft_estimate){.value = out->physics_s,
                      .low = ft__kernel_time(t, c->call_s * exp(c->low), params),
                      .high = ft__kernel_time(t, c->call_s * exp(c->high), params),
                      .basis = FT_BASIS_SCALED,
                      .why = ""};
    if (on->k) {
        correct(out, on, work, gpu, c->call_s);
        return;
    }
    out->time.low *= PHYSICS_LOW;
    out->time.high *= PHYSICS_HIGH;
}

static void predict_power(ft_kernel_estimate *out, const ft__kernel_params *params,
                          const ft__gpu *gpu)
{
    const double power = ft__kernel_power(&out->terms, gpu, out->time.value, params);

    if (!(gpu->power_w > 0)) {
        out->power = out->energy = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                                 "the device's file has no tdp_w"};
        return;
    }
    out->power = (ft_estimate){power, power / POWER, fmin(power * POWER, gpu->power_w),
                               FT_BASIS_SCALED, ""};
    out->energy = (ft_estimate){power * out->time.value, out->power.low * out->time.low,
                                out->power.high * out->time.high, FT_BASIS_SCALED, ""};
}

ft_status ft__kernel_predict(ft_kernel_estimate *out, const ft__kernel_models *k,
                             const ft__kernel_work *work, const ft_device_facts *device,
                             const char *kernel, const char *call, ft_error *err)
{
    const struct learned_kernels on = find_known(k, device->name, kernel);
    const ft__kernel_params params = on.k ? k->params : ft__kernel_default();
    ft__kernel_call c = {.call_s = NAN};
    double sum = 0;
    ft__gpu gpu;
    ft_status st = ft__gpu_make(&gpu, device, err);

    *out = (ft_kernel_estimate){.bound = "", .predictor = ""};
    if (st)
        return st;
    if (on.k && call)
        c = ft__hosts_call(k, device->name, call);
    for (int i = 0; i < FT_PTX_CLASSES; i++)
        sum += work->warp[i];
    ft__kernel_cost(&out->terms, work, &gpu, &params);
    predict_time(out, &on, &params, work, &gpu, &c);
    predict_power(out, &params, &gpu);
    out->bound = bound_of(&out->terms, c.call_s);
    out->call_s = c.call_s;
    out->registers = (uint64_t)work->registers;
    out->ipc = sum / (out->time.value * gpu.clock_hz * gpu.sms);
    return FT_OK;
}

ft_status ft_predict_kernel(ft_kernel_estimate *out, const ft_predictor *p,
                            const ft_kernel_query *q, ft_error *err)
{
    const ft_ptx_listed *v = q->launch;
    ft__kernel_work work;
    ft_status st = ft__kernel_work_of(&work, q, err);

    *out = (ft_kernel_estimate){.bound = "", .predictor = ""};
    return st ? st
              : ft__kernel_predict(out, p ? p->family->kernels : NULL, &work, q->device,
                                   ft__kernel_name_of(v), v->call, err);
}
