#ifndef PHYSICS_PHYSICS_H
#define PHYSICS_PHYSICS_H

#include <stdbool.h>

#include "foretell/device.h"
#include "foretell/op.h"

/* How long an operation takes on a device that nobody measured: a structured estimate
 * from its specifications. Regressors learn the ratio of what is measured to it. */

/* The hardware spec for one operation: at the clock and cap of a setting, for its dtype
 * and dtype policy. SI units; NaN where unknown. */
typedef struct ft__hardware_spec {
    double cores;        /* SMs, compute units; CPU: as many as threads */
    double clock_hz;     /* the setting's, otherwise the boost clock; CPU: under load */
    double peak_flops;   /* at that clock, with tensor cores where they serve */
    double vector_flops; /* fp32 without tensor cores, at that clock */
    double bandwidth;    /* of memory, B/s: what the core clock leaves of that */
    double full_bandwidth; /* at the setting's memory clock */
    double l2_bytes;       /* CPU: the last level */
    double memory_bytes;
    double power_w; /* budget of what multiplies: the setting's cap, otherwise TDP */
    double tdp_w;
    double drawing_tdp_w;    /* of the board that the chip's draw is a share of */
    double peak_tflops_16nm; /* ft__peak_tflops_16nm() */
    double clock_share;      /* clock_hz over the nominal clock */
    double tensor_flops; /* 16-bit, whatever the operation's dtype: tells generations
                            apart */
    double process_nm, year;
    double vector_share; /* of peak_flops that vectors have, at any clock */
    double slots;        /* the optimizer's numbers per weight; of "optimizer=adam" */
    double reads;        /* passes in which it reads, the weights' own among them */
    double lanes;        /* fp32 multiply-adds of a core in one clock */
    double threads;      /* that a core holds */
    double cuda;         /* of its libraries: 7.5, 8; infinite: later */
    double link;         /* B/s to other devices, each way */
    double network;      /* B/s to devices of other machines, each way */
    double kernel_sum_bytes; /* largest sum, B, by a kernel other than NCCL's;
                                INFINITY: all */
    double launch_factor;    /* ft__launch_factor() */
    int inline_ecc;          /* error correction takes bandwidth of the same memory */
    int gpu, amd;
    int stacked; /* its memory: HBM */
    int gddr;
    int early;      /* NVIDIA's, before Volta */
    int pascal;     /* NVIDIA's, of capability 6 */
    int volta;      /* NVIDIA's, since Volta: collectives but small sums are NCCL's */
    int ampere;     /* NVIDIA's, since Ampere */
    int hopper;     /* NVIDIA's of capability 9 to 11: data centres', and Jetson Thor */
    int blackwell;  /* those of 10 and 11 */
    int widened;    /* ft__is_widened(): its layers are multiplied in a wider type */
    int tensor;     /* peak_flops is that of tensor cores */
    int halved;     /* these are held below what cores of their generation feed */
    int tensorflow; /* TensorFlow 1, whose datasets name the activation */
    int activated;  /* "activation=relu": one operation more, over the result */
    int caches; /* "cache=written": attention stores the new keys and values first */
    int packed; /* "cache=packed": prompts' queries, too, out of one tensor of all */
    int masked; /* "picks=all": kernels walk over picks of other devices' experts, too
                 */
    int bare;   /* "calls=": a library's, before which no framework stands */
    int apart;  /* "calls=single": one of several calls of a recurrent layer */
    int early_miopen; /* "miopen=1.3" */
    int short_loop; /* "loop=short": measured before the power limiter lowered the clock
                     */
    int graph;      /* "run_mode=graph": no launches from the host */
    int fused;      /* by a compiler, which loads what lies together at once */
    int renews; /* gradients replace those that are there and are not added to them */
} ft__hardware_spec;

/* HBM; device files of the newest do not say how fast their memory is clocked. */
static inline bool ft__has_stacked_memory(const ft_device_facts *d)
{
    return d->bandwidth_bytes_per_s > 400 * d->memory_clock_hz ||
           d->bandwidth_bytes_per_s > 2e12;
}

/* Boards whose file tells the clock of their memory; LPDDR's stands in none. */
static inline bool ft__has_gddr(const ft_device_facts *d)
{
    return d->memory_clock_hz > 0 && !ft__has_stacked_memory(d);
}

/* `setting`: "clock=1200MHz power=250W"; `policy`: "default" (TF32 in convolutions
 * alone), "tf32" (in all products), "ieee" (nowhere). */
void ft__hardware_spec_make(ft__hardware_spec *out, const ft_device_facts *d,
                            const char *setting, const char *policy, const ft_op *op);
/* The same at a clock; NaN: the nominal clock. */
void ft__hardware_spec_at(ft__hardware_spec *out, const ft_device_facts *d,
                          double clock_hz, const char *policy, const ft_op *op);
/* The operating point of a setting; NaN: the device's default. */
typedef struct ft__operating_point {
    double clock_hz, memory_hz;
    double power_w; /* cap */
} ft__operating_point;
ft__operating_point ft__operating_point_of(const char *setting);
/* Do they differ in a clock or cap that the first names? */
bool ft__operating_point_differs(const ft__operating_point *asked,
                                 const ft__operating_point *measured);
bool ft__setting_differs(const char *asked, const char *measured);
/* In none that either names? */
bool ft__is_same_operating_point(const char *a, const char *b);
/* Does an engine run operations alike: "eager", one launch each from the host, or
 * "graph", replayed as a CUDA graph without the host? It is the pair run_mode= of a
 * dataset's setting; datasets that do not name it have their engine's. */
bool ft__is_same_run_mode(const char *a, const char *b);
/* Are libraries of the same era: before 8.0, before 8.0.88, or later, as without
 * "cuda="? */
bool ft__is_same_library(const char *a, const char *b);
/* Of loops that power was read in, which may be shorter than its sensor sees,
 * "loop=3000"; NaN: it is that of the steady state. */
double ft__loop_calls(const char *setting);
bool ft__is_same_loop(const char *a, const char *b);
/* ft__hardware_spec_make() in two steps for many clocks and caps; the second step is
 * cheap. */
typedef struct ft__hardware_range {
    ft__hardware_spec chip; /* what no clock and no cap changes */
    const ft_device_facts *facts;
    double rated_hz;   /* that peaks belong to */
    double nominal_hz; /* as it comes */
    double flops;      /* at rated_hz */
    double gain;       /* of matrix cores that peak rates leave out */
} ft__hardware_range;
/* Factor on the launch time of an x86 server's host; 1 but of devices with a host of
 * their own. */
static inline double ft__launch_factor(const ft_device_facts *d)
{
    return d && d->launch_factor > 0 ? d->launch_factor : 1;
}
/* 0 where the clock is not known. */
static inline double ft__clocks_s(double clocks, const ft__hardware_spec *chip)
{
    return chip->clock_hz > 0 ? clocks / chip->clock_hz : 0;
}
/* Scales the spec to a share of its clock. */
void ft__hardware_spec_hold(ft__hardware_spec *chip, double share);
/* Share of bandwidth that its memory reaches, relative to HBM's. */
double ft__stream_ratio(const ft__hardware_spec *chip);
/* B/s of memory that a share of the nominal clock leaves. */
double ft__crossed_bandwidth(const ft__hardware_spec *chip, double clock_share);
/* The name of a fact that an estimate needs and the chip lacks; NULL: none. */
const char *ft__hardware_spec_lacks(const ft__hardware_spec *chip);

/* Does the link join all devices of a machine that the operation has? */
bool ft__is_joined(const ft_device_facts *d, const ft_op *op);
/* Has the device units for products of this type? tf32: those of fp32 in TF32. */
bool ft__has_units(const ft_device_facts *d, ft_dtype t, bool tf32);
/* A layer that is given and returns 16 bits or more, of a forward pass, whose narrower
 * products the device has no units for: engines multiply in the wider type there and
 * read weights in their own (vLLM's and SGLang's Marlin, W4A16 of NVFP4 and W8A16 of
 * fp8; llama.cpp). */
bool ft__is_widened(const ft_op *op, const ft_device_facts *d);
ft_op ft__op_widened(const ft_op *op); /* such a layer, as it is computed */

/* The terms of an estimate, which are features of regressors as well. */
typedef struct ft__terms {
    double compute_s; /* at the sustained rate, with waves and tiles */
    double cache_s;   /* from the last-level cache */
    double memory_s;
    double launch_s;  /* host time of the operation and kernels x their least time */
    double kernels;   /* launches */
    double waves;     /* of tiles over cores, in the longest kernel */
    double fill;      /* waves / ceil(waves) */
    double sustained; /* share of peak that the power budget allows */
    double busy_s;    /* total_s without the host's part of launch_s */
    double aside_s; /* of busy_s: what a setting adds and is not the operation itself */
    double overlap; /* of launch_s and busy_s */
    double total_s; /* of both; docs/physics.md */
    double drawing_s; /* of compute_s, what power is drawn for: docs/clocks.md */
    double weights_s; /* to read all weights of products from a GPU's memory, which
                         repeated alone finds them in its cache */
    double weights;   /* of them, in sizes of that cache */
} ft__terms;

/* An A100's cache is two halves, and what the cores of both read lies in both (white
 * papers of GA100, GH100). NeuSight's elementwise passes over 32 MiB take memory's time
 * there. A B200's is in two parts as well, slower to reach across dies (Chips and
 * Cheese, "Nvidia's B200"); that both hold what both read is not measured there. */
static inline double ft__cache_copies(const ft__hardware_spec *chip)
{
    return chip->ampere && chip->stacked ? 2 : 1;
}

/* Share of a working set of so many sizes of a GPU's last-level cache that is still in
 * it: by the power of 5, from one to four times its size as NeuSight's elementwise rows
 * of A100 and T4 say. */
static inline double ft__cache_hit(double sizes)
{
    const double square = sizes * sizes;

    return 1 / (1 + square * square * sizes);
}

/* The device's share of the time, the rest being the host's; 1 where unknown. */
static inline double ft__device_share(const ft__terms *t)
{
    return t->busy_s < t->total_s ? t->busy_s / t->total_s : 1;
}

/* Constants of a family of datasets (one engine), fitted on its training rows. */
enum {
#define FT__CONSTANT(name, ...) FT__C_##name,
#include "physics/physics.def"
#undef FT__CONSTANT
    FT__N_PHYSICS_PARAMS
};
typedef struct ft__physics_params {
    double v[FT__N_PHYSICS_PARAMS];
} ft__physics_params;
const char *ft__physics_name(int i);
const ft__physics_params *ft__physics_defaults(void);
ft__physics_params ft__physics_default(void);
/* NaN in total_s where ft__hardware_spec_lacks() something. */
void ft__physics(ft__terms *out, const ft_op *op, const ft__hardware_spec *chip,
                 const ft__physics_params *params);

/* The same estimate with host times multiplied by `times`. */
void ft__physics_with_host(ft__terms *t, double times);

/* A lower bound in s for any algorithm: FLOPs at the peak, unless the algorithm may
 * save some, and bytes beyond the last-level cache at the bandwidth. */
double ft__physics_least(const ft_op *op, const ft__hardware_spec *chip);

/* Fit those constants that the rows say something of: least mean of
 * weight x |log(time / estimate)|, with a mild pull to where they were. Every group may
 * differ from the others in its host's time, its arithmetic and its memory as a whole
 * (clocks drift, hosts differ), which then does not bend the constants; an unknown
 * device is taken to be an average one. Of more than 12000 rows that many are drawn by
 * `seed`. Rows of chips that lack something count for nothing. */
typedef struct ft__physics_row {
    const ft_op *op;
    const ft__hardware_spec *chip;
    double time_s, weight;
    uint32_t group; /* its dataset, or device: 0, 1, 2, ... */
} ft__physics_row;
ft_status ft__physics_fit(ft__physics_params *params, const ft__physics_row *row,
                          size_t n, uint64_t seed, ft_error *err);

#endif
