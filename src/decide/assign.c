/* Several networks on several devices: branch and bound. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/names.h"
#include "foretell/place.h"

enum { DEFAULT_STEPS = 20000000 };
/* Ways closer than this are one but for rounding. */
static const double SAME = 1e-12;

struct assignment_search {
    const ft_assign_case *c;
    ft_place_by by;
    size_t *order; /* of the networks: the longest first */
    double
        *least_s; /* of those from place k on, on the best device of each, added up */
    double *least_j;
    double *load_s; /* of each device */
    double *load_bytes;
    double energy_j;
    uint32_t *device; /* by network, as it stands */
    uint32_t *best;
    double best_value; /* INFINITY: none yet */
    uint64_t steps, most_steps;
};

static double time_of(const struct assignment_search *s, size_t i, size_t d)
{
    return s->c->time_s[i * s->c->devices + d];
}

static double energy_of(const struct assignment_search *s, size_t i, size_t d)
{
    return s->c->energy_j ? s->c->energy_j[i * s->c->devices + d] : 0;
}

static double bytes_of(const struct assignment_search *s, size_t i, size_t d)
{
    const double bytes =
        s->c->memory_bytes ? s->c->memory_bytes[i * s->c->devices + d] : 0;

    return isnan(bytes) ? 0 : bytes;
}

static bool can_take(const struct assignment_search *s, size_t i, size_t d)
{
    double bytes = s->load_bytes[d] + bytes_of(s, i, d);

    return !isnan(time_of(s, i, d)) &&
           !(s->by == FT_PLACE_BY_ENERGY && isnan(energy_of(s, i, d))) &&
           s->load_s[d] + time_of(s, i, d) <= s->c->limit_s &&
           !(s->c->limit_bytes && bytes > s->c->limit_bytes[d]);
}

static void put(struct assignment_search *s, size_t i, size_t d)
{
    s->load_s[d] += time_of(s, i, d);
    s->load_bytes[d] += bytes_of(s, i, d);
    s->energy_j += energy_of(s, i, d);
    s->device[i] = (uint32_t)d;
}

static double longest(const struct assignment_search *s)
{
    double most = 0;

    for (size_t d = 0; d < s->c->devices; d++)
        most = fmax(most, s->load_s[d]);
    return most;
}

/* Nothing that goes on from here is below this. */
static double bound_of(const struct assignment_search *s, size_t k)
{
    double sum = s->least_s[k];

    if (s->by == FT_PLACE_BY_ENERGY)
        return s->energy_j + s->least_j[k];
    for (size_t d = 0; d < s->c->devices; d++)
        sum += s->load_s[d];
    return fmax(longest(s), sum / (double)s->c->devices);
}

static double value_of(const struct assignment_search *s)
{
    return s->by == FT_PLACE_BY_ENERGY ? s->energy_j : longest(s);
}

/* What device d would be at after network i: the smaller, the sooner it is tried. */
static double rank_of(const struct assignment_search *s, size_t i, size_t d)
{
    return s->by == FT_PLACE_BY_ENERGY ? energy_of(s, i, d)
                                       : s->load_s[d] + time_of(s, i, d);
}

/* The next device for network i behind the one of rank `after`; devices: none. */
static size_t next_device(const struct assignment_search *s, size_t i, double after,
                          size_t after_d)
{
    size_t next = s->c->devices;

    for (size_t d = 0; d < s->c->devices; d++) {
        double r = rank_of(s, i, d);

        if (!can_take(s, i, d) || r < after || (r == after && d <= after_d))
            continue;
        if (next == s->c->devices || r < rank_of(s, i, next))
            next = d;
    }
    return next;
}

static void branch(struct assignment_search *s, size_t k)
{
    const size_t i = k < s->c->networks ? s->order[k] : 0;
    double rank = -INFINITY;
    size_t d = 0;

    if (k == s->c->networks) {
        if (value_of(s) < s->best_value) {
            s->best_value = value_of(s);
            memcpy(s->best, s->device, s->c->networks * sizeof(*s->best));
        }
        return;
    }
    while (s->steps < s->most_steps) {
        double load_s, load_bytes, energy_j;

        d = next_device(s, i, rank, rank == -(double)INFINITY ? SIZE_MAX : d);
        if (d == s->c->devices)
            return;
        rank = rank_of(s, i, d);
        s->steps++;
        /* What was there before, so that nothing is lost in taking it away. */
        load_s = s->load_s[d];
        load_bytes = s->load_bytes[d];
        energy_j = s->energy_j;
        put(s, i, d);
        if (bound_of(s, k + 1) < s->best_value * (1 - SAME))
            branch(s, k + 1);
        s->load_s[d] = load_s;
        s->load_bytes[d] = load_bytes;
        s->energy_j = energy_j;
    }
}

static double least_of(const struct assignment_search *s, size_t i, bool energy)
{
    double least = INFINITY;

    for (size_t d = 0; d < s->c->devices; d++)
        if (!isnan(time_of(s, i, d)))
            least = fmin(least, energy ? energy_of(s, i, d) : time_of(s, i, d));
    return least;
}

static void find_order(struct assignment_search *s)
{
    const size_t n = s->c->networks;

    for (size_t k = 0; k < n; k++) {
        size_t at = k;

        /* Insertion: there are few. */
        for (; at > 0 && least_of(s, s->order[at - 1], false) < least_of(s, k, false);
             at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = k;
    }
    for (size_t k = n; k-- > 0;) {
        s->least_s[k] = s->least_s[k + 1] + least_of(s, s->order[k], false);
        s->least_j[k] = s->least_j[k + 1] + least_of(s, s->order[k], true);
    }
}

static bool make(struct assignment_search *s)
{
    const size_t n = s->c->networks, m = s->c->devices;

    s->order = calloc(n + 1, sizeof(*s->order));
    s->least_s = calloc(n + 1, sizeof(*s->least_s));
    s->least_j = calloc(n + 1, sizeof(*s->least_j));
    s->load_s = calloc(m + 1, sizeof(*s->load_s));
    s->load_bytes = calloc(m + 1, sizeof(*s->load_bytes));
    s->device = calloc(n + 1, sizeof(*s->device));
    s->best = calloc(n + 1, sizeof(*s->best));
    return s->order && s->least_s && s->least_j && s->load_s && s->load_bytes &&
           s->device && s->best;
}

static void search_free(struct assignment_search *s)
{
    free(s->order);
    free(s->least_s);
    free(s->least_j);
    free(s->load_s);
    free(s->load_bytes);
    free(s->device);
    free(s->best);
}

static void take(ft_assignment *out, struct assignment_search *s, double bound)
{
    memset(s->load_s, 0, s->c->devices * sizeof(*s->load_s));
    s->energy_j = 0;
    for (size_t i = 0; i < s->c->networks; i++) {
        s->load_s[s->best[i]] += time_of(s, i, s->best[i]);
        s->energy_j += energy_of(s, i, s->best[i]);
    }
    *out = (ft_assignment){.device = s->best,
                           .time_s = longest(s),
                           .energy_j = s->c->energy_j ? s->energy_j : (double)NAN,
                           .exact = s->steps < s->most_steps};
    out->bound = out->exact ? s->best_value : bound;
    s->best = NULL;
}

ft_status ft_place_assign(ft_assignment *out, const ft_assign_case *c, ft_place_by by,
                          ft_error *err)
{
    struct assignment_search s = {.c = c,
                                  .by = by,
                                  .best_value = INFINITY,
                                  .most_steps =
                                      c->most_steps ? c->most_steps : DEFAULT_STEPS};
    ft_status st = FT_OK;

    *out = (ft_assignment){0};
    if (!c->networks || !c->devices ||
        (by != FT_PLACE_BY_TIME && by != FT_PLACE_BY_ENERGY))
        return ft_fail(err, FT_EINVAL, 0, "nothing to assign for the least %s",
                       ft_name(FT_NAMES_PLACE_BY, by));
    if (by == FT_PLACE_BY_ENERGY && !c->energy_j)
        return ft_fail(err, FT_ENOTFOUND, 0, "the energy of a network is unknown");
    if (!make(&s)) {
        st = ft_fail(err, FT_ENOMEM, 0, "%zu networks", c->networks);
    } else {
        double bound;

        find_order(&s);
        bound = bound_of(&s, 0);
        branch(&s, 0);
        if (isfinite(s.best_value))
            take(out, &s, bound);
        else
            st = ft_fail(err, FT_ENOTFOUND, 0,
                         s.steps < s.most_steps
                             ? "there is no way to place them all within the limits"
                             : "no way to place them all was found");
    }
    search_free(&s);
    return st;
}

void ft_assignment_free(ft_assignment *a)
{
    free(a->device);
    a->device = NULL;
}
