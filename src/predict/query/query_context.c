/* A network asked of a family, or of specifications: the device as it is asked about;
 * of each operation the form in which something was learned of it; and what regressors,
 * sessions, clocks on either side and few measurements say of that form. */
#include "predict/query/query_context.h"
#include "predict/model/regressor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "foretell/names.h"
#include "graph/op_inside.h"
#include "physics/op_kernels.h"
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
            !ft__setting_differs(on->setting, d->setting) &&
            !ft__setting_differs(d->setting, on->setting) &&
            (!best || likeness(on, d) > likeness(on, best)))
            best = d;
    }
    return best;
}

/* A machine without a data sheet has no better estimate of a kind that was never
 * measured than the regressor of all kinds. */
static bool is_learned(const ft__query_context *q, const ft_op *op)
{
    const ft__model_set *l = q->models;
    const bool any = q->plain && ft_kind_class(op->kind) != FT_CLASS_GENERIC;

    for (uint32_t i = 0; i < l->n_regressors; i++)
        if ((l->part[i].scope != FT__SCOPE_ALL || any) &&
            ft__regressor_has(&l->part[i], op))
            return true;
    return ft__family_holds(q->f, q->index, op);
}

static void terms_of(ft__terms *t, ft__query_context *q, const ft_op *op)
{
    const ft__sample one = {.op = *op, .dataset = q->index};

    if (q->plain) {
        ft__base_terms(&q->models->base, t,
                       &(ft__samples){.v = (ft__sample *)&one,
                                      .n = 1,
                                      .dataset = q->dataset,
                                      .n_datasets = q->f->n_datasets + 1},
                       0);
        t->busy_s = t->total_s;
        t->launch_s = 0;
        return;
    }
    q->a.params = *ft__model_set_params(q->models, op);
    ft__device_query_terms(t, &q->a, op);
}

/* Is it a product that the device would compute in TF32? */
static bool is_tf32(const ft__query_context *q, const ft_op *op)
{
    ft__hardware_spec chip;

    if (q->plain)
        return false;
    ft__hardware_spec_set(&chip, q->a.device, &q->set, q->a.policy, op);
    return chip.tensor && op->dtype == FT_DTYPE_fp32;
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

/* Is its time among the few measurements of the device as it is asked about? */
static bool is_among_few(const ft__query_context *q, const ft_op *op)
{
    const uint64_t hash = ft__op_hash(op);

    for (size_t i = 0; q->few_on && i < q->few->s.n; i++) {
        const ft__sample *v = &q->few->s.v[i];

        if (v->hash == hash && &q->few->s.dataset[v->dataset] == q->few_on &&
            v->value[FT__METRIC_TIME] > 0)
            return true;
    }
    return false;
}

/* Of a device that nobody measured: was it the kind that was learned from? Constants
 * and regressors of a class say nothing of its other kinds there: KernelBench's
 * transposed convolutions and recurrent layers come out better by the data sheet. What
 * connects devices is of the machine that they were measured in, not of a chip. */
static bool is_own_kind(const ft__query_context *q, const ft_op *op)
{
    const ft__model_set *l = q->models;
    const uint32_t i = ft__model_set_regressor(l, op);

    return q->known || q->plain || q->few_on ||
           (op->kind != FT_KIND_collective && i < l->n_regressors &&
            l->part[i].scope <= FT__SCOPE_KIND);
}

/* By its data sheet: nothing that was learned says anything of operation i, but how its
 * power is estimated there. */
static void take_default(ft__query_context *q, uint32_t i)
{
    if (!q->by_default[i])
        q->bare_form[i] = q->bare[i];
    q->by_default[i] = true;
    q->share[i] = NAN;
    q->a.params = ft__physics_default();
    ft__device_query_terms(&q->bare[i], &q->a, &q->g->op[i]);
}

/* Layers that the device computes in a wider type are known in that one, but for those
 * that were measured as they are asked for. */
static ft_op known_op(const ft__query_context *q, const ft_op *op)
{
    const bool wide = q->f && !q->plain && ft__is_widened(op, q->a.device) &&
                      !ft__family_holds(q->f, q->index, op) && !is_among_few(q, op);

    return wide ? ft__op_widened(op) : *op;
}

const ft__physics_params *ft__query_context_params(const ft__query_context *q,
                                                   uint32_t i)
{
    const ft_op known = known_op(q, &q->g->op[i]);

    return ft__model_set_params(q->models, &known);
}

/* As it is; a backward operation otherwise as its part of both passes together. */
static void choose_form(ft__query_context *q, uint32_t i)
{
    ft__device_query *measured = ft__query_context_measured(q);
    const ft_op known = known_op(q, &q->g->op[i]), *op = &known;
    ft_op *form = &q->form[i];

    *form = *op;
    q->share[i] = NAN;
    if (ft__costs_nothing(op))
        return;
    if (q->f)
        terms_of(&q->bare[i], q, op);
    else
        ft__device_query_terms(&q->bare[i], &q->a, op);
    q->bare_form[i] = q->bare[i];
    if (!q->f)
        return;
    if ((!q->tf32 && is_tf32(q, op)) || !is_own_kind(q, op)) {
        take_default(q, i);
        return;
    }
    /* Short loops differ in the limit of tensor cores alone. */
    if (q->rescaled || (q->from_short_loops && ft__makes_products(op))) {
        measured->params = q->a.params;
        ft__device_query_terms(&q->bare_form[i], measured, op);
    }
    if (is_learned(q, op) || is_among_few(q, op)) {
        q->share[i] = q->bare[i].busy_s / q->bare_form[i].busy_s;
        return;
    }
    form->phase = FT_PHASE_FORWARD_BACKWARD;
    form->wrt = 0;
    if (op->phase == FT_PHASE_OPTIMIZER || !is_learned(q, form)) {
        *form = *op;
        return;
    }
    if (q->plain) {
        terms_of(&q->bare_form[i], q, form);
    } else {
        measured->params = q->a.params;
        ft__device_query_terms(&q->bare_form[i], measured, form);
    }
    q->share[i] = q->bare[i].busy_s / q->bare_form[i].busy_s;
}

/* The forms of all operations, and what is known of them without asking. */
static ft_status choose_forms(ft__query_context *q, ft_error *err)
{
    q->form = calloc(q->n + 1u, sizeof(*q->form));
    q->share = calloc(q->n + 1u, sizeof(*q->share));
    q->bare = calloc(q->n + 1u, sizeof(*q->bare));
    q->bare_form = calloc(q->n + 1u, sizeof(*q->bare_form));
    q->by_default = calloc(q->n + 1u, sizeof(*q->by_default));
    q->time = calloc(q->n + 1u, sizeof(*q->time));
    q->power = calloc(q->n + 1u, sizeof(*q->power));
    if (!q->form || !q->share || !q->bare || !q->bare_form || !q->by_default ||
        !q->time || !q->power)
        return ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    if (q->f) {
        q->few_on = dataset_like(q->few, &q->on);
        q->index = ft__family_index(q->f, &q->on);
    }
    for (uint32_t i = 0; i < q->n; i++)
        choose_form(q, i);
    return FT_OK;
}

/* Of sessions that measured the operation, if any did, otherwise of all. */
static void add_session(ft__op_answer *sum, double *weight, const ft__op_answer *a,
                        double session, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (weight[i] > 0 && sum[i].measured && !a[i].measured)
            continue;
        if (weight[i] == 0 || (a[i].measured && !sum[i].measured)) {
            sum[i] = a[i];
            sum[i].value = sum[i].low = sum[i].high = 0;
            weight[i] = 0;
        }
        weight[i] += session;
        sum[i].value += session * log(a[i].value);
        sum[i].low += session * log(a[i].low);
        sum[i].high += session * log(a[i].high);
        sum[i].far |= a[i].far;
    }
}

/* Means of what the sessions say, as networks weigh them
 * (predict/schedule/schedule.h). */
static ft_status ask_sessions(ft__op_answer *out, const ft__query_context *q,
                              ft__metric metric, ft_error *err)
{
    ft__op_answer *a = calloc(q->n + 1u, sizeof(*a));
    double *weight = calloc(q->n + 1u, sizeof(*weight));
    ft_status st =
        a && weight ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);

    for (uint64_t c = 0; c < q->as->n_sessions && !st; c++) {
        const ft__device_session *s = &q->as->session[c];
        ft__dataset on = q->on;

        on.setting = (char *)s->setting;
        st = ft__family_query(a, q->f, metric, &on, q->form, NULL, q->n, err);
        if (!st)
            add_session(out, weight, a, s->weight, q->n);
    }
    for (uint32_t i = 0; i < q->n && !st; i++) {
        out[i].value = exp(out[i].value / weight[i]);
        out[i].low = exp(out[i].low / weight[i]);
        out[i].high = exp(out[i].high / weight[i]);
    }
    free(a);
    free(weight);
    return st;
}

/* The same constants, chips and operations: the same terms. At another clock than it
 * was measured at those of the clock it was; total_s 0: these are not at hand. */
static const ft__terms *known_terms(ft__terms *room, const ft__query_context *q,
                                    ft__metric metric)
{
    const ft__device_query *as =
        q->rescaled || q->from_short_loops ? &q->measured : &q->a;

    if (q->plain || as->capped || metric > FT__METRIC_POWER)
        return NULL;
    if (!q->rescaled && metric == FT__METRIC_TIME)
        return q->bare_form;
    if (as->graph != q->set.graph &&
        (metric == FT__METRIC_POWER || (q->known && as->graph)))
        return NULL;
    if (metric == FT__METRIC_POWER &&
        (q->policy || as->fused != q->set.fused || as->short_loop != q->set.short_loop))
        return NULL;
    for (uint32_t i = 0; i < q->n; i++)
        if (!q->by_default[i] && !ft__costs_nothing(&q->g->op[i]) &&
            q->form[i].phase == q->g->op[i].phase)
            room[i] = q->bare_form[i];
    return room;
}

static ft_status ask_metric(ft__op_answer *out, const ft__query_context *q,
                            ft__metric metric, ft_error *err)
{
    ft__terms *room;
    ft_status st;

    if (q->as)
        return ask_sessions(out, q, metric, err);
    if (q->interpolated)
        return ft__clock_interpolation_query(out, &q->interpolation, q->f, metric,
                                             &q->on, q->form, q->n, err);
    room = calloc(q->n + 1u, sizeof(*room));
    if (!room)
        return ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    st = ft__family_query(out, q->f, metric, &q->on, q->form,
                          known_terms(room, q, metric), q->n, err);
    free(room);
    return st;
}

/* GPUs say nothing of what a CPU draws. */
static bool is_cpu_from_specification(const ft__query_context *q)
{
    return q->on.file && strcmp(ft_device_get(q->on.file)->type, "cpu") == 0 &&
           !ft__family_knows(q->f, FT__METRIC_POWER, &q->on);
}

static void widen(ft__op_answer *a, double reach)
{
    a->low = a->value * exp(-hypot(log(a->value / a->low), reach));
    a->high = a->value * exp(hypot(log(a->high / a->value), reach));
}

/* How far a clock falls under power, no short loop shows. The limiter acts on kernels
 * that are as fast as the estimate of the steady state, and hardly on slower ones,
 * which draw less. By how much it lengthens them is as unsure as half of that. */
static void answer_for_steady_state(ft__query_context *q)
{
    for (uint32_t i = 0; i < q->n; i++) {
        ft__op_answer *a = &q->time[i];
        const double seen_s = a->value * ft__query_context_device_share(q, i);
        double longer;

        if (!(q->share[i] > 1) || q->form[i].phase != q->g->op[i].phase)
            continue;
        q->share[i] = fmin(q->share[i], fmax(1, q->bare[i].busy_s / seen_s));
        longer = 0.5 * log(q->share[i]);
        a->measured = a->measured && !(longer > 0);
        widen(a, longer);
    }
}

double ft__query_context_between_boards(const ft__query_context *q)
{
    return q->f && q->known && q->n_few < FT__LEAST_CALIBRATION ? q->f->between_boards
                                                                : 0;
}

static ft_status learn_time_and_power(ft__query_context *q, ft_error *err)
{
    ft_error none = {0};
    uint32_t n_powered;
    double boards;
    ft_status st = choose_forms(q, err);

    if (st || !q->f)
        return st;
    st = ask_metric(q->time, q, FT__METRIC_TIME, err);
    for (uint32_t i = 0; i < q->n && !st && !q->few; i++)
        if (q->time[i].unlike && !q->time[i].measured)
            take_default(q, i);
    if (!st && q->from_short_loops)
        answer_for_steady_state(q);
    if (!st && q->few)
        st = ft__calibration_set_correct(q->time, &q->n_few, q->f, FT__METRIC_TIME,
                                         q->few, q->few_on, &q->on, NULL, q->form, q->n,
                                         err);
    boards = ft__query_context_between_boards(q);
    for (uint32_t i = 0; i < q->n && !st && boards > 0; i++)
        if (!is_among_few(q, &q->form[i]))
            widen(&q->time[i], boards);
    if (st || is_cpu_from_specification(q))
        return st;
    st = ask_metric(q->power, q, FT__METRIC_POWER, &none);
    if (!st && q->few)
        st = ft__calibration_set_correct(q->power, &n_powered, q->f, FT__METRIC_POWER,
                                         q->few, q->few_on, &q->on, NULL, q->form, q->n,
                                         &none);
    q->powered = !st;
    return st == FT_ENOTFOUND ? FT_OK
           : st               ? ft_fail(err, st, 0, "%s", none.msg)
                              : FT_OK;
}

/* Bytes of every operation, where they were learned. */
static ft_status learn_bytes(ft_estimate *out, const ft__query_context *q,
                             ft__metric metric, ft_error *err)
{
    ft__op_answer *a;
    ft_status st;

    if (!q->f || !ft__family_model_set(q->f, metric, &q->on))
        return FT_OK;
    a = calloc(q->n + 1u, sizeof(*a));
    st = a ? ask_metric(a, q, metric, err)
           : ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    for (uint32_t i = 0; i < q->n && !st; i++)
        out[i] = (ft_estimate){
            a[i].value, a[i].low, a[i].high,
            q->known && !a[i].far ? FT_BASIS_LEARNED : FT_BASIS_SCALED, ""};
    free(a);
    return st;
}

ft_status ft__query_context_learn(ft__query_context *q, ft__network_estimate *bytes,
                                  ft_error *err)
{
    ft_status st = learn_time_and_power(q, err);

    if (!st && bytes)
        st = learn_bytes(bytes->op_memory, q, FT__METRIC_MEMORY, err);
    if (!st && bytes)
        st = learn_bytes(bytes->op_workspace, q, FT__METRIC_WORKSPACE, err);
    return st;
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
    q->dataset = calloc(q->f->n_datasets + 1u, sizeof(*q->dataset));
    if (!q->dataset)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", q->f->n_datasets);
    q->index = ft__family_index(q->f, &q->on);
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
    uint32_t i = ft__family_index(q->f, &q->on);

    return type && strcmp(type, "cpu") == 0 && i < q->f->n_datasets &&
           q->f->dataset[i].roof;
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

/* What another memory clock changes is found by the highest; that of what was measured
 * changes nothing. */
static ft_status check_memory_clock(const ft__query_context *q, ft_error *err)
{
    const double asked_hz = q->a.set.at.memory_hz;
    const ft_device_facts *d = q->a.device;

    if (isnan(asked_hz) || d->memory_clock_hz > 0 ||
        (q->f && (!q->rescaled || asked_hz == q->measured.set.at.memory_hz)))
        return FT_OK;
    return ft_fail(
        err, FT_ENOTFOUND, 0,
        "%s: its file does not say \"memory_clock_mhz\", which another memory "
        "clock needs",
        d->name);
}

/* By specifications, and fused where the run mode says so. */
static ft_status open_device(ft__query_context *q, const ft__device_use *on,
                             ft_error *err)
{
    const ft__physics_params params = ft__physics_default();
    ft_status st = ft__device_query_open(&q->a, on, &params, q->g, err);

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

    return !q->rescaled && !dataset_like(q->few, &q->on) && on->device &&
           q->set.short_loop && !ft__pair(on->setting, "loop", &len);
}

/* The device as it is asked about, and as it was measured where that is another
 * setting. */
static ft_status open_learned(ft__query_context *q, const ft__device_use *on,
                              const char *name, ft_error *err)
{
    const ft__physics_params params = ft__physics_default();
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
        st = ft__device_query_open(&q->measured, &use, &params, q->g, err);
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
    choose_models(q, &asked);
    return open_learned(q, on, name, err);
}

void ft__query_context_close(ft__query_context *q, ft__buf *setting)
{
    free(q->fused);
    free(q->form);
    free(q->share);
    free(q->bare);
    free(q->bare_form);
    free(q->by_default);
    free(q->time);
    free(q->power);
    free(q->dataset);
    ft__buf_free(setting);
}
