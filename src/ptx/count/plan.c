/* The plan of a kernel: its slice, control-flow graphs and steps. In: a function; out:
 * these, which slots live where loops begin, of which only the sign is read, and which
 * parameters are. */
#include "ptx/count/plan.h"

#include <string.h>

#include "ptx/eval/lanes.h"

/* Words of all sets together, and rounds over them; beyond, all that may live does.
 * MOST_LIVE: slots in all lists of headers together; what is beyond has none. */
enum { MOST_WORDS = 1 << 22, LIVE_ROUNDS = 1000, MOST_LIVE = 1 << 22 };

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

static void always_reg(struct lives *w, uint32_t reg)
{
    if (w->part->slot[reg] != FT__NO_SLOT)
        put(w->always, w->part->slot[reg]);
}

static void always_variable(struct lives *w, uint32_t variable)
{
    const ft__plan_part *part = w->part;

    for (uint32_t c = 0; c < part->n_cells; c++)
        if (part->cell[c].variable == variable)
            put(w->always, part->cell[c].slot);
}

static void always(struct lives *w, const ft__ptx_operand *passed)
{
    const ft__ptx_operand *o;

    for (uint32_t e = 0; (o = ft__plan_passed(w->part->f, passed, e)); e++)
        if (o->kind == FT__PTX_REG)
            always_reg(w, o->index);
        else if (o->kind == FT__PTX_VARIABLE)
            always_variable(w, o->index);
}

static void always_formal(struct lives *w, const ft__ptx_formal *formal)
{
    for (uint32_t e = 0; formal->is_reg && e < formal->n; e++)
        always_reg(w, formal->index + e);
    if (!formal->is_reg)
        always_variable(w, formal->index);
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
        always_formal(w, &f->param[k]);
    for (uint32_t k = 0; k < f->n_results; k++)
        always_formal(w, &f->result[k]);
    for (uint32_t r = 0; (part->n_calls || !f->entry) && r < f->n_module_regs; r++)
        always_reg(w, r);
}

/* in = use, and what lives behind and is not written here; until nothing changes. */
static void flow_back(struct lives *w)
{
    const ft__flow *flow = &w->part->flow;
    uint32_t round = 0;
    bool changed = true;

    memcpy(w->in, w->use, (size_t)flow->n * w->words * sizeof(*w->in));
    while (changed && round++ < LIVE_ROUNDS) {
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

/* Slots that live where block b begins, onto the list; how many. */
static uint32_t list_live(const struct lives *w, uint32_t b, uint32_t *list)
{
    const ft__plan_part *part = w->part;
    uint32_t n = 0;

    for (uint32_t s = 0; s < part->n_slots; s++)
        if (in(w->always, s) ||
            (w->in ? in(w->in + (size_t)b * w->words, s) : !part->within[s]))
            list[n++] = s;
    list[n++] = FT__NO_SLOT;
    return n;
}

static bool keep_headers(ft__count_plan *p, struct lives *w, ft__arena *work)
{
    ft__plan_part *part = w->part;
    uint32_t *list = ft__arena_array(work, (size_t)part->n_slots + 1, sizeof(*list));
    size_t room = MOST_LIVE;

    for (uint32_t b = 0; list && b < part->flow.n && room; b++) {
        uint32_t n;

        if (!part->flow.block[b].header)
            continue;
        n = list_live(w, b, list);
        room = n < room ? room - n : 0;
        if (room)
            part->live[b] = ft__arena_array(&p->arena, n, sizeof(*list));
        if (room && !part->live[b])
            return false;
        if (room)
            memcpy(part->live[b], list, n * sizeof(*list));
    }
    return list != NULL;
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

static bool find_live(ft__count_plan *p, ft__plan_part *part)
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
        ok = find_within(&w, &work) && keep_headers(p, &w, &work);
    }
    ft__arena_free(&work);
    return ok;
}

/* Rounds over the steps until nothing changes; after that nothing is known. */
enum { SIGN_ROUNDS = 64 };

/* It compares its first source with 0 (or -1), so that only the sign matters. */
static bool asks_sign(const ft__plan_part *part, const ft__plan_step *s,
                      const ft__ptx_insn *i)
{
    const ft__step_source *with = &part->source[s->source + 1];
    const uint64_t all = ft__ptx_mask(ft__ptx_type_bits(i->type[0]));

    if (i->opcode != FT__PTX_SETP || s->n_source != 2 ||
        with->kind != FT__SOURCE_CONSTANT ||
        ft__ptx_type_kind(i->type[0]) != FT__KIND_SIGNED)
        return false;
    if (ft__ptx_has(part->f, i, FT__MOD_LT) || ft__ptx_has(part->f, i, FT__MOD_GE))
        return (with->bits & all) == 0;
    return (ft__ptx_has(part->f, i, FT__MOD_GT) ||
            ft__ptx_has(part->f, i, FT__MOD_LE)) &&
           (with->bits & all) == all;
}

/* Of what a step writes only the sign is ever read. */
static bool sign_only(const ft__plan_part *part, const ft__plan_step *s)
{
    const uint32_t dest = s->n_dest == 1 ? part->dest[s->dest] : FT__NO_SLOT;

    return dest != FT__NO_SLOT && part->signs[dest] &&
           ft__ptx_type_bits(part->f->insn[s->insn].type[0]) == part->bits[dest];
}

/* The sign of its result comes from the signs of its sources, and is all that is read.
 */
static bool passes_sign(const ft__plan_part *part, const ft__plan_step *s,
                        const ft__ptx_insn *i)
{
    return (i->opcode == FT__PTX_OR || i->opcode == FT__PTX_AND) && sign_only(part, s);
}

/* Source k of a step reads no more of its slot than the sign. */
static bool reads_sign(const ft__plan_part *part, const ft__plan_step *s, uint32_t k)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];
    const uint32_t slot = part->source[s->source + k].index;

    return s->kind == FT__STEP_EVAL && i->n_types == 1 &&
           ft__ptx_type_bits(i->type[0]) == part->bits[slot] &&
           ((k == 0 && asks_sign(part, s, i)) || passes_sign(part, s, i));
}

static bool drop(ft__plan_part *part, uint32_t slot)
{
    const bool was = slot != FT__NO_SLOT && part->signs[slot];

    if (was)
        part->signs[slot] = false;
    return was;
}

/* Slots that this step reads more of; false: none anew. */
static bool drop_read(ft__plan_part *part, const ft__plan_step *s)
{
    bool any = drop(part, s->guard);

    for (uint32_t k = 0; k < s->n_source; k++) {
        const ft__step_source *from = &part->source[s->source + k];

        if (from->kind == FT__SOURCE_SLOT && from->index != FT__NO_SLOT &&
            part->signs[from->index] && !reads_sign(part, s, k))
            any |= drop(part, from->index);
    }
    return any;
}

/* Slots of which only the sign is ever read: `or.b32 r, y, x; setp.lt.s32 p, r, 0` asks
 * whether one of two numbers is negative. */
static bool find_signs(ft__count_plan *p, ft__plan_part *part)
{
    bool again = true;

    part->signs = ft__arena_array(&p->arena, (size_t)part->n_slots + 1, 1);
    if (!part->signs)
        return false;
    /* What calls read is no source of a step. */
    for (uint32_t k = 0; k < part->n_slots; k++)
        part->signs[k] = part->f->entry && !part->calls && part->bits[k] > 1;
    for (uint32_t n = 0; again && n < SIGN_ROUNDS; n++) {
        again = false;
        for (uint32_t s = part->n_steps; s-- > 0;)
            again |= drop_read(part, &part->step[s]);
    }
    for (uint32_t k = 0; again && k < part->n_slots; k++)
        part->signs[k] = false;
    for (uint32_t s = 0; s < part->n_steps; s++)
        part->step[s].sign =
            part->step[s].kind == FT__STEP_EVAL && sign_only(part, &part->step[s]);
    return true;
}

static bool find_reads(ft__count_plan *p)
{
    const uint64_t n = p->part[0].f->param_bytes;

    p->reads = ft__arena_array(&p->arena, (size_t)n + 1, sizeof(*p->reads));
    for (uint32_t k = 0; p->reads && k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++) {
            const ft__plan_step *step = &p->part[k].step[s];
            const uint64_t end = step->at + (uint64_t)step->n_dest * step->bytes;

            for (uint64_t b = step->at;
                 step->kind == FT__STEP_PARAM && b < end && b < n; b++)
                p->reads[b] = true;
        }
    return p->reads != NULL;
}

static bool calls(const ft__ptx_function *f)
{
    uint32_t k = 0;

    while (k < f->n_insns && f->insn[k].opcode != FT__PTX_CALL)
        k++;
    return k < f->n_insns;
}

static ft_status make(ft__count_plan *p, uint32_t function, ft_error *err)
{
    ft_status st = FT_OK;

    p->calls = calls(&p->m->function[function]);
    if (!ft__plan_slice(p, function))
        return FT_ENOMEM;
    for (uint32_t n = 0; n < p->n_parts && !st; n++)
        st = ft__flow_make(&p->part[n].flow, &p->arena, p->m, p->part[n].f, err);
    if (st)
        return st;
    if (!ft__plan_steps(p) || !find_reads(p))
        return FT_ENOMEM;
    for (uint32_t n = 0; n < p->n_parts; n++)
        if (!find_live(p, &p->part[n]) || !find_signs(p, &p->part[n]))
            return FT_ENOMEM;
    return FT_OK;
}

ft_status ft__ptx_plan_make(ft__count_plan **out, const ft_ptx *m, uint32_t function,
                            ft_error *err)
{
    ft__count_plan *p = calloc(1, sizeof(*p));
    ft_status st;

    *out = NULL;
    if (p)
        p->m = m;
    st = p ? make(p, function, err) : FT_ENOMEM;
    if (st) {
        ft__ptx_plan_free(p);
        return st == FT_ENOMEM ? ft_fail(err, st, 0, "no memory to analyse %s",
                                         m->function[function].name)
                               : st;
    }
    *out = p;
    return FT_OK;
}
