/* Memory over time, by part: one number per node, what is alive while it runs. In come
 * a graph and a policy, out come the peak, its parts, and two rough rules beside it. */
#include "graph/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "graph/graph_inside.h"

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
    uint64_t held; /* through the forward phase: the last pass's results */
    uint32_t n_nodes, n_tensors;
    uint32_t forward_end; /* the first node behind the forward phase */
};

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

static void find_forward(struct memory *m)
{
    for (uint32_t i = 0; i < m->n_nodes; i++)
        if (m->g->node[i].phase != FT_PHASE_FORWARD) {
            m->forward_end = i;
            break;
        }
    find_saved(m);
}

/* Once find_saved() has marked those. */
static uint8_t part_of(const struct memory *m, uint32_t tensor)
{
    static const uint8_t of_role[] = {
        [FT_ROLE_INPUT] = FT_PART_INPUTS,
        [FT_ROLE_WEIGHT] = FT_PART_WEIGHTS,
        [FT_ROLE_ACTIVATION] = FT_PART_ACTIVATIONS,
        [FT_ROLE_GRADIENT] = FT_PART_GRADIENTS,
        [FT_ROLE_STATE] = FT_PART_STATE,
    };
    const ft_role role = m->g->tensor[tensor].role;

    return role == FT_ROLE_ACTIVATION && m->part[tensor] == FT_PART_SAVED
               ? FT_PART_SAVED
               : of_role[role];
}

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
        weights = ft__scratch_of(op, m->bits).attention;
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

static void live_eagerly(const struct memory *m, uint32_t i)
{
    ft__life *life = &m->life[i];

    if (m->part[i] == FT_PART_GRADIENTS && life->first != FT_NONE)
        life->last = m->n_nodes - 1;
    else if (life->last != FT_NONE && life->last + 1 < m->forward_end &&
             is_weight_copy(m->g, &m->g->tensor[i]))
        life->last = m->forward_end - 1;
}

/* bytes more at nodes first to last; unsigned arithmetic wraps and comes back. */
static void add(struct memory *m, uint64_t bytes, uint32_t first, uint32_t last)
{
    m->total[first] += bytes;
    m->total[last + 1] -= bytes;
}

/* The caller holds the last pass's results until this one returns. */
static bool held_over(const struct memory *m, const ft_tensor *t)
{
    const uint8_t part = t->is_output ? part_of(m, t->storage) : FT_PART_WEIGHTS;

    return part == FT_PART_ACTIVATIONS || part == FT_PART_SAVED;
}

/* A layer that stands for several (ft_tensor.copies): each has inputs, weights and
 * state of its own, and activations of one are freed before the next. */
static uint64_t bytes_of(const struct memory *m, uint32_t i)
{
    const bool all = m->part[i] == FT_PART_INPUTS || m->part[i] == FT_PART_WEIGHTS ||
                     m->part[i] == FT_PART_STATE;

    return m->life[i].bytes * (all ? m->g->tensor[i].copies : 1);
}

static void add_tensors(struct memory *m)
{
    const bool eager = m->n_nodes && (m->bits & FT_POLICY_EAGER);

    for (uint32_t i = 0; i < m->n_tensors; i++) {
        const ft__life *p = &m->life[i];
        const ft_tensor *t = &m->g->tensor[i];

        m->part[i] = part_of(m, i);
        if (eager)
            live_eagerly(m, i);
        if (t->storage == i && (m->part[i] == FT_PART_WEIGHTS ||
                                m->part[i] == FT_PART_STATE || !m->n_nodes))
            m->always[m->part[i]] += bytes_of(m, i);
        else if (p->first != FT_NONE)
            add(m, bytes_of(m, i), p->first, p->last);
        if (eager && held_over(m, t))
            m->held += m->life[t->storage].bytes;
    }
    if (m->held)
        add(m, m->held, 0, m->forward_end - 1);
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

static bool is_adam(const ft_op *op)
{
    return op->kind == FT_KIND_adam || op->kind == FT_KIND_adamw;
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
        if (is_adam(op)) {
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

/* On GPUs PyTorch updates all parameters together: the denominators of Adam and AdamW
 * are there for all of them at once (torch/optim/adam.py, _multi_tensor_adam). Of what
 * one operation allocates, half: before scaling, and after. States of 8 bits are
 * updated in place (bitsandbytes). */
static void add_foreach(struct memory *m)
{
    uint64_t all = 0;
    bool any = false;

    for (uint32_t i = 0; i < m->n_nodes; i++) {
        const ft_node *n = &m->g->node[i];
        const ft_op *op = &m->g->op[n->op];

        if (is_adam(op) && (n->n_in < 3 || m->g->tensor[n->in[2]].dtype == op->dtype)) {
            m->of_op[n->op].bytes = ft__scratch_of(op, m->bits).bytes / 2;
            any = true;
        }
    }
    for (uint32_t i = 0; i < m->n_nodes && any; i++)
        all += m->of_op[m->g->node[i].op].bytes;
    for (uint32_t i = 0; i < m->n_nodes && all; i++)
        if (m->of_op[m->g->node[i].op].bytes) {
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
    part[FT_PART_ACTIVATIONS] += node < m->forward_end ? m->held : 0;
    for (uint32_t i = 0; i < m->n_tensors; i++) {
        const ft__life *p = &m->life[i];

        if (p->first <= node && node <= p->last && p->first != FT_NONE &&
            m->part[i] != FT_PART_WEIGHTS && m->part[i] != FT_PART_STATE)
            part[m->part[i]] += bytes_of(m, i);
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
    uint64_t n = 0;

    for (uint32_t i = 0; i < m->n_nodes; i++) {
        const ft_node *node = &m->g->node[i];
        const uint32_t copies = node->n_out ? m->g->tensor[node->out[0]].copies : 1;
        double layer;

        if (ft_kind_class(m->g->op[node->op].kind) == FT_CLASS_VIEW)
            continue;
        layer = layer_bytes(m, node);
        sum += copies * layer;
        n += copies;
        if (layer > first) {
            second = copies > 1 ? layer : first;
            first = layer;
        } else if (layer > second) {
            second = layer;
        }
    }
    out->two_largest_bytes = first + second;
    out->twice_mean_bytes = n ? 2 * sum / (double)n : 0;
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
    find_forward(m);
    if ((policy->bits & FT_POLICY_EAGER) && m->n_nodes)
        st = ft__hold_frames(m->life, g, err);
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
    ft__graph_found *f = ft__graph_found_of(g);
    struct memory m;
    ft_status st;

    if (f && ft__found_is(&f->memory_state) && f->memory_bits == policy->bits) {
        *out = f->memory;
        return FT_OK;
    }
    st = count(&m, g, policy, err);
    *out = (ft_memory){.peak_node = FT_NONE};
    if (!st) {
        find_peak(&m, out);
        rough_rules(&m, out);
    }
    close_memory(&m);
    if (!st && f && ft__found_first(&f->memory_state)) {
        f->memory = *out;
        f->memory_bits = policy->bits;
        ft__found_done(&f->memory_state);
    }
    return st;
}

/* What parts_at() says of one node, of all of them: sums of what begins and ends. */
static void parts_of_all(const struct memory *m, uint64_t (*part)[FT_PART_COUNT])
{
    part[0][FT_PART_ACTIVATIONS] += m->held;
    part[m->forward_end][FT_PART_ACTIVATIONS] -= m->held;
    for (uint32_t i = 0; i < m->n_tensors; i++) {
        const ft__life *p = &m->life[i];
        const uint8_t k = m->part[i];

        if (p->first != FT_NONE && k != FT_PART_WEIGHTS && k != FT_PART_STATE) {
            part[p->first][k] += bytes_of(m, i);
            part[p->last + 1][k] -= bytes_of(m, i);
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
