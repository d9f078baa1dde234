// One value in, one value out: the shapes such kernels are written in.

// A thread an element, a bounds check: what everyone writes first.
extern "C" __global__ void add(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}

extern "C" __global__ void relu(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = fmaxf(x[i], 0.0f);
}

// A scalar beside the tensor: y = a x + b.
extern "C" __global__ void scale_shift(const float *x, float *out, float a, float b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + b;
}

// The grid strides over the tensor: a loop whose trips differ by one.
extern "C" __global__ void mul_strided(const float *a, const float *b, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a[i] * b[i];
}

// Four at a time, the rest by the first threads of the grid.
extern "C" __global__ void add_by_four(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, fours = n / 4;
    if (i < fours) {
        float4 x = reinterpret_cast<const float4 *>(a)[i];
        float4 y = reinterpret_cast<const float4 *>(b)[i];
        reinterpret_cast<float4 *>(out)[i] =
            make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    if (i < n - 4 * fours)
        out[4 * fours + i] = a[4 * fours + i] + b[4 * fours + i];
}

extern "C" __global__ void gelu(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

// The other formula, with the fast exponential.
extern "C" __global__ void gelu_tanh(const float *x, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i], u = 0.79788456f * (v + 0.044715f * v * v * v);
        out[i] = v - v / (__expf(2.0f * u) + 1.0f);
    }
}

extern "C" __global__ void tanh_exact(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tanhf(x[i]);
}

extern "C" __global__ void silu_in_place(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] / (1.0f + expf(-x[i]));
}

// A bias for each channel of [batch, channels, pixels]: division and remainder.
extern "C" __global__ void bias_relu(const float *x, const float *bias, float *out,
                                     int channels, int pixels, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fmaxf(x[i] + bias[i / pixels % channels], 0.0f);
}

// Shapes as a broadcast has them, at most four dimensions: a loop over dimensions.
struct shape {
    int dims, size[4], a[4], b[4]; // strides of a and b, 0 where they are broadcast
};
extern "C" __global__ void add_broadcast(const float *a, const float *b, float *out,
                                         shape s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int rest = i, at_a = 0, at_b = 0;
    for (int d = s.dims - 1; d >= 0; d--) {
        int k = rest % s.size[d];
        rest /= s.size[d];
        at_a += k * s.a[d];
        at_b += k * s.b[d];
    }
    out[i] = a[at_a] + b[at_b];
}

// Doubles, and integers of 64 bits as index.
extern "C" __global__ void axpy_double(double a, const double *x, double *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
