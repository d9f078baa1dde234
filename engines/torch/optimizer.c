/* Optimizers as torch.optim runs them on one parameter after the other, its default
 * on CPUs: the same calls in the same order, with its default rates but for SGD's
 * momentum, 0.9 (weight decay: AdamW only). */
#include <math.h>

#include "backward.h"

#define TENSOR_CALL "4callERNS_6TensorE"
#define SCALAR "RKN3c106ScalarE"
#define ADD_TENSOR "_ZN2at4_ops11add__Tensor" TENSOR_CALL "RKS2_" SCALAR
#define ADD_SCALAR "_ZN2at4_ops11add__Scalar" TENSOR_CALL SCALAR "S7_"
#define MUL_SCALAR "_ZN2at4_ops11mul__Scalar" TENSOR_CALL SCALAR
#define LERP_SCALAR "_ZN2at4_ops12lerp__Scalar" TENSOR_CALL "RKS2_" SCALAR
#define ADDCMUL "_ZN2at4_ops8addcmul_" TENSOR_CALL "RKS2_S5_" SCALAR
#define ADDCDIV "_ZN2at4_ops8addcdiv_" TENSOR_CALL "RKS2_S5_" SCALAR
#define DIV_SCALAR "_ZN2at4_ops10div_Scalar4callERKNS_6TensorE" SCALAR

static const double sgd_rate = 1e-3, momentum = 0.9;
static const double adam_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
static const double decay = 0.01;

enum { PARAMETER, GRADIENT, STATE, SECOND_STATE };

/* to += alpha * x */
static void add(ft_block *b, ft__reg to, ft__reg x, double alpha)
{
    ft__call_native_over(b, ADD_TENSOR);
    ft__args(b, FT__TENSOR(to), FT__TENSOR(x), FT__SCALAR(alpha));
    (void)ft__result(b);
}

static void scale(ft_block *b, ft__reg to, double by)
{
    ft__call_native_over(b, MUL_SCALAR);
    ft__args(b, FT__TENSOR(to), FT__SCALAR(by));
    (void)ft__result(b);
}

ft_status ft__opt_sgd(ft_block *b)
{
    add(b, ft__in(b, PARAMETER), ft__in(b, GRADIENT), -sgd_rate);
    return FT_OK;
}

ft_status ft__opt_momentum(ft_block *b)
{
    scale(b, ft__in(b, STATE), momentum);
    add(b, ft__in(b, STATE), ft__in(b, GRADIENT), 1);
    add(b, ft__in(b, PARAMETER), ft__in(b, STATE), -sgd_rate);
    return FT_OK;
}

/* What changes from step to step: the root of the second moment's correction, and
 * the size of the step. */
static void next_step(ft_block *b)
{
    double t = (double)++b->n_runs;

    ft__set_scalar(b, b->varying[0], sqrt(1 - pow(beta2, t)));
    ft__set_scalar(b, b->varying[1], -adam_rate / (1 - pow(beta1, t)));
}

ft_status ft__opt_adam(ft_block *b)
{
    ft__reg g = ft__in(b, GRADIENT), m = ft__in(b, STATE), v = ft__in(b, SECOND_STATE);
    ft__reg r;

    if (ft_op_at(&b->op, FT_K_weights, 0))
        return ft__unsupported(b, "states of another type than the parameter's");
    ft__call_native_over(b, ADD_SCALAR);
    ft__args(b, FT__TENSOR(ft__number(b, 0)), FT__SCALAR(1), FT__SCALAR(1));
    (void)ft__result(b);
    if (b->op.kind == FT_KIND_adamw)
        scale(b, ft__in(b, PARAMETER), 1 - adam_rate * decay);
    ft__call_native_over(b, LERP_SCALAR);
    ft__args(b, FT__TENSOR(m), FT__TENSOR(g), FT__SCALAR(1 - beta1));
    (void)ft__result(b);
    scale(b, v, beta2);
    ft__call_native_over(b, ADDCMUL);
    ft__args(b, FT__TENSOR(v), FT__TENSOR(g), FT__TENSOR(g), FT__SCALAR(1 - beta2));
    (void)ft__result(b);
    r = ft__call1(b, "aten::sqrt", v);
    ft__call_native(b, DIV_SCALAR);
    ft__args(b, FT__TENSOR(r));
    b->varying[0] = ft__arg_scalar(b, 1);
    r = ft__result(b);
    ft__call_native_over(b, ADD_SCALAR);
    ft__args(b, FT__TENSOR(r), FT__SCALAR(epsilon), FT__SCALAR(1));
    (void)ft__result(b);
    ft__call_native_over(b, ADDCDIV);
    ft__args(b, FT__TENSOR(ft__in(b, PARAMETER)), FT__TENSOR(m), FT__TENSOR(r));
    b->varying[1] = ft__arg_scalar(b, -adam_rate);
    (void)ft__result(b);
    b->before_run = next_step;
    return FT_OK;
}
