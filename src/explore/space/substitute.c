/* What stands for {name}, and points as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/number.h"
#include "explore/exploration.h"
#include "explore/exploration_inside.h"
#include "explore/explore_inside.h"

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

/* ---- {name} ---- */

size_t ft__place_name(const char *text)
{
    size_t n = *text == '{' ? strcspn(text + 1, "{} ") : 0;

    return n && text[n + 1] == '}' ? n : 0;
}

bool ft__place_occurs(const char *text, const char *name)
{
    for (; (text = strchr(text, '{')); text += text[1] == '{' ? 2 : 1)
        if (text[1] != '{' && ft__place_name(text) == strlen(name) &&
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
        size_t len = ft__place_name(text);

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

/* ---- points as text ---- */

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

    if (p->type == FT_PARAM_CATEGORICAL || p->type == FT_PARAM_ORDINAL) {
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
