#include "learn/forest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8 }; /* walks in flight at once, to hide the latency of each */

struct ft_forest {
    const ft__forest_header *head;
    const uint64_t *start;
    const ft__node *node;
    size_t len;
    void *owned; /* the image, when the forest was fitted here */
};

/* ---- loading ---- */

static ft_status check_node(const ft__node *n, uint64_t left, uint32_t width,
                            uint64_t pos, ft_error *err)
{
    uint32_t off = n->link >> FT__LINK_SHIFT, col = n->link % FT__MAX_WIDTH;

    if (n->link == width ? !isfinite(n->value) : isnan(n->value))
        return ft_fail(err, FT_EFORMAT, pos, "damaged forest: a node holds %g",
                       (double)n->value);
    if (n->link == width)
        return FT_OK;
    if (col >= width)
        return ft_fail(err, FT_EFORMAT, pos + 4,
                       "damaged forest: a node asks for column %u of %u", col, width);
    if (off == 0 || off + 1 >= left)
        return ft_fail(err, FT_EFORMAT, pos + 4,
                       "damaged forest: a child lies outside its tree");
    return FT_OK;
}

static ft_status check_nodes(const ft_forest *f, uint64_t nodes_at, ft_error *err)
{
    for (uint32_t t = 0; t < f->head->n_trees; t++) {
        for (uint64_t i = f->start[t]; i < f->start[t + 1]; i++) {
            ft_status st = check_node(&f->node[i], f->start[t + 1] - i, f->head->width,
                                      nodes_at + i * sizeof(ft__node), err);

            if (st)
                return st;
        }
    }
    return FT_OK;
}

static ft_status check_header(const ft__forest_header *h, size_t len, ft_error *err)
{
    if (len < sizeof(*h) || memcmp(h->magic, FT__FOREST_MAGIC, sizeof(h->magic)))
        return ft_fail(err, FT_EFORMAT, 0, "this is not a forest image");
    if (h->version != FT__FOREST_VERSION)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, version),
                       "a forest image of version %u, this program reads version %u: "
                       "train it again",
                       h->version, FT__FOREST_VERSION);
    if (h->width == 0 || h->width >= FT__MAX_WIDTH)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, width),
                       "damaged forest: %u columns", h->width);
    if (h->n_trees == 0 || h->n_trees >= (len - sizeof(*h)) / sizeof(uint64_t))
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, n_trees),
                       "damaged forest: %u trees do not fit %zu bytes", h->n_trees,
                       len);
    return FT_OK;
}

/* start[] begins at 0, rises, and ends where the image ends. */
static ft_status check_starts(const uint64_t *start, uint32_t n_trees, uint64_t n_nodes,
                              ft_error *err)
{
    const uint64_t pos = sizeof(ft__forest_header);

    if (start[0] != 0)
        return ft_fail(err, FT_EFORMAT, pos, "damaged forest: a gap before tree 0");
    for (uint32_t t = 0; t < n_trees; t++)
        if (start[t + 1] <= start[t] || start[t + 1] - start[t] > FT__MAX_TREE_NODES)
            return ft_fail(err, FT_EFORMAT, pos + 8 * ((uint64_t)t + 1),
                           "damaged forest: tree %u has an impossible size", t);
    if (start[n_trees] != n_nodes)
        return ft_fail(err, FT_EFORMAT, pos + 8 * (uint64_t)n_trees,
                       "damaged forest: the trees do not end where the image ends");
    return FT_OK;
}

/* Point into an image whose header is known to be good. */
static ft_forest *forest_over(const void *image, size_t len)
{
    ft_forest *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->head = image;
    f->start = (const uint64_t *)(f->head + 1);
    f->node = (const ft__node *)(f->start + f->head->n_trees + 1);
    f->len = len;
    return f;
}

ft_status ft_forest_load(ft_forest **out, const void *image, size_t len, ft_error *err)
{
    ft_forest *f;
    uint64_t nodes_at;
    ft_status st;

    *out = NULL;
    if ((uintptr_t)image % sizeof(uint64_t))
        return ft_fail(err, FT_EINVAL, 0, "a forest image must be aligned to 8 bytes");
    st = check_header(image, len, err);
    if (st)
        return st;
    f = forest_over(image, len);
    if (!f)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a forest");
    nodes_at = (uint64_t)((const char *)f->node - (const char *)image);
    if ((len - nodes_at) % sizeof(ft__node)) {
        st = ft_fail(err, FT_EFORMAT, len, "damaged forest: the last node is cut off");
        goto fail;
    }
    st = check_starts(f->start, f->head->n_trees, (len - nodes_at) / sizeof(ft__node),
                      err);
    if (!st)
        st = check_nodes(f, nodes_at, err);
    if (st)
        goto fail;
    *out = f;
    return FT_OK;

fail:
    ft_forest_free(f);
    return st;
}

/* ---- making ---- */

ft_status ft__forest_join(ft_forest **out, uint32_t width, const ft__tree *tree,
                          uint32_t n_trees, ft_error *err)
{
    size_t len = sizeof(ft__forest_header) + ((size_t)n_trees + 1) * sizeof(uint64_t);
    ft__forest_header *h;
    uint64_t *start;
    ft__node *node;

    *out = NULL;
    for (uint32_t t = 0; t < n_trees; t++)
        len += tree[t].n * sizeof(ft__node);
    h = calloc(1, len);
    if (!h)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a forest of %zu bytes", len);
    memcpy(h->magic, FT__FOREST_MAGIC, sizeof(h->magic));
    h->version = FT__FOREST_VERSION;
    h->width = width;
    h->n_trees = n_trees;
    start = (uint64_t *)(h + 1);
    node = (ft__node *)(start + n_trees + 1);
    for (uint32_t t = 0; t < n_trees; t++) {
        memcpy(node + start[t], tree[t].node, tree[t].n * sizeof(*node));
        start[t + 1] = start[t] + tree[t].n;
    }
    *out = forest_over(h, len);
    if (!*out) {
        free(h);
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a forest");
    }
    (*out)->owned = h;
    return FT_OK;
}

void ft_forest_free(ft_forest *f)
{
    if (!f)
        return;
    free(f->owned);
    free(f);
}

const void *ft_forest_image(const ft_forest *f, size_t *len)
{
    *len = f->len;
    return f->head;
}

uint32_t ft_forest_width(const ft_forest *f)
{
    return f->head->width;
}

uint32_t ft_forest_trees(const ft_forest *f)
{
    return f->head->n_trees;
}

/* ---- predicting ----
 * LANES walks go in step, without a branch on the data: those that reach their
 * leaf early stay there until the last has arrived. */

/* Walk from at[j] to its leaf. The values of one row lie `apart` in x[], those of
 * the walks' rows `lane`. */
static inline void walk(const ft__node *at[LANES], const float *x, size_t apart,
                        size_t lane)
{
    uint32_t moving;

    do {
        moving = 0;
        for (size_t j = 0; j < LANES; j++) {
            const ft__node *n = at[j];
            const uint32_t off = n->link >> FT__LINK_SHIFT;
            const float v = x[n->link % FT__MAX_WIDTH * apart + lane * j];

            at[j] = n + off + (v > n->value);
            moving |= off;
        }
    } while (moving);
}

double ft_forest_predict(const ft_forest *f, const float *row)
{
    const uint32_t n_trees = f->head->n_trees, width = f->head->width;
    float x[FT__MAX_WIDTH];
    double sum = 0;

    memcpy(x, row, width * sizeof(*x));
    x[width] = NAN;
    for (uint32_t t = 0; t < n_trees; t += LANES) {
        const uint32_t n = n_trees - t < LANES ? n_trees - t : LANES;
        const ft__node *at[LANES];

        for (uint32_t j = 0; j < LANES; j++)
            at[j] = f->node + f->start[t + (j < n ? j : 0)];
        walk(at, x, 1, 0);
        for (uint32_t j = 0; j < n; j++)
            sum += (double)at[j]->value;
    }
    return sum / n_trees;
}

/* Rows in groups of LANES, the group's values of one column side by side:
 * column, row of the group. */
static void interleave(float *x, const float *rows, size_t n, size_t width)
{
    for (size_t i = 0; i < n; i += LANES, x += (width + 1) * LANES) {
        for (size_t j = 0; j < LANES; j++) {
            for (size_t k = 0; k < width; k++)
                x[k * LANES + j] = rows[(i + j) * width + k];
            x[width * LANES + j] = NAN;
        }
    }
}

/* Add one tree's say on n interleaved rows to out[]. */
static void add_tree(const ft__node *root, const float *x, size_t width, size_t n,
                     double *out)
{
    for (size_t i = 0; i < n; i += LANES, x += (width + 1) * LANES) {
        const ft__node *at[LANES];

        for (int j = 0; j < LANES; j++)
            at[j] = root;
        walk(at, x, LANES, 1);
        for (size_t j = 0; j < LANES; j++)
            out[i + j] += (double)at[j]->value;
    }
}

void ft_forest_predict_rows(const ft_forest *f, const float *rows, size_t n,
                            double *out)
{
    float x[FT__MAX_WIDTH * LANES];
    const size_t width = f->head->width, whole = n - n % LANES;
    const size_t block = FT__MAX_WIDTH / (width + 1) * LANES; /* rows that fit x */
    const uint32_t n_trees = f->head->n_trees;

    for (size_t i = 0; i < whole; i += block) {
        const size_t m = whole - i < block ? whole - i : block;

        interleave(x, rows + i * width, m, width);
        for (size_t j = i; j < i + m; j++)
            out[j] = 0;
        for (uint32_t t = 0; t < n_trees; t++)
            add_tree(f->node + f->start[t], x, width, m, out + i);
        for (size_t j = i; j < i + m; j++)
            out[j] /= n_trees;
    }
    for (size_t i = whole; i < n; i++)
        out[i] = ft_forest_predict(f, rows + i * width);
}
