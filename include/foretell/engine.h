#ifndef FT_ENGINE_H
#define FT_ENGINE_H

#include "foretell/error.h"
#include "foretell/op.h"

FT_BEGIN_DECLS

/* Interface of measurement plug-ins. Raise FT_ENGINE_ABI whenever a struct here
 * changes; the loader refuses any other number. */
#define FT_ENGINE_ABI 5u
#define FT_ENGINE_ENTRY "ft_engine_entry"

/* One opened engine and one prepared operation; the engine defines both. */
typedef struct ft_engine_context ft_engine_context;
typedef struct ft_block ft_block;

typedef struct ft_engine_config {
    uint32_t threads; /* at least 1 */
    uint64_t seed;    /* of random weights and of planned faults */
    const char *options; /* engine's own "name=value,..." text, "" by default */
} ft_engine_config;

/* Result of preparing; all per instance. */
typedef struct ft_block_info {
    uint64_t weight_bytes;    /* as stored by the engine, padding included */
    uint64_t workspace_bytes; /* scratch needed while one instance runs */
    const char *implementation; /* the engine's name for the kernel; borrowed */
} ft_block_info;

/* Operands lie in memory as op->layout says (plain, or channels-last for every
 * tensor of rank 3 and more); index operands are int64, conditions and results
 * of comparisons one byte each.
 *
 * Parameters that are not part of a spec, the same in every engine:
 *   norms        epsilon 1e-5 under the root (l2norm: 1e-12); lrn alpha 1e-4,
 *                beta 0.75, k 1
 *   activations  leaky_relu 0.01; elu 1; selu 1.67326324, 1.05070099; clip to
 *                [0, 6]; hardsigmoid max(0, min(1, x/5 + 1/2))
 *   numbers      round to even; mod with the sign of y for integers, of x for
 *                floats; integer division rounds to zero and gives 0 for y = 0
 *   avgpool      padding is not counted
 *   indices      wrap around: index modulo extent, never out of range
 *   slice        begins at 0; step on every axis that is long enough for it
 *   pad          zeros, (out - in)/2 of them, rounded down, in front
 *   resize       half-pixel centres, edges clamped; nearest: floor of the centre;
 *                cubic -0.75
 *   depth_to_space, space_to_depth  block index before channel (ONNX's DCR)
 *   fill         writes 0 */

/* How a block of values is run: bits. */
enum {
    /* A backward operation will follow: out[] gets one value more, behind the
     * results, which holds what this engine's backward operation needs besides its
     * operands (statistics, indices, masks); NULL where it needs nothing. */
    FT_VALUES_KEEP = 1,
    /* The first result is written over the first operand, out[0] being another
     * value over the same memory. FT_EUNSUPPORTED where the engine has no such
     * form; then the caller does without. */
    FT_VALUES_IN_PLACE = 2,
};

/* Engines that hold tensors themselves (PyTorch) and make results as operations
 * run. An operand is a value of the engine's, whatever strides it has. */
typedef struct ft_engine_values {
    /* A new tensor with undefined contents. */
    ft_status (*make)(ft_engine_context *c, void **out, const ft_shape *shape,
                      ft_dtype dtype, ft_layout layout, ft_error *err);
    void (*drop)(ft_engine_context *c, void *value); /* NULL is fine */
    /* Whole contents to and from host memory, plain row-major order. */
    ft_status (*write)(ft_engine_context *c, void *value, const void *host,
                       ft_error *err);
    ft_status (*read)(ft_engine_context *c, void *host, const void *value,
                      ft_error *err);
    /* As ft_engine.prepare for one instance without weights of its own: they are
     * operands, in[] holding the activations and then the weights in the order of
     * ft_op_param(). how: FT_VALUES_ bits. A kind that is a view gives a value over
     * the same memory.
     *   backward   in[]: the operands of ft_op_input(), those NULL which the
     *              gradients asked for do not need, or which are results without a
     *              gradient; what the forward run kept, or NULL; the weights.
     *              out[]: gradients of x, y, z as far as ft_op_wrt() names them, and
     *              one for each trained weight, in the order of ft_op_param()
     *   losses     labels are the block's own, or in what is kept
     *   optimizer  in[]: parameter, gradient, states (momentum 1, adam 2), all
     *              written in place; out[0] is NULL */
    ft_status (*prepare)(ft_engine_context *c, ft_block **out, ft_block_info *info,
                         const ft_op *op, int how, ft_error *err);
} ft_engine_values;

/* An input of a model file run by the engine itself. */
typedef struct ft_model_input {
    const char *name;
    ft_dtype dtype;
    ft_shape shape;
    int64_t limit; /* of integers: values lie in [0, limit) */
} ft_model_input;

/* A device that an engine can be opened on. */
typedef struct ft_engine_device {
    char name[128];
    int is_host;        /* 1: this machine's processor */
    int is_used;        /* 1: the engine was opened on it */
    uint32_t units;     /* compute units: cores, multiprocessors */
    double clock_hz;    /* the highest; NaN: unknown */
    double memory_bytes;
} ft_engine_device;

typedef struct ft_engine {
    uint32_t abi; /* FT_ENGINE_ABI the plug-in was compiled with */
    const char *name;
    uint32_t policy; /* FT_POLICY_ bits of foretell/op.h: how graphs are run */

    /* The version of the engine below ("2.6.3"); static text. */
    const char *(*version)(void);
    /* 0: cannot run on this machine (*err says why and what would help);
     * otherwise higher is preferred. Called before anything else; must not
     * print, abort or start threads. */
    int (*score)(ft_error *err);

    ft_status (*open)(ft_engine_context **out, const ft_engine_config *cfg,
                      ft_error *err);
    void (*close)(ft_engine_context *c);
    /* Seconds of the engine's own clock: monotonic real time for real ones. */
    double (*now)(ft_engine_context *c);
    /* Wait until everything issued has run. */
    ft_status (*sync)(ft_engine_context *c, ft_error *err);

    /* Memory that operands may use, 64-byte aligned, on the device; NULL when
     * there is none left. */
    void *(*alloc)(ft_engine_context *c, uint64_t bytes);
    void (*release)(ft_engine_context *c, void *memory);
    /* Fill with values that keep arithmetic ordinary (no denormals, no NaN):
     * floats in [-1, 1), integers and booleans in [0, limit). */
    ft_status (*fill)(ft_engine_context *c, void *memory, ft_dtype dtype,
                      uint64_t elements, int64_t limit, uint64_t seed, ft_error *err);

    /* Make `instances` copies of an operation, each with its own weights:
     * random, scaled by 1/sqrt(fan-in) so that activations neither grow nor die
     * out, or, for tests, params[]: plain row-major fp32 in ONNX order (filter
     * as out x in/groups x kernel, a transposed one's as in x out/groups x
     * kernel, linear's as out x in; bias; norms: scale, shift (rmsnorm: scale
     * only), then mean, variance for batchnorm; embedding: rows x dim): the same
     * for every instance.
     * FT_EUNSUPPORTED: this engine does not run such an operation. */
    ft_status (*prepare)(ft_engine_context *c, ft_block **out, ft_block_info *info,
                         const ft_op *op, uint32_t instances,
                         const float *const *params, uint32_t n_params, ft_error *err);
    /* Issue instance i. in[] and out[] in the operation's order; workspace of
     * at least workspace_bytes, 64-byte aligned (NULL when that is 0). No
     * operand overlaps another. */
    ft_status (*run)(ft_block *b, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err);
    void (*free_block)(ft_block *b);

    /* Not NULL: operands are values; then alloc, release and prepare above are
     * NULL, fill() takes a value, and run() makes new values in out[], which the
     * caller drops. */
    const ft_engine_values *values;
    /* Not NULL: the engine also runs model files itself, as deployed; the
     * block's run() takes no operands then (inputs are the engine's own, random).
     * Where loads_graphs is 1, a file may also be a graph of operations, in lines:
     *   tensor <tab> in|weight|made fp32 1x3x8x8 NAME     each tensor
     *   op <tab> SPEC <tab> 0 <tab> 1 2 <tab> 3           each node in order: operands,
     *                           weights and results, by their place in the list above
     *   results <tab> 3 5                                 those of the network */
    ft_status (*load_model)(ft_engine_context *c, ft_block **out, ft_block_info *info,
                            const char *path, const ft_model_input *inputs,
                            uint32_t n_inputs, ft_error *err);
    int loads_graphs;
    /* Not NULL: bytes the engine's allocator holds for tensors now, and at most
     * since the last call with reset; 0 both where it cannot tell. */
    void (*memory)(ft_engine_context *c, uint64_t *now, uint64_t *peak, int reset);
    /* Not NULL: the i-th of the devices that the engine can be opened on, by its option
     * device=i; FT_ENOTFOUND behind the last. */
    ft_status (*device)(ft_engine_context *c, uint32_t i, ft_engine_device *out,
                        ft_error *err);
} ft_engine;

typedef const ft_engine *ft_engine_entry_fn(void);

/* Load one plug-in and check its ABI and score. *out lives until process end:
 * plug-ins may own threads, so they are never unloaded. FT_ENOTFOUND: no such
 * file or not a plug-in; FT_EBACKEND: another ABI; FT_EUNSUPPORTED: it cannot
 * run here, with its reason. */
FT_API ft_status ft_engine_load(const ft_engine **out, const char *path, ft_error *err);

FT_END_DECLS

#endif
