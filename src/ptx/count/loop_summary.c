/* Loops in closed form. When a warp-wide state comes to a header for the
 * second time by the same walk with the same threads, what lives there has changed by
 * some amounts. One more round is executed with these amounts as multiples of a symbol:
 * how many rounds we are ahead. If at its end everything has changed by the same
 * amounts again, all rounds for which the bounds hold that this one met go the same
 * way: they are counted by multiplying. Where quotients and remainders come out even
 * only every so many rounds, a loop summary takes so many rounds together. */
#include <string.h>

#include "ptx/count/reach.h"
#include "ptx/count/record.h"

/* With more affine expressions than that, loops are gone round. */
enum { MOST_PAUSE = 256, MOST_AFFINES = 4096 };
/* What keeping a value takes: nested loops keep each other's counters. */
enum { KEEP_STEPS = 2 };

static int64_t change(uint64_t was, uint64_t now, uint32_t bits)
{
    return bits >= 64 ? (int64_t)(now - was) : ft__ptx_signed(now - was, bits);
}

/* By how much all threads of who have changed; false: not by one amount. */
static bool change_of(const ft__run *r, int64_t *by, const ft__lane_value *was,
                      const ft__lane_value *now, uint32_t bits, const ft__set *who)
{
    bool first = true;

    if (!was->lane && !now->lane) {
        *by = change(was->base, now->base, bits);
        return true;
    }
    for (uint32_t k = 0; k < r->words; k++)
        for (uint64_t m = who->w[k]; m; m &= m - 1) {
            const uint32_t l = k * 64 + (uint32_t)__builtin_ctzll(m);
            const int64_t one = change(was->lane ? was->lane[l] : was->base,
                                       now->lane ? now->lane[l] : now->base, bits);

            if (!first && one != *by)
                return false;
            *by = one;
            first = false;
        }
    return !first;
}

/* Nobody of who knows it. */
static bool all_unknown(const ft__run *r, const ft__lane_value *v, const ft__set *who)
{
    uint64_t known = 0;

    if (v->nothing || v->fresh)
        return true;
    for (uint32_t k = 0; k < r->words; k++)
        known |= who->w[k] & ~(v->unknown ? v->unknown[k] : 0);
    return !known;
}

static bool some_unknown(const ft__run *r, const ft__lane_value *v, const ft__set *who)
{
    uint64_t unknown = 0;

    if (v->nothing || v->fresh)
        return true;
    for (uint32_t k = 0; v->unknown && k < r->words; k++)
        unknown |= who->w[k] & v->unknown[k];
    return unknown != 0;
}

/* What changes in a loop, or differs from thread to thread, decides how it is summed
 * up. */
static void stays_free(ft__run *r, const ft__lane_value *was, const ft__lane_value *now)
{
    if (was->from != now->from)
        ft__trace_bar(r, ft__trace_words(r, was, 1) | ft__trace_words(r, now, 1));
}

static uint32_t live_slots(const ft__plan_part *part, uint32_t block)
{
    uint32_t n = 0;

    while (part->live[block][n] != FT__NO_SLOT)
        n++;
    return n;
}

/* n elements that are kept from launch to launch; NULL: there is no room. */
static void *room_for(ft__run *r, size_t n, size_t size)
{
    void *at;

    if (!ft__run_hold(r, n * size))
        return NULL;
    at = ft__arena_array(&r->arena, n, size);
    r->short_of_memory |= !at;
    return at;
}

static bool keep(ft__run *r, ft__lane_value *kept, const ft__lane_value *v)
{
    uint64_t *own = kept->own, *masks = kept->masks;

    if (v->lane && !own)
        own = room_for(r, (size_t)r->words * 64, sizeof(*own));
    if (v->unknown && !masks)
        masks = room_for(r, FT__SET_WORDS, sizeof(*masks));
    *kept = *v;
    kept->own = own;
    kept->masks = masks;
    if ((v->lane && !own) || (v->unknown && !masks))
        return false;
    if (v->lane)
        kept->lane = memcpy(own, v->lane, r->threads * sizeof(*own));
    if (v->unknown)
        kept->unknown = memcpy(masks, v->unknown, sizeof(r->all.w));
    return true;
}

/* It is not summed up from now on. */
static void make_plain(ft__run *r, ft__loop *loop)
{
    loop->plain = true;
    r->crowded = true;
}

/* false: there is no room. */
static bool keep_all(ft__run *r, ft__frame *f, uint32_t block, ft__lane_value *to)
{
    const uint32_t *live = f->part->live[block];
    bool kept = true;
    uint32_t n = 0;

    for (; kept && live[n] != FT__NO_SLOT; n++)
        kept = keep(r, &to[n], &f->value[live[n]]);
    r->steps += (uint64_t)n * KEEP_STEPS;
    return kept;
}

/* Items that a strongly connected component of blocks, and what it calls, can count. */
static void items_of(const ft__run *r, const ft__plan_part *part, uint32_t block,
                     uint32_t *first, uint32_t *end)
{
    const uint32_t component = part->flow.block[block].component;

    *first = part->calls ? 0 : part->item[part->flow.component_first[component]];
    *end = part->calls ? r->p->barrier
                       : part->item[part->flow.component_last[component] + 1];
}

/* NULL: out of memory. */
static ft__loop *loop_at(ft__run *r, ft__frame *f, uint32_t block)
{
    ft__loop *loop = f->loop[block];
    size_t live;

    if (loop)
        return loop;
    loop = ft__arena_alloc(&r->arena, sizeof(*loop));
    if (!loop) {
        r->short_of_memory = true;
        return NULL;
    }
    f->loop[block] = loop;
    if (!f->part->live[block]) {
        make_plain(r, loop);
        return loop;
    }
    live = live_slots(f->part, block);
    loop->was = room_for(r, live + 1, sizeof(*loop->was));
    loop->start = room_for(r, live + 1, sizeof(*loop->start));
    loop->period = 1;
    loop->launch = r->launch;
    items_of(r, f->part, block, &loop->first_item, &loop->end_item);
    loop->count =
        room_for(r, (size_t)(loop->end_item - loop->first_item + 32) * FT__SETS,
                 sizeof(*loop->count));
    if (!loop->was || !loop->start || !loop->count)
        make_plain(r, loop);
    return loop;
}

/* Rounds that a loop may be ahead with all bounds holding; UINT64_MAX: any. */
static uint64_t rounds_ahead(const ft__affines *w, uint32_t k)
{
    uint64_t most = UINT64_MAX;

    for (uint32_t n = 1; n < w->n; n++) {
        const ft__affine *f = &w->affine[n];
        const int64_t a = f->a[k];
        uint64_t room;

        if (!a)
            continue;
        if (a > 0 ? f->high == INT64_MAX : f->low == INT64_MIN)
            continue;
        room = ft__magnitude(a > 0 ? f->high : f->low) / ft__magnitude(a);
        if (room < most)
            most = room;
    }
    return most;
}

/* Symbol k has been from 0 to n, and is no more. */
static void close_symbol(ft__affines *w, uint32_t k, uint64_t n)
{
    const uint32_t affines = w->n;

    for (uint32_t x = 1; x < affines; x++) {
        const ft__affine f = w->affine[x];
        const ft__i128 far = (ft__i128)f.a[k] * (ft__i128)n;
        uint32_t rest;

        if (!f.a[k])
            continue;
        w->affine[x].low = INT64_MIN;
        w->affine[x].high = INT64_MAX;
        rest = ft__affine_without(w, x, k);
        ft__affine_hold(
            w, rest, f.low == INT64_MIN ? f.low : ft__held(f.low - (far < 0 ? far : 0)),
            f.high == INT64_MAX ? f.high : ft__held(f.high - (far > 0 ? far : 0)));
    }
}

/* Values are n rounds further; the symbol is no more. */
static void advance(ft__run *r, const ft__summary *t, uint64_t n)
{
    ft__frame *f = t->frame;

    for (uint32_t s = 0; s < f->part->n_slots; s++) {
        ft__lane_value *v = &f->value[s];
        const int64_t a = ft__affine_at(&r->affines, v->affine)->a[t->symbol];
        const uint64_t by = (uint64_t)a * n;
        const uint64_t mask = ft__ptx_mask(f->part->bits[s]);

        if (!a)
            continue;
        v->affine = ft__affine_without(&r->affines, v->affine, t->symbol);
        ft__value_touch(r, v);
        if (!by || v->fresh)
            continue;
        if (!v->lane && ft__set_same(r, &t->active, &f->present)) {
            v->base = (v->base + by) & mask;
            continue;
        }
        if (!ft__value_own(r, v))
            return;
        for (uint32_t l = 0; l < r->threads; l++)
            if (ft__set_has(t->active.w, l))
                v->lane[l] = (v->lane[l] + by) & mask;
    }
}

static void end_summary(ft__run *r, uint64_t n)
{
    ft__summary *t = &r->summary[r->n_summaries - 1];

    r->steps += 2 * (uint64_t)r->affines.n + t->frame->part->n_slots;
    advance(r, t, n);
    close_symbol(&r->affines, t->symbol, n);
    t->loop->open = false;
    r->n_summaries--;
}

/* It was for nothing: with more rounds together at once again, else some time later. */
static void put_off(ft__loop *loop, uint32_t wanted)
{
    if (wanted > 1 && loop->period * (uint64_t)wanted <= FT__MOST_PERIOD) {
        loop->period *= wanted;
        return;
    }
    loop->pause = loop->pause < MOST_PAUSE ? 2 * loop->pause + 1 : MOST_PAUSE;
    loop->wait = loop->pause;
}

/* All from the nth on, without any rounds ahead. */
static void abandon(ft__run *r, uint32_t nth)
{
    while (r->n_summaries > nth) {
        const ft__summary *t = &r->summary[r->n_summaries - 1];

        put_off(t->loop, t->wanted);
        end_summary(r, 0);
    }
}

void ft__summary_leave(ft__run *r, uint64_t walk)
{
    for (uint32_t k = 0; k < r->n_summaries; k++)
        if (r->summary[k].walk == walk)
            abandon(r, k);
}

/* Has what lives changed as it was expected to? What only addresses need may not, and
 * then, if the loop is ahead, is not known any more. */
static bool as_expected(ft__run *r, ft__summary *t, bool ahead)
{
    const ft__plan_part *part = t->frame->part;
    const uint32_t *live = part->live[t->block];

    for (uint32_t k = 0; live[k] != FT__NO_SLOT; k++) {
        ft__lane_value *v = &t->frame->value[live[k]];
        const ft__lane_value *was = &t->start[k];
        const int64_t a = ft__affine_at(&r->affines, was->affine)->a[t->symbol];
        const uint32_t bits = part->bits[live[k]];
        int64_t by = 0;

        stays_free(r, was, v);
        if (all_unknown(r, was, &t->active) && all_unknown(r, v, &t->active))
            continue;
        if (!some_unknown(r, v, &t->active) && v->affine == was->affine &&
            change_of(r, &by, was, v, bits, &t->active) &&
            change(0, (uint64_t)by, bits) == change(0, (uint64_t)a, bits))
            continue;
        if (part->hard[live[k]])
            return false;
        if (ahead)
            ft__value_forget(r, v, &t->active);
    }
    return true;
}

/* Of the items of the loop and of the barriers: n times what the round has added. */
static void multiply(ft__run *r, const ft__summary *t, uint64_t n)
{
    const uint32_t items = t->loop->end_item - t->loop->first_item;

    for (uint32_t k = 0; k < items + 32; k++) {
        const uint32_t item =
            k < items ? t->loop->first_item + k : r->p->barrier + (k - items);
        uint64_t *c = r->count + (size_t)item * FT__SETS;
        const uint64_t *was = t->count + (size_t)k * FT__SETS;

        for (unsigned set = 0; set < FT__SETS; set++)
            ft__add_times(&c[set], c[set] - was[set], n);
    }
}

/* The loop is at its header again. false: it goes on for ever. */
static bool close(ft__run *r, ft__frame *f, uint32_t nth)
{
    ft__summary *t = &r->summary[nth];
    uint64_t n;

    abandon(r, nth + 1);
    if (!as_expected(r, t, false)) {
        abandon(r, nth);
        return true;
    }
    n = rounds_ahead(&r->affines, t->symbol);
    if (n == UINT64_MAX) {
        ft__run_inexact(r, f, f->part->flow.block[t->block].first, "a loop never ends");
        for (uint32_t k = t->loop->first_item; k < t->loop->end_item; k++)
            r->unbounded[k] = true;
        r->unbounded[r->p->barrier] = true;
        abandon(r, nth);
        return false;
    }
    multiply(r, t, n);
    ft__reach_rounds(r, t, n);
    if (n)
        as_expected(r, t, true);
    if (n)
        t->loop->wait = t->loop->pause = 0;
    else
        put_off(t->loop, t->wanted);
    end_summary(r, n);
    return true;
}

static void remember(ft__run *r, ft__summary *t)
{
    const size_t items = t->loop->end_item - t->loop->first_item;

    t->start = t->loop->start;
    t->count = t->loop->count;
    memcpy(t->count, r->count + (size_t)t->loop->first_item * FT__SETS,
           items * FT__SETS * sizeof(*t->count));
    memcpy(t->count + items * FT__SETS, r->count + (size_t)r->p->barrier * FT__SETS,
           32 * FT__SETS * sizeof(*t->count));
    r->steps += items + 32;
}

/* What lives gets the symbol as far as it has changed since the last round. */
static bool expect(ft__run *r, ft__frame *f, const ft__loop *loop, uint32_t block,
                   const ft__set *who, uint32_t symbol)
{
    const uint32_t *live = f->part->live[block];
    const uint32_t one = ft__affine_symbol(&r->affines, symbol);

    for (uint32_t k = 0; live[k] != FT__NO_SLOT; k++) {
        ft__lane_value *v = &f->value[live[k]];
        const ft__lane_value *was = &loop->was[k];
        const uint32_t bits = f->part->bits[live[k]];
        int64_t by = 0;
        bool linear;

        stays_free(r, was, v);
        if (all_unknown(r, v, who))
            continue;
        linear = !some_unknown(r, v, who) && !some_unknown(r, was, who) &&
                 v->affine == was->affine && change_of(r, &by, was, v, bits, who);
        if (!linear && f->part->hard[live[k]])
            return false;
        if (linear)
            v->affine = ft__affine_sum(&r->affines, v->affine, one,
                                       (int64_t)((uint64_t)by * loop->period), bits);
        else
            v->rough = true;
        if (by || !linear)
            ft__value_touch(r, v);
    }
    return true;
}

static void open(ft__run *r, ft__frame *f, ft__loop *loop, uint32_t block,
                 uint64_t walk, const ft__active *active)
{
    const uint32_t nth = r->n_summaries;
    ft__summary *t = &r->summary[nth];

    if (nth == FT__MOST_SUMMARIES || r->affines.n > MOST_AFFINES)
        return;
    *t = (ft__summary){.frame = f,
                       .loop = loop,
                       .walk = walk,
                       .block = block,
                       .symbol = FT__FIRST_LOOP + nth,
                       .left = loop->period,
                       .wanted = 1,
                       .active = active->of[FT__MAYBE]};
    remember(r, t);
    loop->open = true;
    r->n_summaries++;
    if (!expect(r, f, loop, block, &t->active, t->symbol)) {
        abandon(r, nth);
    } else if (!keep_all(r, f, block, t->start)) {
        abandon(r, nth);
        make_plain(r, loop);
    }
}

static void snapshot(ft__run *r, ft__frame *f, ft__loop *loop, uint32_t block,
                     uint64_t walk, const ft__active *t)
{
    loop->walk = walk;
    loop->active = *t;
    if (!keep_all(r, f, block, loop->was))
        make_plain(r, loop);
}

/* The loop summary of this loop is over, one way or the other. */
static bool finish(ft__run *r, ft__frame *f, const ft__loop *loop, bool again)
{
    uint32_t k = 0;

    while (r->summary[k].loop != loop)
        k++;
    if (again && --r->summary[k].left)
        return true;
    if (again)
        return close(r, f, k);
    abandon(r, k);
    return true;
}

bool ft__summary_arrive(ft__run *r, ft__frame *f, uint32_t block, uint32_t from,
                        uint64_t walk, const ft__active *t)
{
    ft__loop *loop = loop_at(r, f, block);
    bool again, was_open;

    if (!loop || loop->plain)
        return true;
    again = loop->walk == walk && from != FT__FLOW_NONE && from >= block &&
            ft__active_same(r, &loop->active, t);
    was_open = loop->open;
    if (was_open && !finish(r, f, loop, again))
        return false;
    if (loop->open)
        return true;
    if (!again) {
        loop->wait = loop->pause = 0;
    } else if (loop->wait > 1) {
        loop->wait--;
        return true;
    } else if (!was_open && loop->wait == 0) {
        open(r, f, loop, block, walk, t);
        if (loop->open || loop->plain)
            return true;
    } else if (!was_open) {
        loop->wait = 0; /* the next time with what is now */
    }
    snapshot(r, f, loop, block, walk, t);
    return true;
}
