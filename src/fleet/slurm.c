/* Who runs jobs: Slurm, asked by its own programs, or this machine. */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "fleet/jobs.h"
#include "measure/spawn.h"

/* Slurm's programs answer in this time, or it is not there. */
static const double answer_s = 60;
/* A job that was taken says who runs it in this time. */
static const double says_so_s = 10;

/* ---- a program of Slurm's ---- */

static char *text_of(FILE *fp)
{
    const long size = ftell(fp);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    size_t n = 0;

    rewind(fp);
    if (text)
        n = fread(text, 1, (size_t)size, fp);
    if (text)
        text[n] = '\0';
    return text;
}

/* "squeue: error: slurm_load_jobs error: ..." of many lines: the first error. */
static void first_error(char *text)
{
    char *at = strstr(text, "error: ");

    if (at)
        memmove(text, at + 7, strlen(at + 7) + 1);
    text[strcspn(text, "\n")] = '\0';
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
    fseek(fp, 0, SEEK_END);
    *text = text_of(fp);
    fclose(fp);
    if (st == FT_ENOTFOUND)
        return ft_fail(err, FT_EIO, 0,
                       "%s: without Slurm, jobs run on this machine with --local N",
                       why.msg);
    if (st)
        return ft_fail(err, FT_EIO, 0, "%s", why.msg);
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

/* ---- submitting ---- */

enum { MOST_WORDS = 160 };

struct words {
    const char *v[MOST_WORDS];
    size_t n;
};

static void add(struct words *w, const char *option, const char *value)
{
    if (!*value || w->n + 3 > MOST_WORDS)
        return;
    w->v[w->n++] = option;
    w->v[w->n++] = value;
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
        if (ft__job_field(started, sizeof(started), b, i, "started", "job"))
            *array = strtoull(started, NULL, 10);
    return st;
}

static ft_status submit_array(ft__fleet_batch *b, const ft__fleet_kind *k,
                              const char *excluded, double job_s, ft_error *err)
{
    char range[64], minutes[32], output[PATH_MAX + 16], script[PATH_MAX], *text;
    struct words w = {.v = {"sbatch", "--parsable", "--exclusive", "--no-requeue"},
                      .n = 4};
    ft_error why;
    ft_status st;

    snprintf(range, sizeof(range), "0-%zu", b->n_jobs - 1);
    snprintf(minutes, sizeof(minutes), "%.0f", ceil((3 * job_s + 600) / 60));
    snprintf(output, sizeof(output), "%s/%%a/slurm.log", b->folder);
    ft__job_path(script, b, SIZE_MAX, "job.sh");
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

ft_status ft__batch_submit(ft__runners *r, ft__fleet_batch *b, const ft__fleet_kind *k,
                           const char *excluded, double job_s, ft_error *err)
{
    char text[32];
    ft_status st;

    b->local = r->local > 0;
    if (b->local)
        return ft__job_note(b, SIZE_MAX, "array", "local", err);
    st = find_array(&b->array, b, err);
    if (!st && !b->array)
        st = submit_array(b, k, excluded, job_s, err);
    snprintf(text, sizeof(text), "%llu", b->array);
    return st ? st : ft__job_note(b, SIZE_MAX, "array", text, err);
}

/* ---- which are still there ---- */

/* In `there` for every job of Slurm's that squeue lists: "array index state". */
static void mark(ft__fleet_batch *list, size_t n, const char *line, bool *const *there)
{
    unsigned long long array;
    char state[32];
    size_t index;

    if (sscanf(line, "%llu %zu %31s", &array, &index, state) != 3)
        return;
    for (size_t b = 0; b < n; b++)
        if (list[b].array == array && index < list[b].n_jobs)
            there[b][index] = true;
}

static bool is_open(const ft__fleet_batch *b)
{
    for (size_t i = 0; i < b->n_jobs; i++)
        if (b->job[i].state < FT__JOB_OVER)
            return true;
    return false;
}

static bool is_of_slurm(const ft__fleet_batch *b)
{
    return b->array && is_open(b);
}

static ft_status ask_queue(ft__fleet_batch *list, size_t n, bool *const *there,
                           ft_error *err)
{
    ft__buf names = {0};
    const char *argv[] = {"squeue", "-h", "-r", "-o", "%F %K %T", "-n", NULL, NULL};
    char *text = NULL, *rest, *line;
    ft_status st = FT_OK;

    for (size_t b = 0; b < n; b++)
        if (is_of_slurm(&list[b]))
            ft__buf_fmt(&names, "%s%s", names.len ? "," : "", list[b].job_name);
    argv[6] = names.s;
    if (names.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "names of jobs");
    else if (names.len)
        st = ask(&text, argv, err);
    for (rest = text; text && (line = strtok_r(rest, "\n", &rest));)
        mark(list, n, line, there);
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
    ft__job_path(script, b, SIZE_MAX, "job.sh");
    line[n] = '\0';
    /* "/bin/sh", then the script */
    return n > strlen(line) + 1 && strcmp(line + strlen(line) + 1, script) == 0;
}

/* Taken so long ago that it would have said by whom. */
static bool is_silent(const ft__fleet_batch *b, size_t i)
{
    char path[PATH_MAX];
    struct stat st;

    ft__job_path(path, b, i, "taken");
    return stat(path, &st) == 0 && difftime(time(NULL), st.st_mtime) > says_so_s;
}

/* ---- jobs on this machine ---- */

static size_t count_children(ft__runners *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_children; i++)
        if (waitpid((pid_t)r->child[i], NULL, WNOHANG) == 0)
            r->child[n++] = r->child[i];
    return r->n_children = n;
}

/* In a group of its own: it is to live on when this process is interrupted. */
static ft_status start(ft__runners *r, const ft__fleet_batch *b, size_t i,
                       ft_error *err)
{
    char shell[] = "/bin/sh", script[PATH_MAX], index[32];
    char *argv[] = {shell, script, index, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid;
    int code;
    long *grown = ft__list_grow(r->child, r->n_children, &r->cap, sizeof(*grown));

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%zu jobs", r->n_children);
    r->child = grown;
    ft__job_path(script, b, SIZE_MAX, "job.sh");
    snprintf(index, sizeof(index), "%zu", i);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    code = posix_spawn(&pid, argv[0], &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    if (code)
        return ft_fail(err, FT_EIO, 0, "cannot start a job: %s", strerror(code));
    r->child[r->n_children++] = pid;
    return FT_OK;
}

/* Is it there? One that waits is started when there is room. */
static ft_status look_local(bool *there, ft__runners *r, const ft__fleet_batch *b,
                            size_t i, size_t *running, ft_error *err)
{
    const ft__fleet_job *j = &b->job[i];

    if (j->state == FT__JOB_RUNNING) {
        *there = j->pid ? is_alive(b, j->pid) : !is_silent(b, i);
        *running += *there;
        return FT_OK;
    }
    *there = true;
    if (!r->local || *running >= r->local || count_children(r) >= r->local)
        return FT_OK;
    ++*running;
    return start(r, b, i, err);
}

/* ---- all of them ---- */

/* Not there, and not a word that it ended: it died. */
static void judge(ft__fleet_batch *b, size_t i, bool there)
{
    ft__fleet_job *j = &b->job[i];

    ft__job_look(b, i);
    if (j->state >= FT__JOB_OVER || there)
        return;
    j->state = FT__JOB_OVER;
    j->died = true;
    j->ended_s = (double)time(NULL);
}

static ft_status look_at(ft__fleet_batch *list, size_t n, bool *const *there,
                         ft__runners *r, ft_error *err)
{
    size_t running = 0;
    ft_status st = ask_queue(list, n, there, err);

    for (size_t b = 0; b < n && !st; b++)
        for (size_t i = 0; i < list[b].n_jobs && !st; i++) {
            if (list[b].job[i].state >= FT__JOB_OVER ||
                !(list[b].local || list[b].array))
                continue;
            ft__job_look(&list[b], i);
            if (list[b].local && list[b].job[i].state < FT__JOB_OVER)
                st = look_local(&there[b][i], r, &list[b], i, &running, err);
            if (!st)
                judge(&list[b], i, there[b][i]);
        }
    return st;
}

ft_status ft__batches_poll(ft__runners *r, ft__fleet_batch *list, size_t n,
                           ft_error *err)
{
    bool **there = calloc(n + 1, sizeof(*there));
    ft_status st = there ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu batches", n);

    (void)count_children(r);
    for (size_t b = 0; b < n && !st; b++) {
        there[b] = calloc(list[b].n_jobs + 1, sizeof(**there));
        if (!there[b])
            st = ft_fail(err, FT_ENOMEM, 0, "%zu jobs", list[b].n_jobs);
    }
    if (!st)
        st = look_at(list, n, there, r, err);
    for (size_t b = 0; b < n && there; b++)
        free(there[b]);
    free(there);
    return st;
}

void ft__runners_free(ft__runners *r)
{
    free(r->child);
    *r = (ft__runners){0};
}
