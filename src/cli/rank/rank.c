/* foretell rank: on which device, at which batch and clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rank/rank.h"

static const ft__option options[] = {
    FT__TEXT(
        ft__rank_options, by, "by", "WHAT",
        "time (the default), energy, power, edp, memory, cost, co2; less is better"),
    FT__TEXTS(
        ft__rank_options, limits, "limit", "WHAT=MOST",
        "of a pass at most: time=10ms, energy=2J, power=150W, memory=8GiB, cost=0.001, "
        "co2=1mg; may be repeated"),
    FT__TEXT(
        ft__rank_options, devices, "devices", "all|D,...",
        "all that have a file, or names of foretell devices and local; those with a "
        "predictor, or all"),
    FT__TEXTS(
        ft__rank_options, predictors, "predictor", "P.ftp",
        "use this one for its device; may be repeated; local's is the one train made"),
    FT__TEXT(ft__rank_options, method, "method", "NAME",
             "physics, roofline or paleo: from data sheets alone, where there is no "
             "predictor "
             "of the very device"),
    FT__ENGINE_OPTIONS(ft__rank_options, "the software that will run it here; ",
                       "threads it may use here; "),
    FT__TEXT(ft__rank_options, batches, "batches", "N,N,...",
             "at each of these batch sizes; values are then of an item"),
    FT__TEXT(ft__rank_options, clocks, "clocks", "MHZ,...",
             "at each of these core clocks"),
    FT__TEXTS(ft__rank_options, prices, "price", "D=PRICE/h",
              "what device D costs; without D: every one; may be repeated"),
    FT__TEXT(ft__rank_options, co2, "co2", "400g/kWh", "of the electricity"),
    FT__FLAG(
        ft__rank_options, lists, "stdin",
        "in place of MODEL: many networks, each a line \"--- NAME\" and a list of "
        "operations; all by the family that knows the first one best, or --predictor"),
    FT__COUNT(ft__rank_options, top, "top", "N", "how many places to list; 20"),
    FT__COUNT(ft__rank_options, seed, "seed", "N",
              "of the draws behind chances and regret; 1"),
    FT__GROUP(ft__rank_options, use, ft__operating_table),
    FT__GROUP(ft__rank_options, asked, ft__query_table),
    FT__TEXT(ft__rank_options, correct, "correct", "STORE|CSV", FT__CORRECT_HELP),
    FT__NETWORK_OPTIONS(ft__rank_options),
    {0},
};

/* ---- options ---- */

/* A quantity with the units that may stand behind it. */
static bool amount(double *out, ft_rank_by of, const char *text)
{
    static const char *const units[FT_RANK_BY_COUNT] = {
        [FT_RANK_BY_POWER] = "=1 W=1 mW=1e-3 kW=1e3",
        [FT_RANK_BY_ENERGY] = "=1 J=1 mJ=1e-3 uJ=1e-6 kJ=1e3",
        [FT_RANK_BY_MEMORY] = "=1 B=1 KiB=1024 MiB=1048576 GiB=1073741824 GB=1e9",
        [FT_RANK_BY_CO2] = "=1 g=1 mg=1e-3 ug=1e-6 kg=1e3",
        [FT_RANK_BY_EDP] = "=1",
        [FT_RANK_BY_COST] = "=1",
    };

    return of == FT_RANK_BY_TIME ? ft__seconds_from_text(out, text) && *out > 0
                                 : ft__number_from_text(out, text, units[of]);
}

static int read_by(ft__rank_question *q)
{
    int of;
    int code =
        ft__name_parse(q->c, &of, "by", q->o->by ? q->o->by : "time", FT_NAMES_RANK_BY);

    q->r.how.by = (ft_rank_by)of;
    return code;
}

static int read_limits(ft__rank_question *q)
{
    const ft__texts *t = &q->o->limits;

    if (t->n > FT_RANK_MAX_LIMITS)
        return ft__usage(q->c, "at most %d of --limit", FT_RANK_MAX_LIMITS);
    for (size_t i = 0; i < t->n; i++) {
        size_t len = strcspn(t->v[i], "=");
        ft_rank_limit *l = &q->r.how.limit[i];

        int of = ft_from_name(FT_NAMES_RANK_BY, t->v[i], len);

        l->of = (ft_rank_by)of;
        if (of < 0 || !t->v[i][len] || !amount(&l->most, l->of, t->v[i] + len + 1))
            return ft__usage(q->c,
                             "--limit %s: it wants a quantity and the most of it, "
                             "such as time=10ms, energy=2J or memory=8GiB",
                             t->v[i]);
        q->r.limit_text[i] = t->v[i];
    }
    q->r.how.n_limits = (uint32_t)t->n;
    return FT__EXIT_GOOD;
}

/* "a30=2.49/h"; "2.49/h" is of every device. */
static int read_prices(ft__rank_question *q)
{
    const ft__texts *t = &q->o->prices;

    q->price = calloc(t->n + 1, sizeof(*q->price));
    if (!q->price)
        return ft__cli_done(q->c, false);
    for (size_t i = 0; i < t->n; i++) {
        const char *equals = strchr(t->v[i], '=');
        ft__price *p = &q->price[i];

        if (equals)
            snprintf(p->device, sizeof(p->device), "%.*s", (int)(equals - t->v[i]),
                     t->v[i]);
        if (!ft__number_from_text(&p->per_s, equals ? equals + 1 : t->v[i],
                                  "/h=1/3600 /min=1/60 /s=1 /day=1/86400"))
            return ft__usage(q->c,
                             "--price %s: it wants a device and what it costs, such "
                             "as a30=2.49/h",
                             t->v[i]);
    }
    q->r.priced = t->n > 0;
    return FT__EXIT_GOOD;
}

static int read_co2(ft__rank_question *q)
{
    q->co2_g_per_j = NAN;
    if (q->o->co2 && !ft__number_from_text(&q->co2_g_per_j, q->o->co2,
                                           "g/kWh=1/3.6e6 kg/kWh=1e3/3.6e6 =1/3.6e6"))
        return ft__usage(q->c,
                         "--co2 %s: it wants grams per kilowatt hour, such as "
                         "400g/kWh",
                         q->o->co2);
    q->r.co2 = q->o->co2 != NULL;
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
        code = read_prices(q);
    if (!code)
        code = read_co2(q);
    if (!code)
        code = ft__batches_parse(q->c, q->batch, &q->n_batches, q->o->batches,
                                 &q->o->model);
    if (!code && q->o->clocks)
        code = ft__clock_list_parse(q->c, q->clock_hz, &q->n_clocks, q->o->clocks);
    if (!code && q->o->use.clock && q->n_clocks)
        code = ft__usage(q->c, "--clock or --clocks, not both");
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

/* ---- running ---- */

static int check_model(const ft__rank_question *q)
{
    if (q->o->lists && q->c->args.n)
        return ft__usage(q->c, "--stdin or MODEL, not both");
    if (!q->o->lists && !q->c->args.n)
        return ft__usage(q->c, "MODEL is missing: foretell rank MODEL, or --stdin");
    return FT__EXIT_GOOD;
}

static int run(ft__cli *c, const void *user)
{
    ft__rank_question *q = calloc(1, sizeof(*q));
    int code;

    if (!q)
        return ft__cli_done(c, false);
    q->c = c;
    q->o = user;
    ft__path_data(c, q->data_dir);
    code = check_model(q);
    if (!code)
        code = read_options(q);
    if (!code)
        code = q->o->lists ? ft__rank_lists(q) : ft__rank_choices(q);
    for (size_t i = 0; i < q->n_predictors; i++)
        ft_predictor_free(q->predictor[i]);
    for (size_t b = 0; b < q->n_batches; b++)
        ft_graph_free(q->graph[b]);
    ft_device_names_free(q->device, q->n_devices);
    ft_data_close(q->data);
    free(q->price);
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
        "What does not fit, misses a limit or is not known is "
        "listed\n"
        "apart. Exit code 1: nothing meets the limits.",
    .examples =
        "  foretell rank resnet50.onnx --devices a30,l4,t4 --batch 8\n"
        "  foretell rank resnet50.onnx --by energy --predictor a30.ftp --predictor "
        "l4.ftp\n"
        "  foretell rank bert.onnx --dim seq=128 --by cost --price a30=0.6/h --price "
        "l4=0.8/h \\\n"
        "                --limit time=10ms --batches 1,8,32\n"
        "  generate | foretell rank --stdin --devices a30,l4 --by energy --limit "
        "time=2ms\n",
    .least_args = 0,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(ft__rank_options),
    .options = options,
    .run = run,
};
