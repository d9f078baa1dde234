/* A network asked of a family, or of specifications: the device as it is asked about,
 * and which of what was measured answers for it. */
#include "predict/query/query_context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "foretell/names.h"
#include "predict/model/calibration_set.h"

static size_t likeness(const ft__dataset *on, const ft__dataset *d)
{
    const size_t more_than_rows = (size_t)1 << 40;

    return more_than_rows *
               ((size_t)4 * ft__is_named(on->policy, d->policy) +
                (size_t)2 * ft__is_named(on->engine, d->engine) +
                (size_t)ft__is_named(on->engine_version, d->engine_version)) +
           d->n;
}

static bool has_tf32(const ft_device *device)
{
    return device && ft_device_get(device)->peak_tf32 > 0;
}

/* Products in TF32 tell nothing of those without, nor these of them. */
static bool is_of_policy(const ft__dataset *on, const ft__dataset *d)
{
    return !on->policy || !has_tf32(on->file) || ft__is_named(on->policy, d->policy);
}

/* Which of the known measurements are of the device of `on`, at its clock and cap:
 * those measured with most in common with it; NULL: none. */
static const ft__dataset *dataset_like(const ft__calibration_set *known,
                                       const ft__dataset *on)
{
    const ft__dataset *best = NULL;

    for (uint32_t i = 0; known && i < known->s.n_datasets; i++) {
        const ft__dataset *d = &known->s.dataset[i];

        if (strcmp(d->device, on->device) == 0 && is_of_policy(on, d) &&
            ft__is_same_operating_point(on->setting, d->setting) &&
            (!best || likeness(on, d) > likeness(on, best)))
            best = d;
    }
    return best;
}

/* Measured on a device that has it, and not asked to leave it: constants of other
 * products say nothing of those. */
static bool saw_tf32(const ft__family *f)
{
    for (uint32_t i = 0; i < f->n_datasets; i++)
        if (f->templates[i].hardware.capability >= 8 &&
            strcmp(f->dataset[i].policy, "ieee") != 0)
            return true;
    return false;
}

/* Was the device measured at the clock and under the cap that are asked for? One that
 * was not measured at all is known as it comes. */
static bool was_driven_so(const ft__family *f, const ft__dataset *asked, bool known)
{
    if (!known)
        return !ft__setting_differs(asked->setting, "");
    for (uint32_t i = 0; i < f->n_datasets; i++)
        if (strcmp(f->dataset[i].device, asked->device) == 0 &&
            !ft__setting_differs(asked->setting, f->dataset[i].setting))
            return true;
    return false;
}

/* What is not said is as the few measurements d were taken, as far as the family knows
 * the like. */
static void like_known(ft__dataset *asked, const ft__family *f, const ft__dataset *d)
{
    const bool any_engine = !asked->engine;

    asked->policy = asked->policy ? asked->policy : d->policy;
    for (uint32_t i = 0; i < f->n_datasets && any_engine; i++)
        if (strcmp(f->dataset[i].engine, d->engine) == 0) {
            asked->engine = d->engine;
            if (strcmp(f->dataset[i].engine_version, d->engine_version) == 0)
                asked->engine_version = d->engine_version;
        }
}

/* A device that is predicted by what was measured of it alone: it has no file, or is a
 * CPU whose roofline was measured. */
static ft_status open_plain(ft__query_context *q, ft_error *err)
{
    q->plain = true;
    q->dataset = ft__arena_need(&q->room, q->f->n_datasets + 1u, sizeof(*q->dataset));
    if (!q->dataset)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", q->f->n_datasets);
    q->dataset[q->index] = q->on;
    if (q->index < q->f->n_datasets)
        q->dataset[q->index].roof = q->f->dataset[q->index].roof;
    q->a = (ft__device_query){.setting = q->on.setting,
                              .set = q->set,
                              .policy = q->on.policy,
                              .cap_w = INFINITY,
                              .clock_hz = NAN,
                              .loop_calls = NAN,
                              .graph = true};
    return FT_OK;
}

static bool is_probed_cpu(const ft__query_context *q, const ft_device *device)
{
    const char *type = ft_device_get(device)->type;

    return type && strcmp(type, "cpu") == 0 && q->index < q->f->n_datasets &&
           q->f->dataset[q->index].roof;
}

/* As it is asked for, otherwise as GPUs were measured (NULL: as the setting says); CPUs
 * replay no graphs. */
static const char *run_mode_of(const ft__device_use *on)
{
    const bool gpu = strcmp(ft_device_get(on->device)->type, "gpu") == 0;

    if (on->run_mode)
        return on->run_mode;
    return gpu ? NULL : "eager";
}

/* Does the setting of `on` name a session in which its device was measured? */
static bool names_session(const ft__family *f, const ft__dataset *on)
{
    for (uint32_t i = 0; i < f->n_datasets; i++)
        if (on->device && strcmp(on->device, f->dataset[i].device) == 0 &&
            ft__pairs_in_common(on->setting, f->dataset[i].setting))
            return true;
    return false;
}

/* That of a device, policy and engine; NULL: there is none. */
static const ft__device_schedule *find_schedule(const ft__family *f,
                                                const ft__dataset *on, ft_phase phase)
{
    for (uint32_t i = 0; i < f->n_device_schedules; i++)
        if (ft__device_schedule_is_of(&f->device_schedule[i], on,
                                      ft_name(FT_NAMES_PHASE, phase)))
            return &f->device_schedule[i];
    return NULL;
}

/* That of what was measured changes nothing. */
static ft_status check_memory_clock(const ft__query_context *q, ft_error *err)
{
    const double asked_hz = q->a.set.at.memory_hz;
    const ft_device_facts *d = q->a.device;

    return ft__knows_memory_clock(d, asked_hz) ||
                   (q->f && (!q->rescaled || asked_hz == q->measured.set.at.memory_hz))
               ? FT_OK
               : ft_fail(err, FT_ENOTFOUND, 0,
                         "%s: its file does not say \"memory_clock_mhz\", which "
                         "another memory clock needs",
                         d->name);
}

/* By specifications, and fused where the run mode says so. */
static ft_status open_device(ft__query_context *q, const ft__device_use *on,
                             ft_error *err)
{
    ft_status st = ft__device_query_open(&q->a, on, q->g, err);

    if (!st)
        st = check_memory_clock(q, err);
    if (st || !q->a.fused)
        return st;
    st = ft__graph_fuse(&q->fused, q->g, err);
    if (!st)
        ft__query_context_compile(q);
    return st;
}

/* May the family be asked about the operations at all, of the device of that name? */
static ft_status check_asked(const ft__query_context *q, const char *name,
                             ft_error *err)
{
    ft_status st = ft__check_operations(q->g, err);

    if (st)
        return st;
    if (q->f->kernels && !q->f->n_datasets && !q->f->n_alone && !q->f->clocked.n)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "the predictor has kernels in PTX alone, which foretell ptx asks "
            "it about");
    if (!ft__family_any(q->f, FT__METRIC_TIME))
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "the predictor was made of what was measured whole, and of none on %s in "
            "this phase and in elements as wide",
            name ? name : "this device");
    return FT_OK;
}

/* Which of what the family measured answers for *asked, which becomes what the family
 * is asked about: its setting where it is rescaled is that of the measurements. */
static void choose_measured(ft__query_context *q, ft__dataset *asked,
                            const ft__calibration_set *few)
{
    static const char as_usual[] = "default";
    const ft__dataset *like = dataset_like(few, asked);
    char *policy;

    if (like)
        like_known(asked, q->f, like);
    policy = asked->policy;
    q->tf32 = saw_tf32(q->f) ||
              (like && has_tf32(asked->file) && !ft__is_named(policy, "ieee"));
    if (!q->tf32) { /* devices that have it were measured without: so is all else */
        asked->policy = NULL;
        q->policy = policy ? policy : as_usual;
    }
    q->few = few;
    q->known = ft__family_knows(q->f, FT__METRIC_TIME, asked);
    q->power_known = ft__family_knows(q->f, FT__METRIC_POWER, asked);
    if (!q->known && !asked->policy)
        asked->policy = policy ? policy : (char *)as_usual;
    /* A few measurements are of the clock and cap asked for: so is what they correct.
     */
    q->rescaled = !few && !was_driven_so(q->f, asked, q->known);
    q->interpolated = q->rescaled && q->known &&
                      ft__clock_interpolation_find(&q->interpolation, q->f, asked);
    q->rescaled = q->rescaled && !q->interpolated;
    if (q->rescaled)
        asked->setting = NULL;
}

/* The models and the schedule of q->on, and whose sessions answer. */
static void choose_models(ft__query_context *q, const ft__dataset *asked)
{
    q->models = ft__family_model_set(q->f, FT__METRIC_TIME, &q->on);
    if (q->known)
        q->device_schedule = find_schedule(q->f, &q->on, q->phase);
    if (q->device_schedule && q->device_schedule->n_sessions && !q->interpolated &&
        !names_session(q->f, asked))
        q->as = q->device_schedule;
}

/* Was the device measured in short loops, which are not asked for? A few measurements
 * of it are of work as it is asked about. */
static bool is_of_short_loops(const ft__query_context *q, const ft__device_use *on)
{
    size_t len;

    return !q->rescaled && !q->few_on && on->device && q->set.short_loop &&
           !ft__pair(on->setting, "loop", &len);
}

/* The device as it is asked about, and as it was measured where that is another
 * setting. */
static ft_status open_learned(ft__query_context *q, const ft__device_use *on,
                              const char *name, ft_error *err)
{
    ft__device_use use;
    ft_status st = FT_OK;

    if (q->rescaled && !on->device)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s has no device file, which other clocks and caps than it was "
                       "measured at need",
                       name);
    if (!q->rescaled && (!on->device || is_probed_cpu(q, on->device)))
        return open_plain(q, err);
    use = (ft__device_use){.device = on->device,
                           .setting = q->on.setting,
                           .policy = q->policy ? q->policy : q->on.policy,
                           .launch_s = on->launch_s,
                           .run_mode = run_mode_of(on)};
    q->from_short_loops = is_of_short_loops(q, on);
    if (q->rescaled || q->from_short_loops)
        st = ft__device_query_open(&q->measured, &use, q->g, err);
    if (q->rescaled)
        use.setting = on->setting;
    if (!st)
        st = open_device(q, &use, err);
    q->a.short_loop = q->a.short_loop && !q->from_short_loops;
    return st;
}

/* What is not said is as in what was learned from. */
ft_status ft__query_context_open(ft__query_context *q, ft__buf *setting,
                                 const ft__device_use *on, ft_error *err)
{
    const char *name = on->device ? ft_device_get(on->device)->name : on->name;
    /* Nothing is written through these. */
    ft__dataset asked = {.device = (char *)name,
                         .setting = (char *)on->setting,
                         .policy = (char *)on->policy,
                         .engine = (char *)on->engine,
                         .engine_version = (char *)on->engine_version,
                         .any_engine = !on->engine,
                         .timed = on->launch_s > 0,
                         .file = (ft_device *)on->device};
    ft_status st;

    if (!q->f)
        return open_device(q, on, err);
    st = check_asked(q, name, err);
    if (st)
        return st;
    choose_measured(q, &asked, on->known);
    ft__family_complete(&q->on, setting, q->f, &asked);
    if (setting->bad)
        return ft_fail(err, FT_ENOMEM, 0, "setting");
    q->set = ft__setting_read(q->on.setting);
    q->index = ft__family_index(q->f, &q->on);
    q->few_on = dataset_like(q->few, &q->on);
    choose_models(q, &asked);
    return open_learned(q, on, name, err);
}

void ft__query_context_close(ft__query_context *q, ft__buf *setting)
{
    free(q->fused);
    free(q->form);
    ft__arena_free(&q->room);
    ft__buf_free(setting);
}
