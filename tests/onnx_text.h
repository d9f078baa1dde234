/* Small ONNX files written from text, so that a test shows its model:
 *
 *   opset 13
 *   in    NAME DTYPE DIMS               dims: 2,3,batch,?  (- : a scalar, * : none
 *                                       stated); also seq(DTYPE), opt(DTYPE),
 *                                       opt(seq(DTYPE))
 *   const NAME DTYPE DIMS [v,v,...]     without values the payload is external
 *   node  OP A,B,- OUT,OUT [name=1,2 | name~0.5,2 | name:text | name^a,b |
 *                           name@CONST]...          OP of a domain: DOMAIN.OP
 *   info  NAME DTYPE DIMS               value_info
 *   out   NAME
 *
 * name@CONST makes the tensor of a const line, which must stand before it, an
 * attribute. `begin ATTR` ... `end` encloses a subgraph; the next node takes it.
 * `function NAME A,B X,Y` ... `end` writes a function of the domain "own", which
 * the node own.NAME calls. */
#ifndef ONNX_TEXT_H
#define ONNX_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/op.h"
#include "graph/op_inside.h"

struct message {
    uint8_t b[1 << 15];
    size_t n;
};

static void put_varint(struct message *m, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        m->b[m->n++] = (uint8_t)(v | 0x80);
    m->b[m->n++] = (uint8_t)v;
}

static void put_number(struct message *m, uint32_t field, int64_t v)
{
    put_varint(m, field << 3);
    put_varint(m, (uint64_t)v);
}

static void put_bytes(struct message *m, uint32_t field, const void *p, size_t n)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, n);
    memcpy(m->b + m->n, p, n);
    m->n += n;
}

static void put_text(struct message *m, uint32_t field, const char *s)
{
    put_bytes(m, field, s, strlen(s));
}

static void put_message(struct message *m, uint32_t field, const struct message *sub)
{
    put_bytes(m, field, sub->b, sub->n);
}

static int64_t dtype_number(const char *name)
{
    ft_dtype t = ft__dtype_from_name(name, strlen(name));

    for (int64_t i = 1; i < 30; i++)
        if (ft_dtype_from_onnx(i) == t)
            return i;
    return 0;
}

static char *next_item(char **list)
{
    char *item = *list, *comma = strchr(item, ',');

    if (!*item)
        return NULL;
    *list = comma ? comma + 1 : item + strlen(item);
    if (comma)
        *comma = '\0';
    return item;
}

/* A type in a sequence (4) or an optional (9). */
static void wrap_type(struct message *type, uint32_t field)
{
    static struct message inner;

    inner.n = 0;
    put_message(&inner, 1, type);
    type->n = 0;
    put_message(type, field, &inner);
}

/* ValueInfoProto */
static void put_value(struct message *g, uint32_t field, char **word)
{
    static struct message shape, tensor, type, value;
    char *list = word[2], *d, *name = word[1];
    int optional = name && strncmp(name, "opt(", 4) == 0;
    int sequence = name && strncmp(name += 4 * optional, "seq(", 4) == 0;

    shape.n = tensor.n = type.n = value.n = 0;
    if (name) {
        name += 4 * sequence;
        name[strcspn(name, ")")] = '\0';
        while (strcmp(list, "-") != 0 && strcmp(list, "*") != 0 &&
               (d = next_item(&list)) != NULL) {
            struct message dim;

            dim.n = 0;
            if (strspn(d, "-0123456789") == strlen(d))
                put_number(&dim, 1, atoll(d));
            else if (*d != '?')
                put_text(&dim, 2, d);
            put_message(&shape, 1, &dim);
        }
        put_number(&tensor, 1, dtype_number(name));
        if (strcmp(list, "*") != 0)
            put_message(&tensor, 2, &shape);
        put_message(&type, 1, &tensor);
        if (sequence)
            wrap_type(&type, 4);
        if (optional)
            wrap_type(&type, 9);
        put_message(&value, 2, &type);
    }
    put_text(&value, 1, word[0]);
    put_message(g, field, &value);
}

/* TensorProto of a const line. */
static void put_tensor(struct message *t, char **word)
{
    char *list = word[2], *d;

    t->n = 0;
    while (strcmp(list, "-") != 0 && (d = next_item(&list)) != NULL)
        put_number(t, 1, atoll(d));
    put_number(t, 2, dtype_number(word[1]));
    put_text(t, 8, word[0]);
    if (!word[3]) {
        put_number(t, 14, 1);
        return;
    }
    list = word[3];
    while ((d = next_item(&list)) != NULL) {
        if (strcmp(word[1], "fp32") == 0) {
            float f = strtof(d, NULL);

            put_varint(t, 4 << 3 | 5);
            memcpy(t->b + t->n, &f, 4);
            t->n += 4;
        } else {
            put_number(t, strcmp(word[1], "int64") == 0 ? 7 : 5, atoll(d));
        }
    }
}

static void put_attribute(struct message *node, char *text,
                          const struct message *constant)
{
    static struct message a;
    char *value = text + strcspn(text, "=~:^@"), kind = *value, *item;

    a.n = 0;
    *value++ = '\0';
    put_text(&a, 1, text);
    if (kind == ':')
        put_text(&a, 4, value);
    else if (kind == '@')
        put_message(&a, 5, constant);
    while (kind == '^' && (item = next_item(&value)) != NULL)
        put_text(&a, 9, item);
    if (kind == '=') {
        put_number(&a, 3, atoll(value));
        while ((item = next_item(&value)) != NULL)
            put_number(&a, 8, atoll(item));
    } else if (kind == '~') {
        for (int first = 1; (item = next_item(&value)) != NULL; first = 0) {
            float f = strtof(item, NULL);

            for (uint32_t field = first ? 2 : 7; field <= 7; field += 5) {
                put_varint(&a, field << 3 | 5);
                memcpy(a.b + a.n, &f, 4);
                a.n += 4;
            }
        }
    }
    put_message(node, 5, &a);
}

static void put_node(struct message *g, uint32_t field, char **word,
                     const struct message *constant, struct message *subgraphs)
{
    static struct message node;
    char *list, *item, *dot = strrchr(word[0], '.');

    node.n = 0;
    for (list = word[1]; (item = next_item(&list)) != NULL;)
        put_text(&node, 1, strcmp(item, "-") == 0 ? "" : item);
    list = word[2];
    put_text(&node, 3, list);
    while ((item = next_item(&list)) != NULL)
        put_text(&node, 2, strcmp(item, "-") == 0 ? "" : item);
    put_text(&node, 4, dot ? dot + 1 : word[0]);
    if (dot) {
        *dot = '\0';
        put_text(&node, 7, word[0]);
    }
    for (int i = 3; word[i]; i++)
        put_attribute(&node, word[i], constant);
    if (subgraphs->n) {
        memcpy(node.b + node.n, subgraphs->b, subgraphs->n);
        node.n += subgraphs->n;
        subgraphs->n = 0;
    }
    put_message(g, field, &node);
}

/* Graphs and functions within each other, of each what its next node will take. */
struct level {
    struct message g;
    struct message subgraphs;
    char name[64];
    int function;
};

/* One line of the text into a graph. */
static void put_line(struct level *level, char *line, int64_t *opset,
                     struct message *constant)
{
    char *word[16] = {NULL}, *save = NULL;
    struct message *g = &level->g;
    size_t n = 0;

    for (char *w = strtok_r(line, " ", &save); w && n < 15;
         w = strtok_r(NULL, " ", &save))
        word[n++] = w;
    if (n == 0)
        return;
    if (strcmp(word[0], "opset") == 0) {
        *opset = atoll(word[1]);
    } else if (strcmp(word[0], "in") == 0) {
        put_value(g, 11, word + 1);
    } else if (strcmp(word[0], "info") == 0) {
        put_value(g, 13, word + 1);
    } else if (strcmp(word[0], "out") == 0) {
        put_value(g, 12, word + 1);
    } else if (strcmp(word[0], "const") == 0) {
        put_tensor(constant, word + 1);
        put_message(g, 5, constant);
    } else {
        put_node(g, level->function ? 7 : 1, word + 1, constant, &level->subgraphs);
    }
}

/* function NAME A,B X,Y */
static void begin_function(struct level *f, char *line)
{
    char *save = NULL, *item, *list;

    f->function = 1;
    (void)strtok_r(line, " ", &save);
    put_text(&f->g, 1, strtok_r(NULL, " ", &save));
    put_text(&f->g, 10, "own");
    for (uint32_t field = 4; field <= 5; field++)
        for (list = strtok_r(NULL, " ", &save); (item = next_item(&list)) != NULL;)
            put_text(&f->g, field, item);
}

static void end_level(struct level *level, struct message *functions)
{
    static struct message attribute;

    attribute.n = 0;
    if (level->function) {
        put_message(functions, 25, &level->g);
        return;
    }
    put_text(&attribute, 1, level->name);
    put_message(&attribute, 6, &level->g);
    put_message(&level[-1].subgraphs, 5, &attribute);
}

/* A ModelProto; the bytes are the caller's to free(). */
static uint8_t *onnx_from_text(const char *text, size_t *len)
{
    static struct level levels[6];
    static struct message model, constant, functions;
    struct level *level = levels;
    char *copy = strdup(text), *save = NULL, name[64] = "";
    int64_t opset = 17;
    uint8_t *out;

    level->g.n = level->subgraphs.n = model.n = constant.n = functions.n = 0;
    for (char *line = strtok_r(copy, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        int begins = sscanf(line, " begin %63s", name) == 1;

        if (begins || strncmp(line, "function ", 9) == 0) {
            level++;
            level->g.n = level->subgraphs.n = 0;
            level->function = 0;
            memcpy(level->name, name, sizeof(name));
            if (!begins)
                begin_function(level, line);
        } else if (strstr(line, "end") && level > levels && strlen(line) < 8) {
            end_level(level, &functions);
            level--;
        } else {
            put_line(level, line, &opset, &constant);
        }
    }
    free(copy);
    put_number(&model, 1, 8);
    put_message(&model, 7, &levels->g);
    constant.n = 0;
    put_number(&constant, 2, opset);
    put_message(&model, 8, &constant);
    memcpy(model.b + model.n, functions.b, functions.n);
    model.n += functions.n;
    *len = model.n;
    out = malloc(model.n);
    if (out)
        memcpy(out, model.b, model.n);
    return out;
}

#endif
