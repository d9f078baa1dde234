/* Gradients of elementwise operations. */
#include <math.h>
#include <string.h>

#include "backward.h"

/* For each operand an expression in postfix, as PyTorch's derivatives.yaml has it:
 *   g the result's gradient, o the result, x y z the operands, digits numbers, h 1/2,
 *   k 2 / sqrt(pi)
 *   + - * /  < =  ? where      n neg, s sign, e exp, l log, c cos, i sin, r rsqrt,
 *   C cosh, S sinh, d digamma, a abs, p power
 * Its value is summed over the axes along which the operand was broadcast. */
struct formula {
    ft_kind kind;
    const char *operand[3];
};

static const struct formula formulas[] = {
    {FT_KIND_neg, {"gn"}},
    {FT_KIND_copy, {"g"}},
    {FT_KIND_exp, {"go*"}},
    {FT_KIND_expm1, {"go1+*"}},
    {FT_KIND_log, {"gx/"}},
    {FT_KIND_log1p, {"gx1+/"}},
    {FT_KIND_sqrt, {"go2*/"}},
    {FT_KIND_rsqrt, {"ghn*oo*o**"}},
    {FT_KIND_reciprocal, {"gnoo**"}},
    {FT_KIND_abs, {"gxs*"}},
    {FT_KIND_sin, {"gxc*"}},
    {FT_KIND_cos, {"gxin*"}},
    {FT_KIND_tan, {"goo*1+*"}},
    {FT_KIND_sinh, {"gxC*"}},
    {FT_KIND_cosh, {"gxS*"}},
    {FT_KIND_asin, {"g1xx*-r*"}},
    {FT_KIND_acos, {"gn1xx*-r*"}},
    {FT_KIND_atan, {"gxx*1+/"}},
    {FT_KIND_asinh, {"gxx*1+r*"}},
    {FT_KIND_acosh, {"gxx*1-r*"}},
    {FT_KIND_atanh, {"g1xx*-/"}},
    {FT_KIND_lgamma, {"gxd*"}},
    {FT_KIND_erf, {"kxx*ne*g*"}},
    {FT_KIND_softsign, {"gxa1+/gnx*xa1+xa1+*/xs*+"}},
    {FT_KIND_add, {"g", "g"}},
    {FT_KIND_sub, {"g", "gn"}},
    {FT_KIND_mul, {"gy*", "gx*"}},
    {FT_KIND_div, {"gy/", "gnxy/y/*"}},
    {FT_KIND_pow, {"gyxy1-p**", "gxypxl**"}},
    {FT_KIND_minimum, {"yx<0xy=g2/g??", "xy<0xy=g2/g??"}},
    {FT_KIND_maximum, {"xy<0xy=g2/g??", "yx<0xy=g2/g??"}},
    {FT_KIND_atan2, {"gyxx*yy*+/*", "gxnxx*yy*+/*"}},
    {FT_KIND_where, {NULL, "xg0?", "x0g?"}},
};

enum { MAX_STACK = 8, MAX_NUMBERS = 4 };

struct machine {
    ft_block *b;
    ft__reg stack[MAX_STACK];
    uint32_t top;
    char letter[MAX_NUMBERS]; /* numbers made so far */
    ft__reg number[MAX_NUMBERS];
    uint32_t n_numbers;
};

static void push(struct machine *m, ft__reg r)
{
    if (m->top < MAX_STACK)
        m->stack[m->top++] = r;
}

static ft__reg pop(struct machine *m)
{
    return m->top ? m->stack[--m->top] : FT__NO_REG;
}

static ft__reg number(struct machine *m, char c)
{
    double v = c == 'h' ? 0.5 : c == 'k' ? 2 / sqrt(acos(-1.0)) : (double)(c - '0');

    for (uint32_t i = 0; i < m->n_numbers; i++)
        if (m->letter[i] == c)
            return m->number[i];
    if (m->n_numbers == MAX_NUMBERS)
        return FT__NO_REG;
    m->letter[m->n_numbers] = c;
    return m->number[m->n_numbers++] = ft__number(m->b, v);
}

static bool load(struct machine *m, char c)
{
    static const char operands[] = "xyz";
    const char *p = strchr(operands, c);

    if (p)
        push(m, ft__saved(m->b, (uint32_t)FT_SAVE_X << (p - operands)));
    else if (c == 'g' || c == 'o')
        push(m, c == 'g' ? ft__in(m->b, 0) : ft__saved(m->b, FT_SAVE_OUT));
    else if (strchr("0123456789hk", c))
        push(m, number(m, c));
    else
        return false;
    return true;
}

static bool unary(struct machine *m, char c)
{
    static const char letters[] = "nselcirCSda";
    static const char *const name[] = {"aten::neg",     "aten::sgn",  "aten::exp",
                                       "aten::log",     "aten::cos",  "aten::sin",
                                       "aten::rsqrt",   "aten::cosh", "aten::sinh",
                                       "aten::digamma", "aten::abs"};
    const char *p = strchr(letters, c);

    if (!p)
        return false;
    push(m, ft__call1(m->b, name[p - letters], pop(m)));
    return true;
}

static void binary(struct machine *m, char c)
{
    ft__reg y = pop(m), x = pop(m);

    switch (c) {
    case '+': push(m, ft__call_add(m->b, x, y, 1)); break;
    case '-': push(m, ft__call_add(m->b, x, y, -1)); break;
    case '*': push(m, ft__mul(m->b, x, y)); break;
    case '/': push(m, ft__div(m->b, x, y)); break;
    case '<': push(m, ft__call2(m->b, "aten::lt", "Tensor", x, y)); break;
    case '=': push(m, ft__call2(m->b, "aten::eq", "Tensor", x, y)); break;
    default: push(m, ft__call2(m->b, "aten::pow", "Tensor_Tensor", x, y)); break;
    }
}

static ft__reg evaluate(struct machine *m, const char *text)
{
    for (; *text; text++) {
        if (load(m, *text) || unary(m, *text))
            continue;
        if (*text == '?') {
            ft__reg y = pop(m), x = pop(m), condition = pop(m);

            ft__call(m->b, "aten::where", "self");
            ft__args(m->b, FT__TENSOR(condition), FT__TENSOR(x), FT__TENSOR(y));
            push(m, ft__result(m->b));
        } else {
            binary(m, *text);
        }
    }
    return pop(m);
}

static const struct formula *find(ft_kind kind)
{
    for (size_t i = 0; i < sizeof(formulas) / sizeof(*formulas); i++)
        if (formulas[i].kind == kind)
            return &formulas[i];
    return NULL;
}

ft_status ft__bwd_formula(ft_block *b)
{
    static const ft_key_id keys[] = {FT_K_x, FT_K_y, FT_K_z};
    const struct formula *f = find(b->op.kind);
    struct machine m = {.b = b};
    ft_op forward = b->op;
    ft_shape out, s;
    ft_dtype t;

    forward.phase = FT_PHASE_FORWARD;
    ft_op_output(&forward, 0, &out, &t);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t bit = (uint32_t)FT_WRT_X << i;

        if (!ft__wants(b, bit))
            continue;
        if (!f || !f->operand[i])
            return ft__unsupported(b, "it has no gradient for an operand");
        s = ft_op_shape(&b->op, keys[i]);
        ft__give(b, bit, ft__sum_to(b, evaluate(&m, f->operand[i]), &out, &s));
    }
    return FT_OK;
}

#define SCALAR "RKN3c106ScalarE"

/* g and x, or the result, through the dispatcher. */
static ft__reg simple(ft_block *b, const char *op, uint32_t saved)
{
    return ft__call2(b, op, "", ft__in(b, 0), ft__saved(b, saved));
}

static void begin(ft_block *b, const char *symbol, uint32_t saved)
{
    ft__call_native(b, symbol);
    ft__args(b, FT__TENSOR(ft__in(b, 0)), FT__TENSOR(ft__saved(b, saved)));
}

static ft__reg two_scalars(ft_block *b, const char *symbol, double p, double q)
{
    begin(b, symbol, FT_SAVE_X);
    ft__args(b, FT__SCALAR(p), FT__SCALAR(q));
    return ft__result(b);
}

static ft__reg relu(ft_block *b)
{
    begin(b, "_ZN2at4_ops18threshold_backward4callERKNS_6TensorES4_" SCALAR,
          FT_SAVE_OUT);
    ft__args(b, FT__SCALAR(0));
    return ft__result(b);
}

static ft__reg leaky_relu(ft_block *b)
{
    begin(b, "_ZN2at4_ops19leaky_relu_backward4callERKNS_6TensorES4_" SCALAR "b",
          FT_SAVE_X);
    ft__args(b, FT__SCALAR(0.01), FT__INT(0));
    return ft__result(b);
}

static ft__reg elu(ft_block *b, double alpha, double scale)
{
    ft__call_native(b,
                    "_ZN2at4_ops12elu_backward4callERKNS_6TensorE" SCALAR "S8_S8_bS4_");
    ft__args(b, FT__TENSOR(ft__in(b, 0)), FT__SCALAR(alpha), FT__SCALAR(scale),
             FT__SCALAR(1), FT__INT(0), FT__TENSOR(ft__saved(b, FT_SAVE_X)));
    return ft__result(b);
}

static ft__reg gelu(ft_block *b, const char *approximate)
{
    return ft__made(b, "aten::gelu_backward", "", FT__TENSOR(ft__in(b, 0)),
                    FT__TENSOR(ft__saved(b, FT_SAVE_X)), FT__TEXT(approximate));
}

static ft__reg activation(ft_block *b)
{
    switch (b->op.kind) {
    case FT_KIND_relu: return relu(b);
    case FT_KIND_leaky_relu: return leaky_relu(b);
    case FT_KIND_elu: return elu(b, 1, 1);
    case FT_KIND_selu: return elu(b, 1.67326324, 1.05070099);
    case FT_KIND_clip:
        return two_scalars(
            b, "_ZN2at4_ops17hardtanh_backward4callERKNS_6TensorES4_" SCALAR "S8_", 0,
            6);
    case FT_KIND_softplus:
        return two_scalars(
            b, "_ZN2at4_ops17softplus_backward4callERKNS_6TensorES4_" SCALAR "S8_", 1,
            20);
    case FT_KIND_sigmoid: return simple(b, "aten::sigmoid_backward", FT_SAVE_OUT);
    case FT_KIND_tanh: return simple(b, "aten::tanh_backward", FT_SAVE_OUT);
    case FT_KIND_hardsigmoid: return simple(b, "aten::hardsigmoid_backward", FT_SAVE_X);
    case FT_KIND_hardswish: return simple(b, "aten::hardswish_backward", FT_SAVE_X);
    case FT_KIND_silu: return simple(b, "aten::silu_backward", FT_SAVE_X);
    case FT_KIND_mish: return simple(b, "aten::mish_backward", FT_SAVE_X);
    case FT_KIND_gelu: return gelu(b, "none");
    default: return gelu(b, "tanh");
    }
}

ft_status ft__bwd_activation(ft_block *b)
{
    ft__give(b, FT_WRT_X, activation(b));
    return FT_OK;
}
