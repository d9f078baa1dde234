/* One work-item an element. REAL: T is floating-point. */

#ifndef LOWEST /* of what is quantised */
#define LOWEST 0
#endif

#define UNARY(name, value)                                                             \
    __kernel void name(__global const T *x, __global R *y, uint n)                     \
    {                                                                                  \
        uint i = get_global_id(0);                                                     \
        if (i < n) {                                                                   \
            T v = x[i];                                                                \
            y[i] = (R)(value);                                                         \
        }                                                                              \
    }

/* NAME_flat: one axis. shape: sizes, strides of x, strides of y. */
#define BINARY(name, value)                                                            \
    __kernel void name##_flat(__global const T *x, __global const T *y,                \
                              __global R *z, uint n, uint step_x, uint step_y)         \
    {                                                                                  \
        uint i = get_global_id(0);                                                     \
        if (i < n) {                                                                   \
            T a = x[i * step_x], b = y[i * step_y];                                    \
            z[i] = (R)(value);                                                         \
        }                                                                              \
    }                                                                                  \
    __kernel void name(__global const T *x, __global const T *y, __global R *z,        \
                       uint n, uint rank, __constant uint *shape)                      \
    {                                                                                  \
        uint i = get_global_id(0);                                                     \
        if (i < n) {                                                                   \
            T a = x[at(i, rank, shape, shape + 8)];                                    \
            T b = y[at(i, rank, shape, shape + 16)];                                   \
            z[i] = (R)(value);                                                         \
        }                                                                              \
    }

#if defined(TO_BOOL)
UNARY(k_cast, v != 0)
#else
UNARY(k_cast, v)
#endif
BINARY(k_equal, a == b)
BINARY(k_less, a < b)
BINARY(k_less_equal, a <= b)
BINARY(k_greater, a > b)
BINARY(k_greater_equal, a >= b)
BINARY(k_logical_and, a != 0 && b != 0)
BINARY(k_logical_or, a != 0 || b != 0)
BINARY(k_logical_xor, (a != 0) != (b != 0))
UNARY(k_logical_not, v == 0)

UNARY(k_relu, max(v, (T)0))
UNARY(k_clip, clamp(v, (T)0, (T)6))
UNARY(k_neg, -v)
UNARY(k_sign, (v > 0) - (v < 0))
BINARY(k_add, a + b)
BINARY(k_sub, a - b)
BINARY(k_mul, a *b)
BINARY(k_minimum, min(a, b))
BINARY(k_maximum, max(a, b))
BINARY(k_prelu, a < 0 ? a * b : a)

__kernel void k_where(__global const uchar *c, __global const T *x,
                      __global const T *y, __global T *z, uint n, uint rank,
                      __constant uint *shape)
{
    uint i = get_global_id(0);

    if (i < n)
        z[i] = c[at(i, rank, shape, shape + 8)] ? x[at(i, rank, shape, shape + 16)]
                                                : y[at(i, rank, shape, shape + 24)];
}

#ifdef REAL
static T logistic(T v)
{
    return 1 / (1 + exp(-v));
}

static T log_1_plus_exp(T v)
{
    return max(v, (T)0) + log1p(exp(-fabs(v)));
}

UNARY(k_isnan, isnan(v) != 0)
UNARY(k_isinf, isinf(v) != 0)
UNARY(k_leaky_relu, v < 0 ? (T)0.01f * v : v)
UNARY(k_elu, v < 0 ? expm1(v) : v)
UNARY(k_selu, (T)1.05070099f * (v < 0 ? (T)1.67326324f * expm1(v) : v))
UNARY(k_sigmoid, logistic(v))
UNARY(k_hardsigmoid, clamp(v / 5 + (T)0.5f, (T)0, (T)1))
UNARY(k_tanh, tanh(v))
UNARY(k_silu, v *logistic(v))
UNARY(k_hardswish, v *clamp(v + 3, (T)0, (T)6) / 6)
UNARY(k_gelu, (T)0.5f * v * (1 + erf(v * (T)0.70710678f)))
UNARY(k_gelu_tanh,
      (T)0.5f * v * (1 + tanh((T)0.79788456f * (v + (T)0.044715f * v * v * v))))
UNARY(k_mish, v *tanh(log_1_plus_exp(v)))
UNARY(k_softplus, log_1_plus_exp(v))
UNARY(k_softsign, v / (1 + fabs(v)))
UNARY(k_erf, erf(v))
UNARY(k_exp, exp(v))
UNARY(k_log, log(v))
UNARY(k_sqrt, sqrt(v))
UNARY(k_abs, fabs(v))
UNARY(k_reciprocal, 1 / v)
UNARY(k_floor, floor(v))
UNARY(k_ceil, ceil(v))
UNARY(k_round, rint(v))
UNARY(k_sin, sin(v))
UNARY(k_cos, cos(v))
UNARY(k_tan, tan(v))
UNARY(k_sinh, sinh(v))
UNARY(k_cosh, cosh(v))
UNARY(k_asin, asin(v))
UNARY(k_acos, acos(v))
UNARY(k_atan, atan(v))
UNARY(k_asinh, asinh(v))
UNARY(k_acosh, acosh(v))
UNARY(k_atanh, atanh(v))
UNARY(k_rsqrt, rsqrt(v))
UNARY(k_expm1, expm1(v))
UNARY(k_log1p, log1p(v))
UNARY(k_lgamma, lgamma(v))
UNARY(k_thresholded_relu, v > 1 ? v : 0)
UNARY(k_shrink, fabs(v) > (T)0.5f ? v : 0)
UNARY(k_quantize, clamp(rint(16 * v), (T)LOWEST, (T)LOWEST + 255))
BINARY(k_div, a / b)
BINARY(k_pow, pow(a, b))
BINARY(k_mod, fmod(a, b))
BINARY(k_atan2, atan2(a, b))
BINARY(k_swiglu, a *logistic(a) * b)
#else
static T floor_mod(T a, T b)
{
    T r = a % b;

    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Rounded towards zero, so that of negative powers 0, 1 and -1 are left. */
static T power(T a, T b)
{
    T p = 1;

    if (b < 0)
        return a == 1 ? 1 : a == (T)-1 ? (b % 2 ? -1 : 1) : 0;
    for (; b > 0; b /= 2, a *= a)
        p = b % 2 ? p * a : p;
    return p;
}

UNARY(k_abs, v < 0 ? -v : v)
UNARY(k_bitwise_not, ~v)
UNARY(k_dequantize, (R)v / 16)
BINARY(k_div, b == 0 ? 0 : a / b)
BINARY(k_mod, b == 0 ? 0 : floor_mod(a, b))
BINARY(k_pow, power(a, b))
BINARY(k_bitwise, a &b)
#endif
