/* Operations that read, write and do little else, as the kernels that PyTorch and
 * servers of language models have for them: pools, softmax, norms, sums, elementwise.
 */
#include <math.h>

#include "graph/op.h"
#include "physics/op_kernel_cost.h"

/* PyTorch's block of a row (SoftMax.cu) has a thread for each 16 to 32 B, up to 512: 24
 * here, so that no row is faster than a shorter one. It reads the row for its maximum,
 * its sum and its results; backward, both operands for a sum and the results. Between
 * those times cores read and write their other blocks' rows, each of which one core has
 * alone. */
static void wide_softmax(ft__op_kernel *p, const ft_op *op,
                         const ft__hardware_spec *chip)
{
    const double row = p->row * p->size;
    const double threads = fmin(row / 24, 512);
    const double at_once = chip->cores * chip->threads / threads;

    p->rows = ft__elements_of(op) / p->row;
    p->again = (op->phase == FT_PHASE_BACKWARD ? 1 : 2) * p->read;
    p->apart = 2 * fmin(at_once, p->rows) * row / ft__cache_copies(chip);
}

static void softmax(ft__op_kernel *p, const ft_op *op, const ft__hardware_spec *chip)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t axis = ft_op_at(op, FT_K_axis, 0);

    p->row = 1;
    if (axis < 0 || axis >= x.rank)
        return;
    p->row = (double)x.dim[axis];
    for (uint32_t a = (uint32_t)axis + 1; a < x.rank; a++)
        p->strided |= x.dim[a] > 1;
    if (chip->gpu && p->row > FT__IN_REGISTERS && !p->strided)
        wide_softmax(p, op, chip);
}

/* A thread for each result, backward for each number of the input. */
static void pool(ft__op_kernel *p, const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    p->places =
        op->phase == FT_PHASE_BACKWARD ? ft__elements_of(op) : ft__result_elements(op);
    p->taps = 1;
    for (uint32_t i = 0; i + 2 < x.rank; i++)
        p->taps *= fmax(1, (double)ft_op_at(op, FT_K_kernel, i));
}

/* PyTorch has a kernel for each gradient. That of a factor which was repeated is
 * written as large as the result and then added up (derivatives.yaml); a norm's weights
 * have one that reads both tensors again (layer_norm_kernel.cu). */
static void unfused_gradient(ft__op_kernel *p, const ft_op *op, const ft_op *forward)
{
    const uint32_t wrt = ft_op_wrt(op), both = FT_WRT_X | FT_WRT_Y;
    const double all = ft__result_elements(forward);
    const double result = all * (double)ft_dtype_bits(op->dtype) / 8;

    if (op->kind == FT_KIND_layernorm && wrt & FT_WRT_WEIGHTS) {
        p->unfused = 2 * result;
        p->kernels = 2;
    } else if (op->kind == FT_KIND_mul && (wrt & both) == both) {
        const ft_shape y = ft_op_shape(op, FT_K_y);
        const int repeated =
            (ft__elements_of(op) < all) + ((double)ft_shape_elements(&y) < all);

        p->unfused = (1 + 2 * repeated) * result;
        p->kernels = 2 + repeated;
    }
}

/* PyTorch's maxima come with the places that they were found at, 8 B each, asked for or
 * not (max_pool2d_with_indices). Its logsumexp is the maximum, what is less than it,
 * its exponential in place and their sum (ReduceOps.cpp): 6 passes, of which one is
 * read. */
static double unfused_b(const ft_op *op)
{
    switch (op->kind) {
    case FT_KIND_maxpool1d:
    case FT_KIND_maxpool2d:
    case FT_KIND_maxpool3d: return 8 * ft__result_elements(op);
    case FT_KIND_reduce_logsumexp:
        return 5 * ft__elements_of(op) * (double)ft_dtype_bits(op->dtype) / 8;
    default: return 0;
    }
}

double ft__norm_blocks(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    double images = (double)x.dim[0];

    switch (op->kind) {
    case FT_KIND_batchnorm: return ft_op_at(op, FT_K_train, 0) ? (double)x.dim[1] : 0;
    case FT_KIND_instancenorm: return images * (double)x.dim[1];
    case FT_KIND_groupnorm: return images * (double)ft_op_at(op, FT_K_groups, 0);
    default: return 0;
    }
}

static void norm(ft__op_kernel *p, const ft_op *op)
{
    double all = ft__elements_of(op);

    if (op->kind == FT_KIND_layernorm || op->kind == FT_KIND_rmsnorm)
        p->row = ft__norm_elements(op);
    if (p->row > 0)
        p->rows = all / p->row;
    p->blocks = ft__norm_blocks(op);
    /* What was read for the statistics is read again: backward, the gradient, too. */
    if (p->blocks > 0)
        p->again = (op->phase == FT_PHASE_BACKWARD ? 2 : 1) * all * p->size;
    if (op->layout == FT_LAYOUT_CHANNELS_LAST)
        p->blocks = 0;
}

/* Kernels that servers have for norms (a row a block), rotations and gated activations:
 * threads load and store one number after another (norms read twice, and the weights;
 * rotations read a cosine or a sine with each; activations wait for an exponential and
 * a division between two loads and a store, as long as for half as much again).
 * PyTorch's gather of an embedding finds a place for each. */
static void one_by_one(ft__op_kernel *p, const ft_op *op)
{
    const double all = ft__result_elements(op);

    if (op->phase != FT_PHASE_FORWARD)
        return;
    if (op->kind == FT_KIND_rmsnorm)
        p->single = 4 * all;
    if (op->kind == FT_KIND_rotary)
        p->single = 3 * all;
    if (op->kind == FT_KIND_swiglu)
        p->single = 4.5 * all;
    if (op->kind == FT_KIND_embedding)
        p->gathered = all;
    if (op->kind == FT_KIND_cast && ft_dtype_bits(op->dtype) == 16 &&
        ft_op_at(op, FT_K_to, 0) == FT_DTYPE_fp32)
        p->single = 2 * all;
}

/* Results of 16 and 32 bits that a core makes in a clock where threads wait for what
 * they asked for: vidur's additions in fp16 in an A100's cache 2.6 to 3.0, gelu in bf16
 * on what is taken for an H100 2.7 (pytorch/pytorch 141959). Those are of kernels that
 * ask for four numbers at once; eight make relu 4 to 5 % faster (145746). FLOPs in
 * whose place the instructions of one are issued: a load, a store and finding the place
 * for every four; opening, computing, closing. */
static const double AWAITED_RESULTS = 2.8, RESULT_FLOPS = 14;

/* PyTorch's own elementwise kernels, as measured on Ampere and Hopper: a B200 makes
 * five results of 8 bits a clock (pytorch/pytorch 174553); before Ampere memory is
 * slower. Copies in networks are of permuted tensors. Each gradient has such a kernel,
 * but those of sums, differences and copies, which are the result's. */
static void wait_for_loads(ft__op_kernel *p, const ft_op *op, const ft_op *forward,
                           const ft__hardware_spec *chip)
{
    const ft_class class = ft_kind_class(op->kind);
    const bool back = op->phase == FT_PHASE_BACKWARD;
    const double results =
        ft__result_elements(forward) * (back ? ft_op_n_outputs(op) : 1);

    if (back && (op->kind == FT_KIND_add || op->kind == FT_KIND_sub ||
                 op->kind == FT_KIND_copy))
        return;
    if (!chip->ampere || chip->blackwell || chip->fused || chip->tensorflow ||
        p->size < 2 ||
        (class != FT_CLASS_UNARY && class != FT_CLASS_BINARY &&
         op->kind != FT_KIND_copy))
        return;
    p->waits = results / AWAITED_RESULTS / chip->cores;
    p->lanes += RESULT_FLOPS * results;
}

/* Clocks until a number has come from memory: A100 290, T4 296 (microbenchmarks of
 * Abdelkhalik et al. 2022, Jia et al. 2019). Those in which the threads of a block add
 * in shared memory once and meet: between what KernelBench's sums along rows take on an
 * A10, 66, and on an A100, 130. */
static const double LOAD_CLOCKS = 290, MEETING_CLOCKS = 100;

/* PyTorch's running sums along the last axis (ScanUtils.cuh) have blocks of 512
 * threads. The longer and fewer rows are, the more of them are a row's: they load two
 * numbers each, add in doubling steps and store. A single row is CUB's. */
static double running_sum_clocks(const ft_op *op, const ft__hardware_spec *chip)
{
    enum { LOG_THREADS = 9, LEAST_LOG = 4 };
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const double row = (double)x.dim[x.rank - 1], all = ft__elements_of(op);
    const double at_once = chip->cores * floor(chip->threads / exp2(LOG_THREADS));
    double rows, ratio, steps, blocks;

    if (ft_op_at(op, FT_K_axis, 0) != x.rank - 1 || all <= row || !(at_once > 0))
        return 0;
    rows = all / row;
    ratio = ceil(log2(row)) - ceil(log2(rows));
    steps = fmin(fmax(LEAST_LOG, floor((LOG_THREADS + ratio) / 2)), LOG_THREADS);
    blocks = rows * exp2(steps - LOG_THREADS);
    return ceil(blocks / at_once) * ceil(row / exp2(steps + 1)) *
           (LOAD_CLOCKS + (steps + 3) * MEETING_CLOCKS);
}

/* The mean of logarithms at targets (Loss.cu): one block, each thread of which loads a
 * target, then what is there; backward it stores there and waits for no store. It has
 * 32 threads, on AMD's since PyTorch 2.6 a sixteenth of the rows, up to 1024
 * (pytorch/pytorch 149548). Places of images have more blocks. */
static double target_clocks(const ft_op *op, const ft__hardware_spec *chip)
{
    const ft_shape x = ft_op_shape(op, FT_K_x);
    const double loads = op->phase == FT_PHASE_BACKWARD ? 1 : 2;
    double threads = 32;

    if (x.rank != 2)
        return 0;
    if (chip->amd)
        threads = fmin(fmax(threads, exp2(round(log2(fmax(1, (double)x.dim[0] / 16))))),
                       1024);
    return ceil((double)x.dim[0] / threads) * loads * LOAD_CLOCKS;
}

static ft__op_kernel_kind stream_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_POOL: return FT__OP_KERNEL_POOL;
    case FT_CLASS_NORM: return FT__OP_KERNEL_NORM;
    case FT_CLASS_SOFTMAX: return FT__OP_KERNEL_SOFTMAX;
    default: return FT__OP_KERNEL_STREAM;
    }
}

/* An operand with a 1 where the result has more is read again for each of them: what is
 * touched between lies between it and the cache. Of several such axes the one that
 * reads most. PyTorch's kernel finds each number's place and loads and stores it alone,
 * which was found from Ampere to Hopper. */
static void find_repeats(ft__op_kernel *p, const ft_op *op, double touched,
                         const ft__hardware_spec *chip)
{
    const bool single = chip->ampere && !chip->blackwell;
    ft_shape out, in;
    ft_dtype t;

    ft_op_output(op, 0, &out, &t);
    for (uint32_t i = 0; i < ft_op_n_inputs(op); i++) {
        double inside = 1, all, per = touched / (double)ft_shape_elements(&out);

        ft_op_input(op, i, &in, &t);
        all = (double)ft_tensor_bytes(&in, t);
        if (single && ft_shape_elements(&in) > 1 &&
            ft_shape_elements(&in) < ft_shape_elements(&out))
            p->single = (ft_op_n_inputs(op) + 1) * (double)ft_shape_elements(&out);
        for (uint32_t a = 1; a <= out.rank; a++) {
            int64_t wide = out.dim[out.rank - a],
                    own = a <= in.rank ? in.dim[in.rank - a] : 1;
            double again = all * (double)(wide - own);

            if (own == 1 && wide > 1 && again > p->again && inside > 1) {
                p->again = again;
                p->apart = inside * per;
            }
            inside *= (double)own;
        }
    }
}

/* Engines of language models reduce for the scale of a tensor: TensorRT-LLM in three
 * passes; vLLM by the way, in the kernel that narrows it. Decided on an H200. */
static void find_scale(ft__op_kernel *p, const ft__hardware_spec *chip)
{
    p->kernels = chip->packed ? 3 : chip->masked ? 0.25 : 1;
    p->read *= chip->packed ? 3 : 1;
}

/* Of a power of up to 32 bits, as compilers make it: NVCC 43 of arithmetic; from Volta
 * on, the 32 other instructions issue in parallel. ROCm 5.2 for an MI100 180 and two of
 * a quarter of their rate. Of 64 bits as many are a lower bound. */
static double power_instructions(const ft__hardware_spec *chip)
{
    return chip->amd && chip->stacked ? 188 : chip->early ? 75 : 43;
}

void ft__memory_pass_kernel(ft__op_kernel *p, const ft_op *op, const ft_op *forward,
                            const ft__hardware_spec *chip)
{
    const ft_class class = ft_kind_class(op->kind);
    const bool back = op->phase == FT_PHASE_BACKWARD, gpu = chip->gpu;
    ft_cost cost;

    ft_op_cost(op, &cost);
    p->what = stream_of(op);
    p->read = cost.bytes_read;
    p->written = cost.bytes_written;
    p->special = cost.transcendentals;
    if (op->kind == FT_KIND_pow && gpu)
        p->lanes = 2 * power_instructions(chip) * cost.transcendentals;
    if (op->kind == FT_KIND_reduce_max)
        find_scale(p, chip);
    if (p->what == FT__OP_KERNEL_SOFTMAX)
        softmax(p, op, chip);
    if (p->what == FT__OP_KERNEL_NORM)
        norm(p, op);
    if (p->what == FT__OP_KERNEL_POOL)
        pool(p, op);
    if (op->kind == FT_KIND_cumsum)
        p->waits = running_sum_clocks(op, chip);
    if (op->kind == FT_KIND_cross_entropy)
        p->waits = target_clocks(op, chip);
    one_by_one(p, op);
    wait_for_loads(p, op, forward, chip);
    if (!back)
        p->unfused = unfused_b(op);
    else if (gpu && !chip->fused)
        unfused_gradient(p, op, forward);
    if (!back && (class == FT_CLASS_BINARY || op->kind == FT_KIND_where))
        find_repeats(p, op, p->read + p->written, chip);
}
