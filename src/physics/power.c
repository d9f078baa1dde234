/* Power of an operation that is repeated: what always flows, and what arithmetic and
 * memory take while they are busy, up to the cap. */
#include <math.h>

#include "physics/physics.h"

double ft__physics_power(const ft__terms *t, const ft__chip *chip,
                         const ft__theta *theta)
{
    const double *c = theta->v;
    double compute = fmin(1, t->compute_s / t->total_s);
    double memory = fmin(1, t->memory_s / t->total_s);

    if (!(t->total_s > 0))
        return NAN;
    return chip->power_w *
           fmin(1, c[FT__C_power_idle] + c[FT__C_power_compute] * compute +
                       c[FT__C_power_memory] * memory);
}
