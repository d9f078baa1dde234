/* Predicting: from roots to leaves. LANES walks go in step, without a branch on the
 * data; those that reach their leaf early stay there until the last has arrived. */
#include <math.h>
#include <stdlib.h>

#include "learn/forest.h"

enum {
    LANES = 8,
    AT_ONCE = 2048, /* rows that go through one tree after the other */
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

            at[j] += (link >> FT__LINK_SHIFT) +
                     (c->key < x[link % FT__MAX_WIDTH * apart + lane * j]);
            moving |= link;
        }
    } while (moving >= FT__MAX_WIDTH);
}

static inline double value_at(const ft__cell *cell, uint32_t at)
{
    float v;

    memcpy(&v, &cell[at].key, sizeof(v));
    return (double)v;
}

/* The keys of a row, `apart` from each other. */
static inline void write_keys(const ft__forest_header *h, uint32_t *x, const float *row,
                              size_t apart)
{
    const uint32_t width = h->width;

    for (uint32_t k = 0; k < width; k++)
        x[k * apart] = isnan(row[k]) ? 0 : ft__key_of(row[k]);
    x[width * apart] = 0;
    for (uint32_t k = 0; h->both && k < width; k++)
        x[(width + 1 + k) * apart] = isnan(row[k]) ? UINT32_MAX : ft__key_of(row[k]);
}

double ft_forest_predict(const ft_forest *f, const float *row)
{
    const uint32_t n_trees = f->head->n_trees;
    uint32_t x[FT__MAX_WIDTH];
    double sum = 0;

    write_keys(f->head, x, row, 1);
    for (uint32_t t = 0; t < n_trees; t += LANES) {
        const uint32_t n = n_trees - t < LANES ? n_trees - t : LANES;
        uint32_t at[LANES];

        for (uint32_t j = 0; j < LANES; j++)
            at[j] = f->start[t + (j < n ? j : 0)] * FT__LINE;
        walk(f->cell, at, x, 1, 0);
        for (uint32_t j = 0; j < n; j++)
            sum += value_at(f->cell, at[j]);
    }
    return f->head->base + sum / f->head->share;
}

/* Add one tree's say on n rows, a multiple of LANES, to out[]. Groups of LANES rows
 * lie behind each other in x[], a group as column, row. */
static void add_tree(const ft__cell *root, const uint32_t *x, size_t keys, size_t n,
                     double *out)
{
    for (size_t i = 0; i < n; i += LANES, x += keys * LANES) {
        uint32_t at[LANES] = {0};

        walk(root, at, x, LANES, 1);
        for (size_t j = 0; j < LANES; j++)
            out[i + j] += value_at(root, at[j]);
    }
}

static void predict_block(const ft_forest *f, uint32_t *x, const float *rows, size_t n,
                          double *out)
{
    const ft__forest_header *h = f->head;
    const size_t keys = ft__forest_keys(h);

    for (size_t i = 0; i < n; i++) {
        write_keys(h, x + i / LANES * LANES * keys + i % LANES, rows + i * h->width,
                   LANES);
        out[i] = 0;
    }
    for (uint32_t t = 0; t < h->n_trees; t++)
        add_tree(f->cell + (size_t)f->start[t] * FT__LINE, x, keys, n, out);
    for (size_t i = 0; i < n; i++)
        out[i] = h->base + out[i] / h->share;
}

void ft_forest_predict_rows(const ft_forest *f, const float *rows, size_t n,
                            double *out)
{
    const size_t keys = ft__forest_keys(f->head), whole = n - n % LANES;
    uint32_t few[ON_STACK], *x = few, *many = NULL;
    size_t block = ON_STACK / keys / LANES * LANES;

    if (whole > block)
        many = calloc(AT_ONCE * keys, sizeof(*many));
    if (many) {
        x = many;
        block = AT_ONCE;
    }
    for (size_t i = 0; i < whole; i += block)
        predict_block(f, x, rows + i * f->head->width,
                      whole - i < block ? whole - i : block, out + i);
    free(many);
    for (size_t i = whole; i < n; i++)
        out[i] = ft_forest_predict(f, rows + i * f->head->width);
}
