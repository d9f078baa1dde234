/* The steps of a kernel. In: its slice; out: for each block of code the steps that have
 * to be executed, with slots for what they read and write. */
#include "ptx/count/plan.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/count/work.h"

/* ---- cells ---- */

static int by_place(const void *a, const void *b)
{
    const ft__memory_cell *p = a, *q = b;

    if (p->variable != q->variable)
        return p->variable < q->variable ? -1 : 1;
    if (p->offset != q->offset)
        return p->offset < q->offset ? -1 : 1;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

uint32_t ft__plan_cell(const ft__plan_part *part, uint32_t variable, uint64_t offset,
                       uint64_t bytes)
{
    const ft__memory_cell key = {
        .variable = variable, .offset = offset, .bytes = bytes};
    const ft__memory_cell *c =
        bsearch(&key, part->cell, part->n_cells, sizeof(key), by_place);

    return c ? c->slot : FT__NO_SLOT;
}

static uint64_t element_bytes(const ft__ptx_insn *i)
{
    return (ft__ptx_type_bits(i->type[0]) + 7) / 8;
}

/* All that loads and stores name; what overlaps otherwise is followed no more. */
static bool find_cells(ft__count_plan *p, ft__plan_part *part)
{
    const ft__ptx_function *f = part->f;
    ft__origin at;
    size_t n = 0;
    uint32_t kept = 0;

    for (uint32_t k = 0; k < f->n_insns; k++)
        if (ft__plan_cells(&at, p, part, &f->insn[k]) && *ft__plan_need(p, at.variable))
            n += f->insn[k].vector;
    part->cell = ft__arena_array(&p->arena, n + 1, sizeof(*part->cell));
    if (!part->cell)
        return false;
    n = 0;
    for (uint32_t k = 0; k < f->n_insns; k++)
        if (ft__plan_cells(&at, p, part, &f->insn[k]) && *ft__plan_need(p, at.variable))
            for (uint32_t e = 0; e < f->insn[k].vector; e++)
                part->cell[n++] = (ft__memory_cell){
                    .variable = at.variable,
                    .offset = at.offset + e * element_bytes(&f->insn[k]),
                    .bytes = element_bytes(&f->insn[k])};
    qsort(part->cell, n, sizeof(*part->cell), by_place);
    for (size_t k = 0; k < n; k++) {
        ft__memory_cell *last = kept ? &part->cell[kept - 1] : NULL;

        if (last && by_place(last, &part->cell[k]) == 0)
            continue;
        if (last && last->variable == part->cell[k].variable &&
            part->cell[k].offset - last->offset < last->bytes)
            p->escaped[last->variable - p->first_variable] = true;
        part->cell[kept++] = part->cell[k];
    }
    part->n_cells = kept;
    return true;
}

/* ---- slots ---- */

static bool give_slots(ft__count_plan *p, ft__plan_part *part)
{
    const ft__ptx_function *f = part->f;
    const size_t most = (size_t)f->n_regs + part->n_cells + 1;

    part->slot = ft__arena_array(&p->arena, (size_t)f->n_regs + 1, sizeof(*part->slot));
    part->bits = ft__arena_array(&p->arena, most, sizeof(*part->bits));
    part->hard = ft__arena_array(&p->arena, most, sizeof(*part->hard));
    if (!part->slot || !part->bits || !part->hard)
        return false;
    for (uint32_t r = 0; r < f->n_regs; r++) {
        const uint32_t bits = ft__ptx_type_bits(f->reg[r].type);

        part->slot[r] = FT__NO_SLOT;
        if (!part->need[r])
            continue;
        part->hard[part->n_slots] = part->need[r] & FT__HARD;
        part->bits[part->n_slots] = (uint8_t)(bits < 64 ? bits : 64);
        part->slot[r] = part->n_slots++;
    }
    for (uint32_t c = 0; c < part->n_cells; c++) {
        part->hard[part->n_slots] =
            *ft__plan_need(p, part->cell[c].variable) & FT__HARD;
        part->bits[part->n_slots] =
            (uint8_t)(part->cell[c].bytes < 8 ? part->cell[c].bytes * 8 : 64);
        part->cell[c].slot = part->n_slots++;
    }
    for (uint32_t c = 0; c < part->n_calls; c++)
        if (part->call[c].pointer != FT__NO_SLOT)
            part->call[c].pointer = part->slot[part->call[c].pointer];
    return true;
}

/* ---- steps ---- */

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

static uint32_t items(struct builder *w, uint32_t n)
{
    const uint32_t first = w->p->n_items;

    if (!w->count)
        w->p->n_items += n;
    return first;
}

/* Where variables lie in their space; dynamic shared memory behind the declared. */
static uint64_t address_of(const struct builder *w, const ft__ptx_operand *o)
{
    const ft__ptx_variable *v = &w->p->m->variable[o->index];

    return v->offset + o->bits;
}

static ft__step_source source_of(const struct builder *w, const ft__ptx_insn *i,
                                 const ft__ptx_operand *o)
{
    switch (o->kind) {
    case FT__PTX_REG:
        return (ft__step_source){FT__SOURCE_SLOT, w->part->slot[o->index], 0};
    case FT__PTX_SPECIAL: return (ft__step_source){FT__SOURCE_SPECIAL, o->index, 0};
    case FT__PTX_VARIABLE:
        return (ft__step_source){FT__SOURCE_CONSTANT, 0, address_of(w, o)};
    case FT__PTX_INT:
    case FT__PTX_FLOAT:
        return (ft__step_source){FT__SOURCE_CONSTANT, 0, ft__ptx_literal(i, o)};
    case FT__PTX_FUNCTION:
        return (ft__step_source){FT__SOURCE_CONSTANT, 0, (uint64_t)o->index + 1};
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
    const uint64_t bytes = element_bytes(i);
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
    ft__plan_step *s;

    if (ft__plan_cells(&at, w->p, part, i)) {
        copy_cells(w, k, &at);
    } else if (i->n_types == 1 && ft__plan_place(&at, part, a) &&
               ft__plan_is_param(w->p->m, at.variable)) {
        s = add(w, FT__STEP_PARAM, k);
        add_dests(w, s, k);
        if (s) {
            s->at = w->p->m->variable[at.variable].offset + at.offset;
            s->bytes = (uint32_t)element_bytes(i);
            s->need = need_of(part, k);
        }
    } else if (i->n_types == 1 && i->space == FT_PTX_CONST && a) {
        s = add(w, FT__STEP_CONST, k);
        add_dests(w, s, k);
        add_source(w, s, source_of(w, i, &part->f->operand[a->index]));
        if (s) {
            s->at = a->bits;
            s->bytes = (uint32_t)element_bytes(i);
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

    if (i->opcode == FT__PTX_ST && ft__plan_cells(&at, w->p, part, i) &&
        *ft__plan_need(w->p, at.variable)) {
        copy_cells(w, k, &at);
    } else if (!need_of(part, k) || i->opcode == FT__PTX_CALL) {
        return;
    } else if (i->opcode == FT__PTX_LD) {
        load_step(w, k);
    } else {
        const bool lanes = i->opcode == FT__PTX_VOTE || i->opcode == FT__PTX_ELECT ||
                           i->opcode == FT__PTX_ACTIVEMASK;
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
    ft__traffic t[2];
    const uint32_t n = ft__ptx_traffic(t, w->part->f, i);

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
        s->item = items(w, 2);
        s->at = a->bits;
        s->space = t[e].space;
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
            s->item = items(w, 2);
        break;
    case FT__FLOW_INDEX:
        s = add(w, FT__STEP_INDEX, k);
        index_source(w, s, i);
        if (s)
            s->item = items(w, 2);
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
            s->item = items(w, 2);
    }
    if (ft__ptx_waits(w->part->f, i))
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
            w->part->item[b] = items(w, 2);
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

bool ft__plan_steps(ft__count_plan *p)
{
    for (uint32_t n = 0; n < p->n_parts; n++)
        if (!find_cells(p, &p->part[n]))
            return false;
    for (uint32_t n = 0; n < p->n_parts; n++)
        if (!give_slots(p, &p->part[n]) || !part_steps(p, &p->part[n]))
            return false;
    p->barrier = p->n_items;
    p->n_items += 32;
    return true;
}

/* ---- parameters ---- */

static bool find_reads(ft__count_plan *p)
{
    const uint64_t n = p->part[0].f->param_bytes;

    p->reads = ft__arena_array(&p->arena, (size_t)n + 1, sizeof(*p->reads));
    for (uint32_t k = 0; p->reads && k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++) {
            const ft__plan_step *step = &p->part[k].step[s];
            const uint64_t end = step->at + (uint64_t)step->n_dest * step->bytes;

            for (uint64_t b = step->at;
                 step->kind == FT__STEP_PARAM && b < end && b < n; b++)
                p->reads[b] = true;
        }
    return p->reads != NULL;
}

/* ---- the whole ---- */

static bool calls(const ft__ptx_function *f)
{
    uint32_t k = 0;

    while (k < f->n_insns && f->insn[k].opcode != FT__PTX_CALL)
        k++;
    return k < f->n_insns;
}

static ft_status make(ft__count_plan *p, uint32_t function, ft_error *err)
{
    ft_status st = FT_OK;

    p->calls = calls(&p->m->function[function]);
    if (!ft__plan_slice(p, function))
        return FT_ENOMEM;
    for (uint32_t n = 0; n < p->n_parts && !st; n++)
        st = ft__flow_make(&p->part[n].flow, &p->arena, p->m, p->part[n].f, err);
    if (st)
        return st;
    if (!ft__plan_steps(p) || !find_reads(p))
        return FT_ENOMEM;
    for (uint32_t n = 0; n < p->n_parts; n++)
        if (!ft__plan_live(p, &p->part[n]) || !ft__plan_signs(p, &p->part[n]))
            return FT_ENOMEM;
    return ft__plan_dues(p) ? FT_OK : FT_ENOMEM;
}

ft_status ft__ptx_plan_make(ft__count_plan **out, const ft_ptx *m, uint32_t function,
                            ft_error *err)
{
    ft__count_plan *p = calloc(1, sizeof(*p));
    ft_status st;

    *out = NULL;
    if (p)
        p->m = m;
    st = p ? make(p, function, err) : FT_ENOMEM;
    if (st) {
        ft__ptx_plan_free(p);
        return st == FT_ENOMEM ? ft_fail(err, st, 0, "no memory to analyse %s",
                                         m->function[function].name)
                               : st;
    }
    *out = p;
    return FT_OK;
}

void ft__ptx_plan_free(ft__count_plan *p)
{
    if (!p)
        return;
    ft__arena_free(&p->arena);
    free(p->due);
    free(p);
}
