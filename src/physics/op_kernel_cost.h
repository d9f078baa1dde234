/* Shared by the files that estimate one kernel; op_kernel_cost.c chooses among them. */
#ifndef PHYSICS_OP_KERNEL_COST_H
#define PHYSICS_OP_KERNEL_COST_H

#include "physics/op_kernels.h"

/* A margin above rounding errors. */
#define FT__SURELY (1 + 1e-9)
/* Rows of the smallest tensor-core product. */
#define FT__TENSOR_ROWS 16.0

/* A tiling of a product, as far as it does not depend on clocks. */
struct tiling {
    double work;  /* FLOPs, with those that are lost */
    double drawn; /* B from the last-level cache, by so many cores: */
    double cores;
    double extra;  /* B of partial results that are added up */
    double clocks; /* of parts that add to the result atomically */
    double waves;
    uint32_t halved; /* size of the tiles */
    uint32_t split;  /* k, into so many parts */
};

/* An algorithm for a product or convolution: a matrix product of its own, and memory
 * passes before and after it. */
struct ft__algorithm {
    ft__op_kernel op_kernel;
    double share;            /* of the rate of a plain product */
    double added;            /* B of those passes */
    double starts;           /* of kernels */
    int tensor;              /* on tensor cores, of numbers of 16 bits at most */
    bool below_power_budget; /* occupancy is too low for the power budget to bind */
    bool matrix; /* on tensor cores at all: TF32, and convolutions of 16 bits, too */
    const struct tiling *way; /* NULL: worked out as it is priced */
    uint32_t n_ways;
};
enum { MAX_ALGORITHMS = 5, MAX_WAYS = 64 };

/* ceil() of a number that is not negative. */
static inline double ft__up(double v)
{
    const double whole = v < 0x1p52 ? (double)(int64_t)v : v;

    return whole + (whole < v);
}

/* Before Volta, a convolution by vectors of 16 bits (GP100, Jetsons)? The others of the
 * time store such numbers alone, and multiply them as fp32. */
static inline bool ft__has_vectors_of_16_bits(const ft__op_kernel *p,
                                              const ft__hardware_spec *chip)
{
    return chip->early && p->size == 2 && chip->vector_share < 1;
}

/* Bytes of a tile's operands for one step of k, with m and n rows. */
static inline double ft__drawn_b(const ft__op_kernel *p, double m, double n)
{
    const double packed = p->packed > 0 ? p->packed : p->size;

    return p->packed_last ? m * p->size + n * packed : m * packed + n * p->size;
}

/* Seconds to move `bytes` with a working set of the same size. */
double ft__cached_s(double bytes, const ft__pace *pace);
/* Seconds to move all that a kernel reads, `again` B of it twice, and writes. */
double ft__moved_s(const ft__op_kernel *p, double again, const ft__pace *pace);
void ft__passes_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);
void ft__cache_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);
void ft__collective_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);

/* Elements of the operation's first input, and of its result. */
static inline double ft__elements_of(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    return (double)ft_shape_elements(&x);
}

static inline double ft__result_elements(const ft_op *op)
{
    ft_shape s;
    ft_dtype t;

    ft_op_output(op, 0, &s, &t);
    return (double)ft_shape_elements(&s);
}

/* Fills in *p, as one kernel that reads, writes and little else, by the kernels that
 * frameworks have for the kind; forward: the operation it is of. */
void ft__memory_pass_kernel(ft__op_kernel *p, const ft_op *op, const ft_op *forward,
                            const ft__hardware_spec *chip);
/* Blocks of threads that find the statistics of a channel each, or of a group; 0: no
 * statistics are found so. */
double ft__norm_blocks(const ft_op *op);

/* Is the operation a fused attention kernel (forward, on tensor cores)? */
bool ft__is_one_attention(const ft_op *op, const ft__hardware_spec *chip);
void ft__attention_kernel(ft__op_kernel *p, const ft_op *op);
/* What stores the keys and values of an attention's new tokens, and queries where they
 * are packed with these, as a pass of its own. */
void ft__cache_kernel(ft__op_kernel *p, const ft__op_kernel *attention, bool packed);
void ft__attention_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);
/* FlashAttention-2 takes heads that share keys for rows of one product: of several
 * groups of them a token's queries are copied into that order first, and its results
 * back. */
bool ft__is_regrouped(const ft__op_kernel *p, const ft__hardware_spec *chip);
/* Of packed queries, keys and values, more than one token or the first of a sequence.
 */
bool ft__is_packed_prompt(const ft__op_kernel *p, const ft__hardware_spec *chip);

void ft__product_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace);
/* The ways that may be the fastest at some clock of the chip. */
uint32_t ft__product_ways(struct tiling out[MAX_WAYS], const ft__algorithm *a,
                          const ft__pace *pace);

/* Does it run on tensor cores with elements of at most 16 bits? */
int ft__tensor_serves(const ft__op_kernel *p, const ft__hardware_spec *chip);
/* Seconds of full power: what is lost to tiles that are not full draws less. useful_s:
 * of what is asked for. */
double ft__tensor_drawing_s(double useful_s, const ft__terms *t);
/* What is left of the time of tensor cores at the clock of a large product, by which
 * share of a kernel's time they draw. */
double ft__freed(double sustained, double drawing);
void ft__tensor_cost(ft__terms *out, const ft__algorithm *a, const ft__pace *pace);
/* The ways that may be the fastest at some clock of the chip. */
uint32_t ft__tensor_ways(struct tiling out[MAX_WAYS], const ft__algorithm *a,
                         const ft__pace *pace);

/* Products of m x k with k x n: forward (0), the gradient of the data, of the weights.
 * A transposed convolution is another one's gradient of the data. */
void ft__conv_kernel(ft__op_kernel *p, const ft_op *forward, int gradient);
/* Kernels that a library launches to pad the channels of p's input and weights. */
double ft__padding_kernels(const ft__op_kernel *p, const ft__hardware_spec *chip);
/* The algorithms for a convolution, the plainest first; how many. */
uint32_t ft__conv_algorithms(ft__algorithm *out, const ft__op_kernel *p,
                             const ft__hardware_spec *chip, const double *c);
void ft__direct_cost(ft__terms *out, const ft__op_kernel *p, const ft__pace *pace);

#endif
