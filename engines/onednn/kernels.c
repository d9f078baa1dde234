/* Rows of elementwise and reducing loops, written so that compilers turn the
 * contiguous cases into vector code. ISA names the instruction set. */
#include "kernels.h"

#include <math.h>
#include <string.h>

#define AT(type, k, i) (*(type *)(void *)(p[k] + (i)*step[k]))
#define CONST_AT(type, k, i) (*(const type *)(const void *)(p[k] + (i)*step[k]))

#include "rows1.h"

#define LOOP2(to, from, value, xi, yi)                                                 \
    {                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                              \
            from x = a[xi], y = b[yi];                                                 \
                                                                                       \
            r[i] = (to)(value);                                                        \
        }                                                                              \
        return;                                                                        \
    }

#define ROW2(name, to, from, value)                                                    \
    static void name(int64_t n, char *const *p, const int64_t *step)                   \
    {                                                                                  \
        const int64_t size = sizeof(from);                                             \
                                                                                       \
        if (step[0] == sizeof(to)) {                                                   \
            to *restrict r = (to *)(void *)p[0];                                       \
            const from *restrict a = (const from *)(const void *)p[1];                 \
            const from *restrict b = (const from *)(const void *)p[2];                 \
                                                                                       \
            if (step[1] == size && step[2] == size)                                    \
                LOOP2(to, from, value, i, i)                                           \
            if (step[1] == size && step[2] == 0)                                       \
                LOOP2(to, from, value, i, 0)                                           \
            if (step[1] == 0 && step[2] == size)                                       \
                LOOP2(to, from, value, 0, i)                                           \
        }                                                                              \
        for (int64_t i = 0; i < n; i++) {                                              \
            from x = CONST_AT(from, 1, i), y = CONST_AT(from, 2, i);                   \
                                                                                       \
            AT(to, 0, i) = (to)(value);                                                \
        }                                                                              \
    }

ROW2(add_f32, float, float, x + y)
ROW2(sub_f32, float, float, x - y)
ROW2(mul_f32, float, float, x *y)
ROW2(div_f32, float, float, x / y)
ROW2(pow_f32, float, float, powf(x, y))
ROW2(mod_f32, float, float, fmodf(x, y))
ROW2(minimum_f32, float, float, x < y ? x : y)
ROW2(maximum_f32, float, float, x > y ? x : y)
ROW2(prelu_f32, float, float, x > 0 ? x : x * y)
ROW2(atan2_f32, float, float, atan2f(x, y))
ROW2(bitwise_i32, int32_t, int32_t, x &y)
ROW2(bitwise_i64, int64_t, int64_t, x &y)

static inline int64_t divide(int64_t x, int64_t y)
{
    if (y == 0)
        return 0;
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static inline int64_t modulo(int64_t x, int64_t y)
{
    int64_t m = y == 0 || y == -1 ? 0 : x % y;

    return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

static inline int64_t power(int64_t x, int64_t y)
{
    uint64_t r = 1, b = (uint64_t)x;

    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y > 0; y >>= 1, b *= b)
        r *= y & 1 ? b : 1;
    return (int64_t)r;
}

#define INT_ROWS2(suffix, type, bits)                                                  \
    ROW2(add_##suffix, type, type, (u##bits)x + (u##bits)y)                            \
    ROW2(sub_##suffix, type, type, (u##bits)x - (u##bits)y)                            \
    ROW2(mul_##suffix, type, type, (u##bits)x *(u##bits)y)                             \
    ROW2(div_##suffix, type, type, divide(x, y))                                       \
    ROW2(pow_##suffix, type, type, power(x, y))                                        \
    ROW2(mod_##suffix, type, type, modulo(x, y))                                       \
    ROW2(minimum_##suffix, type, type, x < y ? x : y)                                  \
    ROW2(maximum_##suffix, type, type, x > y ? x : y)

INT_ROWS2(i32, int32_t, 32)
INT_ROWS2(i64, int64_t, 64)

#define COMPARE_ROWS(suffix, type)                                                     \
    ROW2(equal_##suffix, uint8_t, type, x == y)                                        \
    ROW2(less_##suffix, uint8_t, type, x < y)                                          \
    ROW2(less_equal_##suffix, uint8_t, type, x <= y)                                   \
    ROW2(greater_##suffix, uint8_t, type, x > y)                                       \
    ROW2(greater_equal_##suffix, uint8_t, type, x >= y)

COMPARE_ROWS(f32, float)
COMPARE_ROWS(i32, int32_t)
COMPARE_ROWS(i64, int64_t)
COMPARE_ROWS(u8, uint8_t)

ROW2(and_u8, uint8_t, uint8_t, (x != 0) & (y != 0))
ROW2(or_u8, uint8_t, uint8_t, (x != 0) | (y != 0))
ROW2(xor_u8, uint8_t, uint8_t, (x != 0) ^ (y != 0))
ROW2(exp_of, float, float, fast_exp(x - y))
ROW2(log_plus, float, float, logf(x) + y)

#define LOOP3(type, yi, zi)                                                            \
    {                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                              \
            const type x = a[yi], y = b[zi];                                           \
                                                                                       \
            r[i] = c[i] ? x : y;                                                       \
        }                                                                              \
        return;                                                                        \
    }

#define WHERE(name, type)                                                              \
    static void name(int64_t n, char *const *p, const int64_t *step)                   \
    {                                                                                  \
        const int64_t size = sizeof(type);                                             \
                                                                                       \
        if (step[0] == size && step[1] == 1) {                                         \
            type *restrict r = (type *)(void *)p[0];                                   \
            const uint8_t *restrict c = (const uint8_t *)p[1];                         \
            const type *restrict a = (const type *)(const void *)p[2];                 \
            const type *restrict b = (const type *)(const void *)p[3];                 \
                                                                                       \
            if (step[2] == size && step[3] == size)                                    \
                LOOP3(type, i, i)                                                      \
            if (step[2] == size && step[3] == 0)                                       \
                LOOP3(type, i, 0)                                                      \
            if (step[2] == 0 && step[3] == size)                                       \
                LOOP3(type, 0, i)                                                      \
        }                                                                              \
        for (int64_t i = 0; i < n; i++)                                                \
            AT(type, 0, i) =                                                           \
                CONST_AT(uint8_t, 1, i) ? CONST_AT(type, 2, i) : CONST_AT(type, 3, i); \
    }

WHERE(where_8, uint8_t)
WHERE(where_16, uint16_t)
WHERE(where_32, uint32_t)
WHERE(where_64, uint64_t)

#define LOOP_F32(value, yi, zi)                                                        \
    {                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                              \
            const float x = a[i], y = b[yi], z = c[zi];                                \
                                                                                       \
            r[i] = (value);                                                            \
        }                                                                              \
        return;                                                                        \
    }

/* Scale and shift are one value for a row of a plain tensor, a row of values
 * for a channels-last one; the root of rmsnorm is one value, its scale a row. */
#define ROW3(name, value)                                                              \
    static void name(int64_t n, char *const *p, const int64_t *step)                   \
    {                                                                                  \
        if (step[0] == 4 && step[1] == 4) {                                            \
            float *restrict r = (float *)(void *)p[0];                                 \
            const float *restrict a = (const float *)(const void *)p[1];               \
            const float *restrict b = (const float *)(const void *)p[2];               \
            const float *restrict c = (const float *)(const void *)p[3];               \
                                                                                       \
            if (step[2] == 0 && step[3] == 0)                                          \
                LOOP_F32(value, 0, 0)                                                  \
            if (step[2] == 4 && step[3] == 4)                                          \
                LOOP_F32(value, i, i)                                                  \
            if (step[2] == 0 && step[3] == 4)                                          \
                LOOP_F32(value, 0, i)                                                  \
        }                                                                              \
        for (int64_t i = 0; i < n; i++) {                                              \
            const float x = CONST_AT(float, 1, i), y = CONST_AT(float, 2, i);          \
            const float z = CONST_AT(float, 3, i);                                     \
                                                                                       \
            AT(float, 0, i) = (value);                                                 \
        }                                                                              \
    }

ROW3(muladd, x *y + z)
ROW3(mulmul, x *y *z)

/* Sixteen partial results, because the order of additions may otherwise not be
 * changed and the loop would wait for each of them. first: of one element; join:
 * of two results. */
#define REDUCE(name, type, first, value, join)                                         \
    static void name(int64_t n, char *const *p, const int64_t *step)                   \
    {                                                                                  \
        const int64_t size = sizeof(type);                                             \
                                                                                       \
        if (step[0] == 0 && step[1] == size && n >= 32) {                              \
            const type *restrict a = (const type *)(const void *)p[1];                 \
            type part[16], r = *(type *)(void *)p[0];                                  \
            int64_t i = 0;                                                             \
                                                                                       \
            for (int k = 0; k < 16; k++) {                                             \
                type x = a[k];                                                         \
                                                                                       \
                part[k] = (type)(first);                                               \
            }                                                                          \
            for (i = 16; i + 16 <= n; i += 16)                                         \
                for (int k = 0; k < 16; k++) {                                         \
                    type x = a[i + k], y = part[k];                                    \
                                                                                       \
                    part[k] = (type)(value);                                           \
                }                                                                      \
            for (; i < n; i++) {                                                       \
                type x = a[i], y = r;                                                  \
                                                                                       \
                r = (type)(value);                                                     \
            }                                                                          \
            for (int k = 0; k < 16; k++) {                                             \
                type x = part[k], y = r;                                               \
                                                                                       \
                r = (type)(join);                                                      \
            }                                                                          \
            *(type *)(void *)p[0] = r;                                                 \
            return;                                                                    \
        }                                                                              \
        if (step[0] == size && step[1] == size) {                                      \
            type *restrict r = (type *)(void *)p[0];                                   \
            const type *restrict a = (const type *)(const void *)p[1];                 \
                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                          \
                type x = a[i], y = r[i];                                               \
                                                                                       \
                r[i] = (type)(value);                                                  \
            }                                                                          \
            return;                                                                    \
        }                                                                              \
        for (int64_t i = 0; i < n; i++) {                                              \
            type x = CONST_AT(type, 1, i), y = AT(type, 0, i);                         \
                                                                                       \
            AT(type, 0, i) = (type)(value);                                            \
        }                                                                              \
    }

REDUCE(sum_f32, float, x, y + x, y + x)
REDUCE(prod_f32, float, x, y *x, y *x)
REDUCE(min_f32, float, x, x < y ? x : y, x < y ? x : y)
REDUCE(max_f32, float, x, x > y ? x : y, x > y ? x : y)
REDUCE(l1_f32, float, fabsf(x), y + fabsf(x), y + x)
REDUCE(squares_f32, float, x *x, y + x * x, y + x)

#define INT_REDUCE(suffix, type, bits)                                                 \
    REDUCE(sum_##suffix, type, x, (u##bits)y + (u##bits)x, (u##bits)y + (u##bits)x)    \
    REDUCE(prod_##suffix, type, x, (u##bits)y *(u##bits)x, (u##bits)y *(u##bits)x)     \
    REDUCE(min_##suffix, type, x, x < y ? x : y, x < y ? x : y)                        \
    REDUCE(max_##suffix, type, x, x > y ? x : y, x > y ? x : y)

INT_REDUCE(i32, int32_t, 32)
INT_REDUCE(i64, int64_t, 64)

/* r += f(x, a); a stands still wherever r does. */
#define REDUCE_WITH(name, value)                                                       \
    static void name(int64_t n, char *const *p, const int64_t *step)                   \
    {                                                                                  \
        if (step[0] == 0 && step[2] == 0 && step[1] == 4) {                            \
            const float *restrict v = (const float *)(const void *)p[1];               \
            float a = CONST_AT(float, 2, 0), part[16] = {0}, sum = 0;                  \
            int64_t i = 0;                                                             \
                                                                                       \
            for (; i + 16 <= n; i += 16)                                               \
                for (int k = 0; k < 16; k++) {                                         \
                    float x = v[i + k];                                                \
                                                                                       \
                    part[k] += (value);                                                \
                }                                                                      \
            for (; i < n; i++) {                                                       \
                float x = v[i];                                                        \
                                                                                       \
                sum += (value);                                                        \
            }                                                                          \
            for (int k = 0; k < 16; k++)                                               \
                sum += part[k];                                                        \
            AT(float, 0, 0) += sum;                                                    \
            return;                                                                    \
        }                                                                              \
        if (step[0] == 4 && step[1] == 4 && step[2] == 4) {                            \
            float *restrict r = (float *)(void *)p[0];                                 \
            const float *restrict v = (const float *)(const void *)p[1];               \
            const float *restrict c = (const float *)(const void *)p[2];               \
                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                          \
                float x = v[i], a = c[i];                                              \
                                                                                       \
                r[i] += (value);                                                       \
            }                                                                          \
            return;                                                                    \
        }                                                                              \
        for (int64_t i = 0; i < n; i++) {                                              \
            float x = CONST_AT(float, 1, i), a = CONST_AT(float, 2, i);                \
                                                                                       \
            AT(float, 0, i) += (value);                                                \
        }                                                                              \
    }

REDUCE_WITH(sum_squares_of, (x - a) * (x - a))
REDUCE_WITH(sum_exp_of, fast_exp(x - a))

#define COPY(name, type)                                                               \
    static void name(int64_t n, char *const *p, const int64_t *step)                   \
    {                                                                                  \
        const int64_t size = sizeof(type);                                             \
                                                                                       \
        if (step[0] == size && step[1] == size) {                                      \
            memcpy(p[0], p[1], (size_t)(n * size));                                    \
            return;                                                                    \
        }                                                                              \
        if (step[0] == size && step[1] == 0) {                                         \
            type *restrict r = (type *)(void *)p[0];                                   \
            const type v = CONST_AT(type, 1, 0);                                       \
                                                                                       \
            for (int64_t i = 0; i < n; i++)                                            \
                r[i] = v;                                                              \
            return;                                                                    \
        }                                                                              \
        for (int64_t i = 0; i < n; i++)                                                \
            AT(type, 0, i) = CONST_AT(type, 1, i);                                     \
    }

COPY(copy_8, uint8_t)
COPY(copy_16, uint16_t)
COPY(copy_32, uint32_t)
COPY(copy_64, uint64_t)

/* The row for elements of 1, 2, 4 or 8 bytes; NULL: of another size. */
static ft__row_fn *by_size(ft__row_fn *const rows_of[4], int64_t size)
{
    for (int k = 0; k < 4; k++)
        if (size == (int64_t)1 << k)
            return rows_of[k];
    return NULL;
}

static ft__row_fn *find_copy(int64_t size)
{
    return by_size((ft__row_fn *const[]){copy_8, copy_16, copy_32, copy_64}, size);
}

#define CASTS_FROM(suffix, from)                                                       \
    ROW1(suffix##_to_fp32, float, from, x)                                             \
    ROW1(suffix##_to_fp64, double, from, x)                                            \
    ROW1(suffix##_to_int8, int8_t, from, x)                                            \
    ROW1(suffix##_to_uint8, uint8_t, from, x)                                          \
    ROW1(suffix##_to_int32, int32_t, from, x)                                          \
    ROW1(suffix##_to_int64, int64_t, from, x)                                          \
    ROW1(suffix##_to_bool, uint8_t, from, x != 0)                                      \
    static ft__row_fn *cast_##suffix(ft_dtype to)                                      \
    {                                                                                  \
        switch (to) {                                                                  \
        case FT_DTYPE_fp32: return suffix##_to_fp32;                                   \
        case FT_DTYPE_fp64: return suffix##_to_fp64;                                   \
        case FT_DTYPE_int8: return suffix##_to_int8;                                   \
        case FT_DTYPE_uint8: return suffix##_to_uint8;                                 \
        case FT_DTYPE_int32: return suffix##_to_int32;                                 \
        case FT_DTYPE_int64: return suffix##_to_int64;                                 \
        case FT_DTYPE_bool: return suffix##_to_bool;                                   \
        default: return NULL;                                                          \
        }                                                                              \
    }

CASTS_FROM(fp32, float)
CASTS_FROM(fp64, double)
CASTS_FROM(int8, int8_t)
CASTS_FROM(uint8, uint8_t)
CASTS_FROM(int32, int32_t)
CASTS_FROM(int64, int64_t)

static ft__row_fn *find_cast(ft_dtype from, ft_dtype to)
{
    switch (from) {
    case FT_DTYPE_fp32: return cast_fp32(to);
    case FT_DTYPE_fp64: return cast_fp64(to);
    case FT_DTYPE_int8: return cast_int8(to);
    case FT_DTYPE_uint8:
    case FT_DTYPE_bool: return cast_uint8(to);
    case FT_DTYPE_int32: return cast_int32(to);
    case FT_DTYPE_int64: return cast_int64(to);
    default: return NULL;
    }
}

/* With a scale of 1/16 and no offset; results stay in the range of their type. */
#define IN_RANGE(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
ROW1(quantize_i8, int8_t, float, IN_RANGE(nearbyintf(x * 16), -128.0f, 127.0f))
ROW1(quantize_u8, uint8_t, float, IN_RANGE(nearbyintf(x * 16), 0.0f, 255.0f))
ROW1(dequantize_i8, float, int8_t, (float)x * 0.0625f)
ROW1(dequantize_u8, float, uint8_t, (float)x * 0.0625f)

static ft__row_fn *find_scale(ft_dtype from, ft_dtype to)
{
    if (from == FT_DTYPE_fp32)
        return to == FT_DTYPE_int8    ? quantize_i8
               : to == FT_DTYPE_uint8 ? quantize_u8
                                      : NULL;
    if (to != FT_DTYPE_fp32)
        return NULL;
    return from == FT_DTYPE_int8    ? dequantize_i8
           : from == FT_DTYPE_uint8 ? dequantize_u8
                                    : NULL;
}

enum column { F32, I32, I64, U8, COLUMNS };

#define ALL(k)                                                                         \
    {                                                                                  \
        k##_f32, k##_i32, k##_i64                                                      \
    }
#define COMPARED(k)                                                                    \
    {                                                                                  \
        k##_f32, k##_i32, k##_i64, k##_u8                                              \
    }
#define ROW_F32(kind, value) [FT_KIND_##kind] = {kind##_f32},
static ft__row_fn *const rows[FT_KIND_COUNT][COLUMNS] = {
    UNARY_F32(ROW_F32)[FT_KIND_relu] = {NULL, relu_i32, relu_i64},
    [FT_KIND_clip] = {NULL, clip_i32, clip_i64},
    [FT_KIND_abs] = {NULL, abs_i32, abs_i64},
    [FT_KIND_neg] = {NULL, neg_i32, neg_i64},
    [FT_KIND_sign] = ALL(sign),
    [FT_KIND_bitwise_not] = {NULL, bitwise_not_i32, bitwise_not_i64},
    [FT_KIND_logical_not] = {NULL, NULL, NULL, not_u8},
    [FT_KIND_isnan] = {isnan_f32},
    [FT_KIND_isinf] = {isinf_f32},
    [FT_KIND_add] = ALL(add),
    [FT_KIND_sub] = ALL(sub),
    [FT_KIND_mul] = ALL(mul),
    [FT_KIND_div] = ALL(div),
    [FT_KIND_pow] = ALL(pow),
    [FT_KIND_mod] = ALL(mod),
    [FT_KIND_minimum] = ALL(minimum),
    [FT_KIND_maximum] = ALL(maximum),
    [FT_KIND_prelu] = {prelu_f32},
    [FT_KIND_atan2] = {atan2_f32},
    [FT_KIND_bitwise] = {NULL, bitwise_i32, bitwise_i64},
    [FT_KIND_equal] = COMPARED(equal),
    [FT_KIND_less] = COMPARED(less),
    [FT_KIND_less_equal] = COMPARED(less_equal),
    [FT_KIND_greater] = COMPARED(greater),
    [FT_KIND_greater_equal] = COMPARED(greater_equal),
    [FT_KIND_logical_and] = {NULL, NULL, NULL, and_u8},
    [FT_KIND_logical_or] = {NULL, NULL, NULL, or_u8},
    [FT_KIND_logical_xor] = {NULL, NULL, NULL, xor_u8},
    [FT_KIND_reduce_mean] = {sum_f32},
    [FT_KIND_reduce_sum] = ALL(sum),
    [FT_KIND_reduce_max] = ALL(max),
    [FT_KIND_reduce_min] = ALL(min),
    [FT_KIND_reduce_prod] = ALL(prod),
    [FT_KIND_reduce_l1] = {l1_f32},
    [FT_KIND_reduce_l2] = {squares_f32},
    [FT_KIND_reduce_logsumexp] = {max_f32},
};

static ft__row_fn *find_kind(ft_kind k, ft_dtype t)
{
    if (k == FT_KIND_where)
        return by_size((ft__row_fn *const[]){where_8, where_16, where_32, where_64},
                       ft_dtype_bits(t) / 8);
    switch (t) {
    case FT_DTYPE_fp32: return rows[k][F32];
    case FT_DTYPE_int32: return rows[k][I32];
    case FT_DTYPE_int64: return rows[k][I64];
    case FT_DTYPE_uint8:
    case FT_DTYPE_bool: return rows[k][U8];
    default: return NULL;
    }
}

#define NAME2(isa) #isa
#define NAME(isa) NAME2(isa)
#define TABLE2(isa) ft__kernels_##isa
#define TABLE(isa) TABLE2(isa)

const ft__kernels TABLE(ISA) = {
    .name = "loops:" NAME(ISA),
    .kind = find_kind,
    .cast = find_cast,
    .scale = find_scale,
    .copy = find_copy,
    .muladd = muladd,
    .mulmul = mulmul,
    .sum_squares_of = sum_squares_of,
    .exp_of = exp_of,
    .sum_exp_of = sum_exp_of,
    .log_plus = log_plus,
};
