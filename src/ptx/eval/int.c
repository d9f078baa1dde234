/* Arithmetic of integers, and their bits: fields, counts, permutations of bytes. In:
 * lanes of sources; out: lanes of results. */
#include "ptx/eval/lanes.h"

#define EACH FT__PTX_EACH

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

static uint64_t high_unsigned(uint64_t a, uint64_t b)
{
    return (uint64_t)((u128)a * b >> 64);
}

static uint64_t high_signed(uint64_t a, uint64_t b)
{
    return (uint64_t)((i128)(int64_t)a * (int64_t)b >> 64);
}

/* Into 32 bits, held at the ends of the range. */
static uint64_t saturated(int64_t v)
{
    v = v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v;
    return (uint32_t)v;
}

static bool is_signed(const ft__ptx_lanes *w)
{
    return w->kind == FT__KIND_SIGNED;
}

static bool is_pair(const ft__ptx_lanes *w)
{
    return w->i->type[0] == FT__TYPE_U16X2 || w->i->type[0] == FT__TYPE_S16X2;
}

/* What f makes of both 16-bit halves. */
#define HALVES(low, high) (((uint64_t)(uint16_t)(high) << 16) | (uint16_t)(low))

static bool add(const ft__ptx_lanes *w)
{
    if (is_pair(w))
        EACH(w, HALVES(A + B, (A >> 16) + (B >> 16)));
    else if (ft__ptx_lanes_has(w, FT__MOD_SAT))
        EACH(w, saturated((int64_t)(int32_t)A + (int32_t)B));
    else if (w->bits == 16)
        EACH(w, (uint16_t)(A + B));
    else if (w->bits == 32)
        EACH(w, (uint32_t)(A + B));
    else
        EACH(w, A + B);
    return true;
}

static bool sub(const ft__ptx_lanes *w)
{
    if (is_pair(w))
        EACH(w, HALVES(A - B, (A >> 16) - (B >> 16)));
    else if (ft__ptx_lanes_has(w, FT__MOD_SAT))
        EACH(w, saturated((int64_t)(int32_t)A - (int32_t)B));
    else if (w->bits == 16)
        EACH(w, (uint16_t)(A - B));
    else if (w->bits == 32)
        EACH(w, (uint32_t)(A - B));
    else
        EACH(w, A - B);
    return true;
}

static void mad_high(const ft__ptx_lanes *w)
{
    if (ft__ptx_lanes_has(w, FT__MOD_SAT))
        EACH(w, saturated(((int64_t)(int32_t)A * (int32_t)B >> 32) + (int32_t)C));
    else if (w->bits == 16 && is_signed(w))
        EACH(w, (uint16_t)(((int16_t)A * (int16_t)B >> 16) + (int16_t)C));
    else if (w->bits == 16)
        EACH(w, (uint16_t)(((uint32_t)(uint16_t)A * (uint16_t)B >> 16) + C));
    else if (w->bits == 32 && is_signed(w))
        EACH(w, (uint32_t)(((int64_t)(int32_t)A * (int32_t)B >> 32) + (int32_t)C));
    else if (w->bits == 32)
        EACH(w, (uint32_t)(((uint64_t)(uint32_t)A * (uint32_t)B >> 32) + C));
    else if (is_signed(w))
        EACH(w, high_signed(A, B) + C);
    else
        EACH(w, high_unsigned(A, B) + C);
}

static void mad_wide(const ft__ptx_lanes *w)
{
    if (w->bits == 16 && is_signed(w))
        EACH(w, (uint32_t)((uint32_t)((int16_t)A * (int16_t)B) + C));
    else if (w->bits == 16)
        EACH(w, (uint32_t)((uint32_t)(uint16_t)A * (uint16_t)B + C));
    else if (is_signed(w))
        EACH(w, (uint64_t)((int64_t)(int32_t)A * (int32_t)B) + C);
    else
        EACH(w, (uint64_t)(uint32_t)A * (uint32_t)B + C);
}

static bool mad(const ft__ptx_lanes *w)
{
    if (ft__ptx_lanes_has(w, FT__MOD_WIDE))
        mad_wide(w);
    else if (ft__ptx_lanes_has(w, FT__MOD_HI))
        mad_high(w);
    else if (w->bits == 16)
        EACH(w, (uint16_t)(A * B + C));
    else if (w->bits == 32)
        EACH(w, (uint32_t)((uint32_t)A * (uint32_t)B + (uint32_t)C));
    else
        EACH(w, A * B + C);
    return true;
}

/* A mad that adds nothing. */
static bool mul(const ft__ptx_lanes *w)
{
    enum { AT_ONCE = 256 };
    static const uint64_t zero[AT_ONCE];
    ft__ptx_lanes part = *w;

    part.c = zero;
    for (uint32_t left = w->n;; left -= part.n) {
        part.n = left < AT_ONCE ? left : AT_ONCE;
        mad(&part);
        if (left == part.n)
            return true;
        part.d += part.n;
        part.a += part.n;
        part.b += part.n;
    }
}

/* Products of 24 bits: .lo bits 0 .. 31 of 48, .hi bits 16 .. 47. */
static uint64_t product24(uint64_t a, uint64_t b, bool is_signed, bool hi)
{
    const int64_t x = is_signed ? ft__ptx_signed(a, 24) : (int64_t)(a & 0xffffff);
    const int64_t y = is_signed ? ft__ptx_signed(b, 24) : (int64_t)(b & 0xffffff);

    return (uint64_t)(x * y) >> (hi ? 16 : 0);
}

static bool mad24(const ft__ptx_lanes *w)
{
    const bool s = is_signed(w), hi = ft__ptx_lanes_has(w, FT__MOD_HI);

    if (w->i->opcode == FT__PTX_MUL24)
        EACH(w, (uint32_t)product24(A, B, s, hi));
    else if (ft__ptx_lanes_has(w, FT__MOD_SAT))
        EACH(w, saturated((int64_t)(int32_t)product24(A, B, s, hi) + (int32_t)C));
    else
        EACH(w, (uint32_t)(product24(A, B, s, hi) + C));
    return true;
}

/* Signed: wrapping, as the machine does. By zero all bits are set, what is left is the
 * dividend: PTX leaves both open. */
static uint64_t quotient(int64_t a, int64_t b)
{
    return b == 0 ? ~(uint64_t)0 : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t remainder_of(int64_t a, int64_t b)
{
    return b == 0 ? (uint64_t)a : b == -1 ? 0 : (uint64_t)(a % b);
}

static uint32_t quotient_32(int32_t a, int32_t b)
{
    return b == 0 ? UINT32_MAX : b == -1 ? 0 - (uint32_t)a : (uint32_t)(a / b);
}

static uint32_t remainder_of_32(int32_t a, int32_t b)
{
    return b == 0 ? (uint32_t)a : b == -1 ? 0 : (uint32_t)(a % b);
}

static bool divide(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);
    const uint32_t bits = w->bits;

    if (is_signed(w) && bits == 32) /* a machine takes longer for 64 */
        EACH(w, quotient_32((int32_t)A, (int32_t)B));
    else if (is_signed(w))
        EACH(w, quotient(ft__ptx_signed(A, bits), ft__ptx_signed(B, bits)) & m);
    else if (bits == 32)
        EACH(w, (uint32_t)B == 0 ? m : (uint32_t)A / (uint32_t)B);
    else
        EACH(w, (B & m) == 0 ? m : (A & m) / (B & m));
    return true;
}

static bool remain(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);
    const uint32_t bits = w->bits;

    if (is_signed(w) && bits == 32)
        EACH(w, remainder_of_32((int32_t)A, (int32_t)B));
    else if (is_signed(w))
        EACH(w, remainder_of(ft__ptx_signed(A, bits), ft__ptx_signed(B, bits)) & m);
    else if (bits == 32)
        EACH(w, (uint32_t)B == 0 ? (uint32_t)A : (uint32_t)A % (uint32_t)B);
    else
        EACH(w, (B & m) == 0 ? A & m : (A & m) % (B & m));
    return true;
}

/* The smaller or the larger of two numbers, or of their halves from bit s on. */
#define CHOICE(T) (((T)A < (T)B) == smaller ? (T)A : (T)B)
#define HALF(T, s)                                                                     \
    (((T)(A >> (s)) < (T)(B >> (s))) == smaller ? (A >> (s)) : (B >> (s)))

static void choose(const ft__ptx_lanes *w, bool smaller)
{
    if (w->i->type[0] == FT__TYPE_S16X2)
        EACH(w, HALVES(HALF(int16_t, 0), HALF(int16_t, 16)));
    else if (is_pair(w))
        EACH(w, HALVES(HALF(uint16_t, 0), HALF(uint16_t, 16)));
    else if (w->bits == 16)
        EACH(w, is_signed(w) ? (uint16_t)CHOICE(int16_t) : CHOICE(uint16_t));
    else if (w->bits == 32 && is_signed(w))
        EACH(w, (uint32_t)CHOICE(int32_t));
    else if (w->bits == 32)
        EACH(w, CHOICE(uint32_t));
    else if (is_signed(w))
        EACH(w, (uint64_t)CHOICE(int64_t));
    else
        EACH(w, CHOICE(uint64_t));
}

/* .relu: nothing below zero. */
static void clip(const ft__ptx_lanes *w)
{
    ft__ptx_lanes r = *w;

    r.a = w->d;
    if (is_pair(w))
        EACH(&r, HALVES((int16_t)A < 0 ? 0 : A, (int16_t)(A >> 16) < 0 ? 0 : A >> 16));
    else
        EACH(&r, (int32_t)A < 0 ? 0 : A);
}

static bool extreme(const ft__ptx_lanes *w)
{
    choose(w, w->i->opcode == FT__PTX_MIN);
    if (ft__ptx_lanes_has(w, FT__MOD_RELU))
        clip(w);
    return true;
}

static bool change_sign(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);
    const uint32_t bits = w->bits;

    if (w->i->opcode == FT__PTX_NEG)
        EACH(w, (0 - A) & m);
    else
        EACH(w, (ft__ptx_signed(A, bits) < 0 ? 0 - A : A) & m);
    return true;
}

static bool sum_of_differences(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);
    const uint32_t bits = w->bits;

    if (is_signed(w))
        EACH(w,
             (C + (ft__ptx_signed(A, bits) < ft__ptx_signed(B, bits) ? B - A : A - B)) &
                 m);
    else
        EACH(w, (C + ((A & m) < (B & m) ? B - A : A - B)) & m);
    return true;
}

static int64_t part(uint64_t v, uint32_t at, uint32_t bits, bool is_signed)
{
    v >>= at;
    return is_signed ? ft__ptx_signed(v, bits) : (int64_t)(v & ft__ptx_mask(bits));
}

/* dp4a: products of four bytes; dp2a: of two halves with two bytes, the low or the high
 * ones (`from` 0 or 16). */
static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, const bool is_signed[2],
                    uint32_t n, uint32_t from)
{
    for (uint32_t k = 0; k < n; k++) {
        const int64_t x = part(a, k * (32 / n), 32 / n, is_signed[0]);

        c += (uint64_t)(x * part(b, from + k * 8, 8, is_signed[1]));
    }
    return (uint32_t)c;
}

static bool dot_product(const ft__ptx_lanes *w)
{
    const bool s[2] = {is_signed(w), w->i->type[1] == FT__TYPE_S32};
    const uint32_t n = w->i->opcode == FT__PTX_DP4A ? 4 : 2;
    const uint32_t from = ft__ptx_lanes_has(w, FT__MOD_HI) ? 16 : 0;

    EACH(w, dot(A, B, C, s, n, n == 4 ? 0 : from));
    return true;
}

static bool arithmetic(const ft__ptx_lanes *w)
{
    switch (w->i->opcode) {
    case FT__PTX_ADD: return add(w);
    case FT__PTX_SUB: return sub(w);
    case FT__PTX_MUL: return mul(w);
    case FT__PTX_MAD: return mad(w);
    case FT__PTX_MUL24:
    case FT__PTX_MAD24: return mad24(w);
    case FT__PTX_DIV: return divide(w);
    case FT__PTX_REM: return remain(w);
    case FT__PTX_MIN:
    case FT__PTX_MAX: return extreme(w);
    case FT__PTX_NEG:
    case FT__PTX_ABS: return change_sign(w);
    case FT__PTX_SAD: return sum_of_differences(w);
    case FT__PTX_DP4A:
    case FT__PTX_DP2A: return dot_product(w);
    default: return false;
    }
}

static uint64_t count_bits(uint64_t v)
{
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return v * 0x0101010101010101u >> 56;
}

/* Position of the highest bit that is set; -1: none. */
static int highest(uint64_t v)
{
    int at = -1;

    for (int s = 32; s > 0; s /= 2)
        if (v >> s != 0) {
            v >>= s;
            at += s;
        }
    return v != 0 ? at + 1 : -1;
}

static uint64_t leading_zeros(uint64_t v, uint32_t bits)
{
    return bits - 1 - (uint64_t)highest(v & ft__ptx_mask(bits));
}

/* Of a negative signed number the highest bit that is not the sign's. */
static uint64_t find(uint64_t v, uint32_t bits, bool is_signed, bool amount)
{
    int at;

    if (is_signed && ft__ptx_signed(v, bits) < 0)
        v = ~v;
    at = highest(v & ft__ptx_mask(bits));
    return (uint32_t)(at < 0 ? -1 : amount ? (int)bits - 1 - at : at);
}

static uint64_t reversed(uint64_t v, uint32_t bits)
{
    uint64_t r = 0;

    for (uint32_t k = 0; k < bits; k++)
        r |= (v >> k & 1) << (bits - 1 - k);
    return r;
}

/* Position of the n-th bit that is set, from `base` up or down; all ones: there is
 * none. */
static uint64_t nth_set(uint64_t mask, uint64_t base, int32_t n)
{
    const int step = n > 0 ? 1 : -1;
    int64_t left = n > 0 ? (int64_t)n - 1 : -(int64_t)n - 1;

    if (n == 0)
        return base < 32 && (mask >> base & 1) ? base : 0xffffffff;
    for (int64_t at = (uint32_t)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) != 0 && left-- == 0)
            return (uint64_t)at;
    return 0xffffffff;
}

static uint64_t extract(uint64_t v, uint64_t from, uint64_t len, uint32_t bits,
                        bool is_signed)
{
    const uint32_t at = (uint32_t)from & 255, n = (uint32_t)len & 255;
    const uint32_t last = at + n - 1 < bits ? at + n - 1 : bits - 1;
    const uint64_t field = at >= bits ? 0 : (v & ft__ptx_mask(bits)) >> at;

    if (n == 0)
        return 0;
    if (!is_signed || (v >> last & 1) == 0)
        return field & ft__ptx_mask(n);
    return (field | ~ft__ptx_mask(last < at ? 0 : last - at + 1)) & ft__ptx_mask(bits);
}

static uint64_t insert(uint64_t v, uint64_t into, uint64_t from, uint64_t len,
                       uint32_t bits)
{
    const uint32_t at = (uint32_t)from & 255, n = (uint32_t)len & 255;
    const uint64_t field = at >= bits ? 0 : ft__ptx_mask(n) << at & ft__ptx_mask(bits);

    return ((into & ~field) | (at >= bits ? 0 : v << at & field)) & ft__ptx_mask(bits);
}

/* b bits from position a on. */
static uint64_t bit_mask(uint64_t a, uint64_t b, bool clamp)
{
    const uint32_t at = (uint32_t)a, n = (uint32_t)b;

    if (clamp && at >= 32)
        return 0;
    if ((clamp && n >= 32) || (at & 31) + (n & 31) >= 32)
        return (uint32_t)(~(uint32_t)0 << (at & 31));
    return ft__ptx_mask(n & 31) << (at & 31);
}

static uint64_t extended(uint64_t v, uint64_t b, bool clamp, bool is_signed)
{
    const uint32_t n = (uint32_t)b & 31;

    if (clamp && (uint32_t)b >= 32)
        return (uint32_t)v;
    if (n == 0)
        return 0;
    return is_signed ? (uint32_t)ft__ptx_signed(v, n) : v & ft__ptx_mask(n);
}

static uint64_t byte_of(uint64_t both, uint32_t which)
{
    return both >> 8 * (which & 7) & 255;
}

/* Each of four selectors takes a byte of {b, a}, or its sign eight times. */
static uint64_t permuted(uint64_t both, uint64_t selectors)
{
    uint64_t r = 0;

    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t s = (uint32_t)(selectors >> 4 * k);
        uint64_t v = byte_of(both, s);

        if (s & 8)
            v = v & 128 ? 255 : 0;
        r |= v << 8 * k;
    }
    return r;
}

/* The selectors that a mode and the low two bits of c mean. */
static uint64_t selectors_of(unsigned mode, uint64_t c)
{
    static const uint16_t all[][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e: four from c on, upwards */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e: downwards */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };

    return all[mode - FT__MOD_F4E][c & 3];
}

static bool permute(const ft__ptx_lanes *w)
{
    unsigned mode = 0;

    for (unsigned k = FT__MOD_F4E; k <= FT__MOD_RC16; k++)
        if (ft__ptx_lanes_has(w, k))
            mode = k;
#define BOTH ((uint64_t)(uint32_t)B << 32 | (uint32_t)A)
    if (mode == 0)
        EACH(w, permuted(BOTH, C));
    else
        EACH(w, permuted(BOTH, selectors_of(mode, C)));
#undef BOTH
    return true;
}

static void insert_fields(const ft__ptx_lanes *w)
{
    for (uint32_t l = 0; l < w->n; l++)
        w->d[l] = insert(w->a[l], w->b[l], w->c[l], w->e[l], w->bits);
}

static bool of_bits(const ft__ptx_lanes *w)
{
    const uint32_t bits = w->bits;
    const bool s = w->kind == FT__KIND_SIGNED;
    const bool clamp = ft__ptx_lanes_has(w, FT__MOD_CLAMP);
    const bool amount = ft__ptx_lanes_has(w, FT__MOD_SHIFTAMT);

    switch (w->i->opcode) {
    case FT__PTX_POPC: EACH(w, count_bits(A & ft__ptx_mask(bits))); break;
    case FT__PTX_CLZ: EACH(w, leading_zeros(A, bits)); break;
    case FT__PTX_BFIND: EACH(w, find(A, bits, s, amount)); break;
    case FT__PTX_BREV: EACH(w, reversed(A, bits)); break;
    case FT__PTX_FNS: EACH(w, nth_set((uint32_t)A, (uint32_t)B, (int32_t)C)); break;
    case FT__PTX_BFE: EACH(w, extract(A, B, C, bits, s)); break;
    case FT__PTX_BFI: insert_fields(w); break;
    case FT__PTX_BMSK: EACH(w, bit_mask(A, B, clamp)); break;
    case FT__PTX_SZEXT: EACH(w, extended(A, B, clamp, s)); break;
    case FT__PTX_PRMT: return permute(w);
    default: return false;
    }
    return true;
}

bool ft__ptx_eval_int(const ft__ptx_lanes *w)
{
    return (w->kind != FT__KIND_FLOAT && arithmetic(w)) || of_bits(w);
}
