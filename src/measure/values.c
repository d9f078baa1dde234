/* Tensors held by an engine: made, filled with random numbers, dropped. */
#include "measure/values.h"

#include "base/index.h"
#include "graph/op.h"
#include "graph/op_inside.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void ft__value_drop(ft_session *s, void **value)
{
    s->engine->values->drop(s->context, *value);
    *value = NULL;
}

/* Every element times scale, plus offset, by way of host memory. */
static ft_status rescale(ft_session *s, void *value, const ft_shape *shape,
                         ft_dtype dtype, const ft__filling *with, ft_error *err)
{
    const ft_engine_values *v = s->engine->values;
    size_t n = (size_t)ft_shape_elements(shape);
    void *host = malloc((size_t)ft_tensor_bytes(shape, dtype) + 1);
    ft_status st = host ? v->read(s->context, host, value, err)
                        : ft_fail(err, FT_ENOMEM, 0, "%zu numbers", n);

    for (size_t i = 0; i < n && !st && dtype == FT_DTYPE_fp32; i++)
        ((float *)host)[i] =
            (float)with->scale * ((float *)host)[i] + (float)with->offset;
    for (size_t i = 0; i < n && !st && dtype == FT_DTYPE_fp64; i++)
        ((double *)host)[i] = with->scale * ((double *)host)[i] + with->offset;
    if (!st)
        st = v->write(s->context, value, host, err);
    free(host);
    return st;
}

static ft_status make_full(ft_session *s, void **out, const ft_shape *shape,
                           ft_dtype dtype, ft_layout layout, const ft__filling *with,
                           ft_error *err)
{
    ft_status st = s->engine->values->make(s->context, out, shape, dtype, layout, err);

    if (!st)
        st =
            s->engine->fill(s->context, *out, dtype, (uint64_t)ft_shape_elements(shape),
                            with->limit, with->seed, err);
    if (!st && (dtype == FT_DTYPE_fp32 || dtype == FT_DTYPE_fp64) &&
        (with->scale != 1 || with->offset != 0))
        st = rescale(s, *out, shape, dtype, with, err);
    return st;
}

/* Of a narrow type: made in fp32 and converted by the engine. */
static ft_status convert(ft_session *s, void **value, const ft_shape *shape,
                         ft_dtype dtype, ft_layout layout, ft_error *err)
{
    const void *in[1] = {*value};
    ft_block *block = NULL;
    ft_block_info info = {0};
    void *out[1] = {NULL};
    ft_op op;
    ft_status st;

    ft__op_init(&op, FT_KIND_cast, FT_DTYPE_fp32);
    ft__op_set_shape(&op, FT_K_x, shape);
    ft__op_set1(&op, FT_K_to, (int64_t)dtype);
    op.layout = layout;
    st = s->engine->values->prepare(s->context, &block, &info, &op, 0, err);
    if (!st)
        st = s->engine->run(block, 0, in, out, NULL, err);
    if (block)
        s->engine->free_block(block);
    ft__value_drop(s, value);
    *value = out[0];
    return st;
}

ft_status ft__value_make(ft_session *s, void **out, const ft_shape *shape,
                         ft_dtype dtype, ft_layout layout, const ft__filling *with,
                         ft_error *err)
{
    bool narrow =
        ft__dtype_is_real(dtype) && dtype != FT_DTYPE_fp32 && dtype != FT_DTYPE_fp64;
    ft_status st;

    *out = NULL;
    st = make_full(s, out, shape, narrow ? FT_DTYPE_fp32 : dtype, layout, with, err);
    if (!st && narrow)
        st = convert(s, out, shape, dtype, layout, err);
    if (st)
        ft__value_drop(s, out);
    return st;
}

uint64_t ft__tensor_seed(const ft_session *s, const ft_tensor *t)
{
    return ft__hash_bytes(FT__HASH_BEGIN, t->name, strlen(t->name)) ^ s->seed;
}

ft__filling ft__weight_filling(const ft_op *op, uint32_t i, uint64_t seed)
{
    ft__filling f = {.scale = 1, .limit = 2, .seed = seed};
    ft_param p;

    ft_op_param(op, i, &p);
    if (p.fan_in > 0)
        f.scale = 1 / sqrt(p.fan_in);
    else if (ft_kind_class(op->kind) == FT_CLASS_NORM && i % 3 == 0)
        f = (ft__filling){.scale = 0.25, .offset = 1, .limit = 2, .seed = seed};
    else
        f.scale = 0.1;
    return f;
}

uint32_t ft__optimizer_states(ft_kind kind)
{
    return kind == FT_KIND_momentum                        ? 1
           : kind == FT_KIND_adam || kind == FT_KIND_adamw ? 2
                                                           : 0;
}

int64_t ft__operand_limit(const ft_op *op, uint32_t operand)
{
    if (op->kind == FT_KIND_embedding)
        return ft_op_at(op, FT_K_rows, 0);
    if (op->kind == FT_KIND_gather && operand == 1)
        return ft_op_at(op, FT_K_x, (uint32_t)ft_op_at(op, FT_K_axis, 0));
    return 2;
}
