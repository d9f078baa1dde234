/* A file that fixes its batch, read at another one: whether every operation went along.
 * Shapes that are written into the file as numbers do not, and a reshape with a -1
 * beside them makes something else of the network without an error. So the graphs at
 * two batches are held against each other: of each tensor that depends on the input one
 * dimension has grown, in proportion, and views keep it where it was. */
#include <stdbool.h>
#include <string.h>

#include "import/options.h"

struct two_batches {
    const ft_graph *a, *b;
    int64_t batch_a, batch_b;
    bool views; /* are compared, too */
};

enum { SAME = -1, WRONG = -2 };

/* The dimension that differs, SAME, or WRONG: several, or not in proportion. */
static int grown(const struct two_batches *p, uint32_t tensor_a, uint32_t tensor_b)
{
    const ft_shape *a = &p->a->tensor[tensor_a].shape,
                   *b = &p->b->tensor[tensor_b].shape;
    int which = SAME;

    if (a->rank != b->rank)
        return WRONG;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dim[i] == b->dim[i])
            continue;
        if (which != SAME || a->dim[i] % p->batch_a || b->dim[i] % p->batch_b ||
            a->dim[i] / p->batch_a != b->dim[i] / p->batch_b)
            return WRONG;
        which = (int)i;
    }
    return which;
}

/* Elements of the dimensions before `axis`, which does not grow. */
static int64_t before(const struct two_batches *p, uint32_t tensor, int axis)
{
    int64_t n = 1;

    for (int i = 0; i < axis; i++)
        n *= p->a->tensor[tensor].shape.dim[i];
    return n;
}

static int64_t at(const struct two_batches *p, uint32_t tensor, int axis)
{
    return p->a->tensor[tensor].shape.dim[axis];
}

/* Merged with what is before it, or with what it was merged with split off, or where it
 * was; but not [N, S, H] to [1, N S, H] by the 1 of the file. */
static bool view_keeps(const struct two_batches *p, const ft_node *n, int in, int out)
{
    const uint32_t x = n->in[0], y = n->out[0];

    if (out == 0 || out < in)
        return true;
    if (in > 0)
        return before(p, x, in) == before(p, y, out);
    return at(p, y, out) == p->batch_a &&
           before(p, y, out) == at(p, x, in) / p->batch_a;
}

/* Whether an operation may add up over the batch, which its result then has not: for
 * the gradient of a weight, for a loss, and for what a norm keeps behind its result. */
static bool adds_up(const struct two_batches *p, const ft_node *n, uint32_t out, int in)
{
    const ft_op *op = &p->a->op[n->op];
    uint32_t count = 0;
    const int64_t *axes = ft_op_get(op, FT_K_axes, &count);

    if (n->phase == FT_PHASE_BACKWARD || out >= ft_op_n_outputs(op) ||
        op->kind == FT_KIND_cross_entropy || op->kind == FT_KIND_mse_loss)
        return true;
    if (ft_kind_class(op->kind) != FT_CLASS_REDUCE ||
        (p->a->mode != FT_MODE_TRAINING && p->a->tensor[n->out[out]].shape.rank))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (axes[i] == in)
            return true;
    return false;
}

static bool goes_along(const struct two_batches *p, const ft_node *a, const ft_node *b)
{
    const ft_op *op = &p->a->op[a->op];
    int first = SAME, in = SAME;

    if (op->kind != p->b->op[b->op].kind || a->n_in != b->n_in || a->n_out != b->n_out)
        return false;
    for (uint32_t i = 0; i < a->n_in; i++) {
        int which = grown(p, a->in[i], b->in[i]);

        if (which == WRONG)
            return false;
        first = i == 0 ? which : first;
        in = in == SAME ? which : in;
    }
    for (uint32_t i = 0; i < a->n_out; i++) {
        int out = grown(p, a->out[i], b->out[i]);

        if (out == WRONG || (in != SAME && out == SAME && !adds_up(p, a, i, in)))
            return false;
        if (p->views && op->kind == FT_KIND_view && in != SAME &&
            !view_keeps(p, a, first, out))
            return false;
    }
    return true;
}

static ft_status compare(const ft_graph *a, const ft_graph *b, int64_t batch,
                         bool views, ft_error *err)
{
    const struct two_batches p = {a, b, batch, batch + 1, views};
    const uint32_t n = a->n_nodes < b->n_nodes ? a->n_nodes : b->n_nodes;
    uint32_t i = 0;

    while (i < n && goes_along(&p, &a->node[i], &b->node[i]))
        i++;
    if (i == n && a->n_nodes == b->n_nodes)
        return FT_OK;
    return ft_fail(
        err, FT_EINVAL, 0,
        "%s: the file fixes its batch, and node %.200s (%s) goes with no other: "
        "export it with an open batch",
        a->name, i < n ? a->node[i].name : "behind the last",
        i < n ? ft_kind_name(a->op[a->node[i].op].kind) : "none");
}

/* What has a rule as filed has one at every batch. */
static ft_status compare_bounded(const ft_graph *filed, const ft_graph *g,
                                 ft_error *err)
{
    for (uint32_t i = 0; i < g->n_bounded; i++)
        if (i >= filed->n_bounded || strcmp(filed->bounded[i], g->bounded[i]))
            return ft_fail(err, FT_EINVAL, 0,
                           "%s: the file fixes its batch, and %.300s goes with no "
                           "other: export it with an open batch",
                           g->name, g->bounded[i]);
    return FT_OK;
}

/* Why it did not go, inner->msg, is the file's own fault or that of the batch. */
static ft_status explain(const ft__batch_file *f, const ft_error *inner, ft_error *err)
{
    ft_graph *filed;
    ft_status st = f->at(&filed, f->file, 0, f->name, err);

    ft_graph_free(filed);
    return st ? st
              : ft_fail(err, FT_EINVAL, 0,
                        "%.600s; at --batch %lld, where the file fixes %lld: export it "
                        "with an open batch",
                        inner->msg, (long long)f->batch, (long long)f->fixed);
}

/* g: the graph at the batch. It is held against that at the next one; neither is 1, of
 * which nothing is repeated. */
static ft_status check(const ft__batch_file *f, const ft_graph *g, ft_error *err)
{
    const int64_t batch = f->batch > 1 ? f->batch : 2;
    ft_graph *filed = NULL, *two = NULL, *next = NULL;
    ft_error inner = {0};
    ft_status st = f->at(&filed, f->file, 0, f->name, &inner);

    if (!st && batch != f->batch)
        st = f->at(&two, f->file, batch, f->name, &inner);
    if (!st)
        st = f->at(&next, f->file, batch + 1, f->name, &inner);
    if (st)
        st = explain(f, &inner, err);
    else
        st = compare_bounded(filed, g, err);
    if (!st)
        st = compare(two ? two : g, next, batch, !f->follows, err);
    ft_graph_free(filed);
    ft_graph_free(two);
    ft_graph_free(next);
    return st;
}

ft_status ft__batch_settle(ft_graph **out, ft_status st, const ft_error *inner,
                           const ft__batch_file *f, ft_error *err)
{
    if (!f->fixed || st == FT_ENOMEM) {
        if (st && err)
            *err = *inner;
        return st;
    }
    st = st ? explain(f, inner, err) : check(f, *out, err);
    if (st) {
        ft_graph_free(*out);
        *out = NULL;
    }
    return st;
}

int64_t ft__batch_unfix(ft__build *b, int64_t batch, const int64_t *first, uint32_t n)
{
    int64_t fixed = 0;

    for (uint32_t i = 0; i < n && batch; i++) {
        if (first[i] < 0 || first[i] == batch)
            return 0;
        fixed = fixed ? fixed : first[i];
    }
    if (fixed)
        ft__build_assume(b, "batch %lld, although the file fixes %lld",
                         (long long)batch, (long long)fixed);
    return fixed;
}
