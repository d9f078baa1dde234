#ifndef PREDICT_QUERY_OP_LIST_H
#define PREDICT_QUERY_OP_LIST_H

#include "foretell/graph.h"

/* A graph of these operations, in their order: one node each. */
ft_status ft__op_list(ft_graph **out, const ft_op *const *op, uint32_t n,
                      ft_error *err);

#endif
