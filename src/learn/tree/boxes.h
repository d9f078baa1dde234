#ifndef LEARN_TREE_BOXES_H
#define LEARN_TREE_BOXES_H

#include "learn/tree/forest.h"

/* A forest whose columns hold whole numbers, none of them missing: column k of a row
 * that ends in the leaf lies in low[k] .. high[k] - 1. */
typedef void (*ft__leaf_visit)(void *user, const uint32_t *low, const uint32_t *high,
                               double value);

/* The leaves of a tree; low and high, as many as there are columns, say which rows
 * there are at all, and are afterwards as they were. */
void ft__tree_leaves(const ft_forest *f, uint32_t tree, uint32_t *low, uint32_t *high,
                     ft__leaf_visit visit, void *user);

#endif
