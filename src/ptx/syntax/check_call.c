#include "ptx/syntax/parse.h"

/* call (results), callee, (arguments), targets: each part against the callee. */

typedef struct call {
    const ft__ptx_operand *results, *callee, *arguments, *targets;
} call;

static const ft__ptx_operand *at(const ft__parser *p, uint32_t index)
{
    return (const ft__ptx_operand *)p->operands.at + index;
}

static bool parts(const ft__parser *p, const ft__ptx_insn *i, call *c)
{
    const uint32_t end = i->operands + i->n_operands;
    uint32_t k = i->operands;

    *c = (call){0};
    if (k < end && at(p, k)->kind == FT__PTX_LIST)
        c->results = at(p, k++);
    if (k < end)
        c->callee = at(p, k++);
    if (k < end && at(p, k)->kind == FT__PTX_LIST)
        c->arguments = at(p, k++);
    if (k < end)
        c->targets = at(p, k++);
    return c->callee && k == end;
}

/* Arrays are passed as bytes; numbers as what they are, bits as any of their size. */
static bool same_sort(const ft__ptx_variable *a, const ft__ptx_variable *b)
{
    const ft__ptx_kind x = ft__ptx_type_kind(a->type), y = ft__ptx_type_kind(b->type);

    if (a->array || b->array)
        return a->array && b->array && a->align == b->align;
    return x == FT__KIND_BITS || y == FT__KIND_BITS ||
           (x == FT__KIND_FLOAT) == (y == FT__KIND_FLOAT);
}

/* What the callee says of one argument: a variable, or a register with `reg`. */
static bool passes(const ft__parser *p, const ft__ptx_operand *o, uint8_t type,
                   const ft__ptx_variable *v, bool result)
{
    const ft__ptx_variable *own;
    const bool array = v && v->array;
    const ft__want w = {.role = result ? 'D' : 's', .type = type};
    const ft__ptx_insn none = {0};

    if (o->kind == FT__PTX_SINK)
        return result;
    if (o->kind != FT__PTX_VARIABLE)
        return !array && ft__check_operand(p, &none, &w, o);
    own = (const ft__ptx_variable *)p->variables.at + o->index;
    if (own->space != FT_PTX_PARAM || o->bits)
        return false;
    if (!v || v->size == 0)
        return v != NULL;
    return own->size == v->size && same_sort(own, v);
}

static bool list_passes(const ft__parser *p, const ft__ptx_function *f,
                        const ft__ptx_operand *list, bool results)
{
    const uint32_t n = results ? f->n_results : f->n_params;
    const uint32_t *index = results ? f->result : f->param;
    const bool regs = results ? f->results_are_regs : f->params_are_regs;
    const ft__ptx_variable *v = p->variables.at;
    const uint32_t given = list ? list->n : 0;

    if (given != n)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        const ft__ptx_operand *o = at(p, list->index + k);
        const ft__ptx_variable *formal = regs ? NULL : &v[index[k]];

        if (regs && o->kind == FT__PTX_VARIABLE)
            return false;
        if (!passes(p, o, regs ? f->reg[index[k]].type : formal->type, formal, results))
            return false;
    }
    return true;
}

/* The function whose body is read, with the parameters it has so far. */
static ft__ptx_function itself(const ft__parser *p)
{
    ft__ptx_function f = *p->f;

    f.param = p->params.at;
    f.n_params = (uint32_t)p->params.n;
    f.result = p->results.at;
    f.n_results = (uint32_t)p->results.n;
    f.reg = p->regs.at;
    return f;
}

void ft__check_call(ft__parser *p, const ft__ptx_insn *i)
{
    const char *place = p->lex.text + i->at;
    const ft__ptx_function own = itself(p), *f;
    call c;

    if (!parts(p, i, &c)) {
        ft__ptx_fail(p, place, "'call' wants (results), a function, (arguments)");
        return;
    }
    if (c.callee->kind == FT__PTX_REG) {
        if (!c.targets || !ft__ptx_is_list(p, c.targets, true))
            ft__ptx_fail(p, place, "'call' of a register wants a prototype or targets");
        return;
    }
    if (c.callee->kind != FT__PTX_FUNCTION || c.targets) {
        ft__ptx_fail(p, place, "'call' wants a function");
        return;
    }
    f = (const ft__ptx_function *)p->functions.at + c.callee->index;
    if (f == p->f)
        f = &own;
    if (f->entry)
        ft__ptx_fail(p, place, "'%s' is a kernel, which cannot be called", f->name);
    else if (!list_passes(p, f, c.results, true))
        ft__ptx_fail(p, place, "the results do not fit those of '%s'", f->name);
    else if (!list_passes(p, f, c.arguments, false))
        ft__ptx_fail(p, place, "the arguments do not fit the parameters of '%s'",
                     f->name);
}
