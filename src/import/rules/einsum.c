/* Einstein sums as what engines make of them: each operand loses what only it
 * has, then two at a time are multiplied as (batched) matrices, with transposes
 * around the products. In: an equation and its operands; out: the operations, by
 * what the importer gives. */
#include "import/rules/einsum.h"

#include <string.h>

#include "import/rules/ops.h"

/* A label is a letter, or one of the dimensions that an ellipsis stands for,
 * counted from its end. */
enum {
    ELLIPSIS = 128,
    MAX_LABELS = ELLIPSIS + FT_MAX_RANK,
};

/* Labels in an order; more than there are dimensions only on the way. */
struct einsum_labels {
    uint8_t s[3 * FT_MAX_RANK];
    uint32_t n;
};

struct einsum {
    struct einsum_labels in[FT__EINSUM_TERMS];
    struct einsum_labels out;
    uint32_t n_terms;
    uint32_t ellipsis;        /* dimensions of the longest */
    int64_t size[MAX_LABELS]; /* -1: no such label */
};

/* A text and what is left of it. */
struct equation_rest {
    const char *s;
    size_t n;
};

static bool has(const struct einsum_labels *l, uint8_t c)
{
    return l->n && memchr(l->s, c, l->n);
}

static void add(struct einsum_labels *l, uint8_t c)
{
    if (l->n < sizeof(l->s))
        l->s[l->n++] = c;
}

static void append(struct einsum_labels *l, const struct einsum_labels *more)
{
    for (uint32_t i = 0; i < more->n; i++)
        add(l, more->s[i]);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One term from *text up to a comma or arrow. dims: those that its ellipsis
 * stands for. False: no term. */
static bool read_term(struct equation_rest *text, uint32_t dims,
                      struct einsum_labels *out)
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
static uint32_t ellipsis_of(struct equation_rest text, uint32_t rank, bool *there)
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
static bool sizes_fit(struct einsum *e, const struct einsum_labels *l,
                      const ft_shape *s)
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
static void implied_result(struct einsum *e)
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

static ft_shape shape_of(const struct einsum *e, const struct einsum_labels *l)
{
    ft_shape s = {0};

    for (uint32_t i = 0; i < l->n; i++)
        s.dim[s.rank++] = e->size[l->s[i]];
    return s;
}

static bool read_equation(struct einsum *e, const char *equation, size_t length,
                          const ft_shape *const *shape, uint32_t n)
{
    struct equation_rest text = {equation, length};

    *e = (struct einsum){.n_terms = 0};
    memset(e->size, 0xff, sizeof(e->size));
    for (; e->n_terms < n; e->n_terms++) {
        const ft_shape *s = shape[e->n_terms];
        bool there;
        uint32_t dims = ellipsis_of(text, s->rank, &there);

        if (!read_term(&text, dims, &e->in[e->n_terms]) ||
            !sizes_fit(e, &e->in[e->n_terms], s))
            return false;
        if (there && dims > e->ellipsis)
            e->ellipsis = dims;
        if (e->n_terms + 1 == n)
            continue;
        if (!text.n || *text.s != ',')
            return false;
        text.s++;
        text.n--;
    }
    if (text.n < 2 || memcmp(text.s, "->", 2) != 0) {
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

static int64_t product(const struct einsum *e, const struct einsum_labels *l)
{
    ft_shape s = shape_of(e, l);

    return ft_shape_elements(&s);
}

/* One operand on its way: a value, and what its axes are called. */
struct term {
    void *v;
    struct einsum_labels l;
};

/* Take the diagonal where a label stands twice, and drop ones that stretch. */
static void take_diagonal(const struct einsum *e, const ft__einsum_ops *ops,
                          const ft_shape *whole, struct term *t)
{
    struct einsum_labels l = {.n = 0};
    ft_shape s;

    for (uint32_t i = 0; i < t->l.n; i++)
        if (!has(&l, t->l.s[i]) && whole->dim[i] == e->size[t->l.s[i]])
            add(&l, t->l.s[i]);
    if (l.n == t->l.n)
        return;
    s = shape_of(e, &l);
    *t = (struct term){ops->part ? ops->part(ops->node, t->v, &s) : NULL, l};
}

/* Add up the axes that no other operand has. */
static void add_up(const ft__einsum_ops *ops, const struct einsum_labels *wanted,
                   struct term *t)
{
    struct einsum_labels l = {.n = 0};
    uint32_t axes = 0;

    for (uint32_t i = 0; i < t->l.n; i++)
        if (has(wanted, t->l.s[i]))
            add(&l, t->l.s[i]);
        else
            axes |= 1u << i;
    if (axes && t->v)
        *t = (struct term){ops->sum ? ops->sum(ops->node, t->v, axes) : NULL, l};
}

/* The axes of t in this order, into out (NULL: a value of its own). */
static void *reordered(const struct einsum *e, const ft__einsum_ops *ops,
                       const struct term *t, const struct einsum_labels *to, void *out)
{
    int64_t perm[FT_MAX_RANK] = {0};
    ft_shape s = shape_of(e, to);
    bool moved = false;

    for (uint32_t i = 0; i < to->n; i++) {
        perm[i] = (const uint8_t *)memchr(t->l.s, to->s[i], t->l.n) - t->l.s;
        moved |= perm[i] != (int64_t)i;
    }
    if (moved)
        return ops->transpose(ops->node, t->v, perm, &s, out);
    return out ? ops->view(ops->node, t->v, &s, out) : t->v;
}

/* Labels of a pair, by who has them and whether they are wanted. */
struct einsum_parts {
    struct einsum_labels batch, rows, columns, inner;
};

static void classify(const struct term *x, const struct term *y,
                     const struct einsum_labels *wanted,
                     const struct einsum_labels *order, struct einsum_parts *p)
{
    for (uint32_t i = 0; i < order->n; i++) {
        uint8_t c = order->s[i];
        bool in_x = has(&x->l, c), in_y = has(&y->l, c);

        if (has(wanted, c) && (in_x || in_y))
            add(in_x && in_y ? &p->batch : in_x ? &p->rows : &p->columns, c);
    }
    for (uint32_t i = 0; i < x->l.n; i++)
        if (!has(wanted, x->l.s[i]))
            add(&p->inner, x->l.s[i]);
}

/* Labels of both, each once. */
static struct einsum_labels joined(const struct einsum_labels *a,
                                   const struct einsum_labels *b)
{
    struct einsum_labels all = *a;

    for (uint32_t i = 0; i < b->n; i++)
        if (!has(&all, b->s[i]))
            add(&all, b->s[i]);
    return all;
}

/* x and y become one; the last time its axes get the order of the result. False:
 * what is made in between has too many dimensions. */
static bool contract(const struct einsum *e, const ft__einsum_ops *ops,
                     const struct einsum_labels *wanted, void *out, struct term *x,
                     const struct term *y)
{
    struct einsum_labels to_x, to_y, made, order = joined(&x->l, &y->l);
    struct einsum_parts p = {.batch = {.n = 0}};
    void *a, *b;
    ft_shape s;

    classify(x, y, wanted, ops->own_order ? &order : wanted, &p);
    to_x = to_y = made = p.batch;
    append(&to_x, &p.rows);
    append(&to_x, &p.inner);
    append(&to_y, &p.inner);
    append(&to_y, &p.columns);
    append(&made, &p.rows);
    append(&made, &p.columns);
    if (made.n > FT_MAX_RANK || to_x.n > FT_MAX_RANK || to_y.n > FT_MAX_RANK)
        return false;
    a = reordered(e, ops, x, &to_x, NULL);
    b = reordered(e, ops, y, &to_y, NULL);
    if (ops->own_order || memcmp(made.s, e->out.s, made.n) != 0)
        out = NULL;
    s = shape_of(e, &made);
    *x = (struct term){NULL, made};
    if (a && b)
        x->v = ops->product(
            ops->node, a, b,
            &(ft__einsum_sizes){.batch = product(e, &p.batch),
                                .rows = product(e, &p.rows),
                                .inner = product(e, &p.inner),
                                .columns = product(e, &p.columns),
                                .batched = p.batch.n > 0,
                                .elementwise = p.rows.n + p.columns.n + p.inner.n == 0},
            &s, out);
    return true;
}

/* Every label that the result or an operand from `from` on has: all of the
 * result first, so that products come out in its order. */
static struct einsum_labels wanted_from(const struct einsum *e, uint32_t from)
{
    struct einsum_labels all = e->out;

    for (uint32_t t = from; t < e->n_terms; t++)
        all = joined(&all, &e->in[t]);
    return all;
}

/* False: too many dimensions on the way, or an operation has failed. */
static bool write(const struct einsum *e, const ft__einsum_ops *ops,
                  const ft__einsum_operands *given, void *out)
{
    struct term x = {given->in[0], e->in[0]}, y;
    struct einsum_labels wanted = wanted_from(e, 1);

    take_diagonal(e, ops, given->shape[0], &x);
    if (wanted.n > FT_MAX_RANK)
        return false;
    add_up(ops, &wanted, &x);
    for (uint32_t t = 1; t < e->n_terms && x.v; t++) {
        struct einsum_labels later = wanted_from(e, t + 1),
                             either = joined(&later, &x.l);

        y = (struct term){given->in[t], e->in[t]};
        take_diagonal(e, ops, given->shape[t], &y);
        if (!y.v || later.n > FT_MAX_RANK || either.n > FT_MAX_RANK)
            return false;
        add_up(ops, &either, &y);
        either = joined(&later, &y.l);
        if (either.n > FT_MAX_RANK)
            return false;
        add_up(ops, &either, &x);
        if (!x.v || !y.v ||
            !contract(e, ops, &later, t + 1 == e->n_terms ? out : NULL, &x, &y))
            return false;
    }
    if (x.v && x.v != out)
        reordered(e, ops, &x, &e->out, out);
    return true;
}

ft__einsum_end ft__einsum(const char *equation, size_t length,
                          const ft__einsum_ops *ops, const ft__einsum_operands *x,
                          void *out, ft_shape *result)
{
    struct einsum e;

    if (!read_equation(&e, equation, length, x->shape, x->n))
        return FT__EINSUM_MISFIT;
    *result = shape_of(&e, &e.out);
    if (!ft__shape_fits(result))
        return FT__EINSUM_TOO_LARGE;
    return write(&e, ops, x, out) ? FT__EINSUM_WRITTEN : FT__EINSUM_TOO_DEEP;
}
