#ifndef LEARN_TREE_KERNELS_H
#define LEARN_TREE_KERNELS_H

#include "learn/tree/train.h"

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
