/* foretell help and version. In: the option tables; out: text for a terminal as wide as
 * it is. */
#include "cli/help/help.h"

#include <ctype.h>
#include <string.h>

#include "commit.h"
#include "foretell/version.h"

enum {
    LEFT = 26,   /* columns of an option's name */
    NARROW = 64, /* below, the explanation has lines of its own */
    NARROW_INDENT = 8,
};

struct place {
    FILE *fp;
    size_t width; /* 0: lines may be of any length */
};

static void put_option(void *user, const ft__option *o)
{
    const struct place *to = user;
    char left[64], letter[8] = "    ";
    const bool narrow = to->width && to->width < NARROW;

    if (o->letter)
        snprintf(letter, sizeof(letter), "-%c, ", o->letter);
    snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->value ? " " : "",
             o->value ? o->value : "");
    if (narrow)
        fprintf(to->fp, "  %s\n%*s", left, NARROW_INDENT, "");
    else
        fprintf(to->fp, "  %-*s ", LEFT, left);
    ft__put_wrapped(to->fp, o->help, to->width, narrow ? NARROW_INDENT : LEFT + 3,
                    narrow                ? NARROW_INDENT
                    : strlen(left) > LEFT ? strlen(left) + 3
                                          : LEFT + 3);
}

static void put_options(struct place *to, const char *title, const ft__option *table)
{
    fprintf(to->fp, "\n%s:\n", title);
    ft__options_each(table, put_option, to);
}

void ft__help_print(const ft__command *command, FILE *fp)
{
    struct place to = {fp, ft__text_width(fp)};

    fprintf(fp, "usage: foretell %s%s%s [options]\n\n", command->name,
            *command->arguments ? " " : "", command->arguments);
    ft__put_wrapped(fp, command->summary, to.width, 0, 0);
    if (*command->more) {
        fputc('\n', fp);
        ft__put_wrapped(fp, command->more, to.width, 0, 0);
    }
    if (command->options)
        put_options(&to, "options", command->options);
    put_options(&to, "global options", ft__global_options);
    fprintf(fp, "\nexamples:\n%s", command->examples);
}

void ft__help_overview(FILE *fp)
{
    const size_t width = ft__text_width(fp);

    fputs("usage: foretell COMMAND ...\n\n", fp);
    ft__put_wrapped(fp,
                    "Predicts how long a neural network takes on a device, how many "
                    "joules it uses\n"
                    "and how much memory it needs, before anything runs.",
                    width, 0, 0);
    fputs("\ncommands:\n", fp);
    for (size_t i = 0; ft__commands[i]; i++) {
        fprintf(fp, "  %-9s ", ft__commands[i]->name);
        ft__put_wrapped(fp, ft__commands[i]->summary, width, 12, 12);
    }
    fputs("\nforetell COMMAND --help explains a command. To begin with:\n"
          "  foretell doctor                        what this machine can measure\n"
          "  foretell collect --quick               measure it\n"
          "  foretell train                         learn from the measurements\n"
          "  foretell predict MODEL --device local  predict\n",
          fp);
}

bool ft__verb_next(char *word, size_t size, const char **at)
{
    while (**at) {
        const char *begin = *at + strspn(*at, "[]| .");
        const size_t len = strcspn(begin, "[]| .");
        bool lower = len > 0 && len < size;

        for (size_t i = 0; i < len; i++)
            lower = lower && islower((unsigned char)begin[i]);
        *at = begin + len;
        if (lower) {
            snprintf(word, size, "%.*s", (int)len, begin);
            return true;
        }
    }
    return false;
}

struct help_options {
    const char *completion;
    bool manual;
};

static const ft__option options[] = {
    FT__FLAG(struct help_options, manual, "man",
             "the manual page, in the language of man"),
    FT__TEXT(struct help_options, completion, "completion", "SHELL",
             "completion for this shell: " FT__SHELLS),
    {0},
};

static int run_help(ft__cli *c, const void *user)
{
    const struct help_options *o = user;
    const ft__command *command = NULL;
    int shell = 0;
    int code = ft__choice_parse(c, &shell, "completion", o->completion, FT__SHELLS);

    for (size_t i = 0; c->args.n && ft__commands[i] && !command; i++)
        if (strcmp(ft__commands[i]->name, c->args.v[0]) == 0)
            command = ft__commands[i];
    if (!code && c->args.n && !command)
        code = ft__usage(c, "there is no command \"%s\"; foretell help lists them",
                         c->args.v[0]);
    if (!code && c->json)
        code = ft__usage(c, "there is no --json here");
    if (code)
        return code;
    if (o->completion)
        ft__completion_print(shell, stdout);
    else if (o->manual)
        ft__manual_print(command, stdout);
    else if (command)
        ft__help_print(command, stdout);
    else
        ft__help_overview(stdout);
    return ft__cli_done(c, true);
}

const ft__command ft__help_command = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "explain a command; manual pages, completion for shells",
    .more = "",
    .examples = "  foretell help predict\n"
                "  foretell help predict --man > foretell-predict.1\n"
                "  foretell help --completion bash > foretell.bash\n",
    .most_args = 1,
    .options_size = sizeof(struct help_options),
    .options = options,
    .run = run_help,
};

void ft__help_version(bool commit)
{
    printf("foretell %s", ft_version());
    if (commit && *FT__COMMIT)
        printf(" (%s)", FT__COMMIT);
    putchar('\n');
}

static int run_version(ft__cli *c, const void *user)
{
    bool good = true;

    (void)user;
    if (c->json)
        good = ft__json_print_take(ft__json("version:s", ft_version()), stdout);
    else
        ft__help_version(c->verbose > 0);
    return ft__cli_done(c, good);
}

const ft__command ft__version_command = {
    .name = "version",
    .arguments = "",
    .summary = "print the version",
    .more = "With --verbose the commit that it was built from, too.",
    .examples = "  foretell version\n  foretell version --json\n",
    .run = run_version,
};
