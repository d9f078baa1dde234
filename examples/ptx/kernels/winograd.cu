// 3 x 3 convolutions by F(2 x 2, 3 x 3) of Winograd: tiles of 4 x 4, 16 products of
// matrices between the transforms. Stride 1, pad 1, even height and width.

// G g G^T of every filter: w [filters, channels, 3, 3] to u [16, filters, channels].
extern "C" __global__ void winograd_weight(const float *w, float *u, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float t[4][3];
#pragma unroll
    for (int q = 0; q < 3; q++) {
        float a = w[9 * i + q], b = w[9 * i + 3 + q], c = w[9 * i + 6 + q];
        t[0][q] = a;
        t[1][q] = 0.5f * (a + b + c);
        t[2][q] = 0.5f * (a - b + c);
        t[3][q] = c;
    }
#pragma unroll
    for (int p = 0; p < 4; p++) {
        u[(4 * p + 0) * n + i] = t[p][0];
        u[(4 * p + 1) * n + i] = 0.5f * (t[p][0] + t[p][1] + t[p][2]);
        u[(4 * p + 2) * n + i] = 0.5f * (t[p][0] - t[p][1] + t[p][2]);
        u[(4 * p + 3) * n + i] = t[p][2];
    }
}

// B^T d B of every tile: x [channels, height, width] to v [16, channels, tiles].
extern "C" __global__ void winograd_input(const float *x, float *v, int channels, int height,
                                          int width)
{
    int across = width / 2, tiles = across * (height / 2);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * tiles)
        return;
    int channel = i / tiles, top = i % tiles / across * 2 - 1, left = i % across * 2 - 1;
    float d[4][4], t[4][4];
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int y = top + p, z = left + q;
            d[p][q] = y >= 0 && y < height && z >= 0 && z < width
                          ? x[(channel * height + y) * width + z]
                          : 0.0f;
        }
#pragma unroll
    for (int q = 0; q < 4; q++) {
        t[0][q] = d[0][q] - d[2][q];
        t[1][q] = d[1][q] + d[2][q];
        t[2][q] = d[2][q] - d[1][q];
        t[3][q] = d[1][q] - d[3][q];
    }
    int n = channels * tiles;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        v[(4 * p + 0) * n + i] = t[p][0] - t[p][2];
        v[(4 * p + 1) * n + i] = t[p][1] + t[p][2];
        v[(4 * p + 2) * n + i] = t[p][2] - t[p][1];
        v[(4 * p + 3) * n + i] = t[p][1] - t[p][3];
    }
}

// A^T m A of every tile: m [16, filters, tiles] to out [filters, height, width].
extern "C" __global__ void winograd_output(const float *m, float *out, int filters,
                                           int height, int width)
{
    int across = width / 2, tiles = across * (height / 2), n = filters * tiles;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float t[2][4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        float a = m[q * n + i], b = m[(4 + q) * n + i], c = m[(8 + q) * n + i],
              d = m[(12 + q) * n + i];
        t[0][q] = a + b + c;
        t[1][q] = b - c - d;
    }
    out += (i / tiles * height + i % tiles / across * 2) * width + i % across * 2;
#pragma unroll
    for (int p = 0; p < 2; p++) {
        out[p * width] = t[p][0] + t[p][1] + t[p][2];
        out[p * width + 1] = t[p][1] - t[p][2] - t[p][3];
    }
}
