#ifndef LEARN_DECAY_H
#define LEARN_DECAY_H

#include <stdint.h>
#include <string.h>

/* exp(-t) for t >= 0, to 2^-50 relative, from + and * alone: libraries' exp differs in
 * its last bit. t = k ln 2 + r; the series of exp(-r), |r| <= ln 2 / 2, then 2^-k. */
static inline double ft__decay(double t)
{
    static const double factor[] = {1 / 6227020800.0,
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
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    double k, r, sum = 0;
    uint64_t bits;

    if (!(t < 700))
        return 0;
    k = (double)(int)(t * 1.44269504088896338700 + 0.5);
    r = k * ln2_high - t + k * ln2_low;
    for (int i = 0; i < 14; i++)
        sum = sum * r + factor[i];
    bits = (uint64_t)(1023 - (int)k) << 52;
    memcpy(&k, &bits, sizeof(k));
    return sum * k;
}

#endif
