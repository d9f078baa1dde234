/* Memory of one pass: how long every tensor lives, and where it lies. */
#include <stdlib.h>
#include <string.h>

#include "foretell/graph.h"
#include "graph/lives.h"
#include "graph/place.h"

/* ALIGN: of every offset. MANY: of more pieces only so many of the largest are
 * placed by size, which costs their square. */
enum { ALIGN = 64, MANY = 1024 };

struct memory_plan {
    ft__piece *piece; /* largest first */
    ft__piece *other; /* a second arrangement of them */
    uint32_t n;
    uint32_t n_nodes;
};

/* At least one unit: no two pieces are at one place. */
static uint64_t aligned(uint64_t bytes)
{
    return bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

static void find_pieces(struct memory_plan *p, const ft_graph *g, const ft__life *life)
{
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->role == FT_ROLE_WEIGHT || t->role == FT_ROLE_STATE || t->storage != i ||
            life[i].last == FT_NONE)
            continue;
        p->piece[p->n++] = (ft__piece){.bytes = aligned(life[i].bytes),
                                       .first = life[i].first,
                                       .last = life[i].last,
                                       .tensor = i};
    }
}

/* Largest sum of pieces alive at one node; false: out of memory. */
static bool find_peak(const struct memory_plan *p, uint64_t *out)
{
    uint64_t *change = calloc(p->n_nodes + 2, sizeof(*change)), now = 0;

    *out = 0;
    if (!change)
        return false;
    for (uint32_t i = 0; i < p->n; i++) {
        change[p->piece[i].first] += p->piece[i].bytes;
        change[p->piece[i].last + 1] -= p->piece[i].bytes;
    }
    for (uint32_t i = 0; i <= p->n_nodes; i++) {
        now += change[i];
        *out = now > *out ? now : *out;
    }
    free(change);
    return true;
}

/* Two arrangements, the better one stays in piece[]: the largest by size and what
 * they leave above them in order of time, or all in order of time. */
static bool arrange(struct memory_plan *p, uint64_t *end)
{
    uint32_t large = p->n < MANY ? p->n : MANY;
    uint64_t other;

    ft__place_sort(p->piece, p->n);
    memcpy(p->other, p->piece, p->n * sizeof(*p->piece));
    if (!ft__place_by_size(p->piece, large, 0, end) ||
        !ft__place_in_time(p->piece + large, p->n - large, p->n_nodes, *end, end) ||
        !ft__place_in_time(p->other, p->n, p->n_nodes, 0, &other))
        return false;
    if (other < *end) {
        ft__piece *swap = p->piece;

        p->piece = p->other;
        p->other = swap;
        *end = other;
    }
    return true;
}

static ft_status make(ft_plan *out, struct memory_plan *p, const ft_graph *g,
                      const ft__life *life)
{
    find_pieces(p, g, life);
    if (!find_peak(p, &out->lower_bound_bytes) || !arrange(p, &out->arena_bytes))
        return FT_ENOMEM;
    memset(out->offset, 0xff, out->n_tensors * sizeof(*out->offset));
    for (uint32_t i = 0; i < p->n; i++)
        out->offset[p->piece[i].tensor] = p->piece[i].offset;
    for (uint32_t i = 0; i < out->n_tensors; i++)
        out->offset[i] = out->offset[g->tensor[i].storage];
    return FT_OK;
}

ft_status ft_plan_make(ft_plan *out, const ft_graph *g, ft_error *err)
{
    uint32_t n = g->n_tensors, n_nodes = g->n_nodes;
    struct memory_plan p = {.n_nodes = n_nodes ? n_nodes : 1};
    ft__life *life;
    ft_status st = ft__lives_find(&life, g, err);

    *out = (ft_plan){.n_tensors = n};
    if (st)
        return st;
    p.piece = malloc((n + 1) * sizeof(*p.piece));
    p.other = malloc((n + 1) * sizeof(*p.other));
    out->offset = malloc((n + 1) * sizeof(*out->offset));
    if (!p.piece || !p.other || !out->offset || make(out, &p, g, life)) {
        st = ft_fail(err, FT_ENOMEM, 0, "memory plan of %s", g->name);
        ft_plan_free(out);
    }
    free(life);
    free(p.piece);
    free(p.other);
    return st;
}

void ft_plan_free(ft_plan *p)
{
    free(p->offset);
    p->offset = NULL;
}
