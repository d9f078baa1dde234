/* foretell predict: before anything runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"

struct options {
    ft__model_options model;
    const char *device;
    const char *predictor;
    const char *engine;
    const char *dtype;
    uint64_t threads;
    uint64_t top;
};

static const ft__option options[] = {
    {"device", 0, FT__OPT_TEXT, offsetof(struct options, device), "D[,D2...]",
     "local (this machine, the default) or names of foretell devices"},
    {"predictor", 0, FT__OPT_TEXT, offsetof(struct options, predictor), "P.ftp",
     "use this predictor; the one train made"},
    {"engine", 0, FT__OPT_TEXT, offsetof(struct options, engine), "NAME",
     "the software that will run it; " FT__DEFAULT_ENGINE},
    {"threads", 0, FT__OPT_COUNT, offsetof(struct options, threads), "N",
     "threads it may use; 1 unless said otherwise"},
    {"dtype", 0, FT__OPT_TEXT, offsetof(struct options, dtype), "T",
     "element type, such as fp32; the model's own"},
    {"top", 0, FT__OPT_COUNT, offsetof(struct options, top), "N",
     "how many of the heaviest operations to list; 10"},
    FT__MODEL_OPTIONS(struct options, model),
    {0},
};

enum { MAX_DEVICES = 32 };

/* One question: a model, options, and what is found out once for all devices. */
struct question {
    ft__cli *c;
    const struct options *o;
    const ft_graph *graph; /* as imported */
    const char *engine;
    const char *dtype;
    char data_dir[FT__PATH_MAX];
    char predictor_path[FT__PATH_MAX];
    ft_predictor *predictor; /* NULL: none was found */
    ft_predictor_info info;
};

/* ---- what the model is ---- */

static int64_t batch_of(const ft_graph *g)
{
    for (uint32_t i = 0; i < ft_graph_n_tensors(g); i++) {
        const ft_tensor *t = ft_graph_tensor(g, i);

        if (t->role == FT_ROLE_INPUT && t->shape.rank)
            return t->shape.dim[0];
    }
    return 0;
}

/* The type of the operation with the most arithmetic. */
static const char *dtype_of(const ft_graph *g)
{
    ft_dtype dtype = FT_DTYPE_fp32;
    double most = -1;

    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++) {
        ft_cost c;

        ft_op_cost(ft_graph_op(g, i), &c);
        if (c.flops > most) {
            most = c.flops;
            dtype = ft_graph_op(g, i)->dtype;
        }
    }
    return ft_dtype_name(dtype);
}

static int check_dtype(const struct question *q)
{
    const char *t = q->o->dtype;

    if (!t || strcmp(t, q->dtype) == 0)
        return FT__EXIT_GOOD;
    if (ft_dtype_from_name(t, strlen(t)) == FT_DTYPE_NONE)
        return ft__cli_exit(q->c, FT__EXIT_USAGE, "there is no element type \"%s\"", t);
    return ft__cli_exit(
        q->c, FT__EXIT_MISSING,
        "the model computes in %s; foretelling it in %s needs the model "
        "exported in %s",
        q->dtype, t, t);
}

/* ---- the command that verifies ---- */

static void add_text(ft__answer *a, const char *fmt, const char *text)
{
    size_t len = strlen(a->verify);

    snprintf(a->verify + len, sizeof(a->verify) - len, fmt, text);
}

static void make_verify(ft__answer *a, const struct question *q)
{
    char number[64];

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
    for (size_t i = 0; i < q->o->model.dims.n; i++)
        add_text(a, " --dim %s", q->o->model.dims.v[i]);
    for (size_t i = 0; i < q->o->model.inputs.n; i++)
        add_text(a, " --input %s", q->o->model.inputs.v[i]);
}

/* ---- answers ---- */

/* Why there is no energy. This machine's sensors are looked up, not watched, so
 * that it is quick. */
static void explain_energy(ft__answer *a)
{
    const char *why = a->lower_bound
                          ? "a data sheet alone does not say what operations "
                            "draw"
                          : a->e.energy.why;
    ft_sensors *s = NULL;

    if (a->e.energy.basis != FT_BASIS_UNAVAILABLE)
        return;
    if (strcmp(a->device, "local") == 0 && !ft_sensors_probe(&s, "", 0, NULL) &&
        *ft_sensors_why_none(s))
        why = ft_sensors_why_none(s);
    snprintf(a->energy_why, sizeof(a->energy_why), "%s", why);
    ft_sensors_free(s);
}

static void warn(ft__answer *a, const char *model)
{
    const ft_network_estimate *e = &a->e;

    if (a->lower_bound)
        return;
    if (e->n_scaled)
        ft__answer_warn(
            a,
            "%u of %u unique operations lie outside of what the predictor has "
            "seen; foretell collect %s, then foretell train, brings them in",
            e->n_scaled, e->n_ops, model);
    if (e->n_roofline)
        ft__answer_warn(a,
                        "%u of %u unique operations are of kinds never measured: their "
                        "times are lower bounds",
                        e->n_roofline, e->n_ops);
}

static ft_status predict_learned(ft__answer *a, ft_graph **lowered,
                                 const struct question *q, ft_error *err)
{
    ft_status st = ft_graph_lower(lowered, q->graph, q->info.policy, err);

    if (st)
        return st;
    a->graph = *lowered;
    snprintf(a->engine, sizeof(a->engine), "%s %s", q->info.engine,
             q->info.engine_version);
    snprintf(a->setting, sizeof(a->setting), "%s", q->info.setting);
    snprintf(a->known_as, sizeof(a->known_as), "%s", q->info.device);
    return ft_predict_network(&a->e, q->predictor, a->graph, err);
}

/* Without a predictor: what the device's data sheet says. */
static ft_status predict_roofline(ft__answer *a, const struct question *q,
                                  ft_error *err)
{
    ft_device *d;
    ft_status st = ft_device_load(&d, q->data_dir, a->device, err);

    if (st)
        return st;
    a->graph = q->graph;
    a->lower_bound = true;
    snprintf(a->known_as, sizeof(a->known_as), "%s", ft_device_get(d)->title);
    st = ft_predict_network_roofline(&a->e, ft_device_get(d), q->graph, err);
    /* Not known is not nothing. */
    a->e.workspace_bytes = NAN;
    ft_device_free(d);
    return st;
}

/* The machine that the predictor was made on may be another one. */
static ft_status check_machine(ft__answer *a, const struct question *q, ft_error *err)
{
    ft_device *local;
    ft_status st = ft_device_local(&local, "", err);

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

static int answer(ft__answer *a, ft_graph **lowered, const struct question *q)
{
    bool local = strcmp(a->device, "local") == 0;
    bool learned = q->predictor && (local || strcmp(q->info.device, a->device) == 0);
    ft_error err = {0};
    ft_status st = FT_OK;

    if (local && !q->predictor)
        return no_predictor(q);
    if (!learned && q->o->predictor)
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "%s is a predictor for %s, not for %s", q->o->predictor,
                            q->info.device, a->device);
    if (local)
        st = check_machine(a, q, &err);
    if (!st)
        st = learned ? predict_learned(a, lowered, q, &err)
                     : predict_roofline(a, q, &err);
    if (st)
        return ft__cli_fail(q->c, st, &err);
    a->batch = batch_of(q->graph);
    a->dtype = q->dtype;
    explain_energy(a);
    warn(a, q->c->args.v[0]);
    make_verify(a, q);
    return FT__EXIT_GOOD;
}

/* ---- running ---- */

static int open_predictor(struct question *q)
{
    ft_error err = {0};
    ft_status st;

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

static int answer_all(const struct question *q, ft__answer *a)
{
    const char *list = q->o->device ? q->o->device : "local";
    ft_graph *lowered[MAX_DEVICES] = {0};
    size_t n = split_devices(a, list);
    int code = FT__EXIT_GOOD;

    if (!n)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--device wants names joined by commas, at most %d, not "
                            "\"%s\"",
                            MAX_DEVICES, list);
    for (size_t i = 0; i < n && !code; i++)
        code = answer(&a[i], &lowered[i], q);
    if (!code)
        code = ft__cli_done(q->c, print_all(q->c, a, n, q->o->top ? q->o->top : 10));
    for (size_t i = 0; i < n; i++) {
        ft_network_estimate_free(&a[i].e);
        ft_graph_free(lowered[i]);
    }
    return code;
}

static int run(ft__cli *c, const void *user)
{
    const struct options *o = user;
    struct question q = {
        .c = c, .o = o, .engine = o->engine ? o->engine : FT__DEFAULT_ENGINE};
    ft__answer *a = calloc(MAX_DEVICES, sizeof(*a));
    ft_graph *g = NULL;
    int code =
        a ? ft__model_read(c, &g, c->args.v[0], &o->model) : ft__cli_done(c, false);

    if (!code) {
        q.graph = g;
        q.dtype = dtype_of(g);
        ft__path_data(c, q.data_dir);
        code = check_dtype(&q);
    }
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
    .more = "For this machine a predictor is needed: foretell collect, then foretell "
            "train.\n"
            "For a device that only has a file the roofline is given, a lower bound.",
    .examples =
        "  foretell predict resnet50.onnx --device local\n"
        "  foretell predict resnet50.onnx --device local,a100-sxm-80gb --batch 8\n"
        "  foretell predict bert.onnx --dim seq=128 --json\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(struct options),
    .options = options,
    .run = run,
};
