/* Any command, measured: with programs whose cost is known. Where figures depend on how
 * long something takes, commands take time of the test's own (stepped_clock.h); what is
 * run in real time is only waited for. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asked_program.h"
#include "check.h"
#include "device/power/meter.h"
#include "measure/spawn.h"
#include "stepped_clock.h"

static char folder[] = "/tmp/foretell-command-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][64];
    static unsigned next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
    return p;
}

static ft_command shell(const char *text)
{
    static const char *words[8][4];
    static unsigned next;
    const char **argv = words[next++ % 8];

    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = text;
    argv[3] = NULL;
    return (ft_command){.argv = argv};
}

static ft_command_result *measured_by(const ft__runner *runner, const ft_command *c,
                                      size_t n, const ft_command_options *o)
{
    ft_command_result *r = NULL;
    ft_error err = {0};

    CHECK_EQ(ft__runner_measure(&r, c, n, o, runner, &err), FT_OK);
    if (!r) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return r;
}

static ft_command_result *measured(const ft_command *c, size_t n,
                                   const ft_command_options *o)
{
    return measured_by(&ft__system_runner, c, n, o);
}

/* ---- commands in time of the test's own ---- */

struct world {
    struct stepped time;
    ft__clock clock;
    ft__runner runner;
    ft_meter *meter; /* or NULL */
    unsigned runs;
};

/* "takes SECONDS [FILE]": FILE is there as long as it takes. Between two runs lies a
 * millisecond. */
static ft_status take_time(void *user, ft_command_run *out, const ft__spawn *s,
                           ft_error *err)
{
    struct world *w = user;
    double seconds = strtod(s->argv[1], NULL);
    FILE *fp = s->argv[2] ? fopen(s->argv[2], "w") : NULL;

    (void)err;
    CHECK(SAME(s->argv[0], "takes") && EQ(s->clock, &w->clock));
    if (fp)
        fclose(fp);
    w->runs++;
    *out = (ft_command_run){.start_s = w->time.now_s, .wall_s = seconds};
    if (w->meter)
        ft__meter_pass(w->meter, seconds);
    else
        ft__clock_sleep(&w->clock, seconds);
    if (fp)
        remove(s->argv[2]);
    ft__clock_sleep(&w->clock, 1e-3);
    return FT_OK;
}

/* And the others scatter a little. */
static ft_status take_longer_the_fifth_time(void *user, ft_command_run *out,
                                            const ft__spawn *s, ft_error *err)
{
    struct world *w = user;
    char seconds[32];
    const char *const argv[] = {s->argv[0], seconds, NULL};
    ft__spawn other = *s;

    other.argv = argv;
    snprintf(seconds, sizeof(seconds), "%g",
             w->runs == 4 ? 0.51 : strtod(s->argv[1], NULL) + 1e-4 * (w->runs % 3));
    return take_time(w, out, &other, err);
}

static void make_world(struct world *w)
{
    *w = (struct world){.time = {.now_s = 0}};
    w->clock = stepped_clock(&w->time);
    w->runner = (ft__runner){take_time, w, &w->clock};
}

/* The text of a file made by commands; "" when there is none. */
static const char *text_of(const char *path)
{
    static char text[4096];
    FILE *fp = fopen(path, "r");
    size_t n = fp ? fread(text, 1, sizeof(text) - 1, fp) : 0;

    if (fp)
        fclose(fp);
    text[n] = '\0';
    return text;
}

/* The number a command wrote to `name`, as soon as it is there. */
static pid_t pid_in(const char *name)
{
    long pid = 0;

    for (int i = 0; i < HANGS_MS / 10 && pid == 0; i++) {
        pid = strtol(text_of(in_folder(name)), NULL, 10);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    CHECK(CMP(pid, >, 1));
    return (pid_t)pid;
}

/* Not there any more, or nobody has waited for it yet. */
static bool has_ended(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    for (int i = 0; i < HANGS_MS / 10; i++) {
        if (kill(pid, 0) != 0 || strstr(text_of(path), ") Z "))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

static double processor_s(const ft_command_result *r)
{
    return r->user.value + r->system.value;
}

static void a_sleep_takes_its_time_and_no_processor(void)
{
    ft_command c[2] = {shell("exec sleep 0.05"),
                       shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")};
    ft_command_options o = {.min_runs = 5, .max_runs = 5};
    double begin_s = ft__now_s(), passed_s, sum_s = 0;
    ft_command_result *r = measured(c, 2, &o);

    passed_s = ft__now_s() - begin_s;
    CHECK(EQ(r->n_runs, 5) && EQ(r->time.n, 5));
    CHECK(CMP(r->min_s, >=, 0.05));
    CHECK(CMP(r->min_s, <=, r->time.value) && CMP(r->time.value, <=, r->max_s));
    CHECK(CMP(processor_s(&r[0]), <, processor_s(&r[1]) / 2));
    CHECK(SAME(r->name, "sh -c exec sleep 0.05"));
    for (size_t i = 1; i < r->n_runs; i++)
        CHECK(CMP(r->run[i].start_s, >=, r->run[i - 1].start_s + r->run[i - 1].wall_s));
    for (size_t i = 0; i < 10; i++)
        sum_s += r[i / 5].run[i % 5].wall_s;
    CHECK(CMP(sum_s, <=, passed_s));
    ft_command_results_free(r, 2);
}

static void work_is_processor_time(void)
{
    ft_command c[2] = {shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"),
                       shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")};
    ft_command_options o = {.min_runs = 3, .max_runs = 3};
    ft_command_result *r = measured(c, 2, &o);

    CHECK(CMP(r[0].user.value, >, 3 * r[1].user.value));
    CHECK(CMP(processor_s(r), <, r->max_s * 1.1));
    ft_command_results_free(r, 2);
}

/* dd has a buffer of the size it is told. */
static void memory_is_that_of_the_program(void)
{
    static const char *const argv[] = {"dd",     "if=/dev/zero", "of=/dev/null",
                                       "bs=64M", "count=1",      NULL};
    ft_command c[2] = {{.argv = argv, .name = "takes 64 MiB"}, shell("exit 0")};
    ft_command_options o = {.min_runs = 2, .max_runs = 2};
    ft_command_result *r;

    r = measured(c, 2, &o);
    CHECK(CMP(r[0].memory.value, >, 64.0 * (1 << 20)) &&
          CMP(r[0].memory.value, <, 96.0 * (1 << 20)));
    /* At least what a copy of this process held: much, where it is watched. */
    CHECK(CMP(r[1].memory.value, <, r[0].memory.value) &&
          CMP(r[1].memory.value, >, 1 << 17));
    CHECK(SAME(r[0].name, "takes 64 MiB"));
    ft_command_results_free(r, 2);
}

static void commands_take_turns_beginning_with_another_one(void)
{
    char a[128], b[128], c[128];
    ft_command all[3];
    ft_command_options o = {.min_runs = 3, .max_runs = 3};

    snprintf(a, sizeof(a), "printf a >>%s", in_folder("order"));
    snprintf(b, sizeof(b), "printf b >>%s", in_folder("order"));
    snprintf(c, sizeof(c), "printf c >>%s", in_folder("order"));
    all[0] = shell(a);
    all[1] = shell(b);
    all[2] = shell(c);
    ft_command_results_free(measured(all, 3, &o), 3);
    CHECK(SAME(text_of(in_folder("order")), "abcbcacab"));
}

static void what_belongs_around_a_run_is_run(void)
{
    char text[5][96];
    static const char *const part[] = {"S", "P", "R", "C", "E"};
    ft_command c;
    ft_command_options o = {.min_runs = 2, .max_runs = 2, .warmup = 1};

    for (int i = 0; i < 5; i++)
        snprintf(text[i], sizeof(text[i]), "printf %s >>%s", part[i],
                 in_folder("around"));
    o.setup = text[0];
    o.prepare = text[1];
    c = shell(text[2]);
    o.conclude = text[3];
    o.cleanup = text[4];
    ft_command_results_free(measured(&c, 1, &o), 1);
    CHECK(SAME(text_of(in_folder("around")), "SPRCPRCPRCE"));
}

static void input_is_handed_to_every_run(void)
{
    char text[128];
    ft_command c;
    ft_command_options o = {.min_runs = 2, .max_runs = 2};
    FILE *fp = fopen(in_folder("input"), "w");

    CHECK(fp && CMP(fputs("xyz\n", fp), >, 0) && EQ(fclose(fp), 0));
    snprintf(text, sizeof(text), "cat >>%s", in_folder("copied"));
    c = shell(text);
    o.input = in_folder("input");
    ft_command_results_free(measured(&c, 1, &o), 1);
    CHECK(SAME(text_of(in_folder("copied")), "xyz\nxyz\n"));
}

static ft_status failure(const char *text, const ft_command_options *o, ft_error *err)
{
    ft_command c = shell(text);
    ft_command_result *r = (ft_command_result *)err;
    ft_status st = ft_measure_commands(&r, &c, 1, o, err);

    CHECK(EQ(r, NULL));
    return st;
}

static void failures_name_the_command_and_how_it_ended(void)
{
    static const char *const nothing[] = {"/no/such/program", NULL};
    ft_command missing = {.argv = nothing};
    ft_command_options o = {.min_runs = 2, .max_runs = 2};
    ft_command_result *r;
    ft_error err = {0};

    CHECK_EQ(failure("exit 3", &o, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "exit 3 ended with 3"));
    CHECK_EQ(failure("kill -9 $$", &o, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "signal 9"));
    CHECK_EQ(ft_measure_commands(&r, &missing, 1, &o, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "/no/such/program: No such file"));
    o.prepare = "exit 7";
    CHECK_EQ(failure("exit 0", &o, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "prepare") && HAS(err.msg, "7"));
    o.prepare = NULL;
    o.input = "/no/such/file";
    CHECK_EQ(failure("exit 0", &o, &err), FT_EIO);
    CHECK_EQ(ft_measure_commands(&r, NULL, 0, &o, &err), FT_EINVAL);
}

static void failures_count_when_asked_to(void)
{
    ft_command c = shell("exit 3");
    ft_command_options o = {.min_runs = 4, .max_runs = 4, .ignore_failure = 1};
    ft_command_result *r = measured(&c, 1, &o);

    CHECK(EQ(r->n_runs, 4) && EQ(r->n_failed, 4) && EQ(r->run[2].exit_code, 3));
    ft_command_results_free(r, 1);
}

/* Measures `what`, which then makes one file after the other, until its time is up. */
static void hangs(const char *what, const char *late)
{
    char text[320];
    ft_command_options o = {.min_runs = 1, .max_runs = 1, .timeout_s = HANGS_MS / 1e3};
    struct leaping time = {.ahead_s = 0};
    ft__clock clock = leaping_clock(&time);
    ft__runner runner = {.run = ft__system_runner.run, .clock = &clock};
    ft_command_result *r;
    ft_error err = {0};
    ft_command c;

    snprintf(time.file, sizeof(time.file), "%s", in_folder(late));
    snprintf(text, sizeof(text), "%s while :; do : >%s; sleep 0.1; done", what,
             time.file);
    c = shell(text);
    CHECK(EQ(ft__runner_measure(&r, &c, 1, &o, &runner, &err), FT_EBACKEND) && !r);
    CHECK(HAS(err.msg, "longer than 300 s"));
}

static void a_run_that_hangs_is_ended_with_its_children(void)
{
    char text[160];
    long child;

    snprintf(text, sizeof(text), "sleep 6000 & echo $! >%s;", in_folder("child"));
    hangs(text, "late");
    child = strtol(text_of(in_folder("child")), NULL, 10);
    CHECK(CMP(child, >, 1) && has_ended((pid_t)child));
}

/* Its own session, and nobody's child any more. */
static void a_run_that_hangs_is_ended_with_what_left_its_session(void)
{
    char text[256];
    pid_t child;

    snprintf(text, sizeof(text),
             "(setsid sh -c 'echo $$ >%s; exec sleep 6000' &); "
             "while ! test -s %s; do sleep 0.01; done;",
             in_folder("away"), in_folder("away"));
    hangs(text, "late-too");
    child = pid_in("away");
    CHECK(has_ended(child));
    kill(child, SIGKILL);
}

static void what_a_run_leaves_in_the_background_stays_where_it_ends_by_itself(void)
{
    char text[160];
    ft_command_options o = {.min_runs = 1, .max_runs = 1};
    ft_command_result *r;
    ft_command c;
    pid_t child;

    snprintf(text, sizeof(text), "setsid sleep 6000 & echo $! >%s", in_folder("stays"));
    c = shell(text);
    r = measured(&c, 1, &o);
    child = pid_in("stays");
    CHECK_EQ(kill(child, 0), 0);
    kill(child, SIGKILL);
    ft_command_results_free(r, 1);
}

static void runs_far_from_the_others_are_marked_and_kept(void)
{
    static const char *const argv[] = {"takes", "0.01", NULL};
    ft_command c = {.argv = argv};
    ft_command_options o = {.min_runs = 12, .max_runs = 12};
    ft_command_result *r;
    struct world w;

    make_world(&w);
    w.runner.run = take_longer_the_fifth_time;
    r = measured_by(&w.runner, &c, 1, &o);
    CHECK(EQ(r->n_runs, 12) && EQ(r->n_outliers, 1) && r->run[4].outlier);
    CHECK(CMP(r->max_s, >, 0.5) && CMP(r->time.value, <, 0.02));
    ft_command_results_free(r, 1);
}

/* A process that measures `text` until it is ended. */
static pid_t measuring(const char *text, double timeout_s)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        ft_command c = shell(text);
        ft_command_options o = {.min_runs = 2, .max_runs = 2, .timeout_s = timeout_s};
        ft_command_result *r;

        _exit(ft_measure_commands(&r, &c, 1, &o, NULL) ? 1 : 0);
    }
    return pid;
}

static void a_signal_that_ends_us_ends_the_run_first(void)
{
    static const double timeouts_s[] = {0, HANGS_MS / 1e3};
    char text[160];

    for (size_t i = 0; i < 2; i++) {
        pid_t self, child;
        int status = 0;

        snprintf(text, sizeof(text), "echo $$ >%s; exec sleep 6000", in_folder("run"));
        remove(in_folder("run"));
        self = measuring(text, timeouts_s[i]);
        child = pid_in("run");
        kill(self, SIGTERM);
        CHECK_EQ(waitpid(self, &status, 0), self);
        CHECK(WIFSIGNALED(status) && EQ(WTERMSIG(status), SIGTERM));
        CHECK(has_ended(child));
        kill(child, SIGKILL);
    }
}

static void a_run_that_does_not_mind_signals_is_ended_all_the_same(void)
{
    char text[160];
    pid_t self, child;
    int status = 0;

    snprintf(text, sizeof(text), "trap '' INT; echo $$ >%s; sleep 6000; sleep 6000",
             in_folder("deaf"));
    self = measuring(text, HANGS_MS / 1e3);
    child = pid_in("deaf");
    kill(self, SIGINT);
    CHECK_EQ(waitpid(self, &status, 0), self);
    CHECK(WIFSIGNALED(status) && EQ(WTERMSIG(status), SIGINT));
    CHECK(has_ended(child));
    kill(child, SIGKILL);
}

static void a_run_does_not_outlive_us(void)
{
    static const double timeouts_s[] = {0, HANGS_MS / 1e3};
    char text[320];

    for (size_t i = 0; i < 2; i++) {
        pid_t self, child, away;

        snprintf(text, sizeof(text),
                 "(setsid sh -c 'echo $$ >%s; exec sleep 6000' &); echo $$ >%s; "
                 "exec sleep 6000",
                 in_folder("far"), in_folder("near"));
        remove(in_folder("far"));
        remove(in_folder("near"));
        self = measuring(text, timeouts_s[i]);
        child = pid_in("near");
        away = pid_in("far");
        kill(self, SIGKILL);
        CHECK_EQ(waitpid(self, NULL, 0), self);
        CHECK(has_ended(child) && has_ended(away));
        kill(child, SIGKILL);
        kill(away, SIGKILL);
    }
}

/* The process beside it, the parent of the shell. */
static void a_run_whose_guard_is_killed_ends_and_says_so(void)
{
    ft_error err = {0};
    ft_command_options o = {.min_runs = 1, .max_runs = 1};

    CHECK_EQ(failure("kill -9 $PPID; exec sleep 6000", &o, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "by signal 9"));
}

/* ---- energy ---- */

/* A recording of 20 s: a machine at 50 W, of which a part draws 30 W. */
static const char *recording(void)
{
    const char *path = in_folder("trace");
    FILE *fp = fopen(path, "w");

    CHECK(fp != NULL);
    if (!fp)
        exit(1);
    fputs(
        "# foretell trace 1\n"
        "# domain,part_of,counts,tells_power,all_fresh,period_s,window_s,duty,least_s\n"
        "# wall,,0,1,1,0.01,0.01,1,\n# wall/cpu,wall,0,1,1,0.01,0.01,1,\n"
        "at_s,domain,watts,joules\n",
        fp);
    for (int i = 0; i < 20000; i++)
        fprintf(fp, "%g,wall,50,\n%g,wall/cpu,30,\n", 0.01 * i, 0.01 * i);
    fclose(fp);
    return path;
}

static ft_meter *meter_of(const char *sources, const ft__clock *clock)
{
    ft_meter_options o = {.sources = sources};
    ft_meter *m = NULL;
    ft_error err = {0};

    if (ft__meter_open(&m, &o, clock, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return m;
}

static bool near(double value, double truth, double share)
{
    return fabs(value - truth) <= share * truth;
}

static void energy_is_power_times_time_in_every_domain(void)
{
    static const double watts[] = {50, 30};
    static const char *const longer[] = {"takes", "0.3", NULL};
    static const char *const shorter[] = {"takes", "0.2", NULL};
    char sources[128];
    ft_command c[2] = {{.argv = longer}, {.argv = shorter}};
    ft_command_options o = {.min_runs = 3, .max_runs = 3};
    ft_command_result *r;
    struct world w;

    make_world(&w);
    snprintf(sources, sizeof(sources), "replay:%s", recording());
    w.meter = o.meter = meter_of(sources, &w.clock);
    r = measured_by(&w.runner, c, 2, &o);
    for (int i = 0; i < 2; i++) {
        CHECK(EQ(r[i].n_domains, 2) && EQ(*r[i].no_energy, '\0'));
        CHECK(SAME(r[i].energy[0].domain, "wall") && !*r[i].energy[0].part_of);
        CHECK(SAME(r[i].energy[1].part_of, "wall"));
        for (int k = 0; k < 2; k++) {
            const ft_command_energy *e = &r[i].energy[k];

            CHECK(EQ(e->runs, 3) && EQ(*e->reason, '\0'));
            CHECK(near(e->energy.value, watts[k] * r[i].time.mean, 0.01));
            CHECK(near(e->power.value, watts[k], 0.01));
            CHECK(near(e->idle_w, watts[k], 0.01));
            for (size_t j = 0; e->joules && j < 3; j++)
                CHECK(near(e->joules[j], watts[k] * r[i].run[j].wall_s, 0.01));
            CHECK(e->joules != NULL);
        }
    }
    ft_command_results_free(r, 2);
    ft_meter_close(o.meter);
}

static void commands_too_short_for_the_sensor_are_looped(void)
{
    static const char *const brief[] = {"takes", "0.005", NULL};
    char sources[128];
    ft_command c = {.argv = brief};
    ft_command_options o = {.min_runs = 5, .max_runs = 5, .power_time_s = 0.5};
    ft_command_result *r;
    struct world w;

    make_world(&w);
    snprintf(sources, sizeof(sources), "replay:%s", recording());
    w.meter = o.meter = meter_of(sources, &w.clock);
    r = measured_by(&w.runner, &c, 1, &o);
    CHECK(CMP(r->energy[0].runs, >, 5) && near(r->energy[0].power.value, 50, 0.01));
    /* Joules of the run itself, not of what lies between two runs. */
    CHECK(CMP(r->energy[0].energy.value, >, 50 * r->min_s * 0.9));
    CHECK(near(r->energy[1].energy.value, r->energy[0].energy.value * 3 / 5, 0.01));
    ft_command_results_free(r, 1);
    /* What has to be prepared cannot be run back to back. */
    o.prepare = "true";
    r = measured_by(&w.runner, &c, 1, &o);
    CHECK(isnan(r->energy[0].energy.value) && HAS(r->energy[0].reason, "prepare"));
    ft_command_results_free(r, 1);
    ft_meter_close(o.meter);
}

/* The recording brings a value every 0.01 s. */
static void loops_are_as_long_as_the_wanted_error_needs(void)
{
    static const struct {
        double time_s, error, takes_s;
    } wanted[] = {{0, 0, 1}, {0, 0.1, 0.2}, {0, 0.001, 5}, {0.3, 0.1, 0.3}};
    static const char *const brief[] = {"takes", "0.009", NULL};
    char sources[128];
    ft_command c = {.argv = brief};
    ft_command_options o = {.min_runs = 1, .max_runs = 1, .no_idle = 1};
    struct world w;

    make_world(&w);
    snprintf(sources, sizeof(sources), "replay:%s", recording());
    w.meter = o.meter = meter_of(sources, &w.clock);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        ft_command_result *r;
        double before_s = w.time.now_s;

        o.power_time_s = wanted[i].time_s;
        o.power_error = wanted[i].error;
        r = measured_by(&w.runner, &c, 1, &o);
        CHECK(near((double)r->energy->runs * 0.01, wanted[i].takes_s, 0.06));
        CHECK(CMP(w.time.now_s - before_s, <, wanted[i].takes_s + 0.3));
        CHECK(near(r->energy->energy.value, 50 * 0.009, 0.01));
        CHECK(isnan(r->energy->idle_w));
        ft_command_results_free(r, 1);
    }
    ft_meter_close(o.meter);
}

/* Twelve of a hundred parts of the loop pass between runs, at a quarter of the power.
 */
static void what_is_drawn_between_runs_is_in_the_error(void)
{
    char print[160], busy[64];
    const char *const brief[] = {"takes", "0.0075", busy, NULL};
    ft_command c = {.argv = brief};
    ft_command_options o = {.min_runs = 1, .max_runs = 1, .power_time_s = 2};
    ft_command_result *r;
    struct asked program;
    struct world w;

    make_world(&w);
    snprintf(busy, sizeof(busy), "%s", in_folder("busy"));
    snprintf(print, sizeof(print), "[ -e %s ] && echo 80 || echo 20", busy);
    w.time.step_s = 0.01;
    w.time.tick = ask_for_line;
    w.time.user = &program;
    w.meter = o.meter = meter_of(be_asked(&program, folder, print, 100000), &w.clock);
    r = measured_by(&w.runner, &c, 1, &o);
    CHECK(near(r->energy->idle_w, 20, 0.01));
    CHECK(CMP(fabs(r->energy->energy.value - 80 * 0.0075), <,
              2 * r->energy->energy.error));
    CHECK(CMP(r->energy->energy.error, <, 0.1 * r->energy->energy.value));
    ft_command_results_free(r, 1);
    ft_meter_close(o.meter);
    ask_no_more(&program);
}

/* The meter is a program that tells 80 W while a file is there, else 20 W. */
static void energy_is_that_of_the_command_whose_turn_it_is(void)
{
    char print[160], busy[64];
    const char *const heavy[] = {"takes", "0.5", busy, NULL};
    static const char *const light[] = {"takes", "0.5", NULL};
    ft_command c[2] = {{.argv = heavy}, {.argv = light}};
    ft_command_options o = {.min_runs = 3, .max_runs = 3, .power_time_s = 1};
    ft_command_result *r;
    struct asked program;
    struct world w;

    make_world(&w);
    snprintf(busy, sizeof(busy), "%s", in_folder("busy"));
    snprintf(print, sizeof(print), "[ -e %s ] && echo 80 || echo 20", busy);
    w.time.step_s = 0.01;
    w.time.tick = ask_for_line;
    w.time.user = &program;
    w.meter = o.meter = meter_of(be_asked(&program, folder, print, 100000), &w.clock);
    r = measured_by(&w.runner, c, 2, &o);
    CHECK(near(r[0].energy->energy.value, 80 * r[0].time.mean, 0.05));
    CHECK(near(r[1].energy->energy.value, 20 * r[1].time.mean, 0.05));
    CHECK(near(r[0].energy->idle_w, 20, 0.01));
    ft_command_results_free(r, 2);
    ft_meter_close(o.meter);
    ask_no_more(&program);
}

/* The same in real time, whatever the figures: with a thread that reads. */
static void energy_is_told_in_real_time_as_well(void)
{
    ft_command c = shell("exec sleep 0.1");
    ft_command_options o = {.min_runs = 2, .max_runs = 2, .power_time_s = 0.1};
    ft_command_result *r;

    o.meter = meter_of("command:while :; do echo 80; sleep 0.01; done", NULL);
    for (; o.power_time_s < HANGS_MS / 1e3; o.power_time_s *= 2) {
        bool told;

        r = measured(&c, 1, &o);
        CHECK(EQ(r->n_domains, 1) && EQ(*r->no_energy, '\0'));
        told = isfinite(r->energy->energy.value);
        if (told)
            CHECK(near(r->energy->power.value, 80, 0.01));
        else
            CHECK(*r->energy->reason);
        ft_command_results_free(r, 1);
        if (told)
            break;
    }
    CHECK(CMP(o.power_time_s, <, HANGS_MS / 1e3));
    ft_meter_close(o.meter);
}

int main(void)
{
    char text[96];

    CHECK(mkdtemp(folder) != NULL);
    a_sleep_takes_its_time_and_no_processor();
    work_is_processor_time();
    memory_is_that_of_the_program();
    commands_take_turns_beginning_with_another_one();
    what_belongs_around_a_run_is_run();
    input_is_handed_to_every_run();
    failures_name_the_command_and_how_it_ended();
    failures_count_when_asked_to();
    a_run_that_hangs_is_ended_with_its_children();
    a_run_that_hangs_is_ended_with_what_left_its_session();
    what_a_run_leaves_in_the_background_stays_where_it_ends_by_itself();
    a_run_does_not_outlive_us();
    a_run_whose_guard_is_killed_ends_and_says_so();
    runs_far_from_the_others_are_marked_and_kept();
    a_signal_that_ends_us_ends_the_run_first();
    a_run_that_does_not_mind_signals_is_ended_all_the_same();
    energy_is_power_times_time_in_every_domain();
    commands_too_short_for_the_sensor_are_looped();
    loops_are_as_long_as_the_wanted_error_needs();
    what_is_drawn_between_runs_is_in_the_error();
    energy_is_that_of_the_command_whose_turn_it_is();
    energy_is_told_in_real_time_as_well();
    snprintf(text, sizeof(text), "rm -r %s", folder);
    CHECK_EQ(system(text), 0);
    CHECK_DONE();
}
