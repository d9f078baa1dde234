/* foretell predict: before anything runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/predict/predict.h"

static const ft__option options[] = {
    FT__TEXT(ft__predict_options, device, "device", "D[,D2...]",
             "local (this machine, the default) or names of foretell devices"),
    FT__TEXT(ft__predict_options, predictor, "predictor", "P.ftp",
             "use this predictor; the one train made"),
    FT__TEXT(
        ft__predict_options, method, "method", "NAME",
        "physics, roofline or paleo: from a device's data sheet alone, whatever was "
        "learned"),
    FT__ENGINE_OPTIONS(ft__predict_options, "the software that will run it; ",
                       "threads it may use; "),
    FT__COUNT(ft__predict_options, top, "top", "N",
              "how many of the heaviest operations to list; 10"),
    FT__FLAG(ft__predict_options, max_batch, "max-batch",
             "the largest batch that fits the device's memory, too"),
    FT__FLAG(ft__predict_options, must_fit, "must-fit",
             "exit code 1 when the device's memory is too small"),
    FT__GROUP(ft__predict_options, use, ft__operating_table),
    FT__TEXT(ft__predict_options, clocks, "clocks", "MHZ,...",
             "at each of these core clocks, and which takes the least energy"),
    FT__TEXT(ft__predict_options, correct, "correct", "STORE|CSV", FT__CORRECT_HELP),
    FT__GROUP(ft__predict_options, asked, ft__query_table),
    FT__GROUP(ft__predict_options, step, ft__step_table),
    FT__GROUP(ft__predict_options, model, ft__model_table),
    {0},
};

enum { MAX_ANSWERS = 256, MAX_NAME = 128 };

/* One answer for each device and clock. 0: too many, or an empty name. */
static size_t count_answers(const ft__predict_question *q, const char *list)
{
    char name[MAX_NAME];
    size_t n = 0;

    while (ft__word_next(name, sizeof(name), &list)) {
        n += q->n_clocks ? q->n_clocks : 1;
        if (!*name || n > MAX_ANSWERS)
            return 0;
    }
    return n;
}

static int ask_one(ft__answer *out, const ft__predict_question *q, ft_data *data,
                   const char *device, const double *clock_hz)
{
    ft_query query = q->query;
    ft__setting_options use = q->use;
    char setting[FT__SETTING_MAX];
    ft_status st;
    int code;

    if (clock_hz)
        ft__operating_set_clock(&use, *clock_hz);
    out->clock_hz = use.clock_hz;
    code = ft__operating_setting(q->c, setting, &use, q->o->asked.setting);
    if (code)
        return code;
    query.device = device;
    query.setting = setting;
    st = ft_query_ask(&out->x, data, &query, &q->c->err);
    if (st)
        return ft__cli_check_asked(q->c, st);
    if (q->o->must_fit && !(out->x->limit_bytes > 0))
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "--must-fit: the memory of %s is not known",
                            out->x->device);
    return FT__EXIT_GOOD;
}

static int ask_all(ft__answer *a, const ft__predict_question *q, ft_data *data,
                   const char *list)
{
    const size_t n_clocks = q->n_clocks ? q->n_clocks : 1;
    char device[MAX_NAME];
    int code = FT__EXIT_GOOD;

    while (!code && ft__word_next(device, sizeof(device), &list))
        for (size_t k = 0; k < n_clocks && !code; k++)
            code = ask_one(a++, q, data, device, q->n_clocks ? &q->clock_hz[k] : NULL);
    return code;
}

static bool print_all(ft__cli *c, const ft__answer *a, size_t n, bool clocks,
                      uint64_t top)
{
    json_t *all;

    if (c->csv)
        ft__answers_print_csv(a, n);
    if (c->csv)
        return true;
    if (!c->json)
        return n == 1 ? ft__answer_print(a->x, top, c->verbose > 0)
                      : ft__answers_print(a, n, clocks);
    if (n == 1)
        return ft__json_print_take(ft__answer_json(a->x), stdout);
    all = json_array();
    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, ft__answer_json(a[i].x));
    return ft__json_print_take(all, stdout);
}

/* What does not fit and must is an answer, and it is "no". */
static int verdict(const ft__predict_question *q, const ft__answer *a, size_t n)
{
    for (size_t i = 0; i < n && q->o->must_fit; i++)
        if (a[i].x->memory.value > a[i].x->limit_bytes)
            return FT__EXIT_NO;
    return FT__EXIT_GOOD;
}

static int answer_all(const ft__predict_question *q, ft_data *data)
{
    const char *list = q->o->device ? q->o->device : "local";
    ft__answer a[MAX_ANSWERS] = {0};
    size_t n = count_answers(q, list), n_known = 0;
    int code;

    if (!n)
        return ft__usage(q->c,
                         "--device wants names joined by commas, at most %d answers "
                         "in all, not \"%s\"",
                         MAX_ANSWERS, list);
    code = ask_all(a, q, data, list);
    for (size_t i = 0; i < n && !code; i++)
        n_known += a[i].x->n_known;
    if (!code && q->o->correct && !n_known)
        code = ft__nothing_corrected(q->c, q->o->correct);
    if (!code)
        code = ft__cli_done(
            q->c, print_all(q->c, a, n, q->n_clocks > 0, q->o->top ? q->o->top : 10));
    if (!code)
        code = verdict(q, a, n);
    for (size_t i = 0; i < n; i++)
        ft_answer_free(a[i].x);
    return code;
}

int ft__predict_read(ft__predict_question *q)
{
    const ft__predict_options *o = q->o;
    ft_status st;
    int code = ft__step_parse(q->c, &q->step, &o->step);

    if (!code)
        code = ft__operating_parse(q->c, &q->use, &o->use);
    if (!code)
        code = ft__operating_setting(q->c, q->setting, &q->use, o->asked.setting);
    if (!code && o->clocks)
        code = ft__clock_list_parse(q->c, q->clock_hz, &q->n_clocks, o->clocks);
    if (!code && o->use.clock && q->n_clocks)
        code = ft__usage(q->c, "--clock or --clocks, not both");
    if (code)
        return code;
    q->query = (ft_query)FT_QUERY_INIT;
    q->query.mode = o->step.mode;
    q->query.optimizer = o->step.optimizer;
    q->query.loss = o->step.loss;
    q->query.loss_on = o->step.loss_on;
    q->query.policy = q->use.policy;
    q->query.engine = o->engine;
    q->query.engine_version = o->asked.engine_version;
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

static int run(ft__cli *c, const void *user)
{
    const ft__predict_options *o = user;
    ft__predict_question q = {.c = c, .o = o};
    ft_data *data = NULL;
    ft_graph *g = NULL;
    int code = ft__predict_read(&q);

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
        code = answer_all(&q, data);
    }
    ft__predict_end(&q);
    ft_data_close(data);
    ft_graph_free(g);
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
        "scaled from the data sheet by what operations do on other devices. --method\n"
        "roofline gives a lower bound, --method paleo the sum of reading, computing "
        "and\n"
        "writing.",
    .examples =
        "  foretell predict resnet50.onnx --device local\n"
        "  foretell predict resnet50.onnx --device local,a100-sxm-80gb --batch 8\n"
        "  foretell predict bert.onnx --dim seq=128 --json\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --batch 64 "
        "--must-fit\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --max-batch\n"
        "  foretell predict resnet50.onnx --device a30 --batch 32 --clocks "
        "600,900,1200\n"
        "  foretell predict resnet50.onnx --device l4 --correct few-of-l4.csv\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(ft__predict_options),
    .options = options,
    .run = run,
};
