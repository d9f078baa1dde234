#ifndef LEARN_TREE_WALK_H
#define LEARN_TREE_WALK_H

#include "learn/learn_inside.h"
#include "learn/tree/forest.h"

/* How walks are carried out. Each way gives the same bits: walks compare integers, and
 * the trees' values are added in their order, in double. */
struct ft__walks {
    /* The sum of the trees for one row. */
    double (*row)(const ft_forest *f, const float *row);
    /* The same for n rows, to out[n]; x is room for as many times ft__keys_room(). */
    void (*rows)(const ft_forest *f, uint32_t *x, const float *rows, size_t n,
                 double *out);
};

/* What each tree says of a row, tree[ft__forest_trees()]. */
void ft__forest_each(const ft_forest *f, const float *row, double *tree);

extern const ft__walks ft__walks_plain;
/* What this processor does best. */
const ft__walks *ft__walks_here(void);
/* With AVX-512; NULL: not on this processor. */
const ft__walks *ft__walks_avx512(void);

static inline double ft__leaf_value(const ft__cell *c)
{
    float v;

    memcpy(&v, &c->key, sizeof(v));
    return (double)v;
}

/* Room for the keys of a row: whole registers where they are few. */
static inline size_t ft__keys_room(const ft_forest *f)
{
    const size_t keys = ft__forest_keys(f->head);

    if (keys > 64)
        return keys;
    return keys > 32 ? 64 : 32;
}

/* The keys of a row, `apart` from each other. */
static inline void ft__write_keys(const ft__forest_header *h, uint32_t *x,
                                  const float *row, size_t apart)
{
    const uint32_t width = h->width;

    for (uint32_t k = 0; k < width; k++)
        x[k * apart] = row[k] != row[k] ? 0 : ft__key_of(row[k]);
    x[width * apart] = 0;
    for (uint32_t k = 0; h->both && k < width; k++)
        x[(width + 1 + k) * apart] = row[k] != row[k] ? UINT32_MAX : ft__key_of(row[k]);
}

#endif
