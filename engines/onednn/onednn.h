#ifndef ONEDNN_H
#define ONEDNN_H

#include <stddef.h>

#include "dnnl2.h"
#include "foretell/engine.h"
#include "kernels.h"
#include "nest.h"
#include "tensor.h"

struct ft_engine_context {
    uint32_t threads;
    uint64_t seed;
    ft__dnnl dnnl;
    const ft__kernels *kernels;
};

enum { FT__MAX_PARAMS = 4 };

typedef dnnl_status_t ft__run_fn(ft_block *b, const ft__call *call);

/* A prepared operation: either one oneDNN primitive (prim), or one of our own
 * loops (run) with its plan, which preparing functions fill in; weights are loaded
 * afterwards. */
struct ft_block {
    ft_engine_context *ctx;
    ft_op op;
    ft__tensor x, y; /* its first operand, its first result */
    uint32_t instances, n_params;
    ft__run_fn *run;
    ft__prim *prim;
    void *plan;
    void (*free_plan)(void *plan); /* NULL: free() will do */
    ft_block *inner;               /* of a wrapped one: has the weights; in plan */
    float *weights;                /* of own loops: instances x weight_floats */
    uint64_t weight_floats;
    uint64_t weight_at[FT__MAX_PARAMS]; /* of the parameters within an instance */
    uint64_t workspace_bytes;
    char implementation[64];
};

/* How a kind is prepared. FT_EUNSUPPORTED goes out through ft__unsupported(). */
typedef ft_status ft__prepare_fn(ft_block *b, ft_error *err);

ft__prepare_fn ft__prepare_conv, ft__prepare_linear, ft__prepare_matmul,
    ft__prepare_pool, ft__prepare_global_pool, ft__prepare_batchnorm,
    ft__prepare_layernorm, ft__prepare_rmsnorm, ft__prepare_groupnorm, ft__prepare_lrn,
    ft__prepare_l2norm, ft__prepare_softmax, ft__prepare_unary, ft__prepare_cast,
    ft__prepare_binary, ft__prepare_where, ft__prepare_reduce, ft__prepare_arg,
    ft__prepare_cumsum, ft__prepare_transpose, ft__prepare_concat, ft__prepare_split,
    ft__prepare_slice, ft__prepare_pad, ft__prepare_expand, ft__prepare_tile,
    ft__prepare_blocks, ft__prepare_resize, ft__prepare_gather, ft__prepare_embedding,
    ft__prepare_copy, ft__prepare_fill;

/* Prepare b->op as it stands: a kind that knows only plain memory is wrapped in
 * transposes when the layout is another. */
ft_status ft__prepare(ft_block *b, ft_error *err);
ft_status ft__prepare_wrapped(ft_block *b, ft_error *err);
/* Weights from params (NULL: random ones). */
ft_status ft__load_weights(ft_block *b, const float *const *params, ft_error *err);
/* Of one instance, as stored. */
uint64_t ft__weight_bytes(const ft_block *b);
/* Leaves b itself, which the wrapper embeds. */
void ft__block_clear(ft_block *b);

/* "onednn: cannot run SPEC: why". */
FT_PRINTF(3, 4)
ft_status ft__unsupported(const ft_block *b, ft_error *err, const char *why, ...);
ft_status ft__no_memory(const ft_block *b, ft_error *err);
/* What a call of oneDNN answered, as a status of ours. */
ft_status ft__checked(const ft_block *b, dnnl_status_t s, ft_error *err);
/* Zeroed room for the plan; NULL with FT_ENOMEM. */
void *ft__new_plan(ft_block *b, size_t bytes, ft_error *err);
/* The block runs b->prim, whose making had this status, or our own loops. */
ft_status ft__use_prim(ft_block *b, dnnl_status_t made, ft_error *err);
/* Only if oneDNN has a fast kernel; false: b->prim is gone again. */
bool ft__use_fast_prim(ft_block *b, dnnl_status_t made);
void ft__use_loops(ft_block *b, ft__run_fn *run);
/* The weights of one instance of own loops: parameter k. */
const float *ft__weights(const ft_block *b, uint32_t instance, uint32_t k);

/* Copy between two places and orders: rows where they are contiguous in both,
 * else a reorder of oneDNN. */
typedef struct ft__copy {
    ft__nest nest;
    ft__row_fn *row;
    ft__prim *reorder; /* NULL: the nest */
} ft__copy;

/* Extents must agree; a stride of 0 in `from` repeats. *scratch grows to what
 * running needs. */
ft_status ft__copy_init(ft__copy *c, ft_block *b, const ft__tensor *from,
                        const ft__tensor *to, uint64_t *scratch, ft_error *err);
dnnl_status_t ft__copy_run(const ft__copy *c, const ft_block *b, const void *from,
                           void *to, void *scratch);
void ft__copy_clear(ft__copy *c);

static inline uint64_t ft__align(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

#endif
