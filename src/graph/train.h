#ifndef GRAPH_TRAIN_H
#define GRAPH_TRAIN_H

#include "base/arena.h"
#include "graph/build.h"

/* Deriving a training step. The new graph begins with all tensors of the source
 * under their old numbers; what the step adds comes behind them. */
typedef struct ft__train {
    ft__arena room; /* of what is kept per tensor or node of the source */
    const ft_graph *src;
    ft__build *b;
    uint8_t *needs;    /* per source tensor: a trained weight lies behind it */
    uint8_t *reached;  /* per source tensor: the loss lies behind it */
    uint32_t *grad;    /* per source tensor: its gradient so far, FT_NONE: none yet */
    uint32_t *kept;    /* per source node: the first tensor it saves beside operands
                          and results, FT_NONE: none */
    uint8_t *n_kept;   /* per source node: how many such tensors */
    uint16_t *holders; /* per tensor of the new graph, where it is a storage: how many
                          elements of grad[] lie in it */
    uint32_t cap_holders;
    struct {
        uint32_t tensor, g;
    } given[FT_OP_MAX_OPERANDS + 8]; /* by the node at work */
    uint32_t n_given;
    uint32_t scalar; /* a constant of one element, FT_NONE: not made yet */
    const char *at;  /* name of the source node whose gradient is being made */
    uint32_t n_generic;
} ft__train;

/* Gradients are wanted for this tensor of the source. */
static inline bool ft__train_wants(const ft__train *t, uint32_t tensor)
{
    return t->needs[tensor] && t->reached[tensor];
}
static inline bool ft__dtype_is_real(ft_dtype t)
{
    return t == FT_DTYPE_fp32 || t == FT_DTYPE_fp64 || t == FT_DTYPE_fp16 ||
           t == FT_DTYPE_bf16;
}
/* A weight that can be trained: floating and no view of another one. */
static inline bool ft__train_is_parameter(const ft_tensor *t)
{
    return t->role == FT_ROLE_WEIGHT && t->producer == FT_NONE &&
           ft__dtype_is_real(t->dtype);
}

/* Appends the losses of the results, their sum, and gives the results gradients. */
void ft__train_loss(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss);

/* Whether the gradient of a result goes on to operand i of an operation. */
bool ft__train_passes(const ft_op *op, uint32_t i);
/* Appends the losses of these results, their sum, and the nodes of the backward pass.
 * n 0: the source is a list of operations, each of which gets gradients from outside.
 */
void ft__train_backward(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss);

#endif
