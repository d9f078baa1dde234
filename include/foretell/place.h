#ifndef FT_PLACE_H
#define FT_PLACE_H

#include "foretell/error.h"
#include "foretell/query.h"

FT_BEGIN_DECLS

/* Placement from predictions: one network split over several devices, or several networks
 * assigned to devices (docs/exploration.md). */

typedef enum ft_place_by {
    FT_PLACE_BY_TIME,   /* latency of one pass; of several networks: makespan */
    FT_PLACE_BY_PERIOD, /* of pipelined passes: time of the slowest part or link; split
                           only */
    FT_PLACE_BY_ENERGY,
    FT_PLACE_BY_COUNT
} ft_place_by;

/* One network over several devices. */

enum { FT_PLACE_MAX_DEVICES = 8 };

/* The nodes from `first` to before `end`, in the order of the graph. */
typedef struct ft_stage {
    uint32_t first, end; /* equal: the device is left out */
    double time_s;
    double energy_j;     /* NaN: not known */
    double memory_bytes; /* weights and peak of live activations */
    /* Sent to the next device: */
    uint32_t n_sent; /* tensors */
    double sent_bytes;
    double sent_s;
} ft_stage;

typedef struct ft_split {
    ft_stage stage[FT_PLACE_MAX_DEVICES];
    double time_s;   /* of one pass: sum of parts and links */
    double period_s; /* the slowest of them */
    double energy_j; /* NaN: unknown for a device with a part */
    int fits;        /* 1: every part fits its device's memory, as far as that is known */
} ft_split;

typedef struct ft_place_options {
    const char *const *device; /* as in ft_query, 1 to FT_PLACE_MAX_DEVICES; not local */
    size_t n_devices;
    ft_place_by by;
    /* The link from each device to the next: */
    double link_bytes_per_s; /* above 0 */
    double link_latency_s;   /* per tensor */
    double link_j_per_byte;  /* 0: free */
} ft_place_options;

/* Made and freed by the library; read only. */
typedef struct ft_split_answer {
    const ft_graph *graph; /* as it is executed: parts are of its nodes */
    const char *device[FT_PLACE_MAX_DEVICES]; /* names of their files */
    size_t n_devices;
    ft_split best;
    ft_split alone[FT_PLACE_MAX_DEVICES]; /* the complete network on each */
    const char *why; /* no split: nothing fits, or the quantity is unknown; "" */
    const ft_remark *const *warning; /* FT_REMARK_DAMAGED */
    size_t n_warnings;
} ft_split_answer;

/* The best split of the network of q into consecutive parts, part i on device i; parts may
 * be empty. Tensors pass through the devices between producer and reader. Exact, by dynamic
 * programming over cut points. q->device is ignored; the predictor is one of several
 * devices. Errors as ft_query_ask(). */
FT_API ft_status ft_place_split(ft_split_answer **out, ft_data *d, const ft_query *q,
                                const ft_place_options *opt, ft_error *err);
FT_API void ft_split_free(ft_split_answer *a);

/* Several networks on several devices. */

/* What network i takes on device d: [i * devices + d]; time NaN: it cannot run there. */
typedef struct ft_assign_case {
    size_t networks;
    size_t devices;
    const double *time_s;
    const double *energy_j;     /* may be NULL */
    const double *memory_bytes; /* may be NULL: it does not count; nor does NaN */
    const double *limit_bytes;  /* of each device; may be NULL */
    double limit_s;             /* all must be done by then; INFINITY: no limit */
    uint64_t most_steps;        /* of the search; 0: 20 million */
} ft_assign_case;

typedef struct ft_assignment {
    uint32_t *device; /* of each network; freed by ft_assignment_free() */
    double time_s;    /* makespan: networks of a device run in sequence */
    double energy_j;  /* NaN: not known */
    int exact;        /* 1: optimal; 0: the search was cut short, and */
    double bound;     /* this is the lower bound */
} ft_assignment;
/* Minimum time or energy within the limits: branch and bound from a greedy solution. All
 * networks of a device are in its memory at once. FT_ENOTFOUND: infeasible, or energy is
 * unknown; FT_EINVAL: nothing to assign, or PERIOD. */
FT_API ft_status ft_place_assign(ft_assignment *out, const ft_assign_case *c,
                                 ft_place_by by, ft_error *err);
FT_API void ft_assignment_free(ft_assignment *a);

FT_END_DECLS

#endif
