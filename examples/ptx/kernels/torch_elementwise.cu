// Elementwise operations as PyTorch launches them: 128 threads, four values each, blocks of
// 512 values; aligned vectors of four where a block is full, single values at the end.

constexpr int threads = 128, each = 4, work = threads * each;

template <class F>
__device__ static inline void unary(const float *x, float *out, int n, F f)
{
    int begin = blockIdx.x * work, rest = n - begin;
    if (rest < work) {
        float v[each];
#pragma unroll
        for (int i = 0; i < each; i++)
            if (threadIdx.x + i * threads < rest)
                v[i] = x[begin + threadIdx.x + i * threads];
#pragma unroll
        for (int i = 0; i < each; i++)
            if (threadIdx.x + i * threads < rest)
                v[i] = f(v[i]);
#pragma unroll
        for (int i = 0; i < each; i++)
            if (threadIdx.x + i * threads < rest)
                out[begin + threadIdx.x + i * threads] = v[i];
    } else {
        float4 v = reinterpret_cast<const float4 *>(x + begin)[threadIdx.x];
        reinterpret_cast<float4 *>(out + begin)[threadIdx.x] =
            make_float4(f(v.x), f(v.y), f(v.z), f(v.w));
    }
}

template <class F>
__device__ static inline void binary(const float *x, const float *y, float *out, int n, F f)
{
    int begin = blockIdx.x * work, rest = n - begin;
    if (rest < work) {
        float v[each], w[each];
#pragma unroll
        for (int i = 0; i < each; i++)
            if (threadIdx.x + i * threads < rest) {
                v[i] = x[begin + threadIdx.x + i * threads];
                w[i] = y[begin + threadIdx.x + i * threads];
            }
#pragma unroll
        for (int i = 0; i < each; i++)
            if (threadIdx.x + i * threads < rest)
                v[i] = f(v[i], w[i]);
#pragma unroll
        for (int i = 0; i < each; i++)
            if (threadIdx.x + i * threads < rest)
                out[begin + threadIdx.x + i * threads] = v[i];
    } else {
        float4 v = reinterpret_cast<const float4 *>(x + begin)[threadIdx.x];
        float4 w = reinterpret_cast<const float4 *>(y + begin)[threadIdx.x];
        reinterpret_cast<float4 *>(out + begin)[threadIdx.x] =
            make_float4(f(v.x, w.x), f(v.y, w.y), f(v.z, w.z), f(v.w, w.w));
    }
}

#define UNARY(name, expression)                                                       \
    extern "C" __global__ void __launch_bounds__(threads)                             \
        torch_##name(const float *x, float *out, int n)                               \
    {                                                                                 \
        unary(x, out, n, [](float v) { return expression; });                         \
    }
#define SCALAR(name, expression)                                                      \
    extern "C" __global__ void __launch_bounds__(threads)                             \
        torch_##name(const float *x, float *out, float s, int n)                      \
    {                                                                                 \
        unary(x, out, n, [s](float v) { return expression; });                        \
    }
#define BINARY(name, expression)                                                      \
    extern "C" __global__ void __launch_bounds__(threads)                             \
        torch_##name(const float *x, const float *y, float *out, int n)               \
    {                                                                                 \
        binary(x, y, out, n, [](float v, float w) { return expression; });            \
    }

UNARY(relu, v < 0.0f ? 0.0f : v)
UNARY(tanh, tanhf(v))
UNARY(gelu, v * 0.5f * (1.0f + erff(v * 0.70710678f)))
UNARY(sigmoid, 1.0f / (1.0f + expf(-v)))
SCALAR(add_scalar, v + s)
SCALAR(mul_scalar, v * s)
SCALAR(div_scalar, v * s) // PyTorch multiplies by the reciprocal
SCALAR(pow_scalar, powf(v, s))
UNARY(pow_2, v * v)
UNARY(pow_3, v * v * v)
BINARY(add, v + w)
BINARY(mul, v * w)
BINARY(div, v / w)
BINARY(pow, powf(v, w))
