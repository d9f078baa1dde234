/* The round: choose, submit, wait, judge the nodes, merge, choose anew. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "fleet/run.h"

enum { MOST_JOBS = 1000 };

static ft_status make_parts(ft__fleet_run *r, ft_error *err)
{
    ft_status st = FT_OK;
    size_t n = 0;

    for (size_t k = 0; k < r->fleet->n_kinds; k++)
        n += r->fleet->kind[k].n_clocks;
    r->part = calloc(n + 1, sizeof(*r->part));
    if (!r->part)
        return ft_fail(err, FT_ENOMEM, 0, "%zu kinds", n);
    for (size_t k = 0; k < r->fleet->n_kinds; k++)
        for (size_t c = 0; c < r->fleet->kind[k].n_clocks && !st; c++) {
            const size_t i = r->n_parts++;

            st = ft__part_make(&r->part[i], r->fleet, k, c, i, err);
            if (!st)
                st = ft__batches_read(&r->batches, r->fleet, &r->part[i], err);
        }
    return st;
}

static ft_status refresh(ft__fleet_run *r, ft__part *p, ft_error *err)
{
    ft_status st = ft__part_gather(p, r->fleet, r->store, r->opt, err);

    if (!st)
        st = ft__part_refresh(p, r->fleet, r->store, &r->batches, err);
    if (!st)
        ft__part_costs(p, r->opt);
    return st;
}

static ft_status open_run(ft__fleet_run *r, ft_fleet *f, ft_store *store,
                          const ft_fleet_options *opt, ft_error *err)
{
    ft_status st;

    *r = (ft__fleet_run){.fleet = f, .store = store, .opt = opt};
    st = make_parts(r, err);
    for (size_t k = 0; k < r->n_parts && !st; k++)
        st = refresh(r, &r->part[k], err);
    return st;
}

static void close_run(ft__fleet_run *r)
{
    for (size_t k = 0; k < r->n_parts; k++)
        ft__part_free(&r->part[k]);
    free(r->part);
    ft__batches_free(&r->batches);
}

/* Enough jobs for the nodes; fewer where little is left. All seconds are as planned. */
static ft_status plan_batch(ft__fleet_run *r, ft__part *p, ft_error *err)
{
    const ft__fleet_kind *k = p->kind;
    const double took = ft__part_took(p), wanted_s = k->job_s / took;
    const double left_s = (r->fleet->budget_s - ft__fleet_spent_s(r, SIZE_MAX)) / took;
    const bool operations = !ft__fleet_is_enough(r, p);
    double job_s = fmax(wanted_s - k->overhead_s, wanted_s / 2);
    size_t *chosen = calloc(p->n_ops + 1, sizeof(*chosen)), n = 0, jobs = k->nodes;
    size_t most, missing = 0;
    ft_status st =
        chosen ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu operations", p->n_ops);

    for (size_t i = 0; i < p->n_ops; i++)
        missing +=
            ft__op_missing(&p->op[i]) && (operations || p->op[i].what != FT__OPERATION);
    jobs = jobs > MOST_JOBS ? MOST_JOBS : jobs;
    while (jobs > 1 && left_s < (double)jobs * (job_s + k->overhead_s))
        jobs--;
    job_s = fmin(job_s, left_s - k->overhead_s);
    most = jobs * k->job_operations;
    r->out_of_budget = r->out_of_budget || (missing && job_s <= 0);
    if (!st && missing && job_s > 0)
        st = ft__fleet_choose(chosen, &n, p, r->part, r->n_parts, r->store,
                              (double)jobs * job_s, most, operations, r->opt, err);
    if (!st && n)
        st = ft__batch_write(&r->batches, r->fleet, p, chosen, n, n < jobs ? n : jobs,
                             err);
    free(chosen);
    return st;
}

/* Batches that were written and not submitted, perhaps by a call of before: the file
 * may have changed since. */
static ft_status submit(ft__fleet_run *r, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < r->batches.n && !st; i++) {
        ft__fleet_batch *b = &r->batches.list[i];
        const ft__part *p = &r->part[b->part];
        ft__buf excluded = {0};

        if (b->local || b->array)
            continue;
        ft__fleet_excluded(&excluded, r, p->kind);
        st = ft__batch_script(b, p, r->opt->foretell, err);
        if (!st)
            st = ft__batch_submit(b, r->opt->local > 0, p->kind,
                                  excluded.s ? excluded.s : "", err);
        ft__buf_free(&excluded);
    }
    return st;
}

/* The next batch of each part that has none. */
static ft_status plan(bool *any, ft__fleet_run *r, ft_error *err)
{
    ft_status st = FT_OK;

    *any = false;
    r->out_of_budget = false;
    for (size_t k = 0; k < r->n_parts && !st; k++) {
        const size_t before = r->batches.n;
        ft__part *p = &r->part[k];

        if (ft__fleet_has_open(r, k)) {
            *any = true;
            continue;
        }
        st = refresh(r, p, err);
        if (!st && r->fleet->error > 0)
            st = ft__part_judge(p, r->store, r->opt, err);
        if (!st)
            st = plan_batch(r, p, err);
        *any = *any || r->batches.n > before;
    }
    return st ? st : submit(r, err);
}

ft_status ft_fleet_look(ft_fleet_report *out, ft_fleet *f, ft_store *store,
                        const ft_fleet_options *opt, ft_error *err)
{
    ft__fleet_run r;
    ft_status st = open_run(&r, f, store, opt, err);

    *out = (ft_fleet_report){0};
    /* Where Slurm does not answer, jobs are as their files say. */
    if (!st)
        (void)ft__batches_poll(&r.batches, 0, NULL);
    for (size_t k = 0; k < r.n_parts && f->error > 0 && !st; k++)
        st = ft__part_judge(&r.part[k], store, opt, err);
    if (!st)
        st = ft__fleet_report(out, &r, err);
    close_run(&r);
    return st;
}

/* One call works in a folder; *fd is open while it does. */
static ft_status lock(int *fd, const ft_fleet *f, ft_error *err)
{
    char path[PATH_MAX];

    const ft_status st = ft__make_folder(f->folder, err);

    if (st)
        return st;
    snprintf(path, sizeof(path), "%.4000s/lock", f->folder);
    *fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (*fd < 0)
        return ft_fail(err, FT_EIO, 0, "cannot open %s: %s", path, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return FT_OK;
    close(*fd);
    *fd = -1;
    return ft_fail(err, FT_EIO, 0,
                   "another foretell fleet run works in %s: wait for it, or end it",
                   f->folder);
}

static void say_progress(const ft__fleet_run *r)
{
    size_t done = 0, all = 0;

    for (size_t k = 0; k < r->n_parts; k++)
        for (size_t i = 0; i < r->part[k].n_ops; i++) {
            all++;
            done += r->part[k].op[i].known || ft__op_given_up(&r->part[k].op[i]);
        }
    ft__progress(r->opt->log, done, all, "");
}

/* Slurm may be away for a while: its jobs go on. */
static ft_status poll_jobs(bool *said, ft__fleet_run *r, ft_error *err)
{
    ft_error why;
    const ft_status st = ft__batches_poll(&r->batches, r->opt->local, &why);

    if (st == FT_EIO && !r->opt->local) {
        if (!*said)
            ft__log(r->opt->log, FT_LOG_WARN, "%s; asking again until it answers",
                    why.msg);
        *said = true;
        return FT_OK;
    }
    *said = false;
    if (st && err)
        *err = why;
    return st;
}

static ft_status work(ft__fleet_run *r, ft_error *err)
{
    static const double first_s = 0.1, most_s = 15;
    bool any = true, said = false;
    double wait_s = first_s;
    ft_status st = plan(&any, r, err);

    while (any && !st) {
        size_t merged = 0;

        st = poll_jobs(&said, r, err);
        for (size_t k = 0; k < r->n_parts && !st; k++)
            st = ft__fleet_merge(&merged, r, k, err);
        if (merged && !st) {
            st = plan(&any, r, err);
            say_progress(r);
            wait_s = first_s;
            continue;
        }
        ft__sleep_s(wait_s);
        wait_s = fmin(wait_s * (r->opt->local ? 1 : 1.5), most_s);
    }
    return st;
}

ft_status ft_fleet_run(ft_fleet_report *out, ft_fleet *f, ft_store *store,
                       const ft_fleet_options *opt, ft_error *err)
{
    ft__fleet_run r = {0};
    int fd = -1;
    ft_status st = lock(&fd, f, err);

    *out = (ft_fleet_report){0};
    if (!st)
        st = open_run(&r, f, store, opt, err);
    if (!st)
        st = work(&r, err);
    for (size_t k = 0; k < r.n_parts && !st; k++)
        st = refresh(&r, &r.part[k], err);
    if (!st)
        st = ft__fleet_refused(&r, err);
    if (!st)
        st = ft__fleet_report(out, &r, err);
    close_run(&r);
    if (fd >= 0)
        close(fd);
    return st;
}
