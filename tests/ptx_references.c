#include "ptx_references.h"

#include <math.h>

/* Sums are doubles here, loops are plain: nothing is shared with the kernels. */

#define FLOATS(i) ((float *)arg[i])
#define INT(i) (*(const int32_t *)arg[i])
#define FLOAT(i) (*(const float *)arg[i])

void ptx_add(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(2)[i] = FLOATS(0)[i] + FLOATS(1)[i];
}

void ptx_mul(void *const *arg)
{
    for (int i = 0; i < INT(3); i++)
        FLOATS(2)[i] = FLOATS(0)[i] * FLOATS(1)[i];
}

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}

static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* x, out, n */
static void map(void *const *arg, double (*f)(double))
{
    for (int i = 0; i < INT(2); i++)
        FLOATS(1)[i] = (float)f((double)FLOATS(0)[i]);
}

void ptx_relu(void *const *arg)
{
    map(arg, relu);
}

void ptx_gelu(void *const *arg)
{
    map(arg, gelu);
}

void ptx_gelu_tanh(void *const *arg)
{
    map(arg, gelu_tanh);
}

void ptx_tanh(void *const *arg)
{
    map(arg, tanh);
}

void ptx_scale_shift(void *const *arg)
{
    for (int i = 0; i < INT(4); i++)
        FLOATS(1)[i] = FLOAT(2) * FLOATS(0)[i] + FLOAT(3);
}

void ptx_silu(void *const *arg)
{
    for (int i = 0; i < INT(1); i++) {
        double x = (double)FLOATS(0)[i];
        FLOATS(0)[i] = (float)(x / (1 + exp(-x)));
    }
}

void ptx_bias_relu(void *const *arg)
{
    int channels = INT(3), pixels = INT(4), n = INT(5);
    for (int i = 0; i < n; i++) {
        double v = (double)FLOATS(0)[i] + (double)FLOATS(1)[i / pixels % channels];
        FLOATS(2)[i] = (float)relu(v);
    }
}

/* Of the one shape that ptx_kernels.c has: [7, 5, 13]. */
void ptx_add_broadcast(void *const *arg)
{
    float *out = arg[2];
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 13; k++)
                out[(i * 5 + j) * 13 + k] =
                    FLOATS(0)[j * 13 + k] + FLOATS(1)[i * 13 + k];
}

void ptx_axpy(void *const *arg)
{
    double a = *(const double *)arg[0], *y = arg[2];
    for (int64_t i = 0; i < *(const int64_t *)arg[3]; i++)
        y[i] += a * ((const double *)arg[1])[i];
}

static void product(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int r = 0; r < m; r++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int i = 0; i < k; i++)
                sum += (double)a[r * k + i] * (double)b[i * n + j];
            c[r * n + j] = (float)sum;
        }
}

/* a, b, c, m, n, k */
void ptx_gemm(void *const *arg)
{
    product(FLOATS(2), FLOATS(0), FLOATS(1), INT(3), INT(4), INT(5));
}

/* Three products, as the table has it. */
void ptx_gemm_batched(void *const *arg)
{
    for (int b = 0; b < 3; b++)
        product(FLOATS(2) + b * *(const int64_t *)arg[8],
                FLOATS(0) + b * *(const int64_t *)arg[6],
                FLOATS(1) + b * *(const int64_t *)arg[7], INT(3), INT(4), INT(5));
}

void ptx_gemv(void *const *arg)
{
    product(FLOATS(2), FLOATS(0), FLOATS(1), INT(3), 1, INT(4));
}

static double sum_of(const float *x, int n, int step)
{
    double sum = 0;
    for (int i = 0; i < n; i += step)
        sum += (double)x[i];
    return sum;
}

/* x, part, n: of blocks of 256 */
void ptx_sum_256(void *const *arg)
{
    float *out = arg[1];
    int n = INT(2);
    for (int b = 0; b * 256 < n; b++)
        out[b] = (float)sum_of(FLOATS(0) + 256 * b,
                               n - 256 * b < 256 ? n - 256 * b : 256, 1);
}

/* By two blocks of 96 threads, 192 apart. */
void ptx_sum_strided(void *const *arg)
{
    double part[2] = {0, 0};
    for (int i = 0; i < INT(2); i++)
        part[i / 96 % 2] += (double)FLOATS(0)[i];
    FLOATS(1)[0] = (float)part[0];
    FLOATS(1)[1] = (float)part[1];
}

void ptx_sum(void *const *arg)
{
    FLOATS(1)[0] += (float)sum_of(FLOATS(0), INT(2), 1);
}

void ptx_max(void *const *arg)
{
    for (int i = 0; i < INT(2); i++)
        if (FLOATS(0)[i] > FLOATS(1)[0])
            FLOATS(1)[0] = FLOATS(0)[i];
}

void ptx_sum_columns(void *const *arg)
{
    int rows = INT(2), columns = INT(3);
    for (int c = 0; c < columns; c++)
        FLOATS(1)[c] = (float)sum_of(FLOATS(0) + c, rows * columns - c, columns);
}

/* Of three rows. */
void ptx_prefix_sum(void *const *arg)
{
    int n = INT(2);
    for (int i = 0; i < 3 * n; i++)
        FLOATS(1)[i] = (float)sum_of(FLOATS(0) + i / n * n, i % n + 1, 1);
}

/* log(sum(exp(x))) */
static double log_sum(const float *x, int n)
{
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, (double)x[i]);
    for (int i = 0; i < n; i++)
        sum += exp((double)x[i] - most);
    return log(sum) + most;
}

static void softmax(float *out, const float *x, int rows, int n)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++)
            out[r * n + i] = (float)exp((double)x[r * n + i] - log_sum(x + r * n, n));
}

/* x, out, rows, n */
void ptx_softmax(void *const *arg)
{
    softmax(FLOATS(1), FLOATS(0), INT(2), INT(3));
}

/* x, out, n: of three rows */
void ptx_softmax_rows(void *const *arg)
{
    softmax(FLOATS(1), FLOATS(0), 3, INT(2));
}

void ptx_cross_entropy(void *const *arg)
{
    float *out = arg[2];
    int n = INT(4);
    const int32_t *label = arg[1];
    for (int r = 0; r < INT(3); r++)
        out[r] = label[r] < 0 ? 0
                              : (float)(log_sum(FLOATS(0) + r * n, n) -
                                        (double)FLOATS(0)[r * n + label[r]]);
}

/* Of values that lie `step` apart. */
static void moments(const float *x, int n, double *mean, double *variance)
{
    *mean = sum_of(x, n, 1) / n;
    *variance = 0;
    for (int i = 0; i < n; i++)
        *variance += ((double)x[i] - *mean) * ((double)x[i] - *mean) / n;
}

static void layer_norm(void *const *arg, int rows, int n, double eps)
{
    float *out = arg[3];
    for (int r = 0; r < rows; r++) {
        double mean, variance;
        moments(FLOATS(0) + r * n, n, &mean, &variance);
        for (int i = 0; i < n; i++)
            out[r * n + i] = (float)(((double)FLOATS(0)[r * n + i] - mean) /
                                         sqrt(variance + eps) * (double)FLOATS(1)[i] +
                                     (double)FLOATS(2)[i]);
    }
}

/* x, weight, bias, out, n, eps: of three rows */
void ptx_layer_norm(void *const *arg)
{
    layer_norm(arg, 3, INT(4), (double)FLOAT(5));
}

/* x, weight, bias, out, rows, n, eps */
void ptx_layer_norm_rows(void *const *arg)
{
    layer_norm(arg, INT(4), INT(5), (double)FLOAT(6));
}

/* x, weight, out, n, eps: of three rows */
void ptx_rms_norm(void *const *arg)
{
    float *out = arg[2];
    int n = INT(3);
    for (int r = 0; r < 3; r++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += pow((double)FLOATS(0)[r * n + i], 2);
        for (int i = 0; i < n; i++)
            out[r * n + i] =
                (float)((double)FLOATS(0)[r * n + i] * (double)FLOATS(1)[i] /
                        sqrt(sum / n + (double)FLOAT(4)));
    }
}

/* x, mean, variance, weight, bias, out, channels, pixels, eps: of two images */
void ptx_batch_norm(void *const *arg)
{
    int channels = INT(6), pixels = INT(7);
    for (int i = 0; i < 2 * channels * pixels; i++) {
        int c = i / pixels % channels;
        double v = ((double)FLOATS(0)[i] - (double)FLOATS(1)[c]) /
                   sqrt((double)FLOATS(2)[c] + (double)FLOAT(8));
        FLOATS(5)[i] = (float)(v * (double)FLOATS(3)[c] + (double)FLOATS(4)[c]);
    }
}

/* x, mean, variance, batch, channels, pixels */
void ptx_batch_norm_statistics(void *const *arg)
{
    int batch = INT(3), channels = INT(4), pixels = INT(5), n = batch * pixels;
    for (int c = 0; c < channels; c++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < batch * channels * pixels; i++)
            if (i / pixels % channels == c) {
                sum += (double)FLOATS(0)[i] / n;
                squares += pow((double)FLOATS(0)[i], 2) / n;
            }
        FLOATS(1)[c] = (float)sum;
        FLOATS(2)[c] = (float)(squares - sum * sum);
    }
}
