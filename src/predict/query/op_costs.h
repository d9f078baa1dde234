#ifndef PREDICT_QUERY_OP_COSTS_H
#define PREDICT_QUERY_OP_COSTS_H

#include "predict/query/network.h"

/* Many networks, each a list of operations as ft_import_ops() reads it. */
/* One device, one setting. What operations take is remembered from list to list:
 * generated networks have most of theirs in common. Not for two threads at once. */
typedef struct ft_pricer ft_pricer;
/* p: a family, or NULL: specifications; on->known is not looked at. All that *on points
 * to outlives the pricer. */
ft_status ft_pricer_new(ft_pricer **out, const ft_predictor *p, const ft_device_use *on,
                        ft_error *err);
/* *on says what it said when the pricer was made; its texts are borrowed from now on.
 */
void ft_pricer_reuse(ft_pricer *p, const ft_device_use *on);
void ft_pricer_free(ft_pricer *p);
typedef struct ft_listed {
    const char *text;
    size_t len;
    ft_brief brief;
    ft_status status; /* of this list; then all of brief is NaN */
    char why[240];
} ft_listed;
/* Fills brief, status and why of n lists: bit for bit what ft_predict_network() or
 * ft_predict_network() says of each, lowered with FT_POLICY_STRIDED_VIEWS.
 * Fails on what is wrong with all of them alone. */
ft_status ft_pricer_price(ft_pricer *p, ft_listed *list, size_t n, ft_error *err);

#endif
