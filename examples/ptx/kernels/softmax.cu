// Softmax of the rows of [rows, n].

// A thread a row: three passes, memory read in columns.
extern "C" __global__ void softmax_thread(const float *x, float *out, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float most = x[r * n], sum = 0.0f;
    for (int i = 1; i < n; i++)
        most = fmaxf(most, x[r * n + i]);
    for (int i = 0; i < n; i++)
        sum += __expf(x[r * n + i] - most);
    for (int i = 0; i < n; i++)
        out[r * n + i] = __expf(x[r * n + i] - most) / sum;
}

// A warp a row.
extern "C" __global__ void softmax_warp(const float *x, float *out, int rows, int n)
{
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    x += r * n;
    float most = -INFINITY, sum = 0.0f;
    for (int i = lane; i < n; i += 32)
        most = fmaxf(most, x[i]);
    for (int d = 16; d > 0; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    for (int i = lane; i < n; i += 32)
        sum += __expf(x[i] - most);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    for (int i = lane; i < n; i += 32)
        out[r * n + i] = __expf(x[i] - most) / sum;
}

// A block a row, the row kept in shared memory (4 n bytes); a block is a power of two.
extern "C" __global__ void softmax_block(const float *x, float *out, int n)
{
    extern __shared__ float row[];
    __shared__ float s[1024];
    int t = threadIdx.x;
    x += blockIdx.x * n;
    float v = -INFINITY;
    for (int i = t; i < n; i += blockDim.x) {
        row[i] = x[i];
        v = fmaxf(v, row[i]);
    }
    s[t] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    float most = s[0];
    __syncthreads();
    v = 0.0f;
    for (int i = t; i < n; i += blockDim.x)
        v += row[i] = __expf(row[i] - most);
    s[t] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    float scale = 1.0f / s[0];
    for (int i = t; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = row[i] * scale;
}

// Maximum and sum in one pass, corrected as the maximum grows (Milakov and Gimelshein).
extern "C" __global__ void softmax_online(const float *x, float *out, int rows, int n)
{
    int r = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (r >= rows)
        return;
    x += r * n;
    float most = -INFINITY, sum = 0.0f;
    for (int i = lane; i < n; i += 32) {
        float v = x[i], m = fmaxf(most, v);
        sum = sum * __expf(most - m) + __expf(v - m);
        most = m;
    }
    for (int d = 16; d > 0; d /= 2) {
        float m2 = __shfl_xor_sync(0xffffffffu, most, d);
        float s2 = __shfl_xor_sync(0xffffffffu, sum, d), m = fmaxf(most, m2);
        if (m > -INFINITY)
            sum = sum * __expf(most - m) + s2 * __expf(m2 - m);
        most = m;
    }
    for (int i = lane; i < n; i += 32)
        out[r * n + i] = __expf(x[i] - most) / sum;
}

// Logarithm of the softmax at the label, the loss of each row.
extern "C" __global__ void cross_entropy(const float *x, const int *label, float *loss,
                                         int rows, int n)
{
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    x += r * n;
    float most = -INFINITY, sum = 0.0f;
    for (int i = lane; i < n; i += 32)
        most = fmaxf(most, x[i]);
    for (int d = 16; d > 0; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    for (int i = lane; i < n; i += 32)
        sum += expf(x[i] - most);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0)
        loss[r] = label[r] < 0 ? 0.0f : logf(sum) + most - x[label[r]];
}
