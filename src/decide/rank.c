/* An order of devices, batches and clocks, and how sure it is. */
#include "foretell/rank.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "predict/query/estimate.h"

enum { DEFAULT_DRAWS = 4096 };
/* Nothing is drawn from below this share of an estimate: an end of 0 has no logarithm.
 */
static const double least_share = 1e-3;

static bool is_known(const ft_estimate *e)
{
    return e->basis != FT_BASIS_UNAVAILABLE && isfinite(e->value);
}

static bool is_bounded(const ft_estimate *e)
{
    return isfinite(e->low) && isfinite(e->high);
}

static ft_estimate times(ft_estimate e, double factor, const char *why)
{
    if (!is_known(&e))
        return e;
    if (!isfinite(factor))
        return ft__unavailable(why);
    return (ft_estimate){e.value * factor, e.low * factor, e.high * factor, e.basis,
                         ""};
}

static ft_estimate product(const ft_estimate *a, const ft_estimate *b)
{
    if (!is_known(a) || !is_known(b))
        return is_known(a) ? *b : *a;
    return (ft_estimate){a->value * b->value, a->low * b->low, a->high * b->high,
                         a->basis > b->basis ? a->basis : b->basis, ""};
}

/* All quantities of a pass, or of each of its `parts` items. */
static void quantities(ft_estimate out[FT_RANK_BY_COUNT], const ft_rank_entry *r,
                       double parts)
{
    ft_estimate time = times(r->time, 1 / parts, "");
    ft_estimate energy = is_known(&r->energy) || !is_known(&r->power)
                             ? times(r->energy, 1 / parts, "")
                             : product(&r->power, &time);

    out[FT_RANK_BY_TIME] = time;
    out[FT_RANK_BY_ENERGY] = energy;
    out[FT_RANK_BY_POWER] = r->power;
    out[FT_RANK_BY_EDP] = product(&energy, &time);
    out[FT_RANK_BY_MEMORY] = r->memory;
    out[FT_RANK_BY_COST] = times(time, r->price_per_s, "no price is given");
    out[FT_RANK_BY_CO2] =
        times(energy, r->co2_g_per_j, "no CO2 per kWh of electricity is given");
}

static void judge(ft_ranked *out, const ft_rank_entry *r, const ft_rank_options *opt)
{
    ft_estimate pass[FT_RANK_BY_COUNT];

    *out = (ft_ranked){.chance = NAN, .regret = NAN, .why = ""};
    quantities(out->value, r, r->items);
    quantities(pass, r, 1);
    if (r->memory.value > r->memory_limit_bytes) {
        out->state = FT_RANK_TOO_LARGE;
        return;
    }
    for (uint32_t i = 0; i < opt->n_limits && out->state == FT_RANK_PLACED; i++) {
        const ft_estimate *e = &pass[opt->limit[i].of];

        out->limit = i;
        if (!is_known(e)) {
            out->state = FT_RANK_UNKNOWN;
            out->why = e->why;
        } else if (e->value > opt->limit[i].most) {
            out->state = FT_RANK_OVER_LIMIT;
        } else if (!(e->high <= opt->limit[i].most)) {
            out->risky = 1;
        }
    }
    if (out->state == FT_RANK_PLACED && !is_known(&out->value[opt->by])) {
        out->state = FT_RANK_UNKNOWN;
        out->why = out->value[opt->by].why;
    }
}

struct ranked_place {
    size_t at;
    bool bound; /* a lower bound only */
    double value;
};

static int better_first(const void *a, const void *b)
{
    const struct ranked_place *x = a, *y = b;

    if (x->bound != y->bound)
        return x->bound - y->bound;
    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static size_t place(struct ranked_place *p, ft_ranked *out, size_t n, ft_rank_by by)
{
    size_t n_placed = 0;

    for (size_t i = 0; i < n; i++) {
        const ft_estimate *e = &out[i].value[by];

        if (out[i].state == FT_RANK_PLACED)
            p[n_placed++] = (struct ranked_place){i, !is_bounded(e), e->value};
    }
    qsort(p, n_placed, sizeof(*p), better_first);
    for (size_t k = 0; k < n_placed; k++)
        out[p[k].at].place = (uint32_t)k + 1;
    return n_placed;
}

/* One host keeps two devices waiting as long; what is left is how estimates join its
 * time with theirs. */
static const double same_host_share = 0.01;

/* Times that the host sets err as that host does, whatever the device. */
static const char *host_of(const ft_rank_entry *e, ft_rank_by by)
{
    return by == FT_RANK_BY_TIME || by == FT_RANK_BY_COST ? e->host : NULL;
}

static bool err_alike(const ft_rank_entry *a, const ft_rank_entry *b, ft_rank_by by)
{
    const char *x = host_of(a, by), *y = host_of(b, by);

    return x && y ? strcmp(x, y) == 0 : !x && !y && strcmp(a->device, b->device) == 0;
}

/* Which may be the first when measured. */
static void mark_level(ft_ranked *out, const ft_rank_entry *entry,
                       const struct ranked_place *p, size_t n, ft_rank_by by)
{
    const ft_estimate *first = n ? &out[p[0].at].value[by] : NULL;

    /* Of bounds alone nothing is known that could overlap. */
    for (size_t k = 1; k < n && is_bounded(first); k++) {
        const ft_estimate *e = &out[p[k].at].value[by];

        if (strcmp(entry[p[k].at].device, entry[p[0].at].device) == 0)
            continue;
        if (err_alike(&entry[p[k].at], &entry[p[0].at], by)) {
            if (e->value <= first->value * (1 + same_host_share))
                out[p[k].at].level = FT_RANK_LEVEL_HOST;
        } else if (!(e->low > first->high) && !(first->low > e->high)) {
            out[p[k].at].level = FT_RANK_LEVEL_INTERVALS;
        }
    }
}

enum { N_AIMS = 3 };
static const ft_rank_by aims[N_AIMS] = {FT_RANK_BY_TIME, FT_RANK_BY_ENERGY,
                                        FT_RANK_BY_COST};

static bool dominates(const ft_ranked *a, const ft_ranked *b, const bool *counts)
{
    bool better = false;

    for (int i = 0; i < N_AIMS; i++) {
        double x = a->value[aims[i]].value, y = b->value[aims[i]].value;

        /* What a lower bound is of may be much larger. */
        if (counts[i] && (x > y || (!is_bounded(&a->value[aims[i]]) &&
                                    is_bounded(&b->value[aims[i]]))))
            return false;
        better = better || (counts[i] && x < y);
    }
    return better;
}

static void mark_pareto(ft_ranked *out, const struct ranked_place *p, size_t n)
{
    bool counts[N_AIMS];

    for (int i = 0; i < N_AIMS; i++) {
        counts[i] = n > 0;
        for (size_t k = 0; k < n; k++)
            counts[i] = counts[i] && is_known(&out[p[k].at].value[aims[i]]);
    }
    for (size_t k = 0; k < n; k++) {
        bool beaten = false;

        for (size_t j = 0; j < n && !beaten; j++)
            beaten = dominates(&out[p[j].at], &out[p[k].at], counts);
        out[p[k].at].pareto = !beaten;
    }
}

/* What is drawn from: the logarithm is value + z below or above it. */
struct log_interval {
    double value;
    double below; /* of the logarithm, per sigma */
    double above;
    uint32_t device; /* or host, whose error it has */
    bool hosted;
};

static double to_end(double value, double end)
{
    return log(fmax(end / value, least_share)) / FT__Z90;
}

static uint32_t spread_make(struct log_interval *s, const ft_ranked *out,
                            const ft_rank_entry *entry, const struct ranked_place *p,
                            size_t n, ft_rank_by by)
{
    uint32_t n_devices = 0;

    for (size_t k = 0; k < n; k++) {
        const ft_estimate *e = &out[p[k].at].value[by];
        size_t j = 0;

        while (!err_alike(&entry[p[j].at], &entry[p[k].at], by))
            j++;
        s[k] = (struct log_interval){.value = e->value,
                                     .below = -to_end(e->value, e->low),
                                     .above = to_end(e->value, e->high),
                                     .device = j < k ? s[j].device : n_devices++,
                                     .hosted = host_of(&entry[p[k].at], by) != NULL};
    }
    return n_devices;
}

/* Box and Muller 1958; u in (0, 1]. */
static double normal(ft__prng *lot)
{
    double u = 1 - ft__prng_unit(lot), angle = ft__prng_unit(lot);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * angle);
}

struct tally {
    const struct log_interval *s;
    size_t n;
    double *z;     /* per device */
    double *drawn; /* per entry */
    double *best;  /* how often */
    double *loss;  /* sum of value / least */
};

/* Entries closer than this are the same one but for rounding: two clocks of a device
 * that the host keeps waiting. */
static const double same_share = 1e-9;

static bool ties(const struct tally *t, size_t k, size_t least)
{
    const bool hosted = t->s[k].hosted && t->s[k].device == t->s[least].device;

    return t->drawn[k] <=
           t->drawn[least] * (1 + (hosted ? same_host_share : same_share));
}

static void draw(struct tally *t, ft__prng *lot, uint32_t n_devices)
{
    size_t least = 0;
    double n_ties = 0;

    for (uint32_t d = 0; d < n_devices; d++)
        t->z[d] = normal(lot);
    for (size_t k = 0; k < t->n; k++) {
        double z = t->z[t->s[k].device];

        t->drawn[k] = t->s[k].value * exp(z * (z < 0 ? t->s[k].below : t->s[k].above));
        if (t->drawn[k] < t->drawn[least])
            least = k;
    }
    for (size_t k = 0; k < t->n; k++)
        n_ties += ties(t, k, least);
    for (size_t k = 0; k < t->n; k++)
        if (ties(t, k, least))
            t->best[k] += 1 / n_ties;
    for (size_t k = 0; k < t->n; k++)
        t->loss[k] += t->drawn[k] / t->drawn[least];
}

static ft_status weigh(ft_ranked *out, const ft_rank_entry *entry,
                       const struct ranked_place *p, size_t n,
                       const ft_rank_options *opt, ft_error *err)
{
    uint32_t draws = opt->n_draws ? opt->n_draws : DEFAULT_DRAWS, n_devices;
    ft__prng lot = ft__prng_stream(opt->seed, 0);
    struct log_interval *s = calloc(n + 1, sizeof(*s));
    double *room = calloc(4 * n + 1, sizeof(*room));
    struct tally t = {s, n, room, room + n, room + 2 * n, room + 3 * n};

    if (!s || !room) {
        free(s);
        free(room);
        return ft_fail(err, FT_ENOMEM, 0, "%zu to rank", n);
    }
    n_devices = spread_make(s, out, entry, p, n, opt->by);
    for (uint32_t i = 0; i < draws; i++)
        draw(&t, &lot, n_devices);
    for (size_t k = 0; k < n; k++) {
        out[p[k].at].chance = t.best[k] / draws;
        out[p[k].at].regret = t.loss[k] / draws - 1;
    }
    free(s);
    free(room);
    return FT_OK;
}

static bool can_weigh(const struct ranked_place *p, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (p[k].bound || !(p[k].value > 0))
            return false;
    return n > 0;
}

static ft_status check(const ft_rank_entry *entry, size_t n, const ft_rank_options *opt,
                       ft_error *err)
{
    if ((unsigned)opt->by >= FT_RANK_BY_COUNT || opt->n_limits > FT_RANK_MAX_LIMITS ||
        n > FT_RANK_MAX_ENTRIES)
        return ft_fail(err, FT_EINVAL, 0, "ranking: an option is out of range");
    for (uint32_t i = 0; i < opt->n_limits; i++)
        if ((unsigned)opt->limit[i].of >= FT_RANK_BY_COUNT)
            return ft_fail(err, FT_EINVAL, 0, "ranking: limit %u is of nothing", i);
    for (size_t i = 0; i < n; i++)
        if (!(entry[i].items >= 1))
            return ft_fail(err, FT_EINVAL, 0, "ranking: entry %zu has no items", i);
    return FT_OK;
}

ft_status ft_rank(ft_ranked *out, const ft_rank_entry *entry, size_t n,
                  const ft_rank_options *opt, ft_error *err)
{
    ft_status st = check(entry, n, opt, err);
    struct ranked_place *p;
    size_t n_placed;

    if (st)
        return st;
    p = calloc(n + 1, sizeof(*p));
    if (!p)
        return ft_fail(err, FT_ENOMEM, 0, "%zu to rank", n);
    for (size_t i = 0; i < n; i++)
        judge(&out[i], &entry[i], opt);
    n_placed = place(p, out, n, opt->by);
    mark_level(out, entry, p, n_placed, opt->by);
    mark_pareto(out, p, n_placed);
    if (can_weigh(p, n_placed))
        st = weigh(out, entry, p, n_placed, opt, err);
    free(p);
    return st;
}
