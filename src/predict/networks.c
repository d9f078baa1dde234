/* How well operations foretell networks: each network, or all of a device, left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "predict/families.h"
#include "predict/study.h"

/* ---- the schedule, and how far it strays ---- */

/* What is known of a schedule before, in networks; INFINITY: all of it. What fits the
 * host and the kernels of some devices may tell nothing of another: that is found out.
 */
static const double of_place[] = {1}, of_devices[] = {1, INFINITY};

/* A network in the terms of one session of operations. */
struct view {
    uint32_t session;
    ft__schedule s;
    double weight;         /* of its answer; those of all views are 1 */
    double *time, *energy; /* by whole: log of truth over estimate, of those that the
                              schedule was not fitted to; NaN: not known */
};

/* Operations that were measured in several sessions contradict each other where clocks
 * drifted: each session's answer counts by how well it tells other networks. */
struct views {
    struct view v[FT__MAX_SESSIONS];
    uint32_t n;
    double *time, *energy; /* strays of all views together */
    double loss;           /* of times */
};

static double *reserve(double **room, size_t n)
{
    double *out = *room;

    *room += n;
    for (size_t i = 0; i < n; i++)
        out[i] = NAN;
    return out;
}

/* Doubles that the views of n networks take. */
static size_t room_of(size_t n)
{
    return (size_t)(2 * FT__MAX_SESSIONS + 2) * n;
}

/* Fit to all networks but those of two groups. */
static void schedule_without(ft__schedule *s, const ft__study *y, uint32_t group,
                             uint32_t also, uint32_t session, double pull,
                             ft__known_network *scratch)
{
    size_t n = 0;

    for (size_t i = 0; i < y->w.n; i++)
        if (y->group[i] != group && y->group[i] != also &&
            ft__study_goes(y, group, y->group[i]))
            scratch[n++] = ft__study_known(y, session)[i];
    if (isfinite(pull))
        ft__schedule_fit(s, scratch, n, pull);
}

static double log_ratio(double truth, double estimate)
{
    return truth > 0 && estimate > 0 ? log(truth / estimate) : (double)NAN;
}

static void find_strays(struct view *v, const ft__study *y, uint32_t group,
                        const ft__schedule *start, double pull,
                        ft__known_network *scratch)
{
    for (uint32_t g = 0; g < y->n_groups; g++) {
        ft__schedule s = *start;

        if (g == group || !ft__study_goes(y, group, g))
            continue;
        schedule_without(&s, y, group, g, v->session, pull, scratch);
        for (size_t i = 0; i < y->w.n; i++) {
            const ft__known_network *k = &ft__study_known(y, v->session)[i];
            double t = ft__schedule_time(&k->load, &s);

            if (y->group[i] != g)
                continue;
            v->time[i] = log_ratio(k->time_s, t);
            v->energy[i] = log_ratio(k->energy_j, ft__schedule_energy(&k->load, &s, t));
        }
    }
}

/* Of what is known of stray[], by whole; 0: nothing is. */
static double mean_of(const ft__study *y, const double *stray, bool square)
{
    double sum = 0, weight = 0;

    for (size_t i = 0; i < y->w.n; i++)
        if (isfinite(stray[i])) {
            double w = ft__study_known(y, 0)[i].weight;

            sum += w * (square ? stray[i] * stray[i] : fabs(stray[i]));
            weight += w;
        }
    return weight > 0 ? sum / weight : 0;
}

/* Nobody is known to stray less. */
static const double least_square = 1e-6;

/* As errors that are independent are averaged. */
static void weigh(struct views *out, const ft__study *y)
{
    double sum = 0;

    for (uint32_t c = 0; c < out->n; c++)
        sum += out->v[c].weight =
            1 / fmax(mean_of(y, out->v[c].time, true), least_square);
    for (size_t i = 0; i < y->w.n; i++)
        out->time[i] = out->energy[i] = 0;
    for (uint32_t c = 0; c < out->n; c++) {
        struct view *v = &out->v[c];

        v->weight /= sum;
        for (size_t i = 0; i < y->w.n; i++) {
            out->time[i] += v->weight * v->time[i];
            out->energy[i] += v->weight * v->energy[i];
        }
    }
    out->loss = mean_of(y, out->time, false);
}

static bool has_session(const ft__prices *p, const char *session)
{
    for (uint32_t i = 0; i < p->n_sessions; i++)
        if (strcmp(p->session[i], session) == 0)
            return true;
    return false;
}

/* room: of room_of(). */
static void find_views(struct views *out, const ft__study *y, uint32_t group,
                       const ft__schedule *start, double pull, double *room,
                       ft__known_network *scratch)
{
    const size_t n = y->w.n;

    *out = (struct views){.time = reserve(&room, n), .energy = reserve(&room, n)};
    for (uint32_t c = 0; c < y->n_sessions; c++) {
        struct view *v;

        if (!ft__study_asks(y, group, c) || !has_session(&y->prices, y->session[c]))
            continue;
        v = &out->v[out->n++];
        *v = (struct view){.session = c,
                           .s = *start,
                           .time = reserve(&room, n),
                           .energy = reserve(&room, n)};
        find_strays(v, y, group, start, pull, scratch);
        schedule_without(&v->s, y, group, group, c, pull, scratch);
    }
    weigh(out, y);
}

/* Those of the pull by which other networks are told best; room: twice room_of(). */
static void choose_views(struct views *out, const ft__study *y, uint32_t group,
                         const ft__schedule *start, double *room,
                         ft__known_network *scratch)
{
    const bool devices = ft__study_devices(y);
    const double *pull = devices ? of_devices : of_place;
    const size_t n = devices ? sizeof(of_devices) / sizeof(*of_devices)
                             : sizeof(of_place) / sizeof(*of_place);
    double *spare = room + room_of(y->w.n);

    find_views(out, y, group, start, pull[0], room, scratch);
    for (size_t i = 1; i < n; i++) {
        double *freed = out->time == room ? spare : room;
        struct views next;

        find_views(&next, y, group, start, pull[i], freed, scratch);
        if (next.loss < out->loss)
            *out = next;
    }
}

/* ---- answers ---- */

/* stray[n] of networks; scratch[n]. */
static ft_estimate estimate(double value, const double *stray, size_t n,
                            double *scratch)
{
    double low, high;
    ft_estimate out = {value, NAN, NAN, FT_BASIS_LEARNED, ""};
    size_t known = 0;

    if (!(value > 0))
        return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "no power is known"};
    for (size_t i = 0; i < n; i++)
        if (isfinite(stray[i]))
            scratch[known++] = stray[i];
    if (known && !ft__schedule_range(&low, &high, scratch, known, NULL)) {
        out.low = value * exp(low);
        out.high = value * exp(high);
    }
    return out;
}

static ft__schedule start_of(const ft__prices *p)
{
    ft__schedule s = ft__schedule_plain();

    s.launch_s = p->launch_s;
    s.idle_w = isfinite(p->idle_w) ? p->idle_w : 0;
    return s;
}

static ft_network_case case_of(const ft__study *y, size_t i)
{
    const ft__whole *w = &y->w.v[i];
    const ft__dataset *d = &y->w.dataset[w->dataset];

    return (ft_network_case){.device = d->device,
                             .setting = d->setting,
                             .policy = d->policy,
                             .spec = w->spec,
                             .phase = w->phase,
                             .time_s = w->time_s,
                             .energy_j = w->energy_j};
}

/* Means of what all views say: of logarithms, and of shares. */
static ft_status answer(ft_network_case *out, const ft__study *y, size_t i,
                        const struct views *views, double *scratch, ft_error *err)
{
    double time = 0, energy = 0, sum_s = 0, sum_j = 0;

    *out = case_of(y, i);
    for (uint32_t c = 0; c < views->n; c++) {
        const struct view *v = &views->v[c];
        const double w = v->weight;
        ft__load l;
        ft__sums sums;
        ft_status st = ft__study_load(&l, &sums, y, i, v->session, false, err);
        double t;

        if (st)
            return st;
        t = ft__schedule_time(&l, &v->s);
        time += w * log(t);
        energy += w * log(ft__schedule_energy(&l, &v->s, t));
        sum_s += w * log(sums.time_s);
        sum_j += w * log(sums.energy_j);
        out->host_share += w * v->s.launch_s * l.launches / t;
        out->bounded_share +=
            w * v->s.bounded * l.bounded_s / ft__schedule_busy(&l, &v->s);
        out->launches = sums.launches;
    }
    out->sum_s = exp(sum_s);
    out->sum_j = exp(sum_j);
    out->time = estimate(exp(time), views->time, y->w.n, scratch);
    out->energy = estimate(exp(energy), views->energy, y->w.n, scratch);
    return FT_OK;
}

/* room: twice room_of(), and one more for every network. */
static ft_status answer_group(ft_networks *out, ft__study *y, uint32_t group,
                              double *room, ft__known_network *scratch, ft_error *err)
{
    ft_status st = ft__study_others(y, group, err);
    ft__schedule start;
    struct views views;

    if (st)
        return st;
    start = start_of(&y->prices);
    choose_views(&views, y, group, &start, room, scratch);
    if (!views.n)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "no session of operations is left to learn from");
    for (size_t i = 0; i < y->w.n && !st; i++)
        if (y->group[i] == group)
            st = answer(&out->v[i], y, i, &views, room + 2 * room_of(y->w.n), err);
    return st;
}

/* ---- the whole study ---- */

static ft_status errors_of(ft_errors *out, const double *truth, const double *value,
                           size_t n, ft_error *err)
{
    return ft_errors_compute(out, truth, value, n, 0, err);
}

/* Errors over all cases; scratch: of 4 n values. */
static ft_status sum_up(ft_networks *out, double *scratch, ft_error *err)
{
    double *truth = scratch, *value = truth + out->n, *sum = value + out->n,
           *width = sum + out->n;
    size_t n = 0, covered = 0;
    ft_status st;

    for (size_t i = 0; i < out->n; i++) {
        const ft_network_case *c = &out->v[i];

        truth[i] = c->time_s;
        value[i] = c->time.value;
        sum[i] = c->sum_s;
        width[i] = c->time.high / c->time.low;
        covered += c->time_s >= c->time.low && c->time_s <= c->time.high;
    }
    out->covered = (double)covered / (double)out->n;
    out->width = ft__median(width, out->n);
    st = errors_of(&out->time, truth, value, out->n, err);
    if (!st)
        st = errors_of(&out->sum_time, truth, sum, out->n, err);
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].energy_j > 0 && out->v[i].energy.value > 0) {
            truth[n] = out->v[i].energy_j;
            value[n] = out->v[i].energy.value;
            sum[n++] = out->v[i].sum_j;
        }
    if (!st)
        st = errors_of(&out->energy, truth, value, n, err);
    return st ? st : errors_of(&out->sum_energy, truth, sum, n, err);
}

static ft_status run(ft_networks *out, ft__study *y, ft_error *err)
{
    size_t n = y->w.n;
    double *scratch = calloc(2 * room_of(n) + n + 1, sizeof(*scratch));
    ft__known_network *some = calloc(n + 1, sizeof(*some));
    ft_status st = FT_OK;

    out->v = calloc(n + 1, sizeof(*out->v));
    if (!out->v || !scratch || !some)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu networks", n);
    out->n = n;
    for (uint32_t g = 0; g < y->n_groups && !st; g++) {
        ft__progress(y->opt->log, g, y->n_groups, "networks");
        st = answer_group(out, y, g, scratch, some, err);
    }
    if (!st)
        st = sum_up(out, scratch, err);
    free(scratch);
    free(some);
    return st;
}

ft_status ft_networks_evaluate(ft_networks *out, ft_store *store,
                               const ft_networks_options *opt, ft_error *err)
{
    ft__study *y;
    ft_status st;

    *out = (ft_networks){0};
    if (opt->left_out == FT_LEAVE_FAMILY) {
        st = ft__families_evaluate(out, store, opt, err);
        if (st)
            ft_networks_free(out);
        return st;
    }
    y = calloc(1, sizeof(*y));
    if (!y)
        return ft_fail(err, FT_ENOMEM, 0, "networks");
    y->opt = opt;
    out->memory = y;
    out->left_out = opt->left_out;
    st = ft__study_open(y, store, err);
    if (!st)
        st = run(out, y, err);
    if (st)
        ft_networks_free(out);
    return st;
}

void ft_networks_free(ft_networks *n)
{
    if (n->memory && n->left_out == FT_LEAVE_FAMILY) {
        ft__families_free(n->memory);
    } else if (n->memory) {
        ft__study_free(n->memory);
        free(n->memory);
    }
    free(n->v);
    *n = (ft_networks){0};
}
