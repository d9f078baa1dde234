/* What benchmarks of servers write: JSON of vLLM's and SGLang's, of llama.cpp's, and
 * the summary of MLPerf Inference's load generator. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "serve/serve.h"

static const double most_count = 1e15;

static ft_serve_measured nothing(const char *tool)
{
    ft_serve_measured m = {
        .tool = tool, .tokens_per_s = NAN, .requests_per_s = NAN, .duration_s = NAN};

    for (int i = 0; i < FT_SERVE_METRIC_COUNT; i++)
        for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
            m.latency[i][p] = NAN;
    return m;
}

static uint64_t count_of(double v)
{
    return v >= 1 && v < most_count ? (uint64_t)(v + 0.5) : 0;
}

static double positive(double v)
{
    return v > 0 && isfinite(v) ? v : NAN;
}

static bool begins(ft__text t, const char *with)
{
    const size_t n = strlen(with);

    return t.n >= n && memcmp(t.s, with, n) == 0;
}

static bool ends(ft__text t, const char *with)
{
    const size_t n = strlen(with);

    return t.n >= n && memcmp(t.s + t.n - n, with, n) == 0;
}

struct sums {
    double completed, input, output;
};

static const struct {
    const char *name;
    ft_serve_metric of;
} metrics[] = {{"ttft", FT_SERVE_TTFT},
               {"tpot", FT_SERVE_TPOT},
               {"itl", FT_SERVE_ITL},
               {"e2el", FT_SERVE_E2E},
               {"e2e_latency", FT_SERVE_E2E}};

/* "median_ttft_ms" */
static void take_latency(ft_serve_measured *m, ft__text name, double v)
{
    static const char *const point[FT_SERVE_POINT_COUNT] = {"mean_", "median_", "p90_",
                                                            "p95_", "p99_"};

    if (!ends(name, "_ms"))
        return;
    for (int p = 0; p < FT_SERVE_POINT_COUNT; p++) {
        ft__text rest = name;

        if (!begins(name, point[p]))
            continue;
        rest.s += strlen(point[p]);
        rest.n -= strlen(point[p]) + 3;
        for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
            if (ft__text_is(rest, metrics[i].name, strlen(metrics[i].name)))
                m->latency[metrics[i].of][p] = positive(v / 1e3);
    }
}

static void take_served(ft_serve_measured *m, struct sums *sum, ft__text name, double v)
{
    take_latency(m, name, v);
    if (FT__IS(name, "completed"))
        sum->completed = v;
    else if (FT__IS(name, "total_input_tokens") || FT__IS(name, "total_input"))
        sum->input = v;
    else if (FT__IS(name, "total_output_tokens") || FT__IS(name, "total_output"))
        sum->output = v;
    else if (FT__IS(name, "max_concurrency"))
        m->concurrency = count_of(v);
    else if (FT__IS(name, "request_rate"))
        m->rate_per_s = positive(v);
    else if (FT__IS(name, "request_throughput"))
        m->requests_per_s = positive(v);
    else if (FT__IS(name, "output_throughput"))
        m->tokens_per_s = positive(v);
    else if (FT__IS(name, "duration"))
        m->duration_s = positive(v);
}

struct llama {
    double prompt, generate, depth, tokens_per_s;
};

static void take_llama(struct llama *l, ft__text name, double v)
{
    if (FT__IS(name, "n_prompt"))
        l->prompt = v;
    else if (FT__IS(name, "n_gen"))
        l->generate = v;
    else if (FT__IS(name, "n_depth"))
        l->depth = v;
    else if (FT__IS(name, "avg_ts"))
        l->tokens_per_s = positive(v);
}

/* A prompt, tokens generated one after the other, or both; tokens a second of them.
 * Without any it is no load. */
static ft_serve_measured of_llama(const struct llama *l)
{
    ft_serve_measured m = nothing("llama-bench");
    const double all = l->prompt + l->generate;

    m.concurrency = m.n_requests = 1;
    m.prompt = all > 0 ? count_of(fmax(l->prompt, l->depth + 1)) : 0;
    m.generate = count_of(fmax(l->generate, 1));
    if (!(l->generate > 0)) {
        m.latency[FT_SERVE_TTFT][FT_SERVE_MEAN] = positive(all / l->tokens_per_s);
    } else if (!(l->prompt > 0)) {
        m.latency[FT_SERVE_TPOT][FT_SERVE_MEAN] = positive(1 / l->tokens_per_s);
        m.tokens_per_s = l->tokens_per_s;
    } else {
        m.latency[FT_SERVE_E2E][FT_SERVE_MEAN] = positive(all / l->tokens_per_s);
    }
    return m;
}

/* An object of numbers, whoever wrote it; false: of neither, or *none: no request
 * was completed. */
static bool read_object(ft_serve_measured *out, bool *none, ft__json *r)
{
    struct llama l = {.tokens_per_s = NAN};
    struct sums sum = {NAN, NAN, NAN};
    ft__text name, other;

    *out = nothing("vllm or sglang");
    out->rate_per_s = NAN;
    if (!ft__json_object(r))
        return false;
    while (ft__json_member(r, &name)) {
        double v;

        if (FT__IS(name, "backend") && ft__json_peek(r) == '"') {
            if (ft__json_string(r, &other))
                out->tool = begins(other, "sglang") ? "sglang"
                            : begins(other, "vllm") ? "vllm"
                                                    : out->tool;
        } else if (ft__json_peek(r) != '0') {
            ft__json_skip(r, &other);
        } else if (ft__json_number(r, &v)) {
            take_served(out, &sum, name, v);
            take_llama(&l, name, v);
        }
    }
    if (!isfinite(out->rate_per_s))
        out->rate_per_s = 0;
    if (l.tokens_per_s > 0) {
        *out = of_llama(&l);
        return out->prompt && out->generate;
    }
    *none = *none || !(sum.completed > 0 || isnan(sum.completed));
    out->n_requests = count_of(sum.completed);
    out->prompt = count_of(sum.input / sum.completed);
    out->generate = count_of(sum.output / sum.completed);
    return out->n_requests && out->prompt && out->generate;
}

static bool read_value(ft_serve_measured *out, bool *none, size_t *n, size_t most,
                       ft__json *r)
{
    if (ft__json_peek(r) != '[') {
        *n += *n < most && read_object(&out[*n], none, r);
        return *n > 0;
    }
    ft__json_array(r);
    while (*n < most && ft__json_element(r)) {
        if (!read_object(&out[*n], none, r))
            return false;
        ++*n;
    }
    return *n > 0;
}

/* One object or array, or an object a line. */
static bool read_json(ft_serve_measured *out, bool *none, size_t *n, size_t most,
                      const char *text, size_t len)
{
    const char *end = text + len;
    ft__json_doc doc = {.base = text, .len = len};
    ft__json whole = ft__json_open(&doc, (ft__text){text, len});
    bool good = read_value(out, none, n, most, &whole);

    if (good && ft__json_done(&whole))
        return true;
    *n = 0;
    for (const char *at = text; at < end && *n < most;) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const size_t size = (size_t)((line ? line : end) - at);
        ft__json_doc one = {.base = at, .len = size};
        ft__json r = ft__json_open(&one, (ft__text){at, size});

        if (ft__json_peek(&r) == '{') {
            if (!read_object(&out[*n], none, &r) || !ft__json_done(&r))
                return false;
            ++*n;
        }
        at += size + 1;
    }
    return *n > 0;
}

/* The number behind the ':' of a line that begins so; NaN: there is none. */
static double mlperf_number(const char *text, size_t len, const char *key)
{
    const size_t n = strlen(key);

    for (size_t at = 0; at + n < len;) {
        const char *line = text + at, *stop = memchr(line, '\n', len - at);
        const size_t size = stop ? (size_t)(stop - line) : len - at;
        const char *colon = size > n ? memchr(line + n, ':', size - n) : NULL;

        if (colon && memcmp(line, key, n) == 0) {
            char number[32] = "";
            const size_t digits = (size_t)(line + size - colon) - 1;

            memcpy(number, colon + 1, digits < 31 ? digits : 31);
            return positive(strtod(number, NULL));
        }
        at += size + 1;
    }
    return NAN;
}

static double either(double a, double b)
{
    return isfinite(a) ? a : b;
}

static bool read_mlperf(ft_serve_measured *m, const char *text, size_t len)
{
    static const struct {
        const char *mean, *percentile;
        ft_serve_metric of;
    } latency[] = {
        {"Mean First Token latency (ns)", "first token latency (ns)", FT_SERVE_TTFT},
        {"Mean Time ", "time to output token (ns)", FT_SERVE_TPOT},
        {"Mean latency (ns)", "latency (ns)", FT_SERVE_E2E},
    };
    static const int percent[FT_SERVE_POINT_COUNT] = {[FT_SERVE_P50] = 50,
                                                      [FT_SERVE_P90] = 90,
                                                      [FT_SERVE_P95] = 95,
                                                      [FT_SERVE_P99] = 99};
    double rate;

    *m = nothing("mlperf");
    for (size_t i = 0; i < sizeof(latency) / sizeof(*latency); i++)
        for (int p = 0; p < FT_SERVE_POINT_COUNT; p++) {
            char key[64];

            snprintf(key, sizeof(key), "%d.00 percentile %s", percent[p],
                     latency[i].percentile);
            m->latency[latency[i].of][p] = positive(
                mlperf_number(text, len, percent[p] ? key : latency[i].mean) / 1e9);
        }
    m->tokens_per_s = either(mlperf_number(text, len, "Completed tokens per second"),
                             mlperf_number(text, len, "Tokens per second"));
    m->requests_per_s = either(mlperf_number(text, len, "Completed samples per second"),
                               mlperf_number(text, len, "Samples per second"));
    rate = mlperf_number(text, len, "Scheduled samples per second");
    m->rate_per_s = isfinite(rate) ? rate : 0;
    if (isfinite(m->tokens_per_s) && isfinite(m->requests_per_s))
        m->generate = count_of(m->tokens_per_s / m->requests_per_s);
    return isfinite(m->requests_per_s) || isfinite(m->tokens_per_s) ||
           isfinite(m->latency[FT_SERVE_E2E][FT_SERVE_MEAN]);
}

ft_status ft_serve_measured_read(ft_serve_measured *out, size_t *n, size_t most,
                                 const char *text, size_t len, const char *name,
                                 ft_error *err)
{
    static const char mlperf[] = "MLPerf Results Summary";
    bool summary = false, none = false;

    *n = 0;
    for (size_t i = 0; i + sizeof(mlperf) <= len && i < 4096 && !summary; i++)
        summary = memcmp(text + i, mlperf, sizeof(mlperf) - 1) == 0;
    if (!most)
        return ft_fail(err, FT_EINVAL, 0, "%s: no room for results", name);
    if (summary)
        *n = read_mlperf(out, text, len);
    else if (!read_json(out, &none, n, most, text, len))
        *n = 0;
    if (!*n && none)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: no request was completed: there is nothing to compare",
                       name);
    return *n ? FT_OK
              : ft_fail(err, FT_EFORMAT, 0,
                        "%s: no results of vllm bench serve, SGLang's bench_serving, "
                        "llama-bench -o json or MLPerf Inference",
                        name);
}
