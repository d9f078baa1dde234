/* Who runs jobs: Slurm, asked by its own programs, or this machine. */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "fleet/jobs.h"
#include "measure/spawn.h"

/* Slurm's programs answer in this time, or it is not there. */
static const double answer_s = 60;
enum { MOST_ANSWER = 1 << 26 };

/* "squeue: error: slurm_load_jobs error: ..." of many lines: the first error. */
static void first_error(char *text)
{
    char *at = strstr(text, "error: ");

    if (at)
        memmove(text, at + 7, strlen(at + 7) + 1);
    text[strcspn(text, "\n")] = '\0';
}

/* The whole of an open file, which no longer is; NULL: it cannot be read. */
static char *text_take(FILE *fp)
{
    const long size = fseek(fp, 0, SEEK_END) == 0 ? ftell(fp) : -1;
    char *text = size >= 0 && size <= MOST_ANSWER ? malloc((size_t)size + 1) : NULL;

    if (text) {
        rewind(fp);
        text[fread(text, 1, (size_t)size, fp)] = '\0';
    }
    fclose(fp);
    return text;
}

/* *text is what it prints, and the caller's to free(). FT_EIO: it is not there, or
 * fails: why. */
static ft_status ask(char **text, const char *const *argv, ft_error *err)
{
    FILE *fp = tmpfile();
    ft__signals signals;
    ft__spawn s = {
        .argv = argv, .signals = &signals, .timeout_s = answer_s, .output = fp};
    ft_command_run run;
    ft_error why = {0};
    ft_status st;

    *text = NULL;
    if (!fp)
        return ft_fail(err, FT_EIO, 0, "no temporary file: %s", strerror(errno));
    sigemptyset(&signals.held);
    sigaddset(&signals.held, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &signals.held, &signals.before);
    st = ft__system_runner.run(NULL, &run, &s, &why);
    pthread_sigmask(SIG_SETMASK, &signals.before, NULL);
    *text = text_take(fp);
    if (st)
        return ft_fail(err, FT_EIO, 0, "%s%s", why.msg,
                       st == FT_ENOTFOUND
                           ? ": without Slurm, jobs run on this machine with --local N"
                           : "");
    if (!*text)
        return ft_fail(err, FT_ENOMEM, 0, "what %s says", argv[0]);
    if (!run.exit_code && !run.timed_out)
        return FT_OK;
    first_error(*text);
    st = ft_fail(err, FT_EIO, 0, "%s %s: %s", argv[0],
                 run.timed_out ? "does not answer" : "refuses", *text);
    free(*text);
    *text = NULL;
    return st;
}

enum { MOST_WORDS = MOST_OPTIONS + 24 };

struct words {
    const char *v[MOST_WORDS];
    size_t n;
};

static void add(struct words *w, const char *option, const char *value)
{
    if (*value) {
        w->v[w->n++] = option;
        w->v[w->n++] = value;
    }
}

/* The array that was submitted under this name by somebody who did not live to write
 * its number down; 0: there is none. */
static ft_status find_array(unsigned long long *array, const ft__fleet_batch *b,
                            ft_error *err)
{
    const char *const argv[] = {"squeue", "-h", "-r",        "-o",
                                "%F",     "-n", b->job_name, NULL};
    char *text, started[64];
    ft_status st = ask(&text, argv, err);

    *array = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    for (size_t i = 0; i < b->n_jobs && !*array; i++)
        if (ft__job_field(started, sizeof(started), b->job[i].folder, "started", "job"))
            *array = strtoull(started, NULL, 10);
    return st;
}

static ft_status submit_array(ft__fleet_batch *b, const ft__fleet_kind *k,
                              const char *excluded, ft_error *err)
{
    char range[64], minutes[32], output[PATH_MAX + 16], script[PATH_MAX], *text;
    struct words w = {.v = {"sbatch", "--parsable", "--exclusive", "--no-requeue"},
                      .n = 4};
    ft_error why;
    ft_status st;

    snprintf(range, sizeof(range), "0-%zu", b->n_jobs - 1);
    snprintf(minutes, sizeof(minutes), "%.0f", ceil((3 * k->job_s + 600) / 60));
    snprintf(output, sizeof(output), "%s/%%a/slurm.log", b->folder);
    ft__job_path(script, b->folder, "job.sh");
    add(&w, "--array", range);
    add(&w, "--job-name", b->job_name);
    add(&w, "--output", output);
    add(&w, "--time", minutes);
    add(&w, "--constraint", k->constraint);
    add(&w, "--partition", k->partition);
    add(&w, "--account", k->account);
    add(&w, "--exclude", excluded);
    for (size_t i = 0; i < k->n_sbatch; i++)
        w.v[w.n++] = k->sbatch[i];
    w.v[w.n++] = script;
    w.v[w.n] = NULL;
    st = ask(&text, w.v, &why);
    if (st)
        return ft_fail(err, st, 0, "kind %s: %s", k->name, why.msg);
    b->array = strtoull(text, NULL, 10);
    if (!b->array)
        st = ft_fail(err, FT_EIO, 0, "kind %s: sbatch names no job: %.200s", k->name,
                     text);
    free(text);
    return st;
}

ft_status ft__batch_submit(ft__fleet_batch *b, bool local, const ft__fleet_kind *k,
                           const char *excluded, ft_error *err)
{
    char text[32];
    ft_status st;

    b->local = local;
    if (b->local)
        return ft__job_note(b->folder, "array", "local", err);
    st = find_array(&b->array, b, err);
    if (!st && !b->array)
        st = submit_array(b, k, excluded, err);
    snprintf(text, sizeof(text), "%llu", b->array);
    return st ? st : ft__job_note(b->folder, "array", text, err);
}

/* One line of squeue: "array index". */
static void mark(const ft__batches *list, const char *line)
{
    unsigned long long array;
    size_t index;

    if (sscanf(line, "%llu %zu", &array, &index) == 2)
        FT__EACH_JOB(list, b, j)
            j->there = j->there || (b->array == array && j->index == index);
}

/* Which of Slurm's jobs it has. */
static ft_status ask_queue(const ft__batches *list, ft_error *err)
{
    ft__buf names = {0};
    const char *argv[] = {"squeue", "-h", "-r", "-o", "%F %K", "-n", NULL, NULL};
    const ft__fleet_batch *last = NULL;
    char *text = NULL, *rest, *line;
    ft_status st = FT_OK;

    FT__EACH_JOB(list, b, j) {
        j->there = false;
        if (!b->array || b == last || j->state >= FT__JOB_OVER)
            continue;
        ft__buf_fmt(&names, "%s%s", last ? "," : "", b->job_name);
        last = b;
    }
    argv[6] = names.s;
    if (names.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "names of jobs");
    else if (names.len)
        st = ask(&text, argv, err);
    for (rest = text; text && (line = strtok_r(rest, "\n", &rest));)
        mark(list, line);
    free(text);
    ft__buf_free(&names);
    return st;
}

/* The process still runs this batch's script here. */
static bool is_alive(const ft__fleet_batch *b, long pid)
{
    char path[64], script[PATH_MAX], line[PATH_MAX + 64];
    FILE *fp;
    size_t n;

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    fp = fopen(path, "rb");
    n = fp ? fread(line, 1, sizeof(line) - 1, fp) : 0;
    if (fp)
        fclose(fp);
    ft__job_path(script, b->folder, "job.sh");
    line[n] = '\0';
    /* "/bin/sh", then the script */
    return n > strlen(line) + 1 && strcmp(line + strlen(line) + 1, script) == 0;
}

/* In a group of its own: it is to live on when this process is interrupted. */
static ft_status start(const ft__fleet_batch *b, ft__fleet_job *j, ft_error *err)
{
    char shell[] = "/bin/sh", script[PATH_MAX], index[32];
    char *argv[] = {shell, script, index, NULL};
    posix_spawnattr_t attr;
    pid_t pid;
    int code;

    ft__job_path(script, b->folder, "job.sh");
    snprintf(index, sizeof(index), "%zu", j->index);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    code = posix_spawn(&pid, shell, NULL, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    if (code)
        return ft_fail(err, FT_EIO, 0, "cannot start a job: %s", strerror(code));
    j->child = pid;
    return FT_OK;
}

/* What became of it. Not there, and not a word that it ended: it died. */
static void look(const ft__fleet_batch *b, ft__fleet_job *j)
{
    ft__job_look(j);
    if (b->local)
        j->there = j->state == FT__JOB_WAITING || is_alive(b, j->pid);
    if (!j->there)
        ft__job_look(j);
    if (j->there || j->state >= FT__JOB_OVER)
        return;
    j->state = FT__JOB_OVER;
    j->died = true;
    j->ended_s = (double)time(NULL);
}

ft_status ft__batches_poll(const ft__batches *list, uint32_t local, ft_error *err)
{
    size_t running = 0;
    ft_status st = ask_queue(list, err);

    FT__EACH_JOB(list, b, j) {
        if (j->child && waitpid((pid_t)j->child, NULL, WNOHANG))
            j->child = 0;
        if (j->state < FT__JOB_OVER && (b->local || b->array) && !st)
            look(b, j);
        running += j->child || (b->local && j->state == FT__JOB_RUNNING);
    }
    FT__EACH_JOB(list, b, j)
        if (b->local && j->state == FT__JOB_WAITING && !j->child && running < local &&
            !st) {
            st = start(b, j, err);
            running++;
        }
    return st;
}
