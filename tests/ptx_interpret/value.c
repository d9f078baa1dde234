#include "ptx/eval/lanes.h"
#include "ptx_interpret/machine.h"

/* What operands are, and where results go. */

static uint32_t thread_of(const ft__ptx_step *s, int lane)
{
    return s->w->number * FT__PTX_LANES + (uint32_t)lane;
}

/* %tid, %ntid, %ctaid, %nctaid: x, y, z of each. */
static uint64_t position(const ft__ptx_step *s, unsigned sreg, int lane)
{
    const uint32_t *block = s->k->l->block, *grid = s->k->l->grid,
                   t = thread_of(s, lane);

    switch (sreg) {
    case FT__SREG_TID:
    case FT__SREG_TID_X: return t % block[0];
    case FT__SREG_TID_Y: return t / block[0] % block[1];
    case FT__SREG_TID_Z: return t / block[0] / block[1];
    case FT__SREG_NTID:
    case FT__SREG_NTID_X: return block[0];
    case FT__SREG_NTID_Y: return block[1];
    case FT__SREG_NTID_Z: return block[2];
    case FT__SREG_CTAID:
    case FT__SREG_CTAID_X:
    case FT__SREG_CLUSTERID:
    case FT__SREG_CLUSTERID_X: return s->k->ctaid[0];
    case FT__SREG_CTAID_Y:
    case FT__SREG_CLUSTERID_Y: return s->k->ctaid[1];
    case FT__SREG_CTAID_Z:
    case FT__SREG_CLUSTERID_Z: return s->k->ctaid[2];
    case FT__SREG_NCTAID:
    case FT__SREG_NCTAID_X:
    case FT__SREG_NCLUSTERID:
    case FT__SREG_NCLUSTERID_X: return grid[0];
    case FT__SREG_NCTAID_Y:
    case FT__SREG_NCLUSTERID_Y: return grid[1];
    default: return grid[2];
    }
}

static uint64_t special(const ft__ptx_step *s, unsigned sreg, int lane)
{
    const uint32_t bit = (uint32_t)1 << lane;

    switch (sreg) {
    case FT__SREG_LANEID: return (uint64_t)lane;
    case FT__SREG_WARPID: return s->w->number;
    case FT__SREG_NWARPID: return s->k->n_warps;
    case FT__SREG_NSMID:
    case FT__SREG_CLUSTER_NCTAID:
    case FT__SREG_CLUSTER_NCTAID_X:
    case FT__SREG_CLUSTER_NCTAID_Y:
    case FT__SREG_CLUSTER_NCTAID_Z:
    case FT__SREG_CLUSTER_NCTARANK: return 1;
    case FT__SREG_LANEMASK_EQ: return bit;
    case FT__SREG_LANEMASK_LT: return bit - 1;
    case FT__SREG_LANEMASK_LE: return bit | (bit - 1);
    case FT__SREG_LANEMASK_GT: return (uint32_t) ~(bit | (bit - 1));
    case FT__SREG_LANEMASK_GE: return (uint32_t) ~(bit - 1);
    case FT__SREG_CLOCK:
    case FT__SREG_GLOBALTIMER_LO: return (uint32_t)s->k->steps;
    case FT__SREG_CLOCK64:
    case FT__SREG_GLOBALTIMER: return s->k->steps;
    case FT__SREG_TOTAL_SMEM_SIZE:
    case FT__SREG_AGGR_SMEM_SIZE: return s->k->shared_size;
    case FT__SREG_DYNAMIC_SMEM_SIZE: return s->k->l->dynamic_shared;
    default: break;
    }
    if (sreg == FT__SREG_TID_W || sreg == FT__SREG_CTAID_W ||
        sreg > FT__SREG_NCLUSTERID_Z)
        return 0;
    if (sreg == FT__SREG_NTID_W || sreg == FT__SREG_NCTAID_W)
        return 1;
    return position(s, sreg, lane);
}

static uint64_t address_of(const ft__ptx_step *s, const ft__ptx_operand *o)
{
    const ft__ptx_variable *v = &s->k->m->variable[o->index];
    uint64_t base = v->offset;

    if (v->space == FT_PTX_GLOBAL)
        base += FT__PTX_GLOBAL_BASE;
    else if (v->space == FT_PTX_SHARED && v->external)
        base = s->k->dynamic_base;
    else if (v->space == FT_PTX_SHARED && v->function >= 0)
        base += s->k->code[v->function].shared_base;
    else if (v->space == FT_PTX_LOCAL && v->function >= 0)
        base += (uint64_t)(s->frame - s->w->frame) << 32;
    return base + o->bits;
}

const uint64_t *ft__ptx_value(const ft__ptx_step *s, const ft__ptx_operand *o,
                              uint64_t own[FT__PTX_LANES])
{
    uint64_t v = 0;

    switch (o->kind) {
    case FT__PTX_REG: return s->frame->reg + (size_t)o->index * FT__PTX_LANES;
    case FT__PTX_SPECIAL:
        for (int l = 0; l < FT__PTX_LANES; l++)
            own[l] = special(s, o->index, l);
        return own;
    case FT__PTX_INT:
    case FT__PTX_FLOAT: v = ft__ptx_literal(s->i, o); break;
    case FT__PTX_VARIABLE: v = address_of(s, o); break;
    case FT__PTX_FUNCTION: v = (uint64_t)o->index + 1 + o->bits; break;
    default: break;
    }
    for (int l = 0; l < FT__PTX_LANES; l++)
        own[l] = v;
    return own;
}

void ft__ptx_put(const ft__ptx_step *s, const ft__ptx_operand *o, const uint64_t *v,
                 uint32_t mask)
{
    uint64_t *reg, m;

    if (o->kind != FT__PTX_REG)
        return;
    reg = s->frame->reg + (size_t)o->index * FT__PTX_LANES;
    m = ft__ptx_mask(ft__ptx_type_bits(s->f->reg[o->index].type));
    for (int l = 0; l < FT__PTX_LANES; l++)
        if (mask >> l & 1)
            reg[l] = v[l] & m;
}
