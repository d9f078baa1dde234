/* Tensors: buffers with users, kept in a pool when these have gone. */
#include <stdlib.h>

#include "opencl.h"
#include "random.h"

/* Buffers wait to be used again until there is too much of them. */
static const uint64_t most_pooled = UINT64_C(1) << 28;

void ft__pool_empty(ft_engine_context *c)
{
    while (c->pool) {
        ft__storage *s = c->pool;

        c->pool = s->next;
        c->cl.clReleaseMemObject(s->memory);
        free(s);
    }
    c->pool_bytes = 0;
}

static ft__storage *from_pool(ft_engine_context *c, uint64_t bytes)
{
    for (ft__storage **at = &c->pool; *at; at = &(*at)->next)
        if ((*at)->bytes == bytes) {
            ft__storage *s = *at;

            *at = s->next;
            c->pool_bytes -= bytes;
            return s;
        }
    return NULL;
}

static cl_memory new_buffer(ft_engine_context *c, uint64_t bytes, int *code)
{
    cl_memory m =
        c->cl.clCreateBuffer(c->context, CL_MEM_READ_WRITE, bytes, NULL, code);

    if (m || !c->pool)
        return m;
    (void)ft__finish(c, NULL);
    ft__pool_empty(c);
    return c->cl.clCreateBuffer(c->context, CL_MEM_READ_WRITE, bytes, NULL, code);
}

ft__storage *ft__storage_new(ft_engine_context *c, uint64_t bytes, ft_error *err)
{
    uint64_t whole = bytes < UINT64_MAX - 256 ? (bytes + 256) / 256 * 256 : bytes;
    int code = CL_INVALID_BUFFER_SIZE;
    ft__storage *s = NULL;

    if (whole <= c->most_bytes)
        s = from_pool(c, whole);
    if (!s && whole <= c->most_bytes) {
        s = calloc(1, sizeof(*s));
        code = CL_OUT_OF_HOST_MEMORY;
        if (s)
            s->memory = new_buffer(c, whole, &code);
        if (s && !s->memory) {
            free(s);
            s = NULL;
        }
    }
    if (!s) {
        (void)ft__cl_failed(code, "making a buffer", err);
        return NULL;
    }
    s->bytes = whole;
    s->users = 1;
    c->bytes += whole;
    c->peak = c->bytes > c->peak ? c->bytes : c->peak;
    return s;
}

/* Commands that still use it are in order before whoever gets it next. */
void ft__storage_drop(ft_engine_context *c, ft__storage *s)
{
    if (!s || --s->users)
        return;
    c->bytes -= s->bytes;
    if (c->pool_bytes + s->bytes > most_pooled) {
        c->cl.clReleaseMemObject(s->memory);
        free(s);
        return;
    }
    s->next = c->pool;
    c->pool = s;
    c->pool_bytes += s->bytes;
}

ft__value *ft__value_view(const ft__value *of, const ft_shape *shape, ft_dtype dtype)
{
    ft__value *v = malloc(sizeof(*v));

    if (!v)
        return NULL;
    *v = (ft__value){of->storage, *shape, dtype};
    v->storage->users++;
    return v;
}

ft__value *ft__value_new(ft_engine_context *c, const ft_shape *shape, ft_dtype dtype,
                         ft_error *err)
{
    int64_t bytes = ft_shape_elements(shape) < 0 ? -1 : ft_tensor_bytes(shape, dtype);
    ft__value *v = malloc(sizeof(*v));

    if (v)
        *v = (ft__value){
            ft__storage_new(c, bytes < 0 ? UINT64_MAX : (uint64_t)bytes, err), *shape,
            dtype};
    else
        (void)ft_fail(err, FT_ENOMEM, 0, "opencl: out of memory");
    if (v && !v->storage) {
        free(v);
        v = NULL;
    }
    return v;
}

static ft_status make(ft_engine_context *c, void **out, const ft_shape *shape,
                      ft_dtype dtype, ft_layout layout, ft_error *err)
{
    *out = NULL;
    if (layout == FT_LAYOUT_CHANNELS_LAST && shape->rank >= 3)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "opencl: tensors are row-major only");
    *out = ft__value_new(c, shape, dtype, err);
    return *out ? FT_OK : FT_ENOMEM;
}

static void drop(ft_engine_context *c, void *value)
{
    ft__value *v = value;

    if (!v)
        return;
    ft__storage_drop(c, v->storage);
    free(v);
}

static ft_status write_value(ft_engine_context *c, void *value, const void *host,
                             ft_error *err)
{
    const ft__value *v = value;
    size_t n = (size_t)ft_tensor_bytes(&v->shape, v->dtype);
    int code = n ? c->cl.clEnqueueWriteBuffer(c->queue, v->storage->memory, 1, 0, n,
                                              host, 0, NULL, NULL)
                 : 0;

    return code ? ft__cl_failed(code, "writing a buffer", err) : FT_OK;
}

static ft_status read_value(ft_engine_context *c, void *host, const void *value,
                            ft_error *err)
{
    const ft__value *v = value;
    size_t n = (size_t)ft_tensor_bytes(&v->shape, v->dtype);
    int code = n ? c->cl.clEnqueueReadBuffer(c->queue, v->storage->memory, 1, 0, n,
                                             host, 0, NULL, NULL)
                 : 0;

    return code ? ft__cl_failed(code, "reading a buffer", err) : FT_OK;
}

ft_status ft__value_fill(ft_engine_context *c, void *memory, ft_dtype dtype,
                         uint64_t elements, int64_t limit, uint64_t seed, ft_error *err)
{
    const ft__value *v = memory;
    void *host = malloc((size_t)ft_tensor_bytes(&v->shape, v->dtype) + 1);
    ft_status st;

    if (!host)
        return ft_fail(err, FT_ENOMEM, 0, "opencl: out of memory");
    if (ft__random_fill(host, dtype, elements, limit, seed))
        st = write_value(c, memory, host, err);
    else
        st = ft_fail(err, FT_EUNSUPPORTED, 0, "opencl: no values of type %s",
                     ft_dtype_name(dtype));
    free(host);
    return st;
}

static ft_status prepare(ft_engine_context *c, ft_block **out, ft_block_info *info,
                         const ft_op *op, int how, ft_error *err)
{
    ft_block *b;
    ft_status st = ft_op_check(op, err);

    *out = NULL;
    if (st)
        return st;
    b = calloc(1, sizeof(*b));
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "opencl: out of memory");
    b->ctx = c;
    b->op = *op;
    b->n_in = ft_op_n_inputs(op) + ft_op_n_params(op);
    b->n_out = ft_op_n_outputs(op);
    b->view_of = -1;
    b->err = err;
    st = how & FT_VALUES_IN_PLACE
             ? ft__unsupported(b, "it has no form that writes over its operand")
             : ft__build(b);
    b->err = NULL;
    if (st) {
        ft__block_free(b);
        return st;
    }
    *info = (ft_block_info){.implementation = b->implementation};
    for (uint32_t i = 0; i < ft_op_n_params(op); i++) {
        ft_param p;

        ft_op_param(op, i, &p);
        info->weight_bytes += (uint64_t)ft_tensor_bytes(&p.shape, p.dtype);
    }
    *out = b;
    return FT_OK;
}

const ft_engine_values ft__opencl_values = {
    .make = make,
    .drop = drop,
    .write = write_value,
    .read = read_value,
    .prepare = prepare,
};
