/* Einstein sums as what engines make of them: each operand loses what only it
 * has, then two at a time are multiplied as (batched) matrices, with transposes
 * around the products. */
#include <string.h>

#include "graph/op_inside.h"
#include "import/onnx/onnx.h"

/* A label is a letter, or one of the dimensions that an ellipsis stands for,
 * counted from its end. */
enum { ELLIPSIS = 128, MAX_LABELS = ELLIPSIS + FT_MAX_RANK, MAX_TERMS = 16 };

/* Labels in an order; more than there are dimensions only on the way. */
struct labels {
    uint8_t s[3 * FT_MAX_RANK];
    uint32_t n;
};

struct sum {
    struct labels in[MAX_TERMS];
    struct labels out;
    uint32_t n_terms;
    uint32_t ellipsis; /* dimensions of the longest */
    bool arrow;
    int64_t size[MAX_LABELS]; /* -1: no such label */
};

static bool has(const struct labels *l, uint8_t c)
{
    return l->n && memchr(l->s, c, l->n);
}

static void add(struct labels *l, uint8_t c)
{
    if (l->n < sizeof(l->s))
        l->s[l->n++] = c;
}

static void append(struct labels *l, const struct labels *more)
{
    for (uint32_t i = 0; i < more->n; i++)
        add(l, more->s[i]);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- the equation ---- */

/* One term from *text up to a comma or arrow. dims: those that its ellipsis
 * stands for. False: no term. */
static bool read_term(ft__str *text, uint32_t dims, struct labels *out)
{
    out->n = 0;
    for (; text->n && *text->s != ',' && *text->s != '-'; text->s++, text->n--) {
        if (is_letter(*text->s)) {
            add(out, (uint8_t)*text->s);
        } else if (text->n >= 3 && memcmp(text->s, "...", 3) == 0) {
            text->s += 2;
            text->n -= 2;
            for (uint32_t i = dims; i-- > 0;)
                add(out, (uint8_t)(ELLIPSIS + i));
        } else if (*text->s != ' ') {
            return false;
        }
    }
    return out->n <= FT_MAX_RANK;
}

/* Letters of a term that stands at text: what is left of `rank` is what an
 * ellipsis stands for. */
static uint32_t ellipsis_of(ft__str text, uint32_t rank, bool *there)
{
    uint32_t letters = 0;

    *there = false;
    for (size_t i = 0; i < text.n && text.s[i] != ',' && text.s[i] != '-'; i++) {
        letters += is_letter(text.s[i]);
        *there |= text.s[i] == '.';
    }
    return rank > letters ? rank - letters : 0;
}

/* A size of 1 stretches to another one. */
static bool sizes_fit(struct sum *e, const struct labels *l, const ft_shape *s)
{
    for (uint32_t i = 0; i < l->n && l->n == s->rank; i++) {
        int64_t *size = &e->size[l->s[i]];

        if (*size > 1 && s->dim[i] != 1 && *size != s->dim[i])
            return false;
        if (*size < 0 || *size == 1)
            *size = s->dim[i];
    }
    return l->n == s->rank;
}

/* Without an arrow: what the ellipsis stands for, then every letter that occurs
 * once, in order. */
static void implied_result(struct sum *e)
{
    for (uint32_t i = e->ellipsis; i-- > 0;)
        add(&e->out, (uint8_t)(ELLIPSIS + i));
    for (int code = 'A'; code <= 'z'; code++) {
        uint8_t c = (uint8_t)code;
        uint32_t count = 0;

        for (uint32_t t = 0; t < e->n_terms; t++)
            for (uint32_t i = 0; i < e->in[t].n; i++)
                count += e->in[t].s[i] == c;
        if (count == 1)
            add(&e->out, c);
    }
}

static bool read_equation(ft__str text, const ft__node *n, struct sum *e)
{
    memset(e->size, 0xff, sizeof(e->size));
    for (e->n_terms = 0; e->n_terms < n->n_in; e->n_terms++) {
        const ft_shape *s = &n->in[e->n_terms]->shape;
        bool there;
        uint32_t dims = ellipsis_of(text, s->rank, &there);

        if (!read_term(&text, dims, &e->in[e->n_terms]) ||
            !sizes_fit(e, &e->in[e->n_terms], s))
            return false;
        if (there && dims > e->ellipsis)
            e->ellipsis = dims;
        if (e->n_terms + 1 == n->n_in)
            continue;
        if (!text.n || *text.s != ',')
            return false;
        text.s++;
        text.n--;
    }
    e->arrow = text.n >= 2 && memcmp(text.s, "->", 2) == 0;
    if (!e->arrow) {
        implied_result(e);
        return text.n == 0 && e->out.n <= FT_MAX_RANK;
    }
    text.s += 2;
    text.n -= 2;
    if (!read_term(&text, e->ellipsis, &e->out) || text.n)
        return false;
    for (uint32_t i = 0; i < e->out.n; i++)
        if (e->size[e->out.s[i]] < 0 || memchr(e->out.s, e->out.s[i], i))
            return false;
    return true;
}

/* ---- the steps ---- */

static ft_shape shape_of(const struct sum *e, const struct labels *l)
{
    ft_shape s = {0};

    for (uint32_t i = 0; i < l->n; i++)
        s.dim[s.rank++] = e->size[l->s[i]];
    return s;
}

static int64_t product(const struct sum *e, const struct labels *l)
{
    ft_shape s = shape_of(e, l);

    return ft_shape_elements(&s);
}

/* One operand on its way: a value, and what its axes are called. */
struct term {
    ft__value *v;
    struct labels l;
};

/* Take the diagonal where a label stands twice, and drop ones that stretch. */
static void take_diagonal(const ft__node *n, const struct sum *e, struct term *t)
{
    struct labels l = {.n = 0};
    ft_shape s = {0};
    ft__value *out;
    ft_op op;

    for (uint32_t i = 0; i < t->l.n; i++) {
        uint8_t c = t->l.s[i];

        if (has(&l, c) || t->v->shape.dim[i] != e->size[c])
            continue;
        add(&l, c);
        s.dim[s.rank++] = e->size[c];
    }
    if (l.n == t->l.n)
        return;
    out = ft__onnx_temp(n, t->v);
    if (out && ft_shape_elements(&s) == ft_shape_elements(&t->v->shape)) {
        ft__emit_view(n, t->v, out, &s);
    } else if (out) {
        op = ft__op_x(FT_KIND_slice, t->v);
        ft__op_set_shape(&op, FT_K_out, &s);
        ft__emit(
            n, &op,
            &(ft__call){.in = &t->v, .n_in = 1, .out = &out, .n_out = 1, .shape = &s});
    }
    *t = (struct term){out, l};
}

/* Add up the axes that nobody else has. */
static void add_up(const ft__node *n, const struct labels *wanted, struct term *t)
{
    struct labels l = {.n = 0};
    uint32_t axes = 0;

    for (uint32_t i = 0; i < t->l.n; i++)
        if (has(wanted, t->l.s[i]))
            add(&l, t->l.s[i]);
        else
            axes |= 1u << i;
    if (axes && t->v)
        *t = (struct term){ft__reduce(n, FT_KIND_reduce_sum, t->v, axes, false, NULL),
                           l};
}

/* The axes of t in this order, into out (NULL: a value of its own). */
static ft__value *reordered(const ft__node *n, const struct term *t,
                            const struct labels *to, ft__value *out)
{
    int64_t perm[FT_MAX_RANK] = {0};
    bool moved = false;
    ft__value *v = t->v;
    ft_op op;

    for (uint32_t i = 0; i < to->n; i++) {
        perm[i] = (const uint8_t *)memchr(t->l.s, to->s[i], t->l.n) - t->l.s;
        moved |= perm[i] != (int64_t)i;
    }
    if (!moved && !out)
        return v;
    if (!out)
        out = ft__onnx_temp(n, v);
    if (!out || ft__failed(n))
        return NULL;
    if (!moved) {
        ft__emit_view(n, v, out, &v->shape);
        return out;
    }
    op = ft__op_x(FT_KIND_transpose, v);
    ft__op_set(&op, FT_K_perm, perm, to->n);
    if (ft__emit(n, &op, &(ft__call){.in = &v, .n_in = 1, .out = &out, .n_out = 1}))
        out->root = v->root ? v->root : v;
    return out;
}

/* Labels of a pair, by who has them and whether they are wanted. */
struct parts {
    struct labels batch, rows, columns, inner;
};

static void multiply(const ft__node *n, const struct sum *e, const struct parts *p,
                     ft__value *x, ft__value *y, ft__value *out, const ft_shape *shape)
{
    int64_t batch = product(e, &p->batch), rows = product(e, &p->rows),
            columns = product(e, &p->columns), inner = product(e, &p->inner);
    bool linear = ft__is_constant(y) && p->batch.n == 0;
    ft_op op;

    if (p->rows.n + p->columns.n + p->inner.n == 0) {
        ft__apply2(n, FT_KIND_mul, x, y, out);
        return;
    }
    ft__op_init(&op, linear ? FT_KIND_linear : FT_KIND_matmul, x->dtype);
    if (p->batch.n) {
        ft__op_set(&op, FT_K_x, (int64_t[]){batch, rows, inner}, 3);
        ft__op_set(&op, FT_K_y, (int64_t[]){batch, inner, columns}, 3);
    } else {
        ft__op_set(&op, FT_K_x, (int64_t[]){rows, inner}, 2);
        if (linear)
            ft__op_set1(&op, FT_K_out, columns);
        else
            ft__op_set(&op, FT_K_y, (int64_t[]){inner, columns}, 2);
    }
    ft__emit(n, &op,
             &(ft__call){.in = (ft__value *[]){x, y},
                         .n_in = linear ? 1 : 2,
                         .params = &y,
                         .n_params = linear,
                         .out = &out,
                         .n_out = 1,
                         .shape = shape});
}

static void classify(const struct term *x, const struct term *y,
                     const struct labels *wanted, const struct labels *order,
                     struct parts *p)
{
    for (uint32_t i = 0; i < order->n; i++) {
        uint8_t c = order->s[i];
        bool in_x = has(&x->l, c), in_y = has(&y->l, c);

        if (in_x || in_y)
            add(in_x && in_y ? &p->batch : in_x ? &p->rows : &p->columns, c);
    }
    for (uint32_t i = 0; i < x->l.n; i++)
        if (!has(wanted, x->l.s[i]))
            add(&p->inner, x->l.s[i]);
}

/* x and y become one; the last time its axes get the order of the result. False:
 * what is made in between has too many dimensions. */
static bool contract(const ft__node *n, const struct sum *e,
                     const struct labels *wanted, bool last, struct term *x,
                     const struct term *y)
{
    struct parts p = {.batch = {.n = 0}};
    struct labels to_x, to_y, made;
    ft__value *a, *b, *out;
    ft_shape s;

    classify(x, y, wanted, wanted, &p);
    to_x = to_y = made = p.batch;
    append(&to_x, &p.rows);
    append(&to_x, &p.inner);
    append(&to_y, &p.inner);
    append(&to_y, &p.columns);
    append(&made, &p.rows);
    append(&made, &p.columns);
    if (made.n > FT_MAX_RANK)
        return false;
    a = reordered(n, x, &to_x, NULL);
    b = reordered(n, y, &to_y, NULL);
    last &= memcmp(made.s, e->out.s, made.n) == 0;
    out = last ? n->out[0] : ft__onnx_temp(n, n->out[0]);
    s = shape_of(e, &made);
    if (a && b && out && !ft__failed(n))
        multiply(n, e, &p, a, b, out, &s);
    *x = (struct term){out, made};
    return true;
}

/* Every label that the result or an operand from `from` on has: all of the
 * result first, so that products come out in its order. False: too many. */
static bool wanted_from(const struct sum *e, uint32_t from, struct labels *out)
{
    *out = e->out;
    for (uint32_t t = from; t < e->n_terms; t++)
        for (uint32_t i = 0; i < e->in[t].n; i++)
            if (!has(out, e->in[t].s[i])) {
                if (out->n == FT_MAX_RANK)
                    return false;
                add(out, e->in[t].s[i]);
            }
    return true;
}

static bool run(ft__node *n, const struct sum *e)
{
    struct term x = {n->in[0], e->in[0]}, y;
    struct labels wanted;

    take_diagonal(n, e, &x);
    if (!wanted_from(e, 1, &wanted))
        return false;
    add_up(n, &wanted, &x);
    for (uint32_t t = 1; t < e->n_terms && x.v && !ft__failed(n); t++) {
        struct labels later, either;

        y = (struct term){n->in[t], e->in[t]};
        take_diagonal(n, e, &y);
        if (!y.v || !wanted_from(e, t + 1, &later))
            return false;
        either = later;
        for (uint32_t i = 0; i < x.l.n; i++)
            if (!has(&either, x.l.s[i]))
                add(&either, x.l.s[i]);
        if (either.n > FT_MAX_RANK)
            return false;
        add_up(n, &either, &y);
        either = later;
        for (uint32_t i = 0; i < y.l.n; i++)
            if (!has(&either, y.l.s[i]))
                add(&either, y.l.s[i]);
        if (either.n > FT_MAX_RANK)
            return false;
        add_up(n, &either, &x);
        if (!x.v || !y.v || !contract(n, e, &later, t + 1 == e->n_terms, &x, &y))
            return false;
    }
    if (x.v && x.v != n->out[0] && !ft__failed(n))
        reordered(n, &x, &e->out, n->out[0]);
    return true;
}

/* As many dimensions as these engines' products can have; else only counted. */
void ft__rule_einsum(ft__node *n)
{
    struct sum e = {.n_terms = 0};
    bool there = n->n_in <= MAX_TERMS;
    ft_shape s;

    for (uint32_t i = 0; i < n->n_in; i++)
        there &= n->in[i] != NULL;
    if (!there || !read_equation(ft__attr_str(n, "equation"), n, &e)) {
        ft__onnx_fail(n, "its equation does not fit its operands");
        return;
    }
    s = shape_of(&e, &e.out);
    if (!ft__shape_fits(&s))
        ft__onnx_fail(n, "its result is too large");
    else if (!run(n, &e) && !ft__failed(n))
        ft__emit_generic(n, n->out[0], n->in[0]->dtype, &s);
}
