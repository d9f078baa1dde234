/* How well operations foretell networks: each network, or all of a device, left out. */
#include "foretell/networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "predict/families.h"
#include "predict/load.h"

/* Rows of one kind that are learned from across devices. */
enum { ROWS_ACROSS = 600 };
/* Settings that operations were measured under and that are told apart. */
enum { MAX_SESSIONS = 8 };
/* What is known of a schedule before, in networks. */
static const double prior = 1;

struct study {
    const ft_networks_options *opt;
    ft__samples s;
    ft__wholes w;
    const char *session[MAX_SESSIONS];
    uint32_t n_sessions;
    ft_op *key;      /* ft__part_key() of every sample */
    uint32_t *group; /* of every whole */
    uint32_t n_groups;
    uint32_t *row; /* samples that prices were learned from */
    size_t n_rows;
    uint32_t *next; /* scratch: likewise */
    ft__prices prices;
    ft__known_network *known; /* of a session and every whole */
    ft__load *pair;           /* devices: of a group left out, a session, every whole */
    bool *paired;             /* of two groups */
};

static const ft__dataset *where_ran(const struct study *y, size_t whole)
{
    return &y->w.dataset[y->w.v[whole].dataset];
}

static bool leaves_devices(const struct study *y)
{
    return y->opt->left_out == FT_LEAVE_DEVICE;
}

static ft__known_network *known_of(const struct study *y, uint32_t session)
{
    return y->known + session * y->w.n;
}

/* ---- training sets ---- */

static bool has_part(const ft__whole *w, const ft_op *key)
{
    for (size_t i = 0; i < w->n_parts; i++)
        if (ft_op_equal(&w->part[i].op, key))
            return true;
    return false;
}

/* Where the networks of a group ran; those of devices may have several policies. */
static const ft__dataset *ran_in(const struct study *y, uint32_t group)
{
    size_t i = 0;

    while (y->group[i] != group)
        i++;
    return where_ran(y, i);
}

static bool same_device(const struct study *y, uint32_t sample_set, uint32_t group)
{
    return strcmp(y->s.dataset[sample_set].device, ran_in(y, group)->device) == 0;
}

static bool same_place(const ft__dataset *a, const ft__dataset *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->policy, b->policy) == 0;
}

/* Does a group say something of the host and the device of another? */
static bool goes_with(const struct study *y, uint32_t group, uint32_t other)
{
    return leaves_devices(y) || same_place(ran_in(y, group), ran_in(y, other));
}

/* May sample i be learned from when these groups are left out? */
static bool may_learn(const struct study *y, size_t i, uint32_t group, uint32_t also)
{
    if (!(y->s.v[i].value[FT__METRIC_TIME] > 0))
        return false;
    if (leaves_devices(y))
        return !same_device(y, y->s.v[i].dataset, group) &&
               !same_device(y, y->s.v[i].dataset, also);
    if (!same_place(&y->s.dataset[y->s.v[i].dataset], ran_in(y, group)))
        return false;
    for (size_t w = 0; w < y->w.n; w++)
        if (y->group[w] == group && has_part(&y->w.v[w], &y->key[i]))
            return false;
    return true;
}

/* y->prices without two groups (which may be one). Networks that have no operation in
 * the set leave the same rows. */
static ft_status learn(struct study *y, uint32_t group, uint32_t also, ft_error *err)
{
    const ft__prices_options how = {.n_trees = y->opt->n_trees,
                                    .kind_rows = leaves_devices(y) ? ROWS_ACROSS : 0,
                                    .seed = y->opt->seed,
                                    .unseen = leaves_devices(y)};
    uint32_t *spare = y->row;
    size_t n = 0;

    for (uint32_t i = 0; i < y->s.n; i++)
        if (may_learn(y, i, group, also))
            y->next[n++] = i;
    if (n && n == y->n_rows && memcmp(y->next, y->row, n * sizeof(*y->row)) == 0)
        return FT_OK;
    ft__prices_free(&y->prices);
    y->row = y->next;
    y->next = spare;
    y->n_rows = n;
    return ft__prices_fit(&y->prices, &y->s, y->row, n, &how, err);
}

/* ---- loads ---- */

static ft_status load_group(ft__load *out, ft__sums *sums, const struct study *y,
                            size_t whole, uint32_t session, bool blind, ft_error *err)
{
    const ft__whole *v = &y->w.v[whole];

    return ft__load_price(out, sums, &y->prices, v->part, v->n_parts,
                          where_ran(y, whole), y->session[session], blind, err);
}

static ft__load *pair_of(const struct study *y, uint32_t left_out, uint32_t session)
{
    return y->pair + (left_out * (size_t)y->n_sessions + session) * y->w.n;
}

/* Loads of the networks of two devices, each left out together with the other. */
static ft_status load_pair(struct study *y, uint32_t a, uint32_t b, ft_error *err)
{
    ft_status st;
    ft__sums sums;

    if (y->paired[a * y->n_groups + b])
        return FT_OK;
    st = learn(y, a, b, err);
    for (size_t i = 0; i < y->w.n; i++)
        for (uint32_t c = 0; c < y->n_sessions && !st; c++) {
            if (y->group[i] == b)
                st = load_group(pair_of(y, a, c) + i, &sums, y, i, c, false, err);
            if (y->group[i] == a && !st)
                st = load_group(pair_of(y, b, c) + i, &sums, y, i, c, false, err);
        }
    y->paired[a * y->n_groups + b] = y->paired[b * y->n_groups + a] = true;
    return st;
}

/* Loads of the networks that are not left out: as those of the group, they are
 * predicted by prices that have not seen their operations. y->prices: those without
 * the group. */
static ft_status load_others(struct study *y, uint32_t group, ft_error *err)
{
    ft_status st = FT_OK;
    ft__sums sums;

    for (uint32_t g = 0; g < y->n_groups && leaves_devices(y) && !st; g++)
        if (g != group)
            st = load_pair(y, group, g, err);
    if (!st)
        st = learn(y, group, group, err);
    for (size_t i = 0; i < y->w.n; i++)
        for (uint32_t c = 0; c < y->n_sessions && !st; c++) {
            ft__load *l = &known_of(y, c)[i].load;

            if (y->group[i] == group || !goes_with(y, group, y->group[i]))
                continue;
            if (leaves_devices(y))
                *l = pair_of(y, group, c)[i];
            else
                st = load_group(l, &sums, y, i, c, true, err);
        }
    return st;
}

/* ---- the schedule, and how far it strays ---- */

/* Fit to all networks but those of two groups. */
static void schedule_without(ft__schedule *s, const struct study *y, uint32_t group,
                             uint32_t also, uint32_t session,
                             ft__known_network *scratch)
{
    size_t n = 0;

    for (size_t i = 0; i < y->w.n; i++)
        if (y->group[i] != group && y->group[i] != also &&
            goes_with(y, group, y->group[i]))
            scratch[n++] = known_of(y, session)[i];
    ft__schedule_fit(s, scratch, n, prior);
}

/* Logarithms of truth over estimate: of networks that the schedule was not fitted to.
 */
struct strays {
    double *time, *energy;
    size_t n, n_energy;
};

static void collect_strays(struct strays *out, const struct study *y, uint32_t group,
                           const ft__schedule *start, uint32_t session,
                           ft__known_network *scratch)
{
    out->n = out->n_energy = 0;
    for (uint32_t g = 0; g < y->n_groups; g++) {
        ft__schedule s = *start;

        if (g == group || !goes_with(y, group, g))
            continue;
        schedule_without(&s, y, group, g, session, scratch);
        for (size_t i = 0; i < y->w.n; i++) {
            const ft__known_network *k = &known_of(y, session)[i];
            double t = ft__schedule_time(&k->load, &s), e;

            if (y->group[i] != g || !(t > 0))
                continue;
            out->time[out->n++] = log(k->time_s / t);
            e = ft__schedule_energy(&k->load, &s, t);
            if (k->energy_j > 0 && e > 0)
                out->energy[out->n_energy++] = log(k->energy_j / e);
        }
    }
}

static bool has_session(const ft__prices *p, const char *session)
{
    for (uint32_t i = 0; i < p->n_sessions; i++)
        if (strcmp(p->session[i], session) == 0)
            return true;
    return false;
}

/* Operations that were measured in several sessions contradict each other where clocks
 * drifted: the one counts in whose terms other networks are told best. *strays: of it.
 */
static uint32_t choose_session(struct strays *strays, const struct study *y,
                               uint32_t group, const ft__schedule *start,
                               ft__known_network *scratch)
{
    uint32_t best = y->n_sessions, last = y->n_sessions;
    double least = INFINITY;

    for (uint32_t c = 0; c < y->n_sessions; c++) {
        double sum = 0;

        if (!has_session(&y->prices, y->session[c]))
            continue;
        collect_strays(strays, y, group, start, last = c, scratch);
        for (size_t i = 0; i < strays->n; i++)
            sum += fabs(strays->time[i]);
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    if (best != last)
        collect_strays(strays, y, group, start, best, scratch);
    return best;
}

static ft_estimate estimate(double value, const double *stray, size_t n)
{
    double low, high;
    ft_estimate out = {value, NAN, NAN, FT_BASIS_LEARNED, ""};

    if (!(value > 0))
        return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "no power is known"};
    if (n && !ft__schedule_range(&low, &high, stray, n, NULL)) {
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

static void answer(ft_network_case *c, const struct study *y, size_t i,
                   const ft__load *load, const ft__sums *sums, const ft__schedule *s,
                   const struct strays *strays)
{
    const ft__whole *w = &y->w.v[i];
    const ft__dataset *d = &y->w.dataset[w->dataset];
    double t = ft__schedule_time(load, s);

    *c = (ft_network_case){.device = d->device,
                           .setting = d->setting,
                           .policy = d->policy,
                           .spec = w->spec,
                           .phase = w->phase,
                           .time_s = w->time_s,
                           .energy_j = w->energy_j,
                           .sum_s = sums->time_s,
                           .sum_j = sums->energy_j,
                           .host_share = s->launch_s * load->launches / t,
                           .bounded_share = s->bounded * load->bounded_s /
                                            ft__schedule_busy(load, s),
                           .launches = sums->launches};
    c->time = estimate(t, strays->time, strays->n);
    c->energy =
        estimate(ft__schedule_energy(load, s, t), strays->energy, strays->n_energy);
}

static ft_status answer_group(ft_networks *out, struct study *y, uint32_t group,
                              struct strays *strays, ft__known_network *scratch,
                              ft_error *err)
{
    ft__schedule s, start;
    uint32_t session = 0;
    ft_status st = load_others(y, group, err);

    if (st)
        return st;
    s = start = start_of(&y->prices);
    session = choose_session(strays, y, group, &start, scratch);
    schedule_without(&s, y, group, group, session, scratch);
    for (size_t i = 0; i < y->w.n && !st; i++) {
        ft__sums sums;
        ft__load load;

        if (y->group[i] != group)
            continue;
        st = load_group(&load, &sums, y, i, session, false, err);
        if (!st)
            answer(&out->v[i], y, i, &load, &sums, &s, strays);
    }
    return st;
}

/* ---- the whole study ---- */

static ft_status find_devices(ft__dataset *d, uint32_t n, const char *data_dir,
                              ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < n && !st; i++)
        st = ft_device_load(&d[i].file, data_dir, d[i].device, err);
    return st;
}

static void find_sessions(struct study *y)
{
    for (uint32_t i = 0; i < y->s.n_datasets; i++) {
        uint32_t c = 0;

        while (c < y->n_sessions && strcmp(y->session[c], y->s.dataset[i].setting) != 0)
            c++;
        if (c == y->n_sessions && c < MAX_SESSIONS)
            y->session[y->n_sessions++] = y->s.dataset[i].setting;
    }
}

/* Networks of one name and input that ran in one place are one group, whatever their
 * phase. */
static void find_groups(struct study *y)
{
    const bool devices = leaves_devices(y);

    y->n_groups = 0;
    for (size_t i = 0; i < y->w.n; i++) {
        const ft__whole *a = &y->w.v[i];
        size_t j = 0;

        for (; j < i; j++) {
            const ft__whole *b = &y->w.v[j];

            if (devices ? strcmp(where_ran(y, i)->device, where_ran(y, j)->device) == 0
                        : strcmp(a->spec, b->spec) == 0 &&
                              same_place(where_ran(y, i), where_ran(y, j)))
                break;
        }
        y->group[i] = j < i ? y->group[j] : y->n_groups++;
    }
}

/* Networks of one device err alike: of another one they say together as much as one. */
static double weight_of(const struct study *y, size_t whole)
{
    size_t n = 0;

    for (size_t i = 0; i < y->w.n; i++)
        n += y->group[i] == y->group[whole];
    return leaves_devices(y) ? 1 / (double)n : 1;
}

static ft_status make_tables(struct study *y, ft_error *err)
{
    const size_t n = y->w.n, sessions = y->n_sessions;

    y->key = calloc(y->s.n + 1, sizeof(*y->key));
    y->row = calloc(y->s.n + 1, sizeof(*y->row));
    y->next = calloc(y->s.n + 1, sizeof(*y->next));
    y->group = calloc(n + 1, sizeof(*y->group));
    y->known = calloc(sessions * n + 1, sizeof(*y->known));
    if (!y->key || !y->row || !y->next || !y->group || !y->known)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", y->s.n);
    for (size_t i = 0; i < y->s.n; i++)
        y->key[i] = ft__part_key(&y->s.v[i].op);
    find_groups(y);
    for (size_t i = 0; i < sessions * n; i++)
        y->known[i] = (ft__known_network){.time_s = y->w.v[i % n].time_s,
                                          .energy_j = y->w.v[i % n].energy_j,
                                          .weight = weight_of(y, i % n)};
    y->pair = calloc(leaves_devices(y) ? y->n_groups * sessions * n + 1 : 1,
                     sizeof(*y->pair));
    y->paired = calloc(leaves_devices(y) ? (size_t)y->n_groups * y->n_groups + 1 : 1,
                       sizeof(*y->paired));
    return y->pair && y->paired ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu networks", n);
}

static ft_status prepare(struct study *y, ft_store *store, ft_error *err)
{
    const ft_networks_options *o = y->opt;
    ft_status st = ft__samples_read(&y->s, store, o->ops, false, err);

    if (!st)
        st = ft__wholes_read(&y->w, store, o->networks, o->graph, o->user, err);
    if (!st)
        st = find_devices(y->s.dataset, y->s.n_datasets, o->data_dir, err);
    if (!st)
        st = find_devices(y->w.dataset, y->w.n_datasets, o->data_dir, err);
    if (st)
        return st;
    find_sessions(y);
    st = make_tables(y, err);
    if (!st && y->n_groups < 2)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "%u %s with operations: two at least are needed, one to leave "
                     "out and one to learn from",
                     y->n_groups,
                     leaves_devices(y) ? "devices with networks" : "networks");
    return st;
}

static void study_free(struct study *y)
{
    ft__prices_free(&y->prices);
    free(y->key);
    free(y->row);
    free(y->next);
    free(y->group);
    free(y->known);
    free(y->pair);
    free(y->paired);
    ft__samples_free(&y->s);
    ft__wholes_free(&y->w);
}

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

static ft_status run(ft_networks *out, struct study *y, ft_error *err)
{
    size_t n = y->w.n;
    double *scratch = calloc(4 * n + 1, sizeof(*scratch));
    ft__known_network *some = calloc(n + 1, sizeof(*some));
    struct strays strays = {.time = scratch, .energy = scratch ? scratch + n : NULL};
    ft_status st = FT_OK;

    out->v = calloc(n + 1, sizeof(*out->v));
    if (!out->v || !scratch || !some)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu networks", n);
    out->n = n;
    for (uint32_t g = 0; g < y->n_groups && !st; g++) {
        ft__progress(y->opt->log, g, y->n_groups, "networks");
        st = answer_group(out, y, g, &strays, some, err);
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
    struct study *y;
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
    st = prepare(y, store, err);
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
        study_free(n->memory);
        free(n->memory);
    }
    free(n->v);
    *n = (ft_networks){0};
}
