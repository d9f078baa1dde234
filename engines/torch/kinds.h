#ifndef TORCH_KINDS_H
#define TORCH_KINDS_H

#include "torch.h"

/* Builders, by file. What a kind's line in kinds.def names stands here. */

/* forward.c: convolutions and matrix products */
ft__build_fn ft__fwd_conv, ft__fwd_linear;
/* forward_unary.c */
ft__build_fn ft__fwd_unary;

#endif
