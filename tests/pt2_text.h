/* Graphs of torch.export from short text, for tests:
 *
 *   tensors   "x=2x3 w+=4x3 i=2x3:5 n=s0x3"   + a parameter, - a buffer; :dtype;
 *             a size that is a name is a symbol, "{...}" any expression
 *   nodes     "aten.linear.default input=x weight=w bias=none -> y" one a line; a
 *             value is a name, 1, 1.5, true, (1,2), [x,y], {T,F}, "text", none
 *   results   names
 */
#ifndef PT2_TEXT_H
#define PT2_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { PT2_TEXT = 1 << 16 };

typedef struct pt2_text {
    char s[PT2_TEXT];
    size_t n;
} pt2_text;

__attribute__((format(printf, 2, 3))) static inline void put(pt2_text *t,
                                                             const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, fmt, ap);
    va_end(ap);
    CHECK(CMP(n, >=, 0) && CMP((size_t)n, <, sizeof(t->s) - t->n));
    if (n >= 0 && (size_t)n < sizeof(t->s) - t->n)
        t->n += (size_t)n;
}

static inline const char *comma(const pt2_text *t)
{
    return t->n && strchr("[{", t->s[t->n - 1]) ? "" : ", ";
}

/* The next word of *s up to one of `ends`; its length. */
static inline int word_of(const char **s, const char *ends, const char **word)
{
    int depth = 0;

    *s += strspn(*s, " ");
    *word = *s;
    for (; **s && (depth || !strchr(ends, **s)); ++*s)
        depth += (**s == '{') - (**s == '}');
    return (int)(*s - *word);
}

static inline void put_value(pt2_text *t, const char *v, int n);

static inline void put_list(pt2_text *t, const char *v, int n, const char *tag,
                            int named)
{
    const char *s = v + 1, *end = v + n - 1, *w;

    put(t, "{\"%s\": [", tag);
    while (s < end) {
        int len = word_of(&s, ",)]}", &w);

        if (named)
            put(t, "%s{\"name\": \"%.*s\"}", comma(t), len, w);
        else if (*w == 'T' || *w == 'F')
            put(t, "%s%s", comma(t), *w == 'T' ? "true" : "false");
        else
            put(t, "%s%.*s", comma(t), len, w);
        s++;
    }
    put(t, "]}");
}

static inline void put_value(pt2_text *t, const char *v, int n)
{
    if (n == 4 && memcmp(v, "none", 4) == 0)
        put(t, "{\"as_none\": true}");
    else if ((n == 4 && memcmp(v, "true", 4) == 0) ||
             (n == 5 && memcmp(v, "false", 5) == 0))
        put(t, "{\"as_bool\": %.*s}", n, v);
    else if (*v == '(')
        put_list(t, v, n, "as_ints", 0);
    else if (*v == '{')
        put_list(t, v, n, "as_bools", 0);
    else if (*v == '[')
        put_list(t, v, n, "as_tensors", 1);
    else if (*v == '"')
        put(t, "{\"as_string\": %.*s}", n, v);
    else if ((*v >= '0' && *v <= '9') || *v == '-')
        put(t, "{\"as_%s\": %.*s}", memchr(v, '.', (size_t)n) ? "float" : "int", n, v);
    else
        put(t, "{\"as_tensor\": {\"name\": \"%.*s\"}}", n, v);
}

static inline void put_names(pt2_text *t, const char *names)
{
    const char *w;
    int n;

    put(t, "[");
    while ((n = word_of(&names, " ,\n", &w)) > 0) {
        put(t, "%s", comma(t));
        put_value(t, w, n);
    }
    put(t, "]");
}

static inline void put_node(pt2_text *t, const char **s)
{
    const char *w, *line = *s + strcspn(*s, "\n");
    int n = word_of(s, " ", &w);
    char names[256];

    put(t, "%s{\"target\": \"torch.ops.%.*s\", \"inputs\": [", comma(t), n, w);
    while ((n = word_of(s, "= ", &w)) > 0 && memcmp(w, "->", 2) != 0) {
        put(t, "%s{\"name\": \"%.*s\", \"arg\": ", comma(t), n, w);
        ++*s;
        n = word_of(s, **s == '"' ? " \n" : " ", &w);
        put_value(t, w, n);
        put(t, ", \"kind\": 1}");
    }
    CHECK(CMP(line, >, *s) && CMP((size_t)(line - *s), <, sizeof(names)));
    snprintf(names, sizeof(names), "%.*s", (int)(line - *s), *s);
    put(t, "], \"outputs\": ");
    put_names(t, names);
    put(t, ", \"metadata\": {}}");
    *s = *line ? line + 1 : line;
}

static inline void put_sizes(pt2_text *t, const char *s, int n)
{
    const char *end = s + n, *w;

    put(t, "\"sizes\": [");
    while (s < end) {
        int len = word_of(&s, "x:", &w);

        if (s > end)
            len -= (int)(s - end);
        if (*w == '{')
            put(t, "%s{\"as_expr\": {\"expr_str\": \"%.*s\", \"hint\": null}}",
                comma(t), len - 2, w + 1);
        else if ((*w >= '0' && *w <= '9') || *w == '-')
            put(t, "%s{\"as_int\": %.*s}", comma(t), len, w);
        else
            put(t,
                "%s{\"as_expr\": {\"expr_str\": \"Symbol('%.*s', integer=True)\", "
                "\"hint\": {\"as_int\": 2}}}",
                comma(t), len, w);
        if (*s == ':')
            break;
        s++;
    }
    put(t, "]");
}

/* what 0: descriptions, 1: names of inputs, 2: their specs. */
static inline void put_tensors(pt2_text *t, const char *s, int what)
{
    const char *w, *name;
    int n, len;

    while ((n = word_of(&s, "=", &name)) > 0) {
        char kind = name[n - 1];
        int dtype = 7, made = kind == '*';

        if (strchr("+-*", kind))
            n--;
        s++;
        len = word_of(&s, " \n", &w);
        if (memchr(w, ':', (size_t)len))
            sscanf((const char *)memchr(w, ':', (size_t)len) + 1, "%d", &dtype);
        if (what == 0) {
            put(t, "%s\"%.*s\": {\"dtype\": %d, ", comma(t), n, name, dtype);
            put_sizes(t, w, len == 1 && *w == '.' ? 0 : len);
            put(t, "}");
        } else if (what == 1 && !made) {
            put(t, "%s{\"as_tensor\": {\"name\": \"%.*s\"}}", comma(t), n, name);
        } else if (what == 2 && kind == '+') {
            put(t,
                "%s{\"parameter\": {\"arg\": {\"name\": \"%.*s\"}, \"parameter_name\": "
                "\"%.*s\"}}",
                comma(t), n, name, n, name);
        } else if (what == 2 && kind == '-') {
            put(t,
                "%s{\"buffer\": {\"arg\": {\"name\": \"%.*s\"}, \"buffer_name\": "
                "\"%.*s\", \"persistent\": true}}",
                comma(t), n, name, n, name);
        } else if (what == 2 && !made) {
            put(t,
                "%s{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"%.*s\"}}}}",
                comma(t), n, name);
        }
    }
}

/* Tensors marked * are made by nodes; `outputs` is JSON of the output specs where
 * it begins with [, else names. */
static inline void make_pt2_text(pt2_text *t, const char *tensors, const char *nodes,
                                 const char *outputs, const char *ranges)
{
    t->n = 0;
    put(t, "{\"graph_module\": {\"graph\": {\"inputs\": [");
    put_tensors(t, tensors, 1);
    put(t, "], \"outputs\": ");
    put_names(t, *outputs == '[' ? "" : outputs);
    put(t, ", \"nodes\": [");
    while (*nodes)
        put_node(t, &nodes);
    put(t, "], \"tensor_values\": {");
    put_tensors(t, tensors, 0);
    put(t, "}, \"sym_int_values\": {}}, \"signature\": {\"input_specs\": [");
    put_tensors(t, tensors, 2);
    put(t, "], \"output_specs\": ");
    if (*outputs == '[') {
        put(t, "%s", outputs);
    } else {
        const char *w;
        int n;

        put(t, "[");
        while ((n = word_of(&outputs, " ", &w)) > 0)
            put(t,
                "%s{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"%.*s\"}}}}",
                comma(t), n, w);
        put(t, "]");
    }
    put(t,
        "}}, \"range_constraints\": %s, \"schema_version\": {\"major\": 8, "
        "\"minor\": 20}}",
        ranges ? ranges : "{}");
}

#endif
