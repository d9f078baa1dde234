// softmax(Q K^T / sqrt(d)) V of heads [n, d].

// A thread a query: scores twice, nothing stored. Grid: queries, heads.
extern "C" __global__ void attention_naive(const float *q, const float *k, const float *v,
                                           float *out, int n, int d, float scale, int causal)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long head = (long long)blockIdx.y * n * d;
    q += head + i * d;
    k += head;
    v += head;
    out += head + i * d;
    int last = causal ? i + 1 : n;
    float most = -INFINITY, sum = 0.0f;
    for (int j = 0; j < last; j++) {
        float s = 0.0f;
        for (int e = 0; e < d; e++)
            s += q[e] * k[j * d + e];
        most = fmaxf(most, s * scale);
    }
    for (int e = 0; e < d; e++)
        out[e] = 0.0f;
    for (int j = 0; j < last; j++) {
        float s = 0.0f;
        for (int e = 0; e < d; e++)
            s += q[e] * k[j * d + e];
        s = __expf(s * scale - most);
        sum += s;
        for (int e = 0; e < d; e++)
            out[e] += s * v[j * d + e];
    }
    for (int e = 0; e < d; e++)
        out[e] /= sum;
}

// Keys and values in tiles of 32 through shared memory, the softmax corrected from tile to
// tile (FlashAttention); d = 64, a warp has eight queries. Grid: queries / 32, heads.
extern "C" __global__ void __launch_bounds__(128)
    attention_flash(const float *q, const float *k, const float *v, float *out, int n,
                    float scale, int causal)
{
    constexpr int d = 64, tile = 32, rows = 8;
    __shared__ float qs[tile][d], ks[tile][d + 1], vs[tile][d];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * tile;
    long long head = (long long)blockIdx.y * n * d;
    q += head;
    k += head;
    v += head;
    out += head;
    for (int e = threadIdx.x; e < tile * d; e += 128)
        qs[e / d][e % d] = first + e / d < n ? q[(first + e / d) * d + e % d] * scale : 0.0f;
    float most[rows], sum[rows], result[rows][2];
#pragma unroll
    for (int r = 0; r < rows; r++) {
        most[r] = -INFINITY;
        sum[r] = result[r][0] = result[r][1] = 0.0f;
    }
    int end = causal ? min(n, first + tile) : n;
    for (int t = 0; t < end; t += tile) {
        __syncthreads();
        for (int e = threadIdx.x; e < tile * d; e += 128) {
            bool inside = t + e / d < n;
            ks[e / d][e % d] = inside ? k[(t + e / d) * d + e % d] : 0.0f;
            vs[e / d][e % d] = inside ? v[(t + e / d) * d + e % d] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < rows; r++) {
            int row = first + warp * rows + r;
            float s = 0.0f;
#pragma unroll 16
            for (int e = 0; e < d; e++)
                s += qs[warp * rows + r][e] * ks[lane][e];
            if (t + lane >= n || (causal && t + lane > row))
                s = -INFINITY;
            float m = s;
            for (int o = 16; o > 0; o /= 2)
                m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
            m = fmaxf(m, most[r]);
            float old = __expf(most[r] - m), p = __expf(s - m), all = p;
            for (int o = 16; o > 0; o /= 2)
                all += __shfl_xor_sync(0xffffffffu, all, o);
            sum[r] = sum[r] * old + all;
            most[r] = m;
            float a = result[r][0] * old, b = result[r][1] * old;
#pragma unroll 8
            for (int j = 0; j < tile; j++) {
                float w = __shfl_sync(0xffffffffu, p, j);
                a += w * vs[j][lane];
                b += w * vs[j][lane + 32];
            }
            result[r][0] = a;
            result[r][1] = b;
        }
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
        int row = first + warp * rows + r;
        if (row < n) {
            out[row * d + lane] = result[r][0] / sum[r];
            out[row * d + lane + 32] = result[r][1] / sum[r];
        }
    }
}

// One new token against a cache, as in decoding: a block a head, d = 64, caches of
// different lengths. Dynamic shared memory: 4 bytes a key.
extern "C" __global__ void __launch_bounds__(128)
    attention_decode(const float *q, const float *k, const float *v, const int *length,
                     float *out, int most_keys, float scale)
{
    constexpr int d = 64;
    extern __shared__ float score[];
    __shared__ float part[4], from[2][d];
    int n = length[blockIdx.x], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    q += blockIdx.x * d;
    k += (long long)blockIdx.x * most_keys * d;
    v += (long long)blockIdx.x * most_keys * d;
    float most = -INFINITY, sum = 0.0f;
    for (int j = warp; j < n; j += 4) {
        float s = q[lane] * k[j * d + lane] + q[lane + 32] * k[j * d + lane + 32];
        for (int o = 16; o > 0; o /= 2)
            s += __shfl_xor_sync(0xffffffffu, s, o);
        if (lane == 0)
            score[j] = s * scale;
        most = fmaxf(most, s * scale);
    }
    if (lane == 0)
        part[warp] = most;
    __syncthreads();
    most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    for (int j = lane; j < n; j += 32)
        sum += __expf(score[j] - most);
    for (int o = 16; o > 0; o /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    float value = 0.0f;
    int e = threadIdx.x % d, half = threadIdx.x / d;
    for (int j = half; j < n; j += 2)
        value += __expf(score[j] - most) * v[j * d + e];
    from[half][e] = value;
    __syncthreads();
    if (half == 0)
        out[blockIdx.x * d + e] = (from[0][e] + from[1][e]) / sum;
}

// Positions turned into angles, in place: x [n, heads, d], pairs d / 2 apart.
extern "C" __global__ void rotary(float *x, const int *position, int heads, int d, float base)
{
    int half = d / 2, i = threadIdx.x;
    if (i >= half)
        return;
    x += (blockIdx.x * heads + blockIdx.y) * d;
    float angle = position[blockIdx.x] * powf(base, -2.0f * i / d), s, c;
    sincosf(angle, &s, &c);
    float a = x[i], b = x[i + half];
    x[i] = a * c - b * s;
    x[i + half] = b * c + a * s;
}
