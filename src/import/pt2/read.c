/* The text of a graph -> nodes, and what it says of their tensors. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "import/pt2/pt2.h"

enum { MAX_ARGS = 128 };

void ft__pt2_fail(const ft__pt2_node *n, const char *fmt, ...)
{
    char text[384];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    ft__build_fail(n->import->b, FT_EFORMAT,
                   (uint64_t)(n->target.s - n->import->doc.base),
                   "node %.*s (%.*s): %s", ft__shown(n->name.n, 100), n->name.s,
                   ft__shown(n->target.n, 80), n->target.s, text);
}

/* The name is copied: it is compared often, and lies far away in the text. */
static ft__pt2_value *new_value(ft__pt2 *p, ft__text name)
{
    ft__pt2_value *v = ft__pt2_alloc(p, 1, sizeof(*v) + name.n);

    if (v) {
        v->name = (ft__text){memcpy(v + 1, name.s, name.n), name.n};
        v->tensor = FT_NONE;
    }
    return v;
}

ft__pt2_value *ft__pt2_name(ft__pt2 *p, ft__text name)
{
    ft__table_slot *s;
    ft__pt2_value *v;

    if (name.n > FT__MAX_NAME) {
        ft__build_fail(p->b, FT_EFORMAT, (uint64_t)(name.s - p->doc.base),
                       "a name of %zu bytes is too long", name.n);
        return NULL;
    }
    s = ft__table_at(&p->names, &p->arena, name.s, name.n);
    if (!s) {
        ft__build_fail(p->b, FT_ENOMEM, 0, "out of memory");
        return NULL;
    }
    if (!s->value) {
        v = new_value(p, name);
        if (!v)
            return NULL;
        s->value = v;
        s->name = v->name.s;
        p->names.n++;
        if (p->newest)
            p->newest->next = v;
        p->newest = v;
    }
    return s->value;
}

ft__pt2_value *ft__pt2_temp(const ft__pt2_node *n, const ft__pt2_value *like,
                            ft_dtype dtype, const ft_shape *shape)
{
    ft__pt2_value *v = new_value(n->import, like ? like->name : (ft__text){"", 0});

    if (v) {
        v->typed = v->resolved = true;
        v->dtype = dtype;
        v->shape = *shape;
    }
    return v;
}

/* Room for element n of an array in the arena that doubles. */
static bool grow(ft__pt2 *p, void *array, uint32_t n, size_t size)
{
    void *old, *mem;

    if (n & (n - 1))
        return true;
    memcpy(&old, array, sizeof(old));
    mem = ft__pt2_alloc(p, n ? 2 * (size_t)n : 1, size);
    if (!mem)
        return false;
    if (n)
        memcpy(mem, old, n * size);
    memcpy(array, &mem, sizeof(mem));
    return true;
}

static ft_dtype dtype_of(int64_t number)
{
    static const uint8_t types[] = {
        [1] = FT_DTYPE_uint8,       [2] = FT_DTYPE_int8,
        [3] = FT_DTYPE_int16,       [4] = FT_DTYPE_int32,
        [5] = FT_DTYPE_int64,       [6] = FT_DTYPE_fp16,
        [7] = FT_DTYPE_fp32,        [8] = FT_DTYPE_fp64,
        [9] = FT_DTYPE_uint32,      [10] = FT_DTYPE_complex64,
        [11] = FT_DTYPE_complex128, [12] = FT_DTYPE_bool,
        [13] = FT_DTYPE_bf16,       [28] = FT_DTYPE_uint16,
        [29] = FT_DTYPE_fp8e4m3,    [30] = FT_DTYPE_fp8e5m2,
        [31] = FT_DTYPE_fp8e4m3uz,  [32] = FT_DTYPE_fp8e5m2uz,
        [33] = FT_DTYPE_fp8e8m0,    [34] = FT_DTYPE_uint32,
        [35] = FT_DTYPE_uint64,
    };

    /* 9, complex of two half floats, has no name of its own: 4 bytes. */
    return number > 0 && number < (int64_t)sizeof(types) ? (ft_dtype)types[number]
                                                         : FT_DTYPE_NONE;
}

static void read_meta(ft__pt2 *p, ft__json *r, ft__pt2_value *v)
{
    const char *at = r->p;
    ft__text name;
    int64_t number = 0;
    bool sized = false;
    int rank = 0;

    if (!ft__pt2_object(r))
        return;
    while (!(number && sized) && ft__json_member(r, &name)) {
        if (FT__IS(name, "dtype")) {
            ft__json_int(r, &number);
        } else if (FT__IS(name, "sizes")) {
            rank = ft__pt2_read_syms(p, r, v->shape.dim);
            sized = true;
        } else {
            ft__json_skip(r, NULL);
        }
    }
    /* The rest, strides among it, is seldom asked for. */
    if (number && sized) {
        v->rest.s = r->p;
        ft__json_leave(r);
        v->rest.n = (size_t)(r->p - v->rest.s);
    }
    v->dtype = dtype_of(number);
    v->shape.rank = rank < 0 ? 0 : (uint32_t)rank;
    v->typed = rank >= 0 && v->dtype != FT_DTYPE_NONE;
    if (rank < 0 && !p->doc.why)
        ft__build_fail(p->b, FT_EUNSUPPORTED, (uint64_t)(at - p->doc.base),
                       "tensor \"%.*s\" has more than %d dimensions",
                       ft__shown(v->name.n, 100), v->name.s, FT_MAX_RANK);
}

static void read_tensor_values(ft__pt2 *p, ft__json *r)
{
    ft__pt2_value *next = NULL;
    ft__text name;

    if (!ft__pt2_object(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_member(r, &name)) {
        /* They mostly stand in the order in which the nodes made them. */
        ft__pt2_value *v =
            next && ft__text_is(next->name, name.s, name.n) ? next : NULL;

        if (!v)
            v = ft__pt2_name(p, name);
        next = v ? v->next : NULL;
        if (v && !v->typed)
            read_meta(p, r, v);
        else
            ft__json_skip(r, NULL);
    }
}

static void read_sym_values(ft__pt2 *p, ft__json *r)
{
    ft__text name;

    if (!ft__pt2_object(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_member(r, &name)) {
        ft__pt2_value *v = ft__pt2_name(p, name);

        if (!v)
            return;
        v->number = ft__pt2_read_sym(p, r);
    }
}

/* {"name": "x"}, {"as_tensor": {"name": "x"}} or {"as_none": true}. */
static ft__pt2_value *read_tensor(ft__pt2 *p, ft__json *r)
{
    ft__pt2_value *v = NULL;
    ft__text name, text;

    if (!ft__pt2_object(r))
        return NULL;
    while (ft__json_member(r, &name)) {
        if (FT__IS(name, "name") && ft__json_peek(r) == '"' &&
            ft__json_string(r, &text))
            v = ft__pt2_name(p, text);
        else if (FT__IS(name, "as_tensor") && ft__json_peek(r) == '{')
            v = read_tensor(p, r);
        else
            ft__json_skip(r, NULL);
    }
    return v;
}

static void add_tensor(ft__pt2 *p, ft__pt2_arg *a, ft__pt2_value *v)
{
    if (grow(p, &a->value, a->n, sizeof(*a->value)))
        a->value[a->n++] = v;
}

static void read_tensors(ft__pt2 *p, ft__json *r, ft__pt2_arg *a)
{
    if (!ft__pt2_array(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_element(r)) {
        if (ft__json_peek(r) == '[')
            read_tensors(p, r, a); /* a list of lists counts as one list */
        else
            add_tensor(p, a, read_tensor(p, r));
    }
}

static ft__pt2_type type_of(ft__text tag)
{
    static const struct {
        const char *name;
        size_t n;
        ft__pt2_type type;
    } tags[] = {
#define TAG(name, type) {name, sizeof(name) - 1, type}
        TAG("as_tensor", FT__PT2_TENSOR),
        TAG("as_int", FT__PT2_INT),
        TAG("as_ints", FT__PT2_INTS),
        TAG("as_none", FT__PT2_NONE),
        TAG("as_float", FT__PT2_FLOAT),
        TAG("as_bool", FT__PT2_BOOL),
        TAG("as_bools", FT__PT2_BOOLS),
        TAG("as_tensors", FT__PT2_TENSORS),
        TAG("as_sym_int", FT__PT2_SYM),
        TAG("as_sym_ints", FT__PT2_SYMS),
        TAG("as_scalar_type", FT__PT2_DTYPE),
        TAG("as_memory_format", FT__PT2_MEMORY),
        TAG("as_string", FT__PT2_STRING),
        TAG("as_optional_tensor", FT__PT2_TENSOR),
        TAG("as_optional_tensors", FT__PT2_TENSORS),
        TAG("as_nested_tensors", FT__PT2_TENSORS),
        TAG("as_graph", FT__PT2_GRAPH),
#undef TAG
    };

    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        if (ft__text_is(tag, tags[i].name, tags[i].n))
            return tags[i].type;
    return FT__PT2_OTHER;
}

/* A symbolic number's name leads to its value, as a tensor's does. */
static void read_sym_name(ft__pt2 *p, ft__json *r, ft__pt2_arg *a)
{
    ft__json copy;
    ft__text name, text;

    if (!ft__json_skip(r, &a->text))
        return;
    copy = ft__json_open(&p->doc, a->text);
    if (!ft__json_object(&copy))
        return;
    while (ft__json_member(&copy, &name))
        if (FT__IS(name, "as_name") && ft__json_peek(&copy) == '"' &&
            ft__json_string(&copy, &text))
            add_tensor(p, a, ft__pt2_name(p, text));
        else
            ft__json_skip(&copy, NULL);
}

/* An Argument: {"as_tensor": {"name": ...}}. */
static bool read_arg(ft__pt2 *p, ft__json *r, ft__pt2_arg *a)
{
    ft__text tag;

    a->type = FT__PT2_OTHER;
    if (!ft__json_object(r))
        return ft__json_skip(r, &a->text);
    while (ft__json_member(r, &tag)) {
        a->type = type_of(tag);
        if (a->type == FT__PT2_TENSOR)
            add_tensor(p, a, read_tensor(p, r));
        else if (a->type == FT__PT2_TENSORS)
            read_tensors(p, r, a);
        else if (a->type == FT__PT2_SYM)
            read_sym_name(p, r, a);
        else
            ft__json_skip(r, &a->text);
    }
    return !ft__pt2_import_failed(p);
}

/* {"name": "stride", "arg": {...}, "kind": 1}. */
static void read_named_arg(ft__pt2 *p, ft__json *r, ft__pt2_arg *a)
{
    ft__text name;

    *a = (ft__pt2_arg){0};
    if (!ft__pt2_object(r))
        return;
    while (ft__json_member(r, &name)) {
        if (FT__IS(name, "name") && ft__json_peek(r) == '"')
            ft__json_string(r, &a->name);
        else if (FT__IS(name, "arg"))
            read_arg(p, r, a);
        else
            ft__json_skip(r, NULL);
    }
}

static void read_inputs(ft__pt2 *p, ft__json *r, ft__pt2_node *n)
{
    ft__pt2_arg arg[MAX_ARGS];
    uint32_t count = 0;

    if (!ft__pt2_array(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_element(r)) {
        if (count == MAX_ARGS) {
            ft__build_fail(p->b, FT_EUNSUPPORTED, (uint64_t)(r->p - p->doc.base),
                           "a node has more than %d arguments", MAX_ARGS);
            return;
        }
        read_named_arg(p, r, &arg[count++]);
    }
    n->arg = ft__pt2_alloc(p, count, sizeof(*arg));
    n->n_args = n->arg ? count : 0;
    if (n->n_args)
        memcpy(n->arg, arg, count * sizeof(*arg));
}

/* Arguments whose values are tensors, one after the other. */
static uint32_t read_values(ft__pt2 *p, ft__json *r, ft__pt2_value ***out)
{
    ft__pt2_arg all = {0};

    if (!ft__pt2_array(r))
        return 0;
    while (!ft__build_failed(p->b) && ft__json_element(r)) {
        uint32_t before = all.n;

        read_arg(p, r, &all);
        if (all.n == before && all.type != FT__PT2_TENSORS)
            add_tensor(p, &all, NULL);
    }
    *out = all.value;
    return all.n;
}

/* "torch.ops.aten.conv2d.default" -> target "aten.conv2d.default", op "conv2d";
 * those of other namespaces keep it: "torchvision.nms". */
static void set_target(ft__pt2_node *n, ft__text target)
{
    static const char ops[] = "torch.ops.", aten[] = "aten.";
    size_t skip = sizeof(ops) - 1;
    const char *dot, *s;

    if (target.n > skip && memcmp(target.s, ops, skip) == 0)
        target = (ft__text){target.s + skip, target.n - skip};
    n->target = n->op = target;
    skip = sizeof(aten) - 1;
    if (target.n > skip && memcmp(target.s, aten, skip) == 0) {
        n->op = (ft__text){target.s + skip, target.n - skip};
        dot = memchr(n->op.s, '.', n->op.n);
    } else {
        s = memchr(target.s, '.', target.n);
        dot = s ? memchr(s + 1, '.', (size_t)(target.s + target.n - s - 1)) : NULL;
    }
    if (dot)
        n->op.n = (size_t)(dot - n->op.s);
}

/* The value of "nn_module_stack" in a node's metadata. */
static void read_metadata(ft__json *r, ft__pt2_node *n)
{
    ft__text name;

    if (!ft__pt2_object(r))
        return;
    while (ft__json_member(r, &name)) {
        if (!FT__IS(name, "nn_module_stack") || ft__json_peek(r) != '"') {
            ft__json_skip(r, NULL);
            continue;
        }
        ft__json_string(r, &n->modules);
        ft__json_leave(r); /* the rest is of no use */
        return;
    }
}

static void read_node(ft__pt2 *p, ft__json *r, ft__pt2_node *n)
{
    ft__text name, text = {"", 0};
    unsigned seen = 0;

    n->import = p;
    n->name = n->target = n->op = n->modules = text;
    if (!ft__pt2_object(r))
        return;
    while (seen != 15 && ft__json_member(r, &name)) {
        if (FT__IS(name, "target") && ft__json_string(r, &text)) {
            set_target(n, text);
            seen |= 1;
        } else if (FT__IS(name, "inputs")) {
            read_inputs(p, r, n);
            seen |= 2;
        } else if (FT__IS(name, "outputs")) {
            n->n_out = read_values(p, r, &n->out);
            seen |= 4;
        } else if (FT__IS(name, "metadata")) {
            read_metadata(r, n);
            seen |= 8;
        } else {
            ft__json_skip(r, NULL);
        }
    }
    if (seen == 15)
        ft__json_leave(r);
    if (n->n_out && n->out[0])
        n->name = n->out[0]->name;
}

static void read_nodes(ft__pt2 *p, ft__json *r, ft__pt2_body *out)
{
    if (!ft__pt2_array(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_element(r)) {
        if (p->n_nodes >= FT__MAX_NODES) {
            ft__build_fail(p->b, FT_EFORMAT, (uint64_t)(r->p - p->doc.base),
                           "more than %d nodes", FT__MAX_NODES);
            return;
        }
        if (!grow(p, &out->node, out->n_nodes, sizeof(*out->node)))
            return;
        read_node(p, r, &out->node[out->n_nodes++]);
        p->n_nodes++;
    }
}

static void read_graph(ft__pt2 *p, ft__json *r, ft__pt2_body *out)
{
    ft__text name;

    *out = (ft__pt2_body){0};
    if (!ft__json_object(r)) {
        ft__json_skip(r, NULL);
        ft__build_fail(p->b, FT_EFORMAT, (uint64_t)(r->p - p->doc.base),
                       "its graph is no JSON object");
        return;
    }
    while (!ft__build_failed(p->b) && ft__json_member(r, &name)) {
        if (FT__IS(name, "nodes"))
            read_nodes(p, r, out);
        else if (FT__IS(name, "inputs"))
            out->n_in = read_values(p, r, &out->in);
        else if (FT__IS(name, "outputs"))
            out->n_out = read_values(p, r, &out->out);
        else if (FT__IS(name, "tensor_values"))
            read_tensor_values(p, r);
        else if (FT__IS(name, "sym_int_values"))
            read_sym_values(p, r);
        else
            ft__json_skip(r, NULL);
    }
}

/* {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}}. */
static void read_spec(ft__pt2 *p, ft__json *r, ft__pt2_spec *s)
{
    ft__text name, text;

    *s = (ft__pt2_spec){.kind = {"", 0}, .of = {"", 0}};
    if (!ft__pt2_object(r))
        return;
    while (ft__json_member(r, &s->kind)) {
        if (!ft__json_object(r)) {
            ft__json_skip(r, NULL);
            continue;
        }
        while (ft__json_member(r, &name)) {
            ft__pt2_arg a = {0};

            if (FT__IS(name, "arg")) {
                ft__text slice;
                ft__json copy, inner;

                if (!ft__json_skip(r, &slice))
                    return;
                /* {"name": "x"}, or an Argument. */
                copy = inner = ft__json_open(&p->doc, slice);
                if (ft__json_object(&inner) && ft__json_member(&inner, &name) &&
                    FT__IS(name, "name") && ft__json_peek(&inner) == '"' &&
                    ft__json_string(&inner, &text))
                    s->value = ft__pt2_name(p, text);
                else if (!p->doc.why && read_arg(p, &copy, &a) && a.n)
                    s->value = a.value[0];
            } else if (name.n > 5 && memcmp(name.s + name.n - 5, "_name", 5) == 0 &&
                       ft__json_peek(r) == '"') {
                ft__json_string(r, &s->of);
            } else {
                ft__json_skip(r, NULL);
            }
        }
    }
}

static void read_specs(ft__pt2 *p, ft__json *r, ft__pt2_spec **out, uint32_t *n)
{
    uint32_t cap = 0;

    *n = 0; /* what a signature before this one had is dropped */
    if (!ft__pt2_array(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_element(r)) {
        if (*n == cap) {
            ft__pt2_spec *more =
                ft__pt2_alloc(p, cap ? 2 * (size_t)cap : 64, sizeof(*more));

            if (!more)
                return;
            if (*n)
                memcpy(more, *out, *n * sizeof(*more));
            *out = more;
            cap = cap ? 2 * cap : 64;
        }
        read_spec(p, r, &(*out)[(*n)++]);
    }
}

static void read_signature(ft__pt2 *p, ft__json *r)
{
    ft__text name;

    if (!ft__pt2_object(r))
        return;
    while (!ft__build_failed(p->b) && ft__json_member(r, &name)) {
        if (FT__IS(name, "input_specs"))
            read_specs(p, r, &p->input, &p->n_inputs);
        else if (FT__IS(name, "output_specs"))
            read_specs(p, r, &p->output, &p->n_outputs);
        else
            ft__json_skip(r, NULL);
    }
}

bool ft__pt2_read_module(ft__pt2 *p, ft__json *r, ft__pt2_body *out)
{
    ft__text name;
    bool found = false;

    *out = (ft__pt2_body){0};
    if (!ft__pt2_object(r))
        return false;
    while (!ft__build_failed(p->b) && ft__json_member(r, &name)) {
        if (FT__IS(name, "graph") && !found) {
            found = true;
            read_graph(p, r, out);
        } else if (FT__IS(name, "signature") && p->depth == 0) {
            read_signature(p, r);
        } else {
            ft__json_skip(r, NULL);
        }
    }
    return found;
}
