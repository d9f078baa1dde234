/* Which ONNX operators an operation is: kinds that are one operator without
 * attributes, and those that exporters write as a few. */
#include <stddef.h>

#include "node.h"

/* A recipe: operators separated by '|', each "Type inputs > outputs"; or NULL. */
static const char *const recipes[FT_KIND_COUNT] = {
    [FT_KIND_relu] = "Relu i0 > o0",
    [FT_KIND_sigmoid] = "Sigmoid i0 > o0",
    [FT_KIND_leaky_relu] = "LeakyRelu i0 > o0",
    [FT_KIND_elu] = "Elu i0 > o0",
    [FT_KIND_selu] = "Selu i0 > o0",
    [FT_KIND_tanh] = "Tanh i0 > o0",
    [FT_KIND_silu] = "Sigmoid i0 > t0|Mul i0 t0 > o0",
    [FT_KIND_hardswish] = "HardSwish i0 > o0",
    [FT_KIND_gelu] = "Gelu i0 > o0",
    [FT_KIND_mish] = "Mish i0 > o0",
    [FT_KIND_softplus] = "Softplus i0 > o0",
    [FT_KIND_softsign] = "Softsign i0 > o0",
    [FT_KIND_erf] = "Erf i0 > o0",
    [FT_KIND_exp] = "Exp i0 > o0",
    [FT_KIND_log] = "Log i0 > o0",
    [FT_KIND_sqrt] = "Sqrt i0 > o0",
    [FT_KIND_abs] = "Abs i0 > o0",
    [FT_KIND_neg] = "Neg i0 > o0",
    [FT_KIND_sign] = "Sign i0 > o0",
    [FT_KIND_reciprocal] = "Reciprocal i0 > o0",
    [FT_KIND_floor] = "Floor i0 > o0",
    [FT_KIND_ceil] = "Ceil i0 > o0",
    [FT_KIND_round] = "Round i0 > o0",
    [FT_KIND_sin] = "Sin i0 > o0",
    [FT_KIND_cos] = "Cos i0 > o0",
    [FT_KIND_tan] = "Tan i0 > o0",
    [FT_KIND_sinh] = "Sinh i0 > o0",
    [FT_KIND_cosh] = "Cosh i0 > o0",
    [FT_KIND_asin] = "Asin i0 > o0",
    [FT_KIND_acos] = "Acos i0 > o0",
    [FT_KIND_atan] = "Atan i0 > o0",
    [FT_KIND_asinh] = "Asinh i0 > o0",
    [FT_KIND_acosh] = "Acosh i0 > o0",
    [FT_KIND_atanh] = "Atanh i0 > o0",
    [FT_KIND_rsqrt] = "Sqrt i0 > t0|Reciprocal t0 > o0",
    [FT_KIND_expm1] = "Exp i0 > t0|Sub t0 one > o0",
    [FT_KIND_log1p] = "Add i0 one > t0|Log t0 > o0",
    [FT_KIND_bitwise_not] = "BitwiseNot i0 > o0",
    [FT_KIND_logical_not] = "Not i0 > o0",
    [FT_KIND_isnan] = "IsNaN i0 > o0",
    [FT_KIND_isinf] = "IsInf i0 > o0",
    [FT_KIND_add] = "Add i0 i1 > o0",
    [FT_KIND_sub] = "Sub i0 i1 > o0",
    [FT_KIND_mul] = "Mul i0 i1 > o0",
    [FT_KIND_div] = "Div i0 i1 > o0",
    [FT_KIND_pow] = "Pow i0 i1 > o0",
    [FT_KIND_minimum] = "Min i0 i1 > o0",
    [FT_KIND_maximum] = "Max i0 i1 > o0",
    [FT_KIND_prelu] = "PRelu i0 i1 > o0",
    [FT_KIND_bitwise] = "BitwiseAnd i0 i1 > o0",
    [FT_KIND_equal] = "Equal i0 i1 > o0",
    [FT_KIND_less] = "Less i0 i1 > o0",
    [FT_KIND_less_equal] = "LessOrEqual i0 i1 > o0",
    [FT_KIND_greater] = "Greater i0 i1 > o0",
    [FT_KIND_greater_equal] = "GreaterOrEqual i0 i1 > o0",
    [FT_KIND_logical_and] = "And i0 i1 > o0",
    [FT_KIND_logical_or] = "Or i0 i1 > o0",
    [FT_KIND_logical_xor] = "Xor i0 i1 > o0",
    [FT_KIND_where] = "Where i0 i1 i2 > o0",
    [FT_KIND_matmul] = "MatMul i0 i1 > o0",
    [FT_KIND_global_avgpool] = "GlobalAveragePool i0 > o0",
    [FT_KIND_global_maxpool] = "GlobalMaxPool i0 > o0",
    [FT_KIND_copy] = "Identity i0 > o0",
    [FT_KIND_det] = "Det i0 > o0",
};

/* Why a kind is not run at all. */
static const char *const refusals[FT_KIND_COUNT] = {
    [FT_KIND_atan2] = "ONNX has no such operator; exporters write a dozen others",
    [FT_KIND_lgamma] = "ONNX has no such operator",
    [FT_KIND_max_unpool] = "it needs the indices of a pooling",
    [FT_KIND_cross_entropy] = "it needs labels, and the runtime is for inference",
    [FT_KIND_dropout] = "it is part of training, and the runtime is for inference",
    [FT_KIND_stochastic_depth] =
        "it is part of training, and the runtime is for inference",
    [FT_KIND_moe] = "ONNX has no such operator",
    [FT_KIND_collective] = "it takes several devices",
    [FT_KIND_nonzero] = "the size of its result depends on data",
    [FT_KIND_nms] = "the size of its result depends on data",
    [FT_KIND_sgd] = "optimizers are part of training, the runtime is for inference",
    [FT_KIND_momentum] =
        "optimizers are part of training, the runtime is for inference",
    [FT_KIND_adam] = "optimizers are part of training, the runtime is for inference",
    [FT_KIND_adamw] = "optimizers are part of training, the runtime is for inference",
    [FT_KIND_view] = "a view costs nothing",
    [FT_KIND_generic] = "nobody knows what it computes",
};

static void copy_part(char *out, size_t size, const char **at, char end)
{
    size_t n = 0;

    while (**at && **at != end && **at != '|') {
        if (n + 1 < size)
            out[n++] = **at;
        ++*at;
    }
    while (n && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    if (**at)
        ++*at;
    while (**at == ' ')
        ++*at;
}

static void follow(ft__model *m, const char *recipe)
{
    char type[32], in[32], out[32];

    while (*recipe) {
        copy_part(type, sizeof(type), &recipe, ' ');
        copy_part(in, sizeof(in), &recipe, '>');
        copy_part(out, sizeof(out), &recipe, '|');
        ft__node(m, type, in, out);
    }
}

static bool is_whole(ft_dtype t)
{
    return t != FT_DTYPE_fp32 && t != FT_DTYPE_fp16 && t != FT_DTYPE_bf16 &&
           t != FT_DTYPE_fp64;
}

/* What has to be put right before, and constants that recipes use. */
static void prepare(ft__model *m)
{
    ft_kind k = m->op->kind;

    if (k == FT_KIND_div && is_whole(m->op->dtype)) {
        m->repair = FT__REPAIR_DIVISOR;
        m->repair_operand = 1;
    }
    if (k == FT_KIND_expm1 || k == FT_KIND_log1p)
        ft__const_scalar(m, "one", m->op->dtype, 1);
}

/* What the runtime has for other types only: whole numbers have no Relu, booleans
 * are not bits, and a choice of booleans is one of bytes. */
static bool write_substitute(ft__model *m)
{
    const ft_op *op = m->op;

    if (op->kind == FT_KIND_relu && is_whole(op->dtype)) {
        ft__const_scalar(m, "zero", op->dtype, 0);
        ft__node(m, "Max", "i0 zero", "o0");
        return true;
    }
    if (op->kind == FT_KIND_bitwise && op->dtype == FT_DTYPE_bool) {
        ft__node(m, "And", "i0 i1", "o0");
        return true;
    }
    if (op->kind == FT_KIND_bitwise_not && op->dtype == FT_DTYPE_bool) {
        ft__node(m, "Not", "i0", "o0");
        return true;
    }
    if (op->kind == FT_KIND_where && op->dtype == FT_DTYPE_bool)
        m->in_type[1] = m->in_type[2] = m->out_type[0] = FT_DTYPE_uint8;
    return false;
}

void ft__write_nodes(ft__model *m)
{
    ft_kind k = m->op->kind;

    m->why = refusals[k];
    if (m->why || write_substitute(m) || ft__write_layer(m) || ft__write_move(m))
        return;
    if (!recipes[k]) {
        m->why = "ONNX has no such operator";
        return;
    }
    prepare(m);
    follow(m, recipes[k]);
}
