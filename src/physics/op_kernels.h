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
    FT__OP_KERNEL_MOMENTS, /* mean and variance, each of one block of threads */
    FT__OP_KERNEL_POOL,
    FT__OP_KERNEL_SOFTMAX,
    FT__OP_KERNEL_BIAS,
    FT__OP_KERNEL_QUANTIZE, /* what is to be multiplied, in fewer bits */
    FT__OP_KERNEL_LAYOUT,
    FT__OP_KERNEL_ATTENTION,  /* m queries, n keys, heads of k numbers */
    FT__OP_KERNEL_CACHE,      /* new keys and values to where the old ones are */
    FT__OP_KERNEL_COLLECTIVE, /* over m devices of n machines */
} ft__op_kernel_kind;

/* Numbers of a row of softmax that GPUs' libraries keep in registers between finding
 * their maximum and dividing by their sum. */
enum { FT__IN_REGISTERS = 1024 };

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
    double taps;    /* values of the kernel for one channel, of a pool's window */
    double kernel;  /* its width where fast algorithms serve, otherwise 0 */
    double columns; /* of a gradient of the data by way of columns, or 0 */
    double tensors; /* B of the two tensors that are not weights */
    double relaid;  /* B of passes to where channels lie last and back, or 0 */
    int last;       /* they lie last */
    int volume;     /* in three dimensions */
    double places;  /* threads of a kernel that has one for each result; pools, too */
    int placed;     /* each of which finds its result by divisions */
    /* Of norms: */
    double blocks; /* channels, each of which one thread block does alone, or 0 */
    double rows;   /* that are done one by one, of wide softmax too, or 0 */
    /* Of attention: */
    double heads, kv_heads;
    int causal;
    int latent; /* values lie in the keys, which all heads share */
    /* Of collectives; neither: each sends every other a part. */
    int sums, sends;

    double size;     /* B of an element */
    double packed;   /* B of a packed weight; 0: none is */
    int packed_last; /* weights are the second operand */
    double read;     /* B */
    double weights;  /* of them: not touched since the last pass over the network */
    double written;
    double again;    /* B of an operand that is repeated, beyond reading it once */
    double apart;    /* B that are touched between two of those times */
    double unfused;  /* B that PyTorch's own kernels move, and a compiler's not */
    double row;      /* elements of one, of softmax and norms */
    double single;   /* loads and stores of one number each, or 0 */
    double gathered; /* of rows, whose place each thread finds by divisions, or 0 */
    double waits;    /* clocks that PyTorch's own kernel waits for loads, one after the
                        other; generated kernels do not */
    double special;  /* exponentials and the like */
    double lanes;    /* FLOPs of vectors, of what reads and writes */
    int batched;     /* several products in one call of a library */
    int scaled;      /* a product of floats below 16 bits, or with scales for blocks */
    int gates;       /* of a recurrent layer, whose step it is */
    int grouped;     /* products of a mixture's experts, in one kernel */
    int crossed;     /* a product of rows with rows: both operands lie along k */
    int strided;     /* softmax along an axis that is not the last */
    int gradient;    /* 0: forward; FT_WRT_X, FT_WRT_WEIGHTS */
    int atomic;      /* its parts of k add to the result in place, number by number */
    int added;       /* a gradient to the one that is there */
    int partial;     /* a step's gradient of its input, which few need */
    int alone;       /* a bias that GPUs add, or sum up, in a kernel of its own */
} ft__op_kernel;

enum { FT__MAX_OP_KERNELS = 24 };
/* Host work to start an operation. */
typedef struct ft__calls {
    int floor;        /* FT__C_ of what the host's time is multiplied by, or -1 */
    double inner;     /* kernels beyond the first, which its library starts */
    double each;      /* 0, or in place of inner so many for each beyond the first */
    double around;    /* calls that what runs the operation takes itself */
    int step;         /* host time of a training step is added */
    double gradients; /* calls of a library for them, but for an operation's first */
} ft__calls;
typedef struct ft__work {
    ft__op_kernel op_kernel[FT__MAX_OP_KERNELS];
    uint32_t n;
    double weights; /* B that its products read of them */
    ft__calls calls;
} ft__work;

static inline bool ft__makes_products(const ft_op *op)
{
    const ft_class c = ft_kind_class(op->kind);

    return c == FT_CLASS_CONV || c == FT_CLASS_MATMUL;
}

/* The p-norm of two times: their sum for power 1, the larger for an infinite power. */
double ft__together(double a, double b, double power);
/* Has the operation block scales of its weights that tensor cores do not apply? */
bool ft__has_block_scales(const ft_op *op);
ft__calls ft__calls_of(const ft_op *op, bool amd);
/* Host time to start it once, as `kernels` launches. */
double ft__host_s(const ft__calls *calls, double kernels,
                  const ft__physics_params *params);
void ft__work_make(ft__work *out, const ft_op *op, const ft__hardware_spec *chip);
/* The estimate from an operation's kernels, made once and evaluated with many sets of
 * constants. */
void ft__work_cost(ft__terms *out, const ft__work *w, const ft__hardware_spec *chip,
                   const ft__physics_params *params);

/* Share of the peak that the power budget sustains: docs/physics.md. */
double ft__sustained(const ft__hardware_spec *chip, const ft__physics_params *params);

/* Sizes of tiles, each half as large as the one before. */
enum { FT__N_TILE_SIZES = 5 };
/* Rates that a chip reaches, computed once for many kernels; chip and constants are
 * borrowed. */
typedef struct ft__pace {
    const ft__hardware_spec *chip;
    const double *c;
    double sustained;
    double held; /* of the clock: what the budget leaves of it while all cores work */
    double tensor_sustained; /* of products of at most 16 bits on tensor cores */
    double memory_rate;      /* B/s */
    double cache_rate;       /* of all cores, B/s */
    double kept_bytes;       /* working set of which the last-level cache keeps half */
    double tile[FT__N_TILE_SIZES]; /* share of the rate that tiles of a size reach */
    double tensor_half; /* of tensor cores: of one size, over that of the next */
} ft__pace;

/* One kernel without its launch: compute_s, cache_s, memory_s, waves, fill and busy_s
 * of *out. known[n]: the algorithms of a product or convolution, NULL: to be found. */
typedef struct ft__algorithm ft__algorithm;
void ft__op_kernel_cost(ft__terms *out, const ft__op_kernel *p,
                        const ft__algorithm *known, uint32_t n, const ft__pace *pace);
/* The algorithms of a product or convolution (*n 0: of others) with the ways of cutting
 * it that may be the fastest at some clock of the chip; `arena` owns them. false: no
 * memory. */
bool ft__algorithms_make(const ft__algorithm **out, uint32_t *n, const ft__op_kernel *p,
                         const ft__pace *pace, ft__arena *arena);

/* An operation with all found of it that no clock and no cap changes: to be priced at
 * many of them. Stays where it is made. */
typedef struct ft__op_range {
    ft__work work;
    const ft__algorithm *algorithm[FT__MAX_OP_KERNELS];
    uint32_t n_algorithms[FT__MAX_OP_KERNELS];
    ft__hardware_range chips;
    ft__hardware_spec chip; /* as it was priced last */
    const ft__physics_params *params;
    ft__physics_params cpu; /* room for them */
    ft__pace pace;
    bool multiplies;
} ft__op_range;
/* On a device as it comes, of which *t is what ft__physics() says, but launch_s and
 * total_s. `params` and the device are borrowed; `arena` owns what is found; false: no
 * memory. */
bool ft__op_range_make(ft__op_range *out, ft__terms *t, const ft_op *op,
                       const ft_device_facts *d, const char *policy,
                       const ft__physics_params *params, ft__arena *arena);
/* The same at an operating point, of which a cap leaves `held` of the clock; power_w of
 * it is what multiplies has as its budget. */
void ft__op_range_cost(ft__terms *t, ft__op_range *r, const ft__operating_point *at,
                       double held);

#endif
