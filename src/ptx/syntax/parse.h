#ifndef PTX_SYNTAX_PARSE_H
#define PTX_SYNTAX_PARSE_H

#include <string.h>

#include "base/index.h"
#include "ptx/syntax/lex.h"
#include "ptx/syntax/words.h"

/* What the files that read a module share. Errors are sticky: after the first, the
 * lexer gives nothing but the end, so that every loop is left; who fails tells nobody.
 * Lists grow while a function is read and are copied to the module's arena behind it.
 */

typedef struct ft__ptx_list {
    void *at;
    size_t n, cap;
} ft__ptx_list;

typedef enum ft__symbol_kind {
    FT__SYMBOL_REG,   /* number: the first register; n: components of a vector, or 1 */
    FT__SYMBOL_RANGE, /* `%r<100>` by its stem: first register; n of them */
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
    uint32_t number, n;
    uint16_t scope; /* 0: the module's */
    uint8_t kind;
    uint8_t type; /* of registers */
} ft__symbol;

typedef struct ft__symbols {
    ft__ptx_list list;
    ft__index newest; /* of each hash: 1 + the last symbol in the list; 0: none */
    uint32_t depth;   /* of the scope that is open */
    uint32_t mark[64];
    size_t fixups[64]; /* that were there as the scope began */
} ft__symbols;

enum {
    FT__MAX_NESTED = 8,
    /* half of an operand: 1 .. 4 are b0 .. b3, 5 and 6 h0 and h1; of several at once
     * the digits are in bits */
    FT__HALF_B_MANY = 7,
    FT__HALF_H_MANY = 8,
};

/* A label or list that is used before it is there: resolved as scopes end. */
typedef struct ft__fixup {
    const char *name;
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
    ft__vocabulary words;
    ft__symbols symbols;
    ft__ptx_list functions, variables, locs, files, kernels, kernel_functions;
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

/* ---- errors ---- */

FT_PRINTF(3, 4) void ft__ptx_fail(ft__parser *p, const char *at, const char *fmt, ...);
/* "found X, expected WHAT", at the token. */
void ft__ptx_expected(ft__parser *p, const char *what);
void ft__ptx_no_memory(ft__parser *p);

/* ---- lists ---- */

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

/* ---- tokens ---- */

void ft__ptx_next(ft__parser *p);
bool ft__ptx_accept(ft__parser *p, unsigned kind); /* it was there and is taken */
bool ft__ptx_expect(ft__parser *p, unsigned kind, const char *what);
bool ft__ptx_is_word(const ft__parser *p, const char *word);
/* Of a WORD: ft__ptx_mod or FT__WORD_*; FT__WORDS: none of the language. */
unsigned ft__ptx_word(ft__parser *p);
/* An integer constant expression; its value. */
uint64_t ft__ptx_constant(ft__parser *p);
/* The same; a FLOAT literal comes back as bits of a double, *width 32 or 64. */
uint64_t ft__ptx_number(ft__parser *p, uint8_t *width);
uint32_t ft__ptx_small(ft__parser *p, const char *what); /* a plain number */

/* ---- symbols ---- */

bool ft__symbols_begin(ft__parser *p);
/* Names a thing of the token's name; a second of that name in the scope is an error. */
ft__symbol *ft__symbol_new(ft__parser *p, const char *name, uint32_t len, uint64_t hash,
                           ft__symbol_kind kind, uint32_t number);
/* `%r<n>`, the first of them register `number`. */
ft__symbol *ft__symbol_range(ft__parser *p, const ft__lex *at, uint32_t number,
                             uint32_t n);
/* The nearest of that name; NULL: none. */
ft__symbol *ft__symbol_find(ft__parser *p, const char *name, uint32_t len,
                            uint64_t hash);
/* Of the token, ranges of registers included: *reg its register there. */
ft__symbol *ft__symbol_here(ft__parser *p, uint32_t *reg);
void ft__scope_open(ft__parser *p);
void ft__scope_close(ft__parser *p); /* labels of it are resolved */

/* What counting relies on in an instruction whose operands and words are in their
 * lists; whether its words and types go together is not asked. */
void ft__check_instruction(ft__parser *p, const ft__ptx_insn *i);

/* ---- parts ---- */

void ft__ptx_function_read(ft__parser *p, bool entry);
/* The kernel's parameters, registers and histogram, from what its function is now. */
void ft__ptx_kernel_done(ft__parser *p);
/* ---- spaces.c: ft__ptx_insn.global of the kernel ---- */
void ft__ptx_find_global(ft__parser *p);
bool ft__ptx_is_variable(ft__parser *p); /* a word that begins one, .reg included */
/* Declared .extern: perhaps of another module. */
void ft__ptx_variables(ft__parser *p, bool external);
/* One parameter of a function or prototype, its word first; which list of the
 * function's it goes to. NULL: it is only read. */
void ft__ptx_parameter(ft__parser *p, ft__ptx_list *to, bool *is_reg);
void ft__ptx_registers(ft__parser *p);
void ft__ptx_instruction(ft__parser *p);
/* Onto the stage; children go to the operands. */
void ft__ptx_operand_read(ft__parser *p, unsigned opcode);
void ft__ptx_flush(ft__parser *p, size_t from, uint32_t *index, uint32_t *n);
bool ft__ptx_debugging(ft__parser *p); /* .loc .file .section, taken */
void ft__ptx_pragma(ft__parser *p);    /* what is behind the word */
void ft__ptx_attribute(ft__parser *p); /* likewise: .attribute(.unified(1, 2)) */
unsigned ft__ptx_classify(const ft__ptx_insn *i, const uint16_t *mods);

#endif
