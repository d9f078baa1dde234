/* The leaves of a tree over whole numbers, each with the box of rows that end in it. */
#include "learn/tree/boxes.h"

#include <math.h>

#include "learn/tree/walk.h"

/* The float of which ft__key_of() made a key. */
static float float_of(uint32_t key)
{
    const uint32_t bits = key >> 31 ? key ^ 0x80000000u : ~key;
    float v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

struct descent {
    const ft_forest *f;
    uint32_t *low, *high;
    ft__leaf_visit visit;
    void *user;
};

static void descend(const struct descent *d, const ft__cell *c)
{
    const uint32_t col = c->link % FT__MAX_WIDTH;
    const ft__cell *left = c + (c->link >> FT__LINK_SHIFT);
    uint32_t low, high, cut;

    if (c->link == d->f->head->width) {
        d->visit(d->user, d->low, d->high, ft__leaf_value(c));
        return;
    }
    low = d->low[col];
    high = d->high[col];
    cut = (uint32_t)fmax(0, floor((double)float_of(c->key)) +
                                1); /* the first to go right */
    d->high[col] = cut < high ? cut : high;
    if (d->low[col] < d->high[col])
        descend(d, left);
    d->high[col] = high;
    d->low[col] = cut > low ? cut : low;
    if (d->low[col] < d->high[col])
        descend(d, left + 1);
    d->low[col] = low;
}

void ft__tree_leaves(const ft_forest *f, uint32_t tree, uint32_t *low, uint32_t *high,
                     ft__leaf_visit visit, void *user)
{
    const struct descent d = {f, low, high, visit, user};

    descend(&d, f->cell + (size_t)f->start[tree] * FT__LINE);
}
