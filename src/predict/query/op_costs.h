#ifndef PREDICT_QUERY_OP_COSTS_H
#define PREDICT_QUERY_OP_COSTS_H

#include "predict/query/network.h"

/* Many networks, each a list of operations as ft_import_ops() reads it. */
/* One device, one setting. What operations take is remembered from list to list:
 * generated networks have most of theirs in common. Not for two threads at once. */
typedef struct ft__op_costs ft__op_costs;
/* p: a family, or NULL: specifications; on->known is not looked at. All that *on points
 * to outlives the pricer. */
ft_status ft__op_costs_new(ft__op_costs **out, const ft_predictor *p,
                           const ft__device_use *on, ft_error *err);
/* *on says what it said when they were made; its texts are borrowed from now on.
 */
void ft__op_costs_reuse(ft__op_costs *p, const ft__device_use *on);
void ft__op_costs_free(ft__op_costs *p);
typedef struct ft__listed {
    const char *text;
    size_t len;
    ft_brief brief;
    ft_status status; /* of this list; then all of brief is NaN */
    char why[240];
} ft__listed;
/* Fills brief, status and why of n lists: bit for bit what ft__predict_network() or
 * ft__predict_network() says of each, lowered with FT_POLICY_STRIDED_VIEWS.
 * Fails on what is wrong with all of them alone. */
ft_status ft__op_costs_of_lists(ft__op_costs *p, ft__listed *list, size_t n,
                                ft_error *err);

/* A graph of these operations, in their order: one node each. */
ft_status ft__op_list(ft_graph **out, const ft_op *const *op, uint32_t n,
                      ft_error *err);

#endif
