#ifndef PREDICT_QUERY_NETWORKS_KNOWN_H
#define PREDICT_QUERY_NETWORKS_KNOWN_H

#include "predict/query/network.h"

/* Those of on->networks that have the engine, phase, element type and policy on TF32 of
 * what is asked, each predicted in its own setting and run mode: log(measured /
 * predicted) of time and of energy are linear in what a network's time is spent on.
 * Nothing of it depends on the setting asked for. */
typedef struct ft__known_networks ft__known_networks;

/* *out NULL: there are fewer than FT__LEAST_NETWORKS of different names. */
ft_status ft__known_networks_make(ft__known_networks **out, const ft_predictor *p,
                                  const ft__device_use *on, const ft_graph *g,
                                  ft_error *err);
/* *e, predicted of g. Intervals are what networks left out in turn are off by, and what
 * is left of e's own for parts that none has. k NULL changes nothing. */
void ft__known_networks_correct(const ft__known_networks *k, ft__network_estimate *e,
                                const ft__device_use *on, const ft_graph *g);
void ft__known_networks_free(ft__known_networks *k);

#endif
