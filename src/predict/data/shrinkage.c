#include "predict/data/shrinkage.h"

#include <math.h>

#include "predict/data/baseline.h"

/* Errors below it are as good as none. */
static const double least_error = 0.01;
static const double least_gain = 0.03;

static double gain_of(const ft__share_errors *chip, int share)
{
    return log((chip->of[0] + least_error) / (chip->of[share] + least_error));
}

/* Mean of the gain over two chips or more, less its standard error. */
static double certain_gain(const ft__share_errors *chip, size_t n, int share)
{
    double mean = 0, squares = 0;

    for (size_t c = 0; c < n; c++)
        mean += gain_of(&chip[c], share) / (double)n;
    for (size_t c = 0; c < n; c++)
        squares += pow(gain_of(&chip[c], share) - mean, 2);
    return mean - sqrt(squares / (double)(n - 1) / (double)n);
}

/* Rows that say as much of a chip as any number of them. Set, not fitted. */
static const double many_rows = 300;

double ft__share_of_one_chip(size_t n_rows)
{
    return FT__ONE_CHIP_SHARE * fmin(1, (double)n_rows / many_rows);
}

double ft__share_of_learned(const ft__share_errors *chip, size_t n, size_t n_rows)
{
    double most = least_gain, best = 0;

    if (n < 2)
        return ft__share_of_one_chip(n_rows);
    for (int i = 1; i < FT__N_SHARES; i++) {
        const double gain = certain_gain(chip, n, i);

        if (gain > most) {
            most = gain;
            best = ft__share(i);
        }
    }
    return best;
}
