/* Affine expressions of comparisons, and of choices between two values. */
#include "ptx/count/ruling.h"

/* Both affine expressions become one; which. */
static bool one_affine(const ft__ruling *w, uint32_t *affine, uint32_t a, uint32_t b)
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
static unsigned taken(const ft__ruling *w, const ft__lane_value *p)
{
    unsigned both = 0;

    if (!p->lane)
        return p->base & 1 ? 1 : 2;
    for (uint32_t k = 0; k < w->r->words; k++)
        for (uint64_t m = w->who->w[k]; m; m &= m - 1)
            both |= p->lane[k * 64 + (uint32_t)__builtin_ctzll(m)] & 1 ? 1 : 2;
    return both;
}

bool ft__ruling_select(const ft__ruling *w, uint32_t *affine)
{
    const unsigned which = taken(w, &w->a[2]);

    if (w->a[2].affine)
        return false;
    *affine = w->a[which == 2 ? 1 : 0].affine;
    return which != 3 || one_affine(w, affine, w->a[0].affine, w->a[1].affine);
}

enum relation { LESS, LESS_OR_EQUAL, EQUAL };

/* x + affine expression stays <= limit where x is, and > limit, or for EQUAL > 0, where
 * that is. */
static void hold_side(const ft__ruling *w, uint32_t affine, enum relation relation,
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
    const ft__number_keys how = ft__number_keys_of(bits, is_signed, 64);
    int64_t other[FT__MOST_THREADS];
    const uint32_t of_a = ft__number_keys_in(out, r, a, &how, who);
    const uint32_t of_b = ft__number_keys_in(other, r, b, &how, who);
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
static void keep_sides(const ft__ruling *w, uint32_t affine, const ft__lane_value *a,
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
static void keep_order(const ft__ruling *w, const ft__lane_value *a,
                       const ft__lane_value *b, bool is_signed, enum relation relation)
{
    const uint32_t d = ft__affine_sum(&w->r->affines, a->affine, b->affine, -1, 64);
    ft__i128 a_least, a_most, b_least, b_most, least, most;

    if (!a->affine && !b->affine)
        return;
    ft__number_ends(w->r, a, w->bits, is_signed, w->who, &a_least, &a_most);
    ft__number_ends(w->r, b, w->bits, is_signed, w->who, &b_least, &b_most);
    if (a->affine)
        ft__ruling_hold_inside(w->r, a->affine, w->bits, is_signed, a_least, a_most);
    if (b->affine)
        ft__ruling_hold_inside(w->r, b->affine, w->bits, is_signed, b_least, b_most);
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

bool ft__ruling_compare(const ft__ruling *w, uint32_t *affine)
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

        if (!ft__ruling_has(w, known[k].mod))
            continue;
        keep_order(w, &w->a[0], &w->a[1], is_signed, known[k].relation);
        return true;
    }
    return false;
}

/* A comparison, and a choice. */
bool ft__ruling_least_or_most(const ft__ruling *w, uint32_t *affine)
{
    unsigned which = 0;
    const uint32_t threads = w->a[0].lane || w->a[1].lane ? w->r->threads : 1;

    if (ft__ruling_has(w, FT__MOD_RELU))
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

void ft__ruling_keep_sign(const ft__ruling *w, uint32_t k)
{
    static const ft__lane_value zero;

    keep_order(w, &w->a[k], &zero, true, LESS);
}
