/* A file that fixes its batch, read at another one: whether every operation went along.
 * Shapes that are written into the file as numbers do not, and a reshape with a -1
 * beside them makes something else of the network without an error. So the graph is
 * held against the one as filed: of each tensor that depends on the input one dimension
 * has grown, in proportion, and views keep it where it was. */
#include <stdbool.h>

#include "import/options.h"

struct two_batches {
    const ft_graph *a;
    const ft_graph *b;
    int64_t batch_a;
    int64_t batch_b;
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

        if (out == WRONG || (in != SAME && out == SAME))
            return false;
        if (op->kind == FT_KIND_view && in != SAME && !view_keeps(p, a, first, out))
            return false;
    }
    return true;
}

ft_status ft__batch_goes_along(const ft_graph *a, const ft_graph *b, int64_t batch_a,
                               int64_t batch_b, ft_error *err)
{
    const struct two_batches p = {a, b, batch_a, batch_b};
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
