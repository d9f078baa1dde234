/* Networks whose times follow from a known host and device: are they found again? */
#include "foretell/evaluate.h"
#include "foretell/networks.h"
#include "foretell/predictor.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "predict/file/predictor.h"
#include "predict/query/op_costs.h"
#include "put_member.h"
#include "store/store_inside.h"

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

    CHECK(ft__store_put(s, run, &key, &m, NULL, 0, NULL) == FT_OK);
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
        CHECK(put_member(s, &m) == FT_OK);
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
    CHECK(ft__store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    put_operations(s, run);
    for (int i = 0; i < n_networks; i++)
        put_network(s, run, i);
    return s;
}

/* What is said of each network that was held out. */
struct told {
    ft_evaluated_row row[40];
    char spec[40][100];
    size_t n;
};

static void hear(void *user, const ft_evaluated_row *r)
{
    struct told *t = user;

    CHECK(t->n < 40);
    snprintf(t->spec[t->n], sizeof(*t->spec), "%s", r->spec);
    t->row[t->n++] = *r;
}

static ft_evaluate_options options(struct told *t)
{
    *t = (struct told){.n = 0};
    return (ft_evaluate_options){.where = "phase=forward",
                                 .networks = "",
                                 .protocol = FT_PROTOCOL_NETWORK,
                                 .methods = 1u << FT_METHOD_EXTRA,
                                 .data_dir = data_dir,
                                 .row = hear,
                                 .row_user = t,
                                 .seed = 1,
                                 .threads = 1};
}

static ft_evaluation evaluated(ft_store *s, struct told *t, const char *metric)
{
    ft_evaluate_options how = options(t);
    ft_evaluation e = {0};
    ft_error err = {0};

    how.metric = metric;
    CHECK(ft_evaluate(&e, s, NULL, &how, &err) == FT_OK);
    if (*err.msg)
        fprintf(stderr, "%s\n", err.msg);
    return e;
}

static void networks_of_a_known_host_and_device_are_predicted(void)
{
    ft_store *s = store_with(12);
    struct told t;
    ft_evaluation e = evaluated(s, &t, NULL), j = evaluated(s, &t, "energy");

    CHECK(e.n_rows == 12 && e.n_splits == 12 && e.all.learned.n == 12 && t.n == 12);
    CHECK(e.all.learned.mape < 0.12);
    CHECK(e.all.learned.mape < 0.5 * e.all.base.mape);
    CHECK(e.all.covered >= 0.75);
    CHECK(j.all.learned.n == 12 && j.all.learned.mape < 0.25);
    for (size_t i = 0; i < t.n; i++)
        CHECK(t.row[i].low <= t.row[i].value && t.row[i].value <= t.row[i].high);
    ft_evaluation_free(&e);
    ft_evaluation_free(&j);
    ft_store_close(s);
}

static void the_answer_is_the_same_every_time(void)
{
    ft_store *s = store_with(5);
    struct told a, b;
    ft_evaluation x = evaluated(s, &a, NULL), y = evaluated(s, &b, NULL);

    CHECK(a.n == 5 && b.n == 5);
    for (size_t i = 0; i < a.n && i < b.n; i++)
        CHECK(a.row[i].value == b.row[i].value && a.row[i].high == b.row[i].high);
    ft_evaluation_free(&x);
    ft_evaluation_free(&y);
    ft_store_close(s);
}

static void what_is_missing_is_said(void)
{
    struct told t;
    ft_evaluate_options how = options(&t);
    ft_store *s = store_with(3);
    ft_evaluation e;
    ft_error err = {0};

    how.networks = "device=nowhere";
    CHECK(ft_evaluate(&e, s, NULL, &how, &err) == FT_ENOTFOUND);
    CHECK(strstr(err.msg, "no time of networks"));
    how.networks = "device";
    CHECK(ft_evaluate(&e, s, NULL, &how, &err) == FT_EINVAL);
    how = options(&t);
    how.only = "net7";
    CHECK(ft_evaluate(&e, s, NULL, &how, &err) == FT_ENOTFOUND);
    CHECK(strstr(err.msg, "net7"));
    how = options(&t);
    how.protocol = FT_PROTOCOL_FOLDS;
    CHECK(ft_evaluate(&e, s, NULL, &how, &err) == FT_EINVAL);
    how = options(&t);
    how.metric = "power";
    CHECK(ft_evaluate(&e, s, NULL, &how, &err) == FT_EINVAL);
    how = options(&t);
    how.networks = NULL;
    how.protocol = FT_PROTOCOL_ARCHITECTURE;
    CHECK(ft_evaluate(&e, s, NULL, &how, &err) == FT_EINVAL);
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
    CHECK(ft_predict_network(&e, p, &on, g, NULL) == FT_OK);
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

    CHECK(ft__store_begin_run(s, &run, "test", "", NULL) == FT_OK);
    for (int i = 0; i < 12; i++)
        if (i != but)
            put_network(s, run, i);
    return s;
}

/* What `evaluate` says of network i, which it hides with its operations. */
static ft_evaluated_row evaluated_as(int i)
{
    ft_store *s = store_with(12);
    struct told t;
    ft_evaluation e = evaluated(s, &t, NULL);
    ft_evaluated_row row = {.value = NAN};

    for (size_t k = 0; k < t.n; k++)
        if (t.row[k].truth == true_time(i))
            row = t.row[k];
    ft_evaluation_free(&e);
    ft_store_close(s);
    return row;
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
        CHECK(b.time.value == evaluated_as(i).value);
        CHECK(b.time.high == evaluated_as(i).high);
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
        CHECK(ft_predict_network(&e, p, &on, g, NULL) == FT_OK);
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
    CHECK(ft__predictor_load_image(&again, image, len, NULL) == FT_EFORMAT);
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
    networks_of_a_known_host_and_device_are_predicted();
    the_answer_is_the_same_every_time();
    what_is_missing_is_said();
    a_predictor_with_a_schedule_tells_a_network_it_has_not_seen();
    a_schedule_is_of_its_device_policy_and_phase();
    a_schedule_is_described_kept_and_goes_with_added_rows();
    every_way_of_asking_has_the_schedule();
    a_damaged_schedule_is_refused();
    CHECK_DONE();
}
