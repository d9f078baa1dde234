#ifndef LEARN_FOREST_H
#define LEARN_FOREST_H

#include <assert.h>

#include "foretell/learn.h"

/* The image of a forest, little-endian, used where it lies:
 *
 *   header | u64 start[n_trees + 1] | node[start[n_trees]]
 *
 * Tree t is node[start[t]] (its root) up to node[start[t + 1]]. Siblings are
 * neighbours and every child lies behind its parent:
 *
 *   link >= FT__MAX_WIDTH   x[link % FT__MAX_WIDTH] > value ? right : left, where
 *                           left is the node `link / FT__MAX_WIDTH` further on and
 *                           right follows it
 *   link == width           a leaf; `value` is the prediction. It asks for the
 *                           column behind the last, which predicting adds to
 *                           every row as NaN, so a walk that has arrived stays.
 *
 * A missing value (NaN) is above nothing and so goes left; the threshold
 * -infinity parts missing values from present ones. */
typedef struct ft__forest_header {
    char magic[4];
    uint32_t version;
    uint32_t width;
    uint32_t n_trees;
} ft__forest_header;

typedef struct ft__node {
    float value;
    uint32_t link;
} ft__node;

#define FT__FOREST_MAGIC "FTFO"
#define FT__FOREST_VERSION 1u

enum {
    FT__LINK_SHIFT = 10,
    FT__MAX_WIDTH = 1 << FT__LINK_SHIFT,             /* columns, and the added one */
    FT__MAX_TREE_NODES = 1 << (32 - FT__LINK_SHIFT), /* nodes of one tree */
    FT__MAX_TREE_ROWS = FT__MAX_TREE_NODES / 2,      /* a leaf for each, 2n - 1 nodes */
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "images are used in place");
static_assert(sizeof(ft__forest_header) == 16 && sizeof(ft__node) == 8, "image layout");

/* A tree on its own, before it joins others. */
typedef struct ft__tree {
    ft__node *node;
    uint32_t n;
} ft__tree;

/* Copy trees into one image and a forest that owns it. */
ft_status ft__forest_join(ft_forest **out, uint32_t width, const ft__tree *tree,
                          uint32_t n_trees, ft_error *err);

#endif
