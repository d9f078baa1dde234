/* Fitting the constants of the physical estimate: Levenberg's and Marquardt's method
 * (Marquardt 1963) in their logarithms, on absolute errors by reweighting (Holland,
 * Welsch 1977), with a prior around where they start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/prng.h"
#include "base/solve.h"
#include "physics/op_kernels.h"

enum { MOST_ROWS = 4000, ROUNDS = 25, MOST_GROUPS = 48 };
static const double NUDGE = 0.02;  /* of a logarithm, for derivatives */
static const double TYPICAL = 0.2; /* size of an error, to weigh the prior against */
static const double LEAST = 0.03;  /* errors below this weigh alike */
static const double LONE_SPREAD = 0.2;       /* of one that a single group depends on */
static const double LONE_HOST_SPREAD = 0.05; /* its host is its own affair */
static const double OWN_SPREAD = 0.15; /* of how devices differ, which some do much */
static const double OWN_LEAST = 0.02;
static const double LONGEST = 0.7; /* step of a logarithm */

static const struct params_range {
    double least, most, spread;
} ranges[FT__N_PHYSICS_PARAMS] = {
#define FT__CONSTANT(name, value, least, most, spread) {least, most, spread},
#include "physics/physics.def"
#undef FT__CONSTANT
};

/* In what datasets differ as workloads. */
static const int own[] = {FT__C_floor_s,      FT__C_tile_share,    FT__C_memory_share,
                          FT__C_tensor_share, FT__C_tensor_memory, FT__C_cpu_share,
                          FT__C_cpu_memory};
enum { N_OWN = sizeof(own) / sizeof(*own) };
enum { N_FREE = FT__N_PHYSICS_PARAMS + N_OWN * MOST_GROUPS };

struct params_sample {
    ft__work work;
    const ft__hardware_spec *chip;
    double log_time;
    double weight;
    uint32_t group;
};

/* What is searched: logarithms of the constants, then of what each group's own ones
 * are multiplied by. */
struct params_point {
    double v[N_FREE];
};

struct params_fit {
    struct params_sample *sample;
    size_t n;
    double *residual; /* log(estimate / time) of every sample */
    double *trial;
    double *slope;                     /* FT__N_PHYSICS_PARAMS of every sample */
    double *normal, *right;            /* the equations of a step */
    char needed[FT__N_PHYSICS_PARAMS]; /* the constants whose slopes are */
    double spread[FT__N_PHYSICS_PARAMS];
    int n_groups;
    struct params_point at, start;
};

static int n_free(const struct params_fit *f)
{
    return FT__N_PHYSICS_PARAMS + N_OWN * f->n_groups;
}

static ft__physics_params parameters_of(const struct params_point *p, uint32_t group)
{
    ft__physics_params t;

    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        t.v[i] = p->v[i];
    for (int i = 0; i < N_OWN; i++)
        t.v[own[i]] += p->v[FT__N_PHYSICS_PARAMS + (int)group * N_OWN + i];
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        t.v[i] = exp(t.v[i]);
    return t;
}

/* of[f->n_groups] */
static void parameters_of_groups(ft__physics_params *of, const struct params_fit *f,
                                 const struct params_point *p)
{
    for (int g = 0; g < f->n_groups; g++)
        of[g] = parameters_of(p, (uint32_t)g);
}

static double residual_of(const struct params_sample *s,
                          const ft__physics_params *params)
{
    ft__terms t;

    ft__work_cost(&t, &s->work, s->chip, &params[s->group]);
    return log(t.total_s) - s->log_time;
}

static void residuals(const struct params_fit *f, const struct params_point *p,
                      double *out)
{
    ft__physics_params params[MOST_GROUPS];

    parameters_of_groups(params, f, p);
    for (size_t j = 0; j < f->n; j++)
        out[j] = residual_of(&f->sample[j], params);
}

/* Constants are drawn to the start as by a normal distribution; what is a group's own
 * as by a Laplace distribution, so that odd devices do not pull at the others. */
static double prior_loss(const struct params_fit *f, int i, double d)
{
    return i < FT__N_PHYSICS_PARAMS ? d * d / (2 * f->spread[i] * f->spread[i])
                                    : fabs(d) / OWN_SPREAD;
}

static double prior_weight(const struct params_fit *f, int i, double d)
{
    return i < FT__N_PHYSICS_PARAMS ? 1 / (f->spread[i] * f->spread[i])
                                    : 1 / (OWN_SPREAD * fmax(fabs(d), OWN_LEAST));
}

/* What one of several groups alone says something of may be its own affair. */
static void find_spreads(struct params_fit *f)
{
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++) {
        int groups = 0;
        char seen[MOST_GROUPS] = {0};

        for (size_t j = 0; j < f->n; j++) {
            uint32_t g = f->sample[j].group;

            if (!seen[g] && f->slope[j * FT__N_PHYSICS_PARAMS + (size_t)i] != 0) {
                seen[g] = 1;
                groups++;
            }
        }
        f->spread[i] = ranges[i].spread > 0 ? ranges[i].spread : 1;
        if (groups == 1 && f->n_groups > 1)
            f->spread[i] =
                fmin(f->spread[i], i == FT__C_floor_s ? LONE_HOST_SPREAD : LONE_SPREAD);
    }
}

static double loss(const struct params_fit *f, const struct params_point *p,
                   const double *residual)
{
    double sum = 0;

    for (size_t j = 0; j < f->n; j++)
        sum += f->sample[j].weight * fabs(residual[j]) / TYPICAL;
    for (int i = 0; i < n_free(f); i++)
        sum += prior_loss(f, i, p->v[i] - f->start.v[i]);
    return sum;
}

/* d residual / d log constant. A group's own factor has that of its constant. `all`:
 * also of rows that the constant did not change last time: most meet few constants. */
static void slopes(struct params_fit *f, bool all)
{
    ft__physics_params params[MOST_GROUPS];

    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++) {
        struct params_point near = f->at;

        if (!f->needed[i])
            continue;
        near.v[i] += NUDGE;
        parameters_of_groups(params, f, &near);
        for (size_t j = 0; j < f->n; j++) {
            double *slope = &f->slope[j * FT__N_PHYSICS_PARAMS + (size_t)i];

            if (all || *slope != 0)
                *slope = (residual_of(&f->sample[j], params) - f->residual[j]) / NUDGE;
        }
    }
}

static void add_sample(struct params_fit *f, size_t j)
{
    const struct params_sample *s = &f->sample[j];
    const double *slope = &f->slope[j * FT__N_PHYSICS_PARAMS];
    double w = s->weight / TYPICAL / fmax(fabs(f->residual[j]), LEAST);
    int index[FT__N_PHYSICS_PARAMS + N_OWN], n = 0, free_values = n_free(f);
    double d[FT__N_PHYSICS_PARAMS + N_OWN];

    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        if (slope[i] != 0) {
            index[n] = i;
            d[n++] = slope[i];
        }
    for (int k = 0; k < N_OWN; k++)
        if (slope[own[k]] != 0) {
            index[n] = FT__N_PHYSICS_PARAMS + (int)s->group * N_OWN + k;
            d[n++] = slope[own[k]];
        }
    for (int a = 0; a < n; a++) {
        f->right[index[a]] -= w * d[a] * f->residual[j];
        for (int b = 0; b <= a; b++)
            f->normal[index[a] * free_values + index[b]] += w * d[a] * d[b];
    }
}

/* Is a constant at a bound that its gradient, f->right, leads beyond? */
static bool is_held(const struct params_fit *f, int i)
{
    return (f->at.v[i] >= log(ranges[i].most) && f->right[i] > 0) ||
           (f->at.v[i] <= log(ranges[i].least) && f->right[i] < 0);
}

/* It stays where it is: the step of the others is found without it, for one that counts
 * on it leads nowhere once it is cut off (active sets: Bertsekas 1982). */
static void hold(struct params_fit *f, int i)
{
    const int n = n_free(f);

    for (int k = 0; k < n; k++)
        f->normal[i * n + k] = f->normal[k * n + i] = 0;
    f->normal[i * n + i] = 1;
    f->right[i] = 0;
}

/* Where a step damped by `lambda` leads to. */
static struct params_point step_from(struct params_fit *f, double lambda)
{
    int n = n_free(f);
    struct params_point to = f->at;

    memset(f->normal, 0, (size_t)n * (size_t)n * sizeof(*f->normal));
    memset(f->right, 0, (size_t)n * sizeof(*f->right));
    for (size_t j = 0; j < f->n; j++)
        add_sample(f, j);
    for (int i = 0; i < n; i++) {
        double prior = prior_weight(f, i, f->at.v[i] - f->start.v[i]);

        f->normal[i * n + i] = f->normal[i * n + i] * (1 + lambda) + prior;
        f->right[i] -= prior * (f->at.v[i] - f->start.v[i]);
    }
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        if (is_held(f, i))
            hold(f, i);
    ft__solve(f->normal, f->right, n);
    for (int i = 0; i < n; i++) {
        to.v[i] += fmin(fmax(f->right[i], -LONGEST), LONGEST);
        if (i < FT__N_PHYSICS_PARAMS)
            to.v[i] = fmin(fmax(to.v[i], log(ranges[i].least)), log(ranges[i].most));
    }
    return to;
}

/* A step that lowers the loss; by which share of it, or 0. */
static double improve(struct params_fit *f, double *lambda)
{
    double now = loss(f, &f->at, f->residual);

    for (int tries = 0; tries < 6; tries++) {
        struct params_point to = step_from(f, *lambda);
        double then;

        residuals(f, &to, f->trial);
        then = loss(f, &to, f->trial);
        if (then < now) {
            *lambda = fmax(*lambda / 5, 1e-4);
            f->at = to;
            memcpy(f->residual, f->trial, f->n * sizeof(*f->residual));
            return (now - then) / now;
        }
        *lambda *= 5;
    }
    return 0;
}

static void search(struct params_fit *f)
{
    double lambda = 0.1, gain = 1;

    residuals(f, &f->at, f->residual);
    for (int round = 0; round < ROUNDS && gain > 1e-4; round++) {
        slopes(f, round % 5 == 0);
        if (round == 0)
            find_spreads(f);
        gain = improve(f, &lambda);
    }
}

/* Of n rows f->n, each as likely as another, in their order (Knuth 3.4.2, algorithm S);
 * those that nothing can be estimated of are left out. */
static void take(struct params_fit *f, const ft__physics_row *row, size_t n,
                 uint64_t seed)
{
    ft__prng prng = {seed};
    size_t want = f->n, taken = 0, used = 0;
    double weights = 0;

    for (size_t i = 0; i < n && taken < want; i++) {
        struct params_sample *s = &f->sample[used];

        if (ft__prng_unit(&prng) * (double)(n - i) >= (double)(want - taken))
            continue;
        taken++;
        *s = (struct params_sample){.chip = row[i].chip,
                                    .weight = row[i].weight,
                                    .log_time = log(row[i].time_s),
                                    .group = row[i].group % MOST_GROUPS};
        ft__work_make(&s->work, row[i].op, row[i].chip);
        if (ft__hardware_spec_lacks(row[i].chip) || !s->work.n ||
            !isfinite(s->log_time) || !(s->weight > 0))
            continue;
        weights += s->weight;
        if ((int)s->group >= f->n_groups)
            f->n_groups = (int)s->group + 1;
        used++;
    }
    f->n = used;
    for (size_t i = 0; i < used; i++)
        f->sample[i].weight *= (double)used / weights;
}

static ft_status fit(struct params_fit *f, const ft__physics_params *params,
                     const ft__physics_row *row, size_t n, uint64_t seed, ft_error *err)
{
    size_t room = n < MOST_ROWS ? n + 1 : MOST_ROWS;
    ft__arena arena = {0};
    ft_status st = FT_OK;

    f->n = n < MOST_ROWS ? n : MOST_ROWS;
    f->sample = ft__arena_need(&arena, room, sizeof(*f->sample));
    f->residual = ft__arena_need(&arena, room, sizeof(*f->residual));
    f->trial = ft__arena_need(&arena, room, sizeof(*f->trial));
    f->slope = ft__arena_need(&arena, room * FT__N_PHYSICS_PARAMS, sizeof(*f->slope));
    f->normal = ft__arena_need(&arena, (size_t)N_FREE * N_FREE, sizeof(*f->normal));
    f->right = ft__arena_need(&arena, N_FREE, sizeof(*f->right));
    for (int i = 0; i < N_FREE; i++)
        f->at.v[i] = i < FT__N_PHYSICS_PARAMS ? log(params->v[i]) : 0;
    f->start = f->at;
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        f->needed[i] = ranges[i].spread > 0;
    for (int k = 0; k < N_OWN; k++)
        f->needed[own[k]] = 1;
    if (!arena.bad) {
        take(f, row, n, seed);
        if (f->n)
            search(f);
    } else {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to fit %zu measurements", n);
    }
    ft__arena_free(&arena);
    return st;
}

ft_status ft__physics_fit(ft__physics_params *params, const ft__physics_row *row,
                          size_t n, uint64_t seed, ft_error *err)
{
    struct params_fit f = {.n = 0};
    ft_status st = fit(&f, params, row, n, seed, err);

    for (int i = 0; !st && i < FT__N_PHYSICS_PARAMS; i++)
        params->v[i] = exp(f.at.v[i]);
    return st;
}
