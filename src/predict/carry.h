#ifndef PREDICT_CARRY_H
#define PREDICT_CARRY_H

#include "foretell/op.h"

/* What an operation was measured to take on one device, carried to another:
 *
 *   value there = estimate there x (value here / estimate here)^weight
 *
 * where the estimates are of one kind (ft__physics() with the constants of each
 * dataset): what they miss of an operation, its algorithm first of all, they miss on
 * both devices. */
typedef struct ft__carry ft__carry;

typedef struct ft__carry_row {
    const ft_op *op;
    double value;    /* measured; s, W, whatever the estimate is in */
    double estimate; /* of it */
} ft__carry_row;

/* Rows of one operation count as their geometric mean; rows whose numbers are not
 * positive and finite are left out. FT_ENOMEM. */
ft_status ft__carry_make(ft__carry **out, const ft__carry_row *row, size_t n,
                         ft_error *err);
void ft__carry_free(ft__carry *c);
/* log(value / estimate) of an operation; NaN: it was not measured. */
double ft__carry_ratio(const ft__carry *c, const ft_op *op);
/* How much of what is missed here is missed there, 0 to 1: the slope through the origin
 * over the operations that both datasets hold; 1 where they hold fewer than 20. Found
 * on two known devices, to be used for a third. */
double ft__carry_weight(const ft__carry *from, const ft__carry *to);

#endif
