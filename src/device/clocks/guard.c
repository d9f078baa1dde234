/* The process that puts settings back when their holder ends. */
#define _GNU_SOURCE
#include "device/clocks/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

/* Numbers of files in the guard. */
enum { SOCKET = 0, LOCK = 3, FIRST_FOREIGN = 4 };

static const int answer_ms = 10 * 1000;

static bool say(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return false;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The letter that comes next; 0: the other one is gone, or too slow. */
static char hear(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char letter = 0;
    int n;

    do
        n = poll(&p, 1, timeout_ms);
    while (n < 0 && errno == EINTR);
    if (n <= 0 || recv(fd, &letter, 1, 0) != 1)
        return 0;
    return letter;
}

/* What it is sent, as lines: pid, root, nvml, state, then acts. */
struct orders {
    char *text;
    long pid;
    const char *nvml, *state_dir;
    ft__machine machine;
    ft__acts restore;
};

/* Everything until an empty line; NULL: the holder is gone before it was said. A
 * child of its may keep the socket open. */
static char *listen_to_orders(void)
{
    ft__buf b = {0};
    char piece[4096];

    while (!b.bad && !(b.len >= 2 && strcmp(b.s + b.len - 2, "\n\n") == 0)) {
        struct pollfd p = {.fd = SOCKET, .events = POLLIN};
        ssize_t n = poll(&p, 1, answer_ms) > 0
                        ? recv(SOCKET, piece, sizeof(piece), MSG_DONTWAIT)
                        : -1;

        if (n <= 0 || b.len > FT__MAX_TEXT_FILE) {
            ft__buf_free(&b);
            return NULL;
        }
        ft__buf_add(&b, piece, (size_t)n);
    }
    if (b.bad) {
        ft__buf_free(&b);
        return NULL;
    }
    b.s[b.len - 1] = '\0';
    return b.s;
}

/* The next line, ended; "" for none. */
static char *next_line(char **at)
{
    char *line = *at;
    size_t len = strcspn(line, "\n");

    *at = line + len + (line[len] == '\n');
    line[len] = '\0';
    return line;
}

static bool understand(struct orders *o)
{
    char *at = o->text, *line;

    o->pid = strtol(next_line(&at), NULL, 10);
    o->machine.root = next_line(&at) + 1;
    line = next_line(&at) + 1;
    o->machine.nvml = *line ? line : NULL;
    line = next_line(&at) + 1;
    o->state_dir = *line ? line : NULL;
    return o->pid > 0 && ft__acts_parse(&o->restore, at, NULL) == FT_OK;
}

static int open_process(long pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0u);
#else
    (void)pid;
    return -1;
#endif
}

/* True: the holder has put everything back itself. */
static bool wait_for_the_end(long pid)
{
    struct pollfd p[2] = {{.fd = SOCKET, .events = POLLIN},
                          {.fd = open_process(pid), .events = POLLIN}};
    bool dismissed = false, over = false;

    if (!say(SOCKET, "r", 1))
        return false;
    while (!over) {
        /* A kernel without pidfd: a child of the holder may keep the socket open. */
        int n = poll(p, 2, p[1].fd < 0 ? 300 : -1);

        if (n < 0)
            continue;
        if (p[0].revents) {
            dismissed = hear(SOCKET, 0) == 'd';
            over = true;
        } else if (p[1].fd >= 0 ? p[1].revents != 0
                                : kill((pid_t)pid, 0) && errno == ESRCH) {
            over = true;
        }
    }
    if (p[1].fd >= 0)
        close(p[1].fd);
    return dismissed;
}

/* A device that is busy may refuse at first. */
static bool put_back(struct orders *o)
{
    for (int i = 0; i < 3; i++) {
        if (i)
            ft__sleep_s(0.2);
        if (ft__acts_undo_all(&o->machine, &o->restore, NULL) == FT_OK)
            return true;
    }
    return false;
}

static int live(int lock, const ft__guard_state *state)
{
    struct orders o = {.text = listen_to_orders()};
    int code = 0;

    if (o.text && understand(&o) && !wait_for_the_end(o.pid)) {
        code = put_back(&o) ? 0 : 1;
        if (code == 0)
            state->forget(o.state_dir);
        (void)say(SOCKET, code ? "f" : "p", 1);
        state->unlock(lock);
    }
    ft__machine_close(&o.machine);
    ft__acts_free(&o.restore);
    free(o.text);
    return code;
}

int ft__guard_live(int argc, char **argv, const ft__guard_state *state)
{
    return live(argc > 0 && strcmp(argv[0], "locked") == 0 ? LOCK : -1, state);
}

static void ignore_signals(void)
{
    static const int all[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                              SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM, SIGUSR1,
                              SIGUSR2, SIGXCPU, SIGXFSZ};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    sigemptyset(&ignore.sa_mask);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        (void)sigaction(all[i], &ignore, NULL);
}

/* Nothing of the holder's stays open: a pipe kept open would keep its reader
 * waiting. */
static void keep_only(int socket, int lock)
{
    int nothing = open("/dev/null", O_RDWR);
    long most = sysconf(_SC_OPEN_MAX);

    socket = fcntl(socket, F_DUPFD, 64);
    lock = lock >= 0 ? fcntl(lock, F_DUPFD, 64) : -1;
    nothing = fcntl(nothing, F_DUPFD, 64);
    (void)dup2(socket, SOCKET);
    (void)dup2(nothing, 1);
    (void)dup2(nothing, 2);
    if (lock >= 0)
        (void)dup2(lock, LOCK);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, lock >= 0 ? FIRST_FOREIGN : LOCK, ~0u, 0u) == 0)
        return;
#endif
    for (int fd = lock >= 0 ? FIRST_FOREIGN : LOCK; fd < most && fd < 1 << 16; fd++)
        close(fd);
}

enum { MOST_ARGUMENTS = 16 };

static void become_program(const char *const *program, bool locked)
{
    const char *argv[MOST_ARGUMENTS + 2];
    size_t n = 0;

    while (program[n] && n < MOST_ARGUMENTS) {
        argv[n] = program[n];
        n++;
    }
    argv[n++] = locked ? "locked" : "free";
    argv[n] = NULL;
    execv(argv[0], (char *const *)argv);
}

static void be_guard(const ft__guard_job *job, int socket, const sigset_t *mask)
{
    ignore_signals();
    keep_only(socket, job->lock);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    if (job->program)
        become_program(job->program, job->lock >= 0);
    _exit(live(job->lock >= 0 ? LOCK : -1, job->state));
}

/* Twice, so that no child of the holder's is left to be waited for. */
static bool fork_twice(const ft__guard_job *job, int ours, int theirs)
{
    sigset_t all, before;
    int status = 1;
    pid_t pid;

    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0) {
        if (setsid() < 0 || (pid = fork()) < 0)
            _exit(1);
        if (pid > 0)
            _exit(0);
        close(ours);
        be_guard(job, theirs, &before);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid > 0 && status == 0;
}

static bool give_orders(int fd, const ft__guard_job *job)
{
    ft__buf b = {0};
    bool said;

    ft__buf_fmt(&b, "%ld\nr%s\nn%s\ns%s\n", (long)getpid(), job->root,
                job->nvml ? job->nvml : "", job->state_dir ? job->state_dir : "");
    ft__acts_print(job->restore, &b);
    ft__buf_str(&b, "\n");
    said = !b.bad && say(fd, b.s, b.len);
    ft__buf_free(&b);
    return said;
}

ft_status ft__guard_start(ft__guard *g, const ft__guard_job *job, ft_error *err)
{
    int pair[2];
    bool born;

    g->socket = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return ft_fail(err, FT_EIO, 0, "no guard for the settings: %s",
                       strerror(errno));
    born = fork_twice(job, pair[0], pair[1]);
    close(pair[1]);
    if (!born || !give_orders(pair[0], job) || hear(pair[0], answer_ms) != 'r') {
        close(pair[0]);
        return ft_fail(err, FT_EIO, 0,
                       "settings are not changed, because no guard for them could be "
                       "started%s%s",
                       job->program ? " by " : "", job->program ? *job->program : "");
    }
    g->socket = pair[0];
    return FT_OK;
}

bool ft__guard_end(ft__guard *g, bool put_back)
{
    bool done = false;

    if (g->socket < 0)
        return false;
    if (put_back)
        (void)shutdown(g->socket, SHUT_WR);
    if (put_back || say(g->socket, "d", 1))
        done = hear(g->socket, answer_ms) == 'p'; /* dismissed, it just ends */
    close(g->socket);
    g->socket = -1;
    return done;
}
