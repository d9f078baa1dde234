/* foretell predict: before anything runs. */
#include "cli/predict.h"

#include <math.h>
#include <string.h>

#include "cli/serve/serve.h"
#include "cli/session.h"
#include "foretell/timeline.h"

static const ft__option options[] = {
    FT__TEXT(ft__predict_options, device, "device", "D[,D2...]",
             "local (this machine, the default) or names of foretell devices"),
    FT__INPUT(ft__predict_options, predictor, "predictor", "P.ftp",
              "use this predictor; the one train made"),
    FT__TEXT(
        ft__predict_options, method, "method", "NAME",
        "physics, roofline or paleo: from a device's data sheet alone, whatever was "
        "learned"),
    FT__ENGINE_OPTIONS(ft__predict_options, "the software that will run it; ",
                       "threads it may use; "),
    FT__COUNT(ft__predict_options, top, "top", "N",
              "how many of the heaviest operations to list; 10"),
    FT__FLAG(ft__predict_options, summary, "summary",
             "the network alone, without its operations"),
    FT__HTML_OPTION(ft__predict_options),
    FT__OUTPUT(ft__predict_options, trace, "trace", "FILE",
               "also write the operations in time, with memory and power: trace events "
               "for Perfetto"),
    FT__FLAG(ft__predict_options, max_batch, "max-batch",
             "the largest batch that fits the device's memory, too"),
    FT__FLAG(ft__predict_options, must_fit, "must-fit",
             "exit code 1 when the device's memory is too small"),
    FT__CHANNELS_LAST_OPTION(ft__predict_options),
    FT__GROUP(ft__predict_options, use, ft__operating_table),
    FT__TEXT(ft__predict_options, clocks, "clocks", "MHZ,...",
             "at each of these core clocks, and which takes the least energy"),
    FT__TEXT(ft__predict_options, power_caps, "power-caps", "WATTS,...",
             "under each of these power caps, and which takes the least energy"),
    FT__INPUT(ft__predict_options, correct, "correct", "STORE|CSV", FT__CORRECT_HELP),
    FT__GROUP(ft__predict_options, asked, ft__query_table),
    FT__NETWORK_OPTIONS(ft__predict_options),
    FT__GROUP(ft__predict_options, serve, ft__serve_table),
    FT__GROUP(ft__predict_options, train, ft__llm_train_table),
    FT__TEXTS(ft__predict_options, serve.prices, "price", "D=PRICE/h",
              "serving: what a device costs; may be repeated, without D= of all"),
    {0},
};

enum { MAX_ANSWERS = 256, MAX_NAME = 128 };

/* One answer for each device, and clock or cap. 0: too many, or an empty name. */
static size_t count_answers(const ft__predict_question *q, const char *list)
{
    char name[MAX_NAME];
    size_t n = 0;

    while (ft__word_next(name, sizeof(name), &list)) {
        n += q->n_points ? q->n_points : 1;
        if (!*name || n > MAX_ANSWERS)
            return 0;
    }
    return n;
}

static int ask_one(ft__swept_answer *out, const ft__predict_question *q, ft_data *data,
                   const char *device, const double *point)
{
    ft_query query = q->query;
    ft__setting_options use = q->use;
    char setting[FT__SETTING_MAX];
    ft_status st;
    int code;

    if (point && q->caps)
        ft__operating_set_cap(&use, *point);
    else if (point)
        ft__operating_set_clock(&use, *point);
    out->point = point ? *point : (double)NAN;
    code = ft__operating_setting(q->c, setting, &use, q->o->asked.setting);
    if (code)
        return code;
    query.device = device;
    query.setting = setting;
    st = ft_query_ask(&out->x, data, &query, &q->c->err);
    if (!st && q->o->max_batch)
        st = ft__server_memory_ask(&out->server, &query, out->x->limit_bytes,
                                   &q->c->err);
    if (st)
        return ft__cli_check_asked(q->c, st);
    if (q->o->must_fit && !(out->x->limit_bytes > 0))
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "--must-fit: the memory of %s is not known",
                            out->x->device);
    return FT__EXIT_GOOD;
}

static int ask_all(ft__swept_answer *a, const ft__predict_question *q, ft_data *data,
                   const char *list)
{
    const size_t n_points = q->n_points ? q->n_points : 1;
    char device[MAX_NAME];
    int code = FT__EXIT_GOOD;

    while (!code && ft__word_next(device, sizeof(device), &list))
        for (size_t k = 0; k < n_points && !code; k++)
            code = ask_one(a++, q, data, device, q->n_points ? &q->point[k] : NULL);
    return code;
}

static json_t *page_of(ft__cli *c, const ft__swept_answer *a, size_t n)
{
    const ft_answer *answer[MAX_ANSWERS];
    const ft_device_facts *facts[MAX_ANSWERS] = {0};
    ft_device *device[MAX_ANSWERS] = {0};
    char data_dir[FT__PATH_MAX];
    json_t *page;

    ft__path_data(c, data_dir);
    for (size_t i = 0; i < n; i++) {
        answer[i] = a[i].x;
        /* Of this machine there is no file, and no roofline. */
        if (!ft_device_load(&device[i], data_dir, a[i].x->device, NULL))
            facts[i] = ft_device_get(device[i]);
    }
    page = ft__prediction_page(answer, facts, n);
    for (size_t i = 0; i < n; i++)
        ft_device_free(device[i]);
    return page;
}

static int save_files(const ft__predict_question *q, const ft__swept_answer *a,
                      size_t n)
{
    int code = q->o->html ? ft__page_save_take(q->c, q->o->html, FT__PAGE_PREDICT,
                                               page_of(q->c, a, n))
                          : FT__EXIT_GOOD;

    if (!code && q->o->trace)
        code = ft__cli_check(q->c, ft_answer_trace(a->x, q->o->trace, &q->c->err));
    return code;
}

/* What does not fit and must is an answer, and it is "no". */
static int verdict(const ft__predict_question *q, const ft__swept_answer *a, size_t n)
{
    for (size_t i = 0; i < n && q->o->must_fit; i++)
        if (a[i].x->memory.value > a[i].x->limit_bytes)
            return FT__EXIT_NO;
    return FT__EXIT_GOOD;
}

/* An engine is wanted that has no predictor for this machine but could measure one. */
static int check_engine(const ft__predict_question *q, const char *list)
{
    const ft__predict_options *o = q->o;
    char device[MAX_NAME], path[FT__PATH_MAX];
    bool local = false;

    while (ft__word_next(device, sizeof(device), &list))
        local = local || strcmp(device, "local") == 0;
    if (!local || !o->engine || o->predictor)
        return FT__EXIT_GOOD;
    ft__path_predictor(path, o->engine, o->threads);
    return ft__path_exists(path) ? FT__EXIT_GOOD : ft__engine_needed(q->c, o->engine);
}

static int answer_all(const ft__predict_question *q, ft_data *data)
{
    const char *list = q->o->device ? q->o->device : "local";
    const ft__sweep sweep = !q->n_points ? FT__SWEEP_NOTHING
                            : q->caps    ? FT__SWEEP_CAPS
                                         : FT__SWEEP_CLOCKS;
    ft__swept_answer a[MAX_ANSWERS] = {0};
    size_t n = count_answers(q, list), n_known = 0;
    int code;

    if (!n)
        return ft__usage(q->c,
                         "--device wants names joined by commas, at most %d answers "
                         "in all, not \"%s\"",
                         MAX_ANSWERS, list);
    if (q->o->summary && q->c->csv)
        return ft__usage(q->c, "--csv lists operations, and --summary none");
    if (q->o->trace && n > 1)
        return ft__usage(q->c, "--trace is of one device, clock and cap, not of %zu",
                         n);
    code = check_engine(q, list);
    if (!code)
        code = ask_all(a, q, data, list);
    for (size_t i = 0; i < n && !code; i++)
        n_known += a[i].x->n_known;
    if (!code && q->o->correct && !n_known)
        code = ft__nothing_corrected(q->c, q->o->correct);
    if (!code)
        code = ft__cli_done(q->c, q->c->reply && q->c->reply->page
                                      ? ft__cli_json_take(q->c, page_of(q->c, a, n))
                                      : ft__predict_print(q->c, a, n, sweep, q->o));
    if (!code)
        code = save_files(q, a, n);
    if (!code)
        code = verdict(q, a, n);
    for (size_t i = 0; i < n; i++)
        ft_answer_free(a[i].x);
    return code;
}

int ft__predict_read(ft__predict_question *q)
{
    const ft__predict_options *o = q->o;
    ft_step_names step = o->step;
    ft_status st;
    int code;

    if (ft__llm_train_asked(&o->train) && !step.mode)
        step.mode = "training";
    code = ft__step_parse(q->c, &q->step, &step);

    if (!code)
        code = ft__operating_parse(q->c, &q->use, &o->use);
    if (!code)
        code = ft__operating_setting(q->c, q->setting, &q->use, o->asked.setting);
    if (!code && o->clocks)
        code = ft__clock_list_parse(q->c, q->point, &q->n_points, o->clocks);
    if (!code && o->use.clock && q->n_points)
        code = ft__usage(q->c, "--clock or --clocks, not both");
    if (!code && o->power_caps && (o->clocks || o->use.power_cap))
        code = ft__usage(q->c, "--power-caps goes without --clocks and --power-cap");
    q->caps = o->power_caps;
    if (!code && q->caps)
        code = ft__cap_list_parse(q->c, q->point, &q->n_points, o->power_caps);
    if (code)
        return code;
    q->query = (ft_query)FT_QUERY_INIT;
    q->query.mode = step.mode;
    q->query.optimizer = o->step.optimizer;
    q->query.loss = o->step.loss;
    q->query.loss_on = o->step.loss_on;
    q->query.policy = q->use.policy;
    q->query.engine = o->engine;
    q->query.engine_version = o->asked.engine_version;
    q->query.channels_last = o->channels_last;
    q->query.run_mode = o->asked.run_mode;
    q->query.host = o->asked.host;
    q->query.threads = o->threads;
    q->query.predictor = o->predictor;
    q->query.method = o->method;
    q->query.correct = o->correct;
    q->query.max_batch = o->max_batch;
    st = ft__model_values_read(&q->values, &q->query, &o->model, &q->c->err);
    return ft__cli_check_asked(q->c, st);
}

void ft__predict_end(ft__predict_question *q)
{
    ft__model_values_free(&q->values);
}

/* The host is that of the first device. */
static int read_launch_time(ft__predict_question *q, ft_data *data)
{
    const char *list = q->o->device ? q->o->device : "local";
    char device[MAX_NAME];
    int code;

    if (ft__word_next(device, sizeof(device), &list))
        q->query.device = device;
    code = ft__launch_time_read(q->c, &q->query, data, q->o->asked.launch_time);
    q->query.device = NULL;
    return code;
}

static int run(ft__cli *c, const void *user)
{
    ft__predict_options own = *(const ft__predict_options *)user;
    const ft__predict_options *o = &own;
    ft__predict_question q = {.c = c, .o = o};
    ft_data *data = NULL;
    ft_graph *g = NULL;
    int code;

    code = ft__step_take(c, &own.serve, &own.model);
    if (!code)
        code = ft__predict_read(&q);
    if (!code && (ft__llm_train_asked(&o->train) || ft__serving_asked(&o->serve))) {
        code = ft__llm_train_asked(&o->train) ? ft__llm_train(&q)
                                              : ft__serve_predict(&q, &o->serve);
        ft__predict_end(&q);
        return code;
    }
    if (!code && o->serve.prices.n)
        code = ft__usage(c, "--price is of serving and of training over --gpus; what "
                            "networks cost says foretell rank --price");
    if (!code)
        code = ft__data_open(c, &data);
    if (!code && o->max_batch && strcmp(c->args.v[0], "-") == 0)
        code = ft__usage(c, "--max-batch asks at several batches: standard input: a "
                            "list of operations has its sizes in its lines");
    if (!code)
        code = ft__model_read(c, &g, c->args.v[0], &o->model);
    if (!code) {
        q.query.model = c->args.v[0];
        q.query.graph = g;
        code = read_launch_time(&q, data);
    }
    if (!code)
        code = answer_all(&q, data);
    ft__predict_end(&q);
    ft__data_close(c, data);
    ft__model_close(c, g);
    return code;
}

const ft__command ft__predict_command = {
    .name = "predict",
    .arguments = "MODEL",
    .summary = "predict time, energy and memory of a model on a device",
    .more =
        "For this machine a predictor is needed: foretell collect, then foretell "
        "train.\n"
        "Other devices: by a predictor for a family of devices (--predictor, or the "
        "one\n"
        "that foretell train --family made, or those of the data folder); otherwise\n"
        "scaled from the data sheet by physical models of its kernels. --method\n"
        "roofline gives a lower bound, --method paleo the sum of reading, computing "
        "and\n"
        "writing.\n"
        "Of a language model's config.json with --prompt, --generate, --concurrency, "
        "--rate\n"
        "or --requests: serving by continuous batching: latency, throughput, joules, "
        "money.",
    .examples =
        "  foretell predict resnet50.onnx --device local\n"
        "  foretell predict resnet50.onnx --device local,a100-sxm-80gb --batch 8\n"
        "  foretell predict bert.onnx --dim seq=128 --json\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --batch 64 "
        "--must-fit\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --max-batch\n"
        "  foretell predict resnet50.onnx --device a30 --batch 32 --clocks "
        "600,900,1200\n"
        "  foretell predict resnet50.onnx --device a100 --mode training --precision "
        "amp-bf16\n"
        "  foretell predict resnet50.onnx --device l4 --correct few-of-l4.csv\n"
        "  foretell predict resnet50.onnx --device l4 --launch-time 9us\n"
        "  foretell predict resnet50.onnx --device a30,l4 --html resnet50.html\n"
        "  foretell predict resnet50.onnx --device a30 --trace resnet50.json\n"
        "  foretell predict config.json --device h100 --tp 2 --prompt 2048 --generate "
        "256 \\\n"
        "                   --concurrency 32 --price h100=2.49/h\n"
        "  foretell predict config.json --device l40s --requests trace.csv --json\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(ft__predict_options),
    .options = options,
    .run = run,
};
