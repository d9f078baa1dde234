/* Learning from measured launches (in: their counts and times; out: ft__kernel_models):
 * constants of the physical estimate, what hosts need, and regressors of what the
 * estimate misses on kernels and on devices that it was not fitted to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/prng.h"
#include "base/stats.h"
#include "learn/learn_inside.h"
#include "learn/numerics.h"
#include "physics/kernel.h"
#include "predict/model/importance.h"
#include "predict/model/kernels.h"

/* Of each device and kernel so many rows fit constants, and so many a regressor. */
enum { FIT_EACH = 24, LEARN_EACH = 160, SMALLEST = 5, MOST_FOLDS = 6 };
/* A regressor has to better the estimate alone by this share. */
static const double WORTH = 0.03;
/* The smallest launches tell what the host needs as long as the device is busy for less
 * than this share of them. */
static const double HOSTS = 0.6;

static const double NUDGE = 1e-3;  /* of a logarithm, for derivatives */
static const double SMALL = 0.03;  /* errors below count squared */
static const double TYPICAL = 0.1; /* size of an error, to weigh the prior against */
static const double SPREAD = 0.7;  /* prior of a constant's logarithm */
enum { STEPS = 60, N = FT__N_KERNEL_CONSTANTS };

static const struct kernel_constant_range {
    double value, least, most;
} ranges[N] = {
#define FT__KERNEL_CONSTANT(name, value, least, most) {value, least, most},
#include "physics/kernel.def"
#undef FT__KERNEL_CONSTANT
};

struct kernel_sample {
    const ft__kernel_work *work;
    const ft__gpu *gpu;
    double call_s, time_s;
};

struct kernel_samples {
    const struct kernel_sample *v;
    size_t n;
};

static ft__kernel_params parameters_at(const double *x)
{
    ft__kernel_params t;

    for (int i = 0; i < N; i++)
        t.v[i] = fmin(fmax(exp(x[i]), ranges[i].least), ranges[i].most);
    return t;
}

static double loss(const struct kernel_samples *j, const double *x)
{
    ft__kernel_params params = parameters_at(x);
    double sum = 0;

    for (size_t i = 0; i < j->n; i++) {
        const struct kernel_sample *s = &j->v[i];
        ft_kernel_terms t;
        double miss;

        ft__kernel_cost(&t, s->work, s->gpu, &params);
        miss = log(ft__kernel_time(&t, s->call_s, &params) / s->time_s);
        sum += (sqrt(miss * miss + SMALL * SMALL) - SMALL) / TYPICAL;
    }
    for (int i = 0; i < N; i++) {
        double away = (x[i] - log(ranges[i].value)) / SPREAD;

        sum += away * away / 2;
    }
    return sum;
}

static double slope(void *with, const double *x, double *gradient)
{
    double at = loss(with, x), neighbours[N];

    memcpy(neighbours, x, sizeof(neighbours));
    for (int i = 0; i < N; i++) {
        neighbours[i] = x[i] + NUDGE;
        gradient[i] = (loss(with, neighbours) - at) / NUDGE;
        neighbours[i] = x[i];
    }
    return at;
}

/* Least absolute errors of log(estimate / time), with a mild pull to the defaults. */
static ft_status fit_constants(ft__kernel_params *out, const struct kernel_sample *v,
                               size_t n, ft_error *err)
{
    struct kernel_samples job = {v, n};
    double x[N], least;
    ft_status st;

    for (int i = 0; i < N; i++)
        x[i] = log(ranges[i].value);
    st = ft__minimise(&least, x, N, STEPS, slope, &job, err);
    *out = parameters_at(x);
    return st;
}

static double median_known(double *scratch, const double *v, size_t n)
{
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i]))
            scratch[known++] = v[i];
    return ft__median(scratch, known);
}

/* Alternates between host levels and call parts, each the median of what the other
 * leaves. */
static void part_from_level(ft__hosts *h, double *left, double *scratch)
{
    enum { ROUNDS = 10 };

    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t d = 0; d < h->n_devices; d++) {
            for (uint32_t c = 0; c < h->n_calls; c++)
                left[c] = h->known[d * h->n_calls + c] - h->part[c];
            h->level[d] = median_known(scratch, left, h->n_calls);
        }
        for (uint32_t c = 0; c < h->n_calls; c++) {
            double m;

            for (uint32_t d = 0; d < h->n_devices; d++)
                left[d] = h->known[d * h->n_calls + c] - h->level[d];
            m = median_known(scratch, left, h->n_devices);
            h->part[c] = isfinite(m) ? m : 0;
        }
    }
}

/* What levels usually are is estimated by a quantile of the known ones: that of a few
 * which tells each of them best from the others. Many machines have hosts alike and
 * some have slow ones, so it need not be the median. */
static double level_quantile(double *scratch, const double *level, uint32_t n,
                             uint32_t without, double quantile)
{
    size_t k = 0;

    for (uint32_t i = 0; i < n; i++)
        if (i != without && isfinite(level[i]))
            scratch[k++] = level[i];
    ft__sort(scratch, k);
    return ft__quantile(scratch, k, quantile);
}

static ft_status choose_usual(ft__hosts *h, double *scratch, ft_error *err)
{
    static const double quantiles[] = {0.5, 0.25, 0};
    double best = INFINITY, *miss = calloc(h->n_devices + 1u, sizeof(*miss));
    ft_status st = FT_OK;

    if (!miss)
        return ft_fail(err, FT_ENOMEM, 0, "%u devices", h->n_devices);
    for (size_t q = 0; q < 3; q++) {
        double error = 0;
        size_t n = 0;

        for (uint32_t d = 0; d < h->n_devices; d++) {
            double m = h->level[d] -
                       level_quantile(scratch, h->level, h->n_devices, d, quantiles[q]);

            if (!isfinite(m))
                continue;
            error += fabs(m);
            miss[n++] = m;
        }
        if (error >= best && q > 0)
            continue;
        best = error;
        h->usual =
            level_quantile(scratch, h->level, h->n_devices, UINT32_MAX, quantiles[q]);
        h->low = h->high = 0;
        if (n && !st)
            st = ft__conformal(&h->low, &h->high, miss, n, FT__COVERAGE, err);
    }
    free(miss);
    return st;
}

static ft_status spread_parts(ft__hosts *h, ft_error *err)
{
    h->part_low = h->part_high = 0;
    return h->n_calls > 1 ? ft__conformal(&h->part_low, &h->part_high, h->part,
                                          h->n_calls, FT__COVERAGE, err)
                          : FT_OK;
}

/* known[n_devices x n_calls]: logarithms. What is there of *out on failure is freed
 * with the rest. */
static ft_status hosts_make(ft__hosts *out, const double *known, uint32_t n_devices,
                            uint32_t n_calls, ft_error *err)
{
    size_t most = (n_devices > n_calls ? n_devices : n_calls) + 1u;
    double *left = malloc(most * sizeof(*left)),
           *scratch = malloc(most * sizeof(*left));
    ft_status st = FT_OK;

    *out =
        (ft__hosts){.n_devices = n_devices,
                    .n_calls = n_calls,
                    .known = malloc(((size_t)n_devices * n_calls + 1) * sizeof(double)),
                    .level = calloc(n_devices + 1u, sizeof(double)),
                    .part = calloc(n_calls + 1u, sizeof(double)),
                    .usual = NAN};
    if (!left || !scratch || !out->known || !out->level || !out->part)
        st = ft_fail(err, FT_ENOMEM, 0, "%u devices", n_devices);
    if (!st) {
        memcpy(out->known, known, (size_t)n_devices * n_calls * sizeof(*known));
        part_from_level(out, left, scratch);
        st = choose_usual(out, scratch, err);
    }
    if (!st)
        st = spread_parts(out, err);
    free(left);
    free(scratch);
    return st;
}

static const uint32_t no_call = UINT32_MAX;

struct launch {
    const ft__kernel_row *row;
    uint32_t device, chip, kernel, call;
    uint32_t fold; /* of what is left out */
    bool fits;     /* constants are fitted to it */
};

struct kernel_lesson {
    ft__arena room;
    ft__kernel_models *k;
    const ft__kernels_options *opt;
    struct launch *v;
    size_t n;
    ft__gpu *gpu; /* of each device */
    ft__name_list chips;
    struct kernel_sample *sample; /* scratch */
    /* Of those that regressors learn from: */
    uint32_t *of; /* in v */
    size_t n_drawn;
    float *x;
    double *y, *predicted, *residual_scale;
    uint64_t *group;
};

static void lesson_free(struct kernel_lesson *l)
{
    ft__names_free(&l->chips);
    ft__arena_free(&l->room);
}

static ft_status lesson_room(struct kernel_lesson *l, size_t n, ft_error *err)
{
    const uint32_t width = ft__kernel_columns(NULL, 1);

    l->v = ft__arena_need(&l->room, n + 1, sizeof(*l->v));
    l->gpu = ft__arena_need(&l->room, n + 1, sizeof(*l->gpu));
    l->sample = ft__arena_need(&l->room, n + 1, sizeof(*l->sample));
    l->of = ft__arena_need(&l->room, n + 1, sizeof(*l->of));
    l->x = ft__arena_need(&l->room, n * width + 1, sizeof(*l->x));
    l->y = ft__arena_need(&l->room, n + 1, sizeof(*l->y));
    l->predicted = ft__arena_need(&l->room, n + 1, sizeof(*l->predicted));
    l->residual_scale = ft__arena_need(&l->room, n + 1, sizeof(*l->residual_scale));
    l->group = ft__arena_need(&l->room, n + 1, sizeof(*l->group));
    l->k->n_of = calloc(n + 1, sizeof(*l->k->n_of));
    return !l->room.bad && l->k->n_of ? FT_OK
                                      : ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
}

static ft_status add_launch(struct kernel_lesson *l, const ft__kernel_row *r,
                            ft_error *err)
{
    struct launch *v = &l->v[l->n];
    const uint32_t devices = l->k->devices.n;
    ft_status st;

    if (!(r->time_s > 0) || !isfinite(r->time_s))
        return ft_fail(err, FT_EINVAL, 0,
                       "launch %zu (%s on %s) has no time; give seconds above 0",
                       l->n + 1, r->kernel, r->device->name);
    *v = (struct launch){.row = r, .call = no_call};
    st = ft__names_add(&v->device, &l->k->devices, r->device->name, err);
    if (!st && l->k->devices.n > devices)
        st = ft__gpu_make(&l->gpu[devices], r->device, err);
    if (!st)
        st = ft__names_add(&v->chip, &l->chips, r->device->chip, err);
    if (!st)
        st = ft__names_add(&v->kernel, &l->k->kernels, r->kernel, err);
    if (!st && r->call)
        st = ft__names_add(&v->call, &l->k->calls, r->call, err);
    if (st)
        return st;
    l->k->n_of[v->device]++;
    l->n++;
    return FT_OK;
}

struct smallest {
    double bytes[SMALLEST], time_s[SMALLEST];
    uint32_t n;
};

static void keep_smallest(struct smallest *s, double bytes, double time_s)
{
    uint32_t at = s->n < SMALLEST ? s->n++ : SMALLEST;

    if (at == SMALLEST) {
        at = 0;
        for (uint32_t i = 1; i < SMALLEST; i++)
            if (s->bytes[i] > s->bytes[at])
                at = i;
        if (s->bytes[at] <= bytes)
            return;
    }
    s->bytes[at] = bytes;
    s->time_s[at] = time_s;
}

static bool is_hosts(const struct kernel_lesson *l, const struct launch *v)
{
    const ft__kernel_params usual = ft__kernel_default();
    ft_kernel_terms t;

    ft__kernel_cost(&t, &v->row->work, &l->gpu[v->device], &usual);
    return t.device_s < HOSTS * v->row->time_s;
}

/* Of each device and call how long its smallest launches take; NaN: it has none, or is
 * busy all the while. */
static ft_status learn_hosts(struct kernel_lesson *l, ft_error *err)
{
    const uint32_t calls = l->k->calls.n;
    const size_t n = (size_t)l->k->devices.n * calls;
    struct smallest *v = calloc(n + 1, sizeof(*v));
    double *known = calloc(n + 1, sizeof(*known));
    ft_status st = FT_OK;

    if (!v || !known)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu calls", n);
    for (size_t i = 0; i < l->n && !st; i++)
        if (l->v[i].call != no_call && is_hosts(l, &l->v[i]))
            keep_smallest(&v[l->v[i].device * calls + l->v[i].call],
                          l->v[i].row->work.distinct_bytes, l->v[i].row->time_s);
    for (size_t i = 0; i < n && !st; i++)
        known[i] = v[i].n ? log(ft__median(v[i].time_s, v[i].n)) : (double)NAN;
    if (!st)
        st = hosts_make(&l->k->hosts, known, l->k->devices.n, calls, err);
    free(v);
    free(known);
    return st;
}

/* In an order that is as good as any: rows whose random number is lowest, about `each`
 * of every device and kernel. */
static ft_status draw(struct kernel_lesson *l, ft_error *err)
{
    const uint32_t kernels = l->k->kernels.n;
    const size_t cells = (size_t)l->k->devices.n * kernels;
    double *have = calloc(cells + 1, sizeof(*have));

    if (!have)
        return ft_fail(err, FT_ENOMEM, 0, "%zu kernels", cells);
    for (size_t i = 0; i < l->n; i++)
        have[l->v[i].device * kernels + l->v[i].kernel]++;
    for (size_t i = 0; i < l->n; i++) {
        struct launch *v = &l->v[i];
        ft__prng p = ft__prng_stream(l->opt->seed, i);
        double u = ft__prng_unit(&p) * have[v->device * kernels + v->kernel];

        v->fits = u < FIT_EACH;
        if (u < LEARN_EACH)
            l->of[l->n_drawn++] = (uint32_t)i;
    }
    free(have);
    return FT_OK;
}

static struct kernel_sample sample_of(const struct kernel_lesson *l,
                                      const struct launch *v)
{
    const ft__kernel_row *r = v->row;
    const double call_s =
        r->call ? ft__hosts_call(l->k, r->device->name, r->call).call_s : (double)NAN;

    return (struct kernel_sample){.work = &r->work,
                                  .gpu = &l->gpu[v->device],
                                  .call_s = call_s,
                                  .time_s = r->time_s};
}

/* From all folds but one; without UINT32_MAX from all. */
static ft_status constants(ft__kernel_params *out, struct kernel_lesson *l,
                           uint32_t without, ft_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].fits && l->v[i].fold != without)
            l->sample[n++] = sample_of(l, &l->v[i]);
    return fit_constants(out, l->sample, n, err);
}

static double fill(float *x, const struct kernel_sample *v,
                   const ft__kernel_params *params, int of_gpu)
{
    ft_kernel_terms t;

    ft__kernel_cost(&t, v->work, v->gpu, params);
    ft__kernel_fill(x, v->work, v->gpu, &t, v->call_s, of_gpu);
    return ft__kernel_time(&t, v->call_s, params);
}

/* Residuals of the estimate with constants fitted to the other folds. */
static ft_status misses(struct kernel_lesson *l, uint32_t n_folds, int of_gpu,
                        ft_error *err)
{
    const uint32_t width = ft__kernel_columns(NULL, of_gpu);

    for (uint32_t f = 0; f < n_folds; f++) {
        ft__kernel_params params;
        ft_status st = constants(&params, l, f, err);

        if (st)
            return st;
        for (size_t j = 0; j < l->n_drawn; j++) {
            const struct launch *v = &l->v[l->of[j]];
            struct kernel_sample s;

            if (v->fold != f)
                continue;
            s = sample_of(l, v);
            l->y[j] = log(s.time_s / fill(l->x + j * width, &s, &params, of_gpu));
            l->group[j] = f;
        }
    }
    return FT_OK;
}

static void name_column(const void *with, char out[48], uint32_t i)
{
    const char *const *name;

    (void)with;
    ft__kernel_columns(&name, 1);
    snprintf(out, 48, "%s", name[i]);
}

/* How far off the answers out of fold are, beside the estimate alone and always the
 * same ratio to it. */
static ft_status find_errors(ft__kernel_regressor *r, const struct kernel_lesson *l,
                             ft_error *err)
{
    double *v = calloc(4 * l->n_drawn + 1, sizeof(*v)), *learned = v + l->n_drawn,
           *physics = learned + l->n_drawn, *constant = physics + l->n_drawn;
    size_t n = 0;
    ft_status st;

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu launches", l->n_drawn);
    for (size_t j = 0; j < l->n_drawn; j++) {
        if (!isfinite(l->predicted[j]))
            continue;
        v[n] = l->v[l->of[j]].row->time_s;
        physics[n] = v[n] / exp(l->y[j]);
        learned[n] = physics[n] * exp(l->predicted[j]);
        constant[n] = physics[n] * exp(r->fit.centre);
        n++;
    }
    st = ft__errors_compute(&r->learned, v, learned, n, 0, err);
    if (!st)
        st = ft__errors_compute(&r->constant, v, constant, n, 0, err);
    if (!st)
        st = ft__errors_compute(&r->physics, v, physics, n, 0, err);
    free(v);
    return st;
}

static ft_status regress(struct kernel_lesson *l, int which, uint32_t n_folds,
                         ft_error *err)
{
    const int of_gpu = which == FT__OF_KERNELS;
    ft__kernel_regressor *r = &l->k->of[which];
    ft__fit_options how = {.methods = 1u << FT_METHOD_EXTRA,
                           .mix = 1,
                           .n_folds = n_folds,
                           .gain = WORTH,
                           .n_trees = 32,
                           .seed = l->opt->seed,
                           .threads = l->opt->threads};
    const ft__matrix m = {l->x, l->n_drawn, ft__kernel_columns(NULL, of_gpu)};
    const ft__importance_of ask = {.to = l->opt->importance,
                                   .of = {.kind = "kernel",
                                          .metric = "time",
                                          .phase = "",
                                          .unseen = which == FT__OF_DEVICES,
                                          .n = (uint32_t)m.n_cols},
                                   .name = name_column};
    ft_status st = misses(l, n_folds, of_gpu, err);

    if (!st)
        st = ft__importance_fit(&r->fit, l->predicted, l->residual_scale, &m, l->y,
                                l->group, &how, &ask, err);
    return st ? st : find_errors(r, l, err);
}

/* Whole kernels or chips make folds. None of one alone. */
static ft_status learn(struct kernel_lesson *l, int which, ft_error *err)
{
    const uint32_t n = which == FT__OF_KERNELS ? l->k->kernels.n : l->chips.n;

    if (n < 2)
        return FT_OK;
    for (size_t i = 0; i < l->n; i++)
        l->v[i].fold =
            (which == FT__OF_KERNELS ? l->v[i].kernel : l->v[i].chip) % MOST_FOLDS;
    return regress(l, which, n < MOST_FOLDS ? n : MOST_FOLDS, err);
}

static ft_status learn_all(struct kernel_lesson *l, ft_error *err)
{
    ft_status st = learn_hosts(l, err);

    if (!st)
        st = draw(l, err);
    if (!st && !l->n)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "no launch of a kernel is left to learn from");
    if (!st && l->k->kernels.n < 2 && l->chips.n < 2)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "there are launches of one kernel on one GPU only; to tell "
                     "others, measure more of them");
    if (!st)
        st = constants(&l->k->params, l, UINT32_MAX, err);
    if (!st)
        st = learn(l, FT__OF_KERNELS, err);
    return st ? st : learn(l, FT__OF_DEVICES, err);
}

ft_status ft__kernels_train(ft__kernel_models **out, const ft__kernel_row *row,
                            const uint32_t *use, size_t n,
                            const ft__kernels_options *opt, ft_error *err)
{
    struct kernel_lesson l = {.k = calloc(1, sizeof(*l.k)), .opt = opt};
    ft_status st = l.k ? lesson_room(&l, n, err)
                       : ft_fail(err, FT_ENOMEM, 0, "what is learned of kernels");

    *out = NULL;
    for (size_t i = 0; i < n && !st; i++)
        st = add_launch(&l, &row[use ? use[i] : i], err);
    if (!st)
        st = learn_all(&l, err);
    lesson_free(&l);
    if (st) {
        ft__kernels_free(l.k);
        return st;
    }
    *out = l.k;
    return FT_OK;
}
