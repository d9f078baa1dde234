#include <stdlib.h>
#include <string.h>

#include "ptx_interpret/machine.h"

/* Where the sides of a split meet: the immediate post-dominator, from the definition by
 * sets. The counts are held against this, so nothing here is shared with what finds
 * post-dominators for them.
 *
 * Nodes are stretches without a branch, and one end behind them. set[n] has what every
 * way from n to the end passes, n too; these lie on one chain, so the nearest of them
 * is the one with the largest set itself. A return or exit under a guard is no way to
 * the end: it takes lanes away, the others go on. Bit g.n is of no node: it stays where
 * there is no way to the end at all, in endless loops. */

typedef struct graph {
    const ft__ptx_function *f;
    uint32_t *node;  /* of each instruction, and of the end */
    uint32_t *first; /* instruction of each node */
    uint64_t *set;   /* [n][words] */
    uint32_t n, words;
} graph;

static bool ends(const ft__ptx_insn *i)
{
    return i->guard < 0 && (i->opcode == FT__PTX_RET || i->opcode == FT__PTX_EXIT ||
                            i->opcode == FT__PTX_TRAP);
}

static bool branches(const ft__ptx_insn *i)
{
    return i->opcode == FT__PTX_BRA || i->opcode == FT__PTX_BRX;
}

/* Targets of a branch, and how many. */
static uint32_t targets_of(const uint32_t **out, const ft__ptx_function *f,
                           const ft__ptx_insn *i)
{
    for (uint32_t k = 0; k < i->n_operands; k++) {
        const ft__ptx_operand *o = &f->operand[i->operands + k];

        if (o->kind == FT__PTX_LABEL) {
            *out = &o->index;
            return 1;
        }
        if (o->kind == FT__PTX_TARGETS) {
            *out = f->targets[o->index].index;
            return f->targets[o->index].n;
        }
    }
    return 0;
}

static void make_nodes(graph *g, bool *begins)
{
    const ft__ptx_function *f = g->f;
    const uint32_t *to = NULL;

    begins[0] = begins[f->n_insns] = true;
    for (uint32_t k = 0; k < f->n_insns; k++) {
        const ft__ptx_insn *i = &f->insn[k];

        if (branches(i) || ends(i))
            begins[k + 1] = true;
        for (uint32_t t = branches(i) ? targets_of(&to, f, i) : 0; t-- > 0;)
            begins[to[t]] = true;
    }
    for (uint32_t k = 0; k <= f->n_insns; k++) {
        if (begins[k])
            g->first[g->n++] = k;
        g->node[k] = g->n - 1;
    }
}

static void meet_with(const graph *g, uint64_t *set, uint32_t other)
{
    for (uint32_t k = 0; k < g->words; k++)
        set[k] &= g->set[(size_t)other * g->words + k];
}

/* What all ways out of node n pass, and n. */
static bool update(const graph *g, uint32_t n, uint64_t *set)
{
    const uint32_t last = g->first[n + 1] - 1, end = g->n - 1;
    const ft__ptx_insn *i = &g->f->insn[last];
    uint64_t *now = g->set + (size_t)n * g->words;
    const uint32_t *to = NULL;
    bool changed;

    memset(set, 0xff, g->words * sizeof *set);
    for (uint32_t t = branches(i) ? targets_of(&to, g->f, i) : 0; t-- > 0;)
        meet_with(g, set, g->node[to[t]]);
    if (ends(i))
        meet_with(g, set, end);
    else if (!branches(i) || i->guard >= 0)
        meet_with(g, set, n + 1);
    set[n / 64] |= (uint64_t)1 << n % 64;
    changed = memcmp(set, now, g->words * sizeof *set) != 0;
    memcpy(now, set, g->words * sizeof *set);
    return changed;
}

static uint32_t size_of(const graph *g, uint32_t n)
{
    uint32_t size = 0;

    for (uint32_t k = 0; k < g->n; k++)
        size += g->set[(size_t)n * g->words + k / 64] >> k % 64 & 1;
    return size;
}

/* No way to the end, or nothing before the end: they never meet. */
static uint32_t nearest(const graph *g, uint32_t n, const uint32_t *size)
{
    uint32_t best = g->n - 1;

    if (g->set[(size_t)n * g->words + g->n / 64] >> g->n % 64 & 1)
        return FT__PTX_NOWHERE;
    for (uint32_t k = 0; k < g->n; k++)
        if (k != n && (g->set[(size_t)n * g->words + k / 64] >> k % 64 & 1) &&
            size[k] > size[best])
            best = k;
    return best == g->n - 1 ? FT__PTX_NOWHERE : g->first[best];
}

static void solve(graph *g, uint64_t *set, uint32_t *size, uint32_t *reconvergence)
{
    bool changed = true;

    memset(g->set, 0xff, (size_t)g->n * g->words * sizeof *g->set);
    memset(g->set + (size_t)(g->n - 1) * g->words, 0, g->words * sizeof *g->set);
    g->set[(size_t)(g->n - 1) * g->words + (g->n - 1) / 64] = (uint64_t)1
                                                              << (g->n - 1) % 64;
    while (changed) {
        changed = false;
        for (uint32_t n = g->n - 1; n-- > 0;)
            changed |= update(g, n, set);
    }
    for (uint32_t n = 0; n < g->n; n++)
        size[n] = size_of(g, n);
    for (uint32_t k = 0; k < g->f->n_insns; k++)
        reconvergence[k] =
            branches(&g->f->insn[k]) ? nearest(g, g->node[k], size) : FT__PTX_NOWHERE;
}

ft_status ft__ptx_reconvergence(uint32_t *reconvergence, const ft__ptx_function *f)
{
    graph g = {.f = f};
    bool *begins = calloc(f->n_insns + 1, sizeof *begins);
    uint64_t *set = NULL;
    uint32_t *size = NULL;
    ft_status st = FT_ENOMEM;

    g.node = calloc(f->n_insns + 1, sizeof *g.node);
    g.first = calloc(f->n_insns + 2, sizeof *g.first);
    if (begins == NULL || g.node == NULL || g.first == NULL)
        goto done;
    make_nodes(&g, begins);
    g.words = g.n / 64 + 1;
    g.set = calloc((size_t)g.n * g.words, sizeof *g.set);
    set = calloc(g.words, sizeof *set);
    size = calloc(g.n, sizeof *size);
    if (g.set == NULL || set == NULL || size == NULL)
        goto done;
    solve(&g, set, size, reconvergence);
    st = FT_OK;
done:
    free(size);
    free(set);
    free(g.set);
    free(g.first);
    free(g.node);
    free(begins);
    return st;
}
