#ifndef PTX_SYNTAX_PARSER_H
#define PTX_SYNTAX_PARSER_H

#include <string.h>

#include "base/index.h"
#include "ptx/syntax/lex.h"
#include "ptx/syntax/module.h"

/* What the files that read a module share. Errors are sticky: after the first, the
 * lexer gives nothing but the end, so that every loop is left; who fails tells nobody.
 * Lists grow while a function is read and are copied to the module's arena behind it.
 */

/* The words of the language by number: ft__ptx_mod (types first), then those of
 * directives. */
enum {
    FT__WORD_LAST_MOD = FT__PTX_MODS - 1,
#define FT__PTX_DIRECTIVE(e, name) FT__WORD_##e,
#include "ptx/syntax/directives.def"
#undef FT__PTX_DIRECTIVE
    FT__WORDS
};

typedef struct ft__ptx_list {
    void *at;
    size_t n, cap;
} ft__ptx_list;

typedef enum ft__symbol_kind {
    FT__SYMBOL_REG,      /* number: of the (first) register */
    FT__SYMBOL_VARIABLE, /* number: of the module's */
    FT__SYMBOL_FUNCTION,
    FT__SYMBOL_LABEL,   /* number: instruction */
    FT__SYMBOL_TARGETS, /* number: of the function's lists */
    FT__SYMBOL_SREG,
    FT__SYMBOL_CONSTANT, /* number: WARP_SZ */
} ft__symbol_kind;

typedef struct ft__symbol {
    const char *name;
    uint64_t hash;
    uint32_t len, next; /* 1 + the one of this hash before it; 0: none */
    uint32_t number;
    uint32_t range; /* `%r<100>` by its stem: how many; 0: the name alone */
    uint16_t scope; /* 0: the module's */
    uint8_t kind;
    uint8_t type, vector; /* of registers; components of each, 1 of scalars */
} ft__symbol;

typedef struct ft__symbols {
    ft__ptx_list list;
    ft__index newest; /* of each hash: 1 + the last symbol in the list; 0: none */
    uint32_t depth;   /* of the scope that is open */
    uint32_t mark[64];
    size_t fixups[64]; /* that were there as the scope began */
} ft__symbols;

/* A label or list that is used before it is there: resolved as scopes end. */
typedef struct ft__fixup {
    const char *name, *at; /* at: in the text */
    uint64_t hash;
    uint32_t len;
    uint32_t operand; /* of the function's; where there is no target */
    uint32_t *target;
} ft__fixup;

typedef struct ft__parser {
    ft__lex lex;
    ft_ptx *m;
    ft_error *err;
    ft_status st;
    ft__index words, opcodes; /* of the language, by hash */
    ft__symbols symbols;
    ft__ptx_list functions, variables, locs, files, kernels, kernel_functions;
    ft__ptx_list module_regs; /* those of the module, which each function begins with */
    /* of the function that is read */
    ft__ptx_function *f;
    int32_t function; /* its number; -1: none */
    ft__ptx_list insns, operands, mods, regs, labels, targets, fixups, stage;
    ft__ptx_list params, results, ignored;
    ft_ptx_kernel *kernel;
    uint64_t offset[FT_PTX_SPACES]; /* where the next variable of a space may begin */
    uint32_t loc, nested;           /* operands that are open */
    uint64_t total_regs, total_initial;
    _Alignas(16) unsigned char spill[512]; /* where elements go that no memory is for */
} ft__parser;

FT_PRINTF(3, 4) void ft__ptx_fail(ft__parser *p, const char *at, const char *fmt, ...);
/* "found X, expected WHAT", at the token. */
void ft__ptx_expected(ft__parser *p, const char *what);
void ft__ptx_no_memory(ft__parser *p);

/* Room for one more; false: no memory. */
bool ft__ptx_room(ft__parser *p, ft__ptx_list *list, size_t size);

/* A new, zeroed element of up to sizeof(p->spill); never NULL. */
static inline void *ft__ptx_push(ft__parser *p, ft__ptx_list *list, size_t size)
{
    if (list->n == list->cap && !ft__ptx_room(p, list, size))
        return memset(p->spill, 0, sizeof(p->spill));
    return memset((char *)list->at + list->n++ * size, 0, size);
}

/* The list's elements in the arena; the list is then empty. */
void *ft__ptx_keep(ft__parser *p, ft__ptx_list *list, size_t size);

void ft__ptx_next(ft__parser *p);
bool ft__ptx_accept(ft__parser *p, unsigned kind); /* it was there and is taken */
bool ft__ptx_expect(ft__parser *p, unsigned kind, const char *what);
void ft__ptx_attribute(ft__parser *p); /* behind the word: .attribute(.unified(1, 2)) */
/* The token's number among names; `none`: it is not one of them. */
unsigned ft__ptx_named(const ft__parser *p, const ft__index *names, unsigned none);

/* Of a WORD: ft__ptx_mod or FT__WORD_*; FT__WORDS: none of the language. */
static inline unsigned ft__ptx_word(const ft__parser *p)
{
    return ft__ptx_named(p, &p->words, FT__WORDS);
}

/* Names a thing; a second of that name in the scope is an error. */
ft__symbol *ft__symbol_new(ft__parser *p, const ft__lex *name, ft__symbol_kind kind,
                           uint32_t number);
/* Names `range` things at once, `%r<range>`, of which `number` is the first. */
ft__symbol *ft__symbol_new_range(ft__parser *p, const ft__lex *name,
                                 ft__symbol_kind kind, uint32_t number, uint32_t range);
/* The nearest of that name; NULL: none. */
ft__symbol *ft__symbol_find(ft__parser *p, const ft__lex *name);
/* Of the token, ranges included: *number of what it names there. */
ft__symbol *ft__symbol_here(ft__parser *p, uint32_t *number);

/* The value of an integer constant expression, *width 0. Or of a FLOAT literal: bits of
 * a double, *width 32 or 64. `width` NULL: floats are none. */
uint64_t ft__ptx_constant(ft__parser *p, uint8_t *width);
uint32_t ft__ptx_small(ft__parser *p, const char *what); /* a plain number */

/* n more registers are declared, or copied; false: these are too many in one text. */
bool ft__ptx_count_registers(ft__parser *p, const char *at, uint64_t n);
/* .reg, .global, ..., .pragma .loc .file .section; false: the word is none of them.
 * linkage: .extern, .visible, ..., which stood in front, where only declarations may
 * follow; FT__WORDS: none. */
bool ft__ptx_directive(ft__parser *p, unsigned linkage);
/* One parameter of a function or prototype, its word first; which list of the
 * function's it goes to. */
void ft__ptx_parameter(ft__parser *p, ft__ptx_list *to);

/* The operands up to the semicolon, as the opcode wants them. */
void ft__ptx_operands(ft__parser *p, ft__ptx_insn *i);
void ft__ptx_instruction(ft__parser *p);
/* The parser's kernel, from what its function is now. */
void ft__ptx_kernel_describe(ft__parser *p);
void ft__ptx_function_read(ft__parser *p, bool entry);

#endif
