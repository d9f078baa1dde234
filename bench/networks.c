/* Networks measured whole against what their operations foretell.
 *
 *   bench_networks STORE DATA_DIR LISTS network|device NETWORKS OPS
 *   bench_networks a.db data data/workloads/networks network \
 *       'device=a30 phase=step policy=default' 'device=a30 phase=forward_backward'
 *
 * LISTS: a folder of operations, NAME@SHAPE.forward.ops and NAME@SHAPE.step.ops; "-":
 * none, the store's members are taken. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foretell/networks.h"

static void print_errors(const char *what, const ft_errors *e)
{
    if (e->n)
        printf(
            "%-22s n %zu  MAPE %.1f %%  median %.1f %%  p90 %.1f %%  bias %+.1f %%\n",
            what, e->n, 100 * e->mape, 100 * e->median_ape, 100 * e->p90_ape,
            100 * e->bias);
}

static void print(const ft_networks *r)
{
    printf("%-18s %-46s %10s %9s %7s %7s %6s %6s  %s\n", "device", "network",
           "measured", "estimate", "error", "sum", "host", "bound", "energy");
    for (size_t i = 0; i < r->n; i++) {
        const ft_network_case *c = &r->v[i];
        int in = c->time_s >= c->time.low && c->time_s <= c->time.high;

        printf("%-18s %-46s %8.2fms %7.2fms %+6.1f%% %+6.1f%% %5.0f%% %5.0f%% "
               "%+6.1f%%%s\n",
               c->device, c->spec + 8, 1e3 * c->time_s, 1e3 * c->time.value,
               100 * (c->time.value / c->time_s - 1), 100 * (c->sum_s / c->time_s - 1),
               100 * c->host_share, 100 * c->bounded_share,
               100 * (c->energy.value / c->energy_j - 1), in ? "" : " !");
    }
    print_errors("time", &r->time);
    print_errors("time, plain sum", &r->sum_time);
    print_errors("energy", &r->energy);
    print_errors("energy, plain sum", &r->sum_energy);
    printf("inside the interval: %.0f %%, median high/low %.2f\n", 100 * r->covered,
           r->width);
}

int main(int argc, char **argv)
{
    ft_networks_options opt = {0};
    ft_networks r;
    ft_store *store;
    ft_error err;
    ft_status st;

    if (argc != 7) {
        fprintf(stderr, "STORE DATA_DIR LISTS network|device NETWORKS OPS\n");
        return 2;
    }
    opt.data_dir = argv[2];
    if (strcmp(argv[3], "-") != 0)
        opt.graph = ft_networks_list;
    opt.user = argv[3];
    opt.left_out = strcmp(argv[4], "device") == 0 ? FT_LEAVE_DEVICE : FT_LEAVE_NETWORK;
    opt.networks = argv[5];
    opt.ops = argv[6];
    opt.seed = 1;
    st = ft_store_open(&store, argv[1], FT_STORE_READ, &err);
    if (st) {
        fprintf(stderr, "%s\n", err.msg);
        return 3;
    }
    st = ft_networks_evaluate(&r, store, &opt, &err);
    ft_store_close(store);
    if (st) {
        fprintf(stderr, "%s\n", err.msg);
        return 4;
    }
    print(&r);
    ft_networks_free(&r);
    return 0;
}
