/* foretell predict of a language model that is served. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/serve.h"
#include "report/units.h"

enum { MAX_NAME = 128, MAX_DEVICES = 64 };

static const char *const metric_name[FT_SERVE_METRIC_COUNT] = {
    [FT_SERVE_TTFT] = "time to first token",
    [FT_SERVE_TPOT] = "time per output token",
    [FT_SERVE_ITL] = "inter-token latency",
    [FT_SERVE_E2E] = "end to end",
};
static const char *const metric_key[FT_SERVE_METRIC_COUNT] = {
    [FT_SERVE_TTFT] = "ttft",
    [FT_SERVE_TPOT] = "tpot",
    [FT_SERVE_ITL] = "itl",
    [FT_SERVE_E2E] = "e2e",
};

struct served {
    ft_served s;
    ft_serve_load load;
    size_t n_learned; /* runs that its steps are corrected by */
    double price_per_s;
    ft_serve_steps *steps; /* texts of s are theirs */
    ft_error no_fit; /* why it does not fit, or that nobody knows; no text: it does */
};

ft_estimate ft__serve_cost(const ft_served *s, double per_s)
{
    const double of = per_s * (double)s->devices * 1e6;
    const ft_estimate *rate = &s->tokens_per_s;

    if (!isfinite(of) || !(rate->value > 0))
        return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "no price is given"};
    return (ft_estimate){of / rate->value, of / rate->high, of / rate->low, rate->basis,
                         ""};
}

static json_t *latency_json(const ft_estimate *e)
{
    return ft__json("mean:e(s) p50:e(s) p90:e(s) p95:e(s) p99:e(s)", &e[FT_SERVE_MEAN],
                    &e[FT_SERVE_P50], &e[FT_SERVE_P90], &e[FT_SERVE_P95],
                    &e[FT_SERVE_P99]);
}

static json_t *memory_json(const ft_served *s)
{
    return ft__json("weights:g activations:g cache_per_token:g cache_tokens:g "
                    "cache_peak:g device:g",
                    s->weight_bytes, s->activation_bytes, s->kv_bytes_per_token,
                    s->kv_tokens, s->kv_peak, s->memory_bytes);
}

json_t *ft__served_json(const ft_served *s, double per_s)
{
    const ft_estimate cost = ft__serve_cost(s, per_s);
    json_t *o = ft__json("device:s known_as:s devices:u family:z fits:b", s->device,
                         s->title, s->devices, s->predictor, s->fits);

    for (int m = 0; m < FT_SERVE_METRIC_COUNT; m++)
        ft__json_set_take(&o, metric_key[m], latency_json(s->latency[m]));
    return ft__json_join_take(
        o,
        ft__json("tokens_per_s:e(1/s) tokens_per_s_per_user:e(1/s) "
                 "tokens_per_s_per_device:e(1/s) requests_per_s:e(1/s) "
                 "joules_per_token:e(J) prefill_joules_per_token:e(J) "
                 "decode_joules_per_token:e(J) idle_joules_per_token:e(J) power:e(W) "
                 "cost_per_million_tokens:e() duration:e(s) requests:u steps:u "
                 "preemptions:u mean_batch:g most_batch:u memory:o step_overhead_s:g "
                 "max_num_batched_tokens:u",
                 &s->tokens_per_s, &s->tokens_per_s_per_user,
                 &s->tokens_per_s_per_device, &s->requests_per_s, &s->joules_per_token,
                 &s->prefill_joules_per_token, &s->decode_joules_per_token,
                 &s->idle_joules_per_token, &s->power_w, &cost, &s->duration_s,
                 s->requests, s->steps, s->preemptions, s->mean_batch, s->most_batch,
                 memory_json(s), s->step_overhead_s, s->max_batched_tokens));
}

enum { MAX_LINES = 20, LINE = 320 };
struct lines {
    char text[MAX_LINES][LINE];
    const char *at[MAX_LINES];
    size_t n;
};

FT_PRINTF(2, 3) static void say(struct lines *l, const char *fmt, ...)
{
    va_list ap;

    if (l->n == MAX_LINES)
        return;
    va_start(ap, fmt);
    vsnprintf(l->text[l->n], LINE, fmt, ap);
    va_end(ap);
    l->at[l->n] = l->text[l->n];
    l->n++;
}

void ft__requests_text(char out[FT__REQUESTS_TEXT], const ft_serve_load *load)
{
    const uint64_t prompt = load->prompt ? load->prompt : 1024;
    const uint64_t generate = load->generate ? load->generate : 256;
    char vary[48] = "", rate[48] = "";

    if (load->vary > 0)
        snprintf(vary, sizeof(vary), " (within %g %%)", 100 * load->vary);
    if (load->rate_per_s > 0)
        snprintf(rate, sizeof(rate), ", %g a second (Poisson)", load->rate_per_s);
    if (load->n_recorded)
        snprintf(out, FT__REQUESTS_TEXT, "recorded requests");
    else
        snprintf(out, FT__REQUESTS_TEXT,
                 "requests of %" PRIu64 " tokens that generate %" PRIu64 "%s%s", prompt,
                 generate, vary, rate);
}

static void say_lines(struct lines *l, const struct lines *more)
{
    for (size_t i = 0; i < more->n; i++)
        say(l, "%s", more->at[i]);
}

static void say_load(struct lines *l, const ft_serve_load *load, const ft_served *s)
{
    char requests[FT__REQUESTS_TEXT], how[96] = "";

    ft__requests_text(requests, load);
    if (!(load->rate_per_s > 0) && !load->n_recorded)
        snprintf(how, sizeof(how), ", %" PRIu64 " under way, each followed by the next",
                 load->concurrency ? load->concurrency : 1);
    say(l, "%" PRIu64 " %s%s", s->requests, requests, how);
}

static void say_learned(struct lines *l, const struct served *x, const char *path)
{
    if (x->n_learned)
        say(l,
            "steps are corrected by %zu measured run%s (%s): prompts take %.2f times "
            "as long, decoding %.2f",
            x->n_learned, x->n_learned == 1 ? "" : "s", path, x->load.prompt_factor,
            x->load.decode_factor);
    else if (path && ft__learned_is(path))
        say(l, "%s has no such run of %s: its steps stay as predicted", path,
            x->s.device);
}

static void say_assumed(struct lines *l, const ft_serve_load *load, const ft_served *s)
{
    say_load(l, load, s);
    say(l,
        "steps of at most %" PRIu64 " tokens%s, %s, and %s of the host between two "
        "(--step-overhead)",
        s->max_batched_tokens,
        load->whole_prompts ? ", prompts whole and alone"
        : s->prompts_alone  ? ", of prompts in chunks or of decoding"
                            : ", prompts in chunks",
        strstr(s->run_mode, "graph") ? "replayed as CUDA graphs"
                                     : "issued by the host operation by operation",
        ft__text_seconds(s->step_overhead_s).s);
    if (load->shared_prefix)
        say(l, "%" PRIu64 " tokens that all prompts begin with stay in the cache",
            load->shared_prefix);
    if (load->prefill_workers)
        say(l,
            "%" PRIu64 " group%s of devices for prompts, %" PRIu64
            " for decoding, the cache sent over the link between them",
            load->prefill_workers, load->prefill_workers > 1 ? "s" : "",
            load->decode_workers);
    if (s->may & FT_SERVE_MAY_DRAFT)
        say(l, "nobody says whether the server drafts with the model's speculative "
               "layer: low .. high reaches there (--dim mtp=0: it does not)");
    if (s->may & FT_SERVE_MAY_STAY)
        say(l, "requests that begin together may stay together: low .. high has both");
    say(l, "steps err alike: low .. high is the run with every step at its low or high "
           "end");
}

/* Of the model itself: not which step it would be without a load. */
static void say_model(struct lines *l, const ft_query *asked)
{
    static const char step[] = "one step: ";
    ft_query q = *asked;
    ft_graph *g = NULL;

    q.batch = 0;
    if (ft_query_import(&g, &q, NULL) == FT_OK)
        for (size_t i = 0; i < g->n_assumptions; i++)
            if (strncmp(g->assumption[i], step, strlen(step)) != 0)
                say(l, "%s", g->assumption[i]);
    ft_graph_free(g);
}

void ft__behind_text(char out[FT__REQUESTS_TEXT], const ft_serve_load *load,
                     const ft_served *s)
{
    *out = '\0';
    if (load->rate_per_s > 0 && !load->n_recorded && s->requests >= 8 &&
        s->requests_per_s.value < 0.9 * load->rate_per_s &&
        (!load->n_requests || /* else the last ones leave long after none arrive */
         load->concurrency || /* those that wait to be let in are not in TTFT */
         s->latency[FT_SERVE_TTFT][FT_SERVE_P99].value > s->duration_s.value / 4))
        snprintf(out, FT__REQUESTS_TEXT,
                 "%g requests a second come and %.3g are served: they pile up, and the "
                 "more requests there are, the longer each waits",
                 load->rate_per_s, s->requests_per_s.value);
}

/* Tokens of the longest request, lengths as they are asked for. */
static uint64_t longest(const ft_serve_load *load)
{
    uint64_t most =
        (load->prompt ? load->prompt : 1024) + (load->generate ? load->generate : 256);

    for (uint64_t i = 0; i < load->n_recorded; i++) {
        const uint64_t n = load->request[i].prompt + load->request[i].generate;

        most = i == 0 || n > most ? n : most;
    }
    return most;
}

void ft__beyond_text(char out[FT__REQUESTS_TEXT], const ft_serve_load *load,
                     const ft_served *s)
{
    const uint64_t most = longest(load);

    *out = '\0';
    if (s->positions > 0 && most > (uint64_t)s->positions)
        snprintf(out, FT__REQUESTS_TEXT,
                 "requests of %" PRIu64
                 " tokens, above the maximum context length of %" PRId64
                 ": servers refuse them, or answer badly",
                 most, s->positions);
}

static void say_warnings(struct lines *l, const ft_serve_load *load, const ft_served *s)
{
    char beyond[FT__REQUESTS_TEXT], behind[FT__REQUESTS_TEXT];
    const uint64_t prompt = load->prompt ? load->prompt : 1024;
    const uint64_t generate = load->generate ? load->generate : 256;
    const uint64_t held = (uint64_t)(s->kv_tokens / (double)(prompt + generate));

    if (!load->n_recorded && held < load->concurrency && s->kv_peak > 0.9)
        say(l,
            "the cache holds %" PRIu64 " such requests: of %" PRIu64
            " under way the others wait",
            held, load->concurrency);
    ft__beyond_text(beyond, load, s);
    if (*beyond)
        say(l, "%s", beyond);
    if (*s->no_hardware)
        say(l, "%s", s->no_hardware);
    ft__behind_text(behind, load, s);
    if (*behind)
        say(l, "%s", behind);
    if (s->preemptions)
        say(l,
            "the cache is too small for what is under way: %" PRIu64
            " sequences began anew",
            s->preemptions);
}

static bool print_latency(const ft_served *s)
{
    ft__table *t =
        ft__table_new("of a request|mean>s|low>s|high>s|p50>s|p90>s|p95>s|p99>s");

    for (int m = 0; m < FT_SERVE_METRIC_COUNT; m++) {
        const ft_estimate *e = s->latency[m];

        ft__table_row(t, metric_name[m], e[FT_SERVE_MEAN].value, e[FT_SERVE_MEAN].low,
                      e[FT_SERVE_MEAN].high, e[FT_SERVE_P50].value,
                      e[FT_SERVE_P90].value, e[FT_SERVE_P95].value,
                      e[FT_SERVE_P99].value);
    }
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

static void row(ft__table *t, const char *name, const ft_estimate *e, const char *unit)
{
    ft__table_row(t, name, ft__text_in(unit, e->value).s, ft__text_in(unit, e->low).s,
                  ft__text_in(unit, e->high).s, ft_name(FT_NAMES_BASIS, e->basis));
}

static bool print_totals(const ft_served *s, double per_s)
{
    ft__table *t = ft__table_new("of all|estimate>|low>|high>|basis");
    const ft_estimate cost = ft__serve_cost(s, per_s);

    row(t, "tokens/s", &s->tokens_per_s, "");
    row(t, "  of a user", &s->tokens_per_s_per_user, "");
    row(t, "  of a device", &s->tokens_per_s_per_device, "");
    row(t, "requests/s", &s->requests_per_s, "");
    row(t, "energy of a token", &s->joules_per_token, "J");
    if (s->joules_per_token.basis != FT_BASIS_UNAVAILABLE) {
        row(t, "  prompts", &s->prefill_joules_per_token, "J");
        row(t, "  decoding", &s->decode_joules_per_token, "J");
        row(t, "  waiting", &s->idle_joules_per_token, "J");
    }
    row(t, "power of all devices", &s->power_w, "W");
    if (cost.basis != FT_BASIS_UNAVAILABLE)
        row(t, "cost of 1e6 tokens", &cost, "");
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

static void print_memory(const ft_served *s)
{
    printf(
        "a device holds %s of weights, %s of activations and a cache of %.0f tokens, "
        "%s each; at most %s of it is used\n",
        ft__text_bytes(s->weight_bytes).s, ft__text_bytes(s->activation_bytes).s,
        s->kv_tokens, ft__text_bytes(s->kv_bytes_per_token).s,
        ft__text_percent(s->kv_peak).s);
    printf("%" PRIu64 " steps, each of which decodes %.1f sequences on average\n",
           s->steps, s->mean_batch);
}

static bool print_one(const ft__predict_question *q, const struct served *x,
                      const ft_serve_load *load, uint64_t tp, const struct lines *model)
{
    struct lines assumed = {.n = 0}, warned = {.n = 0};
    const ft__verify_by v = ft__serve_verify_by(load, &x->s, q, tp);

    printf("%s on %" PRIu64 " x %s: ", q->c->args.v[0], x->s.devices, x->s.device);
    ft__put_line(stdout, "", x->s.title);
    say_assumed(&assumed, load, &x->s);
    say_lines(&assumed, model);
    say_learned(&assumed, x, q->o->correct);
    say_warnings(&warned, load, &x->s);
    for (size_t i = 0; i < assumed.n; i++)
        ft__put_line(stdout, "assumed: ", assumed.at[i]);
    if (!print_latency(&x->s) || !print_totals(&x->s, x->price_per_s))
        return false;
    putchar('\n');
    print_memory(&x->s);
    if (*x->s.predictor)
        ft__put_line(stdout, "steps by ", x->s.predictor);
    for (size_t i = 0; i < warned.n; i++)
        ft__put_line(stdout, "warning: ", warned.at[i]);
    ft__put_line(stdout,
                 v.why_not ? "no command verifies it: " : "verify on those devices: ",
                 v.why_not ? v.why_not : v.line);
    return true;
}

static void print_warnings_of(const struct served *x, size_t n,
                              const ft_serve_load *load)
{
    for (size_t i = 0; i < n; i++) {
        struct lines warned = {.n = 0};
        char before[160];

        if (*x[i].no_fit.msg) {
            snprintf(before, sizeof(before), "%.128s: ", x[i].s.device);
            ft__put_line(stdout, before, x[i].no_fit.msg);
            continue;
        }
        say_warnings(&warned, load, &x[i].s);
        snprintf(before, sizeof(before), "warning: %.128s: ", x[i].s.device);
        for (size_t k = 0; k < warned.n; k++)
            ft__put_line(stdout, before, warned.at[k]);
    }
}

static bool print_several(const struct served *x, size_t n, const ft_serve_load *load,
                          const struct lines *model)
{
    ft__table *t = ft__table_new("device|n>u|TTFT>s|TPOT>s|low>s|high>s|tokens/s>|"
                                 "of a device>|J/token>J|?cost of 1e6>",
                                 isfinite(x->price_per_s));
    struct lines assumed = {.n = 0};

    for (size_t i = 0; i < n && !assumed.n; i++)
        if (!*x[i].no_fit.msg)
            say_load(&assumed, load, &x[i].s);
    say_lines(&assumed, model);
    for (size_t i = 0; i < assumed.n; i++)
        ft__put_line(stdout, "assumed: ", assumed.at[i]);
    putchar('\n');
    for (size_t i = 0; i < n; i++) {
        const ft_served *s = &x[i].s;
        const ft_estimate *tpot = &s->latency[FT_SERVE_TPOT][FT_SERVE_MEAN];
        const ft_estimate cost = ft__serve_cost(s, x[i].price_per_s);

        if (*x[i].no_fit.msg)
            continue;
        ft__table_row(t, s->device, s->devices,
                      s->latency[FT_SERVE_TTFT][FT_SERVE_MEAN].value, tpot->value,
                      tpot->low, tpot->high, ft__text_plain(s->tokens_per_s.value).s,
                      ft__text_plain(s->tokens_per_s_per_device.value).s,
                      s->joules_per_token.value, ft__text_plain(cost.value).s);
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    print_warnings_of(x, n, load);
    return true;
}

static bool is_too_large(const struct served *x)
{
    return *x->no_fit.msg && x->s.memory_bytes > 0;
}

static json_t *one_json(const ft__predict_question *q, const struct served *x,
                        const ft_serve_load *load, uint64_t tp,
                        const struct lines *model)
{
    struct lines assumed = {.n = 0}, warned = {.n = 0};
    const ft__verify_by v = ft__serve_verify_by(load, &x->s, q, tp);
    json_t *o;

    if (*x->no_fit.msg)
        return ft__json("model:s device:s known_as:s fits:o why:s memory:o",
                        q->c->args.v[0], x->s.device, x->s.title,
                        is_too_large(x) ? json_false() : json_null(), x->no_fit.msg,
                        memory_json(&x->s));
    o = ft__served_json(&x->s, x->price_per_s);
    say_assumed(&assumed, load, &x->s);
    say_lines(&assumed, model);
    say_learned(&assumed, x, q->o->correct);
    say_warnings(&warned, load, &x->s);
    return ft__json_join_take(
        ft__json("model:s", q->c->args.v[0]),
        ft__json_join_take(o,
                           ft__json("assumptions:o warnings:o verify:z why_no_verify:z",
                                    ft__json_texts(assumed.at, assumed.n),
                                    ft__json_texts(warned.at, warned.n), v.line,
                                    v.why_not ? v.why_not : "")));
}

static json_t *all_json(const ft__predict_question *q, const struct served *x, size_t n,
                        const ft_serve_load *load, uint64_t tp,
                        const struct lines *model)
{
    json_t *all;

    if (n == 1)
        return one_json(q, x, load, tp, model);
    all = json_array();
    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, one_json(q, &x[i], load, tp, model));
    return all;
}

static bool print_all(const ft__predict_question *q, const struct served *x, size_t n,
                      const ft_serve_load *load, uint64_t tp, const struct lines *model)
{
    if (!q->c->json)
        return n == 1 ? print_one(q, x, load, tp, model)
                      : print_several(x, n, load, model);
    return ft__cli_json_take(q->c, all_json(q, x, n, load, tp, model));
}

int ft__serve_ask(const ft__predict_question *q, ft_served *out, ft_serve_steps **steps,
                  ft_data *data, const ft_serve_plan *plan, const ft_serve_load *load,
                  const char *device, ft_error *no_fit)
{
    ft_query query = q->query;
    char setting[FT__SETTING_MAX];
    ft_status st;
    int code = ft__operating_setting(q->c, setting, &q->use, q->o->asked.setting);

    if (code)
        return code;
    query.device = device;
    query.setting = setting;
    st = ft_serve_steps_open(steps, data, plan, &query, &q->c->err);
    if (st)
        return ft__cli_check_asked(q->c, st);
    st = ft_serve_run(out, *steps, load, &q->c->err);
    if (no_fit && st == FT_ENOTFOUND && !out->fits) {
        *no_fit = q->c->err;
        st = FT_OK;
    }
    return ft__cli_check_asked(q->c, st);
}

static int ask(struct served *out, const ft__predict_question *q, ft_data *data,
               const ft_serve_plan *plan, const ft__serving *s, const char *device)
{
    char name[MAX_NAME];
    int code;

    out->load = s->load;
    snprintf(name, sizeof(name), "%s", device);
    code = ft__device_resolve(q->c, name, sizeof(name), true);
    if (code)
        return code;
    if (s->learned.n)
        out->n_learned = ft__learned_take(&out->load, &s->learned, name, &q->query);
    code = ft__serve_ask(q, &out->s, &out->steps, data, plan, &out->load, name,
                         &out->no_fit);
    return code ? code
                : ft__price_of(q->c, &out->price_per_s, &q->o->serve.prices,
                               out->s.device);
}

/* The option given that is of networks alone; NULL: none is. */
static const char *unserved(const ft__predict_question *q)
{
    return q->o->clocks          ? "--clocks: foretell rank has it"
           : q->o->power_caps    ? "--power-caps: foretell rank has it"
           : q->o->max_batch     ? "--max-batch"
           : q->o->must_fit      ? "--must-fit: what does not fit is exit code 1"
           : q->o->channels_last ? "--channels-last"
           : q->o->trace         ? "--trace"
           : q->c->csv           ? "--csv"
                                 : NULL;
}

int ft__serve_check(const ft__predict_question *q, const ft__serving *s)
{
    if (s->n_tp > 1 || s->n_concurrency > 1 || s->n_precisions > 1)
        return ft__usage(q->c, "one --tp, --concurrency and --precision: several are "
                               "for foretell rank");
    if (unserved(q))
        return ft__usage(q->c, "serving goes without %s", unserved(q));
    if (q->o->asked.launch_time)
        return ft__usage(q->c, "serving has the host's time between steps: "
                               "--step-overhead in place of --launch-time");
    return ft__precision_check(q->c, &q->o->model);
}

/* Nothing fits, which is an answer, or of none is its memory known. */
static int verdict(const struct served *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_too_large(&x[i]))
            return FT__EXIT_NO;
    return FT__EXIT_MISSING;
}

static int none_fits(ft__cli *c, const struct served *x, size_t n)
{
    char all[2 * sizeof(x->no_fit.msg)] = "";
    size_t len = 0;

    for (size_t i = 0; i < n && len < sizeof(all); i++)
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? "; " : "",
                                x[i].no_fit.msg);
    return ft__cli_exit(c, verdict(x, n), "%s", all);
}

static int answer(ft__predict_question *q, const ft__serving *s,
                  const ft_serve_plan *plan, ft_data *data)
{
    const char *list = q->o->device ? q->o->device : "local";
    const char *asked[MAX_DEVICES];
    struct served x[MAX_DEVICES] = {0};
    struct lines model = {.n = 0};
    char device[MAX_NAME];
    size_t n = 0, fit = 0;
    int code = FT__EXIT_GOOD;

    while (!code && ft__word_next(device, sizeof(device), &list)) {
        if (!*device || n == MAX_DEVICES)
            code = ft__usage(q->c, "--device wants names joined by commas, at most %d",
                             MAX_DEVICES);
        else
            code = ask(&x[n++], q, data, plan, s, device);
    }
    for (size_t i = 0; i < n; i++) {
        asked[i] = x[i].s.device;
        fit += !*x[i].no_fit.msg;
    }
    if (!code && !fit && !q->c->json)
        code = none_fits(q->c, x, n);
    if (!code)
        code = ft__prices_check(q->c, &q->o->serve.prices, asked, n);
    if (!code)
        say_model(&model, &q->query);
    if (!code)
        code = ft__cli_done(q->c, print_all(q, x, n, &s->load, s->tp[0], &model));
    if (!code && q->o->html)
        code = ft__record_save_take(
            q->c, q->o->html,
            n == 1
                ? one_json(q, x, &s->load, s->tp[0], &model)
                : ft__json("devices:o", all_json(q, x, n, &s->load, s->tp[0], &model)));
    for (size_t i = 0; i < n; i++)
        ft_serve_steps_close(x[i].steps);
    return code || fit ? code : verdict(x, n);
}

int ft__serve_predict(ft__predict_question *q, const ft__serve_options *o)
{
    ft_serve_plan *plan = NULL;
    ft_data *data = NULL;
    ft__serving s;
    int code = ft__serving_read(q->c, &s, o);

    if (!code)
        code = ft__check_language_model(q->c, q->c->args.v[0],
                                        ft__option_given(ft__serve_table, o));
    if (!code)
        code = ft__serve_check(q, &s);
    if (!code && ft__learned_is(q->o->correct)) {
        q->query.correct = NULL;
        code = ft__learned_read(q->c, &s.learned, q->o->correct);
    }
    if (!code)
        code =
            ft__serving_dims(q->c, &q->values, &q->query, o, s.tp[0], s.weight_bits[0]);
    for (size_t i = 0; i < q->query.n_dims; i++)
        if (strcmp(q->query.dims[i].name, "tp") == 0) /* --dim says it, too */
            s.tp[0] = (uint64_t)q->query.dims[i].value;
    if (!code)
        code = ft__data_open(q->c, &data);
    q->query.model = q->c->args.v[0];
    if (!code)
        code = ft__cli_check_asked(
            q->c, ft_serve_plan_open(&plan, &q->query, &s.load, 1, &q->c->err));
    if (!code)
        code = answer(q, &s, plan, data);
    ft_serve_plan_close(plan);
    ft__data_close(q->c, data);
    ft__serving_end(&s);
    return code;
}
