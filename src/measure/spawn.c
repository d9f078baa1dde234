/* One program, started, timed and waited for. */
#define _DEFAULT_SOURCE /* wait4() */
#include "measure/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a run that is to end with us has for it. */
static const double grace_s = 1;

/* What the child reports just before it becomes the program. Memory
 * shared by both; the start is taken there, so that copying this process does
 * not count. */
struct report {
    double start_s;
    int code;         /* errno of what failed */
    const char *step; /* what failed; NULL: nothing */
};

static void die(struct report *r, const char *step)
{
    r->code = errno;
    r->step = step;
    _exit(127);
}

static void become(const ft__spawn *s, struct report *r)
{
    int in = open(s->input ? s->input : "/dev/null", O_RDONLY);
    int null = s->output ? dup(fileno(s->output)) : open("/dev/null", O_WRONLY);

    if (s->timeout_s > 0)
        setpgid(0, 0);
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

/* How a run came to its end. */
struct end {
    int status;
    struct rusage use;
    double at_s;
    bool timed_out;
    int signal; /* that ends this process, too */
};

/* The next signal of `held`, 0 after at most some moments; so a SIGCHLD that another
 * thread took costs no more than those. */
static int next_signal(const sigset_t *held, double most_s)
{
    double s = fmin(most_s, 0.1);
    struct timespec t = {0, (long)(s * 1e9)};
    int signal = sigtimedwait(held, NULL, &t);

    return signal > 0 ? signal : 0;
}

/* Wait for the child; end it when its time is over or a signal says that ours is.
 * False: errno says why it cannot be waited for. */
static bool wait_for(struct end *e, pid_t child, const ft__spawn *s)
{
    pid_t all = s->timeout_s > 0 ? -child : child, got;
    double last_s =
        s->timeout_s > 0 ? ft__clock_now(s->clock) + s->timeout_s : INFINITY;

    while ((got = wait4(child, &e->status, WNOHANG, &e->use)) == 0) {
        double left = last_s - ft__clock_now(s->clock);
        int signal = left > 0 ? next_signal(&s->signals->held, left) : 0;

        if (left <= 0) {
            e->timed_out = true;
            kill(all, SIGKILL);
            last_s = INFINITY;
        } else if (signal && signal != SIGCHLD) {
            e->signal = signal;
            kill(all, signal);
            last_s = ft__clock_now(s->clock) + grace_s;
        }
    }
    e->at_s = ft__clock_now(s->clock);
    if (e->signal && all < 0)
        kill(all, SIGKILL);
    return got == child;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void fill(ft_command_run *out, const struct end *e)
{
    const struct rusage *u = &e->use;

    out->user_s = seconds(u->ru_utime);
    out->system_s = seconds(u->ru_stime);
    out->peak_bytes = (uint64_t)u->ru_maxrss * 1024;
    out->read_bytes = (uint64_t)u->ru_inblock * 512;
    out->written_bytes = (uint64_t)u->ru_oublock * 512;
    out->page_faults = (uint64_t)u->ru_majflt;
    out->switches = (uint64_t)(u->ru_nvcsw + u->ru_nivcsw);
    out->exit_code = WIFEXITED(e->status) ? WEXITSTATUS(e->status) : -1;
    out->signal = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
    out->timed_out = e->timed_out;
}

static ft_status run(ft_command_run *out, const ft__spawn *s, struct report *r,
                     ft_error *err)
{
    struct end e = {0};
    pid_t child;

    r->start_s = ft__clock_now(s->clock); /* until the child knows better */
    child = fork();
    if (child == 0)
        become(s, r);
    if (child < 0)
        return ft_fail(err, FT_EBACKEND, 0, "cannot start %s: %s", s->argv[0],
                       strerror(errno));
    if (s->timeout_s > 0)
        setpgid(child, child); /* whoever comes first */
    if (!wait_for(&e, child, s))
        return ft_fail(err, FT_EBACKEND, 0, "cannot wait for %s: %s", s->argv[0],
                       strerror(errno));
    if (e.signal) {
        kill(getpid(), e.signal); /* held until the release */
        return ft_fail(err, FT_EBACKEND, 0, "ended by signal %d (%s)", e.signal,
                       strsignal(e.signal));
    }
    if (r->step)
        return explain(s, r, err);
    fill(out, &e);
    out->start_s = r->start_s;
    out->wall_s = e.at_s - r->start_s;
    return FT_OK;
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
