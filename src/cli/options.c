/* One parser for all commands: it knows the tables, nothing else. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

enum { MOST_OPTIONS = 128 };

/* The options of a table and of its groups, each with where its value goes. */
struct known {
    const ft__option *o;
    char *at;
};

struct parser {
    ft__cli *c;
    const ft__command *const *commands;
    char *options; /* of the command; NULL before it is known */
    struct known known[MOST_OPTIONS];
    size_t n_known;
    int argc;
    char **argv;
    int at;    /* index of the argument in hand */
    int shown; /* exit code of a complaint; -1: none so far */
};

const ft__option ft__global_options[] = {
    FT__FLAG(ft__cli, json, "json", "print the result as JSON"),
    FT__FLAG(ft__cli, csv, "csv", "print the result as CSV, where it is a table"),
    {"quiet", 'q', FT__OPT_FLAG, offsetof(ft__cli, quiet), NULL,
     "no warnings, no progress", NULL},
    {"verbose", 'v', FT__OPT_LEVEL, offsetof(ft__cli, verbose), NULL,
     "say more on standard error; twice: much more", NULL},
    FT__INPUT(ft__cli, data_dir, "data-dir", "DIR",
              "devices and models (also FORETELL_DATA)"),
    FT__INPUT(ft__cli, store, "db", "STORE",
              "file of measurements, or postgresql://USER@HOST/DATABASE"),
    FT__INPUT(ft__cli, plugin_dir, "plugin-dir", "DIR",
              "engine plug-ins (also FORETELL_PLUGINS)"),
    {"help", 'h', FT__OPT_FLAG, offsetof(ft__cli, help), NULL, "explain and exit",
     NULL},
    FT__FLAG(ft__cli, version, "version", "print the version and exit"),
    {0},
};

/* How many of out[] are used, with those of a table whose values go to `base` (an
 * address, since there is none where options are only described). */
static size_t list_options(struct known *out, size_t n, const ft__option *o,
                           uintptr_t base)
{
    for (; o && (o->help || o->group) && n < MOST_OPTIONS; o++)
        if (o->type == FT__OPT_GROUP)
            n = list_options(out, n, o->group, base + o->at);
        else
            out[n++] = (struct known){o, (char *)(base + o->at)};
    return n;
}

void ft__options_each(const ft__option *table,
                      void (*each)(void *user, const ft__option *o), void *user)
{
    struct known k[MOST_OPTIONS];
    size_t n = list_options(k, 0, table, 0);

    for (size_t i = 0; i < n; i++)
        each(user, k[i].o);
}

FT_PRINTF(2, 3)
static void complain(struct parser *p, const char *fmt, ...)
{
    const char *command = p->c->command ? p->c->command->name : "";
    char msg[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    p->shown = ft__usage(p->c, "%s", msg);
    if (!p->c->json)
        fprintf(stderr, "see foretell %s%s--help\n", command, *command ? " " : "");
}

/* `what`: "option --" or "command "; names: "one, two". */
static void unknown(struct parser *p, const char *what, const char *word,
                    const char *dashes, const char *names)
{
    char near[64];

    if (ft__suggest(near, word, names))
        complain(p, "unknown %s; did you mean %s%s?", what, dashes, near);
    else
        complain(p, "unknown %s", what);
}

/* NULL: there is none. */
static const struct known *find(const struct parser *p, const char *name, size_t len,
                                char letter)
{
    for (size_t i = 0; i < p->n_known; i++) {
        const ft__option *o = p->known[i].o;

        if (name ? strlen(o->name) == len && memcmp(o->name, name, len) == 0
                 : o->letter == letter)
            return &p->known[i];
    }
    return NULL;
}

/* What options of vLLM and SGLang are called here; NULL: nothing is known. */
static const char *called_here(const char *name)
{
    static const struct {
        const char *there, *here;
    } options[] = {{"dp", "--dim dp=N"},
                   {"data-parallel-size", "--dim dp=N"},
                   {"enable-prefix-caching", "--shared-prefix N"},
                   {"input-len", "--prompt N"},
                   {"kv-cache-dtype", "--dim kv_bits=8"},
                   {"max-concurrency", "--concurrency N"},
                   {"max-model-len", "--prompt N and --generate N"},
                   {"mem-fraction-static", "--gpu-memory-utilization SHARE"},
                   {"num-prompts", "--num-requests N"},
                   {"output-len", "--generate N"},
                   {"pipeline-parallel-size", "--dim pp=N"},
                   {"quantization", "--precision P, or it is in the config.json"},
                   {"random-input-len", "--prompt N"},
                   {"random-output-len", "--generate N"},
                   {"random-prefix-len", "--shared-prefix N"},
                   {"request-rate", "--rate R"},
                   {"speculative-config", "--dim mtp=N, of one step"},
                   {"tensor-parallel-size", "--tp N"}};

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (strcmp(options[i].there, name) == 0)
            return options[i].here;
    return NULL;
}

static void unknown_option(struct parser *p, const char *word, size_t len)
{
    char name[64], what[80], names[2048] = "";
    const char *here;
    size_t used = 0;

    for (size_t i = 0; i < p->n_known && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s, ",
                                 p->known[i].o->name);
    snprintf(name, sizeof(name), "%.*s", (int)len, word);
    snprintf(what, sizeof(what), "option --%s", name);
    here = find(p, "prompt", strlen("prompt"), 0) ? called_here(name) : NULL;
    if (here)
        complain(p, "unknown %s; here it is %s", what, here);
    else
        unknown(p, what, name, "--", names);
}

static void unknown_command(struct parser *p, const char *word)
{
    char what[256], names[512] = "";
    size_t used = 0;

    for (size_t i = 0; p->commands[i] && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s, ",
                                 p->commands[i]->name);
    snprintf(what, sizeof(what), "command \"%.200s\"", word);
    unknown(p, what, word, "", names);
}

static bool count_from_text(uint64_t *out, const char *text)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && *out >= 1 &&
           *out <= UINT32_MAX;
}

static bool texts_add(ft__texts *t, const char *value)
{
    const char **grown = realloc(t->v, (t->n + 1) * sizeof(*grown));

    if (!grown)
        return false;
    t->v = grown;
    t->v[t->n++] = value;
    return true;
}

static void set(struct parser *p, const struct known *k, const char *value)
{
    const ft__option *o = k->o;
    void *at = k->at;

    switch (o->type) {
    case FT__OPT_FLAG: *(bool *)at = true; break;
    case FT__OPT_LEVEL: ++*(unsigned *)at; break;
    case FT__OPT_TEXT:
    case FT__OPT_INPUT:
    case FT__OPT_OUTPUT:
        /* Of two lists none replaces the other. */
        if (*(const char **)at && o->value && strchr(o->value, ','))
            complain(p, "--%s is given twice: it takes a list, such as --%s %s,%s",
                     o->name, o->name, *(const char **)at, value);
        *(const char **)at = value;
        break;
    case FT__OPT_TEXTS:
    case FT__OPT_INPUTS:
        if (!texts_add(at, value)) {
            complain(p, "out of memory");
            p->shown = FT__EXIT_BUG;
        }
        break;
    case FT__OPT_COUNT:
        if (!count_from_text(at, value))
            complain(p, "--%s wants a whole number from 1 to %u, not \"%s\"", o->name,
                     UINT32_MAX, value);
        break;
    case FT__OPT_SECONDS:
        if (!ft__seconds_from_text(at, value))
            complain(p, "--%s wants a duration such as 90s, 500ms or 10min, not \"%s\"",
                     o->name, value);
        break;
    case FT__OPT_GROUP: break;
    }
}

/* `value` is what stood behind "=" or the letter; NULL: look at the next one. */
static void take(struct parser *p, const struct known *k, const char *value)
{
    const ft__option *o = k->o;
    bool wants = ft__option_has_value(o->type);

    if (!wants && value)
        complain(p, "--%s takes no value", o->name);
    else if (wants && !value && p->at + 1 >= p->argc)
        complain(p, "--%s wants a value: --%s %s", o->name, o->name, o->value);
    else
        set(p, k, value ? value : wants ? p->argv[++p->at] : "");
}

static void parse_long(struct parser *p, const char *word)
{
    size_t len = strcspn(word, "=");
    const struct known *k = find(p, word, len, 0);

    if (k)
        take(p, k, word[len] ? word + len + 1 : NULL);
    else
        unknown_option(p, word, len);
}

/* -q, -qv, -o FILE, -oFILE */
static void parse_letters(struct parser *p, const char *word)
{
    while (*word && p->shown < 0) {
        char letter = *word++;
        const struct known *k = find(p, NULL, 0, letter);

        if (!k) {
            complain(p, "unknown option -%c", letter);
        } else if (!ft__option_has_value(k->o->type)) {
            set(p, k, "");
        } else {
            take(p, k, *word ? word : NULL);
            return;
        }
    }
}

static void list_known(struct parser *p)
{
    const ft__command *command = p->c->command;

    p->n_known =
        command ? list_options(p->known, 0, command->options, (uintptr_t)p->options)
                : 0;
    p->n_known =
        list_options(p->known, p->n_known, ft__global_options, (uintptr_t)p->c);
}

static void parse_word(struct parser *p, const char *word)
{
    const ft__command *const *commands = p->commands;

    if (p->c->command) {
        if (!texts_add(&p->c->args, word))
            p->shown = FT__EXIT_BUG;
        return;
    }
    for (size_t i = 0; commands[i] && !p->c->command; i++)
        if (strcmp(commands[i]->name, word) == 0)
            p->c->command = commands[i];
    if (!p->c->command) {
        unknown_command(p, word);
        return;
    }
    p->options = calloc(1, p->c->command->options_size + 1);
    if (!p->options)
        p->shown = FT__EXIT_BUG;
    else
        list_known(p);
}

static bool is_same(const struct stat *file, const char *path)
{
    struct stat now;

    return stat(path, &now) == 0 && now.st_dev == file->st_dev &&
           now.st_ino == file->st_ino;
}

/* One of the files that the command line names to be read: FILE or FILE,... */
static bool is_among(const struct stat *file, const char *paths)
{
    char word[FT__PATH_MAX];

    if (!paths || is_same(file, paths))
        return paths != NULL;
    while (ft__word_next(word, sizeof(word), &paths))
        if (is_same(file, word))
            return true;
    return false;
}

static bool is_input(const struct parser *p, const struct stat *file)
{
    char store[FT__PATH_MAX];
    bool is = false;

    ft__path_store(p->c, store);
    is = is_same(file, store);
    for (size_t i = 0; i < p->c->args.n; i++)
        is = is || is_among(file, p->c->args.v[i]);
    for (size_t i = 0; i < p->n_known; i++) {
        const ft__opt_type type = p->known[i].o->type;
        const ft__texts *texts = (const void *)p->known[i].at;

        if (type == FT__OPT_TEXT || type == FT__OPT_INPUT)
            is = is || is_among(file, *(const char **)(void *)p->known[i].at);
        for (size_t k = 0; ft__option_repeats(type) && k < texts->n; k++)
            is = is || is_among(file, texts->v[k]);
    }
    return is;
}

/* NULL: no output, or none that was asked for. */
static const char *output_of(const struct known *k)
{
    return k->o->type == FT__OPT_OUTPUT ? *(const char **)(void *)k->at : NULL;
}

static bool is_same_folder(const char *a, const char *b)
{
    char folder[FT__PATH_MAX];
    struct stat of_a;

    snprintf(folder, sizeof(folder), "%.*s.", (int)(ft__path_name(a) - a), a);
    if (stat(folder, &of_a))
        return false;
    snprintf(folder, sizeof(folder), "%.*s.", (int)(ft__path_name(b) - b), b);
    return is_same(&of_a, folder);
}

/* Files that may not be there yet. */
static bool is_one_file(const char *a, const char *b)
{
    struct stat file;

    return stat(a, &file) == 0 ? is_same(&file, b)
                               : strcmp(ft__path_name(a), ft__path_name(b)) == 0 &&
                                     is_same_folder(a, b);
}

static const struct known *same_output(const struct parser *p, size_t before,
                                       const char *path)
{
    for (size_t i = 0; i < before; i++) {
        const char *other = output_of(&p->known[i]);

        if (other && is_one_file(path, other))
            return &p->known[i];
    }
    return NULL;
}

/* What a command reads it does not overwrite, nor one of its outputs another. */
static void check_outputs(struct parser *p)
{
    for (size_t i = 0; i < p->n_known; i++) {
        const char *path = output_of(&p->known[i]), *name = p->known[i].o->name;
        struct stat file;
        bool there = path && stat(path, &file) == 0;
        const struct known *other;

        if (!path || (there && !S_ISREG(file.st_mode)))
            continue;
        other = same_output(p, i, path);
        if (other)
            complain(p, "--%s %s: --%s writes that file; name another", name, path,
                     other->o->name);
        else if (there && is_input(p, &file))
            complain(p, "--%s %s: this command reads that file; name another", name,
                     path);
    }
}

static void check_args(struct parser *p)
{
    const ft__cli *c = p->c;

    if (!c->command || c->help || c->version || p->shown >= 0)
        return;
    if (c->args.n < c->command->least_args && !c->command->takes_commands)
        complain(p, "%s is missing", c->command->arguments);
    else if (c->args.n > c->command->most_args)
        complain(p, "one argument too many: \"%s\"%s%s",
                 c->args.v[c->command->most_args], c->command->more_args ? "; " : "",
                 c->command->more_args ? c->command->more_args : "");
    else if (c->csv && c->json)
        complain(p, "--json and --csv exclude each other");
    else if (c->csv && !c->command->has_csv)
        complain(p, "there is no --csv here, but --json");
    else
        check_outputs(p);
}

int ft__options_parse(ft__cli *c, void **options, const ft__command *const *commands,
                      int argc, char **argv)
{
    struct parser p = {
        .c = c, .commands = commands, .argc = argc, .argv = argv, .shown = -1};
    bool words_only = false;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        c->json = c->json || strcmp(argv[i], "--json") == 0; /* complaints, too */
    list_known(&p);
    for (p.at = 1; p.at < argc && p.shown < 0; p.at++) {
        const char *word = argv[p.at];

        if (words_only || word[0] != '-' || word[1] == '\0')
            parse_word(&p, word);
        else if (strcmp(word, "--") == 0 && c->command && c->command->takes_commands)
            break;
        else if (strcmp(word, "--") == 0)
            words_only = true;
        else if (word[1] == '-')
            parse_long(&p, word + 2);
        else
            parse_letters(&p, word + 1);
    }
    if (p.at + 1 < argc) {
        c->rest = argv + p.at + 1;
        c->n_rest = (size_t)(argc - p.at - 1);
    }
    check_args(&p);
    *options = p.options;
    return p.shown;
}

static bool is_given(const ft__option *o, const void *at)
{
    switch (o->type) {
    case FT__OPT_FLAG: return *(const bool *)at;
    case FT__OPT_LEVEL: return *(const unsigned *)at > 0;
    case FT__OPT_TEXT:
    case FT__OPT_INPUT:
    case FT__OPT_OUTPUT: return *(const char *const *)at != NULL;
    case FT__OPT_TEXTS:
    case FT__OPT_INPUTS: return ((const ft__texts *)at)->n > 0;
    case FT__OPT_COUNT: return *(const uint64_t *)at > 0;
    case FT__OPT_SECONDS: return *(const double *)at > 0;
    case FT__OPT_GROUP: break;
    }
    return false;
}

const ft__option *ft__option_given(const ft__option *table, const void *options)
{
    struct known k[MOST_OPTIONS];
    size_t n = list_options(k, 0, table, (uintptr_t)options);

    for (size_t i = 0; i < n; i++)
        if (is_given(k[i].o, k[i].at))
            return k[i].o;
    return NULL;
}

void ft__options_free(ft__cli *c, void *options)
{
    struct known k[MOST_OPTIONS];
    size_t n =
        options ? list_options(k, 0, c->command->options, (uintptr_t)options) : 0;

    for (size_t i = 0; i < n; i++)
        if (ft__option_repeats(k[i].o->type))
            free(((ft__texts *)(void *)k[i].at)->v);
    free(options);
    free(c->args.v);
}
