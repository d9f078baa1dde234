// Normalisation: layer, root mean square, batch, group.

__device__ static inline float block_sum(float v)
{
    __shared__ float s[33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (lane == 0)
        s[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / 32 ? s[lane] : 0.0f;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if (lane == 0)
            s[32] = v;
    }
    __syncthreads();
    v = s[32];
    __syncthreads();
    return v;
}

// A block a row, two passes.
extern "C" __global__ void layer_norm(const float *x, const float *weight, const float *bias,
                                      float *out, int n, float eps)
{
    x += blockIdx.x * n;
    float v = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v += x[i];
    float mean = block_sum(v) / n;
    v = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(block_sum(v) / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

// A warp a row, sum and sum of squares in one pass.
extern "C" __global__ void layer_norm_warp(const float *x, const float *weight,
                                           const float *bias, float *out, int rows, int n,
                                           float eps)
{
    int r = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (r >= rows)
        return;
    x += r * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < n; i += 32) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
        squares += __shfl_xor_sync(0xffffffffu, squares, d);
    }
    float mean = sum / n, scale = rsqrtf(squares / n - mean * mean + eps);
    for (int i = lane; i < n; i += 32)
        out[r * n + i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

extern "C" __global__ void rms_norm(const float *x, const float *weight, float *out, int n,
                                    float eps)
{
    x += blockIdx.x * n;
    float v = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v += x[i] * x[i];
    float scale = rsqrtf(block_sum(v) / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = x[i] * scale * weight[i];
}

// With known mean and variance, as at inference: a block a channel of an image.
extern "C" __global__ void batch_norm(const float *x, const float *mean, const float *variance,
                                      const float *weight, const float *bias, float *out,
                                      int channels, int pixels, float eps)
{
    int c = blockIdx.x, at = (blockIdx.y * channels + c) * pixels;
    float scale = weight[c] * rsqrtf(variance[c] + eps), shift = bias[c] - mean[c] * scale;
    for (int i = threadIdx.x; i < pixels; i += blockDim.x)
        out[at + i] = x[at + i] * scale + shift;
}

// Mean and variance of each channel over the batch, as in training: a block a channel.
extern "C" __global__ void batch_norm_statistics(const float *x, float *mean, float *variance,
                                                 int batch, int channels, int pixels)
{
    int c = blockIdx.x, n = batch * pixels;
    float sum = 0.0f, squares = 0.0f;
    for (int b = 0; b < batch; b++)
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            float v = x[(b * channels + c) * pixels + i];
            sum += v;
            squares += v * v;
        }
    sum = block_sum(sum) / n;
    squares = block_sum(squares) / n;
    if (threadIdx.x == 0) {
        mean[c] = sum;
        variance[c] = squares - sum * sum;
    }
}

// Groups of channels of one image: grid groups x batch.
extern "C" __global__ void group_norm(const float *x, const float *weight, const float *bias,
                                      float *out, int channels, int pixels, float eps)
{
    int each = channels / gridDim.x, n = each * pixels;
    int at = (blockIdx.y * channels + blockIdx.x * each) * pixels;
    float v = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v += x[at + i];
    float mean = block_sum(v) / n;
    v = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v += (x[at + i] - mean) * (x[at + i] - mean);
    float scale = rsqrtf(block_sum(v) / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int c = blockIdx.x * each + i / pixels;
        out[at + i] = (x[at + i] - mean) * scale * weight[c] + bias[c];
    }
}
