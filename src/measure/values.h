#ifndef MEASURE_VALUES_H
#define MEASURE_VALUES_H

#include "foretell/graph.h"
#include "measure/session.h"

/* Tensors of an engine that holds them itself (ft_engine.values). */

/* What a value is filled with: v scale + offset for v in [-1, 1), whole numbers and
 * conditions in [0, limit). */
typedef struct ft__filling {
    double scale, offset;
    int64_t limit;
    uint64_t seed;
} ft__filling;

ft_status ft__value_make(ft_session *s, void **out, const ft_shape *shape,
                         ft_dtype dtype, ft_layout layout, const ft__filling *with,
                         ft_error *err);
void ft__value_drop(ft_session *s, void **value); /* and sets it to NULL */

/* The seed of a tensor's values: the same however its graph was lowered. */
uint64_t ft__tensor_seed(const ft_session *s, const ft_tensor *t);

/* How weight i of an operation is filled: products keep the size of their operands,
 * scales and variances lie about 1. */
ft__filling ft__weight_filling(const ft_op *op, uint32_t i, uint64_t seed);

/* Numbers an optimizer keeps for each one of a parameter. */
uint32_t ft__optimizer_states(ft_kind kind);

/* Values an operand may hold: [0, limit) for indices, 2 for conditions. */
int64_t ft__operand_limit(const ft_op *op, uint32_t operand);

#endif
