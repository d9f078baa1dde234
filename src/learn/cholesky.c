/* Cholesky factors, solutions and inverses of symmetric positive definite matrices. */
#include "learn/cholesky.h"

#include <math.h>
#include <string.h>

/* Partial sums of a dot product, and rows whose products with one row are taken at
 * once. */
enum { LANES = 4, ROWS = 4 };

double ft__dot(const double *a, const double *b, size_t n)
{
    double sum[LANES] = {0}, rest = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            sum[j] += a[i + (size_t)j] * b[i + (size_t)j];
    for (; i < n; i++)
        rest += a[i] * b[i];
    return rest + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* The same of one row with ROWS rows that lie `stride` apart, to the same bits. */
static void dots(double out[ROWS], const double *a, const double *b, size_t stride,
                 size_t n)
{
    double sum[ROWS][LANES] = {{0}};
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < LANES; j++)
                sum[r][j] += a[i + (size_t)j] * b[(size_t)r * stride + i + (size_t)j];
    for (int r = 0; r < ROWS; r++) {
        double rest = 0;

        for (size_t k = i; k < n; k++)
            rest += a[k] * b[(size_t)r * stride + k];
        out[r] = rest + ((sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]));
    }
}

/* Columns 0 .. end - 1 of ROWS rows of L from row i on. */
static void factor_rows(double *a, size_t n, size_t i, size_t end)
{
    for (size_t j = 0; j < end; j++) {
        double sum[ROWS];

        dots(sum, a + j * n, a + i * n, n, j);
        for (size_t r = 0; r < ROWS; r++)
            a[(i + r) * n + j] = (a[(i + r) * n + j] - sum[r]) / a[j * n + j];
    }
}

/* Columns `begin` .. i of row i. */
static bool factor_row(double *a, size_t n, size_t i, size_t begin)
{
    double *row = a + i * n, square;

    for (size_t j = begin; j < i; j++)
        row[j] = (row[j] - ft__dot(row, a + j * n, j)) / a[j * n + j];
    square = row[i] - ft__dot(row, row, i);
    row[i] = sqrt(square);
    return square > 0 && isfinite(square);
}

bool ft__cholesky(double *a, size_t n)
{
    bool ok = true;

    for (size_t i = 0; ok && i < n; i += ROWS) {
        const size_t rows = n - i < ROWS ? n - i : ROWS;

        if (rows == ROWS)
            factor_rows(a, n, i, i);
        for (size_t r = 0; ok && r < rows; r++)
            ok = factor_row(a, n, i + r, rows == ROWS ? i : 0);
    }
    return ok;
}

void ft__cholesky_solve(double *x, const double *l, const double *b, size_t n)
{
    memmove(x, b, n * sizeof(*x));
    for (size_t i = 0; i < n; i++)
        x[i] = (x[i] - ft__dot(l + i * n, x, i)) / l[i * n + i];
    for (size_t i = n; i-- > 0;) {
        x[i] /= l[i * n + i];
        for (size_t j = 0; j < i; j++)
            x[j] -= l[i * n + j] * x[i];
    }
}

/* Row j of t: column j of L^-1, so that all sums run along rows. */
static void invert_factor(double *t, const double *l, size_t n)
{
    memset(t, 0, n * n * sizeof(*t));
    for (size_t j = 0; j < n; j += ROWS)
        for (size_t k = j; k < n; k++) {
            const size_t rows = n - j < ROWS ? n - j : ROWS;
            double sum[ROWS];

            if (rows == ROWS)
                dots(sum, l + k * n + j, t + j * n + j, n, k - j);
            for (size_t r = 0; r < rows && j + r <= k; r++) {
                if (rows < ROWS)
                    sum[r] = ft__dot(l + k * n + j, t + (j + r) * n + j, k - j);
                t[(j + r) * n + k] = ((double)(k == j + r) - sum[r]) / l[k * n + k];
            }
        }
}

void ft__cholesky_invert(double *out, const double *l, double *scratch, size_t n)
{
    const double *t = scratch;

    invert_factor(scratch, l, n);
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;

        for (; j + ROWS <= i + 1; j += ROWS)
            dots(out + i * n + j, t + i * n + i, t + j * n + i, n, n - i);
        for (; j <= i; j++)
            out[i * n + j] = ft__dot(t + i * n + i, t + j * n + i, n - i);
    }
}
