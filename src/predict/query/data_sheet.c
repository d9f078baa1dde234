/* What a device's data sheet alone says of a network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/data/features.h"
#include "predict/query/estimate.h"

/* Below a sum of rooflines there is nothing; above it, and around what another model
 * says, nothing is known. */
static void alone(ft_estimate *t, ft_basis basis)
{
    t->low = basis == FT_BASIS_ROOFLINE ? t->value : (double)NAN;
    t->high = NAN;
    t->basis = basis;
}

/* PyTorch's scratch memory is known on CPUs only; context nowhere. */
ft_status ft__estimate_memory_of_device(ft_network_estimate *e,
                                        const ft_device_facts *d, const ft_graph *g,
                                        ft_error *err)
{
    bool cpu = d->type && strcmp(d->type, "cpu") == 0;
    ft_status st =
        ft__estimate_memory_allocated(e, g, cpu ? FT_POLICY_CPU_SCRATCH : 0, err);

    if (!cpu)
        e->part_bytes[FT_PART_WORKSPACE] = NAN;
    e->context_bytes = NAN;
    return st;
}

/* How a data sheet's figures become the time of an operation. */
typedef double price_of(const ft_op *op, const ft__roof *roof);

static ft_status cost_by_specification(ft_network_estimate *out, price_of *price,
                                       ft_basis basis, const ft_device_facts *d,
                                       const ft_graph *g, ft_error *err)
{
    const ft__roof roof = ft__flat_roof(d->peak_fp32, d->bandwidth_bytes_per_s, 0);
    const bool bound = basis == FT_BASIS_ROOFLINE;
    ft_status st = ft__check_operations(g, err);

    if (st) {
        memset(out, 0, sizeof(*out));
        return st;
    }
    if (!(roof.peak_flops > 0) || !(d->bandwidth_bytes_per_s > 0)) {
        memset(out, 0, sizeof(*out));
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "%s: peak rate or bandwidth is not known, so there is no roofline",
            d->name);
    }
    st = ft__estimate_start(out, g, err);
    for (uint32_t i = 0; i < out->n_ops && !st; i++) {
        double t = ft__costs_nothing(&g->op[i]) ? 0 : price(&g->op[i], &roof);

        out->op_time[i] = (ft_estimate){t, bound ? t : (double)NAN, NAN, basis, ""};
    }
    return st ? st : ft__estimate_sum(out, g, err);
}

static ft_status predict_by_specification(ft_network_estimate *out, price_of *price,
                                          ft_basis basis, const ft_device_facts *d,
                                          const ft_graph *g, ft_error *err)
{
    const ft_estimate exact = {0};
    ft_status st = cost_by_specification(out, price, basis, d, g, err);

    if (!st)
        st = ft__estimate_memory_of_device(out, d, g, err);
    if (st) {
        ft_network_estimate_free(out);
        return st;
    }
    out->energy.why = out->power.why =
        "a data sheet alone does not say what operations draw";
    alone(&out->time, basis);
    for (int p = 0; p < FT_PHASE_COUNT; p++)
        alone(&out->phase_time[p], basis);
    ft__estimate_count(out);
    ft__estimate_memory_sum(out, &exact);
    return FT_OK;
}

ft_status ft_predict_network_roofline(ft_network_estimate *out,
                                      const ft_device_facts *d, const ft_graph *g,
                                      ft_error *err)
{
    return predict_by_specification(out, ft__roofline, FT_BASIS_ROOFLINE, d, g, err);
}

ft_status ft_predict_network_paleo(ft_network_estimate *out, const ft_device_facts *d,
                                   const ft_graph *g, ft_error *err)
{
    return predict_by_specification(out, ft__paleo, FT_BASIS_ANALYTIC, d, g, err);
}
