#ifndef PHYSICS_KERNEL_H
#define PHYSICS_KERNEL_H

#include "foretell/kernels.h"

/* The work of a launch, as counts; 0 where there is none. */
typedef struct ft__kernel_work {
    double blocks, warps, threads;
    double warp[FT_PTX_CLASSES]; /* instructions of warps */
    double lanes;                /* threads that an instruction has an effect for */
    double loaded_bytes, stored_bytes; /* global and generic memory */
    double distinct_bytes; /* of all sectors of 32 that are touched, each once */
    double block_bytes;    /* different ones of a block, times the blocks */
    double sure_bytes;     /* of those, where it is known which are touched; else 0 */
    double sectors;        /* of 32 bytes, to and from the caches */
    double requests;       /* of warps to global memory */
    double wavefronts;     /* cycles of shared memory */
    double local_bytes;
    double branches, divergent; /* of warps */
    double fp64_flops, fp16_flops, tensor_flops;
    double registers;    /* of a thread */
    double shared_bytes; /* of a block, dynamic ones too */
} ft__kernel_work;

/* What a launch needs beside what it executes. 0: not known. */
typedef struct ft__kernel_space {
    uint32_t registers;    /* of a thread, as ptxas -v has them; else taken to be 32 */
    uint64_t shared_bytes; /* of a block, declared and dynamic */
    double distinct_bytes; /* of global memory that the launch goes over (its buffers);
                              else of the sectors that it touches */
    double block_bytes; /* the same of one block; else what a block touches it touches
                           once, and what is touched twice is shared by blocks */
} ft__kernel_space;
void ft__kernel_work_make(ft__kernel_work *out, const ft_ptx_counts *counts,
                          const ft__kernel_space *space);
/* The work of the launch in a query. */
ft_status ft__kernel_work_of(ft__kernel_work *out, const ft_kernel_query *q,
                             ft_error *err);

/* The parameters of an NVIDIA GPU that kernel times depend on, in SI units. */
typedef struct ft__gpu {
    double sms, clock_hz;
    double slots;         /* instructions that an SM's schedulers issue in a clock */
    double lanes;         /* fp32 multiply-adds of an SM in one */
    double special_lanes; /* special functions likewise */
    double warps, blocks; /* most that an SM holds */
    double registers, shared_bytes; /* of an SM */
    double reserved_bytes; /* shared memory that a block costs beside its own */
    double bandwidth, l2_bytes;
    double peak_fp32, peak_fp64, peak_fp16, peak_tensor;
    double power_w;
    int stacked; /* HBM since 2017 */
} ft__gpu;
/* FT_EUNSUPPORTED, FT_ENOTFOUND as ft_kernel_ask(). */
ft_status ft__gpu_make(ft__gpu *out, const ft_device_facts *d, ft_error *err);

enum {
#define FT__KERNEL_CONSTANT(name, ...) FT__K_##name,
#include "physics/kernel.def"
#undef FT__KERNEL_CONSTANT
    FT__N_KERNEL_CONSTANTS
};
typedef struct ft__kernel_params {
    double v[FT__N_KERNEL_CONSTANTS];
} ft__kernel_params;
ft__kernel_params ft__kernel_default(void);

void ft__kernel_cost(ft_kernel_terms *out, const ft__kernel_work *w, const ft__gpu *g,
                     const ft__kernel_params *params);
/* For a call that keeps the host busy for call_s (NaN: it does not matter). */
/* In less no GPU moves the sectors that are known to be touched, even if its L2 was
 * full of them. */
double ft__kernel_least_time(const ft__kernel_work *w, const ft__gpu *g);
double ft__kernel_time(const ft_kernel_terms *t, double call_s,
                       const ft__kernel_params *params);
double ft__kernel_power(const ft_kernel_terms *t, const ft__gpu *g, double total_s,
                        const ft__kernel_params *params);

/* How many, and their names (or NULL). of_gpu: the GPU itself, too, where launches on
 * other ones will not be asked for. */
uint32_t ft__kernel_columns(const char *const **name, int of_gpu);
void ft__kernel_fill(float *row, const ft__kernel_work *w, const ft__gpu *g,
                     const ft_kernel_terms *t, double call_s, int of_gpu);

#endif
