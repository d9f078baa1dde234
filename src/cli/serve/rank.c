/* foretell rank of a language model that is served: devices, ways to lay it out and to
 * run it, and concurrencies, each simulated as predict does. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/ranking.h"

enum { MOST_SETTINGS = 65536 };
static const char quantity_names[] = "cost, energy, power, " FT__SERVED_QUANTITIES;

static double latency_of(const ft_served *s, ft_serve_metric m, ft_serve_point p)
{
    return s->latency[m][p].value;
}

double ft__serve_value_of(const ft__serve_setting *x, ft__serve_by of, ft_serve_point p)
{
    const ft_served *s = &x->s;

    switch (of) {
    case FT__BY_COST: return ft__serve_cost(s, x->price_per_s).value;
    case FT__BY_ENERGY: return s->joules_per_token.value;
    case FT__BY_POWER: return s->power_w.value;
    case FT__BY_TTFT: return latency_of(s, FT_SERVE_TTFT, p);
    case FT__BY_TPOT: return latency_of(s, FT_SERVE_TPOT, p);
    case FT__BY_ITL: return latency_of(s, FT_SERVE_ITL, p);
    case FT__BY_E2E: return latency_of(s, FT_SERVE_E2E, p);
    case FT__BY_USER: return 1 / s->tokens_per_s_per_user.value;
    case FT__BY_DEVICE: return 1 / s->tokens_per_s_per_device.value;
    }
    return NAN;
}

static bool point_of(ft_serve_point *out, const char *text)
{
    static const char *const name[FT_SERVE_POINT_COUNT] = {"", "-p50", "-p90", "-p95",
                                                           "-p99"};

    for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
        if (strcmp(text, name[p]) == 0) {
            *out = (ft_serve_point)p;
            return true;
        }
    return false;
}

static int read_limit(ft__serve_ranking *r, const char *text)
{
    static const char *const units[] = {
        [FT__BY_COST] = "=1",
        [FT__BY_ENERGY] = "=1 J=1 mJ=1e-3",
        [FT__BY_POWER] = "=1 W=1 kW=1e3",
        [FT__BY_TTFT] = FT__TIME_UNITS,
        [FT__BY_TPOT] = FT__TIME_UNITS,
        [FT__BY_ITL] = FT__TIME_UNITS,
        [FT__BY_E2E] = FT__TIME_UNITS,
    };
    ft__serve_limit *l = &r->limit[r->n_limits++];
    const size_t len = strcspn(text, "=");
    ft__formatted refused;
    char word[32] = "", *point;
    int of = -1;

    *l = (ft__serve_limit){.text = text};
    if (len < sizeof(word) && text[len])
        memcpy(word, text, len);
    point = strstr(word, "-p");
    if (point && point_of(&l->point, point))
        *point = '\0';
    for (int i = 0; i <= FT__BY_E2E; i++) {
        static const char *const name[] = {"cost", "energy", "power", "ttft",
                                           "tpot", "itl",    "e2e"};

        of = strcmp(name[i], word) == 0 ? i : of;
    }
    l->of = (ft__serve_by)of;
    if (of >= 0 && ft__number_from_text(&l->most, text + len + 1, units[of]))
        return FT__EXIT_GOOD;
    refused = ft__number_refused(text + len + 1, of < 0 ? NULL : units[of]);
    return ft__usage(
        r->q->c, "--limit %s: %s", text,
        *refused.s ? refused.s
                   : "of serving it wants ttft, tpot, itl or e2e, each also with -p50, "
                     "-p90, -p95 or -p99, energy, power or cost, and the most of it, "
                     "such as tpot=30ms");
}

static bool is_ranks(const char *dim)
{
    return strncmp(dim, "tp=", 3) == 0;
}

static int read_operating(ft__serve_ranking *r)
{
    ft__rank_question *q = r->q;
    int code = ft__operating_parse(q->c, &q->use, &q->o->use);

    if (!code && q->o->clocks)
        code = ft__clock_list_parse(q->c, q->clock_hz, &q->n_clocks, q->o->clocks);
    if (!code && q->o->power_caps)
        code = ft__cap_list_parse(q->c, r->cap_w, &r->n_caps, q->o->power_caps);
    if (!code && q->o->use.clock && q->n_clocks)
        code = ft__usage(q->c, "--clock or --clocks, not both");
    if (!code && q->o->use.power_cap && r->n_caps)
        code = ft__usage(q->c, "--power-cap or --power-caps, not both");
    return code;
}

/* --dim tp is --tp. */
static int read_ranks(ft__serve_ranking *r, const char *text)
{
    ft__serving *s = &r->serving;

    if (r->q->o->serve.tp || s->n_tp > 1)
        return ft__usage(r->q->c, "--dim %s says what another option says", text);
    return ft__counts_from_text(s->tp, &s->n_tp, FT__MAX_SERVED, text + strlen("tp="))
               ? FT__EXIT_GOOD
               : ft__usage(r->q->c, "--dim wants NAME=N or NAME=N,N,..., not \"%s\"",
                           text);
}

static int read_dim_lists(ft__serve_ranking *r)
{
    const ft__texts *dims = &r->q->o->model.dims;
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < dims->n && !code; i++) {
        const char *text = dims->v[i];
        const size_t len = strcspn(text, "=");
        ft__dim_list *l = &r->list[r->n_lists];

        if (is_ranks(text))
            code = read_ranks(r, text);
        if (is_ranks(text) || !strchr(text, ','))
            continue;
        if (r->n_lists == FT__MAX_DIM_LISTS)
            return ft__usage(r->q->c, "more than %d lists for --dim",
                             FT__MAX_DIM_LISTS);
        if (!len || len >= sizeof(l->name) ||
            !ft__counts_from_text(l->value, &l->n, FT__MAX_SERVED, text + len + 1))
            return ft__usage(r->q->c, "--dim wants NAME=N or NAME=N,N,..., not \"%s\"",
                             text);
        memcpy(l->name, text, len);
        r->n_lists++;
    }
    return code;
}

/* The option given that is of networks alone; NULL: none is. */
static const char *unserved(const ft__rank_question *q)
{
    const ft__rank_options *o = q->o;

    return o->lists               ? "--stdin"
           : o->batches           ? "--batches"
           : o->co2               ? "--co2"
           : o->channels_last     ? "--channels-last"
           : o->seed              ? "--seed"
           : o->asked.launch_time ? "--launch-time"
                                  : NULL;
}

static int read_options(ft__serve_ranking *r)
{
    const ft__rank_options *o = r->q->o;
    int of, code;

    r->by_name = o->by ? o->by : "tokens-per-device";
    code = ft__choice_parse(r->q->c, &of, "by", r->by_name, quantity_names);
    r->by = (ft__serve_by)of;
    if (!code && o->limits.n > FT_RANK_MAX_LIMITS)
        code = ft__usage(r->q->c, "at most %d of --limit", FT_RANK_MAX_LIMITS);
    for (size_t i = 0; i < o->limits.n && !code; i++)
        code = read_limit(r, o->limits.v[i]);
    if (!code && r->by == FT__BY_COST && !o->prices.n)
        code = ft__usage(r->q->c, "--by cost wants --price, such as 2.5/h or l4=0.7/h");
    if (!code && unserved(r->q))
        code = ft__usage(r->q->c, "serving goes without %s", unserved(r->q));
    if (!code && o->correct && !ft__learned_is(o->correct))
        code = ft__usage(r->q->c,
                         "--correct %s: what is served is ranked by what verify "
                         "--learn wrote",
                         o->correct);
    if (!code)
        code = read_operating(r);
    if (!code)
        code = ft__serving_read(r->q->c, &r->serving, &o->serve);
    if (!code)
        code = read_dim_lists(r);
    if (!code && o->correct)
        code = ft__learned_read(r->q->c, &r->serving.learned, o->correct);
    return code;
}

static void fill_lists(ft__serve_ranking *r)
{
    static const uint64_t ranks[] = {1, 2, 4, 8};
    ft__serving *s = &r->serving;
    const ft__serve_options *o = &r->q->o->serve;
    const ft__texts *dims = &r->q->o->model.dims;
    bool ranked = o->tp != NULL;

    for (size_t i = 0; i < dims->n; i++)
        ranked = ranked || is_ranks(dims->v[i]);
    if (!ranked) {
        memcpy(s->tp, ranks, sizeof(ranks));
        s->n_tp = sizeof(ranks) / sizeof(*ranks);
    }
    if (!o->concurrency && !o->rate && !o->requests) {
        s->n_concurrency = 8;
        for (size_t i = 0; i < s->n_concurrency; i++)
            s->concurrency[i] = (uint64_t)1 << i;
    }
    for (size_t i = 0; i < s->n_concurrency; i++) {
        r->load[i] = s->load;
        if (o->concurrency || (!o->rate && !o->requests))
            r->load[i].concurrency = s->concurrency[i];
        ft__serving_followed(o, &r->load[i]);
    }
}

/* The next of a list, whose place is the last digit of *i; 0: there is none. */
static size_t take_digit(size_t *i, size_t n)
{
    const size_t k = n ? *i % n : 0;

    *i = n ? *i / n : *i;
    return k;
}

/* The model's values, a single one of each list. Texts are copied. */
static ft_status read_values(const ft__serve_ranking *r, ft__serve_way *w, size_t i,
                             ft_error *err)
{
    ft__model_options model = r->q->o->model;
    const char *text[FT__MAX_VALUES + FT__MAX_DIM_LISTS];
    char one[FT__MAX_DIM_LISTS][48];
    size_t n = 0, len = 0;

    for (size_t k = 0; k < model.dims.n && n < FT__MAX_VALUES; k++)
        if (!is_ranks(model.dims.v[k]) && !strchr(model.dims.v[k], ','))
            text[n++] = model.dims.v[k];
    for (size_t k = 0; k < r->n_lists; k++) {
        const ft__dim_list *l = &r->list[k];

        snprintf(one[k], sizeof(one[k]), "%s=%" PRIu64, l->name,
                 l->value[take_digit(&i, l->n)]);
        len += (size_t)snprintf(w->dims + len, sizeof(w->dims) - len, "%s%s",
                                k ? " " : "", one[k]);
        text[n++] = one[k];
    }
    model.dims = (ft__texts){text, n};
    return ft__model_values_read(&w->values, &w->query, &model, err);
}

static int make_way(const ft__serve_ranking *r, ft__serve_way *w, size_t i)
{
    ft__rank_question *q = r->q;
    ft__setting_options use = q->use;
    const size_t clock = take_digit(&i, q->n_clocks), cap = take_digit(&i, r->n_caps);
    int code;

    w->clock_hz = q->n_clocks ? q->clock_hz[clock] : 0;
    w->cap_w = r->n_caps ? r->cap_w[cap] : 0;
    w->tp = r->serving.tp[take_digit(&i, r->serving.n_tp)];
    w->weight_bits = r->serving.weight_bits[take_digit(&i, r->serving.n_precisions)];
    if (w->clock_hz > 0)
        ft__operating_set_clock(&use, w->clock_hz);
    if (w->cap_w > 0)
        ft__operating_set_cap(&use, w->cap_w);
    code = ft__operating_setting(q->c, w->operating, &use, q->o->asked.setting);
    w->query = q->query;
    w->query.setting = w->operating;
    w->query.policy = use.policy;
    w->query.engine = q->o->engine;
    w->query.engine_version = q->o->asked.engine_version;
    if (!code)
        code = ft__cli_check_asked(q->c, read_values(r, w, i, &q->c->err));
    if (!code)
        code = ft__serving_dims(q->c, &w->values, &w->query, &q->o->serve, w->tp,
                                w->weight_bits);
    w->query.model = q->c->args.v[0];
    return code;
}

static int make_ways(ft__serve_ranking *r)
{
    size_t n = r->serving.n_precisions * r->serving.n_tp;
    int code = FT__EXIT_GOOD;

    n *= (r->q->n_clocks ? r->q->n_clocks : 1) * (r->n_caps ? r->n_caps : 1);
    for (size_t k = 0; k < r->n_lists && n <= FT__MAX_WAYS; k++)
        n *= r->list[k].n;
    if (n > FT__MAX_WAYS)
        return ft__usage(r->q->c,
                         "more than %d of --precision, --tp, --clocks, --power-caps "
                         "and lists for --dim",
                         FT__MAX_WAYS);
    for (size_t i = 0; i < n && !code; i++)
        code = make_way(r, &r->way[r->n_ways++], i);
    return code;
}

static void *work_on_plans(void *user)
{
    ft__serve_ranking *r = user;
    size_t i;

    while ((i = atomic_fetch_add(&r->next, 1)) < r->n_ways)
        r->way[i].st = ft_serve_plan_open(&r->way[i].plan, &r->way[i].query, r->load,
                                          r->serving.n_concurrency, &r->way[i].err);
    return NULL;
}

static void serve(ft__serve_ranking *r, size_t p, size_t d)
{
    const ft__serve_way *x = &r->way[p];
    const size_t n = r->serving.n_concurrency, at = p * r->q->n_devices + d;
    ft_query query = x->query;
    ft_error err = {0};
    ft_status st = x->st;

    query.device = r->q->device[d];
    if (st)
        err = x->err;
    else
        st = ft_serve_steps_open(&r->steps[at], r->q->data, x->plan, &query, &err);
    for (size_t c = 0; c < n; c++) {
        ft__serve_setting *s = &r->setting[at * n + c];
        ft_serve_load load = r->load[c];
        ft_status of = st;

        ft__learned_take(&load, &r->serving.learned, r->q->device[d], &query);
        *s = (ft__serve_setting){.device = r->q->device[d],
                                 .way = x,
                                 .concurrency = r->load[c].concurrency,
                                 .price_per_s = r->q->price_per_s[d]};
        if (!of)
            of = ft_serve_run(&s->s, r->steps[at], &load, &err);
        if (!of)
            continue;
        s->state = s->s.device && !s->s.fits && s->s.memory_bytes > 0
                       ? FT__SERVE_NO_FIT
                       : FT__SERVE_UNKNOWN;
        snprintf(s->why, sizeof(s->why), "%.199s", err.msg);
    }
}

static void *work_on_settings(void *user)
{
    ft__serve_ranking *r = user;
    const size_t n = r->n_ways * r->q->n_devices;
    size_t i;

    while ((i = atomic_fetch_add(&r->next, 1)) < n)
        serve(r, i / r->q->n_devices, i % r->q->n_devices);
    return NULL;
}

static void judge(const ft__serve_ranking *r, ft__serve_setting *x)
{
    if (x->state != FT__SERVE_PLACED)
        return;
    for (uint32_t i = 0; i < r->n_limits; i++) {
        const ft__serve_limit *l = &r->limit[i];
        const double value = ft__serve_value_of(x, l->of, l->point),
                     over = value / l->most - 1;

        if (!isfinite(value)) {
            x->state = FT__SERVE_UNKNOWN;
            snprintf(x->why, sizeof(x->why), "%s is not known", l->text);
            return;
        }
        if (over > x->excess) {
            x->state = FT__SERVE_OVER_LIMIT;
            x->excess = over;
            x->limit = i;
        }
    }
    if (x->state == FT__SERVE_PLACED &&
        !isfinite(ft__serve_value_of(x, r->by, FT_SERVE_MEAN))) {
        x->state = FT__SERVE_UNKNOWN;
        if (r->by == FT__BY_COST)
            snprintf(x->why, sizeof(x->why), "%s has no --price", x->device);
        else
            snprintf(x->why, sizeof(x->why), "the energy of %s is not known",
                     x->device);
    }
}

static _Thread_local const ft__serve_ranking *sorted;

static int by_value(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const double x = ft__serve_value_of(&sorted->setting[i], sorted->by, FT_SERVE_MEAN);
    const double y = ft__serve_value_of(&sorted->setting[k], sorted->by, FT_SERVE_MEAN);

    return x < y ? -1 : x > y ? 1 : (i > k) - (i < k);
}

static bool dominates(const ft__serve_setting *a, const ft__serve_setting *b)
{
    static const ft__serve_by aims[] = {FT__BY_USER, FT__BY_DEVICE, FT__BY_ENERGY,
                                        FT__BY_COST};
    bool better = false;

    for (size_t i = 0; i < sizeof(aims) / sizeof(*aims); i++) {
        const double x = ft__serve_value_of(a, aims[i], FT_SERVE_MEAN);
        const double y = ft__serve_value_of(b, aims[i], FT_SERVE_MEAN);

        if (x > y)
            return false;
        better = better || x < y;
    }
    return better;
}

static void put_in_order(ft__serve_ranking *r)
{
    for (size_t i = 0; i < r->n; i++) {
        judge(r, &r->setting[i]);
        if (r->setting[i].state == FT__SERVE_PLACED)
            r->order[r->n_placed++] = i;
    }
    sorted = r;
    qsort(r->order, r->n_placed, sizeof(*r->order), by_value);
    for (size_t i = 0; i < r->n_placed; i++) {
        ft__serve_setting *x = &r->setting[r->order[i]];

        x->pareto = true;
        for (size_t k = 0; k < r->n_placed && x->pareto; k++)
            x->pareto = !dominates(&r->setting[r->order[k]], x);
    }
}

static int make_room(ft__serve_ranking *r)
{
    const size_t steps = r->n_ways * r->q->n_devices;

    r->n = steps * r->serving.n_concurrency;
    if (r->n > MOST_SETTINGS)
        return ft__usage(r->q->c, "more than %d settings", MOST_SETTINGS);
    r->steps = calloc(steps + 1, sizeof(*r->steps));
    r->setting = calloc(r->n + 1, sizeof(*r->setting));
    r->order = calloc(r->n + 1, sizeof(*r->order));
    return r->steps && r->setting && r->order ? FT__EXIT_GOOD
                                              : ft__cli_done(r->q->c, false);
}

/* A model that no plan could be made of is not one that is served. */
static int check_plans(ft__serve_ranking *r)
{
    for (size_t i = 0; i < r->n_ways; i++)
        if (!r->way[i].st)
            return FT__EXIT_GOOD;
    r->q->c->err = r->way[0].err;
    return ft__cli_check_asked(r->q->c, r->way[0].st);
}

static void free_ranking(ft__serve_ranking *r)
{
    for (size_t i = 0; r->steps && i < r->n_ways * r->q->n_devices; i++)
        ft_serve_steps_close(r->steps[i]);
    for (size_t i = 0; i < r->n_ways; i++) {
        ft_serve_plan_close(r->way[i].plan);
        ft__model_values_free(&r->way[i].values);
    }
    free(r->steps);
    free(r->setting);
    free(r->order);
    ft__serving_end(&r->serving);
    free(r);
}

static int rank_all(ft__serve_ranking *r)
{
    const uint64_t top = r->q->o->top;
    bool good = true;
    int code;

    atomic_store(&r->next, 0);
    ft__on_cores(work_on_plans, r, r->n_ways);
    code = check_plans(r);
    if (!code)
        code = make_room(r);
    if (code)
        return code;
    atomic_store(&r->next, 0);
    ft__on_cores(work_on_settings, r, r->n_ways * r->q->n_devices);
    put_in_order(r);
    if (r->q->c->csv)
        ft__serve_ranking_csv(r, top ? top : r->n_placed);
    else if (r->q->c->json)
        good = ft__cli_json_take(r->q->c, ft__serve_ranking_json(r));
    else
        good = ft__serve_ranking_print(r, top ? top : 20);
    code = ft__cli_done(r->q->c, good);
    if (!code && r->q->o->html)
        code = ft__record_save_take(r->q->c, r->q->o->html, ft__serve_ranking_json(r));
    return code ? code : r->n_placed ? FT__EXIT_GOOD : FT__EXIT_NO;
}

/* A name that is none says so, as where one network is ranked. */
static int check_devices(ft__rank_question *q)
{
    char data_dir[FT__PATH_MAX];
    int code = FT__EXIT_GOOD;

    ft__path_data(q->c, data_dir);
    for (size_t i = 0; i < q->n_devices && q->named && !code; i++) {
        ft_device *d = NULL;

        if (strcmp(q->device[i], "local") == 0)
            continue;
        code =
            ft__cli_check(q->c, ft_device_load(&d, data_dir, q->device[i], &q->c->err));
        ft_device_free(d);
    }
    return code;
}

int ft__serve_rank(ft__rank_question *q)
{
    ft__serve_ranking *r = calloc(1, sizeof(*r));
    int code;

    if (!r)
        return ft__cli_done(q->c, false);
    r->q = q;
    code = ft__check_language_model(q->c, q->c->args.v[0],
                                    ft__option_given(ft__serve_table, &q->o->serve));
    if (!code)
        code = ft__precision_check(q->c, &q->o->model);
    if (!code)
        code = read_options(r);
    if (!code)
        code = check_devices(q);
    if (!code) {
        fill_lists(r);
        code = make_ways(r);
    }
    if (!code)
        code = rank_all(r);
    free_ranking(r);
    return code;
}
