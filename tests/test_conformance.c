/* What every engine owes its callers, tried on one plug-in: right results in
 * both layouts and with any number of threads, no byte written outside the
 * results, clean refusals. Arguments: the plug-in's file. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "conformance_specs.h"
#include "foretell/engine.h"
#include "reference.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5, MAX_PARAMS = 4 };

/* An engine as opened for one test. */
typedef struct rig {
    const ft_engine *e;
    ft_engine_context *c;
} rig;

/* Memory of the engine with a guard on both sides. */
typedef struct buffer {
    unsigned char *all;
    void *data;
    size_t bytes;
} buffer;

/* One operation with all it needs: plain operands for the reference, the same
 * in the operation's layout for the engine. */
typedef struct trial {
    ft_op op;
    const char *spec;
    uint32_t n_in, n_out, n_params;
    void *in[FT_OP_MAX_OPERANDS];
    void *want[FT_OP_MAX_OPERANDS];
    float *params[MAX_PARAMS];
    buffer engine_in[FT_OP_MAX_OPERANDS];
    buffer engine_out[FT_OP_MAX_OPERANDS];
} trial;

#define CHECK_OP(t, cond)                                                              \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            check_failed++;                                                            \
            fprintf(stderr, "%s:%d: %s%s: %s\n", __FILE__, __LINE__, (t)->spec,        \
                    (t)->op.layout ? " layout=channels_last" : "", #cond);             \
        }                                                                              \
    } while (0)

/* ---- buffers ---- */

static buffer new_buffer(const rig *r, size_t bytes)
{
    buffer b = {.bytes = bytes};

    b.all = r->e->alloc(r->c, bytes + 2 * GUARD);
    if (!b.all) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    CHECK((uintptr_t)b.all % 64 == 0);
    memset(b.all, GUARD_BYTE, bytes + 2 * GUARD);
    b.data = b.all + GUARD;
    return b;
}

static int guards_hold(const buffer *b)
{
    for (size_t i = 0; i < GUARD; i++)
        if (b->all[i] != GUARD_BYTE || b->all[GUARD + b->bytes + i] != GUARD_BYTE)
            return 0;
    return 1;
}

static void *plain_array(size_t bytes)
{
    void *p = calloc(1, bytes + 1);

    if (!p)
        exit(1);
    return p;
}

/* ---- layouts ---- */

static size_t bytes_of(const ft_shape *s, ft_dtype t)
{
    return (size_t)ft_tensor_bytes(s, t);
}

/* Where row-major element i lies when axis 1 is moved to the end. */
static int64_t last_position(const ft_shape *s, int64_t i)
{
    int64_t inner = 1, n, c, rest;

    for (uint32_t d = 2; d < s->rank; d++)
        inner *= s->dim[d];
    rest = i % inner;
    c = i / inner % s->dim[1];
    n = i / inner / s->dim[1];
    return (n * inner + rest) * s->dim[1] + c;
}

/* Plain memory to the layout's (to_engine), or back. */
static void move_layout(const ft_op *op, const ft_shape *s, ft_dtype t,
                        const void *from, void *to, int to_engine)
{
    size_t size = ft_dtype_bits(t) / 8;
    int64_t n = ft_shape_elements(s);

    for (int64_t i = 0; i < n; i++) {
        size_t at = (size_t)i, other = at;

        if (op->layout == FT_LAYOUT_CHANNELS_LAST && s->rank >= 3)
            other = (size_t)last_position(s, i);
        memcpy((char *)to + size * (to_engine ? other : at),
               (const char *)from + size * (to_engine ? at : other), size);
    }
}

/* ---- values ---- */

static uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

/* Values that make the kind show its character: both signs for activations,
 * ties for rounding and comparing, no poles for division and logarithm. */
static double input_value(const ft_op *op, ft_dtype t, uint32_t operand, uint32_t i)
{
    uint32_t h = scramble(i * 7919u + operand * 104729u + 1u);
    double u = (double)(h >> 8) / (1 << 24); /* [0, 1) */

    if (t == FT_DTYPE_bool)
        return u < 0.5;
    if (t != FT_DTYPE_fp32 && t != FT_DTYPE_fp64)
        return op->kind == FT_KIND_gather || op->kind == FT_KIND_embedding
                   ? floor(u * 200) - 100
               : t == FT_DTYPE_int32 || t == FT_DTYPE_int64 ? floor(u * 9) - 4
                                                            : floor(u * 100);
    switch (op->kind) {
    case FT_KIND_log:
    case FT_KIND_sqrt:
    case FT_KIND_reciprocal:
    case FT_KIND_pow: return u + 0.25;
    case FT_KIND_reduce_prod: return 0.5 + u;
    case FT_KIND_div:
    case FT_KIND_mod: return operand == 1 ? u + 0.25 : 8 * u - 4;
    case FT_KIND_equal:
    case FT_KIND_less:
    case FT_KIND_less_equal:
    case FT_KIND_greater:
    case FT_KIND_greater_equal: return floor(4 * u);
    case FT_KIND_floor:
    case FT_KIND_ceil:
    case FT_KIND_round:
    case FT_KIND_sign: return floor(16 * u - 8) / 2;
    case FT_KIND_cast: return floor(8 * u);
    case FT_KIND_isnan: return i % 3 == 0 ? (double)NAN : 2 * u - 1;
    case FT_KIND_isinf: return i % 3 == 0 ? (double)(i % 2 ? INFINITY : -INFINITY) : u;
    default: break;
    }
    return ft_kind_class(op->kind) == FT_CLASS_UNARY ? 16 * u - 8 : 2 * u - 1;
}

static float param_value(const ft_op *op, uint32_t param, uint32_t i)
{
    float u = (float)(scramble(i * 31u + param * 977u + 5u) >> 8) / (1 << 24);

    /* Scales and variances stay away from zero. */
    return ft_kind_class(op->kind) == FT_CLASS_NORM && param % 3 == 0 ? u + 0.5f
                                                                      : u - 0.5f;
}

/* ---- trials ---- */

static void new_trial(trial *t, const rig *r, const char *spec, ft_layout layout)
{
    int64_t elements[MAX_PARAMS];
    ft_error err = {0};
    ft_shape s;
    ft_dtype type;

    memset(t, 0, sizeof(*t));
    t->spec = spec;
    if (ft_op_parse(&t->op, spec, strlen(spec), &err)) {
        fprintf(stderr, "%s: %s\n", spec, err.msg);
        exit(1);
    }
    t->op.layout = layout;
    t->n_in = ft_op_n_inputs(&t->op);
    t->n_out = ft_op_n_outputs(&t->op);
    for (uint32_t i = 0; i < t->n_in; i++) {
        ft_op_input(&t->op, i, &s, &type);
        t->in[i] = plain_array(bytes_of(&s, type));
        for (int64_t k = 0; k < ft_shape_elements(&s); k++)
            reference_set(type, t->in[i], k, input_value(&t->op, type, i, (uint32_t)k));
        t->engine_in[i] = new_buffer(r, bytes_of(&s, type));
        move_layout(&t->op, &s, type, t->in[i], t->engine_in[i].data, 1);
    }
    for (uint32_t i = 0; i < t->n_out; i++) {
        ft_op_output(&t->op, i, &s, &type);
        t->want[i] = plain_array(bytes_of(&s, type));
        t->engine_out[i] = new_buffer(r, bytes_of(&s, type));
    }
    t->n_params = reference_params(&t->op, elements);
    for (uint32_t i = 0; i < t->n_params; i++) {
        t->params[i] = plain_array((size_t)elements[i] * sizeof(float));
        for (int64_t k = 0; k < elements[i]; k++)
            t->params[i][k] = param_value(&t->op, i, (uint32_t)k);
    }
    CHECK_OP(t, reference_run(&t->op, (const void *const *)t->in,
                              (const float *const *)t->params, t->want));
}

static void free_trial(trial *t, const rig *r)
{
    for (uint32_t i = 0; i < t->n_in; i++) {
        free(t->in[i]);
        r->e->release(r->c, t->engine_in[i].all);
    }
    for (uint32_t i = 0; i < t->n_out; i++) {
        free(t->want[i]);
        r->e->release(r->c, t->engine_out[i].all);
    }
    for (uint32_t i = 0; i < t->n_params; i++)
        free(t->params[i]);
}

/* Movement is exact, arithmetic of fp32 is not. */
static int agree(const trial *t, ft_dtype type, double got, double want)
{
    ft_kind k = t->op.kind;
    double slack = 3e-5 * (1 + fabs(want));

    if (type != FT_DTYPE_fp32 ||
        (ft_kind_class(k) == FT_CLASS_MOVE && k != FT_KIND_resize))
        return got == want;
    return fabs(got - want) <= slack;
}

static void check_result(const trial *t, uint32_t i)
{
    ft_shape s;
    ft_dtype type;
    void *got;
    int64_t n, wrong = 0;

    ft_op_output(&t->op, i, &s, &type);
    n = ft_shape_elements(&s);
    got = plain_array(bytes_of(&s, type));
    move_layout(&t->op, &s, type, t->engine_out[i].data, got, 0);
    for (int64_t k = 0; k < n; k++) {
        double g = reference_get(type, got, k), w = reference_get(type, t->want[i], k);

        if (!agree(t, type, g, w) && wrong++ == 0)
            fprintf(stderr, "%s: result %u, element %lld is %.9g, want %.9g\n", t->spec,
                    i, (long long)k, g, w);
    }
    CHECK_OP(t, wrong == 0);
    free(got);
}

static void check_guards(const trial *t)
{
    for (uint32_t i = 0; i < t->n_out; i++)
        CHECK_OP(t, guards_hold(&t->engine_out[i]));
    for (uint32_t i = 0; i < t->n_in; i++) {
        ft_shape s;
        ft_dtype type;
        void *now;

        ft_op_input(&t->op, i, &s, &type);
        now = plain_array(bytes_of(&s, type));
        move_layout(&t->op, &s, type, t->engine_in[i].data, now, 0);
        CHECK_OP(t, guards_hold(&t->engine_in[i]));
        CHECK_OP(t, memcmp(now, t->in[i], bytes_of(&s, type)) == 0);
        free(now);
    }
}

/* A prepared trial. */
typedef struct prepared {
    ft_block *b;
    ft_block_info info;
    buffer workspace;
} prepared;

static ft_status prepare(prepared *p, const rig *r, const trial *t, uint32_t instances,
                         int own_weights)
{
    ft_error err = {0};
    ft_status st;

    memset(p, 0, sizeof(*p));
    st = r->e->prepare(r->c, &p->b, &p->info, &t->op, instances,
                       own_weights ? NULL : (const float *const *)t->params,
                       own_weights ? 0 : t->n_params, &err);
    if (st)
        fprintf(stderr, "%s\n", err.msg);
    CHECK_OP(t, (st == FT_OK) == (p->b != NULL));
    if (!st)
        p->workspace = new_buffer(r, p->info.workspace_bytes);
    return st;
}

static void run(const prepared *p, const rig *r, const trial *t, uint32_t instance)
{
    const void *in[FT_OP_MAX_OPERANDS];
    void *out[FT_OP_MAX_OPERANDS];
    ft_error err = {0};

    for (uint32_t i = 0; i < t->n_in; i++)
        in[i] = t->engine_in[i].data;
    for (uint32_t i = 0; i < t->n_out; i++) {
        out[i] = t->engine_out[i].data;
        memset(out[i], GUARD_BYTE, t->engine_out[i].bytes);
    }
    if (p->workspace.bytes)
        memset(p->workspace.data, 0xff, p->workspace.bytes); /* NaN */
    CHECK_OP(t, r->e->run(p->b, instance, in, out,
                          p->info.workspace_bytes ? p->workspace.data : NULL,
                          &err) == FT_OK);
    CHECK_OP(t, r->e->sync(r->c, NULL) == FT_OK);
    CHECK_OP(t, guards_hold(&p->workspace));
    check_guards(t);
}

static void drop(prepared *p, const rig *r)
{
    r->e->free_block(p->b);
    if (p->workspace.all)
        r->e->release(r->c, p->workspace.all);
}

static int computes(const prepared *p)
{
    return strcmp(p->info.implementation, "none") != 0;
}

/* ---- the tests ---- */

static void computes_what_the_reference_computes(const rig *r, const char *spec,
                                                 ft_layout layout)
{
    trial t;
    prepared p;

    new_trial(&t, r, spec, layout);
    CHECK_OP(&t, prepare(&p, r, &t, 2, 0) == FT_OK);
    if (p.b) {
        CHECK_OP(&t, p.info.implementation && *p.info.implementation);
        run(&p, r, &t, 1);
        for (uint32_t i = 0; i < t.n_out && computes(&p); i++)
            check_result(&t, i);
        drop(&p, r);
    }
    free_trial(&t, r);
}

static unsigned char *result_bytes(const trial *t)
{
    unsigned char *copy = plain_array(t->engine_out[0].bytes);

    memcpy(copy, t->engine_out[0].data, t->engine_out[0].bytes);
    return copy;
}

/* Instances have their own weights, and an instance always gives the same. */
static void instances_differ_and_repeat(const rig *r, const char *spec)
{
    trial t;
    prepared p;
    unsigned char *first, *second;
    size_t n;

    new_trial(&t, r, spec, FT_LAYOUT_PLAIN);
    CHECK_OP(&t, prepare(&p, r, &t, 3, 1) == FT_OK);
    if (p.b && computes(&p)) {
        n = t.engine_out[0].bytes;
        run(&p, r, &t, 0);
        first = result_bytes(&t);
        run(&p, r, &t, 2);
        second = result_bytes(&t);
        run(&p, r, &t, 0);
        CHECK_OP(&t, memcmp(first, t.engine_out[0].data, n) == 0);
        CHECK_OP(&t, (memcmp(first, second, n) != 0) == (t.n_params > 0));
        free(first);
        free(second);
    }
    drop(&p, r);
    free_trial(&t, r);
}

static void weights_are_of_ordinary_size(const rig *r, const char *spec)
{
    trial t;
    prepared p;
    double squares = 0;
    size_t n;

    new_trial(&t, r, spec, FT_LAYOUT_PLAIN);
    CHECK_OP(&t, prepare(&p, r, &t, 1, 1) == FT_OK);
    if (p.b && computes(&p)) {
        run(&p, r, &t, 0);
        n = t.engine_out[0].bytes / sizeof(float);
        for (size_t i = 0; i < n; i++)
            squares += pow(((const float *)t.engine_out[0].data)[i], 2);
        /* Inputs are uniform in [-1, 1): variance 1/3 goes in. */
        CHECK_OP(&t, squares / (double)n > 0.05 && squares / (double)n < 2);
        CHECK_OP(&t, p.info.weight_bytes >= 64 * 64 * 9 * sizeof(float));
    }
    drop(&p, r);
    free_trial(&t, r);
}

static void refuses(const rig *r, ft_op *op, const char *what)
{
    ft_block *b = (ft_block *)(void *)op; /* anything but NULL */
    ft_block_info info;
    ft_error err = {0};
    ft_status st = r->e->prepare(r->c, &b, &info, op, 1, NULL, 0, &err);

    CHECK(st == FT_EUNSUPPORTED && b == NULL && err.status == st);
    CHECK(strlen(err.msg) > 20);
    if (st != FT_EUNSUPPORTED)
        fprintf(stderr, "  for %s\n", what);
    r->e->free_block(NULL);
}

static void refuses_what_it_cannot_run(const rig *r)
{
    static const char *const cases[] = {
        "view x=2x3 out=6",
        "generic read=100 out=5",
        "relu x=3x5 phase=backward",
        "conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 phase=step",
    };
    ft_op op;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK(ft_op_parse(&op, cases[i], strlen(cases[i]), NULL) == FT_OK);
        refuses(r, &op, cases[i]);
    }
}

static void rejects_broken_requests(const rig *r)
{
    const char *spec = "linear x=3x5 out=7 bias=1";
    ft_engine_context *c;
    trial t;
    prepared p;
    ft_error err = {0};

    new_trial(&t, r, spec, FT_LAYOUT_PLAIN);
    CHECK(prepare(&p, r, &t, 0, 1) == FT_EINVAL);
    CHECK(prepare(&p, r, &t, 2, 1) == FT_OK);
    CHECK(r->e->run(p.b, 2, (const void *[]){t.engine_in[0].data},
                    (void *[]){t.engine_out[0].data}, p.workspace.data,
                    &err) == FT_EINVAL);
    CHECK(err.msg[0]);
    drop(&p, r);
    free_trial(&t, r);
    CHECK(r->e->open(&c, &(ft_engine_config){.threads = 0, .options = ""}, &err) ==
              FT_EINVAL &&
          c == NULL);
    CHECK(r->e->open(&c, &(ft_engine_config){.threads = 1, .options = "nonsense"},
                     &err) == FT_EINVAL &&
          c == NULL);
    CHECK(strstr(err.msg, "nonsense") != NULL);
    r->e->close(NULL);
}

static void fill_gives_ordinary_values(const rig *r)
{
    enum { N = 4099 };
    static const ft_dtype whole[] = {FT_DTYPE_int64, FT_DTYPE_int32, FT_DTYPE_uint8,
                                     FT_DTYPE_bool};
    buffer a = new_buffer(r, N * sizeof(double)), b = new_buffer(r, N * sizeof(double));
    const float *f = a.data;
    double sum = 0;

    CHECK(r->e->fill(r->c, a.data, FT_DTYPE_fp32, N, 0, 7, NULL) == FT_OK);
    CHECK(r->e->fill(r->c, b.data, FT_DTYPE_fp32, N, 0, 7, NULL) == FT_OK);
    CHECK(memcmp(a.data, b.data, N * sizeof(float)) == 0);
    CHECK(r->e->fill(r->c, b.data, FT_DTYPE_fp32, N, 0, 8, NULL) == FT_OK);
    CHECK(memcmp(a.data, b.data, N * sizeof(float)) != 0);
    for (int i = 0; i < N; i++) {
        CHECK(f[i] >= -1 && f[i] < 1 && (f[i] == 0 || fabsf(f[i]) > 1e-30f));
        sum += f[i];
    }
    CHECK_NEAR(sum / N, 0, 0.05);
    for (size_t k = 0; k < sizeof(whole) / sizeof(*whole); k++) {
        double most = 0;

        CHECK(r->e->fill(r->c, a.data, whole[k], N, 5, 7, NULL) == FT_OK);
        for (int i = 0; i < N; i++) {
            double v = reference_get(whole[k], a.data, i);

            CHECK(v >= 0 && v < 5);
            most = fmax(most, v);
        }
        CHECK(most == (whole[k] == FT_DTYPE_bool ? 1 : 4));
        CHECK(r->e->fill(r->c, a.data, whole[k], N, 1, 7, NULL) == FT_OK);
        CHECK(reference_get(whole[k], a.data, 17) == 0);
    }
    CHECK(guards_hold(&a) && guards_hold(&b));
    r->e->release(r->c, a.all);
    r->e->release(r->c, b.all);
    r->e->release(r->c, NULL);
}

static void its_clock_moves_forward(const rig *r)
{
    trial t;
    prepared p;
    double before, after;

    new_trial(&t, r, "relu x=1x64x56x56", FT_LAYOUT_PLAIN);
    CHECK_OP(&t, prepare(&p, r, &t, 1, 1) == FT_OK);
    before = r->e->now(r->c);
    run(&p, r, &t, 0);
    after = r->e->now(r->c);
    CHECK(after > before && isfinite(after));
    drop(&p, r);
    free_trial(&t, r);
}

static int has_layouts(const char *spec)
{
    ft_op op;
    ft_shape s;
    ft_dtype type;
    uint32_t most = 0;

    if (ft_op_parse(&op, spec, strlen(spec), NULL))
        return 0;
    for (uint32_t i = 0; i < ft_op_n_inputs(&op); i++) {
        ft_op_input(&op, i, &s, &type);
        most = s.rank > most ? s.rank : most;
    }
    ft_op_output(&op, 0, &s, &type);
    return most >= 3 || s.rank >= 3;
}

static void every_kind_is_in_the_list(void)
{
    char seen[FT_KIND_COUNT] = {0};
    ft_op op;

    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
        if (ft_op_parse(&op, specs[i], strlen(specs[i]), NULL) == FT_OK)
            seen[op.kind] = 1;
    for (int k = 0; k < FT_KIND_COUNT; k++)
        if (k != FT_KIND_view && k != FT_KIND_generic && !seen[k]) {
            fprintf(stderr, "%s\n", ft_kind_name((ft_kind)k));
            CHECK(seen[k]);
        }
}

static int open_rig(rig *r, const ft_engine *e, uint32_t threads)
{
    ft_error err = {0};

    r->e = e;
    if (e->open(&r->c,
                &(ft_engine_config){.threads = threads, .seed = 1, .options = ""},
                &err) == FT_OK)
        return 1;
    fprintf(stderr, "%s\n", err.msg);
    check_failed++;
    return 0;
}

static void all_specs(const rig *r)
{
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        computes_what_the_reference_computes(r, specs[i], FT_LAYOUT_PLAIN);
        if (has_layouts(specs[i]))
            computes_what_the_reference_computes(r, specs[i], FT_LAYOUT_CHANNELS_LAST);
    }
}

static void the_rest(const rig *r)
{
    static const char *const with_weights[] = {
        "conv2d x=1x3x9x9 out=5 kernel=3x3 stride=1x1 pad=1x1 bias=1",
        "conv_transpose2d x=1x5x7x9 out=3 kernel=2x2 stride=2x2 pad=0x0",
        "linear x=3x17 out=5",
        "batchnorm x=1x17x9x9",
        "layernorm x=3x17 norm=1",
        "rmsnorm x=3x17 norm=1",
        "groupnorm x=1x6x9 groups=2",
        "embedding x=9 rows=7 dim=5",
        "relu x=3x17",
        "softmax x=2x5x7 axis=1",
    };

    for (size_t i = 0; i < sizeof(with_weights) / sizeof(*with_weights); i++)
        instances_differ_and_repeat(r, with_weights[i]);
    weights_are_of_ordinary_size(
        r, "conv2d x=1x64x12x12 out=64 kernel=3x3 stride=1x1 pad=0x0");
    refuses_what_it_cannot_run(r);
    rejects_broken_requests(r);
    fill_gives_ordinary_values(r);
    its_clock_moves_forward(r);
}

int main(int argc, char **argv)
{
    static const uint32_t threads[] = {1, 2, 3};
    const ft_engine *e;
    ft_error err = {0};
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;

    if (!f) {
        printf("skipped: the plug-in was not built\n");
        return 77;
    }
    fclose(f);
    if (ft_engine_load(&e, argv[1], &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    CHECK(e->abi == FT_ENGINE_ABI && *e->name && *e->version());
    every_kind_is_in_the_list();
    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        rig r;

        if (!open_rig(&r, e, threads[i]))
            break;
        all_specs(&r);
        if (i == 0)
            the_rest(&r);
        e->close(r.c);
    }
    CHECK_DONE();
}
