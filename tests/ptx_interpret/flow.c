#include <stdlib.h>
#include <string.h>

#include "ptx_interpret/machine.h"

/* Branches, calls, returns and exits of warps. */

static ft__ptx_entry *top(ft__ptx_frame *f)
{
    return &f->entry[f->n - 1];
}

static ft_status push(ft__ptx_frame *f, uint32_t pc, uint32_t reconvergence,
                      uint32_t mask)
{
    if (f->n == f->cap) {
        ft__ptx_entry *more = ft__list_grow(f->entry, f->n, &f->cap, sizeof *more);

        if (more == NULL)
            return FT_ENOMEM;
        f->entry = more;
    }
    f->entry[f->n++] = (ft__ptx_entry){pc, reconvergence, mask};
    return FT_OK;
}

/* Where each lane goes on. */
static void next_of(uint32_t next[FT__PTX_LANES], ft__ptx_step *s, uint32_t after)
{
    const ft__ptx_operand *o = &s->f->operand[s->i->operands];
    const bool indexed = s->i->opcode == FT__PTX_BRX;
    const ft__ptx_targets *t = indexed ? &s->f->targets[o[1].index] : NULL;
    uint64_t own[FT__PTX_LANES];
    const uint64_t *v = indexed ? ft__ptx_value(s, o, own) : own;

    for (int l = 0; l < FT__PTX_LANES; l++) {
        next[l] = after;
        if (!(s->on >> l & 1))
            continue;
        if (!indexed)
            next[l] = o->index;
        else if ((uint32_t)v[l] < t->n)
            next[l] = t->index[(uint32_t)v[l]];
        else
            ft__ptx_stop(s, l, "index %u of %u targets", (uint32_t)v[l], t->n);
    }
}

void ft__ptx_do_branch(ft__ptx_step *s)
{
    ft__ptx_frame *f = s->frame;
    const uint32_t at = (uint32_t)(s->i - s->f->insn),
                   reconvergence = f->code->reconvergence[at];
    uint32_t next[FT__PTX_LANES], left = s->here, same = 0;
    const int first = ft__ptx_lowest(s->here);

    next_of(next, s, at + 1);
    for (int l = 0; l < FT__PTX_LANES; l++)
        same |= (uint32_t)(next[l] == next[first]) << l;
    same &= s->here;
    if (s->i->guard >= 0 || s->i->opcode == FT__PTX_BRX)
        s->k->count->branches.value++;
    if (same == s->here) {
        top(f)->pc = next[first];
        return;
    }
    s->k->count->divergent.value++;
    if (reconvergence == FT__PTX_NOWHERE || reconvergence == top(f)->reconvergence)
        f->n--; /* nobody waits here; those below are waiting there already */
    else
        top(f)->pc = reconvergence;
    while (left != 0) {
        const uint32_t to = next[ft__ptx_lowest(left)];
        uint32_t mask = 0;

        for (int l = 0; l < FT__PTX_LANES; l++)
            mask |= (uint32_t)(next[l] == to) << l;
        if (push(f, to, reconvergence, mask & left))
            s->k->st = FT_ENOMEM;
        left &= ~mask;
    }
}

static void free_frame(ft__ptx_frame *f)
{
    free(f->reg);
    free(f->param);
    free(f->local);
    free(f->entry);
}

ft_status ft__ptx_enter(ft__ptx_machine *k, ft__ptx_warp *w, uint32_t function,
                        uint32_t mask, const ft__ptx_insn *call)
{
    const ft__ptx_code *code = &k->code[function];
    ft__ptx_frame f = {.code = code, .call = call, .mask = mask};
    ft__ptx_frame *more;

    f.reg = calloc((size_t)code->f->n_regs + 1, FT__PTX_LANES * sizeof *f.reg);
    f.param = calloc(FT__PTX_LANES, code->param_size + 1);
    f.local = calloc(FT__PTX_LANES, ft__ptx_local_bytes(k, code->f) + 1);
    more =
        w->n < w->cap ? w->frame : ft__list_grow(w->frame, w->n, &w->cap, sizeof *more);
    if (more != NULL)
        w->frame = more;
    if (f.reg == NULL || f.param == NULL || f.local == NULL || more == NULL ||
        push(&f, 0, FT__PTX_NOWHERE, mask)) {
        free_frame(&f);
        return FT_ENOMEM;
    }
    w->frame[w->n++] = f;
    return FT_OK;
}

void ft__ptx_leave(ft__ptx_warp *w)
{
    free_frame(&w->frame[--w->n]);
}

void ft__ptx_do_exit(ft__ptx_warp *w, uint32_t lanes)
{
    w->alive &= ~lanes;
    for (size_t n = 0; n < w->n; n++)
        for (size_t e = 0; e < w->frame[n].n; e++)
            w->frame[n].entry[e].mask &= ~lanes;
}

void ft__ptx_do_return(ft__ptx_step *s)
{
    if (s->w->n == 1) {
        ft__ptx_do_exit(s->w, s->on);
        return;
    }
    for (size_t e = 0; e < s->frame->n; e++)
        s->frame->entry[e].mask &= ~s->on;
}

static const ft__ptx_variable *variable(const ft__ptx_machine *k, uint32_t index)
{
    return &k->m->variable[index];
}

/* The operands of a call: results, function, arguments. */
typedef struct parts {
    const ft__ptx_operand *results, *function, *arguments; /* NULL: none */
} parts;

static parts parts_of(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    const ft__ptx_operand *o = &f->operand[i->operands], *end = o + i->n_operands;
    parts p = {0};

    if (o < end && o->kind == FT__PTX_LIST)
        p.results = o++;
    if (o < end)
        p.function = o++;
    if (o < end && o->kind == FT__PTX_LIST)
        p.arguments = o;
    return p;
}

/* Bytes of a .param variable in one lane. */
static uint8_t *bytes_of(const ft__ptx_frame *f, const ft__ptx_variable *v, int lane)
{
    return f->param + (size_t)lane * f->code->param_size + v->offset;
}

static void store(uint8_t *to, uint64_t v, uint64_t size)
{
    for (uint64_t b = 0; b < size && b < 8; b++)
        to[b] = (uint8_t)(v >> 8 * b);
}

static uint64_t load(const uint8_t *from, uint64_t size)
{
    uint64_t v = 0;

    for (uint64_t b = 0; b < size && b < 8; b++)
        v |= (uint64_t)from[b] << 8 * b;
    return v;
}

/* Registers of the module, which all functions that know them have in common. */
static void share_registers(ft__ptx_frame *to, const ft__ptx_frame *from, uint32_t mask)
{
    const uint32_t a = to->code->f->n_module_regs, b = from->code->f->n_module_regs;

    for (size_t r = 0; r < (a < b ? a : b); r++)
        for (size_t l = 0; l < FT__PTX_LANES; l++)
            if (mask >> l & 1)
                to->reg[r * FT__PTX_LANES + l] = from->reg[r * FT__PTX_LANES + l];
}

/* One argument, from operand o of the caller to parameter `to` of the callee. */
static void pass(ft__ptx_step *s, ft__ptx_frame *callee, const ft__ptx_operand *o,
                 const ft__ptx_formal *to)
{
    const ft__ptx_variable *v = to->is_reg ? NULL : variable(s->k, to->index);
    const bool vector = o->kind == FT__PTX_VECTOR;
    const bool bytes = o->kind == FT__PTX_VARIABLE && v != NULL;
    uint64_t own[FT__PTX_LANES];
    const uint64_t *values = bytes || vector ? own : ft__ptx_value(s, o, own);

    if (vector ? !to->is_reg || to->n != o->n : to->is_reg && to->n != 1) {
        ft__ptx_unsupported(s, "a vector for what is none");
        return;
    }
    for (uint32_t e = 0; vector && e < o->n; e++)
        pass(s, callee, &s->f->operand[o->index + e],
             &(ft__ptx_formal){.index = to->index + e, .n = 1, .is_reg = true});
    for (int l = 0; !vector && l < FT__PTX_LANES; l++) {
        if (o->kind == FT__PTX_VARIABLE && v == NULL)
            callee->reg[(size_t)to->index * FT__PTX_LANES + (size_t)l] =
                load(bytes_of(s->frame, variable(s->k, o->index), l),
                     variable(s->k, o->index)->size);
        else if (bytes && variable(s->k, o->index)->size >= v->size)
            memcpy(bytes_of(callee, v, l),
                   bytes_of(s->frame, variable(s->k, o->index), l), v->size);
        else if (v != NULL)
            store(bytes_of(callee, v, l), values[l], v->size);
        else
            callee->reg[(size_t)to->index * FT__PTX_LANES + (size_t)l] = values[l];
    }
}

static void call_one(ft__ptx_step *s, uint32_t function, uint32_t mask, const parts *p)
{
    const ft__ptx_function *f = &s->k->m->function[function];
    const size_t at = (size_t)(s->frame - s->w->frame);

    if (f->declared_only) {
        ft__ptx_unsupported(s, "a call of '%s', which is elsewhere", f->name);
        return;
    }
    if (s->w->n >= 256) {
        ft__ptx_unsupported(s, "calls deeper than 256");
        return;
    }
    if (ft__ptx_enter(s->k, s->w, function, mask, s->i)) {
        s->k->st = FT_ENOMEM;
        return;
    }
    s->frame = &s->w->frame[at];
    for (uint32_t n = 0; p->arguments != NULL && n < p->arguments->n && n < f->n_params;
         n++)
        pass(s, &s->w->frame[s->w->n - 1], &s->f->operand[p->arguments->index + n],
             &f->param[n]);
    share_registers(&s->w->frame[s->w->n - 1], s->frame, mask);
}

/* A function's address is its number, from 1. */
static void call_by_value(ft__ptx_step *s, const parts *p)
{
    const int first = ft__ptx_lowest(s->on);
    uint64_t own[FT__PTX_LANES];
    const uint64_t *v = ft__ptx_value(s, p->function, own);

    for (int l = 0; l < FT__PTX_LANES; l++)
        if ((s->on >> l & 1) && v[l] != v[first]) {
            ft__ptx_unsupported(s, "a call of several functions at once");
            return;
        }
    if (v[first] == 0 || v[first] > s->k->m->n_functions)
        ft__ptx_stop(s, first, "a call of what is no function");
    else
        call_one(s, (uint32_t)v[first] - 1, s->on, p);
}

void ft__ptx_do_call(ft__ptx_step *s)
{
    const parts p = parts_of(s->f, s->i);

    if (s->on == 0)
        return;
    if (p.function != NULL && p.function->kind == FT__PTX_FUNCTION)
        call_one(s, p.function->index, s->on, &p);
    else if (p.function != NULL)
        call_by_value(s, &p);
}

static void give_back(ft__ptx_machine *k, ft__ptx_frame *caller,
                      const ft__ptx_frame *callee, const ft__ptx_operand *o,
                      const ft__ptx_formal *from)
{
    const ft__ptx_variable *v = from->is_reg ? NULL : variable(k, from->index);

    for (uint32_t e = 0;
         o->kind == FT__PTX_VECTOR && from->is_reg && e < o->n && e < from->n; e++)
        give_back(k, caller, callee, &caller->code->f->operand[o->index + e],
                  &(ft__ptx_formal){.index = from->index + e, .n = 1, .is_reg = true});
    for (int l = 0; l < FT__PTX_LANES; l++) {
        if (!(callee->mask >> l & 1))
            continue;
        if (o->kind == FT__PTX_VARIABLE && v != NULL) {
            if (variable(k, o->index)->size >= v->size)
                memcpy(bytes_of(caller, variable(k, o->index), l),
                       bytes_of(callee, v, l), v->size);
        } else if (o->kind == FT__PTX_REG) {
            caller->reg[(size_t)o->index * FT__PTX_LANES + (size_t)l] =
                v != NULL
                    ? load(bytes_of(callee, v, l), v->size)
                    : callee->reg[(size_t)from->index * FT__PTX_LANES + (size_t)l];
        }
    }
}

void ft__ptx_finish_call(ft__ptx_machine *k, ft__ptx_warp *w)
{
    const ft__ptx_frame *callee = &w->frame[w->n - 1];

    if (w->n > 1) {
        ft__ptx_frame *caller = &w->frame[w->n - 2];
        const ft__ptx_function *f = callee->code->f, *g = caller->code->f;
        const parts p = parts_of(g, callee->call);

        for (uint32_t n = 0; p.results != NULL && n < p.results->n && n < f->n_results;
             n++)
            give_back(k, caller, callee, &g->operand[p.results->index + n],
                      &f->result[n]);
        share_registers(caller, callee, callee->mask);
    }
    ft__ptx_leave(w);
}
