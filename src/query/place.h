#ifndef QUERY_PLACE_H
#define QUERY_PLACE_H

#include "foretell/place.h"
#include "predict/query/network.h"

/* A device of a chain, and what joins it to the next one. */
typedef struct ft__place_device {
    const ft_predictor *predictor; /* a family; NULL: specifications */
    ft__device_use use;
    double limit_bytes;      /* memory; NaN: not known */
    double link_bytes_per_s; /* to the next device; above 0 */
    double link_latency_s;   /* of each tensor that goes there */
    double link_j_per_byte;  /* 0: free */
} ft__place_device;

/* As ft_place_split() of g, lowered with FT_POLICY_STRIDED_VIEWS. alone[n] (or NULL):
 * the whole network on each device. FT_ENOTFOUND: no way fits, or what is asked for is
 * not known. */
ft_status ft__place_split(ft_split *out, ft_split *alone,
                          const ft__place_device *device, size_t n, const ft_graph *g,
                          ft_place_by by, ft_error *err);
/* One way: part i is the nodes cut[i] to cut[i + 1]; cut[n + 1], from 0 to all. */
ft_status ft__place_at(ft_split *out, const ft__place_device *device, size_t n,
                       const ft_graph *g, const uint32_t *cut, ft_error *err);

#endif
