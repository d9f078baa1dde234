/* Whole networks in every run mode: what a replay saves, and weights that no cache
 * holds.
 */
#include <math.h>

#include "query_rig.h"

static const char *const modes[] = {"eager", "graph", "compiled", "compiled-graph",
                                    "cudagraphs"};
enum { EAGER, GRAPH, COMPILED, COMPILED_GRAPH, CUDAGRAPHS, N_MODES };

static const char *model_file(char path[4200], const char *name)
{
    snprintf(path, 4200, "%s/models/%s.onnx", data_dir, name);
    return path;
}

/* Weights that the cache cannot hold, each read once at the rate of the data sheet, s.
 */
static double least_s(const ft_answer *a, const ft_query *q)
{
    ft_device *device;
    const ft_device_facts *f;
    double s;

    CHECK(!ft_device_load(&device, data_dir, q->device, NULL));
    f = ft_device_get(device);
    s = (a->part_bytes[FT_PART_WEIGHTS] - f->l2_bytes) / f->bandwidth_bytes_per_s;
    ft_device_free(device);
    return s;
}

static void in_all_modes(ft_data *d, ft_query *q)
{
    double time_s[N_MODES];

    for (int i = 0; i < N_MODES; i++) {
        ft_answer *a;

        q->run_mode = modes[i];
        CHECK(!ft_query_ask(&a, d, q, NULL));
        time_s[i] = a->time.value;
        CHECK(CMP(a->time.high, >=, least_s(a, q)));
        ft_answer_free(a);
    }
    CHECK(CMP(time_s[GRAPH], <=, 1.02 * time_s[EAGER]));
    CHECK(CMP(time_s[COMPILED_GRAPH], <=, 1.02 * time_s[COMPILED]));
}

/* Beyond noise, and but for the copies of torch.compile's backend. */
TEST(a_replay_is_no_slower_than_its_launches)
{
    static const char *const devices[] = {"l4",       "t4", "a100-sxm-40gb",
                                          "rtx-4090", "p4", "mi300x"};
    static const char *const names[] = {"resnet50", "vgg16", "bert-6", "mobilenet_v2"};
    static const char *const types[] = {"fp32", "fp16"};
    static const char *const methods[] = {NULL, "physics"};
    char path[4200];
    ft_data *d = open_data();
    ft_query q = FT_QUERY_INIT;

    q.totals = 1;
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
        for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
            for (uint64_t k = 0; k < 12; k++) {
                q.device = devices[i];
                q.model = model_file(path, names[j]);
                q.dtype = types[k % 2];
                q.method = methods[k / 2 % 2];
                q.batch = (int64_t[]){1, 8, 64}[k / 4];
                in_all_modes(d, &q);
            }
    ft_data_close(d);
}

/* Two operations: no call of torch.compile stands before a graph captured by hand. */
TEST(a_short_graph_is_no_slower_than_its_launches)
{
    ft_data *d = open_data();
    ft_query q = about_list();
    double time_s[2];
    ft_status st;

    for (int i = EAGER; i <= GRAPH; i++) {
        q.run_mode = modes[i];
        time_s[i] = ask(&st, d, &q);
    }
    CHECK(CMP(time_s[GRAPH], <, time_s[EAGER]));
    ft_data_close(d);
}

/* A ResNet-50 has 97 MiB of weights, an L4 48 MB of cache, and 0.96 and 0.48 GB/s with
 * its memory at 20 and 10 MHz. */
TEST(memory_at_a_low_clock_reads_weights_slowly)
{
    static const char *const settings[] = {"memory=20MHz", "memory=10MHz"};
    char path[4200];
    double one_s[2];
    ft_data *d = open_data();
    ft_query q = FT_QUERY_INIT;
    ft_answer *a;

    q.model = model_file(path, "resnet50");
    q.device = "l4";
    for (int64_t batch = 2; batch >= 1; batch--)
        for (int i = 0; i < 2; i++) {
            double share = 0;

            q.batch = batch;
            q.setting = settings[i];
            CHECK(!ft_query_ask(&a, d, &q, NULL));
            one_s[i] = a->time.value;
            for (size_t k = 0; k < a->n_ops; k++)
                share += a->op[k]->share;
            CHECK(CMP(one_s[i], >, 0.085 * (1 + i)) &&
                  CMP(a->time.low, <, 0.9 * one_s[i]));
            CHECK_NEAR(share, a->busy_s / a->time.value, 0.02);
            ft_answer_free(a);
        }
    CHECK_NEAR(one_s[1] / one_s[0], 2, 0.02);
    q.setting = NULL;
    q.settings = settings;
    q.n_settings = 2;
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    for (int i = 0; i < 2; i++)
        CHECK_NEAR(a->each[i].time_s, one_s[i], 0);
    ft_answer_free(a);
    ft_data_close(d);
}

/* 67 MB each: one fits the cache of an L40S, ten do not. */
TEST(weights_of_a_network_displace_each_other)
{
    static const char line[] = "linear x=10x4096 out=4096 bias=1 dtype=fp32 *%d\n";
    char text[80];
    double each_s[2];
    ft_data *d = open_data();
    ft_query q = about_list();

    q.device = "l40s";
    q.list = text;
    for (int i = 0; i < 2; i++) {
        ft_answer *a;

        q.list_len = (size_t)snprintf(text, sizeof(text), line, i ? 10 : 1);
        CHECK(!ft_query_ask(&a, d, &q, NULL));
        each_s[i] = a->op[0]->device_time.value;
        ft_answer_free(a);
    }
    CHECK(CMP(each_s[0], <, 67.1e6 / 864e9) && CMP(each_s[1], >, 67.1e6 / 864e9));
    ft_data_close(d);
}

/* Alone it displaces nothing but what it displaced when it was measured alone. */
TEST(an_operation_alone_is_a_network_of_one)
{
    static const char line[] = "linear x=1x4096 out=6144 bias=1 dtype=fp32\n";
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;

    q.device = "l40s";
    q.list = line;
    q.list_len = strlen(line);
    q.run_mode = modes[GRAPH];
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    CHECK_NEAR(a->op[0]->device_time.value / a->busy_s, 1, 1e-9);
    ft_answer_free(a);
    ft_data_close(d);
}

/* Where weights set the time, more rows are no faster, whatever the schedule's factor,
 * but for what is learned of what is left beside them. */
TEST(more_rows_are_no_faster)
{
    char text[80];
    double before = 0;
    ft_data *d = open_data();
    ft_query q = about_list();

    q.device = "t4";
    q.setting = "memory=200MHz";
    q.run_mode = modes[GRAPH];
    q.list = text;
    for (int rows = 1; rows <= 256; rows *= 4) {
        ft_answer *a;

        q.list_len = (size_t)snprintf(
            text, sizeof(text), "linear x=%dx512 out=1024 dtype=fp32 *64\n", rows);
        CHECK(!ft_query_ask(&a, d, &q, NULL));
        CHECK(CMP(a->time.value, >=, 0.999 * before));
        before = a->time.value;
        ft_answer_free(a);
    }
    ft_data_close(d);
}
