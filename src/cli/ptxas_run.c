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

#include "cli/ptxas.h"

extern char **environ;

enum { MOST_BYTES = 8 << 20, PIECE = 1 << 16 };

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

/* In a process group of its own, so that what it starts ends with it. */
static int start(pid_t *pid, char *const argv[], int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int code;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attr, 0);
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

/* Until it closes what it prints on. */
static ft__ran listen_to(struct printed *p, int fd, double until_s)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    for (;;) {
        double left = until_s - now_s();
        ssize_t n;

        if (!room(p))
            return FT__RAN_NOT;
        if (left <= 0)
            return FT__RAN_LATE;
        if (poll(&wait, 1, (int)(left * 1e3) + 1) <= 0)
            continue;
        n = read(fd, p->s + p->len, PIECE);
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
static ft__ran await(pid_t pid, double until_s)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    int status = 0;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0 && now_s() < until_s)
        nanosleep(&nap, NULL);
    if (got == pid)
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? FT__RAN_GOOD
                                                             : FT__RAN_REFUSED;
    return FT__RAN_LATE;
}

static ft__ran follow(struct printed *p, pid_t pid, int fd, double until_s)
{
    ft__ran ran = listen_to(p, fd, until_s);

    if (ran == FT__RAN_GOOD && (ran = await(pid, until_s)) != FT__RAN_LATE)
        return ran;
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return ran;
}

ft__ran ft__ptxas_run(char **out, char *const argv[], const char *in, size_t len,
                      double limit_s)
{
    struct printed p = {0};
    ft__ran ran = FT__RAN_NOT;
    int text = file_of(in, len), ends[2], code;
    pid_t pid;

    *out = NULL;
    if (text < 0)
        return FT__RAN_NOT;
    if (pipe(ends)) {
        close(text);
        return FT__RAN_NOT;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    code = start(&pid, argv, text, ends[1]);
    close(ends[1]);
    close(text);
    if (code == 0)
        ran = follow(&p, pid, ends[0], now_s() + limit_s);
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
