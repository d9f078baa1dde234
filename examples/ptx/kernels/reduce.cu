// Sums and maxima of many values.

// A tree in shared memory, a partial sum a block. A block is a power of two.
extern "C" __global__ void sum_tree(const float *x, float *part, int n)
{
    extern __shared__ float s[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        part[blockIdx.x] = s[0];
}

// The tree as the first textbooks had it: threads that work lie far apart.
extern "C" __global__ void sum_tree_divergent(const float *x, float *part, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        part[blockIdx.x] = s[0];
}

__device__ static inline float warp_sum(float v)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

// Shuffles within warps, shared memory between them; the grid strides.
extern "C" __global__ void sum_shuffle(const float *x, float *part, int n)
{
    __shared__ float s[32];
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += x[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_sum(threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0)
            part[blockIdx.x] = v;
    }
}

// Into one value, by an atomic a warp.
extern "C" __global__ void sum_atomic(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = warp_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, v);
}

// There is no atomic maximum of floats: compare and swap until it holds.
extern "C" __global__ void max_swap(const float *x, float *most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int *at = reinterpret_cast<int *>(most), seen = *at;
    while (__int_as_float(seen) < x[i]) {
        int was = atomicCAS(at, seen, __float_as_int(x[i]));
        if (was == seen)
            break;
        seen = was;
    }
}

// Sum of each column of [rows, columns]: threads side by side read side by side.
extern "C" __global__ void sum_columns(const float *x, float *out, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns)
        return;
    float v = 0.0f;
    for (int r = 0; r < rows; r++)
        v += x[r * columns + c];
    out[c] = v;
}

// How often each value of 0 .. 255 occurs: atomics in shared memory, then in global.
extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n)
{
    __shared__ unsigned own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (own[b])
            atomicAdd(&bins[b], own[b]);
}

// Sums from the left, of each row of at most 1024 values: a block a row.
extern "C" __global__ void prefix_sum(const float *x, float *out, int n)
{
    __shared__ float s[2][1024];
    int t = threadIdx.x, from = 0;
    s[0][t] = t < n ? x[blockIdx.x * n + t] : 0.0f;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        s[1 - from][t] = s[from][t] + (t >= d ? s[from][t - d] : 0.0f);
        from = 1 - from;
        __syncthreads();
    }
    if (t < n)
        out[blockIdx.x * n + t] = s[from][t];
}

// A warp adds its values up in one instruction where there is one, from sm_80 on.
extern "C" __global__ void sum_redux(const int *x, int *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
#if __CUDA_ARCH__ >= 800
    v = __reduce_add_sync(0xffffffffu, v);
#else
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
#endif
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, v);
}
