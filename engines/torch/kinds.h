#ifndef TORCH_KINDS_H
#define TORCH_KINDS_H

#include "backward.h"

/* Builders, by file: what the lines of kinds.def name. */

/* forward.c: convolutions, products, attention, recurrent layers */
ft__build_fn ft__fwd_conv, ft__fwd_conv_transpose, ft__fwd_linear, ft__fwd_matmul,
    ft__fwd_attention, ft__fwd_rnn;
/* Padding in front of n spatial axes; false: it differs from side to side. */
bool ft__pads(const ft_op *op, int64_t *pad, uint32_t n);
/* x with `with` around it, pad[] all 0: what padding the operation cannot do itself
 * becomes. */
ft__reg ft__padded(ft_block *b, ft__reg x, int64_t *pad, uint32_t n, double with);
/* Which attention runs when a backward operation follows, and what it keeps: on the
 * CPU log-sum-exp; on CUDA that, two empty tensors, seed and offset, or that, seed and
 * offset; the weights. */
typedef enum ft__attention {
    FT__ATTENTION_FLASH,
    FT__ATTENTION_FLASH_CUDA,
    FT__ATTENTION_EFFICIENT,
    FT__ATTENTION_MATH,
} ft__attention;
ft__attention ft__attention_way(const ft_block *b);
/* Zeros of length of queries x length of keys, added to the scores; FT__NO_REG: no
 * mask. */
ft__reg ft__attention_mask(ft_block *b);

/* forward_pool.c */
ft__build_fn ft__fwd_maxpool, ft__fwd_avgpool, ft__fwd_global_pool, ft__fwd_resize,
    ft__fwd_grid_sample, ft__fwd_max_unpool;

/* forward_norm.c */
ft__build_fn ft__fwd_batchnorm, ft__fwd_layernorm, ft__fwd_rmsnorm, ft__fwd_groupnorm,
    ft__fwd_instancenorm, ft__fwd_lrn, ft__fwd_l2norm, ft__fwd_softmax;
/* Training a batchnorm in fp32 with three axes and more on CUDA is cuDNN's; it keeps
 * mean, deviation and a reserve. */
bool ft__norm_is_cudnn(const ft_block *b);

/* forward_unary.c: elementwise */
ft__build_fn ft__fwd_unary, ft__fwd_gelu, ft__fwd_scalars, ft__fwd_softsign,
    ft__fwd_dropout, ft__fwd_cast, ft__fwd_quantize, ft__fwd_dequantize, ft__fwd_add,
    ft__fwd_binary, ft__fwd_where;

/* forward_reduce.c */
ft__build_fn ft__fwd_reduce, ft__fwd_arg, ft__fwd_cumsum, ft__fwd_topk, ft__fwd_det,
    ft__fwd_fft;
/* Root of the sum of squares along axes. */
ft__reg ft__norm2(ft_block *b, const int64_t *axes, uint32_t n, bool keep);

/* forward_move.c */
ft__build_fn ft__fwd_transpose, ft__fwd_split, ft__fwd_slice, ft__fwd_expand,
    ft__fwd_view, ft__fwd_concat, ft__fwd_pad, ft__fwd_tile, ft__fwd_blocks,
    ft__fwd_copy, ft__fwd_made, ft__fwd_gather, ft__fwd_embedding,
    ft__fwd_gather_elements, ft__fwd_gather_nd, ft__fwd_scatter, ft__fwd_one_hot;
/* The axis of `more` that `less` lacks; more->rank: it is not that alone. */
uint32_t ft__axis_apart(const ft_shape *more, const ft_shape *less);
/* The first index along an axis, which is lost. */
ft__reg ft__select_first(ft_block *b, ft__reg r, uint32_t axis);

/* at::_ops names that several files use */
#define FT__NATIVE_POW                                                                 \
    "_ZN2at4_ops17pow_Tensor_Scalar4callERKNS_6TensorERKN3c106ScalarE"

#endif
