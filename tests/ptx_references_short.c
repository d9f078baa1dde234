#include "ptx_references.h"

#include <math.h>
#include <string.h>

/* Values of 16 and 8 bits, tensor cores. */

#define FLOATS(i) ((float *)arg[i])
#define INTS(i) ((int32_t *)arg[i])
#define BYTES(i) ((int8_t *)arg[i])
#define HALVES(i) ((uint16_t *)arg[i])
#define INT(i) (*(const int32_t *)arg[i])
#define FLOAT(i) (*(const float *)arg[i])
static double of(const void *x, ptx_type t, int i)
{
    switch (t) {
    case PTX_F16: return (double)ptx_from_half(((const uint16_t *)x)[i]);
    case PTX_BF16: return (double)ptx_from_bf16(((const uint16_t *)x)[i]);
    case PTX_S8: return ((const int8_t *)x)[i];
    default: return (double)((const float *)x)[i];
    }
}

/* Row r of A [m, k] with column j of B: [n, k] if `turned`, else [k, n]. */
static double product(void *const *arg, ptx_type t, int n, int k, int i, int turned)
{
    double sum = 0;
    for (int e = 0; e < k; e++)
        sum += of(arg[0], t, i / n * k + e) *
               of(arg[1], t, turned ? i % n * k + e : e * n + i % n);
    return sum;
}

/* half a, half b, float c, m, n, k; b is [k, n] */
void ptx_gemm_half(void *const *arg)
{
    for (int i = 0; i < INT(3) * INT(4); i++)
        FLOATS(2)[i] = (float)product(arg, PTX_F16, INT(4), INT(5), i, 0);
}

/* The same, b is [n, k]. */
void ptx_gemm_half_turned(void *const *arg)
{
    for (int i = 0; i < INT(3) * INT(4); i++)
        FLOATS(2)[i] = (float)product(arg, PTX_F16, INT(4), INT(5), i, 1);
}

/* The same, b is [k, n], c half. */
void ptx_gemm_half_half(void *const *arg)
{
    for (int i = 0; i < INT(3) * INT(4); i++)
        HALVES(2)[i] = ptx_to_half((float)product(arg, PTX_F16, INT(4), INT(5), i, 0));
}

/* signed char a, b, int c, n, k; b is [n, k], m is 24 */
void ptx_gemm_int8(void *const *arg)
{
    for (int i = 0; i < 24 * INT(3); i++)
        INTS(2)[i] = (int32_t)product(arg, PTX_S8, INT(3), INT(4), i, 1);
}

/* bf16 a, b, float c, n, k; b is [n, k], m is 32 */
void ptx_gemm_bf16(void *const *arg)
{
    for (int i = 0; i < 32 * INT(3); i++)
        FLOATS(2)[i] = (float)product(arg, PTX_BF16, INT(3), INT(4), i, 1);
}

/* float a, b, c, n, k; b is [k, n], m is 32 */
void ptx_gemm_tf32(void *const *arg)
{
    for (int i = 0; i < 32 * INT(3); i++)
        FLOATS(2)[i] = (float)product(arg, PTX_F32, INT(3), INT(4), i, 0);
}

/* signed char a, b, int c, m, n, k; b is [n, k] */
void ptx_gemm_dp4a(void *const *arg)
{
    for (int i = 0; i < INT(3) * INT(4); i++)
        INTS(2)[i] = (int32_t)product(arg, PTX_S8, INT(4), INT(5), i, 1);
}

void ptx_copy_16(void *const *arg)
{
    memcpy(arg[1], arg[0], 16 * (size_t)INT(2));
}

void ptx_add_half(void *const *arg)
{
    uint16_t *out = arg[2];
    for (int i = 0; i < INT(3); i++)
        out[i] = ptx_to_half(ptx_from_half(HALVES(0)[i]) + ptx_from_half(HALVES(1)[i]));
}

void ptx_fma_half(void *const *arg)
{
    uint16_t *out = arg[3];
    for (int i = 0; i < INT(4); i++)
        out[i] = ptx_to_half((float)(of(arg[0], PTX_F16, i) * of(arg[1], PTX_F16, i) +
                                     of(arg[2], PTX_F16, i)));
}

void ptx_relu_half(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        HALVES(1)[i] = of(arg[0], PTX_F16, i) > 0 ? HALVES(0)[i] : 0;
}

void ptx_float_to_half(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        HALVES(1)[i] = ptx_to_half(FLOATS(0)[i]);
}

void ptx_bf16_to_float(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        FLOATS(1)[i] = ptx_from_bf16(HALVES(0)[i]);
}

void ptx_silu_mul_bf16(void *const *arg)
{
    uint16_t *out = arg[2];
    for (int i = 0; i < INT(3); i++) {
        double g = of(arg[0], PTX_BF16, i);
        out[i] = ptx_to_bf16((float)(g / (1 + exp(-g)) * of(arg[1], PTX_BF16, i)));
    }
}

/* x, weight, out, n, eps: of three rows */
void ptx_rms_norm_half(void *const *arg)
{
    uint16_t *out = arg[2];
    int n = INT(3);
    for (int i = 0; i < 3 * n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += pow(of(arg[0], PTX_F16, i / n * n + j), 2);
        out[i] =
            ptx_to_half((float)(of(arg[0], PTX_F16, i) * of(arg[1], PTX_F16, i % n) /
                                sqrt(sum / n + (double)FLOAT(4))));
    }
}

static int8_t nearest(double v)
{
    return (int8_t)fmax(-128, fmin(127, nearbyint(v)));
}

void ptx_quantise(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        BYTES(1)[i] = nearest((double)(FLOATS(0)[i] / FLOAT(2)));
}

void ptx_dequantise(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(1)[i] = (float)BYTES(0)[i] * FLOAT(2);
}

/* x, out, scale, n: of three rows */
void ptx_quantise_rows(void *const *arg)
{
    int8_t *out = arg[1];
    int n = INT(3);
    for (int r = 0; r < 3; r++) {
        float most = 0;
        for (int i = 0; i < n; i++)
            most = fmaxf(most, fabsf(FLOATS(0)[r * n + i]));
        for (int i = 0; i < n; i++)
            out[r * n + i] = nearest((double)(FLOATS(0)[r * n + i] * (127 / most)));
        FLOATS(2)[r] = most / 127;
    }
}

/* w, scale, x, y, rows, k */
void ptx_gemv_int4(void *const *arg)
{
    int k = INT(5);
    for (int r = 0; r < INT(4); r++) {
        double sum = 0;
        for (int i = 0; i < k; i++) {
            int pair = (uint8_t)BYTES(0)[(r * k + i) / 2];
            sum += ((i % 2 ? pair >> 4 : pair & 15) - 8) *
                   (double)FLOATS(1)[r * (k / 32) + i / 32] * (double)FLOATS(2)[i];
        }
        FLOATS(3)[r] = (float)sum;
    }
}
