/* ONNX models, written field by field (numbers: onnx.proto). */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"
#include "random.h"

enum {
    MODEL_IR_VERSION = 1,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    OPSET_DOMAIN = 1,
    OPSET_VERSION = 2,
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_OP_TYPE = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOMAIN = 7,
    ATTR_NAME = 1,
    ATTR_F = 2,
    ATTR_I = 3,
    ATTR_S = 4,
    ATTR_INTS = 8,
    ATTR_TYPE = 20,
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    TYPE_TENSOR = 1,
    TYPE_ELEMENT = 1,
    TYPE_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
};
enum { ATTR_IS_FLOAT = 1, ATTR_IS_INT = 2, ATTR_IS_STRING = 3, ATTR_IS_INTS = 7 };
enum { IR_VERSION = 10 };

static void add_attribute(ft__model *m, ft__pb *a, const char *name, int64_t type)
{
    ft__pb_text(a, ATTR_NAME, name);
    ft__pb_int(a, ATTR_TYPE, type);
    ft__pb_message_take(&m->attributes, NODE_ATTRIBUTE, a);
}

void ft__attr_int(ft__model *m, const char *name, int64_t value)
{
    ft__pb a = {0};

    ft__pb_int(&a, ATTR_I, value);
    add_attribute(m, &a, name, ATTR_IS_INT);
}

void ft__attr_ints(ft__model *m, const char *name, const int64_t *values, uint32_t n)
{
    ft__pb a = {0};

    for (uint32_t i = 0; i < n; i++)
        ft__pb_int(&a, ATTR_INTS, values[i]);
    add_attribute(m, &a, name, ATTR_IS_INTS);
}

void ft__attr_float(ft__model *m, const char *name, float value)
{
    ft__pb a = {0};

    ft__pb_float(&a, ATTR_F, value);
    add_attribute(m, &a, name, ATTR_IS_FLOAT);
}

void ft__attr_text(ft__model *m, const char *name, const char *value)
{
    ft__pb a = {0};

    ft__pb_text(&a, ATTR_S, value);
    add_attribute(m, &a, name, ATTR_IS_STRING);
}

static void add_names(ft__pb *node, uint32_t field, const char *names)
{
    while (*names) {
        size_t len = strcspn(names, " ");

        ft__pb_bytes(node, field, names, len == 1 && *names == '-' ? 0 : len);
        names += len + (names[len] == ' ');
    }
}

void ft__node(ft__model *m, const char *type, const char *inputs, const char *outputs)
{
    const char *colon = strchr(type, ':');
    ft__pb node = {0};

    add_names(&node, NODE_INPUT, inputs);
    add_names(&node, NODE_OUTPUT, outputs);
    ft__pb_text(&node, NODE_OP_TYPE, colon ? colon + 1 : type);
    if (colon)
        ft__pb_bytes(&node, NODE_DOMAIN, type, (size_t)(colon - type));
    ft__pb_raw(&node, m->attributes.s, m->attributes.len);
    node.bad = node.bad || m->attributes.bad;
    ft__pb_free(&m->attributes);
    ft__pb_message_take(&m->graph, GRAPH_NODE, &node);
}

void *ft__const_raw(ft__model *m, const char *name, ft_dtype t, const ft_shape *s)
{
    ft__pb head = {0};
    uint64_t bytes = (uint64_t)ft_tensor_bytes(s, t);

    for (uint32_t i = 0; i < s->rank; i++)
        ft__pb_int(&head, TENSOR_DIMS, s->dim[i]);
    ft__pb_int(&head, TENSOR_TYPE, ft__ort_number(t));
    ft__pb_text(&head, TENSOR_NAME, name);
    ft__pb_head(&head, TENSOR_RAW, bytes);
    ft__pb_head(&m->graph, GRAPH_INITIALIZER, head.len + bytes);
    ft__pb_raw(&m->graph, head.s, head.len);
    m->graph.bad = m->graph.bad || head.bad;
    ft__pb_free(&head);
    return ft__pb_room(&m->graph, bytes);
}

void ft__const_ints(ft__model *m, const char *name, const int64_t *values, uint32_t n)
{
    ft_shape s = {.rank = 1, .dim = {n}};
    void *to = ft__const_raw(m, name, FT_DTYPE_int64, &s);

    if (to && n)
        memcpy(to, values, n * sizeof(*values));
}

#define STORE(type)                                                                    \
    do {                                                                               \
        type v_ = (type)value;                                                         \
        memcpy(to, &v_, sizeof(v_));                                                   \
    } while (0)

static void store(void *to, ft_dtype t, double value)
{
    uint16_t two;

    switch (t) {
    case FT_DTYPE_fp32: STORE(float); return;
    case FT_DTYPE_fp64: STORE(double); return;
    case FT_DTYPE_fp16:
    case FT_DTYPE_bf16:
        two = t == FT_DTYPE_fp16 ? ft__half((float)value) : ft__brain((float)value);
        memcpy(to, &two, sizeof(two));
        return;
    default: break;
    }
    switch (ft_dtype_bits(t)) {
    case 8: STORE(int8_t); break;
    case 16: STORE(int16_t); break;
    case 32: STORE(int32_t); break;
    default: STORE(int64_t); break;
    }
}

void ft__const_numbers(ft__model *m, const char *name, ft_dtype t, const double *values,
                       uint32_t n)
{
    ft_shape s = {.rank = 1, .dim = {n}};
    unsigned char *to = ft__const_raw(m, name, t, &s);

    for (uint32_t i = 0; i < n && to; i++)
        store(to + i * (ft_dtype_bits(t) / 8), t, values[i]);
}

void ft__const_scalar(ft__model *m, const char *name, ft_dtype t, double value)
{
    ft_shape s = {0};
    void *to = ft__const_raw(m, name, t, &s);

    if (to)
        store(to, t, value);
}

static void add_value(ft__pb *graph, uint32_t field, char letter, uint32_t i,
                      const ft_shape *s, ft_dtype t)
{
    ft__pb value = {0}, type = {0}, tensor = {0}, shape = {0};
    char name[16];

    snprintf(name, sizeof(name), "%c%u", letter, i);
    for (uint32_t d = 0; d < s->rank; d++) {
        ft__pb dim = {0};

        ft__pb_int(&dim, DIM_VALUE, s->dim[d]);
        ft__pb_message_take(&shape, SHAPE_DIM, &dim);
    }
    ft__pb_int(&tensor, TYPE_ELEMENT, ft__ort_number(t));
    ft__pb_message_take(&tensor, TYPE_SHAPE, &shape);
    ft__pb_message_take(&type, TYPE_TENSOR, &tensor);
    ft__pb_text(&value, VALUE_NAME, name);
    ft__pb_message_take(&value, VALUE_TYPE, &type);
    ft__pb_message_take(graph, field, &value);
}

static void add_opset(ft__pb *file, const char *domain, int64_t version)
{
    ft__pb opset = {0};

    ft__pb_text(&opset, OPSET_DOMAIN, domain);
    ft__pb_int(&opset, OPSET_VERSION, version);
    ft__pb_message_take(file, MODEL_OPSET, &opset);
}

void ft__model_finish(ft__model *m, ft__pb *file)
{
    for (uint32_t i = 0; i < m->n_in; i++)
        add_value(&m->graph, GRAPH_INPUT, 'i', i, &m->in[i], m->in_type[i]);
    for (uint32_t i = 0; i < m->n_out; i++)
        add_value(&m->graph, GRAPH_OUTPUT, 'o', i, &m->out[i], m->out_type[i]);
    ft__pb_text(&m->graph, GRAPH_NAME, ft_kind_name(m->op->kind));
    ft__pb_int(file, MODEL_IR_VERSION, IR_VERSION);
    add_opset(file, "", m->opset);
    add_opset(file, "com.microsoft", 1);
    ft__pb_message_take(file, MODEL_GRAPH, &m->graph);
}

void ft__model_free(ft__model *m)
{
    ft__pb_free(&m->attributes);
    ft__pb_free(&m->graph);
}
