// Convolution of x [batch, channels, height, width] with w [filters, channels, size, size]
// to out [batch, filters, rows, columns], in the ways it is usually written.

struct conv {
    int batch, channels, height, width, filters, size, stride, pad, rows, columns;
};

// A thread a result.
extern "C" __global__ void conv_direct(const float *x, const float *w, float *out, conv c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c.batch * c.filters * c.rows * c.columns)
        return;
    int column = i % c.columns, row = i / c.columns % c.rows;
    int f = i / (c.columns * c.rows) % c.filters, b = i / (c.columns * c.rows * c.filters);
    float sum = 0.0f;
    for (int k = 0; k < c.channels; k++)
        for (int p = 0; p < c.size; p++) {
            int y = row * c.stride - c.pad + p;
            if (y < 0 || y >= c.height)
                continue;
            for (int q = 0; q < c.size; q++) {
                int z = column * c.stride - c.pad + q;
                if (z >= 0 && z < c.width)
                    sum += x[((b * c.channels + k) * c.height + y) * c.width + z] *
                           w[((f * c.channels + k) * c.size + p) * c.size + q];
            }
        }
    out[i] = sum;
}

// 3 x 3, stride 1, pad 1: tiles of 16 x 16 results of one filter, the tile of the input
// with its rim in shared memory. Grid: tiles across, tiles down, batch x filters.
extern "C" __global__ void conv_tiled_3x3(const float *x, const float *w, float *out,
                                          int channels, int height, int width, int filters)
{
    __shared__ float tile[18][18];
    int b = blockIdx.z / filters, f = blockIdx.z % filters;
    int tx = threadIdx.x, ty = threadIdx.y;
    int left = blockIdx.x * 16 - 1, top = blockIdx.y * 16 - 1;
    float sum = 0.0f;
    for (int k = 0; k < channels; k++) {
        const float *plane = x + (b * channels + k) * height * width;
        for (int e = ty * 16 + tx; e < 18 * 18; e += 256) {
            int y = top + e / 18, z = left + e % 18;
            tile[e / 18][e % 18] = y >= 0 && y < height && z >= 0 && z < width
                                       ? plane[y * width + z]
                                       : 0.0f;
        }
        __syncthreads();
        const float *own = w + (f * channels + k) * 9;
#pragma unroll
        for (int p = 0; p < 3; p++)
#pragma unroll
            for (int q = 0; q < 3; q++)
                sum += tile[ty + p][tx + q] * own[p * 3 + q];
        __syncthreads();
    }
    int row = top + 1 + ty, column = left + 1 + tx;
    if (row < height && column < width)
        out[((b * filters + f) * height + row) * width + column] = sum;
}

// As a product of [filters, channels size size] with the patches, which are gathered as
// tiles of it are loaded: a tile of 32 filters x 32 pixels by 16 x 16 threads.
extern "C" __global__ void __launch_bounds__(256)
    conv_implicit(const float *x, const float *w, float *out, conv c)
{
    __shared__ float wt[16][33], xt[16][33];
    int k = c.channels * c.size * c.size, pixels = c.rows * c.columns;
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int f0 = blockIdx.y * 32, p0 = blockIdx.x * 32;
    float sum[2][2] = {};
    for (int s = 0; s < k; s += 16) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int i = s + t % 16, f = f0 + t / 16 + 16 * h;
            wt[t % 16][t / 16 + 16 * h] = i < k && f < c.filters ? w[f * k + i] : 0.0f;
            int j = s + t / 32 + 8 * h, pixel = p0 + t % 32;
            float v = 0.0f;
            if (j < k && pixel < c.batch * pixels) {
                int channel = j / (c.size * c.size), p = j / c.size % c.size, q = j % c.size;
                int b = pixel / pixels, row = pixel % pixels / c.columns;
                int y = row * c.stride - c.pad + p;
                int z = pixel % c.columns * c.stride - c.pad + q;
                if (y >= 0 && y < c.height && z >= 0 && z < c.width)
                    v = x[((b * c.channels + channel) * c.height + y) * c.width + z];
            }
            xt[t / 32 + 8 * h][t % 32] = v;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
            for (int p = 0; p < 2; p++)
#pragma unroll
                for (int q = 0; q < 2; q++)
                    sum[p][q] += wt[i][ty + 16 * p] * xt[i][tx + 16 * q];
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int f = f0 + ty + 16 * p, pixel = p0 + tx + 16 * q;
            if (f < c.filters && pixel < c.batch * pixels)
                out[(pixel / pixels * c.filters + f) * pixels + pixel % pixels] = sum[p][q];
        }
}

// The patches as a matrix [channels size size, rows columns] of one image, for a product
// by a library.
extern "C" __global__ void im2col(const float *x, float *out, conv c)
{
    int pixels = c.rows * c.columns, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c.channels * pixels)
        return;
    int channel = i / pixels, row = i % pixels / c.columns, column = i % c.columns;
    out += channel * c.size * c.size * pixels + row * c.columns + column;
    for (int p = 0; p < c.size; p++)
        for (int q = 0; q < c.size; q++) {
            int y = row * c.stride - c.pad + p, z = column * c.stride - c.pad + q;
            *out = y >= 0 && y < c.height && z >= 0 && z < c.width
                       ? x[(channel * c.height + y) * c.width + z]
                       : 0.0f;
            out += pixels;
        }
}

// 1 x 1: a product with no gathering. A thread has four filters of one pixel.
extern "C" __global__ void conv_1x1(const float *x, const float *w, float *out, int channels,
                                    int filters, int pixels)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y * 4;
    if (pixel >= pixels)
        return;
    x += blockIdx.z * channels * pixels + pixel;
    float sum[4] = {};
    for (int k = 0; k < channels; k++) {
        float v = x[k * pixels];
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (f + j < filters)
                sum[j] += v * w[(f + j) * channels + k];
    }
    for (int j = 0; j < 4 && f + j < filters; j++)
        out[(blockIdx.z * filters + f + j) * pixels + pixel] = sum[j];
}

// A filter for each channel, 3 x 3.
extern "C" __global__ void depthwise_3x3(const float *x, const float *w, float *out, conv c)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y, plane = blockIdx.z;
    if (row >= c.rows || column >= c.columns)
        return;
    w += plane % c.channels * 9;
    x += plane * c.height * c.width;
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < 3; p++)
#pragma unroll
        for (int q = 0; q < 3; q++) {
            int y = row * c.stride - c.pad + p, z = column * c.stride - c.pad + q;
            if (y >= 0 && y < c.height && z >= 0 && z < c.width)
                sum += x[y * c.width + z] * w[3 * p + q];
        }
    out[(plane * c.rows + row) * c.columns + column] = sum;
}

// As backward passes have it: the gradient of the input, gathered.
extern "C" __global__ void conv_backward_input(const float *gradient, const float *w,
                                               float *out, conv c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c.batch * c.channels * c.height * c.width)
        return;
    int z = i % c.width, y = i / c.width % c.height;
    int k = i / (c.width * c.height) % c.channels, b = i / (c.width * c.height * c.channels);
    float sum = 0.0f;
    for (int p = 0; p < c.size; p++) {
        int row = y + c.pad - p;
        if (row < 0 || row % c.stride != 0 || row / c.stride >= c.rows)
            continue;
        for (int q = 0; q < c.size; q++) {
            int column = z + c.pad - q;
            if (column < 0 || column % c.stride != 0 || column / c.stride >= c.columns)
                continue;
            for (int f = 0; f < c.filters; f++)
                sum += gradient[((b * c.filters + f) * c.rows + row / c.stride) * c.columns +
                                column / c.stride] *
                       w[((f * c.channels + k) * c.size + p) * c.size + q];
        }
    }
    out[i] = sum;
}
