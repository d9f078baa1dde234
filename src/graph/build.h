#ifndef GRAPH_BUILD_H
#define GRAPH_BUILD_H

#include <stdbool.h>

#include "foretell/graph.h"

/* Making a graph. Failure is sticky: after the first one every call returns
 * FT_NONE or does nothing, and ft__build_finish() reports it. */
typedef struct ft__build ft__build;

/* NULL when memory is short. */
ft__build *ft__build_new(const char *name);
void ft__build_free(ft__build *b);
/* Report a failure of the importer's own; the first one counts. */
FT_PRINTF(4, 5)
void ft__build_fail(ft__build *b, ft_status st, uint64_t pos, const char *fmt, ...);
bool ft__build_failed(const ft__build *b);

/* Names are copied. A tensor's producer and storage are set when a node or view
 * makes it; until then an ACTIVATION must not be read. */
uint32_t ft__build_tensor(ft__build *b, const char *name, size_t name_len, ft_role role,
                          ft_dtype dtype, const ft_shape *shape);
/* A tensor of that dtype, else like one of another graph; its storage is its own, and
 * it is neither trainable nor detached. */
uint32_t ft__build_like(ft__build *b, const ft_tensor *like, ft_dtype dtype);
/* Valid until the next ft__build_tensor(). */
const ft_tensor *ft__build_get(const ft__build *b, uint32_t tensor);
/* The next result of the network. */
void ft__build_output(ft__build *b, uint32_t tensor);
/* Dimensions that are bounds (ft_tensor.open); a weight that training changes. */
void ft__build_open(ft__build *b, uint32_t tensor, uint32_t open);
void ft__build_container(ft__build *b, uint32_t tensor, uint32_t container);
/* A view's result gets memory of its own. */
void ft__build_own_storage(ft__build *b, uint32_t tensor);
void ft__build_trainable(ft__build *b, uint32_t tensor);
void ft__build_detached(ft__build *b, uint32_t tensor);
void ft__build_role(ft__build *b, uint32_t tensor, ft_role role);
/* Let `tensor` lie in the memory of `of`: a view, or a result in place. */
void ft__build_alias(ft__build *b, uint32_t tensor, uint32_t of);

/* Append a node. ft__build_checked() trusts that the operation and the sizes of its
 * results were checked. n_in operands must equal ft_op_n_inputs(op) except for
 * generic operations; every operand made before; the shapes of `out` must be
 * those of ft_op_output(). A node of kind view shares its operand's storage.
 * Operations are interned: equal ones become one with a count. */
uint32_t ft__build_node(ft__build *b, const char *name, size_t name_len,
                        const ft_op *op, const uint32_t *in, uint32_t n_in,
                        const uint32_t *params, uint32_t n_params, const uint32_t *out,
                        uint32_t n_out);
/* The part of a training step that the nodes from now on belong to; forward
 * unless set otherwise. */
void ft__build_phase(ft__build *b, ft_phase phase);
uint32_t ft__build_checked(ft__build *b, const char *name, size_t name_len,
                           const ft_op *op, const uint32_t *in, uint32_t n_in,
                           const uint32_t *params, uint32_t n_params,
                           const uint32_t *out, uint32_t n_out);
/* The scope (ft_node.scope) of the nodes from now on; "" unless set otherwise. */
void ft__build_scope(ft__build *b, const char *scope, size_t len);
/* The phase and scope of a node of another graph. */
void ft__build_at(ft__build *b, const ft_node *n);
/* Such a node, checked there, with an operation and tensors of this one. */
void ft__build_again(ft__build *b, const ft_node *n, const ft_op *op,
                     const uint32_t *in, const uint32_t *out, uint32_t n_out);
/* The same for all nodes from `first` on, times what they have; nothing after a
 * failure, which a product beyond the limit is. */
void ft__build_repeat_from(ft__build *b, uint32_t first, uint64_t times);
/* What the nodes from `first` on cost. */
void ft__build_cost(const ft__build *b, uint32_t first, double *flops, double *bytes);

/* How far a graph has come, to take back what was made since. Tensors made since
 * must be forgotten by whoever knows them. */
typedef struct ft__build_mark {
    uint32_t n_tensors, n_nodes, n_ops, n_assumptions, n_bounded;
} ft__build_mark;
ft__build_mark ft__build_here(const ft__build *b);
void ft__build_rollback(ft__build *b, const ft__build_mark *mark);
/* What was made between two marks is a layer that stands for so many like it. */
void ft__build_stand_for(ft__build *b, const ft__build_mark *from,
                         const ft__build_mark *to, uint32_t layers);
/* Room for so many copies of what was made between two marks. */
void ft__build_reserve(ft__build *b, const ft__build_mark *from,
                       const ft__build_mark *to, uint32_t copies);
/* What was made between two marks once more: for what it read of the tensor `in` it
 * reads `instead`, and every `was` in its scopes is a `now`. Tensors get the numbers of
 * those copied, so much further on as there are tensors more than at `from`. */
void ft__build_copy(ft__build *b, const ft__build_mark *from, const ft__build_mark *to,
                    uint32_t in, uint32_t instead, const char *was, const char *now);

FT_PRINTF(2, 3) void ft__build_assume(ft__build *b, const char *fmt, ...);
/* It is one, whose sequences have so much context: how much they may have (0: nobody
 * knows), and an assumption where that is less. */
void ft__build_language_model(ft__build *b, int64_t positions, int64_t context);
FT_PRINTF(2, 3) void ft__build_bounded(ft__build *b, const char *fmt, ...);

/* The assumptions of another graph, and what it says is bounded. */
void ft__build_notes(ft__build *b, const ft_graph *g);
/* Takes the builder, whatever the outcome. Activations that nothing reads and
 * that are no outputs stay; they cost what making them costs. */
ft_status ft__build_finish_take(ft_graph **out, ft__build *b, ft_error *err);

#endif
