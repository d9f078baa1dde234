/* Power and energy of an operation. */
#include <math.h>

#include "predict/query/estimate.h"

static const double power_from_specification = 0.35;

void ft__estimate_op_power(ft_network_estimate *e, uint32_t i, double power_w)
{
    if (isfinite(power_w))
        e->op_power[i] = (ft_estimate){.value = power_w,
                                       .low = power_w * exp(-power_from_specification),
                                       .high = power_w * exp(power_from_specification),
                                       .basis = FT_BASIS_SCALED,
                                       .why = ""};
    ft__estimate_op_energy(e, i);
}

void ft__estimate_op_energy(ft_network_estimate *e, uint32_t i)
{
    const ft_estimate *t = &e->op_time[i], *p = &e->op_power[i];
    double below = hypot(log(t->value / t->low), log(p->value / p->low));
    double above = hypot(log(t->high / t->value), log(p->high / p->value));

    if (p->basis == FT_BASIS_UNAVAILABLE || !(t->value > 0)) {
        e->op_energy[i] = *p;
        return;
    }
    e->op_energy[i] = (ft_estimate){.value = t->value * p->value,
                                    .basis = p->basis > t->basis ? p->basis : t->basis,
                                    .why = ""};
    e->op_energy[i].low = e->op_energy[i].value * exp(-below);
    e->op_energy[i].high = e->op_energy[i].value * exp(above);
}
