/* Rows of one operand. Part of kernels.c, which is compiled once per instruction
 * set. */
#ifndef ONEDNN_ROWS1_H
#define ONEDNN_ROWS1_H

#include <math.h>
#include <stdint.h>

#include "kernels.h"

#define ROW1(name, to, from, value)                                                    \
    static void name(int64_t n, char *const *p, const int64_t *step)                   \
    {                                                                                  \
        if (step[0] == sizeof(to) && step[1] == sizeof(from)) {                        \
            to *restrict r = (to *)(void *)p[0];                                       \
            const from *restrict a = (const from *)(const void *)p[1];                 \
                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                          \
                from x = a[i];                                                         \
                                                                                       \
                r[i] = (to)(value);                                                    \
            }                                                                          \
            return;                                                                    \
        }                                                                              \
        for (int64_t i = 0; i < n; i++) {                                              \
            from x = CONST_AT(from, 1, i);                                             \
                                                                                       \
            AT(to, 0, i) = (to)(value);                                                \
        }                                                                              \
    }

/* e^x to 2 units in the last place (Cephes), free of calls so that it
 * vectorises; 0 below the smallest normal number. */
static inline float fast_exp(float v)
{
    union {
        float f;
        uint32_t bits;
    } scale;
    float x = v < -87.3f ? -87.3f : v > 88.3f ? 88.3f : v;
    float k = x * 1.44269504f + 12582912.0f, r, y; /* rounds in the low bits */

    k -= 12582912.0f;
    r = x - k * 0.693359375f + k * 2.12194440e-4f;
    y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1;
    scale.bits = ((uint32_t)(int32_t)k + 127u) << 23;
    return v < -87.3f ? 0 : y * scale.f;
}

/* Abramowitz and Stegun 7.1.26: absolute error below 6e-7. */
static inline float fast_erf(float x)
{
    float a = fabsf(x), t = 1 / (1 + 0.3275911f * a);
    float y = 1.061405429f;

    y = y * t - 1.453152027f;
    y = y * t + 1.421413741f;
    y = y * t - 0.284496736f;
    y = y * t + 0.254829592f;
    return copysignf(1 - y * t * fast_exp(-a * a), x);
}

/* Kinds that are known for fp32 alone: F(kind, value). */
#define UNARY_F32(F)                                                                   \
    F(selu, 1.05070099f * (x > 0 ? x : 1.67326324f * (fast_exp(x) - 1)))               \
    F(hardsigmoid, x * 0.2f + 0.5f < 0   ? 0                                           \
                   : x * 0.2f + 0.5f > 1 ? 1                                           \
                                         : x * 0.2f + 0.5f)                            \
    F(softsign, x / (1 + fabsf(x)))                                                    \
    F(erf, fast_erf(x))                                                                \
    F(reciprocal, 1 / x)                                                               \
    F(floor, floorf(x))                                                                \
    F(ceil, ceilf(x))                                                                  \
    F(sin, sinf(x))                                                                    \
    F(cos, cosf(x))                                                                    \
    F(tan, tanf(x))                                                                    \
    F(sinh, sinhf(x))                                                                  \
    F(cosh, coshf(x))                                                                  \
    F(asin, asinf(x))                                                                  \
    F(acos, acosf(x))                                                                  \
    F(atan, atanf(x))                                                                  \
    F(asinh, asinhf(x))                                                                \
    F(acosh, acoshf(x))                                                                \
    F(atanh, atanhf(x))                                                                \
    F(expm1, expm1f(x))                                                                \
    F(log1p, log1pf(x))                                                                \
    F(rsqrt, 1 / sqrtf(x))                                                             \
    F(thresholded_relu, x > 1 ? x : 0)                                                 \
    F(shrink, fabsf(x) > 0.5f ? x : 0)
#define DEFINE_F32(kind, value) ROW1(kind##_f32, float, float, value)
UNARY_F32(DEFINE_F32)

ROW1(sign_f32, float, float, (float)(x > 0) - (float)(x < 0))
ROW1(bitwise_not_i32, int32_t, int32_t, ~x)
ROW1(bitwise_not_i64, int64_t, int64_t, ~x)
ROW1(not_u8, uint8_t, uint8_t, !x)
ROW1(isnan_f32, uint8_t, float, x != x)
ROW1(isinf_f32, uint8_t, float, fabsf(x) > 3.4028235e38f)

/* Two's complement without undefined overflow: computed as unsigned. */
#define INT_ROWS1(suffix, type, bits)                                                  \
    ROW1(neg_##suffix, type, type, 0 - (u##bits)x)                                     \
    ROW1(abs_##suffix, type, type, x < 0 ? 0 - (u##bits)x : (u##bits)x)                \
    ROW1(sign_##suffix, type, type, (x > 0) - (x < 0))                                 \
    ROW1(relu_##suffix, type, type, x > 0 ? x : 0)                                     \
    ROW1(clip_##suffix, type, type, x<0 ? 0 : x> 6 ? 6 : x)

typedef uint32_t u32;
typedef uint64_t u64;
INT_ROWS1(i32, int32_t, 32)
INT_ROWS1(i64, int64_t, 64)

#endif
