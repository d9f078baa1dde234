/* A network on a device: by what a predictor learned, or from the specifications of the
 * device alone. Each operation: its physical estimate, what was learned on top of it,
 * what it needs of host and device; then the schedule of all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "physics/physics.h"
#include "predict/file/predictor.h"
#include "predict/model/calibration_set.h"
#include "predict/query/op_query.h"
#include "predict/query/query_context.h"
#include "predict/schedule/networks_only.h"
#include "predict/schedule/unseen_networks.h"

/* What all operations of a network err by in common, as one sigma of the logarithm: of
 * a device that was measured, and of others; of those also a share of what its
 * operations may err by (docs/networks.md). */
static const double common_known = 0.06, common_unknown = 0.15;
static const double share_unknown = 0.6;
/* The same where many measurements of the device corrected the answers; of so few they
 * count half (bench/corrected). */
static const double common_corrected = 0.12, share_corrected = 0.3, half_known = 10;
static const double z90 = 1.645;
/* From specifications, what devices left out showed of networks (docs/networks.md). */
static const ft__log_residual residual_of_specification = {-0.5, 0.5,   -0.5,
                                                           0.5,  -0.35, 0.35};
/* What no measurement of a machine says anything of takes its roofline and more. */
static const double bound_high = 10;

/* The regressors of times; NULL: from specifications. */
const ft__model_set *ft__query_context_models(const ft__query_context *q)
{
    return q->f ? ft__family_model_set(q->f, FT__METRIC_TIME, &q->on) : NULL;
}

/* ---- which form ---- */

/* A machine without a data sheet has no better estimate of a kind that was never
 * measured than the regressor of all kinds. */
static bool is_learned(const ft__query_context *q, const ft__model_set *l,
                       const ft_op *op)
{
    const bool any = q->plain && ft_kind_class(op->kind) != FT_CLASS_GENERIC;

    for (uint32_t i = 0; i < l->n_regressors; i++)
        if ((l->part[i].scope != FT__SCOPE_ALL || any) &&
            ft__regressor_has(&l->part[i], op))
            return true;
    return ft__family_holds(q->f, &q->on, op);
}

static void terms_of(ft__terms *t, ft__query_context *q, const ft__model_set *l,
                     const ft_op *op)
{
    const ft__sample one = {.op = *op, .dataset = q->index};

    if (q->plain) {
        ft__base_terms(&l->base, t,
                       &(ft__samples){.v = (ft__sample *)&one,
                                      .n = 1,
                                      .dataset = q->dataset,
                                      .n_datasets = q->f->n_datasets + 1},
                       0);
        t->busy_s = t->total_s;
        t->launch_s = 0;
        return;
    }
    q->a.params = l->base.params[ft__group_of(op)];
    ft__device_query_terms(t, &q->a, op);
}

bool ft__query_context_tf32(const ft__query_context *q, const ft_op *op)
{
    ft__hardware_spec chip;

    if (q->plain)
        return false;
    ft__hardware_spec_make(&chip, q->a.device, q->on.setting, q->on.policy, op);
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

/* As it is; a backward operation otherwise as the part of forward and backward measured
 * together. */
static void choose_form(ft__query_context *q, uint32_t i, const ft__model_set *l)
{
    const ft_op *op = &q->g->op[i];
    ft_op *form = &q->form[i];

    *form = *op;
    q->share[i] = NAN;
    if (q->f)
        terms_of(&q->bare[i], q, l, op);
    else
        ft__device_query_terms(&q->bare[i], &q->a, op);
    q->bare_form[i] = q->bare[i];
    if (ft__costs_nothing(op) || !q->f)
        return;
    if (!q->tf32 && ft__query_context_tf32(q, op)) {
        q->a.params = ft__physics_default();
        ft__device_query_terms(&q->bare[i], &q->a, op);
        return;
    }
    if (q->rescaled) {
        q->measured.params = q->a.params;
        ft__device_query_terms(&q->bare_form[i], &q->measured, op);
    }
    if (is_learned(q, l, op) || ft__calibration_set_has(q->few, &q->on, op)) {
        q->share[i] = q->bare[i].busy_s / q->bare_form[i].busy_s;
        return;
    }
    form->phase = FT_PHASE_FORWARD_BACKWARD;
    form->wrt = 0;
    if (op->phase == FT_PHASE_OPTIMIZER || !is_learned(q, l, form)) {
        *form = *op;
        return;
    }
    if (q->plain) {
        terms_of(&q->bare_form[i], q, l, form);
    } else {
        q->measured.params = q->a.params;
        ft__device_query_terms(&q->bare_form[i], q->rescaled ? &q->measured : &q->a,
                               form);
    }
    q->share[i] = q->bare[i].busy_s / q->bare_form[i].busy_s;
}

/* ---- one operation ---- */

double ft__device_share(const ft__terms *t)
{
    return t->total_s > 0 ? t->busy_s / t->total_s : 1;
}

/* What the constants learned for it say of operation i as it is asked for; NULL: that
 * was not found. */
static const ft__terms *queried_terms(const ft__query_context *q, uint32_t i)
{
    return q->rescaled || q->form[i].phase != q->g->op[i].phase ? NULL
                                                                : &q->bare_form[i];
}

/* What the host and the device need for operation i, and what it takes the device. */
static void take_task(ft__op_task *task, ft_estimate *device, ft__query_context *q,
                      uint32_t i, const ft__model_set *l)
{
    const ft_op *op = &q->g->op[i];
    const ft__op_answer *a = &q->time[i];
    double factor = q->share[i] * ft__device_share(&q->bare_form[i]);

    if (l)
        q->a.params = l->base.params[ft__group_of(op)];
    task->power_w = q->powered && !q->rescaled && q->power[i].value > 0
                        ? q->power[i].value
                        : ft__device_query_power(&q->a, op, queried_terms(q, i));
    if (l)
        q->a.params = l->base.params[0];
    ft__device_query_bare(task, device, &q->a, op, &q->bare[i]);
    if (ft__costs_nothing(op) || !l)
        return;
    if (!isfinite(factor) || !(a->value > 0)) {
        task->alone_s = NAN;
        if (q->plain)
            *device = (ft_estimate){device->value, device->value,
                                    bound_high * device->value, FT_BASIS_ROOFLINE, ""};
        return;
    }
    *device = (ft_estimate){a->value * factor, a->low * factor, a->high * factor,
                            a->measured && !q->rescaled && q->form[i].phase == op->phase
                                ? FT_BASIS_MEASURED
                            : q->known && !q->rescaled && !a->far ? FT_BASIS_LEARNED
                                                                  : FT_BASIS_SCALED,
                            ""};
    task->alone_s = device->value;
}

/* The operation alone: as it was measured, where it was in this run mode. */
static ft_estimate time_alone(const ft__query_context *q, uint32_t i,
                              const ft__op_task *task, const ft_estimate *device)
{
    double asked = ft__device_query_device_share(&q->a, task, &q->bare[i]);
    double measured = ft__device_share(&q->bare_form[i]);
    const ft__op_answer *a = &q->time[i];
    ft_estimate out = ft__estimate_times(*device, 1 / asked);
    double factor = q->share[i] * (measured / asked);

    if (isnan(task->alone_s) || !(a->value > 0) || !(device->value > 0))
        return out;
    out.value = a->value * factor;
    out.low = a->low * factor;
    out.high = a->high * factor;
    return out;
}

static void take(ft_network_estimate *out, ft__op_task *task, ft__query_context *q,
                 uint32_t i, const ft__model_set *l)
{
    const ft__op_answer *w = &q->power[i];

    take_task(task, &out->op_device[i], q, i, l);
    out->op_time[i] = time_alone(q, i, task, &out->op_device[i]);
    if (!q->powered || q->rescaled || !(w->value > 0)) {
        ft__estimate_op_power(out, i, task->power_w);
        return;
    }
    out->op_power[i] = (ft_estimate){
        w->value, w->low, w->high,
        q->power_known && !w->far ? FT_BASIS_LEARNED : FT_BASIS_SCALED, ""};
    ft__estimate_op_energy(out, i);
}

/* ---- the network ---- */

ft__schedule ft__query_context_schedule(ft__query_context *q,
                                        const ft__device_query *at, double clock_hz)
{
    ft__schedule s;

    if (q->f)
        q->a.params = ft__query_context_models(q)->base.params[0];
    s = q->device_schedule ? q->device_schedule->schedule
                           : ft__device_query_schedule(&q->a, NAN);
    if (!q->device_schedule || q->rescaled || q->interpolated)
        s.idle_w *= ft__device_query_idle(at, clock_hz);
    return s;
}

/* What networks that the schedule was not fitted to showed takes the place of what is
 * taken to be common; *s: what is left beside. */
static void add_schedule_residual(ft__log_residual *s, const ft__device_schedule *p)
{
    s->energy_low = -hypot(s->time_low, p->energy_low);
    s->energy_high = hypot(s->time_high, p->energy_high);
    s->time_low = -hypot(s->time_low, p->time_low);
    s->time_high = hypot(s->time_high, p->time_high);
}

/* Of a device that was not measured, and that no measurements correct, networks of
 * chips left out say how far off networks are. */
static bool has_unseen(const ft__query_context *q)
{
    return !q->known && q->f->unseen && q->n_few < FT__LEAST_CALIBRATION;
}

/* What all operations of a network err by in common, and the share of their own bounds
 * that they do. */
static void find_common(double *common, double *share, const ft__query_context *q)
{
    *common = q->device_schedule ? 0 : q->known ? common_known : common_unknown;
    *share = q->known ? 0 : share_unknown;
    if (q->n_few >= FT__LEAST_CALIBRATION && !q->known) {
        double open = half_known / (half_known + q->n_few);

        *common += (1 - open) * (common_corrected - *common);
        *share += (1 - open) * (share_corrected - *share);
    }
    *common *= z90;
}

/* Errors of operations are independent in part. */
static ft__log_residual residual_of(const ft_network_estimate *e,
                                    const ft__query_context *q)
{
    double common, share, other;
    ft__op_bounds b;
    ft__log_residual out;

    if (!q->f)
        return residual_of_specification;
    if (!ft__op_bounds_of(&b, e, q->g))
        return (ft__log_residual){0};
    find_common(&common, &share, q);
    out.time_low = -hypot(b.own_low, hypot(common, share * b.low));
    out.time_high = hypot(b.own_high, hypot(common, share * b.high));
    if (has_unseen(q)) {
        const double unlike = ft__unseen_unlike(q->f->unseen, &b);
        const double part = sqrt(1 - unlike) * q->f->unseen->part;

        out.time_low = -hypot(part * b.low, sqrt(unlike) * out.time_low);
        out.time_high = hypot(part * b.high, sqrt(unlike) * out.time_high);
    }
    other = q->rescaled       ? FT__RESCALING_ERROR
            : q->interpolated ? q->interpolation.reach / log(2) * FT__RESCALING_ERROR
                              : 0;
    out.time_low = -hypot(out.time_low, other);
    out.time_high = hypot(out.time_high, other);
    out.power_low = q->power_known && q->powered ? -0.1 : -0.35;
    out.power_high = -out.power_low;
    if (q->device_schedule)
        add_schedule_residual(&out, q->device_schedule);
    if (!q->device_schedule || isnan(q->device_schedule->energy_low)) {
        out.energy_low = -hypot(out.time_low, out.power_low);
        out.energy_high = hypot(out.time_high, out.power_high);
    }
    return out;
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
 * (predict/schedule/device_schedule.h). */
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

static ft_status ask_metric(ft__op_answer *out, const ft__query_context *q,
                            ft__metric metric, ft_error *err)
{
    /* The same constants, chips and operations: the same terms. */
    const bool same =
        metric == FT__METRIC_TIME && !q->plain && !q->rescaled && !q->a.capped;

    if (q->as)
        return ask_sessions(out, q, metric, err);
    return q->interpolated
               ? ft__clock_interpolation_query(out, &q->interpolation, q->f, metric,
                                               &q->on, q->form, q->n, err)
               : ft__family_query(out, q->f, metric, &q->on, q->form,
                                  same ? q->bare_form : NULL, q->n, err);
}

/* GPUs say nothing of what a CPU draws. */
static bool is_cpu_from_specification(const ft__query_context *q)
{
    return q->on.file && strcmp(ft_device_get(q->on.file)->type, "cpu") == 0 &&
           !ft__family_knows(q->f, FT__METRIC_POWER, &q->on);
}

ft_status ft__query_context_learn(ft__query_context *q, ft_error *err)
{
    ft_error none = {0};
    uint32_t n_powered;
    ft_status st;

    if (!q->f)
        return FT_OK;
    st = ask_metric(q->time, q, FT__METRIC_TIME, err);
    if (!st && q->few)
        st = ft__calibration_set_correct(q->time, &q->n_few, q->f, FT__METRIC_TIME,
                                         q->few, &q->on, q->form, q->n, err);
    if (st || is_cpu_from_specification(q))
        return st;
    st = ask_metric(q->power, q, FT__METRIC_POWER, &none);
    if (!st && q->few)
        st = ft__calibration_set_correct(q->power, &n_powered, q->f, FT__METRIC_POWER,
                                         q->few, &q->on, q->form, q->n, &none);
    q->powered = !st;
    return st == FT_ENOTFOUND ? FT_OK
           : st               ? ft_fail(err, st, 0, "%s", none.msg)
                              : FT_OK;
}

/* Bytes of every operation, where they were learned. */
static ft_status take_bytes(ft_estimate *out, const ft__query_context *q,
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

static ft_status assemble(ft_network_estimate *out, ft__query_context *q, ft_error *err)
{
    const ft__model_set *l = ft__query_context_models(q);
    ft__op_task *task = calloc(q->n + 1u, sizeof(*task));
    ft__schedule s;
    ft__log_residual residual;
    ft_status st;

    if (!task)
        return ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    for (uint32_t i = 0; i < q->n; i++) {
        task[i] = (ft__op_task){.count = (double)q->g->op_count[i], .power_w = NAN};
        take(out, &task[i], q, i, l);
    }
    s = ft__query_context_schedule(q, &q->a, q->a.clock_hz);
    residual = residual_of(out, q);
    st = ft__estimate_assemble(out, q->g, task, &s, q->a.cap_w, &residual, err);
    free(task);
    return st;
}

ft_status ft__query_context_make(ft__query_context *q, ft_error *err)
{
    const ft__model_set *l = ft__query_context_models(q);

    q->form = calloc(q->n + 1u, sizeof(*q->form));
    q->share = calloc(q->n + 1u, sizeof(*q->share));
    q->bare = calloc(q->n + 1u, sizeof(*q->bare));
    q->bare_form = calloc(q->n + 1u, sizeof(*q->bare_form));
    q->time = calloc(q->n + 1u, sizeof(*q->time));
    q->power = calloc(q->n + 1u, sizeof(*q->power));
    if (!q->form || !q->share || !q->bare || !q->bare_form || !q->time || !q->power)
        return ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    for (uint32_t i = 0; i < q->n; i++)
        choose_form(q, i, l);
    return FT_OK;
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

/* What is not said is as the few measurements were taken, as far as the family knows
 * the like. */
static void like_known(ft__dataset *asked, const ft__family *f,
                       const ft_calibration_set *known)
{
    const ft__dataset *d = ft__calibration_set_dataset(known, asked);

    if (!d)
        return;
    asked->policy = asked->policy ? asked->policy : d->policy;
    for (uint32_t i = 0; i < f->n_datasets; i++)
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
                              .policy = q->on.policy,
                              .cap_w = INFINITY,
                              .clock_hz = NAN,
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

/* As it is asked for, otherwise as GPUs were measured; CPUs replay no graphs. */
static const char *run_mode_of(const ft__query_context *q, const ft_device_use *on)
{
    const bool gpu = strcmp(ft_device_get(on->device)->type, "gpu") == 0;

    if (on->run_mode)
        return on->run_mode;
    return gpu && ft__is_graph_mode(q->on.setting) ? "graph" : "eager";
}

/* What is not said is as in what was learned from. */
ft_status ft__query_context_open(ft__query_context *q, ft__buf *setting,
                                 const ft_device_use *on, ft_error *err)
{
    static const char as_usual[] = "default";
    const ft__physics_params params = ft__physics_default();
    const char *name = on->device ? ft_device_get(on->device)->name : on->name;
    /* Nothing is written through these. */
    ft__dataset asked = {.device = (char *)name,
                         .setting = (char *)on->setting,
                         .policy = (char *)on->policy,
                         .engine = (char *)on->engine,
                         .engine_version = (char *)on->engine_version,
                         .any_engine = !on->engine,
                         .file = (ft_device *)on->device};
    ft_device_use use;
    ft_status st;

    if (!q->f)
        return ft__device_query_open(&q->a, on, &params, q->g, err);
    st = ft__check_operations(q->g, err);
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
    if (!asked.engine)
        like_known(&asked, q->f, on->known);
    q->few = on->known;
    q->known = ft__family_knows(q->f, FT__METRIC_TIME, &asked);
    q->power_known = ft__family_knows(q->f, FT__METRIC_POWER, &asked);
    q->tf32 = saw_tf32(q->f);
    if (!q->known && !asked.policy)
        asked.policy = (char *)as_usual;
    /* A few measurements are of the clock and cap asked for: so is what they correct.
     */
    q->rescaled = !on->known && !was_driven_so(q->f, &asked, q->known);
    q->interpolated = q->rescaled && q->known &&
                      ft__clock_interpolation_find(&q->interpolation, q->f, &asked);
    q->rescaled = q->rescaled && !q->interpolated;
    if (q->rescaled)
        asked.setting = NULL;
    ft__family_complete(&q->on, setting, q->f, &asked);
    if (setting->bad)
        return ft_fail(err, FT_ENOMEM, 0, "setting");
    if (q->known)
        q->device_schedule = ft__device_schedule_find(q->f, &q->on, q->phase);
    if (q->device_schedule && q->device_schedule->n_sessions && !q->interpolated &&
        !ft__family_session(q->f, &asked))
        q->as = q->device_schedule;
    if (q->rescaled && !on->device)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s has no device file, which other clocks and caps than it was "
                       "measured at need",
                       name);
    if (!q->rescaled && (!on->device || is_probed_cpu(q, on->device)))
        return open_plain(q, err);
    use = (ft_device_use){.device = on->device,
                          .setting = q->on.setting,
                          .policy = q->on.policy,
                          .run_mode = run_mode_of(q, on)};
    if (q->rescaled) {
        st = ft__device_query_open(&q->measured, &use, &params, q->g, err);
        use.setting = on->setting;
    }
    return st ? st : ft__device_query_open(&q->a, &use, &params, q->g, err);
}

/* Which column says how wide an element is; n: none. */
static uint32_t bits_column(const ft__columns *c)
{
    for (uint32_t j = 0; j < c->n; j++) {
        char name[48];

        ft__columns_name(c, name, j);
        if (strcmp(name, "bits") == 0)
            return j;
    }
    return c->n;
}

/* Is there a regressor of its kind, from elements as wide as its own? */
static bool covers(const ft__model_set *l, uint32_t bits, const ft_op *op)
{
    float width = (float)ft_dtype_bits(op->dtype);

    for (uint32_t i = 0; i < l->n_regressors; i++) {
        const ft__regressor *p = &l->part[i];

        if (p->scope != FT__SCOPE_ALL && ft__regressor_has(p, op) &&
            (bits == l->columns.n ||
             (p->least[bits] <= width && width <= p->most[bits])))
            return true;
    }
    return false;
}

double ft_predictor_covers(const ft_predictor *p, const char *device, const ft_graph *g)
{
    const ft_device_use on = {.name = device};
    const ft__model_set *l = ft__family_any(p->family, FT__METRIC_TIME);
    uint32_t n = 0, learned = 0, bits = l ? bits_column(&l->columns) : 0;

    if (ft__graph_is_workload(g))
        return ft__clocked_covers(&p->family->clocked, g);
    if (ft__alone_find(p->family, &on, g))
        return 1;
    for (uint32_t i = 0; l && i < g->n_ops; i++) {
        ft_op op = g->op[i];

        if (ft__costs_nothing(&op))
            continue;
        n++;
        op.phase = FT_PHASE_FORWARD;
        op.wrt = 0;
        learned += covers(l, bits, &op);
    }
    return n ? (double)learned / n : 0;
}

/* Of a device that an engine of ours was measured on as that engine allocates, of
 * others as PyTorch does. */
static ft_status take_memory(ft_network_estimate *out, const ft__query_context *q,
                             const ft_device_facts *d, ft_error *err)
{
    const ft_estimate exact = {0};
    const ft__dataset *own = q->f ? ft__family_engine(q->f, &q->on) : NULL;
    ft_status st;

    if (own)
        return ft__estimate_memory_of_engine(out, own, q->g, err);
    st = ft__estimate_memory_of_device(out, d, q->g, err);
    ft__estimate_memory_sum(out, &exact);
    return st;
}

/* A machine of ours issues its own operations, and draws what was measured. */
static void know_plain(ft_network_estimate *out)
{
    out->host_s = out->busy_s = NAN;
    if (out->energy.basis == FT_BASIS_UNAVAILABLE)
        out->energy.why = out->power.why = "no power was measured for this predictor";
}

/* Without a device the one that was measured. */
static ft_status name_device(ft_device_use *on, const ft__family *f, ft_error *err)
{
    const ft__dataset *d = f ? ft__family_machine(f) : NULL;

    if (on->device || on->name)
        return FT_OK;
    if (!d)
        return ft_fail(err, FT_EINVAL, 0,
                       "the predictor is for a family of devices: say for which one");
    on->name = d->device;
    return FT_OK;
}

void ft__query_context_close(ft__query_context *q, ft__buf *setting)
{
    ft__device_query_close(&q->a);
    ft__device_query_close(&q->measured);
    free(q->form);
    free(q->share);
    free(q->bare);
    free(q->bare_form);
    free(q->time);
    free(q->power);
    free(q->dataset);
    ft__buf_free(setting);
}

/* By its operations. */
static ft_status predict_operations(ft_network_estimate *out, const ft_predictor *p,
                                    const ft_device_use *asked, const ft_graph *g,
                                    ft_error *err)
{
    ft__query_context q = {
        .f = p ? p->family : NULL, .g = g, .n = g->n_ops, .phase = ft__graph_phase(g)};
    ft_device_use on = *asked;
    ft_device_facts none = {.name = ""};
    const ft_device_facts *d = on.device ? ft_device_get(on.device) : &none;
    ft__buf setting = {0};
    ft_status st = ft__estimate_start(out, g, err);

    if (!st)
        st = name_device(&on, q.f, err);
    if (!st)
        st = ft__query_context_open(&q, &setting, &on, err);
    if (!st)
        st = ft__query_context_make(&q, err);
    if (!st)
        st = ft__query_context_learn(&q, err);
    if (!st)
        st = take_bytes(out->op_memory, &q, FT__METRIC_MEMORY, err);
    if (!st)
        st = take_bytes(out->op_workspace, &q, FT__METRIC_WORKSPACE, err);
    if (!st)
        st = assemble(out, &q, err);
    if (!st)
        st = take_memory(out, &q, d, err);
    ft__query_context_close(&q, &setting);
    if (st) {
        ft_network_estimate_free(out);
        return st;
    }
    if (q.plain)
        know_plain(out);
    else
        ft__device_query_why_no_power(out, d);
    out->n_known = q.n_few;
    out->graph =
        q.f ? q.a.graph && !q.plain : on.run_mode && strcmp(on.run_mode, "graph") == 0;
    out->n_networks = q.device_schedule ? (uint32_t)q.device_schedule->n : 0;
    ft__estimate_count(out);
    return FT_OK;
}

/* Of a device of which networks alone were measured: its operations' estimates from
 * specifications, weighed as those networks say. */
static ft_status predict_alone(ft_network_estimate *out, const ft__alone *a,
                               const ft_device_use *asked, const ft_graph *g,
                               ft_error *err)
{
    ft_device_use on = *asked;
    ft_status st;

    on.policy = on.policy ? on.policy : a->policy;
    on.setting = on.setting ? on.setting : a->setting;
    st = predict_operations(out, NULL, &on, g, err);
    if (!st)
        st = ft__alone_apply(out, a, &on, g, err);
    if (st)
        ft_network_estimate_free(out);
    return st;
}

ft_status ft_predict_network(ft_network_estimate *out, const ft_predictor *p,
                             const ft_device_use *on, const ft_graph *g, ft_error *err)
{
    const ft__alone *alone = p && on->device ? ft__alone_find(p->family, on, g) : NULL;

    if (p && ft__graph_is_workload(g))
        return ft__clocked_network(out, &p->family->clocked, on, g, err);
    return alone ? predict_alone(out, alone, on, g, err)
                 : predict_operations(out, p, on, g, err);
}

ft_status ft__network_tasks(ft__tasks *out, const ft_predictor *p,
                            const ft_device_use *on, const ft_graph *g, ft_phase phase,
                            ft_error *err)
{
    ft__query_context q = {
        .f = p ? p->family : NULL, .g = g, .n = g->n_ops, .phase = phase};
    ft__buf setting = {0};
    ft_estimate unused;
    ft_status st = ft__query_context_open(&q, &setting, on, err);

    if (out->as)
        q.as = out->as;
    if (!st)
        st = ft__query_context_make(&q, err);
    if (!st)
        st = ft__query_context_learn(&q, err);
    for (uint32_t i = 0; i < q.n && !st; i++) {
        out->task[i] = (ft__op_task){.power_w = NAN};
        take_task(&out->task[i], &unused, &q, i, ft__query_context_models(&q));
    }
    if (!st) {
        out->schedule = ft__query_context_schedule(&q, &q.a, q.a.clock_hz);
        out->cap_w = q.a.cap_w;
        out->engine = q.on.engine;
    }
    ft__query_context_close(&q, &setting);
    return st;
}
