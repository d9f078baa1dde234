/* All threads of a block go through a function together; each warp's part of the way is
 * the way it goes alone. The paths of a divergent branch are walked one after the
 * other up to their reconvergence point. Calls: calls.c; divergence on unknown
 * conditions: fork.c. */
#include "ptx/count/walk.h"

#include "ptx/count/record.h"

void ft__walk_give_up(ft__run *r, const ft__frame *f, uint32_t insn, const char *why)
{
    if (!r->stopped)
        r->why = NULL; /* matters more than what was there before */
    r->stopped = true;
    ft__run_inexact(r, f, insn, why);
}

void ft__walk_unbound(ft__run *r, const ft__plan_part *part, uint32_t block,
                      uint32_t end)
{
    for (uint32_t k = part->item[block]; k < part->item[end]; k++)
        r->unbounded[k] = true;
    for (uint32_t s = part->steps[block]; s < part->steps[end]; s++)
        if (part->step[s].kind == FT__STEP_BARRIER)
            r->unbounded[r->p->barrier] = true;
}

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
static void go_apart(ft__walk *w, ft__active *yes, ft__active *no, uint32_t to,
                     uint32_t next, uint32_t reconvergence)
{
    ft__run *r = w->r;

    w->from = w->block;
    if (reconvergence == w->stop && (to == reconvergence || next == reconvergence)) {
        ft__active_join(r, &w->waiting, to == reconvergence ? yes : no);
        w->t = to == reconvergence ? *no : *yes;
        w->block = to == reconvergence ? next : to;
        w->walk = ++r->walks; /* fewer are on the way */
        return;
    }
    ft__walk_go(r, w->f, to, reconvergence, yes);
    ft__walk_go(r, w->f, next, reconvergence, no);
    w->t = *yes;
    ft__active_join(r, &w->t, no);
    w->block = reconvergence;
}

static void branch(ft__walk *w, const ft__plan_step *s)
{
    ft__run *r = w->r;
    const ft__flow_block *b = &w->f->part->flow.block[w->block];
    ft__lane_condition c;
    ft__active yes, no;

    if (s->guard == FT__NO_SLOT) {
        ft__run_tally(r, s->item, &w->t, FT__THREADS);
        ft__walk_on(w, b->jump);
        return;
    }
    ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
    ft__active_split(r, &yes, &no, &w->t, &c);
    ft__run_tally(r, s->item, &yes, FT__THREADS);
    if (!ft__active_any(r, &yes) || !ft__active_any(r, &no) || b->jump == b->next) {
        ft__walk_on(w, ft__active_any(r, &yes) ? b->jump : b->next);
        return;
    }
    count_split(r, s, &yes, &no);
    for (uint32_t k = 0; k < r->words; k++)
        c.open.w[k] &= c.any_open ? w->t.of[FT__MAYBE].w[k] : 0;
    if (ft__set_any(r, &c.open)) {
        ft__run_inexact(r, w->f, s->insn, "a branch depends on data");
        ft__walk_fork(w, &yes, &no, b, &c.open);
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
static void find_targets(const ft__walk *w, uint32_t *to, const ft__set *taken,
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
static void go_each(ft__walk *w, const uint32_t *to, uint32_t reconvergence)
{
    ft__run *r = w->r;
    const ft__set here = w->t.of[FT__MAYBE];
    ft__active rest = w->t, all, now;
    bool first = true;

    ft__active_nobody(&all);
    while (ft__active_any(r, &rest)) {
        ft__lane_condition c = {.any_open = false};
        uint32_t block = FT__FLOW_NONE;

        for (uint32_t l = 0; l < r->threads; l++)
            if (ft__set_has(rest.of[FT__MAYBE].w, l)) {
                block = block == FT__FLOW_NONE ? to[l] : block;
                c.holds.w[l / 64] |= (uint64_t)(to[l] == block) << l % 64;
            }
        ft__active_split(r, &now, &rest, &rest, &c);
        if (first && ft__set_same(r, &now.of[FT__MAYBE], &here)) {
            ft__walk_on(w, block);
            return;
        }
        first = false;
        ft__walk_go(r, w->f, block, reconvergence, &now);
        ft__active_join(r, &all, &now);
    }
    w->t = all;
    ft__walk_on(w, reconvergence);
}

/* brx.idx: threads by their index. */
static void by_index(ft__walk *w, const ft__plan_step *s)
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
        ft__active_split(r, &taken, &stay, &w->t, &c);
    }
    ft__value_get(r, &v, w->f, &part->source[s->source]);
    ft__trace_bar(r, ft__trace_words(r, &v, 1));
    if (c.any_open || v.nothing || v.unknown || !list || !list->n) {
        ft__walk_anywhere(w, s, reconvergence);
        return;
    }
    ft__affine_pin(&r->affines, v.affine);
    ft__run_tally(r, s->item, &taken, FT__THREADS);
    find_targets(w, to, &taken.of[FT__MAYBE], &v, list);
    count_parted(r, s, &w->t, to);
    go_each(w, to, reconvergence);
}

static void leave(ft__walk *w, const ft__plan_step *s)
{
    ft__run *r = w->r;
    const bool ret = w->f->part->f->insn[s->insn].opcode == FT__PTX_RET;
    ft__active gone = w->t, rest;
    ft__lane_condition c;

    ft__active_nobody(&rest);
    if (s->guard != FT__NO_SLOT) {
        ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
        ft__active_split(r, &gone, &rest, &w->t, &c);
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
        ft__active_join(r, &w->f->back, &gone);
    else
        ft__active_join(r, &w->f->exited, &gone);
    w->t = rest;
    ft__walk_on(w, w->f->part->flow.block[w->block].next);
}

/* Who takes part in a step, by its guard, in `on` or all; `c`: what is known of that.
 */
static const ft__active *taking_part(ft__walk *w, const ft__plan_step *s,
                                     ft__active *on, ft__lane_condition *c)
{
    ft__active off;

    c->any_open = false;
    if (s->guard == FT__NO_SLOT)
        return &w->t;
    ft__run_guard(w->r, c, w->f, s->guard, s->guard_not);
    ft__active_split(w->r, on, &off, &w->t, c);
    if (ft__set_same(w->r, ft__active_set(on, FT__SURE), &on->of[FT__MAYBE]))
        on->known = true;
    else if (c->any_open)
        ft__run_inexact(w->r, w->f, s->insn, "a guard depends on data");
    return on;
}

/* false: the step has said where to go on. */
static bool one_step(ft__walk *w, const ft__plan_step *s)
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
    ft__walk_call(w->r, w->f, s, &w->t, &some);
    ft__walk_on(w, w->f->part->flow.block[w->block].next);
    return false;
}

static void block(ft__walk *w)
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

void ft__walk_go(ft__run *r, ft__frame *f, uint32_t from, uint32_t stop, ft__active *t)
{
    ft__walk w = {
        .r = r, .f = f, .block = from, .from = FT__FLOW_NONE, .stop = stop, .t = *t};
    const uint32_t end = f->part->flow.n;

    if (r->depth == FT__MOST_DEPTH)
        ft__walk_give_up(r, f, 0, "branches are nested too deep");
    r->depth++;
    w.walk = ++r->walks;
    ft__active_nobody(&w.waiting);
    while (!r->stopped && !r->short_of_memory && w.block != stop && w.block < end &&
           ft__active_any(r, &w.t)) {
        const uint64_t before = w.walk;

        if (r->steps > r->most_steps)
            ft__walk_give_up(
                r, f, f->part->flow.block[w.block].first,
                r->crowded ? "loops keep more than 512 MiB of values, and to go round "
                             "each takes too long"
                           : "it takes too long to follow");
        if (f->part->flow.block[w.block].header &&
            !ft__summary_arrive(r, f, w.block, w.from, w.walk, &w.t)) {
            ft__active_nobody(&w.t);
            break;
        }
        block(&w);
        if (w.walk != before)
            ft__summary_leave(r, before);
    }
    ft__summary_leave(r, w.walk);
    r->depth--;
    if (r->stopped)
        ft__active_nobody(&w.t);
    *t = w.waiting;
    ft__active_join(r, t, &w.t);
}

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
    f = ft__frame_begin(r, &r->p->part[0], NULL, &t);
    if (!f)
        return;
    ft__walk_go(r, f, 0, f->part->flow.n, &t);
    ft__frame_end(r, f);
    r->short_of_memory |= r->affines.short_of_memory;
}
