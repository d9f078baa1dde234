/* One network cut over several devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/place.h"
#include "query/select.h"

struct split_owner {
    ft_split_answer a; /* what callers see */
    ft_graph *imported;
    ft_graph *lowered;
    ft__selection found[FT_PLACE_MAX_DEVICES];
    char why[1000];
};

void ft_split_free(ft_split_answer *a)
{
    struct split_owner *s = (struct split_owner *)a;

    if (!s)
        return;
    ft_graph_free(s->lowered);
    ft_graph_free(s->imported);
    free(s);
}

static ft_status find_device(ft__place_device *out, struct split_owner *s, size_t i,
                             ft_data *d, const ft_query *asked, const ft_graph *g,
                             const ft_place_options *opt, ft_error *err)
{
    ft__selection *found = &s->found[i];
    ft_query q = *asked;
    ft_status st;

    q.device = opt->device[i];
    st = ft__select(found, d, &q, g, err);
    if (!st && found->by == FT_ANSWERED_BY_DEVICE)
        st =
            ft_fail(err, FT_EINVAL, 0,
                    "%s: parts are placed by predictors for families of devices, or by "
                    "specifications",
                    found->device);
    s->a.device[i] = found->device;
    *out = (ft__place_device){.predictor = found->source.predictor,
                              .use = found->source.on,
                              .limit_bytes = found->limit_bytes,
                              .link_bytes_per_s = opt->link_bytes_per_s,
                              .link_latency_s = opt->link_latency_s,
                              .link_j_per_byte = opt->link_j_per_byte};
    return st;
}

/* That nothing fits is an answer, unless no way can be predicted. */
static bool is_predictable(const ft__place_device *device, size_t n, const ft_graph *g)
{
    uint32_t cut[FT_PLACE_MAX_DEVICES + 1] = {0};
    ft_split s;

    for (size_t d = 1; d <= n; d++)
        cut[d] = g->n_nodes;
    return !ft__place_at(&s, device, n, g, cut, NULL);
}

static ft_status place(struct split_owner *s, const ft__place_device *device,
                       const ft_graph *g, ft_place_by by, ft_error *err)
{
    const size_t n = s->a.n_devices;
    ft_error why = {0};
    ft_status st = ft__place_split(&s->a.best, s->a.alone, device, n, g, by, &why);

    s->a.graph = g;
    s->a.why = s->why;
    if (st == FT_ENOTFOUND && is_predictable(device, n, g)) {
        snprintf(s->why, sizeof(s->why), "%s", why.msg);
        return FT_OK;
    }
    return st ? ft_fail(err, st, why.pos, "%s", why.msg) : FT_OK;
}

static ft_status ask(struct split_owner *s, ft_data *d, const ft_query *q,
                     const ft_place_options *opt, ft_error *err)
{
    ft__place_device device[FT_PLACE_MAX_DEVICES];
    const ft_graph *g = q->graph;
    ft_step step;
    ft_status st = ft__query_step(&step, q, err);

    if (!st && !g) {
        st = ft_query_import(&s->imported, q, err);
        g = s->imported;
    }
    s->a.n_devices = opt->n_devices;
    for (size_t i = 0; i < opt->n_devices && !st; i++)
        st = find_device(&device[i], s, i, d, q, g, opt, err);
    if (!st)
        st = ft_step_lower(&s->lowered, g, FT_POLICY_STRIDED_VIEWS, &step, err);
    return st ? st : place(s, device, s->lowered ? s->lowered : g, opt->by, err);
}

ft_status ft_place_split(ft_split_answer **out, ft_data *d, const ft_query *asked,
                         const ft_place_options *opt, ft_error *err)
{
    struct split_owner *s = calloc(1, sizeof(*s));
    ft_query q;
    ft_status st =
        s ? ft__query_read(&q, asked, err) : ft_fail(err, FT_ENOMEM, 0, "placing");

    *out = NULL;
    if (!st && (opt->n_devices == 0 || opt->n_devices > FT_PLACE_MAX_DEVICES))
        st = ft_fail(err, FT_EINVAL, 0, "from 1 to %d devices", FT_PLACE_MAX_DEVICES);
    if (!st)
        st = ask(s, d, &q, opt, err);
    if (st)
        ft_split_free(s ? &s->a : NULL);
    else
        *out = &s->a;
    return st;
}
