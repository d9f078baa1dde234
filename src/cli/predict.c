/* foretell predict: before anything runs. */
#include "cli/predict.h"
#include "cli/llm_memory.h"
#include "cli/llm_train.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/serve.h"
#include "cli/session.h"
#include "foretell/timeline.h"
#include "report/units.h"

static const ft__option options[] = {
    FT__TEXT(ft__predict_options, device, "device", "D[,D2...]",
             "local (this machine, the default) or names of foretell devices"),
    FT__INPUT(ft__predict_options, predictor, "predictor", "P.ftp",
              "use this predictor; the one train made"),
    FT__TEXT(
        ft__predict_options, method, "method", "NAME",
        "physics, roofline or paleo: from a device's data sheet alone, whatever was "
        "learned"),
    FT__ENGINE_OPTIONS(ft__predict_options, "the software that will run it; ",
                       "threads it may use; "),
    FT__COUNT(ft__predict_options, top, "top", "N",
              "how many of the heaviest operations to list; 10"),
    FT__FLAG(ft__predict_options, summary, "summary",
             "the network alone, without its operations"),
    FT__HTML_OPTION(ft__predict_options),
    FT__OUTPUT(ft__predict_options, trace, "trace", "FILE",
               "also write the operations in time, with memory and power: trace events "
               "for Perfetto"),
    FT__FLAG(ft__predict_options, max_batch, "max-batch",
             "the largest batch that fits the device's memory, too"),
    FT__FLAG(ft__predict_options, must_fit, "must-fit",
             "exit code 1 when the device's memory is too small"),
    FT__GROUP(ft__predict_options, use, ft__operating_table),
    FT__TEXT(ft__predict_options, clocks, "clocks", "MHZ,...",
             "at each of these core clocks, and which takes the least energy"),
    FT__TEXT(ft__predict_options, power_caps, "power-caps", "WATTS,...",
             "under each of these power caps, and which takes the least energy"),
    FT__INPUT(ft__predict_options, correct, "correct", "STORE|CSV", FT__CORRECT_HELP),
    FT__GROUP(ft__predict_options, asked, ft__query_table),
    FT__NETWORK_OPTIONS(ft__predict_options),
    FT__GROUP(ft__predict_options, serve, ft__serve_table),
    FT__GROUP(ft__predict_options, train, ft__llm_train_table),
    FT__TEXTS(ft__predict_options, serve.prices, "price", "D=PRICE/h",
              "serving: what a device costs; may be repeated, without D= of all"),
    {0},
};

struct swept_answer {
    ft_answer *x;
    double point; /* clock or cap that was asked for; NaN: as it comes */
    ft__server_memory server;
};

/* What is swept. */
enum sweep { SWEEP_NOTHING, SWEEP_CLOCKS, SWEEP_CAPS };

/* ---- text ---- */

static void total_row(ft__table *t, const char *name, const ft_estimate *e,
                      const char *unit)
{
    ft__table_row(t, name, ft__text_in(unit, e->value).s, ft__text_in(unit, e->low).s,
                  ft__text_in(unit, e->high).s, ft_name(FT_NAMES_BASIS, e->basis));
}

static void part_row(ft__table *t, const char *name, double bytes)
{
    char indented[64];

    snprintf(indented, sizeof(indented), "  %s", name);
    ft__table_row(t, indented, ft__text_bytes(bytes).s, "", "", "");
}

static bool is_training(const ft_answer *a)
{
    return a->graph->mode == FT_MODE_TRAINING;
}

static void memory_rows(ft__table *t, const ft_answer *a)
{
    const char *const name[FT_PART_COUNT] = {
        [FT_PART_WEIGHTS] = "weights",
        [FT_PART_INPUTS] = "inputs",
        [FT_PART_GRADIENTS] = "gradients",
        [FT_PART_STATE] = "optimizer state",
        [FT_PART_SAVED] = "saved activations",
        [FT_PART_ACTIVATIONS] = is_training(a) ? "other activations" : "activations",
        [FT_PART_WORKSPACE] = "workspace",
    };

    total_row(t, "peak memory", &a->memory, "B");
    for (int p = 0; p < FT_PART_COUNT; p++)
        if (!(a->part_bytes[p] <= 0) || p == FT_PART_ACTIVATIONS)
            part_row(t, name[p], a->part_bytes[p]);
    part_row(t, "process", a->context_bytes);
}

static void phase_rows(ft__table *t, const ft_answer *a)
{
    char name[32];

    for (int p = 0; p < FT_PHASE_COUNT; p++)
        if (a->phase_time[p].value > 0) {
            snprintf(name, sizeof(name), "  %s", ft_phase_name((ft_phase)p));
            total_row(t, name, &a->phase_time[p], "s");
        }
}

/* Whether the device's memory is large enough; NaN: not known. */
static double spare_bytes(const ft_answer *a)
{
    return a->limit_bytes - a->memory.value;
}

static void print_fit(const ft_answer *a)
{
    double spare = spare_bytes(a);

    if (!isfinite(spare))
        return;
    printf("fits in the device's %s: %s, %s %s%s\n", ft__text_bytes(a->limit_bytes).s,
           spare >= 0 ? "yes" : "no", ft__text_bytes(fabs(spare)).s,
           spare >= 0 ? "to spare" : "too much",
           isfinite(a->context_bytes) ? "" : ", driver and framework not counted");
    if (a->max_batch == 0)
        puts("largest batch that fits: none, not even 1");
    else if (a->max_batch > 0)
        printf("largest batch that fits: %" PRId64 "%s\n", a->max_batch,
               a->max_batch >= 1 << 20 ? " or more" : "");
}

/* Who sets the pace: the host that issues, or the device that executes. */
static void print_pace(const ft_answer *a)
{
    const bool named =
        a->by == FT_ANSWERED_BY_FAMILY && *a->host && strcmp(a->host, "not known") != 0;

    if (!isfinite(a->host_s))
        return;
    printf("the host%s%s issues everything in %s, the device executes it in %s: the %s "
           "sets the time\n",
           named ? " " : "", named ? a->host : "", ft__text_seconds(a->host_s).s,
           ft__text_seconds(a->busy_s).s, a->host_s > a->busy_s ? "host" : "device");
}

/* Operations that take no time: nobody measures, or estimates, them. */
static uint32_t n_views(const ft_answer *a)
{
    return a->n_ops - a->n_measured - a->n_learned - a->n_scaled - a->n_roofline;
}

/* How far the figures can be trusted. */
static void print_sureness(const ft_answer *a)
{
    if (a->by == FT_ANSWERED_BY_FAMILY)
        printf("learned from several devices, %s %s: %s\n", a->device,
               a->among ? "among them" : "not among them", a->predictor);
    if (a->n_known)
        printf("corrected by %u measurements of %s\n", a->n_known, a->device);
    if (a->n_networks)
        printf("host and device as %u networks of %s showed\n", a->n_networks,
               a->device);
    if (a->by != FT_ANSWERED_BY_SPECIFICATION) {
        printf("low .. high is a 90 %% interval; %u unique operations: %u measured, %u "
               "learned, %u scaled, %u roofline%s\n",
               a->n_ops, a->n_measured, a->n_learned, a->n_scaled, a->n_roofline,
               n_views(a) ? ", the others take no time" : "");
        return;
    }
    if (strcmp(a->method, "physics") == 0)
        puts("Nothing was measured on this device: scaled from its data sheet by what "
             "operations do on\nothers; low .. high is a 90 % interval.");
    else if (a->lower_bound)
        puts("This is a lower bound, not an expectation: the device's data sheet alone "
             "was used (roofline);\nreal times are longer, often several times.");
    else
        puts("PALEO: the device's data sheet alone was used, as if every operation "
             "reached its peak rate;\nhow far real times are from it is not known.");
}

static bool print_totals(const ft_answer *a, bool verbose)
{
    ft__table *t =
        ft__table_new(is_training(a) ? "of one step|estimate>|low>|high>|basis"
                                     : "of one pass|estimate>|low>|high>|basis");
    bool good;

    total_row(t, "time", &a->time, "s");
    if (is_training(a))
        phase_rows(t, a);
    total_row(t, "energy", &a->energy, "J");
    total_row(t, "power", &a->power, "W");
    memory_rows(t, a);
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    print_fit(a);
    if (verbose)
        ft__memory_print_rules(a->two_largest_bytes, a->twice_mean_bytes);
    if (a->energy.basis == FT_BASIS_UNAVAILABLE) {
        ft__put_line(stdout, "energy and power are unavailable: ", a->energy.why);
    }
    print_pace(a);
    print_sureness(a);
    return good;
}

/* There is one figure for an operation and nothing else. */
static bool bare(const ft_answer *a)
{
    return a->by == FT_ANSWERED_BY_SPECIFICATION && strcmp(a->method, "physics") != 0;
}

static bool print_heaviest(const ft_answer *a, uint64_t top)
{
    /* A spec that is shortened on a narrow terminal would not say its phase. */
    ft__table *t = ft__table_new("operation<|?phase|count>u|share>%|total>s|each>s|"
                                 "?low>s|?high>s|?basis",
                                 is_training(a), !bare(a), !bare(a), !bare(a));

    for (uint32_t i = 0; i < a->n_ops && i < top; i++) {
        const ft_answer_op *op = a->heaviest[i];
        const ft_estimate *e = &op->device_time;

        ft__table_row(t, op->spec, ft_phase_name(op->op->phase), op->count, op->share,
                      op->total_s, e->value, e->low, e->high,
                      ft_name(FT_NAMES_BASIS, e->basis));
    }
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

/* Those of one kind; what goes behind each. */
static void print_assumptions(const ft_answer *a, ft_remark_code code, const char *more)
{
    for (size_t i = 0; i < a->n_assumptions; i++)
        if (a->assumption[i]->code == code) {
            fputs("assumed: ", stdout);
            ft__put_clean(stdout, a->assumption[i]->text);
            puts(more);
        }
}

/* Of all answers, each once. */
static void print_all_assumptions(const struct swept_answer *a, size_t n)
{
    const ft_answer *allocated = NULL;
    bool all = true;

    print_assumptions(a[0].x, FT_REMARK_MODEL, "");
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(a[i].x->device, a[i - 1].x->device) != 0)
            print_assumptions(a[i].x, FT_REMARK_DEVICE, "");
        all = all && !a[i].x->memory_planned;
        allocated = a[i].x->memory_planned ? allocated : a[i].x;
    }
    print_assumptions(a[0].x, FT_REMARK_RUN, "");
    if (allocated)
        print_assumptions(allocated, FT_REMARK_MEMORY,
                          all ? "" : ", where there is no predictor");
}

static void print_title(const ft_answer *a)
{
    const char *const part[][2] = {{"", a->graph->name},
                                   {" on ", a->device},
                                   {": ", a->title},
                                   {*a->engine ? "; " : "", a->engine},
                                   {*a->setting ? ", " : "", a->setting}};

    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
        fputs(part[i][0], stdout);
        ft__put_clean(stdout, part[i][1]);
    }
    putchar('\n');
}

static bool warns(const ft_answer *a, const ft_remark *of)
{
    for (size_t i = 0; i < a->n_warnings; i++)
        if (strcmp(a->warning[i]->text, of->text) == 0)
            return true;
    return false;
}

/* Of what was asked, before the figures; or of the figures, behind them. last: the
 * answer before, whose warnings have been said, or NULL. */
static void print_warnings(const ft_answer *a, bool before, const ft_answer *last)
{
    for (size_t i = 0; i < a->n_warnings; i++)
        if ((a->warning[i]->code >= FT_REMARK_FOLDED) == before &&
            !(last && warns(last, a->warning[i])))
            ft__put_line(stdout, "warning: ", a->warning[i]->text);
}

static void print_all_warnings(const struct swept_answer *a, size_t n, bool before)
{
    for (size_t i = 0; i < n; i++)
        print_warnings(a[i].x, before, i ? a[i - 1].x : NULL);
}

/* In words: assumptions, totals, the `top` heaviest operations, what was bounded,
 * warnings, the command that verifies. False: out of memory. */
static bool print_answer(const ft_answer *a, const ft__cli *c, uint64_t top)
{
    print_title(a);
    print_warnings(a, true, NULL);
    for (size_t i = 0; i < a->n_assumptions; i++)
        ft__put_line(stdout, "assumed: ", a->assumption[i]->text);
    if (!print_totals(a, c->verbose > 0) || (top && !print_heaviest(a, top)))
        return false;
    putchar('\n');
    ft__model_print_bounded(a->graph);
    print_warnings(a, false, NULL);
    if (*a->verify)
        printf("verify%s%s: %s\n",
               strcmp(a->device, "local") != 0 ? " on that device" : "",
               strcmp(c->args.v[0], "-") == 0 ? ", with the same standard input" : "",
               a->verify);
    else if (a->by != FT_ANSWERED_BY_DEVICE)
        puts("to verify it: no engine of foretell runs it on that device");
    else
        puts("to verify it takes an engine that runs training steps: --engine torch");
    return true;
}

static ft__formatted point_text(enum sweep sweep, double v)
{
    return sweep == SWEEP_CAPS ? ft__text_watts(v) : ft__text_hertz(v);
}

/* Energy, times the time as often as `delay` says; NaN: not known. */
static double cost(const struct swept_answer *a, int delay)
{
    const double e = a->x->energy.value;

    return e > 0 ? e * pow(a->x->time.value, delay) : (double)NAN;
}

/* Which of a[n] costs least; n: none is known. */
static size_t cheapest(const struct swept_answer *a, size_t n, int delay)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++)
        if (cost(&a[i], delay) > 0 &&
            (best == n || cost(&a[i], delay) < cost(&a[best], delay)))
            best = i;
    return best;
}

/* At which of its clocks or caps a device takes the least energy and the least energy x
 * time, and what that costs. */
static void print_best(const struct swept_answer *a, size_t n, enum sweep sweep)
{
    static const char *const name[] = {"energy", "energy x time"};
    const char *where = sweep == SWEEP_CAPS ? "under" : "at";
    size_t fastest = 0;

    for (size_t i = 0; i < n; i++)
        if (a[i].x->time.value < a[fastest].x->time.value)
            fastest = i;
    for (int delay = 0; delay < 2; delay++) {
        const size_t best = cheapest(a, n, delay);

        if (best == n)
            return;
        printf("least %s on %s: %s %s, %s of the energy and %s of the time %s %s\n",
               name[delay], a->x->device, where, point_text(sweep, a[best].point).s,
               ft__text_percent(a[best].x->energy.value / a[fastest].x->energy.value).s,
               ft__text_percent(a[best].x->time.value / a[fastest].x->time.value).s,
               where, point_text(sweep, a[fastest].point).s);
    }
}

static void print_all_best(const struct swept_answer *a, size_t n, enum sweep sweep)
{
    for (size_t first = 0, end; first < n; first = end) {
        end = first;
        while (end < n && strcmp(a[end].x->device, a[first].x->device) == 0)
            end++;
        print_best(a + first, end - first, sweep);
    }
}

/* Several devices, or clocks or caps of them, beside each other. */
static bool print_answers(const struct swept_answer *a, size_t n, enum sweep sweep)
{
    ft__table *t =
        ft__table_new("device|?clock>Hz|?cap>W|time>s|low>s|high>s|"
                      "?power>W|energy>J|memory>B|fits|?largest batch>i|basis",
                      sweep == SWEEP_CLOCKS, sweep == SWEEP_CAPS,
                      sweep != SWEEP_NOTHING, a[0].x->max_batch >= 0);
    bool good;

    ft__put_line(stdout, "", a[0].x->graph->name);
    print_all_warnings(a, n, true);
    print_all_assumptions(a, n);
    for (size_t i = 0; i < n; i++) {
        const ft_answer *x = a[i].x;
        double spare = spare_bytes(x);

        ft__table_row(t, x->device, a[i].point, a[i].point, x->time.value, x->time.low,
                      x->time.high, x->power.value, x->energy.value, x->memory.value,
                      !isfinite(spare) ? "-"
                      : spare >= 0     ? "yes"
                                       : "no",
                      x->max_batch,
                      x->lower_bound ? "roofline: a lower bound"
                                     : ft_name(FT_NAMES_BASIS, x->time.basis));
    }
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    if (sweep != SWEEP_NOTHING)
        print_all_best(a, n, sweep);
    puts("- is not known; asked about one device alone, foretell says why\n");
    ft__model_print_bounded(a[0].x->graph);
    print_all_warnings(a, n, false);
    return good;
}

/* ---- JSON and CSV ---- */

static json_t *warnings_json(const ft_answer *a)
{
    json_t *all = json_array();

    for (size_t i = 0; i < a->n_warnings; i++)
        ft__json_append_take(&all, ft__json_text(a->warning[i]->text));
    return all;
}

static json_t *memory_json(const ft_answer *a)
{
    json_t *o = ft__json("total:e(B)", &a->memory);

    for (uint32_t p = 0; p < FT_PART_COUNT; p++)
        ft__json_set_take(&o, ft_name(FT_NAMES_PART, p),
                          ft__json_real(a->part_bytes[p]));
    return ft__json_join_take(
        o, ft__json("context:g two_largest:g twice_mean:g counted_as:s",
                    a->context_bytes, a->two_largest_bytes, a->twice_mean_bytes,
                    a->memory_planned ? "planned" : "allocated"));
}

/* null where the device's memory is not known. */
static json_t *fit_json(const ft_answer *a)
{
    double spare = spare_bytes(a);

    if (!isfinite(spare))
        return json_null();
    return ft__json("fits:b limit:g spare:g max_batch:l", spare >= 0, a->limit_bytes,
                    spare, a->max_batch);
}

static json_t *phases_json(const ft_answer *a)
{
    json_t *all = json_array();

    for (int p = 0; p < FT_PHASE_COUNT; p++)
        if (a->phase_time[p].value > 0)
            ft__json_append_take(&all, ft__json("phase:s time:e(s)",
                                                ft_phase_name((ft_phase)p),
                                                &a->phase_time[p]));
    return all;
}

static json_t *ops_json(const ft_answer *a)
{
    json_t *all = json_array();

    for (uint32_t k = 0; k < a->n_ops; k++) {
        const ft_answer_op *op = a->heaviest[k];

        ft__json_append_take(&all, ft__json("spec:s count:u share:g time:e(s) "
                                            "device_time:e(s) power:e(W) energy:e(J)",
                                            op->spec, op->count, op->share, &op->time,
                                            &op->device_time, &op->power, &op->energy));
    }
    return all;
}

static json_t *answer_json(const struct swept_answer *asked, bool summary)
{
    const ft_answer *a = asked->x;
    json_t *all = ft__json(
        "model:s device:s known_as:s engine:s mode:s step:s batch:o dtype:s setting:s "
        "assumptions:o time:e(s) phases:o energy:e(J) power:e(W) memory:o fit:o "
        "flops:g ops:o bounded:o warnings:o lower_bound:b verify:z run_mode:s host:z "
        "host_s:g busy_s:g family:s corrected_by:n schedule_networks:n",
        a->model, a->device, a->title, a->engine, a->mode, a->step,
        a->batch ? ft__json_count((uint64_t)a->batch) : json_null(), a->dtype,
        a->setting, ft__json_texts(a->graph->assumption, a->graph->n_assumptions),
        &a->time, phases_json(a), &a->energy, &a->power, memory_json(a), fit_json(a),
        a->flops, summary ? json_null() : ops_json(a),
        ft__json_texts(a->graph->bounded, a->graph->n_bounded), warnings_json(a),
        a->lower_bound, a->verify, a->run_mode, a->host, a->host_s, a->busy_s,
        a->by == FT_ANSWERED_BY_FAMILY ? a->predictor : NULL, a->n_known,
        a->n_networks);

    if (asked->server.known)
        ft__json_set_take(&all, "server", ft__server_memory_json(&asked->server));
    return all;
}

/* One line an operation. */
static void print_csv(const struct swept_answer *a, size_t n)
{
    static const char fields[] =
        "device:s spec:s count:u time_s:g low_s:g high_s:g basis:s";

    ft__csv_head(stdout, fields);
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < a[k].x->n_ops; i++) {
            const ft_answer_op *op = a[k].x->op[i];

            ft__csv_row(stdout, fields, a[k].x->device, op->spec, op->count,
                        op->time.value, op->time.low, op->time.high,
                        ft_name(FT_NAMES_BASIS, op->time.basis));
        }
}

/* ---- asking ---- */

enum { MAX_ANSWERS = 256, MAX_NAME = 128 };

/* One answer for each device, and clock or cap. 0: too many, or an empty name. */
static size_t count_answers(const ft__predict_question *q, const char *list)
{
    char name[MAX_NAME];
    size_t n = 0;

    while (ft__word_next(name, sizeof(name), &list)) {
        n += q->n_points ? q->n_points : 1;
        if (!*name || n > MAX_ANSWERS)
            return 0;
    }
    return n;
}

static int ask_one(struct swept_answer *out, const ft__predict_question *q,
                   ft_data *data, const char *device, const double *point)
{
    ft_query query = q->query;
    ft__setting_options use = q->use;
    char setting[FT__SETTING_MAX];
    ft_status st;
    int code;

    if (point && q->caps)
        ft__operating_set_cap(&use, *point);
    else if (point)
        ft__operating_set_clock(&use, *point);
    out->point = point ? *point : (double)NAN;
    code = ft__operating_setting(q->c, setting, &use, q->o->asked.setting);
    if (code)
        return code;
    query.device = device;
    query.setting = setting;
    st = ft_query_ask(&out->x, data, &query, &q->c->err);
    if (!st && q->o->max_batch)
        st = ft__server_memory_ask(&out->server, &query, out->x->limit_bytes,
                                   &q->c->err);
    if (st)
        return ft__cli_check_asked(q->c, st);
    if (q->o->must_fit && !(out->x->limit_bytes > 0))
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "--must-fit: the memory of %s is not known",
                            out->x->device);
    return FT__EXIT_GOOD;
}

static int ask_all(struct swept_answer *a, const ft__predict_question *q, ft_data *data,
                   const char *list)
{
    const size_t n_points = q->n_points ? q->n_points : 1;
    char device[MAX_NAME];
    int code = FT__EXIT_GOOD;

    while (!code && ft__word_next(device, sizeof(device), &list))
        for (size_t k = 0; k < n_points && !code; k++)
            code = ask_one(a++, q, data, device, q->n_points ? &q->point[k] : NULL);
    return code;
}

/* What --html draws. */
static json_t *page_of(ft__cli *c, const struct swept_answer *a, size_t n)
{
    const ft_answer *answer[MAX_ANSWERS];
    const ft_device_facts *facts[MAX_ANSWERS] = {0};
    ft_device *device[MAX_ANSWERS] = {0};
    char data_dir[FT__PATH_MAX];
    json_t *page;

    ft__path_data(c, data_dir);
    for (size_t i = 0; i < n; i++) {
        answer[i] = a[i].x;
        /* Of this machine there is no file, and no roofline. */
        if (!ft_device_load(&device[i], data_dir, a[i].x->device, NULL))
            facts[i] = ft_device_get(device[i]);
    }
    page = ft__prediction_page(answer, facts, n);
    for (size_t i = 0; i < n; i++)
        ft_device_free(device[i]);
    return page;
}

static bool print_all(ft__cli *c, const struct swept_answer *a, size_t n,
                      enum sweep sweep, const ft__predict_options *o)
{
    json_t *all;

    if (c->reply && c->reply->page)
        return ft__cli_json_take(c, page_of(c, a, n));
    if (c->csv)
        print_csv(a, n);
    if (c->csv)
        return true;
    if (!c->json && n > 1)
        return print_answers(a, n, sweep);
    if (!c->json) {
        const bool good = print_answer(a->x, c, o->summary ? 0 : o->top ? o->top : 10);

        if (good && a->server.known)
            ft__server_memory_print(&a->server);
        return good;
    }
    if (n == 1)
        return ft__cli_json_take(c, answer_json(a, o->summary));
    all = json_array();
    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, answer_json(&a[i], o->summary));
    return ft__cli_json_take(c, all);
}

/* ---- files ---- */

static int save_files(const ft__predict_question *q, const struct swept_answer *a,
                      size_t n)
{
    int code = q->o->html ? ft__page_save_take(q->c, q->o->html, FT__PAGE_PREDICT,
                                               page_of(q->c, a, n))
                          : FT__EXIT_GOOD;

    if (!code && q->o->trace)
        code = ft__cli_check(q->c, ft_answer_trace(a->x, q->o->trace, &q->c->err));
    return code;
}

/* What does not fit and must is an answer, and it is "no". */
static int verdict(const ft__predict_question *q, const struct swept_answer *a,
                   size_t n)
{
    for (size_t i = 0; i < n && q->o->must_fit; i++)
        if (a[i].x->memory.value > a[i].x->limit_bytes)
            return FT__EXIT_NO;
    return FT__EXIT_GOOD;
}

/* Of this machine an engine without a predictor is one that could make it. */
static int check_engine(const ft__predict_question *q, const char *list)
{
    const ft__predict_options *o = q->o;
    char device[MAX_NAME], path[FT__PATH_MAX];
    bool local = false;

    while (ft__word_next(device, sizeof(device), &list))
        local = local || strcmp(device, "local") == 0;
    if (!local || !o->engine || o->predictor)
        return FT__EXIT_GOOD;
    ft__path_predictor(path, o->engine, o->threads);
    return ft__path_exists(path) ? FT__EXIT_GOOD : ft__engine_needed(q->c, o->engine);
}

static int answer_all(const ft__predict_question *q, ft_data *data)
{
    const char *list = q->o->device ? q->o->device : "local";
    const enum sweep sweep = !q->n_points ? SWEEP_NOTHING
                             : q->caps    ? SWEEP_CAPS
                                          : SWEEP_CLOCKS;
    struct swept_answer a[MAX_ANSWERS] = {0};
    size_t n = count_answers(q, list), n_known = 0;
    int code;

    if (!n)
        return ft__usage(q->c,
                         "--device wants names joined by commas, at most %d answers "
                         "in all, not \"%s\"",
                         MAX_ANSWERS, list);
    if (q->o->summary && q->c->csv)
        return ft__usage(q->c, "--csv lists operations, and --summary none");
    if (q->o->trace && n > 1)
        return ft__usage(q->c, "--trace is of one device, clock and cap, not of %zu",
                         n);
    code = check_engine(q, list);
    if (!code)
        code = ask_all(a, q, data, list);
    for (size_t i = 0; i < n && !code; i++)
        n_known += a[i].x->n_known;
    if (!code && q->o->correct && !n_known)
        code = ft__nothing_corrected(q->c, q->o->correct);
    if (!code)
        code = ft__cli_done(q->c, print_all(q->c, a, n, sweep, q->o));
    if (!code)
        code = save_files(q, a, n);
    if (!code)
        code = verdict(q, a, n);
    for (size_t i = 0; i < n; i++)
        ft_answer_free(a[i].x);
    return code;
}

int ft__predict_read(ft__predict_question *q)
{
    const ft__predict_options *o = q->o;
    ft_status st;
    int code = ft__step_parse(q->c, &q->step, &o->step);

    if (!code)
        code = ft__operating_parse(q->c, &q->use, &o->use);
    if (!code)
        code = ft__operating_setting(q->c, q->setting, &q->use, o->asked.setting);
    if (!code && o->clocks)
        code = ft__clock_list_parse(q->c, q->point, &q->n_points, o->clocks);
    if (!code && o->use.clock && q->n_points)
        code = ft__usage(q->c, "--clock or --clocks, not both");
    if (!code && o->power_caps && (o->clocks || o->use.power_cap))
        code = ft__usage(q->c, "--power-caps goes without --clocks and --power-cap");
    q->caps = o->power_caps;
    if (!code && q->caps)
        code = ft__cap_list_parse(q->c, q->point, &q->n_points, o->power_caps);
    if (code)
        return code;
    q->query = (ft_query)FT_QUERY_INIT;
    q->query.mode = o->step.mode;
    q->query.optimizer = o->step.optimizer;
    q->query.loss = o->step.loss;
    q->query.loss_on = o->step.loss_on;
    q->query.policy = q->use.policy;
    q->query.engine = o->engine;
    q->query.engine_version = o->asked.engine_version;
    q->query.run_mode = o->asked.run_mode;
    q->query.host = o->asked.host;
    q->query.threads = o->threads;
    q->query.predictor = o->predictor;
    q->query.method = o->method;
    q->query.correct = o->correct;
    q->query.max_batch = o->max_batch;
    st = ft__model_values_read(&q->values, &q->query, &o->model, &q->c->err);
    return ft__cli_check_asked(q->c, st);
}

void ft__predict_end(ft__predict_question *q)
{
    ft__model_values_free(&q->values);
}

/* The host is that of the first device. */
static int read_launch_time(ft__predict_question *q, ft_data *data)
{
    const char *list = q->o->device ? q->o->device : "local";
    char device[MAX_NAME];
    int code;

    if (ft__word_next(device, sizeof(device), &list))
        q->query.device = device;
    code = ft__launch_time_read(q->c, &q->query, data, q->o->asked.launch_time);
    q->query.device = NULL;
    return code;
}

static int run(ft__cli *c, const void *user)
{
    ft__predict_options own = *(const ft__predict_options *)user;
    const ft__predict_options *o = &own;
    ft__predict_question q = {.c = c, .o = o};
    ft_data *data = NULL;
    ft_graph *g = NULL;
    int code;

    ft__precision_take(&own.serve, &own.model);
    code = ft__predict_read(&q);
    if (!code && (ft__llm_train_asked(&o->train) || ft__serving_asked(&o->serve))) {
        code = ft__llm_train_asked(&o->train) ? ft__llm_train(&q)
                                              : ft__serve_predict(&q, &o->serve);
        ft__predict_end(&q);
        return code;
    }
    if (!code)
        code = ft__data_open(c, &data);
    if (!code && o->max_batch && strcmp(c->args.v[0], "-") == 0)
        code = ft__usage(c, "--max-batch asks at several batches: standard input: a "
                            "list of operations has its sizes in its lines");
    if (!code)
        code = ft__model_read(c, &g, c->args.v[0], &o->model);
    if (!code) {
        q.query.model = c->args.v[0];
        q.query.graph = g;
        code = read_launch_time(&q, data);
    }
    if (!code)
        code = answer_all(&q, data);
    ft__predict_end(&q);
    ft__data_close(c, data);
    ft__model_close(c, g);
    return code;
}

const ft__command ft__predict_command = {
    .name = "predict",
    .arguments = "MODEL",
    .summary = "predict time, energy and memory of a model on a device",
    .more =
        "For this machine a predictor is needed: foretell collect, then foretell "
        "train.\n"
        "Other devices: by a predictor for a family of devices (--predictor, or the "
        "one\n"
        "that foretell train --family made, or those of the data folder); otherwise\n"
        "scaled from the data sheet by what operations do on other devices. --method\n"
        "roofline gives a lower bound, --method paleo the sum of reading, computing "
        "and\n"
        "writing.\n"
        "Of a language model's config.json with --prompt, --generate, --concurrency, "
        "--rate\n"
        "or --requests: serving by continuous batching: latency, throughput, joules, "
        "money.",
    .examples =
        "  foretell predict resnet50.onnx --device local\n"
        "  foretell predict resnet50.onnx --device local,a100-sxm-80gb --batch 8\n"
        "  foretell predict bert.onnx --dim seq=128 --json\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --batch 64 "
        "--must-fit\n"
        "  foretell predict resnet50.onnx --device a30 --mode training --max-batch\n"
        "  foretell predict resnet50.onnx --device a30 --batch 32 --clocks "
        "600,900,1200\n"
        "  foretell predict resnet50.onnx --device a100 --mode training --precision "
        "amp-bf16\n"
        "  foretell predict resnet50.onnx --device l4 --correct few-of-l4.csv\n"
        "  foretell predict resnet50.onnx --device l4 --launch-time 9us\n"
        "  foretell predict resnet50.onnx --device a30,l4 --html resnet50.html\n"
        "  foretell predict resnet50.onnx --device a30 --trace resnet50.json\n"
        "  foretell predict config.json --device h100 --tp 2 --prompt 2048 --generate "
        "256 \\\n"
        "                   --concurrency 32 --price h100=2.49/h\n"
        "  foretell predict config.json --device l40s --requests trace.csv --json\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = sizeof(ft__predict_options),
    .options = options,
    .run = run,
};
