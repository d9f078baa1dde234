/* Schedules of the devices of a family, fitted to networks that were measured whole. */
#include "predict/placed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "predict/ask.h"
#include "predict/family.h"
#include "predict/predictor.h"
#include "predict/whole.h"

/* Of fewer networks nothing is said. */
enum { LEAST_NETWORKS = 4 };
/* What is known of a schedule before, in networks. */
static const double pull = 1;

ft_phase ft__placed_phase(const ft_graph *g)
{
    ft_phase phase = FT_PHASE_FORWARD;

    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++)
        switch (ft_graph_op(g, i)->phase) {
        case FT_PHASE_OPTIMIZER:
        case FT_PHASE_STEP: return FT_PHASE_STEP;
        case FT_PHASE_BACKWARD:
        case FT_PHASE_FORWARD_BACKWARD: phase = FT_PHASE_FORWARD_BACKWARD; break;
        default: break;
        }
    return phase;
}

const ft__placed *ft__placed_find(const ft__family *f, const char *device,
                                  const char *policy, ft_phase phase)
{
    for (uint32_t i = 0; i < f->n_placed; i++) {
        const ft__placed *p = &f->placed[i];

        if (strcmp(p->device, device) == 0 && strcmp(p->policy, policy) == 0 &&
            strcmp(p->phase, ft_phase_name(phase)) == 0)
            return p;
    }
    return NULL;
}

static bool is_range(double low, double high)
{
    return isfinite(low) && isfinite(high) && low <= high;
}

bool ft__placed_sound(const ft__placed *p)
{
    const ft__schedule *s = &p->schedule;
    const double v[] = {s->bounded, s->launch_s, s->idle_w,
                        s->dynamic, p->error,    p->without};
    ft_phase phase;
    bool good = memchr(p->device, 0, sizeof(p->device)) &&
                memchr(p->policy, 0, sizeof(p->policy)) &&
                memchr(p->phase, 0, sizeof(p->phase)) &&
                ft_phase_from_name(&phase, p->phase, strlen(p->phase)) &&
                is_range(p->time_low, p->time_high) &&
                (is_range(p->energy_low, p->energy_high) ||
                 (isnan(p->energy_low) && isnan(p->energy_high)));

    for (size_t i = 0; good && i < sizeof(v) / sizeof(*v); i++)
        good = isfinite(v[i]) && v[i] >= 0;
    for (int g = 0; good && g < FT__N_TASK_GROUPS; g++)
        good = isfinite(s->scale[g]) && s->scale[g] >= 0;
    return good;
}

/* ---- loads ---- */

/* A network, and what the family says of its operations. */
struct network {
    ft__known_network known;
    ft__schedule start;
    uint32_t whole;
    bool usable;
};

struct fitting {
    const ft_predictor *p;
    const ft__placed_options *opt;
    ft_store *store;
    ft__wholes w;
    struct network *network; /* of every whole */
    ft__known_network *scratch;
    double *stray; /* three of every whole: times, energies, and times without */
};

struct listing {
    const ft__whole *w;
    ft__buf text;
    char *source; /* the first that lists it */
};

static int take_member(void *user, const ft_member *m)
{
    struct listing *l = user;

    if (strcmp(m->phase, l->w->phase) != 0 || !(m->count >= 0.5))
        return 0;
    if (!l->source)
        l->source = strdup(m->source);
    if (!l->source)
        return 1;
    if (strcmp(l->source, m->source) == 0)
        ft__buf_fmt(&l->text, "%s *%.0f\n", m->part, m->count);
    return l->text.bad;
}

/* From the members of the store; *g stays NULL where it has none. */
static ft_status list_members(ft_graph **g, ft_store *store, const ft__whole *w,
                              ft_error *err)
{
    struct listing l = {.w = w};
    ft_status st = ft_store_each_member(store, NULL, w->spec, take_member, &l, err);

    if (!st && (l.text.bad || (l.text.len && !l.source)))
        st = ft_fail(err, FT_ENOMEM, 0, "operations of %s", w->spec);
    if (!st && l.text.len)
        st = ft_import_ops(g, l.text.s, l.text.len, w->spec, err);
    free(l.source);
    ft__buf_free(&l.text);
    return st;
}

static ft_status find_graph(ft_graph **g, const struct fitting *f, const ft__whole *w,
                            ft_error *err)
{
    ft_graph *plain = NULL;
    ft_status st = FT_OK;

    *g = NULL;
    if (f->opt->graph)
        st = f->opt->graph(f->opt->user, &plain, w->spec, w->phase, err);
    if (!st && !plain)
        st = list_members(&plain, f->store, w, err);
    if (!st && plain)
        st = ft_graph_lower(g, plain, FT_POLICY_STRIDED_VIEWS, err);
    ft_graph_free(plain);
    return st;
}

static ft_status price(struct network *n, const struct fitting *f, const ft_graph *g,
                       const ft__dataset *on, ft_error *err)
{
    const ft_device_use use = {.device = on->file, .policy = on->policy};
    ft__tasks tasks = {.task = calloc(ft_graph_n_ops(g) + 1u, sizeof(*tasks.task))};
    ft_status st =
        tasks.task ? ft__family_tasks(&tasks, f->p, &use, g, ft__placed_phase(g), err)
                   : ft_fail(err, FT_ENOMEM, 0, "networks");

    if (!st) {
        for (uint32_t i = 0; i < ft_graph_n_ops(g); i++)
            tasks.task[i].count = (double)ft_graph_op_count(g, i);
        ft__schedule_load(&n->known.load, tasks.task, ft_graph_n_ops(g));
        n->known.load.cap_w = tasks.cap_w;
        n->start = tasks.schedule;
    }
    free(tasks.task);
    return st;
}

/* Networks of devices that nothing was learned of, at clocks of their own, and those
 * that nobody lists are left out. */
static ft_status load_network(struct fitting *f, uint32_t i, ft_error *err)
{
    const ft__whole *w = &f->w.v[i];
    ft__dataset *on = &f->w.dataset[w->dataset];
    struct network *n = &f->network[i];
    ft_graph *g = NULL;
    ft_status st = FT_OK;

    *n = (struct network){
        .known = {.time_s = w->time_s, .energy_j = w->energy_j, .weight = 1},
        .whole = i};
    if (!ft__family_knows(f->p->family, FT__METRIC_TIME, on) ||
        ft__setting_differs(on->setting, "") || !(w->time_s > 0))
        return FT_OK;
    if (!on->file)
        st = ft_device_load(&on->file, f->opt->data_dir, on->device, err);
    if (!st)
        st = find_graph(&g, f, w, err);
    if (!st && g && strcmp(ft_phase_name(ft__placed_phase(g)), w->phase) == 0) {
        st = price(n, f, g, on, err);
        n->usable = !st && ft__schedule_time(&n->known.load, &n->start) > 0;
    }
    ft_graph_free(g);
    return st;
}

/* ---- one schedule ---- */

static bool same_place(const struct fitting *f, uint32_t a, uint32_t b)
{
    const ft__whole *x = &f->w.v[a], *y = &f->w.v[b];
    const ft__dataset *d = &f->w.dataset[x->dataset], *e = &f->w.dataset[y->dataset];

    return f->network[a].usable && f->network[b].usable &&
           strcmp(x->phase, y->phase) == 0 && strcmp(d->device, e->device) == 0 &&
           strcmp(d->policy, e->policy) == 0;
}

/* Fit to all networks of the place of `of` but `without`, by its name; NULL: to all. */
static void fit_without(ft__schedule *s, const struct fitting *f, uint32_t of,
                        const char *without)
{
    size_t n = 0;

    *s = f->network[of].start;
    for (uint32_t i = 0; i < f->w.n; i++)
        if (same_place(f, of, i) && (!without || strcmp(f->w.v[i].spec, without) != 0))
            f->scratch[n++] = f->network[i].known;
    ft__schedule_fit(s, f->scratch, n, pull);
}

static double mean_error(const double *stray, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs(expm1(-stray[i]));
    return sum / (double)n;
}

/* How far networks stray from schedules that were not fitted to them. */
static ft_status find_strays(ft__placed *out, const struct fitting *f, uint32_t of,
                             ft_error *err)
{
    double *time = f->stray, *energy = time + f->w.n, *before = energy + f->w.n;
    size_t n = 0, n_energy = 0;
    ft_status st;

    for (uint32_t i = 0; i < f->w.n; i++) {
        const ft__known_network *k = &f->network[i].known;
        ft__schedule s;
        double t, e;

        if (!same_place(f, of, i))
            continue;
        fit_without(&s, f, of, f->w.v[i].spec);
        t = ft__schedule_time(&k->load, &s);
        e = ft__schedule_energy(&k->load, &s, t);
        before[n] = log(k->time_s / ft__schedule_time(&k->load, &f->network[of].start));
        time[n++] = log(k->time_s / t);
        if (k->energy_j > 0 && e > 0)
            energy[n_energy++] = log(k->energy_j / e);
    }
    out->n = n;
    out->error = mean_error(time, n);
    out->without = mean_error(before, n);
    out->energy_low = out->energy_high = NAN;
    st = ft__schedule_range(&out->time_low, &out->time_high, time, n, err);
    if (!st && n_energy)
        st = ft__schedule_range(&out->energy_low, &out->energy_high, energy, n_energy,
                                err);
    return st;
}

/* Different networks that ran in the place of `of`; 0: another one stands for it. */
static uint32_t count_networks(const struct fitting *f, uint32_t of)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->w.n; i++) {
        uint32_t j = 0;

        if (!same_place(f, of, i))
            continue;
        if (i < of)
            return 0;
        while (j < i &&
               !(same_place(f, of, j) && strcmp(f->w.v[i].spec, f->w.v[j].spec) == 0))
            j++;
        n += j == i;
    }
    return n;
}

static ft_status add_placed(ft__family *to, const struct fitting *f, uint32_t of,
                            ft_error *err)
{
    const ft__whole *w = &f->w.v[of];
    const ft__dataset *d = &f->w.dataset[w->dataset];
    ft__placed p = {.n = 0}, *grown;
    ft_status st;

    if (strlen(d->device) >= sizeof(p.device) || strlen(d->policy) >= sizeof(p.policy))
        return FT_OK;
    memcpy(p.device, d->device, strlen(d->device));
    memcpy(p.policy, d->policy, strlen(d->policy));
    strncpy(p.phase, w->phase, sizeof(p.phase) - 1);
    fit_without(&p.schedule, f, of, NULL);
    st = find_strays(&p, f, of, err);
    if (st || !(p.error < p.without) || !ft__placed_sound(&p))
        return st;
    grown = realloc(to->placed, (to->n_placed + 1u) * sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "schedules");
    to->placed = grown;
    grown[to->n_placed++] = p;
    return FT_OK;
}

static ft_status fit_all(struct fitting *f, ft__family *to, ft_error *err)
{
    uint32_t usable = 0;
    ft_status st = FT_OK;

    f->network = calloc(f->w.n + 1, sizeof(*f->network));
    f->scratch = calloc(f->w.n + 1, sizeof(*f->scratch));
    f->stray = calloc(3 * f->w.n + 1, sizeof(*f->stray));
    if (!f->network || !f->scratch || !f->stray)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", f->w.n);
    for (uint32_t i = 0; i < f->w.n && !st; i++) {
        st = load_network(f, i, err);
        usable += f->network[i].usable;
    }
    if (!st && !usable)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "no network whose operations are listed was measured whole on a "
                     "device that operations were learned of");
    for (uint32_t i = 0; i < f->w.n && !st; i++)
        if (count_networks(f, i) >= LEAST_NETWORKS)
            st = add_placed(to, f, i, err);
    return st;
}

ft_status ft__placed_fit(ft__family *f, ft_store *store, const ft__placed_options *opt,
                         ft_error *err)
{
    const ft_predictor p = {.version = FT__PREDICTOR_VERSION, .family = f};
    struct fitting all = {.p = &p, .opt = opt, .store = store};
    ft_status st = ft__wholes_list(&all.w, store, opt->networks, err);

    if (!st)
        st = fit_all(&all, f, err);
    free(all.network);
    free(all.scratch);
    free(all.stray);
    ft__wholes_free(&all.w);
    return st;
}
