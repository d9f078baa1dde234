/* The image of a forest from its trees. A walk waits for the lines it touches, so a
 * line takes the pair of siblings it begins with, then again and again the children
 * of the heaviest node in it that lack a place: heavy is a node with many leaves
 * below. Pairs that did not fit begin lines of their own; what is left of a tree in
 * less than a line's worth comes last and shares lines. Nothing else is filled up. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "learn/tree/forest.h"

enum { PAIRS = FT__LINE / 2 };

struct packer {
    ft__arena room;
    const ft__node *node;
    uint32_t n;
    uint32_t *leaves; /* below each node */
    uint32_t *place;  /* of each node: its cell in the tree */
    uint32_t *big;    /* parents whose pair is to begin a line, a stack */
    uint32_t *small;  /* parents with less than a line's worth of pairs below */
    uint32_t n_big, n_small, n_cells;
    uint32_t open[PAIRS]; /* a line with so many pairs free, or 0 */
};

static bool packer_new(struct packer *p, uint32_t most)
{
    p->leaves = ft__arena_need(&p->room, most, sizeof(*p->leaves));
    p->place = ft__arena_need(&p->room, most, sizeof(*p->place));
    p->big = ft__arena_need(&p->room, most, sizeof(*p->big));
    p->small = ft__arena_need(&p->room, most, sizeof(*p->small));
    return !p->room.bad;
}

static void count_leaves(struct packer *p)
{
    for (uint32_t i = p->n; i-- > 0;) {
        const uint32_t left = p->node[i].left;

        p->leaves[i] = left ? p->leaves[left] + p->leaves[left + 1] : 1;
    }
}

/* Put the children of `parent` at a cell; those of them that have children wait. */
static void put_pair(struct packer *p, uint32_t parent, uint32_t cell,
                     uint32_t *waiting, uint32_t *n_waiting)
{
    const uint32_t left = p->node[parent].left;

    for (uint32_t i = 0; i < 2; i++) {
        p->place[left + i] = cell + i;
        if (p->node[left + i].left)
            waiting[(*n_waiting)++] = left + i;
    }
}

static uint32_t take_heaviest(const struct packer *p, uint32_t *waiting, uint32_t *n)
{
    uint32_t best = 0, taken;

    for (uint32_t i = 1; i < *n; i++)
        if (p->leaves[waiting[i]] > p->leaves[waiting[best]])
            best = i;
    taken = waiting[best];
    waiting[best] = waiting[--*n];
    return taken;
}

/* Fill cells from `cell` to `end` with the pairs below what waits. */
static void fill_line(struct packer *p, uint32_t cell, uint32_t end, uint32_t *waiting,
                      uint32_t n_waiting)
{
    while (cell < end && n_waiting) {
        put_pair(p, take_heaviest(p, waiting, &n_waiting), cell, waiting, &n_waiting);
        cell += 2;
    }
    while (n_waiting) {
        const uint32_t parent = take_heaviest(p, waiting, &n_waiting);

        if (p->leaves[parent] > PAIRS)
            p->big[p->n_big++] = parent;
        else
            p->small[p->n_small++] = parent;
    }
}

/* Cells for `pairs` pairs, less than a line's worth, in a line that has them. */
static uint32_t share_line(struct packer *p, uint32_t pairs)
{
    for (uint32_t have = pairs; have < PAIRS; have++) {
        const uint32_t line = p->open[have], rest = have - pairs;

        if (line == 0)
            continue;
        p->open[have] = 0;
        if (rest && p->open[rest] == 0)
            p->open[rest] = line;
        return line + FT__LINE - 2 * have;
    }
    p->n_cells += FT__LINE;
    if (p->open[PAIRS - pairs] == 0)
        p->open[PAIRS - pairs] = p->n_cells - FT__LINE;
    return p->n_cells - FT__LINE;
}

/* Give every node its cell. */
static void lay_out(struct packer *p, const ft__tree *t)
{
    uint32_t waiting[PAIRS + 2] = {0};

    p->node = t->node;
    p->n = t->n;
    p->n_big = p->n_small = 0;
    p->n_cells = FT__LINE;
    memset(p->open, 0, sizeof(p->open));
    count_leaves(p);
    p->place[0] = 0;
    /* Beside the root stands an empty cell. */
    fill_line(p, 2, FT__LINE, waiting, p->node[0].left ? 1 : 0);
    while (p->n_big) {
        waiting[0] = p->big[--p->n_big];
        p->n_cells += FT__LINE;
        fill_line(p, p->n_cells - FT__LINE, p->n_cells, waiting, 1);
    }
    for (uint32_t i = 0; i < p->n_small; i++) {
        const uint32_t pairs = p->leaves[p->small[i]] - 1;
        const uint32_t cell = share_line(p, pairs);

        waiting[0] = p->small[i];
        fill_line(p, cell, cell + 2 * pairs, waiting, 1);
    }
}

static void write_tree(const struct packer *p, uint32_t width, ft__cell *cell)
{
    for (uint32_t i = 0; i < p->n_cells; i++)
        cell[i].link = width;
    for (uint32_t i = 0; i < p->n; i++) {
        const ft__node *n = &p->node[i];
        ft__cell *c = &cell[p->place[i]];

        if (n->left == 0) {
            memcpy(&c->key, &n->value, sizeof(c->key));
            continue;
        }
        c->key = ft__key_of(n->value);
        c->link = (p->place[n->left] - p->place[i]) << FT__LINK_SHIFT |
                  (n->missing_right ? width + 1u + n->col : n->col);
    }
}

/* What is too large is found before anything is made of it. */
static ft_status measure(const ft__tree *tree, uint32_t n_trees, uint32_t width,
                         uint32_t *most, uint32_t *both, ft_error *err)
{
    *most = 1;
    *both = 0;
    for (uint32_t t = 0; t < n_trees; t++) {
        *most = tree[t].n > *most ? tree[t].n : *most;
        for (uint32_t i = 0; i < tree[t].n; i++)
            *both |= tree[t].node[i].left && tree[t].node[i].missing_right;
    }
    if (width * (1 + *both) + 1 > FT__MAX_WIDTH)
        return ft_fail(err, FT_EINVAL, 0, "%u columns are too many for a forest",
                       width);
    if (*most > FT__MAX_TREE_NODES / 2)
        return ft_fail(err, FT_EINVAL, 0, "a tree of %u nodes is too large", *most);
    return FT_OK;
}

/* Lines that a tree needs at most: one with its root, others with at least three
 * pairs each but for the last three that are shared. */
static uint64_t lines_at_most(const ft__tree *t)
{
    const uint32_t pairs = t->n / 2;

    return 1 + (pairs + PAIRS - 2) / (PAIRS - 1) + PAIRS - 1;
}

/* Zeroed memory for `lines` lines that begins at a multiple of their size; *owned is
 * to be freed. */
static void *line_memory(uint64_t lines, void **owned)
{
    const size_t bytes = FT__LINE * sizeof(ft__cell);
    char *p = calloc(lines + 1, bytes);

    *owned = p;
    return p ? p + (bytes - (uintptr_t)p % bytes) % bytes : NULL;
}

static void write_forest(ft__forest_header *h, struct packer *p, const ft__tree *tree)
{
    uint32_t *start = (uint32_t *)(h + 1);
    ft__cell *cell =
        (ft__cell *)h + ft__forest_lines_before(h->n_trees) * (uint64_t)FT__LINE;

    for (uint32_t t = 0; t < h->n_trees; t++) {
        lay_out(p, &tree[t]);
        write_tree(p, h->width, cell + (uint64_t)h->n_lines * FT__LINE);
        start[t] = h->n_lines;
        h->n_lines += p->n_cells / FT__LINE;
    }
}

ft_status ft__forest_join(ft_forest **out, uint32_t width, const ft__tree *tree,
                          uint32_t n_trees, double base, double share, ft_error *err)
{
    uint64_t lines = ft__forest_lines_before(n_trees);
    ft__forest_header *h = NULL;
    struct packer p = {0};
    void *owned = NULL;
    uint32_t most, both;
    ft_status st;

    *out = NULL;
    st = measure(tree, n_trees, width, &most, &both, err);
    if (st)
        return st;
    for (uint32_t t = 0; t < n_trees; t++)
        lines += lines_at_most(&tree[t]);
    if (lines >= FT__MAX_LINES)
        return ft_fail(err, FT_EINVAL, 0, "a forest of %" PRIu64 " MB is too large",
                       lines * FT__LINE * sizeof(ft__cell) >> 20);
    if (packer_new(&p, most))
        h = line_memory(lines, &owned);
    if (h) {
        memcpy(h->magic, FT__FOREST_MAGIC, sizeof(h->magic));
        h->version = FT__FOREST_VERSION;
        h->width = width;
        h->n_trees = n_trees;
        h->both = both;
        h->base = base;
        h->share = share;
        write_forest(h, &p, tree);
        *out = ft__forest_over(h, (ft__forest_lines_before(n_trees) + h->n_lines) *
                                      FT__LINE * sizeof(ft__cell));
    }
    ft__arena_free(&p.room);
    if (!*out) {
        free(owned);
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a forest of %u trees",
                       n_trees);
    }
    (*out)->owned = owned;
    return FT_OK;
}
