#ifndef FT_NETWORKS_H
#define FT_NETWORKS_H

#include "foretell/graph.h"

FT_BEGIN_DECLS

/* The operations of networks that were measured as a whole. */

/* The operations of one network as it runs (lowered; for phases "step" and
 * "forward_backward" with backward operations, or with both phases as one operation). */
typedef struct ft_network_list {
    ft_graph *graph;      /* the caller's; NULL: unknown */
    char architecture[64]; /* architecture for hold-out; "": the name of the network */
    double batch; /* batch of the graph, where it differs from the requested one; NaN: as
                     requested */
} ft_network_list;

/* Finds the list of "network name=resnet18 x=32x3x224x224 dtype=fp32" in a phase. *out is
 * zero except for a NaN batch. A missing list is not an error, an unreadable one is. */
typedef ft_status (*ft_networks_find)(void *user, ft_network_list *out,
                                      const char *spec, const char *phase,
                                      ft_error *err);

/* Lists from a folder, NAME@SHAPE.forward.ops and NAME@SHAPE.step.ops
 * ("resnet18@32x3x224x224.step.ops"), or from one table (CSV, plain or gzip):
 * columns network, family, x (input shape of the operations, 256x3x224x224), operation
 * (its spec, forward), count; rows of one network and x are contiguous. */
typedef struct ft_network_lists ft_network_lists;
/* FT_EIO, FT_EFORMAT: table, line and column. */
FT_API ft_status ft_network_lists_open(ft_network_lists **out, const char *path,
                                       ft_error *err);
FT_API void ft_network_lists_free(ft_network_lists *l);
/* An ft_networks_find; user: an ft_network_lists. Tables match any batch; in phases other
 * than "forward" their operations are forward and backward. */
FT_API ft_status ft_network_lists_find(void *lists, ft_network_list *out,
                                       const char *spec, const char *phase,
                                       ft_error *err);

FT_END_DECLS

#endif
