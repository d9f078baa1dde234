#ifndef PREDICT_MODEL_NEIGHBOURS_H
#define PREDICT_MODEL_NEIGHBOURS_H

#include <stdlib.h>

#include "predict/data/sample.h"

/* Neighbours of an operation: operations of the same dataset that were learned from and
 * differ from it in one size alone, the next smaller and the next larger of them. Where
 * sizes lie on a grid, a neighbour tells what no smooth function of sizes does: which
 * kernel the library took there, in which campaign it was measured. Sizes that are
 * equal in all rows (height and width) count as one. An operation is never its own
 * neighbour, so that what is learned from sees as much as what is asked for later.
 *
 * Columns: of each size the targets below and above, and how far off they are, in
 * octaves; NaN where there is none.
 *
 * The image, little-endian: ft__neighbours_image; an ft__neighbours_axis_image for each
 * size; of each size, ascending by hash and size, hashes of all else (u64), sizes (i64)
 * and targets (f32, padded to 8 bytes). */
enum { FT__MOST_AXES = 4, FT__AXIS_COLUMNS = 4 };

typedef struct ft__neighbours_image {
    uint64_t n_axes;
    uint64_t bytes; /* of all of it */
} ft__neighbours_image;

typedef struct ft__neighbours_axis_image {
    uint64_t mask; /* values of the operation that are this size */
    uint64_t n;
} ft__neighbours_axis_image;

typedef struct ft__neighbours_axis {
    uint64_t mask;
    size_t n;
    const uint64_t *rest;
    const int64_t *size;
    const float *target;
} ft__neighbours_axis;

typedef struct ft__neighbours {
    const void *image;
    size_t bytes;
    ft__neighbours_axis axis[FT__MOST_AXES];
    uint32_t n_axes; /* 0: there is nothing to look up */
    void *own;       /* the image where it was made here */
} ft__neighbours;

/* Of n samples of one kind, their targets as columns will have them. No size is taken
 * along which too few have neighbours. */
ft_status ft__neighbours_make(ft__neighbours *out, const ft__samples *s,
                              const uint32_t *row, const double *target, size_t n,
                              ft_error *err);
/* An image, used where it lies; false: it is none. Whatever its numbers are, asking is
 * safe. */
bool ft__neighbours_open(ft__neighbours *out, const void *image, size_t len);
static inline void ft__neighbours_free(ft__neighbours *n)
{
    free(n->own);
    *n = (ft__neighbours){0};
}
/* How many columns; 0 of NULL. */
static inline uint32_t ft__neighbours_columns(const ft__neighbours *n)
{
    return n ? n->n_axes * FT__AXIS_COLUMNS : 0;
}
/* columns[ft__neighbours_columns()]; false: it has no neighbour. */
bool ft__neighbours_fill(const ft__neighbours *n, float *columns, const ft__sample *v);

#endif
