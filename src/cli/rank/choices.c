/* rank MODEL: the ways to run one model, each with its estimate, in order; as text,
 * JSON and CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rank/rank.h"
#include "foretell/names.h"
#include "report/units.h"

/* ---- choices ---- */

static ft_estimate unavailable(const char *why)
{
    return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, why};
}

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
    x->time = x->energy = x->power = x->memory = unavailable("");
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
    if (x->energy.basis == FT_BASIS_UNAVAILABLE)
        snprintf(x->why, sizeof(x->why), "%s", a->energy.why);
}

static void take_warnings(ft__ranking *r, ft__choice *x, const ft_answer *a)
{
    for (size_t i = 0; i < a->n_warnings; i++) {
        const ft_remark *w = a->warning[i];

        if (w->code == FT_REMARK_FOLDED)
            snprintf(r->folded, sizeof(r->folded), "%s", w->text);
        x->no_hardware = x->no_hardware || w->code == FT_REMARK_NO_HARDWARE;
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

/* *asked but for network and device. */
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
    take_warnings(&q->r, x, a);
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

/* Is predictor i of device d? */
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

/* ---- the ranking ---- */

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

/* ==== printed ==== */

/* ---- numbers ---- */

static ft__formatted text_of(ft_rank_by q, double v)
{
    if (q == FT_RANK_BY_COST || q == FT_RANK_BY_EDP)
        return ft__text_plain(q == FT_RANK_BY_COST ? 1e6 * v : v);
    return ft__text_in(ft_name(FT_NAMES_RANK_UNIT, q), v);
}

/* The name of a column: a pass costs too little to be written without exponents. */
static const char *name_of(ft_rank_by q)
{
    return q == FT_RANK_BY_EDP    ? "edp (J s)"
           : q == FT_RANK_BY_COST ? "cost of a million"
                                  : ft_name(FT_NAMES_RANK_BY, q);
}

/* ---- ties: values that are one but for rounding share a place ---- */

static bool is_tied(const ft__ranking *r, size_t k, size_t j)
{
    const ft_estimate *a = &r->ranked[r->order[k]].value[r->how.by];
    const ft_estimate *b = &r->ranked[r->order[j]].value[r->how.by];

    return fabs(a->value - b->value) <= 1e-9 * fabs(a->value) &&
           isfinite(a->high) == isfinite(b->high);
}

/* Of the k-th in order; 0: it has none. */
static uint32_t place_of(const ft__ranking *r, size_t k)
{
    if (k >= r->n_placed)
        return 0;
    while (k > 0 && is_tied(r, k, k - 1))
        k--;
    return (uint32_t)k + 1;
}

/* How many share the first place. */
static size_t count_best(const ft__ranking *r)
{
    size_t n = r->n_placed > 0;

    while (n < r->n_placed && is_tied(r, n, 0))
        n++;
    return n;
}

/* ---- items ---- */

/* What a value is of, over an item. */
static double items_of(const ft__ranking *r, const ft__choice *x)
{
    return r->several_batches ? 1 : (double)x->batch;
}

static double items_per_s(const ft__ranking *r, size_t i)
{
    return items_of(r, &r->choice[i]) / r->ranked[i].value[FT_RANK_BY_TIME].value;
}

static double cost_per_item(const ft__ranking *r, size_t i)
{
    return r->ranked[i].value[FT_RANK_BY_COST].value / items_of(r, &r->choice[i]);
}

/* What has a column beside the quantity that was asked for. */
static bool beside(const ft__ranking *r, ft_rank_by q)
{
    if (q == FT_RANK_BY_COST) /* of an item; by cost that of a pass is there */
        return r->priced && (q != r->how.by || items_of(r, r->choice) > 1);
    if (q == r->how.by)
        return false;
    if (q == FT_RANK_BY_CO2)
        return r->co2;
    return q != FT_RANK_BY_EDP && q != FT_RANK_BY_POWER;
}

/* "a30 at batch 8 and 1200 MHz with torch 2.3.1, threads=1" */
static void name_choice(FILE *fp, const ft__ranking *r, const ft__choice *x)
{
    ft__put_clean(fp, x->device);
    if (r->several_batches)
        fprintf(fp, " at batch %" PRId64, x->batch);
    if (!isnan(x->clock_hz))
        fprintf(fp, "%s %s", r->several_batches ? " and" : " at",
                ft__text_hertz(x->clock_hz).s);
    if (!r->several_engines || !*x->engine)
        return;
    fputs(" with ", fp);
    ft__put_clean(fp, x->engine);
    fputs(", ", fp);
    ft__put_clean(fp, x->setting);
}

/* ---- the table ---- */

static ft__table *new_table(const ft__ranking *r)
{
    char columns[320];

    snprintf(columns, sizeof(columns),
             "#>n|device|?batch>i|?clock>Hz|%s>|low>|high>|?time>s|items/s>~|?energy>J|"
             "?memory>B|?cost of a million items>~|?co2>g||chance>%%|basis|?engine",
             name_of(r->how.by));
    return ft__table_new(columns, r->several_batches, r->several_clocks,
                         beside(r, FT_RANK_BY_TIME), beside(r, FT_RANK_BY_ENERGY),
                         beside(r, FT_RANK_BY_MEMORY), beside(r, FT_RANK_BY_COST),
                         beside(r, FT_RANK_BY_CO2), r->several_engines);
}

static void row(ft__table *t, const ft__ranking *r, size_t at)
{
    const size_t i = r->order[at];
    const ft__choice *x = &r->choice[i];
    const ft_ranked *k = &r->ranked[i];
    const ft_estimate *v = k->value, *by = &v[r->how.by];
    char engine[sizeof(x->engine) + sizeof(x->setting) + 4], marks[4];

    snprintf(engine, sizeof(engine), "%s%s%s", x->engine, *x->engine ? ", " : "",
             x->setting);
    snprintf(marks, sizeof(marks), "%s%s", k->pareto ? "*" : "", k->level ? "~" : "");
    ft__table_row(t, place_of(r, at), x->device, x->batch, x->clock_hz,
                  text_of(r->how.by, by->value).s, text_of(r->how.by, by->low).s,
                  text_of(r->how.by, by->high).s, v[FT_RANK_BY_TIME].value,
                  items_per_s(r, i), v[FT_RANK_BY_ENERGY].value,
                  v[FT_RANK_BY_MEMORY].value, 1e6 * cost_per_item(r, i),
                  v[FT_RANK_BY_CO2].value, marks, k->chance,
                  isfinite(by->high) ? ft_name(FT_NAMES_BASIS, by->basis)
                                     : "roofline: a lower bound",
                  engine);
}

static bool print_table(const ft__ranking *r, uint64_t top)
{
    ft__table *t;
    bool good;

    if (!r->n_placed)
        return true;
    t = new_table(r);
    for (size_t k = 0; k < r->n_placed && k < top; k++)
        row(t, r, k);
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    if (r->n_placed > top)
        printf("%zu more: --top\n", r->n_placed - (size_t)top);
    return good;
}

/* ---- what is not in the table ---- */

static void print_too_large(FILE *fp, const ft__ranking *r)
{
    for (size_t k = r->n_placed; k < r->n; k++) {
        const ft__choice *x = &r->choice[r->order[k]];

        if (r->ranked[r->order[k]].state != FT_RANK_TOO_LARGE)
            continue;
        fputs("does not fit: ", fp);
        name_choice(fp, r, x);
        fprintf(fp, ", %s of %s", ft__text_bytes(x->memory.value).s,
                ft__text_bytes(x->limit_bytes).s);
        if (x->max_batch == 0)
            fputs("; not even batch 1 does", fp);
        else if (x->max_batch > 0)
            fprintf(fp, "; the largest batch that does: %" PRId64, x->max_batch);
        putc('\n', fp);
    }
}

static void print_over_limits(FILE *fp, const ft__ranking *r)
{
    for (uint32_t l = 0; l < r->how.n_limits; l++) {
        size_t n = 0;

        for (size_t k = r->n_placed; k < r->n; k++) {
            const ft__choice *x = &r->choice[r->order[k]];
            const ft_ranked *v = &r->ranked[r->order[k]];

            if (v->state != FT_RANK_OVER_LIMIT || v->limit != l)
                continue;
            fprintf(fp, n++ ? ", " : "misses %s: ", r->limit_text[l]);
            name_choice(fp, r, x);
            if (r->how.limit[l].of == FT_RANK_BY_TIME)
                fprintf(fp, " (%s)", ft__text_seconds(x->time.value).s);
        }
        if (n)
            putc('\n', fp);
    }
}

static bool is_unknown(const ft__ranking *r, size_t k, const char *why)
{
    const ft_ranked *v = &r->ranked[r->order[k]];

    return v->state == FT_RANK_UNKNOWN && strcmp(v->why, why) == 0;
}

/* Devices of one reason beside each other. */
static void print_unknown(FILE *fp, const ft__ranking *r)
{
    for (size_t k = r->n_placed; k < r->n; k++) {
        const char *why = r->ranked[r->order[k]].why, *last = "";
        size_t first = r->n_placed;

        if (r->ranked[r->order[k]].state != FT_RANK_UNKNOWN)
            continue;
        while (!is_unknown(r, first, why))
            first++;
        if (first < k)
            continue;
        fputs("not known: ", fp);
        for (size_t j = k; j < r->n; j++) {
            const char *device = r->choice[r->order[j]].device;

            if (!is_unknown(r, j, why) || strcmp(device, last) == 0)
                continue;
            fprintf(fp, "%s%s", *last ? ", " : "", device);
            last = device;
        }
        ft__put_line(fp, ": ", why);
    }
}

/* ---- the answer ---- */

/* Names in a line: more are counted. */
enum { MOST_NAMES = 12 };

/* "a30, l4 and t4 cannot be distinguished" */
static void print_level(const ft__ranking *r)
{
    const char *name[FT_RANK_MAX_ENTRIES];
    size_t n = 0, shown;

    name[n++] = r->choice[r->order[0]].device;
    for (size_t k = 1; k < r->n_placed; k++) {
        const char *device = r->choice[r->order[k]].device;
        bool there = !r->ranked[r->order[k]].level;

        for (size_t i = 0; i < n && !there; i++)
            there = strcmp(name[i], device) == 0;
        if (!there)
            name[n++] = device;
    }
    if (n == 1)
        return;
    shown = n > MOST_NAMES ? MOST_NAMES - 1 : n;
    for (size_t i = 0; i < shown; i++)
        printf("%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", name[i]);
    if (n > shown)
        printf(" and %zu more", n - shown);
    puts(" cannot be distinguished (~): their intervals overlap");
}

static bool is_bound(const ft__ranking *r, size_t k)
{
    return !isfinite(r->ranked[r->order[k]].value[r->how.by].high);
}

/* For which devices measurements corrected the predictions. */
static void print_known(const ft__ranking *r)
{
    const char *last = "";

    for (size_t i = 0; i < r->n; i++) {
        const ft__choice *x = &r->choice[i];

        if (!x->n_known || strcmp(last, x->device) == 0)
            continue;
        printf("%s: corrected by %u measurements of it\n", x->device, x->n_known);
        last = x->device;
    }
}

/* Of those that share the first place. */
static double most_regret(const ft__ranking *r)
{
    double most = 0;

    for (size_t k = 0; k < count_best(r); k++)
        most = fmax(most, r->ranked[r->order[k]].regret);
    return most;
}

static void print_sureness(const ft__ranking *r)
{
    const ft_ranked *best = &r->ranked[r->order[0]];

    if (is_bound(r, 0)) {
        puts(
            "Only lower bounds are known: the order is that of the bounds, not of the "
            "devices.\nPredictors give more: foretell collect and train on the device, "
            "then --predictor.");
        return;
    }
    if (isfinite(best->regret) && count_best(r) > 1)
        printf("expected regret of taking one of them: up to %s\n",
               ft__text_percent(most_regret(r)).s);
    else if (isfinite(best->regret))
        printf("expected regret of this answer: %s\n",
               ft__text_percent(best->regret).s);
    else
        puts("Lower bounds stand behind estimates: what they bound may be better or "
             "worse, so there is no\nexpected regret.");
    print_level(r);
    print_known(r);
    if (best->risky)
        puts("its interval reaches beyond a limit");
}

/* What the stars are about. */
static void print_aims(const ft__ranking *r)
{
    static const ft_rank_by aim[] = {FT_RANK_BY_TIME, FT_RANK_BY_ENERGY,
                                     FT_RANK_BY_COST};
    const char *name[3];
    size_t n = 0;

    for (size_t i = 0; i < 3; i++) {
        bool known = true;

        for (size_t k = 0; k < r->n_placed; k++)
            known = known && isfinite(r->ranked[r->order[k]].value[aim[i]].value);
        if (known)
            name[n++] = ft_name(FT_NAMES_RANK_BY, aim[i]);
    }
    if (n == 0)
        return;
    printf("*: none beats it in %s", name[0]);
    for (size_t i = 1; i < n; i++)
        printf("%s%s", i + 1 == n ? " and " : ", ", name[i]);
    puts(n > 1 ? " at once" : "");
}

static void print_answer(const ft__ranking *r)
{
    const size_t n = count_best(r), shown = n > MOST_NAMES ? MOST_NAMES - 1 : n;

    if (!r->n_placed)
        return;
    print_aims(r);
    fputs(n > 1 ? "best: a tie of " : "best: ", stdout);
    for (size_t k = 0; k < shown; k++) {
        fputs(k == 0 ? "" : k + 1 == n ? " and " : ", ", stdout);
        name_choice(stdout, r, &r->choice[r->order[k]]);
    }
    if (n > shown)
        printf(" and %zu more", n - shown);
    putchar('\n');
    print_sureness(r);
}

/* Each device once, though it has several batches and clocks. */
static bool is_without_hardware(const ft__ranking *r, size_t i)
{
    const ft__choice *x = &r->choice[i];

    return x->no_hardware && (i == 0 || strcmp(x->device, x[-1].device) != 0);
}

/* Before the figures. */
static void print_warnings(const ft__ranking *r)
{
    const bool tf32 = strcmp(r->dtype, "fp32") == 0;
    size_t n = 0;

    if (*r->folded)
        ft__put_line(stdout, "warning: ", r->folded);
    for (size_t i = 0; i < r->n; i++)
        if (is_without_hardware(r, i)) {
            printf(n++ ? ", " : "warning: no hardware for %s: ",
                   tf32 ? "tf32" : r->dtype);
            ft__put_clean(stdout, r->choice[i].device);
        }
    if (n)
        puts(tf32 ? "; products are computed, and priced, in fp32"
                  : "; software converts it, or refuses to run; the times are guesses");
}

static bool print_text(const ft__ranking *r, uint64_t top)
{
    FILE *fp = r->n_placed ? stdout : stderr; /* why nothing is placed */
    bool good;

    ft__put_clean(stdout, r->model);
    printf(" by %s of %s%s\n", ft_name(FT_NAMES_RANK_BY, r->how.by),
           r->several_batches ? "an item, " : "", r->step);
    ft__model_print_assumptions(r->graph);
    printf("assumed: %s, %s\n", r->mode, r->dtype);
    print_warnings(r);
    good = print_table(r, top);
    putchar('\n');
    fflush(stdout);
    print_too_large(fp, r);
    print_over_limits(fp, r);
    print_unknown(fp, r);
    print_answer(r);
    return good;
}

/* ---- JSON and CSV ---- */

static const char *state_name(ft_rank_state s)
{
    static const char *const name[] = {"placed", "too_large", "over_limit", "unknown"};

    return name[s];
}

static json_t *values_json(const ft_ranked *k)
{
    json_t *o = json_object();

    for (uint32_t q = 0; q < FT_RANK_BY_COUNT; q++)
        ft__json_set_take(
            &o, ft_name(FT_NAMES_RANK_BY, q),
            ft__json_estimate(&k->value[q], ft_name(FT_NAMES_RANK_UNIT, q)));
    return o;
}

static json_t *choice_json(const ft__ranking *r, size_t at)
{
    const size_t i = r->order[at];
    const ft__choice *x = &r->choice[i];
    const ft_ranked *k = &r->ranked[i];

    return ft__json(
        "place:o device:s batch:u clock_hz:g engine:s setting:s state:s "
        "limit:s values:o memory_limit:g max_batch:l pareto:b level:b "
        "risky:b chance:g regret:g corrected_by:n "
        "items_per_s:g cost_per_item:g no_hardware:b",
        k->place ? ft__json_count(place_of(r, at)) : json_null(), x->device,
        (uint64_t)x->batch, x->clock_hz, x->engine, x->setting, state_name(k->state),
        k->state == FT_RANK_OVER_LIMIT ? r->limit_text[k->limit] : NULL, values_json(k),
        x->limit_bytes, x->max_batch, k->pareto, k->level, k->risky, k->chance,
        k->regret, x->n_known, items_per_s(r, i), cost_per_item(r, i), x->no_hardware);
}

static json_t *ranking_json(const ft__ranking *r)
{
    const char *const folded[] = {r->folded};
    json_t *all = json_array();

    for (size_t k = 0; k < r->n; k++)
        ft__json_append_take(&all, choice_json(r, k));
    return ft__json(
        "model:s by:s per:s mode:s step:s dtype:s assumptions:o warnings:o best:s "
        "regret:o tied:u choices:o",
        r->model, ft_name(FT_NAMES_RANK_BY, r->how.by),
        r->several_batches ? "item" : "pass", r->mode, r->step, r->dtype,
        ft__json_texts(r->graph->assumption, r->graph->n_assumptions),
        ft__json_texts(folded, *r->folded != '\0'),
        r->n_placed ? r->choice[r->order[0]].device : NULL,
        r->n_placed ? ft__json_real(r->ranked[r->order[0]].regret) : json_null(),
        (uint64_t)count_best(r), all);
}

static bool print_csv(const ft__ranking *r)
{
    static const char fields[] =
        "place:n device:s batch:i clock_hz:g state:s time_s:g energy_j:g power_w:g "
        "edp:g memory_bytes:g cost:g co2_g:g low:g high:g pareto:b level:b chance:g "
        "regret:g items_per_s:g cost_per_item:g";

    ft__csv_head(stdout, fields);
    for (size_t k = 0; k < r->n; k++) {
        const ft__choice *x = &r->choice[r->order[k]];
        const ft_ranked *v = &r->ranked[r->order[k]];
        const ft_estimate *e = v->value;

        ft__csv_row(stdout, fields, place_of(r, k), x->device, x->batch, x->clock_hz,
                    state_name(v->state), e[FT_RANK_BY_TIME].value,
                    e[FT_RANK_BY_ENERGY].value, e[FT_RANK_BY_POWER].value,
                    e[FT_RANK_BY_EDP].value, e[FT_RANK_BY_MEMORY].value,
                    e[FT_RANK_BY_COST].value, e[FT_RANK_BY_CO2].value, e[r->how.by].low,
                    e[r->how.by].high, v->pareto, v->level, v->chance, v->regret,
                    items_per_s(r, r->order[k]), cost_per_item(r, r->order[k]));
    }
    return true;
}

/* In the form that the global options ask for. */
static bool print_ranking(const ft__cli *c, const ft__ranking *r, uint64_t top)
{
    return c->json  ? ft__cli_json_take(c, ranking_json(r))
           : c->csv ? print_csv(r)
                    : print_text(r, top);
}

/* ==== all of it ==== */

int ft__rank_choices(ft__rank_question *q)
{
    int code = find_choices(q);

    if (!code)
        code = check_known(q);
    if (!code)
        code = rank(q);
    if (!code)
        code =
            ft__cli_done(q->c, print_ranking(q->c, &q->r, q->o->top ? q->o->top : 20));
    if (!code && q->o->html)
        code = ft__record_save_take(q->c, q->o->html, ranking_json(&q->r));
    return code ? code : verdict(q);
}
