#ifndef IMPORT_ONNX_ONNX_H
#define IMPORT_ONNX_ONNX_H

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "graph/build.h"
#include "graph/op.h"
#include "import/onnx/pb.h"
#include "import/rules/ops.h"
#include "import/table.h"

/* Reading an ONNX file, in the order of the files here:
 *
 *   pb.c         wire format
 *   names.c      names -> values; how an import fails
 *   tensor.c     types and constants of the file, as far as shapes can need them
 *   attr.c       what a node says: attributes, sizes, axes
 *   emit.c       operation -> graph, or -> constant when all its operands are
 *   arithmetic.c elementwise steps, and what they make of known constants
 *   compose.c    operations one by one, as rules make them
 *   rules_*.c    a family of operators each: node -> operations; a table of them
 *   rules.c      an operator's rule
 *   read.c       messages -> nodes
 *   dims.c       the model's inputs and the dimensions they leave open
 *   fuse.c       chains of nodes that the network's author wrote as one layer
 *   onnx.c       the model: opsets, nodes in order, inlining; what rests on a guess
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
    uint32_t open;           /* as in ft_tensor; known in the end (onnx.c) */
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
     * and third; those of products and convolutions, weights of another type than x
     * (the result of a convolution is then bytes, too). */
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

enum { FT__RULES_SEEN = 256 };

struct ft__onnx_node {
    ft__onnx *import; /* that it is a node of */
    const ft__operator_rule *rule;
    ft__str op, name, domain;
    ft__bytes attrs;             /* the message from its first attribute on */
    const ft__onnx_node *caller; /* inside a function: the node that calls it */
    ft__bytes defaults;          /* and the FunctionProto, for default attributes */
    ft__onnx_value **in;         /* NULL: left out */
    ft__onnx_value **out;
    uint32_t n_in, n_out;
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
    ft__str name, domain;
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
    int64_t fixed_batch; /* of the file, where opt.batch is taken instead; 0: nowhere */
    ft__bytes model;
    int64_t opset;
    const ft__operator_rule *rules_seen[FT__RULES_SEEN]; /* by the operator's hash */
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
    bool low;         /* guess the least, not the most (onnx.c) */
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

static inline bool ft__str_is(ft__str s, const char *text)
{
    return strlen(text) == s.n && memcmp(s.s, text, s.n) == 0;
}
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
/* The import fails at this node, whose file is wrong; false, for returning it. */
FT_PRINTF(2, 3)
bool ft__onnx_fail(const ft__onnx_node *n, const char *fmt, ...);
/* The same where the file may be right. */
FT_PRINTF(2, 3)
void ft__onnx_unsupported(const ft__onnx_node *n, const char *fmt, ...);
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

/* Container, dtype and shape of a TypeProto (an unknown dtype is NONE; a dimension
 * that is not stated is a guess, 1), and which dimensions are such guesses. */
void ft__onnx_read_type(ft__onnx *o, ft__bytes type, ft__onnx_value *like);
/* A TensorProto, or a SparseTensorProto, whose elements stay unknown. */
void ft__onnx_read_tensor(ft__onnx *o, ft__bytes tensor, bool sparse,
                          ft__onnx_value *v);
/* The elements of a constant; NULL: unknown (too many, external, computed from
 * unknown ones). */
const ft__num *ft__data(const ft__onnx_node *node, ft__onnx_value *v);
/* The low bits of a number, as wide as the dtype, with its sign. */
static inline int64_t ft__integer_from_bits(uint64_t bits, ft_dtype t)
{
    unsigned unused = 64 - ft_dtype_bits(t);

    switch (t) {
    case FT_DTYPE_bool: return (bits & 0xff) != 0;
    case FT_DTYPE_int8:
    case FT_DTYPE_int16:
    case FT_DTYPE_int32: return (int64_t)(bits << unused) >> unused;
    default: return unused ? (int64_t)(bits << unused >> unused) : (int64_t)bits;
    }
}
/* Room for the elements of a constant; NULL: more than are worth knowing. */
ft__num *ft__fold_new(const ft__onnx_node *node, ft__onnx_value *v);
/* One element as a real number. */
bool ft__scalar(const ft__onnx_node *node, ft__onnx_value *v, double *out);
/* Integers of an operand; -1: unknown or more than max. */
int64_t ft__ints(const ft__onnx_node *node, ft__onnx_value *v, int64_t *out,
                 uint32_t max);
/* start, start + step, ... */
void ft__fold_fill(const ft__onnx_node *node, ft__onnx_value *out, ft__num start,
                   ft__num step);
/* Elements of a list, where its shape says so; 0: it does not. */
static inline uint32_t ft__length(const ft__onnx_value *v)
{
    bool list = v->shape.rank == 1 && v->shape.dim[0] <= FT_MAX_RANK;

    return list ? (uint32_t)v->shape.dim[0] : 0;
}

int64_t ft__attr_int(const ft__onnx_node *n, const char *name, int64_t fallback);
/* Empty when there is none. */
ft__str ft__attr_str(const ft__onnx_node *n, const char *name);
/* How many there are, of which the first `max` are stored; -1: no such attribute.
 * Where none is to be stored, strings are counted as well. */
int64_t ft__attr_ints(const ft__onnx_node *n, const char *name, int64_t *v,
                      uint32_t max);
/* The same; one number is a list of one. */
int64_t ft__attr_floats(const ft__onnx_node *n, const char *name, double *v,
                        uint32_t max);
/* The message in an attribute: field 5 a tensor, 6 a graph. */
bool ft__attr_message(const ft__onnx_node *n, const char *name, uint32_t field,
                      ft__bytes *out);
/* An attribute that is a size: 1 to 2^30, else the import fails. */
int64_t ft__attr_size(const ft__onnx_node *n, const char *name, int64_t fallback);
/* An integer operand or attribute of one element; -1: not known. */
int64_t ft__int_in(const ft__onnx_node *n, uint32_t operand);
/* The operand has this many dimensions; else the import fails. */
bool ft__has_rank(const ft__onnx_node *n, uint32_t operand, uint32_t rank);
static inline void ft__misfit(const ft__onnx_node *n, uint32_t operand)
{
    ft__onnx_fail(n, "operand %u does not fit the others", operand + 1);
}
/* An axis counted from the front; fails the import when it lies outside. */
uint32_t ft__axis(const ft__onnx_node *n, int64_t axis, uint32_t rank);
/* The same of attribute `axis` and the first operand. */
static inline uint32_t ft__attr_axis(const ft__onnx_node *n, int64_t fallback)
{
    return ft__axis(n, ft__attr_int(n, "axis", fallback), n->in[0]->shape.rank);
}
/* Axes of attribute `axes` or operand i as a set of bits; -1: unknown. `all`
 * where there are none. */
int64_t ft__axes(const ft__onnx_node *n, uint32_t operand, uint32_t rank, int64_t all);

/* A GraphProto; with a caller the FunctionProto that it calls. nested: names may hide
 * those outside. */
void ft__onnx_read_body(ft__onnx *o, ft__bytes message, const ft__onnx_node *caller,
                        bool nested, ft__body *out);

void ft__onnx_inputs(ft__onnx *o, ft__bytes graph, uint32_t count);

/* ft__onnx_import(); mapped: data is a mapping of a file. */
ft_status ft__import_onnx(ft_graph **out, const void *data, size_t len, bool mapped,
                          const char *name, const ft_import_options *opt,
                          ft_error *err);
/* What is known of each named value, for comparing with other programs: the
 * import without its fusions; `see` is called for every value of the graph. */
ft_status ft__onnx_values(const void *data, size_t len, const char *name,
                          ft__see_fn *see, void *user, ft_error *err);

void ft__onnx_fuse(ft__onnx *o, ft__body *body);

extern const ft__rule_table ft__rules_control, ft__rules_layer, ft__rules_math,
    ft__rules_matmul, ft__rules_ml, ft__rules_move, ft__rules_ms_attention,
    ft__rules_ms_layers, ft__rules_ms_products, ft__rules_pick, ft__rules_seq,
    ft__rules_shape, ft__rules_signal, ft__rules_window;
extern const ft__rule_table *const ft__rule_tables[]; /* these, then NULL */
/* The rule of an operator; NULL: there is none. */
const ft__operator_rule *ft__onnx_rule(ft__onnx *o, ft__str domain, ft__str op);

#endif
