/* A network in automatic mixed precision, as torch.autocast runs it: products and
 * convolutions in a type of 16 bits, norms, softmax and losses in fp32, everything else
 * in the widest type of its operands. Weights stay in fp32. In: a graph in fp32; out:
 * the graph with the casts between both types. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"

struct amp {
    const ft_graph *g;
    ft__build *b;
    ft_dtype narrow;
    ft_dtype *type;   /* by tensor of g: what it has in mixed precision */
    uint32_t *copied; /* by tensor of g: a weight's copy in 16 bits; FT_NONE */
};

/* What torch.autocast computes in fp32 on GPUs. */
static bool is_wide(const ft_op *op)
{
    static const ft_kind wide[] = {FT_KIND_layernorm,     FT_KIND_rmsnorm,
                                   FT_KIND_groupnorm,     FT_KIND_l2norm,
                                   FT_KIND_softmax,       FT_KIND_logsoftmax,
                                   FT_KIND_cross_entropy, FT_KIND_mse_loss,
                                   FT_KIND_softplus,      FT_KIND_exp,
                                   FT_KIND_expm1,         FT_KIND_log,
                                   FT_KIND_log1p,         FT_KIND_pow,
                                   FT_KIND_reciprocal,    FT_KIND_rsqrt,
                                   FT_KIND_tan,           FT_KIND_sinh,
                                   FT_KIND_cosh,          FT_KIND_asin,
                                   FT_KIND_acos,          FT_KIND_reduce_sum,
                                   FT_KIND_reduce_prod,   FT_KIND_reduce_l1,
                                   FT_KIND_reduce_l2,     FT_KIND_reduce_logsumexp,
                                   FT_KIND_cumsum,        FT_KIND_deform_conv2d};

    for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
        if (op->kind == wide[i])
            return true;
    return false;
}

static bool is_narrow(const ft_op *op)
{
    return !is_wide(op) &&
           (ft_kind_class(op->kind) == FT_CLASS_CONV ||
            ft_kind_class(op->kind) == FT_CLASS_MATMUL || op->kind == FT_KIND_prelu);
}

static bool is_softmax(const ft_op *op)
{
    return op->kind == FT_KIND_softmax || op->kind == FT_KIND_logsoftmax;
}

/* Kernels that read 16 bits and compute and write fp32, without a cast before them;
 * PyTorch's softmax has one for fp16 alone (aten/src/ATen/native/SoftMax.cpp). */
static bool reads_narrow(const ft_op *op, ft_dtype narrow)
{
    if (is_softmax(op))
        return narrow == FT_DTYPE_fp16;
    return op->kind == FT_KIND_cumsum || op->kind == FT_KIND_reduce_sum ||
           op->kind == FT_KIND_reduce_prod;
}

/* A Python number beside a tensor says nothing about the type of their sum. */
static bool is_number(const ft_tensor *t)
{
    return t->role == FT_ROLE_WEIGHT && ft_shape_elements(&t->shape) == 1;
}

/* The widest of its operands; fp32 where none is a float. */
static ft_dtype widest(const struct amp *a, const ft_node *n)
{
    bool narrow = false;

    for (uint32_t i = 0; i < n->n_in; i++) {
        const ft_tensor *t = &a->g->tensor[n->in[i]];

        if (t->dtype != FT_DTYPE_fp32 || is_number(t))
            continue;
        if (a->type[n->in[i]] == FT_DTYPE_fp32)
            return FT_DTYPE_fp32;
        narrow = true;
    }
    return narrow ? a->narrow : FT_DTYPE_fp32;
}

static ft_dtype computes_in(const struct amp *a, const ft_node *n)
{
    const ft_op *op = &a->g->op[n->op];

    if (op->dtype != FT_DTYPE_fp32)
        return op->dtype;
    return is_narrow(op) ? a->narrow : is_wide(op) ? FT_DTYPE_fp32 : widest(a, n);
}

/* Results in another type than the operands' stay in it. */
static void find_types(struct amp *a)
{
    const ft_graph *g = a->g;

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        a->type[i] = g->tensor[i].dtype;
        a->copied[i] = FT_NONE;
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        const ft_op *op = &g->op[n->op];
        const bool same = op->kind != FT_KIND_cast && !ft_op_at(op, FT_K_to, 0);

        for (uint32_t j = 0; j < n->n_out && same; j++)
            if (g->tensor[n->out[j]].dtype == FT_DTYPE_fp32)
                a->type[n->out[j]] = computes_in(a, n);
    }
}

static void copy_tensors(struct amp *a)
{
    for (uint32_t i = 0; i < a->g->n_tensors; i++) {
        const ft_tensor *t = &a->g->tensor[i];

        ft__build_like(a->b, t, a->type[i]);
        if (t->trainable)
            ft__build_trainable(a->b, i);
        if (t->detached)
            ft__build_detached(a->b, i);
    }
}

/* A new tensor: x in the type `to`. */
static uint32_t cast(struct amp *a, const char *name, uint32_t x, ft_dtype to,
                     uint64_t repeat)
{
    const uint32_t first = ft__build_here(a->b).n_nodes;
    ft_tensor t;
    uint32_t out;
    ft_op op;

    if (ft__build_failed(a->b))
        return FT_NONE;
    t = *ft__build_get(a->b, x);
    ft__op_init(&op, FT_KIND_cast, t.dtype);
    ft__op_set_shape(&op, FT_K_x, &t.shape);
    ft__op_set1(&op, FT_K_to, (int64_t)to);
    op.layout = t.layout;
    t.name = name;
    t.role = FT_ROLE_ACTIVATION;
    out = ft__build_like(a->b, &t, to);
    if (out != FT_NONE)
        ft__build_checked(a->b, name, strlen(name), &op, &x, 1, NULL, 0, &out, 1);
    ft__build_repeat_from(a->b, first, repeat);
    return out;
}

/* An operand in the type `to`: of a weight there is one copy for the whole pass, which
 * autocast keeps; activations are cast anew wherever they are read. */
static uint32_t operand(struct amp *a, const ft_node *n, uint32_t x, ft_dtype to)
{
    const ft_tensor *t = &a->g->tensor[x];

    if (t->dtype != FT_DTYPE_fp32 || a->type[x] == to)
        return x;
    if (t->role != FT_ROLE_WEIGHT)
        return cast(a, n->name, x, to, n->repeat);
    if (a->copied[x] == FT_NONE)
        a->copied[x] = cast(a, t->name, x, to, 1);
    return a->copied[x];
}

/* The node, its operands in the type that is computed in;
 * weights of products are operands behind the others, since they are computed. */
static void copy_node(struct amp *a, const ft_node *n)
{
    enum { MAX_IN = 2 * FT_OP_MAX_OPERANDS };
    const ft_op *of = &a->g->op[n->op];
    const ft_dtype in_type = computes_in(a, n);
    const bool casts = of->dtype == FT_DTYPE_fp32 &&
                       (is_narrow(of) || (is_wide(of) && !reads_narrow(of, a->narrow)));
    uint32_t in[MAX_IN], params[MAX_IN], n_in = 0, n_params = 0, first;
    ft_op op = *of;

    if (n->n_in + n->n_params > MAX_IN) {
        ft__build_fail(a->b, FT_EUNSUPPORTED, 0, "node %s: more than %d operands",
                       n->name, MAX_IN);
        return;
    }
    op.dtype = in_type;
    if (op.kind == FT_KIND_cast)
        op = ft__op_cast_same(&op);
    for (uint32_t i = 0; i < n->n_in; i++)
        in[n_in++] = casts ? operand(a, n, n->in[i], in_type) : n->in[i];
    for (uint32_t i = 0; i < n->n_params; i++)
        if (casts && is_narrow(of) && a->g->tensor[n->params[i]].dtype == FT_DTYPE_fp32)
            in[n_in++] = operand(a, n, n->params[i], in_type);
        else
            params[n_params++] = n->params[i];
    first = ft__build_here(a->b).n_nodes;
    ft__build_checked(a->b, n->name, strlen(n->name), &op, in, n_in, params, n_params,
                      n->out, n->n_out);
    ft__build_repeat_from(a->b, first, n->repeat);
    for (uint32_t j = 0; j < n->n_out && !ft__build_failed(a->b); j++) {
        const uint32_t at = a->g->tensor[n->out[j]].storage;

        if (at != n->out[j] && a->type[at] == a->type[n->out[j]])
            ft__build_alias(a->b, n->out[j], at);
    }
}

static void copy_graph(struct amp *a)
{
    copy_tensors(a);
    for (uint32_t i = 0; i < a->g->n_nodes && !ft__build_failed(a->b); i++) {
        ft__build_at(a->b, &a->g->node[i]);
        copy_node(a, &a->g->node[i]);
    }
    for (uint32_t i = 0; i < a->g->n_outputs; i++)
        ft__build_output(a->b, a->g->output[i]);
}

/* A list of operations does not say what reads what. */
static ft_dtype listed_in(const struct amp *a, const ft_op *op)
{
    return op->dtype != FT_DTYPE_fp32 || is_wide(op) || op->kind == FT_KIND_cast ||
                   ft_kind_class(op->kind) == FT_CLASS_OPTIMIZER
               ? op->dtype
               : a->narrow;
}

static void list_cast(struct amp *a, const ft_node *n, const ft_shape *s, ft_dtype from,
                      ft_dtype to)
{
    const uint32_t x = ft__build_tensor(a->b, "", 0, FT_ROLE_ACTIVATION, from, s);

    if (x != FT_NONE)
        (void)cast(a, n->name, x, to, n->repeat);
}

/* Where it runs forward; where it runs backward, the gradient back. */
static void list_casts(struct amp *a, const ft_node *n, const ft_shape *s,
                       ft_dtype from, ft_dtype to)
{
    const ft_phase phase = a->g->op[n->op].phase;

    if (phase != FT_PHASE_BACKWARD)
        list_cast(a, n, s, from, to);
    if (phase != FT_PHASE_FORWARD)
        list_cast(a, n, s, to, from);
}

/* Its weights are cast, and so is what it makes in fp32; what is in neither of
 * autocast's lists, and softmax, reads what has 16 bits. */
static void copy_listed(struct amp *a, const ft_node *n)
{
    const ft_op *of = &a->g->op[n->op];
    const bool updates = of->phase == FT_PHASE_OPTIMIZER;
    const bool weights =
        is_narrow(of) && !updates &&
        (of->phase != FT_PHASE_BACKWARD || ft_op_wrt(of) & FT_WRT_WEIGHTS);
    const bool wide = is_wide(of) && of->dtype == FT_DTYPE_fp32 && !updates;
    const ft_op run = ft__forward_of(of);
    ft_op op = *of;
    ft_shape s;
    ft_dtype type;
    ft_param p;

    for (uint32_t i = 0; weights && i < ft_op_n_params(of); i++) {
        ft_op_param(of, i, &p);
        if (p.dtype == FT_DTYPE_fp32)
            list_casts(a, n, &p.shape, FT_DTYPE_fp32, a->narrow);
    }
    op.dtype = listed_in(a, of);
    ft_op_input(&run, 0, &s, &type);
    if (wide && is_softmax(of) && !reads_narrow(of, a->narrow))
        list_casts(a, n, &s, a->narrow, FT_DTYPE_fp32);
    ft__build_again(a->b, n, &op, n->in, n->out, n->n_out);
    ft_op_output(&run, 0, &s, &type);
    if (wide)
        list_casts(a, n, &s, FT_DTYPE_fp32, a->narrow);
}

static void copy_list(struct amp *a)
{
    for (uint32_t i = 0; i < a->g->n_nodes; i++) {
        const ft_node *n = &a->g->node[i];
        const ft_op *op = &a->g->op[n->op];

        for (uint32_t j = 0; j < n->n_in + n->n_out; j++) {
            const uint32_t t = j < n->n_in ? n->in[j] : n->out[j - n->n_in];

            if (a->g->tensor[t].dtype == FT_DTYPE_fp32 && op->dtype == FT_DTYPE_fp32)
                a->type[t] = listed_in(a, op);
        }
    }
    copy_tensors(a);
    for (uint32_t i = 0; i < a->g->n_nodes && !ft__build_failed(a->b); i++) {
        ft__build_at(a->b, &a->g->node[i]);
        copy_listed(a, &a->g->node[i]);
    }
    ft__build_assume(a->b,
                     "mixed precision of a list: operations that are neither products "
                     "nor computed in fp32 read and write %s",
                     ft_dtype_name(a->narrow));
}

static void copy(struct amp *a)
{
    find_types(a);
    if (a->g->n_outputs)
        copy_graph(a);
    else
        copy_list(a);
    ft__build_notes(a->b, a->g);
    ft__build_assume(a->b,
                     "mixed precision as by torch.autocast: products and convolutions "
                     "in %s, norms, softmax and losses in fp32, weights in fp32 and "
                     "cast once in every pass",
                     ft_dtype_name(a->narrow));
}

ft_status ft__graph_amp(ft_graph **out, const ft_graph *g, ft_dtype narrow,
                        ft_error *err)
{
    const size_t n = (size_t)g->n_tensors + 1;
    struct amp a = {.g = g, .narrow = narrow};
    ft_status st;

    *out = NULL;
    if (g->mode == FT_MODE_TRAINING && g->n_outputs)
        return ft_fail(err, FT_EINVAL, 0,
                       "%s holds its backward pass: export it under torch.autocast, or "
                       "its forward pass alone",
                       g->name);
    a.b = ft__build_new(g->name);
    a.type = malloc(n * sizeof(*a.type));
    a.copied = malloc(n * sizeof(*a.copied));
    if (a.b && a.type && a.copied) {
        copy(&a);
        st = ft__build_finish_take(out, a.b, err);
    } else {
        ft__build_free(a.b);
        st = ft_fail(err, FT_ENOMEM, 0, "mixed precision of %s", g->name);
    }
    free(a.type);
    free(a.copied);
    return st;
}
