/* kind and phase -> builder, from the one list. */
#include "kinds.h"

ft__build_fn *ft__builder(const ft_op *op)
{
    static ft__build_fn *const table[FT_KIND_COUNT][FT_PHASE_COUNT] = {
#define FT_TORCH(kind, phase, builder)                                                 \
    [FT_KIND_##kind][FT_PHASE_##phase] = ft__##builder,
#include "kinds.def"
#undef FT_TORCH
    };

    return table[op->kind][op->phase];
}
