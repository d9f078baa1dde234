/* What a YAML document holds, with a line for every complaint. */
#include "explore/space/yaml.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

bool ft__yaml_parse(ft__yaml *y, const char *text, size_t len)
{
    yaml_parser_t p;
    bool good;

    if (!yaml_parser_initialize(&p)) {
        y->st = ft_fail(y->err, FT_ENOMEM, 0, "%s", y->file);
        return false;
    }
    yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
    good = yaml_parser_load(&p, &y->doc) != 0;
    if (!good && p.error == YAML_MEMORY_ERROR)
        y->st = ft_fail(y->err, FT_ENOMEM, 0, "%s", y->file);
    else if (!good)
        y->st = ft_fail(y->err, FT_EFORMAT, p.problem_mark.index,
                        "%s:%zu: this is not YAML: %s", y->file,
                        p.problem_mark.line + 1, p.problem ? p.problem : "damaged");
    yaml_parser_delete(&p);
    return good;
}

void ft__yaml_fail(ft__yaml *y, ft__node *at, const char *where, const char *fmt, ...)
{
    char what[512];
    va_list ap;

    if (y->st)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    y->st = ft_fail(y->err, FT_EFORMAT, at ? at->start_mark.index : 0, "%s:%zu: %s%s%s",
                    y->file, at ? at->start_mark.line + 1 : 1, where,
                    *where ? ": " : "", what);
}

void *ft__yaml_array(ft__yaml *y, size_t n, size_t size)
{
    void *p = y->st ? NULL : ft__arena_array(y->arena, n + 1, size);

    if (!p && !y->st)
        y->st = ft_fail(y->err, FT_ENOMEM, 0, "%s", y->file);
    return p;
}

static bool equals(ft__node *n, const char *text)
{
    size_t len = strlen(text);

    return ft__yaml_is(n, YAML_SCALAR_NODE) && n->data.scalar.length == len &&
           memcmp(n->data.scalar.value, text, len) == 0;
}

ft__node *ft__yaml_get(ft__yaml *y, ft__node *map, const char *key)
{
    for (size_t i = 0; i < ft__yaml_pairs(map) && !y->st; i++)
        if (equals(ft__yaml_key(y, map, i), key))
            return ft__yaml_value(y, map, i);
    return NULL;
}

ft__node *ft__yaml_need(ft__yaml *y, ft__node *map, const char *where, const char *key)
{
    ft__node *n = ft__yaml_get(y, map, key);

    if (!n)
        ft__yaml_fail(y, map, where, "\"%s:\" is missing", key);
    return n;
}

/* "name, values, low" */
static void list_keys(char *out, size_t size, const char *const *keys)
{
    size_t len = 0;

    *out = '\0';
    for (; *keys && len < size; keys++)
        len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "", *keys);
}

bool ft__yaml_keys(ft__yaml *y, ft__node *map, const char *where,
                   const char *const *keys)
{
    char known[256];

    if (y->st)
        return false;
    list_keys(known, sizeof(known), keys);
    if (!ft__yaml_is(map, YAML_MAPPING_NODE)) {
        ft__yaml_fail(y, map, where, "here stand keys and values (%s)", known);
        return false;
    }
    for (size_t i = 0; i < ft__yaml_pairs(map); i++) {
        ft__node *key = ft__yaml_key(y, map, i);
        const char *const *k = keys;
        const char *text = ft__yaml_text(y, key, where);

        while (*k && !equals(key, *k))
            k++;
        if (!*k && text)
            ft__yaml_fail(y, key, where, "there is no key \"%s\"; known are %s", text,
                          known);
        for (size_t j = 0; j < i && text; j++)
            if (equals(ft__yaml_key(y, map, j), text))
                ft__yaml_fail(y, key, where, "\"%s\" stands here twice", text);
    }
    return !y->st;
}

const char *ft__yaml_text(ft__yaml *y, ft__node *n, const char *where)
{
    char *text;

    if (y->st)
        return NULL;
    if (!ft__yaml_is(n, YAML_SCALAR_NODE)) {
        ft__yaml_fail(y, n, where, "a text or a number is wanted here");
        return NULL;
    }
    if (memchr(n->data.scalar.value, 0, n->data.scalar.length)) {
        ft__yaml_fail(y, n, where, "a text may not hold a zero byte");
        return NULL;
    }
    text = ft__arena_strndup(y->arena, (const char *)n->data.scalar.value,
                             n->data.scalar.length);
    if (!text)
        y->st = ft_fail(y->err, FT_ENOMEM, 0, "%s", y->file);
    return text;
}

double ft__yaml_number(ft__yaml *y, ft__node *n, const char *where)
{
    const char *text = ft__yaml_text(y, n, where);
    double v = NAN;

    if (text && !ft__number_parse(text, &v))
        ft__yaml_fail(y, n, where, "a number is wanted, not \"%s\"", text);
    return v;
}

static bool is_name(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_-.") == strlen(text);
}

const char *ft__yaml_name(ft__yaml *y, ft__node *n, const char *where)
{
    const char *text = ft__yaml_text(y, n, where);

    if (text && !is_name(text))
        ft__yaml_fail(
            y, n, where,
            "a name has letters, digits, '_', '-' and '.' only, unlike \"%s\"", text);
    return text;
}
