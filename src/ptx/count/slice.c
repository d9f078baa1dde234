/* Backward slices: which registers and which memory of its own a kernel's guards,
 * branches, calls and addresses come from, through all functions it calls; each gets a
 * slot. */
#include <stdlib.h>
#include <string.h>

#include "ptx/count/plan.h"

/* Rounds over the text until nothing changes; more need everything. */
enum { MOST_ROUNDS = 64 };

static bool origin_of(ft__origin *out, const ft__plan_part *part,
                      const ft__ptx_operand *o)
{
    if (o->kind == FT__PTX_VARIABLE) {
        *out = (ft__origin){true, o->index, o->bits};
        return true;
    }
    if (o->kind != FT__PTX_REG || !part->origin || !part->origin[o->index].known)
        return false;
    *out = part->origin[o->index];
    return true;
}

/* Where [a] of an instruction lies; false: not in one place. */
static bool place_of(ft__origin *out, const ft__plan_part *part,
                     const ft__ptx_operand *address)
{
    if (!address || address->kind != FT__PTX_ADDRESS ||
        !origin_of(out, part, &part->f->operand[address->index]))
        return false;
    out->offset += address->bits;
    return true;
}

/* What a register holds that is written once, as address plus number. */
static bool step_of(ft__origin *out, const ft__plan_part *part, const ft__ptx_insn *i)
{
    const ft__ptx_operand *a = &part->f->operand[i->operands];

    if (i->n_operands < 2 || a->kind != FT__PTX_REG || i->guard >= 0)
        return false;
    switch (i->opcode) {
    case FT__PTX_MOV:
    case FT__PTX_CVTA: return i->vector == 1 && origin_of(out, part, a + 1);
    case FT__PTX_ADD:
        if (i->n_operands < 3 || a[2].kind != FT__PTX_INT ||
            !origin_of(out, part, a + 1))
            return false;
        out->offset += a[2].bits;
        return true;
    default: return false;
    }
}

static bool find_origins(ft__count_plan *p, ft__plan_part *part, ft__arena *work)
{
    const ft__ptx_function *f = part->f;
    uint8_t *writes = ft__arena_array(work, (size_t)f->n_regs + 1, 1);

    part->origin =
        ft__arena_array(&p->arena, (size_t)f->n_regs + 1, sizeof(*part->origin));
    if (!writes || !part->origin)
        return false;
    for (uint32_t k = 0; k < f->n_insns; k++)
        for (uint32_t r = part->refs[k]; r < part->ref_s[k]; r++)
            if (part->ref[r]->kind == FT__PTX_REG && writes[part->ref[r]->index] < 2)
                writes[part->ref[r]->index]++;
    for (uint32_t k = 0; k < f->n_params; k++)
        for (uint32_t e = 0; f->param[k].is_reg && e < f->param[k].n; e++)
            writes[f->param[k].index + e] = 2;
    for (uint32_t r = 0; r < f->n_module_regs; r++)
        writes[r] = 2;
    for (uint32_t k = 0; k < f->n_insns; k++) {
        const ft__ptx_operand *d = &f->operand[f->insn[k].operands];
        ft__origin o;

        if (step_of(&o, part, &f->insn[k]) && writes[d->index] == 1)
            part->origin[d->index] = o;
    }
    return true;
}

static bool find_refs(ft__count_plan *p, ft__plan_part *part, ft__arena *work)
{
    const ft__ptx_function *f = part->f;
    ft__ptx_leaves *leaves = ft__arena_alloc(work, sizeof(*leaves));
    size_t n = 0;

    part->refs = ft__arena_array(&p->arena, (size_t)f->n_insns + 1, sizeof(uint32_t));
    part->ref_s = ft__arena_array(&p->arena, (size_t)f->n_insns + 1, sizeof(uint32_t));
    part->ref = ft__arena_array(&p->arena, (size_t)f->n_operands * 2 + f->n_insns + 1,
                                sizeof(*part->ref));
    part->read = ft__arena_array(&p->arena, (size_t)f->n_regs + 1, sizeof(bool));
    if (!leaves || !part->refs || !part->ref_s || !part->ref || !part->read)
        return false;
    for (uint32_t k = 0; k < f->n_insns; k++) {
        ft__ptx_leaves_of(leaves, f, &f->insn[k]);
        part->refs[k] = (uint32_t)n;
        for (uint32_t d = 0; d < leaves->n_d; d++)
            part->ref[n++] = leaves->d[d];
        part->ref_s[k] = (uint32_t)n;
        for (uint32_t s = 0; s < leaves->n_s; s++) {
            part->ref[n++] = leaves->s[s];
            if (leaves->s[s]->kind == FT__PTX_REG)
                part->read[leaves->s[s]->index] = true;
        }
    }
    part->refs[f->n_insns] = (uint32_t)n;
    return true;
}

static bool is_param(const ft_ptx *m, uint32_t variable)
{
    const int32_t of = m->variable[variable].function;
    const ft__ptx_function *f = of < 0 ? NULL : &m->function[of];

    if (!f || !f->entry || m->variable[variable].space != FT_PTX_PARAM)
        return false;
    for (uint32_t k = 0; k < f->n_params; k++)
        if (f->param[k].index == variable)
            return true;
    return false;
}

/* Each thread's own, in reach of this function alone; of what is no parameter of a
 * kernel. */
static bool own_memory(const ft_ptx *m, uint32_t variable)
{
    const ft__ptx_variable *v = &m->variable[variable];

    return (v->space == FT_PTX_LOCAL || v->space == FT_PTX_PARAM) && !v->external &&
           v->function >= 0;
}

ft__memory ft__plan_memory(ft__origin *at, const ft__count_plan *p,
                           const ft__plan_part *part, const ft__ptx_insn *i)
{
    if ((i->opcode != FT__PTX_LD && i->opcode != FT__PTX_ST) || i->n_types != 1 ||
        !place_of(at, part, ft__plan_address(part->f, i, 0)))
        return FT__MEMORY_OTHER;
    if (is_param(p->m, at->variable))
        return FT__MEMORY_PARAM;
    return own_memory(p->m, at->variable) &&
                   !p->escaped[at->variable - p->first_variable]
               ? FT__MEMORY_CELLS
               : FT__MEMORY_OTHER;
}

static bool in_cells(ft__origin *at, const ft__count_plan *p, const ft__plan_part *part,
                     const ft__ptx_insn *i)
{
    return ft__plan_memory(at, p, part, i) == FT__MEMORY_CELLS;
}

/* It may be one of the parts' own, of which there is more to know. */
static bool is_own(const ft__count_plan *p, uint32_t variable)
{
    return variable - p->first_variable < p->n_variables;
}

/* Addresses that are more than the place of a load or store. */
static void find_escapes(ft__count_plan *p, const ft__plan_part *part)
{
    const ft__ptx_function *f = part->f;

    for (uint32_t k = 0; k < f->n_insns; k++) {
        const ft__ptx_insn *i = &f->insn[k];
        const ft__ptx_operand *d = &f->operand[i->operands];
        const bool moves =
            i->n_operands && d->kind == FT__PTX_REG && part->origin[d->index].known;
        const ft__ptx_operand *a = ft__plan_address(f, i, 0);
        ft__origin o;

        if (moves || i->opcode == FT__PTX_CALL)
            continue;
        for (uint32_t r = part->ref_s[k]; r < part->refs[k + 1]; r++)
            if (origin_of(&o, part, part->ref[r]) && is_own(p, o.variable) &&
                !(a && part->ref[r] == &f->operand[a->index] &&
                  (i->opcode == FT__PTX_LD || i->opcode == FT__PTX_ST) &&
                  i->n_types == 1))
                p->escaped[o.variable - p->first_variable] = true;
    }
}

struct slicer {
    ft__count_plan *p;
    uint32_t *part_of; /* by function; NULL: no calls */
    bool changed;
};

static void need_reg(struct slicer *s, ft__plan_part *part, uint32_t reg, uint8_t need)
{
    if ((part->need[reg] | need) != part->need[reg]) {
        part->need[reg] |= need;
        s->changed = true;
    }
}

static void need_variable(struct slicer *s, uint32_t variable, uint8_t need)
{
    uint8_t *now = ft__plan_need(s->p, variable);

    if ((*now | need) != *now) {
        *now |= need;
        s->changed = true;
    }
}

static void need_operand(struct slicer *s, ft__plan_part *part,
                         const ft__ptx_operand *o, uint8_t need)
{
    if (o->kind == FT__PTX_REG)
        need_reg(s, part, o->index, need);
    else if (o->kind == FT__PTX_VARIABLE &&
             s->p->m->variable[o->index].space == FT_PTX_PARAM)
        need_variable(s, o->index, need);
}

/* Of its destinations, registers and what it stores to; of shfl d|p only p. */
static uint8_t needed(const ft__count_plan *p, const ft__plan_part *part, uint32_t k)
{
    const bool shuffle = part->f->insn[k].opcode == FT__PTX_SHFL;
    ft__origin at;
    uint8_t need = 0;

    for (uint32_t r = part->refs[k] + shuffle; r < part->ref_s[k]; r++)
        if (part->ref[r]->kind == FT__PTX_REG)
            need |= part->need[part->ref[r]->index];
    if (part->f->insn[k].opcode == FT__PTX_ST &&
        in_cells(&at, p, part, &part->f->insn[k]))
        need |= *ft__plan_need(p, at.variable);
    return need;
}

static bool across_lanes(const ft__ptx_insn *i)
{
    return i->opcode == FT__PTX_VOTE || i->opcode == FT__PTX_ELECT ||
           i->opcode == FT__PTX_SHFL;
}

static void look_back(struct slicer *s, ft__plan_part *part, uint32_t k)
{
    const ft__ptx_function *f = part->f;
    const ft__ptx_insn *i = &f->insn[k];
    const uint8_t need = needed(s->p, part, k);
    ft__origin at;

    if (!need)
        return;
    if (i->opcode == FT__PTX_LD && in_cells(&at, s->p, part, i)) {
        need_variable(s, at.variable, need);
    } else if (ft__ptx_computable(f, i) || across_lanes(i) || i->opcode == FT__PTX_ST ||
               (i->opcode == FT__PTX_LD && i->space == FT_PTX_CONST)) {
        const bool shuffle = i->opcode == FT__PTX_SHFL; /* a, b, c, mask: b and c */
        const uint32_t from = part->ref_s[k] + shuffle;

        for (uint32_t r = from; r < part->refs[k + 1] && !(shuffle && r > from + 1);
             r++)
            if (part->ref[r]->kind == FT__PTX_REG)
                need_reg(s, part, part->ref[r]->index, need);
    }
}

static uint8_t need_of(const struct slicer *s, const ft__plan_part *part,
                       const ft__ptx_operand *o)
{
    if (o->kind == FT__PTX_REG)
        return part->need[o->index];
    return o->kind == FT__PTX_VARIABLE ? *ft__plan_need(s->p, o->index) : 0;
}

static void need_argument(struct slicer *s, ft__plan_part *part,
                          const ft__plan_part *to, const ft__ptx_operand *arg,
                          const ft__ptx_formal *formal)
{
    const ft__ptx_operand *o;

    for (uint32_t e = 0; (o = ft__plan_passed(part->f, arg, e)); e++)
        if (!formal->is_reg)
            need_operand(s, part, o, *ft__plan_need(s->p, formal->index));
        else if (e < formal->n)
            need_operand(s, part, o, to->need[formal->index + e]);
}

static void need_result(struct slicer *s, const ft__plan_part *part, ft__plan_part *to,
                        const ft__ptx_operand *result, const ft__ptx_formal *formal)
{
    const ft__ptx_operand *o;

    for (uint32_t e = 0; (o = ft__plan_passed(part->f, result, e)); e++)
        if (!formal->is_reg)
            need_variable(s, formal->index, need_of(s, part, o));
        else if (e < formal->n)
            need_reg(s, to, formal->index + e, need_of(s, part, o));
}

/* Values that a called function needs, and those that are needed of it. */
static void look_into(struct slicer *s, ft__plan_part *part, const ft__plan_call *c)
{
    for (uint32_t t = 0; t < c->n_parts; t++) {
        ft__plan_part *to = &s->p->part[c->part[t]];
        const ft__ptx_function *f = to->f;

        for (uint32_t k = 0; k < f->n_params && k < c->n_args; k++)
            need_argument(s, part, to, &c->arg[k], &f->param[k]);
        for (uint32_t k = 0; k < f->n_results && k < c->n_results; k++)
            need_result(s, part, to, &c->result[k], &f->result[k]);
        for (uint32_t r = 0; r < ft__plan_shared_regs(part, to); r++) {
            need_reg(s, part, r, to->need[r]);
            need_reg(s, to, r, part->need[r]);
        }
    }
}

/* Where slices begin. */
static void roots(struct slicer *s, ft__plan_part *part)
{
    const ft__ptx_function *f = part->f;

    for (uint32_t k = 0; k < f->n_insns; k++) {
        const ft__ptx_insn *i = &f->insn[k];

        if (i->guard >= 0)
            need_reg(s, part, (uint32_t)i->guard, FT__HARD | FT__SOFT);
        if (i->opcode == FT__PTX_BRX || i->opcode == FT__PTX_CALL)
            for (uint32_t o = 0; o < i->n_operands; o++)
                if (f->operand[i->operands + o].kind == FT__PTX_REG)
                    need_reg(s, part, f->operand[i->operands + o].index,
                             FT__HARD | FT__SOFT);
        if (i->space != FT_PTX_GENERIC && i->space != FT_PTX_GLOBAL &&
            i->space != FT_PTX_SHARED)
            continue;
        for (uint32_t n = 0; n < 2; n++) {
            const ft__ptx_operand *a = ft__plan_address(f, i, n);

            if (a)
                need_operand(s, part, &f->operand[a->index], FT__SOFT);
        }
    }
}

static void need_all(struct slicer *s)
{
    for (uint32_t n = 0; n < s->p->n_parts; n++)
        memset(s->p->part[n].need, FT__HARD | FT__SOFT, s->p->part[n].f->n_regs);
    memset(s->p->need, FT__HARD | FT__SOFT, s->p->n_variables);
}

static void spread(struct slicer *s)
{
    uint32_t round = 0;

    for (uint32_t n = 0; n < s->p->n_parts; n++)
        roots(s, &s->p->part[n]);
    do {
        s->changed = false;
        for (uint32_t n = 0; n < s->p->n_parts; n++) {
            ft__plan_part *part = &s->p->part[n];

            for (uint32_t k = part->f->n_insns; k-- > 0;)
                look_back(s, part, k);
            for (uint32_t c = 0; c < part->n_calls; c++)
                look_into(s, part, &part->call[c]);
        }
    } while (s->changed && round++ < MOST_ROUNDS);
    if (s->changed)
        need_all(s);
}

/* Lists of a call: what is before its function is results, what is behind arguments. */
static void read_lists(ft__plan_call *c, const ft__ptx_function *f,
                       const ft__ptx_insn *i, const ft__ptx_operand **callee)
{
    for (uint32_t k = 0; k < i->n_operands; k++) {
        const ft__ptx_operand *o = &f->operand[i->operands + k];

        if (o->kind == FT__PTX_FUNCTION || (o->kind == FT__PTX_REG && !*callee)) {
            *callee = o;
        } else if (o->kind == FT__PTX_LIST && !*callee) {
            c->result = &f->operand[o->index];
            c->n_results = o->n;
        } else if (o->kind == FT__PTX_LIST) {
            c->arg = &f->operand[o->index];
            c->n_args = o->n;
        }
    }
}

static uint32_t part_for(struct slicer *s, uint32_t function)
{
    ft__count_plan *p = s->p;

    if (s->part_of[function] == FT__NO_SLOT) {
        s->part_of[function] = p->n_parts;
        p->part[p->n_parts].f = &p->m->function[function];
        p->part[p->n_parts++].function = function;
    }
    return s->part_of[function];
}

/* Functions that a call may lead to: one by name, else those listed. */
static uint32_t called(const uint32_t **to, const ft__ptx_function *f,
                       const ft__ptx_insn *i, const ft__ptx_operand *callee)
{
    const ft__ptx_targets *list = ft__flow_targets(f, i);

    if (callee && callee->kind == FT__PTX_FUNCTION) {
        *to = &callee->index;
        return 1;
    }
    *to = list ? list->index : NULL;
    return list ? list->n : 0;
}

static bool read_call(struct slicer *s, ft__plan_part *part, ft__plan_call *c,
                      const ft__ptx_insn *i)
{
    const ft__ptx_operand *callee = NULL;
    const uint32_t *to;
    uint32_t n;

    c->pointer = FT__NO_SLOT;
    read_lists(c, part->f, i, &callee);
    n = called(&to, part->f, i, callee);
    if (callee && callee->kind == FT__PTX_FUNCTION) {
        c->noreturn = s->p->m->function[*to].noreturn;
        c->nowhere = s->p->m->function[*to].declared_only;
    } else {
        c->pointer = callee ? callee->index : FT__NO_SLOT; /* a register until later */
        c->nowhere = !n;
    }
    c->part = ft__arena_array(&s->p->arena, (size_t)n + 1, sizeof(*c->part));
    if (!c->part)
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (!s->p->m->function[to[k]].declared_only)
            c->part[c->n_parts++] = part_for(s, to[k]);
    return true;
}

static bool read_calls(struct slicer *s, ft__plan_part *part)
{
    const ft__ptx_function *f = part->f;
    uint32_t n = 0;

    for (uint32_t k = 0; k < f->n_insns; k++)
        n += f->insn[k].opcode == FT__PTX_CALL;
    part->calls = n > 0;
    part->call = ft__arena_array(&s->p->arena, (size_t)n + 1, sizeof(*part->call));
    if (!part->call)
        return false;
    for (uint32_t k = 0; k < f->n_insns; k++)
        if (f->insn[k].opcode == FT__PTX_CALL &&
            !read_call(s, part, &part->call[part->n_calls++], &f->insn[k]))
            return false;
    return true;
}

static bool prepare(struct slicer *s, ft__plan_part *part, ft__arena *work)
{
    part->need = ft__arena_array(&s->p->arena, (size_t)part->f->n_regs + 1, 1);
    return part->need && find_refs(s->p, part, work) && find_origins(s->p, part, work);
}

/* Functions that the kernel leads to are listed from the n-th on as they are found. */
static uint32_t add_called(uint32_t *list, bool *seen, uint32_t n, const ft_ptx *m,
                           const ft__ptx_function *f, const ft__ptx_insn *i)
{
    ft__plan_call c = {.pointer = FT__NO_SLOT};
    const ft__ptx_operand *callee = NULL;
    const uint32_t *to;
    uint32_t n_to;

    read_lists(&c, f, i, &callee);
    n_to = called(&to, f, i, callee);
    for (uint32_t k = 0; k < n_to; k++)
        if (!seen[to[k]] && !m->function[to[k]].declared_only) {
            seen[to[k]] = true;
            list[n++] = to[k];
        }
    return n;
}

/* Room for as many parts as there may be, and their variables. */
static bool find_parts(struct slicer *s, ft__arena *work, uint32_t kernel)
{
    ft__count_plan *p = s->p;
    const size_t most = p->calls ? p->m->n_functions : 1;
    uint32_t *list = ft__arena_array(work, most, sizeof(*list));
    bool *seen = ft__arena_array(work, most, sizeof(*seen));
    uint32_t n = 0, end = 0;

    s->part_of = p->calls ? ft__arena_array(work, most, sizeof(uint32_t)) : NULL;
    if (!list || !seen || (p->calls && !s->part_of))
        return false;
    seen[p->calls ? kernel : 0] = true;
    list[n++] = kernel;
    p->first_variable = UINT32_MAX;
    for (uint32_t k = 0; k < n; k++) {
        const ft__ptx_function *f = &p->m->function[list[k]];

        if (f->first_variable < p->first_variable)
            p->first_variable = f->first_variable;
        end = f->end_variable > end ? f->end_variable : end;
        for (uint32_t i = 0; p->calls && i < f->n_insns; i++)
            if (f->insn[i].opcode == FT__PTX_CALL)
                n = add_called(list, seen, n, p->m, f, &f->insn[i]);
    }
    p->n_variables = end - p->first_variable;
    p->part = ft__arena_array(&p->arena, n, sizeof(*p->part));
    if (s->part_of)
        memset(s->part_of, 0xff, most * sizeof(*s->part_of));
    return p->part != NULL;
}

static bool begin(struct slicer *s, ft__arena *work, uint32_t kernel)
{
    ft__count_plan *p = s->p;

    if (!find_parts(s, work, kernel))
        return false;
    p->part[0].f = &p->m->function[kernel];
    p->part[0].function = kernel;
    p->n_parts = 1;
    if (s->part_of)
        s->part_of[kernel] = 0;
    p->need = ft__arena_array(&p->arena, (size_t)p->n_variables + 1, 1);
    p->escaped = ft__arena_array(&p->arena, (size_t)p->n_variables + 1, 1);
    return p->need && p->escaped;
}

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

/* All that loads and stores name; what overlaps otherwise is followed no more. */
static bool find_cells(ft__count_plan *p, ft__plan_part *part)
{
    const ft__ptx_function *f = part->f;
    ft__origin at;
    size_t n = 0;
    uint32_t kept = 0;

    for (uint32_t k = 0; k < f->n_insns; k++)
        if (in_cells(&at, p, part, &f->insn[k]) && *ft__plan_need(p, at.variable))
            n += f->insn[k].vector;
    part->cell = ft__arena_array(&p->arena, n + 1, sizeof(*part->cell));
    if (!part->cell)
        return false;
    n = 0;
    for (uint32_t k = 0; k < f->n_insns; k++)
        if (in_cells(&at, p, part, &f->insn[k]) && *ft__plan_need(p, at.variable))
            for (uint32_t e = 0; e < f->insn[k].vector; e++)
                part->cell[n++] = (ft__memory_cell){
                    .variable = at.variable,
                    .offset = at.offset + e * ft__element_bytes(&f->insn[k]),
                    .bytes = ft__element_bytes(&f->insn[k])};
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

bool ft__plan_slice(ft__count_plan *p, uint32_t kernel)
{
    struct slicer s = {.p = p};
    ft__arena work = {0};
    bool ok = begin(&s, &work, kernel);

    for (uint32_t n = 0; ok && n < p->n_parts; n++) /* grows meanwhile */
        ok = read_calls(&s, &p->part[n]) && prepare(&s, &p->part[n], &work);
    for (uint32_t n = 0; ok && n < p->n_parts; n++)
        find_escapes(p, &p->part[n]);
    if (ok)
        spread(&s);
    for (uint32_t n = 0; ok && n < p->n_parts; n++)
        ok = find_cells(p, &p->part[n]);
    for (uint32_t n = 0; ok && n < p->n_parts; n++)
        ok = give_slots(p, &p->part[n]);
    ft__arena_free(&work);
    return ok;
}
