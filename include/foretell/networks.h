#ifndef FT_NETWORKS_H
#define FT_NETWORKS_H

#include "foretell/graph.h"

FT_BEGIN_DECLS

/* Networks that were measured whole, and the operations they consist of. */

/* The operations of one network in the form in which it runs (lowered; of phase "step"
 * and "forward_backward" with its backward operations, or forward and backward as one). */
typedef struct ft_network_list {
    ft_graph *graph;      /* of whoever asked; NULL: not known */
    char architecture[64]; /* networks alike, which are left out together; "": the name
                              of the network */
    double batch; /* images that the graph is for, where that is not what was asked for;
                     NaN: as asked */
} ft_network_list;

/* Finds that of "network name=resnet18 x=32x3x224x224 dtype=fp32" in a phase. *out is
 * zero but for a NaN. Failing to read a list is an error, not having one is none. */
typedef ft_status (*ft_networks_find)(void *user, ft_network_list *out,
                                      const char *spec, const char *phase,
                                      ft_error *err);

/* Lists from a folder, NAME@SHAPE.forward.ops and NAME@SHAPE.step.ops
 * ("resnet18@32x3x224x224.step.ops"), or from one table (CSV, plain or packed by gzip):
 * columns network, family, x (256x3x224x224, for which the operations stand), operation
 * (its spec, forward), count; rows of one network and x stand together. */
typedef struct ft_network_lists ft_network_lists;
/* FT_EIO, FT_EFORMAT: table, line and column. */
FT_API ft_status ft_network_lists_open(ft_network_lists **out, const char *path,
                                       ft_error *err);
FT_API void ft_network_lists_free(ft_network_lists *l);
/* An ft_networks_find; user: an ft_network_lists. Of a table whatever the batch; other
 * phases than "forward" have each operation forward and backward. */
FT_API ft_status ft_network_lists_find(void *lists, ft_network_list *out,
                                       const char *spec, const char *phase,
                                       ft_error *err);

FT_END_DECLS

#endif
