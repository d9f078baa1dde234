/* What a node says: attributes, looked up in its message each time (nodes have few),
 * and operands that are sizes and axes. */
#include <string.h>

#include "import/onnx/onnx.h"

enum {
    ATTR_NAME = 1,
    ATTR_F = 2,
    ATTR_I = 3,
    ATTR_S = 4,
    ATTR_T = 5,
    ATTR_FLOATS = 7,
    ATTR_INTS = 8,
    ATTR_STRINGS = 9,
    ATTR_REF = 21,
    NODE_ATTRIBUTE = 5,
    FUNCTION_ATTRIBUTE = 11,
};

/* The AttributeProto of this name among the fields `field` of a message. */
static bool find_in(ft__onnx *o, ft__bytes message, uint32_t field, ft__str name,
                    ft__bytes *out, ft__str *ref)
{
    for (ft__onnx_pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        bool found = false;

        if (f.field != field)
            continue;
        *ref = (ft__str){NULL, 0};
        for (ft__onnx_pb a = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&a);) {
            if (a.field == ATTR_NAME)
                found = a.bytes.n == name.n && !memcmp(a.bytes.p, name.s, name.n);
            else if (a.field == ATTR_REF)
                *ref = ft__str_of(a.bytes);
            if (a.field == ATTR_NAME && !found)
                break;
        }
        if (found) {
            *out = f.bytes;
            return true;
        }
    }
    return false;
}

/* Inside a function an attribute may refer to one of the calling node, which
 * may leave it to the function's default. */
static bool find(const ft__onnx_node *n, const char *text, ft__bytes *out)
{
    ft__str name = {text, strlen(text)}, ref;

    for (; find_in(n->import, n->attrs, NODE_ATTRIBUTE, name, out, &ref);
         n = n->caller) {
        ft__bytes defaults = n->defaults;

        if (!ref.n)
            return true;
        if (!n->caller)
            return false;
        if (!find_in(n->import, n->caller->attrs, NODE_ATTRIBUTE, ref, out, &name))
            return find_in(n->import, defaults, FUNCTION_ATTRIBUTE, ref, out, &name);
        name = ref;
    }
    return false;
}

static bool find_field(const ft__onnx_node *n, const char *name, uint32_t field,
                       ft__onnx_pb *out)
{
    ft__bytes attr;

    if (!find(n, name, &attr))
        return false;
    for (ft__onnx_pb f = ft__pb_open(&n->import->doc, attr); ft__pb_next(&f);)
        if (f.field == field) {
            *out = f;
            return true;
        }
    return false;
}

int64_t ft__attr_int(const ft__onnx_node *n, const char *name, int64_t fallback)
{
    ft__onnx_pb f;

    return find_field(n, name, ATTR_I, &f) ? (int64_t)f.num : fallback;
}

ft__str ft__attr_str(const ft__onnx_node *n, const char *name)
{
    ft__onnx_pb f;

    return find_field(n, name, ATTR_S, &f) ? ft__str_of(f.bytes) : (ft__str){"", 0};
}

bool ft__attr_message(const ft__onnx_node *n, const char *name, uint32_t field,
                      ft__bytes *out)
{
    ft__onnx_pb f;

    if (!find_field(n, name, field, &f) || f.wire != FT__PB_BYTES)
        return false;
    *out = f.bytes;
    return true;
}

int64_t ft__attr_ints(const ft__onnx_node *n, const char *name, int64_t *v,
                      uint32_t max)
{
    ft__bytes attr;
    int64_t count = 0;

    if (!find(n, name, &attr))
        return -1;
    for (ft__onnx_pb f = ft__pb_open(&n->import->doc, attr); ft__pb_next(&f);) {
        ft__onnx_pb packed = ft__pb_open(&n->import->doc, f.bytes);
        uint64_t x = f.num;

        count += f.field == ATTR_STRINGS && max == 0;
        if (f.field != ATTR_INTS)
            continue;
        while (f.wire == FT__PB_VARINT || ft__pb_varint(&packed, &x)) {
            if (count < (int64_t)max)
                v[count] = (int64_t)x;
            count++;
            if (f.wire == FT__PB_VARINT)
                break;
        }
    }
    return count;
}

int64_t ft__attr_floats(const ft__onnx_node *n, const char *name, double *v,
                        uint32_t max)
{
    ft__bytes attr;
    int64_t count = 0;
    bool one = false;
    double x = 0;

    if (!find(n, name, &attr))
        return -1;
    for (ft__onnx_pb f = ft__pb_open(&n->import->doc, attr); ft__pb_next(&f);) {
        if (f.field == ATTR_F) {
            one = true;
            x = (double)ft__pb_float(f.num);
        }
        if (f.field != ATTR_FLOATS)
            continue;
        for (size_t i = 0; i == 0 || i + 4 <= f.bytes.n; i += 4) {
            uint32_t bits = (uint32_t)f.num;

            if (f.wire == FT__PB_BYTES) {
                if (f.bytes.n < 4)
                    break;
                memcpy(&bits, f.bytes.p + i, 4);
            }
            if (count < (int64_t)max)
                v[count] = (double)ft__pb_float(bits);
            count++;
        }
    }
    if (one && count == 0) {
        if (max > 0)
            v[0] = x;
        count = 1;
    }
    return count;
}

int64_t ft__attr_size(const ft__onnx_node *n, const char *name, int64_t fallback)
{
    int64_t v = ft__attr_int(n, name, fallback);

    if (v < 1 || v > (int64_t)1 << 30) {
        ft__onnx_fail(n, "%s is %lld: it must be 1 to 2^30", name, (long long)v);
        return 1;
    }
    return v;
}

int64_t ft__int_in(const ft__onnx_node *n, uint32_t operand)
{
    int64_t v;

    return ft__in(n, operand) && ft__ints(n, n->in[operand], &v, 1) == 1 ? v : -1;
}

bool ft__has_rank(const ft__onnx_node *n, uint32_t operand, uint32_t rank)
{
    const ft__onnx_value *v = ft__in(n, operand);

    if (v && v->shape.rank == rank)
        return true;
    return ft__onnx_fail(n, "operand %u must have %u dimensions", operand + 1, rank);
}

uint32_t ft__axis(const ft__onnx_node *n, int64_t axis, uint32_t rank)
{
    if (axis < 0)
        axis += rank;
    if (axis < 0 || axis >= (int64_t)rank) {
        ft__onnx_fail(n, "an axis lies outside its %u dimensions", rank);
        return 0;
    }
    return (uint32_t)axis;
}

int64_t ft__axes(const ft__onnx_node *n, uint32_t operand, uint32_t rank, int64_t all)
{
    int64_t v[2 * FT_MAX_RANK], bits = 0, count;

    if (ft__in(n, operand)) {
        count = ft__ints(n, n->in[operand], v, FT_MAX_RANK);
        if (count < 0)
            return -1;
    } else {
        count = ft__attr_ints(n, "axes", v, FT_MAX_RANK);
    }
    if (count <= 0)
        return all;
    for (int64_t i = 0; i < count && i < FT_MAX_RANK; i++)
        bits |= (int64_t)1 << ft__axis(n, v[i], rank);
    return bits;
}
