/* Options of serving, and what they ask for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/serve/serve.h"

const ft__option ft__serve_table[] = {
    FT__COUNT(ft__serve_options, prompt, "prompt", "N",
              "serving: tokens of a request's prompt; 1024"),
    FT__COUNT(ft__serve_options, generate, "generate", "N",
              "serving: tokens that a request generates; 256"),
    FT__TEXT(ft__serve_options, concurrency, "concurrency", "N[,N2...]",
             "serving: requests under way, each followed by the next; 1, rank 1..128"),
    FT__TEXT(
        ft__serve_options, rate, "rate", "R",
        "serving: requests a second, a Poisson process, in place of --concurrency"),
    FT__INPUT(
        ft__serve_options, requests, "requests", "FILE",
        "serving: these, CSV or JSON lines of arrival (s), prompt and output tokens"),
    FT__COUNT(ft__serve_options, n_requests, "num-requests", "N",
              "serving: how many; 10 times the concurrency, at least 32; of a rate 8 "
              "times as "
              "many as are under way, 200 to 10000"),
    FT__TEXT(ft__serve_options, vary, "vary", "SHARE",
             "serving: lengths uniform within this share of theirs; 0.05 where "
             "requests follow each other, else 0"),
    FT__COUNT(ft__serve_options, seed, "arrivals-seed", "N",
              "serving: of arrivals and lengths; 0"),
    FT__TEXT(ft__serve_options, tp, "tp", "N[,N2...]",
             "ranks of tensor parallelism; 1, rank 1,2,4,8"),
    FT__COUNT(ft__serve_options, ep, "ep", "N",
              "of a mixture of experts, ranks with whole experts of their own; 1"),
    FT__TEXT(ft__serve_options, precision, "precision", "P",
             "as --dtype; of a language model's weights: bf16, fp8 or fp4; as the "
             "configuration says"),
    FT__COUNT(ft__serve_options, max_seqs, "max-num-seqs", "N",
              "serving: sequences of a step; 256, with 70 GiB of memory 1024"),
    FT__COUNT(ft__serve_options, max_batched_tokens, "max-num-batched-tokens", "N",
              "serving: tokens of a step; 2048, with 70 GiB of memory 8192"),
    FT__FLAG(ft__serve_options, whole_prompts, "no-chunked-prefill",
             "serving: a step has whole prompts, or decodes"),
    FT__COUNT(ft__serve_options, shared_prefix, "shared-prefix", "N",
              "serving: tokens that prompts begin with, cached; none"),
    FT__COUNT(ft__serve_options, block, "block-size", "N",
              "serving: tokens of a block of the cache; 16"),
    FT__TEXT(ft__serve_options, memory_share, "gpu-memory-utilization", "SHARE",
             "serving: of the device's memory, for the engine; with trtllm from 1.0 on "
             "of what weights and a step leave, for the cache; 0.9"),
    FT__COUNT(ft__serve_options, kv_tokens, "kv-tokens", "N",
              "serving: tokens that the cache holds; what memory leaves"),
    FT__TEXT(ft__serve_options, disaggregated, "disaggregated", "P:D",
             "serving: P groups of devices for prompts and D that decode"),
    FT__SECONDS(ft__serve_options, overhead_s, "step-overhead", "T",
                "serving: host time between two steps; 0.5ms"),
    {0},
};

int ft__precision_check(ft__cli *c, const ft__model_options *model)
{
    if (!model->dtype || strncmp(model->dtype, "amp-", 4) != 0)
        return FT__EXIT_GOOD;
    return ft__usage(c,
                     "servers hold weights in the type they compute in: --precision "
                     "bf16, fp8 or fp4, not \"%s\"",
                     model->dtype);
}

bool ft__serving_asked(const ft__serve_options *o)
{
    return ft__option_given(ft__serve_table, o) != NULL;
}

/* Nothing but how a step is divided and in what type its weights are, beside the size
 * of one. */
static bool is_of_one_step(const ft__serve_options *o, const ft__model_options *model)
{
    static const char *const sizes[] = {"tokens=", "context=", "train="};
    ft__serve_options others = *o;
    bool sized = model->batch > 0;

    others.tp = others.precision = NULL;
    others.ep = 0;
    for (size_t i = 0; i < model->dims.n; i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
            sized = sized || strncmp(model->dims.v[i], sizes[k], strlen(sizes[k])) == 0;
    return sized && !ft__serving_asked(&others);
}

static bool is_followed(const ft_serve_load *l)
{
    return !(l->rate_per_s > 0) && !l->n_recorded && l->concurrency > 1 &&
           (!l->n_requests || l->n_requests > l->concurrency);
}

/* Lengths of a closed load vary by default: equal requests that begin together would
 * end together again and again, which no server's do. */
void ft__serving_followed(const ft__serve_options *o, ft_serve_load *l)
{
    if (!o->vary)
        l->vary = is_followed(l) ? FT_SERVE_ALIKE : 0;
}

static int read_share(ft__cli *c, double *out, const char *option, const char *text)
{
    if (text && !ft__share_from_text(out, text))
        return ft__usage(c, "--%s wants a share, such as 0.1 or 10%%, not \"%s\"",
                         option, text);
    return FT__EXIT_GOOD;
}

static int read_list(ft__cli *c, uint64_t *out, size_t *n, const char *option,
                     const char *text)
{
    out[0] = 1;
    *n = 1;
    if (text && !ft__counts_from_text(out, n, FT__MAX_SERVED, text))
        return ft__usage(
            c,
            "--%s wants whole numbers from 1 joined by commas, at most %d, not \"%s\"",
            option, FT__MAX_SERVED, text);
    return FT__EXIT_GOOD;
}

static int read_precisions(ft__cli *c, ft__serving *out, const char *list)
{
    static const struct {
        const char *name;
        int64_t bits;
    } types[] = {{"bf16", 16}, {"fp8", 8}, {"fp4", 4}};
    enum { TYPES = sizeof(types) / sizeof(*types) };
    char word[16];

    out->n_precisions = list ? 0 : 1;
    while (list && ft__word_next(word, sizeof(word), &list)) {
        size_t of = 0;

        while (of < TYPES && strcmp(types[of].name, word) != 0)
            of++;
        if (of == TYPES)
            return ft__usage(c,
                             "--precision %s: it is one of bf16, fp8, fp4; other types "
                             "are read from a checkpoint's config.json or GGUF file",
                             word);
        for (size_t i = 0; i < out->n_precisions; i++)
            if (out->weight_bits[i] == types[of].bits)
                return ft__usage(c, "--precision names %s twice", word);
        out->weight_bits[out->n_precisions++] = types[of].bits;
    }
    return FT__EXIT_GOOD;
}

static int read_groups(ft__cli *c, ft_serve_load *l, const char *text)
{
    char *end = NULL;

    if (!text)
        return FT__EXIT_GOOD;
    l->prefill_workers = *text >= '1' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (end && *end == ':' && end[1] >= '1' && end[1] <= '9')
        l->decode_workers = strtoull(end + 1, &end, 10);
    if (!l->decode_workers || *end || l->prefill_workers > 64 || l->decode_workers > 64)
        return ft__usage(c,
                         "--disaggregated wants groups for prompts and for decoding, 1 "
                         "to 64 each, such as 1:2, not \"%s\"",
                         text);
    return FT__EXIT_GOOD;
}

static int read_arrivals(ft__cli *c, ft__serving *out, const ft__serve_options *o)
{
    if (o->rate && !ft__number_from_text(&out->load.rate_per_s, o->rate,
                                         "=1 /s=1 /min=1/60 /h=1/3600"))
        return ft__usage(
            c, "--rate wants requests a second, such as 4 or 4/s, not \"%s\"", o->rate);
    if (o->rate && o->requests)
        return ft__usage(c, "--rate or --requests, not both");
    if (!o->requests)
        return FT__EXIT_GOOD;
    if (o->prompt || o->generate || o->n_requests || o->vary)
        return ft__usage(c, "--requests says how many there are and what each has: no "
                            "--prompt, --generate, --num-requests or --vary");
    return ft__requests_read(c, &out->recorded, &out->load.n_recorded, o->requests);
}

int ft__serving_read(ft__cli *c, ft__serving *out, const ft__serve_options *o)
{
    int code;

    *out = (ft__serving){.load = FT_SERVE_LOAD_INIT};
    out->load.prompt = o->prompt;
    out->load.generate = o->generate;
    out->load.n_requests = o->n_requests;
    out->load.seed = o->seed;
    out->load.max_seqs = o->max_seqs;
    out->load.max_batched_tokens = o->max_batched_tokens;
    out->load.whole_prompts = o->whole_prompts;
    out->load.shared_prefix = o->shared_prefix;
    out->load.block = o->block;
    out->load.kv_tokens = o->kv_tokens;
    out->load.step_overhead_s = o->overhead_s;
    code = read_arrivals(c, out, o);
    if (!code)
        code = read_share(c, &out->load.vary, "vary", o->vary);
    if (!code)
        code = read_share(c, &out->load.memory_share, "gpu-memory-utilization",
                          o->memory_share);
    if (!code)
        code = read_groups(c, &out->load, o->disaggregated);
    if (!code)
        code = read_list(c, out->tp, &out->n_tp, "tp", o->tp);
    if (!code)
        code = read_list(c, out->concurrency, &out->n_concurrency, "concurrency",
                         o->concurrency);
    if (!code)
        code = read_precisions(c, out, o->precision);
    out->load.request = out->recorded;
    if (o->concurrency)
        out->load.concurrency = out->concurrency[0];
    ft__serving_followed(o, &out->load);
    return code;
}

static int take_step(ft__cli *c, ft__serve_options *serve, ft__model_options *model)
{
    ft__serving s;
    int code = ft__serving_read(c, &s, serve);

    if (!code && (s.n_tp > 1 || s.n_precisions > 1))
        code = ft__usage(c, "a step has one --tp and one --precision");
    model->tp = serve->tp ? s.tp[0] : 0;
    model->ep = serve->ep;
    model->weight_bits = (uint64_t)s.weight_bits[0];
    serve->tp = serve->precision = NULL;
    serve->ep = 0;
    ft__serving_end(&s);
    return code;
}

int ft__step_take(ft__cli *c, ft__serve_options *serve, ft__model_options *model)
{
    const char *path = c->args.n ? c->args.v[0] : "-";
    const bool of_weights = strcmp(path, "-") != 0 && access(path, F_OK) == 0 &&
                            ft__is_language_model(path);

    if (of_weights && is_of_one_step(serve, model) &&
        !(serve->precision && strncmp(serve->precision, "amp-", 4) == 0))
        return take_step(c, serve, model);
    if (!serve->precision || (of_weights && strncmp(serve->precision, "amp-", 4) != 0))
        return FT__EXIT_GOOD;
    if (model->dtype)
        return ft__usage(c, "--precision or --dtype, not both");
    model->dtype = serve->precision;
    serve->precision = NULL;
    return FT__EXIT_GOOD;
}

void ft__serving_end(ft__serving *s)
{
    free(s->recorded);
    ft__learned_free(&s->learned);
}

int ft__serving_dims(ft__cli *c, ft__model_values *v, ft_query *q,
                     const ft__serve_options *o, uint64_t tp, int64_t weight_bits)
{
    ft_status st = FT_OK;

    if (tp > 1)
        st = ft__model_values_add(v, q, "tp", tp, &c->err);
    if (!st && o->ep)
        st = ft__model_values_add(v, q, "ep", o->ep, &c->err);
    if (!st && weight_bits)
        st = ft__model_values_add(v, q, "weight_bits", (uint64_t)weight_bits, &c->err);
    return ft__cli_check_asked(c, st);
}

/* "a30=2.49/h" or "2.49/h": the name, "" for none, and what a second costs. */
static int price_read(ft__cli *c, char *name, size_t size, double *per_s,
                      const char *text)
{
    static const char units[] = "/h=1/3600 /hour=1/3600 /min=1/60 /s=1 /day=1/86400";
    const char *equals = strchr(text, '='), *number = equals ? equals + 1 : text;
    const char *comma = strchr(number, ',');
    const ft__formatted refused = ft__number_refused(number, units);

    snprintf(name, size, "%.*s", equals ? (int)(equals - text) : 0, text);
    if (ft__number_from_text(per_s, number, units))
        return FT__EXIT_GOOD;
    return ft__usage(c, "--price %s: %s", text,
                     comma && strchr(comma, '=') ? "one device each: repeat --price"
                     : *refused.s                ? refused.s
                                  : "it wants a device and what it costs, such as "
                                    "a30=2.49/h, or 2.49/h for all");
}

int ft__price_of(ft__cli *c, double *per_s, const ft__texts *prices, const char *device)
{
    bool own = false;

    *per_s = NAN;
    for (size_t i = 0; i < prices->n; i++) {
        char name[128];
        double x;
        int code = price_read(c, name, sizeof(name), &x, prices->v[i]);

        if (!code && *name && strcmp(name, device) != 0)
            code = ft__device_resolve(c, name, sizeof(name), false);
        if (code)
            return code;
        if (*name ? strcmp(name, device) == 0 : !own)
            *per_s = x;
        own = own || (*name && strcmp(name, device) == 0);
    }
    return FT__EXIT_GOOD;
}

static bool is_asked(const char *name, const char *const *device, size_t n)
{
    for (size_t d = 0; d < n; d++)
        if (strcmp(name, device[d]) == 0)
            return true;
    return false;
}

int ft__prices_check(ft__cli *c, const ft__texts *prices, const char *const *device,
                     size_t n)
{
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < prices->n && !code; i++) {
        char name[128], text[400], data_dir[FT__PATH_MAX];
        ft_device *d = NULL;
        double x;

        code = price_read(c, name, sizeof(name), &x, prices->v[i]);
        if (code || !*name || is_asked(name, device, n))
            continue;
        code = ft__device_resolve(c, name, sizeof(name), false);
        if (code || is_asked(name, device, n))
            continue;
        ft__path_data(c, data_dir);
        code = ft__cli_check(c, ft_device_load(&d, data_dir, name, &c->err));
        ft_device_free(d);
        snprintf(text, sizeof(text), "--price %s: %s is not among the devices asked",
                 prices->v[i], name);
        if (!code && c->log.message)
            c->log.message(c->log.user, FT_LOG_WARN, text);
    }
    return code;
}
