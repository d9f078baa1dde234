/* Nodes of a backward pass, and the gradients of tensors with several readers, which
 * are summed. */
#include "graph/gradient.h"

#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"

uint32_t ft__grad_tensor(ft__train *t, ft_dtype dtype, const ft_shape *shape)
{
    return ft__build_tensor(t->b, t->at, strlen(t->at), FT_ROLE_ACTIVATION, dtype,
                            shape);
}

uint32_t ft__grad_node(ft__train *t, const ft_op *op, const uint32_t *in, uint32_t n_in,
                       const ft_shape *shape)
{
    ft_shape s;
    ft_dtype dtype;
    uint32_t out;

    ft_op_output(op, 0, &s, &dtype);
    out = ft__grad_tensor(t, dtype, shape ? shape : &s);
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

uint32_t ft__grad_unary(ft__train *t, ft_kind kind, uint32_t x)
{
    ft_shape s;
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    s = begin(t, &op, kind, x);
    return ft__grad_node(t, &op, &x, 1, &s);
}

/* A number in the code is an operand of one element. */
static uint32_t scalar(ft__train *t, ft_dtype dtype)
{
    const ft_shape s = {.rank = 0};

    if (t->scalar == FT_NONE)
        t->scalar = ft__build_tensor(t->b, "number", 6, FT_ROLE_WEIGHT, dtype, &s);
    return t->scalar;
}

uint32_t ft__grad_binary(ft__train *t, ft_kind kind, uint32_t x, uint32_t y)
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
    return ft__grad_node(t, &op, in, 2, a.rank == 0 && b.rank == 0 ? &a : NULL);
}

uint32_t ft__grad_where(ft__train *t, uint32_t condition, uint32_t x, uint32_t y)
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
    return ft__grad_node(t, &op, in, 3, rank == 0 ? &s : NULL);
}

uint32_t ft__grad_cast(ft__train *t, uint32_t x, ft_dtype to)
{
    ft_shape s;
    ft_op op;

    if (x == FT_NONE || ft__build_get(t->b, x)->dtype == to)
        return x;
    s = begin(t, &op, FT_KIND_cast, x);
    ft__op_set1(&op, FT_K_to, (int64_t)to);
    return ft__grad_node(t, &op, &x, 1, &s);
}

uint32_t ft__grad_move(ft__train *t, ft_kind kind, uint32_t x, const ft_shape *shape)
{
    ft_op op;

    if (x == FT_NONE)
        return FT_NONE;
    begin(t, &op, kind, x);
    ft__op_set_shape(&op, FT_K_out, shape);
    return ft__grad_node(t, &op, &x, 1, shape);
}

uint32_t ft__grad_view(ft__train *t, uint32_t x, const ft_shape *shape)
{
    if (x == FT_NONE || ft_shape_equal(&ft__build_get(t->b, x)->shape, shape))
        return x;
    return ft__grad_move(t, FT_KIND_view, x, shape);
}

uint32_t ft__grad_fill(ft__train *t, ft_dtype dtype, const ft_shape *shape)
{
    ft_op op;

    ft__op_init(&op, FT_KIND_fill, dtype);
    ft__op_set_shape(&op, FT_K_out, shape);
    return ft__grad_node(t, &op, NULL, 0, shape);
}

uint32_t ft__grad_sum_to(ft__train *t, uint32_t x, const ft_shape *shape)
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
        return ft__grad_view(t, x, shape);
    lead = s.rank - shape->rank;
    for (uint32_t i = 0; i < s.rank; i++)
        if (s.dim[i] != 1 && (i < lead || shape->dim[i - lead] == 1))
            axes[n++] = i;
    begin(t, &op, FT_KIND_reduce_sum, x);
    ft__op_set(&op, FT_K_axes, axes, n);
    return ft__grad_view(t, ft__grad_node(t, &op, &x, 1, NULL), shape);
}

void ft__grad_give(ft__train *t, uint32_t tensor, uint32_t g)
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
    uint32_t sum = ft__grad_binary(t, FT_KIND_add, old, g);
    uint16_t *p = holders(t, old);

    if (sum == FT_NONE || !p)
        return sum;
    if (*p == 1 && ft__build_get(t->b, old)->role == FT_ROLE_ACTIVATION &&
        ft__build_get(t->b, old)->storage != ft__build_get(t->b, g)->storage)
        ft__build_alias(t->b, sum, old);
    return sum;
}

void ft__grad_take(ft__train *t, uint32_t tensor, uint32_t g)
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

void ft__grad_take_given(ft__train *t)
{
    for (uint32_t i = 0; i < t->n_given; i++) {
        const ft_tensor *of = &t->src->tensor[t->given[i].tensor];
        uint32_t g = ft__grad_sum_to(t, t->given[i].g, &of->shape);

        t->given[i].g = ft__grad_cast(t, g, of->dtype);
    }
    for (uint32_t i = 0; i < t->n_given; i++)
        ft__grad_take(t, t->given[i].tensor, t->given[i].g);
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
        own = ft__grad_unary(t, FT_KIND_copy, g);
        release(t, tensor[i]);
        t->grad[tensor[i]] = own;
        if (own != FT_NONE)
            hold(t, own);
    }
}

void ft__grad_finish_node(ft__train *t, const ft_node *n)
{
    for (uint32_t i = 0; i < n->n_out; i++)
        release(t, n->out[i]);
    ft__grad_take_given(t);
    own_gradients(t, n->in, n->n_in);
}
