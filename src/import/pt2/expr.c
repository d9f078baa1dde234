/* Symbolic sizes. The file writes them as Python would: in sympy's own notation,
 *
 *   Mul(Integer(2), Symbol('s77', positive=True, integer=True))
 *
 * and older ones as s77*2 or FloorDiv(s77 + 1, 2). Both are one grammar: sums,
 * products and powers of numbers, names and calls. Worked out in real numbers,
 * which are exact up to the largest size that is allowed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "import/onnx/onnx.h"
#include "import/pt2/pt2.h"

struct expr_reader {
    ft__pt2 *p;
    const char *s, *end;
    uint32_t depth;
    bool bad;             /* not of the grammar */
    bool data;            /* has a symbol that depends on data */
    ft__pt2_symbol *open; /* the first one without a value */
};

static double sum(struct expr_reader *r);

static double bad(struct expr_reader *r)
{
    r->bad = true;
    r->s = r->end;
    return 0;
}

static bool at(struct expr_reader *r, const char *text)
{
    size_t n = strlen(text);

    while (r->s < r->end && *r->s == ' ')
        r->s++;
    if ((size_t)(r->end - r->s) < n || memcmp(r->s, text, n) != 0)
        return false;
    r->s += n;
    return true;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           (c >= '0' && c <= '9');
}

static ft__text take_name(struct expr_reader *r)
{
    const char *begin = r->s;

    while (r->s < r->end && is_name(*r->s))
        r->s++;
    return (ft__text){begin, (size_t)(r->s - begin)};
}

static ft__pt2_symbol *symbol_named(ft__pt2 *p, ft__text name)
{
    ft__table_slot *slot = ft__table_at(&p->symbols, &p->arena, name.s, name.n);
    ft__pt2_symbol *s;

    if (slot && slot->value)
        return slot->value;
    s = ft__pt2_alloc(p, 1, sizeof(*s));
    if (!slot || !s)
        return NULL;
    /* u0, u1 ... come out of the data; s0, s1 ... belong to inputs. */
    *s = (ft__pt2_symbol){
        .name = name, .max = -1, .data = name.n > 1 && name.s[0] == 'u'};
    slot->value = s;
    p->symbols.n++;
    return s;
}

static double symbol(struct expr_reader *r, ft__text name)
{
    ft__pt2_symbol *s = symbol_named(r->p, name);

    if (!s)
        return bad(r);
    r->data |= s->data;
    if (!s->bound && !r->open)
        r->open = s;
    return s->bound ? (double)s->value : 0;
}

/* Symbol('s77', positive=True): the rest tells nothing about its value. */
static double quoted_symbol(struct expr_reader *r)
{
    bool twice = at(r, "\\\"") || at(r, "\"");
    ft__text name;

    if (!twice && !at(r, "'"))
        return bad(r);
    name = take_name(r);
    while (r->s < r->end && *r->s != ')')
        r->s++;
    return at(r, ")") ? symbol(r, name) : bad(r);
}

static double round_to(double x, ft__text name)
{
    if (FT__IS(name, "CeilToInt") || FT__IS(name, "ceiling"))
        return ceil(x);
    if (FT__IS(name, "TruncToInt") || FT__IS(name, "TruncToFloat"))
        return trunc(x);
    if (FT__IS(name, "FloorToInt") || FT__IS(name, "floor"))
        return floor(x);
    if (FT__IS(name, "RoundToInt"))
        return nearbyint(x);
    return FT__IS(name, "Abs") ? fabs(x) : x; /* Integer, Float, ToFloat ... */
}

/* One more argument of a call. *good: the function is known. */
static double apply(ft__text f, double a, double b, bool *good)
{
    if (FT__IS(f, "Add"))
        return a + b;
    if (FT__IS(f, "Mul"))
        return a * b;
    if (FT__IS(f, "Max"))
        return a > b ? a : b;
    if (FT__IS(f, "Min"))
        return a < b ? a : b;
    if (FT__IS(f, "Pow") || FT__IS(f, "PowByNatural") || FT__IS(f, "FloatPow"))
        return pow(a, b);
    if (FT__IS(f, "FloorDiv") || FT__IS(f, "CleanDiv"))
        return b != 0 ? floor(a / b) : 0;
    if (FT__IS(f, "CeilDiv"))
        return b != 0 ? ceil(a / b) : 0;
    if (FT__IS(f, "Rational") || FT__IS(f, "IntTrueDiv") || FT__IS(f, "FloatTrueDiv"))
        return b != 0 ? a / b : 0;
    if (FT__IS(f, "Mod") || FT__IS(f, "PythonMod"))
        return b != 0 ? a - b * floor(a / b) : 0;
    *good = false;
    return a;
}

static bool known_alone(ft__text f)
{
    static const char *const names[] = {
        "Integer",    "Float",        "ToFloat", "CeilToInt",  "ceiling", "TruncToInt",
        "FloorToInt", "TruncToFloat", "floor",   "RoundToInt", "Abs",     "Add",
        "Mul",        "Max",          "Min",     "Identity"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (ft__text_is(f, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Float('0.5', precision=53): the number is quoted. */
static double argument(struct expr_reader *r)
{
    bool quoted = at(r, "'");
    double x = sum(r);

    if (quoted && !at(r, "'"))
        return bad(r);
    return x;
}

/* Over "name=value" that stands behind the arguments. */
static bool skip_option(struct expr_reader *r)
{
    const char *begin = r->s;
    ft__text name = take_name(r);

    if (!name.n || !at(r, "=")) {
        r->s = begin;
        return false;
    }
    (void)take_name(r);
    return true;
}

static double call(struct expr_reader *r, ft__text f)
{
    double x = argument(r);
    bool good = true, alone = true;

    while (at(r, ",")) {
        (void)at(r, " ");
        if (skip_option(r))
            continue;
        x = apply(f, x, argument(r), &good);
        alone = false;
    }
    if (!at(r, ")") || !good || (alone && !known_alone(f)))
        return bad(r);
    return round_to(x, f);
}

static double number(struct expr_reader *r)
{
    char text[40], *end;
    size_t n = (size_t)(r->end - r->s) < sizeof(text) - 1 ? (size_t)(r->end - r->s)
                                                          : sizeof(text) - 1;
    double x;

    memcpy(text, r->s, n);
    text[n] = '\0';
    x = strtod(text, &end);
    if (end == text)
        return bad(r);
    r->s += end - text;
    return x;
}

static double atom(struct expr_reader *r)
{
    ft__text name;

    if (at(r, "(")) {
        double x = sum(r);

        return at(r, ")") ? x : bad(r);
    }
    if (r->s < r->end && *r->s >= '0' && *r->s <= '9')
        return number(r);
    name = take_name(r);
    if (!name.n)
        return bad(r);
    if (!at(r, "("))
        return symbol(r, name);
    return FT__IS(name, "Symbol") ? quoted_symbol(r) : call(r, name);
}

static double power(struct expr_reader *r)
{
    double x, sign = 1;

    if (++r->depth > FT__MAX_DEPTH)
        return bad(r);
    while (at(r, "-"))
        sign = -sign;
    x = atom(r);
    if (at(r, "**"))
        x = pow(x, power(r));
    r->depth--;
    return sign * x;
}

static double product(struct expr_reader *r)
{
    double x = power(r), y;

    for (;;) {
        if (at(r, "//")) {
            y = power(r);
            x = y != 0 ? floor(x / y) : 0;
        } else if (at(r, "/")) {
            y = power(r);
            x = y != 0 ? x / y : 0;
        } else if (at(r, "*")) {
            x *= power(r);
        } else if (at(r, "%")) {
            y = power(r);
            x = y != 0 ? x - y * floor(x / y) : 0;
        } else {
            return x;
        }
    }
}

static double sum(struct expr_reader *r)
{
    double x = product(r);

    for (;;) {
        if (at(r, "+"))
            x += product(r);
        else if (at(r, "-"))
            x -= product(r);
        else
            return x;
    }
}

ft__pt2_symbol *ft__pt2_symbol_of(ft__pt2 *p, ft__text text)
{
    struct expr_reader r = {.p = p, .s = text.s, .end = text.s + text.n};
    ft__text name;

    if (at(&r, "Symbol("))
        (void)quoted_symbol(&r);
    else
        (void)take_name(&r);
    name = (ft__text){text.s, (size_t)(r.s - text.s)};
    if (r.bad || r.s != r.end || !text.n || (text.s[0] >= '0' && text.s[0] <= '9'))
        return NULL;
    if (text.n > 7 && memcmp(text.s, "Symbol(", 7) == 0) {
        r = (struct expr_reader){.p = p, .s = text.s + 7, .end = text.s + text.n};
        (void)(at(&r, "\\\"") || at(&r, "\"") || at(&r, "'"));
        name = take_name(&r);
    }
    return symbol_named(p, name);
}

/* The number of an expression as a dimension below 0. */
static int64_t expr_of(ft__pt2 *p, ft__text text)
{
    ft__table_slot *slot = ft__table_at(&p->exprs, &p->arena, text.s, text.n);
    ft__pt2_expr *e;

    if (slot && slot->value)
        return -1 - (int64_t) * (uint32_t *)slot->value;
    if (p->n_exprs == p->cap_exprs) {
        uint32_t cap = p->cap_exprs ? 2 * p->cap_exprs : 64;
        ft__pt2_expr **more = ft__pt2_alloc(p, cap, sizeof(*more));

        if (!more)
            return 0;
        if (p->n_exprs)
            memcpy(more, p->expr, p->n_exprs * sizeof(*more));
        p->expr = more;
        p->cap_exprs = cap;
    }
    e = ft__pt2_alloc(p, 1, sizeof(*e));
    if (!slot || !e)
        return 0;
    e->text = text;
    e->number = p->n_exprs;
    slot->value = &e->number;
    p->exprs.n++;
    p->expr[p->n_exprs++] = e;
    return -1 - (int64_t)e->number;
}

/* {"as_int": 3} as it is nearly always written; false: read it the long way. */
static bool plain_int(ft__json *r, int64_t *v)
{
    static const char begin[] = "{\"as_int\": ";
    const char *s = r->p + sizeof(begin) - 1;

    if (r->end - r->p < (ptrdiff_t)sizeof(begin) + 17 ||
        memcmp(r->p, begin, sizeof(begin) - 1) != 0)
        return false;
    for (*v = 0; *s >= '0' && *s <= '9' && s < r->p + sizeof(begin) + 15; s++)
        *v = *v * 10 + (*s - '0');
    if (*s != '}' || s[-1] == ' ')
        return false;
    r->p = s + 1;
    return *v <= FT__MAX_ELEMENTS;
}

int64_t ft__pt2_read_sym(ft__pt2 *p, ft__json *r)
{
    int64_t v = 0;
    ft__text name, text;

    if (plain_int(r, &v)) {
        r->fresh = false;
        return v;
    }
    if (!ft__json_object(r)) {
        ft__json_string(r, &text); /* a failure: nothing else is allowed here */
        return 0;
    }
    while (ft__json_member(r, &name)) {
        if (FT__IS(name, "as_int")) {
            ft__json_int(r, &v);
            v = v < 0 ? 0 : v > FT__MAX_ELEMENTS ? FT__MAX_ELEMENTS + 1 : v;
        } else if (FT__IS(name, "as_expr") && ft__json_object(r)) {
            while (ft__json_member(r, &name))
                if (FT__IS(name, "expr_str") && ft__json_string(r, &text))
                    v = expr_of(p, text);
                else
                    ft__json_skip(r, NULL);
        } else {
            ft__json_skip(r, NULL);
        }
    }
    return v;
}

int ft__pt2_read_syms(ft__pt2 *p, ft__json *r, int64_t *dim)
{
    int n = 0;

    if (!ft__pt2_array(r))
        return -1;
    while (ft__json_element(r)) {
        int64_t v = ft__pt2_read_sym(p, r);

        if (n >= 0 && n < FT_MAX_RANK)
            dim[n++] = v;
        else
            n = -1;
    }
    return n;
}

int64_t ft__pt2_value_of(ft__pt2 *p, int64_t dim, bool *data, ft__pt2_symbol **open)
{
    ft__pt2_expr *e;
    struct expr_reader r;
    double x;

    *data = false;
    *open = NULL;
    if (dim >= 0)
        return dim;
    e = p->expr[-1 - dim];
    *data = e->data;
    if (e->known)
        return e->value;
    r = (struct expr_reader){.p = p, .s = e->text.s, .end = e->text.s + e->text.n};
    x = sum(&r);
    if (!at(&r, "") || r.s != r.end)
        r.bad = true;
    if (r.bad) {
        ft__build_fail(p->b, FT_EUNSUPPORTED, (uint64_t)(e->text.s - p->doc.base),
                       "a size is written as \"%.*s\", which is not understood",
                       ft__shown(e->text.n, 200), e->text.s);
        return -1;
    }
    *open = r.open;
    *data = e->data = r.data;
    if (r.open)
        return -1;
    if (!(x >= 0 && x <= (double)FT__MAX_ELEMENTS)) {
        ft__build_fail(p->b, FT_EFORMAT, (uint64_t)(e->text.s - p->doc.base),
                       "the size \"%.*s\" is %g with these dimensions",
                       ft__shown(e->text.n, 200), e->text.s, x);
        return -1;
    }
    e->known = true;
    return e->value = (int64_t)x;
}

/* A dimension that has to be a number. */
static int64_t size_of(ft__pt2 *p, int64_t dim, int64_t limit, bool *data)
{
    ft__pt2_symbol *open;
    int64_t v = ft__pt2_value_of(p, dim, data, &open);

    while (v < 0 && open && open->data && !ft__build_failed(p->b)) {
        open->bound = true;
        open->value = open->max >= 0 ? open->max : limit;
        ft__build_assume(p->b,
                         "%.*s = %lld (it depends on data, this is a bound; --dim "
                         "%.*s=N sets it)",
                         ft__shown(open->name.n, 100), open->name.s,
                         (long long)open->value, ft__shown(open->name.n, 100),
                         open->name.s);
        v = ft__pt2_value_of(p, dim, data, &open);
    }
    if (v < 0 && open)
        ft__build_fail(p->b, FT_ENEEDED, 0,
                       "the size \"%.*s\" is open: add --dim %.*s=N",
                       ft__shown(open->name.n, 100), open->name.s,
                       ft__shown(open->name.n, 100), open->name.s);
    return v;
}

bool ft__pt2_resolve(ft__pt2 *p, ft__pt2_value *v, int64_t limit)
{
    if (v->resolved)
        return !ft__pt2_import_failed(p);
    for (uint32_t i = 0; i < v->shape.rank && !ft__build_failed(p->b); i++) {
        bool data = false;

        v->shape.dim[i] = size_of(p, v->shape.dim[i], limit, &data);
        v->open |= (uint32_t)data << i;
    }
    if (!ft__build_failed(p->b) && !ft__shape_fits(&v->shape))
        ft__build_fail(p->b, FT_EFORMAT, 0, "tensor \"%.*s\" has too many elements",
                       ft__shown(v->name.n, 100), v->name.s);
    v->resolved = true;
    return !ft__pt2_import_failed(p);
}
