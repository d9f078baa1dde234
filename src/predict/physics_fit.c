/* Fitting the constants of the physical estimate: a pattern search in their
 * logarithms (Hooke, Jeeves 1961), each constant over the rows it says something of. */
#include <math.h>
#include <stdlib.h>

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

struct sample {
    ft__work work;
    const ft__chip *chip;
    double log_time;
    double weight;
};

struct fit {
    struct sample *sample;
    double *error; /* weighted, of every sample at `theta` */
    double *trial;
    uint32_t *
        touched[FT__N_THETA]; /* samples that a constant changes, one after the other */
    uint32_t n_touched[FT__N_THETA];
    uint32_t *memory;
    size_t n;
    double weights;
    ft__theta theta, start;
    double step[FT__N_THETA];
};

static double error_of(const struct sample *s, const ft__theta *theta)
{
    ft__terms t;

    ft__work_price(&t, &s->work, s->chip, theta);
    return s->weight * fabs(s->log_time - log(t.total_s));
}

static double pull(const struct fit *f, int i, double value)
{
    return PULL * fabs(log(value / f->start.v[i]));
}

/* Which samples depend on which constants, as things stand. */
static void find_touched(struct fit *f)
{
    uint32_t *at = f->memory;

    for (int i = 0; i < FT__N_THETA; i++) {
        ft__theta up = f->theta, down = f->theta;

        up.v[i] *= 1.2;
        down.v[i] /= 1.2;
        f->touched[i] = at;
        for (size_t j = 0; j < f->n; j++)
            if (error_of(&f->sample[j], &up) != f->error[j] ||
                error_of(&f->sample[j], &down) != f->error[j])
                *at++ = (uint32_t)j;
        f->n_touched[i] = (uint32_t)(at - f->touched[i]);
    }
}

/* Take the constant's new value if it lowers the loss. */
static int try_value(struct fit *f, int i, double value)
{
    double old = f->theta.v[i], change = 0;

    value = fmin(fmax(value, ranges[i].least), ranges[i].most);
    if (value == old)
        return 0;
    f->theta.v[i] = value;
    for (uint32_t j = 0; j < f->n_touched[i]; j++) {
        uint32_t at = f->touched[i][j];

        f->trial[j] = error_of(&f->sample[at], &f->theta);
        change += f->trial[j] - f->error[at];
    }
    if (change / f->weights + pull(f, i, value) - pull(f, i, old) >= -1e-9) {
        f->theta.v[i] = old;
        return 0;
    }
    for (uint32_t j = 0; j < f->n_touched[i]; j++)
        f->error[f->touched[i][j]] = f->trial[j];
    return 1;
}

static double sweep(struct fit *f)
{
    double largest = 0;

    for (int i = 0; i < FT__N_THETA; i++) {
        double step = f->step[i], value = f->theta.v[i];

        if (!f->n_touched[i] || step < LAST_STEP)
            continue;
        if (try_value(f, i, value * exp(step)))
            f->step[i] = step * 1.5;
        else if (try_value(f, i, value * exp(-step)))
            f->step[i] = -step * 1.5;
        else
            f->step[i] = step / 2;
        f->step[i] = fabs(f->step[i]);
        largest = fmax(largest, f->step[i]);
    }
    return largest;
}

static double loss(struct fit *f, const ft__theta *theta, double *error)
{
    double sum = 0;

    for (size_t j = 0; j < f->n; j++)
        sum += error[j] = error_of(&f->sample[j], theta);
    sum /= f->weights;
    for (int i = 0; i < FT__N_THETA; i++)
        sum += pull(f, i, theta->v[i]);
    return sum;
}

/* Once more as far in the direction that all constants moved together. */
static void leap(struct fit *f, const ft__theta *before)
{
    ft__theta far = f->theta;
    double *error;

    for (int i = 0; i < FT__N_THETA; i++)
        far.v[i] = fmin(fmax(far.v[i] * far.v[i] / before->v[i], ranges[i].least),
                        ranges[i].most);
    if (loss(f, &far, f->trial) >= loss(f, &f->theta, f->error))
        return;
    f->theta = far;
    error = f->error;
    f->error = f->trial;
    f->trial = error;
}

static void search(struct fit *f)
{
    for (int i = 0; i < FT__N_THETA; i++)
        f->step[i] = FIRST_STEP;
    for (int round = 0; round < SWEEPS; round++) {
        ft__theta before = f->theta;

        (void)loss(f, &f->theta, f->error);
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
                             .log_time = log(row[i].time_s)};
        ft__work_make(&s->work, row[i].op, row[i].chip);
        if (ft__chip_lacks(row[i].chip) || !s->work.n || !isfinite(s->log_time) ||
            !(s->weight > 0))
            continue;
        f->weights += s->weight;
        used++;
    }
    f->n = used;
}

ft_status ft__physics_fit(ft__theta *theta, const ft__physics_row *row, size_t n,
                          uint64_t seed, ft_error *err)
{
    struct fit f = {
        .n = n < MOST_ROWS ? n : MOST_ROWS, .theta = *theta, .start = *theta};
    size_t room = f.n ? f.n : 1;

    f.sample = calloc(room, sizeof(*f.sample));
    f.error = calloc(room, sizeof(*f.error));
    f.trial = calloc(room, sizeof(*f.trial));
    f.memory = calloc(room * FT__N_THETA, sizeof(*f.memory));
    if (f.sample && f.error && f.trial && f.memory) {
        take(&f, row, n, seed);
        if (f.n)
            search(&f);
        *theta = f.theta;
    }
    free(f.sample);
    free(f.error);
    free(f.trial);
    free(f.memory);
    if (!f.sample || !f.error || !f.trial || !f.memory)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to fit %zu measurements", n);
    return FT_OK;
}
