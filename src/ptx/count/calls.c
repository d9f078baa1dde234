/* Calls: a function that is called has a frame of its own, and what is passed and given
 * back stands in slots of both. In: a step that calls and who takes part; out: their
 * values afterwards. */
#include "ptx/count/walk.h"

static ft__frame *frame_new(ft__run *r, ft__plan_part *part)
{
    const uint32_t n = (uint32_t)(part - r->p->part);
    ft__frame *f = r->pool[n];

    if (f) {
        r->pool[n] = f->free;
        return f;
    }
    f = ft__arena_alloc(&r->arena, sizeof(*f));
    if (f) {
        f->part = part;
        f->value =
            ft__arena_array(&r->arena, (size_t)part->n_slots + 1, sizeof(*f->value));
        f->loop =
            ft__arena_array(&r->arena, (size_t)part->flow.n + 1, sizeof(*f->loop));
    }
    if (!f || !f->value || !f->loop) {
        r->short_of_memory = true;
        return NULL;
    }
    return f;
}

ft__frame *ft__frame_begin(ft__run *r, ft__plan_part *part, ft__frame *caller,
                           const ft__active *t)
{
    ft__frame *f = frame_new(r, part);

    if (!f)
        return NULL;
    for (uint32_t s = 0; s < part->n_slots; s++) {
        ft__lane_value *v = &f->value[s];

        *v = (ft__lane_value){.own = v->own, .masks = v->masks, .fresh = true};
    }
    for (uint32_t b = 0; b < part->flow.n; b++) {
        ft__loop *loop = f->loop[b];

        if (!loop)
            continue;
        loop->walk = 0;
        loop->open = false;
        if (loop->launch != r->launch)
            loop->period = 1;
        loop->launch = r->launch;
    }
    ft__active_nobody(&f->back);
    ft__active_nobody(&f->exited);
    memset(&f->left, 0, sizeof(f->left));
    memset(&f->torn, 0, sizeof(f->torn));
    f->present = t->of[FT__MAYBE];
    f->caller = caller;
    f->depth = caller ? caller->depth + 1 : 0;
    return f;
}

void ft__frame_end(ft__run *r, ft__frame *f)
{
    const size_t n = (size_t)(f->part - r->p->part);

    f->free = r->pool[n];
    r->pool[n] = f;
}

static void put(ft__run *r, ft__frame *f, uint32_t slot, ft__frame *from, uint32_t of,
                const ft__set *who)
{
    const ft__lane_value nothing = {.nothing = true};
    const ft__lane_value *v =
        of == FT__NO_SLOT || from->value[of].fresh ? &nothing : &from->value[of];

    if (slot != FT__NO_SLOT)
        ft__value_put(r, f, slot, v, who, f->part->hard[slot]);
}

/* All cells of a variable from those of another. */
static void put_variable(ft__run *r, ft__frame *f, uint32_t variable, ft__frame *from,
                         uint32_t of, const ft__set *who)
{
    for (uint32_t c = 0; c < f->part->n_cells; c++) {
        const ft__memory_cell *cell = &f->part->cell[c];

        if (cell->variable == variable)
            put(r, f, cell->slot, from,
                ft__plan_cell(from->part, of, cell->offset, cell->bytes), who);
    }
}

static uint32_t slot_of(const ft__frame *f, const ft__ptx_operand *o)
{
    return o->kind == FT__PTX_REG ? f->part->slot[o->index] : FT__NO_SLOT;
}

/* The cell of a whole .param variable; NO_SLOT: it is not followed, or in parts. */
static uint32_t whole_cell(const ft__run *r, const ft__frame *f, uint32_t variable)
{
    return ft__plan_cell(f->part, variable, 0, r->p->m->variable[variable].size);
}

/* The slot that holds element e of a parameter or result; NO_SLOT: none. */
static uint32_t formal_slot(const ft__run *r, const ft__frame *f,
                            const ft__ptx_formal *formal, uint32_t e)
{
    if (!formal->is_reg)
        return whole_cell(r, f, formal->index);
    return e < formal->n ? f->part->slot[formal->index + e] : FT__NO_SLOT;
}

/* The same of what a call passes or gets. */
static uint32_t passed_slot(const ft__run *r, const ft__frame *f,
                            const ft__ptx_operand *o)
{
    if (o->kind == FT__PTX_VARIABLE)
        return whole_cell(r, f, o->index);
    return o->kind == FT__PTX_REG ? f->part->slot[o->index] : FT__NO_SLOT;
}

/* As many registers as the other side has, or one for a variable. */
static bool fits(const ft__ptx_operand *o, const ft__ptx_formal *formal)
{
    const uint32_t n = formal->is_reg ? formal->n : 1;

    return o->kind == FT__PTX_VECTOR ? o->n == n : n == 1;
}

static void pass_one(ft__run *r, ft__frame *to, ft__frame *f,
                     const ft__ptx_operand *arg, const ft__ptx_formal *formal,
                     const ft__set *who)
{
    const ft__ptx_operand *o;

    if (!formal->is_reg && arg->kind == FT__PTX_VARIABLE) {
        put_variable(r, to, formal->index, f, arg->index, who);
        return;
    }
    for (uint32_t e = 0; fits(arg, formal) && (o = ft__plan_passed(f->part->f, arg, e));
         e++) {
        const uint32_t slot = formal_slot(r, to, formal, e);
        const ft__lane_value v = {.base = o->bits};

        if (o->kind == FT__PTX_INT && slot != FT__NO_SLOT)
            ft__value_put(r, to, slot, &v, who, true);
        else
            put(r, to, slot, f, passed_slot(r, f, o), who);
    }
}

/* Registers of the module have the same values in all functions. */
static void pass_module(ft__run *r, ft__frame *to, ft__frame *from, const ft__set *who)
{
    const uint32_t n = ft__plan_shared_regs(to->part, from->part);

    for (uint32_t k = 0; k < n; k++)
        put(r, to, to->part->slot[k], from, from->part->slot[k], who);
    for (uint32_t k = n; k < to->part->f->n_module_regs; k++)
        if (to->part->slot[k] != FT__NO_SLOT)
            ft__value_forget(r, &to->value[to->part->slot[k]], who);
}

static void pass(ft__run *r, ft__frame *to, ft__frame *f, const ft__plan_call *c,
                 const ft__set *who)
{
    const ft__ptx_function *g = to->part->f;

    for (uint32_t k = 0; k < g->n_params && k < c->n_args; k++)
        pass_one(r, to, f, &c->arg[k], &g->param[k], who);
    pass_module(r, to, f, who);
}

/* Nobody knows what it holds. */
static void forget_result(ft__run *r, ft__frame *f, const ft__ptx_operand *result,
                          const ft__set *who)
{
    const ft__ptx_operand *o;

    for (uint32_t e = 0; (o = ft__plan_passed(f->part->f, result, e)); e++) {
        const uint32_t slot = slot_of(f, o);

        if (slot != FT__NO_SLOT)
            ft__value_forget(r, &f->value[slot], who);
        for (uint32_t x = 0; x < f->part->n_cells; x++)
            if (o->kind == FT__PTX_VARIABLE && f->part->cell[x].variable == o->index)
                ft__value_forget(r, &f->value[f->part->cell[x].slot], who);
    }
}

static void give_back_one(ft__run *r, ft__frame *f, ft__frame *from,
                          const ft__ptx_operand *result, const ft__ptx_formal *formal,
                          const ft__set *who)
{
    const ft__ptx_operand *o;

    if (!formal->is_reg && result->kind == FT__PTX_VARIABLE) {
        put_variable(r, f, result->index, from, formal->index, who);
        return;
    }
    if (!fits(result, formal) || result->kind == FT__PTX_VARIABLE)
        forget_result(r, f, result, who);
    for (uint32_t e = 0;
         fits(result, formal) && (o = ft__plan_passed(f->part->f, result, e)); e++)
        put(r, f, passed_slot(r, f, o), from, formal_slot(r, from, formal, e), who);
}

static void give_back(ft__run *r, ft__frame *f, ft__frame *from, const ft__plan_call *c,
                      const ft__set *who)
{
    const ft__ptx_function *g = from->part->f;

    for (uint32_t k = 0; k < g->n_results && k < c->n_results; k++)
        give_back_one(r, f, from, &c->result[k], &g->result[k], who);
    pass_module(r, f, from, who);
}

/* Nobody knows what the call gives. */
static void forget_results(ft__run *r, ft__frame *f, const ft__plan_call *c,
                           const ft__set *who)
{
    for (uint32_t k = 0; k < c->n_results; k++)
        forget_result(r, f, &c->result[k], who);
    for (uint32_t k = 0; k < f->part->f->n_module_regs; k++)
        if (f->part->slot[k] != FT__NO_SLOT)
            ft__value_forget(r, &f->value[f->part->slot[k]], who);
}

static void not_followed(ft__run *r, ft__frame *f, const ft__plan_step *s,
                         const ft__plan_call *c, const ft__active *on, const char *why)
{
    ft__run_inexact(r, f, s->insn, why);
    for (uint32_t k = 0; k < r->p->n_parts; k++)
        ft__walk_unbound(r, &r->p->part[k], 0, r->p->part[k].flow.n);
    forget_results(r, f, c, &on->of[FT__MAYBE]);
}

static void enter(ft__run *r, ft__frame *f, const ft__plan_step *s,
                  const ft__plan_call *c, uint32_t part, ft__active *t,
                  const ft__active *on)
{
    ft__frame *to;
    ft__active back = *on;

    if (f->depth + 1 >= FT__MOST_CALLS) {
        not_followed(r, f, s, c, on, "calls are nested too deep");
        return;
    }
    to = ft__frame_begin(r, &r->p->part[part], f, on);
    if (!to)
        return;
    pass(r, to, f, c, &on->of[FT__MAYBE]);
    ft__walk_go(r, to, 0, to->part->flow.n, &back);
    for (uint32_t k = 0; k < r->words; k++)
        to->torn.w[k] |= back.of[FT__MAYBE].w[k] & to->back.of[FT__MAYBE].w[k];
    ft__active_join(r, &back, &to->back);
    give_back(r, f, to, c, &back.of[FT__MAYBE]);
    if (ft__set_any(r, &to->torn))
        forget_results(r, f, c, &to->torn);
    ft__active_remove(r, t, &to->exited);
    ft__active_join(r, &f->exited, &to->exited);
    for (uint32_t k = 0; k < r->words; k++)
        f->left.w[k] |= to->exited.of[FT__MAYBE].w[k];
    ft__frame_end(r, to);
}

/* Threads by the function that their register holds. */
static void enter_each(ft__run *r, ft__frame *f, const ft__plan_step *s,
                       const ft__plan_call *c, ft__active *t, const ft__active *on)
{
    ft__active rest = *on, now;
    const ft__lane_value *v = &f->value[c->pointer];

    if (v->fresh || v->nothing || v->unknown) {
        not_followed(r, f, s, c, on, "a call through a register depends on data");
        return;
    }
    ft__affine_pin(&r->affines, v->affine);
    while (ft__active_any(r, &rest)) {
        ft__lane_condition same = {.any_open = false};
        uint64_t first = 0;
        uint32_t k = 0;
        bool found = false;

        for (uint32_t l = 0; l < r->threads; l++)
            if (ft__set_has(rest.of[FT__MAYBE].w, l)) {
                const uint64_t one = v->lane ? v->lane[l] : v->base;

                first = found ? first : one;
                found = true;
                same.holds.w[l / 64] |= (uint64_t)(one == first) << l % 64;
            }
        ft__active_split(r, &now, &rest, &rest, &same);
        while (k < c->n_parts && r->p->part[c->part[k]].function + 1 != first)
            k++;
        if (k == c->n_parts)
            not_followed(r, f, s, c, &now, "a call leads to a function not listed");
        else
            enter(r, f, s, c, c->part[k], t, &now);
    }
}

void ft__walk_call(ft__run *r, ft__frame *f, const ft__plan_step *s, ft__active *t,
                   const ft__active *on)
{
    const ft__plan_call *c = &f->part->call[s->call];

    if (!ft__active_any(r, on))
        return;
    if (c->pointer != FT__NO_SLOT && c->nowhere)
        not_followed(r, f, s, c, on, "a call through a register is not listed");
    else if (c->pointer != FT__NO_SLOT)
        enter_each(r, f, s, c, t, on);
    else if (c->nowhere)
        forget_results(r, f, c, &on->of[FT__MAYBE]);
    else
        enter(r, f, s, c, c->part[0], t, on);
    if (c->noreturn)
        ft__active_remove(r, t, on);
}
