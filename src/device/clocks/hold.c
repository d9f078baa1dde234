/* Settings that are held for a while or kept until they are reset. */
#define _GNU_SOURCE /* CPU sets */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device/clocks/guard.h"
#include "device/clocks/plan.h"
#include "device/clocks/record.h"

struct ft_held_settings {
    ft__settings_plan plan;
    ft__machine machine;
    ft__guard guard;
    int lock; /* -1: none */
    const char *state_dir;
    bool clean; /* nothing needs putting back */
    bool pinned;
    cpu_set_t before; /* of the thread, when pinned */
    ft__arena arena;  /* texts that the caller may free */
};

static const ft_settings_options no_options = {0};

/* ---- what a run that was cut off left ---- */

/* Do what a record says and remove it. Adds to *n how much that was. */
static ft_status undo_record(size_t *n, const char *name, ft__machine *m,
                             const ft_settings_options *opt, ft_error *err)
{
    ft__acts left = {0};
    ft_status st = ft__record_read(&left, opt->state_dir, name, m->root, err);

    if (!st)
        st = ft__acts_undo_all(m, &left, err);
    if (!st)
        ft__record_remove(opt->state_dir, name);
    *n += left.n;
    ft__acts_free(&left);
    return st;
}

static ft_status repair(ft__machine *m, const ft_settings_options *opt, ft_error *err)
{
    ft_error why = {0};
    size_t n = 0;
    ft_status st = undo_record(&n, FT__RECORD_HELD, m, opt, &why);

    if (st)
        return ft_fail(err, st, 0,
                       "what a run that was cut off had set cannot be put back: %.800s",
                       why.msg);
    if (n)
        ft__log(opt->log, FT_LOG_WARN,
                "put back what a run that was cut off had set (%zu values)", n);
    return FT_OK;
}

/* ---- setting ---- */

/* After a failure: put back what was written, and what may half have been. */
static ft_status undo(const ft__settings_plan *p, size_t done, size_t done_instead,
                      ft__machine *m)
{
    ft_status first = FT_OK;

    for (size_t i = 0; i < p->restore.n; i++) {
        const ft__act *a = &p->restore.act[i];
        ft_status st = FT_OK;

        if (a->verb == FT__ACT_PUT || ft__acts_touch(&p->apply, done, a) ||
            ft__acts_touch(&p->instead, done_instead, a))
            st = ft__act_undo(m, a, NULL);
        if (!first)
            first = st;
    }
    return first;
}

/* *clean: nothing is changed after a failure. */
static ft_status apply(bool *clean, const ft__settings_plan *p, ft__machine *m,
                       ft_error *err)
{
    size_t done, done_instead = 0;
    ft_status st = ft__acts_do(&done, m, &p->apply, err);

    if (st == FT_EUNSUPPORTED && p->instead.n &&
        p->apply.act[done].verb != FT__ACT_POWER)
        st = ft__acts_do(&done_instead, m, &p->instead, err);
    *clean = !st || undo(p, done, done_instead, m) == FT_OK;
    return st;
}

static ft_status pin(ft_held_settings *h, const char *list, ft_error *err)
{
    ft__cpus want;
    cpu_set_t set;

    if (!list)
        return FT_OK;
    if (!ft__cpus_parse(&want, list))
        return ft_fail(err, FT_EUNSUPPORTED, 0, "\"%s\" is no list of CPUs such as 2-3",
                       list);
    CPU_ZERO(&set);
    for (unsigned i = 0; i < CPU_SETSIZE && i < FT__MAX_CPUS; i++)
        if (want.has[i])
            CPU_SET(i, &set);
    if (sched_getaffinity(0, sizeof(h->before), &h->before) ||
        sched_setaffinity(0, sizeof(set), &set))
        return ft_fail(err, FT_EUNSUPPORTED, 0, "CPUs %s may not be used: %s", list,
                       strerror(errno));
    h->pinned = true;
    return FT_OK;
}

static const char *copy(ft_held_settings *h, const char *text, bool *bad)
{
    const char *kept = text ? ft__arena_strndup(&h->arena, text, strlen(text)) : NULL;

    *bad = *bad || (text && !kept);
    return kept;
}

static bool copy_texts(ft_held_settings *h, const ft_settings_options *opt)
{
    ft_settings *c = &h->plan.chosen;
    bool bad = false;

    c->device = copy(h, c->device, &bad);
    c->cpus_online = copy(h, c->cpus_online, &bad);
    c->governor = copy(h, c->governor, &bad);
    c->turbo = copy(h, c->turbo, &bad);
    c->affinity = copy(h, c->affinity, &bad);
    h->machine.root = copy(h, h->machine.root, &bad);
    h->machine.nvml = copy(h, opt->nvml, &bad);
    h->state_dir = copy(h, opt->state_dir, &bad);
    return !bad;
}

/* Guard, then record, then the settings: whatever is cut off, somebody knows what
 * to put back, and nothing is put back that was not set. */
static ft_status set(ft_held_settings *h, const ft_settings_options *opt, ft_error *err)
{
    const ft__guard_job job = {.root = h->machine.root,
                               .nvml = h->machine.nvml,
                               .state_dir = h->state_dir,
                               .lock = h->lock,
                               .restore = &h->plan.restore,
                               .program = opt->guard};
    ft_status st = ft__acts_allowed(&h->machine, &h->plan.apply, err);

    if (!st)
        st = ft__guard_start(&h->guard, &job, err);
    if (!st)
        st = ft__record_write(h->state_dir, FT__RECORD_HELD, h->machine.root,
                              &h->plan.restore, err);
    if (!st)
        st = apply(&h->clean, &h->plan, &h->machine, err);
    return st;
}

/* Everything but putting back. */
static void let_go(ft_held_settings *h)
{
    if (h->pinned)
        (void)sched_setaffinity(0, sizeof(h->before), &h->before);
    ft__guard_dismiss(&h->guard);
    ft__state_unlock(h->lock);
    ft__machine_close(&h->machine);
    ft__plan_free(&h->plan);
    ft__arena_free(&h->arena);
    free(h);
}

ft_status ft_settings_hold(ft_held_settings **out, const ft_settings *want,
                           const ft_settings_options *opt, ft_error *err)
{
    ft_held_settings *h = calloc(1, sizeof(*h));
    ft_status st;

    *out = NULL;
    if (!h)
        return ft_fail(err, FT_ENOMEM, 0, "settings");
    h->lock = h->guard.socket = -1;
    h->clean = true;
    opt = opt ? opt : &no_options;
    h->machine = ft__machine_of(opt);
    st = ft__state_lock(&h->lock, opt->state_dir, err);
    if (!st)
        st = repair(&h->machine, opt, err);
    if (!st)
        st = ft__plan_make(&h->plan, want, &h->machine, opt->log, err);
    if (!st && !copy_texts(h, opt))
        st = ft_fail(err, FT_ENOMEM, 0, "settings");
    if (!st && h->plan.apply.n)
        st = set(h, opt, err);
    if (!st) {
        st = pin(h, want->affinity, err);
        if (!st) {
            *out = h;
            return FT_OK;
        }
        h->clean = ft__acts_undo_all(&h->machine, &h->plan.restore, NULL) == FT_OK;
    }
    /* A fresh process may succeed where this one does not; else the record stays. */
    if (h->guard.socket >= 0 && (h->clean || ft__guard_restore(&h->guard)))
        ft__record_remove(h->state_dir, FT__RECORD_HELD);
    let_go(h);
    return st;
}

const ft_settings *ft_settings_held(const ft_held_settings *h)
{
    return &h->plan.chosen;
}

ft_status ft_settings_restore_take(ft_held_settings *h, ft_error *err)
{
    ft_status st = FT_OK;

    if (!h)
        return FT_OK;
    if (h->plan.apply.n) {
        st = ft__acts_undo_all(&h->machine, &h->plan.restore, err);
        if (st && ft__guard_restore(&h->guard))
            st = FT_OK;
        if (!st)
            ft__record_remove(h->state_dir, FT__RECORD_HELD);
    }
    let_go(h);
    return st;
}

/* ---- until they are reset ---- */

/* What was kept before is older: its values are the ones to go back to. */
static void merge(ft__acts *all, const ft__acts *new, const ft__acts *old)
{
    for (size_t i = 0; i < new->n; i++)
        if (!ft__acts_touch(old, old->n, &new->act[i]))
            ft__acts_add(all, new->act[i].verb, new->act[i].target, "%s",
                         new->act[i].value);
    for (size_t i = 0; i < old->n; i++)
        ft__acts_add(all, old->act[i].verb, old->act[i].target, "%s",
                     old->act[i].value);
}

static ft_status keep(const ft__settings_plan *p, ft__machine *m, const char *dir,
                      ft_error *err)
{
    ft__acts old = {0}, all = {0};
    ft_status st = ft__acts_allowed(m, &p->apply, err);

    if (!st)
        st = ft__record_read(&old, dir, FT__RECORD_KEPT, m->root, err);
    merge(&all, &p->restore, &old);
    if (!st && all.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "settings");
    if (!st)
        st = ft__record_write(dir, FT__RECORD_KEPT, m->root, &all, err);
    if (!st) {
        bool clean;

        st = apply(&clean, p, m, err);
        if (st && clean && old.n)
            (void)ft__record_write(dir, FT__RECORD_KEPT, m->root, &old, NULL);
        else if (st && clean)
            ft__record_remove(dir, FT__RECORD_KEPT);
    }
    ft__acts_free(&old);
    ft__acts_free(&all);
    return st;
}

ft_status ft_settings_keep(ft_settings *chosen, const ft_settings *want,
                           const ft_settings_options *opt, ft_error *err)
{
    ft__machine m = ft__machine_of(opt);
    ft__settings_plan p = {0};
    int lock = -1;
    ft_status st;

    if (!opt->state_dir)
        return ft_fail(err, FT_EINVAL, 0, "settings are kept with a record only");
    if (want->affinity)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "the CPUs of a process cannot be kept: they end with it");
    st = ft__state_lock(&lock, opt->state_dir, err);
    if (!st)
        st = repair(&m, opt, err);
    if (!st)
        st = ft__plan_make(&p, want, &m, opt->log, err);
    if (!st && p.apply.n)
        st = keep(&p, &m, opt->state_dir, err);
    if (!st && chosen)
        *chosen = p.chosen;
    ft__plan_free(&p);
    ft__state_unlock(lock);
    ft__machine_close(&m);
    return st;
}

ft_status ft_settings_reset(size_t *n, const ft_settings_options *opt, ft_error *err)
{
    ft__machine m = ft__machine_of(opt);
    int lock = -1;
    ft_status st;

    *n = 0;
    if (!opt->state_dir)
        return ft_fail(err, FT_EINVAL, 0, "settings are reset from a record only");
    st = ft__state_lock(&lock, opt->state_dir, err);
    if (!st)
        st = undo_record(n, FT__RECORD_HELD, &m, opt, err);
    if (!st)
        st = undo_record(n, FT__RECORD_KEPT, &m, opt, err);
    ft__state_unlock(lock);
    ft__machine_close(&m);
    return st;
}

/* ---- as text ---- */

size_t ft_settings_print(const ft_settings *s, char *buf, size_t size)
{
    const struct {
        const char *name, *text;
        double value;
        const char *unit;
    } words[] = {
        {"device", s->device && strcmp(s->device, "cpu") != 0 ? s->device : NULL, 0,
         ""},
        {"clock", NULL, s->core_clock_hz * 1e-6, "MHz"},
        {"memory", NULL, s->memory_clock_hz * 1e-6, "MHz"},
        {"power", NULL, s->power_cap_w, "W"},
        {"cpus", s->cpus_online, 0, ""},
        {"governor", s->governor, 0, ""},
        {"turbo", s->turbo, 0, ""},
        {"affinity", s->affinity, 0, ""},
    };
    size_t len = 0;

    if (size)
        *buf = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const char *blank = len ? " " : "";
        size_t left = len < size ? size - len : 0; /* what does not fit is counted */
        char *at = left ? buf + len : NULL;

        if (words[i].text)
            len += (size_t)snprintf(at, left, "%s%s=%s", blank, words[i].name,
                                    words[i].text);
        else if (words[i].value > 0)
            len += (size_t)snprintf(at, left, "%s%s=%.6g%s", blank, words[i].name,
                                    words[i].value, words[i].unit);
    }
    return len;
}
