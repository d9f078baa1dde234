/* Parameters as text: put for {name} into what is run, written and read back as points,
 * read from the file: what can be set, where it acts, and what goes with what. */
#include "explore/space/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/number.h"

size_t ft__param_print(const ft_parameter *p, double value, char *buf, size_t size)
{
    char number[FT__NUMBER_TEXT];

    if (isnan(value))
        return (size_t)snprintf(buf, size, "%s", "");
    switch (p->type) {
    case FT_PARAM_INTEGER: return (size_t)snprintf(buf, size, "%.0f", value);
    case FT_PARAM_REAL:
        ft__number_text(number, value);
        return (size_t)snprintf(buf, size, "%s", number);
    default: return (size_t)snprintf(buf, size, "%s", p->value[(size_t)value]);
    }
}

/* The name in braces that begins at text, its length; 0: none does. */
static size_t place_name(const char *text)
{
    size_t n = *text == '{' ? strcspn(text + 1, "{} ") : 0;

    return n && text[n + 1] == '}' ? n : 0;
}

/* Does {name} occur in text? */
static bool place_occurs(const char *text, const char *name)
{
    for (; (text = strchr(text, '{')); text += text[1] == '{' ? 2 : 1)
        if (text[1] != '{' && place_name(text) == strlen(name) &&
            strncmp(text + 1, name, strlen(name)) == 0)
            return true;
    return false;
}

static const char *value_of(const ft__names *n, const char *name, size_t len)
{
    for (size_t i = 0; i < n->n; i++)
        if (strlen(n->name[i]) == len && strncmp(n->name[i], name, len) == 0)
            return n->value[i];
    return NULL;
}

static bool is(const char *name, size_t len, const char *text)
{
    return strlen(text) == len && strncmp(name, text, len) == 0;
}

/* False: nothing stands for it. */
static bool add_value(ft__buf *b, const ft__place *p, const char *name, size_t len)
{
    const ft_parameter *param = p->x->space->param;
    const char *value = value_of(&p->x->of_workload[p->workload], name, len);

    if (!value)
        value = value_of(&p->x->constants, name, len);
    if (!value && is(name, len, "build"))
        value = p->build;
    if (!value && is(name, len, "foretell"))
        value = p->self;
    if (!value && is(name, len, "workload"))
        value = p->x->workload[p->workload];
    if (value) {
        ft__buf_str(b, value);
        return true;
    }
    for (size_t k = 0; k < p->x->space->n; k++) {
        char text[FT__PARAM_TEXT];

        if (!is(name, len, param[k].name))
            continue;
        ft__param_print(&param[k], p->point[k], text, sizeof(text));
        ft__buf_str(b, text);
        return true;
    }
    return false;
}

char *ft__place_text(const ft__place *p, ft__arena *a, const char *text, ft_error *err)
{
    const char *whole = text;
    ft__buf b = {0};
    char *out;

    while (*text) {
        size_t len = place_name(text);

        if ((text[0] == '{' || text[0] == '}') && text[1] == text[0]) {
            ft__buf_add(&b, text, 1);
            text += 2;
        } else if (len && !add_value(&b, p, text + 1, len)) {
            (void)ft_fail(err, FT_EFORMAT, 0, "%s: nothing stands for {%.*s} in \"%s\"",
                          p->x->name, (int)len, text + 1, whole);
            ft__buf_free(&b);
            return NULL;
        } else {
            if (!len)
                ft__buf_add(&b, text, 1);
            text += len ? len + 2 : 1;
        }
    }
    out = b.bad ? NULL : ft__arena_strndup(a, b.s ? b.s : "", b.len);
    ft__buf_free(&b);
    if (!out)
        (void)ft_fail(err, FT_ENOMEM, 0, "%s", p->x->name);
    return out;
}

static void add_escaped(ft__buf *b, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c <= ' ' || c == '%' || c == 0x7f)
            ft__buf_fmt(b, "%%%02X", c);
        else
            ft__buf_add(b, text, 1);
    }
}

size_t ft_point_print(const ft_exploration *x, const double *point, char *buf,
                      size_t size)
{
    const ft_parameter *param = x->space->param;
    size_t len;
    ft__buf b = {0};

    for (size_t k = 0; k < x->space->n; k++) {
        char text[FT__PARAM_TEXT];

        if (isnan(point[k]))
            continue;
        ft__param_print(&param[k], point[k], text, sizeof(text));
        ft__buf_str(&b, b.len ? " " : "");
        ft__buf_str(&b, param[k].name);
        ft__buf_str(&b, "=");
        add_escaped(&b, text);
    }
    len = (size_t)snprintf(buf, size, "%s", b.s ? b.s : "");
    ft__buf_free(&b);
    return len;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place. */
static void unescape(char *s)
{
    char *to = s;

    for (; *s; s++)
        if (*s == '%' && hex(s[1]) >= 0 && hex(s[2]) >= 0) {
            *to++ = (char)(16 * hex(s[1]) + hex(s[2]));
            s += 2;
        } else {
            *to++ = *s;
        }
    *to = '\0';
}

/* NaN: no value of this parameter. */
static double value_from(const ft_parameter *p, const char *text)
{
    double v;

    if (ft__param_is_text(p)) {
        for (uint32_t i = 0; i < p->n_values; i++)
            if (strcmp(text, p->value[i]) == 0)
                return i;
        return NAN;
    }
    if (!ft__number_parse(text, &v) || !(v >= p->low && v <= p->high))
        return NAN;
    return p->type == FT_PARAM_INTEGER && v != floor(v) ? NAN : v;
}

static ft_status set_value(const ft_exploration *x, double *point, char *pair,
                           ft_error *err)
{
    char *equals = strchr(pair, '=');
    const ft_parameter *param = x->space->param;
    size_t n = x->space->n, k = 0;

    if (equals)
        *equals++ = '\0';
    while (equals && k < n && strcmp(param[k].name, pair) != 0)
        k++;
    if (!equals || k == n)
        return ft_fail(err, FT_EFORMAT, 0, "%s: \"%s\" is no parameter", x->name, pair);
    unescape(equals);
    point[k] = value_from(&param[k], equals);
    if (isnan(point[k]))
        return ft_fail(err, FT_EFORMAT, 0, "%s: %s has no value \"%s\"", x->name, pair,
                       equals);
    return FT_OK;
}

ft_status ft__point_parse(const ft_exploration *x, double *point, const char *text,
                          ft_error *err)
{
    size_t n = x->space->n;
    char *copy = strdup(text), *rest = copy, *word;
    ft_status st = copy ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", x->name);

    for (size_t k = 0; k < n; k++)
        point[k] = NAN;
    while (!st && (word = strtok_r(rest, " ", &rest)))
        st = set_value(x, point, word, err);
    free(copy);
    for (size_t k = 0; k < n && !st; k++)
        if ((isnan(point[k]) != 0) == ft__space_has_say(x->space, point, k))
            st = ft_fail(err, FT_EFORMAT, 0, "%s: \"%s\" is no point of this space",
                         x->name, text);
    return st;
}

bool ft__run_place(const ft_exploration *x, uint32_t *workload, double *point,
                   const char *workload_name, const char *text)
{
    ft_error unused;

    *workload = 0;
    while (*workload < x->n_workloads &&
           strcmp(x->workload[*workload], workload_name) != 0)
        ++*workload;
    return *workload < x->n_workloads && !ft__point_parse(x, point, text, &unused) &&
           ft__space_allows(x->space, point);
}

enum { MAX_FORBIDDEN = 10000 };

struct params {
    ft__yaml *y;
    const ft_exploration *x;
    ft_parameter *v;
    size_t n;
    ft__condition *condition;
    size_t n_conditions;
};

static const char *const settings[] = {"clock",    "memory_clock", "power",   "cpus",
                                       "governor", "turbo",        "affinity"};

static bool occurs(const ft__words *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (place_occurs(w->word[i], name))
            return true;
    return false;
}

static bool is_setting(const char *name)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        if (strcmp(settings[i], name) == 0)
            return true;
    return false;
}

static void where(struct params *s, ft__node *n, ft_parameter *p)
{
    ft__node *env = ft__yaml_get(s->y, n, "environment");
    ft__node *set = ft__yaml_get(s->y, n, "setting");

    if (s->x->predict.n) {
        if (env || set)
            ft__yaml_fail(s->y, n, p->name,
                          "nothing is run: environment and setting go with command");
        else if (!occurs(&s->x->predict, p->name))
            ft__yaml_fail(s->y, n, p->name,
                          "where does it act? {%s} does not stand in predict", p->name);
        return;
    }
    if (env && set)
        ft__yaml_fail(s->y, n, p->name, "only one of environment and setting can be");
    if (env) {
        p->where = FT_ACTS_ENVIRONMENT;
        p->target = ft__yaml_name(s->y, env, p->name);
    } else if (set) {
        p->where = FT_ACTS_SETTING;
        p->target = ft__yaml_text(s->y, set, p->name);
        if (!s->y->st && !is_setting(p->target))
            ft__yaml_fail(s->y, set, p->name,
                          "there is no setting \"%s\"; there are clock, memory_clock, "
                          "power, cpus, governor, turbo and affinity",
                          p->target);
    } else if (occurs(&s->x->build, p->name)) {
        p->where = FT_ACTS_BUILD;
    } else if (!occurs(&s->x->command, p->name)) {
        ft__yaml_fail(s->y, n, p->name,
                      "where does it act? {%s} stands neither in command nor in build, "
                      "and it has no environment or setting",
                      p->name);
    }
}

static void values(struct params *s, ft__node *list, ft_parameter *p)
{
    size_t n = ft__yaml_count(list);
    const char **value = ft__yaml_array(s->y, n, sizeof(*value));

    if (!ft__yaml_is(list, YAML_SEQUENCE_NODE) || n == 0)
        ft__yaml_fail(s->y, list, p->name, "values: a list is wanted: [a, b]");
    for (size_t i = 0; i < n && !s->y->st; i++) {
        ft__node *at = ft__yaml_at(s->y, list, i);

        value[i] = ft__yaml_text(s->y, at, p->name);
        if (!s->y->st && strlen(value[i]) >= FT__PARAM_TEXT)
            ft__yaml_fail(s->y, at, p->name, "a value of %d characters and more",
                          FT__PARAM_TEXT);
        for (size_t j = 0; j < i && !s->y->st; j++)
            if (strcmp(value[j], value[i]) == 0)
                ft__yaml_fail(s->y, at, p->name, "the value \"%s\" stands here twice",
                              value[i]);
    }
    p->value = value;
    p->n_values = (uint32_t)n;
}

static bool read_flag(ft__yaml *y, ft__node *n, const char *where)
{
    const char *text = ft__yaml_text(y, n, where);

    if (!text)
        return false;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        ft__yaml_fail(y, n, where, "true or false is wanted, not \"%s\"", text);
    return strcmp(text, "true") == 0;
}

static void range(struct params *s, ft__node *n, ft_parameter *p)
{
    static const double most = FT__MAX_VALUES;
    ft__node *low = ft__yaml_need(s->y, n, p->name, "low");
    ft__node *high = ft__yaml_need(s->y, n, p->name, "high");
    ft__node *type = ft__yaml_get(s->y, n, "type"), *log = ft__yaml_get(s->y, n, "log");
    const char *name = type ? ft__yaml_text(s->y, type, p->name) : NULL;

    if (s->y->st)
        return;
    p->low = ft__yaml_number(s->y, low, p->name);
    p->high = ft__yaml_number(s->y, high, p->name);
    p->log = log ? read_flag(s->y, log, p->name) : 0;
    if (s->y->st)
        return;
    if (name && strcmp(name, "integer") != 0 && strcmp(name, "real") != 0)
        ft__yaml_fail(s->y, type, p->name, "type: integer or real, not \"%s\"", name);
    p->type = name ? (*name == 'r' ? FT_PARAM_REAL : FT_PARAM_INTEGER)
              : p->low == floor(p->low) && p->high == floor(p->high) ? FT_PARAM_INTEGER
                                                                     : FT_PARAM_REAL;
    if (!(p->low < p->high))
        ft__yaml_fail(s->y, high, p->name, "high must be above low");
    if (p->log && !(p->low > 0))
        ft__yaml_fail(s->y, low, p->name, "with log, low must be above 0");
    if (p->type == FT_PARAM_REAL)
        return;
    if (p->low != floor(p->low) || p->high != floor(p->high) ||
        p->high - p->low >= most)
        ft__yaml_fail(s->y, low, p->name,
                      "an integer's low and high are whole numbers");
    p->n_values = (uint32_t)(p->high - p->low + 1);
}

static void param(struct params *s, ft__node *n, ft_parameter *p)
{
    static const char *const keys[] = {"name",    "values", "ordered", "low",
                                       "high",    "type",   "log",     "environment",
                                       "setting", "when",   NULL};
    ft__node *list, *ordered;

    if (!ft__yaml_keys(s->y, n, "parameters", keys))
        return;
    p->name =
        ft__yaml_name(s->y, ft__yaml_need(s->y, n, "parameters", "name"), "parameters");
    if (s->y->st)
        return;
    list = ft__yaml_get(s->y, n, "values");
    ordered = ft__yaml_get(s->y, n, "ordered");
    if (list && (ft__yaml_get(s->y, n, "low") || ft__yaml_get(s->y, n, "high") ||
                 ft__yaml_get(s->y, n, "type") || ft__yaml_get(s->y, n, "log")))
        ft__yaml_fail(s->y, n, p->name, "either values, or low and high");
    if (!list && ordered)
        ft__yaml_fail(s->y, ordered, p->name, "ordered belongs to values");
    if (list)
        values(s, list, p);
    else
        range(s, n, p);
    if (list && ordered && read_flag(s->y, ordered, p->name))
        p->type = FT_PARAM_ORDINAL;
    where(s, n, p);
}

static ft_parameter *find(struct params *s, const char *name)
{
    for (size_t k = 0; k < s->n; k++)
        if (strcmp(s->v[k].name, name) == 0)
            return &s->v[k];
    return NULL;
}

/* Its index; UINT32_MAX: none. */
static uint32_t index_of(const ft_parameter *p, const char *text)
{
    double v;

    for (uint32_t i = 0; p->value && i < p->n_values; i++)
        if (strcmp(p->value[i], text) == 0)
            return i;
    if (p->type == FT_PARAM_INTEGER && ft__number_parse(text, &v) && v >= p->low &&
        v <= p->high && v == floor(v))
        return (uint32_t)(v - p->low);
    return UINT32_MAX;
}

/* Pair i of a mapping: a parameter and one or several of its values. */
static ft__among among(struct params *s, ft__node *map, size_t i, const char *what)
{
    ft__node *key = ft__yaml_key(s->y, map, i), *list = ft__yaml_value(s->y, map, i);
    const char *name = ft__yaml_text(s->y, key, what);
    uint32_t *value = ft__yaml_array(s->y, ft__yaml_count(list), sizeof(*value));
    ft_parameter *p = s->y->st ? NULL : find(s, name);
    ft__among out = {.value = value};

    if (!p) {
        ft__yaml_fail(s->y, key, what, "there is no parameter \"%s\"", name);
        return out;
    }
    out.param = (uint32_t)(p - s->v);
    for (size_t k = 0; k < ft__yaml_count(list) && !s->y->st; k++) {
        ft__node *at = ft__yaml_at(s->y, list, k);
        const char *text = ft__yaml_text(s->y, at, what);

        value[out.n] = text ? index_of(p, text) : 0;
        if (text && value[out.n++] == UINT32_MAX)
            ft__yaml_fail(s->y, at, what, "%s has no value \"%s\"", p->name, text);
    }
    return out;
}

static void conditions(struct params *s, ft__node *n, uint32_t k)
{
    ft__node *when = ft__yaml_get(s->y, n, "when");

    if (when && !ft__yaml_is(when, YAML_MAPPING_NODE))
        ft__yaml_fail(s->y, when, s->v[k].name,
                      "when: a parameter and its values are wanted: {compiler: gcc}");
    for (size_t i = 0; i < ft__yaml_pairs(when) && !s->y->st; i++)
        s->condition[s->n_conditions++] = (ft__condition){k, among(s, when, i, "when")};
}

static ft__forbidden *forbidden(struct params *s, ft__node *list)
{
    size_t n = ft__yaml_count(list);
    ft__forbidden *all;

    if (n > MAX_FORBIDDEN)
        ft__yaml_fail(s->y, list, "forbidden", "at most %d", MAX_FORBIDDEN);
    all = ft__yaml_array(s->y, n, sizeof(*all));

    for (size_t i = 0; i < n && !s->y->st; i++) {
        ft__node *map = ft__yaml_at(s->y, list, i);
        ft__among *part;

        if (!ft__yaml_is(map, YAML_MAPPING_NODE) || ft__yaml_pairs(map) == 0 ||
            ft__yaml_pairs(map) > s->n)
            ft__yaml_fail(s->y, map, "forbidden",
                          "parameters and values are wanted: {a: 1, b: [2, 3]}");
        part = ft__yaml_array(s->y, ft__yaml_pairs(map), sizeof(*part));
        all[i].part = part;
        for (size_t k = 0; k < ft__yaml_pairs(map) && !s->y->st; k++) {
            part[k] = among(s, map, k, "forbidden");
            all[i].n++;
        }
    }
    return all;
}

static bool has(const ft__names *n, const char *name)
{
    for (size_t i = 0; i < n->n; i++)
        if (strcmp(n->name[i], name) == 0)
            return true;
    return false;
}

static bool is_reserved(const char *name)
{
    static const char *const reserved[] = {"build", "workload", "foretell"};

    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        if (strcmp(reserved[i], name) == 0)
            return true;
    return false;
}

/* What stands for {name} already, so that the parameter would change nothing. */
static bool is_taken(const ft_exploration *x, const char *name)
{
    if (is_reserved(name))
        return true;
    for (size_t i = 0; i < x->n_workloads; i++)
        if (has(&x->of_workload[i], name))
            return true;
    return has(&x->constants, name);
}

static bool is_known(struct params *s, const char *name, size_t len)
{
    char text[256];

    if (len >= sizeof(text))
        return false;
    memcpy(text, name, len);
    text[len] = '\0';
    for (size_t i = 0; i < s->x->n_workloads; i++)
        if (!has(&s->x->of_workload[i], text) && !is_reserved(text) &&
            !has(&s->x->constants, text) && !find(s, text))
            return false;
    return true;
}

static void check_places(struct params *s, ft__node *at, const char *where,
                         const char *text)
{
    for (; text && *text && !s->y->st; text++) {
        size_t len = place_name(text);

        if (text[0] == '{' && text[1] == '{')
            text++;
        else if (len && !is_known(s, text + 1, len))
            ft__yaml_fail(s->y, at, where,
                          "nothing stands for {%.*s}; {{ and }} are braces", (int)len,
                          text + 1);
    }
}

static void check_all_places(struct params *s, ft__node *root)
{
    const ft__words *words[] = {&s->x->command, &s->x->build, &s->x->predict};
    static const char *const name[] = {"command", "build", "predict"};

    for (int w = 0; w < 3; w++)
        for (size_t i = 0; i < words[w]->n && !s->y->st; i++)
            check_places(s, ft__yaml_get(s->y, root, name[w]), name[w],
                         words[w]->word[i]);
    for (size_t k = 0; k < s->x->n_objectives && !s->y->st; k++)
        check_places(s, ft__yaml_get(s->y, root, "objectives"), s->x->objective[k].name,
                     s->x->objective[k].file);
    for (size_t i = 0; i < s->x->environment.n && !s->y->st; i++)
        check_places(s, ft__yaml_get(s->y, root, "environment"), "environment",
                     s->x->environment.value[i]);
}

static void each_param(struct params *s, ft__node *list)
{
    for (s->n = 0; s->n < ft__yaml_count(list) && !s->y->st; s->n++) {
        ft__node *at = ft__yaml_at(s->y, list, s->n);

        param(s, at, &s->v[s->n]);
        if (!s->y->st && is_taken(s->x, s->v[s->n].name))
            ft__yaml_fail(s->y, at, s->v[s->n].name,
                          "{%s} stands for something else already", s->v[s->n].name);
        for (size_t k = 0; k < s->n && !s->y->st; k++)
            if (strcmp(s->v[k].name, s->v[s->n].name) == 0)
                ft__yaml_fail(s->y, at, "parameters", "\"%s\" stands here twice",
                              s->v[k].name);
    }
}

void ft__read_params(ft__yaml *y, ft__node *root, ft_exploration *x)
{
    struct params s = {.y = y, .x = x};
    ft__node *list = ft__yaml_need(y, root, "", "parameters");
    ft__node *never = ft__yaml_get(y, root, "forbidden");
    size_t n = ft__yaml_count(list), n_when = 0;
    ft_error why = {0};
    ft__forbidden *all;

    if (!y->st && (!ft__yaml_is(list, YAML_SEQUENCE_NODE) || n == 0))
        ft__yaml_fail(y, list, "parameters", "a list is wanted, each \"- name: ...\"");
    if (!y->st && n > FT__MAX_PARAMS)
        ft__yaml_fail(y, list, "parameters", "at most %d", FT__MAX_PARAMS);
    s.v = ft__yaml_array(y, n, sizeof(*s.v));
    if (y->st)
        return;
    each_param(&s, list);
    for (size_t k = 0; k < n && !y->st; k++)
        n_when += ft__yaml_pairs(ft__yaml_get(y, ft__yaml_at(y, list, k), "when"));
    s.condition = ft__yaml_array(y, n_when, sizeof(*s.condition));
    for (uint32_t k = 0; k < n && !y->st; k++)
        conditions(&s, ft__yaml_at(y, list, k), k);
    check_all_places(&s, root);
    all = forbidden(&s, never);
    if (!y->st && ft__space_new(&x->space, y->arena, s.v, n, s.condition,
                                s.n_conditions, all, ft__yaml_count(never), &why))
        ft__yaml_fail(y, list, "parameters", "%s", why.msg);
}
