#include "ptx_references.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values moved and searched for, training, control flow, what PyTorch has of its own.
 */

#define FLOATS(i) ((float *)arg[i])
#define INTS(i) ((int32_t *)arg[i])
#define BYTES(i) ((int8_t *)arg[i])
#define INT(i) (*(const int32_t *)arg[i])
#define FLOAT(i) (*(const float *)arg[i])
/* x, out, rows, columns */
void ptx_transpose(void *const *arg)
{
    int rows = INT(2), columns = INT(3);
    for (int i = 0; i < rows * columns; i++)
        FLOATS(1)[i % columns * rows + i / columns] = FLOATS(0)[i];
}

/* token, table, out, words, d: of seven tokens */
void ptx_embedding(void *const *arg)
{
    int d = INT(4);
    for (int i = 0; i < 7 * d; i++) {
        int t = INTS(0)[i / d];
        FLOATS(2)[i] = t < 0 || t >= INT(3) ? 0 : FLOATS(1)[t * d + i % d];
    }
}

/* token, gradient, table, d: of seven tokens */
void ptx_embedding_backward(void *const *arg)
{
    int d = INT(3);
    for (int i = 0; i < 7 * d; i++)
        FLOATS(2)[INTS(0)[i / d] * d + i % d] += FLOATS(1)[i];
}

/* x, out, n: of three rows */
void ptx_argmax(void *const *arg)
{
    int n = INT(2);
    for (int r = 0; r < 3; r++) {
        INTS(1)[r] = 0;
        for (int i = 1; i < n; i++)
            if (FLOATS(0)[r * n + i] > FLOATS(0)[r * n + INTS(1)[r]])
                INTS(1)[r] = i;
    }
}

/* x, value, place, rows, n, k: each the largest that was not taken yet */
void ptx_top_k(void *const *arg)
{
    int n = INT(4), k = INT(5);
    for (int r = 0; r < INT(3); r++)
        for (int j = 0; j < k; j++) {
            int best = -1;
            for (int i = 0; i < n; i++) {
                int taken = 0;
                for (int e = 0; e < j; e++)
                    taken |= INTS(2)[r * k + e] == i;
                if (!taken &&
                    (best < 0 || FLOATS(0)[r * n + i] > FLOATS(0)[r * n + best]))
                    best = i;
            }
            INTS(2)[r * k + j] = best;
            FLOATS(1)[r * k + j] = FLOATS(0)[r * n + best];
        }
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Two blocks. */
void ptx_sort(void *const *arg)
{
    qsort(arg[0], 256, sizeof(float), by_size);
    qsort(FLOATS(0) + 256, 256, sizeof(float), by_size);
}

/* x, edge, out, edges, n */
void ptx_bucketise(void *const *arg)
{
    for (int i = 0; i < INT(4); i++) {
        INTS(2)[i] = 0;
        for (int e = 0; e < INT(3); e++)
            INTS(2)[i] += FLOATS(1)[e] < FLOATS(0)[i];
    }
}

/* x, out, channels, pixels: of two images */
void ptx_channels_last(void *const *arg)
{
    float *out = arg[1];
    int channels = INT(2), pixels = INT(3), per = channels * pixels;
    for (int i = 0; i < 2 * per; i++)
        out[i / per * per + i % pixels * channels + i % per / pixels] = FLOATS(0)[i];
}

/* a, b, out, rows, columns of a, of b */
void ptx_concatenate(void *const *arg)
{
    float *out = arg[2];
    for (int r = 0; r < INT(3); r++) {
        memcpy(out, FLOATS(0) + r * INT(4), sizeof *out * (size_t)INT(4));
        memcpy(out + INT(4), FLOATS(1) + r * INT(5), sizeof *out * (size_t)INT(5));
        out += INT(4) + INT(5);
    }
}

/* x, bins, n */
void ptx_histogram(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        INTS(1)[(uint8_t)BYTES(0)[i]]++;
}

/* x, total, n */
void ptx_sum_int(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        INTS(1)[0] += INTS(0)[i];
}

static uint32_t high(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

/* Salmon et al., Parallel random numbers: as easy as 1, 2, 3. */
static void philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        uint32_t d[4] = {high(0xcd9e8d57, c[2]) ^ c[1] ^ k0, 0xcd9e8d57 * c[2],
                         high(0xd2511f53, c[0]) ^ c[3] ^ k1, 0xd2511f53 * c[0]};
        memcpy(c, d, sizeof d);
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
}

/* x, out, mask, n, drop, seed */
void ptx_dropout(void *const *arg)
{
    for (int i = 0; i < INT(3); i++) {
        uint32_t c[4] = {(uint32_t)i / 4, 0, 0, 0};
        philox(c, (uint32_t)INT(5), 0);
        int keep = (float)c[i % 4] * 2.3283064e-10F >= FLOAT(4);
        FLOATS(1)[i] = keep ? FLOATS(0)[i] / (1 - FLOAT(4)) : 0;
        BYTES(2)[i] = (int8_t)keep;
    }
}

/* w, gradient, velocity, n, rate, momentum, decay */
void ptx_sgd(void *const *arg)
{
    float *out = arg[2];
    for (int i = 0; i < INT(3); i++) {
        out[i] = FLOAT(5) * out[i] + FLOATS(1)[i] + FLOAT(6) * FLOATS(0)[i];
        FLOATS(0)[i] -= FLOAT(4) * out[i];
    }
}

/* w, gradient, m, v, n, rate, b1, b2, eps, step */
void ptx_adam(void *const *arg)
{
    float *out = arg[0];
    double b1 = (double)FLOAT(6), b2 = (double)FLOAT(7);
    for (int i = 0; i < INT(4); i++) {
        double g = (double)FLOATS(1)[i];
        double m = b1 * (double)FLOATS(2)[i] + (1 - b1) * g;
        double v = b2 * (double)FLOATS(3)[i] + (1 - b2) * g * g;
        FLOATS(2)[i] = (float)m;
        FLOATS(3)[i] = (float)v;
        out[i] = (float)((double)out[i] -
                         (double)FLOAT(5) * m / (1 - pow(b1, INT(9))) /
                             (sqrt(v / (1 - pow(b2, INT(9)))) + (double)FLOAT(8)));
    }
}

/* p, label, gradient, n, scale: of three rows */
void ptx_cross_entropy_backward(void *const *arg)
{
    float *out = arg[2];
    int n = INT(3);
    for (int i = 0; i < 3 * n; i++)
        out[i] = (FLOATS(0)[i] - (i % n == INTS(1)[i / n] ? 1.0F : 0.0F)) * FLOAT(4);
}

void ptx_relu_backward(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(2)[i] = FLOATS(0)[i] > 0 ? FLOATS(1)[i] : 0;
}

/* x, gradient, out, planes, height, width */
void ptx_max_pool_backward(void *const *arg)
{
    int height = INT(4), width = INT(5), columns = width / 2,
        per = height / 2 * columns;
    for (int i = 0; i < INT(3) * per; i++) {
        int corner =
            (i / per * height + i % per / columns * 2) * width + i % columns * 2;
        int best = corner;
        for (int e = 1; e < 4; e++) {
            int at = corner + e / 2 * width + e % 2;
            if (FLOATS(0)[at] > FLOATS(0)[best])
                best = at;
        }
        FLOATS(2)[best] = FLOATS(1)[i];
    }
}

/* p, gradient, out, rows, n */
void ptx_softmax_backward(void *const *arg)
{
    int n = INT(4);
    for (int i = 0; i < INT(3) * n; i++) {
        double sum = 0;
        for (int j = i / n * n; j < i / n * n + n; j++)
            sum += (double)FLOATS(0)[j] * (double)FLOATS(1)[j];
        FLOATS(2)[i] = (float)((double)FLOATS(0)[i] * ((double)FLOATS(1)[i] - sum));
    }
}

static double polynomial(double x, int terms)
{
    double sum = 0;
    for (int i = 1; i <= terms; i++)
        sum += pow(x, i - 1) / i;
    return sum;
}

/* x, out, n, terms */
void ptx_polynomial(void *const *arg)
{
    for (int i = 0; i < INT(2); i++) {
        double x = (double)FLOATS(0)[i];
        FLOATS(1)[i] = (float)(polynomial(x, INT(3)) + polynomial(-x, 2 * INT(3)));
    }
}

/* out, depth: of 64 threads */
void ptx_fibonacci(void *const *arg)
{
    int f[32] = {0, 1};
    for (int i = 2; i < 32; i++)
        f[i] = f[i - 1] + f[i - 2];
    for (int i = 0; i < 64; i++)
        INTS(0)[i] = f[INT(1) + i % 2];
}

static double activation(double v, int kind)
{
    switch (kind) {
    case 0: return fmax(v, 0);
    case 1: return v / (1 + exp(-v));
    case 2: return 1 / (1 + exp(-v));
    case 3: return v > 0 ? v : 0.01 * v;
    case 4: return v > 0 ? v : exp(v) - 1;
    case 5: return fmin(fmax(v, 0), 6);
    case 6: return v * fmin(fmax(v + 3, 0), 6) / 6;
    case 7: return log(1 + exp(v));
    default: return v;
    }
}

/* x, out, n, kind */
void ptx_activation(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        FLOATS(1)[i] = (float)activation((double)FLOATS(0)[i], INT(3));
}

/* x, out, n; blocks are multiples of 8 threads */
void ptx_switch(void *const *arg)
{
    for (int i = 0; i < INT(2); i++) {
        double v = (double)FLOATS(0)[i];
        double all[] = {v + 1,  v * v * 3, sqrt(fabs(v)), 1 / (1 + v * v),
                        exp(v), sin(v),    v - floor(v),  -v};
        FLOATS(1)[i] = (float)all[i % 8];
    }
}

/* x, out, n, every: blocks of 128 */
void ptx_early_exit(void *const *arg)
{
    for (int i = 0; i < INT(2); i++) {
        if (i / 128 % INT(3) == 1 || i % 128 / 32 == 2 || i % 5 == 0)
            continue;
        float v = FLOATS(0)[i];
        for (int j = 0; j < i % 7; j++)
            v = v * 0.5F + 1;
        FLOATS(1)[i] = v;
    }
}

/* x, out, n */
void ptx_triangle(void *const *arg)
{
    int n = INT(2);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = i; j < n; j++)
            for (int k = 0; k <= j - i; k += 3)
                sum += (double)FLOATS(0)[j] * (k + 1);
        FLOATS(1)[i] = (float)sum;
    }
}

/* n, out: of 64 threads */
void ptx_shrinking(void *const *arg)
{
    uint64_t n = *(const uint64_t *)arg[0];
    for (uint64_t i = 0; i < 64; i++) {
        int steps = 0;
        for (int bit = 0; bit < 64; bit++)
            if ((n + i) >> bit)
                steps = bit + 1;
        for (double v = 1; v < (double)n; v *= 3)
            steps += 1000;
        INTS(1)[i] = steps;
    }
}

/* x, out, n, limit */
void ptx_pairs(void *const *arg)
{
    int n = INT(2);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n && ((i + j) % 3 == 0 || j - i <= INT(3)); j++)
            sum += (i + j) % 3 ? (double)FLOATS(0)[j] : 0;
        FLOATS(1)[i] = (float)sum;
    }
}

/* begin, column, value, x, y, rows */
void ptx_spmv(void *const *arg)
{
    for (int r = 0; r < INT(5); r++) {
        double sum = 0;
        for (int i = INTS(0)[r]; i < INTS(0)[r + 1]; i++)
            sum += (double)FLOATS(2)[i] * (double)FLOATS(3)[INTS(1)[i]];
        FLOATS(4)[r] = (float)sum;
    }
}

/* lock, total, x, n: of the first thread of each warp */
void ptx_spin_lock(void *const *arg)
{
    for (int i = 0; i < INT(3); i += 32)
        FLOATS(1)[0] += FLOATS(2)[i];
}

/* out, width, height, most */
void ptx_mandelbrot(void *const *arg)
{
    for (int p = 0; p < INT(1) * INT(2); p++) {
        float cx = (float)(p % INT(1)) * 3.0F / (float)INT(1) - 2;
        float cy = (float)(p / INT(1)) * 2.0F / (float)INT(2) - 1, x = 0, y = 0;
        int i = 0;
        for (; i < INT(3) && fmaf(x, x, y * y) < 4; i++) {
            float t = fmaf(x, x, -(y * y)) + cx;
            y = fmaf(2 * x, y, cy);
            x = t;
        }
        BYTES(0)[p] = (int8_t)i;
    }
}

/* x, out, n */
void ptx_count_positive(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        INTS(1)[0] += FLOATS(0)[i] > 0;
}

/* x, out, nx, ny, nz */
void ptx_laplace(void *const *arg)
{
    float *out = arg[1];
    int nx = INT(2), ny = INT(3), nz = INT(4);
    const float *x = arg[0];
    for (int i = 0; i < nx * ny * nz; i++) {
        int a = i % nx, b = i / nx % ny, c = i / (nx * ny);
        if (a && b && c && a < nx - 1 && b < ny - 1 && c < nz - 1)
            out[i] = x[i - 1] + x[i + 1] + x[i - nx] + x[i + nx] + x[i - nx * ny] +
                     x[i + nx * ny] - 6 * x[i];
    }
}

/* in, u, out, steps, d: of two sequences */
void ptx_recurrent(void *const *arg)
{
    int steps = INT(3), d = INT(4);
    for (int s = 0; s < 2 * steps; s++)
        for (int t = 0; t < d; t++) {
            double v = (double)FLOATS(0)[s * d + t];
            for (int i = 0; s % steps && i < d; i++)
                v += (double)FLOATS(1)[t * d + i] * (double)FLOATS(2)[(s - 1) * d + i];
            FLOATS(2)[s * d + t] = (float)tanh(v);
        }
}

/* x, out, s, n */
void ptx_add_scalar(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(1)[i] = FLOATS(0)[i] + FLOAT(2);
}

void ptx_mul_scalar(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(1)[i] = FLOATS(0)[i] * FLOAT(2);
}

void ptx_pow_scalar(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(1)[i] = (float)pow((double)FLOATS(0)[i], (double)FLOAT(2));
}

/* x, y, out, n */
void ptx_div(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(2)[i] = FLOATS(0)[i] / FLOATS(1)[i];
}

void ptx_pow(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(2)[i] = (float)pow((double)FLOATS(0)[i], (double)FLOATS(1)[i]);
}

/* n, eps, x, weight, bias, mean, scale, out: of three rows */
void ptx_torch_layer_norm(void *const *arg)
{
    float *out = arg[7];
    int n = INT(0);
    for (int r = 0; r < 3; r++) {
        double mean = 0, variance = 0;
        for (int i = 0; i < n; i++)
            mean += (double)FLOATS(2)[r * n + i] / n;
        for (int i = 0; i < n; i++)
            variance += pow((double)FLOATS(2)[r * n + i] - mean, 2) / n;
        double scale = 1 / sqrt(variance + (double)FLOAT(1));
        FLOATS(5)[r] = (float)mean;
        FLOATS(6)[r] = (float)scale;
        for (int i = 0; i < n; i++)
            out[r * n + i] = (float)(((double)FLOATS(2)[r * n + i] - mean) * scale *
                                         (double)FLOATS(3)[i] +
                                     (double)FLOATS(4)[i]);
    }
}

/* x, weight, bias, out, channels, pixels, eps: of two images in three groups */
void ptx_group_norm(void *const *arg)
{
    float *out = arg[3];
    int channels = INT(4), pixels = INT(5), n = channels / 3 * pixels;
    for (int g = 0; g < 6; g++) {
        double mean = 0, variance = 0;
        for (int i = g * n; i < g * n + n; i++)
            mean += (double)FLOATS(0)[i] / n;
        for (int i = g * n; i < g * n + n; i++)
            variance += pow((double)FLOATS(0)[i] - mean, 2) / n;
        for (int i = g * n; i < g * n + n; i++)
            out[i] = (float)(((double)FLOATS(0)[i] - mean) /
                                 sqrt(variance + (double)FLOAT(6)) *
                                 (double)FLOATS(1)[i / pixels % channels] +
                             (double)FLOATS(2)[i / pixels % channels]);
    }
}
