/* Affine expressions of results. Each rule says in front what must hold for it; where
 * that is not certain for every thread, it becomes a bound, or the rule does not apply.
 */
#include "ptx/count/ruling.h"

static bool sum(const ft__ruling *w, uint32_t *affine, int64_t factor)
{
    if (ft__ruling_has(w, FT__MOD_SAT))
        return false;
    *affine =
        ft__affine_sum(&w->r->affines, w->a[0].affine, w->a[1].affine, factor, w->bits);
    return true;
}

/* a * b + c, where one of a and b is a constant. */
static bool product(const ft__ruling *w, uint32_t *affine)
{
    const uint32_t other = w->a[0].affine ? 1 : 0, varying = 1 - other;
    const bool wide = ft__ruling_has(w, FT__MOD_WIDE);
    const uint32_t bits = wide ? w->bits * 2 : w->bits;

    if (ft__ruling_has(w, FT__MOD_SAT) || bits > 64)
        return false;
    *affine = 0;
    if (w->a[varying].affine) {
        if (!ft__ruling_is_constant(&w->a[other]))
            return false;
        if (wide)
            ft__ruling_no_wrap(w, varying, w->bits, w->is_signed);
        *affine = ft__affine_sum(
            &w->r->affines, 0, w->a[varying].affine,
            (int64_t)ft__number(w->a[other].base, w->bits, w->is_signed), bits);
    }
    if (w->n > 2)
        *affine = ft__affine_sum(&w->r->affines, *affine, w->a[2].affine, 1, bits);
    return true;
}

static bool shift_left(const ft__ruling *w, uint32_t *affine)
{
    if (!ft__ruling_is_constant(&w->a[1]))
        return false;
    *affine = w->a[1].base >= w->bits
                  ? 0
                  : ft__affine_sum(&w->r->affines, 0, w->a[0].affine,
                                   (int64_t)((uint64_t)1 << w->a[1].base), w->bits);
    return true;
}

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

static int64_t remainder_of(int64_t key, const ft__number_keys *how, int64_t d)
{
    const bool plain = how->less || !how->flip;
    const int64_t r =
        plain ? key % d : (int64_t)(((uint64_t)key ^ how->flip) % (uint64_t)d);

    return r < 0 ? r + d : r;
}

/* The least and the most modulo d, rounded down, and the last thread's number; nothing
 * is written where no thread is active. */
static void remainders(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                       bool is_signed, const ft__set *who, int64_t d, uint64_t *last,
                       int64_t *least, int64_t *most)
{
    const ft__number_keys how = ft__number_keys_of(bits, is_signed, 64);
    int64_t key[FT__MOST_THREADS], low = INT64_MAX, high = INT64_MIN;
    const uint32_t n = ft__number_keys_in(key, r, v, &how, who);

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
static bool quotient(const ft__ruling *w, const ft__lane_value *v, bool is_signed,
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
static bool is_scattered(const ft__ruling *w, const ft__lane_value *product)
{
    const int64_t d = (int64_t)1 << w->bits;
    int64_t least = 0, most = 0;
    uint64_t last;

    remainders(w->r, product, 64, true, w->who, d, &last, &least, &most);
    return d - (most - least) < d / 32;
}

/* The upper half of a * b + c, where one of a and b is a constant: the quotient of the
 * whole product by 2^bits. So compilers divide by a constant. */
static bool upper_half(const ft__ruling *w, uint32_t *affine)
{
    const uint32_t other = w->a[0].affine ? 1 : 0, varying = 1 - other;
    const ft__lane_value *v = &w->a[varying];
    uint64_t lane[FT__MOST_THREADS];
    ft__lane_value product = {.lane = lane};
    ft__ruling wide = *w;
    ft__i128 least, most, by;
    uint32_t rest;

    if (!w->hard || w->bits > 32 || ft__ruling_has(w, FT__MOD_SAT) ||
        !ft__ruling_is_constant(&w->a[other]) || !v->affine || !v->lane)
        return false;
    by = ft__number(w->a[other].base, w->bits, w->is_signed);
    ft__number_ends(w->r, v, w->bits, w->is_signed, w->who, &least, &most);
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
    ft__ruling_hold_inside(w->r, v->affine, w->bits, w->is_signed, least, most);
    if (w->n > 2)
        *affine = ft__affine_sum(&w->r->affines, *affine, w->a[2].affine, 1, w->bits);
    return true;
}

/* By a positive constant, of what is not negative. */
static bool divided(const ft__ruling *w, uint32_t *affine, bool remainder)
{
    const ft__i128 d = ft__number(w->a[1].base, w->bits, w->is_signed);
    ft__i128 least, most;
    uint32_t q, rest;

    if (!ft__ruling_is_constant(&w->a[1]) || d < 1 || d > INT64_MAX)
        return false;
    ft__number_ends(w->r, &w->a[0], w->bits, w->is_signed, w->who, &least, &most);
    if (least < 0 || !quotient(w, &w->a[0], w->is_signed, (int64_t)d, &q, &rest))
        return false;
    ft__ruling_hold_inside(w->r, w->a[0].affine, w->bits, w->is_signed, least, most);
    ft__affine_hold(&w->r->affines, w->a[0].affine, ft__held(-least), INT64_MAX);
    *affine = remainder ? rest : q;
    return true;
}

/* The lowest bits that an affine expression leaves as they are. */
static uint64_t untouched(const ft__ruling *w, uint32_t affine)
{
    const ft__affine *f = ft__affine_at(&w->r->affines, affine);
    uint64_t any = 0;

    for (uint32_t k = 0; k < FT__SYMBOLS; k++)
        any |= (uint64_t)f->a[k];
    return any ? (any & (0 - any)) - 1 : UINT64_MAX;
}

static bool masked(const ft__ruling *w, uint32_t *affine)
{
    const uint32_t varying = w->a[0].affine ? 0 : 1, other = 1 - varying;
    const uint64_t all = ft__ptx_mask(w->bits), mask = w->a[other].base & all;
    uint32_t q;

    if (!ft__ruling_is_constant(&w->a[other]))
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
static bool joined(const ft__ruling *w, uint32_t *affine)
{
    const uint32_t varying = w->a[0].affine ? 0 : 1, other = 1 - varying;
    const uint64_t low = untouched(w, w->a[varying].affine);
    ft__i128 least, most;

    if (w->a[other].affine || w->a[other].rough)
        return false;
    ft__number_ends(w->r, &w->a[other], w->bits, false, w->who, &least, &most);
    if (w->a[other].lane ? most > (ft__i128)low
                         : (w->a[other].base & ft__ptx_mask(w->bits) & ~low) != 0)
        return false;
    *affine = w->a[varying].affine;
    return true;
}

static bool converted(const ft__ruling *w, uint32_t *affine)
{
    const ft__ptx_kind to = ft__ptx_type_kind(w->i->type[0]);
    const ft__ptx_kind from = ft__ptx_type_kind(w->i->type[1]);
    const uint32_t bits = ft__ptx_type_bits(w->i->type[1]);

    if (w->i->n_types < 2 || to == FT__KIND_FLOAT || from == FT__KIND_FLOAT ||
        ft__ruling_has(w, FT__MOD_SAT))
        return false;
    if (bits < w->bits)
        ft__ruling_no_wrap(w, 0, bits, from == FT__KIND_SIGNED);
    else if (w->bits < 32) /* the register may be wider */
        ft__ruling_no_wrap(w, 0, w->bits, to == FT__KIND_SIGNED);
    *affine = ft__affine_sum(&w->r->affines, 0, w->a[0].affine, 1, w->bits);
    return true;
}

/* or, and of which only the sign matters: it stays where those of the sources do. */
static bool sign_kept(const ft__ruling *w, uint32_t *affine)
{
    for (uint32_t k = 0; k < w->n; k++)
        ft__ruling_keep_sign(w, k);
    *affine = 0;
    return true;
}

static bool shift_right(const ft__ruling *w, uint32_t *affine)
{
    uint32_t rest;

    if (!ft__ruling_is_constant(&w->a[1]) || w->a[1].base >= w->bits)
        return false;
    /* What is left is the sign. Rounds of loops are held, as by any quotient, so that
     * addresses that come from there are known. */
    if (w->hard && w->a[1].base == w->bits - 1 &&
        !ft__affine_of_loops(&w->r->affines, w->a[0].affine)) {
        ft__ruling_keep_sign(w, 0);
        *affine = 0;
        return true;
    }
    if (w->a[1].base > 62 ||
        !quotient(w, &w->a[0], w->is_signed, (int64_t)1 << w->a[1].base, affine, &rest))
        return false;
    ft__ruling_no_wrap(w, 0, w->bits, w->is_signed);
    return true;
}

static bool whole_numbers(const ft__ruling *w)
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

static bool of_numbers(const ft__ruling *w, uint32_t *affine)
{
    switch (w->i->opcode) {
    case FT__PTX_MOV:
    case FT__PTX_CVTA: *affine = w->a[0].affine; return w->n == 1;
    case FT__PTX_ADD: return sum(w, affine, 1);
    case FT__PTX_SUB: return sum(w, affine, -1);
    case FT__PTX_MUL:
    case FT__PTX_MAD:
        return ft__ruling_has(w, FT__MOD_HI) ? upper_half(w, affine)
                                             : product(w, affine);
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
    case FT__PTX_SELP: return ft__ruling_select(w, affine);
    case FT__PTX_SETP: return ft__ruling_compare(w, affine);
    case FT__PTX_MIN:
    case FT__PTX_MAX: return ft__ruling_least_or_most(w, affine);
    default: return false;
    }
}

bool ft__rule(ft__run *r, uint32_t *affine, const ft__plan_part *part,
              const ft__plan_step *s, const ft__lane_value *a, const ft__set *who)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];
    const ft__ruling w = {.r = r,
                          .f = part->f,
                          .i = i,
                          .a = a,
                          .who = who,
                          .n = s->n_source,
                          .bits = ft__ptx_type_bits(i->type[0]),
                          .is_signed = ft__ptx_type_kind(i->type[0]) == FT__KIND_SIGNED,
                          .hard = s->need & FT__HARD,
                          .sign = s->sign};

    if (i->opcode == FT__PTX_LD) { /* from a cell: it stays a number of so many bits */
        ft__ruling_no_wrap(&w, 0, w.bits, w.is_signed);
        *affine = a[0].affine;
        return true;
    }
    if (i->n_types < 1 || !whole_numbers(&w) ||
        (s->n_dest != 1 && i->opcode != FT__PTX_SETP))
        return false;
    return of_numbers(&w, affine);
}
