// Softmax as PyTorch launches it: rows of up to 1024 values by warps that hold a row in
// registers, one kernel for each power of two; longer rows by blocks.

__device__ static inline float warp_max(float v, int width)
{
    for (int d = width / 2; d > 0; d /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d, width));
    return v;
}

__device__ static inline float warp_sum(float v, int width)
{
    for (int d = width / 2; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d, width);
    return v;
}

// Blocks have min(2^LOG, 32) x (128 / that) threads; a warp has two rows at once up to 128
// values, one beyond.
template <int LOG>
__device__ static inline void softmax_rows(const float *x, float *out, int rows, int n)
{
    constexpr int size = 1 << LOG, width = size < 32 ? size : 32, each = size / width;
    constexpr int batch = size <= 128 ? 2 : 1;
    int first = (blockDim.y * blockIdx.x + threadIdx.y) * batch;
    int own = rows - first < batch ? rows - first : batch;
    int lane = threadIdx.x;
    x += (long long)first * n + lane;
    out += (long long)first * n + lane;
    float v[batch][each];
#pragma unroll
    for (int b = 0; b < batch; b++)
#pragma unroll
        for (int i = 0; i < each; i++)
            v[b][i] = lane + i * width < (b < own ? n : 0) ? x[b * n + i * width] : -INFINITY;
    float most[batch], sum[batch];
#pragma unroll
    for (int b = 0; b < batch; b++) {
        most[b] = v[b][0];
#pragma unroll
        for (int i = 1; i < each; i++)
            most[b] = fmaxf(most[b], v[b][i]);
        most[b] = warp_max(most[b], width);
    }
#pragma unroll
    for (int b = 0; b < batch; b++) {
        sum[b] = 0.0f;
#pragma unroll
        for (int i = 0; i < each; i++) {
            v[b][i] = expf(v[b][i] - most[b]);
            sum[b] += v[b][i];
        }
        sum[b] = warp_sum(sum[b], width);
    }
#pragma unroll
    for (int b = 0; b < batch; b++) {
        if (b >= own)
            break;
#pragma unroll
        for (int i = 0; i < each; i++) {
            if (lane + i * width >= n)
                break;
            out[b * n + i * width] = v[b][i] / sum[b];
        }
    }
}

#define SOFTMAX(log, size)                                                            \
    extern "C" __global__ void torch_softmax_##size(const float *x, float *out, int rows,\
                                                    int n)                            \
    {                                                                                 \
        softmax_rows<log>(x, out, rows, n);                                           \
    }
SOFTMAX(0, 1)
SOFTMAX(1, 2)
SOFTMAX(2, 4)
SOFTMAX(3, 8)
SOFTMAX(4, 16)
SOFTMAX(5, 32)
SOFTMAX(6, 64)
SOFTMAX(7, 128)
SOFTMAX(8, 256)
SOFTMAX(9, 512)
SOFTMAX(10, 1024)

struct larger {
    static constexpr float start = -INFINITY;
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct add {
    static constexpr float start = 0.0f;
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Over a block: each thread of the first warp takes one warp's values, the first of them
// the rest. Its shared memory: a value a thread.
template <class R> __device__ static inline float block_reduce(float *s, float v, R r)
{
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
    int warps = blockDim.x / 32;
    if (threadIdx.x < warps) {
        float w = R::start;
#pragma unroll
        for (int i = 0; i < 32; i++)
            w = r(w, s[threadIdx.x * 32 + i]);
        s[threadIdx.x] = w;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float w = R::start;
        for (int i = 0; i < warps; i++)
            w = r(w, s[i]);
        s[0] = w;
    }
    __syncthreads();
    return s[0];
}

// Over a row, in vectors of four: what comes before the first aligned address, the vectors,
// what is left.
template <class F> __device__ static inline void row_visit(const float *x, int n, F f)
{
    int before = (unsigned long long)x % 16 / 4;
    if (before > 0) {
        x -= before;
        n += before;
        if (threadIdx.x >= before && threadIdx.x < n)
            f(x[threadIdx.x]);
        n = n > blockDim.x ? n - blockDim.x : 0;
        x += blockDim.x;
    }
    int last = n % (4 * blockDim.x), i = threadIdx.x;
    for (; i * 4 < n - last; i += blockDim.x) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        f(v.x);
        f(v.y);
        f(v.z);
        f(v.w);
    }
    for (i = n - last + threadIdx.x; i < n; i += blockDim.x)
        f(x[i]);
}

// A block a row; 4 bytes of dynamic shared memory a thread. Blocks: the power of two from
// 32 to 1024 that is at least half of a fourth of n.
extern "C" __global__ void torch_softmax_block(const float *x, float *out, int n)
{
    extern __shared__ float s[];
    x += (long long)blockIdx.x * n;
    out += (long long)blockIdx.x * n;
    float v = -INFINITY;
    row_visit(x, n, [&](float e) { v = fmaxf(v, e); });
    float most = block_reduce(s, v, larger());
    v = 0.0f;
    row_visit(x, n, [&](float e) { v += expf(e - most); });
    float sum = block_reduce(s, v, add());
    int before = (unsigned long long)x % 16 / 4;
    if (before == (unsigned long long)out % 16 / 4) {
        if (before > 0) {
            x -= before;
            out -= before;
            n += before;
            if (threadIdx.x >= before && threadIdx.x < n)
                out[threadIdx.x] = expf(x[threadIdx.x] - most) / sum;
            n = n > blockDim.x ? n - blockDim.x : 0;
            x += blockDim.x;
            out += blockDim.x;
        }
        int last = n % (4 * blockDim.x), i = threadIdx.x;
        for (; i * 4 < n - last; i += blockDim.x) {
            float4 e = reinterpret_cast<const float4 *>(x)[i];
            reinterpret_cast<float4 *>(out)[i] =
                make_float4(expf(e.x - most) / sum, expf(e.y - most) / sum,
                            expf(e.z - most) / sum, expf(e.w - most) / sum);
        }
        for (i = n - last + threadIdx.x; i < n; i += blockDim.x)
            out[i] = expf(x[i] - most) / sum;
    } else {
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            out[i] = expf(x[i] - most) / sum;
    }
}
