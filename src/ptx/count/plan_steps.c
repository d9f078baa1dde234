/* The steps of a kernel. In: its slice; out: for each block of code the steps that have
 * to be executed, with slots for what they read and write, and what each time of an
 * item adds to the counts. */
#include <stddef.h>

#include "ptx/count/plan.h"
#include "ptx/count/work.h"

/* A barrier of the block that a thread waits at. */
static bool waits(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    return (i->opcode == FT__PTX_BAR || i->opcode == FT__PTX_BARRIER) &&
           !ft__ptx_has(f, i, FT__MOD_WARP) && !ft__ptx_has(f, i, FT__MOD_CLUSTER) &&
           (ft__ptx_has(f, i, FT__MOD_SYNC) || ft__ptx_has(f, i, FT__MOD_RED));
}

struct builder {
    ft__count_plan *p;
    ft__plan_part *part;
    bool count; /* only how many there are */
    uint32_t calls, n_steps, n_sources, n_dests;
};

static ft__plan_step *add(struct builder *w, ft__step_kind kind, uint32_t insn)
{
    static const ft__plan_step none;
    ft__plan_step *s = w->count ? NULL : &w->part->step[w->n_steps];
    const ft__ptx_insn *i = &w->part->f->insn[insn];

    w->n_steps++;
    if (!s)
        return NULL;
    *s = none;
    s->kind = (uint8_t)kind;
    s->insn = insn;
    s->guard = i->guard < 0 ? FT__NO_SLOT : w->part->slot[i->guard];
    s->guard_not = i->guard_not;
    s->need = FT__HARD | FT__SOFT;
    s->dest = w->n_dests;
    s->source = w->n_sources;
    return s;
}

static void add_dest(struct builder *w, ft__plan_step *s, uint32_t slot)
{
    w->n_dests++;
    if (s)
        w->part->dest[s->dest + s->n_dest++] = slot;
}

static void add_source(struct builder *w, ft__plan_step *s, ft__step_source source)
{
    w->n_sources++;
    if (s)
        w->part->source[s->source + s->n_source++] = source;
}

static uint32_t two_items(struct builder *w)
{
    const uint32_t first = w->p->n_items;

    if (!w->count)
        w->p->n_items += 2;
    return first;
}

static ft__step_source source_of(const struct builder *w, const ft__ptx_insn *i,
                                 const ft__ptx_operand *o)
{
    switch (o->kind) {
    case FT__PTX_REG:
        return (ft__step_source){FT__SOURCE_SLOT, w->part->slot[o->index], 0};
    case FT__PTX_SPECIAL: return (ft__step_source){FT__SOURCE_SPECIAL, o->index, 0};
    case FT__PTX_VARIABLE:
        /* In its space; dynamic shared memory lies behind the declared. */
        return (ft__step_source){FT__SOURCE_CONSTANT, 0,
                                 w->p->m->variable[o->index].offset + o->bits};
    case FT__PTX_INT:
    case FT__PTX_FLOAT:
        return (ft__step_source){FT__SOURCE_CONSTANT, 0, ft__ptx_literal(i, o)};
    case FT__PTX_FUNCTION:
        return (ft__step_source){FT__SOURCE_CONSTANT, 0,
                                 (uint64_t)o->index + 1 + o->bits};
    default: return (ft__step_source){FT__SOURCE_CONSTANT, 0, 0};
    }
}

static void add_dests(struct builder *w, ft__plan_step *s, uint32_t k)
{
    const ft__plan_part *part = w->part;

    for (uint32_t r = part->refs[k]; r < part->ref_s[k]; r++)
        add_dest(w, s,
                 part->ref[r]->kind == FT__PTX_REG ? part->slot[part->ref[r]->index]
                                                   : FT__NO_SLOT);
}

static void add_sources(struct builder *w, ft__plan_step *s, uint32_t k)
{
    const ft__plan_part *part = w->part;

    for (uint32_t r = part->ref_s[k]; r < part->refs[k + 1]; r++)
        add_source(w, s, source_of(w, &part->f->insn[k], part->ref[r]));
}

static uint8_t need_of(const ft__plan_part *part, uint32_t k)
{
    uint8_t need = 0;

    for (uint32_t r = part->refs[k]; r < part->ref_s[k]; r++)
        if (part->ref[r]->kind == FT__PTX_REG)
            need |= part->need[part->ref[r]->index];
    return need;
}

/* Registers to cells or back, element by element. */
static void copy_cells(struct builder *w, uint32_t k, const ft__origin *at)
{
    const ft__plan_part *part = w->part;
    const ft__ptx_insn *i = &part->f->insn[k];
    const uint64_t bytes = ft__element_bytes(i);
    ft__plan_step *s = add(w, FT__STEP_COPY, k);
    const bool load = i->opcode == FT__PTX_LD;
    uint32_t e = 0;

    if (s)
        s->need = *ft__plan_need(w->p, at->variable);
    if (load) {
        add_dests(w, s, k);
        for (uint32_t r = part->refs[k]; r < part->ref_s[k]; r++, e++)
            add_source(w, s,
                       (ft__step_source){FT__SOURCE_SLOT,
                                         ft__plan_cell(part, at->variable,
                                                       at->offset + e * bytes, bytes),
                                         0});
        return;
    }
    for (uint32_t r = part->ref_s[k]; r < part->refs[k + 1]; r++) {
        const ft__ptx_operand *a = ft__plan_address(part->f, i, 0);

        if (part->ref[r] == &part->f->operand[a->index])
            continue;
        add_dest(w, s,
                 ft__plan_cell(part, at->variable, at->offset + e++ * bytes, bytes));
        add_source(w, s, source_of(w, i, part->ref[r]));
    }
}

static void load_step(struct builder *w, uint32_t k)
{
    const ft__plan_part *part = w->part;
    const ft__ptx_insn *i = &part->f->insn[k];
    const ft__ptx_operand *a = ft__plan_address(part->f, i, 0);
    ft__origin at;
    const ft__memory memory = ft__plan_memory(&at, w->p, part, i);
    ft__plan_step *s;

    if (memory == FT__MEMORY_CELLS) {
        copy_cells(w, k, &at);
    } else if (memory == FT__MEMORY_PARAM) {
        s = add(w, FT__STEP_PARAM, k);
        add_dests(w, s, k);
        if (s) {
            s->at = w->p->m->variable[at.variable].offset + at.offset;
            s->bytes = (uint32_t)ft__element_bytes(i);
            s->need = need_of(part, k);
        }
    } else if (i->n_types == 1 && i->space == FT_PTX_CONST && a) {
        s = add(w, FT__STEP_CONST, k);
        add_dests(w, s, k);
        add_source(w, s, source_of(w, i, &part->f->operand[a->index]));
        if (s) {
            s->at = a->bits;
            s->bytes = (uint32_t)ft__element_bytes(i);
            s->need = need_of(part, k);
        }
    } else {
        add_dests(w, add(w, FT__STEP_UNKNOWN, k), k);
    }
}

static void value_step(struct builder *w, uint32_t k)
{
    const ft__plan_part *part = w->part;
    const ft__ptx_insn *i = &part->f->insn[k];
    ft__origin at;
    ft__plan_step *s;

    if (i->opcode == FT__PTX_ST &&
        ft__plan_memory(&at, w->p, part, i) == FT__MEMORY_CELLS &&
        *ft__plan_need(w->p, at.variable)) {
        copy_cells(w, k, &at);
    } else if (!need_of(part, k) || i->opcode == FT__PTX_CALL) {
        return;
    } else if (i->opcode == FT__PTX_LD) {
        load_step(w, k);
    } else {
        const bool lanes = i->opcode == FT__PTX_VOTE || i->opcode == FT__PTX_ELECT ||
                           i->opcode == FT__PTX_ACTIVEMASK || i->opcode == FT__PTX_SHFL;
        const bool eval = !lanes && ft__ptx_computable(part->f, i);

        s = add(w, eval ? FT__STEP_EVAL : lanes ? FT__STEP_LANES : FT__STEP_UNKNOWN, k);
        add_dests(w, s, k);
        if (eval || lanes)
            add_sources(w, s, k);
        if (s)
            s->need = need_of(part, k);
    }
}

static void access_steps(struct builder *w, uint32_t k)
{
    const ft__ptx_insn *i = &w->part->f->insn[k];
    ft__work_traffic t[2];
    const uint32_t n = ft__work_moved(t, w->part->f, i, w->part->read);

    for (uint32_t e = 0; e < n; e++) {
        const ft__ptx_operand *a = ft__plan_address(w->part->f, i, t[e].operand);
        ft__plan_step *s;

        if ((t[e].space != FT_PTX_GLOBAL && t[e].space != FT_PTX_SHARED) || !a ||
            !t[e].bytes)
            continue;
        s = add(w, FT__STEP_ACCESS, k);
        if (i->opcode != FT__PTX_WMMA) /* has an address for all threads */
            add_source(w, s, source_of(w, i, &w->part->f->operand[a->index]));
        if (!s)
            continue;
        s->item = two_items(w);
        s->at = a->bits;
        s->space = t[e].space;
        if (s->space == FT_PTX_GLOBAL)
            s->reach = w->p->n_reaches++;
        s->store = t[e].store;
        s->bytes = t[e].bytes;
        if (i->opcode == FT__PTX_LDMATRIX || i->opcode == FT__PTX_STMATRIX) {
            /* Rows of 16 bytes, whose addresses the first threads give. */
            s->bytes = 16;
            s->matrix =
                i->vector >= 4 ? UINT32_MAX : ((uint32_t)1 << 8 * i->vector) - 1;
        }
    }
}

static void index_source(struct builder *w, ft__plan_step *s, const ft__ptx_insn *i)
{
    for (uint32_t o = 0; o < i->n_operands; o++) {
        const ft__ptx_operand *x = &w->part->f->operand[i->operands + o];

        if (x->kind != FT__PTX_TARGETS && x->kind != FT__PTX_LABEL) {
            add_source(w, s, source_of(w, i, x));
            return;
        }
    }
}

static void end_step(struct builder *w, uint32_t k)
{
    const ft__ptx_insn *i = &w->part->f->insn[k];
    ft__plan_step *s;

    switch (ft__flow_kind_of(i)) {
    case FT__FLOW_ON: return;
    case FT__FLOW_BRANCH:
        s = add(w, FT__STEP_BRANCH, k);
        if (s)
            s->item = two_items(w);
        break;
    case FT__FLOW_INDEX:
        s = add(w, FT__STEP_INDEX, k);
        index_source(w, s, i);
        if (s)
            s->item = two_items(w);
        break;
    case FT__FLOW_LEAVE: add(w, FT__STEP_LEAVE, k); break;
    case FT__FLOW_CALL:
        s = add(w, FT__STEP_CALL, k);
        if (s)
            s->call = w->calls;
        w->calls++;
        break;
    }
}

static void insn_steps(struct builder *w, uint32_t k)
{
    const ft__ptx_insn *i = &w->part->f->insn[k];
    const ft__flow_kind kind = ft__flow_kind_of(i);
    ft__plan_step *s;

    if (i->guard >= 0 && kind != FT__FLOW_BRANCH && kind != FT__FLOW_INDEX) {
        s = add(w, FT__STEP_ON, k);
        if (s)
            s->item = two_items(w);
    }
    if (waits(w->part->f, i))
        add(w, FT__STEP_BARRIER, k);
    access_steps(w, k);
    value_step(w, k);
    end_step(w, k);
}

static void block_steps(struct builder *w)
{
    const ft__flow *flow = &w->part->flow;

    w->calls = w->n_steps = w->n_sources = w->n_dests = 0;
    for (uint32_t b = 0; b < flow->n; b++) {
        if (!w->count) {
            w->part->steps[b] = w->n_steps;
            w->part->item[b] = two_items(w);
        }
        for (uint32_t k = flow->block[b].first; k < flow->block[b].end; k++)
            insn_steps(w, k);
    }
    if (!w->count) {
        w->part->steps[flow->n] = w->n_steps;
        w->part->item[flow->n] = w->p->n_items;
    }
}

static bool part_steps(ft__count_plan *p, ft__plan_part *part)
{
    struct builder w = {.p = p, .part = part, .count = true};
    const size_t n = part->flow.n;

    block_steps(&w);
    part->n_steps = w.n_steps;
    part->first_step = p->n_steps;
    p->n_steps += w.n_steps;
    part->n_sources = w.n_sources;
    part->n_dests = w.n_dests;
    part->step = ft__arena_array(&p->arena, (size_t)w.n_steps + 1, sizeof(*part->step));
    part->source =
        ft__arena_array(&p->arena, (size_t)w.n_sources + 1, sizeof(*part->source));
    part->dest = ft__arena_array(&p->arena, (size_t)w.n_dests + 1, sizeof(*part->dest));
    part->steps = ft__arena_array(&p->arena, n + 1, sizeof(*part->steps));
    part->item = ft__arena_array(&p->arena, n + 1, sizeof(*part->item));
    if (!part->step || !part->source || !part->dest || !part->steps || !part->item)
        return false;
    w.count = false;
    block_steps(&w);
    return true;
}

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
static void owe_work(struct gathering *w, const ft__plan_part *part,
                     const ft__ptx_insn *i, uint32_t threads, uint32_t warps)
{
    ft__work_traffic t[2];
    const uint32_t n = ft__work_moved(t, part->f, i, part->read);
    unsigned which;
    const uint32_t flops = ft__work_flops(&which, i);

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
    owe(w, warps, AT(tensor_flops), ft__work_tensor_flops(i));
    owe(w, warps, AT(descriptor_bytes), ft__work_descriptor_bytes(part->f, i));
}

static void owe_step(struct gathering *w, const ft__plan_part *part,
                     const ft__plan_step *s)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];

    w->first = w->p->n_dues; /* items of a step are its own */
    switch (s->kind) {
    case FT__STEP_ON:
        owe(w, s->item, TALLY(on, i->class), 1);
        owe_work(w, part, i, s->item, s->item + 1);
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

        if (i->implied)
            continue;
        owe(w, warps, TALLY(warp, i->class), 1);
        owe(w, threads, TALLY(thread, i->class), 1);
        if (kind == FT__FLOW_INDEX || (kind == FT__FLOW_BRANCH && i->guard >= 0))
            owe(w, warps, AT(branches), 1);
        if (i->guard < 0 && kind != FT__FLOW_INDEX && kind != FT__FLOW_BRANCH) {
            owe(w, threads, TALLY(on, i->class), 1);
            owe_work(w, part, i, threads, warps);
        }
    }
    for (uint32_t s = part->steps[b]; s < part->steps[b + 1]; s++)
        owe_step(w, part, &part->step[s]);
}

/* What each block and each guarded instruction adds to the counts. */
static bool find_dues(ft__count_plan *p)
{
    struct gathering w = {.p = p};

    for (uint32_t n = 0; n < p->n_parts; n++)
        for (uint32_t b = 0; b < p->part[n].flow.n; b++)
            owe_block(&w, &p->part[n], b);
    return !w.short_of_memory;
}

static bool list_reaches(ft__count_plan *p)
{
    p->reach_item =
        ft__arena_array(&p->arena, (size_t)p->n_reaches + 1, sizeof(*p->reach_item));
    for (uint32_t n = 0; p->reach_item && n < p->n_parts; n++)
        for (uint32_t s = 0; s < p->part[n].n_steps; s++) {
            const ft__plan_step *step = &p->part[n].step[s];

            if (step->kind == FT__STEP_ACCESS && step->space == FT_PTX_GLOBAL)
                p->reach_item[step->reach] = step->item;
        }
    return p->reach_item != NULL;
}

bool ft__plan_steps(ft__count_plan *p)
{
    for (uint32_t n = 0; n < p->n_parts; n++)
        if (!part_steps(p, &p->part[n]))
            return false;
    p->barrier = p->n_items;
    p->n_items += 32;
    return list_reaches(p) && find_dues(p);
}
