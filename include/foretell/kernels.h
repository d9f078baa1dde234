#ifndef FT_KERNELS_H
#define FT_KERNELS_H

#include "foretell/device.h"
#include "foretell/learn.h"
#include "foretell/predictor.h"
#include "foretell/ptx.h"

FT_BEGIN_DECLS

/* How long a launch of a kernel takes on a GPU, from what it executes and from the
 * GPU's specifications (docs/ptx-prediction.md). */

/* What a launch asks of a GPU: counts as numbers, 0 where there is nothing. */
typedef struct ft_kernel_work {
    double blocks, warps, threads;
    double warp[FT_PTX_CLASSES];       /* instructions of warps */
    double lanes;                      /* threads that an instruction has an effect for */
    double loaded_bytes, stored_bytes; /* global and generic memory */
    double distinct_bytes;             /* how many different ones of them there are */
    double block_bytes;                /* different ones of a block, times the blocks */
    double sectors;                    /* of 32 bytes, to and from the caches */
    double requests;                   /* of warps to global memory */
    double wavefronts;                 /* cycles of shared memory */
    double local_bytes;
    double branches, divergent; /* of warps */
    double fp64_flops, fp16_flops, tensor_flops;
    double registers;    /* of a thread */
    double shared_bytes; /* of a block, dynamic ones too */
} ft_kernel_work;

/* What a launch needs beside what it executes. 0: not known. */
typedef struct ft_kernel_space {
    uint32_t registers;    /* of a thread, as ptxas -v has them; else taken to be 32 */
    uint64_t shared_bytes; /* of a block, declared and dynamic */
    double distinct_bytes; /* of global memory that the launch goes over (its buffers);
                              else no byte is touched twice */
    double block_bytes;    /* the same of one block; else what a block touches it touches
                              once, and what is touched twice is shared by blocks */
} ft_kernel_space;
FT_API void ft_kernel_work_make(ft_kernel_work *out, const ft_ptx_counts *counts,
                                const ft_kernel_space *space);

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
    ft_kernel_terms terms;
    const char *bound; /* the longest of the terms: "memory", "issue", ...; or "host" */
} ft_kernel_estimate;

/* What was learned from measured launches. Immutable: threads may share one. */
typedef struct ft_kernels ft_kernels;


/* The question about one launch: what it executes, on which GPU. Begin with
 * FT_KERNEL_QUERY_INIT; sizes as in ft_query. */
typedef struct ft_kernel_query {
    size_t size;
    const ft_device_facts *device;
    const ft_kernels *learned; /* NULL: physics with default constants */
    const ft_ptx *module;      /* the launch's kernel: */
    uint64_t kernel;           /* its index in ft_ptx_facts.kernel */
    const ft_ptx_counts *counts;
    uint64_t registers;    /* of a thread; 0: estimated from the PTX */
    uint64_t shared_bytes; /* of a block, declared and dynamic */
    double distinct_bytes; /* of global memory that the launch goes over; 0: not known */
    double block_bytes;    /* the same of one block */
    double call_s;         /* that the host needs for each launch, where it waits for each;
                              0: they follow each other without a gap */
} ft_kernel_query;
#ifdef __cplusplus
#define FT_KERNEL_QUERY_INIT [] { ft_kernel_query q = {}; q.size = sizeof(q); return q; }()
#else
#define FT_KERNEL_QUERY_INIT {.size = sizeof(ft_kernel_query)}
#endif

/* Errors as ft__kernel_predict(). registers (or NULL): of a thread, as they were taken. */
FT_API ft_status ft_kernel_ask(ft_kernel_estimate *out, uint32_t *registers,
                               const ft_kernel_query *q, ft_error *err);

/* ---- learning ---- */

/* A launch that was measured. Texts and facts are borrowed. */
typedef struct ft_kernel_row {
    ft_kernel_work work;
    const ft_device_facts *device;
    const char *kernel; /* its name */
    const char *call;   /* what the host calls, where launches are timed one by one from
                           there ("relu"); NULL: they follow each other without a gap */
    double launches;    /* of such work in a row, for one call */
    double time_s;      /* of all of them */
} ft_kernel_row;

typedef struct ft_kernels_options {
    int by_kernel; /* will be asked for other kernels, not for other devices */
    uint64_t seed;
    uint32_t threads;
    /* NULL, or told what each attribute is worth to the regressor. */
    void (*importance)(void *user, const ft_regressor_attributes *of);
    void *importance_user;
} ft_kernels_options;

/* What is known of hosts of a device (kernel) that is left out: how long the smallest
 * launches of calls take, from record to record. */
typedef enum ft_kernels_host {
    FT_KERNELS_HOST_UNKNOWN, /* nothing: hosts (calls) are as the others */
    FT_KERNELS_HOST_ONE,     /* that of one call */
    FT_KERNELS_HOST_CALLS,   /* that of every call */
} ft_kernels_host;

/* What was said of a row by what was learned without its device (kernel). s. */
typedef struct ft_kernel_said {
    double time_s, low_s, high_s;
    double physics_s;  /* the physical estimate alone */
    double roofline_s; /* bytes over bandwidth, FLOPs over peak: whichever takes longer */
    double constant_s; /* always the median of the other devices' (kernels') rows */
} ft_kernel_said;
/* said[n]: every device, or kernel (opt->by_kernel), left out once. call: of
 * FT_KERNELS_HOST_ONE. */
FT_API ft_status ft_kernels_evaluate(ft_kernel_said *said, const ft_kernel_row *row,
                                     size_t n, ft_kernels_host host, const char *call,
                                     const ft_kernels_options *opt, ft_error *err);

FT_END_DECLS

#endif
