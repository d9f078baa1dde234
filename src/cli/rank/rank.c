/* foretell rank: on which device, at which batch and clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rank/rank.h"
#include "cli/serve/serve.h"
#include "cli/session.h"
#include "foretell/names.h"

static const ft__option options[] = {
    FT__TEXT(
        ft__rank_options, by, "by", "WHAT",
        "time (the default), energy, power, edp, memory, cost, co2; less is better"),
    FT__TEXTS(ft__rank_options, limits, "limit", "WHAT=MOST",
              "of a pass at most: time=10ms, energy=2J, power=150W, memory=8GiB, "
              "cost=0.001, co2=1mg; may be repeated"),
    FT__TEXT(ft__rank_options, devices, "devices", "all|D,...",
             "all that have a file, or names of foretell devices and local; those of "
             "--predictor, or all and this machine once it has a predictor"),
    FT__INPUTS(
        ft__rank_options, predictors, "predictor", "P.ftp",
        "use this one for its device; may be repeated; local's is the one train made"),
    FT__TEXT(ft__rank_options, method, "method", "NAME",
             "physics, roofline or paleo: from data sheets alone, where there is no "
             "predictor of the very device"),
    FT__ENGINE_OPTIONS(ft__rank_options, "the software that will run it; ",
                       "threads it may use here; "),
    FT__TEXT(ft__rank_options, batches, "batches", "N,N,...",
             "at each of these batch sizes; values are then of an item"),
    FT__TEXT(ft__rank_options, clocks, "clocks", "MHZ,...",
             "at each of these core clocks"),
    FT__CHANNELS_LAST_OPTION(ft__rank_options),
    FT__TEXT(ft__rank_options, power_caps, "power-caps", "WATTS,...",
             "serving: under each of these power caps"),
    FT__TEXTS(ft__rank_options, prices, "price", "D=PRICE/h",
              "what device D costs; without D: every one; may be repeated"),
    FT__TEXT(ft__rank_options, co2, "co2", "400g/kWh", "of the electricity"),
    FT__FLAG(ft__rank_options, lists, "stdin",
             "in place of MODEL: many networks, each a line \"--- NAME\" and a list of "
             "operations; all by the predictor that fits the first one best, or "
             "--predictor"),
    FT__HTML_OPTION(ft__rank_options),
    FT__COUNT(ft__rank_options, top, "top", "N",
              "how many places to list; 20, of --csv all"),
    FT__COUNT(ft__rank_options, seed, "seed", "N",
              "of the Monte Carlo draws for probability and regret; 1"),
    FT__GROUP(ft__rank_options, use, ft__operating_table),
    FT__GROUP(ft__rank_options, asked, ft__query_table),
    FT__INPUT(ft__rank_options, correct, "correct", "STORE|CSV", FT__CORRECT_HELP),
    FT__NETWORK_OPTIONS(ft__rank_options),
    FT__GROUP(ft__rank_options, serve, ft__serve_table),
    {0},
};

/* Units that a limit may be given in, by quantity. */
static const char *const units[FT_RANK_BY_COUNT] = {
    [FT_RANK_BY_TIME] = FT__TIME_UNITS,
    [FT_RANK_BY_POWER] = "=1 W=1 mW=1e-3 kW=1e3",
    [FT_RANK_BY_ENERGY] = "=1 J=1 mJ=1e-3 uJ=1e-6 kJ=1e3",
    [FT_RANK_BY_MEMORY] = FT__BYTE_UNITS,
    [FT_RANK_BY_CO2] = "=1 g=1 mg=1e-3 ug=1e-6 kg=1e3",
    [FT_RANK_BY_EDP] = "=1",
    [FT_RANK_BY_COST] = "=1",
};

static int read_by(ft__rank_question *q)
{
    const char *by = q->o->by ? q->o->by : "time";
    const int of = ft_from_name(FT_NAMES_RANK_BY, by, strlen(by));
    char all[256];

    ft__names_text(all, sizeof(all), FT_NAMES_RANK_BY);
    if (of < 0)
        return ft__usage(q->c,
                         "--by %s: it is one of %s, or, of a language model that is "
                         "served, " FT__SERVED_QUANTITIES,
                         by, all);
    q->r.how.by = (ft_rank_by)of;
    return FT__EXIT_GOOD;
}

static int read_limits(ft__rank_question *q)
{
    const ft__texts *t = &q->o->limits;

    if (t->n > FT_RANK_MAX_LIMITS)
        return ft__usage(q->c, "at most %d of --limit", FT_RANK_MAX_LIMITS);
    for (size_t i = 0; i < t->n; i++) {
        size_t len = strcspn(t->v[i], "=");
        ft_rank_limit *l = &q->r.how.limit[i];

        const int of = ft_from_name(FT_NAMES_RANK_BY, t->v[i], len);
        const char *most = t->v[i] + len + (t->v[i][len] == '=');
        const ft__formatted refused =
            ft__number_refused(most, of < 0 ? NULL : units[of]);

        l->of = (ft_rank_by)of;
        if (of < 0 || !ft__number_from_text(&l->most, most, units[of]))
            return ft__usage(
                q->c, "--limit %s: %s", t->v[i],
                *refused.s
                    ? refused.s
                    : "it wants time, energy, power, edp, memory, cost or co2 and "
                      "the most of it, such as time=10ms, or, of a language model "
                      "that is served, ttft, tpot, itl or e2e");
        q->r.limit_text[i] = t->v[i];
    }
    q->r.how.n_limits = (uint32_t)t->n;
    return FT__EXIT_GOOD;
}

static int read_rates(ft__rank_question *q)
{
    q->co2_g_per_j = NAN;
    if (q->o->co2 && !ft__number_from_text(&q->co2_g_per_j, q->o->co2,
                                           "g/kWh=1/3.6e6 kg/kWh=1e3/3.6e6 =1/3.6e6"))
        return ft__usage(q->c,
                         "--co2 %s: it wants grams per kilowatt hour, such as 400g/kWh",
                         q->o->co2);
    q->r.co2 = q->o->co2 != NULL;
    if (q->r.how.by == FT_RANK_BY_COST && !q->o->prices.n)
        return ft__usage(q->c, "--by cost wants --price, such as 2.5/h or l4=0.7/h");
    if (q->r.how.by == FT_RANK_BY_CO2 && !q->o->co2)
        return ft__usage(q->c, "--by co2 wants --co2, such as 400g/kWh");
    return FT__EXIT_GOOD;
}

static int read_method(ft__rank_question *q)
{
    const char *method = q->o->method;
    int of, code = ft__choice_parse(q->c, &of, "method", method,
                                    "physics, roofline, paleo");

    if (!code && method && q->o->correct)
        code = ft__usage(q->c, "--method %s uses no measurements: leave --correct out",
                         method);
    return code;
}

static int read_options(ft__rank_question *q)
{
    int code = read_by(q);

    if (!code)
        code = read_limits(q);
    if (!code)
        code = read_rates(q);
    if (!code)
        code = ft__batches_parse(q->c, q->batch, &q->n_batches, q->o->batches,
                                 &q->o->model);
    if (!code && q->o->clocks)
        code = ft__clock_list_parse(q->c, q->clock_hz, &q->n_clocks, q->o->clocks);
    if (!code && q->o->use.clock && q->n_clocks)
        code = ft__usage(q->c, "--clock or --clocks, not both");
    if (!code && q->o->power_caps)
        code = ft__usage(q->c, "--power-caps is of serving (--prompt, --concurrency); "
                               "of networks there is --power-cap");
    if (!code)
        code = read_method(q);
    if (!code)
        code = ft__operating_parse(q->c, &q->use, &q->o->use);
    if (!code)
        code = ft__step_parse(q->c, &q->step, &q->o->step);
    q->r.several_batches = q->n_batches > 1;
    q->r.several_clocks = q->n_clocks > 0;
    q->r.how.seed = q->o->seed ? q->o->seed : 1;
    return code;
}

static int find_local(ft__rank_question *q)
{
    ft_device *d;
    ft_status st = ft_device_local(&d, "", &q->c->err);

    if (st)
        return ft__cli_check(q->c, st);
    snprintf(q->fingerprint, sizeof(q->fingerprint), "%s",
             ft_device_get(d)->fingerprint);
    ft_device_free(d);
    return FT__EXIT_GOOD;
}

/* What a device is called when it is asked about. */
static const char *name_of(const ft__rank_question *q, const ft_predictor *p)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    return strcmp(info.device, q->fingerprint) == 0 ? "local" : info.device;
}

static int open_predictor(ft__rank_question *q, const char *path)
{
    ft_status st;

    if (q->n_predictors == FT__MAX_RANK_PREDICTORS)
        return ft__usage(q->c, "at most %d predictors", FT__MAX_RANK_PREDICTORS);
    st = ft_predictor_load(&q->predictor[q->n_predictors], path, &q->c->err);
    if (st)
        return ft__cli_check(q->c, st);
    q->predictor_of[q->n_predictors] = name_of(q, q->predictor[q->n_predictors]);
    q->n_predictors++;
    return FT__EXIT_GOOD;
}

/* One that nobody named: damaged, it is left out. */
static int try_predictor(ft__rank_question *q, const char *path)
{
    char text[sizeof(q->c->err.msg) + 64];
    ft_predictor *p;

    if (ft_predictor_load(&p, path, &q->c->err) == FT_OK) {
        ft_predictor_free(p);
        return open_predictor(q, path);
    }
    snprintf(text, sizeof(text), "a predictor is left out: %s", q->c->err.msg);
    if (q->c->log.message)
        q->c->log.message(q->c->log.user, FT_LOG_WARN, text);
    q->c->damaged_said = true;
    return FT__EXIT_GOOD;
}

static bool asks_for_local(const char *list)
{
    char name[8];
    bool local = !list || strcmp(list, "all") == 0;

    while (ft__word_next(name, sizeof(name), &list))
        local = local || strcmp(name, "local") == 0;
    return local;
}

/* Those given, and the one for this machine that train made. */
static int open_predictors(ft__rank_question *q)
{
    char path[FT__PATH_MAX];
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < q->o->predictors.n && !code; i++)
        code = open_predictor(q, q->o->predictors.v[i]);
    if (!asks_for_local(q->o->devices))
        return code;
    ft__path_predictor(path, q->o->engine ? q->o->engine : FT_DEFAULT_ENGINE,
                       q->o->threads);
    if (!code && ft__path_exists(path))
        return q->o->devices && strcmp(q->o->devices, "all") != 0
                   ? open_predictor(q, path)
                   : try_predictor(q, path);
    return code || !q->o->devices || strcmp(q->o->devices, "all") == 0
               ? code
               : ft__engine_needed(q->c, q->o->engine);
}

static bool add_device(ft__rank_question *q, const char *name)
{
    char **grown;

    for (size_t i = 0; i < q->n_devices; i++)
        if (strcmp(q->device[i], name) == 0)
            return true;
    grown = realloc(q->device, (q->n_devices + 1) * sizeof(*grown));
    if (!grown)
        return false;
    q->device = grown;
    grown[q->n_devices] = strdup(name);
    return grown[q->n_devices++] != NULL;
}

static int add_every_file(ft__rank_question *q)
{
    char **names;
    size_t n;
    ft_status st = ft_device_names(&names, &n, q->data_dir, &q->c->err);
    bool good = true;

    if (st)
        return ft__cli_check(q->c, st);
    for (size_t i = 0; i < n && good; i++)
        good = add_device(q, names[i]);
    ft_device_names_free(names, n);
    return good ? FT__EXIT_GOOD : ft__cli_done(q->c, false);
}

/* Names as they are asked for to those of files, each once. */
static int resolve_devices(ft__rank_question *q)
{
    char **asked = q->device;
    const size_t n = q->n_devices;
    int code = FT__EXIT_GOOD;

    q->device = NULL;
    q->n_devices = 0;
    for (size_t i = 0; i < n; i++) {
        char name[128];

        snprintf(name, sizeof(name), "%s", asked[i]);
        free(asked[i]);
        if (!code)
            code = ft__device_resolve(q->c, name, sizeof(name), true);
        if (!code && !add_device(q, name))
            code = ft__cli_done(q->c, false);
    }
    free(asked);
    return code;
}

static int name_devices(ft__rank_question *q)
{
    const char *list = q->o->devices;
    char name[128];
    bool good = true, few = false;

    q->named = list && strcmp(list, "all") != 0;
    if (q->named) {
        while (good && ft__word_next(name, sizeof(name), &list)) {
            if (!*name)
                return ft__usage(
                    q->c, "--devices wants names joined by commas, or all, not \"%s\"",
                    q->o->devices);
            good = add_device(q, name);
        }
        return good ? resolve_devices(q) : ft__cli_done(q->c, false);
    }
    for (size_t i = 0; i < q->n_predictors && good; i++) {
        const char *of = q->predictor_of[i];

        good = !*of || add_device(q, of); /* a family has none */
        few = few || (*of && i < q->o->predictors.n);
    }
    if (!good)
        return ft__cli_done(q->c, false);
    return few && !list ? FT__EXIT_GOOD : add_every_file(q);
}

static int price_devices(ft__rank_question *q)
{
    int code = FT__EXIT_GOOD;

    q->price_per_s = calloc(q->n_devices + 1, sizeof(*q->price_per_s));
    if (!q->price_per_s)
        return ft__cli_done(q->c, false);
    for (size_t d = 0; d < q->n_devices && !code; d++)
        code = ft__price_of(q->c, &q->price_per_s[d], &q->o->prices, q->device[d]);
    if (!code)
        code = ft__prices_check(q->c, &q->o->prices, (const char *const *)q->device,
                                q->n_devices);
    q->r.priced = q->o->prices.n > 0;
    return code;
}

static int find_devices(ft__rank_question *q)
{
    int code = find_local(q);

    if (!code)
        code = open_predictors(q);
    if (!code)
        code = ft__data_open(q->c, &q->data);
    if (!code)
        code = name_devices(q);
    return code ? code : price_devices(q);
}

static int read_models(ft__rank_question *q)
{
    int code = FT__EXIT_GOOD;
    ft_totals sum;

    for (size_t b = 0; b < q->n_batches && !code; b++) {
        ft__model_options how = q->o->model;

        how.batch = q->batch[b];
        code = ft__model_read(q->c, &q->graph[b], q->c->args.v[0], &how);
    }
    if (code)
        return code;
    q->r.graph = q->graph[0];
    q->r.model = q->graph[0]->name;
    q->r.step = ft_step_name(&q->step, q->graph[0]);
    q->r.mode = ft_name(FT_NAMES_MODE, q->graph[0]->mode);
    ft_graph_totals(q->graph[0], &sum);
    q->r.dtype = q->o->model.dtype && strncmp(q->o->model.dtype, "amp-", 4) == 0
                     ? q->o->model.dtype
                     : ft_dtype_name(sum.dtype);
    return FT__EXIT_GOOD;
}

/* The family that was named; NULL: none, or by data sheets. */
static const ft_predictor *family_of(const ft__rank_question *q)
{
    for (size_t i = 0; i < q->n_predictors && !q->o->method; i++) {
        ft_predictor_info info;

        ft_predictor_get_info(q->predictor[i], &info);
        if (!*info.device)
            return q->predictor[i];
    }
    return NULL;
}

static ft_query query_of(const ft__rank_question *q)
{
    ft_query query = FT_QUERY_INIT;

    query.mode = q->o->step.mode;
    query.optimizer = q->o->step.optimizer;
    query.loss = q->o->step.loss;
    query.loss_on = q->o->step.loss_on;
    query.policy = q->use.policy;
    query.channels_last = q->o->channels_last;
    query.run_mode = q->o->asked.run_mode;
    query.host = q->o->asked.host;
    query.loaded = family_of(q);
    query.totals = 1;
    return query;
}

static int check_model(const ft__rank_question *q)
{
    if (q->o->lists && q->c->args.n)
        return ft__usage(q->c, "--stdin or MODEL, not both");
    if (!q->o->lists && !q->c->args.n)
        return ft__usage(q->c, "MODEL is missing: foretell rank MODEL, or --stdin");
    return FT__EXIT_GOOD;
}

static bool is_of_serving(const char *text, size_t len)
{
    return ft__index_of(FT__SERVED_QUANTITIES, text, len) >= 0;
}

static bool asks_for_serving(const ft__rank_options *o)
{
    bool found = ft__serving_asked(&o->serve);

    if (o->by)
        found = found || is_of_serving(o->by, strlen(o->by));
    for (size_t i = 0; i < o->limits.n; i++)
        found = found || is_of_serving(o->limits.v[i], strcspn(o->limits.v[i], "=-"));
    return found;
}

static int run(ft__cli *c, const void *user)
{
    ft__rank_question *q = calloc(1, sizeof(*q));
    ft__rank_options own = *(const ft__rank_options *)user;
    bool served;
    int code;

    if (!q)
        return ft__cli_done(c, false);
    q->c = c;
    code = ft__step_take(c, &own.serve, &own.model);
    q->o = &own;
    served = asks_for_serving(q->o);
    ft__path_data(c, q->data_dir);
    if (!code)
        code = check_model(q);
    if (!code)
        code = served ? FT__EXIT_GOOD : read_options(q);
    if (!code && !q->o->lists && !served)
        code = read_models(q);
    if (!code)
        code = find_devices(q);
    q->query = query_of(q);
    if (!code)
        code = ft__launch_time_read(c, &q->query, NULL, q->o->asked.launch_time);
    if (!code)
        code = served        ? ft__serve_rank(q)
               : q->o->lists ? ft__rank_lists(q)
                             : ft__rank_choices(q);
    for (size_t i = 0; i < q->n_predictors; i++)
        ft_predictor_free(q->predictor[i]);
    for (size_t b = 0; b < q->n_batches; b++)
        ft__model_close(c, q->graph[b]);
    ft_device_names_free(q->device, q->n_devices);
    ft__data_close(c, q->data);
    free(q->price_per_s);
    free(q->r.choice);
    free(q->r.ranked);
    free(q->r.order);
    free(q);
    return code;
}

const ft__command ft__rank_command = {
    .name = "rank",
    .arguments = "MODEL | --stdin",
    .summary = "order devices, batches and clocks by what a model takes there",
    .more =
        "Devices with a predictor are ranked by what it learned, others by one for a\n"
        "family of devices, or scaled from their data sheet (foretell predict "
        "--help).\n"
        "What does not fit, misses a limit or is not known is listed\n"
        "apart. Exit code 1: nothing meets the limits.\n"
        "Of a language model's config.json with --prompt, --generate, --tp, "
        "--concurrency and\n"
        "the like: serving, --by cost, energy, power, ttft, tpot, itl, e2e, "
        "tokens-per-user or\n"
        "tokens-per-device.",
    .examples = "  foretell rank resnet50.onnx --devices a30,l4,t4 --batch 8\n"
                "  foretell rank resnet50.onnx --by energy --predictor a30.ftp "
                "--predictor l4.ftp\n"
                "  foretell rank bert.onnx --dim seq=128 --by cost --price a30=0.6/h "
                "--price l4=0.8/h \\\n"
                "                --limit time=10ms --batches 1,8,32\n"
                "  foretell rank config.json --devices h100,l40s --prompt 2048 "
                "--generate 256 --by cost \\\n"
                "                --price h100=2.49/h --price l40s=0.9/h --limit "
                "ttft=500ms --limit tpot=30ms\n"
                "  generate | foretell rank --stdin --devices a30,l4 --by energy "
                "--limit time=2ms\n",
    .most_args = 1,
    .more_args = "many networks are lists behind each other: --stdin",
    .has_csv = true,
    .options_size = sizeof(ft__rank_options),
    .options = options,
    .run = run,
};
