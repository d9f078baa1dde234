/* Conversions: between integers, floats, pairs and address spaces. In: lanes of
 * sources; out: lanes of results. */
#include <math.h>

#include "ptx/eval/lanes.h"

#define EACH FT__PTX_EACH

static uint64_t clamped(uint64_t v, bool from_signed, uint32_t to, bool to_signed)
{
    const uint64_t top = ft__ptx_mask(to_signed ? to - 1 : to);
    const int64_t bottom = to_signed ? -(int64_t)top - 1 : 0;

    if (from_signed && (int64_t)v < 0)
        return (int64_t)v < bottom ? (uint64_t)bottom : v;
    return v > top ? top : v;
}

/* v's low bits as 64 bits of a number. */
static uint64_t extended(uint64_t v, uint32_t bits, bool is_signed)
{
    return is_signed ? (uint64_t)ft__ptx_signed(v, bits) : v & ft__ptx_mask(bits);
}

/* A register wider than the type is filled up, signed types with the sign. */
static uint64_t filled(uint64_t v, uint32_t bits, bool is_signed, uint32_t reg_bits)
{
    return extended(v, bits, is_signed) & ft__ptx_mask(reg_bits);
}

/* Bits of the register that the result goes to. */
static uint32_t width_of_result(const ft__ptx_lanes *w)
{
    const ft__ptx_operand *o = &w->f->operand[w->i->operands];
    uint32_t bits = w->bits;

    if (o->kind == FT__PTX_REG)
        bits = ft__ptx_type_bits(w->f->reg[o->index].type);
    return bits < w->bits ? w->bits : bits;
}

static bool between_integers(const ft__ptx_lanes *w, unsigned to, unsigned from)
{
    const uint32_t fb = ft__ptx_type_bits(from), tb = ft__ptx_type_bits(to);
    const bool fs = ft__ptx_type_kind(from) == FT__KIND_SIGNED;
    const bool ts = ft__ptx_type_kind(to) == FT__KIND_SIGNED;
    const uint32_t reg = width_of_result(w);
    const uint64_t m = ft__ptx_mask(tb);

    if (ft__ptx_lanes_has(w, FT__MOD_SAT))
        EACH(w, filled(clamped(extended(A, fb, fs), fs, tb, ts), tb, ts, reg));
    else if (reg != tb)
        EACH(w, filled(extended(A, fb, fs), tb, ts, reg));
    else if (fb == 32 && fs)
        EACH(w, (uint64_t)(int64_t)(int32_t)A & m);
    else
        EACH(w, extended(A, fb, fs) & m);
    return true;
}

static double integral(double x, ft__ptx_round r)
{
    switch (r) {
    case FT__ROUND_DOWN: return floor(x);
    case FT__ROUND_UP: return ceil(x);
    case FT__ROUND_ZERO: return trunc(x);
    default: return nearbyint(x);
    }
}

static uint64_t to_integer(double x, unsigned from, uint32_t bits, bool is_signed,
                           ft__ptx_round r)
{
    const uint64_t top = ft__ptx_mask(is_signed ? bits - 1 : bits);
    const double bound = ldexp(1, (int)(is_signed ? bits - 1 : bits));

    if (isnan(x)) /* as the tables of PTX have it */
        return bits == 64 || from == FT__TYPE_F64 ? (uint64_t)1 << (bits - 1) : 0;
    x = integral(x, r);
    if (x >= bound)
        return top;
    if (!is_signed)
        return x <= 0 ? 0 : (uint64_t)x;
    return x < -bound ? (uint64_t)1 << (bits - 1)
                      : (uint64_t)(int64_t)x & ft__ptx_mask(bits);
}

static bool float_to_integer(const ft__ptx_lanes *w, unsigned to, unsigned from)
{
    const uint32_t tb = ft__ptx_type_bits(to), reg = width_of_result(w);
    const bool ts = ft__ptx_type_kind(to) == FT__KIND_SIGNED;
    const bool ftz = ft__ptx_lanes_has(w, FT__MOD_FTZ) && from == FT__TYPE_F32;
    const ft__ptx_round r = ft__ptx_lanes_round(w, FT__ROUND_ZERO);

    if (!ft__ptx_is_float(from))
        return false;
    for (uint32_t l = 0; l < w->n; l++) {
        const double x = ft__ptx_flushed(ft__ptx_to_double(from, w->a[l]), ftz);

        w->d[l] = filled(to_integer(x, from, tb, ts, r), tb, ts, reg);
    }
    return true;
}

static bool integer_to_float(const ft__ptx_lanes *w, unsigned to, unsigned from)
{
    const uint32_t fb = ft__ptx_type_bits(from);
    const bool fs = ft__ptx_type_kind(from) == FT__KIND_SIGNED;
    const ft__ptx_round r = ft__ptx_lanes_round(w, FT__ROUND_NEAREST);
    const bool sat = ft__ptx_lanes_has(w, FT__MOD_SAT);

    if (!ft__ptx_is_float(to))
        return false;
    for (uint32_t l = 0; l < w->n; l++) {
        const uint64_t v = extended(w->a[l], fb, fs);
        const bool negative = fs && (int64_t)v < 0;
        const uint64_t one = sat && v > 1 ? 1 : v;

        w->d[l] = negative && sat
                      ? 0
                      : ft__ptx_from_integer(to, negative ? 0 - v : one, negative, r);
    }
    return true;
}

/* What a cvt between floats does to one value. */
typedef struct conversion {
    unsigned to, from;
    ft__ptx_round round;
    bool integral, ftz, sat, relu, finite;
} conversion;

static bool has_integral(const ft__ptx_lanes *w)
{
    return ft__ptx_lanes_has(w, FT__MOD_RNI) || ft__ptx_lanes_has(w, FT__MOD_RZI) ||
           ft__ptx_lanes_has(w, FT__MOD_RMI) || ft__ptx_lanes_has(w, FT__MOD_RPI);
}

static conversion conversion_of(const ft__ptx_lanes *w, unsigned to, unsigned from)
{
    return (conversion){to,
                        from,
                        ft__ptx_lanes_round(w, FT__ROUND_NEAREST),
                        has_integral(w),
                        ft__ptx_lanes_has(w, FT__MOD_FTZ),
                        ft__ptx_lanes_has(w, FT__MOD_SAT),
                        ft__ptx_lanes_has(w, FT__MOD_RELU),
                        ft__ptx_lanes_has(w, FT__MOD_SATFINITE)};
}

static uint64_t converted(const conversion *k, uint64_t v)
{
    double x = ft__ptx_to_double(k->from, v);
    uint64_t r;

    x = ft__ptx_flushed(x, k->ftz && k->from == FT__TYPE_F32);
    if (k->integral)
        x = integral(x, k->round);
    if (k->relu && x <= 0)
        x = 0;
    if (k->sat)
        x = x > 0 ? x < 1 ? x : 1 : 0;
    r = ft__ptx_from_double(k->to, x, k->round, k->finite);
    if (k->ftz && k->to == FT__TYPE_F32 && (r & 0x7f800000) == 0)
        r &= 0x80000000;
    return r;
}

static bool between_floats(const ft__ptx_lanes *w, unsigned to, unsigned from)
{
    const conversion k = conversion_of(w, to, from);

    if (!ft__ptx_is_float(to) || !ft__ptx_is_float(from))
        return false;
    for (uint32_t l = 0; l < w->n; l++)
        w->d[l] = converted(&k, w->a[l]);
    return true;
}

/* The element of a pair; NONE: no pair that is known. */
static unsigned element(unsigned type)
{
    switch (type) {
    case FT__TYPE_F16X2: return FT__TYPE_F16;
    case FT__TYPE_BF16X2: return FT__TYPE_BF16;
    case FT__TYPE_E4M3X2: return FT__TYPE_E4M3;
    case FT__TYPE_E5M2X2: return FT__TYPE_E5M2;
    default: return FT__TYPE_NONE;
    }
}

/* Two floats into a pair, the first on top, or pair to pair. */
static bool to_pair(const ft__ptx_lanes *w, unsigned to, unsigned from)
{
    const bool pair = element(from) != (unsigned)FT__TYPE_NONE;
    const conversion k = conversion_of(w, element(to), pair ? element(from) : from);
    const uint32_t ob = ft__ptx_type_bits(k.to), ib = ft__ptx_type_bits(k.from);

    if (!ft__ptx_is_float(k.to) || !ft__ptx_is_float(k.from) ||
        w->sources != (pair ? 1 : 2))
        return false;
    for (uint32_t l = 0; l < w->n; l++) {
        const uint64_t high = pair ? w->a[l] >> ib : w->a[l];
        const uint64_t low = pair ? w->a[l] : w->b[l];

        w->d[l] = converted(&k, high) << ob | converted(&k, low);
    }
    return true;
}

/* cvt.pack: a and b, saturated, below what c's low bits are. */
static bool pack(const ft__ptx_lanes *w)
{
    const unsigned to = w->i->type[0], from = w->i->type[1];
    const uint32_t tb = ft__ptx_type_bits(to), fb = ft__ptx_type_bits(from);
    const bool ts = ft__ptx_type_kind(to) == FT__KIND_SIGNED;
    const bool fs = ft__ptx_type_kind(from) == FT__KIND_SIGNED;
    const uint64_t m = ft__ptx_mask(tb);
    const bool more = w->sources > 2;

    EACH(w, (uint32_t)((more ? C << 2 * tb : 0) |
                       (clamped(extended(A, fb, fs), fs, tb, ts) & m) << tb |
                       (clamped(extended(B, fb, fs), fs, tb, ts) & m)));
    return true;
}

static bool convert(const ft__ptx_lanes *w)
{
    const unsigned to = w->i->type[0], from = w->i->type[1];
    const bool tf = ft__ptx_type_kind(to) == FT__KIND_FLOAT;
    const bool ff = ft__ptx_type_kind(from) == FT__KIND_FLOAT;

    if (ft__ptx_lanes_has(w, FT__MOD_PACK))
        return pack(w);
    if (w->i->n_types != 2 || ft__ptx_lanes_has(w, FT__MOD_RS))
        return false;
    if (element(to) != (unsigned)FT__TYPE_NONE)
        return to_pair(w, to, from);
    if (w->sources != 1)
        return false;
    return tf   ? ff ? between_floats(w, to, from) : integer_to_float(w, to, from)
             : ff ? float_to_integer(w, to, from)
                : between_integers(w, to, from);
}

static uint64_t window_of(const ft__ptx_lanes *w)
{
    return ft__ptx_lanes_has(w, FT__MOD_GLOBAL)  ? FT__PTX_WINDOW_GLOBAL
           : ft__ptx_lanes_has(w, FT__MOD_LOCAL) ? FT__PTX_WINDOW_LOCAL
           : ft__ptx_lanes_has(w, FT__MOD_CONST) ? FT__PTX_WINDOW_CONST
           : ft__ptx_lanes_has(w, FT__MOD_PARAM) ||
                   ft__ptx_lanes_has(w, FT__MOD_PARAM_ENTRY)
               ? FT__PTX_WINDOW_PARAM
               : FT__PTX_WINDOW_SHARED;
}

static bool change_space(const ft__ptx_lanes *w)
{
    const uint64_t window = window_of(w), m = ft__ptx_mask(w->bits);

    if (ft__ptx_lanes_has(w, FT__MOD_TO))
        EACH(w, (A - window) & m);
    else
        EACH(w, (A + window) & m);
    return true;
}

static bool is_in_space(const ft__ptx_lanes *w)
{
    const uint64_t window = window_of(w);

    EACH(w, window == FT__PTX_WINDOW_GLOBAL ? A < FT__PTX_WINDOW_SHARED
                                            : A - window < FT__PTX_WINDOW_SIZE);
    return true;
}

bool ft__ptx_eval_convert(const ft__ptx_lanes *w)
{
    switch (w->i->opcode) {
    case FT__PTX_CVT: return convert(w);
    case FT__PTX_CVTA: return change_space(w);
    case FT__PTX_ISSPACEP: return is_in_space(w);
    default: return false;
    }
}
