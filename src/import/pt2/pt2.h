#ifndef IMPORT_PT2_PT2_H
#define IMPORT_PT2_PT2_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "graph/build.h"
#include "import/graph_inside.h"
#include "import/rules/ops.h"
#include "import/table.h"

/* Reading a torch.export archive, each file using those before it:
 *
 *   zip.c      archive -> the text of its graph
 *   expr.c     symbolic sizes
 *   read.c     the text of a graph -> nodes, what it says of their tensors, and its
 *              signature
 *   program.c  around the graph: weights, inputs and their symbols
 *   rebatch.c  where the batch is in results, of a file that fixes another one
 *   node.c     what a rule works with: arguments in, operations out
 *   rules_*.c  one rule per family of operators: node -> operation; each file ends with
 *              the table of the operators that it has rules for
 *   pt2.c      the model: nodes in order by their rules, graphs inside them, phases
 *
 * ../rules/ holds what ONNX's operators share with these.
 *
 * Every result's shape stands in the file, so a rule only says what kind of
 * operation a node is. Names and arguments stay slices of the text; what is made
 * lies in one arena. Failure is sticky in the builder. */

typedef enum ft__pt2_state {
    FT__PT2_UNDEFINED,
    FT__PT2_WEIGHT, /* a parameter, a buffer, or a view of one */
    FT__PT2_ACTIVATION,
} ft__pt2_state;

typedef struct ft__pt2_value ft__pt2_value;
/* What a name of the graph stands for: a tensor, or a symbolic number. */
struct ft__pt2_value {
    ft__text name;
    ft__pt2_state state;
    ft_dtype dtype;
    bool typed;      /* the file says what it is */
    bool resolved;   /* and its symbolic sizes are numbers */
    bool trainable;  /* a parameter */
    bool learned;    /* made from one */
    bool wanted;     /* a result of the forward pass needs it */
    bool transposed; /* over `of`, in the order of perm; else just a view */
    bool filed;      /* rebatch.c: its sizes were those of the file */
    bool batched;    /* and one, `axis`, grew with the batch: */
    uint8_t axis;
    int64_t inner;        /* of its indices, how many lie in one of the batch */
    ft__pt2_value *added; /* batched and added up, before it */
    uint8_t perm[FT_MAX_RANK];
    uint32_t open;           /* dimensions that are bounds */
    uint32_t tensor;         /* of the graph; FT_NONE until it is needed there */
    ft__pt2_value *of;       /* WEIGHT: the one whose memory this is */
    int64_t number;          /* a symbolic number, written as a dimension is */
    ft_shape shape;          /* sizes; below 0: expression -1 - i */
    ft__text rest;           /* what the file says of it beyond */
    ft__pt2_value *gradient; /* the parameter that it is the gradient of */
    ft__pt2_value *next;     /* made after it */
    ft__pt2_value *lazy;     /* came into the graph before it */
};

typedef enum ft__pt2_type {
    FT__PT2_NONE,
    FT__PT2_TENSOR,
    FT__PT2_TENSORS,
    FT__PT2_INT,
    FT__PT2_INTS,
    FT__PT2_FLOAT,
    FT__PT2_BOOL,
    FT__PT2_BOOLS,
    FT__PT2_STRING,
    FT__PT2_SYM,  /* a number or a name of one */
    FT__PT2_SYMS, /* a list of them */
    FT__PT2_DTYPE,
    FT__PT2_MEMORY,
    FT__PT2_GRAPH,
    FT__PT2_OTHER,
} ft__pt2_type;

/* An argument as it was given; those at their defaults are not there at all. */
typedef struct ft__pt2_arg {
    ft__text name;
    ft__pt2_type type;
    uint32_t n;            /* TENSORS: how many */
    ft__pt2_value **value; /* TENSOR, TENSORS: NULL where it is None */
    ft__text text;         /* of the others: the value's JSON */
} ft__pt2_arg;

typedef struct ft__pt2 ft__pt2;
typedef struct ft__pt2_node ft__pt2_node;

enum {
    FT__PT2_ANY = 1,  /* runs without a first operand and a first result too */
    FT__PT2_VIEW = 2, /* gives its operand's elements: their gradients are one */
};

/* An operator's overloads share a rule, and one in place, which ends in _, has that of
 * the operator it is named after. */
typedef struct ft__pt2_rule {
    const char *operators; /* that it is for, a space between them; NULL ends a table */
    void (*run)(ft__pt2_node *n);
    int arg;
    unsigned traits;
} ft__pt2_rule;

extern const ft__pt2_rule ft__pt2_loss_rules[];
extern const ft__pt2_rule ft__pt2_math_rules[];
extern const ft__pt2_rule ft__pt2_move_rules[];
extern const ft__pt2_rule ft__pt2_layer_rules[];
extern const ft__pt2_rule ft__pt2_window_rules[];

struct ft__pt2_node {
    ft__pt2 *import; /* that it is a node of */
    ft__text target; /* "aten.conv2d.default" */
    ft__text op;     /* "conv2d" */
    ft__text name;
    ft__text modules; /* the calls it was made in, as the file has them */
    const ft__pt2_rule *rule;
    ft__pt2_arg *arg;
    ft__pt2_value *x;    /* the tensor that is the first argument, */
    ft__pt2_value *y;    /* and the second; set when its rule runs */
    ft__pt2_value **out; /* NULL: None */
    uint32_t n_args, n_out;
    bool in_place, backward;
};

typedef struct ft__pt2_body {
    ft__pt2_node *node;
    ft__pt2_value **in, **out;
    uint32_t n_nodes, n_in, n_out;
} ft__pt2_body;

typedef struct ft__pt2_symbol {
    ft__text name;
    bool bound;
    bool data; /* depends on data: its value is a bound */
    int64_t value;
    int64_t max; /* from the file's range constraints; -1: none */
} ft__pt2_symbol;

typedef struct ft__pt2_expr {
    ft__text text;
    uint32_t number; /* its place in the list */
    bool known, data;
    int64_t value;
} ft__pt2_expr;

/* The part of the signature that an input or an output belongs to. */
typedef struct ft__pt2_spec {
    ft__text kind;        /* "parameter", "user_input", "gradient_to_parameter" ... */
    ft__text of;          /* name of the parameter or buffer */
    ft__pt2_value *value; /* NULL: no tensor */
} ft__pt2_spec;

struct ft__pt2 {
    ft__build *b;
    ft__arena arena;
    ft__json_doc doc;
    ft_import_options opt;
    ft__name_table names;
    ft__pt2_value *newest;
    ft__pt2_value *lazy; /* constants in the graph, the last one first */
    ft__name_table operators;
    ft__name_table parameters; /* by the names that the signature has for them */
    ft__name_table symbols, exprs;
    ft__pt2_expr **expr; /* by number */
    uint32_t n_exprs, cap_exprs;
    ft__pt2_spec *input, *output;
    uint32_t n_inputs, n_outputs;
    uint32_t n_nodes;                /* read so far, subgraphs each time */
    uint32_t depth;                  /* of subgraphs */
    size_t inlined;                  /* bytes of them all, each time */
    uint32_t scalar[FT_DTYPE_COUNT]; /* tensors of numbers in the graph */
    int64_t fixed_batch;  /* the file's, where opt.batch is another; 0: as it is */
    ft__pt2_value *added; /* values that were added up over the batch */
    bool quiet;           /* a subgraph is tried: what it would cost */
};

static inline bool ft__pt2_import_failed(const ft__pt2 *p)
{
    return p->doc.why || ft__build_failed(p->b);
}
/* The import that a node is of. */
static inline bool ft__pt2_failed(const ft__pt2_node *n)
{
    return ft__pt2_import_failed(n->import);
}
/* Zeroed; NULL after reporting that memory is short. */
static inline void *ft__pt2_alloc(ft__pt2 *p, size_t n, size_t size)
{
    void *mem = ft__arena_array(&p->arena, n, size);

    if (!mem)
        ft__build_fail(p->b, FT_ENOMEM, 0, "out of memory");
    return mem;
}

/* Step into an object or array; over anything else, and false. */
static inline bool ft__pt2_object(ft__json *r)
{
    return ft__json_object(r) || (ft__json_skip(r, NULL), false);
}

static inline bool ft__pt2_array(ft__json *r)
{
    return ft__json_array(r) || (ft__json_skip(r, NULL), false);
}

/* Inside the description of a value, behind its sizes. */
static inline ft__json ft__pt2_rest(ft__pt2 *p, const ft__pt2_value *v)
{
    ft__json r = ft__json_open(&p->doc, v->rest);

    r.depth = 1;
    return r;
}

/* {"as_int": 3} or {"as_expr": {"expr_str": "...", ...}}: a dimension, below 0 where it
 * is an expression. */
int64_t ft__pt2_read_sym(ft__pt2 *p, ft__json *r);
/* A list of sizes or strides; -1: more dimensions than there can be. */
int ft__pt2_read_syms(ft__pt2 *p, ft__json *r, int64_t *dim);
/* The symbol that an expression is, made when it is new; NULL: it is something else. */
ft__pt2_symbol *ft__pt2_symbol_of(ft__pt2 *p, ft__text text);
/* The value of a dimension; below 0: a symbol is open (*open names it). *data:
 * it is a bound. */
int64_t ft__pt2_value_of(ft__pt2 *p, int64_t dim, bool *data, ft__pt2_symbol **open);
/* Sizes of a value become numbers. `limit`: what a symbol that depends on data is at
 * most where the file does not say. */
bool ft__pt2_resolve(ft__pt2 *p, ft__pt2_value *v, int64_t limit);

/* The value of a name, made when it is new. NULL: out of memory. */
ft__pt2_value *ft__pt2_name(ft__pt2 *p, ft__text name);
/* A value without a name of its own, called and sized like another. */
ft__pt2_value *ft__pt2_temp(const ft__pt2_node *n, const ft__pt2_value *like,
                            ft_dtype dtype, const ft_shape *shape);
/* {"graph": {...}, "signature": {...}}: a program's, or one inside a node, without a
 * signature. False: it holds no graph. */
bool ft__pt2_read_module(ft__pt2 *p, ft__json *r, ft__pt2_body *out);
FT_PRINTF(2, 3)
void ft__pt2_fail(const ft__pt2_node *n, const char *fmt, ...);

/* The text around the graph and the graph itself; weights and inputs have sizes then.
 */
bool ft__pt2_read_program(ft__pt2 *p, ft__pt2_body *body);

/* What an operation reads and gives. */
typedef struct ft__pt2_call {
    ft__pt2_value *const *in;
    uint32_t n_in;
    ft__pt2_value *const *params; /* NULL among them are left out */
    uint32_t n_params;
    ft__pt2_value *const *out;
    uint32_t n_out;
} ft__pt2_call;

/* Each of these does nothing where fixed_batch is 0. */

/* An input, whose sizes are numbers, gets the batch. */
void ft__pt2_batch_input(ft__pt2 *p, ft__pt2_value *v);
/* The results of a node do as well as operands tell it, before its rule runs; */
void ft__pt2_carry_batch(ft__pt2_node *n);
/* those of an operation, of a view, and of one in the order of perm, as these do. */
void ft__pt2_batch_of_results(const ft__pt2_node *n, const ft_op *op,
                              const ft__pt2_call *c);
void ft__pt2_batch_in_order(const ft__pt2_node *n, const ft__pt2_value *x,
                            ft__pt2_value *out);
void ft__pt2_batch_moves(const ft__pt2_node *n, const ft__pt2_value *x,
                         ft__pt2_value *out, const int64_t *perm);

const ft__pt2_arg *ft__pt2_arg_of(const ft__pt2_node *n, const char *name);
/* The i-th argument given; NULL: there are fewer. */
static inline const ft__pt2_arg *ft__pt2_arg_at(const ft__pt2_node *n, uint32_t i)
{
    return i < n->n_args ? &n->arg[i] : NULL;
}
/* The tensor that an argument is; NULL: it is none. */
static inline ft__pt2_value *ft__pt2_tensor_of(const ft__pt2_arg *a)
{
    return a && a->type == FT__PT2_TENSOR && a->n ? a->value[0] : NULL;
}
static inline ft__pt2_value *ft__pt2_tensor(const ft__pt2_node *n, const char *name)
{
    return ft__pt2_tensor_of(ft__pt2_arg_of(n, name));
}
static inline ft__pt2_value *ft__pt2_in(const ft__pt2_node *n, uint32_t i)
{
    return ft__pt2_tensor_of(ft__pt2_arg_at(n, i));
}
static inline ft__pt2_value *ft__pt2_out(const ft__pt2_node *n, uint32_t i)
{
    return i < n->n_out ? n->out[i] : NULL;
}
int64_t ft__pt2_int(const ft__pt2_node *n, const char *name, int64_t fallback);
bool ft__pt2_bool(const ft__pt2_node *n, const char *name, bool fallback);
double ft__pt2_float(const ft__pt2_node *n, const char *name, double fallback);
/* As it is written; empty: none. */
ft__text ft__pt2_string(const ft__pt2_node *n, const char *name);
/* How many there are, of which the first `max` are stored; one number is a list
 * of one; -1: no such argument, or None. */
int64_t ft__pt2_ints(const ft__pt2_node *n, const char *name, int64_t *v, uint32_t max);
/* Three booleans, the argument `output_mask`, as bits 0, 1, 2; `fallback` where there
 * are none. */
uint32_t ft__pt2_mask(const ft__pt2_node *n, uint32_t fallback);
/* What a layer's backward pass is with respect to: x, or weights and bias. */
static inline uint32_t ft__pt2_layer_wrt(const ft__pt2_node *n)
{
    const uint32_t mask = ft__pt2_mask(n, 7);

    return (mask & 1 ? FT_WRT_X : 0u) | (mask & 6 ? FT_WRT_WEIGHTS : 0u);
}
/* An axis counted from the front; fails the import when it lies outside. */
uint32_t ft__pt2_axis(const ft__pt2_node *n, int64_t axis, uint32_t rank);
/* Argument `dim` as an axis of n->x. */
uint32_t ft__pt2_dim(const ft__pt2_node *n, int64_t fallback);
/* The i-th argument as an operand, numbers included; NULL after a failure. */
ft__pt2_value *ft__pt2_operand(const ft__pt2_node *n, uint32_t i, ft_dtype dtype);

/* An operation with the shapes of x, of y and of its result as keys, each left out
 * where it is NULL. dtype NONE: that of x. */
ft_op ft__pt2_op(ft_kind kind, ft_dtype dtype, const ft__pt2_value *x,
                 const ft__pt2_value *y, const ft__pt2_value *out);
/* Append the operation, unless an operand is NULL. Where it would give other sizes than
 * the file states, the node is bounded instead. */
void ft__pt2_emit(const ft__pt2_node *n, const ft_op *op, const ft__pt2_call *c);
/* The same with parameters, and all results of the node. */
static inline void ft__pt2_emit_layer(const ft__pt2_node *n, const ft_op *op,
                                      ft__pt2_value *const *in, uint32_t n_in,
                                      ft__pt2_value *const *params, uint32_t n_params)
{
    ft__pt2_emit(n, op, &(ft__pt2_call){in, n_in, params, n_params, n->out, n->n_out});
}
/* The same with operands alone. */
static inline void ft__pt2_emit_in(const ft__pt2_node *n, const ft_op *op,
                                   ft__pt2_value *const *in, uint32_t n_in)
{
    ft__pt2_emit_layer(n, op, in, n_in, NULL, 0);
}
/* The backward pass with respect to what wrt says (0: to all), into the results that
 * the node has; weights may be NULL. */
void ft__pt2_emit_gradient(const ft__pt2_node *n, ft_op *op, uint32_t wrt,
                           ft__pt2_value *const *in, uint32_t n_in,
                           ft__pt2_value *weights);
/* With operands and one result. */
static inline void ft__pt2_emit_to(const ft__pt2_node *n, const ft_op *op,
                                   ft__pt2_value *const *in, uint32_t n_in,
                                   ft__pt2_value *out)
{
    ft__pt2_emit(n, op, &(ft__pt2_call){in, n_in, NULL, 0, &out, 1});
}
/* A result of its own, called as the node's first; NULL after a failure. */
ft__pt2_value *ft__pt2_make(const ft__pt2_node *n, const ft_op *op,
                            ft__pt2_value *const *in, uint32_t n_in);
/* v where something made it; else NULL. */
static inline ft__pt2_value *ft__pt2_made(const ft__pt2_node *n, ft__pt2_value *v)
{
    return v && v->state != FT__PT2_UNDEFINED && !ft__pt2_failed(n) ? v : NULL;
}
/* out is x in another shape, or in the order of perm. */
void ft__pt2_emit_view(const ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *out);
void ft__pt2_emit_transpose(const ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *out,
                            const int64_t *perm);
/* For all results: bounded by what is read and written, and named. */
void ft__pt2_emit_generic(const ft__pt2_node *n);
uint32_t ft__pt2_graph_tensor(ft__pt2 *p, ft__pt2_value *v);

/* ft__import_pt2() behind the archive. */
ft_status ft__import_pt2_text(ft_graph **out, const char *text, size_t len,
                              const char *name, const ft_import_options *opt,
                              ft_error *err);

#endif
