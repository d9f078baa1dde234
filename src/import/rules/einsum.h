#ifndef IMPORT_RULES_EINSUM_H
#define IMPORT_RULES_EINSUM_H

#include <stdbool.h>
#include <stddef.h>

#include "foretell/op.h"

/* A label is a letter, or one of the dimensions that an ellipsis stands for,
 * counted from its end. */
enum {
    FT__EINSUM_ELLIPSIS = 128,
    FT__EINSUM_LABELS = FT__EINSUM_ELLIPSIS + FT_MAX_RANK,
    FT__EINSUM_TERMS = 16,
};

/* Labels in an order; more than there are dimensions only on the way. */
typedef struct ft__einsum_labels {
    uint8_t s[3 * FT_MAX_RANK];
    uint32_t n;
} ft__einsum_labels;

typedef struct ft__einsum {
    ft__einsum_labels in[FT__EINSUM_TERMS];
    ft__einsum_labels out;
    uint32_t n_terms;
    uint32_t ellipsis;               /* dimensions of the longest */
    int64_t size[FT__EINSUM_LABELS]; /* -1: no such label */
    ft_shape result;
} ft__einsum;

/* A product of matrices, batch x rows x inner and batch x inner x columns. */
typedef struct ft__einsum_sizes {
    int64_t batch, rows, inner, columns;
    bool batched;     /* there are axes of the batch */
    bool elementwise; /* and no others */
} ft__einsum_sizes;

/* What an importer gives: each appends an operation and returns its result, NULL
 * after a failure. Without `part` and `sum` no operand has diagonals or sums of its
 * own. out: the value that
 * becomes the result, NULL for a new one. */
typedef struct ft__einsum_ops {
    void *node;
    bool own_order; /* products keep the order of their operands' axes */
    void *(*view)(void *node, void *x, const ft_shape *s, void *out);
    void *(*transpose)(void *node, void *x, const int64_t *perm, const ft_shape *s,
                       void *out);
    void *(*part)(void *node, void *x, const ft_shape *s);
    void *(*sum)(void *node, void *x, uint32_t axes);
    void *(*product)(void *node, void *x, void *y, const ft__einsum_sizes *sizes,
                     const ft_shape *s, void *out);
} ft__einsum_ops;

/* The equation of n <= FT__EINSUM_TERMS operands; false: they do not fit. */
bool ft__einsum_read(ft__einsum *e, const char *equation, size_t length,
                     const ft_shape *const *shape, uint32_t n);
/* False: on the way there are more dimensions than a shape can have. */
bool ft__einsum_write(const ft__einsum *e, const ft__einsum_ops *ops, void *const *in,
                      const ft_shape *const *shape, void *out);

#endif
