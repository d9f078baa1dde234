#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/syntax/parse.h"

enum { BUCKETS = 1 << 12, MOST_ASKED = 200 /* bytes of a name */ };

static ft__symbol *symbol_at(ft__parser *p, uint32_t i)
{
    return (ft__symbol *)p->symbols.list.at + i;
}

static void chain(ft__parser *p, uint32_t i)
{
    ft__symbol *s = symbol_at(p, i);
    uint32_t *b = &p->symbols.bucket[(s->hash ^ s->hash >> 16) & p->symbols.mask];

    s->next = *b;
    *b = i + 1;
}

static bool grow(ft__parser *p)
{
    const uint32_t n = p->symbols.mask ? 2 * (p->symbols.mask + 1) : BUCKETS;
    uint32_t *bucket = calloc(n, sizeof(*bucket));

    if (!bucket) {
        ft__ptx_no_memory(p);
        return false;
    }
    free(p->symbols.bucket);
    p->symbols.bucket = bucket;
    p->symbols.mask = n - 1;
    for (uint32_t i = 0; i < p->symbols.list.n; i++)
        chain(p, i);
    return true;
}

static ft__symbol *add(ft__parser *p, const char *name, uint32_t len, uint32_t hash)
{
    ft__symbol *s;

    if (p->symbols.list.n >= p->symbols.mask && !grow(p))
        return (ft__symbol *)p->spill;
    s = ft__ptx_push(p, &p->symbols.list, sizeof(*s));
    s->name = name;
    s->len = len;
    s->hash = hash;
    s->scope = (uint16_t)p->symbols.depth;
    if (!p->st)
        chain(p, (uint32_t)p->symbols.list.n - 1);
    return s;
}

static void predefine(ft__parser *p, const char *name, ft__symbol_kind kind,
                      uint32_t number)
{
    const uint32_t len = (uint32_t)strlen(name);
    ft__symbol *s = add(p, name, len, ft__lex_hash(name, len));

    s->kind = (uint8_t)kind;
    s->number = number;
}

bool ft__symbols_begin(ft__parser *p)
{
    if (!grow(p))
        return false;
    for (unsigned i = 0; i < FT__PTX_SREGS; i++)
        predefine(p, ft__ptx_sreg_name(i), FT__SYMBOL_SREG, i);
    predefine(p, "WARP_SZ", FT__SYMBOL_CONSTANT, 32);
    return !p->st;
}

static ft__symbol *find(ft__parser *p, const char *name, uint32_t len, uint32_t hash,
                        bool range)
{
    uint32_t i = p->symbols.bucket[(hash ^ hash >> 16) & p->symbols.mask];

    for (; i; i = symbol_at(p, i - 1)->next) {
        ft__symbol *s = symbol_at(p, i - 1);

        if (s->hash == hash && s->len == len &&
            (s->kind == FT__SYMBOL_RANGE) == range && memcmp(s->name, name, len) == 0)
            return s;
    }
    return NULL;
}

ft__symbol *ft__symbol_find(ft__parser *p, const char *name, uint32_t len,
                            uint32_t hash)
{
    return find(p, name, len, hash, false);
}

/* The number behind a stem, as `%r<100>` makes it. */
static bool suffix(const char *s, uint32_t len, uint32_t *v)
{
    uint32_t n = 0;

    if (len == 0 || len > 9)
        return false;
    for (uint32_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        n = n * 10 + (uint32_t)(s[i] - '0');
    }
    *v = n;
    return true;
}

/* A register of a range and another name are the same: %r1 is, %r01 is not. */
static bool collides(ft__parser *p, const char *name, uint32_t len,
                     const ft__symbol *range)
{
    uint32_t v = 0;

    return len > range->len && memcmp(name, range->name, range->len) == 0 &&
           (name[range->len] != '0' || len == range->len + 1) &&
           suffix(name + range->len, len - range->len, &v) && v < range->n &&
           range->scope == p->symbols.depth;
}

/* One of the range's registers is there in this scope: asked of each. */
static bool any_taken(ft__parser *p, const char *name, uint32_t len, uint32_t n)
{
    char one[MOST_ASKED + 12];

    memcpy(one, name, len);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t all = len + (uint32_t)snprintf(one + len, 12, "%u", v);
        const ft__symbol *s = find(p, one, all, ft__lex_hash(one, all), false);

        if (s && s->scope == p->symbols.depth)
            return true;
    }
    return false;
}

/* One of the range's registers is there in this scope. */
static bool taken(ft__parser *p, const char *name, uint32_t len, uint32_t n)
{
    const ft__symbol range = {
        .name = name, .len = len, .n = n, .scope = (uint16_t)p->symbols.depth};

    /* Whichever there are fewer of: all registers of a file are limited. */
    if (n < p->symbols.list.n - p->symbols.mark[p->symbols.depth] && len < MOST_ASKED)
        return any_taken(p, name, len, n);
    for (uint32_t i = (uint32_t)p->symbols.list.n;
         i-- > 0 && symbol_at(p, i)->scope == p->symbols.depth;) {
        const ft__symbol *s = symbol_at(p, i);

        if (s->kind != FT__SYMBOL_RANGE && collides(p, s->name, s->len, &range))
            return true;
    }
    return false;
}

/* A name in front of whose digits a range stands. */
static bool in_range(ft__parser *p, const char *name, uint32_t len)
{
    uint32_t stem = len;
    const ft__symbol *range;

    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    range = stem < len ? find(p, name, stem, ft__lex_hash(name, stem), true) : NULL;
    return range && collides(p, name, len, range);
}

ft__symbol *ft__symbol_range(ft__parser *p, const ft__lex *at, uint32_t number,
                             uint32_t n)
{
    ft__symbol *s;

    if (taken(p, at->start, at->len, n))
        ft__ptx_fail(p, at->start, "one of '%.*s' is there already", (int)at->len,
                     at->start);
    s = ft__symbol_new(p, at->start, at->len, at->hash, FT__SYMBOL_RANGE, number);
    s->n = n;
    return s;
}

ft__symbol *ft__symbol_new(ft__parser *p, const char *name, uint32_t len, uint32_t hash,
                           ft__symbol_kind kind, uint32_t number)
{
    ft__symbol *s = find(p, name, len, hash, kind == FT__SYMBOL_RANGE);

    if ((s && (s->scope == p->symbols.depth || s->kind == FT__SYMBOL_CONSTANT)) ||
        (kind != FT__SYMBOL_RANGE && in_range(p, name, len)))
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
    uint32_t v = 0;

    if (x->stem < x->len && suffix(x->start + x->stem, x->len - x->stem, &v)) {
        range = find(p, x->start, x->stem, x->stem_hash, true);
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
        const ft__symbol *s = symbol_at(p, (uint32_t)--p->symbols.list.n);

        p->symbols.bucket[(s->hash ^ s->hash >> 16) & p->symbols.mask] = s->next;
    }
    p->symbols.depth--;
}
