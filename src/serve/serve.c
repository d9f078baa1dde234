/* A load on steps that are known: what fits, the run at the value and at both ends of
 * its steps, and the answer. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "serve/serve.h"

static double activations_of(const ft_serve_steps *s, const ft_serve_load *load,
                             const ft__llm_sizes *of)
{
    return ft__llm_activations(of, (double)load->max_batched_tokens,
                               (double)load->max_seqs, s->engine.sorted_logits);
}

/* Memory for weights, activations and the KV cache together. */
static double memory_of(const ft_serve_steps *s, const ft_serve_load *load)
{
    return s->memory_bytes * (s->engine.shares_free ? 1 : load->memory_share);
}

/* What sizes leave for the cache; negative: it lacks. */
static double left_of(const ft_serve_steps *s, const ft_serve_load *load,
                      const ft__llm_sizes *of)
{
    const double used = of->weights + activations_of(s, load, of) +
                        ft__llm_workspace(of, s->engine.reserves_graphs);

    return (memory_of(s, load) - used) *
           (s->engine.shares_free ? load->memory_share : 1);
}

static double kv_tokens_of(const ft_serve_steps *s, const ft_serve_load *load)
{
    if (load->kv_tokens)
        return (double)load->kv_tokens;
    return s->kv_bytes_per_token > 0
               ? fmax(0, left_of(s, load, &s->sizes)) / s->kv_bytes_per_token
               : INFINITY;
}

/* With weights in so many bits, but embedding and head, of 16 as they stay. */
static ft__llm_sizes in_bits(const ft__llm_sizes *of, double bits)
{
    ft__llm_sizes out = *of;

    out.weights =
        (bits * of->parameters + (16 - bits) * 2 * of->vocab * of->hidden) / 8;
    return out;
}

/* Behind why it does not fit: ranks and types with which such a request does. */
static void say_what_fits(ft__buf *out, const ft_serve_steps *s,
                          const ft_serve_load *load, double most_context)
{
    static const struct {
        const char *name;
        double bits; /* with scales */
    } types[] = {{"fp8", 8}, {"fp4", 4.5}};
    const double part = most_context * s->kv_bytes_per_token / s->sizes.cache;
    const char *before = ":";
    uint64_t n = 0;

    while (n <= FT__SERVE_MOST_RANKS &&
           (s->divided[n].weights == 0 ||
            left_of(s, load, &s->divided[n]) < part * s->divided[n].cache))
        n++;
    if (n <= FT__SERVE_MOST_RANKS) {
        ft__buf_fmt(out, ": divide them among more (--tp %" PRIu64 ")", n);
        before = ", or";
    }
    for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
        const ft__llm_sizes of = in_bits(&s->sizes, types[t].bits);

        if (of.weights > 0.9 * s->sizes.weights ||
            left_of(s, load, &of) < part * of.cache)
            continue;
        ft__buf_fmt(out, "%s hold them in fewer bits (--precision %s)", before,
                    types[t].name);
        return;
    }
}

static ft_status check(const ft_serve_steps *s, const ft_serve_load *load,
                       const ft_served *out, ft_error *err)
{
    ft__serve_bounds b;
    ft__buf why = {0};
    ft_status st;

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
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "the memory of %s is not known (--kv-tokens N says how many its "
                       "cache holds)",
                       s->device);
    if (out->kv_tokens >= (double)b.most_context)
        return FT_OK;
    if (load->kv_tokens)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "it does not fit: --kv-tokens %llu, and a request has up to %llu",
            (unsigned long long)load->kv_tokens, (unsigned long long)b.most_context);
    if (s->sizes.weights > memory_of(s, load))
        ft__buf_fmt(
            &why,
            "%.1f GiB of weights on each of %llu x %s, of whose %.1f GiB a server has "
            "%.1f",
            s->sizes.weights / (1 << 30), (unsigned long long)s->ranks * s->replicas,
            s->device, s->memory_bytes / (1 << 30), memory_of(s, load) / (1 << 30));
    else
        ft__buf_fmt(&why,
                    "beside %.1f GiB of weights the cache of %s holds %.0f tokens, and "
                    "a request has up to %llu",
                    s->sizes.weights / (1 << 30), s->device, out->kv_tokens,
                    (unsigned long long)b.most_context);
    say_what_fits(&why, s, load, (double)b.most_context);
    st = ft_fail(err, FT_ENOTFOUND, 0, "it does not fit: %s", why.bad ? "" : why.s);
    ft__buf_free(&why);
    return st;
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

/* Rates derived from a run. */
struct rates {
    double tokens_per_s, user_tokens_per_s, device_tokens_per_s, requests_per_s;
    double power_w, token_j, prefill_j, decode_j, idle_j; /* of a token, but power */
};

static struct rates rates_of(const ft__serve_run *r, bool steady)
{
    const double energy_j = r->prefill_j + r->decode_j + r->idle_j;
    const double tokens_per_s = (steady ? r->steady : 1) * r->generated / r->duration_s;

    return (struct rates){
        .tokens_per_s = tokens_per_s,
        .user_tokens_per_s = 1 / r->latency[FT_SERVE_TPOT][FT_SERVE_MEAN],
        .device_tokens_per_s = tokens_per_s / (double)r->devices,
        .requests_per_s = tokens_per_s * (double)r->requests / r->generated,
        .power_w = energy_j / r->duration_s,
        .token_j = energy_j / r->generated,
        .prefill_j = r->prefill_j / r->generated,
        .decode_j = r->decode_j / r->generated,
        .idle_j = r->idle_j / r->generated};
}

_Static_assert(RUNS == 5, "OF names every run");
#define OF(of, field)                                                                  \
    estimate(s, (const double[RUNS]){(of)[0].field, (of)[1].field, (of)[2].field,      \
                                     (of)[3].field, (of)[4].field})

static void fill(ft_served *out, const ft_serve_steps *s, const ft__serve_run r[RUNS],
                 bool steady)
{
    struct rates rates[RUNS];

    for (int i = 0; i < RUNS; i++)
        rates[i] = rates_of(&r[i], steady);
    for (int m = 0; m < FT_SERVE_METRIC_COUNT; m++)
        for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
            out->latency[m][p] = OF(r, latency[m][p]);
    out->duration_s = OF(r, duration_s);
    out->tokens_per_s = OF(rates, tokens_per_s);
    out->tokens_per_s_per_user = OF(rates, user_tokens_per_s);
    out->tokens_per_s_per_device = OF(rates, device_tokens_per_s);
    out->requests_per_s = OF(rates, requests_per_s);
    out->joules_per_token = OF(rates, token_j);
    out->prefill_joules_per_token = OF(rates, prefill_j);
    out->decode_joules_per_token = OF(rates, decode_j);
    out->idle_joules_per_token = OF(rates, idle_j);
    out->power_w = OF(rates, power_w);
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
    out->no_hardware_for = s->no_hardware_for;
    out->half = s->half;
    out->no_hardware_ending = s->no_hardware_ending ? s->no_hardware_ending : "";
    out->positions = s->sizes.positions;
    out->basis = s->basis;
    out->kv_tokens = kv_tokens_of(s, load);
    ft__serve_default(&load->n_requests, ft__serve_steady(s, load, out->kv_tokens));
    out->kv_bytes_per_token = s->kv_bytes_per_token;
    out->weight_bytes = s->sizes.weights;
    out->activation_bytes = activations_of(s, load, &s->sizes);
    out->memory_bytes = s->memory_bytes;
    out->max_batched_tokens = load->max_batched_tokens;
    out->prompts_alone = load->whole_prompts || s->engine.prompts_alone;
    out->shares_free = s->engine.shares_free;
    out->may = (s->may_draft ? FT_SERVE_MAY_DRAFT : 0) |
               (may_stay_together(load) ? FT_SERVE_MAY_STAY : 0);
    st = check(s, load, out, err);
    out->fits = !st;
    return st;
}

/* At the high end prompts wait for others, so as to be run together, while these
 * decode, and no longer than a request does. Users who wait for their answers send as
 * much less, but where all is sent at once. */
static void hold_prompts(ft__serve_run *r, const ft__serve_engine *e,
                         const ft_serve_load *load)
{
    const bool closed = !(load->rate_per_s > 0) && !load->n_recorded;
    const double decoded = r->generated / (double)r->requests - 1;
    const double held_s =
        fmin(e->held_steps, decoded) * r->latency[FT_SERVE_TPOT][FT_SERVE_MEAN];
    const double longer = 1 + held_s / r->latency[FT_SERVE_E2E][FT_SERVE_MEAN];

    if (!isfinite(held_s) || (closed && load->concurrency == 1))
        return;
    for (int p = 0; p < FT_SERVE_POINT_COUNT; p++) {
        r->latency[FT_SERVE_TTFT][p] += held_s;
        r->latency[FT_SERVE_E2E][p] += held_s;
    }
    if (!closed || load->concurrency >= r->requests)
        return;
    r->duration_s *= longer;
    r->decode_j *= longer;
    r->idle_j *= longer;
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
        if (of->may & FT_SERVE_MAY_STAY)
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
        hold_prompts(&r[FT__SERVE_HIGH], &s->engine, &load);
        fill(out, s, r, load.rate_per_s > 0 && !load.n_recorded && !asked->n_requests);
    }
    return st;
}

static int by_value(const void *a, const void *b)
{
    const double x = ((const ft__serve_latency *)a)->s,
                 y = ((const ft__serve_latency *)b)->s;

    return (x > y) - (x < y);
}

void ft__serve_points(double out[FT_SERVE_POINT_COUNT], ft__serve_latency *v, size_t n)
{
    static const double share[FT_SERVE_POINT_COUNT] = {[FT_SERVE_P50] = 0.5,
                                                       [FT_SERVE_P90] = 0.9,
                                                       [FT_SERVE_P95] = 0.95,
                                                       [FT_SERVE_P99] = 0.99};
    double all = 0, sum = 0, seen = 0;
    int p = FT_SERVE_P50;

    for (int i = 0; i < FT_SERVE_POINT_COUNT; i++)
        out[i] = NAN;
    if (n)
        qsort(v, n, sizeof(*v), by_value);
    for (size_t i = 0; i < n; i++) {
        all += v[i].count;
        sum += v[i].s * v[i].count;
    }
    out[FT_SERVE_MEAN] = n ? sum / all : NAN;
    for (size_t i = 0; i < n; i++) {
        seen += v[i].count;
        while (p < FT_SERVE_POINT_COUNT && seen >= share[p] * all * (1 - 1e-12))
            out[p++] = v[i].s;
    }
}
