/* Floats of any type as doubles and back. Rounding is done on scaled integers, so that
 * it does not depend on the machine's mode. */
#include <math.h>
#include <string.h>

#include "ptx/eval/lanes.h"

typedef struct format {
    uint32_t bits, digits; /* digits: of the significand, the hidden one with them */
    int least, most;       /* exponents of the smallest normal and the largest number */
    uint64_t nan;
    bool no_infinity;
} format;

static bool format_of(format *f, unsigned type)
{
    switch (type) {
    case FT__TYPE_F16: *f = (format){16, 11, -14, 15, 0x7fff, false}; break;
    case FT__TYPE_BF16: *f = (format){16, 8, -126, 127, 0x7fff, false}; break;
    case FT__TYPE_TF32: *f = (format){32, 11, -126, 127, 0x7fffffff, false}; break;
    case FT__TYPE_F32: *f = (format){32, 24, -126, 127, 0x7fffffff, false}; break;
    case FT__TYPE_F64:
        *f = (format){64, 53, -1022, 1023, 0x7fffffffffffffff, false};
        break;
    case FT__TYPE_E4M3: *f = (format){8, 4, -6, 8, 0x7f, true}; break;
    case FT__TYPE_E5M2: *f = (format){8, 3, -14, 15, 0x7f, false}; break;
    default:
        *f = (format){64, 53, -1022, 1023, 0x7fffffffffffffff, false};
        return false;
    }
    return true;
}

bool ft__ptx_is_float(unsigned type)
{
    format f;

    return format_of(&f, type);
}

ft__ptx_round ft__ptx_round_of(const ft__ptx_function *f, const ft__ptx_insn *i,
                               ft__ptx_round usual)
{
    for (uint32_t k = 0; k < i->n_mods; k++)
        switch (f->mod[i->mods + k]) {
        case FT__MOD_RN:
        case FT__MOD_RNI: return FT__ROUND_NEAREST;
        case FT__MOD_RNA: return FT__ROUND_AWAY;
        case FT__MOD_RZ:
        case FT__MOD_RZI: return FT__ROUND_ZERO;
        case FT__MOD_RM:
        case FT__MOD_RMI: return FT__ROUND_DOWN;
        case FT__MOD_RP:
        case FT__MOD_RPI: return FT__ROUND_UP;
        default: break;
        }
    return usual;
}

static double float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static double double_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Digits stored behind the exponent; tf32 leaves its lowest 13 bits unused. */
static uint32_t stored(const format *f, unsigned type)
{
    return type == FT__TYPE_TF32 ? 23 : f->digits - 1;
}

static double small_to_double(unsigned type, uint64_t bits)
{
    format f;
    uint32_t m, e;
    double x;

    format_of(&f, type);
    m = (uint32_t)(bits & ft__ptx_mask(stored(&f, type)));
    e = (uint32_t)(bits & ft__ptx_mask(f.bits - 1)) >> stored(&f, type);
    if (f.no_infinity ? (bits & 0x7f) == 0x7f : (int)e > f.most - f.least + 1)
        x = m != 0 ? NAN : INFINITY;
    else if (e == 0)
        x = ldexp(m, f.least - (int)f.digits + 1);
    else
        x = ldexp(m | 1u << (f.digits - 1), f.least + (int)e - (int)f.digits);
    return bits >> (f.bits - 1) & 1 ? -x : x;
}

double ft__ptx_to_double(unsigned type, uint64_t bits)
{
    switch (type) {
    case FT__TYPE_F64: return double_of(bits);
    case FT__TYPE_F32: return float_of((uint32_t)bits);
    case FT__TYPE_TF32: return float_of((uint32_t)bits & 0xffffe000);
    case FT__TYPE_BF16: return float_of((uint32_t)bits << 16);
    default: return small_to_double(type, bits);
    }
}

/* An integer from a magnitude whose fraction is `rest` halves: 0 nothing, 1 less than a
 * half, 2 a half, 3 more. */
static uint64_t rounded(uint64_t whole, unsigned rest, bool negative, ft__ptx_round r)
{
    switch (r) {
    case FT__ROUND_NEAREST: return whole + (rest == 3 || (rest == 2 && (whole & 1)));
    case FT__ROUND_AWAY: return whole + (rest >= 2);
    case FT__ROUND_DOWN: return whole + (rest != 0 && negative);
    case FT__ROUND_UP: return whole + (rest != 0 && !negative);
    default: return whole;
    }
}

/* Bits of m x 2^e, where m has at most `digits` bits, or digits + 1 after a carry. */
static uint64_t assembled(const format *f, unsigned type, uint64_t m, int e,
                          bool negative, bool to_infinity)
{
    const uint64_t sign = (uint64_t)negative << (f->bits - 1);
    const uint32_t shift = stored(f, type) - (f->digits - 1);
    const uint64_t top = (uint64_t)1 << (f->digits - 1);
    const uint64_t beyond = (uint64_t)f->most - (uint64_t)f->least + 2;
    uint64_t v;

    if (m >> f->digits) {
        m >>= 1;
        e++;
    }
    v = m < top ? m
                : (uint64_t)(e + (int)f->digits - 1 - f->least + 1) * top + (m - top);
    if (f->no_infinity && v >= 0x7f) /* e4m3 takes the last exponent for numbers too */
        return sign | (to_infinity ? 0x7f : 0x7e);
    if (!f->no_infinity && v >= beyond * top)
        v = to_infinity ? beyond * top : beyond * top - 1;
    return sign | v << shift;
}

/* Whether what is too large becomes infinite. */
static bool overflows(bool negative, ft__ptx_round r, bool finite)
{
    return !finite && r != FT__ROUND_ZERO &&
           r != (negative ? FT__ROUND_UP : FT__ROUND_DOWN);
}

uint64_t ft__ptx_from_double(unsigned type, double v, ft__ptx_round r, bool finite)
{
    const bool negative = signbit(v) != 0;
    const double a = fabs(v);
    double whole, part;
    uint64_t m, bits;
    format f;
    int e;

    format_of(&f, type);
    if (isnan(v))
        return f.nan;
    if (isinf(v))
        return assembled(&f, type, (uint64_t)1 << (f.digits - 1),
                         f.most + 2 - (int)f.digits, negative, !finite);
    if (type == FT__TYPE_F64) {
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    if (a == 0)
        return (uint64_t)negative << (f.bits - 1);
    frexp(a, &e);
    e = (e - 1 < f.least ? f.least : e - 1) - (int)f.digits + 1;
    part = modf(ldexp(a, -e), &whole);
    m = rounded((uint64_t)whole,
                part == 0     ? 0
                : part < 0.5  ? 1
                : part == 0.5 ? 2
                              : 3,
                negative, r);
    return assembled(&f, type, m, e, negative, overflows(negative, r, finite));
}

uint64_t ft__ptx_from_integer(unsigned type, uint64_t magnitude, bool negative,
                              ft__ptx_round r)
{
    uint64_t rest = 0, half;
    format f;
    int e = 0;

    format_of(&f, type);
    if (magnitude == 0)
        return 0;
    while (magnitude >> e >> f.digits)
        e++;
    if (e > 0) {
        half = (uint64_t)1 << (e - 1);
        rest = magnitude & (2 * half - 1);
        rest = rest == 0 ? 0 : rest < half ? 1 : rest == half ? 2 : 3;
        magnitude = rounded(magnitude >> e, (unsigned)rest, negative, r);
    }
    for (; !(magnitude >> (f.digits - 1)); e--)
        magnitude <<= 1;
    return assembled(&f, type, magnitude, e, negative, overflows(negative, r, false));
}
