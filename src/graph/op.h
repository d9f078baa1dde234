#ifndef GRAPH_OP_H
#define GRAPH_OP_H

#include "foretell/op.h"

/* Elements of all weights of an operation (ft_cost.weight_elements). */
double ft__weight_elements(const ft_op *op);
/* Of those that training changes: without the statistics of a batch norm. */
double ft__trained_elements(const ft_op *op);
double ft__kernel_volume(const ft_op *op);
double ft__last_dim(const ft_op *op, ft_key_id key);

/* ---- flops.c ---- */
double ft__flops(const ft_op *op);
double ft__transcendentals(const ft_op *op);

#endif
