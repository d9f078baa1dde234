#ifndef GRAPH_GRAPH_INSIDE_H
#define GRAPH_GRAPH_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "foretell/graph.h"

/* What was found out about a graph, which never changes: asked of many devices, it is
 * counted once. Whoever is first writes, while others count themselves. */
enum { FT__FOUND_NOTHING, FT__FOUND_WRITING, FT__FOUND };
typedef struct ft__graph_found {
    atomic_int memory_state, totals_state;
    uint32_t memory_bits; /* policy of the first question */
    ft_memory memory;
    ft_totals totals;
} ft__graph_found;
/* NULL: g is not what a builder made. A copy is not: it may have other nodes. */
ft__graph_found *ft__graph_found_of(const ft_graph *g);
static inline bool ft__found_is(atomic_int *state)
{
    return atomic_load_explicit(state, memory_order_acquire) == FT__FOUND;
}
/* True: the caller writes, and is done. */
static inline bool ft__found_first(atomic_int *state)
{
    int nothing = FT__FOUND_NOTHING;

    return atomic_compare_exchange_strong(state, &nothing, FT__FOUND_WRITING);
}
static inline void ft__found_done(atomic_int *state)
{
    atomic_store_explicit(state, FT__FOUND, memory_order_release);
}

/* The same network with everything of that type cast to `to`, as model.to(dtype) does
 * it; what has another type (indices, masks, quantised weights) stays. FT_EINVAL:
 * either of them is none of fp64, fp32, fp16, bf16. */
ft_status ft__graph_cast(ft_graph **out, const ft_graph *g, ft_dtype to, ft_error *err);
/* What is of one type alone, whichever the network's is; of one operation. */
ft_status ft__graph_cast_from(ft_graph **out, const ft_graph *g, ft_dtype from,
                              ft_dtype to, ft_error *err);
ft_op ft__op_cast(const ft_op *of, ft_dtype from, ft_dtype to);
/* The same network behind copies of its inputs to where a CUDA graph reads them, and of
 * its weights, too. */
ft_status ft__graph_copy_inputs(ft_graph **out, const ft_graph *g, bool weights,
                                ft_error *err);
/* A network, not a list, whose forward pass changes statistics that its batch norms
 * keep: it was exported in training mode. */
bool ft__graph_keeps_statistics(const ft_graph *g);
/* A network, not a list, with recurrent layers. */
bool ft__graph_is_recurrent(const ft_graph *g);
/* A copy writes into an input and stays there: the keys and values of a step of
 * generation. */
bool ft__graph_writes_inputs(const ft_graph *g);
/* A network in fp32 as torch.autocast runs it with `narrow`, fp16 or bf16; what has
 * another type stays. Of a list of operations weights and what is computed in fp32 are
 * cast. FT_EINVAL: g holds its backward pass. */
ft_status ft__graph_amp(ft_graph **out, const ft_graph *g, ft_dtype narrow,
                        ft_error *err);
/* A new graph as an engine with this policy executes it. */
ft_status ft__graph_lower(ft_graph **out, const ft_graph *g, uint32_t policy,
                          ft_error *err);
/* Would FT_POLICY_STRIDED_VIEWS change nothing? All tensors lie in plain order, and so
 * do their views. */
bool ft__graph_is_plain(const ft_graph *g);
/* A list of operations: nothing is said to be the result. */
bool ft__graph_is_list(const ft_graph *g);
/* The same for one operation that stands alone (a spec list, a sample). */
void ft__op_lower(ft_op *op, uint32_t policy);
/* The type in which most of the arithmetic is done. */
ft_dtype ft__graph_dtype(const ft_graph *g);
/* One training step from a forward graph: forward (norms with statistics of the
 * batch), loss over the first floating result, backward with gradients of every
 * trainable weight, optimizer. Where no weight is marked as trainable, layers'
 * weights and constants that look like parameters are, and the graph says so.
 * A graph that already holds its backward pass gets the optimizer only; of a list
 * of operations each is differentiated alone.
 * FT_EINVAL: nothing to train, or the result has no gradient (says which). */
ft_status ft__graph_train(ft_graph **out, const ft_graph *g, const ft_step_options *opt,
                          ft_error *err);
/* What ft_memory_make() counts, at every node: part[n_nodes + 1], zero to begin. */
ft_status ft__memory_over(uint64_t (*part)[FT_PART_COUNT], const ft_graph *g,
                          const ft_memory_policy *policy, ft_error *err);

#endif
