// Pooling of x [planes, height, width].

// Windows of any size, as many as `rows` x `columns`; what is outside does not count.
extern "C" __global__ void max_pool(const float *x, float *out, int planes, int height,
                                    int width, int rows, int columns, int size, int stride,
                                    int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * rows * columns)
        return;
    int column = i % columns, row = i / columns % rows, plane = i / (columns * rows);
    int top = max(row * stride - pad, 0), bottom = min(row * stride - pad + size, height);
    int left = max(column * stride - pad, 0), right = min(column * stride - pad + size, width);
    float most = -INFINITY;
    for (int y = top; y < bottom; y++)
        for (int z = left; z < right; z++)
            most = fmaxf(most, x[(plane * height + y) * width + z]);
    out[i] = most;
}

// 2 x 2, stride 2, no padding: nothing to loop over.
extern "C" __global__ void max_pool_2x2(const float *x, float *out, int planes, int height,
                                        int width)
{
    int rows = height / 2, columns = width / 2;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    x += (blockIdx.z * height + 2 * row) * width + 2 * column;
    out[(blockIdx.z * rows + row) * columns + column] =
        fmaxf(fmaxf(x[0], x[1]), fmaxf(x[width], x[width + 1]));
}

extern "C" __global__ void average_pool(const float *x, float *out, int planes, int height,
                                        int width, int rows, int columns, int size,
                                        int stride, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * rows * columns)
        return;
    int column = i % columns, row = i / columns % rows, plane = i / (columns * rows);
    float sum = 0.0f;
    int n = 0;
    for (int p = 0; p < size; p++)
        for (int q = 0; q < size; q++) {
            int y = row * stride - pad + p, z = column * stride - pad + q;
            if (y >= 0 && y < height && z >= 0 && z < width) {
                sum += x[(plane * height + y) * width + z];
                n++;
            }
        }
    out[i] = sum / n;
}

// The mean of a plane: a warp each.
extern "C" __global__ void global_average_pool(const float *x, float *out, int planes,
                                               int pixels)
{
    int plane = blockIdx.x * blockDim.y + threadIdx.y;
    if (plane >= planes)
        return;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < pixels; i += 32)
        sum += x[plane * pixels + i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0)
        out[plane] = sum / pixels;
}

// Twice as many pixels each way, between the nearest four.
extern "C" __global__ void upsample_bilinear(const float *x, float *out, int planes,
                                             int height, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, rows = 2 * height, columns = 2 * width;
    if (i >= planes * rows * columns)
        return;
    int column = i % columns, row = i / columns % rows;
    x += i / (columns * rows) * height * width;
    float y = fmaxf(0.5f * row - 0.25f, 0.0f), z = fmaxf(0.5f * column - 0.25f, 0.0f);
    int y0 = (int)y, z0 = (int)z, y1 = min(y0 + 1, height - 1), z1 = min(z0 + 1, width - 1);
    float fy = y - y0, fz = z - z0;
    out[i] = (1 - fy) * ((1 - fz) * x[y0 * width + z0] + fz * x[y0 * width + z1]) +
             fy * ((1 - fz) * x[y1 * width + z0] + fz * x[y1 * width + z1]);
}
