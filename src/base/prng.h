#ifndef BASE_PRNG_H
#define BASE_PRNG_H

#include <stddef.h>
#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014): one word of state, any seed is good,
 * and seed + k gives an independent stream, so work can be split by index and
 * the result does not depend on the number of threads. */
typedef struct ft__prng {
    uint64_t state;
} ft__prng;

static inline uint64_t ft__prng_u64(ft__prng *p)
{
    uint64_t z = p->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Stream number `index` of `seed`. */
static inline ft__prng ft__prng_stream(uint64_t seed, uint64_t index)
{
    ft__prng p = {seed ^ (index + 1) * 0xd1342543de82ef95u};

    p.state = ft__prng_u64(&p);
    return p;
}

/* Uniform in [0, 1). */
static inline double ft__prng_unit(ft__prng *p)
{
    return (double)(ft__prng_u64(p) >> 11) * 0x1p-53;
}

/* Uniform in 0 .. n-1, n > 0 (multiply-shift; bias below 2^-32). */
static inline uint32_t ft__prng_below(ft__prng *p, uint32_t n)
{
    return (uint32_t)((ft__prng_u64(p) >> 32) * n >> 32);
}

/* All orders alike (Fisher, Yates). */
static inline void ft__prng_shuffle(ft__prng *p, uint32_t *v, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const uint32_t k = ft__prng_below(p, (uint32_t)i), last = v[i - 1];

        v[i - 1] = v[k];
        v[k] = last;
    }
}

#endif
