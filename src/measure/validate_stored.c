/* A network looked up in a store, in all datasets in which it was measured whole. */
#include "measure/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dataset in which the network was measured, and how its engine lowers. */
struct dataset {
    char device[128], setting[64], engine[32], engine_version[32];
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

    if (strncmp(row->key.spec, all->spec, FT__NETWORK_ID_LENGTH) != 0)
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
static const uint32_t policies[] = {0, FT_POLICY_CHANNELS_LAST, FT_POLICY_STRIDED_VIEWS,
                                    FT_POLICY_FUSED};

static ft_status find_datasets(struct datasets *all, ft_store *store,
                               const ft_key *filter, const ft_graph *g, ft_error *err)
{
    ft_key key = *filter;
    char before[300] = "";
    ft_status st = FT_OK;

    key.metric = "time";
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies) && !st; i++) {
        ft__validation k = {0};

        st = ft__validation_lower(&k, g, policies[i], true, err);
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
    ft_status st = ft__validation_lower(&k, g, d->policy,
                                        !(d->policy & FT_POLICY_STRIDED_VIEWS), err);

    ft__validation_describe(out, &k);
    if (!st)
        st = ft__validation_measured(out, &k, err);
    if (!st)
        st = ft__validation_price(out, &k, NAN, err);
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
