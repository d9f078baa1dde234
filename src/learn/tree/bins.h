#ifndef LEARN_TREE_BINS_H
#define LEARN_TREE_BINS_H

#include "learn/training_set.h"

/* Columns as numbers of bins, column by column: 0 is missing, 1 the least. Cuts lie
 * between values that occur, as evenly in rows as can be; as many bins as a byte
 * numbers. */
enum { FT__MOST_BINS = 256 };

typedef struct ft__bins {
    uint32_t n_rows;
    uint32_t n_cols; /* those that change */
    uint32_t *col;   /* which of the matrix; n_cols of them */
    uint32_t *n;     /* bins of a column, that of missing ones included */
    float *cut;      /* FT__MOST_BINS a column: bin b + 1 lies above cut[b], b > 0 */
    uint8_t *bin;    /* n_rows a column */
} ft__bins;

/* The rows of weight above 0. */
ft_status ft__bins_make(ft__bins *out, const ft__task *t, uint32_t n_rows,
                        ft_error *err);
void ft__bins_free(ft__bins *b);

static inline const uint8_t *ft__bins_column(const ft__bins *b, uint32_t j)
{
    return b->bin + (size_t)j * b->n_rows;
}

#endif
