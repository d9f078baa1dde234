#include "ptx_interpret/machine.h"

/* Barriers of a block. Warps come to them as wholes. */

static bool is_barrier(const ft__ptx_step *s)
{
    return !ft__ptx_has(s->f, s->i, FT__MOD_WARP) &&
           !ft__ptx_has(s->f, s->i, FT__MOD_CLUSTER);
}

static uint32_t uniform(const ft__ptx_step *s, const ft__ptx_operand *o)
{
    uint64_t own[FT__PTX_LANES];

    return (uint32_t)ft__ptx_value(s, o, own)[ft__ptx_lowest(s->on)];
}

/* bar.sync a {, b}; bar.arrive a, b; bar.red.op d, a {, b}, p. */
static void at_barrier(ft__ptx_step *s)
{
    const bool red = ft__ptx_has(s->f, s->i, FT__MOD_RED);
    const ft__ptx_operand *o = &s->f->operand[s->i->operands] + red;
    const uint32_t more = (uint32_t)s->i->n_operands - 2 * red;
    const uint32_t id = more > 0 ? uniform(s, o) : 0,
                   n = more > 1 ? uniform(s, o + 1) : 0;

    if (id >= 16) {
        ft__ptx_stop(s, ft__ptx_lowest(s->on), "there is no barrier %u", id);
    } else if (ft__ptx_has(s->f, s->i, FT__MOD_ARRIVE)) {
        s->k->arrived[id] += FT__PTX_LANES;
    } else {
        s->w->waiting = s->i;
        s->w->waiting_on = s->on;
        s->w->barrier = id;
        s->w->expected = n;
    }
}

void ft__ptx_do_barrier(ft__ptx_step *s)
{
    if (s->on == 0 || ft__ptx_has(s->f, s->i, FT__MOD_WARP))
        return;
    if (is_barrier(s))
        at_barrier(s);
    else if (s->k->l->cluster[0] * s->k->l->cluster[1] * s->k->l->cluster[2] > 1)
        ft__ptx_unsupported(s, "barriers of clusters");
}

/* The step of a warp that waits. */
static ft__ptx_step step_of(ft__ptx_machine *k, ft__ptx_warp *w)
{
    ft__ptx_step s = {.k = k, .w = w, .frame = &w->frame[w->n - 1], .i = w->waiting};

    s.f = s.frame->code->f;
    s.on = w->waiting_on;
    return s;
}

/* What bar.red tells all who waited: all, any, or how many predicates held. */
static void reduce(ft__ptx_machine *k, uint32_t id)
{
    uint64_t held = 0, came = 0;

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t n = 0; n < k->n_warps; n++) {
            ft__ptx_warp *w = &k->warp[n];
            ft__ptx_step s;
            uint64_t own[FT__PTX_LANES], d[FT__PTX_LANES];
            const ft__ptx_operand *o;
            const uint64_t *p;

            if (w->waiting == NULL || w->barrier != id)
                continue;
            s = step_of(k, w);
            if (!ft__ptx_has(s.f, s.i, FT__MOD_RED))
                continue;
            o = &s.f->operand[s.i->operands];
            p = ft__ptx_value(&s, &o[s.i->n_operands - 1], own);
            for (int l = 0; l < FT__PTX_LANES; l++) {
                if (pass == 0 && (s.on >> l & 1)) {
                    came++;
                    held += (p[l] != 0) != o[s.i->n_operands - 1].negated;
                }
                d[l] = ft__ptx_has(s.f, s.i, FT__MOD_POPC)  ? held
                       : ft__ptx_has(s.f, s.i, FT__MOD_AND) ? held == came
                                                            : held != 0;
            }
            if (pass == 1)
                ft__ptx_put(&s, o, d, s.on);
        }
}

bool ft__ptx_release(ft__ptx_machine *k, uint32_t id)
{
    uint32_t waiting = 0, alive = 0, expected = 0;

    for (uint32_t n = 0; n < k->n_warps; n++) {
        const ft__ptx_warp *w = &k->warp[n];
        const bool here = w->waiting != NULL && w->barrier == id;

        alive += w->n > 0;
        waiting += here;
        if (here && w->expected > expected)
            expected = w->expected;
    }
    if (waiting == 0 ||
        (expected == 0 ? waiting < alive
                       : waiting * FT__PTX_LANES + k->arrived[id] < expected))
        return false;
    reduce(k, id);
    for (uint32_t n = 0; n < k->n_warps; n++)
        if (k->warp[n].waiting != NULL && k->warp[n].barrier == id)
            k->warp[n].waiting = NULL;
    k->arrived[id] = 0;
    k->count->barriers.value++;
    return true;
}
