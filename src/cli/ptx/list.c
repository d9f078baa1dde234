/* Many launches: a table of those that differ, totals, library calls by name. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "foretell/names.h"
#include "foretell/op.h"
#include "report/units.h"

/* Of many launches on the device. Their errors have the same causes, so bounds add up
 * as times do. */
struct total {
    ft_estimate time;   /* s */
    ft_estimate energy; /* J */
    ft_estimate power;  /* W, times the time of each in s; total_power() divides */
};

static void add_estimate(ft_estimate *sum, double times, const ft_estimate *e)
{
    sum->value += times * e->value;
    sum->low += times * e->low;
    sum->high += times * e->high;
    sum->basis = e->basis > sum->basis ? e->basis : sum->basis;
    sum->why = e->why ? e->why : sum->why;
}

static struct total total_of(const struct total *a, const struct total *b)
{
    struct total all = *a;

    add_estimate(&all.time, 1, &b->time);
    add_estimate(&all.energy, 1, &b->energy);
    add_estimate(&all.power, 1, &b->power);
    return all;
}

/* W, averaged over the time. */
static ft_estimate total_power(const struct total *t)
{
    ft_estimate power = t->power;

    power.value /= t->time.value;
    power.low /= t->time.value;
    power.high /= t->time.value;
    return power;
}

/* Calls of libraries, whose kernels are not in PTX: named, and priced as operations the
 * way predict prices them. */
struct library_calls {
    const ft_ptx_listed *v; /* all launches; borrowed, as times */
    const uint64_t *times;  /* 0: is another one's repeat */
    size_t n;
    ft_estimate *time;      /* of each one that is a call, on the device */
    uint64_t calls, priced; /* with repeats */
    struct total total;     /* of those that are priced */
    char by[256]; /* the predictor that prices them; "": the device's data sheet */
};

struct launch_list {
    ft__cli *c;
    ft_ptx_launches *l;
    const ft_ptx_listed *v;
    size_t n;
    uint64_t *times;             /* of each that is no repeat; 0: it is one */
    ft__ptx_launch_count *count; /* of each that is counted */
    ft__table *table;            /* text */
    json_t *json;                /* --json, --html */
    uint64_t launches, unique;   /* counted */
    struct library_calls calls;  /* of libraries */
    uint64_t missing;
    double warps, bytes, flops, tensor_flops; /* of all that were counted */
    struct total total;                       /* of kernels, on the device */
    bool exact;
    const ft__ptx_options *o;
    const ft_device *device; /* NULL: none */
    ft_data *data;
    const char *by;     /* what answers for its kernels */
    ft__ptxas *ptxas;   /* NULL: not asked */
    uint64_t assembled; /* different launches of whose kernel it said something */
};

static bool is_call(const struct library_calls *s, size_t i)
{
    return s->times[i] && !s->v[i].module;
}

static void warn(const ft__cli *c, const ft_ptx_listed *v)
{
    char text[1400];
    ft_error err = {0};
    ft_op op;

    if (!c->log.message || !v->operation ||
        !ft_op_parse(&op, v->operation, strlen(v->operation), &err))
        return;
    snprintf(text, sizeof(text), "%.200s: its operation is not known: %s", v->library,
             err.msg);
    c->log.message(c->log.user, FT_LOG_WARN, text);
}

/* FLOPs of the operation; NaN: it is not known. */
static double operation_flops(const char *spec)
{
    ft_cost cost;
    ft_op op;

    if (!spec || ft_op_parse(&op, spec, strlen(spec), NULL))
        return NAN;
    ft_op_cost(&op, &cost);
    return cost.flops;
}

/* Of all calls whose operation is known; FT_ENOTFOUND: there is none. */
static ft_status graph_of_all(ft_graph **out, const struct library_calls *s,
                              ft_error *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *fp = open_memstream(&text, &len);
    ft_status st = FT_ENOTFOUND;

    *out = NULL;
    if (!fp)
        return ft_fail(err, FT_ENOMEM, 0, "library calls");
    for (size_t i = 0; i < s->n; i++)
        if (is_call(s, i) && isfinite(operation_flops(s->v[i].operation)))
            fprintf(fp, "%s *%" PRIu64 "\n", s->v[i].operation, s->times[i]);
    if (fclose(fp))
        st = ft_fail(err, FT_ENOMEM, 0, "library calls");
    else if (len)
        st = ft_import_ops(out, text, len, "library calls", err);
    free(text);
    return st;
}

/* Device time of one library call: launches follow each other without a gap. */
static ft_status price_one(ft_estimate *out, ft_data *data, const ft_query *family,
                           const char *spec, ft_error *err)
{
    ft_query q = *family;
    ft_answer *x;
    double share = 1;
    ft_status st;

    q.model = "library call";
    q.list = spec;
    q.list_len = strlen(spec);
    st = ft_query_ask(&x, data, &q, err);
    if (st)
        return st;
    if (isfinite(x->busy_s) && x->time.value > 0)
        share = fmin(1, x->busy_s / x->time.value);
    *out = x->time;
    out->value *= share;
    out->low *= share;
    out->high *= share;
    out->why = "";
    ft_answer_free(x);
    return FT_OK;
}

static ft_status price_all(struct library_calls *s, ft_data *data,
                           const ft_query *family, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < s->n && !st; i++) {
        if (!is_call(s, i) || !isfinite(operation_flops(s->v[i].operation)))
            continue;
        st = price_one(&s->time[i], data, family, s->v[i].operation, err);
        if (st || !isfinite(s->time[i].value))
            continue;
        s->priced += s->times[i];
        add_estimate(&s->total.time, (double)s->times[i], &s->time[i]);
    }
    return st;
}

/* By the family of devices that predict would take for all of them, otherwise by the
 * data sheet; energy at the power that the device draws over all of them. */
static ft_status price(struct library_calls *s, ft_data *data, const ft_device *d,
                       const ft_graph *g, ft_error *err)
{
    ft_query q = FT_QUERY_INIT;
    ft_answer *all;
    ft_status st;

    q.device = ft_device_get(d)->name;
    q.graph = g;
    q.totals = 1;
    st = ft_query_ask(&all, data, &q, err);
    if (st)
        return st;
    q.graph = NULL;
    if (*all->predictor)
        q.predictor = all->predictor;
    else
        q.method = "physics";
    snprintf(s->by, sizeof(s->by), "%s", ft__path_name(all->predictor));
    st = price_all(s, data, &q, err);
    s->total.energy = s->total.time;
    s->total.energy.value *= all->power.value;
    s->total.energy.low *= all->power.low;
    s->total.energy.high *= all->power.high;
    add_estimate(&s->total.power, s->total.time.value, &all->power);
    ft_answer_free(all);
    return st;
}

static ft_status calls_make(struct library_calls *out, ft__cli *c, ft_data *data,
                            const ft_ptx_listed *v, const uint64_t *times, size_t n,
                            const ft_device *d, ft_error *err)
{
    ft_graph *g = NULL;
    ft_status st;

    *out = (struct library_calls){.v = v, .times = times, .n = n};
    out->time = calloc(n + 1, sizeof(*out->time));
    st = out->time ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
    for (size_t i = 0; i < n && !st; i++) {
        out->time[i] = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                     v[i].operation ? "its operation is not known"
                                                    : "what it computes is not known"};
        if (is_call(out, i)) {
            out->calls += times[i];
            warn(c, &v[i]);
        }
    }
    if (!st && d)
        st = graph_of_all(&g, out, err);
    if (st == FT_ENOTFOUND) /* none has an operation */
        st = FT_OK;
    if (!st && g)
        st = price(out, data, d, g, err);
    ft_graph_free(g);
    return st;
}

static void calls_free(struct library_calls *s)
{
    free(s->time);
    s->time = NULL;
}

static bool calls_print(const struct library_calls *s, bool timed)
{
    ft__table *t = ft__table_new("library call, not in PTX<|times>u|FLOP>FLOP|?time>s|"
                                 "as operation<",
                                 timed);

    for (size_t i = 0; i < s->n; i++)
        if (is_call(s, i))
            ft__table_row(t, s->v[i].library, s->times[i],
                          operation_flops(s->v[i].operation), s->time[i].value,
                          s->v[i].operation);
    if (s->calls)
        puts("");
    return ft__table_print_take(t, s->calls ? stdout : NULL);
}

static json_t *not_counted_json(const ft_ptx_listed *launch)
{
    return ft__ptx_counted_json(&(ft__ptx_counted){.launch = launch}, false);
}

static json_t *calls_json(const struct library_calls *s, bool timed)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->n; i++) {
        json_t *one;

        if (!is_call(s, i))
            continue;
        one = ft__json("times:u flops:g time:o", s->times[i],
                       operation_flops(s->v[i].operation),
                       timed ? ft__json_estimate(&s->time[i], "s") : json_null());
        one = ft__json_join_take(not_counted_json(&s->v[i]), one);
        ft__json_append_take(&all, one);
    }
    return all;
}

static bool add_times(struct launch_list *s)
{
    s->times = calloc(s->n + 1, sizeof(*s->times));
    for (size_t i = 0; s->times && i < s->n; i++)
        s->times[s->v[i].same] += s->v[i].count;
    return s->times != NULL;
}

static void put_launch(struct launch_list *s, const ft__ptx_counted *v)
{
    const ft_ptx_counts *n = &v->counts;
    double requests = (double)(n->requests[0].value + n->requests[1].value);
    double sectors = (double)(n->sectors[0].value + n->sectors[1].value);
    char warps[32], each[32] = "-";

    snprintf(warps, sizeof(warps), "%" PRIu64 "%s", ft__ptx_sum(n->warp),
             n->exact ? "" : " *");
    if (requests > 0)
        snprintf(each, sizeof(each), "%.2f", sectors / requests);
    ft__table_row(s->table, v->launch->kernel->source_name, v->times,
                  ft__ptx_dims_text(v->launch->launch.grid).s,
                  ft__ptx_dims_text(v->launch->launch.block).s, warps,
                  (double)ft__ptx_flops(n), (double)ft__ptx_global_bytes(n), each,
                  v->estimate.time.value);
}

static const char launch_fields[] =
    "module:s kernel:s times:u grid_x:n grid_y:n grid_z:n block_x:n block_y:n "
    "block_z:n warp:u thread:u on:u flops:u tensor_flops:u global_bytes:u sectors:u "
    "exact:d time_s:g time_low:g time_high:g power_w:g power_low:g power_high:g "
    "energy_j:g energy_low:g energy_high:g";

static void csv_launch(const ft__ptx_counted *v)
{
    const ft_ptx_launch *l = &v->launch->launch;
    const ft_ptx_counts *n = &v->counts;
    const ft_estimate none = {NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, ""};
    const ft_estimate time = v->device ? v->estimate.time : none,
                      power = v->device ? v->estimate.power : none,
                      energy = v->device ? v->estimate.energy : none;

    ft__csv_row(stdout, launch_fields, v->launch->path, v->launch->kernel->name,
                v->times, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                l->block[2], ft__ptx_sum(n->warp), ft__ptx_sum(n->thread),
                ft__ptx_sum(n->on), ft__ptx_flops(n) - n->tensor_flops.value,
                n->tensor_flops.value, ft__ptx_global_bytes(n),
                n->sectors[0].value + n->sectors[1].value, (n->exact != 0), time.value,
                time.low, time.high, power.value, power.low, power.high, energy.value,
                energy.low, energy.high);
}

bool ft__ptx_csv(const ft__ptx_counted *v)
{
    ft__csv_head(stdout, launch_fields);
    csv_launch(v);
    return true;
}

static void add_up(struct launch_list *s, const ft__ptx_counted *v)
{
    double times = (double)v->times;

    s->unique++;
    s->assembled += v->ptxas != NULL;
    s->launches += v->times;
    s->warps += times * (double)ft__ptx_sum(v->counts.warp);
    s->bytes += times * (double)ft__ptx_global_bytes(&v->counts);
    s->flops += times * (double)ft__ptx_flops(&v->counts);
    s->tensor_flops += times * (double)v->counts.tensor_flops.value;
    add_estimate(&s->total.time, times, &v->estimate.time);
    add_estimate(&s->total.energy, times, &v->estimate.energy);
    add_estimate(&s->total.power, times * v->estimate.time.value, &v->estimate.power);
    s->exact = s->exact && v->counts.exact;
    s->by = v->device ? ft__ptx_by(&v->estimate) : "";
}

static ft_status count_launch(struct launch_list *s, size_t i, ft_error *err)
{
    const ft__ptx_launch_count *of = &s->count[i];
    ft__ptx_counted v = {
        .launch = &s->v[i], .times = s->times[i], .counts = of->counts};
    ft_status st = of->st;

    if (st)
        return ft_fail(err, st == FT_EINVAL ? FT_EFORMAT : st, 0, "%s: %s",
                       v.launch->name ? v.launch->name : v.launch->kernel->name,
                       of->text ? of->text : "out of memory");
    st = ft__ptx_estimate(&v, s->data, s->device, s->ptxas, s->o, err);
    if (st) /* of the device or the predictor, whatever is launched */
        return st;
    add_up(s, &v);
    if (s->json) {
        json_t *one = ft__ptx_counted_json(&v, false);

        json_object_set_new(one, "times", ft__json_count(v.times));
        ft__json_append_take(&s->json, one);
    }
    if (s->c->csv)
        csv_launch(&v);
    else if (!s->c->json)
        put_launch(s, &v);
    return FT_OK;
}

static ft_status count_all(struct launch_list *s, ft_error *err)
{
    ft_status st = FT_OK;

    s->count = ft__ptx_count_all(s->l, s->o->launches, s->times);
    if (!s->count)
        return ft_fail(err, FT_ENOMEM, 0, "%s", s->o->launches);
    for (size_t i = 0; i < s->n && !st; i++) {
        if (!s->times[i])
            continue;
        if (s->v[i].missing) {
            s->missing += s->times[i];
            if (s->json)
                ft__json_append_take(&s->json, not_counted_json(&s->v[i]));
        } else if (s->v[i].module)
            st = count_launch(s, i, err);
    }
    return st;
}

static void print_missing(const struct launch_list *s)
{
    int shown = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (!s->times[i] || !s->v[i].missing)
            continue;
        if (shown++ == 0)
            puts("\nnot counted, for what is missing:");
        printf("  ");
        ft__put_clean(stdout, s->v[i].kernel->name);
        printf(": %s\n", s->v[i].missing);
    }
}

static void print_registers(const struct launch_list *s)
{
    if (s->o->registers)
        puts("given");
    else if (s->assembled == s->unique)
        puts("by ptxas");
    else if (s->assembled)
        printf("of %" PRIu64 " by ptxas, of %" PRIu64 " estimated\n", s->assembled,
               s->unique - s->assembled);
    else
        printf("estimated%s\n", s->ptxas && !ft__ptxas_found(s->ptxas)
                                    ? ", for no ptxas is on PATH"
                                    : "");
}

static void print_parts(const struct launch_list *s)
{
    if (s->unique) {
        printf("  kernels        %s, by %s%s; registers ",
               ft__text_seconds(s->total.time.value).s,
               strchr(s->by, '.') ? "" : "the ", s->by);
        print_registers(s);
    }
    if (s->calls.priced)
        printf("  library calls  %s, by %s\n",
               ft__text_seconds(s->calls.total.time.value).s,
               *s->calls.by ? s->calls.by : "the data sheet");
}

static void print_time(const struct launch_list *s)
{
    uint64_t open = s->calls.calls - s->calls.priced;

    puts("");
    if (s->unique || s->calls.priced) {
        const struct total all = total_of(&s->total, &s->calls.total);
        const ft_estimate power = total_power(&all);

        printf("on %s: %s (%s to %s), %s (%s to %s), %s (%s to %s)\n",
               ft_device_get(s->device)->title, ft__text_seconds(all.time.value).s,
               ft__text_seconds(all.time.low).s, ft__text_seconds(all.time.high).s,
               ft__text_joules(all.energy.value).s, ft__text_joules(all.energy.low).s,
               ft__text_joules(all.energy.high).s, ft__text_watts(power.value).s,
               ft__text_watts(power.low).s, ft__text_watts(power.high).s);
        print_parts(s);
    }
    if (open)
        printf("without %" PRIu64 " library call%s, of which it is not known what %s\n",
               open, open == 1 ? "" : "s", open == 1 ? "it computes" : "they compute");
    if (s->missing)
        printf("without %" PRIu64 " launch%s that could not be counted\n", s->missing,
               s->missing == 1 ? "" : "es");
}

static void print_head(const struct launch_list *s, const char *path)
{
    uint64_t all = 0;

    for (size_t i = 0; i < s->n; i++)
        all += s->v[i].count;
    ft__put_clean(stdout, path);
    printf(": %s, %" PRIu64 " launch%s\n",
           ft_name(FT_NAMES_PTX_SOURCE, ft_ptx_launches_get(s->l)->source), all,
           all == 1 ? "" : "es");
}

static bool print_text(struct launch_list *s)
{
    char name[48], warps[48];
    bool good;

    print_head(s, s->o->launches);
    if (s->unique) {
        puts("");
        ft__table_rule(s->table);
        snprintf(name, sizeof(name), "%" PRIu64 " different", s->unique);
        snprintf(warps, sizeof(warps), "%.0f", s->warps);
        ft__table_row(s->table, name, s->launches, " ", " ", warps, s->flops, s->bytes,
                      " ", s->total.time.value);
    }
    good = ft__table_print_take(s->table, s->unique ? stdout : NULL);
    s->table = NULL;
    if (s->unique && s->exact)
        puts("\ncounts are exact");
    else if (s->unique)
        puts("\n* an estimate between bounds; --json has them");
    if (s->tensor_flops > 0)
        printf("%s of the FLOPs are the tensor cores'\n",
               ft__text_percent(s->tensor_flops / s->flops).s);
    good = calls_print(&s->calls, s->device != NULL) && good;
    print_missing(s);
    if (s->device)
        print_time(s);
    return good;
}

static json_t *totals_json(const struct launch_list *s)
{
    const struct library_calls *calls = &s->calls;
    const struct total all = total_of(&s->total, &calls->total);
    const ft_estimate power = total_power(&all);
    const double none = NAN;
    json_t *work = ft__json("launches:u different:u not_counted:u warp:g flops:g "
                            "tensor_flops:g global_bytes:g exact:b",
                            s->launches, s->unique, s->missing, s->warps, s->flops,
                            s->tensor_flops, s->bytes, s->exact);

    return ft__json_join_take(
        work,
        ft__json("time:o energy:o power:o kernels_time_s:g library_calls:u "
                 "libraries_time_s:g libraries_by:s not_priced:u",
                 s->device ? ft__json_estimate(&all.time, "s") : json_null(),
                 s->device ? ft__json_estimate(&all.energy, "J") : json_null(),
                 s->device ? ft__json_estimate(&power, "W") : json_null(),
                 s->device ? s->total.time.value : none, calls->calls,
                 s->device ? calls->total.time.value : none,
                 s->device && calls->priced ? *calls->by ? calls->by : "data sheet"
                                            : NULL,
                 calls->calls - calls->priced));
}

static json_t *list_json(struct launch_list *s)
{
    json_t *all =
        ft__json("source:s launches:o libraries:o totals:o",
                 ft_name(FT_NAMES_PTX_SOURCE, ft_ptx_launches_get(s->l)->source),
                 s->json, calls_json(&s->calls, s->device != NULL), totals_json(s));

    s->json = NULL;
    return all;
}

static int print_all(struct launch_list *s)
{
    json_t *all;
    ft_status st;
    int code;

    if (s->c->csv)
        ft__csv_head(stdout, launch_fields);
    st = count_all(s, &s->c->err);
    if (!st)
        st = calls_make(&s->calls, s->c, s->data, s->v, s->times, s->n, s->device,
                        &s->c->err);
    if (st)
        return ft__cli_check(s->c, st);
    all = s->json ? list_json(s) : NULL;
    code = ft__cli_done(s->c, s->c->json ? ft__json_print_take(json_incref(all), stdout)
                              : s->c->csv ? true
                                          : print_text(s));
    if (!code && s->o->html)
        return ft__record_save_take(s->c, s->o->html, all);
    json_decref(all);
    return code;
}

static int list(struct launch_list *s)
{
    ft_status st = ft_ptx_launches_open(&s->l, s->o->launches, &s->c->log, &s->c->err);
    int code;

    if (st)
        return ft__cli_check(s->c, st);
    s->v = ft_ptx_launches_get(s->l)->listed;
    s->n = ft_ptx_launches_get(s->l)->n;
    if (!add_times(s))
        return ft__cli_exit(s->c, FT__EXIT_BUG, "out of memory");
    code = ft__ptxas_open(s->c, &s->ptxas, s->device, s->v, s->n, s->o);
    if (code != FT__EXIT_GOOD)
        return code;
    if (s->c->json || s->o->html)
        s->json = json_array();
    if (!s->c->json && !s->c->csv)
        s->table = ft__table_new("kernel<|times>u|grid>|block>|warps' instructions>|"
                                 "FLOP>FLOP|global memory>B|sectors a request>|?time>s",
                                 s->device != NULL);
    return print_all(s);
}

int ft__ptx_list(ft__cli *c, const ft__ptx_options *o, const ft_device *d)
{
    struct launch_list s = {.c = c, .o = o, .device = d, .exact = true};
    int code = ft__data_open(c, &s.data);

    if (code == FT__EXIT_GOOD)
        code = list(&s);
    json_decref(s.json);
    ft__table_print_take(s.table, NULL);
    ft__ptx_counts_free(s.count, s.n);
    free(s.times);
    ft_ptx_launches_free(s.l);
    calls_free(&s.calls);
    ft_data_close(s.data);
    ft__ptxas_free(s.ptxas);
    return code;
}
