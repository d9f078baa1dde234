/* foretell validate: operations summed, the network measured, the prediction. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session.h"
#include "cli/slow_ops.h"
#include "foretell/names.h"
#include "foretell/query.h"
#include "foretell/store.h"
#include "foretell/validate.h"
#include "report/units.h"

/* What was found about networks. */
struct validation {
    const ft_validated *v;
    size_t n;
    bool datasets; /* of several devices or settings: named at each */
    const ft_kind_effect *kind;
    size_t n_kinds;
    ft_errors errors[FT_QUANTITY_COUNT][FT_ESTIMATOR_COUNT];
    double within; /* fraction that every time must be within; NaN: not asked */
    bool holds;    /* every time is */
    uint64_t top;  /* kinds and operations without a price to list */
};

/* "resnet18", with the dataset where there are several. */
static void label_of(char *buf, size_t size, const struct validation *a,
                     const ft_validated *v)
{
    if (a->datasets)
        snprintf(buf, size, "%s, %s, %s, %s", v->name, v->device, v->engine,
                 v->setting);
    else
        snprintf(buf, size, "%s", v->name);
}

/* Estimate over measured, less one; NaN: one is not known. */
static double error_of(const ft_validated *v, ft_quantity q, ft_estimator e)
{
    const ft_figure *f = e == FT_ESTIMATOR_SUM ? &v->sum[q] : &v->predicted[q];

    return f->value / v->measured[q].value - 1;
}

/* 0: measured, 1: the sum of operations, 2: predicted. */
static const ft_figure *figure_of(const ft_validated *v, ft_quantity q, int which)
{
    return which == 0 ? &v->measured[q] : which == 1 ? &v->sum[q] : &v->predicted[q];
}

/* In the quantity's unit. */
static ft__formatted quantity_text(ft_quantity q, double v)
{
    return ft__text_in(ft_name(FT_NAMES_UNIT, q), v);
}

struct validate_options {
    ft__model_options model;
    ft_step_names step;
    const char *engine;
    uint64_t threads;
    double time_s;
    double op_time_s;
    uint64_t rounds;
    uint64_t top;
    bool again;
    bool from_store;
    bool forget;
    bool outliers;
    uint64_t tune;
    const char *device;
    const char *setting;
    const char *predictor;
    const char *within;
    const char *html;
    const char *power;
    double power_time_s;
};

enum { SPEC_MAX = 2048 };

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
    FT__COUNT(
        struct validate_options, tune, "tune", "N",
        "with --from-store --outliers: retune the N slowest here, where the engine "
        "has schedules (tvm)"),
    FT__TEXT(struct validate_options, within, "must-be-within", "P%",
             "exit code 1 when a sum or prediction of time is further off"),
    FT__COUNT(struct validate_options, top, "top", "N",
              "how many kinds and operations to list; 10"),
    FT__HTML_OPTION(struct validate_options),
    FT__NETWORK_OPTIONS(struct validate_options),
    {0},
};

/* All networks in all datasets. */
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
        return ft__usage(w->c, "--%s goes with --from-store",
                         o->device ? "device" : "setting");
    if (o->tune && !(o->outliers && o->from_store))
        return ft__usage(w->c, "--tune goes with --from-store --outliers");
    if (o->from_store && o->power)
        return ft__usage(w->c,
                         "--power measures; --from-store shows what was measured");
    if (o->forget && o->predictor)
        return ft__usage(w->c,
                         "--forget trains a predictor itself; --predictor does not "
                         "go with it");
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
    code = w->o->from_store ? ft__store_needed(w->c, path)
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
    const char *sources = w->o->power;
    ft_meter_options how = {0};
    ft_status st;

    if (!sources)
        return FT__EXIT_GOOD;
    how.sources = strcmp(sources, "all") == 0 ? NULL : sources;
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

/* ==== what was found, in words, JSON and CSV ==== */

/* ---- text ---- */

static ft__formatted sigma_text(ft_quantity q, const ft_figure *f)
{
    return isnan(f->sigma) ? (ft__formatted){""} : quantity_text(q, f->sigma);
}

static bool print_quantity(const struct validation *a, ft_quantity q)
{
    const bool sigma = q != FT_QUANTITY_MEMORY;
    char columns[160], label[FT__PATH_MAX];
    ft__table *t;

    snprintf(columns, sizeof(columns),
             "%s<|measured>|?+->|sum>|?+->|error>+%%|predicted>|?+->|error>+%%",
             ft_name(FT_NAMES_QUANTITY, q));
    t = ft__table_new(columns, sigma, sigma, sigma);
    for (size_t i = 0; i < a->n; i++) {
        const ft_validated *v = &a->v[i];

        label_of(label, sizeof(label), a, v);
        ft__table_row(
            t, label, quantity_text(q, v->measured[q].value).s,
            sigma_text(q, &v->measured[q]).s, quantity_text(q, v->sum[q].value).s,
            sigma_text(q, &v->sum[q]).s, error_of(v, q, FT_ESTIMATOR_SUM),
            quantity_text(q, v->predicted[q].value).s,
            sigma_text(q, &v->predicted[q]).s, error_of(v, q, FT_ESTIMATOR_PREDICTION));
    }
    return ft__table_print_take(t, stdout);
}

/* A reason that all networks give is given once. */
static void print_reasons(const struct validation *a, ft_quantity q)
{
    static const char *const what[] = {"measurement", "sum", "prediction"};

    for (int w = 0; w < 3; w++) {
        const char *last = "";

        for (size_t i = 0; i < a->n; i++) {
            const ft_validated *v = &a->v[i];
            const ft_figure *f = figure_of(v, q, w);

            if (!isnan(f->value) || strcmp(last, f->why) == 0)
                continue;
            printf("no %s of %s", what[w], ft_name(FT_NAMES_QUANTITY, q));
            ft__put_line(stdout, ": ", f->why);
            last = f->why;
        }
    }
}

/* Is any of it known? */
static bool is_known(const struct validation *a, ft_quantity q)
{
    for (size_t i = 0; i < a->n; i++)
        if (isfinite(a->v[i].measured[q].value) || isfinite(a->v[i].sum[q].value))
            return true;
    return false;
}

static bool print_summary(const struct validation *a)
{
    ft__table *t =
        ft__table_new("against measured<|n>u|MAPE>%|median>%|max>%|bias>+%|R2>~");
    char name[64];

    for (uint32_t q = 0; q < FT_QUANTITY_COUNT; q++)
        for (uint32_t e = 0; e < FT_ESTIMATOR_COUNT; e++) {
            const ft_errors *x = &a->errors[q][e];

            if (!x->n)
                continue;
            snprintf(name, sizeof(name), "%s, %s", ft_name(FT_NAMES_QUANTITY, q),
                     ft_name(FT_NAMES_ESTIMATOR, e));
            ft__table_row(t, name, x->n, x->mape, x->median_ape, x->max_ape, x->bias,
                          x->r2);
        }
    return ft__table_print_take(t, stdout);
}

static void print_chart(const struct validation *a)
{
    static const char *const name[] = {"measured", "sum", "predicted"};
    char label[FT__PATH_MAX];

    for (size_t i = 0; i < a->n; i++) {
        const ft_validated *v = &a->v[i];
        const double one = v->measured[FT_QUANTITY_TIME].value;

        if (!(one > 0))
            continue;
        label_of(label, sizeof(label), a, v);
        ft__put_line(stdout, "", label);
        for (int k = 0; k < 3; k++) {
            double value = figure_of(v, FT_QUANTITY_TIME, k)->value;

            if (isfinite(value))
                ft__bar_print(stdout, name[k], value / one, ft__text_seconds(value).s);
        }
    }
    putchar('\n');
}

static bool print_kinds(const struct validation *a)
{
    bool fitted = a->n_kinds && isfinite(a->kind[0].factor);
    ft__table *t = ft__table_new("kind<|networks>u|share of sum>%|"
                                 "?in the network/alone>.3|?adds to the difference>+%",
                                 fitted, fitted);

    for (size_t i = 0; i < a->n_kinds && i < a->top; i++) {
        const ft_kind_effect *k = &a->kind[i];
        const bool forward = k->phase == FT_PHASE_FORWARD;
        char name[64];

        snprintf(name, sizeof(name), "%s%s%s", ft_kind_name(k->kind),
                 forward ? "" : " ", forward ? "" : ft_phase_name(k->phase));
        ft__table_row(t, name, k->n_networks, k->share, k->factor, k->effect);
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    if (!fitted)
        puts("which kinds explain the difference is computed from three networks on");
    putchar('\n');
    return true;
}

static void print_unpriced(const struct validation *a)
{
    char spec[SPEC_MAX];

    for (size_t i = 0; i < a->n; i++) {
        const ft_validated *v = &a->v[i];

        if (!v->n_unpriced)
            continue;
        ft__put_clean(stdout, v->name);
        printf(": %zu of %u operations are not in the sum\n", v->n_unpriced, v->n_ops);
        for (size_t j = 0; j < v->n_unpriced && j < a->top; j++) {
            ft_op_print(&v->unpriced[j].op, spec, sizeof(spec));
            printf("  unpriced: %s *%llu", spec,
                   (unsigned long long)v->unpriced[j].count);
            ft__put_line(stdout, ": ", v->unpriced[j].why);
        }
        if (v->n_unpriced > a->top)
            printf("  ... and %zu more (--top)\n", v->n_unpriced - (size_t)a->top);
    }
}

static void print_title(const struct validation *a)
{
    const ft_validated *v = &a->v[0];
    const char *const by[] = {", ", v->engine,  " ",  v->engine_version,
                              ", ", v->setting, ", ", v->device};

    printf("%zu %s, %s", a->n,
           a->datasets ? "measurements"
           : a->n == 1 ? "network"
                       : "networks",
           v->mode == FT_MODE_TRAINING ? "one training step" : "one forward pass");
    for (size_t i = 0; i < sizeof(by) / sizeof(*by) && !a->datasets; i++)
        ft__put_clean(stdout, by[i]);
    puts("\n");
}

static bool print_text(const struct validation *a)
{
    print_title(a);
    for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
        if (is_known(a, (ft_quantity)q) && !print_quantity(a, (ft_quantity)q))
            return false;
        print_reasons(a, (ft_quantity)q);
        putchar('\n');
    }
    if (!print_summary(a))
        return false;
    putchar('\n');
    print_chart(a);
    if (!print_kinds(a))
        return false;
    print_unpriced(a);
    return true;
}

/* ---- JSON and CSV ---- */

static json_t *figure_json(const ft_figure *f)
{
    return ft__json("value:g sigma:g why:s", f->value, f->sigma,
                    isnan(f->value) ? f->why : NULL);
}

static json_t *quantity_json(const ft_validated *v, ft_quantity q)
{
    return ft__json(
        "unit:s measured:o sum:o predicted:o sum_error:g prediction_error:g",
        ft_name(FT_NAMES_UNIT, q), figure_json(&v->measured[q]),
        figure_json(&v->sum[q]), figure_json(&v->predicted[q]),
        error_of(v, q, FT_ESTIMATOR_SUM), error_of(v, q, FT_ESTIMATOR_PREDICTION));
}

static json_t *kinds_of_network(const ft_validated *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_kinds; i++) {
        const ft_kind_sum *k = &v->kind[i];

        ft__json_append_take(
            &all, ft__json("kind:s phase:s unique:n count:u time:g energy:g",
                           ft_kind_name(k->kind), ft_phase_name(k->phase), k->n_unique,
                           (uint64_t)k->count, k->time_s, k->energy_j));
    }
    return all;
}

static json_t *unpriced_json(const ft_validated *v)
{
    json_t *all = json_array();
    char spec[SPEC_MAX];

    for (size_t i = 0; i < v->n_unpriced; i++) {
        ft_op_print(&v->unpriced[i].op, spec, sizeof(spec));
        ft__json_append_take(&all, ft__json("spec:s count:u why:s", spec,
                                            v->unpriced[i].count, v->unpriced[i].why));
    }
    return all;
}

static json_t *rounds_json(const ft_validated *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_rounds; i++)
        ft__json_append_take(&all,
                             ft__json("begin_s:g time:g batches:u", v->round[i].begin_s,
                                      v->round[i].time_s, v->round[i].n));
    return all;
}

static json_t *network_json(const ft_validated *v)
{
    return ft__json(
        "model:s device:s setting:s engine:s engine_version:s mode:s time:o energy:o "
        "memory:o shared_sigma:g operations:n priced:n kinds:o unpriced:o rounds:o",
        v->name, v->device, v->setting, v->engine, v->engine_version,
        v->mode == FT_MODE_TRAINING ? "training" : "inference",
        quantity_json(v, FT_QUANTITY_TIME), quantity_json(v, FT_QUANTITY_ENERGY),
        quantity_json(v, FT_QUANTITY_MEMORY), v->shared, v->n_ops, v->n_priced,
        kinds_of_network(v), unpriced_json(v), rounds_json(v));
}

static json_t *summary_json(const struct validation *a)
{
    json_t *all = json_array();

    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        for (int e = 0; e < FT_ESTIMATOR_COUNT; e++)
            ft__json_append_take(&all,
                                 ft__json("quantity:s estimate:s errors:o",
                                          ft_name(FT_NAMES_QUANTITY, (ft_quantity)q),
                                          ft_name(FT_NAMES_ESTIMATOR, (ft_estimator)e),
                                          ft__json_errors(&a->errors[q][e])));
    return all;
}

static json_t *kinds_json(const struct validation *a)
{
    json_t *all = json_array();

    for (size_t i = 0; i < a->n_kinds; i++) {
        const ft_kind_effect *k = &a->kind[i];

        ft__json_append_take(
            &all, ft__json("kind:s phase:s networks:u share:g factor:g effect:g",
                           ft_kind_name(k->kind), ft_phase_name(k->phase),
                           k->n_networks, k->share, k->factor, k->effect));
    }
    return all;
}

static json_t *document(const struct validation *a)
{
    json_t *networks = json_array();

    for (size_t i = 0; i < a->n; i++)
        ft__json_append_take(&networks, network_json(&a->v[i]));
    return ft__json("networks:o summary:o kinds:o within:o", networks, summary_json(a),
                    kinds_json(a),
                    isnan(a->within) ? json_null() : json_boolean(a->holds));
}

static const char figure_fields[] =
    "model:s device:s setting:s engine:s engine_version:s mode:s quantity:s unit:s "
    "measured:g measured_sigma:g sum:g sum_sigma:g predicted:g predicted_sigma:g "
    "operations:n priced:n";

static void print_csv(const struct validation *a)
{
    ft__csv_head(stdout, figure_fields);
    for (size_t i = 0; i < a->n; i++)
        for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
            const ft_validated *v = &a->v[i];

            ft__csv_row(stdout, figure_fields, v->name, v->device, v->setting,
                        v->engine, v->engine_version,
                        v->mode == FT_MODE_TRAINING ? "training" : "inference",
                        ft_name(FT_NAMES_QUANTITY, (ft_quantity)q),
                        ft_name(FT_NAMES_UNIT, (ft_quantity)q), v->measured[q].value,
                        v->measured[q].sigma, v->sum[q].value, v->sum[q].sigma,
                        v->predicted[q].value, v->predicted[q].sigma, v->n_ops,
                        v->n_priced);
        }
}

/* ---- all of it ---- */

/* In the form that the global options ask for; slow: NULL where it was not asked for.
 * Without networks it is all there is. */
static bool print_page(const ft__cli *c, const struct validation *a,
                       const ft__slow_ops *slow)
{
    if (!a->n && c->csv)
        ft__slow_ops_csv(slow);
    if (!a->n)
        return c->csv || (c->json ? ft__json_print_take(ft__slow_ops_json(slow), stdout)
                                  : ft__slow_ops_print(c, slow, a->top));
    if (c->json)
        return ft__json_print_take(
            slow ? ft__json_join_take(document(a), ft__slow_ops_json(slow))
                 : document(a),
            stdout);
    if (c->csv)
        print_csv(a);
    return c->csv || (print_text(a) && (!slow || ft__slow_ops_print(c, slow, a->top)));
}

/* ==== answers ==== */

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

static bool holds(const struct validation *a)
{
    for (size_t i = 0; i < a->n; i++)
        for (int e = 0; e < FT_ESTIMATOR_COUNT; e++)
            if (fabs(error_of(&a->v[i], FT_QUANTITY_TIME, (ft_estimator)e)) > a->within)
                return false;
    return true;
}

static ft_status judge(struct validation *a, const struct validate_work *w,
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

/* How long must a batch be? Of interest beside any time; looked at for the page. */
static const char linearity_spec[] = "relu x=1x16 dtype=fp32";

static json_t *line_json(const ft_linearity *l)
{
    json_t *durations = json_array(), *deviations = json_array();

    for (size_t i = 0; i < l->n; i++) {
        ft__json_append_take(&durations, ft__json_real(l->duration_s[i]));
        ft__json_append_take(&deviations, ft__json_real(l->deviation[i]));
    }
    return ft__json("slope_s:g sigma:g floor_s:g n:u duration_s:o deviation:o",
                    l->slope_s, l->sigma, l->floor_s, l->n, durations, deviations);
}

static json_t *pair_json(double a, double b)
{
    json_t *pair = json_array();

    ft__json_append_take(&pair, ft__json_real(a));
    ft__json_append_take(&pair, ft__json_real(b));
    return pair;
}

/* Batches of each round, [middle since it began, time of a pass]; power, [time, W]. */
static bool set_readings(json_t *network, const ft_validated *v)
{
    json_t *rounds = json_array(), *power = json_array();

    for (size_t k = 0; k < v->n_rounds; k++) {
        const ft_round *round = &v->round[k];
        json_t *batches = json_array();

        for (size_t i = 0; i < round->n; i++) {
            const ft_reading *r = &v->reading[round->first + i];

            ft__json_append_take(&batches,
                                 pair_json(r->start_s - round->begin_s + r->value / 2,
                                           r->value / (double)r->iterations));
        }
        ft__json_append_take(&rounds, batches);
    }
    for (size_t i = 0; i < v->n_power; i++)
        if (isfinite(v->power[i].value))
            ft__json_append_take(&power,
                                 pair_json(v->power[i].start_s, v->power[i].value));
    return json_object_set_new(network, "batches", rounds) == 0 &&
           json_object_set_new(network, "power", power) == 0;
}

static int write_page(const struct validate_work *w, const struct validation *a)
{
    json_t *page = document(a), *networks = json_object_get(page, "networks");
    ft_linearity line;
    ft_error err = {0};
    ft_op op;
    const bool drawn =
        w->session && !ft_op_parse(&op, linearity_spec, strlen(linearity_spec), &err) &&
        !ft_measure_linearity(&line, w->session, &op, &err);

    for (size_t i = 0; i < json_array_size(networks); i++)
        if (!set_readings(json_array_get(networks, i), &a->v[i])) {
            json_decref(page);
            return ft__cli_done(w->c, false);
        }
    page = ft__json_join_take(
        page, ft__json("line:o spec:s no_line:s",
                       drawn ? line_json(&line) : json_null(), linearity_spec,
                       w->session ? err.msg
                                  : "nothing was run: all figures are the store's"));
    return ft__page_save_take(w->c, w->o->html, FT__PAGE_VALIDATE, page);
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

static int print(const struct validate_work *w, const struct validation *a)
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
        code = ft__cli_done(w->c, print_page(w->c, a, o->outliers ? &slow : NULL));
    ft__slow_ops_free(&slow);
    free(next);
    return code;
}

static int answer(const struct validate_work *w)
{
    struct validation a = {.v = w->v,
                           .n = w->n,
                           .within = w->within,
                           .top = w->o->top ? w->o->top : 10,
                           .datasets = several_datasets(w)};
    ft_kind_effect *kinds = NULL;
    ft_status st = w->n ? judge(&a, w, &kinds, &w->c->err) : FT_OK;
    int code = ft__cli_check(w->c, st);

    if (!code && w->o->html)
        code = write_page(w, &a);
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
    .summary = "operations summed, the network measured, and the prediction",
    .more = "Operations that the store lacks and the network take turns, so that what\n"
            "drifts does so for both. All of it is kept in the store.",
    .examples = "  foretell validate resnet50.onnx vgg16.onnx\n"
                "  foretell validate *.onnx --forget --html validate.html\n"
                "  foretell validate resnet50.onnx --from-store --device a30\n"
                "  foretell validate resnet50.onnx --must-be-within 10%\n"
                "  foretell validate resnet50.onnx --from-store --outliers\n"
                "  foretell validate --from-store --outliers --db imported.db\n"
                "  foretell validate --from-store --outliers --tune 3 --engine tvm\n",
    .least_args = 0,
    .most_args = SIZE_MAX,
    .has_csv = true,
    .options_size = sizeof(struct validate_options),
    .options = options,
    .run = run,
};
