/* Operands of one instruction. In: tokens up to its semicolon; out: a tree of operands
 * as flat lists, which are put together on the parser's stage. */
#include <string.h>

#include "ptx/syntax/parser.h"

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

    x->name = x->at = p->lex.start;
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

void ft__ptx_operands(ft__parser *p, ft__ptx_insn *i)
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
