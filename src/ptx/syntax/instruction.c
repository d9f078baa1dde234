/* One instruction. In: tokens from its guard to its semicolon; out: the instruction,
 * checked and with its class, its words and operands in the parser's lists: a tree of
 * operands as flat lists, which are put together on the parser's stage. */
#include <string.h>

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

/* ---- words ---- */

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

/* ---- operands ---- */

enum {
    MAX_NESTED = 8,
    /* half of an operand: 1 .. 4 are b0 .. b3, 5 and 6 h0 and h1; of several at once
     * the digits are in bits */
    HALF_B_MANY = 7,
    HALF_H_MANY = 8,
};

static void read_operand(ft__parser *p, unsigned opcode);

static ft__ptx_operand *push(ft__parser *p, ft__ptx_operand_kind kind)
{
    ft__ptx_operand *o = ft__ptx_push(p, &p->stage, sizeof(*o));

    o->kind = (uint8_t)kind;
    return o;
}

static ft__ptx_operand *top(ft__parser *p)
{
    return (ft__ptx_operand *)p->stage.at + p->stage.n - 1;
}

/* What lies on the stage from `from` on becomes operands of the function's. */
static void flush(ft__parser *p, size_t from, uint32_t *index, uint32_t *n)
{
    const ft__ptx_operand *o = p->stage.at;

    *index = (uint32_t)p->operands.n;
    *n = 0;
    if (p->stage.n < from) /* memory was short */
        return;
    *n = (uint32_t)(p->stage.n - from);
    for (size_t i = from; i < p->stage.n; i++)
        *(ft__ptx_operand *)ft__ptx_push(p, &p->operands, sizeof(*o)) = o[i];
    p->stage.n = from;
}

/* What lies on the stage from `from` on becomes one operand. */
static ft__ptx_operand *group(ft__parser *p, size_t from, ft__ptx_operand_kind kind)
{
    ft__ptx_operand *o;
    uint32_t index, n;

    flush(p, from, &index, &n);
    o = push(p, kind);
    o->index = index;
    o->n = n;
    return o;
}

static void number(ft__parser *p)
{
    uint8_t width;
    const uint64_t bits = ft__ptx_constant(p, &width);
    ft__ptx_operand *o = push(p, width ? FT__PTX_FLOAT : FT__PTX_INT);

    o->bits = bits;
    o->width = width;
}

/* .x .y .z .w or .r .g .b .a: 0 .. 3; -1: none of these. */
static int component(const ft__parser *p)
{
    static const char names[] = "xyzwrgba";
    const char *c;

    if (p->lex.kind != FT__TOK_WORD || p->lex.len != 1)
        return -1;
    c = strchr(names, *p->lex.start);
    return c && *c ? (int)(c - names) % 4 : -1;
}

/* Of a video instruction: .b0 .h1, or several at once: .b3210 .h10. */
static bool selector(ft__parser *p, ft__ptx_operand *o)
{
    const char *s = p->lex.start;

    if (p->lex.kind != FT__TOK_WORD || p->lex.len < 2 || p->lex.len > 5 ||
        (*s != 'b' && *s != 'h'))
        return false;
    for (uint32_t i = 1; i < p->lex.len; i++) {
        if (s[i] < '0' || s[i] > '7')
            return false;
        o->bits = o->bits << 4 | (uint64_t)(s[i] - '0');
    }
    if (p->lex.len == 2)
        o->half = (uint8_t)((*s == 'h' ? 5 : 1) + s[1] - '0');
    else
        o->half = *s == 'h' ? HALF_H_MANY : HALF_B_MANY;
    ft__ptx_next(p);
    return true;
}

static void registers(ft__parser *p, const ft__symbol *s, uint32_t reg)
{
    const uint32_t n = s->vector;
    const size_t from = p->stage.n;

    ft__ptx_next(p);
    if (n == 1) {
        ft__ptx_operand *o = push(p, FT__PTX_REG);

        o->index = reg;
        if (p->lex.kind == FT__TOK_WORD && !selector(p, o))
            ft__ptx_expected(p, "',' or ';'");
    } else if (p->lex.kind == FT__TOK_WORD) {
        const int c = component(p);

        if (c < 0 || (uint32_t)c >= n)
            ft__ptx_expected(p, "a component of the vector");
        push(p, FT__PTX_REG)->index = reg + (uint32_t)c;
        ft__ptx_next(p);
    } else {
        for (uint32_t i = 0; i < n; i++)
            push(p, FT__PTX_REG)->index = reg + i;
        group(p, from, FT__PTX_VECTOR);
    }
}

static void special(ft__parser *p, uint32_t sreg)
{
    ft__ptx_next(p);
    if (p->lex.kind == FT__TOK_WORD) {
        const int c = component(p);

        if (c < 0 || sreg + 1 >= FT__PTX_SREGS || !strchr(ft__ptx_sregs[sreg + 1], '.'))
            ft__ptx_expected(p, "',' or ';'");
        sreg += 1 + (uint32_t)c;
        ft__ptx_next(p);
    }
    push(p, FT__PTX_SPECIAL)->index = sreg;
}

static uint32_t element_bytes(const ft__parser *p, uint32_t variable)
{
    const ft__ptx_variable *v = (const ft__ptx_variable *)p->variables.at + variable;

    return (ft__ptx_type_bits(v->type) + 7) / 8;
}

/* name, name + 4, name[3]: its address. */
static void variable(ft__parser *p, uint32_t index, unsigned opcode)
{
    ft__ptx_operand *o;
    uint64_t bits = 0;
    bool element = false;

    ft__ptx_next(p);
    if (ft__ptx_accept(p, '+')) {
        bits = ft__ptx_constant(p, NULL);
    } else if (ft__ptx_accept(p, '[')) {
        bits = ft__ptx_constant(p, NULL) * element_bytes(p, index);
        ft__ptx_expect(p, ']', "']'");
        element = true;
    }
    o = push(p, FT__PTX_VARIABLE);
    o->index = index;
    o->bits = bits;
    if (element && opcode != FT__PTX_MOV)
        group(p, p->stage.n - 1, FT__PTX_ADDRESS);
}

static void wait_for_label(ft__parser *p)
{
    ft__fixup *x = ft__ptx_push(p, &p->fixups, sizeof(*x));

    x->name = p->lex.start;
    x->len = p->lex.len;
    x->hash = p->lex.hash;
    x->operand = (uint32_t)p->stage.n;
    push(p, FT__PTX_LABEL);
    ft__ptx_next(p);
}

/* name, name + 4 */
static void function_address(ft__parser *p, uint32_t index)
{
    ft__ptx_operand *o;
    uint64_t bits;

    ft__ptx_next(p);
    bits = ft__ptx_accept(p, '+') ? ft__ptx_constant(p, NULL) : 0;
    o = push(p, FT__PTX_FUNCTION);
    o->index = index;
    o->bits = bits << 32; /* behind its first instruction no function begins */
}

static void named(ft__parser *p, unsigned opcode)
{
    uint32_t number = 0;
    const ft__symbol *s = ft__symbol_here(p, &number);

    if (opcode == FT__PTX_BRA) {
        wait_for_label(p);
        return;
    }
    if (!s) {
        ft__ptx_fail(p, p->lex.start, "'%.*s' is not declared", (int)p->lex.len,
                     p->lex.start);
        return;
    }
    switch (s->kind) {
    case FT__SYMBOL_REG: registers(p, s, number); break;
    case FT__SYMBOL_SREG: special(p, number); break;
    case FT__SYMBOL_VARIABLE: variable(p, number, opcode); break;
    case FT__SYMBOL_FUNCTION: function_address(p, number); break;
    case FT__SYMBOL_TARGETS:
        push(p, FT__PTX_TARGETS)->index = number;
        ft__ptx_next(p);
        break;
    default: ft__ptx_expected(p, "an operand"); break;
    }
}

/* Operands apart by commas up to `end`, onto the stage. */
static void operands_up_to(ft__parser *p, unsigned end, const char *what,
                           unsigned opcode)
{
    if (ft__ptx_accept(p, end))
        return;
    do
        read_operand(p, opcode);
    while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, end, what);
}

static void address(ft__parser *p)
{
    const size_t from = p->stage.n;
    uint64_t bits = 0;

    ft__ptx_next(p);
    read_operand(p, FT__PTX_MOV);
    if (!p->st && top(p)->kind == FT__PTX_VARIABLE) {
        bits = top(p)->bits;
        top(p)->bits = 0;
    } else if (ft__ptx_accept(p, '+')) {
        bits = ft__ptx_constant(p, NULL);
    }
    if (ft__ptx_accept(p, ','))
        operands_up_to(p, ']', "']'", FT__PTX_MOV);
    else
        ft__ptx_expect(p, ']', "']' or ','");
    group(p, from, FT__PTX_ADDRESS)->bits = bits;
}

static void list(ft__parser *p, unsigned end, const char *what, unsigned opcode,
                 ft__ptx_operand_kind kind)
{
    const size_t from = p->stage.n;

    ft__ptx_next(p);
    operands_up_to(p, end, what, opcode);
    group(p, from, kind);
}

static bool before_name(ft__parser *p)
{
    const char c = ft__lex_peek(&p->lex);

    return c == '%' || c == '_' || c == '$' || (c | 32) >= 'a';
}

static void single(ft__parser *p, unsigned opcode)
{
    bool negated = false;

    switch (p->lex.kind) {
    case '{': list(p, '}', "'}'", opcode, FT__PTX_VECTOR); return;
    case '[': address(p); return;
    case '_':
        push(p, FT__PTX_SINK);
        ft__ptx_next(p);
        return;
    case '(':
        if (opcode == FT__PTX_CALL)
            list(p, ')', "')'", FT__PTX_MOV, FT__PTX_LIST);
        else
            number(p);
        return;
    case '!':
    case '-':
        negated = before_name(p);
        if (!negated) {
            number(p);
            return;
        }
        ft__ptx_next(p);
        break;
    case FT__TOK_NAME: break;
    case FT__TOK_INT:
    case FT__TOK_FLOAT:
    case '+':
    case '~': number(p); return;
    default: ft__ptx_expected(p, "an operand"); return;
    }
    if (p->lex.kind == FT__TOK_NAME && p->lex.len == 7 &&
        memcmp(p->lex.start, "WARP_SZ", 7) == 0)
        number(p);
    else if (p->lex.kind == FT__TOK_NAME)
        named(p, opcode);
    else
        ft__ptx_expected(p, "a name");
    if (negated && !p->st)
        top(p)->negated = true;
}

/* Onto the stage; children go to the operands. */
static void read_operand(ft__parser *p, unsigned opcode)
{
    const size_t from = p->stage.n;

    if (++p->nested > MAX_NESTED)
        ft__ptx_fail(p, p->lex.start, "operands are nested too deep");
    else
        single(p, opcode);
    if (ft__ptx_accept(p, '|')) {
        single(p, opcode);
        group(p, from, FT__PTX_PAIR);
    }
    p->nested--;
}

/* ---- operands `a + 1` ---- */

/* .u16 .u32 .u64 of a register; NONE: it holds no integer. */
static unsigned sum_type(unsigned type)
{
    const uint32_t bits = ft__ptx_type_bits(type);

    if (ft__ptx_type_kind(type) > FT__KIND_SIGNED || bits > 64)
        return FT__TYPE_NONE;
    return bits > 32 ? FT__TYPE_U64 : bits > 16 ? FT__TYPE_U32 : FT__TYPE_U16;
}

/* An implied `add` in front of the instruction, into a register of its own, which is
 * the operand; what the assembler makes of it, too. */
static void imply_add(ft__parser *p, const ft__ptx_insn *of, unsigned type,
                      uint64_t number)
{
    ft__ptx_insn add = *of;
    ft__ptx_operand *o;
    ft__ptx_reg *reg;

    add.opcode = FT__PTX_ADD;
    add.class = FT_PTX_INT;
    add.implied = true;
    add.guard = -1;
    add.vector = 1;
    add.space = FT_PTX_GENERIC;
    add.n_mods = add.n_types = 1;
    add.type[0] = (uint8_t)type;
    add.type[1] = add.type[2] = add.type[3] = FT__TYPE_NONE;
    add.mods = (uint32_t)p->mods.n;
    add.operands = (uint32_t)p->operands.n;
    add.n_operands = 3;
    *(uint16_t *)ft__ptx_push(p, &p->mods, sizeof(uint16_t)) = (uint16_t)type;
    reg = ft__ptx_push(p, &p->regs, sizeof(*reg));
    if (p->st)
        return;
    *reg = ((const ft__ptx_reg *)p->regs.at)[top(p)->index];
    reg->implied = true;
    o = ft__ptx_push(p, &p->operands, sizeof(*o));
    o->kind = FT__PTX_REG;
    o->index = (uint32_t)p->regs.n - 1;
    *(ft__ptx_operand *)ft__ptx_push(p, &p->operands, sizeof(*o)) = *top(p);
    o = ft__ptx_push(p, &p->operands, sizeof(*o));
    o->kind = FT__PTX_INT;
    o->bits = number;
    top(p)->index = (uint32_t)p->regs.n - 1;
    *(ft__ptx_insn *)ft__ptx_push(p, &p->insns, sizeof(add)) = add;
}

/* `+ 1` behind an operand that is one register, unless that is written. */
static void sum(ft__parser *p, const ft__ptx_insn *i)
{
    const bool writes = p->stage.n == 1 && i->opcode != FT__PTX_BRX &&
                        ft__ptx_opcodes[i->opcode].class != FT_PTX_SYNC;
    const ft__ptx_operand *o;
    unsigned type = FT__TYPE_NONE;

    if (p->st || p->lex.kind != '+' || writes)
        return;
    o = top(p);
    if (o->kind != FT__PTX_REG || o->negated)
        return;
    type = sum_type(((const ft__ptx_reg *)p->regs.at)[o->index].type);
    if (type == FT__TYPE_NONE || o->half) {
        ft__ptx_expected(p, "',' or ';': numbers are added to registers of integers");
        return;
    }
    ft__ptx_next(p);
    if (ft__ptx_count_registers(p, p->lex.start, 1))
        imply_add(p, i, type, ft__ptx_constant(p, NULL));
}

/* Up to the semicolon, as the opcode wants them. */
static void operands(ft__parser *p, ft__ptx_insn *i)
{
    const size_t first_fixup = p->fixups.n;
    uint32_t n = 0;

    p->stage.n = 0;
    if (p->lex.kind != ';') {
        do {
            read_operand(p, i->opcode);
            sum(p, i);
        } while (ft__ptx_accept(p, ','));
    }
    ft__ptx_expect(p, ';', "',' or ';'");
    flush(p, 0, &i->operands, &n);
    if (n > UINT8_MAX)
        ft__ptx_fail(p, p->lex.start, "more operands than an instruction has");
    i->n_operands = (uint8_t)n;
    for (size_t k = first_fixup; k < p->fixups.n; k++)
        ((ft__fixup *)p->fixups.at)[k].operand += i->operands;
}

/* ---- class, by which it is counted ---- */

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

/* ---- checks: what is held against an instruction before anything relies on it ---- */

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

/* ---- all of it ---- */

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
    operands(p, &i);
    if (p->st)
        return;
    i.class =
        (uint8_t)classify(&i, i.n_mods ? (const uint16_t *)p->mods.at + i.mods : NULL);
    own_space(&i);
    check(p, &i);
    *(ft__ptx_insn *)ft__ptx_push(p, &p->insns, sizeof(i)) = i;
}
