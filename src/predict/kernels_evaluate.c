/* Devices or kernels left out in turn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "predict/kernels.h"
#include "predict/kernels_inside.h"

struct trial {
    const ft__launches *s;
    const ft_kernels_options *opt;
    ft_kernels_host host;
    const char *call;
    char *use;     /* rows to learn from */
    double *known; /* of hosts */
    double *all;   /* of hosts, from all rows */
    double *scratch;
    uint32_t out; /* which one is left out */
};

static uint32_t group(const struct trial *t, size_t i)
{
    return t->opt->by_kernel ? t->s->kernel[i] : t->s->device[i];
}

/* What is known of hosts though a device or kernel is left out. */
static void know_host(struct trial *t)
{
    uint32_t calls = t->s->calls.n;

    if (t->host == FT_KERNELS_HOST_UNKNOWN)
        return;
    for (uint32_t d = 0; d < t->s->devices.n; d++)
        for (uint32_t c = 0; c < calls; c++)
            if (t->host == FT_KERNELS_HOST_CALLS ||
                (t->call && strcmp(t->s->calls.v[c], t->call) == 0))
                t->known[d * calls + c] = t->all[d * calls + c];
}

static double same_kernel(const struct trial *t, uint32_t kernel)
{
    size_t n = 0;

    for (size_t i = 0; i < t->s->n; i++)
        if (t->use[i] && (t->opt->by_kernel || t->s->kernel[i] == kernel))
            t->scratch[n++] = t->s->row[i].time_s;
    return ft__median(t->scratch, n);
}

static void ask(ft_kernel_said *said, const struct trial *t, const ft_kernels *k,
                size_t i, double constant)
{
    const ft__launches *s = t->s;
    const ft_kernel_row *r = &s->row[i];
    const ft__gpu *gpu = &s->gpu[s->device[i]];
    ft__kernel_call call = {.launches = r->launches, .call_s = NAN};
    bool guessed = false;
    ft_kernel_estimate e;

    if (s->call[i] != UINT32_MAX)
        call.call_s = ft__hosts_call(&k->hosts, s->device[i], s->call[i], &guessed);
    if (guessed) {
        call.low = k->hosts.low;
        call.high = k->hosts.high;
    }
    ft__kernels_ask(&e, k, &r->work, gpu, &call);
    *said = (ft_kernel_said){
        .time_s = e.time.value,
        .low_s = e.time.low,
        .high_s = e.time.high,
        .physics_s = ft__kernel_time(&e.terms, call.launches, call.call_s, &k->theta),
        .roofline_s = r->launches * ft__kernel_roofline(&r->work, gpu),
        .constant_s = constant,
    };
}

static ft_status leave_out(ft_kernel_said *said, struct trial *t, ft_error *err)
{
    const ft__launches *s = t->s;
    ft_kernels *k = NULL;
    ft_status st;

    for (size_t i = 0; i < s->n; i++)
        t->use[i] = group(t, i) != t->out;
    st = ft__launches_calls(t->known, s, t->use, err);
    if (st)
        return st;
    know_host(t);
    st = ft__kernels_learn(&k, s, t->use, t->known, t->opt, err);
    for (uint32_t kernel = 0; kernel < s->kernels.n && !st; kernel++) {
        double constant = same_kernel(t, kernel);

        for (size_t i = 0; i < s->n; i++)
            if (!t->use[i] && s->kernel[i] == kernel)
                ask(&said[i], t, k, i, constant);
    }
    ft__kernels_free(k);
    return st;
}

static ft_status run(ft_kernel_said *said, struct trial *t, ft_error *err)
{
    const ft__launches *s = t->s;
    size_t hosts = (size_t)s->devices.n * s->calls.n + 1;
    uint32_t groups = t->opt->by_kernel ? s->kernels.n : s->devices.n;
    ft_status st;

    t->use = malloc(s->n + 1);
    t->scratch = calloc(s->n + 1, sizeof(*t->scratch));
    t->known = calloc(hosts, sizeof(*t->known));
    t->all = calloc(hosts, sizeof(*t->all));
    if (!t->use || !t->scratch || !t->known || !t->all)
        return ft_fail(err, FT_ENOMEM, 0, "%zu launches", s->n);
    memset(t->use, 1, s->n);
    st = ft__launches_calls(t->all, s, t->use, err);
    for (t->out = 0; t->out < groups && !st; t->out++)
        st = leave_out(said, t, err);
    return st;
}

ft_status ft_kernels_evaluate(ft_kernel_said *said, const ft_kernel_row *row, size_t n,
                              ft_kernels_host host, const char *call,
                              const ft_kernels_options *opt, ft_error *err)
{
    ft__launches s;
    struct trial t = {.s = &s, .opt = opt, .host = host, .call = call};
    ft_status st = ft__launches_make(&s, row, n, err);

    if (!st) {
        st = run(said, &t, err);
        ft__launches_free(&s);
    }
    free(t.use);
    free(t.scratch);
    free(t.known);
    free(t.all);
    return st;
}
