/* Schedules: what a network takes of host and device by what its operations do, and
 * what networks that were measured whole say of it: of the devices they ran on, and of
 * how far off networks of others are. */
#include "predict/schedule/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/names.h"
#include "graph/op.h"
#include "physics/physics.h"
#include "predict/model/family.h"

/* The schedules of devices in a predictor: looked up, checked. */
ft_phase ft__graph_phase(const ft_graph *g)
{
    ft_phase phase = FT_PHASE_FORWARD;

    for (uint32_t i = 0; i < g->n_ops; i++)
        switch (g->op[i].phase) {
        case FT_PHASE_OPTIMIZER:
        case FT_PHASE_STEP: return FT_PHASE_STEP;
        case FT_PHASE_BACKWARD:
        case FT_PHASE_FORWARD_BACKWARD: phase = FT_PHASE_FORWARD_BACKWARD; break;
        default: break;
        }
    return phase;
}

ft__task_group ft__task_group_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return FT__TASK_CONV;
    case FT_CLASS_MATMUL: return FT__TASK_MATMUL;
    default: return FT__TASK_OTHER;
    }
}

ft__schedule ft__schedule_plain(void)
{
    return (ft__schedule){.scale = {1, 1, 1, 1}, .bounded = 1, .dynamic = 1};
}

double ft__schedule_device(const ft__op_task *w)
{
    if (!isfinite(w->alone_s))
        return w->bare_s;
    return w->alone_s <= w->floor_s ? fmin(w->alone_s, w->bare_s) : w->alone_s;
}

/* The extra time when all weights come from memory rather than the cache. */
static double reread(const ft__op_task *w)
{
    return fmax(0, w->weights_s - ft__schedule_device(w));
}

double ft__schedule_among(const ft__op_task *w, const ft__network_load *l)
{
    const double displaced = ft__cache_hit(w->weights) - ft__cache_hit(l->weights);

    return ft__schedule_device(w) + fmax(0, displaced) * reread(w);
}

static bool waited_for_host(const ft__op_task *w)
{
    return w->alone_s <= w->floor_s;
}

ft__network_load ft__schedule_no_load(double cap_w, double call)
{
    return (ft__network_load){.call = call, .typical_w = NAN, .cap_w = cap_w};
}

static void load_add(ft__network_load *l, const ft__op_task *w)
{
    const double device = w->count * ft__schedule_device(w);
    const double alone = w->count * (isfinite(w->alone_s) ? w->alone_s : w->bare_s);
    const size_t factor = isfinite(w->alone_s) ? w->group : FT__N_TASK_GROUPS;

    *(w->in_turn ? &l->in_turn : &l->launches) += w->count * w->launches;
    if (!w->in_turn && w->launches > 0 && device > 0)
        l->issued += w->count * (1 + w->more_kernels);
    *(isfinite(w->alone_s) ? &l->known_s[w->group] : &l->unmodelled_s) += device;
    l->weights += w->count * w->weights;
    l->reread_s[factor] += w->count * reread(w);
    l->alone_hit_s[factor] += w->count * reread(w) * ft__cache_hit(w->weights);
    if (isfinite(w->power_w) && !waited_for_host(w)) {
        l->alone_s += alone;
        l->alone_j += alone * w->power_w;
    }
}

void ft__schedule_load(ft__network_load *l, const ft__op_task *task, size_t n)
{
    for (size_t i = 0; i < n; i++)
        load_add(l, &task[i]);
}

double ft__schedule_busy(const ft__network_load *l, const ft__schedule *s)
{
    const int unmodelled = FT__N_TASK_GROUPS;
    const double hit = ft__cache_hit(l->weights);
    double sum = s->launch_s * l->in_turn +
                 s->bounded * (l->unmodelled_s + l->alone_hit_s[unmodelled] -
                               hit * l->reread_s[unmodelled]);

    for (int g = 0; g < FT__N_TASK_GROUPS; g++)
        sum += s->scale[g] * (l->known_s[g] + l->alone_hit_s[g] - hit * l->reread_s[g]);
    return sum;
}

double ft__schedule_host(const ft__network_load *l, const ft__schedule *s)
{
    return ft__schedule_busy(l, s) > 0 ? s->launch_s * (l->launches + l->call) : 0;
}

double ft__schedule_time(const ft__network_load *l, const ft__schedule *s)
{
    const double busy = ft__schedule_busy(l, s), host = ft__schedule_host(l, s);
    const double issued = fmax(l->issued, 1);
    const double first = s->launch_s * (l->call + l->launches / issued);

    return host > 0 ? fmax(first + busy, host + busy / issued) : busy;
}

double ft__schedule_energy(const ft__network_load *l, const ft__schedule *s,
                           double time_s)
{
    double busy_w = l->alone_s > 0 ? l->alone_j / l->alone_s : l->typical_w;
    double added = s->dynamic * (busy_w - s->idle_w) * ft__schedule_busy(l, s);

    if (!isfinite(busy_w))
        return NAN;
    return fmin(s->idle_w * time_s + fmax(0, added), l->cap_w * time_s);
}

bool ft__device_schedule_is_of(const ft__device_schedule *p, const ft__dataset *on,
                               const char *phase)
{
    return strcmp(p->device, on->device) == 0 && strcmp(p->policy, on->policy) == 0 &&
           strcmp(p->engine, on->engine) == 0 && strcmp(p->phase, phase) == 0;
}

ft_status ft__device_schedule_add(ft__family *f, const ft__device_schedule *p,
                                  ft_error *err)
{
    ft__device_schedule *grown =
        realloc(f->device_schedule, (f->n_device_schedules + 1u) * sizeof(*grown));

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "schedules");
    f->device_schedule = grown;
    grown[f->n_device_schedules++] = *p;
    return FT_OK;
}

/* No factor, interval or time of a launch (s) is larger, and no power (W). */
static const double most = 1e3, most_w = 1e6;

static bool is_range(double low, double high)
{
    return low <= high && low >= -log(most) && high <= log(most);
}

static bool is_factor(double v)
{
    return v > 0 && v <= most;
}

static bool is_made(const char *phase)
{
    static const ft_phase made[] = {FT_PHASE_FORWARD, FT_PHASE_FORWARD_BACKWARD,
                                    FT_PHASE_STEP};

    for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
        if (strcmp(phase, ft_name(FT_NAMES_PHASE, made[i])) == 0)
            return true;
    return false;
}

static bool is_schedule(const ft__schedule *s)
{
    bool good = is_factor(s->bounded) && is_factor(s->launch_s) && s->idle_w >= 0 &&
                s->idle_w <= most_w && s->dynamic >= 0 && s->dynamic <= most;

    for (int g = 0; good && g < FT__N_TASK_GROUPS; g++)
        good = is_factor(s->scale[g]);
    return good;
}

static bool are_sessions(const ft__device_schedule *p)
{
    bool good = p->n_sessions <= FT__MOST_SESSIONS;

    for (uint64_t c = 0; good && c < p->n_sessions; c++)
        good = ft__is_text(p->session[c].setting, sizeof(p->session[c].setting)) &&
               p->session[c].weight > 0 && p->session[c].weight <= 1;
    return good;
}

bool ft__device_schedule_sound(const ft__device_schedule *p)
{
    return are_sessions(p) && ft__is_text(p->device, sizeof(p->device)) &&
           ft__is_text(p->policy, sizeof(p->policy)) &&
           ft__is_text(p->engine, sizeof(p->engine)) &&
           ft__is_text(p->phase, sizeof(p->phase)) && is_made(p->phase) &&
           p->n >= FT__LEAST_NETWORKS && p->n <= UINT32_MAX &&
           is_schedule(&p->schedule) && is_range(p->time_low, p->time_high) &&
           (is_range(p->energy_low, p->energy_high) ||
            (isnan(p->energy_low) && isnan(p->energy_high))) &&
           isfinite(p->error) && p->error >= 0 && isfinite(p->without) &&
           p->without >= 0;
}

/* Operations of a group that took less of the networks' time are not like theirs. */
static const double little = 0.02;
/* A network with this share of its time in such groups, or in recurrent layers, is none
 * of theirs. */
static const double enough = 0.1;

bool ft__op_bounds_of(ft__op_bounds *out, const ft__network_estimate *e,
                      const ft_graph *g)
{
    double sum = 0, squares = 0;

    *out = (ft__op_bounds){0};
    for (uint32_t i = 0; i < e->n_ops; i++) {
        const ft_estimate *d = &e->op_device[i];
        double v = (double)g->op_count[i] * d->value, below, above;

        if (!(v > 0))
            continue;
        below = v * log(d->value / d->low);
        above = v * log(d->high / d->value);
        sum += v;
        squares += v * v;
        out->low += below;
        out->high += above;
        out->own_low += below * below;
        out->own_high += above * above;
        out->share[ft__task_group_of(&g->op[i])] += v;
        out->chains += ft__rnn_gates(g->op[i].kind) ? v : 0;
    }
    if (!(sum > 0))
        return false;
    out->low /= sum;
    out->high /= sum;
    out->own_low = sqrt(out->own_low) / sum;
    out->own_high = sqrt(out->own_high) / sum;
    out->alone = squares / (sum * sum);
    out->chains /= sum;
    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        out->share[k] /= sum;
    return true;
}

bool ft__unseen_sound(const ft__unseen *u)
{
    bool good = u->part > 0 && u->part <= FT__WIDEST && u->alone > 0 && u->alone <= 1;

    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        good = good && u->share[k] >= 0 && u->share[k] <= 1;
    return good && u->n > 0 && u->chips >= 2;
}

double ft__unseen_unlike(const ft__unseen *u, const ft__op_bounds *of)
{
    double unlike = of->chains / enough,
           alone = (of->alone - u->alone) / (1 - u->alone);

    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        if (u->share[k] < little)
            unlike += of->share[k] / enough;
    return fmin(1, fmax(unlike, u->alone < 1 ? fmax(0, alone) : 0));
}

ft_status ft__unseen_set(ft__family *f, const ft__unseen *u, ft_error *err)
{
    if (!f->unseen)
        f->unseen = malloc(sizeof(*f->unseen));
    if (!f->unseen)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    *f->unseen = *u;
    return FT_OK;
}
