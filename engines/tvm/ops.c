/* One operation: a module with one function of its operands, weights and results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"
#include "random.h"
#include "tvm.h"

enum { MAX_PARAMS = 16, MAX_ARGS = 2 * FT_OP_MAX_OPERANDS + MAX_PARAMS };

typedef struct op_block {
    ft_block base;
    ft_op op;
    tvm_any module, function;
    uint32_t n_in, n_params, n_out;
    ft__tensor *args; /* operands, weights, results */
    tvm_any *values;
    void **weights; /* n_params an instance */
} op_block;

static ft_status run(ft_block *base, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err)
{
    op_block *b = (op_block *)base;
    const ft__tvm *t = &base->ctx->tvm;
    ft__tensor *a = b->args;
    tvm_any result = {.type = TVM_NONE};
    int rc;

    (void)workspace; /* modules take it themselves */
    for (uint32_t i = 0; i < b->n_in; i++)
        (a++)->managed.tensor.data = (void *)in[i];
    for (uint32_t i = 0; i < b->n_params; i++)
        (a++)->managed.tensor.data = b->weights[instance * b->n_params + i];
    for (uint32_t i = 0; i < b->n_out; i++)
        (a++)->managed.tensor.data = out[i];
    rc = t->call(b->function.v.ptr, b->values, (int32_t)(a - b->args), &result);
    return rc ? ft__tvm_check(t, rc, err) : FT_OK;
}

static void free_op_block(ft_block *base)
{
    op_block *b = (op_block *)base;
    const ft__tvm *t = &base->ctx->tvm;

    ft__tvm_release(t, &b->function);
    ft__tvm_release(t, &b->module);
    for (size_t i = 0; b->weights && i < (size_t)b->n_params * base->instances; i++)
        ft__host_release(base->ctx, b->weights[i]);
    free(b->weights);
    free(b->values);
    free(b->args);
    free(b);
}

/* A linear layer's matrix lies in x out, as in networks that are deployed. */
static ft_shape lying(const op_block *b, uint32_t i, const ft_param *p)
{
    ft_shape s = p->shape;

    if (b->op.kind == FT_KIND_linear && i == 0) {
        s.dim[0] = p->shape.dim[1];
        s.dim[1] = p->shape.dim[0];
    }
    return s;
}

static ft_status describe(op_block *b, char *text, size_t size, ft_error *err)
{
    ft__tensor *a = b->args;
    bool good = true;
    ft_shape s;
    ft_dtype t;
    ft_param p;

    if (b->op.kind == FT_KIND_view || b->op.kind == FT_KIND_generic)
        return ft__unsupported(&b->op,
                               "a view costs nothing, and nobody knows what a generic "
                               "operation computes",
                               err);
    text[0] = '\0';
    for (uint32_t i = 0; i < b->n_in; i++) {
        ft_op_input(&b->op, i, &s, &t);
        ft__put_operand(text, size, "in", &s, t);
        good = ft__tensor_make(a++, &s, t) && good;
    }
    for (uint32_t i = 0; i < b->n_params; i++) {
        ft_op_param(&b->op, i, &p);
        s = lying(b, i, &p);
        ft__put_operand(text, size, "weight", &s, p.dtype);
        good = ft__tensor_make(a++, &s, p.dtype) && good;
    }
    for (uint32_t i = 0; i < b->n_out; i++) {
        ft_op_output(&b->op, i, &s, &t);
        ft__put_operand(text, size, "out", &s, t);
        good = ft__tensor_make(a++, &s, t) && good;
    }
    for (int64_t i = 0; i < a - b->args; i++)
        b->values[i] =
            (tvm_any){.type = TVM_DLTENSOR, .v.ptr = &b->args[i].managed.tensor};
    return good ? FT_OK
                : ft__unsupported(&b->op, "TVM has no such type of elements", err);
}

/* A matrix rows x columns, given row by row, turned. */
static bool fill_turned(void *to, const float *given, int64_t rows, int64_t columns,
                        ft_dtype t)
{
    const size_t n = (size_t)rows * (size_t)columns;
    float *turned = malloc(n * sizeof(*turned) + 1);
    bool good = turned != NULL;

    for (int64_t i = 0; good && i < rows; i++)
        for (int64_t k = 0; k < columns; k++)
            turned[k * rows + i] = given[i * columns + k];
    good = good && ft__from_floats(to, turned, n, t);
    free(turned);
    return good;
}

static bool fill_weight(const op_block *b, void *to, uint32_t i, const ft_param *p,
                        const float *given, uint64_t seed)
{
    uint64_t n = (uint64_t)ft_shape_elements(&p->shape);
    float low, high;

    if (!ft__is_real(p->dtype))
        return !given && ft__random_fill(to, p->dtype, n, 128, seed);
    if (given && b->op.kind == FT_KIND_linear && i == 0)
        return fill_turned(to, given, p->shape.dim[0], p->shape.dim[1], p->dtype);
    if (given)
        return ft__from_floats(to, given, n, p->dtype);
    ft__weight_range(&b->op, i, p, &low, &high);
    return ft__random_reals(to, p->dtype, n, low, high, seed);
}

static ft_status make_weights(op_block *b, const float *const *params,
                              ft_block_info *info, ft_error *err)
{
    ft_engine_context *c = b->base.ctx;

    b->weights = calloc((size_t)b->n_params * b->base.instances + 1, sizeof(void *));
    if (!b->weights)
        return ft__no_memory(err);
    for (uint32_t k = 0; k < b->base.instances; k++)
        for (uint32_t i = 0; i < b->n_params; i++) {
            void **w = &b->weights[k * b->n_params + i];
            uint64_t bytes, seed = c->seed + 0x9e3779b97f4a7c15u * k + i;
            ft_param p;

            ft_op_param(&b->op, i, &p);
            bytes = (uint64_t)ft_tensor_bytes(&p.shape, p.dtype);
            *w = ft__host_alloc(c, bytes);
            if (!*w)
                return ft_fail(err, FT_ENOMEM, 0, "tvm: no memory for weights");
            if (!fill_weight(b, *w, i, &p, params ? params[i] : NULL, seed))
                return ft__unsupported(&b->op, "no weights of such a type are made",
                                       err);
            info->weight_bytes += k == 0 ? bytes : 0;
        }
    return FT_OK;
}

enum { SPEC_BYTES = 2048, OPERANDS_BYTES = 16384 };

/* What a module takes besides its operands stands beside it. */
static ft_status read_workspace(uint64_t *bytes, const char *module, ft_error *err)
{
    char path[FT__TVM_PATH + 16];
    FILE *f;
    int n;

    snprintf(path, sizeof(path), "%s.workspace", module);
    f = fopen(path, "rb");
    n = f ? fscanf(f, "%" SCNu64, bytes) : 0;
    if (f)
        fclose(f);
    return n == 1 ? FT_OK : ft_fail(err, FT_EIO, 0, "tvm: cannot read %s", path);
}

static ft_status load(op_block *b, uint64_t *workspace, ft_error *err)
{
    const ft__tvm *t = &b->base.ctx->tvm;
    char path[FT__TVM_PATH], what[96], spec[SPEC_BYTES], *text = malloc(OPERANDS_BYTES);
    ft__request r = {"op", spec, spec, text, what};
    ft_status st = text ? FT_OK : ft__no_memory(err);

    snprintf(what, sizeof(what), "%s (%s)", ft_kind_name(b->op.kind),
             ft_dtype_name(b->op.dtype));
    ft_op_print(&b->op, spec, sizeof(spec));
    if (!st)
        st = describe(b, text, OPERANDS_BYTES, err);
    if (!st)
        st = ft__tvm_compile(b->base.ctx, path, &r, err);
    free(text);
    if (st || b->base.ctx->export)
        return st;
    st = ft__tvm_module(t, &b->module, path, err);
    if (!st)
        st = ft__tvm_function(t, &b->function, &b->module, "main", err);
    return st ? st : read_workspace(workspace, path, err);
}

ft_status ft__op_block(ft_engine_context *c, ft_block **out, ft_block_info *info,
                       const ft_op *op, uint32_t instances, const float *const *params,
                       uint32_t n_params, ft_error *err)
{
    ft_status st = ft__request_check(op, instances, params, n_params, err);
    op_block *b;

    *out = NULL;
    if (st)
        return st;
    b = calloc(1, sizeof(*b));
    if (!b)
        return ft__no_memory(err);
    b->base = (ft_block){.ctx = c,
                         .instances = instances,
                         .run = c->export ? ft__run_elsewhere : run,
                         .free = free_op_block};
    b->op = *op;
    b->n_in = ft_op_n_inputs(op);
    b->n_params = ft_op_n_params(op);
    b->n_out = ft_op_n_outputs(op);
    b->args = calloc(MAX_ARGS, sizeof(*b->args));
    b->values = calloc(MAX_ARGS, sizeof(*b->values));
    *info = (ft_block_info){.implementation = c->schedule};
    if (!b->args || !b->values || b->n_in + b->n_params + b->n_out > MAX_ARGS)
        st = ft__no_memory(err);
    if (!st)
        st = load(b, &info->workspace_bytes, err);
    if (!st && !c->export)
        st = make_weights(b, params, info, err);
    if (st) {
        free_op_block(&b->base);
        return st;
    }
    *out = &b->base;
    return FT_OK;
}
