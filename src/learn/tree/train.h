#ifndef LEARN_TREE_TRAIN_H
#define LEARN_TREE_TRAIN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/prng.h"
#include "learn/learn_inside.h"
#include "learn/tree/forest.h"

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

typedef struct ft__key {
    float x;
    uint32_t row;
} ft__key;

/* By value, then by row. */
void ft__keys_sort(ft__key *k, size_t n);

typedef struct ft__tree_training {
    ft__arena room;
    uint32_t n_rows;
    uint32_t n_cols;
    float *x;
    float *least; /* smallest present value of each column */
    double *y;
    double *w;
    int y_exp;    /* a target is y * 2^y_exp */
    ft__key *key; /* unless FT_FOREST_EXTRA: n_rows per column, ascending */
} ft__tree_training;

static inline float *ft__train_at(const ft__tree_training *d, uint32_t col,
                                  uint32_t row)
{
    return &d->x[((size_t)(col / FT__BLOCK) * d->n_rows + row) * FT__BLOCK +
                 col % FT__BLOCK];
}

/* Check what ft__forest_fit() was given. */
ft_status ft__train_check(const ft_matrix *x, const double *y, const double *weights,
                          ft_error *err);
/* Check it and prepare it. */
ft_status ft__train_new(ft__tree_training **out, const ft_matrix *x, const double *y,
                        const double *weights, ft_forest_kind kind, ft_error *err);
void ft__train_free(ft__tree_training *d);

/* How the rows of a node are to be parted: those above `cut` in `col` go
 * right. */
typedef struct ft__split {
    uint32_t col;
    float cut;
    uint32_t n_left; /* set by `split` or, at the latest, by `part` */
} ft__split;

/* One node's rows, weighted. */
typedef struct ft__sums {
    double w;
    double mean;
    bool pure; /* all targets are equal */
} ft__sums;

/* How splits are found: the one thing in which the two kinds of trees differ.
 * A splitter keeps the rows of its tree in such an order that every node is a
 * range at .. at + n - 1, and lends itself to one thread. */
typedef struct ft__splitter ft__splitter;

typedef struct ft__splitter_ops {
    ft__splitter *(*open)(const ft__tree_training *d); /* NULL: no memory */
    void (*close)(ft__splitter *s);
    /* Begin a tree on the rows of weight above 0; how many there are. */
    uint32_t (*start)(ft__splitter *s, const double *w);
    ft__sums (*sums)(ft__splitter *s, uint32_t at, uint32_t n);
    /* The best split among n_try columns drawn at random, false: there is
     * none. Called after sums() for the same node. */
    bool (*split)(ft__splitter *s, uint32_t at, uint32_t n, const ft__sums *sums,
                  uint32_t n_try, uint32_t min_leaf, ft__prng *rng, ft__split *out);
    void (*part)(ft__splitter *s, uint32_t at, uint32_t n, ft__split *split);
} ft__splitter_ops;

extern const ft__splitter_ops ft__split_random; /* one random cut per column */
extern const ft__splitter_ops ft__split_best;   /* every cut of every column */

/* Reduction of the squared error by a split, up to a constant factor, where
 * `s` is the weighted sum of (y - mean) on one side, of weight w out of `all`;
 * less than 0: no split. */
static inline double ft__gain(double s, double w, double all)
{
    return w > 0 && w < all ? s * s / (w * (all - w)) : -1;
}

/* Grows trees one after the other; belongs to one thread. */
typedef struct ft__grower ft__grower;

/* `opt` has no defaults left (no zeros but max_depth). */
ft__grower *ft__grower_new(const ft__tree_training *d, const ft_forest_options *opt);
void ft__grower_free(ft__grower *g);
/* A tree on rows of weight w[d->n_rows]; borrowed until the next call. */
ft__tree ft__grow(ft__grower *g, const double *w, ft__prng rng);

#endif
