#ifndef MEASURE_NETWORK_H
#define MEASURE_NETWORK_H

#include "measure/session.h"

/* A network made ready to run: lowered, planned, every node prepared. */
typedef struct ft__network ft__network;

/* `policy`: how to lower; the engine's own, except where tests compare. */
ft_status ft__network_make(ft__network **out, ft_session *s, const ft_graph *g,
                           uint32_t policy, ft_error *err);
/* One pass; issued, not waited for. */
ft_status ft__network_run(ft__network *n, ft_error *err);
void ft__network_free(ft__network *n);

const ft_graph *ft__network_graph(const ft__network *n); /* lowered */
/* Where an activation or constant operand of the lowered graph lies; NULL for
 * weights that the engine keeps. */
void *ft__network_value(const ft__network *n, uint32_t tensor);

#endif
