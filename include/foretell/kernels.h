#ifndef FT_KERNELS_H
#define FT_KERNELS_H

#include "foretell/device.h"
#include "foretell/predictor.h"
#include "foretell/ptx_launches.h"
#include "foretell/query.h"

FT_BEGIN_DECLS

/* Predicted time of a kernel launch on a GPU, from its instruction counts and the GPU's
 * specifications (docs/ptx-prediction.md). */

/* The terms of an estimate, seconds: the time of each resource alone. */
typedef struct ft_kernel_terms {
    double issue_s;   /* warp instructions through the schedulers */
    double compute_s; /* the busiest unit: fp32, fp64, special functions, tensor cores */
    double shared_s;
    double cache_s;   /* sectors from and to the L2 cache */
    double memory_s;  /* DRAM: L2 misses */
    double latency_s; /* waves of warps as dependent chains of instructions */
    double launch_s;  /* least time of any kernel */
    double device_s;  /* combined */
    double resident;  /* blocks resident on an SM */
    double occupancy; /* resident warps over the most an SM can hold */
    double waves;     /* blocks over those resident on all SMs */
    double hit;       /* L2 hit rate of repeated reads */
} ft_kernel_terms;

typedef struct ft_kernel_estimate {
    ft_estimate time;   /* s, of the launch; high is infinite where a parameter that
                           decides it is not given (ft_ptx_listed.open) and counts have
                           no bound */
    ft_estimate power;  /* W, while it is repeated */
    ft_estimate energy; /* J, of the launch */
    double ipc;         /* warp instructions per cycle and SM; of PTX, not SASS */
    double physics_s;   /* the time by the physical estimate alone */
    double call_s;      /* of it, host time of the call; NaN: back-to-back launches, or hosts
                           are unknown */
    ft_kernel_terms terms;
    const char *bound;     /* the largest term: "memory", "issue", ...; or "host" */
    const char *predictor; /* file; "" without one; borrowed from d or the query */
    uint64_t registers;    /* per thread, as used */
} ft_kernel_estimate;

/* Counts of one launch, and the GPU. Begin with FT_KERNEL_QUERY_INIT; sizes as in
 * ft_query. */
typedef struct ft_kernel_query {
    size_t size;
    const ft_device_facts *device;
    const ft_ptx_listed *launch;
    const ft_ptx_counts *counts; /* of ft_ptx_launches_count() */
    uint64_t registers;          /* per thread; 0: the launch's, else estimated from the
                                    PTX */
    uint64_t shared_bytes;       /* per block; 0: declared plus dynamic */
    const char *predictor;       /* file with kernels; NULL: the best match */
    const ft_predictor *loaded;  /* in place of a file */
    const char *method;          /* "physics": from specifications alone; NULL: by a
                                    predictor, without one "physics" */
} ft_kernel_query;
#ifdef __cplusplus
#define FT_KERNEL_QUERY_INIT [] { ft_kernel_query q = {}; q.size = sizeof(q); return q; }()
#else
#define FT_KERNEL_QUERY_INIT {.size = sizeof(ft_kernel_query)}
#endif

/* d NULL: only `loaded` is used as predictor. Basis: FT_BASIS_LEARNED on devices in
 * training, FT_BASIS_SCALED on others. FT_EUNSUPPORTED: not an NVIDIA GPU; FT_ENOTFOUND:
 * the device file lacks a value, or the named predictor has no kernels; FT_EIO,
 * FT_EFORMAT: its file; FT_EINVAL: malformed query. */
FT_API ft_status ft_kernel_ask(ft_kernel_estimate *out, ft_data *d,
                               const ft_kernel_query *q, ft_error *err);

FT_END_DECLS

#endif
