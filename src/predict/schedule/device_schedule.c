/* The schedules of devices in a predictor: looked up, checked. */
#include "predict/schedule/device_schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/model/family.h"

ft_phase ft__placed_phase(const ft_graph *g)
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

bool ft__placed_is_of(const ft__placed *p, const ft__dataset *on, const char *phase)
{
    return strcmp(p->device, on->device) == 0 && strcmp(p->policy, on->policy) == 0 &&
           strcmp(p->engine, on->engine) == 0 && strcmp(p->phase, phase) == 0;
}

const ft__placed *ft__placed_find(const ft__family *f, const ft__dataset *on,
                                  ft_phase phase)
{
    for (uint32_t i = 0; i < f->n_placed; i++)
        if (ft__placed_is_of(&f->placed[i], on, ft_phase_name(phase)))
            return &f->placed[i];
    return NULL;
}

ft_status ft__placed_add(ft__family *f, const ft__placed *p, ft_error *err)
{
    ft__placed *grown = realloc(f->placed, (f->n_placed + 1u) * sizeof(*grown));

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "schedules");
    f->placed = grown;
    grown[f->n_placed++] = *p;
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
        if (strcmp(phase, ft_phase_name(made[i])) == 0)
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

static bool are_sessions(const ft__placed *p)
{
    bool good = p->n_sessions <= FT__MOST_SESSIONS;

    for (uint64_t c = 0; good && c < p->n_sessions; c++)
        good = ft__is_text(p->session[c].setting, sizeof(p->session[c].setting)) &&
               p->session[c].weight > 0 && p->session[c].weight <= 1;
    return good;
}

bool ft__placed_sound(const ft__placed *p)
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
