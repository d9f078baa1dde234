/* Traces of thread blocks. In: steps as a block is executed; out: in later launches
 * what the block at that place does, without executing it. */
#include "ptx/count/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "ptx/count/reach.h"
#include "ptx/count/record.h"

enum {
    MOST_ALIKE = 4, /* of one place, with other comparisons */
    IN_VAIN = 128   /* traces that are made, or looked at, before any is used */
};

static void trace_free(ft__trace *t)
{
    if (!t)
        return;
    ft__affines_free(&t->affines);
    ft__arena_free(&t->arena);
    free(t->entry);
    free(t);
}

void ft__trace_forget(ft__traces *w)
{
    for (size_t k = 0; k < FT__TRACE_BUCKETS; k++)
        while (w->bucket[k]) {
            ft__trace *first = w->bucket[k];

            w->bucket[k] = first->next;
            trace_free(first);
        }
    w->bytes = 0;
}

void ft__trace_free(ft__run *r)
{
    trace_free(r->trace);
    ft__trace_forget(&r->traces);
    free(r->traces.key);
    free(r->traces.last);
}

/* All that a launch has beside free words of parameters and the place in the grid. */
struct trace_key {
    uint32_t grid[3], cluster[3], dynamic_shared, zero;
    uint8_t param[]; /* bytes, then which are known */
};

static bool reads_grid(const ft__plan_part *part)
{
    bool any = false;

    for (uint32_t k = 0; k < part->n_sources; k++) {
        const ft__step_source *s = &part->source[k];

        any |=
            s->kind == FT__SOURCE_SPECIAL &&
            ((s->index >= FT__SREG_NCTAID_X && s->index <= FT__SREG_NCTAID_Z) ||
             (s->index >= FT__SREG_CLUSTERID && s->index <= FT__SREG_CLUSTER_NCTAID_W));
    }
    return any;
}

static void find_key(ft__run *r)
{
    ft__traces *w = &r->traces;
    struct trace_key *key = (void *)w->key;

    memset(key, 0, w->key_size);
    for (uint32_t k = 0; k < 3; k++) {
        key->grid[k] = w->by_grid ? r->grid[k] : r->grid[k] > 1;
        key->cluster[k] = r->cluster[k];
    }
    key->dynamic_shared = r->dynamic_shared;
    memcpy(key->param, r->param, r->param_bytes);
    memcpy(key->param + r->param_bytes, r->param_known, r->param_bytes);
    for (uint64_t b = 0; b < r->param_bytes && b / FT__TRACE_WORD < FT__TRACE_WORDS;
         b++)
        if (w->free >> b / FT__TRACE_WORD & 1)
            key->param[b] = 0;
    w->hash = ft__hash_bytes(FT__HASH_BEGIN, key, w->key_size);
    w->on = false;
    for (uint32_t k = 0; k < FT__TRACE_SEEN; k++)
        w->on |= w->seen[k] == w->hash;
    if (!w->on)
        w->seen[w->next_seen++ % FT__TRACE_SEEN] = w->hash;
}

static void begin(ft__run *r)
{
    ft__traces *w = &r->traces;

    w->key_size = sizeof(struct trace_key) + 2 * (size_t)r->param_bytes;
    w->key = malloc(w->key_size);
    w->last = malloc(r->param_bytes + 1);
    w->result = ft__arena_array(&r->arena, FT__TRACE_ENTRIES * FT__TRACE_RESULTS,
                                sizeof(*w->result));
    w->periods = ft__arena_array(&r->arena, r->p->part[0].flow.n, 1);
    w->by_grid = reads_grid(&r->p->part[0]);
    w->off = !w->key || !w->last || !w->result || !w->periods || r->p->n_parts > 1;
    if (!w->off)
        memcpy(w->last, r->param, r->param_bytes);
}

void ft__trace_launch(ft__run *r)
{
    ft__traces *w = &r->traces;
    const uint64_t before = w->free;

    w->repeated = w->steps = 0;
    if (!w->key)
        begin(r);
    if (w->off)
        return;
    for (uint64_t b = 0; b < r->param_bytes && b / FT__TRACE_WORD < FT__TRACE_WORDS;
         b++)
        w->differed |= (uint64_t)(r->param[b] != w->last[b]) << b / FT__TRACE_WORD;
    memcpy(w->last, r->param, r->param_bytes);
    w->free = w->differed & ~w->barred;
    if (w->free != before)
        ft__trace_forget(w);
    find_key(r);
}

static uint64_t hash_of(const ft__run *r)
{
    return ft__hash_bytes(r->traces.hash, r->at, sizeof(r->at));
}

/* What earlier blocks of a launch found out about loops goes on in later ones. */
static void get_periods(uint8_t *out, const ft__run *r)
{
    const ft__plan_part *part = &r->p->part[0];
    const ft__frame *f = r->pool[0];

    for (uint32_t b = 0; b < part->flow.n; b++) {
        const ft__loop *loop = f ? f->loop[b] : NULL;

        out[b] = loop && loop->launch == r->launch ? (uint8_t)loop->period : 1;
    }
}

static void set_periods(ft__run *r, const uint8_t *from)
{
    const ft__plan_part *part = &r->p->part[0];
    const ft__frame *f = r->pool[0];

    for (uint32_t b = 0; f && b < part->flow.n; b++)
        if (f->loop[b]) {
            f->loop[b]->period = from[b];
            f->loop[b]->launch = r->launch;
        }
}

/* NULL: nothing is recorded. */
static ft__trace *trace_new(const ft__run *r)
{
    ft__trace *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    memcpy(t->at, r->at, sizeof(t->at));
    t->steps = r->steps;
    t->reached = ft__trace_room(t, (size_t)r->p->n_reaches + 1, sizeof(*t->reached));
    t->before = ft__trace_copy(t, r->traces.periods, r->p->part[0].flow.n, 1);
    if (!t->reached || !t->before) {
        trace_free(t);
        return NULL;
    }
    return t;
}

/* Without what is measured anew. */
static bool keep_counts(ft__run *r, ft__trace *t)
{
    const size_t n = (size_t)r->p->n_items * FT__SETS;

    t->count = ft__trace_copy(t, r->count, n, sizeof(*r->count));
    for (size_t k = 0; t->count && k < n; k++)
        if (t->count[k] == UINT64_MAX)
            return false;
    for (size_t e = 0; t->count && e < t->n; e++) {
        const ft__plan_step *s = t->entry[e].step;

        for (unsigned set = 0; s->kind == FT__STEP_ACCESS && set < FT__SETS; set++)
            t->count[((size_t)s->item + 1) * FT__SETS + set] -= t->entry[e].took[set];
    }
    return t->count != NULL;
}

/* Of blocks that take as little as keeping them only the first are kept. */
static void put_away(ft__run *r, ft__trace *t)
{
    ft__traces *w = &r->traces;
    ft__trace **bucket;

    t->steps = r->steps - t->steps;
    t->reach =
        ft__trace_copy(t, r->reach, (size_t)r->p->n_reaches + 1, sizeof(*r->reach));
    t->key = ft__trace_copy(t, w->key, w->key_size, 1);
    t->hash = hash_of(r);
    t->after = ft__trace_room(t, r->p->part[0].flow.n, 1);
    t->bytes += sizeof(*t) + r->affines.size * sizeof(*r->affines.affine);
    if ((t->steps < 2 * t->bytes && w->recorded > IN_VAIN / 4) ||
        t->bytes > FT__MOST_TRACED || !t->reach || !t->key || !t->after ||
        !keep_counts(r, t) || !ft__affines_copy(&t->affines, &r->affines)) {
        trace_free(t);
        return;
    }
    get_periods(t->after, r);
    if (w->bytes + t->bytes > FT__MOST_TRACED)
        ft__trace_forget(w);
    bucket = &w->bucket[t->hash % FT__TRACE_BUCKETS];
    t->next = *bucket;
    *bucket = t;
    w->bytes += t->bytes;
}

static void record(ft__run *r)
{
    ft__trace *t = r->trace = trace_new(r);
    const uint64_t free_words = r->traces.free;

    r->traces.recorded++;
    ft__run_block(r);
    r->trace = NULL;
    if (t && !t->spoilt && !r->why && !r->stopped && !r->short_of_memory)
        put_away(r, t);
    else
        trace_free(t);
    ft__affines_hold_later(&r->affines);
    if (r->traces.free != free_words) {
        ft__trace_forget(&r->traces);
        find_key(r);
    }
}

/* The next of this place from t on. */
static const ft__trace *find(const ft__run *r, const ft__trace *t)
{
    const ft__traces *w = &r->traces;
    const uint64_t hash = hash_of(r);

    while (t && (t->hash != hash || memcmp(t->at, r->at, sizeof(t->at)) != 0 ||
                 memcmp(t->key, w->key, w->key_size) != 0 ||
                 memcmp(t->before, w->periods, r->p->part[0].flow.n) != 0))
        t = t->next;
    return t;
}

static bool as_it_was(const ft__run *r, const ft__lane_value *was,
                      const ft__lane_value *now, const ft__set *who)
{
    if (was->affine != now->affine || was->rough != now->rough)
        return false;
    if (!was->lane && !now->lane)
        return was->base == now->base;
    for (uint32_t k = 0; k < r->words; k++) {
        uint64_t other = 0;

        for (uint32_t l = k * 64; l < k * 64 + 64; l++)
            other |= ((was->lane ? was->lane[l] : was->base) ^
                      (now->lane ? now->lane[l] : now->base)) &
                     (0 - (who->w[k] >> l % 64 & 1));
        if (other)
            return false;
    }
    return true;
}

/* A result of an entry; false: another one of a comparison, or out of memory. */
static bool result_of(ft__run *r, const ft__trace *t, const ft__trace_entry *e,
                      uint32_t k, ft__lane_value *v)
{
    ft__lane_value *to =
        &r->traces.result[(size_t)(e - t->entry) * FT__TRACE_RESULTS + k];
    uint64_t *own = to->own;

    if (ft__trace_compares(r, e->step, k))
        return as_it_was(r, &e->result[k], v, &e->on->of[FT__MAYBE]);
    *to = *v;
    to->own = own;
    return !v->lane || ft__value_own(r, to);
}

static bool repeat_values(ft__run *r, const ft__trace *t, const ft__trace_entry *e,
                          const ft__lane_value *a)
{
    const ft__plan_part *part = &r->p->part[0];
    ft__lane_value v = {0};
    bool ok = true;

    if (e->step->kind == FT__STEP_EVAL)
        ft__step_eval(r, &v, part, e->step, a, &e->on->of[FT__MAYBE]);
    for (uint32_t k = 0; ok && k < e->step->n_dest; k++) {
        if (part->dest[e->step->dest + k] == FT__NO_SLOT)
            continue;
        if (e->step->kind == FT__STEP_PARAM)
            ft__step_param(r, &v, part, e->step, k);
        else
            v.base = r->out[k][0];
        v.lane = v.lane ? r->out[k] : NULL;
        ok = result_of(r, t, e, k, &v);
    }
    return ok;
}

static bool repeat_entry(ft__run *r, const ft__trace *t, const ft__trace_entry *e)
{
    ft__lane_value a[FT__TRACE_SOURCES];
    uint64_t total[FT__SETS] = {0};

    for (uint32_t k = 0; k < e->step->n_source && k < FT__TRACE_SOURCES; k++)
        a[k] =
            e->source[k].from ? r->traces.result[e->source[k].from - 1] : e->source[k];
    if (e->step->kind != FT__STEP_ACCESS)
        return repeat_values(r, t, e, a);
    ft__step_measure(r, total, e->step, &a[0], e->on);
    ft__run_count(r, e->step->item + 1, total);
    return true;
}

/* false: the block has to be executed. */
static bool repeat(ft__run *r, const ft__trace *t)
{
    const uint64_t steps = r->steps;
    bool same = ft__affines_copy(&r->affines, &t->affines);

    r->executed++;
    r->affines.derived = false;
    r->short_of_memory |= !same;
    memcpy(r->count, t->count, (size_t)r->p->n_items * FT__SETS * sizeof(*r->count));
    for (uint32_t k = 0; k < r->p->n_reaches; k++) {
        r->reach[k] = t->reach[k];
        r->reach[k].launch = t->reached[k] == FT__NOT_FREE ? r->launch : 0;
        r->reach[k].executed = r->executed;
    }
    for (size_t e = 0; same && e < t->n; e++)
        same = repeat_entry(r, t, &t->entry[e]) && !r->affines.derived;
    r->traces.repeated++;
    if (!same)
        return false;
    r->traces.steps += t->steps - (r->steps - steps);
    r->steps = steps + t->steps;
    r->short_of_memory |= r->affines.short_of_memory;
    set_periods(r, t->after);
    return true;
}

void ft__trace_block(ft__run *r)
{
    ft__traces *w = &r->traces;
    const ft__trace *t;
    uint32_t n = 0;

    if (w->off || !w->on) {
        ft__run_block(r);
        return;
    }
    get_periods(w->periods, r);
    t = find(r, w->bucket[hash_of(r) % FT__TRACE_BUCKETS]);
    for (; t && n < MOST_ALIKE && w->failed < IN_VAIN + 2 * w->used; n++) {
        if (repeat(r, t)) {
            w->used++;
            return;
        }
        w->failed++;
        t = find(r, t->next);
    }
    if (n < MOST_ALIKE && w->recorded < IN_VAIN + 2 * w->used)
        record(r);
    else
        ft__run_block(r);
}
