/* foretell rank: on which device, at which batch and clock. */
#include "cli/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/settings.h"

struct options {
    ft__model_options model;
    const char *by;
    ft__texts limits;
    const char *devices;
    ft__texts predictors;
    const char *engine;
    uint64_t threads;
    const char *batches;
    const char *clocks;
    ft__texts prices;
    const char *co2;
    const char *dtype;
    uint64_t top;
    uint64_t seed;
    ft__step_options step;
};

static const ft__option options[] = {
    {"by", 0, FT__OPT_TEXT, offsetof(struct options, by), "WHAT",
     "time (the default), energy, power, edp, memory, cost, co2; less is better"},
    {"limit", 0, FT__OPT_TEXTS, offsetof(struct options, limits), "WHAT=MOST",
     "of a pass at most: time=10ms, energy=2J, power=150W, memory=8GiB, cost=0.001, "
     "co2=1mg; may be repeated"},
    {"devices", 0, FT__OPT_TEXT, offsetof(struct options, devices), "all|D,...",
     "all that have a file, or names of foretell devices and local; those with a "
     "predictor, or all"},
    {"predictor", 0, FT__OPT_TEXTS, offsetof(struct options, predictors), "P.ftp",
     "use this one for its device; may be repeated; local's is the one train made"},
    FT__ENGINE_OPTIONS(struct options, "the software that will run it here; ",
                       "threads it may use here; "),
    {"batches", 0, FT__OPT_TEXT, offsetof(struct options, batches), "N,N,...",
     "at each of these batch sizes; values are then of an item"},
    {"clocks", 0, FT__OPT_TEXT, offsetof(struct options, clocks), "MHZ,...",
     "at each of these core clocks"},
    {"price", 0, FT__OPT_TEXTS, offsetof(struct options, prices), "D=PRICE/h",
     "what device D costs; without D: every one; may be repeated"},
    {"co2", 0, FT__OPT_TEXT, offsetof(struct options, co2), "400g/kWh",
     "of the electricity"},
    {"dtype", 0, FT__OPT_TEXT, offsetof(struct options, dtype), "T",
     "element type, such as fp32; the model's own"},
    {"top", 0, FT__OPT_COUNT, offsetof(struct options, top), "N",
     "how many places to list; 20"},
    {"seed", 0, FT__OPT_COUNT, offsetof(struct options, seed), "N",
     "of the draws behind chances and regret; 1"},
    FT__STEP_OPTIONS(struct options, step),
    FT__MODEL_OPTIONS(struct options, model),
    {0},
};

enum { MAX_PREDICTORS = 64 };

struct price {
    char device[128]; /* "": every one */
    double per_s;
};

/* One question, and what is found out once for all choices. */
struct question {
    ft__cli *c;
    const struct options *o;
    ft__ranking r;
    ft__step step;
    char data_dir[FT__PATH_MAX];
    char fingerprint[128]; /* of this machine */
    double local_bytes;
    ft_predictor *predictor[MAX_PREDICTORS];
    size_t n_predictors;
    struct price *price;
    double co2_g_per_j;
    char **device; /* names */
    size_t n_devices;
    uint64_t batch[FT__MAX_BATCHES]; /* 0: as the model has it */
    ft_graph *graph[FT__MAX_BATCHES];
    size_t n_batches;
    double clock_hz[FT__MAX_CLOCKS];
    size_t n_clocks; /* 0: as they come */
};

/* ---- reading options ---- */

/* A quantity with the units that may stand behind it. */
static bool amount(double *out, ft_rank_by of, const char *text)
{
    static const char *const watts[] = {"", "W", "mW", "kW", NULL};
    static const char *const joules[] = {"", "J", "mJ", "uJ", "kJ", NULL};
    static const char *const bytes[] = {"", "B", "KiB", "MiB", "GiB", "GB", NULL};
    static const char *const grams[] = {"", "g", "mg", "ug", "kg", NULL};
    static const char *const plain[] = {"", NULL};
    static const double of_watts[] = {1, 1, 1e-3, 1e3}, of_plain[] = {1};
    static const double of_joules[] = {1, 1, 1e-3, 1e-6, 1e3};
    static const double of_bytes[] = {1, 1, 0x1p10, 0x1p20, 0x1p30, 1e9};
    static const double of_grams[] = {1, 1, 1e-3, 1e-6, 1e3};

    switch (of) {
    case FT_RANK_BY_TIME: return ft__seconds_from_text(out, text) && *out > 0;
    case FT_RANK_BY_POWER: return ft__number_from_text(out, text, watts, of_watts);
    case FT_RANK_BY_ENERGY: return ft__number_from_text(out, text, joules, of_joules);
    case FT_RANK_BY_MEMORY: return ft__number_from_text(out, text, bytes, of_bytes);
    case FT_RANK_BY_CO2: return ft__number_from_text(out, text, grams, of_grams);
    case FT_RANK_BY_EDP:
    case FT_RANK_BY_COST: return ft__number_from_text(out, text, plain, of_plain);
    case FT_RANK_BY_COUNT: break;
    }
    return false;
}

static int read_by(struct question *q)
{
    const char *by = q->o->by ? q->o->by : "time";

    q->r.how.by = ft_rank_by_from_name(by, strlen(by));
    if (q->r.how.by == FT_RANK_BY_COUNT)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--by %s: it is one of time, energy, power, edp, memory, "
                            "cost, co2",
                            by);
    return FT__EXIT_GOOD;
}

static int read_limits(struct question *q)
{
    const ft__texts *t = &q->o->limits;

    if (t->n > FT_RANK_MAX_LIMITS)
        return ft__cli_exit(q->c, FT__EXIT_USAGE, "at most %d of --limit",
                            FT_RANK_MAX_LIMITS);
    for (size_t i = 0; i < t->n; i++) {
        size_t len = strcspn(t->v[i], "=");
        ft_rank_limit *l = &q->r.how.limit[i];

        l->of = ft_rank_by_from_name(t->v[i], len);
        if (l->of == FT_RANK_BY_COUNT || !t->v[i][len] ||
            !amount(&l->most, l->of, t->v[i] + len + 1))
            return ft__cli_exit(q->c, FT__EXIT_USAGE,
                                "--limit %s: it wants a quantity and the most of it, "
                                "such as time=10ms, energy=2J or memory=8GiB",
                                t->v[i]);
        q->r.limit_text[i] = t->v[i];
    }
    q->r.how.n_limits = (uint32_t)t->n;
    return FT__EXIT_GOOD;
}

/* "a30=2.49/h"; "2.49/h" is of every device. */
static int read_prices(struct question *q)
{
    static const char *const unit[] = {"/h", "/min", "/s", "/day", NULL};
    static const double factor[] = {1.0 / 3600, 1.0 / 60, 1, 1.0 / 86400};
    const ft__texts *t = &q->o->prices;

    q->price = calloc(t->n + 1, sizeof(*q->price));
    if (!q->price)
        return ft__cli_done(q->c, false);
    for (size_t i = 0; i < t->n; i++) {
        const char *equals = strchr(t->v[i], '=');
        struct price *p = &q->price[i];

        if (equals)
            snprintf(p->device, sizeof(p->device), "%.*s", (int)(equals - t->v[i]),
                     t->v[i]);
        if (!ft__number_from_text(&p->per_s, equals ? equals + 1 : t->v[i], unit,
                                  factor))
            return ft__cli_exit(q->c, FT__EXIT_USAGE,
                                "--price %s: it wants a device and what it costs, such "
                                "as a30=2.49/h",
                                t->v[i]);
    }
    q->r.priced = t->n > 0;
    return FT__EXIT_GOOD;
}

static int read_co2(struct question *q)
{
    static const char *const unit[] = {"g/kWh", "kg/kWh", "", NULL};
    static const double factor[] = {1 / 3.6e6, 1e3 / 3.6e6, 1 / 3.6e6};

    q->co2_g_per_j = NAN;
    if (q->o->co2 && !ft__number_from_text(&q->co2_g_per_j, q->o->co2, unit, factor))
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--co2 %s: it wants grams per kilowatt hour, such as "
                            "400g/kWh",
                            q->o->co2);
    q->r.co2 = q->o->co2 != NULL;
    return FT__EXIT_GOOD;
}

static int read_options(struct question *q)
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
    if (!code)
        code = ft__step_parse(q->c, &q->step, &q->o->step);
    q->r.several_batches = q->n_batches > 1;
    q->r.several_clocks = q->n_clocks > 0;
    q->r.how.seed = q->o->seed ? q->o->seed : 1;
    return code;
}

/* ---- what is known of devices ---- */

static int find_local(struct question *q)
{
    ft_error err = {0};
    ft_device *d;
    ft_status st = ft_device_local(&d, "", &err);

    if (st)
        return ft__cli_fail(q->c, st, &err);
    snprintf(q->fingerprint, sizeof(q->fingerprint), "%s", ft_device_fingerprint(d));
    q->local_bytes = ft_device_get(d)->memory_bytes;
    ft_device_free(d);
    return FT__EXIT_GOOD;
}

static int open_predictor(struct question *q, const char *path)
{
    ft_error err = {0};
    ft_status st;

    if (q->n_predictors == MAX_PREDICTORS)
        return ft__cli_exit(q->c, FT__EXIT_USAGE, "at most %d predictors",
                            MAX_PREDICTORS);
    st = ft_predictor_load(&q->predictor[q->n_predictors], path, &err);
    if (st)
        return ft__cli_fail(q->c, st, &err);
    q->n_predictors++;
    return FT__EXIT_GOOD;
}

static bool asks_for_local(const char *list)
{
    static const char name[] = "local";
    size_t len;

    if (!list || strcmp(list, "all") == 0)
        return true;
    for (; *list; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        if (len == sizeof(name) - 1 && memcmp(list, name, len) == 0)
            return true;
    }
    return false;
}

/* Those given, and the one for this machine that train made. */
static int open_predictors(struct question *q)
{
    char path[FT__PATH_MAX];
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < q->o->predictors.n && !code; i++)
        code = open_predictor(q, q->o->predictors.v[i]);
    if (!asks_for_local(q->o->devices))
        return code;
    ft__path_predictor(path, q->o->engine ? q->o->engine : FT__DEFAULT_ENGINE,
                       q->o->threads);
    if (!code && ft__path_exists(path))
        code = open_predictor(q, path);
    return code;
}

/* What a device is called when it is asked about. */
static const char *name_of(const struct question *q, const ft_predictor *p)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    return strcmp(info.device, q->fingerprint) == 0 ? "local" : info.device;
}

static bool add_device(struct question *q, const char *name, size_t len)
{
    char **grown;

    for (size_t i = 0; i < q->n_devices; i++)
        if (strlen(q->device[i]) == len && memcmp(q->device[i], name, len) == 0)
            return true;
    grown = realloc(q->device, (q->n_devices + 1) * sizeof(*grown));
    if (!grown)
        return false;
    q->device = grown;
    grown[q->n_devices] = strndup(name, len);
    return grown[q->n_devices++] != NULL;
}

static int add_every_file(struct question *q)
{
    char **names;
    size_t n;
    ft_error err = {0};
    ft_status st = ft_device_names(&names, &n, q->data_dir, &err);
    bool good = true;

    if (st)
        return ft__cli_fail(q->c, st, &err);
    for (size_t i = 0; i < n && good; i++)
        good = add_device(q, names[i], strlen(names[i]));
    ft_device_names_free(names, n);
    return good ? FT__EXIT_GOOD : ft__cli_done(q->c, false);
}

static int name_devices(struct question *q)
{
    const char *list = q->o->devices;
    bool good = true;

    if (list && strcmp(list, "all") != 0) {
        for (bool more = true; more && good;) {
            size_t len = strcspn(list, ",");

            if (!len)
                return ft__cli_exit(q->c, FT__EXIT_USAGE,
                                    "--devices wants names joined by commas, or all, "
                                    "not \"%s\"",
                                    q->o->devices);
            good = add_device(q, list, len);
            more = list[len] == ',';
            list += len + more;
        }
        return good ? FT__EXIT_GOOD : ft__cli_done(q->c, false);
    }
    for (size_t i = 0; i < q->n_predictors && good; i++) {
        const char *name = name_of(q, q->predictor[i]);

        good = add_device(q, name, strlen(name));
    }
    if (!good)
        return ft__cli_done(q->c, false);
    return q->n_devices && !list ? FT__EXIT_GOOD : add_every_file(q);
}

/* ---- choices ---- */

static ft_estimate unavailable(const char *why)
{
    return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, why};
}

static ft__choice *add_choice(struct question *q, const char *device, double clock_hz,
                              size_t b)
{
    ft__choice *all = realloc(q->r.choice, (q->r.n + 1) * sizeof(*all)), *x;
    int64_t batch = ft__graph_batch(q->graph[b]);

    if (!all)
        return NULL;
    q->r.choice = all;
    x = &all[q->r.n++];
    *x = (ft__choice){.batch = batch > 0 ? batch : 1,
                      .clock_hz = clock_hz,
                      .limit_bytes = NAN,
                      .max_batch = -1};
    x->time = x->energy = x->power = x->memory = unavailable("");
    snprintf(x->device, sizeof(x->device), "%s", device);
    return x;
}

/* What does not fit: the largest batch that would, where batches can be tried. */
static void find_max_batch(ft__choice *x, const struct question *q,
                           const ft__source *from)
{
    if (!(x->memory.value > x->limit_bytes))
        return;
    if (ft__estimate_max_batch(&x->max_batch, from, q->c->args.v[0], &q->o->model,
                               &q->step, x->limit_bytes, NULL))
        x->max_batch = -1;
}

static int estimate(struct question *q, ft__choice *x, const ft__source *from, size_t b)
{
    ft__estimate made;
    ft_error err = {0};
    ft_status st = ft__estimate_make(&made, from, q->graph[b], &q->step, &err);

    if (st == FT_ENOTFOUND) {
        size_t len = strlen(x->device);
        bool named = strncmp(err.msg, x->device, len) == 0 && err.msg[len] == ':';

        snprintf(x->why, sizeof(x->why), "%s", err.msg + (named ? len + 2 : 0));
        return FT__EXIT_GOOD;
    }
    if (st)
        return ft__cli_fail_asked(q->c, st, &err);
    q->r.step = ft__step_name(&q->step, made.graph);
    q->r.mode = ft__mode_name(made.graph);
    x->time = made.e.time;
    x->energy = made.e.energy;
    x->power = made.e.power;
    x->memory = made.e.memory;
    if (x->energy.basis == FT_BASIS_UNAVAILABLE)
        ft__energy_why(x->why, sizeof(x->why), x->device, !from->predictor, &made.e);
    ft__estimate_free(&made);
    find_max_batch(x, q, from);
    return FT__EXIT_GOOD;
}

/* The clock that a setting names, "threads=1 clock=1200MHz"; NaN: none. */
static double clock_of(const char *setting)
{
    const char *at = strstr(setting, "clock=");
    char text[32];
    double hz;

    while (at && at != setting && at[-1] != ' ')
        at = strstr(at + 1, "clock=");
    if (!at)
        return NAN;
    at += strlen("clock=");
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, " "), at);
    return ft__hertz_from_text(&hz, text) ? hz : NAN;
}

/* Of a device that is not this machine; NaN: there is no file. */
static double memory_of(const struct question *q, const char *device)
{
    double bytes = NAN;
    ft_device *d;

    if (!ft_device_load(&d, q->data_dir, device, NULL))
        bytes = ft_device_get(d)->memory_bytes;
    ft_device_free(d);
    return bytes;
}

static int by_predictor(struct question *q, const ft_predictor *p, const char *device,
                        double clock_hz)
{
    const ft__source from = {.predictor = p};
    ft_predictor_info info;
    int code = FT__EXIT_GOOD;

    ft_predictor_get_info(p, &info);
    for (size_t b = 0; b < q->n_batches && !code; b++) {
        ft__choice *x = add_choice(q, device, clock_hz, b);

        if (!x)
            return ft__cli_done(q->c, false);
        snprintf(x->engine, sizeof(x->engine), "%s %s", info.engine,
                 info.engine_version);
        snprintf(x->setting, sizeof(x->setting), "%s", info.setting);
        x->limit_bytes =
            strcmp(device, "local") == 0 ? q->local_bytes : memory_of(q, device);
        code = estimate(q, x, &from, b);
    }
    return code;
}

/* Rates in proportion to the clock. False: it does not run at this one. */
static bool at_clock(ft_device_facts *f, double clock_hz, char *why, size_t size)
{
    double share = clock_hz / f->boost_clock_hz;
    double *const rate[] = {&f->peak_fp64, &f->peak_fp32, &f->peak_tf32, &f->peak_fp16,
                            &f->peak_bf16, &f->peak_fp8,  &f->peak_int8};

    if (isnan(share)) {
        snprintf(why, size, "the clock its peak rate belongs to is not known");
        return false;
    }
    if (share > 1.001) {
        snprintf(why, size, "its highest clock is %.0f MHz", f->boost_clock_hz / 1e6);
        return false;
    }
    for (size_t i = 0; i < sizeof(rate) / sizeof(*rate); i++)
        *rate[i] *= share;
    return true;
}

static int by_sheet(struct question *q, const char *device, double clock_hz)
{
    ft_device_facts facts;
    const ft__source from = {.on = {.device = &facts}};
    ft_error err = {0};
    ft_device *d;
    ft_status st = ft_device_load(&d, q->data_dir, device, &err);
    int code = FT__EXIT_GOOD;

    if (st)
        return ft__cli_fail(q->c, st, &err);
    facts = *ft_device_get(d);
    for (size_t b = 0; b < q->n_batches && !code; b++) {
        ft__choice *x = add_choice(q, device, clock_hz, b);

        if (!x) {
            code = ft__cli_done(q->c, false);
            break;
        }
        x->sheet = true;
        x->limit_bytes = facts.memory_bytes;
        if (b == 0 && !isnan(clock_hz) &&
            !at_clock(&facts, clock_hz, x->why, sizeof(x->why)))
            break;
        code = estimate(q, x, &from, b);
    }
    ft_device_free(d);
    return code;
}

/* By the predictors for it, otherwise by its data sheet. */
static int add_device_choices(struct question *q, const char *device, double clock_hz)
{
    size_t n = 0;
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < q->n_predictors && !code; i++) {
        ft_predictor_info info;

        ft_predictor_get_info(q->predictor[i], &info);
        if (strcmp(name_of(q, q->predictor[i]), device) != 0 ||
            (!isnan(clock_hz) && !(fabs(clock_of(info.setting) - clock_hz) < 1e6)))
            continue;
        n++;
        code = by_predictor(q, q->predictor[i], device, clock_hz);
    }
    if (n || code)
        return code;
    if (strcmp(device, "local") == 0)
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            isnan(clock_hz)
                                ? "there is no predictor for this machine yet; two "
                                  "commands make one:\n  foretell collect --quick\n  "
                                  "foretell train"
                                : "there is no predictor for this machine at %.0f MHz: "
                                  "foretell collect --clocks, then foretell train "
                                  "--setting and --predictor",
                            clock_hz / 1e6);
    return by_sheet(q, device, clock_hz);
}

static int read_models(struct question *q)
{
    int code = FT__EXIT_GOOD;

    for (size_t b = 0; b < q->n_batches && !code; b++) {
        ft__model_options how = q->o->model;

        how.batch = q->batch[b];
        code = ft__model_read(q->c, &q->graph[b], q->c->args.v[0], &how);
    }
    if (code)
        return code;
    q->r.graph = q->graph[0];
    q->r.model = ft_graph_name(q->graph[0]);
    q->r.step = ft__step_name(&q->step, q->graph[0]);
    q->r.mode = ft__mode_name(q->graph[0]);
    q->r.dtype = ft__graph_dtype(q->graph[0]);
    return ft__dtype_check(q->c, q->o->dtype, q->r.dtype);
}

static int find_choices(struct question *q)
{
    int code = read_models(q);

    if (!code)
        code = find_local(q);
    if (!code)
        code = open_predictors(q);
    if (!code)
        code = name_devices(q);
    for (size_t i = 0; i < q->n_devices && !code; i++) {
        if (!q->n_clocks)
            code = add_device_choices(q, q->device[i], NAN);
        for (size_t k = 0; k < q->n_clocks && !code; k++)
            code = add_device_choices(q, q->device[i], q->clock_hz[k]);
    }
    return code;
}

/* ---- ranking ---- */

static double price_of(const struct question *q, const char *device)
{
    double v = NAN;

    for (size_t i = 0; i < q->o->prices.n; i++)
        if (strcmp(q->price[i].device, device) == 0 ||
            (!*q->price[i].device && isnan(v)))
            v = q->price[i].per_s;
    return v;
}

static ft_rank_entry entry_of(const struct question *q, ft__choice *x)
{
    x->energy.why = x->power.why = x->time.why = x->memory.why = x->why;
    return (ft_rank_entry){.device = x->device,
                           .items = q->r.several_batches ? (double)x->batch : 1,
                           .time = x->time,
                           .energy = x->energy,
                           .power = x->power,
                           .memory = x->memory,
                           .memory_limit_bytes = x->limit_bytes,
                           .price_per_s = price_of(q, x->device),
                           .co2_g_per_j = q->co2_g_per_j};
}

static void put_in_order(ft__ranking *r)
{
    size_t others = 0;

    for (size_t i = 0; i < r->n; i++)
        r->n_placed += r->ranked[i].place > 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->ranked[i].place)
            r->order[r->ranked[i].place - 1] = i;
        else
            r->order[r->n_placed + others++] = i;
}

static bool differ(const ft__choice *a, const ft__choice *b)
{
    return *a->engine && *b->engine &&
           (strcmp(a->engine, b->engine) != 0 || strcmp(a->setting, b->setting) != 0);
}

static int rank(struct question *q)
{
    ft_rank_entry *entry = calloc(q->r.n + 1, sizeof(*entry));
    ft_error err = {0};
    ft_status st = FT_OK;

    q->r.ranked = calloc(q->r.n + 1, sizeof(*q->r.ranked));
    q->r.order = calloc(q->r.n + 1, sizeof(*q->r.order));
    if (!entry || !q->r.ranked || !q->r.order) {
        free(entry);
        return ft__cli_done(q->c, false);
    }
    for (size_t i = 0; i < q->r.n; i++) {
        entry[i] = entry_of(q, &q->r.choice[i]);
        q->r.several_engines =
            q->r.several_engines || differ(&q->r.choice[i], &q->r.choice[0]);
    }
    if (q->r.n > FT_RANK_MAX_ENTRIES) {
        free(entry);
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "%zu devices, batches and clocks are too many; at most %d",
                            q->r.n, FT_RANK_MAX_ENTRIES);
    }
    st = ft_rank(q->r.ranked, entry, q->r.n, &q->r.how, &err);
    free(entry);
    if (st)
        return ft__cli_fail(q->c, st, &err);
    put_in_order(&q->r);
    return FT__EXIT_GOOD;
}

static int print(struct question *q)
{
    bool printed = true;

    if (q->c->json)
        printed = ft__ranking_json(&q->r);
    else if (q->c->csv)
        ft__ranking_csv(&q->r);
    else
        printed = ft__ranking_print(&q->r, q->o->top ? q->o->top : 20);
    return ft__cli_done(q->c, printed);
}

/* Nothing placed is "no"; nothing known is something missing. */
static int verdict(const struct question *q)
{
    for (size_t i = 0; i < q->r.n && !q->r.n_placed; i++)
        if (q->r.ranked[i].state != FT_RANK_UNKNOWN)
            return FT__EXIT_NO;
    return q->r.n_placed ? FT__EXIT_GOOD : FT__EXIT_MISSING;
}

static int run(ft__cli *c, const void *user)
{
    struct question *q = calloc(1, sizeof(*q));
    int code;

    if (!q)
        return ft__cli_done(c, false);
    q->c = c;
    q->o = user;
    ft__path_data(c, q->data_dir);
    code = read_options(q);
    if (!code)
        code = find_choices(q);
    if (!code)
        code = rank(q);
    if (!code)
        code = print(q);
    if (!code)
        code = verdict(q);
    for (size_t i = 0; i < q->n_predictors; i++)
        ft_predictor_free(q->predictor[i]);
    for (size_t b = 0; b < q->n_batches; b++)
        ft_graph_free(q->graph[b]);
    ft_device_names_free(q->device, q->n_devices);
    free(q->price);
    free(q->r.choice);
    free(q->r.ranked);
    free(q->r.order);
    free(q);
    return code;
}

const ft__command ft__rank_command = {
    .name = "rank",
    .arguments = "MODEL",
    .summary = "order devices, batches and clocks by what a model takes there",
    .more =
        "Devices with a predictor are ranked by what it learned, others by the bound "
        "of\n"
        "their data sheet. What does not fit, misses a limit or is not known is "
        "listed\n"
        "apart. Exit code 1: nothing meets the limits.",
    .examples =
        "  foretell rank resnet50.onnx --devices a30,l4,t4 --batch 8\n"
        "  foretell rank resnet50.onnx --by energy --predictor a30.ftp --predictor "
        "l4.ftp\n"
        "  foretell rank bert.onnx --dim seq=128 --by cost --price a30=0.6/h --price "
        "l4=0.8/h \\\n"
        "                --limit time=10ms --batches 1,8,32\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(struct options),
    .options = options,
    .run = run,
};
