/* The module: header, directives, debug information. In: the text; out: all functions,
 * variables and kernels, or the first error with line and column. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/syntax/parse.h"

/* ---- errors ---- */

/* The lexer stands at the end from now on. */
static void stop(ft__parser *p, ft_status st)
{
    p->st = st;
    p->lex.at = p->lex.end;
    p->lex.kind = FT__TOK_END;
    p->lex.len = 0;
}

static uint32_t line_of(const ft__lex *x, const char *at)
{
    uint32_t line = 1;

    for (const char *s = x->text; s < at; s++)
        line += *s == '\n';
    return line;
}

void ft__ptx_fail(ft__parser *p, const char *at, const char *fmt, ...)
{
    char what[400];
    va_list ap;

    if (p->st)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    ft_fail(p->err, FT_EFORMAT, (uint64_t)(at - p->lex.text), "%s:%u:%u: %s",
            p->m->name, line_of(&p->lex, at), ft__lex_column(&p->lex, at), what);
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

/* ---- lists ---- */

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

/* ---- tokens ---- */

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

bool ft__ptx_is_word(const ft__parser *p, const char *word)
{
    return p->lex.kind == FT__TOK_WORD && p->lex.len == strlen(word) &&
           memcmp(p->lex.start, word, p->lex.len) == 0;
}

unsigned ft__ptx_word(ft__parser *p)
{
    return ft__words_find(&p->words, p->lex.hash, p->lex.start, p->lex.len);
}

/* ---- what is said of the source ---- */

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
        (void)ft__ptx_constant(p);
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

bool ft__ptx_debugging(ft__parser *p)
{
    void (*const read[])(ft__parser *) = {location, file, section};
    const unsigned word = ft__ptx_word(p);
    const unsigned words[] = {FT__WORD_LOC, FT__WORD_FILE, FT__WORD_SECTION};

    for (int i = 0; i < 3; i++) {
        if (word != words[i])
            continue;
        ft__ptx_next(p);
        read[i](p);
        return true;
    }
    return false;
}

/* ---- the module ---- */

static void version(ft__parser *p)
{
    const char *s = p->lex.start;
    uint32_t v[2] = {0};
    int part = 0;

    if (p->lex.kind != FT__TOK_FLOAT) {
        ft__ptx_expected(p, "a version such as 8.5");
        return;
    }
    for (uint32_t i = 0; i < p->lex.len; i++) {
        if (s[i] == '.')
            part = 1;
        else if (v[part] < 1000)
            v[part] = v[part] * 10 + (uint32_t)(s[i] - '0');
    }
    p->m->version = v[0] * 10 + v[1];
    ft__ptx_next(p);
}

/* The first name is the GPU; more GPUs may follow, and options. */
static void target(ft__parser *p)
{
    const ft__lex at = p->lex;

    if (p->lex.kind != FT__TOK_NAME || !memchr(at.start, '_', at.len)) {
        ft__ptx_expected(p, "a target such as sm_90");
        return;
    }
    ft__ptx_next(p);
    p->m->target = ft__arena_strndup(&p->m->arena, at.start, at.len);
    if (!p->m->target)
        ft__ptx_no_memory(p);
    while (ft__ptx_accept(p, ','))
        ft__ptx_expect(p, FT__TOK_NAME, "an option of the target");
}

static void address_size(ft__parser *p)
{
    const uint32_t v = (uint32_t)p->lex.bits;

    if (p->lex.kind != FT__TOK_INT || (p->lex.bits != 32 && p->lex.bits != 64))
        ft__ptx_expected(p, "32 or 64");
    p->m->address_size = v;
    ft__ptx_next(p);
}

static bool begins(ft__parser *p, unsigned word)
{
    if (p->lex.kind != FT__TOK_WORD || ft__ptx_word(p) != word)
        return false;
    ft__ptx_next(p);
    return true;
}

/* .version and .target, then perhaps .address_size. */
static void header(ft__parser *p)
{
    if (begins(p, FT__WORD_VERSION))
        version(p);
    else
        ft__ptx_expected(p, "'.version'");
    if (begins(p, FT__WORD_TARGET))
        target(p);
    else
        ft__ptx_expected(p, "'.target'");
    if (begins(p, FT__WORD_ADDRESS_SIZE))
        address_size(p);
    if (!p->m->address_size)
        p->m->address_size = 32;
}

static void alias(ft__parser *p)
{
    ft__ptx_expect(p, FT__TOK_NAME, "a function's name");
    ft__ptx_expect(p, ',', "','");
    ft__ptx_expect(p, FT__TOK_NAME, "a function's name");
    ft__ptx_expect(p, ';', "';'");
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

void ft__ptx_pragma(ft__parser *p)
{
    do
        ft__ptx_expect(p, FT__TOK_STRING, "a text in quotes");
    while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, ';', "';'");
}

static void declared(ft__parser *p)
{
    unsigned word = ft__ptx_word(p);
    const bool external = word == FT__WORD_EXTERN;

    if (external || word == FT__WORD_VISIBLE || word == FT__MOD_WEAK ||
        word == FT__WORD_COMMON) {
        ft__ptx_next(p);
        word = p->lex.kind == FT__TOK_WORD ? ft__ptx_word(p) : FT__WORDS;
    }
    if (word == FT__WORD_FUNC || word == FT__WORD_ENTRY)
        ft__ptx_function_read(p, word == FT__WORD_ENTRY);
    else if (word != FT__MOD_REG && p->lex.kind == FT__TOK_WORD &&
             ft__ptx_is_variable(p))
        ft__ptx_variables(p, external);
    else
        ft__ptx_expected(p, "a directive");
}

static void directive(ft__parser *p)
{
    switch (ft__ptx_word(p)) {
    case FT__WORD_PRAGMA:
        ft__ptx_next(p);
        ft__ptx_pragma(p);
        break;
    case FT__MOD_ALIAS:
        ft__ptx_next(p);
        alias(p);
        break;
    default:
        if (!ft__ptx_debugging(p))
            declared(p);
        break;
    }
}

/* @@DWARF of old files, to the end of the line. */
static bool dwarf(ft__parser *p)
{
    if (p->lex.kind != '@' || ft__lex_peek(&p->lex) != '@')
        return false;
    while (p->lex.at < p->lex.end && *p->lex.at != '\n')
        p->lex.at++;
    ft__ptx_next(p);
    return true;
}

static void module(ft__parser *p)
{
    ft__ptx_next(p);
    header(p);
    while (p->lex.kind != FT__TOK_END) {
        if (p->lex.kind == FT__TOK_WORD)
            directive(p);
        else if (!dwarf(p))
            ft__ptx_expected(p, "a directive");
    }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = ((const ft__ptx_file *)a)->number,
                   y = ((const ft__ptx_file *)b)->number;

    return (x > y) - (x < y);
}

/* The first kernel of each name. */
static void index_kernels(ft__parser *p)
{
    ft_ptx *m = p->m;

    for (uint32_t k = 0; m->kernel && k < m->n_kernels; k++) {
        const uint64_t hash = ft__hash_text(FT__HASH_BEGIN, m->kernel[k].name);
        ft__index_slot *slot = ft__index_at(&m->by_name, hash, m->kernel[k].name);

        if (!slot) {
            ft__ptx_no_memory(p);
            return;
        }
        if (slot->hash)
            continue;
        *slot = (ft__index_slot){hash, m->kernel[k].name, k};
        m->by_name.n++;
    }
}

static void keep(ft__parser *p)
{
    ft_ptx *m = p->m;

    m->n_functions = (uint32_t)p->functions.n;
    m->n_variables = (uint32_t)p->variables.n;
    m->n_locs = (uint32_t)p->locs.n;
    m->n_files = (uint32_t)p->files.n;
    m->n_kernels = (uint32_t)p->kernels.n;
    m->function = ft__ptx_keep(p, &p->functions, sizeof(*m->function));
    m->variable = ft__ptx_keep(p, &p->variables, sizeof(*m->variable));
    m->loc = ft__ptx_keep(p, &p->locs, sizeof(*m->loc));
    if (p->files.n)
        qsort(p->files.at, p->files.n, sizeof(*m->file), by_number);
    m->file = ft__ptx_keep(p, &p->files, sizeof(*m->file));
    m->kernel = ft__ptx_keep(p, &p->kernels, sizeof(*m->kernel));
    m->kernel_function = ft__ptx_keep(p, &p->kernel_functions, sizeof(uint32_t));
    index_kernels(p);
}

static void release(ft__parser *p)
{
    ft__ptx_list *const lists[] = {
        &p->symbols.list, &p->functions, &p->variables,       &p->locs,  &p->files,
        &p->kernels,      &p->insns,     &p->operands,        &p->mods,  &p->regs,
        &p->labels,       &p->targets,   &p->fixups,          &p->stage, &p->params,
        &p->results,      &p->ignored,   &p->kernel_functions};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        free(lists[i]->at);
    ft__index_free(&p->symbols.newest);
    ft__words_end(&p->words);
}

ft_status ft__ptx_read(ft_ptx *m, ft_error *err)
{
    ft__parser p = {.m = m, .err = err, .function = -1};

    ft__lex_begin(&p.lex, m->text, m->len);
    if (!ft__words_begin(&p.words))
        ft__ptx_no_memory(&p);
    if (!p.st && ft__symbols_begin(&p))
        module(&p);
    if (!p.st)
        keep(&p);
    release(&p);
    return p.st;
}
