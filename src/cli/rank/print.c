/* A ranking: text, JSON, CSV. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/rank/rank.h"
#include "foretell/names.h"
#include "report/units.h"

static ft__formatted text_of(ft_rank_by q, double v)
{
    if (q == FT_RANK_BY_COST || q == FT_RANK_BY_EDP)
        return ft__text_plain(q == FT_RANK_BY_COST ? 1e6 * v : v);
    return ft__text_in(ft_name(FT_NAMES_RANK_UNIT, q), v);
}

/* The name of a column: a pass costs too little to be written without exponents. */
static const char *name_of(const ft__ranking *r)
{
    if (r->how.by == FT_RANK_BY_COST)
        return r->several_batches ? "cost of a million items"
                                  : "cost of a million passes";
    return r->how.by == FT_RANK_BY_EDP ? "edp (J s)"
                                       : ft_name(FT_NAMES_RANK_BY, r->how.by);
}

/* Values that are one but for rounding share a place. */
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

static size_t count_best(const ft__ranking *r)
{
    size_t n = r->n_placed > 0;

    while (n < r->n_placed && is_tied(r, n, 0))
        n++;
    return n;
}

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

/* Memory and power are those of a pass, however many items it has. */
static bool is_shared_out(ft_rank_by q)
{
    return q != FT_RANK_BY_MEMORY && q != FT_RANK_BY_POWER;
}

/* Of a pass, as limits are. */
static ft__formatted text_of_pass(const ft__ranking *r, size_t i, ft_rank_by q)
{
    const double items =
        r->several_batches && is_shared_out(q) ? (double)r->choice[i].batch : 1;
    const double each = r->ranked[i].value[q].value;

    if (q == FT_RANK_BY_COST)
        return ft__text_plain(each * items);
    return text_of(q, each * items * (q == FT_RANK_BY_EDP ? items : 1));
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

static ft__table *new_table(const ft__ranking *r)
{
    char columns[320];

    snprintf(columns, sizeof(columns),
             "#>n|device|?batch>i|?clock>Hz|%s>|low>|high>|?time>s|items/s>~|?energy>J|"
             "?memory>B|?cost of a million items>~|?co2>g||chance>%%|basis|?engine",
             name_of(r));
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
        printf("%zu more: --top %zu lists all\n", r->n_placed - (size_t)top,
               r->n_placed);
    return good;
}

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
            fprintf(fp, " (%s)", text_of_pass(r, r->order[k], r->how.limit[l].of).s);
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

/* How many of so many names stand in a line; the others are counted. */
static size_t shown_of(size_t n)
{
    enum { MOST_NAMES = 12 };

    return n > MOST_NAMES ? MOST_NAMES - 1 : n;
}

static void put_more(FILE *fp, size_t n)
{
    if (n > shown_of(n))
        fprintf(fp, " and %zu more", n - shown_of(n));
}

static void print_unknown(FILE *fp, const ft__ranking *r)
{
    for (size_t k = r->n_placed; k < r->n; k++) {
        const char *why = r->ranked[r->order[k]].why, *name[FT_RANK_MAX_ENTRIES];
        size_t first = r->n_placed, n = 0;

        if (r->ranked[r->order[k]].state != FT_RANK_UNKNOWN)
            continue;
        while (!is_unknown(r, first, why))
            first++;
        if (first < k)
            continue;
        for (size_t j = k; j < r->n; j++) {
            const char *device = r->choice[r->order[j]].device;

            if (is_unknown(r, j, why) && (n == 0 || strcmp(device, name[n - 1]) != 0))
                name[n++] = device;
        }
        fputs("not known: ", fp);
        for (size_t i = 0; i < shown_of(n); i++)
            fprintf(fp, "%s%s", i ? ", " : "", name[i]);
        put_more(fp, n);
        ft__put_line(fp, ": ", why);
    }
}

/* Why values cannot be told apart: bits of FT_RANK_LEVEL_*; NULL: they can. */
static const char *level_why(int reasons)
{
    static const char *const text[] = {
        [FT_RANK_LEVEL_INTERVALS] = "their intervals overlap",
        [FT_RANK_LEVEL_HOST] = "one host sets their times, equal within 1 %",
        [FT_RANK_LEVEL_INTERVALS | FT_RANK_LEVEL_HOST] =
            "their intervals overlap, or one host sets times equal within 1 %"};

    return text[reasons];
}

/* "a30, l4 and t4 cannot be distinguished" */
static void print_level(const ft__ranking *r)
{
    const char *name[FT_RANK_MAX_ENTRIES];
    size_t n = 0;
    int reasons = 0;

    name[n++] = r->choice[r->order[0]].device;
    for (size_t k = 1; k < r->n_placed; k++) {
        const char *device = r->choice[r->order[k]].device;
        const int level = r->ranked[r->order[k]].level;
        bool there = !level;

        reasons |= level;
        for (size_t i = 0; i < n && !there; i++)
            there = strcmp(name[i], device) == 0;
        if (!there)
            name[n++] = device;
    }
    if (n == 1)
        return;
    for (size_t i = 0; i < shown_of(n); i++)
        printf("%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", name[i]);
    put_more(stdout, n);
    printf(" cannot be distinguished (~): %s\n", level_why(reasons));
}

static bool is_bound(const ft__ranking *r, size_t k)
{
    return !isfinite(r->ranked[r->order[k]].value[r->how.by].high);
}

static void print_known(const ft__ranking *r)
{
    const char *last = "";

    for (size_t i = 0; i < r->n; i++) {
        const ft__choice *x = &r->choice[i];

        if (!x->n_known || strcmp(last, x->device) == 0)
            continue;
        printf("%s: corrected by %s of it\n", x->device,
               ft__text_counted(x->n_known, "measurement").s);
        last = x->device;
    }
}

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
        printf(
            "on average each of them lies up to %s above the best (expected regret)\n",
            ft__text_percent(most_regret(r)).s);
    else if (isfinite(best->regret))
        printf("on average this answer lies %s above the best (expected regret)\n",
               ft__text_percent(best->regret).s);
    else
        puts("Lower bounds stand behind estimates: what they bound may be better or "
             "worse, so there is no\nexpected regret.");
    print_level(r);
    print_known(r);
    if (best->risky)
        puts("its interval reaches beyond a limit");
}

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
    printf("*: Pareto-optimal in %s", name[0]);
    for (size_t i = 1; i < n; i++)
        printf("%s%s", i + 1 == n ? " and " : ", ", name[i]);
    putchar('\n');
}

static void print_answer(const ft__ranking *r)
{
    const size_t n = count_best(r);

    if (!r->n_placed)
        return;
    print_aims(r);
    fputs(n > 1 ? "best: a tie of " : "best: ", stdout);
    for (size_t k = 0; k < shown_of(n); k++) {
        fputs(k == 0 ? "" : k + 1 == n ? " and " : ", ", stdout);
        name_choice(stdout, r, &r->choice[r->order[k]]);
    }
    put_more(stdout, n);
    putchar('\n');
    print_sureness(r);
}

static bool says(const ft__choice *x, const char *what)
{
    return strcmp(x->other_mode, what) == 0 || strcmp(x->other_engine, what) == 0 ||
           strcmp(x->no_hardware, what) == 0;
}

/* Devices of which that is said, each once, though it has several batches and clocks;
 * how many. */
static size_t print_marked(const ft__ranking *r, const char *what)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const ft__choice *x = &r->choice[i];

        if (!says(x, what) || (i && strcmp(x->device, x[-1].device) == 0))
            continue;
        printf("%s%s%s", n ? "" : "warning: ", n ? "" : what, n ? ", " : ": ");
        ft__put_clean(stdout, x->device);
        n++;
    }
    return n;
}

/* Once, with the devices that say it, and an end; "": nothing. */
static void print_said(const ft__ranking *r, size_t i, const char *what,
                       const char *end)
{
    bool said = !*what;

    for (size_t k = 0; k < i && !said; k++)
        said = says(&r->choice[k], what);
    if (!said && print_marked(r, what))
        printf("%s%s\n", *end ? "; " : "", end);
}

static void print_warnings(const ft__ranking *r)
{
    if (*r->folded)
        ft__put_line(stdout, "warning: ", r->folded);
    for (size_t i = 0; i < r->n; i++) {
        print_said(r, i, r->choice[i].other_mode, "");
        print_said(r, i, r->choice[i].other_engine, "");
    }
    for (size_t i = 0; i < r->n; i++)
        print_said(r, i, r->choice[i].no_hardware, r->choice[i].no_hardware_end);
}

static bool print_text(const ft__ranking *r, uint64_t top)
{
    FILE *fp = r->n_placed ? stdout : stderr; /* why nothing is placed */
    bool good;

    ft__put_clean(stdout, r->model);
    printf(" by %s of %s%s\n", ft_name(FT_NAMES_RANK_BY, r->how.by),
           r->several_batches && is_shared_out(r->how.by) ? "an item, " : "", r->step);
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
        "limit:s values:o memory_limit:g max_batch:l pareto:b level:b level_why:s "
        "risky:b chance:g regret:g corrected_by:n "
        "items_per_s:g cost_per_item:g no_hardware:b other_engine:z",
        k->place ? ft__json_count(place_of(r, at)) : json_null(), x->device,
        (uint64_t)x->batch, x->clock_hz, x->engine, x->setting, state_name(k->state),
        k->state == FT_RANK_OVER_LIMIT ? r->limit_text[k->limit] : NULL, values_json(k),
        x->limit_bytes, x->max_batch, k->pareto, k->level != 0, level_why(k->level),
        k->risky, k->chance, k->regret, x->n_known, items_per_s(r, i),
        cost_per_item(r, i), *x->no_hardware != '\0', x->other_engine);
}

json_t *ft__ranking_json(const ft__ranking *r)
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

static bool print_csv(const ft__ranking *r, uint64_t top)
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

        if (top && k >= top && k < r->n_placed)
            continue;
        ft__csv_row(stdout, fields, place_of(r, k), x->device, x->batch, x->clock_hz,
                    state_name(v->state), e[FT_RANK_BY_TIME].value,
                    e[FT_RANK_BY_ENERGY].value, e[FT_RANK_BY_POWER].value,
                    e[FT_RANK_BY_EDP].value, e[FT_RANK_BY_MEMORY].value,
                    e[FT_RANK_BY_COST].value, e[FT_RANK_BY_CO2].value, e[r->how.by].low,
                    e[r->how.by].high, v->pareto, v->level != 0, v->chance, v->regret,
                    items_per_s(r, r->order[k]), cost_per_item(r, r->order[k]));
    }
    return true;
}

bool ft__ranking_print(const ft__cli *c, const ft__ranking *r, uint64_t top)
{
    return c->json  ? ft__cli_json_take(c, ft__ranking_json(r))
           : c->csv ? print_csv(r, top)
                    : print_text(r, top ? top : 20);
}
