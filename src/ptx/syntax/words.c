/* The vocabulary: opcodes, types, words, directives by their text. */
#include "ptx/syntax/words.h"

#include <string.h>

static const char *const opcodes[] = {
#define FT__PTX_OPCODE(e, name, class, least, most, types) name,
#include "ptx/syntax/opcodes.def"
#undef FT__PTX_OPCODE
};

static const uint8_t opcode_classes[] = {
#define FT__PTX_OPCODE(e, name, class, least, most, types) FT_PTX_##class,
#include "ptx/syntax/opcodes.def"
#undef FT__PTX_OPCODE
};

static const ft__arity arities[] = {
#define FT__PTX_OPCODE(e, name, class, least, most, types) {least, most, types},
#include "ptx/syntax/opcodes.def"
#undef FT__PTX_OPCODE
};

static const char *const words[] = {
#define FT__PTX_TYPE(e, name, bits, kind) name,
#include "ptx/syntax/types.def"
#undef FT__PTX_TYPE
#define FT__PTX_MOD(e, name) name,
#include "ptx/syntax/mods.def"
#undef FT__PTX_MOD
    "another word",
    "m..n..k..",
#define FT__PTX_DIRECTIVE(e, name) name,
#include "ptx/syntax/directives.def"
#undef FT__PTX_DIRECTIVE
};

static const char *const other_words[] = {
#include "ptx/syntax/other_words.def"
};

static const struct {
    uint16_t bits, kind;
} types[] = {
#define FT__PTX_TYPE(e, name, bits, kind) {bits, FT__KIND_##kind},
#include "ptx/syntax/types.def"
#undef FT__PTX_TYPE
};

static const char *const sregs[] = {
#define FT__PTX_SREG(e, name) name,
#include "ptx/syntax/sregs.def"
#undef FT__PTX_SREG
};

const char *ft__ptx_opcode_name(unsigned opcode)
{
    return opcode < FT__PTX_OPCODES ? opcodes[opcode] : "?";
}

unsigned ft__ptx_opcode_class(unsigned opcode)
{
    return opcode_classes[opcode];
}

ft__arity ft__ptx_arity(unsigned opcode)
{
    return arities[opcode];
}

const char *ft__ptx_mod_name(unsigned mod)
{
    return mod < FT__WORDS ? words[mod] : "?";
}

uint32_t ft__ptx_type_bits(unsigned type)
{
    return type < FT__PTX_TYPES ? types[type].bits : 0;
}

ft__ptx_kind ft__ptx_type_kind(unsigned type)
{
    return type < FT__PTX_TYPES ? (ft__ptx_kind)types[type].kind : FT__KIND_BITS;
}

const char *ft__ptx_sreg_name(unsigned sreg)
{
    return sreg < FT__PTX_SREGS ? sregs[sreg] : "?";
}

/* Names by the hash of each: numbered from 0 on, or all `number` where that is not 0;
 * false: out of memory. */
static bool index_names(ft__index *t, const char *const *names, size_t n,
                        int64_t number)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t hash =
            ft__hash_bytes(FT__HASH_BEGIN, names[i], strlen(names[i]));
        ft__index_slot *slot = ft__index_at(t, hash, NULL);

        if (!slot)
            return false;
        if (slot->hash)
            continue;
        *slot = (ft__index_slot){hash, names[i], number ? number : (int64_t)i};
        t->n++;
    }
    return true;
}

bool ft__words_begin(ft__vocabulary *w)
{
    *w = (ft__vocabulary){0};
    return index_names(&w->word, words, FT__WORDS, 0) &&
           index_names(&w->word, other_words,
                       sizeof(other_words) / sizeof(*other_words), FT__MOD_OTHER) &&
           index_names(&w->opcode, opcodes, FT__PTX_OPCODES, 0);
}

void ft__words_end(ft__vocabulary *w)
{
    ft__index_free(&w->word);
    ft__index_free(&w->opcode);
}

static unsigned find(const ft__index *t, uint64_t hash, const char *s, size_t len,
                     unsigned none)
{
    const ft__index_slot *slot = ft__index_find(t, hash, NULL);

    return slot && strlen(slot->text) == len && memcmp(slot->text, s, len) == 0
               ? (unsigned)slot->number
               : none;
}

unsigned ft__words_find(const ft__vocabulary *w, uint64_t hash, const char *s,
                        size_t len)
{
    return find(&w->word, hash, s, len, FT__WORDS);
}

unsigned ft__words_opcode(const ft__vocabulary *w, uint64_t hash, const char *s,
                          size_t len)
{
    return find(&w->opcode, hash, s, len, FT__PTX_OPCODES);
}

static const char *number(const char *s, const char *end, uint16_t *v)
{
    uint32_t n = 0;
    const char *p = s;

    while (p < end && *p >= '0' && *p <= '9' && p - s < 4)
        n = n * 10 + (uint32_t)(*p++ - '0');
    *v = (uint16_t)n;
    return p > s ? p : NULL;
}

bool ft__words_shape(uint16_t shape[3], const char *s, size_t len)
{
    const char *const end = s + len;
    const bool mnk = len > 1 && s[0] == 'm';
    const char *p = number(s + mnk, end, &shape[0]);

    shape[2] = 0;
    if (!p || p == end || *p != (mnk ? 'n' : 'x') ||
        !(p = number(p + 1, end, &shape[1])))
        return false;
    if (mnk)
        return p == end || (*p == 'k' && number(p + 1, end, &shape[2]) == end);
    if (p == end || *p++ != 'b')
        return false;
    return p == end || (*p == 'x' && number(p + 1, end, &shape[2]) == end);
}
