/* rank MODEL: the ways to run one model, each with its estimate, in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rank/rank.h"
#include "foretell/names.h"

static ft__choice *add_choice(ft__rank_question *q, size_t d, double clock_hz, size_t b)
{
    ft__choice *all = realloc(q->r.choice, (q->r.n + 1) * sizeof(*all)), *x;
    int64_t batch = q->graph[b]->batch;

    if (!all)
        return NULL;
    q->r.choice = all;
    x = &all[q->r.n++];
    *x = (ft__choice){.batch = batch > 0 ? batch : 1,
                      .clock_hz = clock_hz,
                      .limit_bytes = NAN,
                      .price_per_s = q->price_per_s[d],
                      .max_batch = -1};
    x->time = x->energy = x->power = x->memory =
        (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, ""};
    snprintf(x->device, sizeof(x->device), "%s", q->device[d]);
    return x;
}

/* What does not fit: the largest batch that would, where batches can be tried. */
static void find_max_batch(ft__choice *x, const ft__rank_question *q,
                           const ft_query *asked)
{
    ft_query query = *asked;
    ft__model_values values;
    ft_answer *a;

    if (!(x->memory.value > x->limit_bytes))
        return;
    query.model = q->c->args.v[0];
    query.max_batch = 1;
    if (!ft__model_values_read(&values, &query, &q->o->model, NULL) &&
        !ft_query_ask(&a, q->data, &query, NULL)) {
        x->max_batch = a->max_batch;
        ft_answer_free(a);
    }
    ft__model_values_free(&values);
}

static void take(ft__choice *x, const ft_answer *a)
{
    x->time = a->time;
    x->energy = a->energy;
    x->power = a->power;
    x->memory = a->memory;
    x->n_known = a->n_known;
    x->limit_bytes = a->limit_bytes;
    snprintf(x->engine, sizeof(x->engine), "%s", a->engine);
    snprintf(x->setting, sizeof(x->setting), "%s", a->setting);
    snprintf(x->host, sizeof(x->host), "%s", a->host);
    x->waits = a->host_s > a->busy_s; /* false for NaN */
    if (x->energy.basis == FT_BASIS_UNAVAILABLE)
        snprintf(x->why, sizeof(x->why), "%s", a->energy.why);
}

static void take_remarks(ft__ranking *r, ft__choice *x, const ft_answer *a)
{
    for (size_t i = 0; i < a->n_assumptions; i++)
        if (a->assumption[i]->code == FT_REMARK_RUN_MODE)
            snprintf(x->other_mode, sizeof(x->other_mode), "%s",
                     a->assumption[i]->text);
    for (size_t i = 0; i < a->n_warnings; i++) {
        const ft_remark *w = a->warning[i];

        if (w->code == FT_REMARK_FOLDED)
            snprintf(r->folded, sizeof(r->folded), "%s", w->text);
        if (w->code == FT_REMARK_OTHER_ENGINE)
            snprintf(x->other_engine, sizeof(x->other_engine), "%s", w->text);
        if (w->code == FT_REMARK_NO_HARDWARE) {
            snprintf(x->no_hardware, sizeof(x->no_hardware), "no hardware for %s",
                     ft__no_hardware_name(w->dtype));
            snprintf(x->no_hardware_end, sizeof(x->no_hardware_end), "%s", w->ending);
        }
    }
}

/* That a fact is missing is said of the choice; that the device is unknown, of all. */
static int not_found(const ft__rank_question *q, ft__choice *x, const ft_error *err)
{
    size_t len = strlen(x->device);
    bool named = strncmp(err->msg, x->device, len) == 0 && err->msg[len] == ':';

    if (!ft__device_is_there(q->c, x->device, &x->limit_bytes) &&
        (q->named || strcmp(x->device, "local") != 0))
        return ft__cli_fail(q->c, FT_ENOTFOUND, err);
    snprintf(x->why, sizeof(x->why), "%s", err->msg + (named ? len + 2 : 0));
    return FT__EXIT_GOOD;
}

/* *asked lacks network and device. */
static int ask(ft__rank_question *q, size_t d, const ft_query *asked, double clock_hz,
               size_t b)
{
    ft__choice *x = add_choice(q, d, clock_hz, b);
    ft_query query = *asked;
    ft_answer *a;
    ft_status st;

    if (!x)
        return ft__cli_done(q->c, false);
    query.graph = q->graph[b];
    query.device = q->device[d];
    st = ft_query_ask(&a, q->data, &query, &q->c->err);
    if (st == FT_ENOTFOUND) {
        snprintf(x->setting, sizeof(x->setting), "%s",
                 query.setting ? query.setting : "");
        return not_found(q, x, &q->c->err);
    }
    if (st)
        return ft__cli_check_asked(q->c, st);
    q->r.step = ft_step_name(&q->step, a->graph);
    q->r.mode = ft_name(FT_NAMES_MODE, a->graph->mode);
    take(x, a);
    take_remarks(&q->r, x, a);
    ft__warn_damaged(q->c, a->warning, a->n_warnings);
    ft_answer_free(a);
    find_max_batch(x, q, &query);
    return FT__EXIT_GOOD;
}

/* The clock that a setting names, "threads=1 clock=1200MHz"; NaN: none. */
static double clock_of(const char *setting)
{
    char text[32];
    double hz;

    for (const char *at = setting; *at; at += strspn(at, " ")) {
        snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, " "), at);
        if (strncmp(text, "clock=", 6) == 0)
            return ft__hertz_from_text(&hz, text + 6) ? hz : NAN;
        at += strcspn(at, " ");
    }
    return NAN;
}

/* otherwise: at the operating point *use, not as it was measured. */
static int by_predictor(ft__rank_question *q, const ft_predictor *p, size_t d,
                        const ft__setting_options *use, bool otherwise)
{
    ft_query query = q->query;
    int code = FT__EXIT_GOOD;

    query.loaded = p;
    query.setting = otherwise ? use->setting : NULL;
    for (size_t b = 0; b < q->n_batches && !code; b++)
        code = ask(q, d, &query, use->clock_hz, b);
    return code;
}

/* By a family of devices, otherwise from the device's data sheet. */
static int by_file(ft__rank_question *q, size_t d, const ft__setting_options *use)
{
    ft_query query = q->query;
    char setting[FT__SETTING_MAX];
    int code = ft__operating_setting(q->c, setting, use, q->o->asked.setting);

    if (strcmp(q->device[d], "local") == 0)
        query.loaded = NULL; /* a family says nothing of this machine */
    query.method = q->o->method;
    query.correct = q->o->correct;
    query.engine = q->o->engine;
    query.threads = q->o->threads;
    query.engine_version = q->o->asked.engine_version;
    query.setting = setting;
    for (size_t b = 0; b < q->n_batches && !code; b++) {
        code = ask(q, d, &query, use->clock_hz, b);
        if (!code && q->r.choice[q->r.n - 1].time.basis == FT_BASIS_UNAVAILABLE)
            break; /* not at another batch either */
    }
    return code;
}

static bool is_of(const ft__rank_question *q, size_t i, size_t d)
{
    return strcmp(q->predictor_of[i], q->device[d]) == 0;
}

/* As it was measured? A cap is never among what a predictor was trained at by name. */
static bool as_asked(const ft_predictor *p, const ft__setting_options *use)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    return isnan(use->power_w) && isnan(use->memory_hz) &&
           (isnan(use->clock_hz) || fabs(clock_of(info.setting) - use->clock_hz) < 1e6);
}

/* By the predictors for it, as they were trained or at the operating point; otherwise
 * by a family, or its data sheet. */
static int add_device_choices(ft__rank_question *q, size_t d,
                              const ft__setting_options *use)
{
    const bool local = strcmp(q->device[d], "local") == 0;
    size_t n = 0;
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < q->n_predictors && !code; i++)
        if (is_of(q, i, d) && as_asked(q->predictor[i], use)) {
            code = by_predictor(q, q->predictor[i], d, use, false);
            n++;
        }
    for (size_t i = 0; i < q->n_predictors && !code && !n && !local; i++)
        if (is_of(q, i, d)) {
            code = by_predictor(q, q->predictor[i], d, use, true);
            n++;
        }
    if (n || code)
        return code;
    return by_file(q, d, use);
}

static int find_choices(ft__rank_question *q)
{
    int code = FT__EXIT_GOOD;

    for (size_t d = 0; d < q->n_devices && !code; d++) {
        ft__setting_options use = q->use;

        if (!q->n_clocks)
            code = add_device_choices(q, d, &use);
        for (size_t k = 0; k < q->n_clocks && !code; k++) {
            ft__operating_set_clock(&use, q->clock_hz[k]);
            code = add_device_choices(q, d, &use);
        }
    }
    return code;
}

static ft_rank_entry entry_of(const ft__rank_question *q, ft__choice *x)
{
    x->energy.why = x->power.why = x->time.why = x->memory.why = x->why;
    return (ft_rank_entry){.device = x->device,
                           .items = q->r.several_batches ? (double)x->batch : 1,
                           .time = x->time,
                           .energy = x->energy,
                           .power = x->power,
                           .memory = x->memory,
                           .memory_limit_bytes = x->limit_bytes,
                           .price_per_s = x->price_per_s,
                           .co2_g_per_j = q->co2_g_per_j,
                           .host = x->waits ? x->host : NULL};
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

static int rank(ft__rank_question *q)
{
    ft_rank_entry *entry = calloc(q->r.n + 1, sizeof(*entry));
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
        return ft__usage(q->c,
                         "%zu devices, batches and clocks are too many; at most %d",
                         q->r.n, FT_RANK_MAX_ENTRIES);
    }
    st = ft_rank(q->r.ranked, entry, q->r.n, &q->r.how, &q->c->err);
    free(entry);
    if (st)
        return ft__cli_check(q->c, st);
    put_in_order(&q->r);
    return FT__EXIT_GOOD;
}

/* A language model too large for a device, which may be served over several. */
static bool is_too_large_alone(const ft__rank_question *q)
{
    bool too_large = false;

    for (size_t i = 0; i < q->r.n; i++)
        too_large = too_large || q->r.ranked[i].state == FT_RANK_TOO_LARGE;
    return too_large && q->c->args.n == 1 && strcmp(q->c->args.v[0], "-") != 0 &&
           ft__is_language_model(q->c->args.v[0]);
}

/* Nothing placed is "no"; nothing known is something missing. */
static int verdict(const ft__rank_question *q)
{
    int code = FT__EXIT_MISSING;

    for (size_t i = 0; i < q->r.n; i++)
        if (q->r.ranked[i].state != FT_RANK_UNKNOWN)
            code = FT__EXIT_NO;
    if (q->r.n_placed)
        return FT__EXIT_GOOD;
    return ft__cli_exit(q->c, code,
                        !q->r.n ? "there is nothing to rank"
                        : is_too_large_alone(q)
                            ? "nothing can be placed on one device; with "
                              "--tp or --concurrency it is served, over "
                              "several"
                            : "nothing can be placed");
}

/* Measurements that correct nothing were not meant so. */
static int check_known(const ft__rank_question *q)
{
    for (size_t i = 0; i < q->r.n; i++)
        if (q->r.choice[i].n_known)
            return FT__EXIT_GOOD;
    return q->o->correct ? ft__nothing_corrected(q->c, q->o->correct) : FT__EXIT_GOOD;
}

int ft__rank_choices(ft__rank_question *q)
{
    int code = find_choices(q);

    if (!code)
        code = check_known(q);
    if (!code)
        code = rank(q);
    if (!code)
        code = ft__cli_done(q->c, ft__ranking_print(q->c, &q->r, q->o->top));
    if (!code && q->o->html)
        code = ft__record_save_take(q->c, q->o->html, ft__ranking_json(&q->r));
    return code ? code : verdict(q);
}
