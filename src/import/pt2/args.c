/* Arguments of a node, read when a rule asks for them. */
#include <string.h>

#include "base/limits.h"
#include "import/pt2/pt2.h"

const ft__pt2_arg *ft__pt2_arg_of(const ft__pt2_node *n, const char *name)
{
    size_t len = strlen(name);

    for (uint32_t i = 0; i < n->n_args; i++)
        if (ft__text_is(n->arg[i].name, name, len))
            return &n->arg[i];
    return NULL;
}

static ft__pt2_value *tensor_of(const ft__pt2_arg *a)
{
    return a && a->type == FT__PT2_TENSOR && a->n ? a->value[0] : NULL;
}

ft__pt2_value *ft__pt2_tensor(const ft__pt2_node *n, const char *name)
{
    return tensor_of(ft__pt2_arg_of(n, name));
}

ft__pt2_value *ft__pt2_in(const ft__pt2_node *n, uint32_t i)
{
    return tensor_of(ft__pt2_arg_at(n, i));
}

/* The number behind a symbolic one. */
static int64_t number_of(ft__pt2 *p, const ft__pt2_value *v, int64_t fallback)
{
    ft__pt2_symbol *open;
    bool data;
    int64_t x = ft__pt2_value_of(p, v->number, &data, &open);

    return x < 0 ? fallback : x;
}

/* {"as_int": 3} or {"as_name": "sym_size_int"}, or just 3. */
static int64_t read_number(ft__pt2 *p, ft__json *r, int64_t fallback)
{
    int64_t v = fallback;
    ft__text name, text;

    if (ft__json_peek(r) == '0') {
        ft__json_int(r, &v);
        return v;
    }
    if (!ft__json_object(r)) {
        ft__json_skip(r, NULL);
        return v;
    }
    while (ft__json_member(r, &name)) {
        if (FT__IS(name, "as_int") && ft__json_peek(r) == '0')
            ft__json_int(r, &v);
        else if (FT__IS(name, "as_name") && ft__json_peek(r) == '"' &&
                 ft__json_string(r, &text)) {
            ft__pt2_value *named = ft__pt2_name(p, text);

            v = named ? number_of(p, named, fallback) : fallback;
        } else
            ft__json_skip(r, NULL);
    }
    return v;
}

int64_t ft__pt2_int(const ft__pt2_node *n, const char *name, int64_t fallback)
{
    const ft__pt2_arg *a = ft__pt2_arg_of(n, name);
    ft__json r;

    if (!a)
        return fallback;
    if (a->type == FT__PT2_BOOL)
        return ft__pt2_bool(n, name, fallback != 0);
    if (a->type != FT__PT2_INT && a->type != FT__PT2_SYM && a->type != FT__PT2_DTYPE &&
        a->type != FT__PT2_MEMORY)
        return fallback;
    r = ft__json_open(&n->import->doc, a->text);
    return read_number(n->import, &r, fallback);
}

bool ft__pt2_bool(const ft__pt2_node *n, const char *name, bool fallback)
{
    const ft__pt2_arg *a = ft__pt2_arg_of(n, name);
    ft__json r;
    bool v = fallback;

    if (a && a->type == FT__PT2_BOOL) {
        r = ft__json_open(&n->import->doc, a->text);
        ft__json_bool(&r, &v);
    }
    return v;
}

double ft__pt2_float(const ft__pt2_node *n, const char *name, double fallback)
{
    const ft__pt2_arg *a = ft__pt2_arg_of(n, name);
    ft__json r;
    double v = fallback;

    if (a && (a->type == FT__PT2_FLOAT || a->type == FT__PT2_INT)) {
        r = ft__json_open(&n->import->doc, a->text);
        if (ft__json_peek(&r) != '"') /* "Infinity" in files of some versions */
            ft__json_number(&r, &v);
    }
    return v;
}

ft__text ft__pt2_string(const ft__pt2_node *n, const char *name)
{
    const ft__pt2_arg *a = ft__pt2_arg_of(n, name);

    if (!a || a->type != FT__PT2_STRING || a->text.n < 2 || a->text.s[0] != '"')
        return (ft__text){"", 0};
    return (ft__text){a->text.s + 1, a->text.n - 2};
}

int64_t ft__pt2_ints(const ft__pt2_node *n, const char *name, int64_t *v, uint32_t max)
{
    const ft__pt2_arg *a = ft__pt2_arg_of(n, name);
    int64_t count = 0;
    ft__json r;

    if (!a)
        return -1;
    if (a->type == FT__PT2_INT || a->type == FT__PT2_SYM) {
        if (max)
            v[0] = ft__pt2_int(n, name, 0);
        return 1;
    }
    if (a->type != FT__PT2_INTS && a->type != FT__PT2_SYMS)
        return -1;
    r = ft__json_open(&n->import->doc, a->text);
    if (!ft__json_array(&r))
        return -1;
    while (ft__json_element(&r)) {
        int64_t x = read_number(n->import, &r, 0);

        if (count < (int64_t)max)
            v[count] = x;
        count++;
    }
    return count;
}

uint32_t ft__pt2_mask(const ft__pt2_node *n, const char *name, uint32_t fallback)
{
    const ft__pt2_arg *a = ft__pt2_arg_of(n, name);
    uint32_t bits = 0, i = 0;
    ft__json r;

    if (!a || a->type != FT__PT2_BOOLS)
        return fallback;
    r = ft__json_open(&n->import->doc, a->text);
    if (!ft__json_array(&r))
        return fallback;
    for (; ft__json_element(&r); i++) {
        bool v = false;

        ft__json_bool(&r, &v);
        if (i < 32)
            bits |= (uint32_t)v << i;
    }
    return bits;
}
