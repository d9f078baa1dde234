#ifndef GRAPH_OP_H
#define GRAPH_OP_H

#include "foretell/op.h"

/* Elements of all weights of an operation (ft_cost.weight_elements). */
double ft__weight_elements(const ft_op *op);

#endif
