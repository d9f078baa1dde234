#ifndef IMPORT_ONNX_COMPOSE_H
#define IMPORT_ONNX_COMPOSE_H

#include "graph/op_inside.h"
#include "import/onnx/onnx.h"

/* What rules are made of: operations that are appended to the graph (emit.c), steps
 * that compute (arithmetic.c) and others (compose.c). */

#define FT__SHAPE(...)                                                                 \
    (&(ft_shape){.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),           \
                 .dim = {__VA_ARGS__}})

/* Operands, and how many. */
#define FT__VALUES(...)                                                                \
    (ft__onnx_value *[]){__VA_ARGS__},                                                 \
        (uint32_t)(sizeof((ft__onnx_value *[]){__VA_ARGS__}) /                         \
                   sizeof(ft__onnx_value *))

/* An operation of one or two operands, their shapes set. */
ft_op ft__op_x(ft_kind kind, const ft__onnx_value *x);
static inline ft_op ft__op_xy(ft_kind kind, const ft__onnx_value *x,
                              const ft__onnx_value *y)
{
    ft_op op = ft__op_x(kind, x);

    ft__op_set_shape(&op, FT_K_y, &y->shape);
    return op;
}
/* Of one, with the shape of the result as a key. */
static inline ft_op ft__op_xto(ft_kind kind, const ft__onnx_value *x,
                               const ft_shape *out)
{
    ft_op op = ft__op_x(kind, x);

    ft__op_set_shape(&op, FT_K_out, out);
    return op;
}
/* The dtype of weights as a spec has it: NONE where it is that of x. */
static inline ft_dtype ft__weights_dtype(const ft__onnx_value *x,
                                         const ft__onnx_value *weight)
{
    ft_dtype t = weight->stored ? weight->stored->dtype : weight->dtype;

    return t == x->dtype ? FT_DTYPE_NONE : t;
}
/* Append a dimension; fails the import at the ninth. */
void ft__push(const ft__onnx_node *n, ft_shape *s, int64_t dim);
/* Less some dimensions from `at` on, or with one put in there. */
static inline void ft__drop_dim(ft_shape *s, uint32_t at, uint32_t count)
{
    s->rank -= count;
    memmove(s->dim + at, s->dim + at + count, (s->rank - at) * sizeof(*s->dim));
}
void ft__insert_dim(const ft__onnx_node *n, ft_shape *s, uint32_t at, int64_t dim);
/* Operands and results of an operation; behind its operands may stand what else
 * it reads (indices, masks). shape: of the first results, where they differ from
 * what the operation says (scalars, flattened axes); else NULL. */
typedef struct ft__onnx_call {
    ft__onnx_value *const *in;
    uint32_t n_in;
    ft__onnx_value *const *params;
    uint32_t n_params;
    ft__onnx_value *const *out;
    uint32_t n_out;
    const ft_shape *shape;
    uint32_t n_shapes; /* results that `shape` holds; 0: one */
    uint32_t open;     /* dimensions of the results that ft__guess() gave */
} ft__onnx_call;
/* Append the operation. True: all operands are constants and it is no layer with
 * parameters, so nothing was appended; the results are constants whose elements
 * the caller may fold. (Layers on constants run in every pass: relative position
 * tables do; so does what repeats a parameter.) */
bool ft__emit(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c);
/* The same with one operand, or two, and the node's first result. */
static inline bool ft__emit1(const ft__onnx_node *n, const ft_op *op, ft__onnx_value *x,
                             const ft_shape *shape)
{
    ft__onnx_call c = {.in = &x, .n_in = 1, .out = n->out, .n_out = 1, .shape = shape};

    return ft__emit(n, op, &c);
}
static inline bool ft__emit2(const ft__onnx_node *n, const ft_op *op, ft__onnx_value *x,
                             ft__onnx_value *y, const ft_shape *shape)
{
    ft__onnx_value *in[] = {x, y};
    ft__onnx_call c = {.in = in, .n_in = 2, .out = n->out, .n_out = 1, .shape = shape};

    return ft__emit(n, op, &c);
}
/* x in another shape. Constants keep their elements. */
void ft__emit_view(const ft__onnx_node *n, ft__onnx_value *x, ft__onnx_value *out,
                   const ft_shape *shape);
/* The node's result is its first operand in another shape. */
static inline void ft__emit_shape(const ft__onnx_node *n, const ft_shape *shape)
{
    ft__emit_view(n, n->in[0], n->out[0], shape);
}
/* The node's results are those of a graph or function that was written in its place. */
void ft__emit_results(ft__onnx_node *n, const ft__body *body);
/* A layer: what c->params holds, NULLs left out, are weights as far as it is
 * constant, and otherwise stands behind the operands. */
bool ft__emit_layer(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c);
/* The same, as the node's first result. */
static inline bool ft__emit_weighted(const ft__onnx_node *n, const ft_op *op,
                                     ft__onnx_value *const *in, uint32_t n_in,
                                     ft__onnx_value *const *params, uint32_t n_params,
                                     const ft_shape *shape)
{
    ft__onnx_call c = {in, n_in, params, n_params, n->out, 1, shape, 0, 0};

    return ft__emit_layer(n, op, &c);
}
void ft__define_constant(const ft__onnx_node *n, ft__onnx_value *v, ft_dtype dtype,
                         const ft_shape *shape);
uint32_t ft__onnx_tensor(ft__onnx *o, ft__onnx_value *v);
/* Results for which there is no rule: all operands read, the result written,
 * named among the bounded. shape NULL: what the file states, else that of the
 * first operand. */
void ft__emit_generic(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                      const ft_shape *shape);
/* Dimensions and the rank that the second import may vary (onnx.c). */
ft_shape ft__guess(ft__onnx *o, const ft_shape *most, uint32_t open);
/* A result whose dimensions `open` (bits, FT_OPEN_RANK) are not known before the
 * network runs; `most` holds the most they can be. Named among the bounded. */
void ft__emit_open(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                   const ft_shape *most, uint32_t open);
/* The same of the first operand's type, as the node's result. */
static inline void ft__emit_bounded(const ft__onnx_node *n, const ft_shape *most,
                                    uint32_t open)
{
    ft__emit_open(n, n->out[0], n->in[0]->dtype, most, open);
}
/* A result whose shape and cost are known: operands are read, it is written. */
void ft__emit_counted(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                      const ft_shape *shape);
/* For every result of the node. */
void ft__emit_unknown(ft__onnx_node *n);
/* A result beside the first one, when anything reads it; `open` as above, shape the
 * most. */
void ft__emit_extra_open(const ft__onnx_node *n, uint32_t i, ft_dtype dtype,
                         const ft_shape *most, uint32_t open);
/* The same where its shape is known, or (NULL) stated by the file, or not at all. */
void ft__emit_extra(const ft__onnx_node *n, uint32_t i, ft_dtype dtype,
                    const ft_shape *shape);

/* Steps, of which a rule may have several: each call appends one operation and
 * gives its result. `out` NULL: a value of its own. A NULL operand, or an import
 * that has failed, gives NULL, so that calls nest. Constants stay constants.
 * Any operation; shape: as in ft__onnx_call, or NULL: */
ft__onnx_value *ft__make(const ft__onnx_node *n, const ft_op *op,
                         ft__onnx_value *const *in, uint32_t n_in,
                         ft__onnx_value *const *params, uint32_t n_params,
                         const ft_shape *shape, ft__onnx_value *out);
/* One without parameters. */
static inline ft__onnx_value *ft__make_of(const ft__onnx_node *n, const ft_op *op,
                                          ft__onnx_value *const *in, uint32_t n_in,
                                          const ft_shape *shape, ft__onnx_value *out)
{
    return ft__make(n, op, in, n_in, NULL, 0, shape, out);
}

/* Elementwise, with one operand to three as the kind has it; over axes (bits). */
ft__onnx_value *ft__apply(const ft__onnx_node *n, ft_kind kind,
                          ft__onnx_value *const *in, uint32_t n_in,
                          ft__onnx_value *out);
ft__onnx_value *ft__reduce(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           uint32_t axes, bool keep, ft__onnx_value *out);
/* quantize, dequantize and cast; a view when nothing changes. */
ft__onnx_value *ft__make_cast(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                              ft_dtype to, ft__onnx_value *out);

/* The node is this operation of its first operand; the others are parameters. */
void ft__emit_params(const ft__onnx_node *n, const ft_op *op, const ft_shape *shape);
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
/* Parts one behind the other, as the node's result of this type. */
void ft__emit_concat(ft__onnx_node *n, ft__onnx_value *const *part, uint32_t count,
                     uint32_t axis, ft_dtype dtype);
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
    int64_t rows, dim;
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
    ft__onnx_value *weight, *bias;
    ft__onnx_value *scales[3]; /* and zero points and the like; NULL: none */
    int64_t columns;
    int64_t block;    /* weights that share a scale, 0: no scales */
    ft_dtype weights; /* NONE: that of the tensor where it is not x's */
    ft_dtype to;      /* NONE: that of x */
} ft__linear;
ft__onnx_value *ft__make_linear(const ft__onnx_node *n, ft__onnx_value *x,
                                const ft__linear *l, ft__onnx_value *out);

/* Whether an attribute names an activation that a value goes through; what it is,
 * FT_KIND_generic where the name is not known. */
bool ft__activates(const ft__onnx_node *n, const char *attr, ft_kind *kind);
/* x after that, a step. */
ft__onnx_value *ft__activate(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                             ft__onnx_value *out);

#endif
