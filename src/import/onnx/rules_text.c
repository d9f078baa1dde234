/* Strings: their operators read and write, and nobody counts more of them. */
#include "base/limits.h"
#include "import/onnx/onnx.h"

/* arg: the dtype of the result, 0: that of the operand. */
void ft__rule_counted(ft__onnx_node *n)
{
    ft_dtype t = n->rule->arg ? (ft_dtype)n->rule->arg : n->in[0]->dtype;

    ft__emit_counted(n, n->out[0], t, &n->in[0]->shape);
}

void ft__rule_string_concat(ft__onnx_node *n)
{
    ft_shape s;

    if (ft__broadcast(&n->in[0]->shape, &n->in[1]->shape, &s))
        ft__emit_counted(n, n->out[0], n->in[0]->dtype, &s);
    else
        ft__onnx_fail(n, "the shapes of its operands do not fit");
}

/* Words that are stopped fall away; where all do, an empty one is left. */
void ft__rule_string_normalizer(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    ft__bytes first;
    bool stops = ft__attr_message(n, "stopwords", 9, &first);

    if (s.rank < 1 || s.rank > 2) {
        ft__onnx_fail(n, "its operand is no list of words");
        return;
    }
    if (s.dim[s.rank - 1] == 0)
        s.dim[s.rank - 1] = 1;
    if (stops)
        ft__emit_open(n, n->out[0], FT_DTYPE_string, &s, 1u << (s.rank - 1));
    else
        ft__emit_counted(n, n->out[0], FT_DTYPE_string, &s);
}

/* Pieces of each string, as many as the one that has the most; and how many. */
void ft__rule_string_split(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t cuts = ft__attr_int(n, "maxsplit", 0);

    ft__push(n, &s, cuts > 0 && cuts < FT__MAX_ELEMENTS ? cuts + 1 : 1);
    if (ft__failed(n))
        return;
    ft__emit_open(n, n->out[0], FT_DTYPE_string, &s, 1u << (s.rank - 1));
    ft__emit_extra(n, 1, FT_DTYPE_int64, &n->in[0]->shape);
}

/* How often each of a list of n-grams occurs. */
void ft__rule_tfidf(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t last = ft__attr_largest(n, "ngram_indexes", -1);

    if (s.rank < 1 || s.rank > 2 || last < 0 || last == INT64_MAX) {
        ft__onnx_fail(n, "it has no n-grams, or its operand no rows");
        return;
    }
    s.dim[s.rank - 1] = last + 1;
    ft__emit_counted(n, n->out[0], FT_DTYPE_fp32, &s);
}
