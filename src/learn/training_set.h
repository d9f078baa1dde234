#ifndef LEARN_TRAINING_SET_H
#define LEARN_TRAINING_SET_H

#include "learn/model.h"

/* Check what a method is to learn from. */
ft_status ft__train_check(const ft__matrix *x, const double *y, const double *weights,
                          ft_error *err);

/* A value of a row. */
typedef struct ft__key {
    float x;
    uint32_t row;
} ft__key;

/* By value, then by row. */
void ft__keys_sort(ft__key *k, size_t n);

/* A task's rows of weight above 0. */
typedef struct ft__training_set {
    uint32_t n_rows;
    double *y;   /* as given */
    double *w;   /* with mean 1 */
    double mean; /* of y, weighted */
    double sd;   /* of y; 1 when all are equal */
    /* Only from ft__training_set_new(): */
    uint32_t n_cols; /* those that change; may be 0 */
    ft__column *column;
    float *u; /* n_rows x n_cols, standardised */
} ft__training_set;

ft_status ft__training_set_new(ft__training_set *l, const ft__task *t, ft_error *err);
/* Without the columns. */
ft_status ft__training_set_targets(ft__training_set *l, const ft__task *t,
                                   ft_error *err);
void ft__training_set_free(ft__training_set *l);

#endif
