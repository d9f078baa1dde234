#ifndef LEARN_VECTORS_H
#define LEARN_VECTORS_H

#include "learn/training_set.h"

/* Models that are a sum over vectors: mean + sd (sum of coef K(scale |v - u|^2) - rho),
 * where u is the row as its columns show it. */

/* A body: this, columns, n_blocks blocks of FT__LANES vectors: their coefficients, then
 * their values, column by column. */
typedef struct ft__vectors {
    double mean; /* of the target */
    double sd, scale, rho;
    uint32_t n_columns, n_blocks;
} ft__vectors;

enum { FT__LANES = 8 };

/* Write a body for n vectors; h->n_blocks is set here. The blocks are to be filled. */
ft_status ft__vectors_write(ft__draft *out, char **blocks, const ft__vectors *h,
                            const ft__column *c, uint32_t n, ft_error *err);
/* Vector i of the blocks: u[n_columns]. */
void ft__vectors_put(char *blocks, const ft__vectors *h, uint32_t i, double coef,
                     const float *u);
ft_status ft__vectors_open(ft__learn_model *m, ft_error *err);

/* scale |v - u|^2 of a block's vectors. */
static inline void ft__vectors_distances(double t[FT__LANES], const ft__vectors *h,
                                         const char *block, const float *u)
{
    const float *x = (const float *)(block + FT__LANES * sizeof(double));
    double d[FT__LANES] = {0};

    for (uint32_t j = 0; j < h->n_columns; j++, x += FT__LANES) {
        for (uint32_t i = 0; i < FT__LANES; i++) {
            const double off = (double)x[i] - (double)u[j];

            d[i] += off * off;
        }
    }
    for (uint32_t i = 0; i < FT__LANES; i++)
        t[i] = h->scale * d[i];
}

/* What a block adds to the sum, lane by lane, in registers that hold all lanes, to the
 * same bits; NULL: here none do. */
typedef void ft__wide_kernel(double t[FT__LANES], const ft__vectors *h,
                             const char *block, const float *u);
ft__wide_kernel *ft__wide_decay(void);
ft__wide_kernel *ft__wide_matern(void);

/* Of the distance's decay (a radial basis function) or Matern's of order 3/2. */
typedef enum ft__vectors_kernel {
    FT__KERNEL_DECAY,
    FT__KERNEL_MATERN
} ft__vectors_kernel;

/* What a model of this kernel says of n rows. */
void ft__vectors_predict(const ft__learn_model *m, const float *rows, size_t n,
                         double *out, ft__vectors_kernel kernel);

#endif
