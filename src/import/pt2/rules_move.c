/* Views and moves: what gives elements in another shape, order or place. */
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"

static void aten_view(ft__pt2_node *n)
{
    ft__pt2_emit_view(n, n->x, ft__pt2_out(n, 0));
}

static void aten_detach(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0);

    aten_view(n);
    if (out && out->tensor != FT_NONE && !ft__pt2_failed(n))
        ft__build_detached(n->import->b, out->tensor);
}

/* Strides of a value; false: the file does not say them, or a size among them is
 * open. */
static bool strides(ft__pt2 *p, const ft__pt2_value *v, int64_t *stride)
{
    ft__json r = ft__pt2_rest(p, v);
    ft__text name;
    bool known = true;
    int n = -1;

    while (n < 0 && v->rest.n && ft__json_member(&r, &name))
        if (FT__IS(name, "strides"))
            n = ft__pt2_read_syms(p, &r, stride);
        else
            ft__json_skip(&r, NULL);
    for (int i = 0; i < n; i++) {
        ft__pt2_symbol *open;
        bool data;

        stride[i] = ft__pt2_value_of(p, stride[i], &data, &open);
        known &= stride[i] >= 0;
    }
    return known && n == (int)v->shape.rank && !ft__pt2_import_failed(p);
}

/* Whether a tensor's elements lie in the same order as another's would. */
static bool same_order(ft__pt2 *p, const ft__pt2_value *a, const ft__pt2_value *b)
{
    int64_t x[FT_MAX_RANK], y[FT_MAX_RANK];

    if (!ft_shape_equal(&a->shape, &b->shape) || !strides(p, a, x) || !strides(p, b, y))
        return false;
    for (uint32_t i = 0; i < a->shape.rank; i++)
        if (a->shape.dim[i] > 1 && x[i] != y[i])
            return false;
    return true;
}

/* contiguous() copies where the order changes; clone() copies always, but what
 * it is called for in an exported graph is the order as well, and else the copy
 * that keeps a value from being changed in place. */
static void aten_copy(ft__pt2_node *n)
{
    ft_op op = ft__pt2_op(FT_KIND_copy, FT_DTYPE_NONE, n->x, NULL, NULL);

    if (n->rule->arg == 0 && same_order(n->import, n->x, n->out[0]))
        ft__pt2_emit_view(n, n->x, n->out[0]);
    else
        ft__pt2_emit_in(n, &op, &n->x, 1);
}

/* To another dtype; to the same one it is a view (to) or a copy (_to_copy). */
static void aten_cast(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (x->dtype == out->dtype) {
        if (n->rule->arg)
            aten_copy(n);
        else
            ft__pt2_emit_view(n, x, out);
        return;
    }
    op = ft__pt2_op(FT_KIND_cast, FT_DTYPE_NONE, x, NULL, NULL);
    ft__op_set1(&op, FT_K_to, out->dtype);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* swapaxes() calls them otherwise. */
static uint32_t named_axis(const ft__pt2_node *n, const char *name, const char *other,
                           int64_t fallback)
{
    return ft__pt2_axis(n, ft__pt2_int(n, name, ft__pt2_int(n, other, fallback)),
                        n->x->shape.rank);
}

/* arg: 0 the two axes named, 1 the last two, 2 any order. */
static void aten_transpose(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = ft__pt2_out(n, 0);
    int64_t perm[FT_MAX_RANK];
    uint32_t rank = x ? x->shape.rank : 0, a, b;

    for (uint32_t i = 0; i < rank; i++)
        perm[i] = i;
    if (n->rule->arg == 2) { /* permute */
        int64_t dims[FT_MAX_RANK];

        if (ft__pt2_ints(n, "dims", dims, FT_MAX_RANK) != (int64_t)rank)
            return;
        for (uint32_t i = 0; i < rank; i++)
            perm[i] = ft__pt2_axis(n, dims[i], rank);
    } else if (rank >= 2) { /* t, mT: the last two; transpose: the two named */
        a = n->rule->arg ? rank - 2 : named_axis(n, "dim0", "axis0", 0);
        b = n->rule->arg ? rank - 1 : named_axis(n, "dim1", "axis1", 1);
        perm[a] = b;
        perm[b] = a;
    }
    ft__pt2_emit_transpose(n, x, out, perm);
}

/* arg: a kind whose result's shape is a key of its own. */
static void aten_move(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = n->out[0];
    ft_op op = ft__pt2_op((ft_kind)n->rule->arg, FT_DTYPE_NONE, x, NULL, out);

    if (n->rule->arg == FT_KIND_expand &&
        ft_shape_elements(&x->shape) == ft_shape_elements(&out->shape))
        ft__pt2_emit_view(n, x, out);
    else
        ft__pt2_emit_in(n, &op, &x, 1);
}

/* arg: 0 nearest, 1 linear, 2 cubic. */
static void aten_resize(ft__pt2_node *n)
{
    ft_op op = ft__pt2_op(FT_KIND_resize, FT_DTYPE_NONE, n->x, NULL, n->out[0]);

    ft__op_set1(&op, FT_K_mode, n->rule->arg);
    ft__pt2_emit_in(n, &op, &n->x, 1);
}

/* slice, select, narrow: a part of x. */
static void aten_slice(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x, *out = n->out[0];
    int64_t step = ft__pt2_int(n, "step", 1);
    ft_op op = ft__pt2_op(FT_KIND_slice, FT_DTYPE_NONE, x, NULL, out);

    ft__op_set1(&op, FT_K_step, step > 0 ? step : 1);
    if (ft_shape_elements(&x->shape) == ft_shape_elements(&out->shape))
        ft__pt2_emit_view(n, x, out);
    else
        ft__pt2_emit_in(n, &op, &x, 1);
}

/* More parts than an operation can have: one slice for each. */
static void slices(ft__pt2_node *n, ft__pt2_value *x)
{
    for (uint32_t i = 0; i < n->n_out; i++) {
        ft__pt2_value *out = n->out[i];
        ft_op op;

        if (!out || !out->typed)
            continue;
        op = ft__pt2_op(FT_KIND_slice, FT_DTYPE_NONE, x, NULL, out);
        ft__pt2_emit_to(n, &op, &x, 1, out);
    }
}

/* split, chunk, unbind (whose parts have no such axis). */
static void aten_split(ft__pt2_node *n)
{
    ft__pt2_value *x = n->x;
    int64_t sizes[FT_OP_MAX_OPERANDS];
    uint32_t axis;
    ft_op op;

    if (n->n_out == 0)
        return;
    axis = ft__pt2_dim(n, 0);
    if (n->n_out > FT_OP_MAX_OPERANDS - 16) {
        slices(n, x);
        return;
    }
    for (uint32_t i = 0; i < n->n_out; i++) {
        const ft__pt2_value *v = n->out[i];

        if (!v || !v->typed)
            return;
        sizes[i] = v->shape.rank == x->shape.rank ? v->shape.dim[axis] : 1;
    }
    if (n->n_out == 1) {
        ft__pt2_emit_view(n, x, n->out[0]);
        return;
    }
    op = ft__pt2_op(FT_KIND_split, FT_DTYPE_NONE, x, NULL, NULL);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set(&op, FT_K_sizes, sizes, n->n_out);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* A part of a stack, with the axis that it lacks; itself where memory is short. */
static ft__pt2_value *with_axis(ft__pt2_node *n, ft__pt2_value *v, uint32_t axis,
                                const ft_shape *out)
{
    ft_shape s = *out;
    ft__pt2_value *t;

    s.dim[axis] = 1;
    t = ft__pt2_temp(n, v, v->dtype, &s);
    if (t)
        ft__pt2_emit_view(n, v, t);
    return t && t->state != FT__PT2_UNDEFINED ? t : v;
}

/* arg 1: stack, whose parts have no such axis yet. */
static void aten_concat(ft__pt2_node *n)
{
    const ft__pt2_arg *list = ft__pt2_arg_at(n, 0);
    ft__pt2_value *in[FT_OP_MAX_OPERANDS], *out = ft__pt2_out(n, 0);
    int64_t sizes[FT_OP_MAX_OPERANDS];
    uint32_t count = 0, axis;
    ft_shape first;
    ft_op op;

    if (!list || list->type != FT__PT2_TENSORS || !out || out->shape.rank == 0)
        return;
    axis = ft__pt2_axis(n, ft__pt2_int(n, "dim", 0), out->shape.rank);
    for (uint32_t i = 0; i < list->n; i++) {
        ft__pt2_value *v = list->value[i];

        /* Empty tensors of any rank may be there, and add nothing. */
        if (!v || ft_shape_elements(&v->shape) == 0)
            continue;
        if (count == FT_OP_MAX_OPERANDS - 16)
            return;
        if (n->rule->arg && !ft__pt2_failed(n))
            v = with_axis(n, v, axis, &out->shape);
        sizes[count] = n->rule->arg ? 1 : v->shape.dim[axis];
        in[count++] = v;
    }
    if (count == 0)
        return;
    if (count == 1) {
        ft__pt2_emit_view(n, in[0], out);
        return;
    }
    first = out->shape;
    first.dim[axis] = sizes[0];
    op = ft__op_concat(out->dtype, &first, axis, sizes, count);
    ft__pt2_emit_in(n, &op, in, count);
}

/* arg: fill or random, made of nothing. */
static void aten_fill(ft__pt2_node *n)
{
    ft__pt2_value *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!out)
        return;
    op = ft__pt2_op((ft_kind)n->rule->arg, out->dtype, NULL, NULL, out);
    ft__pt2_emit_in(n, &op, NULL, 0);
}

/* Each of a list, to the shape of its result. */
static void aten_expand_each(ft__pt2_node *n)
{
    const ft__pt2_arg *list = ft__pt2_arg_at(n, 0);

    for (uint32_t i = 0; list && i < list->n && i < n->n_out; i++) {
        ft__pt2_value *x = list->value[i], *out = n->out[i];
        ft_op op = ft__pt2_op(FT_KIND_expand, FT_DTYPE_NONE, x, NULL, out);

        if (out)
            ft__pt2_emit_to(n, &op, &x, 1, out);
    }
}

static void aten_embedding(ft__pt2_node *n)
{
    ft__pt2_value *w = n->x, *x = n->y;
    ft_op op;

    if (!x || w->shape.rank != 2)
        return;
    op = ft__op_embedding(w->dtype, &x->shape, w->shape.dim[0], w->shape.dim[1]);
    ft__pt2_emit_layer(n, &op, &x, 1, &w, 1);
}

/* index_select, gather: x, axis, indices. */
static void aten_gather(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, ft__pt2_tensor(n, "index")};
    ft_op op = ft__pt2_op((ft_kind)n->rule->arg, FT_DTYPE_NONE, in[0], in[1], NULL);

    if (in[0]->shape.rank == 0)
        return;
    ft__op_set1(&op, FT_K_axis,
                ft__pt2_axis(n, ft__pt2_int(n, "dim", 0), in[0]->shape.rank));
    ft__pt2_emit_in(n, &op, in, 2);
}

/* x[i, :, j]: one index is a gather, several are one of tuples, a mask picks. */
static void aten_index(ft__pt2_node *n)
{
    const ft__pt2_arg *list = ft__pt2_arg_of(n, "indices");
    ft__pt2_value *in[2] = {n->x, NULL}, *out = ft__pt2_out(n, 0);
    uint32_t count = 0, axis = 0;
    ft_op op;

    if (!list)
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        ft__pt2_value *v = list->value[i];

        if (!v)
            continue;
        if (!in[1] || ft_shape_elements(&v->shape) > ft_shape_elements(&in[1]->shape))
            in[1] = v;
        axis = count++ ? axis : i;
    }
    if (!in[1])
        return;
    if (in[1]->dtype == FT_DTYPE_bool)
        op = ft__pt2_op(FT_KIND_nonzero, FT_DTYPE_NONE, in[0], NULL, out);
    else if (count > 1)
        op = ft__pt2_op(FT_KIND_gather_nd, FT_DTYPE_NONE, in[0], in[1], out);
    else
        op = ft__pt2_op(FT_KIND_gather, FT_DTYPE_NONE, in[0], in[1], NULL);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__pt2_emit_in(n, &op, in, op.kind == FT_KIND_nonzero ? 1 : 2);
}

/* x with some elements replaced or added to; arg: which argument they are. */
static void aten_scatter(ft__pt2_node *n)
{
    const ft_dtype t = n->out[0]->dtype;
    ft__pt2_value *in[2] = {n->x, ft__pt2_operand(n, (uint32_t)n->rule->arg, t)};
    ft_op op = ft__pt2_op(FT_KIND_scatter, t, in[0], in[1], NULL);

    ft__pt2_emit_in(n, &op, in, 2);
}

/* Rows of a table, summed bag by bag: torch makes them in one pass. */
static void aten_embedding_bag(ft__pt2_node *n)
{
    ft__pt2_value *w = n->x, *x = n->y, *out = ft__pt2_out(n, 0);
    ft__pt2_value *rows;
    ft_shape s;
    ft_op op;

    if (!x || w->shape.rank != 2 || x->shape.rank != 1 || out->shape.rank != 2 ||
        !out->shape.dim[0] || x->shape.dim[0] % out->shape.dim[0])
        return;
    s = (ft_shape){.rank = 3,
                   .dim = {out->shape.dim[0], x->shape.dim[0] / out->shape.dim[0],
                           w->shape.dim[1]}};
    rows = ft__pt2_temp(n, out, w->dtype, &s);
    op = ft__op_embedding(w->dtype, &x->shape, w->shape.dim[0], w->shape.dim[1]);
    if (!rows)
        return;
    ft__pt2_emit(n, &op,
                 &(ft__pt2_call){.in = &x,
                                 .n_in = 1,
                                 .params = &w,
                                 .n_params = 1,
                                 .out = &rows,
                                 .n_out = 1});
    if (!ft__pt2_made(n, rows))
        return;
    op = ft__pt2_op(FT_KIND_reduce_sum, w->dtype, rows, NULL, NULL);
    ft__op_set1(&op, FT_K_axes, 1);
    ft__op_set1(&op, FT_K_keep, 0);
    ft__pt2_emit_in(n, &op, &rows, 1);
}

/* copy(x, y): y in the place of x. */
static void aten_copy_from(ft__pt2_node *n)
{
    ft__pt2_value *x = n->y, *out = n->out[0];
    ft_op op;

    if (!x)
        return;
    op = ft__pt2_op(!ft_shape_equal(&x->shape, &out->shape) ? FT_KIND_expand
                    : x->dtype == out->dtype                ? FT_KIND_copy
                                                            : FT_KIND_cast,
                    FT_DTYPE_NONE, x, NULL, out);
    ft__op_set1(&op, FT_K_to, out->dtype);
    ft__pt2_emit_in(n, &op, &x, 1);
}

/* Columns added up into a picture: zeros first, then each to its place. */
static void aten_col2im(ft__pt2_node *n)
{
    ft__pt2_value *out = n->out[0], *in[2] = {NULL, n->x};
    ft_op op = ft__pt2_op(FT_KIND_fill, out->dtype, NULL, NULL, out);

    in[0] = ft__pt2_make(n, &op, NULL, 0);
    op = ft__pt2_op(FT_KIND_scatter, out->dtype, out, in[1], NULL);
    ft__pt2_emit_in(n, &op, in, 2);
}

/* Of a slice or a resized picture: x is what the node gives. */
static void move_grad(ft__pt2_node *n, ft_kind kind, ft_key_id key, int64_t value)
{
    ft__pt2_value *grad = n->x, *out = ft__pt2_out(n, 0);
    ft_op op = ft__pt2_op(kind, FT_DTYPE_NONE, out, NULL, grad);

    ft__op_set1(&op, key, value);
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, &grad, 1);
}

static void aten_slice_grad(ft__pt2_node *n)
{
    int64_t step = ft__pt2_int(n, "step", 1);

    move_grad(n, FT_KIND_slice, FT_K_step, step > 0 ? step : 1);
}

static void aten_resize_grad(ft__pt2_node *n)
{
    move_grad(n, FT_KIND_resize, FT_K_mode, n->rule->arg);
}

static void aten_embedding_grad(ft__pt2_node *n)
{
    ft__pt2_value *in[2] = {n->x, n->y}, *out = ft__pt2_out(n, 0);
    ft_op op;

    if (!in[1] || out->shape.rank != 2)
        return;
    op = ft__op_embedding(out->dtype, &in[1]->shape, out->shape.dim[0],
                          out->shape.dim[1]);
    op.phase = FT_PHASE_BACKWARD;
    ft__pt2_emit_in(n, &op, in, 2);
}

const ft__pt2_rule ft__pt2_move_rules[] = {
    {"to type_as", aten_cast, 0, 0},
    {"_to_copy", aten_cast, 1, 0},
    {"col2im", aten_col2im, 0, 0},
    {"cat concat concatenate", aten_concat, 0, FT__PT2_ANY},
    {"stack", aten_concat, 1, FT__PT2_ANY},
    {"clone contiguous lift_fresh_copy", aten_copy, 0, FT__PT2_VIEW},
    {"channel_shuffle flip fliplr flipud native_channel_shuffle roll rot90 tril "
     "triu",
     aten_copy, 1, FT__PT2_VIEW},
    {"copy", aten_copy_from, 0, 0},
    {"detach detach_copy", aten_detach, 0, FT__PT2_VIEW},
    {"embedding", aten_embedding, 0, 0},
    {"_embedding_bag _embedding_bag_forward_only embedding_bag", aten_embedding_bag, 0,
     0},
    {"embedding_dense_backward", aten_embedding_grad, 0, 0},
    {"arange bartlett_window blackman_window empty empty_like empty_permuted "
     "empty_strided eye fill full full_like hamming_window hann_window "
     "kaiser_window linspace logspace new_empty new_empty_strided new_full "
     "new_ones new_zeros nll_loss2d_backward nll_loss_backward ones ones_like "
     "scalar_tensor tril_indices triu_indices zero zeros zeros_like",
     aten_fill, FT_KIND_fill, FT__PT2_ANY},
    {"bernoulli exponential multinomial normal normal_functional poisson rand "
     "rand_like randint randint_like randn randn_like random randperm uniform",
     aten_fill, FT_KIND_random, FT__PT2_ANY},
    {"index_select", aten_gather, FT_KIND_gather, 0},
    {"gather take_along_dim", aten_gather, FT_KIND_gather_elements, 0},
    {"_unsafe_index index", aten_index, 0, 0},
    {"broadcast_tensors meshgrid", aten_expand_each, 0, FT__PT2_ANY},
    {"pixel_shuffle", aten_move, FT_KIND_depth_to_space, 0},
    {"broadcast_to expand expand_as expand_copy", aten_move, FT_KIND_expand, 0},
    {"_unique _unique2 argwhere masked_select nonzero nonzero_numpy nonzero_static "
     "unique unique_consecutive unique_dim",
     aten_move, FT_KIND_nonzero, 0},
    {"one_hot", aten_move, FT_KIND_one_hot, 0},
    {"_pad_circular _pad_enum constant_pad_nd pad reflection_pad1d "
     "reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
     "replication_pad3d",
     aten_move, FT_KIND_pad, 0},
    {"pixel_unshuffle", aten_move, FT_KIND_space_to_depth, 0},
    {"im2col repeat repeat_interleave tile unfold", aten_move, FT_KIND_tile, 0},
    {"_upsample_nearest_exact1d _upsample_nearest_exact2d "
     "_upsample_nearest_exact3d upsample_nearest1d upsample_nearest2d "
     "upsample_nearest3d",
     aten_resize, 0, 0},
    {"_upsample_bilinear2d_aa upsample_bilinear2d upsample_linear1d "
     "upsample_trilinear3d",
     aten_resize, 1, 0},
    {"_upsample_bicubic2d_aa upsample_bicubic2d", aten_resize, 2, 0},
    {"_upsample_nearest_exact2d_backward upsample_nearest1d_backward "
     "upsample_nearest2d_backward upsample_nearest3d_backward",
     aten_resize_grad, 0, 0},
    {"_upsample_bilinear2d_aa_backward upsample_bilinear2d_backward "
     "upsample_linear1d_backward upsample_trilinear3d_backward",
     aten_resize_grad, 1, 0},
    {"upsample_bicubic2d_backward", aten_resize_grad, 2, 0},
    {"as_strided_scatter diagonal_scatter select_scatter slice_scatter", aten_scatter,
     1, 0},
    {"_unsafe_index_put index_put masked_scatter", aten_scatter, 2, 0},
    {"index_add index_copy index_fill scatter scatter_add scatter_reduce", aten_scatter,
     3, 0},
    {"as_strided diagonal diagonal_copy narrow narrow_copy select select_copy "
     "slice slice_copy",
     aten_slice, 0, 0},
    {"select_backward slice_backward", aten_slice_grad, 0, 0},
    {"chunk hsplit split split_copy split_with_sizes split_with_sizes_copy "
     "tensor_split unbind unbind_copy unsafe_chunk unsafe_split "
     "unsafe_split_with_sizes vsplit",
     aten_split, 0, 0},
    {"swapaxes swapdims transpose transpose_copy", aten_transpose, 0, 0},
    {"adjoint mT matrix_H numpy_T t t_copy", aten_transpose, 1, 0},
    {"permute permute_copy", aten_transpose, 2, 0},
    {"_conj _reshape_alias _unsafe_view alias alias_copy conj flatten imag lift "
     "lift_fresh pin_memory positive ravel real reshape reshape_as resolve_conj "
     "resolve_neg squeeze squeeze_copy unflatten unsqueeze unsqueeze_copy view "
     "view_as view_as_complex view_as_real view_copy",
     aten_view, 0, FT__PT2_VIEW},
    {NULL, NULL, 0, 0},
};
