/* Slow operations in a store. */
#include "foretell/outliers.h"

#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "store/store_inside.h"

enum { OPS = 150, SLOW = 71 };

static void put(ft_store *s, int64_t run, const char *device, const char *spec,
                double time_s)
{
    const ft_key key = {device, "threads=1", "torch",   "2.3.1",
                        spec,   "forward",   "default", "time"};
    const ft_measurement m = {
        .unit = "s", .value = time_s, .error = 0.01 * time_s, .n = 5, .iterations = 50};
    ft_error err = {0};

    if (ft__store_put(s, run, &key, &m, NULL, 0, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        check_failed++;
    }
}

/* relu over n elements takes 2 us and n times 1 ns, up to 5 % more or less. */
static void fill(ft_store *s, int64_t run, const char *device, int ops)
{
    ft__prng rng = ft__prng_stream(1, 0);

    for (int i = 0; i < ops; i++) {
        const int64_t n = 1000 + 700 * (int64_t)i;
        const double noise = 0.95 + 0.1 * ft__prng_unit(&rng);
        char spec[100];

        snprintf(spec, sizeof(spec), "relu x=1x%lld dtype=fp32", (long long)n);
        put(s, run, device, spec,
            (2e-6 + 1e-9 * (double)n) * noise * (i == SLOW ? 9 : 1));
    }
}

TEST(the_slow_operation_is_named_with_its_factor)
{
    ft_slow_op *slow;
    uint32_t n_datasets;
    ft_store *s;
    int64_t run;
    size_t n;
    char spec[100];

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    CHECK_EQ(ft__store_begin_run(s, &run, "test", "", NULL), FT_OK);
    fill(s, run, "here", OPS);
    fill(s, run, "elsewhere", 10);
    CHECK_EQ(ft_slow_ops_find(&slow, &n, &n_datasets, s, "engine=torch", NULL, 0, NULL),
             FT_OK);
    CHECK(EQ(n, 1) && EQ(n_datasets, 1));
    if (n == 1) {
        ft_op_print(&slow->op, spec, sizeof(spec));
        CHECK(SAME(spec, "relu x=1x50700 dtype=fp32"));
        CHECK(SAME(slow->device, "here") && SAME(slow->engine, "torch"));
        CHECK(SAME(slow->setting, "threads=1") && SAME(slow->engine_version, "2.3.1"));
        CHECK_NEAR(slow->slower, 9, 1);
        CHECK_NEAR(slow->time_s, 9 * (2e-6 + 50.7e-6), 0.06 * 9 * 52.7e-6);
    }
    free(slow);
    CHECK_EQ(
        ft_slow_ops_find(&slow, &n, &n_datasets, s, "device=elsewhere", NULL, 0, NULL),
        FT_OK);
    CHECK(EQ(n, 0) && EQ(n_datasets, 0));
    free(slow);
    CHECK_EQ(ft_slow_ops_find(&slow, &n, &n_datasets, s, "device", NULL, 0, NULL),
             FT_EINVAL);
    ft_store_close(s);
}
