/* A matrix and targets in, a forest out: trees grown by several threads. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn_inside.h"
#include "learn/tree/train.h"

enum { MAX_THREADS = 256 };

/* One fit, shared by its threads. Trees are handed out by index and each draws
 * from a stream of its own, so who grows which does not matter. */
struct fit {
    const ft__tree_training *d;
    ft_forest_options opt;
    ft__tree *tree;
    atomic_uint next;
    atomic_bool failed; /* out of memory */
};

static ft_status set_defaults(ft_forest_options *o, const ft_forest_options *given,
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

ft_status ft__forest_fit(ft_forest **out, const ft_matrix *x, const double *y,
                         const double *weights, const ft_forest_options *opt,
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
