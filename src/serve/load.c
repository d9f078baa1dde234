/* The load, read and checked, and the requests that it is. */
#include <math.h>
#include <stdlib.h>

#include "base/prng.h"
#include "query/data.h"
#include "serve/serve.h"

static ft_status check_recorded(const ft_serve_load *load, ft_error *err)
{
    for (uint64_t i = 0; i < load->n_recorded; i++) {
        const ft_serve_request *r = &load->request[i];

        if (!(r->arrival_s >= 0) || !isfinite(r->arrival_s) || !r->prompt ||
            !r->generate || r->prompt > FT__SERVE_MOST_TOKENS ||
            r->generate > FT__SERVE_MOST_TOKENS)
            return ft_fail(err, FT_EINVAL, 0,
                           "request %llu: it wants an arrival from 0 on, and at least "
                           "one token of prompt and of output",
                           (unsigned long long)i + 1);
        if (i && r->arrival_s < r[-1].arrival_s)
            return ft_fail(err, FT_EINVAL, 0,
                           "request %llu arrives before the one above it",
                           (unsigned long long)i + 1);
    }
    return FT_OK;
}

static ft_status check(const ft_serve_load *load, ft_error *err)
{
    const double vary = load->vary > FT_SERVE_ALIKE ? load->vary : 0;
    const double least = floor((double)load->prompt * (1 - vary) + 0.5);

    if (load->n_requests > FT__SERVE_MOST_REQUESTS ||
        load->n_recorded > FT__SERVE_MOST_REQUESTS ||
        load->prompt > FT__SERVE_MOST_TOKENS ||
        load->generate > FT__SERVE_MOST_TOKENS ||
        load->concurrency > FT__SERVE_MOST_SEQS ||
        load->max_seqs > FT__SERVE_MOST_SEQS ||
        load->max_batched_tokens > FT__SERVE_MOST_TOKENS)
        return ft_fail(
            err, FT_EINVAL, 0,
            "a load has at most %d requests of %d tokens, %d of them at once",
            FT__SERVE_MOST_REQUESTS, FT__SERVE_MOST_TOKENS, FT__SERVE_MOST_SEQS);
    if (!(load->vary >= 0 && load->vary < 1) || !(load->rate_per_s >= 0) ||
        !isfinite(load->rate_per_s))
        return ft_fail(err, FT_EINVAL, 0,
                       "a load's rate (--rate) is a number from 0 on, its variation "
                       "(--vary) from 0 to below 1");
    if ((double)load->shared_prefix > least && !load->n_recorded)
        return ft_fail(
            err, FT_EINVAL, 0,
            "prompts of %.0f tokens cannot begin with %llu (--shared-prefix)", least,
            (unsigned long long)load->shared_prefix);
    if (!(load->memory_share > 0 && load->memory_share <= 1))
        return ft_fail(err, FT_EINVAL, 0,
                       "the share of memory is above 0 and at most 1");
    if (!load->prefill_workers != !load->decode_workers || load->prefill_workers > 64 ||
        load->decode_workers > 64)
        return ft_fail(err, FT_EINVAL, 0,
                       "disaggregated: 1 to 64 groups for prompts and 1 to 64 for "
                       "decoding");
    if (!(load->prompt_factor > 0) || !(load->decode_factor > 0) ||
        !isfinite(load->prompt_factor + load->decode_factor))
        return ft_fail(err, FT_EINVAL, 0, "the factors of steps are above 0");
    return check_recorded(load, err);
}

ft_status ft__serve_load_read(ft_serve_load *out, const ft_serve_load *in,
                              double memory_bytes, ft_error *err)
{
    ft_status st = ft__read_sized(out, sizeof(*out), in, "ft_serve_load",
                                  "FT_SERVE_LOAD_INIT", err);

    if (st)
        return st;
    out->size = sizeof(*out);
    ft__serve_default(&out->prompt, FT__SERVE_PROMPT);
    ft__serve_default(&out->generate, FT__SERVE_GENERATE);
    if (!(out->rate_per_s > 0) && !out->n_recorded)
        ft__serve_default(&out->concurrency, 1);
    ft__serve_default(&out->max_seqs, ft__llm_step_seqs(memory_bytes));
    ft__serve_default(&out->max_batched_tokens, ft__llm_step_tokens(memory_bytes));
    ft__serve_default(&out->block, FT__SERVE_BLOCK);
    if (out->max_batched_tokens < out->max_seqs)
        out->max_batched_tokens = out->max_seqs;
    if (!(out->memory_share > 0))
        out->memory_share = 0.9;
    if (out->prompt_factor == 0)
        out->prompt_factor = 1;
    if (out->decode_factor == 0)
        out->decode_factor = 1;
    if (!(out->rate_per_s > 0))
        ft__serve_default(&out->n_requests,
                          out->concurrency > 3 ? 10 * out->concurrency : 32);
    return check(out, err);
}

static double step_s(const ft_serve_steps *s, const ft_serve_load *l,
                     const ft_serve_step *step)
{
    const ft_serve_step own = ft__serve_replica_step(s, step, FT__SERVE_VALUE);

    return ft__serve_step_cost(s, &own, FT__SERVE_VALUE).time_s +
           ft__serve_sampling(s, &own, l->step_overhead_s, FT__SERVE_VALUE) +
           ft__serve_between(s, &own, l->step_overhead_s);
}

/* How long a request takes beside n - 1 others, whose prompts it waits for. */
static double request_s(const ft_serve_steps *s, const ft_serve_load *l, double n)
{
    const double prompt = (double)l->prompt, generate = (double)l->generate;
    const double chunk = fmin(prompt, (double)l->max_batched_tokens);
    const ft_serve_step first = {.prefill_tokens = chunk,
                                 .prefill_pairs = chunk * (prompt + 1) / 2,
                                 .prefill_seqs = 1};
    const ft_serve_step next = {.decode_seqs = n,
                                .decode_context = n * (prompt + generate / 2)};

    return n * prompt / chunk * step_s(s, l, &first) + generate * step_s(s, l, &next);
}

/* So many requests are under way that as many leave as arrive (Little's law), or as
 * many as there is room for. */
static double under_way(const ft_serve_steps *s, const ft_serve_load *l,
                        double kv_tokens)
{
    const double groups = l->decode_workers ? (double)l->decode_workers : 1;
    const double batches = groups * (double)s->stages;
    const double held = groups * kv_tokens / (double)(l->prompt + l->generate);
    double least = 0;
    double most = (double)s->replicas * fmin(batches * (double)l->max_seqs, held);

    if (l->concurrency)
        most = fmin(most, (double)l->concurrency);
    while (most - least > 1) {
        const double n = (least + most) / 2;

        *(n < l->rate_per_s * request_s(s, l, n / batches) ? &least : &most) = n;
    }
    return most;
}

/* Eight times as long as a request takes: 1250 requests instead of 10,000 change TTFT
 * and TPOT of Llama-3-8B on an H100 at 20 a second by 1 and 5 %. */
uint64_t ft__serve_steady(const ft_serve_steps *s, const ft_serve_load *l,
                          double kv_tokens)
{
    return (uint64_t)fmin(fmax(8 * under_way(s, l, kv_tokens), 200), 10000);
}

static uint64_t most_of(uint64_t mean, double vary)
{
    return (uint64_t)ceil((double)mean * (1 + vary));
}

void ft__serve_bounds_of(ft__serve_bounds *out, const ft_serve_load *load)
{
    *out = (ft__serve_bounds){.least_prompt =
                                  (uint64_t)((double)load->prompt * (1 - load->vary)),
                              .most_prompt = most_of(load->prompt, load->vary),
                              .most_context = most_of(load->prompt, load->vary) +
                                              most_of(load->generate, load->vary),
                              .seqs = load->max_seqs,
                              .tokens = load->max_batched_tokens};
    for (uint64_t i = 0; i < load->n_recorded; i++) {
        const ft_serve_request *r = &load->request[i];

        if (i == 0)
            *out = (ft__serve_bounds){.least_prompt = r->prompt,
                                      .seqs = load->max_seqs,
                                      .tokens = load->max_batched_tokens};
        if (r->prompt < out->least_prompt)
            out->least_prompt = r->prompt;
        if (r->prompt > out->most_prompt)
            out->most_prompt = r->prompt;
        if (r->prompt + r->generate > out->most_context)
            out->most_context = r->prompt + r->generate;
    }
    if (load->concurrency && load->concurrency < out->seqs)
        out->seqs = load->concurrency;
    /* A preempted request recomputes the tokens it generated as part of its prompt. */
    if (out->tokens > out->most_context * out->seqs)
        out->tokens = out->most_context * out->seqs;
    if (load->whole_prompts && out->tokens < out->most_context)
        out->tokens = out->most_context;
}

static uint64_t drawn(ft__prng *p, uint64_t mean, double vary)
{
    const double n = (double)mean * (1 + vary * (2 * ft__prng_unit(p) - 1));

    return n < 1 ? 1 : (uint64_t)(n + 0.5);
}

ft_serve_request *ft__serve_requests(const ft_serve_load *load, size_t *n)
{
    ft__prng lengths = ft__prng_stream(load->seed, 0);
    ft__prng arrivals = ft__prng_stream(load->seed, 1);
    double now = 0;
    ft_serve_request *out;

    *n = load->n_recorded ? load->n_recorded : load->n_requests;
    out = calloc(*n + 1, sizeof(*out));
    for (size_t i = 0; i < *n && out; i++) {
        if (load->n_recorded) {
            out[i] = load->request[i];
            continue;
        }
        out[i].prompt = drawn(&lengths, load->prompt, load->vary);
        out[i].generate = drawn(&lengths, load->generate, load->vary);
        if (load->rate_per_s > 0) {
            out[i].arrival_s = now;
            now -= log(1 - ft__prng_unit(&arrivals)) / load->rate_per_s;
        }
    }
    for (size_t i = 0; i < *n && out && now > 0; i++)
        out[i].arrival_s *= (double)*n / load->rate_per_s / now;
    return out;
}
