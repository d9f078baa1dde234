#ifndef TORCH_BLOCK_H
#define TORCH_BLOCK_H

#include "torch.h"

/* The calls of a block, as block.c writes them down and run.c goes through them. */

typedef enum ft__step_kind {
    FT__STEP_DISPATCH, /* torch_call_dispatcher() */
    FT__STEP_NATIVE,   /* at::_ops::NAME::call() */
    FT__STEP_OVER,     /* the same, over its first argument */
    FT__STEP_ADD,      /* aoti_torch_DEVICE_add_Tensor() */
} ft__step_kind;

enum { FT__MAX_NATIVE = 7 }; /* arguments of a C++ function */

/* Name of the operation called, for people; as snprintf(). */
int ft__step_name(const ft__step *s, char *buf, size_t size, bool plus);

#endif
