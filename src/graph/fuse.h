#ifndef GRAPH_FUSE_H
#define GRAPH_FUSE_H

#include "foretell/graph.h"

/* What a compiler that fuses operations, as torch.compile's Inductor does, leaves of a
 * unique operation, on average over its nodes, as shares of what it is by itself. */
typedef struct ft__fused {
    double moved;    /* of the bytes it reads and writes, and of its time with them */
    double launched; /* of a library's launches */
    double biased;   /* convolutions: nodes whose bias the kernel that follows adds */
    /* Convolutions of images, where their channels are laid last: nodes whose operand,
     * or result, is copied into that layout, or out of it, by a kernel of its own; */
    double copied_in, copied_out;
    double laid_last; /* nodes whose result lies so: such convolutions, what is
                         generated behind them */
    double generated; /* kernels of the compiler's own;
                         ft__query_context_compile() adds those copies to them */
} ft__fused;

/* For every unique operation of g; *out is the caller's to free. Elementwise
 * operations, norms, softmax, reductions and moves in a row become one kernel: what
 * they hand to each other stays in registers, what several of them read is read once.
 * Products and convolutions stay a library's, but biases of the latter do not. Lists
 * of operations have no tensors: all shares are 1, and nothing is copied.
 */
ft_status ft__graph_fuse(ft__fused **out, const ft_graph *g, ft_error *err);

#endif
