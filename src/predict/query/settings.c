/* A network under many settings of one device: everything that no clock and no cap
 * changes is found once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "predict/file/predictor.h"
#include "predict/model/regressor.h"
#include "predict/query/networks_known.h"
#include "predict/query/query_context.h"

/* Settings that are worked on at a time, so that what is kept of them stays near. */
enum { AT_ONCE = 512 };

static const ft_brief unknown = {NAN, NAN, NAN, NAN, FT_OK, ""};

/* A network under many settings of one device. */
struct settings_batch {
    const ft__device_use *on;
    const char *const *setting;
    const ft__operating_point *operating_point;
    size_t n;
    const ft_graph *g;
    const ft__known_networks *known; /* NULL: none */
    uint32_t n_ops;
    double *busy_s;      /* of operation i under setting k: [i * n + k] */
    double *weights_s;   /* likewise: to read its weights from memory */
    double *power_w;     /* likewise */
    ft__op_task *task;   /* of every operation, what no setting changes */
    double *scale;       /* of its power */
    unsigned char *done; /* by setting */
};

/* What the family measured of the device that is asked about. */
struct measured_at {
    bool any;
    uint32_t at_clocks;                   /* datasets whose setting names a clock */
    ft__operating_point *operating_point; /* of every dataset of the device */
    uint32_t n;
};

static ft_status see(struct measured_at *out, const ft__family *f,
                     const ft__dataset *asked, ft_error *err)
{
    *out = (struct measured_at){
        .any = ft__family_knows(f, FT__METRIC_TIME, asked),
        .operating_point = calloc(f->n_datasets + 1u, sizeof(*out->operating_point))};
    if (!out->operating_point)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", f->n_datasets);
    for (uint32_t i = 0; i < f->n_datasets; i++) {
        if (strcmp(f->dataset[i].device, asked->device) != 0)
            continue;
        out->operating_point[out->n] = ft__operating_point_of(f->dataset[i].setting);
        out->at_clocks += out->operating_point[out->n++].clock_hz > 0;
    }
    return FT_OK;
}

/* Was it not measured as *operating_point says, so that its answer is that of another
 * setting, scaled? */
static bool is_rescaled(const struct measured_at *s,
                        const ft__operating_point *operating_point)
{
    static const ft__operating_point as_it_comes = {NAN, NAN, NAN};

    if (!s->any)
        return ft__operating_point_differs(operating_point, &as_it_comes);
    /* Several clocks may tell of others: ft__clock_interpolation_find(). */
    if (s->at_clocks > 1)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!ft__operating_point_differs(operating_point, &s->operating_point[i]))
            return false;
    return true;
}

/* Likewise where a cap that the device does not reach is none. */
static bool is_rescaled_on(const ft_device_facts *d, const struct measured_at *s,
                           ft__operating_point at)
{
    if (!is_rescaled(s, &at))
        return false;
    if (ft__is_idle_cap(d, at.power_w))
        at.power_w = NAN;
    return is_rescaled(s, &at);
}

/* By which constants each operation is priced: those of its class, but times by *plain
 * where choose_form() took the default ones. */
static ft_status price_all(struct settings_batch *m, const ft__query_context *q,
                           ft__device_query_range *r, const ft__device_use *on,
                           ft_error *err)
{
    const ft__physics_params *plain = ft__physics_defaults();
    ft__priced_by *by = calloc(m->n_ops + 1u, sizeof(*by));
    ft_status st;

    if (!by)
        return ft_fail(err, FT_ENOMEM, 0, "%zu settings", m->n);
    for (uint32_t i = 0; i < m->n_ops; i++) {
        by[i].power = q->models ? q->params[i] : plain;
        by[i].time = q->by_default[i] ? plain : by[i].power;
    }
    st = ft__device_query_range_ask(r, m->busy_s, m->weights_s, m->power_w, on, by,
                                    m->operating_point, m->n, q->g, err);
    free(by);
    return st;
}

static void brief_rescaled(ft_brief *out, struct settings_batch *m,
                           ft__query_context *q, const ft__device_query_range *r,
                           size_t k)
{
    const ft__schedule s =
        ft__query_context_schedule(q, &r->a, m->operating_point[k].clock_hz);
    ft__network_load load = ft__schedule_no_load(r->cap_w[k], q->a.call);

    for (uint32_t i = 0; i < m->n_ops; i++) {
        double busy = m->busy_s[i * m->n + k];
        double share = isnan(q->share[i]) ? NAN : busy / q->bare_form[i].busy_s;
        double factor = share * ft__query_context_device_share(q, i);
        ft__op_task *task = &m->task[i];

        task->power_w =
            ft__at_most(m->power_w[i * m->n + k] * m->scale[i], r->cap_w[k]);
        task->bare_s = task->alone_s = busy;
        task->weights_s = m->weights_s[i * m->n + k];
        if (ft__costs_nothing(&m->g->op[i]) || !q->f)
            continue;
        task->alone_s = isfinite(factor) && q->time[i].value > 0
                            ? q->time[i].value * factor
                            : (double)NAN;
    }
    ft__schedule_load(&load, m->task, m->n_ops);
    ft__estimate_brief(out, &load, &s);
}

static ft_status rescaled(ft_brief *out, struct settings_batch *m, ft__query_context *q,
                          ft__device_query_range *r, const ft__device_use *on,
                          const unsigned char *which, ft_error *err)
{
    ft_status st = ft__query_context_learn(q, NULL, err);

    if (!st)
        st = price_all(m, q, r, on, err);
    if (st)
        return st;
    for (uint32_t i = 0; i < m->n_ops; i++) {
        ft_estimate unused;

        m->scale[i] = ft__query_context_power_scale(q, i);
        m->task[i] = (ft__op_task){.count = (double)m->g->op_count[i]};
        ft__device_query_bare(&m->task[i], &unused, &q->a, &q->g->op[i], &q->bare[i]);
    }
    for (size_t k = 0; k < m->n; k++) {
        if (!which[k])
            continue;
        m->done[k] = 1;
        if (!isnan(r->cap_w[k]))
            brief_rescaled(&out[k], m, q, r, k);
    }
    return FT_OK;
}

static ft_status by_rescaling(ft_brief *out, struct settings_batch *m,
                              const ft_predictor *p, const unsigned char *which,
                              size_t first, ft_error *err)
{
    ft__query_context q = {.f = p ? p->family : NULL,
                           .g = m->g,
                           .n = m->n_ops,
                           .phase = ft__graph_phase(m->g)};
    ft__device_use on = *m->on;
    ft__buf setting = {0};
    ft__device_query_range r = {0};
    ft_status st;

    on.setting = p ? m->setting[first] : "";
    st = ft__query_context_open(&q, &setting, &on, err);
    on.policy = p && !st ? q.a.policy : on.policy;
    if (!st)
        st = rescaled(out, m, &q, &r, &on, which, err);
    free(r.cap_w);
    ft__query_context_close(&q, &setting);
    return st;
}

/* From specifications all of them; by a family those at which the device was not
 * measured. Memory clocks of a device whose highest is not known are asked one by one.
 */
static ft_status at_once(ft_brief *out, struct settings_batch *m, const ft_predictor *p,
                         ft_error *err)
{
    const ft_device_facts *d = ft_device_get(m->on->device);
    const ft__dataset asked = {.device = (char *)d->name};
    unsigned char *which = calloc(m->n + 1, 1);
    size_t first = p ? m->n : 0;
    struct measured_at seen = {0};
    ft_status st = which ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu settings", m->n);

    if (!st && p)
        st = see(&seen, p->family, &asked, err);
    for (size_t k = 0; k < m->n && !st && !(p && m->on->known); k++) {
        which[k] = ft__knows_memory_clock(d, m->operating_point[k].memory_hz) &&
                   (!p || is_rescaled_on(d, &seen, m->operating_point[k]));
        if (which[k] && first == m->n &&
            ft__device_query_may(d, &m->operating_point[k]))
            first = k;
    }
    if (!st && first < m->n)
        st = by_rescaling(out, m, p, which, first, err);
    free(seen.operating_point);
    free(which);
    return st;
}

static ft_status by_one(ft_brief *out, const struct settings_batch *m,
                        const ft_predictor *p, size_t k, ft_error *err)
{
    ft__device_use on = *m->on;
    ft__network_estimate e;
    ft_error why = {0};
    ft_status st;

    on.setting = m->setting[k];
    on.networks = NULL;
    st = ft__predict_network(&e, p, &on, m->g, &why);
    if (st && st != FT_ENOTFOUND)
        return ft_fail(err, st, why.pos, "%s", why.msg);
    if (st)
        return FT_OK;
    ft__known_networks_correct(m->known, &e, &on, m->g);
    *out = (ft_brief){e.time.value,   e.energy.value, e.power.value,
                      e.memory.value, FT_OK,          ""};
    ft__network_estimate_free(&e);
    return FT_OK;
}

/* No setting changes it: what one device's predictor says of it comes with the rest. */
static ft_status memory(double *out, const ft__device_use *on, const ft_graph *g,
                        ft_error *err)
{
    ft__network_estimate e;
    ft_status st = ft__estimate_start(&e, g, err);

    if (!st)
        st = ft__estimate_memory(&e, NULL, ft_device_get(on->device), g, err);
    *out = e.memory.value;
    ft__network_estimate_free(&e);
    return st;
}

static ft_status make(struct settings_batch *m, ft_error *err)
{
    const size_t cells = m->n_ops * m->n + 1;

    m->busy_s = malloc(cells * sizeof(*m->busy_s));
    m->weights_s = malloc(cells * sizeof(*m->weights_s));
    m->power_w = malloc(cells * sizeof(*m->power_w));
    m->task = calloc(m->n_ops + 1u, sizeof(*m->task));
    m->scale = malloc((m->n_ops + 1u) * sizeof(*m->scale));
    m->done = calloc(m->n + 1, 1);
    return m->busy_s && m->weights_s && m->power_w && m->task && m->scale && m->done
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu settings", m->n);
}

static void many_free(struct settings_batch *m)
{
    free(m->busy_s);
    free(m->weights_s);
    free(m->power_w);
    free(m->task);
    free(m->scale);
    free(m->done);
}

/* Does it say anything but clocks and cap? */
static bool is_drive(const char *setting)
{
    size_t n = 0, len;

    for (const char *s = setting; *s; s += strcspn(s, " "), s += strspn(s, " "))
        n++;
    return n == (size_t)(ft__pair(setting, "clock", &len) != NULL) +
                    (ft__pair(setting, "memory", &len) != NULL) +
                    (ft__pair(setting, "power", &len) != NULL);
}

static ft_status answer(ft_brief *out, struct settings_batch *m, const ft_predictor *p,
                        ft_error *err)
{
    bool drives = m->on->device && !(p && ft__family_machine(p->family));
    double bytes = NAN;
    ft_status st = make(m, err);

    for (size_t k = 0; k < m->n; k++) {
        out[k] = unknown;
        drives = drives && is_drive(m->setting[k]);
    }
    if (!st && drives && !m->known && !(p && ft__graph_is_workload(m->g)))
        st = at_once(out, m, p, err);
    if (st == FT_ENOTFOUND) /* of one setting perhaps, not of the others */
        st = FT_OK;
    if (!st && drives)
        st = memory(&bytes, m->on, m->g, err);
    for (size_t k = 0; k < m->n && !st; k++)
        if (!m->done[k])
            st = by_one(&out[k], m, p, k, err);
        else if (!isnan(out[k].time_s))
            out[k].memory_bytes = bytes;
    many_free(m);
    return st;
}

ft_status ft__predict_network_many(ft_brief *out, const ft_predictor *p,
                                   const ft__device_use *on, const char *const *setting,
                                   size_t n, const ft_graph *g, ft_error *err)
{
    ft__operating_point operating_point[AT_ONCE];
    ft__known_networks *known;
    ft_status st = ft__known_networks_make(&known, p, on, g, err);

    for (size_t i = 0; i < n && !st; i += AT_ONCE) {
        struct settings_batch m = {.on = on,
                                   .setting = setting + i,
                                   .operating_point = operating_point,
                                   .n = n - i < AT_ONCE ? n - i : AT_ONCE,
                                   .g = g,
                                   .known = known,
                                   .n_ops = g->n_ops};

        for (size_t k = 0; k < m.n; k++)
            operating_point[k] = ft__operating_point_of(m.setting[k]);
        st = answer(out + i, &m, p, err);
    }
    ft__known_networks_free(known);
    return st;
}
