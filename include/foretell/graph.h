#ifndef FT_GRAPH_H
#define FT_GRAPH_H

#include "foretell/error.h"
#include "foretell/op.h"

FT_BEGIN_DECLS

#define FT_NONE UINT32_MAX

typedef enum ft_role {
    FT_ROLE_INPUT,      /* given from outside at every pass */
    FT_ROLE_WEIGHT,     /* constant, in memory for as long as the model is loaded */
    FT_ROLE_ACTIVATION, /* made by a node */
    FT_ROLE_GRADIENT,   /* of a weight: made in the backward pass, read by the optimizer */
    FT_ROLE_STATE,      /* of the optimizer, kept from step to step */
} ft_role;

typedef enum ft_mode { FT_MODE_INFERENCE, FT_MODE_TRAINING } ft_mode;

/* ft_tensor.open: bit i is set where dimension i depends on data; the shape is then the
 * upper bound (of the number of elements in the first dimension, where only that is
 * bounded), or an assumption where there is none; FT_OPEN_RANK: the rank is unknown. */
#define FT_OPEN_RANK (1u << 31)

/* ONNX container types: inputs and results of a network may be sequences of tensors or
 * maps, or optional. */
enum {
    FT_CONTAINER_SEQUENCE = 1,
    FT_CONTAINER_OPTIONAL = 2,
    FT_CONTAINER_MAP = 4,
};

typedef struct ft_tensor {
    const char *name;
    ft_dtype dtype;
    ft_role role;
    ft_layout layout;
    ft_shape shape;
    uint32_t producer; /* node, FT_NONE for inputs and weights */
    uint32_t storage;  /* the tensor whose memory this one is: itself, or, for a
                          view, the tensor at the end of the chain */
    uint32_t is_output; /* 1: a result of the network, alive to the end */
    uint32_t open;      /* dimensions that are bounds, see above */
    uint32_t container; /* FT_CONTAINER_ bits: then dtype and shape are those of what
                           is inside; 0: a tensor */
    uint32_t trainable; /* 1: a weight that training changes */
    uint32_t detached;  /* 1: no gradient flows back from here */
    uint32_t copies;    /* of a layer that stands for others like it: how many of its
                           inputs and weights there are; otherwise 1 */
} ft_tensor;

/* in: activation operands in the operation's order (a constant operand is a
 * WEIGHT tensor); params: weights inside the operation (filter, bias, scale).
 * out: results in the operation's order; behind them, in training, what is kept
 * for the backward pass (statistics, indices, masks). A backward node reads the
 * gradients of the results that have one, the operands that are saved, then what
 * was kept; it has its params as in the forward one, and a gradient per weight
 * among its results.
 * phase: forward, backward or optimizer, the part of the step it belongs to (an
 * accumulation of gradients is a forward `add` in the backward phase).
 * scope: the calls of modules it was made in, outermost first, joined by '/'
 * ("layer1/layer1.0/conv1"); "" where the model does not say. */
typedef struct ft_node {
    const char *name;
    const char *scope;
    uint64_t repeat; /* how often it runs in one pass: spec lists, loops, layers that
                        stand for others */
    uint32_t op;     /* index of the unique operation */
    ft_phase phase;
    uint32_t n_in;
    uint32_t n_params;
    uint32_t n_out;
    const uint32_t *in;
    const uint32_t *params;
    const uint32_t *out;
} ft_node;

/* A network: operations in topological order with their tensors. Made and freed by the
 * library, so that fields can be appended; immutable, may be shared by threads. */
typedef struct ft_graph {
    const char *name;
    ft_mode mode;  /* TRAINING: it holds backward nodes */
    int64_t batch; /* the first dimension of the first input; 0: there is none */
    const ft_tensor *tensor;
    uint32_t n_tensors;
    const ft_node *node;
    uint32_t n_nodes;
    const ft_op *op; /* unique operations in order of first use, ... */
    const uint64_t *op_count; /* ... and how often each occurs */
    uint32_t n_ops;
    const uint32_t *output; /* the results of the network, in its order; a tensor may be
                               several of them */
    uint32_t n_outputs;
    const char *const *assumption; /* what the importer assumed ("batch 1: the model leaves
                                      it open, --batch N sets it") */
    uint32_t n_assumptions;
    const char *const *bounded; /* nodes without a rule, a lower bound by bytes ("Foo
                                   (node bar)") */
    uint32_t n_bounded;
    struct ft__parts *parts; /* private */
    int64_t positions; /* of a language model: its maximum context length, tokens
                          (max_position_embeddings); 0: the file does not say */
    uint32_t language_model; /* 1: of a config.json or GGUF file */
} ft_graph;

FT_API void ft_graph_free(ft_graph *g);

/* Sums over one pass or step (an op runs as often as its nodes repeat); shared
 * parameters count once. Bytes: what operations read and write, each tensor once per
 * operation. */
typedef struct ft_totals {
    double flops;
    double bytes_read;
    double bytes_written;
    double parameters;
    double weight_bytes;
    ft_dtype dtype; /* of the operation with the most arithmetic */
} ft_totals;
FT_API void ft_graph_totals(const ft_graph *g, ft_totals *out);

/* Memory of one forward pass, by exact liveness.
 * A tensor lives from the node that makes it to the last node that reads it or
 * a view of it; outputs live to the end, and inputs throughout, since the caller
 * holds them; weights are not part of the plan. An engine that follows it needs
 * arena_bytes. */
typedef struct ft_plan {
    uint64_t arena_bytes;       /* what the offsets below need */
    uint64_t lower_bound_bytes; /* most bytes alive at once: no plan needs less */
    uint64_t *offset;           /* per tensor; UINT64_MAX: not in the arena */
    uint32_t n_tensors;
} ft_plan;
FT_API ft_status ft_plan_make(ft_plan *out, const ft_graph *g, ft_error *err);
FT_API void ft_plan_free(ft_plan *p);

/* Memory of a pass or a training step, by part. */
typedef enum ft_part {
    FT_PART_WEIGHTS,
    FT_PART_INPUTS,
    FT_PART_GRADIENTS, /* of weights */
    FT_PART_STATE,     /* of the optimizer */
    FT_PART_SAVED,     /* made by the forward pass, read by the backward one */
    FT_PART_ACTIVATIONS, /* all other tensors, gradients of activations too */
    FT_PART_WORKSPACE, /* of kernels: alive while one operation runs, or kept */
    FT_PART_COUNT
} ft_part;

/* bits: FT_POLICY_EAGER, FT_POLICY_CPU_SCRATCH, FT_POLICY_MKL_AVX2 and FT_POLICY_FOREACH count
 * here; the others change the graph first (ft_step_lower()). */
typedef struct ft_memory_policy {
    uint32_t bits;
} ft_memory_policy;

/* Peak of live bytes, without fragmentation, and its composition at that moment. A tensor
 * lives from the node that makes it to the last that reads it or a view of it;
 * docs/memory.md has what else each policy keeps alive. Weights and inputs live
 * throughout. */
typedef struct ft_memory {
    uint64_t peak_bytes;
    uint64_t part[FT_PART_COUNT]; /* their sum is the peak */
    uint32_t peak_node;           /* FT_NONE: the graph has none */
    /* Two rules of thumb (Sponner et al. 2022) over layers (operands, weights and
     * results): the two largest together, and twice the mean. */
    double two_largest_bytes;
    double twice_mean_bytes;
} ft_memory;
/* FT_EINVAL: more bytes than can be counted. */
FT_API ft_status ft_memory_make(ft_memory *out, const ft_graph *g,
                                const ft_memory_policy *policy, ft_error *err);

typedef enum ft_optimizer {
    FT_OPTIMIZER_NONE,
    FT_OPTIMIZER_SGD,
    FT_OPTIMIZER_MOMENTUM, /* SGD with momentum: one number per parameter is kept */
    FT_OPTIMIZER_ADAM,     /* two */
    FT_OPTIMIZER_ADAMW,
    FT_OPTIMIZER_ADAMW8BIT, /* two, of 8 bits (bitsandbytes) */
} ft_optimizer;

typedef enum ft_loss {
    FT_LOSS_AUTO, /* none where the result is a scalar, else cross entropy over
                     classes where it looks like logits, else the mean square */
    FT_LOSS_NONE,
    FT_LOSS_CROSS_ENTROPY,
    FT_LOSS_MSE,
} ft_loss;

typedef struct ft_step_options {
    ft_optimizer optimizer;
    ft_loss loss;
    uint32_t loss_on_all; /* 1: of every floating-point result, added up, not of
                             the first one alone */
} ft_step_options;

/* How a network runs: as it is, a forward pass, or a training step. */
typedef struct ft_step {
    uint32_t given; /* 0: as it is */
    ft_mode mode;
    ft_step_options how;
} ft_step;
/* Names as the command has them; NULL: the first, or the one in parentheses. */
typedef struct ft_step_names {
    const char *mode;      /* (as the graph is), "inference", "training" */
    const char *optimizer; /* "none", ("sgd"), "momentum", "adam", "adamw", "adamw8bit" */
    const char *loss;      /* "auto", "none", "cross_entropy", "mse" */
    const char *loss_on;   /* "first", "all" */
} ft_step_names;
/* FT_EINVAL: lists the valid names, or the options that need training. */
FT_API ft_status ft_step_read(ft_step *out, const ft_step_names *names, ft_error *err);
/* The graph of that step; *out NULL: g itself. FT_EINVAL: g cannot be run so. */
FT_API ft_status ft_step_make(ft_graph **out, const ft_graph *g, const ft_step *s,
                              ft_error *err);
/* The same, as an engine of this policy runs it. */
FT_API ft_status ft_step_lower(ft_graph **out, const ft_graph *g, uint32_t policy,
                               const ft_step *s, ft_error *err);
/* Where norms are folded into convolutions, as exporters for inference do: a sentence
 * about what a training step of g then is. Returns its length as snprintf() does; 0: no
 * convolution holds one. */
FT_API size_t ft_graph_folded_norms(char *buf, size_t size, const ft_graph *g);
/* "one forward pass", "one step of forward, backward and SGD"; static. */
FT_API const char *ft_step_name(const ft_step *s, const ft_graph *g);

typedef struct ft_dim_value {
    const char *name; /* symbolic dimension */
    int64_t value;
} ft_dim_value;

typedef struct ft_input_shape {
    const char *name; /* of an input of the model; "": the only one */
    ft_shape shape;
} ft_input_shape;

typedef struct ft_import_options {
    int64_t batch; /* 0: not given; then 1, stated as an assumption */
    const ft_dim_value *dims;
    size_t n_dims;
    const ft_input_shape *inputs; /* complete shapes for open dimensions */
    size_t n_inputs;
    int64_t trips; /* trip count of data-dependent loops; 0: one */
} ft_import_options;

/* A list of operations: one spec a line, optionally followed by " *COUNT"; # begins a
 * comment. FT_EFORMAT: err->msg names the line. */
FT_API ft_status ft_import_ops(ft_graph **out, const char *text, size_t len,
                               const char *name, ft_error *err);

/* By the first bytes of its file: a GGUF header, or JSON as a config.json is. */
FT_API int ft_is_language_model(const void *begin, size_t n);

FT_END_DECLS

#endif
