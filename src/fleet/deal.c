/* What a job is to do: a list of operations, and commands for all else. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fleet/want.h"
#include "foretell/names.h"
#include "graph/op_inside.h"

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

ft_status ft__deal(ft__job_work *out, const ft__part *p, const size_t *chosen, size_t n,
                   size_t job, size_t n_jobs, ft_error *err)
{
    double cost_s = p->kind->overhead_s;
    const ft_op probe = ft__probe(FT__PROBE_PEAK);
    size_t operations = 0;
    ft__buf list = {0}, more = {0}, head = {0};

    for (size_t i = job; i < n; i += n_jobs) {
        const ft__wanted_op *o = &p->op[chosen[i]];

        cost_s += o->cost_s;
        if (o->what == FT__OPERATION) {
            put_operation(&list, &o->op);
            operations++;
            continue;
        }
        ft__buf_fmt(&list, FT__TEXT_LINE "%s\n", o->text);
        if (o->what == FT__NETWORK)
            put_network(&more, o);
        else if (is_first(p, chosen, i, job, n_jobs))
            put_points(&more, p, chosen, i, n, n_jobs);
    }
    /* So that the node can be compared with others. */
    if (!operations)
        put_operation(&list, &probe);
    ft__buf_fmt(&head, "# about %.4g s\n%s", cost_s, list.s ? list.s : "");
    *out = (ft__job_work){.list = head.s, .more = more.s};
    head.bad = head.bad || list.bad || more.bad;
    ft__buf_free(&list);
    if (!head.bad)
        return FT_OK;
    ft__job_work_free(out);
    return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
}

void ft__job_work_free(ft__job_work *w)
{
    free(w->list);
    free(w->more);
    *w = (ft__job_work){0};
}

double ft__deal_planned_s(const char *list)
{
    double planned_s;

    return sscanf(list, "# about %lf s", &planned_s) == 1 ? planned_s : (double)NAN;
}
