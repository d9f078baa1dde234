/* Messages of the file -> values and nodes. Field numbers are those of
 * onnx.proto. */
#include "base/limits.h"
#include "import/onnx/onnx.h"

enum {
    GRAPH_NODE = 1,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE_INFO = 13,
    GRAPH_SPARSE_INITIALIZER = 15,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOMAIN = 7,
    FUNCTION_INPUT = 4,
    FUNCTION_OUTPUT = 5,
    FUNCTION_NODE = 7,
};

/* Named by its tensor, which of a sparse one is field 1, its values. */
static void read_initializer(ft__onnx *o, ft__bytes tensor, bool sparse, bool nested)
{
    ft__bytes values = sparse ? ft__pb_child(&o->doc, tensor, 1) : tensor;
    ft__str name = ft__str_of(ft__pb_child(&o->doc, values, 8));
    ft__onnx_value *v = nested ? ft__onnx_hide(o, name) : ft__onnx_name(o, name);

    if (v)
        ft__onnx_read_tensor(o, tensor, sparse, v);
}

/* Values that a subgraph takes from outside are read there, too: two uses more
 * keep every fusion away from them. */
static void count_captures(ft__onnx *o, ft__bytes graph, uint32_t depth)
{
    if (depth > FT__MAX_DEPTH) {
        ft__build_fail(o->b, FT_EFORMAT, (uint64_t)(graph.p - o->doc.base),
                       "subgraphs are nested more than %d deep", FT__MAX_DEPTH);
        return;
    }
    for (ft__onnx_pb f = ft__pb_open(&o->doc, graph); ft__pb_next(&f);) {
        bool output = f.field == GRAPH_OUTPUT;

        if (f.field != GRAPH_NODE && !output)
            continue;
        for (ft__onnx_pb g = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&g);) {
            if (g.field == 1 && g.bytes.n) {
                ft__onnx_value *v = ft__onnx_name(o, ft__str_of(g.bytes));

                if (v)
                    v->uses += 2;
            }
            if (output || g.field != NODE_ATTRIBUTE)
                continue;
            for (ft__onnx_pb a = ft__pb_open(&o->doc, g.bytes); ft__pb_next(&a);)
                if (a.field == 6 || a.field == 11)
                    count_captures(o, a.bytes, depth + 1);
        }
    }
}

/* If, Loop, Scan and what else may hold graphs; operators with a rule of their
 * own do not. */
static void find_captures(const ft__onnx_node *n)
{
    for (ft__onnx_pb f = ft__pb_open(&n->import->doc, n->attrs); ft__pb_next(&f);) {
        if (f.field != NODE_ATTRIBUTE)
            continue;
        for (ft__onnx_pb a = ft__pb_open(&n->import->doc, f.bytes); ft__pb_next(&a);)
            if (a.field == 6 || a.field == 11)
                count_captures(n->import, a.bytes, 0);
    }
}

static void read_operand(ft__onnx_node *n, ft__bytes name)
{
    ft__onnx_value *v = name.n ? ft__onnx_name(n->import, ft__str_of(name)) : NULL;

    if (v) {
        v->uses++;
        v->reader = n;
    }
    n->in[n->n_in++] = v;
}

static void read_result(ft__onnx_node *n, ft__bytes name, bool nested)
{
    ft__str s = ft__str_of(name);
    ft__onnx_value *v = NULL;

    if (name.n)
        v = nested ? ft__onnx_hide(n->import, s) : ft__onnx_name(n->import, s);
    if (v && (v->producer || v->state != FT__UNDEFINED))
        ft__build_fail(n->import->b, FT_EFORMAT,
                       (uint64_t)(name.p - n->import->doc.base),
                       "\"%.*s\" is made twice", ft__shown(s.n, 100), s.s);
    if (v)
        v->producer = n;
    n->out[n->n_out++] = v;
}

static void read_node(ft__onnx *o, ft__bytes message, bool nested, ft__onnx_node *n)
{
    uint32_t n_in = 0, n_out = 0;

    n->import = o;
    n->op = n->name = n->domain = (ft__str){"", 0};
    n->caller = o->caller;
    n->defaults = o->defaults;
    n->attrs = (ft__bytes){message.p + message.n, 0};
    for (ft__onnx_pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        switch (f.field) {
        case NODE_INPUT: n_in++; break;
        case NODE_OUTPUT: n_out++; break;
        case NODE_NAME: n->name = ft__str_of(f.bytes); break;
        case NODE_OP: n->op = ft__str_of(f.bytes); break;
        case NODE_DOMAIN: n->domain = ft__str_of(f.bytes); break;
        case NODE_ATTRIBUTE:
            if (!n->attrs.n)
                n->attrs = (ft__bytes){f.start, (size_t)(f.end - f.start)};
            break;
        default: break;
        }
    }
    n->in = ft__onnx_alloc(o, (size_t)n_in + n_out, sizeof(ft__onnx_value *));
    if (!n->in)
        return;
    n->out = n->in + n_in;
    for (ft__onnx_pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        if (f.field == NODE_INPUT)
            read_operand(n, f.bytes);
        else if (f.field == NODE_OUTPUT)
            read_result(n, f.bytes, nested);
    }
    n->rule = ft__onnx_rule(o, n->domain, n->op);
    if (!n->rule || (n->rule->traits & FT__BODY))
        find_captures(n);
}

/* payload: bytes of it that are jumped over. */
static bool make_room(ft__onnx *o, ft__bytes at, size_t payload, ft__body *body)
{
    /* A body that is inlined often costs its bytes each time. */
    o->inlined += o->depth ? at.n - payload : 0;
    if (o->inlined > FT__MAX_INLINED) {
        ft__build_fail(o->b, FT_EUNSUPPORTED, (uint64_t)(at.p - o->doc.base),
                       "functions and branches expand to more than %d bytes",
                       FT__MAX_INLINED);
        return false;
    }
    if (body->n_nodes > FT__MAX_NODES - o->n_nodes) {
        ft__build_fail(o->b, FT_EUNSUPPORTED, (uint64_t)(at.p - o->doc.base),
                       "the model has more than %d nodes", FT__MAX_NODES);
        return false;
    }
    o->n_nodes += body->n_nodes;
    body->node = ft__onnx_alloc(o, body->n_nodes, sizeof(*body->node));
    body->out = ft__onnx_alloc(o, body->n_out, sizeof(*body->out));
    body->n_nodes = body->n_out = 0;
    return body->node && body->out;
}

static void add_output(ft__onnx *o, ft__body *body, ft__str name)
{
    ft__onnx_value *v = ft__onnx_name(o, name);

    if (!v)
        return;
    v->uses++;
    v->reader = NULL;
    body->out[body->n_out++] = v;
}

static void read_value_info(ft__onnx *o, ft__bytes info)
{
    ft__str name = ft__str_of(ft__pb_child(&o->doc, info, 1));
    ft__onnx_value *v = name.n ? ft__onnx_name(o, name) : NULL;

    if (v)
        v->type = ft__pb_child(&o->doc, info, 2);
}

/* Constants and what a function is called with come first: names that nodes read must
 * already mean them. */
static void read_names(ft__onnx *o, ft__bytes message, const ft__onnx_node *caller,
                       bool nested, ft__body *out)
{
    uint32_t i = 0;

    for (ft__onnx_pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        out->n_nodes += f.field == (caller ? FUNCTION_NODE : GRAPH_NODE);
        out->n_out += f.field == (caller ? FUNCTION_OUTPUT : GRAPH_OUTPUT);
        out->n_in += f.field == (caller ? FUNCTION_INPUT : GRAPH_INPUT);
        if (caller && f.field == FUNCTION_INPUT)
            ft__onnx_bind(o, ft__str_of(f.bytes), ft__in(caller, i++));
        else if (!caller &&
                 (f.field == GRAPH_INITIALIZER || f.field == GRAPH_SPARSE_INITIALIZER))
            read_initializer(o, f.bytes, f.field == GRAPH_SPARSE_INITIALIZER, nested);
    }
}

/* What the file says of a graph's values; results of either. */
static void read_outputs(ft__onnx *o, ft__bytes message, const ft__onnx_node *caller,
                         ft__body *out)
{
    for (ft__onnx_pb f = ft__pb_open(&o->doc, message);
         ft__pb_next(&f) && !ft__build_failed(o->b);) {
        if (caller && f.field == FUNCTION_OUTPUT)
            add_output(o, out, ft__str_of(f.bytes));
        if (caller)
            continue;
        if (f.field == GRAPH_VALUE_INFO || f.field == GRAPH_OUTPUT)
            read_value_info(o, f.bytes);
        if (f.field == GRAPH_OUTPUT)
            add_output(o, out, ft__str_of(ft__pb_child(&o->doc, f.bytes, 1)));
    }
}

void ft__onnx_read_body(ft__onnx *o, ft__bytes message, const ft__onnx_node *caller,
                        bool nested, ft__body *out)
{
    size_t payload = o->payload;
    uint32_t n_nodes;

    *out = (ft__body){0};
    read_names(o, message, caller, nested, out);
    n_nodes = out->n_nodes;
    if (o->doc.bad || !make_room(o, message, o->payload - payload, out))
        return;
    for (ft__onnx_pb f = ft__pb_open(&o->doc, message);
         out->n_nodes < n_nodes && ft__pb_next(&f) && !ft__build_failed(o->b);)
        if (f.field == (caller ? FUNCTION_NODE : GRAPH_NODE))
            read_node(o, f.bytes, nested, &out->node[out->n_nodes++]);
    read_outputs(o, message, caller, out);
}
