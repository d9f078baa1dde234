/* Members of networks in a store -> networks as hashes of their operations. */
#include "evaluate/listed_networks.h"

#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "graph/op_inside.h"
#include "predict/data/sample.h"

struct members {
    ft__listed_networks *out;
    const char *only;
    ft_status st;
    ft_error err;
};

static ft__network_ops *network_of(ft__listed_networks *n, const char *name, size_t len)
{
    ft__network_ops *v;

    if (len >= sizeof(v->name))
        len = sizeof(v->name) - 1;
    for (uint32_t i = n->n; i > 0; i--)
        if (strncmp(n->v[i - 1].name, name, len) == 0 && !n->v[i - 1].name[len])
            return &n->v[i - 1];
    v = realloc(n->v, (n->n + 1) * sizeof(*v));
    if (!v)
        return NULL;
    n->v = v;
    v += n->n++;
    *v = (ft__network_ops){0};
    memcpy(v->name, name, len);
    return v;
}

static bool add_hash(ft__network_ops *v, uint64_t hash)
{
    uint64_t *grown;

    /* Room grows at powers of two. */
    if ((v->n & (v->n - 1)) == 0) {
        grown = realloc(v->hash, (v->n ? 2 * v->n : 1) * sizeof(*grown));
        if (!grown)
            return false;
        v->hash = grown;
    }
    v->hash[v->n++] = hash;
    return true;
}

static int take_member(void *user, const ft_member *m)
{
    struct members *r = user;
    size_t len;
    const char *name = ft__pair(m->whole, "name", &len);
    ft__network_ops *v;
    ft_op op;

    if (!name || (r->only && (strlen(r->only) != len || memcmp(r->only, name, len))))
        return 0;
    /* Parts that are no operation of ours were not measured as one either. */
    if (ft_op_parse(&op, m->part, strlen(m->part), NULL))
        return 0;
    v = network_of(r->out, name, len);
    if (v && add_hash(v, ft__op_hash(&op)))
        return 0;
    r->st = ft_fail(&r->err, FT_ENOMEM, 0, "networks");
    return 1;
}

ft_status ft__listed_networks_read(ft__listed_networks *out, ft_store *store,
                                   const char *only, ft_error *err)
{
    struct members r = {.out = out, .only = only};
    ft_status st;

    *out = (ft__listed_networks){0};
    st = ft_store_each_member(store, NULL, NULL, take_member, &r, err);
    if (!st && r.st) {
        st = r.st;
        if (err)
            *err = r.err;
    }
    for (uint32_t i = 0; i < out->n; i++)
        qsort(out->v[i].hash, out->v[i].n, sizeof(uint64_t), ft__by_number);
    return st;
}

void ft__listed_networks_free(ft__listed_networks *n)
{
    for (uint32_t i = 0; i < n->n; i++)
        free(n->v[i].hash);
    free(n->v);
    *n = (ft__listed_networks){0};
}

bool ft__network_has(const ft__network_ops *n, uint64_t hash)
{
    return n->n && bsearch(&hash, n->hash, n->n, sizeof(hash), ft__by_number) != NULL;
}
