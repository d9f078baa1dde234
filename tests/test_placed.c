/* Schedules in predictors for families: of which networks they are made, which are
 * kept, and what is said where there is none. */
#include "predict/schedule/schedule.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "foretell/predictor.h"
#include "put_member.h"
#include "store/store_inside.h"

struct place {
    const char *device, *setting, *engine;
};
static const struct place a30 = {"a30", "", "torch"}, a10 = {"a10", "", "torch"};

static double alone_s(int i)
{
    return 2e-6 + 8.0 * 4000 * i * i / 500e9;
}

static void put(ft_store *s, const struct place *at, const char *spec,
                const char *phase, double value)
{
    const ft_key key = {.device = at->device,
                        .setting = at->setting,
                        .engine = at->engine,
                        .engine_version = "1",
                        .spec = spec,
                        .phase = phase,
                        .dtype_policy = "default",
                        .metric = "time"};
    const ft_measurement m = {.unit = "s", .value = value, .error = NAN, .n = 1};
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "test", "", NULL), FT_OK);
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
}

static void put_operations(ft_store *s, const struct place *at)
{
    char spec[100];

    for (int i = 1; i < 60; i++) {
        snprintf(spec, sizeof(spec), "%s x=%d dtype=fp32", i % 2 ? "relu" : "tanh",
                 4000 * i * i);
        put(s, at, spec, "forward", alone_s(i));
    }
}

/* Network i takes `factor` of what ten of each of its operations take alone. */
static void put_network(ft_store *s, const struct place *at, int i, const char *phase,
                        double factor)
{
    const int size[] = {i + 30, 3 * i + 37, 58 - i};
    char whole[100], part[100];
    double sum = 0;

    snprintf(whole, sizeof(whole), "network name=net%d x=1x%d dtype=fp32", i, i + 1);
    for (int j = 0; j < 3; j++) {
        const ft_member m = {.source = "test",
                             .whole = whole,
                             .phase = "forward",
                             .part = part,
                             .count = 10,
                             .note = ""};

        snprintf(part, sizeof(part), "relu x=%d dtype=fp32", 4000 * size[j] * size[j]);
        CHECK_EQ(put_member(s, &m), FT_OK);
        sum += 10 * alone_s(size[j]);
    }
    put(s, at, whole, phase, factor * sum);
}

static void put_networks(ft_store *s, const struct place *at, int n, double factor)
{
    for (int i = 0; i < n; i++)
        put_network(s, at, i, "forward", factor);
}

/* Operations of two devices. */
static ft_store *open_store(void)
{
    ft_store *s = NULL;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    put_operations(s, &a30);
    put_operations(s, &a10);
    return s;
}

struct told {
    int n;
    char last[300];
};

static void hear(void *user, ft_log_level level, const char *text)
{
    struct told *t = user;

    if (level != FT_LOG_WARN)
        return;
    t->n++;
    snprintf(t->last, sizeof(t->last), "%s", text);
}

static ft_status train(ft_predictor **out, ft_store *s, const char *networks,
                       const ft_predictor *add, struct told *told, ft_error *err)
{
    const ft_log log = {.message = hear, .user = told};
    const ft_train_options how = {.where = "phase=forward",
                                  .networks = networks,
                                  .data_dir = data_dir,
                                  .add = add,
                                  .methods = 1u << FT_METHOD_EXTRA,
                                  .n_trees = 16,
                                  .seed = 1,
                                  .threads = 1,
                                  .log = &log};

    *told = (struct told){0};
    *out = NULL;
    return ft_predictor_train(out, s, &how, err);
}

static uint32_t n_schedules(const ft_predictor *p)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    return info.n_schedules;
}

/* The schedule of a device; .n is 0 where there is none. */
static ft_predictor_schedule schedule_of(const ft_predictor *p, const char *device)
{
    for (uint32_t i = 0; i < n_schedules(p); i++) {
        ft_predictor_schedule k;

        ft_predictor_get_schedule(p, i, &k);
        if (strcmp(k.device, device) == 0)
            return k;
    }
    return (ft_predictor_schedule){.n = 0};
}

TEST(networks_of_another_engine_have_no_part_in_it)
{
    const struct place other = {"a30", "", "other"};
    ft_store *s = open_store();
    ft_predictor *p;
    struct told told;
    ft_error err = {0};

    put_networks(s, &other, 6, 3);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_ENOTFOUND);
    put_networks(s, &a30, 6, 0.7);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_OK);
    CHECK_EQ(n_schedules(p), 1);
    CHECK_EQ(schedule_of(p, "a30").n, 6);
    CHECK(SAME(schedule_of(p, "a30").engine, "torch"));
    CHECK_NEAR(schedule_of(p, "a30").others, 0.7, 0.05);
    ft_predictor_free(p);
    ft_store_close(s);
}

TEST(halves_of_training_steps_have_no_part_in_it)
{
    const struct place training = {"a30", "mode=training", "torch"};
    ft_store *s = open_store();
    ft_predictor *p;
    struct told told;
    ft_error err = {0};

    put_networks(s, &a30, 6, 0.7);
    put_networks(s, &training, 6, 2);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_OK);
    CHECK_EQ(schedule_of(p, "a30").n, 6);
    CHECK_NEAR(schedule_of(p, "a30").others, 0.7, 0.05);
    ft_predictor_free(p);
    ft_store_close(s);
}

TEST(too_few_networks_are_refused_and_named)
{
    ft_store *s = open_store();
    ft_predictor *p;
    struct told told;
    ft_error err = {0};

    CHECK_EQ(train(&p, s, "device=nowhere", NULL, &told, &err), FT_ENOTFOUND);
    CHECK(!p && HAS(err.msg, "no network"));
    CHECK_EQ(train(&p, s, "device", NULL, &told, &err), FT_EINVAL);
    put_networks(s, &a30, 1, 0.7);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_ENOTFOUND);
    CHECK(!p && HAS(err.msg, "nowhere were 2 networks"));
    CHECK(EQ(told.n, 1) && HAS(told.last, "a30, default, torch, forward: 1 network,"));
    /* Where one place has enough, the other is told of. */
    put_networks(s, &a10, 5, 0.7);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_OK);
    CHECK(EQ(n_schedules(p), 1) && EQ(schedule_of(p, "a10").n, 5));
    CHECK(EQ(told.n, 1) && HAS(told.last, "a30"));
    ft_predictor_free(p);
    ft_store_close(s);
}

/* One network is as much too fast as the next too slow: the interval says so. */
TEST(networks_that_contradict_each_other_widen_the_interval)
{
    ft_store *s = open_store();
    ft_predictor *p;
    struct told told;
    ft_error err = {0};
    ft_predictor_schedule k;

    for (int i = 0; i < 4; i++)
        put_network(s, &a30, i, "forward", i % 2 ? 0.5 : 2);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_OK);
    k = schedule_of(p, "a30");
    CHECK(EQ(k.n, 4) && CMP(k.interval_low, <, 0.5) && CMP(k.interval_high, >, 2));
    ft_predictor_free(p);
    ft_store_close(s);
}

/* Operations were measured in two sessions, in one of them twice as slowly; networks
 * tell which one to believe. */
TEST(the_session_that_networks_agree_with_counts)
{
    const struct place slow = {"a30", "session=slow", "torch"};
    const ft__device_use nothing = {0};
    ft_store *s = open_store();
    ft_predictor *p;
    struct told told;
    ft_error err = {0};
    ft__device_use on = nothing;
    ft__network_estimate e;
    ft_graph *g = NULL;
    ft_device *d = NULL;
    char spec[100];

    for (int i = 1; i < 60; i++) {
        snprintf(spec, sizeof(spec), "%s x=%d dtype=fp32", i % 2 ? "relu" : "tanh",
                 4000 * i * i);
        put(s, &slow, spec, "forward", 2 * alone_s(i));
    }
    put_networks(s, &a30, 6, 1);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_OK);
    CHECK_EQ(schedule_of(p, "a30").n, 6);
    snprintf(spec, sizeof(spec), "relu x=%d dtype=fp32 *7", 4000 * 35 * 35);
    CHECK_EQ(ft_import_ops(&g, spec, strlen(spec), "net", NULL), FT_OK);
    CHECK_EQ(ft_device_load(&d, data_dir, "a30", NULL), FT_OK);
    on.device = d;
    CHECK_EQ(ft__predict_network(&e, p, &on, g, &err), FT_OK);
    CHECK_NEAR(e.time.value / (7 * alone_s(35)), 1, 0.15);
    ft__network_estimate_free(&e);
    /* At other clocks too: memory sets the time. */
    on.setting = "clock=1200MHz";
    CHECK_EQ(ft__predict_network(&e, p, &on, g, &err), FT_OK);
    CHECK_NEAR(e.time.value / (7 * alone_s(35)), 1, 0.25);
    ft__network_estimate_free(&e);
    /* One that is named is taken at its word. */
    on.setting = "session=slow";
    CHECK_EQ(ft__predict_network(&e, p, &on, g, &err), FT_OK);
    CHECK(CMP(e.op_time[0].value, >, 1.6 * alone_s(35)));
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    ft_device_free(d);
    ft_predictor_free(p);
    ft_store_close(s);
}

/* Networks of each of two chips, from operations of the other, are 0.9 and 1.1 times
 * what is predicted: a third chip's network is told as sure as that. */
TEST(networks_of_chips_left_out_say_how_sure_those_of_others_are)
{
    ft_store *s = open_store();
    ft_predictor *with, *without;
    struct told told;
    ft_error err = {0};
    ft__device_use on = {0};
    ft__network_estimate a, b;
    ft_graph *g = NULL;
    ft_device *d = NULL;
    static const char list[] =
        "relu x=4900000 dtype=fp32 *7\nrelu x=7000000 dtype=fp32 "
        "*7\ntanh x=9000000 dtype=fp32 *5\n";

    CHECK_EQ(train(&without, s, NULL, NULL, &told, &err), FT_OK);
    put_networks(s, &a30, 6, 1.02);
    put_networks(s, &a10, 6, 0.98);
    CHECK_EQ(train(&with, s, "", NULL, &told, &err), FT_OK);
    CHECK_EQ(ft_import_ops(&g, list, strlen(list), "net", NULL), FT_OK);
    CHECK_EQ(ft_device_load(&d, data_dir, "l4", NULL), FT_OK);
    on.device = d;
    CHECK_EQ(ft__predict_network(&a, without, &on, g, &err), FT_OK);
    CHECK_EQ(ft__predict_network(&b, with, &on, g, &err), FT_OK);
    CHECK(EQ(a.time.value, b.time.value) && EQ(b.n_networks, 0));
    CHECK(CMP(b.time.high / b.time.low, !=, a.time.high / a.time.low));
    CHECK(CMP(b.time.low, <, b.time.value) && CMP(b.time.value, <, b.time.high));
    ft__network_estimate_free(&a);
    ft__network_estimate_free(&b);
    ft_graph_free(g);
    ft_device_free(d);
    ft_predictor_free(with);
    ft_predictor_free(without);
    ft_store_close(s);
}

TEST(networks_asked_for_anew_replace_those_of_their_device)
{
    ft_store *s = open_store();
    ft_predictor *p, *added;
    struct told told;
    ft_error err = {0};

    put_networks(s, &a30, 6, 0.7);
    put_networks(s, &a10, 6, 0.8);
    CHECK_EQ(train(&p, s, "", NULL, &told, &err), FT_OK);
    CHECK_EQ(n_schedules(p), 2);
    put_network(s, &a30, 6, "forward", 0.7);
    CHECK_EQ(train(&added, s, "device=a30", p, &told, &err), FT_OK);
    CHECK_EQ(n_schedules(added), 2);
    CHECK_EQ(schedule_of(added, "a30").n, 7);
    CHECK_EQ(schedule_of(added, "a10").n, 6);
    CHECK_EQ(schedule_of(added, "a10").others, schedule_of(p, "a10").others);
    ft_predictor_free(added);
    ft_predictor_free(p);
    ft_store_close(s);
}

/* What may be in a file. */

static ft__device_schedule good(void)
{
    return (ft__device_schedule){.device = "a30",
                                 .policy = "default",
                                 .engine = "torch",
                                 .phase = "step",
                                 .n = 4,
                                 .schedule = {.scale = {1, 1, 0.7, 2},
                                              .bounded = 1,
                                              .launch_s = 1e-5,
                                              .idle_w = 0,
                                              .dynamic = 1},
                                 .time_low = -0.1,
                                 .time_high = 0.2,
                                 .energy_low = NAN,
                                 .energy_high = NAN,
                                 .error = 0.1,
                                 .without = 0.2};
}

static bool is_sound_with(size_t at, double value)
{
    ft__device_schedule p = good();

    memcpy((char *)&p + at, &value, sizeof(value));
    return ft__device_schedule_sound(&p);
}

#define AT(field) offsetof(ft__device_schedule, field)

TEST(nonsense_in_a_schedule_is_refused)
{
    static const size_t factor[] = {AT(schedule.scale[0]), AT(schedule.scale[3]),
                                    AT(schedule.bounded), AT(schedule.launch_s)};
    static const size_t range[] = {AT(time_low), AT(time_high), AT(energy_low),
                                   AT(energy_high)};
    static const uint64_t n[] = {0, 1, UINT64_C(1) << 32};
    static const char *const phase[] = {"backward", "optimizer", "", "forwards"};
    ft__device_schedule p = good();

    CHECK(ft__device_schedule_sound(&p));
    for (size_t i = 0; i < sizeof(factor) / sizeof(*factor); i++) {
        CHECK(is_sound_with(factor[i], 1e3));
        CHECK(!is_sound_with(factor[i], 0));
        CHECK(!is_sound_with(factor[i], -1));
        CHECK(!is_sound_with(factor[i], 1001));
        CHECK(!is_sound_with(factor[i], NAN));
    }
    for (size_t i = 0; i < sizeof(range) / sizeof(*range); i++) {
        CHECK(!is_sound_with(range[i], 7));
        CHECK(!is_sound_with(range[i], -7));
    }
    CHECK(!is_sound_with(AT(schedule.idle_w), -1));
    CHECK(!is_sound_with(AT(schedule.dynamic), INFINITY));
    CHECK(!is_sound_with(AT(error), NAN));
    for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++) {
        p = good();
        p.n = n[i];
        CHECK(!ft__device_schedule_sound(&p));
    }
    for (size_t i = 0; i < sizeof(phase) / sizeof(*phase); i++) {
        p = good();
        snprintf(p.phase, sizeof(p.phase), "%s", phase[i]);
        CHECK(!ft__device_schedule_sound(&p));
    }
    p = good();
    memset(p.engine, 'x', sizeof(p.engine));
    CHECK(!ft__device_schedule_sound(&p));
}

TEST(nonsense_in_errors_of_networks_is_refused)
{
    const ft__unseen right = {
        .n = 9, .chips = 2, .part = 0.4, .alone = 0.2, .share = {0, 1, 0, 0}};
    ft__unseen u = right;

    CHECK(ft__unseen_sound(&u));
    u.chips = 1;
    CHECK(!ft__unseen_sound(&u));
    u = right;
    u.part = NAN;
    CHECK(!ft__unseen_sound(&u));
    u = right;
    u.share[2] = -1;
    CHECK(!ft__unseen_sound(&u));
    u = right;
    u.alone = 2;
    CHECK(!ft__unseen_sound(&u));
    CHECK_NEAR(
        ft__unseen_unlike(&right, &(ft__op_bounds){.alone = 0.1, .share = {0, 1}}), 0,
        1e-12);
    CHECK_NEAR(ft__unseen_unlike(&right, &(ft__op_bounds){.alone = 1, .share = {0, 1}}),
               1, 1e-12);
    CHECK_NEAR(ft__unseen_unlike(&right,
                                 &(ft__op_bounds){.alone = 0.1, .share = {0.06, 0.94}}),
               0.6, 1e-12);
    CHECK_NEAR(
        ft__unseen_unlike(
            &right, &(ft__op_bounds){.alone = 0.1, .share = {0, 1}, .chains = 0.04}),
        0.4, 1e-12);
}
