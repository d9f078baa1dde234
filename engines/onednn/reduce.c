/* Kinds that gather many elements into one: reductions, and the norms and
 * softmaxes that are reductions followed by an elementwise pass. */
#include <math.h>
#include <string.h>

#include "onednn.h"
#include "runtime.h"

/* The rows of a kind in fp32 over two or three operands, the result first. */
static void run_kind(const ft_block *b, const ft__nest *nest, ft_kind kind,
                     void *result, const void *x, const void *y)
{
    ft__nest_run(b->ctx->threads, nest, b->ctx->kernels->kind(kind, FT_DTYPE_fp32),
                 (void *[]){result, (void *)x, (void *)y});
}

typedef struct reduction {
    ft__nest fill;    /* result <- first value */
    ft__nest gather;  /* result, x */
    ft__nest gather2; /* result, x, what was gathered first: logsumexp */
    ft__nest finish;  /* result, result, constant or first result */
    ft__row_fn *row;
    int64_t first[1]; /* bits of the value to begin with */
    int64_t elements; /* of the result */
    float factor;     /* mean */
} reduction;

/* The result on the axes of x: stride 0 along those that are reduced. */
static ft__tensor on_axes_of(const ft_op *op, const ft__tensor *x, const ft__tensor *y)
{
    uint32_t n, axis = 0;
    const int64_t *axes = ft_op_get(op, FT_K_axes, &n);
    bool keep = ft_op_at(op, FT_K_keep, 0) != 0;
    ft__tensor t = *x;

    t.dtype = y->dtype;
    for (uint32_t i = 0; i < x->rank; i++) {
        bool reduced = false;

        for (uint32_t j = 0; j < n; j++)
            reduced |= axes[j] == (int64_t)i;
        t.stride[i] = reduced ? 0 : y->stride[axis];
        axis += keep || !reduced;
    }
    return t;
}

static ft__tensor flat(int64_t n, ft_dtype t)
{
    ft__tensor f = ft__tensor_rows(1, &n);

    f.dtype = t;
    return f;
}

static ft__tensor constant(int64_t n, ft_dtype t)
{
    ft__tensor f = flat(n, t);

    f.stride[0] = 0;
    return f;
}

/* What a reduction begins with. */
static int64_t first_bits(ft_kind k, ft_dtype t)
{
    bool max = k == FT_KIND_reduce_max || k == FT_KIND_reduce_logsumexp;
    bool min = k == FT_KIND_reduce_min;
    int64_t bits = 0;
    float f = max ? -INFINITY : min ? INFINITY : k == FT_KIND_reduce_prod ? 1.0f : 0.0f;

    if (t == FT_DTYPE_fp32) {
        memcpy(&bits, &f, sizeof(f));
        return bits;
    }
    if (t == FT_DTYPE_int32)
        return max ? (int64_t)(uint32_t)INT32_MIN : min ? INT32_MAX : (int64_t)f;
    return max ? INT64_MIN : min ? INT64_MAX : (int64_t)f;
}

static dnnl_status_t run_reduce(ft_block *b, const ft__call *call)
{
    const reduction *r = b->plan;
    const ft__kernels *k = b->ctx->kernels;
    ft_kind kind = b->op.kind;
    uint32_t threads = b->ctx->threads;
    bool logsumexp = kind == FT_KIND_reduce_logsumexp;
    void *first = logsumexp ? (void *)call->workspace : call->out[0];
    float zero = 0;

    ft__nest_run(threads, &r->fill, k->copy(ft_dtype_bits(b->op.dtype) / 8),
                 (void *[]){first, (void *)r->first});
    ft__nest_run(threads, &r->gather, r->row, (void *[]){first, (void *)call->in[0]});
    if (kind == FT_KIND_reduce_mean)
        run_kind(b, &r->finish, FT_KIND_mul, call->out[0], call->out[0], &r->factor);
    if (kind == FT_KIND_reduce_l2)
        for (int64_t i = 0; i < r->elements; i++)
            ((float *)call->out[0])[i] = sqrtf(((float *)call->out[0])[i]);
    if (!logsumexp)
        return dnnl_success;
    ft__nest_run(threads, &r->fill, k->copy(4), (void *[]){call->out[0], &zero});
    ft__nest_run(threads, &r->gather2, k->sum_exp_of,
                 (void *[]){call->out[0], (void *)call->in[0], first});
    ft__nest_run(threads, &r->finish, k->log_plus,
                 (void *[]){call->out[0], call->out[0], first});
    return dnnl_success;
}

ft_status ft__prepare_reduce(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y;
    ft__tensor on = on_axes_of(&b->op, &x, &y);
    int64_t n = ft__tensor_elements(&y);
    ft__row_fn *row = b->ctx->kernels->kind(b->op.kind, b->op.dtype);
    bool logsumexp = b->op.kind == FT_KIND_reduce_logsumexp;
    reduction *r;

    if (!row)
        return ft__unsupported(b, err, "%s is not implemented for %s",
                               ft_kind_name(b->op.kind), ft_dtype_name(b->op.dtype));
    r = ft__new_plan(b, sizeof(*r), err);
    if (!r)
        return FT_ENOMEM;
    r->row = row;
    r->elements = n;
    r->first[0] = first_bits(b->op.kind, b->op.dtype);
    r->factor = (float)n / (float)ft__tensor_elements(&x);
    ft__nest_init(&r->fill, (ft__tensor[]){flat(n, y.dtype), constant(n, y.dtype)}, 2,
                  0);
    ft__nest_init(&r->gather, (ft__tensor[]){on, x}, 2, 1);
    ft__nest_init(&r->gather2, (ft__tensor[]){on, x, on}, 3, 1);
    ft__nest_init(&r->finish,
                  (ft__tensor[]){flat(n, y.dtype), flat(n, y.dtype),
                                 logsumexp ? flat(n, y.dtype) : constant(n, y.dtype)},
                  3, 0);
    ft__use_loops(b, run_reduce);
    if (logsumexp)
        b->workspace_bytes = (uint64_t)n * sizeof(float);
    return FT_OK;
}

/* One value per line along the axis, kept in the workspace. */
typedef struct lines {
    ft__nest gather;  /* per line, x */
    ft__nest gather2; /* per line, x, other per line */
    ft__nest apply;   /* result, x, per line */
    int64_t count;
} lines;

static ft_status plan_lines(ft_block *b, lines **out, ft_error *err)
{
    ft__tensor x = b->x, per_line, shape = x;
    uint32_t axis = (uint32_t)ft_op_at(&b->op, FT_K_axis, 0);
    lines *l = ft__new_plan(b, sizeof(*l), err);

    if (!l)
        return FT_ENOMEM;
    /* In the order of x, so that both are walked forwards together. */
    for (uint32_t i = 0; i < x.rank; i++)
        if (x.stride[i] > x.stride[axis])
            shape.stride[i] /= x.dim[axis] ? x.dim[axis] : 1;
    shape.stride[axis] = 0;
    per_line = shape;
    l->count = x.dim[axis] ? ft__tensor_elements(&x) / x.dim[axis] : 0;
    ft__nest_init(&l->gather, (ft__tensor[]){per_line, x}, 2, 1);
    ft__nest_init(&l->gather2, (ft__tensor[]){per_line, x, per_line}, 3, 1);
    ft__nest_init(&l->apply, (ft__tensor[]){x, x, per_line}, 3, 0);
    *out = l;
    return FT_OK;
}

static dnnl_status_t run_l2norm(ft_block *b, const ft__call *call)
{
    const lines *l = b->plan;
    float *sum = (float *)(void *)call->workspace;

    memset(sum, 0, (size_t)l->count * sizeof(*sum));
    run_kind(b, &l->gather, FT_KIND_reduce_l2, sum, call->in[0], NULL);
    for (int64_t i = 0; i < l->count; i++)
        sum[i] = 1 / sqrtf(sum[i] + 1e-12f);
    run_kind(b, &l->apply, FT_KIND_mul, call->out[0], call->in[0], sum);
    return dnnl_success;
}

ft_status ft__prepare_l2norm(ft_block *b, ft_error *err)
{
    lines *l;
    ft_status st;

    if (b->op.dtype != FT_DTYPE_fp32)
        return ft__unsupported(b, err, "norms run in fp32 only");
    st = plan_lines(b, &l, err);
    if (st)
        return st;
    b->workspace_bytes = (uint64_t)l->count * sizeof(float);
    ft__use_loops(b, run_l2norm);
    return FT_OK;
}

static dnnl_status_t run_softmax(ft_block *b, const ft__call *call)
{
    const lines *l = b->plan;
    const ft__kernels *k = b->ctx->kernels;
    uint32_t threads = b->ctx->threads;
    float *max = (float *)(void *)call->workspace, *sum = max + l->count;
    bool log = b->op.kind == FT_KIND_logsoftmax;

    for (int64_t i = 0; i < l->count; i++) {
        max[i] = -INFINITY;
        sum[i] = 0;
    }
    run_kind(b, &l->gather, FT_KIND_reduce_max, max, call->in[0], NULL);
    if (log) {
        ft__nest_run(threads, &l->gather2, k->sum_exp_of,
                     (void *[]){sum, (void *)call->in[0], max});
        for (int64_t i = 0; i < l->count; i++)
            sum[i] = max[i] + logf(sum[i]);
        run_kind(b, &l->apply, FT_KIND_sub, call->out[0], call->in[0], sum);
        return dnnl_success;
    }
    ft__nest_run(threads, &l->apply, k->exp_of,
                 (void *[]){call->out[0], (void *)call->in[0], max});
    run_kind(b, &l->gather, FT_KIND_reduce_sum, sum, call->out[0], NULL);
    for (int64_t i = 0; i < l->count; i++)
        sum[i] = 1 / sum[i];
    run_kind(b, &l->apply, FT_KIND_mul, call->out[0], call->out[0], sum);
    return dnnl_success;
}

ft_status ft__prepare_softmax(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x;
    lines *l;
    ft_status st;

    if (b->op.dtype != FT_DTYPE_fp32)
        return ft__unsupported(b, err, "softmax runs in fp32 only");
    if (ft__use_fast_prim(b,
                          ft__prim_softmax(b, b->op.kind == FT_KIND_logsoftmax, &x,
                                           (uint32_t)ft_op_at(&b->op, FT_K_axis, 0))))
        return FT_OK;
    st = plan_lines(b, &l, err);
    if (st)
        return st;
    b->workspace_bytes = 2 * (uint64_t)l->count * sizeof(float);
    ft__use_loops(b, run_softmax);
    return FT_OK;
}

typedef struct rms {
    const ft_block *b;
    const float *scale;
    const char *x;
    char *y;
    int64_t size, rows;
} rms;

static void rms_rows(void *arg, int64_t begin, int64_t end)
{
    const rms *r = arg;
    const ft__kernels *k = r->b->ctx->kernels;
    ft__row_fn *squares = k->kind(FT_KIND_reduce_l2, FT_DTYPE_fp32);
    const int64_t gather[] = {0, 4}, apply[] = {4, 4, 0, 4};

    for (int64_t i = begin; i < end; i++) {
        char *x = (char *)r->x + 4 * i * r->size, *y = r->y + 4 * i * r->size;
        float sum = 0, root;

        squares(r->size, (char *[]){(char *)&sum, x}, gather);
        root = 1 / sqrtf(sum / (float)r->size + 1e-5f);
        k->mulmul(r->size, (char *[]){y, x, (char *)&root, (char *)r->scale}, apply);
    }
}

static dnnl_status_t run_rmsnorm(ft_block *b, const ft__call *call)
{
    rms r = *(const rms *)b->plan;

    r.b = b;
    r.scale = ft__weights(b, call->instance, 0);
    r.x = call->in[0];
    r.y = call->out[0];
    ft__parallel(b->ctx->threads, r.rows, r.size, rms_rows, &r);
    return dnnl_success;
}

ft_status ft__prepare_rmsnorm(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x;
    uint32_t first = x.rank - (uint32_t)ft_op_at(&b->op, FT_K_norm, 0);
    rms *r;

    if (b->op.dtype != FT_DTYPE_fp32)
        return ft__unsupported(b, err, "norms run in fp32 only");
    r = ft__new_plan(b, sizeof(*r), err);
    if (!r)
        return FT_ENOMEM;
    r->size = r->rows = 1;
    for (uint32_t i = 0; i < x.rank; i++)
        *(i >= first ? &r->size : &r->rows) *= x.dim[i];
    ft__use_loops(b, run_rmsnorm);
    return FT_OK;
}

/* Sums are gathered per channel, so that rows are long in either layout. */
typedef struct groups {
    ft__nest gather;  /* per channel, x */
    ft__nest gather2; /* per channel, x, per channel */
    ft__nest apply;   /* y, x, per channel, per channel */
    int64_t samples, count, channels, spatial;
} groups;

/* Replace what was gathered per channel by the mean over its group. */
static void spread_means(const groups *g, float *v)
{
    int64_t per_group = g->channels / g->count;

    for (int64_t i = 0; i < g->channels; i += per_group) {
        float sum = 0;

        for (int64_t j = 0; j < per_group; j++)
            sum += v[i + j];
        for (int64_t j = 0; j < per_group; j++)
            v[i + j] = sum / (float)(per_group * g->spatial);
    }
}

/* Workspace: mean, variance, factor and summand, each per channel. */
static dnnl_status_t run_groupnorm(ft_block *b, const ft__call *call)
{
    const groups *g = b->plan;
    const ft__kernels *k = b->ctx->kernels;
    const float *scale = ft__weights(b, call->instance, 0),
                *shift = ft__weights(b, call->instance, 1);
    float *mean = (float *)(void *)call->workspace, *var = mean + g->channels;
    float *factor = var + g->channels, *summand = factor + g->channels;
    uint32_t threads = b->ctx->threads;

    for (int64_t i = 0; i < g->samples; i++) {
        int64_t at = i * g->channels * g->spatial;
        float *x = (float *)call->in[0] + at, *y = (float *)call->out[0] + at;

        memset(mean, 0, 2 * (size_t)g->channels * sizeof(*mean));
        run_kind(b, &g->gather, FT_KIND_reduce_sum, mean, x, NULL);
        spread_means(g, mean);
        ft__nest_run(threads, &g->gather2, k->sum_squares_of, (void *[]){var, x, mean});
        spread_means(g, var);
        for (int64_t c = 0; c < g->channels; c++) {
            factor[c] = scale[c] / sqrtf(var[c] + 1e-5f);
            summand[c] = shift[c] - mean[c] * factor[c];
        }
        ft__nest_run(threads, &g->apply, k->muladd, (void *[]){y, x, factor, summand});
    }
    return dnnl_success;
}

ft_status ft__prepare_groupnorm(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, sample = x, per_channel;
    groups *g;

    if (b->op.dtype != FT_DTYPE_fp32 || x.rank < 2)
        return ft__unsupported(b, err, "norms take fp32 of rank 2 and more");
    g = ft__new_plan(b, sizeof(*g), err);
    if (!g)
        return FT_ENOMEM;
    sample.dim[0] = 1;
    per_channel = sample;
    for (uint32_t i = 0; i < x.rank; i++)
        per_channel.stride[i] = i == 1;
    ft__nest_init(&g->gather, (ft__tensor[]){per_channel, sample}, 2, 1);
    ft__nest_init(&g->gather2, (ft__tensor[]){per_channel, sample, per_channel}, 3, 1);
    ft__nest_init(&g->apply, (ft__tensor[]){sample, sample, per_channel, per_channel},
                  4, 0);
    g->samples = x.dim[0];
    g->channels = x.dim[1];
    g->count = b->op.kind == FT_KIND_groupnorm ? ft_op_at(&b->op, FT_K_groups, 0)
                                               : g->channels;
    g->spatial = ft__tensor_elements(&sample) / g->channels;
    b->workspace_bytes = 4 * (uint64_t)g->channels * sizeof(float);
    ft__use_loops(b, run_groupnorm);
    return FT_OK;
}
