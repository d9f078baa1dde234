#ifndef IMPORT_ONNX_COMPOSE_H
#define IMPORT_ONNX_COMPOSE_H

#include "import/onnx/onnx.h"

/* What rules of fused operators are made of: each call appends one operation and
 * gives its result. `out` NULL: a value of its own. A NULL operand, or an import
 * that has failed, gives NULL, so that calls nest. Constants stay constants. */

#define FT__SHAPE(...)                                                                 \
    (&(ft_shape){.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),           \
                 .dim = {__VA_ARGS__}})

/* Operands, and how many. */
#define FT__VALUES(...)                                                                \
    (ft__value *[]){__VA_ARGS__},                                                      \
        (uint32_t)(sizeof((ft__value *[]){__VA_ARGS__}) / sizeof(ft__value *))

/* Any operation. */
ft__value *ft__make(const ft__node *n, const ft_op *op, const ft__call *c,
                    ft__value *out);
/* One without parameters; shape: as in ft__call, or NULL. */
ft__value *ft__make_of(const ft__node *n, const ft_op *op, ft__value *const *in,
                       uint32_t n_in, const ft_shape *shape, ft__value *out);
/* The node is this operation of its first operand; the others are parameters. */
void ft__emit_params(const ft__node *n, const ft_op *op, const ft_shape *shape);
/* A pool over all axes behind the channels. */
ft__value *ft__make_global(const ft__node *n, ft_kind kind, ft__value *x,
                           ft__value *out);
/* quantize, dequantize and cast; a view when nothing changes. */
ft__value *ft__make_cast(const ft__node *n, ft_kind kind, ft__value *x, ft_dtype to,
                         ft__value *out);
/* x + y, or x where there is no y. */
ft__value *ft__make_sum(const ft__node *n, ft__value *x, ft__value *y, ft__value *out);
/* Other dimensions over the same memory, or over a part of it. */
ft__value *ft__make_view(const ft__node *n, ft__value *x, const ft_shape *s,
                         ft__value *out);
ft__value *ft__make_transpose(const ft__node *n, ft__value *x, const int64_t *perm,
                              ft__value *out);
/* Moves the channels to axis 1, or to the end. */
ft__value *ft__make_channels(const ft__node *n, ft__value *x, bool last,
                             ft__value *out);
/* Both along axis; y where there is no x. */
ft__value *ft__make_concat(const ft__node *n, ft__value *x, ft__value *y, uint32_t axis,
                           ft__value *out);
ft__value *ft__make_softmax(const ft__node *n, ft__value *x, uint32_t axis,
                            ft__value *out);
/* A norm of this kind; its key and value where key is not FT_K_COUNT. */
ft__value *ft__make_norm(const ft__node *n, ft_kind kind, ft__value *x, ft_key_id key,
                         int64_t value, ft__value *const *params, uint32_t n_params,
                         ft__value *out);
ft__value *ft__make_matmul(const ft__node *n, ft__value *x, ft__value *y, ft_dtype to,
                           ft__value *out);
/* The operand as `rows` x `inner` behind its batch: libraries read a transposed
 * one where it lies. moved: axis 0 comes behind the batch first. */
ft__value *ft__make_oriented(const ft__node *n, ft__value *x, bool transposed,
                             bool moved);
/* x times y, as MatMul: operands of one dimension lose it again. */
ft__value *ft__make_product(const ft__node *n, ft__value *x, ft__value *y, ft_dtype to,
                            ft__value *bias, ft__value *out);
/* Rows of a table at the places in x. */
typedef struct ft__rows {
    ft__value *table;
    int64_t rows;
    int64_t dim;
    ft_dtype dtype;   /* of the result */
    ft_dtype weights; /* NONE: that of the table */
} ft__rows;
ft__value *ft__make_embedding(const ft__node *n, ft__value *x, const ft__rows *t,
                              ft__value *out);
/* A result with the size of `out` that is made of x, kind and key out. */
ft__value *ft__make_move(const ft__node *n, ft_kind kind, ft__value *x,
                         const ft_shape *s, ft__value *out);

/* x times constant weights of `columns` columns. */
typedef struct ft__linear {
    ft__value *weight;
    ft__value *bias;
    ft__value *scales[3]; /* and zero points and the like; NULL: none */
    int64_t columns;
    int64_t block;    /* weights that share a scale, 0: no scales */
    ft_dtype weights; /* NONE: that of the tensor where it is not x's */
    ft_dtype to;      /* NONE: that of x */
} ft__linear;
ft__value *ft__make_linear(const ft__node *n, ft__value *x, const ft__linear *l,
                           ft__value *out);

/* A convolution with the node's window; x: batch, channels, axes. */
typedef struct ft__conv {
    ft__value *x;
    ft__value *weights;
    ft__value *bias;  /* NULL: none */
    ft_shape filters; /* out, in of a group, kernel */
    ft_dtype to;      /* NONE: that of x */
    bool transposed;
    ft__value *offsets; /* where each weight looks; NULL: at its own place */
} ft__conv;
ft__value *ft__make_conv(const ft__node *n, const ft__conv *c, ft__value *out);
/* Pooling with the node's window; kind: that for one axis. */
ft__value *ft__make_pool(const ft__node *n, ft_kind kind, ft__value *x, ft__value *out);

/* q, k and v: batch x heads x length x size. */
ft__value *ft__make_attention(const ft__node *n, ft__value *q, ft__value *k,
                              ft__value *v, bool causal, bool mask, ft__value *out);

/* An attribute that is a size: 1 to 2^30, else the import fails. */
int64_t ft__attr_size(const ft__node *n, const char *name, int64_t fallback);
/* An integer operand or attribute of one element; -1: not known. */
int64_t ft__int_in(const ft__node *n, uint32_t operand);
/* The operand has this many dimensions; else the import fails. */
bool ft__has_rank(const ft__node *n, uint32_t operand, uint32_t rank);
void ft__misfit(const ft__node *n, uint32_t operand);

#endif
