/* Memory of one pass: how long every tensor lives, and where it lies. */
#include "graph/plan.h"

#include <stdlib.h>
#include <string.h>

#include "foretell/graph.h"

static const uint64_t MAX_BYTES = UINT64_C(1) << 62;

static void use(ft__life *life, const ft_graph *g, uint32_t tensor, uint32_t node)
{
    ft__life *p = &life[g->tensor[tensor].storage];

    if (p->first == FT_NONE)
        p->first = node;
    if (p->last == FT_NONE || p->last < node)
        p->last = node;
}

static void use_all(ft__life *life, const ft_graph *g)
{
    uint32_t n_nodes = g->n_nodes, end = n_nodes ? n_nodes - 1 : 0;

    for (uint32_t i = 0; i < n_nodes; i++) {
        const ft_node *node = &g->node[i];

        for (uint32_t j = 0; j < node->n_in; j++)
            use(life, g, node->in[j], i);
        for (uint32_t j = 0; j < node->n_params; j++) /* some are computed */
            use(life, g, node->params[j], i);
        for (uint32_t j = 0; j < node->n_out; j++)
            use(life, g, node->out[j], i);
    }
    for (uint32_t i = 0; i < g->n_outputs; i++)
        use(life, g, g->output[i], end);
}

ft_status ft__lives_find(ft__life **out, const ft_graph *g, ft_error *err)
{
    const uint32_t n = g->n_tensors, end = g->n_nodes ? g->n_nodes - 1 : 0;
    uint64_t all = 0;
    ft__life *life = malloc((n + 1) * sizeof(*life));

    *out = NULL;
    if (!life)
        return ft_fail(err, FT_ENOMEM, 0, "memory plan of %s", g->name);
    for (uint32_t i = 0; i < n; i++) {
        const ft_tensor *t = &g->tensor[i];
        int64_t bytes = ft_tensor_bytes(&t->shape, t->dtype);

        life[i] = (ft__life){bytes < 0 ? MAX_BYTES : (uint64_t)bytes, FT_NONE, FT_NONE};
        if (t->storage != i)
            continue;
        if (t->role == FT_ROLE_INPUT)
            life[i].first = 0, life[i].last = end;
        if (life[i].bytes >= MAX_BYTES / t->copies ||
            (all += t->copies * life[i].bytes) >= MAX_BYTES) {
            free(life);
            return ft_fail(err, FT_EINVAL, 0, "the tensors of %s are larger than %s",
                           g->name, "4 EiB together; check its dimensions");
        }
    }
    use_all(life, g);
    *out = life;
    return FT_OK;
}

/* Offsets by size.
 *
 * "Greedy by size" (Pisarchyk, Lee 2020, arXiv 2001.03288): largest piece first, each
 * into the smallest gap between those already placed that are needed at the same time.
 */
static int by_size(const void *a, const void *b)
{
    const ft__piece *p = a, *q = b;

    if (p->bytes != q->bytes)
        return p->bytes < q->bytes ? 1 : -1;
    return p->tensor < q->tensor ? -1 : p->tensor > q->tensor;
}

/* Order for ft__place_by_size(): larger before smaller. */
static void place_sort(ft__piece *piece, uint32_t n)
{
    qsort(piece, n, sizeof(*piece), by_size);
}

static bool alive_together(const ft__piece *a, const ft__piece *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Place *p among the first n placed ones, kept in order of offset. */
static uint64_t place(ft__piece *p, ft__piece *const *placed, uint32_t n, uint64_t base)
{
    uint64_t end = base, best = UINT64_MAX, gap = UINT64_MAX;

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

bool ft__place_by_size(ft__piece *piece, uint32_t n, uint64_t base, uint64_t *end)
{
    ft__piece **placed = malloc((n + 1) * sizeof(*placed));

    *end = base;
    if (!placed)
        return false;
    place_sort(piece, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t last = place(&piece[i], placed, i, base);
        uint32_t at = i;

        *end = last > *end ? last : *end;
        for (; at > 0 && placed[at - 1]->offset > piece[i].offset; at--)
            placed[at] = placed[at - 1];
        placed[at] = &piece[i];
    }
    free(placed);
    return true;
}

/* Offsets in time: best fit, as an allocator that sees every release. */

/* Free memory below the highest piece, in order of offset; no two touch. */
struct hole {
    uint64_t offset, bytes;
};

struct heap {
    struct hole *hole; /* room for one per piece, and one more */
    uint32_t n;
    uint64_t top; /* above it everything is free */
};

static uint64_t take(struct heap *h, uint64_t bytes)
{
    uint32_t best = UINT32_MAX;
    uint64_t offset;

    for (uint32_t i = 0; i < h->n; i++)
        if (h->hole[i].bytes >= bytes &&
            (best == UINT32_MAX || h->hole[i].bytes < h->hole[best].bytes))
            best = i;
    if (best == UINT32_MAX) {
        /* A hole right below the top grows. */
        bool grows =
            h->n && h->hole[h->n - 1].offset + h->hole[h->n - 1].bytes == h->top;

        offset = grows ? h->hole[--h->n].offset : h->top;
        h->top = offset + bytes;
        return offset;
    }
    offset = h->hole[best].offset;
    h->hole[best].offset += bytes;
    h->hole[best].bytes -= bytes;
    if (h->hole[best].bytes == 0) {
        h->n--;
        memmove(&h->hole[best], &h->hole[best + 1], (h->n - best) * sizeof(*h->hole));
    }
    return offset;
}

/* The first hole behind `offset`. */
static uint32_t find(const struct heap *h, uint64_t offset)
{
    uint32_t low = 0, high = h->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (h->hole[mid].offset < offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void give(struct heap *h, uint64_t offset, uint64_t bytes)
{
    uint32_t at = find(h, offset);
    bool before = at > 0 && h->hole[at - 1].offset + h->hole[at - 1].bytes == offset;
    bool after = at < h->n && offset + bytes == h->hole[at].offset;

    if (before && after) {
        h->hole[at - 1].bytes += bytes + h->hole[at].bytes;
        h->n--;
        memmove(&h->hole[at], &h->hole[at + 1], (h->n - at) * sizeof(*h->hole));
    } else if (before) {
        h->hole[at - 1].bytes += bytes;
    } else if (after) {
        h->hole[at].offset = offset;
        h->hole[at].bytes += bytes;
    } else {
        memmove(&h->hole[at + 1], &h->hole[at], (h->n - at) * sizeof(*h->hole));
        h->hole[at] = (struct hole){offset, bytes};
        h->n++;
    }
}

/* Lists of pieces by the node where they begin and by that where they end. */
struct lists {
    uint32_t *begin, *end;           /* per node: the first piece, or none */
    uint32_t *next_begin, *next_end; /* per piece */
};

static const uint32_t NONE = UINT32_MAX;

static void make_lists(struct lists *l, uint32_t *room, const ft__piece *piece,
                       uint32_t n, uint32_t n_nodes)
{
    *l = (struct lists){room, room + n_nodes, room + 2 * (size_t)n_nodes,
                        room + 2 * (size_t)n_nodes + n};
    memset(room, 0xff, 2 * (size_t)n_nodes * sizeof(*room));
    for (uint32_t i = n; i-- > 0;) {
        l->next_begin[i] = l->begin[piece[i].first];
        l->begin[piece[i].first] = i;
        l->next_end[i] = l->end[piece[i].last];
        l->end[piece[i].last] = i;
    }
}

bool ft__place_in_time(ft__piece *piece, uint32_t n, uint32_t n_nodes, uint64_t base,
                       uint64_t *end)
{
    uint32_t *room = malloc(2 * ((size_t)n_nodes + n + 1) * sizeof(*room));
    struct heap h = {.hole = malloc((n + 2) * sizeof(*h.hole)), .top = base};
    struct lists l;

    *end = base;
    if (room && h.hole) {
        make_lists(&l, room, piece, n, n_nodes);
        for (uint32_t node = 0; node < n_nodes; node++) {
            for (uint32_t i = l.begin[node]; i != NONE; i = l.next_begin[i])
                piece[i].offset = take(&h, piece[i].bytes);
            for (uint32_t i = l.end[node]; i != NONE; i = l.next_end[i])
                give(&h, piece[i].offset, piece[i].bytes);
        }
        *end = h.top;
    }
    n = room && h.hole;
    free(room);
    free(h.hole);
    return n;
}

/* ALIGN: of every offset. MANY: of more pieces only so many of the largest are
 * placed by size, which costs their square. */
enum { ALIGN = 64, MANY = 1024 };

struct memory_plan {
    ft__piece *piece; /* largest first */
    ft__piece *other; /* a second arrangement of them */
    uint32_t n, n_nodes;
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

    place_sort(p->piece, p->n);
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
