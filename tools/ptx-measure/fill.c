#include <math.h>
#include <string.h>

#include "launches.h"

enum { PERIOD = 1 << 20 };

/* The i-th number of a sequence, 0 <= x < 1 (splitmix64). */
static double spread(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Cut off, not rounded; what is below 2^-14 is 0. */
static uint16_t to_half(double v)
{
    int e = 0;
    double m = frexp(fabs(v), &e); /* 0.5 <= m < 1 */
    uint32_t sign = v < 0 ? 0x8000u : 0;

    if (v == 0 || e < -13)
        return (uint16_t)sign;
    if (e > 16)
        return (uint16_t)(sign | 0x7bff);
    return (uint16_t)(sign | (uint32_t)(e + 14) << 10 | ((uint32_t)(m * 2048) & 1023));
}

/* The whole number below, as far as `low` and `high` let it. */
static int32_t whole_of(double v, double low, double high)
{
    return (int32_t)fmin(fmax(floor(v), low), high);
}

static size_t element(void *out, fill_type type, double v)
{
    float f = (float)v;
    int32_t whole;
    int8_t byte;
    uint16_t half = to_half(v);
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    switch (type) {
    case FILL_F32: memcpy(out, &f, 4); return 4;
    case FILL_F64: memcpy(out, &v, 8); return 8;
    case FILL_S32:
        whole = whole_of(v, INT32_MIN, INT32_MAX);
        memcpy(out, &whole, 4);
        return 4;
    case FILL_S8:
        byte = (int8_t)whole_of(v, INT8_MIN, INT8_MAX);
        memcpy(out, &byte, 1);
        return 1;
    case FILL_BF16: half = (uint16_t)(bits >> 16); break;
    case FILL_F16: break;
    }
    memcpy(out, &half, 2);
    return 2;
}

void fill_bytes(void *out, size_t bytes, uint64_t from, const fill *f)
{
    static const unsigned char width[] = {4, 8, 2, 2, 4, 1};

    for (size_t at = 0; at < bytes; at += width[f->type]) {
        uint64_t i = (f->step != 0 ? from + at : (from + at) % PERIOD) / width[f->type];
        double v = f->step != 0       ? f->low + (double)i * f->step
                   : f->high > f->low ? f->low + spread(i) * (f->high - f->low)
                                      : f->low;
        unsigned char one[8];
        size_t n = element(one, f->type, v);

        memcpy((unsigned char *)out + at, one, bytes - at < n ? bytes - at : n);
    }
}
