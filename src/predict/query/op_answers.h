#ifndef PREDICT_QUERY_OP_ANSWERS_H
#define PREDICT_QUERY_OP_ANSWERS_H

#include "predict/query/op_query.h"

/* What operations were answered, of one device under one setting: the next step of a
 * model has most of the operations of the one before. As many as there is room for, the
 * newest. Not for two threads at once. */
enum { FT__OP_ESTIMATES = 6 }; /* op_time[] and what follows it */
typedef struct ft__op_answer_slot {
    bool taken;
    bool powered;   /* power was learned */
    ft_phase phase; /* the network ran as */
    ft_op op;
    ft__op_task task; /* but its count */
    ft_estimate estimate[FT__OP_ESTIMATES];
} ft__op_answer_slot;

/* Where op of a network that runs as `phase` is, or is to be. */
ft__op_answer_slot *ft__op_answers_at(ft_op_answers *a, const ft_op *op,
                                      ft_phase phase);

#endif
