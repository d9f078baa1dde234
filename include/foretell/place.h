#ifndef FT_PLACE_H
#define FT_PLACE_H

#include "foretell/error.h"
#include "foretell/predictor.h"

FT_BEGIN_DECLS

/* Which part of a network runs on which device, and which network of several: from
 * predictions, before anything runs. */

typedef enum ft_place_by {
    FT_PLACE_BY_TIME,   /* of one pass through all parts; of several networks: until the
                           last one is done */
    FT_PLACE_BY_PERIOD, /* from one pass to the next, when passes follow each other through
                           the parts: what the slowest part or link takes; split only */
    FT_PLACE_BY_ENERGY,
    FT_PLACE_BY_COUNT
} ft_place_by;
FT_API const char *ft_place_by_name(ft_place_by by); /* "time", "period", "energy" */
/* FT_PLACE_BY_COUNT: unknown. */
FT_API ft_place_by ft_place_by_from_name(const char *name, size_t len);

/* ---- one network over several devices ---- */

/* A device of a chain, and what joins it to the next one. */
typedef struct ft_place_device {
    const ft_predictor *predictor; /* a family; NULL: specifications */
    ft_device_use use;
    double limit_bytes; /* memory; NaN: not known */
    double link_bytes_per_s; /* to the next device; above 0 */
    double link_latency_s;   /* of each tensor that goes there */
    double link_j_per_byte;  /* 0: free */
} ft_place_device;

enum { FT_PLACE_MAX_DEVICES = 8 };

/* The nodes from `first` to before `end`, in the order of the graph. */
typedef struct ft_stage {
    uint32_t first, end; /* equal: the device is left out */
    double time_s;
    double energy_j;     /* NaN: not known */
    double memory_bytes; /* weights and the most that is alive at once */
    /* What goes on to the next device: */
    uint32_t n_sent; /* tensors */
    double sent_bytes;
    double sent_s;
} ft_stage;

typedef struct ft_split {
    ft_stage stage[FT_PLACE_MAX_DEVICES];
    double time_s;   /* of one pass: parts and links one after the other */
    double period_s; /* the slowest of them */
    double energy_j; /* NaN: not known of a device that has a part */
    int fits;        /* 1: every part fits its device's memory, as far as that is known */
} ft_split;

/* The best way of cutting g (lowered with FT_POLICY_STRIDED_VIEWS) into at most as many
 * parts as there are devices, each of them nodes one behind the other, part i on device
 * i; parts may be empty. What a part reads of earlier ones passes through the devices in
 * between. Exact, by dynamic programming over all cut points. alone[n] (or NULL): the
 * whole network on each device. FT_ENOTFOUND: no way fits, or what is asked for is not
 * known. */
FT_API ft_status ft_place_split(ft_split *out, ft_split *alone,
                                const ft_place_device *device, size_t n,
                                const ft_graph *g, ft_place_by by, ft_error *err);
/* One way: part i is the nodes cut[i] to cut[i + 1]; cut[n + 1], from 0 to all. */
FT_API ft_status ft_place_at(ft_split *out, const ft_place_device *device, size_t n,
                             const ft_graph *g, const uint32_t *cut, ft_error *err);

/* ---- several networks on several devices ---- */

/* What network i takes on device d: [i * devices + d]; time NaN: it cannot run there. */
typedef struct ft_assign_case {
    size_t networks;
    size_t devices;
    const double *time_s;
    const double *energy_j;     /* may be NULL */
    const double *memory_bytes; /* may be NULL: it does not count; nor does NaN */
    const double *limit_bytes;  /* of each device; may be NULL */
    double limit_s;             /* all are to be done by then; INFINITY: no matter */
    uint64_t most_steps;        /* of the search; 0: 20 million */
} ft_assign_case;

typedef struct ft_assignment {
    uint32_t *device; /* of each network; freed by ft_assignment_free() */
    double time_s;    /* until the last one is done: networks of a device run in turn */
    double energy_j;  /* NaN: not known */
    int exact;        /* 1: nothing is better; 0: the search was cut short, and */
    double bound;     /* nothing is better than this */
} ft_assignment;
/* The least time or energy, within the limits: branch and bound, from what a greedy
 * choice gives. All networks of a device are in its memory at once. FT_ENOTFOUND: there
 * is no way, or energy is not known; FT_EINVAL: nothing to assign, or PERIOD. */
FT_API ft_status ft_place_assign(ft_assignment *out, const ft_assign_case *c,
                                 ft_place_by by, ft_error *err);
FT_API void ft_assignment_free(ft_assignment *a);

FT_END_DECLS

#endif
