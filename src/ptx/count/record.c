/* What goes into a trace while a block is executed. In: steps, their values and who
 * takes part; out: entries of those whose values come from free words of parameters. */
#include "ptx/count/record.h"

#include <string.h>

#include "base/index.h"

void *ft__trace_room(ft__trace *t, size_t n, size_t size)
{
    void *at = ft__arena_array(&t->arena, n, size);

    t->bytes += n * size;
    t->spoilt |= !at;
    return at;
}

void *ft__trace_copy(ft__trace *t, const void *from, size_t n, size_t size)
{
    void *to = ft__trace_room(t, n, size);

    return to ? memcpy(to, from, n * size) : NULL;
}

uint64_t ft__trace_words(const ft__run *r, const ft__lane_value *v, uint32_t n)
{
    uint64_t words = 0;

    for (uint32_t k = 0; r->trace && k < n; k++)
        if (v[k].from)
            words |= r->trace->entry[(v[k].from - 1) / FT__TRACE_RESULTS].words;
    return words & r->traces.free;
}

void ft__trace_bar(ft__run *r, uint64_t words)
{
    if (!words)
        return;
    r->traces.barred |= words;
    r->traces.free &= ~words;
    r->trace->spoilt = true;
}

static ft__trace_entry *entry_new(ft__run *r, const ft__plan_step *s,
                                  const ft__active *on, uint64_t words)
{
    ft__trace *t = r->trace;
    ft__trace_entry *e = t->n < FT__TRACE_ENTRIES
                             ? ft__list_grow(t->entry, t->n, &t->most, sizeof(*e))
                             : NULL;

    if (e) {
        t->entry = e;
        e += t->n;
        *e = (ft__trace_entry){.step = s, .words = words};
        e->on = t->n && ft__active_same(r, e[-1].on, on)
                    ? e[-1].on
                    : ft__trace_copy(t, on, 1, sizeof(*on));
        e->source = ft__trace_room(t, s->n_source, sizeof(*e->source));
        e->result = ft__trace_room(t, s->n_dest, sizeof(*e->result));
    }
    if (!e || !e->on || !e->source || !e->result) {
        ft__trace_bar(r, words);
        return NULL;
    }
    t->bytes += sizeof(*e);
    t->n++;
    return e;
}

/* As it stands in an entry: lanes of one that has been kept before, or a copy. */
static void keep(ft__run *r, ft__lane_value *to, const ft__lane_value *v)
{
    ft__trace *t = r->trace;

    *to = *v;
    to->own = to->masks = NULL;
    if (ft__trace_words(r, v, 1)) {
        to->lane = NULL;
        return;
    }
    to->from = 0;
    if (!v->lane || !v->stamp) /* of all blocks */
        return;
    for (size_t e = 0; e < t->n; e++)
        for (uint32_t k = 0; k < t->entry[e].step->n_source; k++) {
            const ft__lane_value *s = &t->entry[e].source[k];

            if (s != to && s->stamp == v->stamp && s->lane) {
                to->lane = s->lane;
                return;
            }
        }
    to->lane = ft__trace_copy(t, v->lane, (size_t)r->words * 64, sizeof(*v->lane));
}

static ft__active all_of(const ft__set *who)
{
    ft__active on = {.known = true};

    on.of[FT__MAYBE] = *who;
    return on;
}

/* All results become all of their slots. */
static bool whole(const ft__run *r, const ft__frame *f, const ft__plan_step *s,
                  const ft__set *who)
{
    bool all = s->n_dest && s->n_dest <= FT__TRACE_RESULTS;

    for (uint32_t k = 0; all && k < s->n_dest; k++) {
        const uint32_t slot = f->part->dest[s->dest + k];

        all = slot == FT__NO_SLOT || ft__value_is_whole(r, f, slot, who);
    }
    return all;
}

ft__trace_entry *ft__trace_param(ft__run *r, const ft__frame *f, const ft__plan_step *s,
                                 const ft__set *who)
{
    const uint64_t end = s->at + (uint64_t)s->n_dest * s->bytes;
    const ft__active on = all_of(who);
    uint64_t words = 0;
    bool high = false;

    if (!r->trace || !s->n_dest)
        return NULL;
    for (uint64_t w = s->at / FT__TRACE_WORD;
         w < (end + FT__TRACE_WORD - 1) / FT__TRACE_WORD; w++) {
        high |= w >= FT__TRACE_WORDS;
        words |= w < FT__TRACE_WORDS ? (uint64_t)1 << w : 0;
    }
    words &= r->traces.free;
    if (!words)
        return NULL;
    if (high || end > r->param_bytes || !whole(r, f, s, who)) {
        ft__trace_bar(r, words);
        return NULL;
    }
    return entry_new(r, s, &on, words);
}

ft__trace_entry *ft__trace_values(ft__run *r, const ft__frame *f,
                                  const ft__plan_step *s, const ft__lane_value *a,
                                  const ft__set *who)
{
    const uint64_t words = ft__trace_words(r, a, s->n_source);
    const ft__active on = all_of(who);
    bool ok = words && whole(r, f, s, who);
    ft__trace_entry *e;

    if (!words)
        return NULL;
    for (uint32_t k = 0; k < s->n_source; k++)
        ok &= !a[k].unknown && !ft__affine_of_loops(&r->affines, a[k].affine);
    if (!ok) {
        ft__trace_bar(r, words);
        return NULL;
    }
    e = entry_new(r, s, &on, words);
    for (uint32_t k = 0; e && k < s->n_source; k++)
        keep(r, &e->source[k], &a[k]);
    r->affines.put_off = e != NULL;
    r->affines.derived = false;
    return e;
}

bool ft__trace_compares(const ft__run *r, const ft__plan_step *s, uint32_t k)
{
    const ft__plan_part *part = &r->p->part[0];
    const uint32_t slot = part->dest[s->dest + k];

    return s->kind == FT__STEP_EVAL && slot != FT__NO_SLOT && part->bits[slot] == 1;
}

uint32_t ft__trace_result(ft__run *r, ft__trace_entry *e, uint32_t k,
                          const ft__lane_value *v)
{
    ft__trace *t = r->trace;

    r->affines.put_off = false;
    if (e->step->kind == FT__STEP_EVAL && r->affines.derived)
        ft__trace_bar(r, e->words);
    if (!ft__trace_compares(r, e->step, k))
        return (uint32_t)((size_t)(e - t->entry) * FT__TRACE_RESULTS + k + 1);
    e->result[k] = *v;
    if (v->lane)
        e->result[k].lane =
            ft__trace_copy(t, v->lane, (size_t)r->words * 64, sizeof(*v->lane));
    return 0;
}

ft__trace_entry *ft__trace_access(ft__run *r, const ft__frame *f,
                                  const ft__plan_step *s, const ft__lane_value *v,
                                  const ft__active *on)
{
    uint64_t words = ft__trace_words(r, v, 1);
    ft__trace_entry *e = NULL;

    if (!r->trace)
        return NULL;
    if (words && (ft__plan_in_loop(f->part, s) || v->nothing || v->unknown ||
                  ft__affine_of_loops(&r->affines, v->affine))) {
        ft__trace_bar(r, words);
        words = 0;
    }
    if (s->space == FT_PTX_GLOBAL && ft__set_any(r, &on->of[FT__MAYBE])) {
        uint64_t *reached = &r->trace->reached[s->reach];

        /* Its strides are all of entries, or none of them is. */
        if (*reached && (*reached == FT__NOT_FREE) != !words)
            ft__trace_bar(r, words ? words : *reached);
        *reached = words ? words : FT__NOT_FREE;
    }
    if (words)
        e = entry_new(r, s, on, words);
    if (e)
        keep(r, &e->source[0], v);
    return e;
}
