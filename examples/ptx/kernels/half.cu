// Values of 16 bits, alone and in pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void add_half(const half *a, const half *b, half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __hadd(a[i], b[i]);
}

// Two at once: out = a b + c; n is even.
extern "C" __global__ void fma_half2(const half2 *a, const half2 *b, const half2 *c,
                                     half2 *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x)
        out[i] = __hfma2(a[i], b[i], c[i]);
}

extern "C" __global__ void relu_half2(const half2 *x, half2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i < n)
        out[i] = __hmul2(x[i], __hgt2(x[i], __float2half2_rn(0.0f)));
}

extern "C" __global__ void float_to_half(const float *x, half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __float2half_rn(x[i]);
}

extern "C" __global__ void bf16_to_float(const __nv_bfloat16 *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __bfloat162float(x[i]);
}

// As networks use bf16: read and written in it, computed in f32.
extern "C" __global__ void silu_mul_bf16(const __nv_bfloat16 *gate, const __nv_bfloat16 *up,
                                         __nv_bfloat16 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float g = __bfloat162float(gate[i]);
    out[i] = __float2bfloat16_rn(g / (1.0f + __expf(-g)) * __bfloat162float(up[i]));
}

// A row a block, f16 in memory, f32 inside.
extern "C" __global__ void rms_norm_half(const half *x, const half *weight, half *out, int n,
                                         float eps)
{
    __shared__ float s[32];
    x += blockIdx.x * n;
    float v = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v += __half2float(x[i]) * __half2float(x[i]);
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < blockDim.x / 32; w++)
        v += s[w];
    float scale = rsqrtf(v / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] =
            __float2half_rn(__half2float(x[i]) * scale * __half2float(weight[i]));
}
