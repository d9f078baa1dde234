/* A network on a device: by what a predictor learned, or from the specifications of the
 * device alone. Each operation: its physical estimate, what was learned on top of it,
 * what it needs of host and device; then the schedule of all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "base/stats.h"
#include "physics/power.h"
#include "predict/file/predictor.h"
#include "predict/model/calibration_set.h"
#include "predict/query/network.h"
#include "predict/query/network_op.h"
#include "predict/query/networks_known.h"
#include "predict/query/op_costs.h"
#include "predict/query/op_query.h"
#include "predict/query/query_context.h"
#include "predict/schedule/networks_only.h"
#include "predict/schedule/schedule.h"

/* What all operations of a network err by in common, as one sigma of the logarithm: of
 * a device that was measured, and of others; of those also a share of what its
 * operations may err by (docs/networks.md). */
static const double common_known = 0.06, common_unknown = 0.15;
static const double share_unknown = 0.6;
/* The same where many measurements of the device corrected the answers; of so few they
 * count half (docs/notes/physics.md). */
static const double common_corrected = 0.12, share_corrected = 0.3, half_known = 10;
/* What hosts of networks differ by beside FT__TIMED_HOST: 90 % of the logarithm
 * (docs/networks.md). One thread of processors that clouds still rent and of the newest
 * differ by 2.5. */
static const double faster_hosts = 0.92, slower_hosts = 0.7;
/* Where readings say what is drawn (docs/power.md). */
static const double power_known = 0.1;

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
    return !q->known && q->f && q->f->unseen && q->n_few < FT__LEAST_CALIBRATION;
}

/* The share of what was not known that n corrections leave. */
static double open_after(uint32_t n)
{
    return n < FT__LEAST_CALIBRATION ? 1 : half_known / (half_known + n);
}

/* What all operations of a network err by in common, and the share of their own bounds
 * that they do. */
static void find_common(double *common, double *share, const ft__query_context *q)
{
    *common = q->device_schedule ? 0 : q->known ? common_known : common_unknown;
    *share = q->known ? 0 : share_unknown;
    if (!q->known) {
        const double open = open_after(q->n_few);

        *common += (1 - open) * (common_corrected - *common);
        *share += (1 - open) * (share_corrected - *share);
    }
    *common = hypot(*common * FT__Z90, ft__query_context_between_boards(q));
}

/* Of host and device apart, where no network says how they err together. */
static void know_host(ft__log_residual *out, const ft__query_context *q)
{
    const bool timed = q->a.launch_s > 0;

    if (q->device_schedule || q->plain)
        return;
    out->host_low = -hypot(FT__TIMED_HOST, timed ? 0 : faster_hosts);
    out->host_high = hypot(FT__TIMED_HOST, timed ? 0 : slower_hosts);
}

/* Errors of operations are independent in part. */
static ft__log_residual residual_of(const ft__network_estimate *e,
                                    const ft__query_context *q)
{
    double common, share, own, other;
    ft__op_bounds b;
    ft__log_residual out = {0};

    know_host(&out, q);
    if (!ft__op_bounds_of(&b, e, q->g))
        return out;
    find_common(&common, &share, q);
    own = sqrt(1 - share * share);
    common *= sqrt(fmax(0, 1 - b.alone)); /* one operation's bounds have it already */
    out.time_low = -hypot(own * b.own_low, hypot(common, share * b.low));
    out.time_high = hypot(own * b.own_high, hypot(common, share * b.high));
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
    /* Of training steps too few were measured. */
    out.energy_most =
        q->phase == FT_PHASE_FORWARD ? FT__POWER_FROM_SPECIFICATION : INFINITY;
    out.power_high = power_known;
    if (!ft__knows_steady_power(q))
        out.power_high +=
            (FT__POWER_FROM_SPECIFICATION - power_known) * open_after(q->n_read);
    out.power_low = -out.power_high;
    if (q->device_schedule)
        add_schedule_residual(&out, q->device_schedule);
    if (!q->device_schedule || isnan(q->device_schedule->energy_low))
        out.energy_low = out.energy_high = NAN;
    return out;
}

/* To out and task what is known of the operations of q->g; to op those that are not,
 * and where they are. Their number. */
static uint32_t recall(ft__network_estimate *out, ft__op_task *task, ft_op *op,
                       uint32_t *place, ft__query_context *q, ft__op_answers *answered)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < q->n; i++) {
        const ft__op_answered *a =
            answered ? ft__op_answers_find(answered, &q->g->op[i], q->phase) : NULL;

        if (!a) {
            op[n] = q->g->op[i];
            place[n++] = i;
            continue;
        }
        task[i] = a->task;
        q->powered = a->powered;
        for (uint32_t k = 0; k < FT__OP_ESTIMATES; k++)
            out->op_time[k * q->n + i] = a->estimate[k];
    }
    return n;
}

/* Those of q->g, which are at these places of the network. */
static ft_status ask_fresh(ft__network_estimate *out, ft__op_task *task,
                           const uint32_t *place, ft__query_context *q,
                           ft__op_answers *answered, ft_error *err)
{
    ft__op_answered one, *a;
    ft__network_estimate e;
    ft_status st = ft__estimate_start(&e, q->g, err);

    if (!st)
        st = ft__query_context_learn(q, &e, err);
    for (uint32_t j = 0; j < q->n && !st; j++) {
        a = answered ? ft__op_answers_add(answered, &q->g->op[j], q->phase) : &one;
        a->task = (ft__op_task){.power_w = NAN};
        ft__network_op(&e, &a->task, q, j);
        task[place[j]] = a->task;
        a->powered = q->powered;
        for (uint32_t k = 0; k < FT__OP_ESTIMATES; k++)
            out->op_time[k * out->n_ops + place[j]] = a->estimate[k] =
                e.op_time[k * q->n + j];
    }
    ft__network_estimate_free(&e);
    return st;
}

/* What a compiler makes of an operation depends on what stands beside it. */
static ft_status ask_ops(ft__network_estimate *out, ft__op_task *task,
                         ft__query_context *q, ft__op_answers *answered, ft_error *err)
{
    const ft_graph *g = q->g;
    ft__op_answers *known = q->fused ? NULL : answered;
    ft_op *op = malloc((q->n + 1u) * sizeof(*op));
    uint32_t *place = malloc((q->n + 1u) * sizeof(*place));
    ft_graph fresh = {.op = op};
    ft_status st = FT_OK;

    if (!op || !place)
        st = ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    else
        fresh.n_ops = recall(out, task, op, place, q, known);
    q->g = &fresh;
    q->n = fresh.n_ops;
    if (!st && (q->n || !known))
        st = ask_fresh(out, task, place, q, known, err);
    q->g = g;
    q->n = g->n_ops;
    free(op);
    free(place);
    return st;
}

/* Operations whose power was read, and what specifications say of it. */
struct readings {
    const ft__sample **of;
    ft__op_answer *answer; /* value NaN: not asked yet */
    uint32_t n;
    const ft__samples *s;
};

static ft_status predict_operations(ft__network_estimate *out, const ft_predictor *p,
                                    const ft__device_use *asked, const ft_graph *g,
                                    ft_error *err);

static const char *setting_of(const struct readings *r, uint32_t i)
{
    return r->s->dataset[r->of[i]->dataset].setting;
}

/* Of row i, but how much of its loop was seen. */
static void steady_setting(ft__buf *out, const struct readings *r, uint32_t i)
{
    const char *setting = setting_of(r, i);

    if (isnan(ft__loop_calls(setting)))
        ft__buf_str(out, setting);
    else
        ft__pairs_without(out, setting, "loop");
}

/* Rows from the i-th on that differ from it in their loops alone, to row[]. */
static ft_status take_alike(uint32_t *row, uint32_t *n, ft__buf *setting,
                            const struct readings *r, uint32_t i, ft_error *err)
{
    ft__buf other = {0};
    bool bad;

    steady_setting(setting, r, i);
    for (*n = 0; i < r->n && !other.bad; i++) {
        ft__buf_free(&other);
        steady_setting(&other, r, i);
        if (isnan(r->answer[i].value) && other.len == setting->len &&
            memcmp(other.s, setting->s, other.len) == 0)
            row[(*n)++] = i;
    }
    bad = other.bad || setting->bad;
    ft__buf_free(&other);
    return bad ? ft_fail(err, FT_ENOMEM, 0, "setting") : FT_OK;
}

/* What row[n] would be answered, had their power not been read. */
static ft_status ask_alike(struct readings *r, const uint32_t *row, uint32_t n,
                           const ft_predictor *p, const ft__device_use *on,
                           const ft__query_context *q, ft_error *err)
{
    const double idle_w = ft__device_query_idle_power(&q->a);
    const ft_op **op = calloc(n + 1u, sizeof(*op));
    ft__network_estimate e;
    ft_graph *g;
    ft_status st = op ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%u operations", n);

    for (uint32_t k = 0; k < n && !st; k++)
        op[k] = &r->of[row[k]]->op;
    if (!st)
        st = ft__op_list(&g, op, n, err);
    free(op);
    if (st)
        return st;
    st = predict_operations(&e, p, on, g, err);
    for (uint32_t k = 0; k < n && !st; k++) {
        const uint32_t i = g->node[k].op;

        r->answer[row[k]].value =
            ft__power_read(e.op_power[i].value, idle_w, q->a.cap_w,
                           ft__loop_calls(setting_of(r, row[k])), e.op_time[i].value)
                .value;
    }
    if (!st)
        ft__network_estimate_free(&e);
    ft_graph_free(g);
    return st;
}

/* Loops differ in what a sensor saw of them, not in what is predicted. */
static ft_status ask_read(struct readings *r, const ft_predictor *p,
                          const ft__device_use *asked, const ft__query_context *q,
                          ft_error *err)
{
    uint32_t *row = calloc(r->n + 1u, sizeof(*row)), n;
    ft_status st = row ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%u operations", r->n);

    for (uint32_t i = 0; i < r->n && !st; i++) {
        ft__device_use on = *asked;
        ft__buf setting = {0};

        if (!isnan(r->answer[i].value))
            continue;
        st = take_alike(row, &n, &setting, r, i, err);
        on.no_power_correction = true;
        on.setting = setting.s;
        on.policy = r->s->dataset[r->of[i]->dataset].policy;
        on.run_mode = NULL;
        if (!st)
            st = ask_alike(r, row, n, p, &on, q, err);
        ft__buf_free(&setting);
    }
    free(row);
    return st;
}

static void take_power(ft__network_estimate *out, ft__op_task *task, uint32_t i,
                       const ft__op_answer *a, const ft__query_context *q)
{
    ft_estimate *power = &out->op_power[i];

    task->power_w = ft__at_most(task->power_w * a->value / power->value, q->a.cap_w);
    *power = (ft_estimate){a->value, a->low, a->high,
                           a->measured ? FT_BASIS_MEASURED : power->basis, ""};
    if (!a->measured)
        ft__keep_under(power, q->a.cap_w);
    ft__estimate_op_energy(out, i);
}

static ft_status correct_power(ft__network_estimate *out, ft__op_task *task,
                               ft__query_context *q, const ft_predictor *p,
                               const ft__device_use *asked, ft_error *err)
{
    ft__op_answer *a;
    struct readings r = {0};
    ft_status st = FT_OK;

    if (!q->few_on || q->powered || asked->no_power_correction)
        return FT_OK;
    a = calloc(q->n + 1u, sizeof(*a));
    r = (struct readings){.of = calloc(q->few->s.n + 1, sizeof(ft__sample *)),
                          .answer = calloc(q->few->s.n + 1, sizeof(*r.answer)),
                          .s = &q->few->s};
    if (!a || !r.of || !r.answer)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu measurements", q->few->s.n);
    else
        r.n = ft__calibration_set_like(r.of, q->few, q->few_on, FT__METRIC_POWER);
    for (uint32_t i = 0; i < r.n; i++)
        r.answer[i].value = NAN;
    if (!st)
        st = ask_read(&r, p, asked, q, err);
    for (uint32_t i = 0; i < q->n && !st; i++)
        a[i] = (ft__op_answer){.value = out->op_power[i].value,
                               .low = out->op_power[i].low,
                               .high = out->op_power[i].high};
    if (!st && r.n)
        st = ft__calibration_set_correct(a, &q->n_read, q->f, FT__METRIC_POWER, q->few,
                                         q->few_on, &q->on, r.answer, q->g->op, q->n,
                                         err);
    for (uint32_t i = 0; i < q->n && !st; i++)
        if (a[i].value > 0)
            take_power(out, &task[i], i, &a[i], q);
    free(a);
    free(r.of);
    free(r.answer);
    return st;
}

/* Weights that the rest of the network has displaced from the cache, where operations
 * repeated alone find theirs. */
static void read_weights_again(ft__network_estimate *out, const ft__op_task *task)
{
    ft__network_load load = ft__schedule_no_load(INFINITY, 0);

    ft__schedule_load(&load, task, out->n_ops);
    for (uint32_t i = 0; i < out->n_ops; i++)
        if (out->op_device[i].value > 0 && ft__schedule_device(&task[i]) > 0)
            out->op_device[i] =
                ft__times(out->op_device[i], ft__schedule_among(&task[i], &load) /
                                                 ft__schedule_device(&task[i]));
}

static ft_status assemble(ft__network_estimate *out, ft__query_context *q,
                          const ft_predictor *p, const ft__device_use *on,
                          ft_error *err)
{
    ft__op_task *task = calloc(q->n + 1u, sizeof(*task));
    ft__schedule s;
    ft__log_residual residual;
    ft_status st;

    if (!task)
        return ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    st = ask_ops(out, task, q, on->answered, err);
    if (!st && isnan(q->a.loop_calls))
        st = correct_power(out, task, q, p, on, err);
    if (!st) {
        for (uint32_t i = 0; i < q->n; i++) {
            task[i].count = (double)q->g->op_count[i];
            out->op_network_w[i] = task[i].power_w;
        }
        read_weights_again(out, task);
        s = ft__query_context_schedule(q, &q->a, q->a.clock_hz);
        residual = residual_of(out, q);
        st = ft__estimate_assemble(out, q->g, task, &s, q->a.cap_w,
                                   q->plain ? 0 : q->a.call, &residual, err);
    }
    /* What was seen of loops says nothing of a network. */
    if (!st && !isnan(q->a.loop_calls))
        st = correct_power(out, task, q, p, on, err);
    free(task);
    return st;
}

/* What an engine of ours was measured to take beside operations on the device; NULL:
 * none was. */
static const ft__dataset *engine_of(const ft__query_context *q)
{
    const ft__family *f = q->f;

    if (q->index < f->n_datasets && isfinite(f->dataset[q->index].context_bytes))
        return &f->dataset[q->index];
    for (uint32_t i = 0; i < f->n_datasets; i++)
        if (q->on.device && strcmp(q->on.device, f->dataset[i].device) == 0 &&
            isfinite(f->dataset[i].context_bytes))
            return &f->dataset[i];
    return NULL;
}

/* A machine of ours draws what was measured. */
static void know_plain(ft__network_estimate *out)
{
    if (out->energy.basis == FT_BASIS_UNAVAILABLE)
        out->energy.why = out->power.why = "no power was measured for this predictor";
}

/* Without a device the one that was measured. */
static ft_status name_device(ft__device_use *on, const ft__family *f, ft_error *err)
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

static bool is_measured_cap(const ft__dataset *d, uint32_t n, const ft__device_use *on)
{
    const double cap = ft__pair_number(on->setting, "power");
    uint32_t i = 0;

    while (i < n && (strcmp(d[i].device, ft_device_get(on->device)->name) != 0 ||
                     ft__pair_number(d[i].setting, "power") != cap))
        i++;
    return i < n;
}

/* A cap that the device does not reach is none, unless measurements have it in their
 * setting. */
static ft_status without_idle_cap(ft__buf *setting, ft__device_use *on,
                                  const ft__family *f, ft_error *err)
{
    const ft__calibration_set *k = on->known;

    if (!on->device ||
        !ft__is_idle_cap(ft_device_get(on->device),
                         ft__pair_number(on->setting, "power")) ||
        (f && is_measured_cap(f->dataset, f->n_datasets, on)) ||
        (k && is_measured_cap(k->s.dataset, k->s.n_datasets, on)))
        return FT_OK;
    ft__pairs_without(setting, on->setting, "power");
    on->setting = setting->s;
    return setting->bad ? ft_fail(err, FT_ENOMEM, 0, "setting") : FT_OK;
}

/* By its operations. */
static ft_status predict_operations(ft__network_estimate *out, const ft_predictor *p,
                                    const ft__device_use *asked, const ft_graph *g,
                                    ft_error *err)
{
    ft__query_context q = {
        .f = p ? p->family : NULL, .g = g, .n = g->n_ops, .phase = ft__graph_phase(g)};
    ft__device_use on = *asked;
    ft_device_facts none = {.name = ""};
    const ft_device_facts *d = on.device ? ft_device_get(on.device) : &none;
    const bool is_cpu = d->type && strcmp(d->type, "cpu") == 0;
    ft__buf setting = {0};
    ft_status st = ft__estimate_start(out, g, err);

    if (!st)
        st = name_device(&on, q.f, err);
    if (!st)
        st = ft__query_context_open(&q, &setting, &on, err);
    if (!q.plain)
        out->run_mode = (q.a.graph && !is_cpu ? FT__RUN_REPLAYED : 0u) |
                        (q.fused ? FT__RUN_FUSED : 0u) |
                        (q.a.copied ? FT__RUN_COPIED : 0u);
    if (!st)
        st = assemble(out, &q, p, &on, err);
    if (!st)
        st = ft__estimate_memory(out, q.f ? engine_of(&q) : NULL, d, g, err);
    ft__query_context_close(&q, &setting);
    if (st) {
        ft__network_estimate_free(out);
        return st;
    }
    if (q.plain || is_cpu) /* it issues its own */
        out->host_s = out->busy_s = NAN;
    if (q.plain)
        know_plain(out);
    else
        ft__estimate_why_no_power(out, d);
    out->n_known = q.n_few;
    if (q.few && !q.powered && q.n_read < FT__LEAST_CALIBRATION)
        out->n_unused_power =
            (uint32_t)ft__calibration_set_count(q.few, d->name, FT__METRIC_POWER);
    out->n_networks = q.device_schedule ? (uint32_t)q.device_schedule->n : 0;
    ft__estimate_count(out);
    return FT_OK;
}

/* Of a device of which networks alone were measured: its operations' estimates from
 * specifications, weighed as those networks say. */
static ft_status predict_alone(ft__network_estimate *out, const ft__alone *a,
                               const ft__device_use *asked, const ft_graph *g,
                               ft_error *err)
{
    ft__device_use on = *asked;
    ft_status st;

    on.policy = on.policy ? on.policy : a->policy;
    on.setting = on.setting ? on.setting : a->setting;
    on.answered = NULL; /* the family's */
    st = predict_operations(out, NULL, &on, g, err);
    if (!st)
        st = ft__alone_apply(out, a, &on, g, err);
    if (st)
        ft__network_estimate_free(out);
    return st;
}

static ft_status predict(ft__network_estimate *out, const ft_predictor *p,
                         const ft__device_use *on, const ft_graph *g, ft_error *err)
{
    const ft__alone *alone = p && on->device ? ft__alone_find(p->family, on, g) : NULL;

    if (p && !alone && !ft__graph_is_workload(g) &&
        !ft__predictor_serves(p, on->device))
        p = NULL;
    if (p && ft__graph_is_workload(g))
        return ft__clocked_network(out, &p->family->clocked, on, g, err);
    return alone ? predict_alone(out, alone, on, g, err)
                 : predict_operations(out, p, on, g, err);
}

ft_status ft__predict_network(ft__network_estimate *out, const ft_predictor *p,
                              const ft__device_use *asked, const ft_graph *g,
                              ft_error *err)
{
    ft__device_use on = *asked;
    ft__buf setting = {0};
    ft__known_networks *known;
    ft_status st = ft__known_networks_make(&known, p, asked, g, err);

    if (!st)
        st = without_idle_cap(&setting, &on, p ? p->family : NULL, err);
    if (!st)
        st = predict(out, p, &on, g, err);
    if (!st)
        ft__known_networks_correct(known, out, asked, g);
    ft__known_networks_free(known);
    ft__buf_free(&setting);
    return st;
}

ft_status ft__network_tasks(ft__tasks *out, const ft_predictor *p,
                            const ft__device_use *on, const ft_graph *g, ft_phase phase,
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
        st = ft__query_context_learn(&q, NULL, err);
    for (uint32_t i = 0; i < q.n && !st; i++) {
        out->task[i] = (ft__op_task){.power_w = NAN};
        ft__network_op_task(&out->task[i], &unused, &q, i);
    }
    if (!st) {
        out->schedule = ft__query_context_schedule(&q, &q.a, q.a.clock_hz);
        out->cap_w = q.a.cap_w;
        out->call = q.plain ? 0 : q.a.call;
        out->engine = q.on.engine;
    }
    ft__query_context_close(&q, &setting);
    return st;
}
