#ifndef EXPLORE_DESIGN_DESIGN_H
#define EXPLORE_DESIGN_DESIGN_H

#include "explore/space/space.h"

/* Adds points until there are n, or as many as some rounds find. */
ft_status ft__latin_points(ft__points *p, size_t n, ft__prng *rng, ft_error *err);

/* Generators of a two-level fraction: factor i is high in run r where an odd number of
 * bits of r & column[i] are set; *bits of them, so that runs are 2^bits, the fewest
 * found for this resolution, and few words short ones (minimum aberration: Fries,
 * Hunter 1980). FT_EINVAL: no such fraction of 2^24 runs. */
ft_status ft__fraction_find(uint32_t *column, uint32_t *bits, size_t factors,
                            uint32_t resolution, ft_error *err);
/* Words of each length, word[factors + 1]: products of factors that are constant. */
void ft__fraction_words(double *word, const uint32_t *column, size_t factors,
                        uint32_t bits);
/* Adds all points of a fraction. */
ft_status ft__fraction_points(ft__points *p, uint32_t resolution, ft_error *err);

enum { FT__SOBOL_DIMENSIONS = 64, FT__SOBOL_BITS = 32 };

typedef struct ft__sobol {
    uint32_t dimensions;
    uint32_t index; /* of the point to come */
    uint32_t direction[FT__SOBOL_DIMENSIONS][FT__SOBOL_BITS];
    uint32_t at[FT__SOBOL_DIMENSIONS];
} ft__sobol;

/* shift: of the digits of each dimension, NULL: none. FT_EINVAL: more than 64. */
ft_status ft__sobol_start(ft__sobol *s, size_t dimensions, const uint32_t *shift,
                          ft_error *err);
/* The next of 2^32 points. */
void ft__sobol_next(ft__sobol *s, double *unit);
/* Adds points until there are n, or the sequence meets no more new ones. */
ft_status ft__sobol_points(ft__points *p, size_t n, uint64_t seed, ft_error *err);

#endif
