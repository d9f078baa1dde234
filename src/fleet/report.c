/* What became of a fleet: node hours, what is known, missing, given up, quarantined. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/run.h"
#include "foretell/file.h"

double ft__fleet_spent_s(const ft__fleet_run *r, size_t part)
{
    double sum = 0;

    FT__EACH_JOB(&r->batches, b, j) {
        const double end_s = isnan(j->ended_s) ? (double)time(NULL) : j->ended_s;

        if ((part == SIZE_MAX || j->part == part) && j->began_s <= end_s)
            sum += end_s - j->began_s;
    }
    return sum;
}

bool ft__fleet_is_enough(const ft__fleet_run *r, const ft__part *p)
{
    return r->fleet->error > 0 && p->error <= r->fleet->error;
}

static void add_quoted(ft__buf *b, const char *text)
{
    ft__buf_str(b, "\"");
    for (size_t n = strcspn(text, "\n"); n--; text++)
        ft__buf_add(b, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    ft__buf_str(b, "\"");
}

static void add_csv(ft__buf *b, const ft__part *p, const char *what, const char *name,
                    const char *why)
{
    ft__buf_fmt(b, "%s,%s,", p->name, what);
    add_quoted(b, name);
    ft__buf_str(b, ",");
    add_quoted(b, why);
    ft__buf_str(b, "\n");
}

static void add_refused_ops(ft__buf *b, const ft__part *p)
{
    static const char *const what[] = {"operation", "network", "point"};
    char spec[2048], why[256];

    for (size_t i = 0; i < p->n_ops; i++) {
        const ft__wanted_op *o = &p->op[i];

        if (!ft__op_given_up(o))
            continue;
        if (o->refused)
            snprintf(why, sizeof(why), "the engine does not run it: %s", o->why);
        else
            snprintf(why, sizeof(why), "%u jobs ended without it and %u died%s%s",
                     o->tries, o->deaths, *o->why ? ": " : "", o->why);
        ft_op_print(&o->op, spec, sizeof(spec));
        add_csv(b, p, what[o->what], o->text ? o->text : spec, why);
    }
}

ft_status ft__fleet_refused(ft__fleet_run *r, ft_error *err)
{
    char path[PATH_MAX];
    ft__buf b = {0};
    ft_status st;

    ft__buf_str(&b, "kind,what,name,reason\n");
    for (size_t k = 0; k < r->n_parts; k++)
        add_refused_ops(&b, &r->part[k]);
    FT__EACH_JOB(&r->batches, in, j) {
        char *why = j->state == FT__JOB_QUARANTINED
                        ? ft__job_text(j->folder, "quarantined")
                        : NULL;

        if (why)
            add_csv(&b, &r->part[j->part], "job",
                    j->folder + strlen(r->fleet->folder) + 1, why);
        free(why);
    }
    snprintf(path, sizeof(path), "%.4000s/refused.csv", r->fleet->folder);
    st = b.bad ? ft_fail(err, FT_ENOMEM, 0, "%s", path)
               : ft_file_write(path, b.s, b.len, err);
    ft__buf_free(&b);
    return st;
}

static void count_jobs(ft_fleet_part *out, const ft__fleet_run *r, size_t part)
{
    FT__EACH_JOB(&r->batches, b, j) {
        if (j->part != part)
            continue;
        out->jobs++;
        out->waiting += j->state == FT__JOB_WAITING;
        out->running += j->state == FT__JOB_RUNNING;
        out->quarantined += j->state == FT__JOB_QUARANTINED;
        out->died += j->state == FT__JOB_MERGED && j->died;
    }
    out->spent_s = ft__fleet_spent_s(r, part);
}

static void count_ops(ft_fleet_part *out, const ft__part *p)
{
    double sum_s = 0;
    size_t n = 0;

    for (size_t i = 0; i < p->n_ops; i++) {
        const ft__wanted_op *o = &p->op[i];

        out->known += o->known;
        out->refused += ft__op_given_up(o);
        if (!o->known && !ft__op_given_up(o)) {
            sum_s += o->cost_s;
            n++;
        }
    }
    out->wanted = p->n_ops;
    out->missing = n;
    out->took = ft__part_took(p);
    out->missing_s =
        out->took *
        (sum_s +
         p->kind->overhead_s *
             fmax(ceil(sum_s /
                       fmax(p->kind->job_s / out->took - p->kind->overhead_s, 1)),
                  ceil((double)n / p->kind->job_operations)));
}

static void add_node(ft_fleet_report *out, const ft__fleet_run *r,
                     const ft__fleet_job *j)
{
    ft__arena *arena = &r->fleet->arena;
    char *why = ft__job_text(j->folder, "quarantined");

    out->node[out->n_nodes++] = (ft_fleet_node){
        .kind = r->part[j->part].kind->name,
        .node = ft__arena_strndup(arena, j->node, strlen(j->node)),
        .why = why ? ft__arena_strndup(arena, why, strcspn(why, "\n")) : NULL};
    free(why);
}

ft_status ft__fleet_report(ft_fleet_report *out, const ft__fleet_run *r, ft_error *err)
{
    size_t quarantined = 0;

    *out = (ft_fleet_report){.folder = r->fleet->folder,
                             .budget_s = r->fleet->budget_s,
                             .spent_s = ft__fleet_spent_s(r, SIZE_MAX),
                             .out_of_budget = r->out_of_budget};
    out->part = calloc(r->n_parts + 1, sizeof(*out->part));
    for (size_t k = 0; k < r->n_parts && out->part; k++) {
        const ft__part *p = &r->part[k];
        const char *setting = *p->held ? p->held : p->setting;
        ft_fleet_part *q = &out->part[out->n_parts++];

        *q = (ft_fleet_part){
            .kind = p->kind->name,
            .device = p->kind->device,
            .setting = ft__arena_strndup(&r->fleet->arena, setting, strlen(setting)),
            .error = p->error,
            .enough = ft__fleet_is_enough(r, p)};
        count_ops(q, p);
        count_jobs(q, r, k);
        quarantined += q->quarantined;
    }
    out->node = calloc(quarantined + 1, sizeof(*out->node));
    FT__EACH_JOB(&r->batches, b, j)
        if (out->node && ft__fleet_is_out(r, j))
            add_node(out, r, j);
    return out->part && out->node ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "a report");
}

void ft_fleet_report_free(ft_fleet_report *r)
{
    free(r->part);
    free(r->node);
    *r = (ft_fleet_report){0};
}
