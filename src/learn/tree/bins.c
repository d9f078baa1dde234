#include "learn/tree/bins.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Cuts of n present values, ascending; how many. Equal values are never parted; where
 * there are more values than bins each takes its share of the rows that are left. */
static uint32_t find_cuts(float *cut, const float *v, uint32_t n)
{
    uint32_t n_cuts = 0, begun = 0, distinct = n > 0;
    bool fits;

    for (uint32_t i = 1; i < n; i++)
        distinct += v[i] != v[i - 1];
    fits = distinct < FT__MOST_BINS;
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t bins_left = FT__MOST_BINS - 1 - n_cuts;

        if (v[i] == v[i - 1] || (!fits && (size_t)(i - begun) * bins_left < n - begun))
            continue;
        cut[1 + n_cuts++] = ft__between(v[i - 1], v[i]);
        begun = i;
        if (n_cuts + 2 == FT__MOST_BINS)
            break;
    }
    return n_cuts;
}

static uint8_t bin_of(const float *cut, uint32_t n_cuts, float v)
{
    uint32_t low = 0, high = n_cuts;

    while (low < high) {
        const uint32_t middle = (low + high) / 2;

        if (v > cut[1 + middle])
            low = middle + 1;
        else
            high = middle;
    }
    return (uint8_t)(1 + low);
}

/* One column of the matrix, if it changes. */
static void add_column(ft__bins *b, const ft__task *t, uint32_t col, float *scratch)
{
    const ft_matrix *x = t->x;
    float *cut = b->cut + (size_t)b->n_cols * FT__MOST_BINS;
    uint8_t *bin = b->bin + (size_t)b->n_cols * b->n_rows;
    uint32_t n = 0, n_cuts;

    for (size_t i = 0; i < x->n_rows; i++) {
        const float v = x->x[i * x->n_cols + col];

        if ((!t->weights || t->weights[i] > 0) && !isnan(v))
            scratch[n++] = v;
    }
    qsort(scratch, n, sizeof(*scratch), by_value);
    n_cuts = find_cuts(cut, scratch, n);
    if (n == 0 || (n_cuts == 0 && n == b->n_rows))
        return;
    for (size_t i = 0; i < x->n_rows; i++) {
        const float v = x->x[i * x->n_cols + col];

        if (!t->weights || t->weights[i] > 0)
            *bin++ = isnan(v) ? 0 : bin_of(cut, n_cuts, v);
    }
    cut[n_cuts + 1] = INFINITY; /* of the last bin: all that is present goes left */
    b->col[b->n_cols] = col;
    b->n[b->n_cols++] = n_cuts + 2;
}

ft_status ft__bins_make(ft__bins *out, const ft__task *t, uint32_t n_rows,
                        ft_error *err)
{
    const size_t width = t->x->n_cols;
    float *scratch = calloc(n_rows, sizeof(*scratch));

    *out = (ft__bins){.n_rows = n_rows,
                      .col = calloc(width, sizeof(*out->col)),
                      .n = calloc(width, sizeof(*out->n)),
                      .cut = calloc(width * FT__MOST_BINS, sizeof(*out->cut)),
                      .bin = calloc(width, n_rows)};
    if (!scratch || !out->col || !out->n || !out->cut || !out->bin) {
        free(scratch);
        ft__bins_free(out);
        return ft_fail(err, FT_ENOMEM, 0, "no memory to boost %u rows", n_rows);
    }
    for (uint32_t j = 0; j < width; j++)
        add_column(out, t, j, scratch);
    free(scratch);
    return FT_OK;
}

void ft__bins_free(ft__bins *b)
{
    free(b->col);
    free(b->n);
    free(b->cut);
    free(b->bin);
    *b = (ft__bins){0};
}
