/* Modules: header, directives, all functions, variables and kernels. In: a file or
 * text, of which several may be there; out: the parsed modules, or the first error with
 * line and column; and what callers ask of one. */
#include "ptx/syntax/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "foretell/ptx_launches.h"
#include "ptx/ptx_inside.h"
#include "ptx/syntax/parser.h"

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

static void directive(ft__parser *p)
{
    unsigned word = ft__ptx_word(p), linkage = FT__WORDS;

    if (word == FT__MOD_ALIAS) {
        ft__ptx_next(p);
        alias(p);
        return;
    }
    if (word == FT__WORD_EXTERN || word == FT__WORD_VISIBLE || word == FT__MOD_WEAK ||
        word == FT__WORD_COMMON) {
        linkage = word;
        ft__ptx_next(p);
        word = p->lex.kind == FT__TOK_WORD ? ft__ptx_word(p) : FT__WORDS;
    }
    if (word == FT__WORD_FUNC || word == FT__WORD_ENTRY)
        ft__ptx_function_read(p, word == FT__WORD_ENTRY);
    else if (p->lex.kind != FT__TOK_WORD || !ft__ptx_directive(p, linkage))
        ft__ptx_expected(p, "a directive");
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

static void all_of_it(ft__parser *p)
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

        m->kernel[k].source_name = ft__ptx_source_name(&m->arena, m->kernel[k].name);
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

/* By the hash of the name, the first of each; false: out of memory. */
static bool index_name(ft__index *t, const char *name, int64_t number)
{
    const uint64_t hash = ft__hash_bytes(FT__HASH_BEGIN, name, strlen(name));
    ft__index_slot *slot = ft__index_at(t, hash, NULL);

    if (slot && !slot->hash) {
        *slot = (ft__index_slot){hash, name, number};
        t->n++;
    }
    return slot != NULL;
}

static bool index_words(ft__parser *p)
{
    bool good = true;

    for (int64_t i = 0; i < FT__WORDS && good; i++)
        good = index_name(&p->words, words[i], i);
    for (size_t i = 0; i < sizeof(other_words) / sizeof(*other_words) && good; i++)
        good = index_name(&p->words, other_words[i], FT__MOD_OTHER);
    for (int64_t i = 0; i < FT__PTX_OPCODES && good; i++)
        good = index_name(&p->opcodes, ft__ptx_opcodes[i].name, i);
    return good;
}

/* A name that every module has. */
static void predefine(ft__parser *p, const char *name, ft__symbol_kind kind,
                      uint32_t number)
{
    const uint32_t len = (uint32_t)strlen(name);
    const ft__lex at = {
        .start = name, .len = len, .hash = ft__hash_bytes(FT__HASH_BEGIN, name, len)};

    ft__symbol_new(p, &at, kind, number);
}

/* At the first token's front, with the words and registers of the language; sets all of
 * p. */
static void begin(ft__parser *p, ft_ptx *m, ft_error *err)
{
    const ft__lex begin = {.text = m->text,
                           .at = m->text,
                           .end = m->text + m->len,
                           .line = 1,
                           .token_line = 1,
                           .start = m->text};

    *p = (ft__parser){.lex = begin, .m = m, .err = err, .function = -1};
    if (!index_words(p))
        ft__ptx_no_memory(p);
    for (unsigned i = 0; i < FT__PTX_SREGS && !p->st; i++)
        predefine(p, ft__ptx_sregs[i], FT__SYMBOL_SREG, i);
    if (!p->st)
        predefine(p, "WARP_SZ", FT__SYMBOL_CONSTANT, 32);
}

static void release(ft__parser *p)
{
    ft__ptx_list *const lists[] = {
        &p->symbols.list, &p->functions, &p->variables,
        &p->locs,         &p->files,     &p->kernels,
        &p->insns,        &p->operands,  &p->mods,
        &p->regs,         &p->labels,    &p->targets,
        &p->fixups,       &p->stage,     &p->params,
        &p->results,      &p->ignored,   &p->kernel_functions,
        &p->module_regs};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        free(lists[i]->at);
    ft__index_free(&p->symbols.newest);
    ft__index_free(&p->words);
    ft__index_free(&p->opcodes);
}

/* From m->text; what is read so far is the arena's. */
static ft_status read_text(ft_ptx *m, ft_error *err)
{
    ft__parser p;

    begin(&p, m, err);
    if (!p.st)
        all_of_it(&p);
    if (!p.st)
        keep(&p);
    release(&p);
    return p.st;
}

static bool is_cuda(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0);
}

ft_status ft__ptx_parse(ft_ptx **out, const char *text, size_t len, const char *name,
                        ft_error *err)
{
    ft_ptx *m;
    ft_status st;

    *out = NULL;
    if (is_cuda(name))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s is CUDA C++, not PTX; nvcc makes PTX of it: nvcc -ptx "
                       "-arch=sm_80 %s -o kernels.ptx",
                       name, name);
    if (len >= 4 &&
        (memcmp(text, "\177ELF", 4) == 0 || memcmp(text, "\x50\xed\x55\xba", 4) == 0))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s is a compiled program, not PTX; where it has PTX in it: "
                       "cuobjdump -ptx %s",
                       name, name);
    m = calloc(1, sizeof(*m));
    if (!m)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    m->text = text;
    m->len = len;
    m->name = ft__arena_strndup(&m->arena, name, strlen(name));
    if (!m->name)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", name);
    else if (len >= UINT32_MAX)
        st = ft_fail(err, FT_EFORMAT, 0, "%s: more than 4 GiB of text", name);
    else
        st = read_text(m, err);
    m->facts = (ft_ptx_facts){.kernel = m->kernel,
                              .n_kernels = m->n_kernels,
                              .version = m->version,
                              .target = m->target,
                              .text = m->text,
                              .len = m->len};
    if (st)
        ft__ptx_free(m);
    else
        *out = m;
    return st;
}

ft_status ft__ptx_open(ft_ptx **out, const char *path, ft_error *err)
{
    char *text;
    size_t len = 0;
    ft_status st = ft__file_read(&text, &len, path, FT__PTX_MAX_FILE, err);

    *out = NULL;
    if (!st)
        st = ft__ptx_parse(out, text, len, path, err);
    if (st)
        free(text);
    else
        (*out)->owned = text;
    return st;
}

void ft__ptx_free(ft_ptx *m)
{
    if (!m)
        return;
    free(m->owned);
    ft__index_free(&m->by_name);
    ft__arena_free(&m->arena);
    free(m);
}

struct text_parts {
    const char *at, *end; /* what is not looked at yet */
    uint32_t line;
    bool comment; /* at is inside of one */
};

static bool starts(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);

    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return (size_t)(end - p) > n && memcmp(p, word, n) == 0 &&
           (p[n] == ' ' || p[n] == '\t');
}

static bool in_comment(const char *p, const char *end, bool inside)
{
    for (; p + 1 < end; p++) {
        if (!inside && p[0] == '/' && p[1] == '/')
            return false;
        if (inside ? p[0] == '*' && p[1] == '/' : p[0] == '/' && p[1] == '*') {
            inside = !inside;
            p++;
        }
    }
    return inside;
}

/* The next line that begins a module, or what cuobjdump writes between two; NULL: none.
 * *module says which; *line is its number. */
static const char *next_mark(struct text_parts *p, bool *module, uint32_t *line)
{
    while (p->at < p->end) {
        const char *begin = p->at,
                   *stop = memchr(begin, '\n', (size_t)(p->end - begin));
        const char *end = stop ? stop : p->end;
        bool comment = p->comment;

        p->at = stop ? stop + 1 : p->end;
        p->comment = in_comment(begin, end, comment);
        *line = p->line++;
        *module = starts(begin, end, ".version");
        if (!comment && (*module || starts(begin, end, "Fatbin")))
            return begin;
    }
    return NULL;
}

/* A module of a text of its own, which it keeps. */
static ft_status add_module(ft_ptx ***list, size_t *n, size_t *cap, const char *begin,
                            const char *end, const char *name, ft_error *err)
{
    ft_ptx **grown = ft__list_grow(*list, *n, cap, sizeof(*grown));
    size_t len = (size_t)(end - begin);
    char *text;
    ft_status st;

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    *list = grown;
    text = malloc(len + 1);
    if (!text)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    memcpy(text, begin, len);
    text[len] = '\0';
    st = ft__ptx_parse(&grown[*n], text, len, name, err);
    if (st) {
        free(text);
        return st;
    }
    grown[(*n)++]->owned = text;
    return FT_OK;
}

static ft_status add_parts(ft_ptx ***list, size_t *n, const char *text, size_t len,
                           const char *path, ft_error *err)
{
    struct text_parts p = {text, text + len, 1, false};
    bool module, next_module;
    uint32_t line, next_line;
    size_t cap = 0;
    const char *next, *begin = next_mark(&p, &module, &line);
    ft_status st = FT_OK;
    char name[FT__MAX_NAME];

    while (begin && !st) {
        next = next_mark(&p, &next_module, &next_line);
        snprintf(name, sizeof(name), "%.3900s from line %u on", path, line);
        if (module)
            st = add_module(list, n, &cap, begin, next ? next : p.end, name, err);
        begin = next;
        module = next_module;
        line = next_line;
    }
    if (!st && *n == 0)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "%s: no PTX in it; what cuobjdump -ptx prints has it where the "
                     "program was compiled with PTX for a later GPU",
                     path);
    return st;
}

static size_t count_marks(const char *text, size_t len)
{
    struct text_parts p = {text, text + len, 1, false};
    uint32_t line;
    bool module;
    size_t n = 0;

    while (n < 2 && next_mark(&p, &module, &line))
        n += module ? 1 : 2;
    return n;
}

ft_status ft_ptx_modules_open(ft_ptx ***out, size_t *n, const char *path, ft_error *err)
{
    size_t len, cap = 0;
    char *text;
    ft_status st = ft__file_read(&text, &len, path, FT__PTX_MAX_FILE, err);

    *out = NULL;
    *n = 0;
    if (st)
        return st;
    if (count_marks(text, len) < 2)
        st = add_module(out, n, &cap, text, text + len, path, err);
    else
        st = add_parts(out, n, text, len, path, err);
    free(text);
    if (st) {
        ft_ptx_modules_free(*out, *n);
        *out = NULL;
        *n = 0;
    }
    return st;
}

void ft_ptx_modules_free(ft_ptx **m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ft__ptx_free(m[i]);
    free(m);
}

const ft_ptx_facts *ft_ptx_get(const ft_ptx *m)
{
    return &m->facts;
}

static ft_status no_kernel(const ft_ptx *m, const char *name, ft_error *err)
{
    enum { MOST_NAMED = 6 };
    const uint32_t named = m->n_kernels < MOST_NAMED ? m->n_kernels : MOST_NAMED;
    ft__buf list = {0};

    for (uint32_t k = 0; k < named; k++)
        ft__buf_fmt(&list, "%s%s", k ? ", " : "", m->kernel[k].source_name);
    if (m->n_kernels > named)
        ft__buf_fmt(&list, " and %u more", m->n_kernels - named);
    ft_fail(err, FT_ENOTFOUND, 0, "%s: there is no kernel '%s', but %s", m->name, name,
            list.bad ? "others" : list.s);
    ft__buf_free(&list);
    return FT_ENOTFOUND;
}

/* By the name in C++, which several symbols may have. */
static ft_status find_called(uint32_t *out, const ft_ptx *m, const char *name,
                             ft_error *err)
{
    uint32_t n = 0, first = 0;

    for (uint32_t k = 0; k < m->n_kernels; k++)
        if (ft_ptx_is_called(&m->kernel[k], name)) {
            if (n++ == 1)
                return ft_fail(err, FT_ENEEDED, 0,
                               "%s: several kernels are called %s, such as %s and %s",
                               m->name, name, m->kernel[first].name, m->kernel[k].name);
            first = n == 1 ? k : first;
        }
    *out = first;
    return n ? FT_OK : no_kernel(m, name, err);
}

ft_status ft__ptx_kernel_find(uint32_t *out, const ft_ptx *m, const char *name,
                              ft_error *err)
{
    const ft__index_slot *slot;

    *out = 0;
    if (!name && m->n_kernels == 1)
        return FT_OK;
    if (m->n_kernels == 0)
        return ft_fail(err, FT_ENOTFOUND, 0, "%s: there is no kernel in it", m->name);
    if (!name)
        return ft_fail(err, FT_ENEEDED, 0,
                       "%s: %u kernels are in it: say which (--entry %s)", m->name,
                       m->n_kernels, m->kernel[0].name);
    slot = ft__index_find(&m->by_name, ft__hash_text(FT__HASH_BEGIN, name), name);
    if (slot) {
        *out = (uint32_t)slot->number;
        return FT_OK;
    }
    return find_called(out, m, name, err);
}
