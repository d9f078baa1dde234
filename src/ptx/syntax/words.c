#include "ptx/syntax/words.h"

#include <string.h>

#include "ptx/syntax/lex.h"

static const char *const opcodes[] = {
#define FT__PTX_OPCODE(e, name, class) name,
#include "ptx/syntax/opcodes.def"
#undef FT__PTX_OPCODE
};

static const uint8_t opcode_classes[] = {
#define FT__PTX_OPCODE(e, name, class) FT_PTX_##class,
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
    "m..n..k..",
#define FT__PTX_DIRECTIVE(e, name) name,
#include "ptx/syntax/directives.def"
#undef FT__PTX_DIRECTIVE
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

static ft__word_slot *slot_of(ft__word_slot *table, uint32_t hash, const char *s,
                              size_t len)
{
    uint32_t at = (hash ^ hash >> 15) & (FT__WORD_SLOTS - 1);

    for (; table[at].name; at = (at + 1) & (FT__WORD_SLOTS - 1))
        if (table[at].hash == hash && table[at].len == len &&
            memcmp(table[at].name, s, len) == 0)
            break;
    return &table[at];
}

static void put(ft__word_slot *table, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(names[i]);
        const uint32_t hash = ft__lex_hash(names[i], len);
        ft__word_slot *s = slot_of(table, hash, names[i], len);

        if (!s->name)
            *s = (ft__word_slot){names[i], hash, (uint16_t)len, (uint16_t)i};
    }
}

void ft__words_begin(ft__words *w)
{
    memset(w, 0, sizeof(*w));
    put(w->word, words, FT__WORDS);
    put(w->opcode, opcodes, FT__PTX_OPCODES);
}

unsigned ft__words_find(ft__words *w, uint32_t hash, const char *s, size_t len)
{
    const ft__word_slot *slot = slot_of(w->word, hash, s, len);

    return slot->name ? slot->number : FT__WORDS;
}

unsigned ft__words_opcode(ft__words *w, uint32_t hash, const char *s, size_t len)
{
    const ft__word_slot *slot = slot_of(w->opcode, hash, s, len);

    return slot->name ? slot->number : FT__PTX_OPCODES;
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
