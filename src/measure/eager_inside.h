#ifndef MEASURE_EAGER_INSIDE_H
#define MEASURE_EAGER_INSIDE_H

#include "base/arena.h"
#include "graph/graph_inside.h"
#include "measure/eager.h"

/* What the two files of ft__eager share.
 *
 *   cells     one per tensor of the graph: its value now, or NULL
 *   a node    points at the cells it takes and gives; what its block wants and the
 *             graph does not have (weights of a list of operations) are values of
 *             the node's own
 *   drops     per node, the tensors whose last use it is
 *
 * Inputs, weights and states are made once. Gradients of weights stay until the next
 * pass begins, as after zero_grad(set_to_none=True); all others go with their last
 * use, or at the end of the pass where they are results of the network. */

enum { FT__EAGER_OPERANDS = 2 * FT_OP_MAX_OPERANDS }; /* of one node, each way */

typedef struct ft__eager_step {
    ft_block *block; /* NULL: nothing is run */
    void ***in;      /* cells; NULL: no operand */
    void ***out;     /* cells; NULL: dropped at once */
    uint32_t n_in, n_out;
    uint64_t repeat;
    uint32_t first_drop; /* in drops[] */
    uint32_t n_drops;
} ft__eager_step;

/* Values that belong to one node. */
typedef struct ft__eager_own {
    struct ft__eager_own *next;
    void *value;
} ft__eager_own;

struct ft__eager {
    ft__arena arena;
    ft_session *session;
    const ft_graph *graph;
    void **cell;    /* per tensor */
    ft_shape *made; /* per tensor that stays: the shape its cell was made with */
    uint32_t *last; /* per tensor: the last node that uses it; FT_NONE: it stays */
    int64_t *limit; /* per tensor: of whole numbers */
    ft__eager_step *step;
    uint32_t *drops;
    ft__eager_own *own;
    ft__eager_bytes bytes;
};

static inline bool ft__eager_stays(const ft__eager *e, uint32_t tensor)
{
    return e->graph->tensor[tensor].producer == FT_NONE;
}

/* A node on its way to a step. */
typedef struct ft__eager_binding {
    ft__eager *e;
    const ft_node *n;
    const ft_op *op;
    void **in[FT__EAGER_OPERANDS], **out[FT__EAGER_OPERANDS];
    uint32_t n_in, n_out;
} ft__eager_binding;

/* Whole numbers that become indices stay in range, through what only moves them. */
void ft__eager_find_limits(ft__eager *e);
/* Of what a forward node keeps for its backward one, or a view of it: the tensor in
 * whose cell that lies, the first behind the node's results. FT_NONE: `tensor` is
 * nothing kept. */
uint32_t ft__eager_kept_for(const ft_graph *g, uint32_t tensor);
/* The operation that is run for a node: its own, but for the first gradient. */
ft_op ft__eager_op(const ft_node *n, const ft_op *op);
/* Cells of what the node takes and gives; makes inputs, weights and states. */
ft_status ft__eager_bind(ft__eager_binding *b, ft_error *err);

#endif
