/* Networks whose times follow from a known host and device: are they found again? */
#include "foretell/networks.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static char data_dir[4096];

/* A device of 500 GB/s for copies, and a host that needs 20 us a launch. */
static const double bandwidth = 500e9, launch_s = 20e-6;

static double device_s(long elements)
{
    return 2e-6 + 8.0 * (double)elements / bandwidth;
}

static void put_on(ft_store *s, int64_t run, const char *device, const char *setting,
                   const char *spec, const char *phase, const char *metric,
                   double value)
{
    const ft_key key = {.device = device,
                        .setting = setting,
                        .engine = "torch",
                        .engine_version = "1",
                        .spec = spec,
                        .phase = phase,
                        .dtype_policy = "default",
                        .metric = metric};
    const ft_measurement m = {.unit = metric[0] == 't' ? "s" : "J",
                              .value = value,
                              .error = NAN,
                              .mad = NAN,
                              .mean = NAN,
                              .std = NAN,
                              .n = 1,
                              .iterations = 1};

    CHECK(ft_store_put(s, run, &key, &m, NULL, 0, NULL) == FT_OK);
}

static void put_in(ft_store *s, int64_t run, const char *setting, const char *spec,
                   const char *phase, const char *metric, double value)
{
    put_on(s, run, "a30", setting, spec, phase, metric, value);
}

static void put(ft_store *s, int64_t run, const char *spec, const char *phase,
                const char *metric, double value)
{
    put_in(s, run, "", spec, phase, metric, value);
}

static long size_of(int i)
{
    return 3000L << (i % 14);
}

/* relu, sigmoid and tanh of many sizes; alone each waits for the host. */
static void put_operations(ft_store *s, int64_t run)
{
    static const char *const kinds[] = {"relu", "sigmoid", "tanh"};
    char spec[200];

    for (int i = 0; i < 3 * 28; i++) {
        long n = size_of(i / 3) + 500L * (i / 42);

        snprintf(spec, sizeof(spec), "%s x=%ld dtype=fp32", kinds[i % 3], n);
        put(s, run, spec, "forward", "time", fmax(launch_s, device_s(n)));
        put(s, run, spec, "forward", "power",
            device_s(n) < launch_s ? 40 + 100 * device_s(n) / launch_s : 140);
    }
}

/* Network i: four operations of neighbouring sizes, some of them often. In a network a
 * launch takes half as long and the device three quarters. */
static void put_network(ft_store *s, int64_t run, int i)
{
    static const char *const kinds[] = {"relu", "sigmoid", "tanh"};
    char whole[100], part[200];
    double device = 0, count = 0, time;

    snprintf(whole, sizeof(whole), "network name=net%d x=1x%d dtype=fp32", i,
             8 * i + 8);
    for (int j = 0; j < 4; j++) {
        long n = size_of(i + j) + 7L * i;
        ft_member m = {.source = "test",
                       .whole = whole,
                       .phase = "forward",
                       .part = part,
                       .count = 5 + i % 4,
                       .note = ""};

        snprintf(part, sizeof(part), "%s x=%ld dtype=fp32", kinds[(i + j) % 3], n);
        CHECK(ft_store_put_member(s, &m, NULL) == FT_OK);
        device += m.count * device_s(n);
        count += m.count;
    }
    time = fmax(0.75 * device, 0.5 * launch_s * count);
    put(s, run, whole, "forward", "time", time);
    put(s, run, whole, "forward", "energy", 40 * time + 100 * 0.75 * device);
}

static ft_store *store_with(int n_networks)
{
    ft_store *s = NULL;
    int64_t run;

    CHECK(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL) == FT_OK);
    CHECK(ft_store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    put_operations(s, run);
    for (int i = 0; i < n_networks; i++)
        put_network(s, run, i);
    return s;
}

static ft_networks_options options(void)
{
    return (ft_networks_options){
        .ops = "phase=forward", .data_dir = data_dir, .n_trees = 24, .seed = 1};
}

static void networks_of_a_known_host_and_device_are_foretold(void)
{
    const ft_networks_options how = options();
    ft_store *s = store_with(12);
    ft_networks r;
    ft_error err = {0};

    CHECK(ft_networks_evaluate(&r, s, &how, &err) == FT_OK);
    CHECK(r.n == 12);
    CHECK(r.time.n == 12 && r.energy.n == 12);
    CHECK(r.time.mape < 0.12);
    CHECK(r.time.mape < 0.5 * r.sum_time.mape);
    CHECK(r.energy.mape < 0.25);
    CHECK(r.energy.mape < 0.5 * r.sum_energy.mape);
    CHECK(r.covered >= 0.75);
    /* Small ones are bound by the host, large ones by the device. */
    CHECK(r.v[0].host_share > 0.99);
    for (size_t i = 0; i < r.n; i++) {
        CHECK(r.v[i].time.low <= r.v[i].time.value);
        CHECK(r.v[i].time.value <= r.v[i].time.high);
        CHECK(r.v[i].bounded_share < 1e-9);
    }
    ft_networks_free(&r);
    ft_store_close(s);
}

static void the_answer_is_the_same_every_time(void)
{
    const ft_networks_options how = options();
    ft_store *s = store_with(5);
    ft_networks a, b;

    CHECK(ft_networks_evaluate(&a, s, &how, NULL) == FT_OK);
    CHECK(ft_networks_evaluate(&b, s, &how, NULL) == FT_OK);
    CHECK(a.n == 5 && b.n == 5);
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        CHECK(memcmp(&a.v[i].time.value, &b.v[i].time.value, sizeof(double)) == 0);
        CHECK(memcmp(&a.v[i].energy.high, &b.v[i].energy.high, sizeof(double)) == 0);
    }
    ft_networks_free(&a);
    ft_networks_free(&b);
    ft_store_close(s);
}

/* A kind that was never measured costs its bytes, and is said to be bounded. */
static void an_operation_nobody_measured_is_bounded_not_dropped(void)
{
    const ft_networks_options how = options();
    ft_store *s = store_with(6);
    ft_member m = {.source = "test",
                   .whole = "network name=net5 x=1x48 dtype=fp32",
                   .phase = "forward",
                   .part = "add x=1000000 y=1000000 dtype=fp32",
                   .count = 50,
                   .note = "functional"};
    ft_networks without, with;

    CHECK(ft_networks_evaluate(&without, s, &how, NULL) == FT_OK);
    CHECK(ft_store_put_member(s, &m, NULL) == FT_OK);
    CHECK(ft_networks_evaluate(&with, s, &how, NULL) == FT_OK);
    for (size_t i = 0; i < with.n && i < without.n; i++) {
        if (strcmp(with.v[i].spec, m.whole) != 0)
            continue;
        CHECK(with.v[i].bounded_share > 0.01);
        CHECK(with.v[i].time.value > without.v[i].time.value);
    }
    ft_networks_free(&without);
    ft_networks_free(&with);
    ft_store_close(s);
}

/* The same operations were measured in two sessions, in one of them by 2 to 5 times too
 * slowly, the smaller the more; networks tell which one to believe. */
static void the_session_that_networks_agree_with_counts(void)
{
    static const char *const kinds[] = {"relu", "sigmoid", "tanh"};
    const ft_networks_options how = options();
    ft_networks one, two;
    ft_store *s = NULL;
    int64_t run;
    char spec[200];

    CHECK(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL) == FT_OK);
    CHECK(ft_store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    for (int i = 0; i < 3 * 28; i++) {
        long n = size_of(i / 3) + 500L * (i / 42);

        snprintf(spec, sizeof(spec), "%s x=%ld dtype=fp32", kinds[i % 3], n);
        put_in(s, run, "session=b", spec, "forward", "time",
               fmax(launch_s, device_s(n)));
    }
    for (int i = 0; i < 8; i++)
        put_network(s, run, i);
    CHECK(ft_networks_evaluate(&one, s, &how, NULL) == FT_OK);
    for (int i = 0; i < 3 * 28; i++) {
        long n = size_of(i / 3) + 500L * (i / 42);

        snprintf(spec, sizeof(spec), "%s x=%ld dtype=fp32", kinds[i % 3], n);
        put_in(s, run, "session=a", spec, "forward", "time",
               (2 + 3 * launch_s / (launch_s + device_s(n))) *
                   fmax(launch_s, device_s(n)));
    }
    CHECK(ft_networks_evaluate(&two, s, &how, NULL) == FT_OK);
    CHECK(one.n == 8 && two.n == 8);
    CHECK(one.time.mape < 0.15);
    CHECK(two.time.mape < 1.5 * one.time.mape);
    ft_networks_free(&one);
    ft_networks_free(&two);
    ft_store_close(s);
}

/* Operations of another device under ten settings come first in the store. */
static void a_device_behind_many_settings_is_foretold(void)
{
    const ft_networks_options how = options();
    ft_networks alone, r;
    ft_store *s = store_with(6);
    int64_t run;
    char setting[40], spec[100];

    CHECK(ft_networks_evaluate(&alone, s, &how, NULL) == FT_OK);
    ft_store_close(s);
    CHECK(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL) == FT_OK);
    CHECK(ft_store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    for (int i = 0; i < 10; i++) {
        snprintf(setting, sizeof(setting), "session=%d", i);
        snprintf(spec, sizeof(spec), "relu x=%d dtype=fp32", 4000 + i);
        put_on(s, run, "a10", setting, spec, "forward", "time", 1e-3);
    }
    put_operations(s, run);
    for (int i = 0; i < 6; i++)
        put_network(s, run, i);
    CHECK(ft_networks_evaluate(&r, s, &how, NULL) == FT_OK);
    CHECK(r.n == 6);
    for (size_t i = 0; i < r.n; i++)
        CHECK(r.v[i].time.value == alone.v[i].time.value);
    ft_networks_free(&alone);
    ft_networks_free(&r);
    ft_store_close(s);
}

/* What runs forward in a training step is in that step's list. */
static void a_forward_pass_in_training_has_the_operations_of_the_step(void)
{
    const ft_networks_options how = options();
    const ft_member add = {.source = "test",
                           .whole = "network name=net5 x=1x48 dtype=fp32",
                           .phase = "forward_backward",
                           .part = "dropout x=9000000 dtype=fp32",
                           .count = 50,
                           .note = ""};
    ft_member back = add;
    ft_store *s = store_with(6);
    ft_networks r;
    int64_t run;
    double launches[2] = {0};

    back.part = "relu x=9000000 dtype=fp32 phase=backward";
    back.count = 70;
    CHECK(ft_store_put_member(s, &add, NULL) == FT_OK);
    CHECK(ft_store_put_member(s, &back, NULL) == FT_OK);
    CHECK(ft_store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    put_in(s, run, "mode=training", add.whole, "forward", "time", 1e-3);
    put_in(s, run, "mode=training", add.whole, "backward", "time", 1e-3);
    CHECK(ft_networks_evaluate(&r, s, &how, NULL) == FT_OK);
    CHECK(r.n == 8);
    for (size_t i = 0; i < r.n; i++)
        if (strcmp(r.v[i].setting, "mode=training") == 0)
            launches[strcmp(r.v[i].phase, "forward") != 0] = r.v[i].launches;
    CHECK(launches[0] == 50);
    CHECK(launches[1] == 70);
    ft_networks_free(&r);
    ft_store_close(s);
}

static void put_part(ft_store *s, const char *whole, const char *part, double count)
{
    const ft_member m = {.source = "test",
                         .whole = whole,
                         .phase = "forward",
                         .part = part,
                         .count = count,
                         .note = ""};

    CHECK(ft_store_put_member(s, &m, NULL) == FT_OK);
}

/* A convolution that was measured channels first takes three times as long channels
 * last: one network says so of another. */
static void what_another_layout_takes_is_learned_from_networks(void)
{
    enum { PLAIN = 12, RELAID = 2 };
    const ft_networks_options how = options();
    ft_store *s = store_with(0);
    ft_networks r;
    ft_error err = {0};
    int64_t run;
    char spec[200], whole[100];

    CHECK(ft_store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    for (int i = 0; i < 60; i++) {
        snprintf(spec, sizeof(spec),
                 "conv2d x=8x%dx28x28 out=%d kernel=1x1 stride=1x1 pad=0x0 dtype=fp32",
                 32 + 8 * i, 32 + 8 * i);
        put(s, run, spec, "forward", "time", 1e-6 * (32 + 8 * i));
    }
    for (int i = 0; i < PLAIN + RELAID; i++) {
        const int out = 96 + 8 * i; /* well above what is taken for the host's time */

        snprintf(whole, sizeof(whole), "network name=net%d x=8x3x28x28 dtype=fp32", i);
        snprintf(
            spec, sizeof(spec),
            "conv2d x=8x%dx28x28 out=%d kernel=1x1 stride=1x1 pad=0x0 dtype=fp32%s",
            out, out, i < PLAIN ? "" : " layout=channels_last");
        put_part(s, whole, spec, 10);
        put(s, run, whole, "forward", "time", 10 * (i < PLAIN ? 1 : 3) * 1e-6 * out);
    }
    CHECK(ft_networks_evaluate(&r, s, &how, &err) == FT_OK);
    CHECK(r.n == PLAIN + RELAID);
    CHECK(r.time.mape < 0.15);
    for (size_t i = 0; i < r.n; i++)
        CHECK_NEAR(r.v[i].time.value / r.v[i].time_s, 1, 0.3);
    ft_networks_free(&r);
    ft_store_close(s);
}

static void what_is_missing_is_said(void)
{
    ft_networks_options how = options();
    ft_store *s = store_with(1);
    ft_networks r;
    ft_error err = {0};

    CHECK(ft_networks_evaluate(&r, s, &how, &err) == FT_ENOTFOUND);
    CHECK(strstr(err.msg, "two at least"));
    how.networks = "device=nowhere";
    CHECK(ft_networks_evaluate(&r, s, &how, &err) == FT_ENOTFOUND);
    how.networks = "device";
    CHECK(ft_networks_evaluate(&r, s, &how, &err) == FT_EINVAL);
    ft_store_close(s);
    s = store_with(3);
    how.networks = NULL;
    how.ops = "kind=conv2d";
    CHECK(ft_networks_evaluate(&r, s, &how, &err) == FT_ENOTFOUND);
    CHECK(strstr(err.msg, "no operations"));
    ft_store_close(s);
}

/* ---- schedules in predictor files ---- */

static ft_predictor *train(ft_store *s, const char *networks, const ft_predictor *add)
{
    const ft_train_options how = {.where = "phase=forward",
                                  .networks = networks,
                                  .data_dir = data_dir,
                                  .add = add,
                                  .methods = 1u << FT_METHOD_EXTRA,
                                  .n_trees = 24,
                                  .seed = 1,
                                  .threads = 1};
    ft_predictor *p = NULL;
    ft_error err = {0};

    CHECK(ft_predictor_train(&p, s, &how, &err) == FT_OK);
    if (!p)
        fprintf(stderr, "%s\n", err.msg);
    return p;
}

/* The operations of network i as a list; behind them `more`. */
static ft_graph *graph_of(int i, const char *more)
{
    static const char *const kinds[] = {"relu", "sigmoid", "tanh"};
    char text[2000] = "";
    ft_graph *g = NULL;

    for (int j = 0; j < 4; j++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%s x=%ld dtype=fp32 *%d\n", kinds[(i + j) % 3],
                 size_of(i + j) + 7L * i, 5 + i % 4);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", more);
    CHECK(ft_import_ops(&g, text, strlen(text), "net", NULL) == FT_OK);
    return g;
}

/* What is said of network i; its time and energy. */
static ft_network_estimate asked(const ft_predictor *p, int i, const char *device,
                                 const char *policy, const char *more)
{
    ft_graph *g = graph_of(i, more);
    ft_network_estimate e = {0};
    ft_device_use on = {.policy = policy};
    ft_device *d = NULL;

    CHECK(ft_device_load(&d, data_dir, device, NULL) == FT_OK);
    on.device = d;
    CHECK(ft_predict_network_on(&e, p, &on, g, NULL) == FT_OK);
    ft_network_estimate_free(&e);
    ft_device_free(d);
    ft_graph_free(g);
    return e;
}

static double true_time(int i)
{
    double device = 0, count = 0;

    for (int j = 0; j < 4; j++) {
        device += (5 + i % 4) * device_s(size_of(i + j) + 7L * i);
        count += 5 + i % 4;
    }
    return fmax(0.75 * device, 0.5 * launch_s * count);
}

/* Networks 0 to 11 were measured but for number `but`. */
static ft_store *store_but(int but)
{
    ft_store *s = store_with(0);
    int64_t run;

    CHECK(ft_store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    for (int i = 0; i < 12; i++)
        if (i != but)
            put_network(s, run, i);
    return s;
}

/* Foretold by `evaluate` without itself and its operations. */
static double evaluated(int i)
{
    const ft_networks_options how = options();
    ft_store *s = store_with(12);
    double value = NAN;
    ft_networks r;

    CHECK(ft_networks_evaluate(&r, s, &how, NULL) == FT_OK);
    for (size_t k = 0; k < r.n; k++)
        if (r.v[k].time_s == true_time(i))
            value = r.v[k].time.value;
    ft_networks_free(&r);
    ft_store_close(s);
    return value;
}

/* Number 3 is bound by the host, number 9 by the device. */
static void a_predictor_with_a_schedule_tells_a_network_it_has_not_seen(void)
{
    static const int left_out[] = {3, 9};

    for (size_t k = 0; k < 2; k++) {
        const int i = left_out[k];
        const double truth = true_time(i);
        ft_store *s = store_but(i);
        ft_predictor *without = train(s, NULL, NULL), *with = train(s, "", NULL);
        ft_network_estimate a = asked(without, i, "a30", NULL, ""),
                            b = asked(with, i, "a30", NULL, "");

        CHECK(a.n_networks == 0 && b.n_networks == 11);
        CHECK_NEAR(b.time.value / truth, 1, 0.12);
        CHECK(fabs(log(b.time.value / truth)) < 0.5 * fabs(log(a.time.value / truth)));
        CHECK(b.time.low <= truth && truth <= b.time.high);
        CHECK_NEAR(b.time.value / evaluated(i), 1, 0.12);
        CHECK((b.host_s > b.busy_s) == (i == 3));
        CHECK(b.energy.low <= b.energy.value && b.energy.value <= b.energy.high);
        ft_predictor_free(without);
        ft_predictor_free(with);
        ft_store_close(s);
    }
}

static void a_schedule_is_of_its_device_policy_and_phase(void)
{
    ft_store *s = store_but(3);
    ft_predictor *p = train(s, "device=a30", NULL);

    CHECK(asked(p, 3, "a30", "default", "").n_networks == 11);
    CHECK(asked(p, 3, "a30", "ieee", "").n_networks == 0);
    CHECK(asked(p, 3, "l4", NULL, "").n_networks == 0);
    CHECK(
        asked(p, 3, "a30", NULL, "relu x=9000 dtype=fp32 phase=backward").n_networks ==
        0);
    ft_predictor_free(p);
    ft_store_close(s);
}

static void a_schedule_is_described_kept_and_goes_with_added_rows(void)
{
    ft_store *s = store_but(3);
    ft_predictor *p = train(s, "", NULL), *loaded = NULL, *added;
    ft_predictor_info info;
    ft_predictor_schedule k;
    double time = asked(p, 3, "a30", NULL, "").time.value;

    ft_predictor_get_info(p, &info);
    CHECK(info.n_schedules == 1);
    ft_predictor_get_schedule(p, 0, &k);
    CHECK(strcmp(k.device, "a30") == 0 && strcmp(k.phase, "forward") == 0);
    CHECK(k.n == 11 && k.error < 0.5 * k.without);
    CHECK_NEAR(k.launch_s / (0.5 * launch_s), 1, 0.2);
    CHECK(k.interval_low <= 1 && k.interval_high >= 1);
    CHECK(ft_predictor_save(p, "test_networks.ftp", NULL) == FT_OK);
    CHECK(ft_predictor_load(&loaded, "test_networks.ftp", NULL) == FT_OK);
    CHECK(asked(loaded, 3, "a30", NULL, "").time.value == time);
    added = train(s, NULL, loaded);
    CHECK(asked(added, 3, "a30", NULL, "").time.value == time);
    remove("test_networks.ftp");
    ft_predictor_free(added);
    ft_predictor_free(loaded);
    ft_predictor_free(p);
    ft_store_close(s);
}

/* One by one, at many clocks, and as a list. */
static void every_way_of_asking_has_the_schedule(void)
{
    static const char *const settings[] = {"", "clock=900MHz"};
    static const char text[] = "relu x=9000000 dtype=fp32 *3\ntanh x=800 dtype=fp32\n";
    ft_listed list = {.text = text, .len = strlen(text)};
    ft_store *s = store_but(3);
    ft_predictor *p = train(s, "", NULL);
    ft_device_use on = {0};
    ft_device *d = NULL;
    ft_graph *g = NULL;
    ft_pricer *pricer;
    ft_brief brief[2];

    CHECK(ft_device_load(&d, data_dir, "a30", NULL) == FT_OK);
    CHECK(ft_import_ops(&g, text, strlen(text), "net", NULL) == FT_OK);
    on.device = d;
    CHECK(ft_predict_network_many(brief, p, &on, settings, 2, g, NULL) == FT_OK);
    for (int i = 0; i < 2; i++) {
        ft_network_estimate e = {0};

        on.setting = settings[i];
        CHECK(ft_predict_network_on(&e, p, &on, g, NULL) == FT_OK);
        CHECK(e.n_networks == 11);
        CHECK(e.time.value == brief[i].time_s && e.energy.value == brief[i].energy_j);
        ft_network_estimate_free(&e);
    }
    on.setting = NULL;
    CHECK(ft_pricer_new(&pricer, p, &on, NULL) == FT_OK);
    CHECK(ft_pricer_price(pricer, &list, 1, NULL) == FT_OK);
    CHECK(list.brief.time_s == brief[0].time_s);
    ft_pricer_free(pricer);
    ft_graph_free(g);
    ft_device_free(d);
    ft_predictor_free(p);
    ft_store_close(s);
}

static void a_damaged_schedule_is_refused(void)
{
    static _Alignas(8) unsigned char image[1 << 20];
    ft_store *s = store_but(3);
    ft_predictor *p = train(s, "", NULL), *again;
    FILE *file;
    size_t len;

    CHECK(ft_predictor_save(p, "test_networks.ftp", NULL) == FT_OK);
    file = fopen("test_networks.ftp", "rb");
    len = file ? fread(image, 1, sizeof(image), file) : 0;
    CHECK(len > 200 && len < sizeof(image));
    image[len - 150] ^= 1; /* the schedule comes last */
    CHECK(ft_predictor_load_image(&again, image, len, NULL) == FT_EFORMAT);
    if (file)
        fclose(file);
    remove("test_networks.ftp");
    ft_predictor_free(p);
    ft_store_close(s);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
    networks_of_a_known_host_and_device_are_foretold();
    the_answer_is_the_same_every_time();
    an_operation_nobody_measured_is_bounded_not_dropped();
    the_session_that_networks_agree_with_counts();
    a_device_behind_many_settings_is_foretold();
    a_forward_pass_in_training_has_the_operations_of_the_step();
    what_another_layout_takes_is_learned_from_networks();
    what_is_missing_is_said();
    a_predictor_with_a_schedule_tells_a_network_it_has_not_seen();
    a_schedule_is_of_its_device_policy_and_phase();
    a_schedule_is_described_kept_and_goes_with_added_rows();
    every_way_of_asking_has_the_schedule();
    a_damaged_schedule_is_refused();
    CHECK_DONE();
}
