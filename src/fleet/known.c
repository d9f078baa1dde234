/* What the store and the jobs say of what is wanted, and what the rest costs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/choose.h"
#include "fleet/want.h"

/* Measuring: passes of an operation at least, how much longer than --op-time with
 * warm-up and calibrations, preparing. */
static const double passes = 7, beside = 1.3, prepare_s = 0.02;

static bool is_of_part(const ft__part *p, const ft_key *key)
{
    const char *dtypes = strstr(p->kind->engine, "tf32=1") ? "tf32" : "default";

    return strcmp(key->dtype_policy, dtypes) == 0 &&
           (strcmp(key->setting, p->setting) == 0 ||
            strcmp(key->setting, p->held) == 0);
}

static int take_row(void *user, const ft_row *row)
{
    const ft__part *p = user;
    ft__wanted_op *o =
        is_of_part(p, &row->key) ? ft__part_find(p, row->key.spec) : NULL;

    if (o && row->m.value > 0)
        o->known = true;
    if (o && row->m.value > 0 && o->what == FT__OPERATION)
        o->log_ratio = log(row->m.value / ft__choosing_work(&o->op));
    return 0;
}

/* What the collection says of an operation that it did not measure, "failed: SPEC:
 * why"; NULL: nothing. */
static const char *said_of(const char *log, const char *words, const char *spec)
{
    const size_t len = strlen(spec);

    for (const char *at = log; at && (at = strstr(at, words));) {
        at += strlen(words);
        if (strncmp(at, spec, len) == 0 && at[len] == ':')
            return at + len + 1 + (at[len + 1] == ' ');
    }
    return NULL;
}

static void take_reason(ft__wanted_op *o, const char *log, const char *spec)
{
    const char *refused = said_of(log, "not run by the engine: ", spec);
    const char *why = refused ? refused : said_of(log, "failed: ", spec);

    why = why ? why : said_of(log, "not run whole: ", spec);
    o->refused = o->refused || refused;
    if (why)
        snprintf(o->why, sizeof(o->why), "%.*s", (int)strcspn(why, "\n"), why);
}

/* What the job was to do, and did not: a line an operation; and what all of it took. */
static void take_job(ft__part *p, const ft__fleet_job *j)
{
    char *list = ft__job_text(j->folder, "list.ops"), *rest = list, *line, *log = NULL;
    double planned_s = NAN;

    if (list)
        (void)sscanf(list, FT__PLANNED_LINE("%lf"), &planned_s);
    while (list && (line = strtok_r(rest, "\n", &rest))) {
        ft__wanted_op *o = strncmp(line, FT__TEXT_LINE, strlen(FT__TEXT_LINE)) == 0
                               ? ft__part_named(p, line + strlen(FT__TEXT_LINE))
                               : ft__part_find(p, line);

        if (!o || o->known)
            continue;
        planned_s = NAN;
        if (j->state < FT__JOB_MERGED) {
            o->submitted = true;
        } else if (j->state == FT__JOB_MERGED && j->died) {
            o->deaths++;
        } else if (j->state == FT__JOB_MERGED) {
            log = log ? log : ft__job_text(j->folder, "log");
            o->tries++;
            take_reason(o, log, o->text ? o->text : line);
        }
    }
    if (j->state == FT__JOB_MERGED && !j->died && planned_s > 0) {
        p->planned_s += planned_s;
        p->took_s += j->ended_s - j->began_s;
        p->n_took++;
    }
    free(log);
    free(list);
}

ft_status ft__part_refresh(ft__part *p, const ft_fleet *f, ft_store *store,
                           const ft__batches *list, ft_error *err)
{
    const ft_key filter = {.device = p->kind->device,
                           .setting = "",
                           .engine = p->engine,
                           .engine_version = "",
                           .spec = "",
                           .phase = "",
                           .dtype_policy = "",
                           .metric = "time"};
    ft_status st;

    for (size_t i = 0; i < p->n_ops; i++) {
        ft__wanted_op *o = &p->op[i];

        o->known = o->refused = o->submitted = false;
        o->tries = o->deaths = 0;
        o->why[0] = '\0';
        o->log_ratio = NAN;
    }
    p->planned_s = p->took_s = 0;
    p->n_took = 0;
    st = ft_store_each(store, &filter, true, take_row, p, err);
    if (!st)
        st = ft__part_points(p, false, f, store, err);
    FT__EACH_JOB(list, b, j)
        if (j->part == p->index && !st)
            take_job(p, j);
    return st;
}

/* What a job takes over what was planned of it: by those there were, and one that took
 * as long as planned. */
double ft__part_took(const ft__part *p)
{
    const double one_s = p->planned_s / (double)p->n_took;

    return p->planned_s > 0 ? (p->took_s + one_s) / (p->planned_s + one_s) : 1;
}

/* Times of those that have become missing, by the product's own answer, where there is
 * one. */
static void predict_times(ft__part *p, const ft_fleet_options *opt)
{
    ft_query q = FT_QUERY_INIT;
    ft_answer *a = NULL;
    ft__buf text = {0};
    ft_error why;
    char spec[2048];

    for (size_t i = 0; i < p->n_ops; i++) {
        if (p->op[i].what != FT__OPERATION || !ft__op_missing(&p->op[i]) ||
            p->op[i].time_s > 0)
            continue;
        ft_op_print(&p->op[i].op, spec, sizeof(spec));
        ft__buf_fmt(&text, "%s\n", spec);
    }
    q.model = "missing";
    q.list = text.s;
    q.list_len = text.len;
    q.device = p->kind->device;
    if (opt->data && !text.bad && text.len && !ft_query_ask(&a, opt->data, &q, &why))
        for (uint32_t i = 0; i < a->n_ops; i++) {
            ft__wanted_op *o = ft__part_find(p, a->op[i]->spec);

            if (o && a->op[i]->time.value > 0)
                o->time_s = a->op[i]->time.value;
        }
    ft_answer_free(a);
    ft__buf_free(&text);
}

void ft__part_costs(ft__part *p, const ft_fleet_options *opt)
{
    predict_times(p, opt);
    for (size_t i = 0; i < p->n_ops; i++) {
        ft__wanted_op *o = &p->op[i];

        if (!(o->time_s > 0) && o->what == FT__OPERATION)
            o->time_s = ft__choosing_work(&o->op);
        o->cost_s =
            o->what == FT__POINT
                ? o->runs * p->kind->op_seconds
                : fmax(p->kind->op_seconds * beside, passes * o->time_s) + prepare_s;
    }
}
