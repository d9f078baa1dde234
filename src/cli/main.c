/* In: the command line; out: the exit code of the command that it names. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "foretell/version.h"

static const ft__command *const commands[] = {
    &ft__predict_command,
    &ft__rank_command,
    &ft__place_command,
    &ft__measure_command,
    &ft__validate_command,
    &ft__ops_command,
    &ft__collect_command,
    &ft__train_command,
    &ft__show_command,
    &ft__evaluate_command,
    &ft__data_command,
    &ft__devices_command,
    &ft__doctor_command,
    &ft__clocks_command,
    &ft__explore_command,
    &ft__ptx_command,
    NULL,
};

/* ---- help ---- */

static void help_options(const ft__option *o, FILE *fp)
{
    for (; o->help || o->group; o++) {
        char left[64], letter[8] = "    ";

        if (o->type == FT__OPT_GROUP) {
            help_options(o->group, fp);
            continue;
        }
        if (o->letter)
            snprintf(letter, sizeof(letter), "-%c, ", o->letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        fprintf(fp, "  %-26s %s\n", left, o->help);
    }
}

static void help_command(const ft__command *command, FILE *fp)
{
    fprintf(fp, "usage: foretell %s%s%s [options]\n\n%s\n", command->name,
            *command->arguments ? " " : "", command->arguments, command->summary);
    if (*command->more)
        fprintf(fp, "\n%s\n", command->more);
    if (command->options) {
        fputs("\noptions:\n", fp);
        help_options(command->options, fp);
    }
    fputs("\nglobal options:\n", fp);
    help_options(ft__global_options, fp);
    fprintf(fp, "\nexamples:\n%s", command->examples);
}

static void overview(FILE *fp)
{
    fputs("usage: foretell COMMAND ...\n\n"
          "Predicts how long a neural network takes on a device, how many joules it "
          "uses\n"
          "and how much memory it needs, before anything runs.\n\ncommands:\n",
          fp);
    for (size_t i = 0; commands[i]; i++)
        fprintf(fp, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nforetell COMMAND --help explains a command. To begin with:\n"
          "  foretell doctor                        what this machine can measure\n"
          "  foretell collect --quick               measure it\n"
          "  foretell train                         learn from the measurements\n"
          "  foretell predict MODEL --device local  predict\n",
          fp);
}

/* ---- the log ---- */

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

/* ---- running ---- */

/* The command line in one piece, to be kept with what it measured. */
static char *join(int argc, char **argv)
{
    size_t len = 1;
    char *line, *at;

    for (int i = 0; i < argc; i++)
        len += strlen(i ? argv[i] : "foretell") + 1;
    at = line = malloc(len);
    for (int i = 0; line && i < argc; i++)
        at += sprintf(at, "%s%s", i ? " " : "", i ? argv[i] : "foretell");
    return line;
}

static int run(ft__cli *c, const void *options)
{
    if (c->version) {
        printf("foretell %s\n", ft_version());
        return ft__cli_done(c, true);
    }
    if (!c->command) {
        overview(c->help ? stdout : stderr);
        return c->help ? ft__cli_done(c, true) : FT__EXIT_USAGE;
    }
    if (c->help) {
        help_command(c->command, stdout);
        return ft__cli_done(c, true);
    }
    /* Engines' threads shall sleep, not spin, while they wait: set before any
     * engine is loaded, unless the user decided otherwise. */
    setenv("OMP_WAIT_POLICY", "passive", 0);
    return c->command->run(c, options);
}

int main(int argc, char **argv)
{
    ft__cli c = {0};
    void *options = NULL;
    int code;

    c.log = (ft_log){message, progress, &c};
    c.line = join(argc, argv);
    code = ft__options_parse(&c, &options, commands, argc, argv);
    if (code < 0)
        code = run(&c, options);
    ft__bar_draw(&c.bar, 0, 0, "");
    ft__options_free(&c, options);
    free(c.line);
    return code;
}
