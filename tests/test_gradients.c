/* Backward operations of engines that have them, against finite differences of the
 * engine's own forward ones: for random g, the derivative of sum(g * result) by every
 * element of every operand and weight, in fp64.
 *
 * usage: test_gradients PLUGIN_DIR ENGINE, with the engine's options in
 * FT_TEST_OPTIONS */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "graph/op_inside.h"
#include "measure/values.h"

enum { MAX_VALUES = 24, MAX_ELEMENTS = 4096 };

/* Operands lie in [low, high). */
static const struct test_case {
    const char *spec;
    double low, high;
} cases[] = {
#define U(kind, low, high) {#kind " x=2x3x5 dtype=fp64", low, high},
    U(relu, -1, 1) U(leaky_relu, -1, 1) U(elu, -1, 1) U(selu, -1, 1) U(clip, -3, 9)
        U(sigmoid, -1, 1) U(tanh, -1, 1) U(hardsigmoid, -4, 4) U(silu, -1, 1)
            U(hardswish, -4, 4) U(gelu, -1, 1) U(gelu_tanh, -1, 1) U(mish, -1, 1) U(
                softplus, -1, 1) U(softsign, -1, 1) U(erf, -1, 1) U(exp, -1, 1)
                U(log, 0.3, 2) U(sqrt, 0.3, 2) U(abs, -1, 1) U(neg, -1, 1) U(
                    reciprocal, 0.3, 2) U(sin, -1, 1) U(cos, -1, 1) U(tan, -1, 1)
                    U(sinh, -1, 1) U(cosh, -1, 1) U(asin, -0.9, 0.9) U(acos, -0.9, 0.9)
                        U(atan, -1, 1) U(asinh, -1, 1) U(acosh, 1.5, 3) U(
                            atanh, -0.9, 0.9) U(rsqrt, 0.3, 2) U(expm1, -1, 1)
                            U(log1p, 0, 1) U(lgamma, 0.5, 3) U(copy, -1, 1)
#undef U
#define B(kind, low, high)                                                             \
    {#kind " x=2x3x5 y=2x3x5 dtype=fp64", low, high},                                  \
        {#kind " x=2x3x5 y=3x1 dtype=fp64", low, high},                                \
        {#kind " x=5 y=2x3x5 dtype=fp64", low, high},
                                B(add, -1, 1) B(sub, -1, 1) B(mul, -1, 1) B(div, 0.3, 2)
                                    B(pow, 0.3, 2) B(minimum, -1, 1) B(maximum, -1, 1)
                                        B(atan2, 0.3, 2)
#undef B
                                            {"where x=2x3 y=2x3 z=3 dtype=fp64", -1, 1},
    {"conv1d x=2x4x9 out=6 kernel=3 stride=2 pad=1 bias=1 dtype=fp64", -1, 1},
    {"conv2d x=2x4x6x5 out=6 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp64", -1, 1},
    {"conv2d x=1x4x6x6 out=4 kernel=3x3 stride=2x2 pad=0x0x1x1 groups=4 dtype=fp64", -1,
     1},
    {"conv2d x=2x4x6x6 out=6 kernel=2x2 stride=2x2 pad=0x0 dilation=2x2 groups=2 "
     "dtype=fp64",
     -1, 1},
    {"conv3d x=1x2x3x4x3 out=2 kernel=2x2x2 stride=1x1x1 pad=0x1x0 dtype=fp64", -1, 1},
    {"conv_transpose2d x=1x4x3x3 out=2 kernel=3x3 stride=2x2 pad=1x1 outpad=1x1 bias=1 "
     "dtype=fp64",
     -1, 1},
    {"linear x=3x4 out=5 bias=1 dtype=fp64", -1, 1},
    {"linear x=2x3x4 out=5 bias=1 dtype=fp64", -1, 1},
    {"linear x=2x3x4 out=5 dtype=fp64", -1, 1},
    {"matmul x=3x4 y=4x2 dtype=fp64", -1, 1},
    {"matmul x=2x3x4 y=2x4x5 dtype=fp64", -1, 1},
    {"matmul x=2x3x4 y=4x5 dtype=fp64", -1, 1},
    {"matmul x=2x1x3x4 y=2x4x5 dtype=fp64", -1, 1},
    {"batchnorm x=3x4x2x3 train=1 dtype=fp64", 0.3, 2},
    {"batchnorm x=3x4x2x3 dtype=fp64", 0.3, 2},
    {"layernorm x=2x3x8 norm=1 dtype=fp64", 0.3, 2},
    {"layernorm x=2x3x4 norm=2 dtype=fp64", 0.3, 2},
    {"groupnorm x=2x6x3x2 groups=3 dtype=fp64", 0.3, 2},
    {"instancenorm x=2x3x4x2 dtype=fp64", 0.3, 2},
    {"rmsnorm x=2x3x8 norm=1 dtype=fp64", 0.3, 2},
    {"lrn x=1x6x2x2 size=3 dtype=fp64", 0.3, 2},
    {"l2norm x=2x3x4 axis=1 dtype=fp64", 0.3, 2},
    {"softmax x=2x3x5 axis=2 dtype=fp64", -1, 1},
    {"softmax x=2x3x5 axis=1 dtype=fp64", -1, 1},
    {"logsoftmax x=2x3x5 axis=2 dtype=fp64", -1, 1},
    {"attention x=1x2x4x8 y=1x2x4x8 z=1x2x4x8 dtype=fp64", -1, 1},
    {"attention x=1x2x4x8 y=1x2x4x8 z=1x2x4x8 causal=1 dtype=fp64", -1, 1},
    {"attention x=1x4x3x8 y=1x2x5x8 z=1x2x5x8 dtype=fp64", -1, 1},
    {"attention x=1x2x3x8 y=1x2x5x8 z=1x2x5x4 dtype=fp64", -1, 1},
    {"attention x=1x2x3x8 y=1x2x5x8 z=1x2x5x8 mask=1 dtype=fp64", -1, 1},
    {"maxpool1d x=2x3x9 kernel=3 stride=2 pad=1 dtype=fp64", -1, 1},
    {"maxpool2d x=2x3x7x6 kernel=3x3 stride=2x2 pad=1x1 dtype=fp64", -1, 1},
    {"maxpool2d x=1x2x6x6 kernel=3x3 stride=2x2 pad=0x0 ceil=1 dtype=fp64", -1, 1},
    {"maxpool3d x=1x2x4x4x4 kernel=2x2x2 stride=2x2x2 pad=0x0x0 dtype=fp64", -1, 1},
    {"avgpool1d x=2x3x9 kernel=3 stride=2 pad=1 dtype=fp64", -1, 1},
    {"avgpool2d x=2x3x7x6 kernel=3x3 stride=2x2 pad=1x1 dtype=fp64", -1, 1},
    {"avgpool3d x=1x2x4x4x4 kernel=2x2x2 stride=2x2x2 pad=0x0x0 dtype=fp64", -1, 1},
    {"global_avgpool x=2x3x4x4 dtype=fp64", -1, 1},
    {"reduce_sum x=2x3x4 axes=1 dtype=fp64", -1, 1},
    {"reduce_mean x=2x3x4 axes=1x2 keep=0 dtype=fp64", -1, 1},
    {"reduce_max x=2x3x4 axes=2 dtype=fp64", -1, 1},
    {"reduce_min x=2x3x4 axes=1 keep=0 dtype=fp64", -1, 1},
    {"reduce_prod x=2x3x4 axes=2 dtype=fp64", 0.3, 2},
    {"reduce_l1 x=2x3x4 axes=1x2 dtype=fp64", -1, 1},
    {"reduce_l2 x=2x3x4 axes=2 dtype=fp64", -1, 1},
    {"reduce_logsumexp x=2x3x4 axes=2 dtype=fp64", -1, 1},
    {"cumsum x=2x3x4 axis=1 dtype=fp64", -1, 1},
    {"resize x=1x2x3x4 out=1x2x6x8 dtype=fp64", -1, 1},
    {"resize x=1x2x3x4 out=1x2x6x8 mode=1 dtype=fp64", -1, 1},
    {"resize x=1x2x3x4 out=1x2x6x8 mode=2 dtype=fp64", -1, 1},
    {"embedding x=2x3 rows=5 dim=4 dtype=fp64", -1, 1},
    {"view x=2x3x4 out=6x4 dtype=fp64", -1, 1},
    {"transpose x=2x3x4 perm=2x0x1 dtype=fp64", -1, 1},
    {"expand x=2x1x4 out=3x2x5x4 dtype=fp64", -1, 1},
    {"slice x=4x6 out=2x3 dtype=fp64", -1, 1},
    {"slice x=4x6x3 out=4x3 dtype=fp64", -1, 1},
    {"slice x=4x7 out=4x4 step=2 dtype=fp64", -1, 1},
    {"split x=2x6 axis=1 sizes=1x2x3 dtype=fp64", -1, 1},
    {"cross_entropy x=4x5 axis=1 dtype=fp64", -1, 1},
    {"cross_entropy x=2x5x3x2 axis=1 dtype=fp64", -1, 1},
    {"cross_entropy x=2x3x5 axis=2 dtype=fp64", -1, 1},
    {"mse_loss x=3x4 y=3x4 dtype=fp64", -1, 1},
};

/* One operand, weight or result in host memory. */
struct host {
    ft_shape shape;
    ft_dtype dtype;
    int64_t n;
    double v[MAX_ELEMENTS];
};

/* An operation, its forward and backward blocks, and all that they take. */
struct trial {
    ft_session *s;
    ft_op op;
    ft_block *forward, *keeping, *backward;
    uint32_t n_in, n_params, n_out;
    struct host in[MAX_VALUES]; /* operands, then weights */
    void *value[MAX_VALUES];
    struct host g[4];
};

static const ft_engine_values *values(const struct trial *t)
{
    return t->s->engine->values;
}

static ft_status put(struct trial *t, void *value, const struct host *h, ft_error *err)
{
    int64_t whole[MAX_ELEMENTS];
    uint8_t flags[MAX_ELEMENTS];

    for (int64_t i = 0; i < h->n; i++) {
        whole[i] = (int64_t)h->v[i];
        flags[i] = (uint8_t)h->v[i];
    }
    return values(t)->write(t->s->context, value,
                            h->dtype == FT_DTYPE_int64  ? (const void *)whole
                            : h->dtype == FT_DTYPE_bool ? (const void *)flags
                                                        : h->v,
                            err);
}

static ft_status make_values(struct trial *t, const struct test_case *c, ft_error *err)
{
    ft__prng rng = ft__prng_stream(1, 2);
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < t->n_in + t->n_params && !st; i++) {
        struct host *h = &t->in[i];
        ft_param p;

        if (i < t->n_in) {
            ft_op_input(&t->op, i, &h->shape, &h->dtype);
        } else {
            ft_op_param(&t->op, i - t->n_in, &p);
            h->shape = p.shape;
            h->dtype = p.dtype;
        }
        h->n = ft_shape_elements(&h->shape);
        for (int64_t k = 0; k < h->n; k++)
            h->v[k] =
                h->dtype == FT_DTYPE_fp64
                    ? c->low + (c->high - c->low) * ft__prng_unit(&rng)
                    : floor((double)ft__operand_limit(&t->op, i) * ft__prng_unit(&rng));
        st = values(t)->make(t->s->context, &t->value[i], &h->shape, h->dtype,
                             FT_LAYOUT_PLAIN, err);
        if (!st)
            st = put(t, t->value[i], h, err);
    }
    for (uint32_t i = 0; i < t->n_out; i++) {
        ft_op_output(&t->op, i, &t->g[i].shape, &t->g[i].dtype);
        t->g[i].n = ft_shape_elements(&t->g[i].shape);
        for (int64_t k = 0; k < t->g[i].n; k++)
            t->g[i].v[k] = ft__prng_unit(&rng) - 0.5;
    }
    return st;
}

/* sum(g * result) */
static double objective(struct trial *t, ft_error *err)
{
    static double host[MAX_ELEMENTS];
    void *out[MAX_VALUES] = {NULL};
    double sum = 0;

    CHECK_EQ(
        t->s->engine->run(t->forward, 0, (const void *const *)t->value, out, NULL, err),
        FT_OK);
    for (uint32_t i = 0; i < t->n_out; i++) {
        CHECK_EQ(values(t)->read(t->s->context, host, out[i], err), FT_OK);
        for (int64_t k = 0; k < t->g[i].n; k++)
            sum += t->g[i].v[k] * host[k];
        values(t)->drop(t->s->context, out[i]);
    }
    return sum;
}

static double difference(struct trial *t, uint32_t operand, int64_t k, ft_error *err)
{
    struct host *h = &t->in[operand];
    double step = 1e-6, v = h->v[k], up;

    h->v[k] = v + step;
    CHECK_EQ(put(t, t->value[operand], h, err), FT_OK);
    up = objective(t, err);
    h->v[k] = v - step;
    CHECK_EQ(put(t, t->value[operand], h, err), FT_OK);
    up -= objective(t, err);
    h->v[k] = v;
    CHECK_EQ(put(t, t->value[operand], h, err), FT_OK);
    return up / (2 * step);
}

/* The backward block's operands: gradients, what is saved, kept, weights. */
static uint32_t backward_operands(struct trial *t, const void **in, void *const *out,
                                  void **g, ft_error *err)
{
    uint32_t saves = ft_kind_saves(t->op.kind), n = 0;

    for (uint32_t i = 0; i < t->n_out; i++) {
        CHECK_EQ(values(t)->make(t->s->context, &g[i], &t->g[i].shape, t->g[i].dtype,
                                 FT_LAYOUT_PLAIN, err),
                 FT_OK);
        CHECK_EQ(put(t, g[i], &t->g[i], err), FT_OK);
        in[n++] = g[i];
    }
    for (uint32_t i = 0; i < 3 && i < t->n_in; i++)
        if (saves >> i & 1)
            in[n++] = t->value[i];
    if (saves & FT_SAVE_OUT)
        in[n++] = out[0];
    in[n++] = out[t->n_out];
    for (uint32_t i = 0; i < t->n_params; i++)
        in[n++] = t->value[t->n_in + i];
    return n;
}

static void compare(struct trial *t, uint32_t operand, void *gradient, const char *spec,
                    ft_error *err)
{
    static double got[MAX_ELEMENTS];
    double worst = 0, most = 1e-3;

    CHECK_EQ(values(t)->read(t->s->context, got, gradient, err), FT_OK);
    for (int64_t k = 0; k < t->in[operand].n; k++) {
        double want = difference(t, operand, k, err);

        most = fmax(most, fabs(want));
        worst = fmax(worst, fabs(got[k] - want));
    }
    if (!(worst <= 1e-5 * most))
        fprintf(stderr, "%s: operand %u: off by %g of %g\n", spec, operand, worst,
                most);
    CHECK(CMP(worst, <=, 1e-5 * most));
}

static void run_backward(struct trial *t, uint32_t wrt, const char *spec, ft_error *err)
{
    const void *in[2 * MAX_VALUES];
    void *kept[MAX_VALUES] = {NULL}, *g[4] = {NULL}, *out[MAX_VALUES] = {NULL};
    uint32_t at = 0;
    ft_status st = t->s->engine->run(t->keeping, 0, (const void *const *)t->value, kept,
                                     NULL, err);

    CHECK_EQ(st, FT_OK);
    if (!st) {
        (void)backward_operands(t, in, kept, g, err);
        st = t->s->engine->run(t->backward, 0, in, out, NULL, err);
        if (st)
            fprintf(stderr, "%s: %s\n", spec, err->msg);
        CHECK_EQ(st, FT_OK);
    }
    for (uint32_t i = 0; i < 3 && !st; i++)
        if (wrt >> i & 1)
            compare(t, i, out[at++], spec, err);
    for (uint32_t i = 0; i < t->n_params && wrt & FT_WRT_WEIGHTS && !st; i++) {
        ft_param p;

        ft_op_param(&t->op, i, &p);
        if (p.trained)
            compare(t, t->n_in + i, out[at++], spec, err);
    }
    for (uint32_t i = 0; i < MAX_VALUES; i++) {
        values(t)->drop(t->s->context, kept[i]);
        values(t)->drop(t->s->context, out[i]);
    }
    for (uint32_t i = 0; i < 4; i++)
        values(t)->drop(t->s->context, g[i]);
}

static ft_status prepare(struct trial *t, const ft_op *backward, ft_error *err)
{
    ft_block_info info;
    ft_status st =
        values(t)->prepare(t->s->context, &t->forward, &info, &t->op, 0, err);

    if (!st)
        st = values(t)->prepare(t->s->context, &t->keeping, &info, &t->op,
                                FT_VALUES_KEEP, err);
    return st ? st
              : values(t)->prepare(t->s->context, &t->backward, &info, backward, 0,
                                   err);
}

/* 1: compared; 0: the engine refuses it. */
static int try_one(ft_session *s, const struct test_case *c, uint32_t wrt)
{
    static struct trial trial;
    struct trial *t = &trial;
    ft_error err = {0};
    ft_op backward;
    ft_status st;

    memset(t, 0, sizeof(*t));
    t->s = s;
    CHECK_EQ(ft_op_parse(&t->op, c->spec, strlen(c->spec), &err), FT_OK);
    backward = t->op;
    backward.phase = FT_PHASE_BACKWARD;
    ft__op_set_wrt(&backward, wrt);
    t->n_in = ft_op_n_inputs(&t->op);
    t->n_params = ft_op_n_params(&t->op);
    t->n_out = ft_op_n_outputs(&t->op);
    st = prepare(t, &backward, &err);
    if (!st)
        st = make_values(t, c, &err);
    if (!st)
        run_backward(t, ft_op_wrt(&backward), c->spec, &err);
    else
        fprintf(stderr, "%s\n", err.msg);
    CHECK(!st || EQ(st, FT_EUNSUPPORTED));
    for (uint32_t i = 0; i < MAX_VALUES; i++)
        values(t)->drop(s->context, t->value[i]);
    if (t->forward)
        s->engine->free_block(t->forward);
    if (t->keeping)
        s->engine->free_block(t->keeping);
    if (t->backward)
        s->engine->free_block(t->backward);
    return !st;
}

static void gradients_are_those_of_finite_differences(ft_session *s)
{
    size_t n = sizeof(cases) / sizeof(*cases), tried = 0;

    for (size_t i = 0; i < n; i++)
        tried += (size_t)try_one(s, &cases[i], 0);
    fprintf(stderr, "%zu of %zu operations\n", tried, n);
    CHECK(CMP(tried + 8, >=, n));
}

static void gradients_are_given_for_what_is_asked_alone(ft_session *s)
{
    static const struct test_case some[] = {
        {"linear x=3x4 out=5 bias=1 dtype=fp64", -1, 1},
        {"conv2d x=1x4x5x5 out=4 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp64", -1,
         1},
        {"batchnorm x=3x4x2x3 train=1 dtype=fp64", 0.3, 2},
        {"layernorm x=2x3x8 norm=1 dtype=fp64", 0.3, 2},
    };
    static const struct test_case products = {"matmul x=2x3x4 y=2x4x5 dtype=fp64", -1,
                                              1};

    for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
        CHECK(try_one(s, &some[i], FT_WRT_X));
        CHECK(try_one(s, &some[i], FT_WRT_WEIGHTS));
    }
    CHECK(try_one(s, &products, FT_WRT_X));
    CHECK(try_one(s, &products, FT_WRT_Y));
}

int main(int argc, char **argv)
{
    ft_session_options how = {.seed = 7};
    ft_session *s;
    ft_error err = {0};

    if (argc < 3)
        return 77;
    how.plugin_dir = argv[1];
    how.engine = argv[2];
    how.engine_options = getenv("FT_TEST_OPTIONS");
    if (ft_session_open(&s, &how, &err)) {
        fprintf(stderr, "skipped: %s\n", err.msg);
        return 77;
    }
    if (!s->engine->values) {
        fprintf(stderr, "skipped: %s has no backward operations\n", argv[2]);
        ft_session_close(s);
        return 77;
    }
    gradients_are_those_of_finite_differences(s);
    gradients_are_given_for_what_is_asked_alone(s);
    ft_session_close(s);
    CHECK_DONE();
}
