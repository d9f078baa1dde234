// Control flow that counting has to see through: calls, switches, early exits, loops whose
// ends stand in memory.

// A function that stays one.
__device__ __noinline__ float polynomial(float x, int terms)
{
    float sum = 0.0f, power = 1.0f;
    for (int i = 1; i <= terms; i++) {
        sum += power / i;
        power *= x;
    }
    return sum;
}
extern "C" __global__ void call_polynomial(const float *x, float *out, int n, int terms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = polynomial(x[i], terms) + polynomial(-x[i], 2 * terms);
}

// A function that calls itself; its depth depends on a parameter alone.
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void call_recursive(int *out, int depth)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = fibonacci(depth + (threadIdx.x & 1));
}

// One function of many for all threads: brx.idx with a uniform index.
extern "C" __global__ void activation(const float *x, float *out, int n, int kind)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    switch (kind) {
    case 0: v = fmaxf(v, 0.0f); break;
    case 1: v = v / (1.0f + __expf(-v)); break;
    case 2: v = 1.0f / (1.0f + __expf(-v)); break;
    case 3: v = v > 0.0f ? v : 0.01f * v; break;
    case 4: v = v > 0.0f ? v : __expf(v) - 1.0f; break;
    case 5: v = fminf(fmaxf(v, 0.0f), 6.0f); break;
    case 6: v = v * fminf(fmaxf(v + 3.0f, 0.0f), 6.0f) / 6.0f; break;
    case 7: v = __logf(1.0f + __expf(v)); break;
    }
    out[i] = v;
}

// The same by lanes: a warp goes eight ways.
extern "C" __global__ void switch_lanes(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    switch (threadIdx.x & 7) {
    case 0: v = v + 1.0f; break;
    case 1: v = v * v * 3.0f; break;
    case 2: v = sqrtf(fabsf(v)); break;
    case 3: v = 1.0f / (1.0f + v * v); break;
    case 4: v = __expf(v); break;
    case 5: v = __sinf(v); break;
    case 6: v = v - floorf(v); break;
    case 7: v = -v; break;
    }
    out[i] = v;
}

// Whole blocks leave at once, then warps, then single threads.
extern "C" __global__ void early_exit(const float *x, float *out, int n, int every)
{
    if (blockIdx.x % every == 1)
        return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((threadIdx.x / 32) % 3 == 2)
        return;
    if (i >= n || i % 5 == 0)
        return;
    float v = x[i];
    for (int j = 0; j < i % 7; j++)
        v = v * 0.5f + 1.0f;
    out[i] = v;
}

// Loops in loops, each with bounds that grow with the thread: a triangle.
extern "C" __global__ void triangle(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int j = i; j < n; j++)
        for (int k = 0; k <= j - i; k += 3)
            sum += x[j] * (k + 1);
    out[i] = sum;
}

// Steps that halve and that multiply, and a bound that is unsigned and of 64 bits.
extern "C" __global__ void shrinking(unsigned long long n, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    for (unsigned long long v = n + i; v > 0; v >>= 1)
        steps++;
    for (unsigned long long v = 1; v < n; v *= 3)
        steps += 1000;
    out[i] = steps;
}

// break and continue in a loop over pairs.
extern "C" __global__ void pairs(const float *x, float *out, int n, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int j = 0; j < n; j++) {
        if ((i + j) % 3 == 0)
            continue;
        if (j - i > limit)
            break;
        sum += x[j];
    }
    if (i < n)
        out[i] = sum;
}

// Rows of a sparse matrix: how long they are stands in memory.
extern "C" __global__ void spmv_csr(const int *begin, const int *column, const float *value,
                                    const float *x, float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int i = begin[r]; i < begin[r + 1]; i++)
        sum += value[i] * x[column[i]];
    y[r] = sum;
}

// A lock that threads of a block take in turn.
extern "C" __global__ void spin_lock(int *lock, float *total, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = i >= n || threadIdx.x % 32 != 0;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile float *)total += x[i];
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Iterated until it leaves: the trips of every thread depend on floats computed from its
// place alone.
extern "C" __global__ void mandelbrot(unsigned char *out, int width, int height, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float cx = px * 3.0f / width - 2.0f, cy = py * 2.0f / height - 1.0f, x = 0.0f, y = 0.0f;
    int i = 0;
    for (; i < most && x * x + y * y < 4.0f; i++) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
    }
    out[py * width + px] = (unsigned char)i;
}

// Votes and matches of a warp.
extern "C" __global__ void count_positive(const float *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned ballot = __ballot_sync(0xffffffffu, i < n && x[i] > 0.0f);
    if (threadIdx.x % 32 == 0 && ballot)
        atomicAdd(out, __popc(ballot));
}

// Blocks in three dimensions.
extern "C" __global__ void laplace_3d(const float *x, float *out, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1)
        return;
    int at = (k * ny + j) * nx + i;
    out[at] = x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx] + x[at - nx * ny] +
              x[at + nx * ny] - 6.0f * x[at];
}

// The state of a recurrence from step to step, a block a sequence: h = tanh(W x + U h).
extern "C" __global__ void recurrent(const float *in, const float *u, float *out, int steps,
                                     int d)
{
    extern __shared__ float h[];
    int t = threadIdx.x;
    h[t] = 0.0f;
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        float v = in[(blockIdx.x * steps + s) * d + t];
        for (int i = 0; i < d; i++)
            v += u[t * d + i] * h[i];
        __syncthreads();
        h[t] = tanhf(v);
        out[(blockIdx.x * steps + s) * d + t] = h[t];
        __syncthreads();
    }
}
