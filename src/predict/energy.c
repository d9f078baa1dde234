/* Time and power of operations to energy and power of a network. */
#include <math.h>

#include "predict/estimate.h"

/* How far a network's power strays from that of its operations. */
static const double power_sigma = 0.06;
/* A 90 % interval of a normal quantity is +- this many sigma. */
static const double z90 = 1.645;

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
