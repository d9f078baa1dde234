/* Constant expressions of C: 64 bits, signed unless an operand is unsigned, floats as
 * literals only. In: tokens; out: a number. */
#include "ptx/syntax/parser.h"

enum { MAX_DEPTH = 64 };

typedef struct number {
    uint64_t bits;
    bool is_unsigned;
} number;

static number conditional(ft__parser *p, int depth);
static number unary(ft__parser *p, int depth);

static number literal(ft__parser *p)
{
    number v = {p->lex.bits, p->lex.width == 1};

    ft__ptx_next(p);
    return v;
}

static number named(ft__parser *p)
{
    uint32_t value = 0;
    const ft__symbol *s = ft__symbol_here(p, &value);

    if (!s || s->kind != FT__SYMBOL_CONSTANT)
        ft__ptx_expected(p, "a constant");
    ft__ptx_next(p);
    return (number){value, false};
}

static bool is_word(const ft__parser *p, const char *word)
{
    return p->lex.kind == FT__TOK_WORD && p->lex.len == strlen(word) &&
           memcmp(p->lex.start, word, p->lex.len) == 0;
}

/* (.s64) and (.u64) are casts. */
static number parenthesised(ft__parser *p, int depth)
{
    number v;

    ft__ptx_next(p);
    if (is_word(p, "s64") || is_word(p, "u64")) {
        const bool is_unsigned = *p->lex.start == 'u';

        ft__ptx_next(p);
        ft__ptx_expect(p, ')', "')'");
        v = unary(p, depth + 1);
        v.is_unsigned = is_unsigned;
        return v;
    }
    v = conditional(p, depth + 1);
    ft__ptx_expect(p, ')', "')'");
    return v;
}

static number unary(ft__parser *p, int depth)
{
    const unsigned kind = p->lex.kind;
    number v = {0};

    if (depth > MAX_DEPTH) {
        ft__ptx_fail(p, p->lex.start, "the expression is nested more than %d deep",
                     MAX_DEPTH);
        return v;
    }
    switch (kind) {
    case FT__TOK_INT: return literal(p);
    case FT__TOK_NAME: return named(p);
    case '(': return parenthesised(p, depth);
    case '+':
    case '-':
    case '~':
    case '!':
        ft__ptx_next(p);
        v = unary(p, depth + 1);
        v.bits = kind == '-'   ? -v.bits
                 : kind == '~' ? ~v.bits
                 : kind == '!' ? !v.bits
                               : v.bits;
        return v;
    default: ft__ptx_expected(p, "a number"); return v;
    }
}

static int rank(unsigned kind)
{
    switch (kind) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case FT__TOK_SHIFT_LEFT:
    case FT__TOK_SHIFT_RIGHT: return 8;
    case '<':
    case '>':
    case FT__TOK_LESS_EQUAL:
    case FT__TOK_GREATER_EQUAL: return 7;
    case FT__TOK_EQUAL:
    case FT__TOK_NOT_EQUAL: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case FT__TOK_AND: return 2;
    case FT__TOK_OR: return 1;
    default: return 0;
    }
}

static uint64_t divide(unsigned kind, number a, number b)
{
    const bool by_minus_one = !b.is_unsigned && b.bits == UINT64_MAX;

    if (by_minus_one) /* the most negative number has no opposite */
        return kind == '/' ? -a.bits : 0;
    if (a.is_unsigned || b.is_unsigned)
        return kind == '/' ? a.bits / b.bits : a.bits % b.bits;
    return kind == '/' ? (uint64_t)((int64_t)a.bits / (int64_t)b.bits)
                       : (uint64_t)((int64_t)a.bits % (int64_t)b.bits);
}

static bool less(number a, number b)
{
    if (a.is_unsigned || b.is_unsigned)
        return a.bits < b.bits;
    return (int64_t)a.bits < (int64_t)b.bits;
}

static uint64_t combine(unsigned kind, number a, number b)
{
    switch (kind) {
    case '*': return a.bits * b.bits;
    case '/':
    case '%': return divide(kind, a, b);
    case '+': return a.bits + b.bits;
    case '-': return a.bits - b.bits;
    case FT__TOK_SHIFT_LEFT: return b.bits > 63 ? 0 : a.bits << b.bits;
    case FT__TOK_SHIFT_RIGHT:
        if (a.is_unsigned || !(a.bits >> 63))
            return b.bits > 63 ? 0 : a.bits >> b.bits;
        return ~(b.bits > 63 ? 0 : ~a.bits >> b.bits);
    case '<': return less(a, b);
    case '>': return less(b, a);
    case FT__TOK_LESS_EQUAL: return !less(b, a);
    case FT__TOK_GREATER_EQUAL: return !less(a, b);
    case FT__TOK_EQUAL: return a.bits == b.bits;
    case FT__TOK_NOT_EQUAL: return a.bits != b.bits;
    case '&': return a.bits & b.bits;
    case '^': return a.bits ^ b.bits;
    case '|': return a.bits | b.bits;
    case FT__TOK_AND: return a.bits && b.bits;
    default: return a.bits || b.bits;
    }
}

static number binary(ft__parser *p, int least, int depth)
{
    number a = unary(p, depth);

    while (rank(p->lex.kind) >= least) {
        const unsigned kind = p->lex.kind;
        const char *at = p->lex.start;
        number b;

        ft__ptx_next(p);
        b = binary(p, rank(kind) + 1, depth + 1);
        if ((kind == '/' || kind == '%') && b.bits == 0) {
            ft__ptx_fail(p, at, "division by zero");
            return a;
        }
        a.bits = combine(kind, a, b);
        a.is_unsigned = rank(kind) >= 8 || (rank(kind) >= 3 && rank(kind) <= 5)
                            ? a.is_unsigned || b.is_unsigned
                            : false;
    }
    return a;
}

static number conditional(ft__parser *p, int depth)
{
    number v = binary(p, 1, depth), yes, no;

    if (!ft__ptx_accept(p, '?'))
        return v;
    yes = conditional(p, depth + 1);
    ft__ptx_expect(p, ':', "':'");
    no = conditional(p, depth + 1);
    return v.bits ? yes : no;
}

/* Bits of a double with its sign turned. */
static uint64_t opposite(uint64_t bits)
{
    return bits ^ (uint64_t)1 << 63;
}

/* 0f3f800000, whose sign is one of its bits. */
static bool is_exact(const ft__lex *x)
{
    return x->len > 1 && ((x->start[1] | 32) == 'f' || (x->start[1] | 32) == 'd');
}

/* A float literal, its sign in front; *width 0: something else stands there. */
static uint64_t float_literal(ft__parser *p, uint8_t *width)
{
    const bool minus = p->lex.kind == '-';
    uint64_t bits;

    *width = 0;
    if (minus && p->lex.at < p->lex.end) {
        ft__lex ahead = p->lex;

        ft__lex_next(&ahead);
        if (ahead.kind == FT__TOK_FLOAT && !is_exact(&ahead))
            ft__ptx_next(p);
    }
    if (p->lex.kind != FT__TOK_FLOAT)
        return 0;
    *width = p->lex.width;
    bits = p->lex.bits;
    ft__ptx_next(p);
    return minus ? opposite(bits) : bits;
}

uint64_t ft__ptx_constant(ft__parser *p, uint8_t *width)
{
    const uint64_t bits = width ? float_literal(p, width) : 0;

    return width && *width ? bits : conditional(p, 0).bits;
}

uint32_t ft__ptx_small(ft__parser *p, const char *what)
{
    const uint32_t v = (uint32_t)p->lex.bits;

    if (p->lex.kind != FT__TOK_INT || p->lex.bits > UINT32_MAX) {
        ft__ptx_expected(p, what);
        return 0;
    }
    ft__ptx_next(p);
    return v;
}
