/* The host's share of an answer: run modes, launches, views. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "nets.h"
#include "predict/query/network.h"
#include "query_rig.h"

TEST(a_host_is_named_or_not_known)
{
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;

    q.run_mode = "eager";
    q.host = "no-such-processor";
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    CHECK(SAME(a->host, "not known") && SAME(a->run_mode, "eager"));
    CHECK(a->n_warnings && EQ(a->warning[0]->code, FT_REMARK_OTHER_HOST));
    CHECK(HAS(a->warning[0]->text, "no-such-processor"));
    ft_answer_free(a);
    q.run_mode = "graph"; /* nothing is launched */
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    CHECK(!*a->host && SAME(a->run_mode, "graph") && !*a->verify);
    for (size_t i = 0; i < a->n_warnings; i++)
        CHECK(CMP(a->warning[i]->code, !=, FT_REMARK_OTHER_HOST));
    ft_answer_free(a);
    q.host = "two words";
    CHECK_EQ(ft_query_ask(&a, d, &q, NULL), FT_EINVAL);
    ft_data_close(d);
}

/* A table of n short lists of operations, each with what it took by hand: 7 us for each
 * launch, 0.8 of that for the call, and no more than that for a device
 * that waits. */
TEST(a_few_timed_models_tell_what_a_launch_takes)
{
    static const struct {
        const char *text;
        double launches;
    } models[] = {{"softmax x=10x100 axis=1 dtype=fp32\n", 1},
                  {"softmax x=10x100 axis=1 dtype=fp32 *30\n", 30},
                  {"softmax x=5x100 axis=1 dtype=fp32 *8\n", 8},
                  {"relu x=400000000 dtype=fp32\n", 1}}; /* hangs on no host */
    char folder[] = "/tmp/foretell-launch-XXXXXX", path[64], command[96], row[64];
    ft_data *d = open_data();
    ft_query q = about_list();
    double launch_s = 0, waits_s;
    ft_error err = {0};
    ft_status st;
    FILE *f;

    CHECK(mkdtemp(folder));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/m%d.txt", folder, i);
        write_text(path, models[i].text);
    }
    snprintf(path, sizeof(path), "%s/timed.csv", folder);
    f = fopen(path, "w");
    CHECK(f && CMP(fprintf(f, "time_s,model\n"), >, 0));
    for (int i = 0; f && i < 4; i++)
        fprintf(f, "%.9g,m%d.txt\n", 7e-6 * (0.8 + models[i].launches) + 2e-6, i);
    CHECK(f && !fclose(f));
    CHECK_EQ(ft_launch_time(&launch_s, d, &q, path, NULL), FT_OK);
    CHECK_NEAR(launch_s, 7e-6, 0.5e-6);
    q.list = models[1].text;
    q.list_len = strlen(q.list);
    waits_s = ask(&st, d, &q);
    q.launch_s = launch_s;
    CHECK(CMP(ask(&st, d, &q), <, 0.5 * waits_s));
    q.run_mode = "graph";
    q.launch_s = 0;
    CHECK_EQ(ft_launch_time(&launch_s, d, &q, path, NULL),
             FT_OK); /* the call's launches */
    q.run_mode = "eager";
    q.method = "physics";
    snprintf(path, sizeof(path), "%s/relu.txt", folder);
    write_text(path, "relu x=5x100 dtype=fp32\n");
    snprintf(path, sizeof(path), "%s/relu.csv", folder); /* 0.6 of a launch */
    snprintf(row, sizeof(row), "model,time_s\nrelu.txt,%.9g\n",
             7e-6 * (0.8 + 0.6) + 3e-6);
    write_text(path, row);
    CHECK_EQ(ft_launch_time(&launch_s, d, &q, path, NULL), FT_OK);
    CHECK_NEAR(launch_s, 7e-6, 0.5e-6);
    write_text(
        path,
        "spec,time_s\nrelu x=5x100 dtype=fp32,5.16e-6\n"
        "softmax x=5x100 axis=1 dtype=fp32,7.62e-6\n"); /* 3 us of the device at once */
    CHECK_EQ(ft_launch_time(&launch_s, d, &q, path, NULL), FT_OK);
    CHECK_NEAR(launch_s, 7e-6, 0.5e-6);
    write_text(path,
               "spec,time_s\n\"relu x=5x100 dtype=fp32\nrelu x=5x100 dtype=fp32\","
               "5.16e-6\n");
    CHECK_EQ(ft_launch_time(&launch_s, d, &q, path, &err), FT_EFORMAT);
    CHECK(strstr(err.msg, "one operation a row"));
    write_text(path, "spec,time_s\n");
    CHECK_EQ(ft_launch_time(&launch_s, d, &q, path, &err), FT_EINVAL);
    CHECK(strstr(err.msg, "nothing in it hangs on the host"));
    q.device = "xeon-e5-2680v3"; /* launches nothing */
    CHECK_EQ(ft_launch_time(&launch_s, d, &q, path, NULL), FT_EINVAL);
    q.launch_s = -1;
    ask(&st, d, &q);
    CHECK_EQ(st, FT_EINVAL);
    ft_data_close(d);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK_EQ(system(command), 0);
}

/* Nothing takes time: neither does a phase of it. */
TEST(views_take_no_time_in_any_phase)
{
    static const char views[] = "view x=4x8 out=32 dtype=fp32\n";
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;

    q.method = "physics";
    q.list = views;
    q.list_len = sizeof(views) - 1;
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    CHECK(EQ(a->time.high, 0));
    for (int p = 0; p < FT_PHASE_COUNT; p++)
        CHECK(EQ(a->phase_time[p].low, 0) && EQ(a->phase_time[p].high, 0));
    ft_answer_free(a);
    ft_data_close(d);
}

static double host_of(ft_data *d, const char *list, const char *run_mode)
{
    ft_query q = about_list();
    ft_answer *a;
    double s;

    q.method = "physics";
    q.run_mode = run_mode;
    q.list = list;
    q.list_len = strlen(list);
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    s = a->host_s;
    ft_answer_free(a);
    return s;
}

/* Between operations that wait for the host, which makes a tensor of each view. */
TEST(views_take_the_time_of_the_host)
{
    static const char relu[] = "relu x=4x8 dtype=fp32\n",
                      viewed[] =
                          "relu x=4x8 dtype=fp32\nview x=4x8 out=32 dtype=fp32\n";
    ft_data *d = open_data();

    CHECK(CMP(host_of(d, viewed, "eager"), >, 1.05 * host_of(d, relu, "eager")));
    CHECK_NEAR(host_of(d, viewed, "graph"), host_of(d, relu, "graph"), 0);
    ft_data_close(d);
}

#define CONV "conv2d x=2x8x4x4 out=8 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32"
#define TRANSPOSED                                                                     \
    "conv_transpose2d x=2x8x4x4 out=8 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32"

/* NeuSight's shortest rows of a T4 and an A100: elementwise 25 us, linear 51, softmax
 * 32, layernorm 45. KernelBench's modules that the host holds back, in times of an
 * elementwise operation with its call: convolutions 2.45, norms that train 2.96,
 * logsumexp 4.15. Sums and depthwise convolutions ask no library either. */
TEST(libraries_take_more_of_the_host_than_elementwise_kernels)
{
    static const struct {
        const char *list;
        double s;
    } rows[] = {{"add x=4x8 y=4x8 dtype=fp32\n", 25e-6},
                {"softmax x=4x8 axis=1 dtype=fp32\n", 32e-6},
                {"layernorm x=4x8 norm=1 dtype=fp32\n", 45e-6},
                {"linear x=4x8 out=8 dtype=fp32\n", 51e-6},
                {CONV "\n", 2.45 * 25e-6},
                {"batchnorm x=2x8x4x4 train=1 dtype=fp32\n", 2.96 * 25e-6},
                {"reduce_logsumexp x=4x8 axes=1 dtype=fp32\n", 4.15 * 25e-6},
                {"reduce_sum x=4x8 axes=1 dtype=fp32\n", 25e-6},
                {CONV " groups=8\n", 1.71 * 25e-6}};
    ft_data *d = open_data();
    const double add = host_of(d, rows[0].list, "eager");

    for (size_t i = 1; i < sizeof(rows) / sizeof(*rows); i++)
        CHECK_NEAR(host_of(d, rows[i].list, "eager") / add, rows[i].s / rows[0].s,
                   0.17);
    CHECK_NEAR(host_of(d, TRANSPOSED " groups=8\n", "eager") /
                   host_of(d, TRANSPOSED "\n", "eager"),
               1, 0.02); /* a library's, whatever the groups */
    ft_data_close(d);
}

TEST(a_gradient_takes_more_than_its_forward_pass_alone)
{
    static const char *const kinds[] = {
        "relu x=4x8 dtype=fp32", "batchnorm x=2x8x4x4 train=1 dtype=fp32",
        "linear x=4x8 out=8 dtype=fp32", "reduce_logsumexp x=4x8 axes=1 dtype=fp32",
        CONV " groups=8"};
    static const char *const more[] = {"forward_backward", "step"};
    ft_data *d = open_data();
    char list[160];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        double forward_s;

        snprintf(list, sizeof(list), "%s\n", kinds[i]);
        forward_s = host_of(d, list, "eager");
        for (int k = 0; k < 2; k++) {
            snprintf(list, sizeof(list), "%s phase=%s\n", kinds[i], more[k]);
            CHECK(CMP(host_of(d, list, "eager"), >=, 1.1 * forward_s));
        }
    }
    ft_data_close(d);
}

static double width(const ft_estimate *e)
{
    return e->high / e->low;
}

/* Known: what a launch takes; then an operation that waits for the host is as sure as
 * that is, alone, too. What the device takes is as sure as before. */
TEST(a_launch_time_narrows_what_waits_for_the_host)
{
    static const char small[] = "softmax x=1x64 axis=1 dtype=fp32 *50\n",
                      large[] = "relu x=4096x65536 dtype=fp32 *50\n";
    const char *const list[] = {small, large};
    const size_t len[] = {sizeof(small) - 1, sizeof(large) - 1};
    ft_data *d = open_data();

    for (int i = 0; i < 2; i++) {
        ft_query q = about_list();
        ft_answer *a, *timed, *slow;

        q.method = "physics";
        q.list = list[i];
        q.list_len = len[i];
        CHECK(!ft_query_ask(&a, d, &q, NULL));
        q.launch_s = 18e-6; /* the default: the value stays */
        CHECK(!ft_query_ask(&timed, d, &q, NULL));
        CHECK_NEAR(timed->time.value / a->time.value, 1, 1e-9);
        CHECK_NEAR(width(&timed->time) / width(&a->time), i ? 1 : 0.40,
                   i ? 0.01 : 0.05);
        if (i == 0) /* hosts twice as fast are not unheard of */
            CHECK(CMP(a->time.low, <, 0.4 * a->time.value));
        q.launch_s = 36e-6;
        CHECK(!ft_query_ask(&slow, d, &q, NULL));
        CHECK_NEAR(slow->op[0]->time.value / timed->op[0]->time.value, i ? 1 : 2, 0.03);
        CHECK(CMP(width(&slow->op[0]->time), <, 2.8));
        ft_answer_free(a);
        ft_answer_free(timed);
        ft_answer_free(slow);
    }
    ft_data_close(d);
}

/* What softmax takes, in times of the other operation. */
static double times_of_other(ft_data *d, const ft_query *q)
{
    ft_answer *a;
    double times;
    int first;

    CHECK(!ft_query_ask(&a, d, q, NULL) && EQ(a->by, FT_ANSWERED_BY_FAMILY));
    first = !strncmp(a->op[0]->spec, "softmax", 7);
    times = a->op[!first]->time.value / a->op[first]->time.value;
    ft_answer_free(a);
    return times;
}

/* Small elementwise operations took hosts 0.85 of what softmax took them, and a slower
 * host is as much slower for both. */
TEST(a_launch_time_keeps_what_was_learned_of_kinds)
{
    static const char list[] = "softmax x=16x64 axis=1 dtype=fp32\n"
                               "add x=16x64 y=16x64 dtype=fp32\n";
    ft_data *d = open_data();
    ft_query q = about_list();
    double learned;

    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.engine = "torch";
    learned = times_of_other(d, &q);
    q.launch_s = 60e-6;
    CHECK_NEAR(times_of_other(d, &q) / learned, 1, 0.03);
    ft_data_close(d);
}

/* Of small operations learned beside other hosts, too. */
TEST(a_launch_time_narrows_what_was_learned)
{
    static const char list[] = "softmax x=16x64 axis=1 dtype=fp32\n";
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a, *timed;

    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.engine = "torch";
    CHECK(!ft_query_ask(&a, d, &q, NULL) && EQ(a->by, FT_ANSWERED_BY_FAMILY));
    q.launch_s = 30e-6;
    CHECK(!ft_query_ask(&timed, d, &q, NULL));
    CHECK(CMP(width(&timed->op[0]->time), <, 0.9 * width(&a->op[0]->time)));
    ft_answer_free(a);
    ft_answer_free(timed);
    ft_data_close(d);
}

/* Rows of the device say what its host takes: told as well, it counts once. */
TEST(a_launch_time_does_not_count_beside_rows_of_the_host)
{
    static const char path[] = "test_query_host-few.csv",
                      list[] = "softmax x=20x64 axis=1 dtype=fp32\n";
    char text[1024] = COLUMNS;
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a, *both;

    for (int n = 1; n <= 6; n++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "a30,,torch,2.3,softmax x=%dx64 axis=1 dtype=fp32,forward,default,"
                 "time,s,60e-6,,,,,1,1,0,1\n",
                 16 * n);
    write_text(path, text);
    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.engine = "torch";
    q.correct = path;
    CHECK(!ft_query_ask(&a, d, &q, NULL) && EQ(a->n_known, 6));
    CHECK_NEAR(a->op[0]->time.value / 60e-6, 1, 0.2);
    q.launch_s = 60e-6;
    CHECK(!ft_query_ask(&both, d, &q, NULL));
    CHECK_EQ(both->op[0]->time.value, a->op[0]->time.value);
    remove(path);
    ft_answer_free(a);
    ft_answer_free(both);
    ft_data_close(d);
}

/* Measured beside a P100's slow host: told as well, that counts once, and a faster one
 * makes nothing slower, nor faster than the device. */
TEST(a_launch_time_counts_once_where_the_device_was_measured)
{
    static const char *const list[] = {"softmax x=20x64 axis=1 dtype=fp32\n",
                                       "add x=20x64 y=20x64 dtype=fp32\n"};
    ft_data *d = open_data();
    double launch_s = 0;

    for (int i = 0; i < 2; i++) {
        ft_query q = about_list();
        ft_answer *a, *same, *faster, *least;

        q.device = "p100-pcie-16gb";
        q.engine = "torch";
        q.list = list[i];
        q.list_len = strlen(list[i]);
        CHECK(!ft_query_ask(&a, d, &q, NULL) && EQ(a->by, FT_ANSWERED_BY_FAMILY));
        launch_s = i ? launch_s : a->op[0]->time.value;
        q.launch_s = launch_s;
        CHECK(!ft_query_ask(&same, d, &q, NULL));
        if (i == 0)
            CHECK_NEAR(same->op[0]->time.value / launch_s, 1, 0.1);
        q.launch_s = 0.6 * launch_s;
        CHECK(!ft_query_ask(&faster, d, &q, NULL));
        CHECK(CMP(faster->op[0]->time.value, <, a->op[0]->time.value));
        q.launch_s = 1e-6;
        CHECK(!ft_query_ask(&least, d, &q, NULL));
        CHECK(CMP(least->op[0]->time.value, >=, least->op[0]->device_time.value));
        ft_answer_free(a);
        ft_answer_free(same);
        ft_answer_free(faster);
        ft_answer_free(least);
    }
    ft_data_close(d);
}

/* Rows of large products, n of them, as many as they are big. */
static void write_products(const char *path, int n)
{
    char text[2048] = COLUMNS;

    for (int i = 1; i <= n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "a30,,torch,2.3,matmul x=%dx1024 y=1024x1024 dtype=fp32,forward,"
                 "default,time,s,%g,,,,,1,1,0,1\n",
                 1024 * i, 2.4e-4 * i);
    write_text(path, text);
}

/* Not of large products, which say nothing of the host. */
TEST(a_launch_time_counts_beside_rows_that_wait_for_no_host)
{
    static const char path[] = "test_query_host-large.csv",
                      list[] = "softmax x=20x64 axis=1 dtype=fp32\n";
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;

    write_products(path, 6);
    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.engine = "torch";
    q.correct = path;
    q.launch_s = 60e-6;
    CHECK(!ft_query_ask(&a, d, &q, NULL) && EQ(a->n_known, 6));
    CHECK_NEAR(a->op[0]->time.value / 60e-6, 1, 0.2);
    remove(path);
    ft_answer_free(a);
    ft_data_close(d);
}

static const ft_answer_op *named(const ft_answer *a, const char *part)
{
    size_t i = 0;

    while (!strstr(a->op[i]->spec, part))
        i++;
    return a->op[i];
}

/* Products of fp32 say little of those of 8 bits, which no device of the predictor
 * made, and too few of them nothing of a kind that none did. */
TEST(what_nobody_measured_stays_as_unsure_beside_other_rows)
{
    static const char path[] = "test_query_host-other.csv",
                      list[] = "matmul x=1024x1024 y=1024x1024 dtype=int8\n"
                               "cumsum x=512x4096 axis=1 dtype=fp32\n"
                               "relu x=4096x4096 dtype=fp32\n";
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a, *b;

    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.engine = "torch";
    CHECK(!ft_query_ask(&a, d, &q, NULL) && EQ(a->by, FT_ANSWERED_BY_FAMILY));
    q.correct = path;
    for (int n = 2; n <= 6; n += 4) {
        write_products(path, n);
        CHECK(!ft_query_ask(&b, d, &q, NULL));
        CHECK(CMP(width(&named(b, "int8")->time), >=,
                  0.999 * width(&named(a, "int8")->time)));
        if (n == 2)
            CHECK_NEAR(named(b, "cumsum")->time.value, named(a, "cumsum")->time.value,
                       1e-12);
        ft_answer_free(b);
    }
    remove(path);
    ft_answer_free(a);
    ft_data_close(d);
}

/* An operation that waits longer for its launches draws less, down to what idles. */
TEST(a_launch_time_lowers_what_waiting_draws)
{
    static const char small[] = "relu x=1x64 dtype=fp32\n";
    static const double launch_s[] = {9e-6, 100e-6};
    ft_data *d = open_data();
    double power_w[2];

    for (int i = 0; i < 2; i++) {
        ft_query q = about_list();
        ft_answer *a;

        q.method = "physics";
        q.list = small;
        q.list_len = sizeof(small) - 1;
        q.launch_s = launch_s[i];
        CHECK(!ft_query_ask(&a, d, &q, NULL));
        power_w[i] = a->op[0]->power.value;
        CHECK_NEAR(a->op[0]->energy.value / (a->op[0]->time.value * power_w[i]), 1,
                   1e-9);
        ft_answer_free(a);
    }
    CHECK(CMP(power_w[1], <, 0.99 * power_w[0]));
    ft_data_close(d);
}

/* A V100 was measured eager: replayed, its device does what it does then. */
TEST(a_replayed_graph_has_no_launches_of_eager_measurements)
{
    static const char list[] = "softmax x=16x4096 axis=1 dtype=fp32 *9\n";
    static const char *const mode[] = {"eager", "graph"};
    double device_s[2];
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;

    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.device = "v100-pcie-32gb";
    for (int i = 0; i < 2; i++) {
        q.run_mode = mode[i];
        CHECK(!ft_query_ask(&a, d, &q, NULL));
        CHECK(EQ(a->by, FT_ANSWERED_BY_FAMILY));
        device_s[i] = a->op[0]->device_time.value;
        ft_answer_free(a);
    }
    CHECK_NEAR(device_s[1] / device_s[0], 1, 1e-9);
    ft_data_close(d);
}

/* Products were measured in replayed graphs, whose times have no launches to take off:
 * not where the clock is named either. */
TEST(a_clock_takes_no_launches_off_measurements_without_them)
{
    static const char list[] = "linear x=1024x1024 out=1024 dtype=bf16 *9\n";
    static const char *const setting[] = {NULL, "clock=1410MHz"};
    double device_s[2];
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;

    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.device = "a100-pcie-40gb";
    q.run_mode = "eager";
    for (int i = 0; i < 2; i++) {
        q.setting = setting[i];
        CHECK(!ft_query_ask(&a, d, &q, NULL));
        CHECK(EQ(a->by, FT_ANSWERED_BY_FAMILY));
        device_s[i] = a->op[0]->device_time.value;
        ft_answer_free(a);
    }
    CHECK_NEAR(device_s[1] / device_s[0], 1, 0.01);
    ft_data_close(d);
}

/* A network of one layer, a forward pass or a training step, asked in a run mode, which
 * it answers in another one: it says why. */
static void answers_in(const char *run_mode, const char *asked, const char *why,
                       const char *mode, const char *spec, ft_shape in,
                       ft_shape of_weights)
{
    ft__build *b = ft__build_new("layer");
    uint32_t x = input(b, in), p[4];
    ft_data *d = open_data();
    ft_query q = FT_QUERY_INIT;
    ft_graph *g;
    ft_answer *a;
    bool said = false;

    for (int i = 0; i < 4; i++)
        p[i] = weight(b, "w", of_weights);
    x = layer(b, spec, &x, 1, p, 4);
    q.graph = g = finish(b, x);
    q.device = "a30";
    q.run_mode = asked;
    q.mode = mode;
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    CHECK(SAME(a->run_mode, run_mode));
    for (size_t i = 0; i < a->n_assumptions; i++)
        if (a->assumption[i]->code == FT_REMARK_RUN_MODE) {
            CHECK(HAS(a->assumption[i]->text, why));
            said = true;
        }
    CHECK_EQ(said, strcmp(run_mode, asked) != 0);
    ft_answer_free(a);
    q.totals = 1; /* as rank asks */
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    CHECK_EQ(a->n_assumptions, said);
    CHECK(!said || (EQ(a->assumption[0]->code, FT_REMARK_RUN_MODE) &&
                    HAS(a->assumption[0]->text, why)));
    ft_answer_free(a);
    ft_graph_free(g);
    ft_data_close(d);
}

TEST(statistics_are_kept_without_a_graph)
{
    static const char train[] = "batchnorm x=2x4x8x8 train=1";
    const ft_shape x = {4, {2, 4, 8, 8}}, w = {1, {4}};

    answers_in("cudagraphs", "cudagraphs", "", NULL, "batchnorm x=2x4x8x8", x, w);
    answers_in("eager", "cudagraphs", "batch norms keep statistics", NULL, train, x, w);
    answers_in("graph", "graph", "", NULL, train, x, w);
    answers_in("compiled-graph", "compiled-graph", "", NULL, train, x, w);
}

/* KernelBench's take an L40S as long in every run mode of torch.compile. */
TEST(recurrent_layers_are_issued)
{
    static const char spec[] = "gru x=512x10x256 hidden=256",
                      why[] = "breaks its graph at recurrent layers";
    const ft_shape x = {3, {512, 10, 256}}, w = {2, {768, 256}};

    answers_in("eager", "cudagraphs", why, NULL, spec, x, w);
    answers_in("compiled", "compiled-graph", why, NULL, spec, x, w);
    answers_in("eager", "cudagraphs", why, "training", spec, x, w);
    answers_in("compiled", "compiled-graph", why, "training", spec, x, w);
    answers_in("graph", "graph", "", NULL, spec, x, w);
}

/* A network on an A30, compiled, which is freed: s a pass, and of the host. */
static void ask_compiled(double *time_s, double *host_s, ft_graph *g)
{
    ft_data *d = open_data();
    ft_query q = FT_QUERY_INIT;
    ft_answer *a;

    q.graph = g;
    q.device = "a30";
    q.method = "physics";
    q.run_mode = "compiled";
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    *time_s = a->time.value;
    *host_s = a->host_s;
    ft_answer_free(a);
    ft_graph_free(g);
    ft_data_close(d);
}

static void compiled(double *time_s, double *host_s, const char *spec, ft_shape shape,
                     uint32_t n_params)
{
    ft__build *b = ft__build_new("net");
    const uint32_t x = input(b, shape);
    const ft_shape channels = {1, {shape.dim[1]}};
    uint32_t p[4];

    for (uint32_t i = 0; i < n_params; i++)
        p[i] = weight(b, "w", channels);
    ask_compiled(time_s, host_s, finish(b, layer(b, spec, &x, 1, p, n_params)));
}

/* Attention behind a patch convolution: its scores are no images, whatever their rank.
 * Softmax is one kernel, as relu is. */
TEST(scores_behind_patches_lie_as_they_are)
{
    static const char *const last[] = {"softmax x=8x4x64x64 axis=3",
                                       "relu x=8x4x64x64"};
    double time_s[2], host_s[2];

    for (int i = 0; i < 2; i++) {
        ft__build *b = ft__build_new("vit");
        uint32_t t = input(b, (ft_shape){4, {8, 3, 64, 64}}), heads;

        t = with(b, "conv2d x=8x3x64x64 out=64 kernel=8x8 stride=8x8 pad=0x0", t,
                 weight(b, "w", (ft_shape){4, {64, 3, 8, 8}}));
        heads = one(b, "view x=8x64x8x8 out=8x4x16x64", t);
        t = one(b, "transpose x=8x4x16x64 perm=0x1x3x2", heads);
        t = two(b, "matmul x=8x4x64x16 y=8x4x16x64", t, heads);
        ask_compiled(&time_s[i], &host_s[i], finish(b, one(b, last[i], t)));
    }
    CHECK_NEAR(host_s[0] / host_s[1], 1, 1e-9);
}

/* Four launches of the call, and one a kernel. Sums of columns are in another order
 * than what they divide, which reads again; those of a batch's images are added up
 * apart. */
TEST(generated_kernels_are_issued_one_by_one)
{
    const ft_shape image = {4, {16, 64, 8, 8}}, rows = {3, {512, 512, 512}};
    double relu_s, norm_s, last_s, columns_s, host_s[2], waits_s[2];

    compiled(&relu_s, &host_s[0], "relu x=16x64x8x8", image, 0);
    compiled(&norm_s, &host_s[1], "batchnorm x=16x64x8x8 train=1", image, 4);
    CHECK_NEAR(host_s[1] / host_s[0], (4. + 3) / (4 + 1), 1e-9);
    compiled(&last_s, &waits_s[0], "softmax x=512x512x512 axis=2", rows, 0);
    compiled(&columns_s, &waits_s[1], "softmax x=512x512x512 axis=1", rows, 0);
    CHECK_NEAR(waits_s[1] / waits_s[0], (4. + 2) / (4 + 1), 1e-9);
    CHECK_NEAR(columns_s / last_s, 1.5, 0.1);
}

/* Host time of a compiled convolution of so many channels. */
static double convolution_host_s(int channels)
{
    ft__build *b = ft__build_new("net");
    const uint32_t x = input(b, (ft_shape){4, {16, channels, 32, 32}});
    const uint32_t w = weight(b, "w", (ft_shape){4, {16, channels, 3, 3}});
    double time_s, host_s;
    char spec[80];

    snprintf(spec, sizeof(spec),
             "conv2d x=16x%dx32x32 out=16 kernel=3x3 stride=1x1 pad=1x1", channels);
    ask_compiled(&time_s, &host_s, finish(b, with(b, spec, x, w)));
    return host_s;
}

/* TF32's four channels: cuDNN starts two kernels beside the convolution, each for 0.7
 * of a launch. */
TEST(kernels_that_pad_are_issued)
{
    double relu_s, relu_host_s;

    compiled(&relu_s, &relu_host_s, "relu x=16x64x8x8", (ft_shape){4, {16, 64, 8, 8}},
             0);
    CHECK_NEAR((convolution_host_s(3) - convolution_host_s(4)) / (relu_host_s / 5),
               2 * 0.7, 1e-9);
}

/* A list has no tensors, so that nothing is fused: a compiled network is called more
 * slowly, its channels lie last, and replaying it takes one call. */
TEST(run_modes_have_names)
{
    static const char *const mode[] = {"eager", "compiled", "graph", "compiled-graph",
                                       "cudagraphs"};
    static const char *const settings[] = {"clock=1000MHz", "clock=1200MHz"};
    double time_s[5];
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;
    ft_error err = {0};

    q.method = "physics";
    for (int i = 0; i < 5; i++) {
        q.run_mode = mode[i];
        CHECK(!ft_query_ask(&a, d, &q, NULL));
        CHECK(SAME(a->run_mode, mode[i]));
        time_s[i] = a->time.value;
        ft_answer_free(a);
    }
    CHECK(SAME(ft__run_mode_name(FT__RUN_FUSED | FT__RUN_COPIED), ""));
    CHECK(CMP(time_s[1], >, time_s[0]) && CMP(time_s[0], >, time_s[2]) &&
          CMP(time_s[4], >=, time_s[3]) && CMP(time_s[4], >, time_s[2]));
    q.run_mode = "Eager";
    CHECK(EQ(ft_query_ask(&a, d, &q, &err), FT_EINVAL) && strstr(err.msg, "compiled"));
    q.run_mode = "compiled";
    q.settings = settings;
    q.n_settings = 2;
    CHECK(EQ(ft_query_ask(&a, d, &q, &err), FT_EINVAL) &&
          strstr(err.msg, "one setting"));
    ft_data_close(d);
}
