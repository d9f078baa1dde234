/* One program, started, timed and waited for. */
#define _GNU_SOURCE /* wait4(), SOCK_CLOEXEC */
#include "measure/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* How long a run that is to end with us has for it. */
static const double grace_s = 1;
/* How long what it leaves behind is waited for: a process may be stuck in the kernel,
 * or be another user's. */
static const double most_ending_s = 5;

/* How a run came to its end. */
struct end {
    int status;
    struct rusage use;
    double at_s;
};

/* What the program reports just before it becomes one, and its guard afterwards. Memory
 * shared by all three; the start is taken there, so that copying this process does
 * not count. */
struct report {
    double start_s;
    int code;         /* errno of what failed */
    const char *step; /* what failed; NULL: nothing */
    bool ended;       /* the end is known */
    struct end end;
};

static void die(struct report *r, const char *step)
{
    r->code = errno;
    r->step = step;
    _exit(127);
}

/* In process group `group`; 0: one of its own. */
static void become(const ft__spawn *s, pid_t group, struct report *r)
{
    int in = open(s->input ? s->input : "/dev/null", O_RDONLY);
    int null = s->output ? dup(fileno(s->output)) : open("/dev/null", O_WRONLY);

    if (s->output)
        (void)fcntl(fileno(s->output), F_SETFD, FD_CLOEXEC);
    (void)setpgid(0, group);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* with its guard */
    pthread_sigmask(SIG_SETMASK, &s->signals->before, NULL);
    if (in < 0 || dup2(in, 0) < 0)
        die(r, "input");
    if ((s->output || !s->show_output) &&
        (null < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0))
        die(r, "output");
    if (in > 2)
        close(in);
    if (null > 2)
        close(null);
    for (size_t i = 0; s->env && s->env[i]; i++)
        if (putenv((char *)(uintptr_t)s->env[i]))
            die(r, "environment");
    r->start_s = ft__clock_now(s->clock);
    execvp(s->argv[0], (char *const *)(uintptr_t)s->argv);
    die(r, "exec");
}

/* Its guard: a process between ours and the program.
 *
 * It is the subreaper of all that the program starts: a process whose parent ends
 * becomes the guard's child, in whatever session or process group it is. Orders come
 * through a socket as single bytes, numbers of signals for the program; SIGKILL is for
 * everything. Where the socket ends, so did we, by SIGKILL too: then everything is
 * ended. */
struct guard {
    const ft__spawn *s;
    struct report *r;
    pid_t child;
    int orders;
    int ends;    /* signalfd of SIGCHLD */
    bool ending; /* a signal was passed on: nothing is to be left */
};

/* Wait for all that ended; false: nothing is left. */
static bool reap(struct guard *g)
{
    struct signalfd_siginfo signalled;
    struct end e = {.at_s = ft__clock_now(g->s->clock)};
    pid_t pid;

    while (read(g->ends, &signalled, sizeof(signalled)) > 0)
        ;
    while ((pid = wait4(-1, &e.status, WNOHANG, &e.use)) > 0) {
        if (pid != g->child)
            continue;
        g->r->end = e;
        g->r->ended = true;
    }
    return pid == 0;
}

/* SIGKILL to each child of ours, the first few hundred; what these started become
 * children of ours. */
static void kill_children(const struct guard *g)
{
    char text[4096];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    char *at = text, *end = text;

    if (fd >= 0)
        close(fd);
    if (n < 0) { /* a kernel that does not tell */
        (void)kill(g->s->timeout_s > 0 ? -g->child : g->child, SIGKILL);
        return;
    }
    text[n] = '\0';
    for (;; at = end) {
        long pid = strtol(at, &end, 10);

        if (end == at || *end == '\0') /* none, or perhaps cut off */
            return;
        (void)kill((pid_t)pid, SIGKILL);
    }
}

static void end_all(struct guard *g)
{
    double last_s = ft__clock_now(NULL) + most_ending_s;
    struct pollfd p = {.fd = g->ends, .events = POLLIN};

    while (reap(g) && ft__clock_now(NULL) < last_s) {
        kill_children(g);
        (void)poll(&p, 1, 10);
    }
}

/* False: we are to end, too. */
static bool obey(struct guard *g)
{
    unsigned char signal;
    ssize_t n = read(g->orders, &signal, 1);

    if (n < 0)
        return true;
    g->ending = true;
    if (n == 0 || signal == SIGKILL)
        return false;
    (void)kill(g->s->timeout_s > 0 ? -g->child : g->child, signal);
    return true;
}

static void watch(struct guard *g)
{
    struct pollfd p[2] = {{.fd = g->orders, .events = POLLIN},
                          {.fd = g->ends, .events = POLLIN}};

    while (!g->r->ended) {
        if (poll(p, 2, -1) < 0)
            continue;
        if (p[1].revents && !reap(g))
            break;
        if (p[0].revents && !g->r->ended && !obey(g))
            break;
    }
    if (g->ending)
        end_all(g);
}

/* In a process group of its own, for whoever kills ours by force kills it, too. */
static void be_guard(const ft__spawn *s, struct report *r, int orders)
{
    pid_t group = s->timeout_s > 0 ? 0 : getpgrp();
    struct guard g = {.s = s, .r = r, .orders = orders};
    sigset_t ends;

    (void)setpgid(0, 0);
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    g.ends = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (g.ends < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        die(r, "guard");
    g.child = fork();
    if (g.child == 0)
        become(s, group, r);
    if (g.child < 0)
        die(r, "process");
    (void)setpgid(g.child, group ? group : g.child); /* whoever comes first */
    watch(&g);
    _exit(0);
}

static ft_status explain(const ft__spawn *s, const struct report *r, ft_error *err)
{
    if (strcmp(r->step, "input") == 0)
        return ft_fail(err, FT_EIO, 0, "cannot read %s: %s", s->input,
                       strerror(r->code));
    if (strcmp(r->step, "exec") != 0)
        return ft_fail(err, FT_EBACKEND, 0, "cannot start %s: no %s: %s", s->argv[0],
                       r->step, strerror(r->code));
    return ft_fail(err, FT_ENOTFOUND, 0, "cannot run %s: %s", s->argv[0],
                   strerror(r->code));
}

/* The next signal of `held`, 0 after at most some moments; so a SIGCHLD that another
 * thread took costs no more than those. */
static int next_signal(const sigset_t *held, double most_s)
{
    double s = fmin(most_s, 0.1);
    struct timespec t = {0, (long)(s * 1e9)};
    int signal = sigtimedwait(held, NULL, &t);

    return signal > 0 ? signal : 0;
}

/* What became of it, as far as we had to do with it. */
struct outcome {
    bool timed_out;
    int signal; /* that ends this process, too */
    int status; /* of the guard */
};

static void order(int orders, int signal)
{
    unsigned char one = (unsigned char)signal;

    (void)send(orders, &one, 1, MSG_NOSIGNAL); /* EPIPE: waitpid() says so, too */
}

static bool prints_too_much(const ft__spawn *s)
{
    struct stat is;

    return s->most_output && fstat(fileno(s->output), &is) == 0 &&
           (size_t)is.st_size > s->most_output;
}

/* Wait for the guard; have the run ended when its time is over, it printed too much, or
 * a signal says that our time is over. False: errno says why it cannot be waited for.
 */
static bool wait_for(struct outcome *o, pid_t guard, int orders, const ft__spawn *s)
{
    double last_s =
        s->timeout_s > 0 ? ft__clock_now(s->clock) + s->timeout_s : INFINITY;
    bool stopped = false;
    pid_t got;

    while ((got = waitpid(guard, &o->status, WNOHANG)) == 0) {
        double left = last_s - ft__clock_now(s->clock);
        int signal = left > 0 ? next_signal(&s->signals->held, left) : 0;

        if (left <= 0) {
            o->timed_out = true;
            order(orders, SIGKILL);
            last_s = INFINITY;
        } else if (signal && signal != SIGCHLD) {
            o->signal = signal;
            order(orders, signal);
            last_s = ft__clock_now(s->clock) + grace_s;
        } else if (!stopped && prints_too_much(s)) {
            stopped = true;
            order(orders, SIGKILL);
        }
    }
    return got == guard;
}

static void fill(ft_command_run *out, const struct report *r)
{
    const struct rusage *u = &r->end.use;
    int status = r->end.status;

    out->user_s = ft__timeval_s(u->ru_utime);
    out->system_s = ft__timeval_s(u->ru_stime);
    out->peak_bytes = (uint64_t)u->ru_maxrss * 1024;
    out->read_bytes = (uint64_t)u->ru_inblock * 512;
    out->written_bytes = (uint64_t)u->ru_oublock * 512;
    out->page_faults = (uint64_t)u->ru_majflt;
    out->switches = (uint64_t)(u->ru_nvcsw + u->ru_nivcsw);
    out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out->start_s = r->start_s;
    out->wall_s = r->end.at_s - r->start_s;
}

static ft_status judge(ft_command_run *out, const ft__spawn *s, const struct outcome *o,
                       const struct report *r, ft_error *err)
{
    if (o->signal) {
        kill(getpid(), o->signal); /* held until the release */
        return ft_fail(err, FT_EBACKEND, 0, "ended by signal %d (%s)", o->signal,
                       strsignal(o->signal));
    }
    if (r->step)
        return explain(s, r, err);
    if (prints_too_much(s))
        return ft_fail(err, FT_EBACKEND, 0, "%s prints more than %g MiB", s->argv[0],
                       (double)s->most_output / (1 << 20));
    if (!r->ended && o->timed_out)
        return ft_fail(err, FT_EBACKEND, 0,
                       "%s took longer than %g s and cannot be ended: see what it "
                       "waits for, or who runs it",
                       s->argv[0], s->timeout_s);
    if (!r->ended)
        return ft_fail(err, FT_EBACKEND, 0,
                       "%s was ended because the process beside it was, by signal %d",
                       s->argv[0], WIFSIGNALED(o->status) ? WTERMSIG(o->status) : 0);
    fill(out, r);
    out->timed_out = o->timed_out;
    return FT_OK;
}

static ft_status run(ft_command_run *out, const ft__spawn *s, struct report *r,
                     ft_error *err)
{
    struct outcome o = {0};
    int orders[2];
    pid_t guard;
    bool waited;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders))
        return ft_fail(err, FT_EBACKEND, 0, "cannot start %s: %s", s->argv[0],
                       strerror(errno));
    r->start_s = ft__clock_now(s->clock); /* until the program knows better */
    guard = fork();
    if (guard == 0) {
        close(orders[1]);
        be_guard(s, r, orders[0]);
    }
    close(orders[0]);
    if (guard < 0) {
        close(orders[1]);
        return ft_fail(err, FT_EBACKEND, 0, "cannot start %s: %s", s->argv[0],
                       strerror(errno));
    }
    waited = wait_for(&o, guard, orders[1], s);
    close(orders[1]);
    if (!waited)
        return ft_fail(err, FT_EBACKEND, 0, "cannot wait for %s: %s", s->argv[0],
                       strerror(errno));
    return judge(out, s, &o, r, err);
}

static ft_status run_program(void *user, ft_command_run *out, const ft__spawn *s,
                             ft_error *err)
{
    struct report *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ft_status st;

    (void)user;
    *out = (ft_command_run){0};
    if (r == MAP_FAILED)
        return ft_fail(err, FT_ENOMEM, 0, "a run of %s", s->argv[0]);
    *r = (struct report){0};
    st = run(out, s, r, err);
    munmap(r, sizeof(*r));
    return st;
}

const ft__runner ft__system_runner = {.run = run_program};
