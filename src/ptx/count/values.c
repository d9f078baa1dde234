/* Values and sets of threads while a thread block is executed: comparing and counting
 * sets, reading sources, writing slots for some threads. */
#include <string.h>

#include "ptx/count/record.h"

bool ft__active_same(const ft__run *r, const ft__active *a, const ft__active *b)
{
    if (!ft__set_same(r, &a->of[FT__MAYBE], &b->of[FT__MAYBE]))
        return false;
    if (a->known && b->known)
        return true;
    return ft__set_same(r, ft__active_set(a, FT__SURE), ft__active_set(b, FT__SURE)) &&
           ft__set_same(r, ft__active_set(a, FT__GUESS), ft__active_set(b, FT__GUESS));
}

void ft__run_count(ft__run *r, uint32_t item, const uint64_t n[FT__SETS])
{
    uint64_t *c = r->count + (size_t)item * FT__SETS;

    for (unsigned set = 0; set < FT__SETS; set++)
        ft__add_times(&c[set], n[set], 1);
}

static uint64_t warps_of(const ft__run *r, const ft__set *s)
{
    uint64_t n = 0;

    for (uint32_t k = 0; k < r->words; k++)
        n += (uint64_t)((uint32_t)s->w[k] != 0) + (s->w[k] >> 32 != 0);
    return n;
}

static uint64_t threads_of(const ft__run *r, const ft__set *s)
{
    uint64_t n = 0;

    for (uint32_t k = 0; k < r->words; k++)
        n += (uint64_t)__builtin_popcountll(s->w[k]);
    return n;
}

void ft__run_tally(ft__run *r, uint32_t item, const ft__active *t, ft__unit unit)
{
    uint64_t (*const in)(const ft__run *, const ft__set *) =
        unit == FT__WARPS ? warps_of : threads_of;
    uint64_t n[FT__SETS];

    n[FT__MAYBE] = n[FT__SURE] = n[FT__GUESS] = in(r, &t->of[FT__MAYBE]);
    for (unsigned set = 0; !t->known && set < FT__MAYBE; set++)
        n[set] = in(r, &t->of[set]);
    ft__run_count(r, item, n);
}

void ft__run_inexact(ft__run *r, const ft__frame *f, uint32_t insn, const char *why)
{
    if (!r->why) {
        r->why = why;
        r->why_line = insn < f->part->f->n_insns ? f->part->f->insn[insn].line : 0;
    }
}

static bool room(ft__run *r, uint64_t **at, uint32_t n)
{
    if (!*at)
        *at = ft__arena_array(&r->arena, n, sizeof(uint64_t));
    if (!*at)
        r->short_of_memory = true;
    return *at != NULL;
}

bool ft__value_own(ft__run *r, ft__lane_value *v)
{
    if (v->lane && v->lane == v->own)
        return true;
    if (!room(r, &v->own, r->words * 64))
        return false;
    if (v->lane)
        memcpy(v->own, v->lane, r->threads * sizeof(*v->own));
    else
        for (uint32_t l = 0; l < r->threads; l++)
            v->own[l] = v->base;
    v->lane = v->own;
    return true;
}

/* Who does not know it, as a set of its own. */
static bool own_unknown(ft__run *r, ft__lane_value *v)
{
    if (!room(r, &v->masks, FT__SET_WORDS))
        return false;
    if (v->nothing || v->fresh)
        memcpy(v->masks, r->all.w, sizeof(r->all.w));
    else if (!v->unknown)
        memset(v->masks, 0, sizeof(r->all.w));
    else if (v->unknown != v->masks)
        memcpy(v->masks, v->unknown, sizeof(r->all.w));
    v->unknown = v->masks;
    v->nothing = v->fresh = false;
    return true;
}

void ft__value_forget(ft__run *r, ft__lane_value *v, const ft__set *who)
{
    if (v->nothing || v->fresh || !own_unknown(r, v))
        return;
    ft__trace_bar(r, ft__trace_words(r, v, 1));
    ft__value_touch(r, v);
    for (uint32_t k = 0; k < r->words; k++)
        v->unknown[k] |= who->w[k];
}

/* The slot as a whole is what `now` is. */
static void replace(ft__run *r, ft__lane_value *v, const ft__lane_value *now)
{
    uint64_t *own = v->own, *masks = v->masks;

    if (now == v)
        return;
    if (now->lane && now->lane != own) {
        if (!room(r, &v->own, r->words * 64))
            return;
        own = v->own;
        memcpy(own, now->lane, r->threads * sizeof(*own));
    }
    if (now->unknown && now->unknown != masks) {
        if (!room(r, &v->masks, FT__SET_WORDS))
            return;
        masks = v->masks;
        memcpy(masks, now->unknown, sizeof(r->all.w));
    }
    *v = *now;
    v->own = own;
    v->masks = masks;
    v->lane = now->lane ? own : NULL;
    v->unknown = now->unknown ? masks : NULL;
    v->fresh = false;
    ft__value_touch(r, v);
}

/* Affine expressions of symbols that count ahead for none but `who` need not agree for
 * the rest. */
static uint32_t difference(ft__run *r, uint32_t was, uint32_t now, const ft__set *who)
{
    uint32_t d = ft__affine_sum(&r->affines, was, now, -1, 64);

    for (uint32_t k = 0; d && k < r->n_summaries; k++) {
        bool covered = true;

        for (uint32_t w = 0; w < r->words; w++)
            covered &= (r->summary[k].active.w[w] & ~who->w[w]) == 0;
        if (covered)
            d = ft__affine_without(&r->affines, d, r->summary[k].symbol);
    }
    return d;
}

static void merge(ft__run *r, ft__lane_value *v, const ft__lane_value *now,
                  const ft__set *who, bool hard)
{
    const uint32_t d =
        v->affine == now->affine ? 0 : difference(r, v->affine, now->affine, who);

    ft__value_touch(r, v);
    if (d && hard)
        ft__affine_pin(&r->affines, d);
    v->rough |= now->rough || (d && !hard);
    v->affine = now->affine;
    if ((!v->lane && !now->lane && v->base == now->base) || !ft__value_own(r, v))
        return;
    for (uint32_t k = 0; k < r->words; k++)
        for (uint64_t m = who->w[k]; m; m &= m - 1) {
            const uint32_t l = k * 64 + (uint32_t)__builtin_ctzll(m);

            v->lane[l] = now->lane ? now->lane[l] : now->base;
        }
}

bool ft__value_is_whole(const ft__run *r, const ft__frame *f, uint32_t slot,
                        const ft__set *who)
{
    return f->value[slot].fresh || ft__set_same(r, who, &f->present) ||
           (f->part->within[slot] && ft__set_same(r, who, &f->here));
}

void ft__value_put(ft__run *r, ft__frame *f, uint32_t slot, const ft__lane_value *now,
                   const ft__set *who, bool hard)
{
    ft__lane_value *v = &f->value[slot];

    if (ft__value_is_whole(r, f, slot, who)) {
        replace(r, v, now);
        return;
    }
    ft__trace_bar(r, ft__trace_words(r, v, 1) | ft__trace_words(r, now, 1));
    if (now->nothing) {
        ft__value_forget(r, v, who);
        return;
    }
    if (v->nothing) {
        /* What is not written stays unknown; lanes are of `now`. */
        replace(r, v, now);
        if (!own_unknown(r, v))
            return;
        for (uint32_t k = 0; k < r->words; k++)
            v->unknown[k] |= r->all.w[k] & ~who->w[k];
        return;
    }
    if ((v->unknown || now->unknown) && own_unknown(r, v))
        for (uint32_t k = 0; k < r->words; k++)
            v->unknown[k] = (v->unknown[k] & ~who->w[k]) |
                            (now->unknown ? now->unknown[k] & who->w[k] : 0);
    merge(r, v, now, who, hard);
}

static const uint64_t *lanes_of(ft__run *r, unsigned sreg)
{
    uint64_t **at = &r->special[sreg];

    if (*at || !room(r, at, r->words * 64))
        return *at;
    for (uint32_t l = 0; l < r->threads; l++) {
        const uint32_t lane = l % 32;
        const uint32_t bit = (uint32_t)1 << lane;

        switch (sreg) {
        case FT__SREG_LANEID: (*at)[l] = lane; break;
        case FT__SREG_WARPID: (*at)[l] = l / 32; break;
        case FT__SREG_LANEMASK_EQ: (*at)[l] = bit; break;
        case FT__SREG_LANEMASK_LT: (*at)[l] = bit - 1; break;
        case FT__SREG_LANEMASK_LE: (*at)[l] = bit | (bit - 1); break;
        case FT__SREG_LANEMASK_GE: (*at)[l] = ~(bit - 1); break;
        case FT__SREG_LANEMASK_GT: (*at)[l] = ~(bit | (bit - 1)); break;
        default: break;
        }
        (*at)[l] &= UINT32_MAX;
    }
    return *at;
}

/* 0 to 2: x to z of a register's four; 3: w. */
static uint32_t axis(uint32_t sreg, uint32_t x)
{
    return sreg - x;
}

static void of_block(ft__run *r, ft__lane_value *out, uint32_t a)
{
    out->base = a < 3 ? r->at[a] : 0;
    if (a < 3 && r->grid[a] > 1)
        out->affine = ft__affine_symbol(&r->affines, a);
}

static bool clustered(const ft__run *r)
{
    return r->cluster[0] > 1 || r->cluster[1] > 1 || r->cluster[2] > 1;
}

/* Places in clusters; of clusters of several blocks only of this block. */
static void of_cluster(ft__run *r, ft__lane_value *out, uint32_t sreg)
{
    const uint32_t size = r->cluster[0] * r->cluster[1] * r->cluster[2];
    uint32_t in[3];

    for (uint32_t k = 0; k < 3; k++) {
        in[k] = r->at[k] % r->cluster[k];
        if (clustered(r))
            ft__affine_pin(&r->affines,
                           r->grid[k] > 1 ? ft__affine_symbol(&r->affines, k) : 0);
    }
    switch (sreg) {
    case FT__SREG_CLUSTER_CTARANK:
        out->base = in[0] + r->cluster[0] * (in[1] + (uint64_t)r->cluster[1] * in[2]);
        break;
    case FT__SREG_CLUSTER_NCTARANK: out->base = size; break;
    case FT__SREG_IS_EXPLICIT_CLUSTER: out->base = clustered(r); break;
    default:
        if (sreg >= FT__SREG_CLUSTER_NCTAID_X)
            out->base = sreg <= FT__SREG_CLUSTER_NCTAID_Z
                            ? r->cluster[axis(sreg, FT__SREG_CLUSTER_NCTAID_X)]
                            : 0;
        else if (sreg >= FT__SREG_CLUSTER_CTAID_X)
            out->base = sreg <= FT__SREG_CLUSTER_CTAID_Z
                            ? in[axis(sreg, FT__SREG_CLUSTER_CTAID_X)]
                            : 0;
        else if (sreg >= FT__SREG_NCLUSTERID_X)
            out->base = sreg <= FT__SREG_NCLUSTERID_Z
                            ? r->grid[axis(sreg, FT__SREG_NCLUSTERID_X)] /
                                  r->cluster[axis(sreg, FT__SREG_NCLUSTERID_X)]
                            : 0;
        else if (!clustered(r))
            of_block(r, out, axis(sreg, FT__SREG_CLUSTERID_X));
        else
            out->base = sreg <= FT__SREG_CLUSTERID_Z
                            ? r->at[axis(sreg, FT__SREG_CLUSTERID_X)] /
                                  r->cluster[axis(sreg, FT__SREG_CLUSTERID_X)]
                            : 0;
    }
}

static void get_special(ft__run *r, ft__lane_value *out, uint32_t sreg)
{
    switch (sreg) {
    case FT__SREG_TID_X:
    case FT__SREG_TID_Y:
    case FT__SREG_TID_Z:
        out->lane = r->block[axis(sreg, FT__SREG_TID_X)] > 1
                        ? r->tid[axis(sreg, FT__SREG_TID_X)]
                        : NULL;
        break;
    case FT__SREG_NTID_X:
    case FT__SREG_NTID_Y:
    case FT__SREG_NTID_Z: out->base = r->block[axis(sreg, FT__SREG_NTID_X)]; break;
    case FT__SREG_CTAID_X:
    case FT__SREG_CTAID_Y:
    case FT__SREG_CTAID_Z: of_block(r, out, axis(sreg, FT__SREG_CTAID_X)); break;
    case FT__SREG_NCTAID_X:
    case FT__SREG_NCTAID_Y:
    case FT__SREG_NCTAID_Z: out->base = r->grid[axis(sreg, FT__SREG_NCTAID_X)]; break;
    case FT__SREG_TID_W:
    case FT__SREG_NTID_W:
    case FT__SREG_CTAID_W:
    case FT__SREG_NCTAID_W: break;
    case FT__SREG_NWARPID: out->base = r->warps; break;
    case FT__SREG_DYNAMIC_SMEM_SIZE: out->base = r->dynamic_shared; break;
    case FT__SREG_LANEID:
    case FT__SREG_WARPID:
    case FT__SREG_LANEMASK_EQ:
    case FT__SREG_LANEMASK_LE:
    case FT__SREG_LANEMASK_LT:
    case FT__SREG_LANEMASK_GE:
    case FT__SREG_LANEMASK_GT:
        out->lane = (uint64_t *)(uintptr_t)lanes_of(r, sreg);
        break;
    case FT__SREG_CLUSTER_CTARANK:
    case FT__SREG_CLUSTER_NCTARANK:
    case FT__SREG_IS_EXPLICIT_CLUSTER: of_cluster(r, out, sreg); break;
    default:
        if (sreg >= FT__SREG_CLUSTERID && sreg <= FT__SREG_CLUSTER_NCTAID_W)
            of_cluster(r, out, sreg);
        else
            out->nothing = true;
        break;
    }
}

void ft__value_get(ft__run *r, ft__lane_value *out, ft__frame *f,
                   const ft__step_source *s)
{
    static const ft__lane_value zero;

    switch (s->kind) {
    case FT__SOURCE_SLOT:
        if (s->index == FT__NO_SLOT) {
            *out = zero;
            out->nothing = true;
            return;
        }
        *out = f->value[s->index];
        if (out->fresh)
            out->nothing = true;
        return;
    case FT__SOURCE_CONSTANT:
        *out = zero;
        out->base = s->bits;
        return;
    default:
        *out = zero;
        get_special(r, out, s->index);
        return;
    }
}

void ft__run_guard(ft__run *r, ft__lane_condition *c, ft__frame *f, uint32_t slot,
                   bool negated)
{
    const ft__lane_value *v = &f->value[slot];

    ft__trace_bar(r, ft__trace_words(r, v, 1));
    c->any_open = v->nothing || v->fresh || v->unknown;
    if (v->nothing || v->fresh) {
        c->open = r->all;
        memset(&c->holds, 0, sizeof(c->holds));
        return;
    }
    for (uint32_t k = 0; k < r->words; k++) {
        uint64_t m = 0;

        if (!v->lane)
            m = v->base & 1 ? ~(uint64_t)0 : 0;
        for (uint32_t l = 0; v->lane && l < 64; l++)
            m |= (v->lane[k * 64 + l] & 1) << l;
        m = negated ? ~m : m;
        c->open.w[k] = v->unknown ? v->unknown[k] & r->all.w[k] : 0;
        c->holds.w[k] = m & r->all.w[k] & ~c->open.w[k];
    }
}
