/* Functions: heading, performance directives, statements, scopes with their labels. In:
 * tokens; out: the function's instructions, registers and labels. */
#include <stdio.h>
#include <string.h>

#include "base/index.h"
#include "ptx/syntax/parser.h"

static void scope_open(ft__parser *p)
{
    const uint32_t most = sizeof(p->symbols.mark) / sizeof(*p->symbols.mark);

    if (p->symbols.depth + 1 >= most) {
        ft__ptx_fail(p, p->lex.start, "scopes are nested more than %u deep", most - 2);
        return;
    }
    p->symbols.mark[++p->symbols.depth] = (uint32_t)p->symbols.list.n;
    p->symbols.fixups[p->symbols.depth] = p->fixups.n;
}

static void settle_label(ft__parser *p, const ft__fixup *x, const ft__symbol *s)
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
        const ft__lex name = {.start = x[i].name, .len = x[i].len, .hash = x[i].hash};
        const ft__symbol *s = ft__symbol_find(p, &name);

        if (s && s->scope == p->symbols.depth && s->kind == FT__SYMBOL_LABEL) {
            settle_label(p, &x[i], s);
        } else if (p->symbols.depth == 1) {
            ft__ptx_fail(p, x[i].at, "there is no label '%.*s'", (int)x[i].len,
                         x[i].name);
            return;
        } else {
            x[left++] = x[i];
        }
    }
    p->fixups.n = left;
}

/* Labels of it are resolved, and its names are gone. */
static void scope_close(ft__parser *p)
{
    if (p->st)
        return;
    resolve(p);
    while (p->symbols.list.n > p->symbols.mark[p->symbols.depth]) {
        const ft__symbol *s =
            (const ft__symbol *)p->symbols.list.at + --p->symbols.list.n;
        ft__index_slot *slot = ft__index_at(&p->symbols.newest, s->hash, NULL);

        if (slot)
            slot->number = s->next;
        else
            ft__ptx_no_memory(p);
    }
    p->symbols.depth--;
}

/* ( parameters ), onto the list. */
static void parameters(ft__parser *p, ft__ptx_list *to)
{
    to->n = 0;
    if (!ft__ptx_accept(p, '(') || ft__ptx_accept(p, ')'))
        return;
    do
        ft__ptx_parameter(p, to);
    while (ft__ptx_accept(p, ','));
    ft__ptx_expect(p, ')', "',' or ')'");
}

static uint32_t positive(ft__parser *p)
{
    const char *at = p->lex.start;
    const uint32_t v = ft__ptx_small(p, "a number");

    if (!p->st && v == 0)
        ft__ptx_fail(p, at, "found 0, expected a number above it");
    return v;
}

/* 16 or 16, 8 or 16, 8, 4: what is not given is 1. */
static void three(ft__parser *p, uint32_t v[3])
{
    v[0] = v[1] = v[2] = 1;
    v[0] = positive(p);
    for (int i = 1; i < 3 && ft__ptx_accept(p, ','); i++)
        v[i] = positive(p);
}

/* Words between parameters and body that device functions and prototypes have too. */
static bool of_any_function(unsigned word)
{
    return word == FT__WORD_NORETURN || word == FT__WORD_ABI_PRESERVE ||
           word == FT__WORD_ABI_PRESERVE_CONTROL || word == FT__MOD_UNIFIED;
}

static bool any_function(ft__parser *p, unsigned word)
{
    switch (word) {
    case FT__WORD_NORETURN: p->f->noreturn = true; return true;
    case FT__WORD_ABI_PRESERVE: (void)ft__ptx_small(p, "a number"); return true;
    case FT__WORD_ABI_PRESERVE_CONTROL:
    case FT__MOD_UNIFIED: return true;
    default: return false;
    }
}

/* Those of kernels, which say how many threads there are. false: of a device function
 * the word is none of its heading. */
static bool performance(ft__parser *p)
{
    const char *at = p->lex.start;
    const int len = (int)(p->lex.len < 60 ? p->lex.len : 60);
    const unsigned word = ft__ptx_word(p);
    ft_ptx_kernel *k = p->kernel;

    if (word == FT__WORD_PRAGMA) {
        ft__ptx_directive(p, FT__WORDS);
        return true;
    }
    if (!k && !of_any_function(word))
        return false;
    ft__ptx_next(p);
    if (any_function(p, word))
        return true;
    switch (word) {
    case FT__WORD_EXPLICITCLUSTER:
    case FT__WORD_BLOCKSARECLUSTERS: break;
    case FT__WORD_MAXNCTAPERSM:
    case FT__WORD_MINNCTAPERSM: k->blocks_per_sm = positive(p); break;
    case FT__WORD_MAXNREG:
    case FT__WORD_MAXCLUSTERRANK: (void)positive(p); break;
    case FT__WORD_REQNTID: three(p, k->required); break;
    case FT__WORD_MAXNTID: three(p, k->most); break;
    case FT__WORD_REQNCTAPERCLUSTER: three(p, k->cluster); break;
    default: ft__ptx_fail(p, at, "found '%.*s', expected '{'", len, at); break;
    }
    return true;
}

enum { MOST_TARGETS = 1 << 20 }; /* of a list */

/* `name`, or `name<n>`, which stands for name0 and so on. */
static bool target_names(ft__parser *p, ft__lex *name, uint32_t *n)
{
    *name = p->lex;
    *n = 1;
    ft__ptx_next(p);
    if (!ft__ptx_accept(p, '<'))
        return false;
    *n = ft__ptx_small(p, "how many there are");
    ft__ptx_expect(p, '>', "'>'");
    return true;
}

static ft__lex numbered(ft__parser *p, const ft__lex *name, uint32_t number)
{
    ft__lex x = *name;
    char digits[12];
    const uint32_t n = (uint32_t)snprintf(digits, sizeof(digits), "%u", number);
    char *text = ft__arena_array(&p->m->arena, (size_t)name->len + n, 1);

    if (!text) {
        ft__ptx_no_memory(p);
        return x;
    }
    memcpy(text, name->start, name->len);
    memcpy(text + name->len, digits, n);
    x.start = text;
    x.len += n;
    x.hash = ft__hash_bytes(FT__HASH_BEGIN, text, x.len);
    return x;
}

static void target(ft__parser *p, const ft__lex *name, const char *at, bool function,
                   uint32_t *to)
{
    const ft__symbol *s;

    if (function) {
        s = ft__symbol_find(p, name);
        if (!s || s->kind != FT__SYMBOL_FUNCTION)
            ft__ptx_fail(p, at, "'%.*s' is no function", (int)name->len, name->start);
        else
            *to = s->number;
        return;
    }
    *(ft__fixup *)ft__ptx_push(p, &p->fixups, sizeof(ft__fixup)) =
        (ft__fixup){.name = name->start,
                    .at = at,
                    .len = name->len,
                    .hash = name->hash,
                    .target = to};
}

/* How many targets follow. */
static uint32_t listed(ft__parser *p)
{
    const ft__lex here = p->lex;
    uint32_t all = 0, n;
    ft__lex name;

    while (p->lex.kind == FT__TOK_NAME && !p->st) {
        target_names(p, &name, &n);
        if (n > MOST_TARGETS - all)
            ft__ptx_fail(p, name.start, "more than %d targets", MOST_TARGETS);
        all += p->st ? 0 : n;
        if (!ft__ptx_accept(p, ','))
            break;
    }
    p->lex = p->st ? p->lex : here;
    return all;
}

/* .branchtargets and .calltargets: names, apart by commas. */
static void targets(ft__parser *p, bool functions)
{
    ft__ptx_targets *t = ft__ptx_push(p, &p->targets, sizeof(*t));
    const uint32_t n = listed(p);
    uint32_t *index = ft__arena_array(&p->m->arena, n ? n : 1, sizeof(*index));

    if (!index) {
        ft__ptx_no_memory(p);
        return;
    }
    *t = (ft__ptx_targets){.index = index, .n = n, .functions = functions};
    do {
        uint32_t many;
        ft__lex name;
        bool range;

        if (p->lex.kind != FT__TOK_NAME) {
            ft__ptx_expected(p, "a name");
            return;
        }
        range = target_names(p, &name, &many);
        for (uint32_t k = 0; k < many && !p->st; k++) {
            const ft__lex one = range ? numbered(p, &name, k) : name;

            target(p, &one, name.start, functions, index++);
        }
    } while (!p->st && ft__ptx_accept(p, ','));
}

/* .callprototype (result) _ (parameters): only that there is one. */
static void prototype(ft__parser *p)
{
    const size_t regs = p->regs.n, variables = p->variables.n;
    const uint64_t offset = p->offset[FT_PTX_PARAM];
    ft_ptx_kernel *const kernel = p->kernel;
    const bool noreturn = p->f->noreturn; /* of the function around it */

    p->kernel = NULL;
    ((ft__ptx_targets *)ft__ptx_push(p, &p->targets, sizeof(ft__ptx_targets)))
        ->functions = true;
    scope_open(p);
    parameters(p, &p->ignored);
    ft__ptx_expect(p, '_', "'_'");
    parameters(p, &p->ignored);
    while (p->lex.kind == FT__TOK_WORD && performance(p)) {
    }
    scope_close(p);
    p->kernel = kernel;
    p->f->noreturn = noreturn;
    if (p->st)
        return;
    p->regs.n = regs;
    p->variables.n = variables;
    p->offset[FT_PTX_PARAM] = offset;
}

static void label(ft__parser *p)
{
    const ft__lex at = p->lex;
    const uint32_t list = (uint32_t)p->targets.n;
    unsigned word = FT__WORDS;
    ft__ptx_label *l;

    ft__ptx_next(p);
    ft__ptx_next(p); /* ':' */
    if (p->lex.kind == FT__TOK_WORD)
        word = ft__ptx_word(p);
    if (word == FT__WORD_BRANCHTARGETS || word == FT__WORD_CALLTARGETS ||
        word == FT__WORD_CALLPROTOTYPE) {
        ft__symbol_new(p, &at, FT__SYMBOL_TARGETS, list);
        ft__ptx_next(p);
        if (word == FT__WORD_CALLPROTOTYPE)
            prototype(p);
        else
            targets(p, word == FT__WORD_CALLTARGETS);
        ft__ptx_expect(p, ';', "';'");
        return;
    }
    ft__symbol_new(p, &at, FT__SYMBOL_LABEL, (uint32_t)p->insns.n);
    l = ft__ptx_push(p, &p->labels, sizeof(*l));
    *l = (ft__ptx_label){at.start, at.len, (uint32_t)p->insns.n};
}

static void directive(ft__parser *p)
{
    const unsigned word = ft__ptx_word(p);
    const bool of_modules = word == FT__WORD_FILE || word == FT__WORD_SECTION;

    if (of_modules || !ft__ptx_directive(p, FT__WORDS))
        ft__ptx_expected(p, "a statement");
}

/* Its names are of the same scope as the parameters'. */
static void body(ft__parser *p)
{
    const uint32_t depth = p->symbols.depth;

    ft__ptx_next(p);
    do {
        switch (p->lex.kind) {
        case '{':
            scope_open(p);
            ft__ptx_next(p);
            break;
        case '}':
            if (p->symbols.depth == depth) {
                ft__ptx_next(p);
                return;
            }
            scope_close(p);
            ft__ptx_next(p);
            break;
        case FT__TOK_NAME:
            if (ft__lex_peek(&p->lex) == ':')
                label(p);
            else
                ft__ptx_instruction(p);
            break;
        case '@': ft__ptx_instruction(p); break;
        case FT__TOK_WORD: directive(p); break;
        default: ft__ptx_expected(p, "a statement"); break;
        }
    } while (!p->st);
}

/* The one of that name that was declared, or a new one. */
static uint32_t function_number(ft__parser *p, const ft__lex *at, bool entry)
{
    ft__symbol *s = ft__symbol_find(p, at);
    ft__ptx_function *f;

    if (s && s->kind == FT__SYMBOL_FUNCTION)
        return s->number;
    ft__symbol_new(p, at, FT__SYMBOL_FUNCTION, (uint32_t)p->functions.n);
    f = ft__ptx_push(p, &p->functions, sizeof(*f));
    *f = (ft__ptx_function){
        .line = at->token_line, .entry = entry, .declared_only = true};
    f->name = ft__arena_strndup(&p->m->arena, at->start, at->len);
    if (!f->name)
        ft__ptx_no_memory(p);
    return (uint32_t)p->functions.n - 1;
}

static void begin(ft__parser *p)
{
    ft__ptx_list *const lists[] = {&p->insns,  &p->operands, &p->mods,
                                   &p->regs,   &p->labels,   &p->targets,
                                   &p->fixups, &p->params,   &p->results};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        lists[i]->n = 0;
    p->offset[FT_PTX_PARAM] = p->offset[FT_PTX_SHARED] = 0;
    p->offset[FT_PTX_LOCAL] = p->m->local_bytes;
    p->loc = 0;
}

/* The first registers of a function are those that the module has declared so far. */
static void begin_registers(ft__parser *p, const char *at)
{
    const ft__ptx_reg *r = p->module_regs.at;

    p->f->n_module_regs = (uint32_t)p->module_regs.n;
    if (!ft__ptx_count_registers(p, at, p->module_regs.n))
        return;
    for (size_t i = 0; i < p->module_regs.n && !p->st; i++)
        *(ft__ptx_reg *)ft__ptx_push(p, &p->regs, sizeof(*r)) = r[i];
}

/* What was read becomes the function's. */
static void keep(ft__parser *p)
{
    ft__ptx_function *f = p->f;

    f->n_insns = (uint32_t)p->insns.n;
    f->n_operands = (uint32_t)p->operands.n;
    f->n_mods = (uint32_t)p->mods.n;
    f->n_regs = (uint32_t)p->regs.n;
    f->n_labels = (uint32_t)p->labels.n;
    f->n_params = (uint32_t)p->params.n;
    f->n_results = (uint32_t)p->results.n;
    f->insn = ft__ptx_keep(p, &p->insns, sizeof(*f->insn));
    f->operand = ft__ptx_keep(p, &p->operands, sizeof(*f->operand));
    f->mod = ft__ptx_keep(p, &p->mods, sizeof(*f->mod));
    f->reg = ft__ptx_keep(p, &p->regs, sizeof(*f->reg));
    f->label = ft__ptx_keep(p, &p->labels, sizeof(*f->label));
    f->targets = ft__ptx_keep(p, &p->targets, sizeof(*f->targets));
    f->param = ft__ptx_keep(p, &p->params, sizeof(*f->param));
    f->result = ft__ptx_keep(p, &p->results, sizeof(*f->result));
    f->shared_bytes = p->offset[FT_PTX_SHARED];
    f->local_bytes = p->offset[FT_PTX_LOCAL];
    f->param_bytes = p->offset[FT_PTX_PARAM];
    f->end_variable = (uint32_t)p->variables.n;
}

static void new_kernel(ft__parser *p)
{
    p->kernel = ft__ptx_push(p, &p->kernels, sizeof(*p->kernel));
    *(uint32_t *)ft__ptx_push(p, &p->kernel_functions, sizeof(uint32_t)) =
        (uint32_t)p->function;
    p->kernel->name = p->f->name;
    p->kernel->line = p->f->line;
}

/* The kernel that was declared and is now read again; NULL: none. */
static ft_ptx_kernel *declared_kernel(const ft__parser *p)
{
    const uint32_t *function = p->kernel_functions.at;

    for (size_t k = 0; k < p->kernels.n; k++)
        if (function[k] == (uint32_t)p->function)
            return (ft_ptx_kernel *)p->kernels.at + k;
    return NULL;
}

/* The name behind a function's results, which may come first. */
static ft__lex name_ahead(const ft__parser *p)
{
    ft__lex x = p->lex;

    if (x.kind == '(') {
        while (x.kind != ')' && x.kind != FT__TOK_END)
            ft__lex_next(&x);
        ft__lex_next(&x);
    }
    return x;
}

static void heading(ft__parser *p)
{
    if (p->lex.kind == '(')
        parameters(p, &p->results);
    ft__ptx_expect(p, FT__TOK_NAME, "a function's name");
    p->offset[FT_PTX_PARAM] = 0;
    parameters(p, &p->params);
    while (p->lex.kind == FT__TOK_WORD && performance(p)) {
    }
}

/* What counting needs of parameters. */
static void check_parameters(ft__parser *p, const char *at)
{
    enum { MOST_BYTES = 1 << 16 };
    const ft__ptx_formal *formal = p->params.at;

    for (size_t k = 0; p->f->entry && k < p->params.n; k++)
        if (formal[k].is_reg)
            ft__ptx_fail(p, at, "parameters of kernels are .param");
    if (p->f->entry && p->offset[FT_PTX_PARAM] > MOST_BYTES)
        ft__ptx_fail(p, at, "%llu bytes of parameters, the most is %d",
                     (unsigned long long)p->offset[FT_PTX_PARAM], MOST_BYTES);
}

/* Of a prototype that no semicolon ends: the next directive, or the end of the text. */
static bool another_begins(const ft__parser *p)
{
    return !p->f->entry && (p->lex.kind == FT__TOK_WORD || p->lex.kind == FT__TOK_END);
}

static void definition(ft__parser *p, const ft__lex *at)
{
    begin_registers(p, at->start);
    p->f->first_variable = (uint32_t)p->variables.n;
    scope_open(p);
    heading(p);
    check_parameters(p, at->start);
    if (p->st)
        return;
    p->f->n_params = p->f->n_results = 0;
    if (p->lex.kind == '{') {
        if (!p->f->declared_only)
            ft__ptx_fail(p, at->start, "'%s' has a body already", p->f->name);
        p->f->declared_only = false;
        p->f->line = at->token_line;
        body(p);
    } else if (!another_begins(p)) {
        ft__ptx_expect(p, ';', "'{' or ';'");
    }
    scope_close(p);
}

void ft__ptx_function_read(ft__parser *p, bool entry)
{
    const uint32_t n = (uint32_t)p->functions.n;
    ft__lex at;

    ft__ptx_next(p);
    begin(p);
    if (p->lex.kind == FT__TOK_WORD && ft__ptx_word(p) == FT__WORD_ATTRIBUTE) {
        ft__ptx_next(p);
        ft__ptx_attribute(p);
    }
    at = name_ahead(p);
    if (at.kind != FT__TOK_NAME) {
        p->lex = at;
        ft__ptx_expected(p, "a function's name");
        return;
    }
    p->function = (int32_t)function_number(p, &at, entry);
    if (p->st)
        return;
    p->f = (ft__ptx_function *)p->functions.at + p->function;
    if (entry && p->functions.n > n)
        new_kernel(p);
    else if (entry)
        p->kernel = declared_kernel(p);
    definition(p, &at);
    if (!p->st)
        keep(p);
    if (!p->st && p->kernel)
        ft__ptx_kernel_describe(p);
    p->kernel = NULL;
    p->function = -1;
}
