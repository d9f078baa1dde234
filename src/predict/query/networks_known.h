#ifndef PREDICT_QUERY_NETWORKS_KNOWN_H
#define PREDICT_QUERY_NETWORKS_KNOWN_H

#include "predict/query/network.h"

/* Corrects *e, predicted of g on the device of on->networks, by those of them that have
 * its phase, element type and policy on TF32, each predicted in its own setting:
 * log(measured / predicted) of time and of energy are linear in what a network's time
 * is spent on. Intervals are what networks left out in turn are off by. Fewer than
 * FT__LEAST_NETWORKS of different names change nothing. */
ft_status ft__networks_known_correct(ft__network_estimate *e, const ft_predictor *p,
                                     const ft__device_use *on, const ft_graph *g,
                                     ft_error *err);

#endif
