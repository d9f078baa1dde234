// C [m, n] = A [m, k] B [k, n], all row-major, from plain to blocked.

extern "C" __global__ void gemm_naive(const float *a, const float *b, float *c, int m, int n,
                                      int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

// Tiles of 16 x 16 in shared memory; block 16 x 16.
extern "C" __global__ void gemm_tiled(const float *a, const float *b, float *c, int m, int n,
                                      int k)
{
    __shared__ float at[16][16], bt[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int t = 0; t < k; t += 16) {
        at[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0.0f;
        bt[ty][tx] = col < n && t + ty < k ? b[(t + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += at[ty][i] * bt[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

// A tile of 64 x 64 by 256 threads, 4 x 4 of it in the registers of each.
extern "C" __global__ void __launch_bounds__(256)
    gemm_blocked(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float at[16][64 + 4], bt[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int row = blockIdx.y * 64, col = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int s = 0; s < k; s += 16) {
        for (int e = t; e < 16 * 64; e += 256) {
            int i = e % 16, r = e / 16;
            at[i][r] = row + r < m && s + i < k ? a[(row + r) * k + s + i] : 0.0f;
            int j = e % 64, q = e / 64;
            bt[q][j] = col + j < n && s + q < k ? b[(s + q) * n + col + j] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 x = *reinterpret_cast<const float4 *>(&at[i][4 * ty]);
            float4 y = *reinterpret_cast<const float4 *>(&bt[i][4 * tx]);
            const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++)
                    sum[p][q] += xs[p] * ys[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (row + 4 * ty + p < m && col + 4 * tx + q < n)
                c[(row + 4 * ty + p) * n + col + 4 * tx + q] = sum[p][q];
}

// A product for each z of the grid; strides in elements, 0 where all share an operand.
extern "C" __global__ void gemm_batched(const float *a, const float *b, float *c, int m,
                                        int n, int k, long long stride_a,
                                        long long stride_b, long long stride_c)
{
    __shared__ float at[8][33], bt[8][33];
    a += blockIdx.z * stride_a;
    b += blockIdx.z * stride_b;
    c += blockIdx.z * stride_c;
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int row = blockIdx.y * 32, col = blockIdx.x * 32;
    float sum[2][2] = {};
    for (int s = 0; s < k; s += 8) {
        int r = row + t / 8, i = s + t % 8, j = col + t % 32, q = s + t / 32;
        at[t % 8][t / 8] = r < m && i < k ? a[r * k + i] : 0.0f;
        bt[t / 32][t % 32] = j < n && q < k ? b[q * n + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 8; e++)
#pragma unroll
            for (int p = 0; p < 2; p++)
#pragma unroll
                for (int o = 0; o < 2; o++)
                    sum[p][o] += at[e][ty + 16 * p] * bt[e][tx + 16 * o];
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
        for (int o = 0; o < 2; o++)
            if (row + ty + 16 * p < m && col + tx + 16 * o < n)
                c[(row + ty + 16 * p) * n + col + tx + 16 * o] = sum[p][o];
}

// y = A x, a warp a row.
extern "C" __global__ void gemv_warp(const float *a, const float *x, float *y, int m, int k)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m)
        return;
    float sum = 0.0f;
    for (int i = lane; i < k; i += 32)
        sum += a[row * k + i] * x[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[row] = sum;
}

// Split over k: parts of the sum meet in atomics, so their order is open.
extern "C" __global__ void gemm_split(const float *a, const float *b, float *c, int m, int n,
                                      int k, int part)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    int begin = blockIdx.z * part, end = min(begin + part, k);
    float sum = 0.0f;
    for (int i = begin; i < end; i++)
        sum += a[row * k + i] * b[i * n + col];
    atomicAdd(&c[row * n + col], sum);
}
