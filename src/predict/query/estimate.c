/* The parts of an estimate of a network that every way to one shares: sums over its
 * operations, memory by part, what the schedule makes of them; and the estimate from a
 * data sheet alone. */
#include "predict/query/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op.h"
#include "physics/physics.h"
#include "predict/data/features.h"

bool ft__graph_is_workload(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (!ft__op_is_workload(&g->op[i]))
            return false;
    return true;
}

ft_status ft__check_operations(const ft_graph *g, ft_error *err)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft__op_is_workload(&g->op[i]))
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "a kernel or network by name is predicted from measurements "
                           "of it alone, in a list without operations");
    return FT_OK;
}

bool ft__costs_nothing(const ft_op *op)
{
    return ft_kind_class(op->kind) == FT_CLASS_VIEW || ft__op_is_workload(op);
}

ft_status ft__estimate_start(ft__network_estimate *out, const ft_graph *g,
                             ft_error *err)
{
    memset(out, 0, sizeof(*out));
    out->n_ops = g->n_ops;
    out->op_time =
        calloc(FT__OP_ESTIMATES * (out->n_ops + (size_t)1), sizeof(*out->op_time));
    out->op_network_w = malloc((out->n_ops + (size_t)1) * sizeof(*out->op_network_w));
    if (!out->op_time || !out->op_network_w) {
        ft__network_estimate_free(out);
        return ft_fail(err, FT_ENOMEM, 0, "estimate");
    }
    out->op_device = out->op_time + out->n_ops;
    out->op_power = out->op_device + out->n_ops;
    out->op_energy = out->op_power + out->n_ops;
    out->op_memory = out->op_energy + out->n_ops;
    out->op_workspace = out->op_memory + out->n_ops;
    for (uint32_t i = 0; i < out->n_ops; i++) {
        out->op_power[i] = out->op_energy[i] =
            ft__unavailable("no power was measured for this predictor");
        out->op_memory[i] = out->op_workspace[i] =
            ft__unavailable("nothing of it was measured for this predictor");
        out->op_network_w[i] = NAN;
    }
    out->energy = ft__unavailable("no power was measured for this predictor");
    out->power = out->energy;
    out->host_s = out->busy_s = NAN;
    return FT_OK;
}

void ft__estimate_count(ft__network_estimate *e)
{
    e->n_measured = e->n_learned = e->n_scaled = e->n_roofline = 0;
    for (uint32_t i = 0; i < e->n_ops; i++)
        switch (e->op_time[i].basis) {
        case FT_BASIS_MEASURED: e->n_measured++; break;
        case FT_BASIS_LEARNED: e->n_learned++; break;
        case FT_BASIS_SCALED: e->n_scaled++; break;
        case FT_BASIS_ROOFLINE: e->n_roofline++; break;
        case FT_BASIS_NONE:
        case FT_BASIS_ANALYTIC:
        case FT_BASIS_UNAVAILABLE:
        case FT_BASIS_COUNT: break;
        }
}

/* A sum is as good as its weakest part that matters: of the bases that hold at
 * least a tenth of the time, the least certain. */
static ft_basis weakest_of_sum(const ft__network_estimate *e, const double *count,
                               double sum)
{
    double share[FT_BASIS_COUNT] = {0};
    ft_basis basis = FT_BASIS_MEASURED;

    for (uint32_t i = 0; i < e->n_ops; i++)
        share[e->op_device[i].basis] += e->op_device[i].value * count[i] / sum;
    for (int b = 0; b < FT_BASIS_COUNT; b++)
        if (share[b] >= 0.1)
            basis = (ft_basis)b;
    return basis;
}

/* count[] times each operation of one basis, whose sum has no interval. */
static ft_estimate sum_of(const ft__network_estimate *e, const double *count)
{
    ft_estimate out = {.why = ""};

    for (uint32_t i = 0; i < e->n_ops; i++)
        out.value += count[i] * e->op_time[i].value;
    out.basis = out.value > 0 ? weakest_of_sum(e, count, out.value) : FT_BASIS_NONE;
    return out;
}

/* Of all operations one after the other, each of them a bound: time and phase_time from
 * op_time[], without intervals. */
static ft_status sum_operations(ft__network_estimate *e, const ft_graph *g,
                                ft_error *err)
{
    double *count = malloc((e->n_ops + 1u) * sizeof(*count));

    if (!count)
        return ft_fail(err, FT_ENOMEM, 0, "estimate");
    for (uint32_t i = 0; i < e->n_ops; i++)
        count[i] = (double)g->op_count[i];
    memcpy(e->op_device, e->op_time, e->n_ops * sizeof(*e->op_time));
    e->time = sum_of(e, count);
    for (int p = 0; p < FT_PHASE_COUNT; p++) {
        memset(count, 0, e->n_ops * sizeof(*count));
        for (uint32_t i = 0; i < g->n_nodes; i++)
            if (g->node[i].phase == (ft_phase)p)
                count[g->node[i].op] += (double)g->node[i].repeat;
        e->phase_time[p] = sum_of(e, count);
    }
    free(count);
    return FT_OK;
}

void ft__estimate_op_energy(ft__network_estimate *e, uint32_t i)
{
    const ft_estimate *t = &e->op_time[i], *p = &e->op_power[i];
    double below = hypot(log(t->value / t->low), log(p->value / p->low));
    double above = hypot(log(t->high / t->value), log(p->high / p->value));

    if (p->basis == FT_BASIS_UNAVAILABLE || !(t->value > 0)) {
        e->op_energy[i] = *p;
        return;
    }
    e->op_energy[i] = (ft_estimate){.value = t->value * p->value,
                                    .basis = p->basis > t->basis ? p->basis : t->basis,
                                    .why = ""};
    e->op_energy[i].low = e->op_energy[i].value * exp(-below);
    e->op_energy[i].high = e->op_energy[i].value * exp(above);
}

void ft__estimate_why_no_power(ft__network_estimate *e, const ft_device_facts *d)
{
    const char *why = "nothing is computed";

    if (e->energy.basis != FT_BASIS_UNAVAILABLE)
        return;
    if (!d->type || strcmp(d->type, "gpu") != 0)
        why = "the power of a CPU cannot be predicted from its data sheet";
    else if (!(d->tdp_w > 0))
        why = "the device's file does not say its power, tdp_w";
    e->energy.why = e->power.why = why;
}

/* An allocator that takes and gives back as operations run. */
static ft_status allocate(ft__network_estimate *e, const ft_graph *g, uint32_t bits,
                          ft_error *err)
{
    const ft_memory_policy policy = {FT_POLICY_EAGER | bits};
    ft_memory m;
    ft_status st = ft_memory_make(&m, g, &policy, err);

    e->memory_policy = policy.bits;
    for (int p = 0; p < FT_PART_COUNT; p++)
        e->part_bytes[p] = (double)m.part[p];
    e->two_largest_bytes = m.two_largest_bytes;
    e->twice_mean_bytes = m.twice_mean_bytes;
    return st;
}

/* Weights, and the rest at offsets that were planned ahead. */
static ft_status memory_as_planned(ft__network_estimate *e, const ft_graph *g,
                                   ft_error *err)
{
    ft_plan plan;
    ft_status st = allocate(e, g, 0, err);

    if (!st)
        st = ft_plan_make(&plan, g, err);
    if (st)
        return st;
    e->part_bytes[FT_PART_ACTIVATIONS] =
        fmax(0, (double)plan.arena_bytes - e->part_bytes[FT_PART_INPUTS]);
    ft_plan_free(&plan);
    return FT_OK;
}

/* All parts that are known; w: what is not known exactly of them. */
static void sum_memory(ft__network_estimate *e, const ft_estimate *w)
{
    double sum = isfinite(e->context_bytes) ? e->context_bytes : 0;

    for (int p = 0; p < FT_PART_COUNT; p++)
        sum += isfinite(e->part_bytes[p]) ? e->part_bytes[p] : 0;
    /* Weights and activations are counted exactly; engines pad and round. */
    e->memory = (ft_estimate){.value = sum,
                              .low = sum * 0.97 - (w->value - w->low),
                              .high = sum * 1.05 + (w->high - w->value),
                              .basis = e->time.basis,
                              .why = ""};
}

/* What PyTorch takes for a handle of cuBLAS: CublasHandlePool.cpp, two buffers of 4 MiB
 * and eight of 16 KiB, on Hopper 32 MiB. */
static double cublas_bytes(const ft_device_facts *d)
{
    if (!d->vendor || strcmp(d->vendor, "NVIDIA") != 0)
        return 0;
    return floor(d->compute_capability) == 9 ? 32 * 0x1p20 : 8 * 0x1p20 + 128 * 0x1p10;
}

static bool has_products(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft_kind_class(g->op[i].kind) == FT_CLASS_MATMUL)
            return true;
    return false;
}

/* Driver, kernels and libraries in the memory of a GPU: docs/memory.md has what was
 * reported of them. */
static const ft_estimate gpu_context = {
    .value = 512 * 0x1p20, .low = 240 * 0x1p20, .high = 1500 * 0x1p20};
/* PyTorch's allocator takes segments of 20 MiB, and what lies free between tensors of
 * other sizes is lost to it; libraries choose their workspace by what is free. */
static const double segment_bytes = 20 * 0x1p20, fragmented = 0.15;

double ft__gpu_bytes(const ft_device_facts *d, bool products)
{
    return gpu_context.value + (products ? cublas_bytes(d) : 0);
}

static void add_gpu(ft__network_estimate *e, const ft_device_facts *d,
                    const ft_graph *g)
{
    ft_estimate open = gpu_context;
    double live = 0;

    e->context_bytes = gpu_context.value;
    e->part_bytes[FT_PART_WORKSPACE] +=
        ft__gpu_bytes(d, has_products(g)) - e->context_bytes;
    for (int p = 0; p < FT_PART_COUNT; p++)
        live += e->part_bytes[p];
    open.high += segment_bytes + fragmented * live;
    sum_memory(e, &open);
}

/* What PyTorch's kernels need on the device besides. */
static uint32_t workspace_policy(const ft_device_facts *d)
{
    if (!d->type)
        return 0;
    if (strcmp(d->type, "gpu") == 0)
        return FT_POLICY_FOREACH;
    return FT_POLICY_CPU_SCRATCH |
           (d->vendor && strcmp(d->vendor, "Intel") == 0 ? 0 : FT_POLICY_MKL_AVX2);
}

/* As PyTorch allocates. */
static ft_status memory_of_device(ft__network_estimate *e, const ft_device_facts *d,
                                  const ft_graph *g, ft_error *err)
{
    const ft_estimate exact = {0};
    const bool gpu = d->type && strcmp(d->type, "gpu") == 0;
    ft_status st = allocate(e, g, workspace_policy(d), err);

    e->context_bytes = NAN;
    if (!d->type)
        e->part_bytes[FT_PART_WORKSPACE] = NAN;
    if (gpu)
        add_gpu(e, d, g);
    else
        sum_memory(e, &exact);
    return st;
}

static double result_bytes(const ft_op *op)
{
    double bytes = 0;
    ft_shape s;
    ft_dtype t;

    for (uint32_t i = 0; i < ft_op_n_outputs(op) && !op->in_place; i++) {
        ft_op_output(op, i, &s, &t);
        bytes += (double)ft_tensor_bytes(&s, t);
    }
    return bytes;
}

/* A kind of few rows may be learned with any interval. Libraries unfold windows of 7 x
 * 7 with a stride of 2 to 12 times the operand; set, not fitted. */
static const double most_workspace = 12;

/* What an operation takes beside its operands while it runs: what its engine says, or
 * what it was measured to allocate more than its results, where that is more and not
 * in doubt. At most a multiple of what it reads and writes. */
static ft_estimate workspace_of(const ft__network_estimate *e, const ft_graph *g,
                                uint32_t i)
{
    const ft_estimate *m = &e->op_memory[i];
    const double results = result_bytes(&g->op[i]);
    ft_estimate w = e->op_workspace[i];
    ft_cost cost;

    if (m->low > results && m->value - results >= w.value)
        w = (ft_estimate){m->value - results, m->low - results, m->high - results,
                          m->basis, ""};
    ft_op_cost(&g->op[i], &cost);
    w.high = fmin(
        w.high, fmax(w.value, most_workspace * (cost.bytes_read + cost.bytes_written)));
    return w;
}

/* Workspace is shared by all operations: the largest one counts. */
static ft_estimate largest_workspace(const ft__network_estimate *e, const ft_graph *g)
{
    ft_estimate most = {0};

    for (uint32_t i = 0; i < e->n_ops; i++) {
        const ft_estimate w = workspace_of(e, g, i);

        most.value = fmax(most.value, w.value);
        most.low = fmax(most.low, w.low);
        most.high = fmax(most.high, w.high);
    }
    return most;
}

static uint32_t count_running(const ft_graph *g)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        n += !ft__costs_nothing(&g->op[i]);
    return n;
}

static ft_status memory_of_engine(ft__network_estimate *e, const ft__dataset *d,
                                  const ft_graph *g, ft_error *err)
{
    const ft_estimate w = largest_workspace(e, g);
    ft_status st = g->mode == FT_MODE_INFERENCE ? memory_as_planned(e, g, err)
                                                : allocate(e, g, 0, err);

    e->part_bytes[FT_PART_WORKSPACE] = w.value;
    e->context_bytes =
        d->context_bytes + d->context_per_op_bytes * (double)count_running(g);
    sum_memory(e, &w);
    return st;
}

ft_status ft__estimate_memory(ft__network_estimate *e, const ft__dataset *engine,
                              const ft_device_facts *d, const ft_graph *g,
                              ft_error *err)
{
    return engine ? memory_of_engine(e, engine, g, err)
                  : memory_of_device(e, d, g, err);
}

void ft__network_estimate_free(ft__network_estimate *e)
{
    free(e->op_time);
    free(e->op_network_w);
    e->op_network_w = NULL;
    e->op_time = e->op_device = e->op_power = e->op_energy = e->op_memory =
        e->op_workspace = NULL;
}

/* Of a pass whose device and whose host take so much more or less. */
static double time_at(const ft__network_load *l, const ft__schedule *s, double device,
                      double host)
{
    ft__schedule at = *s;

    for (int g = 0; g < FT__N_TASK_GROUPS; g++)
        at.scale[g] *= exp(device);
    at.bounded *= exp(device);
    at.launch_s *= exp(host);
    return ft__schedule_time(l, &at);
}

/* Of two that err independently both are beyond this part of their reach in a twentieth
 * of all cases: the normal quantile of sqrt(0.05) by that of 0.05. */
static const double joint_reach = 0.46;

/* How far from `time` such a pass is, where the device and the host err independently
 * of each other; a logarithm. Where one waits for the other, no further than with both
 * at their ends, and as far as with both at a part of that: only both make it fast. */
static double reach_at(const ft__network_load *l, const ft__schedule *s, double time,
                       double device, double host)
{
    if (!(time > 0))
        return 0;
    return fmax(
        fabs(log(time_at(l, s, joint_reach * device, joint_reach * host) / time)),
        fmin(fabs(log(time_at(l, s, device, host) / time)),
             hypot(log(time_at(l, s, device, 0) / time),
                   log(time_at(l, s, 0, host) / time))));
}

static double device_s(const ft__op_task *w, const ft__network_load *l,
                       const ft__schedule *s)
{
    return ft__schedule_among(w, l) *
               (isfinite(w->alone_s) ? s->scale[w->group] : s->bounded) +
           (w->in_turn ? w->launches * s->launch_s : 0);
}

/* Of the bases that hold at least a tenth of what is shared, the least certain. */
static ft_basis weakest(const double share[FT_BASIS_COUNT])
{
    ft_basis basis = FT_BASIS_NONE;
    double sum = 0;

    for (int b = 0; b < FT_BASIS_COUNT; b++)
        sum += share[b];
    for (int b = 0; b < FT_BASIS_COUNT; b++)
        if (share[b] > 0 && share[b] >= 0.1 * sum)
            basis = (ft_basis)b;
    return basis;
}

static double issued_s(const ft_graph *g, const ft__op_task *task,
                       const ft__schedule *s)
{
    double sum = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        sum += (double)g->node[i].repeat * task[g->node[i].op].launches;
    return sum * s->launch_s;
}

/* A phase's part of the time: its share of the device's, or of the host's where that is
 * the busier of the two and issues each operation. one: room for one an operation. */
static void share_phases(ft__network_estimate *e, const ft_graph *g,
                         const ft__op_task *task, const ft__network_load *load,
                         const ft__schedule *s, double busy_s, double *one)
{
    const bool host = e->host_s > busy_s && issued_s(g, task, s) > 0;
    const bool any = e->time.value > 0;
    const double low = any ? log(e->time.low / e->time.value) : 0;
    const double high = any ? log(e->time.high / e->time.value) : 0;
    double part[FT_PHASE_COUNT] = {0}, share[FT_PHASE_COUNT][FT_BASIS_COUNT] = {0};
    double sum = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        one[i] = host ? task[i].launches * s->launch_s : device_s(&task[i], load, s);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *node = &g->node[i];

        part[node->phase] += (double)node->repeat * one[node->op];
        sum += (double)node->repeat * one[node->op];
        share[node->phase][e->op_device[node->op].basis] +=
            (double)node->repeat * e->op_device[node->op].value;
    }
    for (int p = 0; p < FT_PHASE_COUNT; p++)
        e->phase_time[p] = ft__around(part[p] * (sum > 0 ? e->time.value / sum : 1),
                                      low, high, weakest(share[p]));
}

/* Of the bases of power that hold at least a tenth of the busy time, and of the time's:
 * the least certain. */
static ft_basis basis_of_energy(const ft__network_estimate *e, const ft__op_task *task)
{
    double share[FT_BASIS_COUNT] = {0}, sum = 0;
    ft_basis basis = e->time.basis;

    for (uint32_t i = 0; i < e->n_ops; i++) {
        double busy_s = task[i].count * e->op_device[i].value;

        if (!(busy_s > 0))
            continue;
        share[e->op_power[i].basis] += busy_s;
        sum += busy_s;
    }
    for (int b = (int)basis + 1; b < FT_BASIS_UNAVAILABLE; b++)
        if (share[b] >= 0.1 * sum && sum > 0)
            basis = (ft_basis)b;
    return basis;
}

/* As wide as time and power that err independently, but no wider than the wider of time
 * and of power by specifications, which covered 88 to 99 % of networks of devices left
 * out (docs/notes/power.md). */
static double energy_reach(double time, double power, const ft__log_residual *r)
{
    return fmin(hypot(time, power), fmax(fabs(time), r->energy_most));
}

static void find_energy(ft__network_estimate *e, const ft__op_task *task,
                        const ft__network_load *load, const ft__schedule *s,
                        const ft__log_residual *residual)
{
    const ft_basis basis = basis_of_energy(e, task);
    double joules = ft__schedule_energy(load, s, e->time.value);

    if (!(joules > 0) || !(e->time.value > 0)) {
        e->energy = e->power = ft__unavailable("what the device draws is not known");
        return;
    }
    e->energy = ft__around(joules, residual->energy_low, residual->energy_high, basis);
    if (isnan(residual->energy_low))
        e->energy = ft__around(joules,
                               -energy_reach(log(e->time.low / e->time.value),
                                             residual->power_low, residual),
                               energy_reach(log(e->time.high / e->time.value),
                                            residual->power_high, residual),
                               basis);
    e->power = ft__around(joules / e->time.value, residual->power_low,
                          residual->power_high, basis);
    e->power.high = fmin(e->power.high, fmax(load->cap_w, e->power.value));
}

ft_status ft__estimate_assemble(ft__network_estimate *e, const ft_graph *g,
                                const ft__op_task *task, const ft__schedule *s,
                                double cap_w, double call,
                                const ft__log_residual *residual, ft_error *err)
{
    double *of_op = malloc((e->n_ops + 1u) * sizeof(*of_op)), busy_s, t;
    ft__network_load load = ft__schedule_no_load(cap_w, call);
    ft_basis basis;

    if (!of_op)
        return ft_fail(err, FT_ENOMEM, 0, "estimate");
    for (uint32_t i = 0; i < e->n_ops; i++)
        of_op[i] = task[i].count;
    ft__schedule_load(&load, task, e->n_ops);
    busy_s = ft__schedule_busy(&load, s);
    t = ft__schedule_time(&load, s);
    basis = busy_s > 0 ? weakest_of_sum(e, of_op, busy_s) : FT_BASIS_SCALED;
    e->host_s = ft__schedule_host(&load, s);
    e->busy_s = busy_s;
    e->time = ft__around(
        t, -reach_at(&load, s, t, residual->time_low, residual->host_low),
        reach_at(&load, s, t, residual->time_high, residual->host_high), basis);
    if (residual->host_low == 0)
        e->time = ft__around(t, residual->time_low, residual->time_high, basis);
    share_phases(e, g, task, &load, s, busy_s, of_op);
    free(of_op);
    find_energy(e, task, &load, s, residual);
    return FT_OK;
}

void ft__estimate_brief(ft_brief *out, const ft__network_load *load,
                        const ft__schedule *s)
{
    double joules;

    out->time_s = ft__schedule_time(load, s);
    joules = ft__schedule_energy(load, s, out->time_s);
    if (joules > 0 && out->time_s > 0) {
        out->energy_j = joules;
        out->power_w = joules / out->time_s;
    } else {
        out->energy_j = out->power_w = NAN;
    }
}

/* Below a sum of rooflines there is nothing; above it, and around what another model
 * says, nothing is known. */
static void alone(ft_estimate *t, ft_basis basis)
{
    t->low = basis == FT_BASIS_ROOFLINE ? t->value : (double)NAN;
    t->high = NAN;
    t->basis = basis;
}

/* FLOP/s that bound an operation in its element type, on tensor cores where they serve.
 */
static ft__roof bounding_roof(const ft_device_facts *d, const ft_op *op)
{
    ft__hardware_spec chip;

    ft__hardware_spec_make(&chip, d, "", "default", op);
    return ft__flat_roof(fmax(d->peak_fp32, chip.peak_flops), d->bandwidth_bytes_per_s,
                         0);
}

/* How a data sheet's figures become the time of an operation. */
typedef double price_of(const ft_op *op, const ft__roof *roof);

static ft_status cost_by_specification(ft__network_estimate *out, price_of *price,
                                       ft_basis basis, const ft_device_facts *d,
                                       const ft_graph *g, ft_error *err)
{
    const ft__roof roof = ft__flat_roof(d->peak_fp32, d->bandwidth_bytes_per_s, 0);
    const bool bound = basis == FT_BASIS_ROOFLINE;
    ft_status st = ft__check_operations(g, err);

    if (st) {
        memset(out, 0, sizeof(*out));
        return st;
    }
    if (!(roof.peak_flops > 0) || !(d->bandwidth_bytes_per_s > 0)) {
        memset(out, 0, sizeof(*out));
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "%s: peak rate or bandwidth is not known, so there is no roofline",
            d->name);
    }
    st = ft__estimate_start(out, g, err);
    for (uint32_t i = 0; i < out->n_ops && !st; i++) {
        const ft__roof own = bound ? bounding_roof(d, &g->op[i]) : roof;
        double t = ft__costs_nothing(&g->op[i]) ? 0 : price(&g->op[i], &own);

        out->op_time[i] = (ft_estimate){t, bound ? t : (double)NAN, NAN,
                                        t > 0 ? basis : FT_BASIS_NONE, ""};
    }
    return st ? st : sum_operations(out, g, err);
}

static ft_status predict_by_specification(ft__network_estimate *out, price_of *price,
                                          ft_basis basis, const ft_device_facts *d,
                                          const ft_graph *g, ft_error *err)
{
    ft_status st = cost_by_specification(out, price, basis, d, g, err);

    alone(&out->time, basis);
    for (int p = 0; p < FT_PHASE_COUNT; p++)
        alone(&out->phase_time[p], basis);
    if (!st)
        st = ft__estimate_memory(out, NULL, d, g, err);
    if (st) {
        ft__network_estimate_free(out);
        return st;
    }
    out->energy.why = out->power.why =
        "a data sheet alone does not say what operations draw";
    ft__estimate_count(out);
    return FT_OK;
}

ft_status ft__predict_network_roofline(ft__network_estimate *out,
                                       const ft_device_facts *d, const ft_graph *g,
                                       ft_error *err)
{
    return predict_by_specification(out, ft__roofline, FT_BASIS_ROOFLINE, d, g, err);
}

/* H. Qi, E. Sparks, A. Talwalkar, Paleo: a performance model for deep neural networks,
 * ICLR 2017, eq. 1: reading, computing and writing do not overlap. Under a flat roof.
 */
static double paleo(const ft_op *op, const ft__roof *r)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return c.flops / r->peak_flops +
           (c.bytes_read + c.bytes_written) / r->bandwidth[0] + r->launch_s;
}

ft_status ft__predict_network_paleo(ft__network_estimate *out, const ft_device_facts *d,
                                    const ft_graph *g, ft_error *err)
{
    return predict_by_specification(out, paleo, FT_BASIS_ANALYTIC, d, g, err);
}
