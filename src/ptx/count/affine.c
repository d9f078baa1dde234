/* Affine expressions as numbers: each is kept once, with the bounds that are known of
 * it. In: factors, sums of multiples; out: their numbers. */
#include "ptx/count/affine.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { FIRST_SIZE = 64 };

void ft__affines_free(ft__affines *w)
{
    free(w->affine);
    free(w->slot);
    free(w->later);
    memset(w, 0, sizeof(*w));
}

bool ft__affines_begin(ft__affines *w)
{
    if (!w->size) {
        w->affine = malloc(FIRST_SIZE * sizeof(*w->affine));
        w->slot = malloc(2 * FIRST_SIZE * sizeof(*w->slot));
        if (!w->affine || !w->slot) {
            ft__affines_free(w);
            return false;
        }
        w->size = FIRST_SIZE;
    }
    memset(w->slot, 0, 2 * (size_t)w->size * sizeof(*w->slot));
    memset(&w->affine[0], 0, sizeof(w->affine[0]));
    w->affine[0].low = INT64_MIN;
    w->affine[0].high = INT64_MAX;
    w->n = 1;
    w->n_symbols = FT__FIRST_DERIVED;
    w->n_later = 0;
    w->put_off = false;
    return true;
}

bool ft__affines_copy(ft__affines *w, const ft__affines *from)
{
    ft__affine *affine = w->affine;
    uint32_t *slot = w->slot;

    if (w->size != from->size) {
        affine = malloc(from->size * sizeof(*affine));
        slot = malloc(2 * (size_t)from->size * sizeof(*slot));
        if (!affine || !slot) {
            free(affine);
            free(slot);
            return false;
        }
        free(w->affine);
        free(w->slot);
    }
    w->affine = affine;
    w->slot = slot;
    w->size = from->size;
    w->n = from->n;
    w->n_symbols = from->n_symbols;
    memcpy(affine, from->affine, from->n * sizeof(*affine));
    memcpy(slot, from->slot, 2 * (size_t)from->size * sizeof(*slot));
    memcpy(w->symbol, from->symbol, sizeof(w->symbol));
    return true;
}

void ft__affine_put_off(ft__affines *w, uint32_t affine, int64_t low, int64_t high)
{
    ft__affine_bound *grown =
        ft__list_grow(w->later, w->n_later, &w->most_later, sizeof(*grown));

    if (!grown) {
        w->short_of_memory = true;
        return;
    }
    w->later = grown;
    w->later[w->n_later++] = (ft__affine_bound){affine, low, high};
}

void ft__affines_hold_later(ft__affines *w)
{
    w->put_off = false;
    for (size_t k = 0; k < w->n_later; k++)
        ft__affine_hold(w, w->later[k].affine, w->later[k].low, w->later[k].high);
    w->n_later = 0;
}

static uint64_t hash_of(const int64_t a[FT__SYMBOLS])
{
    uint64_t h = 0x9e3779b97f4a7c15u;

    for (uint32_t k = 0; k < FT__SYMBOLS; k++)
        h = (h ^ (uint64_t)a[k]) * 0xff51afd7ed558ccdu + (h >> 29);
    return h ^ h >> 32;
}

static uint32_t *slot_of(const ft__affines *w, const int64_t a[FT__SYMBOLS])
{
    const uint64_t mask = 2 * (uint64_t)w->size - 1;
    uint64_t at = hash_of(a) & mask;

    while (w->slot[at] &&
           memcmp(w->affine[w->slot[at]].a, a, sizeof(w->affine->a)) != 0)
        at = (at + 1) & mask;
    return &w->slot[at];
}

static bool grow(ft__affines *w)
{
    const size_t size = (size_t)w->size * 2;
    ft__affine *affine = realloc(w->affine, size * sizeof(*affine));
    uint32_t *slot;

    if (affine)
        w->affine = affine;
    slot = affine ? calloc(2 * size, sizeof(*slot)) : NULL;
    if (!slot)
        return false;
    free(w->slot);
    w->slot = slot;
    w->size = (uint32_t)size;
    for (uint32_t k = 1; k < w->n; k++)
        *slot_of(w, w->affine[k].a) = k;
    return true;
}

uint32_t ft__affine_intern(ft__affines *w, const int64_t a[FT__SYMBOLS])
{
    static const int64_t none[FT__SYMBOLS];
    uint32_t *at;
    ft__affine *f;

    if (memcmp(a, none, sizeof(none)) == 0)
        return 0;
    at = slot_of(w, a);
    if (*at)
        return *at;
    if (w->n == w->size && !grow(w)) {
        w->short_of_memory = true;
        return 0;
    }
    at = slot_of(w, a);
    *at = w->n;
    f = &w->affine[w->n++];
    memcpy(f->a, a, sizeof(f->a));
    f->low = INT64_MIN;
    f->high = INT64_MAX;
    f->symbols = 0;
    for (uint32_t k = 0; k < FT__SYMBOLS; k++)
        f->symbols |= (uint32_t)(a[k] != 0) << k;
    return *at;
}

/* Modulo 2^bits, between -2^(bits - 1) and the other end. */
static int64_t wrapped(uint64_t v, uint32_t bits)
{
    const uint64_t top = (uint64_t)1 << (bits - 1);

    if (bits >= 64)
        return (int64_t)v;
    v &= 2 * top - 1;
    return (int64_t)((v ^ top) - top);
}

uint32_t ft__affine_sum(ft__affines *w, uint32_t a, uint32_t b, int64_t factor,
                        uint32_t bits)
{
    int64_t sum[FT__SYMBOLS];

    if (!a && (!b || factor == 1 || !factor))
        return factor ? b : 0;
    if (!b)
        return a;
    for (uint32_t k = 0; k < FT__SYMBOLS; k++)
        sum[k] = wrapped((uint64_t)w->affine[a].a[k] +
                             (uint64_t)w->affine[b].a[k] * (uint64_t)factor,
                         bits);
    return ft__affine_intern(w, sum);
}

static bool same(const ft__affine_variable *a, const ft__affine_variable *b)
{
    if (a->i != b->i || a->n_source != b->n_source || a->divisor != b->divisor)
        return false;
    for (uint32_t k = 0; k < a->n_source; k++)
        if (a->source[k] != b->source[k] || a->affine[k] != b->affine[k])
            return false;
    return true;
}

uint32_t ft__affine_derive(ft__affines *w, const ft__affine_variable *s)
{
    w->derived = true;
    for (uint32_t k = FT__FIRST_DERIVED; k < w->n_symbols; k++)
        if (same(&w->symbol[k], s))
            return ft__affine_symbol(w, k);
    if (w->n_symbols == FT__FIRST_LOOP)
        return 0;
    w->symbol[w->n_symbols] = *s;
    return ft__affine_symbol(w, w->n_symbols++);
}
