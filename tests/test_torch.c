/* The torch engine where it differs from others: libtorch found or not, functions
 * that an older libtorch lacks, views, results kept for a backward operation, element
 * types. Arguments: the plug-in, another plug-in. FT_TEST_OPTIONS names libtorch. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "foretell/engine.h"

/* Address sanitizer stops programs that load libstdc++ late at the first exception. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_EXCEPTIONS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define NO_EXCEPTIONS 1
#endif
#ifndef NO_EXCEPTIONS
#define NO_EXCEPTIONS 0
#endif

typedef struct rig {
    const ft_engine *e;
    ft_engine_context *c;
    ft_error err;
} rig;

static ft_status open_with(rig *r, const char *more, uint32_t threads)
{
    char options[8192];

    snprintf(options, sizeof(options), "%s%s%s", getenv("FT_TEST_OPTIONS"),
             *more ? "," : "", more);
    memset(&r->err, 0, sizeof(r->err));
    return r->e->open(
        &r->c, &(ft_engine_config){.threads = threads, .seed = 1, .options = options},
        &r->err);
}

static ft_block *prepared(rig *r, const char *spec, int how, ft_op *op)
{
    ft_block *b = NULL;
    ft_block_info info;

    memset(&r->err, 0, sizeof(r->err));
    CHECK_EQ(ft_op_parse(op, spec, strlen(spec), NULL), FT_OK);
    if (r->e->values->prepare(r->c, &b, &info, op, how, &r->err))
        fprintf(stderr, "%s\n", r->err.msg);
    CHECK(b != NULL);
    return b;
}

static void *value_of(rig *r, const ft_shape *s, ft_dtype t, const void *contents)
{
    void *v = NULL;

    CHECK_EQ(r->e->values->make(r->c, &v, s, t, FT_LAYOUT_PLAIN, &r->err), FT_OK);
    CHECK_EQ(r->e->values->write(r->c, v, contents, &r->err), FT_OK);
    return v;
}

static void *vector(rig *r, const float *contents, int64_t n)
{
    return value_of(r, &(ft_shape){.rank = 1, .dim = {n}}, FT_DTYPE_fp32, contents);
}

static void opened_where_nothing_is_it_says_what_to_do(rig *r)
{
    ft_engine_config cfg = {.threads = 1, .options = "lib=/nowhere/torch"};

    CHECK(EQ(r->e->open(&r->c, &cfg, &r->err), FT_ENOTFOUND) && !r->c);
    CHECK(HAS(r->err.msg, "/nowhere/torch") && HAS(r->err.msg, "pip install"));
    CHECK(HAS(r->err.msg, "FORETELL_TORCH"));
}

static void a_library_that_is_another_is_refused(rig *r, const char *other)
{
    char options[4096];
    ft_engine_config cfg = {.threads = 1, .options = options};

    snprintf(options, sizeof(options), "lib=%s", other);
    CHECK(EQ(r->e->open(&r->c, &cfg, &r->err), FT_EUNSUPPORTED) && !r->c);
    CHECK(HAS(r->err.msg, "2.10"));
}

static void a_folder_does_as_well_as_the_file(rig *r)
{
    char options[8192], *slash;
    ft_engine_config cfg = {.threads = 1, .options = options};

    snprintf(options, sizeof(options), "%s", getenv("FT_TEST_OPTIONS"));
    for (int up = 0; up < 3; up++) { /* lib/, torch/, and what holds torch/ */
        slash = strrchr(options, '/');
        CHECK(slash != NULL);
        *slash = '\0';
        CHECK_EQ(r->e->open(&r->c, &cfg, &r->err), FT_OK);
        r->e->close(r->c);
    }
}

static void an_unknown_option_or_device_is_named(rig *r)
{
    CHECK(EQ(open_with(r, "speed=9", 1), FT_EINVAL) && HAS(r->err.msg, "speed=9"));
    CHECK(EQ(open_with(r, "device=tpu", 1), FT_EINVAL) && HAS(r->err.msg, "tpu"));
    CHECK(EQ(open_with(r, "tf32=1", 1), FT_EINVAL) && HAS(r->err.msg, "cuda"));
}

static void its_version_is_known_once_it_is_open(rig *r)
{
    unsigned major, minor;

    CHECK_EQ(open_with(r, "", 1), FT_OK);
    CHECK_EQ(sscanf(r->e->version(), "%u.%u", &major, &minor), 2);
    CHECK(EQ(major, 2) && CMP(minor, >=, 10));
    r->e->close(r->c);
}

/* Functions that may be missing. */

static void without_what_2_10_brought_it_does_not_open(rig *r)
{
    CHECK_EQ(open_with(r, "without=torch_call_dispatcher", 1), FT_EUNSUPPORTED);
    CHECK(HAS(r->err.msg, "torch_call_dispatcher") && HAS(r->err.msg, "2.10"));
    CHECK_EQ(open_with(r, "without=torch_new_stable_ivalue+_Znwm", 1), FT_EUNSUPPORTED);
    CHECK(HAS(r->err.msg, "torch_new_stable_ivalue"));
}

/* y = x w^T + b with an optional argument: the bias. */
static float linear_result(rig *r)
{
    static const float x[2] = {2, 3}, w[2] = {5, 7}, bias[1] = {0.5f};
    float y = NAN;
    ft_op op;
    ft_block *b = prepared(r, "linear x=2 out=1 bias=1", 0, &op);
    void *in[3] = {vector(r, x, 2),
                   value_of(r, &(ft_shape){.rank = 2, .dim = {1, 2}}, FT_DTYPE_fp32, w),
                   vector(r, bias, 1)},
         *out[1] = {NULL};

    CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_OK);
    CHECK_EQ(r->e->values->read(r->c, &y, out[0], NULL), FT_OK);
    for (int i = 0; i < 3; i++)
        r->e->values->drop(r->c, in[i]);
    r->e->values->drop(r->c, out[0]);
    r->e->free_block(b);
    return y;
}

static void optional_arguments_have_a_box_without_2_13(rig *r)
{
    CHECK_EQ(open_with(r, "", 1), FT_OK);
    CHECK_EQ(linear_result(r), 31.5f);
    r->e->close(r->c);
    CHECK_EQ(open_with(r, "without=torch_new_stable_ivalue", 1), FT_OK);
    CHECK_EQ(linear_result(r), 31.5f);
    r->e->close(r->c);
}

/* An operation that PyTorch refuses when it runs. */
static void fail_in_it(rig *r, const char *spec)
{
    unsigned char x[4] = {1, 0, 1, 0};
    ft_op op;
    ft_block *b = prepared(r, spec, 0, &op);
    void *in[1] = {value_of(r, &(ft_shape){.rank = 1, .dim = {4}}, FT_DTYPE_bool, x)},
         *out[1] = {NULL};

    CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_EBACKEND);
    CHECK(!out[0]);
    r->e->values->drop(r->c, in[0]);
    r->e->free_block(b);
}

static void what_pytorch_says_is_told_or_where_it_is(rig *r)
{
    const char *without = "without=torch_exception_get_what_without_backtrace";

    CHECK_EQ(open_with(r, "", 1), FT_OK);
    fail_in_it(r, "relu x=4 dtype=bool");
    CHECK(HAS(r->err.msg, "relu x=4"));
    r->e->close(r->c);
    CHECK_EQ(open_with(r, without, 1), FT_OK);
    fail_in_it(r, "relu x=4 dtype=bool");
    CHECK(HAS(r->err.msg, "standard error"));
    r->e->close(r->c);
}

static void an_exception_of_a_cpp_function_is_a_failure_like_others(rig *r)
{
    CHECK_EQ(open_with(r, "", 1), FT_OK);
    fail_in_it(r, "leaky_relu x=4 dtype=bool");
    CHECK(HAS(r->err.msg, "leaky_relu"));
    r->e->close(r->c);
}

static void a_missing_cpp_function_takes_its_kind_away_only(rig *r)
{
    const char *symbol = "_ZN2at4_ops10leaky_relu4callERKNS_6TensorERKN3c106ScalarE";
    const char *add = "_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE";
    const char *spec = "leaky_relu x=4";
    char options[256];
    ft_block *b = NULL;
    ft_block_info info;
    ft_op op;

    snprintf(options, sizeof(options), "without=%s+%s", symbol, add);
    CHECK_EQ(open_with(r, options, 1), FT_OK);
    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    CHECK_EQ(r->e->values->prepare(r->c, &b, &info, &op, 0, &r->err), FT_EUNSUPPORTED);
    CHECK(!b && HAS(r->err.msg, symbol));
    r->e->free_block(prepared(r, "relu x=4", 0, &op));
    /* addition has two ways */
    r->e->free_block(prepared(r, "add x=4 y=4", 0, &op));
    r->e->close(r->c);
}

/* PyTorch has the first, but how much it finds is not known here; the second is
 * bitsandbytes'. */
static void what_it_cannot_run_is_refused_with_the_reason(rig *r)
{
    static const char *const bad[][2] = {
        {"nonzero x=4x8 out=2x32", "depends on the data"},
        {"adamw x=4x8 weights=int8 phase=optimizer", "states of another type"},
    };

    CHECK_EQ(open_with(r, "", 1), FT_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        ft_block *b = NULL;
        ft_block_info info;
        ft_op op;

        CHECK_EQ(ft_op_parse(&op, bad[i][0], strlen(bad[i][0]), NULL), FT_OK);
        CHECK_EQ(r->e->values->prepare(r->c, &b, &info, &op, 0, &r->err),
                 FT_EUNSUPPORTED);
        CHECK(!b && HAS(r->err.msg, bad[i][1]));
    }
    r->e->close(r->c);
}

static void threads_that_cannot_be_set_are_named(rig *r)
{
    CHECK_EQ(open_with(r, "", 2), FT_OK);
    r->e->close(r->c);
    CHECK_EQ(open_with(r, "without=_ZN2at15set_num_threadsEi", 3), FT_EBACKEND);
    CHECK(HAS(r->err.msg, "OMP_NUM_THREADS=3"));
    CHECK_EQ(open_with(r, "without=_ZN2at15set_num_threadsEi", 2), FT_OK);
    r->e->close(r->c);
}

static void a_transpose_is_a_view(rig *r)
{
    static const float before[6] = {0, 1, 2, 3, 4, 5}, after[6] = {9, 8, 7, 6, 5, 4};
    float got[6];
    ft_op op;
    ft_block *b = prepared(r, "transpose x=2x3 perm=1x0", 0, &op);
    void *in[1] = {
        value_of(r, &(ft_shape){.rank = 2, .dim = {2, 3}}, FT_DTYPE_fp32, before)};
    void *out[1] = {NULL};

    CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_OK);
    CHECK_EQ(r->e->values->read(r->c, got, out[0], NULL), FT_OK);
    CHECK(EQ(got[1], 3) && EQ(got[2], 1) && EQ(got[5], 5));
    CHECK_EQ(r->e->values->write(r->c, in[0], after, NULL), FT_OK);
    CHECK_EQ(r->e->values->read(r->c, got, out[0], NULL), FT_OK);
    CHECK(EQ(got[1], 6) && EQ(got[2], 8) && EQ(got[5], 4));
    r->e->values->drop(r->c, in[0]);
    r->e->values->drop(r->c, out[0]);
    r->e->free_block(b);
}

static void in_place_writes_over_the_operand(rig *r, const char *spec)
{
    static const float x[4] = {-2, -1, 1, 2};
    float got[4], result[4];
    ft_op op;
    ft_block *b = prepared(r, spec, FT_VALUES_IN_PLACE, &op);
    void *in[2] = {vector(r, x, 4), vector(r, x, 4)}, *out[1] = {NULL};

    CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_OK);
    CHECK_EQ(r->e->values->read(r->c, got, in[0], NULL), FT_OK);
    CHECK_EQ(r->e->values->read(r->c, result, out[0], NULL), FT_OK);
    CHECK(BYTES(got, result, sizeof(got)) && !BYTES(got, x, sizeof(got)));
    for (int i = 0; i < 2; i++)
        r->e->values->drop(r->c, in[i]);
    r->e->values->drop(r->c, out[0]);
    r->e->free_block(b);
}

static void what_is_kept_comes_behind_the_results(rig *r)
{
    static const float x[4] = {1, 5, 3, 2};
    float y = 0;
    ft_op op;
    ft_block *b = prepared(r, "maxpool2d x=1x1x2x2 kernel=2x2 stride=2x2 pad=0x0",
                           FT_VALUES_KEEP, &op);
    void *in[1] = {
        value_of(r, &(ft_shape){.rank = 4, .dim = {1, 1, 2, 2}}, FT_DTYPE_fp32, x)};
    void *out[2] = {NULL, NULL};

    CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_OK);
    CHECK(EQ(r->e->values->read(r->c, &y, out[0], NULL), FT_OK) && EQ(y, 5));
    CHECK(out[1] != NULL);
    r->e->values->drop(r->c, in[0]);
    r->e->values->drop(r->c, out[0]);
    r->e->values->drop(r->c, out[1]);
    r->e->free_block(b);
}

/* -1.5 and 2 in every type that has them, by their bits. */
static void relu_runs_in_every_float(rig *r)
{
    static const uint16_t half[2] = {0xbe00, 0x4000}, brain[2] = {0xbfc0, 0x4000};
    static const double wide[2] = {-1.5, 2};
    static const struct {
        ft_dtype t;
        const char *spec;
        const void *x;
    } cases[] = {
        {FT_DTYPE_fp16, "relu x=2 dtype=fp16", half},
        {FT_DTYPE_bf16, "relu x=2 dtype=bf16", brain},
        {FT_DTYPE_fp64, "relu x=2 dtype=fp64", wide},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t bytes = ft_dtype_bits(cases[i].t) / 8;
        unsigned char got[16], zero[8] = {0};
        ft_op op;
        ft_block *b = prepared(r, cases[i].spec, 0, &op);
        void *in[1] = {
            value_of(r, &(ft_shape){.rank = 1, .dim = {2}}, cases[i].t, cases[i].x)};
        void *out[1] = {NULL};

        CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_OK);
        CHECK_EQ(r->e->values->read(r->c, got, out[0], NULL), FT_OK);
        CHECK(BYTES(got, zero, bytes));
        CHECK(BYTES(got + bytes, (const char *)cases[i].x + bytes, bytes));
        CHECK_EQ(r->e->fill(r->c, in[0], cases[i].t, 2, 2, 1, &r->err), FT_OK);
        r->e->values->drop(r->c, in[0]);
        r->e->values->drop(r->c, out[0]);
        r->e->free_block(b);
    }
}

static void an_operand_that_is_missing_is_a_failure(rig *r)
{
    static const float x[4] = {1, 2, 3, 4};
    ft_op op;
    ft_block *b = prepared(r, "add x=4 y=4", 0, &op);
    void *in[2] = {vector(r, x, 4), NULL}, *out[1] = {NULL};

    CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_EINVAL);
    CHECK(HAS(r->err.msg, "operand") && !out[0]);
    r->e->values->drop(r->c, in[0]);
    r->e->free_block(b);
}

static void its_allocator_is_counted(rig *r)
{
    enum { BYTES = 1 << 22 };
    static float x[BYTES / 4];
    uint64_t before, now, peak;
    ft_op op;
    ft_block *b = prepared(r, "softsign x=1048576", 0, &op);
    void *in[1] = {vector(r, x, BYTES / 4)}, *out[1] = {NULL};

    r->e->memory(r->c, &before, &peak, 1);
    CHECK(CMP(before + BYTES / 8, >=, BYTES)); /* what was there before may be gone */
    CHECK_EQ(r->e->run(b, 0, (const void *const *)in, out, NULL, &r->err), FT_OK);
    r->e->memory(r->c, &now, &peak, 0);
    CHECK(CMP(now, >=, before + BYTES) && CMP(now, <, before + BYTES + BYTES / 8));
    /* |x|, 1 + |x| and, when the first is gone, the quotient */
    CHECK(CMP(peak, >=, before + 2 * BYTES) &&
          CMP(peak, <, before + 2 * BYTES + BYTES / 8));
    r->e->values->drop(r->c, out[0]);
    r->e->values->drop(r->c, in[0]);
    r->e->free_block(b);
    r->e->memory(r->c, &now, &peak, 1);
    CHECK(CMP(now, <=, before - BYTES));
    r->e->memory(r->c, &now, &peak, 0);
    CHECK_EQ(peak, now);
}

static void uncounted_memory_is_none(rig *r)
{
    uint64_t now = 1, peak = 1;

    CHECK_EQ(open_with(r, "without=posix_memalign", 1), FT_OK);
    r->e->memory(r->c, &now, &peak, 0);
    CHECK(EQ(now, 0) && EQ(peak, 0));
    r->e->close(r->c);
}

int main(int argc, char **argv)
{
    rig r = {0};

    if (argc < 3 || ft_engine_load(&r.e, argv[1], &r.err)) {
        fprintf(stderr, "%s\n", r.err.msg);
        return 1;
    }
    opened_where_nothing_is_it_says_what_to_do(&r);
    a_library_that_is_another_is_refused(&r, argv[2]);
    a_folder_does_as_well_as_the_file(&r);
    an_unknown_option_or_device_is_named(&r);
    its_version_is_known_once_it_is_open(&r);
    without_what_2_10_brought_it_does_not_open(&r);
    optional_arguments_have_a_box_without_2_13(&r);
    if (!NO_EXCEPTIONS) {
        what_pytorch_says_is_told_or_where_it_is(&r);
        an_exception_of_a_cpp_function_is_a_failure_like_others(&r);
    }
    a_missing_cpp_function_takes_its_kind_away_only(&r);
    what_it_cannot_run_is_refused_with_the_reason(&r);
    threads_that_cannot_be_set_are_named(&r);
    uncounted_memory_is_none(&r);
    if (open_with(&r, "", 1) == FT_OK) {
        a_transpose_is_a_view(&r);
        in_place_writes_over_the_operand(&r, "relu x=4");
        in_place_writes_over_the_operand(&r, "add x=4 y=4");
        in_place_writes_over_the_operand(&r, "leaky_relu x=4");
        what_is_kept_comes_behind_the_results(&r);
        relu_runs_in_every_float(&r);
        an_operand_that_is_missing_is_a_failure(&r);
        its_allocator_is_counted(&r);
        r.e->close(r.c);
    }
    CHECK_DONE();
}
