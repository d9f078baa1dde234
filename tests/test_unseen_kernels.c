/* Devices that nobody measured: kernels of other libraries, settings and generations
 * say less of them, and so do hosts. */
#include "unseen_rig.h"

/* What is later than 8.0.88 is as if no setting named it. */
TEST(later_libraries_are_the_same)
{
    static const struct {
        const char *a, *b;
        bool same;
    } v[] = {
        {"", "cuda=12.4", true},
        {"cuda=11.3", "cuda=12.1", true},
        {"", "cuda=8.0.88", true},
        {"cuda=8.0", "cuda=8.0.61 clock=1GHz", true},
        {"", "cuda=8.0", false},
        {"cuda=7.5", "cuda=8.0", false},
        {"cuda=8.0", "cuda=8.0.88", false},
        {"", "cuda=?", true},
        {"activation=relu", "cuda=8.0.88", true},
    };

    for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
        CHECK(EQ(ft__is_same_library(v[i].a, v[i].b), v[i].same));
}

/* As TensorRT-LLM's and vLLM's kernels are published, unless the store says otherwise.
 */
TEST(settings_hold_what_kernels_of_an_engine_have_in_common)
{
    static const char *const engines[] = {"trtllm", "trtllm", "vllm", "vllm"};
    static const char *const settings[] = {"", "cache=written", "", "picks=own"};
    static const char *const read[] = {
        "run_mode=graph cache=packed", "cache=written run_mode=graph",
        "run_mode=graph picks=all", "picks=own run_mode=graph"};

    for (int i = 0; i < 4; i++) {
        const ft_key key = {"l4",         settings[i], engines[i], "1.0",
                            "relu x=8x8", "forward",   "ieee",     "time"};
        const ft_measurement m = {.unit = "s", .value = 1e-5, .error = NAN, .n = 1};
        ft__calibration_set *known = NULL;
        ft_store *s = empty();
        int64_t run;

        CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
        CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
        CHECK_EQ(ft__calibration_set_read(&known, s, NULL), FT_OK);
        CHECK(SAME(known->s.dataset[0].setting, read[i]));
        ft__calibration_set_free(known);
        ft_store_close(s);
    }
}

/* Of single products a batch of one is another, of three are not; of batches of several
 * the other way round. Neither says anything of 8 bits. */
TEST(a_batch_of_one_is_a_single_product)
{
    static const char *const form[] = {"matmul x=%ux256 y=256x512 dtype=fp32",
                                       "matmul x=8x%ux256 y=8x256x512 dtype=fp32"};
    static const char *const product[] = {"matmul x=1x300x256 y=1x256x512 dtype=fp32",
                                          "matmul x=3x300x256 y=3x256x512 dtype=fp32"};
    static const char *const gpu[] = {"t4", "v100-sxm2-16gb", "h100-sxm"};

    for (int batched = 0; batched < 2; batched++) {
        ft_store *s = empty();
        ft_predictor *p;

        for (int i = 0; i < 3 * N_OPS; i++) {
            char spec[200];

            snprintf(spec, sizeof(spec), form[batched], 100u + (unsigned)i / 3);
            put(s, gpu[i % 3], "", spec, 1e-5 * (10 + i));
        }
        p = trained_by(s);
        for (int several = 0; several < 2; several++) {
            const ft__op_answer a = asked_of(p, "a100-sxm-80gb", "", product[several]);

            CHECK_EQ(a.unlike, several != batched);
        }
        CHECK(asked_of(p, "gtx-1080-ti", "",
                       "matmul x=300x256 y=256x512 to=int32 dtype=int8")
                  .unlike);
        ft_predictor_free(p);
    }
}

static const char replayed[] = "run_mode=graph";

/* Learned from Ampere and Hopper: Ada lies between them, Blackwell is newer. */
TEST(attention_of_a_newer_generation_may_be_further_off)
{
    static const char *const spec =
        "attention x=4x32x1x128 y=4x8x4096x128 z=4x8x4096x128 dtype=bf16";
    ft_store *s = empty();
    ft_predictor *p;
    ft__op_answer newer, between;

    for (unsigned i = 0; i < 2 * N_OPS; i++) {
        char own[128];

        snprintf(own, sizeof(own),
                 "attention x=%ux32x1x128 y=%ux8x%ux128 z=%ux8x%ux128 dtype=bf16",
                 1 + i % 8, 1 + i % 8, 512 + 64 * i, 1 + i % 8, 512 + 64 * i);
        put(s, i % 2 ? "a100-sxm-80gb" : "h100-sxm", replayed, own,
            2e-5 + 1e-7 * i * (1 + i % 8));
    }
    p = trained_by(s);
    newer = asked_of(p, "gb200", replayed, spec);
    between = asked_of(p, "l4", replayed, spec);
    CHECK(CMP(log(newer.high / newer.value), >,
              hypot(log(between.high / between.value), 0.39)));
    ft_predictor_free(p);
}

/* Hosts that agree: beside a NeuSight P100's the same calls took 1.75 times as long. */
TEST(another_host_may_take_much_longer)
{
    static const char *const gpu[] = {"t4", "v100-sxm2-16gb", "h100-sxm"};
    ft_store *s = empty();
    ft_predictor *p;
    ft__op_answer a;

    for (unsigned i = 0; i < 3 * N_OPS; i++) {
        char spec[64];

        snprintf(spec, sizeof(spec), "relu x=%u dtype=fp32", 100 + i / 3);
        put(s, gpu[i % 3], "", spec, 2.8e-5);
    }
    p = trained_by(s);
    a = asked_of(p, "p100-pcie-16gb", "", "relu x=128 dtype=fp32");
    CHECK(CMP(a.high, >, 1.75 * a.value) && CMP(a.low, <, a.value / 1.75));
    ft_predictor_free(p);
}

/* A slower host adds more than a faster one saves, also beside rows of another kind. */
TEST(each_end_of_what_few_rows_leave_unknown_is_kept)
{
    static const char asked[] = "gelu x=1000000 dtype=fp32";
    ft_store *s = empty(), *few = empty();
    ft__dataset on = {.device = (char *)"p100-pcie-16gb",
                      .setting = (char *)"",
                      .policy = (char *)"ieee"};
    ft__calibration_set *known = NULL;
    ft_predictor *p;
    ft__op_answer a;
    uint32_t n;
    ft_op op;

    for (unsigned i = 0; i < 2 * N_OPS; i++) {
        char spec[64];

        snprintf(spec, sizeof(spec), "relu x=%u dtype=fp32", 100 + i / 2);
        put(s, i % 2 ? "t4" : "v100-sxm2-16gb", "", spec, 1e-5);
        if (i < 12)
            put(few, on.device, "", spec, 1e-5);
    }
    p = trained_by(s);
    a = asked_of(p, on.device, "", asked);
    CHECK_EQ(ft_op_parse(&op, asked, strlen(asked), NULL), FT_OK);
    CHECK_EQ(ft_device_load(&on.file, data_dir, on.device, NULL), FT_OK);
    CHECK_EQ(ft__calibration_set_read(&known, few, NULL), FT_OK);
    CHECK_EQ(ft__calibration_set_correct(&a, &n, p->family, FT__METRIC_TIME, known,
                                         &known->s.dataset[0], &on, NULL, &op, 1, NULL),
             FT_OK);
    CHECK(CMP(log(a.high / a.value), >, 1.05 * log(a.value / a.low)));
    ft__calibration_set_free(known);
    ft_device_free(on.file);
    ft_store_close(few);
    ft_predictor_free(p);
}

/* Sizes far from the known ones change less of what is not known than another form. A
 * newer generation may be off by more than another chip. */
TEST(forms_sizes_and_generations_widen_by_their_own)
{
    static const char *const gpu[] = {"t4", "v100-sxm2-16gb", "h100-sxm"},
                             *const spec[] = {"relu x=4194304 dtype=fp32",
                                              "relu x=33554432 dtype=fp32",
                                              "relu x=2x2097152 dtype=fp32"};
    static const double time_s[] = {120e-6, 45e-6, 12e-6};
    ft_store *s = empty();
    ft_predictor *p;
    ft__op_answer newer;
    double reach[3];

    for (unsigned i = 0; i < 3 * N_OPS; i++) {
        char own[64];

        snprintf(own, sizeof(own), "relu x=%u dtype=fp32", 4000000 + 10000 * (i / 3));
        put(s, gpu[i % 3], replayed, own, time_s[i % 3]);
    }
    p = trained_by(s);
    for (int i = 0; i < 3; i++) {
        const ft__op_answer a = asked_of(p, "a100-sxm-80gb", replayed, spec[i]);

        reach[i] = log(a.high / a.value);
    }
    CHECK_NEAR(reach[1] / reach[0], 1.5, 0.01);
    CHECK_NEAR(reach[2] / reach[0], 2, 0.01);
    newer = asked_of(p, "gb200", replayed, spec[0]);
    CHECK_NEAR(log(newer.high / newer.value), hypot(reach[0], 0.15), 0.01);
    ft_predictor_free(p);
}

/* Of layers in 32 bits that take on all chips what is estimated, and another in 16. */
TEST(steps_of_another_width_are_as_of_one_chip)
{
    static const char *const gpu[] = {"t4", "v100-sxm2-16gb", "h100-sxm"},
                             *const form = "gru x=50x32x%u hidden=%u dtype=%s";
    ft_store *s = empty(), *other = empty();
    ft_predictor *p, *estimate;
    double width[2];

    for (unsigned i = 0; i < N_OPS; i++)
        put(other, "t4", replayed, i % 2 ? "relu x=4096 dtype=fp32" : "relu x=64",
            1e-5);
    estimate = trained_by(other);
    for (unsigned i = 0; i < 3 * N_OPS; i++) {
        char spec[64];

        snprintf(spec, sizeof(spec), form, 512 + 16 * (i / 3), 512 + 16 * (i / 3),
                 "fp32");
        put(s, gpu[i % 3], replayed, spec,
            asked_of(estimate, gpu[i % 3], replayed, spec).value);
    }
    p = trained_by(s);
    for (int i = 0; i < 2; i++) {
        char spec[64];
        ft__op_answer a;

        snprintf(spec, sizeof(spec), form, 1024, 1024, i ? "fp16" : "fp32");
        a = asked_of(p, "a100-sxm-80gb", replayed, spec);
        width[i] = a.high / a.low;
    }
    CHECK(CMP(width[0], <, 1.5));
    CHECK(CMP(width[1], >=, 0.999 * pow(FT__LEAST_REACH, 2)));
    ft_predictor_free(estimate);
    ft_predictor_free(p);
}
