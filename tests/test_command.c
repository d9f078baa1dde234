/* Any command, measured: with programs whose cost is known. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "foretell/command.h"

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

static ft_command_result *measured(const ft_command *c, size_t n,
                                   const ft_command_options *o)
{
    ft_command_result *r = NULL;
    ft_error err = {0};

    CHECK(ft_measure_commands(&r, c, n, o, &err) == FT_OK);
    if (!r) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return r;
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

static void a_sleep_takes_its_time_and_no_processor(void)
{
    ft_command c = shell("exec sleep 0.05");
    ft_command_options o = {.min_runs = 5, .max_runs = 5};
    ft_command_result *r = measured(&c, 1, &o);

    CHECK(r->n_runs == 5 && r->time.n == 5);
    CHECK(r->min_s >= 0.05 && r->time.value < 0.15);
    CHECK(r->min_s <= r->time.value && r->time.value <= r->max_s);
    CHECK(r->user.value + r->system.value < 0.04);
    CHECK(strcmp(r->name, "sh -c exec sleep 0.05") == 0);
    for (size_t i = 1; i < r->n_runs; i++)
        CHECK(r->run[i].start_s >= r->run[i - 1].start_s + r->run[i - 1].wall_s);
    ft_command_results_free(r, 1);
}

static void work_is_processor_time(void)
{
    ft_command c = shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
    ft_command_options o = {.min_runs = 3, .max_runs = 3};
    ft_command_result *r = measured(&c, 1, &o);

    CHECK(r->user.value > 0.02);
    CHECK(r->user.value + r->system.value < r->max_s * 1.1);
    ft_command_results_free(r, 1);
}

static void memory_is_that_of_the_program(const char *self)
{
    static const char *argv[] = {NULL, "eat", NULL};
    ft_command c[2] = {{.argv = argv, .name = "eats 64 MiB"}, shell("exit 0")};
    ft_command_options o = {.min_runs = 2, .max_runs = 2};
    ft_command_result *r;

    argv[0] = self;
    r = measured(c, 2, &o);
    CHECK(r[0].memory.value > 64.0 * (1 << 20) && r[0].memory.value < 96.0 * (1 << 20));
    CHECK(r[1].memory.value < 16.0 * (1 << 20) && r[1].memory.value > 1 << 17);
    CHECK(strcmp(r[0].name, "eats 64 MiB") == 0);
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
    CHECK(strcmp(text_of(in_folder("order")), "abcbcacab") == 0);
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
    CHECK(strcmp(text_of(in_folder("around")), "SPRCPRCPRCE") == 0);
}

static void input_is_handed_to_every_run(void)
{
    char text[128];
    ft_command c;
    ft_command_options o = {.min_runs = 2, .max_runs = 2};
    FILE *fp = fopen(in_folder("input"), "w");

    CHECK(fp && fputs("xyz\n", fp) > 0 && fclose(fp) == 0);
    snprintf(text, sizeof(text), "cat >>%s", in_folder("copied"));
    c = shell(text);
    o.input = in_folder("input");
    ft_command_results_free(measured(&c, 1, &o), 1);
    CHECK(strcmp(text_of(in_folder("copied")), "xyz\nxyz\n") == 0);
}

static ft_status failure(const char *text, const ft_command_options *o, ft_error *err)
{
    ft_command c = shell(text);
    ft_command_result *r = (ft_command_result *)err;
    ft_status st = ft_measure_commands(&r, &c, 1, o, err);

    CHECK(r == NULL);
    return st;
}

static void failures_name_the_command_and_how_it_ended(void)
{
    static const char *const nothing[] = {"/no/such/program", NULL};
    ft_command missing = {.argv = nothing};
    ft_command_options o = {.min_runs = 2, .max_runs = 2};
    ft_command_result *r;
    ft_error err = {0};

    CHECK(failure("exit 3", &o, &err) == FT_EBACKEND);
    CHECK(strstr(err.msg, "exit 3 ended with 3") != NULL);
    CHECK(failure("kill -9 $$", &o, &err) == FT_EBACKEND);
    CHECK(strstr(err.msg, "signal 9") != NULL);
    CHECK(ft_measure_commands(&r, &missing, 1, &o, &err) == FT_ENOTFOUND);
    CHECK(strstr(err.msg, "/no/such/program: No such file") != NULL);
    o.prepare = "exit 7";
    CHECK(failure("exit 0", &o, &err) == FT_EBACKEND);
    CHECK(strstr(err.msg, "prepare") && strstr(err.msg, "7"));
    o.prepare = NULL;
    o.input = "/no/such/file";
    CHECK(failure("exit 0", &o, &err) == FT_EIO);
    CHECK(ft_measure_commands(&r, NULL, 0, &o, &err) == FT_EINVAL);
}

static void failures_count_when_asked_to(void)
{
    ft_command c = shell("exit 3");
    ft_command_options o = {.min_runs = 4, .max_runs = 4, .ignore_failure = 1};
    ft_command_result *r = measured(&c, 1, &o);

    CHECK(r->n_runs == 4 && r->n_failed == 4 && r->run[2].exit_code == 3);
    ft_command_results_free(r, 1);
}

static void a_run_that_hangs_is_ended_with_its_children(void)
{
    char text[128];
    ft_command_options o = {.min_runs = 1, .max_runs = 1, .timeout_s = 0.2};
    ft_error err = {0};
    long child;

    snprintf(text, sizeof(text), "sleep 60 & echo $! >%s; wait", in_folder("child"));
    CHECK(failure(text, &o, &err) == FT_EBACKEND);
    CHECK(strstr(err.msg, "longer than 0.2 s") != NULL);
    child = strtol(text_of(in_folder("child")), NULL, 10);
    CHECK(child > 1);
    for (int i = 0; i < 200 && kill((pid_t)child, 0) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    snprintf(text, sizeof(text), "/proc/%ld/stat", child);
    CHECK(child > 1 && (kill((pid_t)child, 0) != 0 || strstr(text_of(text), ") Z ")));
}

static void runs_far_from_the_others_are_marked_and_kept(void)
{
    char text[160];
    ft_command c;
    ft_command_options o = {.min_runs = 12, .max_runs = 12};
    ft_command_result *r;

    snprintf(text, sizeof(text),
             "printf x >>%s; [ $(wc -c <%s) = 5 ] && sleep 0.5; true",
             in_folder("fifth"), in_folder("fifth"));
    c = shell(text);
    r = measured(&c, 1, &o);
    CHECK(r->n_runs == 12 && r->n_outliers >= 1 && r->run[4].outlier);
    CHECK(r->max_s > 0.5 && r->time.value < 0.2);
    ft_command_results_free(r, 1);
}

static int eat(void)
{
    size_t n = (size_t)64 << 20;
    volatile char *p = malloc(n);

    for (size_t i = 0; p && i < n; i += 1024)
        p[i] = 1;
    return p ? 0 : 1;
}

int main(int argc, char **argv)
{
    char text[96];

    if (argc > 1 && strcmp(argv[1], "eat") == 0)
        return eat();
    CHECK(mkdtemp(folder) != NULL);
    a_sleep_takes_its_time_and_no_processor();
    work_is_processor_time();
    memory_is_that_of_the_program(argv[0]);
    commands_take_turns_beginning_with_another_one();
    what_belongs_around_a_run_is_run();
    input_is_handed_to_every_run();
    failures_name_the_command_and_how_it_ended();
    failures_count_when_asked_to();
    a_run_that_hangs_is_ended_with_its_children();
    runs_far_from_the_others_are_marked_and_kept();
    snprintf(text, sizeof(text), "rm -r %s", folder);
    CHECK(system(text) == 0);
    CHECK_DONE();
}
