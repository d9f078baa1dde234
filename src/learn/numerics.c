/* Numerical methods: factors, solutions and inverses of symmetric positive definite
 * matrices (Cholesky); a function with its gradient and a starting point in, a local
 * minimum out (L-BFGS). */
#include "learn/numerics.h"

#include <math.h>
#include <stdlib.h>
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

enum { MEMORY = 8, HALVINGS = 12 };
/* Of the slope along a step, the share that has to be gained at least (Armijo). */
static const double worth_it = 1e-4;
/* What a step gains at least, of the value, or that was the last one. */
static const double progress = 1e-5;

/* The last steps and how the gradient changed on them, the newest first. */
struct walk {
    size_t n;
    double *x, *g; /* where it stands */
    double *next_x, *next_g, *way;
    double *step[MEMORY], *turn[MEMORY];
    uint32_t known;
};

static void add(double *to, double factor, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += factor * v[i];
}

/* The two loops of Nocedal: w->way = - (inverse Hessian, about) g. */
static void choose_way(struct walk *w)
{
    double alpha[MEMORY], scale = 1;

    memcpy(w->way, w->g, w->n * sizeof(double));
    for (uint32_t k = 0; k < w->known; k++) {
        alpha[k] =
            ft__dot(w->step[k], w->way, w->n) / ft__dot(w->step[k], w->turn[k], w->n);
        add(w->way, -alpha[k], w->turn[k], w->n);
    }
    if (w->known)
        scale = ft__dot(w->step[0], w->turn[0], w->n) /
                ft__dot(w->turn[0], w->turn[0], w->n);
    for (size_t i = 0; i < w->n; i++)
        w->way[i] *= -scale;
    for (uint32_t k = w->known; k-- > 0;) {
        const double beta =
            ft__dot(w->turn[k], w->way, w->n) / ft__dot(w->step[k], w->turn[k], w->n);

        add(w->way, -alpha[k] - beta, w->step[k], w->n);
    }
}

static void shorten(double *way, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(way[i]));
    for (size_t i = 0; most > 1 && i < n; i++)
        way[i] /= most;
}

/* Forget the oldest step for the one just made, if the curvature along it is positive.
 */
static void remember(struct walk *w)
{
    double *step = w->step[MEMORY - 1], *turn = w->turn[MEMORY - 1];

    for (size_t i = 0; i < w->n; i++) {
        step[i] = w->next_x[i] - w->x[i];
        turn[i] = w->next_g[i] - w->g[i];
    }
    if (!(ft__dot(step, turn, w->n) > 0))
        return;
    memmove(w->step + 1, w->step, (MEMORY - 1) * sizeof(*w->step));
    memmove(w->turn + 1, w->turn, (MEMORY - 1) * sizeof(*w->turn));
    w->step[0] = step;
    w->turn[0] = turn;
    w->known += w->known < MEMORY;
}

/* One step; false: there is nothing more to be gained. */
static int go(struct walk *w, double *value, ft__slope f, void *with)
{
    double slope, far = 1, next = INFINITY, before = *value;
    double *was;

    choose_way(w);
    shorten(w->way, w->n);
    slope = ft__dot(w->way, w->g, w->n);
    if (!(slope < 0))
        return 0;
    for (int i = 0; i < HALVINGS && !(next <= before + worth_it * far * slope); i++) {
        far = i ? far / 2 : 1;
        memcpy(w->next_x, w->x, w->n * sizeof(double));
        add(w->next_x, far, w->way, w->n);
        next = f(with, w->next_x, w->next_g);
    }
    if (!(next < before))
        return 0;
    remember(w);
    was = w->x;
    w->x = w->next_x;
    w->next_x = was;
    was = w->g;
    w->g = w->next_g;
    w->next_g = was;
    *value = next;
    return before - next > progress * fabs(next);
}

ft_status ft__minimise(double *least, double *x, size_t n, uint32_t steps, ft__slope f,
                       void *with, ft_error *err)
{
    double *room = calloc((5 + 2 * MEMORY) * n + 1, sizeof(*room));
    struct walk w = {.n = n};

    if (!room)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to minimise by %zu numbers", n);
    w.x = room;
    w.g = room + n;
    w.next_x = room + 2 * n;
    w.next_g = room + 3 * n;
    w.way = room + 4 * n;
    for (size_t k = 0; k < MEMORY; k++) {
        w.step[k] = room + (5 + 2 * k) * n;
        w.turn[k] = room + (6 + 2 * k) * n;
    }
    memcpy(w.x, x, n * sizeof(*x));
    *least = f(with, w.x, w.g);
    for (uint32_t i = 0; i < steps && isfinite(*least) && go(&w, least, f, with); i++)
        ;
    memcpy(x, w.x, n * sizeof(*x));
    free(room);
    return FT_OK;
}
