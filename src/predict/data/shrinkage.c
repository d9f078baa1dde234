#include "predict/data/shrinkage.h"

#include <math.h>

#include "predict/data/baseline.h"

/* Rows that say as much of a chip as any number of them. Set, not fitted. */
static const double many_rows = 300;

double ft__share_of_one_chip(size_t n_rows)
{
    return FT__ONE_CHIP_SHARE * fmin(1, (double)n_rows / many_rows);
}

/* What rows scatter by about any estimate, and how many independent ones a chip's, or
 * a group's, tell as much as. Chosen on left-out devices (docs/notes/one-model.md). */
static const double scatter = 0.1;
enum { INDEPENDENT_ROWS = 20 };

static double log_likelihood(const ft__share_errors *chip, size_t n, int share)
{
    double sum = 0;

    for (size_t c = 0; c < n; c++)
        sum -= INDEPENDENT_ROWS * log(chip[c].of[share] + scatter);
    return sum;
}

double ft__share_of_learned(const ft__share_errors *chip, size_t n, size_t n_rows)
{
    double likelihood[FT__N_SHARES], most = -INFINITY, weights = 0, sum = 0;

    if (n < 2)
        return ft__share_of_one_chip(n_rows);
    for (int i = 0; i < FT__N_SHARES; i++) {
        likelihood[i] = log_likelihood(chip, n, i);
        most = fmax(most, likelihood[i]);
    }
    if (!isfinite(most))
        return 0;
    for (int i = 0; i < FT__N_SHARES; i++) {
        const double weight = exp(likelihood[i] - most);

        weights += weight;
        sum += weight * ft__share(i);
    }
    return sum / weights;
}
