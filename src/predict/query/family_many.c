/* A network under many settings of a device that a family answers for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/file/predictor.h"
#include "predict/query/asking.h"
#include "predict/query/settings.h"

/* What the family measured of the device that is asked about. */
struct seen {
    bool any;
    uint32_t at_clocks; /* datasets whose setting names a clock */
    ft__drive *drive;   /* of every dataset of the device */
    uint32_t n;
};

static ft_status see(struct seen *out, const ft__family *f, const ft__dataset *asked,
                     ft_error *err)
{
    *out = (struct seen){.any = ft__family_knows(f, FT__METRIC_TIME, asked),
                         .drive = calloc(f->n_datasets + 1u, sizeof(*out->drive))};
    if (!out->drive)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", f->n_datasets);
    for (uint32_t i = 0; i < f->n_datasets; i++) {
        if (strcmp(f->dataset[i].device, asked->device) != 0)
            continue;
        out->drive[out->n] = ft__drive_of(f->dataset[i].setting);
        out->at_clocks += out->drive[out->n++].clock_hz > 0;
    }
    return FT_OK;
}

/* Was it not measured as *drive says, so that its answer is that of another setting,
 * scaled? */
static bool is_elsewhere(const struct seen *s, const ft__drive *drive)
{
    static const ft__drive as_it_comes = {NAN, NAN, NAN};

    if (!s->any)
        return ft__drive_differs(drive, &as_it_comes);
    /* Several clocks may tell of others: ft__sweep_find(). */
    if (s->at_clocks > 1)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!ft__drive_differs(drive, &s->drive[i]))
            return false;
    return true;
}

/* Constants by which operation i is priced; its class's, unless choose_form() took the
 * others. */
static const ft__theta *theta_of(const ft__asking *q, uint32_t i, const ft__learner *l,
                                 const ft__theta *plain)
{
    const ft_op *op = &q->g->op[i];

    return !q->tf32 && ft__asking_tf32(q, op) ? plain
                                              : &l->base.theta[ft__group_of(op)];
}

static ft_status price_elsewhere(ft__many *m, ft__asking *q, ft__ask_range *r,
                                 ft_error *err)
{
    const ft__learner *l = ft__family_learner(q->f, FT__METRIC_TIME, &q->on);
    const ft__theta plain = ft__physics_default();
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < m->n_ops && !st; i++) {
        const ft_op *op = &m->g->op[i];
        const ft__theta *theta = theta_of(q, i, l, &plain);
        const ft__theta *of_class = &l->base.theta[ft__group_of(op)];

        st = ft__ask_range_op(&m->busy_s[i * m->n], &m->power_w[i * m->n], r, theta, op,
                              err);
        /* Power is predicted by the constants of the class in any case. */
        if (!st && theta != of_class)
            st = ft__ask_range_power(&m->power_w[i * m->n], r, of_class, op, err);
    }
    return st;
}

static void brief_elsewhere(ft_brief *out, ft__many *m, ft__asking *q,
                            const ft__asked *at, size_t k)
{
    const ft__schedule s = ft__asking_schedule(q, at, m->drive[k].clock_hz);

    for (uint32_t i = 0; i < m->n_ops; i++) {
        double busy = m->busy_s[i * m->n + k];
        double share = isnan(q->share[i]) ? NAN : busy / q->bare_form[i].busy_s;
        double factor = share * ft__device_share(&q->bare_form[i]);
        ft__task *task = &m->task[i];

        task->power_w = m->power_w[i * m->n + k];
        task->bare_s = task->alone_s = busy;
        if (ft__costs_nothing(&m->g->op[i]))
            continue;
        task->alone_s = isfinite(factor) && q->time[i].value > 0
                            ? q->time[i].value * factor
                            : (double)NAN;
    }
    ft__estimate_brief(out, m->task, m->n_ops, &s,
                       ft__ask_cap(q->a.device, m->drive[k].power_w));
}

static ft_status elsewhere(ft_brief *out, ft__many *m, ft__asking *q, ft__ask_range *r,
                           const unsigned char *which, ft_error *err)
{
    ft_status st = ft__asking_make(q, err);

    if (!st)
        st = ft__asking_learn(q, err);
    if (!st)
        st = price_elsewhere(m, q, r, err);
    if (st)
        return st;
    for (uint32_t i = 0; i < m->n_ops; i++) {
        ft_estimate unused;

        m->task[i] = (ft__task){.count = (double)m->g->op_count[i]};
        ft__ask_bare(&m->task[i], &unused, &q->a, &m->g->op[i], &q->bare[i]);
    }
    for (size_t k = 0; k < m->n; k++) {
        if (!which[k])
            continue;
        m->done[k] = 1;
        if (r->open[k])
            brief_elsewhere(&out[k], m, q, &r->a, k);
    }
    return FT_OK;
}

static ft_status by_elsewhere(ft_brief *out, ft__many *m, const ft_predictor *p,
                              const unsigned char *which, size_t first, ft_error *err)
{
    const ft__theta theta = ft__physics_default();
    ft__asking q = {
        .f = p->family, .g = m->g, .n = m->n_ops, .phase = ft__placed_phase(m->g)};
    ft_device_use on = *m->on;
    ft__buf setting = {0};
    ft__ask_range r = {0};
    ft_status st;

    on.setting = m->setting[first];
    st = ft__asking_open(&q, &setting, &on, err);
    if (!st) {
        on.policy = q.on.policy;
        st = ft__ask_range_open(&r, &on, &theta, m->drive, m->n, m->g, err);
    }
    if (!st)
        st = elsewhere(out, m, &q, &r, which, err);
    ft__ask_range_close(&r);
    ft__ask_close(&q.a);
    ft__ask_close(&q.measured);
    ft__asking_free(&q);
    ft__buf_free(&setting);
    return st;
}

ft_status ft__many_by_family(ft_brief *out, ft__many *m, const ft_predictor *p,
                             ft_error *err)
{
    const ft_device_facts *d = ft_device_get(m->on->device);
    const ft__dataset asked = {.device = (char *)d->name};
    unsigned char *which = calloc(m->n + 1, 1);
    size_t first = m->n;
    struct seen seen;
    ft_status st;

    if (ft__graph_is_whole(m->g)) { /* each alone */
        free(which);
        return FT_OK;
    }
    st = see(&seen, p->family, &asked, err);

    if (!st && !which)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu settings", m->n);
    for (size_t k = 0; k < m->n && !st && !m->on->known; k++) {
        which[k] = is_elsewhere(&seen, &m->drive[k]);
        if (which[k] && first == m->n && ft__ask_may(d, m->drive[k].clock_hz))
            first = k;
    }
    if (!st && first < m->n)
        st = by_elsewhere(out, m, p, which, first, err);
    free(seen.drive);
    free(which);
    return st;
}
