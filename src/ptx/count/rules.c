/* Affine expressions of results. Each rule says in front what must hold for it; where
 * that is not certain for every thread, it becomes a bound, or the rule does not apply.
 */
#include <string.h>

#include "ptx/count/run.h"

struct ruling {
    ft__run *r;
    const ft__ptx_function *f;
    const ft__ptx_insn *i;
    const ft__lane_value *a;
    const ft__set *who;
    uint32_t n, bits;
    bool is_signed, hard;
    bool sign; /* only the sign of the result is ever read */
};

static bool has(const struct ruling *w, unsigned mod)
{
    return ft__ptx_has(w->f, w->i, mod);
}

/* ---- numbers ---- */

/* Numbers as they are kept in 32 or 64 bits with a sign: as they are, or where there
 * are as many bits and no sign, less 2^31 or 2^63. */
typedef struct number_keys {
    uint64_t mask, flip, less;
} number_keys;

static number_keys number_keys_of(uint32_t bits, bool is_signed, uint32_t width)
{
    const uint64_t top = (uint64_t)1 << (bits - 1);

    return (number_keys){ft__ptx_mask(bits), is_signed || bits == width ? top : 0,
                         is_signed ? top : 0};
}

static int64_t key_of(const number_keys *k, uint64_t v)
{
    return (int64_t)(((v & k->mask) ^ k->flip) - k->less);
}

/* Of whole words of lanes in 32 bits, which a machine compares four at a time. */
static void ends_32(const uint64_t *lane, const number_keys *how, int32_t *low,
                    int32_t *high)
{
    const uint32_t mask = (uint32_t)how->mask, flip = (uint32_t)how->flip;
    const uint32_t less = (uint32_t)how->less;
    int32_t least = *low, most = *high;

    for (uint32_t l = 0; l < 64; l++) {
        const int32_t x = (int32_t)((((uint32_t)lane[l] & mask) ^ flip) - less);

        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    *low = least;
    *high = most;
}

/* The ends of a value's numbers; least > most: nobody is there. Of a value that is the
 * same in all threads nobody has to be. */
static void number_ends(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                        bool is_signed, const ft__set *who, ft__i128 *least,
                        ft__i128 *most)
{
    const uint32_t width = bits > 32 ? 64 : 32;
    const number_keys how = number_keys_of(bits, is_signed, width);
    const ft__i128 more = bits == width && !is_signed ? (ft__i128)1 << (width - 1) : 0;
    int64_t low = INT64_MAX, high = INT64_MIN;
    int32_t low_32 = INT32_MAX, high_32 = INT32_MIN;
    bool any = false, wide = false;

    *least = *most = ft__number(v->base, bits, is_signed);
    if (!v->lane)
        return;
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t *lane = v->lane + (size_t)k * 64;

        any |= who->w[k] != 0;
        if (who->w[k] == UINT64_MAX && width == 32) {
            ends_32(lane, &how, &low_32, &high_32);
            wide = true;
            continue;
        }
        for (uint64_t m = who->w[k]; m; m &= m - 1) {
            const uint64_t one = lane[__builtin_ctzll(m)];
            const int64_t x =
                width == 32 ? (int32_t)key_of(&how, one) : key_of(&how, one);

            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    }
    low = wide && low_32 < low ? low_32 : low;
    high = wide && high_32 > high ? high_32 : high;
    *least = any ? low + more : (ft__i128)1 << 100;
    *most = any ? high + more : -((ft__i128)1 << 100);
}

/* ---- bounds ---- */

/* An affine expression that numbers between these have: they stay numbers of so many
 * bits. */
static void hold_inside(ft__run *r, uint32_t affine, uint32_t bits, bool is_signed,
                        ft__i128 least, ft__i128 most)
{
    const ft__i128 top = (ft__i128)1 << (is_signed ? bits - 1 : bits);

    if (least <= most)
        ft__affine_hold(&r->affines, affine, ft__held((is_signed ? -top : 0) - least),
                        ft__held(top - 1 - most));
}

/* Bounds so that source k, a number of so many bits, stays between its ends. */
static void no_wrap(const struct ruling *w, uint32_t k, uint32_t bits, bool is_signed)
{
    ft__i128 least, most;

    if (!w->a[k].affine)
        return;
    number_ends(w->r, &w->a[k], bits, is_signed, w->who, &least, &most);
    hold_inside(w->r, w->a[k].affine, bits, is_signed, least, most);
}

static bool is_constant(const ft__lane_value *v)
{
    return !v->affine && !v->lane && !v->rough;
}

/* Keys of a value, of the threads of `who` in order; one where all have the same. */
static uint32_t keys(int64_t out[FT__MOST_THREADS], const ft__run *r,
                     const ft__lane_value *v, const number_keys *how,
                     const ft__set *who)
{
    uint32_t n = 0;

    if (!v->lane) {
        out[0] = key_of(how, v->base);
        return 1;
    }
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t *lane = v->lane + (size_t)k * 64;

        if (who->w[k] == UINT64_MAX) {
            for (uint32_t l = 0; l < 64; l++)
                out[n + l] = key_of(how, lane[l]);
            n += 64;
            continue;
        }
        for (uint64_t m = who->w[k]; m; m &= m - 1)
            out[n++] = key_of(how, lane[__builtin_ctzll(m)]);
    }
    return n;
}

/* ---- sums and products ---- */

static bool sum(const struct ruling *w, uint32_t *affine, int64_t factor)
{
    if (has(w, FT__MOD_SAT))
        return false;
    *affine =
        ft__affine_sum(&w->r->affines, w->a[0].affine, w->a[1].affine, factor, w->bits);
    return true;
}

/* a * b + c, where one of a and b is a constant. */
static bool product(const struct ruling *w, uint32_t *affine)
{
    const uint32_t other = w->a[0].affine ? 1 : 0, varying = 1 - other;
    const bool wide = has(w, FT__MOD_WIDE);
    const uint32_t bits = wide ? w->bits * 2 : w->bits;

    if (has(w, FT__MOD_SAT) || bits > 64)
        return false;
    *affine = 0;
    if (w->a[varying].affine) {
        if (!is_constant(&w->a[other]))
            return false;
        if (wide)
            no_wrap(w, varying, w->bits, w->is_signed);
        *affine = ft__affine_sum(
            &w->r->affines, 0, w->a[varying].affine,
            (int64_t)ft__number(w->a[other].base, w->bits, w->is_signed), bits);
    }
    if (w->n > 2)
        *affine = ft__affine_sum(&w->r->affines, *affine, w->a[2].affine, 1, bits);
    return true;
}

static bool shift_left(const struct ruling *w, uint32_t *affine)
{
    if (!is_constant(&w->a[1]))
        return false;
    *affine = w->a[1].base >= w->bits
                  ? 0
                  : ft__affine_sum(&w->r->affines, 0, w->a[0].affine,
                                   (int64_t)((uint64_t)1 << w->a[1].base), w->bits);
    return true;
}

/* ---- quotients and remainders ---- */

/* Factors over d, d > 0: only where it divides them all. */
static bool divide(ft__affines *w, uint32_t *quotient, uint32_t affine, int64_t d)
{
    int64_t a[FT__SYMBOLS];

    for (uint32_t k = 0; k < FT__SYMBOLS; k++) {
        if (w->affine[affine].a[k] % d != 0)
            return false;
        a[k] = w->affine[affine].a[k] / d;
    }
    *quotient = ft__affine_intern(w, a);
    return true;
}

/* factor times the affine expression has factors of less than 62 bits. */
static bool fits(const ft__affines *w, uint32_t affine, int64_t factor)
{
    bool all = true;

    for (uint32_t k = 0; k < FT__SYMBOLS; k++) {
        int64_t one;

        all &= !__builtin_mul_overflow(w->affine[affine].a[k], factor, &one) &&
               one < (int64_t)1 << 62 && one > -((int64_t)1 << 62);
    }
    return all;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* A quotient by d would have been even, had the loop summaries taken more rounds
 * together. */
static void want_rounds(ft__run *r, uint32_t affine, uint64_t d)
{
    for (uint32_t k = 0; k < r->n_summaries; k++) {
        ft__summary *t = &r->summary[k];
        const int64_t a = ft__affine_at(&r->affines, affine)->a[t->symbol];
        const uint64_t times = d / gcd(a < 0 ? 0 - (uint64_t)a : (uint64_t)a, d);

        if (times > 1 && times <= FT__MOST_PERIOD)
            t->wanted = (uint32_t)(t->wanted / gcd(t->wanted, times) * times);
        if (t->wanted > FT__MOST_PERIOD)
            t->wanted = 1;
    }
}

static int64_t remainder_of(int64_t key, const number_keys *how, int64_t d)
{
    const bool plain = how->less || !how->flip;
    const int64_t r =
        plain ? key % d : (int64_t)(((uint64_t)key ^ how->flip) % (uint64_t)d);

    return r < 0 ? r + d : r;
}

/* The least and the most modulo d, rounded down, and the last thread's number; nothing
 * is written where nobody is there. */
static void remainders(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                       bool is_signed, const ft__set *who, int64_t d, uint64_t *last,
                       int64_t *least, int64_t *most)
{
    const number_keys how = number_keys_of(bits, is_signed, 64);
    int64_t key[FT__MOST_THREADS], low = INT64_MAX, high = INT64_MIN;
    const uint32_t n = keys(key, r, v, &how, who);

    for (uint32_t k = 0; k < n; k++) {
        low = key[k] < low ? key[k] : low;
        high = key[k] > high ? key[k] : high;
    }
    if (!n)
        return;
    *last = (uint64_t)key[n - 1] ^ (how.less ? 0 : how.flip);
    *least = remainder_of(low, &how, d);
    *most = remainder_of(high, &how, d);
    if ((ft__i128)high - low == *most - *least) /* no multiple of d lies between */
        return;
    *least = d;
    *most = 0;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t x = remainder_of(key[k], &how, d);

        *least = x < *least ? x : *least;
        *most = x > *most ? x : *most;
    }
}

/* Of v over d, d > 0, rounded down: the affine expressions of quotient and remainder.
 * Where d does not divide the affine expression, the quotient is a symbol of its own,
 * that of one thread's value, and the remainder is what is left; that it stays between
 * 0 and d is a bound. */
static bool quotient(const struct ruling *w, const ft__lane_value *v, bool is_signed,
                     int64_t d, uint32_t *q, uint32_t *rest)
{
    ft__affines *affines = &w->r->affines;
    ft__affine_variable s = {.affine = {v->affine}, .n_source = 1, .divisor = d};
    int64_t least = d, most = 0;

    *rest = 0;
    if (divide(affines, q, v->affine, d))
        return true;
    if (w->hard)
        want_rounds(w->r, v->affine, (uint64_t)d);
    if (!w->hard || ft__affine_of_loops(affines, v->affine) || !v->lane ||
        d > (int64_t)1 << 40)
        return false;
    remainders(w->r, v, w->bits, is_signed, w->who, d, &s.source[0], &least, &most);
    *q = least > most ? 0 : ft__affine_derive(affines, &s);
    if (!*q)
        return false;
    *rest = ft__affine_sum(affines, v->affine, *q, -d, 64);
    ft__affine_hold(affines, *rest, -least, d - 1 - most);
    return true;
}

/* Remainders by 2^bits leave next to no room: products that make numbers look random,
 * which no two blocks have in common. */
static bool is_scattered(const struct ruling *w, const ft__lane_value *product)
{
    const int64_t d = (int64_t)1 << w->bits;
    int64_t least = 0, most = 0;
    uint64_t last;

    remainders(w->r, product, 64, true, w->who, d, &last, &least, &most);
    return d - (most - least) < d / 32;
}

/* The upper half of a * b + c, where one of a and b is a constant: the quotient of the
 * whole product by 2^bits. So compilers divide by a constant. */
static bool upper_half(const struct ruling *w, uint32_t *affine)
{
    const uint32_t other = w->a[0].affine ? 1 : 0, varying = 1 - other;
    const ft__lane_value *v = &w->a[varying];
    uint64_t lane[FT__MOST_THREADS];
    ft__lane_value product = {.lane = lane};
    struct ruling wide = *w;
    ft__i128 least, most, by;
    uint32_t rest;

    if (!w->hard || w->bits > 32 || has(w, FT__MOD_SAT) || !is_constant(&w->a[other]) ||
        !v->affine || !v->lane)
        return false;
    by = ft__number(w->a[other].base, w->bits, w->is_signed);
    number_ends(w->r, v, w->bits, w->is_signed, w->who, &least, &most);
    if (least > most || most * by > INT64_MAX ||
        !fits(&w->r->affines, v->affine, (int64_t)by))
        return false;
    for (uint32_t l = 0; l < w->r->threads; l++)
        lane[l] =
            (uint64_t)ft__number(v->lane[l], w->bits, w->is_signed) * (uint64_t)by;
    product.affine = ft__affine_sum(&w->r->affines, 0, v->affine, (int64_t)by, 64);
    wide.bits = 64;
    if (is_scattered(w, &product) ||
        !quotient(&wide, &product, true, (int64_t)1 << w->bits, affine, &rest))
        return false;
    hold_inside(w->r, v->affine, w->bits, w->is_signed, least, most);
    if (w->n > 2)
        *affine = ft__affine_sum(&w->r->affines, *affine, w->a[2].affine, 1, w->bits);
    return true;
}

/* By a positive constant, of what is not negative. */
static bool divided(const struct ruling *w, uint32_t *affine, bool remainder)
{
    const ft__i128 d = ft__number(w->a[1].base, w->bits, w->is_signed);
    ft__i128 least, most;
    uint32_t q, rest;

    if (!is_constant(&w->a[1]) || d < 1 || d > INT64_MAX)
        return false;
    number_ends(w->r, &w->a[0], w->bits, w->is_signed, w->who, &least, &most);
    if (least < 0 || !quotient(w, &w->a[0], w->is_signed, (int64_t)d, &q, &rest))
        return false;
    hold_inside(w->r, w->a[0].affine, w->bits, w->is_signed, least, most);
    ft__affine_hold(&w->r->affines, w->a[0].affine, ft__held(-least), INT64_MAX);
    *affine = remainder ? rest : q;
    return true;
}

/* ---- bits ---- */

/* The lowest bits that an affine expression leaves as they are. */
static uint64_t untouched(const struct ruling *w, uint32_t affine)
{
    const ft__affine *f = ft__affine_at(&w->r->affines, affine);
    uint64_t any = 0;

    for (uint32_t k = 0; k < FT__SYMBOLS; k++)
        any |= (uint64_t)f->a[k];
    return any ? (any & (0 - any)) - 1 : UINT64_MAX;
}

static bool masked(const struct ruling *w, uint32_t *affine)
{
    const uint32_t varying = w->a[0].affine ? 0 : 1, other = 1 - varying;
    const uint64_t all = ft__ptx_mask(w->bits), mask = w->a[other].base & all;
    uint32_t q;

    if (!is_constant(&w->a[other]))
        return false;
    *affine = 0;
    if ((mask & ~untouched(w, w->a[varying].affine)) == 0)
        return true;
    /* All bits but some low ones: what is left of a multiple. */
    if (((mask | untouched(w, w->a[varying].affine)) & all) == all) {
        *affine = w->a[varying].affine;
        return true;
    }
    return (mask & (mask + 1)) == 0 && mask < INT64_MAX &&
           quotient(w, &w->a[varying], false, (int64_t)mask + 1, &q, affine);
}

/* or, xor of low bits that the affine expression does not reach. */
static bool joined(const struct ruling *w, uint32_t *affine)
{
    const uint32_t varying = w->a[0].affine ? 0 : 1, other = 1 - varying;
    const uint64_t low = untouched(w, w->a[varying].affine);
    ft__i128 least, most;

    if (w->a[other].affine || w->a[other].rough)
        return false;
    number_ends(w->r, &w->a[other], w->bits, false, w->who, &least, &most);
    if (w->a[other].lane ? most > (ft__i128)low
                         : (w->a[other].base & ft__ptx_mask(w->bits) & ~low) != 0)
        return false;
    *affine = w->a[varying].affine;
    return true;
}

/* ---- conversions ---- */

static bool converted(const struct ruling *w, uint32_t *affine)
{
    const ft__ptx_kind to = ft__ptx_type_kind(w->i->type[0]);
    const ft__ptx_kind from = ft__ptx_type_kind(w->i->type[1]);
    const uint32_t bits = ft__ptx_type_bits(w->i->type[1]);

    if (w->i->n_types < 2 || to == FT__KIND_FLOAT || from == FT__KIND_FLOAT ||
        has(w, FT__MOD_SAT))
        return false;
    if (bits < w->bits)
        no_wrap(w, 0, bits, from == FT__KIND_SIGNED);
    else if (w->bits < 32) /* the register may be wider */
        no_wrap(w, 0, w->bits, to == FT__KIND_SIGNED);
    *affine = ft__affine_sum(&w->r->affines, 0, w->a[0].affine, 1, w->bits);
    return true;
}

/* ---- choices ---- */

/* Both affine expressions become one; which. */
static bool one_affine(const struct ruling *w, uint32_t *affine, uint32_t a, uint32_t b)
{
    const uint32_t d = ft__affine_sum(&w->r->affines, a, b, -1, 64);

    *affine = a;
    if (d && !w->hard)
        return false;
    ft__affine_pin(&w->r->affines, d);
    return true;
}

/* What of two things the threads took: bit 0: some the first, bit 1: some the second.
 */
static unsigned taken(const struct ruling *w, const ft__lane_value *p)
{
    unsigned both = 0;

    if (!p->lane)
        return p->base & 1 ? 1 : 2;
    for (uint32_t k = 0; k < w->r->words; k++)
        for (uint64_t m = w->who->w[k]; m; m &= m - 1)
            both |= p->lane[k * 64 + (uint32_t)__builtin_ctzll(m)] & 1 ? 1 : 2;
    return both;
}

static bool selected(const struct ruling *w, uint32_t *affine)
{
    const unsigned which = taken(w, &w->a[2]);

    if (w->a[2].affine)
        return false;
    *affine = w->a[which == 2 ? 1 : 0].affine;
    return which != 3 || one_affine(w, affine, w->a[0].affine, w->a[1].affine);
}

/* ---- comparisons ---- */

enum relation { LESS, LESS_OR_EQUAL, EQUAL };

/* x + affine expression stays <= limit where x is, and > limit, or for EQUAL > 0, where
 * that is. */
static void hold_side(const struct ruling *w, uint32_t affine, enum relation relation,
                      const ft__i128 *below, const ft__i128 *above)
{
    const int limit = relation == LESS_OR_EQUAL ? 0 : -1;
    const int least = relation == EQUAL ? 1 : limit + 1;

    ft__affine_hold(&w->r->affines, affine,
                    above ? ft__held(least - *above) : INT64_MIN,
                    below ? ft__held(limit - *below) : INT64_MAX);
}

/* a - b, or the end of what 64 bits hold. */
static int64_t held_difference(int64_t a, int64_t b)
{
    int64_t d;

    return !__builtin_sub_overflow(a, b, &d) ? d : a < b ? INT64_MIN : INT64_MAX;
}

/* a - b thread by thread, or the end of what 64 bits hold; how many. */
static uint32_t differences(int64_t out[FT__MOST_THREADS], const ft__run *r,
                            const ft__lane_value *a, const ft__lane_value *b,
                            uint32_t bits, bool is_signed, const ft__set *who)
{
    const number_keys how = number_keys_of(bits, is_signed, 64);
    int64_t other[FT__MOST_THREADS];
    const uint32_t of_a = keys(out, r, a, &how, who);
    const uint32_t of_b = keys(other, r, b, &how, who);
    const uint32_t n = a->lane ? of_a : of_b;
    const int64_t first = out[0];

    for (uint32_t l = 0; l < n && !a->lane; l++)
        out[l] = first;
    if (bits < 64)
        for (uint32_t l = 0; l < n; l++)
            out[l] -= other[b->lane ? l : 0];
    else
        for (uint32_t l = 0; l < n; l++)
            out[l] = held_difference(out[l], other[b->lane ? l : 0]);
    return n;
}

/* Keeps a - b on the side of 0 where it is, thread by thread. */
static void keep_sides(const struct ruling *w, uint32_t affine, const ft__lane_value *a,
                       const ft__lane_value *b, bool is_signed, enum relation relation)
{
    const int64_t limit = relation == LESS_OR_EQUAL ? 0 : -1;
    int64_t x[FT__MOST_THREADS], low = INT64_MIN, high = INT64_MAX;
    const uint32_t n = differences(x, w->r, a, b, w->bits, is_signed, w->who);
    bool any_below = false, any_above = false, any_equal = false;
    ft__i128 below, above;

    for (uint32_t l = 0; l < n; l++) {
        const bool is_below = x[l] <= limit;

        low = is_below && x[l] > low ? x[l] : low;
        high = !is_below && x[l] < high ? x[l] : high;
        any_below |= is_below;
        any_above |= !is_below;
        any_equal |= x[l] == 0;
    }
    below = low;
    above = high;
    if (relation == EQUAL && any_equal)
        ft__affine_pin(&w->r->affines, affine);
    else
        hold_side(w, affine, relation, any_below ? &below : NULL,
                  any_above ? &above : NULL);
}

/* Keeps a and b numbers, and a - b on the side of 0 where it is, for every thread. */
static void keep_order(const struct ruling *w, const ft__lane_value *a,
                       const ft__lane_value *b, bool is_signed, enum relation relation)
{
    const uint32_t d = ft__affine_sum(&w->r->affines, a->affine, b->affine, -1, 64);
    ft__i128 a_least, a_most, b_least, b_most, least, most;

    if (!a->affine && !b->affine)
        return;
    number_ends(w->r, a, w->bits, is_signed, w->who, &a_least, &a_most);
    number_ends(w->r, b, w->bits, is_signed, w->who, &b_least, &b_most);
    if (a->affine)
        hold_inside(w->r, a->affine, w->bits, is_signed, a_least, a_most);
    if (b->affine)
        hold_inside(w->r, b->affine, w->bits, is_signed, b_least, b_most);
    if (!d || a_least > a_most || b_least > b_most)
        return;
    least = a_least - b_most;
    most = a_most - b_least;
    if (!(a->lane && b->lane) && most <= (relation == LESS_OR_EQUAL ? 0 : -1))
        hold_side(w, d, relation, &most, NULL);
    else if (!(a->lane && b->lane) && least >= (relation == LESS ? 0 : 1))
        hold_side(w, d, relation, NULL, &least);
    else
        keep_sides(w, d, a, b, is_signed, relation);
}

static bool compared(const struct ruling *w, uint32_t *affine)
{
    static const struct {
        unsigned mod;
        enum relation relation;
        bool is_unsigned;
    } known[] = {
        {FT__MOD_EQ, EQUAL, false},         {FT__MOD_NE, EQUAL, false},
        {FT__MOD_LT, LESS, false},          {FT__MOD_LE, LESS_OR_EQUAL, false},
        {FT__MOD_GT, LESS_OR_EQUAL, false}, {FT__MOD_GE, LESS, false},
        {FT__MOD_LO, LESS, true},           {FT__MOD_LS, LESS_OR_EQUAL, true},
        {FT__MOD_HI, LESS_OR_EQUAL, true},  {FT__MOD_HS, LESS, true},
    };

    *affine = 0;
    if (w->n > 2 && w->a[2].affine)
        return false;
    for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
        const bool is_signed = w->is_signed && !known[k].is_unsigned;

        if (!has(w, known[k].mod))
            continue;
        keep_order(w, &w->a[0], &w->a[1], is_signed, known[k].relation);
        return true;
    }
    return false;
}

/* The smaller or the larger: a comparison, and a choice. */
static bool least_or_most(const struct ruling *w, uint32_t *affine)
{
    unsigned which = 0;
    const uint32_t threads = w->a[0].lane || w->a[1].lane ? w->r->threads : 1;

    if (has(w, FT__MOD_RELU))
        return false;
    keep_order(w, &w->a[0], &w->a[1], w->is_signed, LESS);
    for (uint32_t l = 0; l < threads; l++) {
        const uint64_t a = w->a[0].lane ? w->a[0].lane[l] : w->a[0].base;
        const uint64_t b = w->a[1].lane ? w->a[1].lane[l] : w->a[1].base;
        const bool less =
            ft__number(a, w->bits, w->is_signed) < ft__number(b, w->bits, w->is_signed);

        if (threads == 1 || ft__set_has(w->who->w, l))
            which |= less == (w->i->opcode == FT__PTX_MIN) ? 1 : 2;
    }
    *affine = w->a[which == 2 ? 1 : 0].affine;
    return which != 3 || one_affine(w, affine, w->a[0].affine, w->a[1].affine);
}

/* ---- signs ---- */

/* Source k stays a number, and negative or not. */
static void keep_sign(const struct ruling *w, uint32_t k)
{
    static const ft__lane_value zero;

    keep_order(w, &w->a[k], &zero, true, LESS);
}

/* or, and of which only the sign matters: it stays where those of the sources do. */
static bool sign_kept(const struct ruling *w, uint32_t *affine)
{
    for (uint32_t k = 0; k < w->n; k++)
        keep_sign(w, k);
    *affine = 0;
    return true;
}

/* ---- shifts to the right ---- */

static bool shift_right(const struct ruling *w, uint32_t *affine)
{
    uint32_t rest;

    if (!is_constant(&w->a[1]) || w->a[1].base >= w->bits)
        return false;
    /* What is left is the sign. Rounds of loops are held, as by any quotient, so that
     * addresses that come from there are known. */
    if (w->hard && w->a[1].base == w->bits - 1 &&
        !ft__affine_of_loops(&w->r->affines, w->a[0].affine)) {
        keep_sign(w, 0);
        *affine = 0;
        return true;
    }
    if (w->a[1].base > 62 ||
        !quotient(w, &w->a[0], w->is_signed, (int64_t)1 << w->a[1].base, affine, &rest))
        return false;
    no_wrap(w, 0, w->bits, w->is_signed);
    return true;
}

/* ---- all ---- */

static bool whole_numbers(const struct ruling *w)
{
    switch (w->i->type[0]) {
    case FT__TYPE_U16X2:
    case FT__TYPE_S16X2:
    case FT__TYPE_U8X4:
    case FT__TYPE_S8X4: return false;
    default: break;
    }
    switch (ft__ptx_type_kind(w->i->type[0])) {
    case FT__KIND_BITS:
    case FT__KIND_UNSIGNED:
    case FT__KIND_SIGNED: return w->bits >= 8 && w->bits <= 64;
    default: return false;
    }
}

static bool of_numbers(const struct ruling *w, uint32_t *affine)
{
    switch (w->i->opcode) {
    case FT__PTX_MOV:
    case FT__PTX_CVTA: *affine = w->a[0].affine; return w->n == 1;
    case FT__PTX_ADD: return sum(w, affine, 1);
    case FT__PTX_SUB: return sum(w, affine, -1);
    case FT__PTX_MUL:
    case FT__PTX_MAD:
        return has(w, FT__MOD_HI) ? upper_half(w, affine) : product(w, affine);
    case FT__PTX_NEG:
    case FT__PTX_NOT:
        *affine = ft__affine_sum(&w->r->affines, 0, w->a[0].affine, -1, w->bits);
        return true;
    case FT__PTX_SHL: return shift_left(w, affine);
    case FT__PTX_SHR: return shift_right(w, affine);
    case FT__PTX_DIV: return divided(w, affine, false);
    case FT__PTX_REM: return divided(w, affine, true);
    case FT__PTX_AND: return w->sign ? sign_kept(w, affine) : masked(w, affine);
    case FT__PTX_OR: return w->sign ? sign_kept(w, affine) : joined(w, affine);
    case FT__PTX_XOR: return joined(w, affine);
    case FT__PTX_CVT: return converted(w, affine);
    case FT__PTX_SELP: return selected(w, affine);
    case FT__PTX_SETP: return compared(w, affine);
    case FT__PTX_MIN:
    case FT__PTX_MAX: return least_or_most(w, affine);
    default: return false;
    }
}

bool ft__rule(ft__run *r, uint32_t *affine, const ft__plan_part *part,
              const ft__plan_step *s, const ft__lane_value *a, const ft__set *who)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];
    const struct ruling w = {.r = r,
                             .f = part->f,
                             .i = i,
                             .a = a,
                             .who = who,
                             .n = s->n_source,
                             .bits = ft__ptx_type_bits(i->type[0]),
                             .is_signed =
                                 ft__ptx_type_kind(i->type[0]) == FT__KIND_SIGNED,
                             .hard = s->need & FT__HARD,
                             .sign = s->sign};

    if (i->opcode == FT__PTX_LD) { /* from a cell: it stays a number of so many bits */
        no_wrap(&w, 0, w.bits, w.is_signed);
        *affine = a[0].affine;
        return true;
    }
    if (i->n_types < 1 || !whole_numbers(&w) ||
        (s->n_dest != 1 && i->opcode != FT__PTX_SETP))
        return false;
    return of_numbers(&w, affine);
}
