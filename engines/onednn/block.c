/* What all kinds share: the table of kinds, weights, copies, messages. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onednn.h"
#include "random.h"

static ft__prepare_fn *const prepares[FT_KIND_COUNT] = {
    [FT_KIND_conv1d] = ft__prepare_conv,
    [FT_KIND_conv2d] = ft__prepare_conv,
    [FT_KIND_conv3d] = ft__prepare_conv,
    [FT_KIND_conv_transpose1d] = ft__prepare_conv,
    [FT_KIND_conv_transpose2d] = ft__prepare_conv,
    [FT_KIND_conv_transpose3d] = ft__prepare_conv,
    [FT_KIND_linear] = ft__prepare_linear,
    [FT_KIND_matmul] = ft__prepare_matmul,
    [FT_KIND_maxpool1d] = ft__prepare_pool,
    [FT_KIND_maxpool2d] = ft__prepare_pool,
    [FT_KIND_maxpool3d] = ft__prepare_pool,
    [FT_KIND_avgpool1d] = ft__prepare_pool,
    [FT_KIND_avgpool2d] = ft__prepare_pool,
    [FT_KIND_avgpool3d] = ft__prepare_pool,
    [FT_KIND_global_avgpool] = ft__prepare_global_pool,
    [FT_KIND_global_maxpool] = ft__prepare_global_pool,
    [FT_KIND_batchnorm] = ft__prepare_batchnorm,
    [FT_KIND_layernorm] = ft__prepare_layernorm,
    [FT_KIND_rmsnorm] = ft__prepare_rmsnorm,
    [FT_KIND_groupnorm] = ft__prepare_groupnorm,
    [FT_KIND_instancenorm] = ft__prepare_groupnorm,
    [FT_KIND_lrn] = ft__prepare_lrn,
    [FT_KIND_l2norm] = ft__prepare_l2norm,
    [FT_KIND_softmax] = ft__prepare_softmax,
    [FT_KIND_logsoftmax] = ft__prepare_softmax,
    [FT_KIND_cast] = ft__prepare_cast,
    [FT_KIND_quantize] = ft__prepare_cast,
    [FT_KIND_dequantize] = ft__prepare_cast,
    [FT_KIND_where] = ft__prepare_where,
    [FT_KIND_argmax] = ft__prepare_arg,
    [FT_KIND_argmin] = ft__prepare_arg,
    [FT_KIND_cumsum] = ft__prepare_cumsum,
    [FT_KIND_transpose] = ft__prepare_transpose,
    [FT_KIND_concat] = ft__prepare_concat,
    [FT_KIND_split] = ft__prepare_split,
    [FT_KIND_slice] = ft__prepare_slice,
    [FT_KIND_pad] = ft__prepare_pad,
    [FT_KIND_expand] = ft__prepare_expand,
    [FT_KIND_tile] = ft__prepare_tile,
    [FT_KIND_resize] = ft__prepare_resize,
    [FT_KIND_depth_to_space] = ft__prepare_blocks,
    [FT_KIND_space_to_depth] = ft__prepare_blocks,
    [FT_KIND_gather] = ft__prepare_gather,
    [FT_KIND_embedding] = ft__prepare_embedding,
    [FT_KIND_copy] = ft__prepare_copy,
    [FT_KIND_fill] = ft__prepare_fill,
};

/* Kinds that work on plain memory and are wrapped in transposes where it lies
 * differently; with the others strides decide. */
static const bool plain_only[FT_KIND_COUNT] = {
    [FT_KIND_linear] = true,  [FT_KIND_matmul] = true, [FT_KIND_layernorm] = true,
    [FT_KIND_rmsnorm] = true, [FT_KIND_argmax] = true, [FT_KIND_argmin] = true,
    [FT_KIND_cumsum] = true,  [FT_KIND_gather] = true, [FT_KIND_embedding] = true,
};

static ft__prepare_fn *prepare_of(ft_kind k)
{
    if (prepares[k])
        return prepares[k];
    switch (ft_kind_class(k)) {
    case FT_CLASS_UNARY: return ft__prepare_unary;
    case FT_CLASS_BINARY: return ft__prepare_binary;
    case FT_CLASS_REDUCE: return ft__prepare_reduce;
    default: return NULL;
    }
}

static dnnl_status_t run_nothing(ft_block *b, const ft__call *call)
{
    (void)b, (void)call;
    return dnnl_success;
}

static bool has_results(const ft_op *op)
{
    for (uint32_t i = 0; i < ft_op_n_outputs(op); i++) {
        ft__tensor t = ft__tensor_out(op, i);

        if (ft__tensor_elements(&t) > 0)
            return true;
    }
    return false;
}

static bool has_bytes(ft_dtype t)
{
    uint32_t bits = ft_dtype_bits(t);

    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

ft_status ft__prepare(ft_block *b, ft_error *err)
{
    ft__prepare_fn *prepare = prepare_of(b->op.kind);

    if (!prepare)
        return ft__unsupported(b, err, "it is not implemented");
    if (ft_op_at(&b->op, FT_K_train, 0))
        return ft__unsupported(b, err, "training is not implemented");
    if (ft_op_at(&b->op, FT_K_to, 0) && prepare != ft__prepare_cast)
        return ft__unsupported(b, err, "results of another type are not implemented");
    if (ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, err, "weights of another type are not implemented");
    if (ft_op_at(&b->op, FT_K_order, 0))
        return ft__unsupported(b, err, "transposed operands are not implemented");
    if (!has_bytes(b->op.dtype))
        return ft__unsupported(b, err, "type %s is not implemented",
                               ft_dtype_name(b->op.dtype));
    if (!has_results(&b->op)) {
        ft__use_loops(b, run_nothing);
        return FT_OK;
    }
    b->n_params = ft_op_n_params(&b->op);
    b->x = ft_op_n_inputs(&b->op) ? ft__tensor_in(&b->op, 0) : (ft__tensor){0};
    b->y = ft__tensor_out(&b->op, 0);
    if (b->op.layout == FT_LAYOUT_CHANNELS_LAST && plain_only[b->op.kind])
        return ft__prepare_wrapped(b, err);
    return prepare(b, err);
}

ft_status ft__unsupported(const ft_block *b, ft_error *err, const char *why, ...)
{
    char spec[256], reason[160];
    va_list ap;

    va_start(ap, why);
    vsnprintf(reason, sizeof(reason), why, ap);
    va_end(ap);
    ft_op_print(&b->op, spec, sizeof(spec));
    return ft_fail(err, FT_EUNSUPPORTED, 0, "onednn: cannot run \"%s\": %s", spec,
                   reason);
}

ft_status ft__no_memory(const ft_block *b, ft_error *err)
{
    char spec[256];

    ft_op_print(&b->op, spec, sizeof(spec));
    return ft_fail(err, FT_ENOMEM, 0, "onednn: no memory for \"%s\"", spec);
}

ft_status ft__checked(const ft_block *b, dnnl_status_t s, ft_error *err)
{
    char spec[256];

    if (s == dnnl_success)
        return FT_OK;
    if (s == dnnl_out_of_memory)
        return ft__no_memory(b, err);
    if (s == dnnl_unimplemented || s == dnnl_invalid_arguments)
        return ft__unsupported(b, err, "oneDNN has no kernel for it");
    ft_op_print(&b->op, spec, sizeof(spec));
    return ft_fail(err, FT_EBACKEND, 0, "onednn: \"%s\" failed with oneDNN status %d",
                   spec, (int)s);
}

static dnnl_status_t run_prim(ft_block *b, const ft__call *call)
{
    return ft__prim_run(b->prim, call);
}

ft_status ft__use_prim(ft_block *b, dnnl_status_t made, ft_error *err)
{
    if (made != dnnl_success)
        return ft__checked(b, made, err);
    b->run = run_prim;
    b->workspace_bytes = ft__prim_scratch_bytes(b->prim);
    snprintf(b->implementation, sizeof(b->implementation), "%s",
             ft__prim_name(b->prim));
    return FT_OK;
}

bool ft__use_fast_prim(ft_block *b, dnnl_status_t made)
{
    if (made == dnnl_success && !ft__prim_is_slow(b->prim))
        return ft__use_prim(b, made, NULL) == FT_OK;
    ft__prim_free(b->prim);
    b->prim = NULL;
    return false;
}

void ft__use_loops(ft_block *b, ft__run_fn *run)
{
    b->run = run;
    snprintf(b->implementation, sizeof(b->implementation), "%s", b->ctx->kernels->name);
}

void *ft__new_plan(ft_block *b, size_t bytes, ft_error *err)
{
    b->plan = calloc(1, bytes);
    if (!b->plan)
        (void)ft__no_memory(b, err);
    return b->plan;
}

const float *ft__weights(const ft_block *b, uint32_t instance, uint32_t k)
{
    return b->weights + instance * b->weight_floats + b->weight_at[k];
}

static int64_t param_elements(const ft_block *b, uint32_t k, ft_param *p)
{
    ft_op_param(&b->op, k, p);
    return ft_shape_elements(&p->shape);
}

/* A parameter of one instance, in plain order: given, or made in *buf. */
static const float *plain_param(const ft_block *b, uint32_t instance, uint32_t k,
                                const float *const *params, float *buf)
{
    uint64_t stream =
        ((uint64_t)instance * FT__MAX_PARAMS + k + 1) * 0x9e3779b97f4a7c15u;
    float low, high;
    ft_param p;
    int64_t n = param_elements(b, k, &p);

    if (params)
        return params[k];
    ft__weight_range(&b->op, k, &p, &low, &high);
    ft__random_floats(buf, (uint64_t)n, low, high, b->ctx->seed + stream);
    return buf;
}

static ft_status load_into_prim(ft_block *b, const float *const *params, ft_error *err)
{
    dnnl_status_t s = ft__prim_set_instances(b->prim, b->instances);
    ft_param p;

    for (uint32_t k = 0; k < b->n_params && s == dnnl_success; k++) {
        uint64_t bytes = (uint64_t)param_elements(b, k, &p) * sizeof(float);
        float *buf = params ? NULL : malloc(bytes);

        if (!params && !buf)
            return ft__no_memory(b, err);
        for (uint32_t i = 0; i < b->instances && s == dnnl_success; i++)
            s = ft__prim_load(b->prim, i, k, plain_param(b, i, k, params, buf));
        free(buf);
    }
    return ft__checked(b, s, err);
}

ft_status ft__load_weights(ft_block *b, const float *const *params, ft_error *err)
{
    void *memory;
    ft_param p;

    if (b->inner)
        return ft__load_weights(b->inner, params, err);
    if (b->n_params == 0)
        return FT_OK;
    if (b->prim)
        return load_into_prim(b, params, err);
    for (uint32_t k = 0; k < b->n_params; k++) {
        b->weight_at[k] = b->weight_floats;
        b->weight_floats +=
            ft__align((uint64_t)param_elements(b, k, &p) * sizeof(float)) /
            sizeof(float);
    }
    if (posix_memalign(&memory, 64, b->instances * b->weight_floats * sizeof(float)))
        return ft__no_memory(b, err);
    b->weights = memory;
    for (uint32_t i = 0; i < b->instances; i++)
        for (uint32_t k = 0; k < b->n_params; k++) {
            float *to = b->weights + i * b->weight_floats + b->weight_at[k];
            const float *from = plain_param(b, i, k, params, to);

            if (from != to)
                memcpy(to, from, (uint64_t)param_elements(b, k, &p) * sizeof(float));
        }
    return FT_OK;
}

uint64_t ft__weight_bytes(const ft_block *b)
{
    if (b->inner)
        return ft__weight_bytes(b->inner);
    return b->prim ? ft__prim_weight_bytes(b->prim) : b->weight_floats * sizeof(float);
}

/* oneDNN moves elements of 1 or 4 bytes: others become rows of those. */
static ft__tensor as_movable(ft__tensor t)
{
    uint32_t bits = ft_dtype_bits(t.dtype);

    t.dtype = bits == 8 || bits == 16 ? FT_DTYPE_int8 : FT_DTYPE_fp32;
    if (bits == 8 || bits == 32)
        return t;
    for (uint32_t i = 0; i < t.rank; i++)
        t.stride[i] *= 2;
    t.dim[t.rank] = 2;
    t.stride[t.rank++] = 1;
    return t;
}

static bool has_long_rows(const ft__nest *n)
{
    uint32_t inner = n->rank - 1;

    return n->dim[inner] * n->step[0][inner] >= 64 &&
           n->step[0][inner] == n->step[1][inner];
}

static bool repeats(const ft__tensor *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->stride[i] == 0)
            return true;
    return t->rank == FT__RANK;
}

ft_status ft__copy_init(ft__copy *c, ft_block *b, const ft__tensor *from,
                        const ft__tensor *to, uint64_t *scratch, ft_error *err)
{
    ft__tensor operands[] = {*to, *from};
    ft__tensor source = as_movable(*from), target = as_movable(*to);
    dnnl_status_t s;

    ft__nest_init(&c->nest, operands, 2, 0);
    c->row = b->ctx->kernels->copy(ft__tensor_size(to));
    if (!c->row)
        return ft__unsupported(b, err, "type %s is not implemented",
                               ft_dtype_name(to->dtype));
    if (c->nest.rank == 1 || has_long_rows(&c->nest) || repeats(from))
        return FT_OK;
    s = ft__prim_reorder(&c->reorder, &b->ctx->dnnl, &source, &target);
    if (s == dnnl_out_of_memory)
        return ft__no_memory(b, err);
    if (s != dnnl_success) /* steps that oneDNN takes for overlaps */
        return FT_OK;
    if (ft__prim_scratch_bytes(c->reorder) > *scratch)
        *scratch = ft__prim_scratch_bytes(c->reorder);
    return FT_OK;
}

dnnl_status_t ft__copy_run(const ft__copy *c, const ft_block *b, const void *from,
                           void *to, void *scratch)
{
    void *const p[] = {to, (void *)from};

    if (c->reorder)
        return ft__prim_run(c->reorder, &(ft__call){0, &from, &to, scratch});
    ft__nest_run(b->ctx->threads, &c->nest, c->row, p);
    return dnnl_success;
}

void ft__copy_clear(ft__copy *c)
{
    ft__prim_free(c->reorder);
}
