/* Schedules of devices, fitted to networks that were measured whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "foretell/names.h"
#include "learn/learn_inside.h"
#include "predict/file/predictor.h"
#include "predict/query/op_query.h"
#include "predict/train/readings.h"
#include "predict/train/train.h"

/* The weight of the prior schedule, in networks. */
static const double pull = 1;

enum { MAX_FITTED = FT__N_TASK_GROUPS + 2 };

/* What is searched, as logarithms of factors to where it started. */
struct schedule_search {
    ft__schedule from;
    const ft__known_network *network;
    size_t n;
    double prior;
    bool energy;
};

static void apply(ft__schedule *s, const struct schedule_search *q,
                  const double *factor)
{
    *s = q->from;
    if (q->energy) {
        s->dynamic *= exp(factor[0]);
        s->idle_w *= exp(factor[1]);
        return;
    }
    s->launch_s *= exp(factor[0]);
    s->bounded *= exp(factor[1]);
    for (int g = 0; g < FT__N_TASK_GROUPS; g++)
        s->scale[g] *= exp(factor[2 + g]);
}

/* Weight x |log(measured / estimate)|; 0 where one of them is not known. */
static double residual(const struct schedule_search *q, const ft__schedule *s,
                       const ft__known_network *k)
{
    double truth = q->energy ? k->energy_j : k->time_s;
    double estimate = q->energy ? ft__schedule_energy(&k->load, s, k->time_s)
                                : ft__schedule_time(&k->load, s);

    return truth > 0 && estimate > 0 ? k->weight * fabs(log(truth / estimate)) : 0;
}

/* Where a search for the time of a launch, or for idle power, begins is known to an
 * order of magnitude only; what an operation takes in another layout hardly better.
 * What runs in turn takes as long as alone, but for what is between
 * (docs/notes/this-machine.md). */
static const double rough = 0.05, loose = 0.2, strict = 30;

/* The strength of the prior of factor j. */
static double hold(const struct schedule_search *q, int j)
{
    if (!q->energy && q->n && q->network[0].load.in_turn > 0)
        return j == 0 ? rough : strict;
    if (q->energy || j == 0)
        return rough;
    return j == 2 + FT__TASK_RELAID ? loose : 1;
}

static double loss(const struct schedule_search *q, const double *factor)
{
    ft__schedule s;
    double sum = 0;

    apply(&s, q, factor);
    for (size_t i = 0; i < q->n; i++)
        sum += residual(q, &s, &q->network[i]);
    for (int j = 0; j < MAX_FITTED; j++)
        sum += q->prior * hold(q, j) * factor[j] * factor[j];
    return sum;
}

/* One of 9 n (n - 1) / 2 moves: of a pair of numbers each by -1, 0 or 1 step. */
static void move_by(double *to, const double *at, int move, double step)
{
    int pair = move / 9, high = 1;

    for (; pair >= high; high++)
        pair -= high;
    memcpy(to, at, MAX_FITTED * sizeof(*to));
    to[pair] += (move % 3 - 1) * step;
    to[high] += (move / 3 % 3 - 1) * step;
}

/* Steps along the axes and the diagonals between two of them, halved when none helps:
 * the loss has kinks, and there are few numbers. */
static void descend(double *at, const struct schedule_search *q)
{
    const int n = q->energy ? 2 : MAX_FITTED, moves = 9 * n * (n - 1) / 2;
    double least = loss(q, at);

    for (double step = 0.4; step > 0.005;) {
        double best[MAX_FITTED], next[MAX_FITTED], before = least;

        for (int move = 0; move < moves; move++) {
            double l;

            move_by(next, at, move, step);
            l = loss(q, next);
            if (l < least) {
                least = l;
                memcpy(best, next, sizeof(best));
            }
        }
        if (least < before)
            memcpy(at, best, sizeof(best));
        else
            step /= 2;
    }
}

static void fit(ft__schedule *s, const ft__known_network *network, size_t n,
                double prior, bool energy)
{
    const struct schedule_search q = {*s, network, n, prior, energy};
    double at[MAX_FITTED] = {0};

    descend(at, &q);
    apply(s, &q, at);
}

void ft__schedule_fit(ft__schedule *s, const ft__known_network *network, size_t n,
                      double prior)
{
    fit(s, network, n, prior, false);
    fit(s, network, n, prior, true);
}

ft_status ft__schedule_range(double *low, double *high, const double *residual,
                             size_t n, ft_error *err)
{
    ft_status st = ft__conformal(low, high, residual, n, FT__COVERAGE, err);
    double sum = 0, width;

    if (st || n > FT__STUDENT_ROWS)
        return st;
    /* Another one lies between the extremes of n with probability (n - 1) / (n + 1)
     * only, which is less than nine in ten: then their size says more. */
    for (size_t i = 0; i < n; i++)
        sum += residual[i] * residual[i];
    width = ft__student(n) * sqrt(sum / (double)n);
    *low = fmin(*low, -width);
    *high = fmax(*high, width);
    return FT_OK;
}

/* A network, and what the family says of its operations. */
struct network_cost {
    ft__known_network known;
    ft__schedule start;
    double before_s; /* predicted without a schedule */
    bool usable;
    bool fitted; /* first of a place that had networks enough */
};

struct schedules_fitting {
    const ft_predictor *p;
    const ft__network_samples *w;
    const ft__family_options *opt;
    struct network_cost *network; /* of every whole */
    ft__known_network *scratch;
    double *residual; /* three of every whole: times, energies, and times without */
};

/* as: whose sessions answer for its operations; NULL: as users are answered without. */
static ft_status price(struct network_cost *n, const struct schedules_fitting *f,
                       const ft_graph *g, const ft__dataset *on,
                       const ft__device_schedule *as, ft_error *err)
{
    const ft__device_use use = {
        .device = on->file, .name = on->device, .policy = on->policy};
    ft__tasks tasks = {.task = calloc(g->n_ops + 1u, sizeof(*tasks.task)), .as = as};
    ft_status st =
        tasks.task ? ft__network_tasks(&tasks, f->p, &use, g, ft__graph_phase(g), err)
                   : ft_fail(err, FT_ENOMEM, 0, "networks");

    if (!st) {
        for (uint32_t i = 0; i < g->n_ops; i++)
            tasks.task[i].count = (double)g->op_count[i];
        n->known.load = ft__schedule_no_load(tasks.cap_w, tasks.call);
        ft__schedule_load(&n->known.load, tasks.task, g->n_ops);
        n->start = tasks.schedule;
        n->usable = tasks.engine && strcmp(tasks.engine, on->engine) == 0 &&
                    ft__schedule_time(&n->known.load, &n->start) > 0;
    }
    free(tasks.task);
    return st;
}

/* What networks of machines of ours take beside their operations, one sigma, and how
 * many networks of the machine at hand that is worth. */
static const double beside_operations = 0.045;
enum { NETWORKS_BEFORE = 4 };

/* What is tried first for what a convolution or product takes more behind others. */
static const double between_s = 5e-6;

/* Nothing that runs in turn is slower than that by much, but what was disturbed in
 * every pass. */
static bool was_disturbed(const struct network_cost *n, double error)
{
    return n->known.load.in_turn > 0 && error > 0 &&
           ft__reading_disturbed(log(n->known.time_s / n->before_s),
                                 hypot(error, beside_operations));
}

/* Networks of devices that nothing was learned of, at clocks of their own, and of
 * engines other than the one whose operations the family tells there are left out, and
 * those that something disturbed. */
static ft_status load_network(struct schedules_fitting *f, uint32_t i, ft_error *err)
{
    const ft__network_sample *w = &f->w->v[i];
    const ft__dataset *on = &f->w->dataset[w->dataset];
    struct network_cost *n = &f->network[i];
    ft_status st;

    *n = (struct network_cost){.known = {.time_s = w->value[FT__METRIC_TIME],
                                         .energy_j = w->value[FT__METRIC_ENERGY],
                                         .weight = 1}};
    if ((f->opt->hidden && f->opt->hidden[i]) ||
        !ft__family_knows(f->p->family, FT__METRIC_TIME, on) ||
        ft__setting_differs(on->setting, "") ||
        strcmp(ft_name(FT_NAMES_PHASE, ft__graph_phase(w->graph)), w->phase) != 0)
        return FT_OK;
    st = price(n, f, w->graph, on, NULL, err);
    n->before_s = ft__schedule_time(&n->known.load, &n->start);
    n->usable = n->usable && !was_disturbed(n, w->error);
    if (n->known.load.in_turn > 0)
        n->start.launch_s = between_s;
    return st;
}

static bool same_place(const struct schedules_fitting *f, uint32_t a, uint32_t b)
{
    const ft__network_sample *x = &f->w->v[a], *y = &f->w->v[b];
    const ft__dataset *d = &f->w->dataset[x->dataset], *e = &f->w->dataset[y->dataset];

    return f->network[a].usable && f->network[b].usable &&
           strcmp(x->phase, y->phase) == 0 && strcmp(d->device, e->device) == 0 &&
           strcmp(d->policy, e->policy) == 0 && strcmp(d->engine, e->engine) == 0;
}

/* Fit to all networks of the place of `of` but `without`, by its name; NULL: to all. */
static void fit_without(ft__schedule *s, const struct schedules_fitting *f, uint32_t of,
                        const char *without)
{
    size_t n = 0;

    *s = f->network[of].start;
    for (uint32_t i = 0; i < f->w->n; i++)
        if (same_place(f, of, i) && (!without || strcmp(f->w->v[i].name, without) != 0))
            f->scratch[n++] = f->network[i].known;
    ft__schedule_fit(s, f->scratch, n, pull);
}

/* Of operations in turn: the few networks of a collection, and those of machines
 * before. Neither two that agree nor one that was disturbed say all. */
static void range_in_turn(double *low, double *high, const double *residual, size_t n)
{
    double sum = NETWORKS_BEFORE * beside_operations * beside_operations;

    for (size_t i = 0; i < n; i++)
        sum += residual[i] * residual[i];
    n += NETWORKS_BEFORE;
    *high = ft__student(n) * sqrt(sum / (double)n);
    *low = -*high;
}

static double mean_error(const double *residual, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs(expm1(-residual[i]));
    return sum / (double)n;
}

/* Log residuals of networks under schedules that were not fitted to them. */
static ft_status find_log_residuals(ft__device_schedule *out,
                                    const struct schedules_fitting *f, uint32_t of,
                                    ft_error *err)
{
    double *time = f->residual, *energy = time + f->w->n, *before = energy + f->w->n;
    size_t n = 0, n_energy = 0;
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < f->w->n; i++) {
        const ft__known_network *k = &f->network[i].known;
        ft__schedule s;
        double t, e;

        if (!same_place(f, of, i))
            continue;
        fit_without(&s, f, of, f->w->v[i].name);
        t = ft__schedule_time(&k->load, &s);
        e = ft__schedule_energy(&k->load, &s, t);
        before[n] = log(k->time_s / f->network[i].before_s);
        time[n++] = log(k->time_s / t);
        if (k->energy_j > 0 && e > 0)
            energy[n_energy++] = log(k->energy_j / e);
    }
    out->n = n;
    out->error = mean_error(time, n);
    out->without = mean_error(before, n);
    out->energy_low = out->energy_high = NAN;
    if (f->network[of].known.load.in_turn > 0)
        range_in_turn(&out->time_low, &out->time_high, time, n);
    else
        st = ft__schedule_range(&out->time_low, &out->time_high, time, n, err);
    if (!st && n_energy)
        st = ft__schedule_range(&out->energy_low, &out->energy_high, energy, n_energy,
                                err);
    return st;
}

/* Different networks that ran in the place of `of`; 0: another one stands for it. */
static uint32_t count_networks(const struct schedules_fitting *f, uint32_t of)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->w->n; i++) {
        uint32_t j = 0;

        if (!same_place(f, of, i))
            continue;
        if (i < of)
            return 0;
        while (j < i &&
               !(same_place(f, of, j) && strcmp(f->w->v[i].spec, f->w->v[j].spec) == 0))
            j++;
        n += j == i;
    }
    return n;
}

static bool put_text(char *to, size_t size, const char *from)
{
    const size_t len = strlen(from);

    if (len < size)
        memcpy(to, from, len + 1);
    return len < size;
}

/* Why the place of a network gets no schedule. */
static void tell(const struct schedules_fitting *f, uint32_t of, const char *why)
{
    const ft__network_sample *w = &f->w->v[of];
    const ft__dataset *d = &f->w->dataset[w->dataset];

    ft__log(f->opt->log, FT_LOG_WARN, "no schedule of %s, %s, %s, %s: %s", d->device,
            d->policy, d->engine, w->phase, why);
}

/* The networks of a place, their operations predicted by the sessions of *p. */
static ft_status price_place(const struct schedules_fitting *f, uint32_t of,
                             const ft__device_schedule *p, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < f->w->n && !st; i++)
        if (same_place(f, of, i))
            st = price(&f->network[i], f, f->w->v[i].graph,
                       &f->w->dataset[f->w->v[i].dataset], p, err);
    return st;
}

static bool has_session(const ft__device_schedule *p, const char *setting)
{
    for (uint64_t c = 0; c < p->n_sessions; c++)
        if (strcmp(p->session[c].setting, setting) == 0)
            return true;
    return false;
}

/* Those in which operations of the place were measured as the device comes, those of
 * most operations first. */
static void list_sessions(ft__device_schedule *p, const ft__family *f)
{
    while (p->n_sessions < FT__MOST_SESSIONS) {
        const ft__dataset *first = NULL;

        for (uint32_t i = 0; i < f->n_datasets; i++) {
            const ft__dataset *d = &f->dataset[i];

            if (strcmp(d->device, p->device) == 0 &&
                strcmp(d->policy, p->policy) == 0 &&
                strcmp(d->engine, p->engine) == 0 &&
                strlen(d->setting) < sizeof(p->session->setting) &&
                !ft__setting_differs(d->setting, "") && !has_session(p, d->setting) &&
                (!first || d->n > first->n))
                first = d;
        }
        if (!first)
            return;
        strcpy(p->session[p->n_sessions++].setting, first->setting);
    }
}

static double mean_square(const double *residual, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += residual[i] * residual[i];
    return sum / (double)n;
}

/* The least mean square residual. */
static const double least_square = 1e-6;

/* Each weighs as much as its errors of networks are small, as independent errors are
 * averaged. The networks' operations are predicted by all of them afterwards. */
static ft_status weigh_sessions(ft__device_schedule *p,
                                const struct schedules_fitting *f, uint32_t of,
                                ft_error *err)
{
    double sum = 0;
    ft_status st = FT_OK;

    list_sessions(p, f->p->family);
    if (p->n_sessions < 2) {
        p->n_sessions = 0;
        return FT_OK;
    }
    for (uint64_t c = 0; c < p->n_sessions && !st; c++) {
        ft__device_schedule one = {.n_sessions = 1};

        one.session[0] = p->session[c];
        one.session[0].weight = 1;
        st = price_place(f, of, &one, err);
        if (!st)
            st = find_log_residuals(&one, f, of, err);
        if (!st)
            sum += p->session[c].weight =
                1 / fmax(mean_square(f->residual, (size_t)one.n), least_square);
    }
    for (uint64_t c = 0; c < p->n_sessions; c++)
        p->session[c].weight /= sum;
    return st ? st : price_place(f, of, p, err);
}

static ft_status fit_place(ft__family *to, const struct schedules_fitting *f,
                           uint32_t of, ft_error *err)
{
    const ft__network_sample *w = &f->w->v[of];
    const ft__dataset *d = &f->w->dataset[w->dataset];
    ft__device_schedule p = {.n = 0};
    char why[200];
    ft_status st;

    if (!put_text(p.device, sizeof(p.device), d->device) ||
        !put_text(p.policy, sizeof(p.policy), d->policy) ||
        !put_text(p.engine, sizeof(p.engine), d->engine) ||
        !put_text(p.phase, sizeof(p.phase), w->phase)) {
        tell(f, of, "names are too long");
        return FT_OK;
    }
    st = weigh_sessions(&p, f, of, err);
    if (st)
        return st;
    fit_without(&p.schedule, f, of, NULL);
    st = find_log_residuals(&p, f, of, err);
    if (st)
        return st;
    if (ft__device_schedule_sound(&p))
        return ft__device_schedule_add(to, &p, err);
    snprintf(
        why, sizeof(why),
        ft__device_schedule_sound(&p)
            ? "networks left out err by %.1f %% with it, by %.1f %% without"
            : "what was fitted cannot be true; errors %.3g %% with it, %.3g %% without",
        100 * p.error, 100 * p.without);
    tell(f, of, why);
    return FT_OK;
}

/* *tried: places that had networks enough. */
static ft_status fit_places(ft__family *to, struct schedules_fitting *f,
                            uint32_t *tried, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < f->w->n && !st; i++) {
        const uint32_t n = count_networks(f, i);
        char why[80];

        f->network[i].fitted = n >= FT__LEAST_NETWORKS;
        *tried += f->network[i].fitted;
        if (f->network[i].fitted) {
            st = fit_place(to, f, i, err);
        } else if (n) {
            snprintf(why, sizeof(why), "%u %s, %d are needed", n,
                     n == 1 ? "network" : "networks", FT__LEAST_NETWORKS);
            tell(f, i, why);
        }
    }
    return st;
}

/* Keeps earlier schedules of devices for which none was fitted. */
static ft_status keep_before(ft__family *to, const struct schedules_fitting *f,
                             ft_error *err)
{
    const ft__family *before = f->opt->before;
    ft_status st = FT_OK;

    for (uint32_t k = 0; before && k < before->n_device_schedules && !st; k++) {
        const ft__device_schedule *p = &before->device_schedule[k];
        bool anew = false;

        for (uint32_t i = 0; i < f->w->n && !anew; i++)
            anew = f->network[i].fitted &&
                   ft__device_schedule_is_of(p, &f->w->dataset[f->w->v[i].dataset],
                                             f->w->v[i].phase);
        if (!anew)
            st = ft__device_schedule_add(to, p, err);
    }
    return st;
}

ft_status ft__device_schedules_fit(ft__family *f, const ft__network_samples *w,
                                   const ft__family_options *opt,
                                   ft__schedules_found *found, ft_error *err)
{
    const ft_predictor p = {.family = f};
    struct schedules_fitting all = {.p = &p,
                                    .w = w,
                                    .opt = opt,
                                    .network = calloc(w->n + 1, sizeof(*all.network)),
                                    .scratch = calloc(w->n + 1, sizeof(*all.scratch)),
                                    .residual =
                                        calloc(3 * w->n + 1, sizeof(*all.residual))};
    ft_status st = all.network && all.scratch && all.residual
                       ? FT_OK
                       : ft_fail(err, FT_ENOMEM, 0, "%zu networks", w->n);

    *found = (ft__schedules_found){0};
    for (uint32_t i = 0; i < w->n && !st; i++) {
        st = load_network(&all, i, err);
        found->usable += all.network[i].usable;
    }
    if (!st)
        st = fit_places(f, &all, &found->tried, err);
    if (!st)
        st = keep_before(f, &all, err);
    free(all.network);
    free(all.scratch);
    free(all.residual);
    return st;
}
