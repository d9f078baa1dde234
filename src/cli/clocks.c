/* foretell clocks: what is set on this machine, setting it, and putting it back. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/settings.h"
#include "report/units.h"

struct clocks_options {
    ft__settings_texts texts;
    bool keep;
    const char *root;
};

static const ft__option options[] = {
    FT__TEXT(struct clocks_options, texts.device, "device", "DEVICE",
             "cpu (the default), or a GPU such as nvml:0"),
    FT__TEXT(struct clocks_options, texts.core, "core", "CLOCK",
             "core clock, 1200MHz or 1.2GHz: the nearest there is"),
    FT__TEXT(struct clocks_options, texts.memory, "memory", "CLOCK",
             "memory clock of a GPU"),
    FT__TEXT(struct clocks_options, texts.power_cap, "power-cap", "WATTS",
             "power cap of a GPU"),
    FT__TEXT(struct clocks_options, texts.cpus, "cpus", "LIST",
             "the CPUs that stay online, 0-3,8"),
    FT__TEXT(struct clocks_options, texts.governor, "governor", "NAME",
             "what chooses the CPU's clock: performance, powersave, ..."),
    FT__TEXT(struct clocks_options, texts.turbo, "turbo", "on|off",
             "clocks above the nominal one"),
    FT__TEXT(struct clocks_options, texts.affinity, "affinity", "LIST",
             "the CPUs that CMD may use"),
    FT__FLAG(struct clocks_options, keep, "keep",
             "set until foretell clocks reset, or until the machine starts anew"),
    FT__TEXT(struct clocks_options, root, "root", "DIR",
             "a recorded machine instead of this one"),
    {0},
};

static void show_row(ft__table *t, const ft_setting_state *s)
{
    char now[256], range[128] = "";
    bool number = !isnan(s->now);

    snprintf(now, sizeof(now), "%s%s%s", number ? ft__text_in(s->unit, s->now).s : "",
             number && *s->text ? ", " : "", s->text);
    if (!isnan(s->least))
        snprintf(range, sizeof(range), "%s .. %s", ft__text_in(s->unit, s->least).s,
                 isnan(s->most) ? "" : ft__text_in(s->unit, s->most).s);
    ft__table_row(t, s->device, s->name, now, range, s->choices,
                  s->writable ? "yes" : "no");
}

/* Each reason why a setting cannot be changed, once, with its remedy. */
static void show_reasons(const ft_settings_list *l)
{
    const char *remedy = "", *reason = "";

    for (size_t i = 0; i < l->n; i++) {
        const ft_setting_state *s = &l->state[i];

        if (s->writable)
            continue;
        printf("%s %s", s->device, s->name);
        ft__put_line(stdout, ": ", s->reason);
        if (*s->remedy && (strcmp(s->remedy, remedy) || strcmp(s->reason, reason)))
            ft__put_line(stdout, "  try: ", s->remedy);
        remedy = s->remedy;
        reason = s->reason;
    }
}

static bool show_text(const ft_settings_list *l)
{
    ft__table *t = ft__table_new("device|setting|now|range|choices<|may be set");
    bool some = false;

    for (size_t i = 0; i < l->n; i++) {
        some = some || !l->state[i].writable;
        show_row(t, &l->state[i]);
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    if (some)
        putchar('\n');
    show_reasons(l);
    if (*l->in_force)
        printf("\n%s\n", l->in_force);
    return true;
}

static json_t *state_json(const ft_setting_state *s)
{
    return ft__json("device:s name:s now:g text:s least:g most:g normal:g unit:s "
                    "choices:s writable:b reason:s remedy:s",
                    s->device, s->name, s->now, s->text, s->least, s->most, s->normal,
                    s->unit, s->choices, s->writable, s->reason, s->remedy);
}

static bool show_json(const ft_settings_list *l)
{
    json_t *all = json_array();

    for (size_t i = 0; i < l->n; i++)
        ft__json_append_take(&all, state_json(&l->state[i]));
    return ft__json_print_take(ft__json("in_force:s settings:o", l->in_force, all),
                               stdout);
}

static int show(ft__cli *c, const ft__this_machine *m)
{
    ft_settings_list *l;
    bool printed;
    ft_status st = ft_settings_show(&l, &m->how, &c->err);

    if (st)
        return ft__cli_check(c, st);
    printed = c->json ? show_json(l) : show_text(l);
    ft_settings_list_free(l);
    return ft__cli_done(c, printed);
}

/* The process that termination signals are passed on to. */
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

/* Executes argv in place of this process; where that fails, writes errno to `tell`. */
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

/* Clocks asked for and clocks observed, on standard error: standard output is the
 * command's. */
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

static json_t *settings_json(const ft_settings *s)
{
    char text[512];

    ft_settings_print(s, text, sizeof(text));
    return ft__json("setting:s device:s core_clock_hz:g memory_clock_hz:g "
                    "power_cap_w:g cpus_online:s governor:s turbo:s affinity:s",
                    text, s->device ? s->device : "cpu", s->core_clock_hz,
                    s->memory_clock_hz, s->power_cap_w, s->cpus_online, s->governor,
                    s->turbo, s->affinity);
}

static bool held_json(ft__cli *c, const ft_settings *held, const ft_conditions *seen,
                      int code)
{
    json_t *words = json_array();

    for (size_t i = 0; i < c->n_rest; i++)
        ft__json_append_take(&words, ft__json_text(c->rest[i]));
    return ft__json_print_take(ft__json("settings:o command:o exit_code:d conditions:o",
                                        settings_json(held), words, code,
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

/* Run the command behind "--" with settings in force, put them back, and say what
 * the clocks really were. Returns the command's exit code, 128 and its signal, or
 * that of a complaint. */
static int run_held(ft__cli *c, const ft__this_machine *m, const ft_settings *want)
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
        printed = held_json(c, &was, &seen, code);
    else if (seen.n)
        say(c, &was, &seen);
    return printed ? code : ft__cli_done(c, false);
}

static int keep(ft__cli *c, const ft__this_machine *m, const ft_settings *want)
{
    ft_settings chosen;
    char text[512];
    bool printed = true;
    ft_status st = ft_settings_keep(&chosen, want, &m->how, &c->err);

    if (st)
        return ft__cli_check(c, st);
    ft_settings_print(&chosen, text, sizeof(text));
    if (c->json)
        printed =
            ft__json_print_take(ft__json("settings:o", settings_json(&chosen)), stdout);
    else
        printf("set: %s\nit stays until: foretell clocks reset\n", text);
    return ft__cli_done(c, printed);
}

static int set(ft__cli *c, const ft__this_machine *m, const struct clocks_options *o)
{
    ft_settings want;
    char text[8];
    int code = ft__settings_parse(c, &want, &o->texts);

    if (code)
        return code;
    if (c->n_rest && o->keep)
        return ft__usage(c, "--keep sets for good, -- CMD for as long as CMD runs: one "
                            "of them");
    if (!c->n_rest && !o->keep)
        return ft__usage(c, "for how long? -- CMD: while CMD runs; --keep: until "
                            "foretell clocks reset");
    want.device = NULL;
    if (ft_settings_print(&want, text, sizeof(text)) == 0)
        return ft__usage(c, "nothing to set: --core, --memory, --power-cap, --cpus, "
                            "--governor, --turbo or --affinity");
    want.device = o->texts.device;
    return o->keep ? keep(c, m, &want) : run_held(c, m, &want);
}

static int reset(ft__cli *c, const ft__this_machine *m)
{
    bool printed = true;
    size_t n;
    ft_status st = ft_settings_reset(&n, &m->how, &c->err);

    if (st)
        return ft__cli_check(c, st);
    if (c->json)
        printed = ft__json_print_take(ft__json("restored:u", n), stdout);
    else if (n)
        printf("%s put back\n", ft__text_counted(n, "value").s);
    else
        puts("nothing was set");
    return ft__cli_done(c, printed);
}

static int check(ft__cli *c, const struct clocks_options *o, const char *what)
{
    const ft__option *given = ft__option_given(options, o);
    bool of_set = given && strcmp(given->name, "root") != 0; /* which comes last */

    if (strcmp(what, "show") && strcmp(what, "set") && strcmp(what, "reset"))
        return ft__usage(c, "\"%s\": show, set or reset?", what);
    if (c->n_rest && strcmp(what, "set") != 0)
        return ft__usage(c, "a command belongs to set only");
    if (of_set && strcmp(what, "set") != 0)
        return ft__usage(c, "--%s belongs to set only", given->name);
    if (o->root && !ft__path_exists(o->root))
        return ft__cli_exit(c, FT__EXIT_INPUT, "there is no recorded machine %s",
                            o->root);
    return 0;
}

static int run(ft__cli *c, const void *user)
{
    const struct clocks_options *o = user;
    const char *what = c->args.n ? c->args.v[0] : "";
    ft__this_machine *m;
    int code;

    /* Not in --help: what ft_settings_options.guard names. */
    if (strcmp(what, "guard") == 0)
        return ft_settings_guard((int)c->args.n - 1, (char **)(c->args.v + 1));
    if (c->args.n == 0)
        return ft__usage(c, "show, set or reset?");
    if (c->args.n > 1)
        return ft__usage(c, "one argument too many: \"%s\"%s", c->args.v[1],
                         strcmp(what, "set") == 0
                             ? "; clocks and caps are options, as --core 1200MHz"
                             : "");
    code = check(c, o, what);
    if (code)
        return code;
    m = malloc(sizeof(*m));
    if (!m)
        return ft__cli_done(c, false);
    ft__machine_open(m, c, o->root);
    if (strcmp(what, "show") == 0)
        code = show(c, m);
    else if (strcmp(what, "set") == 0)
        code = set(c, m, o);
    else
        code = reset(c, m);
    free(m);
    return code;
}

const ft__command ft__clocks_command = {
    .name = "clocks",
    .arguments = "show | set ... -- CMD | set ... --keep | reset",
    .summary = "show, set and restore clocks, cores and power caps",
    .more = "What is set for a command is put back when it ends, however it ends.\n"
            "Most settings are root's; show says which, and the command that would "
            "help.",
    .examples = "  foretell clocks show\n"
                "  sudo foretell clocks set --core 1.2GHz --turbo off -- ./benchmark\n"
                "  sudo foretell clocks set --device nvml:0 --core 1200 --power-cap "
                "250W --keep\n"
                "  sudo foretell clocks reset\n",
    .least_args = 1,
    .most_args = 2,
    .takes_commands = true,
    .options_size = sizeof(struct clocks_options),
    .options = options,
    .run = run,
};
