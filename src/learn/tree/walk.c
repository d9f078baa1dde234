/* Predicting: from roots to leaves. The plain way: LANES walks go in step, without a
 * branch on the data; those that reach their leaf early stay there until the last has
 * arrived. */
#include "learn/tree/walk.h"

#include "learn/learn_inside.h"
#include <stdlib.h>

enum {
    LANES = 8,
    AT_ONCE = 2048, /* rows that go through some trees before the next */
    ON_STACK = FT__MAX_WIDTH * LANES,
};

/* Walk from cell at[j] to its leaf. The keys of one row lie `apart` in x[], those of
 * the walks' rows `lane`. */
static inline void walk(const ft__cell *cell, uint32_t at[LANES], const uint32_t *x,
                        size_t apart, size_t lane)
{
    uint32_t moving;

    do {
        moving = 0;
        for (size_t j = 0; j < LANES; j++) {
            const ft__cell *c = &cell[at[j]];
            const uint32_t link = c->link;
            const int64_t above =
                (int64_t)c->key - x[link % FT__MAX_WIDTH * apart + lane * j];

            at[j] += (link >> FT__LINK_SHIFT) + (uint32_t)((uint64_t)above >> 63);
            moving |= link;
        }
    } while (moving >= FT__MAX_WIDTH);
}

/* The leaves of one row in the trees from t on, at most LANES; how many. */
static uint32_t walk_lanes(const ft_forest *f, const uint32_t *x, uint32_t t,
                           uint32_t at[LANES])
{
    const uint32_t left = f->head->n_trees - t, n = left < LANES ? left : LANES;

    for (uint32_t j = 0; j < LANES; j++)
        at[j] = f->start[t + (j < n ? j : 0)] * FT__LINE;
    walk(f->cell, at, x, 1, 0);
    return n;
}

/* The sum of the trees for one row; each of them to tree[], unless that is NULL. */
static inline double walk_row(const ft_forest *f, const float *row, double *tree)
{
    const uint32_t n_trees = f->head->n_trees;
    uint32_t x[FT__MAX_WIDTH];
    double sum = 0;

    ft__write_keys(f->head, x, row, 1);
    for (uint32_t t = 0; t < n_trees; t += LANES) {
        uint32_t at[LANES];
        const uint32_t n = walk_lanes(f, x, t, at);

        for (uint32_t j = 0; j < n; j++) {
            const double v = ft__leaf_value(&f->cell[at[j]]);

            sum += v;
            if (tree)
                tree[t + j] = v;
        }
    }
    return sum;
}

void ft__forest_each(const ft_forest *f, const float *row, double *tree)
{
    (void)walk_row(f, row, tree);
}

static double plain_row(const ft_forest *f, const float *row)
{
    return walk_row(f, row, NULL);
}

/* Add what one tree predicts of n rows, a multiple of LANES, to out[]. Groups of LANES
 * rows lie behind each other in x[], a group as column, row. */
static void add_tree(const ft__cell *root, const uint32_t *x, size_t keys, size_t n,
                     double *out)
{
    for (size_t i = 0; i < n; i += LANES, x += keys * LANES) {
        uint32_t at[LANES] = {0};

        walk(root, at, x, LANES, 1);
        for (size_t j = 0; j < LANES; j++)
            out[i + j] += ft__leaf_value(&root[at[j]]);
    }
}

static void plain_rows(const ft_forest *f, uint32_t *x, const float *rows, size_t n,
                       double *out)
{
    const ft__forest_header *h = f->head;
    const size_t keys = ft__forest_keys(h), whole = n - n % LANES;

    for (size_t i = 0; i < whole; i++) {
        ft__write_keys(h, x + i / LANES * LANES * keys + i % LANES, rows + i * h->width,
                       LANES);
        out[i] = 0;
    }
    for (uint32_t t = 0; t < h->n_trees; t++)
        add_tree(f->cell + (size_t)f->start[t] * FT__LINE, x, keys, whole, out);
    for (size_t i = whole; i < n; i++)
        out[i] = plain_row(f, rows + i * h->width);
}

const ft__walks ft__walks_plain = {plain_row, plain_rows};

const ft__walks *ft__walks_here(void)
{
    const ft__walks *w = ft__walks_avx512();

    return w ? w : &ft__walks_plain;
}

double ft__forest_predict(const ft_forest *f, const float *row)
{
    return f->head->base + f->walks->row(f, row) / f->head->share;
}

void ft__forest_predict_rows(const ft_forest *f, const float *rows, size_t n,
                             double *out)
{
    const size_t room = ft__keys_room(f);
    uint32_t few[ON_STACK], *x = few, *many = NULL;
    size_t block = ON_STACK / room;

    if (n > block)
        many = calloc(AT_ONCE * room, sizeof(*many));
    if (many) {
        x = many;
        block = AT_ONCE;
    }
    for (size_t i = 0; i < n; i += block) {
        const size_t some = n - i < block ? n - i : block;

        f->walks->rows(f, x, rows + i * f->head->width, some, out + i);
    }
    free(many);
    for (size_t i = 0; i < n; i++)
        out[i] = f->head->base + out[i] / f->head->share;
}
