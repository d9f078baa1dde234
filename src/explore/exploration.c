/* The file of an exploration: what is run or predicted, with what, for what; what
 * predictions ask. Parameters: space/params.c. */
#include "explore/exploration.h"

#include <math.h>
#include <pcre2posix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/index.h"
#include "base/limits.h"
#include "base/number.h"
#include "explore/analysis/front.h"
#include "explore/space/params.h"

enum {
    MAX_WORDS = 1000,
    MAX_WORKLOADS = 1000,
    MAX_OBJECTIVES = FT__MAX_OBJECTIVES,
};

/* A list of words, or one text for the shell; n 0: the node is not there. */
static ft__words read_words(ft__yaml *y, ft__node *n, const char *where)
{
    ft__words w = {.n = ft__yaml_count(n),
                   .shell = !ft__yaml_is(n, YAML_SEQUENCE_NODE)};

    if (!n || y->st)
        return (ft__words){0};
    if (w.n == 0 || w.n > MAX_WORDS)
        ft__yaml_fail(y, n, where, "from 1 to %d words are wanted", MAX_WORDS);
    w.word = ft__yaml_array(y, w.n + 1, sizeof(*w.word));
    for (size_t i = 0; w.word && i < w.n; i++)
        w.word[i] = ft__yaml_text(y, ft__yaml_at(y, n, i), where);
    if (!y->st && !w.word[0][0])
        ft__yaml_fail(y, n, where, "there is no program");
    return w;
}

/* A mapping of names to texts, without `but`. */
static ft__names read_names(ft__yaml *y, ft__node *map, const char *where,
                            const char *but)
{
    ft__names out = {0};
    size_t n = ft__yaml_pairs(map);

    if (!map || y->st)
        return out;
    if (!ft__yaml_is(map, YAML_MAPPING_NODE)) {
        ft__yaml_fail(y, map, where, "here stand names and values");
        return out;
    }
    out.name = ft__yaml_array(y, n, sizeof(*out.name));
    out.value = ft__yaml_array(y, n, sizeof(*out.value));
    for (size_t i = 0; i < n && !y->st; i++) {
        const char *name = ft__yaml_name(y, ft__yaml_key(y, map, i), where);

        if (y->st || strcmp(name, but) == 0)
            continue;
        out.name[out.n] = name;
        out.value[out.n++] = ft__yaml_text(y, ft__yaml_value(y, map, i), where);
    }
    return out;
}

/* "2.49/h" to a second's price; NaN: it is none. */
static double price_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } known[] = {{"/h", 3600}, {"/min", 60}, {"/s", 1}, {"/day", 86400}};
    char *unit;
    double v = strtod(text, &unit);

    for (size_t i = 0; i < sizeof(known) / sizeof(*known) && unit != text; i++)
        if (strcmp(unit, known[i].unit) == 0 && v > 0 && isfinite(v))
            return v / known[i].seconds;
    return NAN;
}

static void read_prices(ft__yaml *y, ft__node *map, ft_exploration *x)
{
    x->prices = read_names(y, map, "prices", "");
    for (size_t i = 0; i < x->prices.n && !y->st; i++)
        if (isnan(price_of(x->prices.value[i])))
            ft__yaml_fail(y, map, "prices",
                          "%s: a price such as 2.49/h is wanted, not \"%s\"",
                          x->prices.name[i], x->prices.value[i]);
}

/* predict and prices, if they are there; then what belongs to runs is not. */
static void read_predict(ft__yaml *y, ft__node *root, ft_exploration *x)
{
    static const char *const of_runs[] = {"command", "build", "runs", "environment",
                                          "device"};
    ft__node *words = ft__yaml_get(y, root, "predict"), *at;

    x->predict = read_words(y, words, "predict");
    if (x->predict.shell)
        ft__yaml_fail(y, words, "predict",
                      "a list of words is wanted: [model.onnx, --device, '{device}']");
    at = ft__yaml_get(y, root, "prices");
    if (at && !words)
        ft__yaml_fail(y, at, "prices", "what devices cost goes with predict");
    read_prices(y, at, x);
    for (size_t i = 0; i < sizeof(of_runs) / sizeof(*of_runs) && words; i++)
        if ((at = ft__yaml_get(y, root, of_runs[i])))
            ft__yaml_fail(y, at, of_runs[i], "nothing is run where predict stands");
}

static const struct {
    const char *name, *unit;
} measured[FT_MEASURED_COUNT] = {
    [FT_MEASURED_TIME] = {"time", "s"},     [FT_MEASURED_P95] = {"p95", "s"},
    [FT_MEASURED_ENERGY] = {"energy", "J"}, [FT_MEASURED_POWER] = {"power", "W"},
    [FT_MEASURED_MEMORY] = {"memory", "B"}, [FT_MEASURED_MATCH] = {"match", ""},
    [FT_MEASURED_SIZE] = {"size", "B"},     [FT_MEASURED_COST] = {"cost", ""},
};

static bool can_measure(ft_measured what, bool predicted)
{
    switch (what) {
    case FT_MEASURED_P95: return !predicted;
    case FT_MEASURED_COST: return predicted;
    case FT_MEASURED_MATCH:
    case FT_MEASURED_SIZE:
    case FT_MEASURED_COUNT: return false;
    default: return true;
    }
}

/* By the keys it has, or by its name. */
static void what_is_measured(ft__yaml *y, ft__node *n, ft_objective *o, bool predicted)
{
    ft__node *match = ft__yaml_get(y, n, "match"), *file = ft__yaml_get(y, n, "file");
    ft__node *of = ft__yaml_get(y, n, "measure");
    const char *what = of ? ft__yaml_text(y, of, "measure") : o->name;

    if (predicted && (match || file))
        ft__yaml_fail(y, n, o->name, "nothing is run: match and file go with command");
    if (!!match + !!file + !!of > 1)
        ft__yaml_fail(y, n, o->name, "only one of match, file and measure can be");
    o->what = match ? FT_MEASURED_MATCH : FT_MEASURED_SIZE;
    if (match)
        o->pattern = ft__yaml_text(y, match, "match");
    if (file)
        o->file = ft__yaml_text(y, file, "file");
    if (match || file || y->st)
        return;
    for (o->what = 0; o->what < FT_MEASURED_COUNT; o->what++)
        if (strcmp(measured[o->what].name, what) == 0 &&
            can_measure(o->what, predicted))
            return;
    if (predicted)
        ft__yaml_fail(y, n, o->name,
                      "what is \"%s\"? Predicted are time, energy, power, memory and "
                      "cost",
                      what);
    ft__yaml_fail(y, n, o->name,
                  "what is \"%s\"? Measured are time, p95, energy, power and memory; a "
                  "number in the output by match, the size of a file by file",
                  what);
}

static void check_pattern(ft__yaml *y, ft__node *n, const ft_objective *o)
{
    regex_t re;
    int rc;

    if (y->st || !o->pattern)
        return;
    rc = regcomp(&re, o->pattern, REG_EXTENDED | REG_NEWLINE);
    if (rc) {
        char why[128];

        regerror(rc, &re, why, sizeof(why));
        for (size_t len = strlen(why); len && why[len - 1] == ' '; len--)
            why[len - 1] = 0;
        ft__yaml_fail(y, n, o->name, "match: \"%s\": %s", o->pattern, why);
        return;
    }
    if (re.re_nsub < 1)
        ft__yaml_fail(y, n, o->name,
                      "match: the number stands in ( ), as in "
                      "\"([0-9.]+) images/s\"");
    regfree(&re);
}

static double no_limit(ft__yaml *y, ft__node *n, const ft_objective *o,
                       const char *text)
{
    ft__yaml_fail(y, n, o->name, "limit: a number%s%s is wanted, not \"%s\"",
                  *o->unit ? " in " : "", o->unit, text);
    return NAN;
}

/* "100 MB", "5 J": the unit may stand there, if it is the objective's. */
static double limit(ft__yaml *y, ft__node *n, const ft_objective *o)
{
    static const struct {
        const char *unit;
        double factor;
    } known[] = {{"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},  {"KiB", 0x1p10},
                 {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"ns", 1e-9}, {"us", 1e-6},
                 {"ms", 1e-3},    {"mJ", 1e-3},    {"mW", 1e-3}};
    const char *text = ft__yaml_text(y, n, "limit");
    char *unit;
    double v;

    if (!text)
        return NAN;
    v = strtod(text, &unit);
    if (unit == text || !isfinite(v))
        return no_limit(y, n, o, text);
    unit += strspn(unit, " ");
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(unit, known[i].unit) == 0 && strlen(o->unit) == 1 &&
            unit[strlen(unit) - 1] == *o->unit)
            return v * known[i].factor;
    return *unit && strcmp(unit, o->unit) != 0 ? no_limit(y, n, o, text) : v;
}

/* per: item */
static void of_item(ft__yaml *y, ft__node *at, ft_objective *o, bool predicted)
{
    const char *text = at ? ft__yaml_text(y, at, o->name) : NULL;

    if (!text)
        return;
    if (!predicted)
        ft__yaml_fail(y, at, o->name, "per goes with predict; a command's runs are it");
    else if (strcmp(text, "item") != 0 && strcmp(text, "pass") != 0)
        ft__yaml_fail(y, at, o->name, "per: pass or item, not \"%s\"", text);
    o->per_item = !y->st && *text == 'i';
}

static void objective(ft__yaml *y, ft__node *n, ft_objective *o, bool predicted)
{
    static const char *const keys[] = {"name", "measure", "match", "file", "domain",
                                       "unit", "goal",    "limit", "per",  NULL};
    const char *goal = "minimize";
    ft__node *at;

    *o = (ft_objective){.limit = NAN};
    if (ft__yaml_is(n, YAML_SCALAR_NODE)) {
        o->name = ft__yaml_name(y, n, "objectives");
    } else if (ft__yaml_keys(y, n, "objectives", keys)) {
        at = ft__yaml_need(y, n, "objectives", "name");
        o->name = ft__yaml_name(y, at, "objectives");
    }
    if (y->st)
        return;
    what_is_measured(y, n, o, predicted);
    check_pattern(y, n, o);
    if (y->st)
        return;
    o->unit = measured[o->what].unit;
    at = ft__yaml_get(y, n, "unit");
    if (at && o->what != FT_MEASURED_MATCH)
        ft__yaml_fail(y, at, o->name, "unit belongs to match; this is in %s", o->unit);
    else if (at)
        o->unit = ft__yaml_text(y, at, o->name);
    if ((at = ft__yaml_get(y, n, "domain")))
        o->domain = ft__yaml_text(y, at, o->name);
    of_item(y, ft__yaml_get(y, n, "per"), o, predicted);
    if ((at = ft__yaml_get(y, n, "goal")))
        goal = ft__yaml_text(y, at, o->name);
    if (!y->st && strcmp(goal, "minimize") != 0 && strcmp(goal, "maximize") != 0)
        ft__yaml_fail(y, at, o->name, "goal: minimize or maximize, not \"%s\"", goal);
    if (y->st)
        return;
    o->maximize = strcmp(goal, "maximize") == 0;
    if ((at = ft__yaml_get(y, n, "limit")))
        o->limit = limit(y, at, o);
}

static void objectives(ft__yaml *y, ft__node *list, ft_exploration *x)
{
    size_t n = ft__yaml_count(list);

    if (y->st)
        return;
    if (!ft__yaml_is(list, YAML_SEQUENCE_NODE) || n == 0 || n > MAX_OBJECTIVES) {
        ft__yaml_fail(y, list, "objectives", "a list of 1 to %d is wanted",
                      MAX_OBJECTIVES);
        return;
    }
    x->objective = ft__yaml_array(y, n, sizeof(*x->objective));
    for (x->n_objectives = 0; x->n_objectives < n && !y->st; x->n_objectives++) {
        ft__node *at = ft__yaml_at(y, list, x->n_objectives);
        ft_objective *o = &x->objective[x->n_objectives];

        objective(y, at, o, x->predict.n > 0);
        for (size_t i = 0; i < x->n_objectives && !y->st; i++)
            if (strcmp(x->objective[i].name, o->name) == 0)
                ft__yaml_fail(y, at, "objectives", "\"%s\" stands here twice", o->name);
    }
}

static void workloads(ft__yaml *y, ft__node *list, ft_exploration *x)
{
    size_t n = ft__yaml_count(list);

    x->n_workloads = n ? n : 1;
    if (n > MAX_WORKLOADS || (list && n == 0))
        ft__yaml_fail(y, list, "workloads", "from 1 to %d are wanted", MAX_WORKLOADS);
    x->workload = ft__yaml_array(y, x->n_workloads, sizeof(*x->workload));
    x->of_workload = ft__yaml_array(y, x->n_workloads, sizeof(*x->of_workload));
    if (y->st)
        return;
    x->workload[0] = "";
    for (size_t i = 0; i < n && !y->st; i++) {
        ft__node *at = ft__yaml_at(y, list, i);
        const char *name;

        if (ft__yaml_is(at, YAML_SCALAR_NODE)) {
            name = ft__yaml_name(y, at, "workloads");
        } else {
            ft__node *named = ft__yaml_need(y, at, "workloads", "name");

            name = y->st ? NULL : ft__yaml_name(y, named, "workloads");
            x->of_workload[i] = read_names(y, at, "workloads", "name");
        }
        x->workload[i] = name;
        for (size_t j = 0; j < i && !y->st; j++)
            if (strcmp(x->workload[j], name) == 0)
                ft__yaml_fail(y, at, "workloads", "\"%s\" stands here twice", name);
    }
}

static void count(ft__yaml *y, ft__node *map, const char *key, uint32_t least,
                  uint32_t *out)
{
    ft__node *at = ft__yaml_get(y, map, key);
    double v = at ? ft__yaml_number(y, at, key) : NAN;

    if (!at || y->st)
        return;
    if (!(v >= least && v <= 1e6 && v == floor(v)))
        ft__yaml_fail(y, at, key, "a whole number from %u is wanted", least);
    else
        *out = (uint32_t)v;
}

/* "500ms", "90s", "10min", "1h"; a number alone is seconds. */
static double read_seconds(ft__yaml *y, ft__node *n, const char *where)
{
    static const struct {
        const char *name;
        double s;
    } unit[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                {"min", 60},  {"h", 3600},  {"", 1}};
    const char *text = ft__yaml_text(y, n, where);
    char digits[FT__NUMBER_TEXT];
    size_t len;
    double v;

    if (!text)
        return NAN;
    len = strspn(text, "0123456789.");
    snprintf(digits, sizeof(digits), "%.*s", (int)(len < 31 ? len : 31), text);
    for (size_t i = 0; i < sizeof(unit) / sizeof(*unit); i++)
        if (strcmp(text + len, unit[i].name) == 0 && ft__number_parse(digits, &v))
            return v * unit[i].s;
    ft__yaml_fail(y, n, where,
                  "a duration is wanted (500ms, 90s, 10min, 1h), not \"%s\"", text);
    return NAN;
}

static void runs(ft__yaml *y, ft__node *map, ft_exploration *x)
{
    static const char *const keys[] = {"least",      "most",    "warmup",
                                       "precision",  "timeout", "cool_down",
                                       "power_time", NULL};
    ft__node *at;

    x->least_runs = 3;
    x->most_runs = 20;
    x->precision = 0.02;
    if (!map || !ft__yaml_keys(y, map, "runs", keys))
        return;
    count(y, map, "least", 1, &x->least_runs);
    x->most_runs = x->least_runs > x->most_runs ? x->least_runs : x->most_runs;
    count(y, map, "most", x->least_runs, &x->most_runs);
    count(y, map, "warmup", 0, &x->warmup);
    if ((at = ft__yaml_get(y, map, "timeout")))
        x->timeout_s = read_seconds(y, at, "timeout");
    if ((at = ft__yaml_get(y, map, "cool_down")))
        x->cool_s = read_seconds(y, at, "cool_down");
    if ((at = ft__yaml_get(y, map, "power_time")))
        x->power_s = read_seconds(y, at, "power_time");
    if ((at = ft__yaml_get(y, map, "precision"))) {
        x->precision = ft__yaml_number(y, at, "precision");
        if (!y->st && !(x->precision > 0 && x->precision < 1))
            ft__yaml_fail(y, at, "precision", "a share below 1 is wanted: 0.02");
    }
}

static uint64_t print_of_words(uint64_t h, const ft__words *w)
{
    h = ft__hash_text(h, w->shell ? "sh" : "");
    for (size_t i = 0; i < w->n; i++)
        h = ft__hash_text(h, w->word[i]);
    return ft__hash_text(h, "");
}

static uint64_t print_of_names(uint64_t h, const ft__names *n)
{
    for (size_t i = 0; i < n->n; i++)
        h = ft__hash_text(ft__hash_text(h, n->name[i]), n->value[i]);
    return ft__hash_text(h, "");
}

static uint64_t print_of(const ft_exploration *x)
{
    uint64_t h = print_of_words(FT__HASH_BEGIN, &x->command);

    h = print_of_names(print_of_words(h, &x->build), &x->constants);
    h = print_of_names(h, &x->environment);
    h = ft__hash_text(h, x->device ? x->device : "");
    for (size_t i = 0; i < x->n_workloads; i++)
        h = print_of_names(ft__hash_text(h, x->workload[i]), &x->of_workload[i]);
    for (size_t i = 0; i < x->n_objectives; i++) {
        const ft_objective *o = &x->objective[i];

        h = ft__hash_text(h, o->name);
        h = ft__hash_text(h, o->pattern ? o->pattern : "");
        h = ft__hash_text(h, o->file ? o->file : "");
        h = ft__hash_text(h, o->domain ? o->domain : "");
        h = ft__hash_text(h, o->what == FT_MEASURED_POWER ? "power" : "");
    }
    for (size_t k = 0; k < x->space->n; k++) {
        const ft_parameter *p = &x->space->param[k];

        if (p->target)
            h = ft__hash_text(ft__hash_text(h, p->name), p->target);
    }
    return h;
}

static void all(ft__yaml *y, ft_exploration *x)
{
    static const char *const keys[] = {
        "name",   "command",   "build",      "constants", "environment",
        "device", "workloads", "parameters", "forbidden", "objectives",
        "runs",   "predict",   "prices",     NULL};
    ft__node *root = yaml_document_get_root_node(&y->doc), *at;

    if (!root)
        ft__yaml_fail(y, NULL, "", "the file is empty");
    if (y->st || !ft__yaml_keys(y, root, "", keys))
        return;
    x->name = ft__yaml_name(y, ft__yaml_need(y, root, "", "name"), "name");
    read_predict(y, root, x);
    if (!x->predict.n)
        x->command = read_words(y, ft__yaml_need(y, root, "", "command"), "command");
    x->build = read_words(y, ft__yaml_get(y, root, "build"), "build");
    x->constants = read_names(y, ft__yaml_get(y, root, "constants"), "constants", "");
    x->environment =
        read_names(y, ft__yaml_get(y, root, "environment"), "environment", "");
    if ((at = ft__yaml_get(y, root, "device")))
        x->device = ft__yaml_text(y, at, "device");
    workloads(y, ft__yaml_get(y, root, "workloads"), x);
    objectives(y, ft__yaml_need(y, root, "", "objectives"), x);
    runs(y, ft__yaml_get(y, root, "runs"), x);
    ft__read_params(y, root, x);
    if (!y->st)
        x->print = print_of(x);
}

ft_status ft__exploration_read(ft_exploration **out, const char *text, size_t len,
                               const char *name, ft_error *err)
{
    ft_exploration *x = calloc(1, sizeof(*x));
    ft__yaml y = {.file = name, .err = err};

    *out = NULL;
    if (!x)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    y.arena = &x->arena;
    if (ft__yaml_parse(&y, text, len)) {
        all(&y, x);
        yaml_document_delete(&y.doc);
    }
    x->facts = (ft_exploration_facts){.name = x->name,
                                      .space = x->space,
                                      .objective = x->objective,
                                      .n_objectives = x->n_objectives,
                                      .workload = x->workload,
                                      .n_workloads = x->n_workloads,
                                      .word = x->predict.word,
                                      .n_words = x->predict.n};
    if (y.st) {
        ft_exploration_free(x);
    } else {
        x->facts.param = x->space->param;
        x->facts.n_params = x->space->n;
        *out = x;
    }
    return y.st;
}

ft_status ft__exploration_rename(ft_exploration *x, const char *name, ft_error *err)
{
    const char *copy = ft__arena_strndup(&x->arena, name, strlen(name));

    if (!copy)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    x->name = x->facts.name = copy;
    return FT_OK;
}

ft_status ft_exploration_load(ft_exploration **out, const char *path, const char *name,
                              ft_error *err)
{
    char *text;
    size_t len;
    ft_status st = ft__file_read(&text, &len, path, FT__MAX_YAML_FILE, err);

    *out = NULL;
    if (!st)
        st = ft__exploration_read(out, text, len, path, err);
    free(text);
    if (!st && name)
        st = ft__exploration_rename(*out, name, err);
    if (st) {
        ft_exploration_free(*out);
        *out = NULL;
    }
    return st;
}

void ft_exploration_free(ft_exploration *x)
{
    if (!x)
        return;
    ft__arena_free(&x->arena);
    free(x);
}

const ft_exploration_facts *ft_exploration_get(const ft_exploration *x)
{
    return &x->facts;
}

double ft_exploration_price(const ft_exploration *x, const char *device)
{
    for (size_t i = 0; i < x->prices.n; i++)
        if (strcmp(x->prices.name[i], device) == 0)
            return price_of(x->prices.value[i]);
    return NAN;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2] && !strchr(word, '=');
}

/* "--clock=" with nothing behind it. */
static bool is_empty_option(const char *word)
{
    const char *equals = strchr(word, '=');

    return word[0] == '-' && word[1] == '-' && equals && !equals[1];
}

/* Without what came out empty: of n words the last of which was just added. */
static size_t drop_empty(const char **word, size_t n)
{
    if (!*word[n - 1])
        return n > 1 && is_option(word[n - 2]) ? n - 2 : n - 1;
    return is_empty_option(word[n - 1]) ? n - 1 : n;
}

/* Texts and the list of them in one piece. */
static char **joined(const char *const *word, size_t n)
{
    size_t bytes = (n + 1) * sizeof(char *);
    char **out, *at;

    for (size_t i = 0; i < n; i++)
        bytes += strlen(word[i]) + 1;
    out = malloc(bytes);
    if (!out)
        return NULL;
    at = (char *)(out + n + 1);
    for (size_t i = 0; i < n; i++) {
        out[i] = at;
        at = stpcpy(at, word[i]) + 1;
    }
    out[n] = NULL;
    return out;
}

ft_status ft_exploration_words(char ***out, size_t *n, const ft_exploration *x,
                               uint32_t workload, const double *point, ft_error *err)
{
    const ft__place place = {x, point, workload, "", "foretell"};
    ft__arena arena = {0};
    const char **word = ft__arena_array(&arena, x->predict.n + 1, sizeof(*word));
    ft_status st = word ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", x->name);

    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < x->predict.n && !st; i++) {
        ft_error why = {0};

        word[*n] = ft__place_text(&place, &arena, x->predict.word[i], &why);
        if (word[*n])
            *n = drop_empty(word, *n + 1);
        else
            st = ft_fail(err, why.status, 0, "%s", why.msg);
    }
    if (!st && !(*out = joined(word, *n)))
        st = ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
    ft__arena_free(&arena);
    return st;
}
