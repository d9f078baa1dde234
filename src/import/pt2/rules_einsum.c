/* Einstein sums as torch does them: operands two by two, each pair a batched
 * matrix product with transposes around it. */
#include <string.h>

#include "graph/op_inside.h"
#include "import/pt2/pt2.h"

enum { MAX_TERMS = 8 };

/* Labels in an order, at most one per dimension. */
struct labels {
    char s[FT_MAX_RANK];
    uint32_t n;
};

struct equation {
    struct labels term[MAX_TERMS];
    struct labels out;
    uint32_t n;
    int64_t size[128];
};

static bool has(const struct labels *l, char c)
{
    return l->n && memchr(l->s, c, l->n);
}

static bool add(struct labels *l, char c)
{
    if (l->n == FT_MAX_RANK)
        return false;
    l->s[l->n++] = c;
    return true;
}

/* Letters up to one of `ends` or the end; false: anything else, or one twice. */
static bool read_term(ft__text *text, const char *ends, struct labels *l)
{
    l->n = 0;
    for (; text->n && !strchr(ends, *text->s); text->s++, text->n--) {
        char c = *text->s;

        if (c == ' ')
            continue;
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) || has(l, c) ||
            !add(l, c))
            return false;
    }
    return true;
}

/* Without "->" the result has the labels that stand once, in order. */
static bool implied(struct equation *e)
{
    for (int code = 'A'; code <= 'z'; code++) {
        char c = (char)code;
        uint32_t times = 0;

        for (uint32_t i = 0; i < e->n; i++)
            times += has(&e->term[i], c);
        if (times == 1 && !add(&e->out, c))
            return false;
    }
    return true;
}

static bool read_equation(ft__text text, struct equation *e)
{
    e->n = 0;
    e->out.n = 0;
    do {
        if (e->n == MAX_TERMS || !read_term(&text, ",-", &e->term[e->n++]))
            return false;
    } while (text.n && *text.s == ',' && (text.s++, text.n--, true));
    if (!text.n)
        return implied(e);
    if (text.n < 2 || text.s[1] != '>')
        return false;
    text = (ft__text){text.s + 2, text.n - 2};
    return read_term(&text, "", &e->out);
}

static bool sizes_fit(struct equation *e, const ft__pt2_arg *list)
{
    memset(e->size, -1, sizeof(e->size));
    for (uint32_t i = 0; i < e->n; i++) {
        const ft__pt2_value *v = list->value[i];

        if (!v || v->shape.rank != e->term[i].n)
            return false;
        for (uint32_t k = 0; k < e->term[i].n; k++) {
            int64_t *size = &e->size[(unsigned char)e->term[i].s[k]];

            if (*size >= 0 && *size != v->shape.dim[k])
                return false;
            *size = v->shape.dim[k];
        }
    }
    return true;
}

static ft_shape shape_of(const struct equation *e, const struct labels *l)
{
    ft_shape s = {.rank = l->n};

    for (uint32_t i = 0; i < l->n; i++)
        s.dim[i] = e->size[(unsigned char)l->s[i]];
    return s;
}

/* v with its axes in another order. */
static ft__pt2_value *reordered(const ft__pt2_node *n, const struct equation *e,
                                ft__pt2_value *v, const struct labels *from,
                                const struct labels *to)
{
    int64_t perm[FT_MAX_RANK] = {0};
    ft_shape s = shape_of(e, to);
    ft__pt2_value *out;

    if (from->n == to->n && memcmp(from->s, to->s, from->n) == 0)
        return v;
    for (uint32_t i = 0; i < to->n; i++)
        perm[i] = (const char *)memchr(from->s, to->s[i], from->n) - from->s;
    out = ft__pt2_temp(n, v, v->dtype, &s);
    if (out)
        ft__pt2_emit_transpose(n, v, out, perm);
    return out;
}

static ft__pt2_value *viewed(const ft__pt2_node *n, ft__pt2_value *v, const ft_shape *s)
{
    ft__pt2_value *out = v ? ft__pt2_temp(n, v, v->dtype, s) : NULL;

    if (out)
        ft__pt2_emit_view(n, v, out);
    return out;
}

static bool join(struct labels *out, const struct labels *a, const struct labels *b,
                 const struct labels *c)
{
    const struct labels *all[3] = {a, b, c};

    out->n = 0;
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < all[i]->n; k++)
            if (!add(out, all[i]->s[k]))
                return false;
    return true;
}

static int64_t product(const struct equation *e, const struct labels *l)
{
    ft_shape s = shape_of(e, l);

    return ft_shape_elements(&s);
}

struct pair {
    struct labels batch, rows, columns, inner;
};

/* Labels of x and y by where else they stand; `kept`: those wanted afterwards. */
static bool classify(const struct labels *x, const struct labels *y,
                     const struct labels *kept, struct pair *out)
{
    *out = (struct pair){0};
    for (uint32_t i = 0; i < x->n; i++) {
        bool shared = has(y, x->s[i]), stays = has(kept, x->s[i]);

        if (!shared && !stays)
            return false; /* summed in one operand alone */
        add(!stays ? &out->inner : shared ? &out->batch : &out->rows, x->s[i]);
    }
    for (uint32_t i = 0; i < y->n; i++) {
        if (has(x, y->s[i]))
            continue;
        if (!has(kept, y->s[i]))
            return false;
        add(&out->columns, y->s[i]);
    }
    return true;
}

/* The product of two operands: batch, rows, columns. */
static ft__pt2_value *multiply(const ft__pt2_node *n, const struct equation *e,
                               ft__pt2_value *x, const struct labels *xl,
                               ft__pt2_value *y, const struct labels *yl,
                               const struct pair *c, struct labels *labels)
{
    int64_t b = product(e, &c->batch), m = product(e, &c->rows),
            k = product(e, &c->inner), w = product(e, &c->columns);
    struct labels xo, yo;
    ft_shape s, whole;
    ft__pt2_value *in[2], *out;
    ft_op op;

    if (!join(&xo, &c->batch, &c->rows, &c->inner) ||
        !join(&yo, &c->batch, &c->inner, &c->columns) ||
        !join(labels, &c->batch, &c->rows, &c->columns))
        return NULL;
    x = reordered(n, e, x, xl, &xo);
    y = reordered(n, e, y, yl, &yo);
    in[0] = viewed(n, x, &(ft_shape){.rank = 3, .dim = {b, m, k}});
    in[1] = viewed(n, y, &(ft_shape){.rank = 3, .dim = {b, k, w}});
    s = (ft_shape){.rank = 3, .dim = {b, m, w}};
    if (!in[0] || !in[1] || b < 0 || m < 0 || k < 0 || w < 0)
        return NULL;
    out = ft__pt2_temp(n, x, x->dtype, &s);
    op = ft__pt2_op(FT_KIND_matmul, in[0]->dtype, &in[0]->shape);
    ft__op_set_shape(&op, FT_K_y, &in[1]->shape);
    if (!out)
        return NULL;
    ft__pt2_emit(n, &op, &(ft__pt2_call){.in = in, .n_in = 2, .out = &out, .n_out = 1});
    whole = shape_of(e, labels);
    return out->state == FT__PT2_UNDEFINED ? NULL : viewed(n, out, &whole);
}

/* Labels that later operands or the result still need. */
static struct labels needed_later(const struct equation *e, uint32_t from,
                                  const struct labels *x, const struct labels *y)
{
    struct labels kept = {.n = 0};

    for (int side = 0; side < 2; side++) {
        const struct labels *l = side ? y : x;

        for (uint32_t i = 0; i < l->n; i++) {
            bool need = has(&e->out, l->s[i]);

            for (uint32_t t = from; t < e->n; t++)
                need |= has(&e->term[t], l->s[i]);
            if (need && !has(&kept, l->s[i]))
                (void)add(&kept, l->s[i]);
        }
    }
    return kept;
}

void ft__aten_einsum(ft__pt2_node *n)
{
    const ft__pt2_arg *list = ft__pt2_arg_of(n, "tensors");
    ft__pt2_value *x, *out = ft__pt2_out(n, 0);
    struct equation e;
    struct labels labels;

    if (!list || !out || !read_equation(ft__pt2_string(n, "equation"), &e) ||
        list->n != e.n || !sizes_fit(&e, list))
        return;
    x = list->value[0];
    labels = e.term[0];
    for (uint32_t i = 1; i < e.n && x && !ft__pt2_failed(n); i++) {
        struct labels kept = needed_later(&e, i + 1, &labels, &e.term[i]), next;
        struct pair c;

        if (!classify(&labels, &e.term[i], &kept, &c))
            return;
        x = multiply(n, &e, x, &labels, list->value[i], &e.term[i], &c, &next);
        labels = next;
    }
    if (!x || ft__pt2_failed(n) || labels.n != e.out.n)
        return;
    x = reordered(n, &e, x, &labels, &e.out);
    if (x)
        ft__pt2_emit_view(n, x, out);
}
