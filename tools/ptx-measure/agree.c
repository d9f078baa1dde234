#include "agree.h"

#include "ptx/ptx_inside.h"
#include <string.h>

/* Memory is somewhere aligned, as the driver gives it. */
typedef struct given {
    ft_ptx_arg arg[LAUNCH_PARAMS];
    uint64_t address[LAUNCH_PARAMS];
    ft_ptx_launch launch;
} given;

static void give(given *g, const launch *l)
{
    memset(g, 0, sizeof(*g));
    for (uint32_t i = 0; i < l->n_args; i++) {
        const argument *a = &l->arg[i];

        g->address[i] = ((uint64_t)(i + 1) << 40) + a->offset;
        g->arg[i] = (ft_ptx_arg){.index = i, .bytes = a->bytes, .size = a->size};
        if (a->memory)
            g->arg[i].bytes = &g->address[i];
    }
    g->launch = (ft_ptx_launch){.kernel = l->kernel,
                                .dynamic_shared = l->shared,
                                .arg = g->arg,
                                .n_args = l->n_args};
    memcpy(g->launch.grid, l->grid, sizeof(l->grid));
    memcpy(g->launch.block, l->block, sizeof(l->block));
}

static void compare(agreement *out, uint32_t line, uint64_t threads,
                    const ft_ptx_block *counted, size_t n)
{
    const ft_ptx_block *c = NULL;

    for (size_t i = 0; !c && i < n; i++)
        if (counted[i].line == line)
            c = &counted[i];
    if (!c && !threads)
        return;
    if (!c)
        out->unknown++;
    else if (threads < c->thread.low || threads > c->thread.high)
        out->outside++;
    else if (c->thread.low == c->thread.high)
        out->same++;
    else
        out->within++;
    if ((out->unknown || out->outside) && !out->line)
        out->line = line;
}

ft_status blocks_agree(agreement *out, const blocks *b, const uint64_t *threads,
                       const ft_ptx *m, const launch *l, ft_error *err)
{
    ft__ptx_parts counted;
    ft__ptx_counter *c = NULL;
    ft_ptx_counts counts;
    given g;
    ft_status st = ft__ptx_counter_new(&c, m, err);

    memset(out, 0, sizeof(*out));
    give(&g, l);
    st = st ? st : ft__ptx_count(&counts, &counted, c, &g.launch, err);
    for (uint32_t i = 0; !st && i < b->n; i++)
        compare(out, b->at[i].line, threads[(size_t)i * b->per], counted.block,
                counted.n_blocks);
    ft__ptx_counter_free(c);
    return st;
}
