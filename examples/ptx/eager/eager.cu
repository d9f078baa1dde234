// What PyTorch's eager mode launches for elementwise operations, softmax and layer norm
// of fp32 tensors, written anew with the same blocks, vectors, passes and reductions, so
// that what others measured of it can be counted. Rows lie one after the other.
#include <math.h>

// ---- elementwise: blocks of 128 threads, four values a thread ----

enum { THREADS = 128, EACH = 4, WORK = THREADS * EACH };

// The last block is not full and goes by single values.
template <typename F> __device__ static void binary(const float *a, const float *b, float *out, int n, F f)
{
    int begin = WORK * blockIdx.x, left = n - begin, t = threadIdx.x;
    if (left >= WORK) {
        float4 x = reinterpret_cast<const float4 *>(a + begin)[t];
        float4 y = reinterpret_cast<const float4 *>(b + begin)[t];
        reinterpret_cast<float4 *>(out + begin)[t] =
            make_float4(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z), f(x.w, y.w));
        return;
    }
    float x[EACH], y[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (t + i * THREADS < left) {
            x[i] = a[begin + t + i * THREADS];
            y[i] = b[begin + t + i * THREADS];
        }
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (t + i * THREADS < left)
            out[begin + t + i * THREADS] = f(x[i], y[i]);
}

template <typename F> __device__ static void unary(const float *a, float *out, int n, F f)
{
    int begin = WORK * blockIdx.x, left = n - begin, t = threadIdx.x;
    if (left >= WORK) {
        float4 x = reinterpret_cast<const float4 *>(a + begin)[t];
        reinterpret_cast<float4 *>(out + begin)[t] = make_float4(f(x.x), f(x.y), f(x.z), f(x.w));
        return;
    }
    float x[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (t + i * THREADS < left)
            x[i] = a[begin + t + i * THREADS];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (t + i * THREADS < left)
            out[begin + t + i * THREADS] = f(x[i]);
}

#define BINARY(name, value) \
    extern "C" __global__ void eager_##name(int n, float alpha, const float *a, const float *b, float *out) \
    { \
        binary(a, b, out, n, [=](float x, float y) { (void)alpha; return value; }); \
    }
#define UNARY(name, value) \
    extern "C" __global__ void eager_##name(int n, float scalar, const float *a, float *out) \
    { \
        unary(a, out, n, [=](float x) { (void)scalar; return value; }); \
    }

BINARY(add, x + alpha * y)
BINARY(sub, x - alpha * y)
BINARY(mul, x * y)
BINARY(div, x / y)
BINARY(pow, powf(x, y))
UNARY(addu, x + scalar)
UNARY(mulu, x * scalar)
UNARY(divu, x * scalar) // by the reciprocal, which the host works out
UNARY(powu, x * x)
UNARY(relu, x < 0 ? 0 : x)
UNARY(gelu, x * 0.5f * (1.0f + erff(x * 0.70710678f)))
UNARY(tanh, tanhf(x))
UNARY(sigmoid, 1 / (1 + expf(-x)))
UNARY(silu, x / (1 + expf(-x)))
UNARY(exp, expf(x))
UNARY(sqrt, sqrtf(x))

// ---- softmax of up to 1024 columns: a row or two a warp, in registers ----

struct Most {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <int WIDTH, typename F> __device__ static float across(float v, F f)
{
#pragma unroll
    for (int d = WIDTH / 2; d > 0; d /= 2)
        v = f(v, __shfl_xor_sync(0xffffffffu, v, d, WIDTH));
    return v;
}

// Blocks of WIDTH x 128 / WIDTH.
template <int LOG2> __device__ static void softmax_rows(float *out, const float *in, int rows, int columns)
{
    constexpr int ALL = 1 << LOG2, WIDTH = ALL < 32 ? ALL : 32, TRIPS = ALL / WIDTH;
    constexpr int BATCH = ALL <= 128 ? 2 : 1;
    int first = (blockDim.y * blockIdx.x + threadIdx.y) * BATCH, mine = rows - first, lane = threadIdx.x;
    float v[BATCH][TRIPS], most[BATCH], sum[BATCH];

    if (mine > BATCH)
        mine = BATCH;
    in += (size_t)first * columns + lane;
    out += (size_t)first * columns + lane;
#pragma unroll
    for (int r = 0; r < BATCH; r++) {
        int width = r >= mine ? 0 : columns;
#pragma unroll
        for (int i = 0; i < TRIPS; i++)
            v[r][i] = lane + i * WIDTH < width ? in[r * columns + i * WIDTH] : -INFINITY;
    }
#pragma unroll
    for (int r = 0; r < BATCH; r++) {
        most[r] = v[r][0];
#pragma unroll
        for (int i = 1; i < TRIPS; i++)
            most[r] = most[r] > v[r][i] ? most[r] : v[r][i];
        most[r] = across<WIDTH>(most[r], Most());
        sum[r] = 0;
#pragma unroll
        for (int i = 0; i < TRIPS; i++) {
            v[r][i] = expf(v[r][i] - most[r]);
            sum[r] += v[r][i];
        }
        sum[r] = across<WIDTH>(sum[r], Sum());
    }
#pragma unroll
    for (int r = 0; r < BATCH; r++) {
        if (r >= mine)
            break;
#pragma unroll
        for (int i = 0; i < TRIPS; i++) {
            if (lane + i * WIDTH >= columns)
                break;
            out[r * columns + i * WIDTH] = v[r][i] / sum[r];
        }
    }
}

#define SOFTMAX(log2) \
    extern "C" __global__ void eager_softmax_##log2(float *out, const float *in, int rows, int columns) \
    { \
        softmax_rows<log2>(out, in, rows, columns); \
    }
SOFTMAX(0)
SOFTMAX(1)
SOFTMAX(2)
SOFTMAX(3)
SOFTMAX(4)
SOFTMAX(5)
SOFTMAX(6)
SOFTMAX(7)
SOFTMAX(8)
SOFTMAX(9)
SOFTMAX(10)

// ---- softmax of longer rows: a block a row, three times over it ----

template <typename F> __device__ static float in_block(float *shared, float v, F f, float none)
{
    int lane = threadIdx.x % 32;

    __syncthreads();
    shared[threadIdx.x] = v;
    __syncthreads();
    float w = none;
    if (threadIdx.x < blockDim.x / 32) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            w = f(w, shared[lane * 32 + i]);
        shared[lane] = w;
    }
    __syncthreads();
    w = none;
    if (threadIdx.x == 0) {
        for (int i = 0; i < blockDim.x / 32; i++)
            w = f(w, shared[i]);
        shared[0] = w;
    }
    __syncthreads();
    return shared[0];
}

// Over a row of n values that begins `shift` values behind a multiple of 16 bytes.
template <typename F> __device__ static float along(int shift, const float *data, int n, F f, float v)
{
    int t = threadIdx.x;

    if (shift > 0) {
        data -= shift;
        n += shift;
        if (t >= shift)
            v = f(v, data[t]);
        n -= blockDim.x;
        data += blockDim.x;
    }
    int last = n % (4 * blockDim.x), at = t;
    for (; at * 4 < n - last; at += blockDim.x) {
        float4 x = reinterpret_cast<const float4 *>(data)[at];
        v = f(f(f(f(v, x.x), x.y), x.z), x.w);
    }
    for (at = n - last + t; at < n; at += blockDim.x)
        v = f(v, data[at]);
    return v;
}

extern "C" __global__ void eager_softmax_block(float *out, const float *in, int columns)
{
    extern __shared__ float shared[];

    in += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    int shift = ((size_t)in % 16) / 4, shift_out = ((size_t)out % 16) / 4;
    float most = in_block(shared, along(shift, in, columns, Most(), -INFINITY), Most(), -INFINITY);
    auto add = [=](float sum, float x) { return sum + expf(x - most); };
    float sum = in_block(shared, along(shift, in, columns, add, 0.0f), Sum(), 0.0f);
    int at = threadIdx.x;
    if (shift != shift_out) {
        for (; at < columns; at += blockDim.x)
            out[at] = expf(in[at] - most) / sum;
        return;
    }
    int n = columns;
    if (shift > 0) {
        in -= shift;
        out -= shift;
        n += shift;
        if (at >= shift)
            out[at] = expf(in[at] - most) / sum;
        n -= blockDim.x;
        in += blockDim.x;
        out += blockDim.x;
    }
    int last = n % (4 * blockDim.x);
    for (; at * 4 < n - last; at += blockDim.x) {
        float4 x = reinterpret_cast<const float4 *>(in)[at];
        reinterpret_cast<float4 *>(out)[at] =
            make_float4(expf(x.x - most) / sum, expf(x.y - most) / sum, expf(x.z - most) / sum,
                        expf(x.w - most) / sum);
    }
    for (at = n - last + threadIdx.x; at < n; at += blockDim.x)
        out[at] = expf(in[at] - most) / sum;
}

// ---- layer norm: a block of 32 x 4 a row of a multiple of four columns ----

struct Moments { // Welford's
    float mean, squares, count;
};

__device__ static Moments with(Moments m, float x)
{
    float away = x - m.mean, count = m.count + 1;
    float mean = m.mean + away * (1 / count);
    return {mean, m.squares + away * (x - mean), count};
}

__device__ static Moments joined(Moments b, Moments a)
{
    float away = b.mean - a.mean, count = a.count + b.count;
    if (!(count > 0))
        return {0, 0, count};
    float one = 1 / count, share_a = a.count * one, share_b = b.count * one;
    return {share_a * a.mean + share_b * b.mean,
            a.squares + b.squares + away * away * a.count * share_b, count};
}

__device__ static Moments moments(const float *row, int n, float *shared)
{
    int threads = blockDim.x * blockDim.y, t = threadIdx.x + threadIdx.y * blockDim.x;
    Moments m = {0, 0, 0};

    for (int i = t; i < n / 4; i += threads) {
        float4 x = reinterpret_cast<const float4 *>(row)[i];
        m = with(with(with(with(m, x.x), x.y), x.z), x.w);
    }
    for (int d = 16; d > 0; d /= 2) {
        Moments other = {__shfl_down_sync(0xffffffffu, m.mean, d),
                         __shfl_down_sync(0xffffffffu, m.squares, d),
                         __shfl_down_sync(0xffffffffu, m.count, d)};
        m = joined(m, other);
    }
    float *counts = shared + blockDim.y;
    for (int d = blockDim.y / 2; d > 0; d /= 2) {
        if (threadIdx.x == 0 && threadIdx.y >= d && threadIdx.y < 2 * d) {
            int to = threadIdx.y - d;
            shared[2 * to] = m.mean;
            shared[2 * to + 1] = m.squares;
            counts[to] = m.count;
        }
        __syncthreads();
        if (threadIdx.x == 0 && threadIdx.y < d)
            m = joined(m, {shared[2 * threadIdx.y], shared[2 * threadIdx.y + 1], counts[threadIdx.y]});
        __syncthreads();
    }
    if (t == 0) {
        shared[0] = m.mean;
        shared[1] = m.squares / n;
    }
    __syncthreads();
    return {shared[0], shared[1], 0};
}

extern "C" __global__ void eager_layer_norm(int n, float eps, const float *in, const float *weight, const float *bias,
                                      float *mean, float *scale, float *out)
{
    extern __shared__ float shared[];
    const float *row = in + (size_t)blockIdx.x * n;
    Moments m = moments(row, n, shared);
    float by = rsqrtf(m.squares + eps);
    int threads = blockDim.x * blockDim.y, t = threadIdx.x + threadIdx.y * blockDim.x;

    for (int i = t; i < n / 4; i += threads) {
        float4 x = reinterpret_cast<const float4 *>(row)[i], y;
        float4 w = reinterpret_cast<const float4 *>(weight)[i];
        float4 b = reinterpret_cast<const float4 *>(bias)[i];
        y.x = w.x * (by * (x.x - m.mean)) + b.x;
        y.y = w.y * (by * (x.y - m.mean)) + b.y;
        y.z = w.z * (by * (x.z - m.mean)) + b.z;
        y.w = w.w * (by * (x.w - m.mean)) + b.w;
        reinterpret_cast<float4 *>(out + (size_t)blockIdx.x * n)[i] = y;
    }
    if (t == 0) {
        mean[blockIdx.x] = m.mean;
        scale[blockIdx.x] = by;
    }
}
