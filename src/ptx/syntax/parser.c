/* What reading a module stands on: its first error, lists that grow, tokens and the
 * words of the language, names by scope. In: tokens; out: what they stand for. */
#include "ptx/syntax/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The lexer stands at the end from now on. */
static void stop(ft__parser *p, ft_status st)
{
    p->st = st;
    p->lex.at = p->lex.end;
    p->lex.kind = FT__TOK_END;
    p->lex.len = 0;
}

/* From 1, of a place in the text. */
static uint32_t line_of(const ft__lex *x, const char *at, uint32_t *column)
{
    uint32_t line = 1;
    const char *begin = x->text;

    for (const char *s = x->text; s < at; s++)
        if (*s == '\n') {
            line++;
            begin = s + 1;
        }
    *column = (uint32_t)(at - begin) + 1;
    return line;
}

void ft__ptx_fail(ft__parser *p, const char *at, const char *fmt, ...)
{
    char what[400];
    uint32_t line, column;
    va_list ap;

    if (p->st)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    line = line_of(&p->lex, at, &column);
    ft_fail(p->err, FT_EFORMAT, (uint64_t)(at - p->lex.text), "%s:%u:%u: %s",
            p->m->name, line, column, what);
    stop(p, FT_EFORMAT);
}

void ft__ptx_expected(ft__parser *p, const char *what)
{
    uint32_t len = 0;
    const char *const point = p->lex.kind == FT__TOK_WORD ? "." : "";

    while (len < p->lex.len && len < 60 && (unsigned char)p->lex.start[len] >= ' ')
        len++;
    if (p->lex.kind == FT__TOK_END)
        ft__ptx_fail(p, p->lex.start, "found the end, expected %s", what);
    else if (!len)
        ft__ptx_fail(p, p->lex.start, "found a byte %#04x, which is in no PTX",
                     (unsigned char)*p->lex.start);
    else
        ft__ptx_fail(p, p->lex.start, "found '%s%.*s', expected %s", point, (int)len,
                     p->lex.start, what);
}

void ft__ptx_no_memory(ft__parser *p)
{
    if (p->st)
        return;
    ft_fail(p->err, FT_ENOMEM, 0, "%s", p->m->name);
    stop(p, FT_ENOMEM);
}

bool ft__ptx_room(ft__parser *p, ft__ptx_list *list, size_t size)
{
    void *at = ft__list_grow(list->at, list->n, &list->cap, size);

    if (!at) {
        ft__ptx_no_memory(p);
        return false;
    }
    list->at = at;
    return true;
}

void *ft__ptx_keep(ft__parser *p, ft__ptx_list *list, size_t size)
{
    /* a copy without clearing what it is written over */
    void *kept =
        ft__arena_strndup(&p->m->arena, list->n ? list->at : "", list->n * size);

    if (!kept)
        ft__ptx_no_memory(p);
    list->n = 0;
    return kept;
}

void ft__ptx_next(ft__parser *p)
{
    if (!p->st)
        ft__lex_next(&p->lex);
}

bool ft__ptx_accept(ft__parser *p, unsigned kind)
{
    if (p->lex.kind != kind)
        return false;
    ft__ptx_next(p);
    return true;
}

bool ft__ptx_expect(ft__parser *p, unsigned kind, const char *what)
{
    if (p->lex.kind != kind) {
        ft__ptx_expected(p, what);
        return false;
    }
    ft__ptx_next(p);
    return true;
}

void ft__ptx_attribute(ft__parser *p)
{
    int depth = 0;

    ft__ptx_expect(p, '(', "'('");
    for (depth = 1; depth && p->lex.kind != FT__TOK_END; ft__ptx_next(p)) {
        depth += p->lex.kind == '(';
        depth -= p->lex.kind == ')';
    }
    if (depth)
        ft__ptx_expected(p, "')'");
}

const ft__ptx_opcode_facts ft__ptx_opcodes[FT__PTX_OPCODES] = {
#define FT__PTX_OPCODE(e, name, class, least, most, types)                             \
    {name, FT_PTX_##class, least, most, types},
#include "ptx/syntax/opcodes.def"
#undef FT__PTX_OPCODE
};

const ft__ptx_type_facts ft__ptx_types[FT__PTX_TYPES] = {
#define FT__PTX_TYPE(e, name, bits, kind) {bits, FT__KIND_##kind},
#include "ptx/syntax/types.def"
#undef FT__PTX_TYPE
};

const char *const ft__ptx_sregs[FT__PTX_SREGS] = {
#define FT__PTX_SREG(e, name) name,
#include "ptx/syntax/sregs.def"
#undef FT__PTX_SREG
};

unsigned ft__ptx_named(const ft__parser *p, const ft__index *names, unsigned none)
{
    const ft__index_slot *slot = ft__index_find(names, p->lex.hash, NULL);

    return slot && strlen(slot->text) == p->lex.len &&
                   memcmp(slot->text, p->lex.start, p->lex.len) == 0
               ? (unsigned)slot->number
               : none;
}

/* Names by scope: registers, ranges of them, variables, labels, functions. */
static ft__symbol *symbol_at(ft__parser *p, int64_t i)
{
    return (ft__symbol *)p->symbols.list.at + i;
}

/* Where the newest symbol of a hash stands: 1 + its number; 0: there is none. */
static ft__index_slot *newest(ft__parser *p, uint64_t hash)
{
    ft__index_slot *slot = ft__index_at(&p->symbols.newest, hash, NULL);

    if (!slot) {
        ft__ptx_no_memory(p);
    } else if (!slot->hash) {
        *slot = (ft__index_slot){.hash = hash};
        p->symbols.newest.n++;
    }
    return slot;
}

static ft__symbol *add(ft__parser *p, const char *name, uint32_t len, uint64_t hash)
{
    ft__index_slot *slot = newest(p, hash);
    ft__symbol *s = ft__ptx_push(p, &p->symbols.list, sizeof(*s));

    s->name = name;
    s->len = len;
    s->hash = hash;
    s->scope = (uint16_t)p->symbols.depth;
    if (!p->st) {
        s->next = (uint32_t)slot->number;
        slot->number = (int64_t)p->symbols.list.n;
    }
    return s;
}

static ft__symbol *find(ft__parser *p, const char *name, uint32_t len, uint64_t hash,
                        bool range)
{
    const ft__index_slot *slot = ft__index_find(&p->symbols.newest, hash, NULL);

    for (int64_t i = slot ? slot->number : 0; i; i = symbol_at(p, i - 1)->next) {
        ft__symbol *s = symbol_at(p, i - 1);

        if (s->len == len && (s->range != 0) == range &&
            memcmp(s->name, name, len) == 0)
            return s;
    }
    return NULL;
}

ft__symbol *ft__symbol_find(ft__parser *p, const ft__lex *name)
{
    return find(p, name->start, name->len, name->hash, false);
}

/* The number that digits behind a stem are, as `%r<100>` makes them. */
static bool suffix(const char *s, uint32_t len, uint32_t *v)
{
    uint32_t n = 0;

    if (len == 0 || len > 9)
        return false;
    for (uint32_t i = 0; i < len; i++)
        n = n * 10 + (uint32_t)(s[i] - '0');
    *v = n;
    return true;
}

ft__symbol *ft__symbol_new(ft__parser *p, const ft__lex *name, ft__symbol_kind kind,
                           uint32_t number)
{
    return ft__symbol_new_range(p, name, kind, number, 0);
}

ft__symbol *ft__symbol_new_range(ft__parser *p, const ft__lex *name,
                                 ft__symbol_kind kind, uint32_t number, uint32_t range)
{
    ft__symbol *s = find(p, name->start, name->len, name->hash, range != 0);

    if (s && (s->scope == p->symbols.depth || s->kind == FT__SYMBOL_CONSTANT))
        ft__ptx_fail(p, name->start, "'%.*s' is there already", (int)name->len,
                     name->start);
    s = add(p, name->start, name->len, name->hash);
    s->kind = (uint8_t)kind;
    s->number = number;
    s->range = range;
    s->vector = 1;
    return s;
}

ft__symbol *ft__symbol_here(ft__parser *p, uint32_t *number)
{
    const ft__lex *x = &p->lex;
    ft__symbol *range = NULL, *s;
    uint32_t v = 0, stem = x->len;

    while (stem > 1 && x->start[stem - 1] >= '0' && x->start[stem - 1] <= '9')
        stem--;
    if (stem < x->len && suffix(x->start + stem, x->len - stem, &v)) {
        range = find(p, x->start, stem, ft__hash_bytes(FT__HASH_BEGIN, x->start, stem),
                     true);
        if (range && v >= range->range)
            range = NULL;
    }
    s = ft__symbol_find(p, x);
    if (range && (!s || s < range)) {
        *number = range->number + v * range->vector;
        return range;
    }
    if (s)
        *number = s->number;
    return s;
}
