#include <math.h>
#include <string.h>

#include "ptx/eval/lanes.h"
#include "ptx_interpret/machine.h"

/* What lanes tell each other, and sums with a carry. */

static bool has(const ft__ptx_step *s, unsigned mod)
{
    return ft__ptx_has(s->f, s->i, mod);
}

static const uint64_t *source(const ft__ptx_step *s, uint32_t n,
                              uint64_t own[FT__PTX_LANES])
{
    memset(own, 0, FT__PTX_LANES * sizeof *own);
    return n < s->leaf->n_s ? ft__ptx_value(s, s->leaf->s[n], own) : own;
}

/* d, or p of d|p. */
static void result(const ft__ptx_step *s, uint32_t n, const uint64_t *v)
{
    if (n < s->leaf->n_d)
        ft__ptx_put(s, s->leaf->d[n], v, s->on);
}

/* The lane to take from; beyond its segment: its own, and false. */
static bool from_lane(int *out, const ft__ptx_step *s, int lane, uint32_t b, uint32_t c)
{
    const int segment = (int)(c >> 8 & 31), clamp = (int)(c & 31), by = (int)(b & 31);
    const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    bool inside;
    int j;

    if (has(s, FT__MOD_UP)) {
        j = lane - by;
        inside = j >= last;
    } else if (has(s, FT__MOD_DOWN)) {
        j = lane + by;
        inside = j <= last;
    } else if (has(s, FT__MOD_BFLY)) {
        j = lane ^ by;
        inside = j <= last;
    } else {
        j = first | (by & ~segment);
        inside = j <= last;
    }
    *out = inside ? j : lane;
    return inside;
}

static void shuffle(ft__ptx_step *s)
{
    uint64_t own_a[FT__PTX_LANES], own_b[FT__PTX_LANES], own_c[FT__PTX_LANES];
    const uint64_t *a = source(s, 0, own_a), *b = source(s, 1, own_b),
                   *c = source(s, 2, own_c);
    uint64_t d[FT__PTX_LANES], p[FT__PTX_LANES];

    for (int l = 0; l < FT__PTX_LANES; l++) {
        int from;

        p[l] = from_lane(&from, s, l, (uint32_t)b[l], (uint32_t)c[l]);
        d[l] = a[from];
    }
    result(s, 0, d);
    result(s, 1, p);
}

static void fill(uint64_t d[FT__PTX_LANES], uint64_t v)
{
    for (int l = 0; l < FT__PTX_LANES; l++)
        d[l] = v;
}

/* Lanes whose predicate holds. */
static uint32_t those(const ft__ptx_step *s, const uint64_t *p, bool negated)
{
    uint32_t mask = 0;

    for (int l = 0; l < FT__PTX_LANES; l++)
        mask |= (uint32_t)((p[l] != 0) != negated) << l;
    return mask & s->on;
}

static void vote(ft__ptx_step *s)
{
    uint64_t own[FT__PTX_LANES], d[FT__PTX_LANES];
    const uint64_t *p = source(s, 0, own);
    const bool negated = s->leaf->n_s > 0 && s->leaf->s[0]->negated;
    const uint32_t yes = those(s, p, negated);

    if (has(s, FT__MOD_BALLOT))
        fill(d, yes);
    else if (has(s, FT__MOD_ANY))
        fill(d, yes != 0);
    else if (has(s, FT__MOD_ALL))
        fill(d, yes == s->on);
    else
        fill(d, yes == s->on || yes == 0);
    result(s, 0, d);
}

static void match(ft__ptx_step *s)
{
    const uint64_t m = ft__ptx_mask(ft__ptx_type_bits(s->i->type[0]));
    uint64_t own[FT__PTX_LANES], d[FT__PTX_LANES], p[FT__PTX_LANES];
    const uint64_t *a = source(s, 0, own);

    for (int l = 0; l < FT__PTX_LANES; l++) {
        d[l] = 0;
        for (int k = 0; k < FT__PTX_LANES; k++)
            d[l] |= (uint64_t)((s->on >> k & 1) && ((a[l] ^ a[k]) & m) == 0) << k;
        p[l] = d[l] == s->on;
        if (has(s, FT__MOD_ALL) && !p[l])
            d[l] = 0;
    }
    result(s, 0, d);
    result(s, 1, p);
}

static uint64_t combine(const ft__ptx_step *s, uint64_t x, uint64_t y)
{
    const bool is_signed = s->i->type[0] == FT__TYPE_S32;
    const bool less = is_signed ? (int32_t)x < (int32_t)y : (uint32_t)x < (uint32_t)y;

    if (has(s, FT__MOD_ADD))
        return (uint32_t)(x + y);
    if (has(s, FT__MOD_MIN))
        return less ? x : y;
    if (has(s, FT__MOD_MAX))
        return less ? y : x;
    return has(s, FT__MOD_AND) ? x & y : has(s, FT__MOD_OR) ? x | y : x ^ y;
}

static uint64_t combine_floats(const ft__ptx_step *s, uint64_t a, uint64_t b)
{
    double x = ft__ptx_to_double(FT__TYPE_F32, a),
           y = ft__ptx_to_double(FT__TYPE_F32, b);

    x = has(s, FT__MOD_ABS) ? fabs(x) : x;
    y = has(s, FT__MOD_ABS) ? fabs(y) : y;
    x = has(s, FT__MOD_NAN) && isnan(x) ? x
        : has(s, FT__MOD_MIN)           ? fmin(x, y)
                                        : fmax(x, y);
    return ft__ptx_from_double(FT__TYPE_F32, x, FT__ROUND_NEAREST, false);
}

static void reduce(ft__ptx_step *s)
{
    const bool floats = ft__ptx_type_kind(s->i->type[0]) == FT__KIND_FLOAT;
    const int first = ft__ptx_lowest(s->on);
    uint64_t own[FT__PTX_LANES], d[FT__PTX_LANES], v;
    const uint64_t *a = source(s, 0, own);

    if (s->on == 0)
        return;
    v = floats ? combine_floats(s, a[first], a[first]) : (uint32_t)a[first];
    for (int l = first + 1; l < FT__PTX_LANES; l++)
        if (s->on >> l & 1)
            v = floats ? combine_floats(s, v, a[l]) : combine(s, v, (uint32_t)a[l]);
    fill(d, v);
    result(s, 0, d);
}

static void elect(ft__ptx_step *s)
{
    const int leader = ft__ptx_lowest(s->on);
    uint64_t d[FT__PTX_LANES], p[FT__PTX_LANES];

    fill(d, (uint64_t)leader);
    for (int l = 0; l < FT__PTX_LANES; l++)
        p[l] = l == leader;
    result(s, 0, d);
    result(s, 1, p);
}

void ft__ptx_do_warp(ft__ptx_step *s)
{
    uint64_t d[FT__PTX_LANES];

    switch (s->i->opcode) {
    case FT__PTX_SHFL: shuffle(s); break;
    case FT__PTX_VOTE: vote(s); break;
    case FT__PTX_MATCH: match(s); break;
    case FT__PTX_REDUX: reduce(s); break;
    case FT__PTX_ELECT: elect(s); break;
    default:
        fill(d, s->on);
        result(s, 0, d);
        break;
    }
}

/* a x b, low or high half, of 32 or 64 bits. */
static uint64_t product(const ft__ptx_step *s, uint64_t a, uint64_t b, uint32_t bits)
{
    __extension__ typedef unsigned __int128 u128;
    __extension__ typedef __int128 i128;
    const bool is_signed = ft__ptx_type_kind(s->i->type[0]) == FT__KIND_SIGNED;
    const u128 p = is_signed
                       ? (u128)((i128)ft__ptx_signed(a, bits) * ft__ptx_signed(b, bits))
                       : (u128)(a & ft__ptx_mask(bits)) * (b & ft__ptx_mask(bits));

    return (uint64_t)(has(s, FT__MOD_HI) ? p >> bits : p) & ft__ptx_mask(bits);
}

/* x + y + in, and the carry out of it. */
static uint64_t add(uint64_t x, uint64_t y, uint32_t in, uint32_t bits, uint32_t *out)
{
    const uint64_t m = ft__ptx_mask(bits);
    const uint64_t low = (x + y) & m, r = (low + in) & m;

    *out = low < x || r < low;
    return r;
}

/* One lane; `carry` in and out. A subtraction is the sum with the complement, the
 * borrow a carry that is not there; PTX keeps the borrow. */
static uint64_t with_carry(const ft__ptx_step *s, const uint64_t v[3], uint32_t *carry)
{
    const uint32_t bits = ft__ptx_type_bits(s->i->type[0]);
    const uint64_t m = ft__ptx_mask(bits);
    const unsigned op = s->i->opcode;
    const bool takes = op == FT__PTX_ADDC || op == FT__PTX_SUBC || op == FT__PTX_MADC;
    const uint32_t in = takes ? *carry : 0;
    uint64_t r;

    if (op == FT__PTX_SUB || op == FT__PTX_SUBC) {
        r = add(v[0] & m, ~v[1] & m, !in, bits, carry);
        *carry ^= 1;
    } else if (op == FT__PTX_ADD || op == FT__PTX_ADDC) {
        r = add(v[0] & m, v[1] & m, in, bits, carry);
    } else {
        r = add(product(s, v[0], v[1], bits), v[2] & m, in, bits, carry);
    }
    return r;
}

void ft__ptx_do_carry(ft__ptx_step *s)
{
    uint64_t own[3][FT__PTX_LANES], d[FT__PTX_LANES];
    const uint64_t *v[3];

    for (uint32_t n = 0; n < 3; n++)
        v[n] = source(s, n, own[n]);
    for (int l = 0; l < FT__PTX_LANES; l++) {
        const uint64_t lane[3] = {v[0][l], v[1][l], v[2][l]};
        const uint32_t bit = (uint32_t)1 << l;
        uint32_t carry = (s->w->carry & bit) != 0;

        d[l] = with_carry(s, lane, &carry);
        if (has(s, FT__MOD_CC) && (s->on & bit))
            s->w->carry = (s->w->carry & ~bit) | carry << l;
    }
    result(s, 0, d);
}
