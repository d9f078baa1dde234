/* Normalisation. */
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

/* Before opset 13 the axes from `axis` on were one. */
void ft__rule_softmax(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    uint32_t rank = x->shape.rank;
    uint32_t axis = rank ? ft__attr_axis(n, n->import->opset < 13 ? 1 : -1) : 0;
    ft_shape s = x->shape;
    ft_op op;

    if (n->import->opset < 13 && axis + 1 < rank) {
        s = (ft_shape){.rank = 2, .dim = {1, 1}};
        for (uint32_t i = 0; i < rank; i++)
            s.dim[i >= axis] *= x->shape.dim[i];
        axis = 1;
    }
    ft__op_init(&op, (ft_kind)n->rule->arg, x->dtype);
    ft__op_set_shape(&op, FT_K_x, &s);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__emit1(n, &op, x, &x->shape);
}

/* One operand; the other ones are parameters. key: FT_K_COUNT for none. */
static void norm(ft__onnx_node *n, ft_kind kind, ft_key_id key, int64_t value)
{
    ft__onnx_value *x = n->in[0];
    ft_op op = ft__op_x(kind, x);

    if (key != FT_K_COUNT)
        ft__op_set1(&op, key, value);
    ft__emit_params(n, &op, &x->shape);
}

void ft__rule_batchnorm(ft__onnx_node *n)
{
    bool training = n->import->opset >= 14 && ft__attr_int(n, "training_mode", 0);

    norm(n, FT_KIND_batchnorm, FT_K_train, training);
    for (uint32_t i = 1; i < 5; i++) /* statistics, when it was exported in training */
        ft__emit_extra(n, i, n->in[3]->dtype, &n->in[3]->shape);
}

/* (x - mean) / deviation, over all but the channels unless axes say otherwise. */
void ft__rule_mean_variance(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *mean, *square;
    uint32_t rank = x->shape.rank;
    int64_t all = (((int64_t)1 << rank) - 1) & ~(int64_t)2,
            axes = ft__axes(n, 1, rank, all);

    mean = ft__reduce(n, FT_KIND_reduce_mean, x, (uint32_t)axes, true, NULL);
    x = ft__apply2(n, FT_KIND_sub, x, mean, NULL);
    square = ft__apply2(n, FT_KIND_mul, x, x, NULL);
    mean = ft__reduce(n, FT_KIND_reduce_mean, square, (uint32_t)axes, true, NULL);
    mean = ft__apply1(n, FT_KIND_sqrt, mean, NULL);
    ft__apply2(n, FT_KIND_div, x, mean, n->out[0]);
}

void ft__rule_instancenorm(ft__onnx_node *n)
{
    norm(n, FT_KIND_instancenorm, FT_K_COUNT, 0);
}

void ft__rule_groupnorm(ft__onnx_node *n)
{
    norm(n, FT_KIND_groupnorm, FT_K_groups, ft__attr_int(n, "num_groups", 1));
}

void ft__rule_lrn(ft__onnx_node *n)
{
    norm(n, FT_KIND_lrn, FT_K_size, ft__attr_int(n, "size", 1));
}

void ft__rule_l2norm(ft__onnx_node *n)
{
    norm(n, FT_KIND_l2norm, FT_K_axis, ft__attr_axis(n, -1));
}

/* arg: the kind. n->norm: set where a chain of nodes was fused. */
void ft__rule_layernorm(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    ft_dtype stash = ft_dtype_from_onnx(ft__attr_int(n, "stash_type", 1));
    uint32_t axis =
        n->norm ? (n->norm < s.rank ? s.rank - n->norm : 0) : ft__attr_axis(n, -1);

    norm(n, (ft_kind)n->rule->arg, FT_K_norm, s.rank - axis);
    for (uint32_t i = axis; i < s.rank; i++)
        s.dim[i] = 1;
    ft__emit_extra(n, 1, stash, &s);
    ft__emit_extra(n, 2, stash, &s);
}
