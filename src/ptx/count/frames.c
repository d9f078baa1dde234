/* Functions as they are called: their values, what goes in and what comes out. */
#include <stdlib.h>
#include <string.h>

#include "ptx/count/run.h"

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
    memset(&f->back, 0, sizeof(f->back));
    memset(&f->exited, 0, sizeof(f->exited));
    f->back.known = f->exited.known = true;
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

static void pass(ft__run *r, ft__frame *to, ft__frame *f, const ft__plan_call *c,
                 const ft__set *who)
{
    const ft__ptx_function *g = to->part->f;

    for (uint32_t k = 0; k < g->n_params && k < c->n_args; k++) {
        const ft__ptx_operand *o = &c->arg[k];

        if (!g->params_are_regs && o->kind == FT__PTX_VARIABLE) {
            put_variable(r, to, g->param[k], f, o->index, who);
        } else if (g->params_are_regs && o->kind == FT__PTX_INT) {
            const ft__lane_value v = {.base = o->bits};

            if (to->part->slot[g->param[k]] != FT__NO_SLOT)
                ft__value_put(r, to, to->part->slot[g->param[k]], &v, who, true);
        } else if (g->params_are_regs) {
            put(r, to, to->part->slot[g->param[k]], f, slot_of(f, o), who);
        }
    }
}

static void give_back(ft__run *r, ft__frame *f, ft__frame *from, const ft__plan_call *c,
                      const ft__set *who)
{
    const ft__ptx_function *g = from->part->f;

    for (uint32_t k = 0; k < g->n_results && k < c->n_results; k++) {
        const ft__ptx_operand *o = &c->result[k];

        if (!g->results_are_regs && o->kind == FT__PTX_VARIABLE)
            put_variable(r, f, o->index, from, g->result[k], who);
        else if (g->results_are_regs)
            put(r, f, slot_of(f, o), from, from->part->slot[g->result[k]], who);
    }
}

/* Nobody knows what the call gives. */
static void forget_results(ft__run *r, ft__frame *f, const ft__plan_call *c,
                           const ft__set *who)
{
    for (uint32_t k = 0; k < c->n_results; k++) {
        const ft__ptx_operand *o = &c->result[k];
        const uint32_t slot = slot_of(f, o);

        if (slot != FT__NO_SLOT)
            ft__value_forget(r, &f->value[slot], who);
        for (uint32_t x = 0; x < f->part->n_cells; x++)
            if (o->kind == FT__PTX_VARIABLE && f->part->cell[x].variable == o->index)
                ft__value_forget(r, &f->value[f->part->cell[x].slot], who);
    }
}

void ft__run_unbound(ft__run *r, const ft__plan_part *part, uint32_t block,
                     uint32_t end)
{
    for (uint32_t k = part->item[block]; k < part->item[end]; k++)
        r->unbounded[k] = true;
    for (uint32_t s = part->steps[block]; s < part->steps[end]; s++)
        if (part->step[s].kind == FT__STEP_BARRIER)
            r->unbounded[r->p->barrier] = true;
}

static void not_followed(ft__run *r, ft__frame *f, const ft__plan_step *s,
                         const ft__plan_call *c, const ft__active *on, const char *why)
{
    ft__run_inexact(r, f, s->insn, why);
    for (uint32_t k = 0; k < r->p->n_parts; k++)
        ft__run_unbound(r, &r->p->part[k], 0, r->p->part[k].flow.n);
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
    ft__run_walk(r, to, &back);
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
    while (ft__set_any(r, &rest.of[FT__MAYBE])) {
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

void ft__run_call(ft__run *r, ft__frame *f, const ft__plan_step *s, ft__active *t,
                  const ft__active *on)
{
    const ft__plan_call *c = &f->part->call[s->call];

    if (!ft__set_any(r, &on->of[FT__MAYBE]))
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

/* ---- one block ---- */

void ft__run_block(ft__run *r)
{
    ft__active t;
    ft__frame *f;

    memset(r->count, 0, (size_t)r->p->n_items * FT__SETS * sizeof(*r->count));
    ft__affines_clear(&r->affines);
    r->n_summaries = 0;
    r->depth = 0;
    r->executed++;
    memset(&t, 0, sizeof(t));
    t.of[FT__MAYBE] = r->all;
    t.known = true;
    f = frame_begin(r, &r->p->part[0], NULL, &t);
    if (!f)
        return;
    ft__run_walk(r, f, &t);
    frame_end(r, f);
    r->short_of_memory |= r->affines.short_of_memory;
}

/* ---- the run ---- */

static bool make_lanes(ft__run *r)
{
    const size_t room = (size_t)r->words * 64;
    uint64_t *row[5 + 16 + 3];

    for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++)
        if (!(row[k] = ft__arena_array(&r->arena, room, sizeof(uint64_t))))
            return false;
    memcpy(r->in, row, sizeof(r->in));
    memcpy(r->out, row + 5, sizeof(r->out));
    memcpy(r->tid, row + 21, sizeof(r->tid));
    for (uint32_t l = 0; l < r->threads; l++) {
        r->tid[0][l] = l % r->block[0];
        r->tid[1][l] = l / r->block[0] % r->block[1];
        r->tid[2][l] = l / r->block[0] / r->block[1];
        r->all.w[l / 64] |= (uint64_t)1 << l % 64;
    }
    return true;
}

void ft__run_launch(ft__run *r, const ft_ptx_launch *l, const uint8_t *param,
                    const uint8_t *known)
{
    for (uint32_t k = 0; k < 3; k++) {
        r->grid[k] = l->grid[k];
        r->cluster[k] = l->cluster[k] ? l->cluster[k] : 1;
    }
    r->dynamic_shared = l->dynamic_shared;
    r->param = param;
    r->param_known = known;
    r->steps = r->executed = 0;
    r->launch++;
    r->stopped = false;
    r->why = NULL;
    memset(r->unbounded, 0, r->p->n_items * sizeof(*r->unbounded));
}

static bool make_run(ft__run *r)
{
    const ft__count_plan *p = r->p;

    r->threads = r->block[0] * r->block[1] * r->block[2];
    r->words = (r->threads + 63) / 64;
    r->warps = (r->threads + 31) / 32;
    r->param_bytes = p->part[0].f->param_bytes;
    r->count =
        ft__arena_array(&r->arena, (size_t)p->n_items * FT__SETS, sizeof(*r->count));
    r->unbounded = ft__arena_array(&r->arena, p->n_items, sizeof(*r->unbounded));
    r->pool = ft__arena_array(&r->arena, p->n_parts, sizeof(ft__frame *));
    r->measured =
        ft__arena_array(&r->arena, (size_t)p->n_steps + 1, sizeof(*r->measured));
    r->memo = ft__arena_array(&r->arena, (size_t)p->n_steps + 1, sizeof(*r->memo));
    return r->memo && r->count && r->unbounded && r->pool && r->measured &&
           make_lanes(r) && ft__affines_new(&r->affines);
}

ft_status ft__run_new(ft__run **out, ft__count_plan *p, const uint32_t block[3],
                      ft_error *err)
{
    ft__run *r = calloc(1, sizeof(*r));

    *out = NULL;
    if (r) {
        r->p = p;
        memcpy(r->block, block, sizeof(r->block));
    }
    if (!r || !make_run(r)) {
        ft__run_free(r);
        return ft_fail(err, FT_ENOMEM, 0, "no memory to count %s", p->part[0].f->name);
    }
    *out = r;
    return FT_OK;
}

void ft__run_free(ft__run *r)
{
    if (!r)
        return;
    ft__affines_free(&r->affines);
    ft__arena_free(&r->arena);
    free(r);
}
