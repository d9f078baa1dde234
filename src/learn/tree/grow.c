/* A matrix and targets in, a forest out: what trees grow on, one tree node by node,
 * several threads that grow them all. */
#include "learn/tree/grow.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "learn/tree/split.h"

/* The exponent that brings the largest of |v| to [0.5, 1). */
static int scale_of(const double *v, uint32_t n)
{
    double largest = 0;
    int exponent;

    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(v[i]));
    frexp(largest, &exponent);
    return exponent;
}

static void scale(double *v, uint32_t n, int exponent)
{
    for (uint32_t i = 0; i < n; i++)
        v[i] = ldexp(v[i], -exponent);
}

/* Put a number below every present value where one is missing. A random cut
 * parts missing from present about as often as it falls elsewhere when the gap
 * is as wide as the column. */
static void fill_missing(const ft__tree_training *d, uint32_t col)
{
    float lo = FLT_MAX, hi = -FLT_MAX, gap;

    for (uint32_t i = 0; i < d->n_rows; i++) {
        float v = *ft__train_at(d, col, i);

        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
    d->least[col] = lo;
    gap = fmaxf(hi - lo, 0) + fabsf(lo) + 1;
    for (uint32_t i = 0; i < d->n_rows; i++) {
        float *v = ft__train_at(d, col, i);

        if (isnan(*v))
            *v = fmaxf(lo - gap, -FLT_MAX);
    }
}

static void copy_rows(ft__tree_training *d, const ft__matrix *x, const double *y,
                      const double *weights)
{
    uint32_t n = 0;

    for (size_t i = 0; i < x->n_rows; i++) {
        if (weights && weights[i] == 0)
            continue;
        for (uint32_t j = 0; j < d->n_cols; j++)
            *ft__train_at(d, j, n) = x->x[i * x->n_cols + j];
        d->y[n] = y[i];
        d->w[n] = weights ? weights[i] : 1;
        n++;
    }
    for (uint32_t j = 0; j < d->n_cols; j++)
        fill_missing(d, j);
    d->y_exp = scale_of(d->y, n);
    scale(d->y, n, d->y_exp);
    scale(d->w, n, scale_of(d->w, n));
}

static void sort_columns(const ft__tree_training *d)
{
    for (uint32_t j = 0; j < d->n_cols; j++) {
        ft__key *k = d->key + (size_t)j * d->n_rows;

        for (uint32_t i = 0; i < d->n_rows; i++)
            k[i] = (ft__key){*ft__train_at(d, j, i), i};
        ft__keys_sort(k, d->n_rows);
    }
}

ft_status ft__train_new(ft__tree_training **out, const ft__matrix *x, const double *y,
                        const double *weights, ft__forest_kind kind, ft_error *err)
{
    ft__tree_training *d = NULL;
    size_t blocks;
    ft_status st;

    *out = NULL;
    st = ft__train_check(x, y, weights, err);
    if (st)
        return st;
    d = calloc(1, sizeof(*d));
    if (!d)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu rows",
                       x->n_rows);
    d->n_cols = (uint32_t)x->n_cols;
    for (size_t i = 0; i < x->n_rows; i++)
        d->n_rows += !weights || weights[i] > 0;
    blocks = (d->n_cols + FT__BLOCK - 1) / FT__BLOCK;
    d->x = ft__arena_need(&d->room, blocks * d->n_rows, FT__BLOCK * sizeof(*d->x));
    d->least = ft__arena_need(&d->room, d->n_cols, sizeof(*d->least));
    d->y = ft__arena_need(&d->room, d->n_rows, sizeof(*d->y));
    d->w = ft__arena_need(&d->room, d->n_rows, sizeof(*d->w));
    if (kind != FT_FOREST_EXTRA)
        d->key =
            ft__arena_need(&d->room, (size_t)d->n_cols * d->n_rows, sizeof(*d->key));
    if (d->room.bad) {
        ft__train_free(d);
        return ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu rows",
                       x->n_rows);
    }
    copy_rows(d, x, y, weights);
    if (d->key)
        sort_columns(d);
    *out = d;
    return FT_OK;
}

void ft__train_free(ft__tree_training *d)
{
    if (!d)
        return;
    ft__arena_free(&d->room);
    free(d);
}

/* A node that waits for its turn: rows at .. at + n - 1 of the splitter. */
struct todo {
    uint32_t at, n, node, depth;
};

struct ft__grower {
    const ft__tree_training *d;
    const ft__forest_options *opt;
    const ft__splitter_ops *ops;
    void *splitter;     /* of ops */
    struct todo *stack; /* every waiting node has a row, so n_rows are enough */
    ft__node *node;     /* 2 * n_rows - 1 at most */
    uint32_t n_try;
};

ft__grower *ft__grower_new(const ft__tree_training *d, const ft__forest_options *opt)
{
    ft__grower *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->d = d;
    g->opt = opt;
    g->ops = opt->kind == FT_FOREST_EXTRA ? &ft__split_random : &ft__split_best;
    g->n_try = (uint32_t)fmax(1, opt->max_features * d->n_cols);
    g->splitter = g->ops->open(d);
    g->stack = calloc(d->n_rows, sizeof(*g->stack));
    g->node = calloc(2 * (size_t)d->n_rows, sizeof(*g->node));
    if (!g->splitter || !g->stack || !g->node) {
        ft__grower_free(g);
        return NULL;
    }
    return g;
}

void ft__grower_free(ft__grower *g)
{
    if (!g)
        return;
    if (g->splitter)
        g->ops->close(g->splitter);
    free(g->stack);
    free(g->node);
    free(g);
}

/* Find a split worth making, or say that the node is a leaf. */
static bool find(ft__grower *g, const struct todo *t, const ft__sums *sums,
                 ft__prng *rng, ft__split *split)
{
    const ft__forest_options *o = g->opt;

    if (sums->pure || t->n / 2 < o->min_leaf ||
        (o->max_depth && t->depth >= o->max_depth))
        return false;
    return g->ops->split(g->splitter, t->at, t->n, sums, g->n_try, o->min_leaf, rng,
                         split);
}

ft__tree ft__grow(ft__grower *g, const double *w, ft__prng rng)
{
    uint32_t n_nodes = 1, waiting = 1;

    g->stack[0] = (struct todo){.n = g->ops->start(g->splitter, w)};
    while (waiting) {
        const struct todo t = g->stack[--waiting];
        const ft__sums sums = g->ops->sums(g->splitter, t.at, t.n);
        ft__node *node = &g->node[t.node];
        ft__split s;

        if (!find(g, &t, &sums, &rng, &s)) {
            *node = (ft__node){.value = (float)ldexp(sums.mean, g->d->y_exp)};
            continue;
        }
        g->ops->part(g->splitter, t.at, t.n, &s);
        *node = (ft__node){.value = s.cut < g->d->least[s.col] ? -INFINITY : s.cut,
                           .left = n_nodes,
                           .col = (uint16_t)s.col};
        g->stack[waiting++] =
            (struct todo){t.at + s.n_left, t.n - s.n_left, n_nodes + 1, t.depth + 1};
        g->stack[waiting++] = (struct todo){t.at, s.n_left, n_nodes, t.depth + 1};
        n_nodes += 2;
    }
    return (ft__tree){g->node, n_nodes};
}

enum { MAX_THREADS = 256 };

/* One fit, shared by its threads. Trees are handed out by index and each draws
 * from a stream of its own, so who grows which does not matter. */
struct fit {
    const ft__tree_training *d;
    ft__forest_options opt;
    ft__tree *tree;
    atomic_uint next;
    atomic_bool failed; /* out of memory */
};

static ft_status set_defaults(ft__forest_options *o, const ft__forest_options *given,
                              ft_error *err)
{
    *o = *given;
    if ((unsigned)o->kind > FT_FOREST_BEST)
        return ft_fail(err, FT_EINVAL, 0, "there is no forest of kind %d",
                       (int)o->kind);
    if (!(o->max_features >= 0 && o->max_features <= 1))
        return ft_fail(err, FT_EINVAL, 0,
                       "max_features is %g: it is a share of the columns, 0 to 1",
                       o->max_features);
    if (o->n_trees == 0)
        o->n_trees = 100;
    if (o->min_leaf == 0)
        o->min_leaf = 1;
    if (o->max_features == 0)
        o->max_features = 1;
    if (o->threads == 0)
        o->threads = 1;
    if (o->threads > o->n_trees)
        o->threads = o->n_trees;
    if (o->threads > MAX_THREADS)
        o->threads = MAX_THREADS;
    return FT_OK;
}

/* As many rows as there are, drawn with replacement; a row drawn k times
 * weighs k times as much. */
static void draw_bag(const ft__tree_training *d, double *w, ft__prng *rng)
{
    memset(w, 0, d->n_rows * sizeof(*w));
    for (uint32_t i = 0; i < d->n_rows; i++) {
        const uint32_t row = ft__prng_below(rng, d->n_rows);

        w[row] += d->w[row];
    }
}

static bool grow_tree(struct fit *f, ft__grower *g, double *bag, uint32_t index)
{
    ft__prng rng = ft__prng_stream(f->opt.seed, index);
    ft__tree grown, *kept = &f->tree[index];

    if (f->opt.kind == FT_FOREST_RANDOM)
        draw_bag(f->d, bag, &rng);
    grown = ft__grow(g, f->opt.kind == FT_FOREST_RANDOM ? bag : f->d->w, rng);
    kept->node = calloc(grown.n, sizeof(*kept->node));
    if (!kept->node)
        return false;
    memcpy(kept->node, grown.node, grown.n * sizeof(*grown.node));
    kept->n = grown.n;
    return true;
}

static void *work(void *arg)
{
    struct fit *f = arg;
    ft__grower *g = ft__grower_new(f->d, &f->opt);
    double *bag = calloc(f->d->n_rows, sizeof(*bag));
    bool ok = g && bag;

    while (ok && !atomic_load(&f->failed)) {
        const uint32_t i = atomic_fetch_add(&f->next, 1);

        if (i >= f->opt.n_trees)
            break;
        ok = grow_tree(f, g, bag, i);
    }
    if (!ok)
        atomic_store(&f->failed, true);
    ft__grower_free(g);
    free(bag);
    return NULL;
}

/* The calling thread works too; a thread that cannot be had is done without. */
static void work_together(struct fit *f)
{
    pthread_t thread[MAX_THREADS];
    uint32_t n = 0;

    while (n + 1 < f->opt.threads && pthread_create(&thread[n], NULL, work, f) == 0)
        n++;
    work(f);
    while (n)
        pthread_join(thread[--n], NULL);
}

ft_status ft__forest_fit(ft__forest **out, const ft__matrix *x, const double *y,
                         const double *weights, const ft__forest_options *opt,
                         ft_error *err)
{
    struct fit f = {0};
    ft__tree_training *d = NULL;
    ft_status st;

    *out = NULL;
    st = set_defaults(&f.opt, opt, err);
    if (!st)
        st = ft__train_new(&d, x, y, weights, f.opt.kind, err);
    if (st)
        return st;
    f.d = d;
    f.tree = calloc(f.opt.n_trees, sizeof(*f.tree));
    if (f.tree)
        work_together(&f);
    if (!f.tree || atomic_load(&f.failed))
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to grow %u trees", f.opt.n_trees);
    else
        st = ft__forest_join(out, d->n_cols, f.tree, f.opt.n_trees, 0, f.opt.n_trees,
                             err);
    for (uint32_t i = 0; f.tree && i < f.opt.n_trees; i++)
        free(f.tree[i].node);
    free(f.tree);
    ft__train_free(d);
    return st;
}
