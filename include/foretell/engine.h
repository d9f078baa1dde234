#ifndef FT_ENGINE_H
#define FT_ENGINE_H

#include <stdint.h>

#include "foretell/error.h"
#include "foretell/op.h"

/* What a measurement plug-in exports. Raise FT_ENGINE_ABI whenever a struct
 * here changes; the loader refuses any other number. */
#define FT_ENGINE_ABI 2u
#define FT_ENGINE_ENTRY "ft_engine_entry"

/* One opened engine and one prepared operation; the engine defines both. */
typedef struct ft_engine_context ft_engine_context;
typedef struct ft_block ft_block;

typedef struct ft_engine_config {
    uint32_t threads; /* at least 1 */
    uint64_t seed;    /* of random weights and of planned faults */
    const char *options; /* engine's own "name=value,..." text, "" by default */
} ft_engine_config;

/* What preparing found out; all per instance. */
typedef struct ft_block_info {
    uint64_t weight_bytes;    /* as stored by the engine, padding included */
    uint64_t workspace_bytes; /* scratch needed while one instance runs */
    const char *implementation; /* the engine's name for the kernel; borrowed */
} ft_block_info;

/* Operands lie in memory as op->layout says (plain, or channels-last for every
 * tensor of rank 3 and more); index operands are int64, conditions and results
 * of comparisons one byte each.
 *
 * What a spec leaves open is the same in every engine:
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
} ft_engine;

typedef const ft_engine *ft_engine_entry_fn(void);

/* Load one plug-in and check its ABI and score. *out lives until process end:
 * plug-ins may own threads, so they are never unloaded. FT_ENOTFOUND: no such
 * file or not a plug-in; FT_EBACKEND: another ABI; FT_EUNSUPPORTED: it cannot
 * run here, with its reason. */
FT_API ft_status ft_engine_load(const ft_engine **out, const char *path, ft_error *err);

#endif
