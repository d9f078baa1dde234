#ifndef FT_OP_H
#define FT_OP_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* One operation: a kind, its shapes and attributes, its element type, its phase
 * and its memory layout. Written as one line of text, the spec:
 *
 *   conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32
 *
 * Plain values, no pointers: copy and compare freely (ft_op_equal). */

typedef enum ft_dtype {
    FT_DTYPE_NONE,
#define FT_DTYPE(name, bits, onnx) FT_DTYPE_##name,
#include "foretell/dtypes.def"
#undef FT_DTYPE
    FT_DTYPE_COUNT
} ft_dtype;

typedef enum ft_class {
    FT_CLASS_CONV,
    FT_CLASS_MATMUL,
    FT_CLASS_POOL,
    FT_CLASS_NORM,
    FT_CLASS_SOFTMAX,
    FT_CLASS_UNARY,
    FT_CLASS_BINARY,
    FT_CLASS_REDUCE,
    FT_CLASS_MOVE,
    FT_CLASS_VIEW,
    FT_CLASS_GENERIC,
    FT_CLASS_OPTIMIZER,
    FT_CLASS_COUNT
} ft_class;

typedef enum ft_kind {
#define FT_KIND(name, ...) FT_KIND_##name,
#include "foretell/ops.def"
#undef FT_KIND
    FT_KIND_COUNT
} ft_kind;

typedef enum ft_key_id {
    FT_K_x, FT_K_y, FT_K_z, FT_K_out, FT_K_kernel, FT_K_stride, FT_K_pad, FT_K_outpad,
    FT_K_dilation, FT_K_groups, FT_K_bias, FT_K_ceil, FT_K_norm, FT_K_size, FT_K_axis,
    FT_K_axes, FT_K_keep, FT_K_perm, FT_K_sizes, FT_K_step, FT_K_mode, FT_K_rows,
    FT_K_dim, FT_K_to, FT_K_read, FT_K_hidden, FT_K_directions, FT_K_causal, FT_K_mask,
    FT_K_train, FT_K_weights, FT_K_block, FT_K_order, FT_K_experts, FT_K_topk, FT_K_tp,
    FT_K_ep, FT_K_ranks, FT_K_id, FT_K_shared, FT_K_gated,
    FT_K_nodes, FT_K_dealt,
    FT_K_COUNT
} ft_key_id;

typedef enum ft_phase {
    FT_PHASE_FORWARD,
    FT_PHASE_BACKWARD,
    FT_PHASE_FORWARD_BACKWARD,
    FT_PHASE_OPTIMIZER,
    FT_PHASE_STEP,
    FT_PHASE_COUNT
} ft_phase;

/* With respect to what a backward operation takes gradients: bits. */
enum {
    FT_WRT_X = 1u << 0,
    FT_WRT_Y = 1u << 1,
    FT_WRT_Z = 1u << 2,
    FT_WRT_WEIGHTS = 1u << 3,
};

/* What an operation keeps of its forward pass for its backward one: bits, and
 * the combinations that ops.def uses. */
enum {
    FT_SAVE_FREE = 0, /* the gradient is made of the results' gradient alone */
    FT_SAVE_X = 1u << 0,
    FT_SAVE_Y = 1u << 1,
    FT_SAVE_Z = 1u << 2,
    FT_SAVE_OUT = 1u << 3,
    FT_SAVE_STATS = 1u << 4,   /* two numbers per group that is normalised */
    FT_SAVE_INDICES = 1u << 5, /* int64 per element of the result */
    FT_SAVE_MASK = 1u << 6,    /* one element per element of the result */
    FT_SAVE_NONE = 1u << 7,    /* no gradient */
    FT_SAVE_XY = FT_SAVE_X | FT_SAVE_Y,
    FT_SAVE_X_OUT = FT_SAVE_X | FT_SAVE_OUT,
    FT_SAVE_X_STATS = FT_SAVE_X | FT_SAVE_STATS,
    FT_SAVE_X_INDICES = FT_SAVE_X | FT_SAVE_INDICES,
    FT_SAVE_ATTENTION = FT_SAVE_XY | FT_SAVE_Z | FT_SAVE_OUT | FT_SAVE_STATS,
};

/* How tensors with a channel axis (axis 1) lie in memory. Part of the operation
 * where it changes the work: a channels-last convolution is another measurement. */
typedef enum ft_layout {
    FT_LAYOUT_PLAIN,         /* row-major in the order of the logical shape */
    FT_LAYOUT_CHANNELS_LAST, /* row-major with axis 1 moved to the end */
    FT_LAYOUT_COUNT
} ft_layout;

/* How an engine runs graphs (ft_step_lower()). */
enum {
    /* Convolutions, pooling and channel norms run channels-last; other operations
     * keep the layout they are given where they can; where they cannot, a
     * transpose is inserted, as the engine has to do. */
    FT_POLICY_CHANNELS_LAST = 1u << 0,
    /* Transposes, slices, splits and expansions are views with strides; what
     * needs its elements in order copies them first (PyTorch). Not combined with
     * the other policies that change graphs, but for the first: then images of the
     * inputs lie channels-last. */
    FT_POLICY_STRIDED_VIEWS = 1u << 1,
    /* Results are allocated as operations run and released at their last use;
     * Python frames hold arguments, and the caller the previous pass's results
     * and all gradients (PyTorch eager). For ft_memory_make(). */
    FT_POLICY_EAGER = 1u << 2,
    /* Count the scratch memory of PyTorch's CPU kernels. For ft_memory_make(). */
    FT_POLICY_CPU_SCRATCH = 1u << 3,
    /* Adam and AdamW update all parameters at once, as PyTorch does on GPUs. For
     * ft_memory_make(). */
    FT_POLICY_FOREACH = 1u << 4,
    /* With FT_POLICY_CPU_SCRATCH: MKL multiplies matrices by its AVX2 kernels, as it does
     * on processors of other makers than Intel, with or without AVX-512. */
    FT_POLICY_MKL_AVX2 = 1u << 5,
    /* Networks are compiled whole: additions, activations and the like of a few
     * instructions a number are done by the kernel whose result they alone read, and
     * cost nothing besides (TVM's relax). Operations measured one by one are not. */
    FT_POLICY_FUSED = 1u << 6,
};

enum {
    FT_MAX_RANK = 8,
    FT_OP_MAX_KEYS = 12,
    FT_OP_MAX_VALUES = 96,  /* over all keys of one operation */
    FT_OP_MAX_OPERANDS = 88 /* activations in or out: concat and split */
};

typedef struct ft_shape {
    uint32_t rank; /* 0: a scalar */
    int64_t dim[FT_MAX_RANK];
} ft_shape;

typedef struct ft_op {
    ft_kind kind;
    ft_dtype dtype; /* of the data; index and condition operands have their own */
    ft_phase phase;
    ft_layout layout;
    uint8_t wrt; /* backward: FT_WRT_ bits, 0: all that there are */
    uint8_t in_place; /* 1: the result is written over x; forward, elementwise */
    uint8_t count[FT_OP_MAX_KEYS]; /* values of the kind's i-th key */
    int64_t value[FT_OP_MAX_VALUES]; /* packed in key order, the rest 0 */
} ft_op;

FT_API const char *ft_dtype_name(ft_dtype t);
FT_API ft_dtype ft_dtype_from_onnx(int64_t number);
FT_API uint32_t ft_dtype_bits(ft_dtype t);
FT_API const char *ft_kind_name(ft_kind k);
FT_API ft_class ft_kind_class(ft_kind k);

/* The values of a key; NULL and *n = 0 when it is at its default or unknown. */
FT_API const int64_t *ft_op_get(const ft_op *op, ft_key_id key, uint32_t *n);
/* i-th value of a key, or its default (per-axis keys repeat the default). */
FT_API int64_t ft_op_at(const ft_op *op, ft_key_id key, uint32_t i);
FT_API ft_shape ft_op_shape(const ft_op *op, ft_key_id key);
/* Padding at the begin and end of spatial axis i, however pad was written. */
FT_API void ft_op_pad(const ft_op *op, uint32_t i, int64_t *begin, int64_t *end);
/* Gradients that a backward operation computes, FT_WRT_ bits, never 0; of other operations
 * 0. */
FT_API uint32_t ft_op_wrt(const ft_op *op);
/* FT_SAVE_ bits of a kind. */
FT_API uint32_t ft_kind_saves(ft_kind k);
FT_API int ft_op_equal(const ft_op *a, const ft_op *b);

/* Write the canonical spec; returns its length as snprintf() does. */
FT_API size_t ft_op_print(const ft_op *op, char *buf, size_t size);
/* Parse a spec (any key order, extra blanks) and check it, shapes included. Of a
 * kernel or network with name= all words but the phase make its number (id).
 * FT_EFORMAT: err->pos is the byte in text. */
FT_API ft_status ft_op_parse(ft_op *out, const char *text, size_t len, ft_error *err);

/* FT_EINVAL with a sentence when shapes and attributes are inconsistent. */
FT_API ft_status ft_op_check(const ft_op *op, ft_error *err);
/* Activation operands, in order x, y, z (concat: its parts), and results.
 * Weights (filters, biases, scales, tables) are not operands: see ft_cost.
 * Backward: operands are the gradients of the results, then x, y, z and the
 * result as far as they are saved; results are the gradients of x, y, z, and of
 * all weights as one vector, as far as ft_op_wrt() names them. */
FT_API uint32_t ft_op_n_inputs(const ft_op *op);
FT_API void ft_op_input(const ft_op *op, uint32_t i, ft_shape *shape, ft_dtype *dtype);
FT_API uint32_t ft_op_n_outputs(const ft_op *op);
FT_API void ft_op_output(const ft_op *op, uint32_t i, ft_shape *shape, ft_dtype *dtype);
/* Elements of a shape; -1 when the product passes 2^52. */
FT_API int64_t ft_shape_elements(const ft_shape *s);
FT_API int ft_shape_equal(const ft_shape *a, const ft_shape *b);
FT_API int64_t ft_tensor_bytes(const ft_shape *s, ft_dtype t);

/* The weights inside an operation, each a tensor of its own, in ONNX's order:
 *   convolutions  filter (out x in/groups x kernel; transposed: in x out/groups x
 *                 kernel), bias
 *   linear        out x in; bias
 *   norms         scale, shift (rmsnorm: scale only), then batchnorm's mean and
 *                 variance
 *   rnn gru lstm  for each direction: input weights (gates hidden x in), recurrent
 *                 ones (gates hidden x hidden), and their two biases
 *   embedding     rows x dim
 * Other weights (scales of blocks) are counted, not listed. */
typedef struct ft_param {
    ft_shape shape;
    ft_dtype dtype;
    double fan_in; /* products summed per result; 0: no product */
    int trained;   /* 0: statistics, which no gradient reaches */
} ft_param;
FT_API uint32_t ft_op_n_params(const ft_op *op);
FT_API void ft_op_param(const ft_op *op, uint32_t i, ft_param *out);

/* FLOPs, bytes and weights of an operation (docs/costs.md has the formulae).
 * One multiply-accumulate is 2 FLOPs. */
typedef struct ft_cost {
    double flops;
    double bytes_read;    /* activations and weights, each once */
    double bytes_written;
    double weight_elements;
    double weight_bytes;
    double transcendentals; /* elements that need exp, tanh, erf or similar */
} ft_cost;
FT_API void ft_op_cost(const ft_op *op, ft_cost *out);

/* The convolutions and matrix products inside an operation, in one canonical
 * form, so that graphs of different importers can be compared: forward and
 * backward of linear, attention, einsum and recurrent layers become
 * `matmul x=BxMxK y=BxKxN` with M >= N (a product and its transpose are one),
 * convolutions lose bias and layout, and their backward is one product per
 * gradient. FLOPs are 2 per multiply-accumulate. */
typedef struct ft_product {
    ft_op op;
    uint64_t count; /* how often it occurs in the operation */
} ft_product;
enum { FT_MAX_PRODUCTS = 8 };
/* How many were written; 0: the operation holds none. */
FT_API uint32_t ft_op_products(const ft_op *op, ft_product out[FT_MAX_PRODUCTS]);
FT_API double ft_product_flops(const ft_product *p);

FT_END_DECLS

#endif
