/* Reductions and norms: one row a column of work-items (`lanes`, dimension 0), several
 * rows a work-group (dimension 1). Lanes are a power of two. */

/* What all lanes of a row have, combined; every work-item of the group takes part. */
#define ACROSS(name, type, combined)                                                   \
    static type name(__local type *part, type v)                                       \
    {                                                                                  \
        uint lane = get_local_id(0), first = get_local_id(1) * get_local_size(0);      \
        part[first + lane] = v;                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        for (uint half_way = get_local_size(0) / 2; half_way > 0; half_way /= 2) {     \
            if (lane < half_way) {                                                     \
                type a = part[first + lane], b = part[first + lane + half_way];        \
                part[first + lane] = combined;                                         \
            }                                                                          \
            barrier(CLK_LOCAL_MEM_FENCE);                                              \
        }                                                                              \
        v = part[first];                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        return v;                                                                      \
    }

ACROSS(sum_across, T, a + b)
ACROSS(max_across, T, max(a, b))

/* shape: sizes and strides of the axes that stay, then of those reduced. */
#define REDUCE(name, begin, next, both, end)                                           \
    ACROSS(name##_across, T, both)                                                     \
    __kernel void name(__global const T *x, __global T *y, uint rows, uint n,          \
                       uint stay, uint reduced, __constant uint *shape,                \
                       __local T *part)                                                \
    {                                                                                  \
        uint row = get_global_id(1);                                                   \
        __global const T *from =                                                       \
            x + at(min(row, rows - 1), stay, shape, shape + 8);                        \
        T a = begin;                                                                   \
        for (uint i = get_local_id(0); i < n; i += get_local_size(0)) {                \
            T b = from[at(i, reduced, shape + 16, shape + 24)];                        \
            a = next;                                                                  \
        }                                                                              \
        a = name##_across(part, a);                                                    \
        if (row < rows && get_local_id(0) == 0)                                        \
            y[row] = end;                                                              \
    }

REDUCE(k_reduce_sum, 0, a + b, a + b, a)
REDUCE(k_reduce_max, from[0], max(a, b), max(a, b), a)
REDUCE(k_reduce_min, from[0], min(a, b), min(a, b), a)
REDUCE(k_reduce_prod, 1, a *b, a *b, a)
REDUCE(k_reduce_l1, 0, a + (b < 0 ? -b : b), a + b, a)
REDUCE(k_reduce_mean, 0, a + b, a + b, a / (T)n)

/* Rows of n elements, `inner` apart. */
static __global const T *row_begin(__global const T *x, uint row, uint n, uint inner)
{
    return x + row / inner * n * inner + row % inner;
}

#define ARG(name, better)                                                              \
    __kernel void name(__global const T *x, __global long *y, uint rows, uint n,       \
                       uint inner)                                                     \
    {                                                                                  \
        uint row = get_global_id(0), best = 0;                                         \
        __global const T *from = row_begin(x, row, n, inner);                          \
        if (row >= rows)                                                               \
            return;                                                                    \
        for (uint i = 1; i < n; i++)                                                   \
            if (from[i * inner] better from[best * inner])                             \
                best = i;                                                              \
        y[row] = best;                                                                 \
    }

ARG(k_argmax, >)
ARG(k_argmin, <)

__kernel void k_cumsum(__global const T *x, __global T *y, uint rows, uint n,
                       uint inner)
{
    uint row = get_global_id(0), first = row / inner * n * inner + row % inner;
    T sum = 0;

    if (row >= rows)
        return;
    for (uint i = 0; i < n; i++) {
        sum += x[first + i * inner];
        y[first + i * inner] = sum;
    }
}

#ifdef REAL
REDUCE(k_reduce_l2, 0, a + b * b, a + b, sqrt(a))

#define EACH for (uint i = get_local_id(0); i < n; i += get_local_size(0))

__kernel void k_reduce_logsumexp(__global const T *x, __global T *y, uint rows, uint n,
                                 uint stay, uint reduced, __constant uint *shape,
                                 __local T *part)
{
    uint row = get_global_id(1);
    __global const T *from = x + at(min(row, rows - 1), stay, shape, shape + 8);
    T most = from[0], sum = 0;

    EACH most = max(most, from[at(i, reduced, shape + 16, shape + 24)]);
    most = max_across(part, most);
    EACH sum += exp(from[at(i, reduced, shape + 16, shape + 24)] - most);
    sum = sum_across(part, sum);
    if (row < rows && get_local_id(0) == 0)
        y[row] = most + log(sum);
}

#define SOFTMAX(name, value)                                                           \
    __kernel void name(__global const T *x, __global T *y, uint rows, uint n,          \
                       uint inner, __local T *part)                                    \
    {                                                                                  \
        uint row = get_global_id(1);                                                   \
        __global const T *from = row_begin(x, min(row, rows - 1), n, inner);           \
        __global T *to = y + (from - x);                                               \
        T most = from[0], sum = 0;                                                     \
        EACH most = max(most, from[i * inner]);                                        \
        most = max_across(part, most);                                                 \
        EACH sum += exp(from[i * inner] - most);                                       \
        sum = sum_across(part, sum);                                                   \
        if (row >= rows)                                                               \
            return;                                                                    \
        EACH to[i * inner] = value;                                                    \
    }

SOFTMAX(k_softmax, exp(from[i * inner] - most) / sum)
SOFTMAX(k_logsoftmax, from[i * inner] - most - log(sum))

__kernel void k_l2norm(__global const T *x, __global T *y, uint rows, uint n,
                       uint inner, __local T *part)
{
    uint row = get_global_id(1);
    __global const T *from = row_begin(x, min(row, rows - 1), n, inner);
    __global T *to = y + (from - x);
    T sum = 0;

    EACH sum += from[i * inner] * from[i * inner];
    sum = rsqrt(sum_across(part, sum) + (T)1e-12f);
    if (row >= rows)
        return;
    EACH to[i * inner] = from[i * inner] * sum;
}

/* Contiguous rows. Element i of row r has the weights number
 * r % row_kinds * per_row + i / same. */
__kernel void k_norm(__global const T *x, __global const T *scale,
                     __global const T *shift, __global T *y, uint rows, uint n,
                     uint row_kinds, uint per_row, uint same, __local T *part)
{
    uint row = min((uint)get_global_id(1), rows - 1);
    uint weights = row % row_kinds * per_row;
    __global const T *from = x + row * n;
    T mean = 0, variance = 0;

    EACH mean += from[i];
    mean = sum_across(part, mean) / (T)n;
    EACH variance += (from[i] - mean) * (from[i] - mean);
    variance = rsqrt(sum_across(part, variance) / (T)n + (T)1e-5f);
    if (get_global_id(1) >= rows)
        return;
    EACH
    {
        uint w = weights + i / same;

        y[row * n + i] = (from[i] - mean) * variance * scale[w] + shift[w];
    }
}

__kernel void k_rmsnorm(__global const T *x, __global const T *scale, __global T *y,
                        uint rows, uint n, __local T *part)
{
    uint row = min((uint)get_global_id(1), rows - 1);
    __global const T *from = x + row * n;
    T sum = 0;

    EACH sum += from[i] * from[i];
    sum = rsqrt(sum_across(part, sum) / (T)n + (T)1e-5f);
    if (get_global_id(1) >= rows)
        return;
    EACH y[row * n + i] = from[i] * sum * scale[i];
}

__kernel void k_batchnorm(__global const T *x, __global const T *scale,
                          __global const T *shift, __global const T *mean,
                          __global const T *variance, __global T *y, uint n,
                          uint channels, uint inner)
{
    uint i = get_global_id(0), c = i / inner % channels;

    if (i < n)
        y[i] = (x[i] - mean[c]) * rsqrt(variance[c] + (T)1e-5f) * scale[c] + shift[c];
}

__kernel void k_lrn(__global const T *x, __global T *y, uint n, uint channels,
                    uint inner, int size)
{
    uint i = get_global_id(0);
    int c = (int)(i / inner % channels);
    int first = max(c - (size - 1) / 2, 0), last = min(c + size / 2, (int)channels - 1);
    T sum = 0;

    if (i >= n)
        return;
    for (int k = first; k <= last; k++) {
        T v = x[(int)i + (k - c) * (int)inner];

        sum += v * v;
    }
    y[i] = x[i] / pow(1 + (T)1e-4f / (T)size * sum, (T)0.75f);
}
#endif
