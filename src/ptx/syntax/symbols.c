/* Names by scope: registers, ranges of registers, variables, labels, functions. In: a
 * name; out: what it stands for. */
#include <string.h>

#include "ptx/syntax/parse.h"

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

static void predefine(ft__parser *p, const char *name, ft__symbol_kind kind,
                      uint32_t number)
{
    const uint32_t len = (uint32_t)strlen(name);
    ft__symbol *s = add(p, name, len, ft__hash_bytes(FT__HASH_BEGIN, name, len));

    s->kind = (uint8_t)kind;
    s->number = number;
}

bool ft__symbols_begin(ft__parser *p)
{
    for (unsigned i = 0; i < FT__PTX_SREGS; i++)
        predefine(p, ft__ptx_sreg_name(i), FT__SYMBOL_SREG, i);
    predefine(p, "WARP_SZ", FT__SYMBOL_CONSTANT, 32);
    return !p->st;
}

static ft__symbol *find(ft__parser *p, const char *name, uint32_t len, uint64_t hash,
                        bool range)
{
    const ft__index_slot *slot = ft__index_find(&p->symbols.newest, hash, NULL);

    for (int64_t i = slot ? slot->number : 0; i; i = symbol_at(p, i - 1)->next) {
        ft__symbol *s = symbol_at(p, i - 1);

        if (s->len == len && (s->kind == FT__SYMBOL_RANGE) == range &&
            memcmp(s->name, name, len) == 0)
            return s;
    }
    return NULL;
}

ft__symbol *ft__symbol_find(ft__parser *p, const char *name, uint32_t len,
                            uint64_t hash)
{
    return find(p, name, len, hash, false);
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

ft__symbol *ft__symbol_range(ft__parser *p, const ft__lex *at, uint32_t number,
                             uint32_t n)
{
    ft__symbol *s =
        ft__symbol_new(p, at->start, at->len, at->hash, FT__SYMBOL_RANGE, number);

    s->n = n;
    return s;
}

ft__symbol *ft__symbol_new(ft__parser *p, const char *name, uint32_t len, uint64_t hash,
                           ft__symbol_kind kind, uint32_t number)
{
    ft__symbol *s = find(p, name, len, hash, kind == FT__SYMBOL_RANGE);

    if (s && (s->scope == p->symbols.depth || s->kind == FT__SYMBOL_CONSTANT))
        ft__ptx_fail(p, name, "'%.*s' is there already", (int)len, name);
    s = add(p, name, len, hash);
    s->kind = (uint8_t)kind;
    s->number = number;
    s->n = 1;
    return s;
}

ft__symbol *ft__symbol_here(ft__parser *p, uint32_t *reg)
{
    const ft__lex *x = &p->lex;
    ft__symbol *range = NULL, *s;
    uint32_t v = 0, stem = x->len;

    while (stem > 1 && x->start[stem - 1] >= '0' && x->start[stem - 1] <= '9')
        stem--;
    if (stem < x->len && suffix(x->start + stem, x->len - stem, &v)) {
        range = find(p, x->start, stem, ft__hash_bytes(FT__HASH_BEGIN, x->start, stem),
                     true);
        if (range && v >= range->n)
            range = NULL;
    }
    s = find(p, x->start, x->len, x->hash, false);
    if (range && (!s || s < range)) {
        *reg = range->number + v;
        return range;
    }
    if (s)
        *reg = s->number;
    return s;
}

void ft__scope_open(ft__parser *p)
{
    const uint32_t most = sizeof(p->symbols.mark) / sizeof(*p->symbols.mark);

    if (p->symbols.depth + 1 >= most) {
        ft__ptx_fail(p, p->lex.start, "scopes are nested more than %u deep", most - 2);
        return;
    }
    p->symbols.mark[++p->symbols.depth] = (uint32_t)p->symbols.list.n;
    p->symbols.fixups[p->symbols.depth] = p->fixups.n;
}

static void settle(ft__parser *p, const ft__fixup *x, const ft__symbol *s)
{
    if (x->target)
        *x->target = s->number;
    else
        ((ft__ptx_operand *)p->operands.at + x->operand)->index = s->number;
}

/* Names used in the scope that are labels of it; the others wait for the scope around.
 */
static void resolve(ft__parser *p)
{
    ft__fixup *x = p->fixups.at;
    size_t left = p->symbols.fixups[p->symbols.depth];

    for (size_t i = left; i < p->fixups.n; i++) {
        ft__symbol *s = find(p, x[i].name, x[i].len, x[i].hash, false);

        if (s && s->scope == p->symbols.depth && s->kind == FT__SYMBOL_LABEL) {
            settle(p, &x[i], s);
        } else if (p->symbols.depth == 1) {
            ft__ptx_fail(p, x[i].name, "there is no label '%.*s'", (int)x[i].len,
                         x[i].name);
            return;
        } else {
            x[left++] = x[i];
        }
    }
    p->fixups.n = left;
}

void ft__scope_close(ft__parser *p)
{
    if (p->st)
        return;
    resolve(p);
    while (p->symbols.list.n > p->symbols.mark[p->symbols.depth]) {
        const ft__symbol *s = symbol_at(p, (int64_t)--p->symbols.list.n);
        ft__index_slot *slot = newest(p, s->hash);

        if (slot)
            slot->number = s->next;
    }
    p->symbols.depth--;
}
