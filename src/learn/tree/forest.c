/* A forest: its image made from trees, or loaded and checked; rows walked through it
 * from roots to leaves. */
#include "learn/tree/forest.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "learn/learn_inside.h"

/* LANES walks go in step, without a branch on the data; those that reach their leaf
 * early stay there until the last has arrived. */
enum {
    LANES = 8,
    AT_ONCE = 2048, /* rows that go through some trees before the next */
    ON_STACK = FT__MAX_WIDTH * LANES,
};

/* Walk from cell at[j] to its leaf. The keys of one row lie `apart` in x[], those of
 * the walks' rows `lane`. */
static inline void walk(const ft__cell *cell, uint32_t at[LANES], const uint32_t *x,
                        size_t apart, size_t lane)
{
    uint32_t moving;

    do {
        moving = 0;
        for (size_t j = 0; j < LANES; j++) {
            const ft__cell *c = &cell[at[j]];
            const uint32_t link = c->link;
            const int64_t above =
                (int64_t)c->key - x[link % FT__MAX_WIDTH * apart + lane * j];

            at[j] += (link >> FT__LINK_SHIFT) + (uint32_t)((uint64_t)above >> 63);
            moving |= link;
        }
    } while (moving >= FT__MAX_WIDTH);
}

/* The leaves of one row in the trees from t on, at most LANES; how many. */
static uint32_t walk_lanes(const ft__forest *f, const uint32_t *x, uint32_t t,
                           uint32_t at[LANES])
{
    const uint32_t left = f->head->n_trees - t, n = left < LANES ? left : LANES;

    for (uint32_t j = 0; j < LANES; j++)
        at[j] = f->start[t + (j < n ? j : 0)] * FT__LINE;
    walk(f->cell, at, x, 1, 0);
    return n;
}

/* The sum of the trees for one row; each of them to tree[], unless that is NULL. */
static inline double walk_row(const ft__forest *f, const float *row, double *tree)
{
    const uint32_t n_trees = f->head->n_trees;
    uint32_t x[FT__MAX_WIDTH];
    double sum = 0;

    ft__write_keys(f->head, x, row, 1);
    for (uint32_t t = 0; t < n_trees; t += LANES) {
        uint32_t at[LANES];
        const uint32_t n = walk_lanes(f, x, t, at);

        for (uint32_t j = 0; j < n; j++) {
            const double v = ft__leaf_value(&f->cell[at[j]]);

            sum += v;
            if (tree)
                tree[t + j] = v;
        }
    }
    return sum;
}

static double plain_row(const ft__forest *f, const float *row)
{
    return walk_row(f, row, NULL);
}

/* Add what one tree predicts of n rows, a multiple of LANES, to out[]. Groups of LANES
 * rows lie behind each other in x[], a group as column, row. */
static void add_tree(const ft__cell *root, const uint32_t *x, size_t keys, size_t n,
                     double *out)
{
    for (size_t i = 0; i < n; i += LANES, x += keys * LANES) {
        uint32_t at[LANES] = {0};

        walk(root, at, x, LANES, 1);
        for (size_t j = 0; j < LANES; j++)
            out[i + j] += ft__leaf_value(&root[at[j]]);
    }
}

static void plain_rows(const ft__forest *f, uint32_t *x, const float *rows, size_t n,
                       double *out)
{
    const ft__forest_header *h = f->head;
    const size_t keys = ft__forest_keys(h), whole = n - n % LANES;

    for (size_t i = 0; i < whole; i++) {
        ft__write_keys(h, x + i / LANES * LANES * keys + i % LANES, rows + i * h->width,
                       LANES);
        out[i] = 0;
    }
    for (uint32_t t = 0; t < h->n_trees; t++)
        add_tree(f->cell + (size_t)f->start[t] * FT__LINE, x, keys, whole, out);
    for (size_t i = whole; i < n; i++)
        out[i] = plain_row(f, rows + i * h->width);
}

const ft__walks ft__walks_plain = {plain_row, plain_rows};

const ft__walks *ft__walks_here(void)
{
    const ft__walks *w = ft__walks_avx512();

    return w ? w : &ft__walks_plain;
}

/* A forest that points into an image whose header is known to be good; NULL: no
 * memory. */
static ft__forest *forest_over(const void *image, size_t len)
{
    ft__forest *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->walks = ft__walks_here();
    f->head = image;
    f->start = (const uint32_t *)(f->head + 1);
    f->cell = (const ft__cell *)image +
              ft__forest_lines_before(f->head->n_trees) * (size_t)FT__LINE;
    f->len = len;
    return f;
}

void ft__forest_free(ft__forest *f)
{
    if (!f)
        return;
    free(f->owned);
    free(f);
}

/* A walk waits for the lines it touches, so a line takes the pair of siblings it begins
 * with, then again and again the children of the heaviest node in it that lack a place:
 * heavy is a node with many leaves below. Pairs that did not fit begin lines of their
 * own; what is left of a tree in less than a line's worth comes last and shares lines.
 * Nothing else is filled up. */
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

ft_status ft__forest_join(ft__forest **out, uint32_t width, const ft__tree *tree,
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
        *out = forest_over(h, (ft__forest_lines_before(n_trees) + h->n_lines) *
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

static ft_status check_header(const ft__forest_header *h, size_t len, ft_error *err)
{
    if (len < sizeof(*h))
        return ft_fail(err, FT_EFORMAT, len, "damaged forest: its header is cut off");
    if (h->both > 1)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, both),
                       "damaged forest: an unknown flag");
    if (h->width == 0 || h->width >= FT__MAX_WIDTH ||
        ft__forest_keys(h) > FT__MAX_WIDTH)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, width),
                       "damaged forest: %u columns", h->width);
    if (h->n_trees == 0 || h->n_trees > len / sizeof(uint32_t))
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, n_trees),
                       "damaged forest: %u trees do not fit %zu bytes", h->n_trees,
                       len);
    if (h->n_lines >= FT__MAX_LINES ||
        len != (ft__forest_lines_before(h->n_trees) + h->n_lines) * sizeof(*h))
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, n_lines),
                       "damaged forest: %u lines do not make %zu bytes", h->n_lines,
                       len);
    if (!isfinite(h->base) || !isfinite(h->share) || h->share == 0)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, base),
                       "damaged forest: it predicts %g + sum / %g", h->base, h->share);
    return FT_OK;
}

/* Trees begin with line 0, rise, and have a line at least. */
static ft_status check_starts(const ft__forest *f, ft_error *err)
{
    const uint32_t n = f->head->n_trees;

    for (uint32_t t = 0; t < n; t++) {
        const uint32_t end = t + 1 < n ? f->start[t + 1] : f->head->n_lines;

        if ((t == 0 && f->start[0] != 0) || end <= f->start[t] ||
            end - f->start[t] > FT__MAX_TREE_NODES / FT__LINE || end > f->head->n_lines)
            return ft_fail(err, FT_EFORMAT, sizeof(*f->head) + sizeof(uint32_t) * t,
                           "damaged forest: tree %u has an impossible size", t);
    }
    return FT_OK;
}

/* Not 0 when a cell is no node: a leaf's float is finite; a split asks for a key that
 * a row has, other than the one behind its columns, and its children lie behind it in
 * its tree, of which `left` cells are left. Without branches, for vectors. */
static inline uint32_t flaw(ft__cell c, uint32_t left, uint32_t width, uint32_t keys)
{
    const uint32_t off = c.link >> FT__LINK_SHIFT, col = c.link % FT__MAX_WIDTH;
    const uint32_t is_leaf = 0u - (c.link == width);
    const uint32_t no_leaf = (c.key & 0x7f800000u) == 0x7f800000u;
    const uint32_t no_split =
        (col >= keys) | (col == width) | (off == 0) | (off + 1 >= left) |
        (c.key - FT__KEY_LEAST > FT__KEY_GREATEST - FT__KEY_LEAST);

    return (is_leaf & no_leaf) | (~is_leaf & no_split);
}

static ft_status check_tree(const ft__forest *f, uint32_t first, uint32_t n,
                            ft_error *err)
{
    const uint32_t width = f->head->width, keys = ft__forest_keys(f->head);
    const ft__cell *cell = f->cell + first;
    uint32_t flaws = 0, i = 0;

    for (uint32_t k = 0; k < n; k++)
        flaws |= flaw(cell[k], n - k, width, keys);
    if (flaws == 0)
        return FT_OK;
    while (!flaw(cell[i], n - i, width, keys))
        i++;
    return ft_fail(err, FT_EFORMAT,
                   (uint64_t)((const char *)&cell[i] - (const char *)f->head),
                   "damaged forest: node %u of a tree holds %#x, %#x", i, cell[i].key,
                   cell[i].link);
}

static ft_status check_cells(const ft__forest *f, ft_error *err)
{
    const uint32_t n = f->head->n_trees;
    ft_status st = FT_OK;

    for (uint32_t t = 0; t < n && !st; t++) {
        const uint32_t end = t + 1 < n ? f->start[t + 1] : f->head->n_lines;

        st = check_tree(f, f->start[t] * FT__LINE, (end - f->start[t]) * FT__LINE, err);
    }
    return st;
}

static ft_status load(ft__forest **out, const void *image, size_t len, ft_error *err)
{
    ft__forest *f;
    ft_status st = check_header(image, len, err);

    if (st)
        return st;
    f = forest_over(image, len);
    if (!f)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a forest");
    st = check_starts(f, err);
    if (!st)
        st = check_cells(f, err);
    if (st) {
        ft__forest_free(f);
        return st;
    }
    *out = f;
    return FT_OK;
}

ft_status ft__forest_load(ft__forest **out, const void *image, size_t len,
                          ft_error *err)
{
    const ft__forest_header *h = image;

    *out = NULL;
    if ((uintptr_t)image % sizeof(uint64_t))
        return ft_fail(err, FT_EINVAL, 0, "a forest image must be aligned to 8 bytes");
    if (len < 2 * sizeof(uint64_t) ||
        memcmp(h->magic, FT__FOREST_MAGIC, sizeof(h->magic)))
        return ft_fail(err, FT_EFORMAT, 0, "this is not a forest image");
    if (h->version != FT__FOREST_VERSION)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__forest_header, version),
                       "a forest image of version %u, this program reads up to %u: "
                       "train it again",
                       h->version, FT__FOREST_VERSION);
    return load(out, image, len, err);
}

void ft__forest_each(const ft__forest *f, const float *row, double *tree)
{
    (void)walk_row(f, row, tree);
}

double ft__forest_predict(const ft__forest *f, const float *row)
{
    return f->head->base + f->walks->row(f, row) / f->head->share;
}

void ft__forest_predict_rows(const ft__forest *f, const float *rows, size_t n,
                             double *out)
{
    const size_t room = ft__keys_room(f);
    uint32_t few[ON_STACK], *x = few, *many = NULL;
    size_t block = ON_STACK / room;

    if (n > block)
        many = calloc(AT_ONCE * room, sizeof(*many));
    if (many) {
        x = many;
        block = AT_ONCE;
    }
    for (size_t i = 0; i < n; i += block) {
        const size_t some = n - i < block ? n - i : block;

        f->walks->rows(f, x, rows + i * f->head->width, some, out + i);
    }
    free(many);
    for (size_t i = 0; i < n; i++)
        out[i] = f->head->base + out[i] / f->head->share;
}
