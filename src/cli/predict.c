/* foretell predict: before anything runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/predict_question.h"

static const ft__option options[] = {
    {"device", 0, FT__OPT_TEXT, offsetof(ft__predict_options, device), "D[,D2...]",
     "local (this machine, the default) or names of foretell devices"},
    {"predictor", 0, FT__OPT_TEXT, offsetof(ft__predict_options, predictor), "P.ftp",
     "use this predictor; the one train made"},
    {"method", 0, FT__OPT_TEXT, offsetof(ft__predict_options, method), "NAME",
     "physics, roofline or paleo: from a device's data sheet alone, whatever was "
     "learned"},
    FT__ENGINE_OPTIONS(ft__predict_options, "the software that will run it; ",
                       "threads it may use; "),
    {"top", 0, FT__OPT_COUNT, offsetof(ft__predict_options, top), "N",
     "how many of the heaviest operations to list; 10"},
    {"max-batch", 0, FT__OPT_FLAG, offsetof(ft__predict_options, max_batch), NULL,
     "the largest batch that fits the device's memory, too"},
    {"must-fit", 0, FT__OPT_FLAG, offsetof(ft__predict_options, must_fit), NULL,
     "exit code 1 when the device's memory is too small"},
    FT__USE_OPTIONS(ft__predict_options, use),
    {"clocks", 0, FT__OPT_TEXT, offsetof(ft__predict_options, clocks), "MHZ,...",
     "at each of these core clocks, and which takes the least energy"},
    FT__CORRECT_OPTION(ft__predict_options),
    FT__STEP_OPTIONS(ft__predict_options, step),
    FT__MODEL_OPTIONS(ft__predict_options, model),
    {0},
};

enum { MAX_ANSWERS = 256 };

static int check_method(ft__predict_question *q)
{
    int code = ft__by_parse(q->c, &q->by, q->o->method);

    if (!code && q->o->method && q->o->correct)
        code = ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method %s uses no measurements: leave --correct out",
                            q->o->method);
    if (!code && q->o->method && q->o->predictor)
        code = ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method %s uses no predictor: leave --predictor out",
                            q->o->method);
    return code;
}

static int open_predictor(ft__predict_question *q)
{
    ft_error err = {0};
    ft_status st;

    if (q->o->method)
        return FT__EXIT_GOOD;
    if (q->o->predictor)
        snprintf(q->predictor_path, sizeof(q->predictor_path), "%s", q->o->predictor);
    else
        ft__path_predictor(q->predictor_path, q->engine, q->o->threads);
    if (!q->o->predictor && !ft__path_exists(q->predictor_path))
        return FT__EXIT_GOOD;
    st = ft_predictor_load(&q->predictor, q->predictor_path, &err);
    if (st)
        return ft__cli_fail(q->c, st, &err);
    ft_predictor_get_info(q->predictor, &q->info);
    if (q->info.n_datasets)
        return FT__EXIT_GOOD;
    if (q->o->engine && strcmp(q->o->engine, q->info.engine) != 0)
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "%s was trained with engine %s, not %s", q->predictor_path,
                            q->info.engine, q->o->engine);
    q->engine = q->info.engine;
    return FT__EXIT_GOOD;
}

/* One answer for each device and clock. 0: too many, or an empty name. */
static size_t split_devices(ft__answer *a, const ft__predict_question *q,
                            const char *list)
{
    const size_t n_clocks = q->n_clocks ? q->n_clocks : 1;
    size_t n = 0;

    for (;;) {
        size_t len = strcspn(list, ",");

        if (!len || n + n_clocks > MAX_ANSWERS || len >= sizeof(a->device))
            return 0;
        for (size_t k = 0; k < n_clocks; k++, n++) {
            memcpy(a[n].device, list, len);
            a[n].use = q->use;
            if (q->n_clocks)
                ft__use_set_clock(&a[n].use, q->clock_hz[k]);
        }
        if (!list[len])
            return n;
        list += len + 1;
    }
}

static bool print_all(ft__cli *c, const ft__answer *a, size_t n, bool clocks,
                      uint64_t top)
{
    json_t *all;

    if (c->json && n == 1)
        return ft__json_print_take(ft__answer_json(a), stdout);
    if (c->json) {
        all = json_array();
        for (size_t i = 0; i < n; i++)
            ft__json_append_take(&all, ft__answer_json(&a[i]));
        return ft__json_print_take(all, stdout);
    }
    if (!c->csv)
        return n == 1 ? ft__answer_print(a, top) : ft__answers_print(a, n, clocks);
    for (size_t i = 0; i < n; i++)
        ft__answer_print_csv(&a[i], i == 0);
    return true;
}

/* What does not fit and must is an answer, and it is "no". */
static int verdict(const ft__predict_question *q, const ft__answer *a, size_t n)
{
    for (size_t i = 0; i < n && q->o->must_fit; i++)
        if (a[i].e.memory.value > a[i].limit_bytes)
            return FT__EXIT_NO;
    return FT__EXIT_GOOD;
}

static int answer_all(const ft__predict_question *q, ft__answer *a, ft__estimate *x)
{
    const char *list = q->o->device ? q->o->device : "local";
    size_t n = split_devices(a, q, list), n_known = 0;
    int code = FT__EXIT_GOOD;

    if (!n)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--device wants names joined by commas, at most %d answers "
                            "in all, not \"%s\"",
                            MAX_ANSWERS, list);
    for (size_t i = 0; i < n && !code; i++) {
        a[i].verbose = q->c->verbose > 0;
        code = ft__predict_answer(&a[i], &x[i], q);
        n_known += a[i].e.n_known;
    }
    if (!code && q->known && !n_known)
        code = ft__known_none(q->c, q->o->correct);
    if (!code)
        code = ft__cli_done(
            q->c, print_all(q->c, a, n, q->n_clocks > 0, q->o->top ? q->o->top : 10));
    if (!code)
        code = verdict(q, a, n);
    for (size_t i = 0; i < n; i++)
        ft__estimate_free(&x[i]);
    return code;
}

static int read_options(ft__predict_question *q)
{
    const ft__predict_options *o = q->o;
    int code = ft__step_parse(q->c, &q->step, &o->step);

    if (!code)
        code = ft__use_parse(q->c, &q->use, &o->use);
    if (!code && o->clocks)
        code = ft__clock_list_parse(q->c, q->clock_hz, &q->n_clocks, o->clocks);
    if (!code && o->use.clock && q->n_clocks)
        code = ft__cli_exit(q->c, FT__EXIT_USAGE, "--clock or --clocks, not both");
    return code ? code : check_method(q);
}

int ft__predict_read(ft__predict_question *q)
{
    q->engine = q->o->engine ? q->o->engine : FT__DEFAULT_ENGINE;
    ft__path_data(q->c, q->data_dir);
    return read_options(q);
}

int ft__predict_open(ft__predict_question *q)
{
    int code = open_predictor(q);

    return code ? code : ft__known_open(q->c, &q->known, q->o->correct, q->data_dir);
}

void ft__predict_share(ft__predict_question *q, const ft__predict_question *of)
{
    q->predictor = of->predictor;
    q->info = of->info;
    memcpy(q->predictor_path, of->predictor_path, sizeof(q->predictor_path));
    if (of->predictor && !of->info.n_datasets)
        q->engine = of->info.engine;
    q->families = of->families;
    q->known = of->known;
}

void ft__predict_end(ft__predict_question *q)
{
    ft_predictor_free(q->predictor);
    ft_known_free(q->known);
}

static int run(ft__cli *c, const void *user)
{
    const ft__predict_options *o = user;
    ft__answer *a = calloc(MAX_ANSWERS, sizeof(*a));
    ft__estimate *x = calloc(MAX_ANSWERS, sizeof(*x));
    ft__families *families = calloc(1, sizeof(*families));
    ft__predict_question q = {.c = c, .o = o, .families = families};
    ft_graph *g = NULL;
    int code = a && x && families ? ft__predict_read(&q) : ft__cli_done(c, false);

    if (!code)
        code = ft__model_read(c, &g, c->args.v[0], &o->model);
    if (!code)
        code = ft__predict_open(&q);
    if (!code) {
        q.graph = g;
        q.dtype = ft_dtype_name(ft_graph_dtype(g));
        code = answer_all(&q, a, x);
    }
    ft__predict_end(&q);
    if (families)
        ft__families_close(families);
    free(families);
    ft_graph_free(g);
    free(a);
    free(x);
    return code;
}

const ft__command ft__predict_command = {
    .name = "predict",
    .arguments = "MODEL",
    .summary = "foretell time, energy and memory of a model on a device",
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
