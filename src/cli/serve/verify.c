/* foretell verify: what a benchmark of a server measured beside what is predicted. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/serve.h"
#include "report/units.h"

enum { MOST_RESULTS = 64, MOST_FILE = 1 << 24, MOST_ROWS = 24 };

struct verify_options {
    ft__predict_options predict;
    const char *learn;
    uint64_t first;
};

static const ft__option options[] = {
    FT__TEXT(ft__predict_options, device, "device", "D",
             "the device it was measured on, by a name of foretell devices"),
    FT__INPUT(ft__predict_options, predictor, "predictor", "P.ftp",
              "use this predictor"),
    FT__TEXT(ft__predict_options, method, "method", "NAME",
             "physics: from the device's data sheet alone"),
    FT__TEXT(ft__predict_options, engine, "engine", "NAME",
             "the software that served: vllm, sglang, trtllm, transformers, llama.cpp"),
    FT__GROUP(ft__predict_options, use, ft__operating_table),
    FT__GROUP(ft__predict_options, asked, ft__query_table),
    FT__GROUP(ft__predict_options, model, ft__model_table),
    FT__GROUP(ft__predict_options, serve, ft__serve_table),
    FT__TEXT(
        struct verify_options, learn, "learn", "FILE",
        "how much longer steps took than predicted: added to FILE, which --correct "
        "of predict and rank reads"),
    FT__COUNT(struct verify_options, first, "first", "N",
              "of recorded requests, the first so many; all"),
    {0},
};

static int read_results(ft__cli *c, ft_serve_measured *out, size_t *n, const char *path)
{
    FILE *fp = fopen(path, "rb");
    char *text = malloc(MOST_FILE);
    size_t len = 0;
    int code = FT__EXIT_GOOD;

    if (!fp)
        code = ft__cli_exit(c, FT__EXIT_INPUT, "%s: %s", path, strerror(errno));
    else if (!text)
        code = ft__cli_done(c, false);
    else
        len = fread(text, 1, MOST_FILE, fp);
    if (!code && len == MOST_FILE)
        code = ft__cli_exit(c, FT__EXIT_INPUT, "%s: more than 16 MiB", path);
    if (!code)
        code = ft__cli_check(
            c, ft_serve_measured_read(out, n, MOST_RESULTS, text, len, path, &c->err));
    if (fp)
        fclose(fp);
    free(text);
    return code;
}

/* Requests one by one: the file that is the load, too. */
static int read_requests(ft__cli *c, ft__serving *s, ft_serve_measured *m,
                         uint64_t first, const char *path)
{
    *m = (ft_serve_measured){.tool = "recorded requests",
                             .tokens_per_s = NAN,
                             .requests_per_s = NAN,
                             .duration_s = NAN};
    for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
        m->latency[FT_SERVE_ITL][p] = NAN;
    s->load.n_shown = first;
    s->load.request = NULL;
    free(s->recorded);
    s->recorded = NULL;
    if (ft__requests_measured(c, &s->recorded, &s->load.n_recorded, m, first, path))
        return FT__EXIT_INPUT;
    s->load.request = s->recorded;
    return FT__EXIT_GOOD;
}

static int read_file(ft__predict_question *q, ft__serving *s, ft_serve_measured *m,
                     size_t *n)
{
    const struct verify_options *o = (const void *)q->o;
    const char *path = q->c->args.v[0];

    if (q->o->serve.requests && strcmp(q->o->serve.requests, path) == 0) {
        *n = 1;
        return read_requests(q->c, s, m, o->first, path);
    }
    if (o->first)
        return ft__usage(q->c, "--first is of recorded requests: --requests %s", path);
    return read_results(q->c, m, n, path);
}

/* Its load, but for what the command line says. */
static int take_load(ft__cli *c, ft_serve_load *l, const ft_serve_measured *m,
                     const ft__serve_options *o)
{
    if (!o->prompt)
        l->prompt = m->prompt;
    if (!o->generate)
        l->generate = m->generate;
    if (!o->n_requests)
        l->n_requests = m->n_requests;
    if (!o->concurrency)
        l->concurrency = m->concurrency;
    if (!o->rate)
        l->rate_per_s = m->rate_per_s;
    /* All at once is a closed load of as many. */
    if (!l->concurrency && !(l->rate_per_s > 0) && !l->n_recorded)
        l->concurrency = l->n_requests;
    ft__serving_followed(o, l);
    if (l->n_recorded ||
        (l->prompt && l->generate && (l->concurrency || l->rate_per_s > 0)))
        return FT__EXIT_GOOD;
    return ft__usage(c, "the file does not say its load: --prompt, --generate and "
                        "--concurrency or --rate do");
}

struct row {
    char name[48];
    const char *unit;
    double measured;
    ft_estimate predicted;
};

struct rows {
    struct row at[MOST_ROWS];
    size_t n;
};

static void add(struct rows *r, const char *name, const char *point, const char *unit,
                double measured, const ft_estimate *predicted)
{
    struct row *x = &r->at[r->n];

    if (!isfinite(measured) || r->n == MOST_ROWS)
        return;
    snprintf(x->name, sizeof(x->name), "%s%s%s", name, *point ? ", " : "", point);
    x->unit = unit;
    x->measured = measured;
    x->predicted = *predicted;
    r->n++;
}

static void fill_rows(struct rows *r, const ft_serve_measured *m, const ft_served *s)
{
    static const char *const name[] = {"TTFT", "TPOT", "ITL", "end to end"};
    static const char *const point[] = {"mean", "p50", "p90", "p95", "p99"};

    r->n = 0;
    for (int i = 0; i < FT_SERVE_METRIC_COUNT; i++)
        for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
            add(r, name[i], point[p], "s", m->latency[i][p], &s->latency[i][p]);
    add(r, "tokens/s", "", "", m->tokens_per_s, &s->tokens_per_s);
    add(r, "requests/s", "", "", m->requests_per_s, &s->requests_per_s);
    add(r, "duration", "", "s", m->duration_s, &s->duration_s);
}

static bool is_within(const struct row *x)
{
    return x->predicted.low <= x->measured && x->measured <= x->predicted.high;
}

/* Which part is furthest from its prediction, among those outside their intervals. */
static void say_verdict(char *out, size_t size, const struct rows *r)
{
    static const struct {
        const char *begins, *part;
    } parts[] = {{"TTFT", "prompts: their steps, or the time that requests wait"},
                 {"TPOT", "decoding, and the prompts that come between"},
                 {"ITL", "decoding"},
                 {"", "the whole"}};
    const struct row *worst = NULL;
    double most = 0;
    size_t i = 0;

    for (size_t k = 0; k < r->n; k++) {
        const double off = fabs(log(r->at[k].measured / r->at[k].predicted.value));

        if (!is_within(&r->at[k]) && off > most) {
            most = off;
            worst = &r->at[k];
        }
    }
    if (!worst) {
        snprintf(out, size, "all that was measured lies within the intervals");
        return;
    }
    while (strncmp(worst->name, parts[i].begins, strlen(parts[i].begins)) != 0)
        i++;
    snprintf(out, size, "what differs most is %s (%s, measured %s of the prediction)",
             parts[i].part, worst->name,
             ft__text_percent(worst->measured / worst->predicted.value).s);
}

static bool print_text(const ft_serve_measured *m, const ft_serve_load *l,
                       const struct rows *r, const ft_served *s)
{
    ft__table *t = ft__table_new("quantity|measured>|predicted>|low>|high>|"
                                 "off>|within");
    char verdict[256], users[64], behind[FT__REQUESTS_TEXT];

    if (l->rate_per_s > 0)
        snprintf(users, sizeof(users), "%g requests/s", l->rate_per_s);
    else
        snprintf(users, sizeof(users), "%" PRIu64 " under way", l->concurrency);
    if (l->n_recorded)
        printf("%s on %s: %" PRIu64 ", and what the first %" PRIu64 " showed\n\n",
               m->tool, s->device, s->requests, l->n_shown ? l->n_shown : s->requests);
    else
        printf("%s on %s: %" PRIu64 " requests of %" PRIu64
               " tokens that generate %" PRIu64 ", %s\n\n",
               m->tool, s->device, s->requests, l->prompt, l->generate, users);
    for (size_t i = 0; i < r->n; i++) {
        const struct row *x = &r->at[i];

        ft__table_row(t, x->name, ft__text_in(x->unit, x->measured).s,
                      ft__text_in(x->unit, x->predicted.value).s,
                      ft__text_in(x->unit, x->predicted.low).s,
                      ft__text_in(x->unit, x->predicted.high).s,
                      ft__text_signed(x->predicted.value / x->measured - 1).s,
                      is_within(x) ? "yes" : "no");
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    say_verdict(verdict, sizeof(verdict), r);
    printf("\n%s\n", verdict);
    ft__behind_text(behind, l, s);
    if (*behind)
        ft__put_line(stdout, "warning: as predicted ", behind);
    return true;
}

static json_t *result_json(const ft_serve_measured *m, const ft_serve_load *l,
                           const struct rows *r, const ft_served *s)
{
    json_t *all = json_array();
    char verdict[256];

    for (size_t i = 0; i < r->n; i++)
        ft__json_append_take(
            &all, ft__json("quantity:s measured:g predicted:o within:b", r->at[i].name,
                           r->at[i].measured,
                           ft__json_estimate(&r->at[i].predicted, r->at[i].unit),
                           is_within(&r->at[i])));
    say_verdict(verdict, sizeof(verdict), r);
    return ft__json("tool:s device:s prompt:u generate:u concurrency:u rate:g "
                    "requests:u prompt_factor:g decode_factor:g results:o verdict:s",
                    m->tool, s->device, l->prompt, l->generate, l->concurrency,
                    l->rate_per_s > 0 ? l->rate_per_s : NAN, s->requests,
                    l->prompt_factor > 0 ? l->prompt_factor : NAN,
                    l->decode_factor > 0 ? l->decode_factor : NAN, all, verdict);
}

/* The factors, kept, and the run with them in *s. */
static int learn(ft__predict_question *q, ft_served *s, const ft_serve_steps *steps,
                 ft_serve_load *load, const ft_serve_measured *m, ft__learned_row *row)
{
    const struct verify_options *o = (const void *)q->o;
    uint64_t tp = s->devices;
    int code = ft__cli_check_asked(q->c, ft_serve_learn(&row->prompt_factor,
                                                        &row->decode_factor, steps,
                                                        load, m, &q->c->err));

    if (code)
        return code;
    if (load->prefill_workers)
        tp /= load->prefill_workers + load->decode_workers;
    snprintf(row->device, sizeof(row->device), "%s", s->device);
    snprintf(row->engine, sizeof(row->engine), "%s",
             q->query.engine ? q->query.engine : "");
    row->ranks = tp;
    row->requests = s->requests;
    load->prompt_factor = row->prompt_factor;
    load->decode_factor = row->decode_factor;
    code = ft__learned_add(q->c, o->learn, row);
    return code ? code
                : ft__cli_check_asked(q->c, ft_serve_run(s, steps, load, &q->c->err));
}

/* The engine that a benchmark is of; NULL: the file does not say. */
static const char *engine_of(const ft_serve_measured *m)
{
    return strcmp(m->tool, "llama-bench") == 0 ? "llama.cpp"
           : strcmp(m->tool, "sglang") == 0 || strcmp(m->tool, "vllm") == 0 ? m->tool
                                                                            : NULL;
}

static int verify_one(ft__predict_question *q, ft_data *data, ft_serve_load *load,
                      const ft_serve_measured *m, json_t **all)
{
    const struct verify_options *o = (const void *)q->o;
    ft__learned_row row = {.ranks = 0};
    ft_serve_plan *plan = NULL;
    ft_serve_steps *steps = NULL;
    struct rows rows;
    ft_served s;
    int code = take_load(q->c, load, m, &q->o->serve);

    q->query.engine = q->o->engine ? q->o->engine : engine_of(m);
    if (!code)
        code = ft__cli_check_asked(
            q->c, ft_serve_plan_open(&plan, &q->query, load, 1, &q->c->err));
    if (!code)
        code = ft__serve_ask(q, &s, &steps, data, plan, load, q->o->device, NULL);
    if (!code && o->learn)
        code = learn(q, &s, steps, load, m, &row);
    if (!code) {
        fill_rows(&rows, m, &s);
        if (q->c->json)
            ft__json_append_take(all, result_json(m, load, &rows, &s));
        else if (!print_text(m, load, &rows, &s))
            code = ft__cli_done(q->c, false);
        else if (o->learn)
            printf("\npredicted with steps corrected by this run: prompts take %.2f "
                   "times as long, decoding %.2f (in %s, for --correct)\n",
                   row.prompt_factor, row.decode_factor, o->learn);
    }
    ft_serve_steps_close(steps);
    ft_serve_plan_close(plan);
    return code;
}

static int verify_all(ft__predict_question *q, ft_data *data)
{
    ft_serve_measured *m = calloc(MOST_RESULTS, sizeof(*m));
    json_t *all = json_array();
    ft__serving serving = {.recorded = NULL};
    size_t n = 0;
    int code =
        m ? ft__serving_read(q->c, &serving, &q->o->serve) : ft__cli_done(q->c, false);

    if (!code)
        code = ft__serve_check(q, &serving);
    if (!code)
        code = ft__serving_dims(q->c, &q->values, &q->query, &q->o->serve,
                                serving.tp[0], serving.weight_bits[0]);
    if (!code)
        code = read_file(q, &serving, m, &n);
    for (size_t i = 0; i < n && !code; i++) {
        ft_serve_load load = serving.load;

        code = verify_one(q, data, &load, &m[i], &all);
    }
    if (!code && q->c->json) {
        code = ft__cli_done(q->c, ft__json_print_take(all, stdout));
        all = NULL;
    }
    json_decref(all);
    ft__serving_end(&serving);
    free(m);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    const ft__predict_options *o = user;
    ft__predict_question q = {.c = c, .o = o};
    ft_data *data = NULL;
    int code = ft__predict_read(&q);

    if (!code && !o->device)
        code = ft__usage(c, "--device is missing: where was it measured?");
    if (!code)
        code = ft__data_open(c, &data);
    q.query.model = c->args.v[1];
    if (!code)
        code = verify_all(&q, data);
    ft__predict_end(&q);
    ft_data_close(data);
    return code;
}

const ft__command ft__verify_command = {
    .name = "verify",
    .arguments = "FILE MODEL",
    .summary = "compare a benchmark of a server with its prediction",
    .more =
        "FILE: JSON of vllm bench serve, of SGLang's bench_serving (also one result "
        "a line)\n"
        "or of llama-bench -o json, or the summary of MLPerf Inference's load "
        "generator.\n"
        "MODEL: the config.json of what was served. The load is the file's; options\n"
        "add what it lacks, or override it.",
    .examples =
        "  foretell verify bench.json config.json --device h100 --tp 2\n"
        "  foretell verify llama-bench.json config.json --device rtx-4090 --json\n"
        "  foretell verify mlperf_log_summary.txt config.json --device h200 --prompt "
        "1024 \\\n"
        "                  --generate 256\n",
    .least_args = 2,
    .most_args = 2,
    .options_size = sizeof(struct verify_options),
    .options = options,
    .run = run,
};
