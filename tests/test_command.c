/* Any command, measured: with programs whose cost is known. Where figures depend on how
 * long something takes, commands take time of the test's own (stepped_clock.h); what is
 * run in real time is only waited for. */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "asked_program.h"
#include "command_rig.h"
#include "files.h"

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

/* The text of a file made by commands; "" when there is none. */
static const char *text_of(const char *path)
{
    static char text[4096];

    read_text(text, sizeof(text), path);
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

TEST(a_sleep_takes_its_time_and_no_processor)
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

TEST(work_is_processor_time)
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
TEST(memory_is_that_of_the_program)
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

TEST(commands_take_turns_beginning_with_another_one)
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

TEST(what_belongs_around_a_run_is_run)
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

TEST(input_is_handed_to_every_run)
{
    char text[128];
    ft_command c;
    ft_command_options o = {.min_runs = 2, .max_runs = 2};

    write_text(in_folder("input"), "xyz\n");
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

TEST(failures_name_the_command_and_how_it_ended)
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

TEST(failures_count_when_asked_to)
{
    ft_command c = shell("exit 3");
    ft_command_options o = {.min_runs = 4, .max_runs = 4, .ignore_failure = 1};
    ft_command_result *r = measured(&c, 1, &o);

    CHECK(EQ(r->n_runs, 4) && EQ(r->n_failed, 4) && EQ(r->run[2].exit_code, 3));
    ft_command_results_free(r, 1);
}

/* All but the last byte is a hole. */
#define PRINT_300_MIB "dd bs=1M seek=300 count=0 2>/dev/null; printf .; "

TEST(of_much_output_the_end_is_kept)
{
    ft_command c = shell(PRINT_300_MIB "sleep 0.3; printf end");
    ft_command_options o = {.min_runs = 1, .max_runs = 1, .keep_output = 3};
    ft_command_result *r = measured(&c, 1, &o);

    CHECK(SAME(r->output, "end"));
    ft_command_results_free(r, 1);
}

TEST(more_output_than_allowed_is_a_failure)
{
    ft_command_options o = {
        .min_runs = 1, .max_runs = 1, .keep_output = 3, .ignore_failure = 1};
    ft_error err = {0};

    o.most_output = 300 << 20;
    CHECK_EQ(failure(PRINT_300_MIB, &o, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "prints more than 300 MiB"));
    CHECK_EQ(failure(PRINT_300_MIB "sleep 6000", &o, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "prints more than 300 MiB"));
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

TEST(a_run_that_hangs_is_ended_with_its_children)
{
    char text[160];
    long child;

    snprintf(text, sizeof(text), "sleep 6000 & echo $! >%s;", in_folder("child"));
    hangs(text, "late");
    child = strtol(text_of(in_folder("child")), NULL, 10);
    CHECK(CMP(child, >, 1) && has_ended((pid_t)child));
}

/* Its own session, and nobody's child any more. */
TEST(a_run_that_hangs_is_ended_with_what_left_its_session)
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

TEST(what_a_run_leaves_in_the_background_stays_where_it_ends_by_itself)
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

TEST(runs_far_from_the_others_are_marked_and_kept)
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
        ft_command_options o = {.min_runs = 2,
                                .max_runs = 2,
                                .timeout_s = timeout_s,
                                .keep_output = 1,
                                .most_output = 1 << 20};
        ft_command_result *r;

        _exit(ft_measure_commands(&r, &c, 1, &o, NULL) ? 1 : 0);
    }
    return pid;
}

TEST(a_signal_that_ends_us_ends_the_run_first)
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

TEST(a_run_that_does_not_mind_signals_is_ended_all_the_same)
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

TEST(a_signal_counts_also_where_too_much_is_printed)
{
    char text[320];
    pid_t self;
    int status = 0;

    snprintf(text, sizeof(text),
             "until read -r us <%s; do sleep 0.01; done; kill -STOP $us; " PRINT_300_MIB
             "kill -INT $us; kill -CONT $us; sleep 6000",
             in_folder("self"));
    self = measuring(text, 0);
    snprintf(text, sizeof(text), "%ld\n", (long)self);
    write_text(in_folder("self"), text);
    CHECK_EQ(waitpid(self, &status, 0), self);
    CHECK(WIFSIGNALED(status) && EQ(WTERMSIG(status), SIGINT));
}

TEST(a_run_does_not_outlive_us)
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
TEST(a_run_whose_guard_is_killed_ends_and_says_so)
{
    ft_error err = {0};
    ft_command_options o = {.min_runs = 1, .max_runs = 1};

    CHECK_EQ(failure("kill -9 $PPID; exec sleep 6000", &o, &err), FT_EBACKEND);
    CHECK(HAS(err.msg, "by signal 9"));
}

int main(void)
{
    make_folder();
    check_all();
    remove_folder();
    CHECK_DONE();
}
