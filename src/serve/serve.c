/* A load on steps that are known: what fits, the run at the value and at both ends of
 * its steps, and the answer. */
#include <math.h>
#include <string.h>

#include "serve/serve.h"

static double activations_of(const ft_serve_steps *s, const ft_serve_load *load)
{
    return ft__llm_activations(&s->sizes, (double)load->max_batched_tokens,
                               (double)load->max_seqs);
}

static double kv_tokens_of(const ft_serve_steps *s, const ft_serve_load *load)
{
    const double left = load->memory_share * s->memory_bytes - s->sizes.weights -
                        activations_of(s, load) - ft__llm_workspace(&s->sizes);

    if (load->kv_tokens)
        return (double)load->kv_tokens;
    return s->kv_bytes_per_token > 0 ? fmax(0, left / s->kv_bytes_per_token) : INFINITY;
}

static ft_status check(const ft_serve_steps *s, const ft_serve_load *load,
                       const ft_served *out, ft_error *err)
{
    ft__serve_bounds b;

    ft__serve_bounds_of(&b, load);
    if (b.most_context > s->bounds.most_context || b.seqs > s->bounds.seqs ||
        b.tokens > s->bounds.tokens)
        return ft_fail(err, FT_EINVAL, 0,
                       "the load is larger than those that its steps were planned for");
    if (load->n_recorded && s->replicas * s->stages > 1)
        return ft_fail(err, FT_EINVAL, 0,
                       "recorded requests are not divided among replicas or stages: "
                       "leave --dim dp and pp away, or say how many arrive by --rate");
    if (!(s->memory_bytes > 0) && !load->kv_tokens)
        return ft_fail(err, FT_ENOTFOUND, 0, "the memory of %s is not known",
                       s->device);
    if (out->kv_tokens >= (double)b.most_context)
        return FT_OK;
    if (!load->kv_tokens && s->sizes.weights > load->memory_share * s->memory_bytes)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "it does not fit: %.1f GiB of weights on each of %llu x %s, which "
            "has %.1f GiB: divide them among more (--tp), or hold them in "
            "fewer bits (--precision fp8)",
            s->sizes.weights / (1 << 30), (unsigned long long)s->ranks * s->replicas,
            s->device, s->memory_bytes / (1 << 30));
    return ft_fail(err, FT_ENOTFOUND, 0,
                   "it does not fit: beside %.1f GiB of weights the cache of %s holds "
                   "%.0f tokens, and a request has up to %llu",
                   s->sizes.weights / (1 << 30), s->device, out->kv_tokens,
                   (unsigned long long)b.most_context);
}

/* Runs of a load: at the value and both ends of steps, then at both ends with requests
 * that stay together. */
enum { TOGETHER = 3, RUNS = TOGETHER + 2 };

static ft_estimate estimate(const ft_serve_steps *s, const double x[RUNS])
{
    ft_estimate e = {x[0], x[0], x[0], s->basis, ""};

    if (!isfinite(x[0]))
        return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "not known"};
    for (int i = 1; i < RUNS; i++) {
        e.low = fmin(e.low, x[i]);
        e.high = fmax(e.high, x[i]);
    }
    return e;
}

_Static_assert(RUNS == 5, "OF and RATIO name every run");
/* Of all runs the same quantity. */
#define OF(field)                                                                      \
    estimate(s, (const double[RUNS]){r[0].field, r[1].field, r[2].field, r[3].field,   \
                                     r[4].field})
#define RATIO(a, b)                                                                    \
    estimate(s, (const double[RUNS]){(a)(&r[0]) / (b)(&r[0]), (a)(&r[1]) / (b)(&r[1]), \
                                     (a)(&r[2]) / (b)(&r[2]), (a)(&r[3]) / (b)(&r[3]), \
                                     (a)(&r[4]) / (b)(&r[4])})

static double generated(const ft__serve_run *r)
{
    return r->generated;
}

static double duration(const ft__serve_run *r)
{
    return r->duration_s;
}

static double requests(const ft__serve_run *r)
{
    return (double)r->requests;
}

static double device_seconds(const ft__serve_run *r)
{
    return r->duration_s * (double)r->devices;
}

static double one(const ft__serve_run *r)
{
    (void)r;
    return 1;
}

static double time_per_token(const ft__serve_run *r)
{
    return r->latency[FT_SERVE_TPOT][FT_SERVE_MEAN];
}

static double prefill_j(const ft__serve_run *r)
{
    return r->prefill_j;
}

static double decode_j(const ft__serve_run *r)
{
    return r->decode_j;
}

static double idle_j(const ft__serve_run *r)
{
    return r->idle_j;
}

static double joules(const ft__serve_run *r)
{
    return r->prefill_j + r->decode_j + r->idle_j;
}

static void fill(ft_served *out, const ft_serve_steps *s, const ft__serve_run r[RUNS])
{
    for (int m = 0; m < FT_SERVE_METRIC_COUNT; m++)
        for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
            out->latency[m][p] = OF(latency[m][p]);
    out->duration_s = OF(duration_s);
    out->tokens_per_s = RATIO(generated, duration);
    out->tokens_per_s_per_user = RATIO(one, time_per_token);
    out->tokens_per_s_per_device = RATIO(generated, device_seconds);
    out->requests_per_s = RATIO(requests, duration);
    out->joules_per_token = RATIO(joules, generated);
    out->prefill_joules_per_token = RATIO(prefill_j, generated);
    out->decode_joules_per_token = RATIO(decode_j, generated);
    out->idle_joules_per_token = RATIO(idle_j, generated);
    out->power_w = RATIO(joules, duration);
    out->power_w.low = fmin(out->power_w.low, s->power.low * out->power_w.value);
    out->power_w.high = fmax(out->power_w.high, s->power.high * out->power_w.value);
    out->power_w.high = fmin(out->power_w.high, s->most_w * (double)r->devices);
    out->devices = r->devices;
    out->requests = r->requests;
    out->steps = r->steps;
    out->preemptions = r->preemptions;
    out->step_overhead_s = r->between_s;
    out->mean_batch = r->batch_s / r->duration_s;
    out->most_batch = r->most_batch;
    out->kv_peak = r->kv_peak;
}

static bool may_stay_together(const ft_serve_load *load)
{
    return load->vary > 0 && load->vary <= FT_SERVE_ALIKE && !load->n_recorded &&
           !(load->rate_per_s > 0) && load->concurrency > 1;
}

ft_status ft__serve_prepare(ft_serve_load *load, ft_served *out,
                            const ft_serve_steps *s, const ft_serve_load *asked,
                            ft_error *err)
{
    ft_status st = ft__serve_load_read(load, asked, s->memory_bytes, err);

    memset(out, 0, sizeof(*out));
    if (st)
        return st;
    out->device = s->device;
    out->title = s->title;
    out->predictor = s->predictor;
    out->run_mode = s->run_mode;
    out->no_hardware = s->no_hardware;
    out->basis = s->basis;
    out->kv_tokens = kv_tokens_of(s, load);
    out->kv_bytes_per_token = s->kv_bytes_per_token;
    out->weight_bytes = s->sizes.weights;
    out->activation_bytes = activations_of(s, load);
    out->memory_bytes = s->memory_bytes;
    out->max_batched_tokens = load->max_batched_tokens;
    out->prompts_alone = load->whole_prompts || s->engine.prompts_alone;
    out->may_draft = s->may_draft;
    out->may_stay_together = may_stay_together(load);
    st = check(s, load, out, err);
    out->fits = !st;
    return st;
}

/* The server may show its first tokens together: at the high end the last of them is
 * what a client sees first. */
static void hold_first_token(ft__serve_run *r, const ft__serve_engine *e)
{
    const double tpot = r->latency[FT_SERVE_TPOT][FT_SERVE_MEAN];

    if (isfinite(tpot))
        for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
            r->latency[FT_SERVE_TTFT][p] += e->held_tokens * tpot;
}

static ft_status run_together(ft__serve_run r[RUNS], const ft_serve_steps *s,
                              const ft_serve_load *load, const ft_served *of,
                              ft_error *err)
{
    const ft__serve_end ends[] = {FT__SERVE_LOW, FT__SERVE_HIGH};
    ft_serve_load equal = *load;
    ft_status st = FT_OK;

    equal.vary = 0;
    for (int i = 0; i < RUNS - TOGETHER && !st; i++) {
        r[TOGETHER + i] = r[ends[i]];
        if (of->may_stay_together)
            st = ft__serve_simulate(&r[TOGETHER + i], s, &equal, of->kv_tokens, ends[i],
                                    err);
    }
    return st;
}

ft_status ft_serve_run(ft_served *out, const ft_serve_steps *s,
                       const ft_serve_load *asked, ft_error *err)
{
    ft__serve_run r[RUNS];
    ft_serve_load load;
    ft_status st = ft__serve_prepare(&load, out, s, asked, err);

    for (int i = 0; i < TOGETHER && !st; i++)
        st = ft__serve_simulate(&r[i], s, &load, out->kv_tokens, (ft__serve_end)i, err);
    if (!st)
        st = run_together(r, s, &load, out, err);
    if (!st) {
        hold_first_token(&r[FT__SERVE_HIGH], &s->engine);
        fill(out, s, r);
    }
    return st;
}
