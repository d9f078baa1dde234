#ifndef TORCH_BACKWARD_H
#define TORCH_BACKWARD_H

#include "torch.h"

/* Gradients, losses and optimizers, as eager PyTorch runs them: the formulas of its
 * derivatives.yaml, and torch.optim's loops over single parameters. */

/* What is saved of the forward operation: FT_SAVE_X, _Y, _Z or _OUT. */
ft__reg ft__saved(const ft_block *b, uint32_t bit);
/* Result i is wanted: FT_WRT_ bits. */
bool ft__wants(const ft_block *b, uint32_t bit);
/* The gradient for operand x, y or z; weight i of ft_op_param(). */
void ft__give(ft_block *b, uint32_t bit, ft__reg r);
void ft__give_weight(ft_block *b, uint32_t i, ft__reg r);
/* A tensor that is none, where PyTorch wants one all the same. */
ft__reg ft__undefined(ft_block *b);
/* Of a shape that broadcasting made larger: summed to what it was. */
ft__reg ft__sum_to(ft_block *b, ft__reg r, const ft_shape *from, const ft_shape *to);
ft__reg ft__reshaped(ft_block *b, ft__reg r, const ft_shape *to);
ft__reg ft__mul(ft_block *b, ft__reg x, ft__reg y);
ft__reg ft__div(ft_block *b, ft__reg x, ft__reg y);
ft__reg ft__sum(ft_block *b, ft__reg x, const int64_t *axes, uint32_t n, bool keep);

ft__build_fn ft__bwd_conv, ft__bwd_linear, ft__bwd_matmul; /* backward_products.c */
ft__build_fn ft__bwd_formula, ft__bwd_activation;          /* backward_formulas.c */
ft__build_fn ft__bwd_batchnorm, ft__bwd_layernorm, ft__bwd_groupnorm, ft__bwd_rmsnorm,
    ft__bwd_instancenorm, ft__bwd_l2norm, ft__bwd_softmax, ft__bwd_dropout,
    ft__bwd_attention; /* backward_layers.c */
ft__build_fn ft__bwd_maxpool, ft__bwd_avgpool, ft__bwd_resize, ft__bwd_embedding,
    ft__bwd_reduce, ft__bwd_cumsum, ft__bwd_topk, ft__bwd_move; /* backward_moves.c */
ft__build_fn ft__fwd_cross_entropy, ft__bwd_cross_entropy, ft__fwd_mse,
    ft__bwd_mse;                                          /* loss.c */
ft__build_fn ft__opt_sgd, ft__opt_momentum, ft__opt_adam; /* optimizer.c */

#endif
