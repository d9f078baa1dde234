/* Which slots hold something that is still read, where a loop begins. */
#include <string.h>

#include "ptx/count/plan.h"

/* Words of all sets together, and rounds over them; beyond, all that may live does. */
enum { MOST_WORDS = 1 << 22, MOST_ROUNDS = 1000 };

struct lives {
    ft__plan_part *part;
    uint32_t words;
    uint64_t *use, *def, *in; /* [block][words] */
    uint64_t *always;
};

static void put(uint64_t *set, uint32_t slot)
{
    set[slot / 64] |= (uint64_t)1 << slot % 64;
}

static bool in(const uint64_t *set, uint32_t slot)
{
    return set[slot / 64] >> slot % 64 & 1;
}

static void use(struct lives *w, uint32_t b, uint32_t slot)
{
    const size_t row = (size_t)b * w->words;

    if (slot != FT__NO_SLOT && !in(w->def + row, slot))
        put(w->use + row, slot);
}

static void step_lives(struct lives *w, uint32_t b, const ft__plan_step *s)
{
    const ft__plan_part *part = w->part;

    use(w, b, s->guard);
    for (uint32_t k = 0; k < s->n_source; k++)
        if (part->source[s->source + k].kind == FT__SOURCE_SLOT)
            use(w, b, part->source[s->source + k].index);
    for (uint32_t k = 0; k < s->n_dest; k++) {
        const uint32_t slot = part->dest[s->dest + k];

        if (slot == FT__NO_SLOT)
            continue;
        if (s->guard != FT__NO_SLOT)
            use(w, b, slot);
        put(w->def + (size_t)b * w->words, slot);
    }
}

static void always(struct lives *w, const ft__ptx_operand *o)
{
    const ft__plan_part *part = w->part;

    if (o->kind == FT__PTX_REG && part->slot[o->index] != FT__NO_SLOT)
        put(w->always, part->slot[o->index]);
    for (uint32_t c = 0; o->kind == FT__PTX_VARIABLE && c < part->n_cells; c++)
        if (part->cell[c].variable == o->index)
            put(w->always, part->cell[c].slot);
}

/* What comes in and goes out with calls. */
static void find_always(struct lives *w)
{
    const ft__plan_part *part = w->part;
    const ft__ptx_function *f = part->f;

    for (uint32_t c = 0; c < part->n_calls; c++) {
        for (uint32_t k = 0; k < part->call[c].n_args; k++)
            always(w, &part->call[c].arg[k]);
        for (uint32_t k = 0; k < part->call[c].n_results; k++)
            always(w, &part->call[c].result[k]);
        if (part->call[c].pointer != FT__NO_SLOT)
            put(w->always, part->call[c].pointer);
    }
    for (uint32_t k = 0; !f->entry && k < f->n_params; k++)
        always(w, &(ft__ptx_operand){.kind = f->params_are_regs ? FT__PTX_REG
                                                                : FT__PTX_VARIABLE,
                                     .index = f->param[k]});
    for (uint32_t k = 0; k < f->n_results; k++)
        always(w, &(ft__ptx_operand){.kind = f->results_are_regs ? FT__PTX_REG
                                                                 : FT__PTX_VARIABLE,
                                     .index = f->result[k]});
}

/* in = use, and what lives behind and is not written here; until nothing changes. */
static void flow_back(struct lives *w)
{
    const ft__flow *flow = &w->part->flow;
    uint32_t round = 0;
    bool changed = true;

    memcpy(w->in, w->use, (size_t)flow->n * w->words * sizeof(*w->in));
    while (changed && round++ < MOST_ROUNDS) {
        changed = false;
        for (uint32_t b = flow->n; b-- > 0;) {
            uint64_t *mine = w->in + (size_t)b * w->words;
            const uint64_t *def = w->def + (size_t)b * w->words;

            for (uint32_t e = flow->edges[b]; e < flow->edges[b + 1]; e++) {
                const uint64_t *then = w->in + (size_t)flow->edge[e] * w->words;

                for (uint32_t k = 0; flow->edge[e] < flow->n && k < w->words; k++) {
                    const uint64_t more = then[k] & ~def[k] & ~mine[k];

                    mine[k] |= more;
                    changed |= more != 0;
                }
            }
        }
    }
    if (changed)
        w->in = NULL;
}

static bool keep_headers(ft__count_plan *p, struct lives *w)
{
    ft__plan_part *part = w->part;

    for (uint32_t b = 0; b < part->flow.n; b++) {
        uint32_t n = 0;

        if (!part->flow.block[b].header)
            continue;
        part->live[b] =
            ft__arena_array(&p->arena, (size_t)part->n_slots + 1, sizeof(uint32_t));
        if (!part->live[b])
            return false;
        for (uint32_t s = 0; s < part->n_slots; s++)
            if (in(w->always, s) ||
                (w->in ? in(w->in + (size_t)b * w->words, s) : !part->within[s]))
                part->live[b][n++] = s;
        part->live[b][n] = FT__NO_SLOT;
    }
    return true;
}

static bool find_within(struct lives *w, ft__arena *work)
{
    ft__plan_part *part = w->part;
    const size_t n = (size_t)part->flow.n * w->words;

    if (n > MOST_WORDS) /* all may be read anywhere */
        return true;
    w->use = ft__arena_array(work, n + 1, sizeof(*w->use));
    w->def = ft__arena_array(work, n + 1, sizeof(*w->def));
    w->in = ft__arena_array(work, n + 1, sizeof(*w->in));
    if (!w->use || !w->def || !w->in)
        return false;
    for (uint32_t b = 0; b < part->flow.n; b++)
        for (uint32_t s = part->steps[b]; s < part->steps[b + 1]; s++)
            step_lives(w, b, &part->step[s]);
    memset(part->within, 1, part->n_slots * sizeof(*part->within));
    for (uint32_t b = 0; b < part->flow.n; b++)
        for (uint32_t k = 0; k < w->words; k++)
            for (uint64_t m = w->use[(size_t)b * w->words + k]; m; m &= m - 1)
                part->within[k * 64 + (uint32_t)__builtin_ctzll(m)] = false;
    for (uint32_t s = 0; s < part->n_slots; s++)
        if (in(w->always, s))
            part->within[s] = false;
    flow_back(w);
    return true;
}

bool ft__plan_live(ft__count_plan *p, ft__plan_part *part)
{
    struct lives w = {.part = part, .words = part->n_slots / 64 + 1};
    ft__arena work = {0};
    bool ok;

    part->within = ft__arena_array(&p->arena, (size_t)part->n_slots + 1, 1);
    part->live =
        ft__arena_array(&p->arena, (size_t)part->flow.n + 1, sizeof(*part->live));
    w.always = ft__arena_array(&work, w.words, sizeof(*w.always));
    ok = part->within && part->live && w.always;
    if (ok) {
        find_always(&w);
        ok = find_within(&w, &work) && keep_headers(p, &w);
    }
    ft__arena_free(&work);
    return ok;
}
