/* In: the command line; out: the exit code of the command that it names. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "foretell/store.h"

static void message(void *user, ft_log_level level, const char *text)
{
    ft__cli *c = user;

    if ((level == FT_LOG_WARN && c->quiet) || (unsigned)level > c->verbose)
        return;
    ft__bar_draw(&c->bar, 0, 0, "");
    fputs(level == FT_LOG_WARN ? "warning: " : "", stderr);
    ft__put_clean(stderr, text);
    fputc('\n', stderr);
}

static void progress(void *user, uint64_t done, uint64_t total, const char *what)
{
    ft__cli *c = user;

    if (!c->quiet)
        ft__bar_draw(&c->bar, done, total, what);
}

/* One argument, without the password of a database; the end. */
static char *add_argument(char *at, const char *arg)
{
    const char *store = arg;

    while ((store = strstr(store, "postgres")) != NULL &&
           !ft_store_shown(NULL, 0, store))
        store++;
    if (!store)
        return at + sprintf(at, "%s", arg);
    at += sprintf(at, "%.*s", (int)(store - arg), arg);
    ft_store_shown(at, strlen(store) + 1, store);
    return at + strlen(at);
}

/* The command line in one piece, to be kept with what it measured. */
static char *join(int argc, char **argv)
{
    size_t len = 1;
    char *line, *at;

    for (int i = 0; i < argc; i++)
        len += strlen(i ? argv[i] : "foretell") + 1;
    at = line = malloc(len);
    for (int i = 0; line && i < argc; i++) {
        at += sprintf(at, "%s", i ? " " : "");
        at = add_argument(at, i ? argv[i] : "foretell");
    }
    return line;
}

static int run(ft__cli *c, const void *options)
{
    if (c->version) {
        ft__help_version(c->verbose > 0);
        return ft__cli_done(c, true);
    }
    if (!c->command) {
        ft__help_overview(c->help ? stdout : stderr);
        return c->help ? ft__cli_done(c, true) : FT__EXIT_USAGE;
    }
    if (c->help) {
        ft__help_print(c->command, stdout);
        return ft__cli_done(c, true);
    }
    /* Engines' threads shall sleep, not spin, while they wait: set before any
     * engine is loaded, unless the user decided otherwise. */
    setenv("OMP_WAIT_POLICY", "passive", 0);
    setenv("TVM_THREAD_POOL_SPIN_COUNT", "0", 0);
    return c->command->run(c, options);
}

/* A handler, for what is ignored stays so in the programs that are started. */
static void go_on(int signal)
{
    (void)signal;
}

int main(int argc, char **argv)
{
    const struct sigaction writing = {.sa_handler = go_on};
    ft__cli c = {0};
    void *options = NULL;
    int code;

    (void)sigaction(SIGXFSZ, &writing, NULL); /* writing fails, and says so */
    c.log = (ft_log){message, progress, &c};
    c.line = join(argc, argv);
    code = ft__options_parse(&c, &options, ft__commands, argc, argv);
    if (code < 0)
        code = run(&c, options);
    ft__bar_draw(&c.bar, 0, 0, "");
    ft__options_free(&c, options);
    free(c.line);
    return code;
}
