#ifndef EXPLORE_SPACE_POINTS_H
#define EXPLORE_SPACE_POINTS_H

#include "base/index.h"
#include "base/prng.h"
#include "explore/space/space.h"

enum { FT__MAX_POINTS = 1 << 24 };

/* Of n values, of which NaN is one. */
uint64_t ft__point_hash(uint64_t h, const double *point, size_t n);

/* Points of a space, each once, in the order in which they came. Zero-initialise but
 * for the space. */
typedef struct ft__points {
    const ft_space *s;
    double *row;
    size_t n, cap;
    ft__index seen;
} ft__points;

/* Note the point unless it is there or forbidden; *added says which. FT_ENOMEM. */
ft_status ft__points_add(ft__points *p, const double *point, bool *added,
                         ft_error *err);
/* Its row; p->n: it is not there. */
size_t ft__points_find(const ft__points *p, const double *point);
void ft__points_free(ft__points *p);

/* Call visit() for every point that the space allows, reals at `levels` values, the
 * last parameter varying fastest. FT_EINVAL: more than FT__MAX_POINTS; other failures
 * are those of visit(). */
typedef ft_status (*ft__visit)(void *user, const double *point, ft_error *err);
ft_status ft__space_walk(const ft_space *s, uint32_t levels, ft__visit visit,
                         void *user, ft_error *err);

/* Points drawn at random until there are n, or as many as the space has. */
ft_status ft__points_fill(ft__points *p, size_t n, ft__prng *rng, ft_error *err);

/* ---- parts of designs: each adds to `p` until it has n points or is at its end ----
 */

ft_status ft__design_latin(ft__points *p, size_t n, ft__prng *rng, ft_error *err);
ft_status ft__design_sobol(ft__points *p, size_t n, uint64_t seed, ft_error *err);
ft_status ft__design_fractional(ft__points *p, uint32_t resolution, ft_error *err);

/* Generators of a two-level fraction: factor i is high in run r where an odd number of
 * bits of r & column[i] are set; *bits of them, so that runs are 2^bits, the fewest
 * found for this resolution, and few words short ones (minimum aberration: Fries,
 * Hunter 1980). FT_EINVAL: no such fraction of 2^24 runs. */
ft_status ft__fraction_find(uint32_t *column, uint32_t *bits, size_t factors,
                            uint32_t resolution, ft_error *err);
/* Words of each length, word[factors + 1]: products of factors that are constant. */
void ft__fraction_words(double *word, const uint32_t *column, size_t factors,
                        uint32_t bits);

/* ---- Sobol's sequence ---- */

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

#endif
