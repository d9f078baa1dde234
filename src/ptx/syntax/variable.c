/* Directives that modules and functions both have: declarations of registers, variables
 * and parameters, with initial values; .pragma, .loc, .file, .section. In: tokens;
 * out: entries of the parser's lists. */
#include <string.h>

#include "ptx/syntax/parser.h"

enum { MAX_RANK = 16 };

typedef struct declared {
    uint8_t space, type;
    uint32_t align, vector; /* vector: elements of .v2 .v4 .v8; else 1 */
    bool pointer, parameter, external;
} declared;

static uint8_t space_of(unsigned word)
{
    switch (word) {
    case FT__MOD_CONST: return FT_PTX_CONST;
    case FT__MOD_SHARED: return FT_PTX_SHARED;
    case FT__MOD_LOCAL: return FT_PTX_LOCAL;
    case FT__MOD_PARAM: return FT_PTX_PARAM;
    case FT__MOD_TEX: return FT_PTX_TEXTURE;
    default: return FT_PTX_GLOBAL;
    }
}

static uint32_t alignment(ft__parser *p)
{
    const char *at = p->lex.start;
    const uint32_t v = ft__ptx_small(p, "an alignment");

    if (!p->st && (v == 0 || (v & (v - 1))))
        ft__ptx_fail(p, at, "alignments are powers of two");
    return v;
}

/* .ptr .global .align 16 */
static void pointer(ft__parser *p, declared *d)
{
    d->pointer = true;
    if (p->lex.kind != FT__TOK_WORD)
        return;
    switch (ft__ptx_word(p)) {
    case FT__MOD_CONST:
    case FT__MOD_GLOBAL:
    case FT__MOD_SHARED:
    case FT__MOD_LOCAL:
    case FT__MOD_GENERIC: ft__ptx_next(p); break;
    default: break;
    }
    if (p->lex.kind == FT__TOK_WORD && ft__ptx_word(p) == FT__WORD_ALIGN) {
        ft__ptx_next(p);
        (void)alignment(p);
    }
}

/* .align 8, .v2, attributes: in front of the type. */
static bool before_type(ft__parser *p, declared *d)
{
    const unsigned word = ft__ptx_word(p);

    switch (word) {
    case FT__MOD_V2: d->vector = 2; break;
    case FT__MOD_V4: d->vector = 4; break;
    case FT__WORD_MANAGED: break;
    case FT__WORD_ALIGN:
        ft__ptx_next(p);
        d->align = alignment(p);
        return true;
    case FT__WORD_ATTRIBUTE:
        ft__ptx_next(p);
        ft__ptx_attribute(p);
        return true;
    default: return false;
    }
    ft__ptx_next(p);
    return true;
}

/* What stands between the space and the name. */
static declared declaration(ft__parser *p)
{
    declared d = {.vector = 1, .type = FT__TYPE_B32};
    unsigned word;

    while (p->lex.kind == FT__TOK_WORD && before_type(p, &d)) {
    }
    word = p->lex.kind == FT__TOK_WORD ? ft__ptx_word(p) : FT__WORDS;
    if (word >= FT__PTX_TYPES) {
        ft__ptx_expected(p, "a type");
        return d;
    }
    d.type = (uint8_t)word;
    ft__ptx_next(p);
    return d;
}

bool ft__ptx_count_registers(ft__parser *p, const char *at, uint64_t n)
{
    enum { MOST = 1 << 22 };

    p->total_regs += n;
    if (p->total_regs > MOST)
        ft__ptx_fail(p, at, "more than %d registers", MOST);
    return !p->st;
}

/* Those of a module are of no function. */
static ft__ptx_list *registers_of(ft__parser *p)
{
    return p->function < 0 ? &p->module_regs : &p->regs;
}

/* `range` of them, 0: one without a number; each of d->vector components. */
static void add_registers(ft__parser *p, const char *at, const declared *d,
                          uint32_t range)
{
    const uint64_t n = (uint64_t)(range ? range : 1) * d->vector;

    if (!ft__ptx_count_registers(p, at, n))
        return;
    for (uint32_t i = 0; i < n && !p->st; i++)
        ((ft__ptx_reg *)ft__ptx_push(p, registers_of(p), sizeof(ft__ptx_reg)))->type =
            d->type;
}

/* A count behind a name: `%r<100>`; false: none. */
static bool range_behind(ft__parser *p, uint32_t *n)
{
    *n = 0;
    if (!ft__ptx_accept(p, '<'))
        return false;
    *n = ft__ptx_small(p, "how many there are");
    ft__ptx_expect(p, '>', "'>'");
    return true;
}

/* One name behind `.reg .b32`, a count behind it taken. */
static void register_name(ft__parser *p, const declared *d)
{
    const ft__lex at = p->lex;
    uint32_t range;
    ft__symbol *s;

    if (p->lex.kind != FT__TOK_NAME && p->lex.kind != '_') {
        ft__ptx_expected(p, "a register's name");
        return;
    }
    ft__ptx_next(p);
    if ((range_behind(p, &range) && range == 0) || p->st) /* none of that name */
        return;
    s = ft__symbol_new_range(p, &at, FT__SYMBOL_REG, (uint32_t)registers_of(p)->n,
                             range);
    s->type = d->type;
    s->vector = (uint8_t)d->vector;
    add_registers(p, at.start, d, range);
}

static void registers(ft__parser *p)
{
    const declared d = declaration(p);

    if (ft__ptx_type_kind(d.type) == FT__KIND_OPAQUE)
        ft__ptx_expected(p, "a type that registers have");
    if (ft__ptx_accept(p, ';')) /* no names at all */
        return;
    do
        register_name(p, &d);
    while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, ';', "',' or ';'");
}

typedef struct initial {
    uint8_t *bytes;
    uint64_t n, size;                         /* written up to; room */
    uint64_t dim[MAX_RANK], stride[MAX_RANK]; /* stride: bytes of an element of each */
    uint32_t rank, element;
    uint8_t type;
} initial;

/* A number's bits as the type has them. */
static uint64_t converted(uint64_t bits, uint8_t width, uint8_t type)
{
    double d = 0;
    float f;
    uint32_t low = (uint32_t)bits;

    if (width == 0)
        return bits;
    if (width == 32 && type == FT__TYPE_F64) {
        memcpy(&f, &low, sizeof(f));
        d = (double)f;
        memcpy(&bits, &d, sizeof(bits));
    } else if (width == 64 && type == FT__TYPE_F32) {
        memcpy(&d, &bits, sizeof(d));
        f = (float)d;
        memcpy(&low, &f, sizeof(low));
        bits = low;
    }
    return bits;
}

static void put(ft__parser *p, initial *v, uint64_t bits)
{
    if (v->size - v->n < v->element) {
        const uint64_t size = v->size ? 2 * v->size : 64;
        uint8_t *more = ft__arena_array(&p->m->arena, size, 1);

        if (!more) {
            ft__ptx_no_memory(p);
            return;
        }
        if (v->n)
            memcpy(more, v->bytes, v->n);
        v->bytes = more;
        v->size = size;
    }
    for (uint32_t i = 0; i < v->element; i++)
        v->bytes[v->n++] = (uint8_t)(i < 8 ? bits >> 8 * i : 0);
}

/* name, name + 4, generic(name): an address, which is 0 here. */
static void address(ft__parser *p, bool may_be_generic)
{
    const ft__symbol *s = ft__symbol_find(p, &p->lex);
    const bool generic =
        may_be_generic && p->lex.len == 7 && memcmp(p->lex.start, "generic", 7) == 0;

    if (!generic &&
        (!s || (s->kind != FT__SYMBOL_VARIABLE && s->kind != FT__SYMBOL_FUNCTION)))
        ft__ptx_expected(p, "a variable or function");
    ft__ptx_expect(p, FT__TOK_NAME, "a name");
    if (generic) {
        ft__ptx_expect(p, '(', "'('");
        address(p, false);
        ft__ptx_expect(p, ')', "')'");
    }
    if (p->lex.kind == '+' || p->lex.kind == '-') {
        if (p->lex.kind == '+')
            ft__ptx_next(p);
        (void)ft__ptx_constant(p, NULL);
    }
}

static void value(ft__parser *p, initial *v)
{
    uint8_t width = 0;
    uint64_t bits = 0;
    bool is_address = p->lex.kind == FT__TOK_NAME &&
                      !(p->lex.len == 7 && memcmp(p->lex.start, "WARP_SZ", 7) == 0);

    if (is_address) {
        address(p, true);
    } else {
        bits = ft__ptx_constant(p, &width);
        if (width == 0 && ft__ptx_accept(p, '(')) { /* a byte of it, by its mask */
            address(p, true);
            ft__ptx_expect(p, ')', "')'");
            is_address = true;
        }
    }
    put(p, v, is_address ? 0 : converted(bits, width, v->type));
}

static void pad(ft__parser *p, initial *v, uint64_t n)
{
    while (v->n < n && !p->st)
        put(p, v, 0);
}

/* Braces as deep as there are dimensions; each level may be short. */
static void values(ft__parser *p, initial *v, uint32_t level)
{
    enum { MOST = 1 << 26 };
    const uint64_t begin = v->n;
    uint64_t n = 0;

    if (level == v->rank) {
        value(p, v);
        return;
    }
    ft__ptx_expect(p, '{', "'{'");
    do {
        values(p, v, level + 1);
        if (p->st)
            return;
        p->total_initial += v->stride[level];
        if (p->total_initial > MOST)
            ft__ptx_fail(p, p->lex.start, "more than %d bytes of initial values", MOST);
        if (v->dim[level] && n >= v->dim[level])
            ft__ptx_fail(p, p->lex.start, "more values than the variable has");
        if (p->st)
            return;
        pad(p, v, begin + ++n * v->stride[level]);
    } while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, '}', "',' or '}'");
}

/* { addr_mode_0 = wrap, filter_mode = nearest } of a sampler or texture. */
static void settings(ft__parser *p)
{
    ft__ptx_expect(p, '{', "'{'");
    do {
        ft__ptx_expect(p, FT__TOK_NAME, "a setting's name");
        ft__ptx_expect(p, '=', "'='");
        if (!ft__ptx_accept(p, FT__TOK_NAME))
            (void)ft__ptx_constant(p, NULL);
    } while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, '}', "',' or '}'");
}

/* [4][8], [] first: elements; rank and dimensions into v, 0 where the size is open. */
static uint64_t dimensions(ft__parser *p, initial *v)
{
    uint64_t n = 1, *dim = v->dim;

    while (ft__ptx_accept(p, '[')) {
        if (v->rank == MAX_RANK - 1) {
            ft__ptx_fail(p, p->lex.start, "more than %d dimensions", MAX_RANK);
            return 0;
        }
        dim[v->rank] = p->lex.kind == ']' && v->rank == 0 ? 0 : p->lex.bits;
        if (p->lex.kind != ']' || v->rank)
            ft__ptx_expect(p, FT__TOK_INT, "a number");
        ft__ptx_expect(p, ']', "']'");
        v->rank++;
    }
    for (uint32_t k = v->rank; k-- > 0;) {
        v->stride[k] = n * v->element;
        if (dim[k] && n > ((uint64_t)1 << 40) / dim[k]) {
            ft__ptx_fail(p, p->lex.start, "the variable is too large");
            return 0;
        }
        n *= dim[k];
    }
    return n;
}

static void place(ft__parser *p, ft__ptx_variable *v)
{
    uint64_t *next = &p->offset[v->space];

    if (v->function < 0 && v->space == FT_PTX_SHARED)
        next = &p->m->shared_bytes;
    if (v->function < 0 && v->space == FT_PTX_LOCAL)
        next = &p->m->local_bytes;
    *next = (*next + v->align - 1) / v->align * v->align;
    v->offset = *next;
    *next += v->size;
}

/* An initial value, where there is one. */
static void initialise(ft__parser *p, ft__ptx_variable *v, initial *i)
{
    const char *at = p->lex.start;

    if (!ft__ptx_accept(p, '='))
        return;
    if ((v->space != FT_PTX_GLOBAL && v->space != FT_PTX_CONST) || v->external) {
        ft__ptx_fail(p, at, "'%.*s' cannot have an initial value", (int)v->len,
                     v->name);
        return;
    }
    if (ft__ptx_type_kind(v->type) == FT__KIND_OPAQUE) {
        settings(p);
        return;
    }
    values(p, i, 0);
    if (v->size == 0)
        v->size = i->n;
    v->initial = i->bytes;
    v->initial_size = i->n;
}

/* What is declared as somebody else's may be defined here as well. */
static void name_variable(ft__parser *p, const ft__lex *at, uint32_t number,
                          bool external)
{
    ft__symbol *s = ft__symbol_find(p, at);
    const ft__ptx_variable *v = p->variables.at;

    if (s && s->kind == FT__SYMBOL_VARIABLE && s->scope == p->symbols.depth &&
        (external || v[s->number].external)) {
        if (!external)
            s->number = number;
        return;
    }
    ft__symbol_new(p, at, FT__SYMBOL_VARIABLE, number);
}

static void add_variable(ft__parser *p, ft__ptx_variable *v)
{
    place(p, v);
    *(ft__ptx_variable *)ft__ptx_push(p, &p->variables, sizeof(*v)) = *v;
}

static void check_space(ft__parser *p, const declared *d, const ft__ptx_variable *v)
{
    if (!d->parameter && v->function < 0 && v->space == FT_PTX_PARAM)
        ft__ptx_fail(p, v->name,
                     "variables of a module are .global, .const, .shared or .local");
}

/* `.param .b32 a<3>`: a0, a1, a2. */
static void add_range(ft__parser *p, const ft__lex *name, const declared *d,
                      ft__ptx_variable *v, uint32_t range)
{
    enum { MOST = 1 << 16 };

    check_space(p, d, v);
    if (range > MOST)
        ft__ptx_fail(p, v->name, "more than %d variables of one name", MOST);
    v->size = (uint64_t)(ft__ptx_type_bits(v->type) + 7) / 8 * d->vector;
    if (range && !p->st)
        ft__symbol_new_range(p, name, FT__SYMBOL_VARIABLE, (uint32_t)p->variables.n,
                             range);
    for (uint32_t i = 0; i < range && !p->st; i++)
        add_variable(p, v);
}

/* A name with its dimensions and value, or how many there are of it; the (first)
 * variable's number. */
static uint32_t variable(ft__parser *p, const declared *d)
{
    const ft__lex at = p->lex;
    const uint32_t bytes = (ft__ptx_type_bits(d->type) + 7) / 8 * d->vector;
    ft__ptx_variable v = {.name = at.start,
                          .len = at.len,
                          .space = d->space,
                          .type = d->type,
                          .external = d->external,
                          .pointer = d->pointer,
                          .function = p->function,
                          .align = d->align ? d->align : bytes};
    initial i = {.type = d->type, .element = bytes / d->vector};
    const uint32_t number = (uint32_t)p->variables.n;
    uint32_t range;

    if (at.kind == '_' && d->parameter)
        ft__ptx_next(p);
    else if (!ft__ptx_expect(p, FT__TOK_NAME, "a name"))
        return 0;
    if (!d->parameter && range_behind(p, &range)) {
        add_range(p, &at, d, &v, range);
        return number;
    }
    v.size = dimensions(p, &i) * d->vector * i.element;
    v.array = i.rank > 0;
    if (d->vector > 1) {
        i.dim[i.rank] = d->vector;
        i.stride[i.rank++] = i.element;
    }
    initialise(p, &v, &i);
    check_space(p, d, &v);
    if (p->st)
        return 0;
    if (at.kind == FT__TOK_NAME)
        name_variable(p, &at, number, v.external);
    add_variable(p, &v);
    return number;
}

static void variables(ft__parser *p, unsigned word, bool external)
{
    declared d;

    if (word == FT__MOD_CONST && ft__ptx_accept(p, '[')) {
        (void)ft__ptx_small(p, "a bank's number");
        ft__ptx_expect(p, ']', "']'");
    }
    d = declaration(p);
    d.space = space_of(word);
    d.external = external;
    if (p->st || ft__ptx_accept(p, ';')) /* no names at all */
        return;
    do
        (void)variable(p, &d);
    while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, ';', "',' or ';'");
}

static void pragma(ft__parser *p)
{
    do
        ft__ptx_expect(p, FT__TOK_STRING, "a text in quotes");
    while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, ';', "';'");
}

/* Of 32 bits, or what would be negative of 64. */
static uint32_t coordinate(ft__parser *p, const char *what)
{
    const uint64_t bits = p->lex.bits;

    if (p->lex.kind != FT__TOK_INT || bits <= INT64_MAX)
        return ft__ptx_small(p, what);
    ft__ptx_next(p);
    return (uint32_t)bits;
}

/* .loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN] */
static void location(ft__parser *p)
{
    ft__ptx_loc *l = ft__ptx_push(p, &p->locs, sizeof(*l));
    uint32_t file = coordinate(p, "a file's number"), line = coordinate(p, "a line");

    *l = (ft__ptx_loc){file, line};
    (void)coordinate(p, "a column");
    p->loc = (uint32_t)p->locs.n;
    if (!ft__ptx_accept(p, ','))
        return;
    ft__ptx_expect(p, FT__TOK_NAME, "'function_name'");
    ft__ptx_expect(p, FT__TOK_NAME, "a label");
    if (ft__ptx_accept(p, '+'))
        (void)ft__ptx_small(p, "a number");
    ft__ptx_expect(p, ',', "','");
    ft__ptx_expect(p, FT__TOK_NAME, "'inlined_at'");
    (void)coordinate(p, "a file's number");
    (void)coordinate(p, "a line");
    (void)coordinate(p, "a column");
}

static void file(ft__parser *p)
{
    ft__ptx_file *f = ft__ptx_push(p, &p->files, sizeof(*f));

    f->number = coordinate(p, "a file's number");
    f->name = ft__arena_strndup(&p->m->arena, p->lex.start, p->lex.len);
    if (!f->name)
        ft__ptx_no_memory(p);
    ft__ptx_expect(p, FT__TOK_STRING, "a file's name in quotes");
    while (ft__ptx_accept(p, ','))
        (void)ft__ptx_constant(p, NULL);
}

/* .section .debug_info { ... } */
static void section(ft__parser *p)
{
    if (!ft__ptx_accept(p, FT__TOK_WORD))
        ft__ptx_expect(p, FT__TOK_NAME, "a section's name");
    ft__ptx_expect(p, '{', "'{'");
    while (p->lex.kind != '}' && p->lex.kind != FT__TOK_END)
        ft__ptx_next(p);
    ft__ptx_expect(p, '}', "'}'");
}

bool ft__ptx_directive(ft__parser *p, unsigned linkage)
{
    const unsigned word = ft__ptx_word(p);
    void (*of_source)(ft__parser *) = NULL;

    switch (word) {
    case FT__WORD_PRAGMA: of_source = pragma; break;
    case FT__WORD_LOC: of_source = location; break;
    case FT__WORD_FILE: of_source = file; break;
    case FT__WORD_SECTION: of_source = section; break;
    case FT__MOD_REG:
    case FT__MOD_CONST:
    case FT__MOD_GLOBAL:
    case FT__MOD_SHARED:
    case FT__MOD_LOCAL:
    case FT__MOD_PARAM:
    case FT__MOD_TEX:
    case FT__MOD_SREG: break;
    default: return false;
    }
    if (of_source && linkage != FT__WORDS)
        return false;
    ft__ptx_next(p);
    if (of_source)
        of_source(p);
    else if (word == FT__MOD_REG)
        registers(p);
    else
        variables(p, word, linkage == FT__WORD_EXTERN);
    return true;
}

void ft__ptx_parameter(ft__parser *p, ft__ptx_list *to)
{
    const unsigned word = p->lex.kind == FT__TOK_WORD ? ft__ptx_word(p) : FT__WORDS;
    ft__ptx_formal formal = {.n = 1, .is_reg = word == FT__MOD_REG};
    declared d;

    if (word != FT__MOD_PARAM && word != FT__MOD_REG) {
        ft__ptx_expected(p, "'.param' or '.reg'");
        return;
    }
    ft__ptx_next(p);
    d = declaration(p);
    d.space = FT_PTX_PARAM;
    d.parameter = true;
    if (p->lex.kind == FT__TOK_WORD && ft__ptx_word(p) == FT__WORD_PTR) {
        ft__ptx_next(p);
        pointer(p, &d);
    } else if (p->lex.kind == FT__TOK_WORD && ft__ptx_word(p) == FT__WORD_ALIGN) {
        ft__ptx_next(p);
        d.align = alignment(p);
    }
    if (p->st)
        return;
    if (formal.is_reg) {
        formal.index = (uint32_t)p->regs.n;
        formal.n = d.vector;
        register_name(p, &d);
    } else {
        formal.index = variable(p, &d);
    }
    *(ft__ptx_formal *)ft__ptx_push(p, to, sizeof(formal)) = formal;
}
