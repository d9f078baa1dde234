// What training steps have besides.

// Philox 4 x 32 with ten rounds: random numbers from a counter alone.
__device__ static inline uint4 philox(uint4 c, uint2 key)
{
#pragma unroll
    for (int i = 0; i < 10; i++) {
        unsigned h0 = __umulhi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x;
        unsigned h1 = __umulhi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
        c = make_uint4(h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}

extern "C" __global__ void dropout(const float *x, float *out, unsigned char *mask, int n,
                                   float drop, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= n)
        return;
    uint4 r = philox(make_uint4(i, 0, 0, 0), make_uint2(seed, 0));
    unsigned v[4] = {r.x, r.y, r.z, r.w};
    for (int j = 0; j < 4 && 4 * i + j < n; j++) {
        bool keep = v[j] * 2.3283064e-10f >= drop;
        out[4 * i + j] = keep ? x[4 * i + j] / (1.0f - drop) : 0.0f;
        mask[4 * i + j] = keep;
    }
}

extern "C" __global__ void sgd_step(float *w, const float *gradient, float *velocity, int n,
                                    float rate, float momentum, float decay)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = momentum * velocity[i] + gradient[i] + decay * w[i];
    velocity[i] = v;
    w[i] -= rate * v;
}

extern "C" __global__ void adam_step(float *w, const float *gradient, float *m, float *v,
                                     int n, float rate, float b1, float b2, float eps,
                                     int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float g = gradient[i];
    float mean = m[i] = b1 * m[i] + (1.0f - b1) * g;
    float square = v[i] = b2 * v[i] + (1.0f - b2) * g * g;
    mean /= 1.0f - powf(b1, step);
    square /= 1.0f - powf(b2, step);
    w[i] -= rate * mean / (sqrtf(square) + eps);
}

// Gradient of softmax and cross-entropy together: a block a row.
extern "C" __global__ void cross_entropy_backward(const float *p, const int *label,
                                                  float *gradient, int n, float scale)
{
    int l = label[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        gradient[blockIdx.x * n + i] = (p[blockIdx.x * n + i] - (i == l ? 1.0f : 0.0f)) * scale;
}

extern "C" __global__ void relu_backward(const float *x, const float *gradient, float *out,
                                         int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] > 0.0f ? gradient[i] : 0.0f;
}

// Gradient of the largest value of each window of 2 x 2 goes where that value was.
extern "C" __global__ void max_pool_backward(const float *x, const float *gradient, float *out,
                                             int planes, int height, int width)
{
    int rows = height / 2, columns = width / 2, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * rows * columns)
        return;
    int at = (i / (rows * columns) * height + i / columns % rows * 2) * width + i % columns * 2;
    int best = at;
    if (x[at + 1] > x[best])
        best = at + 1;
    if (x[at + width] > x[best])
        best = at + width;
    if (x[at + width + 1] > x[best])
        best = at + width + 1;
    out[best] = gradient[i];
}

// Gradient of softmax: p (g - sum(p g)), a warp a row.
extern "C" __global__ void softmax_backward(const float *p, const float *gradient, float *out,
                                            int rows, int n)
{
    int r = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int i = lane; i < n; i += 32)
        sum += p[r * n + i] * gradient[r * n + i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    for (int i = lane; i < n; i += 32)
        out[r * n + i] = p[r * n + i] * (gradient[r * n + i] - sum);
}
