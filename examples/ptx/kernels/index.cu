// Values moved, looked up and searched for.

extern "C" __global__ void transpose_naive(const float *x, float *out, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns)
        out[c * rows + r] = x[r * columns + c];
}

// Tiles of 32 x 32 through shared memory by 32 x 8 threads; no two rows in one bank.
extern "C" __global__ void transpose_tiled(const float *x, float *out, int rows, int columns)
{
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (r + i < rows && c < columns)
            tile[threadIdx.y + i][threadIdx.x] = x[(r + i) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (r + i < columns && c < rows)
            out[(r + i) * rows + c] = tile[threadIdx.x][threadIdx.y + i];
}

// The same with all of a column in one bank.
extern "C" __global__ void transpose_conflicts(const float *x, float *out, int rows,
                                               int columns)
{
    __shared__ float tile[32][32];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    if (r < rows && c < columns)
        tile[threadIdx.y][threadIdx.x] = x[r * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    if (r < columns && c < rows)
        out[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}

// A row of the table for each token; tokens out of range give zeros.
extern "C" __global__ void embedding(const int *token, const float *table, float *out,
                                     int words, int d)
{
    int t = token[blockIdx.x];
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        out[blockIdx.x * d + i] = t >= 0 && t < words ? table[t * d + i] : 0.0f;
}

// And its gradient: rows that occur twice meet in atomics.
extern "C" __global__ void embedding_backward(const int *token, const float *gradient,
                                              float *table, int d)
{
    for (int i = threadIdx.x; i < d; i += blockDim.x)
        atomicAdd(&table[token[blockIdx.x] * d + i], gradient[blockIdx.x * d + i]);
}

// Where the largest of each row stands, the first of equals: a block a row.
extern "C" __global__ void argmax(const float *x, int *out, int n)
{
    __shared__ float value[256];
    __shared__ int place[256];
    int t = threadIdx.x, at = 0;
    float most = -INFINITY;
    for (int i = t; i < n; i += blockDim.x) {
        float v = x[blockIdx.x * n + i];
        if (v > most) {
            most = v;
            at = i;
        }
    }
    value[t] = most;
    place[t] = at;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d && (value[t + d] > value[t] ||
                      (value[t + d] == value[t] && place[t + d] < place[t]))) {
            value[t] = value[t + d];
            place[t] = place[t + d];
        }
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = place[0];
}

// The k largest of each row in order, k up to 16, a thread a row: insertion into a list
// whose moves depend on the data.
extern "C" __global__ void top_k(const float *x, float *value, int *place, int rows, int n,
                                 int k)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float best[16];
    int at[16], have = 0;
    for (int i = 0; i < n; i++) {
        float v = x[r * n + i];
        if (have == k && !(v > best[k - 1]))
            continue;
        int j = have < k ? have++ : k - 1;
        while (j > 0 && v > best[j - 1]) {
            best[j] = best[j - 1];
            at[j] = at[j - 1];
            j--;
        }
        best[j] = v;
        at[j] = i;
    }
    for (int j = 0; j < k; j++) {
        value[r * k + j] = best[j];
        place[r * k + j] = at[j];
    }
}

// A block sorts 256 values by a bitonic network: what is compared depends on the thread
// alone, what is swapped on the data.
extern "C" __global__ void sort_bitonic(float *x)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int other = t ^ j;
            if (other > t) {
                float a = s[t], b = s[other];
                bool up = (t & k) == 0;
                s[t] = up ? fminf(a, b) : fmaxf(a, b);
                s[other] = up ? fmaxf(a, b) : fminf(a, b);
            }
        }
    __syncthreads();
    x[blockIdx.x * 256 + t] = s[t];
}

// Where each value belongs among sorted edges: a loop of log2(edges) steps, every branch
// of which depends on the data.
extern "C" __global__ void bucketise(const float *x, const float *edge, int *out, int edges,
                                     int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int low = 0, high = edges;
    while (low < high) {
        int mid = (low + high) / 2;
        if (edge[mid] < x[i])
            low = mid + 1;
        else
            high = mid;
    }
    out[i] = low;
}

// [batch, channels, pixels] to [batch, pixels, channels], as tensor cores want it.
extern "C" __global__ void channels_last(const float *x, float *out, int channels, int pixels)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (p < pixels)
        out[(blockIdx.z * (long long)pixels + p) * channels + c] =
            x[(blockIdx.z * (long long)channels + c) * pixels + p];
}

// Columns of a joined to columns of b.
extern "C" __global__ void concatenate(const float *a, const float *b, float *out, int rows,
                                       int of_a, int of_b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, columns = of_a + of_b;
    if (i >= rows * columns)
        return;
    int r = i / columns, c = i % columns;
    out[i] = c < of_a ? a[r * of_a + c] : b[r * of_b + c - of_a];
}
