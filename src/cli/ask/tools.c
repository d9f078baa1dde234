/* Runs a tool: its JSON arguments become a command line, which is parsed and checked
 * like a user's, and the record of --json is the result. */
#include "cli/ask/tools.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 512, MOST_NAME = 64 };

const ft__tool ft__tools[] = {
    {"predict", &ft__predict_command, "model", "", NULL,
     "Predict time, energy and memory of a model (ONNX, torch.export, GGUF or "
     "config.json of a language model, list of operations) on devices, before anything "
     "runs; of a language model also serving: latency, throughput, joules, money.",
     .words = FT__WORDS_MODELS},
    {"report", &ft__predict_command, "model", "summary, top", NULL,
     "What the page of predict --html draws: operations, modules, memory over time.",
     .words = FT__WORDS_MODELS, .page = true},
    {"rank", &ft__rank_command, "model", "stdin", NULL,
     "Order devices, batches and clocks by what a model takes there: time, energy, "
     "cost, CO2.",
     .words = FT__WORDS_MODELS},
    {"memory", &ft__predict_command, "model", "",
     "model, device, mode, step, batch, dtype, assumptions, memory, fit, server, "
     "warnings",
     "Peak memory of a model by part, whether it fits a device, and with max_batch the "
     "largest batch that does.",
     .words = FT__WORDS_MODELS},
    {"place", &ft__place_command, "models", "", NULL,
     "Split one network over several devices, or assign several networks to them.",
     .words = FT__WORDS_MODELS},
    {"ops", &ft__ops_command, "models", "dot, list", NULL,
     "The unique operations of a model and what they cost; its graph, its products, or "
     "what changed between two models (diff).",
     .words = FT__WORDS_MODELS},
    {"devices", &ft__devices_command, "names", "", NULL,
     "The devices that can be asked about, with their specifications; all, or those "
     "named.",
     .words = FT__WORDS_NAMES},
    {"show", &ft__show_command, "predictor", "", NULL,
     "What a predictor file was trained on and how good it is.",
     .words = FT__WORDS_FILES},
    {0},
};

const ft__tool *ft__tool_find(const char *name)
{
    for (const ft__tool *t = ft__tools; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

static bool is_listed(const char *list, const char *word)
{
    char one[MOST_NAME];

    while (list && *list) {
        snprintf(one, sizeof(one), "%.*s", (int)strcspn(list, ","), list);
        if (strcmp(one, word) == 0)
            return true;
        list += strcspn(list, ",");
        list += strspn(list, ", ");
    }
    return false;
}

static bool is_argument(const ft__tool *t, const ft__option *o, bool files)
{
    const bool names_file = o->type == FT__OPT_INPUT || o->type == FT__OPT_INPUTS;

    return o->type != FT__OPT_OUTPUT && (files || !names_file) &&
           !is_listed(t->without, o->name);
}

/* "max-batch" is max_batch in JSON. */
static void argument_name(char out[MOST_NAME], const char *option)
{
    snprintf(out, MOST_NAME, "%s", option);
    for (char *c = out; *c; c++)
        *c = *c == '-' ? '_' : *c;
}

struct schema {
    const ft__tool *t;
    json_t *properties;
    bool files;
};

static json_t *type_json(ft__opt_type type, const char *help)
{
    switch (type) {
    case FT__OPT_FLAG:
    case FT__OPT_LEVEL: return ft__json("type:s description:s", "boolean", help);
    case FT__OPT_COUNT:
        return ft__json("type:s minimum:d description:s", "integer", 1, help);
    case FT__OPT_TEXTS:
    case FT__OPT_INPUTS:
        return ft__json("type:s items:o description:s", "array",
                        ft__json("type:s", "string"), help);
    default: break;
    }
    return ft__json("type:s description:s", "string", help);
}

static void add_property(void *user, const ft__option *o)
{
    struct schema *s = user;
    char name[MOST_NAME], help[1024];

    if (!is_argument(s->t, o, s->files))
        return;
    argument_name(name, o->name);
    snprintf(help, sizeof(help), "%s%s%s", o->value ? o->value : "",
             o->value ? ": " : "", o->help);
    ft__json_set_take(&s->properties, name, type_json(o->type, help));
}

json_t *ft__tool_schema(const ft__tool *t, bool files)
{
    struct schema s = {t, json_object(), files};
    const bool one = t->command->most_args == 1;
    json_t *required = json_array();

    ft__json_set_take(
        &s.properties, t->positional,
        type_json(one ? FT__OPT_TEXT : FT__OPT_TEXTS, t->command->arguments));
    if (t->command->least_args || one)
        ft__json_append_take(&required, json_string(t->positional));
    ft__options_each(t->command->options, add_property, &s);
    return ft__json("type:s properties:o required:o additionalProperties:b", "object",
                    s.properties, required, false);
}

struct words {
    const ft__tool *t;
    const ft__asker *a;
    char *word[MOST_WORDS + 1];
    size_t n;
    const ft__option *found; /* looked for by `name` */
    const char *name;
    char *said; /* the complaint, of `size` bytes */
    size_t size;
};

static void find_option(void *user, const ft__option *o)
{
    struct words *w = user;
    char name[MOST_NAME];

    argument_name(name, o->name);
    if (strcmp(name, w->name) == 0 && is_argument(w->t, o, w->a->files))
        w->found = o;
}

FT_PRINTF(2, 3) static bool wrong(struct words *w, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(w->said, w->size, fmt, ap);
    va_end(ap);
    return false;
}

/* "--name=value"; either may be NULL. */
static bool add_word(struct words *w, const char *name, const char *value)
{
    const size_t size = (value ? strlen(value) : 0) + (name ? strlen(name) : 0) + 4;
    char *word;

    if (w->n == MOST_WORDS)
        return wrong(w, "more than %d values", MOST_WORDS);
    word = malloc(size);
    if (!word)
        return wrong(w, "out of memory");
    snprintf(word, size, "%s%s%s%s", name ? "--" : "", name ? name : "",
             name && value ? "=" : "", value ? value : "");
    w->word[w->n++] = word;
    return true;
}

/* The text of a JSON string or number; false: the value is neither. */
static bool value_text(char *buf, size_t size, const char **out, const json_t *v)
{
    *out = buf;
    if (json_is_integer(v))
        snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_real(v))
        snprintf(buf, size, "%.17g", json_real_value(v));
    else if (json_is_string(v))
        *out = json_string_value(v);
    else
        return false;
    return true;
}

static bool add_option(struct words *w, const char *key, const json_t *v)
{
    char buf[64];
    const char *text;
    const json_t *one;
    size_t i;

    w->name = key;
    w->found = NULL;
    ft__options_each(w->t->command->options, find_option, w);
    if (!w->found)
        return strncmp(key, "model", 5) == 0 && w->t->words == FT__WORDS_MODELS
                   ? wrong(w, "there is no argument \"%.60s\", but \"%s\"", key,
                           w->t->positional)
                   : wrong(w, "there is no argument \"%.60s\"", key);
    if (json_is_null(v) || (!ft__option_has_value(w->found->type) && json_is_false(v)))
        return true;
    if (!ft__option_has_value(w->found->type)) {
        if (!json_is_true(v))
            return wrong(w, "%s is true or false", key);
        return add_word(w, w->found->name, NULL);
    }
    if (!json_is_array(v))
        return value_text(buf, sizeof(buf), &text, v)
                   ? add_word(w, w->found->name, text)
                   : wrong(w, "%s is a text or a number", key);
    if (!ft__option_repeats(w->found->type))
        return w->found->type == FT__OPT_TEXT
                   ? wrong(w,
                           "%s is one text: several are joined by commas, as \"a,b\"",
                           key)
                   : wrong(w, "%s is one value, and no list", key);
    json_array_foreach(
        (json_t *)v, i,
        one) if (!value_text(buf, sizeof(buf), &text,
                             one)) return wrong(w, "%s is a list of texts", key);
    else if (!add_word(w, w->found->name, text)) return false;
    return true;
}

static bool add_positional(struct words *w, const json_t *v)
{
    const char *text = json_string_value(v);
    char *path;
    bool good;

    if (!text || !*text)
        return wrong(w, "%s is a text, and not empty", w->t->positional);
    if (!w->a->model_path || w->t->words != FT__WORDS_MODELS)
        return add_word(w, NULL, text);
    path = w->a->model_path(w->a->user, text);
    good =
        path ? add_word(w, NULL, path) : wrong(w, "there is no model \"%.200s\"", text);
    free(path);
    return good;
}

/* Options, then "--" and the words, so that none is taken for an option. */
static bool make_words(struct words *w, const json_t *arguments)
{
    const json_t *words = json_object_get(arguments, w->t->positional), *v;
    const char *key;
    size_t i;

    if (!add_word(w, NULL, "foretell") || !add_word(w, NULL, w->t->command->name) ||
        !add_word(w, NULL, "--json"))
        return false;
    json_object_foreach((json_t *)arguments, key,
                        v) if (strcmp(key, w->t->positional) != 0 &&
                               !add_option(w, key, v)) return false;
    if (!add_word(w, NULL, "--"))
        return false;
    if (!json_is_array(words))
        return !words || json_is_null(words) || add_positional(w, words);
    json_array_foreach((json_t *)words, i, v) if (!add_positional(w, v)) return false;
    return true;
}

static void be_quiet(void *user, ft_log_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

static void say_nothing(void *user, uint64_t done, uint64_t total, const char *what)
{
    (void)user;
    (void)done;
    (void)total;
    (void)what;
}

static int run_words(ft__reply *r, struct words *w)
{
    const ft__command *const commands[] = {w->t->command, NULL};
    ft__cli c = {
        .reply = r, .json = true, .quiet = true, .log = {be_quiet, say_nothing, NULL}};
    void *options = NULL;
    int code = ft__options_parse(&c, &options, commands, (int)w->n, w->word);

    c.data_dir = w->a->c->data_dir;
    c.store = w->a->c->store;
    c.plugin_dir = w->a->c->plugin_dir;
    if (code < 0)
        code = c.command->run(&c, options);
    ft__options_free(&c, options);
    return code;
}

static void select_fields(json_t *v, const char *fields)
{
    const char *key;
    json_t *member;
    void *next;
    size_t i;

    json_array_foreach(v, i, member) select_fields(member, fields);
    json_object_foreach_safe(v, next, key, member) if (!is_listed(fields, key))
        json_object_del(v, key);
}

int ft__tool_ask(json_t **value, const ft__tool *t, const ft__asker *a,
                 const json_t *arguments)
{
    ft__reply r = {.data = a->data, .models = a->models, .page = t->page};
    struct words *w = calloc(1, sizeof(*w));
    int code = FT__EXIT_USAGE;

    *value = NULL;
    if (!w)
        return FT__EXIT_BUG;
    *w = (struct words){.t = t, .a = a, .said = r.message, .size = sizeof(r.message)};
    if (!arguments || json_is_object(arguments) ? make_words(w, arguments)
                                                : wrong(w, "arguments are an object"))
        code = run_words(&r, w);
    for (size_t i = 0; i < w->n; i++)
        free(w->word[i]);
    free(w);
    if (r.value && t->fields)
        select_fields(r.value, t->fields);
    /* An answer that is "no" is an answer. */
    if (r.value && (code == FT__EXIT_GOOD || code == FT__EXIT_NO)) {
        *value = r.value;
        return code;
    }
    json_decref(r.value);
    *value = ft__json("command:s exit:d message:s", t->name, code, r.message);
    return code;
}
