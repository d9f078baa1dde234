/* Operations of which families of devices are made, whose law is known. */
#ifndef FAMILY_LAW_H
#define FAMILY_LAW_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/prng.h"
#include "family_rig.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"

enum { N_OPS = 60 };
static const char *const devices[] = {"a30", "v100-sxm2-16gb", "t4"};

static inline void make_op(ft_op *op, int i)
{
    ft__prng p = ft__prng_stream(5, (uint64_t)i);
    unsigned a = 64 + ft__prng_below(&p, 2000), b = 64 + ft__prng_below(&p, 2000),
             n = 64 + ft__prng_below(&p, 4000);
    char spec[200];

    if (i % 2)
        snprintf(spec, sizeof(spec), "linear x=%ux%u out=%u dtype=fp32", n, a, b);
    else
        snprintf(spec, sizeof(spec), "relu x=%ux%u dtype=fp32", n, a);
    CHECK_EQ(ft_op_parse(op, spec, strlen(spec), NULL), FT_OK);
}

/* A plain roofline at shares of the data sheet's figures, and a launch. */
static inline double law_s(const ft_op *op, const ft_device_facts *d)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return 8e-6 +
           fmax(c.flops / (0.7 * d->peak_fp32),
                (c.bytes_read + c.bytes_written) / (0.75 * d->bandwidth_bytes_per_s));
}

/* A share of what the chip's smallest board may draw. */
static inline double law_w(const ft_device_facts *d, int i)
{
    return (d->drawing_tdp_w > 0 ? d->drawing_tdp_w : d->tdp_w) * (i % 2 ? 0.8 : 0.5);
}

static inline void put(ft_store *s, int64_t run, const char *device, const ft_op *op,
                       const char *metric, double value)
{
    char spec[1024];
    const ft_key key = {device, "", "torch", "2.3", spec, "forward", "ieee", metric};
    const ft_measurement m = {.unit = "s", .value = value, .error = NAN, .n = 1};

    ft_op_print(op, spec, sizeof(spec));
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
}

static inline void fill(ft_store *s, const char *device, int first, int n)
{
    ft_device *d;
    int64_t run;

    CHECK_EQ(ft_device_load(&d, data_dir, device, NULL), FT_OK);
    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    for (int i = first; i < first + n; i++) {
        ft_op op;

        make_op(&op, i);
        put(s, run, device, &op, "time", law_s(&op, ft_device_get(d)));
        put(s, run, device, &op, "power", law_w(ft_device_get(d), i));
    }
    ft_device_free(d);
}

static inline ft_store *store_of(int n_devices)
{
    ft_store *s;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    for (int i = 0; i < n_devices; i++)
        fill(s, devices[i], 0, N_OPS);
    return s;
}

static inline ft_predictor *train_all(int forget, uint32_t threads)
{
    /* Every kind of image that may be in a file, and the quickest of them. */
    const ft_train_options how = {.forget = forget,
                                  .threads = threads,
                                  .methods = forget ? 0 : 1u << FT_METHOD_EXTRA};
    ft_store *s = store_of(3);
    ft_predictor *p = train(s, &how);

    ft_store_close(s);
    return p;
}

/* Mean error on operations of numbers first to first + n - 1. */
static inline double error_on(const ft_predictor *p, const char *device,
                              ft__metric metric, int first, int n)
{
    ft__dataset on = {.device = (char *)device};
    double sum = 0;

    CHECK_EQ(ft_device_load(&on.file, data_dir, device, NULL), FT_OK);
    for (int i = first; i < first + n; i++) {
        const ft_device_facts *d = ft_device_get(on.file);
        double truth, watts = law_w(d, i);
        ft_error err = {0};
        ft__op_answer a;
        ft_op op;

        make_op(&op, i);
        truth = metric == FT__METRIC_POWER ? watts : law_s(&op, d);
        truth *= metric == FT__METRIC_ENERGY ? watts : 1;
        if (ft__family_query(&a, p->family, metric, &on, &op, NULL, 1, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            CHECK_EQ(err.status, FT_OK);
            break;
        }
        CHECK(CMP(a.low, <=, a.value) && CMP(a.value, <=, a.high));
        sum += fabs(a.value / truth - 1);
    }
    ft_device_free(on.file);
    return sum / n;
}

#endif
