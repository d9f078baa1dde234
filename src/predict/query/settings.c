/* A network under many settings of one device: everything that no clock and no cap
 * changes is found once. */
#include "predict/query/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"

/* Settings that are worked on at a time, so that what is kept of them stays near. */
enum { AT_ONCE = 512 };

static const ft_brief unknown = {NAN, NAN, NAN, NAN, FT_OK, ""};

/* ---- by specifications ---- */

static void tasks_of(ft__many *m, const ft__asked *a)
{
    for (uint32_t i = 0; i < m->n_ops; i++) {
        const ft_op *op = &m->g->op[i];
        const ft__terms none = {0};
        ft_estimate unused;

        m->task[i] = (ft__task){.count = (double)m->g->op_count[i], .power_w = NAN};
        ft__ask_bare(&m->task[i], &unused, a, op, &none);
    }
}

static ft_status by_physics(ft_brief *out, ft__many *m, ft_error *err)
{
    const ft__theta theta = ft__physics_default();
    ft__ask_range r;
    ft__schedule s;
    ft_status st = ft__ask_range_open(&r, m->on, &theta, m->drive, m->n, m->g, err);

    if (!st)
        tasks_of(m, &r.a);
    for (uint32_t i = 0; i < m->n_ops && !st; i++)
        st = ft__ask_range_op(&m->busy_s[i * m->n], &m->power_w[i * m->n], &r, &theta,
                              &m->g->op[i], err);
    for (size_t k = 0; k < m->n && !st; k++) {
        m->done[k] = 1;
        if (!r.open[k])
            continue;
        for (uint32_t i = 0; i < m->n_ops; i++) {
            m->task[i].alone_s = m->task[i].bare_s = m->busy_s[i * m->n + k];
            m->task[i].power_w = m->power_w[i * m->n + k];
        }
        s = ft__ask_schedule(&r.a, m->drive[k].clock_hz);
        ft__estimate_brief(&out[k], m->task, m->n_ops, &s,
                           ft__ask_cap(r.a.device, m->drive[k].power_w));
    }
    ft__ask_range_close(&r);
    return st;
}

/* ---- one after the other ---- */

static ft_status by_one(ft_brief *out, const ft__many *m, const ft_predictor *p,
                        size_t k, ft_error *err)
{
    ft_device_use on = *m->on;
    ft_network_estimate e;
    ft_error why = {0};
    ft_status st;

    on.setting = m->setting[k];
    st = ft_predict_network(&e, p, &on, m->g, &why);
    if (st && st != FT_ENOTFOUND)
        return ft_fail(err, st, why.pos, "%s", why.msg);
    if (st)
        return FT_OK;
    *out = (ft_brief){e.time.value,   e.energy.value, e.power.value,
                      e.memory.value, FT_OK,          ""};
    ft_network_estimate_free(&e);
    return FT_OK;
}

/* ---- all of it ---- */

/* No setting changes it: what one device's predictor says of it comes with the rest. */
static ft_status memory(double *out, const ft_device_use *on, const ft_graph *g,
                        ft_error *err)
{
    const ft_estimate exact = {0};
    ft_network_estimate e;
    ft_status st = ft__estimate_start(&e, g, err);

    if (!st)
        st = ft__estimate_memory_of_device(&e, ft_device_get(on->device), g, err);
    if (!st)
        ft__estimate_memory_sum(&e, &exact);
    *out = e.memory.value;
    ft_network_estimate_free(&e);
    return st;
}

static ft_status make(ft__many *m, ft_error *err)
{
    const size_t cells = m->n_ops * m->n + 1;

    m->busy_s = malloc(cells * sizeof(*m->busy_s));
    m->power_w = malloc(cells * sizeof(*m->power_w));
    m->task = calloc(m->n_ops + 1u, sizeof(*m->task));
    m->done = calloc(m->n + 1, 1);
    return m->busy_s && m->power_w && m->task && m->done
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu settings", m->n);
}

static void many_free(ft__many *m)
{
    free(m->busy_s);
    free(m->power_w);
    free(m->task);
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

static ft_status answer(ft_brief *out, ft__many *m, const ft_predictor *p,
                        ft_error *err)
{
    bool drives = m->on->device && !(p && ft__family_machine(p->family));
    double bytes = NAN;
    ft_status st = make(m, err);

    for (size_t k = 0; k < m->n; k++) {
        out[k] = unknown;
        drives = drives && is_drive(m->setting[k]);
    }
    if (!st && drives)
        st = p ? ft__many_by_family(out, m, p, err) : by_physics(out, m, err);
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

ft_status ft_predict_network_many(ft_brief *out, const ft_predictor *p,
                                  const ft_device_use *on, const char *const *setting,
                                  size_t n, const ft_graph *g, ft_error *err)
{
    ft__drive drive[AT_ONCE];
    ft_status st = FT_OK;

    for (size_t i = 0; i < n && !st; i += AT_ONCE) {
        ft__many m = {.on = on,
                      .setting = setting + i,
                      .drive = drive,
                      .n = n - i < AT_ONCE ? n - i : AT_ONCE,
                      .g = g,
                      .n_ops = g->n_ops};

        for (size_t k = 0; k < m.n; k++)
            drive[k] = ft__drive_of(m.setting[k]);
        st = answer(out + i, &m, p, err);
    }
    return st;
}
