/* A program that fixes its batch, at another one. Results' shapes stand in the file, so
 * which of their dimensions has the batch has to be found: from operands to results,
 * node by node. What operations make of shapes (ft_op_output()) is the judge; the
 * graph is compared with that at the next batch afterwards (../rebatch.c).
 *
 * A dimension may hold more than the batch: [batch, length, size] viewed as [batch
 * length, size]. `inner` is how many indices of the dimension lie inside one of the
 * batch, here the length. */
#include <string.h>

#include "base/limits.h"
#include "graph/op.h"
#include "import/pt2/pt2.h"
#include "import/rules/ops.h"

enum { NONE = -1 };

static int64_t times(const ft_shape *s, uint32_t from, uint32_t to)
{
    int64_t n = 1;

    for (uint32_t i = from; i < to; i++)
        n *= s->dim[i];
    return n;
}

/* The shape of a value as the file has it. */
static ft_shape filed(const ft__pt2 *p, const ft__pt2_value *v)
{
    ft_shape s = v->shape;

    if (v->batched)
        s.dim[v->axis] = s.dim[v->axis] / p->opt.batch * p->fixed_batch;
    return s;
}

static void set(ft__pt2 *p, ft__pt2_value *v, int axis, int64_t inner)
{
    if (v->filed)
        v->shape = filed(p, v);
    v->batched = axis != NONE;
    if (axis == NONE)
        return;
    v->axis = (uint8_t)axis;
    v->inner = inner;
    if (!v->filed)
        return;
    if (v->shape.dim[axis] % p->fixed_batch) {
        v->batched = false;
        return;
    }
    v->shape.dim[axis] /= p->fixed_batch;
    if (v->shape.dim[axis] <= FT__MAX_ELEMENTS / p->opt.batch)
        v->shape.dim[axis] *= p->opt.batch;
    else
        v->shape.dim[axis] = FT__MAX_ELEMENTS;
    if (!ft__shape_fits(&v->shape) || v->shape.dim[axis] == FT__MAX_ELEMENTS)
        ft__build_fail(p->b, FT_EINVAL, 0,
                       "--batch %lld: tensor \"%.*s\" has too many elements",
                       (long long)p->opt.batch, ft__shown(v->name.n, 100), v->name.s);
}

void ft__pt2_batch_input(ft__pt2 *p, ft__pt2_value *v)
{
    if (p->fixed_batch && v->shape.rank && v->shape.dim[0] == p->fixed_batch) {
        v->filed = true;
        set(p, v, 0, 1);
    }
}

/* Whether an operator has this in its name. */
static bool called(const ft__pt2_node *n, const char *part)
{
    const size_t len = strlen(part);

    for (size_t i = 0; i + len <= n->op.n; i++)
        if (memcmp(n->op.s + i, part, len) == 0)
            return true;
    return false;
}

/* Among the dimensions of s, the one in which `batch` steps of `stride` elements lie;
 * of several (where the batch is 1) one that is nothing else, then what view() makes of
 * [length, batch, size]: [length, batch heads, size of one], `split`, or [length batch,
 * size]. */
static int by_order(const ft_shape *s, int64_t stride, int64_t batch, bool split,
                    int64_t *inner)
{
    int best = NONE;

    for (uint32_t c = 0; c < s->rank; c++) {
        const int64_t behind = times(s, c + 1, s->rank), from = behind * s->dim[c];

        if (behind < 1 || stride % behind || from / batch < stride || from % batch ||
            from / batch % stride)
            continue;
        if (best == NONE || (s->dim[best] != batch && (split || s->dim[c] == batch))) {
            best = (int)c;
            *inner = stride / behind;
        }
    }
    return best;
}

/* One dimension, which an argument names, is there in the operand or the result alone.
 */
static bool takes_axis(const ft__pt2_node *n)
{
    return called(n, "select") || called(n, "unbind") || called(n, "unsqueeze") ||
           called(n, "stack");
}

/* A dimension that is the same counted from the right or, without an operand's to the
 * right of it, from the left. */
static int by_place(const ft__pt2_node *n, const ft_shape *x, uint32_t axis,
                    const ft_shape *s)
{
    const int right = (int)(axis + s->rank) - (int)x->rank;

    if (s->rank != x->rank && takes_axis(n)) {
        const bool more = s->rank > x->rank;
        const uint32_t dim =
            ft__pt2_axis(n, ft__pt2_int(n, "dim", 0), more ? s->rank : x->rank);

        return more          ? (int)axis + (dim <= axis)
               : dim == axis ? NONE
                             : (int)axis - (dim < axis);
    }
    if (right >= 0 && s->dim[right] == x->dim[axis])
        return right;
    if (axis < s->rank && s->dim[axis] == x->dim[axis] &&
        (s->rank > x->rank || called(n, "attention") || called(n, "group_norm")))
        return (int)axis;
    return NONE;
}

/* From x to v, a result of n. */
static void follow(const ft__pt2_node *n, const ft__pt2_value *x, ft__pt2_value *v)
{
    ft__pt2 *p = n->import;
    const ft_shape from = v->filed ? filed(p, x) : x->shape,
                   to = v->filed ? filed(p, v) : v->shape;
    const int64_t batch = v->filed ? p->fixed_batch : p->opt.batch;
    int64_t inner = x->inner;
    int axis = NONE;

    if (!takes_axis(n) && !ft_shape_equal(&from, &to) &&
        ft_shape_elements(&from) == ft_shape_elements(&to))
        axis = by_order(&to, inner * times(&from, x->axis + 1u, from.rank), batch,
                        x->axis && to.rank >= from.rank, &inner);
    else
        axis = by_place(n, &from, x->axis, &to);
    set(p, v, axis, inner);
}

static bool only_its_first(const ft__pt2_node *n, uint32_t result)
{
    return result && called(n, "_backward") && !called(n, "attention") &&
           !called(n, "grid");
}

/* The gradient of a sum is as large as what was added up. */
static void as_what_was_added(ft__pt2 *p, ft__pt2_value *v)
{
    for (const ft__pt2_value *x = p->added; x && !v->batched; x = x->added) {
        const ft_shape s = filed(p, x);

        if (ft_shape_equal(&s, &v->shape))
            set(p, v, x->axis, x->inner);
    }
}

/* What is made of nothing, states and masks, has the batch where one of its sizes alone
 * is as large, or all are 1. */
static void as_large(ft__pt2 *p, ft__pt2_value *v)
{
    uint32_t count = 0, axis = 0;

    for (uint32_t i = v->shape.rank; i-- > 0;)
        if (v->shape.dim[i] == p->fixed_batch) {
            axis = i;
            count++;
        }
    if (count == 1 || (count == v->shape.rank && p->fixed_batch == 1 && count))
        set(p, v, (int)axis, 1);
}

/* A weight that is repeated: over the first size that is said and is as large. */
static void as_repeated(const ft__pt2_node *n, ft__pt2_value *v)
{
    int64_t size[FT_MAX_RANK];
    const char *name = ft__pt2_arg_of(n, "repeats") ? "repeats" : "size";
    const int64_t count = ft__pt2_ints(n, name, size, FT_MAX_RANK);
    const uint32_t before = v->shape.rank - n->x->shape.rank;

    if (count != (int64_t)v->shape.rank || n->x->shape.rank > v->shape.rank)
        return;
    for (uint32_t i = 0; i < v->shape.rank && !v->batched; i++)
        if (size[i] == n->import->fixed_batch &&
            (i < before || n->x->shape.dim[i - before] == 1))
            set(n->import, v, (int)i, 1);
}

static bool reads_nothing(const ft__pt2_node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++)
        for (uint32_t k = 0; k < n->arg[i].n; k++)
            if (n->arg[i].value[k] && n->arg[i].value[k]->typed)
                return false;
    return true;
}

/* The result of what reads nothing that has the batch. */
static void from_nothing(ft__pt2_node *n, ft__pt2_value *v)
{
    n->x = ft__pt2_in(n, 0);
    if (n->backward)
        as_what_was_added(n->import, v);
    if (v->batched)
        return;
    if (reads_nothing(n))
        as_large(n->import, v);
    else if (n->x && n->x->typed && (called(n, "expand") || FT__IS(n->op, "repeat")))
        as_repeated(n, v);
}

/* new_zeros() and the like take the type of an operand alone, where they are not as
 * large. */
static bool is_new(const ft__pt2_node *n, const ft__pt2_value *v)
{
    const ft__pt2_value *x = ft__pt2_in(n, 0);
    ft_shape s;

    if (n->op.n < 4 || memcmp(n->op.s, "new_", 4) || !x)
        return false;
    s = filed(n->import, x);
    return ft_shape_elements(&s) != ft_shape_elements(&v->shape);
}

void ft__pt2_carry_batch(ft__pt2_node *n)
{
    for (uint32_t o = 0; o < n->n_out && n->import->fixed_batch; o++) {
        ft__pt2_value *v = n->out[o];
        bool carried = false;

        if (!v || !v->typed || v->gradient || only_its_first(n, o) ||
            FT__IS(n->op, "embedding_dense_backward"))
            continue;
        v->filed = true;
        if (is_new(n, v)) {
            as_large(n->import, v);
            continue;
        }
        for (uint32_t i = 0; i < n->n_args; i++)
            for (uint32_t k = 0; k < n->arg[i].n && !v->batched; k++) {
                const ft__pt2_value *x = n->arg[i].value[k];

                if (x && x->batched) {
                    carried = true;
                    follow(n, x, v);
                }
            }
        if (!carried)
            from_nothing(n, v);
    }
}

static bool has_bit(const ft_op *op, uint32_t axis)
{
    uint32_t count = 0;
    const int64_t *axes = ft_op_get(op, FT_K_axes, &count);

    for (uint32_t i = 0; i < count; i++)
        if (axes[i] == (int64_t)axis)
            return true;
    return false;
}

static int reduced(const ft_op *op, uint32_t axis)
{
    int to = (int)axis;

    if (has_bit(op, axis))
        return NONE;
    for (uint32_t i = 0; i < axis && !ft_op_at(op, FT_K_keep, 0); i++)
        to -= has_bit(op, i);
    return to;
}

/* Where the batch of operand i is in result o. False: follow() says it. */
static bool by_operation(const ft_op *op, uint32_t i, uint32_t axis, uint32_t o,
                         int *to)
{
    ft_shape x, s;
    ft_dtype t;

    if (ft__rnn_gates(op->kind)) { /* length x directions x batch x hidden; states */
        *to = o ? 1 : 2;
        return true;
    }
    ft_op_input(op, i, &x, &t);
    ft_op_output(op, 0, &s, &t);
    if (op->kind == FT_KIND_matmul) {
        *to = axis + (i ? 2u : 1u) == x.rank || axis + s.rank < x.rank
                  ? NONE
                  : (int)(axis + s.rank - x.rank);
    } else if (op->kind == FT_KIND_gather) {
        const uint32_t along = (uint32_t)ft_op_at(op, FT_K_axis, 0);
        ft_shape y;

        ft_op_input(op, 1, &y, &t);
        *to = i               ? (int)(along + axis)
              : axis == along ? NONE
                              : (int)(axis + (axis > along ? y.rank - 1 : 0));
    } else if (ft_kind_class(op->kind) == FT_CLASS_REDUCE &&
               ft_op_get(op, FT_K_axes, &(uint32_t){0})) {
        *to = reduced(op, axis);
    } else {
        return false;
    }
    return true;
}

static void remember_added(ft__pt2 *p, ft__pt2_value *x)
{
    if (x->added || p->added == x)
        return;
    x->added = p->added;
    p->added = x;
}

void ft__pt2_batch_of_results(const ft__pt2_node *n, const ft_op *op,
                              const ft__pt2_call *c)
{
    ft__pt2 *p = n->import;

    if (!p->fixed_batch || op->phase != FT_PHASE_FORWARD)
        return;
    for (uint32_t o = 0; o < c->n_out && o < ft_op_n_outputs(op); o++)
        for (uint32_t i = 0; c->out[o] && i < c->n_in; i++) {
            ft__pt2_value *x = c->in[i];
            int to;

            if (!x->batched)
                continue;
            if (by_operation(op, i, x->axis, o, &to)) {
                set(p, c->out[o], to < (int)c->out[o]->shape.rank ? to : NONE,
                    x->inner);
                if (to == NONE)
                    remember_added(p, x);
                break;
            }
            if (!c->out[o]->batched)
                follow(n, x, c->out[o]);
        }
}

void ft__pt2_batch_in_order(const ft__pt2_node *n, const ft__pt2_value *x,
                            ft__pt2_value *out)
{
    if (n->import->fixed_batch && x->batched && (!out->filed || !out->batched))
        follow(n, x, out);
}

void ft__pt2_batch_moves(const ft__pt2_node *n, const ft__pt2_value *x,
                         ft__pt2_value *out, const int64_t *perm)
{
    for (uint32_t i = 0; n->import->fixed_batch && x->batched && i < x->shape.rank; i++)
        if (perm[i] == x->axis)
            set(n->import, out, (int)i, x->inner);
}
