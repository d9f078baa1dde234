/* Forest images of version 1, made anew when they are loaded:
 *
 *   "FTFO" | u32 version, width, n_trees | u64 start[n_trees + 1] |
 * node[start[n_trees]]
 *
 * A node is { float value; u32 link }, link as in a cell of today, the column `width`
 * marks a leaf; prediction is the mean of the trees. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "learn/forest.h"

typedef struct old_header {
    char magic[4];
    uint32_t version;
    uint32_t width;
    uint32_t n_trees;
} old_header;

typedef struct old_node {
    float value;
    uint32_t link;
} old_node;

static_assert(sizeof(old_header) == 16 && sizeof(old_node) == 8, "image layout");

struct old {
    const old_header *head;
    const uint64_t *start;
    const old_node *node;
    uint64_t nodes_at; /* byte in the image */
};

static ft_status check_node(const old_node *n, uint64_t left, uint32_t width,
                            uint64_t pos, ft_error *err)
{
    const uint32_t off = n->link >> FT__LINK_SHIFT, col = n->link % FT__MAX_WIDTH;

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

/* Read a tree in which every node but the first is the child of one other. */
static ft_status read_tree(ft__node *out, bool *child, const struct old *o, uint32_t t,
                           ft_error *err)
{
    const uint64_t first = o->start[t], n = o->start[t + 1] - first;

    memset(child, 0, n * sizeof(*child));
    for (uint64_t i = 0; i < n; i++) {
        const old_node *from = &o->node[first + i];
        const uint64_t pos = o->nodes_at + (first + i) * sizeof(*from);
        const uint32_t off = from->link >> FT__LINK_SHIFT;
        ft_status st = check_node(from, n - i, o->head->width, pos, err);

        if (st)
            return st;
        out[i] = (ft__node){.value = from->value};
        if (off == 0)
            continue;
        out[i].left = (uint32_t)i + off;
        out[i].col = (uint16_t)(from->link % FT__MAX_WIDTH);
        if (child[i + off] || child[i + off + 1])
            return ft_fail(err, FT_EFORMAT, pos + 4,
                           "damaged forest: a node has two parents");
        child[i + off] = child[i + off + 1] = true;
    }
    for (uint64_t i = 1; i < n; i++)
        if (!child[i])
            return ft_fail(err, FT_EFORMAT,
                           o->nodes_at + (first + i) * sizeof(old_node),
                           "damaged forest: a node has no parent");
    return FT_OK;
}

static ft_status check_starts(const struct old *o, uint64_t n_nodes, ft_error *err)
{
    const uint32_t n_trees = o->head->n_trees;
    const uint64_t pos = sizeof(old_header);

    if (o->start[0] != 0)
        return ft_fail(err, FT_EFORMAT, pos, "damaged forest: a gap before tree 0");
    for (uint32_t t = 0; t < n_trees; t++)
        if (o->start[t + 1] <= o->start[t] ||
            o->start[t + 1] - o->start[t] > FT__MAX_TREE_NODES / 2)
            return ft_fail(err, FT_EFORMAT, pos + 8 * ((uint64_t)t + 1),
                           "damaged forest: tree %u has an impossible size", t);
    if (o->start[n_trees] != n_nodes)
        return ft_fail(err, FT_EFORMAT, pos + 8 * (uint64_t)n_trees,
                       "damaged forest: the trees do not end where the image ends");
    return FT_OK;
}

static ft_status open_old(struct old *o, const void *image, size_t len, ft_error *err)
{
    const old_header *h = image;

    if (h->width == 0 || h->width >= FT__MAX_WIDTH)
        return ft_fail(err, FT_EFORMAT, offsetof(old_header, width),
                       "damaged forest: %u columns", h->width);
    if (h->n_trees == 0 || h->n_trees >= (len - sizeof(*h)) / sizeof(uint64_t))
        return ft_fail(err, FT_EFORMAT, offsetof(old_header, n_trees),
                       "damaged forest: %u trees do not fit %zu bytes", h->n_trees,
                       len);
    o->head = h;
    o->start = (const uint64_t *)(h + 1);
    o->node = (const old_node *)(o->start + h->n_trees + 1);
    o->nodes_at = (uint64_t)((const char *)o->node - (const char *)image);
    if ((len - o->nodes_at) % sizeof(*o->node))
        return ft_fail(err, FT_EFORMAT, len,
                       "damaged forest: the last node is cut off");
    return check_starts(o, (len - o->nodes_at) / sizeof(*o->node), err);
}

ft_status ft__forest_load_old(ft_forest **out, const void *image, size_t len,
                              ft_error *err)
{
    struct old o = {0};
    ft_status st = open_old(&o, image, len, err);
    ft__tree *tree;
    ft__node *node;
    bool *child;
    uint64_t n;

    if (st)
        return st;
    n = o.start[o.head->n_trees];
    tree = calloc(o.head->n_trees, sizeof(*tree));
    node = calloc(n, sizeof(*node));
    child = calloc(n, sizeof(*child));
    if (!tree || !node || !child)
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for a forest");
    for (uint32_t t = 0; t < o.head->n_trees && !st; t++) {
        tree[t] =
            (ft__tree){node + o.start[t], (uint32_t)(o.start[t + 1] - o.start[t])};
        st = read_tree(tree[t].node, child, &o, t, err);
    }
    if (!st)
        st = ft__forest_join(out, o.head->width, tree, o.head->n_trees, 0,
                             o.head->n_trees, err);
    free(tree);
    free(node);
    free(child);
    return st;
}
