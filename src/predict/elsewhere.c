/* A network on a device at another clock, or under another cap, than it was measured.
 */
#include <math.h>

#include "predict/ask.h"
#include "predict/predictor.h"

/* Formulae alone erred 7 to 12 % on benchmarks left out (docs/notes/clocks-model.md).
 */
const double ft__elsewhere_error = 0.2;

static bool differs(double asked, double measured)
{
    return isfinite(asked) && !(fabs(asked - measured) <= 1e-3 * asked);
}

bool ft__drive_differs(const ft__drive *asked, const ft__drive *measured)
{
    return differs(asked->clock_hz, measured->clock_hz) ||
           differs(asked->memory_hz, measured->memory_hz) ||
           differs(asked->power_w, measured->power_w);
}

bool ft__setting_differs(const char *asked, const char *measured)
{
    const ft__drive a = ft__drive_of(asked), b = ft__drive_of(measured);

    return ft__drive_differs(&a, &b);
}

static void scale(ft_estimate *e, double ratio)
{
    e->value *= ratio;
    e->low *= ratio * exp(-ft__elsewhere_error);
    e->high *= ratio * exp(ft__elsewhere_error);
    if (e->basis < FT_BASIS_SCALED)
        e->basis = FT_BASIS_SCALED;
}

ft_status ft__predict_elsewhere(ft_network_estimate *e, const ft_device_use *on,
                                const char *measured, const ft_graph *g, ft_error *err)
{
    const ft_device_use then = {
        .device = on->device, .setting = measured, .policy = on->policy};
    const ft__theta theta = ft__physics_default();
    ft__asked to = {0}, from = {0};
    ft_status st = ft__ask_open(&to, on, &theta, g, err);

    if (!st)
        st = ft__ask_open(&from, &then, &theta, g, err);
    for (uint32_t i = 0; i < e->n_ops && !st; i++) {
        ft__terms a, b;

        if (ft__costs_nothing(ft_graph_op(g, i)))
            continue;
        ft__ask_terms(&a, &to, ft_graph_op(g, i));
        ft__ask_terms(&b, &from, ft_graph_op(g, i));
        scale(&e->op_time[i], a.busy_s / b.busy_s);
    }
    ft__ask_close(&to);
    ft__ask_close(&from);
    if (e->energy.basis != FT_BASIS_UNAVAILABLE)
        e->energy = e->power =
            (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                          "power was measured at another clock or under another cap"};
    e->n_measured = e->n_learned = e->n_scaled = e->n_roofline = 0;
    if (!st)
        st = ft__estimate_sum(e, g, err);
    ft__estimate_count(e);
    return st;
}
