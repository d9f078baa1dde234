/* What rank says of a language model that is served: a table, what is left out and why,
 * and the nearest better setting. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/serve/ranking.h"
#include "report/units.h"

/* Characters of a way's options. */
enum { MORE = 64 + FT__MAX_DIM_LISTS * 48 };

static const char *const quantity_unit[] = {
    [FT__BY_ENERGY] = "J", [FT__BY_POWER] = "W",  [FT__BY_TTFT] = "s",
    [FT__BY_TPOT] = "s",   [FT__BY_ITL] = "s",    [FT__BY_E2E] = "s",
    [FT__BY_USER] = "s",   [FT__BY_DEVICE] = "s", [FT__BY_COST] = "",
};

/* Of those that miss a limit by half of it at most and are better than the first, the
 * one that misses least; NULL: none. */
static const ft__serve_setting *nearest_better(const ft__serve_ranking *r)
{
    const double best =
        r->n_placed ? ft__serve_value_of(&r->setting[r->order[0]], r->by, FT_SERVE_MEAN)
                    : INFINITY;
    const ft__serve_setting *found = NULL;

    for (size_t i = 0; i < r->n; i++) {
        const ft__serve_setting *x = &r->setting[i];

        if (x->state == FT__SERVE_OVER_LIMIT &&
            ft__serve_value_of(x, r->by, FT_SERVE_MEAN) < 0.98 * best &&
            (x->excess < 0.5 || !r->n_placed) && (!found || x->excess < found->excess))
            found = x;
    }
    return found;
}

static const char *precision_of(const ft__serve_way *w)
{
    return w->weight_bits == 16  ? "bf16"
           : w->weight_bits == 8 ? "fp8"
           : w->weight_bits == 4 ? "fp4"
                                 : "as is";
}

static void say_way(char out[MORE], const ft__serve_way *w)
{
    size_t n = 0;

    *out = '\0';
    if (w->clock_hz > 0)
        n += (size_t)snprintf(out + n, MORE - n, " --clock %.0fMHz", w->clock_hz / 1e6);
    if (w->cap_w > 0)
        n += (size_t)snprintf(out + n, MORE - n, " --power-cap %.0fW", w->cap_w);
    if (w->weight_bits)
        n += (size_t)snprintf(out + n, MORE - n, " --precision %s", precision_of(w));
    for (const char *at = w->dims; *at && n < MORE; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");

        n += (size_t)snprintf(out + n, MORE - n, " --dim %.*s", (int)len, at);
        at += len;
    }
}

static void say_nearest(char *out, size_t size, const ft__serve_ranking *r)
{
    const ft__serve_setting *x = nearest_better(r);
    const ft__serve_limit *l;
    char gain[64] = "meets all limits but one", users[48] = "", more[MORE];

    *out = '\0';
    if (!x)
        return;
    l = &r->limit[x->limit];
    if (r->n_placed)
        snprintf(gain, sizeof(gain), "is %.0f %% better",
                 100 * (1 - ft__serve_value_of(x, r->by, FT_SERVE_MEAN) /
                                ft__serve_value_of(&r->setting[r->order[0]], r->by,
                                                   FT_SERVE_MEAN)));
    if (x->concurrency)
        snprintf(users, sizeof(users), " --concurrency %" PRIu64, x->concurrency);
    say_way(more, x->way);
    snprintf(
        out, size,
        "nearest better setting: %s, --tp %" PRIu64 "%s%s, %s where %s may be %s",
        x->device, x->way->tp, users, more, gain, l->text,
        ft__text_in(quantity_unit[l->of], ft__serve_value_of(x, l->of, l->point)).s);
}

static size_t count_of(const ft__serve_ranking *r, ft__serve_state of)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += r->setting[i].state == of;
    return n;
}

static bool lacks_hardware(const ft__serve_setting *x, ft_dtype t)
{
    return x->state != FT__SERVE_UNKNOWN && x->state != FT__SERVE_NO_FIT &&
           x->s.no_hardware_for == t;
}

static bool is_said(const ft__serve_ranking *r, size_t n, const char *device,
                    ft_dtype t)
{
    for (size_t i = 0; i < n; i++)
        if (r->setting[i].device == device && lacks_hardware(&r->setting[i], t))
            return true;
    return false;
}

/* Each type once, with the devices that do not compute in it. */
static void print_no_hardware(const ft__serve_ranking *r)
{
    for (ft_dtype t = FT_DTYPE_NONE + 1; t < FT_DTYPE_COUNT; t++) {
        const char *ending = "";
        size_t n = 0;

        for (size_t i = 0; i < r->n; i++) {
            const ft__serve_setting *x = &r->setting[i];

            if (!lacks_hardware(x, t) || is_said(r, i, x->device, t))
                continue;
            ending = x->s.no_hardware_ending;
            if (n++)
                printf(", %s", x->device);
            else
                printf("warning: no hardware for %s: %s", ft__no_hardware_name(t),
                       x->device);
        }
        if (n)
            printf("; %s\n", ending);
    }
}

static void print_behind(const ft__serve_ranking *r)
{
    char behind[FT__REQUESTS_TEXT];
    size_t n = 0;

    for (size_t i = 0; i < r->n_placed; i++) {
        ft__behind_text(behind, &r->load[0], &r->setting[r->order[i]].s);
        n += *behind != '\0';
    }
    if (n)
        printf("warning: %zu of these serve fewer requests than the %g a second that "
               "come: they pile up there, and the more requests there are, the longer "
               "each waits\n",
               n, r->load[0].rate_per_s);
}

static void print_first_why(const ft__serve_ranking *r, ft__serve_state of,
                            const char *what)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->setting[i].state == of && *r->setting[i].why) {
            ft__put_line(stdout, what, r->setting[i].why);
            return;
        }
}

/* Between what the first may be, and by what. */
static void print_best(const ft__serve_ranking *r)
{
    const ft_served *s = &r->setting[r->order[0]].s;
    const ft_estimate *ttft = &s->latency[FT_SERVE_TTFT][FT_SERVE_MEAN];
    const ft_estimate *tpot = &s->latency[FT_SERVE_TPOT][FT_SERVE_MEAN];
    const ft_estimate *rate = &s->tokens_per_s_per_device;

    printf("the first: TTFT %s .. %s, TPOT %s .. %s, a device %s .. %s tokens/s; %s\n",
           ft__text_seconds(ttft->low).s, ft__text_seconds(ttft->high).s,
           ft__text_seconds(tpot->low).s, ft__text_seconds(tpot->high).s,
           ft__text_plain(rate->low).s, ft__text_plain(rate->high).s,
           ft_name(FT_NAMES_BASIS, rate->basis));
}

static void print_rest(const ft__serve_ranking *r, uint64_t top)
{
    char nearest[900], beyond[FT__REQUESTS_TEXT] = "";

    if (r->n_placed)
        print_best(r);
    if (r->serving.learned.n)
        printf("steps of the devices in %s are corrected by the runs measured there\n",
               r->q->o->correct);
    printf("%s: %zu placed", ft__text_counted(r->n, "setting").s, r->n_placed);
    if (r->n_placed > top)
        printf(" (--top %zu shows all)", r->n_placed);
    printf(", %zu too large, %zu over a limit, %zu not known\n",
           count_of(r, FT__SERVE_NO_FIT), count_of(r, FT__SERVE_OVER_LIMIT),
           count_of(r, FT__SERVE_UNKNOWN));
    if (!r->n_placed)
        print_first_why(r, FT__SERVE_NO_FIT, "too large, the first: ");
    print_first_why(r, FT__SERVE_UNKNOWN, "not known, the first: ");
    say_nearest(nearest, sizeof(nearest), r);
    if (*nearest)
        puts(nearest);
    print_no_hardware(r);
    print_behind(r);
    /* One model, and loads that differ in concurrency alone: the first says it of all.
     */
    for (size_t i = 0; i < r->n && !*beyond; i++) {
        ft__beyond_text(beyond, &r->load[0], &r->setting[i].s);
        if (*beyond)
            ft__put_line(stdout, "warning: ", beyond);
    }
}

static bool print_placed(const ft__serve_ranking *r, uint64_t top)
{
    ft__table *t = ft__table_new("place>u|device|?clock>|?cap>|n>u|tp>u|?dims|?users>u|"
                                 "weights|TTFT>s|TPOT>s|tokens/s a user>|a "
                                 "device>|J/token>J|?cost of 1e6>|Pareto",
                                 r->q->n_clocks > 0, r->n_caps > 0, r->n_lists > 0,
                                 r->load[0].concurrency > 0, r->q->o->prices.n > 0);

    for (size_t i = 0; i < r->n_placed && i < top; i++) {
        const ft__serve_setting *x = &r->setting[r->order[i]];

        ft__table_row(
            t, i + 1, x->device, ft__text_hertz(x->way->clock_hz).s,
            ft__text_watts(x->way->cap_w).s, x->s.devices, x->way->tp, x->way->dims,
            x->concurrency, precision_of(x->way),
            ft__serve_value_of(x, FT__BY_TTFT, FT_SERVE_MEAN),
            ft__serve_value_of(x, FT__BY_TPOT, FT_SERVE_MEAN),
            ft__text_plain(x->s.tokens_per_s_per_user.value).s,
            ft__text_plain(x->s.tokens_per_s_per_device.value).s,
            x->s.joules_per_token.value,
            ft__text_plain(ft__serve_value_of(x, FT__BY_COST, FT_SERVE_MEAN)).s,
            x->pareto ? "yes" : "");
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    putchar('\n');
    return true;
}

/* Of all loads: lengths vary where one request follows another. */
static void say_requests(char out[FT__REQUESTS_TEXT], const ft__serve_ranking *r)
{
    const ft_serve_load *alike = &r->load[0];
    double vary = 0;

    for (size_t i = 0; i < r->serving.n_concurrency; i++) {
        vary = fmax(vary, r->load[i].vary);
        alike = r->load[i].vary < alike->vary ? &r->load[i] : alike;
    }
    ft__requests_text(out, alike);
    if (alike->vary < vary) {
        const size_t len = strlen(out);

        snprintf(out + len, FT__REQUESTS_TEXT - len,
                 " (within %g %% where one follows another)", 100 * vary);
    }
}

/* Of the load and, but for which step it would be without one, of the model. */
static json_t *assumptions_of(const ft__serve_ranking *r)
{
    const ft_dim_value bits = {"weight_bits", r->way[0].weight_bits};
    char requests[FT__REQUESTS_TEXT];
    const char *const load[] = {requests};
    ft_query q = r->way[0].query;
    ft_graph *g = NULL;
    json_t *all;

    say_requests(requests, r);
    all = ft__json_texts(load, 1);
    q.dims = &bits;
    q.n_dims = bits.value > 0;
    ft_query_import(&g, &q, NULL);
    for (size_t i = 1; g && i < g->n_assumptions; i++)
        ft__json_append_take(&all, json_string(g->assumption[i]));
    ft_graph_free(g);
    return all;
}

bool ft__serve_ranking_print(const ft__serve_ranking *r, uint64_t top)
{
    json_t *assumed = assumptions_of(r);

    ft__put_clean(stdout, r->q->c->args.v[0]);
    printf(", served, by %s\n", r->by_name);
    for (size_t i = 0; i < json_array_size(assumed); i++)
        ft__put_line(stdout,
                     "assumed: ", json_string_value(json_array_get(assumed, i)));
    json_decref(assumed);
    putchar('\n');
    if (r->n_placed && !print_placed(r, top))
        return false;
    print_rest(r, top);
    return true;
}

static const char *const state_name[] = {"placed", "does not fit", "over limit",
                                         "not known"};

static bool is_answered(const ft__serve_setting *x)
{
    return x->state == FT__SERVE_PLACED || x->state == FT__SERVE_OVER_LIMIT;
}

/* Means; place 0: it is not placed, for this reason. */
static const char setting_fields[] =
    "place:u device:s clock_hz:g power_cap_w:g tp:u dims:z concurrency:m precision:z "
    "state:s why:z ttft_s:g tpot_s:g itl_s:g e2e_s:g tokens_per_s_per_user:g "
    "tokens_per_s_per_device:g joules_per_token:g power_w:g cost_per_1e6_tokens:g "
    "pareto:b";

static void csv_setting(const ft__serve_ranking *r, const ft__serve_setting *x,
                        uint64_t place)
{
    const double at = x->way->clock_hz, cap = x->way->cap_w;
    double v[FT__BY_DEVICE + 1];

    for (int by = 0; by <= FT__BY_DEVICE; by++)
        v[by] = is_answered(x) ? ft__serve_value_of(x, (ft__serve_by)by, FT_SERVE_MEAN)
                               : NAN;
    ft__csv_row(stdout, setting_fields, place, x->device, at > 0 ? at : NAN,
                cap > 0 ? cap : NAN, x->way->tp, x->way->dims,
                x->concurrency ? x->concurrency : UINT64_MAX,
                x->way->weight_bits ? precision_of(x->way) : "", state_name[x->state],
                x->state == FT__SERVE_OVER_LIMIT ? r->limit[x->limit].text : x->why,
                v[FT__BY_TTFT], v[FT__BY_TPOT], v[FT__BY_ITL], v[FT__BY_E2E],
                1 / v[FT__BY_USER], 1 / v[FT__BY_DEVICE], v[FT__BY_ENERGY],
                v[FT__BY_POWER], v[FT__BY_COST], x->pareto);
}

void ft__serve_ranking_csv(const ft__serve_ranking *r, uint64_t top)
{
    ft__csv_head(stdout, setting_fields);
    for (size_t i = 0; i < r->n_placed && i < top; i++)
        csv_setting(r, &r->setting[r->order[i]], i + 1);
    for (size_t i = 0; i < r->n; i++)
        if (r->setting[i].state != FT__SERVE_PLACED)
            csv_setting(r, &r->setting[i], 0);
}

static json_t *setting_json(const ft__serve_ranking *r, const ft__serve_setting *x,
                            uint64_t place)
{
    json_t *o = ft__json(
        "place:u device:s clock:g power_cap:g tp:u dims:z concurrency:m precision:z "
        "state:s limit:z why:z pareto:b",
        place, x->device, x->way->clock_hz > 0 ? x->way->clock_hz : NAN,
        x->way->cap_w > 0 ? x->way->cap_w : NAN, x->way->tp, x->way->dims,
        x->concurrency ? x->concurrency : UINT64_MAX,
        x->way->weight_bits ? precision_of(x->way) : "", state_name[x->state],
        x->state == FT__SERVE_OVER_LIMIT ? r->limit[x->limit].text : "", x->why,
        x->pareto);

    if (is_answered(x))
        ft__json_set_take(&o, "served", ft__served_json(&x->s, x->price_per_s));
    return o;
}

json_t *ft__serve_ranking_json(const ft__serve_ranking *r)
{
    json_t *placed = json_array(), *others = json_array();
    char nearest[900];

    for (size_t i = 0; i < r->n_placed; i++)
        ft__json_append_take(&placed, setting_json(r, &r->setting[r->order[i]], i + 1));
    for (size_t i = 0; i < r->n; i++)
        if (r->setting[i].state != FT__SERVE_PLACED)
            ft__json_append_take(&others, setting_json(r, &r->setting[i], 0));
    say_nearest(nearest, sizeof(nearest), r);
    return ft__json("model:s by:s assumptions:o settings:u placed:o others:o "
                    "nearest_better:z",
                    r->q->c->args.v[0], r->by_name, assumptions_of(r), (uint64_t)r->n,
                    placed, others, nearest);
}
