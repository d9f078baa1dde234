/* A node as its rule sees it: arguments, read when they are asked for, and the
 * operations that become of it, appended to the graph. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/pt2/pt2.h"

enum { MAX_PARAMS = 64 };

const ft__pt2_arg *ft__pt2_arg_of(const ft__pt2_node *n, const char *name)
{
    size_t len = strlen(name);

    for (uint32_t i = 0; i < n->n_args; i++)
        if (ft__text_is(n->arg[i].name, name, len))
            return &n->arg[i];
    return NULL;
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
    if (!ft__pt2_object(r))
        return v;
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

uint32_t ft__pt2_mask(const ft__pt2_node *n, uint32_t fallback)
{
    const ft__pt2_arg *a = ft__pt2_arg_of(n, "output_mask");
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

uint32_t ft__pt2_axis(const ft__pt2_node *n, int64_t axis, uint32_t rank)
{
    if (axis < 0)
        axis += rank ? rank : 1;
    if (axis < 0 || (axis >= (int64_t)rank && axis > 0)) {
        ft__pt2_fail(n, "an axis lies outside its %u dimensions", rank);
        return 0;
    }
    return (uint32_t)axis;
}

uint32_t ft__pt2_dim(const ft__pt2_node *n, int64_t fallback)
{
    return ft__pt2_axis(n, ft__pt2_int(n, "dim", fallback), n->x->shape.rank);
}

/* A constant comes into the graph when something that runs reads it; a view of
 * one brings the one along. */
static uint32_t weight_tensor(ft__pt2 *p, ft__pt2_value *v)
{
    uint32_t of = v->of ? ft__pt2_graph_tensor(p, v->of) : FT_NONE, tensor;
    ft_op op;

    if (ft__pt2_import_failed(p))
        return FT_NONE;
    tensor =
        ft__build_tensor(p->b, v->name.s, v->name.n,
                         v->of && v->transposed ? FT_ROLE_ACTIVATION : FT_ROLE_WEIGHT,
                         v->dtype, &v->shape);
    if (v->trainable && !v->of)
        ft__build_trainable(p->b, tensor);
    if (!v->of)
        return tensor;
    ft__op_init(&op, v->transposed ? FT_KIND_transpose : FT_KIND_view, v->dtype);
    ft__op_set_shape(&op, FT_K_x, &v->of->shape);
    if (v->transposed) {
        int64_t perm[FT_MAX_RANK];

        for (uint32_t i = 0; i < v->shape.rank; i++)
            perm[i] = v->perm[i];
        ft__op_set(&op, FT_K_perm, perm, v->shape.rank);
    } else {
        ft__op_set_shape(&op, FT_K_out, &v->shape);
    }
    ft__build_node(p->b, v->name.s, v->name.n, &op, &of, 1, NULL, 0, &tensor, 1);
    return tensor;
}

uint32_t ft__pt2_graph_tensor(ft__pt2 *p, ft__pt2_value *v)
{
    if (v->tensor == FT_NONE && !ft__pt2_import_failed(p)) {
        v->tensor = weight_tensor(p, v);
        v->lazy = p->lazy;
        p->lazy = v;
    }
    return v->tensor;
}

static ft__pt2_value *scalar(const ft__pt2_node *n, ft_dtype dtype)
{
    ft__pt2 *p = n->import;
    ft__pt2_value *v = ft__pt2_temp(n, NULL, dtype, &(ft_shape){0});

    if (!v)
        return NULL;
    v->state = FT__PT2_WEIGHT;
    if (p->scalar[dtype] == FT_NONE)
        p->scalar[dtype] =
            ft__build_tensor(p->b, "scalar", 6, FT_ROLE_WEIGHT, dtype, &v->shape);
    v->tensor = p->scalar[dtype];
    return v;
}

ft__pt2_value *ft__pt2_operand(const ft__pt2_node *n, uint32_t i, ft_dtype dtype)
{
    ft__pt2_value *v = ft__pt2_in(n, i);

    return v && v->typed ? v : scalar(n, dtype);
}

/* The gradient of a parameter is called after it. */
static uint32_t result(ft__pt2 *p, const ft__pt2_value *v)
{
    char name[256];
    int n;

    if (!v->gradient)
        return ft__build_tensor(p->b, v->name.s, v->name.n, FT_ROLE_ACTIVATION,
                                v->dtype, &v->shape);
    n = snprintf(name, sizeof(name), "%.*s gradient",
                 ft__shown(v->gradient->name.n, 200), v->gradient->name.s);
    return ft__build_tensor(p->b, name, (size_t)n, FT_ROLE_GRADIENT, v->dtype,
                            &v->shape);
}

static uint32_t define(ft__pt2 *p, ft__pt2_value *v)
{
    v->state = FT__PT2_ACTIVATION;
    v->tensor = result(p, v);
    if (v->open)
        ft__build_open(p->b, v->tensor, v->open);
    return v->tensor;
}

/* An operation that was checked, with results of the sizes it gives. */
static void add_node(const ft__pt2_node *n, const ft_op *op, const ft__pt2_call *c)
{
    uint32_t in[FT_OP_MAX_OPERANDS], out[FT_OP_MAX_OPERANDS], params[MAX_PARAMS];
    uint32_t n_params = 0, n_out = 0, needed = ft_op_n_outputs(op);

    for (uint32_t i = 0; i < c->n_in; i++)
        in[i] = ft__pt2_graph_tensor(n->import, c->in[i]);
    for (uint32_t i = 0; i < c->n_params; i++)
        if (c->params[i])
            params[n_params++] = ft__pt2_graph_tensor(n->import, c->params[i]);
    for (uint32_t i = 0; i < c->n_out && !ft__pt2_failed(n); i++) {
        ft__pt2_value *v = c->out[i];
        ft_shape s;
        ft_dtype t;

        if (i >= needed && (!v || !v->typed))
            continue;
        if (!v || !v->typed) { /* the operation gives it, the file leaves it out */
            ft_op_output(op, i, &s, &t);
            v = ft__pt2_temp(n, NULL, t, &s);
        }
        if (v)
            out[n_out++] = define(n->import, v);
    }
    if (!ft__pt2_failed(n))
        ft__build_checked(n->import->b, n->name.s, n->name.n, op, in, c->n_in, params,
                          n_params, out, n_out);
}

/* Whether the file states what the operation gives. */
static bool fits(const ft_op *op, const ft__pt2_call *c)
{
    uint32_t n = ft_op_n_outputs(op);
    ft_error err;

    if (ft_op_check(op, &err) || c->n_in > FT_OP_MAX_OPERANDS ||
        c->n_out > FT_OP_MAX_OPERANDS || c->n_params > MAX_PARAMS)
        return false;
    if (op->phase != FT_PHASE_FORWARD)
        return true;
    if (c->n_out < n || c->n_in != ft_op_n_inputs(op))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(op, i, &s, &t);
        if (c->out[i] && ft_shape_elements(&s) != ft_shape_elements(&c->out[i]->shape))
            return false;
    }
    return true;
}

/* Every tensor that a node reads, as far as operands go. */
static uint32_t operands(const ft__pt2_node *n, ft__pt2_value **in, int64_t *elements)
{
    uint32_t count = 0;

    *elements = 0;
    for (uint32_t i = 0; i < n->n_args; i++) {
        const ft__pt2_arg *a = &n->arg[i];

        if (a->type != FT__PT2_TENSOR && a->type != FT__PT2_TENSORS)
            continue;
        for (uint32_t k = 0; k < a->n && count < FT_OP_MAX_OPERANDS; k++) {
            if (!a->value[k] || a->value[k]->state == FT__PT2_UNDEFINED)
                continue;
            in[count++] = a->value[k];
            if (*elements < FT__MAX_ELEMENTS)
                *elements += ft_shape_elements(&a->value[k]->shape);
        }
    }
    if (*elements > FT__MAX_ELEMENTS)
        *elements = FT__MAX_ELEMENTS;
    return count;
}

void ft__pt2_emit_generic(const ft__pt2_node *n)
{
    ft__pt2_value *in[FT_OP_MAX_OPERANDS];
    int64_t read;
    uint32_t n_in = operands(n, in, &read);
    bool named = false;
    ft_error err;

    for (uint32_t i = 0; i < n->n_out && !ft__pt2_failed(n); i++) {
        ft__pt2_value *v = n->out[i];
        ft_op op;

        if (!v || !v->typed || v->state != FT__PT2_UNDEFINED)
            continue;
        ft__op_init(&op, FT_KIND_generic, v->dtype);
        ft__op_set1(&op, FT_K_read, named ? 0 : read);
        ft__op_set_shape(&op, FT_K_out, &v->shape);
        if (ft_op_check(&op, &err)) {
            ft__pt2_fail(n, "%s", err.msg);
            return;
        }
        add_node(n, &op,
                 &(ft__pt2_call){.in = in, .n_in = n_in, .out = &v, .n_out = 1});
        if (!named)
            ft__build_bounded(n->import->b, "%.*s (node %.*s)",
                              ft__shown(n->target.n, 100), n->target.s,
                              ft__shown(n->name.n, 200), n->name.s);
        named = true;
    }
}

ft_op ft__pt2_op(ft_kind kind, ft_dtype dtype, const ft__pt2_value *x,
                 const ft__pt2_value *y, const ft__pt2_value *out)
{
    ft_op op;

    ft__op_init(&op, kind, dtype || !x ? dtype : x->dtype);
    if (x)
        ft__op_set_shape(&op, FT_K_x, &x->shape);
    if (y)
        ft__op_set_shape(&op, FT_K_y, &y->shape);
    if (out)
        ft__op_set_shape(&op, FT_K_out, &out->shape);
    return op;
}

void ft__pt2_emit(const ft__pt2_node *n, const ft_op *op, const ft__pt2_call *c)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (!c->in[i])
            return;
    if (ft__pt2_failed(n))
        return;
    ft__pt2_batch_of_results(n, op, c);
    if (fits(op, c))
        add_node(n, op, c);
    else
        ft__pt2_emit_generic(n);
}

void ft__pt2_emit_gradient(const ft__pt2_node *n, ft_op *op, uint32_t wrt,
                           ft__pt2_value *const *in, uint32_t n_in,
                           ft__pt2_value *weights)
{
    ft__pt2_value *out[4];
    uint32_t n_out = 0;

    for (uint32_t i = 0; i < n->n_out && n_out < sizeof(out) / sizeof(*out); i++)
        if (n->out[i])
            out[n_out++] = n->out[i];
    op->phase = FT_PHASE_BACKWARD;
    ft__op_set_wrt(op, wrt);
    ft__pt2_emit(n, op, &(ft__pt2_call){in, n_in, &weights, 1, out, n_out});
}

ft__pt2_value *ft__pt2_make(const ft__pt2_node *n, const ft_op *op,
                            ft__pt2_value *const *in, uint32_t n_in)
{
    ft__pt2_value *out;
    ft_dtype t;
    ft_shape s;

    for (uint32_t i = 0; i < n_in; i++)
        if (!in[i])
            return NULL;
    ft_op_output(op, 0, &s, &t);
    out = ft__pt2_temp(n, n->out[0], t, &s);
    if (out)
        ft__pt2_emit_to(n, op, in, n_in, out);
    return ft__pt2_made(n, out);
}

/* A view of a constant stays one, until something reads it. */
static void constant_view(ft__pt2_value *x, ft__pt2_value *out)
{
    out->state = FT__PT2_WEIGHT;
    out->of = x;
}

void ft__pt2_emit_view(const ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *out)
{
    ft_op op;

    if (!x || !out || ft__pt2_failed(n))
        return;
    ft__pt2_batch_in_order(n, x, out);
    if (x->state == FT__PT2_WEIGHT &&
        ft_shape_elements(&x->shape) == ft_shape_elements(&out->shape) &&
        x->dtype == out->dtype) {
        constant_view(x, out);
        return;
    }
    op = ft__pt2_op(FT_KIND_view, out->dtype, x, NULL, out);
    ft__pt2_emit_to(n, &op, &x, 1, out);
}

void ft__pt2_emit_transpose(const ft__pt2_node *n, ft__pt2_value *x, ft__pt2_value *out,
                            const int64_t *perm)
{
    uint32_t rank = x->shape.rank;
    bool same = true;
    ft_op op;

    if (out)
        ft__pt2_batch_moves(n, x, out, perm);
    for (uint32_t i = 0; i < rank; i++)
        same &= perm[i] == (int64_t)i;
    if (same || !out) {
        ft__pt2_emit_view(n, x, out);
        return;
    }
    if (x->state == FT__PT2_WEIGHT && out->shape.rank == rank) {
        constant_view(x, out);
        out->transposed = true;
        for (uint32_t i = 0; i < rank; i++)
            out->perm[i] = (uint8_t)perm[i];
        return;
    }
    op = ft__pt2_op(FT_KIND_transpose, x->dtype, x, NULL, NULL);
    ft__op_set(&op, FT_K_perm, perm, rank);
    ft__pt2_emit_to(n, &op, &x, 1, out);
}
