/* Memory over time, by part: one number per node, what is alive while it runs. In come
 * a graph and a policy, out come the peak, its parts, and two rough rules beside it. */
#include "graph/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "foretell/graph.h"
#include "graph/graph_inside.h"
#include "graph/plan.h"

/* ---- what Python holds ---- */

/* One call of a module: nodes first to last, both included. */
struct call {
    uint32_t first;
    uint32_t last;
    uint32_t parent; /* the call it was made in, FT_NONE: the network's own */
};

/* The calls that are open at a node, outermost first. */
struct open {
    const char *name;
    size_t len;
    uint32_t call;
};

struct frames {
    const ft_graph *g;
    struct call *call;
    uint32_t n_calls, cap_calls;
    uint32_t *of_node; /* innermost call of each forward node */
    struct open open[FT__MAX_DEPTH];
    uint32_t depth;
};

static void close_calls(struct frames *f, uint32_t depth, uint32_t next)
{
    for (; f->depth > depth; f->depth--)
        f->call[f->open[f->depth - 1].call].last = next - 1;
}

static bool open_call(struct frames *f, const char *name, size_t len, uint32_t node)
{
    if (f->n_calls == f->cap_calls) {
        uint32_t cap = f->cap_calls ? 2 * f->cap_calls : 256;
        struct call *p = realloc(f->call, cap * sizeof(*p));

        if (!p)
            return false;
        f->call = p;
        f->cap_calls = cap;
    }
    f->call[f->n_calls] = (struct call){
        .first = node, .parent = f->depth ? f->open[f->depth - 1].call : FT_NONE};
    f->open[f->depth++] = (struct open){name, len, f->n_calls++};
    return true;
}

/* Close the calls that `scope` has left, open those that it has entered. */
static bool enter(struct frames *f, const char *scope, uint32_t node)
{
    uint32_t depth = 0;

    while (*scope && depth < FT__MAX_DEPTH) {
        size_t len = strcspn(scope, "/");

        if (depth == f->depth || f->open[depth].len != len ||
            memcmp(f->open[depth].name, scope, len) != 0) {
            close_calls(f, depth, node);
            if (!open_call(f, scope, len, node))
                return false;
        }
        depth++;
        scope += len + (scope[len] == '/');
    }
    close_calls(f, depth, node);
    return true;
}

static bool find_calls(struct frames *f)
{
    const char *scope = "";
    uint32_t i, n = f->g->n_nodes;

    for (i = 0; i < n && f->g->node[i].phase == FT_PHASE_FORWARD; i++) {
        const ft_node *node = &f->g->node[i];

        if (node->scope != scope && !enter(f, node->scope, i))
            return false;
        scope = node->scope;
        f->of_node[i] = f->depth ? f->open[f->depth - 1].call : FT_NONE;
    }
    close_calls(f, 0, i);
    return true;
}

/* A concatenation that goes to a module has a name in the function that made it;
 * code hardly gives that name to something else. */
static uint32_t named_until(const struct frames *f, uint32_t producer, uint32_t reader)
{
    const ft_node *node = &f->g->node[producer];
    uint32_t call = f->of_node[producer];

    if (f->g->op[node->op].kind != FT_KIND_concat || call == FT_NONE ||
        call == f->of_node[reader])
        return 0;
    return f->call[call].last;
}

/* Tensor t is read by node i: whoever made the outermost call that began after t
 * was there holds it. */
static void hold(const struct frames *f, ft__life *life, uint32_t tensor, uint32_t i)
{
    const ft_tensor *t = &f->g->tensor[tensor];
    uint32_t last = 0;

    if (t->producer == FT_NONE)
        return;
    last = named_until(f, t->producer, i);
    for (uint32_t c = f->of_node[i]; c != FT_NONE; c = f->call[c].parent) {
        if (f->call[c].first <= t->producer)
            break;
        last = f->call[c].last > last ? f->call[c].last : last;
    }
    if (life[t->storage].last < last)
        life[t->storage].last = last;
}

/* Let tensors live as long as Python holds them: what is passed to a module is
 * held by its caller until the call returns (nodes' scopes tell the calls), and a
 * concatenation that is passed on until the call that made it returns. Only
 * nodes of the forward phase are looked at. */
static ft_status hold_frames(ft__life *life, const ft_graph *g, ft_error *err)
{
    uint32_t n = g->n_nodes;
    struct frames f = {.g = g, .of_node = malloc((n + 1) * sizeof(uint32_t))};
    ft_status st = FT_OK;

    if (!f.of_node || !find_calls(&f))
        st = ft_fail(err, FT_ENOMEM, 0, "memory of %s", g->name);
    for (uint32_t i = 0; !st && i < n; i++) {
        const ft_node *node = &g->node[i];

        if (node->phase != FT_PHASE_FORWARD)
            break;
        for (uint32_t j = 0; j < node->n_in; j++)
            hold(&f, life, node->in[j], i);
    }
    free(f.of_node);
    free(f.call);
    return st;
}

/* ---- what PyTorch's CPU kernels allocate beside an operation's tensors ---- */

/* oneDNN's blocked layouts hold channels in sixteens. */
enum { BLOCK = 16 };

/* From so many images on, convolutions as matrix products are not preferred. */
enum { MANY_IMAGES = 16 };

/* A convolution's tensors in bytes, plain and as the kernel wants them; 0 where
 * it takes the plain one. */
struct conv {
    uint64_t x, w, y;
    uint64_t xb, wb, yb;
    bool strided, depthwise;
    int64_t kernel;
};

static uint64_t max2(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t bytes_of(const ft_shape *s, ft_dtype t)
{
    int64_t n = ft_tensor_bytes(s, t);

    return n < 0 ? 0 : (uint64_t)n;
}

static ft_shape padded(ft_shape s)
{
    s.dim[1] = (s.dim[1] + BLOCK - 1) / BLOCK * BLOCK;
    return s;
}

static uint64_t padded_bytes(const ft_op *op, ft_shape s)
{
    s = padded(s);
    return bytes_of(&s, op->dtype);
}

/* A window of one element that skips nothing is a matrix product as it lies. */
static bool is_product(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    uint32_t n;

    ft_op_get(op, FT_K_kernel, &n);
    if (ft_op_at(op, FT_K_groups, 0) != 1 ||
        (x.dim[0] >= MANY_IMAGES && op->layout == FT_LAYOUT_PLAIN))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t begin, end;

        ft_op_pad(op, i, &begin, &end);
        if (ft_op_at(op, FT_K_kernel, i) != 1 || ft_op_at(op, FT_K_stride, i) != 1 ||
            begin != 0 || end != 0)
            return false;
    }
    return true;
}

/* The output of the forward operation, whatever the phase. */
static ft_shape forward_output(const ft_op *op)
{
    ft_op f = *op;
    ft_shape s;
    ft_dtype t;

    f.phase = FT_PHASE_FORWARD;
    f.wrt = 0;
    ft_op_output(&f, 0, &s, &t);
    return s;
}

static struct conv conv_of(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = forward_output(op);
    int64_t groups = ft_op_at(op, FT_K_groups, 0), in = x.dim[1] / groups;
    struct conv c = {.x = bytes_of(&x, op->dtype), .y = bytes_of(&y, op->dtype)};
    ft_shape w = {.rank = 3, .dim = {y.dim[1], in, 1}};
    uint32_t n;

    ft_op_get(op, FT_K_kernel, &n);
    for (uint32_t i = 0; i < n; i++) {
        w.dim[2] *= ft_op_at(op, FT_K_kernel, i);
        c.strided = c.strided || ft_op_at(op, FT_K_stride, i) != 1;
        c.kernel = ft_op_at(op, FT_K_kernel, i);
    }
    c.w = bytes_of(&w, op->dtype);
    c.depthwise = in == 1 && groups > 1;
    /* Images of up to three channels are read as they lie. */
    c.xb = in <= 3 && groups == 1 ? 0 : padded_bytes(op, x);
    c.yb = padded_bytes(op, y);
    if (groups == 1) {
        w.dim[0] = (w.dim[0] + BLOCK - 1) / BLOCK * BLOCK;
        c.wb = c.xb ? padded_bytes(op, w) : bytes_of(&w, op->dtype);
    } else {
        c.wb = c.w;
    }
    return c;
}

static uint64_t conv_forward(const struct conv *c)
{
    return max2(c->xb + c->wb + c->yb, c->yb + c->y) - c->y;
}

/* The gradients of the operand and of the weights, one after the other. */
static uint64_t conv_backward(const struct conv *c, uint32_t wrt)
{
    uint64_t gx = wrt & FT_WRT_X ? c->x : 0, gw = wrt & FT_WRT_WEIGHTS ? c->w : 0;
    uint64_t xb = c->xb ? c->xb : c->x, most = gx + gw;

    if (gx) {
        most = max2(most, c->yb + c->wb + xb);
        most = max2(most, c->strided && !c->depthwise ? 3 * xb : xb + gx);
    }
    /* Wide depthwise windows take plain tensors. */
    if (gw && !(c->depthwise && c->kernel > 3))
        most = max2(most, gx + c->yb + c->xb + c->wb);
    if (gw)
        most = max2(most, gx + gw + c->wb);
    return most - gx - gw;
}

/* Channels-last tensors are taken as they are; the weights are reordered, for the
 * gradient of wide depthwise windows with a whole block for each channel. */
static uint64_t conv_channels_last(const ft_op *op, const struct conv *c)
{
    bool wide = c->depthwise && c->kernel > 3;

    if (op->phase != FT_PHASE_BACKWARD)
        return c->depthwise ? (wide ? c->w : 0) : 2 * c->wb;
    if (wide && (ft_op_wrt(op) & FT_WRT_WEIGHTS))
        return c->w * BLOCK * BLOCK + 2 * c->w;
    return c->depthwise ? 0 : 3 * c->wb;
}

static uint64_t conv_bytes(const ft_op *op)
{
    struct conv c;

    if (is_product(op) || op->kind == FT_KIND_deform_conv2d)
        return 0;
    c = conv_of(op);
    if (op->layout == FT_LAYOUT_CHANNELS_LAST)
        return conv_channels_last(op, &c);
    return op->phase == FT_PHASE_BACKWARD ? conv_backward(&c, ft_op_wrt(op))
                                          : conv_forward(&c);
}

static uint64_t attention_bytes(const ft_op *op)
{
    ft_shape x, y;

    if (op->kind != FT_KIND_attention || !ft_op_at(op, FT_K_train, 0))
        return 0;
    x = ft_op_shape(op, FT_K_x);
    y = ft_op_shape(op, FT_K_y);
    if (x.rank < 4)
        return 0;
    x.dim[x.rank - 1] = y.dim[y.rank - 2];
    return bytes_of(&x, op->dtype);
}

static uint64_t inside_bytes(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    uint64_t bytes = bytes_of(&x, op->dtype);
    bool backward = op->phase == FT_PHASE_BACKWARD;

    if (ft_kind_class(op->kind) == FT_CLASS_CONV)
        return conv_bytes(op);
    switch (op->kind) {
    case FT_KIND_batchnorm:     /* the operand less its mean */
    case FT_KIND_cross_entropy: /* the gradient of the logarithms */
    case FT_KIND_pow: return backward ? bytes : 0;
    case FT_KIND_attention: /* gradients before and behind the softmax */
        return backward ? 2 * attention_bytes(op) : 0;
    case FT_KIND_adam:
    case FT_KIND_adamw: /* the root of the second moment, before and after scaling */
        return 2 * bytes;
    default: return 0;
    }
}

/* ---- inside an operation: buffers of matrix products ---- */

/* M x K by K x N: room for packed panels of both operands, blocked as the library
 * blocks them. Matrices with a side up to `shortest` are multiplied as they lie;
 * transposed weights are packed from `rows` rows on. */
struct products {
    uint64_t fixed;
    int64_t block_m, block_n, block_k, least_k;
    int64_t copies_m; /* of a panel of M rows */
    int64_t shortest_m, shortest_n, rows;
};

static const struct products with_avx512 = {.fixed = 4205088,
                                            .block_m = 384,
                                            .block_n = 9984,
                                            .block_k = 384,
                                            .least_k = 128,
                                            .copies_m = 1,
                                            .shortest_m = 176,
                                            .shortest_n = 176,
                                            .rows = 16};
static const struct products with_avx2 = {.fixed = 17056,
                                          .block_m = 384,
                                          .block_n = 6400,
                                          .block_k = 192,
                                          .least_k = 128,
                                          .copies_m = 2,
                                          .shortest_m = 3,
                                          .shortest_n = 8,
                                          .rows = 4};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static uint64_t packed(const struct products *by, int64_t m, int64_t k, int64_t n,
                       int64_t shortest)
{
    if (m < shortest || n <= by->shortest_n)
        return 0;
    m = by->copies_m * least(m, by->block_m);
    n = least((n + BLOCK - 1) / BLOCK * BLOCK, by->block_n);
    if (k >= 2 * by->block_k)
        k = by->block_k;
    else if (k > by->block_k)
        k = (k + 1) / 2;
    else if (k < by->least_k)
        k = by->least_k;
    return by->fixed + 4 * (uint64_t)k * (uint64_t)(m + n);
}

static uint64_t product(const struct products *by, int64_t m, int64_t k, int64_t n)
{
    return packed(by, m, k, n, by->shortest_m + 1);
}

/* Transposed weights are packed for shorter operands too. */
static uint64_t linear_buffer(const struct products *by, const ft_op *op, bool backward)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t in = x.dim[x.rank - 1], out = ft_op_at(op, FT_K_out, 0);
    int64_t rows = in ? ft_shape_elements(&x) / in : 0;

    return backward ? max2(product(by, rows, out, in), product(by, out, rows, in))
                    : packed(by, rows, in, out, by->rows);
}

static uint64_t matmul_buffer(const struct products *by, const ft_op *op, bool backward)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    int64_t m, k, n;

    if (x.rank < 2 || y.rank < 2)
        return 0;
    m = x.dim[x.rank - 2];
    k = x.dim[x.rank - 1];
    n = y.dim[y.rank - 1];
    return backward ? max2(product(by, m, n, k), product(by, k, m, n))
                    : product(by, m, k, n);
}

static uint64_t conv_buffer(const struct products *by, const ft_op *op, bool backward)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y;
    int64_t pixels = 1;

    if (!is_product(op))
        return 0;
    y = forward_output(op);
    for (uint32_t i = 2; i < y.rank; i++)
        pixels *= y.dim[i];
    if (op->layout == FT_LAYOUT_CHANNELS_LAST && !backward)
        return packed(by, pixels, x.dim[1], y.dim[1], by->rows);
    return backward ? max2(product(by, x.dim[1], y.dim[1], pixels),
                           product(by, y.dim[1], pixels, x.dim[1]))
                    : product(by, y.dim[1], x.dim[1], pixels);
}

/* The fused kernel goes by blocks of queries and of up to 512 keys. */
static uint64_t attention_buffer(const struct products *by, const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x), y = ft_op_shape(op, FT_K_y);
    int64_t queries, keys;

    if (x.rank < 4 || y.rank < 4)
        return 0;
    queries = x.dim[2] >= 768 ? 256 : x.dim[2] >= 192 ? 64 : 32;
    keys = y.dim[2] < 512 ? y.dim[2] : 512;
    return packed(by, queries, x.dim[3], keys, 0);
}

static uint64_t buffer_bytes(const struct products *by, const ft_op *op)
{
    bool backward = op->phase == FT_PHASE_BACKWARD;

    if (op->kind == FT_KIND_linear)
        return linear_buffer(by, op, backward);
    if (op->kind == FT_KIND_matmul)
        return matmul_buffer(by, op, backward);
    if (op->kind == FT_KIND_attention)
        return attention_buffer(by, op);
    return ft_kind_class(op->kind) == FT_CLASS_CONV ? conv_buffer(by, op, backward) : 0;
}

ft__scratch ft__scratch_of(const ft_op *op, uint32_t policy)
{
    const struct products *by = policy & FT_POLICY_MKL_AVX2 ? &with_avx2 : &with_avx512;

    return (ft__scratch){.bytes = inside_bytes(op),
                         .attention = attention_bytes(op),
                         .buffer = buffer_bytes(by, op)};
}

/* ---- memory of a pass or a step ---- */

struct memory {
    ft__arena room;
    const ft_graph *g;
    uint32_t bits;
    ft__life *life;     /* per tensor, those of views are empty */
    uint8_t *part;      /* per tensor: ft_part */
    uint64_t *scratch;  /* per node */
    uint64_t *total;    /* per node */
    ft__scratch *of_op; /* per operation */
    uint64_t always[FT_PART_COUNT];
    uint32_t n_nodes;
    uint32_t n_tensors;
    uint32_t forward_end; /* the first node behind the forward phase */
};

/* ---- which part a tensor belongs to ---- */

static void mark_saved(struct memory *m, uint32_t tensor)
{
    uint32_t s = m->g->tensor[tensor].storage;

    if (m->g->tensor[s].producer < m->forward_end)
        m->part[s] = FT_PART_SAVED;
}

static void find_saved(struct memory *m)
{
    for (uint32_t i = m->forward_end; i < m->n_nodes; i++) {
        const ft_node *node = &m->g->node[i];

        if (node->phase != FT_PHASE_BACKWARD)
            continue;
        for (uint32_t j = 0; j < node->n_in; j++)
            mark_saved(m, node->in[j]);
        for (uint32_t j = 0; j < node->n_params; j++)
            mark_saved(m, node->params[j]);
    }
}

static void find_parts(struct memory *m)
{
    static const uint8_t of_role[] = {
        [FT_ROLE_INPUT] = FT_PART_INPUTS,
        [FT_ROLE_WEIGHT] = FT_PART_WEIGHTS,
        [FT_ROLE_ACTIVATION] = FT_PART_ACTIVATIONS,
        [FT_ROLE_GRADIENT] = FT_PART_GRADIENTS,
        [FT_ROLE_STATE] = FT_PART_STATE,
    };

    for (uint32_t i = 0; i < m->n_nodes; i++)
        if (m->g->node[i].phase != FT_PHASE_FORWARD) {
            m->forward_end = i;
            break;
        }
    find_saved(m);
    for (uint32_t i = 0; i < m->n_tensors; i++) {
        ft_role role = m->g->tensor[i].role;

        if (role != FT_ROLE_ACTIVATION || m->part[i] != FT_PART_SAVED)
            m->part[i] = of_role[role];
    }
}

/* ---- what a policy keeps alive ---- */

/* What PyTorch's CPU kernels save where others save less. */
static void widen_saved(struct memory *m)
{
    for (uint32_t i = 0; i < m->forward_end; i++) {
        const ft_node *node = &m->g->node[i];
        const ft_op *op = &m->g->op[node->op];
        ft__life *kept = node->n_out > 1 ? &m->life[node->out[1]] : NULL;
        uint64_t weights, out;

        if (!kept || (op->kind != FT_KIND_dropout && op->kind != FT_KIND_attention))
            continue;
        weights = attention_bytes(op);
        if (weights && (ft_op_at(op, FT_K_train, 0) & 1))
            weights *= 3;
        out = m->life[node->out[0]].bytes;
        /* A dropout's mask: numbers, not truth values. */
        if (op->kind == FT_KIND_dropout)
            kept->bytes = out;
        /* Attention by way of its weights: those, a dropout's mask and its product,
         * and copies of the operands instead of those; not the result. */
        else if (weights)
            kept->bytes = weights > out ? weights - out : 0;
    }
}

/* The copy of a weight in another type: autocast keeps it to the end of the pass. */
static bool is_weight_copy(const ft_graph *g, const ft_tensor *t)
{
    const ft_node *n = t->producer == FT_NONE ? NULL : &g->node[t->producer];

    return n && g->op[n->op].kind == FT_KIND_cast && n->phase == FT_PHASE_FORWARD &&
           g->tensor[n->in[0]].role == FT_ROLE_WEIGHT;
}

static ft_status live_eagerly(struct memory *m, ft_error *err)
{
    ft_status st = hold_frames(m->life, m->g, err);

    for (uint32_t i = 0; i < m->n_tensors; i++) {
        ft__life *life = &m->life[i];

        if (m->part[i] == FT_PART_GRADIENTS && life->first != FT_NONE)
            life->last = m->n_nodes - 1;
        else if (is_weight_copy(m->g, &m->g->tensor[i]) && life->last != FT_NONE &&
                 life->last + 1 < m->forward_end)
            life->last = m->forward_end - 1;
    }
    return st;
}

/* ---- sums over time ---- */

/* bytes more at nodes first to last; unsigned arithmetic wraps and comes back. */
static void add(struct memory *m, uint64_t bytes, uint32_t first, uint32_t last)
{
    m->total[first] += bytes;
    m->total[last + 1] -= bytes;
}

/* The caller holds the last pass's results until this one returns. */
static bool held_over(const struct memory *m, uint32_t i)
{
    const ft_tensor *t = &m->g->tensor[i];

    return (m->bits & FT_POLICY_EAGER) && t->is_output &&
           (m->part[t->storage] == FT_PART_ACTIVATIONS ||
            m->part[t->storage] == FT_PART_SAVED);
}

static void add_tensors(struct memory *m)
{
    for (uint32_t i = 0; i < m->n_tensors; i++) {
        const ft__life *p = &m->life[i];
        const ft_tensor *t = &m->g->tensor[i];

        if (t->storage == i && (m->part[i] == FT_PART_WEIGHTS ||
                                m->part[i] == FT_PART_STATE || !m->n_nodes))
            m->always[m->part[i]] += p->bytes;
        else if (t->storage == i && p->first != FT_NONE)
            add(m, p->bytes, p->first, p->last);
        if (m->n_nodes && held_over(m, i))
            add(m, m->life[t->storage].bytes, 0, m->forward_end - 1);
    }
}

/* Buffers of matrix products: the library keeps five; when a larger one is needed
 * beside them, it gives back the first. */
struct buffers {
    uint64_t bytes[5];
    uint32_t n;
};

static void need_buffer(struct buffers *b, uint64_t bytes)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (b->bytes[i] >= bytes)
            return;
    if (b->n < sizeof(b->bytes) / sizeof(*b->bytes))
        b->bytes[b->n++] = bytes;
    else
        b->bytes[0] = bytes;
}

static void add_scratch(struct memory *m)
{
    struct buffers kept = {{0}, 0};
    uint64_t before = 0;

    for (uint32_t i = 0; i < m->g->n_ops; i++)
        m->of_op[i] = ft__scratch_of(&m->g->op[i], m->bits);
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        uint32_t id = m->g->node[i].op;
        const ft_op *op = &m->g->op[id];

        m->scratch[i] = m->of_op[id].bytes;
        /* The optimizer's loop holds the last parameter's denominator. */
        if (op->kind == FT_KIND_adam || op->kind == FT_KIND_adamw) {
            uint64_t own = m->scratch[i] / 2;

            m->scratch[i] += before;
            before = own;
        }
        add(m, m->scratch[i], i, i);
        need_buffer(&kept, m->of_op[id].buffer);
    }
    for (uint32_t i = 0; i < kept.n; i++)
        m->always[FT_PART_WORKSPACE] += kept.bytes[i];
}

static uint64_t denominator_bytes(const struct memory *m, uint32_t node)
{
    const ft_op *op = &m->g->op[m->g->node[node].op];
    const ft_shape x = ft_op_shape(op, FT_K_x);

    return op->kind == FT_KIND_adam || op->kind == FT_KIND_adamw
               ? bytes_of(&x, op->dtype)
               : 0;
}

/* On GPUs PyTorch updates all parameters together: the denominators of Adam and AdamW
 * are there for all of them at once (torch/optim/adam.py, _multi_tensor_adam). */
static void add_foreach(struct memory *m)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < m->n_nodes; i++)
        all += denominator_bytes(m, i);
    for (uint32_t i = 0; i < m->n_nodes; i++)
        if (denominator_bytes(m, i)) {
            m->scratch[i] = all;
            add(m, all, i, i);
        }
}

static void parts_at(const struct memory *m, uint32_t node, uint64_t *part)
{
    memcpy(part, m->always, sizeof(m->always));
    if (!m->n_nodes)
        return;
    part[FT_PART_WORKSPACE] += m->scratch[node];
    for (uint32_t i = 0; i < m->n_tensors; i++) {
        const ft__life *p = &m->life[i];
        const ft_tensor *t = &m->g->tensor[i];

        if (t->storage == i && p->first != FT_NONE && p->first <= node &&
            node <= p->last && m->part[i] != FT_PART_WEIGHTS &&
            m->part[i] != FT_PART_STATE)
            part[m->part[i]] += p->bytes;
        if (held_over(m, i) && node < m->forward_end)
            part[FT_PART_ACTIVATIONS] += m->life[t->storage].bytes;
    }
}

static void find_peak(struct memory *m, ft_memory *out)
{
    uint64_t now = 0, most = 0;

    out->peak_node = m->n_nodes ? 0 : FT_NONE;
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        now += m->total[i];
        if (now > most) {
            most = now;
            out->peak_node = i;
        }
    }
    parts_at(m, out->peak_node, out->part);
    for (int i = 0; i < FT_PART_COUNT; i++)
        out->peak_bytes += out->part[i];
}

/* ---- the two rough rules ---- */

static double layer_bytes(const struct memory *m, const ft_node *node)
{
    double sum = 0;

    for (uint32_t j = 0; j < node->n_in; j++)
        sum += (double)m->life[node->in[j]].bytes;
    for (uint32_t j = 0; j < node->n_params; j++)
        sum += (double)m->life[node->params[j]].bytes;
    for (uint32_t j = 0; j < node->n_out; j++)
        sum += (double)m->life[node->out[j]].bytes;
    return sum;
}

static void rough_rules(const struct memory *m, ft_memory *out)
{
    double first = 0, second = 0, sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->n_nodes; i++) {
        const ft_node *node = &m->g->node[i];
        double layer = layer_bytes(m, node);

        if (ft_kind_class(m->g->op[node->op].kind) == FT_CLASS_VIEW)
            continue;
        sum += layer;
        n++;
        if (layer > first) {
            second = first;
            first = layer;
        } else if (layer > second) {
            second = layer;
        }
    }
    out->two_largest_bytes = first + second;
    out->twice_mean_bytes = n ? 2 * sum / n : 0;
}

static bool allocate(struct memory *m)
{
    m->part = ft__arena_need(&m->room, m->n_tensors + 1, sizeof(*m->part));
    m->scratch = ft__arena_need(&m->room, m->n_nodes + 1, sizeof(*m->scratch));
    m->total = ft__arena_need(&m->room, m->n_nodes + 2, sizeof(*m->total));
    m->of_op = ft__arena_need(&m->room, (size_t)m->g->n_ops + 1, sizeof(*m->of_op));
    return !m->room.bad;
}

/* All but what is asked of the whole; close_memory() in any case. */
static ft_status count(struct memory *m, const ft_graph *g,
                       const ft_memory_policy *policy, ft_error *err)
{
    ft_status st;

    *m = (struct memory){.g = g,
                         .bits = policy->bits,
                         .n_nodes = g->n_nodes,
                         .n_tensors = g->n_tensors,
                         .forward_end = g->n_nodes};
    st = ft__lives_find(&m->life, g, err);
    if (!st && !allocate(m))
        st = ft_fail(err, FT_ENOMEM, 0, "memory of %s", g->name);
    if (st)
        return st;
    find_parts(m);
    if ((policy->bits & FT_POLICY_EAGER) && m->n_nodes)
        st = live_eagerly(m, err);
    if (st)
        return st;
    if (policy->bits & FT_POLICY_CPU_SCRATCH)
        widen_saved(m);
    add_tensors(m);
    if (policy->bits & FT_POLICY_CPU_SCRATCH)
        add_scratch(m);
    if (policy->bits & FT_POLICY_FOREACH)
        add_foreach(m);
    return FT_OK;
}

static void close_memory(struct memory *m)
{
    free(m->life);
    ft__arena_free(&m->room);
}

ft_status ft_memory_make(ft_memory *out, const ft_graph *g,
                         const ft_memory_policy *policy, ft_error *err)
{
    struct memory m;
    ft_status st = count(&m, g, policy, err);

    *out = (ft_memory){.peak_node = FT_NONE};
    if (!st) {
        find_peak(&m, out);
        rough_rules(&m, out);
    }
    close_memory(&m);
    return st;
}

/* What parts_at() says of one node, of all of them: sums of what begins and ends. */
static void parts_of_all(const struct memory *m, uint64_t (*part)[FT_PART_COUNT])
{
    for (uint32_t i = 0; i < m->n_tensors; i++) {
        const ft__life *p = &m->life[i];
        const ft_tensor *t = &m->g->tensor[i];
        const uint8_t k = m->part[i];

        if (t->storage == i && p->first != FT_NONE && k != FT_PART_WEIGHTS &&
            k != FT_PART_STATE) {
            part[p->first][k] += p->bytes;
            part[p->last + 1][k] -= p->bytes;
        }
        if (held_over(m, i)) {
            part[0][FT_PART_ACTIVATIONS] += m->life[t->storage].bytes;
            part[m->forward_end][FT_PART_ACTIVATIONS] -= m->life[t->storage].bytes;
        }
    }
    for (uint32_t i = 1; i < m->n_nodes; i++)
        for (int k = 0; k < FT_PART_COUNT; k++)
            part[i][k] += part[i - 1][k];
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        part[i][FT_PART_WORKSPACE] += m->scratch[i];
        for (int k = 0; k < FT_PART_COUNT; k++)
            part[i][k] += m->always[k];
    }
}

ft_status ft__memory_over(uint64_t (*part)[FT_PART_COUNT], const ft_graph *g,
                          const ft_memory_policy *policy, ft_error *err)
{
    struct memory m;
    ft_status st = count(&m, g, policy, err);

    if (!st)
        parts_of_all(&m, part);
    close_memory(&m);
    return st;
}
