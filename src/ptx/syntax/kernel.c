/* Kernels. In: a function that has been read; out: its parameters (which are pointers),
 * registers, shared memory, instructions by class, and which generic accesses can only
 * be to global memory. */
#include <stdlib.h>
#include <string.h>

#include "ptx/syntax/parser.h"

static const ft__ptx_operand *operand(const ft__ptx_function *f, const ft__ptx_insn *i,
                                      unsigned n)
{
    return &f->operand[i->operands + n];
}

/* Which parameter the instruction loads: 1 + its number; 0: none. */
static uint32_t loaded_param(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    const ft__ptx_operand *a = operand(f, i, 1);

    if (i->space != FT_PTX_PARAM || a->kind != FT__PTX_ADDRESS ||
        f->operand[a->index].kind != FT__PTX_VARIABLE)
        return 0;
    for (uint32_t k = 0; k < f->n_params; k++)
        if (!f->param[k].is_reg && f->param[k].index == f->operand[a->index].index)
            return k + 1;
    return 0;
}

/* Which parameter a register's address comes from: 1 + its number; 0: none. */
typedef struct origin {
    const ft__parser *p;
    const ft__ptx_function *f;
    uint32_t *of; /* [n_regs] */
    ft_ptx_param *param;
} origin;

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
    case FT__PTX_LD: return loaded_param(o->f, i);
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

/* Generic accesses that can only be to global memory.
 *
 * All pointers that go into the address are parameters, or were said to be global. Host
 * programs hand over addresses of global memory alone; sums, choices and masks of them
 * stay such. */
/* What a register of 64 bits and more may hold at any time; of two, the greater.
 * Narrower ones hold numbers: what is put together from halves is OTHER. */
enum { NUMBER, GLOBAL, OTHER };
enum { MOST_ROUNDS = 32 };

struct spaces {
    const ft__parser *p;
    const ft__ptx_function *f;
    uint8_t *of; /* [n_regs] */
};

static bool is_wide(const struct spaces *s, uint32_t reg)
{
    return ft__ptx_type_bits(s->f->reg[reg].type) >= 64;
}

static uint8_t value(const struct spaces *s, const ft__ptx_operand *o)
{
    const ft__ptx_variable *v = s->p->variables.at;

    switch (o->kind) {
    case FT__PTX_REG: return is_wide(s, o->index) ? s->of[o->index] : NUMBER;
    case FT__PTX_INT:
    case FT__PTX_FLOAT:
    case FT__PTX_SPECIAL: return NUMBER;
    case FT__PTX_VARIABLE: return v[o->index].space == FT_PTX_GLOBAL ? GLOBAL : OTHER;
    default: return OTHER;
    }
}

static uint8_t greatest(const struct spaces *s, const ft__ptx_insn *i)
{
    uint8_t most = NUMBER;

    for (uint32_t k = 1; k < i->n_operands; k++) {
        const uint8_t v = value(s, operand(s->f, i, k));

        most = v > most ? v : most;
    }
    return most;
}

static uint8_t loaded(const struct spaces *s, const ft__ptx_insn *i)
{
    if (ft__ptx_type_bits(i->type[0]) <= 32)
        return NUMBER;
    return loaded_param(s->f, i) ? GLOBAL : OTHER;
}

static bool is_number(const ft__ptx_operand *o, uint64_t below)
{
    return o->kind == FT__PTX_INT && o->bits < below;
}

/* What the instruction leaves in the wide registers that it writes. */
static uint8_t result(const struct spaces *s, const ft__ptx_insn *i)
{
    if (i->n_operands < 2)
        return OTHER;
    switch (i->opcode) {
    case FT__PTX_LD: return loaded(s, i);
    case FT__PTX_MOV: return i->vector > 1 ? OTHER : value(s, operand(s->f, i, 1));
    case FT__PTX_CVT:
        return ft__ptx_type_bits(i->type[1]) <= 32 ? NUMBER
                                                   : value(s, operand(s->f, i, 1));
    case FT__PTX_CVTA: return i->space == FT_PTX_GLOBAL ? GLOBAL : OTHER;
    case FT__PTX_ADD:
    case FT__PTX_SUB:
    case FT__PTX_MIN:
    case FT__PTX_MAX:
    case FT__PTX_AND:
    case FT__PTX_XOR:
    case FT__PTX_SELP: return greatest(s, i);
    case FT__PTX_OR:
        return operand(s->f, i, 2)->kind == FT__PTX_INT ? value(s, operand(s->f, i, 1))
                                                        : OTHER;
    case FT__PTX_SHR: return value(s, operand(s->f, i, 1));
    case FT__PTX_SHL:
        return is_number(operand(s->f, i, 2), 32) ? value(s, operand(s->f, i, 1))
                                                  : OTHER;
    /* A product is a number, unless of an address elsewhere. */
    case FT__PTX_MUL: return greatest(s, i) == OTHER ? OTHER : NUMBER;
    case FT__PTX_MAD:
        return greatest(s, i) == OTHER ? OTHER : value(s, operand(s->f, i, 3));
    default: return OTHER;
    }
}

static bool raise(struct spaces *s, const ft__ptx_operand *o, uint8_t to)
{
    bool more = false;

    if (o->kind == FT__PTX_VECTOR || o->kind == FT__PTX_PAIR || o->kind == FT__PTX_LIST)
        for (uint32_t k = 0; k < o->n; k++)
            more |= raise(s, &s->f->operand[o->index + k], to);
    if (o->kind != FT__PTX_REG || !is_wide(s, o->index) || s->of[o->index] >= to)
        return more;
    s->of[o->index] = to;
    return true;
}

/* Until nothing changes; false: that takes too long. */
static bool spread(struct spaces *s)
{
    bool more = true;

    for (int round = 0; round < MOST_ROUNDS && more; round++) {
        more = false;
        for (uint32_t k = 0; k < s->f->n_insns; k++) {
            const ft__ptx_insn *i = &s->f->insn[k];

            if (i->n_operands && raise(s, operand(s->f, i, 0), result(s, i)))
                more = true;
        }
    }
    return !more;
}

static bool is_generic(const ft__ptx_insn *i)
{
    return i->space == FT_PTX_GENERIC &&
           (i->opcode == FT__PTX_LD || i->opcode == FT__PTX_ST ||
            i->opcode == FT__PTX_ATOM || i->opcode == FT__PTX_RED);
}

static void settle(const struct spaces *s, ft__ptx_insn *i)
{
    for (uint32_t k = 0; k < i->n_operands; k++) {
        const ft__ptx_operand *o = operand(s->f, i, k);

        if (o->kind == FT__PTX_ADDRESS)
            i->global = value(s, &s->f->operand[o->index]) == GLOBAL;
    }
}

static void find_global(ft__parser *p)
{
    struct spaces s = {.p = p, .f = p->f};
    uint32_t first = 0;

    while (first < p->f->n_insns && !is_generic(&p->f->insn[first]))
        first++;
    if (first == p->f->n_insns || p->m->address_size != 64)
        return;
    s.of = calloc((size_t)p->f->n_regs + 1, sizeof(*s.of));
    if (!s.of) {
        ft__ptx_no_memory(p);
        return;
    }
    for (uint32_t k = spread(&s) ? first : p->f->n_insns; k < p->f->n_insns; k++)
        if (is_generic(&p->f->insn[k]))
            settle(&s, &p->f->insn[k]);
    free(s.of);
}

static void kernel_parameters(ft__parser *p)
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
    for (uint32_t i = 0; i < f->n_params; i++) {
        const ft__ptx_variable *a = &v[f->param[i].index];

        param[i] = (ft_ptx_param){
            .size = (uint32_t)a->size, .align = a->align, .pointer = a->pointer};
        param[i].name = ft__arena_strndup(&p->m->arena, a->name, a->len);
        if (!param[i].name)
            ft__ptx_no_memory(p);
    }
    find_pointers(p, param);
}

static void count_registers(ft__parser *p)
{
    for (uint32_t i = 0; i < p->f->n_regs; i++) {
        const uint32_t bits = ft__ptx_type_bits(p->f->reg[i].type);

        if (p->f->reg[i].implied)
            continue;
        p->kernel->registers[bits == 1 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3]++;
    }
}

/* Bytes of the module's variables of a space that the kernel names. */
static uint64_t module_bytes(ft__parser *p, unsigned space)
{
    ft__ptx_variable *v = p->variables.at;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < p->f->n_operands; i++) {
        const ft__ptx_operand *o = &p->f->operand[i];
        ft__ptx_variable *x = o->kind == FT__PTX_VARIABLE ? &v[o->index] : NULL;

        if (!x || x->space != space || x->function >= 0 ||
            x->seen == (uint32_t)p->function + 1)
            continue;
        x->seen = (uint32_t)p->function + 1;
        bytes += x->size;
    }
    return bytes;
}

void ft__ptx_kernel_describe(ft__parser *p)
{
    ft_ptx_kernel *k = p->kernel;

    kernel_parameters(p);
    if (p->st)
        return;
    memset(k->registers, 0, sizeof(k->registers)); /* it may have been declared */
    memset(k->instructions, 0, sizeof(k->instructions));
    count_registers(p);
    for (uint32_t i = 0; i < p->f->n_insns; i++)
        k->instructions[p->f->insn[i].class] += !p->f->insn[i].implied;
    k->shared_bytes = p->f->shared_bytes + module_bytes(p, FT_PTX_SHARED);
    k->local_bytes =
        p->f->local_bytes - p->m->local_bytes + module_bytes(p, FT_PTX_LOCAL);
    k->line = p->f->line;
    find_global(p);
}
