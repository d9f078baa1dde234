// Integers of 8 bits: to them, from them, and products of them.

extern "C" __global__ void quantise(const float *x, signed char *out, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (signed char)min(max(__float2int_rn(x[i] / scale), -128), 127);
}

extern "C" __global__ void dequantise(const signed char *x, float *out, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] * scale;
}

// A row a block, its scale from its largest value.
extern "C" __global__ void quantise_rows(const float *x, signed char *out, float *scale, int n)
{
    __shared__ float s[32];
    float most = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        most = fmaxf(most, fabsf(x[blockIdx.x * n + i]));
    for (int d = 16; d > 0; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++)
        most = fmaxf(most, s[w]);
    float by = most > 0.0f ? 127.0f / most : 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = (signed char)__float2int_rn(x[blockIdx.x * n + i] * by);
    if (threadIdx.x == 0)
        scale[blockIdx.x] = most / 127.0f;
}

// C [m, n] = A [m, k] B [n, k], four products an instruction; k is a multiple of 4.
extern "C" __global__ void gemm_dp4a(const int *a, const int *b, int *c, int m, int n, int k)
{
    __shared__ int at[16][17], bt[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, fours = k / 4;
    int row = blockIdx.y * 16, col = blockIdx.x * 16, sum = 0;
    for (int s = 0; s < fours; s += 16) {
        at[ty][tx] = row + ty < m && s + tx < fours ? a[(row + ty) * fours + s + tx] : 0;
        bt[ty][tx] = col + ty < n && s + tx < fours ? b[(col + ty) * fours + s + tx] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum = __dp4a(at[ty][i], bt[tx][i], sum);
        __syncthreads();
    }
    if (row + ty < m && col + tx < n)
        c[(row + ty) * n + col + tx] = sum;
}

// Weights of 4 bits, two a byte, with a scale for each 32 of them: y = W x, a warp a row.
extern "C" __global__ void gemv_int4(const unsigned char *w, const float *scale,
                                     const float *x, float *y, int rows, int k)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = lane; i < k / 2; i += 32) {
        unsigned pair = w[row * (k / 2) + i];
        float low = (int)(pair & 15) - 8, high = (int)(pair >> 4) - 8;
        sum += scale[row * (k / 32) + i / 16] * (low * x[2 * i] + high * x[2 * i + 1]);
    }
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[row] = sum;
}
