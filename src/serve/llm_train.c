/* Training of a language model over many devices: passes of one device, as queries
 * answer them, in a pipeline (1F1B), and what replicas exchange. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/llm.h"
#include "physics/power.h"
#include "query/data.h"
#include "serve/serve.h"

enum { MOST = 1 << 24, MORE_DIMS = 7, MAX_DIMS = 32, DEFAULT_NODE = 8 };

struct passes {
    double forward_s, backward_s, optimizer_s,
        joules;       /* of all layers, one micro-batch */
    double low, high; /* of their time */
    double energy_low, energy_high;
    double weights, trained; /* B: of the rank; those that have gradients */
    double experts;          /* B of weights */
    double results, head; /* B: what the backward pass reads, of layers; of what comes
                             after them, with the logits and their gradient */
    double between;       /* B: what goes from layer to layer */
    double states;        /* B of the optimizer's for one of weights that are trained */
    double optimizer, added; /* of optimizer_s: its time, that of adding gradients up */
    double busy;             /* of a pass: the device; 0: it is no GPU */
    double flops, peak, idle_w, memory, process;
    uint64_t layers;
    bool fp32;   /* weights and gradients */
    bool narrow; /* states of 8 bits */
    ft_basis basis;
};

/* Devices of a machine, as the dimensions of a step say; 0: they do not. */
static uint64_t node_of(const ft_query *q)
{
    for (uint32_t i = 0; i < q->n_dims; i++)
        if (strcmp(q->dims[i].name, "node") == 0 && q->dims[i].value > 0)
            return (uint64_t)q->dims[i].value;
    return 0;
}

static ft_status read_how(ft_llm_train *out, const ft_llm_train *in, const ft_query *q,
                          uint64_t *replicas, ft_error *err)
{
    ft_status st =
        ft__read_sized(out, sizeof(*out), in, "ft_llm_train", "FT_LLM_TRAIN_INIT", err);

    if (st)
        return st;
    ft__serve_default(&out->devices, 1);
    ft__serve_default(&out->tp, 1);
    ft__serve_default(&out->pp, 1);
    ft__serve_default(&out->node, node_of(q) ? node_of(q) : DEFAULT_NODE);
    ft__serve_default(&out->sequence, out->network ? 1 : 4096);
    ft__serve_default(&out->micro_batch, 1);
    ft__serve_default(&out->interleave, 1);
    ft__serve_default(&out->ep, 1);
    if (out->devices > MOST || out->tp > MOST || out->pp > MOST ||
        out->sequence > MOST || out->micro_batch > MOST || out->global_batch > MOST ||
        out->interleave > MOST || out->ep > MOST || out->zero > 3 ||
        out->recompute > 1 || !(out->tokens >= 0) || !isfinite(out->tokens))
        return ft_fail(
            err, FT_EINVAL, 0,
            "training has at most %d devices and sequences, zero 0 to 3, and "
            "a number of tokens",
            MOST);
    if (out->network &&
        (out->tp > 1 || out->pp > 1 || out->ep > 1 || out->lora || out->sequence > 1 ||
         out->interleave > 1 || out->recompute || out->zero > 2))
        return ft_fail(err, FT_EINVAL, 0,
                       "training over devices of a network that is no config.json or "
                       "GGUF file has replicas alone: no tp, pp, ep, interleave, "
                       "sequence, recompute and lora, and zero up to 2");
    if (out->lora > INT64_MAX)
        return ft_fail(err, FT_EINVAL, 0, "lora=%" PRIu64 ": no model is so wide",
                       out->lora);
    if (out->devices % (out->tp * out->pp))
        return ft_fail(err, FT_EINVAL, 0,
                       "%" PRIu64 " devices: not a multiple of tp x pp = %" PRIu64,
                       out->devices, out->tp * out->pp);
    *replicas = out->devices / (out->tp * out->pp);
    if (out->ep > out->tp && (out->ep % out->tp || *replicas % (out->ep / out->tp)))
        return ft_fail(err, FT_EINVAL, 0,
                       "ep=%" PRIu64 ": not a multiple of tp=%" PRIu64
                       " that divides the %" PRIu64 " devices of a stage",
                       out->ep, out->tp, *replicas * out->tp);
    ft__serve_default(&out->global_batch, *replicas * out->pp * out->micro_batch);
    if (out->global_batch % (*replicas * out->micro_batch))
        return ft_fail(err, FT_EINVAL, 0,
                       "%" PRIu64 " %s of a step: not a multiple of %" PRIu64
                       " replicas x %" PRIu64 " of a micro-batch",
                       out->global_batch, out->network ? "items" : "sequences",
                       *replicas, out->micro_batch);
    return FT_OK;
}

/* An end of an interval, with what trainers do besides: Student's t (90 %) times the
 * root mean square of the logarithms of eight reports' biases (docs/llm.md). */
static double reach(double ratio, double way)
{
    static const double trainers = 0.31;

    return exp(way * hypot(log(ratio), trainers));
}

/* Of each tensor: does the backward pass read it, or what is a view of it? */
static bool *read_backward(const ft_graph *g)
{
    bool *read = calloc(g->n_tensors + 1u, sizeof(*read));

    for (uint32_t i = g->n_nodes; read && i-- > 0;) {
        const ft_node *n = &g->node[i];
        const ft_op *op = &g->op[n->op];
        bool through = n->phase == FT_PHASE_BACKWARD;

        if (n->phase == FT_PHASE_FORWARD && ft_kind_class(op->kind) == FT_CLASS_VIEW)
            through = n->n_out && read[n->out[0]];
        for (uint32_t k = 0; through && k < n->n_in; k++)
            read[n->in[k]] = true;
    }
    return read;
}

static double tensor_bytes(const ft_tensor *t)
{
    return (double)ft_tensor_bytes(&t->shape, t->dtype);
}

/* What all ranks of tensor parallelism have alike, features of tokens in any type and a
 * number for each token, each keeps a part of (sequence parallelism, arXiv:2205.05198).
 */
static ft_status take_graph(struct passes *p, const ft_graph *g, double tp,
                            ft_error *err)
{
    bool *read = read_backward(g);
    int64_t alike = 0, rows = 0;
    bool is_head = false;
    double fp32 = 0;

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];
        const double bytes = tensor_bytes(t);

        if (!t->trainable)
            continue;
        p->trained += bytes;
        fp32 += t->dtype == FT_DTYPE_fp32 ? bytes : 0;
    }
    p->fp32 = fp32 > p->trained / 2; /* a norm of its own may be */
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->node[i].phase == FT_PHASE_FORWARD &&
            strcmp(g->node[i].name, "input_norm") == 0) {
            const ft_tensor *t = &g->tensor[g->node[i].out[0]];

            alike = ft_shape_elements(&t->shape);
            rows = t->shape.dim[0];
            p->between = tensor_bytes(t) / tp;
            p->layers += g->node[i].repeat;
        }
    for (uint32_t i = 0; read && i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        const ft_op *op = &g->op[n->op];

        if (n->phase != FT_PHASE_FORWARD || ft_kind_class(op->kind) == FT_CLASS_VIEW)
            continue;
        is_head |= strcmp(n->name, "lm_head") == 0;
        if (op->kind == FT_KIND_cross_entropy)
            p->head += 2 * tensor_bytes(&g->tensor[n->in[0]]);
        for (uint32_t k = 0; op->kind == FT_KIND_moe && k < n->n_params; k++)
            p->experts += tensor_bytes(&g->tensor[n->params[k]]);
        for (uint32_t k = 0; k < n->n_out; k++) {
            const ft_tensor *t = &g->tensor[n->out[k]];
            const double bytes = tensor_bytes(t);
            const int64_t size = ft_shape_elements(&t->shape);
            const bool divided = size == alike || size == rows;

            if (read[n->out[k]])
                *(is_head ? &p->head : &p->results) +=
                    (double)n->repeat * (divided ? bytes / tp : bytes);
        }
    }
    free(read);
    return read ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "training");
}

/* Of a network as one device trains it. PyTorch adds a gradient to another in place:
 * three passes over what the optimizer reads twice and writes once, beside its states,
 * each read and written. */
static void take_network(struct passes *p, const ft_answer *a)
{
    p->states = a->part_bytes[FT_PART_STATE] / p->trained;
    p->optimizer = 1;
    p->added = 3 / (3 + 2 * p->states);
    p->layers = 1;
    p->head = 0;
    p->results = a->part_bytes[FT_PART_INPUTS] + a->part_bytes[FT_PART_SAVED] +
                 a->part_bytes[FT_PART_ACTIVATIONS] + a->part_bytes[FT_PART_WORKSPACE];
}

/* Of a byte of weights. AdamW with an fp32 copy of 16-bit weights: two moments and the
 * copy, 12 B of a weight; of weights in fp32 the moments; in 8 bits (bitsandbytes) two
 * moments of a byte, without a copy. An answer's has moments of the weights' type: 14 B
 * of a 16-bit weight through memory, not 28. Products that make gradients of several
 * micro-batches add them up in fp32, in place: 6 B more than a 16-bit gradient that is
 * written, 4 B more than one in fp32. */
static void take_adamw(struct passes *p, bool narrow)
{
    p->narrow = narrow;
    p->states = narrow ? (p->fp32 ? 0.5 : 1) : p->fp32 ? 2 : 6;
    p->optimizer = p->fp32 || narrow ? 1 : 2;
    p->added = p->fp32 ? 4.0 / (narrow ? 16 : 28) : 6.0 / (narrow ? 10 : 14);
}

static void say(ft_llm_trained *out, const char *text)
{
    const size_t len = strlen(out->assumed);

    if (len + strlen(text) + 1 < sizeof(out->assumed))
        snprintf(out->assumed + len, sizeof(out->assumed) - len, "%s\n", text);
}

/* What was assumed of the model, not of one device's step, and what is warned of. */
static void take_said(ft_llm_trained *out, const ft_answer *a)
{
    static const char step[] = "whole sequences ";

    for (uint32_t i = 0; i < a->graph->n_assumptions; i++)
        if (strncmp(a->graph->assumption[i], step, strlen(step)))
            say(out, a->graph->assumption[i]);
    for (size_t i = 0; i < a->n_warnings; i++) {
        if (a->warning[i]->code == FT_REMARK_FOLDED)
            say(out, a->warning[i]->text);
        if (a->warning[i]->code == FT_REMARK_NO_HARDWARE)
            snprintf(out->no_hardware, sizeof(out->no_hardware), "%s",
                     a->warning[i]->text);
    }
}

/* What training over devices says itself. */
static ft_status check_dims(const ft_query *q, ft_error *err)
{
    static const struct {
        const char *dim, *instead;
    } own[] = {{"tokens", "has --sequence"}, {"context", "has --sequence"},
               {"tp", "has --tp"},           {"pp", "has --pp"},
               {"dp", "has --gpus"},         {"ep", "has --ep"},
               {"lora", "has --lora"},       {"train", "goes without it"},
               {"once", "goes without it"},  {"mtp", "goes without it"}};

    if (q->n_dims > MAX_DIMS)
        return ft_fail(err, FT_EINVAL, 0, "more than %d dimensions", MAX_DIMS);
    for (size_t i = 0; i < q->n_dims; i++)
        for (size_t k = 0; k < sizeof(own) / sizeof(*own); k++)
            if (strcmp(q->dims[i].name, own[k].dim) == 0)
                return ft_fail(err, FT_EINVAL, 0, "--dim %s: training over devices %s",
                               own[k].dim, own[k].instead);
    return FT_OK;
}

static ft_status ask_passes(struct passes *p, ft_llm_trained *out, ft_data *d,
                            const ft_query *q, ft_llm_train *how, ft_error *err)
{
    ft_dim_value dim[MAX_DIMS + MORE_DIMS];
    const ft__physics_params params = ft__physics_default();
    ft_query one = *q;
    const ft__data_kept *kept;
    ft_answer *a;
    ft_status st = check_dims(q, err);

    if (st)
        return st;
    one.n_dims = 0;
    for (size_t i = 0; i < q->n_dims; i++) /* a network knows nothing of machines */
        if (!how->network || strcmp(q->dims[i].name, "node") != 0)
            dim[one.n_dims++] = q->dims[i];
    if (!how->network) {
        dim[one.n_dims++] = (ft_dim_value){"train", 1};
        dim[one.n_dims++] = (ft_dim_value){"tokens", (int64_t)how->sequence};
        dim[one.n_dims++] = (ft_dim_value){"tp", (int64_t)how->tp};
    }
    if (!how->network && !node_of(q))
        dim[one.n_dims++] = (ft_dim_value){"node", (int64_t)how->node};
    if (how->ep > 1)
        dim[one.n_dims++] = (ft_dim_value){"ep", (int64_t)how->ep};
    if (how->ep > how->tp)
        dim[one.n_dims++] = (ft_dim_value){"dp", (int64_t)(how->ep / how->tp)};
    if (how->lora)
        dim[one.n_dims++] = (ft_dim_value){"lora", (int64_t)how->lora};
    one.dims = dim;
    one.batch = (int64_t)how->micro_batch;
    one.mode = "training";
    one.optimizer = q->optimizer ? q->optimizer : how->network ? "sgd" : "adamw";
    st = ft_query_ask(&a, d, &one, err);
    if (st == FT_ENEEDED && how->network &&
        node_of(q)) { /* its own dimension is open */
        dim[one.n_dims++] = (ft_dim_value){"node", (int64_t)node_of(q)};
        how->node = DEFAULT_NODE;
        st = ft_query_ask(&a, d, &one, err);
    }
    if (st)
        return st;
    *p = (struct passes){
        .forward_s = a->phase_time[FT_PHASE_FORWARD].value,
        .backward_s = a->phase_time[FT_PHASE_BACKWARD].value,
        .optimizer_s = a->phase_time[FT_PHASE_OPTIMIZER].value,
        .joules = a->energy.basis == FT_BASIS_UNAVAILABLE ? NAN : a->energy.value,
        .low = reach(a->time.low / a->time.value, -1),
        .high = reach(a->time.high / a->time.value, 1),
        .energy_low = reach(a->energy.low / a->energy.value, -1),
        .energy_high = reach(a->energy.high / a->energy.value, 1),
        .weights = a->part_bytes[FT_PART_WEIGHTS],
        .flops = a->flops,
        .peak = NAN,
        .idle_w = NAN,
        .memory = a->limit_bytes,
        .process = isfinite(a->context_bytes) ? a->context_bytes : 0,
        .basis = a->time.basis,
    };
    take_said(out, a);
    st = take_graph(p, a->graph, (double)how->tp, err);
    if (how->network)
        take_network(p, a);
    else
        take_adamw(p, strcmp(one.optimizer, "adamw8bit") == 0);
    if (!st)
        st = ft__data_device(&kept, d, a->device, true, err);
    if (!st && kept->thing) {
        const ft_device_facts *f = ft_device_get(kept->thing);

        p->peak = f->peak_bf16 > 0 ? f->peak_bf16 : f->peak_fp16;
        p->idle_w = ft__idle_power(&params, f);
        if (strcmp(f->type, "gpu") == 0)
            p->busy = a->host_s > a->busy_s ? a->busy_s / a->host_s : 1;
    }
    ft_answer_free(a);
    return st;
}

/* Devices that have the same experts. */
static double expert_replicas(const ft_llm_train *how)
{
    return (double)how->devices /
           (double)(how->pp * (how->ep > how->tp ? how->ep : how->tp));
}

/* B of those, experts among them, that a replica has where replicas divide them. */
static double divided(double all, double experts, const ft_llm_train *how)
{
    const double replicas = (double)how->devices / (double)(how->tp * how->pp);

    return (all - experts) / replicas + experts / expert_replicas(how);
}

/* Of the weights that are trained. */
static double trained_experts(const struct passes *p, const ft_llm_train *how)
{
    return how->lora ? 0 : p->experts;
}

/* B of those, experts among them, that several replicas divide. */
static double gathered(double all, double experts, const ft_llm_train *how)
{
    return expert_replicas(how) > 1 ? all : all - experts;
}

/* s of a sum of so many bytes over n devices, each `stride` devices from the next. */
static ft_status ask_collective(double *out, ft_data *d, const ft_query *q, bool fp32,
                                const ft_llm_train *how, double bytes, uint64_t n,
                                uint64_t stride, ft_error *err)
{
    const uint64_t beside = stride < how->node ? how->node / stride : 1;
    ft_query list = {.size = sizeof(list)};
    char spec[128];
    ft_answer *a;
    ft_status st;

    *out = 0;
    if (n == 1 || !(bytes > 0))
        return FT_OK;
    snprintf(spec, sizeof(spec),
             "collective x=%.0f ranks=%" PRIu64 " nodes=%" PRIu64 " dtype=%s\n",
             ceil(bytes / (fp32 ? 4 : 2)), n, (n + beside - 1) / beside,
             fp32 ? "fp32" : "bf16");
    list.model = "sum of gradients";
    list.list = spec;
    list.list_len = strlen(spec);
    list.device = q->device;
    list.predictor = q->predictor;
    list.loaded = q->loaded;
    list.method = q->method;
    list.run_mode = "graph";
    st = ft_query_ask(&a, d, &list, err);
    if (st)
        return st;
    *out = a->time.value;
    ft_answer_free(a);
    return FT_OK;
}

/* s of the sums of each replica's `all` bytes over all of them; experts among them have
 * fewer replicas where ep is wider than tp. */
static ft_status ask_sums(double *out, ft_data *d, const ft_query *q,
                          const struct passes *p, const ft_llm_train *how, double all,
                          double experts, uint64_t replicas, ft_error *err)
{
    const double apart = how->ep > how->tp ? experts : 0, pp = (double)how->pp;
    double experts_s = 0;
    ft_status st = ask_collective(out, d, q, p->fp32, how, (all - apart) / pp, replicas,
                                  how->tp, err);

    if (!st && apart > 0)
        st = ask_collective(&experts_s, d, q, p->fp32, how, apart / pp,
                            (uint64_t)expert_replicas(how), how->ep, err);
    *out += experts_s;
    return st;
}

static ft_estimate around(double value, double low, double high, ft_basis basis)
{
    if (!isfinite(value))
        return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "not known"};
    return (ft_estimate){value, fmin(value, value * low), fmax(value, value * high),
                         basis, ""};
}

static void fill_memory(ft_llm_trained *out, const struct passes *p,
                        const ft_llm_train *how)
{
    const double share = 1 / (double)how->pp;
    const double weights = p->weights * share, trained = p->trained * share;
    const double of_experts = p->experts * share, own = trained_experts(p, how) * share;
    const double under_way = fmin((double)how->pp, (double)out->micro_batches);
    const double layers = fmax(1, (double)p->layers);
    /* Of a stage and micro-batch: all of it, or what goes into its layers. */
    const double kept = share * (how->recompute ? layers * p->between : p->results);
    const double again = how->recompute ? p->results / layers : 0;

    out->weights = how->zero > 2 ? divided(weights, of_experts, how) : weights;
    out->gradients = how->zero > 1 ? divided(trained, own, how) : trained;
    out->states = p->states * (how->zero > 0 ? divided(trained, own, how) : trained);
    /* The first stage has most under way, the last one the head. */
    out->activations = fmax(under_way * kept + again, kept + fmax(p->head, again));
    /* FSDP has the weights of two layers at once, and gradients of one, of what
     * replicas divide (arXiv:2304.11277). */
    if (how->zero > 2 && out->replicas > 1)
        out->activations += (2 * gathered(p->weights, p->experts, how) +
                             gathered(p->trained, trained_experts(p, how), how)) /
                            layers;
    out->bytes =
        out->weights + out->gradients + out->states + out->activations + p->process;
    out->memory_bytes = p->memory;
}

/* s that an exchange adds to the passes beside it: what they do not hide, and of the
 * rest by how much it slows them where the device is busy, whose cores and bandwidth it
 * takes (18.9 % on average of A100, H100, MI210 and MI250: arXiv:2507.03114). */
static double added_by(const struct passes *p, double exchange_s, double passes_s)
{
    static const double slower = 0.189;
    const double alone_s = fmax(0, exchange_s - passes_s);

    return alone_s + p->busy * slower * (exchange_s - alone_s);
}

/* sum_s: of all gradients once; gather_s: of all weights for both passes. */
static double fill_times(ft_llm_trained *out, const struct passes *p,
                         const ft_llm_train *how, double sum_s, double gather_s)
{
    const double pp = (double)how->pp, m = (double)out->micro_batches;
    const double backward = p->backward_s + (how->recompute ? p->forward_s : 0);
    /* A network's first gradients are not added to anything. */
    const double added = how->network ? (m - 1) / m : m > 1;
    const double adds = how->zero > 2 ? 0 : added * p->added * p->optimizer_s;
    const double stage_s = (p->forward_s + backward + adds) / pp;

    out->compute_s = m * stage_s;
    out->bubble_s = (pp - 1) * stage_s / (double)how->interleave;
    /* Weights are gathered for both passes, and gradients scattered: half a sum each.
     * Of divided states updated weights are gathered beside the next step's forward
     * pass (Megatron-LM, --overlap-param-gather). */
    if (how->zero > 2)
        out->exchange_s = m * added_by(p, gather_s + sum_s / 2, stage_s);
    else if (how->zero)
        out->exchange_s = added_by(p, sum_s / 2, backward / pp) +
                          added_by(p, sum_s / 2, p->forward_s / pp);
    else
        out->exchange_s = added_by(p, sum_s, backward / pp);
    out->optimizer_s =
        p->optimizer * p->optimizer_s / pp *
        (how->zero ? divided(p->trained, trained_experts(p, how), how) / p->trained
                   : 1);
    return out->compute_s + out->bubble_s + out->exchange_s + out->optimizer_s;
}

static double joules_of(const ft_llm_trained *out, const struct passes *p,
                        const ft_llm_train *how, double step_s)
{
    const double all_s = p->forward_s + p->backward_s + p->optimizer_s;
    const double busy_s = out->compute_s + out->optimizer_s;

    return (double)how->devices *
           (p->joules / all_s * busy_s + p->idle_w * fmax(0, step_s - busy_s));
}

static void fill(ft_llm_trained *out, const struct passes *p, const ft_llm_train *how,
                 double sum_s, double gather_s)
{
    const double step_s = fill_times(out, p, how, sum_s, gather_s);
    const double tokens = (double)how->global_batch * (double)how->sequence;
    const double devices = (double)how->devices,
                 joules = joules_of(out, p, how, step_s);
    const double steps = how->tokens > 0 ? how->tokens / tokens : NAN;

    out->basis = p->basis;
    out->fp32 = p->fp32;
    out->states_8_bits = p->narrow;
    out->step_s = around(step_s, p->low, p->high, p->basis);
    out->tokens_per_s = around(tokens / step_s, 1 / p->high, 1 / p->low, p->basis);
    out->tokens_per_s_per_device =
        around(tokens / step_s / devices, 1 / p->high, 1 / p->low, p->basis);
    out->step_j = around(joules, p->energy_low, p->energy_high, p->basis);
    out->power_w = around(joules / step_s, p->energy_low / p->low,
                          p->energy_high / p->high, p->basis);
    out->run_s = around(steps * step_s, p->low, p->high, p->basis);
    out->run_j = around(steps * joules, p->energy_low, p->energy_high, p->basis);
    out->device_hours =
        around(steps * step_s * devices / 3600, p->low, p->high, p->basis);
    out->mfu =
        p->flops / (double)how->pp * (double)out->micro_batches / (step_s * p->peak);
    fill_memory(out, p, how);
}

ft_status ft_llm_train_ask(ft_llm_trained *out, ft_data *d, const ft_query *asked,
                           const ft_llm_train *in, ft_error *err)
{
    ft_llm_train how;
    struct passes p = {.layers = 0};
    double sum_s = 0, gather_s = 0;
    ft_query q;
    ft_status st;

    memset(out, 0, sizeof(*out));
    st = ft__query_read(&q, asked, err);
    if (!st)
        st = read_how(&how, in, &q, &out->replicas, err);
    if (!st && !how.network && q.optimizer && strcmp(q.optimizer, "adamw") != 0 &&
        strcmp(q.optimizer, "adamw8bit") != 0)
        st = ft_fail(err, FT_EINVAL, 0,
                     "training over devices has --optimizer adamw or adamw8bit, not "
                     "%s",
                     q.optimizer);
    if (!st && q.batch)
        st = ft_fail(
            err, FT_EINVAL, 0,
            "training has --micro-batch and --global-batch in place of a batch");
    if (!st)
        st = ask_passes(&p, out, d, &q, &how, err);
    if (!st && how.pp * how.interleave > p.layers)
        st = ft_fail(err, FT_EINVAL, 0, "%" PRIu64 " stages, and %" PRIu64 " layers",
                     how.pp * how.interleave, p.layers);
    if (!st)
        st = ask_sums(&sum_s, d, &q, &p, &how, p.trained, trained_experts(&p, &how),
                      out->replicas, err);
    if (!st && how.zero > 2)
        st = ask_sums(&gather_s, d, &q, &p, &how, p.weights, p.experts, out->replicas,
                      err);
    if (st)
        return st;
    out->global_batch = how.global_batch;
    out->micro_batches = how.global_batch / (out->replicas * how.micro_batch);
    fill(out, &p, &how, sum_s, gather_s);
    return FT_OK;
}
