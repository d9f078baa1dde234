/* What is wanted of a kind of device, what is known of it, and what the rest costs. */
#include "fleet/want.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "decide/choose.h"
#include "foretell/engine.h"
#include "foretell/evaluate.h"
#include "foretell/settings.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"

/* An operation is given up after so many jobs that ended without it, or that died. */
enum { MOST_TRIES = 3, MOST_DEATHS = 10 };
/* Measuring: passes of an operation at least, how much longer than --op-time with
 * warm-up and calibrations, preparing. */
static const double passes = 7, beside = 1.3, prepare_s = 0.02;

/* ---- a part ---- */

ft_status ft__part_make(ft__part *out, const ft_fleet *f, size_t kind, size_t clock,
                        size_t index, ft_error *err)
{
    const ft__fleet_kind *k = &f->kind[kind];
    const ft_settings s = {.core_clock_hz = k->clock_hz[clock]};
    int len;

    *out = (ft__part){.kind = k,
                      .n_kind = kind,
                      .index = index,
                      .clock_hz = k->clock_hz[clock],
                      .name = ft__part_name_of(k, k->clock_hz[clock]),
                      .error = NAN};
    snprintf(out->engine, sizeof(out->engine), "%.*s", (int)strcspn(k->engine, ","),
             k->engine);
    len = snprintf(out->setting, sizeof(out->setting), "threads=%u", k->threads);
    if (!isnan(s.core_clock_hz)) {
        out->setting[len++] = ' ';
        (void)ft_settings_print(&s, out->setting + len,
                                sizeof(out->setting) - (size_t)len);
    }
    return *out->engine ? FT_OK
                        : ft_fail(err, FT_EFORMAT, 0, "kind %s: its engine has no name",
                                  k->name);
}

void ft__part_free(ft__part *p)
{
    free(p->op);
    *p = (ft__part){0};
}

bool ft__op_given_up(const ft__wanted_op *o)
{
    return isnan(o->log_ratio) &&
           (o->refused || o->tries >= MOST_TRIES || o->deaths >= MOST_DEATHS);
}

bool ft__op_missing(const ft__wanted_op *o)
{
    return isnan(o->log_ratio) && !o->submitted && !ft__op_given_up(o);
}

/* ---- what is wanted ---- */

static ft_status add_graph(ft__part *p, const ft_graph *g, ft_error *err)
{
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ft_op *op = &g->op[i];
        ft__wanted_op *grown;

        if (ft_kind_class(op->kind) == FT_CLASS_VIEW || op->kind == FT_KIND_generic)
            continue;
        grown = ft__list_grow(p->op, p->n_ops, &p->cap, sizeof(*grown));
        if (!grown)
            return ft_fail(err, FT_ENOMEM, 0, "%zu operations", p->n_ops);
        p->op = grown;
        p->op[p->n_ops] = (ft__wanted_op){.op = *op, .count = (double)g->op_count[i]};
        ft__op_lower(&p->op[p->n_ops].op, p->policy);
        p->op[p->n_ops].hash = ft__op_hash(&p->op[p->n_ops].op);
        p->n_ops++;
    }
    return FT_OK;
}

static ft_status add_model(ft__part *p, const ft__fleet_wanted *w, int64_t batch,
                           ft_error *err)
{
    const ft_step_names names = {.mode = w->mode, .optimizer = w->optimizer};
    ft_query q = FT_QUERY_INIT;
    ft_graph *g = NULL, *lowered = NULL;
    ft_error why;
    ft_step step;
    ft_status st = ft_step_read(&step, &names, &why);

    q.model = w->model;
    q.batch = batch;
    q.dtype = w->dtype;
    if (!st)
        st = ft_query_import(&g, &q, &why);
    if (!st)
        st = ft_step_lower(&lowered, g, p->policy, &step, &why);
    /* What the file of the fleet asks for is a mistake in it. */
    if (st)
        st = ft_fail(err, st == FT_EINVAL || st == FT_ENEEDED ? FT_EFORMAT : st, 0,
                     "wanted: %s: %s", w->model, why.msg);
    if (!st)
        st = add_graph(p, lowered ? lowered : g, err);
    ft_graph_free(lowered);
    ft_graph_free(g);
    return st;
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = ((const ft__wanted_op *)a)->hash,
                   y = ((const ft__wanted_op *)b)->hash;

    return (x > y) - (x < y);
}

static void make_unique(ft__part *p)
{
    const size_t n = p->n_ops;

    if (n)
        qsort(p->op, n, sizeof(*p->op), by_hash);
    p->n_ops = 0;
    for (size_t i = 0; i < n; i++) {
        if (p->n_ops && p->op[p->n_ops - 1].hash == p->op[i].hash)
            p->op[p->n_ops - 1].count += p->op[i].count;
        else
            p->op[p->n_ops++] = p->op[i];
    }
}

/* How the engine runs graphs: as measurements with it say, or the engine itself where
 * it is here; a kind's first jobs are to say it otherwise. */
static ft_status find_policy(bool *known, uint32_t *policy, const ft__part *p,
                             ft_store *store, const ft_fleet_options *opt,
                             ft_error *err)
{
    char fact[128], path[PATH_MAX];
    const ft_engine *e;
    double v;
    ft_status st;

    snprintf(fact, sizeof(fact), "policy:%s", p->engine);
    st = ft_store_fact(store, p->kind->device, fact, &v, err);
    *known = !st && v >= 0;
    *policy = *known ? (uint32_t)v : 0;
    snprintf(path, sizeof(path), "%.4000s/ft_%s.so",
             opt->plugin_dir ? opt->plugin_dir : "", p->engine);
    if (!st && !*known && opt->plugin_dir && !ft_engine_load(&e, path, NULL)) {
        *known = true;
        *policy = e->policy;
    }
    return st;
}

ft_status ft__part_gather(ft__part *p, const ft_fleet *f, ft_store *store,
                          const ft_fleet_options *opt, ft_error *err)
{
    bool known = p->lowered;
    uint32_t policy = p->policy;
    ft_status st = FT_OK;

    if (!known)
        st = find_policy(&known, &policy, p, store, opt, err);
    if (st || (p->op && known == p->lowered))
        return st;
    p->lowered = known;
    p->policy = policy;
    p->n_ops = 0;
    for (size_t i = 0; i < f->n_wanted && !st; i++)
        for (size_t b = 0; b < f->wanted[i].n_batches && !st; b++)
            if (f->wanted[i].of_kind[p->n_kind])
                st = add_model(p, &f->wanted[i], f->wanted[i].batch[b], err);
    make_unique(p);
    return st;
}

/* ---- what is known ---- */

static ft__wanted_op *find(const ft__part *p, const char *spec)
{
    ft__wanted_op at;

    if (!p->n_ops || ft_op_parse(&at.op, spec, strlen(spec), NULL))
        return NULL;
    at.hash = ft__op_hash(&at.op);
    return bsearch(&at, p->op, p->n_ops, sizeof(at), by_hash);
}

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
    ft__wanted_op *o = is_of_part(p, &row->key) ? find(p, row->key.spec) : NULL;

    if (o && row->m.value > 0)
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

    o->refused = o->refused || refused;
    if (why)
        snprintf(o->why, sizeof(o->why), "%.*s", (int)strcspn(why, "\n"), why);
}

/* What the job was to do, and did not: a line an operation. */
static void take_job(ft__part *p, const ft__fleet_batch *b, size_t i)
{
    const ft__fleet_job *j = &b->job[i];
    char *list = ft__job_text(b, i, "list.ops"), *rest = list, *line, *log = NULL;

    while (list && (line = strtok_r(rest, "\n", &rest))) {
        ft__wanted_op *o = *line == '#' ? NULL : find(p, line);

        if (!o || !isnan(o->log_ratio))
            continue;
        if (j->state < FT__JOB_MERGED) {
            o->submitted = true;
        } else if (j->state == FT__JOB_MERGED && j->died) {
            o->deaths++;
        } else if (j->state == FT__JOB_MERGED) {
            log = log ? log : ft__job_text(b, i, "log");
            o->tries++;
            take_reason(o, log, line);
        }
    }
    free(log);
    free(list);
}

ft_status ft__part_refresh(ft__part *p, ft_store *store, const ft__fleet_batch *list,
                           size_t n, ft_error *err)
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

        *o = (ft__wanted_op){.op = o->op,
                             .count = o->count,
                             .hash = o->hash,
                             .time_s = o->time_s,
                             .log_ratio = NAN};
    }
    st = ft_store_each(store, &filter, true, take_row, p, err);
    for (size_t b = 0; b < n && !st; b++)
        for (size_t i = 0; i < list[b].n_jobs && list[b].part == p->index; i++)
            take_job(p, &list[b], i);
    return st;
}

/* ---- what it costs ---- */

static double cost_of(const ft__part *p, double time_s)
{
    return fmax(p->kind->op_seconds * beside, passes * time_s) + prepare_s;
}

/* Times of those that are missing, by the product's own answer; false: there is none,
 * as of a device without a file. */
static bool predict_times(ft__part *p, const ft_fleet_options *opt)
{
    ft_query q = FT_QUERY_INIT;
    ft_answer *a = NULL;
    ft__buf text = {0};
    ft_error why;
    char spec[2048];

    if (!opt->data)
        return false;
    for (size_t i = 0; i < p->n_ops; i++) {
        ft_op_print(&p->op[i].op, spec, sizeof(spec));
        if (ft__op_missing(&p->op[i]))
            ft__buf_fmt(&text, "%s\n", spec);
    }
    q.model = "missing";
    q.list = text.s;
    q.list_len = text.len;
    q.device = p->kind->device;
    if (!text.bad && text.len && !ft_query_ask(&a, opt->data, &q, &why))
        for (uint32_t i = 0; i < a->n_ops; i++) {
            ft__wanted_op *o = find(p, a->op[i]->spec);

            if (o && a->op[i]->time.value > 0)
                o->time_s = a->op[i]->time.value;
        }
    ft_answer_free(a);
    ft__buf_free(&text);
    return a != NULL;
}

void ft__part_costs(ft__part *p, const ft_fleet_options *opt)
{
    bool new = false;

    for (size_t i = 0; i < p->n_ops; i++)
        new = new || (ft__op_missing(&p->op[i]) && !(p->op[i].time_s > 0));
    if (new)
        (void)predict_times(p, opt);
    for (size_t i = 0; i < p->n_ops; i++) {
        ft__wanted_op *o = &p->op[i];

        if (!(o->time_s > 0))
            o->time_s = ft__choosing_work(&o->op);
        o->cost_s = cost_of(p, o->time_s);
    }
}

/* ---- which next ---- */

/* How far errors of one part say something of another's: the correlation of their
 * logarithms of time over work, over operations that both know. 0: of too few. */
static double alike(const ft__part *a, const ft__part *b)
{
    enum { LEAST = 16 };
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

    for (size_t i = 0, j = 0; i < a->n_ops && j < b->n_ops;) {
        const double u = a->op[i].log_ratio, v = b->op[j].log_ratio;

        if (a->op[i].hash != b->op[j].hash) {
            a->op[i].hash < b->op[j].hash ? i++ : j++;
            continue;
        }
        if (!isnan(u) && !isnan(v)) {
            n++, x += u, y += v, xx += u * u, yy += v * v, xy += u * v;
        }
        i++, j++;
    }
    xx -= x * x / n, yy -= y * y / n, xy -= x * y / n;
    return n >= LEAST && xx > 0 && yy > 0 ? fmax(0, xy / sqrt(xx * yy)) : 0;
}

/* Of the deviation of each of p's operations, what other parts leave unknown of it. */
static void learn_of_others(double *left, const ft__part *p, const ft__part *all,
                            size_t n_parts)
{
    for (size_t i = 0; i < p->n_ops; i++)
        left[i] = 1;
    for (size_t k = 0; k < n_parts; k++) {
        const double r = &all[k] == p ? 0 : alike(p, &all[k]);
        const double unknown = sqrt(fmax(0, 1 - r * r));

        for (size_t i = 0, j = 0; r > 0 && i < p->n_ops && j < all[k].n_ops;) {
            const ft__wanted_op *o = &all[k].op[j];

            if (p->op[i].hash == o->hash && (!isnan(o->log_ratio) || o->submitted))
                left[i] = fmin(left[i], unknown);
            p->op[i].hash < o->hash ? i++ : j++;
        }
    }
}

struct candidates {
    const ft__part *part;
    size_t *at; /* of the part's operations */
    size_t n;
};

/* As many as can be chosen among: those that are missing first, spread over all. */
static void take_candidates(struct candidates *c)
{
    const ft__part *p = c->part;
    size_t of[2] = {0}, seen[2] = {0}, room[2];

    for (size_t i = 0; i < p->n_ops; i++)
        of[!ft__op_missing(&p->op[i])]++;
    room[0] = of[0] < FT__MOST_CHOOSABLE ? of[0] : FT__MOST_CHOOSABLE;
    room[1] = FT__MOST_CHOOSABLE - room[0];
    room[1] = of[1] < room[1] ? of[1] : room[1];
    for (size_t i = 0; i < p->n_ops; i++) {
        const size_t k = !ft__op_missing(&p->op[i]), s = seen[k]++;

        if (s * room[k] / of[k] != (s + 1) * room[k] / of[k])
            c->at[c->n++] = i;
    }
}

static bool may_be_next(const void *user, size_t i)
{
    const struct candidates *c = user;

    return ft__op_missing(&c->part->op[c->at[i]]);
}

/* Which operations are hard to predict, by everything measured of this fleet's devices.
 * Without it the choice goes by what operations are. */
static void learn_errors(ft__choosing *c, const ft__part *all, size_t n_parts,
                         ft_store *store, const ft_fleet_options *opt)
{
    ft__samples s = {0};
    ft__buf where = {0};
    uint32_t *row = NULL;
    ft_error why;
    ft_status st;

    for (size_t k = 0; k < n_parts; k++)
        ft__buf_fmt(&where, "%s%s", k ? "," : "device=", all[k].kind->device);
    st = where.bad ? FT_ENOMEM : ft__samples_read(&s, store, NULL, where.s, &why);
    if (!st)
        st = ft__samples_know(&s, opt->data_dir, &why);
    if (!st)
        row = calloc(s.n + 1, sizeof(*row));
    for (size_t i = 0; row && i < s.n; i++)
        row[i] = (uint32_t)i;
    if (row && s.n >= FT__FIRST_LEARNED)
        (void)ft__choosing_learn(c, &s, row, s.n, 1, &why);
    free(row);
    ft__samples_free(&s);
    ft__buf_free(&where);
}

static void take_chosen(size_t *chosen, size_t *n, ft__choosing *choosing,
                        const struct candidates *c, double most_s, size_t most)
{
    double sum_s = 0;

    *n = 0;
    while (*n < most && sum_s < most_s) {
        const size_t i = ft__choosing_next(choosing, may_be_next, c);

        if (i == choosing->n)
            break;
        ft__choosing_know(choosing, i);
        chosen[(*n)++] = c->at[i];
        sum_s += c->part->op[c->at[i]].cost_s;
    }
}

ft_status ft__fleet_choose(size_t *chosen, size_t *n, const ft__part *p,
                           const ft__part *all, size_t n_parts, ft_store *store,
                           double most_s, size_t most, const ft_fleet_options *opt,
                           ft_error *err)
{
    struct candidates c = {.part = p, .at = calloc(p->n_ops + 1, sizeof(*c.at))};
    double *left = calloc(p->n_ops + 1, sizeof(*left));
    double *weight = calloc(FT__MOST_CHOOSABLE, sizeof(*weight));
    ft_op *ops = calloc(FT__MOST_CHOOSABLE, sizeof(*ops));
    ft__choosing choosing = {0};
    ft_status st = FT_OK;

    *n = 0;
    if (!c.at || !left || !weight || !ops) {
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", p->n_ops);
        goto done;
    }
    take_candidates(&c);
    learn_of_others(left, p, all, n_parts);
    for (size_t i = 0; i < c.n; i++) {
        ops[i] = p->op[c.at[i]].op;
        weight[i] = p->op[c.at[i]].count * left[c.at[i]];
    }
    st = ft__choosing_make(&choosing, ops, weight, c.n, FT_CRITERION_ACTIVE, 1, err);
    for (size_t i = 0; i < c.n && !st; i++)
        if (!may_be_next(&c, i))
            ft__choosing_know(&choosing, i);
    if (!st) {
        learn_errors(&choosing, all, n_parts, store, opt);
        take_chosen(chosen, n, &choosing, &c, most_s, most);
    }
    ft__choosing_free(&choosing);
done:
    free(c.at);
    free(left);
    free(weight);
    free(ops);
    return st;
}

/* ---- how good it is ---- */

ft_status ft__part_judge(ft__part *p, ft_store *store, const ft_fleet_options *opt,
                         ft_error *err)
{
    enum { FIRST = 40 };
    ft_evaluate_options how = {.protocol = FT_PROTOCOL_FOLDS,
                               .data_dir = opt->data_dir,
                               .seed = 1,
                               .threads = 1};
    size_t known = 0;
    ft_evaluation e;
    char where[512];
    ft_status st;

    for (size_t i = 0; i < p->n_ops; i++)
        known += isnan(p->op[i].log_ratio) ? 0 : 1;
    if (known < FIRST || known < p->judged + p->judged / 4 || known == p->judged)
        return FT_OK;
    p->judged = known;
    snprintf(where, sizeof(where), "device=%s engine=%s %s", p->kind->device, p->engine,
             *p->held ? p->held : p->setting);
    how.where = where;
    st = ft_evaluate(&e, store, NULL, &how, err);
    if (st)
        return st == FT_ENOTFOUND ? FT_OK : st;
    p->error = e.all.learned.mape;
    ft_evaluation_free(&e);
    return FT_OK;
}
