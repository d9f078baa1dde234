/* The backward pass of a training step: the loss that begins it; how every kind of
 * operation is differentiated, as PyTorch does it, with a kernel of its own, by forward
 * operations, or by moving what its shapes say; and the sums of the gradients of
 * tensors with several readers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op.h"
#include "graph/op_inside.h"
#include "graph/train.h"

/* ---- single nodes of a backward pass; FT_NONE when the build failed ---- */

static uint32_t new_tensor(ft__train *t, ft_dtype dtype, const ft_shape *shape)
{
    return ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_ACTIVATION, dtype,
                            shape);
}

/* A node with one result of this shape. */
static uint32_t add_node(ft__train *t, const ft_op *op, const uint32_t *in,
                         uint32_t n_in, const ft_shape *shape)
{
    ft_shape s;
    ft_dtype dtype;
    uint32_t out;

    ft_op_output(op, 0, &s, &dtype);
    out = new_tensor(t, dtype, shape ? shape : &s);
    if (out != FT_NONE)
        ft__build_node(t->b, t->at, strlen(t->at), op, in, n_in, NULL, 0, &out, 1);
    return ft__build_failed(t->b) ? FT_NONE : out;
}

/* An operation on tensor x of the step; its shape. */
static ft_shape begin(const ft__train *t, ft_op *op, ft_kind kind, uint32_t x)
{
    const ft_tensor *tensor = ft__build_get(t->b, x);

    ft__op_init(op, kind, tensor->dtype);
    ft__op_set_shape(op, FT_K_x, &tensor->shape);
    return tensor->shape;
}

static uint32_t add_unary(ft__train *t, ft_kind kind, uint32_t x)
{
    ft_shape s;
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    s = begin(t, &op, kind, x);
    return add_node(t, &op, &x, 1, &s);
}

/* A number in the code is an operand of one element. */
static uint32_t scalar(ft__train *t, ft_dtype dtype)
{
    const ft_shape s = {.rank = 0};

    if (t->scalar == FT_NONE)
        t->scalar = ft__build_tensor(t->b, "number", 6, FT_ROLE_WEIGHT, dtype, &s);
    return t->scalar;
}

/* y FT_NONE: a number. */
static uint32_t add_binary(ft__train *t, ft_kind kind, uint32_t x, uint32_t y)
{
    ft_dtype dtype = x != FT_NONE ? ft__build_get(t->b, x)->dtype : FT_DTYPE_fp32;
    uint32_t in[2] = {x, y == FT_NONE ? scalar(t, dtype) : y};
    ft_shape a, b;
    ft_op op;

    if (x == FT_NONE || in[1] == FT_NONE)
        return FT_NONE;
    a = begin(t, &op, kind, x);
    b = ft__build_get(t->b, in[1])->shape;
    ft__op_set_shape(&op, FT_K_y, &b);
    return add_node(t, &op, in, 2, a.rank == 0 && b.rank == 0 ? &a : NULL);
}

static uint32_t add_where(ft__train *t, uint32_t condition, uint32_t x, uint32_t y)
{
    static const ft_key_id keys[] = {FT_K_x, FT_K_y, FT_K_z};
    uint32_t in[3] = {condition, x, y}, rank = 0;
    ft_dtype dtype = FT_DTYPE_fp32;
    ft_shape s;
    ft_op op;

    if (condition == FT_NONE || (x == FT_NONE && y == FT_NONE))
        return FT_NONE;
    dtype = ft__build_get(t->b, x != FT_NONE ? x : y)->dtype;
    ft__op_init(&op, FT_KIND_where, dtype);
    for (uint32_t i = 0; i < 3; i++) {
        if (in[i] == FT_NONE)
            in[i] = scalar(t, dtype);
        if (in[i] == FT_NONE)
            return FT_NONE;
        s = ft__build_get(t->b, in[i])->shape;
        rank = s.rank > rank ? s.rank : rank;
        ft__op_set_shape(&op, keys[i], &s);
    }
    return add_node(t, &op, in, 3, rank == 0 ? &s : NULL);
}

static uint32_t add_cast(ft__train *t, uint32_t x, ft_dtype to)
{
    ft_shape s;
    ft_op op;

    if (x == FT_NONE || ft__build_get(t->b, x)->dtype == to)
        return x;
    s = begin(t, &op, FT_KIND_cast, x);
    ft__op_set1(&op, FT_K_to, (int64_t)to);
    return add_node(t, &op, &x, 1, &s);
}

/* One operand and the result's shape: pad, slice, expand and the like. */
static uint32_t add_move(ft__train *t, ft_kind kind, uint32_t x, const ft_shape *shape)
{
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    begin(t, &op, kind, x);
    ft__op_set_shape(&op, FT_K_out, shape);
    return add_node(t, &op, &x, 1, shape);
}

static uint32_t add_view(ft__train *t, uint32_t x, const ft_shape *shape)
{
    if (x == FT_NONE || ft_shape_equal(&ft__build_get(t->b, x)->shape, shape))
        return x;
    return add_move(t, FT_KIND_view, x, shape);
}

static uint32_t add_fill(ft__train *t, ft_dtype dtype, const ft_shape *shape)
{
    ft_op op;

    ft__op_init(&op, FT_KIND_fill, dtype);
    ft__op_set_shape(&op, FT_K_out, shape);
    return add_node(t, &op, NULL, 0, shape);
}

/* x as the operand of this shape that broadcasting made it from. */
static uint32_t sum_to(ft__train *t, uint32_t x, const ft_shape *shape)
{
    int64_t axes[FT_MAX_RANK];
    uint32_t n = 0, lead;
    ft_shape s;
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    s = ft__build_get(t->b, x)->shape;
    /* Exporters flatten axes; a shape of as many elements was not broadcast. */
    if (s.rank < shape->rank || ft_shape_elements(&s) == ft_shape_elements(shape))
        return add_view(t, x, shape);
    lead = s.rank - shape->rank;
    for (uint32_t i = 0; i < s.rank; i++)
        if (s.dim[i] != 1 && (i < lead || shape->dim[i - lead] == 1))
            axes[n++] = i;
    begin(t, &op, FT_KIND_reduce_sum, x);
    ft__op_set(&op, FT_K_axes, axes, n);
    return add_view(t, add_node(t, &op, &x, 1, NULL), shape);
}

/* Let g, of any shape that broadcasting gave it, be added to the gradient of a
 * tensor of the source when the node at work is done: until then its operands
 * must not change. Nothing where none is wanted. */
static void give(ft__train *t, uint32_t tensor, uint32_t g)
{
    if (ft__build_failed(t->b) || g == FT_NONE || !ft__train_wants(t, tensor))
        return;
    if (t->n_given == sizeof(t->given) / sizeof(*t->given)) {
        ft__build_fail(t->b, FT_EUNSUPPORTED, 0, "node %s: more than %d operands",
                       t->at, FT_OP_MAX_OPERANDS);
        return;
    }
    t->given[t->n_given].tensor = tensor;
    t->given[t->n_given++].g = g;
}

/* ---- sums ---- */

static uint16_t *holders(ft__train *t, uint32_t tensor)
{
    uint32_t storage = ft__build_get(t->b, tensor)->storage;
    uint16_t *p;

    if (storage >= t->cap_holders) {
        uint32_t cap = storage + storage / 2 + 64;

        p = realloc(t->holders, cap * sizeof(*p));
        if (!p) {
            ft__build_fail(t->b, FT_ENOMEM, 0, "training step of %s", t->src->name);
            return NULL;
        }
        memset(p + t->cap_holders, 0, (cap - t->cap_holders) * sizeof(*p));
        t->holders = p;
        t->cap_holders = cap;
    }
    return &t->holders[storage];
}

static void hold(ft__train *t, uint32_t g)
{
    uint16_t *p = holders(t, g);

    if (p && *p < UINT16_MAX)
        ++*p;
}

static void release(ft__train *t, uint32_t tensor)
{
    uint16_t *p = t->grad[tensor] == FT_NONE ? NULL : holders(t, t->grad[tensor]);

    if (p && *p && *p < UINT16_MAX)
        --*p;
    t->grad[tensor] = FT_NONE;
}

/* The sum lies where the older gradient did, unless somebody else needs that. */
static uint32_t accumulate(ft__train *t, uint32_t old, uint32_t g)
{
    uint32_t sum = add_binary(t, FT_KIND_add, old, g);
    uint16_t *p = holders(t, old);

    if (sum == FT_NONE || !p)
        return sum;
    if (*p == 1 && ft__build_get(t->b, old)->role == FT_ROLE_ACTIVATION &&
        ft__build_get(t->b, old)->storage != ft__build_get(t->b, g)->storage)
        ft__build_alias(t->b, sum, old);
    return sum;
}

/* g is the gradient of a tensor of the source, or is added to it. */
static void take(ft__train *t, uint32_t tensor, uint32_t g)
{
    if (g != FT_NONE && t->grad[tensor] != FT_NONE) {
        g = accumulate(t, t->grad[tensor], g);
        release(t, tensor);
    }
    if (g == FT_NONE)
        return;
    t->grad[tensor] = g;
    hold(t, g);
}

/* Sums over what was broadcast come before all additions. */
static void take_given(ft__train *t)
{
    for (uint32_t i = 0; i < t->n_given; i++) {
        const ft_tensor *of = &t->src->tensor[t->given[i].tensor];
        uint32_t g = sum_to(t, t->given[i].g, &of->shape);

        t->given[i].g = add_cast(t, g, of->dtype);
    }
    for (uint32_t i = 0; i < t->n_given; i++)
        take(t, t->given[i].tensor, t->given[i].g);
    t->n_given = 0;
}

/* A parameter keeps its gradient: one that others hold too is copied. */
static void own_gradients(ft__train *t, const uint32_t *tensor, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t g = t->grad[tensor[i]], own;
        uint16_t *p = g == FT_NONE ? NULL : holders(t, g);

        if (!p || *p < 2 || !ft__train_is_parameter(&t->src->tensor[tensor[i]]))
            continue;
        own = add_unary(t, FT_KIND_copy, g);
        release(t, tensor[i]);
        t->grad[tensor[i]] = own;
        if (own != FT_NONE)
            hold(t, own);
    }
}

/* The backward nodes of a source node are made: the gradients of its results are no
 * longer needed, and those that it gave are added up. */
static void finish_node(ft__train *t, const ft_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++)
        release(t, n->out[i]);
    take_given(t);
    own_gradients(t, n->in, n->n_in);
}

/* ---- what moves, reshapes or sums: shapes decide ---- */

static const ft_shape *shape_of(const ft__train *t, uint32_t tensor)
{
    return &t->src->tensor[tensor].shape;
}

static void view_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    (void)op;
    give(t, n->in[0], add_view(t, g, shape_of(t, n->in[0])));
}

static void transpose_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft_shape s, x = ft_op_shape(op, FT_K_x);
    int64_t back[FT_MAX_RANK] = {0};
    ft_dtype dtype;
    ft_op inverse;

    for (uint32_t i = 0; i < x.rank; i++)
        back[ft_op_at(op, FT_K_perm, i)] = i;
    ft_op_output(op, 0, &s, &dtype);
    ft__op_init(&inverse, FT_KIND_transpose, op->dtype);
    ft__op_set_shape(&inverse, FT_K_x, &s);
    ft__op_set(&inverse, FT_K_perm, back, x.rank);
    give(t, n->in[0], add_node(t, &inverse, &g, 1, shape_of(t, n->in[0])));
}

/* A gradient goes between devices as what it is of did: that of a sum is theirs, and
 * theirs of what all had is the sum. */
static void collective_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    give(t, n->in[0], add_node(t, op, &g, 1, shape_of(t, n->in[0])));
}

static void concat_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    (void)op;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (ft__train_wants(t, n->in[i]))
            give(t, n->in[i], add_move(t, FT_KIND_slice, g, shape_of(t, n->in[i])));
}

/* Parts without a gradient are zeros. */
static void split_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    uint32_t in[FT_OP_MAX_OPERANDS], n_sizes, axis;
    const int64_t *sizes = ft_op_get(op, FT_K_sizes, &n_sizes);
    ft_shape s;
    ft_op whole;

    (void)g;
    for (uint32_t i = 0; i < n->n_out; i++) {
        in[i] = t->grad[n->out[i]];
        if (in[i] == FT_NONE)
            in[i] = add_fill(t, op->dtype, shape_of(t, n->out[i]));
    }
    s = ft_op_shape(op, FT_K_x);
    axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
    s.dim[axis] = sizes[0];
    ft__op_init(&whole, FT_KIND_concat, op->dtype);
    ft__op_set_shape(&whole, FT_K_x, &s);
    ft__op_set1(&whole, FT_K_axis, (int64_t)axis);
    ft__op_set(&whole, FT_K_sizes, sizes, n_sizes);
    give(t, n->in[0], add_node(t, &whole, in, n->n_out, shape_of(t, n->in[0])));
}

/* What was cut off is zero; what was added falls away; what was repeated is
 * summed. */
static void resize_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    const ft_shape *x = shape_of(t, n->in[0]);

    give(t, n->in[0],
         op->kind == FT_KIND_slice ? add_move(t, FT_KIND_pad, g, x)
         : op->kind == FT_KIND_pad ? add_move(t, FT_KIND_slice, g, x)
                                   : sum_to(t, g, x));
}

/* x with a 1 for every axis that was reduced. */
static ft_shape kept_axes(const ft_op *op)
{
    ft_shape s = ft_op_shape(op, FT_K_x);
    uint32_t n;
    const int64_t *axes = ft_op_get(op, FT_K_axes, &n);

    if (op->kind == FT_KIND_global_avgpool)
        for (uint32_t i = 2; i < s.rank; i++)
            s.dim[i] = 1;
    for (uint32_t i = 0; i < n; i++)
        s.dim[axes[i]] = 1;
    return s;
}

static void sum_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft_shape kept = kept_axes(op), x = ft_op_shape(op, FT_K_x);

    g = add_move(t, FT_KIND_expand, add_view(t, g, &kept), &x);
    if (op->kind != FT_KIND_reduce_sum)
        g = add_binary(t, FT_KIND_div, g, FT_NONE);
    give(t, n->in[0], add_view(t, g, shape_of(t, n->in[0])));
}

static void cast_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    give(t, n->in[0], add_cast(t, g, op->dtype));
}

/* One element of an axis is a slice; more are added to zeros, in place. */
static void gather_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    const ft_shape *x = shape_of(t, n->in[0]);
    ft_shape y = ft_op_shape(op, FT_K_y), s = *x;
    uint32_t in[3] = {FT_NONE, g, n->n_in > 1 ? n->in[1] : FT_NONE}, sum, axis;
    ft_op op_sum;

    if (op->kind == FT_KIND_gather && ft_shape_elements(&y) == 1) {
        axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
        s.dim[axis] = 1;
        g = add_move(t, FT_KIND_pad, add_view(t, g, &s), x);
        give(t, n->in[0], g);
        return;
    }
    in[0] = add_fill(t, op->dtype, x);
    if (in[0] == FT_NONE)
        return;
    y = ft__build_get(t->b, g)->shape;
    ft__op_init(&op_sum, FT_KIND_scatter, op->dtype);
    ft__op_set_shape(&op_sum, FT_K_x, x);
    ft__op_set_shape(&op_sum, FT_K_y, &y);
    sum = add_node(t, &op_sum, in, in[2] == FT_NONE ? 2 : 3, x);
    if (sum != FT_NONE)
        ft__build_alias(t->b, sum, in[0]);
    give(t, n->in[0], sum);
}

static void blocks_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft_kind back = op->kind == FT_KIND_depth_to_space ? FT_KIND_space_to_depth
                                                      : FT_KIND_depth_to_space;

    give(t, n->in[0], add_move(t, back, g, shape_of(t, n->in[0])));
}

/* ---- which way a kind goes ---- */

/* For each operand an expression in postfix; NULL: no gradient.
 *   g the result's gradient, o the result, x y z the operands, 1 any number
 *   + - * / ^   two operands      n neg, s sign, e exp, l log, c cos, i sin, f floor
 *   < =         comparisons       ? where
 * The value is summed over the axes along which the operand was broadcast. */
struct recipe {
    ft_kind kind;
    const char *operand[3];
};

static const struct recipe recipes[] = {
    {FT_KIND_neg, {"gn"}},
    {FT_KIND_exp, {"go*"}},
    {FT_KIND_expm1, {"go1+*"}},
    {FT_KIND_log, {"gx/"}},
    {FT_KIND_log1p, {"gx1+/"}},
    {FT_KIND_sqrt, {"go1*/"}},
    {FT_KIND_rsqrt, {"g1*o1^*"}},
    {FT_KIND_reciprocal, {"gnoo**"}},
    {FT_KIND_abs, {"gxs*"}},
    {FT_KIND_sin, {"gxc*"}},
    {FT_KIND_cos, {"gxin*"}},
    {FT_KIND_tan, {"goo*1+*"}},
    {FT_KIND_erf, {"x1^ne1*g*"}},
    {FT_KIND_copy, {"g"}},
    {FT_KIND_add, {"g", "g"}},
    {FT_KIND_sub, {"g", "gn"}},
    {FT_KIND_mul, {"gy*", "gx*"}},
    {FT_KIND_div, {"gy/", "gnxy/y/*"}},
    {FT_KIND_pow, {"x1^1*g*", "goxl**"}},
    {FT_KIND_mod, {"g", "gnxy/f*"}},
    {FT_KIND_minimum, {"yx<1xy=g1/g??", "xy<1xy=g1/g??"}},
    {FT_KIND_maximum, {"xy<1xy=g1/g??", "yx<1xy=g1/g??"}},
    {FT_KIND_where, {NULL, "xg1?", "x1g?"}},
};

typedef void back_rule(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g);

/* Those that look at shapes and attributes; the rest have their own kernel. */
static back_rule *const rules[FT_KIND_COUNT] = {
    [FT_KIND_view] = view_back,
    [FT_KIND_transpose] = transpose_back,
    [FT_KIND_collective] = collective_back,
    [FT_KIND_concat] = concat_back,
    [FT_KIND_split] = split_back,
    [FT_KIND_slice] = resize_back,
    [FT_KIND_pad] = resize_back,
    [FT_KIND_expand] = resize_back,
    [FT_KIND_reduce_sum] = sum_back,
    [FT_KIND_reduce_mean] = sum_back,
    [FT_KIND_global_avgpool] = sum_back,
    [FT_KIND_cast] = cast_back,
    [FT_KIND_gather] = gather_back,
    [FT_KIND_gather_elements] = gather_back,
    [FT_KIND_gather_nd] = gather_back,
    [FT_KIND_depth_to_space] = blocks_back,
    [FT_KIND_space_to_depth] = blocks_back,
};

bool ft__train_passes(const ft_op *op, uint32_t i)
{
    if (ft_kind_saves(op->kind) == FT_SAVE_NONE)
        return rules[op->kind] != NULL;
    return op->kind != FT_KIND_roi_align || i == 0;
}

/* ---- recipes ---- */

enum { MAX_STACK = 6 };

struct machine {
    ft__train *t;
    const ft_node *n;
    uint32_t g;
    uint32_t stack[MAX_STACK]; /* FT_NONE: a number */
    uint32_t top;
};

static uint32_t pop(struct machine *m)
{
    return m->stack[--m->top];
}

static bool load(struct machine *m, char c)
{
    const char *operand = strchr("xyz", c);

    if (operand)
        m->stack[m->top++] = m->n->in[operand - "xyz"];
    else if (c == 'g' || c == 'o' || c == '1')
        m->stack[m->top++] = c == 'g' ? m->g : c == 'o' ? m->n->out[0] : FT_NONE;
    else
        return false;
    return true;
}

static bool unary(struct machine *m, char c)
{
    static const char letters[] = "nselcif";
    static const ft_kind kinds[] = {FT_KIND_neg,  FT_KIND_sign, FT_KIND_exp,
                                    FT_KIND_log,  FT_KIND_cos,  FT_KIND_sin,
                                    FT_KIND_floor};
    const char *p = strchr(letters, c);
    uint32_t x;

    if (!p)
        return false;
    x = pop(m);
    m->stack[m->top++] = add_unary(m->t, kinds[p - letters], x);
    return true;
}

static void binary(struct machine *m, char c)
{
    static const char letters[] = "+-*/^<=";
    static const ft_kind kinds[] = {FT_KIND_add,  FT_KIND_sub, FT_KIND_mul,
                                    FT_KIND_div,  FT_KIND_pow, FT_KIND_less,
                                    FT_KIND_equal};
    uint32_t y = pop(m), x = pop(m);

    m->stack[m->top++] = add_binary(m->t, kinds[strchr(letters, c) - letters], x, y);
}

static uint32_t run(ft__train *t, const ft_node *n, uint32_t g, const char *text)
{
    struct machine m = {.t = t, .n = n, .g = g};

    for (; *text; text++) {
        assert(m.top < MAX_STACK);
        if (load(&m, *text) || unary(&m, *text))
            continue;
        if (*text == '?') {
            uint32_t y = pop(&m), x = pop(&m), condition = pop(&m);

            m.stack[m.top++] = add_where(t, condition, x, y);
        } else {
            binary(&m, *text);
        }
    }
    return pop(&m);
}

static const struct recipe *find_recipe(ft_kind kind)
{
    for (size_t i = 0; i < sizeof(recipes) / sizeof(*recipes); i++)
        if (recipes[i].kind == kind)
            return &recipes[i];
    return NULL;
}

static void follow(ft__train *t, const ft_node *n, uint32_t g, const struct recipe *r)
{
    for (uint32_t i = 0; i < n->n_in && i < 3; i++)
        if (r->operand[i] && ft__train_wants(t, n->in[i]))
            give(t, n->in[i], run(t, n, g, r->operand[i]));
}

/* ---- kernels of their own ---- */

enum { MAX_IN = FT_OP_MAX_OPERANDS + 8, MAX_OUT = 16 };

/* An own kernel at work: its node, and how many of the operands are the
 * operation's; behind them stand masks, and weights that are computed. */
struct kernel {
    const ft_node *n;
    ft_op op;
    uint32_t n_operands;
    uint32_t wrt;
};

/* Whether operand i is kept: of products only what a gradient needs. */
static bool keeps(const struct kernel *k, uint32_t i)
{
    if (i >= k->n_operands)
        return true;
    if (!(ft_kind_saves(k->op.kind) >> i & 1))
        return false;
    if (k->op.kind == FT_KIND_linear)
        return k->wrt & FT_WRT_WEIGHTS;
    return k->op.kind != FT_KIND_matmul || k->wrt & (i ? FT_WRT_X : FT_WRT_Y);
}

static uint32_t wanted(const ft__train *t, const struct kernel *k)
{
    bool weights = false;
    uint32_t bits = 0;

    for (uint32_t i = 0; i < k->n->n_in; i++) {
        if (!ft__train_wants(t, k->n->in[i]) || !ft__train_passes(&k->op, i))
            continue;
        if (i < k->n_operands)
            bits |= (uint32_t)FT_WRT_X << i;
        else
            weights = true;
    }
    for (uint32_t i = 0; i < k->n->n_params; i++)
        weights |= ft__train_wants(t, k->n->params[i]);
    return weights && ft__weight_elements(&k->op) > 0 ? bits | FT_WRT_WEIGHTS : bits;
}

/* Gradients of the results, then what was saved; returns how many. */
static uint32_t operands(const ft__train *t, uint32_t node, const struct kernel *k,
                         uint32_t *in)
{
    uint32_t saves = ft_kind_saves(k->op.kind), n_in = 0;
    const ft_node *n = k->n;

    for (uint32_t i = 0; i < ft_op_n_outputs(&k->op) && i < n->n_out; i++)
        if (t->grad[n->out[i]] != FT_NONE)
            in[n_in++] = t->grad[n->out[i]];
    for (uint32_t i = 0; i < n->n_in && n_in < FT_OP_MAX_OPERANDS; i++)
        if (keeps(k, i))
            in[n_in++] = n->in[i];
    if (k->op.kind == FT_KIND_topk)
        in[n_in++] = n->out[1];
    else if (saves & FT_SAVE_OUT && k->op.kind != FT_KIND_cross_entropy)
        in[n_in++] = n->out[0];
    for (uint32_t i = 0; i < t->n_kept[node]; i++)
        in[n_in++] = t->kept[node] + i;
    return n_in;
}

/* The tensors of the source whose gradients the kernel gives. */
static uint32_t results(const ft__train *t, const struct kernel *k, uint32_t *to)
{
    uint32_t n_out = 0;

    for (uint32_t i = 0; i < k->n->n_in && n_out < MAX_OUT; i++)
        if (ft__train_passes(&k->op, i) && ft__train_wants(t, k->n->in[i]))
            to[n_out++] = k->n->in[i];
    for (uint32_t i = 0; i < k->n->n_params && n_out < MAX_OUT; i++)
        if (ft__train_wants(t, k->n->params[i]))
            to[n_out++] = k->n->params[i];
    return n_out;
}

/* The operation itself in the backward phase. */
static void own_kernel(ft__train *t, uint32_t node)
{
    struct kernel k = {.n = &t->src->node[node]};
    uint32_t in[MAX_IN], out[MAX_OUT], to[MAX_OUT], n_in, n_out;

    k.op = t->src->op[k.n->op];
    k.n_operands = ft_op_n_inputs(&k.op);
    k.wrt = wanted(t, &k);
    n_in = operands(t, node, &k, in);
    n_out = results(t, &k, to);
    if (n_out == 0)
        return;
    for (uint32_t i = 0; i < n_out; i++) {
        const ft_tensor *of = &t->src->tensor[to[i]];

        out[i] = new_tensor(t, of->dtype, &of->shape);
    }
    if (k.op.kind == FT_KIND_batchnorm)
        ft__op_set1(&k.op, FT_K_train, 1);
    k.op.phase = FT_PHASE_BACKWARD;
    if (k.wrt)
        ft__op_set_wrt(&k.op, k.wrt);
    ft__build_checked(t->b, k.n->name, strlen(k.n->name), &k.op, in, n_in, k.n->params,
                      k.n->n_params, out, n_out);
    for (uint32_t i = 0; i < n_out; i++)
        give(t, to[i], out[i]);
}

/* Reads what the operation reads and writes as much. */
static void generic(ft__train *t, uint32_t node)
{
    const ft_node *n = &t->src->node[node];

    if (t->n_generic++ < 100)
        ft__build_bounded(t->b, "backward of %s (node %s)",
                          ft_kind_name(t->src->op[n->op].kind), n->name);
    for (uint32_t i = 0; i < n->n_in; i++) {
        const ft_tensor *x = &t->src->tensor[n->in[i]];
        uint32_t in[2] = {t->grad[n->out[0]], n->in[i]};
        ft_op op;

        if (!ft__train_wants(t, n->in[i]))
            continue;
        ft__op_init(&op, FT_KIND_generic, x->dtype);
        ft__op_set1(&op, FT_K_read,
                    ft_shape_elements(&t->src->tensor[n->out[0]].shape) +
                        ft_shape_elements(&x->shape));
        ft__op_set_shape(&op, FT_K_out, &x->shape);
        give(t, n->in[i], add_node(t, &op, in, 2, &x->shape));
    }
}

/* The backward nodes of a source node one of whose results has a gradient. */
static void differentiate(ft__train *t, uint32_t node)
{
    const ft_node *n = &t->src->node[node];
    const ft_op *op = &t->src->op[n->op];
    const struct recipe *recipe = find_recipe(op->kind);

    if (op->kind == FT_KIND_generic)
        generic(t, node);
    else if (recipe)
        follow(t, n, t->grad[n->out[0]], recipe);
    else if (rules[op->kind])
        rules[op->kind](t, n, op, t->grad[n->out[0]]);
    else if (ft_kind_saves(op->kind) != FT_SAVE_NONE)
        own_kernel(t, node);
}

/* ---- the loss at the end of the forward pass, and the gradient that it starts ---- */

/* The operation that made a tensor, but for what only moves or adds to it. */
static ft_kind made_by(const ft_graph *g, uint32_t tensor)
{
    for (;;) {
        uint32_t node = g->tensor[tensor].producer;
        const ft_node *n = node == FT_NONE ? NULL : &g->node[node];
        ft_kind kind = n ? g->op[n->op].kind : FT_KIND_view;

        if (!n || !n->n_in ||
            (kind != FT_KIND_view && kind != FT_KIND_transpose && kind != FT_KIND_add &&
             kind != FT_KIND_cast))
            return kind;
        tensor = n->in[0];
    }
}

/* The axis of the classes, FT_NONE: these are no logits. */
static uint32_t class_axis(const ft_graph *g, uint32_t tensor)
{
    const ft_shape *s = &g->tensor[tensor].shape;
    ft_kind kind = made_by(g, tensor);

    if (s->rank == 2 && s->dim[1] > 1)
        return 1;
    if (s->rank > 2 && (kind == FT_KIND_linear || kind == FT_KIND_matmul))
        return s->rank - 1;
    if (s->rank > 3 && s->dim[1] > 1 &&
        (ft_kind_class(kind) == FT_CLASS_CONV || kind == FT_KIND_resize))
        return 1;
    return FT_NONE;
}

/* A tensor that comes from outside. */
static uint32_t input(ft__train *t, const char *name, ft_dtype dtype,
                      const ft_shape *shape)
{
    return ft__build_tensor(t->b, name, strlen(name), FT_ROLE_INPUT, dtype, shape);
}

/* What losses compute a result in: fp32 where mixed precision cast the weights. */
static ft_dtype loss_dtype(const ft__train *t, const ft_tensor *x)
{
    for (uint32_t i = 0; i < t->src->n_nodes; i++) {
        const ft_node *n = &t->src->node[i];
        const ft_op *op = &t->src->op[n->op];

        if (op->kind == FT_KIND_cast && op->dtype == FT_DTYPE_fp32 &&
            ft_op_at(op, FT_K_to, 0) == (int64_t)x->dtype &&
            t->src->tensor[n->in[0]].role == FT_ROLE_WEIGHT)
            return FT_DTYPE_fp32;
    }
    return x->dtype;
}

/* One result's loss: an operation of its own; the result itself, where that is a
 * scalar; or none, and a gradient from outside. */
struct loss {
    ft_op op;
    uint32_t result;
    uint32_t other;         /* labels or target, FT_NONE: there is no operation */
    uint32_t probabilities; /* their logarithms are kept; FT_NONE: both operands are */
    uint32_t value;         /* FT_NONE: the gradient comes from outside */
};

static void append(ft__train *t, struct loss *l, bool probabilities)
{
    const ft_shape scalar = {.rank = 0};
    ft_shape s = t->src->tensor[l->result].shape;
    uint32_t in[2] = {l->result, l->other}, out[2], n_out = 1;

    t->at = "loss";
    out[0] = l->value = new_tensor(t, l->op.dtype, &scalar);
    if (probabilities)
        out[n_out++] = l->probabilities = new_tensor(t, l->op.dtype, &s);
    ft__build_node(t->b, t->at, strlen(t->at), &l->op, in, 2, NULL, 0, out, n_out);
}

static void cross_entropy(ft__train *t, struct loss *l, uint32_t axis)
{
    const ft_tensor *x = &t->src->tensor[l->result];
    ft_shape s = x->shape, labels = s;

    labels.rank--;
    for (uint32_t i = axis; i < labels.rank; i++)
        labels.dim[i] = s.dim[i + 1];
    l->other = input(t, "labels", FT_DTYPE_int64, &labels);
    ft__op_init(&l->op, FT_KIND_cross_entropy, loss_dtype(t, x));
    ft__op_set_shape(&l->op, FT_K_x, &s);
    ft__op_set1(&l->op, FT_K_axis, (int64_t)axis);
    ft__build_assume(t->b, "loss: cross entropy over the %lld classes of %s",
                     (long long)s.dim[axis], x->name);
    append(t, l, true);
}

static void mean_square(ft__train *t, struct loss *l)
{
    const ft_tensor *x = &t->src->tensor[l->result];

    l->other = input(t, "target", loss_dtype(t, x), &x->shape);
    ft__op_init(&l->op, FT_KIND_mse_loss, loss_dtype(t, x));
    ft__op_set_shape(&l->op, FT_K_x, &x->shape);
    ft__op_set_shape(&l->op, FT_K_y, &x->shape);
    ft__build_assume(t->b, "loss: mean square error of %s", x->name);
    append(t, l, false);
}

static void none(ft__train *t, struct loss *l)
{
    const ft_tensor *x = &t->src->tensor[l->result];

    if (ft_shape_elements(&x->shape) == 1)
        l->value = l->result;
    ft__build_assume(t->b,
                     l->value == FT_NONE ? "loss: none; the gradient of %s is given"
                                         : "loss: %s itself",
                     x->name);
}

static void begin_loss(ft__train *t, struct loss *l, uint32_t result, ft_loss loss)
{
    const ft_shape *s = &t->src->tensor[result].shape;
    uint32_t axis = class_axis(t->src, result);

    *l = (struct loss){
        .result = result, .other = FT_NONE, .probabilities = FT_NONE, .value = FT_NONE};
    if (loss == FT_LOSS_AUTO)
        loss = ft_shape_elements(s) == 1 ? FT_LOSS_NONE
               : axis != FT_NONE         ? FT_LOSS_CROSS_ENTROPY
                                         : FT_LOSS_MSE;
    if (loss == FT_LOSS_CROSS_ENTROPY && s->rank == 0)
        ft__build_fail(t->b, FT_EINVAL, 0,
                       "%s is one number: no cross entropy over classes",
                       t->src->tensor[result].name);
    else if (loss == FT_LOSS_CROSS_ENTROPY)
        cross_entropy(t, l, axis != FT_NONE ? axis : s->rank > 1 ? 1 : 0);
    else if (loss == FT_LOSS_MSE)
        mean_square(t, l);
    else
        none(t, l);
}

/* The result's gradient; that of the losses' sum is `one`. */
static uint32_t gradient(ft__train *t, struct loss *l, uint32_t one)
{
    const ft_tensor *x = &t->src->tensor[l->result];
    uint32_t in[3] = {one, l->probabilities, l->other}, g;

    if (l->value == FT_NONE)
        return input(t, "gradient", x->dtype, &x->shape);
    if (l->other == FT_NONE)
        return add_view(t, one, &x->shape);
    if (l->probabilities == FT_NONE)
        in[1] = l->result;
    g = new_tensor(t, x->dtype, &x->shape);
    l->op.phase = FT_PHASE_BACKWARD;
    ft__op_set_wrt(&l->op, FT_WRT_X);
    ft__build_node(t->b, t->at, strlen(t->at), &l->op, in, 3, NULL, 0, &g, 1);
    return g;
}

static void all_losses(ft__train *t, struct loss *l, const uint32_t *result, uint32_t n,
                       ft_loss loss)
{
    const ft_shape scalar = {.rank = 0};
    uint32_t sum = FT_NONE, one = FT_NONE;

    for (uint32_t i = 0; i < n && !ft__build_failed(t->b); i++) {
        begin_loss(t, &l[i], result[i], loss);
        if (l[i].value != FT_NONE)
            sum = sum == FT_NONE ? l[i].value
                                 : add_binary(t, FT_KIND_add, sum, l[i].value);
    }
    if (ft__build_failed(t->b))
        return;
    t->at = "loss";
    if (sum != FT_NONE && !ft__build_get(t->b, sum)->is_output)
        ft__build_output(t->b, sum);
    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    if (sum != FT_NONE)
        one = add_fill(t, ft__build_get(t->b, sum)->dtype, &scalar);
    for (uint32_t i = n; i-- > 0 && !ft__build_failed(t->b);) {
        give(t, l[i].result, gradient(t, &l[i], one));
        take_given(t);
    }
}

/* Appends the losses of the results, their sum, and gives the results gradients. */
static void add_loss(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss)
{
    struct loss *l = malloc(n * sizeof(*l));

    if (l)
        all_losses(t, l, result, n, loss);
    else
        ft__build_fail(t->b, FT_ENOMEM, 0, "training step of %s", t->src->name);
    free(l);
}

/* ---- all nodes in reverse order ---- */

static void backward_node(ft__train *t, uint32_t i)
{
    const ft_node *n = &t->src->node[i];
    uint32_t first = ft__build_here(t->b).n_nodes;
    bool any = false;

    for (uint32_t j = 0; j < n->n_out; j++)
        any |= t->grad[n->out[j]] != FT_NONE;
    if (!any)
        return;
    t->at = n->name;
    differentiate(t, i);
    finish_node(t, n);
    if (n->repeat != 1)
        ft__build_repeat_from(t->b, first, n->repeat);
}

static void backward(ft__train *t)
{
    for (uint32_t i = t->src->n_nodes; i-- > 0 && !ft__build_failed(t->b);)
        backward_node(t, i);
}

/* Of a list of operations each alone. */
static void backward_list(ft__train *t)
{
    for (uint32_t i = t->src->n_nodes; i-- > 0 && !ft__build_failed(t->b);) {
        const ft_node *n = &t->src->node[i];
        const ft_tensor *out = &t->src->tensor[n->out[0]];

        t->at = n->name;
        if (ft__train_wants(t, n->out[0]) &&
            ft_kind_saves(t->src->op[n->op].kind) != FT_SAVE_NONE)
            take(t, n->out[0], new_tensor(t, out->dtype, &out->shape));
        backward_node(t, i);
    }
}

void ft__train_backward(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss)
{
    if (n && !ft__build_failed(t->b))
        add_loss(t, result, n, loss);
    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    if (n)
        backward(t);
    else
        backward_list(t);
}
