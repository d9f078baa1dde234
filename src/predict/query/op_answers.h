#ifndef PREDICT_QUERY_OP_ANSWERS_H
#define PREDICT_QUERY_OP_ANSWERS_H

#include "predict/query/op_query.h"

/* What operations were answered, of one device under one setting: the next step of a
 * model has most of the operations of the one before. As many as there is room for, the
 * newest. Not for two threads at once. */
typedef struct ft__op_answered {
    bool powered;     /* power was learned */
    ft__op_task task; /* but its count */
    ft_estimate estimate[FT__OP_ESTIMATES];
} ft__op_answered;

/* Of an operation in a network that runs as `phase`; NULL: it is not known. */
const ft__op_answered *ft__op_answers_find(const ft__op_answers *a, const ft_op *op,
                                           ft_phase phase);
/* To be filled, of one that is not known. */
ft__op_answered *ft__op_answers_add(ft__op_answers *a, const ft_op *op, ft_phase phase);

#endif
