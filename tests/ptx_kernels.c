#include "ptx_kernels.h"

#include <math.h>
#include <string.h>

#include "ptx_references.h"

/* The arguments in ptx_cases.def. */
#define SCALAR(bytes, member, v)                                                       \
    {                                                                                  \
        .size = (bytes), .value.member = (v)                                           \
    }
#define STRUCT(v)                                                                      \
    {                                                                                  \
        .size = sizeof(v), .data = &(v)                                                \
    }
#define MEMORY(count, t, from, to, by)                                                 \
    {                                                                                  \
        .n = (count), .type = (t), .low = (from), .high = (to), .step = (by)           \
    }
#define INT(v) SCALAR(4, s32, v)
#define LONG(v) SCALAR(8, s64, v)
#define FLOAT(v) SCALAR(4, f32, v)
#define DOUBLE(v) SCALAR(8, f64, v)
#define BETWEEN(count, from, to) MEMORY(count, PTX_F32, from, to, 0)
#define IN(count) BETWEEN(count, -1, 1)
#define OUT(count) BETWEEN(count, 0, 0)
#define INTS(count, from, to) MEMORY(count, PTX_S32, from, to, 0)
#define STEPS(count, from, by) MEMORY(count, PTX_S32, from, 0, by)
#define THREE(...) __VA_ARGS__

/* [7, 5, 13] of which a has no first and b no second dimension. */
static const struct {
    int32_t dims, size[4], a[4], b[4];
} broadcast_shape = {3, {7, 5, 13, 0}, {0, 13, 1, 0}, {13, 0, 1, 0}};

/* Of images 3 x 11 x 9: 5 filters of 3 x 3, stride 2, pad 1. */
static const struct {
    int32_t batch, channels, height, width, filters, size, stride, pad, rows, columns;
} conv_strided = {2, 3, 11, 9, 5, 3, 2, 1, 6, 5};

const ptx_case ptx_cases[] = {
#define PTX_CASE(module, kernel, grid, block, shared, reference, tolerance, ...)       \
    {module, kernel,    {THREE grid}, {THREE block},                                   \
     shared, reference, tolerance,    {__VA_ARGS__}},
#include "ptx_cases.def"
#undef PTX_CASE
};
const size_t ptx_n_cases = sizeof ptx_cases / sizeof *ptx_cases;

uint32_t ptx_case_args(const ptx_case *c)
{
    uint32_t n = 0;
    while (n < PTX_ARGS && (c->arg[n].size || c->arg[n].n))
        n++;
    return n;
}

static size_t width(ptx_type t)
{
    static const size_t bytes[] = {4, 8, 2, 2, 4, 1};
    return bytes[t];
}

size_t ptx_arg_bytes(const ptx_arg *a)
{
    return a->size ? a->size : a->n * width(a->type);
}

/* The i-th number of a sequence, 0 <= x < 1 (splitmix64). */
static double spread(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15u + (i + 1) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void put(void *out, ptx_type t, size_t i, double v)
{
    switch (t) {
    case PTX_F32: ((float *)out)[i] = (float)v; break;
    case PTX_F64: ((double *)out)[i] = v; break;
    case PTX_F16: ((uint16_t *)out)[i] = ptx_to_half((float)v); break;
    case PTX_BF16: ((uint16_t *)out)[i] = ptx_to_bf16((float)v); break;
    case PTX_S32: ((int32_t *)out)[i] = (int32_t)floor(v); break;
    case PTX_S8: ((int8_t *)out)[i] = (int8_t)floor(v); break;
    }
}

static double get(const void *in, ptx_type t, size_t i)
{
    switch (t) {
    case PTX_F32: return (double)((const float *)in)[i];
    case PTX_F64: return ((const double *)in)[i];
    case PTX_F16: return (double)ptx_from_half(((const uint16_t *)in)[i]);
    case PTX_BF16: return (double)ptx_from_bf16(((const uint16_t *)in)[i]);
    case PTX_S32: return ((const int32_t *)in)[i];
    case PTX_S8: return ((const int8_t *)in)[i];
    }
    return 0;
}

void ptx_arg_fill(void *out, const ptx_arg *a, uint64_t seed)
{
    if (a->size) {
        memcpy(out, a->data ? a->data : &a->value, a->size);
        return;
    }
    for (uint32_t i = 0; i < a->n; i++)
        put(out, a->type, i,
            a->low + i * a->step +
                (a->high > a->low ? spread(seed, i) * (a->high - a->low) : 0));
}

double ptx_arg_difference(const ptx_arg *a, const void *got, const void *want,
                          size_t *at)
{
    double worst = 0;
    *at = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        double g = get(got, a->type, i), w = get(want, a->type, i);
        double d =
            g == w || (isnan(g) && isnan(w)) ? 0 : fabs(g - w) / fmax(1, fabs(w));
        if (isnan(d))
            d = INFINITY;
        if (d > worst) {
            worst = d;
            *at = i;
        }
    }
    return worst;
}

float ptx_from_half(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    double v = exponent == 31 ? (mantissa ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                              : ldexp(mantissa, -24);
    return (float)(h >> 15 ? -v : v);
}

/* Rounds to the nearest, ties to even. */
uint16_t ptx_to_half(float f)
{
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    double v = fabs((double)f);
    if (isnan(f))
        return 0x7fff;
    if (v >= 65520)
        return (uint16_t)(sign | 0x7c00);
    int e = 0;
    frexp(v, &e);
    if (v < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(v, 24)));
    /* A mantissa that rounds up to 2048 carries into the exponent. */
    return (uint16_t)(sign + ((e + 13) << 10) + (int)nearbyint(ldexp(v, 11 - e)));
}

float ptx_from_bf16(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t ptx_to_bf16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (isnan(f))
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
