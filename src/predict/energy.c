/* Time and power of operations to energy and power of a network. */
#include <math.h>

#include "predict/estimate.h"

/* How far a network's power strays from that of its operations. */
static const double power_sigma = 0.06;
/* A 90 % interval of a normal quantity is +- this many sigma. */
static const double z90 = 1.645;

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

void ft__estimate_energy(ft_network_estimate *e, const ft_estimate *power,
                         const ft_graph *g)
{
    double joules = 0, below = 0, above = 0, share[FT_BASIS_COUNT] = {0};
    const double common = z90 * power_sigma;
    ft_basis basis = e->time.basis;

    for (uint32_t i = 0; i < e->n_ops; i++) {
        double j = (double)ft_graph_op_count(g, i) * e->op_time[i].value;

        if (!(j > 0))
            continue;
        if (power[i].basis == FT_BASIS_UNAVAILABLE)
            return;
        j *= power[i].value;
        joules += j;
        below += pow(j * log(power[i].value / power[i].low), 2);
        above += pow(j * log(power[i].high / power[i].value), 2);
        share[power[i].basis] += j;
    }
    if (!(joules > 0))
        return;
    for (int b = 0; b < FT_BASIS_COUNT; b++)
        if (share[b] >= joules / 10 && b > (int)basis)
            basis = (ft_basis)b;
    below = hypot(sqrt(below) / joules, common);
    above = hypot(sqrt(above) / joules, common);
    e->power =
        (ft_estimate){.value = joules / e->time.value, .basis = basis, .why = ""};
    e->power.low = e->power.value * exp(-below);
    e->power.high = e->power.value * exp(above);
    e->energy = (ft_estimate){.value = joules, .basis = basis, .why = ""};
    e->energy.low = joules * exp(-hypot(below, log(e->time.value / e->time.low)));
    e->energy.high = joules * exp(hypot(above, log(e->time.high / e->time.value)));
}
