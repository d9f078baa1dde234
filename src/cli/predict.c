/* foretell predict: before anything runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/estimate.h"

struct options {
    ft__model_options model;
    const char *device;
    const char *predictor;
    const char *method;
    const char *engine;
    const char *dtype;
    uint64_t threads;
    uint64_t top;
    ft__step_options step;
    ft__use_options use;
    bool max_batch;
    bool must_fit;
};

static const ft__option options[] = {
    {"device", 0, FT__OPT_TEXT, offsetof(struct options, device), "D[,D2...]",
     "local (this machine, the default) or names of foretell devices"},
    {"predictor", 0, FT__OPT_TEXT, offsetof(struct options, predictor), "P.ftp",
     "use this predictor; the one train made"},
    {"method", 0, FT__OPT_TEXT, offsetof(struct options, method), "NAME",
     "physics, roofline or paleo: from a device's data sheet alone, whatever was "
     "learned"},
    FT__ENGINE_OPTIONS(struct options, "the software that will run it; ",
                       "threads it may use; "),
    {"dtype", 0, FT__OPT_TEXT, offsetof(struct options, dtype), "T",
     "element type, such as fp32; the model's own"},
    {"top", 0, FT__OPT_COUNT, offsetof(struct options, top), "N",
     "how many of the heaviest operations to list; 10"},
    {"max-batch", 0, FT__OPT_FLAG, offsetof(struct options, max_batch), NULL,
     "the largest batch that fits the device's memory, too"},
    {"must-fit", 0, FT__OPT_FLAG, offsetof(struct options, must_fit), NULL,
     "exit code 1 when the device's memory is too small"},
    FT__USE_OPTIONS(struct options, use),
    FT__STEP_OPTIONS(struct options, step),
    FT__MODEL_OPTIONS(struct options, model),
    {0},
};

enum { MAX_DEVICES = 32 };

/* One question: a model, options, and what is found out once for all devices. */
struct question {
    ft__cli *c;
    const struct options *o;
    const ft_graph *graph; /* as imported */
    ft__step step;
    ft__use use;
    const char *engine;
    const char *dtype;
    char data_dir[FT__PATH_MAX];
    char predictor_path[FT__PATH_MAX];
    ft_predictor *predictor; /* NULL: none was found */
    ft_predictor_info info;
    ft__by by; /* what is made of data sheets */
};

/* ---- the command that verifies ---- */

static void add_text(ft__answer *a, const char *fmt, const char *text)
{
    size_t len = strlen(a->verify);

    snprintf(a->verify + len, sizeof(a->verify) - len, fmt, text);
}

static void make_verify(ft__answer *a, const struct question *q)
{
    char number[64];

    if (ft_graph_mode(a->graph) == FT_MODE_TRAINING)
        return;
    add_text(a, "foretell measure %s", q->c->args.v[0]);
    add_text(a, " --engine %s", q->engine);
    if (q->o->threads) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)q->o->threads);
        add_text(a, " --threads %s", number);
    }
    if (q->o->model.batch) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)q->o->model.batch);
        add_text(a, " --batch %s", number);
    }
    if (q->o->model.trips) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)q->o->model.trips);
        add_text(a, " --trips %s", number);
    }
    for (size_t i = 0; i < q->o->model.dims.n; i++)
        add_text(a, " --dim %s", q->o->model.dims.v[i]);
    for (size_t i = 0; i < q->o->model.inputs.n; i++)
        add_text(a, " --input %s", q->o->model.inputs.v[i]);
}

static void explain_energy(ft__answer *a)
{
    if (a->e.energy.basis == FT_BASIS_UNAVAILABLE)
        ft__energy_why(a->energy_why, sizeof(a->energy_why), a->device, a->sheet,
                       &a->e);
}

/* Unique operations that are not of a forward pass, and whose time is a bound. */
static uint32_t n_backward(const ft__answer *a)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->e.n_ops; i++)
        n += a->e.op_time[i].basis == FT_BASIS_ROOFLINE &&
             ft_graph_op(a->graph, i)->phase != FT_PHASE_FORWARD;
    return n;
}

static void warn(ft__answer *a, const char *model)
{
    const ft_network_estimate *e = &a->e;
    uint32_t backward = n_backward(a);

    if (a->sheet && a->by == FT__BY_PHYSICS && e->n_roofline)
        ft__answer_warn(a,
                        "%u of %u unique operations are not known by name: their times "
                        "are lower bounds",
                        e->n_roofline, e->n_ops);
    if (a->sheet)
        return;
    if (e->n_scaled)
        ft__answer_warn(
            a,
            "%u of %u unique operations lie outside of what the predictor has "
            "seen; foretell collect %s, then foretell train, brings them in",
            e->n_scaled, e->n_ops, model);
    if (e->n_roofline > backward)
        ft__answer_warn(a,
                        "%u of %u unique operations are of kinds never measured: their "
                        "times are lower bounds",
                        e->n_roofline - backward, e->n_ops);
    if (backward)
        ft__answer_warn(
            a,
            "%u of %u unique operations belong to backward pass and "
            "optimizer, which were not measured: their times are rooflines, "
            "lower bounds",
            backward, e->n_ops);
}

static ft_status find_max_batch(ft__answer *a, const struct question *q,
                                const ft__source *from, ft_error *err)
{
    if (!q->o->max_batch)
        return FT_OK;
    if (!(a->limit_bytes > 0))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "--max-batch: the memory of %s is not known", a->device);
    a->max_batch_asked = true;
    return ft__estimate_max_batch(&a->max_batch, from, q->c->args.v[0], &q->o->model,
                                  &q->step, a->limit_bytes, err);
}

/* ---- answers ---- */

static ft_status predict(ft__answer *a, ft__estimate *x, const struct question *q,
                         const ft_device_facts *sheet, ft_error *err)
{
    const ft__source from = {
        .predictor = sheet ? NULL : q->predictor, .on = {sheet, q->use.setting, q->use.policy}, .by = q->by};
    ft_status st = ft__estimate_make(x, &from, q->graph, &q->step, err);

    if (st)
        return st;
    a->graph = x->graph;
    a->e = x->e;
    a->step = ft__step_name(&q->step, x->graph);
    a->sheet = sheet != NULL;
    a->by = q->by;
    return find_max_batch(a, q, &from, err);
}

static ft_status predict_learned(ft__answer *a, ft__estimate *x,
                                 const struct question *q, ft_error *err)
{
    snprintf(a->engine, sizeof(a->engine), "%s %s", q->info.engine,
             q->info.engine_version);
    snprintf(a->setting, sizeof(a->setting), "%s", q->info.setting);
    snprintf(a->known_as, sizeof(a->known_as), "%s", q->info.device);
    return predict(a, x, q, NULL, err);
}

/* Without a predictor: what the device's data sheet says. */
static ft_status predict_sheet(ft__answer *a, ft__estimate *x, const struct question *q,
                               ft_error *err)
{
    ft_device *d;
    ft_status st = ft_device_load(&d, q->data_dir, a->device, err);

    if (st)
        return st;
    a->limit_bytes = ft_device_get(d)->memory_bytes;
    snprintf(a->known_as, sizeof(a->known_as), "%s", ft_device_get(d)->title);
    snprintf(a->setting, sizeof(a->setting), "%s", q->use.setting);
    st = predict(a, x, q, ft_device_get(d), err);
    ft_device_free(d);
    return st;
}

/* The machine that the predictor was made on may be another one. Its memory is the
 * limit. */
static ft_status check_machine(ft__answer *a, const struct question *q, ft_error *err)
{
    ft_device *local;
    ft_status st = ft_device_local(&local, "", err);

    if (!st)
        a->limit_bytes = ft_device_get(local)->memory_bytes;
    if (!st && strcmp(ft_device_fingerprint(local), q->info.device) != 0)
        ft__answer_warn(a,
                        "the predictor was trained on %s, but this machine is %s: "
                        "collect and train again",
                        q->info.device, ft_device_fingerprint(local));
    ft_device_free(local);
    return st;
}

static int no_predictor(const struct question *q)
{
    char threads[32] = "";

    if (q->o->threads > 1)
        snprintf(threads, sizeof(threads), " --threads %llu",
                 (unsigned long long)q->o->threads);
    return ft__cli_exit(
        q->c, FT__EXIT_MISSING,
        "there is no predictor for this machine yet (%s); two commands "
        "make one:\n  foretell collect --quick --engine %s%s\n  foretell "
        "train --engine %s%s",
        q->predictor_path, q->engine, threads, q->engine, threads);
}

static int answer(ft__answer *a, ft__estimate *x, const struct question *q)
{
    bool local = strcmp(a->device, "local") == 0;
    bool learned = q->predictor && (local || strcmp(q->info.device, a->device) == 0);
    ft_error err = {0};
    ft_status st = FT_OK;

    a->limit_bytes = NAN;
    if (local && q->o->method)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method %s needs a data sheet: --device with a name that "
                            "foretell devices lists",
                            q->o->method);
    if (local && !q->predictor)
        return no_predictor(q);
    if (!learned && q->o->predictor)
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "%s is a predictor for %s, not for %s", q->o->predictor,
                            q->info.device, a->device);
    if (local)
        st = check_machine(a, q, &err);
    if (!st)
        st = learned ? predict_learned(a, x, q, &err) : predict_sheet(a, x, q, &err);
    if (st)
        return ft__cli_fail_asked(q->c, st, &err);
    if (q->o->must_fit && !(a->limit_bytes > 0))
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "--must-fit: the memory of %s is not known", a->device);
    a->batch = ft__graph_batch(q->graph);
    a->dtype = q->dtype;
    explain_energy(a);
    warn(a, q->c->args.v[0]);
    make_verify(a, q);
    return FT__EXIT_GOOD;
}

/* ---- running ---- */

static int check_method(struct question *q)
{
    static const char *const name[] = {[FT__BY_PHYSICS] = "physics",
                                       [FT__BY_ROOFLINE] = "roofline",
                                       [FT__BY_PALEO] = "paleo"};
    const char *m = q->o->method;
    size_t by = 0;

    while (m && by < sizeof(name) / sizeof(*name) && strcmp(m, name[by]) != 0)
        by++;
    if (by == sizeof(name) / sizeof(*name))
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method wants physics, roofline or paleo, not \"%s\"", m);
    q->by = (ft__by)by;
    if (m && q->o->predictor)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method %s uses no predictor: leave --predictor out", m);
    return FT__EXIT_GOOD;
}

static int open_predictor(struct question *q)
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
    if (q->o->engine && strcmp(q->o->engine, q->info.engine) != 0)
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "%s was trained with engine %s, not %s", q->predictor_path,
                            q->info.engine, q->o->engine);
    q->engine = q->info.engine;
    return FT__EXIT_GOOD;
}

/* "local,a30" -> one answer each; 0: too many or an empty name. */
static size_t split_devices(ft__answer *a, const char *list)
{
    size_t n = 0;

    for (;;) {
        size_t len = strcspn(list, ",");

        if (!len || n == MAX_DEVICES || len >= sizeof(a->device))
            return 0;
        memcpy(a[n++].device, list, len);
        if (!list[len])
            return n;
        list += len + 1;
    }
}

static bool print_all(ft__cli *c, const ft__answer *a, size_t n, uint64_t top)
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
        return n == 1 ? ft__answer_print(a, top) : ft__answers_print(a, n);
    for (size_t i = 0; i < n; i++)
        ft__answer_print_csv(&a[i], i == 0);
    return true;
}

/* What does not fit and must is an answer, and it is "no". */
static int verdict(const struct question *q, const ft__answer *a, size_t n)
{
    for (size_t i = 0; i < n && q->o->must_fit; i++)
        if (a[i].e.memory.value > a[i].limit_bytes)
            return FT__EXIT_NO;
    return FT__EXIT_GOOD;
}

static int answer_all(const struct question *q, ft__answer *a)
{
    const char *list = q->o->device ? q->o->device : "local";
    ft__estimate x[MAX_DEVICES] = {0};
    size_t n = split_devices(a, list);
    int code = FT__EXIT_GOOD;

    if (!n)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--device wants names joined by commas, at most %d, not "
                            "\"%s\"",
                            MAX_DEVICES, list);
    for (size_t i = 0; i < n && !code; i++) {
        a[i].verbose = q->c->verbose > 0;
        code = answer(&a[i], &x[i], q);
    }
    if (!code)
        code = ft__cli_done(q->c, print_all(q->c, a, n, q->o->top ? q->o->top : 10));
    if (!code)
        code = verdict(q, a, n);
    for (size_t i = 0; i < n; i++)
        ft__estimate_free(&x[i]);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    const struct options *o = user;
    struct question q = {
        .c = c, .o = o, .engine = o->engine ? o->engine : FT__DEFAULT_ENGINE};
    ft__answer *a = calloc(MAX_DEVICES, sizeof(*a));
    ft_graph *g = NULL;
    int code = a ? ft__step_parse(c, &q.step, &o->step) : ft__cli_done(c, false);

    if (!code)
        code = ft__use_parse(c, &q.use, &o->use);
    if (!code)
        code = ft__model_read(c, &g, c->args.v[0], &o->model);
    if (!code) {
        q.graph = g;
        q.dtype = ft__graph_dtype(g);
        ft__path_data(c, q.data_dir);
        code = ft__dtype_check(c, o->dtype, q.dtype);
    }
    if (!code)
        code = check_method(&q);
    if (!code)
        code = open_predictor(&q);
    if (!code)
        code = answer_all(&q, a);
    ft_predictor_free(q.predictor);
    ft_graph_free(g);
    free(a);
    return code;
}

const ft__command ft__predict_command = {
    .name = "predict",
    .arguments = "MODEL",
    .summary = "foretell time, energy and memory of a model on a device",
    .more =
        "For this machine a predictor is needed: foretell collect, then foretell "
        "train.\n"
        "For a device that only has a file the roofline is given, a lower bound; with\n"
        "--method paleo the sum of reading, computing and writing.\n"
        "The backward pass and the optimizer are rooflines where no training step was\n"
        "collected (foretell collect --mode training --engine torch).",
    .examples =
        "  foretell predict resnet50.onnx --device local\n"
        "  foretell predict resnet50.onnx --device local,a100-sxm-80gb --batch 8\n"
        "  foretell predict bert.onnx --dim seq=128 --json\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --batch 64 "
        "--must-fit\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --max-batch\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(struct options),
    .options = options,
    .run = run,
};
