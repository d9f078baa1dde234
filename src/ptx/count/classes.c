/* Counts a launch by executing one thread block of each class. Which thread blocks do
 * the same as the one that was executed: all in which the bounds hold that it met.
 * Where these are bounds of x, y and z each, that is a box, and what is left of a box
 * is boxes again; else every block that is left is tried, many at a time. */
#include "ptx/count/classes.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/count/reach.h"
#include "ptx/count/trace.h"

enum { CHUNK = 256, MOST_LISTED = 1 << 22 };

struct box {
    uint32_t first[3], end[3];
};

struct classes {
    ft__run *r;
    ft__totals *out;
    struct box *box; /* of blocks not counted yet */
    size_t n_boxes, most_boxes;
    uint64_t *list; /* NULL: boxes; else the blocks not counted yet, packed */
    size_t n_list;
    struct box span; /* of each of the list: what it stands for, where that is more */
    bool spans[3];
    uint32_t *bound; /* affine expressions that may not hold everywhere */
    uint32_t n_bounds;
    uint64_t blocks, done;
    int64_t *delta;            /* [FT__SYMBOLS][CHUNK] */
    uint64_t far[FT__SYMBOLS]; /* the most that delta is from 0 */
    uint64_t *lanes;           /* [6][CHUNK] */
    uint8_t lost[CHUNK];       /* what is beyond all numbers: of no class but its own */
};

static ft__i128 far_end(const ft__run *r, const ft__affine *f, bool least)
{
    ft__i128 sum = 0;

    for (uint32_t k = 0; k < 3; k++) { /* 3 products of 63 and 31 bits */
        const ft__i128 down = -(ft__i128)f->a[k] * r->at[k];
        const ft__i128 up = (ft__i128)f->a[k] * (r->grid[k] - 1 - r->at[k]);

        sum += (down < up) == least ? down : up;
    }
    return sum;
}

static bool of_places(const ft__affine *f)
{
    return f->symbols >> FT__FIRST_DERIVED == 0;
}

static bool holds_everywhere(const struct classes *w, uint32_t affine)
{
    const ft__affine *f = ft__affine_at(&w->r->affines, affine);

    if (f->low == INT64_MIN && f->high == INT64_MAX)
        return true;
    return of_places(f) && far_end(w->r, f, true) >= f->low &&
           far_end(w->r, f, false) <= f->high;
}

static bool find_bounds(struct classes *w)
{
    const uint32_t n = w->r->affines.n;
    uint32_t *grown = realloc(w->bound, n * sizeof(*grown));

    if (!grown)
        return false;
    w->bound = grown;
    w->n_bounds = 0;
    for (uint32_t k = 1; k < n; k++)
        if (!holds_everywhere(w, k))
            w->bound[w->n_bounds++] = k;
    return true;
}

/* Of one place alone: 0, 1, 2; 3: of more, or something else. */
static uint32_t place_of(const ft__affine *f)
{
    return f->symbols == 1 ? 0 : f->symbols == 2 ? 1 : f->symbols == 4 ? 2 : 3;
}

static int64_t floor_over(int64_t a, int64_t b)
{
    return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/* first and end of the class in one place. */
static void limit(struct box *b, const ft__run *r, uint32_t k, const ft__affine *f)
{
    const int64_t a = f->a[k];
    int64_t low = INT64_MIN, high = INT64_MAX;

    if (f->low != INT64_MIN)
        *(a > 0 ? &low : &high) =
            a > 0 ? -floor_over(-f->low, a) : floor_over(f->low, a);
    if (f->high != INT64_MAX)
        *(a > 0 ? &high : &low) =
            a > 0 ? floor_over(f->high, a) : -floor_over(-f->high, a);
    if (low > (int64_t)b->first[k] - (int64_t)r->at[k])
        b->first[k] = (uint32_t)((int64_t)r->at[k] + low);
    if (high < (int64_t)b->end[k] - 1 - (int64_t)r->at[k])
        b->end[k] = (uint32_t)((int64_t)r->at[k] + high + 1);
}

/* What of `in` is of the class; false: it is no box. `force`: a smaller one then. */
static bool box_of(const struct classes *w, struct box *out, const struct box *in,
                   bool force)
{
    const ft__run *r = w->r;

    *out = *in;
    for (uint32_t n = 0; n < w->n_bounds; n++) {
        const ft__affine *f = ft__affine_at(&r->affines, w->bound[n]);
        const uint32_t k = place_of(f);

        if (k < 3) {
            limit(out, r, k, f);
            continue;
        }
        if (!force)
            return false;
        for (uint32_t x = 0; x < 3; x++)
            if (!of_places(f) || f->a[x]) {
                out->first[x] = r->at[x];
                out->end[x] = r->at[x] + 1;
            }
    }
    return true;
}

static uint64_t volume(const struct box *b)
{
    uint64_t v = 1;

    for (uint32_t k = 0; k < 3; k++)
        v *= b->end[k] - b->first[k];
    return v;
}

static bool push(struct classes *w, const struct box *b)
{
    struct box *grown;

    if (!volume(b))
        return true;
    grown = ft__list_grow(w->box, w->n_boxes, &w->most_boxes, sizeof(*grown));
    if (!grown)
        return false;
    w->box = grown;
    w->box[w->n_boxes++] = *b;
    return true;
}

/* What is left of a box around one inside. */
static bool push_rest(struct classes *w, struct box rest, const struct box *taken)
{
    for (uint32_t k = 3; k-- > 0;) {
        struct box below = rest, above = rest;

        below.end[k] = taken->first[k];
        above.first[k] = taken->end[k];
        if (!push(w, &below) || !push(w, &above))
            return false;
        rest.first[k] = taken->first[k];
        rest.end[k] = taken->end[k];
    }
    return true;
}

/* Of places that a grid can have. */
static uint64_t packed(const uint32_t at[3])
{
    return at[0] | (uint64_t)at[1] << 32 | (uint64_t)at[2] << 48;
}

static void unpack(uint32_t at[3], uint64_t from)
{
    at[0] = (uint32_t)from;
    at[1] = from >> 32 & UINT16_MAX;
    at[2] = (uint32_t)(from >> 48);
}

/* Places, as bits, that an affine expression hangs on. */
static uint32_t places_of(const ft__affines *w, uint32_t affine)
{
    uint32_t of[FT__SYMBOLS] = {1, 2, 4}, places = 0;

    for (uint32_t k = FT__FIRST_DERIVED; k < w->n_symbols; k++)
        for (uint32_t s = 0; s < w->symbol[k].n_source; s++)
            for (uint32_t m = ft__affine_at(w, w->symbol[k].affine[s])->symbols; m;
                 m &= m - 1)
                of[k] |= of[__builtin_ctz(m)];
    for (uint32_t m = ft__affine_at(w, affine)->symbols; m; m &= m - 1)
        places |= of[__builtin_ctz(m)];
    return places;
}

/* All blocks that differ from one of the class in place k alone are of the class. */
static bool is_free(const struct classes *w, uint32_t k)
{
    bool all = true;

    for (uint32_t n = 0; all && n < w->n_bounds; n++)
        all = !(places_of(&w->r->affines, w->bound[n]) >> k & 1);
    return all;
}

/* Places that make no difference are not listed, where all boxes reach equally far. */
static void find_spans(struct classes *w)
{
    w->span = w->box[0];
    for (uint32_t k = 0; k < 3; k++) {
        w->spans[k] = w->span.end[k] - w->span.first[k] > 1 && is_free(w, k);
        for (size_t b = 1; b < w->n_boxes; b++)
            w->spans[k] &= w->box[b].first[k] == w->span.first[k] &&
                           w->box[b].end[k] == w->span.end[k];
    }
}

/* Blocks that each of the list stands for. */
static uint64_t spanned(const struct classes *w)
{
    uint64_t n = 1;

    for (uint32_t k = 0; k < 3; k++)
        n *= w->spans[k] ? w->span.end[k] - w->span.first[k] : 1;
    return n;
}

/* From boxes to blocks. */
static bool list_all(struct classes *w)
{
    size_t n = 0;

    find_spans(w);
    w->list =
        malloc((size_t)((w->blocks - w->done) / spanned(w)) * sizeof(*w->list) + 1);
    if (!w->list)
        return false;
    for (size_t b = 0; b < w->n_boxes; b++) {
        struct box whole = w->box[b], *x = &whole;
        uint32_t at[3];

        for (uint32_t k = 0; k < 3; k++)
            x->end[k] = w->spans[k] ? x->first[k] + 1 : x->end[k];

        for (at[2] = x->first[2]; at[2] < x->end[2]; at[2]++)
            for (at[1] = x->first[1]; at[1] < x->end[1]; at[1]++)
                for (at[0] = x->first[0]; at[0] < x->end[0]; at[0]++)
                    w->list[n++] = packed(at);
    }
    w->n_list = n;
    w->n_boxes = 0;
    return true;
}

/* What each block of the list stands for along place k is listed, too. */
static bool list_span(struct classes *w, uint32_t k)
{
    const uint32_t first = w->span.first[k], n = w->span.end[k] - first;
    uint64_t *list = malloc(w->n_list * n * sizeof(*list) + 1);
    size_t to = 0;

    if (!list)
        return false;
    for (size_t b = 0; b < w->n_list; b++) {
        uint32_t at[3];

        unpack(at, w->list[b]);
        for (at[k] = first; at[k] < first + n; at[k]++)
            list[to++] = packed(at);
    }
    free(w->list);
    w->list = list;
    w->n_list = to;
    w->spans[k] = false;
    return true;
}

/* Modulo 2^64, in each block of a chunk. */
static void wrapped_values(const struct classes *w, uint64_t *out, const ft__affine *f,
                           uint32_t n)
{
    memset(out, 0, n * sizeof(*out));
    for (uint32_t m = f->symbols; m; m &= m - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(m);
        const int64_t *delta = w->delta + (size_t)k * CHUNK;

        for (uint32_t l = 0; l < n; l++)
            out[l] += (uint64_t)f->a[k] * (uint64_t)delta[l];
    }
}

/* No block of the chunk has a value of 2^62 or more. */
static bool is_small(const struct classes *w, const ft__affine *f)
{
    uint64_t most = (uint64_t)1 << 62;

    for (uint32_t m = f->symbols; m; m &= m - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(m);
        uint64_t one;

        if (__builtin_mul_overflow(ft__magnitude(f->a[k]), w->far[k], &one) ||
            one >= most)
            return false;
        most -= one;
    }
    return true;
}

/* A product of two numbers of 64 bits fits into 128, a sum of them may not. */
static bool large_value(const struct classes *w, ft__i128 *out, const ft__affine *f,
                        uint32_t l)
{
    bool ok = true;

    *out = 0;
    for (uint32_t m = f->symbols; m && ok; m &= m - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(m);
        const ft__i128 one = (ft__i128)f->a[k] * w->delta[k * CHUNK + l];

        ok = !__builtin_add_overflow(*out, one, out);
    }
    return ok;
}

/* In each block of a chunk, or the end of what 64 bits hold. */
static void affine_values(struct classes *w, int64_t *out, const ft__affine *f,
                          uint32_t n)
{
    if (is_small(w, f)) {
        wrapped_values(w, (uint64_t *)out, f, n);
        return;
    }
    for (uint32_t l = 0; l < n; l++) {
        ft__i128 v;

        w->lost[l] |= !large_value(w, &v, f, l);
        out[l] = ft__held(v);
    }
}

static int64_t over(ft__i128 a, int64_t d)
{
    return ft__held(a / d - (a % d < 0));
}

static uint32_t ceil_log2(uint32_t v)
{
    return v > 1 ? 32 - (uint32_t)__builtin_clz(v - 1) : 0;
}

/* What is computed of a chunk's values, those of other blocks less that of this. */
static void derive_quotient(struct classes *w, int64_t *delta,
                            const ft__affine_variable *s, uint32_t n)
{
    const int64_t from = (int64_t)s->source[0], d = s->divisor;
    const int64_t here = over(from, d);
    uint64_t any = 0;

    affine_values(w, delta, ft__affine_at(&w->r->affines, s->affine[0]), n);
    for (uint32_t l = 0; l < n; l++)
        any |= (uint64_t)delta[l] + (uint64_t)from;
    if (any <= INT32_MAX && d <= INT32_MAX && from >= 0 && from <= INT32_MAX) {
        const uint32_t shift = 31 + ceil_log2((uint32_t)d);
        const uint64_t times = (((uint64_t)1 << shift) + (uint64_t)d - 1) / (uint64_t)d;

        /* As a product: exact for numbers of 31 bits (Granlund, Montgomery, PLDI 1994).
         */
        for (uint32_t l = 0; l < n; l++)
            delta[l] = (int64_t)((uint32_t)(delta[l] + from) * times >> shift) - here;
        return;
    }
    for (uint32_t l = 0; l < n; l++)
        delta[l] = ft__held((ft__i128)over((ft__i128)from + delta[l], d) - here);
}

static void derive_result(struct classes *w, int64_t *delta,
                          const ft__affine_variable *s, uint32_t n)
{
    uint64_t *out = w->lanes;
    uint64_t *const d[1] = {out};
    const uint64_t *a[5];

    for (uint32_t x = 0; x < s->n_source; x++) {
        uint64_t *to = w->lanes + (size_t)(x + 1) * CHUNK;
        const uint64_t mask = ft__ptx_mask(s->source_bits[x]);

        wrapped_values(w, to, ft__affine_at(&w->r->affines, s->affine[x]), n);
        for (uint32_t l = 0; l < n; l++)
            to[l] = (s->source[x] + to[l]) & mask;
        a[x] = to;
    }
    ft__ptx_eval(d, s->f, s->i, a, n);
    for (uint32_t l = 0; l < n; l++)
        delta[l] = s->bits < 64 && s->is_signed ? ft__ptx_signed(out[l], s->bits) -
                                                      ft__ptx_signed(s->value, s->bits)
                                                : (int64_t)(out[l] - s->value);
}

static void find_far(struct classes *w, uint32_t k, uint32_t n)
{
    uint64_t any = 0;

    for (uint32_t l = 0; l < n; l++) {
        const uint64_t v = (uint64_t)w->delta[k * CHUNK + l];

        any |= v ^ (0 - (v >> 63));
    }
    w->far[k] = any + 1; /* or a little more */
}

/* How far symbols are from here, in each block of a chunk. */
static void find_symbols(struct classes *w, size_t from, uint32_t n)
{
    const ft__run *r = w->r;

    memset(w->lost, 0, sizeof(w->lost));
    for (uint32_t l = 0; l < n; l++) {
        uint32_t at[3];

        unpack(at, w->list[from + l]);
        for (uint32_t k = 0; k < 3; k++)
            w->delta[k * CHUNK + l] = (int64_t)at[k] - (int64_t)r->at[k];
    }
    for (uint32_t k = 0; k < r->affines.n_symbols; k++) {
        const ft__affine_variable *s = &r->affines.symbol[k];
        int64_t *delta = w->delta + (size_t)k * CHUNK;

        if (k >= FT__FIRST_DERIVED && s->i)
            derive_result(w, delta, s, n);
        else if (k >= FT__FIRST_DERIVED)
            derive_quotient(w, delta, s, n);
        find_far(w, k, n);
    }
}

/* Within 2^62 of 0, where no difference of two overflows. */
static uint64_t near(int64_t v)
{
    const int64_t most = (int64_t)1 << 62;

    return (uint64_t)(v < -most ? -most : v > most ? most : v);
}

/* Blocks of a chunk in which all bounds hold. */
static void find_held(struct classes *w, uint8_t *holds, uint32_t n)
{
    uint64_t *v = w->lanes, *off = w->lanes + CHUNK; /* off: negative where not */

    memset(off, 0, n * sizeof(*off));
    for (uint32_t b = 0; b < w->n_bounds; b++) {
        const ft__affine *f = ft__affine_at(&w->r->affines, w->bound[b]);
        const uint64_t low = near(f->low), high = near(f->high);

        if (is_small(w, f)) {
            wrapped_values(w, v, f, n);
            for (uint32_t l = 0; l < n; l++)
                off[l] |= (v[l] - low) | (high - v[l]);
            continue;
        }
        affine_values(w, (int64_t *)v, f, n);
        for (uint32_t l = 0; l < n; l++)
            if ((int64_t)v[l] < f->low || (int64_t)v[l] > f->high)
                off[l] = UINT64_MAX;
    }
    for (uint32_t l = 0; l < n; l++)
        holds[l] = (int64_t)off[l] >= 0 && !w->lost[l];
}

/* Blocks of the class leave the list. */
static void take_listed(struct classes *w)
{
    size_t kept = 0;

    for (size_t from = 0; from < w->n_list; from += CHUNK) {
        const uint32_t n =
            (uint32_t)(w->n_list - from < CHUNK ? w->n_list - from : CHUNK);
        uint8_t holds[CHUNK];

        find_symbols(w, from, n);
        find_held(w, holds, n);
        for (uint32_t l = 0; l < n; l++)
            if (!holds[l])
                w->list[kept++] = w->list[from + l];
    }
    w->r->steps += w->n_list * (2 + w->r->affines.n_symbols + w->n_bounds);
    w->n_list = kept;
}

static void count(struct classes *w, uint64_t blocks)
{
    const ft__run *r = w->r;
    const size_t n = (size_t)r->p->n_items * FT__SETS;
    uint64_t most[FT__SETS] = {0};

    for (size_t k = 0; k < n; k++)
        if (r->count[k])
            ft__add_times(&w->out->count[k], r->count[k], blocks);
    for (uint32_t warp = 0; warp < 32; warp++)
        for (unsigned set = 0; set < FT__SETS; set++) {
            const uint64_t one =
                r->count[(size_t)(r->p->barrier + warp) * FT__SETS + set];

            most[set] = one > most[set] ? one : most[set];
        }
    for (unsigned set = 0; set < FT__SETS; set++)
        ft__add_times(&w->out->barriers[set], most[set], blocks);
    ft__reach_class(w->out->reach, w->r, blocks);
    w->done += blocks;
}

static bool of_box(struct classes *w)
{
    const struct box in = w->box[--w->n_boxes];
    struct box taken;

    /* Not at the rim, and in launches of other sizes the same. */
    for (uint32_t k = 0; k < 3; k++)
        w->r->at[k] = in.first[k] + (in.end[k] - in.first[k] > 1);
    ft__trace_block(w->r);
    if (w->r->stopped || w->r->short_of_memory || !find_bounds(w))
        return !w->r->short_of_memory && w->r->stopped;
    if (box_of(w, &taken, &in, false) || w->blocks - w->done > MOST_LISTED) {
        box_of(w, &taken, &in, true);
        count(w, volume(&taken));
        return push_rest(w, in, &taken);
    }
    if (!push(w, &in) || !list_all(w))
        return false;
    return true;
}

static bool of_list(struct classes *w, bool executed)
{
    size_t before;

    if (!executed) {
        unpack(w->r->at, w->list[0]);
        ft__trace_block(w->r);
        if (w->r->stopped || w->r->short_of_memory || !find_bounds(w))
            return !w->r->short_of_memory && w->r->stopped;
    }
    for (uint32_t k = 0; k < 3; k++)
        if (w->spans[k] && !is_free(w, k) && !list_span(w, k))
            return false;
    before = w->n_list;
    take_listed(w);
    count(w, (before - w->n_list) * spanned(w));
    return true;
}

/* What the blocks that were executed say of all. */
static void stop(struct classes *w)
{
    const ft__run *r = w->r;
    const size_t n = (size_t)r->p->n_items * FT__SETS;
    const double all = (double)w->blocks / (double)(w->done + 1);

    for (size_t k = 0; k < n; k++) {
        ft__add_times(&w->out->count[k], r->count[k], 1);
        if (k % FT__SETS == FT__GUESS)
            w->out->count[k] = (uint64_t)((double)w->out->count[k] * all);
        if (k % FT__SETS == FT__MAYBE)
            w->out->count[k] = UINT64_MAX;
    }
    w->out->barriers[FT__GUESS] = (uint64_t)((double)w->out->barriers[FT__GUESS] * all);
    w->out->barriers[FT__MAYBE] = UINT64_MAX;
}

static bool all_classes(struct classes *w)
{
    const struct box whole = {{0, 0, 0}, {w->r->grid[0], w->r->grid[1], w->r->grid[2]}};
    bool listed = false;

    if (!push(w, &whole))
        return false;
    while (w->n_boxes || w->n_list) {
        const bool executed = !listed && w->list;

        listed = w->list != NULL;
        if (!(w->list ? of_list(w, executed) : of_box(w)))
            return false;
        if (w->r->stopped) {
            stop(w);
            break;
        }
    }
    return !w->r->short_of_memory;
}

static ft_status count_classes(ft__totals *out, ft__run *r, ft_error *err)
{
    struct classes w = {.r = r, .out = out};
    bool ok;

    w.blocks = (uint64_t)r->grid[0] * r->grid[1] * r->grid[2];
    w.delta = malloc((size_t)FT__SYMBOLS * CHUNK * sizeof(*w.delta));
    w.lanes = malloc((size_t)6 * CHUNK * sizeof(*w.lanes));
    ok = w.delta && w.lanes && all_classes(&w);
    free(w.delta);
    free(w.lanes);
    free(w.box);
    free(w.list);
    free(w.bound);
    return ok ? FT_OK
              : ft_fail(err, FT_ENOMEM, 0, "no memory to count %s",
                        r->p->part[0].f->name);
}

ft_status ft__classes_count(ft__totals *out, ft__run **r, ft__count_plan *p,
                            const ft_ptx_launch *l, const uint8_t *param,
                            const uint8_t *known, ft_error *err)
{
    ft_status st = ft__run_for(r, p, l->block, err);

    if (st != FT_OK)
        return st;
    ft__run_launch(*r, l, param, known);
    return count_classes(out, *r, err);
}
