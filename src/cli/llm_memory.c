/* Memory of a server of a language model, beside the largest batch that fits. */
#include "cli/llm_memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/record.h"
#include "report/units.h"

ft_status ft__server_memory_ask(ft__server_memory *out, const ft_query *q,
                                double memory_bytes, ft_error *err)
{
    ft_status st;

    *out = (ft__server_memory){.limits = FT_LLM_LIMITS_INIT};
    if (!(memory_bytes > 0))
        return FT_OK;
    out->limits.context = 4096;
    out->limits.concurrency = q->batch > 0 ? (uint64_t)q->batch : 1;
    for (size_t i = 0; i < q->n_dims; i++)
        if (strcmp(q->dims[i].name, "context") == 0)
            out->limits.context = (uint64_t)q->dims[i].value;
    st = ft_llm_memory_ask(&out->memory, q, memory_bytes, &out->limits, err);
    out->known = !st;
    return st == FT_EINVAL ? FT_OK : st;
}

void ft__server_memory_print(const ft__server_memory *s)
{
    const ft_llm_memory *m = &s->memory;

    printf("a server's %s (90 %% of the device): weights %s, activations %s, libraries "
           "%s, ",
           ft__text_bytes(m->budget).s, ft__text_bytes(m->weights).s,
           ft__text_bytes(m->activations).s, ft__text_bytes(m->workspace).s);
    if (m->cache < 0) {
        printf("no cache: %s too little, most of it %s\n", ft__text_bytes(-m->cache).s,
               m->most);
        return;
    }
    printf("cache %s\nit holds %.0f tokens: %.2f requests of %" PRIu64
           " tokens, or %" PRIu64 " of %.0f\n",
           ft__text_bytes(m->cache).s, floor(m->tokens), m->requests, s->limits.context,
           s->limits.concurrency, m->longest);
}

json_t *ft__server_memory_json(const ft__server_memory *s)
{
    const ft_llm_memory *m = &s->memory;

    return ft__json("budget:g weights:g activations:g workspace:g cache:g tokens:g "
                    "context:u requests:g concurrency:u longest_context:g most:s",
                    m->budget, m->weights, m->activations, m->workspace, m->cache,
                    m->tokens, s->limits.context, m->requests, s->limits.concurrency,
                    m->longest, m->most);
}

double ft__cache_bytes(const ft_graph *g)
{
    bool *counted = calloc(g->n_tensors + 1, sizeof(*counted));
    double bytes = 0;

    for (uint32_t i = 0; counted && i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        const uint32_t at = n->n_out ? g->tensor[n->out[0]].storage : FT_NONE;

        if (at == FT_NONE || g->tensor[at].role != FT_ROLE_INPUT || counted[at] ||
            (strcmp(n->name, "cache") != 0 && strcmp(n->name, "state") != 0))
            continue;
        counted[at] = true;
        bytes += g->tensor[at].copies *
                 (double)ft_tensor_bytes(&g->tensor[at].shape, g->tensor[at].dtype);
    }
    free(counted);
    return bytes;
}
