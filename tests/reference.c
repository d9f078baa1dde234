#include "reference_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double reference_get(ft_dtype t, const void *array, int64_t i)
{
    switch (t) {
    case FT_DTYPE_fp32: return ((const float *)array)[i];
    case FT_DTYPE_fp64: return ((const double *)array)[i];
    case FT_DTYPE_int8: return ((const int8_t *)array)[i];
    case FT_DTYPE_bool:
    case FT_DTYPE_uint8: return ((const uint8_t *)array)[i];
    case FT_DTYPE_fp16: /* moved, never computed with */
    case FT_DTYPE_bf16: return ((const uint16_t *)array)[i];
    case FT_DTYPE_int32: return ((const int32_t *)array)[i];
    case FT_DTYPE_int64: return (double)((const int64_t *)array)[i];
    default: return NAN;
    }
}

void reference_set(ft_dtype t, void *array, int64_t i, double v)
{
    switch (t) {
    case FT_DTYPE_fp32: ((float *)array)[i] = (float)v; break;
    case FT_DTYPE_fp64: ((double *)array)[i] = v; break;
    case FT_DTYPE_int8: ((int8_t *)array)[i] = (int8_t)v; break;
    case FT_DTYPE_bool: ((uint8_t *)array)[i] = v != 0; break;
    case FT_DTYPE_uint8: ((uint8_t *)array)[i] = (uint8_t)v; break;
    case FT_DTYPE_fp16:
    case FT_DTYPE_bf16: ((uint16_t *)array)[i] = (uint16_t)v; break;
    case FT_DTYPE_int32: ((int32_t *)array)[i] = (int32_t)v; break;
    case FT_DTYPE_int64: ((int64_t *)array)[i] = (int64_t)v; break;
    default: break;
    }
}

static int64_t volume(const job *j, uint32_t axes)
{
    int64_t n = 1;

    for (uint32_t i = 0; i < axes; i++)
        n *= key(j, FT_K_kernel, i);
    return n;
}

/* Input position of tap number `tap` for output position `at` (both from axis 2
 * on); 0: it lies in the padding, or between the strides of a transposed one. */
static int tap_position(const job *j, int64_t tap, const int64_t *at, int64_t *from,
                        int transposed)
{
    uint32_t axes = j->in[0].s.rank - 2;

    for (uint32_t i = axes; i-- > 0;) {
        int64_t k = tap % key(j, FT_K_kernel, i) * key(j, FT_K_dilation, i), begin, end;
        int64_t stride = key(j, FT_K_stride, i), p;

        tap /= key(j, FT_K_kernel, i);
        ft_op_pad(j->op, i, &begin, &end);
        p = transposed ? at[i + 2] + begin - k : at[i + 2] * stride - begin + k;
        if (transposed && (p < 0 || p % stride))
            return 0;
        from[i + 2] = transposed ? p / stride : p;
        if (from[i + 2] < 0 || from[i + 2] >= j->in[0].s.dim[i + 2])
            return 0;
    }
    return 1;
}

static double conv_at(const job *j, const int64_t *at, int transposed)
{
    int64_t groups = key(j, FT_K_groups, 0), taps = volume(j, j->in[0].s.rank - 2);
    int64_t ins = j->in[0].s.dim[1] / groups, outs = key(j, FT_K_out, 0) / groups;
    int64_t g = at[1] / outs, from[FT_MAX_RANK] = {at[0]};
    double sum = key(j, FT_K_bias, 0) ? j->w[1][at[1]] : 0;

    for (int64_t t = 0; t < taps; t++) {
        if (!tap_position(j, t, at, from, transposed))
            continue;
        for (int64_t i = 0; i < ins; i++) {
            int64_t w = transposed ? ((g * ins + i) * outs + at[1] % outs) * taps + t
                                   : (at[1] * ins + i) * taps + t;

            from[1] = g * ins + i;
            sum += value(&j->in[0], from) * j->w[0][w];
        }
    }
    return sum;
}

static double pool_at(const job *j, const int64_t *at, int max)
{
    int64_t from[FT_MAX_RANK] = {at[0], at[1]};
    double sum = 0, most = -INFINITY, n = 0;

    for (int64_t t = 0; t < volume(j, j->in[0].s.rank - 2); t++) {
        if (!tap_position(j, t, at, from, 0))
            continue;
        sum += value(&j->in[0], from);
        most = fmax(most, value(&j->in[0], from));
        n++;
    }
    return max ? most : sum / n;
}

static double linear_at(const job *j, const int64_t *at)
{
    uint32_t last = j->in[0].s.rank - 1;
    int64_t k = j->in[0].s.dim[last], from[FT_MAX_RANK];
    double sum = key(j, FT_K_bias, 0) ? j->w[1][at[last]] : 0;

    memcpy(from, at, sizeof(from));
    for (from[last] = 0; from[last] < k; from[last]++)
        sum += value(&j->in[0], from) * j->w[0][at[last] * k + from[last]];
    return sum;
}

static double matmul_at(const job *j, const int64_t *at)
{
    uint32_t rank = j->out.s.rank;
    int64_t k = j->in[0].s.dim[j->in[0].s.rank - 1], a[FT_MAX_RANK], b[FT_MAX_RANK];
    double sum = 0;

    memcpy(a, at, sizeof(a));
    memcpy(b, at, sizeof(b));
    for (int64_t i = 0; i < k; i++) {
        a[rank - 1] = b[rank - 2] = i;
        sum += broadcast(&j->in[0], a, rank) * broadcast(&j->in[1], b, rank);
    }
    return sum;
}

/* Norms and softmax: statistics of the set an element belongs to. */

typedef struct stats {
    double n, sum, squares, max, mean, variance, exps;
} stats;

/* Number of the set that position `at` belongs to. */
static int64_t set_of(const job *j, const int64_t *at)
{
    const ft_shape *s = &j->in[0].s;
    int64_t axis = key(j, FT_K_axis, 0), set = 0, c = s->rank > 1 ? s->dim[1] : 1;
    int64_t first = (int64_t)s->rank - key(j, FT_K_norm, 0);

    switch (j->op->kind) {
    case FT_KIND_groupnorm:
        return at[0] * key(j, FT_K_groups, 0) + at[1] / (c / key(j, FT_K_groups, 0));
    case FT_KIND_instancenorm:
    case FT_KIND_global_avgpool:
    case FT_KIND_global_maxpool: return at[0] * c + at[1];
    case FT_KIND_layernorm:
    case FT_KIND_rmsnorm:
        for (uint32_t d = 0; d < s->rank; d++)
            set = (int64_t)d < first ? set * s->dim[d] + at[d] : set;
        return set;
    default:
        for (uint32_t d = 0; d < s->rank; d++)
            set = (int64_t)d == axis ? set : set * s->dim[d] + at[d];
        return set;
    }
}

static stats *gather_stats(const job *j)
{
    int64_t n = ft_shape_elements(&j->in[0].s), at[FT_MAX_RANK];
    stats *all = calloc((size_t)n + 1, sizeof(*all));

    for (int pass = 0; pass < 2 && all; pass++) {
        for (int64_t i = 0; i < n; i++) {
            double v = reference_get(j->in[0].t, j->in[0].p, i);
            stats *s;

            unflat(&j->in[0].s, i, at);
            s = &all[set_of(j, at)];
            if (pass == 0) {
                s->max = s->n == 0 ? v : fmax(s->max, v);
                s->n++;
                s->sum += v;
                s->squares += v * v;
                s->mean = s->sum / s->n;
            } else {
                s->variance += (v - s->mean) * (v - s->mean) / s->n;
                s->exps += exp(v - s->max);
            }
        }
    }
    return all;
}

static double norm_at(const job *j, const stats *all, const int64_t *at)
{
    const stats *s = &all[set_of(j, at)];
    double v = value(&j->in[0], at);
    int64_t i = 0;

    switch (j->op->kind) {
    case FT_KIND_softmax: return exp(v - s->max) / s->exps;
    case FT_KIND_logsoftmax: return v - s->max - log(s->exps);
    case FT_KIND_l2norm: return v / sqrt(s->squares + 1e-12);
    case FT_KIND_global_avgpool: return s->mean;
    case FT_KIND_global_maxpool: return s->max;
    case FT_KIND_layernorm:
    case FT_KIND_rmsnorm:
        for (int64_t d = (int64_t)j->in[0].s.rank - key(j, FT_K_norm, 0);
             d < (int64_t)j->in[0].s.rank; d++)
            i = i * j->in[0].s.dim[d] + at[d];
        break;
    default: i = at[1]; break;
    }
    if (j->op->kind == FT_KIND_rmsnorm)
        return v / sqrt(s->squares / s->n + 1e-5) * j->w[0][i];
    if (j->op->kind == FT_KIND_batchnorm)
        return (v - j->w[2][i]) / sqrt(j->w[3][i] + 1e-5) * j->w[0][i] + j->w[1][i];
    return (v - s->mean) / sqrt(s->variance + 1e-5) * j->w[0][i] + j->w[1][i];
}

static double lrn_at(const job *j, const int64_t *at)
{
    int64_t size = key(j, FT_K_size, 0), near[FT_MAX_RANK];
    double sum = 0;

    memcpy(near, at, sizeof(near));
    for (int64_t c = at[1] - (size - 1) / 2; c <= at[1] + size / 2; c++) {
        near[1] = c;
        if (c >= 0 && c < j->in[0].s.dim[1])
            sum += value(&j->in[0], near) * value(&j->in[0], near);
    }
    return value(&j->in[0], at) / pow(1 + 1e-4 / (double)size * sum, 0.75);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double unary(ft_kind k, double x)
{
    const double root = 0.7978845608028654; /* sqrt(2 / pi) */

    switch (k) {
    case FT_KIND_relu: return fmax(x, 0);
    case FT_KIND_leaky_relu: return x < 0 ? 0.01 * x : x;
    case FT_KIND_elu: return x < 0 ? exp(x) - 1 : x;
    case FT_KIND_selu: return 1.05070099 * (x < 0 ? 1.67326324 * (exp(x) - 1) : x);
    case FT_KIND_clip: return fmin(fmax(x, 0), 6);
    case FT_KIND_sigmoid: return sigmoid(x);
    case FT_KIND_hardsigmoid: return fmin(fmax(x / 5 + 0.5, 0), 1);
    case FT_KIND_tanh: return tanh(x);
    case FT_KIND_silu: return x * sigmoid(x);
    case FT_KIND_hardswish: return x * fmin(fmax(x + 3, 0), 6) / 6;
    case FT_KIND_gelu: return 0.5 * x * (1 + erf(x / sqrt(2)));
    case FT_KIND_gelu_tanh:
        return 0.5 * x * (1 + tanh(root * (x + 0.044715 * x * x * x)));
    case FT_KIND_mish: return x * tanh(log(1 + exp(x)));
    case FT_KIND_softplus: return log(1 + exp(x));
    case FT_KIND_softsign: return x / (1 + fabs(x));
    case FT_KIND_erf: return erf(x);
    case FT_KIND_exp: return exp(x);
    case FT_KIND_log: return log(x);
    case FT_KIND_sqrt: return sqrt(x);
    case FT_KIND_abs: return fabs(x);
    case FT_KIND_neg: return -x;
    case FT_KIND_sign: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case FT_KIND_reciprocal: return 1 / x;
    case FT_KIND_floor: return floor(x);
    case FT_KIND_ceil: return ceil(x);
    case FT_KIND_round: return nearbyint(x);
    case FT_KIND_sin: return sin(x);
    case FT_KIND_cos: return cos(x);
    case FT_KIND_tan: return tan(x);
    case FT_KIND_sinh: return sinh(x);
    case FT_KIND_cosh: return cosh(x);
    case FT_KIND_asin: return asin(x);
    case FT_KIND_acos: return acos(x);
    case FT_KIND_atan: return atan(x);
    case FT_KIND_asinh: return asinh(x);
    case FT_KIND_acosh: return acosh(x);
    case FT_KIND_atanh: return atanh(x);
    case FT_KIND_rsqrt: return 1 / sqrt(x);
    case FT_KIND_expm1: return expm1(x);
    case FT_KIND_log1p: return log1p(x);
    case FT_KIND_thresholded_relu: return x > 1 ? x : 0;
    case FT_KIND_shrink: return fabs(x) > 0.5 ? x : 0;
    case FT_KIND_bitwise_not: return -x - 1;
    case FT_KIND_dequantize: return x / 16;
    case FT_KIND_logical_not: return x == 0;
    case FT_KIND_isnan: return isnan(x);
    case FT_KIND_isinf: return isinf(x) != 0;
    default: return x; /* cast */
    }
}

static double binary(const ft_op *op, double x, double y)
{
    int whole = op->dtype == FT_DTYPE_int32 || op->dtype == FT_DTYPE_int64;

    switch (op->kind) {
    case FT_KIND_add: return x + y;
    case FT_KIND_sub: return x - y;
    case FT_KIND_mul: return x * y;
    case FT_KIND_swiglu: return x / (1 + exp(-x)) * y;
    case FT_KIND_div: return whole ? (y == 0 ? 0 : trunc(x / y)) : x / y;
    case FT_KIND_pow: return whole ? trunc(pow(x, y)) : pow(x, y);
    case FT_KIND_mod: return whole ? (y == 0 ? 0 : x - y * floor(x / y)) : fmod(x, y);
    case FT_KIND_minimum: return fmin(x, y);
    case FT_KIND_maximum: return fmax(x, y);
    case FT_KIND_prelu: return x < 0 ? x * y : x;
    case FT_KIND_atan2: return atan2(x, y);
    case FT_KIND_bitwise: return (double)((int64_t)x & (int64_t)y);
    case FT_KIND_equal: return x == y;
    case FT_KIND_less: return x < y;
    case FT_KIND_less_equal: return x <= y;
    case FT_KIND_greater: return x > y;
    case FT_KIND_greater_equal: return x >= y;
    case FT_KIND_logical_and: return x != 0 && y != 0;
    case FT_KIND_logical_or: return x != 0 || y != 0;
    default: return (x != 0) != (y != 0);
    }
}

/* With a scale of 1/16: half to even, and within the bytes. */
static double quantized_at(const job *j, const int64_t *at)
{
    double low = key(j, FT_K_to, 0) == FT_DTYPE_int8 ? -128 : 0;

    return fmin(fmax(nearbyint(16 * value(&j->in[0], at)), low), low + 255);
}

static double cumsum_at(const job *j, const int64_t *at)
{
    uint32_t axis = (uint32_t)key(j, FT_K_axis, 0);
    int64_t from[FT_MAX_RANK];
    double sum = 0;

    memcpy(from, at, sizeof(from));
    for (from[axis] = 0; from[axis] <= at[axis]; from[axis]++)
        sum += value(&j->in[0], from);
    return sum;
}

static double arg_at(const job *j, const int64_t *at, int min)
{
    uint32_t axis = (uint32_t)key(j, FT_K_axes, 0), k = 0;
    int64_t from[FT_MAX_RANK], best = 0;
    double extreme = 0;

    for (uint32_t d = 0; d < j->in[0].s.rank; d++) {
        from[d] = d == axis ? 0 : at[k];
        k += d != axis || key(j, FT_K_keep, 0);
    }
    for (int64_t i = 0; i < j->in[0].s.dim[axis]; i++) {
        double v;

        from[axis] = i;
        v = value(&j->in[0], from);
        if (i == 0 || (min ? v < extreme : v > extreme)) {
            extreme = v;
            best = i;
        }
    }
    return (double)best;
}

/* Reductions: every element of x goes to its result. */

static int64_t result_of(const job *j, int64_t i)
{
    int64_t at[FT_MAX_RANK], to = 0;

    unflat(&j->in[0].s, i, at);
    for (uint32_t d = 0; d < j->in[0].s.rank; d++)
        if (!has_axis(j->op, FT_K_axes, d))
            to = to * j->in[0].s.dim[d] + at[d];
    return to;
}

static double reduced(ft_kind k, const stats *s, double product, double least,
                      double absolute)
{
    switch (k) {
    case FT_KIND_reduce_mean: return s->mean;
    case FT_KIND_reduce_sum: return s->sum;
    case FT_KIND_reduce_max: return s->max;
    case FT_KIND_reduce_min: return least;
    case FT_KIND_reduce_prod: return product;
    case FT_KIND_reduce_l1: return absolute;
    case FT_KIND_reduce_l2: return sqrt(s->squares);
    default: return s->max + log(s->exps);
    }
}

static int run_reduce(const job *j)
{
    int64_t n = ft_shape_elements(&j->in[0].s), m = ft_shape_elements(&j->out.s);
    stats *all = calloc((size_t)m + 1, sizeof(*all));
    double *more = calloc(3 * (size_t)m + 1, sizeof(*more));

    for (int64_t i = 0; i < n && all && more; i++) {
        double v = reference_get(j->in[0].t, j->in[0].p, i);
        double *product = &more[3 * result_of(j, i)], *least = product + 1;
        stats *s = &all[result_of(j, i)];

        *product = s->n == 0 ? v : *product * v;
        *least = s->n == 0 ? v : fmin(*least, v);
        product[2] += fabs(v);
        s->max = s->n == 0 ? v : fmax(s->max, v);
        s->n++;
        s->sum += v;
        s->squares += v * v;
        s->mean = s->sum / s->n;
    }
    for (int64_t i = 0; i < n && all && more; i++)
        all[result_of(j, i)].exps +=
            exp(reference_get(j->in[0].t, j->in[0].p, i) - all[result_of(j, i)].max);
    for (int64_t i = 0; i < m && all && more; i++)
        reference_set(j->out.t, j->out.p, i,
                      reduced(j->op->kind, &all[i], more[3 * i], more[3 * i + 1],
                              more[3 * i + 2]));
    free(all);
    free(more);
    return 1;
}

uint32_t reference_params(const ft_op *op, int64_t n[4])
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t out = ft_op_at(op, FT_K_out, 0), c = x.rank > 1 ? x.dim[1] : 1, size = 1;
    uint32_t has_bias = ft_op_at(op, FT_K_bias, 0) != 0, axes;

    if (ft_kind_class(op->kind) == FT_CLASS_CONV) {
        const int64_t *kernel = ft_op_get(op, FT_K_kernel, &axes);

        for (uint32_t i = 0; i < axes; i++)
            size *= kernel[i];
        n[0] = out * c / ft_op_at(op, FT_K_groups, 0) * size;
        n[1] = out;
        return 1 + has_bias;
    }
    for (int64_t i = 0; i < ft_op_at(op, FT_K_norm, 0); i++)
        size *= x.dim[x.rank - 1 - (uint32_t)i];
    switch (op->kind) {
    case FT_KIND_linear:
        n[0] = x.dim[x.rank - 1] * out;
        n[1] = out;
        return 1 + has_bias;
    case FT_KIND_batchnorm: n[0] = n[1] = n[2] = n[3] = c; return 4;
    case FT_KIND_layernorm: n[0] = n[1] = size; return 2;
    case FT_KIND_rmsnorm: n[0] = size; return 1;
    case FT_KIND_groupnorm:
    case FT_KIND_instancenorm: n[0] = n[1] = c; return 2;
    case FT_KIND_embedding:
        n[0] = ft_op_at(op, FT_K_rows, 0) * ft_op_at(op, FT_K_dim, 0);
        return 1;
    default: return 0;
    }
}

static double element(const job *j, uint32_t part, const stats *all, const int64_t *at)
{
    uint32_t rank = j->out.s.rank;

    switch (j->op->kind) {
    case FT_KIND_conv1d:
    case FT_KIND_conv2d:
    case FT_KIND_conv3d: return conv_at(j, at, 0);
    case FT_KIND_conv_transpose1d:
    case FT_KIND_conv_transpose2d:
    case FT_KIND_conv_transpose3d: return conv_at(j, at, 1);
    case FT_KIND_maxpool1d:
    case FT_KIND_maxpool2d:
    case FT_KIND_maxpool3d: return pool_at(j, at, 1);
    case FT_KIND_avgpool1d:
    case FT_KIND_avgpool2d:
    case FT_KIND_avgpool3d: return pool_at(j, at, 0);
    case FT_KIND_linear: return linear_at(j, at);
    case FT_KIND_matmul: return matmul_at(j, at);
    case FT_KIND_lrn: return lrn_at(j, at);
    case FT_KIND_where:
        return broadcast(&j->in[0], at, rank) != 0 ? broadcast(&j->in[1], at, rank)
                                                   : broadcast(&j->in[2], at, rank);
    case FT_KIND_argmax: return arg_at(j, at, 0);
    case FT_KIND_argmin: return arg_at(j, at, 1);
    case FT_KIND_cumsum: return cumsum_at(j, at);
    case FT_KIND_quantize: return quantized_at(j, at);
    default: break;
    }
    if (ft_kind_class(j->op->kind) == FT_CLASS_MOVE)
        return reference_move(j, part, at);
    if (ft_kind_class(j->op->kind) == FT_CLASS_BINARY)
        return binary(j->op, broadcast(&j->in[0], at, rank),
                      broadcast(&j->in[1], at, rank));
    return all ? norm_at(j, all, at) : unary(j->op->kind, value(&j->in[0], at));
}

static int has_sets(ft_kind k)
{
    ft_class c = ft_kind_class(k);

    return (c == FT_CLASS_NORM && k != FT_KIND_lrn) || c == FT_CLASS_SOFTMAX ||
           k == FT_KIND_global_avgpool || k == FT_KIND_global_maxpool;
}

int64_t reference_step = 1;

int reference_run(const ft_op *op, const void *const *in, const float *const *params,
                  void *const *out)
{
    job j = {.op = op, .w = params};
    ft_class c = ft_kind_class(op->kind);
    stats *all = NULL;

    if (c == FT_CLASS_VIEW || c == FT_CLASS_GENERIC)
        return 0;
    for (uint32_t i = 0; i < ft_op_n_inputs(op); i++) {
        ft_op_input(op, i, &j.in[i].s, &j.in[i].t);
        j.in[i].p = (void *)in[i];
    }
    if (has_sets(op->kind))
        all = gather_stats(&j);
    for (uint32_t part = 0; part < ft_op_n_outputs(op); part++) {
        int64_t n, at[FT_MAX_RANK] = {0};

        ft_op_output(op, part, &j.out.s, &j.out.t);
        j.out.p = out[part];
        if (op->kind >= FT_KIND_reduce_mean && op->kind <= FT_KIND_reduce_logsumexp)
            return run_reduce(&j);
        n = ft_shape_elements(&j.out.s);
        for (int64_t i = 0; i < n; i += reference_step) {
            unflat(&j.out.s, i, at);
            reference_set(j.out.t, out[part], i, element(&j, part, all, at));
        }
    }
    free(all);
    return 1;
}
