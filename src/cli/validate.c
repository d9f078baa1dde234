/* foretell validate: operations summed, the network measured, the prediction. */
#include "cli/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session.h"
#include "foretell/query.h"
#include "foretell/store.h"

struct validate_options {
    ft__model_options model;
    ft_step_names step;
    const char *engine;
    uint64_t threads;
    double time_s, op_time_s;
    uint64_t rounds, top;
    bool again, from_store, forget, outliers;
    uint64_t tune;
    const char *device, *setting, *predictor, *within, *html, *power;
    double power_time_s;
};

static const ft__option options[] = {
    FT__ENGINE_OPTIONS(struct validate_options, "what runs it; ",
                       "threads it may use; "),
    FT__SECONDS(struct validate_options, time_s, "time", "TIME",
                "how long to measure each network; 2s unless said otherwise"),
    FT__SECONDS(struct validate_options, op_time_s, "op-time", "TIME",
                "how long to measure each operation; 100ms unless said otherwise"),
    FT__COUNT(struct validate_options, rounds, "rounds", "N",
              "turns that operations and network take; 4 unless said otherwise"),
    FT__FLAG(struct validate_options, again, "again",
             "measure also the operations that the store already holds"),
    FT__TEXT(struct validate_options, power, "power", "SOURCES",
             "energy, too: all, or sources as foretell doctor names them"),
    FT__SECONDS(struct validate_options, power_time_s, "power-time", "TIME",
                "how long each is looped for its energy; 5s unless said otherwise"),
    FT__FLAG(struct validate_options, from_store, "from-store",
             "run nothing: what the store holds, of any device"),
    FT__TEXT(struct validate_options, device, "device", "NAME",
             "with --from-store: this device only"),
    FT__TEXT(struct validate_options, setting, "setting", "TEXT",
             "with --from-store: this setting only, such as threads=1"),
    FT__INPUT(struct validate_options, predictor, "predictor", "P.ftp",
              "the predictor to validate; the one train made"),
    FT__FLAG(struct validate_options, forget, "forget",
             "predict each network from the store without its own operations"),
    FT__FLAG(struct validate_options, outliers, "outliers",
             "operations there that take longer than others like them, too"),
    FT__COUNT(struct validate_options, tune, "tune", "N",
              "with --from-store --outliers: retune the N slowest here, where the "
              "engine has schedules (tvm)"),
    FT__TEXT(struct validate_options, within, "must-be-within", "P%",
             "exit code 1 when a sum or prediction of time is further off"),
    FT__COUNT(struct validate_options, top, "top", "N",
              "how many kinds and operations to list; 10"),
    FT__HTML_OPTION(struct validate_options),
    FT__NETWORK_OPTIONS(struct validate_options),
    {0},
};

struct validate_work {
    ft__cli *c;
    const struct validate_options *o;
    ft_step step;
    ft_session *session; /* NULL: from the store */
    ft_store *store;
    ft_data *data;
    char predictor[FT__PATH_MAX];
    char engine[64]; /* as asked for, without its options; "": any */
    ft_query query;
    bool asks; /* there is something that predicts */
    ft_meter *meter;
    ft_validated *v;
    size_t n;
    double within;
};

static int check_options(struct validate_work *w)
{
    const struct validate_options *o = w->o;

    if (!o->from_store && (o->device || o->setting))
        return ft__usage(
            w->c, "--%s goes with --from-store; without it this machine is measured",
            o->device ? "device" : "setting");
    if (o->setting && !*o->setting)
        return ft__usage(w->c, "--setting is empty; all count without it");
    if (o->tune && !(o->outliers && o->from_store))
        return ft__usage(w->c, "--tune goes with --from-store --outliers");
    if (o->from_store && o->power)
        return ft__usage(w->c,
                         "--power measures; --from-store shows what was measured");
    if (o->forget && o->predictor)
        return ft__usage(
            w->c,
            "--forget trains a predictor itself; --predictor does not go with it");
    if (!w->c->args.n && !(o->from_store && o->outliers))
        return ft__usage(w->c,
                         "name models; only --from-store --outliers goes without");
    if (!w->c->args.n && o->html)
        return ft__usage(w->c, "--html shows networks: name models");
    if (o->engine)
        snprintf(w->engine, sizeof(w->engine), "%.*s", (int)strcspn(o->engine, ","),
                 o->engine);
    w->within = NAN;
    if (o->within && !ft__share_from_text(&w->within, o->within))
        return ft__usage(
            w->c, "--must-be-within wants a share such as 10%%, not \"%s\"", o->within);
    return FT__EXIT_GOOD;
}

static int open_store(struct validate_work *w)
{
    char path[FT__PATH_MAX];
    bool only_reads;
    ft_status st;
    int code;

    ft__path_store(w->c, path);
    code = w->o->from_store ? ft__store_needed(w->c, path, w->o->engine, w->o->threads)
                            : ft__home_needed(w->c, w->c->store);
    if (code)
        return code;
    /* A store that is not there is not made by retuning what it has. */
    only_reads = w->o->from_store && !(w->o->tune && ft__path_exists(path));
    st = ft_store_open(&w->store, path, only_reads ? FT_STORE_READ : FT_STORE_WRITE,
                       &w->c->err);
    return ft__cli_check(w->c, st);
}

/* The predictor that was named, or the one that train made; --forget makes its own. */
static int open_query(struct validate_work *w)
{
    w->query = (ft_query)FT_QUERY_INIT;
    w->query.threads = w->o->threads;
    if (w->session)
        w->query.engine = ft_session_get(w->session)->engine;
    if (w->session && !w->o->forget)
        ft__path_predictor(w->predictor, ft_session_get(w->session)->engine,
                           w->o->threads);
    if (w->o->predictor)
        w->query.predictor = w->o->predictor;
    else if (*w->predictor && ft__path_exists(w->predictor))
        w->query.predictor = w->predictor;
    w->asks = w->o->forget || w->query.predictor;
    return w->asks ? ft__data_open(w->c, &w->data) : FT__EXIT_GOOD;
}

static int open_meter(struct validate_work *w)
{
    const ft_meter_options how = {.sources = w->o->power};
    ft_status st;

    if (!how.sources)
        return FT__EXIT_GOOD;
    st = ft_meter_open(&w->meter, &how, &w->c->err);
    return ft__cli_check(w->c, st);
}

static ft_status append(struct validate_work *w, ft_validated *more, size_t n,
                        ft_error *err)
{
    ft_validated *grown = realloc(w->v, (w->n + n) * sizeof(*grown));

    if (!grown) {
        while (n)
            ft_validated_free(&more[--n]);
        return ft_fail(err, FT_ENOMEM, 0, "networks");
    }
    w->v = grown;
    memcpy(w->v + w->n, more, n * sizeof(*more));
    w->n += n;
    return FT_OK;
}

static ft_status validate(struct validate_work *w, const ft_graph *g, const char *path,
                          ft_error *err)
{
    const ft_validate_options how = {.time_s = w->o->time_s,
                                     .op_time_s = w->o->op_time_s,
                                     .rounds = (uint32_t)w->o->rounds,
                                     .again = w->o->again,
                                     .data = w->data,
                                     .query = w->asks ? &w->query : NULL,
                                     .meter = w->meter,
                                     .power_time_s = w->o->power_time_s,
                                     .forget = w->o->forget,
                                     .path = path,
                                     .command = w->c->line,
                                     .log = &w->c->log};
    const ft_key filter = {
        .device = w->o->device, .setting = w->o->setting, .engine = w->engine};
    ft_validated one, *many;
    size_t n;
    ft_status st;

    if (w->session) {
        st = ft_validate_network(&one, w->session, w->store, g, &how, err);
        return st ? st : append(w, &one, 1, err);
    }
    st = ft_validate_stored(&many, &n, w->store, &filter, g, &how, err);
    if (!st)
        st = append(w, many, n, err);
    free(many);
    return st;
}

static int validate_model(struct validate_work *w, const char *path)
{
    ft_graph *g, *made;
    ft_status st;
    int code = ft__model_read(w->c, &g, path, &w->o->model);

    if (code)
        return code;
    st = ft_step_make(&made, g, &w->step, &w->c->err);
    if (!st)
        st = validate(w, made ? made : g, path, &w->c->err);
    ft_graph_free(made);
    ft_graph_free(g);
    return ft__cli_check_asked(w->c, st);
}

static bool several_datasets(const struct validate_work *w)
{
    for (size_t i = 1; i < w->n; i++)
        if (strcmp(w->v[i].device, w->v[0].device) != 0 ||
            strcmp(w->v[i].setting, w->v[0].setting) != 0 ||
            strcmp(w->v[i].engine, w->v[0].engine) != 0 ||
            strcmp(w->v[i].engine_version, w->v[0].engine_version) != 0)
            return true;
    return false;
}

static bool holds(const ft__validations *a)
{
    for (size_t i = 0; i < a->n; i++)
        for (int e = 0; e < FT_ESTIMATOR_COUNT; e++)
            if (fabs(ft__validated_error(&a->v[i], FT_QUANTITY_TIME, (ft_estimator)e)) >
                a->within)
                return false;
    return true;
}

static ft_status judge(ft__validations *a, const struct validate_work *w,
                       ft_kind_effect **kinds, ft_error *err)
{
    ft_status st = ft_validated_kinds(kinds, &a->n_kinds, w->v, w->n, err);

    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        for (int e = 0; e < FT_ESTIMATOR_COUNT && !st; e++)
            st = ft_validated_errors(&a->errors[q][e], w->v, w->n, (ft_quantity)q,
                                     (ft_estimator)e, err);
    a->kind = *kinds;
    a->holds = holds(a);
    return st;
}

static void add_word(char *where, size_t size, const char *name, const char *value)
{
    const size_t len = strlen(where);

    if (value && *value)
        snprintf(where + len, size - len, "%s%s%s", len ? " " : "", name, value);
}

/* Of the machine that measured; from the store, as --device, --setting and --engine
 * say.
 */
static int find_slow(const struct validate_work *w, ft__slow_ops *slow)
{
    const ft_validated *here = w->session ? w->v : NULL;
    char where[FT__PATH_MAX] = "", data[FT__PATH_MAX];
    ft_status st;

    add_word(where, sizeof(where), "device=", here ? here->device : w->o->device);
    add_word(where, sizeof(where), "engine=", here ? here->engine : w->engine);
    add_word(where, sizeof(where), "", here ? here->setting : w->o->setting);
    ft__path_data(w->c, data);
    st = ft_slow_ops_find(&slow->op, &slow->n, &slow->n_datasets, w->store, where, data,
                          0, &w->c->err);
    return ft__cli_check(w->c, st);
}

/* Of a store that was shown, the selection is the hint's. */
static ft_status write_next(char **next, size_t *len, const struct validate_work *w)
{
    FILE *fp = open_memstream(next, len);

    if (!fp)
        return FT_ENOMEM;
    if (w->o->device)
        ft__put_word(fp, " --device ", w->o->device);
    if (w->o->setting)
        ft__put_word(fp, " --setting ", w->o->setting);
    if (w->o->engine)
        ft__put_word(fp, " --engine ", w->o->engine);
    return fclose(fp) ? FT_ENOMEM : FT_OK;
}

static int print(const struct validate_work *w, const ft__validations *a)
{
    const struct validate_options *o = w->o;
    ft__slow_ops slow = {.engine = o->engine};
    char *next = NULL;
    size_t len;
    int code = FT__EXIT_GOOD;

    if (o->outliers)
        code = find_slow(w, &slow);
    if (!code && o->tune)
        code = ft__slow_ops_tune(w->c, &slow, w->store, o->tune);
    if (!code && write_next(&next, &len, w))
        code = ft__cli_done(w->c, false);
    slow.next = next;
    if (!code)
        code = ft__cli_done(w->c,
                            ft__validations_print(w->c, a, o->outliers ? &slow : NULL));
    ft__slow_ops_free(&slow);
    free(next);
    return code;
}

static int answer(const struct validate_work *w)
{
    ft__validations a = {.v = w->v,
                         .n = w->n,
                         .within = w->within,
                         .top = w->o->top ? w->o->top : 10,
                         .datasets = several_datasets(w)};
    ft_kind_effect *kinds = NULL;
    ft_status st = w->n ? judge(&a, w, &kinds, &w->c->err) : FT_OK;
    int code = ft__cli_check(w->c, st);

    if (!code && w->o->html)
        code = ft__validations_page(w->c, w->o->html, &a, w->session);
    if (!code)
        code = print(w, &a);
    if (!code && w->n && !isnan(w->within) && !a.holds)
        code = FT__EXIT_NO;
    free(kinds);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    struct validate_work w = {.c = c, .o = user};
    int code = check_options(&w);

    if (!code)
        code = ft__step_parse(c, &w.step, &w.o->step);
    if (!code && !w.o->from_store)
        code = ft__session_open(c, &w.session, w.o->engine, w.o->threads, NULL, 0);
    if (!code)
        code = open_store(&w);
    if (!code)
        code = open_query(&w);
    if (!code)
        code = open_meter(&w);
    for (size_t i = 0; i < c->args.n && !code; i++)
        code = validate_model(&w, c->args.v[i]);
    if (!code)
        code = answer(&w);
    while (w.n)
        ft_validated_free(&w.v[--w.n]);
    free(w.v);
    ft_data_close(w.data);
    ft_store_close(w.store);
    ft_meter_close(w.meter);
    ft_session_close(w.session);
    return code;
}

const ft__command ft__validate_command = {
    .name = "validate",
    .arguments = "[MODEL...]",
    .summary =
        "compare sums of measured operations, the measured network and the prediction",
    .more = "Operations missing in the store are measured in alternation with the "
            "network,\n"
            "so that drift affects both. Everything is stored.",
    .examples = "  foretell validate resnet50.onnx vgg16.onnx\n"
                "  foretell validate *.onnx --forget --html validate.html\n"
                "  foretell validate resnet50.onnx --from-store --device a30\n"
                "  foretell validate resnet50.onnx --must-be-within 10%\n"
                "  foretell validate resnet50.onnx --from-store --outliers\n"
                "  foretell validate --from-store --outliers --db imported.db\n"
                "  foretell validate --from-store --outliers --tune 3 --engine tvm\n",
    .most_args = SIZE_MAX,
    .has_csv = true,
    .options_size = sizeof(struct validate_options),
    .options = options,
    .run = run,
};
