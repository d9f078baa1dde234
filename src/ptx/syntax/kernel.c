/* What a kernel declares and what its text holds. In: its function; out: parameters
 * (which are pointers), registers, shared memory, instructions by class. */
#include <stdlib.h>
#include <string.h>

#include "ptx/syntax/parse.h"

static const ft__ptx_operand *operand(const ft__ptx_function *f, const ft__ptx_insn *i,
                                      unsigned n)
{
    return &f->operand[i->operands + n];
}

/* Which parameter a register's address comes from: 1 + its number; 0: none. */
typedef struct origin {
    const ft__parser *p;
    const ft__ptx_function *f;
    uint32_t *of; /* [n_regs] */
    ft_ptx_param *param;
} origin;

static uint32_t param_of(const origin *o, uint32_t variable)
{
    for (uint32_t i = 0; i < o->f->n_params; i++)
        if (o->f->param[i] == variable)
            return i + 1;
    return 0;
}

static uint32_t origin_of(const origin *o, const ft__ptx_operand *x)
{
    return x->kind == FT__PTX_REG ? o->of[x->index] : 0;
}

/* Where a value comes from that the instruction computes. */
static uint32_t carried(const origin *o, const ft__ptx_insn *i)
{
    const ft__ptx_operand *a = operand(o->f, i, 1);
    uint32_t first, second;

    switch (i->opcode) {
    case FT__PTX_LD:
        if (i->space != FT_PTX_PARAM || a->kind != FT__PTX_ADDRESS ||
            o->f->operand[a->index].kind != FT__PTX_VARIABLE)
            return 0;
        return param_of(o, o->f->operand[a->index].index);
    case FT__PTX_MOV:
    case FT__PTX_CVTA: return origin_of(o, a);
    case FT__PTX_ADD:
    case FT__PTX_SUB:
        if (i->n_operands < 3)
            return 0;
        first = origin_of(o, a);
        second = origin_of(o, operand(o->f, i, 2));
        if (first && second && o->param[second - 1].pointer)
            return second;
        return first ? first : second;
    case FT__PTX_MAD: return i->n_operands < 4 ? 0 : origin_of(o, operand(o->f, i, 3));
    default: return 0;
    }
}

static void used(origin *o, const ft__ptx_operand *x)
{
    uint32_t from;

    if (x->kind != FT__PTX_ADDRESS)
        return;
    from = origin_of(o, &o->f->operand[x->index]);
    if (from && o->param[from - 1].size == 8)
        o->param[from - 1].pointer = 1;
}

static void follow(origin *o, const ft__ptx_insn *i)
{
    const ft__ptx_operand *d = operand(o->f, i, 0);
    const bool address = i->opcode == FT__PTX_CVTA && i->n_operands > 1;

    for (unsigned k = 0; k < i->n_operands; k++)
        used(o, operand(o->f, i, k));
    if (address) {
        const uint32_t from = origin_of(o, operand(o->f, i, 1));

        if (from && o->param[from - 1].size == 8)
            o->param[from - 1].pointer = 1;
    }
    if (i->n_operands > 1 && d->kind == FT__PTX_REG)
        o->of[d->index] = carried(o, i);
}

static void find_pointers(ft__parser *p, ft_ptx_param *param)
{
    origin o = {.p = p, .f = p->f, .param = param};

    o.of = calloc(p->f->n_regs ? p->f->n_regs : 1, sizeof(*o.of));
    if (!o.of) {
        ft__ptx_no_memory(p);
        return;
    }
    for (uint32_t i = 0; i < p->f->n_insns; i++)
        follow(&o, &p->f->insn[i]);
    free(o.of);
}

static void parameters(ft__parser *p)
{
    const ft__ptx_function *f = p->f;
    const ft__ptx_variable *v = p->variables.at;
    ft_ptx_param *param = ft__arena_array(&p->m->arena, f->n_params, sizeof(*param));

    if (!param) {
        ft__ptx_no_memory(p);
        return;
    }
    p->kernel->param = param;
    p->kernel->n_params = f->n_params;
    for (uint32_t i = 0; i < f->n_params && !f->params_are_regs; i++) {
        const ft__ptx_variable *a = &v[f->param[i]];

        param[i] = (ft_ptx_param){
            .size = (uint32_t)a->size, .align = a->align, .pointer = a->pointer};
        param[i].name = ft__arena_strndup(&p->m->arena, a->name, a->len);
        if (!param[i].name)
            ft__ptx_no_memory(p);
    }
    find_pointers(p, param);
}

static void registers(ft__parser *p)
{
    for (uint32_t i = 0; i < p->f->n_regs; i++) {
        const uint32_t bits = ft__ptx_type_bits(p->f->reg[i].type);

        p->kernel->registers[bits == 1 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3]++;
    }
}

/* Bytes of the module's shared variables that the kernel names. */
static uint64_t module_shared(ft__parser *p)
{
    ft__ptx_variable *v = p->variables.at;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < p->f->n_operands; i++) {
        const ft__ptx_operand *o = &p->f->operand[i];
        ft__ptx_variable *x = o->kind == FT__PTX_VARIABLE ? &v[o->index] : NULL;

        if (!x || x->space != FT_PTX_SHARED || x->function >= 0 ||
            x->seen == (uint32_t)p->function + 1)
            continue;
        x->seen = (uint32_t)p->function + 1;
        bytes += x->size;
    }
    return bytes;
}

void ft__ptx_kernel_done(ft__parser *p)
{
    ft_ptx_kernel *k = p->kernel;

    parameters(p);
    if (p->st)
        return;
    memset(k->registers, 0, sizeof(k->registers)); /* it may have been declared */
    memset(k->instructions, 0, sizeof(k->instructions));
    registers(p);
    for (uint32_t i = 0; i < p->f->n_insns; i++)
        k->instructions[p->f->insn[i].class]++;
    k->shared_bytes = p->f->shared_bytes + module_shared(p);
    k->local_bytes = p->f->local_bytes;
    k->line = p->f->line;
    ft__ptx_find_global(p);
}
