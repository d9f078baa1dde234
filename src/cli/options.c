/* One parser for all commands: it knows the tables, nothing else. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct parser {
    ft__cli *c;
    char *options; /* of the command; NULL before it is known */
    int argc;
    char **argv;
    int at;    /* index of the argument in hand */
    int shown; /* exit code of a complaint; -1: none so far */
};

const ft__option ft__global_options[] = {
    {"json", 0, FT__OPT_FLAG, offsetof(ft__cli, json), NULL,
     "print the result as JSON"},
    {"csv", 0, FT__OPT_FLAG, offsetof(ft__cli, csv), NULL,
     "print the result as CSV, where it is a table"},
    {"quiet", 'q', FT__OPT_FLAG, offsetof(ft__cli, quiet), NULL,
     "no warnings, no progress"},
    {"verbose", 'v', FT__OPT_LEVEL, offsetof(ft__cli, verbose), NULL,
     "say more on standard error; twice: much more"},
    {"data-dir", 0, FT__OPT_TEXT, offsetof(ft__cli, data_dir), "DIR",
     "devices and models (also FORETELL_DATA)"},
    {"db", 0, FT__OPT_TEXT, offsetof(ft__cli, store), "STORE", "file of measurements"},
    {"plugin-dir", 0, FT__OPT_TEXT, offsetof(ft__cli, plugin_dir), "DIR",
     "engine plug-ins (also FORETELL_PLUGINS)"},
    {"help", 'h', FT__OPT_FLAG, offsetof(ft__cli, help), NULL, "explain and exit"},
    {"version", 0, FT__OPT_FLAG, offsetof(ft__cli, version), NULL,
     "print the version and exit"},
    {0},
};

static const ft__option no_options[] = {{0}};

static const ft__option *options_of(const ft__cli *c)
{
    return c->command && c->command->options ? c->command->options : no_options;
}

/* ---- suggestions ---- */

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance of words of at most 31 letters, else a large number. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), row[32];

    if (n > 31 || m > 31)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];

            row[j] =
                least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

const char *ft__suggest(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t nearest = strlen(word) < 4 ? 2 : 3; /* not this far any more */

    for (size_t i = 0; i < n; i++) {
        size_t d = distance(word, names[i]);

        if (strlen(word) >= 3 && strncmp(word, names[i], strlen(word)) == 0)
            d = 1;
        if (d < nearest) {
            nearest = d;
            best = names[i];
        }
    }
    return best;
}

static const char *suggest_option(const struct parser *p, const char *word)
{
    const ft__option *tables[] = {options_of(p->c), ft__global_options};
    const char *names[64];
    size_t n = 0;

    for (int t = 0; t < 2; t++)
        for (const ft__option *o = tables[t]; o->name && n < 64; o++)
            names[n++] = o->name;
    return ft__suggest(word, names, n);
}

/* ---- complaints ---- */

FT_PRINTF(2, 3)
static void complain(struct parser *p, const char *fmt, ...)
{
    const char *command = p->c->command ? p->c->command->name : NULL;
    va_list ap;

    fprintf(stderr, "foretell%s%s: ", command ? " " : "", command ? command : "");
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\nsee foretell %s%s--help\n", command ? command : "",
            command ? " " : "");
    p->shown = FT__EXIT_USAGE;
}

static void unknown_option(struct parser *p, const char *word, size_t len)
{
    char name[64];
    const char *near;

    snprintf(name, sizeof(name), "%.*s", (int)len, word);
    near = suggest_option(p, name);
    if (near)
        complain(p, "unknown option --%s; did you mean --%s?", name, near);
    else
        complain(p, "unknown option --%s", name);
}

static void unknown_command(struct parser *p, const char *word,
                            const ft__command *const *commands)
{
    const char *names[32], *near;
    size_t n = 0;

    while (commands[n] && n < 32) {
        names[n] = commands[n]->name;
        n++;
    }
    near = ft__suggest(word, names, n);
    if (near)
        complain(p, "unknown command \"%s\"; did you mean %s?", word, near);
    else
        complain(p, "unknown command \"%s\"", word);
}

/* ---- values ---- */

bool ft__seconds_from_text(double *out, const char *text)
{
    static const struct {
        const char *name;
        double seconds;
    } unit[] = {{"", 1},   {"s", 1},    {"ms", 1e-3}, {"us", 1e-6},
                {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    double v;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    v = strtod(text, &end);
    for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
        if (strcmp(end, unit[i].name) == 0 && v * unit[i].seconds < 1e9) {
            *out = v * unit[i].seconds;
            return true;
        }
    return false;
}

bool ft__number_from_text(double *out, const char *text, const char *const *unit,
                          const double *factor)
{
    char *end;
    double v;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    v = strtod(text, &end);
    end += *end == ' ';
    for (size_t i = 0; unit[i]; i++)
        if (strcmp(end, unit[i]) == 0 && v > 0 && v * factor[i] < 1e15) {
            *out = v * factor[i];
            return true;
        }
    return false;
}

bool ft__counts_from_text(uint64_t *out, size_t *n, size_t most, const char *text)
{
    const char *at = text;

    for (*n = 0; *at && *n < most; ++*n) {
        char *end;

        errno = 0;
        out[*n] = strtoull(at, &end, 10);
        if (errno || *at < '1' || *at > '9' || (*end && (*end != ',' || !end[1])))
            return false;
        at = end + (*end == ',');
    }
    return *n && !*at;
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

static void set(struct parser *p, const ft__option *o, char *base, const char *value)
{
    void *at = base + o->at;

    switch (o->type) {
    case FT__OPT_FLAG: *(bool *)at = true; break;
    case FT__OPT_LEVEL: ++*(unsigned *)at; break;
    case FT__OPT_TEXT: *(const char **)at = value; break;
    case FT__OPT_TEXTS:
        if (!texts_add(at, value)) {
            complain(p, "out of memory");
            p->shown = FT__EXIT_BUG;
        }
        break;
    case FT__OPT_COUNT:
        if (!count_from_text(at, value))
            complain(p, "--%s wants a whole number from 1 on, not \"%s\"", o->name,
                     value);
        break;
    case FT__OPT_SECONDS:
        if (!ft__seconds_from_text(at, value))
            complain(p, "--%s wants a duration such as 90s, 500ms or 10min, not \"%s\"",
                     o->name, value);
        break;
    }
}

/* ---- arguments ---- */

static const ft__option *find(struct parser *p, char **base, const char *name,
                              size_t len, char letter)
{
    const ft__option *tables[] = {options_of(p->c), ft__global_options};
    char *bases[] = {p->options, (char *)p->c};

    for (int t = 0; t < 2; t++)
        for (const ft__option *o = tables[t]; o->name; o++)
            if (name ? strlen(o->name) == len && memcmp(o->name, name, len) == 0
                     : o->letter == letter) {
                *base = bases[t];
                return o;
            }
    return NULL;
}

/* `value` is what stood behind "=" or the letter; NULL: look at the next one. */
static void take(struct parser *p, const ft__option *o, char *base, const char *value)
{
    bool wants = o->type != FT__OPT_FLAG && o->type != FT__OPT_LEVEL;

    if (!wants && value)
        complain(p, "--%s takes no value", o->name);
    else if (wants && !value && p->at + 1 >= p->argc)
        complain(p, "--%s wants a value: --%s %s", o->name, o->name, o->value);
    else
        set(p, o, base, value ? value : wants ? p->argv[++p->at] : "");
}

static void parse_long(struct parser *p, const char *word)
{
    size_t len = strcspn(word, "=");
    const ft__option *o;
    char *base;

    o = find(p, &base, word, len, 0);
    if (o)
        take(p, o, base, word[len] ? word + len + 1 : NULL);
    else
        unknown_option(p, word, len);
}

/* -q, -qv, -o FILE, -oFILE */
static void parse_letters(struct parser *p, const char *word)
{
    while (*word && p->shown < 0) {
        char *base, letter = *word++;
        const ft__option *o = find(p, &base, NULL, 0, letter);

        if (!o) {
            complain(p, "unknown option -%c", letter);
        } else if (o->type == FT__OPT_FLAG || o->type == FT__OPT_LEVEL) {
            set(p, o, base, "");
        } else {
            take(p, o, base, *word ? word : NULL);
            return;
        }
    }
}

static void parse_word(struct parser *p, const char *word,
                       const ft__command *const *commands)
{
    if (p->c->command) {
        if (!texts_add(&p->c->args, word))
            p->shown = FT__EXIT_BUG;
        return;
    }
    for (size_t i = 0; commands[i] && !p->c->command; i++)
        if (strcmp(commands[i]->name, word) == 0)
            p->c->command = commands[i];
    if (!p->c->command) {
        unknown_command(p, word, commands);
        return;
    }
    p->options = calloc(1, p->c->command->options_size + 1);
    if (!p->options)
        p->shown = FT__EXIT_BUG;
}

static void check_args(struct parser *p)
{
    const ft__cli *c = p->c;

    if (!c->command || c->help || c->version || p->shown >= 0)
        return;
    if (c->args.n < c->command->least_args && !c->command->takes_commands)
        complain(p, "%s is missing", c->command->arguments);
    else if (c->args.n > c->command->most_args)
        complain(p, "one argument too many: \"%s\"", c->args.v[c->command->most_args]);
    else if (c->csv && c->json)
        complain(p, "--json and --csv exclude each other");
    else if (c->csv && !c->command->has_csv)
        complain(p, "there is no --csv here, but --json");
}

int ft__options_parse(ft__cli *c, void **options, const ft__command *const *commands,
                      int argc, char **argv)
{
    struct parser p = {.c = c, .argc = argc, .argv = argv, .shown = -1};
    bool words_only = false;

    for (p.at = 1; p.at < argc && p.shown < 0; p.at++) {
        const char *word = argv[p.at];

        if (words_only || word[0] != '-' || word[1] == '\0')
            parse_word(&p, word, commands);
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
    case FT__OPT_TEXT: return *(const char *const *)at != NULL;
    case FT__OPT_TEXTS: return ((const ft__texts *)at)->n > 0;
    case FT__OPT_COUNT: return *(const uint64_t *)at > 0;
    case FT__OPT_SECONDS: return *(const double *)at > 0;
    }
    return false;
}

const ft__option *ft__option_given(const ft__option *table, const void *options)
{
    for (const ft__option *o = table; o->name; o++)
        if (is_given(o, (const char *)options + o->at))
            return o;
    return NULL;
}

void ft__options_free(ft__cli *c, void *options)
{
    for (const ft__option *o = options_of(c); options && o->name; o++)
        if (o->type == FT__OPT_TEXTS)
            free(((ft__texts *)(void *)((char *)options + o->at))->v);
    free(options);
    free(c->args.v);
}

/* ---- help ---- */

static void help_options(const ft__option *o, FILE *fp)
{
    for (; o->name; o++) {
        char left[64], letter[8] = "    ";

        if (o->letter)
            snprintf(letter, sizeof(letter), "-%c, ", o->letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        fprintf(fp, "  %-26s %s\n", left, o->help);
    }
}

void ft__help_command(const ft__command *command, FILE *fp)
{
    fprintf(fp, "usage: foretell %s%s%s [options]\n\n%s\n", command->name,
            *command->arguments ? " " : "", command->arguments, command->summary);
    if (*command->more)
        fprintf(fp, "\n%s\n", command->more);
    if (command->options && command->options->name) {
        fputs("\noptions:\n", fp);
        help_options(command->options, fp);
    }
    fputs("\nglobal options:\n", fp);
    help_options(ft__global_options, fp);
    fprintf(fp, "\nexamples:\n%s", command->examples);
}
