/* What the OpenCL engine has beside what every engine owes (test_conformance.c):
 * devices, their clock, views, tuning. Argument: the plug-in's file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "foretell/engine.h"
#include "parse_spec.h"

static const ft_engine *engine;

static ft_engine_context *open_with(const char *options, ft_error *err)
{
    ft_engine_context *c;
    const ft_engine_config how = {.threads = 1, .seed = 1, .options = options};

    return engine->open(&c, &how, err) == FT_OK ? c : NULL;
}

static ft_block *prepare(ft_engine_context *c, const char *spec)
{
    const ft_op op = parse(spec);
    ft_block_info info;
    ft_block *b;

    CHECK_EQ(engine->values->prepare(c, &b, &info, &op, 0, NULL), FT_OK);
    return b;
}

static void *vector(ft_engine_context *c, int64_t n)
{
    const ft_shape s = {.rank = 1, .dim = {n}};
    void *v;

    CHECK_EQ(engine->values->make(c, &v, &s, FT_DTYPE_fp32, FT_LAYOUT_PLAIN, NULL),
             FT_OK);
    CHECK_EQ(engine->fill(c, v, FT_DTYPE_fp32, (uint64_t)n, 0, 1, NULL), FT_OK);
    return v;
}

static void *run(ft_block *b, void *x)
{
    const void *in[] = {x};
    void *out[1] = {NULL};

    CHECK_EQ(engine->run(b, 0, in, out, NULL, NULL), FT_OK);
    return out[0];
}

TEST(one_of_its_devices_is_used)
{
    ft_engine_context *c = open_with("", NULL);
    uint32_t n = 0, used = 0;
    ft_engine_device d;
    ft_error err = {0};

    for (; engine->device(c, n, &d, &err) == FT_OK; n++) {
        used += d.is_used ? 1 : 0;
        CHECK(*d.name && CMP(d.units, >, 0) && CMP(d.memory_bytes, >, 1e6));
        CHECK(isnan(d.clock_hz) || CMP(d.clock_hz, >, 1e6));
    }
    CHECK(EQ(err.status, FT_ENOTFOUND) && CMP(n, >, 0) && EQ(used, 1));
    engine->close(c);
}

TEST(wrong_options_are_refused_in_a_sentence)
{
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"device=31", "there are"},
        {"device=x", "device=x"},
        {"clock=sun", "wall|device|cpu"},
        {"products=fast", "direct|tiles|clblast"},
        {"tune=2", "tune=2"},
        {"lib=/nowhere/libOpenCL.so", "/nowhere"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};

        CHECK(EQ(open_with(cases[i].options, &err), NULL));
        CHECK(HAS(err.msg, cases[i].says));
    }
}

/* What the kernels took, from their events; nothing before they are waited for. */
TEST(the_clock_of_the_device_counts_kernels)
{
    ft_engine_context *c = open_with("clock=device,tune=0", NULL);
    ft_block *b = prepare(c, "exp x=100000");
    void *x = vector(c, 100000), *y;
    double once;

    CHECK_EQ(engine->now(c), 0);
    y = run(b, x);
    CHECK_EQ(engine->now(c), 0);
    CHECK_EQ(engine->sync(c, NULL), FT_OK);
    once = engine->now(c);
    CHECK(CMP(once, >, 0) && isfinite(once));
    CHECK_EQ(engine->sync(c, NULL), FT_OK);
    CHECK_EQ(engine->now(c), once);
    engine->values->drop(c, y);
    engine->values->drop(c, x);
    engine->free_block(b);
    engine->close(c);
}

TEST(a_view_has_the_memory_of_its_operand)
{
    ft_engine_context *c = open_with("", NULL);
    ft_block *b = prepare(c, "view x=6 out=2x3");
    void *x = vector(c, 6), *view = run(b, x);
    const float wanted[] = {1, 2, 3, 4, 5, 6};
    uint64_t now, peak;
    float got[6];

    engine->memory(c, &now, &peak, 0);
    CHECK(CMP(now, >, 0) && CMP(now, <, 1024));
    CHECK_EQ(engine->values->write(c, x, wanted, NULL), FT_OK);
    engine->values->drop(c, x);
    CHECK_EQ(engine->values->read(c, got, view, NULL), FT_OK);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(got[i], wanted[i]);
    engine->values->drop(c, view);
    engine->memory(c, &now, &peak, 1);
    CHECK(EQ(now, 0) && CMP(peak, >, 0));
    engine->free_block(b);
    engine->close(c);
}

TEST(tuning_changes_no_result)
{
    enum { N = 70001 };
    static float plain[N], tuned[N];
    static const char *const options[] = {"tune=0", "tune=1"};

    for (int i = 0; i < 2; i++) {
        ft_engine_context *c = open_with(options[i], NULL);
        ft_block *b = prepare(c, "relu x=70001");
        void *x = vector(c, N), *y = run(b, x);

        CHECK_EQ(engine->values->read(c, i ? tuned : plain, y, NULL), FT_OK);
        engine->values->drop(c, y);
        engine->values->drop(c, x);
        engine->free_block(b);
        engine->close(c);
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(tuned[i], plain[i]);
}

/* Threads of the driver may still end a command when everything has been released. */
TEST(it_is_opened_and_closed_again_and_again)
{
    for (int i = 0; i < 100; i++) {
        ft_engine_context *c = open_with("tune=0", NULL);
        ft_block *b = prepare(c, "exp x=3000");
        void *x = vector(c, 3000), *y = run(b, x);

        engine->values->drop(c, y);
        engine->values->drop(c, x);
        engine->free_block(b);
        engine->close(c);
    }
}

int main(int argc, char **argv)
{
    ft_engine_context *c;
    ft_error err = {0};

    if (argc < 2 || ft_engine_load(&engine, argv[1], &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    c = open_with("", &err);
    if (!c) {
        printf("skipped: %s\n", err.msg);
        return 77;
    }
    engine->close(c);
    check_all();
    CHECK_DONE();
}
