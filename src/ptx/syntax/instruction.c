/* One instruction. In: tokens from its guard to its semicolon; out: the instruction
 * with its words and operands in the parser's lists. */
#include "ptx/syntax/parse.h"

static void guard(ft__parser *p, ft__ptx_insn *i)
{
    uint32_t reg = 0;
    const ft__symbol *s;

    i->guard = -1;
    if (!ft__ptx_accept(p, '@'))
        return;
    i->guard_not = ft__ptx_accept(p, '!');
    s = p->lex.kind == FT__TOK_NAME ? ft__symbol_here(p, &reg) : NULL;
    if (!s || (s->kind != FT__SYMBOL_REG && s->kind != FT__SYMBOL_RANGE)) {
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

static unsigned word(ft__parser *p, ft__ptx_insn *i)
{
    unsigned mod = ft__ptx_word(p);

    if (mod < FT__MOD_SHAPE)
        return mod;
    if (!ft__words_shape(i->shape, p->lex.start, p->lex.len))
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

static void operands(ft__parser *p, ft__ptx_insn *i)
{
    const size_t first_fixup = p->fixups.n;
    uint32_t n = 0;

    p->stage.n = 0;
    if (p->lex.kind != ';') {
        do
            ft__ptx_operand_read(p, i->opcode);
        while (ft__ptx_accept(p, ','));
    }
    ft__ptx_expect(p, ';', "',' or ';'");
    ft__ptx_flush(p, 0, &i->operands, &n);
    if (n > UINT8_MAX)
        ft__ptx_fail(p, p->lex.start, "more operands than an instruction has");
    i->n_operands = (uint8_t)n;
    for (size_t k = first_fixup; k < p->fixups.n; k++)
        ((ft__fixup *)p->fixups.at)[k].operand += i->operands;
}

void ft__ptx_instruction(ft__parser *p)
{
    ft__ptx_insn i = {.at = (uint32_t)(p->lex.start - p->lex.text),
                      .line = p->lex.token_line,
                      .loc = p->loc};
    unsigned opcode = FT__PTX_OPCODES;

    guard(p, &i);
    if (p->lex.kind == FT__TOK_NAME)
        opcode = ft__words_opcode(&p->words, p->lex.hash, p->lex.start, p->lex.len);
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
    i.class = (uint8_t)ft__ptx_classify(
        &i, i.n_mods ? (const uint16_t *)p->mods.at + i.mods : NULL);
    own_space(&i);
    ft__check_instruction(p, &i);
    *(ft__ptx_insn *)ft__ptx_push(p, &p->insns, sizeof(i)) = i;
}
