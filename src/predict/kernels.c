/* Learning from measured launches: constants of the physical estimate, what hosts need,
 * and a regressor of what the estimate misses on devices (kernels) it was not fitted
 * to. */
#include "predict/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "predict/importance.h"
#include "predict/kernels_inside.h"

/* Of each device and kernel so many rows fit constants, and so many a regressor. */
enum { FIT_EACH = 24, LEARN_EACH = 160, SMALLEST = 5, MOST_FOLDS = 6 };
/* A regressor has to better the estimate alone by this share. */
static const double WORTH = 0.03;
/* The smallest launches tell what the host needs as long as the device is busy for less
 * than this share of them. */
static const double HOSTS = 0.6;

/* ---- rows and their names ---- */

static uint32_t number_of(ft__names *names, const char *name)
{
    uint32_t i = 0;

    while (i < names->n && strcmp(names->v[i], name) != 0)
        i++;
    return i;
}

static ft_status add_name(uint32_t *out, ft__names *names, const char *name,
                          ft_error *err)
{
    char **v;

    *out = number_of(names, name);
    if (*out < names->n)
        return FT_OK;
    v = realloc(names->v, (names->n + 1u) * sizeof(*v));
    if (v)
        names->v = v;
    if (!v || !(v[names->n] = strdup(name)))
        return ft_fail(err, FT_ENOMEM, 0, "a name");
    names->n++;
    return FT_OK;
}

void ft__names_free(ft__names *names)
{
    for (uint32_t i = 0; i < names->n; i++)
        free(names->v[i]);
    free(names->v);
    *names = (ft__names){0};
}

static ft_status add_row(ft__launches *s, size_t i, ft_error *err)
{
    const ft_kernel_row *r = &s->row[i];
    uint32_t devices = s->devices.n;
    ft_status st = add_name(&s->device[i], &s->devices, r->device->name, err);

    if (!st && s->devices.n > devices) {
        ft__gpu *gpu = realloc(s->gpu, s->devices.n * sizeof(*gpu));

        if (!gpu)
            return ft_fail(err, FT_ENOMEM, 0, "a device");
        s->gpu = gpu;
        st = ft__gpu_make(&gpu[devices], r->device, err);
    }
    if (!st)
        st = add_name(&s->kernel[i], &s->kernels, r->kernel, err);
    s->call[i] = UINT32_MAX;
    return st || !r->call ? st : add_name(&s->call[i], &s->calls, r->call, err);
}

ft_status ft__launches_make(ft__launches *out, const ft_kernel_row *row, size_t n,
                            ft_error *err)
{
    ft_status st = FT_OK;

    *out = (ft__launches){.row = row,
                          .n = n,
                          .device = calloc(n + 1, sizeof(uint32_t)),
                          .kernel = calloc(n + 1, sizeof(uint32_t)),
                          .call = calloc(n + 1, sizeof(uint32_t))};
    if (!out->device || !out->kernel || !out->call)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
    for (size_t i = 0; i < n && !st; i++) {
        if (!(row[i].time_s > 0) || !isfinite(row[i].time_s))
            st = ft_fail(err, FT_EINVAL, 0,
                         "launch %zu (%s on %s) has no time; give seconds above 0",
                         i + 1, row[i].kernel, row[i].device->name);
        else
            st = add_row(out, i, err);
    }
    if (st)
        ft__launches_free(out);
    return st;
}

void ft__launches_free(ft__launches *s)
{
    free(s->device);
    free(s->kernel);
    free(s->call);
    free(s->gpu);
    ft__names_free(&s->devices);
    ft__names_free(&s->kernels);
    ft__names_free(&s->calls);
    *s = (ft__launches){0};
}

/* ---- hosts ---- */

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

static bool is_hosts(const ft__launches *s, size_t i)
{
    const ft__kernel_theta usual = ft__kernel_default();
    ft_kernel_terms t;

    ft__kernel_price(&t, &s->row[i].work, &s->gpu[s->device[i]], &usual);
    return s->row[i].launches * t.device_s < HOSTS * s->row[i].time_s;
}

ft_status ft__launches_calls(double *known, const ft__launches *s, const char *use,
                             ft_error *err)
{
    size_t n = (size_t)s->devices.n * s->calls.n;
    struct smallest *v = calloc(n + 1, sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu calls", n);
    for (size_t i = 0; i < s->n; i++)
        if (use[i] && s->call[i] != UINT32_MAX && is_hosts(s, i))
            keep_smallest(&v[s->device[i] * s->calls.n + s->call[i]],
                          s->row[i].work.distinct_bytes, s->row[i].time_s);
    for (size_t i = 0; i < n; i++)
        known[i] = v[i].n ? log(ft__median(v[i].time_s, v[i].n)) : (double)NAN;
    free(v);
    return FT_OK;
}

double ft__hosts_call(const ft__hosts *h, uint32_t device, uint32_t call, bool *guessed)
{
    double part = call < h->n_calls ? h->part[call] : 0;
    double level = device < h->n_devices ? h->level[device] : (double)NAN;

    *guessed = false;
    if (device < h->n_devices && call < h->n_calls &&
        isfinite(h->known[device * h->n_calls + call]))
        return exp(h->known[device * h->n_calls + call]);
    *guessed = !isfinite(level);
    return exp((*guessed ? h->usual : level) + part);
}

/* ---- learning ---- */

struct lesson {
    const ft__launches *s;
    ft_kernels *k;
    const ft_kernels_options *opt;
    uint32_t *row; /* drawn ones */
    uint32_t *fold;
    char *fits; /* constants are fitted to it */
    size_t n;
    uint32_t n_folds;
    ft__kernel_sample *sample; /* scratch */
    float *x;
    double *y, *said, *spread;
    uint64_t *group;
};

static void lesson_free(struct lesson *l)
{
    free(l->row);
    free(l->fold);
    free(l->fits);
    free(l->sample);
    free(l->x);
    free(l->y);
    free(l->said);
    free(l->spread);
    free(l->group);
}

static ft_status lesson_room(struct lesson *l, ft_error *err)
{
    size_t n = l->s->n + 1;

    l->row = calloc(n, sizeof(*l->row));
    l->fold = calloc(n, sizeof(*l->fold));
    l->fits = calloc(n, sizeof(*l->fits));
    l->sample = calloc(n, sizeof(*l->sample));
    return l->row && l->fold && l->fits && l->sample
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu launches", l->s->n);
}

/* In an order that is as good as any: rows whose random number is lowest, about `each`
 * of every device and kernel. */
static ft_status draw(struct lesson *l, const char *use, ft_error *err)
{
    const ft__launches *s = l->s;
    size_t cells = (size_t)s->devices.n * s->kernels.n;
    size_t *have = calloc(cells + 1, sizeof(*have));

    if (!have)
        return ft_fail(err, FT_ENOMEM, 0, "%zu kernels", cells);
    for (size_t i = 0; i < s->n; i++)
        have[s->device[i] * s->kernels.n + s->kernel[i]] += use[i] != 0;
    for (size_t i = 0; i < s->n; i++) {
        double n = (double)have[s->device[i] * s->kernels.n + s->kernel[i]];
        ft__prng p = ft__prng_stream(l->opt->seed, i);
        double u = ft__prng_unit(&p) * n;

        if (!use[i] || u >= LEARN_EACH)
            continue;
        l->fits[l->n] = u < FIT_EACH;
        l->row[l->n++] = (uint32_t)i;
    }
    free(have);
    return FT_OK;
}

/* Whole devices or kernels make folds. */
static void deal(struct lesson *l)
{
    const ft__launches *s = l->s;
    uint32_t seen = 0, groups = l->opt->by_kernel ? s->kernels.n : s->devices.n;

    l->n_folds = 0;
    for (uint32_t g = 0; g < groups; g++) {
        bool has = false;

        for (size_t j = 0; j < l->n; j++) {
            uint32_t i = l->row[j];

            if ((l->opt->by_kernel ? s->kernel[i] : s->device[i]) != g)
                continue;
            l->fold[j] = seen % MOST_FOLDS;
            has = true;
        }
        seen += has;
    }
    l->n_folds = seen < MOST_FOLDS ? seen : MOST_FOLDS;
}

static ft__kernel_sample sample_of(const struct lesson *l, uint32_t i)
{
    const ft__launches *s = l->s;
    bool guessed;
    double call = s->call[i] == UINT32_MAX ? (double)NAN
                                           : ft__hosts_call(&l->k->hosts, s->device[i],
                                                            s->call[i], &guessed);

    return (ft__kernel_sample){.work = &s->row[i].work,
                               .gpu = &s->gpu[s->device[i]],
                               .launches = s->row[i].launches,
                               .call_s = call,
                               .time_s = s->row[i].time_s};
}

/* From all folds but one; without UINT32_MAX from all. */
static ft_status constants(ft__kernel_theta *out, struct lesson *l, uint32_t without,
                           ft_error *err)
{
    size_t n = 0;

    for (size_t j = 0; j < l->n; j++)
        if (l->fits[j] && l->fold[j] != without)
            l->sample[n++] = sample_of(l, l->row[j]);
    return ft__kernel_fit(out, l->sample, n, err);
}

static double fill(float *x, const ft__kernel_sample *v, const ft__kernel_theta *theta,
                   int of_gpu)
{
    ft_kernel_terms t;

    ft__kernel_price(&t, v->work, v->gpu, theta);
    if (x)
        ft__kernel_fill(x, v->work, v->gpu, &t, v->launches, v->call_s, of_gpu);
    return ft__kernel_time(&t, v->launches, v->call_s, theta);
}

/* What constants that were fitted without a row's fold miss of it. */
static ft_status misses(struct lesson *l, ft_error *err)
{
    uint32_t width = ft__kernel_columns(l->opt->by_kernel);

    for (uint32_t f = 0; f < l->n_folds; f++) {
        ft__kernel_theta theta;
        ft_status st = constants(&theta, l, f, err);

        if (st)
            return st;
        for (size_t j = 0; j < l->n; j++) {
            ft__kernel_sample v;

            if (l->fold[j] != f)
                continue;
            v = sample_of(l, l->row[j]);
            l->y[j] =
                log(v.time_s / fill(l->x + j * width, &v, &theta, l->opt->by_kernel));
            l->group[j] = f;
        }
    }
    return FT_OK;
}

static void name_column(const void *with, char out[48], uint32_t i)
{
    (void)with;
    snprintf(out, 48, "%s", ft__kernel_column(i));
}

static ft_status tell_importance(const struct lesson *l, const ft_importance *worth,
                                 ft_error *err)
{
    const ft__importance_to to = {l->opt->importance, l->opt->importance_user};
    const ft_regressor_attributes of = {.kind = "kernel",
                                        .metric = "time",
                                        .phase = "",
                                        .unseen = !l->opt->by_kernel,
                                        .n = ft__kernel_columns(l->opt->by_kernel)};

    return ft__importance_tell_named(&to, &of, worth, name_column, NULL, err);
}

static ft_status regress(struct lesson *l, ft_error *err)
{
    uint32_t width = ft__kernel_columns(l->opt->by_kernel);
    ft__fit_options how = {.methods = 1u << FT_METHOD_EXTRA,
                           .mix = 1,
                           .n_folds = l->n_folds,
                           .gain = WORTH,
                           .n_trees = 32,
                           .seed = l->opt->seed,
                           .threads = l->opt->threads};
    ft_matrix m;
    ft_status st;

    l->x = calloc(l->n * width + 1, sizeof(*l->x));
    l->y = calloc(l->n + 1, sizeof(*l->y));
    l->said = calloc(l->n + 1, sizeof(*l->said));
    l->spread = calloc(l->n + 1, sizeof(*l->spread));
    l->group = calloc(l->n + 1, sizeof(*l->group));
    if (l->opt->importance)
        how.importance = calloc(width + 1u, sizeof(*how.importance));
    if (!l->x || !l->y || !l->said || !l->spread || !l->group ||
        (l->opt->importance && !how.importance)) {
        free(how.importance);
        return ft_fail(err, FT_ENOMEM, 0, "%zu launches", l->n);
    }
    st = misses(l, err);
    m = (ft_matrix){l->x, l->n, width};
    if (!st)
        st =
            ft__fit_make(&l->k->fit, l->said, l->spread, &m, l->y, l->group, &how, err);
    if (!st && how.importance)
        st = tell_importance(l, how.importance, err);
    free(how.importance);
    return st;
}

static ft_status learn(struct lesson *l, const char *use, ft_error *err)
{
    ft_status st = lesson_room(l, err);

    if (!st)
        st = draw(l, use, err);
    if (!st)
        deal(l);
    if (!st && l->n_folds < 2)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "there are launches of one %s only; to tell others, measure "
                     "more of them",
                     l->opt->by_kernel ? "kernel" : "device");
    if (!st)
        st = constants(&l->k->theta, l, UINT32_MAX, err);
    return st ? st : regress(l, err);
}

ft_status ft__kernels_learn(ft_kernels **out, const ft__launches *s, const char *use,
                            const double *known, const ft_kernels_options *opt,
                            ft_error *err)
{
    ft_kernels *k = calloc(1, sizeof(*k));
    struct lesson l = {.s = s, .k = k, .opt = opt};
    ft_status st;

    *out = NULL;
    if (!k)
        return ft_fail(err, FT_ENOMEM, 0, "what is learned");
    k->of_gpu = opt->by_kernel;
    st = ft__hosts_make(&k->hosts, known, s->devices.n, s->calls.n, err);
    if (!st)
        st = learn(&l, use, err);
    lesson_free(&l);
    if (st) {
        ft__kernels_free(k);
        return st;
    }
    *out = k;
    return FT_OK;
}

void ft__kernels_free(ft_kernels *k)
{
    if (!k)
        return;
    ft__fit_free(&k->fit);
    ft__hosts_free(&k->hosts);
    free(k->bytes);
    free(k);
}

ft_status ft__kernels_train(ft_kernels **out, const ft_kernel_row *row, size_t n,
                            const ft_kernels_options *opt, ft_error *err)
{
    ft__launches s;
    char *use = malloc(n + 1);
    double *known = NULL;
    ft_status st = ft__launches_make(&s, row, n, err);

    *out = NULL;
    if (!st) {
        known = calloc((size_t)s.devices.n * s.calls.n + 1, sizeof(*known));
        if (!use || !known)
            st = ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
    }
    if (!st) {
        memset(use, 1, n);
        st = ft__launches_calls(known, &s, use, err);
    }
    if (!st)
        st = ft__kernels_learn(out, &s, use, known, opt, err);
    ft__launches_free(&s);
    free(known);
    free(use);
    return st;
}
