#include "predict/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "base/stats.h"

ft_op ft__part_key(const ft_op *op)
{
    ft_op key = *op;

    key.layout = FT_LAYOUT_PLAIN;
    key.in_place = 0;
    key.wrt = 0;
    if (op->phase != FT_PHASE_OPTIMIZER)
        key.phase = FT_PHASE_FORWARD;
    return key;
}

/* ---- parts ---- */

/* A counter beside a layer, on the device for convenience; measured with the layer. */
static bool is_counter(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    return op->dtype == FT_DTYPE_int64 && x.rank && ft_shape_elements(&x) == 1;
}

static ft__piece *part_of(ft__whole *w, const ft_op *op)
{
    ft_op key = ft__part_key(op);
    ft__piece *p;

    for (size_t i = 0; i < w->n_parts; i++)
        if (ft_op_equal(&w->part[i].op, &key))
            return &w->part[i];
    p = realloc(w->part, (w->n_parts + 1) * sizeof(*p));
    if (!p)
        return NULL;
    w->part = p;
    p += w->n_parts++;
    *p = (ft__piece){.op = key, .relaid = op->layout != FT_LAYOUT_PLAIN};
    return p;
}

static ft_status add_part(ft__whole *w, const ft_op *op, double count, ft_error *err)
{
    ft__piece *p;

    if (ft_kind_class(op->kind) == FT_CLASS_VIEW || is_counter(op) || !(count > 0))
        return FT_OK;
    p = part_of(w, op);
    if (!p)
        return ft_fail(err, FT_ENOMEM, 0, "operations of %s", w->spec);
    if (op->phase == FT_PHASE_BACKWARD && ft_op_wrt(op) == FT_WRT_WEIGHTS)
        p->weights_only += count;
    else if (op->phase == FT_PHASE_BACKWARD)
        p->backward += count;
    else
        p->count += count;
    if (op->phase == FT_PHASE_FORWARD_BACKWARD || op->phase == FT_PHASE_STEP)
        p->backward += count;
    return FT_OK;
}

static ft_status add_graph(ft__whole *w, const ft_graph *g, ft_error *err)
{
    bool step = strcmp(w->phase, ft_phase_name(FT_PHASE_STEP)) == 0;
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < ft_graph_n_ops(g) && !st; i++) {
        const ft_op *op = ft_graph_op(g, i);

        if (op->phase != FT_PHASE_OPTIMIZER || step)
            st = add_part(w, op, (double)ft_graph_op_count(g, i), err);
    }
    return st;
}

bool ft__whole_of_step(const ft__whole *w, const char *setting)
{
    size_t len;
    const char *mode = ft__pair(setting, "mode", &len);

    return (mode && len == 8 && memcmp(mode, "training", 8) == 0 &&
            strcmp(w->phase, ft_phase_name(FT_PHASE_FORWARD)) == 0) ||
           strcmp(w->phase, ft_phase_name(FT_PHASE_BACKWARD)) == 0;
}

struct adding {
    ft__whole *w;
    bool of_step; /* its phase alone, of the list of a training step */
    char *source; /* the first that lists it */
    ft_status st;
    ft_error *err;
};

static int take_member(void *user, const ft_member *m)
{
    struct adding *a = user;
    ft_op op;

    if (strcmp(m->phase, a->of_step ? ft_phase_name(FT_PHASE_FORWARD_BACKWARD)
                                    : a->w->phase) != 0)
        return 0;
    if (!a->source)
        a->source = strdup(m->source);
    if (!a->source)
        a->st = ft_fail(a->err, FT_ENOMEM, 0, "operations of %s", m->whole);
    else if (strcmp(a->source, m->source) == 0) {
        a->st = ft_op_parse(&op, m->part, strlen(m->part), a->err);
        if (!a->st &&
            (!a->of_step || strcmp(ft_phase_name(op.phase), a->w->phase) == 0))
            a->st = add_part(a->w, &op, m->count, a->err);
    }
    return a->st != FT_OK;
}

static ft_status take_members(ft__whole *w, ft_store *store, bool of_step,
                              ft_error *err)
{
    struct adding a = {.w = w, .of_step = of_step, .err = err};
    ft_status st = ft_store_each_member(store, NULL, w->spec, take_member, &a, err);

    free(a.source);
    return st ? st : a.st;
}

static ft_status find_parts(ft__whole *w, const char *setting, ft_store *store,
                            ft__graph_of graph_of, void *user, ft_error *err)
{
    ft_graph *g = NULL;
    ft_status st = FT_OK;

    if (graph_of)
        st = graph_of(user, &g, w->spec, w->phase, err);
    if (!st && g)
        st = add_graph(w, g, err);
    ft_graph_free(g);
    if (!st && !w->n_parts && ft__whole_of_step(w, setting))
        st = take_members(w, store, true, err);
    if (!st && !w->n_parts)
        st = take_members(w, store, false, err);
    return st;
}

/* ---- wholes ---- */

struct reading {
    ft__wholes *out;
    const char *where;
    double *value; /* of the whole and metric that are being read */
    size_t n_values;
    ft_status st;
};

static bool same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static uint32_t dataset_of(ft__wholes *w, const ft_key *k)
{
    ft__dataset *d;

    for (uint32_t i = w->n_datasets; i > 0; i--) {
        d = &w->dataset[i - 1];
        if (same_text(d->device, k->device) && same_text(d->setting, k->setting) &&
            same_text(d->policy, k->dtype_policy) && same_text(d->engine, k->engine) &&
            same_text(d->engine_version, k->engine_version))
            return i - 1;
    }
    d = realloc(w->dataset, (w->n_datasets + 1) * sizeof(*d));
    if (!d)
        return UINT32_MAX;
    w->dataset = d;
    d += w->n_datasets++;
    *d = (ft__dataset){.device = strdup(k->device),
                       .setting = strdup(k->setting),
                       .engine = strdup(k->engine),
                       .engine_version = strdup(k->engine_version),
                       .policy = strdup(k->dtype_policy)};
    return d->device && d->setting && d->engine && d->engine_version && d->policy
               ? w->n_datasets - 1
               : UINT32_MAX;
}

static ft__whole *whole_of(ft__wholes *w, const ft_key *k)
{
    uint32_t dataset = dataset_of(w, k);
    ft__whole *v;

    if (dataset == UINT32_MAX)
        return NULL;
    for (size_t i = w->n; i > 0; i--) {
        v = &w->v[i - 1];
        if (v->dataset == dataset && same_text(v->spec, k->spec) &&
            same_text(v->phase, k->phase))
            return v;
    }
    v = realloc(w->v, (w->n + 1) * sizeof(*v));
    if (!v)
        return NULL;
    w->v = v;
    v += w->n++;
    *v = (ft__whole){.spec = strdup(k->spec),
                     .phase = strdup(k->phase),
                     .dataset = dataset,
                     .time_s = NAN,
                     .energy_j = NAN};
    return v->spec && v->phase ? v : NULL;
}

static int take_row(void *user, const ft_row *row)
{
    struct reading *r = user;
    ft__metric m = ft__metric_from_name(row->key.metric);
    ft__whole *w;

    if ((m != FT__METRIC_TIME && m != FT__METRIC_ENERGY) ||
        strncmp(row->key.spec, "network ", 8) != 0 || !(row->m.value > 0) ||
        !ft__where_has(r->where, &row->key))
        return 0;
    w = whole_of(r->out, &row->key);
    if (!w) {
        r->st = FT_ENOMEM;
        return 1;
    }
    if (m == FT__METRIC_TIME)
        w->time_s = row->m.value;
    else
        w->energy_j = row->m.value;
    return 0;
}

/* Those without a time or without operations are left out. */
static void keep_usable(ft__wholes *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].time_s > 0 && w->v[i].n_parts) {
            ft__whole v = w->v[i];

            w->v[i] = w->v[n];
            w->v[n++] = v;
        }
    while (w->n > n) {
        ft__whole *v = &w->v[--w->n];

        free(v->spec);
        free(v->phase);
        free(v->part);
    }
}

ft_status ft__wholes_list(ft__wholes *out, ft_store *store, const char *where,
                          ft_error *err)
{
    struct reading r = {.out = out, .where = where ? where : ""};
    ft_status st;

    *out = (ft__wholes){0};
    st = ft__where_check(r.where, err);
    if (!st)
        st = ft_store_each(store, NULL, 1, take_row, &r, err);
    if (!st && r.st)
        st = ft_fail(err, r.st, 0, "networks of the store");
    if (st)
        ft__wholes_free(out);
    return st;
}

ft_status ft__wholes_read(ft__wholes *out, ft_store *store, const char *where,
                          ft__graph_of graph_of, void *user, ft_error *err)
{
    ft_status st = ft__wholes_list(out, store, where, err);

    for (size_t i = 0; i < out->n && !st; i++)
        st = find_parts(&out->v[i], out->dataset[out->v[i].dataset].setting, store,
                        graph_of, user, err);
    if (st)
        ft__wholes_free(out);
    else
        keep_usable(out);
    return st;
}

void ft__wholes_free(ft__wholes *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->v[i].spec);
        free(w->v[i].phase);
        free(w->v[i].part);
    }
    for (uint32_t i = 0; i < w->n_datasets; i++) {
        free(w->dataset[i].device);
        free(w->dataset[i].setting);
        free(w->dataset[i].engine);
        free(w->dataset[i].engine_version);
        free(w->dataset[i].policy);
        ft_device_free(w->dataset[i].file);
    }
    free(w->dataset);
    free(w->v);
    *w = (ft__wholes){0};
}
