/* Fitting the constants of the physical estimate: a pattern search in their
 * logarithms (Hooke, Jeeves 1961), each constant over the rows it says something of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "predict/passes.h"

enum { MOST_ROWS = 12000, SWEEPS = 30 };
static const double PULL = 2e-3;      /* loss of a constant that went e-fold astray */
static const double FIRST_STEP = 0.4; /* of a logarithm */
static const double LAST_STEP = 0.004;

static const struct range {
    double least, most;
} ranges[FT__N_THETA] = {
#define FT__CONSTANT(name, value, least, most) {least, most},
#include "predict/physics.def"
#undef FT__CONSTANT
};

/* In what datasets differ as wholes. */
static const int own[] = {FT__C_floor_s,  FT__C_tile_share,   FT__C_memory_share,
                          FT__C_kernel_s, FT__C_tensor_share, FT__C_tensor_memory};
enum { N_OWN = sizeof(own) / sizeof(*own), MOST_GROUPS = 64 };
enum { N_FREE = FT__N_THETA + N_OWN * MOST_GROUPS };

struct sample {
    ft__work work;
    uint32_t group;
    const ft__chip *chip;
    double log_time;
    double weight;
};

/* What is searched: the constants, then what each group's own ones are multiplied by.
 */
struct point {
    double v[N_FREE];
};

struct fit {
    struct sample *sample;
    double *error; /* weighted, of every sample at `at` */
    double *trial, *scratch;
    uint32_t *touched[N_FREE]; /* samples that a value changes */
    uint32_t n_touched[N_FREE];
    uint32_t *memory;
    size_t n;
    int n_groups, first; /* first of the values that are searched */
    double weights;
    double pull_common, pull_own;
    struct point at, start;
    double step[N_FREE];
};

static int n_free(const struct fit *f)
{
    return FT__N_THETA + N_OWN * f->n_groups;
}

static ft__theta theta_of(const struct point *p, uint32_t group)
{
    ft__theta t;

    memcpy(t.v, p->v, sizeof(t.v));
    for (int i = 0; i < N_OWN; i++)
        t.v[own[i]] *= p->v[FT__N_THETA + (int)group * N_OWN + i];
    return t;
}

static double error_of(const struct sample *s, const ft__theta *theta)
{
    ft__terms t;

    ft__work_price(&t, &s->work, s->chip, theta);
    return s->weight * fabs(s->log_time - log(t.total_s));
}

static double pull(const struct fit *f, int i, double value)
{
    return (i < FT__N_THETA ? f->pull_common : f->pull_own) *
           fabs(log(value / f->start.v[i]));
}

static double within(int i, double value)
{
    if (i >= FT__N_THETA)
        return fmin(fmax(value, 0.1), 10);
    return fmin(fmax(value, ranges[i].least), ranges[i].most);
}

/* Errors of all samples; their mean and the pull. */
static double loss(const struct fit *f, const struct point *p, double *error)
{
    ft__theta theta[MOST_GROUPS];
    double sum = 0;

    for (int g = 0; g < f->n_groups; g++)
        theta[g] = theta_of(p, (uint32_t)g);
    for (size_t j = 0; j < f->n; j++)
        sum += error[j] = error_of(&f->sample[j], &theta[f->sample[j].group]);
    sum /= f->weights;
    for (int i = f->first; i < n_free(f); i++)
        sum += pull(f, i, p->v[i]);
    return sum;
}

/* Which samples depend on what, as things stand. */
static void find_touched(struct fit *f)
{
    uint32_t *at = f->memory;

    for (int i = f->first; i < n_free(f); i++) {
        struct point up = f->at, down = f->at;

        up.v[i] *= 1.2;
        down.v[i] /= 1.2;
        f->touched[i] = at;
        if (i >= FT__N_THETA) {
            uint32_t group = (uint32_t)(i - FT__N_THETA) / N_OWN;
            int common = own[(i - FT__N_THETA) % N_OWN];

            for (uint32_t j = 0; f->first == 0 && j < f->n_touched[common]; j++)
                if (f->sample[f->touched[common][j]].group == group)
                    *at++ = f->touched[common][j];
            for (uint32_t j = 0; f->first && j < f->n; j++)
                *at++ = j;
        } else {
            (void)loss(f, &up, f->trial);
            (void)loss(f, &down, f->scratch);
            for (size_t j = 0; j < f->n; j++)
                if (f->trial[j] != f->error[j] || f->scratch[j] != f->error[j])
                    *at++ = (uint32_t)j;
        }
        f->n_touched[i] = (uint32_t)(at - f->touched[i]);
    }
}

/* Take a new value if it lowers the loss. */
static int try_value(struct fit *f, int i, double value)
{
    double old = f->at.v[i], change = 0;
    ft__theta theta[MOST_GROUPS];

    value = within(i, value);
    if (value == old)
        return 0;
    f->at.v[i] = value;
    for (int g = 0; g < f->n_groups; g++)
        theta[g] = theta_of(&f->at, (uint32_t)g);
    for (uint32_t j = 0; j < f->n_touched[i]; j++) {
        const struct sample *s = &f->sample[f->touched[i][j]];

        f->trial[j] = error_of(s, &theta[s->group]);
        change += f->trial[j] - f->error[f->touched[i][j]];
    }
    if (change / f->weights + pull(f, i, value) - pull(f, i, old) >= -1e-9) {
        f->at.v[i] = old;
        return 0;
    }
    for (uint32_t j = 0; j < f->n_touched[i]; j++)
        f->error[f->touched[i][j]] = f->trial[j];
    return 1;
}

static double sweep(struct fit *f)
{
    double largest = 0;

    for (int i = f->first; i < n_free(f); i++) {
        double step = f->step[i], value = f->at.v[i];

        if (!f->n_touched[i] || step < LAST_STEP)
            continue;
        if (try_value(f, i, value * exp(step)) || try_value(f, i, value * exp(-step)))
            f->step[i] = fmin(step * 1.5, FIRST_STEP);
        else
            f->step[i] = step / 2;
        largest = fmax(largest, f->step[i]);
    }
    return largest;
}

/* Once more as far in the direction in which all went together. */
static void leap(struct fit *f, const struct point *before)
{
    struct point far = f->at;
    double *error;

    for (int i = f->first; i < n_free(f); i++)
        far.v[i] = within(i, far.v[i] * far.v[i] / before->v[i]);
    if (loss(f, &far, f->trial) >= loss(f, &f->at, f->error))
        return;
    f->at = far;
    error = f->error;
    f->error = f->trial;
    f->trial = error;
}

static void search(struct fit *f)
{
    for (int i = 0; i < n_free(f); i++)
        f->step[i] = FIRST_STEP;
    for (int round = 0; round < SWEEPS; round++) {
        struct point before = f->at;

        (void)loss(f, &f->at, f->error);
        if (round % 8 == 0)
            find_touched(f);
        if (sweep(f) < LAST_STEP)
            break;
        leap(f, &before);
    }
}

/* Of n rows f->n, each as likely as another, in their order (Knuth 3.4.2, algorithm S);
 * those that nothing can be estimated of are left out. */
static void take(struct fit *f, const ft__physics_row *row, size_t n, uint64_t seed)
{
    ft__prng prng = {seed};
    size_t want = f->n, taken = 0, used = 0;

    for (size_t i = 0; i < n && taken < want; i++) {
        struct sample *s = &f->sample[used];

        if (ft__prng_unit(&prng) * (double)(n - i) >= (double)(want - taken))
            continue;
        taken++;
        *s = (struct sample){.chip = row[i].chip,
                             .weight = row[i].weight,
                             .group = row[i].group,
                             .log_time = log(row[i].time_s)};
        ft__work_make(&s->work, row[i].op, row[i].chip);
        if (ft__chip_lacks(row[i].chip) || !s->work.n || !isfinite(s->log_time) ||
            !(s->weight > 0))
            continue;
        f->weights += s->weight;
        if ((int)s->group >= f->n_groups)
            f->n_groups = (int)s->group + 1;
        used++;
    }
    f->n = used;
}

static ft_status fit(ft__theta *theta, struct fit *f, const ft__physics_row *row,
                     size_t n, uint64_t seed, ft_error *err)
{
    size_t room = n && n < MOST_ROWS ? n : MOST_ROWS;

    f->n = n < MOST_ROWS ? n : MOST_ROWS;
    f->sample = calloc(room, sizeof(*f->sample));
    f->error = calloc(room, sizeof(*f->error));
    f->trial = calloc(room, sizeof(*f->trial));
    f->scratch = calloc(room, sizeof(*f->scratch));
    f->memory = calloc(room * (FT__N_THETA + 2 * N_OWN), sizeof(*f->memory));
    if (f->sample && f->error && f->trial && f->scratch && f->memory) {
        for (int i = 0; i < N_FREE; i++)
            f->at.v[i] = i < FT__N_THETA ? theta->v[i] : 1;
        f->start = f->at;
        take(f, row, n, seed);
        if (f->n)
            search(f);
    }
    free(f->sample);
    free(f->error);
    free(f->trial);
    free(f->scratch);
    free(f->memory);
    if (!f->sample || !f->error || !f->trial || !f->scratch || !f->memory)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to fit %zu measurements", n);
    return FT_OK;
}

ft_status ft__physics_fit(ft__theta *theta, const ft__physics_row *row, size_t n,
                          uint64_t seed, ft_error *err)
{
    struct fit f = {.pull_common = PULL, .pull_own = PULL};
    ft_status st = fit(theta, &f, row, n, seed, err);

    if (!st)
        memcpy(theta->v, f.at.v, sizeof(theta->v));
    return st;
}

ft_status ft__physics_adapt(ft__theta *theta, const ft__physics_row *row, size_t n,
                            uint64_t seed, ft_error *err)
{
    struct fit f = {.first = FT__N_THETA, .pull_own = n ? 2.0 / (double)n : 1};
    ft_status st = fit(theta, &f, row, n, seed, err);

    if (!st && f.n_groups)
        *theta = theta_of(&f.at, (uint32_t)f.n_groups - 1);
    return st;
}
