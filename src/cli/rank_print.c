/* A ranking as text, JSON and CSV. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/rank.h"
#include "foretell/names.h"
#include "report/units.h"

/* ---- numbers ---- */

static ft__text text_of(ft_rank_by q, double v)
{
    switch (q) {
    case FT_RANK_BY_TIME: return ft__text_seconds(v);
    case FT_RANK_BY_ENERGY: return ft__text_joules(v);
    case FT_RANK_BY_POWER: return ft__text_watts(v);
    case FT_RANK_BY_MEMORY: return ft__text_bytes(v);
    case FT_RANK_BY_CO2: return ft__text_grams(v);
    case FT_RANK_BY_COST: return ft__text_plain(1e6 * v);
    case FT_RANK_BY_EDP:
    case FT_RANK_BY_COUNT: break;
    }
    return ft__text_plain(v);
}

/* The name of a column: a pass costs too little to be written without exponents. */
static const char *name_of(ft_rank_by q)
{
    return q == FT_RANK_BY_EDP    ? "edp (J s)"
           : q == FT_RANK_BY_COST ? "cost of a million"
                                  : ft_name(FT_NAMES_RANK_BY, q);
}

/* What is told beside the quantity that was asked for. */
static bool beside(const ft__ranking *r, ft_rank_by q)
{
    if (q == r->how.by)
        return false;
    if (q == FT_RANK_BY_COST)
        return r->priced;
    if (q == FT_RANK_BY_CO2)
        return r->co2;
    return q != FT_RANK_BY_EDP && q != FT_RANK_BY_POWER;
}

/* "a30 at batch 8 and 1200 MHz with torch 2.3.1, threads=1" */
static void name_choice(const ft__ranking *r, const ft__choice *x)
{
    ft__put_clean(stdout, x->device);
    if (r->several_batches)
        printf(" at batch %" PRId64, x->batch);
    if (!isnan(x->clock_hz))
        printf("%s %s", r->several_batches ? " and" : " at",
               ft__text_hertz(x->clock_hz).s);
    if (r->several_engines && *x->engine)
        printf(" with %s, %s", x->engine, x->setting);
}

/* ---- the table ---- */

static ft__table *new_table(const ft__ranking *r)
{
    char columns[320];
    size_t len =
        (size_t)snprintf(columns, sizeof(columns), "#>|device|%s%s%s>|low>|high>",
                         r->several_batches ? "batch>|" : "",
                         r->several_clocks ? "clock>|" : "", name_of(r->how.by));

    for (int q = 0; q < FT_RANK_BY_COUNT; q++)
        if (beside(r, (ft_rank_by)q))
            len += (size_t)snprintf(columns + len, sizeof(columns) - len, "|%s>",
                                    name_of((ft_rank_by)q));
    snprintf(columns + len, sizeof(columns) - len, "||chance>|basis%s",
             r->several_engines ? "|engine" : "");
    return ft__table_new(columns);
}

static void row(ft__table *t, const ft__ranking *r, size_t i)
{
    const ft__choice *x = &r->choice[i];
    const ft_ranked *k = &r->ranked[i];
    const ft_estimate *by = &k->value[r->how.by];

    ft__table_cell(t, "%u", k->place);
    ft__table_cell(t, "%s", x->device);
    if (r->several_batches)
        ft__table_cell(t, "%" PRId64, x->batch);
    if (r->several_clocks)
        ft__table_cell(t, "%s", ft__text_hertz(x->clock_hz).s);
    ft__table_cell(t, "%s", text_of(r->how.by, by->value).s);
    ft__table_cell(t, "%s", text_of(r->how.by, by->low).s);
    ft__table_cell(t, "%s", text_of(r->how.by, by->high).s);
    for (int q = 0; q < FT_RANK_BY_COUNT; q++)
        if (beside(r, (ft_rank_by)q))
            ft__table_cell(t, "%s", text_of((ft_rank_by)q, k->value[q].value).s);
    ft__table_cell(t, "%s%s", k->pareto ? "*" : "", k->level ? "~" : "");
    ft__table_cell(t, "%s", ft__text_percent(k->chance).s);
    ft__table_cell(t, "%s",
                   isfinite(by->high) ? ft_name(FT_NAMES_BASIS, by->basis)
                                      : "roofline: a lower bound");
    if (r->several_engines)
        ft__table_cell(t, "%s%s%s", x->engine, *x->engine ? ", " : "", x->setting);
}

static bool print_table(const ft__ranking *r, uint64_t top)
{
    ft__table *t;
    bool good;

    if (!r->n_placed)
        return true;
    t = new_table(r);
    for (size_t k = 0; k < r->n_placed && k < top; k++)
        row(t, r, r->order[k]);
    putchar('\n');
    good = ft__table_print_take(t, stdout);
    if (r->n_placed > top)
        printf("%zu more: --top\n", r->n_placed - (size_t)top);
    return good;
}

/* ---- what is not in the table ---- */

static void print_too_large(const ft__ranking *r)
{
    for (size_t k = r->n_placed; k < r->n; k++) {
        const ft__choice *x = &r->choice[r->order[k]];

        if (r->ranked[r->order[k]].state != FT_RANK_TOO_LARGE)
            continue;
        fputs("does not fit: ", stdout);
        name_choice(r, x);
        printf(", %s of %s", ft__text_bytes(x->memory.value).s,
               ft__text_bytes(x->limit_bytes).s);
        if (x->max_batch == 0)
            fputs("; not even batch 1 does", stdout);
        else if (x->max_batch > 0)
            printf("; the largest batch that does: %" PRId64, x->max_batch);
        putchar('\n');
    }
}

static void print_over_limits(const ft__ranking *r)
{
    for (uint32_t l = 0; l < r->how.n_limits; l++) {
        size_t n = 0;

        for (size_t k = r->n_placed; k < r->n; k++) {
            const ft__choice *x = &r->choice[r->order[k]];
            const ft_ranked *v = &r->ranked[r->order[k]];

            if (v->state != FT_RANK_OVER_LIMIT || v->limit != l)
                continue;
            printf(n++ ? ", " : "misses %s: ", r->limit_text[l]);
            name_choice(r, x);
            if (r->how.limit[l].of == FT_RANK_BY_TIME)
                printf(" (%s)", ft__text_seconds(x->time.value).s);
        }
        if (n)
            putchar('\n');
    }
}

/* Devices of one reason beside each other. */
static void print_unknown(const ft__ranking *r)
{
    for (size_t k = r->n_placed; k < r->n; k++) {
        const ft_ranked *v = &r->ranked[r->order[k]];
        const char *last = "";
        bool told = false;

        if (v->state != FT_RANK_UNKNOWN)
            continue;
        for (size_t j = r->n_placed; j < k && !told; j++) {
            const ft_ranked *w = &r->ranked[r->order[j]];

            told = w->state == FT_RANK_UNKNOWN && strcmp(w->why, v->why) == 0;
        }
        if (told)
            continue;
        fputs("not known: ", stdout);
        for (size_t j = k; j < r->n; j++) {
            const ft_ranked *w = &r->ranked[r->order[j]];
            const char *device = r->choice[r->order[j]].device;

            if (w->state != FT_RANK_UNKNOWN || strcmp(w->why, v->why) != 0 ||
                strcmp(device, last) == 0)
                continue;
            printf("%s%s", *last ? ", " : "", device);
            last = device;
        }
        fputs(": ", stdout);
        ft__put_clean(stdout, v->why);
        putchar('\n');
    }
}

/* ---- the answer ---- */

/* "a30, l4 and t4 cannot be told apart" */
static void print_level(const ft__ranking *r)
{
    const char *name[FT_RANK_MAX_ENTRIES];
    size_t n = 0;

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
    for (size_t i = 0; i < n; i++)
        printf("%s%s", i == 0 ? "" : i + 1 == n ? " and " : ", ", name[i]);
    puts(" cannot be told apart (~): their intervals overlap");
}

static bool is_bound(const ft__ranking *r, size_t k)
{
    return !isfinite(r->ranked[r->order[k]].value[r->how.by].high);
}

/* Of which devices measurements corrected what is said. */
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

static void print_sureness(const ft__ranking *r)
{
    const ft_ranked *best = &r->ranked[r->order[0]];

    if (is_bound(r, 0)) {
        puts(
            "Only lower bounds are known: the order is that of the bounds, not of the "
            "devices.\nPredictors tell more: foretell collect and train on the device, "
            "then --predictor.");
        return;
    }
    if (isfinite(best->regret))
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
    if (!r->n_placed) {
        puts(r->n ? "nothing can be placed" : "there is nothing to rank");
        return;
    }
    print_aims(r);
    fputs("best: ", stdout);
    name_choice(r, &r->choice[r->order[0]]);
    putchar('\n');
    print_sureness(r);
}

bool ft__ranking_print(const ft__ranking *r, uint64_t top)
{
    bool good;

    ft__put_clean(stdout, r->model);
    printf(" by %s of %s%s\n", ft_name(FT_NAMES_RANK_BY, r->how.by),
           r->several_batches ? "an item, " : "", r->step);
    ft__model_print_assumptions(r->graph);
    printf("assumed: %s, %s\n", r->mode, r->dtype);
    good = print_table(r, top);
    putchar('\n');
    print_too_large(r);
    print_over_limits(r);
    print_unknown(r);
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

    for (int q = 0; q < FT_RANK_BY_COUNT; q++)
        if (json_object_set_new(
                o, ft_name(FT_NAMES_RANK_BY, (ft_rank_by)q),
                ft__json_estimate(&k->value[q],
                                  ft_name(FT_NAMES_RANK_UNIT, (ft_rank_by)q)))) {
            json_decref(o);
            return NULL;
        }
    return o;
}

static json_t *choice_json(const ft__ranking *r, size_t i)
{
    const ft__choice *x = &r->choice[i];
    const ft_ranked *k = &r->ranked[i];

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, "
        "s:o, s:o}",
        "place", k->place ? ft__json_count(k->place) : json_null(), "device",
        ft__json_text(x->device), "batch", ft__json_count((uint64_t)x->batch),
        "clock_hz", ft__json_real(x->clock_hz), "engine", ft__json_text(x->engine),
        "setting", ft__json_text(x->setting), "state", state_name(k->state), "limit",
        k->state == FT_RANK_OVER_LIMIT ? ft__json_text(r->limit_text[k->limit])
                                       : json_null(),
        "values", values_json(k), "memory_limit", ft__json_real(x->limit_bytes),
        "max_batch",
        x->max_batch >= 0 ? ft__json_count((uint64_t)x->max_batch) : json_null(),
        "pareto", k->pareto, "level", k->level, "risky", k->risky, "chance",
        ft__json_real(k->chance), "regret", ft__json_real(k->regret), "corrected_by",
        ft__json_count(x->n_known));
}

bool ft__ranking_json(const ft__ranking *r)
{
    json_t *all = json_array();

    for (size_t k = 0; k < r->n; k++)
        ft__json_append_take(&all, choice_json(r, r->order[k]));
    return ft__json_print_take(
        json_pack(
            "{s:o, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "model",
            ft__json_text(r->model), "by", ft_name(FT_NAMES_RANK_BY, r->how.by), "per",
            r->several_batches ? "item" : "pass", "mode", r->mode, "step", r->step,
            "dtype", r->dtype, "assumptions", ft__model_assumptions_json(r->graph),
            "best",
            r->n_placed ? ft__json_text(r->choice[r->order[0]].device) : json_null(),
            "regret",
            r->n_placed ? ft__json_real(r->ranked[r->order[0]].regret) : json_null(),
            "choices", all),
        stdout);
}

void ft__ranking_csv(const ft__ranking *r)
{
    puts("place,device,batch,clock_hz,state,time_s,energy_j,power_w,edp,memory_bytes,"
         "cost,co2_g,low,high,pareto,level,chance,regret");
    for (size_t k = 0; k < r->n; k++) {
        const ft__choice *x = &r->choice[r->order[k]];
        const ft_ranked *v = &r->ranked[r->order[k]];
        const ft_estimate *e = v->value;

        ft__csv_row(stdout, "usugsggggggggguugg", (uint64_t)v->place, x->device,
                    (uint64_t)x->batch, x->clock_hz, state_name(v->state),
                    e[FT_RANK_BY_TIME].value, e[FT_RANK_BY_ENERGY].value,
                    e[FT_RANK_BY_POWER].value, e[FT_RANK_BY_EDP].value,
                    e[FT_RANK_BY_MEMORY].value, e[FT_RANK_BY_COST].value,
                    e[FT_RANK_BY_CO2].value, e[r->how.by].low, e[r->how.by].high,
                    (uint64_t)v->pareto, (uint64_t)v->level, v->chance, v->regret);
    }
}
