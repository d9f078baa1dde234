#ifndef TESTS_UNSEEN_RIG_H
#define TESTS_UNSEEN_RIG_H

/* Stores of measurements, and answers about devices that are not in them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "predict/file/predictor.h"
#include "predict/model/calibration_set.h"
#include "store/store_inside.h"

enum { N_OPS = 80 };

/* What was measured of PyTorch; a run of its own. */
static inline void put_metric(ft_store *s, const char *device, const char *setting,
                              const char *spec, const char *metric, const char *unit,
                              double value)
{
    const ft_key key = {device, setting,   "torch", "2.3",
                        spec,   "forward", "ieee",  metric};
    const ft_measurement m = {.unit = unit, .value = value, .error = NAN, .n = 1};
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
}

static inline void put(ft_store *s, const char *device, const char *setting,
                       const char *spec, double time_s)
{
    put_metric(s, device, setting, spec, "time", "s", time_s);
}

static inline ft_store *empty(void)
{
    ft_store *s = NULL;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    return s;
}

static inline ft_predictor *trained_by(ft_store *s)
{
    const ft_train_options how = {.data_dir = data_dir,
                                  .seed = 1,
                                  .n_trees = 24,
                                  .methods = 1u << FT_METHOD_EXTRA};
    ft_predictor *p = NULL;

    CHECK_EQ(ft_predictor_train(&p, s, &how, NULL), FT_OK);
    ft_store_close(s);
    return p;
}

static inline ft__op_answer answer_to(const ft_predictor *p, const char *device,
                                      const char *setting, const ft_op *op)
{
    ft__dataset on = {
        .device = (char *)device, .setting = (char *)setting, .policy = (char *)"ieee"};
    ft__op_answer a = {0};

    CHECK_EQ(ft_device_load(&on.file, data_dir, device, NULL), FT_OK);
    CHECK_EQ(ft__family_query(&a, p->family, FT__METRIC_TIME, &on, op, NULL, 1, NULL),
             FT_OK);
    ft_device_free(on.file);
    return a;
}

static inline ft__op_answer asked_of(const ft_predictor *p, const char *device,
                                     const char *setting, const char *spec)
{
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    return answer_to(p, device, setting, &op);
}

#endif
