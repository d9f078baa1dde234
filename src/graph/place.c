/* Offsets of an arena.
 *
 * By size: "greedy by size" (Pisarchyk, Lee 2020, arXiv 2001.03288): largest
 * piece first, each into the smallest gap between those already placed that are
 * needed at the same time.
 * In time: best fit, as an allocator that sees every release. */
#include "graph/place.h"

#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    const ft__piece *p = a, *q = b;

    if (p->bytes != q->bytes)
        return p->bytes < q->bytes ? 1 : -1;
    return p->tensor < q->tensor ? -1 : p->tensor > q->tensor;
}

void ft__place_sort(ft__piece *piece, uint32_t n)
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
    ft__place_sort(piece, n);
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

/* ---- in time ---- */

/* Free memory below the highest piece, in order of offset; no two touch. */
struct hole {
    uint64_t offset;
    uint64_t bytes;
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
