/* Gaussian process regression (Rasmussen, Williams 2006, algorithm 2.1): a Matern
 * kernel of order 3/2 with one length a column and noise. Lengths and noise have the
 * largest posterior density that a walk from the prior's centre finds: rows are few
 * beside columns, and without a prior the lengths fit what is chance. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/prng.h"
#include "learn/decay.h"
#include "learn/numerics.h"
#include "learn/vectors.h"

/* Rows that lengths are found with, rows that are vectors of the model, and steps. */
enum { MOST_TUNED = 400, MOST_VECTORS = 1500, STEPS = 40 };
/* What is always added to the diagonal, so that equal rows can be told apart. */
static const double jitter = 1e-6;

/* Their logarithms are numbered: of 1 / length of each column, then these two; normal
 * around a centre. Columns are standardised: with the centre, typical rows are about 1
 * length apart. */
enum { AMPLITUDE, NOISE, N_OTHERS };
static const double centre[N_OTHERS] = {0, -2.3}, width[N_OTHERS] = {1, 1.5};
static const double length_width = 1;

static double length_centre(size_t n_cols)
{
    return n_cols ? -0.5 * log((double)n_cols) : 0;
}

struct tune {
    ft__arena room;
    const ft__training_set *l;
    size_t n;       /* rows */
    uint32_t *row;  /* of the training set */
    double *y;      /* standardised */
    double *x;      /* each column over its length */
    double *kernel; /* n x n, lower triangles: */
    double *slope;  /* exp(-r) */
    double *factor, *inverse, *scratch;
    double *alpha; /* (kernel + noise)^-1 y */
};

/* n rows drawn from `of`, ascending, at `row`. */
static void draw(uint32_t *row, size_t n, size_t of, uint64_t seed)
{
    ft__prng p = ft__prng_stream(seed, 0);
    size_t taken = 0;

    for (size_t i = 0; i < of && taken < n; i++)
        if (ft__prng_below(&p, (uint32_t)(of - i)) < n - taken)
            row[taken++] = (uint32_t)i;
}

static ft_status tune_make(struct tune *t, const ft__training_set *l, size_t most,
                           uint64_t seed, ft_error *err)
{
    const size_t n = l->n_rows < most ? l->n_rows : most, cells = n * n;

    *t = (struct tune){.l = l, .n = n};
    t->row = ft__arena_need(&t->room, n, sizeof(*t->row));
    t->y = ft__arena_need(&t->room, n, sizeof(*t->y));
    t->x = ft__arena_need(&t->room, n * l->n_cols, sizeof(*t->x));
    t->kernel = ft__arena_need(&t->room, cells, sizeof(*t->kernel));
    t->slope = ft__arena_need(&t->room, cells, sizeof(*t->slope));
    t->factor = ft__arena_need(&t->room, cells, sizeof(*t->factor));
    t->inverse = ft__arena_need(&t->room, cells, sizeof(*t->inverse));
    t->scratch = ft__arena_need(&t->room, cells, sizeof(*t->scratch));
    t->alpha = ft__arena_need(&t->room, n, sizeof(*t->alpha));
    if (t->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a process of %zu rows", n);
    draw(t->row, n, l->n_rows, seed);
    for (size_t i = 0; i < n; i++)
        t->y[i] = (l->y[t->row[i]] - l->mean) / l->sd;
    return FT_OK;
}

static void scale_rows(struct tune *t, const double *theta)
{
    const size_t cols = t->l->n_cols;

    for (size_t j = 0; j < cols; j++) {
        const double rate = exp(theta[j]);

        for (size_t i = 0; i < t->n; i++)
            t->x[i * cols + j] = rate * (double)t->l->u[t->row[i] * cols + j];
    }
}

static double square_between(const double *a, const double *b, size_t n)
{
    double sum[FT__LANES] = {0}, rest = 0;
    size_t j = 0;

    for (; j + FT__LANES <= n; j += FT__LANES)
        for (size_t k = 0; k < FT__LANES; k++)
            sum[k] += (a[j + k] - b[j + k]) * (a[j + k] - b[j + k]);
    for (; j < n; j++)
        rest += (a[j] - b[j]) * (a[j] - b[j]);
    for (size_t k = 0; k < FT__LANES; k++)
        rest += sum[k];
    return rest;
}

static void fill_kernel(struct tune *t, double amplitude, double noise)
{
    const size_t n = t->n, cols = t->l->n_cols;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double r =
                sqrt(3 * square_between(t->x + i * cols, t->x + j * cols, cols));

            t->slope[i * n + j] = ft__decay(r);
            t->kernel[i * n + j] =
                r < 700 ? amplitude * (1 + r) * t->slope[i * n + j] : 0;
            t->factor[i * n + j] = t->kernel[i * n + j] +
                                   (i == j ? noise / t->l->w[t->row[i]] + jitter : 0);
        }
}

/* Add the slopes of - log p(y) (Rasmussen, Williams 2006, eq. 5.9), which are half the
 * sums of (inverse - alpha alpha') times those of the kernel. */
static void add_slopes(const struct tune *t, double *g, double amplitude, double noise)
{
    const size_t n = t->n, cols = t->l->n_cols;

    for (size_t i = 0; i < n; i++) {
        const double *a = t->x + i * cols;

        for (size_t j = 0; j < i; j++) {
            const double m = t->inverse[i * n + j] - t->alpha[i] * t->alpha[j];
            const double pull = -3 * m * amplitude * t->slope[i * n + j];
            const double *b = t->x + j * cols;

            g[cols + AMPLITUDE] += 2 * m * t->kernel[i * n + j];
            for (size_t k = 0; k < cols; k++)
                g[k] += pull * ((a[k] - b[k]) * (a[k] - b[k]));
        }
        const double m = t->inverse[i * n + i] - t->alpha[i] * t->alpha[i];

        g[cols + AMPLITUDE] += m * t->kernel[i * n + i];
        g[cols + NOISE] += m * noise / t->l->w[t->row[i]];
    }
}

/* - log of the prior density, and its slopes. */
static double prior(const double *theta, double *g, size_t cols)
{
    double sum = 0;

    for (size_t j = 0; j < cols + N_OTHERS; j++) {
        const double c = j < cols ? length_centre(cols) : centre[j - cols];
        const double w = j < cols ? length_width : width[j - cols];
        const double z = (theta[j] - c) / w;

        sum += z * z / 2;
        g[j] = z / w;
    }
    return sum;
}

/* (kernel + noise) factored, and alpha. */
static bool solve(struct tune *t, const double *theta)
{
    const double *other = theta + t->l->n_cols;

    scale_rows(t, theta);
    fill_kernel(t, exp(2 * other[AMPLITUDE]), exp(2 * other[NOISE]));
    if (!ft__cholesky(t->factor, t->n))
        return false;
    ft__cholesky_solve(t->alpha, t->factor, t->y, t->n);
    return true;
}

static double density(void *with, const double *theta, double *g)
{
    struct tune *t = with;
    const double *other = theta + t->l->n_cols;
    double sum = prior(theta, g, t->l->n_cols);

    if (!solve(t, theta))
        return INFINITY;
    ft__cholesky_invert(t->inverse, t->factor, t->scratch, t->n);
    add_slopes(t, g, exp(2 * other[AMPLITUDE]), exp(2 * other[NOISE]));
    sum += ft__dot(t->y, t->alpha, t->n) / 2;
    for (size_t i = 0; i < t->n; i++)
        sum += log(t->factor[i * t->n + i]);
    return sum;
}

static ft_status find_lengths(double *theta, const ft__training_set *l,
                              const ft__learn_model_options *o, ft_error *err)
{
    struct tune t;
    double least;
    ft_status st = tune_make(&t, l, MOST_TUNED, o->seed, err);

    for (size_t j = 0; j < l->n_cols + N_OTHERS; j++)
        theta[j] = j < l->n_cols ? length_centre(l->n_cols) : centre[j - l->n_cols];
    if (!st)
        st = ft__minimise(&least, theta, l->n_cols + N_OTHERS,
                          ft__or_u32(o->rounds, STEPS), density, &t, err);
    ft__arena_free(&t.room);
    return st;
}

/* Lengths become part of the columns, so that vectors are as rows will be seen. */
static void take_lengths(ft__training_set *l, double *theta, const ft__matrix *x,
                         const double *weights)
{
    float *to = l->u;

    for (uint32_t j = 0; j < l->n_cols; j++) {
        l->column[j].scale *= exp(theta[j]);
        theta[j] = 0;
    }
    for (size_t i = 0; i < x->n_rows; i++) {
        if (weights && !(weights[i] > 0))
            continue;
        ft__columns_apply(to, l->column, l->n_cols, x->x + i * x->n_cols);
        to += l->n_cols;
    }
}

static ft_status write_body(ft__draft *out, const struct tune *t, double amplitude,
                            ft_error *err)
{
    const ft__training_set *l = t->l;
    const ft__vectors h = {
        .mean = l->mean, .sd = l->sd, .scale = 3, .n_columns = l->n_cols};
    char *blocks;
    ft_status st = ft__vectors_write(out, &blocks, &h, l->column, (uint32_t)t->n, err);

    for (uint32_t i = 0; !st && i < t->n; i++)
        ft__vectors_put(blocks, &h, i, amplitude * t->alpha[i],
                        l->u + (size_t)t->row[i] * l->n_cols);
    return st;
}

static ft_status make_vectors(ft__draft *out, const ft__training_set *l,
                              const double *theta, uint64_t seed, ft_error *err)
{
    struct tune t;
    ft_status st = tune_make(&t, l, MOST_VECTORS, seed, err);

    if (!st && !solve(&t, theta))
        st =
            ft_fail(err, FT_EBACKEND, 0, "a process of %zu rows cannot be solved", t.n);
    if (!st)
        st = write_body(out, &t, exp(2 * theta[l->n_cols + AMPLITUDE]), err);
    ft__arena_free(&t.room);
    return st;
}

static ft_status gp_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    double theta[FT__MAX_COLUMNS + N_OTHERS];
    ft__training_set l;
    ft_status st = ft__training_set_new(&l, t, err);

    if (st)
        return st;
    st = find_lengths(theta, &l, t->opt, err);
    if (!st) {
        take_lengths(&l, theta, t->x, t->weights);
        st = make_vectors(out, &l, theta, t->opt->seed, err);
    }
    ft__training_set_free(&l);
    return st;
}

static void gp_predict(const ft__learn_model *m, const float *rows, size_t n,
                       double *out)
{
    ft__vectors_predict(m, rows, n, out, FT__KERNEL_MATERN);
}

const ft__method_ops ft__method_gp = {NULL, gp_fit, ft__vectors_open, gp_predict};
