/* Values for operands and weights that depend on a seed alone. */
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A bijection of 32 bits with little bias (Wellons 2018), cheap enough to make
 * gigabytes of weights. */
static inline uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x21f0aaadu;
    x = (x ^ x >> 15) * 0xd35a2d97u;
    return x ^ x >> 15;
}

static inline uint32_t key_of(uint64_t seed)
{
    return mix((uint32_t)seed ^ mix((uint32_t)(seed >> 32) + 0x9e3779b9u));
}

static inline uint32_t value(uint32_t key, uint64_t i)
{
    return mix((uint32_t)i + mix(key + (uint32_t)(i >> 32)));
}

/* In [0, 1), 24 bits. */
static inline float unit(uint32_t h)
{
    return (float)(int32_t)(h >> 8) * 0x1p-24f;
}

void ft__random_floats(float *out, uint64_t n, float low, float high, uint64_t seed)
{
    uint32_t key = key_of(seed);

    for (uint64_t i = 0; i < n; i++)
        out[i] = low + (high - low) * unit(value(key, i));
}

uint16_t ft__half(float v)
{
    union {
        float f;
        uint32_t u;
    } x = {.f = v};
    uint32_t sign = x.u >> 16 & 0x8000u, e = x.u >> 23 & 0xffu;

    return (uint16_t)(e < 113 ? sign : sign | (e - 112) << 10 | (x.u >> 13 & 0x3ffu));
}

uint16_t ft__brain(float v)
{
    union {
        float f;
        uint32_t u;
    } x = {.f = v};

    return (uint16_t)(x.u >> 16);
}

bool ft__is_real(ft_dtype t)
{
    return t == FT_DTYPE_fp32 || t == FT_DTYPE_fp64 || t == FT_DTYPE_fp16 ||
           t == FT_DTYPE_bf16;
}

bool ft__from_floats(void *to, const float *from, uint64_t n, ft_dtype dtype)
{
    if (!ft__is_real(dtype))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        switch (dtype) {
        case FT_DTYPE_fp32: ((float *)to)[i] = from[i]; break;
        case FT_DTYPE_fp64: ((double *)to)[i] = (double)from[i]; break;
        case FT_DTYPE_fp16: ((uint16_t *)to)[i] = ft__half(from[i]); break;
        default: ((uint16_t *)to)[i] = ft__brain(from[i]); break;
        }
    }
    return true;
}

bool ft__random_reals(void *to, ft_dtype dtype, uint64_t n, float low, float high,
                      uint64_t seed)
{
    float *floats = dtype == FT_DTYPE_fp32 ? to : malloc(n * sizeof(*floats) + 1);
    bool good = floats != NULL;

    if (good)
        ft__random_floats(floats, n, low, high, seed);
    if (floats != to) {
        good = good && ft__from_floats(to, floats, n, dtype);
        free(floats);
    }
    return good;
}

static inline int64_t below(uint32_t h, int64_t limit)
{
    return limit <= UINT32_MAX ? (int64_t)((uint64_t)h * (uint64_t)limit >> 32)
                               : (int64_t)h;
}

#define FILL(type, v)                                                                  \
    do {                                                                               \
        type *to = out;                                                                \
        for (uint64_t i = 0; i < n; i++)                                               \
            to[i] = (type)(v);                                                         \
    } while (0)

static int64_t at_most(int64_t limit, int64_t reach)
{
    return limit < 1 ? 1 : limit < reach ? limit : reach;
}

bool ft__random_fill(void *out, ft_dtype dtype, uint64_t n, int64_t limit,
                     uint64_t seed)
{
    uint32_t key = key_of(seed);

    switch (dtype) {
    case FT_DTYPE_fp32: ft__random_floats(out, n, -1, 1, seed); return true;
    case FT_DTYPE_fp64: FILL(double, 2 * unit(value(key, i)) - 1); return true;
    case FT_DTYPE_fp16:
        FILL(uint16_t, ft__half(2 * unit(value(key, i)) - 1));
        return true;
    case FT_DTYPE_bf16:
        FILL(uint16_t, ft__brain(2 * unit(value(key, i)) - 1));
        return true;
    case FT_DTYPE_bool: limit = at_most(limit, 2); break;
    case FT_DTYPE_int8: limit = at_most(limit, 0x80); break;
    case FT_DTYPE_uint8: limit = at_most(limit, 0x100); break;
    case FT_DTYPE_int16: limit = at_most(limit, 0x8000); break;
    case FT_DTYPE_uint16: limit = at_most(limit, 0x10000); break;
    case FT_DTYPE_int32:
    case FT_DTYPE_uint32: limit = at_most(limit, INT32_MAX); break;
    case FT_DTYPE_int64:
    case FT_DTYPE_uint64: limit = at_most(limit, INT64_MAX); break;
    default: return false;
    }
    switch (ft_dtype_bits(dtype)) {
    case 8: FILL(uint8_t, below(value(key, i), limit)); break;
    case 16: FILL(uint16_t, below(value(key, i), limit)); break;
    case 32: FILL(uint32_t, below(value(key, i), limit)); break;
    default: FILL(uint64_t, below(value(key, i), limit)); break;
    }
    return true;
}

void ft__weight_range(const ft_op *op, uint32_t i, const ft_param *p, float *low,
                      float *high)
{
    bool around_1 = ft_kind_class(op->kind) == FT_CLASS_NORM && (i == 0 || i == 3);

    *high = p->fan_in > 0                   ? (float)sqrt(3 / p->fan_in)
            : around_1                      ? 1.5f
            : op->kind == FT_KIND_embedding ? 1
                                            : 0.5f;
    *low = around_1 ? 0.5f : -*high;
}

bool ft__random_weight(void *to, ft_dtype dtype, const ft_shape *shape, uint64_t seed)
{
    const uint64_t n = (uint64_t)ft_shape_elements(shape);
    const double inner = shape->rank > 1 ? (double)n / (double)shape->dim[0] : 0;
    const float high = inner > 0 ? (float)sqrt(3 / inner) : 1.5f;

    if (ft__is_real(dtype))
        return ft__random_reals(to, dtype, n, inner > 0 ? -high : 0.5f, high, seed);
    if (dtype == FT_DTYPE_int8 || dtype == FT_DTYPE_uint8)
        return ft__random_fill(to, dtype, n, 128, seed);
    memset(to, dtype == FT_DTYPE_bool, (size_t)ft_tensor_bytes(shape, dtype));
    return true;
}
