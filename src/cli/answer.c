#include "cli/answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/units.h"

enum { SPEC_MAX = 2048 };

void ft__answer_warn(ft__answer *a, const char *fmt, ...)
{
    va_list ap;

    if (a->n_warnings == FT__MAX_WARNINGS)
        return;
    va_start(ap, fmt);
    vsnprintf(a->warning[a->n_warnings++], sizeof(a->warning[0]), fmt, ap);
    va_end(ap);
}

/* Seconds that the device is busy with all occurrences of unique operation i. */
static double total_s(const ft__answer *a, uint32_t i)
{
    return a->e.op_device[i].value * (double)ft_graph_op_count(a->graph, i);
}

/* The energy's estimate with the reason that this machine gives. */
static ft_estimate with_reason(const ft__answer *a, ft_estimate e)
{
    if (e.basis == FT_BASIS_UNAVAILABLE && *a->energy_why)
        e.why = a->energy_why;
    return e;
}

/* ---- text ---- */

static void total_row(ft__table *t, const char *name, const ft_estimate *e,
                      ft__text (*text)(double))
{
    ft__table_cell(t, "%s", name);
    ft__table_cell(t, "%s", text(e->value).s);
    ft__table_cell(t, "%s", text(e->low).s);
    ft__table_cell(t, "%s", text(e->high).s);
    ft__table_cell(t, "%s", ft_basis_name(e->basis));
}

static void part_row(ft__table *t, const char *name, double bytes)
{
    ft__table_cell(t, "  %s", name);
    ft__table_cell(t, "%s", ft__text_bytes(bytes).s);
    for (int i = 0; i < 3; i++)
        ft__table_cell(t, "%s", "");
}

static bool is_training(const ft__answer *a)
{
    return ft_graph_mode(a->graph) == FT_MODE_TRAINING;
}

static void memory_rows(ft__table *t, const ft__answer *a)
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

    total_row(t, "peak memory", &a->e.memory, ft__text_bytes);
    for (int p = 0; p < FT_PART_COUNT; p++)
        if (!(a->e.part_bytes[p] <= 0) || p == FT_PART_ACTIVATIONS)
            part_row(t, name[p], a->e.part_bytes[p]);
    part_row(t, "process", a->e.context_bytes);
}

static void phase_rows(ft__table *t, const ft__answer *a)
{
    char name[32];

    for (int p = 0; p < FT_PHASE_COUNT; p++)
        if (a->e.phase_time[p].value > 0) {
            snprintf(name, sizeof(name), "  %s", ft_phase_name((ft_phase)p));
            total_row(t, name, &a->e.phase_time[p], ft__text_seconds);
        }
}

/* Whether the device's memory is large enough; NaN: not known. */
static double spare_bytes(const ft__answer *a)
{
    return a->limit_bytes - a->e.memory.value;
}

static void print_fit(const ft__answer *a)
{
    double spare = spare_bytes(a);

    if (!isfinite(spare))
        return;
    printf("fits in the device's %s: %s, %s %s%s\n", ft__text_bytes(a->limit_bytes).s,
           spare >= 0 ? "yes" : "no", ft__text_bytes(fabs(spare)).s,
           spare >= 0 ? "to spare" : "too much",
           isfinite(a->e.context_bytes) ? "" : ", driver and framework not counted");
    if (a->max_batch_asked && a->max_batch == 0)
        puts("largest batch that fits: none, not even 1");
    else if (a->max_batch_asked)
        printf("largest batch that fits: %" PRId64 "%s\n", a->max_batch,
               a->max_batch >= 1 << 20 ? " or more" : "");
}

/* Who sets the pace: the host that issues, or the device that executes. */
static void print_pace(const ft_network_estimate *e)
{
    if (!isfinite(e->host_s))
        return;
    printf("the host issues everything in %s, the device executes it in %s: %s\n",
           ft__text_seconds(e->host_s).s, ft__text_seconds(e->busy_s).s,
           e->host_s > e->busy_s ? "the host sets the time"
                                 : "the device sets the time");
}

/* How far the figures can be trusted. */
static void print_sureness(const ft__answer *a)
{
    if (*a->family)
        printf("learned from several devices, %s %s: %s\n", a->device,
               a->among ? "among them" : "not among them", a->family);
    if (a->e.n_known)
        printf("corrected by %u measurements of %s\n", a->e.n_known, a->device);
    if (a->e.n_networks)
        printf("host and device as %u networks of %s showed\n", a->e.n_networks,
               a->device);
    if (!a->sheet) {
        printf("low .. high is a 90 %% interval; %u unique operations: %u measured, %u "
               "learned, %u scaled, %u roofline\n",
               a->e.n_ops, a->e.n_measured, a->e.n_learned, a->e.n_scaled,
               a->e.n_roofline);
        return;
    }
    switch (a->by) {
    case FT__BY_PHYSICS:
        puts("Nothing was measured on this device: scaled from its data sheet by what "
             "operations do on\nothers; low .. high is a 90 % interval.");
        break;
    case FT__BY_PALEO:
        puts("PALEO: the device's data sheet alone was used, as if every operation "
             "reached its peak rate;\nhow far real times are from it is not known.");
        break;
    case FT__BY_ROOFLINE:
        puts("This is a lower bound, not an expectation: the device's data sheet alone "
             "was used (roofline);\nreal times are longer, often several times.");
        break;
    }
}

static bool print_totals(const ft__answer *a)
{
    ft__table *t =
        ft__table_new(is_training(a) ? "of one step|estimate>|low>|high>|basis"
                                     : "of one pass|estimate>|low>|high>|basis");
    bool good;

    total_row(t, "time", &a->e.time, ft__text_seconds);
    if (is_training(a))
        phase_rows(t, a);
    total_row(t, "energy", &a->e.energy, ft__text_joules);
    total_row(t, "power", &a->e.power, ft__text_watts);
    memory_rows(t, a);
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    print_fit(a);
    if (a->verbose)
        ft__memory_print_rules(a->e.two_largest_bytes, a->e.twice_mean_bytes);
    if (a->e.energy.basis == FT_BASIS_UNAVAILABLE) {
        fputs("energy and power are unavailable: ", stdout);
        ft__put_clean(stdout, with_reason(a, a->e.energy).why);
        putchar('\n');
    }
    print_pace(&a->e);
    print_sureness(a);
    return good;
}

/* Indices of the operations, heaviest first; NULL: out of memory. */
static uint32_t *by_weight(const ft__answer *a)
{
    uint32_t *order = malloc((a->e.n_ops + 1u) * sizeof(*order));

    /* Insertion sort: stable, and a network has a few hundred unique operations. */
    for (uint32_t i = 0; order && i < a->e.n_ops; i++) {
        uint32_t j = i;

        for (; j > 0 && total_s(a, order[j - 1]) < total_s(a, i); j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    return order;
}

/* There is one figure for an operation and nothing else. */
static bool bare(const ft__answer *a)
{
    return a->sheet && a->by != FT__BY_PHYSICS;
}

static void op_row(ft__table *t, const ft__answer *a, uint32_t i)
{
    const ft_estimate *e = &a->e.op_device[i];
    char spec[SPEC_MAX];

    ft_op_print(ft_graph_op(a->graph, i), spec, sizeof(spec));
    ft__table_cell(t, "%s", spec);
    if (is_training(a))
        ft__table_cell(t, "%s", ft_phase_name(ft_graph_op(a->graph, i)->phase));
    ft__table_cell(t, "%" PRIu64, ft_graph_op_count(a->graph, i));
    ft__table_cell(t, "%s", ft__text_percent(total_s(a, i) / a->e.time.value).s);
    ft__table_cell(t, "%s", ft__text_seconds(total_s(a, i)).s);
    ft__table_cell(t, "%s", ft__text_seconds(e->value).s);
    if (bare(a))
        return;
    ft__table_cell(t, "%s", ft__text_seconds(e->low).s);
    ft__table_cell(t, "%s", ft__text_seconds(e->high).s);
    ft__table_cell(t, "%s", ft_basis_name(e->basis));
}

static bool print_heaviest(const ft__answer *a, uint64_t top)
{
    char columns[96];
    ft__table *t;
    uint32_t *order = by_weight(a);
    bool good = order != NULL;

    /* A spec that is shortened on a narrow terminal would not say its phase. */
    snprintf(columns, sizeof(columns), "operation<%s|count>|share>|total>|each>%s",
             is_training(a) ? "|phase" : "", bare(a) ? "" : "|low>|high>|basis");
    t = ft__table_new(columns);
    for (uint32_t i = 0; good && i < a->e.n_ops && i < top; i++)
        op_row(t, a, order[i]);
    free(order);
    putchar('\n');
    return ft__table_print_take(t, good ? stdout : NULL) && good;
}

/* Our engines plan the memory of a forward pass ahead; nothing else is run by them. */
static bool allocated(const ft__answer *a)
{
    return a->sheet || *a->family || is_training(a);
}

static void print_assumptions(const ft__answer *a, size_t n)
{
    size_t n_allocated = 0;

    for (size_t i = 0; i < n; i++)
        n_allocated += allocated(&a[i]);
    ft__model_print_assumptions(a->graph);
    for (size_t i = 0; i < n; i++)
        if (*a[i].device_note && (i == 0 || strcmp(a[i].device, a[i - 1].device) != 0))
            printf("assumed: %s\n", a[i].device_note);
    printf("assumed: %s, %s at a time, %s\n", ft__mode_name(a->graph), a->step,
           a->dtype);
    if (n_allocated)
        printf("assumed: memory as PyTorch allocates it, operation by operation%s\n",
               n_allocated < n ? ", where there is no predictor" : "");
}

static void print_title(const ft__answer *a)
{
    ft__put_clean(stdout, ft_graph_name(a->graph));
    printf(" on %s: %s%s%s%s%s\n", a->device, a->known_as, *a->engine ? "; " : "",
           a->engine, *a->setting ? ", " : "", a->setting);
}

static void print_warnings(const ft__answer *a)
{
    for (size_t i = 0; i < a->n_warnings; i++) {
        fputs("warning: ", stdout);
        ft__put_clean(stdout, a->warning[i]);
        putchar('\n');
    }
}

bool ft__answer_print(const ft__answer *a, uint64_t top)
{
    print_title(a);
    print_assumptions(a, 1);
    if (!print_totals(a) || !print_heaviest(a, top))
        return false;
    putchar('\n');
    ft__model_print_bounded(a->graph);
    print_warnings(a);
    if (*a->verify)
        printf("verify%s: %s\n", a->sheet || *a->family ? " on that device" : "",
               a->verify);
    else
        puts("to verify it takes an engine that runs training steps: --engine torch");
    return true;
}

static bool is_bound(const ft__answer *a)
{
    return a->sheet && a->by == FT__BY_ROOFLINE;
}

static void device_row(ft__table *t, const ft__answer *a, bool clocks)
{
    double spare = spare_bytes(a);

    ft__table_cell(t, "%s", a->device);
    if (clocks)
        ft__table_cell(t, "%s", ft__text_hertz(a->use.clock_hz).s);
    ft__table_cell(t, "%s", ft__text_seconds(a->e.time.value).s);
    ft__table_cell(t, "%s", ft__text_seconds(a->e.time.low).s);
    ft__table_cell(t, "%s", ft__text_seconds(a->e.time.high).s);
    if (clocks)
        ft__table_cell(t, "%s", ft__text_watts(a->e.power.value).s);
    ft__table_cell(t, "%s", ft__text_joules(a->e.energy.value).s);
    ft__table_cell(t, "%s", ft__text_bytes(a->e.memory.value).s);
    ft__table_cell(t, "%s", !isfinite(spare) ? "-" : spare >= 0 ? "yes" : "no");
    if (a->max_batch_asked)
        ft__table_cell(t, "%" PRId64, a->max_batch);
    ft__table_cell(t, "%s",
                   is_bound(a) ? "roofline: a lower bound"
                               : ft_basis_name(a->e.time.basis));
}

/* At which of its clocks a device takes the least energy, and what that costs. */
static void print_best_clock(const ft__answer *a, size_t n)
{
    size_t best = n, fastest = 0;

    for (size_t i = 0; i < n; i++) {
        if (a[i].e.energy.value > 0 &&
            (best == n || a[i].e.energy.value < a[best].e.energy.value))
            best = i;
        if (a[i].e.time.value < a[fastest].e.time.value)
            fastest = i;
    }
    if (best == n)
        return;
    printf("least energy on %s: at %s, %s of the energy and %s of the time at %s\n",
           a->device, ft__text_hertz(a[best].use.clock_hz).s,
           ft__text_percent(a[best].e.energy.value / a[fastest].e.energy.value).s,
           ft__text_percent(a[best].e.time.value / a[fastest].e.time.value).s,
           ft__text_hertz(a[fastest].use.clock_hz).s);
}

static void print_best_clocks(const ft__answer *a, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        end = first;
        while (end < n && strcmp(a[end].device, a[first].device) == 0)
            end++;
        print_best_clock(a + first, end - first);
    }
}

bool ft__answers_print(const ft__answer *a, size_t n, bool clocks)
{
    char columns[160];
    ft__table *t;
    bool good;

    snprintf(columns, sizeof(columns),
             "device%s|time>|low>|high>%s|energy>|memory>|fits%s|basis",
             clocks ? "|clock>" : "", clocks ? "|power>" : "",
             a[0].max_batch_asked ? "|largest batch>" : "");
    t = ft__table_new(columns);
    ft__put_clean(stdout, ft_graph_name(a[0].graph));
    putchar('\n');
    print_assumptions(a, n);
    for (size_t i = 0; i < n; i++)
        device_row(t, &a[i], clocks);
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    if (clocks)
        print_best_clocks(a, n);
    puts("- is not known; asked about one device alone, foretell says why\n");
    ft__model_print_bounded(a[0].graph);
    for (size_t i = 0; i < n; i++)
        print_warnings(&a[i]);
    return good;
}

/* ---- JSON and CSV ---- */

static json_t *warnings_json(const ft__answer *a)
{
    json_t *all = json_array();

    for (size_t i = 0; i < a->n_warnings; i++)
        ft__json_append_take(&all, ft__json_text(a->warning[i]));
    return all;
}

/* Sets obj[key]; a failure frees the object, as ft__json_append_take() does. */
static void put_take(json_t **obj, const char *key, json_t *value)
{
    if (json_object_set_new(*obj, key, value)) {
        json_decref(*obj);
        *obj = NULL;
    }
}

static json_t *memory_json(const ft__answer *a)
{
    json_t *o = json_object();

    put_take(&o, "total", ft__json_estimate(&a->e.memory, "B"));
    for (int p = 0; p < FT_PART_COUNT; p++)
        put_take(&o, ft_part_name((ft_part)p), ft__json_real(a->e.part_bytes[p]));
    put_take(&o, "context", ft__json_real(a->e.context_bytes));
    put_take(&o, "two_largest", ft__json_real(a->e.two_largest_bytes));
    put_take(&o, "twice_mean", ft__json_real(a->e.twice_mean_bytes));
    put_take(&o, "counted_as", json_string(allocated(a) ? "allocated" : "planned"));
    return o;
}

/* null where the device's memory is not known. */
static json_t *fit_json(const ft__answer *a)
{
    double spare = spare_bytes(a);

    if (!isfinite(spare))
        return json_null();
    return json_pack(
        "{s:b, s:o, s:o, s:o}", "fits", spare >= 0, "limit",
        ft__json_real(a->limit_bytes), "spare", ft__json_real(spare), "max_batch",
        a->max_batch_asked ? ft__json_count((uint64_t)a->max_batch) : json_null());
}

static json_t *phases_json(const ft__answer *a)
{
    json_t *all = json_array();

    for (int p = 0; p < FT_PHASE_COUNT; p++)
        if (a->e.phase_time[p].value > 0)
            ft__json_append_take(
                &all, json_pack("{s:s, s:o}", "phase", ft_phase_name((ft_phase)p),
                                "time", ft__json_estimate(&a->e.phase_time[p], "s")));
    return all;
}

static json_t *ops_json(const ft__answer *a)
{
    uint32_t *order = by_weight(a);
    json_t *all = order ? json_array() : NULL;
    char spec[SPEC_MAX];

    for (uint32_t k = 0; all && k < a->e.n_ops; k++) {
        uint32_t i = order[k];

        ft_op_print(ft_graph_op(a->graph, i), spec, sizeof(spec));
        ft__json_append_take(
            &all,
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "spec", spec, "count",
                      ft__json_count(ft_graph_op_count(a->graph, i)), "share",
                      ft__json_real(total_s(a, i) / a->e.time.value), "time",
                      ft__json_estimate(&a->e.op_time[i], "s"), "device_time",
                      ft__json_estimate(&a->e.op_device[i], "s"), "power",
                      ft__json_estimate(&a->e.op_power[i], "W"), "energy",
                      ft__json_estimate(&a->e.op_energy[i], "J")));
    }
    free(order);
    return all;
}

json_t *ft__answer_json(const ft__answer *a)
{
    ft_estimate energy = with_reason(a, a->e.energy),
                power = with_reason(a, a->e.power);
    ft_totals sum;

    ft_graph_totals(a->graph, &sum);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}",
        "model", ft__json_text(ft_graph_name(a->graph)), "device",
        ft__json_text(a->device), "known_as", ft__json_text(a->known_as), "engine",
        ft__json_text(a->engine), "mode", ft__mode_name(a->graph), "step", a->step,
        "batch", a->batch ? ft__json_count((uint64_t)a->batch) : json_null(), "dtype",
        a->dtype, "setting", ft__json_text(a->setting), "assumptions",
        ft__model_assumptions_json(a->graph), "time",
        ft__json_estimate(&a->e.time, "s"), "phases", phases_json(a), "energy",
        ft__json_estimate(&energy, "J"), "power", ft__json_estimate(&power, "W"),
        "memory", memory_json(a), "fit", fit_json(a), "flops", ft__json_real(sum.flops),
        "ops", ops_json(a), "bounded", ft__model_bounded_json(a->graph), "warnings",
        warnings_json(a), "lower_bound", is_bound(a), "verify",
        *a->verify ? ft__json_text(a->verify) : json_null(), "host_s",
        ft__json_real(a->e.host_s), "busy_s", ft__json_real(a->e.busy_s), "family",
        *a->family ? ft__json_text(a->family) : json_null(), "corrected_by",
        ft__json_count(a->e.n_known), "schedule_networks",
        ft__json_count(a->e.n_networks));
}

void ft__answer_print_csv(const ft__answer *a, bool head)
{
    char spec[SPEC_MAX];

    if (head)
        puts("device,spec,count,time_s,low_s,high_s,basis");
    for (uint32_t i = 0; i < a->e.n_ops; i++) {
        const ft_estimate *e = &a->e.op_time[i];

        ft_op_print(ft_graph_op(a->graph, i), spec, sizeof(spec));
        ft__csv_row(stdout, "ssugggs", a->device, spec, ft_graph_op_count(a->graph, i),
                    e->value, e->low, e->high, ft_basis_name(e->basis));
    }
}
