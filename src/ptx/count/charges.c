/* What each block and each guarded instruction adds to the counts, gathered once. */
#include <stddef.h>
#include <stdlib.h>

#include "ptx/count/plan.h"
#include "ptx/count/work.h"

#define AT(member) ((uint32_t)offsetof(ft_ptx_counts, member))
#define TALLY(member, k) (AT(member) + (uint32_t)(k) * (uint32_t)sizeof(ft_ptx_tally))

struct gathering {
    ft__count_plan *p;
    size_t first; /* dues of this block, merged */
    bool short_of_memory;
};

static void owe(struct gathering *w, uint32_t item, uint32_t at, uint64_t amount)
{
    ft__count_plan *p = w->p;
    ft__due *grown;

    if (!amount)
        return;
    for (size_t k = w->first; k < p->n_dues; k++)
        if (p->due[k].item == item && p->due[k].at == at) {
            p->due[k].amount += amount;
            return;
        }
    grown = ft__list_grow(p->due, p->n_dues, &p->most_dues, sizeof(*grown));
    if (!grown) {
        w->short_of_memory = true;
        return;
    }
    p->due = grown;
    p->due[p->n_dues++] = (ft__due){item, at, amount};
}

static uint32_t width_of(uint32_t bytes)
{
    uint32_t width = 0;

    while (width < FT_PTX_WIDTHS - 1 && (1u << width) < bytes)
        width++;
    return width;
}

/* What one instruction moves and computes, where `threads` are those of an item that do
 * and `warps` the warps of these. */
static void owe_work(struct gathering *w, const ft__ptx_function *f,
                     const ft__ptx_insn *i, uint32_t threads, uint32_t warps)
{
    ft__traffic t[2];
    const uint32_t n = ft__ptx_traffic(t, f, i);
    unsigned which;
    const uint32_t flops = ft__ptx_flops(&which, f, i);

    for (uint32_t k = 0; k < n; k++) {
        const uint32_t pair = (uint32_t)t[k].space * 2 + t[k].store;

        owe(w, threads, TALLY(bytes, pair), t[k].bytes);
        owe(w, threads, TALLY(access, pair * FT_PTX_WIDTHS + width_of(t[k].bytes)), 1);
        if (t[k].space == FT_PTX_GLOBAL)
            owe(w, warps, TALLY(requests, t[k].store), 1);
        if (t[k].space == FT_PTX_SHARED)
            owe(w, warps, TALLY(shared, t[k].store), 1);
    }
    if (which < 3)
        owe(w, threads, TALLY(flops, which), flops);
    owe(w, warps, AT(tensor_flops), ft__ptx_tensor_flops(f, i));
    owe(w, warps, AT(descriptor_bytes), ft__ptx_descriptor_bytes(f, i));
}

static void owe_step(struct gathering *w, const ft__plan_part *part,
                     const ft__plan_step *s)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];

    w->first = w->p->n_dues; /* items of a step are its own */
    switch (s->kind) {
    case FT__STEP_ON:
        owe(w, s->item, TALLY(on, i->class), 1);
        owe_work(w, part->f, i, s->item, s->item + 1);
        break;
    case FT__STEP_ACCESS:
        owe(w, s->item + 1,
            s->space == FT_PTX_GLOBAL ? TALLY(sectors, s->store)
                                      : TALLY(wavefronts, s->store),
            1);
        break;
    case FT__STEP_BRANCH:
    case FT__STEP_INDEX:
        owe(w, s->item, TALLY(on, i->class), 1);
        owe(w, s->item + 1, AT(divergent), 1);
        break;
    default: break;
    }
}

static void owe_block(struct gathering *w, const ft__plan_part *part, uint32_t b)
{
    const ft__flow_block *block = &part->flow.block[b];
    const uint32_t warps = part->item[b], threads = part->item[b] + 1;

    w->first = w->p->n_dues;
    for (uint32_t k = block->first; k < block->end; k++) {
        const ft__ptx_insn *i = &part->f->insn[k];
        const ft__flow_kind kind = ft__flow_kind_of(i);

        owe(w, warps, TALLY(warp, i->class), 1);
        owe(w, threads, TALLY(thread, i->class), 1);
        if (kind == FT__FLOW_INDEX || (kind == FT__FLOW_BRANCH && i->guard >= 0))
            owe(w, warps, AT(branches), 1);
        if (i->guard < 0 && kind != FT__FLOW_INDEX && kind != FT__FLOW_BRANCH) {
            owe(w, threads, TALLY(on, i->class), 1);
            owe_work(w, part->f, i, threads, warps);
        }
    }
    for (uint32_t s = part->steps[b]; s < part->steps[b + 1]; s++)
        owe_step(w, part, &part->step[s]);
}

bool ft__plan_dues(ft__count_plan *p)
{
    struct gathering w = {.p = p};

    for (uint32_t n = 0; n < p->n_parts; n++)
        for (uint32_t b = 0; b < p->part[n].flow.n; b++)
            owe_block(&w, &p->part[n], b);
    return !w.short_of_memory;
}
