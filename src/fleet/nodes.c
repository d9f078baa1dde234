/* What jobs brought: merged, or not where their node is far from the others of its
 * kind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "fleet/run.h"
#include "graph/graph_inside.h"

/* What a kind's nodes are compared by: probes that take this long, of so many nodes. */
static const double steady_s = 5e-5;
enum { LEAST_NODES = 3 };

struct job_rows {
    const ft__part *part;
    ft__fleet_job *job;
    char device[128]; /* as the node calls it */
    char setting[256];
    size_t n;
};

static int take_job_row(void *user, const ft_row *row)
{
    struct job_rows *rows = user;
    const double v = row->m.value;
    ft_op op;

    rows->n++;
    snprintf(rows->device, sizeof(rows->device), "%s", row->key.device);
    snprintf(rows->setting, sizeof(rows->setting), "%s", row->key.setting);
    if (strcmp(row->key.metric, "time") != 0 ||
        ft_op_parse(&op, row->key.spec, strlen(row->key.spec), NULL))
        return 0;
    for (uint32_t i = 0; i < FT__N_PROBES; i++) {
        ft_op probe = ft__probe(i);

        ft__op_lower(&probe, rows->part->policy);
        if (ft_op_equal(&probe, &op) && isnan(rows->job->probe_s[i]))
            rows->job->probe_s[i] = v;
    }
    return 0;
}

/* *from NULL: it left none that can be read. */
static void open_job(ft_store **from, struct job_rows *rows, const ft__part *p,
                     ft__fleet_job *j)
{
    char path[PATH_MAX];
    ft_error why;

    *rows = (struct job_rows){.part = p, .job = j};
    ft__job_path(path, j->folder, "store.db");
    if (ft_store_open(from, path, FT_STORE_MERGE, &why))
        *from = NULL;
    if (*from && ft_store_each(*from, NULL, false, take_job_row, rows, &why)) {
        ft_store_close(*from);
        *from = NULL;
    }
    j->measured = true;
}

static ft_status merge(ft__fleet_run *r, ft__fleet_job *j, ft_error *err)
{
    ft__part *p = &r->part[j->part];
    struct job_rows rows;
    char text[1200];
    ft_store *from;
    ft_error why;
    ft_status st = FT_OK;

    open_job(&from, &rows, p, j);
    if (from) {
        const ft_rename same = {rows.device, p->kind->device};
        const ft_merge_options how = {
            .renames = &same, .n_renames = rows.n ? 1 : 0, .same_devices = true};
        ft_merge_report done;

        st = ft_store_merge(&done, r->store, &from, 1, &how, &why);
        ft_store_close(from);
        if (rows.n)
            snprintf(p->held, sizeof(p->held), "%s", rows.setting);
    }
    /* A store that is damaged is no reason to stop the others. */
    if (st == FT_EFORMAT || st == FT_EINVAL) {
        snprintf(text, sizeof(text), "its store cannot be merged: %s\n", why.msg);
        j->state = FT__JOB_QUARANTINED;
        return ft__job_note(j->folder, "quarantined", text, err);
    }
    if (st)
        return ft_fail(err, st, 0, "%s", why.msg);
    snprintf(text, sizeof(text), "rows=%zu\ndevice=%s\n%s%s%sended=%.0f\n", rows.n,
             rows.device, rows.n ? "setting=" : "", rows.setting, rows.n ? "\n" : "",
             j->ended_s);
    st = ft__job_note(j->folder, "merged", text, err);
    j->state = FT__JOB_MERGED;
    return st;
}

/* Nodes whose probes are far from the median of their kind's. */
struct nodes {
    const ft__fleet_job **last; /* of each node, the last job */
    size_t n;
};

static ft_status list_nodes(struct nodes *out, ft__fleet_run *r, size_t part,
                            ft_error *err)
{
    size_t most = 1;

    FT__EACH_JOB(&r->batches, b, j)
        most++;
    *out = (struct nodes){.last = calloc(most, sizeof(*out->last))};
    if (!out->last)
        return ft_fail(err, FT_ENOMEM, 0, "%zu jobs", most);
    FT__EACH_JOB(&r->batches, b, j) {
        struct job_rows rows;
        ft_store *from = NULL;
        size_t k = 0;

        if (j->part != part || j->state < FT__JOB_OVER)
            continue;
        if (!j->measured)
            open_job(&from, &rows, &r->part[part], j);
        ft_store_close(from);
        if (isnan(j->probe_s[FT__PROBE_PEAK]))
            continue;
        while (k < out->n && strcmp(out->last[k]->node, j->node) != 0)
            k++;
        out->last[k] = j;
        out->n += k == out->n;
    }
    return FT_OK;
}

/* By how much the worst of its probes differs, signed; which one in *probe. */
static double deviation(const ft__fleet_job *j, const struct nodes *nodes,
                        uint32_t *probe)
{
    double most = 0, v[256];

    for (uint32_t i = 0; i < FT__N_PROBES; i++) {
        size_t n = 0;
        double usual, d;

        for (size_t k = 0; k < nodes->n && n < sizeof(v) / sizeof(*v); k++)
            if (!isnan(nodes->last[k]->probe_s[i]))
                v[n++] = nodes->last[k]->probe_s[i];
        usual = ft__median(v, n);
        d = j->probe_s[i] / usual - 1;
        if (usual >= steady_s && fabs(d) > fabs(most)) {
            most = d;
            *probe = i;
        }
    }
    return most;
}

/* It is quarantined, or over as before. */
static ft_status judge_job(ft__fleet_run *r, const struct nodes *nodes,
                           ft__fleet_job *j, ft_error *err)
{
    const double limit = r->fleet->calibration;
    uint32_t probe = 0;
    const double d = nodes->n < LEAST_NODES ? 0 : deviation(j, nodes, &probe);
    char spec[512], text[1024];
    ft_op op = ft__probe(probe);

    if (fabs(d) <= limit)
        return FT_OK;
    ft_op_print(&op, spec, sizeof(spec));
    snprintf(text, sizeof(text),
             "%s takes %.1f %% %s there than the median of %zu nodes of %s; up to %.3g "
             "%% are allowed\n",
             spec, 100 * fabs(d), d > 0 ? "longer" : "less", nodes->n,
             r->part[j->part].kind->name, 100 * limit);
    ft__log(r->opt->log, FT_LOG_WARN, "node %s is quarantined: %.*s", j->node,
            (int)strcspn(text, "\n"), text);
    j->state = FT__JOB_QUARANTINED;
    return ft__job_note(j->folder, "quarantined", text, err);
}

bool ft__fleet_has_open(const ft__fleet_run *r, size_t part)
{
    FT__EACH_JOB(&r->batches, b, j)
        if (j->part == part && j->state < FT__JOB_OVER)
            return true;
    return false;
}

ft_status ft__fleet_merge(size_t *merged, ft__fleet_run *r, size_t part, ft_error *err)
{
    struct nodes nodes = {0};
    ft_status st = FT_OK;
    size_t over = 0;

    FT__EACH_JOB(&r->batches, b, j)
        over += j->part == part && j->state == FT__JOB_OVER;
    if (!over)
        return FT_OK;
    st = list_nodes(&nodes, r, part, err);
    if (!st && nodes.n < LEAST_NODES && ft__fleet_has_open(r, part))
        over = 0;
    FT__EACH_JOB(&r->batches, b, j) {
        if (j->part != part || j->state != FT__JOB_OVER || !over || st)
            continue;
        st = judge_job(r, &nodes, j, err);
        if (!st && j->state == FT__JOB_OVER)
            st = merge(r, j, err);
        ++*merged;
    }
    free(nodes.last);
    return st;
}

bool ft__fleet_is_out(const ft__fleet_run *r, const ft__fleet_job *of)
{
    FT__EACH_JOB(&r->batches, b, j) {
        if (j->state == FT__JOB_QUARANTINED && strcmp(j->node, of->node) == 0 &&
            r->part[j->part].kind == r->part[of->part].kind)
            return j == of;
    }
    return false;
}

void ft__fleet_excluded(ft__buf *out, const ft__fleet_run *r,
                        const ft__fleet_kind *kind)
{
    FT__EACH_JOB(&r->batches, b, j)
        if (r->part[j->part].kind == kind && *j->node && ft__fleet_is_out(r, j))
            ft__buf_fmt(out, "%s%s", out->len ? "," : "", j->node);
}
