#ifndef FT_KERNELS_H
#define FT_KERNELS_H

#include "foretell/device.h"
#include "foretell/predictor.h"
#include "foretell/ptx_launches.h"
#include "foretell/query.h"

FT_BEGIN_DECLS

/* How long a launch of a kernel takes on a GPU, from what it executes and from the
 * GPU's specifications (docs/ptx-prediction.md). */

/* The parts of an estimate. Seconds, each as if nothing else took any time. */
typedef struct ft_kernel_terms {
    double issue_s;   /* warps' instructions through the schedulers */
    double compute_s; /* the busiest unit: fp32, fp64, special functions, tensor cores */
    double shared_s;
    double cache_s;   /* sectors from and to the L2 cache */
    double memory_s;  /* what the L2 cache does not hold */
    double latency_s; /* waves of warps, each one instruction after the other */
    double launch_s;  /* least time of any kernel */
    double device_s;  /* all of them together */
    double resident;  /* blocks that an SM holds at once */
    double occupancy; /* warps it holds, of those it can */
    double waves;     /* blocks over those that all SMs hold */
    double hit;       /* share of what a block reads again that the L2 cache still has */
} ft_kernel_terms;

typedef struct ft_kernel_estimate {
    ft_estimate time;   /* s, of the launch */
    ft_estimate power;  /* W, while it is repeated */
    ft_estimate energy; /* J, of the launch */
    double ipc;         /* instructions of warps per cycle and SM; of PTX, not of SASS */
    double physics_s;   /* the time by the physical estimate alone */
    double call_s;      /* of it, what the host needs for the call; NaN: launches follow each
                           other without a gap, or nothing is known of hosts */
    ft_kernel_terms terms;
    const char *bound;     /* the longest of the terms: "memory", "issue", ...; or "host" */
    const char *predictor; /* file; "" without one; borrowed from d or the query */
    uint64_t registers;    /* of a thread, as they were taken */
} ft_kernel_estimate;

/* The question about one launch: what it executes, on which GPU. Begin with
 * FT_KERNEL_QUERY_INIT; sizes as in ft_query. */
typedef struct ft_kernel_query {
    size_t size;
    const ft_device_facts *device;
    const ft_ptx_listed *launch;
    const ft_ptx_counts *counts; /* of ft_ptx_launches_count() */
    uint64_t registers;          /* of a thread; 0: the launch's, else estimated from the
                                    PTX */
    uint64_t shared_bytes;       /* of a block; 0: declared and dynamic ones */
    const char *predictor;       /* file with kernels in it; NULL: the best there is */
    const ft_predictor *loaded;  /* in place of a file */
    const char *method;          /* "physics": from specifications alone; NULL: by a
                                    predictor, without one "physics" */
} ft_kernel_query;
#ifdef __cplusplus
#define FT_KERNEL_QUERY_INIT [] { ft_kernel_query q = {}; q.size = sizeof(q); return q; }()
#else
#define FT_KERNEL_QUERY_INIT {.size = sizeof(ft_kernel_query)}
#endif

/* d NULL: no predictor but one that is loaded. The basis is FT_BASIS_LEARNED on devices
 * that the predictor was trained on, FT_BASIS_SCALED on others. FT_EUNSUPPORTED: not a
 * GPU of NVIDIA's; FT_ENOTFOUND: its file lacks what is needed, or the predictor that is
 * named has no kernels; FT_EIO, FT_EFORMAT: its file; FT_EINVAL: the query is
 * malformed. */
FT_API ft_status ft_kernel_ask(ft_kernel_estimate *out, ft_data *d,
                               const ft_kernel_query *q, ft_error *err);

FT_END_DECLS

#endif
