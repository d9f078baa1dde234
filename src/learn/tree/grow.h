#ifndef LEARN_TREE_GROW_H
#define LEARN_TREE_GROW_H

#include "base/arena.h"
#include "base/prng.h"
#include "learn/learn_inside.h"
#include "learn/training_set.h"

/* What the trees of one forest grow on; made once, then shared by all threads
 * and never changed. Rows of weight 0 are gone, and a missing value has become
 * a number below its column's least, so that growing meets no NaN.
 *
 * Columns lie in blocks of FT__BLOCK, rows of a block side by side, so that a
 * pass over some rows of a node treats FT__BLOCK columns at once:
 *
 *   block 0: row 0 {x0 .. x7}, row 1 {x0 .. x7}, ...   block 1: ...
 *
 * Columns that only fill up the last block are constant and so never split.
 * Targets and weights are scaled by powers of two (no digit is lost) to at
 * most 1 in size, so that float sums can neither overflow nor vanish. */
enum { FT__BLOCK = 8 };

typedef struct ft__tree_training {
    ft__arena room;
    uint32_t n_rows, n_cols;
    float *x;
    float *least; /* smallest present value of each column */
    double *y, *w;
    int y_exp;    /* a target is y * 2^y_exp */
    ft__key *key; /* unless FT_FOREST_EXTRA: n_rows per column, ascending */
} ft__tree_training;

static inline float *ft__train_at(const ft__tree_training *d, uint32_t col,
                                  uint32_t row)
{
    return &d->x[((size_t)(col / FT__BLOCK) * d->n_rows + row) * FT__BLOCK +
                 col % FT__BLOCK];
}

/* What was given, checked and prepared. */
ft_status ft__train_new(ft__tree_training **out, const ft__matrix *x, const double *y,
                        const double *weights, ft__forest_kind kind, ft_error *err);
void ft__train_free(ft__tree_training *d);

/* Grows trees one after the other; belongs to one thread. */
typedef struct ft__grower ft__grower;

/* `opt` has no defaults left (no zeros but max_depth). */
ft__grower *ft__grower_new(const ft__tree_training *d, const ft__forest_options *opt);
void ft__grower_free(ft__grower *g);
/* A tree on rows of weight w[d->n_rows]; borrowed until the next call. */
ft__tree ft__grow(ft__grower *g, const double *w, ft__prng rng);

#endif
