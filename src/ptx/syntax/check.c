/* What is held against an instruction before anything relies on it: how many operands
 * and types it has, and that branches, calls and accesses say where they go. Comes in:
 * the instruction, its operands and words in the parser's lists; goes out: nothing, or
 * the parser's error. Which words and types go together, and for which GPU, is not
 * asked: that is the assembler's business, and newer ones know more. */
#include "ptx/syntax/parse.h"

static const ft__ptx_operand *operand(const ft__parser *p, uint32_t index)
{
    return (const ft__ptx_operand *)p->operands.at + index;
}

static const char *place(const ft__parser *p, const ft__ptx_insn *i)
{
    return p->lex.text + i->at;
}

/* The operand is a list: of functions, or of branches. */
static bool is_list(const ft__parser *p, const ft__ptx_operand *o, bool functions)
{
    const ft__ptx_targets *list = p->targets.at;

    return o->kind == FT__PTX_TARGETS && list[o->index].functions == functions;
}

/* ---- calls: (results), function, (arguments), targets ---- */

/* Variables that are passed are the function's own. */
static bool is_passed(const ft__parser *p, const ft__ptx_operand *list)
{
    const ft__ptx_variable *v = p->variables.at;

    for (uint32_t k = 0; k < list->n; k++) {
        const ft__ptx_operand *o = operand(p, list->index + k);

        if (o->kind == FT__PTX_VARIABLE && v[o->index].space != FT_PTX_PARAM)
            return false;
    }
    return true;
}

static void check_call(ft__parser *p, const ft__ptx_insn *i)
{
    const ft__ptx_function *f = p->functions.at;
    const uint32_t end = i->operands + i->n_operands;
    uint32_t k = i->operands;
    const ft__ptx_operand *callee;

    if (operand(p, k)->kind == FT__PTX_LIST)
        k++;
    callee = k < end ? operand(p, k++) : NULL;
    if (k < end && operand(p, k)->kind == FT__PTX_LIST)
        k++;
    for (uint32_t n = i->operands; n < end; n++)
        if (operand(p, n)->kind == FT__PTX_LIST && !is_passed(p, operand(p, n))) {
            ft__ptx_fail(p, place(p, i),
                         "'call' passes registers and .param variables");
            return;
        }
    if (callee && callee->kind == FT__PTX_REG) {
        if (k + 1 != end || !is_list(p, operand(p, k), true))
            ft__ptx_fail(p, place(p, i),
                         "'call' of a register wants a prototype or targets");
    } else if (!callee || callee->kind != FT__PTX_FUNCTION || k != end) {
        ft__ptx_fail(p, place(p, i), "'call' wants (results), a function, (arguments)");
    } else if (f[callee->index].entry) {
        ft__ptx_fail(p, place(p, i), "'%s' is a kernel, which cannot be called",
                     f[callee->index].name);
    }
}

/* ---- the rest ---- */

/* Which operand is an address, from 1; 0: any or none. */
static uint32_t address_of(unsigned opcode)
{
    switch (opcode) {
    case FT__PTX_LD:
    case FT__PTX_LDU:
    case FT__PTX_LDMATRIX:
    case FT__PTX_ATOM: return 2;
    case FT__PTX_ST:
    case FT__PTX_STMATRIX:
    case FT__PTX_RED: return 1;
    default: return 0;
    }
}

/* false: it has failed. */
static bool check_numbers(ft__parser *p, const ft__ptx_insn *i)
{
    const ft__arity a = ft__ptx_arity(i->opcode);
    const char *name = ft__ptx_opcode_name(i->opcode);

    if (i->n_operands < a.least || i->n_operands > a.most)
        ft__ptx_fail(p, place(p, i), "'%s' has %u operands, expected %u", name,
                     i->n_operands, i->n_operands < a.least ? a.least : a.most);
    else if (i->n_types < a.types)
        ft__ptx_fail(p, place(p, i), "'%s' has %u types, expected %u", name, i->n_types,
                     a.types);
    return !p->st;
}

void ft__check_instruction(ft__parser *p, const ft__ptx_insn *i)
{
    const uint32_t at = address_of(i->opcode);
    const ft__ptx_operand *o;

    if (!check_numbers(p, i) || i->n_operands == 0)
        return;
    o = operand(p, i->operands);
    if (i->opcode == FT__PTX_CALL)
        check_call(p, i);
    else if (i->opcode == FT__PTX_BRA && o->kind != FT__PTX_LABEL)
        ft__ptx_fail(p, place(p, i), "'bra' wants a label");
    else if (i->opcode == FT__PTX_BRX &&
             (o->kind == FT__PTX_TARGETS || !is_list(p, o + 1, false)))
        ft__ptx_fail(p, place(p, i), "'brx' wants a register and .branchtargets");
    else if (at && o[at - 1].kind != FT__PTX_ADDRESS)
        ft__ptx_fail(p, place(p, i), "operand %u of '%s' is no address", at,
                     ft__ptx_opcode_name(i->opcode));
}
