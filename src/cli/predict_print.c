/* What predict answers: text, JSON, CSV. */
#include "cli/predict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/llm_memory.h"
#include "foretell/names.h"
#include "report/units.h"

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

    const double cache = ft__cache_bytes(a->graph);

    total_row(t, "peak memory", &a->memory, "B");
    for (int p = 0; p < FT_PART_COUNT; p++) {
        const bool holds = p == FT_PART_INPUTS && cache > 0;

        if (holds)
            part_row(t, "KV cache", cache);
        if (!(a->part_bytes[p] <= 0) || p == FT_PART_ACTIVATIONS)
            part_row(t, name[p], a->part_bytes[p] - (holds ? cache : 0));
    }
    part_row(t, "process", a->context_bytes);
}

static void phase_rows(ft__table *t, const ft_answer *a)
{
    char name[32];

    for (int p = 0; p < FT_PHASE_COUNT; p++)
        if (a->phase_time[p].value > 0) {
            snprintf(name, sizeof(name), "  %s", ft_name(FT_NAMES_PHASE, (ft_phase)p));
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

static void print_sureness(const ft_answer *a)
{
    if (a->by == FT_ANSWERED_BY_FAMILY)
        printf("learned from several devices, %s %s: %s\n", a->device,
               a->among ? "among them" : "not among them", a->predictor);
    if (a->n_known)
        printf("corrected by %s of %s\n", ft__text_counted(a->n_known, "measurement").s,
               a->device);
    if (a->n_networks)
        printf("host and device as %s of %s showed\n",
               ft__text_counted(a->n_networks, "network").s, a->device);
    if (a->by != FT_ANSWERED_BY_SPECIFICATION) {
        printf("low .. high is a 90 %% interval; %s: %u measured, %u "
               "learned, %u scaled, %u roofline%s\n",
               ft__text_counted(a->n_ops, "unique operation").s, a->n_measured,
               a->n_learned, a->n_scaled, a->n_roofline,
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

        ft__table_row(t, op->spec, ft_name(FT_NAMES_PHASE, op->op->phase), op->count,
                      op->share, op->total_s, e->value, e->low, e->high,
                      ft_name(FT_NAMES_BASIS, e->basis));
    }
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

/* Prints the assumptions with this code, each followed by `more`. */
static void print_assumptions(const ft_answer *a, ft_remark_code code, const char *more)
{
    for (size_t i = 0; i < a->n_assumptions; i++)
        if (a->assumption[i]->code == code) {
            fputs("assumed: ", stdout);
            ft__put_clean(stdout, a->assumption[i]->text);
            puts(more);
        }
}

static bool says(const ft_answer *a, const ft_remark *of)
{
    for (size_t i = 0; i < a->n_assumptions; i++)
        if (strcmp(a->assumption[i]->text, of->text) == 0)
            return true;
    for (size_t i = 0; i < a->n_warnings; i++)
        if (strcmp(a->warning[i]->text, of->text) == 0)
            return true;
    return false;
}

/* What one of several answers says, unless one before it does; of which devices, where
 * there are others and it does not begin with the device's name. */
static void print_shared(const char *before, const ft__swept_answer *a, size_t n,
                         size_t at, const ft_remark *of)
{
    const char *device = "", *title = a[at].x->title;
    bool named = *title && strncmp(of->text, title, strlen(title)) == 0;
    size_t with = 0, alike = 0;

    for (size_t i = 0; i < n; i++) {
        with += says(a[i].x, of);
        alike += strcmp(a[i].x->device, a[at].x->device) == 0;
        if (i < at && says(a[i].x, of))
            return;
    }
    fputs(before, stdout);
    ft__put_clean(stdout, of->text);
    named = named || with == n || alike == n;
    for (size_t i = at; i < n && !named; i++)
        if (says(a[i].x, of) && strcmp(device, a[i].x->device) != 0) {
            fputs(*device ? ", " : " (", stdout);
            ft__put_clean(stdout, device = a[i].x->device);
        }
    puts(*device ? ")" : "");
}

static void print_of_runs(const ft__swept_answer *a, size_t n, ft_remark_code code)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < a[i].x->n_assumptions; k++)
            if (a[i].x->assumption[k]->code == code)
                print_shared("assumed: ", a, n, i, a[i].x->assumption[k]);
}

static void print_all_assumptions(const ft__swept_answer *a, size_t n)
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
    print_of_runs(a, n, FT_REMARK_RUN);
    print_of_runs(a, n, FT_REMARK_RUN_MODE);
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

/* Warnings about the question, printed before the figures, or about the answers,
 * printed behind them. */
static void print_warnings(const ft__swept_answer *a, size_t n, bool before)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < a[i].x->n_warnings; k++)
            if ((a[i].x->warning[k]->code >= FT_REMARK_FOLDED) == before)
                print_shared("warning: ", a, n, i, a[i].x->warning[k]);
}

/* In words: assumptions, totals, the `top` heaviest operations, what was bounded,
 * warnings, the command that verifies. False: out of memory. */
static bool print_answer(const ft__swept_answer *one, const ft__cli *c, uint64_t top)
{
    const ft_answer *a = one->x;

    print_title(a);
    print_warnings(one, 1, true);
    for (size_t i = 0; i < a->n_assumptions; i++)
        ft__put_line(stdout, "assumed: ", a->assumption[i]->text);
    if (!print_totals(a, c->verbose > 0) || (top && !print_heaviest(a, top)))
        return false;
    putchar('\n');
    ft__model_print_bounded(a->graph);
    print_warnings(one, 1, false);
    if (*a->verify)
        printf("verify%s%s: %s\n",
               strcmp(a->device, "local") != 0 ? " on that device" : "",
               strcmp(c->args.v[0], "-") == 0 ? ", with the same standard input" : "",
               a->verify);
    else
        ft__put_line(stdout, "", a->unverified);
    return true;
}

static ft__formatted point_text(ft__sweep sweep, double v)
{
    return sweep == FT__SWEEP_CAPS ? ft__text_watts(v) : ft__text_hertz(v);
}

/* The device draws no more than the cap, which a driver would take. */
static bool holds(const ft__swept_answer *a, ft__sweep sweep)
{
    /* A margin for rounding, as in ft__cap_of(). */
    static const double rounding = 1.001;

    return sweep != FT__SWEEP_CAPS || !(a->x->power.value > rounding * a->point);
}

/* Energy, times the time as often as `delay` says; NaN: not known, or under a cap that
 * does not hold. */
static double cost(const ft__swept_answer *a, ft__sweep sweep, int delay)
{
    const double e = holds(a, sweep) ? a->x->energy.value : (double)NAN;

    return e > 0 ? e * pow(a->x->time.value, delay) : (double)NAN;
}

/* Which of a[n] costs least; n: none is known. */
static size_t cheapest(const ft__swept_answer *a, size_t n, ft__sweep sweep, int delay)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++)
        if (cost(&a[i], sweep, delay) > 0 &&
            (best == n || cost(&a[i], sweep, delay) < cost(&a[best], sweep, delay)))
            best = i;
    return best;
}

/* At which of its clocks or caps a device takes the least energy and the least energy x
 * time, and what that costs. */
static void print_best(const ft__swept_answer *a, size_t n, ft__sweep sweep)
{
    static const char *const name[] = {"energy", "energy x time"};
    const char *where = sweep == FT__SWEEP_CAPS ? "under" : "at";
    size_t fastest = 0;

    for (size_t i = 0; i < n; i++)
        if (a[i].x->time.value < a[fastest].x->time.value)
            fastest = i;
    for (int delay = 0; delay < 2; delay++) {
        const size_t best = cheapest(a, n, sweep, delay);

        if (best == n)
            return;
        printf("least %s on %s: %s %s, ", name[delay], a->x->device, where,
               point_text(sweep, a[best].point).s);
        if (best == fastest)
            puts("where it is fastest, too");
        else
            printf(
                "%s of the energy and %s of the time %s %s\n",
                ft__text_percent(a[best].x->energy.value / a[fastest].x->energy.value)
                    .s,
                ft__text_percent(a[best].x->time.value / a[fastest].x->time.value).s,
                where, point_text(sweep, a[fastest].point).s);
    }
}

/* Caps that need a lower clock than there is. */
static void print_not_held(const ft__swept_answer *a, size_t n, ft__sweep sweep)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (!holds(&a[i], sweep))
            printf("%s%s", k++ ? ", " : "caps that do not hold: ",
                   point_text(sweep, a[i].point).s);
    if (k)
        printf(" on %s; it draws more, and drivers may refuse them\n", a->x->device);
}

static void print_all_best(const ft__swept_answer *a, size_t n, ft__sweep sweep)
{
    for (size_t first = 0, end; first < n; first = end) {
        end = first;
        while (end < n && strcmp(a[end].x->device, a[first].x->device) == 0)
            end++;
        print_best(a + first, end - first, sweep);
        print_not_held(a + first, end - first, sweep);
    }
}

static bool print_answers(const ft__swept_answer *a, size_t n, ft__sweep sweep)
{
    ft__table *t =
        ft__table_new("device|?clock>Hz|?cap>W|time>s|low>s|high>s|"
                      "?power>W|energy>J|memory>B|fits|?largest batch>i|basis",
                      sweep == FT__SWEEP_CLOCKS, sweep == FT__SWEEP_CAPS,
                      sweep != FT__SWEEP_NOTHING, a[0].x->max_batch >= 0);
    bool good, known = true;

    ft__put_line(stdout, "", a[0].x->graph->name);
    print_warnings(a, n, true);
    print_all_assumptions(a, n);
    for (size_t i = 0; i < n; i++) {
        const ft_answer *x = a[i].x;
        double spare = spare_bytes(x);

        known = known && isfinite(spare) && isfinite(x->time.high) &&
                isfinite(x->energy.value) && isfinite(x->power.value);
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
    if (sweep != FT__SWEEP_NOTHING)
        print_all_best(a, n, sweep);
    if (!known)
        puts("- is not known; asked about one device alone, foretell says why");
    putchar('\n');
    ft__model_print_bounded(a[0].x->graph);
    print_warnings(a, n, false);
    return good;
}

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
                                                ft_name(FT_NAMES_PHASE, (ft_phase)p),
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

/* Assumptions about the model and the device; others have fields of their own. */
static json_t *assumptions_json(const ft_answer *a)
{
    json_t *all = ft__json_texts(a->graph->assumption, a->graph->n_assumptions);

    for (size_t i = 0; i < a->n_assumptions; i++)
        if (a->assumption[i]->code == FT_REMARK_DEVICE)
            ft__json_append_take(&all, ft__json_text(a->assumption[i]->text));
    return all;
}

static json_t *answer_json(const ft__swept_answer *asked, bool summary)
{
    const ft_answer *a = asked->x;
    json_t *all = ft__json(
        "model:s device:s known_as:s engine:s mode:s step:s batch:o dtype:s setting:s "
        "assumptions:o time:e(s) phases:o energy:e(J) power:e(W) memory:o fit:o "
        "flops:g ops:o bounded:o warnings:o lower_bound:b verify:z unverified:z "
        "run_mode:s host:z "
        "host_s:g busy_s:g family:s corrected_by:n schedule_networks:n",
        a->model, a->device, a->title, a->engine, a->mode, a->step,
        a->batch ? ft__json_count((uint64_t)a->batch) : json_null(), a->dtype,
        a->setting, assumptions_json(a), &a->time, phases_json(a), &a->energy,
        &a->power, memory_json(a), fit_json(a), a->flops,
        summary ? json_null() : ops_json(a),
        ft__json_texts(a->graph->bounded, a->graph->n_bounded), warnings_json(a),
        a->lower_bound, a->verify, a->unverified, a->run_mode, a->host, a->host_s,
        a->busy_s, a->by == FT_ANSWERED_BY_FAMILY ? a->predictor : NULL, a->n_known,
        a->n_networks);

    if (asked->server.known)
        ft__json_set_take(&all, "server", ft__server_memory_json(&asked->server));
    return all;
}

static bool print_csv(const ft__swept_answer *a, size_t n)
{
    static const char fields[] = "device:s spec:s count:u time_s:g low_s:g high_s:g "
                                 "basis:s setting:s energy_j:g";

    ft__csv_head(stdout, fields);
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < a[k].x->n_ops; i++) {
            const ft_answer_op *op = a[k].x->op[i];

            ft__csv_row(stdout, fields, a[k].x->device, op->spec, op->count,
                        op->time.value, op->time.low, op->time.high,
                        ft_name(FT_NAMES_BASIS, op->time.basis), a[k].x->setting,
                        op->energy.value);
        }
    return true;
}

bool ft__predict_print(ft__cli *c, const ft__swept_answer *a, size_t n, ft__sweep sweep,
                       const ft__predict_options *o)
{
    json_t *all;

    if (c->csv)
        return print_csv(a, n);
    if (!c->json && n > 1)
        return print_answers(a, n, sweep);
    if (!c->json) {
        const bool good = print_answer(a, c, o->summary ? 0 : o->top ? o->top : 10);

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
