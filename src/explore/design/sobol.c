/* Sobol's sequence. */
#include "explore/design/design.h"

#include <stdbool.h>

/* I. M. Sobol, On the distribution of points in a cube and the approximate evaluation
 * of integrals, 1967, in the order of Gray's code (Antonov, Saleev 1979). Directions of
 * S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
 * projections, SIAM J. Sci. Comput. 30, 2008: the first lines of their file
 * new-joe-kuo-6.21201, from dimension 2: degree s of a primitive polynomial over the
 * integers modulo 2, its inner coefficients as bits, and m[1] .. m[s]. */
static const struct sobol_dimension {
    uint32_t degree, inner;
    uint32_t m[9];
} line[FT__SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
    {9, 8, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
    {9, 13, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
    {9, 16, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
    {9, 22, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
    {9, 25, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
    {9, 44, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
    {9, 47, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
    {9, 52, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
    {9, 55, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
    {9, 59, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
    {9, 62, {1, 1, 3, 13, 25, 47, 39, 87, 257}},
};

static void directions(uint32_t *v, const struct sobol_dimension *l)
{
    const uint32_t s = l->degree;

    for (uint32_t i = 0; i < FT__SOBOL_BITS; i++) {
        if (i < s) {
            v[i] = l->m[i] << (31 - i);
            continue;
        }
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (uint32_t k = 1; k < s; k++)
            if (l->inner >> (s - 1 - k) & 1)
                v[i] ^= v[i - k];
    }
}

ft_status ft__sobol_start(ft__sobol *s, size_t dimensions, const uint32_t *shift,
                          ft_error *err)
{
    if (dimensions > FT__SOBOL_DIMENSIONS)
        return ft_fail(err, FT_EINVAL, 0,
                       "Sobol's sequence is known here for %d parameters, not %zu: "
                       "take a Latin hypercube",
                       FT__SOBOL_DIMENSIONS, dimensions);
    s->dimensions = (uint32_t)dimensions;
    s->index = 0;
    for (uint32_t k = 0; k < s->dimensions; k++) {
        s->at[k] = shift ? shift[k] : 0;
        for (uint32_t i = 0; k == 0 && i < FT__SOBOL_BITS; i++)
            s->direction[0][i] = UINT32_C(1) << (31 - i);
        if (k)
            directions(s->direction[k], &line[k - 1]);
    }
    return FT_OK;
}

void ft__sobol_next(ft__sobol *s, double *unit)
{
    uint32_t free_bit = 0;

    for (uint32_t k = 0; k < s->dimensions; k++)
        unit[k] = s->at[k] * 0x1p-32;
    while (free_bit < FT__SOBOL_BITS - 1 && s->index >> free_bit & 1)
        free_bit++;
    s->index++;
    for (uint32_t k = 0; k < s->dimensions; k++)
        s->at[k] ^= s->direction[k][free_bit];
}

ft_status ft__sobol_points(ft__points *p, size_t n, uint64_t seed, ft_error *err)
{
    double unit[FT__SOBOL_DIMENSIONS], point[FT__SOBOL_DIMENSIONS];
    uint32_t shift[FT__SOBOL_DIMENSIONS];
    ft__prng rng = ft__prng_stream(seed, 0);
    ft__sobol s;
    ft_status st;

    for (int k = 0; k < FT__SOBOL_DIMENSIONS; k++)
        shift[k] = (uint32_t)ft__prng_u64(&rng);
    st = ft__sobol_start(&s, p->s->n, shift, err);
    /* Of a space of few points the sequence meets each again and again. */
    for (uint64_t i = 0; p->n < n && i < 64 * (uint64_t)n && !st; i++) {
        bool added;

        ft__sobol_next(&s, unit);
        ft__space_from_unit(p->s, point, unit);
        st = ft__points_add(p, point, &added, err);
    }
    return st;
}
