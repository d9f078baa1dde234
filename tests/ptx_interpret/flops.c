#include "ptx_interpret/machine.h"

/* Floating-point operations: a sum or product is one, an fma two; a tensor instruction
 * two a product. */

/* Which of the three counts a type belongs to; -1: none. `pair`: two at once. */
static int kind_of(unsigned type, int *pair)
{
    *pair = type == FT__TYPE_F16X2 || type == FT__TYPE_BF16X2 || type == FT__TYPE_F32X2
                ? 2
                : 1;
    switch (type) {
    case FT__TYPE_F32:
    case FT__TYPE_F32X2: return 0;
    case FT__TYPE_F64: return 1;
    case FT__TYPE_F16:
    case FT__TYPE_BF16:
    case FT__TYPE_F16X2:
    case FT__TYPE_BF16X2: return 2;
    default: return -1;
    }
}

static uint64_t per_lane(unsigned opcode)
{
    switch (opcode) {
    case FT__PTX_ADD:
    case FT__PTX_SUB:
    case FT__PTX_MUL: return 1;
    case FT__PTX_FMA:
    case FT__PTX_MAD: return 2;
    default: return 0;
    }
}

/* Of one issue. Four of m8n8k4 go on at once, but for doubles; a warp does a quarter of
 * wgmma. */
static uint64_t of_tensors(const ft__ptx_step *s)
{
    const uint16_t *n = s->i->shape;
    const uint64_t all = (uint64_t)2 * n[0] * n[1] * n[2];

    if (s->i->class != FT_PTX_TENSOR)
        return 0;
    if (s->i->opcode == FT__PTX_MMA && n[2] == 4 && n[0] == 8 &&
        s->i->type[1] == FT__TYPE_F16)
        return 4 * all;
    return s->i->opcode == FT__PTX_WGMMA ? all / 4 : all;
}

void ft__ptx_count_flops(ft__ptx_step *s)
{
    int pair;
    const int kind = s->i->n_types > 0 ? kind_of(s->i->type[0], &pair) : -1;

    if (kind >= 0)
        s->k->count->flops[kind].value +=
            per_lane(s->i->opcode) * (uint64_t)pair * ft__ptx_count_lanes(s->on);
    if (s->on != 0)
        s->k->count->tensor_flops.value += of_tensors(s);
}
