/* Generic accesses of a kernel that can only be to global memory: all pointers that go
 * into the address are parameters, or were said to be global. Host programs hand over
 * addresses of global memory alone; sums, choices and masks of them stay such. */
#include <stdlib.h>

#include "ptx/syntax/parse.h"

/* What a register of 64 bits and more may hold at any time; of two, the greater.
 * Narrower ones hold numbers: what is put together from halves is OTHER. */
enum { NUMBER, GLOBAL, OTHER };
enum { MOST_ROUNDS = 32 };

struct spaces {
    const ft__parser *p;
    const ft__ptx_function *f;
    uint8_t *of; /* [n_regs] */
};

static const ft__ptx_operand *operand(const struct spaces *s, const ft__ptx_insn *i,
                                      uint32_t k)
{
    return &s->f->operand[i->operands + k];
}

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
        const uint8_t v = value(s, operand(s, i, k));

        most = v > most ? v : most;
    }
    return most;
}

static bool is_parameter(const ft__ptx_function *f, uint32_t variable)
{
    for (uint32_t k = 0; k < f->n_params && !f->params_are_regs; k++)
        if (f->param[k] == variable)
            return true;
    return false;
}

static uint8_t loaded(const struct spaces *s, const ft__ptx_insn *i)
{
    const ft__ptx_operand *a = operand(s, i, 1);

    if (ft__ptx_type_bits(i->type[0]) <= 32)
        return NUMBER;
    return i->space == FT_PTX_PARAM && a->kind == FT__PTX_ADDRESS &&
                   s->f->operand[a->index].kind == FT__PTX_VARIABLE &&
                   is_parameter(s->f, s->f->operand[a->index].index)
               ? GLOBAL
               : OTHER;
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
    case FT__PTX_MOV: return i->vector > 1 ? OTHER : value(s, operand(s, i, 1));
    case FT__PTX_CVT:
        return ft__ptx_type_bits(i->type[1]) <= 32 ? NUMBER
                                                   : value(s, operand(s, i, 1));
    case FT__PTX_CVTA: return i->space == FT_PTX_GLOBAL ? GLOBAL : OTHER;
    case FT__PTX_ADD:
    case FT__PTX_SUB:
    case FT__PTX_MIN:
    case FT__PTX_MAX:
    case FT__PTX_AND:
    case FT__PTX_XOR:
    case FT__PTX_SELP: return greatest(s, i);
    case FT__PTX_OR:
        return operand(s, i, 2)->kind == FT__PTX_INT ? value(s, operand(s, i, 1))
                                                     : OTHER;
    case FT__PTX_SHR: return value(s, operand(s, i, 1));
    case FT__PTX_SHL:
        return is_number(operand(s, i, 2), 32) ? value(s, operand(s, i, 1)) : OTHER;
    /* A product is a number, unless of an address elsewhere. */
    case FT__PTX_MUL: return greatest(s, i) == OTHER ? OTHER : NUMBER;
    case FT__PTX_MAD:
        return greatest(s, i) == OTHER ? OTHER : value(s, operand(s, i, 3));
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

            if (i->n_operands && raise(s, operand(s, i, 0), result(s, i)))
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
        const ft__ptx_operand *o = operand(s, i, k);

        if (o->kind == FT__PTX_ADDRESS)
            i->global = value(s, &s->f->operand[o->index]) == GLOBAL;
    }
}

void ft__ptx_find_global(ft__parser *p)
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
