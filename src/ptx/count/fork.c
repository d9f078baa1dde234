/* Divergence on data, which counting does not have: threads go both ways. In: a branch
 * and the threads that may take it; out: the active mask at the reconvergence point,
 * and the values that are still known there. */
#include "ptx/count/walk.h"

/* Of a fork: paths may double with each of them. */
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

/* Threads go through these blocks an unknown number of times: they may end there, or
 * return. */
static void may_pass(ft__run *r, ft__frame *f, const bool *blocks, const ft__set *who)
{
    const ft__plan_part *part = f->part;
    bool leave = false, end = false;

    for (uint32_t n = 1; part->calls && n < r->p->n_parts; n++)
        ft__walk_unbound(r, &r->p->part[n], 0, r->p->part[n].flow.n);
    for (uint32_t b = 0; b < part->flow.n; b++) {
        const ft__ptx_insn *i = &part->f->insn[part->flow.block[b].end - 1];
        const ft__flow_kind kind = ft__flow_kind_of(i);

        if (blocks[b])
            ft__walk_unbound(r, part, b, b + 1);
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
static bool ends_in_trap(const ft__plan_part *part, uint32_t block)
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
static void reconverge(ft__run *r, ft__walk *w, const ft__active *before,
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

/* It is guessed that threads take the other of two ways. `forever`: this one is a loop
 * of unknown length, where some may stay. */
static void keep_off(ft__walk *w, ft__active *t, ft__active *other, bool forever,
                     const ft__set *open)
{
    add(w->r, other, FT__GUESS, t, open);
    drop(w->r, t, FT__GUESS, open);
    if (forever)
        drop(w->r, t, FT__MAYBE, open);
}

/* What both ways have left; `round`: some may stay in the loop for ever. */
static void join_both(ft__walk *w, const ft__active *yes, const ft__active *no,
                      bool round, bool always, const ft__set *open, const ft__set *left)
{
    ft__run *r = w->r;
    const ft__active before = w->t;

    w->t = *yes;
    ft__active_join(r, &w->t, no);
    if (round)
        add(r, &w->t, FT__MAYBE, &before, open);
    if (always)
        add(r, &w->t, FT__GUESS, &before, open);
    reconverge(r, w, &before, open, left);
    w->t.known = ft__set_same(r, &w->t.of[FT__SURE], &w->t.of[FT__MAYBE]);
}

/* A divergent branch whose condition is unknown. */
struct fork {
    uint32_t to, next, reconvergence;
    bool *on_yes, *on_no; /* blocks before they meet */
    uint32_t *slots;      /* written there */
    ft__lane_value *kept;
};

static bool fork_new(ft__walk *w, ft__arena *work, struct fork *k)
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
static void go_both(ft__walk *w, ft__active *yes, ft__active *no, struct fork *k,
                    const ft__set *open)
{
    ft__run *r = w->r;
    const ft__set left = w->f->left;
    const bool round_yes = k->on_yes[w->block], round_no = k->on_no[w->block];

    if (round_yes)
        may_pass(r, w->f, k->on_yes, open);
    if (round_no)
        may_pass(r, w->f, k->on_no, open);
    if (round_yes)
        keep_off(w, yes, no, true, open);
    if (round_no)
        keep_off(w, no, yes, true, open);
    if (round_yes && round_no)
        drop(r, yes, FT__GUESS, open);
    ft__walk_go(r, w->f, k->to, k->reconvergence, yes);
    restore(r, w->f, k->kept, k->slots, open);
    ft__walk_go(r, w->f, k->next, k->reconvergence, no);
    forget_written(r, w->f, k->slots, open);
    join_both(w, yes, no, round_yes || round_no, round_yes && round_no, open, &left);
    ft__walk_on(w, k->reconvergence);
}

/* A way that ends in a trap never meets the other: whoever takes the other goes on, in
 * loops too. */
static void go_on(ft__walk *w, ft__active *trap, ft__active *rest, uint32_t to,
                  uint32_t next, const struct fork *k, const ft__set *open)
{
    keep_off(w, trap, rest, false, open);
    ft__walk_go(w->r, w->f, to, k->reconvergence, trap);
    restore(w->r, w->f, k->kept, k->slots, open);
    w->t = *rest;
    ft__walk_on(w, next);
}

void ft__walk_fork(ft__walk *w, ft__active *yes, ft__active *no,
                   const ft__flow_block *b, const ft__set *open)
{
    struct fork k = {.to = b->jump, .next = b->next, .reconvergence = b->reconvergence};
    const uint64_t held = w->r->held;
    const bool trap_yes = ends_in_trap(w->f->part, k.to);
    const bool trap_no = ends_in_trap(w->f->part, k.next);
    ft__arena work = {0};

    w->r->steps += FORK_STEPS;
    if (fork_new(w, &work, &k)) {
        const uint64_t kept = w->r->held - held;

        if (w->r->held > FT__MOST_HELD)
            ft__walk_give_up(
                w->r, w->f, w->f->part->flow.block[w->block].first,
                "branches that depend on data keep more than 512 MiB of values");
        else if (trap_yes && !trap_no)
            go_on(w, yes, no, k.to, k.next, &k, open);
        else if (trap_no && !trap_yes)
            go_on(w, no, yes, k.next, k.to, &k, open);
        else
            go_both(w, yes, no, &k, open);
        w->r->held -= kept;
    }
    ft__arena_free(&work);
}

/* Threads have been through these blocks, or not. */
static void pass_unknown(ft__walk *w, ft__arena *work, const bool *blocks)
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

void ft__walk_anywhere(ft__walk *w, const ft__plan_step *s, uint32_t reconvergence)
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
    ft__walk_on(w, reconvergence);
}
