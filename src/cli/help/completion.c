/* Completion for bash, zsh and fish, made from the option tables. */
#include <string.h>

#include "cli/help/help.h"

/* Names of devices are asked for when they are needed. */
#define DEVICES "foretell devices --csv 2>/dev/null | cut -d, -f1 | tail -n +2"

/* What completes the value of an option. */
enum value { NO_VALUE, ANY_VALUE, A_FILE, A_DEVICE };

static enum value value_of(const ft__option *o)
{
    if (!ft__option_has_value(o->type))
        return NO_VALUE;
    if (o->type == FT__OPT_INPUT || o->type == FT__OPT_INPUTS ||
        o->type == FT__OPT_OUTPUT)
        return A_FILE;
    return strcmp(o->name, "device") == 0 || strcmp(o->name, "devices") == 0
               ? A_DEVICE
               : ANY_VALUE;
}

/* Inside single quotes; `escaped` characters get a backslash. */
static void put_quoted(FILE *fp, const char *s, const char *quote, const char *escaped)
{
    for (; *s; s++)
        if (*s == '\'')
            fputs(quote, fp);
        else
            fprintf(fp, "%s%c", strchr(escaped, *s) ? "\\" : "", *s);
}

struct bash_list {
    FILE *fp;
    enum value of; /* NO_VALUE: every option */
};

static void bash_option(void *user, const ft__option *o)
{
    const struct bash_list *l = user;

    if (l->of == NO_VALUE || value_of(o) == l->of)
        fprintf(l->fp, " --%s", o->name);
}

static void bash_list(FILE *fp, const char *name, enum value of,
                      const ft__option *table)
{
    struct bash_list l = {fp, of};

    fprintf(fp, " %s='", name);
    ft__options_each(table, bash_option, &l);
    ft__options_each(ft__global_options, bash_option, &l);
}

static void bash_command(FILE *fp, const ft__command *command)
{
    const char *verbs = command->arguments;
    char verb[32];

    fprintf(fp, "    %s)\n       ", command->name);
    bash_list(fp, "words", NO_VALUE, command->options);
    while (ft__verb_next(verb, sizeof(verb), &verbs))
        fprintf(fp, " %s", verb);
    fputs("'\n       ", fp);
    bash_list(fp, "files", A_FILE, command->options);
    fputs(" '\n       ", fp);
    bash_list(fp, "devices", A_DEVICE, command->options);
    fputs(" '\n       ", fp);
    bash_list(fp, "values", ANY_VALUE, command->options);
    fputs(" '\n        ;;\n", fp);
}

static void print_bash(FILE *fp)
{
    fputs("# bash completion for foretell\n"
          "_foretell() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command='' words='' files='' devices='' values='' i\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
          "            command=${COMP_WORDS[i]}\n"
          "            break\n"
          "        fi\n"
          "    done\n"
          "    case $command in\n"
          "    '') words='",
          fp);
    for (size_t i = 0; ft__commands[i]; i++)
        fprintf(fp, "%s ", ft__commands[i]->name);
    fputs("--help --version' ;;\n", fp);
    for (size_t i = 0; ft__commands[i]; i++)
        bash_command(fp, ft__commands[i]);
    fputs("    esac\n"
          "    COMPREPLY=()\n"
          "    if [[ -z $command ]]; then\n"
          "        :\n"
          "    elif [[ $files == *\" $prev \"* ]]; then\n"
          "        compopt -o default\n"
          "        return\n"
          "    elif [[ $devices == *\" $prev \"* ]]; then\n"
          "        words=\"local $(" DEVICES ")\"\n"
          "    elif [[ $values == *\" $prev \"* ]]; then\n"
          "        return\n"
          "    elif [[ $command == help && $cur != -* ]]; then\n"
          "        words='",
          fp);
    for (size_t i = 0; ft__commands[i]; i++)
        fprintf(fp, "%s%s", i ? " " : "", ft__commands[i]->name);
    fputs("'\n"
          "    elif [[ $cur != -* ]]; then\n"
          "        compopt -o default\n"
          "    fi\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "}\n"
          "complete -F _foretell foretell\n",
          fp);
}

static void zsh_option(void *user, const ft__option *o)
{
    static const char *const action[] = {"", ":", ":_files", ":_foretell_devices"};
    FILE *fp = user;
    const enum value v = value_of(o);

    fprintf(fp, " \\\n            '%s--%s%s[",
            ft__option_repeats(o->type) || o->type == FT__OPT_LEVEL ? "*" : "", o->name,
            v ? "=" : "");
    put_quoted(fp, o->help, "'\\''", "[]:\\");
    fputc(']', fp);
    if (v) {
        fputc(':', fp);
        put_quoted(fp, o->value, "'\\''", "[]:\\");
    }
    fprintf(fp, "%s'", action[v]);
}

static void zsh_command(FILE *fp, const ft__command *command)
{
    const char *verbs = command->arguments;
    char verb[32];
    bool any = false;

    fprintf(fp, "    %s)\n        _arguments -s", command->name);
    ft__options_each(command->options, zsh_option, fp);
    ft__options_each(ft__global_options, zsh_option, fp);
    while (ft__verb_next(verb, sizeof(verb), &verbs)) {
        fprintf(fp, any ? " %s" : " \\\n            '1: :(%s", verb);
        any = true;
    }
    fputs(any ? ")'" : "", fp);
    if (command == &ft__help_command)
        fputs(" \\\n            '1: :_foretell_commands'", fp);
    else if (command == &ft__devices_command)
        fputs(" \\\n            '*: :_foretell_devices'", fp);
    else if (command->most_args)
        fputs(" \\\n            '*: :_files'", fp);
    fputs(" ;;\n", fp);
}

static void print_zsh(FILE *fp)
{
    fputs("#compdef foretell\n"
          "_foretell_devices() {\n"
          "    compadd -- local ${(f)\"$(" DEVICES ")\"}\n"
          "}\n"
          "_foretell_commands() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          fp);
    for (size_t i = 0; ft__commands[i]; i++) {
        fprintf(fp, "        '%s:", ft__commands[i]->name);
        put_quoted(fp, ft__commands[i]->summary, "'\\''", "\\:");
        fputs("'\n", fp);
    }
    fputs("    )\n"
          "    _describe command commands\n"
          "}\n"
          "_foretell() {\n"
          "    local curcontext=$curcontext state line\n"
          "    _arguments -C '1: :_foretell_commands' '*:: :->rest'\n"
          "    [[ $state == rest ]] || return\n"
          "    case $words[1] in\n",
          fp);
    for (size_t i = 0; ft__commands[i]; i++)
        zsh_command(fp, ft__commands[i]);
    fputs("    esac\n"
          "}\n"
          "_foretell \"$@\"\n",
          fp);
}

struct fish_options {
    FILE *fp;
    const char *command; /* "": of all */
};

static void fish_option(void *user, const ft__option *o)
{
    static const char *const value[] = {"", " -x", " -r -F",
                                        " -x -a 'local (" DEVICES ")'"};
    const struct fish_options *f = user;

    fputs("complete -c foretell", f->fp);
    if (*f->command)
        fprintf(f->fp, " -n '__fish_seen_subcommand_from %s'", f->command);
    if (o->letter)
        fprintf(f->fp, " -s %c", o->letter);
    fprintf(f->fp, " -l %s%s -d '", o->name, value[value_of(o)]);
    put_quoted(f->fp, o->help, "\\'", "\\");
    fputs("'\n", f->fp);
}

static void fish_command(FILE *fp, const ft__command *command)
{
    struct fish_options of = {fp, command->name};
    const char *verbs = command->arguments;
    char verb[32];

    fprintf(fp, "complete -c foretell -n __fish_use_subcommand -f -a %s -d '",
            command->name);
    put_quoted(fp, command->summary, "\\'", "\\");
    fputs("'\n", fp);
    ft__options_each(command->options, fish_option, &of);
    while (ft__verb_next(verb, sizeof(verb), &verbs))
        fprintf(fp, "complete -c foretell -n '__fish_seen_subcommand_from %s' -a %s\n",
                command->name, verb);
}

static void print_fish(FILE *fp)
{
    struct fish_options global = {fp, ""};

    fputs("# fish completion for foretell\n", fp);
    for (size_t i = 0; ft__commands[i]; i++)
        fish_command(fp, ft__commands[i]);
    ft__options_each(ft__global_options, fish_option, &global);
}

void ft__completion_print(int shell, FILE *fp)
{
    static void (*const print[])(FILE *) = {print_bash, print_zsh, print_fish};

    print[shell](fp);
}
