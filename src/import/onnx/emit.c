/* Operation -> graph, or, when every operand is a constant, -> constant. */
#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

enum { MAX_PARAMS = 8 }; /* weights of one operation */

ft_op ft__op_x(ft_kind kind, const ft__onnx_value *x)
{
    return ft__op_of(kind, x->dtype, &x->shape);
}

void ft__push(const ft__onnx_node *n, ft_shape *s, int64_t dim)
{
    if (s->rank == FT_MAX_RANK)
        ft__onnx_unsupported(n, "its result has more than %d dimensions", FT_MAX_RANK);
    else
        s->dim[s->rank++] = dim;
}

void ft__insert_dim(const ft__onnx_node *n, ft_shape *s, uint32_t at, int64_t dim)
{
    ft__push(n, s, dim);
    if (ft__failed(n))
        return;
    memmove(s->dim + at + 1, s->dim + at, (s->rank - at - 1) * sizeof(*s->dim));
    s->dim[at] = dim;
}

/* A constant comes into the graph when something that runs reads it. Constants
 * of equal memory (a reshaped or transposed weight, a tied embedding) share one
 * tensor, or a view of it. */
static uint32_t constant_tensor(ft__onnx *o, ft__onnx_value *v)
{
    uint32_t *memory = v->root ? &v->root->memory : &v->memory, tensor;
    ft_shape whole;
    ft_op op;

    if (*memory != FT_NONE) {
        whole = ft__build_get(o->b, *memory)->shape;
        if (ft_shape_equal(&whole, &v->shape))
            return *memory;
    }
    tensor = ft__build_tensor(o->b, v->name.s, v->name.n, FT_ROLE_WEIGHT, v->dtype,
                              &v->shape);
    if (*memory == FT_NONE)
        return *memory = tensor;
    op = ft__op_of(FT_KIND_view, v->dtype, &whole);
    ft__op_set_shape(&op, FT_K_out, &v->shape);
    ft__build_node(o->b, v->name.s, v->name.n, &op, memory, 1, NULL, 0, &tensor, 1);
    return tensor;
}

/* A list comes into the graph when something that runs reads it, or as a result:
 * one tensor stands for all. */
static uint32_t list_tensor(ft__onnx *o, ft__onnx_value *v)
{
    uint32_t in[FT_OP_MAX_OPERANDS], n_in = 0, tensor;
    ft_op op;

    for (uint32_t i = 0; i < v->n_parts && n_in < FT_OP_MAX_OPERANDS; i++)
        in[n_in++] = ft__onnx_tensor(o, v->part[i]);
    tensor = ft__build_tensor(o->b, v->name.s, v->name.n, FT_ROLE_ACTIVATION, v->dtype,
                              &v->shape);
    ft__op_init(&op, FT_KIND_generic, v->dtype);
    ft__op_set1(&op, FT_K_read, 0);
    ft__op_set_shape(&op, FT_K_out, &v->shape);
    if (ft__onnx_failed(o))
        return FT_NONE;
    ft__build_node(o->b, v->name.s, v->name.n, &op, in, n_in, NULL, 0, &tensor, 1);
    if (v->open)
        ft__build_open(o->b, tensor, v->open);
    return tensor;
}

uint32_t ft__onnx_tensor(ft__onnx *o, ft__onnx_value *v)
{
    ft__lazy *lazy;

    if (v->tensor != FT_NONE || ft__onnx_failed(o))
        return v->tensor;
    lazy = ft__onnx_alloc(o, 1, sizeof(*lazy));
    if (!lazy)
        return FT_NONE;
    *lazy = (ft__lazy){v, o->lazy};
    o->lazy = lazy;
    v->tensor = v->container && v->state == FT__ACTIVATION ? list_tensor(o, v)
                                                           : constant_tensor(o, v);
    return v->tensor;
}

void ft__define_constant(const ft__onnx_node *n, ft__onnx_value *v, ft_dtype dtype,
                         const ft_shape *shape)
{
    if (!ft__shape_fits(shape))
        ft__onnx_fail(n, "shapes do not fit together, or the result is too large");
    v->state = FT__CONSTANT;
    v->dtype = dtype;
    v->shape = *shape;
}

static void define_result(const ft__onnx_node *n, ft__onnx_value *v, ft_dtype dtype,
                          const ft_shape *shape)
{
    if (!ft__shape_fits(shape)) {
        ft__onnx_fail(n, "shapes do not fit together, or the result is too large");
        return;
    }
    v->state = FT__ACTIVATION;
    v->dtype = dtype;
    v->shape = *shape;
    if (!n->import->dry)
        v->tensor = ft__build_tensor(n->import->b, v->name.s, v->name.n,
                                     FT_ROLE_ACTIVATION, dtype, shape);
}

/* Of an operation that was checked. */
static void add_node(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c,
                     const uint32_t *out)
{
    uint32_t in[FT_OP_MAX_OPERANDS], params[MAX_PARAMS];
    ft__str name = n->name.n || !c->out[0] ? n->name : c->out[0]->name;

    if (n->import->dry)
        return;
    for (uint32_t i = 0; i < c->n_in; i++)
        in[i] = ft__onnx_tensor(n->import, c->in[i]);
    for (uint32_t i = 0; i < c->n_params; i++)
        params[i] = ft__onnx_tensor(
            n->import, c->params[i]->stored ? c->params[i]->stored : c->params[i]);
    if (!ft__failed(n))
        ft__build_checked(n->import->b, name.s, name.n, op, in, c->n_in, params,
                          c->n_params, out, c->n_out);
}

/* A parameter that is repeated for every sample, a class token: its elements are
 * there once. */
static bool repeats(const ft_op *op, const ft__onnx_call *c)
{
    return op->kind == FT_KIND_expand && ft__dtype_is_real(op->dtype) &&
           ft_shape_elements(&c->in[0]->shape) > 1;
}

static void name_bounded(const ft__onnx_node *n, const ft__onnx_value *out,
                         const char *how)
{
    ft__str name = n->name.n ? n->name : out->name;

    ft__build_bounded(n->import->b, "%.*s (node %.*s)%s", ft__shown(n->op.n, 60),
                      n->op.s, ft__shown(name.n, 200), name.s, how);
}

bool ft__emit(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c)
{
    uint32_t out[FT_OP_MAX_OPERANDS];
    bool constant = c->n_in > 0 && c->n_params == 0 && !repeats(op, c);
    ft_error err;

    for (uint32_t i = 0; i < c->n_in; i++)
        constant &= c->in[i]->state == FT__CONSTANT;
    for (uint32_t i = 0; c->open && i < c->n_out; i++)
        if (c->out[i]) {
            c->out[i]->guessed = true;
            c->out[i]->open = c->open;
        }
    if (!ft__failed(n) && ft_op_check(op, &err))
        ft__onnx_fail(n, "%s", err.msg);
    if (c->n_in > FT_OP_MAX_OPERANDS || c->n_out > FT_OP_MAX_OPERANDS)
        ft__onnx_unsupported(n, "more than %d operands", FT_OP_MAX_OPERANDS);
    for (uint32_t i = 0; i < c->n_out && !ft__failed(n); i++) {
        ft__onnx_value *v = c->out[i] ? c->out[i] : ft__onnx_temp(n, NULL);
        ft_shape s;
        ft_dtype t;

        ft_op_output(op, i, &s, &t);
        if (c->shape && i < (c->n_shapes ? c->n_shapes : 1)) {
            if (ft_shape_elements(&s) != ft_shape_elements(&c->shape[i]))
                ft__onnx_fail(n, "the result of %s has another size",
                              ft_kind_name(op->kind));
            s = c->shape[i];
        }
        if (v && constant)
            ft__define_constant(n, v, t, &s);
        else if (v)
            define_result(n, v, t, &s);
        out[i] = v ? v->tensor : FT_NONE;
    }
    if (!constant && !ft__failed(n))
        add_node(n, op, c, out);
    if (c->open)
        name_bounded(n, n->out[0], ", its size bounded");
    return constant && !ft__failed(n);
}

bool ft__emit_layer(const ft__onnx_node *n, const ft_op *op, const ft__onnx_call *c)
{
    ft__onnx_value *in[FT_OP_MAX_OPERANDS], *params[MAX_PARAMS];
    ft__onnx_call sorted = *c;

    sorted.in = in;
    sorted.params = params;
    sorted.n_in = sorted.n_params = 0;
    for (uint32_t i = 0; i < c->n_in && i < FT_OP_MAX_OPERANDS; i++)
        in[sorted.n_in++] = c->in[i];
    for (uint32_t i = 0; i < c->n_params; i++) {
        ft__onnx_value *v = c->params[i];

        if (ft__is_constant(v) && sorted.n_params < MAX_PARAMS)
            params[sorted.n_params++] = v;
        else if (v && sorted.n_in < FT_OP_MAX_OPERANDS)
            in[sorted.n_in++] = v;
    }
    return ft__emit(n, op, &sorted);
}

ft__onnx_value *ft__make(const ft__onnx_node *n, const ft_op *op,
                         ft__onnx_value *const *in, uint32_t n_in,
                         ft__onnx_value *const *params, uint32_t n_params,
                         const ft_shape *shape, ft__onnx_value *out)
{
    for (uint32_t i = 0; i < n_in; i++)
        if (!in[i])
            return NULL;
    if (ft__failed(n))
        return NULL;
    if (!out)
        out = ft__onnx_temp(n, n->out[0]);
    if (!out)
        return NULL;
    ft__emit(n, op, &(ft__onnx_call){in, n_in, params, n_params, &out, 1, shape, 0, 0});
    return ft__failed(n) ? NULL : out;
}

/* The same container by another name. */
static void call_it(const ft__onnx_value *x, ft__onnx_value *out)
{
    out->state = x->state;
    out->dtype = x->dtype;
    out->shape = x->shape;
    out->open = x->open;
    out->container = x->container;
    out->listed = x->listed;
    out->empty = x->empty;
    out->part = x->part;
    out->n_parts = x->n_parts;
    out->tensor = x->tensor;
}

void ft__emit_view(const ft__onnx_node *n, ft__onnx_value *x, ft__onnx_value *out,
                   const ft_shape *shape)
{
    ft_op op;

    if (x->container & (FT_CONTAINER_SEQUENCE | FT_CONTAINER_MAP)) {
        call_it(x, out);
        return;
    }
    if (out)
        out->container = x->container;
    op = ft__op_xto(FT_KIND_view, x, shape);
    if (!ft__emit(n, &op,
                  &(ft__onnx_call){
                      .in = &x, .n_in = 1, .out = &out, .n_out = 1, .shape = shape}) ||
        !out)
        return;
    out->root = x->root ? x->root : x;
    out->stored = x->stored;
    out->proto = x->proto;
    out->data = x->data;
}

void ft__emit_results(ft__onnx_node *n, const ft__body *body)
{
    for (uint32_t i = 0; i < n->n_out && !ft__failed(n); i++) {
        ft__onnx_value *v = i < body->n_out ? body->out[i] : NULL;

        if (!n->out[i])
            continue;
        if (!v || v->state == FT__UNDEFINED)
            ft__onnx_fail(n, "its body does not make result %u", i + 1);
        else
            ft__emit_view(n, v, n->out[i], &v->shape);
    }
}

/* A second guess is one that the first import did not make anywhere. */
static uint32_t unused(uint64_t used, uint32_t from)
{
    while (from < 63 && used >> from & 1)
        from++;
    return from;
}

static void remember(ft__onnx *o, const ft_shape *s, uint32_t open)
{
    o->guesses++;
    if (open & FT_OPEN_RANK)
        o->ranks |= 1u << s->rank;
    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dim[i] < 63 && (open & (FT_OPEN_RANK | 1u << i)))
            o->sizes |= (uint64_t)1 << s->dim[i];
}

ft_shape ft__guess(ft__onnx *o, const ft_shape *most, uint32_t open)
{
    ft_shape s = *most;

    if (!open)
        return s;
    if (!o->low) {
        remember(o, most, open);
        return s;
    }
    if (open & FT_OPEN_RANK)
        s.rank = unused(o->ranks, 1) <= FT_MAX_RANK ? unused(o->ranks, 1) : 0;
    for (uint32_t i = 0; i < s.rank; i++)
        if (open & (FT_OPEN_RANK | 1u << i))
            s.dim[i] = unused(o->sizes, 1);
    return s;
}

/* What the file says of a result; the dimensions that it leaves open are taken
 * to hold all that x has. False: it does not say how many there are, and nothing is
 * written. */
static bool stated_type(ft__onnx *o, const ft__onnx_value *v, const ft__onnx_value *x,
                        ft_dtype *dtype, ft_shape *shape, uint32_t *open)
{
    int64_t left = x ? ft_shape_elements(&x->shape) : 1;
    ft__onnx_value stated = {0};

    if (!v->type.n)
        return false;
    ft__onnx_read_type(o, v->type, &stated);
    if (stated.container || stated.open & FT_OPEN_RANK)
        return false;
    *dtype = stated.dtype ? stated.dtype : *dtype;
    *shape = stated.shape;
    *open = stated.open;
    for (uint32_t i = 0; i < shape->rank; i++)
        left /= shape->dim[i] > 0 ? shape->dim[i] : 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        if (*open >> i & 1) {
            shape->dim[i] = left > 0 ? left : 1;
            left = 1;
        }
    return true;
}

/* One result as an operation that reads `read` elements. */
static void add_generic(const ft__onnx_node *n, ft__onnx_value *out, int64_t read,
                        ft_dtype dtype, const ft_shape *shape)
{
    ft__onnx_value *in[FT_OP_MAX_OPERANDS];
    ft_op op;
    uint32_t tensor, n_in = 0;

    for (uint32_t i = 0; i < n->n_in && n_in < FT_OP_MAX_OPERANDS; i++)
        if (n->in[i] && n->in[i]->state != FT__UNDEFINED)
            in[n_in++] = n->in[i];
    ft__op_init(&op, FT_KIND_generic, dtype);
    ft__op_set1(&op, FT_K_read, read);
    ft__op_set_shape(&op, FT_K_out, shape);
    define_result(n, out, dtype, shape);
    tensor = out->tensor;
    if (!ft__failed(n))
        add_node(n, &op,
                 &(ft__onnx_call){.in = in, .n_in = n_in, .out = &out, .n_out = 1},
                 &tensor);
}

static int64_t elements_read(const ft__onnx_node *n)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < n->n_in && sum < FT__MAX_ELEMENTS; i++)
        if (n->in[i] && n->in[i]->state != FT__UNDEFINED)
            sum += ft_shape_elements(&n->in[i]->shape);
    return sum < FT__MAX_ELEMENTS ? sum : FT__MAX_ELEMENTS;
}

static bool only_constants(const ft__onnx_node *n)
{
    bool constant = n->n_in > 0;

    for (uint32_t i = 0; i < n->n_in; i++)
        constant &= !n->in[i] || n->in[i]->state == FT__CONSTANT;
    return constant;
}

static ft__onnx_value *first_operand(const ft__onnx_node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->state != FT__UNDEFINED)
            return n->in[i];
    return NULL;
}

static void add_open(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                     const ft_shape *most, uint32_t open, const char *how)
{
    ft_shape s = ft__guess(n->import, most, open);

    out->guessed |= open != 0;
    out->open = open;
    add_generic(n, out, elements_read(n), dtype, &s);
    name_bounded(n, out, how);
}

void ft__emit_counted(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                      const ft_shape *shape)
{
    if (!out)
        return;
    if (only_constants(n))
        ft__define_constant(n, out, dtype, shape);
    else
        add_generic(n, out, elements_read(n), dtype, shape);
}

void ft__emit_generic(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                      const ft_shape *shape)
{
    const ft__onnx_value *x = first_operand(n);
    const char *how = "";
    ft_shape s = shape ? *shape : (ft_shape){0};
    uint32_t open = 0;

    if (!out)
        return;
    if (!shape && !stated_type(n->import, out, x, &dtype, &s, &open)) {
        s = x ? x->shape : (ft_shape){0};
        how = ", its result taken to be as large as its operand";
        open = FT_OPEN_RANK;
    }
    if (dtype == FT_DTYPE_NONE)
        dtype = x ? x->dtype : FT_DTYPE_fp32;
    if (only_constants(n) && !open)
        ft__define_constant(n, out, dtype, &s);
    else
        add_open(n, out, dtype, &s, open, how);
}

void ft__emit_open(const ft__onnx_node *n, ft__onnx_value *out, ft_dtype dtype,
                   const ft_shape *most, uint32_t open)
{
    if (out)
        add_open(n, out, dtype, most, open, open ? ", its size bounded" : "");
}

void ft__emit_unknown(ft__onnx_node *n)
{
    bool first = true;

    for (uint32_t i = 0; i < n->n_out; i++) {
        ft__onnx_value *v = n->out[i];

        if (!v || (v->uses == 0 && (i > 0 || n->n_out > 1)))
            continue;
        if (first)
            ft__emit_generic(n, v, FT_DTYPE_NONE, NULL);
        else
            ft__emit_extra(n, i, FT_DTYPE_NONE, NULL);
        first = false;
    }
    if (first)
        ft__emit_generic(n, n->out[0], FT_DTYPE_NONE, NULL);
}

void ft__emit_extra_open(const ft__onnx_node *n, uint32_t i, ft_dtype dtype,
                         const ft_shape *most, uint32_t open)
{
    ft__onnx_value *v = ft__out(n, i);
    ft_shape s;

    if (!v || v->uses == 0)
        return;
    v->guessed |= open != 0;
    v->open = open;
    s = ft__guess(n->import, most, open);
    add_generic(n, v, 0, dtype, &s);
}

void ft__emit_extra(const ft__onnx_node *n, uint32_t i, ft_dtype dtype,
                    const ft_shape *shape)
{
    const ft__onnx_value *v = ft__out(n, i), *x = first_operand(n);
    ft_shape s = shape ? *shape : x ? x->shape : (ft_shape){0};
    uint32_t open = shape ? 0 : FT_OPEN_RANK;

    if (!v || v->uses == 0)
        return;
    stated_type(n->import, v, x, &dtype, &s, &open);
    if (dtype == FT_DTYPE_NONE)
        dtype = x ? x->dtype : FT_DTYPE_fp32;
    ft__emit_extra_open(n, i, dtype, &s, open);
}
