/* What rank --stdin says. */
#include <math.h>
#include <stdlib.h>

#include "cli/rank_lists.h"
#include "foretell/names.h"
#include "report/units.h"

enum { SHOWN_BAD = 5 };

static ft__text text_of(ft_rank_by of, double v)
{
    switch (of) {
    case FT_RANK_BY_TIME: return ft__text_seconds(v);
    case FT_RANK_BY_ENERGY: return ft__text_joules(v);
    case FT_RANK_BY_POWER: return ft__text_watts(v);
    case FT_RANK_BY_MEMORY: return ft__text_bytes(v);
    default: return ft__text_plain(v);
    }
}

/* Quantities that always have a column. */
static const ft_rank_by always[] = {FT_RANK_BY_TIME, FT_RANK_BY_ENERGY,
                                    FT_RANK_BY_MEMORY};
enum { N_ALWAYS = 3 };

static bool has_column(ft_rank_by by)
{
    return by == FT_RANK_BY_TIME || by == FT_RANK_BY_ENERGY || by == FT_RANK_BY_MEMORY;
}

static void print_bad(const ft__lists *s)
{
    size_t shown = 0;

    for (size_t i = 0; i < s->n && shown < SHOWN_BAD; i++)
        if (s->network[i].why) {
            ft__cli_exit(s->q->c, FT__EXIT_INPUT, "network %zu (%s) is skipped: %s",
                         i + 1, s->network[i].name, s->network[i].why);
            shown++;
        }
    if (s->n_bad > shown)
        ft__cli_exit(s->q->c, FT__EXIT_INPUT,
                     "and %zu more are skipped; --csv names them", s->n_bad - shown);
}

static bool print_table(const ft__lists *s, uint64_t top)
{
    const ft__rank_question *q = s->q;
    const bool own = !has_column(q->r.how.by), several = q->n_devices > 1;
    const char *by = ft_name(FT_NAMES_RANK_BY, q->r.how.by);
    char columns[128];
    ft__table *t;
    bool printed;

    snprintf(columns, sizeof(columns), "#>|network<%s%s%s%s|time>|energy>|memory>|<",
             several ? "|device<" : "", own ? "|" : "", own ? by : "", own ? ">" : "");
    t = ft__table_new(columns);
    for (size_t k = 0; k < s->n_placed && k < top; k++) {
        const ft__list_place *p = &s->place[s->order[k]];
        const char *device = q->device[s->order[k] % q->n_devices];

        ft__table_cell(t, "%zu", k + 1);
        ft__table_cell(t, "%s", s->network[s->order[k] / q->n_devices].name);
        if (several)
            ft__table_cell(t, "%s", device);
        if (own)
            ft__table_cell(t, "%s",
                           text_of(q->r.how.by, ft__lists_quantity(q, &p->brief, device,
                                                                   q->r.how.by))
                               .s);
        for (int i = 0; i < N_ALWAYS; i++)
            ft__table_cell(
                t, "%s",
                text_of(always[i], ft__lists_quantity(q, &p->brief, device, always[i]))
                    .s);
        ft__table_cell(t, "%s", p->pareto ? "*" : "");
    }
    printed = ft__table_print_take(t, stdout);
    if (printed && s->n_placed)
        puts("\n*: no other is at least as good in time, energy and memory and better "
             "in "
             "one");
    return printed;
}

static size_t count_state(const ft__lists *s, ft_rank_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n * s->q->n_devices; i++)
        n += s->place[i].state == state && !s->network[i / s->q->n_devices].why;
    return n;
}

static bool print_text(const ft__lists *s)
{
    printf("%zu network%s by %s", s->n - s->n_bad, s->n - s->n_bad == 1 ? "" : "s",
           ft_name(FT_NAMES_RANK_BY, s->q->r.how.by));
    for (size_t d = 0; d < s->q->n_devices; d++)
        printf("%s%s", d ? ", " : " on ", s->q->device[d]);
    printf(": %zu placed, %zu miss a limit, %zu do not fit, %zu are not known\n\n",
           s->n_placed, count_state(s, FT_RANK_OVER_LIMIT),
           count_state(s, FT_RANK_TOO_LARGE), count_state(s, FT_RANK_UNKNOWN));
    return print_table(s, s->q->o->top ? s->q->o->top : 20);
}

static const char *state_name(const ft__lists *s, size_t i)
{
    static const char *const names[] = {
        [FT_RANK_PLACED] = "placed",
        [FT_RANK_TOO_LARGE] = "too large",
        [FT_RANK_OVER_LIMIT] = "over limit",
        [FT_RANK_UNKNOWN] = "unknown",
    };

    return s->network[i / s->q->n_devices].why ? "bad" : names[s->place[i].state];
}

/* In the order in which they came. */
static void print_csv(const ft__lists *s)
{
    const size_t n_devices = s->q->n_devices;
    size_t *placed = calloc(s->n * n_devices + 1, sizeof(*placed));

    for (size_t k = 0; placed && k < s->n_placed; k++)
        placed[s->order[k]] = k + 1;
    puts("place,network,device,state,time_s,energy_j,power_w,memory_bytes,pareto,why");
    for (size_t i = 0; placed && i < s->n * n_devices; i++) {
        const ft__list_place *p = &s->place[i];
        const ft__list_network *n = &s->network[i / n_devices];
        char place[32] = "";

        if (placed[i])
            snprintf(place, sizeof(place), "%zu", placed[i]);
        ft__csv_row(stdout, "ssssggggus", place, n->name, s->q->device[i % n_devices],
                    state_name(s, i), p->brief.time_s, p->brief.energy_j,
                    p->brief.power_w, p->brief.memory_bytes, (uint64_t)p->pareto,
                    n->why ? n->why : "");
    }
    free(placed);
}

static bool print_json(const ft__lists *s, uint64_t top)
{
    json_t *all = json_array(), *bad = json_array();

    for (size_t k = 0; k < s->n_placed && k < top; k++) {
        const ft__list_place *p = &s->place[s->order[k]];

        ft__json_append_take(
            &all,
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:b}", "network",
                      ft__json_text(s->network[s->order[k] / s->q->n_devices].name),
                      "device", s->q->device[s->order[k] % s->q->n_devices], "time_s",
                      ft__json_real(p->brief.time_s), "energy_j",
                      ft__json_real(p->brief.energy_j), "power_w",
                      ft__json_real(p->brief.power_w), "memory_bytes",
                      ft__json_real(p->brief.memory_bytes), "pareto", (int)p->pareto));
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->network[i].why)
            ft__json_append_take(
                &bad, json_pack("{s:o, s:o, s:o}", "number", ft__json_count(i + 1),
                                "network", ft__json_text(s->network[i].name), "why",
                                ft__json_text(s->network[i].why)));
    return ft__json_print_take(
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "by",
                  ft_name(FT_NAMES_RANK_BY, s->q->r.how.by), "networks",
                  ft__json_count(s->n), "placed", ft__json_count(s->n_placed),
                  "over_limit", ft__json_count(count_state(s, FT_RANK_OVER_LIMIT)),
                  "skipped", bad, "best", all),
        stdout);
}

/* What is wrong with the input goes before "no", and that before what is missing. */
int ft__lists_verdict(const ft__lists *s)
{
    if (s->n_bad)
        print_bad(s);
    if (*s->unknown)
        ft__cli_exit(s->q->c, FT__EXIT_MISSING, "%s", s->unknown);
    if (s->n_bad)
        return FT__EXIT_INPUT;
    if (s->n_placed)
        return FT__EXIT_GOOD;
    return count_state(s, FT_RANK_UNKNOWN) == s->n * s->q->n_devices ? FT__EXIT_MISSING
                                                                     : FT__EXIT_NO;
}

int ft__lists_print(const ft__lists *s)
{
    const uint64_t top = s->q->o->top ? s->q->o->top : 20;
    bool printed = true;

    if (s->q->c->csv)
        print_csv(s);
    else
        printed = s->q->c->json ? print_json(s, top) : print_text(s);
    return ft__cli_done(s->q->c, printed);
}
