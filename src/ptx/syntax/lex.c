/* In: the text; out: tokens, with line and column. */
#include "ptx/syntax/lex.h"

#include <string.h>

#include "base/index.h"
#include "base/number.h"

enum {
    NAMED = 1, /* of a name or word */
    DIGIT = 2,
    HEX = 4,
    BLANK = 8,
    FIRST = 16, /* begins a name */
    MARK = 32,
    NUMERAL = NAMED | DIGIT | HEX,
    LETTER = NAMED | FIRST,
    HEXED = LETTER | HEX,
};

/* Four letters that follow each other. */
#define FOUR(c, is) [c] = is, [(c) + 1] = is, [(c) + 2] = is, [(c) + 3] = is

/* What a character may be part of. */
/* clang-format off */
static const uint8_t sort[256] = {
    [' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['\f'] = BLANK, ['\v'] = BLANK,
    FOUR('0', NUMERAL), FOUR('4', NUMERAL), ['8'] = NUMERAL, ['9'] = NUMERAL,
    FOUR('A', HEXED), ['E'] = HEXED, ['F'] = HEXED, FOUR('G', LETTER), FOUR('K', LETTER),
    FOUR('O', LETTER), FOUR('S', LETTER), FOUR('W', LETTER),
    FOUR('a', HEXED), ['e'] = HEXED, ['f'] = HEXED, FOUR('g', LETTER), FOUR('k', LETTER),
    FOUR('o', LETTER), FOUR('s', LETTER), FOUR('w', LETTER),
    ['_'] = LETTER, ['$'] = LETTER, ['%'] = FIRST | MARK,
    ['('] = MARK, [')'] = MARK, ['{'] = MARK, ['}'] = MARK, ['['] = MARK, [']'] = MARK,
    ['<'] = MARK, ['>'] = MARK, [','] = MARK, [';'] = MARK, [':'] = MARK, ['+'] = MARK,
    ['-'] = MARK, ['*'] = MARK, ['/'] = MARK, ['|'] = MARK, ['&'] = MARK, ['^'] = MARK,
    ['~'] = MARK, ['!'] = MARK, ['='] = MARK, ['?'] = MARK, ['@'] = MARK,
};
/* clang-format on */

static uint8_t sort_of(char c)
{
    return sort[(unsigned char)c];
}

/* Behind a comment that begins at x->at; false: it has no end. */
static bool skip_comment(ft__lex *x)
{
    const char *p = x->at + 2;

    if (x->at[1] == '/') {
        while (p < x->end && *p != '\n')
            p++;
        x->at = p;
        return true;
    }
    for (; p + 1 < x->end; p++) {
        if (*p == '\n')
            x->line++;
        if (p[0] == '*' && p[1] == '/') {
            x->at = p + 2;
            return true;
        }
    }
    return false;
}

static bool skip_blanks(ft__lex *x)
{
    while (x->at < x->end) {
        const char c = *x->at;

        if (c == '\n') {
            x->line++;
            x->at++;
        } else if (sort_of(c) & BLANK) {
            x->at++;
        } else if (c == '/' && x->at + 1 < x->end &&
                   (x->at[1] == '/' || x->at[1] == '*')) {
            if (!skip_comment(x))
                return false;
        } else {
            return true;
        }
    }
    return true;
}

char ft__lex_peek(ft__lex *x)
{
    (void)skip_blanks(x);
    return x->at < x->end ? *x->at : '\0';
}

static void name(ft__lex *x)
{
    const char *const begin = x->at, *p = begin + 1;

    while (p < x->end && sort_of(*p) & NAMED)
        p++;
    x->kind = FT__TOK_NAME;
    x->hash = ft__hash_bytes(FT__HASH_BEGIN, begin, (size_t)(p - begin));
    x->at = p;
    if (p - begin == 1 && (*begin == '_' || *begin == '%'))
        x->kind = (unsigned char)*begin;
}

/* .global, .shared::cta, .proxy.async is two. */
static void word(ft__lex *x)
{
    const char *p = ++x->at;

    x->start = p;
    while (p < x->end) {
        if (*p == ':' && p + 2 < x->end && p[1] == ':' && sort_of(p[2]) & NAMED)
            p += 2;
        else if (!(sort_of(*p) & NAMED))
            break;
        p++;
    }
    x->kind = FT__TOK_WORD;
    x->hash = ft__hash_bytes(FT__HASH_BEGIN, x->start, (size_t)(p - x->start));
    x->at = p;
}

static void decimal_float(ft__lex *x)
{
    char text[64];
    const char *p = x->at;
    double v = 0;

    while (p < x->end && sort_of(*p) & DIGIT)
        p++;
    if (p < x->end && *p == '.')
        p++;
    while (p < x->end && sort_of(*p) & DIGIT)
        p++;
    if (p < x->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < x->end && (*p == '+' || *p == '-'))
            p++;
        while (p < x->end && sort_of(*p) & DIGIT)
            p++;
    }
    x->kind = FT__TOK_BAD;
    if ((size_t)(p - x->at) < sizeof(text)) {
        memcpy(text, x->at, (size_t)(p - x->at));
        text[p - x->at] = '\0';
        if (p[-1] == '.')
            text[p - x->at - 1] = '\0';
        if (ft__number_parse(text, &v))
            x->kind = FT__TOK_FLOAT;
    }
    memcpy(&x->bits, &v, sizeof(v));
    x->width = 64;
    x->at = p;
}

static unsigned digit(char c)
{
    return sort_of(c) & DIGIT ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;
}

/* Digits of a base from p on; how far they go. None: kind is BAD. What is too large
 * loses its high bits, as it does for ptxas. */
static const char *digits(ft__lex *x, const char *p, unsigned base)
{
    const char *const begin = p;
    uint64_t v = 0;

    for (; p < x->end && sort_of(*p) & HEX && digit(*p) < base; p++) {
        v = v * base + digit(*p);
    }
    if (p == begin)
        x->kind = FT__TOK_BAD;
    x->bits = v;
    return p;
}

/* 0f3F800000, 0d3FF0000000000000: bits of a double, either way. */
static const char *exact_float(ft__lex *x, const char *p, unsigned n_digits)
{
    const char *const begin = p;

    p = digits(x, p, 16);
    x->kind = p - begin == (ptrdiff_t)n_digits ? FT__TOK_FLOAT : FT__TOK_BAD;
    x->width = n_digits == 8 ? 32 : 64;
    return p;
}

static void number(ft__lex *x)
{
    const char *p = x->at;
    const char second = p + 1 < x->end ? (char)(p[1] | 32) : '\0';

    x->kind = FT__TOK_INT;
    x->width = 0;
    if (*p == '0' && second == 'x') {
        p = digits(x, p + 2, 16);
    } else if (*p == '0' && second == 'b') {
        p = digits(x, p + 2, 2);
    } else if (*p == '0' && second == 'f') {
        p = exact_float(x, p + 2, 8);
    } else if (*p == '0' && second == 'd') {
        p = exact_float(x, p + 2, 16);
    } else {
        const char *q = p;

        while (q < x->end && sort_of(*q) & DIGIT)
            q++;
        if (q < x->end && (*q == '.' || (*q | 32) == 'e')) {
            decimal_float(x);
            return;
        }
        p = digits(x, p, *p == '0' ? 8 : 10);
    }
    if (x->kind == FT__TOK_INT && p < x->end && *p == 'U') {
        x->width = 1;
        p++;
    }
    if (x->kind == FT__TOK_INT && x->bits >> 63)
        x->width = 1;
    if (p < x->end && sort_of(*p) & (NAMED | FIRST))
        x->kind = FT__TOK_BAD;
    x->at = p;
}

static void string(ft__lex *x)
{
    const char *p = ++x->at;

    while (p < x->end && *p != '"' && *p != '\n')
        p += *p == '\\' && p + 1 < x->end ? 2 : 1;
    x->start = x->at;
    x->kind = p < x->end && *p == '"' ? FT__TOK_STRING : FT__TOK_BAD;
    x->at = p;
}

static uint32_t pair(char a, char b)
{
    if (a == '<')
        return b == '<' ? FT__TOK_SHIFT_LEFT : b == '=' ? FT__TOK_LESS_EQUAL : 0;
    if (a == '>')
        return b == '>' ? FT__TOK_SHIFT_RIGHT : b == '=' ? FT__TOK_GREATER_EQUAL : 0;
    if (a == '&' || a == '|')
        return b != a ? 0 : a == '&' ? FT__TOK_AND : FT__TOK_OR;
    if (a == '=' || a == '!')
        return b != '=' ? 0 : a == '=' ? FT__TOK_EQUAL : FT__TOK_NOT_EQUAL;
    return 0;
}

static void punctuation(ft__lex *x)
{
    const char c = *x->at++;

    x->kind = sort_of(c) & MARK ? (unsigned char)c : FT__TOK_BAD;
    if (x->at < x->end && pair(c, *x->at))
        x->kind = pair(c, *x->at++);
}

void ft__lex_next(ft__lex *x)
{
    const bool ended = skip_blanks(x);

    x->start = x->at;
    x->token_line = x->line;
    x->len = 0;
    if (x->at >= x->end) {
        x->kind = FT__TOK_END;
        return;
    }
    if (!ended) { /* a comment without one */
        x->kind = FT__TOK_BAD;
        x->len = 2;
        x->at = x->end;
        return;
    }
    if (sort_of(*x->at) & FIRST)
        name(x);
    else if (*x->at == '.' && x->at + 1 < x->end && sort_of(x->at[1]) & NAMED)
        word(x);
    else if (sort_of(*x->at) & DIGIT)
        number(x);
    else if (*x->at == '"')
        string(x);
    else
        punctuation(x);
    x->len = (uint32_t)(x->at - x->start);
    if (x->kind == FT__TOK_STRING)
        x->at++;
}
