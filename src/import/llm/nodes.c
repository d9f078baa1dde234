/* Nodes of a step: operations by their specs, and the layers that all files add. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/op_inside.h"
#include "import/list.h"
#include "import/llm/step.h"

ft__llm_sizes ft__llm_sizes_of(ft_shape shape)
{
    ft__llm_sizes out = {.shape = shape};
    size_t len = 0;

    for (uint32_t i = 0; i < shape.rank && len + FT__NUMBER_TEXT <= sizeof(out.s);
         i++) {
        if (i)
            out.s[len++] = 'x';
        len += ft__whole_text(out.s + len, shape.dim[i]);
    }
    out.s[len] = '\0';
    return out;
}

uint32_t ft__llm_tensor_of(ft__llm_step *s, const char *name, ft_role role, ft_dtype t,
                           const ft_shape *shape)
{
    return ft__build_tensor(s->b, name, strlen(name), role, t, shape);
}

uint32_t ft__llm_weight(ft__llm_step *s, ft_shape shape)
{
    return ft__llm_tensor_of(s, "", FT_ROLE_WEIGHT, s->m.dtype, &shape);
}

/* A node of an operation that was checked, with the weights that it has, or with `tied`
 * in their place; its first result. */
static uint32_t node_of_op(ft__llm_step *s, const char *name, const uint32_t *in,
                           uint32_t n_in, uint32_t tied, const ft_op *op)
{
    uint32_t out[FT_OP_MAX_OPERANDS], params[3] = {tied}, n_params = tied != FT_NONE;
    const uint32_t n_out = ft_op_n_outputs(op);
    ft_op kept = *op;

    for (uint32_t i = 0; i < n_out; i++) {
        ft_shape shape;
        ft_dtype t;

        ft_op_output(op, i, &shape, &t);
        out[i] = ft__llm_tensor_of(s,
                                   strcmp(name, "lm_head") == 0  ? "logits"
                                   : strcmp(name, "pooler") == 0 ? "pooler_output"
                                                                 : "",
                                   FT_ROLE_ACTIVATION, t, &shape);
    }
    /* Weights that are trained are narrowed for each product (mixed precision). */
    kept.dtype = s->whole ? s->m.dtype : op->dtype;
    if (tied == FT_NONE)
        n_params = ft__op_weights(s->b, &kept, 1, params);
    ft__build_checked(s->b, name, strlen(name), op, in, n_in, params, n_params, out,
                      n_out);
    return ft__build_failed(s->b) ? FT_NONE : out[0];
}

/* Makes a node of this spec, in the model's dtype unless the spec names one. */
static uint32_t node_of(ft__llm_step *s, const char *name, const uint32_t *in,
                        uint32_t n_in, uint32_t tied, const char *fmt, va_list ap)
{
    char spec[1024];
    ft_error err;
    ft_op op;

    vsnprintf(spec, sizeof(spec), fmt, ap);
    if (ft__build_failed(s->b))
        return FT_NONE;
    if (ft_op_parse(&op, spec, strlen(spec), &err)) {
        ft__build_fail(s->b, FT_EFORMAT, 0, "%s: %s", spec, err.msg);
        return FT_NONE;
    }
    if (!strstr(spec, "dtype="))
        op.dtype = s->m.dtype;
    return node_of_op(s, name, in, n_in, tied, &op);
}

uint32_t ft__llm_node(ft__llm_step *s, const char *name, uint32_t x, const char *fmt,
                      ...)
{
    va_list ap;
    uint32_t out;

    va_start(ap, fmt);
    out = node_of(s, name, &x, 1, FT_NONE, fmt, ap);
    va_end(ap);
    return out;
}

uint32_t ft__llm_node_with(ft__llm_step *s, const char *name, uint32_t x, uint32_t tied,
                           const char *fmt, ...)
{
    va_list ap;
    uint32_t out;

    va_start(ap, fmt);
    out = node_of(s, name, &x, 1, tied, fmt, ap);
    va_end(ap);
    return out;
}

uint32_t ft__llm_node_on(ft__llm_step *s, const char *name, const uint32_t *in,
                         uint32_t n_in, const char *fmt, ...)
{
    va_list ap;
    uint32_t out;

    va_start(ap, fmt);
    out = node_of(s, name, in, n_in, FT_NONE, fmt, ap);
    va_end(ap);
    return out;
}

/* Most nodes: not by way of a spec. */
static uint32_t node_of_kind(ft__llm_step *s, const char *name, const uint32_t *in,
                             uint32_t n_in, uint32_t tied, const ft_op *op)
{
    char spec[256];
    ft_error err;

    if (ft__build_failed(s->b))
        return FT_NONE;
    if (ft_op_check(op, &err)) {
        ft_op_print(op, spec, sizeof(spec));
        ft__build_fail(s->b, FT_EFORMAT, 0, "%s: %s", spec, err.msg);
        return FT_NONE;
    }
    return node_of_op(s, name, in, n_in, tied, op);
}

static ft_op op_on(ft_kind kind, ft_dtype dtype, ft_shape x)
{
    ft_op op;

    ft__op_init(&op, kind, dtype);
    ft__op_set_shape(&op, FT_K_x, &x);
    return op;
}

uint32_t ft__llm_unary(ft__llm_step *s, const char *name, ft_kind kind, uint32_t x,
                       ft_shape shape)
{
    ft_op op = op_on(kind, s->m.dtype, shape);

    ft__op_set1(&op, FT_K_norm, 1);
    return node_of_kind(s, name, &x, 1, FT_NONE, &op);
}

uint32_t ft__llm_binary(ft__llm_step *s, const char *name, ft_kind kind, uint32_t x,
                        uint32_t y, ft_shape of_x, ft_shape of_y)
{
    ft_op op = op_on(kind, s->m.dtype, of_x);

    ft__op_set_shape(&op, FT_K_y, &of_y);
    return node_of_kind(s, name, (uint32_t[]){x, y}, 2, FT_NONE, &op);
}

uint32_t ft__llm_view(ft__llm_step *s, uint32_t x, ft_shape from, ft_shape to)
{
    ft_op op = op_on(FT_KIND_view, s->m.dtype, from);

    ft__op_set_shape(&op, FT_K_out, &to);
    return node_of_kind(s, "", &x, 1, FT_NONE, &op);
}

uint32_t ft__llm_as(ft__llm_step *s, uint32_t x, ft_shape to)
{
    if (x == FT_NONE || ft__build_failed(s->b))
        return FT_NONE;
    return ft__llm_view(s, x, ft__build_get(s->b, x)->shape, to);
}

/* " to=bf16 block=128 dtype=fp8e4m3", " weights=int4 block=128" */
void ft__llm_put_types(char out[96], const ft__llm_step *s)
{
    const ft__llm_quant *q = &s->m.quant[s->part];
    char block[32] = "";

    *out = 0;
    if (q->weights == FT_DTYPE_NONE)
        return;
    if (q->block)
        snprintf(block, sizeof(block), " block=%" PRId64, q->block);
    if (q->activations)
        snprintf(out, 96, " to=%s%s dtype=%s", s->type, block,
                 ft_dtype_name(q->weights));
    else
        snprintf(out, 96, " weights=%s%s", ft_dtype_name(q->weights), block);
}

/* Dequantizes frozen weights to the dtype of the product, for each product. GPTQ's are
 * unpacked by operations of PyTorch (AutoGPTQ's modules): shifted as int32, narrowed,
 * masked, moved and scaled, 22 B of a weight. */
static uint32_t dequantized(ft__llm_step *s, int64_t from, int64_t to)
{
    const ft__llm_quant *q = &s->m.quant[s->part];
    const ft__llm_sizes all = SIZES(from * to);
    const uint32_t packed =
        ft__llm_tensor_of(s, "", FT_ROLE_WEIGHT, q->weights, &all.shape);

    if (q->block)
        ft__llm_weight(s, SHAPE(ft__llm_rounded_up(from * to, q->block)));
    if (s->m.gptq) {
        const int64_t moved = 22 * from * to * 8 / (int64_t)ft_dtype_bits(s->m.dtype);

        return ft__llm_node(s, "dequantize", packed, "generic read=%s out=%s",
                            X(moved - from * to), all.s);
    }
    return ft__llm_node(s, "dequantize", packed, "cast x=%s to=%s dtype=%s", all.s,
                        s->type, ft_dtype_name(q->weights));
}

/* A product whose weights are trained, beside others that are frozen. */
static uint32_t adapter(ft__llm_step *s, const char *name, uint32_t x, int64_t rows,
                        int64_t from, int64_t to, int64_t weights)
{
    const uint32_t w = ft__llm_weight(s, SHAPE(weights));

    if (w != FT_NONE)
        ft__build_trainable(s->b, w);
    return ft__llm_node_with(s, name, x, w, "linear x=%s out=%s", X(rows, from), X(to));
}

/* y and B A x, of that rank, as PEFT has it (arXiv:2106.09685): each of several
 * matrices that are one product here has an A of its own. */
static uint32_t adapted(ft__llm_step *s, const char *name, uint32_t x, uint32_t y,
                        int64_t rows, int64_t from, int64_t to)
{
    const int64_t n = strcmp(name, "qkv_proj") == 0       ? 3
                      : strcmp(name, "gate_up_proj") == 0 ? 2
                                                          : 1;
    const ft__llm_sizes all = SIZES(rows, to);

    x = adapter(s, "lora_A", x, rows, from, n * s->lora, n * s->lora * from);
    x = ft__llm_view(s, x, SHAPE(rows, n * s->lora), SHAPE(rows, s->lora));
    x = adapter(s, "lora_B", x, rows, s->lora, to, s->lora * to);
    x = ft__llm_node_on(s, "scaling", (uint32_t[]){x, ft__llm_weight(s, SHAPE(1))}, 2,
                        "mul x=%s y=1", all.s);
    return ft__llm_node_on(s, "add", (uint32_t[]){y, x}, 2, "add x=%s y=%s", all.s,
                           all.s);
}

uint32_t ft__llm_linear(ft__llm_step *s, const char *name, uint32_t x, int64_t rows,
                        int64_t from, int64_t to, bool bias)
{
    const ft__llm_quant *q = &s->m.quant[s->part];
    const bool packed = s->lora && q->weights != FT_DTYPE_NONE && !q->activations;
    ft_op op = op_on(FT_KIND_linear, q->activations ? q->weights : s->m.dtype,
                     SHAPE(rows, from));
    uint32_t y;

    ft__op_set1(&op, FT_K_out, to);
    ft__op_set1(&op, FT_K_bias, bias);
    if (q->weights != FT_DTYPE_NONE && !packed) {
        ft__op_set1(&op, q->activations ? FT_K_to : FT_K_weights,
                    q->activations ? s->m.dtype : q->weights);
        ft__op_set1(&op, FT_K_block, q->block);
    }
    y = node_of_kind(s, name, &x, 1, packed ? dequantized(s, from, to) : FT_NONE, &op);
    return s->lora && (!s->attention_alone || s->part == FT__LLM_PART_ATTENTION)
               ? adapted(s, name, x, y, rows, from, to)
               : y;
}

/* A norm as model code has it: in fp32, operation by operation. A square is a
 * multiplication with one operand: `abs` takes as long. */
static uint32_t unfused_norm(ft__llm_step *s, const char *name, uint32_t x,
                             int64_t size)
{
    const ft_shape own = {.rank = 1, .dim = {size}};
    const ft__llm_sizes all = SIZES(s->rows, size), one = SIZES(s->rows, 1);
    uint32_t y;

    x = ft__llm_node(s, "", x, "cast x=%s to=fp32", all.s);
    y = ft__llm_node(s, "", x, "abs x=%s dtype=fp32", all.s);
    y = ft__llm_node(s, "", y, "reduce_mean x=%s axes=1 dtype=fp32", all.s);
    y = ft__llm_node(s, "", y, "rsqrt x=%s dtype=fp32", one.s);
    x = ft__llm_node_on(s, "", (uint32_t[]){x, y}, 2, "mul x=%s y=%s dtype=fp32", all.s,
                        one.s);
    x = ft__llm_node(s, "", x, "cast x=%s to=%s dtype=fp32", all.s, s->type);
    return ft__llm_node_on(s, name, (uint32_t[]){x, ft__llm_weight(s, own)}, 2,
                           "mul x=%s y=%s", all.s, X(size));
}

uint32_t ft__llm_norm(ft__llm_step *s, const char *name, uint32_t x, int64_t size)
{
    const bool rms = s->m.norm == FT__LLM_RMS;

    if (s->unfused && rms)
        return unfused_norm(s, name, x, size);
    return ft__llm_unary(s, name, rms ? FT_KIND_rmsnorm : FT_KIND_layernorm, x,
                         SHAPE(s->rows, size));
}

uint32_t ft__llm_add(ft__llm_step *s, const char *name, uint32_t x, uint32_t y)
{
    const ft_shape all = SHAPE(s->rows, s->m.hidden);

    return ft__llm_binary(s, name, FT_KIND_add, x, y, all, all);
}
