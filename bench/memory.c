/* The memory that a model is predicted to need, by part, as one line of JSON, and
 * how long each stage took: memory FILE OPTIMIZER [BATCH [explain]].
 *
 * As PyTorch runs it on the CPU. OPTIMIZER `inference`: no training; `none`:
 * training without one. BATCH 0: as in the file. `explain` lists the largest tensors
 * that are alive at the peak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "foretell/graph.h"
#include "foretell/names.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"

static const char *const optimizers[] = {"none", "sgd", "momentum", "adam", "adamw"};

static int optimizer_of(const char *name)
{
    for (int i = 0; i < (int)(sizeof(optimizers) / sizeof(*optimizers)); i++)
        if (!strcmp(optimizers[i], name))
            return i;
    return 0;
}

static uint32_t last_use(const ft_graph *g, uint32_t storage)
{
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        const ft_node *n = &g->node[i];

        for (uint32_t j = 0; j < n->n_in; j++)
            if (g->tensor[n->in[j]].storage == storage)
                return i;
    }
    return 0;
}

static void describe(const ft_graph *g, uint32_t node)
{
    const ft_node *n = &g->node[node];
    char spec[512];

    ft_op_print(&g->op[n->op], spec, sizeof(spec));
    printf("node %u %s: %s (%s)\n", node, n->name, spec, n->scope);
}

/* What nodes have made and later ones read; Python's hold on arguments is not
 * looked at. */
static void explain(const ft_graph *g, const ft_memory *m)
{
    printf("peak at ");
    describe(g, m->peak_node);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];
        uint32_t last = last_use(g, i);

        if (t->storage != i || t->role == FT_ROLE_WEIGHT || t->role == FT_ROLE_STATE ||
            t->producer == FT_NONE || t->producer > m->peak_node ||
            (last < m->peak_node && !t->is_output))
            continue;
        printf("%10.3f MiB until %u of ",
               (double)ft_tensor_bytes(&t->shape, t->dtype) / 1048576, last);
        describe(g, t->producer);
    }
}

static int fail(const ft_error *err)
{
    fprintf(stderr, "%s\n", err->msg);
    return 3;
}

int main(int argc, char **argv)
{
    ft_memory_policy policy = {FT_POLICY_EAGER | FT_POLICY_CPU_SCRATCH};
    ft_import_options opt = {0};
    ft_step_options how = {.optimizer = FT_OPTIMIZER_NONE, .loss = FT_LOSS_AUTO};
    ft_graph *g, *next;
    ft_memory m;
    ft_plan plan;
    ft_error err;
    double start, imported, trained, counted, planned;

    if (argc < 3) {
        fprintf(stderr, "usage: %s FILE OPTIMIZER [BATCH [explain]]\n", argv[0]);
        return 2;
    }
    opt.batch = argc > 3 ? atoll(argv[3]) : 0;
    start = ft__now_s();
    if (ft__import_file(&g, argv[1], &opt, &err))
        return fail(&err);
    imported = ft__now_s();
    if (strcmp(argv[2], "inference") != 0) {
        how.optimizer = (ft_optimizer)optimizer_of(argv[2]);
        if (ft__graph_train(&next, g, &how, &err))
            return fail(&err);
        ft_graph_free(g);
        g = next;
    }
    trained = ft__now_s();
    if (ft__graph_lower(&next, g, FT_POLICY_STRIDED_VIEWS, &err))
        return fail(&err);
    ft_graph_free(g);
    g = next;
    if (ft_memory_make(&m, g, &policy, &err))
        return fail(&err);
    counted = ft__now_s();
    if (ft_plan_make(&plan, g, &err))
        return fail(&err);
    planned = ft__now_s();
    printf("{\"peak_bytes\": %.0f, \"parts\": {", (double)m.peak_bytes);
    for (int i = 0; i < FT_PART_COUNT; i++)
        printf("%s\"%s\": %.0f", i ? ", " : "", ft_name(FT_NAMES_PART, (ft_part)i),
               (double)m.part[i]);
    printf("}, \"two_largest_bytes\": %.0f, \"twice_mean_bytes\": %.0f, "
           "\"arena_bytes\": %.0f, \"lower_bound_bytes\": %.0f, \"nodes\": %u, "
           "\"import_ms\": %.3f, \"train_ms\": %.3f, \"memory_ms\": %.3f, "
           "\"plan_ms\": %.3f}\n",
           m.two_largest_bytes, m.twice_mean_bytes, (double)plan.arena_bytes,
           (double)plan.lower_bound_bytes, g->n_nodes, 1e3 * (imported - start),
           1e3 * (trained - imported), 1e3 * (counted - trained),
           1e3 * (planned - counted));
    if (argc > 4)
        explain(g, &m);
    ft_plan_free(&plan);
    ft_graph_free(g);
    return 0;
}
