/* Collecting on the fake engine: its clock moves by a formula, so results can be told
 * in advance. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/prng.h"
#include "check.h"
#include "fake_engine.h"
#include "foretell/measure.h"
#include "measure/session.h"
#include "predict/data/features.h"
#include "store/store_inside.h"

static const char *plugin_dir;
static const char *source_root;
/* Not "": a copied tree of /sys, whose clocks sessions hold at 1.2 GHz. */
static char machine[128];

static ft_session *open_fake(const char *options)
{
    return fake_session(options, plugin_dir, machine);
}

static const char *const wanted[] = {
    "conv2d x=1x8x16x16 out=8 kernel=3x3 stride=1x1 pad=1x1",
    "conv2d x=1x16x16x16 out=8 kernel=1x1 stride=1x1 pad=0x0",
    "conv2d x=1x16x16x16 out=8 kernel=1x1 stride=1x1 pad=0x0",
    "linear x=1x128 out=64",
    "relu x=1x100",
    "softmax x=1x100 axis=1",
    "view x=1x100 out=100",
};
enum { N_WANTED = 7, N_UNIQUE = 5 };

static ft_status collect_these(ft_collect_report *r, const char *options,
                               const char *path, const char *const *specs, size_t n,
                               const ft_collect_options *how)
{
    ft_session *s = open_fake(options);
    ft_op ops[16];
    ft_store *store;
    ft_error err = {0};
    ft_status st = ft_store_open(&store, path, FT_STORE_WRITE, &err);

    for (size_t i = 0; i < n; i++)
        ops[i] = parse(specs[i]);
    if (!st)
        st = ft_collect(r, s, store, ops, NULL, n, how, &err);
    if (st)
        fprintf(stderr, "%s\n", err.msg);
    ft_store_close(store);
    ft_session_close(s);
    return st;
}

static ft_status collect(ft_collect_report *r, const char *options, const char *path)
{
    ft_collect_options how = {
        .op_time_s = 0.002, .repeat_share = -1, .command = "test"};

    return collect_these(r, options, path, wanted, N_WANTED, &how);
}

static void temporary(char *path)
{
    static int n;

    sprintf(path, "/tmp/foretell-run-%d-%d.db", (int)getpid(), n++);
    remove(path);
}

static void clean(const char *path)
{
    char name[256];

    remove(path);
    snprintf(name, sizeof(name), "%s-wal", path);
    remove(name);
    snprintf(name, sizeof(name), "%s-shm", path);
    remove(name);
}

TEST(collecting_twice_measures_once)
{
    ft_collect_report r;
    char path[128];

    temporary(path);
    CHECK_EQ(collect(&r, "", path), FT_OK);
    CHECK(EQ(r.wanted, N_UNIQUE) && EQ(r.measured, N_UNIQUE) && EQ(r.present, 0) &&
          EQ(r.left, 0));
    CHECK_EQ(collect(&r, "", path), FT_OK);
    CHECK(EQ(r.present, N_UNIQUE) && EQ(r.measured, 0));
    clean(path);
}

TEST(what_the_engine_breaks_on_is_counted_and_the_rest_measured)
{
    ft_collect_report r;
    char path[128];

    temporary(path);
    CHECK_EQ(collect(&r, "fail_kind=conv2d", path), FT_OK);
    CHECK(EQ(r.failed, 2) && EQ(r.measured, N_UNIQUE - 2));
    /* The next run, on a sound engine, takes up what failed. */
    CHECK_EQ(collect(&r, "", path), FT_OK);
    CHECK(EQ(r.present, N_UNIQUE - 2) && EQ(r.measured, 2));
    clean(path);
}

static const ft_collect_options ascending = {
    .op_time_s = 0.002, .repeat_share = -1, .ascending = 1};

/* 32 MB each of the batch: 1 and 2 fit beside nothing else, 3 does not. */
TEST(what_is_too_large_ends_its_series_as_such)
{
    static const char *const specs[] = {"relu x=4x8000000", "relu x=2x8000000",
                                        "relu x=3x8000000", "relu x=1x8000000",
                                        "relu x=3x100",     "tanh x=4x8000000"};
    ft_collect_report r;
    char path[128];

    temporary(path);
    CHECK_EQ(collect_these(&r, "oom_above=70000000", path, specs, 6, &ascending),
             FT_OK);
    CHECK(EQ(r.measured, 3) && EQ(r.failed, 2) && EQ(r.too_large, 1) &&
          EQ(r.skipped, 0));
    CHECK_EQ(r.left, 0);
    /* With more memory, the next run takes up what was left out. */
    CHECK_EQ(collect_these(&r, "", path, specs, 6, &ascending), FT_OK);
    CHECK(EQ(r.present, 3) && EQ(r.measured, 3));
    clean(path);
}

TEST(a_failure_that_is_not_the_sizes_ends_its_series_too)
{
    static const char *const specs[] = {
        "softmax x=1x100 axis=1", "softmax x=8x100 axis=1", "softmax x=4x100 axis=1",
        "relu x=4x100",           "relu x=1x100",           "softmax x=1x200 axis=1"};
    ft_collect_options all = ascending;
    ft_collect_report r;
    char path[128];

    temporary(path);
    CHECK_EQ(collect_these(&r, "fail_kind=softmax", path, specs, 6, &ascending), FT_OK);
    CHECK(EQ(r.measured, 2) && EQ(r.failed, 2) && EQ(r.skipped, 2) &&
          EQ(r.too_large, 0));
    /* Where sizes are no series, each is tried. */
    all.ascending = 0;
    CHECK_EQ(collect_these(&r, "fail_kind=softmax", path, specs, 6, &all), FT_OK);
    CHECK(EQ(r.present, 2) && EQ(r.failed, 4) && EQ(r.skipped, 0));
    clean(path);
}

TEST(an_engine_that_breaks_down_loses_nothing_measured)
{
    const ft_collect_options how = {.op_time_s = 0.002, .repeat_share = -1, .group = 2};
    ft_collect_report r;
    size_t before;
    char path[128];

    temporary(path);
    CHECK_EQ(collect_these(&r, "", path, wanted, 0, &how), FT_OK); /* the machine */
    CHECK_EQ(collect_these(&r, "fail_after=15000", path, wanted, N_WANTED, &how),
             FT_OK);
    before = r.measured;
    CHECK(CMP(before, >, 0) && CMP(r.failed, >, 0) && EQ(before + r.failed, N_UNIQUE));
    CHECK_EQ(collect_these(&r, "", path, wanted, N_WANTED, &how), FT_OK);
    CHECK(EQ(r.present, before) && EQ(r.present + r.measured, N_UNIQUE));
    clean(path);
}

/* Which of the operations was measured when: rows are numbered as they come. */
struct order {
    const char *const *specs;
    int64_t id[16];
};

static int note_id(void *user, const ft_row *row)
{
    struct order *o = user;
    char spec[512];
    ft_op op;

    for (size_t i = 0; o->specs[i]; i++) {
        op = parse(o->specs[i]);
        ft_op_print(&op, spec, sizeof(spec));
        if (strcmp(row->key.metric, "time") == 0 && strcmp(row->key.spec, spec) == 0)
            o->id[i] = row->id;
    }
    return 0;
}

/* Seven that are nearly the same, one that is far from them, and one that takes many
 * times as long to measure as all the others: one that stands for the seven comes
 * first, the far one before all of them are measured, the heavy one last. */
TEST(what_stands_for_most_in_its_time_comes_first)
{
    static const char *const specs[] = {
        "linear x=4096x8192 out=8192", "linear x=64x250 out=256",
        "linear x=64x251 out=256",     "linear x=64x252 out=256",
        "linear x=64x253 out=256",     "linear x=64x254 out=256",
        "linear x=64x255 out=256",     "linear x=64x256 out=256",
        "linear x=1x4096 out=1024",    NULL};
    ft_collect_options how = {.op_time_s = 0.002, .repeat_share = -1, .group = 1};
    struct order o = {.specs = specs};
    ft_collect_report r;
    char path[128];
    ft_store *s;
    int before[9] = {0};

    temporary(path);
    CHECK(EQ(collect_these(&r, "", path, specs, 9, &how), FT_OK) && EQ(r.measured, 9));
    CHECK_EQ(ft_store_open(&s, path, FT_STORE_READ, NULL), FT_OK);
    CHECK_EQ(ft_store_each(s, NULL, 0, note_id, &o, NULL), FT_OK);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            before[i] += o.id[j] < o.id[i];
    CHECK(CMP(before[8], >, 0) && CMP(before[8], <, 7) && EQ(before[0], 8));
    ft_store_close(s);
    clean(path);
}

static void count_warning(void *user, ft_log_level level, const char *text)
{
    int *n = user;

    *n += level == FT_LOG_WARN && strstr(text, "what to measure next");
}

/* Enough of two kinds that what was hard to foretell is learned on the way; how many
 * warnings say that it was not. Blanks part the words of `where`. */
static int collect_on_a_device_with_a_blank(const char *path)
{
    enum { BOTH = 24 };
    int warned = 0;
    const ft_log log = {.message = count_warning, .user = &warned};
    const ft_collect_options how = {
        .op_time_s = 0.002, .repeat_share = -1, .group = 1, .log = &log};
    ft_session *s = open_fake("");
    ft_collect_report r = {0};
    ft_error err = {0};
    ft_op ops[BOTH];
    ft_store *store;

    snprintf(s->device, sizeof(s->device), "a device");
    for (int i = 0; i < BOTH; i++) {
        char spec[64];

        snprintf(spec, sizeof(spec), i % 2 ? "linear x=8x%d out=64" : "relu x=8x%d",
                 64 * (i + 1));
        ops[i] = parse(spec);
    }
    CHECK_EQ(ft_store_open(&store, path, FT_STORE_WRITE, NULL), FT_OK);
    if (ft_collect(&r, s, store, ops, NULL, BOTH, &how, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(EQ(r.measured, BOTH) && EQ(r.left, 0));
    ft_store_close(store);
    ft_session_close(s);
    return warned;
}

TEST(a_device_whose_name_holds_a_blank_is_collected_on_and_learned_from)
{
    char path[128];

    temporary(path);
    CHECK_EQ(collect_on_a_device_with_a_blank(path), 0);
    clean(path);
}

/* A row that cannot be read keeps nothing from being measured. */
TEST(without_learning_what_to_measure_next_all_is_measured)
{
    ft_key key = {.device = "a device",
                  .engine = "fake",
                  .spec = "no operation",
                  .phase = "forward",
                  .metric = "time"};
    const ft_measurement m = {.unit = "s", .value = 1, .error = 0, .n = 1};
    ft_session *s = open_fake("");
    char path[128];
    ft_store *store;
    int64_t run;

    key.setting = s->setting;
    key.engine_version = s->engine->version();
    key.dtype_policy = s->dtype_policy;
    temporary(path);
    CHECK_EQ(ft_store_open(&store, path, FT_STORE_WRITE, NULL), FT_OK);
    CHECK(!ft__store_begin_run(store, &run, "test", "{}", NULL));
    CHECK(!ft__store_put(store, run, &key, &m, NULL, 0, NULL));
    ft_store_close(store);
    ft_session_close(s);
    CHECK_EQ(collect_on_a_device_with_a_blank(path), 1);
    clean(path);
}

static const char *distribution(void)
{
    return "3.1+debian";
}

static const char *scheduled(void)
{
    return "0.27.0-3f2a91c4+rules";
}

/* Schedules of an engine have calibrations of their own; what else stands behind a "+"
 * in a version is none. */
TEST(calibrations_are_of_schedules)
{
    static const struct {
        const char *(*version)(void);
        const char *schedule;
    } cases[] = {{distribution, ""}, {scheduled, "+rules"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const ft_collect_options how = {.op_time_s = 0.002, .repeat_share = -1};
        ft_session *s = open_fake("");
        const ft_engine *fake = s->engine;
        ft_engine other = *fake;
        const ft_op op = parse("relu x=1x100");
        double usual_s = NAN;
        ft_collect_report r;
        char path[128], fact[128];
        ft_store *store;

        other.version = cases[i].version;
        s->engine = &other;
        temporary(path);
        CHECK_EQ(ft_store_open(&store, path, FT_STORE_WRITE, NULL), FT_OK);
        CHECK_EQ(ft_collect(&r, s, store, &op, NULL, 1, &how, NULL), FT_OK);
        snprintf(fact, sizeof(fact), "calibration_s:fake%s %s", cases[i].schedule,
                 s->setting);
        CHECK_EQ(ft_store_fact(store, s->device, fact, &usual_s, NULL), FT_OK);
        CHECK(CMP(usual_s, >, 0));
        ft_store_close(store);
        s->engine = fake;
        ft_session_close(s);
        clean(path);
    }
}

static int has_three_rounds(void *user, const ft_row *row)
{
    int *n = user;

    if (strcmp(row->key.metric, "time") == 0)
        *n += strstr(row->m.conditions, "\"rounds\": 3") ? 1 : 1000;
    return 0;
}

static void keep_warning(void *user, ft_log_level level, const char *text)
{
    if (level == FT_LOG_WARN)
        snprintf(user, 400, "%s", text);
}

/* The probes at least, for they always are. */
TEST(a_short_budget_takes_fewer_rounds)
{
    ft_collect_options how = {.budget_s = 0.05 * N_UNIQUE, .repeat_share = -1};
    ft_collect_report r;
    char path[128];
    ft_store *s;
    int n = 0;

    temporary(path);
    CHECK_EQ(collect_these(&r, "", path, wanted, N_WANTED, &how), FT_OK);
    CHECK_EQ(ft_store_open(&s, path, FT_STORE_READ, NULL), FT_OK);
    CHECK_EQ(ft_store_each(s, NULL, 0, has_three_rounds, &n, NULL), FT_OK);
    CHECK(CMP(n, >=, FT__N_PROBES) && CMP(n, <, 1000));
    ft_store_close(s);
    clean(path);
}

/* Measuring the machine itself takes longer than that. */
TEST(however_short_a_budget_one_operation_is_measured_and_the_reason_said)
{
    char said[400] = "", path[128];
    const ft_log log = {.message = keep_warning, .user = said};
    const ft_collect_options how = {.budget_s = 1e-6, .repeat_share = -1, .log = &log};
    ft_collect_report r;

    temporary(path);
    for (size_t known = 0; known < 2; known++) {
        CHECK_EQ(collect_these(&r, "", path, wanted, N_WANTED, &how), FT_OK);
        CHECK(EQ(r.present, known) && EQ(r.measured, 1) &&
              EQ(r.left, N_UNIQUE - known - 1));
        CHECK(HAS(said, "of the machine itself") && HAS(said, "a budget of 1e-06 s"));
    }
    clean(path);
}

static int check_row(void *user, const ft_row *row)
{
    ft_reading *r;
    size_t n;

    if (strcmp(row->key.metric, "time") != 0)
        return 0;
    CHECK(SAME(row->key.dtype_policy, "default"));
    CHECK(CMP(row->m.calibration_s, >, 0) && HAS(row->m.conditions, "\"rounds\": 5"));
    CHECK(CMP(row->m.error, >=, 0.01 * row->m.value));
    CHECK_EQ(ft__store_readings(user, row->id, &r, &n, NULL), FT_OK);
    CHECK(CMP(n, >=, 5) && EQ(r[n - 1].round, 4) && EQ(n, row->m.n));
    free(r);
    return 0;
}

TEST(part_is_measured_again_and_reproducibility_told)
{
    ft_collect_options how = {.op_time_s = 0.002};
    ft_collect_report r;
    char path[128];
    ft_repeats again;
    ft_store *s;

    temporary(path);
    CHECK_EQ(collect_these(&r, "", path, wanted, N_WANTED, &how), FT_OK);
    CHECK(EQ(r.measured, N_UNIQUE) && EQ(r.repeated, N_UNIQUE));
    CHECK_EQ(ft_store_open(&s, path, FT_STORE_READ, NULL), FT_OK);
    CHECK_EQ(ft_store_repeats(&again, s, &(ft_key){.metric = "time"}, NULL), FT_OK);
    CHECK(EQ(again.pairs, N_UNIQUE) && EQ(again.calibrated, N_UNIQUE));
    CHECK(CMP(again.median, <, 0.02) && CMP(again.covered, >=, 0.6));
    CHECK_EQ(ft_store_each(s, NULL, 0, check_row, s, NULL), FT_OK);
    ft_store_close(s);
    clean(path);
}

struct whole {
    int networks, parts;
    double time_s, count;
};

static int take_network(void *user, const ft_row *row)
{
    struct whole *w = user;

    if (strcmp(row->key.spec, "network name=two_layers dtype=fp32") == 0) {
        w->networks++;
        w->time_s = row->m.value;
    }
    return 0;
}

static int take_part(void *user, const ft_member *m)
{
    struct whole *w = user;

    CHECK_EQ(strcmp(m->source, "fake"), 0);
    w->parts++;
    w->count += m->count;
    return 0;
}

static struct whole networks_in(const char *path)
{
    struct whole w = {0};
    ft_store *s;

    CHECK_EQ(ft_store_open(&s, path, FT_STORE_READ, NULL), FT_OK);
    CHECK_EQ(ft_store_each(s, NULL, 0, take_network, &w, NULL), FT_OK);
    CHECK_EQ(ft_store_each_member(s, NULL, NULL, take_part, &w, NULL), FT_OK);
    ft_store_close(s);
    return w;
}

/* By its formula the engine takes 2 us and what is moved and computed: 128 x 128
 * weights, at 10 GB/s and 50 GFLOP/s. */
TEST(networks_are_measured_whole_once)
{
    static const char list[] = "linear x=1x128 out=128 *3\nrelu x=1x128 *2\n";
    ft_collect_network net = {.name = "two layers"};
    ft_collect_options how = {.networks = &net, .n_networks = 1};
    const double linear_s = 2e-6 + 2 * 128 * 128 / 50e9 + 4 * (128 * 128 + 256) / 10e9,
                 relu_s = 2e-6 + 4 * 256 / 10e9;
    ft_collect_report r;
    static const char pool[] = "maxpool2d x=1x8x16x16 kernel=2x2 stride=2x2 pad=0x0\n";
    ft_graph *g = NULL, *refused = NULL;
    struct whole w;
    char path[128];

    CHECK_EQ(ft_import_ops(&g, list, strlen(list), "list", NULL), FT_OK);
    net.graph = g;
    temporary(path);
    CHECK_EQ(collect_these(&r, "", path, wanted, N_WANTED, &how), FT_OK);
    CHECK_EQ(r.networks, 1);
    w = networks_in(path);
    CHECK(EQ(w.networks, 1) && EQ(w.parts, 2) && EQ(w.count, 5));
    CHECK(CMP(w.time_s, >, 2 * relu_s + 3 * (linear_s - 1e-6)) &&
          CMP(w.time_s, <, 3 * (2 * relu_s + 3 * linear_s)));
    CHECK_EQ(collect_these(&r, "", path, wanted, N_WANTED, &how), FT_OK);
    CHECK(EQ(r.networks, 0) && EQ(networks_in(path).networks, 1));
    clean(path);

    /* What the engine does not run whole is left out, and all else is measured. */
    temporary(path);
    CHECK_EQ(ft_import_ops(&refused, pool, strlen(pool), "list", NULL), FT_OK);
    net.graph = refused;
    CHECK_EQ(collect_these(&r, "fail_kind=maxpool2d", path, wanted + 3, 1, &how),
             FT_OK);
    CHECK(EQ(r.networks, 0) && EQ(r.measured, 1));
    clean(path);
    ft_graph_free(refused);
    ft_graph_free(g);
}

static int count_rows(void *user, const ft_row *row)
{
    int *n = user;

    *n += strcmp(row->key.metric, "time") == 0;
    return 0;
}

static int times_in(const char *path)
{
    ft_store *s;
    int n = 0;

    if (ft_store_open(&s, path, FT_STORE_READ, NULL))
        return 0; /* killed before the store was there */
    CHECK_EQ(ft_store_each(s, NULL, 0, count_rows, &n, NULL), FT_OK);
    ft_store_close(s);
    return n;
}

static double highest_clock_khz(void)
{
    char path[256];
    double khz = NAN;
    FILE *fp;

    snprintf(path, sizeof(path),
             "%s/sys/devices/system/cpu/cpu0/cpufreq/"
             "scaling_max_freq",
             machine);
    fp = fopen(path, "r");
    /* It may just be written. */
    if (fp && fscanf(fp, "%lf", &khz) != 1)
        khz = NAN;
    if (fp)
        fclose(fp);
    return khz;
}

/* The guard puts back what the killed one had set; it needs a moment. */
static bool settings_come_back(double khz)
{
    const struct timespec moment = {0, 10 * 1000 * 1000};

    for (int i = 0; i < 30000 && highest_clock_khz() != khz; i++)
        nanosleep(&moment, NULL);
    return highest_clock_khz() == khz;
}

static void copy_machine(void)
{
    char command[512];

    snprintf(machine, sizeof(machine), "/tmp/foretell-run-%d", (int)getpid());
    snprintf(command, sizeof(command), "cp -r %s/tests/recorded/rapl-laptop %s",
             source_root, machine);
    CHECK_EQ(system(command), 0);
}

static void drop_machine(void)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf %s", machine);
    CHECK_EQ(system(command), 0);
    machine[0] = '\0';
}

/* Kill a collection again and again: what is stored only grows, and in the end
 * everything has been measured exactly once, and clocks are as they were. */
static void a_killed_collection_goes_on_where_it_was(int kills)
{
    ft__prng rng = ft__prng_stream(17, 0);
    ft_collect_report r;
    int before = 0, now;
    double khz;
    char path[128];

    temporary(path);
    copy_machine();
    khz = highest_clock_khz();
    for (int i = 0; i < kills; i++) {
        pid_t pid = fork();
        struct timespec nap = {0, (long)ft__prng_below(&rng, 40000000)};

        if (pid == 0) {
            ft_collect_report child;

            _exit(collect(&child, "sleep=1", path) != FT_OK);
        }
        nanosleep(&nap, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        CHECK(settings_come_back(khz));
        now = times_in(path);
        CHECK(CMP(now, >=, before));
        before = now;
    }
    CHECK_EQ(collect(&r, "", path), FT_OK);
    CHECK_EQ(r.present + r.measured, N_UNIQUE);
    CHECK_EQ(times_in(path), N_UNIQUE + FT__N_PROBES);
    CHECK_EQ(highest_clock_khz(), khz);
    drop_machine();
    clean(path);
}

/* usage: test_collect SOURCE_ROOT PLUGIN_DIR [KILLS] */
int main(int argc, char **argv)
{
    if (argc < 3)
        return 77;
    source_root = argv[1];
    plugin_dir = argv[2];
    check_all();
    a_killed_collection_goes_on_where_it_was(argc > 3 ? atoi(argv[3]) : 20);
    CHECK_DONE();
}
