/* The weights of a model's file: where they are, and a file without them. */
#include "strip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODEL_GRAPH = 7,
    GRAPH_INITIALIZER = 5,
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_FLOATS = 4,
    TENSOR_INT32S = 5,
    TENSOR_STRINGS = 6,
    TENSOR_INT64S = 7,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    TENSOR_DOUBLES = 10,
    TENSOR_UINT64S = 11,
    TENSOR_EXTERNAL = 13,
    TENSOR_LOCATION = 14,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
};

void ft__weights_free(ft__weights_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->w[i].name);
        free(l->w[i].location);
    }
    free(l->w);
    *l = (ft__weights_list){0};
}

static ft__pb_reader inside(const ft__pb_field *f)
{
    if (f->wire != 2)
        return (ft__pb_reader){0};
    return (ft__pb_reader){.at = f->bytes, .end = f->bytes + f->n};
}

static char *text_of(const ft__pb_field *f)
{
    return f->wire == 2 ? strndup((const char *)f->bytes, f->n) : NULL;
}

static bool is(const ft__pb_field *f, const char *text)
{
    return f->wire == 2 && f->n == strlen(text) && memcmp(f->bytes, text, f->n) == 0;
}

static uint64_t number_of(const ft__pb_field *f)
{
    uint64_t v = 0;

    for (size_t i = 0; i < f->n && f->bytes[i] >= '0' && f->bytes[i] <= '9'; i++)
        v = v * 10 + (uint64_t)(f->bytes[i] - '0');
    return v;
}

/* One of the pairs that say where the data lies. */
static void read_entry(ft__missing *w, const ft__pb_field *f)
{
    ft__pb_reader r = inside(f);
    ft__pb_field part, key = {0}, value = {0};

    while (ft__pb_next(&r, &part)) {
        if (part.number == ENTRY_KEY)
            key = part;
        if (part.number == ENTRY_VALUE)
            value = part;
    }
    if (is(&key, "location") && !w->location)
        w->location = text_of(&value);
    if (is(&key, "offset") || is(&key, "length"))
        w->need += number_of(&value);
}

static void add_dim(ft_shape *s, uint64_t v, bool *bad)
{
    if (s->rank < FT_MAX_RANK && v < (uint64_t)1 << 52)
        s->dim[s->rank++] = (int64_t)v;
    else
        *bad = true;
}

static void read_dims(ft_shape *s, const ft__pb_field *f, bool *bad)
{
    ft__pb_reader r = inside(f);
    uint64_t v;

    if (f->wire == 0)
        add_dim(s, f->value, bad);
    else
        while (r.at < r.end && ft__pb_varint(&r, &v))
            add_dim(s, v, bad);
}

/* What a tensor is; false: its data is here, or it is nothing to fill in. */
static bool read_tensor(ft__missing *w, const ft__pb_field *f, bool *bad)
{
    ft__pb_reader r = inside(f);
    bool external = false, here = false;
    ft__pb_field part;

    *w = (ft__missing){0};
    while (ft__pb_next(&r, &part)) {
        switch (part.number) {
        case TENSOR_DIMS: read_dims(&w->shape, &part, bad); break;
        case TENSOR_TYPE: w->dtype = ft_dtype_from_onnx((int64_t)part.value); break;
        case TENSOR_NAME:
            free(w->name);
            w->name = text_of(&part);
            break;
        case TENSOR_LOCATION: external = part.value == 1; break;
        case TENSOR_EXTERNAL: read_entry(w, &part); break;
        case TENSOR_FLOATS:
        case TENSOR_INT32S:
        case TENSOR_STRINGS:
        case TENSOR_INT64S:
        case TENSOR_RAW:
        case TENSOR_DOUBLES:
        case TENSOR_UINT64S: here = here || part.wire != 2 || part.n > 0; break;
        default: break;
        }
    }
    w->bytes = ft_shape_elements(&w->shape) < 0
                   ? 0
                   : (uint64_t)ft_tensor_bytes(&w->shape, w->dtype);
    *bad = *bad || r.bad || ft_shape_elements(&w->shape) < 0;
    return w->name && w->bytes > 0 && (external || !here);
}

static void forget(ft__missing *w)
{
    free(w->name);
    free(w->location);
}

static bool keep(ft__weights_list *l, const ft__missing *w)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        ft__missing *more = realloc(l->w, cap * sizeof(*more));

        if (!more)
            return false;
        l->w = more;
        l->cap = cap;
    }
    l->w[l->n++] = *w;
    return true;
}

static void write_entry(ft__pb *tensor, const char *key, const char *value)
{
    ft__pb entry = {0};

    ft__pb_text(&entry, ENTRY_KEY, key);
    ft__pb_text(&entry, ENTRY_VALUE, value);
    ft__pb_message_take(tensor, TENSOR_EXTERNAL, &entry);
}

/* The tensor again, its data said to lie in FT__WEIGHTS_FILE. */
static void write_external(ft__pb *graph, const ft__missing *w, int64_t type)
{
    ft__pb tensor = {0};
    char number[24];

    for (uint32_t i = 0; i < w->shape.rank; i++)
        ft__pb_int(&tensor, TENSOR_DIMS, w->shape.dim[i]);
    ft__pb_int(&tensor, TENSOR_TYPE, type);
    ft__pb_text(&tensor, TENSOR_NAME, w->name);
    write_entry(&tensor, "location", FT__WEIGHTS_FILE);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)w->offset);
    write_entry(&tensor, "offset", number);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)w->bytes);
    write_entry(&tensor, "length", number);
    ft__pb_int(&tensor, TENSOR_LOCATION, 1);
    ft__pb_message_take(graph, GRAPH_INITIALIZER, &tensor);
}

static int64_t type_of(const ft__pb_field *f)
{
    ft__pb_reader r = inside(f);
    ft__pb_field part;
    int64_t type = 0;

    while (ft__pb_next(&r, &part))
        type = part.number == TENSOR_TYPE ? (int64_t)part.value : type;
    return type;
}

static bool walk_graph(ft__weights_list *l, ft__pb *graph, const ft__pb_field *g)
{
    ft__pb_reader r = inside(g);
    ft__pb_field f;
    bool bad = false;

    while (!bad && ft__pb_next(&r, &f)) {
        ft__missing w = {0};
        bool missing =
            f.number == GRAPH_INITIALIZER && f.wire == 2 && read_tensor(&w, &f, &bad);

        l->bytes += w.bytes;
        if (!missing) {
            ft__pb_raw(graph, f.from, (size_t)(f.to - f.from));
            forget(&w);
            continue;
        }
        w.offset = l->file_bytes;
        l->file_bytes += (w.bytes + 63) / 64 * 64;
        write_external(graph, &w, type_of(&f));
        if (!keep(l, &w)) {
            bad = true;
            forget(&w);
        }
    }
    return !bad && !r.bad;
}

ft_status ft__weights_find(ft__weights_list *out, ft__pb *rewritten,
                           const unsigned char *model, size_t len, ft_error *err)
{
    ft__pb_reader r = {.at = model, .end = model + len};
    ft__pb_field f;
    ft__pb graph = {0};
    bool good = true, seen = false;

    *out = (ft__weights_list){0};
    while (good && ft__pb_next(&r, &f)) {
        if (f.number == MODEL_GRAPH && f.wire == 2 && !seen) {
            seen = true;
            good = walk_graph(out, &graph, &f);
            ft__pb_message_take(rewritten, MODEL_GRAPH, &graph);
        } else {
            ft__pb_raw(rewritten, f.from, (size_t)(f.to - f.from));
        }
    }
    if (good && seen && !r.bad)
        return rewritten->bad ? ft_fail(err, FT_ENOMEM, 0, "onnxruntime: the model")
                              : FT_OK;
    ft__weights_free(out);
    return ft_fail(err, FT_EFORMAT, (uint64_t)(r.at - model),
                   "onnxruntime: byte %zu: this is no ONNX model",
                   (size_t)(r.at - model));
}
