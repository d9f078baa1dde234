/* What an operation is as numbers: its roofline on a machine, the operations whose
 * times give that, and the features that regressors see. */
#include "predict/data/features.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "graph/op_inside.h"

ft__roof ft__flat_roof(double peak_flops, double bandwidth, double launch_s)
{
    return (ft__roof){.peak_flops = peak_flops,
                      .launch_s = launch_s,
                      .working_set = {1},
                      .bandwidth = {bandwidth},
                      .n_points = 1};
}

static double bandwidth_of(const ft__roof *r, double working_set)
{
    uint32_t last = r->n_points - 1, i = 1;
    double at;

    if (last == 0 || working_set <= r->working_set[0])
        return r->bandwidth[0];
    if (working_set >= r->working_set[last])
        return r->bandwidth[last];
    while (working_set > r->working_set[i])
        i++;
    at = log(working_set / r->working_set[i - 1]) /
         log(r->working_set[i] / r->working_set[i - 1]);
    return r->bandwidth[i - 1] * pow(r->bandwidth[i] / r->bandwidth[i - 1], at);
}

static double roofline_of_cost(const ft_cost *c, const ft__roof *r)
{
    double weights = fmin(c->weight_bytes, c->bytes_read);
    double moved = c->bytes_read - weights + c->bytes_written;
    double memory =
        moved / bandwidth_of(r, moved) + weights / r->bandwidth[r->n_points - 1];

    double special = c->transcendentals * r->transcendental_s;

    return fmax(fmax(c->flops / r->peak_flops, special), memory) + r->launch_s;
}

double ft__roofline(const ft_op *op, const ft__roof *r)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return roofline_of_cost(&c, r);
}

ft_op ft__probe(uint32_t id)
{
    static const char *const specs[FT__N_PROBES] = {
        [FT__PROBE_PEAK] = "linear x=512x1024 out=1024 dtype=fp32",
        [FT__PROBE_LAUNCH] = "relu x=1x16 dtype=fp32",
        [FT__PROBE_SPECIAL] = "tanh x=1x100000 dtype=fp32",
        [FT__PROBE_STREAM] = "relu x=1x16384 dtype=fp32",
        [FT__PROBE_STREAM + 1] = "relu x=1x100000 dtype=fp32",
        [FT__PROBE_STREAM + 2] = "relu x=1x500000 dtype=fp32",
        [FT__PROBE_STREAM + 3] = "relu x=1x1500000 dtype=fp32",
        [FT__PROBE_STREAM + 4] = "relu x=1x4000000 dtype=fp32",
        [FT__PROBE_STREAM + 5] = "relu x=1x16000000 dtype=fp32",
    };
    ft_op op;
    ft_status st = ft_op_parse(&op, specs[id], strlen(specs[id]), NULL);

    assert(st == FT_OK);
    (void)st;
    return op;
}

static float size(double v)
{
    return (float)log2(1 + v);
}

/* How full the last vector of 16 is, 1 = full: kernels work in multiples. */
static float fill(int64_t n)
{
    return n > 0 ? (float)((double)n / (double)((n + 15) / 16 * 16)) : 1;
}

static double product(const ft_shape *s, uint32_t from, uint32_t to)
{
    double p = 1;

    for (uint32_t i = from; i < to && i < s->rank; i++)
        p *= (double)s->dim[i];
    return p;
}

static double values_product(const ft_op *op, ft_key_id key)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, key, &n);
    double p = 1;

    for (uint32_t i = 0; i < n; i++)
        p *= (double)v[i];
    return p;
}

/* How often the smaller operand is repeated along the result's last axes: tells
 * a scalar, a vector per channel and a full operand apart. */
static double broadcast_inner(const ft_shape *y, const ft_shape *out)
{
    double p = 1;

    for (uint32_t i = 0; i < out->rank; i++) {
        int64_t d = i < y->rank ? y->dim[y->rank - 1 - i] : 1;

        if (d != 1)
            break;
        p *= (double)out->dim[out->rank - 1 - i];
    }
    return p;
}

/* How many leading axes of x only count rows, or products of a batch: libraries see no
 * more of them. */
static uint32_t counting_axes(const ft_op *op, const ft_shape *x)
{
    const ft_shape y = ft_op_shape(op, FT_K_y);
    const uint32_t all = x->rank ? x->rank - 1 : 0;

    switch (op->kind) {
    case FT_KIND_linear: return all;
    case FT_KIND_softmax:
    case FT_KIND_logsoftmax: return ft_op_at(op, FT_K_axis, 0) == all ? all : 0;
    case FT_KIND_layernorm:
    case FT_KIND_rmsnorm: return ft_op_at(op, FT_K_norm, 0) == 1 ? all : 0;
    case FT_KIND_matmul:
        if (y.rank == 2)
            return all;
        return all > 2 && y.rank == x->rank &&
                       memcmp(x->dim, y.dim, (all - 1) * sizeof(*y.dim)) == 0
                   ? all - 1
                   : 0;
    default: return 0;
    }
}

static ft_op collapsed(const ft_op *op)
{
    const ft_shape whole = ft_op_shape(op, FT_K_x);
    const uint32_t n = counting_axes(op, &whole);
    ft_op out;
    ft_key_id key;

    if (n < 2)
        return *op;
    ft__op_init(&out, op->kind, op->dtype);
    out.phase = op->phase;
    out.layout = op->layout;
    out.wrt = op->wrt;
    out.in_place = op->in_place;
    for (uint32_t i = 0; (key = ft__kind_key(op->kind, i, NULL)) != FT_K_COUNT; i++) {
        uint32_t n_values;
        const int64_t *values = ft_op_get(op, key, &n_values);

        if (key == FT_K_x || (key == FT_K_y && n_values == whole.rank)) {
            ft_shape s = ft_op_shape(op, key);

            s.dim[0] = (int64_t)product(&s, 0, n);
            memmove(s.dim + 1, s.dim + n, (s.rank - n) * sizeof(*s.dim));
            s.rank -= n - 1;
            ft__op_set_shape(&out, key, &s);
        } else if (key == FT_K_axis) {
            ft__op_set1(&out, key, ft_op_at(op, key, 0) - (n - 1));
        } else if (values) {
            ft__op_set(&out, key, values, n_values);
        }
    }
    return out;
}

/* Quantities that several columns are computed from. */
struct shapes {
    const ft_op *op;
    ft_shape x, y, out;
    double n_in, n_out; /* elements */
    int64_t channels, out_channels;
};

static struct shapes shapes_of(const ft_op *op)
{
    struct shapes p = {.op = op,
                       .x = ft_op_shape(op, FT_K_x),
                       .y = ft_op_shape(op, FT_K_y),
                       .out_channels = ft_op_at(op, FT_K_out, 0)};
    const ft_shape *x = &p.x, *y = &p.y;
    ft_dtype t;

    ft_op_output(op, 0, &p.out, &t);
    p.n_in = (double)ft_shape_elements(x);
    p.n_out = (double)ft_shape_elements(&p.out);
    p.channels = x->rank > 1 ? x->dim[1] : 1;
    if (ft_kind_class(op->kind) == FT_CLASS_MATMUL)
        p.channels = x->rank ? x->dim[x->rank - 1] : 1;
    if (op->kind == FT_KIND_matmul)
        p.out_channels = y->rank ? y->dim[y->rank - 1] : 1;
    return p;
}

static void tensor_features(float *f, const struct shapes *p)
{
    const ft_shape *x = &p->x, *out = &p->out;
    const double batch = x->rank ? (double)x->dim[0] : 1;

    /* How its operands lie: the result may lie where x does. */
    f[FT__F_layout] = (float)(p->op->layout + (p->op->in_place ? FT_LAYOUT_COUNT : 0));
    f[FT__F_batch] = size(batch);
    f[FT__F_channels] = size((double)p->channels);
    f[FT__F_spatial] = size(product(x, 2, x->rank));
    f[FT__F_width] = size(x->rank ? (double)x->dim[x->rank - 1] : 1);
    f[FT__F_rank] = (float)x->rank;
    f[FT__F_out] = size((double)p->out_channels);
    f[FT__F_input_elements] = size(p->n_in);
    f[FT__F_operand_elements] = size((double)ft_shape_elements(&p->y));
    f[FT__F_output_elements] = size(p->n_out);
    f[FT__F_output_width] = size(out->rank ? (double)out->dim[out->rank - 1] : 1);
    f[FT__F_repeats] = size(p->n_in > 0 ? p->n_out / p->n_in : 0);
    f[FT__F_inner] = size(broadcast_inner(&p->y, out));
    f[FT__F_working_set] = size(4 * (p->n_in + p->n_out));
}

static void window_features(float *f, const struct shapes *p)
{
    const ft_op *op = p->op;
    const double groups = (double)ft_op_at(op, FT_K_groups, 0);

    f[FT__F_kernel] = size(values_product(op, FT_K_kernel));
    f[FT__F_kernel_width] =
        size((double)ft_op_at(op, FT_K_kernel, p->x.rank > 3 ? 1 : 0));
    f[FT__F_stride] = (float)ft_op_at(op, FT_K_stride, 0);
    f[FT__F_pad] = (float)ft_op_at(op, FT_K_pad, 0);
    f[FT__F_dilation] = (float)ft_op_at(op, FT_K_dilation, 0);
    f[FT__F_groups] = size(groups);
    f[FT__F_group_channels] = size(groups > 0 ? (double)p->channels / groups : 0);
    f[FT__F_group_out] = size(groups > 0 ? (double)p->out_channels / groups : 0);
    f[FT__F_bias] = (float)ft_op_at(op, FT_K_bias, 0);
}

static void axis_features(float *f, const struct shapes *p)
{
    const ft_op *op = p->op;
    const ft_shape *x = &p->x;
    const bool turns = op->kind == FT_KIND_transpose && x->rank;
    const int64_t last = turns ? ft_op_at(op, FT_K_perm, x->rank - 1) : 0;
    uint32_t n_axes, parts;
    const int64_t *axes = ft_op_get(op, FT_K_axes, &n_axes);
    const uint32_t axis = (uint32_t)(axes ? axes[0] : ft_op_at(op, FT_K_axis, 0));

    (void)ft_op_get(op, FT_K_sizes, &parts);
    f[FT__F_axis_size] = size(axis < x->rank ? (double)x->dim[axis] : 0);
    f[FT__F_after_axis] = size(product(x, axis + 1, x->rank));
    f[FT__F_parts] = (float)parts;
    f[FT__F_moves_last] = (float)(turns && last != (int64_t)x->rank - 1);
    f[FT__F_last_input] = size(turns ? (double)x->dim[last] : 0);
}

static void product_features(float *f, const struct shapes *p, double flops)
{
    const ft_shape *x = &p->x, *out = &p->out;
    const bool is_matmul = ft_kind_class(p->op->kind) == FT_CLASS_MATMUL;
    const double rows =
        is_matmul ? (x->rank > 1 ? (double)x->dim[x->rank - 2] : 1)
                  : product(out, 2, out->rank) * (x->rank ? (double)x->dim[0] : 1);

    f[FT__F_rows] = size(rows);
    f[FT__F_depth] = size(flops > 0 && out->rank ? flops / 2 / p->n_out : 0);
    f[FT__F_channel_fill] = fill(p->channels);
    f[FT__F_out_fill] = fill(p->out_channels);
    f[FT__F_row_fill] = fill((int64_t)rows);
}

static void cost_features(float *f, const ft_cost *c, const ft__roof *r)
{
    const double bytes = c->bytes_read + c->bytes_written;

    f[FT__F_weight_elements] = size(c->weight_elements);
    f[FT__F_flops] = size(c->flops);
    f[FT__F_bytes] = size(bytes);
    f[FT__F_intensity] = size(c->flops / fmax(1, bytes));
    f[FT__F_roofline] = (float)log2(roofline_of_cost(c, r));
    f[FT__F_weight_share] = (float)(c->weight_bytes / fmax(1, bytes));
}

void ft__features(float row[FT__N_FEATURES], const ft_op *op, const ft_cost *cost,
                  const ft__roof *r)
{
    const ft_op plain = collapsed(op);
    const struct shapes p = shapes_of(&plain);

    row[FT__F_kind] = (float)plain.kind;
    tensor_features(row, &p);
    window_features(row, &p);
    axis_features(row, &p);
    product_features(row, &p, cost->flops);
    cost_features(row, cost, r);
}
