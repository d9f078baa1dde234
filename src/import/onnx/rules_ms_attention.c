/* com.microsoft: attention. One kernel reads queries, keys and values where they
 * lie, so that a packed or split operand is a view; keys and values of earlier
 * steps are copied to those of this one, as the results are. */
#include "import/onnx/attention.h"

int64_t ft__per_head(const ft__onnx_node *n, int64_t hidden, int64_t heads)
{
    if (hidden % heads)
        ft__onnx_fail(n, "%lld heads do not divide %lld features", (long long)heads,
                      (long long)hidden);
    return hidden / heads;
}

void ft__attend(const ft__onnx_node *n, const ft__heads *h, ft__onnx_value *q,
                ft__onnx_value *k, ft__onnx_value *v, const ft_shape *s)
{
    q = ft__make_view(n, q, FT__SHAPE(h->batch, h->heads, h->queries, h->size), NULL);
    k = ft__make_view(n, k, FT__SHAPE(h->batch, h->kv_heads, h->keys, h->size), NULL);
    v = ft__make_view(n, v, FT__SHAPE(h->batch, h->kv_heads, h->keys, h->value), NULL);
    q = ft__make_attention(n, q, k, v, h->causal, h->mask, NULL);
    ft__make_view(n, q, s, n->out[0]);
}

ft__onnx_value *ft__wanted(const ft__onnx_node *n, uint32_t i)
{
    ft__onnx_value *v = ft__out(n, i);

    return v && v->uses ? v : NULL;
}

/* The past of another dtype: this step is quantised to it, and all of it read
 * back. */
static ft__onnx_value *quantised_steps(const ft__onnx_node *n, ft__onnx_value *past,
                                       ft__onnx_value *x, ft__onnx_value *out)
{
    ft_shape s = x->shape;
    ft_dtype t = x->dtype;
    int64_t size = s.dim[3];

    s.dim[3] = past->shape.dim[3];
    x = ft__make_cast(n, FT_KIND_quantize, x, past->dtype, NULL);
    x = ft__make_concat(n, past, ft__make_view(n, x, &s, NULL), 2, out);
    x = ft__make_cast(n, FT_KIND_dequantize, x, t, NULL);
    if (!x || x->shape.dim[3] == size)
        return x;
    s = x->shape;
    s.dim[3] = size;
    return ft__make_move(n, FT_KIND_expand, x, &s, NULL);
}

/* Keys (or values) of all steps: those of the past, then x; they are result
 * `result`. length: how many there are of x. */
static ft__onnx_value *all_steps(const ft__onnx_node *n, const ft__heads *h,
                                 ft__onnx_value *past, ft__onnx_value *x,
                                 int64_t length, int64_t size, uint32_t result)
{
    ft__onnx_value *out = ft__wanted(n, result);

    x = ft__make_view(n, x, FT__SHAPE(h->batch, h->kv_heads, length, size), NULL);
    if (past && past->shape.rank != 4)
        ft__onnx_fail(n, "its past must have 4 dimensions");
    if (!x || ft__failed(n))
        return NULL;
    if (past && past->dtype != x->dtype)
        return quantised_steps(n, past, x, out);
    return past || out ? ft__make_concat(n, past, x, 2, out) : x;
}

/* ---- Attention: one layer makes queries, keys and values ---- */

struct projection {
    int64_t hidden[3]; /* columns of queries, keys and values */
    int64_t all;
};

static bool read_projection(const ft__onnx_node *n, int64_t columns,
                            struct projection *p)
{
    int64_t have = ft__attr_ints(n, "qkv_hidden_sizes", p->hidden, 3);

    if (have != 3)
        for (uint32_t i = 0; i < 3; i++)
            p->hidden[i] = columns / 3;
    p->all = columns;
    for (uint32_t i = 0; i < 3; i++)
        if (p->hidden[i] < 1 || p->hidden[i] > columns)
            ft__onnx_fail(n, "qkv_hidden_sizes do not fit its weights");
    return !ft__failed(n);
}

ft__onnx_value *ft__project(const ft__onnx_node *n, ft__onnx_value *x,
                            ft__onnx_value *w, ft__onnx_value *bias, ft_dtype to)
{
    ft__linear l = {.weight = w, .bias = bias, .columns = w->shape.dim[1], .to = to};

    if (ft__is_constant(w) && (!bias || ft__is_constant(bias)))
        return ft__make_linear(n, x, &l, NULL);
    return ft__make_sum(n, ft__make_matmul(n, x, w, to, NULL), bias, NULL);
}

/* Results 0 and 1 from queries, keys and values one behind the other. past: two
 * x batch x heads x length x size, or NULL; shared: its buffer holds all steps. */
static void attend_packed(const ft__onnx_node *n, ft__heads *h,
                          const struct projection *p, ft__onnx_value *x,
                          ft__onnx_value *past, bool shared, const ft_shape *s)
{
    ft__onnx_value *present = ft__wanted(n, 1), *kv, *k, *v;
    ft_shape step = {.rank = 5, .dim = {2, h->batch, h->heads, h->queries, h->size}};

    if (past && past->shape.rank != 5) {
        ft__onnx_fail(n, "its past must have 5 dimensions");
        return;
    }
    h->keys = h->queries;
    if ((past || present) && p->hidden[1] == p->hidden[2]) {
        kv = ft__make_view(n, x, &step, NULL);
        if (past && shared)
            kv = ft__make_view(n, past, &past->shape, present);
        else
            kv = ft__make_concat(n, past, kv, 3, present);
        if (!kv)
            return;
        h->keys = kv->shape.dim[3];
        k = v = kv;
    } else {
        k = v = x;
    }
    ft__attend(n, h, x, k, v, s);
}

/* One layer of weights w makes queries, keys and values; `batch`: a batch and its
 * length. Tokens without padding get it first. */
static void attend_projected(const ft__onnx_node *n, ft__heads *h,
                             const ft_shape *batch, ft_dtype to, ft__onnx_value *past,
                             bool shared)
{
    const ft__onnx_value *w = n->in[1];
    ft_shape s = n->in[0]->shape, all;
    struct projection p;
    ft__onnx_value *x;

    if (!ft__has_rank(n, 1, 2) || !read_projection(n, w->shape.dim[1], &p))
        return;
    h->heads = h->kv_heads = ft__attr_size(n, "num_heads", 0);
    h->batch = batch->dim[0];
    h->queries = batch->dim[1];
    h->size = ft__per_head(n, p.hidden[0], h->heads);
    h->value = ft__per_head(n, p.hidden[2], h->heads);
    x = ft__project(n, n->in[0], n->in[1], ft__in(n, 2), to);
    all = *FT__SHAPE(h->batch * h->queries, p.all);
    if (x && s.rank == 2 && !ft_shape_equal(&all, &x->shape))
        x = ft__make_move(n, FT_KIND_pad, x, &all, NULL);
    s.dim[s.rank - 1] = p.hidden[2];
    attend_packed(n, h, &p, x, past, shared, &s);
}

/* arg: 0 Attention, 1 DecoderMaskedSelfAttention: operands are the same. */
void ft__rule_ms_attention(ft__onnx_node *n)
{
    ft__heads h = {.causal = ft__attr_int(n, "unidirectional", n->rule->arg),
                   .mask = ft__in(n, 3) || ft__in(n, 5)};

    if (ft__has_rank(n, 0, 3))
        attend_projected(n, &h, &n->in[0]->shape, FT_DTYPE_NONE, ft__in(n, 4),
                         ft__attr_int(n, "past_present_share_buffer", n->rule->arg));
}

/* The layer is one of bytes; past is operand 8. */
void ft__rule_ms_qattention(ft__onnx_node *n)
{
    ft__heads h = {.causal = ft__attr_int(n, "unidirectional", 0),
                   .mask = ft__in(n, 5) != NULL};

    if (ft__has_rank(n, 0, 3))
        attend_projected(n, &h, &n->in[0]->shape, n->in[3]->dtype, ft__in(n, 8), false);
}

/* Tokens without the padding: an operand says where they lie in the batch, and so
 * how large that is. */
void ft__rule_ms_packed_attention(ft__onnx_node *n)
{
    ft__heads h = {.mask = true};

    if (ft__has_rank(n, 0, 2) && ft__has_rank(n, 3, 2))
        attend_projected(n, &h, &n->in[3]->shape, FT_DTYPE_NONE, NULL, false);
}

/* ---- operands that are queries, keys and values already ---- */

struct sources {
    ft__onnx_value *q, *k, *v;
    ft__onnx_value *bias;
    ft__onnx_value *past_k, *past_v;
    bool shared;    /* the past's buffers hold all steps */
    int64_t total;  /* so many of them are used; -1: all */
    int64_t length; /* of keys and values that are given */
    bool encoder;   /* they are those of an encoder, complete */
};

/* A buffer for all steps that is written in place: the result is it. */
static ft__onnx_value *in_place(const ft__onnx_node *n, ft__onnx_value *past,
                                uint32_t result)
{
    return ft__make_view(n, past, &past->shape, ft__wanted(n, result));
}

/* Keys and values of all steps, and attention over them. */
static void attend_steps(const ft__onnx_node *n, ft__heads *h, const struct sources *s)
{
    ft__onnx_value *past_k = s->encoder ? NULL : s->past_k;
    ft__onnx_value *past_v = s->encoder ? NULL : s->past_v;
    ft__onnx_value *k = s->k, *v = s->v;

    if (s->shared && past_k && past_v) {
        k = in_place(n, past_k, 1);
        v = in_place(n, past_v, 2);
    } else {
        k = all_steps(n, h, past_k, k, s->length, h->size, 1);
        v = all_steps(n, h, past_v, v, s->length, h->value, 2);
    }
    if (!s->q || !k || !v || k->shape.rank != 4 || v->shape.rank != 4)
        return;
    h->keys = k->shape.dim[2];
    if (s->total >= 0 && s->total < h->keys)
        h->keys = s->total;
    if (k->dtype != s->q->dtype) /* a quantised buffer */
        h->size = h->value = k->shape.dim[3];
    ft__attend(n, h, s->q, k, v, FT__SHAPE(h->batch, h->queries, h->heads * h->value));
    ft__emit_extra(n, 3, s->q->dtype,
                   FT__SHAPE(h->batch, h->heads, h->queries, h->keys));
}

/* The bias of queries, keys and values, each added to its own. */
static void add_bias(const ft__onnx_node *n, const ft__heads *h, struct sources *s)
{
    ft__onnx_value **x[3] = {&s->q, &s->k, &s->v};

    for (uint32_t i = 0; i < 3 && s->bias; i++) {
        int64_t columns = h->heads * (i < 2 ? h->size : h->value);

        if (*x[i] && (*x[i])->shape.rank == 3)
            *x[i] =
                ft__apply2(n, FT_KIND_add, *x[i],
                           ft__make_view(n, s->bias, FT__SHAPE(columns), NULL), NULL);
    }
}

/* Key and value operands: batch x length x features, or batch x heads x length x
 * size, which no past is put before. */
static bool read_keys(const ft__onnx_node *n, ft__heads *h, struct sources *s)
{
    const ft_shape *k = s->k ? &s->k->shape : NULL, *v = s->v ? &s->v->shape : NULL;

    if (!k || !v || k->rank != v->rank || (k->rank != 3 && k->rank != 4))
        return ft__onnx_fail(n, "keys and values have 3 or 4 dimensions");
    s->encoder = k->rank == 4;
    if (s->encoder) {
        h->kv_heads = k->dim[1];
        s->length = k->dim[2];
        h->size = k->dim[3];
        h->value = v->dim[3];
    } else {
        s->length = k->dim[1];
        h->size = ft__per_head(n, k->dim[2], h->kv_heads);
        h->value = ft__per_head(n, v->dim[2], h->kv_heads);
    }
    return !ft__failed(n);
}

/* All in the query, batch x length x heads x 3 x size, or keys and values in the
 * key. False: they are operands of their own. */
static bool read_packed(const ft__onnx_node *n, ft__heads *h, struct sources *s)
{
    const ft_shape *q = &s->q->shape;
    bool all = q->rank == 5 && q->dim[3] == 3;
    bool both = s->k && s->k->shape.rank == 5 && s->k->shape.dim[3] == 2;

    if (!all && !both)
        return false;
    h->size = h->value = all ? q->dim[4] : s->k->shape.dim[4];
    s->length = all ? q->dim[1] : s->k->shape.dim[1];
    if (s->bias)
        s->q = ft__apply2(
            n, FT_KIND_add, s->q,
            ft__make_view(n, s->bias, FT__SHAPE(q->dim[q->rank - 1]), NULL), NULL);
    s->k = s->v = all ? s->q : s->k;
    return true;
}

void ft__rule_ms_multihead(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0)};
    struct sources s = {.q = n->in[0],
                        .k = ft__in(n, 1),
                        .v = ft__in(n, 2),
                        .bias = ft__in(n, 3),
                        .past_k = ft__in(n, 6),
                        .past_v = ft__in(n, 7),
                        .shared = ft__in(n, 8) != NULL,
                        .total = ft__int_in(n, 8)};

    if (s.q->shape.rank < 3) {
        ft__misfit(n, 0);
        return;
    }
    h.kv_heads = h.heads;
    h.batch = s.q->shape.dim[0];
    h.queries = s.q->shape.dim[1];
    h.causal = ft__attr_int(n, "unidirectional", 0);
    h.mask = ft__in(n, 4) || ft__in(n, 5);
    if (!read_packed(n, &h, &s)) {
        if (!read_keys(n, &h, &s))
            return;
        add_bias(n, &h, &s);
    }
    if (s.total >= 0)
        s.total += s.length;
    attend_steps(n, &h, &s);
}

/* One query a sequence; keys and values may lie behind it. */
void ft__rule_ms_decoder_masked(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0)};
    struct sources s = {.q = n->in[0],
                        .k = ft__in(n, 1),
                        .v = ft__in(n, 2),
                        .bias = ft__in(n, 10),
                        .past_k = ft__in(n, 5),
                        .past_v = ft__in(n, 6),
                        .total = ft__int_in(n, 7)};

    if (!ft__has_rank(n, 0, 3))
        return;
    s.shared = ft__attr_int(n, "past_present_share_buffer", 0);
    h.kv_heads = h.heads;
    h.batch = s.q->shape.dim[0];
    h.queries = s.length = s.q->shape.dim[1];
    h.mask = ft__in(n, 3) || ft__in(n, 4);
    if (!s.k) {
        h.size = h.value = ft__per_head(n, s.q->shape.dim[2] / 3, h.heads);
        s.q = ft__make_sum(n, s.q, s.bias, NULL);
        s.k = s.v = s.q;
    } else if (read_keys(n, &h, &s)) {
        add_bias(n, &h, &s);
    } else {
        return;
    }
    if (s.total >= 0)
        s.total += s.length;
    attend_steps(n, &h, &s);
}

/* ---- fewer heads of keys and values than of queries ---- */

/* x normalised a head, and turned by its places. */
static ft__onnx_value *prepared(const ft__onnx_node *n, ft__onnx_value *x,
                                ft__onnx_value *norm, bool rotary, int64_t size)
{
    int64_t elements = x ? ft_shape_elements(&x->shape) : 0;
    ft_shape whole = x ? x->shape : (ft_shape){0};

    if (x && norm) {
        x = ft__make_view(n, x, FT__SHAPE(size ? elements / size : 0, size), NULL);
        x = ft__make_norm(n, FT_KIND_rmsnorm, x, FT_K_norm, 1, &norm, 1, NULL);
        x = ft__make_view(n, x, &whole, NULL);
    }
    return rotary ? ft__apply1(n, FT_KIND_rotary, x, NULL) : x;
}

/* Queries, keys and values of one node, packed or not; norms: of queries and
 * keys, or NULL. False: they do not fit. */
static bool read_grouped(const ft__onnx_node *n, ft__heads *h, struct sources *s,
                         ft__onnx_value *const norm[2], bool rotary)
{
    ft__onnx_value *all = s->q;
    int64_t groups = h->heads + 2 * h->kv_heads;

    if (!ft__has_rank(n, 0, 3))
        return false;
    h->batch = all->shape.dim[0];
    h->queries = s->length = all->shape.dim[1];
    if (s->k) {
        if (!read_keys(n, h, s))
            return false;
    } else {
        h->size = h->value = ft__per_head(n, all->shape.dim[2], groups);
        s->q = ft__make_view(n, all, FT__SHAPE(h->batch, h->queries, h->heads, h->size),
                             NULL);
        s->k = s->v = ft__make_view(
            n, all, FT__SHAPE(h->batch, h->queries, h->kv_heads, h->size), NULL);
    }
    s->q = prepared(n, s->q, norm[0], rotary, h->size);
    if (!s->encoder)
        s->k = prepared(n, s->k, norm[1], rotary, h->size);
    return !ft__failed(n);
}

/* The past is a buffer for all steps where it is as long as they are. */
static void find_past(const ft__onnx_node *n, uint32_t total, struct sources *s)
{
    s->total = ft__int_in(n, total);
    if (s->past_k && s->past_k->shape.rank == 4)
        s->shared = s->total >= 0 && s->past_k->shape.dim[2] >= s->total;
}

void ft__rule_ms_grouped_query(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0),
                   .kv_heads = ft__attr_size(n, "kv_num_heads", 0)};
    struct sources s = {.q = n->in[0],
                        .k = ft__in(n, 1),
                        .v = ft__in(n, 2),
                        .past_k = ft__in(n, 3),
                        .past_v = ft__in(n, 4)};
    ft__onnx_value *norm[] = {ft__in(n, 14), ft__in(n, 15)};

    h.causal = ft__attr_int(n, "causal", 1);
    h.mask = ft__in(n, 10) != NULL;
    find_past(n, 6, &s);
    if (read_grouped(n, &h, &s, norm, ft__attr_int(n, "do_rotary", 0) != 0))
        attend_steps(n, &h, &s);
}

/* Blocks that are left out are not known: all count. */
void ft__rule_ms_sparse(ft__onnx_node *n)
{
    ft__heads h = {.heads = ft__attr_size(n, "num_heads", 0),
                   .kv_heads = ft__attr_size(n, "kv_num_heads", 0)};
    struct sources s = {.q = n->in[0],
                        .k = ft__in(n, 1),
                        .v = ft__in(n, 2),
                        .past_k = ft__in(n, 3),
                        .past_v = ft__in(n, 4)};
    ft__onnx_value *norm[] = {NULL, NULL};

    h.causal = true;
    find_past(n, 7, &s);
    s.shared = true;
    ft__build_bounded(n->import->b,
                      "SparseAttention (node %.*s), all of its blocks counted",
                      ft__shown(n->name.n, 100), n->name.s);
    if (read_grouped(n, &h, &s, norm, ft__attr_int(n, "do_rotary", 0) != 0))
        attend_steps(n, &h, &s);
}
