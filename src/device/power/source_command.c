/* A program that prints watts as a source of power. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "device/power/source.h"

extern char **environ;

/* A program that prints watts, one number a line: a wall meter's. It leads a process
 * group of its own, which ends with the source. Killed ourselves, we close the pipe,
 * and its next line ends it. */
struct program {
    pid_t pid;
    int out;
    char line[128]; /* what has come of the next one */
    size_t len;
    bool ended;
};

/* A line that is a number, maybe with blanks around and a unit "W" behind it. */
static bool watts_of(char *line, double *watts)
{
    char *begin = line + strspn(line, " \t"), *end = begin + strlen(begin);

    while (end > begin && strchr(" \t\r", end[-1]))
        end--;
    if (end > begin && end[-1] == 'W')
        end--;
    while (end > begin && strchr(" \t", end[-1]))
        end--;
    *end = '\0';
    return ft__number_parse(begin, watts) && *watts >= 0;
}

static void take_bytes(struct program *p, const char *bytes, size_t n, int *lines,
                       double *watts)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (p->len + 1 < sizeof(p->line))
                p->line[p->len++] = bytes[i];
            continue;
        }
        p->line[p->len] = '\0';
        p->len = 0;
        *lines += watts_of(p->line, watts);
    }
}

static ft__read read_lines(ft__power_source *s, ft_power_reading *out)
{
    struct program *p = s->state;
    char bytes[512];
    int lines = 0;
    ssize_t n;

    while ((n = read(p->out, bytes, sizeof(bytes))) > 0)
        take_bytes(p, bytes, (size_t)n, &lines, &out->watts);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        p->ended = true;
    if (lines)
        return FT__READ_GOOD;
    if (!p->ended)
        return FT__READ_SAME;
    snprintf(s->why, sizeof(s->why), "the program has ended");
    return FT__READ_FAILED;
}

static void end_program(ft__power_source *s)
{
    struct program *p = s->state;

    close(p->out);
    kill(-p->pid, SIGTERM);
    for (int i = 0; i < 50 && waitpid(p->pid, NULL, WNOHANG) == 0; i++)
        ft__sleep_s(0.01);
    kill(-p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    free(p);
}

/* The child's signals are as usual, whatever ours are. */
static int spawn(struct program *p, char *command, int out)
{
    char shell[] = "sh", option[] = "-c";
    char *const argv[] = {shell, option, command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    int code;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGTERM);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &usual);
    code = posix_spawn(&p->pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return code;
}

static ft_status start(struct program *p, char *command, ft_error *err)
{
    int ends[2], code;

    if (pipe(ends))
        return ft_fail(err, FT_EIO, 0, "%s: %s", command, strerror(errno));
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    code = spawn(p, command, ends[1]);
    close(ends[1]);
    p->out = ends[0];
    if (code) {
        close(ends[0]);
        return ft_fail(err, FT_EIO, 0, "%s: %s", command, strerror(code));
    }
    return FT_OK;
}

/* For bytes, or a moment. */
static void wait_for_bytes(const ft__power_source *s)
{
    const struct program *p = s->state;
    struct pollfd wait = {.fd = p->out, .events = POLLIN};

    if (s->all->clock)
        ft__clock_sleep(s->all->clock, 1e-3);
    else
        (void)poll(&wait, 1, 100);
}

/* Three seconds for the first number, and as much for three more, which tell how
 * often they come. */
static ft_status await(ft__power_source *s, const char *command, ft_error *err)
{
    enum { LINES = 4 };
    struct program *p = s->state;
    const ft__clock *clock = s->all->clock;
    double began = ft__clock_now(clock), first = NAN, last = NAN;
    int n = 0;

    while (!p->ended && n < LINES && ft__clock_now(clock) - (n ? first : began) < 3) {
        ft_power_reading r = {NAN, NAN, NAN};

        wait_for_bytes(s);
        if (read_lines(s, &r) != FT__READ_GOOD)
            continue;
        last = ft__clock_now(clock);
        first = n++ ? first : last;
    }
    if (n >= 3)
        s->d.period_s = (last - first) / (n - 1);
    if (n)
        return FT_OK;
    return ft_fail(err, FT_ENOTFOUND, 0,
                   "command: %s %s: it should print watts, one number a line", command,
                   p->ended ? "ended without a number" : "printed no number for 3 s");
}

static ft_status open_command(ft__sources *all, const char *command, ft_error *err)
{
    struct program *p = calloc(1, sizeof(*p));
    ft__power_source *s = p ? ft__source_add(all, "command") : NULL;
    char *copy = ft__arena_strndup(&all->arena, command, strlen(command));
    ft_status st =
        s && copy ? start(p, copy, err) : ft_fail(err, FT_ENOMEM, 0, "command");

    if (st) {
        free(p);
        return st;
    }
    s->state = p;
    s->read = read_lines;
    s->close = end_program;
    s->d.tells_power = 1;
    s->d.all_fresh = 1;
    s->hands_over = true;
    return await(s, command, err);
}

const ft__power_kind ft__sources_command = {.name = "command:", .open = open_command};
