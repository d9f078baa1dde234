/* Small ONNX files written from text, so that a test shows its model:
 *
 *   opset 13
 *   in    NAME DTYPE DIMS               dims: 2,3,batch,?  (- : a scalar)
 *   const NAME DTYPE DIMS [v,v,...]     without values the payload is external
 *   node  [DOMAIN/]OP A,B,- OUT,OUT [name=1,2 | name~0.5,2 | name:text | name@CONST]...
 *   info  NAME DTYPE DIMS               value_info
 *   out   NAME
 *
 * name@CONST makes the tensor of a const line, which must stand before it, an
 * attribute. `begin ATTR` ... `end` encloses a subgraph; the next node takes it. */
#ifndef ONNX_TEXT_H
#define ONNX_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/op.h"

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
    ft_dtype t = ft_dtype_from_name(name, strlen(name));

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

/* ValueInfoProto */
static void put_value(struct message *g, uint32_t field, char **word)
{
    static struct message shape, tensor, type, value;
    char *list = word[2], *d;

    shape.n = tensor.n = type.n = value.n = 0;
    if (word[1]) {
        while (strcmp(list, "-") != 0 && (d = next_item(&list)) != NULL) {
            struct message dim;

            dim.n = 0;
            if (strspn(d, "-0123456789") == strlen(d))
                put_number(&dim, 1, atoll(d));
            else if (*d != '?')
                put_text(&dim, 2, d);
            put_message(&shape, 1, &dim);
        }
        put_number(&tensor, 1, dtype_number(word[1]));
        put_message(&tensor, 2, &shape);
        put_message(&type, 1, &tensor);
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
    char *value = text + strcspn(text, "=~:@"), kind = *value, *item;

    a.n = 0;
    *value++ = '\0';
    put_text(&a, 1, text);
    if (kind == ':')
        put_text(&a, 4, value);
    else if (kind == '@')
        put_message(&a, 5, constant);
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

static void put_node(struct message *g, char **word, const struct message *constant,
                     struct message *subgraphs)
{
    static struct message node;
    char *list, *item, *op = strchr(word[0], '/');

    node.n = 0;
    for (list = word[1]; (item = next_item(&list)) != NULL;)
        put_text(&node, 1, strcmp(item, "-") == 0 ? "" : item);
    list = word[2];
    put_text(&node, 3, list);
    while ((item = next_item(&list)) != NULL)
        put_text(&node, 2, strcmp(item, "-") == 0 ? "" : item);
    put_text(&node, 4, op ? op + 1 : word[0]);
    if (op) {
        *op = '\0';
        put_text(&node, 7, word[0]);
    }
    for (int i = 3; word[i]; i++)
        put_attribute(&node, word[i], constant);
    if (subgraphs) {
        memcpy(node.b + node.n, subgraphs->b, subgraphs->n);
        node.n += subgraphs->n;
        subgraphs->n = 0;
    }
    put_message(g, 1, &node);
}

/* One line of the text into graph g. */
static void put_line(struct message *g, char *line, int64_t *opset,
                     struct message *constant, struct message *subgraphs)
{
    char *word[16] = {NULL}, *save = NULL;
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
        put_node(g, word + 1, constant, subgraphs);
    }
}

/* A ModelProto; the bytes are the caller's to free(). */
static uint8_t *onnx_from_text(const char *text, size_t *len)
{
    static struct message graph, inner, model, constant, subgraphs;
    struct message *g = &graph, *attribute;
    char *copy = strdup(text), *save = NULL, name[64] = "";
    int64_t opset = 17;
    uint8_t *out;

    graph.n = inner.n = model.n = constant.n = subgraphs.n = 0;
    for (char *line = strtok_r(copy, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (sscanf(line, " begin %63s", name) == 1) {
            g = &inner;
            inner.n = 0;
        } else if (strstr(line, "end") && g == &inner && strlen(line) < 8) {
            attribute = calloc(1, sizeof(*attribute));
            put_text(attribute, 1, name);
            put_message(attribute, 6, &inner);
            put_message(&subgraphs, 5, attribute);
            free(attribute);
            g = &graph;
        } else {
            put_line(g, line, &opset, &constant, g == &graph ? &subgraphs : NULL);
        }
    }
    free(copy);
    put_number(&model, 1, 8);
    put_message(&model, 7, &graph);
    constant.n = 0;
    put_number(&constant, 2, opset);
    put_message(&model, 8, &constant);
    *len = model.n;
    out = malloc(model.n);
    if (out)
        memcpy(out, model.b, model.n);
    return out;
}

#endif
