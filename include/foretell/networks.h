#ifndef FT_NETWORKS_H
#define FT_NETWORKS_H

#include "foretell/learn.h"
#include "foretell/predictor.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Networks measured whole against what their operations foretell: how good is the way
 * from operations to a network (docs/networks.md)? Every network is predicted from
 * operations measured one by one, none of its own among them, and from what other
 * networks show of host and device. */

typedef enum ft_networks_left_out {
    FT_LEAVE_NETWORK, /* each network in turn: its measurement and all operations it has
                         leave the training set */
    FT_LEAVE_DEVICE,  /* each device in turn: nothing of it is in the training set */
    FT_LEAVE_FAMILY,  /* each family of architectures in turn, where nothing but networks
                         was measured: learned from the other families' networks alone */
} ft_networks_left_out;

/* The operations of a network as a graph, in the form in which it runs (lowered; of
 * phase "step" and "forward_backward" a training step); *g NULL: not known, then the
 * store's members are taken. The graph is freed by the callee. */
typedef ft_status (*ft_networks_graph)(void *user, ft_graph **g, const char *spec,
                                       const char *phase, ft_error *err);

/* The same from a folder of lists, NAME@SHAPE.forward.ops and NAME@SHAPE.step.ops
 * ("resnet18@32x3x224x224.step.ops"); user: the folder's path, a const char *. */
FT_API ft_status ft_networks_list(void *folder, ft_graph **g, const char *spec,
                                  const char *phase, ft_error *err);

/* The operations that a network of some family runs for `batch` images. */
typedef struct ft_network_list {
    const char *family; /* "vision_transformer" */
    double batch;
    const ft_op *op;     /* forward, as they run */
    const double *count; /* how often each */
    size_t n;
} ft_network_list;
/* That of "network name=resnet18 x=64x3x224x224 dtype=amp", whatever its batch; NULL: not
 * known. Borrowed. */
typedef const ft_network_list *(*ft_networks_find)(void *user, const char *spec);

/* Many of them in one table (CSV, plain or packed by gzip): columns network, family, x
 * (256x3x224x224, for which the operations stand), operation (its spec), count; rows of
 * one network and x stand together. */
typedef struct ft_network_table ft_network_table;
/* FT_EIO, FT_EFORMAT: table, line and column. */
FT_API ft_status ft_network_table_open(ft_network_table **out, const char *path,
                                       ft_error *err);
FT_API void ft_network_table_free(ft_network_table *t);
/* An ft_networks_find; user: an ft_network_table. */
FT_API const ft_network_list *ft_network_table_find(void *table, const char *spec);

typedef struct ft_networks_options {
    const char *networks; /* which: "device=a30 session=... phase=step"; NULL: all */
    const char *ops;      /* measured operations to learn from, likewise */
    const char *data_dir; /* device files */
    ft_networks_left_out left_out;
    ft_networks_graph graph; /* NULL: members of the store alone */
    ft_networks_find find;   /* of FT_LEAVE_FAMILY, in place of graph */
    void *user;              /* of graph or find */
    uint32_t n_trees; /* 0: 64 */
    uint64_t seed;
    const ft_log *log;
} ft_networks_options;

typedef struct ft_network_case {
    const char *device;
    const char *setting;
    const char *policy;
    const char *spec;
    const char *phase;
    double time_s; /* measured */
    double energy_j; /* NaN: not measured */
    ft_estimate time;
    ft_estimate energy;
    const char *family; /* of FT_LEAVE_FAMILY; otherwise NULL */
    double sum_s; /* baseline: predicted times alone, added up; what has no regressor of
                     its kind counts nothing, as it does where nobody prices it. Of
                     FT_LEAVE_FAMILY: a regression on FLOPs and bytes moved in all */
    double sum_j;
    double host_share;    /* of the estimate: 1 and more where the host is the busier */
    double bounded_share; /* of device time: operations of kinds never measured */
    double launches;
} ft_network_case;

typedef struct ft_networks {
    ft_network_case *v;
    size_t n;
    ft_errors time;
    ft_errors sum_time;
    ft_errors energy; /* n is 0 without energies */
    ft_errors sum_energy;
    double covered;   /* share of times within their 90 % interval */
    double width;     /* median high / low */
    ft_networks_left_out left_out;
    void *memory;     /* of the strings */
} ft_networks;

/* FT_ENOTFOUND: no network, no operation, fewer than two groups to leave out, or a
 * device without a file. */
FT_API ft_status ft_networks_evaluate(ft_networks *out, ft_store *store,
                                      const ft_networks_options *opt, ft_error *err);
FT_API void ft_networks_free(ft_networks *n);

FT_END_DECLS

#endif
