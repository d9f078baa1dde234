/* All threads of a block go through a function together; each warp's part of the way is
 * the way it goes alone. Ways of a split are walked one after the other up to where
 * they meet; threads of which nobody knows, where data decides, go both. A function
 * that is called has a frame of its own. */
#include <string.h>

#include "ptx/count/trace.h"

/* Where a walk goes on. */
struct block_walk {
    ft__run *r;
    ft__frame *f;
    uint32_t block, from, stop;
    uint64_t walk;
    ft__active t, waiting; /* waiting: at `stop` */
};

static void go_on(struct block_walk *w, uint32_t block)
{
    w->from = w->block;
    w->block = block;
}

/* Ways part, and parts of them are ways. */
static void go(ft__run *r, ft__frame *f, uint32_t from, uint32_t stop, ft__active *t);

/* ---- sets ---- */

static void nobody(ft__active *t)
{
    memset(t, 0, sizeof(*t));
    t->known = true;
}

static bool anyone(const ft__run *r, const ft__active *t)
{
    return ft__set_any(r, &t->of[FT__MAYBE]);
}

/* Those for which it holds, and those for which it does not. */
static void split(const ft__run *r, ft__active *yes, ft__active *no,
                  const ft__active *t, const ft__lane_condition *c)
{
    yes->known = no->known = t->known && !c->any_open;
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t holds = c->holds.w[k], open = c->any_open ? c->open.w[k] : 0;
        const uint64_t maybe = t->of[FT__MAYBE].w[k];

        yes->of[FT__MAYBE].w[k] = maybe & (holds | open);
        no->of[FT__MAYBE].w[k] = maybe & ~holds;
        if (!yes->known) {
            const uint64_t sure = ft__active_set(t, FT__SURE)->w[k];
            const uint64_t guess = ft__active_set(t, FT__GUESS)->w[k];
            const uint64_t every_other = 0x5555555555555555u & open;

            yes->of[FT__SURE].w[k] = sure & holds;
            no->of[FT__SURE].w[k] = sure & ~(holds | open);
            yes->of[FT__GUESS].w[k] = guess & (holds | every_other);
            no->of[FT__GUESS].w[k] = guess & ~(holds | every_other);
        }
    }
}

static void join(const ft__run *r, ft__active *t, const ft__active *more)
{
    if (!t->known || !more->known)
        ft__active_spell_out(t);
    for (unsigned set = t->known ? FT__MAYBE : FT__SURE; set < FT__SETS; set++)
        for (uint32_t k = 0; k < r->words; k++)
            t->of[set].w[k] |= ft__active_set(more, set)->w[k];
}

static void remove_from(const ft__run *r, ft__active *t, const ft__active *gone)
{
    /* Who may have gone is no longer there for sure; who has not for sure may be. */
    if (!t->known || !gone->known)
        ft__active_spell_out(t);
    for (uint32_t k = 0; k < r->words; k++) {
        if (!t->known) {
            t->of[FT__SURE].w[k] &= ~gone->of[FT__MAYBE].w[k];
            t->of[FT__GUESS].w[k] &= ~ft__active_set(gone, FT__GUESS)->w[k];
        }
        t->of[FT__MAYBE].w[k] &= ~ft__active_set(gone, FT__SURE)->w[k];
    }
}

static void give_up(ft__run *r, const ft__frame *f, uint32_t insn, const char *why)
{
    if (!r->stopped)
        r->why = NULL; /* matters more than what was there before */
    r->stopped = true;
    ft__run_inexact(r, f, insn, why);
}

/* Blocks of a part, from the first up to the end, as often as you like. */
static void unbound(ft__run *r, const ft__plan_part *part, uint32_t block, uint32_t end)
{
    for (uint32_t k = part->item[block]; k < part->item[end]; k++)
        r->unbounded[k] = true;
    for (uint32_t s = part->steps[block]; s < part->steps[end]; s++)
        if (part->step[s].kind == FT__STEP_BARRIER)
            r->unbounded[r->p->barrier] = true;
}

/* ---- frames ---- */

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

static ft__frame *frame_begin(ft__run *r, ft__plan_part *part, ft__frame *caller,
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
    nobody(&f->back);
    nobody(&f->exited);
    memset(&f->left, 0, sizeof(f->left));
    memset(&f->torn, 0, sizeof(f->torn));
    f->present = t->of[FT__MAYBE];
    f->caller = caller;
    f->depth = caller ? caller->depth + 1 : 0;
    return f;
}

static void frame_end(ft__run *r, ft__frame *f)
{
    const size_t n = (size_t)(f->part - r->p->part);

    f->free = r->pool[n];
    r->pool[n] = f;
}

/* ---- calls ---- */

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
        unbound(r, &r->p->part[k], 0, r->p->part[k].flow.n);
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
    to = frame_begin(r, &r->p->part[part], f, on);
    if (!to)
        return;
    pass(r, to, f, c, &on->of[FT__MAYBE]);
    go(r, to, 0, to->part->flow.n, &back);
    for (uint32_t k = 0; k < r->words; k++)
        to->torn.w[k] |= back.of[FT__MAYBE].w[k] & to->back.of[FT__MAYBE].w[k];
    join(r, &back, &to->back);
    give_back(r, f, to, c, &back.of[FT__MAYBE]);
    if (ft__set_any(r, &to->torn))
        forget_results(r, f, c, &to->torn);
    remove_from(r, t, &to->exited);
    join(r, &f->exited, &to->exited);
    for (uint32_t k = 0; k < r->words; k++)
        f->left.w[k] |= to->exited.of[FT__MAYBE].w[k];
    frame_end(r, to);
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
    while (anyone(r, &rest)) {
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
        split(r, &now, &rest, &rest, &same);
        while (k < c->n_parts && r->p->part[c->part[k]].function + 1 != first)
            k++;
        if (k == c->n_parts)
            not_followed(r, f, s, c, &now, "a call leads to a function not listed");
        else
            enter(r, f, s, c, c->part[k], t, &now);
    }
}

/* `t` loses who ends meanwhile. */
static void call(ft__run *r, ft__frame *f, const ft__plan_step *s, ft__active *t,
                 const ft__active *on)
{
    const ft__plan_call *c = &f->part->call[s->call];

    if (!anyone(r, on))
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
        remove_from(r, t, on);
}

/* ---- splits that nobody knows: threads go both ways ---- */

/* Of a fork: ways may double with each of them. */
enum { FORK_STEPS = 1 << 15 };

/* Blocks that `to` leads to before `reconvergence`. */
static bool *ahead(ft__run *r, ft__arena *work, const ft__flow *flow, uint32_t to,
                   uint32_t reconvergence)
{
    bool *seen = ft__arena_array(work, (size_t)flow->n + 1, sizeof(*seen));
    uint32_t *stack = ft__arena_array(work, (size_t)flow->n + 1, sizeof(*stack));
    uint32_t n = 0;

    if (!seen || !stack) {
        r->short_of_memory = true;
        return NULL;
    }
    if (to < flow->n && to != reconvergence) {
        seen[to] = true;
        stack[n++] = to;
    }
    while (n) {
        const uint32_t b = stack[--n];

        r->steps += 8;
        for (uint32_t e = flow->edges[b]; e < flow->edges[b + 1]; e++) {
            const uint32_t next = flow->edge[e];

            if (next < flow->n && next != reconvergence && !seen[next]) {
                seen[next] = true;
                stack[n++] = next;
            }
        }
    }
    return seen;
}

static void mark_result(const ft__plan_part *part, bool *is,
                        const ft__ptx_operand *result)
{
    const ft__ptx_operand *o;

    for (uint32_t e = 0; (o = ft__plan_passed(part->f, result, e)); e++) {
        if (o->kind == FT__PTX_REG && part->slot[o->index] != FT__NO_SLOT)
            is[part->slot[o->index]] = true;
        for (uint32_t x = 0; x < part->n_cells; x++)
            is[part->cell[x].slot] |=
                o->kind == FT__PTX_VARIABLE && part->cell[x].variable == o->index;
    }
}

/* Slots that these blocks may write, NO_SLOT last. */
static uint32_t *written(ft__run *r, ft__arena *work, const ft__plan_part *part,
                         const bool *blocks)
{
    uint32_t *list = ft__arena_array(work, (size_t)part->n_slots + 1, sizeof(*list));
    bool *is = ft__arena_array(work, (size_t)part->n_slots + 1, sizeof(*is));
    uint32_t n = 0;

    if (!list || !is) {
        r->short_of_memory = true;
        return NULL;
    }
    for (uint32_t b = 0; b < part->flow.n; b++)
        for (uint32_t s = part->steps[b]; blocks[b] && s < part->steps[b + 1]; s++)
            for (uint32_t k = 0; k < part->step[s].n_dest; k++)
                if (part->dest[part->step[s].dest + k] != FT__NO_SLOT)
                    is[part->dest[part->step[s].dest + k]] = true;
    for (uint32_t c = 0; c < part->n_calls; c++)
        for (uint32_t k = 0; k < part->call[c].n_results; k++)
            mark_result(part, is, &part->call[c].result[k]);
    for (uint32_t k = 0; part->n_calls && k < part->f->n_module_regs; k++)
        if (part->slot[k] != FT__NO_SLOT)
            is[part->slot[k]] = true;
    for (uint32_t k = 0; k < part->n_slots; k++)
        if (is[k])
            list[n++] = k;
    list[n] = FT__NO_SLOT;
    r->steps += part->n_slots + part->n_steps;
    return list;
}

/* They are not known any more, to threads that may have come by. */
static void forget_written(ft__run *r, ft__frame *f, const uint32_t *slots,
                           const ft__set *who)
{
    for (; *slots != FT__NO_SLOT; slots++)
        ft__value_forget(r, &f->value[*slots], who);
}

/* Threads are on their way through these blocks, nobody knows how often: they may end
 * there, or return. */
static void may_pass(ft__run *r, ft__frame *f, const bool *blocks, const ft__set *who)
{
    const ft__plan_part *part = f->part;
    bool leave = false, end = false;

    for (uint32_t n = 1; part->calls && n < r->p->n_parts; n++)
        unbound(r, &r->p->part[n], 0, r->p->part[n].flow.n);
    for (uint32_t b = 0; b < part->flow.n; b++) {
        const ft__ptx_insn *i = &part->f->insn[part->flow.block[b].end - 1];
        const ft__flow_kind kind = ft__flow_kind_of(i);

        if (blocks[b])
            unbound(r, part, b, b + 1);
        if (!blocks[b] || (kind != FT__FLOW_LEAVE && kind != FT__FLOW_CALL))
            continue;
        leave = true;
        end |= i->opcode != FT__PTX_RET;
    }
    if (end)
        ft__active_spell_out(&f->exited);
    for (uint32_t k = 0; leave && k < FT__SET_WORDS; k++) {
        f->left.w[k] |= who->w[k];
        f->exited.of[FT__MAYBE].w[k] |= end ? who->w[k] : 0;
    }
}

/* The way ends in a trap, or a call that does not return, whatever happens. */
static bool to_ruin(const ft__plan_part *part, uint32_t block)
{
    const ft__flow *flow = &part->flow;
    uint32_t far = 0;

    for (; block < flow->n && far < 16; far++) {
        const ft__ptx_insn *i = &part->f->insn[flow->block[block].end - 1];

        if (i->opcode == FT__PTX_TRAP && i->guard < 0)
            return true;
        if (i->opcode == FT__PTX_CALL && flow->block[block].next == flow->n)
            return true;
        if (flow->edges[block + 1] - flow->edges[block] != 1)
            return false;
        block = flow->edge[flow->edges[block]];
    }
    return false;
}

static uint64_t *copied(ft__run *r, ft__arena *work, const uint64_t *from, uint32_t n)
{
    uint64_t *to = from ? ft__arena_array(work, n, sizeof(*to)) : NULL;

    r->held += from ? n * sizeof(*to) : 0;

    if (to)
        memcpy(to, from, n * sizeof(*to));
    else if (from)
        r->short_of_memory = true;
    return to;
}

/* Values as they were, for the second of two ways; in the order of the slots. */
static ft__lane_value *save(ft__run *r, ft__arena *work, const ft__frame *f,
                            const uint32_t *slots)
{
    ft__lane_value *kept;
    uint32_t n = 0;

    while (slots[n] != FT__NO_SLOT)
        n++;
    kept = ft__arena_array(work, (size_t)n + 1, sizeof(*kept));
    if (!kept)
        r->short_of_memory = true;
    r->held += n * sizeof(*kept);
    for (uint32_t k = 0; kept && k < n && r->held <= FT__MOST_HELD; k++) {
        kept[k] = f->value[slots[k]];
        kept[k].lane = copied(r, work, kept[k].lane, r->threads);
        kept[k].unknown = copied(r, work, kept[k].unknown, FT__SET_WORDS);
        r->steps += kept[k].lane ? r->threads : 4;
    }
    return kept;
}

/* Who went one way though they may go the other has what they had. */
static void restore(ft__run *r, ft__frame *f, const ft__lane_value *kept,
                    const uint32_t *slots, const ft__set *open)
{
    for (; *slots != FT__NO_SLOT; slots++, kept++)
        if (!kept->fresh)
            ft__value_put(r, f, *slots, kept, open, f->part->hard[*slots]);
}

/* After both ways: who was there for sure and cannot have left is there for sure. */
static void reconverge(ft__run *r, struct block_walk *w, const ft__active *before,
                       const ft__set *open, const ft__set *left_before)
{
    if (w->t.known)
        return;
    for (uint32_t k = 0; k < r->words; k++)
        w->t.of[FT__SURE].w[k] |= ft__active_set(before, FT__SURE)->w[k] & open->w[k] &
                                  ~(w->f->left.w[k] & ~left_before->w[k]);
}

static void drop(const ft__run *r, ft__active *t, unsigned set, const ft__set *who)
{
    for (uint32_t k = 0; k < r->words; k++)
        t->of[set].w[k] &= ~who->w[k];
}

static void add(const ft__run *r, ft__active *t, unsigned set, const ft__active *of,
                const ft__set *who)
{
    for (uint32_t k = 0; k < r->words; k++)
        t->of[set].w[k] |= ft__active_set(of, set)->w[k] & who->w[k];
}

/* Round and round, nobody knows how often, or into ruin: guesses take the other way. */
static void keep_off(struct block_walk *w, ft__active *t, ft__active *other, bool round,
                     const ft__set *open)
{
    add(w->r, other, FT__GUESS, t, open);
    drop(w->r, t, FT__GUESS, open);
    if (round)
        drop(w->r, t, FT__MAYBE, open);
}

/* What both ways have left; `round`: some may go round for ever. */
static void join_both(struct block_walk *w, const ft__active *yes, const ft__active *no,
                      bool round, bool always, const ft__set *open, const ft__set *left)
{
    ft__run *r = w->r;
    const ft__active before = w->t;

    w->t = *yes;
    join(r, &w->t, no);
    if (round)
        add(r, &w->t, FT__MAYBE, &before, open);
    if (always)
        add(r, &w->t, FT__GUESS, &before, open);
    reconverge(r, w, &before, open, left);
    w->t.known = ft__set_same(r, &w->t.of[FT__SURE], &w->t.of[FT__MAYBE]);
}

/* A split of threads of which nobody knows. */
struct fork {
    uint32_t to, next, reconvergence;
    bool *on_yes, *on_no; /* blocks before they meet */
    uint32_t *slots;      /* written there */
    ft__lane_value *kept;
};

static bool fork_new(struct block_walk *w, ft__arena *work, struct fork *k)
{
    ft__run *r = w->r;
    const ft__flow *flow = &w->f->part->flow;
    bool *both = ft__arena_array(work, (size_t)flow->n + 1, sizeof(*both));

    k->on_yes = ahead(r, work, flow, k->to, k->reconvergence);
    k->on_no = ahead(r, work, flow, k->next, k->reconvergence);
    if (!both || !k->on_yes || !k->on_no) {
        r->short_of_memory = true;
        return false;
    }
    for (uint32_t b = 0; b < flow->n; b++)
        both[b] = k->on_yes[b] || k->on_no[b];
    k->slots = written(r, work, w->f->part, both);
    k->kept = k->slots ? save(r, work, w->f, k->slots) : NULL;
    return !r->short_of_memory;
}

/* They go both ways at once. */
static void go_both(struct block_walk *w, ft__active *yes, ft__active *no,
                    struct fork *k, const ft__set *open)
{
    ft__run *r = w->r;
    const ft__plan_part *part = w->f->part;
    const ft__set left = w->f->left;
    const bool round_yes = k->on_yes[w->block], round_no = k->on_no[w->block];

    if (round_yes)
        may_pass(r, w->f, k->on_yes, open);
    if (round_no)
        may_pass(r, w->f, k->on_no, open);
    if (round_yes || to_ruin(part, k->to))
        keep_off(w, yes, no, round_yes, open);
    if (round_no || to_ruin(part, k->next))
        keep_off(w, no, yes, round_no, open);
    if (round_yes && round_no)
        drop(r, yes, FT__GUESS, open);
    go(r, w->f, k->to, k->reconvergence, yes);
    restore(r, w->f, k->kept, k->slots, open);
    go(r, w->f, k->next, k->reconvergence, no);
    forget_written(r, w->f, k->slots, open);
    join_both(w, yes, no, round_yes || round_no, round_yes && round_no, open, &left);
    go_on(w, k->reconvergence);
}

/* A branch at the end of block b, of which for `open` threads nobody knows. */
static void go_unknown(struct block_walk *w, ft__active *yes, ft__active *no,
                       const ft__flow_block *b, const ft__set *open)
{
    struct fork k = {.to = b->jump, .next = b->next, .reconvergence = b->reconvergence};
    const uint64_t held = w->r->held;
    ft__arena work = {0};

    w->r->steps += FORK_STEPS;
    if (fork_new(w, &work, &k)) {
        const uint64_t kept = w->r->held - held;

        if (w->r->held > FT__MOST_HELD)
            give_up(w->r, w->f, w->f->part->flow.block[w->block].first,
                    "branches that depend on data keep more than 512 MiB of values");
        else
            go_both(w, yes, no, &k, open);
        w->r->held -= kept;
    }
    ft__arena_free(&work);
}

/* Threads have been through these blocks, or not. */
static void pass_unknown(struct block_walk *w, ft__arena *work, const bool *blocks)
{
    ft__run *r = w->r;
    const ft__active before = w->t;
    const ft__set left = w->f->left;
    const uint32_t *slots = written(r, work, w->f->part, blocks);

    if (!slots)
        return;
    forget_written(r, w->f, slots, &w->t.of[FT__MAYBE]);
    may_pass(r, w->f, blocks, &w->t.of[FT__MAYBE]);
    if (!ft__set_same(r, &left, &w->f->left)) {
        ft__active_spell_out(&w->t);
        memset(&w->t.of[FT__SURE], 0, sizeof(w->t.of[FT__SURE]));
        reconverge(r, w, &before, &before.of[FT__MAYBE], &left);
    }
}

/* Nobody knows where a brx.idx leads. */
static void go_anywhere(struct block_walk *w, const ft__plan_step *s,
                        uint32_t reconvergence)
{
    ft__run *r = w->r;
    ft__arena work = {0};
    const bool *blocks = ahead(r, &work, &w->f->part->flow, w->block, reconvergence);
    ft__active jump = w->t;

    ft__run_inexact(r, w->f, s->insn, "a branch by index depends on data");
    ft__active_spell_out(&jump);
    memset(&jump.of[FT__SURE], 0, sizeof(jump.of[FT__SURE]));
    ft__run_tally(r, s->item, &jump, FT__THREADS);
    if (blocks)
        pass_unknown(w, &work, blocks);
    ft__arena_free(&work);
    go_on(w, reconvergence);
}

/* ---- splits ---- */

static void count_split(ft__run *r, const ft__plan_step *s, const ft__active *yes,
                        const ft__active *no)
{
    uint64_t n[FT__SETS] = {0};

    for (unsigned set = 0; set < FT__SETS; set++)
        for (uint32_t k = 0; k < r->words; k++) {
            const uint64_t a = ft__active_set(yes, set)->w[k];
            const uint64_t b = ft__active_set(no, set)->w[k];

            n[set] += (uint64_t)((uint32_t)a && (uint32_t)b);
            n[set] += (uint64_t)(a >> 32 && b >> 32);
        }
    ft__run_count(r, s->item + 1, n);
}

/* One way now, the other then: what comes to `stop` waits there. */
static void go_apart(struct block_walk *w, ft__active *yes, ft__active *no, uint32_t to,
                     uint32_t next, uint32_t reconvergence)
{
    ft__run *r = w->r;

    w->from = w->block;
    if (reconvergence == w->stop && (to == reconvergence || next == reconvergence)) {
        join(r, &w->waiting, to == reconvergence ? yes : no);
        w->t = to == reconvergence ? *no : *yes;
        w->block = to == reconvergence ? next : to;
        w->walk = ++r->walks; /* fewer are on the way */
        return;
    }
    go(r, w->f, to, reconvergence, yes);
    go(r, w->f, next, reconvergence, no);
    w->t = *yes;
    join(r, &w->t, no);
    w->block = reconvergence;
}

static void branch(struct block_walk *w, const ft__plan_step *s)
{
    ft__run *r = w->r;
    const ft__flow_block *b = &w->f->part->flow.block[w->block];
    ft__lane_condition c;
    ft__active yes, no;

    if (s->guard == FT__NO_SLOT) {
        ft__run_tally(r, s->item, &w->t, FT__THREADS);
        go_on(w, b->jump);
        return;
    }
    ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
    split(r, &yes, &no, &w->t, &c);
    ft__run_tally(r, s->item, &yes, FT__THREADS);
    if (!anyone(r, &yes) || !anyone(r, &no) || b->jump == b->next) {
        go_on(w, anyone(r, &yes) ? b->jump : b->next);
        return;
    }
    count_split(r, s, &yes, &no);
    for (uint32_t k = 0; k < r->words; k++)
        c.open.w[k] &= c.any_open ? w->t.of[FT__MAYBE].w[k] : 0;
    if (ft__set_any(r, &c.open)) {
        ft__run_inexact(r, w->f, s->insn, "a branch depends on data");
        go_unknown(w, &yes, &no, b, &c.open);
    } else {
        go_apart(w, &yes, &no, b->jump, b->next, b->reconvergence);
    }
}

/* Warps whose threads go on in different blocks. */
static void count_parted(ft__run *r, const ft__plan_step *s, const ft__active *t,
                         const uint32_t *to)
{
    uint64_t n[FT__SETS] = {0};

    for (unsigned set = 0; set < FT__SETS; set++)
        for (uint32_t warp = 0; warp < r->warps; warp++) {
            uint32_t who =
                (uint32_t)(ft__active_set(t, set)->w[warp / 2] >> warp % 2 * 32);
            const uint32_t *first =
                who ? &to[warp * 32 + (uint32_t)__builtin_ctz(who)] : NULL;
            bool parted = false;

            for (; who; who &= who - 1)
                parted |= to[warp * 32 + (uint32_t)__builtin_ctz(who)] != *first;
            n[set] += parted;
        }
    ft__run_count(r, s->item + 1, n);
}

/* Where each thread goes; those that `taken` has not fall through. */
static void find_targets(const struct block_walk *w, uint32_t *to, const ft__set *taken,
                         const ft__lane_value *v, const ft__ptx_targets *list)
{
    const ft__flow *flow = &w->f->part->flow;

    for (uint32_t l = 0; l < w->r->threads; l++) {
        const uint32_t index = (uint32_t)(v->lane ? v->lane[l] : v->base);

        to[l] = ft__set_has(taken->w, l)
                    ? flow->of[list->index[index < list->n ? index : list->n - 1]]
                    : flow->block[w->block].next;
    }
}

/* Threads that go on in one block, after those of another. */
static void go_each(struct block_walk *w, const uint32_t *to, uint32_t reconvergence)
{
    ft__run *r = w->r;
    const ft__set here = w->t.of[FT__MAYBE];
    ft__active rest = w->t, all, now;
    bool first = true;

    nobody(&all);
    while (anyone(r, &rest)) {
        ft__lane_condition c = {.any_open = false};
        uint32_t block = FT__FLOW_NONE;

        for (uint32_t l = 0; l < r->threads; l++)
            if (ft__set_has(rest.of[FT__MAYBE].w, l)) {
                block = block == FT__FLOW_NONE ? to[l] : block;
                c.holds.w[l / 64] |= (uint64_t)(to[l] == block) << l % 64;
            }
        split(r, &now, &rest, &rest, &c);
        if (first && ft__set_same(r, &now.of[FT__MAYBE], &here)) {
            go_on(w, block);
            return;
        }
        first = false;
        go(r, w->f, block, reconvergence, &now);
        join(r, &all, &now);
    }
    w->t = all;
    go_on(w, reconvergence);
}

/* brx.idx: threads by their index. */
static void by_index(struct block_walk *w, const ft__plan_step *s)
{
    ft__run *r = w->r;
    const ft__plan_part *part = w->f->part;
    const uint32_t reconvergence = part->flow.block[w->block].reconvergence;
    const ft__ptx_targets *list = ft__flow_targets(part->f, &part->f->insn[s->insn]);
    uint32_t to[FT__MOST_THREADS];
    ft__active taken = w->t, stay;
    ft__lane_condition c = {.any_open = false};
    ft__lane_value v;

    if (s->guard != FT__NO_SLOT) {
        ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
        split(r, &taken, &stay, &w->t, &c);
    }
    ft__value_get(r, &v, w->f, &part->source[s->source]);
    ft__trace_bar(r, ft__trace_words(r, &v, 1));
    if (c.any_open || v.nothing || v.unknown || !list || !list->n) {
        go_anywhere(w, s, reconvergence);
        return;
    }
    ft__affine_pin(&r->affines, v.affine);
    ft__run_tally(r, s->item, &taken, FT__THREADS);
    find_targets(w, to, &taken.of[FT__MAYBE], &v, list);
    count_parted(r, s, &w->t, to);
    go_each(w, to, reconvergence);
}

/* ---- leaving ---- */

static void leave(struct block_walk *w, const ft__plan_step *s)
{
    ft__run *r = w->r;
    const bool ret = w->f->part->f->insn[s->insn].opcode == FT__PTX_RET;
    ft__active gone = w->t, rest;
    ft__lane_condition c;

    nobody(&rest);
    if (s->guard != FT__NO_SLOT) {
        ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
        split(r, &gone, &rest, &w->t, &c);
        if (c.any_open)
            ft__run_inexact(r, w->f, s->insn, "who leaves depends on data");
    }
    for (uint32_t k = 0; k < r->words; k++) {
        w->f->left.w[k] |= gone.of[FT__MAYBE].w[k];
        if (w->f->part->f->entry)
            w->f->present.w[k] &= ~ft__active_set(&gone, FT__SURE)->w[k];
    }
    for (uint32_t k = 0; ret && k < r->words; k++)
        w->f->torn.w[k] |= gone.of[FT__MAYBE].w[k] & w->f->back.of[FT__MAYBE].w[k];
    if (ret && w->f->caller)
        join(r, &w->f->back, &gone);
    else
        join(r, &w->f->exited, &gone);
    w->t = rest;
    go_on(w, w->f->part->flow.block[w->block].next);
}

/* ---- blocks ---- */

/* Who takes part in a step, by its guard, in `on` or all; `c`: what is known of that.
 */
static const ft__active *taking_part(struct block_walk *w, const ft__plan_step *s,
                                     ft__active *on, ft__lane_condition *c)
{
    ft__active off;

    c->any_open = false;
    if (s->guard == FT__NO_SLOT)
        return &w->t;
    ft__run_guard(w->r, c, w->f, s->guard, s->guard_not);
    split(w->r, on, &off, &w->t, c);
    if (ft__set_same(w->r, ft__active_set(on, FT__SURE), &on->of[FT__MAYBE]))
        on->known = true;
    else if (c->any_open)
        ft__run_inexact(w->r, w->f, s->insn, "a guard depends on data");
    return on;
}

/* false: the step has said where to go on. */
static bool one_step(struct block_walk *w, const ft__plan_step *s)
{
    ft__active some;
    const ft__active *on;
    ft__lane_condition c;

    switch (s->kind) {
    case FT__STEP_BRANCH: branch(w, s); return false;
    case FT__STEP_INDEX: by_index(w, s); return false;
    case FT__STEP_LEAVE: leave(w, s); return false;
    default: break;
    }
    on = taking_part(w, s, &some, &c);
    if (s->kind != FT__STEP_CALL) {
        ft__run_step(w->r, w->f, s, on, &c);
        return true;
    }
    some = *on; /* w->t changes meanwhile */
    call(w->r, w->f, s, &w->t, &some);
    go_on(w, w->f->part->flow.block[w->block].next);
    return false;
}

static void block(struct block_walk *w)
{
    ft__run *r = w->r;
    const ft__plan_part *part = w->f->part;
    const uint32_t here = w->block;
    bool on = true;

    r->steps += 500;
    w->f->here = w->t.of[FT__MAYBE];
    ft__run_tally(r, part->item[here], &w->t, FT__WARPS);
    ft__run_tally(r, part->item[here] + 1, &w->t, FT__THREADS);
    for (uint32_t s = part->steps[here]; on && s < part->steps[here + 1]; s++)
        on = one_step(w, &part->step[s]);
    if (on) {
        w->from = here;
        w->block = part->flow.block[here].next;
    }
}

/* From a block up to `stop`; t becomes who gets there. */
static void go(ft__run *r, ft__frame *f, uint32_t from, uint32_t stop, ft__active *t)
{
    struct block_walk w = {
        .r = r, .f = f, .block = from, .from = FT__FLOW_NONE, .stop = stop, .t = *t};
    const uint32_t end = f->part->flow.n;

    if (r->depth == FT__MOST_DEPTH)
        give_up(r, f, 0, "branches are nested too deep");
    r->depth++;
    w.walk = ++r->walks;
    nobody(&w.waiting);
    while (!r->stopped && !r->short_of_memory && w.block != stop && w.block < end &&
           anyone(r, &w.t)) {
        const uint64_t before = w.walk;

        if (r->steps > r->most_steps)
            give_up(r, f, f->part->flow.block[w.block].first,
                    r->crowded
                        ? "loops keep more than 512 MiB of values, and to go round "
                          "each takes too long"
                        : "it takes too long to follow");
        if (f->part->flow.block[w.block].header &&
            !ft__summary_arrive(r, f, w.block, w.from, w.walk, &w.t)) {
            nobody(&w.t);
            break;
        }
        block(&w);
        if (w.walk != before)
            ft__summary_leave(r, before);
    }
    ft__summary_leave(r, w.walk);
    r->depth--;
    if (r->stopped)
        nobody(&w.t);
    *t = w.waiting;
    join(r, t, &w.t);
}

/* ---- a thread block ---- */

void ft__run_block(ft__run *r)
{
    ft__active t;
    ft__frame *f;

    if (!ft__affines_begin(&r->affines)) {
        r->short_of_memory = true;
        return;
    }
    memset(r->count, 0, (size_t)r->p->n_items * FT__SETS * sizeof(*r->count));
    r->n_summaries = 0;
    r->depth = 0;
    r->executed++;
    memset(&t, 0, sizeof(t));
    t.of[FT__MAYBE] = r->all;
    t.known = true;
    f = frame_begin(r, &r->p->part[0], NULL, &t);
    if (!f)
        return;
    go(r, f, 0, f->part->flow.n, &t);
    frame_end(r, f);
    r->short_of_memory |= r->affines.short_of_memory;
}
