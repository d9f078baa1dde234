#ifndef IMPORT_ONNX_ONNX_H
#define IMPORT_ONNX_ONNX_H

#include <stdbool.h>

#include "base/arena.h"
#include "graph/build.h"
#include "import/onnx/pb.h"
#include "import/table.h"

/* Reading an ONNX file, in the order of the files here:
 *
 *   pb.c      wire format
 *   names.c   names -> values
 *   read.c    messages -> values and nodes
 *   attr.c    attributes, on demand
 *   dims.c    the model's inputs and the dimensions they leave open
 *   onnx.c    the model: opsets, nodes in order, inlining
 *   legacy.c  operators of opsets before 7
 *   fuse.c    chains of nodes that the network's author wrote as one layer
 *   rules_*.c one rule per family of operators: node -> operation
 *   compose.c operations one by one, as rules make them
 *   emit.c    operation -> graph, or -> constant when all its operands are
 *   control.c bodies and branches
 *   open.c    which dimensions rest on a guess
 *   fold.c    the values of such constants, as far as shapes can need them
 *
 * ../rules/ holds what ATen's operators share with these.
 *
 * Names, attributes and payloads stay slices of the file; what is made lies in
 * one arena. Failure is sticky in the builder. */

typedef struct ft__str {
    const char *s;
    size_t n;
} ft__str;

/* One element of a folded constant: f for floating dtypes, else i. */
typedef union ft__num {
    int64_t i;
    double f;
} ft__num;

typedef enum ft__state { FT__UNDEFINED, FT__CONSTANT, FT__ACTIVATION } ft__state;

typedef struct ft__onnx_node ft__onnx_node;
typedef struct ft__onnx ft__onnx;
typedef struct ft__onnx_value ft__onnx_value;

/* A name of the file, or a result in between that has none of its own. */
struct ft__onnx_value {
    ft__str name;
    ft__onnx_node *producer; /* NULL: an input, an initializer, or nothing */
    ft__onnx_node *reader;   /* the last node that reads it */
    uint32_t uses;           /* readers, subgraphs and graph outputs */
    bool guessed;            /* its shape or contents rest on a guess */
    uint32_t open;           /* as in ft_tensor; known in the end (open.c) */
    ft__state state;
    ft_dtype dtype;
    ft_shape shape;
    ft__bytes proto;        /* constant: its TensorProto, decoded when asked for */
    ft__num *data;          /* constant: its elements once known */
    ft__onnx_value *root;   /* constant: the one whose memory this is (NULL: itself) */
    ft__onnx_value *stored; /* constant: what it is dequantised from (NULL: nothing) */
    ft__bytes type;         /* TypeProto, where the file states one */
    uint32_t tensor;        /* of the graph; FT_NONE until it is needed there */
    uint32_t memory;        /* of a root: the first tensor over its memory */
    uint32_t container; /* FT_CONTAINER_ bits: dtype and shape are of what is inside */
    bool listed;        /* of a sequence: its elements are known, */
    bool empty;         /* or it had none when a loop began */
    uint32_t n_parts;
    ft__onnx_value **part;
    uint64_t scope;       /* which function, branch or body it is of */
    ft__onnx_value *next; /* made before this one */
};

typedef void (*ft__rule_fn)(ft__onnx_node *n);

/* Whose operator it is, none of the first four: the default domain's, and what is
 * known of it. Its operands are tensors that run, all of them real, unless it says
 * otherwise. */
enum {
    FT__ML = 1,
    FT__MICROSOFT,
    FT__PREVIEW,
    FT__TRAINING,
    FT__DOMAIN = 7,
    FT__BODY = 1 << 3,       /* it holds graphs */
    FT__CONTAINERS = 1 << 4, /* it takes sequences and optionals, too */
    FT__LAYER = 1 << 5,      /* with parameters: runs although operands are constants */
    FT__SOURCE = 1 << 6,     /* it gives a constant without any operand */
    FT__ALIGNED = 1 << 7,    /* once its second operand stood at an axis of the first */
    /* Operands that can be bytes: the first, the first two, all of them, the second
     * and third; of products the first three, weights of another type than x. */
    FT__BYTES_ONE = 1 << 8,
    FT__BYTES_TWO = 1 << 9,
    FT__BYTES_ALL = 1 << 10,
    FT__BYTES_CHOICE = 1 << 11,
    FT__BYTES_PRODUCT = 1 << 12,
    FT__BYTES_CONV = 1 << 13,
};

typedef struct ft__operator_rule {
    const char *op;
    ft__rule_fn run;
    int arg;
    uint32_t min_in; /* operands that must be there */
    uint32_t traits;
} ft__operator_rule;

/* The operators of one rules_*.c, by domain and name. */
typedef struct ft__rule_table {
    const ft__operator_rule *rule;
    uint32_t n;
} ft__rule_table;

/* All of them, hashed by name. */
typedef struct ft__rule_index {
    const ft__operator_rule **slot;
    uint32_t mask;
} ft__rule_index;

struct ft__onnx_node {
    ft__onnx *import; /* that it is a node of */
    const ft__operator_rule *rule;
    ft__str op;
    ft__str name;
    ft__str domain;
    ft__bytes attrs;             /* the message from its first attribute on */
    const ft__onnx_node *caller; /* inside a function: the node that calls it */
    ft__bytes defaults;          /* and the FunctionProto, for default attributes */
    ft__onnx_value **in;         /* NULL: left out */
    ft__onnx_value **out;
    uint32_t n_in;
    uint32_t n_out;
    uint32_t norm; /* fused norms: how many trailing axes */
    ft_dtype to;   /* fused quantised products: the type of the result, else NONE */
    bool done;     /* folded, or part of a fused node */
};

/* Something that was given a tensor only when it was needed. */
typedef struct ft__lazy ft__lazy;
struct ft__lazy {
    ft__onnx_value *value;
    ft__lazy *next;
};

/* The nodes and results of a graph, subgraph or function. */
typedef struct ft__body {
    uint32_t n_in; /* of a graph: how many inputs it lists */
    ft__onnx_node *node;
    uint32_t n_nodes;
    ft__onnx_value **out;
    uint32_t n_out;
} ft__body;

/* How many names of dimensions are kept, for the shapes that a file states of
 * results without a rule. */
enum { FT__MAX_DIMS = 64 };

typedef struct ft__binding {
    ft__str name;
    int64_t value;
} ft__binding;

/* A FunctionProto of the model. */
typedef struct ft__function {
    ft__str name;
    ft__str domain;
    ft__bytes body;
} ft__function;

typedef void ft__see_fn(void *user, const ft__onnx_value *v);
/* Writes a graph in place of a node, its inputs being these values; salt: which of
 * the node's it is. False: failed. */
typedef bool ft__write_graph_fn(const ft__onnx_node *n, ft__bytes graph, uint64_t salt,
                                ft__onnx_value *const *arg, uint32_t n_arg,
                                ft__body *out);

struct ft__onnx {
    ft__build *b;
    ft__arena arena;
    ft__pb_doc doc;
    ft_import_options opt;
    ft__bytes model;
    int64_t opset;
    ft__rule_index rules;
    ft__write_graph_fn *write_graph; /* for rules whose nodes hold graphs */
    ft__name_table names;
    ft__binding dim[FT__MAX_DIMS]; /* values of symbolic dimensions */
    uint32_t n_dims;
    ft__function *function;
    uint32_t n_functions;
    ft__onnx_value *values;      /* all of them, the newest first */
    ft__lazy *lazy;              /* the newest first */
    const ft__onnx_node *caller; /* of the function that is being written out, */
    ft__bytes defaults;          /* and its FunctionProto */
    uint64_t scope;
    uint32_t guesses; /* shapes that were taken to be so, */
    uint64_t sizes;   /* with dimensions and ranks among these */
    uint32_t ranks;
    bool low;         /* guess the least, not the most (open.c) */
    bool dry;         /* shapes only: enough for guessing again, unless branches */
    bool weighed;     /* were chosen by what they cost */
    uint32_t n_nodes; /* read so far, inlined ones each time */
    uint32_t depth;   /* of subgraphs and functions */
    size_t payload;   /* bytes of constants that were jumped over */
    size_t inlined;   /* bytes of all of them, each time */
    int64_t folded;   /* elements worked out so far */
    bool trying;      /* the node at hand reads a shape that was guessed: */
    bool gave_up;     /* its failure is no failure of the import */
    ft__see_fn *see;  /* shown every value in the end; then nothing is fused */
    void *user;
};

/* ---- names.c ---- */
bool ft__str_is(ft__str s, const char *text);
static inline uint64_t ft__str_hash(ft__str s)
{
    return ft__table_hash(s.s, s.n);
}
static inline ft__str ft__str_of(ft__bytes b)
{
    return (ft__str){(const char *)b.p, b.n};
}
/* Zeroed; NULL after reporting that memory is short. */
void *ft__onnx_alloc(ft__onnx *o, size_t n, size_t size);
/* The value of a name, made when it is new. NULL: out of memory. */
ft__onnx_value *ft__onnx_name(ft__onnx *o, ft__str name);
static inline bool ft__onnx_failed(const ft__onnx *o)
{
    return o->gave_up || ft__build_failed(o->b);
}
/* The import that a node is of. */
static inline bool ft__failed(const ft__onnx_node *n)
{
    return ft__onnx_failed(n->import);
}
/* Let a name mean this value from now on. */
void ft__onnx_bind(ft__onnx *o, ft__str name, ft__onnx_value *v);
/* A new value that the name means from now on. */
ft__onnx_value *ft__onnx_hide(ft__onnx *o, ft__str name);
/* A value without a name of its own; called after `like`. */
ft__onnx_value *ft__onnx_temp(const ft__onnx_node *n, const ft__onnx_value *like);

/* ---- read.c ---- */
/* A GraphProto; nested: names may hide those outside. */
void ft__onnx_read_graph(ft__onnx *o, ft__bytes graph, bool nested, ft__body *out);
void ft__onnx_read_function(ft__onnx *o, ft__bytes function,
                            const ft__onnx_node *caller, ft__body *out);
/* Every dimension is there, and no product of them passes the limit, zeros left
 * out: strides and partial products stay in range. */
bool ft__shape_fits(const ft_shape *s);
/* Dtype and shape of a TypeProto; a dimension that is open and not bound is -1, an
 * unknown dtype NONE. False: not a tensor, or of unknown rank. */
bool ft__onnx_read_type(ft__onnx *o, ft__bytes type, ft_dtype *dtype, ft_shape *shape);
/* Of any type: container, dtype, shape (what is not stated is a guess, 1), and
 * which dimensions are such guesses. */
void ft__onnx_read_container(ft__onnx *o, ft__bytes type, ft__onnx_value *like);
void ft__onnx_read_tensor(ft__onnx *o, ft__bytes tensor, ft__onnx_value *v);

/* The import fails at this node, whose file is wrong; false, for returning it. */
FT_PRINTF(2, 3)
bool ft__onnx_fail(const ft__onnx_node *n, const char *fmt, ...);
/* The same where the file may be right. */
FT_PRINTF(2, 3)
void ft__onnx_unsupported(const ft__onnx_node *n, const char *fmt, ...);

/* ---- attributes (attr.c) ---- */
int64_t ft__attr_int(const ft__onnx_node *n, const char *name, int64_t fallback);
double ft__attr_float(const ft__onnx_node *n, const char *name, double fallback);
/* Empty when there is none. */
ft__str ft__attr_str(const ft__onnx_node *n, const char *name);
/* How many there are, of which the first `max` are stored; -1: no such attribute. */
int64_t ft__attr_ints(const ft__onnx_node *n, const char *name, int64_t *v,
                      uint32_t max);
int64_t ft__attr_floats(const ft__onnx_node *n, const char *name, double *v,
                        uint32_t max);
/* How many strings an attribute holds; -1: no such attribute. */
int64_t ft__attr_strings(const ft__onnx_node *n, const char *name);
/* The largest of an attribute's integers. */
int64_t ft__attr_largest(const ft__onnx_node *n, const char *name, int64_t fallback);
/* The message in an attribute: field 5 a tensor, 6 a graph. */
bool ft__attr_message(const ft__onnx_node *n, const char *name, uint32_t field,
                      ft__bytes *out);

/* ---- dims.c ---- */
void ft__onnx_inputs(ft__onnx *o, ft__bytes graph, uint32_t count);

/* ---- onnx.c ---- */
/* ft__onnx_import(); mapped: data is a mapping of a file. */
ft_status ft__import_onnx(ft_graph **out, const void *data, size_t len, bool mapped,
                          const char *name, const ft_import_options *opt,
                          ft_error *err);
/* What is known of each named value, for comparing with other programs: the
 * import without its fusions; `see` is called for every value of the graph. */
ft_status ft__onnx_values(const void *data, size_t len, const char *name,
                          ft__see_fn *see, void *user, ft_error *err);

/* ---- fuse.c ---- */
void ft__onnx_fuse(ft__onnx *o, ft__body *body);

/* ---- emit.c ---- */
static inline ft__onnx_value *ft__in(const ft__onnx_node *n, uint32_t i)
{
    return i < n->n_in ? n->in[i] : NULL;
}
static inline ft__onnx_value *ft__out(const ft__onnx_node *n, uint32_t i)
{
    return i < n->n_out ? n->out[i] : NULL;
}
static inline bool ft__is_constant(const ft__onnx_value *v)
{
    return v && v->state == FT__CONSTANT;
}
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
} ft__onnx_call;
/* Append the operation. True: all operands are constants and it is no layer with
 * parameters, so nothing was appended; the results are constants whose elements
 * the caller may fold. (Layers on constants run in every pass: relative position
 * tables do; so does what repeats a parameter.) */
bool ft__emit(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c);
/* The same with one operand, or two, and the node's first result. */
bool ft__emit1(const ft__onnx_node *n, const ft_op *op, ft__onnx_value *x,
               const ft_shape *shape);
bool ft__emit2(const ft__onnx_node *n, const ft_op *op, ft__onnx_value *x,
               ft__onnx_value *y, const ft_shape *shape);
/* x in another shape. Constants keep their elements. */
void ft__emit_view(const ft__onnx_node *n, ft__onnx_value *x, ft__onnx_value *out,
                   const ft_shape *shape);
/* A layer: what c->params holds, NULLs left out, are weights as far as it is
 * constant, and otherwise stands behind the operands. */
bool ft__emit_layer(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c);
void ft__define_constant(const ft__onnx_node *n, ft__onnx_value *v, ft_dtype dtype,
                         const ft_shape *shape);
uint32_t ft__onnx_tensor(ft__onnx *o, ft__onnx_value *v);
/* Results for which there is no rule: all operands read, the result written,
 * named among the bounded. shape NULL: what the file states, else that of the
 * first operand. */
void ft__emit_generic(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                      const ft_shape *shape);
/* A result whose dimensions `open` (bits, FT_OPEN_RANK) are not known before the
 * network runs; `most` holds the most they can be. Named among the bounded. */
void ft__emit_open(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                   const ft_shape *most, uint32_t open);
/* The same of the first operand's type, as the node's result. */
void ft__emit_bounded(const ft__onnx_node *n, const ft_shape *most, uint32_t open);
/* The node's result is its first operand in another shape. */
void ft__emit_shape(const ft__onnx_node *n, const ft_shape *shape);
/* Less an axis, or with one of this size put in; fails the import at the ninth. */
void ft__drop_dim(ft_shape *s, uint32_t at, uint32_t count);
void ft__insert_dim(const ft__onnx_node *n, ft_shape *s, uint32_t at, int64_t dim);
/* The same with an operation of its own kind, whose results have the shape that
 * ft__guess() gave. */
void ft__emit_guessed(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c,
                      uint32_t open);
/* Dimensions and the rank that the second import may vary (onnx.c). */
ft_shape ft__guess(ft__onnx *o, const ft_shape *most, uint32_t open);
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

/* ---- rules_control.c ---- */
/* What a body gives becomes what the node gives. */
void ft__onnx_hand_over(ft__onnx_node *n, const ft__body *body);

/* ---- fold.c ---- */
bool ft__dtype_is_real(ft_dtype t);
/* The elements of a constant; NULL: unknown (too many, external, computed from
 * unknown ones). */
const ft__num *ft__data(const ft__onnx_node *node, ft__onnx_value *v);
/* Room for the elements of a constant; NULL: more than are worth knowing. */
ft__num *ft__fold_new(const ft__onnx_node *node, ft__onnx_value *v);
/* One element as a real number. */
bool ft__scalar(const ft__onnx_node *node, ft__onnx_value *v, double *out);
/* Integers of an operand; -1: unknown or more than max. */
int64_t ft__ints(const ft__onnx_node *node, ft__onnx_value *v, int64_t *out,
                 uint32_t max);

void ft__fold_unary(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
                    ft__onnx_value *out);
void ft__fold_binary(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
                     ft__onnx_value *y, ft__onnx_value *out);
void ft__fold_where(const ft__onnx_node *node, ft__onnx_value *const in[3],
                    ft__onnx_value *out);
void ft__fold_fill(const ft__onnx_node *node, ft__onnx_value *out, ft__num start,
                   ft__num step);
/* out[i] = x[base + sum of i * stride]: transpose, slice, expand, split. */
void ft__fold_strided(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *out,
                      int64_t base, const int64_t *stride);
void ft__fold_concat(const ft__onnx_node *node, ft__onnx_value *const *part, uint32_t n,
                     uint32_t axis, ft__onnx_value *out);
void ft__fold_gather(const ft__onnx_node *node, ft__onnx_value *x,
                     ft__onnx_value *index, uint32_t axis, ft__onnx_value *out);
void ft__fold_reduce(const ft__onnx_node *node, ft_kind kind, ft__onnx_value *x,
                     uint32_t axes, ft__onnx_value *out);
/* How sums or products run along an axis. */
typedef struct ft__running {
    bool product;
    bool exclusive; /* of what comes before each element */
    bool reverse;
} ft__running;

/* ---- fold_pick.c ---- */
void ft__fold_running(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                      ft__running how, ft__onnx_value *out);
void ft__fold_tile(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *out);
/* before: elements in front, less than 0: taken away. fill: NULL for zeros. */
void ft__fold_pad(const ft__onnx_node *node, ft__onnx_value *x, ft__onnx_value *fill,
                  const int64_t *before, ft__onnx_value *out);
void ft__fold_trilu(const ft__onnx_node *node, ft__onnx_value *x, int64_t k, bool upper,
                    ft__onnx_value *out);
void ft__fold_nonzero(const ft__onnx_node *node, ft__onnx_value *x,
                      ft__onnx_value *out);
void ft__fold_gather_elements(const ft__onnx_node *node, ft__onnx_value *x,
                              ft__onnx_value *index, uint32_t axis,
                              ft__onnx_value *out);
void ft__fold_gather_nd(const ft__onnx_node *node, ft__onnx_value *x,
                        ft__onnx_value *index, ft__onnx_value *out);
/* in: a tensor, updates, indices. */
void ft__fold_scatter(const ft__onnx_node *node, ft__onnx_value *const in[3],
                      uint32_t axis, ft__onnx_value *out);
void ft__fold_scatter_nd(const ft__onnx_node *node, ft__onnx_value *const in[3],
                         ft__onnx_value *out);
void ft__fold_one_hot(const ft__onnx_node *node, ft__onnx_value *const in[3],
                      uint32_t axis, ft__onnx_value *out);
/* from: x's shape, or all its elements in a row. */
void ft__fold_compress(const ft__onnx_node *node, ft__onnx_value *x,
                       ft__onnx_value *condition, const ft_shape *from, uint32_t axis,
                       ft__onnx_value *out);
/* last: of equal ones. */
void ft__fold_arg(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                  bool largest, bool last, ft__onnx_value *out);
/* bound: the least and the most, NULL: none. */
void ft__fold_clip(const ft__onnx_node *node, ft__onnx_value *x,
                   ft__onnx_value *const bound[2], ft__onnx_value *out);
/* Ones k right of the diagonal of a matrix. */
void ft__fold_eye(const ft__onnx_node *node, int64_t k, ft__onnx_value *out);
/* out: values and their places, NULL where nobody reads them. */
void ft__fold_topk(const ft__onnx_node *node, ft__onnx_value *x, uint32_t axis,
                   bool largest, ft__onnx_value *const out[2]);

/* Row-major strides of a shape. */
void ft__strides(const ft_shape *s, int64_t *stride);

/* ---- rules_*.c: shared helpers ---- */
/* An operation of one or two operands, their shapes set. */
ft_op ft__op_x(ft_kind kind, const ft__onnx_value *x);
ft_op ft__op_xy(ft_kind kind, const ft__onnx_value *x, const ft__onnx_value *y);
/* Steps of a rule that has several: elementwise, or over axes (bits). out: NULL
 * for a value of its own. NULL operands and a failure before give NULL. */
ft__onnx_value *ft__apply1(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           ft__onnx_value *out);
ft__onnx_value *ft__apply2(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           ft__onnx_value *y, ft__onnx_value *out);
ft__onnx_value *ft__reduce(const ft__onnx_node *n, ft_kind kind, ft__onnx_value *x,
                           uint32_t axes, bool keep, ft__onnx_value *out);
ft__onnx_value *ft__scalar_constant(const ft__onnx_node *n, ft_dtype t, double value);
/* Integers of an operand, or of the attribute it was before; -1: unknown. */
int64_t ft__list(const ft__onnx_node *n, uint32_t operand, const char *attr, int64_t *v,
                 uint32_t max);
/* Elements of a list, where its shape says so; 0: it does not. */
static inline uint32_t ft__length(const ft__onnx_value *v)
{
    bool list = v->shape.rank == 1 && v->shape.dim[0] <= FT_MAX_RANK;

    return list ? (uint32_t)v->shape.dim[0] : 0;
}
/* A matrix product. to: dtype of the result, NONE: that of x; rest: what is read
 * besides (scales, zero points). */
enum { FT__MAX_REST = 10 };
struct ft__product {
    ft__onnx_value *x, *y, *bias, *out;
    ft_dtype to;
    ft__onnx_value *const *rest;
    uint32_t n_rest;
};
void ft__emit_product(const ft__onnx_node *n, const struct ft__product *p);
/* where(condition, x, y), and parts one behind the other, as the node's result. */
void ft__emit_where(ft__onnx_node *n, ft__onnx_value *const in[3]);
void ft__emit_concat(ft__onnx_node *n, ft__onnx_value *const *part, uint32_t count,
                     uint32_t axis, ft_dtype dtype);
/* The dtype of weights as a spec has it: NONE where it is that of x. */
ft_dtype ft__weights_dtype(const ft__onnx_value *x, const ft__onnx_value *weight);
/* And that of a product that was fused with its conversions. */
ft_dtype ft__product_dtype(const ft__onnx_node *n, const ft__onnx_value *x);
/* An axis counted from the front; fails the import when it lies outside. */
uint32_t ft__axis(const ft__onnx_node *n, int64_t axis, uint32_t rank);
/* The same of attribute `axis` and the first operand. */
uint32_t ft__attr_axis(const ft__onnx_node *n, int64_t fallback);
/* Append a dimension; fails the import at the ninth. */
void ft__push(const ft__onnx_node *n, ft_shape *s, int64_t dim);
/* Axes of attribute `axes` or operand i as a set of bits; -1: unknown. `all`
 * where there are none. */
int64_t ft__axes(const ft__onnx_node *n, uint32_t operand, uint32_t rank, int64_t all);
bool ft__broadcast(const ft_shape *a, const ft_shape *b, ft_shape *out);

/* ---- rules.c ---- */
extern const ft__rule_table ft__rules_control, ft__rules_layer, ft__rules_math,
    ft__rules_matmul, ft__rules_ml, ft__rules_move, ft__rules_ms_attention,
    ft__rules_ms_layers, ft__rules_ms_others, ft__rules_ms_products, ft__rules_pick,
    ft__rules_seq, ft__rules_shape, ft__rules_signal, ft__rules_window;
extern const ft__rule_table *const ft__rule_tables[]; /* these, then NULL */
/* Before rules are found; false after reporting that memory is short. */
bool ft__onnx_index_rules(ft__onnx *o);
/* The rule of an operator; NULL: there is none. */
const ft__operator_rule *ft__onnx_rule(const ft__onnx *o, ft__str domain, ft__str op);

#endif
