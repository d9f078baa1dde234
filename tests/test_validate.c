/* Sums, their errors, what they lack, and the kinds that explain differences: on
 * stores written by hand and on the fake engine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "fake_engine.h"
#include "foretell/predictor.h"
#include "foretell/validate.h"
#include "graph/graph_inside.h"
#include "measure/validate.h"
#include "predict/query/network.h"
#include "store/store_inside.h"

static const char *plugin_dir;

static ft_graph *list(const char *name, const char *text)
{
    ft_graph *g = NULL;
    ft_error err = {0};

    if (ft_import_ops(&g, text, strlen(text), name, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return g;
}

static ft_store *empty(void)
{
    ft_store *s;

    if (ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL))
        exit(1);
    return s;
}

static void put(ft_store *s, const char *setting, const char *spec, const char *metric,
                double value, double error)
{
    const ft_key key = {"board", setting,   "hand",    "1",
                        spec,    "forward", "default", metric};
    const ft_measurement m = {.unit = strcmp(metric, "time") ? "J" : "s",
                              .value = value,
                              .error = error,
                              .mad = NAN,
                              .mean = value,
                              .std = NAN,
                              .n = 5,
                              .iterations = 5,
                              .calibration_s = NAN};
    ft_error err = {0};
    int64_t run;

    if (ft__store_begin_run(s, &run, "", "{}", &err) ||
        ft__store_put(s, run, &key, &m, NULL, 0, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
}

static void put_network(ft_store *s, const char *setting, const ft_graph *g,
                        const char *metric, double value, double error)
{
    char spec[512];

    ft__network_spec(g, spec, sizeof(spec));
    put(s, setting, spec, metric, value, error);
}

static const char *const conv = "conv2d x=1x8x8x8 out=8 kernel=3x3 stride=1x1 pad=1x1 "
                                "dtype=fp32";
static const char *const relu = "relu x=1x8x8x8 dtype=fp32";
static const char *const add = "add x=1x8x8x8 y=1x8x8x8 dtype=fp32";

static ft_graph *three_kinds(int convs, int relus, int adds)
{
    char text[512];

    snprintf(text, sizeof(text), "%s *%d\n%s *%d\n%s *%d\n", conv, convs, relu, relus,
             add, adds);
    return list("net", text);
}

TEST(the_key_of_a_network_is_made_of_its_operations_alone)
{
    ft_graph *a = list("one name", "relu x=1x8\ntanh x=1x9 *2\nrelu x=1x8\n");
    ft_graph *b = list("another", "tanh x=1x9 *2\nrelu x=1x8 *2\n");
    ft_graph *c = list("one name", "tanh x=1x9\nrelu x=1x8 *3\n");
    char x[300], y[300], z[300];
    size_t len;

    len = ft__network_spec(a, x, sizeof(x));
    CHECK_EQ(len, strlen(x));
    ft__network_spec(b, y, sizeof(y));
    ft__network_spec(c, z, sizeof(z));
    CHECK(BEGINS(x, y, 28) && !SAME(x, y));
    CHECK(!BEGINS(x, z, 28));
    CHECK(SAME(x + 28, "name=one name"));
    ft_graph_free(a);
    ft_graph_free(b);
    ft_graph_free(c);
}

TEST(a_sum_counts_occurrences_and_their_errors_are_one)
{
    ft_store *s = empty();
    ft_graph *g = three_kinds(3, 2, 1);
    ft_validate_options how = {0};
    ft_validated *v;
    size_t n;

    put(s, "slow", conv, "time", 0.5, 0.1);
    put(s, "slow", conv, "time", 1.0, 0.1); /* the newer one counts */
    put(s, "slow", relu, "time", 0.1, 0.02);
    put(s, "slow", add, "time", 0.05, NAN);
    put_network(s, "slow", g, "time", 3.5, 0.05);
    CHECK(!ft_validate_stored(&v, &n, s, &(ft_key){0}, g, &how, NULL) && EQ(n, 1));
    CHECK(SAME(v->device, "board") && SAME(v->setting, "slow"));
    CHECK_NEAR(v->sum[FT_QUANTITY_TIME].value, 3 * 1.0 + 2 * 0.1 + 0.05, 1e-12);
    CHECK_NEAR(v->sum[FT_QUANTITY_TIME].sigma, sqrt(0.3 * 0.3 + 0.04 * 0.04), 1e-12);
    CHECK_NEAR(v->measured[FT_QUANTITY_TIME].value, 3.5, 0);
    CHECK_NEAR(v->measured[FT_QUANTITY_TIME].sigma, 0.05, 0);
    CHECK(EQ(v->n_kinds, 3) && EQ(v->kind[0].kind, FT_KIND_conv2d) &&
          EQ(v->kind[2].kind, FT_KIND_add));
    CHECK_NEAR(v->kind[0].time_s, 3, 1e-12);
    CHECK(EQ(v->n_priced, 3) && EQ(v->n_ops, 3) && EQ(v->n_unpriced, 0));
    CHECK(isnan(v->predicted[FT_QUANTITY_TIME].value) &&
          *v->predicted[FT_QUANTITY_TIME].why);
    ft_validated_free(v);
    free(v);
    ft_graph_free(g);
    ft_store_close(s);
}

TEST(what_is_missing_is_named_and_energy_needs_every_operation)
{
    ft_store *s = empty();
    ft_graph *g = three_kinds(1, 2, 4);
    ft_validate_options how = {0};
    ft_validated *v;
    size_t n;

    put(s, "", conv, "time", 1, 0.1);
    put(s, "", conv, "energy", 10, 1);
    put(s, "", relu, "time", 1, 0.1);
    put_network(s, "", g, "time", 5, 0.1);
    put_network(s, "", g, "energy", 50, 1);
    CHECK(!ft_validate_stored(&v, &n, s, &(ft_key){0}, g, &how, NULL) && EQ(n, 1));
    CHECK(EQ(v->n_unpriced, 1) && EQ(v->unpriced[0].count, 4) &&
          EQ(v->unpriced[0].op.kind, FT_KIND_add) && *v->unpriced[0].why);
    CHECK_NEAR(v->sum[FT_QUANTITY_TIME].value, 3, 1e-12);
    CHECK(isnan(v->sum[FT_QUANTITY_ENERGY].value));
    CHECK(HAS(v->sum[FT_QUANTITY_ENERGY].why, "2 of 3"));
    CHECK_NEAR(v->measured[FT_QUANTITY_ENERGY].value, 50, 0);
    CHECK(isnan(v->measured[FT_QUANTITY_MEMORY].value));
    ft_validated_free(v);
    free(v);
    put(s, "", relu, "energy", 1, 0.5);
    put(s, "", add, "energy", 2, 0.25);
    CHECK(!ft_validate_stored(&v, &n, s, &(ft_key){0}, g, &how, NULL));
    CHECK_NEAR(v->sum[FT_QUANTITY_ENERGY].value, 10 + 2 + 8, 1e-12);
    CHECK_NEAR(v->sum[FT_QUANTITY_ENERGY].sigma, sqrt(3), 1e-12);
    ft_validated_free(v);
    free(v);
    ft_graph_free(g);
    ft_store_close(s);
}

TEST(every_dataset_with_the_network_is_found_and_filtered)
{
    ft_store *s = empty();
    ft_graph *g = three_kinds(1, 1, 1), *other = three_kinds(1, 1, 2);
    ft_validate_options how = {0};
    ft_error err = {0};
    ft_validated *v;
    size_t n;

    put_network(s, "clock=600MHz", g, "time", 2, 0.1);
    put_network(s, "clock=600MHz", g, "time", 2, 0.1);
    put_network(s, "clock=900MHz", g, "time", 1, 0.1);
    CHECK(!ft_validate_stored(&v, &n, s, &(ft_key){0}, g, &how, NULL) && EQ(n, 2));
    CHECK(isnan(v[0].sum[FT_QUANTITY_TIME].value) && EQ(v[0].n_unpriced, 3));
    for (size_t i = 0; i < n; i++)
        ft_validated_free(&v[i]);
    free(v);
    CHECK(!ft_validate_stored(&v, &n, s, &(ft_key){.setting = "clock=900MHz"}, g, &how,
                              NULL) &&
          EQ(n, 1));
    CHECK_NEAR(v->measured[FT_QUANTITY_TIME].value, 1, 0);
    ft_validated_free(v);
    free(v);
    CHECK(EQ(ft_validate_stored(&v, &n, s, &(ft_key){0}, other, &how, &err),
             FT_ENOTFOUND) &&
          !v && !n && HAS(err.msg, "net"));
    ft_graph_free(g);
    ft_graph_free(other);
    ft_store_close(s);
}

TEST(kinds_that_take_longer_in_networks_are_found)
{
    enum { N = 12 };
    ft_store *s = empty();
    ft_validate_options how = {0};
    ft_validated all[N];
    ft_kind_effect *e;
    ft_errors errors;
    ft__prng rng = {7};
    size_t n_kinds;
    double sum = 0;

    put(s, "", conv, "time", 1e-3, 0);
    put(s, "", relu, "time", 1e-3, 0);
    put(s, "", add, "time", 1e-3, 0);
    for (int i = 0; i < N; i++) {
        int convs = 5 + (int)ft__prng_below(&rng, 40);
        int relus = 5 + (int)ft__prng_below(&rng, 40);
        int adds = 5 + (int)ft__prng_below(&rng, 40);
        ft_graph *g = three_kinds(convs, relus, adds);
        ft_validated *v;
        size_t n;

        /* Alone 1 ms each; in a network convolutions 1.3, additions half. */
        put_network(s, "", g, "time", 1e-3 * (1.3 * convs + relus + 0.5 * adds), 0);
        CHECK(!ft_validate_stored(&v, &n, s, &(ft_key){0}, g, &how, NULL));
        all[i] = *v;
        sum +=
            fabs((convs + relus + adds) / (1.3 * convs + relus + 0.5 * adds) - 1) / N;
        free(v);
        ft_graph_free(g);
    }
    CHECK(!ft_validated_kinds(&e, &n_kinds, all, N, NULL) && EQ(n_kinds, 3));
    for (size_t k = 0; k < n_kinds; k++)
        CHECK_NEAR(e[k].factor,
                   e[k].kind == FT_KIND_conv2d ? 1.3
                   : e[k].kind == FT_KIND_add  ? 0.5
                                               : 1,
                   0.03);
    CHECK(EQ(e[2].kind, FT_KIND_relu) && EQ(e[0].n_networks, N));
    free(e);
    CHECK(!ft_validated_errors(&errors, all, N, FT_QUANTITY_TIME, FT_ESTIMATOR_SUM,
                               NULL));
    CHECK_EQ(errors.n, N);
    CHECK_NEAR(errors.mape, sum, 1e-12);
    CHECK(!ft_validated_errors(&errors, all, N, FT_QUANTITY_TIME,
                               FT_ESTIMATOR_PREDICTION, NULL) &&
          EQ(errors.n, 0));
    CHECK(!ft_validated_kinds(&e, &n_kinds, all, 2, NULL) && EQ(n_kinds, 3) &&
          isnan(e[0].factor) && CMP(e[0].share, >=, e[1].share));
    free(e);
    for (int i = 0; i < N; i++)
        ft_validated_free(&all[i]);
    ft_store_close(s);
}

static ft_session *open_fake(const char *options)
{
    return fake_session(options, plugin_dir, "");
}

TEST(operations_and_network_take_turns_and_agree)
{
    ft_session *s = open_fake("noise=0.02");
    ft_store *store = empty();
    ft_graph *g = three_kinds(20, 10, 10);
    ft_validate_options how = {.time_s = 0.05, .op_time_s = 0.01, .rounds = 3};
    ft_validated v, again;
    ft_figure *sum = &v.sum[FT_QUANTITY_TIME],
              *measured = &v.measured[FT_QUANTITY_TIME];

    CHECK(!ft_validate_network(&v, s, store, g, &how, NULL));
    CHECK(EQ(v.n_rounds, 3) && CMP(v.round[2].begin_s, >, v.round[0].begin_s));
    CHECK_EQ(v.round[2].first + v.round[2].n, v.n_readings);
    CHECK(EQ(v.n_priced, 3) && EQ(v.n_unpriced, 0));
    CHECK(CMP(fabs(sum->value / measured->value - 1), <, 0.02));
    CHECK(CMP(fabs(sum->value - measured->value), <,
              5 * hypot(sum->sigma, measured->sigma)));
    CHECK(CMP(v.shared, >, 0) && CMP(v.shared, <, 0.01));
    CHECK(CMP(sum->sigma, >=, v.shared * sum->value));
    ft_validated_free(&v);
    /* Nothing is left to measure, but the network is measured anew. */
    CHECK(!ft_validate_network(&again, s, store, g, &how, NULL));
    CHECK(EQ(again.n_rounds, 3) && EQ(again.n_priced, 3));
    ft_validated_free(&again);
    ft_graph_free(g);
    ft_store_close(store);
    ft_session_close(s);
}

/* A convolution and what follows it, 3 to 8 times, each of another size. */
static ft_graph *chain(int i)
{
    static const char *const then[] = {"relu", "tanh", "sigmoid"};
    char name[16], text[2048];
    size_t at = 0;

    for (int k = 0; k < 3 + i; k++) {
        int channels = 8 + 4 * i + 8 * k;

        at += (size_t)snprintf(text + at, sizeof(text) - at,
                               "conv2d x=1x%dx8x8 out=%d kernel=3x3 stride=1x1 pad=1x1 "
                               "dtype=fp32\n%s x=1x%dx8x8 dtype=fp32\n",
                               channels, channels, then[(i + k) % 3], channels);
    }
    snprintf(name, sizeof(name), "chain%d", i);
    return list(name, text);
}

static double validated(ft_session *s, ft_store *store, const ft_graph *g, double *sum)
{
    ft_validate_options how = {.time_s = 0.05, .op_time_s = 0.01, .rounds = 3};
    ft_validated v;
    double time_s;

    CHECK(!ft_validate_network(&v, s, store, g, &how, NULL));
    time_s = v.measured[FT_QUANTITY_TIME].value;
    *sum = v.sum[FT_QUANTITY_TIME].value;
    ft_validated_free(&v);
    return time_s;
}

/* Each operation takes 2 us more where another one ran before it. */
TEST(networks_say_what_lies_between_operations)
{
    ft_session *s = open_fake("noise=0.02,between=2e-6");
    ft_store *store = empty(), *apart = empty();
    ft_train_options how = {.seed = 1, .n_trees = 8, .threads = 1};
    ft_collect_report report;
    ft_predictor *p = NULL;
    ft_predictor_schedule found;
    ft_predictor_info info;
    ft_error err = {0};
    double sum;

    for (int i = 0; i < 6; i++) {
        ft_graph *g = chain(i);

        if (i < 3) {
            const double time_s = validated(s, store, g, &sum);

            CHECK(CMP(time_s, >, 1.05 * sum));
        } else {
            CHECK(!ft_collect(&report, s, store, g->op, g->op_count, g->n_ops,
                              &(ft_collect_options){.op_time_s = 0.01}, NULL));
        }
        ft_graph_free(g);
    }
    how.filter = (ft_key){.device = ft_session_get(s)->device,
                          .setting = ft_session_get(s)->setting,
                          .engine = "fake"};
    CHECK(!ft_predictor_train(&p, store, &how, &err));
    if (!p)
        exit(1);
    ft_predictor_get_info(p, &info);
    CHECK(EQ(info.n_schedules, 1));
    ft_predictor_get_schedule(p, 0, &found);
    CHECK(EQ(found.n, 3) && CMP(found.error, <, 0.3 * found.without));
    CHECK(CMP(fabs(found.launch_s - 4e-6), <, 0.6e-6));
    for (int i = 3; i < 6; i++) {
        ft_graph *g = chain(i), *lowered = NULL;
        double time_s = validated(s, apart, g, &sum);
        ft__device_use on = {.name = ft_session_get(s)->device};
        ft__network_estimate e;

        CHECK(!ft__graph_lower(&lowered, g, ft_session_get(s)->policy, &err));
        CHECK(!ft__predict_network(&e, p, &on, lowered, &err));
        CHECK(CMP(time_s, >, 1.02 * sum));
        CHECK(CMP(fabs(e.time.value / time_s - 1), <, 0.02));
        CHECK(CMP(e.time.low, <, time_s) && CMP(time_s, <, e.time.high));
        ft__network_estimate_free(&e);
        ft_graph_free(lowered);
        ft_graph_free(g);
    }
    ft_predictor_free(p);
    ft_store_close(apart);
    ft_store_close(store);
    ft_session_close(s);
}

TEST(an_operation_the_engine_refuses_says_why)
{
    ft_session *s = open_fake("fail_kind=add");
    ft_store *store = empty();
    ft_graph *g = three_kinds(1, 1, 1);
    ft_validate_options how = {.time_s = 0.01, .op_time_s = 0.01};
    ft_validated v;

    /* Nor does the engine run the network, then; the sum of the others stands. */
    CHECK(!ft_validate_network(&v, s, store, g, &how, NULL));
    CHECK(isnan(v.measured[FT_QUANTITY_TIME].value) && EQ(v.n_rounds, 0));
    CHECK(HAS(v.measured[FT_QUANTITY_TIME].why, "add"));
    CHECK(EQ(v.n_priced, 2) && CMP(v.sum[FT_QUANTITY_TIME].value, >, 0));
    CHECK(EQ(v.n_unpriced, 1) && HAS(v.unpriced[0].why, "add"));
    ft_validated_free(&v);
    ft_graph_free(g);
    ft_store_close(store);
    ft_session_close(s);
}

int main(int argc, char **argv)
{
    plugin_dir = argc > 2 ? argv[2] : "";
    check_all();
    CHECK_DONE();
}
