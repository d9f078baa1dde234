/* Sessions, the measuring loop and collecting, on the fake engine: its clock
 * moves by a formula, so results can be told in advance. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/measure.h"
#include "predict/probes.h"

static const char *plugin_dir;

static ft_op parse(const char *spec)
{
    ft_op op;

    if (ft_op_parse(&op, spec, strlen(spec), NULL)) {
        fprintf(stderr, "%s\n", spec);
        exit(1);
    }
    return op;
}

static ft_session *open_fake(const char *options)
{
    ft_session_options how = {.engine = "fake",
                              .plugin_dir = plugin_dir,
                              .engine_options = options,
                              .seed = 1};
    ft_session *s = NULL;
    ft_error err = {0};

    if (ft_session_open(&s, &how, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return s;
}

static void an_unknown_engine_lists_those_there_are(void)
{
    ft_session_options how = {.engine = "nosuch", .plugin_dir = plugin_dir};
    ft_session *s;
    ft_error err = {0};

    CHECK(ft_session_open(&s, &how, &err) == FT_ENOTFOUND && s == NULL);
    CHECK(strstr(err.msg, "nosuch") && strstr(err.msg, "fake"));
    how.engine = "../fake";
    CHECK(ft_session_open(&s, &how, &err) == FT_ENOTFOUND);
}

static void figures_of_readings_are_per_iteration(void)
{
    ft_reading r[] = {{1.0, 0, 10, 0, 0},
                      {1.1, 1, 10, 0, 0},
                      {0.9, 2, 10, 0, 0},
                      {2.0, 3, 20, 0, 0},
                      {50.0, 4, 10, 0, 0}};
    ft_measurement m;

    CHECK(ft_measurement_of_times(&m, r, 5, NULL) == FT_OK);
    CHECK_NEAR(m.value, 0.1, 1e-15);
    CHECK_NEAR(m.mean, (0.1 + 0.11 + 0.09 + 0.1 + 5) / 5, 1e-12);
    CHECK_NEAR(m.mad, 1.4826 * 0.01, 1e-12);
    CHECK(m.n == 5 && m.iterations == 60);
    CHECK_NEAR(m.error, m.mad * sqrt(1.5707963267948966 / 5), 1e-15);
}

static void a_measurement_keeps_every_batch(void)
{
    ft_session *s = open_fake("noise=0");
    ft_op small = parse("relu x=1x1000"), large = parse("relu x=1x4000000");
    ft_measure_options how = {.min_time_s = 0.05, .min_batches = 7};
    ft_timing a, b;

    CHECK(ft_measure_op(&a, s, &small, &how, NULL) == FT_OK);
    CHECK(ft_measure_op(&b, s, &large, &how, NULL) == FT_OK);
    CHECK(a.n_readings >= 7 && a.time.n == a.n_readings);
    CHECK(a.readings[0].iterations > 1 && a.readings[0].value >= 1e-3);
    CHECK(a.time.value > 0 && b.time.value > 10 * a.time.value);
    /* Without noise every batch says the same. */
    CHECK_NEAR(a.time.std / a.time.value, 0, 1e-9);
    ft_timing_free(&a);
    ft_timing_free(&b);
    ft_session_close(s);
}

static void a_fault_of_the_engine_is_an_error_not_a_number(void)
{
    ft_session *s = open_fake("fail_kind=softmax");
    ft_op op = parse("softmax x=1x1000 axis=1");
    ft_measure_options how = {.min_time_s = 0.01};
    ft_timing t;
    ft_error err = {0};

    CHECK(ft_measure_op(&t, s, &op, &how, &err) == FT_EBACKEND && err.msg[0]);
    CHECK(t.readings == NULL);
    ft_session_close(s);
}

static void time_is_proportional_above_the_floor(void)
{
    ft_session *s = open_fake("noise=0");
    ft_op op = parse("relu x=1x16");
    ft_linearity l;

    CHECK(ft_measure_linearity(&l, s, &op, NULL) == FT_OK);
    CHECK(l.n >= 8 && l.slope_s > 0 && l.floor_s > 0);
    CHECK_NEAR(l.slope_s * (double)l.iterations[l.n - 1] / l.duration_s[l.n - 1], 1,
               1e-3);
    ft_session_close(s);
}

static void a_network_runs_in_order_and_says_where_memory_went(void)
{
    static const char text[] =
        "conv2d x=1x3x32x32 out=8 kernel=3x3 stride=1x1 pad=1x1 *2\n"
        "relu x=1x8x32x32\n";
    ft_session *s = open_fake("noise=0");
    ft_measure_options how = {.min_time_s = 0.01};
    ft_network_timing t;
    ft_op conv = parse("conv2d x=1x3x32x32 out=8 kernel=3x3 stride=1x1 pad=1x1");
    ft_op relu = parse("relu x=1x8x32x32");
    ft_timing c, r;
    ft_graph *g;

    CHECK(ft_import_ops(&g, text, sizeof(text) - 1, "list", NULL) == FT_OK);
    CHECK(ft_measure_network(&t, s, g, &how, NULL) == FT_OK);
    CHECK(ft_measure_op(&c, s, &conv, &how, NULL) == FT_OK);
    CHECK(ft_measure_op(&r, s, &relu, &how, NULL) == FT_OK);
    CHECK_NEAR(t.time.value / (2 * c.time.value + r.time.value), 1, 1e-6);
    CHECK(t.activation_bytes >= 4 * 32 * 32 * (3 + 8) && t.n_readings > 0);
    ft_network_timing_free(&t);
    ft_timing_free(&c);
    ft_timing_free(&r);
    ft_graph_free(g);
    ft_session_close(s);
}

/* ---- collecting ---- */

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

static ft_status collect(ft_collect_report *r, const char *options, const char *path)
{
    ft_collect_options how = {.op_time_s = 0.002, .command = "test"};
    ft_session *s = open_fake(options);
    ft_op ops[N_WANTED];
    ft_store *store;
    ft_error err = {0};
    ft_status st = ft_store_open(&store, path, FT_STORE_WRITE, &err);

    for (int i = 0; i < N_WANTED; i++)
        ops[i] = parse(wanted[i]);
    if (!st)
        st = ft_collect(r, s, store, ops, NULL, N_WANTED, &how, &err);
    if (st)
        fprintf(stderr, "%s\n", err.msg);
    ft_store_close(store);
    ft_session_close(s);
    return st;
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

static void collecting_twice_measures_once(void)
{
    ft_collect_report r;
    char path[128];

    temporary(path);
    CHECK(collect(&r, "", path) == FT_OK);
    CHECK(r.wanted == N_UNIQUE && r.measured == N_UNIQUE && r.present == 0 &&
          r.left == 0);
    CHECK(collect(&r, "", path) == FT_OK);
    CHECK(r.present == N_UNIQUE && r.measured == 0);
    clean(path);
}

static void what_the_engine_breaks_on_is_counted_and_the_rest_measured(void)
{
    ft_collect_report r;
    char path[128];

    temporary(path);
    CHECK(collect(&r, "fail_kind=conv2d", path) == FT_OK);
    CHECK(r.failed == 2 && r.measured == N_UNIQUE - 2);
    /* The next run, on a sound engine, takes up what failed. */
    CHECK(collect(&r, "", path) == FT_OK);
    CHECK(r.present == N_UNIQUE - 2 && r.measured == 2);
    clean(path);
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
    CHECK(ft_store_each(s, NULL, 0, count_rows, &n, NULL) == FT_OK);
    ft_store_close(s);
    return n;
}

/* Kill a collection again and again: what is stored only grows, and in the end
 * everything has been measured exactly once. */
static void a_killed_collection_goes_on_where_it_was(int kills)
{
    ft__prng rng = ft__prng_stream(17, 0);
    ft_collect_report r;
    int before = 0, now;
    char path[128];

    temporary(path);
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
        now = times_in(path);
        CHECK(now >= before);
        before = now;
    }
    CHECK(collect(&r, "", path) == FT_OK);
    CHECK(r.present + r.measured == N_UNIQUE);
    CHECK(times_in(path) == N_UNIQUE + FT__N_PROBES);
    clean(path);
}

/* usage: test_run SOURCE_ROOT PLUGIN_DIR [KILLS] */
int main(int argc, char **argv)
{
    if (argc < 3)
        return 77;
    plugin_dir = argv[2];
    an_unknown_engine_lists_those_there_are();
    figures_of_readings_are_per_iteration();
    a_measurement_keeps_every_batch();
    a_fault_of_the_engine_is_an_error_not_a_number();
    time_is_proportional_above_the_floor();
    a_network_runs_in_order_and_says_where_memory_went();
    collecting_twice_measures_once();
    what_the_engine_breaks_on_is_counted_and_the_rest_measured();
    a_killed_collection_goes_on_where_it_was(argc > 3 ? atoi(argv[3]) : 20);
    CHECK_DONE();
}
