/* One program, started, timed and waited for. */
#define _GNU_SOURCE
#include "run/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* What the child tells of its last moments before it becomes the program. Memory
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
    int null = open("/dev/null", O_WRONLY);

    if (s->timeout_s > 0)
        setpgid(0, 0);
    if (in < 0 || dup2(in, 0) < 0)
        die(r, "input");
    if (!s->show_output && (null < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0))
        die(r, "output");
    if (in > 2)
        close(in);
    if (null > 2)
        close(null);
    r->start_s = ft__now_s();
    execvp(s->argv[0], (char *const *)(uintptr_t)s->argv);
    die(r, "exec");
}

static ft_status explain(const ft__spawn *s, const struct report *r, ft_error *err)
{
    if (strcmp(r->step, "input") == 0)
        return ft_fail(err, FT_EIO, 0, "cannot read %s: %s", s->input,
                       strerror(r->code));
    return ft_fail(err, FT_ENOTFOUND, 0, "cannot run %s: %s", s->argv[0],
                   strerror(r->code));
}

/* Wait at most timeout_s for the end, then end it. True: it had to be ended. */
static bool end_in_time(pid_t child, double timeout_s)
{
    struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    double end_s = ft__now_s() + timeout_s, left = timeout_s;
    siginfo_t i = {0};
    int n = 0;

    while (n == 0 && left > 0) {
        if (p.fd >= 0) {
            n = poll(&p, 1, (int)fmin(ceil(left * 1e3), 1e9));
        } else { /* an older kernel: look now and then */
            poll(NULL, 0, 1);
            i.si_pid = 0;
            waitid(P_PID, (id_t)child, &i, WEXITED | WNOHANG | WNOWAIT);
            n = i.si_pid != 0;
        }
        if (n < 0 && errno == EINTR)
            n = 0;
        left = end_s - ft__now_s();
    }
    if (p.fd >= 0)
        close(p.fd);
    if (n == 0)
        kill(-child, SIGKILL);
    return n == 0;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void fill(ft_command_run *out, const struct rusage *u, int status)
{
    out->user_s = seconds(u->ru_utime);
    out->system_s = seconds(u->ru_stime);
    out->peak_bytes = (uint64_t)u->ru_maxrss * 1024;
    out->read_bytes = (uint64_t)u->ru_inblock * 512;
    out->written_bytes = (uint64_t)u->ru_oublock * 512;
    out->page_faults = (uint64_t)u->ru_majflt;
    out->switches = (uint64_t)(u->ru_nvcsw + u->ru_nivcsw);
    out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

ft_status ft__spawn_run(ft_command_run *out, const ft__spawn *s, ft_error *err)
{
    struct report *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rusage u;
    double end_s;
    ft_status st = FT_OK;
    pid_t child, got;
    int status;

    *out = (ft_command_run){0};
    if (r == MAP_FAILED)
        return ft_fail(err, FT_ENOMEM, 0, "a run of %s", s->argv[0]);
    *r = (struct report){0};
    child = fork();
    if (child == 0)
        become(s, r);
    if (child < 0) {
        munmap(r, sizeof(*r));
        return ft_fail(err, FT_EBACKEND, 0, "cannot start %s: %s", s->argv[0],
                       strerror(errno));
    }
    if (s->timeout_s > 0)
        out->timed_out = end_in_time(child, s->timeout_s);
    do
        got = wait4(child, &status, 0, &u);
    while (got < 0 && errno == EINTR);
    end_s = ft__now_s();
    if (got != child)
        st = ft_fail(err, FT_EBACKEND, 0, "cannot wait for %s: %s", s->argv[0],
                     strerror(errno));
    else if (r->step)
        st = explain(s, r, err);
    if (!st) {
        fill(out, &u, status);
        out->start_s = r->start_s;
        out->wall_s = end_s - r->start_s;
    }
    munmap(r, sizeof(*r));
    return st;
}

ft_status ft__spawn_shell(const char *text, const char *what, int show_output,
                          ft_error *err)
{
    const char *argv[] = {"/bin/sh", "-c", text, NULL};
    ft__spawn s = {.argv = argv, .show_output = show_output};
    ft_command_run r;
    ft_status st;

    if (!text)
        return FT_OK;
    st = ft__spawn_run(&r, &s, err);
    if (!st && r.exit_code)
        st = ft_fail(err, FT_EBACKEND, 0, "the %s command \"%s\" ended with %d", what,
                     text, r.exit_code);
    return st;
}
