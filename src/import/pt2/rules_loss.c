/* Losses and distances. Most are a formula to PyTorch, too: each step is a kernel of
 * its own (ATen/native/Loss.cpp, Distance.cpp). */
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"

/* Steps of a formula: each appends an operation and returns its result; NULL after
 * a failure, and of NULL. */
static ft__pt2_value *map(ft__pt2_node *n, ft_kind kind, ft__pt2_value *x)
{
    ft_op op = ft__pt2_op(kind, FT_DTYPE_NONE, x, NULL, NULL);

    return ft__pt2_make(n, &op, &x, 1);
}

static ft__pt2_value *join(ft__pt2_node *n, ft_kind kind, ft__pt2_value *x,
                           ft__pt2_value *y)
{
    ft_op op = ft__pt2_op(kind, FT_DTYPE_NONE, x, y, NULL);
    ft_shape broadcast;

    if (!x || !y || !ft__broadcast(&x->shape, &y->shape, &broadcast))
        return NULL;
    return ft__pt2_make(n, &op, (ft__pt2_value *[]){x, y}, 2);
}

/* With a number that does not change, such as a margin. */
static ft__pt2_value *with_number(ft__pt2_node *n, ft_kind kind, ft__pt2_value *x)
{
    return x ? join(n, kind, x, ft__pt2_operand(n, n->n_args, x->dtype)) : NULL;
}

static ft__pt2_value *reduce(ft__pt2_node *n, ft_kind kind, ft__pt2_value *x,
                             uint32_t first, uint32_t count, bool keep)
{
    ft_op op = ft__pt2_op(kind, FT_DTYPE_NONE, x, NULL, NULL);
    int64_t axes[FT_MAX_RANK];

    if (!x || !count)
        return x;
    for (uint32_t i = 0; i < count; i++)
        axes[i] = first + i;
    ft__op_set(&op, FT_K_axes, axes, count);
    ft__op_set1(&op, FT_K_keep, keep);
    return ft__pt2_make(n, &op, &x, 1);
}

/* The formula's end: the elements, or their mean or sum, as the node asks for. */
static void finish(ft__pt2_node *n, ft__pt2_value *v)
{
    enum { NONE, MEAN, SUM };
    int64_t how = ft__pt2_int(n, "reduction", MEAN);

    if (v && how != NONE)
        v = reduce(n, how == SUM ? FT_KIND_reduce_sum : FT_KIND_reduce_mean, v, 0,
                   v->shape.rank, false);
    ft__pt2_emit_view(n, v, n->out[0]);
}

/* |x - y + eps| along the last axis. */
static ft__pt2_value *distance(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *y,
                               bool keep)
{
    ft__pt2_value *v = with_number(n, FT_KIND_add, join(n, FT_KIND_sub, x, y));

    return v && v->shape.rank
               ? reduce(n, FT_KIND_reduce_l2, v, v->shape.rank - 1, 1, keep)
               : NULL;
}

static void aten_pairwise_distance(ft__pt2_node *n)
{
    ft__pt2_emit_view(n, distance(n, n->x, n->y, ft__pt2_bool(n, "keepdim", false)),
                      n->out[0]);
}

/* x / max(|x|, eps), the norm along an axis: found, copied, bounded, divided by. */
static ft__pt2_value *unit(ft__pt2_node *n, ft__pt2_value *x, uint32_t axis)
{
    ft__pt2_value *norm = reduce(n, FT_KIND_reduce_l2, x, axis, 1, true);

    norm = map(n, FT_KIND_copy, norm);
    return join(n, FT_KIND_div, x, map(n, FT_KIND_clip, norm));
}

static void aten_cosine_similarity(ft__pt2_node *n)
{
    uint32_t axis;
    ft__pt2_value *x, *y;

    if (!n->y || n->y->shape.rank != n->x->shape.rank || !n->x->shape.rank)
        return;
    axis = ft__pt2_dim(n, 1);
    x = unit(n, n->x, axis);
    y = unit(n, n->y, axis);
    ft__pt2_emit_view(
        n, reduce(n, FT_KIND_reduce_sum, join(n, FT_KIND_mul, x, y), axis, 1, false),
        n->out[0]);
}

static void aten_cross_entropy(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x;
    ft_op op = ft__pt2_op(FT_KIND_cross_entropy, FT_DTYPE_NONE, x, NULL, NULL);

    if (x->shape.rank == 0)
        return;
    ft__op_set1(&op, FT_K_axis, x->shape.rank > 1);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* One number is picked for every target, then their mean taken. */
static void aten_nll(ft__pt2_node *n)
{
    enum { SUM = 2 };
    ft__pt2_value *target = n->y, *in[2] = {n->x, NULL}, *picked;
    int64_t axes[FT_MAX_RANK];
    ft_shape s;
    ft_op op;

    if (!target || n->out[0]->shape.rank || !target->shape.rank ||
        n->x->shape.rank != target->shape.rank + 1)
        return;
    s = n->x->shape;
    s.dim[1] = 1;
    in[1] = ft__pt2_temp(n, target, target->dtype, &s);
    if (!in[1])
        return;
    ft__pt2_emit_view(n, target, in[1]);
    op = ft__pt2_op(FT_KIND_gather_elements, FT_DTYPE_NONE, n->x, in[1], NULL);
    ft__op_set1(&op, FT_K_axis, 1);
    picked = ft__pt2_make(n, &op, in, 2);
    op = ft__pt2_op(ft__pt2_int(n, "reduction", 1) == SUM ? FT_KIND_reduce_sum
                                                          : FT_KIND_reduce_mean,
                    FT_DTYPE_NONE, picked, NULL, NULL);
    for (uint32_t i = 0; i < s.rank; i++)
        axes[i] = i;
    ft__op_set(&op, FT_K_axes, axes, s.rank);
    ft__op_set1(&op, FT_K_keep, 0);
    ft__pt2_emit_in(n, &op, &picked, 1);
}

static void aten_mse(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y};
    ft_op op = ft__pt2_op(FT_KIND_mse_loss, FT_DTYPE_NONE, n->x, n->y, NULL);

    ft__pt2_emit_in(n, &op, in, 2);
}

/* 2 (x - y), times the loss's gradient. */
static void aten_mse_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[3] = {n->x, n->y, ft__pt2_in(n, 2)};
    ft_op op = ft__pt2_op(FT_KIND_mse_loss, FT_DTYPE_NONE, in[1], in[2], NULL);

    op.phase = FT_PHASE_BACKWARD;
    ft__op_set_wrt(&op, FT_WRT_X);
    ft__pt2_emit_in(n, &op, in, 3);
}

/* One kernel for the elements. */
static void aten_each(ft__pt2_node *n)
{
    finish(n, join(n, FT_KIND_sub, n->x, n->y));
}

static void aten_l1(ft__pt2_node *n)
{
    finish(n, map(n, FT_KIND_abs, join(n, FT_KIND_sub, n->x, n->y)));
}

/* xlogy(t, t) - t x, or exp(t) (t - x). */
static void aten_kl_div(ft__pt2_node *n)
{
    bool log_target = ft__pt2_bool(n, "log_target", false);
    ft__pt2_value *x = n->x, *t = n->y;
    ft__pt2_value *a = log_target ? map(n, FT_KIND_exp, t) : join(n, FT_KIND_pow, t, t),
                  *b = join(n, log_target ? FT_KIND_sub : FT_KIND_mul, t, x);

    finish(n, join(n, log_target ? FT_KIND_mul : FT_KIND_sub, a, b));
}

/* exp(x) - t x, or x - t log(x + eps). */
static void aten_poisson_nll(ft__pt2_node *n)
{
    bool log_input = ft__pt2_bool(n, "log_input", true);
    ft__pt2_value *a = n->x, *b = n->x;

    if (log_input)
        a = map(n, FT_KIND_exp, a);
    else
        b = map(n, FT_KIND_log, with_number(n, FT_KIND_add, b));
    b = join(n, FT_KIND_mul, n->y, b);
    finish(n, join(n, FT_KIND_sub, a, b));
}

/* (1 - t) x - log sigmoid(x). */
static void aten_bce_with_logits(ft__pt2_node *n)
{
    ft__pt2_value *rest = join(n, FT_KIND_mul, with_number(n, FT_KIND_sub, n->y), n->x);

    finish(n, join(n, FT_KIND_sub, rest, map(n, FT_KIND_softplus, n->x)));
}

/* log(1 + exp(-t x)). */
static void aten_soft_margin(ft__pt2_node *n)
{
    ft__pt2_value *v = join(n, FT_KIND_mul, map(n, FT_KIND_neg, n->x), n->y);

    finish(n, map(n, FT_KIND_log1p, map(n, FT_KIND_exp, v)));
}

/* max(0, margin - t (x - y)). */
static void aten_margin_ranking(ft__pt2_node *n)
{
    ft__pt2_value *v = join(n, FT_KIND_sub, n->x, n->y);

    v = join(n, FT_KIND_mul, map(n, FT_KIND_neg, ft__pt2_in(n, 2)), v);
    finish(n, map(n, FT_KIND_clip, with_number(n, FT_KIND_add, v)));
}

/* v where t equals a number, otherwise 0. */
static ft__pt2_value *where_target(ft__pt2_node *n, ft__pt2_value *t, ft__pt2_value *v)
{
    ft__pt2_value *in[3] = {with_number(n, FT_KIND_equal, t), v, NULL};
    ft_op op;

    if (!in[0] || !v || !(in[2] = ft__pt2_operand(n, n->n_args, v->dtype)))
        return NULL;
    op = ft__pt2_op(FT_KIND_where, v->dtype, in[0], v, NULL);
    ft__op_set_shape(&op, FT_K_z, &in[2]->shape);
    return ft__pt2_make(n, &op, in, 3);
}

/* x of pairs that are alike, max(0, margin - x) of others. */
static void aten_hinge_embedding(ft__pt2_node *n)
{
    ft__pt2_value *alike, *apart = with_number(n, FT_KIND_sub, n->x);

    apart = where_target(n, n->y, map(n, FT_KIND_clip, apart));
    alike = where_target(n, n->y, n->x);
    finish(n, join(n, FT_KIND_add, apart, alike));
}

/* The sum of x y along the last axis. */
static ft__pt2_value *dot(ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *y)
{
    ft__pt2_value *v = join(n, FT_KIND_mul, x, y);

    return v && v->shape.rank
               ? reduce(n, FT_KIND_reduce_sum, v, v->shape.rank - 1, 1, false)
               : NULL;
}

/* 1 - cos of pairs that are alike, max(0, cos - margin) of others. */
static void aten_cosine_embedding(ft__pt2_node *n)
{
    ft__pt2_value *xy = dot(n, n->x, n->y),
                  *xx = with_number(n, FT_KIND_add, dot(n, n->x, n->x)),
                  *yy = with_number(n, FT_KIND_add, dot(n, n->y, n->y)), *t, *alike,
                  *apart;
    ft__pt2_value *norms = map(n, FT_KIND_sqrt, join(n, FT_KIND_mul, xx, yy)),
                  *cosine = join(n, FT_KIND_div, xy, norms);

    t = ft__pt2_in(n, 2);
    alike = where_target(n, t, with_number(n, FT_KIND_sub, cosine));
    apart = map(n, FT_KIND_clip, with_number(n, FT_KIND_sub, cosine));
    finish(n, join(n, FT_KIND_add, alike, where_target(n, t, apart)));
}

/* max(0, margin + |x - y| - |x - z|); with `swap` the last is |y - z| where that is
 * less. */
static void aten_triplet_margin(ft__pt2_node *n)
{
    ft__pt2_value *z = ft__pt2_in(n, 2), *near = distance(n, n->x, n->y, false),
                  *far = distance(n, n->x, z, false);

    if (ft__pt2_bool(n, "swap", false))
        far = join(n, FT_KIND_minimum, far, distance(n, n->y, z, false));
    near = join(n, FT_KIND_sub, with_number(n, FT_KIND_add, near), far);
    finish(n, map(n, FT_KIND_clip, near));
}

const ft__pt2_rule ft__pt2_loss_rules[] = {
    {"binary_cross_entropy_with_logits", aten_bce_with_logits, 0, 0},
    {"cosine_embedding_loss", aten_cosine_embedding, 0, 0},
    {"cosine_similarity", aten_cosine_similarity, 0, 0},
    {"cross_entropy_loss", aten_cross_entropy, 0, 0},
    {"binary_cross_entropy huber_loss smooth_l1_loss", aten_each, 0, 0},
    {"hinge_embedding_loss", aten_hinge_embedding, 0, 0},
    {"kl_div", aten_kl_div, 0, 0},
    {"l1_loss", aten_l1, 0, 0},
    {"margin_ranking_loss", aten_margin_ranking, 0, 0},
    {"mse_loss", aten_mse, 0, 0},
    {"mse_loss_backward", aten_mse_grad, 0, 0},
    {"nll_loss nll_loss2d nll_loss2d_forward nll_loss_forward nll_loss_nd", aten_nll, 0,
     0},
    {"pairwise_distance", aten_pairwise_distance, 0, 0},
    {"poisson_nll_loss", aten_poisson_nll, 0, 0},
    {"soft_margin_loss", aten_soft_margin, 0, 0},
    {"triplet_margin_loss", aten_triplet_margin, 0, 0},
    {NULL, NULL, 0, 0},
};
