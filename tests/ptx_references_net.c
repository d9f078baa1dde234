#include "ptx_references.h"

#include <math.h>
#include <string.h>

/* Convolutions, pooling, attention. */

#define FLOATS(i) ((float *)arg[i])
#define INT(i) (*(const int32_t *)arg[i])
#define FLOAT(i) (*(const float *)arg[i])

typedef struct conv {
    int batch, channels, height, width, filters, size, stride, pad, rows, columns;
} conv;

/* x at a pixel that may lie outside, where it is 0. */
static double pixel(const float *plane, int height, int width, int y, int z)
{
    return y < 0 || z < 0 || y >= height || z >= width ? 0
                                                       : (double)plane[y * width + z];
}

/* Of one filter at one place, over the channels from x and w on. */
static double window(const float *x, const float *w, const conv *c, int channels,
                     int row, int column)
{
    double sum = 0;
    for (int k = 0; k < channels; k++)
        for (int e = 0; e < c->size * c->size; e++)
            sum += pixel(x + k * c->height * c->width, c->height, c->width,
                         row * c->stride - c->pad + e / c->size,
                         column * c->stride - c->pad + e % c->size) *
                   (double)w[k * c->size * c->size + e];
    return sum;
}

static void convolve(float *out, const float *x, const float *w, const conv *c)
{
    int i = 0;
    for (int b = 0; b < c->batch; b++)
        for (int f = 0; f < c->filters; f++)
            for (int row = 0; row < c->rows; row++)
                for (int column = 0; column < c->columns; column++)
                    out[i++] = (float)window(x + b * c->channels * c->height * c->width,
                                             w + f * c->channels * c->size * c->size, c,
                                             c->channels, row, column);
}

/* x, w, out, conv */
void ptx_conv(void *const *arg)
{
    convolve(FLOATS(2), FLOATS(0), FLOATS(1), arg[3]);
}

/* x, w, out, channels, height, width, filters: of two images */
void ptx_conv_3x3(void *const *arg)
{
    conv c = {2, INT(3), INT(4), INT(5), INT(6), 3, 1, 1, INT(4), INT(5)};
    convolve(FLOATS(2), FLOATS(0), FLOATS(1), &c);
}

/* x, w, out, channels, filters, pixels: of two images */
void ptx_conv_1x1(void *const *arg)
{
    conv c = {2, INT(3), 1, INT(5), INT(4), 1, 1, 0, 1, INT(5)};
    convolve(FLOATS(2), FLOATS(0), FLOATS(1), &c);
}

void ptx_depthwise(void *const *arg)
{
    float *out = arg[2];
    const conv *c = arg[3];
    int i = 0;
    for (int plane = 0; plane < c->batch * c->channels; plane++)
        for (int row = 0; row < c->rows; row++)
            for (int column = 0; column < c->columns; column++)
                out[i++] = (float)window(FLOATS(0) + plane * c->height * c->width,
                                         FLOATS(1) + plane % c->channels * 9, c, 1, row,
                                         column);
}

void ptx_im2col(void *const *arg)
{
    float *out = arg[1];
    const conv *c = arg[2];
    int i = 0;
    for (int k = 0; k < c->channels * c->size * c->size; k++)
        for (int row = 0; row < c->rows; row++)
            for (int column = 0; column < c->columns; column++) {
                const float *x =
                    FLOATS(0) + k / (c->size * c->size) * c->height * c->width;
                int p = k / c->size % c->size, q = k % c->size;
                out[i++] =
                    (float)pixel(x, c->height, c->width, row * c->stride - c->pad + p,
                                 column * c->stride - c->pad + q);
            }
}

/* Scattered, as the definition has it, where the kernel gathers. */
void ptx_conv_backward_input(void *const *arg)
{
    float *out = arg[2];
    const conv *c = arg[3];
    int per = c->rows * c->columns, patch = c->size * c->size;
    memset(arg[2], 0,
           sizeof(float) * (size_t)(c->batch * c->channels * c->height * c->width));
    for (int i = 0; i < c->batch * c->filters * per; i++)
        for (int k = 0; k < c->channels * patch; k++) {
            int y = i % per / c->columns * c->stride - c->pad + k / c->size % c->size;
            int z = i % c->columns * c->stride - c->pad + k % c->size;
            int b = i / per / c->filters, f = i / per % c->filters;
            if (y >= 0 && z >= 0 && y < c->height && z < c->width)
                out[((b * c->channels + k / patch) * c->height + y) * c->width + z] +=
                    FLOATS(0)[i] * FLOATS(1)[f * c->channels * patch + k];
        }
}

/* left [rows, k] middle [k, k] left^T into out [rows, rows] */
static void both_sides(double *out, const double *left, const double *middle, int rows,
                       int k)
{
    for (int i = 0; i < rows * rows; i++) {
        out[i] = 0;
        for (int e = 0; e < k * k; e++)
            out[i] +=
                left[i / rows * k + e / k] * middle[e] * left[i % rows * k + e % k];
    }
}

void ptx_winograd_weight(void *const *arg)
{
    static const double g[12] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
    int n = INT(2);
    for (int i = 0; i < n; i++) {
        double w[9], u[16];
        for (int e = 0; e < 9; e++)
            w[e] = (double)FLOATS(0)[9 * i + e];
        both_sides(u, g, w, 4, 3);
        for (int e = 0; e < 16; e++)
            FLOATS(1)[e * n + i] = (float)u[e];
    }
}

void ptx_winograd_input(void *const *arg)
{
    static const double b[16] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
    int channels = INT(2), height = INT(3), width = INT(4);
    int across = width / 2, tiles = across * (height / 2);
    for (int i = 0; i < channels * tiles; i++) {
        double d[16], v[16];
        for (int e = 0; e < 16; e++)
            d[e] =
                pixel(FLOATS(0) + i / tiles * height * width, height, width,
                      i % tiles / across * 2 - 1 + e / 4, i % across * 2 - 1 + e % 4);
        both_sides(v, b, d, 4, 4);
        for (int e = 0; e < 16; e++)
            FLOATS(1)[e * channels * tiles + i] = (float)v[e];
    }
}

void ptx_winograd_output(void *const *arg)
{
    float *out = arg[1];
    static const double a[8] = {1, 1, 1, 0, 0, 1, -1, -1};
    int filters = INT(2), height = INT(3), width = INT(4);
    int across = width / 2, tiles = across * (height / 2);
    for (int i = 0; i < filters * tiles; i++) {
        double m[16], o[4];
        for (int e = 0; e < 16; e++)
            m[e] = (double)FLOATS(0)[e * filters * tiles + i];
        both_sides(o, a, m, 2, 4);
        for (int e = 0; e < 4; e++)
            out[(i / tiles * height + i % tiles / across * 2 + e / 2) * width +
                i % across * 2 + e % 2] = (float)o[e];
    }
}

/* x, out, planes, height, width, rows, columns, size, stride, pad */
static void pool(void *const *arg, int average)
{
    int height = INT(3), width = INT(4), columns = INT(6), per = INT(5) * columns;
    for (int i = 0; i < INT(2) * per; i++) {
        double most = -INFINITY, sum = 0;
        int n = 0;
        for (int e = 0; e < INT(7) * INT(7); e++) {
            int y = i % per / columns * INT(8) - INT(9) + e / INT(7);
            int z = i % columns * INT(8) - INT(9) + e % INT(7);
            if (y < 0 || z < 0 || y >= height || z >= width)
                continue;
            double v = (double)FLOATS(0)[(i / per * height + y) * width + z];
            most = fmax(most, v);
            sum += v;
            n++;
        }
        FLOATS(1)[i] = (float)(average ? sum / n : most);
    }
}

void ptx_max_pool(void *const *arg)
{
    pool(arg, 0);
}

void ptx_average_pool(void *const *arg)
{
    pool(arg, 1);
}

/* x, out, planes, height, width */
void ptx_max_pool_2x2(void *const *arg)
{
    int32_t rows = INT(3) / 2, columns = INT(4) / 2, size = 2, stride = 2, pad = 0;
    void *all[] = {arg[0], arg[1],   arg[2], arg[3],  arg[4],
                   &rows,  &columns, &size,  &stride, &pad};
    pool(all, 0);
}

void ptx_global_average_pool(void *const *arg)
{
    for (int p = 0; p < INT(2); p++) {
        double sum = 0;
        for (int i = 0; i < INT(3); i++)
            sum += (double)FLOATS(0)[p * INT(3) + i];
        FLOATS(1)[p] = (float)(sum / INT(3));
    }
}

/* As align_corners=False: pixel i of the result lies at (i + 0.5) / 2 - 0.5. */
void ptx_upsample(void *const *arg)
{
    int height = INT(3), width = INT(4), rows = 2 * height, columns = 2 * width;
    for (int i = 0; i < INT(2) * rows * columns; i++) {
        const float *x = FLOATS(0) + i / (rows * columns) * height * width;
        double y = fmax(0, (i / columns % rows + 0.5) / 2 - 0.5);
        double z = fmax(0, (i % columns + 0.5) / 2 - 0.5), sum = 0;
        for (int p = 0; p < height; p++)
            for (int q = 0; q < width; q++) {
                double fy = fmin(y, height - 1), fz = fmin(z, width - 1);
                sum += (double)x[p * width + q] * fmax(0, 1 - fabs(fy - p)) *
                       fmax(0, 1 - fabs(fz - q));
            }
        FLOATS(1)[i] = (float)sum;
    }
}

static double dot(const float *a, const float *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* One query against n keys. */
static void attend(float *out, const float *q, const float *k, const float *v, int n,
                   int d, double scale)
{
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++)
        most = fmax(most, dot(q, k + j * d, d) * scale);
    for (int j = 0; j < n; j++)
        sum += exp(dot(q, k + j * d, d) * scale - most);
    for (int e = 0; e < d; e++) {
        double r = 0;
        for (int j = 0; j < n; j++)
            r += exp(dot(q, k + j * d, d) * scale - most) * (double)v[j * d + e];
        out[e] = (float)(r / sum);
    }
}

static void attention(void *const *arg, int n, int d, double scale, int causal)
{
    for (int i = 0; i < 2 * n; i++) {
        int head = i / n * n * d;
        attend(FLOATS(3) + i * d, FLOATS(0) + i * d, FLOATS(1) + head, FLOATS(2) + head,
               causal ? i % n + 1 : n, d, scale);
    }
}

/* q, k, v, out, n, d, scale, causal: of two heads */
void ptx_attention(void *const *arg)
{
    attention(arg, INT(4), INT(5), (double)FLOAT(6), INT(7));
}

/* q, k, v, out, n, scale, causal: of two heads, d = 64 */
void ptx_attention_64(void *const *arg)
{
    attention(arg, INT(4), 64, (double)FLOAT(5), INT(6));
}

/* q, k, v, length, out, most keys, scale: of three heads, d = 64 */
void ptx_attention_decode(void *const *arg)
{
    for (int h = 0; h < 3; h++)
        attend(FLOATS(4) + h * 64, FLOATS(0) + h * 64, FLOATS(1) + h * INT(5) * 64,
               FLOATS(2) + h * INT(5) * 64, ((const int32_t *)arg[3])[h], 64,
               (double)FLOAT(6));
}

/* x, position, heads, d, base: of five tokens */
void ptx_rotary(void *const *arg)
{
    int heads = INT(2), d = INT(3);
    for (int t = 0; t < 5; t++)
        for (int i = 0; i < heads * (d / 2); i++) {
            float *x = FLOATS(0) + (t * heads + i / (d / 2)) * d + i % (d / 2);
            double angle = ((const int32_t *)arg[1])[t] *
                           pow((double)FLOAT(4), -2.0 * (i % (d / 2)) / d);
            double a = (double)x[0], b = (double)x[d / 2];
            x[0] = (float)(a * cos(angle) - b * sin(angle));
            x[d / 2] = (float)(b * cos(angle) + a * sin(angle));
        }
}
