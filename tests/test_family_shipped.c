/* Predictors that come with foretell: what they say of what nobody measured. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "family_rig.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"

/* Those that come with foretell are of columns and constants that this version knows.
 */
TEST(shipped_predictors_open)
{
    static const char spec[] = "linear x=1025x733 out=1500 dtype=fp32";
    static const char *const names[] = {"llm", "nvidia-fp32"};
    ft__dataset on = {.device = (char *)"h100-sxm"};
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    CHECK_EQ(ft_device_load(&on.file, data_dir, on.device, NULL), FT_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char path[4200];
        ft_predictor *p;
        ft_error err = {0};
        ft__op_answer a;

        snprintf(path, sizeof(path), "%s/predictors/%s.ftp", data_dir, names[i]);
        if (ft_predictor_load(&p, path, &err)) {
            fprintf(stderr, "%s: make predictors\n", err.msg);
            CHECK_EQ(err.status, FT_OK);
            continue;
        }
        CHECK_EQ(
            ft__family_query(&a, p->family, FT__METRIC_TIME, &on, &op, NULL, 1, NULL),
            0);
        CHECK(CMP(a.low, >, 0) && CMP(a.low, <=, a.value) && CMP(a.value, <=, a.high) &&
              CMP(a.high, <, 1));
        CHECK(CMP(p->family->between_boards, >, 0));
        ft_predictor_free(p);
    }
    ft_device_free(on.file);
}

static ft_predictor *shipped(void)
{
    ft_predictor *p;
    char path[4200];

    snprintf(path, sizeof(path), "%s/predictors/nvidia-fp32.ftp", data_dir);
    CHECK_EQ(ft_predictor_load(&p, path, NULL), FT_OK);
    return p;
}

/* NeuSight measured batched products, softmax along the last axis and layer norms:
 * other kernels and kinds. */
TEST(a_kernel_that_nobody_measured_is_answered_by_the_data_sheet)
{
    static const struct {
        const char *spec;
        bool measured;
    } cases[] = {
        {"matmul x=2048x2048 y=2048x2048 dtype=fp32", false},
        {"matmul x=16x1024x1024 y=16x1024x768 dtype=fp32", true},
        {"softmax x=128x64x33x33 axis=1 dtype=fp32", false},
        {"softmax x=8192x1024 axis=1 dtype=fp32", true},
        {"batchnorm x=32x64x112x112 dtype=fp32", false},
        {"layernorm x=8192x1024 norm=1 dtype=fp32", true},
    };
    ft_predictor *p = shipped();
    ft_device *d;

    CHECK_EQ(ft_device_load(&d, data_dir, "a10", NULL), FT_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const ft_estimate learned = ask_one(p, d, "run_mode=graph", cases[i].spec);
        const ft_estimate plain = ask_one(NULL, d, "run_mode=graph", cases[i].spec);

        CHECK_EQ(fabs(learned.value / plain.value - 1) > 1e-3, cases[i].measured);
        if (!cases[i].measured)
            CHECK_NEAR(learned.high / learned.low, plain.high / plain.low, 1e-6);
    }
    ft_device_free(d);
    ft_predictor_free(p);
}

/* NeuSight's small operations wait for their hosts, which says nothing of the device.
 */
TEST(a_small_kernel_takes_a_device_no_more_than_it_does_in_a_graph)
{
    const char *small = "relu x=1x256x14x14 dtype=fp32";
    ft_predictor *p = shipped();
    ft_device *d;

    CHECK_EQ(ft_device_load(&d, data_dir, "a30", NULL), FT_OK);
    CHECK_NEAR(ask_one(p, d, "", small).value,
               ask_one(p, d, "run_mode=graph", small).value, 5e-7);
    ft_device_free(d);
    ft_predictor_free(p);
}
