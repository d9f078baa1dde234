/* What every engine owes its callers, tried on one plug-in: right results in
 * both layouts and with any number of threads, no byte written outside the
 * results, clean refusals. Arguments: the plug-in's file, then the kinds among the
 * specs that it has to refuse. The engine's options are in FT_TEST_OPTIONS. */
#define _GNU_SOURCE /* CPU sets */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "conformance_specs.h"
#include "query/lacks.h"
#include "trial.h"

/* Kinds that this engine says it does not run. */
static char **refused_kinds;
static int n_refused_kinds;

static int is_refused(const ft_op *op)
{
    for (int i = 0; i < n_refused_kinds; i++)
        if (strcmp(refused_kinds[i], ft_kind_name(op->kind)) == 0)
            return 1;
    return 0;
}

/* An engine that does not run graphs channels-last, nor with strides of any kind, may
 * refuse that layout. */
static int may_refuse(const rig *r, const ft_op *op)
{
    return op->layout == FT_LAYOUT_CHANNELS_LAST &&
           !(r->e->policy & (FT_POLICY_CHANNELS_LAST | FT_POLICY_STRIDED_VIEWS));
}

/* Prepare one instance with weights of its own, whichever way the engine has. */
static ft_status prepare_one(const rig *r, ft_block **b, ft_block_info *info,
                             const ft_op *op, ft_error *err)
{
    return r->e->values ? r->e->values->prepare(r->c, b, info, op, 0, err)
                        : r->e->prepare(r->c, b, info, op, 1, NULL, 0, err);
}

static void refuses(const rig *r, ft_op *op, const char *what)
{
    ft_block *b = (ft_block *)(void *)op; /* anything but NULL */
    ft_block_info info;
    ft_error err = {0};
    ft_status st = prepare_one(r, &b, &info, op, &err);

    CHECK(EQ(st, FT_EUNSUPPORTED) && EQ(b, NULL) && EQ(err.status, st));
    CHECK(CMP(strlen(err.msg), >, 20));
    if (st != FT_EUNSUPPORTED)
        fprintf(stderr, "  for %s\n", what);
    r->e->free_block(NULL);
}

/* 1: refused, as it may or must be. */
static int refuses_as_it_says(const rig *r, const char *spec, ft_layout layout)
{
    ft_block *b;
    ft_block_info info;
    ft_error err = {0};
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    op.layout = layout;
    if (is_refused(&op)) {
        refuses(r, &op, spec);
        return 1;
    }
    if (!may_refuse(r, &op))
        return 0;
    if (prepare_one(r, &b, &info, &op, &err) == FT_OK) {
        r->e->free_block(b);
        return 0;
    }
    refuses(r, &op, spec);
    return 1;
}

static void computes_what_the_reference_computes(const rig *r, const char *spec,
                                                 ft_layout layout)
{
    trial t;
    prepared p;

    if (refuses_as_it_says(r, spec, layout))
        return;
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

static void refuses_what_it_cannot_run(const rig *r)
{
    static const char *const cases[] = {
        "generic read=100 out=5",
        "conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 phase=step",
        /* what engines that hold tensors do run */
        "view x=2x3 out=6",
        "relu x=3x5 phase=backward",
    };
    ft_op op;

    for (size_t i = 0; i < (r->e->values ? 2 : sizeof(cases) / sizeof(*cases)); i++) {
        CHECK_EQ(ft_op_parse(&op, cases[i], strlen(cases[i]), NULL), FT_OK);
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
    if (!r->e->values)
        CHECK_EQ(prepare(&p, r, &t, 0, 1), FT_EINVAL);
    CHECK_EQ(prepare(&p, r, &t, 2, 1), FT_OK);
    CHECK_EQ(r->e->run(p.b, 2, (const void *[]){t.engine_in[0].data},
                       (void *[]){t.engine_out[0].data}, p.workspace.data, &err),
             FT_EINVAL);
    CHECK(err.msg[0]);
    drop(&p, r);
    free_trial(&t, r);
    CHECK(EQ(r->e->open(&c, &(ft_engine_config){.threads = 0, .options = ""}, &err),
             FT_EINVAL) &&
          EQ(c, NULL));
    CHECK(EQ(r->e->open(&c, &(ft_engine_config){.threads = 1, .options = "nonsense"},
                        &err),
             FT_EINVAL) &&
          EQ(c, NULL));
    CHECK(HAS(err.msg, "nonsense"));
    r->e->close(NULL);
}

/* N random elements into a buffer, by way of a tensor where the engine holds them. */
static ft_status fill(const rig *r, buffer *b, ft_dtype type, int64_t n, int64_t limit,
                      uint64_t seed)
{
    ft_shape s = {.rank = 1, .dim = {n}};
    void *v = NULL;
    ft_status st;

    if (!r->e->values)
        return r->e->fill(r->c, b->data, type, (uint64_t)n, limit, seed, NULL);
    st = r->e->values->make(r->c, &v, &s, type, FT_LAYOUT_PLAIN, NULL);
    if (!st)
        st = r->e->fill(r->c, v, type, (uint64_t)n, limit, seed, NULL);
    if (!st)
        st = r->e->values->read(r->c, b->data, v, NULL);
    r->e->values->drop(r->c, v);
    return st;
}

static void fill_gives_ordinary_values(const rig *r)
{
    enum { N = 4099 };
    static const ft_dtype whole[] = {FT_DTYPE_int64, FT_DTYPE_int32, FT_DTYPE_uint8,
                                     FT_DTYPE_bool};
    buffer a = new_buffer(r, N * sizeof(double)), b = new_buffer(r, N * sizeof(double));
    const float *f = a.data;
    double sum = 0;

    CHECK_EQ(fill(r, &a, FT_DTYPE_fp32, N, 0, 7), FT_OK);
    CHECK_EQ(fill(r, &b, FT_DTYPE_fp32, N, 0, 7), FT_OK);
    CHECK(BYTES(a.data, b.data, N * sizeof(float)));
    CHECK_EQ(fill(r, &b, FT_DTYPE_fp32, N, 0, 8), FT_OK);
    CHECK(!BYTES(a.data, b.data, N * sizeof(float)));
    for (int i = 0; i < N; i++) {
        CHECK(CMP(f[i], >=, -1) && CMP(f[i], <, 1) &&
              (EQ(f[i], 0) || CMP(fabsf(f[i]), >, 1e-30f)));
        sum += f[i];
    }
    CHECK_NEAR(sum / N, 0, 0.05);
    for (size_t k = 0; k < sizeof(whole) / sizeof(*whole); k++) {
        double most = 0;

        CHECK_EQ(fill(r, &a, whole[k], N, 5, 7), FT_OK);
        for (int i = 0; i < N; i++) {
            double v = reference_get(whole[k], a.data, i);

            CHECK(CMP(v, >=, 0) && CMP(v, <, 5));
            most = fmax(most, v);
        }
        CHECK_EQ(most, (whole[k] == FT_DTYPE_bool ? 1 : 4));
        CHECK_EQ(fill(r, &a, whole[k], N, 1, 7), FT_OK);
        CHECK_EQ(reference_get(whole[k], a.data, 17), 0);
    }
    CHECK(guards_hold(&a) && guards_hold(&b));
    free_buffer(r, &a);
    free_buffer(r, &b);
    if (r->e->values)
        r->e->values->drop(r->c, NULL);
    else
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
    CHECK(CMP(after, >, before) && isfinite(after));
    drop(&p, r);
    free_trial(&t, r);
}

/* An engine may change the floating-point mode while it works, not after. */
static void the_callers_arithmetic_stays(const rig *r)
{
    volatile float tiny = 1e-40f;
    trial t;
    prepared p;

    new_trial(&t, r, "linear x=3x17 out=5", FT_LAYOUT_PLAIN);
    CHECK_OP(&t, prepare(&p, r, &t, 1, 0) == FT_OK);
    run(&p, r, &t, 0);
    CHECK(CMP(tiny * 0.5f, >, 0));
    drop(&p, r);
    free_trial(&t, r);
}

static void weights_without_end_are_refused(const rig *r)
{
    static const char *const cases[] = {
        "embedding x=3 rows=4503599627370496 dim=1000000",
        "conv2d x=1x1000000000x1x1 out=1000000000000 kernel=1x1 stride=1x1 pad=0x0",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_op op;
        ft_block *b;
        ft_block_info info;
        void *v;

        CHECK_EQ(ft_op_parse(&op, cases[i], strlen(cases[i]), NULL), FT_OK);
        if (r->e->values) {
            ft_param w;

            ft_op_param(&op, 0, &w);
            CHECK(EQ(r->e->values->make(r->c, &v, &w.shape, w.dtype, FT_LAYOUT_PLAIN,
                                        NULL),
                     FT_ENOMEM) &&
                  !v);
            continue;
        }
        CHECK(EQ(r->e->prepare(r->c, &b, &info, &op, 1, NULL, 0, NULL), FT_ENOMEM) &&
              !b);
    }
}

/* Which kinds hints leave to others: those of which it runs none of the specs here. */
static void lacks_what_is_said_of_it(const rig *r)
{
    int runs[FT_KIND_COUNT] = {0}, tried[FT_KIND_COUNT] = {0};

    for (size_t i = 0; i < sizeof(optional_specs) / sizeof(*optional_specs); i++) {
        ft_block_info info;
        ft_block *b = NULL;
        ft_op op;

        CHECK_EQ(ft_op_parse(&op, optional_specs[i], strlen(optional_specs[i]), NULL),
                 FT_OK);
        tried[op.kind] = op.kind != FT_KIND_batchnorm;
        if (prepare_one(r, &b, &info, &op, NULL) == FT_OK)
            runs[op.kind] = 1;
        r->e->free_block(b);
    }
    for (int k = 0; k < FT_KIND_COUNT; k++)
        if (tried[k] && runs[k] == ft__engine_lacks_kind(r->e->name, (ft_kind)k)) {
            fprintf(stderr, "  %s\n", ft_kind_name((ft_kind)k));
            CHECK_EQ(runs[k], !runs[k]);
        }
}

static void runs_or_says_that_it_does_not(const rig *r, const char *spec)
{
    ft_op op;
    ft_block *b;
    ft_block_info info;
    ft_error err = {0};
    ft_status st;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), &err), FT_OK);
    st = prepare_one(r, &b, &info, &op, &err);
    CHECK(EQ(st, FT_OK) ||
          (EQ(st, FT_EUNSUPPORTED) && !b && CMP(strlen(err.msg), >, 20)));
    if (st != FT_OK && st != FT_EUNSUPPORTED)
        fprintf(stderr, "%s: %s\n", spec, err.msg);
    if (st == FT_OK)
        r->e->free_block(b);
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
    for (size_t i = 0; i < sizeof(optional_specs) / sizeof(*optional_specs); i++)
        if (ft_op_parse(&op, optional_specs[i], strlen(optional_specs[i]), NULL) ==
            FT_OK)
            seen[op.kind] = 1;
    for (int k = 0; k < FT_KIND_COUNT; k++)
        if (k != FT_KIND_view && k != FT_KIND_generic && k != FT_KIND_kernel &&
            k != FT_KIND_network && !seen[k]) {
            fprintf(stderr, "%s\n", ft_kind_name((ft_kind)k));
            CHECK(seen[k]);
        }
}

enum { OPEN, ABSENT, BROKEN };

/* Absent: what the engine stands on was left to the system, and is not there. */
static int open_rig(rig *r, const ft_engine *e, uint32_t threads)
{
    ft_error err = {0};
    const char *given = getenv("FT_TEST_OPTIONS"), *options = given ? given : "";
    const ft_status st = e->open(
        &r->c, &(ft_engine_config){.threads = threads, .seed = 1, .options = options},
        &err);

    r->e = e;
    if (st == FT_OK)
        return OPEN;
    fprintf(stderr, "%s\n", err.msg);
    if ((st == FT_ENOTFOUND || st == FT_EUNSUPPORTED) && !strstr(options, "lib="))
        return ABSENT;
    check_failed++;
    return BROKEN;
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

    for (size_t i = 0; i < sizeof(optional_specs) / sizeof(*optional_specs); i++)
        runs_or_says_that_it_does_not(r, optional_specs[i]);
    if (strcmp(r->e->name, "fake") != 0)
        lacks_what_is_said_of_it(r);
    for (size_t i = 0; i < sizeof(with_weights) / sizeof(*with_weights); i++)
        instances_differ_and_repeat(r, with_weights[i]);
    if (!r->e->values) /* which are given their weights */
        weights_are_of_ordinary_size(
            r, "conv2d x=1x64x12x12 out=64 kernel=3x3 stride=1x1 pad=0x0");
    refuses_what_it_cannot_run(r);
    rejects_broken_requests(r);
    fill_gives_ordinary_values(r);
    its_clock_moves_forward(r);
    the_callers_arithmetic_stays(r);
    weights_without_end_are_refused(r);
}

/* open_rig() by a thread whose caller keeps it on its last CPU, where it has to stay;
 * of a machine with one CPU that proves nothing. */
static int open_on_last_cpu(rig *r, const ft_engine *e)
{
    cpu_set_t before, last, after;
    int state;

    CHECK_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&last);
    for (size_t cpu = CPU_SETSIZE; cpu-- > 0 && !CPU_COUNT(&last);)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &last);
    CHECK_EQ(sched_setaffinity(0, sizeof(last), &last), 0);
    state = open_rig(r, e, 1);
    CHECK_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
    CHECK(CPU_EQUAL(&after, &last));
    CHECK_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
    return state;
}

/* The operations of a file, one a line, with at most some ten million multiplications
 * each for the reference. */
static void listed_specs(const rig *r, const char *path)
{
    char line[2048];
    FILE *f = fopen(path, "rb");

    CHECK(f != NULL);
    while (f && fgets(line, sizeof(line), f)) {
        ft_cost cost;
        ft_op op;

        line[strcspn(line, "\n*")] = '\0';
        if (!*line || *line == '#')
            continue;
        CHECK_EQ(ft_op_parse(&op, line, strlen(line), NULL), FT_OK);
        ft_op_cost(&op, &cost);
        reference_step = 1 + 2 * (int64_t)(cost.flops / 4e7);
        computes_what_the_reference_computes(r, line, FT_LAYOUT_PLAIN);
    }
    if (f)
        fclose(f);
}

/* PLUGIN [KIND that it may refuse ...], or PLUGIN @FILE: the file's operations alone.
 */
int main(int argc, char **argv)
{
    static const uint32_t threads[] = {1, 2, 3};
    const char *list = argc > 2 && *argv[2] == '@' ? argv[2] + 1 : NULL;
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
    refused_kinds = argv + 2;
    n_refused_kinds = argc - 2;
    CHECK(EQ(e->abi, FT_ENGINE_ABI) && *e->name);
    every_kind_is_in_the_list();
    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        rig r;
        int state = i == 0 ? open_on_last_cpu(&r, e) : open_rig(&r, e, threads[i]);

        if (state == ABSENT)
            return 77;
        if (state == BROKEN)
            break;
        CHECK(*e->version());
        if (list) {
            listed_specs(&r, list);
            e->close(r.c);
            break;
        }
        all_specs(&r);
        if (i == 0)
            the_rest(&r);
        e->close(r.c);
    }
    CHECK_DONE();
}
