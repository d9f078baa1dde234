#include "cli/run_held.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whom the signals are for that end programs. */
static volatile sig_atomic_t running;

static void pass_on(int signal)
{
    if (running > 0)
        (void)kill((pid_t)running, signal);
}

enum { N_SIGNALS = 4 };
static const int signals[N_SIGNALS] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/* A terminal sends the first two to the command as well; the others are passed on.
 * Its end is waited for in any case, and then settings are put back. */
static void take_signals(struct sigaction before[N_SIGNALS])
{
    struct sigaction how = {.sa_flags = SA_RESTART};

    sigemptyset(&how.sa_mask);
    for (int i = 0; i < N_SIGNALS; i++) {
        how.sa_handler = i < 2 ? SIG_IGN : pass_on;
        (void)sigaction(signals[i], &how, &before[i]);
    }
}

static void give_signals(const struct sigaction before[N_SIGNALS])
{
    for (int i = 0; i < N_SIGNALS; i++)
        (void)sigaction(signals[i], &before[i], NULL);
}

/* Only tells its parent when there is no such program. */
static void become(char **argv, int tell, const struct sigaction before[N_SIGNALS])
{
    ssize_t said;
    int code;

    give_signals(before);
    execvp(argv[0], argv);
    code = errno;
    said = write(tell, &code, sizeof(code));
    _exit(said == sizeof(code) ? 127 : 126);
}

/* Its exit code, 128 and its signal; -1: errno says why it could not be started. */
static int run_program(char **argv)
{
    struct sigaction before[N_SIGNALS];
    int pipe_ends[2], status = 0, code = 0;
    pid_t pid;

    if (pipe(pipe_ends))
        return -1;
    (void)fcntl(pipe_ends[1], F_SETFD, FD_CLOEXEC);
    fflush(stdout);
    take_signals(before);
    pid = fork();
    if (pid == 0) {
        close(pipe_ends[0]);
        become(argv, pipe_ends[1], before);
    }
    running = pid;
    code = pid < 0 ? errno : 0;
    close(pipe_ends[1]);
    if (pid > 0 && read(pipe_ends[0], &code, sizeof(code)) != sizeof(code))
        code = 0;
    close(pipe_ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    running = 0;
    give_signals(before);
    errno = code;
    if (code)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What was asked for beside what was seen; on standard error, which is ours. */
static void say(ft__cli *c, const ft_settings *held, const ft_conditions *seen)
{
    char set[512], was[512];

    if (c->quiet)
        return;
    ft_settings_print(held, set, sizeof(set));
    ft_conditions_print(seen, was, sizeof(was));
    fprintf(stderr, "foretell clocks: %s while it ran, put back now%s%s\n", set,
            *was ? "; seen: " : "", was);
    if (held->core_clock_hz > 0 &&
        fabs(seen->clock_hz - held->core_clock_hz) > 0.02 * held->core_clock_hz)
        fprintf(stderr, "warning: the clock was not what was set\n");
}

static bool print_json(ft__cli *c, const ft_settings *held, const ft_conditions *seen,
                       int code)
{
    json_t *words = json_array();

    for (size_t i = 0; i < c->n_rest; i++)
        ft__json_append_take(&words, ft__json_text(c->rest[i]));
    return ft__json_print_take(ft__json("settings:o command:o exit_code:d conditions:o",
                                        ft__settings_json(held), words, code,
                                        ft__conditions_json(seen)),
                               stdout);
}

static int run_watched(ft__cli *c, const ft__this_machine *m, const ft_settings *held,
                       ft_conditions *seen, ft_error *err)
{
    ft_monitor *monitor;
    int code, why;

    if (ft_monitor_open(&monitor, held->device, &m->how, err))
        return ft__cli_fail(c, FT_ENOMEM, err);
    ft_monitor_start(monitor);
    code = run_program(c->rest);
    why = errno;
    ft_monitor_stop(monitor, seen);
    ft_monitor_close(monitor);
    if (code >= 0)
        return code;
    seen->n = 0; /* of nothing */
    return ft__cli_exit(c, FT__EXIT_MISSING, "%s cannot be run: %s", c->rest[0],
                        strerror(why));
}

int ft__run_held(ft__cli *c, const ft__this_machine *m, const ft_settings *want)
{
    ft_held_settings *held;
    ft_settings was;
    ft_conditions seen = {0};
    bool printed = true;
    int code;
    ft_status st = ft_settings_hold(&held, want, &m->how, &c->err);

    if (st)
        return ft__cli_check(c, st);
    was = *ft_settings_held(held);
    /* Texts that are ours, not the held one's. */
    was.device = want->device;
    was.cpus_online = want->cpus_online;
    was.governor = want->governor;
    was.turbo = want->turbo;
    was.affinity = want->affinity;
    code = run_watched(c, m, &was, &seen, &c->err);
    st = ft_settings_restore_take(held, &c->err);
    if (st)
        return ft__cli_check(c, st);
    if (seen.n && c->json)
        printed = print_json(c, &was, &seen, code);
    else if (seen.n)
        say(c, &was, &seen);
    return printed ? code : ft__cli_done(c, false);
}
