/* Arithmetic of integers. In: lanes of sources; out: lanes of results. */
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

static void high(const ft__ptx_lanes *w)
{
    if (w->bits == 16 && is_signed(w))
        EACH(w, (uint16_t)((int16_t)A * (int16_t)B >> 16));
    else if (w->bits == 16)
        EACH(w, (uint16_t)((uint32_t)(uint16_t)A * (uint16_t)B >> 16));
    else if (w->bits == 32 && is_signed(w))
        EACH(w, (uint32_t)((int64_t)(int32_t)A * (int32_t)B >> 32));
    else if (w->bits == 32)
        EACH(w, (uint64_t)(uint32_t)A * (uint32_t)B >> 32);
    else if (is_signed(w))
        EACH(w, high_signed(A, B));
    else
        EACH(w, high_unsigned(A, B));
}

static void wide(const ft__ptx_lanes *w)
{
    if (w->bits == 16 && is_signed(w))
        EACH(w, (uint32_t)((int32_t)(int16_t)A * (int16_t)B));
    else if (w->bits == 16)
        EACH(w, (uint32_t)(uint16_t)A * (uint16_t)B);
    else if (is_signed(w))
        EACH(w, (uint64_t)((int64_t)(int32_t)A * (int32_t)B));
    else
        EACH(w, (uint64_t)(uint32_t)A * (uint32_t)B);
}

static bool mul(const ft__ptx_lanes *w)
{
    if (ft__ptx_lanes_has(w, FT__MOD_WIDE))
        wide(w);
    else if (ft__ptx_lanes_has(w, FT__MOD_HI))
        high(w);
    else if (w->bits == 16)
        EACH(w, (uint16_t)(A * B));
    else if (w->bits == 32)
        EACH(w, (uint32_t)((uint32_t)A * (uint32_t)B));
    else
        EACH(w, A * B);
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

bool ft__ptx_eval_int(const ft__ptx_lanes *w)
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
