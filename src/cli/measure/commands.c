/* foretell measure -- CMD ...: which commands, with which parameters. */
#include "cli/measure/commands.h"
#include "report/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const ft__option ft__commands_table[] = {
    {"runs", 'r', FT__OPT_COUNT, offsetof(ft__commands_options, runs), "N",
     "of commands: this many runs of each", NULL},
    FT__COUNT(ft__commands_options, least_runs, "min-runs", "N",
              "of commands: at least; 10 unless said otherwise"),
    FT__COUNT(ft__commands_options, most_runs, "max-runs", "N", "of commands: at most"),
    {"warmup", 'w', FT__OPT_COUNT, offsetof(ft__commands_options, warmup), "N",
     "of commands: runs before those that count", NULL},
    FT__SECONDS(ft__commands_options, timeout_s, "timeout", "TIME",
                "of commands: end a run that takes longer"),
    FT__TEXT(ft__commands_options, setup, "setup", "SHELL",
             "run before the first run of each command, untimed"),
    {"prepare", 'p', FT__OPT_TEXT, offsetof(ft__commands_options, prepare), "SHELL",
     "before every run", NULL},
    FT__TEXT(ft__commands_options, conclude, "conclude", "SHELL", "after every run"),
    FT__TEXT(ft__commands_options, cleanup, "cleanup", "SHELL",
             "after the last run of each command"),
    FT__INPUT(ft__commands_options, input, "stdin", "FILE",
              "what commands read; /dev/null unless said otherwise"),
    FT__FLAG(ft__commands_options, show_output, "show-output", "let commands write"),
    {"ignore-failure", 'i', FT__OPT_FLAG,
     offsetof(ft__commands_options, ignore_failure), NULL, "count runs that fail, too",
     NULL},
    FT__TEXTS(ft__commands_options, shells, "shell", "TEXT",
              "a command for the shell; may be repeated"),
    {"name", 'n', FT__OPT_TEXTS, offsetof(ft__commands_options, names), "NAME",
     "what to call the commands, in order", NULL},
    {"list", 'L', FT__OPT_TEXTS, offsetof(ft__commands_options, lists), "NAME=A,B,...",
     "{NAME} in commands becomes each of these; 1..8 counts", NULL},
    FT__TEXT(ft__commands_options, reference, "reference", "NAME",
             "compare with this command, not with the fastest"),
    FT__OUTPUT(ft__commands_options, markdown, "markdown", "FILE",
               "write the table of commands there, too"),
    {0},
};

const ft__option ft__power_table[] = {
    FT__TEXT(ft__commands_options, power, "power", "SOURCES",
             "where power is read; every source that works"),
    FT__FLAG(ft__commands_options, no_power, "no-power", "do not measure energy"),
    FT__SECONDS(ft__commands_options, power_time_s, "power-time", "TIME",
                "how long what is short is looped for its energy; by --power-error, 5s "
                "at most"),
    FT__TEXT(ft__commands_options, power_error, "power-error", "P%",
             "what updates at the ends of that loop may leave open; 2%"),
    {0},
};

double ft__power_error_of(const ft__commands_options *o)
{
    double share = 0;

    return !o->power_error                               ? 0
           : ft__share_from_text(&share, o->power_error) ? share
                                                         : (double)NAN;
}

enum { MAX_LISTS = 8, MAX_COMMANDS = 1000, MAX_NAME = 256 };

/* --list NAME=A,B,C: the values {NAME} goes through. */
struct value_list {
    char name[64];
    ft__texts values;
};

/* Everything that was put together for the commands lives until the end. */
struct command_set {
    ft_command *command;
    size_t n;
    struct value_list list[MAX_LISTS];
    size_t n_lists;
    void **owned;
    size_t n_owned;
    bool bad; /* out of memory */
};

static void *own(struct command_set *s, void *p)
{
    void **grown = p ? realloc(s->owned, (s->n_owned + 1) * sizeof(*grown)) : NULL;

    if (!grown) {
        free(p);
        s->bad = true;
        return NULL;
    }
    s->owned = grown;
    return s->owned[s->n_owned++] = p;
}

static void set_free(struct command_set *s)
{
    for (size_t i = 0; i < s->n_owned; i++)
        free(s->owned[i]);
    for (size_t i = 0; i < s->n_lists; i++)
        free(s->list[i].values.v);
    free(s->owned);
    free(s->command);
}

static bool add_value(struct command_set *s, struct value_list *l, char *value)
{
    const char **grown = realloc(l->values.v, (l->values.n + 1) * sizeof(*grown));

    if (!value || !grown) {
        s->bad = true;
        return false;
    }
    l->values.v = grown;
    grown[l->values.n++] = value;
    return true;
}

/* "1..8", "1..9..2": 0, or the complaint's exit code; -1: no range. */
static int add_range(ft__cli *c, struct command_set *s, struct value_list *l,
                     const char *text)
{
    const char *range = text;
    long from, to, step = 1;
    uint64_t n;
    char *end;

    errno = 0;
    from = strtol(text, &end, 10);
    if (end == text || strncmp(end, "..", 2) != 0)
        return -1;
    text = end + 2;
    to = strtol(text, &end, 10);
    if (end == text)
        return -1;
    if (strncmp(end, "..", 2) == 0) {
        text = end + 2;
        step = strtol(text, &end, 10);
    }
    if (*end)
        return -1;
    if (step < 1 || from > to || errno)
        return ft__usage(c, "--list %s=%s: a range counts upwards, by whole numbers",
                         l->name, range);
    n = ((uint64_t)to - (uint64_t)from) / (uint64_t)step + 1;
    if (n == 0 || n > MAX_COMMANDS)
        return ft__usage(c, "--list %s=%s: more than %d values", l->name, range,
                         MAX_COMMANDS);
    for (uint64_t i = 0; i < n; i++) {
        char digits[32];

        snprintf(digits, sizeof(digits), "%ld",
                 (long)((uint64_t)from + i * (uint64_t)step));
        if (!add_value(s, l, own(s, strdup(digits))))
            break;
    }
    return 0;
}

static int read_list(ft__cli *c, struct command_set *s, const char *text)
{
    struct value_list *l = &s->list[s->n_lists];
    size_t len = strcspn(text, "=");
    int code;

    if (s->n_lists == MAX_LISTS)
        return ft__usage(c, "more than %d lists", MAX_LISTS);
    if (len == 0 || len >= sizeof(l->name) || !text[len] || !text[len + 1])
        return ft__usage(c, "--list wants NAME=A,B,... or NAME=1..8, not \"%s\"", text);
    memcpy(l->name, text, len);
    s->n_lists++;
    text += len + 1;
    code = add_range(c, s, l, text);
    if (code >= 0)
        return code;
    for (;;) {
        size_t n = strcspn(text, ",");

        if (!add_value(s, l, own(s, strndup(text, n))) || !text[n])
            return 0;
        text += n + 1;
    }
}

/* `word` with every {NAME} replaced by the value chosen; NULL: out of memory. */
static char *replaced(struct command_set *s, const char *word, const size_t *choice)
{
    size_t len = 0, cap = strlen(word) + 1;
    char *out = malloc(cap);

    while (out && *word) {
        const char *put = word;
        size_t n = 1, skip = 1;

        for (size_t i = 0; i < s->n_lists && *word == '{'; i++) {
            size_t name = strlen(s->list[i].name);

            if (strncmp(word + 1, s->list[i].name, name) == 0 &&
                word[name + 1] == '}') {
                put = s->list[i].values.v[choice[i]];
                n = strlen(put);
                skip = name + 2;
            }
        }
        if (len + n + 1 > cap) {
            char *grown = realloc(out, cap = 2 * (len + n + 1));

            if (!grown) {
                free(out);
                return NULL;
            }
            out = grown;
        }
        memcpy(out + len, put, n);
        len += n;
        word += skip;
    }
    if (out)
        out[len] = '\0';
    return out;
}

static void add_command(struct command_set *s, char **words, size_t n,
                        const size_t *choice, bool shell)
{
    const char **argv = own(s, calloc(n + 3, sizeof(*argv)));
    ft_command *grown = realloc(s->command, (s->n + 1) * sizeof(*grown));
    size_t at = 0;

    if (grown)
        s->command = grown;
    if (!argv || !grown) {
        s->bad = true;
        return;
    }
    if (shell) {
        argv[at++] = "/bin/sh";
        argv[at++] = "-c";
    }
    for (size_t i = 0; i < n; i++)
        argv[at++] = own(s, replaced(s, words[i], choice));
    s->command[s->n++] = (ft_command){.argv = argv, .name = shell ? argv[2] : NULL};
}

static bool occurs(const struct value_list *l, char **words, size_t n)
{
    char mark[sizeof(l->name) + 3];

    snprintf(mark, sizeof(mark), "{%s}", l->name);
    for (size_t i = 0; i < n; i++)
        if (strstr(words[i], mark))
            return true;
    return false;
}

/* One command for each combination of the values that occur in it. */
static int add_all(ft__cli *c, struct command_set *s, char **words, size_t n,
                   bool shell)
{
    size_t choice[MAX_LISTS] = {0}, i;

    do {
        if (s->n == MAX_COMMANDS)
            return ft__usage(c, "more than %d commands", MAX_COMMANDS);
        add_command(s, words, n, choice, shell);
        for (i = 0; i < s->n_lists; i++) {
            if (occurs(&s->list[i], words, n) && ++choice[i] < s->list[i].values.n)
                break;
            choice[i] = 0;
        }
    } while (i < s->n_lists && !s->bad);
    return 0;
}

static int split_rest(ft__cli *c, struct command_set *s)
{
    int code = 0;

    for (size_t i = 0; i < c->n_rest && !code;) {
        size_t n = 0;

        while (i + n < c->n_rest && strcmp(c->rest[i + n], "--") != 0)
            n++;
        if (n == 0)
            return ft__usage(c, "there is no command between two --");
        code = add_all(c, s, c->rest + i, n, false);
        i += n + 1;
    }
    return code;
}

static int collect(ft__cli *c, struct command_set *s, const ft__commands_options *o)
{
    int code = 0;

    for (size_t i = 0; i < o->lists.n && !code; i++)
        code = read_list(c, s, o->lists.v[i]);
    if (!code)
        code = split_rest(c, s);
    for (size_t i = 0; i < o->shells.n && !code; i++)
        code = add_all(c, s, (char *[]){(char *)(uintptr_t)o->shells.v[i]}, 1, true);
    if (!code && s->bad)
        return ft__cli_exit(c, FT__EXIT_BUG, "out of memory");
    if (!code && o->names.n > s->n)
        return ft__usage(c, "%s for %s", ft__text_counted(o->names.n, "name").s,
                         ft__text_counted(s->n, "command").s);
    for (size_t i = 0; i < o->names.n && !code; i++)
        s->command[i].name = o->names.v[i];
    return code;
}

static size_t fastest(const ft_command_result *r, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (r[i].time.value < r[best].time.value)
            best = i;
    return best;
}

/* n: there is none of that name. */
static size_t find(const ft_command_result *r, size_t n, const char *name)
{
    size_t i = 0;

    while (i < n && strcmp(r[i].name, name) != 0)
        i++;
    return i;
}

static int show(ft__cli *c, const ft__commands_options *o, const ft_command_result *r,
                size_t n, const char *html)
{
    size_t reference = o->reference ? find(r, n, o->reference) : fastest(r, n);
    int code;

    if (o->markdown) {
        ft__text_file file;
        bool good = ft__text_file_open(&file) &&
                    ft__command_results_markdown(file.fp, r, n, reference);

        code = ft__text_file_save(&file, c, o->markdown, good);
        if (code)
            return code;
    }
    code = ft__cli_done(
        c, ft__command_results_print(c, r, n, reference, o->reference != NULL));
    return !code && html ? ft__record_save_take(
                               c, html, ft__command_results_json(c, r, n, reference))
                         : code;
}

static int named(ft__cli *c, const struct command_set *s, const char *name)
{
    for (size_t i = 0; name && i < s->n; i++)
        if (s->command[i].name && strcmp(s->command[i].name, name) == 0)
            return 0;
    return name ? ft__usage(c, "--reference %s: no command has that --name", name) : 0;
}

static int measure(ft__cli *c, const ft__commands_options *o,
                   const struct command_set *s, double time_s, const char *html)
{
    ft_command_options how = {.warmup = (uint32_t)o->warmup,
                              .min_runs = (uint32_t)(o->runs ? o->runs : o->least_runs),
                              .max_runs = (uint32_t)(o->runs ? o->runs : o->most_runs),
                              .time_s = time_s,
                              .timeout_s = o->timeout_s,
                              .setup = o->setup,
                              .prepare = o->prepare,
                              .conclude = o->conclude,
                              .cleanup = o->cleanup,
                              .input = o->input,
                              .show_output = o->show_output,
                              .ignore_failure = o->ignore_failure,
                              .power_time_s = o->power_time_s,
                              .power_error = ft__power_error_of(o),
                              .log = &c->log};
    ft_meter *meter = NULL;
    ft_command_result *r = NULL;
    ft_error no_energy = {0};
    ft_status st;
    int code;

    if (o->no_power) {
        how.no_energy = "--no-power was given";
    } else {
        ft_meter_options power = {.sources = o->power};

        if (ft_meter_open(&meter, &power, &no_energy)) {
            if (o->power)
                return ft__cli_fail(c, no_energy.status, &no_energy);
            how.no_energy = no_energy.msg;
        }
        how.meter = meter;
    }
    st = ft_measure_commands(&r, s->command, s->n, &how, &c->err);
    /* A command that fails is an answer. */
    code = st == FT_EBACKEND ? ft__cli_exit(c, FT__EXIT_NO, "%s", c->err.msg)
           : st              ? ft__cli_check(c, st)
                             : show(c, o, r, s->n, html);
    ft_command_results_free(r, s->n);
    ft_meter_close(meter);
    return code;
}

int ft__measure_commands(ft__cli *c, const ft__commands_options *o, double time_s,
                         const char *html)
{
    struct command_set s = {0};
    int code = c->args.n ? ft__usage(c, "a model (%s) and commands exclude each other",
                                     c->args.v[0])
                         : collect(c, &s, o);

    if (!code)
        code = named(c, &s, o->reference);
    if (!code)
        code = measure(c, o, &s, time_s, html);
    set_free(&s);
    return code;
}
