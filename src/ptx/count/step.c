/* Steps that stay in their block: values that they make, barriers; memory that they
 * access: access.c. In: a step and who takes part; out: slots and counts. */
#include "ptx/count/record.h"

static void forget(ft__run *r, ft__frame *f, const ft__plan_step *s, const ft__set *who)
{
    const ft__lane_value nothing = {.nothing = true};

    for (uint32_t k = 0; k < s->n_dest; k++) {
        const uint32_t slot = f->part->dest[s->dest + k];

        if (slot != FT__NO_SLOT)
            ft__value_put(r, f, slot, &nothing, who, s->need & FT__HARD);
    }
}

/* In this block it is right, whatever others do: bounds for what counts depend on, no
 * affine expression at all for what only addresses do. */
static void pin_sources(ft__run *r, const ft__plan_step *s, const ft__lane_value *a,
                        bool *rough)
{
    for (uint32_t k = 0; k < s->n_source; k++) {
        if (!a[k].affine)
            continue;
        if (s->need & FT__HARD)
            ft__affine_pin(&r->affines, a[k].affine);
        else
            *rough = true;
    }
}

static uint32_t bits_of(const ft__plan_part *part, const ft__plan_step *s, uint32_t k)
{
    const ft__step_source *from = &part->source[s->source + k];

    return from->kind == FT__SOURCE_SLOT && from->index != FT__NO_SLOT
               ? part->bits[from->index]
               : 64;
}

static bool derive(ft__run *r, uint32_t *affine, const ft__plan_part *part,
                   const ft__plan_step *s, const ft__lane_value *a,
                   const ft__lane_value *out)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];
    ft__affine_variable symbol = {.f = part->f, .i = i, .n_source = s->n_source};

    if (s->n_dest != 1 || s->n_source > 5 || out->lane || i->n_types < 1 ||
        i->opcode == FT__PTX_SETP || i->type[0] == FT__TYPE_PRED)
        return false;
    for (uint32_t k = 0; k < s->n_source; k++) {
        if (ft__affine_of_loops(&r->affines, a[k].affine))
            return false;
        symbol.source[k] = a[k].base;
        symbol.affine[k] = a[k].affine;
        symbol.source_bits[k] = bits_of(part, s, k);
    }
    symbol.value = out->base;
    symbol.bits = ft__ptx_type_bits(i->type[0]);
    if ((i->opcode == FT__PTX_MUL || i->opcode == FT__PTX_MAD) &&
        ft__ptx_has(part->f, i, FT__MOD_WIDE))
        symbol.bits *= 2;
    symbol.is_signed = ft__ptx_type_kind(i->type[0]) == FT__KIND_SIGNED;
    *affine = ft__affine_derive(&r->affines, &symbol);
    return *affine != 0;
}

static void find_affine(ft__run *r, const ft__plan_part *part, const ft__plan_step *s,
                        const ft__lane_value *a, ft__lane_value *out,
                        const ft__set *who)
{
    bool any = false;

    out->affine = 0;
    for (uint32_t k = 0; k < s->n_source; k++) {
        any |= a[k].affine != 0;
        out->rough |= a[k].rough;
    }
    if (!any || ft__rule(r, &out->affine, part, s, a, who) ||
        derive(r, &out->affine, part, s, a, out))
        return;
    out->affine = 0;
    pin_sources(r, s, a, &out->rough);
}

/* The first and the last thread of a set, in whole words. */
static void span(const ft__run *r, const ft__set *who, uint32_t *from, uint32_t *n)
{
    uint32_t first = 0, last = r->words;

    while (first + 1 < last && !who->w[first])
        first++;
    while (last > first + 1 && !who->w[last - 1])
        last--;
    *from = first * 64;
    *n = (last * 64 < r->threads ? last * 64 : r->threads) - *from;
}

static void spread(uint64_t *to, uint64_t v, uint32_t n)
{
    for (uint32_t l = 0; l < n; l++)
        to[l] = v;
}

/* Into r->out, one value or one for each thread. */
static void compute(ft__run *r, const ft__plan_part *part, const ft__plan_step *s,
                    const ft__lane_value *a, bool each, const ft__set *who)
{
    const uint64_t *in[5];
    uint64_t *out[16];
    uint32_t from = 0, n = 1;

    if (each)
        span(r, who, &from, &n);
    r->steps += n + 100;
    for (uint32_t k = 0; k < s->n_source; k++) {
        if (a[k].lane) {
            in[k] = a[k].lane + from;
        } else {
            spread(r->in[k], a[k].base, n);
            in[k] = r->in[k];
        }
    }
    for (uint32_t k = 0; k < s->n_dest; k++)
        out[k] = r->out[k] + from;
    ft__ptx_eval(out, part->f, &part->f->insn[s->insn], in, n);
}

/* Unknown in any source is unknown in the result. */
static bool join_unknown(ft__run *r, uint64_t masks[FT__SET_WORDS],
                         const ft__lane_value *a, uint32_t n)
{
    bool any = false;

    for (uint32_t k = 0; k < n; k++) {
        if (!a[k].unknown)
            continue;
        for (uint32_t w = 0; w < r->words; w++)
            masks[w] = (any ? masks[w] : 0) | a[k].unknown[w];
        any = true;
    }
    return any;
}

void ft__step_eval(ft__run *r, ft__lane_value *out, const ft__plan_part *part,
                   const ft__plan_step *s, const ft__lane_value *a, const ft__set *who)
{
    bool each = false;

    for (uint32_t k = 0; k < s->n_source; k++)
        each |= a[k].lane != NULL;
    compute(r, part, s, a, each, who);
    out->base = r->out[0][0];
    out->lane = each ? r->out[0] : NULL;
    find_affine(r, part, s, a, out, who);
}

static void eval(ft__run *r, ft__frame *f, const ft__plan_step *s, const ft__set *who)
{
    ft__lane_value a[5], out = {0};
    uint64_t masks[FT__SET_WORDS];
    ft__trace_entry *entry;

    if (s->n_source > 5 || s->n_dest > 16) {
        forget(r, f, s, who);
        return;
    }
    for (uint32_t k = 0; k < s->n_source; k++) {
        ft__value_get(r, &a[k], f, &f->part->source[s->source + k]);
        if (a[k].nothing) {
            forget(r, f, s, who);
            return;
        }
    }
    entry = ft__trace_values(r, f, s, a, who);
    if (join_unknown(r, masks, a, s->n_source))
        out.unknown = masks;
    ft__step_eval(r, &out, f->part, s, a, who);
    for (uint32_t k = 0; k < s->n_dest; k++) {
        const uint32_t slot = f->part->dest[s->dest + k];

        out.base = r->out[k][0];
        out.lane = out.lane ? r->out[k] : NULL;
        out.from = entry ? ft__trace_result(r, entry, k, &out) : 0;
        if (slot != FT__NO_SLOT)
            ft__value_put(r, f, slot, &out, who, s->need & FT__HARD);
    }
}

/* Loads of signed numbers spread the sign over the register, stores cut it off. */
static uint64_t extended(const ft__plan_part *part, const ft__plan_step *s, uint32_t k,
                         uint64_t v)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];
    const uint32_t bits = ft__ptx_type_bits(i->type[0]);
    const ft__ptx_operand *d;

    v &= ft__ptx_mask(bits);
    if (i->opcode != FT__PTX_LD || bits >= 64 ||
        ft__ptx_type_kind(i->type[0]) != FT__KIND_SIGNED)
        return v;
    d = part->ref[part->refs[s->insn] + k];
    return d->kind != FT__PTX_REG
               ? v
               : (uint64_t)ft__ptx_signed(v, bits) &
                     ft__ptx_mask(ft__ptx_type_bits(part->f->reg[d->index].type));
}

static void copy(ft__run *r, ft__frame *f, const ft__plan_step *s, const ft__set *who)
{
    const ft__ptx_insn *i = &f->part->f->insn[s->insn];
    const uint32_t bits = ft__ptx_type_bits(i->type[0]);

    for (uint32_t k = 0; k < s->n_dest && k < s->n_source; k++) {
        const uint32_t slot = f->part->dest[s->dest + k];
        ft__lane_value v;

        if (slot == FT__NO_SLOT)
            continue;
        ft__value_get(r, &v, f, &f->part->source[s->source + k]);
        ft__trace_bar(r, ft__trace_words(r, &v, 1));
        if (v.affine && bits < 64 && i->opcode == FT__PTX_LD)
            ft__rule(r, &v.affine, f->part, s, &v, who);
        if (bits < 64) {
            for (uint32_t l = 0; v.lane && l < r->threads; l++)
                r->out[0][l] = extended(f->part, s, k, v.lane[l]);
            v.base = extended(f->part, s, k, v.base);
            v.lane = v.lane ? r->out[0] : NULL;
        }
        ft__value_put(r, f, slot, &v, who, s->need & FT__HARD);
    }
}

static uint64_t little_endian(const uint8_t *b, uint32_t n)
{
    uint64_t v = 0;

    for (uint32_t k = 0; k < n && k < 8; k++)
        v |= (uint64_t)b[k] << 8 * k;
    return v;
}

/* Pointers that were not given are taken as aligned for addresses, not for branches. */
void ft__step_param(ft__run *r, ft__lane_value *out, const ft__plan_part *part,
                    const ft__plan_step *s, uint32_t k)
{
    const uint64_t at = s->at + (uint64_t)k * s->bytes;
    ft__lane_value v = {0};

    v.nothing = at > r->param_bytes || s->bytes > r->param_bytes - at || s->bytes > 8;
    for (uint32_t b = 0; !v.nothing && b < s->bytes; b++)
        v.nothing = !r->param_known[at + b];
    if (!v.nothing)
        v.base = extended(part, s, k, little_endian(r->param + at, s->bytes));
    else if (s->bytes == 8 && !(s->need & FT__HARD)) {
        v.nothing = false;
        v.base = (at / 8 + 1) << 40; /* a buffer of its own */
    }
    *out = v;
}

static void param(ft__run *r, ft__frame *f, const ft__plan_step *s, const ft__set *who)
{
    ft__trace_entry *entry = ft__trace_param(r, f, s, who);

    for (uint32_t k = 0; k < s->n_dest; k++) {
        const uint32_t slot = f->part->dest[s->dest + k];
        ft__lane_value v;

        if (slot == FT__NO_SLOT)
            continue;
        ft__step_param(r, &v, f->part, s, k);
        v.from = entry ? ft__trace_result(r, entry, k, &v) : 0;
        ft__value_put(r, f, slot, &v, who, s->need & FT__HARD);
    }
}

static const ft__ptx_variable *constant_at(const ft_ptx *m, uint64_t at, uint64_t bytes)
{
    for (uint32_t k = 0; k < m->n_variables; k++) {
        const ft__ptx_variable *v = &m->variable[k];

        if (v->space == FT_PTX_CONST && at >= v->offset && at - v->offset < v->size &&
            bytes <= v->size - (at - v->offset))
            return v->external ? NULL : v;
    }
    return NULL;
}

static bool load_constant(ft__run *r, uint64_t *out, uint64_t at, uint32_t bytes)
{
    const ft__ptx_variable *v = constant_at(r->p->m, at, bytes);
    uint64_t left;

    r->steps += r->p->m->n_variables; /* which were looked through */
    /* What is not set there may be set by the host. */
    if (!v || !v->initial || bytes > 8)
        return false;
    at -= v->offset;
    left = at < v->initial_size ? v->initial_size - at : 0;
    *out = left ? little_endian(v->initial + at, left < bytes ? (uint32_t)left : bytes)
                : 0;
    return true;
}

static void constant(ft__run *r, ft__frame *f, const ft__plan_step *s,
                     const ft__set *who)
{
    ft__lane_value a;

    ft__value_get(r, &a, f, &f->part->source[s->source]);
    ft__trace_bar(r, ft__trace_words(r, &a, 1));
    if (a.nothing || a.unknown) {
        forget(r, f, s, who);
        return;
    }
    for (uint32_t k = 0; k < s->n_dest; k++) {
        const uint32_t slot = f->part->dest[s->dest + k];
        const uint64_t plus = s->at + (uint64_t)k * s->bytes;
        ft__lane_value v = {.rough = a.rough};

        if (slot == FT__NO_SLOT)
            continue;
        pin_sources(r, s, &a, &v.rough);
        if (!a.lane) {
            v.nothing = !load_constant(r, &v.base, a.base + plus, s->bytes);
            v.base = extended(f->part, s, k, v.base);
        }
        for (uint32_t l = 0; a.lane && l < r->threads && !v.nothing; l++) {
            if (!ft__set_has(who->w, l))
                continue;
            v.nothing = !load_constant(r, &r->out[0][l], a.lane[l] + plus, s->bytes);
            r->out[0][l] = extended(f->part, s, k, r->out[0][l]);
        }
        v.lane = a.lane ? r->out[0] : NULL;
        ft__value_put(r, f, slot, &v, who, s->need & FT__HARD);
    }
}

/* Of shfl d|p only p: whether the lane to take from is in the segment. */
static void shuffled(ft__run *r, ft__frame *f, const ft__plan_step *s,
                     const ft__set *who)
{
    const ft__ptx_function *of = f->part->f;
    const ft__ptx_insn *i = &of->insn[s->insn];
    ft__lane_value a[4] = {0}; /* of the sources, those that p depends on */
    ft__lane_value v = {.lane = r->out[0]};

    forget(r, f, s, who);
    if (s->n_dest < 2 || f->part->dest[s->dest + 1] == FT__NO_SLOT ||
        s->n_source + 1 != i->n_operands) /* of vectors */
        return;
    for (uint32_t k = 1; k < 3; k++)
        ft__value_get(r, &a[k], f, &f->part->source[s->source + k]);
    ft__trace_bar(r, ft__trace_words(r, a, 3));
    if (a[1].nothing || a[1].unknown || a[2].nothing || a[2].unknown)
        return;
    pin_sources(r, s, a, &v.rough);
    for (uint32_t l = 0; l < r->threads; l++) {
        const uint32_t by = (uint32_t)(a[1].lane ? a[1].lane[l] : a[1].base) & 31;
        const uint32_t c = (uint32_t)(a[2].lane ? a[2].lane[l] : a[2].base);
        const uint32_t segment = c >> 8 & 31, lane = l & 31;
        const uint32_t last = (lane & segment) | (c & 31 & ~segment);

        r->out[0][l] = ft__ptx_has(of, i, FT__MOD_UP)     ? lane >= last + by
                       : ft__ptx_has(of, i, FT__MOD_DOWN) ? lane + by <= last
                       : ft__ptx_has(of, i, FT__MOD_BFLY)
                           ? (lane ^ by) <= last
                           : ((lane & segment) | (by & ~segment)) <= last;
    }
    ft__value_put(r, f, f->part->dest[s->dest + 1], &v, who, s->need & FT__HARD);
}

/* Of vote and the like only what all threads know, and all of a warp are there. */
static void lanes(ft__run *r, ft__frame *f, const ft__plan_step *s, const ft__active *t,
                  const ft__set *who)
{
    const ft__ptx_insn *i = &f->part->f->insn[s->insn];
    ft__lane_value v = {.lane = r->out[0]};
    ft__lane_condition c = {.any_open = false};
    const bool elect = i->opcode == FT__PTX_ELECT;
    const bool ballot =
        i->opcode == FT__PTX_ACTIVEMASK || ft__ptx_has(f->part->f, i, FT__MOD_BALLOT);

    if (i->opcode == FT__PTX_SHFL) {
        shuffled(r, f, s, who);
        return;
    }
    if (!t->known || s->n_dest < 1 || s->n_source < (i->opcode == FT__PTX_VOTE)) {
        forget(r, f, s, who);
        return;
    }
    c.holds = *who;
    if (i->opcode == FT__PTX_VOTE) {
        const ft__step_source *p = &f->part->source[s->source];
        const ft__ptx_operand *o = f->part->ref[f->part->ref_s[s->insn]];

        if (p->kind != FT__SOURCE_SLOT) {
            forget(r, f, s, who);
            return;
        }
        ft__run_guard(r, &c, f, p->index, o->negated);
        if (c.any_open) {
            forget(r, f, s, who);
            return;
        }
    }
    for (uint32_t l = 0; l < r->threads; l += 32) {
        const uint32_t active = (uint32_t)(who->w[l / 64] >> l % 64);
        const uint32_t yes = (uint32_t)(c.holds.w[l / 64] >> l % 64) & active;
        const bool uni = yes == 0 || yes == active;
        const uint32_t one = ballot                                    ? yes
                             : ft__ptx_has(f->part->f, i, FT__MOD_ALL) ? yes == active
                             : ft__ptx_has(f->part->f, i, FT__MOD_ANY) ? yes != 0
                                                                       : uni;

        for (uint32_t k = 0; k < 32 && l + k < r->threads; k++) {
            r->out[0][l + k] =
                elect ? (uint64_t)(uint32_t)__builtin_ctz(active | 1u << 31) : one;
            r->out[1][l + k] = elect && active >> k & 1 && !(active & ((1u << k) - 1));
        }
    }
    for (uint32_t k = 0; k < s->n_dest && k < 2; k++) {
        const uint32_t slot = f->part->dest[s->dest + k];

        v.lane = r->out[k];
        if (slot != FT__NO_SLOT)
            ft__value_put(r, f, slot, &v, who, s->need & FT__HARD);
    }
}

/* A step as it was executed last: from the same values, by the same threads, into what
 * nobody has written since, it would change nothing and bind nothing anew. No stamp is
 * given twice, so that what stands in dest is of this frame and this thread block. */
struct ft__memo {
    uint64_t source[5], dest[2]; /* stamps */
    ft__set who;
};

static uint64_t stamp_of(const ft__frame *f, const ft__step_source *s)
{
    return s->kind == FT__SOURCE_SLOT && s->index != FT__NO_SLOT
               ? f->value[s->index].stamp
               : 0;
}

static uint64_t stamp_at(const ft__frame *f, const ft__plan_step *s, uint32_t k)
{
    const uint32_t slot = f->part->dest[s->dest + k];

    return slot == FT__NO_SLOT ? 0 : f->value[slot].stamp;
}

static bool is_done(const ft__run *r, const struct ft__memo *m, const ft__frame *f,
                    const ft__plan_step *s, const ft__set *who)
{
    bool any = false, same = true; /* any: of which there is a stamp */

    for (uint32_t k = 0; same && k < s->n_dest; k++) {
        same = m->dest[k] == stamp_at(f, s, k);
        any |= m->dest[k] != 0;
    }
    for (uint32_t k = 0; same && k < s->n_source; k++)
        same = m->source[k] == stamp_of(f, &f->part->source[s->source + k]);
    return any && same && ft__set_same(r, &m->who, who);
}

/* Of values that are computed, unless it has been done. */
static void once(ft__run *r, ft__frame *f, const ft__plan_step *s, const ft__set *who)
{
    struct ft__memo **at =
        &r->memo[(size_t)f->part->first_step + (size_t)(s - f->part->step)];
    struct ft__memo *m = *at;

    if (!m && ft__plan_in_loop(f->part, s) && s->n_source <= 5 && s->n_dest <= 2)
        m = *at = ft__arena_alloc(&r->arena, sizeof(*m));
    if (m && is_done(r, m, f, s, who)) {
        r->steps += 20;
        return;
    }
    for (uint32_t k = 0; m && k < s->n_source; k++)
        m->source[k] = stamp_of(f, &f->part->source[s->source + k]);
    if (s->kind == FT__STEP_EVAL)
        eval(r, f, s, who);
    else
        param(r, f, s, who);
    for (uint32_t k = 0; m && k < s->n_dest; k++)
        m->dest[k] = stamp_at(f, s, k);
    if (m)
        m->who = *who;
}

static void barrier(ft__run *r, const ft__active *on)
{
    for (uint32_t warp = 0; warp < r->warps; warp++) {
        uint64_t n[FT__SETS];

        for (unsigned set = 0; set < FT__SETS; set++)
            n[set] =
                (uint32_t)(ft__active_set(on, set)->w[warp / 2] >> warp % 2 * 32) != 0;
        ft__run_count(r, r->p->barrier + warp, n);
    }
}

static void value(ft__run *r, ft__frame *f, const ft__plan_step *s,
                  const ft__active *on, const ft__lane_condition *c)
{
    const ft__set *who = &on->of[FT__MAYBE];

    switch (s->kind) {
    case FT__STEP_EVAL:
    case FT__STEP_PARAM: once(r, f, s, who); break;
    case FT__STEP_COPY: copy(r, f, s, who); break;
    case FT__STEP_CONST: constant(r, f, s, who); break;
    case FT__STEP_LANES: lanes(r, f, s, on, who); break;
    default: forget(r, f, s, who); break;
    }
    /* Who may have written it, or not, does not know it. */
    for (uint32_t k = 0; c->any_open && k < s->n_dest; k++)
        if (f->part->dest[s->dest + k] != FT__NO_SLOT)
            ft__value_forget(r, &f->value[f->part->dest[s->dest + k]], &c->open);
}

void ft__run_step(ft__run *r, ft__frame *f, const ft__plan_step *s,
                  const ft__active *on, const ft__lane_condition *c)
{
    switch (s->kind) {
    case FT__STEP_ON:
        ft__run_tally(r, s->item, on, FT__THREADS);
        ft__run_tally(r, s->item + 1, on, FT__WARPS);
        break;
    case FT__STEP_ACCESS: ft__step_access(r, f, s, on); break;
    case FT__STEP_BARRIER: barrier(r, on); break;
    default:
        if (ft__set_any(r, &on->of[FT__MAYBE]))
            value(r, f, s, on, c);
        break;
    }
}
