#ifndef LEARN_DECAY_H
#define LEARN_DECAY_H

#include <stdint.h>
#include <string.h>

/* exp(-t) for t >= 0, to 2^-50 relative, from + and * alone: libraries' exp differs in
 * its last bit. t = k ln 2 + r; the series of exp(-r), |r| <= ln 2 / 2, then 2^-k. */
static inline double ft__decay(double t)
{
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    double k, r, sum = 1;
    uint64_t bits;

    if (!(t < 700))
        return 0;
    k = (double)(int)(t * 1.44269504088896338700 + 0.5);
    r = t - k * ln2_high - k * ln2_low;
    for (int i = 13; i > 0; i--)
        sum = 1 - sum * r / i;
    bits = (uint64_t)(1023 - (int)k) << 52;
    memcpy(&k, &bits, sizeof(k));
    return sum * k;
}

#endif
