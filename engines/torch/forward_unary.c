/* Elementwise operations of one operand. */

#include "kinds.h"

/* Kinds that are one call with nothing but x: PyTorch's name and that of the form
 * that writes over x. */
typedef struct simple {
    const char *name, *in_place;
} simple;

static const simple *find_simple(ft_kind k)
{
#define SIMPLE(kind, op) [FT_KIND_##kind] = { "aten::" op, "aten::" op "_" }
    static const simple table[FT_KIND_COUNT] = {
        SIMPLE(relu, "relu"),
        SIMPLE(selu, "selu"),
        SIMPLE(clip, "relu6"),
        SIMPLE(sigmoid, "sigmoid"),
        SIMPLE(hardsigmoid, "hardsigmoid"),
        SIMPLE(tanh, "tanh"),
        SIMPLE(silu, "silu"),
        SIMPLE(hardswish, "hardswish"),
        SIMPLE(mish, "mish"),
        SIMPLE(erf, "erf"),
        SIMPLE(exp, "exp"),
        SIMPLE(log, "log"),
        SIMPLE(sqrt, "sqrt"),
        SIMPLE(abs, "abs"),
        SIMPLE(neg, "neg"),
        SIMPLE(sign, "sign"),
        SIMPLE(reciprocal, "reciprocal"),
        SIMPLE(floor, "floor"),
        SIMPLE(ceil, "ceil"),
        SIMPLE(round, "round"),
        SIMPLE(sin, "sin"),
        SIMPLE(cos, "cos"),
        SIMPLE(tan, "tan"),
        SIMPLE(sinh, "sinh"),
        SIMPLE(cosh, "cosh"),
        SIMPLE(asin, "asin"),
        SIMPLE(acos, "acos"),
        SIMPLE(atan, "atan"),
        SIMPLE(asinh, "asinh"),
        SIMPLE(acosh, "acosh"),
        SIMPLE(atanh, "atanh"),
        SIMPLE(rsqrt, "rsqrt"),
        SIMPLE(expm1, "expm1"),
        SIMPLE(log1p, "log1p"),
        SIMPLE(lgamma, "lgamma"),
        SIMPLE(bitwise_not, "bitwise_not"),
        SIMPLE(logical_not, "logical_not"),
        [FT_KIND_isnan] = {"aten::isnan", NULL},
        [FT_KIND_isinf] = {"aten::isinf", NULL},
    };
#undef SIMPLE
    return &table[k];
}

static bool writes_over(ft_block *b)
{
    return (b->in_place = b->how & FT_VALUES_IN_PLACE);
}

ft_status ft__fwd_unary(ft_block *b)
{
    const simple *s = find_simple(b->op.kind);
    const char *name = s->in_place && writes_over(b) ? s->in_place : s->name;

    ft__out(b, 0, ft__call1(b, name, ft__in(b, 0)));
    return FT_OK;
}

ft_status ft__fwd_gelu(ft_block *b)
{
    return ft__out_made(b, writes_over(b) ? "aten::gelu_" : "aten::gelu", "",
                        FT__TENSOR(ft__in(b, 0)),
                        FT__TEXT(b->op.kind == FT_KIND_gelu ? "none" : "tanh"));
}

/* Those with numbers: C++ names, and the numbers. */
ft_status ft__fwd_scalars(ft_block *b)
{
    static const struct {
        const char *symbol, *in_place;
        uint32_t n;
        double value[3];
    } table[FT_KIND_COUNT] = {
        [FT_KIND_leaky_relu] =
            {"_ZN2at4_ops10leaky_relu4callERKNS_6TensorERKN3c106ScalarE",
             "_ZN2at4_ops11leaky_relu_4callERNS_6TensorERKN3c106ScalarE",
             1,
             {0.01}},
        [FT_KIND_elu] = {"_ZN2at4_ops3elu4callERKNS_6TensorERKN3c106ScalarES8_S8_",
                         "_ZN2at4_ops4elu_4callERNS_6TensorERKN3c106ScalarES7_S7_",
                         3,
                         {1, 1, 1}},
        [FT_KIND_softplus] =
            {"_ZN2at4_ops8softplus4callERKNS_6TensorERKN3c106ScalarES8_",
             NULL,
             2,
             {1, 20}},
        [FT_KIND_thresholded_relu] =
            {"_ZN2at4_ops9threshold4callERKNS_6TensorERKN3c106ScalarES8_",
             NULL,
             2,
             {1, 0}},
        [FT_KIND_shrink] = {"_ZN2at4_ops10hardshrink4callERKNS_6TensorERKN3c106ScalarE",
                            NULL,
                            1,
                            {0.5}},
    };
    bool over = table[b->op.kind].in_place && writes_over(b);

    if (over)
        ft__call_native_over(b, table[b->op.kind].in_place);
    else
        ft__call_native(b, table[b->op.kind].symbol);
    ft__args(b, FT__TENSOR(ft__in(b, 0)));
    for (uint32_t i = 0; i < table[b->op.kind].n; i++)
        ft__args(b, FT__SCALAR(table[b->op.kind].value[i]));
    return ft__out_result(b);
}

/* x / (1 + |x|), in the steps of torch.nn.functional.softsign(). */
ft_status ft__fwd_softsign(ft_block *b)
{
    ft__reg r = ft__call1(b, "aten::abs", ft__in(b, 0));

    r = ft__call_add(b, r, ft__number(b, 1), 1);
    ft__out(b, 0, ft__call2(b, "aten::div", "Tensor", ft__in(b, 0), r));
    return FT_OK;
}

ft_status ft__fwd_dropout(ft_block *b)
{
    bool keep = b->how & FT_VALUES_KEEP;

    ft__call_with(b, keep ? "aten::native_dropout" : "aten::dropout", "",
                  FT__TENSOR(ft__in(b, 0)), FT__REAL(0.5),
                  keep ? FT__OPT_INT(1) : FT__INT(1));
    ft__out_and_keep(b, keep ? 2 : 1);
    return FT_OK;
}

static ft__reg cast(ft_block *b, ft__reg x, ft_dtype to)
{
    return ft__made(b, "aten::to", "dtype", FT__TENSOR(x),
                    FT__INT(b->ctx->api.dtype[to]), FT__INT(0), FT__INT(0), FT__NONE);
}

ft_status ft__fwd_cast(ft_block *b)
{
    ft_dtype to = (ft_dtype)ft_op_at(&b->op, FT_K_to, 0);

    if (b->ctx->api.dtype[to] < 0)
        return ft__unsupported(b, "PyTorch has no such element type");
    ft__out(b, 0, cast(b, ft__in(b, 0), to));
    return FT_OK;
}

/* With a scale of 1/16, in the steps of torch.ao's decomposed quantisation. */
ft_status ft__fwd_quantize(ft_block *b)
{
    ft_dtype to = (ft_dtype)ft_op_at(&b->op, FT_K_to, 0);
    double low = to == FT_DTYPE_int8 ? -128 : 0;
    ft__reg r;

    if (to != FT_DTYPE_int8 && to != FT_DTYPE_uint8)
        return ft__unsupported(b, "bytes only");
    r = ft__call2(b, "aten::mul", "Tensor", ft__in(b, 0), ft__number(b, 16));
    r = ft__call1(b, "aten::round", r);
    ft__call_with(b, "aten::clamp", "Tensor", FT__TENSOR(r),
                  FT__MAYBE(ft__number(b, low)), FT__MAYBE(ft__number(b, low + 255)));
    ft__out(b, 0, cast(b, ft__result(b), to));
    return FT_OK;
}

ft_status ft__fwd_dequantize(ft_block *b)
{
    ft_dtype to = (ft_dtype)ft_op_at(&b->op, FT_K_to, 0);
    ft__reg r;

    if (b->ctx->api.dtype[to] < 0)
        return ft__unsupported(b, "PyTorch has no such element type");
    r = cast(b, ft__in(b, 0), to);
    ft__out(b, 0, ft__call2(b, "aten::mul", "Tensor", r, ft__number(b, 1.0 / 16)));
    return FT_OK;
}

ft_status ft__fwd_add(ft_block *b)
{
    int alpha = b->op.kind == FT_KIND_sub ? -1 : 1;

    if (!writes_over(b)) {
        ft__out(b, 0, ft__call_add(b, ft__in(b, 0), ft__in(b, 1), alpha));
        return FT_OK;
    }
    ft__call_native_over(
        b, "_ZN2at4_ops11add__Tensor4callERNS_6TensorERKS2_RKN3c106ScalarE");
    ft__args(b, FT__TENSOR(ft__in(b, 0)), FT__TENSOR(ft__in(b, 1)),
             ft__is_whole(b->op.dtype) ? FT__SCALAR_INT(alpha) : FT__SCALAR(alpha));
    return ft__out_result(b);
}

ft_status ft__fwd_binary(ft_block *b)
{
    static const struct {
        const char *name, *overload, *in_place;
    } table[FT_KIND_COUNT] = {
        [FT_KIND_mul] = {"aten::mul", "Tensor", "aten::mul_"},
        [FT_KIND_div] = {"aten::div", "Tensor", "aten::div_"},
        [FT_KIND_pow] = {"aten::pow", "Tensor_Tensor", NULL},
        [FT_KIND_mod] = {"aten::fmod", "Tensor", NULL},
        [FT_KIND_minimum] = {"aten::minimum", "", NULL},
        [FT_KIND_maximum] = {"aten::maximum", "", NULL},
        [FT_KIND_prelu] = {"aten::_prelu_kernel", "", NULL},
        [FT_KIND_atan2] = {"aten::atan2", "", NULL},
        [FT_KIND_bitwise] = {"aten::bitwise_and", "Tensor", NULL},
        [FT_KIND_equal] = {"aten::eq", "Tensor", NULL},
        [FT_KIND_less] = {"aten::lt", "Tensor", NULL},
        [FT_KIND_less_equal] = {"aten::le", "Tensor", NULL},
        [FT_KIND_greater] = {"aten::gt", "Tensor", NULL},
        [FT_KIND_greater_equal] = {"aten::ge", "Tensor", NULL},
        [FT_KIND_logical_and] = {"aten::logical_and", "", NULL},
        [FT_KIND_logical_or] = {"aten::logical_or", "", NULL},
        [FT_KIND_logical_xor] = {"aten::logical_xor", "", NULL},
    };
    const char *name = table[b->op.kind].name;

    if (table[b->op.kind].in_place && writes_over(b))
        name = table[b->op.kind].in_place;
    if (b->op.kind == FT_KIND_mod && ft__is_whole(b->op.dtype))
        name = "aten::remainder";
    if (b->op.kind == FT_KIND_div && ft__is_whole(b->op.dtype)) {
        b->in_place = false;
        return ft__out_made(b, "aten::div", "Tensor_mode", FT__TENSOR(ft__in(b, 0)),
                            FT__TENSOR(ft__in(b, 1)), FT__OPT_TEXT("trunc"));
    }
    ft__out(b, 0,
            ft__call2(b, name, table[b->op.kind].overload, ft__in(b, 0), ft__in(b, 1)));
    return FT_OK;
}

ft_status ft__fwd_where(ft_block *b)
{
    ft__call(b, "aten::where", "self");
    for (uint32_t i = 0; i < 3; i++)
        ft__args(b, FT__TENSOR(ft__in(b, i)));
    return ft__out_result(b);
}
