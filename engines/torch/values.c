/* Tensors as the measuring side sees them. */
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "random.h"

ft__kept *ft__value_kept(const void *value)
{
    uintptr_t p = (uintptr_t)value;

    return p & 1 ? (ft__kept *)(p - 1) : NULL;
}

void *ft__value_of_kept(ft__kept *k)
{
    return (void *)((uintptr_t)k | 1);
}

/* Handles are not written to by who only reads tensors. */
static ft__tensor *tensor_of(const void *value)
{
    return (ft__tensor *)(uintptr_t)value;
}

void ft__strides_for(int64_t *strides, const ft_shape *s, ft_layout layout)
{
    bool last = layout == FT_LAYOUT_CHANNELS_LAST && s->rank >= 3;
    int64_t step = last ? s->dim[1] : 1;

    for (uint32_t i = s->rank; i-- > 0;) {
        if (last && i == 1)
            continue;
        strides[i] = step;
        step *= s->dim[i] > 0 ? s->dim[i] : 1;
    }
    if (last)
        strides[1] = 1;
}

static ft_status failed(ft_engine_context *c, const char *what, ft_error *err)
{
    return ft_fail(err, FT_EBACKEND, 0, "torch: %s fails: %.500s", what,
                   ft__api_reason(&c->api));
}

static ft_status make(ft_engine_context *c, void **out, const ft_shape *shape,
                      ft_dtype dtype, ft_layout layout, ft_error *err)
{
    int64_t strides[FT_MAX_RANK];
    ft__tensor *t;

    *out = NULL;
    if (c->api.dtype[dtype] < 0)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "torch: no tensors of type %s",
                       ft_dtype_name(dtype));
    if (ft_shape_elements(shape) < 0)
        return ft_fail(err, FT_ENOMEM, 0,
                       "torch: no memory for a tensor of so many "
                       "elements");
    ft__strides_for(strides, shape, layout);
    if (c->api.aoti_torch_empty_strided(shape->rank, shape->dim, strides,
                                        c->api.dtype[dtype], c->device_type, c->device,
                                        &t))
        return ft_fail(err, FT_ENOMEM, 0, "torch: no memory for a tensor: %.500s",
                       ft__api_reason(&c->api));
    *out = t;
    return FT_OK;
}

static void drop(ft_engine_context *c, void *value)
{
    ft__kept *k = ft__value_kept(value);

    if (!value)
        return;
    if (!k) {
        c->api.aoti_torch_delete_tensor_object(value);
        return;
    }
    for (uint32_t i = 0; i < k->n; i++)
        c->api.aoti_torch_delete_tensor_object(k->tensor[i]);
    free(k);
}

ft__tensor *ft__tensor_zeros(ft_engine_context *c, const ft_shape *s, ft_dtype t)
{
    void *value;

    if (make(c, &value, s, t, FT_LAYOUT_PLAIN, NULL))
        return NULL;
    if (c->api.aoti_torch_zero_(value)) {
        drop(c, value);
        return NULL;
    }
    return value;
}

typedef struct extent {
    int64_t rank;
    int64_t *sizes;
    int64_t elements;
    size_t bytes;
    int32_t dtype;
} extent;

static size_t bytes_of_type(const ft__api *api, int32_t dtype)
{
    for (int i = 0; i < FT_DTYPE_COUNT; i++)
        if (api->dtype[i] == dtype)
            return ft_dtype_bits((ft_dtype)i) / 8;
    return 0;
}

static int32_t extent_of(const ft__api *api, extent *out, ft__tensor *t)
{
    int32_t bad = api->aoti_torch_get_dim(t, &out->rank) |
                  api->aoti_torch_get_sizes(t, &out->sizes) |
                  api->aoti_torch_get_numel(t, &out->elements) |
                  api->aoti_torch_get_dtype(t, &out->dtype);

    out->bytes = bad ? 0 : (size_t)out->elements * bytes_of_type(api, out->dtype);
    return bad;
}

/* A row-major tensor of the same shape in the CPU's memory. */
static int32_t staging(ft_engine_context *c, ft__tensor **out, void **data,
                       const extent *e, int32_t dtype)
{
    ft_shape s = {.rank = (uint32_t)e->rank};
    int64_t strides[FT_MAX_RANK];
    int32_t bad;

    if (e->rank > FT_MAX_RANK)
        return 1;
    memcpy(s.dim, e->sizes, s.rank * sizeof(*s.dim));
    ft__strides_for(strides, &s, FT_LAYOUT_PLAIN);
    bad = c->api.aoti_torch_empty_strided(s.rank, s.dim, strides, dtype,
                                          c->api.aoti_torch_device_type_cpu(), 0, out);
    return bad ? bad : c->api.aoti_torch_get_data_ptr(*out, data);
}

static ft_status write_value(ft_engine_context *c, void *value, const void *host,
                             ft_error *err)
{
    ft__tensor *plain = NULL;
    void *data = NULL;
    extent e;
    int32_t bad = extent_of(&c->api, &e, value);

    if (!bad)
        bad = staging(c, &plain, &data, &e, e.dtype);
    if (!bad && e.bytes)
        memcpy(data, host, e.bytes);
    if (!bad)
        bad = c->api.aoti_torch_copy_(value, plain, 0);
    if (plain)
        c->api.aoti_torch_delete_tensor_object(plain);
    return bad ? failed(c, "writing a tensor", err) : FT_OK;
}

static ft_status read_value(ft_engine_context *c, void *host, const void *value,
                            ft_error *err)
{
    ft__tensor *plain = NULL;
    void *data = NULL;
    extent e;
    int32_t bad = extent_of(&c->api, &e, tensor_of(value));

    if (!bad)
        bad = staging(c, &plain, &data, &e, e.dtype);
    if (!bad)
        bad = c->api.aoti_torch_copy_(plain, tensor_of(value), 0);
    if (!bad && e.bytes)
        memcpy(host, data, e.bytes);
    if (plain)
        c->api.aoti_torch_delete_tensor_object(plain);
    return bad ? failed(c, "reading a tensor", err) : FT_OK;
}

ft_status ft__value_fill(ft_engine_context *c, void *value, ft_dtype dtype,
                         uint64_t elements, int64_t limit, uint64_t seed, ft_error *err)
{
    bool narrow = dtype == FT_DTYPE_fp16 || dtype == FT_DTYPE_bf16;
    ft_dtype made = narrow ? FT_DTYPE_fp32 : dtype;
    ft__tensor *plain = NULL;
    void *data = NULL;
    extent e;
    int32_t bad = extent_of(&c->api, &e, value);

    if (!bad && ((uint64_t)e.elements != elements || e.dtype != c->api.dtype[dtype]))
        return ft_fail(err, FT_EINVAL, 0, "torch: fill of a tensor of another kind");
    if (!bad)
        bad = staging(c, &plain, &data, &e, c->api.dtype[made]);
    if (!bad && !ft__random_fill(data, made, elements, limit, seed)) {
        c->api.aoti_torch_delete_tensor_object(plain);
        return ft_fail(err, FT_EUNSUPPORTED, 0, "torch: no values of type %s",
                       ft_dtype_name(dtype));
    }
    if (!bad)
        bad = c->api.aoti_torch_copy_(value, plain, 0);
    if (plain)
        c->api.aoti_torch_delete_tensor_object(plain);
    return bad ? failed(c, "filling a tensor", err) : FT_OK;
}

static ft_status check_request(const ft_block *b)
{
    ft_status st = ft_op_check(&b->op, b->err);

    if (st)
        return st;
    if (b->op.phase != FT_PHASE_FORWARD && b->op.phase != FT_PHASE_BACKWARD &&
        b->op.phase != FT_PHASE_OPTIMIZER)
        return ft__unsupported(b, "several phases in one are a graph");
    if (b->ctx->api.dtype[b->op.dtype] < 0)
        return ft__unsupported(b, "PyTorch has no such element type");
    return FT_OK;
}

/* As ft_engine_values says, which differs from what ft_op_n_inputs() counts where
 * values are many that a spec writes as one. */
static void count_operands(ft_block *b)
{
    uint32_t wrt = ft_op_wrt(&b->op);

    b->n_in = ft_op_n_inputs(&b->op);
    b->n_params = ft_op_n_params(&b->op);
    b->n_out = ft_op_n_outputs(&b->op);
    if (b->op.phase == FT_PHASE_OPTIMIZER) {
        b->n_in = b->op.kind == FT_KIND_sgd        ? 2
                  : b->op.kind == FT_KIND_momentum ? 3
                                                   : 4;
        b->n_params = 0;
        b->n_out = 1;
    }
    if (b->op.phase != FT_PHASE_BACKWARD)
        return;
    b->n_out = 0;
    for (uint32_t bit = FT_WRT_X; bit <= FT_WRT_Z; bit <<= 1)
        b->n_out += wrt & bit ? 1u : 0u;
    for (uint32_t i = 0; i < b->n_params && (wrt & FT_WRT_WEIGHTS); i++) {
        ft_param p;

        ft_op_param(&b->op, i, &p);
        b->n_out += p.trained ? 1u : 0u;
    }
}

/* Of a kind without a builder (kinds.def). */
static const char *why_none(ft_kind kind)
{
    switch (kind) {
    case FT_KIND_nonzero:
        return "the size of its result depends on the data, which is not known here: "
               "give a network without it, or a list of its other operations (foretell "
               "ops MODEL --list)";
    case FT_KIND_deform_conv2d:
    case FT_KIND_roi_align:
    case FT_KIND_nms:
        return "it is torchvision's, which this engine does not load: give a list of "
               "the other operations (foretell ops MODEL --list)";
    case FT_KIND_generic:
        return "foretell has no rule for what it computes: give a list of the other "
               "operations (foretell ops MODEL --list)";
    default: return "PyTorch makes it of several operations, or has no such one";
    }
}

static ft_status build(ft_block *b)
{
    ft_status st = check_request(b);
    ft__build_fn *fn;

    if (st)
        return st;
    count_operands(b);
    b->n_regs = FT__FIRST_MADE;
    for (uint32_t i = 0; i < FT_OP_MAX_OPERANDS; i++)
        b->out[i].reg = FT__NO_REG;
    fn = ft__builder(&b->op);
    if (!fn)
        return ft__unsupported(b, "%s", why_none(b->op.kind));
    st = fn(b);
    if (!st && (b->how & FT_VALUES_IN_PLACE) && !b->in_place)
        return ft__unsupported(b, "it has no form that writes over its operand");
    return st ? st : ft__block_finish(b);
}

static ft_status prepare(ft_engine_context *c, ft_block **out, ft_block_info *info,
                         const ft_op *op, int how, ft_error *err)
{
    ft_block *b = calloc(1, sizeof(*b));
    ft_status st;

    *out = NULL;
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "torch: out of memory");
    b->ctx = c;
    b->op = *op;
    b->how = how;
    b->err = err;
    st = build(b);
    b->err = NULL;
    if (st) {
        ft__block_free(b);
        return st;
    }
    *info = (ft_block_info){.implementation = b->implementation};
    for (uint32_t i = 0; i < b->n_params; i++) {
        ft_param p;

        ft_op_param(op, i, &p);
        info->weight_bytes += (uint64_t)ft_tensor_bytes(&p.shape, p.dtype);
    }
    *out = b;
    return FT_OK;
}

const ft_engine_values ft__torch_values = {
    .make = make,
    .drop = drop,
    .write = write_value,
    .read = read_value,
    .prepare = prepare,
};
