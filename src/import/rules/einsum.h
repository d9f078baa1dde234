#ifndef IMPORT_RULES_EINSUM_H
#define IMPORT_RULES_EINSUM_H

#include <stdbool.h>
#include <stddef.h>

#include "foretell/op.h"

enum { FT__EINSUM_TERMS = 16 };

typedef struct ft__einsum_operands {
    void *in[FT__EINSUM_TERMS];
    const ft_shape *shape[FT__EINSUM_TERMS];
    uint32_t n;
} ft__einsum_operands;

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

typedef enum ft__einsum_end {
    FT__EINSUM_WRITTEN,   /* or an operation has failed */
    FT__EINSUM_MISFIT,    /* the equation does not fit its operands */
    FT__EINSUM_TOO_LARGE, /* its result has too many elements */
    FT__EINSUM_TOO_DEEP,  /* on the way are more dimensions than a shape can have */
} ft__einsum_end;

/* The operations of an equation, the last of which makes `out`; its shape, unless the
 * equation does not fit, in *result. */
ft__einsum_end ft__einsum(const char *equation, size_t length,
                          const ft__einsum_ops *ops, const ft__einsum_operands *x,
                          void *out, ft_shape *result);

#endif
