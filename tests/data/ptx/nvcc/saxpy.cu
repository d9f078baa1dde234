extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(128) transpose(float *y, const float *x, int width, int height)
{
    extern __shared__ float tile[];
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;

    for (int k = 0; k < 16; k += 8)
        if (c < width && r + k < height)
            tile[(threadIdx.y + k) * 16 + threadIdx.x] = x[(r + k) * width + c];
    __syncthreads();
    c = blockIdx.y * 16 + threadIdx.x;
    r = blockIdx.x * 16 + threadIdx.y;
    for (int k = 0; k < 16; k += 8)
        if (c < height && r + k < width)
            y[(r + k) * height + c] = tile[threadIdx.x * 16 + threadIdx.y + k];
}
