/* Kinds that work along one axis of plain memory: outer x extent x inner. */
#include <string.h>

#include "onednn.h"
#include "runtime.h"

typedef struct along {
    const ft_block *b;
    const char *x;
    const int64_t *index;
    char *y;
    char *best; /* argmax: the values found, in the workspace */
    int64_t outer, extent, inner;
    int64_t size;  /* bytes of an element */
    int64_t count; /* gather: indices */
} along;

static void split_axes(along *a, const ft__tensor *x, uint32_t axis)
{
    a->outer = a->inner = 1;
    a->extent = x->dim[axis];
    a->size = ft__tensor_size(x);
    for (uint32_t i = 0; i < x->rank; i++)
        if (i != axis)
            *(i < axis ? &a->outer : &a->inner) *= x->dim[i];
}

static ft_status plan_along(ft_block *b, uint32_t axis, ft__run_fn *run, along **out,
                            ft_error *err)
{
    along *a = ft__new_plan(b, sizeof(*a), err);

    if (!a)
        return FT_ENOMEM;
    split_axes(a, &b->x, axis);
    a->b = b;
    ft__use_loops(b, run);
    *out = a;
    return FT_OK;
}

/* The first of equal values. */
#define ARG(type)                                                                      \
    static void arg_##type(void *arg, int64_t begin, int64_t end)                      \
    {                                                                                  \
        const along *a = arg;                                                          \
        bool min = a->b->op.kind == FT_KIND_argmin;                                    \
                                                                                       \
        for (int64_t o = begin; o < end; o++) {                                        \
            const type *x =                                                            \
                (const type *)(const void *)a->x + o * a->extent * a->inner;           \
            int64_t *y = (int64_t *)(void *)a->y + o * a->inner;                       \
            type *best = (type *)(void *)a->best + o * a->inner;                       \
                                                                                       \
            memcpy(best, x, (size_t)(a->inner * a->size));                             \
            memset(y, 0, (size_t)a->inner * sizeof(*y));                               \
            for (int64_t k = 1; k < a->extent; k++)                                    \
                for (int64_t i = 0; i < a->inner; i++) {                               \
                    type v = x[k * a->inner + i];                                      \
                                                                                       \
                    if (min ? v < best[i] : v > best[i]) {                             \
                        best[i] = v;                                                   \
                        y[i] = k;                                                      \
                    }                                                                  \
                }                                                                      \
        }                                                                              \
    }

ARG(float)
ARG(int32_t)
ARG(int64_t)

static dnnl_status_t run_arg(ft_block *b, const ft__call *call)
{
    along a = *(const along *)b->plan;

    a.x = call->in[0];
    a.y = call->out[0];
    a.best = call->workspace;
    ft__parallel(b->ctx->threads, a.outer, a.extent * a.inner,
                 b->op.dtype == FT_DTYPE_fp32    ? arg_float
                 : b->op.dtype == FT_DTYPE_int32 ? arg_int32_t
                                                 : arg_int64_t,
                 &a);
    return dnnl_success;
}

ft_status ft__prepare_arg(ft_block *b, ft_error *err)
{
    uint32_t n;
    const int64_t *axes = ft_op_get(&b->op, FT_K_axes, &n);
    along *a;
    ft_status st;

    if (n != 1)
        return ft__unsupported(b, err, "it takes one axis");
    if (b->op.dtype != FT_DTYPE_fp32 && b->op.dtype != FT_DTYPE_int32 &&
        b->op.dtype != FT_DTYPE_int64)
        return ft__unsupported(b, err, "it takes fp32, int32 or int64");
    st = plan_along(b, (uint32_t)axes[0], run_arg, &a, err);
    if (st)
        return st;
    if (a->extent == 0)
        return ft__unsupported(b, err, "the axis has no elements");
    b->workspace_bytes = (uint64_t)(a->outer * a->inner * a->size);
    return FT_OK;
}

static void cumsum_range(void *arg, int64_t begin, int64_t end)
{
    const along *a = arg;
    ft__row_fn *add = a->b->ctx->kernels->kind(FT_KIND_add, a->b->op.dtype);
    int64_t row = a->inner * a->size, step[] = {a->size, a->size, a->size};

    for (int64_t o = begin; o < end; o++) {
        char *x = (char *)a->x + o * a->extent * row, *y = a->y + o * a->extent * row;

        memcpy(y, x, (size_t)row);
        /* With rows of one element the sums are one dependent chain. */
        if (a->inner == 1)
            add(a->extent - 1, (char *[]){y + row, x + row, y}, step);
        else
            for (int64_t k = 1; k < a->extent; k++)
                add(a->inner, (char *[]){y + k * row, x + k * row, y + (k - 1) * row},
                    step);
    }
}

static dnnl_status_t run_cumsum(ft_block *b, const ft__call *call)
{
    along a = *(const along *)b->plan;

    a.x = call->in[0];
    a.y = call->out[0];
    ft__parallel(b->ctx->threads, a.outer, a.extent * a.inner, cumsum_range, &a);
    return dnnl_success;
}

ft_status ft__prepare_cumsum(ft_block *b, ft_error *err)
{
    along *a;

    if (!b->ctx->kernels->kind(FT_KIND_add, b->op.dtype))
        return ft__unsupported(b, err, "it takes fp32, int32 or int64");
    return plan_along(b, (uint32_t)ft_op_at(&b->op, FT_K_axis, 0), run_cumsum, &a, err);
}

/* An index is reduced to the extent: random or wrong ones read valid memory. */
static inline int64_t wrap(int64_t index, int64_t extent)
{
    int64_t i = index % extent;

    return i < 0 ? i + extent : i;
}

static void gather_range(void *arg, int64_t begin, int64_t end)
{
    const along *a = arg;
    int64_t row = a->inner * a->size;

    for (int64_t i = begin; i < end; i++) {
        int64_t o = i / a->count, k = wrap(a->index[i % a->count], a->extent);

        memcpy(a->y + i * row, a->x + (o * a->extent + k) * row, (size_t)row);
    }
}

static dnnl_status_t run_gather(ft_block *b, const ft__call *call)
{
    along a = *(const along *)b->plan;
    bool table = b->op.kind == FT_KIND_embedding;

    a.x = table ? (const char *)ft__weights(b, call->instance, 0) : call->in[0];
    a.index = table ? call->in[0] : call->in[1];
    a.y = call->out[0];
    ft__parallel(b->ctx->threads, a.outer * a.count, a.inner, gather_range, &a);
    return dnnl_success;
}

ft_status ft__prepare_gather(ft_block *b, ft_error *err)
{
    ft__tensor index = ft__tensor_in(&b->op, 1);
    along *a;
    ft_status st =
        plan_along(b, (uint32_t)ft_op_at(&b->op, FT_K_axis, 0), run_gather, &a, err);

    if (st)
        return st;
    if (a->extent == 0)
        return ft__unsupported(b, err, "the axis has no elements");
    a->count = ft__tensor_elements(&index);
    return FT_OK;
}

ft_status ft__prepare_embedding(ft_block *b, ft_error *err)
{
    int64_t rows = ft_op_at(&b->op, FT_K_rows, 0), dim = ft_op_at(&b->op, FT_K_dim, 0);
    along *a;

    if (b->op.dtype != FT_DTYPE_fp32 || rows < 1)
        return ft__unsupported(b, err, "tables are fp32 and have at least one row");
    a = ft__new_plan(b, sizeof(*a), err);
    if (!a)
        return FT_ENOMEM;
    *a = (along){.b = b,
                 .outer = 1,
                 .extent = rows,
                 .inner = dim,
                 .size = sizeof(float),
                 .count = ft__tensor_elements(&b->x)};
    ft__use_loops(b, run_gather);
    return FT_OK;
}
