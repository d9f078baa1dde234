/* Strings, features and the models that are no networks (ai.onnx.ml): what they hold
 * lies in attributes; their cost is what they read and write, products excepted. */
#include "base/limits.h"
#include "import/onnx/compose.h"

/* arg: the dtype of the result, 0: that of the operand. */
static void rule_counted(ft__onnx_node *n)
{
    ft_dtype t = n->rule->arg ? (ft_dtype)n->rule->arg : n->in[0]->dtype;

    ft__emit_counted(n, n->out[0], t, &n->in[0]->shape);
}

static void rule_string_concat(ft__onnx_node *n)
{
    ft_shape s;

    if (ft__broadcast(&n->in[0]->shape, &n->in[1]->shape, &s))
        ft__emit_counted(n, n->out[0], n->in[0]->dtype, &s);
    else
        ft__onnx_fail(n, "the shapes of its operands do not fit");
}

/* Words that are stopped fall away; where all do, an empty one is left. */
static void rule_string_normalizer(ft__onnx_node *n)
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
static void rule_string_split(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t cuts = ft__attr_int(n, "maxsplit", 0);

    ft__push(n, &s, cuts > 0 && cuts < FT__MAX_ELEMENTS ? cuts + 1 : 1);
    if (ft__failed(n))
        return;
    ft__emit_open(n, n->out[0], FT_DTYPE_string, &s, 1u << (s.rank - 1));
    ft__emit_extra(n, 1, FT_DTYPE_int64, &n->in[0]->shape);
}

/* The largest of an attribute's integers. */
static int64_t largest_of(const ft__onnx_node *n, const char *name, int64_t fallback)
{
    int64_t count = ft__attr_ints(n, name, NULL, 0), most = fallback, *v;

    if (count <= 0)
        return fallback;
    v = ft__onnx_alloc(n->import, (size_t)count, sizeof(*v));
    if (!v)
        return fallback;
    (void)ft__attr_ints(n, name, v, (uint32_t)count);
    for (int64_t i = 0; i < count; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

/* How often each of a list of n-grams occurs. */
static void rule_tfidf(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t last = largest_of(n, "ngram_indexes", -1);

    if (s.rank < 1 || s.rank > 2 || last < 0 || last == INT64_MAX) {
        ft__onnx_fail(n, "it has no n-grams, or its operand no rows");
        return;
    }
    s.dim[s.rank - 1] = last + 1;
    ft__emit_counted(n, n->out[0], FT_DTYPE_fp32, &s);
}

static void rows(ft__onnx_node *n, ft__onnx_value *out, ft_dtype t, int64_t columns)
{
    const ft_shape *x = &n->in[0]->shape;
    ft_shape s = {.rank = columns < 0 ? 1 : 2,
                  .dim = {x->rank > 1 ? x->dim[0] : 1, columns}};

    ft__emit_counted(n, out, t, &s);
}

/* The dtype that a mapping gives, by which of its attributes are there. */
static ft_dtype mapped_dtype(const ft__onnx_node *n)
{
    ft__bytes tensor;
    ft__onnx_value v = {.dtype = FT_DTYPE_NONE};

    if (ft__attr_message(n, "values_tensor", 5, &tensor)) {
        ft__onnx_read_tensor(n->import, tensor, false, &v);
        return v.dtype;
    }
    if (ft__attr_ints(n, "values_strings", NULL, 0) >= 0)
        return FT_DTYPE_string;
    if (ft__attr_floats(n, "values_floats", NULL, 0) >= 0)
        return FT_DTYPE_fp32;
    if (ft__attr_ints(n, "values_int64s", NULL, 0) >= 0)
        return FT_DTYPE_int64;
    return n->in[0]->dtype == FT_DTYPE_string ? FT_DTYPE_int64 : FT_DTYPE_string;
}

static void rule_label_encoder(ft__onnx_node *n)
{
    ft__emit_counted(n, n->out[0], mapped_dtype(n), &n->in[0]->shape);
}

/* A new last axis with a place for each category. */
static void rule_one_hot_encoder(ft__onnx_node *n)
{
    ft_shape s = n->in[0]->shape;
    int64_t strings = ft__attr_ints(n, "cats_strings", NULL, 0),
            numbers = ft__attr_ints(n, "cats_int64s", NULL, 0);

    ft__push(n, &s, strings > 0 ? strings : numbers > 0 ? numbers : 0);
    if (!ft__failed(n))
        ft__emit_counted(n, n->out[0], FT_DTYPE_fp32, &s);
}

/* The columns of all operands side by side. */
static void rule_feature_vectorizer(ft__onnx_node *n)
{
    int64_t columns = 0;

    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->shape.rank)
            columns += n->in[i]->shape.dim[n->in[i]->shape.rank - 1];
    rows(n, n->out[0], FT_DTYPE_fp32, columns);
}

/* Labels, or their number where `pairs` says that each two are compared. */
static int64_t classes(const ft__onnx_node *n, bool *strings)
{
    int64_t names = ft__attr_ints(n, "classlabels_strings", NULL, 0),
            v2 = ft__attr_ints(n, "classlabels_ints", NULL, 0),
            v3 = ft__attr_ints(n, "classlabels_int64s", NULL, 0);

    *strings = names > 0;
    return names > 0 ? names : v2 > 0 ? v2 : v3 > 0 ? v3 : 1;
}

/* x times coefficients that are an attribute: features x columns. */
static void linear(ft__onnx_node *n, int64_t columns, ft__onnx_value *out)
{
    ft__onnx_value *x = n->in[0], *weight = ft__onnx_temp(n, n->out[0]),
                   *matrix = ft__onnx_temp(n, x);
    ft_shape s = {.rank = 2,
                  .dim = {x->shape.rank > 1 ? x->shape.dim[0] : 1,
                          x->shape.rank ? x->shape.dim[x->shape.rank - 1] : 1}};

    if (!weight || !matrix || !out || ft__failed(n))
        return;
    if (ft_shape_elements(&s) != ft_shape_elements(&x->shape)) {
        ft__onnx_fail(n, "its operand is no matrix");
        return;
    }
    ft__emit_view(n, x, matrix, &s);
    ft__define_constant(n, weight, x->dtype,
                        &(ft_shape){.rank = 2, .dim = {s.dim[1], columns}});
    ft__make_linear(
        n, matrix,
        &(ft__linear){.weight = weight, .columns = columns, .to = FT_DTYPE_fp32}, out);
}

static void rule_linear_regressor(ft__onnx_node *n)
{
    linear(n, ft__attr_int(n, "targets", 1), n->out[0]);
}

static void rule_linear_classifier(ft__onnx_node *n)
{
    bool strings;
    int64_t count = classes(n, &strings);
    ft__onnx_value *scores = ft__out(n, 1);

    linear(n, count, scores ? scores : ft__onnx_temp(n, n->out[0]));
    if (!ft__failed(n))
        rows(n, n->out[0], strings ? FT_DTYPE_string : FT_DTYPE_int64, -1);
}

/* arg: 1 results as the operand's dtype. */
static void rule_regressor(ft__onnx_node *n)
{
    rows(n, n->out[0], n->rule->arg ? n->in[0]->dtype : FT_DTYPE_fp32,
         ft__attr_int(n, "n_targets", 1));
}

/* Labels, and scores of each class. */
static void rule_classifier(ft__onnx_node *n)
{
    bool strings;
    int64_t count = classes(n, &strings);

    rows(n, n->out[0], strings ? FT_DTYPE_string : FT_DTYPE_int64, -1);
    rows(n, ft__out(n, 1), FT_DTYPE_fp32, count);
}

static const ft__operator_rule rules[] = {
    {"RegexFullMatch", rule_counted, FT_DTYPE_bool, 1, 0},
    {"StringConcat", rule_string_concat, 0, 2, 0},
    {"StringNormalizer", rule_string_normalizer, 0, 1, 0},
    {"StringSplit", rule_string_split, 0, 1, 0},
    {"TfIdfVectorizer", rule_tfidf, 0, 1, 0},
    {"Binarizer", rule_counted, 0, 1, FT__ML},
    {"CategoryMapper", rule_label_encoder, 0, 1, FT__ML},
    {"FeatureVectorizer", rule_feature_vectorizer, 0, 1, FT__ML},
    {"Imputer", rule_counted, 0, 1, FT__ML},
    {"LabelEncoder", rule_label_encoder, 0, 1, FT__ML},
    {"LinearClassifier", rule_linear_classifier, 0, 1, FT__ML},
    {"LinearRegressor", rule_linear_regressor, 0, 1, FT__ML},
    {"Normalizer", rule_counted, FT_DTYPE_fp32, 1, FT__ML},
    {"OneHotEncoder", rule_one_hot_encoder, 0, 1, FT__ML},
    {"SVMClassifier", rule_classifier, 0, 1, FT__ML},
    {"SVMRegressor", rule_regressor, 0, 1, FT__ML},
    {"Scaler", rule_counted, FT_DTYPE_fp32, 1, FT__ML},
    {"TreeEnsemble", rule_regressor, 1, 1, FT__ML},
    {"TreeEnsembleClassifier", rule_classifier, 0, 1, FT__ML},
    {"TreeEnsembleRegressor", rule_regressor, 0, 1, FT__ML},
};

const ft__rule_table ft__rules_ml = {rules, sizeof(rules) / sizeof(*rules)};
