/* How long reading a model takes, and how much memory: import FILE [name=N...].
 * The best of 20 runs is printed; the peak is that of the whole process, so one
 * file a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "foretell/graph.h"

enum { RUNS = 20, MAX_DIMS = 16 };

int main(int argc, char **argv)
{
    ft_dim_value dims[MAX_DIMS];
    ft_import_options opt = {.dims = dims};
    double first_s = 0, best_s = 0;
    struct rusage usage;
    unsigned nodes = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE [dimension=N...]\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc && opt.n_dims < MAX_DIMS; i++) {
        char *equals = strchr(argv[i], '=');

        if (!equals)
            continue;
        *equals = '\0';
        dims[opt.n_dims++] = (ft_dim_value){argv[i], atoll(equals + 1)};
    }
    for (int run = 0; run < RUNS; run++) {
        double start_s = ft__now_s(), took_s;
        ft_graph *g;
        ft_error err;

        if (ft_import_file(&g, argv[1], &opt, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            return 3;
        }
        took_s = ft__now_s() - start_s;
        nodes = ft_graph_n_nodes(g);
        first_s = run ? first_s : took_s;
        best_s = run == 0 || took_s < best_s ? took_s : best_s;
        ft_graph_free(g);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf(
        "%s: first %.3f ms, best %.3f ms, %u nodes, %.2f us per node, peak %.1f MB\n",
        argv[1], 1e3 * first_s, 1e3 * best_s, nodes, 1e6 * best_s / nodes,
        (double)usage.ru_maxrss / 1024);
    return 0;
}
