// Layer norm as PyTorch launches it: a block of 32 x 4 threads a row, vectors of four,
// mean and variance by Welford's recurrence. n is a multiple of 4.

struct moments {
    float mean, sigma, count;
};

__device__ static inline moments online(float v, moments m)
{
    float delta = v - m.mean, count = m.count + 1.0f;
    float mean = m.mean + delta * (1.0f / count);
    return {mean, m.sigma + delta * (v - mean), count};
}

__device__ static inline moments combine(moments b, moments a)
{
    float delta = b.mean - a.mean, count = a.count + b.count;
    float scale = 1.0f / fmaxf(count, 1.0f), of_a = a.count * scale, of_b = b.count * scale;
    return {of_a * a.mean + of_b * b.mean, a.sigma + b.sigma + delta * delta * a.count * of_b,
            count};
}

// 24 bytes of dynamic shared memory for each two warps: 48 for a block of 32 x 4.
extern "C" __global__ void torch_layer_norm(int n, float eps, const float *x,
                                            const float *weight, const float *bias,
                                            float *mean, float *scale, float *out)
{
    extern __shared__ float s[];
    const float4 *row = reinterpret_cast<const float4 *>(x + (long long)blockIdx.x * n);
    int threads = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;
    moments m = {0.0f, 0.0f, 0.0f};
    for (int i = t; i < n / 4; i += threads) {
        float4 v = row[i];
        m = online(v.x, m);
        m = online(v.y, m);
        m = online(v.z, m);
        m = online(v.w, m);
    }
    for (int d = 16; d > 0; d /= 2)
        m = combine(m, {__shfl_down_sync(0xffffffffu, m.mean, d),
                        __shfl_down_sync(0xffffffffu, m.sigma, d),
                        __shfl_down_sync(0xffffffffu, m.count, d)});
    float average, variance;
    if (blockDim.y > 1) {
        float *counts = s + blockDim.y;
        for (int d = blockDim.y / 2; d > 0; d /= 2) {
            if (threadIdx.x == 0 && threadIdx.y >= d && threadIdx.y < 2 * d) {
                int at = threadIdx.y - d;
                s[2 * at] = m.mean;
                s[2 * at + 1] = m.sigma;
                counts[at] = m.count;
            }
            __syncthreads();
            if (threadIdx.x == 0 && threadIdx.y < d)
                m = combine(m, {s[2 * threadIdx.y], s[2 * threadIdx.y + 1],
                                counts[threadIdx.y]});
            __syncthreads();
        }
        if (t == 0) {
            s[0] = m.mean;
            s[1] = m.sigma / float(n);
        }
        __syncthreads();
        average = s[0];
        variance = s[1];
    } else {
        average = __shfl_sync(0xffffffffu, m.mean, 0);
        variance = __shfl_sync(0xffffffffu, m.sigma, 0) / float(n);
    }
    float by = rsqrtf(variance + eps);
    float4 *to = reinterpret_cast<float4 *>(out + (long long)blockIdx.x * n);
    for (int i = t; i < n / 4; i += threads) {
        float4 v = row[i], w = reinterpret_cast<const float4 *>(weight)[i];
        float4 b = reinterpret_cast<const float4 *>(bias)[i];
        to[i] = make_float4(w.x * (by * (v.x - average)) + b.x,
                            w.y * (by * (v.y - average)) + b.y,
                            w.z * (by * (v.z - average)) + b.z,
                            w.w * (by * (v.w - average)) + b.w);
    }
    if (t == 0) {
        mean[blockIdx.x] = average;
        scale[blockIdx.x] = by;
    }
}
