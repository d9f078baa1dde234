/* Windows over up to three axes; fewer are preceded by axes of size 1. One work-item a
 * result. */

/* window: sizes of x, of y, of the window, strides, padding in front, dilations. */
typedef struct window {
    int x[3], y[3], extent[3], stride[3], pad[3], dilation[3];
} window;

/* Runs `work` for every tap t of result (z, y, x) that lies inside, with the position p
 * in the operand. */
#define TAPS(w, i, work)                                                               \
    do {                                                                               \
        int ox = (i) % (w).y[2], oy = (i) / (w).y[2] % (w).y[1];                       \
        int oz = (i) / (w).y[2] / (w).y[1] % (w).y[0];                                 \
        for (int kz = 0; kz < (w).extent[0]; kz++) {                                   \
            int pz = oz * (w).stride[0] - (w).pad[0] + kz * (w).dilation[0];            \
            if (pz < 0 || pz >= (w).x[0])                                                \
                continue;                                                              \
            for (int ky = 0; ky < (w).extent[1]; ky++) {                               \
                int py = oy * (w).stride[1] - (w).pad[1] + ky * (w).dilation[1];        \
                if (py < 0 || py >= (w).x[1])                                            \
                    continue;                                                          \
                for (int kx = 0; kx < (w).extent[2]; kx++) {                           \
                    int px = ox * (w).stride[2] - (w).pad[2] + kx * (w).dilation[2];    \
                    if (px >= 0 && px < (w).x[2]) {                                      \
                        int t = (kz * (w).extent[1] + ky) * (w).extent[2] + kx;        \
                        int p = (pz * (w).x[1] + py) * (w).x[2] + px;                     \
                        work;                                                          \
                    }                                                                  \
                }                                                                      \
            }                                                                          \
        }                                                                              \
    } while (0)

static int product(const int *v)
{
    return v[0] * v[1] * v[2];
}

__kernel void k_maxpool(__global const T *x, __global T *y, uint n, __constant window *g)
{
    int i = get_global_id(0);
    window w = *g;
    T most = -INFINITY;

    if (i >= (int)n)
        return;
    x += i / product(w.y) * product(w.x);
    TAPS(w, i, most = max(most, x[p]); (void)t);
    y[i] = most;
}

__kernel void k_avgpool(__global const T *x, __global T *y, uint n, __constant window *g)
{
    int i = get_global_id(0), taps = 0;
    window w = *g;
    T sum = 0;

    if (i >= (int)n)
        return;
    x += i / product(w.y) * product(w.x);
    TAPS(w, i, sum += x[p]; taps++; (void)t);
    y[i] = sum / (T)taps;
}

/* groups of ins channels into outs. */
__kernel void k_conv(__global const T *x, __global const T *filter,
                     __global const T *bias, __global T *out, uint n,
                     __constant window *g, int groups, int ins, int outs, int has_bias)
{
    int i = get_global_id(0);
    window w = *g;
    int size_x = product(w.x), taps = product(w.extent), channel, group;
    T sum;

    if (i >= (int)n)
        return;
    channel = i / product(w.y) % (groups * outs);
    group = i / product(w.y) / outs;
    sum = has_bias ? bias[channel] : 0;
    x += group * ins * size_x; /* groups go on from image to image */
    filter += channel * ins * taps;
    if (ins == 1)
        TAPS(w, i, sum += x[p] * filter[t]);
    else
        TAPS(w, i, for (int c = 0; c < ins; c++) sum +=
                   x[c * size_x + p] * filter[c * taps + t]);
    out[i] = sum;
}

/* Gathers what the transposed convolution would scatter. */
__kernel void k_conv_transpose(__global const T *x, __global const T *filter,
                               __global const T *bias, __global T *out, uint n,
                               __constant window *g, int groups, int ins, int outs,
                               int has_bias)
{
    int i = get_global_id(0);
    window w = *g;
    int size_x = product(w.x), taps = product(w.extent);
    int at[3], channel, group;
    T sum;

    if (i >= (int)n)
        return;
    at[2] = i % w.y[2];
    at[1] = i / w.y[2] % w.y[1];
    at[0] = i / w.y[2] / w.y[1] % w.y[0];
    channel = i / product(w.y) % (groups * outs);
    group = i / product(w.y) / outs;
    sum = has_bias ? bias[channel] : 0;
    x += group * ins * size_x;
    filter += (channel / outs * ins * outs + channel % outs) * taps;
    for (int t = 0; t < taps; t++) {
        int k[3] = {t / w.extent[2] / w.extent[1], t / w.extent[2] % w.extent[1],
                    t % w.extent[2]};
        int p = 0;
        bool inside = true;

        for (int d = 0; d < 3; d++) {
            int from = at[d] + w.pad[d] - k[d] * w.dilation[d];

            inside = inside && from >= 0 && from % w.stride[d] == 0 &&
                     from / w.stride[d] < w.x[d];
            p = p * w.x[d] + from / w.stride[d];
        }
        for (int c = 0; inside && c < ins; c++)
            sum += x[c * size_x + p] * filter[c * outs * taps + t];
    }
    out[i] = sum;
}

/* What every result reads: a column of channels x taps; results side by side. Work-items:
 * some that share the results of a line, other lines, channels x taps of all images. */
__kernel void k_columns(__global const T *x, __global T *columns, uint n,
                        __constant window *g, uint first)
{
    window w = *g;
    int row = get_global_id(1), column = get_global_id(2);
    int tap = column % product(w.extent), lanes = get_global_size(0);
    int z = row / w.y[1] * w.stride[0] - w.pad[0] +
            tap / w.extent[2] / w.extent[1] * w.dilation[0];
    int y = row % w.y[1] * w.stride[1] - w.pad[1] +
            tap / w.extent[2] % w.extent[1] * w.dilation[1];
    int p = tap % w.extent[2] * w.dilation[2] - w.pad[2];
    bool inside = z >= 0 && z < w.x[0] && y >= 0 && y < w.x[1];

    if (row >= w.y[0] * w.y[1] || column >= (int)n)
        return;
    x += first + column / product(w.extent) * product(w.x) +
         (inside ? (z * w.x[1] + y) * w.x[2] : 0);
    columns += (column * w.y[0] * w.y[1] + row) * w.y[2];
    for (int i = get_global_id(0); i < w.y[2]; i += lanes) {
        int at = p + i * w.stride[2];

        columns[i] = inside && at >= 0 && at < w.x[2] ? x[at] : 0;
    }
}

/* Along one axis away from the centre of an element. */
static float weight_of(int mode, float away)
{
    float t = fabs(away);

    if (mode == 1)
        return max(0.0f, 1 - t);
    return t <= 1  ? 1.25f * t * t * t - 2.25f * t * t + 1
           : t < 2 ? -0.75f * (t * t * t - 5 * t * t + 8 * t - 4)
                   : 0;
}

/* The three last axes; i counts through all before them too. mode: as in the spec. */
__kernel void k_resize(__global const T *x, __global T *y, uint n, __constant int *g,
                       int mode)
{
    uint i = get_global_id(0);
    int at[3], base[3], taps[3];
    float centre[3], sum = 0;

    if (i >= n)
        return;
    at[2] = i % g[5];
    at[1] = i / g[5] % g[4];
    at[0] = i / g[5] / g[4] % g[3];
    x += i / g[5] / g[4] / g[3] * (g[0] * g[1] * g[2]);
    for (int d = 0; d < 3; d++) {
        centre[d] = (at[d] + 0.5f) * g[d] / g[3 + d];
        taps[d] = mode == 0 || g[d] == g[3 + d] ? 1 : 4;
        if (taps[d] == 1)
            base[d] = min((int)floor(centre[d]), g[d] - 1);
        else
            base[d] = (int)floor(centre[d] - 0.5f) - 1;
    }
    for (int t = 0; t < taps[0] * taps[1] * taps[2]; t++) {
        int step[3] = {t / taps[2] / taps[1], t / taps[2] % taps[1], t % taps[2]};
        int p = 0;
        float weight = 1;

        for (int d = 0; d < 3; d++) {
            int from = base[d] + step[d];

            if (taps[d] > 1)
                weight *= weight_of(mode, centre[d] - 0.5f - from);
            p = p * g[d] + clamp(from, 0, g[d] - 1);
        }
        sum += weight * x[p];
    }
    y[i] = sum;
}
