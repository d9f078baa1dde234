#include <stdlib.h>
#include <string.h>

#include "ptx/syntax/parse.h"

/* Holds instructions against forms.def. The text of the forms is read as it stands,
 * once for each opcode with its words that a module has: a few hundred times. */

typedef struct form {
    uint8_t opcode;
    const char *words, *types, *operands;
    uint16_t version, target;
} form;

static const form forms[] = {
#define FT__PTX_FORM(e, words, types, operands, version, target)                       \
    {FT__PTX_##e, words, types, operands, version, target},
#include "ptx/syntax/forms.def"
#undef FT__PTX_FORM
};

enum { N_FORMS = sizeof(forms) / sizeof(*forms), SLOTS = 256 };

void ft__check_begin(ft__parser *p)
{
    ft__checker *c = &p->check;

    for (unsigned i = 0; i <= FT__PTX_OPCODES; i++)
        c->first[i] = N_FORMS;
    for (unsigned i = N_FORMS; i-- > 0;)
        c->first[forms[i].opcode] = (uint16_t)i;
    c->n_slots = SLOTS;
    c->slot = calloc(SLOTS, sizeof(*c->slot));
    if (!c->slot)
        ft__ptx_no_memory(p);
}

void ft__check_end(ft__parser *p)
{
    free(p->check.slot);
    free(p->check.rules.at);
}

/* ---- words ---- */

static bool is(const char *text, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(text, name, len) == 0;
}

/* "m64n*k16": any number of columns that there is. */
static bool is_shape(const char *text, size_t len, const uint16_t shape[3])
{
    char plain[24];
    uint16_t want[3];
    const char *star = memchr(text, '*', len);

    if (len >= sizeof(plain))
        return false;
    memcpy(plain, text, len);
    if (star)
        plain[star - text] = '8';
    if (!ft__words_shape(want, plain, len))
        return false;
    if (star)
        return want[0] == shape[0] && want[2] == shape[2] && shape[1] % 8 == 0 &&
               shape[1] >= 8 && shape[1] <= 256;
    return memcmp(want, shape, sizeof(want)) == 0;
}

/* One of a|b|c, which ends at `end`. */
static bool among(const char *text, const char *end, unsigned mod,
                  const uint16_t shape[3])
{
    while (text < end) {
        const char *stop = memchr(text, '|', (size_t)(end - text));
        const size_t len = (size_t)((stop ? stop : end) - text);

        if (mod == FT__MOD_SHAPE ? is_shape(text, len, shape)
                                 : is(text, len, ft__ptx_mod_name(mod)))
            return true;
        text += len + 1;
    }
    return false;
}

typedef struct match {
    const ft__ptx_insn *i;
    const uint16_t *mods;
    uint64_t used;
    unsigned fixed;   /* words that have their place, so far */
    const char *need; /* a group that no word is of */
    int needed;
} match;

static bool find_in_group(match *m, const char *text, const char *end, bool fixed)
{
    const unsigned last = fixed ? m->fixed + 1 : m->i->n_mods;

    for (unsigned k = fixed ? m->fixed : 0; k < last && k < m->i->n_mods; k++) {
        if (m->used >> k & 1 || m->mods[k] < FT__PTX_TYPES ||
            !among(text, end, m->mods[k], m->i->shape))
            continue;
        m->used |= (uint64_t)1 << k;
        m->fixed += fixed;
        return true;
    }
    return false;
}

/* Some words may be said twice. */
static void forgive(match *m)
{
    static const uint16_t twice[] = {FT__MOD_UNI, FT__MOD_SYNC, FT__MOD_APPROX,
                                     FT__MOD_SAT, FT__MOD_NAN};

    for (unsigned k = 1; k < m->i->n_mods; k++)
        for (unsigned j = 0; j < sizeof(twice) / sizeof(*twice); j++)
            for (unsigned b = 0; b < k && m->mods[k] == twice[j]; b++)
                if (m->mods[b] == m->mods[k])
                    m->used |= (uint64_t)1 << k;
}

/* All words belong to a group, all groups that have to be there are. */
static bool match_words(match *m, const char *text)
{
    while (*text) {
        const size_t len = strcspn(text, " ");
        const bool optional = *text == '[';
        const char *begin = text + optional, *end = text + len - optional;
        const bool fixed = *begin == '.';

        begin += fixed;
        if (len && !find_in_group(m, begin, end, fixed) && !optional) {
            m->need = begin;
            m->needed = (int)(end - begin);
            return false;
        }
        text += len + (text[len] == ' ');
    }
    forgive(m);
    return true;
}

static bool match_types(match *m, const char *text)
{
    unsigned k = 0;

    for (;;) {
        const size_t len = strcspn(text, " ");

        while (k < m->i->n_mods && m->mods[k] >= FT__PTX_TYPES)
            k++;
        if (!*text)
            return k == m->i->n_mods;
        if (k == m->i->n_mods || !among(text, text + len, m->mods[k], NULL))
            return false;
        m->used |= (uint64_t)1 << k++;
        text += len + (text[len] == ' ');
    }
}

/* ---- operands of a form ---- */

static uint8_t type_named(ft__parser *p, const ft__ptx_insn *i, const char *s,
                          size_t len)
{
    if (len == 1 && *s >= '0' && *s <= '3')
        return i->type[*s - '0'];
    return (uint8_t)ft__words_find(p->words, ft__lex_hash(s, len), s, len);
}

/* "d4:f32", "q|", "s:u32?" */
static ft__want wanted(ft__parser *p, const ft__ptx_insn *i, const char *s, size_t len)
{
    ft__want w = {.role = *s, .type = FT__TYPE_NONE};
    size_t k = 1;

    while (k < len && s[k] >= '0' && s[k] <= '9')
        w.count = (uint8_t)(w.count * 10 + s[k++] - '0');
    if (k < len && s[k] == 'n') {
        w.count = i->vector > 1 ? i->vector : 0;
        k++;
    }
    if (k < len && s[k] == ':') {
        const size_t type = strcspn(s + k + 1, "|&?+ ");

        w.type = type_named(p, i, s + k + 1, type);
        k += 1 + type;
    }
    if (k < len && (s[k] == '|' || s[k] == '&'))
        w.pair = s[k];
    return w;
}

/* Words that came later than the instructions they go with. */
static void since(ft__rule *r, unsigned mod)
{
    static const struct {
        uint16_t mod, version, target;
    } words[] = {
        {FT__MOD_SHARED_CTA, 78, 30},      {FT__MOD_SHARED_CLUSTER, 78, 90},
        {FT__MOD_CLUSTER, 78, 90},         {FT__MOD_PARAM_ENTRY, 83, 10},
        {FT__MOD_PARAM_FUNC, 83, 10},      {FT__MOD_L2_CACHE_HINT, 74, 80},
        {FT__MOD_L2_64B, 74, 75},          {FT__MOD_L2_128B, 74, 75},
        {FT__MOD_L2_256B, 74, 80},         {FT__MOD_L1_NO_ALLOCATE, 74, 70},
        {FT__MOD_L1_EVICT_NORMAL, 74, 70}, {FT__MOD_L1_EVICT_FIRST, 74, 70},
        {FT__MOD_L1_EVICT_LAST, 74, 70},   {FT__MOD_L1_EVICT_UNCHANGED, 74, 70},
        {FT__TYPE_B128, 83, 70},           {FT__MOD_RELAXED, 60, 70},
        {FT__MOD_ACQUIRE, 60, 70},         {FT__MOD_RELEASE, 60, 70},
        {FT__MOD_ACQ_REL, 60, 70},
    };

    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
        if (words[k].mod != mod)
            continue;
        r->version = r->version > words[k].version ? r->version : words[k].version;
        r->target = r->target > words[k].target ? r->target : words[k].target;
    }
}

static bool any(const ft__ptx_insn *i, const uint16_t *mods, unsigned mod)
{
    for (unsigned k = 0; k < i->n_mods; k++)
        if (mods[k] == mod)
            return true;
    return false;
}

static void add_rule(ft__parser *p, const ft__ptx_insn *i, const uint16_t *mods,
                     const form *f)
{
    ft__rule *r = ft__ptx_push(p, &p->check.rules, sizeof(*r));
    const char *s = f->operands;
    const bool hinted = any(i, mods, FT__MOD_L2_CACHE_HINT);
    const bool wide = (i->opcode == FT__PTX_LD || i->opcode == FT__PTX_ST) &&
                      ft__ptx_type_bits(i->type[0]) * i->vector > 128;

    r->version = wide ? 88 : f->version;
    r->target = wide ? 100 : f->target;
    while (*s && r->n < FT__MAX_WANTED) {
        const size_t len = strcspn(s, " ");
        const char last = s[len - 1];

        if (last != '+' || hinted) {
            r->want[r->n++] = wanted(p, i, s, len);
            if (last != '?')
                r->least = r->n;
        }
        s += len + (s[len] == ' ');
    }
    for (unsigned k = 0; k < i->n_mods; k++)
        since(r, mods[k]);
}

/* ---- what is wrong with the words ---- */

static const char *place(const ft__parser *p, const ft__ptx_insn *i)
{
    return p->lex.text + i->at;
}

static int types_match(const match *m, const form *f)
{
    match again = {.i = m->i, .mods = m->mods};

    return match_types(&again, f->types);
}

static void complain(ft__parser *p, const ft__ptx_insn *i, const uint16_t *mods)
{
    const char *opcode = ft__ptx_opcode_name(i->opcode);
    bool types = false;

    for (unsigned k = p->check.first[i->opcode]; k < N_FORMS; k++) {
        match m = {.i = i, .mods = mods};

        if (forms[k].opcode != i->opcode || !types_match(&m, &forms[k]))
            continue;
        types = true;
        if (!match_words(&m, forms[k].words)) {
            ft__ptx_fail(p, place(p, i), "'%s' wants one of .%.*s", opcode, m.needed,
                         m.need);
            return;
        }
    }
    for (unsigned k = 0; k < i->n_mods; k++)
        if (types && mods[k] >= FT__PTX_TYPES) {
            ft__ptx_fail(p, place(p, i), "a word of '%s' does not go with the others",
                         opcode);
            return;
        }
    ft__ptx_fail(p, place(p, i), "'%s' does not have these types", opcode);
}

/* ---- the rules of an opcode with its words ---- */

static uint64_t key_of(const ft__ptx_insn *i, const uint16_t *mods)
{
    uint64_t h = (i->opcode + 1u) * 0xd1342543de82ef95u;

    for (unsigned k = 0; k < i->n_mods; k++)
        h = (h ^ mods[k]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    for (unsigned k = 0; k < 3 && i->shape[0]; k++)
        h = (h ^ i->shape[k]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return h ? h : 1;
}

static ft__rules_slot *slot_of(ft__checker *c, uint64_t key)
{
    uint32_t at = (uint32_t)(key >> 20) & (c->n_slots - 1);

    while (c->slot[at].key && c->slot[at].key != key)
        at = (at + 1) & (c->n_slots - 1);
    return &c->slot[at];
}

static bool grow(ft__parser *p)
{
    ft__checker *c = &p->check;
    ft__rules_slot *old = c->slot;
    const uint32_t n = c->n_slots;

    c->slot = calloc(2 * (size_t)n, sizeof(*c->slot));
    if (!c->slot) {
        c->slot = old;
        ft__ptx_no_memory(p);
        return false;
    }
    c->n_slots = 2 * n;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].key)
            *slot_of(c, old[i].key) = old[i];
    free(old);
    return true;
}

static ft__rules_slot *learn(ft__parser *p, const ft__ptx_insn *i, const uint16_t *mods,
                             uint64_t key)
{
    const uint64_t all = i->n_mods < 64 ? ((uint64_t)1 << i->n_mods) - 1 : 0;
    const uint32_t first = (uint32_t)p->check.rules.n;
    ft__rules_slot *s;

    for (unsigned k = p->check.first[i->opcode]; k < N_FORMS; k++) {
        match m = {.i = i, .mods = mods};

        if (forms[k].opcode == i->opcode && i->n_mods < 64 &&
            match_types(&m, forms[k].types) && match_words(&m, forms[k].words) &&
            m.used == all)
            add_rule(p, i, mods, &forms[k]);
    }
    if (p->check.rules.n == first)
        complain(p, i, mods);
    if (p->st || (4 * (p->check.used + 1) > 3 * p->check.n_slots && !grow(p)))
        return NULL;
    s = slot_of(&p->check, key);
    *s = (ft__rules_slot){key, first, (uint32_t)p->check.rules.n - first};
    p->check.used++;
    return s;
}

/* ---- instructions ---- */

/* Exchanges of a warp without .sync went with sm_70. */
static bool available(const ft__parser *p, const ft__ptx_insn *i, const ft__rule *r)
{
    const ft__checker *c = &p->check;
    const bool retired =
        (i->opcode == FT__PTX_SHFL || i->opcode == FT__PTX_VOTE) && r->version < 60;

    if (r->version > p->m->version || (retired && c->sm >= 70 && p->m->version >= 64))
        return false;
    if (r->target >= 9000)
        return c->sm == r->target / 100 && c->suffix;
    if (r->target >= 900)
        return c->sm >= r->target / 10 && c->suffix;
    return c->sm >= r->target;
}

static bool fits(const ft__parser *p, const ft__ptx_insn *i, const ft__rule *r,
                 unsigned *wrong)
{
    const ft__ptx_operand *o =
        i->n_operands ? (const ft__ptx_operand *)p->operands.at + i->operands : NULL;

    *wrong = i->n_operands;
    if (i->n_operands < r->least || i->n_operands > r->n)
        return false;
    for (unsigned k = 0; k < i->n_operands; k++) {
        *wrong = k;
        if (!ft__check_operand(p, i, &r->want[k], &o[k]))
            return false;
    }
    return true;
}

static void refuse(ft__parser *p, const ft__ptx_insn *i, const ft__rule *r, uint32_t n)
{
    const char *opcode = ft__ptx_opcode_name(i->opcode);
    unsigned wrong = 0, furthest = 0;
    bool counted = false;

    for (uint32_t k = 0; k < n; k++) {
        if (fits(p, i, &r[k], &wrong)) {
            ft__ptx_fail(p, place(p, i),
                         "this form of '%s' needs PTX %u.%u and sm_%u%s or later",
                         opcode, r[k].version / 10, r[k].version % 10,
                         r[k].target >= 9000  ? r[k].target / 100
                         : r[k].target >= 900 ? r[k].target / 10
                                              : r[k].target,
                         r[k].target >= 900 ? "a" : "");
            return;
        }
        counted = counted || (i->n_operands >= r[k].least && i->n_operands <= r[k].n);
        furthest = wrong > furthest ? wrong : furthest;
    }
    if (!counted)
        ft__ptx_fail(p, place(p, i), "'%s' has %u operands, expected %u", opcode,
                     i->n_operands, r[0].least);
    else
        ft__ptx_fail(p, place(p, i), "operand %u of '%s' does not fit its type",
                     furthest + 1, opcode);
}

void ft__check_instruction(ft__parser *p, const ft__ptx_insn *i)
{
    const uint16_t *mods = i->n_mods ? (const uint16_t *)p->mods.at + i->mods : NULL;
    const uint64_t key = key_of(i, mods);
    const ft__rules_slot *s = slot_of(&p->check, key);
    const ft__rule *r;
    unsigned wrong;

    if (!s->key)
        s = learn(p, i, mods, key);
    if (!s)
        return;
    r = (const ft__rule *)p->check.rules.at + s->first;
    for (uint32_t k = 0; k < s->n; k++)
        if (available(p, i, &r[k]) && fits(p, i, &r[k], &wrong)) {
            if (i->opcode == FT__PTX_CALL)
                ft__check_call(p, i);
            return;
        }
    refuse(p, i, r, s->n);
}
