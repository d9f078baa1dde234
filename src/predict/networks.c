/* How well operations foretell networks: each network, or all of a device, left out. */
#include "foretell/networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "predict/families.h"
#include "predict/whole.h"

/* Of operations that networks for fitting the schedule have in common with the training
 * set: they are predicted without having been seen, as those of the network left out.
 */
enum { FOLDS = 4 };
/* Rows that constants and forests across devices are fitted to. */
enum { ROWS_ACROSS = 2500, ROWS_PHYSICS = 2000 };
/* What forests of known devices say of an unknown one is not worth having
 * (docs/notes/networks.md). */
static const double residual_across = 0;
/* What is known of a schedule before, in networks. */
static const double prior = 1;

struct study {
    const ft_networks_options *opt;
    ft__samples s;
    ft__wholes w;
    ft_device **device; /* of every dataset: first those of s, then those of w */
    ft__place *place;
    ft_op *key;      /* ft__part_key() of every sample */
    uint32_t *group; /* of every whole */
    uint32_t n_groups;
    uint32_t *row;            /* scratch: samples to learn from */
    uint32_t *fold;           /* per sample */
    ft__known_network *known; /* scratch: per whole */
    bool *loaded;
};

static const ft__place *place_of(const struct study *y, size_t whole)
{
    return &y->place[y->s.n_datasets + y->w.v[whole].dataset];
}

/* ---- one network from prices ---- */

/* Estimates from specifications of what is asked of one part: its forward form, its
 * backward one, that of the weights alone, and forward and backward together. */
struct bare {
    double forward, backward, weights_only, both;
};

static double bare_of(const ft__prices *p, const ft_op *op, const ft__place *at,
                      ft_phase phase, uint8_t wrt)
{
    ft_op form = *op;
    double t;

    form.phase = phase;
    form.wrt = wrt;
    t = ft__prices_bare(p, &form, at);
    return isfinite(t) ? t : 0;
}

static void find_bare(struct bare *b, const ft__prices *p, const ft__part *part,
                      const ft__place *at)
{
    const ft_op *op = &part->op;

    *b = (struct bare){0};
    if (op->phase != FT_PHASE_FORWARD) {
        b->forward = bare_of(p, op, at, op->phase, 0);
        return;
    }
    b->forward = bare_of(p, op, at, FT_PHASE_FORWARD, 0);
    b->backward = bare_of(p, op, at, FT_PHASE_BACKWARD, 0);
    if (part->weights_only > 0)
        b->weights_only = bare_of(p, op, at, FT_PHASE_BACKWARD, FT_WRT_WEIGHTS);
    b->both = b->forward + b->backward;
}

static bool alone(const ft__prices *p, ft__task *w, const ft_op *op, ft_phase phase,
                  const ft__place *at)
{
    ft_op form = *op;

    form.phase = phase;
    if (!ft__prices_alone(p, &w->alone_s, &w->power_w, &form, at))
        return false;
    w->floor_s = ft__prices_floor(p, &form);
    return true;
}

static ft__task_group group_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return FT__TASK_CONV;
    case FT_CLASS_MATMUL: return FT__TASK_MATMUL;
    default: return FT__TASK_OTHER;
    }
}

/* A part's work for one of its forward runs. Where that very form was never measured,
 * one that was is scaled by what specifications say of both. */
static void price(ft__task *w, const ft__prices *p, const ft__part *part,
                  const ft__place *at)
{
    double runs = part->count > 0 ? part->count : part->backward + part->weights_only;
    struct bare b;
    double share;

    find_bare(&b, p, part, at);
    *w = (ft__task){
        .group = group_of(&part->op),
        .count = runs,
        .launches = part->op.phase == FT_PHASE_OPTIMIZER
                        ? 0
                        : (part->count + part->backward + part->weights_only) / runs,
        .alone_s = NAN,
        .power_w = NAN};
    w->bare_s = (part->count * b.forward + part->backward * b.backward +
                 part->weights_only * b.weights_only) /
                runs;
    if (part->op.phase != FT_PHASE_FORWARD)
        return;
    if (part->backward + part->weights_only > 0 &&
        alone(p, w, &part->op, FT_PHASE_FORWARD_BACKWARD, at))
        share = fmin(1, w->bare_s / b.both);
    else if (alone(p, w, &part->op, FT_PHASE_FORWARD, at))
        share = w->bare_s / b.forward;
    else if (alone(p, w, &part->op, FT_PHASE_FORWARD_BACKWARD, at))
        share = w->bare_s / b.both;
    else
        return;
    if (!isfinite(share)) { /* nothing moves and nothing is computed */
        w->alone_s = NAN;
        return;
    }
    w->alone_s *= share;
    w->floor_s *= share;
}

/* A price without having seen the operation, where the set it was learned from has it.
 */
static const ft__prices *blind(const struct study *y, ft__prices *const *p,
                               const ft_op *key)
{
    for (size_t i = 0; i < y->s.n; i++)
        if (ft_op_equal(&y->key[i], key))
            return p[1 + y->fold[i]];
    return p[0];
}

struct sums {
    double time_s;
    double energy_j;
    double launches;
};

static double cap_of(const ft__place *at, const ft_op *op)
{
    ft__chip chip;

    ft__chip_make(&chip, at->device, at->setting, at->policy, op);
    return chip.power_w > 0 ? chip.power_w : INFINITY;
}

static ft_status load_of(ft__load *out, struct sums *sums, const struct study *y,
                         size_t whole, ft__prices *const *p, ft_error *err)
{
    const ft__whole *v = &y->w.v[whole];
    ft__task *task = calloc(v->n_parts + 1, sizeof(*task));

    if (!task)
        return ft_fail(err, FT_ENOMEM, 0, "operations of %s", v->spec);
    *sums = (struct sums){0};
    for (size_t i = 0; i < v->n_parts; i++) {
        const ft__prices *q = p[1] ? blind(y, p, &v->part[i].op) : p[0];

        price(&task[i], q, &v->part[i], place_of(y, whole));
        sums->launches += task[i].count * task[i].launches;
        if (!isfinite(task[i].alone_s))
            continue;
        sums->time_s += task[i].count * task[i].alone_s;
        sums->energy_j += task[i].count * task[i].alone_s * task[i].power_w;
    }
    ft__schedule_load(out, task, v->n_parts);
    out->typical_w = ft__prices_busy(p[0]);
    out->cap_w = cap_of(place_of(y, whole), &v->part[0].op);
    free(task);
    return FT_OK;
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
    return &y->w.dataset[y->w.v[i].dataset];
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
    return y->opt->left_out == FT_LEAVE_DEVICE ||
           same_place(ran_in(y, group), ran_in(y, other));
}

/* May sample i be learned from when these groups are left out (FT_NONE: none)? */
static bool may_learn(const struct study *y, size_t i, uint32_t group, uint32_t also)
{
    if (!(y->s.v[i].value[FT__METRIC_TIME] > 0))
        return false;
    if (y->opt->left_out == FT_LEAVE_DEVICE)
        return !same_device(y, y->s.v[i].dataset, group) &&
               (also == FT_NONE || !same_device(y, y->s.v[i].dataset, also));
    if (!same_place(&y->s.dataset[y->s.v[i].dataset], ran_in(y, group)))
        return false;
    for (size_t w = 0; w < y->w.n; w++)
        if (y->group[w] == group && has_part(&y->w.v[w], &y->key[i]))
            return false;
    return true;
}

/* fold: leave that one out, too; FOLDS: none. */
static ft_status learn(ft__prices **out, struct study *y, uint32_t group, uint32_t also,
                       uint32_t fold, ft_error *err)
{
    const bool devices = y->opt->left_out == FT_LEAVE_DEVICE;
    const ft__prices_options how = {.n_trees = y->opt->n_trees,
                                    .most_rows = devices ? ROWS_ACROSS : 0,
                                    .seed = y->opt->seed,
                                    .physics_rows = !devices ? 0
                                                    : also == FT_NONE
                                                        ? ROWS_PHYSICS
                                                        : ROWS_PHYSICS / 3,
                                    .residual = devices ? residual_across : 1};
    size_t n = 0;

    for (uint32_t i = 0; i < y->s.n; i++)
        if (y->fold[i] != fold && may_learn(y, i, group, also))
            y->row[n++] = i;
    return ft__prices_fit(out, &y->s, y->place, y->row, n, &how, err);
}

static void forget(ft__prices **p)
{
    for (int i = 0; i <= FOLDS; i++) {
        ft__prices_free(p[i]);
        p[i] = NULL;
    }
}

/* Loads of the networks that are not left out. In groups of networks their operations
 * are predicted by folds; of devices each by prices without its own. */
static ft_status load_others(struct study *y, uint32_t group, ft__prices **p,
                             ft_error *err)
{
    struct sums unused;
    ft_status st = FT_OK;

    for (uint32_t f = 0; f < FOLDS && y->opt->left_out == FT_LEAVE_NETWORK && !st; f++)
        st = learn(&p[1 + f], y, group, FT_NONE, f, err);
    for (uint32_t g = 0; g < y->n_groups && !st; g++) {
        ft__prices *own[1 + FOLDS] = {NULL};

        if (g == group || !goes_with(y, group, g))
            continue;
        if (y->opt->left_out == FT_LEAVE_DEVICE)
            st = learn(&own[0], y, group, g, FOLDS, err);
        for (size_t i = 0; i < y->w.n && !st; i++)
            if (y->group[i] == g)
                st = load_of(&y->known[i].load, &unused, y, i,
                             y->opt->left_out == FT_LEAVE_DEVICE ? own : p, err);
        forget(own);
    }
    return st;
}

/* ---- the schedule, and how far it strays ---- */

/* Fit to all networks but those of two groups. */
static void schedule_without(ft__schedule *s, const struct study *y, uint32_t group,
                             uint32_t also, ft__known_network *scratch)
{
    size_t n = 0;

    for (size_t i = 0; i < y->w.n; i++)
        if (y->group[i] != group && y->group[i] != also &&
            goes_with(y, group, y->group[i]))
            scratch[n++] = y->known[i];
    ft__schedule_fit(s, scratch, n, prior);
}

/* Logarithms of truth over estimate: of networks that the schedule was not fitted to.
 */
struct strays {
    double *time, *energy;
    size_t n, n_energy;
};

static void collect_strays(struct strays *out, const struct study *y, uint32_t group,
                           const ft__schedule *start, ft__known_network *scratch)
{
    out->n = out->n_energy = 0;
    for (uint32_t g = 0; g < y->n_groups; g++) {
        ft__schedule s = *start;

        if (g == group || !goes_with(y, group, g))
            continue;
        schedule_without(&s, y, group, g, scratch);
        for (size_t i = 0; i < y->w.n; i++) {
            const ft__known_network *k = &y->known[i];
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

static ft_estimate estimate(double value, const double *stray, size_t n)
{
    double low, high;
    ft_estimate out = {value, NAN, NAN, FT_BASIS_LEARNED, ""};

    if (!(value > 0))
        return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "no power is known"};
    if (n && !ft_conformal(&low, &high, stray, n, 0.9, NULL)) {
        out.low = value * exp(low);
        out.high = value * exp(high);
    }
    return out;
}

static ft__schedule start_of(const ft__prices *p)
{
    ft__schedule s = ft__schedule_plain();

    s.launch_s = ft__prices_launch(p);
    s.idle_w = ft__prices_idle(p);
    if (!isfinite(s.idle_w))
        s.idle_w = 0;
    return s;
}

static void answer(ft_network_case *c, const struct study *y, size_t i,
                   const ft__load *load, const struct sums *sums, const ft__schedule *s,
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
    ft__prices *p[1 + FOLDS] = {NULL}, *only[1 + FOLDS] = {NULL};
    ft__schedule s, start;
    ft_status st = learn(&p[0], y, group, FT_NONE, FOLDS, err);

    if (!st)
        st = load_others(y, group, p, err);
    if (!st) {
        s = start = start_of(p[0]);
        schedule_without(&s, y, group, group, scratch);
        collect_strays(strays, y, group, &start, scratch);
        only[0] = p[0];
    }
    for (size_t i = 0; i < y->w.n && !st; i++) {
        struct sums sums;
        ft__load load;

        if (y->group[i] != group)
            continue;
        st = load_of(&load, &sums, y, i, only, err);
        if (!st)
            answer(&out->v[i], y, i, &load, &sums, &s, strays);
    }
    forget(p);
    return st;
}

/* ---- the whole study ---- */

static ft_status find_devices(struct study *y, ft_error *err)
{
    size_t n = y->s.n_datasets + y->w.n_datasets;
    ft_status st = FT_OK;

    y->device = calloc(n + 1, sizeof(*y->device));
    y->place = calloc(n + 1, sizeof(*y->place));
    if (!y->device || !y->place)
        return ft_fail(err, FT_ENOMEM, 0, "%zu datasets", n);
    for (size_t i = 0; i < n && !st; i++) {
        const ft__dataset *d =
            i < y->s.n_datasets ? &y->s.dataset[i] : &y->w.dataset[i - y->s.n_datasets];

        st = ft_device_load(&y->device[i], y->opt->data_dir, d->device, err);
        if (!st)
            y->place[i] =
                (ft__place){ft_device_get(y->device[i]), d->setting, d->policy};
    }
    return st;
}

/* Networks of one name and input that ran in one place are one group, whatever their
 * phase. */
static void find_groups(struct study *y)
{
    const bool devices = y->opt->left_out == FT_LEAVE_DEVICE;

    y->n_groups = 0;
    for (size_t i = 0; i < y->w.n; i++) {
        const ft__whole *a = &y->w.v[i];
        size_t j = 0;

        for (; j < i; j++) {
            const ft__whole *b = &y->w.v[j];

            if (devices ? strcmp(y->w.dataset[a->dataset].device,
                                 y->w.dataset[b->dataset].device) == 0
                        : strcmp(a->spec, b->spec) == 0 &&
                              same_place(&y->w.dataset[a->dataset],
                                         &y->w.dataset[b->dataset]))
                break;
        }
        y->group[i] = j < i ? y->group[j] : y->n_groups++;
    }
}

static ft_status prepare(struct study *y, ft_store *store, ft_error *err)
{
    const ft_networks_options *o = y->opt;
    ft_status st = ft__samples_read(&y->s, store, o->ops, false, err);

    if (!st)
        st = ft__wholes_read(&y->w, store, o->networks, o->graph, o->user, err);
    if (!st)
        st = find_devices(y, err);
    if (st)
        return st;
    y->key = calloc(y->s.n + 1, sizeof(*y->key));
    y->row = calloc(y->s.n + 1, sizeof(*y->row));
    y->fold = calloc(y->s.n + 1, sizeof(*y->fold));
    y->group = calloc(y->w.n + 1, sizeof(*y->group));
    y->known = calloc(y->w.n + 1, sizeof(*y->known));
    if (!y->key || !y->row || !y->fold || !y->group || !y->known)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", y->s.n);
    for (size_t i = 0; i < y->s.n; i++) {
        y->key[i] = ft__part_key(&y->s.v[i].op);
        /* Equal operations never part; the mixture is that of the hash. */
        y->fold[i] = (uint32_t)(ft_op_hash(&y->key[i]) >> 32) % FOLDS;
    }
    for (size_t i = 0; i < y->w.n; i++)
        y->known[i] = (ft__known_network){.time_s = y->w.v[i].time_s,
                                          .energy_j = y->w.v[i].energy_j};
    find_groups(y);
    if (y->n_groups < 2)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%u %s with operations: two at least are needed, one to leave "
                       "out and one to learn from",
                       y->n_groups,
                       o->left_out == FT_LEAVE_DEVICE ? "devices with networks"
                                                      : "networks");
    return FT_OK;
}

static void study_free(struct study *y)
{
    size_t n = y->s.n_datasets + y->w.n_datasets;

    for (size_t i = 0; y->device && i < n; i++)
        ft_device_free(y->device[i]);
    free(y->device);
    free(y->place);
    free(y->key);
    free(y->row);
    free(y->fold);
    free(y->group);
    free(y->known);
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
