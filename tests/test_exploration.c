/* Explorations: their files, what is run of them, and what is said of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "device/power/meter.h"
#include "explore/exploration.h"
#include "explore/run.h"
#include "explore/space/params.h"
#include "files.h"
#include "foretell/exploration.h"
#include "stepped_clock.h"

static char folder[] = "/tmp/foretell-exploration-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static unsigned next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
    return p;
}

static ft_exploration *exploration_of(const char *text)
{
    ft_exploration *x = NULL;
    ft_error err = {0};

    if (ft__exploration_read(&x, text, strlen(text), "test", &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return x;
}

#define HEAD "name: t\ncommand: [echo, '{a}']\nobjectives: [time]\n"
#define A "parameters:\n- {name: a, values: [x, y]}\n"

static const struct {
    const char *text, *says;
} mistakes[] = {
    {"", "test:1: the file is empty"},
    {"name: [", "test:"},
    {"- 1\n", "here stand keys and values"},
    {A "command: [echo, '{a}']\nobjectives: [time]\n", "\"name:\" is missing"},
    {HEAD, "\"parameters:\" is missing"},
    {HEAD A "nmae: t\n", "test:6: there is no key \"nmae\"; known are name"},
    {HEAD "name: u\n" A, "test:4: \"name\" stands here twice"},
    {HEAD "parameters:\n- {name: a b, values: [1]}\n", "a name has letters"},
    {HEAD "parameters:\n- {name: a, values: []}\n", "test:5: a: values: a list"},
    {HEAD "parameters:\n- {name: a, values: [1, 1]}\n", "the value \"1\" stands"},
    {HEAD "parameters:\n- {name: a, low: 3, high: 2}\n", "high must be above low"},
    {HEAD "parameters:\n- {name: a, low: 0, high: 2, log: true}\n", "with log"},
    {HEAD "parameters:\n- {name: a, low: 0, high: x}\n", "a number is wanted"},
    {HEAD "parameters:\n- {name: a, low: 0.5, high: 2, type: integer}\n",
     "whole numbers"},
    {HEAD "parameters:\n- {name: a, low: 1, values: [1]}\n", "either values"},
    {HEAD "parameters:\n- {name: b, values: [1]}\n", "where does it act? {b}"},
    {HEAD "parameters:\n- {name: b, values: [1], setting: fan}\n",
     "there is no setting \"fan\""},
    {HEAD A "- {name: a, values: [1]}\n", "\"a\" stands here twice"},
    {HEAD A "- {name: b, values: [1], environment: B, when: {c: 1}}\n",
     "test:6: when: there is no parameter \"c\""},
    {HEAD A "- {name: b, values: [1], environment: B, when: {a: z}}\n",
     "a has no value \"z\""},
    {HEAD A "forbidden:\n- {a: q}\n", "test:7: forbidden: a has no value \"q\""},
    {HEAD A "constants: {a: 5}\n", "{a} stands for something else already"},
    {"name: t\ncommand: [echo, '{build}']\nobjectives: [time]\n"
     "parameters:\n- {name: build, values: [1, 2]}\n",
     "{build} stands for something else"},
    {HEAD A "- {name: b, values: [1], environment: B, when: {c: 1}}\n"
            "- {name: c, values: [1], environment: C, when: {b: 1}}\n",
     "depends"},
    {"name: t\ncommand: [echo, '{a}']\n" A "objectives: [{name: time, unit: ms}]\n",
     "unit belongs to match"},
    {"name: t\ncommand: [echo, '{a}']\n" A "objectives: [{name: memory, limit: MB}]\n",
     "limit: a number in B is wanted"},
    {"name: t\ncommand: [echo, '{a}', '{typo}']\nobjectives: [time]\n" A,
     "test:2: command: nothing stands for {typo}"},
    {"name: t\ncommand: [echo, '{{a}}']\nobjectives: [time]\n" A,
     "where does it act? {a}"},
    {HEAD A "runs: {least: 0}\n", "least: a whole number from 1"},
    {HEAD A "runs: {precision: 2}\n", "precision: a share below 1"},
    {HEAD A "runs: {timeout: soon}\n", "a duration is wanted"},
    {HEAD A "workloads: [u, u]\n", "\"u\" stands here twice"},
    {"name: t\ncommand: [echo, '{a}']\n" A "objectives: [speed]\n",
     "what is \"speed\"?"},
    {"name: t\ncommand: [echo, '{a}']\n" A "objectives:\n- {name: v, match: '('}\n",
     "match:"},
    {"name: t\ncommand: [echo, '{a}']\n" A
     "objectives:\n- {name: v, match: '((v){200}){200}'}\n",
     "expression too big"},
    {"name: t\ncommand: [echo, '{a}']\n" A "objectives:\n- {name: v, match: v}\n",
     "stands in ( )"},
    {"name: t\ncommand: [echo, '{a}']\n" A "objectives:\n- {name: time, limit: 3 J}\n",
     "limit: a number in s is wanted"},
    {"name: t\ncommand: []\n" A "objectives: [time]\n", "from 1 to 1000 words"},
};

TEST(mistakes_are_told_with_line_and_key)
{
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        ft_exploration *x;
        ft_error err = {0};
        ft_status st = ft__exploration_read(&x, mistakes[i].text,
                                            strlen(mistakes[i].text), "test", &err);

        CHECK(EQ(st, FT_EFORMAT) && !x);
        CHECK(HAS(err.msg, mistakes[i].says));
        if (!strstr(err.msg, mistakes[i].says))
            fprintf(stderr, "%zu: \"%s\", not \"%s\"\n", i, err.msg, mistakes[i].says);
    }
}

TEST(files_say_what_is_explored)
{
    ft_exploration *x = exploration_of(
        "name: t\ncommand: [echo, '{a}']\n"
        "parameters:\n- {name: a, values: [x, 'y z']}\n"
        "- {name: b, low: 1, high: 8, log: true, environment: B, when: {a: x}}\n"
        "- {name: r, low: 0.5, high: 2, environment: R}\n"
        "workloads: [u, {name: v, k: 1}]\n"
        "objectives: [time, {name: memory, limit: 2 MiB}]\n");
    const ft_parameter *p;
    const ft_objective *o;
    const char *const *w;
    double point[3] = {0, 4, 0.75}, back[3];
    char text[256];
    ft_error err = {0};

    p = ft_exploration_get(x)->param;
    CHECK_EQ(ft_exploration_get(x)->n_params, 3);
    CHECK(EQ(p[0].type, FT_PARAM_CATEGORICAL) && EQ(p[0].where, FT_ACTS_ARGUMENT));
    CHECK(EQ(p[1].type, FT_PARAM_INTEGER) && EQ(p[1].n_values, 8) && p[1].log);
    CHECK(EQ(p[2].type, FT_PARAM_REAL) && SAME(p[2].target, "R"));
    w = ft_exploration_get(x)->workload;
    CHECK(EQ(ft_exploration_get(x)->n_workloads, 2) && SAME(w[1], "v"));
    o = ft_exploration_get(x)->objective;
    CHECK_EQ(ft_exploration_get(x)->n_objectives, 2);
    CHECK(EQ(o[0].what, FT_MEASURED_TIME) && isnan(o[0].limit));
    CHECK_EQ(o[1].limit, 0x1p21);

    CHECK_EQ(ft_point_print(x, point, text, sizeof(text)), strlen("a=x b=4 r=0.75"));
    CHECK(SAME(text, "a=x b=4 r=0.75"));
    CHECK_EQ(ft__point_parse(x, back, text, &err), FT_OK);
    CHECK(BYTES(back, point, sizeof(point)));
    point[0] = 1;
    point[1] = NAN;
    ft_point_print(x, point, text, sizeof(text));
    CHECK(SAME(text, "a=y%20z r=0.75"));
    CHECK_EQ(ft__point_parse(x, back, text, &err), FT_OK);
    CHECK(EQ(back[0], 1) && isnan(back[1]) && EQ(back[2], 0.75));
    CHECK_EQ(ft__point_parse(x, back, "a=q", &err), FT_EFORMAT);
    CHECK_EQ(ft__point_parse(x, back, "b=9", &err), FT_EFORMAT);
    CHECK_EQ(ft__point_parse(x, back, "c=1", &err), FT_EFORMAT);
    ft_exploration_free(x);
}

static ft_store *store_of(const char *name)
{
    ft_store *s = NULL;
    ft_error err = {0};

    CHECK_EQ(ft_store_open(&s, in_folder(name), FT_STORE_WRITE, &err), FT_OK);
    return s;
}

static ft_explored explored_by(const ft__runner *runner, const ft_exploration *x,
                               ft_store *s, const ft_explore_options *opt)
{
    ft_explored out;
    ft_error err = {0};

    CHECK_EQ(ft__explore(&out, x, s, opt, runner, &err), FT_OK);
    if (*err.msg)
        fprintf(stderr, "%s\n", err.msg);
    return out;
}

static ft_explored explored(const ft_exploration *x, ft_store *s,
                            const ft_explore_options *opt)
{
    return explored_by(&ft__system_runner, x, s, opt);
}

static ft_trials trials(const ft_exploration *x, ft_store *s)
{
    ft_trials t;
    ft_error err = {0};

    CHECK_EQ(ft_trials_load(&t, x, s, &err), FT_OK);
    return t;
}

static const char grid[] =
    "name: grid\ncommand: 'echo $((A * 10 + {b} + {k}))'\n"
    "parameters:\n- {name: a, low: 1, high: 3, environment: A}\n"
    "- {name: b, values: [1, 2]}\n"
    "workloads: [{name: u, k: 0}, {name: v, k: 5}]\n"
    "objectives: [{name: y, match: '([0-9]+)'}]\nruns: {least: 2, most: 2}\n";

TEST(every_point_is_run_and_kept_and_nothing_twice)
{
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT, .max_runs = 5};
    ft_exploration *x = exploration_of(grid);
    ft_store *s = store_of("grid.db");
    ft_explored e = explored(x, s, &opt);
    ft_trials t;

    CHECK(EQ(e.points, 6) && EQ(e.runs, 5) && EQ(e.failed, 0) && EQ(e.left, 12));
    opt.max_runs = 0;
    e = explored(x, s, &opt);
    CHECK(EQ(e.runs, 19) && EQ(e.left, 0));
    e = explored(x, s, &opt);
    CHECK_EQ(e.runs, 0);
    t = trials(x, s);
    CHECK_EQ(t.n, 12);
    for (size_t i = 0; i < t.n; i++) {
        const double *p = t.v[i].point;
        double b = p[1] + 1, k = t.v[i].workload ? 5 : 0;

        CHECK(EQ(t.v[i].value[0], p[0] * 10 + b + k) && EQ(t.v[i].runs, 2));
        CHECK(EQ(t.v[i].error[0], 0) && !t.v[i].failure);
    }
    ft_trials_free(&t);
    ft_exploration_free(x);

    /* Another command is another exploration. */
    x = exploration_of(
        "name: grid\ncommand: 'echo $((A * 10 + {b}))'\n"
        "parameters:\n- {name: a, low: 1, high: 3, environment: A}\n"
        "- {name: b, values: [1, 2]}\nobjectives: [{name: y, match: '(.)'}]\n");
    t = trials(x, s);
    CHECK_EQ(t.n, 0);
    ft_trials_free(&t);
    ft_exploration_free(x);
    ft_store_close(s);
}

struct left {
    char points[256]; /* that need runs, each with a blank */
};

static void note_left(void *user, const char *point, bool left)
{
    struct left *l = user;

    if (left)
        snprintf(l->points + strlen(l->points), sizeof(l->points) - strlen(l->points),
                 "%s; ", point);
}

TEST(points_of_a_design_are_run_by_their_numbers)
{
    static const uint64_t some[] = {6, 2}, none[] = {7};
    static const char *const note = "node=n1";
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT,
                              .only = some,
                              .n_only = 2,
                              .note = &note,
                              .n_notes = 1};
    const ft_design_options full = {.design = FT_DESIGN_FULL};
    ft_exploration *x = exploration_of(grid);
    ft_store *s = store_of("only.db");
    struct left l = {""};
    ft_error err = {0};
    ft_explored e;
    ft_trials t;

    CHECK_EQ(ft__exploration_rename(x, "grid@n1", &err), FT_OK);
    CHECK(SAME(ft_exploration_get(x)->name, "grid@n1"));
    e = explored(x, s, &opt);
    CHECK(EQ(e.points, 2) && EQ(e.runs, 8) && EQ(e.left, 0));
    CHECK_EQ(ft__explore_left(note_left, &l, x, s, &full, &err), FT_OK);
    CHECK(SAME(l.points, "a=1 b=1; a=2 b=1; a=2 b=2; a=3 b=1; "));
    opt.only = none;
    opt.n_only = 1;
    CHECK_EQ(ft_explore(&e, x, s, &opt, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "point 7 of a design of 6 points"));
    ft_exploration_free(x);

    /* Under the file's own name nothing was run. */
    x = exploration_of(grid);
    t = trials(x, s);
    CHECK_EQ(t.n, 0);
    ft_trials_free(&t);
    ft_exploration_free(x);
    ft_store_close(s);
}

/* The same parameters in another order, and one that is new. */
TEST(what_still_fits_is_taken)
{
    static const char turned[] =
        "name: grid\ncommand: 'echo $((A * 10 + {b} + {k}))'\n"
        "parameters:\n- {name: b, values: [2, 1]}\n"
        "- {name: a, low: 1, high: 2, environment: A}\n"
        "workloads: [{name: u, k: 0}, {name: v, k: 5}]\n"
        "objectives: [{name: y, match: '([0-9]+)'}]\nruns: {least: 2, most: 2}\n";
    static const char more[] =
        "name: grid\ncommand: 'echo $((A * 10 + {b} + {k}))'\n"
        "parameters:\n- {name: a, low: 1, high: 3, environment: A}\n"
        "- {name: b, values: [1, 2]}\n- {name: c, values: [x], environment: A}\n"
        "workloads: [{name: u, k: 0}, {name: v, k: 5}]\n"
        "objectives: [{name: y, match: '([0-9]+)'}]\nruns: {least: 2, most: 2}\n";
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT};
    ft_exploration *x = exploration_of(turned);
    ft_store *s = store_of("grid.db");
    ft_trials t = trials(x, s);

    CHECK(EQ(t.n, 8) && EQ(explored(x, s, &opt).runs, 0));
    ft_trials_free(&t);
    ft_exploration_free(x);
    x = exploration_of(more);
    t = trials(x, s);
    CHECK_EQ(t.n, 0); /* what c was, nobody knows */
    ft_trials_free(&t);
    ft_exploration_free(x);
    ft_store_close(s);
}

TEST(failures_are_results)
{
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT};
    struct leaping time = {.ahead_s = 0};
    ft__clock clock = leaping_clock(&time);
    ft__runner runner = {.run = ft__system_runner.run, .clock = &clock};
    char text[1024];
    ft_exploration *x;
    static const char *const says[] = {"ended with 3", "signal 9", "took too long",
                                       "v: the output has no \"v=(.)\""};
    ft_store *s = store_of("f.db");
    ft_explored e;
    ft_trials t;

    snprintf(time.file, sizeof(time.file), "%s", in_folder("late"));
    snprintf(
        text, sizeof(text),
        "name: f\ncommand: 'echo said {a}; case {a} in 1) exit 3;; 2) kill -9 $$;; "
        "3) while :; do : >%s; sleep 0.1; done;; 4) exit 0;; *) echo v=1;; esac'\n"
        "parameters:\n- {name: a, low: 1, high: 5}\n"
        "objectives: [{name: v, match: 'v=(.)'}, time]\n"
        "runs: {least: 1, most: 1, timeout: 10min}\n",
        time.file);
    x = exploration_of(text);
    e = explored_by(&runner, x, s, &opt);
    t = trials(x, s);
    CHECK(EQ(e.runs, 5) && EQ(e.failed, 4) && EQ(e.left, 0) && EQ(t.n, 5));
    for (size_t i = 0; i < t.n; i++) {
        size_t a = (size_t)t.v[i].point[0];
        char said[32];

        snprintf(said, sizeof(said), "said %zu\n", a);
        CHECK_EQ(!t.v[i].failure, (a == 5));
        CHECK(EQ(a, 5) || (HAS(t.v[i].failure, says[a - 1]) &&
                           SAME(t.v[i].output, said) && isnan(t.v[i].value[1])));
        CHECK(CMP(a, !=, 5) || (EQ(t.v[i].value[0], 1) && CMP(t.v[i].value[1], >, 0)));
    }
    ft_trials_free(&t);
    e = explored_by(&runner, x, s, &opt);
    CHECK_EQ(e.runs, 0);
    opt.retry = 1;
    e = explored_by(&runner, x, s, &opt);
    CHECK(EQ(e.runs, 4) && EQ(e.failed, 4));
    ft_exploration_free(x);
    ft_store_close(s);
}

/* y scatters by what the run before left in a file. */
TEST(points_are_run_until_they_are_sure)
{
    char text[1024];
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT};
    ft_store *s = store_of("sure.db");
    ft_exploration *x;
    ft_trials t;

    snprintf(text, sizeof(text),
             "name: s\ncommand: 'n=$(cat %s/n 2>/dev/null || echo 0); n=$((n + 1)); "
             "echo $n >%s/n; echo y=$((1000 + {a} * (n %% 2)))'\n"
             "parameters:\n- {name: a, values: [0, 500]}\n"
             "objectives: [{name: y, match: 'y=(.*)'}]\n"
             "runs: {least: 3, most: 9, precision: 0.01}\n",
             folder, folder);
    x = exploration_of(text);
    explored(x, s, &opt);
    t = trials(x, s);
    CHECK_EQ(t.n, 2);
    for (size_t i = 0; i < t.n; i++)
        CHECK_EQ(t.v[i].runs, (t.v[i].point[0] == 0 ? 3u : 9u));
    ft_trials_free(&t);
    ft_exploration_free(x);
    ft_store_close(s);
}

struct bench {
    struct stepped time;
    ft_meter *meter;
    double scatter_s;
    unsigned runs;
};

/* Whatever it is, it takes 10 ms, every second time scatter_s more; one passes until
 * the next run. */
static ft_status take_10_ms(void *user, ft_command_run *out, const ft__spawn *s,
                            ft_error *err)
{
    struct bench *b = user;
    double seconds = 0.01 + b->scatter_s * (b->runs++ % 2);

    (void)err;
    *out = (ft_command_run){.start_s = b->time.now_s, .wall_s = seconds};
    ft__meter_pass(b->meter, seconds);
    ft__clock_sleep(s->clock, 1e-3);
    return FT_OK;
}

/* A counter of 40 W that has a new value every 5 ms. */
static void record_counter(const char *path)
{
    FILE *fp = fopen(path, "w");

    CHECK(fp != NULL);
    if (!fp)
        exit(1);
    fputs("# foretell trace 1\n# domain,part_of,counts,tells_power,all_fresh,period_s,"
          "window_s,duty,least_s\n# cpu,,1,0,0,0.005,,1,\nat_s,domain,watts,joules\n",
          fp);
    for (int i = 0; i < 2000; i++)
        fprintf(fp, "%.17g,cpu,,%.17g\n", 0.005 * i, 40 * 0.005 * i);
    fclose(fp);
}

TEST(the_energy_of_many_short_programs_takes_minutes)
{
    static const struct {
        const char *runs, *db;
        double scatter_s, least_s, most_s;
    } how_run[] = {
        {"", "energy.db", 0, 6 * 60, 8 * 60},
        {"runs: {power_time: 60ms}", "fast.db", 0, 0, 3 * 60},
        /* Its time needs all runs there may be, energy does not. */
        {"", "scatter.db", 2e-3, 6 * 60, 11 * 60},
    };
    char sources[300], space[400];

    record_counter(in_folder("counter"));
    snprintf(sources, sizeof(sources), "replay:%s", in_folder("counter"));
    for (size_t i = 0; i < sizeof(how_run) / sizeof(*how_run); i++) {
        double joules = 40 * (0.01 + how_run[i].scatter_s / 2);
        struct bench b = {.scatter_s = how_run[i].scatter_s};
        ft__clock clock = stepped_clock(&b.time);
        ft__runner runner = {take_10_ms, &b, &clock};
        ft_meter_options how = {.sources = sources};
        ft_explore_options opt = {.searcher = FT_SEARCH_COUNT};
        ft_store *s = store_of(how_run[i].db);
        ft_exploration *x;
        ft_error err = {0};
        ft_explored e;
        ft_trials t;

        snprintf(space, sizeof(space),
                 "name: e\ncommand: [takes, '{a}']\nparameters:\n"
                 "- {name: a, low: 1, high: 240}\nobjectives: [time, energy]\n%s\n",
                 how_run[i].runs);
        x = exploration_of(space);
        CHECK(EQ(ft__meter_open(&b.meter, &how, &clock, &err), FT_OK));
        opt.meter = b.meter;
        e = explored_by(&runner, x, s, &opt);
        CHECK(CMP(b.time.now_s, >, how_run[i].least_s) &&
              CMP(b.time.now_s, <, how_run[i].most_s));
        t = trials(x, s);
        CHECK(EQ(e.points, 240) && EQ(e.left, 0) && EQ(t.n, 240));
        for (size_t k = 0; k < t.n; k++) {
            CHECK(CMP(fabs(t.v[k].value[1] / joules - 1), <, 0.02));
            CHECK(CMP(1.96 * t.v[k].error[1], <=, 0.02 * t.v[k].value[1]));
        }
        ft_trials_free(&t);
        ft_meter_close(b.meter);
        ft_exploration_free(x);
        ft_store_close(s);
    }
}

TEST(a_search_goes_on_where_it_was)
{
    ft_explore_options opt = {
        .searcher = FT_SEARCH_MODEL, .points = 8, .least_gain = 1e-9};
    ft_exploration *x =
        exploration_of("name: s\ncommand: 'echo $((({a} - 20) * ({a} - 20)))'\n"
                       "parameters:\n- {name: a, low: 1, high: 64}\n"
                       "objectives: [{name: y, match: '([0-9]+)'}]\n"
                       "runs: {least: 1, most: 1}\n");
    ft_store *s = store_of("s.db");
    ft_explored e;
    ft_trials t;
    size_t best;

    opt.design.seed = 1;
    e = explored(x, s, &opt);
    CHECK(EQ(e.points, 8) && EQ(e.runs, 8));
    opt.points = 30;
    e = explored(x, s, &opt);
    CHECK(CMP(e.points, <=, 30) && EQ(e.runs, e.points - 8));
    t = trials(x, s);
    best = ft_trials_best(x, &t, 0, 0);
    CHECK(CMP(best, <, t.n) &&
          CMP(t.v[best].value[0], <=, 9)); /* 7 of 64 values are as near */
    ft_trials_free(&t);
    ft_exploration_free(x);
    ft_store_close(s);
}

TEST(transfer_says_what_another_best_costs)
{
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT};
    ft_exploration *x = exploration_of(
        "name: x\ncommand: 'echo $((({a} - {c}) * ({a} - {c}) + 10))'\n"
        "parameters:\n- {name: a, low: 1, high: 24}\n"
        "workloads: [{name: u, c: 5}, {name: v, c: 8}, {name: w, c: 5}]\n"
        "objectives: [{name: y, match: '([0-9]+)'}]\nruns: {least: 1, most: 1}\n");
    ft_store *s = store_of("x.db");
    unsigned char on[100];
    ft_error err = {0};
    ft_transfer f;
    ft_trials t;

    explored(x, s, &opt);
    t = trials(x, s);
    CHECK_EQ(t.n, 72);
    CHECK_EQ(ft_transfer_compute(&f, x, &t, 0, 0, 1, 0, 1, &err), FT_OK);
    CHECK(CMP(fabs(f.regret - 0.9), <, 1e-12)); /* 19 instead of 10 */
    CHECK(EQ(t.v[f.best].point[0], 8) && EQ(t.v[f.best_from].point[0], 5));
    CHECK(EQ(f.rank.n, 24) && CMP(f.rank.r, >, 0.8));
    CHECK_EQ(ft_transfer_compute(&f, x, &t, 0, 0, 2, 0, 1, &err), FT_OK);
    CHECK(EQ(f.regret, 0) && CMP(f.rank.r, >, 0.999));
    CHECK(CMP(f.with, <, 1e-3) && CMP(f.without, >, 10 * f.with));
    CHECK_EQ(ft_trials_front(on, x, &t, 1, &err), FT_OK);
    for (size_t i = 0; i < t.n; i++)
        CHECK_EQ(on[i], (i == ft_trials_best(x, &t, 1, 0)));
    ft_trials_free(&t);
    ft_exploration_free(x);
    ft_store_close(s);
}

TEST(limits_keep_points_off_the_front)
{
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT};
    ft_exploration *x =
        exploration_of("name: l\ncommand: 'echo y={a} z=$((9 - {a}))'\n"
                       "parameters:\n- {name: a, low: 1, high: 6}\n"
                       "objectives: [{name: y, match: 'y=(.)', limit: 4},\n"
                       " {name: z, match: 'z=(.)', goal: maximize, limit: 6}]\n"
                       "runs: {least: 1, most: 1}\n");
    ft_store *s = store_of("l.db");
    unsigned char on[6];
    ft_error err = {0};
    ft_trials t;

    explored(x, s, &opt);
    t = trials(x, s);
    CHECK(EQ(t.n, 6) && EQ(ft_trials_front(on, x, &t, 0, &err), FT_OK));
    for (size_t i = 0; i < t.n; i++) {
        CHECK_EQ(ft_trial_keeps_limits(x, &t.v[i]), (t.v[i].point[0] <= 3));
        CHECK_EQ(on[i], (t.v[i].point[0] == 1)); /* least y and most z */
    }
    ft_trials_free(&t);
    ft_exploration_free(x);
    ft_store_close(s);
}

TEST(a_file_is_loaded_and_run_with_its_plan)
{
    ft_explore_options opt = {.searcher = FT_SEARCH_COUNT, .plan = "full - 0 1 0 0"};
    ft_exploration *x;
    ft_explored e;
    ft_error err = {0};
    ft_store *s = store_of("plan.db");
    char plan[32];

    write_text(in_folder("grid.yaml"), grid);
    CHECK(EQ(ft_exploration_load(&x, in_folder("nosuch.yaml"), NULL, &err), FT_EIO) &&
          !x);
    CHECK(HAS(err.msg, "nosuch.yaml"));
    CHECK_EQ(ft_exploration_load(&x, in_folder("grid.yaml"), NULL, &err), FT_OK);
    if (!x)
        return;
    CHECK(SAME(ft_exploration_get(x)->name, "grid"));
    CHECK_EQ(ft_exploration_get(x)->n_words, 0);
    CHECK(EQ(ft_explore_plan(plan, sizeof(plan), x, s, NULL), FT_OK) && !*plan);
    CHECK_EQ(ft_explore(&e, x, s, &opt, &err), FT_OK);
    CHECK(EQ(e.points, 6) && EQ(e.runs, 24) && EQ(e.failed, 0) && EQ(e.left, 0));
    CHECK_EQ(ft_explore_plan(plan, sizeof(plan), x, s, NULL), FT_OK);
    CHECK(SAME(plan, opt.plan));
    ft_exploration_free(x);
    ft_store_close(s);
}

TEST(words_in_place_of_a_command_say_what_is_asked)
{
    ft_exploration *x = exploration_of(
        "name: p\npredict: [m.onnx, --device, '{d}', '--batch={b}']\n"
        "prices: {a30: 0.72/h}\nparameters:\n- {name: d, values: [a30, l4]}\n"
        "- {name: b, low: 1, high: 4}\nobjectives: [time]\n");
    const ft_exploration_facts *f = ft_exploration_get(x);
    const double point[] = {1, 3};
    char **words;
    size_t n;

    CHECK(EQ(f->n_words, 4) && SAME(f->word[2], "{d}"));
    CHECK_NEAR(ft_exploration_price(x, "a30"), 0.72 / 3600, 1e-18);
    CHECK(isnan(ft_exploration_price(x, "l4")));
    CHECK(EQ(ft_exploration_words(&words, &n, x, 0, point, NULL), FT_OK) && EQ(n, 4));
    CHECK(EQ(n, 4) && SAME(words[2], "l4") && SAME(words[3], "--batch=3"));
    free(words);
    ft_exploration_free(x);
}

int main(void)
{
    char command[64];

    if (!mkdtemp(folder))
        return 1;
    check_all();
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK_EQ(system(command), 0);
    CHECK_DONE();
}
