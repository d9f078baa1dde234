/* A program with a text on its standard input, what it prints, and limits on both. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/ptx/ptxas.h"

extern char **environ;

enum { MOST_BYTES = 8 << 20, PIECE = 1 << 16, WAIT_MS = 50 };

struct printed {
    char *s;
    size_t len, cap;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Signals that would end this process wait until the program is gone. */
struct signals {
    sigset_t held, before;
};

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { N_ENDING = sizeof(ending) / sizeof(*ending) };

static void hold(struct signals *s)
{
    sigemptyset(&s->held);
    for (size_t i = 0; i < N_ENDING; i++) {
        struct sigaction how;

        if (sigaction(ending[i], NULL, &how) == 0 && how.sa_handler != SIG_IGN)
            sigaddset(&s->held, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &s->held, &s->before);
}

static bool is_asked_to_end(const struct signals *s)
{
    sigset_t waiting;

    sigpending(&waiting);
    for (size_t i = 0; i < N_ENDING; i++)
        if (sigismember(&waiting, ending[i]) && sigismember(&s->held, ending[i]))
            return true;
    return false;
}

/* A file without a name that holds the text; -1. */
static int file_of(const char *text, size_t len)
{
    FILE *fp = tmpfile();
    int fd = -1;

    if (fp && fwrite(text, 1, len, fp) == len && fflush(fp) == 0)
        fd = fcntl(fileno(fp), F_DUPFD_CLOEXEC, 0);
    if (fp)
        fclose(fp);
    if (fd >= 0 && lseek(fd, 0, SEEK_SET) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* In a process group of its own, so that what it starts ends with it; with signals as
 * they were before this process held them. */
static int start(pid_t *pid, char *const argv[], int in, int out,
                 const struct signals *signals)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int code;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &signals->before);
    code = posix_spawn(pid, argv[0], &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return code;
}

static bool room(struct printed *p)
{
    char *grown;

    if (p->cap - p->len > PIECE)
        return true;
    grown = realloc(p->s, 2 * p->cap + 2 * PIECE);
    if (!grown)
        return false;
    p->s = grown;
    p->cap = 2 * p->cap + 2 * PIECE;
    return true;
}

/* What runs. */
struct child {
    pid_t pid;
    int fd; /* what it prints */
    bool ended;
    int status; /* 0 where nothing is known, since SIGCHLD is ignored */
    double until_s;
    const struct signals *signals;
};

static bool has_ended(struct child *c)
{
    pid_t got = c->ended ? c->pid : waitpid(c->pid, &c->status, WNOHANG);

    if (got < 0)
        c->status = 0;
    c->ended = got != 0;
    return c->ended;
}

/* Its time is over, or this process is asked to end and ends it first. */
static bool has_to_end(const struct child *c)
{
    return is_asked_to_end(c->signals) || now_s() >= c->until_s;
}

/* Until it closes what it prints on, or has ended and left nothing to read. */
static ft__ran listen_to(struct printed *p, struct child *c)
{
    struct pollfd wait = {.fd = c->fd, .events = POLLIN};

    for (;;) {
        ssize_t n;

        if (!room(p))
            return FT__RAN_NOT;
        if (has_to_end(c))
            return FT__RAN_LATE;
        if (poll(&wait, 1, WAIT_MS) <= 0) {
            if (has_ended(c))
                return FT__RAN_GOOD;
            continue;
        }
        n = read(c->fd, p->s + p->len, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return FT__RAN_GOOD;
        p->len += (size_t)n;
        if (p->len > MOST_BYTES)
            return FT__RAN_LOUD;
    }
}

/* Its end, which may come later than that of its output. */
static ft__ran await(struct child *c)
{
    const struct timespec nap = {.tv_nsec = 2000000};

    while (!has_ended(c) && !has_to_end(c))
        nanosleep(&nap, NULL);
    if (!c->ended)
        return FT__RAN_LATE;
    return WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0 ? FT__RAN_GOOD
                                                               : FT__RAN_REFUSED;
}

static ft__ran follow(struct printed *p, struct child *c)
{
    ft__ran ran = listen_to(p, c);

    if (ran == FT__RAN_GOOD)
        ran = await(c);
    if (!c->ended) {
        kill(-c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
    }
    return ran;
}

ft__ran ft__ptxas_run(char **out, char *const argv[], const char *in, size_t len,
                      double limit_s)
{
    struct printed p = {0};
    ft__ran ran = FT__RAN_NOT;
    struct child c = {.until_s = now_s() + limit_s};
    int text = file_of(in, len), ends[2], code;
    struct signals signals;

    *out = NULL;
    if (text < 0)
        return FT__RAN_NOT;
    if (pipe(ends)) {
        close(text);
        return FT__RAN_NOT;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    hold(&signals);
    code = start(&c.pid, argv, text, ends[1], &signals);
    close(ends[1]);
    close(text);
    c.fd = ends[0];
    c.signals = &signals;
    if (code == 0)
        ran = follow(&p, &c);
    sigprocmask(SIG_SETMASK, &signals.before, NULL);
    close(ends[0]);
    if (ran == FT__RAN_NOT) {
        free(p.s);
        errno = code ? code : ENOMEM;
        return ran;
    }
    p.s[p.len] = '\0';
    *out = p.s;
    return ran;
}
