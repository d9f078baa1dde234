/* Gradient boosting of the squared error on histograms (Friedman 2001; Ke et al. 2017),
 * grown here: no library is needed, and the same trees come out everywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/prng.h"
#include "learn/learn_inside.h"
#include "learn/training_set.h"
#include "learn/tree/forest.h"

/* Columns as numbers of bins, column by column: 0 is missing, 1 the least. Cuts lie
 * between values that occur, as evenly in rows as can be; as many bins as a byte
 * numbers. */
enum { MOST_BINS = 256 };

struct bins {
    ft__arena room;
    uint32_t n_rows;
    uint32_t n_cols; /* those that change */
    uint32_t *col;   /* which of the matrix; n_cols of them */
    uint32_t *n;     /* bins of a column, that of missing ones included */
    float *cut;      /* MOST_BINS a column: bin b + 1 lies above cut[b], b > 0 */
    uint8_t *bin;    /* n_rows a column */
};

static const uint8_t *bins_column(const struct bins *b, uint32_t j)
{
    return b->bin + (size_t)j * b->n_rows;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Cuts of n present values, ascending; how many. Equal values are never parted; where
 * there are more values than bins each takes its share of the rows that are left. */
static uint32_t find_cuts(float *cut, const float *v, uint32_t n)
{
    uint32_t n_cuts = 0, begun = 0, distinct = n > 0;
    bool fits;

    for (uint32_t i = 1; i < n; i++)
        distinct += v[i] != v[i - 1];
    fits = distinct < MOST_BINS;
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t bins_left = MOST_BINS - 1 - n_cuts;

        if (v[i] == v[i - 1] || (!fits && (size_t)(i - begun) * bins_left < n - begun))
            continue;
        cut[1 + n_cuts++] = ft__between(v[i - 1], v[i]);
        begun = i;
        if (n_cuts + 2 == MOST_BINS)
            break;
    }
    return n_cuts;
}

static uint8_t bin_of(const float *cut, uint32_t n_cuts, float v)
{
    uint32_t low = 0, high = n_cuts;

    while (low < high) {
        const uint32_t middle = (low + high) / 2;

        if (v > cut[1 + middle])
            low = middle + 1;
        else
            high = middle;
    }
    return (uint8_t)(1 + low);
}

/* One column of the matrix, if it changes. */
static void add_column(struct bins *b, const ft__task *t, uint32_t col, float *scratch)
{
    const ft__matrix *x = t->x;
    float *cut = b->cut + (size_t)b->n_cols * MOST_BINS;
    uint8_t *bin = b->bin + (size_t)b->n_cols * b->n_rows;
    uint32_t n = 0, n_cuts;

    for (size_t i = 0; i < x->n_rows; i++) {
        const float v = x->x[i * x->n_cols + col];

        if ((!t->weights || t->weights[i] > 0) && !isnan(v))
            scratch[n++] = v;
    }
    qsort(scratch, n, sizeof(*scratch), by_value);
    n_cuts = find_cuts(cut, scratch, n);
    if (n == 0 || (n_cuts == 0 && n == b->n_rows))
        return;
    for (size_t i = 0; i < x->n_rows; i++) {
        const float v = x->x[i * x->n_cols + col];

        if (!t->weights || t->weights[i] > 0)
            *bin++ = isnan(v) ? 0 : bin_of(cut, n_cuts, v);
    }
    cut[n_cuts + 1] = INFINITY; /* of the last bin: all that is present goes left */
    b->col[b->n_cols] = col;
    b->n[b->n_cols++] = n_cuts + 2;
}

/* The rows of weight above 0. */
static ft_status bins_make(struct bins *out, const ft__task *t, uint32_t n_rows,
                           ft_error *err)
{
    const size_t width = t->x->n_cols;
    float *scratch;

    *out = (struct bins){.n_rows = n_rows};
    out->col = ft__arena_need(&out->room, width, sizeof(*out->col));
    out->n = ft__arena_need(&out->room, width, sizeof(*out->n));
    out->cut = ft__arena_need(&out->room, width * MOST_BINS, sizeof(*out->cut));
    out->bin = ft__arena_need(&out->room, width, n_rows);
    scratch = ft__arena_need(&out->room, n_rows, sizeof(*scratch));
    if (out->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to boost %u rows", n_rows);
    for (uint32_t j = 0; j < width; j++)
        add_column(out, t, j, scratch);
    return FT_OK;
}

static void bins_free(struct bins *b)
{
    ft__arena_free(&b->room);
    *b = (struct bins){0};
}

/* Nodes are halved depth first, so that depth bounds what is kept. */
enum { MOST_DEPTH = 16, DEPTH = 8, ROUNDS = 300 };

/* Rows of a node in one bin, weighted. */
struct histogram_cell {
    double sum; /* of what is left of the targets */
    double w;
};

struct split {
    double gain; /* 0: none is worth it */
    uint32_t column;
    uint32_t bin; /* up to it goes left */
    bool missing_right;
};

struct growing {
    ft__arena room;
    ft__training_set l;
    struct bins b;
    double rate, lambda, share;
    uint32_t depth;
    double *left;   /* of each row's target, standardised */
    uint32_t *row;  /* those drawn for a tree, a node's side by side */
    uint32_t *side; /* room to part them */
    uint32_t n_drawn;
    uint32_t *column; /* those drawn for a tree */
    uint32_t n_columns;
    struct histogram_cell *one;   /* of each row of the node that is counted */
    struct histogram_cell *cells; /* of all columns, for each depth and its sibling */
    ft__node *node;               /* of the tree that grows */
    uint8_t *bin;                 /* and where its nodes part bins */
    uint32_t n_nodes, most_nodes;
};

static ft_status growing_make(struct growing *g, const ft__task *t, ft_error *err)
{
    const ft__learn_model_options *o = t->opt;
    ft_status st = ft__training_set_targets(&g->l, t, err);
    uint32_t n = g->l.n_rows;
    size_t leaves;

    if (!st)
        st = bins_make(&g->b, t, n, err);
    if (st)
        return st;
    g->rate = ft__or(o->rate, 0.1);
    g->lambda = ft__or(o->penalty, 1);
    g->share = fmin(1, ft__or(o->share, 0.8));
    g->depth = ft__or_u32(o->depth, DEPTH);
    g->depth = g->depth < MOST_DEPTH ? g->depth : MOST_DEPTH;
    leaves = n < 1u << g->depth ? n : 1u << g->depth;
    g->most_nodes = (uint32_t)(2 * leaves);
    g->left = ft__arena_need(&g->room, n, sizeof(*g->left));
    g->row = ft__arena_need(&g->room, n, sizeof(*g->row));
    g->side = ft__arena_need(&g->room, n, sizeof(*g->side));
    g->one = ft__arena_need(&g->room, n, sizeof(*g->one));
    g->column = ft__arena_need(&g->room, g->b.n_cols + 1u, sizeof(*g->column));
    g->cells = ft__arena_need(&g->room, (2u * g->depth + 2) * (g->b.n_cols + 1u),
                              MOST_BINS * sizeof(*g->cells));
    g->node = ft__arena_need(&g->room, g->most_nodes, sizeof(*g->node));
    g->bin = ft__arena_need(&g->room, g->most_nodes, sizeof(*g->bin));
    if (g->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to boost %u rows", n);
    for (uint32_t i = 0; i < n; i++)
        g->left[i] = (g->l.y[i] - g->l.mean) / g->l.sd;
    return FT_OK;
}

static struct histogram_cell *cells_at(const struct growing *g, uint32_t which)
{
    return g->cells + (size_t)which * (g->b.n_cols + 1u) * MOST_BINS;
}

static void count_rows(const struct growing *g, struct histogram_cell *c, uint32_t at,
                       uint32_t n)
{
    /* Side by side, so that each column finds them in order. */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = g->row[at + i];

        g->one[i] = (struct histogram_cell){g->left[row] * g->l.w[row], g->l.w[row]};
    }
    for (uint32_t k = 0; k < g->n_columns; k++) {
        const uint32_t j = g->column[k];
        const uint8_t *bin = bins_column(&g->b, j);
        struct histogram_cell *of = c + (size_t)j * MOST_BINS;

        memset(of, 0, g->b.n[j] * sizeof(*of));
        for (uint32_t i = 0; i < n; i++) {
            struct histogram_cell *to = &of[bin[g->row[at + i]]];

            to->sum += g->one[i].sum;
            to->w += g->one[i].w;
        }
    }
}

/* What one child has is what the other has not. */
static void count_others(const struct growing *g, struct histogram_cell *c,
                         const struct histogram_cell *whole,
                         const struct histogram_cell *part)
{
    for (uint32_t k = 0; k < g->n_columns; k++) {
        const size_t at = (size_t)g->column[k] * MOST_BINS;

        for (size_t b = at; b < at + g->b.n[g->column[k]]; b++) {
            c[b].sum = whole[b].sum - part[b].sum;
            c[b].w = whole[b].w - part[b].w;
        }
    }
}

static double score(const struct growing *g, struct histogram_cell c)
{
    return c.sum * c.sum / (c.w + g->lambda);
}

/* A side of less than one average row is none: weights have mean 1. */
static const double least_weight = 0.999;

static void try_split(const struct growing *g, struct split *best,
                      struct histogram_cell all, struct histogram_cell left,
                      struct split s)
{
    const struct histogram_cell right = {all.sum - left.sum, all.w - left.w};

    if (left.w < least_weight || right.w < least_weight)
        return;
    s.gain = score(g, left) + score(g, right) - score(g, all);
    if (s.gain > best->gain)
        *best = s;
}

/* Missing values go to the side that they fit better. */
static struct split find_split(const struct growing *g, const struct histogram_cell *c,
                               struct histogram_cell all)
{
    struct split best = {.gain = 1e-9};

    for (uint32_t k = 0; k < g->n_columns; k++) {
        const uint32_t j = g->column[k];
        const struct histogram_cell *of = c + (size_t)j * MOST_BINS, missing = of[0];
        struct histogram_cell present = {0, 0};

        for (uint32_t b = 1; b < g->b.n[j]; b++) {
            struct histogram_cell with;

            present.sum += of[b].sum;
            present.w += of[b].w;
            with = (struct histogram_cell){present.sum + missing.sum,
                                           present.w + missing.w};
            try_split(g, &best, all, with, (struct split){0, j, b, false});
            if (missing.w > 0)
                try_split(g, &best, all, present, (struct split){0, j, b, true});
        }
    }
    return best;
}

static bool goes_right(uint8_t bin, uint8_t last_left, bool missing_right)
{
    return bin == 0 ? missing_right : bin > last_left;
}

/* Those that go left come first, in the order they had; how many. */
static uint32_t part_rows(struct growing *g, const struct split *s, uint32_t at,
                          uint32_t n)
{
    const uint8_t *bin = bins_column(&g->b, s->column);
    uint32_t left = 0, right = 0;

    for (uint32_t i = at; i < at + n; i++)
        if (goes_right(bin[g->row[i]], (uint8_t)s->bin, s->missing_right))
            g->side[right++] = g->row[i];
        else
            g->row[at + left++] = g->row[i];
    memcpy(g->row + at + left, g->side, right * sizeof(*g->row));
    return left;
}

static void grow(struct growing *g, uint32_t node, uint32_t at, uint32_t n,
                 uint32_t depth, struct histogram_cell *c);

/* The smaller child's rows are counted; the larger one has the rest. */
static void grow_children(struct growing *g, uint32_t children, uint32_t at, uint32_t n,
                          uint32_t n_left, uint32_t depth,
                          const struct histogram_cell *c)
{
    struct histogram_cell *left = cells_at(g, 2 * depth + 2),
                          *right = cells_at(g, 2 * depth + 3);
    const bool left_smaller = 2 * n_left < n;

    if (depth + 1 < g->depth) {
        count_rows(g, left_smaller ? left : right, left_smaller ? at : at + n_left,
                   left_smaller ? n_left : n - n_left);
        count_others(g, left_smaller ? right : left, c, left_smaller ? left : right);
    }
    grow(g, children, at, n_left, depth + 1, left);
    grow(g, children + 1, at + n_left, n - n_left, depth + 1, right);
}

static void grow(struct growing *g, uint32_t node, uint32_t at, uint32_t n,
                 uint32_t depth, struct histogram_cell *c)
{
    struct histogram_cell all = {0, 0};
    struct split s = {0};
    uint32_t n_left = 0;

    for (uint32_t i = at; i < at + n; i++) {
        all.sum += g->left[g->row[i]] * g->l.w[g->row[i]];
        all.w += g->l.w[g->row[i]];
    }
    if (n > 1 && depth < g->depth)
        s = find_split(g, c, all);
    if (s.gain > 0 && s.bin)
        n_left = part_rows(g, &s, at, n);
    if (n_left == 0 || n_left == n || g->n_nodes + 2 > g->most_nodes) {
        g->node[node] =
            (ft__node){.value = (float)(g->rate * all.sum / (all.w + g->lambda))};
        return;
    }
    g->bin[node] = (uint8_t)s.bin;
    g->node[node] = (ft__node){.value = g->b.cut[(size_t)s.column * MOST_BINS + s.bin],
                               .left = g->n_nodes,
                               .col = (uint16_t)s.column,
                               .missing_right = s.missing_right};
    g->n_nodes += 2;
    grow_children(g, g->node[node].left, at, n, n_left, depth, c);
}

/* Take what the tree says off what is left of the targets. */
static void take_off(struct growing *g)
{
    for (uint32_t i = 0; i < g->l.n_rows; i++) {
        uint32_t at = 0;

        while (g->node[at].left) {
            const ft__node *d = &g->node[at];

            at = d->left + goes_right(bins_column(&g->b, d->col)[i], g->bin[at],
                                      d->missing_right);
        }
        g->left[i] -= (double)g->node[at].value;
    }
}

static void draw(struct growing *g, uint64_t seed, uint32_t round)
{
    ft__prng p = ft__prng_stream(seed, round);

    g->n_drawn = g->n_columns = 0;
    for (uint32_t i = 0; i < g->l.n_rows; i++)
        if (ft__prng_unit(&p) < g->share)
            g->row[g->n_drawn++] = i;
    for (uint32_t j = 0; j < g->b.n_cols; j++)
        if (ft__prng_unit(&p) < g->share)
            g->column[g->n_columns++] = j;
}

static bool grow_tree(struct growing *g, ft__tree *out, uint64_t seed, uint32_t round)
{
    draw(g, seed, round);
    g->n_nodes = 1;
    count_rows(g, cells_at(g, 0), 0, g->n_drawn);
    grow(g, 0, 0, g->n_drawn, 0, cells_at(g, 0));
    take_off(g);
    out->node = calloc(g->n_nodes, sizeof(*out->node));
    if (!out->node)
        return false;
    memcpy(out->node, g->node, g->n_nodes * sizeof(*out->node));
    out->n = g->n_nodes;
    for (uint32_t i = 0; i < out->n; i++)
        if (out->node[i].left)
            out->node[i].col = (uint16_t)g->b.col[out->node[i].col];
    return true;
}

static ft_status hist_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    const uint32_t rounds = ft__or_u32(t->opt->rounds, ROUNDS);
    struct growing g = {0};
    ft__tree *tree = calloc(rounds, sizeof(*tree));
    ft__forest *forest = NULL;
    ft_status st = growing_make(&g, t, err);
    bool grown = tree != NULL;

    for (uint32_t i = 0; !st && grown && i < rounds; i++)
        grown = grow_tree(&g, &tree[i], t->opt->seed, i);
    if (!st && !grown)
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to boost %u rows", g.l.n_rows);
    if (!st)
        st = ft__forest_join(&forest, (uint32_t)t->x->n_cols, tree, rounds, g.l.mean,
                             1 / g.l.sd, err);
    if (!st)
        st = ft__trees_write(out, forest, err);
    ft__forest_free(forest);
    for (uint32_t i = 0; tree && i < rounds; i++)
        free(tree[i].node);
    free(tree);
    ft__training_set_free(&g.l);
    bins_free(&g.b);
    ft__arena_free(&g.room);
    return st;
}

const ft__method_ops ft__method_hist = {NULL, hist_fit, ft__trees_open,
                                        ft__trees_predict};
