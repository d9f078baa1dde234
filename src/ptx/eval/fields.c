/* Bit fields, counts of bits, permutations of bytes. In: lanes of sources; out: lanes
 * of results. */
#include "ptx/eval/lanes.h"

#define EACH FT__PTX_EACH

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

bool ft__ptx_eval_fields(const ft__ptx_lanes *w)
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
