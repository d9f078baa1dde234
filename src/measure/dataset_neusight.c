/* NeuSight (Lee, Phanishayee, Mahajan, ASPLOS 2025; github.com/sitar-lab/NeuSight):
 * single operations, whole transformers, and the nodes of these. fp32, PyTorch. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/op_inside.h"
#include "measure/dataset.h"

/* The last axis of the row's shape is h, or k; what comes before it is rows. */
static ft_shape matrix(int64_t rows, int64_t columns)
{
    return (ft_shape){.rank = 2, .dim = {rows, columns}};
}

/* Elementwise; u: the second operand is a number ("VECaddu", "addu"). */
static const struct {
    const char *name;
    ft_kind kind;
    enum { ONE, TWO, SCALAR, SOFTMAX, NORM } form;
} vectors[] = {
    {"add", FT_KIND_add, TWO},         {"addu", FT_KIND_add, SCALAR},
    {"sub", FT_KIND_sub, TWO},         {"subu", FT_KIND_sub, SCALAR},
    {"mul", FT_KIND_mul, TWO},         {"mulu", FT_KIND_mul, SCALAR},
    {"div", FT_KIND_div, TWO},         {"divu", FT_KIND_div, SCALAR},
    {"pow", FT_KIND_pow, TWO},         {"powu", FT_KIND_pow, SCALAR},
    {"gelu", FT_KIND_gelu, ONE},       {"relu", FT_KIND_relu, ONE},
    {"tanh", FT_KIND_tanh, ONE},       {"silu", FT_KIND_silu, ONE},
    {"sigmoid", FT_KIND_sigmoid, ONE}, {"exp", FT_KIND_exp, ONE},
    {"sqrt", FT_KIND_sqrt, ONE},       {"softmax", FT_KIND_softmax, SOFTMAX},
    {"ln", FT_KIND_layernorm, NORM},   {"rmsnorm", FT_KIND_rmsnorm, NORM},
};
enum { N_VECTORS = sizeof(vectors) / sizeof(*vectors) };

/* y NULL: as large as x. */
static bool vector_op(ft_op *op, const char *name, const ft_shape *x, const ft_shape *y)
{
    const ft_shape one = {.rank = 1, .dim = {1}};
    size_t i = 0;

    while (i < N_VECTORS && strcmp(vectors[i].name, name) != 0)
        i++;
    if (i == N_VECTORS)
        return false;
    *op = ft__op(vectors[i].kind, FT_DTYPE_fp32, x);
    if (vectors[i].form == TWO)
        ft__op_set_shape(op, FT_K_y, y ? y : x);
    if (vectors[i].form == SCALAR)
        ft__op_set_shape(op, FT_K_y, &one);
    if (vectors[i].form == SOFTMAX)
        ft__op_set1(op, FT_K_axis, x->rank ? x->rank - 1 : 0);
    if (vectors[i].form == NORM)
        ft__op_set1(op, FT_K_norm, 1);
    return true;
}

/* Of an eager call timed by events: TF32 is off, which changes nothing before Ampere.
 */
static void key(ft__import *im)
{
    ft__device(im, ft__text(im, FT__C_device));
    ft__policy(im, "ieee");
}

/* ---- operations ---- */

static ft_op product(ft__import *im, bool batched)
{
    int64_t b = ft__whole_or(im, FT__C_b, 1), m = ft__whole(im, FT__C_m),
            k = ft__whole(im, FT__C_k), n = ft__whole(im, FT__C_n);
    ft_shape x = {.rank = 3, .dim = {b, m, k}}, y = {.rank = 3, .dim = {b, k, n}};
    ft_op op;

    if (batched) {
        op = ft__op(FT_KIND_matmul, FT_DTYPE_fp32, &x);
        ft__op_set_shape(&op, FT_K_y, &y);
        return op;
    }
    if (b == 1)
        x = matrix(m, k);
    op = ft__op(FT_KIND_linear, FT_DTYPE_fp32, &x);
    ft__op_set1(&op, FT_K_out, n);
    ft__op_set1(&op, FT_K_bias, 1);
    return op;
}

static ft_op convolution(ft__import *im)
{
    int64_t size = ft__whole(im, FT__C_insize), kernel = ft__whole(im, FT__C_ksize);
    int64_t stride = ft__whole(im, FT__C_stride), pad = ft__whole(im, FT__C_pad);
    ft_shape x = {
        .rank = 4,
        .dim = {ft__whole(im, FT__C_b), ft__whole(im, FT__C_cin), size, size}};
    ft_op op = ft__op(FT_KIND_conv2d, FT_DTYPE_fp32, &x);

    ft__op_set1(&op, FT_K_out, ft__whole(im, FT__C_cout));
    ft__op_set(&op, FT_K_kernel, (int64_t[]){kernel, kernel}, 2);
    ft__op_set(&op, FT_K_stride, (int64_t[]){stride, stride}, 2);
    ft__op_set(&op, FT_K_pad, (int64_t[]){pad, pad}, 2);
    return op;
}

static void operation(ft__import *im)
{
    const char *name = ft__text(im, FT__C_op);
    ft_shape x;
    ft_op op;

    key(im);
    (void)ft__text(im, FT__C_mode); /* forward only */
    (void)ft__text(im, FT__C_dtype);
    ft__setting(im, "split", ft__text(im, FT__C_split));
    if (strcmp(name, "bmm") == 0 || strcmp(name, "linear") == 0) {
        op = product(im, name[0] == 'b');
    } else if (strcmp(name, "conv") == 0) {
        op = convolution(im);
    } else {
        x = matrix(ft__whole(im, FT__C_b), ft__whole(im, FT__C_h));
        if (!vector_op(&op, name, &x, NULL)) {
            ft__wrong(im, FT__C_op, "no such operation is known");
            return;
        }
    }
    ft__about(im, &op);
    ft__value(im, "time", "s", ft__real(im, FT__C_time_s), NAN, 1);
}

/* ---- networks ---- */

static bool is_training(ft__import *im)
{
    return ft__is(im, FT__C_mode, "training");
}

static void tokens(ft__import *im, char *out, size_t size)
{
    snprintf(out, size, "x=%lldx%lld dtype=fp32", (long long)ft__whole(im, FT__C_batch),
             (long long)ft__whole(im, FT__C_seqlen));
}

/* Training is forward and backward, without an optimizer. */
static void network(ft__import *im)
{
    const char *name = ft__text(im, FT__C_network);
    bool training = is_training(im);
    char rest[80];

    key(im);
    (void)ft__text(im, FT__C_dtype);
    tokens(im, rest, sizeof(rest));
    ft__setting(im, "mode", training ? "training" : "");
    ft__setting(im, "option", ft__text(im, FT__C_option));
    ft__about_whole(im, "network", name, rest,
                    training ? FT_PHASE_FORWARD_BACKWARD : FT_PHASE_FORWARD);
    ft__value(im, "time", "s", ft__real(im, FT__C_time_s), NAN, 1);
    if (!training)
        return;
    ft__about_whole(im, "network", name, rest, FT_PHASE_FORWARD);
    ft__value(im, "time", "s", ft__real(im, FT__C_fwd_s), NAN, 1);
    ft__about_whole(im, "network", name, rest, FT_PHASE_BACKWARD);
    ft__value(im, "time", "s", ft__real(im, FT__C_bwd_s), NAN, 1);
}

/* ---- their nodes ---- */

enum { MOST = 8 };

/* "[(16,512,1024),(1,)]" */
static size_t shapes(ft__import *im, ft__column c, ft_shape out[MOST])
{
    const char *s = ft__text(im, c);
    size_t n = 0;

    s += *s == '[';
    while (*s == '(' && n < MOST) {
        if (!ft__shape_read(&out[n++], &s)) {
            ft__wrong(im, c, "shapes are needed here, as [(16,512),(1,)]");
            return 0;
        }
        s += strspn(s, ", ");
    }
    return n;
}

static int64_t elements(const ft_shape *s)
{
    return ft_shape_elements(s);
}

/* Python's operations on shapes and tuples, and views. */
static ft_op view(const ft_shape *in, size_t n, const ft_shape *out)
{
    ft_op op = ft__op(FT_KIND_view, FT_DTYPE_fp32,
                      n && elements(in) >= elements(out) ? in : out);

    ft__op_set_shape(&op, FT_K_out, out);
    return op;
}

static ft_op generic(const ft_shape *in, size_t n, const ft_shape *out)
{
    ft_op op;
    int64_t read = 0;

    for (size_t i = 0; i < n; i++)
        read += elements(&in[i]);
    ft__op_init(&op, FT_KIND_generic, FT_DTYPE_fp32);
    ft__op_set1(&op, FT_K_read, read);
    ft__op_set_shape(&op, FT_K_out, out);
    return op;
}

/* x of "linear", with or without bias and transposed weights before and behind it. */
static ft_op linear_node(const ft_shape *in, size_t n, const ft_shape *out)
{
    bool bias = n > 1;
    size_t at = n > 2 ? 1 : 0; /* addmm(bias, x, weights) */
    ft_op op = ft__op(FT_KIND_linear, FT_DTYPE_fp32, n ? &in[at] : out);

    ft__op_set1(&op, FT_K_out, out->rank ? out->dim[out->rank - 1] : 1);
    ft__op_set1(&op, FT_K_bias, bias || n == 1);
    return op;
}

static ft_op matmul_node(const ft_shape *in)
{
    ft_op op = ft__op(FT_KIND_matmul, FT_DTYPE_fp32, &in[0]);

    ft__op_set_shape(&op, FT_K_y, &in[1]);
    return op;
}

static ft_op where_node(const ft_shape *in)
{
    ft_op op = ft__op(FT_KIND_where, FT_DTYPE_fp32, &in[0]);

    ft__op_set_shape(&op, FT_K_y, &in[1]);
    ft__op_set_shape(&op, FT_K_z, &in[2]);
    return op;
}

/* The rows of the table are not told: those that are taken stand for it. */
static ft_op embedding_node(const ft_shape *in, const ft_shape *out)
{
    ft_op op = ft__op(FT_KIND_embedding, FT_DTYPE_fp32, in);

    ft__op_set1(&op, FT_K_rows, elements(in));
    ft__op_set1(&op, FT_K_dim, out->rank ? out->dim[out->rank - 1] : 1);
    return op;
}

static ft_op plain_node(ft_kind kind, const ft_shape *in)
{
    ft_op op = ft__op(kind, FT_DTYPE_fp32, in);

    if (kind == FT_KIND_cumsum)
        ft__op_set1(&op, FT_K_axis, in->rank ? in->rank - 1 : 0);
    return op;
}

static ft_op node_op(ft__import *im, const char *name, const ft_shape *in, size_t n,
                     const ft_shape *out)
{
    const bool vector = strncmp(name, "VEC", 3) == 0;
    ft_op op;

    if (vector && n && vector_op(&op, name + 3, &in[0], n > 1 ? &in[1] : NULL))
        return op;
    if (strcmp(name, "Linear") == 0)
        return linear_node(in, n, out);
    if (strcmp(name, "BMM") == 0 && n == 2)
        return matmul_node(in);
    if (strcmp(name, "EMBEDDING") == 0 && n)
        return embedding_node(in, out);
    if (strcmp(name, "where") == 0 && n == 3)
        return where_node(in);
    if (strcmp(name, "contiguous") == 0 && n)
        return plain_node(FT_KIND_copy, in);
    if (strcmp(name, "dropout") == 0 && n)
        return plain_node(FT_KIND_dropout, in);
    if (strcmp(name, "cumsum") == 0 && n)
        return plain_node(FT_KIND_cumsum, in);
    if (strcmp(name, "getitem") == 0)
        return view(in, n, out);
    ft__count_unknown(im);
    ft__keep(im, FT__C_op);
    return generic(in, n, out);
}

/* Of training, the node's gradient: its time, and how long adding it to the
 * parameters' gradients takes. */
static void backward(ft__import *im, ft_op *op, const char *whole, double count)
{
    double time = ft__real(im, FT__C_bwd_s), added = ft__real(im, FT__C_acc_s);
    ft_error none;

    op->phase = FT_PHASE_BACKWARD;
    if (ft_op_check(op, &none) || !(time > 0))
        return;
    ft__about(im, op);
    ft__value(im, "time", "s", time, NAN, 1);
    if (added > 0)
        ft__value(im, "accumulate", "s", added, NAN, 1);
    ft__member(im, "neusight", whole, FT_PHASE_FORWARD_BACKWARD, count, "");
}

static const char clamp_note[] = "not in the list; torch.max(scores, least)";

/* OPTAttention of PyTorch's transformers clamps its scores once the mask is added
 * (torch.max(scores, least)), which the traced lists lack on every device: nodes of the
 * other networks sum up to what was measured, OPT's to 5 to 10 % less. */
static void clamp_scores(ft__import *im, const ft_op *op, const char *whole,
                         double count)
{
    const ft_shape one = {.rank = 1, .dim = {1}};
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    bool training = is_training(im);
    ft_op clamp;

    if (strncmp(ft__text(im, FT__C_network), "opt", 3) != 0 ||
        op->kind != FT_KIND_add || x.rank != 4 || y.rank != 4 || y.dim[1] != 1)
        return;
    clamp = ft__op(FT_KIND_maximum, FT_DTYPE_fp32, &x);
    ft__op_set_shape(&clamp, FT_K_y, &one);
    ft__about(im, &clamp);
    ft__member(im, "neusight", whole,
               training ? FT_PHASE_FORWARD_BACKWARD : FT_PHASE_FORWARD, count,
               clamp_note);
    if (!training)
        return;
    clamp.phase = FT_PHASE_BACKWARD;
    ft__about(im, &clamp);
    ft__member(im, "neusight", whole, FT_PHASE_FORWARD_BACKWARD, count, clamp_note);
}

static void node(ft__import *im)
{
    const char *name = ft__text(im, FT__C_op);
    double count = (double)ft__whole(im, FT__C_repeat);
    bool training = is_training(im);
    ft_shape in[MOST], out = ft__shape(im, FT__C_out_shape);
    size_t n = shapes(im, FT__C_in_shapes, in);
    char rest[80], whole[300];
    ft_op op;

    key(im);
    if (strcmp(name, "output") == 0)
        return; /* names the results and does nothing */
    op = node_op(im, name, in, n, &out);
    tokens(im, rest, sizeof(rest));
    ft__about_whole(im, "network", ft__text(im, FT__C_network), rest, FT_PHASE_FORWARD);
    snprintf(whole, sizeof(whole), "%s", ft__spec(im));
    ft__setting(im, "mode", training ? "training" : "");
    ft__setting(im, "split", "net");
    ft__about(im, &op);
    ft__value(im, "time", "s", ft__real(im, FT__C_fwd_s), NAN, 1);
    ft__member(im, "neusight", whole,
               training ? FT_PHASE_FORWARD_BACKWARD : FT_PHASE_FORWARD, count, "");
    if (training)
        backward(im, &op, whole, count);
    op.phase = FT_PHASE_FORWARD;
    clamp_scores(im, &op, whole, count);
    ft__keep(im, FT__C_network);
    ft__keep(im, FT__C_repeat);
}

static const ft__column op_needs[] = {FT__C_device, FT__C_split, FT__C_op,
                                      FT__C_time_s};
static const ft__column net_needs[] = {FT__C_device, FT__C_network, FT__C_mode,
                                       FT__C_batch,  FT__C_seqlen,  FT__C_time_s};
static const ft__column node_needs[] = {FT__C_device, FT__C_network,   FT__C_mode,
                                        FT__C_op,     FT__C_in_shapes, FT__C_out_shape,
                                        FT__C_fwd_s};

#define NEEDS(list) list, sizeof(list) / sizeof(*(list))
const ft__form ft__neusight_forms[3] = {
    {NEEDS(node_needs), "torch", "", node},
    {NEEDS(net_needs), "torch", "", network},
    {NEEDS(op_needs), "torch", "", operation},
};
