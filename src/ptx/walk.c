/* All threads of a block go through a function together; each warp's part of the way is
 * the way it goes alone. Ways of a split are walked one after the other up to where
 * they meet. */
#include <string.h>

#include "ptx/run.h"

enum { NONE = FT__FLOW_NONE, FORK_STEPS = 1 << 15 };

/* Where a walk goes on. */
struct way {
    ft__run *r;
    ft__frame *f;
    uint32_t block, from, stop;
    uint64_t walk;
    ft__there t, waiting; /* waiting: at `stop` */
};

static void walk(ft__run *r, ft__frame *f, uint32_t block, uint32_t stop, ft__there *t);

static bool anyone(const ft__run *r, const ft__there *t)
{
    return ft__set_any(r, &t->of[FT__MAYBE]);
}

static void nobody(ft__there *t)
{
    memset(t, 0, sizeof(*t));
    t->known = true;
}

/* ---- conditions nobody knows ---- */

/* Blocks that `to` leads to before `meet`. */
static bool *ahead(ft__run *r, ft__arena *work, const ft__flow *flow, uint32_t to,
                   uint32_t meet)
{
    bool *seen = ft__arena_array(work, (size_t)flow->n + 1, sizeof(*seen));
    uint32_t *stack = ft__arena_array(work, (size_t)flow->n + 1, sizeof(*stack));
    uint32_t n = 0;

    if (!seen || !stack) {
        r->short_of_memory = true;
        return NULL;
    }
    if (to < flow->n && to != meet) {
        seen[to] = true;
        stack[n++] = to;
    }
    while (n) {
        const uint32_t b = stack[--n];

        r->steps += 8;
        for (uint32_t e = flow->edges[b]; e < flow->edges[b + 1]; e++) {
            const uint32_t next = flow->edge[e];

            if (next < flow->n && next != meet && !seen[next]) {
                seen[next] = true;
                stack[n++] = next;
            }
        }
    }
    return seen;
}

/* Slots that these blocks may write, NO_SLOT last. */
static uint32_t *written(ft__run *r, ft__arena *work, const ft__part *part,
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
        for (uint32_t k = 0; k < part->call[c].n_results; k++) {
            const ft__ptx_operand *o = &part->call[c].result[k];

            if (o->kind == FT__PTX_REG && part->slot[o->index] != FT__NO_SLOT)
                is[part->slot[o->index]] = true;
            for (uint32_t x = 0; x < part->n_cells; x++)
                is[part->cell[x].slot] |= o->kind == FT__PTX_VARIABLE &&
                                          part->cell[x].variable == o->index;
        }
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

static void unbound(ft__run *r, const ft__part *part, const bool *blocks)
{
    for (uint32_t b = 0; b < part->flow.n; b++)
        if (blocks[b])
            ft__run_unbound(r, part, b, b + 1);
    for (uint32_t n = 1; part->calls && n < r->p->n_parts; n++)
        ft__run_unbound(r, &r->p->part[n], 0, r->p->part[n].flow.n);
}

/* Threads on their way through these blocks may end there, or return. */
static void may_leave(ft__frame *f, const bool *blocks, const ft__set *who)
{
    const ft__part *part = f->part;
    bool may = false;

    for (uint32_t b = 0; b < part->flow.n; b++) {
        const ft__ptx_insn *i = &part->f->insn[part->flow.block[b].end - 1];
        const ft__flow_kind kind = ft__flow_kind_of(i);

        may |= blocks[b] && (kind == FT__FLOW_LEAVE || kind == FT__FLOW_CALL);
    }
    for (uint32_t k = 0; may && k < FT__WORDS; k++)
        f->left.w[k] |= who->w[k];
}

/* The way ends in a trap, or a call that does not return, whatever happens. */
static bool to_ruin(const ft__part *part, uint32_t block)
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

    if (to)
        memcpy(to, from, n * sizeof(*to));
    else if (from)
        r->short_of_memory = true;
    return to;
}

/* Values as they were, for the second of two ways; in the order of the slots. */
static ft__value *save(ft__run *r, ft__arena *work, const ft__frame *f,
                       const uint32_t *slots)
{
    ft__value *kept;
    uint32_t n = 0;

    while (slots[n] != FT__NO_SLOT)
        n++;
    kept = ft__arena_array(work, (size_t)n + 1, sizeof(*kept));
    if (!kept)
        r->short_of_memory = true;
    for (uint32_t k = 0; kept && k < n; k++) {
        kept[k] = f->value[slots[k]];
        kept[k].lane = copied(r, work, kept[k].lane, r->threads);
        kept[k].unknown = copied(r, work, kept[k].unknown, FT__WORDS);
        r->steps += kept[k].lane ? r->threads : 4;
    }
    return kept;
}

/* Who went one way though they may go the other has what they had. */
static void restore(ft__run *r, ft__frame *f, const ft__value *kept,
                    const uint32_t *slots, const ft__set *open)
{
    for (; *slots != FT__NO_SLOT; slots++, kept++)
        if (!kept->fresh)
            ft__value_put(r, f, *slots, kept, open, f->part->hard[*slots]);
}

/* After both ways: who was there for sure and cannot have left is there for sure. */
static void meet_again(ft__run *r, struct way *w, const ft__there *before,
                       const ft__set *open, const ft__set *left_before)
{
    if (w->t.known)
        return;
    for (uint32_t k = 0; k < r->words; k++)
        w->t.of[FT__SURE].w[k] |= ft__there_set(before, FT__SURE)->w[k] & open->w[k] &
                                  ~(w->f->left.w[k] & ~left_before->w[k]);
}

static void drop(const ft__run *r, ft__there *t, unsigned set, const ft__set *who)
{
    for (uint32_t k = 0; k < r->words; k++)
        t->of[set].w[k] &= ~who->w[k];
}

static void add(const ft__run *r, ft__there *t, unsigned set, const ft__there *of,
                const ft__set *who)
{
    for (uint32_t k = 0; k < r->words; k++)
        t->of[set].w[k] |= ft__there_set(of, set)->w[k] & who->w[k];
}

/* Round and round, nobody knows how often, or into ruin: guesses take the other way. */
static void keep_off(struct way *w, ft__there *t, ft__there *other, bool round,
                     const ft__set *open)
{
    add(w->r, other, FT__GUESS, t, open);
    drop(w->r, t, FT__GUESS, open);
    if (round)
        drop(w->r, t, FT__MAYBE, open);
}

/* What both ways have left; `round`: some may go round for ever. */
static void join_both(struct way *w, const ft__there *yes, const ft__there *no,
                      bool round, bool always, const ft__set *open,
                      const ft__set *left)
{
    ft__run *r = w->r;
    const ft__there before = w->t;

    w->t = *yes;
    ft__there_join(r, &w->t, no);
    if (round)
        add(r, &w->t, FT__MAYBE, &before, open);
    if (always)
        add(r, &w->t, FT__GUESS, &before, open);
    meet_again(r, w, &before, open, left);
    w->t.known = ft__set_same(r, &w->t.of[FT__SURE], &w->t.of[FT__MAYBE]);
}

/* A split of threads of which nobody knows. */
struct fork {
    uint32_t to, next, meet;
    bool *on_yes, *on_no; /* blocks before they meet */
    uint32_t *slots;      /* written there */
    ft__value *kept;
};

static bool fork_new(struct way *w, ft__arena *work, struct fork *k)
{
    ft__run *r = w->r;
    const ft__flow *flow = &w->f->part->flow;
    bool *both = ft__arena_array(work, (size_t)flow->n + 1, sizeof(*both));

    k->on_yes = ahead(r, work, flow, k->to, k->meet);
    k->on_no = ahead(r, work, flow, k->next, k->meet);
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
static void go_both(struct way *w, ft__there *yes, ft__there *no, struct fork *k,
                    const ft__set *open)
{
    ft__run *r = w->r;
    const ft__part *part = w->f->part;
    const ft__set left = w->f->left;
    const bool round_yes = k->on_yes[w->block], round_no = k->on_no[w->block];

    if (round_yes) {
        unbound(r, part, k->on_yes);
        may_leave(w->f, k->on_yes, open);
    }
    if (round_no) {
        unbound(r, part, k->on_no);
        may_leave(w->f, k->on_no, open);
    }
    if (round_yes || to_ruin(part, k->to))
        keep_off(w, yes, no, round_yes, open);
    if (round_no || to_ruin(part, k->next))
        keep_off(w, no, yes, round_no, open);
    if (round_yes && round_no)
        drop(r, yes, FT__GUESS, open);
    walk(r, w->f, k->to, k->meet, yes);
    restore(r, w->f, k->kept, k->slots, open);
    walk(r, w->f, k->next, k->meet, no);
    forget_written(r, w->f, k->slots, open);
    join_both(w, yes, no, round_yes || round_no, round_yes && round_no, open, &left);
    w->from = w->block;
    w->block = k->meet;
}

static void go_unknown(struct way *w, ft__there *yes, ft__there *no,
                       const ft__flow_block *b, const ft__set *open)
{
    struct fork k = {.to = b->jump, .next = b->next, .meet = b->meet};
    ft__arena work = {0};

    w->r->steps += FORK_STEPS; /* ways may double with each of them */
    if (fork_new(w, &work, &k))
        go_both(w, yes, no, &k, open);
    ft__arena_free(&work);
}

/* ---- splits ---- */

static void count_split(ft__run *r, const ft__step *s, const ft__there *yes,
                        const ft__there *no)
{
    uint64_t n[FT__SETS] = {0};

    for (unsigned set = 0; set < FT__SETS; set++)
        for (uint32_t k = 0; k < r->words; k++) {
            const uint64_t a = ft__there_set(yes, set)->w[k];
            const uint64_t b = ft__there_set(no, set)->w[k];

            n[set] += ((uint32_t)a && (uint32_t)b) + (a >> 32 && b >> 32);
        }
    ft__run_count(r, s->item + 1, n);
}

/* One way now, the other then: what comes to `stop` waits there. */
static void go_apart(struct way *w, ft__there *yes, ft__there *no, uint32_t to,
                     uint32_t next, uint32_t meet)
{
    ft__run *r = w->r;

    w->from = w->block;
    if (meet == w->stop && (to == meet || next == meet)) {
        ft__there_join(r, &w->waiting, to == meet ? yes : no);
        w->t = to == meet ? *no : *yes;
        w->block = to == meet ? next : to;
        w->walk = ++r->walks; /* fewer are on the way */
        return;
    }
    walk(r, w->f, to, meet, yes);
    walk(r, w->f, next, meet, no);
    w->t = *yes;
    ft__there_join(r, &w->t, no);
    w->block = meet;
}

static void branch(struct way *w, const ft__step *s)
{
    ft__run *r = w->r;
    const ft__flow_block *b = &w->f->part->flow.block[w->block];
    ft__condition c;
    ft__there yes, no;
    uint64_t n[FT__SETS];

    if (s->guard == FT__NO_SLOT) {
        ft__run_threads(r, n, &w->t);
        ft__run_count(r, s->item, n);
        w->from = w->block;
        w->block = b->jump;
        return;
    }
    ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
    ft__there_split(r, &yes, &no, &w->t, &c);
    ft__run_threads(r, n, &yes);
    ft__run_count(r, s->item, n);
    if (!anyone(r, &yes) || !anyone(r, &no) || b->jump == b->next) {
        w->from = w->block;
        w->block = anyone(r, &yes) ? b->jump : b->next;
        return;
    }
    count_split(r, s, &yes, &no);
    for (uint32_t k = 0; k < r->words; k++)
        c.open.w[k] &= c.any_open ? w->t.of[FT__MAYBE].w[k] : 0;
    if (ft__set_any(r, &c.open)) {
        ft__run_inexact(r, w->f, s->insn, "a branch depends on data");
        go_unknown(w, &yes, &no, b, &c.open);
    } else {
        go_apart(w, &yes, &no, b->jump, b->next, b->meet);
    }
}

/* Warps whose threads go on in different blocks. */
static void count_parted(ft__run *r, const ft__step *s, const ft__there *t,
                         const uint32_t *to)
{
    uint64_t n[FT__SETS] = {0};

    for (unsigned set = 0; set < FT__SETS; set++)
        for (uint32_t warp = 0; warp < r->warps; warp++) {
            uint32_t who =
                (uint32_t)(ft__there_set(t, set)->w[warp / 2] >> warp % 2 * 32);
            const uint32_t *first =
                who ? &to[warp * 32 + (uint32_t)__builtin_ctz(who)] : NULL;
            bool parted = false;

            for (; who; who &= who - 1)
                parted |= to[warp * 32 + (uint32_t)__builtin_ctz(who)] != *first;
            n[set] += parted;
        }
    ft__run_count(r, s->item + 1, n);
}

/* Threads have been through these blocks, or not. */
static void pass_unknown(struct way *w, ft__arena *work, const bool *blocks)
{
    ft__run *r = w->r;
    const ft__there before = w->t;
    const ft__set left = w->f->left;
    const uint32_t *slots = written(r, work, w->f->part, blocks);

    if (!slots)
        return;
    unbound(r, w->f->part, blocks);
    forget_written(r, w->f, slots, &w->t.of[FT__MAYBE]);
    may_leave(w->f, blocks, &w->t.of[FT__MAYBE]);
    if (!ft__set_same(r, &left, &w->f->left)) {
        ft__there_spell_out(&w->t);
        memset(&w->t.of[FT__SURE], 0, sizeof(w->t.of[FT__SURE]));
        meet_again(r, w, &before, &before.of[FT__MAYBE], &left);
    }
}

/* Nobody knows where a brx.idx leads. */
static void go_anywhere(struct way *w, const ft__step *s, uint32_t meet)
{
    ft__run *r = w->r;
    ft__arena work = {0};
    const bool *blocks = ahead(r, &work, &w->f->part->flow, w->block, meet);
    uint64_t n[FT__SETS];

    ft__run_inexact(r, w->f, s->insn, "a branch by index depends on data");
    ft__run_threads(r, n, &w->t);
    n[FT__SURE] = 0;
    ft__run_count(r, s->item, n);
    if (blocks)
        pass_unknown(w, &work, blocks);
    ft__arena_free(&work);
    w->from = w->block;
    w->block = meet;
}

/* Where each thread goes; those that `taken` has not fall through. */
static void find_targets(const struct way *w, uint32_t *to, const ft__set *taken,
                         const ft__value *v, const ft__ptx_targets *list)
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
static void go_each(struct way *w, const uint32_t *to, uint32_t meet)
{
    ft__run *r = w->r;
    const ft__set here = w->t.of[FT__MAYBE];
    ft__there rest = w->t, all, now;
    bool first = true;

    nobody(&all);
    while (anyone(r, &rest)) {
        ft__condition c = {.any_open = false};
        uint32_t block = NONE;

        for (uint32_t l = 0; l < r->threads; l++)
            if (ft__set_has(rest.of[FT__MAYBE].w, l)) {
                block = block == NONE ? to[l] : block;
                c.holds.w[l / 64] |= (uint64_t)(to[l] == block) << l % 64;
            }
        ft__there_split(r, &now, &rest, &rest, &c);
        if (first && ft__set_same(r, &now.of[FT__MAYBE], &here)) {
            w->from = w->block;
            w->block = block;
            return;
        }
        first = false;
        walk(r, w->f, block, meet, &now);
        ft__there_join(r, &all, &now);
    }
    w->t = all;
    w->from = w->block;
    w->block = meet;
}

/* brx.idx: threads by their index. */
static void by_index(struct way *w, const ft__step *s)
{
    ft__run *r = w->r;
    const ft__part *part = w->f->part;
    const uint32_t meet = part->flow.block[w->block].meet;
    const ft__ptx_targets *list = ft__flow_targets(part->f, &part->f->insn[s->insn]);
    uint32_t to[FT__MOST_THREADS];
    ft__there taken = w->t, stay;
    ft__condition c = {.any_open = false};
    ft__value v;
    uint64_t n[FT__SETS];

    if (s->guard != FT__NO_SLOT) {
        ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
        ft__there_split(r, &taken, &stay, &w->t, &c);
    }
    ft__value_get(r, &v, w->f, &part->source[s->source]);
    if (c.any_open || v.nothing || v.unknown || !list || !list->n) {
        go_anywhere(w, s, meet);
        return;
    }
    ft__form_pin(&r->forms, v.form);
    ft__run_threads(r, n, &taken);
    ft__run_count(r, s->item, n);
    find_targets(w, to, &taken.of[FT__MAYBE], &v, list);
    count_parted(r, s, &w->t, to);
    go_each(w, to, meet);
}

/* ---- leaving ---- */

static void leave(struct way *w, const ft__step *s)
{
    ft__run *r = w->r;
    const bool ret = w->f->part->f->insn[s->insn].opcode == FT__PTX_RET;
    ft__there gone = w->t, rest;
    ft__condition c;

    if (s->guard != FT__NO_SLOT) {
        ft__run_guard(r, &c, w->f, s->guard, s->guard_not);
        ft__there_split(r, &gone, &rest, &w->t, &c);
        if (c.any_open)
            ft__run_inexact(r, w->f, s->insn, "who leaves depends on data");
    } else {
        nobody(&rest);
    }
    for (uint32_t k = 0; k < r->words; k++) {
        w->f->left.w[k] |= gone.of[FT__MAYBE].w[k];
        if (w->f->part->f->entry)
            w->f->present.w[k] &= ~ft__there_set(&gone, FT__SURE)->w[k];
    }
    if (ret && w->f->caller)
        ft__there_join(r, &w->f->back, &gone);
    else
        ft__there_join(r, &w->f->exited, &gone);
    w->from = w->block;
    w->t = rest;
    w->block = w->f->part->flow.block[w->block].next;
}

/* ---- blocks ---- */

static void barrier(ft__run *r, const ft__there *on)
{
    for (uint32_t warp = 0; warp < r->warps; warp++) {
        uint64_t n[FT__SETS];

        for (unsigned set = 0; set < FT__SETS; set++)
            n[set] = (uint32_t)(ft__there_set(on, set)->w[warp / 2] >> warp % 2 * 32) != 0;
        ft__run_count(r, r->p->barrier + warp, n);
    }
}

/* Who takes part in a step, by its guard; `c`: what is known of that. */
static void taking_part(struct way *w, const ft__step *s, ft__there *on,
                        ft__condition *c)
{
    ft__there off;

    *on = w->t;
    c->any_open = false;
    if (s->guard == FT__NO_SLOT)
        return;
    ft__run_guard(w->r, c, w->f, s->guard, s->guard_not);
    ft__there_split(w->r, on, &off, &w->t, c);
    if (ft__set_same(w->r, ft__there_set(on, FT__SURE), &on->of[FT__MAYBE]))
        on->known = true;
    else if (c->any_open)
        ft__run_inexact(w->r, w->f, s->insn, "a guard depends on data");
}

/* Who may have written it, or not, does not know it. */
static void value_step(struct way *w, const ft__step *s, const ft__there *on,
                       const ft__condition *c)
{
    ft__run_eval(w->r, w->f, s, on, &on->of[FT__MAYBE]);
    for (uint32_t k = 0; c->any_open && k < s->n_dest; k++)
        if (w->f->part->dest[s->dest + k] != FT__NO_SLOT)
            ft__value_forget(w->r, &w->f->value[w->f->part->dest[s->dest + k]],
                             &c->open);
}

static void count_on(ft__run *r, const ft__step *s, const ft__there *on)
{
    uint64_t n[FT__SETS];

    ft__run_threads(r, n, on);
    ft__run_count(r, s->item, n);
    ft__run_warps(r, n, on);
    ft__run_count(r, s->item + 1, n);
}

/* false: the step has said where to go on. */
static bool one_step(struct way *w, const ft__step *s)
{
    ft__there on;
    ft__condition c;

    switch (s->kind) {
    case FT__STEP_BRANCH: branch(w, s); return false;
    case FT__STEP_INDEX: by_index(w, s); return false;
    case FT__STEP_LEAVE: leave(w, s); return false;
    default: break;
    }
    taking_part(w, s, &on, &c);
    switch (s->kind) {
    case FT__STEP_ON: count_on(w->r, s, &on); break;
    case FT__STEP_ACCESS: ft__run_access(w->r, w->f, s, &on); break;
    case FT__STEP_BARRIER: barrier(w->r, &on); break;
    case FT__STEP_CALL:
        ft__run_call(w->r, w->f, s, &w->t, &on);
        w->from = w->block;
        w->block = w->f->part->flow.block[w->block].next;
        return false;
    default:
        if (anyone(w->r, &on))
            value_step(w, s, &on, &c);
        break;
    }
    return true;
}

static void block(struct way *w)
{
    ft__run *r = w->r;
    const ft__part *part = w->f->part;
    const uint32_t here = w->block;
    uint64_t n[FT__SETS];
    bool on = true;

    r->steps += 500;
    w->f->here = w->t.of[FT__MAYBE];
    ft__run_warps(r, n, &w->t);
    ft__run_count(r, part->item[here], n);
    ft__run_threads(r, n, &w->t);
    ft__run_count(r, part->item[here] + 1, n);
    for (uint32_t s = part->steps[here]; on && s < part->steps[here + 1]; s++)
        on = one_step(w, &part->step[s]);
    if (on) {
        w->from = here;
        w->block = part->flow.block[here].next;
    }
}

/* From a block up to `stop`; t becomes who gets there. */
static void walk(ft__run *r, ft__frame *f, uint32_t from, uint32_t stop, ft__there *t)
{
    struct way w = {.r = r, .f = f, .block = from, .from = NONE, .stop = stop, .t = *t};
    const uint32_t end = f->part->flow.n;

    if (r->depth == FT__MOST_DEPTH)
        ft__run_stop(r, f, 0, "branches are nested too deep");
    r->depth++;
    w.walk = ++r->walks;
    nobody(&w.waiting);
    while (!r->stopped && !r->short_of_memory && w.block != stop && w.block < end &&
           anyone(r, &w.t)) {
        const uint64_t before = w.walk;

        if (r->steps > r->most_steps)
            ft__run_stop(r, f, f->part->flow.block[w.block].first,
                         "it takes too long to follow");
        if (f->part->flow.block[w.block].header &&
            !ft__trial_arrive(r, f, w.block, w.from, w.walk, &w.t)) {
            nobody(&w.t);
            break;
        }
        block(&w);
        if (w.walk != before)
            ft__trial_leave(r, before);
    }
    ft__trial_leave(r, w.walk);
    r->depth--;
    if (r->stopped)
        nobody(&w.t);
    *t = w.waiting;
    ft__there_join(r, t, &w.t);
}

void ft__run_walk(ft__run *r, ft__frame *f, ft__there *t)
{
    walk(r, f, 0, f->part->flow.n, t);
}
