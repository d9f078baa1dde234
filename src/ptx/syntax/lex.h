#ifndef PTX_SYNTAX_LEX_H
#define PTX_SYNTAX_LEX_H

#include <stdint.h>

/* PTX as tokens. Punctuation is its own character; the end is met again and again. */
enum {
    FT__TOK_END = 0,
    FT__TOK_NAME = 128, /* also %tid; '_' alone is punctuation */
    FT__TOK_WORD,   /* .global, .L2::128B, .16x64b: start and len without the point */
    FT__TOK_INT,    /* bits; width 1: written with U or too large for a sign */
    FT__TOK_FLOAT,  /* bits; width 32: 0f........, else 64 */
    FT__TOK_STRING, /* without its quotes, as written */
    FT__TOK_SHIFT_LEFT,
    FT__TOK_SHIFT_RIGHT,
    FT__TOK_LESS_EQUAL,
    FT__TOK_GREATER_EQUAL,
    FT__TOK_EQUAL,
    FT__TOK_NOT_EQUAL,
    FT__TOK_AND,
    FT__TOK_OR,
    FT__TOK_BAD, /* no token of the language */
};

typedef struct ft__lex {
    const char *text, *at, *end; /* what follows the token */
    uint32_t line;               /* of `at` */
    /* the token: */
    uint32_t kind, len, token_line;
    const char *start;
    uint64_t hash; /* of a name or word */
    uint8_t width;
    uint64_t bits;
} ft__lex;

void ft__lex_next(ft__lex *x);
/* What follows the token, blanks aside: its first character; 0: nothing. */
char ft__lex_peek(ft__lex *x);

#endif
