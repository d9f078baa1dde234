/* Memory of one pass: how long every tensor lives, and where it lies.
 *
 * Offsets by "greedy by size" (Pisarchyk, Lee 2020, arXiv 2001.03288): largest
 * tensor first, each into the smallest gap between those already placed that
 * live at the same time. */
#include <stdlib.h>
#include <string.h>

#include "foretell/graph.h"

enum { ALIGN = 64 };

/* One piece of memory: alive from node `first` to node `last`, both included. */
struct piece {
    uint64_t bytes;
    uint64_t offset;
    uint32_t first;
    uint32_t last;
    uint32_t tensor;
};

static int by_size(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;

    if (p->bytes != q->bytes)
        return p->bytes < q->bytes ? 1 : -1;
    return p->tensor < q->tensor ? -1 : p->tensor > q->tensor;
}

static void use(struct piece *piece, const ft_graph *g, uint32_t tensor, uint32_t node)
{
    struct piece *p = &piece[ft_graph_tensor(g, tensor)->storage];

    if (p->first == FT_NONE)
        p->first = node;
    if (p->last == FT_NONE || p->last < node)
        p->last = node;
}

/* Fill piece[] (one per tensor), then keep those that need memory in front;
 * returns how many. */
static uint32_t find_lives(struct piece *piece, const ft_graph *g)
{
    uint32_t n_tensors = ft_graph_n_tensors(g), n_nodes = ft_graph_n_nodes(g), n = 0;

    for (uint32_t i = 0; i < n_tensors; i++) {
        const ft_tensor *t = ft_graph_tensor(g, i);
        int64_t bytes = ft_tensor_bytes(&t->shape, t->dtype);

        piece[i] = (struct piece){.first = FT_NONE, .last = FT_NONE, .tensor = i};
        piece[i].bytes = ((uint64_t)bytes + ALIGN - 1) / ALIGN * ALIGN;
        if (t->role == FT_ROLE_INPUT && t->storage == i) {
            piece[i].first = 0;
            piece[i].last = n_nodes ? n_nodes - 1 : 0;
        }
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        const ft_node *node = ft_graph_node(g, i);

        for (uint32_t j = 0; j < node->n_in; j++)
            use(piece, g, node->in[j], i);
        for (uint32_t j = 0; j < node->n_out; j++)
            use(piece, g, node->out[j], i);
    }
    for (uint32_t i = 0; i < n_tensors; i++)
        if (ft_graph_tensor(g, i)->is_output)
            use(piece, g, i, n_nodes ? n_nodes - 1 : 0);
    for (uint32_t i = 0; i < n_tensors; i++) {
        const ft_tensor *t = ft_graph_tensor(g, i);

        if (t->role != FT_ROLE_WEIGHT && t->storage == i && piece[i].last != FT_NONE)
            piece[n++] = piece[i];
    }
    return n;
}

static int alive_together(const struct piece *a, const struct piece *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Place piece[i] among the first n placed ones, kept in order of offset. */
static uint64_t place(struct piece *p, struct piece *const *placed, uint32_t n)
{
    uint64_t end = 0, best = UINT64_MAX, gap = UINT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        if (!alive_together(p, placed[i]))
            continue;
        if (placed[i]->offset > end) {
            uint64_t room = placed[i]->offset - end;

            if (room >= p->bytes && room < gap) {
                gap = room;
                best = end;
            }
        }
        if (placed[i]->offset + placed[i]->bytes > end)
            end = placed[i]->offset + placed[i]->bytes;
    }
    p->offset = best != UINT64_MAX ? best : end;
    return p->offset + p->bytes;
}

/* Largest sum of pieces alive at one node. change[] has n_nodes + 1 elements. */
static uint64_t peak(const struct piece *piece, uint32_t n, int64_t *change,
                     uint32_t n_nodes)
{
    int64_t now = 0, most = 0;

    for (uint32_t i = 0; i < n; i++) {
        change[piece[i].first] += (int64_t)piece[i].bytes;
        change[piece[i].last + 1] -= (int64_t)piece[i].bytes;
    }
    for (uint32_t i = 0; i <= n_nodes; i++) {
        now += change[i];
        most = now > most ? now : most;
    }
    return (uint64_t)most;
}

ft_status ft_plan_make(ft_plan *out, const ft_graph *g, ft_error *err)
{
    uint32_t n_tensors = ft_graph_n_tensors(g), n_nodes = ft_graph_n_nodes(g), n;
    struct piece *piece = malloc((n_tensors + 1) * sizeof(*piece));
    struct piece **placed = malloc((n_tensors + 1) * sizeof(*placed));
    int64_t *change = calloc(n_nodes + 2, sizeof(*change));
    ft_status st = FT_OK;

    *out = (ft_plan){.n_tensors = n_tensors};
    out->offset = malloc((n_tensors + 1) * sizeof(*out->offset));
    if (!piece || !placed || !change || !out->offset) {
        st = ft_fail(err, FT_ENOMEM, 0, "memory plan of %s", ft_graph_name(g));
        ft_plan_free(out);
        goto done;
    }
    memset(out->offset, 0xff, n_tensors * sizeof(*out->offset));
    n = find_lives(piece, g);
    qsort(piece, n, sizeof(*piece), by_size);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t end = place(&piece[i], placed, i);
        uint32_t at = i;

        out->arena_bytes = end > out->arena_bytes ? end : out->arena_bytes;
        out->offset[piece[i].tensor] = piece[i].offset;
        for (; at > 0 && placed[at - 1]->offset > piece[i].offset; at--)
            placed[at] = placed[at - 1];
        placed[at] = &piece[i];
    }
    out->lower_bound_bytes = peak(piece, n, change, n_nodes);
    for (uint32_t i = 0; i < n_tensors; i++)
        out->offset[i] = out->offset[ft_graph_tensor(g, i)->storage];
done:
    free(piece);
    free(placed);
    free(change);
    return st;
}

void ft_plan_free(ft_plan *p)
{
    free(p->offset);
    p->offset = NULL;
}
