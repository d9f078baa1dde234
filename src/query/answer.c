/* The answer: what was found out, in one piece of memory. */
#include "query/answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/pairs.h"
#include "foretell/names.h"
#include "graph/graph_inside.h"
#include "predict/query/op_query.h"
#include "query/advise.h"
#include "query/lacks.h"

enum { SPEC_MAX = 2048, MAX_WARNINGS = 10 };

struct answer {
    ft_answer a; /* what callers see */
    ft__arena arena;
    ft_graph *imported;
    ft_graph *lowered;
    ft_totals asked; /* of the graph that was asked about */
    double *network_w;
    bool bad; /* memory was short: sticky */
};

/* Pieces; "" and NULL when memory is short. */

FT_PRINTF(2, 3)
static const char *text(struct answer *x, const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    s = ft__arena_vfmt(&x->arena, fmt, ap);
    va_end(ap);
    x->bad = x->bad || !s;
    return s ? s : "";
}

static const char *copy(struct answer *x, const char *s, size_t len)
{
    s = ft__arena_strndup(&x->arena, s, len);
    x->bad = x->bad || !s;
    return s ? s : "";
}

static void *piece(struct answer *x, size_t n, size_t size)
{
    void *p = ft__arena_array(&x->arena, n + 1, size);

    x->bad = x->bad || !p;
    return p;
}

static ft_estimate kept(struct answer *x, ft_estimate e)
{
    e.why = e.why && *e.why ? text(x, "%s", e.why) : "";
    return e;
}

static void remark(struct answer *x, const ft_remark **list, size_t *n,
                   ft_remark_code code, const char *what)
{
    ft_remark *r = piece(x, 1, sizeof(*r));

    if (!r)
        return;
    *r = (ft_remark){code, what};
    list[(*n)++] = r;
}

/* Our engines plan the memory of a forward pass ahead; nothing else is run by them. */
static bool is_planned(const ft_answer *a)
{
    return a->by == FT_ANSWERED_BY_DEVICE && a->graph->mode == FT_MODE_INFERENCE;
}

/* The type of most of the work, and others that products are computed in, as those of
 * a language model's quantised weights are. */
static const char *types(struct answer *x, const ft__question *q)
{
    const ft_graph *g = q->graph;
    bool said[FT_DTYPE_COUNT] = {false};
    const char *out = x->a.dtype;

    said[x->asked.dtype] = true;
    for (uint32_t i = 0; i < g->n_ops && !q->q.dtype; i++) {
        const ft_op *op = &g->op[i];
        ft_class of = ft_kind_class(op->kind);

        if ((of == FT_CLASS_CONV || of == FT_CLASS_MATMUL) && !said[op->dtype]) {
            said[op->dtype] = true;
            out = text(x, "%s and %s", out, ft_dtype_name(op->dtype));
        }
    }
    return out;
}

static ft__cap cap_of(const struct answer *x, const ft__question *q)
{
    return ft__cap_of(q->s.source.on.device, x->a.setting, x->a.power.value);
}

/* Why it is answered in another run mode than was asked for. */
static void put_run_mode(struct answer *x, const ft__question *q,
                         const ft_remark **list)
{
    const char *asked = q->q.run_mode, *on = q->s.source.on.run_mode;
    const char *why = NULL;

    if (asked && on && strcmp(on, asked) != 0)
        why = ft__graph_is_recurrent(x->a.graph)
                  ? "torch.compile breaks its graph at recurrent layers: no CUDA graph "
                    "is replayed, all of the network is issued"
                  : "its batch norms keep statistics (training mode), so that PyTorch "
                    "replays no CUDA graph of it: each operation is issued";
    else if (asked && *x->a.run_mode && strcmp(x->a.run_mode, asked) != 0)
        why = text(x, "%s, not %s: of this device no other run mode is known",
                   x->a.run_mode, asked);
    if (why)
        remark(x, list, &x->a.n_assumptions, FT_REMARK_RUN_MODE, why);
}

static void put_assumptions(struct answer *x, const ft__question *q)
{
    const ft_graph *g = x->a.graph;
    const ft_remark **list = piece(x, g->n_assumptions + 9, sizeof(*list));
    const ft__device_use *on = &q->s.source.on;
    const ft_device_facts *d = on->device ? ft_device_get(on->device) : NULL;
    size_t *n = &x->a.n_assumptions;

    if (!list)
        return;
    x->a.assumption = list;
    if (q->q.totals) {
        put_run_mode(x, q, list);
        return;
    }
    for (uint32_t i = 0; i < g->n_assumptions; i++)
        remark(x, list, n, FT_REMARK_MODEL, g->assumption[i]);
    if (*q->s.note)
        remark(x, list, n, FT_REMARK_DEVICE, text(x, "%s", q->s.note));
    if (d && d->launch_factor > 0 && !(on->launch_s > 0) &&
        strcmp(x->a.host, "not known") == 0)
        remark(x, list, n, FT_REMARK_DEVICE,
               text(x,
                    "host of %s: launches take %.3g times those of an x86 server's; "
                    "--launch-time replaces it",
                    d->name, d->launch_factor));
    remark(x, list, n, FT_REMARK_RUN,
           text(x, "%s, %s at a time, %s", ft_name(FT_NAMES_MODE, g->mode), x->a.step,
                types(x, q)));
    if (x->a.by == FT_ANSWERED_BY_SPECIFICATION && q->s.threads)
        remark(x, list, n, FT_REMARK_RUN,
               text(x,
                    "%" PRIu64 " thread%s, as oneDNN runs it: what Python and PyTorch "
                    "do between operations is not in it",
                    q->s.threads, q->s.threads > 1 ? "s" : ""));
    put_run_mode(x, q, list);
    if (cap_of(x, q) == FT__CAP_ABOVE)
        remark(x, list, n, FT_REMARK_RUN,
               text(x,
                    "the cap is above the %.4g W that the device is built for (TDP): "
                    "it holds nothing back",
                    d->tdp_w));
    if (cap_of(x, q) == FT__CAP_BELOW)
        remark(x, list, n, FT_REMARK_RUN,
               "as much power as the lowest clock leaves, which is more than the cap");
    if (q->e.run_mode & FT__RUN_REPLAYED)
        remark(x, list, n, FT_REMARK_RUN,
               text(x,
                    "replayed as a CUDA graph%s: --run-mode eager has the host's time "
                    "in it",
                    q->q.run_mode ? "" : ", as what it was learned from"));
    if (!x->a.memory_planned)
        remark(x, list, n, FT_REMARK_MEMORY,
               "memory as PyTorch allocates it, operation by operation");
}

/* "": there is none. */
static const char *measuring(struct answer *x, const ft__question *a, const char *verb)
{
    const char *made = "";
    ft__buf b = {0};

    if (cap_of(x, a) == FT__CAP_HOLDS && ft__advise(&b, a, x->a.graph, verb))
        made = b.bad ? "" : text(x, "%s", b.s);
    x->bad = x->bad || b.bad;
    ft__buf_free(&b);
    return made;
}

/* How what lies outside of the predictor comes into it; "": not by a command. */
static const char *learning(struct answer *x, const ft__question *a)
{
    const ft_query *q = &a->q;
    const char *collect = measuring(x, a, "collect"), *made;
    ft__buf b = {0};

    /* What else an engine lacks is left out of a collection, which needs some of it. */
    if (!*collect ||
        (ft__engine_is_fp32(a->s.run_by) && x->asked.dtype != FT_DTYPE_fp32) ||
        q->loaded || strcmp(q->model ? q->model : "-", "-") == 0)
        return "";
    if (x->a.by == FT_ANSWERED_BY_FAMILY)
        return text(x,
                    "; measured there, by %s --db few.db, they correct it: --correct "
                    "few.db",
                    collect);
    ft__buf_fmt(&b, "; %s%s, then foretell train",
                q->predictor ? "in the store that it was learned from, by " : "",
                collect);
    ft__advise_option(&b, "--engine", a->s.engine);
    if (strcmp(x->a.device, "local") != 0)
        ft__advise_option(&b, "--device", x->a.device);
    if (!strchr(a->s.setting, ' '))
        ft__advise_count(&b, "--threads", a->s.threads);
    else
        ft__advise_option(&b, "--setting", a->s.setting);
    if (q->predictor)
        ft__buf_str(&b, " -o more.ftp, then --predictor more.ftp");
    x->bad = x->bad || b.bad;
    made = b.bad ? "" : text(x, "%s, brings them in", b.s);
    ft__buf_free(&b);
    return made;
}

/* Asked about without a setting, or under a cap alone that holds nothing back. */
static bool is_as_it_comes(const ft__question *q)
{
    const ft_device *device = q->s.source.on.device;
    const char *setting = q->q.setting;

    return !setting || !*setting ||
           (device && !strchr(setting, ' ') &&
            ft__is_idle_cap(ft_device_get(device), ft__pair_number(setting, "power")));
}

/* Unique operations that are not of a forward pass, and whose time is a bound. */
static uint32_t n_backward(const ft__question *q, const ft_graph *g)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < q->e.n_ops; i++)
        n += q->e.op_time[i].basis == FT_BASIS_ROOFLINE &&
             g->op[i].phase != FT_PHASE_FORWARD;
    return n;
}

static void put_op_warnings(struct answer *x, const ft__question *q,
                            const ft_remark **list)
{
    const ft__network_estimate *e = &q->e;
    uint32_t backward = n_backward(q, x->a.graph);
    size_t *n = &x->a.n_warnings;

    if (e->n_scaled)
        remark(x, list, n, FT_REMARK_OUTSIDE,
               text(x,
                    "%u of %u unique operations lie outside of what the predictor has "
                    "seen%s",
                    e->n_scaled, e->n_ops, learning(x, q)));
    if (e->n_roofline > backward)
        remark(x, list, n, FT_REMARK_NEVER_MEASURED,
               text(x,
                    "%u of %u unique operations are of kinds never measured: their "
                    "times are lower bounds",
                    e->n_roofline - backward, e->n_ops));
    if (backward)
        remark(x, list, n, FT_REMARK_BACKWARD,
               text(x,
                    "%u of %u unique operations belong to backward pass and "
                    "optimizer, which were not measured: their times are rooflines, "
                    "lower bounds",
                    backward, e->n_ops));
}

/* A training step that is derived from a graph exported for inference. */
static void put_folded(struct answer *x, const ft__question *q, const ft_remark **list)
{
    char what[512];

    if (q->graph->mode == FT_MODE_INFERENCE && x->a.graph->mode == FT_MODE_TRAINING &&
        ft_graph_folded_norms(what, sizeof(what), q->graph))
        remark(x, list, &x->a.n_warnings, FT_REMARK_FOLDED, text(x, "%s", what));
}

/* NVIDIA's devices from this compute capability on, AMD's and CPUs with a peak in their
 * files. */
static bool computes(const ft_device_facts *d, double since, double peak)
{
    if (strcmp(d->vendor, "NVIDIA") == 0)
        return !(d->compute_capability < since);
    return peak > 0 || (strcmp(d->vendor, "AMD") != 0 && strcmp(d->type, "cpu") != 0);
}

static bool has_hardware(const ft_device_facts *d, ft_dtype t, bool tf32)
{
    switch (t) {
    case FT_DTYPE_fp32: return !tf32 || computes(d, 8.0, d->peak_tf32);
    case FT_DTYPE_bf16: return computes(d, 8.0, d->peak_bf16);
    case FT_DTYPE_fp16: return computes(d, 5.3, d->peak_fp16);
    case FT_DTYPE_fp8e4m3:
    case FT_DTYPE_fp8e4m3uz:
    case FT_DTYPE_fp8e5m2:
    case FT_DTYPE_fp8e5m2uz: return computes(d, 8.9, d->peak_fp8);
    case FT_DTYPE_fp4: return computes(d, 10.0, d->peak_fp4);
    default: return true;
    }
}

/* The network's type, or that of products with weights, which may be stored in fewer
 * bits, that the device has no hardware for; FT_DTYPE_NONE: it has for all. */
static ft_dtype without_hardware(const struct answer *x, const ft_device_facts *d,
                                 bool tf32)
{
    const ft_graph *g = x->a.graph;

    if (!has_hardware(d, x->asked.dtype, tf32))
        return x->asked.dtype;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if ((g->op[i].kind == FT_KIND_linear || g->op[i].kind == FT_KIND_moe) &&
            !has_hardware(d, g->op[i].dtype, false))
            return g->op[i].dtype;
    return FT_DTYPE_NONE;
}

static void put_no_hardware(struct answer *x, const ft__question *q,
                            const ft_remark **list)
{
    const ft_device *device = q->s.source.on.device;
    const bool tf32 = q->q.policy && strcmp(q->q.policy, "tf32") == 0;
    const ft_dtype t =
        device ? without_hardware(x, ft_device_get(device), tf32) : FT_DTYPE_NONE;

    if (t != FT_DTYPE_NONE)
        remark(x, list, &x->a.n_warnings, FT_REMARK_NO_HARDWARE,
               text(x, "%s has no hardware for %s: %s", ft_device_get(device)->title,
                    t == FT_DTYPE_fp32 ? "tf32" : ft_dtype_name(t),
                    t == FT_DTYPE_fp32 ? "products are computed, and priced, in fp32"
                                       : "libraries convert it, or refuse to run; the "
                                         "times are guesses"));
}

static void put_warnings(struct answer *x, const ft__question *q)
{
    const ft_remark **list = piece(x, MAX_WARNINGS, sizeof(*list));
    const ft_answered_by by = x->a.by;
    size_t *n = &x->a.n_warnings;

    if (!list)
        return;
    x->a.warning = list;
    put_folded(x, q, list);
    put_no_hardware(x, q, list);
    if (*q->s.other_engine)
        remark(x, list, n, FT_REMARK_OTHER_ENGINE, text(x, "%s", q->s.other_engine));
    if (*q->s.other_machine)
        remark(x, list, n, FT_REMARK_OTHER_MACHINE, text(x, "%s", q->s.other_machine));
    if (*q->s.damaged)
        remark(x, list, n, FT_REMARK_DAMAGED, text(x, "%s", q->s.damaged));
    if (q->q.host && *x->a.host && strcmp(q->q.host, x->a.host) != 0)
        remark(x, list, n, FT_REMARK_OTHER_HOST,
               text(x,
                    "launches are taken to cost what they cost a host that is %s%s: "
                    "nothing is known of %s",
                    strcmp(x->a.host, "not known") == 0 ? "" : "called ", x->a.host,
                    q->q.host));
    if (by == FT_ANSWERED_BY_SPECIFICATION &&
        q->s.source.model == FT__ANALYTIC_PHYSICS && q->e.n_roofline)
        remark(x, list, n, FT_REMARK_UNNAMED,
               text(x,
                    "%u of %u unique operations are not known by name: their times "
                    "are lower bounds",
                    q->e.n_roofline, q->e.n_ops));
    if (by != FT_ANSWERED_BY_SPECIFICATION &&
        (by != FT_ANSWERED_BY_FAMILY || x->a.among) && is_as_it_comes(q))
        put_op_warnings(x, q, list);
    if (q->e.n_unused_power)
        remark(x, list, &x->a.n_warnings, FT_REMARK_OUTSIDE,
               text(x,
                    "readings of power that --correct names (%u) are not used: the "
                    "predictor has learned no power for them to correct",
                    q->e.n_unused_power));
}

static const char *spec_of(struct answer *x, const ft_op *op)
{
    char spec[SPEC_MAX];
    const size_t len = ft_op_print(op, spec, sizeof(spec));

    return copy(x, spec, len < sizeof(spec) ? len : sizeof(spec) - 1);
}

/* The command that measures it, or why there is none. */
static void put_verify(struct answer *x, const ft__question *q)
{
    const char *by = q->s.run_by, *dot = q->q.model ? strrchr(q->q.model, '.') : NULL;
    const bool onnxruntime = strncmp(by, "onnxruntime", 11) == 0;
    const bool whole = onnxruntime && dot && strcmp(dot, ".onnx") == 0;
    const ft_op *lacks = ft__engine_lacks(by, x->a.graph, whole);
    const int name = (int)strcspn(by, ",");

    x->a.verify = "";
    if (q->e.run_mode != FT__RUN_EAGER)
        x->a.unverified = "to verify it: engines of foretell run networks eagerly; "
                          "--run-mode eager says what they take";
    else if (!*by || (whole && q->q.dtype))
        x->a.unverified =
            *by ? "to verify it: onnxruntime runs the file as it is: export it in the "
                  "element type"
                : "to verify it: no engine of foretell runs it on that device";
    else if (x->a.graph->mode == FT_MODE_TRAINING && strncmp(by, "torch", 5) != 0)
        x->a.unverified = "to verify it takes an engine that runs training steps: "
                          "--engine torch";
    else if (lacks && ft__engine_lacks_kind(by, lacks->kind))
        x->a.unverified =
            text(x, "to verify it: %.*s does not run %s", name, by, spec_of(x, lacks));
    else if (lacks)
        x->a.unverified =
            text(x, "to verify it: %.*s computes in fp32 alone, not in %s", name, by,
                 ft_dtype_name(lacks->dtype));
    else if (cap_of(x, q) != FT__CAP_HOLDS)
        x->a.unverified =
            "to verify it: the device's driver may take no such power cap";
    else if (x->a.limit_bytes > 0 && x->a.memory.value > x->a.limit_bytes)
        x->a.unverified =
            x->a.max_batch > 0
                ? text(x, "to verify it: it does not fit; --batch %" PRId64 " does",
                       x->a.max_batch)
            : x->a.max_batch == 0
                ? "to verify it: it does not fit, nor does any batch"
                : "to verify it: it does not fit; --max-batch says what does";
    else
        x->a.verify = measuring(x, q, "measure");
}

static bool is_whole(const ft_op *op)
{
    return op->kind == FT_KIND_kernel || op->kind == FT_KIND_network;
}

/* Stable insertion sort: a network has a few hundred unique operations. */
static void put_heaviest(struct answer *x)
{
    const uint32_t n = x->a.n_ops;
    const ft_answer_op **order = piece(x, n, sizeof(*order));

    for (uint32_t i = 0; order && i < n; i++) {
        uint32_t j = i;

        for (; j > 0 && order[j - 1]->total_s < x->a.op[i]->total_s; j--)
            order[j] = order[j - 1];
        order[j] = x->a.op[i];
    }
    x->a.heaviest = order;
}

static void put_ops(struct answer *x, const ft__network_estimate *e)
{
    const ft_graph *g = x->a.graph;
    ft_answer_op *row = piece(x, e->n_ops, sizeof(*row));
    const ft_answer_op **list = piece(x, e->n_ops, sizeof(*list));

    x->network_w = piece(x, e->n_ops, sizeof(*x->network_w));
    if (!row || !list || !x->network_w)
        return;
    memcpy(x->network_w, e->op_network_w, e->n_ops * sizeof(*x->network_w));
    for (uint32_t i = 0; i < e->n_ops; i++) {
        const uint64_t count = g->op_count[i];
        const double total_s = e->op_device[i].value * (double)count;

        row[i] = (ft_answer_op){.spec = spec_of(x, &g->op[i]),
                                .name = "",
                                .op = &g->op[i],
                                .count = count,
                                .total_s = total_s,
                                .share = total_s / e->time.value,
                                .time = kept(x, e->op_time[i]),
                                .device_time = kept(x, e->op_device[i]),
                                .power = kept(x, e->op_power[i]),
                                .energy = kept(x, e->op_energy[i])};
        list[i] = &row[i];
    }
    for (uint32_t i = g->n_nodes; i-- > 0;)
        row[g->node[i].op].name = g->node[i].name;
    for (uint32_t i = 0; i < e->n_ops; i++)
        if (*row[i].name && is_whole(row[i].op))
            row[i].spec = row[i].name;
    x->a.n_ops = e->n_ops;
    x->a.op = list;
    put_heaviest(x);
}

static void put_unmodelled(struct answer *x)
{
    const ft_graph *g = x->a.graph;
    const char **list = piece(x, g->n_bounded, sizeof(*list));

    for (uint32_t i = 0; list && i < g->n_bounded; i++)
        list[x->a.n_unmodelled++] = g->bounded[i];
    x->a.unmodelled = list;
}

static void put_selection(struct answer *x, const ft__question *q)
{
    const ft__selection *s = &q->s;
    const bool by_facts = s->by == FT_ANSWERED_BY_SPECIFICATION;
    ft_answer *a = &x->a;

    a->flops = NAN;
    a->model = a->mode = a->step = a->dtype = a->run_mode = a->host = "";
    a->verify = a->unverified = "";
    a->device = text(x, "%s", s->device);
    a->title = text(x, "%s", s->title);
    a->setting = text(x, "%s", s->setting);
    a->engine = s->by == FT_ANSWERED_BY_DEVICE
                    ? text(x, "%s %s", s->engine, s->engine_version)
                    : "";
    a->by = s->by;
    a->predictor = text(x, "%s", s->predictor);
    a->method = !by_facts                                  ? "learned"
                : s->source.model == FT__ANALYTIC_PHYSICS  ? "physics"
                : s->source.model == FT__ANALYTIC_ROOFLINE ? "roofline"
                                                           : "paleo";
    a->among = s->among;
    a->lower_bound = by_facts && s->source.model == FT__ANALYTIC_ROOFLINE;
    a->limit_bytes = s->limit_bytes;
    a->max_batch = q->max_batch;
}

static void put_network(struct answer *x, const ft__question *q)
{
    ft_answer *a = &x->a;
    a->model = a->graph->name;
    a->mode = ft_name(FT_NAMES_MODE, a->graph->mode);
    a->step = ft_step_name(&q->step, a->graph);
    a->batch = q->graph->batch;
    a->memory_planned = is_planned(a);
    if (q->many.n)
        return;
    a->run_mode = ft__run_mode_name(q->e.run_mode);
    a->host = q->e.run_mode & FT__RUN_REPLAYED || isnan(q->e.host_s)
                  ? ""
                  : text(x, "%s", q->s.host);
}

/* Of a device, by who makes it; NULL: none inside. */
static const char *sensor_of(const ft_device_facts *d)
{
    const bool gpu = strcmp(d->type, "gpu") == 0;

    if (strncmp(d->name, "jetson-", 7) == 0)
        return "hwmon (INA3221)";
    if (gpu && strcmp(d->vendor, "NVIDIA") == 0)
        return "nvml, its driver's library,";
    if (gpu && strcmp(d->vendor, "AMD") == 0)
        return "its driver's power sensor";
    return strcmp(d->vendor, "Intel") == 0 || strcmp(d->vendor, "AMD") == 0
               ? "powercap (RAPL)"
               : NULL;
}

/* Why there is no energy, and the sensor, host and command that would give it. */
static const char *no_energy(struct answer *x, const ft__question *q, const char *why)
{
    const ft__selection *s = &q->s;
    const ft_device *device = s->source.on.device;
    const ft_device_facts *d = device ? ft_device_get(device) : NULL;
    const bool local = strcmp(s->device, "local") == 0;
    const char *sensor = local || !d ? "a sensor" : sensor_of(d);
    const bool named = strcmp(s->run_by, FT_DEFAULT_ENGINE) != 0;

    if (local && q->no_sensors && *q->no_sensors)
        why = q->no_sensors;
    if (s->by == FT_ANSWERED_BY_SPECIFICATION &&
        s->source.model != FT__ANALYTIC_PHYSICS && d && strcmp(d->type, "gpu") == 0 &&
        d->tdp_w > 0)
        return text(x, "%s; --method physics estimates them", why);
    if (!*s->run_by)
        return text(x,
                    "%s; no engine of foretell measures there: foretell data import of "
                    "others' measurements (docs/data.md), then foretell train --family",
                    why);
    return text(x,
                "%s; measured where %s can be read (%s): foretell collect%s%s --power "
                "%s, then foretell train%s%.*s",
                why, sensor ? sensor : "a power meter",
                local ? "foretell doctor shows which"
                      : "on a host that has this device",
                named ? " --engine " : "", named ? s->run_by : "",
                sensor ? "all" : "\"command:PROGRAM\"",
                !named  ? ""
                : local ? " --engine "
                        : " --family",
                local && named ? (int)strcspn(s->run_by, ",") : 0, s->run_by);
}

static void put_estimates(struct answer *x, const ft__question *q)
{
    const ft__network_estimate *e = &q->e;
    ft_estimate *phase = piece(x, FT_PHASE_COUNT, sizeof(*phase));
    double *part = piece(x, FT_PART_COUNT, sizeof(*part));
    ft_answer *a = &x->a;

    a->time = kept(x, e->time);
    a->energy = kept(x, e->energy);
    a->power = kept(x, e->power);
    a->memory = kept(x, e->memory);
    if (e->energy.basis == FT_BASIS_UNAVAILABLE)
        a->energy.why = no_energy(x, q, e->energy.why);
    if (e->power.basis == FT_BASIS_UNAVAILABLE && *a->energy.why)
        a->power.why = a->energy.why;
    for (int p = 0; phase && p < FT_PHASE_COUNT; p++)
        phase[p] = kept(x, e->phase_time[p]);
    if (part)
        memcpy(part, e->part_bytes, sizeof(e->part_bytes));
    a->phase_time = phase;
    a->part_bytes = part;
    a->context_bytes = e->context_bytes;
    a->two_largest_bytes = e->two_largest_bytes;
    a->twice_mean_bytes = e->twice_mean_bytes;
    a->memory_policy = e->memory_policy;
    a->host_s = e->host_s;
    a->busy_s = e->busy_s;
    a->n_measured = e->n_measured;
    a->n_learned = e->n_learned;
    a->n_scaled = e->n_scaled;
    a->n_roofline = e->n_roofline;
    a->n_known = e->n_known;
    a->n_networks = e->n_networks;
}

static void put_work(struct answer *x, const ft__question *q)
{
    ft_totals t = x->asked;

    if (x->a.graph != q->graph)
        ft_graph_totals(x->a.graph, &t);
    x->a.flops = t.flops;
    x->a.dtype = q->q.dtype && strncmp(q->q.dtype, "amp-", 4) == 0
                     ? text(x, "%s", q->q.dtype)
                     : ft_dtype_name(x->asked.dtype);
}

static void put_answer(struct answer *x, const ft__question *q)
{
    ft_graph_totals(q->graph, &x->asked);
    put_estimates(x, q);
    put_warnings(x, q);
    x->a.n_ops = q->e.n_ops;
    if (!q->q.totals)
        put_work(x, q);
    put_assumptions(x, q);
    if (q->q.totals)
        return;
    put_ops(x, &q->e);
    put_unmodelled(x);
    put_verify(x, q);
}

/* Of many settings or lists there are values alone. */
static void put_each(struct answer *x, const ft__many_asked *m)
{
    const ft_estimate none = {NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "asked of many"};
    ft_estimate *phase = piece(x, FT_PHASE_COUNT, sizeof(*phase));
    ft_brief *each = piece(x, m->n, sizeof(*each));
    ft_answer *a = &x->a;

    a->time = a->energy = a->power = a->memory = none;
    a->part_bytes = piece(x, FT_PART_COUNT, sizeof(*a->part_bytes));
    a->phase_time = phase;
    for (int p = 0; phase && p < FT_PHASE_COUNT; p++)
        phase[p] = none;
    if (!each)
        return;
    memcpy(each, m->each, m->n * sizeof(*each));
    for (size_t i = 0; i < m->n; i++)
        if (m->why[i])
            each[i].why = text(x, "%s", m->why[i]);
    a->each = each;
    a->n_each = m->n;
}

ft_status ft__answer_make(ft_answer **out, ft__question *q, ft_error *err)
{
    struct answer *x = calloc(1, sizeof(*x));

    *out = NULL;
    if (!x)
        return ft_fail(err, FT_ENOMEM, 0, "answer");
    x->a.graph = q->lowered ? q->lowered : q->graph;
    put_selection(x, q);
    if (x->a.graph)
        put_network(x, q);
    if (q->many.n)
        put_each(x, &q->many);
    else
        put_answer(x, q);
    if (x->bad) {
        ft_answer_free(&x->a);
        return ft_fail(err, FT_ENOMEM, 0, "answer");
    }
    x->imported = q->imported;
    x->lowered = q->lowered;
    q->imported = q->lowered = NULL;
    *out = &x->a;
    return FT_OK;
}

const double *ft__answer_network_w(const ft_answer *a)
{
    return ((const struct answer *)a)->network_w;
}

void ft_answer_free(ft_answer *a)
{
    struct answer *x = (struct answer *)a;

    if (!x)
        return;
    ft_graph_free(x->imported);
    ft_graph_free(x->lowered);
    ft__arena_free(&x->arena);
    free(x);
}
