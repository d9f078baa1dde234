/* The primitives of oneDNN: making, loading and running them. */
#include "onednn.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 8, MAX_PARAMS = 4 };

enum source { FROM_IN, FROM_OUT, FROM_PARAM, FROM_SCRATCH };

/* Which oneDNN argument is which operand. */
typedef struct binding {
    int arg;
    enum source from;
    uint32_t index;
} binding;

typedef struct param {
    dnnl_memory_desc_t plain, stored;
    dnnl_primitive_t pack; /* NULL: stored is plain */
} param;

/* weights: instances x n_params memory objects, each over its own allocation,
 * because setting the handle of a padded weight clears its padding anew. */
struct ft__prim {
    const ft__dnnl *d;
    dnnl_primitive_t primitive;
    const char *name;
    uint64_t scratch_bytes;
    uint32_t n_args, n_params, instances;
    binding bind[MAX_ARGS];
    dnnl_exec_arg_t arg[MAX_ARGS];
    param params[MAX_PARAMS];
    dnnl_memory_t *weights;
};

dnnl_status_t ft__dnnl_open(ft__dnnl *d)
{
    dnnl_status_t s = dnnl_engine_create(&d->engine, dnnl_cpu, 0);

    if (s == dnnl_success)
        s = dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags);
    return s;
}

void ft__dnnl_close(ft__dnnl *d)
{
    if (d->stream)
        dnnl_stream_destroy(d->stream);
    if (d->engine)
        dnnl_engine_destroy(d->engine);
}

/* The library copies DNNL_MAX_NDIMS values whatever the rank. */
static void widen(dnnl_dims_t to, const int64_t *from, uint32_t n)
{
    memset(to, 0, sizeof(dnnl_dims_t));
    memcpy(to, from, n * sizeof(*from));
}

static dnnl_memory_desc_t describe(const ft__tensor *t)
{
    dnnl_memory_desc_t md = {0};
    dnnl_dims_t dims, strides;

    if (!t)
        return md;
    widen(dims, t->dim, t->rank);
    widen(strides, t->stride, t->rank);
    dnnl_memory_desc_init_by_strides(&md, (int)t->rank, dims,
                                     ft_dtype_bits(t->dtype) == 8 ? dnnl_s8 : dnnl_f32,
                                     strides);
    return md;
}

static dnnl_memory_desc_t describe_any(const ft__tensor *t)
{
    dnnl_memory_desc_t md = {0};
    dnnl_dims_t dims;

    widen(dims, t->dim, t->rank);
    dnnl_memory_desc_init_by_tag(&md, (int)t->rank, dims, dnnl_f32,
                                 dnnl_format_tag_any);
    return md;
}

static dnnl_status_t bind_scratch(ft__prim *p, const_dnnl_primitive_desc_t pd)
{
    const dnnl_memory_desc_t *md =
        dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    uint32_t i = p->n_args;

    p->scratch_bytes = md ? dnnl_memory_desc_get_size(md) : 0;
    if (p->scratch_bytes == 0)
        return dnnl_success;
    p->n_args++;
    p->bind[i] = (binding){DNNL_ARG_SCRATCHPAD, FROM_SCRATCH, 0};
    p->arg[i].arg = DNNL_ARG_SCRATCHPAD;
    return dnnl_memory_create(&p->arg[i].memory, md, p->d->engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t bind_args(ft__prim *p, const_dnnl_primitive_desc_t pd,
                               const binding *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const dnnl_memory_desc_t *md =
            dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, b[i].arg);
        dnnl_status_t s;

        p->bind[i] = b[i];
        p->arg[i].arg = b[i].arg;
        p->n_args = i + 1;
        if (b[i].from == FROM_PARAM) {
            p->params[b[i].index].stored = *md;
            p->n_params++;
            continue;
        }
        s = dnnl_memory_create(&p->arg[i].memory, md, p->d->engine, DNNL_MEMORY_NONE);
        if (s != dnnl_success)
            return s;
    }
    return bind_scratch(p, pd);
}

static dnnl_status_t make_packers(ft__prim *p)
{
    for (uint32_t i = 0; i < p->n_params; i++) {
        param *w = &p->params[i];
        dnnl_primitive_desc_t pd;
        dnnl_status_t s;

        if (w->plain.ndims == 0)
            w->plain = w->stored;
        if (dnnl_memory_desc_equal(&w->plain, &w->stored))
            continue;
        s = dnnl_reorder_primitive_desc_create(&pd, &w->plain, p->d->engine, &w->stored,
                                               p->d->engine, NULL);
        if (s != dnnl_success)
            return s;
        s = dnnl_primitive_create(&w->pack, pd);
        dnnl_primitive_desc_destroy(pd);
        if (s != dnnl_success)
            return s;
    }
    return dnnl_success;
}

/* Takes pd. */
static dnnl_status_t build(ft__prim **out, const ft__dnnl *d, dnnl_primitive_desc_t pd,
                           const binding *b, uint32_t n,
                           const dnnl_memory_desc_t *plain, uint32_t n_plain)
{
    ft__prim *p = calloc(1, sizeof(*p));
    dnnl_status_t s = p ? dnnl_success : dnnl_out_of_memory;

    if (p) {
        p->d = d;
        for (uint32_t i = 0; i < n_plain; i++)
            p->params[i].plain = plain[i];
        s = dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &p->name);
    }
    if (s == dnnl_success)
        s = dnnl_primitive_create(&p->primitive, pd);
    if (s == dnnl_success)
        s = bind_args(p, pd, b, n);
    if (s == dnnl_success)
        s = make_packers(p);
    dnnl_primitive_desc_destroy(pd);
    if (s != dnnl_success) {
        ft__prim_free(p);
        return s;
    }
    *out = p;
    return dnnl_success;
}

/* Scratch memory is the caller's, so that its size is known and one buffer
 * serves all. */
static dnnl_status_t user_scratch(dnnl_primitive_attr_t *attr)
{
    dnnl_status_t s = dnnl_primitive_attr_create(attr);

    if (s == dnnl_success)
        s = dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    return s;
}

/* `s`: of the description's making; plain: of the weights, where they are packed. */
static dnnl_status_t finish_packed(ft_block *b, dnnl_status_t s,
                                   const_dnnl_op_desc_t desc, const binding *args,
                                   uint32_t n, const dnnl_memory_desc_t *plain,
                                   uint32_t n_plain)
{
    const ft__dnnl *d = &b->ctx->dnnl;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd;

    if (s == dnnl_success)
        s = user_scratch(&attr);
    if (s == dnnl_success)
        s = dnnl_primitive_desc_create(&pd, desc, attr, d->engine, NULL);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return s == dnnl_success ? build(&b->prim, d, pd, args, n, plain, n_plain) : s;
}

static dnnl_status_t finish(ft_block *b, dnnl_status_t s, const_dnnl_op_desc_t desc,
                            const binding *args, uint32_t n)
{
    return finish_packed(b, s, desc, args, n, NULL, 0);
}

static const binding one_in_one_out[] = {{DNNL_ARG_SRC, FROM_IN, 0},
                                         {DNNL_ARG_DST, FROM_OUT, 0}};
static const binding two_in_one_out[] = {{DNNL_ARG_SRC_0, FROM_IN, 0},
                                         {DNNL_ARG_SRC_1, FROM_IN, 1},
                                         {DNNL_ARG_DST, FROM_OUT, 0}};
static const binding filter_and_bias[] = {{DNNL_ARG_SRC, FROM_IN, 0},
                                          {DNNL_ARG_DST, FROM_OUT, 0},
                                          {DNNL_ARG_WEIGHTS, FROM_PARAM, 0},
                                          {DNNL_ARG_BIAS, FROM_PARAM, 1}};
static const binding norm_and_stats[] = {
    {DNNL_ARG_SRC, FROM_IN, 0},      {DNNL_ARG_DST, FROM_OUT, 0},
    {DNNL_ARG_SCALE, FROM_PARAM, 0}, {DNNL_ARG_SHIFT, FROM_PARAM, 1},
    {DNNL_ARG_MEAN, FROM_PARAM, 2},  {DNNL_ARG_VARIANCE, FROM_PARAM, 3}};

/* A window as oneDNN wants it, which counts the zeros between taps. */
typedef struct window_dims {
    dnnl_dims_t kernel, stride, gap, begin, end;
} window_dims;

static window_dims dims_of(const ft__window *win)
{
    window_dims w;

    widen(w.kernel, win->kernel, 3);
    widen(w.stride, win->stride, 3);
    widen(w.gap, win->dilation, 3);
    widen(w.begin, win->begin, 3);
    widen(w.end, win->end, 3);
    for (uint32_t i = 0; i < 3; i++)
        w.gap[i]--;
    return w;
}

typedef dnnl_status_t conv_init(dnnl_convolution_desc_t *, dnnl_prop_kind_t,
                                dnnl_alg_kind_t, const dnnl_memory_desc_t *,
                                const dnnl_memory_desc_t *, const dnnl_memory_desc_t *,
                                const dnnl_memory_desc_t *, const dnnl_dims_t,
                                const dnnl_dims_t, const dnnl_dims_t,
                                const dnnl_dims_t);

dnnl_status_t ft__prim_conv(ft_block *b, bool transposed, const ft__tensor *x,
                            const ft__tensor *w, const ft__tensor *bias,
                            const ft__tensor *y, const ft__window *win)
{
    conv_init *init = transposed ? dnnl_dilated_deconvolution_forward_desc_init
                                 : dnnl_dilated_convolution_forward_desc_init;
    dnnl_memory_desc_t mx = describe(x), my = describe(y), mw = describe_any(w);
    dnnl_memory_desc_t plain[] = {describe(w), describe(bias)};
    dnnl_convolution_desc_t desc;
    window_dims v = dims_of(win);
    dnnl_status_t s =
        init(&desc, dnnl_forward_inference,
             transposed ? dnnl_deconvolution_direct : dnnl_convolution_direct, &mx, &mw,
             bias ? &plain[1] : NULL, &my, v.stride, v.gap, v.begin, v.end);
    return finish_packed(b, s, &desc, filter_and_bias, bias ? 4 : 3, plain,
                         bias ? 2 : 1);
}

dnnl_status_t ft__prim_linear(ft_block *b, const ft__tensor *x, const ft__tensor *w,
                              const ft__tensor *bias, const ft__tensor *y)
{
    dnnl_memory_desc_t mx = describe(x), my = describe(y), mw = describe_any(w);
    dnnl_memory_desc_t plain[] = {describe(w), describe(bias)};
    dnnl_inner_product_desc_t desc;
    dnnl_status_t s = dnnl_inner_product_forward_desc_init(
        &desc, dnnl_forward_inference, &mx, &mw, bias ? &plain[1] : NULL, &my);

    return finish_packed(b, s, &desc, filter_and_bias, bias ? 4 : 3, plain,
                         bias ? 2 : 1);
}

dnnl_status_t ft__prim_matmul(ft_block *b, const ft__tensor *x, const ft__tensor *y,
                              const ft__tensor *z)
{
    dnnl_memory_desc_t mx = describe(x), my = describe(y), mz = describe(z);
    dnnl_matmul_desc_t desc;
    dnnl_status_t s = dnnl_matmul_desc_init(&desc, &mx, &my, NULL, &mz);
    binding args[] = {{DNNL_ARG_SRC, FROM_IN, 0},
                      {DNNL_ARG_WEIGHTS, FROM_IN, 1},
                      {DNNL_ARG_DST, FROM_OUT, 0}};

    return finish(b, s, &desc, args, 3);
}

dnnl_status_t ft__prim_pool(ft_block *b, dnnl_alg_kind_t alg, const ft__tensor *x,
                            const ft__tensor *y, const ft__window *win)
{
    dnnl_memory_desc_t mx = describe(x), my = describe(y);
    dnnl_pooling_v2_desc_t desc;
    window_dims v = dims_of(win);
    dnnl_status_t s =
        dnnl_pooling_v2_forward_desc_init(&desc, dnnl_forward_inference, alg, &mx, &my,
                                          v.stride, v.kernel, v.gap, v.begin, v.end);
    return finish(b, s, &desc, one_in_one_out, 2);
}

dnnl_status_t ft__prim_eltwise(ft_block *b, dnnl_alg_kind_t alg, float alpha,
                               float beta, int64_t elements)
{
    ft__tensor flat = ft__tensor_rows(1, &elements);
    dnnl_memory_desc_t md = describe(&flat);
    dnnl_eltwise_desc_t desc;
    dnnl_status_t s = dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_inference, alg,
                                                     &md, alpha, beta);

    return finish(b, s, &desc, one_in_one_out, 2);
}

dnnl_status_t ft__prim_binary(ft_block *b, dnnl_alg_kind_t alg, const ft__tensor *x,
                              const ft__tensor *y, const ft__tensor *z)
{
    dnnl_memory_desc_t mx = describe(x), my = describe(y), mz = describe(z);
    dnnl_binary_desc_t desc;
    dnnl_status_t s = dnnl_binary_desc_init(&desc, alg, &mx, &my, &mz);

    return finish(b, s, &desc, two_in_one_out, 3);
}

dnnl_status_t ft__prim_batchnorm(ft_block *b, const ft__tensor *x, float eps)
{
    dnnl_memory_desc_t md = describe(x);
    dnnl_batch_normalization_desc_t desc;
    dnnl_status_t s = dnnl_batch_normalization_forward_desc_init(
        &desc, dnnl_forward_inference, &md, eps,
        dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift);

    return finish(b, s, &desc, norm_and_stats, 6);
}

dnnl_status_t ft__prim_layernorm(ft_block *b, const ft__tensor *x, float eps)
{
    dnnl_memory_desc_t md = describe(x);
    dnnl_layer_normalization_desc_t desc;
    dnnl_status_t s = dnnl_layer_normalization_forward_desc_init(
        &desc, dnnl_forward_inference, &md, NULL, eps, dnnl_use_scale | dnnl_use_shift);

    return finish(b, s, &desc, norm_and_stats, 4);
}

dnnl_status_t ft__prim_lrn(ft_block *b, const ft__tensor *x, int64_t size, float alpha,
                           float beta, float k)
{
    dnnl_memory_desc_t md = describe(x);
    dnnl_lrn_desc_t desc;
    dnnl_status_t s =
        dnnl_lrn_forward_desc_init(&desc, dnnl_forward_inference,
                                   dnnl_lrn_across_channels, &md, size, alpha, beta, k);

    return finish(b, s, &desc, one_in_one_out, 2);
}

dnnl_status_t ft__prim_softmax(ft_block *b, bool log, const ft__tensor *x,
                               uint32_t axis)
{
    dnnl_memory_desc_t md = describe(x);
    dnnl_softmax_v2_desc_t desc;
    dnnl_status_t s = dnnl_softmax_v2_forward_desc_init(
        &desc, dnnl_forward_inference, log ? dnnl_softmax_log : dnnl_softmax_accurate,
        &md, &md, (int)axis);

    return finish(b, s, &desc, one_in_one_out, 2);
}

dnnl_status_t ft__prim_resize(ft_block *b, dnnl_alg_kind_t alg, const ft__tensor *x,
                              const ft__tensor *y)
{
    dnnl_memory_desc_t mx = describe(x), my = describe(y);
    dnnl_resampling_desc_t desc;
    dnnl_status_t s = dnnl_resampling_forward_desc_init(&desc, dnnl_forward_inference,
                                                        alg, NULL, &mx, &my);

    return finish(b, s, &desc, one_in_one_out, 2);
}

dnnl_status_t ft__prim_reorder(ft__prim **out, const ft__dnnl *d, const ft__tensor *x,
                               const ft__tensor *y)
{
    dnnl_memory_desc_t mx = describe(x), my = describe(y);
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd;
    dnnl_status_t s = user_scratch(&attr);

    if (s == dnnl_success)
        s = dnnl_reorder_primitive_desc_create(&pd, &mx, d->engine, &my, d->engine,
                                               attr);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return s == dnnl_success ? build(out, d, pd, one_in_one_out, 2, NULL, 0) : s;
}

const char *ft__prim_name(const ft__prim *p)
{
    return p->name;
}

bool ft__prim_is_slow(const ft__prim *p)
{
    return strncmp(p->name, "ref", 3) == 0;
}

uint64_t ft__prim_scratch_bytes(const ft__prim *p)
{
    return p->scratch_bytes;
}

uint64_t ft__prim_weight_bytes(const ft__prim *p)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < p->n_params; i++)
        bytes += dnnl_memory_desc_get_size(&p->params[i].stored);
    return bytes;
}

static dnnl_status_t new_memory(dnnl_memory_t *out, const ft__prim *p,
                                const dnnl_memory_desc_t *md)
{
    void *data;
    dnnl_status_t s;

    if (posix_memalign(&data, 64, dnnl_memory_desc_get_size(md)) != 0)
        return dnnl_out_of_memory;
    s = dnnl_memory_create(out, md, p->d->engine, data);
    if (s != dnnl_success)
        free(data);
    return s;
}

static void free_memory(dnnl_memory_t m)
{
    void *data = NULL;

    if (!m)
        return;
    dnnl_memory_get_data_handle(m, &data);
    dnnl_memory_destroy(m);
    free(data);
}

dnnl_status_t ft__prim_set_instances(ft__prim *p, uint32_t instances)
{
    if (p->n_params == 0)
        return dnnl_success;
    p->weights = calloc((size_t)instances * p->n_params, sizeof(*p->weights));
    if (!p->weights)
        return dnnl_out_of_memory;
    p->instances = instances;
    for (size_t i = 0; i < (size_t)instances * p->n_params; i++) {
        dnnl_status_t s =
            new_memory(&p->weights[i], p, &p->params[i % p->n_params].stored);

        if (s != dnnl_success)
            return s;
    }
    return dnnl_success;
}

dnnl_status_t ft__prim_load(ft__prim *p, uint32_t instance, uint32_t k,
                            const float *plain)
{
    const param *w = &p->params[k];
    dnnl_exec_arg_t arg[] = {
        {DNNL_ARG_FROM, NULL},
        {DNNL_ARG_TO, p->weights[(size_t)instance * p->n_params + k]}};
    dnnl_status_t s;
    void *to;

    if (!w->pack) {
        s = dnnl_memory_get_data_handle(arg[1].memory, &to);
        if (s == dnnl_success)
            memcpy(to, plain, dnnl_memory_desc_get_size(&w->stored));
        return s;
    }
    s = dnnl_memory_create(&arg[0].memory, &w->plain, p->d->engine, (void *)plain);
    if (s != dnnl_success)
        return s;
    s = dnnl_primitive_execute(w->pack, p->d->stream, 2, arg);
    dnnl_memory_destroy(arg[0].memory);
    return s;
}

static const void *operand(const binding *b, const ft__call *call)
{
    switch (b->from) {
    case FROM_IN: return call->in[b->index];
    case FROM_OUT: return call->out[b->index];
    default: return call->workspace;
    }
}

dnnl_status_t ft__prim_run(ft__prim *p, const ft__call *call)
{
    for (uint32_t i = 0; i < p->n_args; i++) {
        const binding *b = &p->bind[i];
        dnnl_status_t s;

        if (b->from == FROM_PARAM) {
            p->arg[i].memory =
                p->weights[(size_t)call->instance * p->n_params + b->index];
            continue;
        }
        s = dnnl_memory_set_data_handle(p->arg[i].memory, (void *)operand(b, call));
        if (s != dnnl_success)
            return s;
    }
    return dnnl_primitive_execute(p->primitive, p->d->stream, (int)p->n_args, p->arg);
}

void ft__prim_free(ft__prim *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n_args; i++)
        if (p->bind[i].from != FROM_PARAM && p->arg[i].memory)
            dnnl_memory_destroy(p->arg[i].memory);
    for (uint32_t i = 0; i < p->n_params; i++)
        if (p->params[i].pack)
            dnnl_primitive_destroy(p->params[i].pack);
    for (size_t i = 0; p->weights && i < (size_t)p->instances * p->n_params; i++)
        free_memory(p->weights[i]);
    free(p->weights);
    if (p->primitive)
        dnnl_primitive_destroy(p->primitive);
    free(p);
}
