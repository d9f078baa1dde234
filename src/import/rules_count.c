/* Operators whose results hold as many elements as the data says, and strings. */
#include "base/limits.h"
#include "import/onnx.h"

/* Result i, if anything reads it. */
static void give(ft__onnx *o, const ft__node *n, uint32_t i, ft_dtype t,
                 const ft_shape *most, uint32_t open)
{
    if (i == 0 || n->n_out == 1)
        ft__emit_open(o, n, ft__out(n, i), t, most, open);
    else
        ft__emit_extra_open(o, n, i, t, most, open);
}

static bool is_set(ft_dtype t, ft__num x)
{
    return ft__dtype_is_real(t) ? x.f != 0 : x.i != 0;
}

/* How many elements of a constant are not zero; -1: not known. */
static int64_t count_set(ft__onnx *o, ft__value *v)
{
    const ft__num *d = v->guessed ? NULL : ft__data(o, v);
    int64_t count = 0, size = ft_shape_elements(&v->shape);

    for (int64_t i = 0; d && i < size; i++)
        count += is_set(v->dtype, d[i]);
    return d ? count : -1;
}

/* Coordinates of the elements that are not zero; of an activation any may be. */
void ft__rule_nonzero(ft__onnx *o, ft__node *n)
{
    ft__value *x = n->in[0], *out = n->out[0];
    int64_t count = count_set(o, x), stride[FT_MAX_RANK], at = 0;
    ft_shape s = {.rank = 2, .dim = {x->shape.rank, ft_shape_elements(&x->shape)}};

    if (count < 0) {
        give(o, n, 0, FT_DTYPE_int64, &s, 1u << 1);
        return;
    }
    s.dim[1] = count;
    ft__define_constant(o, n, out, FT_DTYPE_int64, &s);
    if (!ft__fold_new(o, out))
        return;
    ft__strides(&x->shape, stride);
    for (int64_t i = 0; i < ft_shape_elements(&x->shape); i++) {
        if (!is_set(x->dtype, x->data[i]))
            continue;
        for (uint32_t k = 0; k < x->shape.rank; k++)
            out->data[k * count + at].i = i / stride[k] % x->shape.dim[k];
        at++;
    }
}

/* The axis of an attribute, all elements in one row without it (rank 1). */
static bool along(ft__onnx *o, const ft__node *n, ft_shape *s, uint32_t *axis)
{
    int64_t all = ft_shape_elements(s), at = ft__attr_int(o, n, "axis", INT64_MIN);

    *axis = 0;
    if (at == INT64_MIN)
        *s = (ft_shape){.rank = 1, .dim = {all}};
    else
        *axis = ft__axis(o, n, at, s->rank);
    return !ft__failed(o);
}

void ft__rule_compress(ft__onnx *o, ft__node *n)
{
    ft__value *x = n->in[0], *condition = n->in[1];
    int64_t count = count_set(o, condition),
            most = ft_shape_elements(&condition->shape);
    ft_shape s = x->shape;
    uint32_t axis;

    if (!along(o, n, &s, &axis))
        return;
    if (count >= 0 || most < s.dim[axis])
        s.dim[axis] = count >= 0 && count <= s.dim[axis] ? count : most;
    give(o, n, 0, x->dtype, &s, count < 0 ? 1u << axis : 0);
}

void ft__rule_unique(ft__onnx *o, ft__node *n)
{
    ft_shape s = n->in[0]->shape, row = {.rank = 1};
    uint32_t axis;

    if (!along(o, n, &s, &axis))
        return;
    row.dim[0] = s.dim[axis];
    give(o, n, 0, n->in[0]->dtype, &s, 1u << axis);
    give(o, n, 1, FT_DTYPE_int64, &row, 1u);
    give(o, n, 2, FT_DTYPE_int64, &row, 0);
    give(o, n, 3, FT_DTYPE_int64, &row, 1u);
}

static int64_t product(int64_t a, int64_t b)
{
    return b && a > FT__MAX_ELEMENTS / b ? FT__MAX_ELEMENTS : a * b;
}

/* boxes: batch x boxes x 4; scores: batch x classes x boxes. */
void ft__rule_nonmaxsuppression(ft__onnx *o, ft__node *n)
{
    const ft_shape *boxes = &n->in[0]->shape, *scores = &n->in[1]->shape;
    int64_t each = 0;
    ft_shape s = {.rank = 2, .dim = {0, 3}};

    if (boxes->rank != 3 || scores->rank != 3) {
        ft__onnx_fail(o, n, FT_EFORMAT, "boxes and scores must have 3 dimensions");
        return;
    }
    if (!ft__in(n, 2) || ft__ints(o, n->in[2], &each, 1) != 1 || each < 0 ||
        each > boxes->dim[1])
        each = ft__in(n, 2) ? boxes->dim[1] : 0;
    s.dim[0] = product(product(scores->dim[0], scores->dim[1]), each);
    give(o, n, 0, FT_DTYPE_int64, &s, each ? 1u : 0);
}

/* ---- strings ---- */

void ft__rule_string_concat(ft__onnx *o, ft__node *n)
{
    ft_shape s;

    if (ft__broadcast(&n->in[0]->shape, &n->in[1]->shape, &s))
        give(o, n, 0, FT_DTYPE_string, &s, 0);
    else
        ft__onnx_fail(o, n, FT_EFORMAT, "the shapes of its operands do not fit");
}

void ft__rule_regex_full_match(ft__onnx *o, ft__node *n)
{
    give(o, n, 0, FT_DTYPE_bool, &n->in[0]->shape, 0);
}

/* How many parts there are is only known where the operator limits them. */
void ft__rule_string_split(ft__onnx *o, ft__node *n)
{
    ft_shape s = n->in[0]->shape;

    ft__push(o, n, &s, 1 + ft__attr_int(o, n, "maxsplit", 0));
    if (ft__failed(o))
        return;
    give(o, n, 0, FT_DTYPE_string, &s, 1u << (s.rank - 1));
    give(o, n, 1, FT_DTYPE_int64, &n->in[0]->shape, 0);
}

/* Words that are to be left out make the last axis shorter. */
void ft__rule_string_normalizer(ft__onnx *o, ft__node *n)
{
    const ft_shape *s = &n->in[0]->shape;
    ft__bytes words;
    bool drops = ft__attr_message(o, n, "stopwords", 9, &words);

    give(o, n, 0, FT_DTYPE_string, s, drops && s->rank ? 1u << (s->rank - 1) : 0);
}
