#ifndef MEASURE_EAGER_H
#define MEASURE_EAGER_H

#include "measure/session.h"

/* A network on an engine that holds values, run as eager code runs it: results are
 * made as operations run and dropped at their last use, views are the engine's,
 * parameters are written in place. The graph is as imported, or a training step
 * made from that; it must outlive this. */
typedef struct ft__eager ft__eager;

/* Bytes that were made, by part; of activations, which come and go, the most there
 * are at once. */
typedef struct ft__eager_bytes {
    uint64_t weights; /* inputs too: they are there throughout */
    uint64_t gradients, states, activations;
} ft__eager_bytes;

/* Made ready, measured pass by pass, with the bytes of its parts; what the engine holds
 * beyond what is counted is scratch of its kernels. Failures as of ft__eager_make(). */
ft_status ft__eager_measure(ft_network_timing *out, ft_session *s, const ft_graph *g,
                            const ft_measure_options *opt, ft_error *err);

/* FT_EUNSUPPORTED: a node that the engine does not run, or that lacks operands. */
ft_status ft__eager_make(ft__eager **out, ft_session *s, const ft_graph *g,
                         ft_error *err);
ft_status ft__eager_run(ft__eager *e, ft_error *err);
void ft__eager_free(ft__eager *e);

#endif
