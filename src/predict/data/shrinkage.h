#ifndef PREDICT_DATA_SHRINKAGE_H
#define PREDICT_DATA_SHRINKAGE_H

#include <stddef.h>

/* How much of what known chips show is taken to others: a share, tried in quarters, by
 * what each known chip is missed by where the others alone were learned from. */
enum { FT__N_SHARES = 5 };

static inline double ft__share(int i)
{
    return i / (FT__N_SHARES - 1.0);
}

/* Mean errors of one chip by each share; the first is of the estimate that nothing was
 * learned for. */
typedef struct ft__share_errors {
    double of[FT__N_SHARES];
} ft__share_errors;

/* The mean of the shares, each weighted by how likely it makes chips left out
 * (pseudo-BMA weights, Yao et al. 2018): what changes little changes it little. 0.5
 * where all are alike, 0 where none has an estimate. ft__share_of_one_chip() of one
 * chip. */
double ft__share_of_learned(const ft__share_errors *chip, size_t n, size_t n_rows);
/* Of one chip alone FT__ONE_CHIP_SHARE, less where its rows are few. */
double ft__share_of_one_chip(size_t n_rows);

#endif
