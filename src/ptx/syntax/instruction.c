/* One instruction. In: tokens from its guard to its semicolon; out: the instruction,
 * checked and with its class, its words and operands in the parser's lists. */
#include "ptx/syntax/parser.h"

static void guard(ft__parser *p, ft__ptx_insn *i)
{
    uint32_t reg = 0;
    const ft__symbol *s;

    i->guard = -1;
    if (!ft__ptx_accept(p, '@'))
        return;
    i->guard_not = ft__ptx_accept(p, '!');
    s = p->lex.kind == FT__TOK_NAME ? ft__symbol_here(p, &reg) : NULL;
    if (!s || s->kind != FT__SYMBOL_REG) {
        ft__ptx_expected(p, "a predicate register");
        return;
    }
    if (s->type != FT__TYPE_PRED)
        ft__ptx_expected(p, "a predicate");
    i->guard = (int32_t)reg;
    ft__ptx_next(p);
}

static int space_of(unsigned mod)
{
    switch (mod) {
    case FT__MOD_GLOBAL: return FT_PTX_GLOBAL;
    case FT__MOD_SHARED:
    case FT__MOD_SHARED_CTA:
    case FT__MOD_SHARED_CLUSTER: return FT_PTX_SHARED;
    case FT__MOD_LOCAL: return FT_PTX_LOCAL;
    case FT__MOD_CONST: return FT_PTX_CONST;
    case FT__MOD_PARAM:
    case FT__MOD_PARAM_ENTRY:
    case FT__MOD_PARAM_FUNC: return FT_PTX_PARAM;
    default: return -1;
    }
}

/* .v2 of vectors, .x2 of matrices: elements; 0: neither. */
static unsigned vector_of(unsigned mod)
{
    switch (mod) {
    case FT__MOD_X1: return 1;
    case FT__MOD_V2:
    case FT__MOD_X2: return 2;
    case FT__MOD_V4:
    case FT__MOD_X4: return 4;
    case FT__MOD_V8:
    case FT__MOD_X8: return 8;
    case FT__MOD_X16: return 16;
    case FT__MOD_X32: return 32;
    case FT__MOD_X64: return 64;
    case FT__MOD_X128: return 128;
    default: return 0;
    }
}

static const char *digits(const char *s, const char *end, uint16_t *v)
{
    uint32_t n = 0;
    const char *p = s;

    while (p < end && *p >= '0' && *p <= '9' && p - s < 4)
        n = n * 10 + (uint32_t)(*p++ - '0');
    *v = (uint16_t)n;
    return p > s ? p : NULL;
}

/* m16n8k16, m64n8, 16x64b, 16x32bx2: its numbers. */
static bool read_shape(uint16_t shape[3], const char *s, size_t len)
{
    const char *const end = s + len;
    const bool mnk = len > 1 && s[0] == 'm';
    const char *p = digits(s + mnk, end, &shape[0]);

    shape[2] = 0;
    if (!p || p == end || *p != (mnk ? 'n' : 'x') ||
        !(p = digits(p + 1, end, &shape[1])))
        return false;
    if (mnk)
        return p == end || (*p == 'k' && digits(p + 1, end, &shape[2]) == end);
    if (p == end || *p++ != 'b')
        return false;
    return p == end || (*p == 'x' && digits(p + 1, end, &shape[2]) == end);
}

static unsigned word(ft__parser *p, ft__ptx_insn *i)
{
    unsigned mod = ft__ptx_word(p);

    if (mod < FT__MOD_SHAPE)
        return mod;
    if (!read_shape(i->shape, p->lex.start, p->lex.len))
        ft__ptx_expected(p, "a word that instructions have");
    return FT__MOD_SHAPE;
}

static void words(ft__parser *p, ft__ptx_insn *i)
{
    i->mods = (uint32_t)p->mods.n;
    i->vector = 1;
    for (unsigned k = 0; k < 4; k++)
        i->type[k] = FT__TYPE_NONE;
    for (; p->lex.kind == FT__TOK_WORD; ft__ptx_next(p)) {
        const unsigned mod = word(p, i);

        if (i->n_mods == UINT8_MAX) {
            ft__ptx_fail(p, p->lex.start, "more words than an instruction has");
            return;
        }
        *(uint16_t *)ft__ptx_push(p, &p->mods, sizeof(uint16_t)) = (uint16_t)mod;
        i->n_mods++;
        if (mod < FT__PTX_TYPES && i->n_types++ < 4)
            i->type[i->n_types - 1] = (uint8_t)mod;
        if (i->space == FT_PTX_GENERIC && space_of(mod) > 0)
            i->space = (uint8_t)space_of(mod);
        if (vector_of(mod))
            i->vector = (uint8_t)vector_of(mod);
    }
}

static bool has(const ft__ptx_insn *i, const uint16_t *mods, unsigned mod)
{
    for (unsigned k = 0; k < i->n_mods; k++)
        if (mods[k] == mod)
            return true;
    return false;
}

/* Arithmetic that the opcode calls integer's, by its type. */
static unsigned arithmetic(const ft__ptx_insn *i, unsigned otherwise)
{
    unsigned type = i->n_types ? i->type[0] : FT__TYPE_NONE;

    if (ft__ptx_type_kind(type) != FT__KIND_FLOAT)
        return otherwise;
    switch (type) {
    case FT__TYPE_F64: return FT_PTX_FP64;
    case FT__TYPE_F32:
    case FT__TYPE_TF32:
    case FT__TYPE_F32X2: return FT_PTX_FP32;
    default: return FT_PTX_FP16;
    }
}

static bool is_float(const ft__ptx_insn *i)
{
    return i->n_types && ft__ptx_type_kind(i->type[0]) == FT__KIND_FLOAT;
}

/* With a rounding it is a sequence around the special unit's approximation. */
static unsigned divided(const ft__ptx_insn *i, const uint16_t *mods)
{
    return has(i, mods, FT__MOD_RN) || has(i, mods, FT__MOD_RZ) ||
                   has(i, mods, FT__MOD_RM) || has(i, mods, FT__MOD_RP)
               ? FT_PTX_FDIV
               : FT_PTX_SPECIAL;
}

static unsigned copy(const ft__ptx_insn *i, const uint16_t *mods)
{
    if (has(i, mods, FT__MOD_COMMIT_GROUP) || has(i, mods, FT__MOD_WAIT_GROUP) ||
        has(i, mods, FT__MOD_WAIT_ALL) || has(i, mods, FT__MOD_MBARRIER))
        return FT_PTX_SYNC;
    return has(i, mods, FT__MOD_PREFETCH) ? FT_PTX_LOAD : FT_PTX_COPY;
}

static unsigned tensor(const ft__ptx_insn *i, const uint16_t *mods)
{
    switch (mods && i->n_mods ? mods[0] : FT__PTX_MODS) {
    case FT__MOD_LD:
    case FT__MOD_LOAD: return FT_PTX_LOAD;
    case FT__MOD_ST:
    case FT__MOD_STORE: return FT_PTX_STORE;
    case FT__MOD_CP:
    case FT__MOD_SHIFT: return FT_PTX_COPY;
    case FT__MOD_FENCE:
    case FT__MOD_FENCE_BEFORE_THREAD_SYNC:
    case FT__MOD_FENCE_AFTER_THREAD_SYNC:
    case FT__MOD_WAIT_LD:
    case FT__MOD_WAIT_ST:
    case FT__MOD_COMMIT:
    case FT__MOD_COMMIT_GROUP:
    case FT__MOD_WAIT_GROUP:
    case FT__MOD_ALLOC:
    case FT__MOD_DEALLOC:
    case FT__MOD_RELINQUISH_ALLOC_PERMIT: return FT_PTX_SYNC;
    default: return FT_PTX_TENSOR;
    }
}

static unsigned classify(const ft__ptx_insn *i, const uint16_t *mods)
{
    const unsigned usual = ft__ptx_opcodes[i->opcode].class;

    switch (i->opcode) {
    case FT__PTX_ADD:
    case FT__PTX_SUB:
    case FT__PTX_MIN:
    case FT__PTX_MAX:
    case FT__PTX_ABS:
    case FT__PTX_NEG:
    case FT__PTX_MUL:
    case FT__PTX_MAD:
    case FT__PTX_FMA:
    case FT__PTX_COPYSIGN: return arithmetic(i, usual);
    case FT__PTX_DIV: return is_float(i) ? divided(i, mods) : usual;
    case FT__PTX_RCP:
    case FT__PTX_SQRT: return divided(i, mods);
    case FT__PTX_CP: return copy(i, mods);
    case FT__PTX_WMMA:
    case FT__PTX_WGMMA:
    case FT__PTX_TCGEN05: return tensor(i, mods);
    case FT__PTX_BAR:
    case FT__PTX_BARRIER: return FT_PTX_SYNC;
    case FT__PTX_MULTIMEM:
        return has(i, mods, FT__MOD_ST)          ? FT_PTX_STORE
               : has(i, mods, FT__MOD_LD_REDUCE) ? FT_PTX_LOAD
                                                 : FT_PTX_ATOMIC;
    default: return usual;
    }
}

/* How many operands and types it has, and that branches, calls and accesses say where
 * they go. Which words and types go together, and for which GPU, is not asked: that is
 * the assembler's business, and newer ones know more. */

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

/* (results), function, (arguments), targets */
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
    const ft__ptx_opcode_facts *a = &ft__ptx_opcodes[i->opcode];

    if (i->n_operands < a->least || i->n_operands > a->most)
        ft__ptx_fail(p, place(p, i), "'%s' has %u operands, expected %u", a->name,
                     i->n_operands, i->n_operands < a->least ? a->least : a->most);
    else if (i->n_types < a->types)
        ft__ptx_fail(p, place(p, i), "'%s' has %u types, expected %u", a->name,
                     i->n_types, a->types);
    return !p->st;
}

static void check(ft__parser *p, const ft__ptx_insn *i)
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
                     ft__ptx_opcodes[i->opcode].name);
}

/* Spaces that the opcode alone says. */
static void own_space(ft__ptx_insn *i)
{
    switch (i->opcode) {
    case FT__PTX_TEX:
    case FT__PTX_TLD4:
    case FT__PTX_SULD:
    case FT__PTX_SUST:
    case FT__PTX_SURED: i->space = FT_PTX_TEXTURE; break;
    case FT__PTX_LDMATRIX:
    case FT__PTX_STMATRIX: i->space = FT_PTX_SHARED; break;
    case FT__PTX_MULTIMEM: i->space = FT_PTX_GLOBAL; break;
    case FT__PTX_TCGEN05:
        if (i->class == FT_PTX_LOAD || i->class == FT_PTX_STORE ||
            i->class == FT_PTX_COPY)
            i->space = FT_PTX_TENSOR_MEMORY;
        break;
    default: break;
    }
}

void ft__ptx_instruction(ft__parser *p)
{
    ft__ptx_insn i = {.at = (uint32_t)(p->lex.start - p->lex.text),
                      .line = p->lex.token_line,
                      .loc = p->loc};
    unsigned opcode = FT__PTX_OPCODES;

    guard(p, &i);
    if (p->lex.kind == FT__TOK_NAME)
        opcode = ft__ptx_named(p, &p->opcodes, FT__PTX_OPCODES);
    if (opcode == FT__PTX_OPCODES) {
        ft__ptx_expected(p, "an instruction");
        return;
    }
    i.opcode = (uint8_t)opcode;
    ft__ptx_next(p);
    words(p, &i);
    ft__ptx_operands(p, &i);
    if (p->st)
        return;
    i.class =
        (uint8_t)classify(&i, i.n_mods ? (const uint16_t *)p->mods.at + i.mods : NULL);
    own_space(&i);
    check(p, &i);
    *(ft__ptx_insn *)ft__ptx_push(p, &p->insns, sizeof(i)) = i;
}
