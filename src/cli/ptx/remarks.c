/* What stands out of a launch for who has to make it faster, as sentences. Each is of
 * the least that its counts show, so that none hangs on a guess. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "report/units.h"

double ft__ptx_ideal(const ft_ptx_counts *c, ft_ptx_space s, int stored)
{
    bool global = s == FT_PTX_GLOBAL;
    uint64_t n = global ? c->requests[stored].value : c->shared[stored].value;
    uint64_t took = global ? c->sectors[stored].value : c->wavefronts[stored].value;
    double least = ft__ptx_ratio(c->bytes[s][stored].value, n) / (global ? 32 : 128);

    if (least < 1)
        least = 1;
    return least < ft__ptx_ratio(took, n) ? least : ft__ptx_ratio(took, n);
}

size_t ft__ptx_heaviest(const ft_ptx_block **out, size_t n, const ft__ptx_counted *v)
{
    size_t found = 0;

    for (size_t i = 0; i < v->parts.n_blocks; i++) {
        const ft_ptx_block *b = &v->parts.block[i];
        size_t at = found;

        if (!ft__ptx_weight(b))
            continue;
        while (at > 0 && ft__ptx_weight(out[at - 1]) < ft__ptx_weight(b))
            at--;
        if (at == n)
            continue;
        if (found < n)
            found++;
        memmove(&out[at + 1], &out[at], (found - at - 1) * sizeof(*out));
        out[at] = b;
    }
    return found;
}

struct remarks {
    struct {
        double weight; /* share of the launch that it is about, roughly */
        ft__ptx_remark r;
    } v[16];
    size_t n;
};

FT_PRINTF(3, 4)
static void say(struct remarks *s, double weight, const char *fmt, ...)
{
    va_list ap;

    if (s->n == sizeof(s->v) / sizeof(s->v[0]))
        return;
    va_start(ap, fmt);
    vsnprintf(s->v[s->n].r.s, sizeof(s->v[0].r.s), fmt, ap);
    va_end(ap);
    s->v[s->n++].weight = weight;
}

static const char *accesses(int stored)
{
    return stored ? "stores" : "loads";
}

/* The access that wastes most sectors (cycles), NULL: none wastes any; *least: what a
 * request would need. */
static const ft_ptx_access *wasteful(double *least, const ft__ptx_counted *v,
                                     ft_ptx_space space, int stored)
{
    const ft_ptx_access *worst = NULL;
    double most = 0;

    for (size_t i = 0; i < v->parts.n_accesses; i++) {
        const ft_ptx_access *a = &v->parts.access[i];
        /* 32 threads side by side, in sectors of 32 or cycles of 128 bytes. */
        double ideal = a->bytes / (space == FT_PTX_GLOBAL ? 1.0 : 4.0);
        double waste =
            (double)a->took.low - (double)a->requests.high * (ideal < 1 ? 1 : ideal);

        if (a->space != space || a->stored != stored || waste <= most)
            continue;
        most = waste;
        worst = a;
        *least = ideal < 1 ? 1 : ideal;
    }
    return worst;
}

/* "; worst are those of saxpy.cu:21, 32.0 instead of 4.0" */
static ft__ptx_remark of_line(const ft__ptx_counted *v, ft_ptx_space space, int stored)
{
    ft__ptx_remark r = {""};
    double least = 0;
    const ft_ptx_access *a = wasteful(&least, v, space, stored);

    if (a && a->source)
        snprintf(r.s, sizeof(r.s),
                 "; worst are those of %.100s:%u, %.1f instead of %.1f",
                 ft__path_name(a->source), a->source_line,
                 ft__ptx_ratio(a->took.low, a->requests.high), least);
    else if (a)
        snprintf(r.s, sizeof(r.s), "; worst are those of line %u, %.1f instead of %.1f",
                 a->line, ft__ptx_ratio(a->took.low, a->requests.high), least);
    return r;
}

/* Sectors or cycles a request, as few as the counts allow, and what would do, as many.
 */
static bool is_wasteful(double *took, double *ideal, const ft__ptx_counted *v,
                        ft_ptx_space space, int stored)
{
    const ft_ptx_counts *c = &v->counts;
    const bool global = space == FT_PTX_GLOBAL;
    const ft_ptx_tally *n = &(global ? c->requests : c->shared)[stored];
    const ft_ptx_tally *all = &(global ? c->sectors : c->wavefronts)[stored];

    *took = ft__ptx_ratio(all->low, n->high);
    *ideal = fmax(1, ft__ptx_ratio(c->bytes[space][stored].high, n->low) /
                         (global ? 32 : 128));
    return *took > 1.25 * *ideal;
}

static void on_sectors(struct remarks *s, const ft__ptx_counted *v, int stored)
{
    const ft_ptx_counts *c = &v->counts;
    const uint64_t all = c->sectors[0].value + c->sectors[1].value;
    double took, ideal;

    if (is_wasteful(&took, &ideal, v, FT_PTX_GLOBAL, stored))
        say(s, ft__ptx_ratio(c->sectors[stored].value, all) * (1 - ideal / took),
            "global %s touch %.1f sectors a request where %.1f would do%s",
            accesses(stored), took, ideal, of_line(v, FT_PTX_GLOBAL, stored).s);
}

static void on_conflicts(struct remarks *s, const ft__ptx_counted *v, int stored)
{
    const ft_ptx_counts *c = &v->counts;
    double took, ideal;

    if (is_wasteful(&took, &ideal, v, FT_PTX_SHARED, stored))
        say(s, ft__ptx_ratio(c->wavefronts[stored].value, ft__ptx_sum(c->warp)),
            "shared %s take %.1f cycles a request where %.1f would do (bank "
            "conflicts)%s",
            accesses(stored), took, ideal, of_line(v, FT_PTX_SHARED, stored).s);
}

static void on_local(struct remarks *s, const ft_ptx_counts *c)
{
    uint64_t bytes = c->bytes[FT_PTX_LOCAL][0].low + c->bytes[FT_PTX_LOCAL][1].low;

    if (bytes)
        say(s, ft__ptx_ratio(bytes, bytes + ft__ptx_global_bytes(c)),
            "%s go through local memory: an array that is indexed by what is not known "
            "to the compiler, or a call",
            ft__text_bytes((double)bytes).s);
}

static void on_lanes(struct remarks *s, const ft_ptx_counts *c)
{
    double lanes = ft__ptx_ratio(ft__ptx_sum(c->on), ft__ptx_sum(c->warp));
    uint64_t size = c->blocks ? c->threads / c->blocks : 0;

    if (lanes < 28)
        say(s, 1 - lanes / 32,
            "an instruction does something for %.1f threads of 32 on average%s", lanes,
            size % 32 ? ", with blocks that are no multiple of 32" : "");
}

static void on_spills(struct remarks *s, const ft__ptxas_entry *e)
{
    if (e && e->spill_stores + e->spill_loads)
        say(s, 1,
            "ptxas spills registers: its code stores %s a thread to local memory and "
            "loads %s, which is not in the counts",
            ft__text_bytes((double)e->spill_stores).s,
            ft__text_bytes((double)e->spill_loads).s);
}

static void on_divergence(struct remarks *s, const ft_ptx_counts *c)
{
    double share = ft__ptx_ratio(c->divergent.low, c->branches.high);

    if (share > 0.05)
        say(s, share / 4, "%s of the warps' branches diverge",
            ft__text_percent(share).s);
}

static void on_block(struct remarks *s, const ft__ptx_counted *v)
{
    const ft_ptx_block *b;
    double share;

    if (!ft__ptx_heaviest(&b, 1, v))
        return;
    share = ft__ptx_ratio(ft__ptx_weight(b), ft__ptx_sum(v->counts.warp));
    if (share > 0.6 && v->parts.n_blocks > 1 && b->source)
        say(s, 0.3, "the %u instructions of lines %u to %u, from %s:%u, are %s of all",
            b->instructions, b->line, b->last_line, ft__path_name(b->source),
            b->source_line, ft__text_percent(share).s);
    else if (share > 0.6 && v->parts.n_blocks > 1)
        say(s, 0.3, "the %u instructions of lines %u to %u are %s of all",
            b->instructions, b->line, b->last_line, ft__text_percent(share).s);
}

static void on_classes(struct remarks *s, const ft_ptx_counts *c)
{
    const ft_ptx_tally *n = c->warp;
    uint64_t all = ft__ptx_sum(n);
    uint64_t useful = n[FT_PTX_FP32].value + n[FT_PTX_FP64].value +
                      n[FT_PTX_FP16].value + n[FT_PTX_SPECIAL].value +
                      n[FT_PTX_FDIV].value + n[FT_PTX_TENSOR].value;
    uint64_t address = n[FT_PTX_INT].value + n[FT_PTX_MUL].value + n[FT_PTX_DIV].value +
                       n[FT_PTX_LOGIC].value + n[FT_PTX_COMPARE].value;

    if (useful && address > 3 * useful)
        say(s, ft__ptx_ratio(address, all) / 2,
            "%.1f integer instructions stand beside each floating-point one",
            ft__ptx_ratio(address, useful));
    if (ft__ptx_ratio(n[FT_PTX_DIV].value, all) > 0.02)
        say(s, 5 * ft__ptx_ratio(n[FT_PTX_DIV].value, all),
            "%s of the instructions divide integers, which takes some 20 of the "
            "machine's each",
            ft__text_percent(ft__ptx_ratio(n[FT_PTX_DIV].value, all)).s);
    if (n[FT_PTX_FP64].value && !c->flops[1].value)
        return;
    if (ft__ptx_ratio(n[FT_PTX_FP64].value, all) > 0.005 && n[FT_PTX_FP32].value)
        say(s, 8 * ft__ptx_ratio(n[FT_PTX_FP64].value, all),
            "%s of the instructions are fp64, beside fp32: a constant without f, "
            "perhaps",
            ft__text_percent(ft__ptx_ratio(n[FT_PTX_FP64].value, all)).s);
}

static int by_weight(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

size_t ft__ptx_remarks(ft__ptx_remark out[FT__PTX_REMARKS], const ft__ptx_counted *v)
{
    const ft_ptx_counts *c = &v->counts;
    struct remarks s = {.n = 0};

    for (int stored = 0; stored < 2; stored++) {
        on_sectors(&s, v, stored);
        on_conflicts(&s, v, stored);
    }
    on_local(&s, c);
    on_spills(&s, v->ptxas);
    on_divergence(&s, c);
    if (c->exact) {
        on_lanes(&s, c);
        on_block(&s, v);
        on_classes(&s, c);
    }
    qsort(s.v, s.n, sizeof(s.v[0]), by_weight);
    if (s.n > FT__PTX_REMARKS)
        s.n = FT__PTX_REMARKS;
    for (size_t i = 0; i < s.n; i++)
        out[i] = s.v[i].r;
    return s.n;
}
