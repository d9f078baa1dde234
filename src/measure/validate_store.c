/* What the store knows of networks measured whole, and in which datasets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "measure/validate.h"
#include "store/store_inside.h"

void ft_validated_free(ft_validated *v)
{
    free(v->kind);
    free(v->unpriced);
    free(v->round);
    free(v->reading);
    free(v->power);
    *v = (ft_validated){0};
}

/* Sums do not depend on the order of operations. */
size_t ft__network_spec(const ft_graph *g, char *buf, size_t size)
{
    uint64_t id = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft__validate_runs(&g->op[i]))
            id += ft__op_hash(&g->op[i]) * (2 * g->op_count[i] + 1);
    return (size_t)snprintf(buf, size, "network id=%016llx name=%.200s",
                            (unsigned long long)id, g->name);
}

/* ---- what the store knows of the network itself ---- */

static void take_row(ft_figure *f, const ft_row *row, const char *why)
{
    if (row->id && isfinite(row->m.value))
        *f = (ft_figure){.value = row->m.value, .sigma = row->m.error};
    else
        ft__figure_unknown(f, why);
}

/* The network's name is not part of what it is: of all rows that begin alike. */
enum { ID_LENGTH = sizeof("network id=0123456789abcdef ") - 1 };

struct store_search {
    ft_row row;
    const char *metric; /* how it begins; NULL: the key says all of it */
    const char *spec;
};

static int keep_if_same(void *user, const ft_row *row)
{
    struct store_search *s = user;

    if (strncmp(row->key.spec, s->spec, ID_LENGTH) == 0 &&
        (!s->metric || strncmp(row->key.metric, s->metric, strlen(s->metric)) == 0) &&
        (!s->row.id || row->taken_at >= s->row.taken_at))
        s->row = *row;
    return 0;
}

static ft_status network_row(ft_row *row, ft__validation *k, const char *metric,
                             ft_error *err)
{
    struct store_search s = {.spec = k->spec};
    ft_key key = k->base;
    ft_status st;

    key.metric = metric;
    st = ft_store_each(k->store, &key, 1, keep_if_same, &s, err);
    *row = s.row;
    return st;
}

/* Watts as they were read: of the whole, or of the meter's first domain. */
static ft_status read_power(ft_validated *out, ft__validation *k, ft_error *err)
{
    struct store_search s = {.spec = k->spec, .metric = "power:"};
    ft_row power;
    ft_status st = network_row(&power, k, "power", err);

    if (!st && power.id)
        st = ft__store_readings(k->store, power.id, &out->power, &out->n_power, err);
    if (st || !power.id || out->n_power)
        return st;
    free(out->power);
    out->power = NULL;
    st = ft_store_each(k->store, &k->base, 1, keep_if_same, &s, err);
    if (!st && s.row.id)
        st = ft__store_readings(k->store, s.row.id, &out->power, &out->n_power, err);
    return st;
}

ft_status ft__validate_network_rows(ft_validated *out, ft__validation *k, ft_error *err)
{
    ft_row time, memory, energy;
    ft_status st = network_row(&time, k, "time", err);

    if (!st)
        st = network_row(&memory, k, "memory", err);
    if (!st)
        st = network_row(&energy, k, "energy", err);
    if (!st)
        st = read_power(out, k, err);
    if (st)
        return st;
    take_row(&out->measured[FT_QUANTITY_TIME], &time, "not measured whole");
    take_row(&out->measured[FT_QUANTITY_MEMORY], &memory, "not measured whole");
    take_row(&out->measured[FT_QUANTITY_ENERGY], &energy,
             "the network's energy was not measured");
    if (time.id && !out->reading)
        st =
            ft__store_readings(k->store, time.id, &out->reading, &out->n_readings, err);
    return st;
}

void ft__validate_describe(ft_validated *out, const ft__validation *k)
{
    snprintf(out->name, sizeof(out->name), "%s", k->graph->name);
    snprintf(out->device, sizeof(out->device), "%s", k->base.device);
    snprintf(out->setting, sizeof(out->setting), "%s", k->base.setting);
    snprintf(out->engine, sizeof(out->engine), "%s", k->base.engine);
    snprintf(out->engine_version, sizeof(out->engine_version), "%s",
             k->base.engine_version);
    out->mode = k->graph->mode;
}

ft_status ft__validate_lower(ft__validation *k, const ft_graph *g, uint32_t policy,
                             bool planned, ft_error *err)
{
    ft_status st = ft__graph_lower(&k->lowered, g, policy, err);

    k->graph = g;
    k->policy = policy;
    k->planned = planned && g->mode == FT_MODE_INFERENCE;
    if (!st)
        ft__network_spec(k->lowered, k->spec, sizeof(k->spec));
    return st;
}

/* ---- from the store alone ---- */

/* A dataset in which the network was measured, and how its engine lowers. */
struct dataset {
    char device[128];
    char setting[64];
    char engine[32];
    char engine_version[32];
    uint32_t policy;
};

struct datasets {
    struct dataset *d;
    size_t n;
    const char *spec;
    uint32_t policy;
    bool no_memory;
};

static int keep_dataset(void *user, const ft_row *row)
{
    struct datasets *all = user;
    struct dataset d = {.policy = all->policy}, *grown;

    if (strncmp(row->key.spec, all->spec, ID_LENGTH) != 0)
        return 0;
    snprintf(d.device, sizeof(d.device), "%s", row->key.device);
    snprintf(d.setting, sizeof(d.setting), "%s", row->key.setting);
    snprintf(d.engine, sizeof(d.engine), "%s", row->key.engine);
    snprintf(d.engine_version, sizeof(d.engine_version), "%s", row->key.engine_version);
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->d[i].device, d.device) == 0 &&
            strcmp(all->d[i].setting, d.setting) == 0 &&
            strcmp(all->d[i].engine, d.engine) == 0 &&
            strcmp(all->d[i].engine_version, d.engine_version) == 0)
            return 0;
    grown = realloc(all->d, (all->n + 1) * sizeof(*grown));
    all->no_memory = !grown;
    if (grown) {
        all->d = grown;
        all->d[all->n++] = d;
    }
    return !grown;
}

/* The id is that of the lowered graph, so that it shows how the engine lowers. */
static const uint32_t policies[] = {0, FT_POLICY_CHANNELS_LAST,
                                    FT_POLICY_STRIDED_VIEWS};

static ft_status find_datasets(struct datasets *all, ft_store *store,
                               const ft_key *filter, const ft_graph *g, ft_error *err)
{
    ft_key key = *filter;
    char before[300] = "";
    ft_status st = FT_OK;

    key.metric = "time";
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies) && !st; i++) {
        ft__validation k = {0};

        st = ft__validate_lower(&k, g, policies[i], true, err);
        all->spec = k.spec;
        all->policy = policies[i];
        if (!st && strcmp(before, k.spec) != 0)
            st = ft_store_each(store, &key, 1, keep_dataset, all, err);
        snprintf(before, sizeof(before), "%s", k.spec);
        ft_graph_free(k.lowered);
        all->spec = NULL; /* it was k's */
    }
    if (!st && all->no_memory)
        st = ft_fail(err, FT_ENOMEM, 0, "datasets");
    if (!st && !all->n)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "%s was not measured whole in any dataset that fits; foretell "
                     "validate without --from-store measures it",
                     g->name);
    return st;
}

static ft_status look_up(ft_validated *out, const struct dataset *d, ft_store *store,
                         const ft_graph *g, const ft_validate_options *opt,
                         ft_error *err)
{
    ft__validation k = {.store = store,
                        .opt = opt,
                        .stored = true,
                        .base = {.device = d->device,
                                 .setting = d->setting,
                                 .engine = d->engine,
                                 .engine_version = d->engine_version}};
    ft_status st = ft__validate_lower(&k, g, d->policy,
                                      !(d->policy & FT_POLICY_STRIDED_VIEWS), err);

    ft__validate_describe(out, &k);
    if (!st)
        st = ft__validate_network_rows(out, &k, err);
    if (!st)
        st = ft__validate_price(out, &k, NAN, err);
    ft_graph_free(k.lowered);
    return st;
}

ft_status ft_validate_stored(ft_validated **out, size_t *n, ft_store *store,
                             const ft_key *filter, const ft_graph *g,
                             const ft_validate_options *opt, ft_error *err)
{
    struct datasets all = {0};
    ft_status st = find_datasets(&all, store, filter, g, err);

    *n = 0;
    *out = st ? NULL : calloc(all.n, sizeof(**out));
    if (!st && !*out)
        st = ft_fail(err, FT_ENOMEM, 0, "datasets");
    for (size_t i = 0; i < all.n && !st; i++) {
        st = look_up(&(*out)[i], &all.d[i], store, g, opt, err);
        *n = i + 1;
    }
    if (st && *out) {
        while (*n)
            ft_validated_free(&(*out)[--*n]);
        free(*out);
        *out = NULL;
    }
    free(all.d);
    return st;
}
