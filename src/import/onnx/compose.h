#ifndef IMPORT_ONNX_COMPOSE_H
#define IMPORT_ONNX_COMPOSE_H

#include "import/onnx/onnx.h"

/* What rules are made of: each call appends one operation and
 * gives its result. `out` NULL: a value of its own. A NULL operand, or an import
 * that has failed, gives NULL, so that calls nest. Constants stay constants. */

#define FT__SHAPE(...)                                                                 \
    (&(ft_shape){.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),           \
                 .dim = {__VA_ARGS__}})

/* Operands, and how many. */
#define FT__VALUES(...)                                                                \
    (ft__onnx_value *[]){__VA_ARGS__},                                                 \
        (uint32_t)(sizeof((ft__onnx_value *[]){__VA_ARGS__}) /                         \
                   sizeof(ft__onnx_value *))

/* Any operation. */
ft__onnx_value *ft__make(const ft__onnx_node *n, const ft_op *op,
                         const ft__onnx_call *c, ft__onnx_value *out);
/* One without parameters; shape: as in ft__onnx_call, or NULL. */
ft__onnx_value *ft__make_of(const ft__onnx_node *n, const ft_op *op,
                            ft__onnx_value *const *in, uint32_t n_in,
                            const ft_shape *shape, ft__onnx_value *out);
/* The node is this operation of its first operand; the others are parameters. */
void ft__emit_params(const ft__onnx_node *n, const ft_op *op, const ft_shape *shape);
/* A pool over all axes behind the channels. */
ft__onnx_value *ft__make_global(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                                ft__onnx_value *out);
/* quantize, dequantize and cast; a view when nothing changes. */
ft__onnx_value *ft__make_cast(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              ft_dtype to, ft__onnx_value *out);
/* x + y, or x where there is no y. */
ft__onnx_value *ft__make_sum(const ft__onnx_node *n, ft__onnx_value *x,
                             ft__onnx_value *y, ft__onnx_value *out);
/* Other dimensions over the same memory, or over a part of it. */
ft__onnx_value *ft__make_view(const ft__onnx_node *n, ft__onnx_value *x,
                              const ft_shape *s, ft__onnx_value *out);
ft__onnx_value *ft__make_transpose(const ft__onnx_node *n, ft__onnx_value *x,
                                   const int64_t *perm, ft__onnx_value *out);
/* Moves the channels to axis 1, or to the end. */
ft__onnx_value *ft__make_channels(const ft__onnx_node *n, ft__onnx_value *x, bool last,
                                  ft__onnx_value *out);
/* Both along axis; y where there is no x. */
ft__onnx_value *ft__make_concat(const ft__onnx_node *n, ft__onnx_value *x,
                                ft__onnx_value *y, uint32_t axis, ft__onnx_value *out);
ft__onnx_value *ft__make_softmax(const ft__onnx_node *n, ft__onnx_value *x,
                                 uint32_t axis, ft__onnx_value *out);
/* A norm of this kind; its key and value where key is not FT_K_COUNT. */
ft__onnx_value *ft__make_norm(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              ft_key_id key, int64_t value,
                              ft__onnx_value *const *params, uint32_t n_params,
                              ft__onnx_value *out);
ft__onnx_value *ft__make_matmul(const ft__onnx_node *n, ft__onnx_value *x,
                                ft__onnx_value *y, ft_dtype to, ft__onnx_value *out);
/* Rows of a table at the places in x. */
typedef struct ft__embedding_rows {
    ft__onnx_value *table;
    int64_t rows;
    int64_t dim;
    ft_dtype dtype;   /* of the result */
    ft_dtype weights; /* NONE: that of the table */
} ft__embedding_rows;
ft__onnx_value *ft__make_embedding(const ft__onnx_node *n, ft__onnx_value *x,
                                   const ft__embedding_rows *t, ft__onnx_value *out);
/* A result with the size of `out` that is made of x, kind and key out. */
ft__onnx_value *ft__make_move(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              const ft_shape *s, ft__onnx_value *out);

/* x times constant weights of `columns` columns. */
typedef struct ft__linear {
    ft__onnx_value *weight;
    ft__onnx_value *bias;
    ft__onnx_value *scales[3]; /* and zero points and the like; NULL: none */
    int64_t columns;
    int64_t block;    /* weights that share a scale, 0: no scales */
    ft_dtype weights; /* NONE: that of the tensor where it is not x's */
    ft_dtype to;      /* NONE: that of x */
} ft__linear;
ft__onnx_value *ft__make_linear(const ft__onnx_node *n, ft__onnx_value *x,
                                const ft__linear *l, ft__onnx_value *out);

/* A convolution with the node's window; x: batch, channels, axes. */
typedef struct ft__conv {
    ft__onnx_value *x;
    ft__onnx_value *weights;
    ft__onnx_value *bias; /* NULL: none */
    ft_shape filters;     /* out, in of a group, kernel */
    ft_dtype to;          /* NONE: that of x */
    bool transposed;
    ft__onnx_value *offsets; /* where each weight looks; NULL: at its own place */
} ft__conv;
ft__onnx_value *ft__make_conv(const ft__onnx_node *n, const ft__conv *c,
                              ft__onnx_value *out);
/* Pooling with the node's window; kind: that for one axis. */
ft__onnx_value *ft__make_pool(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              ft__onnx_value *out);

/* q, k and v: batch x heads x length x size. */
ft__onnx_value *ft__make_attention(const ft__onnx_node *n, ft__onnx_value *q,
                                   ft__onnx_value *k, ft__onnx_value *v, bool causal,
                                   bool mask, ft__onnx_value *out);

/* Whether an attribute names an activation that a value goes through; what it is. */
bool ft__activates(const ft__onnx_node *n, const char *attr, ft_kind *kind);
/* The node's result is x after that. */
void ft__activate(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x);

/* An attribute that is a size: 1 to 2^30, else the import fails. */
int64_t ft__attr_size(const ft__onnx_node *n, const char *name, int64_t fallback);
/* An integer operand or attribute of one element; -1: not known. */
int64_t ft__int_in(const ft__onnx_node *n, uint32_t operand);
/* The operand has this many dimensions; else the import fails. */
bool ft__has_rank(const ft__onnx_node *n, uint32_t operand, uint32_t rank);
void ft__misfit(const ft__onnx_node *n, uint32_t operand);

#endif
