/* Settings that are held for a while or kept until they are reset. */
#define _GNU_SOURCE /* CPU sets, flock() */
#include "device/clocks/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "device/clocks/guard.h"
#include "device/clocks/plan.h"
#include "device/clocks/record.h"
#include "device/cpus.h"
#include "device/sysfs.h"

#define LOCK "settings.lock"

static const double patience_s = 5;

static long number_in(int fd)
{
    char text[32] = "";

    return pread(fd, text, sizeof(text) - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
}

static bool is_alive(long pid)
{
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* The guard of a process that is gone holds the lock until all is put back. */
static bool lock_patiently(int fd)
{
    double end_s = ft__now_s() + patience_s;

    while (flock(fd, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        if (is_alive(number_in(fd)) || ft__now_s() > end_s)
            return false;
        ft__sleep_s(0.01);
    }
    return true;
}

static void state_unlock(int fd)
{
    bool cleared;

    if (fd < 0)
        return;
    /* So that nobody takes the last holder for the present one. */
    cleared = ftruncate(fd, 0) == 0;
    (void)cleared;
    /* Also for those who got it by a fork. */
    (void)flock(fd, LOCK_UN);
    close(fd);
}

/* *fd -1 when dir is NULL. Waits for the guard of a holder that is gone, at most a
 * few seconds. FT_EUNSUPPORTED: somebody else holds settings. */
static ft_status state_lock(int *fd, const char *dir, ft_error *err)
{
    ft__state_path_text p;
    char text[32];
    int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    long holder;

    *fd = -1;
    if (!dir)
        return FT_OK;
    if (!ft__state_path(&p, dir, LOCK) || ft__sys_make_folders(p.s) ||
        (*fd = open(p.s, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0)
        return ft_fail(err, FT_EIO, 0,
                       "settings are not changed, because what to put back cannot be "
                       "written down in %s: %s",
                       dir, strerror(errno));
    if (!lock_patiently(*fd)) {
        holder = number_in(*fd);
        close(*fd);
        *fd = -1;
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "settings are held by process %ld already; wait for its end, or "
                       "end it (it puts back what it set)",
                       holder);
    }
    if (ftruncate(*fd, 0) || pwrite(*fd, text, (size_t)len, 0) != len) {
        state_unlock(*fd);
        *fd = -1;
        return ft_fail(err, FT_EIO, 0, "%s: %s", p.s, strerror(errno));
    }
    return FT_OK;
}

long ft__state_holder(const char *dir)
{
    ft__state_path_text p;
    long holder = 0;
    int fd;

    if (!dir || !ft__state_path(&p, dir, LOCK) ||
        (fd = open(p.s, O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    if (flock(fd, LOCK_SH | LOCK_NB))
        holder = number_in(fd);
    close(fd);
    return holder;
}

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

/* Do what a record says and remove it. Adds to *n how much that was. */
static ft_status undo_record(size_t *n, const char *name, ft__machine *m,
                             const ft_settings_options *opt, ft_error *err)
{
    ft__acts left = {0};
    ft_status st = ft__settings_record_read(&left, opt->state_dir, name, m->root, err);

    if (!st)
        st = ft__acts_undo_all(m, &left, err);
    if (!st)
        ft__settings_record_remove(opt->state_dir, name);
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

static void forget_held(const char *state_dir)
{
    ft__settings_record_remove(state_dir, FT__RECORD_HELD);
}

static const ft__guard_state guard_state = {forget_held, state_unlock};

int ft_settings_guard(int argc, char **argv)
{
    return ft__guard_live(argc, argv, &guard_state);
}

/* Guard, then record, then the settings: whatever is cut off, somebody knows what
 * to put back, and nothing is put back that was not set. */
static ft_status set(ft_held_settings *h, const ft_settings_options *opt, ft_error *err)
{
    const ft__guard_job job = {.root = h->machine.root,
                               .nvml = h->machine.nvml,
                               .state_dir = h->state_dir,
                               .lock = h->lock,
                               .state = &guard_state,
                               .restore = &h->plan.restore,
                               .program = opt->guard};
    ft_status st = ft__acts_allowed(NULL, h->machine.root, &h->plan.apply, err);

    if (!st)
        st = ft__guard_start(&h->guard, &job, err);
    if (!st)
        st = ft__settings_record_write(h->state_dir, FT__RECORD_HELD, h->machine.root,
                                       &h->plan.restore, err);
    if (!st)
        st = ft__plan_apply(&h->clean, &h->machine, &h->plan, err);
    return st;
}

/* Everything but putting back. */
static void let_go(ft_held_settings *h)
{
    if (h->pinned)
        (void)sched_setaffinity(0, sizeof(h->before), &h->before);
    (void)ft__guard_end(&h->guard, false);
    state_unlock(h->lock);
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
    st = state_lock(&h->lock, opt->state_dir, err);
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
    if (h->guard.socket >= 0 && (h->clean || ft__guard_end(&h->guard, true)))
        ft__settings_record_remove(h->state_dir, FT__RECORD_HELD);
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
        if (st && ft__guard_end(&h->guard, true))
            st = FT_OK;
        if (!st)
            ft__settings_record_remove(h->state_dir, FT__RECORD_HELD);
    }
    let_go(h);
    return st;
}

static bool is_among(const ft__acts *all, const ft__act *a)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->act[i].verb == a->verb && strcmp(all->act[i].target, a->target) == 0)
            return true;
    return false;
}

/* What was kept before is older: its values are the ones to go back to. */
static void merge(ft__acts *all, const ft__acts *new, const ft__acts *old)
{
    for (size_t i = 0; i < new->n; i++)
        if (!is_among(old, &new->act[i]))
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
    ft_status st = ft__acts_allowed(NULL, m->root, &p->apply, err);

    if (!st)
        st = ft__settings_record_read(&old, dir, FT__RECORD_KEPT, m->root, err);
    merge(&all, &p->restore, &old);
    if (!st && all.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "settings");
    if (!st)
        st = ft__settings_record_write(dir, FT__RECORD_KEPT, m->root, &all, err);
    if (!st) {
        bool clean;

        st = ft__plan_apply(&clean, m, p, err);
        if (st && clean && old.n)
            (void)ft__settings_record_write(dir, FT__RECORD_KEPT, m->root, &old, NULL);
        else if (st && clean)
            ft__settings_record_remove(dir, FT__RECORD_KEPT);
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
    st = state_lock(&lock, opt->state_dir, err);
    if (!st)
        st = repair(&m, opt, err);
    if (!st)
        st = ft__plan_make(&p, want, &m, opt->log, err);
    if (!st && p.apply.n)
        st = keep(&p, &m, opt->state_dir, err);
    if (!st && chosen)
        *chosen = p.chosen;
    ft__plan_free(&p);
    state_unlock(lock);
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
    st = state_lock(&lock, opt->state_dir, err);
    if (!st)
        st = undo_record(n, FT__RECORD_HELD, &m, opt, err);
    if (!st)
        st = undo_record(n, FT__RECORD_KEPT, &m, opt, err);
    state_unlock(lock);
    ft__machine_close(&m);
    return st;
}

static size_t recorded(const char *dir, const char *name, const char *root)
{
    ft__acts a = {0};
    size_t n;

    (void)ft__settings_record_read(&a, dir, name, root, NULL);
    n = a.n;
    ft__acts_free(&a);
    return n;
}

ft__in_force ft__settings_in_force(const char *dir, const char *root)
{
    ft__in_force now = {.holder = ft__state_holder(dir),
                        .kept = recorded(dir, FT__RECORD_KEPT, root)};

    if (!now.holder)
        now.held = recorded(dir, FT__RECORD_HELD, root);
    return now;
}

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
