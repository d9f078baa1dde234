/* How long reading a model takes, then the derivation of a training step and the
 * exact memory of it, and how much memory that needs itself:
 * import [--train] FILE [dimension=N...]. Medians of 21 runs; the peak is that of
 * the whole process, so one file a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/stats.h"
#include "foretell/graph.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"

enum { RUNS = 21, MAX_DIMS = 16 };

typedef struct times {
    double read_s[RUNS], train_s[RUNS], memory_s[RUNS], plan_s[RUNS];
    unsigned nodes, step_nodes;
} times;

/* Memory by part and the plan of offsets: what `foretell predict` asks for. */
static ft_status measure_memory(const ft_graph *g, times *t, int run, ft_error *err)
{
    double start_s = ft__now_s();
    const ft_memory_policy policy = {0};
    ft_memory memory;
    ft_plan plan;
    ft_status st = ft_memory_make(&memory, g, &policy, err);

    t->memory_s[run] = ft__now_s() - start_s;
    start_s = ft__now_s();
    if (st == FT_OK)
        st = ft_plan_make(&plan, g, err);
    t->plan_s[run] = ft__now_s() - start_s;
    if (st == FT_OK)
        ft_plan_free(&plan);
    return st;
}

static ft_status measure_step(const ft_graph *g, times *t, int run, ft_error *err)
{
    const ft_step_options opt = {.optimizer = FT_OPTIMIZER_ADAM, .loss = FT_LOSS_AUTO};
    double start_s = ft__now_s();
    ft_graph *step;
    ft_status st = ft__graph_train(&step, g, &opt, err);

    t->train_s[run] = ft__now_s() - start_s;
    if (st)
        return st;
    t->step_nodes = step->n_nodes;
    st = measure_memory(step, t, run, err);
    ft_graph_free(step);
    return st;
}

static ft_status measure(const char *path, const ft_import_options *opt, int train,
                         times *t, int run, ft_error *err)
{
    double start_s = ft__now_s();
    ft_graph *g;
    ft_status st = ft__import_file(&g, path, opt, err);

    t->read_s[run] = ft__now_s() - start_s;
    if (st)
        return st;
    t->nodes = g->n_nodes;
    if (train)
        st = measure_step(g, t, run, err);
    ft_graph_free(g);
    return st;
}

static void print(const char *path, times *t, double first_s, int train)
{
    double read_ms = 1e3 * ft__median(t->read_s, RUNS);
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("%s: first %.3f ms, median %.3f ms, %u nodes, %.2f us per node", path,
           1e3 * first_s, read_ms, t->nodes, 1e3 * read_ms / t->nodes);
    if (train) {
        double train_ms = 1e3 * ft__median(t->train_s, RUNS),
               memory_ms = 1e3 * ft__median(t->memory_s, RUNS),
               plan_ms = 1e3 * ft__median(t->plan_s, RUNS);

        printf("; step of %u nodes: derived in %.3f ms, memory %.3f ms, plan %.3f ms, "
               "in all %.3f ms, %.2f us per node",
               t->step_nodes, train_ms, memory_ms, plan_ms,
               read_ms + train_ms + memory_ms + plan_ms,
               1e3 * (read_ms + train_ms + memory_ms + plan_ms) / t->step_nodes);
    }
    printf("; peak %.1f MB\n", (double)usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
    int train = argc > 1 && strcmp(argv[1], "--train") == 0, at = 1 + train;
    ft_dim_value dims[MAX_DIMS];
    ft_import_options opt = {.dims = dims};
    times t = {0};
    double first_s;

    if (at >= argc) {
        fprintf(stderr, "usage: %s [--train] FILE [dimension=N...]\n", argv[0]);
        return 2;
    }
    for (int i = at + 1; i < argc && opt.n_dims < MAX_DIMS; i++) {
        char *equals = strchr(argv[i], '=');

        if (!equals)
            continue;
        *equals = '\0';
        dims[opt.n_dims++] = (ft_dim_value){argv[i], atoll(equals + 1)};
    }
    for (int run = 0; run < RUNS; run++) {
        ft_error err;

        if (measure(argv[at], &opt, train, &t, run, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            return 3;
        }
    }
    first_s = t.read_s[0];
    print(argv[at], &t, first_s, train);
    return 0;
}
