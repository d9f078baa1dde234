/* A Gaussian process over points of a space: observed points in; mean and standard
 * deviation of each objective at another point out. */
#include "explore/search/process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/decay.h"
#include "learn/numerics.h"

/* Parameters that have a length of their own; with more of them all share one. */
enum { MOST_LENGTHS = 12, STEPS = 60 };
/* Normal priors on the logarithms of rates and of noise. */
static const double rate_width = 1, noise_centre = -10, noise_width = 2.5;
static const double first_step = 0.8, last_step = 0.15;

static bool is_category(const ft_parameter *p)
{
    return p->type == FT_PARAM_CATEGORICAL;
}

static double apart(const ft_parameter *p, float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) != isnan(b);
    return is_category(p) ? a != b : (double)a - (double)b;
}

/* Matern's of order 5/2. */
static double matern(double square)
{
    const double r = sqrt(5 * square);

    return (1 + r + r * r / 3) * ft__decay(r);
}

/* Squares of differences, each parameter for itself, of all pairs of rows: `dims`
 * triangles of n (n + 1) / 2. */
static void fill_squares(double *out, const ft_space *s, const float *x, size_t n)
{
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) {
                const double d = apart(&s->param[k], x[i * s->n + k], x[j * s->n + k]);

                *out++ = d * d;
            }
}

/* The lower triangle of the kernel with noise on its diagonal. */
static void fill_kernel(ft__process *p, const double *squares)
{
    const size_t n = p->n, cells = n * (n + 1) / 2;
    double *sum = p->room;

    memset(sum, 0, cells * sizeof(*sum));
    for (size_t k = 0; k < p->dims; k++) {
        const double rate = p->rate[k] * p->rate[k];
        const double *of = squares + k * cells;

        for (size_t c = 0; c < cells; c++)
            sum[c] += rate * of[c];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            p->kernel[i * n + j] = matern(*sum++) + (i == j ? p->noise : 0);
}

static ft_status make_room(ft__process *p, const ft_space *s, size_t n, size_t m,
                           ft_error *err)
{
    if (p->alpha && p->n == n)
        return FT_OK;
    ft__arena_free(&p->arena);
    p->n = n;
    p->dims = s->n;
    p->m = m;
    p->x = ft__arena_need(&p->arena, n * s->n, sizeof(*p->x));
    p->inverse = ft__arena_need(&p->arena, n * n, sizeof(*p->inverse));
    p->alpha = ft__arena_need(&p->arena, m * n, sizeof(*p->alpha));
    p->kernel = ft__arena_need(&p->arena, n * n, sizeof(*p->kernel));
    p->room = ft__arena_need(&p->arena, n * n, sizeof(*p->room));
    if (p->arena.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a process of %zu points", n);
    return FT_OK;
}

/* - log p(y), the amplitude of each objective being its likeliest; INFINITY: none. */
static double unlikely(ft__process *p, const double *squares, const double *y,
                       size_t stride)
{
    const size_t n = p->n;
    double sum = 0;

    fill_kernel(p, squares);
    if (!ft__cholesky(p->kernel, n))
        return INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += (double)p->m * log(p->kernel[i * n + i]);
    for (size_t k = 0; k < p->m; k++) {
        const double *of = y + k * stride;

        ft__cholesky_solve(p->alpha + k * n, p->kernel, of, n);
        p->amplitude[k] = fmax(1e-12, ft__dot(p->alpha + k * n, of, n) / (double)n);
        sum += 0.5 * (double)n * log(p->amplitude[k]);
    }
    return sum;
}

static size_t lengths(const ft__process *p)
{
    return p->dims <= MOST_LENGTHS ? p->dims : 1;
}

static double rate_centre(const ft__process *p)
{
    return -0.5 * log((double)p->dims);
}

/* theta: the logarithms of rates and of noise. */
static double at(ft__process *p, const double *theta, const double *squares,
                 const double *y, size_t stride)
{
    const size_t own = lengths(p);
    double z = (theta[own] - noise_centre) / noise_width, sum = z * z / 2;

    for (size_t k = 0; k < p->dims; k++)
        p->rate[k] = exp(theta[own == 1 ? 0 : k]);
    for (size_t k = 0; k < own; k++) {
        z = (theta[k] - rate_centre(p)) / rate_width;
        sum += z * z / 2;
    }
    p->noise = exp(theta[own]);
    return sum + unlikely(p, squares, y, stride);
}

/* One number after the other a step up or down, steps halved where none helps. */
static void walk(ft__process *p, const double *squares, const double *y, size_t stride)
{
    double theta[MOST_LENGTHS + 1], best, step = first_step;
    const size_t own = lengths(p);
    int left = STEPS;

    for (size_t k = 0; k < own; k++)
        theta[k] = rate_centre(p);
    theta[own] = noise_centre;
    best = at(p, theta, squares, y, stride);
    while (left > 0 && step >= last_step) {
        bool better = false;

        for (size_t k = 0; k <= own; k++)
            for (int way = -1; way <= 1; way += 2) {
                const double was = theta[k];
                double value;

                theta[k] += way * step;
                value = at(p, theta, squares, y, stride);
                left--;
                if (value < best) {
                    best = value;
                    better = true;
                    break;
                }
                theta[k] = was;
            }
        step = better ? step : step / 2;
    }
    at(p, theta, squares, y, stride);
}

/* Room, and the squares of all pairs; NULL: short of memory. */
static ft_status begin(double **squares, ft__process *p, const ft_space *s,
                       const float *x, size_t n, size_t m, ft_error *err)
{
    ft_status st = make_room(p, s, n, m, err);

    *squares = st ? NULL : malloc(s->n * (n * (n + 1) / 2) * sizeof(**squares));
    if (*squares)
        fill_squares(*squares, s, x, n);
    else if (!st)
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for a process of %zu points", n);
    return st;
}

ft_status ft__process_tune(ft__process *p, const ft_space *s, const float *x,
                           const double *y, size_t stride, size_t n, size_t m,
                           ft_error *err)
{
    double *squares;
    ft_status st = begin(&squares, p, s, x, n, m, err);

    if (!st)
        walk(p, squares, y, stride);
    free(squares);
    return st;
}

static void keep(ft__process *p, const ft_space *s, const float *x)
{
    const size_t n = p->n;

    ft__cholesky_invert(p->inverse, p->kernel, p->room, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            p->inverse[j * n + i] = p->inverse[i * n + j];
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < n; i++)
            p->x[k * n + i] = (double)x[i * s->n + k];
}

ft_status ft__process_fit(ft__process *p, const ft_space *s, const float *x,
                          const double *y, size_t stride, size_t n, size_t m,
                          ft_error *err)
{
    double *squares;
    ft_status st = begin(&squares, p, s, x, n, m, err);

    if (!st && isinf(unlikely(p, squares, y, stride)))
        st = ft_fail(err, FT_EINVAL, 0, "points of a process are not apart");
    if (!st)
        keep(p, s, x);
    free(squares);
    return st;
}

static void add_squares(double *sum, const double *x, size_t n,
                        const ft_parameter *param, float at, double rate)
{
    const double here = (double)at, square = rate * rate;

    if (!is_category(param) && !isnan(at) && !isnan(x[0])) {
        size_t missing = 0;

        for (size_t i = 0; i < n; i++)
            missing += isnan(x[i]) != 0;
        if (missing == 0) {
            for (size_t i = 0; i < n; i++)
                sum[i] += square * (here - x[i]) * (here - x[i]);
            return;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const double d = apart(param, at, (float)x[i]);

        sum[i] += square * d * d;
    }
}

void ft__process_ask(ft__process *p, const ft_space *s, const float *x, double *mean,
                     double *sigma)
{
    const size_t n = p->n;
    double *near = p->room, left = 1;

    memset(near, 0, n * sizeof(*near));
    for (size_t k = 0; k < p->dims; k++)
        add_squares(near, p->x + k * n, n, &s->param[k], x[k], p->rate[k]);
    for (size_t i = 0; i < n; i++)
        near[i] = matern(near[i]);
    for (size_t i = 0; i < n; i++)
        left -= near[i] * ft__dot(p->inverse + i * n, near, n);
    for (size_t k = 0; k < p->m; k++) {
        mean[k] = ft__dot(p->alpha + k * n, near, n);
        sigma[k] = sqrt(fmax(0, left) * p->amplitude[k]);
    }
}
