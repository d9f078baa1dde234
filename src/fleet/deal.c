/* What jobs are to do, and how: lists of operations, commands for all else, the script.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fleet/want.h"
#include "foretell/names.h"

static void put_word(ft__buf *b, const char *option, const char *word)
{
    ft__buf_str(b, option);
    ft__buf_word(b, word, strlen(word));
}

/* As a job finds it, wherever it stands. */
static void put_path(ft__buf *b, const char *option, const char *path)
{
    char *real = realpath(path, NULL);

    put_word(b, option, real ? real : path);
    free(real);
}

/* job.sh has the options of `collect` in "$@". */
static void put_network(ft__buf *b, const ft__wanted_op *o)
{
    put_path(b, "measured collect --whole ", o->of->model);
    if (o->number)
        ft__buf_fmt(b, " --batch %llu", (unsigned long long)o->number);
    if (o->of->dtype)
        put_word(b, " --dtype ", o->of->dtype);
    ft__buf_str(b, " \"$@\"\n");
}

/* All points of the exploration of chosen[i] that this job has; commands are run where
 * its file lies. */
static void put_points(ft__buf *b, const ft__part *p, const size_t *chosen, size_t i,
                       size_t n, size_t n_jobs)
{
    const ft__wanted_op *o = &p->op[chosen[i]];
    const ft_design_options *d = &o->of->design;
    char *real = realpath(o->of->explore, NULL);
    const char *path = real ? real : o->of->explore, *slash = strrchr(path, '/');
    const char *comma = "";

    ft__buf_str(b, "cd ");
    ft__buf_word(b, path, slash ? (size_t)(slash - path) + 1 : 0);
    put_path(b, " && measured explore run ", o->of->explore);
    put_word(b, " -q --name ", o->name);
    ft__buf_fmt(b, " --design %s", ft_name(FT_NAMES_DESIGN, d->design));
    if (d->n)
        ft__buf_fmt(b, " --points %zu", d->n);
    if (*p->kind->power)
        put_word(b, " --power ", p->kind->power);
    ft__buf_str(b, " --only ");
    for (size_t k = i; k < n; k += n_jobs)
        if (p->op[chosen[k]].of == o->of) {
            ft__buf_fmt(b, "%s%llu", comma,
                        (unsigned long long)p->op[chosen[k]].number);
            comma = ",";
        }
    ft__buf_str(b, "\n");
    free(real);
}

/* Is chosen[i] the first of its exploration in this job? */
static bool is_first(const ft__part *p, const size_t *chosen, size_t i, size_t job,
                     size_t n_jobs)
{
    for (size_t k = job; k < i; k += n_jobs)
        if (p->op[chosen[k]].of == p->op[chosen[i]].of)
            return false;
    return true;
}

static void put_operation(ft__buf *b, const ft_op *op)
{
    char spec[2048];

    ft_op_print(op, spec, sizeof(spec));
    ft__buf_fmt(b, "%s\n", spec);
}

/* The operations chosen[job], chosen[job + n_jobs], ... of n, so that jobs are alike.
 */
static ft_status deal(const ft__fleet_job *j, size_t n_jobs, const ft__part *p,
                      const size_t *chosen, size_t n, ft_error *err)
{
    const ft_op probe = ft__probe(FT__PROBE_PEAK);
    double cost_s = p->kind->overhead_s;
    size_t operations = 0;
    ft__buf list = {0}, more = {0};
    ft_status st = FT_OK;

    for (size_t i = j->index; i < n; i += n_jobs)
        cost_s += p->op[chosen[i]].cost_s;
    ft__buf_fmt(&list, FT__PLANNED_LINE("%.4g") "\n", cost_s);
    for (size_t i = j->index; i < n; i += n_jobs) {
        const ft__wanted_op *o = &p->op[chosen[i]];

        operations += o->what == FT__OPERATION;
        if (o->what == FT__OPERATION)
            put_operation(&list, &o->op);
        else
            ft__buf_fmt(&list, FT__TEXT_LINE "%s\n", o->text);
        if (o->what == FT__NETWORK)
            put_network(&more, o);
        else if (o->what == FT__POINT && is_first(p, chosen, i, j->index, n_jobs))
            put_points(&more, p, chosen, i, n, n_jobs);
    }
    /* So that the node can be compared with others. */
    if (!operations)
        put_operation(&list, &probe);
    if (list.bad || more.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    if (!st)
        st = ft__job_note(j->folder, "list.ops", list.s, err);
    if (!st && more.s)
        st = ft__job_note(j->folder, "more.sh", more.s, err);
    ft__buf_free(&list);
    ft__buf_free(&more);
    return st;
}

ft_status ft__make_folder(const char *path, ft_error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? FT_OK
               : ft_fail(err, FT_EIO, 0, "cannot make %s: %s", path, strerror(errno));
}

ft_status ft__batch_write(ft__batches *list, ft_fleet *f, ft__part *p,
                          const size_t *chosen, size_t n, size_t n_jobs, ft_error *err)
{
    ft__fleet_batch *b;
    ft_status st = ft__batch_new(&b, list, f, p, n_jobs, err);

    if (!st)
        st = ft__make_folder(b->folder, err);
    for (size_t i = 0; i < n_jobs && !st; i++) {
        st = ft__make_folder(b->job[i].folder, err);
        if (!st)
            st = deal(&b->job[i], n_jobs, p, chosen, n, err);
    }
    return st;
}

/* What is the same in all of them: job.sh. */
static const char script[] = {
#include "fleet_job.inc"
    , '\0'};

/* What differs from job to job is the number of its folder. */
ft_status ft__batch_script(const ft__fleet_batch *batch, const ft__part *p,
                           const char *foretell, ft_error *err)
{
    const ft__fleet_kind *k = p->kind;
    const double mhz = p->clock_hz / 1e6;
    ft__buf b = {0};
    ft_status st;

    put_word(&b,
             "#!/bin/sh\n# Job ${SLURM_ARRAY_TASK_ID:-$1} of a batch of foretell "
             "fleet.\ncd ",
             batch->folder);
    ft__buf_fmt(&b,
                "/\"${SLURM_ARRAY_TASK_ID:-$1}\" || exit 1\n"
                "setup() {\n:\n%s\n}\nlowered=%s",
                k->setup, p->lowered ? "--lowered" : "");
    put_word(&b, " portable=", k->portable ? k->portable : "");
    put_word(&b, " foretell=", k->foretell ? k->foretell : foretell);
    if (isnan(mhz))
        ft__buf_str(&b, " clock='as it is'\nset --");
    else
        ft__buf_fmt(&b, " clock=%.9gMHz\nset -- --clocks %.9g", mhz, mhz);
    put_word(&b, " --engine ", k->engine);
    ft__buf_fmt(&b, " --threads %u --op-time %.9gs --repeat-share 0 -v", k->threads,
                k->op_seconds);
    if (*k->power)
        put_word(&b, " --power ", k->power);
    ft__buf_fmt(&b, "\n%s", script);
    st = b.bad ? ft_fail(err, FT_ENOMEM, 0, "a script")
               : ft__job_note(batch->folder, "job.sh", b.s, err);
    ft__buf_free(&b);
    return st;
}
