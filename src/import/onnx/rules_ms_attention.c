/* com.microsoft: attention. One kernel reads queries, keys and values where they
 * lie, so that a packed or split operand is a view; keys and values of earlier
 * steps are copied to those of this one, as the results are. */
#include "import/onnx/compose.h"
#include "import/rules/ops.h"

/* Heads and sizes of one attention. */
struct heads {
    int64_t batch, heads, kv_heads;
    int64_t queries, keys;
    int64_t size;  /* of a query and a key */
    int64_t value; /* of a value */
    bool causal, mask;
};

/* Features of one head; fails the import where they are none. */
static int64_t per_head(const ft__onnx_node *n, int64_t hidden, int64_t heads)
{
    if (hidden % heads)
        ft__onnx_fail(n, "%lld heads do not divide %lld features", (long long)heads,
                      (long long)hidden);
    return hidden / heads;
}

/* q, k and v: batch x heads x length x size. */
static ft__onnx_value *make_attention(const ft__onnx_node *n, ft__onnx_value *q,
                                      ft__onnx_value *k, ft__onnx_value *v, bool causal,
                                      bool mask, ft__onnx_value *out)
{
    ft__onnx_value *in[3] = {q, k, v};
    ft_op op;

    if (!q || !k || !v)
        return NULL;
    op = ft__op_attention(q->dtype, &q->shape, &k->shape, &v->shape, causal, mask);
    return ft__make_of(n, &op, in, 3, NULL, out);
}

/* The kernel; the node's first result is it in shape s. */
static void attend(const ft__onnx_node *n, const struct heads *h, ft__onnx_value *q,
                   ft__onnx_value *k, ft__onnx_value *v, const ft_shape *s)
{
    q = ft__make_view(n, q, FT__SHAPE(h->batch, h->heads, h->queries, h->size), NULL);
    k = ft__make_view(n, k, FT__SHAPE(h->batch, h->kv_heads, h->keys, h->size), NULL);
    v = ft__make_view(n, v, FT__SHAPE(h->batch, h->kv_heads, h->keys, h->value), NULL);
    q = make_attention(n, q, k, v, h->causal, h->mask, NULL);
    ft__make_view(n, q, s, n->out[0]);
}

/* A result that something reads; else NULL. */
static ft__onnx_value *wanted(const ft__onnx_node *n, uint32_t i)
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
static ft__onnx_value *all_steps(const ft__onnx_node *n, const struct heads *h,
                                 ft__onnx_value *past, ft__onnx_value *x,
                                 int64_t length, int64_t size, uint32_t result)
{
    ft__onnx_value *out = wanted(n, result);

    x = ft__make_view(n, x, FT__SHAPE(h->batch, h->kv_heads, length, size), NULL);
    if (past && past->shape.rank != 4)
        ft__onnx_fail(n, "its past must have 4 dimensions");
    if (!x || ft__failed(n))
        return NULL;
    if (past && past->dtype != x->dtype)
        return quantised_steps(n, past, x, out);
    return past || out ? ft__make_concat(n, past, x, 2, out) : x;
}

/* Attention: one layer makes queries, keys and values. */
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

/* x times a matrix, weights or not. */
static ft__onnx_value *project(const ft__onnx_node *n, ft__onnx_value *x,
                               ft__onnx_value *w, ft__onnx_value *bias, ft_dtype to)
{
    ft__linear l = {.weight = w, .bias = bias, .columns = w->shape.dim[1], .to = to};

    if (ft__is_constant(w) && (!bias || ft__is_constant(bias)))
        return ft__make_linear(n, x, &l, NULL);
    return ft__make_sum(n, ft__make_matmul(n, x, w, to, NULL), bias, NULL);
}

/* Results 0 and 1 from queries, keys and values one behind the other. past: two
 * x batch x heads x length x size, or NULL; shared: its buffer holds all steps. */
static void attend_packed(const ft__onnx_node *n, struct heads *h,
                          const struct projection *p, ft__onnx_value *x,
                          ft__onnx_value *past, bool shared, const ft_shape *s)
{
    ft__onnx_value *present = wanted(n, 1), *kv, *k, *v;
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
    attend(n, h, x, k, v, s);
}

/* One layer of weights w makes queries, keys and values; `batch`: a batch and its
 * length. Tokens without padding get it first. */
static void attend_projected(const ft__onnx_node *n, struct heads *h,
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
    h->size = per_head(n, p.hidden[0], h->heads);
    h->value = per_head(n, p.hidden[2], h->heads);
    x = project(n, n->in[0], n->in[1], ft__in(n, 2), to);
    all = *FT__SHAPE(h->batch * h->queries, p.all);
    if (x && s.rank == 2 && !ft_shape_equal(&all, &x->shape))
        x = ft__make_move(n, FT_KIND_pad, x, &all, NULL);
    s.dim[s.rank - 1] = p.hidden[2];
    attend_packed(n, h, &p, x, past, shared, &s);
}

/* arg: 0 Attention, 1 DecoderMaskedSelfAttention: operands are the same. */
static void rule_attention(ft__onnx_node *n)
{
    struct heads h = {.causal = ft__attr_int(n, "unidirectional", n->rule->arg),
                      .mask = ft__in(n, 3) || ft__in(n, 5)};

    if (ft__has_rank(n, 0, 3))
        attend_projected(n, &h, &n->in[0]->shape, FT_DTYPE_NONE, ft__in(n, 4),
                         ft__attr_int(n, "past_present_share_buffer", n->rule->arg));
}

/* The layer is one of bytes; past is operand 8. */
static void rule_qattention(ft__onnx_node *n)
{
    struct heads h = {.causal = ft__attr_int(n, "unidirectional", 0),
                      .mask = ft__in(n, 5) != NULL};

    if (ft__has_rank(n, 0, 3))
        attend_projected(n, &h, &n->in[0]->shape, n->in[3]->dtype, ft__in(n, 8), false);
}

/* Tokens without the padding: an operand says where they lie in the batch, and so
 * how large that is. */
static void rule_packed_attention(ft__onnx_node *n)
{
    struct heads h = {.mask = true};

    if (ft__has_rank(n, 0, 2) && ft__has_rank(n, 3, 2))
        attend_projected(n, &h, &n->in[3]->shape, FT_DTYPE_NONE, NULL, false);
}

struct sources {
    ft__onnx_value *q, *k, *v;
    ft__onnx_value *bias, *past_k, *past_v;
    bool shared;    /* the past's buffers hold all steps */
    int64_t total;  /* so many of them are used; -1: all */
    int64_t length; /* of keys and values that are given */
    bool encoder;   /* they are those of an encoder, complete */
};

/* A buffer for all steps that is written in place: the result is it. */
static ft__onnx_value *in_place(const ft__onnx_node *n, ft__onnx_value *past,
                                uint32_t result)
{
    return ft__make_view(n, past, &past->shape, wanted(n, result));
}

/* Keys and values of all steps, and attention over them. */
static void attend_steps(const ft__onnx_node *n, struct heads *h,
                         const struct sources *s)
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
    attend(n, h, s->q, k, v, FT__SHAPE(h->batch, h->queries, h->heads * h->value));
    ft__emit_extra(n, 3, s->q->dtype,
                   FT__SHAPE(h->batch, h->heads, h->queries, h->keys));
}

/* The bias of queries, keys and values, each added to its own. */
static void add_bias(const ft__onnx_node *n, const struct heads *h, struct sources *s)
{
    ft__onnx_value **x[3] = {&s->q, &s->k, &s->v};

    for (uint32_t i = 0; i < 3 && s->bias; i++) {
        int64_t columns = h->heads * (i < 2 ? h->size : h->value);

        if (*x[i] && (*x[i])->shape.rank == 3)
            *x[i] = ft__apply(
                n, FT_KIND_add,
                FT__VALUES(*x[i], ft__make_view(n, s->bias, FT__SHAPE(columns), NULL)),
                NULL);
    }
}

/* Key and value operands: batch x length x features, or batch x heads x length x
 * size, which no past is put before. */
static bool read_keys(const ft__onnx_node *n, struct heads *h, struct sources *s)
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
        h->size = per_head(n, k->dim[2], h->kv_heads);
        h->value = per_head(n, v->dim[2], h->kv_heads);
    }
    return !ft__failed(n);
}

/* All in the query, batch x length x heads x 3 x size, or keys and values in the
 * key. False: they are operands of their own. */
static bool read_packed(const ft__onnx_node *n, struct heads *h, struct sources *s)
{
    const ft_shape *q = &s->q->shape;
    bool all = q->rank == 5 && q->dim[3] == 3;
    bool both = s->k && s->k->shape.rank == 5 && s->k->shape.dim[3] == 2;

    if (!all && !both)
        return false;
    h->size = h->value = all ? q->dim[4] : s->k->shape.dim[4];
    s->length = all ? q->dim[1] : s->k->shape.dim[1];
    if (s->bias)
        s->q = ft__apply(
            n, FT_KIND_add,
            FT__VALUES(s->q,
                       ft__make_view(n, s->bias, FT__SHAPE(q->dim[q->rank - 1]), NULL)),
            NULL);
    s->k = s->v = all ? s->q : s->k;
    return true;
}

static void rule_multihead(ft__onnx_node *n)
{
    struct heads h = {.heads = ft__attr_size(n, "num_heads", 0)};
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
static void rule_decoder_masked(ft__onnx_node *n)
{
    struct heads h = {.heads = ft__attr_size(n, "num_heads", 0)};
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
        h.size = h.value = per_head(n, s.q->shape.dim[2] / 3, h.heads);
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
    return rotary ? ft__apply(n, FT_KIND_rotary, FT__VALUES(x), NULL) : x;
}

/* Queries, keys and values of one node, packed or not; norms: of queries and
 * keys, or NULL. False: they do not fit. */
static bool read_grouped(const ft__onnx_node *n, struct heads *h, struct sources *s,
                         ft__onnx_value *const norm[2])
{
    ft__onnx_value *all = s->q;
    const bool rotary = ft__attr_int(n, "do_rotary", 0) != 0;
    int64_t groups = h->heads + 2 * h->kv_heads;

    if (!ft__has_rank(n, 0, 3))
        return false;
    h->batch = all->shape.dim[0];
    h->queries = s->length = all->shape.dim[1];
    if (s->k) {
        if (!read_keys(n, h, s))
            return false;
    } else {
        h->size = h->value = per_head(n, all->shape.dim[2], groups);
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

/* total: the operand that says how many steps there are. The past is a buffer for all
 * of them (shared) at any rate where it is as long. */
static void attend_grouped(ft__onnx_node *n, struct heads h, uint32_t total,
                           bool shared, ft__onnx_value *const norm[2])
{
    struct sources s = {.q = n->in[0],
                        .k = ft__in(n, 1),
                        .v = ft__in(n, 2),
                        .past_k = ft__in(n, 3),
                        .past_v = ft__in(n, 4),
                        .total = ft__int_in(n, total)};

    h.heads = ft__attr_size(n, "num_heads", 0);
    h.kv_heads = ft__attr_size(n, "kv_num_heads", 0);
    s.shared = shared || (s.total >= 0 && s.past_k && s.past_k->shape.rank == 4 &&
                          s.past_k->shape.dim[2] >= s.total);
    if (read_grouped(n, &h, &s, norm))
        attend_steps(n, &h, &s);
}

static void rule_grouped_query(ft__onnx_node *n)
{
    const struct heads h = {.causal = ft__attr_int(n, "causal", 1),
                            .mask = ft__in(n, 10) != NULL};

    attend_grouped(n, h, 6, false, (ft__onnx_value *[]){ft__in(n, 14), ft__in(n, 15)});
}

/* Blocks that are left out are not known: all count. */
static void rule_sparse(ft__onnx_node *n)
{
    ft__build_bounded(n->import->b,
                      "SparseAttention (node %.*s), all of its blocks counted",
                      ft__shown(n->name.n, 100), n->name.s);
    attend_grouped(n, (struct heads){.causal = true}, 7, true,
                   (ft__onnx_value *[]){NULL, NULL});
}

/* Tokens without padding; token_offset is operand 4. */
static void rule_packed_multihead(ft__onnx_node *n)
{
    struct heads h = {.heads = ft__attr_size(n, "num_heads", 0), .mask = true};
    const ft_shape *q = &n->in[0]->shape;
    ft__onnx_value *v = ft__in(n, 2), *x = n->in[0];
    int64_t tokens, columns;
    ft_shape all;

    if (!ft__has_rank(n, 4, 2) || q->rank < 2 || (v && v->shape.rank != 2)) {
        ft__misfit(n, 0);
        return;
    }
    tokens = q->dim[0];
    h.kv_heads = h.heads;
    h.batch = n->in[4]->shape.dim[0];
    h.queries = h.keys = n->in[4]->shape.dim[1];
    h.size = q->rank == 4 ? q->dim[3] : per_head(n, q->dim[1], h.heads);
    h.value = v ? per_head(n, v->shape.dim[1], h.heads) : h.size;
    columns = h.heads * (h.size > h.value ? h.size : h.value);
    all = (ft_shape){.rank = 3, .dim = {h.batch, h.queries, columns}};
    if (!ft__shape_fits(&all)) {
        ft__misfit(n, 0);
        return;
    }
    x = ft__make_sum(n, ft__make_view(n, x, FT__SHAPE(tokens, h.heads * h.size), NULL),
                     NULL, NULL);
    x = ft__make_move(n, FT_KIND_pad, x, &all, NULL);
    attend(n, &h, x, x, x, FT__SHAPE(tokens, h.heads * h.value));
}

/* Every query meets `window` keys on both sides and in its own block; tokens that
 * are global have a layer of their own. */
static void rule_longformer(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0], *w = n->in[1];
    struct heads h = {.heads = ft__attr_size(n, "num_heads", 0), .mask = true};
    int64_t window = ft__attr_size(n, "window", 0), hidden, blocks;

    if (!ft__has_rank(n, 0, 3) || !ft__has_rank(n, 1, 2) || !ft__has_rank(n, 4, 2))
        return;
    hidden = x->shape.dim[2];
    blocks = per_head(n, x->shape.dim[1], window);
    h.size = h.value = per_head(n, hidden, h.heads);
    h.kv_heads = h.heads;
    h.batch = x->shape.dim[0] * blocks;
    h.queries = window;
    h.keys = 3 * window;
    (void)project(n, x, n->in[4], ft__in(n, 5), FT_DTYPE_NONE);
    x = project(n, x, w, ft__in(n, 2), FT_DTYPE_NONE);
    attend(n, &h, x, x, x, &n->in[0]->shape);
}

/* Length x batch x features; the key gives keys and values by one layer. */
static void rule_decoder_attention(ft__onnx_node *n)
{
    struct heads h = {.heads = ft__attr_size(n, "num_heads", 0), .mask = true};
    ft__onnx_value *q = n->in[0], *k = n->in[1];
    int64_t hidden;

    if (!ft__has_rank(n, 0, 3) || !ft__has_rank(n, 1, 3) || !ft__has_rank(n, 2, 2) ||
        !ft__has_rank(n, 3, 2))
        return;
    hidden = q->shape.dim[2];
    h.kv_heads = h.heads;
    h.queries = q->shape.dim[0];
    h.batch = q->shape.dim[1];
    h.keys = k->shape.dim[0];
    h.size = h.value = per_head(n, hidden, h.heads);
    q = project(n, q, n->in[2], NULL, FT_DTYPE_NONE);
    k = project(n, k, n->in[3], NULL, FT_DTYPE_NONE);
    attend(n, &h, q, k, k, &n->in[0]->shape);
    for (uint32_t i = 1; i < 3; i++)
        ft__emit_extra(n, i, n->in[0]->dtype,
                       FT__SHAPE(h.batch, h.heads, h.keys, h.size));
}

/* A state of size x value a head instead of keys: one product makes it, one reads
 * it. */
static void rule_linear_attention(ft__onnx_node *n)
{
    int64_t heads = ft__attr_size(n, "kv_num_heads", 0);
    int64_t q_heads = ft__attr_size(n, "q_num_heads", 0);
    ft__onnx_value *q = n->in[0], *k = n->in[1], *v = n->in[2], *state;
    int64_t b, t, size, value;

    if (!ft__has_rank(n, 0, 3) || !ft__has_rank(n, 1, 3) || !ft__has_rank(n, 2, 3))
        return;
    b = q->shape.dim[0];
    t = q->shape.dim[1];
    size = per_head(n, q->shape.dim[2], q_heads);
    value = per_head(n, v->shape.dim[2], heads);
    k = ft__make_move(n, FT_KIND_expand, k, FT__SHAPE(b, heads, size, t), NULL);
    state =
        ft__make_matmul(n, k, ft__make_view(n, v, FT__SHAPE(b, heads, t, value), NULL),
                        FT_DTYPE_NONE, ft__in(n, 3) ? NULL : wanted(n, 1));
    if (ft__in(n, 3))
        state = ft__apply(n, FT_KIND_add, FT__VALUES(state, n->in[3]), wanted(n, 1));
    if (!state)
        return;
    q = ft__make_view(n, q, FT__SHAPE(b, heads, t * (q_heads / heads), size), NULL);
    q = ft__make_matmul(n, q, state, FT_DTYPE_NONE, NULL);
    ft__make_view(n, q, FT__SHAPE(b, t, q_heads * value), n->out[0]);
}

/* Keys and values of all sequences in pages of one cache: how long each is, is not
 * known; all pages of the table (operand 7) count. */
static void rule_paged(ft__onnx_node *n)
{
    struct heads h = {.heads = ft__attr_size(n, "num_heads", 0),
                      .kv_heads = ft__attr_size(n, "kv_num_heads", 0)};
    ft__onnx_value *q = n->in[0], *caches[] = {ft__in(n, 3), ft__in(n, 4)}, *out;
    bool packed = !ft__in(n, 1), rotary = ft__attr_int(n, "do_rotary", 0);
    int64_t tokens, parts = h.heads + (packed ? 2 * h.kv_heads : 0);
    ft_shape keys;
    ft_op op;

    if (!ft__has_rank(n, 0, 2) || !ft__has_rank(n, 3, 4) || !ft__has_rank(n, 7, 2) ||
        n->in[7]->shape.dim[0] < 1)
        return;
    tokens = q->shape.dim[0];
    h.batch = n->in[7]->shape.dim[0];
    h.queries = (tokens + h.batch - 1) / h.batch;
    h.keys =
        ft_shape_elements(FT__SHAPE(n->in[7]->shape.dim[1], caches[0]->shape.dim[1]));
    h.size = per_head(n, q->shape.dim[1], parts);
    q = rotary ? ft__apply(n, FT_KIND_rotary, FT__VALUES(q), NULL) : q;
    if (!q || ft__failed(n))
        return;
    keys = *FT__SHAPE(h.batch, h.kv_heads, h.keys, h.size);
    op = ft__op_attention(q->dtype, FT__SHAPE(h.batch, h.heads, h.queries, h.size),
                          &keys, &keys, true, false);
    out =
        ft__make_of(n, &op, FT__VALUES(q, caches[0], caches[1] ? caches[1] : caches[0]),
                    NULL, NULL);
    ft__make_view(n, out, FT__SHAPE(tokens, h.heads * h.size), n->out[0]);
    for (uint32_t i = 0; i < 2; i++)
        if (caches[i] && ft__out(n, i + 1))
            ft__make_view(n, caches[i], &caches[i]->shape, n->out[i + 1]);
    ft__build_bounded(n->import->b,
                      "PagedAttention (node %.*s), all of its pages counted",
                      ft__shown(n->name.n, 100), n->name.s);
}

/* Three layers of bytes, and attention of bytes. */
static void rule_qordered_attention(ft__onnx_node *n)
{
    struct heads h = {.heads = ft__attr_size(n, "num_heads", 0)};
    ft__onnx_value *x = n->in[0], *part[3];

    if (!ft__has_rank(n, 0, 3))
        return;
    for (uint32_t i = 0; i < 3; i++) {
        if (!ft__has_rank(n, 5 + i, 2))
            return;
        part[i] = project(n, x, n->in[5 + i], ft__in(n, 11 + i), FT_DTYPE_NONE);
    }
    h.kv_heads = h.heads;
    h.batch = x->shape.dim[0];
    h.queries = h.keys = x->shape.dim[1];
    h.size = per_head(n, n->in[5]->shape.dim[1], h.heads);
    h.value = per_head(n, n->in[7]->shape.dim[1], h.heads);
    h.causal = ft__attr_int(n, "unidirectional", 0);
    h.mask = ft__in(n, 17) != NULL;
    attend(n, &h, part[0], part[1], part[2],
           FT__SHAPE(h.batch, h.queries, n->in[7]->shape.dim[1]));
}

static const ft__operator_rule rules[] = {
    {"Attention", rule_attention, 0, 2, FT__MICROSOFT},
    {"DecoderAttention", rule_decoder_attention, 0, 4, FT__MICROSOFT},
    {"DecoderMaskedMultiHeadAttention", rule_decoder_masked, 0, 1, FT__MICROSOFT},
    {"DecoderMaskedSelfAttention", rule_attention, 1, 2, FT__MICROSOFT},
    {"GroupQueryAttention", rule_grouped_query, 0, 1, FT__MICROSOFT},
    {"LinearAttention", rule_linear_attention, 0, 3, FT__MICROSOFT},
    {"LongformerAttention", rule_longformer, 0, 7, FT__MICROSOFT},
    {"MultiHeadAttention", rule_multihead, 0, 1, FT__MICROSOFT},
    {"PackedAttention", rule_packed_attention, 0, 5, FT__MICROSOFT},
    {"PackedMultiHeadAttention", rule_packed_multihead, 0, 1, FT__MICROSOFT},
    {"PagedAttention", rule_paged, 0, 1, FT__MICROSOFT},
    {"QAttention", rule_qattention, 0, 5, FT__MICROSOFT},
    {"QOrderedAttention", rule_qordered_attention, 0, 14, FT__MICROSOFT},
    {"SparseAttention", rule_sparse, 0, 1, FT__MICROSOFT},
};

const ft__rule_table ft__rules_ms_attention = {rules, sizeof(rules) / sizeof(*rules)};
