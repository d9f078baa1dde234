#ifndef PHYSICS_OP_KERNELS_H
#define PHYSICS_OP_KERNELS_H

#include <stdbool.h>

#include "base/arena.h"
#include "physics/physics.h"

/* The kernels that an operation is run as, each a product or a stream of memory. */
typedef enum ft__op_kernel_kind {
    FT__OP_KERNEL_PRODUCT, /* `batch` products of m x k with k x n */
    FT__OP_KERNEL_CONV,    /* the same, of a convolution: implicit */
    FT__OP_KERNEL_DIRECT,  /* a convolution of one channel a group */
    FT__OP_KERNEL_STREAM,  /* reads, writes, and little else */
    FT__OP_KERNEL_NORM,
    FT__OP_KERNEL_POOL,
    FT__OP_KERNEL_SOFTMAX,
    FT__OP_KERNEL_BIAS,
    FT__OP_KERNEL_LOSS,
    FT__OP_KERNEL_LAYOUT,
    FT__OP_KERNEL_ATTENTION, /* m queries, n keys, heads of k numbers */
    FT__OP_KERNEL_CACHE,     /* new keys and values to where the old ones are */
} ft__op_kernel_kind;

typedef struct ft__op_kernel {
    ft__op_kernel_kind what;
    ft_phase phase;
    double count;   /* how often */
    double kernels; /* launches each */
    double batch, m, n, k;
    double flops; /* done by the textbook algorithm */
    /* Of convolutions: */
    double images, height, width; /* of the places that are multiplied from */
    double in, out;               /* channels of a group, in the sense of the product */
    double taps;                  /* values of the kernel for one channel */
    double kernel;  /* its width where fast algorithms serve, otherwise 0 */
    double columns; /* of a gradient of the data by way of columns, or 0 */
    double tensors; /* B of the two tensors that are not weights */
    double relaid;  /* B of passes to where channels lie last and back, or 0 */
    double places;  /* threads of a kernel that has one for each result; pools, too */
    /* Of norms: */
    double blocks; /* channels, each of which one thread block does alone, or 0 */
    double rows;   /* that are done one by one, or 0 */
    /* Of attention: */
    double heads, kv_heads;
    int causal;

    double size; /* B of an element */
    double read; /* B */
    double written;
    double again;   /* B of an operand that is repeated, beyond reading it once */
    double apart;   /* B that are touched between two of those times */
    double row;     /* elements of one, of softmax and norms */
    double special; /* exponentials and the like */
    int crossed;    /* a product of rows with rows: both operands lie along k */
    int gradient;   /* 0: forward; FT_WRT_X, FT_WRT_WEIGHTS */
    int added;      /* a gradient to the one that is there */
    int partial;    /* a step's gradient of its input, which few need */
} ft__op_kernel;

enum { FT__MAX_OP_KERNELS = 24 };
/* What the host does to start an operation. */
typedef struct ft__calls {
    int floor; /* FT__C_ of what the host's time is multiplied by, or -1 */
    int step;  /* host time of a training step is added */
    double
        gradients; /* calls of a library for them, beyond the first of an operation */
} ft__calls;
typedef struct ft__work {
    ft__op_kernel op_kernel[FT__MAX_OP_KERNELS];
    uint32_t n;
    ft__calls calls;
} ft__work;

ft__calls ft__calls_of(const ft_op *op);
void ft__work_make(ft__work *out, const ft_op *op, const ft__hardware_spec *chip);
/* The estimate of what was made of an operation before: for many thetas. */
void ft__work_cost(ft__terms *out, const ft__work *w, const ft__hardware_spec *chip,
                   const ft__physics_params *params);

/* Share of the peak that the power budget sustains: docs/physics.md. */
double ft__sustained(const ft__hardware_spec *chip, const ft__physics_params *params);

/* Sizes of tiles, each half as large as the one before. */
enum { FT__N_TILE_SIZES = 5 };
/* What a chip reaches, worked out once for many passes. Points to chip and constants.
 */
typedef struct ft__pace {
    const ft__hardware_spec *chip;
    const double *c;
    double sustained;
    double memory_rate; /* B/s */
    double cache_rate;  /* of all cores, B/s */
    double kept_bytes;  /* working set of which the last-level cache keeps half */
    double tile[FT__N_TILE_SIZES]; /* share of the rate that tiles of a size reach */
    double tensor_half; /* of tensor cores: of one size, over that of the next */
} ft__pace;
void ft__pace_make(ft__pace *out, const ft__hardware_spec *chip,
                   const ft__physics_params *params);
/* The same constants on the same chip driven otherwise. */
void ft__pace_move(ft__pace *pace, const ft__hardware_spec *chip, double sustained);

/* One way of cutting a product into tiles, as far as no clock changes it. */
typedef struct ft__tiling {
    double work;  /* FLOPs, with those that are lost */
    double drawn; /* B from the last-level cache, by so many cores: */
    double cores;
    double extra; /* B of partial results that are added up */
    double waves;
    uint32_t halved; /* size of the tiles */
    uint32_t split;  /* k, into so many parts */
} ft__tiling;

/* One algorithm for a product or convolution: a product of its own, and passes over
 * memory before and behind it. */
typedef struct ft__algorithm {
    ft__op_kernel op_kernel;
    double share;          /* of the rate of a plain product */
    double added;          /* B of those passes */
    double starts;         /* of kernels */
    int tensor;            /* on tensor cores, of numbers of 16 bits at most */
    const ft__tiling *way; /* NULL: worked out as it is priced */
    uint32_t n_ways;
} ft__algorithm;
enum { FT__MAX_ALGORITHMS = 5, FT__MAX_WAYS = 64 };
/* Those of a pass that is a product or a convolution, the plainest first. */
uint32_t ft__algorithms(ft__algorithm out[FT__MAX_ALGORITHMS], const ft__op_kernel *p,
                        const ft__hardware_spec *chip, const double *c);
/* The fastest of them: all of *out but its launches. */
void ft__algorithms_cost(ft__terms *out, const ft__algorithm *a, uint32_t n,
                         const ft__pace *pace);
/* The ways that may be the fastest at some clock of the chip. */
uint32_t ft__product_ways(ft__tiling out[FT__MAX_WAYS], const ft__algorithm *a,
                          const ft__pace *pace);
uint32_t ft__tensor_ways(ft__tiling out[FT__MAX_WAYS], const ft__algorithm *a,
                         const ft__pace *pace);

/* An operation with all of this found: to be priced at many clocks. */
typedef struct ft__ready {
    ft__work work;
    const ft__algorithm *algorithm; /* of every pass one after the other */
    uint32_t n_algorithms[FT__MAX_OP_KERNELS];
} ft__ready;
/* `arena` owns what it points to; false: no memory. chip->gpu, and what else no clock
 * and no cap changes, hold for every price. */
bool ft__ready_make(ft__ready *out, const ft_op *op, const ft__hardware_spec *chip,
                    const ft__physics_params *params, ft__arena *arena);
/* As ft__physics() of the pace's chip and constants, but launch_s and total_s. */
void ft__ready_cost(ft__terms *out, const ft__ready *r, const ft__pace *pace);
/* Constants that hold on the chip: those of CPUs, or the same. *room: for them. */
const ft__physics_params *ft__params_for(ft__physics_params *room,
                                         const ft__physics_params *params,
                                         const ft__hardware_spec *chip);

/* One kernel of each class, without its launch: compute_s, cache_s, memory_s, waves,
 * fill and busy_s of *out. */
void ft__direct_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);
void ft__stream_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);
/* The best way of cutting a product. */
void ft__product_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace);
void ft__tensor_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace);
/* ceil() of what is not negative, without a call. */
static inline double ft__up(double v)
{
    const double whole = v < 0x1p52 ? (double)(int64_t)v : v;

    return whole + (whole < v);
}

/* Seconds to move `bytes` when as many are touched. */
double ft__cached_s(double bytes, const ft__pace *pace);

/* Products on tensor cores of numbers of 16 bits at most. */
int ft__tensor_serves(const ft__op_kernel *p, const ft__hardware_spec *chip);
/* Attention as one kernel: where tensor cores serve, forward. */
int ft__attention_serves(const ft_op *op, const ft__hardware_spec *chip);
void ft__attention_kernel(ft__op_kernel *out, const ft_op *op);
void ft__attention_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);
/* What stores the keys and values of an attention's new tokens, as a pass of its own.
 */
void ft__cache_kernel(ft__op_kernel *out, const ft__op_kernel *attention);
void ft__cache_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);

#endif
