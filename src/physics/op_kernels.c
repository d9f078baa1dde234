/* An operation as the kernels it is run as. */
#include "physics/op_kernels.h"

#include <math.h>
#include <string.h>

#include "graph/op.h"
#include "physics/op_kernel_cost.h"

static ft__op_kernel *next(ft__work *w, ft__op_kernel_kind what, const ft_op *op)
{
    ft__op_kernel *p =
        &w->op_kernel[w->n < FT__MAX_OP_KERNELS ? w->n++ : FT__MAX_OP_KERNELS - 1];

    *p = (ft__op_kernel){.what = what,
                         .count = 1,
                         .kernels = 1,
                         .batch = 1,
                         .taps = 1,
                         .size = (double)ft_dtype_bits(op->dtype) / 8};
    return p;
}

static void stream(ft__work *w, ft__op_kernel_kind what, const ft_op *op, double reads,
                   double writes)
{
    ft__op_kernel *p = next(w, what, op);

    p->read = reads * p->size;
    p->written = writes * p->size;
}

/* cuDNN does not pad one side more than the other, so that TensorFlow 1 copies the
 * input with its padding first (conv_ops.cc, conv_grad_*_ops.cc). */
static bool is_uneven(const ft_op *op)
{
    bool uneven = false;

    for (uint32_t i = 0; i + 2 < ft_op_shape(op, FT_K_x).rank; i++) {
        int64_t begin, end;

        ft_op_pad(op, i, &begin, &end);
        uneven |= begin != end;
    }
    return uneven;
}

/* Lane operations for a number that TensorFlow 1 moves between channels last and first
 * (SwapDimension1And2InTensor3, conv_ops_gpu_3.cu.cc), beside memory: below 16
 * channels, and of weights, each thread finds one by divisions, from 16 on tiles of 32
 * x 32 are moved. By Justus' convolutions of 1 x 1 in steps of 3 and 4 on an M60, a
 * P100 and a GTX 1080 Ti, whose bandwidth for each lane differs by 1.7; divisions take
 * a K80 more: Keplers multiply integers with 32 of 192 lanes (CUDA C Programming
 * Guide). */
static const double FOUND = 140, IN_TILES = 60, WIDE_CORE = 1.4;

static double swaps(const ft__op_kernel *conv, const ft_op *forward,
                    const ft__hardware_spec *chip)
{
    const double input = ft__elements_of(forward),
                 result = conv->tensors / conv->size - input;
    const double weights = (conv->read + conv->written - conv->tensors) / conv->size;
    const bool few_in = ft_op_shape(forward, FT_K_x).dim[1] < 16,
               few_out = ft_op_at(forward, FT_K_out, 0) < 16;
    const double found = chip->lanes > 140 ? WIDE_CORE * FOUND : FOUND;

    return input * (few_in ? found : IN_TILES) + result * (few_out ? found : IN_TILES) +
           weights * found;
}

/* A product of a convolution, and what it does to the layout. */
static void conv_pass(ft__work *w, const ft_op *forward, int gradient,
                      const ft__hardware_spec *chip)
{
    ft__op_kernel *p = next(w, FT__OP_KERNEL_CONV, forward);
    double tensors, lanes;

    ft__conv_kernel(p, forward, gradient);
    p->kernels += ft__padding_kernels(p, chip);
    tensors = p->tensors / p->size;
    lanes = chip->tensorflow && chip->gpu && !(chip->tensor && p->size > 2)
                ? 2 * swaps(p, forward, chip)
                : 0; /* TF32 counts its own: ft__tensor_cost() */
    if (chip->tensorflow && is_uneven(forward))
        stream(w, FT__OP_KERNEL_STREAM, forward, ft__elements_of(forward),
               ft__elements_of(forward));
    stream(w, FT__OP_KERNEL_LAYOUT, forward, tensors, tensors);
    w->op_kernel[w->n - 1].kernels = 0;
    w->op_kernel[w->n - 1].lanes = lanes;
}

/* Bytes of an element of the type that a key names; of the operation's own where it
 * names none. */
static double size_of(const ft_op *op, ft_key_id key)
{
    const int64_t type = ft_op_at(op, key, 0);

    return (double)ft_dtype_bits(type ? (ft_dtype)type : op->dtype) / 8;
}

/* Of a weight, with its part of a scale where few share one: that is a type between two
 * (K-quants). */
static double weight_size(const ft_op *op)
{
    const int64_t block = ft_op_at(op, FT_K_block, 0);
    const double scale = block > 0 && block < 16 ? 2.0 / (double)block : 0;

    return size_of(op, FT_K_weights) + scale;
}

/* Layers multiply in fewer bits than what they are given and return: that is scaled and
 * written in the narrow type first. */
static bool is_quantized(const ft_op *op)
{
    const ft_dtype to = (ft_dtype)ft_op_at(op, FT_K_to, 0);

    return op->kind == FT_KIND_linear && op->phase == FT_PHASE_FORWARD &&
           ft_dtype_bits(op->dtype) < 16 &&
           (to == FT_DTYPE_bf16 || to == FT_DTYPE_fp16);
}

/* So many numbers of 16 bits to what the operation multiplies: a kernel that finds
 * their scales, and one that writes them. */
static void quantize(ft__work *w, const ft_op *op, double numbers)
{
    ft__op_kernel *p = next(w, FT__OP_KERNEL_QUANTIZE, op);

    p->kernels = 2;
    p->read = 2 * numbers;
    p->written = numbers * p->size;
}

/* Floats of less than 16 bits, and integers with scales for blocks of the weights. */
static bool is_scaled(const ft_op *op)
{
    switch (op->dtype) {
    case FT_DTYPE_fp8e4m3:
    case FT_DTYPE_fp8e4m3uz:
    case FT_DTYPE_fp8e5m2:
    case FT_DTYPE_fp8e5m2uz:
    case FT_DTYPE_fp4: return true;
    default: return ft__has_block_scales(op);
    }
}

/* What libraries call TN: as layers keep their weights, but those of TensorFlow 1. */
static bool is_crossed(const ft_op *op, const ft__hardware_spec *chip)
{
    return op->phase == FT_PHASE_FORWARD &&
           ((op->kind == FT_KIND_linear && !chip->tensorflow) ||
            ft_op_at(op, FT_K_order, 0) == 1);
}

/* Matrices by vectors, and numbers by numbers, are sums of threads and no tiles: GPUs
 * are done when they have read them, but those before Volta that add up 8 bits. */
static void sums(ft__op_kernel *p)
{
    p->what = FT__OP_KERNEL_STREAM;
    p->lanes = p->flops;
}

/* Weights of fewer bits than the 16 or 32 that they are multiplied with. */
static bool is_packed(const ft_op *op)
{
    const int64_t own = ft_op_at(op, FT_K_weights, 0);

    return own && ft_dtype_bits((ft_dtype)own) < 16 && ft_dtype_bits(op->dtype) >= 16 &&
           op->phase == FT_PHASE_FORWARD &&
           (op->kind == FT_KIND_linear || op->kind == FT_KIND_moe);
}

/* They are of the product's first operand where it has more of them than rows: the
 * longer side comes first. */
static void pack(ft__op_kernel *p, const ft_op *op)
{
    const double out = (double)ft_op_at(op, FT_K_out, 0);
    const double rows = p->m * p->n / out;

    p->packed = weight_size(op);
    p->packed_last = rows > out;
    p->weights = p->k * out * p->packed;
    p->read = rows * p->k * p->size + p->weights;
}

/* Rows and columns as the operation has them; products are known with more rows than
 * columns. */
static void lay_out(ft__op_kernel *p, const ft_op *op)
{
    const ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);

    p->m = (double)x.dim[x.rank - 2];
    p->n = (double)y.dim[y.rank - 1];
}

/* The gradient of a recurrent layer's weights. */
static bool sums_over_steps(const ft_op *op)
{
    return op->phase == FT_PHASE_BACKWARD && ft__rnn_gates(op->kind) &&
           ft_op_wrt(op) & FT_WRT_WEIGHTS;
}

/* DeepBench's recurrent layers skip the product of their input (CUDNN_SKIP_INPUT), and
 * find states' gradients before those of weights are timed. Weights' gradients of a
 * P100 would be at twice its peak otherwise. */
static bool is_left_out(const ft_op *op, uint32_t i, uint32_t n)
{
    return ft__rnn_gates(op->kind) && (i == 0 || (i + 1 < n && sums_over_steps(op)));
}

/* Beside a step's product cuDNN has one for the new state. MIOpen has one for each
 * activation, product of gates, sum and copy (its rnnocl.cpp), but by 2.4 one for an
 * LSTM's state. */
static double state_kernels(const ft_op *op, const ft__hardware_spec *chip)
{
    const bool back = op->phase == FT_PHASE_BACKWARD;

    if (chip->amd && op->kind == FT_KIND_gru)
        return back ? 12 : 8;
    if (chip->amd && op->kind == FT_KIND_lstm && chip->early_miopen)
        return back ? 9 : 6;
    return 1;
}

static void products(ft__work *w, const ft_op *op, const ft__hardware_spec *chip)
{
    ft_product list[FT_MAX_PRODUCTS];
    uint32_t n = ft_op_products(op, list);
    const bool gpu = chip->gpu;

    if (is_quantized(op))
        quantize(w, op, ft__elements_of(op));
    for (uint32_t i = 0; i < n; i++) {
        ft__op_kernel *p;
        ft_shape x = ft_op_shape(&list[i].op, FT_K_x),
                 y = ft_op_shape(&list[i].op, FT_K_y);

        if (chip->apart && is_left_out(op, i, n))
            continue;
        p = next(w, FT__OP_KERNEL_PRODUCT, op);
        p->count = (double)list[i].count;
        p->batch = (double)x.dim[0];
        p->m = (double)x.dim[1];
        p->k = (double)x.dim[2];
        p->n = (double)y.dim[2];
        if (i + 1 == n && sums_over_steps(op)) {
            /* The weights' gradient waits for the last step, and sums over all. */
            p->k *= p->count;
            p->count = 1;
        } else if (gpu && 2 * i + 1 >= n && ft__rnn_gates(op->kind)) {
            p->kernels = 1 + state_kernels(op, chip);
            p->gates = (int)ft__rnn_gates(op->kind);
        }
        p->flops = 2 * p->batch * p->m * p->k * p->n;
        p->weights = op->kind == FT_KIND_linear ? p->k * p->n * weight_size(op) : 0;
        p->read = p->batch * (p->m * p->k * p->size + p->k * p->n * weight_size(op));
        p->written = p->batch * p->m * p->n * size_of(op, FT_K_to);
        if (is_packed(op))
            pack(p, op);
        p->gradient = op->phase == FT_PHASE_BACKWARD ? FT_WRT_X : 0;
        p->crossed = is_crossed(op, chip);
        p->batched = op->kind == FT_KIND_matmul && p->batch > 1;
        if (p->batched && op->phase == FT_PHASE_FORWARD)
            lay_out(p, op);
        p->scaled = is_scaled(op);
        if (gpu && op->kind == FT_KIND_matmul && fmin(p->m, p->n) == 1 &&
            !(chip->early && p->size < 2))
            sums(p);
    }
}

/* Kernels that find where the rows of each expert go: they are counted, offsets follow
 * from that, and rows are sorted by them, each in a kernel or two. Decided on an H200.
 */
static const double ROUTING = 4;

/* The products of all experts of this device by one of their matrices, in one kernel;
 * picks: rows of all of them. written: rows of the result. */
static void grouped_product(ft__work *w, const ft_op *op, double picks, double written,
                            double in, double out)
{
    const double weight = weight_size(op), used = ft__experts_read(op);
    ft__op_kernel *p = next(w, FT__OP_KERNEL_PRODUCT, op);

    p->batch = used;
    p->m = fmax(1, picks / used);
    p->k = in;
    p->n = out;
    p->flops = 2 * p->batch * p->m * p->k * p->n;
    p->read = p->batch * (p->m * p->k * p->size + p->k * p->n * weight);
    p->written = written * out * size_of(op, FT_K_to);
    p->crossed = op->phase == FT_PHASE_FORWARD;
    p->gradient = op->phase == FT_PHASE_BACKWARD ? FT_WRT_X : 0;
    p->grouped = 1;
    p->scaled = is_scaled(op);
    if (is_packed(op)) {
        p->packed = weight;
        p->packed_last = 1;
    }
}

/* Backward, the gradients of the rows, and of each expert's matrix where it is trained.
 */
static void grouped_gradients(ft__work *w, const ft_op *op, double picks, double in,
                              double out)
{
    ft__op_kernel *p;

    grouped_product(w, op, picks, picks, out, in);
    if (!(ft_op_wrt(op) & FT_WRT_WEIGHTS))
        return;
    grouped_product(w, op, picks, picks, in, out);
    p = &w->op_kernel[w->n - 1];
    p->read = picks * (in + out) * p->size;
    p->written = p->batch * in * out * size_of(op, FT_K_to);
    p->k = p->m;
    p->m = in;
}

/* A mixture of experts: the rows that each expert of this device is given, gathered, by
 * its two matrices side by side, the activation between, by the third, and added up
 * where they came from. masked: nothing is gathered, and what stands between products
 * has rows for the picks of other devices' experts, too (vLLM's fused_moe with an
 * expert_map). */
static void mixture(ft__work *w, const ft_op *op, int masked)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    const double size = (double)x.dim[x.rank - 1], rows = ft__elements_of(op) / size;
    const double all = rows * (double)ft_op_at(op, FT_K_topk, 0);
    const double picks = all / fmax(1, (double)ft_op_at(op, FT_K_ep, 0));
    const double passed = masked ? all : picks;
    const double hidden = (double)ft_op_at(op, FT_K_hidden, 0) /
                          fmax(1, (double)ft_op_at(op, FT_K_tp, 0));
    const double wide = ft_op_at(op, FT_K_gated, 0) ? 2 : 1;
    const bool narrow = ft_dtype_bits(op->dtype) < 16;
    /* What is given and returned is as wide as the result. */
    const double width = 8 * size_of(op, FT_K_to) / (double)ft_dtype_bits(op->dtype);
    const double gathered = masked ? 0 : picks * size * width;

    stream(w, FT__OP_KERNEL_STREAM, op, gathered, gathered);
    if (op->phase == FT_PHASE_BACKWARD) {
        grouped_gradients(w, op, picks, hidden, size);
        stream(w, FT__OP_KERNEL_STREAM, op, (wide + 1) * picks * hidden * width,
               (wide + 1) * picks * hidden * width);
        grouped_gradients(w, op, picks, size, wide * hidden);
        stream(w, FT__OP_KERNEL_STREAM, op, picks * size * width, rows * size * width);
        return;
    }
    w->op_kernel[w->n - 1].kernels += ROUTING;
    if (narrow)
        quantize(w, op, (masked ? rows : picks) * size);
    grouped_product(w, op, picks, passed, size, wide * hidden);
    stream(w, FT__OP_KERNEL_STREAM, op, wide * passed * hidden * width,
           passed * hidden * width);
    if (narrow)
        quantize(w, op, passed * hidden);
    grouped_product(w, op, picks, passed, hidden, size);
    stream(w, FT__OP_KERNEL_STREAM, op, passed * size * width, rows * size * width);
}

/* PyTorch's own kernels, which the norms of groups and of images have (a batch's are
 * cuDNN's): one finds the moments, another reads again and writes. */
static bool has_moments(const ft_op *op)
{
    return (op->kind == FT_KIND_groupnorm || op->kind == FT_KIND_instancenorm) &&
           op->phase == FT_PHASE_FORWARD && op->layout != FT_LAYOUT_CHANNELS_LAST;
}

static void norm_by_moments(ft__work *w, const ft_op *op)
{
    const double all = ft__elements_of(op);

    stream(w, FT__OP_KERNEL_MOMENTS, op, all, 0);
    w->op_kernel[w->n - 1].blocks = ft__norm_blocks(op);
    stream(w, FT__OP_KERNEL_STREAM, op, all, all);
}

/* On one of the devices. Sums before Volta: 8 a machine, unless several are named. */
static void collective(ft__work *w, const ft_op *op, const ft__hardware_spec *chip)
{
    ft__op_kernel *p = next(w, FT__OP_KERNEL_COLLECTIVE, op);

    p->m = (double)ft_op_at(op, FT_K_ranks, 0);
    p->n = (double)ft_op_at(op, FT_K_nodes, 0);
    p->sums = ft_op_at(op, FT_K_mode, 0) == 0;
    if (chip->early && p->sums && !ft_op_shape(op, FT_K_nodes).rank)
        p->n = fmax(1, p->m / 8);
    p->sends = ft_op_at(op, FT_K_mode, 0) == 2;
    p->read = p->written = p->size * ft__result_elements(op);
}

/* Forward or backward, alone. */
static void one_phase(ft__work *w, const ft_op *op, const ft_op *forward,
                      const ft__hardware_spec *chip)
{
    uint32_t wrt = ft_op_wrt(op);
    ft_class class = ft_kind_class(op->kind);
    int back = op->phase == FT_PHASE_BACKWARD;

    if (class == FT_CLASS_VIEW)
        return;
    if (class == FT_CLASS_CONV && op->kind != FT_KIND_deform_conv2d) {
        if (!back)
            conv_pass(w, forward, 0, chip);
        if (back && wrt & FT_WRT_X)
            conv_pass(w, forward, FT_WRT_X, chip);
        if (back && wrt & FT_WRT_WEIGHTS)
            conv_pass(w, forward, FT_WRT_WEIGHTS, chip);
    } else if (op->kind == FT_KIND_moe) {
        mixture(w, op, chip->masked);
    } else if (op->kind == FT_KIND_collective) {
        collective(w, op, chip);
    } else if (class == FT_CLASS_MATMUL) {
        products(w, op, chip);
    } else if (chip->gpu && has_moments(op)) {
        norm_by_moments(w, op);
    } else {
        ft__memory_pass_kernel(next(w, FT__OP_KERNEL_STREAM, op), op, forward, chip);
        return;
    }
    if (ft_op_at(op, FT_K_bias, 0) && (!back || wrt & FT_WRT_WEIGHTS)) {
        stream(w, FT__OP_KERNEL_BIAS, op, ft__result_elements(forward),
               back ? 0 : ft__result_elements(forward));
        w->op_kernel[w->n - 1].alone =
            back || class == FT_CLASS_CONV || chip->tensorflow;
    }
}

/* TensorFlow 1 has a kernel for each array that an optimizer writes, others one. */
static void update_all(ft__work *w, const ft_op *forward, double numbers,
                       const ft__hardware_spec *chip)
{
    const double writes = 1 + chip->slots;

    stream(w, FT__OP_KERNEL_STREAM, forward, numbers * chip->reads, numbers * writes);
    w->op_kernel[w->n - 1].kernels = chip->tensorflow ? writes : 1;
}

static void optimizer(ft__work *w, const ft_op *forward, bool step,
                      const ft__hardware_spec *chip)
{
    ft_cost cost;

    ft_op_cost(forward, &cost);
    if (cost.weight_elements > 0)
        update_all(w, forward, cost.weight_elements, chip);
    if (!step)
        return;
    update_all(w, forward, ft__elements_of(forward), chip);
    if (chip->tensorflow)
        update_all(w, forward, ft__result_elements(forward), chip);
    else
        w->op_kernel[w->n - 1].partial = 1;
}

/* An optimizer's own operation, of one parameter: frameworks update many in one kernel,
 * so that none is its own. */
static void update(ft__work *w, const ft_op *op)
{
    ft__op_kernel *p = next(w, FT__OP_KERNEL_STREAM, op);
    ft_cost cost;

    ft_op_cost(op, &cost);
    p->phase = op->phase;
    p->read = cost.bytes_read;
    p->written = cost.bytes_written;
    p->kernels = 0;
}

/* Who measures an operation forward and backward, again and again, adds its gradients
 * to those that are there: every one passes three times. */
static void accumulate(ft__work *w, const ft_op *back)
{
    for (uint32_t i = 0; i < ft_op_n_outputs(back); i++) {
        double n;
        ft_shape s;
        ft_dtype t;

        ft_op_output(back, i, &s, &t);
        n = (double)ft_shape_elements(&s);
        stream(w, FT__OP_KERNEL_STREAM, back, 2 * n, n);
        w->op_kernel[w->n - 1].added = 1;
    }
}

/* Of the mean of squared differences, as Justus et al. have it: difference, square,
 * sum; back a constant, its mean, twice the difference, their product, and the
 * target's, which is a variable as well. */
static void tensorflow_loss(ft__work *w, const ft_op *op, double results)
{
    stream(w, FT__OP_KERNEL_STREAM, op, 9 * results, 7 * results);
    w->op_kernel[w->n - 1].kernels = 8;
}

/* TensorFlow 1's Session.run() from Python, around what it starts: the middle of 80 us
 * for an operation that does nothing on a workstation of its makers
 * (Session.make_callable's commit), 120 by PipelineAI, 130 by github.com/sillycross and
 * Justus' smallest layers on a GTX 1080 Ti, an M60, a K80 and a P100 (110 to 350), less
 * what is counted by itself. */
static const ft__calls session_run = {.floor = -1, .each = 1, .around = 14};

static void work_make(ft__work *out, const ft_op *op, const ft__hardware_spec *chip)
{
    ft_op forward = *op, back;
    double results;
    const bool step = op->phase == FT_PHASE_STEP;
    const bool both = op->phase == FT_PHASE_FORWARD_BACKWARD || step;

    out->n = 0;
    out->weights = op->phase != FT_PHASE_OPTIMIZER && ft__makes_products(op)
                       ? ft__weights_read(op)
                       : 0;
    out->calls = chip->tensorflow ? session_run : ft__calls_of(op, chip->amd);
    if (chip->bare)
        out->calls.floor = FT__C_inner_start;
    forward.wrt = 0;
    forward.phase = FT_PHASE_FORWARD;
    results = ft__result_elements(&forward);
    if (ft__is_one_attention(op, chip)) {
        ft__attention_kernel(next(out, FT__OP_KERNEL_ATTENTION, op), op);
        for (int i = 0; i < 2 && ft__is_regrouped(&out->op_kernel[0], chip); i++)
            stream(out, FT__OP_KERNEL_STREAM, op, ft__elements_of(op),
                   ft__elements_of(op));
        /* Kernels of single tokens do that themselves. */
        if (op->phase == FT_PHASE_FORWARD &&
            (chip->caches || ft__is_packed_prompt(&out->op_kernel[0], chip)))
            ft__cache_kernel(next(out, FT__OP_KERNEL_CACHE, op), &out->op_kernel[0],
                             chip->packed);
        return;
    }
    if (ft_kind_class(op->kind) == FT_CLASS_OPTIMIZER) {
        update(out, op);
        return;
    }
    if (op->phase != FT_PHASE_OPTIMIZER)
        one_phase(out, both ? &forward : op, &forward, chip);
    if (chip->activated)
        stream(out, FT__OP_KERNEL_STREAM, op, results, results);
    if (both && !(ft_kind_saves(op->kind) & FT_SAVE_NONE)) {
        back = forward;
        back.phase = FT_PHASE_BACKWARD;
        if (chip->activated)
            stream(out, FT__OP_KERNEL_STREAM, op, 2 * results, results);
        one_phase(out, &back, &forward, chip);
        for (uint32_t i = 0; step && !chip->tensorflow && i < out->n; i++)
            out->op_kernel[i].partial = out->op_kernel[i].gradient == FT_WRT_X;
        if (step && chip->tensorflow)
            tensorflow_loss(out, op, results);
        else if (step) /* and its gradient */
            stream(out, FT__OP_KERNEL_STREAM, op, 2 * results, 2 * results);
        else if (!chip->renews)
            accumulate(out, &back);
    }
    if (op->phase == FT_PHASE_OPTIMIZER || step)
        optimizer(out, &forward, step, chip);
}

void ft__work_make(ft__work *out, const ft_op *op, const ft__hardware_spec *chip)
{
    const ft_op wide = chip->widened ? ft__op_widened(op) : *op;

    work_make(out, &wide, chip);
}
