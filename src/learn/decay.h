#ifndef LEARN_DECAY_H
#define LEARN_DECAY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FT__DECAY_TERMS = 14 };
static const double ft__decay_factor[FT__DECAY_TERMS] = {1 / 6227020800.0,
                                                         1 / 479001600.0,
                                                         1 / 39916800.0,
                                                         1 / 3628800.0,
                                                         1 / 362880.0,
                                                         1 / 40320.0,
                                                         1 / 5040.0,
                                                         1 / 720.0,
                                                         1 / 120.0,
                                                         1 / 24.0,
                                                         1 / 6.0,
                                                         1 / 2.0,
                                                         1,
                                                         1};
static const double ft__decay_end = 700; /* from there on it is 0 */
static const double ft__one_by_ln2 = 1.44269504088896338700;
static const double ft__ln2_high = 6.93147180369123816490e-01;
static const double ft__ln2_low = 1.90821492927058770002e-10;

/* exp(-t) for t >= 0, to 2^-50 relative, from + and * alone: libraries' exp differs in
 * its last bit. t = k ln 2 + r; the series of exp(-r), |r| <= ln 2 / 2, then 2^-k. */
static inline double ft__decay(double t)
{
    double k, r, sum = 0;
    uint64_t bits;

    if (!(t < ft__decay_end))
        return 0;
    k = (double)(int)(t * ft__one_by_ln2 + 0.5);
    r = k * ft__ln2_high - t + k * ft__ln2_low;
    for (int i = 0; i < FT__DECAY_TERMS; i++)
        sum = sum * r + ft__decay_factor[i];
    bits = (uint64_t)(1023 - (int)k) << 52;
    memcpy(&k, &bits, sizeof(k));
    return sum * k;
}

/* Of a Gaussian process: Matern's with 3/2, of r^2 = 3 |a - b|^2. */
static inline double ft__matern(double square)
{
    const double r = sqrt(square);

    return r < ft__decay_end ? (1 + r) * ft__decay(r) : 0;
}

#endif
