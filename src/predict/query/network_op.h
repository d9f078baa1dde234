#ifndef PREDICT_QUERY_NETWORK_OP_H
#define PREDICT_QUERY_NETWORK_OP_H

#include "predict/query/estimate.h"
#include "predict/query/query_context.h"

/* What power errs by where only specifications say what is drawn, 90 % of the logarithm
 * (docs/power.md). */
#define FT__POWER_FROM_SPECIFICATION 0.35

/* Was power measured on the device, and not in loops that its sensor saw in part? */
bool ft__knows_steady_power(const ft__query_context *q);
/* What host and device need for operation i, and what it takes the device; of what a
 * compiler leaves of it. */
void ft__network_op_task(ft__op_task *task, ft_estimate *device, ft__query_context *q,
                         uint32_t i);
/* The same, and op_device[i], op_time[i], op_power[i] and op_energy[i] of it alone. */
void ft__network_op(ft__network_estimate *out, ft__op_task *task, ft__query_context *q,
                    uint32_t i);
/* Sensors show no more than 1.03 of the cap that holds. */
static inline void ft__keep_under(ft_estimate *power, double cap_w)
{
    power->high = fmin(power->high, fmax(power->value, 1.03 * cap_w));
}

#endif
