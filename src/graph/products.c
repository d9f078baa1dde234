/* The convolutions and matrix products inside an operation, forward and backward. */
#include "graph/op.h"
#include "graph/op_inside.h"

struct list {
    ft_product *out;
    uint32_t n;
    ft_dtype dtype;
};

static int64_t span(const ft_shape *s, uint32_t from, uint32_t to)
{
    int64_t n = 1;

    for (uint32_t i = from; i < to && i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

/* `count` times b products of m x k with k x n; the longer side comes first. */
static void add(struct list *l, uint64_t count, int64_t b, int64_t m, int64_t k,
                int64_t n)
{
    ft_shape x = {.rank = 3, .dim = {b, m > n ? m : n, k}};
    ft_shape y = {.rank = 3, .dim = {b, k, m > n ? n : m}};
    ft_product *p = &l->out[l->n++];

    ft__op_init(&p->op, FT_KIND_matmul, l->dtype);
    ft__op_set_shape(&p->op, FT_K_x, &x);
    ft__op_set_shape(&p->op, FT_K_y, &y);
    p->count = count;
}

/* A product with its two gradients: of the left and of the right side. */
static void add_with(struct list *l, const ft_op *op, uint32_t right, uint64_t count,
                     int64_t b, int64_t m, int64_t k, int64_t n)
{
    uint32_t wrt = ft_op_wrt(op);

    if (op->phase != FT_PHASE_BACKWARD) {
        add(l, count, b, m, k, n);
        return;
    }
    if (wrt & FT_WRT_X)
        add(l, count, b, m, n, k);
    if (wrt & right)
        add(l, count, b, k, m, n);
}

static void of_linear(struct list *l, const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    if (x.rank)
        add_with(l, op, FT_WRT_WEIGHTS, 1, 1, span(&x, 0, x.rank - 1),
                 x.dim[x.rank - 1], ft_op_at(op, FT_K_out, 0));
}

/* Matrices of a product's result. */
static int64_t result_batch(const ft_op *op)
{
    const ft_op forward = ft__forward_of(op);
    ft_dtype t;
    ft_shape s;

    ft_op_output(&forward, 0, &s, &t);
    return span(&s, 0, s.rank - 2);
}

/* An operand without batch dimensions meets all rows of the other one at once. */
static void of_matmul(struct list *l, const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    int64_t m, k, n;

    if (x.rank < 2 || y.rank < 2)
        return;
    m = x.dim[x.rank - 2];
    k = x.dim[x.rank - 1];
    n = y.dim[y.rank - 1];
    if (y.rank == 2)
        add_with(l, op, FT_WRT_Y, 1, 1, span(&x, 0, x.rank - 1), k, n);
    else if (x.rank == 2)
        add_with(l, op, FT_WRT_Y, 1, 1, m, k, n * span(&y, 0, y.rank - 2));
    else
        add_with(l, op, FT_WRT_Y, 1, result_batch(op), m, k, n);
}

/* Forward two products; backward five: the scores are computed again, then the
 * gradients of values, probabilities, queries and keys (Dao 2022, algorithm 4). */
static void of_attention(struct list *l, const ft_op *op)
{
    int64_t b = ft_op_at(op, FT_K_x, 0) * ft_op_at(op, FT_K_x, 1);
    int64_t queries = ft_op_at(op, FT_K_x, 2), keys = ft_op_at(op, FT_K_y, 2);
    int64_t size = ft_op_at(op, FT_K_x, 3), value = ft_op_at(op, FT_K_z, 3);

    add(l, 1, b, queries, size, keys);
    if (op->phase != FT_PHASE_BACKWARD) {
        add(l, 1, b, queries, keys, value);
        return;
    }
    add(l, 1, b, keys, queries, value);
    add(l, 1, b, queries, value, keys);
    add(l, 1, b, queries, keys, size);
    add(l, 1, b, keys, queries, size);
}

/* All steps of the input at once, then one step after the other. */
static void of_rnn(struct list *l, const ft_op *op)
{
    int64_t gates = ft__rnn_gates(op->kind);
    int64_t steps = ft_op_at(op, FT_K_x, 0), batch = ft_op_at(op, FT_K_x, 1);
    int64_t in = ft_op_at(op, FT_K_x, 2), hidden = ft_op_at(op, FT_K_hidden, 0);
    uint64_t directions = (uint64_t)ft_op_at(op, FT_K_directions, 0);
    ft_op whole = *op;

    add_with(l, op, FT_WRT_WEIGHTS, directions, 1, steps * batch, in, gates * hidden);
    /* States' gradients pass through all steps, whichever are asked for. */
    ft__op_set_wrt(&whole, FT_WRT_X | (ft_op_wrt(op) & FT_WRT_WEIGHTS));
    add_with(l, &whole, FT_WRT_WEIGHTS, directions * (uint64_t)steps, 1, batch, hidden,
             gates * hidden);
}

static void of_conv(struct list *l, const ft_op *op)
{
    static const ft_key_id keep[] = {FT_K_x,      FT_K_y,        FT_K_out,
                                     FT_K_kernel, FT_K_stride,   FT_K_pad,
                                     FT_K_outpad, FT_K_dilation, FT_K_groups};
    uint32_t wrt = ft_op_wrt(op), n;
    ft_op bare;

    ft__op_init(&bare, op->kind, op->dtype);
    for (uint32_t i = 0; i < sizeof(keep) / sizeof(*keep); i++) {
        const int64_t *v = ft_op_get(op, keep[i], &n);

        if (v)
            ft__op_set(&bare, keep[i], v, n);
    }
    bare.phase = op->phase;
    if (op->phase != FT_PHASE_BACKWARD) {
        l->out[l->n++] = (ft_product){bare, 1};
        return;
    }
    /* The gradient of offsets is made of the operand's. */
    wrt = wrt & FT_WRT_Y ? (wrt | FT_WRT_X) & ~(uint32_t)FT_WRT_Y : wrt;
    for (uint32_t bit = FT_WRT_X; bit <= FT_WRT_WEIGHTS; bit <<= 1) {
        if (!(wrt & bit))
            continue;
        ft__op_set_wrt(&bare, bit);
        l->out[l->n++] = (ft_product){bare, 1};
    }
}

uint32_t ft_op_products(const ft_op *op, ft_product out[FT_MAX_PRODUCTS])
{
    struct list l = {out, 0, op->dtype};

    if (ft_kind_class(op->kind) == FT_CLASS_CONV)
        of_conv(&l, op);
    else if (op->kind == FT_KIND_linear)
        of_linear(&l, op);
    else if (op->kind == FT_KIND_matmul)
        of_matmul(&l, op);
    else if (op->kind == FT_KIND_attention)
        of_attention(&l, op);
    else if (ft__rnn_gates(op->kind))
        of_rnn(&l, op);
    return l.n;
}
