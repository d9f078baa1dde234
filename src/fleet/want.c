/* What is wanted of a kind of device: operations as its engine runs them, networks
 * whole, points of explorations. */
#include "fleet/want.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/choose.h"
#include "foretell/engine.h"
#include "foretell/settings.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "measure/measure_inside.h"

/* It is given up after so many jobs that ended without it, or that died. */
enum { MOST_TRIES = 3, MOST_DEATHS = 10 };

ft_status ft__part_make(ft__part *out, const ft_fleet *f, size_t kind, size_t clock,
                        size_t index, ft_error *err)
{
    const ft__fleet_kind *k = &f->kind[kind];
    const ft_settings s = {.core_clock_hz = k->clock_hz[clock]};
    int len;

    *out = (ft__part){.kind = k,
                      .n_kind = kind,
                      .index = index,
                      .first = clock == 0,
                      .clock_hz = k->clock_hz[clock],
                      .error = NAN};
    snprintf(out->name, sizeof(out->name), "%.120s", k->name);
    snprintf(out->engine, sizeof(out->engine), "%.*s", (int)strcspn(k->engine, ","),
             k->engine);
    len = snprintf(out->setting, sizeof(out->setting), "threads=%u", k->threads);
    if (!isnan(s.core_clock_hz)) {
        snprintf(out->name, sizeof(out->name), "%.120s-%.9gMHz", k->name,
                 s.core_clock_hz / 1e6);
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
    ft__arena_free(&p->arena);
    *p = (ft__part){0};
}

bool ft__op_given_up(const ft__wanted_op *o)
{
    return !o->known &&
           (o->refused || o->tries >= MOST_TRIES || o->deaths >= MOST_DEATHS);
}

bool ft__op_missing(const ft__wanted_op *o)
{
    return !o->known && !o->submitted && !ft__op_given_up(o);
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = ((const ft__wanted_op *)a)->hash,
                   y = ((const ft__wanted_op *)b)->hash;

    return (x > y) - (x < y);
}

ft__wanted_op *ft__part_at(const ft__part *p, uint64_t hash)
{
    const ft__wanted_op at = {.hash = hash};

    return p->n_ops ? bsearch(&at, p->op, p->n_ops, sizeof(at), by_hash) : NULL;
}

ft__wanted_op *ft__part_named(const ft__part *p, const char *text)
{
    return ft__part_at(p, ft__hash_text(FT__HASH_BEGIN, text));
}

ft__wanted_op *ft__part_find(const ft__part *p, const char *spec)
{
    ft_op op;

    if (*spec == '#' || ft_op_parse(&op, spec, strlen(spec), NULL))
        return NULL;
    return op.kind == FT_KIND_network ? ft__part_named(p, spec)
                                      : ft__part_at(p, ft__op_hash(&op));
}

static ft_status add_op(ft__part *p, const ft__wanted_op *o, ft_error *err)
{
    ft__wanted_op *grown = ft__list_grow(p->op, p->n_ops, &p->cap, sizeof(*grown));

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", p->n_ops);
    p->op = grown;
    p->op[p->n_ops++] = *o;
    return FT_OK;
}

ft_status ft__part_add_text(ft__part *p, ft__wanted_op o, const ft__buf *text,
                            ft_error *err)
{
    o.text = text->bad ? NULL : ft__arena_strndup(&p->arena, text->s, text->len);
    if (!o.text)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", p->n_ops);
    o.hash = ft__hash_text(FT__HASH_BEGIN, o.text);
    return add_op(p, &o, err);
}

static ft_status add_graph(ft__part *p, const ft_graph *g, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < g->n_ops && !st; i++) {
        ft__wanted_op o = {.op = g->op[i], .count = (double)g->op_count[i]};

        if (ft_kind_class(o.op.kind) == FT_CLASS_VIEW || o.op.kind == FT_KIND_generic)
            continue;
        ft__op_lower(&o.op, p->policy);
        o.hash = ft__op_hash(&o.op);
        st = add_op(p, &o, err);
    }
    return st;
}

static ft_status add_network(ft__part *p, const ft__fleet_wanted *w, uint32_t batch,
                             const ft_graph *g, ft_error *err)
{
    ft__wanted_op o = {.what = FT__NETWORK, .of = w, .number = batch, .count = 1};
    ft__buf spec = {0};
    ft_status st;

    for (uint32_t i = 0; i < g->n_ops; i++)
        o.time_s += (double)g->op_count[i] * ft__choosing_work(&g->op[i]);
    ft__whole_spec(&spec, w->model, g);
    st = ft__part_add_text(p, o, &spec, err);
    ft__buf_free(&spec);
    return st;
}

static ft_status add_model(ft__part *p, const ft__fleet_wanted *w, uint32_t batch,
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
    if (!st && w->ops)
        st = add_graph(p, lowered ? lowered : g, err);
    if (!st && w->whole)
        st = add_network(p, w, batch, g, err);
    ft_graph_free(lowered);
    ft_graph_free(g);
    return st;
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
            if (f->wanted[i].of_kind[p->n_kind] && f->wanted[i].model)
                st = add_model(p, &f->wanted[i], f->wanted[i].batch[b], err);
    if (!st)
        st = ft__part_points(p, true, f, store, err);
    make_unique(p);
    return st;
}
