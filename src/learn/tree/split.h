#ifndef LEARN_TREE_SPLIT_H
#define LEARN_TREE_SPLIT_H

#include "learn/tree/grow.h"

/* How the rows of a node are to be parted: those above `cut` in `col` go
 * right. */
typedef struct ft__split {
    uint32_t col;
    float cut;
    uint32_t n_left; /* set by `split` or, at the latest, by `part` */
} ft__split;

/* One node's rows, weighted. */
typedef struct ft__sums {
    double w, mean;
    bool pure; /* all targets are equal */
} ft__sums;

/* How splits are found: the one thing in which the two kinds of trees differ.
 * A splitter, which only its functions look into, keeps the rows of its tree in such an
 * order that every node is a range at .. at + n - 1, and lends itself to one thread. */
typedef struct ft__splitter_ops {
    void *(*open)(const ft__tree_training *d); /* NULL: no memory */
    void (*close)(void *s);
    /* Begin a tree on the rows of weight above 0; how many there are. */
    uint32_t (*start)(void *s, const double *w);
    ft__sums (*sums)(void *s, uint32_t at, uint32_t n);
    /* The best split among n_try columns drawn at random, false: there is
     * none. Called after sums() for the same node. */
    bool (*split)(void *s, uint32_t at, uint32_t n, const ft__sums *sums,
                  uint32_t n_try, uint32_t min_leaf, ft__prng *rng, ft__split *out);
    void (*part)(void *s, uint32_t at, uint32_t n, ft__split *split);
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

/* The inner loops of growing. Each set of them gives the same bits: every sum is formed
 * in the order of its rows. */

/* One row's share of a node's sums. */
typedef struct ft__row_sum {
    double y; /* w * (y - mean of the node) */
    double w;
} ft__row_sum;

/* A column's rows in ascending order, and the best cut found between two that differ:
 * its gain, less than 0 when there is none, and the rows to its left. */
typedef struct ft__cut {
    const ft__key *key;
    double gain;
    uint32_t n_left;
} ft__cut;

enum {
    FT__RUN = 64,  /* rows summed in float before they join a double */
    FT__SPARE = 8, /* keys and flags that part() may touch behind the last */
};

typedef struct ft__kernels {
    /* Least and greatest value of each column, over n rows; whole blocks. */
    void (*ranges)(const ft__tree_training *d, const uint32_t *row, uint32_t n,
                   float *lo, float *hi);
    /* What parting the rows at each column's cut gains (ft__gain), as float; yw: of
     * each row w * (y - mean) and w, `all` the sum of w. Whole blocks. */
    void (*gains)(const ft__tree_training *d, const uint32_t *row, uint32_t n,
                  const float *cut, const float *yw, double all, float *gain);
    /* The best cut of each column; sum[] by row. */
    void (*best_cuts)(ft__cut *cut, uint32_t n_cuts, uint32_t n, const ft__row_sum *sum,
                      double all, uint32_t min_leaf);
    /* Put keys whose row is right[] behind those whose row is not; both keep their
     * order. */
    void (*part)(ft__key *k, uint32_t n, const uint8_t *right, ft__key *spare);
} ft__kernels;

extern const ft__kernels ft__kernels_plain;
/* What this processor does best. */
const ft__kernels *ft__kernels_here(void);
/* With AVX-512; NULL: not on this processor. */
const ft__kernels *ft__kernels_avx512(void);

#endif
