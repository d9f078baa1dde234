/* One tree, grown node by node from what a splitter finds. */
#include "learn/tree/train.h"

#include <math.h>
#include <stdlib.h>

/* A node that waits for its turn: rows at .. at + n - 1 of the splitter. */
struct todo {
    uint32_t at;
    uint32_t n;
    uint32_t node;
    uint32_t depth;
};

struct ft__grower {
    const ft__tree_training *d;
    const ft_forest_options *opt;
    const ft__splitter_ops *ops;
    ft__splitter *splitter;
    struct todo *stack; /* every waiting node has a row, so n_rows are enough */
    ft__node *node;     /* 2 * n_rows - 1 at most */
    uint32_t n_try;
};

ft__grower *ft__grower_new(const ft__tree_training *d, const ft_forest_options *opt)
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
    const ft_forest_options *o = g->opt;

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
