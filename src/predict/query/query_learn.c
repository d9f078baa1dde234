/* What is learned of the operations of a network: the form of each in which something
 * was, and what regressors, sessions, clocks on either side and few measurements say of
 * that form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"
#include "physics/op_kernels.h"
#include "predict/model/calibration_set.h"
#include "predict/model/regressor.h"
#include "predict/query/query_context.h"

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

static void plain_terms(ft__terms *t, const ft__query_context *q, const ft_op *op)
{
    const ft__sample one = {.op = *op, .dataset = q->index};

    ft__base_terms(&q->models->base, t,
                   &(ft__samples){.v = (ft__sample *)&one,
                                  .n = 1,
                                  .dataset = q->dataset,
                                  .n_datasets = q->f->n_datasets + 1},
                   0);
    t->busy_s = t->total_s;
    t->launch_s = 0;
}

/* Is it a product that the device would compute in TF32? */
static bool is_tf32(const ft__query_context *q, const ft_op *op)
{
    ft__hardware_spec chip;

    if (q->plain || op->dtype != FT_DTYPE_fp32 || !ft__makes_products(op))
        return false;
    ft__hardware_spec_set(&chip, q->a.device, &q->set, q->a.policy, op);
    return chip.tensor;
}

/* Is its time among the few measurements of the device as it is asked about? */
static bool is_among_few(const ft__query_context *q, const ft_op *op)
{
    const uint64_t hash = q->few_on ? ft__op_hash(op) : 0;

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
    uint32_t i;

    if (q->known || q->plain || q->corrects)
        return true;
    i = ft__model_set_regressor(l, op);
    return op->kind != FT_KIND_collective && i < l->n_regressors &&
           l->part[i].scope <= FT__SCOPE_KIND;
}

/* By its data sheet: nothing that was learned says anything of operation i, but how its
 * power is estimated there. */
static void take_default(ft__query_context *q, uint32_t i)
{
    if (!q->by_default[i])
        q->bare_form[i] = q->bare[i];
    q->by_default[i] = true;
    q->share[i] = NAN;
    q->a.params = ft__physics_defaults();
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

/* As it is; a backward operation otherwise as its part of both passes together. */
static void choose_form(ft__query_context *q, uint32_t i)
{
    ft__device_query *measured = ft__query_context_measured(q);
    ft_op *form = &q->form[i], both;

    *form = known_op(q, &q->g->op[i]);
    q->share[i] = NAN;
    q->params[i] = ft__physics_defaults();
    if (ft__costs_nothing(form))
        return;
    if (q->f)
        q->params[i] = ft__model_set_params(q->models, form);
    if (q->plain) {
        plain_terms(&q->bare[i], q, form);
    } else {
        q->a.params = q->params[i];
        ft__device_query_terms(&q->bare[i], &q->a, form);
    }
    q->bare_form[i] = q->bare[i];
    if (!q->f)
        return;
    if ((!q->tf32 && is_tf32(q, form)) ||
        (!is_own_kind(q, form) && !is_among_few(q, form))) {
        take_default(q, i);
        return;
    }
    /* Short loops differ in the limit of tensor cores alone. */
    if (q->rescaled || (q->from_short_loops && ft__makes_products(form))) {
        measured->params = q->a.params;
        ft__device_query_terms(&q->bare_form[i], measured, form);
    }
    if (is_learned(q, form) || is_among_few(q, form)) {
        q->share[i] = q->bare[i].busy_s / q->bare_form[i].busy_s;
        return;
    }
    both = *form;
    both.phase = FT_PHASE_FORWARD_BACKWARD;
    both.wrt = 0;
    if (form->phase == FT_PHASE_OPTIMIZER || !is_learned(q, &both))
        return;
    *form = both;
    if (q->plain) {
        plain_terms(&q->bare_form[i], q, form);
    } else {
        measured->params = q->a.params;
        ft__device_query_terms(&q->bare_form[i], measured, form);
    }
    q->share[i] = q->bare[i].busy_s / q->bare_form[i].busy_s;
}

/* The forms of all operations, and what is known of them without asking. */
static ft_status choose_forms(ft__query_context *q, ft_error *err)
{
    const size_t n = q->n + 1u;

    q->form = malloc(n * sizeof(*q->form));
    q->share = ft__arena_need(&q->room, n, sizeof(*q->share));
    q->bare = ft__arena_need(&q->room, n, sizeof(*q->bare));
    q->bare_form = ft__arena_need(&q->room, n, sizeof(*q->bare_form));
    q->by_default = ft__arena_need(&q->room, n, sizeof(*q->by_default));
    q->params = ft__arena_need(&q->room, n, sizeof(*q->params));
    q->time = ft__arena_need(&q->room, n, sizeof(*q->time));
    q->power = ft__arena_need(&q->room, n, sizeof(*q->power));
    if (!q->form || q->room.bad)
        return ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
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
                              ft__metric metric, const ft_op *form, uint32_t n,
                              ft_error *err)
{
    ft__op_answer *a = calloc(n + 1u, sizeof(*a));
    double *weight = calloc(n + 1u, sizeof(*weight));
    ft_status st = a && weight ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%u operations", n);

    for (uint64_t c = 0; c < q->as->n_sessions && !st; c++) {
        const ft__device_session *s = &q->as->session[c];
        ft__dataset on = q->on;

        on.setting = (char *)s->setting;
        st = ft__family_query(a, q->f, metric, &on, form, NULL, n, err);
        if (!st)
            add_session(out, weight, a, s->weight, n);
    }
    for (uint32_t i = 0; i < n && !st; i++) {
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

/* Of an operation of no form that was learned no time is used, unless a few
 * measurements correct it. */
static bool is_wanted(const ft__query_context *q, ft__metric metric, uint32_t i)
{
    return metric != FT__METRIC_TIME || q->few || !isnan(q->share[i]);
}

static ft_status ask_metric(ft__op_answer *out, const ft__query_context *q,
                            ft__metric metric, ft_error *err)
{
    const ft__terms *known;
    ft__terms *room;
    ft_op *form;
    uint32_t n = 0;
    ft_status st = FT_OK;

    room = calloc(q->n + 1u, sizeof(*room));
    form = malloc((q->n + 1u) * sizeof(*form));
    if (!room || !form)
        st = ft_fail(err, FT_ENOMEM, 0, "%u operations", q->n);
    known = st ? NULL : known_terms(room, q, metric);
    for (uint32_t i = 0; i < q->n && !st; i++)
        if (is_wanted(q, metric, i)) {
            form[n] = q->form[i];
            if (known)
                room[n] = known[i];
            n++;
        }
    if (!st && q->as)
        st = ask_sessions(out, q, metric, form, n, err);
    else if (!st && q->interpolated)
        st = ft__clock_interpolation_query(out, &q->interpolation, q->f, metric, &q->on,
                                           form, n, err);
    else if (!st)
        st = ft__family_ask(out, q->f, metric, &q->on, form, known ? room : NULL, n,
                            err);
    for (uint32_t i = q->n; i-- > 0 && !st;)
        out[i] = is_wanted(q, metric, i) ? out[--n] : (ft__op_answer){0};
    free(room);
    free(form);
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

/* How many of the few measurements there are of time, and how many of them wait for the
 * host, which they then tell of. */
static void count_few(ft__query_context *q)
{
    const ft__sample *of[FT__MOST_CALIBRATION];
    const uint32_t n =
        q->few_on ? ft__calibration_set_like(of, q->few, q->few_on, FT__METRIC_TIME)
                  : 0;
    ft__device_query as = q->a;

    q->corrects = n >= FT__LEAST_CALIBRATION;
    as.graph = q->set.graph;
    for (uint32_t i = 0; i < n && !q->plain; i++) {
        ft__terms t;

        as.params = ft__model_set_params(q->models, &of[i]->op);
        ft__device_query_terms(&t, &as, &of[i]->op);
        q->n_waiting += t.launch_s > t.busy_s;
    }
}

/* Is one of the few of its kind and type? */
static bool is_like_few(const ft__query_context *q, const ft_op *op)
{
    for (size_t i = 0; i < q->few->s.n; i++) {
        const ft__sample *v = &q->few->s.v[i];

        if (&q->few->s.dataset[v->dataset] == q->few_on && v->op.kind == op->kind &&
            v->op.dtype == op->dtype)
            return true;
    }
    return false;
}

/* A kernel that no row has: by its data sheet, and after a correction by other kernels
 * no surer than that. */
static void bound_unlike(ft__query_context *q, uint32_t i)
{
    ft__op_answer *a = &q->time[i];
    const ft_op *op = &q->g->op[i];
    ft__op_task task;
    ft_estimate e;
    ft__terms t;

    if (!a->unlike || a->measured)
        return;
    if (!q->corrects) {
        take_default(q, i);
    } else if (!is_like_few(q, &q->form[i])) {
        q->a.params = ft__physics_defaults();
        ft__device_query_terms(&t, &q->a, op);
        ft__device_query_bare(&task, &e, &q->a, op, &t);
        a->low = fmin(a->low, a->value * e.low / e.value);
        a->high = fmax(a->high, a->value * e.high / e.value);
    }
}

static ft_status learn_time_and_power(ft__query_context *q, ft_error *err)
{
    ft_error none = {0};
    uint32_t n_powered;
    double boards;
    ft_status st;

    if (q->f)
        count_few(q);
    st = choose_forms(q, err);
    if (st || !q->f)
        return st;
    st = ask_metric(q->time, q, FT__METRIC_TIME, err);
    if (!st && q->from_short_loops)
        answer_for_steady_state(q);
    if (!st && q->few)
        st = ft__calibration_set_correct(q->time, &q->n_few, q->f, FT__METRIC_TIME,
                                         q->few, q->few_on, &q->on, NULL, q->form, q->n,
                                         err);
    for (uint32_t i = 0; i < q->n && !st; i++)
        bound_unlike(q, i);
    boards = ft__query_context_between_boards(q);
    for (uint32_t i = 0; i < q->n && !st && boards > 0; i++)
        if (q->time[i].value > 0 && !is_among_few(q, &q->form[i]))
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
