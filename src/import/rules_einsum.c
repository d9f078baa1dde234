/* Einstein sums of two operands as what engines make of them: transposes around
 * one (batched) matrix product. */
#include <string.h>

#include "base/limits.h"
#include "import/onnx.h"

/* Labels in an order, at most one per dimension. */
struct labels {
    char s[3 * FT_MAX_RANK];
    uint32_t n;
};

struct sum {
    struct labels x, y, out;
    struct labels batch, rows, columns, inner; /* of the matrix product */
    int64_t size[128];
};

static bool has(const struct labels *l, char c)
{
    return l->n && memchr(l->s, c, l->n);
}

static void add(struct labels *l, char c)
{
    l->s[l->n++] = c;
}

static void append(struct labels *l, const struct labels *more)
{
    for (uint32_t i = 0; i < more->n; i++)
        add(l, more->s[i]);
}

/* One term up to a separator; false: not letters, each once, at most 8. */
static bool read_term(ft__str *text, const char *separator, struct labels *out)
{
    size_t skip = strlen(separator);

    out->n = 0;
    while (text->n && (!skip || text->n < skip || memcmp(text->s, separator, skip))) {
        char c = *text->s++;

        text->n--;
        if (c == ' ')
            continue;
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) || has(out, c) ||
            out->n == FT_MAX_RANK)
            return false;
        add(out, c);
    }
    if (text->n < skip)
        return false;
    text->s += skip;
    text->n -= skip;
    return true;
}

static bool sizes_fit(struct sum *e, const struct labels *l, const ft_shape *s)
{
    for (uint32_t i = 0; i < l->n && l->n == s->rank; i++) {
        int64_t *size = &e->size[(unsigned char)l->s[i]];

        if (*size >= 0 && *size != s->dim[i])
            return false;
        *size = s->dim[i];
    }
    return l->n == s->rank;
}

/* Sort every label into its part; false: one is summed in one operand alone. */
static bool classify(struct sum *e)
{
    for (uint32_t i = 0; i < e->out.n; i++) {
        char c = e->out.s[i];
        bool x = has(&e->x, c), y = has(&e->y, c);

        if (!x && !y)
            return false;
        add(x && y ? &e->batch : x ? &e->rows : &e->columns, c);
    }
    for (uint32_t i = 0; i < e->x.n; i++)
        if (!has(&e->out, e->x.s[i])) {
            if (!has(&e->y, e->x.s[i]))
                return false;
            add(&e->inner, e->x.s[i]);
        }
    for (uint32_t i = 0; i < e->y.n; i++)
        if (!has(&e->out, e->y.s[i]) && !has(&e->x, e->y.s[i]))
            return false;
    return true;
}

static ft_shape shape_of(const struct sum *e, const struct labels *l)
{
    ft_shape s = {0};

    for (uint32_t i = 0; i < l->n && i < FT_MAX_RANK; i++)
        s.dim[s.rank++] = e->size[(unsigned char)l->s[i]];
    return s;
}

static int64_t product(const struct sum *e, const struct labels *l)
{
    ft_shape s = shape_of(e, l);

    return ft_shape_elements(&s);
}

/* v, whose axes are called `from`, with its axes in the order `to`. */
static ft__value *reordered(ft__onnx *o, const ft__node *n, ft__value *v,
                            const struct labels *from, const struct labels *to,
                            ft__value *out)
{
    int64_t perm[FT_MAX_RANK] = {0};
    ft_op op;

    if (from->n == to->n && memcmp(from->s, to->s, from->n) == 0)
        return v;
    for (uint32_t i = 0; i < to->n; i++)
        perm[i] = (const char *)memchr(from->s, to->s[i], from->n) - from->s;
    ft_op_init(&op, FT_KIND_transpose, v->dtype);
    ft_op_set_shape(&op, FT_K_x, &v->shape);
    ft_op_set(&op, FT_K_perm, perm, to->n);
    if (out &&
        ft__emit(o, n, &op, &(ft__call){.in = &v, .n_in = 1, .out = &out, .n_out = 1}))
        out->root = v->root ? v->root : v;
    return out;
}

static void multiply(ft__onnx *o, const ft__node *n, const struct sum *e, ft__value *x,
                     ft__value *y, ft__value *out, const ft_shape *shape)
{
    int64_t batch = product(e, &e->batch), rows = product(e, &e->rows),
            columns = product(e, &e->columns), inner = product(e, &e->inner);
    bool linear = ft__is_constant(y) && e->batch.n == 0;
    ft_op op;

    ft_op_init(&op, linear ? FT_KIND_linear : FT_KIND_matmul, x->dtype);
    if (e->batch.n) {
        ft_op_set(&op, FT_K_x, (int64_t[]){batch, rows, inner}, 3);
        ft_op_set(&op, FT_K_y, (int64_t[]){batch, inner, columns}, 3);
    } else {
        ft_op_set(&op, FT_K_x, (int64_t[]){rows, inner}, 2);
        if (linear)
            ft_op_set1(&op, FT_K_out, columns);
        else
            ft_op_set(&op, FT_K_y, (int64_t[]){inner, columns}, 2);
    }
    ft__emit(o, n, &op,
             &(ft__call){.in = (ft__value *[]){x, y},
                         .n_in = linear ? 1 : 2,
                         .params = &y,
                         .n_params = linear,
                         .out = &out,
                         .n_out = 1,
                         .shape = shape});
}

static void contract(ft__onnx *o, ft__node *n, struct sum *e)
{
    struct labels to_x = e->batch, to_y = e->batch, made = e->batch;
    ft__value *x, *y, *out = n->out[0];
    ft_shape s;

    append(&to_x, &e->rows);
    append(&to_x, &e->inner);
    append(&to_y, &e->inner);
    append(&to_y, &e->columns);
    append(&made, &e->rows);
    append(&made, &e->columns);
    s = shape_of(e, &made);
    x = reordered(o, n, n->in[0], &e->x, &to_x, ft__onnx_temp(o, n->in[0]));
    y = reordered(o, n, n->in[1], &e->y, &to_y, ft__onnx_temp(o, n->in[1]));
    if (memcmp(made.s, e->out.s, made.n) != 0)
        out = ft__onnx_temp(o, n->out[0]);
    if (!x || !y || !out || ft__failed(o))
        return;
    multiply(o, n, e, x, y, out, &s);
    if (!ft__failed(o))
        reordered(o, n, out, &made, &e->out, n->out[0]);
}

void ft__rule_einsum(ft__onnx *o, ft__node *n)
{
    ft__str text = ft__attr_str(o, n, "equation");
    struct sum e = {0};
    ft_shape s;

    memset(e.size, 0xff, sizeof(e.size));
    if (n->n_in != 2 || !n->in[1] || !read_term(&text, ",", &e.x) ||
        !read_term(&text, "->", &e.y) || !read_term(&text, "", &e.out)) {
        ft__emit_unknown(o, n);
        return;
    }
    if (!sizes_fit(&e, &e.x, &n->in[0]->shape) ||
        !sizes_fit(&e, &e.y, &n->in[1]->shape)) {
        ft__onnx_fail(o, n, FT_EFORMAT, "its equation does not fit its operands");
        return;
    }
    s = shape_of(&e, &e.out);
    if (classify(&e))
        contract(o, n, &e);
    else
        ft__emit_generic(o, n, n->out[0], n->in[0]->dtype, &s);
}
