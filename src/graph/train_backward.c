/* The backward pass of a training step: how every kind of operation is differentiated,
 * as PyTorch does it, with a kernel of its own, by forward operations, or by moving
 * what its shapes say. */
#include <assert.h>
#include <string.h>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/op_inside.h"

/* Of what moves, reshapes or sums, shapes decide. */
static const ft_shape *shape_of(const ft__train *t, uint32_t tensor)
{
    return &t->src->tensor[tensor].shape;
}

static void view_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    (void)op;
    ft__grad_give(t, n->in[0], ft__grad_view(t, g, shape_of(t, n->in[0])));
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
    ft__grad_give(t, n->in[0],
                  ft__grad_node(t, &inverse, &g, 1, shape_of(t, n->in[0])));
}

/* A gradient goes between devices as what it is of did: that of a sum is theirs, and
 * theirs of what all had is the sum. */
static void collective_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft__grad_give(t, n->in[0], ft__grad_node(t, op, &g, 1, shape_of(t, n->in[0])));
}

static void concat_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    (void)op;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (ft__train_wants(t, n->in[i]))
            ft__grad_give(t, n->in[i],
                          ft__grad_move(t, FT_KIND_slice, g, shape_of(t, n->in[i])));
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
            in[i] = ft__grad_fill(t, op->dtype, shape_of(t, n->out[i]));
    }
    s = ft_op_shape(op, FT_K_x);
    axis = (uint32_t)ft_op_at(op, FT_K_axis, 0);
    s.dim[axis] = sizes[0];
    ft__op_init(&whole, FT_KIND_concat, op->dtype);
    ft__op_set_shape(&whole, FT_K_x, &s);
    ft__op_set1(&whole, FT_K_axis, (int64_t)axis);
    ft__op_set(&whole, FT_K_sizes, sizes, n_sizes);
    ft__grad_give(t, n->in[0],
                  ft__grad_node(t, &whole, in, n->n_out, shape_of(t, n->in[0])));
}

/* What was cut off is zero; what was added falls away; what was repeated is
 * summed. */
static void resize_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    const ft_shape *x = shape_of(t, n->in[0]);

    ft__grad_give(t, n->in[0],
                  op->kind == FT_KIND_slice ? ft__grad_move(t, FT_KIND_pad, g, x)
                  : op->kind == FT_KIND_pad ? ft__grad_move(t, FT_KIND_slice, g, x)
                                            : ft__grad_sum_to(t, g, x));
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

    g = ft__grad_move(t, FT_KIND_expand, ft__grad_view(t, g, &kept), &x);
    if (op->kind != FT_KIND_reduce_sum)
        g = ft__grad_binary(t, FT_KIND_div, g, FT_NONE);
    ft__grad_give(t, n->in[0], ft__grad_view(t, g, shape_of(t, n->in[0])));
}

static void cast_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft__grad_give(t, n->in[0], ft__grad_cast(t, g, op->dtype));
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
        g = ft__grad_move(t, FT_KIND_pad, ft__grad_view(t, g, &s), x);
        ft__grad_give(t, n->in[0], g);
        return;
    }
    in[0] = ft__grad_fill(t, op->dtype, x);
    if (in[0] == FT_NONE)
        return;
    y = ft__build_get(t->b, g)->shape;
    ft__op_init(&op_sum, FT_KIND_scatter, op->dtype);
    ft__op_set_shape(&op_sum, FT_K_x, x);
    ft__op_set_shape(&op_sum, FT_K_y, &y);
    sum = ft__grad_node(t, &op_sum, in, in[2] == FT_NONE ? 2 : 3, x);
    if (sum != FT_NONE)
        ft__build_alias(t->b, sum, in[0]);
    ft__grad_give(t, n->in[0], sum);
}

static void blocks_back(ft__train *t, const ft_node *n, const ft_op *op, uint32_t g)
{
    ft_kind back = op->kind == FT_KIND_depth_to_space ? FT_KIND_space_to_depth
                                                      : FT_KIND_depth_to_space;

    ft__grad_give(t, n->in[0], ft__grad_move(t, back, g, shape_of(t, n->in[0])));
}

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
    m->stack[m->top++] = ft__grad_unary(m->t, kinds[p - letters], x);
    return true;
}

static void binary(struct machine *m, char c)
{
    static const char letters[] = "+-*/^<=";
    static const ft_kind kinds[] = {FT_KIND_add,  FT_KIND_sub, FT_KIND_mul,
                                    FT_KIND_div,  FT_KIND_pow, FT_KIND_less,
                                    FT_KIND_equal};
    uint32_t y = pop(m), x = pop(m);

    m->stack[m->top++] =
        ft__grad_binary(m->t, kinds[strchr(letters, c) - letters], x, y);
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

            m.stack[m.top++] = ft__grad_where(t, condition, x, y);
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
            ft__grad_give(t, n->in[i], run(t, n, g, r->operand[i]));
}

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

/* A frozen weight that is unpacked for a product is unpacked again: nobody keeps it. */
static uint32_t unpacked(ft__train *t, uint32_t tensor)
{
    const ft_tensor *w = &t->src->tensor[tensor];
    const ft_node *n = w->producer == FT_NONE ? NULL : &t->src->node[w->producer];

    return n && n->n_in == 1 && !t->needs[tensor] &&
                   ft_dtype_bits(t->src->tensor[n->in[0]].dtype) <
                       ft_dtype_bits(w->dtype)
               ? ft__grad_node(t, &t->src->op[n->op], n->in, 1, &w->shape)
               : tensor;
}

/* The operation itself in the backward phase. */
static void own_kernel(ft__train *t, uint32_t node)
{
    struct kernel k = {.n = &t->src->node[node]};
    uint32_t in[MAX_IN], out[MAX_OUT], to[MAX_OUT], params[MAX_IN], n_in, n_out;
    bool few;

    k.op = t->src->op[k.n->op];
    k.n_operands = ft_op_n_inputs(&k.op);
    k.wrt = wanted(t, &k);
    n_in = operands(t, node, &k, in);
    n_out = results(t, &k, to);
    if (n_out == 0)
        return;
    for (uint32_t i = 0; i < n_out; i++) {
        const ft_tensor *of = &t->src->tensor[to[i]];

        out[i] = ft__grad_tensor(t, of->dtype, &of->shape);
    }
    if (k.op.kind == FT_KIND_batchnorm)
        ft__op_set1(&k.op, FT_K_train, 1);
    k.op.phase = FT_PHASE_BACKWARD;
    if (k.wrt)
        ft__op_set_wrt(&k.op, k.wrt);
    few = k.n->n_params <= MAX_IN;
    for (uint32_t i = 0; few && i < k.n->n_params; i++)
        params[i] = unpacked(t, k.n->params[i]);
    ft__build_checked(t->b, k.n->name, strlen(k.n->name), &k.op, in, n_in,
                      few ? params : k.n->params, k.n->n_params, out, n_out);
    for (uint32_t i = 0; i < n_out; i++)
        ft__grad_give(t, to[i], out[i]);
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
        ft__grad_give(t, n->in[i], ft__grad_node(t, &op, in, 2, &x->shape));
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
    ft__grad_finish_node(t, n);
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
            ft__grad_take(t, n->out[0], ft__grad_tensor(t, out->dtype, &out->shape));
        backward_node(t, i);
    }
}

void ft__train_backward(ft__train *t, const uint32_t *result, uint32_t n, ft_loss loss)
{
    if (n && !ft__build_failed(t->b))
        ft__train_loss(t, result, n, loss);
    ft__build_phase(t->b, FT_PHASE_BACKWARD);
    if (n)
        backward(t);
    else
        backward_list(t);
}
