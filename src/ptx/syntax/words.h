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

enum { FT__WORD_SLOTS = 2048 };

typedef struct ft__word_slot {
    const char *name;
    uint32_t hash;
    uint16_t len, number;
} ft__word_slot;

/* Hash tables, made for each module that is read: there is nothing to share. */
typedef struct ft__words {
    ft__word_slot word[FT__WORD_SLOTS], opcode[FT__WORD_SLOTS];
} ft__words;

void ft__words_begin(ft__words *w);
/* FT__WORDS: none. */
unsigned ft__words_find(ft__words *w, uint32_t hash, const char *s, size_t len);
/* FT__PTX_OPCODES: none. */
unsigned ft__words_opcode(ft__words *w, uint32_t hash, const char *s, size_t len);
/* m16n8k16, m64n8, 16x64b, 16x32bx2: its numbers. */
bool ft__words_shape(uint16_t shape[3], const char *s, size_t len);
unsigned ft__ptx_opcode_class(unsigned opcode);

#endif
