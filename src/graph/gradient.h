#ifndef GRAPH_GRADIENT_H
#define GRAPH_GRADIENT_H

#include "graph/train.h"

/* Nodes of a backward pass have one result each, its tensor; FT_NONE: an operand is
 * FT_NONE, or the build failed. */

/* A tensor that the step makes, without a node. */
uint32_t ft__grad_tensor(ft__train *t, ft_dtype dtype, const ft_shape *shape);
/* shape NULL: what the operation gives. */
uint32_t ft__grad_node(ft__train *t, const ft_op *op, const uint32_t *in, uint32_t n_in,
                       const ft_shape *shape);
uint32_t ft__grad_unary(ft__train *t, ft_kind kind, uint32_t x);
/* y FT_NONE: a number in the code. */
uint32_t ft__grad_binary(ft__train *t, ft_kind kind, uint32_t x, uint32_t y);
/* One of x and y may be FT_NONE: a number in the code. */
uint32_t ft__grad_where(ft__train *t, uint32_t condition, uint32_t x, uint32_t y);
/* x itself where it is of that type. */
uint32_t ft__grad_cast(ft__train *t, uint32_t x, ft_dtype to);
/* One operand and the result's shape: pad, slice, expand and the like. */
uint32_t ft__grad_move(ft__train *t, ft_kind kind, uint32_t x, const ft_shape *shape);
/* x itself where it has that shape. */
uint32_t ft__grad_view(ft__train *t, uint32_t x, const ft_shape *shape);
uint32_t ft__grad_fill(ft__train *t, ft_dtype dtype, const ft_shape *shape);
/* x as the operand of this shape that broadcasting made it from. */
uint32_t ft__grad_sum_to(ft__train *t, uint32_t x, const ft_shape *shape);

/* Let g, of any shape that broadcasting gave it, be added to the gradient of a
 * tensor of the source when the node at work is done: until then its operands
 * must not change. Nothing where none is wanted. */
void ft__grad_give(ft__train *t, uint32_t tensor, uint32_t g);
/* Add up what was given so far. Sums over what was broadcast come before all additions.
 */
void ft__grad_take_given(ft__train *t);
/* g is the gradient of a tensor of the source, or is added to it. */
void ft__grad_take(ft__train *t, uint32_t tensor, uint32_t g);
/* The backward nodes of a source node are made: the gradients of its results are no
 * longer needed, and those that it gave are added up. */
void ft__grad_finish_node(ft__train *t, const ft_node *n);

#endif
