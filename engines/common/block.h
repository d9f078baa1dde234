#ifndef COMMON_BLOCK_H
#define COMMON_BLOCK_H

#include "foretell/engine.h"

/* Blocks of engines over a runtime that has its own: an operation's, or a whole model.
 */
struct ft_block {
    ft_engine_context *ctx;
    uint32_t instances;
    ft_status (*run)(ft_block *b, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err);
    void (*free)(ft_block *b);
};

/* Each engine's own, for messages. */
extern const char ft__engine_name[];

/* Members of ft_engine. */
ft_status ft__block_run(ft_block *b, uint32_t instance, const void *const *in,
                        void *const *out, void *workspace, ft_error *err);
void ft__block_free(ft_block *b);
/* Each engine's own, in ops.c and network.c. */
ft_status ft__op_block(ft_engine_context *c, ft_block **out, ft_block_info *info,
                       const ft_op *op, uint32_t instances, const float *const *params,
                       uint32_t n_params, ft_error *err);
ft_status ft__network_block(ft_engine_context *c, ft_block **out, ft_block_info *info,
                            const char *path, const ft_model_input *inputs,
                            uint32_t n_inputs, ft_error *err);

ft_status ft__unsupported(const ft_op *op, const char *why, ft_error *err);
ft_status ft__no_memory(ft_error *err);
/* What no such engine runs, with the reason: other phases, other layouts, more weights
 * than any machine holds, other weights than the operation has. */
ft_status ft__request_check(const ft_op *op, uint32_t instances,
                            const float *const *params, uint32_t n_params,
                            ft_error *err);

#endif
