/* Power of an operation that is repeated: what always flows, and what arithmetic and
 * memory take while they are busy, up to the cap. */
#include <math.h>

#include "physics/physics.h"

static const int constants[] = {FT__C_power_idle, FT__C_power_compute,
                                FT__C_power_memory};
enum { N_CONSTANTS = sizeof(constants) / sizeof(*constants), SWEEPS = 40 };

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

static double loss(const ft__physics_power_row *row, size_t n, const ft__theta *theta)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double miss =
            ft__physics_power(&row[i].terms, row[i].chip, theta) / row[i].power_w - 1;

        sum += isfinite(miss) ? fabs(miss) : 0;
    }
    return sum;
}

void ft__physics_power_fit(ft__theta *theta, const ft__physics_power_row *row, size_t n)
{
    double step[N_CONSTANTS] = {0.4, 0.4, 0.4}, least = loss(row, n, theta);

    for (int sweep = 0; n && sweep < SWEEPS; sweep++)
        for (int i = 0; i < N_CONSTANTS; i++) {
            double *v = &theta->v[constants[i]], old = *v;
            int better = 0;

            for (int sign = 1; sign >= -1 && !better; sign -= 2) {
                double l;

                *v = fmin(fmax(old * exp(sign * step[i]), 0.01), 2);
                l = loss(row, n, theta);
                better = l < least;
                least = better ? l : least;
            }
            if (!better)
                *v = old;
            step[i] *= better ? 1.5 : 0.5;
        }
}
