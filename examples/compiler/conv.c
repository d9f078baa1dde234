/* A small convolution, to see what compilers make of it: an image (3 x 3, 16 to 16
 * channels) or a time series (64 taps, 8 channels).
 *
 *   conv image|series [PASSES]
 *
 * Prints a checksum, so that nothing can be left out, and the time of a pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { H = 96, W = 96, C = 16, K = 3 };
enum { LENGTH = 1 << 14, LANES = 8, TAPS = 64 };

static float image[C][H + K - 1][W + K - 1], weight[C][C][K][K], out[C][H][W];
static float series[LANES][LENGTH + TAPS], tap[LANES][TAPS], filtered[LANES][LENGTH];

static float next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * 0x1p-24f - 0.5f;
}

static void fill(float *v, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        v[i] = next(&seed);
}

static void convolve_image(void)
{
    memset(out, 0, sizeof(out));
    for (int o = 0; o < C; o++)
        for (int c = 0; c < C; c++)
            for (int ky = 0; ky < K; ky++)
                for (int kx = 0; kx < K; kx++)
                    for (int y = 0; y < H; y++)
                        for (int x = 0; x < W; x++)
                            out[o][y][x] +=
                                weight[o][c][ky][kx] * image[c][y + ky][x + kx];
}

static void convolve_series(void)
{
    for (int l = 0; l < LANES; l++)
        for (int t = 0; t < LENGTH; t++) {
            float sum = 0;

            for (int k = 0; k < TAPS; k++)
                sum += tap[l][k] * series[l][t + k];
            filtered[l][t] = sum;
        }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int is_image = argc > 1 && strcmp(argv[1], "image") == 0;
    int passes = argc > 2 ? atoi(argv[2]) : 10;
    double sum = 0, start_s, took_s;

    if (argc < 2 || (!is_image && strcmp(argv[1], "series") != 0) || passes < 1) {
        fprintf(stderr, "usage: conv image|series [PASSES]\n");
        return 2;
    }
    fill(&image[0][0][0], sizeof(image) / sizeof(float), 1);
    fill(&weight[0][0][0][0], sizeof(weight) / sizeof(float), 2);
    fill(&series[0][0], sizeof(series) / sizeof(float), 3);
    fill(&tap[0][0], sizeof(tap) / sizeof(float), 4);
    start_s = now();
    for (int i = 0; i < passes; i++) {
        if (is_image)
            convolve_image();
        else
            convolve_series();
    }
    took_s = (now() - start_s) / passes;
    for (size_t i = 0; i < sizeof(out) / sizeof(float); i++)
        sum += (&out[0][0][0])[i];
    for (size_t i = 0; i < sizeof(filtered) / sizeof(float); i++)
        sum += (&filtered[0][0])[i];
    printf("checksum %.3f\npass %.6f ms\n", sum, 1e3 * took_s);
    return 0;
}
