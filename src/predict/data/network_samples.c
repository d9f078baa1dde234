/* Networks that were measured whole, out of a store, with the graphs of their
 * operations.
 */
#include "predict/data/network_samples.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/pairs.h"
#include "foretell/names.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"

uint64_t ft__op_key(const ft_op *op)
{
    ft_op key = ft__forward_of(op);

    key.layout = FT_LAYOUT_PLAIN;
    key.in_place = 0;
    return ft__op_hash(&key);
}

/* Is it the forward or the backward pass of a training step? */
static bool is_half_step(const ft__network_sample *w, const char *setting)
{
    size_t len;
    const char *mode = ft__pair(setting, "mode", &len);

    return (mode && len == 8 && memcmp(mode, "training", 8) == 0 &&
            strcmp(w->phase, ft_name(FT_NAMES_PHASE, FT_PHASE_FORWARD)) == 0) ||
           strcmp(w->phase, ft_name(FT_NAMES_PHASE, FT_PHASE_BACKWARD)) == 0;
}

struct member_listing {
    const ft__network_sample *w;
    const char *engine; /* that it was measured with */
    ft__buf text;
    char *source; /* the first that lists it, or the engine */
    bool bad;     /* no memory */
};

static int take_member(void *user, const ft_member *m)
{
    struct member_listing *l = user;

    if (strcmp(m->phase, l->w->phase) != 0 || !(m->count >= 0.5))
        return 0;
    if (!l->source ||
        (strcmp(m->source, l->engine) == 0 && strcmp(l->source, l->engine) != 0)) {
        free(l->source);
        l->text.len = 0;
        l->source = strdup(m->source);
    }
    if (l->source && strcmp(l->source, m->source) == 0)
        ft__buf_fmt(&l->text, "%s *%.0f\n", m->part, m->count);
    l->bad = !l->source || l->text.bad;
    return l->bad;
}

/* From the members of the store, those that the engine runs before what others list; *g
 * stays NULL where it has none. */
static ft_status list_members(ft_graph **g, ft_store *store,
                              const ft__network_sample *w, const char *engine,
                              ft_error *err)
{
    struct member_listing l = {.w = w, .engine = engine};
    ft_status st = ft_store_each_member(store, NULL, w->spec, take_member, &l, err);

    if (!st && l.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "operations of %s", w->spec);
    if (!st && l.text.len)
        st = ft_import_ops(g, l.text.s, l.text.len, w->spec, err);
    free(l.source);
    ft__buf_free(&l.text);
    return st;
}

static double batch_of(const char *spec)
{
    const char *x = strstr(spec, " x=");

    return x ? (double)strtoll(x + 3, NULL, 10) : NAN;
}

/* A list for another batch: everything is proportional to it, where it fills the
 * device. */
static void take_batch(ft__network_sample *w, double batch)
{
    const double times = batch / batch_of(w->spec);

    if (isfinite(batch))
        for (int m = 0; m < FT__N_METRICS; m++)
            w->value[m] *= times > 0 && isfinite(times) ? times : NAN;
}

static ft_status take_parts(ft__network_sample *w, const ft_graph *g, ft_error *err)
{
    w->n_regressors = g->n_ops;
    w->part = calloc(w->n_regressors + 1, sizeof(*w->part));
    if (!w->part)
        return ft_fail(err, FT_ENOMEM, 0, "operations of %s", w->spec);
    for (uint32_t i = 0; i < w->n_regressors; i++)
        w->part[i] = ft__op_key(&g->op[i]);
    qsort(w->part, w->n_regressors, sizeof(*w->part), ft__by_number);
    return FT_OK;
}

static ft_status find_graph(ft__network_sample *w, ft_store *store, const char *engine,
                            ft_networks_find find, void *user, ft_error *err)
{
    ft_network_list list = {.batch = NAN};
    ft_status st = find ? find(user, &list, w->spec, w->phase, err) : FT_OK;

    if (!st && !list.graph)
        st = list_members(&list.graph, store, w, engine, err);
    if (!st && list.graph)
        st = take_parts(w, list.graph, err);
    if (!st && list.graph)
        st = ft__graph_lower(&w->graph, list.graph, FT_POLICY_STRIDED_VIEWS, err);
    ft_graph_free(list.graph);
    take_batch(w, list.batch);
    snprintf(w->architecture, sizeof(w->architecture), "%s",
             *list.architecture ? list.architecture : w->name);
    return st;
}

struct networks_reading {
    ft__network_samples *out;
    const char *where;
    double *value; /* of the whole and metric that are being read */
    size_t n_values;
    ft_status st;
};

static ft__network_sample *network_of(ft__network_samples *w, const ft_key *k)
{
    uint32_t dataset = ft__dataset_of(&w->dataset, &w->n_datasets, k, k->setting, true);
    const char *name;
    size_t len = 0;
    ft__network_sample *v;

    if (dataset == UINT32_MAX)
        return NULL;
    for (size_t i = w->n; i > 0; i--) {
        v = &w->v[i - 1];
        if (v->dataset == dataset && strcmp(v->spec, k->spec) == 0 &&
            strcmp(v->phase, k->phase) == 0)
            return v;
    }
    v = realloc(w->v, (w->n + 1) * sizeof(*v));
    if (!v)
        return NULL;
    w->v = v;
    v += w->n++;
    *v = (ft__network_sample){.spec = strdup(k->spec),
                              .phase = strdup(k->phase),
                              .dataset = dataset,
                              .error = NAN};
    for (int m = 0; m < FT__N_METRICS; m++)
        v->value[m] = NAN;
    name = ft__pair(k->spec, "name", &len);
    snprintf(v->name, sizeof(v->name), "%.*s", name ? (int)len : INT_MAX,
             name ? name : k->spec);
    return v->spec && v->phase ? v : NULL;
}

static int take_row(void *user, const ft_row *row)
{
    struct networks_reading *r = user;
    ft__metric m = ft__metric_from_name(row->key.metric);
    ft__network_sample *w;

    if ((m != FT__METRIC_TIME && m != FT__METRIC_ENERGY) ||
        strncmp(row->key.spec, "network ", 8) != 0 || !(row->m.value > 0) ||
        !ft__where_has(r->where, &row->key))
        return 0;
    w = network_of(r->out, &row->key);
    if (!w) {
        r->st = FT_ENOMEM;
        return 1;
    }
    w->value[m] = row->m.value;
    if (m == FT__METRIC_TIME)
        w->error = row->m.error / row->m.value;
    return 0;
}

static void network_free(ft__network_sample *w)
{
    free(w->spec);
    free(w->phase);
    ft_graph_free(w->graph);
    free(w->part);
}

static void keep_usable(ft__network_samples *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].graph && w->v[i].value[FT__METRIC_TIME] > 0)
            w->v[n++] = w->v[i];
        else
            network_free(&w->v[i]);
    w->n = n;
}

static int by_content(const void *a, const void *b)
{
    const ft__network_sample *x = a, *y = b;
    int order = strcmp(x->spec, y->spec);

    return order ? order : strcmp(x->phase, y->phase);
}

static int by_dataset(const void *a, const void *b)
{
    return ft__dataset_order(a, b);
}

/* By dataset, spec and phase, whatever the order of the store. */
static ft_status put_in_order(ft__network_samples *w, ft_error *err)
{
    ft__network_sample *all = calloc(w->n + 1, sizeof(*all));
    ft__dataset *set = calloc(w->n_datasets + 1u, sizeof(*set));
    size_t n = 0;

    if (!all || !set) {
        free(all);
        free(set);
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", w->n);
    }
    for (uint32_t d = 0; d < w->n_datasets; d++)
        set[d] = w->dataset[d];
    qsort(set, w->n_datasets, sizeof(*set), by_dataset);
    for (uint32_t d = 0; d < w->n_datasets; d++) {
        size_t first = n;

        for (size_t i = 0; i < w->n; i++)
            if (w->dataset[w->v[i].dataset].device == set[d].device) {
                all[n] = w->v[i];
                all[n++].dataset = d;
            }
        qsort(all + first, n - first, sizeof(*all), by_content);
    }
    free(w->v);
    free(w->dataset);
    w->v = all;
    w->dataset = set;
    return FT_OK;
}

static ft_status list_all(ft__network_samples *out, ft_store *store, const char *where,
                          ft_error *err)
{
    struct networks_reading r = {.out = out, .where = where ? where : ""};
    ft_status st = ft__where_check(r.where, err);

    if (!st)
        st = ft_store_each(store, NULL, 1, take_row, &r, err);
    return !st && r.st ? ft_fail(err, r.st, 0, "networks of the store") : st;
}

static ft_status know_device(ft__dataset *d, const char *data_dir, ft_error *err)
{
    ft_error none = {0};
    ft_status st = ft_device_load(&d->file, data_dir, d->device, &none);

    return !st || st == FT_ENOTFOUND || st == FT_EIO
               ? FT_OK
               : ft_fail(err, st, none.pos, "%s", none.msg);
}

ft_status ft__network_samples_read(ft__network_samples *out, ft_store *store,
                                   const char *where, ft_networks_find find, void *user,
                                   const char *data_dir, ft_error *err)
{
    ft_status st;

    *out = (ft__network_samples){0};
    st = list_all(out, store, where, err);
    for (uint32_t i = 0; i < out->n_datasets && !st && data_dir; i++)
        st = know_device(&out->dataset[i], data_dir, err);
    for (size_t i = 0; i < out->n && !st; i++)
        if (!is_half_step(&out->v[i], out->dataset[out->v[i].dataset].setting))
            st = find_graph(&out->v[i], store, out->dataset[out->v[i].dataset].engine,
                            find, user, err);
    if (!st)
        keep_usable(out);
    if (!st)
        st = put_in_order(out, err);
    if (st)
        ft__network_samples_free(out);
    return st;
}

void ft__network_samples_free(ft__network_samples *w)
{
    for (size_t i = 0; i < w->n; i++)
        network_free(&w->v[i]);
    for (uint32_t i = 0; i < w->n_datasets; i++)
        ft__dataset_free(&w->dataset[i]);
    free(w->dataset);
    free(w->v);
    *w = (ft__network_samples){0};
}
