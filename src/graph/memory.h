#ifndef GRAPH_MEMORY_H
#define GRAPH_MEMORY_H

#include "graph/plan.h"

/* Let tensors live as long as Python holds them: what is passed to a module is
 * held by its caller until the call returns (nodes' scopes tell the calls), and a
 * concatenation that is passed on until the call that made it returns. Only
 * nodes of the forward phase are looked at. */
ft_status ft__hold_frames(ft__life *life, const ft_graph *g, ft_error *err);

/* What PyTorch's CPU kernels allocate besides operands and results (oneDNN 3,
 * MKL, one thread): docs/memory.md tells how it was found. */
typedef struct ft__scratch {
    /* Most bytes alive at once inside the operation, less its results. */
    uint64_t bytes;
    /* Attention with dropout, or with a mask that is trained, goes by way of its
     * weights, of this size; 0: the operation is no such one. */
    uint64_t attention;
    /* A buffer of matrix products that is kept and used again by all that fit; 0:
     * the operation needs none. */
    uint64_t buffer;
} ft__scratch;

/* policy: FT_POLICY_MKL_AVX2 counts. */
ft__scratch ft__scratch_of(const ft_op *op, uint32_t policy);

#endif
