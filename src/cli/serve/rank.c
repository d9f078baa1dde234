/* foretell rank of a language model that is served: devices, ranks of tensor
 * parallelism, precisions and concurrencies, each simulated as predict does. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rank/rank.h"
#include "cli/serve/serve.h"
#include "report/units.h"

enum { MOST_PLANS = 8 * FT__MAX_SERVED, MOST_SETTINGS = 65536, MOST_THREADS = 16 };

/* ---- quantities; less is better ---- */

typedef enum quantity {
    BY_COST,
    BY_ENERGY,
    BY_POWER,
    BY_TTFT,
    BY_TPOT,
    BY_ITL,
    BY_E2E,
    BY_USER,   /* seconds of a token, of one user */
    BY_DEVICE, /* seconds of a token, of one device */
    N_QUANTITIES
} quantity;
static const char quantity_names[] =
    "cost, energy, power, ttft, tpot, itl, e2e, tokens-per-user, tokens-per-device";
static const char *const quantity_unit[N_QUANTITIES] = {
    [BY_ENERGY] = "J", [BY_POWER] = "W",  [BY_TTFT] = "s",
    [BY_TPOT] = "s",   [BY_ITL] = "s",    [BY_E2E] = "s",
    [BY_USER] = "s",   [BY_DEVICE] = "s", [BY_COST] = "",
};

struct limit {
    const char *text;
    quantity of;
    ft_serve_point point;
    double most;
};

/* ---- settings ---- */

typedef enum state { PLACED, NO_FIT, OVER_LIMIT, UNKNOWN } state;

struct setting {
    const char *device;
    uint64_t tp, concurrency;
    double clock_hz; /* 0: as it comes */
    int64_t weight_bits;
    double price_per_s;
    ft_served s;
    state state;
    double excess; /* over limits: by how much of the limit, at most */
    uint32_t limit;
    bool pareto, risky;
    char why[200];
};

/* A plan of steps, for ranks, a precision and a clock. */
struct plan {
    uint64_t tp;
    int64_t weight_bits;
    double clock_hz;                 /* 0: as it comes */
    char operating[FT__SETTING_MAX]; /* point, of all devices */
    ft_query query;
    ft__model_values values;
    ft_serve_plan *plan;
    ft_error err;
    ft_status st;
};

struct ranking {
    ft__rank_question *q;
    ft__serving serving;
    ft_serve_load load[FT__MAX_SERVED]; /* one for each concurrency */
    struct plan plan[MOST_PLANS];
    size_t n_plans;
    struct setting *setting; /* by plan, device and concurrency */
    ft_serve_steps **steps;  /* by plan and device: settings point into them */
    size_t n;
    size_t *order;
    size_t n_placed;
    quantity by;
    struct limit limit[FT_RANK_MAX_LIMITS];
    uint32_t n_limits;
    atomic_size_t next;
};

static double latency_of(const ft_served *s, ft_serve_metric m, ft_serve_point p)
{
    return s->latency[m][p].value;
}

static double value_of(const struct setting *x, quantity of, ft_serve_point p)
{
    const ft_served *s = &x->s;

    switch (of) {
    case BY_COST: return ft__serve_cost(s, x->price_per_s).value;
    case BY_ENERGY: return s->joules_per_token.value;
    case BY_POWER: return s->power_w.value;
    case BY_TTFT: return latency_of(s, FT_SERVE_TTFT, p);
    case BY_TPOT: return latency_of(s, FT_SERVE_TPOT, p);
    case BY_ITL: return latency_of(s, FT_SERVE_ITL, p);
    case BY_E2E: return latency_of(s, FT_SERVE_E2E, p);
    case BY_USER: return 1 / s->tokens_per_s_per_user.value;
    case BY_DEVICE: return 1 / s->tokens_per_s_per_device.value;
    case N_QUANTITIES: break;
    }
    return NAN;
}

/* ---- options ---- */

static bool point_of(ft_serve_point *out, const char *text)
{
    static const char *const name[FT_SERVE_POINT_COUNT] = {"", "-p50", "-p90", "-p99"};

    for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
        if (strcmp(text, name[p]) == 0) {
            *out = (ft_serve_point)p;
            return true;
        }
    return false;
}

static int read_limit(struct ranking *r, const char *text)
{
    static const char *const units[] = {
        [BY_COST] = "=1", [BY_ENERGY] = "=1 J=1 mJ=1e-3", [BY_POWER] = "=1 W=1 kW=1e3"};
    struct limit *l = &r->limit[r->n_limits++];
    const size_t len = strcspn(text, "=");
    char word[32] = "", *point;
    int of = -1;

    *l = (struct limit){.text = text};
    if (len < sizeof(word) && text[len])
        memcpy(word, text, len);
    point = strstr(word, "-p");
    if (point && point_of(&l->point, point))
        *point = '\0';
    for (int i = 0; i <= BY_E2E; i++) {
        static const char *const name[] = {"cost", "energy", "power", "ttft",
                                           "tpot", "itl",    "e2e"};

        of = strcmp(name[i], word) == 0 ? i : of;
    }
    l->of = (quantity)of;
    if (of >= BY_TTFT
            ? ft__seconds_from_text(&l->most, text + len + 1) && l->most > 0
            : of >= 0 && ft__number_from_text(&l->most, text + len + 1, units[of]))
        return FT__EXIT_GOOD;
    return ft__usage(
        r->q->c,
        "--limit %s: of serving it wants ttft, tpot, itl or e2e, each also "
        "with -p50, -p90 or -p99, energy, power or cost, and the most of "
        "it, such as tpot=30ms",
        text);
}

static int read_options(struct ranking *r)
{
    const ft__rank_options *o = r->q->o;
    int of,
        code = ft__choice_parse(r->q->c, &of, "by", o->by ? o->by : "tokens-per-device",
                                quantity_names);

    r->by = (quantity)of;
    if (!code && o->limits.n > FT_RANK_MAX_LIMITS)
        code = ft__usage(r->q->c, "at most %d of --limit", FT_RANK_MAX_LIMITS);
    for (size_t i = 0; i < o->limits.n && !code; i++)
        code = read_limit(r, o->limits.v[i]);
    if (!code && r->by == BY_COST && !o->prices.n)
        code = ft__usage(r->q->c, "--by cost wants --price D=PRICE/h");
    if (!code && (o->lists || o->batches || o->co2 || o->seed || o->asked.launch_time))
        code = ft__usage(r->q->c, "serving goes without --stdin, --batches, --co2, "
                                  "--seed and --launch-time");
    if (!code && o->correct && !ft__learned_is(o->correct))
        code = ft__usage(r->q->c,
                         "--correct %s: what is served is ranked by what verify "
                         "--learn wrote",
                         o->correct);
    if (!code)
        code = ft__operating_parse(r->q->c, &r->q->use, &o->use);
    if (!code && o->clocks)
        code =
            ft__clock_list_parse(r->q->c, r->q->clock_hz, &r->q->n_clocks, o->clocks);
    if (!code && o->use.clock && r->q->n_clocks)
        code = ft__usage(r->q->c, "--clock or --clocks, not both");
    if (!code)
        code = ft__serving_read(r->q->c, &r->serving, &o->serve);
    if (!code && o->correct)
        code = ft__learned_read(r->q->c, &r->serving.learned, o->correct);
    return code;
}

/* Lists that were not given. */
static void fill_lists(struct ranking *r)
{
    static const uint64_t ranks[] = {1, 2, 4, 8};
    ft__serving *s = &r->serving;
    const ft__serve_options *o = &r->q->o->serve;

    if (!o->tp) {
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
        if (!o->rate && !o->requests)
            r->load[i].concurrency = s->concurrency[i];
        ft__serving_followed(o, &r->load[i]);
    }
}

/* ---- plans ---- */

static int make_plan(struct ranking *r, struct plan *x)
{
    ft__rank_question *q = r->q;
    ft__setting_options use = q->use;
    int code;

    if (x->clock_hz > 0)
        ft__operating_set_clock(&use, x->clock_hz);
    code = ft__operating_setting(q->c, x->operating, &use, q->o->asked.setting);
    x->query = q->query;
    x->query.setting = x->operating;
    x->query.policy = use.policy;
    x->query.engine = q->o->engine;
    x->query.engine_version = q->o->asked.engine_version;
    if (!code)
        code =
            ft__cli_check_asked(q->c, ft__model_values_read(&x->values, &x->query,
                                                            &q->o->model, &q->c->err));
    if (!code)
        code = ft__serving_dims(q->c, &x->values, &x->query, &q->o->serve, x->tp,
                                x->weight_bits);
    x->query.model = q->c->args.v[0];
    return code;
}

static int make_plans(struct ranking *r)
{
    const ft__serving *s = &r->serving;
    const size_t clocks = r->q->n_clocks ? r->q->n_clocks : 1;
    int code = FT__EXIT_GOOD;

    if (s->n_precisions * s->n_tp * clocks > MOST_PLANS)
        return ft__usage(r->q->c, "more than %d of --precision, --tp and --clocks",
                         MOST_PLANS);
    for (size_t i = 0; i < s->n_precisions * s->n_tp * clocks && !code; i++) {
        struct plan *x = &r->plan[r->n_plans++];

        x->clock_hz = r->q->n_clocks ? r->q->clock_hz[i % clocks] : 0;
        x->tp = s->tp[i / clocks % s->n_tp];
        x->weight_bits = s->weight_bits[i / clocks / s->n_tp];
        code = make_plan(r, x);
    }
    return code;
}

static void *work_on_plans(void *user)
{
    struct ranking *r = user;
    size_t i;

    while ((i = atomic_fetch_add(&r->next, 1)) < r->n_plans)
        r->plan[i].st = ft_serve_plan_open(&r->plan[i].plan, &r->plan[i].query, r->load,
                                           r->serving.n_concurrency, &r->plan[i].err);
    return NULL;
}

/* ---- settings, on several threads ---- */

static void serve(struct ranking *r, size_t p, size_t d)
{
    const struct plan *x = &r->plan[p];
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
        struct setting *s = &r->setting[at * n + c];
        ft_serve_load load = r->load[c];
        ft_status of = st;

        ft__learned_take(&load, &r->serving.learned, r->q->device[d], x->tp,
                         query.engine);
        *s = (struct setting){.device = r->q->device[d],
                              .tp = x->tp,
                              .weight_bits = x->weight_bits,
                              .clock_hz = x->clock_hz,
                              .concurrency = r->load[c].concurrency,
                              .price_per_s = r->q->price_per_s[d]};
        if (!of)
            of = ft_serve_run(&s->s, r->steps[at], &load, &err);
        if (!of)
            continue;
        s->state =
            s->s.device && !s->s.fits && s->s.memory_bytes > 0 ? NO_FIT : UNKNOWN;
        snprintf(s->why, sizeof(s->why), "%.199s", err.msg);
    }
}

static void *work_on_settings(void *user)
{
    struct ranking *r = user;
    const size_t n = r->n_plans * r->q->n_devices;
    size_t i;

    while ((i = atomic_fetch_add(&r->next, 1)) < n)
        serve(r, i / r->q->n_devices, i % r->q->n_devices);
    return NULL;
}

static void on_threads(struct ranking *r, void *(*work)(void *))
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t thread[MOST_THREADS];
    size_t n = 0;

    atomic_store(&r->next, 0);
    while ((long)n + 1 < cores && n < MOST_THREADS &&
           !pthread_create(&thread[n], NULL, work, r))
        n++;
    work(r);
    while (n)
        pthread_join(thread[--n], NULL);
}

/* ---- order ---- */

static void judge(const struct ranking *r, struct setting *x)
{
    if (x->state != PLACED)
        return;
    for (uint32_t i = 0; i < r->n_limits; i++) {
        const struct limit *l = &r->limit[i];
        const double value = value_of(x, l->of, l->point), over = value / l->most - 1;

        if (!isfinite(value)) {
            x->state = UNKNOWN;
            snprintf(x->why, sizeof(x->why), "%s is not known", l->text);
            return;
        }
        if (over > x->excess) {
            x->state = OVER_LIMIT;
            x->excess = over;
            x->limit = i;
        }
    }
    if (x->state == PLACED && !isfinite(value_of(x, r->by, FT_SERVE_MEAN))) {
        x->state = UNKNOWN;
        snprintf(x->why, sizeof(x->why), "what it is ranked by is not known");
    }
}

static _Thread_local const struct ranking *sorted;

static int by_value(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const double x = value_of(&sorted->setting[i], sorted->by, FT_SERVE_MEAN);
    const double y = value_of(&sorted->setting[k], sorted->by, FT_SERVE_MEAN);

    return x < y ? -1 : x > y ? 1 : (i > k) - (i < k);
}

static bool dominates(const struct setting *a, const struct setting *b)
{
    static const quantity aims[] = {BY_USER, BY_DEVICE, BY_ENERGY, BY_COST};
    bool better = false;

    for (size_t i = 0; i < sizeof(aims) / sizeof(*aims); i++) {
        const double x = value_of(a, aims[i], FT_SERVE_MEAN);
        const double y = value_of(b, aims[i], FT_SERVE_MEAN);

        if (x > y)
            return false;
        better = better || x < y;
    }
    return better;
}

static void put_in_order(struct ranking *r)
{
    for (size_t i = 0; i < r->n; i++) {
        judge(r, &r->setting[i]);
        if (r->setting[i].state == PLACED)
            r->order[r->n_placed++] = i;
    }
    sorted = r;
    qsort(r->order, r->n_placed, sizeof(*r->order), by_value);
    for (size_t i = 0; i < r->n_placed; i++) {
        struct setting *x = &r->setting[r->order[i]];

        x->pareto = true;
        for (size_t k = 0; k < r->n_placed && x->pareto; k++)
            x->pareto = !dominates(&r->setting[r->order[k]], x);
    }
}

/* ---- the nearest better setting ---- */

/* Of those that miss a limit by half of it at most and are better than the first, the
 * one that misses least; NULL: none. */
static const struct setting *nearest_better(const struct ranking *r)
{
    const double best = r->n_placed
                            ? value_of(&r->setting[r->order[0]], r->by, FT_SERVE_MEAN)
                            : INFINITY;
    const struct setting *found = NULL;

    for (size_t i = 0; i < r->n; i++) {
        const struct setting *x = &r->setting[i];

        if (x->state == OVER_LIMIT && value_of(x, r->by, FT_SERVE_MEAN) < 0.98 * best &&
            (x->excess < 0.5 || !r->n_placed) && (!found || x->excess < found->excess))
            found = x;
    }
    return found;
}

static const char *precision_of(const struct setting *x)
{
    return x->weight_bits == 16  ? "bf16"
           : x->weight_bits == 8 ? "fp8"
           : x->weight_bits == 4 ? "fp4"
                                 : "as is";
}

static void say_nearest(char *out, size_t size, const struct ranking *r)
{
    const struct setting *x = nearest_better(r);
    const struct limit *l;
    char gain[64] = "meets all limits but one", clock[48] = "";

    *out = '\0';
    if (!x)
        return;
    l = &r->limit[x->limit];
    if (r->n_placed)
        snprintf(
            gain, sizeof(gain), "is %.0f %% better",
            100 * (1 - value_of(x, r->by, FT_SERVE_MEAN) /
                           value_of(&r->setting[r->order[0]], r->by, FT_SERVE_MEAN)));
    if (x->clock_hz > 0)
        snprintf(clock, sizeof(clock), " --clock %.0fMHz", x->clock_hz / 1e6);
    snprintf(out, size,
             "nearest better setting: %s, --tp %" PRIu64 " --concurrency %" PRIu64
             "%s%s%s, %s where %s may be %s",
             x->device, x->tp, x->concurrency, clock,
             x->weight_bits ? " --precision " : "",
             x->weight_bits ? precision_of(x) : "", gain, l->text,
             ft__text_in(quantity_unit[l->of], value_of(x, l->of, l->point)).s);
}

/* ---- printing ---- */

static size_t count_of(const struct ranking *r, state of)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += r->setting[i].state == of;
    return n;
}

static void print_no_hardware(const struct ranking *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct setting *x = &r->setting[i];
        bool said = x->state == UNKNOWN || x->state == NO_FIT || !*x->s.no_hardware;

        for (size_t k = 0; k < i && !said; k++)
            said = r->setting[k].s.no_hardware &&
                   strcmp(r->setting[k].s.no_hardware, x->s.no_hardware) == 0;
        if (!said)
            ft__put_line(stdout, "warning: ", x->s.no_hardware);
    }
}

static void print_rest(const struct ranking *r, uint64_t top)
{
    char nearest[400];

    if (r->serving.learned.n)
        printf("steps of the devices in %s are corrected by the runs measured there\n",
               r->q->o->correct);
    printf("%s: %zu placed", ft__text_counted(r->n, "setting").s, r->n_placed);
    if (r->n_placed > top)
        printf(" (--top %zu shows all)", r->n_placed);
    printf(", %zu too large, %zu over a limit, %zu not known\n", count_of(r, NO_FIT),
           count_of(r, OVER_LIMIT), count_of(r, UNKNOWN));
    for (size_t i = 0; i < r->n; i++)
        if (r->setting[i].state == UNKNOWN && *r->setting[i].why) {
            ft__put_line(stdout, "not known, the first: ", r->setting[i].why);
            break;
        }
    say_nearest(nearest, sizeof(nearest), r);
    if (*nearest)
        puts(nearest);
    print_no_hardware(r);
}

static bool print_text(const struct ranking *r, uint64_t top)
{
    ft__table *t = ft__table_new("place>u|device|?clock>|n>u|tp>u|users>u|weights|TTFT>"
                                 "s|TPOT>s|tokens/s a user>|a "
                                 "device>|J/token>J|?cost of 1e6>|Pareto",
                                 r->q->n_clocks > 0, r->q->o->prices.n > 0);

    ft__put_line(stdout, "", r->q->c->args.v[0]);
    putchar('\n');
    for (size_t i = 0; i < r->n_placed && i < top; i++) {
        const struct setting *x = &r->setting[r->order[i]];

        ft__table_row(t, i + 1, x->device, ft__text_hertz(x->clock_hz).s, x->s.devices,
                      x->tp, x->concurrency, precision_of(x),
                      value_of(x, BY_TTFT, FT_SERVE_MEAN),
                      value_of(x, BY_TPOT, FT_SERVE_MEAN),
                      ft__text_plain(x->s.tokens_per_s_per_user.value).s,
                      ft__text_plain(x->s.tokens_per_s_per_device.value).s,
                      x->s.joules_per_token.value,
                      ft__text_plain(value_of(x, BY_COST, FT_SERVE_MEAN)).s,
                      x->pareto ? "yes" : "");
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    putchar('\n');
    print_rest(r, top);
    return true;
}

static json_t *setting_json(const struct ranking *r, const struct setting *x,
                            uint64_t place)
{
    static const char *const name[] = {"placed", "does not fit", "over limit",
                                       "not known"};
    json_t *o = ft__json(
        "place:u device:s clock:g tp:u concurrency:u precision:z "
        "state:s limit:z why:z pareto:b",
        place, x->device, x->clock_hz > 0 ? x->clock_hz : NAN, x->tp, x->concurrency,
        x->weight_bits ? precision_of(x) : "", name[x->state],
        x->state == OVER_LIMIT ? r->limit[x->limit].text : "", x->why, x->pareto);

    if (x->state == PLACED || x->state == OVER_LIMIT)
        ft__json_set_take(&o, "served", ft__served_json(&x->s, x->price_per_s));
    return o;
}

static json_t *ranking_json(const struct ranking *r, uint64_t top)
{
    json_t *placed = json_array(), *others = json_array();
    char nearest[400];

    for (size_t i = 0; i < r->n_placed && i < top; i++)
        ft__json_append_take(&placed, setting_json(r, &r->setting[r->order[i]], i + 1));
    for (size_t i = 0; i < r->n && json_array_size(others) < top; i++)
        if (r->setting[i].state != PLACED)
            ft__json_append_take(&others, setting_json(r, &r->setting[i], 0));
    say_nearest(nearest, sizeof(nearest), r);
    return ft__json("model:s settings:u placed:o others:o nearest_better:z",
                    r->q->c->args.v[0], (uint64_t)r->n, placed, others, nearest);
}

/* ---- the command ---- */

static int make_room(struct ranking *r)
{
    const size_t steps = r->n_plans * r->q->n_devices;

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
static int check_plans(struct ranking *r)
{
    for (size_t i = 0; i < r->n_plans; i++)
        if (!r->plan[i].st)
            return FT__EXIT_GOOD;
    r->q->c->err = r->plan[0].err;
    return ft__cli_check_asked(r->q->c, r->plan[0].st);
}

static void free_ranking(struct ranking *r)
{
    for (size_t i = 0; r->steps && i < r->n_plans * r->q->n_devices; i++)
        ft_serve_steps_close(r->steps[i]);
    for (size_t i = 0; i < r->n_plans; i++) {
        ft_serve_plan_close(r->plan[i].plan);
        ft__model_values_free(&r->plan[i].values);
    }
    free(r->steps);
    free(r->setting);
    free(r->order);
    ft__serving_end(&r->serving);
    free(r);
}

/* By any name that devices have. */
static int price_devices(struct ranking *r)
{
    ft__rank_question *q = r->q;
    int code = FT__EXIT_GOOD;

    for (size_t d = 0; d < q->n_devices && !code; d++)
        code = ft__price_of(q->c, &q->price_per_s[d], &q->o->prices, q->device[d]);
    return code;
}

static int rank_all(struct ranking *r)
{
    const uint64_t top = r->q->o->top ? r->q->o->top : 20;
    int code;

    on_threads(r, work_on_plans);
    code = check_plans(r);
    if (!code)
        code = make_room(r);
    if (code)
        return code;
    on_threads(r, work_on_settings);
    put_in_order(r);
    code = ft__cli_done(r->q->c, r->q->c->json
                                     ? ft__cli_json_take(r->q->c, ranking_json(r, top))
                                     : print_text(r, top));
    if (!code && r->q->o->html)
        code = ft__record_save_take(r->q->c, r->q->o->html, ranking_json(r, top));
    return code ? code : r->n_placed ? FT__EXIT_GOOD : FT__EXIT_NO;
}

int ft__serve_rank(ft__rank_question *q)
{
    struct ranking *r = calloc(1, sizeof(*r));
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
    if (!code) {
        fill_lists(r);
        code = price_devices(r);
    }
    if (!code) {
        code = make_plans(r);
    }
    if (!code)
        code = rank_all(r);
    free_ranking(r);
    return code;
}
