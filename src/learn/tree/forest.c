/* The image of a forest: every part checked, so that predicting needs no bounds. */
#include "learn/tree/walk.h"

#include "learn/learn_inside.h"
#include <math.h>
#include <stdlib.h>

/* ---- loading ---- */

static ft_status check_header(const ft__forest_header *h, size_t len, ft_error *err)
{
    if (len < sizeof(*h))
        return ft_fail(err, FT_EFORMAT, len, "damaged forest: its header is cut off");
    if (h->both > 1)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, both),
                       "damaged forest: an unknown flag");
    if (h->width == 0 || h->width >= FT__MAX_WIDTH ||
        ft__forest_keys(h) > FT__MAX_WIDTH)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, width),
                       "damaged forest: %u columns", h->width);
    if (h->n_trees == 0 || h->n_trees > len / sizeof(uint32_t))
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, n_trees),
                       "damaged forest: %u trees do not fit %zu bytes", h->n_trees,
                       len);
    if (h->n_lines >= FT__MAX_LINES ||
        len != (ft__forest_lines_before(h->n_trees) + h->n_lines) * sizeof(*h))
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, n_lines),
                       "damaged forest: %u lines do not make %zu bytes", h->n_lines,
                       len);
    if (!isfinite(h->base) || !isfinite(h->share) || h->share == 0)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, base),
                       "damaged forest: it predicts %g + sum / %g", h->base, h->share);
    return FT_OK;
}

/* Trees begin with line 0, rise, and have a line at least. */
static ft_status check_starts(const ft_forest *f, ft_error *err)
{
    const uint32_t n = f->head->n_trees;

    for (uint32_t t = 0; t < n; t++) {
        const uint32_t end = t + 1 < n ? f->start[t + 1] : f->head->n_lines;

        if ((t == 0 && f->start[0] != 0) || end <= f->start[t] ||
            end - f->start[t] > FT__MAX_TREE_NODES / FT__LINE || end > f->head->n_lines)
            return ft_fail(err, FT_EFORMAT, sizeof(*f->head) + sizeof(uint32_t) * t,
                           "damaged forest: tree %u has an impossible size", t);
    }
    return FT_OK;
}

/* Not 0 when a cell is no node: a leaf's float is finite; a split asks for a key that
 * a row has, other than the one behind its columns, and its children lie behind it in
 * its tree, of which `left` cells are left. Without branches, for vectors. */
static inline uint32_t flaw(ft__cell c, uint32_t left, uint32_t width, uint32_t keys)
{
    const uint32_t off = c.link >> FT__LINK_SHIFT, col = c.link % FT__MAX_WIDTH;
    const uint32_t is_leaf = 0u - (c.link == width);
    const uint32_t no_leaf = (c.key & 0x7f800000u) == 0x7f800000u;
    const uint32_t no_split =
        (col >= keys) | (col == width) | (off == 0) | (off + 1 >= left) |
        (c.key - FT__KEY_LEAST > FT__KEY_GREATEST - FT__KEY_LEAST);

    return (is_leaf & no_leaf) | (~is_leaf & no_split);
}

static ft_status check_tree(const ft_forest *f, uint32_t first, uint32_t n,
                            ft_error *err)
{
    const uint32_t width = f->head->width, keys = ft__forest_keys(f->head);
    const ft__cell *cell = f->cell + first;
    uint32_t flaws = 0, i = 0;

    for (uint32_t k = 0; k < n; k++)
        flaws |= flaw(cell[k], n - k, width, keys);
    if (flaws == 0)
        return FT_OK;
    while (!flaw(cell[i], n - i, width, keys))
        i++;
    return ft_fail(err, FT_EFORMAT,
                   (uint64_t)((const char *)&cell[i] - (const char *)f->head),
                   "damaged forest: node %u of a tree holds %#x, %#x", i, cell[i].key,
                   cell[i].link);
}

static ft_status check_cells(const ft_forest *f, ft_error *err)
{
    const uint32_t n = f->head->n_trees;
    ft_status st = FT_OK;

    for (uint32_t t = 0; t < n && !st; t++) {
        const uint32_t end = t + 1 < n ? f->start[t + 1] : f->head->n_lines;

        st = check_tree(f, f->start[t] * FT__LINE, (end - f->start[t]) * FT__LINE, err);
    }
    return st;
}

ft_forest *ft__forest_over(const void *image, size_t len)
{
    ft_forest *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->walks = ft__walks_here();
    f->head = image;
    f->start = (const uint32_t *)(f->head + 1);
    f->cell = (const ft__cell *)image +
              ft__forest_lines_before(f->head->n_trees) * (size_t)FT__LINE;
    f->len = len;
    return f;
}

static ft_status load(ft_forest **out, const void *image, size_t len, ft_error *err)
{
    ft_forest *f;
    ft_status st = check_header(image, len, err);

    if (st)
        return st;
    f = ft__forest_over(image, len);
    if (!f)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a forest");
    st = check_starts(f, err);
    if (!st)
        st = check_cells(f, err);
    if (st) {
        ft__forest_free(f);
        return st;
    }
    *out = f;
    return FT_OK;
}

ft_status ft__forest_load(ft_forest **out, const void *image, size_t len, ft_error *err)
{
    const ft__forest_header *h = image;

    *out = NULL;
    if ((uintptr_t)image % sizeof(uint64_t))
        return ft_fail(err, FT_EINVAL, 0, "a forest image must be aligned to 8 bytes");
    if (len < 2 * sizeof(uint64_t) ||
        memcmp(h->magic, FT__FOREST_MAGIC, sizeof(h->magic)))
        return ft_fail(err, FT_EFORMAT, 0, "this is not a forest image");
    if (h->version != FT__FOREST_VERSION)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, version),
                       "a forest image of version %u, this program reads up to %u: "
                       "train it again",
                       h->version, FT__FOREST_VERSION);
    return load(out, image, len, err);
}

/* ---- what a forest says of itself ---- */

void ft__forest_free(ft_forest *f)
{
    if (!f)
        return;
    free(f->owned);
    free(f);
}

const void *ft__forest_image(const ft_forest *f, size_t *len)
{
    *len = f->len;
    return f->head;
}

uint32_t ft__forest_width(const ft_forest *f)
{
    return f->head->width;
}

uint32_t ft__forest_trees(const ft_forest *f)
{
    return f->head->n_trees;
}
