#ifndef PTX_SYNTAX_WORDS_H
#define PTX_SYNTAX_WORDS_H

#include "ptx/syntax/module.h"

/* The words of the language by their text: ft__ptx_mod (types first), then those of
 * directives. */
enum {
    FT__WORD_LAST_MOD = FT__PTX_MODS - 1,
#define FT__PTX_DIRECTIVE(e, name) FT__WORD_##e,
#include "ptx/syntax/directives.def"
#undef FT__PTX_DIRECTIVE
    FT__WORDS
};

/* Made for each module that is read: there is nothing to share. */
typedef struct ft__vocabulary {
    ft__index word, opcode; /* by hash */
} ft__vocabulary;

bool ft__words_begin(ft__vocabulary *w); /* false: out of memory */
void ft__words_end(ft__vocabulary *w);
/* FT__WORDS: none. */
unsigned ft__words_find(const ft__vocabulary *w, uint64_t hash, const char *s,
                        size_t len);
/* FT__PTX_OPCODES: none. */
unsigned ft__words_opcode(const ft__vocabulary *w, uint64_t hash, const char *s,
                          size_t len);
/* m16n8k16, m64n8, 16x64b, 16x32bx2: its numbers. */
bool ft__words_shape(uint16_t shape[3], const char *s, size_t len);
unsigned ft__ptx_opcode_class(unsigned opcode);
/* How many operands an instruction has, and types at least. */
typedef struct ft__arity {
    uint8_t least, most, types;
} ft__arity;
ft__arity ft__ptx_arity(unsigned opcode);

#endif
