/* What is asked of rank, as it is written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rank_question.h"
#include "foretell/names.h"

/* A quantity with the units that may stand behind it. */
static bool amount(double *out, ft_rank_by of, const char *text)
{
    static const char *const watts[] = {"", "W", "mW", "kW", NULL};
    static const char *const joules[] = {"", "J", "mJ", "uJ", "kJ", NULL};
    static const char *const bytes[] = {"", "B", "KiB", "MiB", "GiB", "GB", NULL};
    static const char *const grams[] = {"", "g", "mg", "ug", "kg", NULL};
    static const char *const plain[] = {"", NULL};
    static const double of_watts[] = {1, 1, 1e-3, 1e3}, of_plain[] = {1};
    static const double of_joules[] = {1, 1, 1e-3, 1e-6, 1e3};
    static const double of_bytes[] = {1, 1, 0x1p10, 0x1p20, 0x1p30, 1e9};
    static const double of_grams[] = {1, 1, 1e-3, 1e-6, 1e3};

    switch (of) {
    case FT_RANK_BY_TIME: return ft__seconds_from_text(out, text) && *out > 0;
    case FT_RANK_BY_POWER: return ft__number_from_text(out, text, watts, of_watts);
    case FT_RANK_BY_ENERGY: return ft__number_from_text(out, text, joules, of_joules);
    case FT_RANK_BY_MEMORY: return ft__number_from_text(out, text, bytes, of_bytes);
    case FT_RANK_BY_CO2: return ft__number_from_text(out, text, grams, of_grams);
    case FT_RANK_BY_EDP:
    case FT_RANK_BY_COST: return ft__number_from_text(out, text, plain, of_plain);
    case FT_RANK_BY_COUNT: break;
    }
    return false;
}

static int read_by(ft__rank_question *q)
{
    const char *by = q->o->by ? q->o->by : "time";

    int of = ft_from_name(FT_NAMES_RANK_BY, by, strlen(by));

    if (of < 0)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--by %s: it is one of time, energy, power, edp, memory, "
                            "cost, co2",
                            by);
    q->r.how.by = (ft_rank_by)of;
    return FT__EXIT_GOOD;
}

static int read_limits(ft__rank_question *q)
{
    const ft__texts *t = &q->o->limits;

    if (t->n > FT_RANK_MAX_LIMITS)
        return ft__cli_exit(q->c, FT__EXIT_USAGE, "at most %d of --limit",
                            FT_RANK_MAX_LIMITS);
    for (size_t i = 0; i < t->n; i++) {
        size_t len = strcspn(t->v[i], "=");
        ft_rank_limit *l = &q->r.how.limit[i];

        int of = ft_from_name(FT_NAMES_RANK_BY, t->v[i], len);

        l->of = (ft_rank_by)of;
        if (of < 0 || !t->v[i][len] || !amount(&l->most, l->of, t->v[i] + len + 1))
            return ft__cli_exit(q->c, FT__EXIT_USAGE,
                                "--limit %s: it wants a quantity and the most of it, "
                                "such as time=10ms, energy=2J or memory=8GiB",
                                t->v[i]);
        q->r.limit_text[i] = t->v[i];
    }
    q->r.how.n_limits = (uint32_t)t->n;
    return FT__EXIT_GOOD;
}

/* "a30=2.49/h"; "2.49/h" is of every device. */
static int read_prices(ft__rank_question *q)
{
    static const char *const unit[] = {"/h", "/min", "/s", "/day", NULL};
    static const double factor[] = {1.0 / 3600, 1.0 / 60, 1, 1.0 / 86400};
    const ft__texts *t = &q->o->prices;

    q->price = calloc(t->n + 1, sizeof(*q->price));
    if (!q->price)
        return ft__cli_done(q->c, false);
    for (size_t i = 0; i < t->n; i++) {
        const char *equals = strchr(t->v[i], '=');
        ft__price *p = &q->price[i];

        if (equals)
            snprintf(p->device, sizeof(p->device), "%.*s", (int)(equals - t->v[i]),
                     t->v[i]);
        if (!ft__number_from_text(&p->per_s, equals ? equals + 1 : t->v[i], unit,
                                  factor))
            return ft__cli_exit(q->c, FT__EXIT_USAGE,
                                "--price %s: it wants a device and what it costs, such "
                                "as a30=2.49/h",
                                t->v[i]);
    }
    q->r.priced = t->n > 0;
    return FT__EXIT_GOOD;
}

static int read_co2(ft__rank_question *q)
{
    static const char *const unit[] = {"g/kWh", "kg/kWh", "", NULL};
    static const double factor[] = {1 / 3.6e6, 1e3 / 3.6e6, 1 / 3.6e6};

    q->co2_g_per_j = NAN;
    if (q->o->co2 && !ft__number_from_text(&q->co2_g_per_j, q->o->co2, unit, factor))
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--co2 %s: it wants grams per kilowatt hour, such as "
                            "400g/kWh",
                            q->o->co2);
    q->r.co2 = q->o->co2 != NULL;
    return FT__EXIT_GOOD;
}

static int read_method(ft__rank_question *q)
{
    static const char *const known[] = {"physics", "roofline", "paleo"};
    const char *method = q->o->method;
    bool is = !method;

    for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !is; i++)
        is = strcmp(method, known[i]) == 0;
    if (!is)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method wants physics, roofline or paleo, not \"%s\"",
                            method);
    if (method && q->o->correct)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method %s uses no measurements: leave --correct out",
                            method);
    return FT__EXIT_GOOD;
}

int ft__rank_read_options(ft__rank_question *q)
{
    int code = read_by(q);

    if (!code)
        code = read_limits(q);
    if (!code)
        code = read_prices(q);
    if (!code)
        code = read_co2(q);
    if (!code)
        code = ft__batches_parse(q->c, q->batch, &q->n_batches, q->o->batches,
                                 &q->o->model);
    if (!code && q->o->clocks)
        code = ft__clock_list_parse(q->c, q->clock_hz, &q->n_clocks, q->o->clocks);
    if (!code && q->o->use.clock && q->n_clocks)
        code = ft__cli_exit(q->c, FT__EXIT_USAGE, "--clock or --clocks, not both");
    if (!code)
        code = read_method(q);
    if (!code)
        code = ft__use_parse(q->c, &q->use, &q->o->use);
    if (!code)
        code = ft__step_parse(q->c, &q->step, &q->o->step);
    q->r.several_batches = q->n_batches > 1;
    q->r.several_clocks = q->n_clocks > 0;
    q->r.how.seed = q->o->seed ? q->o->seed : 1;
    return code;
}
