/* What an answer says in words: what was assumed, warnings, how to verify it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/pairs.h"
#include "foretell/names.h"
#include "graph/graph_inside.h"
#include "predict/query/op_query.h"
#include "query/advise.h"
#include "query/answer_inside.h"
#include "query/lacks.h"

enum { MAX_WARNINGS = 10 };

/* A list of an answer's, with room. */
struct remarks {
    struct answer *x;
    const ft_remark **list;
    size_t *n;
};

FT_PRINTF(3, 4)
static ft_remark *remark(struct remarks *to, ft_remark_code code, const char *fmt, ...)
{
    ft_remark *r = ft__answer_piece(to->x, 1, sizeof(*r));
    va_list ap;

    if (!r)
        return NULL;
    va_start(ap, fmt);
    *r = (ft_remark){.code = code, .text = ft__answer_vtext(to->x, fmt, ap)};
    va_end(ap);
    to->list[(*to->n)++] = r;
    return r;
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
            out = ft__answer_text(x, "%s and %s", out, ft_dtype_name(op->dtype));
        }
    }
    return out;
}

static ft__cap cap_of(const struct answer *x, const ft__question *q)
{
    return ft__cap_of(q->s.source.on.device, x->a.setting, x->a.power.value);
}

/* Why it is answered in another run mode than was asked for. */
static void put_run_mode(struct remarks *to, const ft__question *q)
{
    struct answer *x = to->x;
    const char *asked = q->q.run_mode, *on = q->s.source.on.run_mode;
    const char *why = NULL;

    if (asked && on && strcmp(on, asked) != 0)
        why = ft__graph_is_recurrent(x->a.graph)
                  ? "torch.compile breaks its graph at recurrent layers: no CUDA graph "
                    "is replayed, all of the network is issued"
              : ft__graph_writes_inputs(x->a.graph)
                  ? "it writes inputs (a cache of keys and values), so that PyTorch "
                    "replays no CUDA graph of it: each operation is issued"
                  : "its batch norms keep statistics (training mode), so that PyTorch "
                    "replays no CUDA graph of it: each operation is issued";
    else if (asked && *x->a.run_mode && strcmp(x->a.run_mode, asked) != 0)
        why =
            ft__answer_text(x, "%s, not %s: of this device no other run mode is known",
                            x->a.run_mode, asked);
    if (why)
        remark(to, FT_REMARK_RUN_MODE, "%s", why);
}

void ft__answer_put_assumptions(struct answer *x, const ft__question *q)
{
    const ft_graph *g = x->a.graph;
    struct remarks to = {x, ft__answer_piece(x, g->n_assumptions + 9, sizeof(*to.list)),
                         &x->a.n_assumptions};
    const ft__device_use *on = &q->s.source.on;
    const ft_device_facts *d = on->device ? ft_device_get(on->device) : NULL;

    if (!to.list)
        return;
    x->a.assumption = to.list;
    if (q->q.totals) {
        put_run_mode(&to, q);
        return;
    }
    for (uint32_t i = 0; i < g->n_assumptions; i++)
        remark(&to, FT_REMARK_MODEL, "%s", g->assumption[i]);
    if (*q->s.note)
        remark(&to, FT_REMARK_DEVICE, "%s", q->s.note);
    if (d && d->launch_factor > 0 && !(on->launch_s > 0) &&
        strcmp(x->a.host, "not known") == 0)
        remark(&to, FT_REMARK_DEVICE,
               "host of %s: launches take %.3g times those of an x86 server's; "
               "--launch-time replaces it",
               d->name, d->launch_factor);
    remark(&to, FT_REMARK_RUN, "%s, %s at a time, %s", ft_name(FT_NAMES_MODE, g->mode),
           x->a.step, types(x, q));
    if (x->a.by == FT_ANSWERED_BY_SPECIFICATION && q->s.threads)
        remark(&to, FT_REMARK_RUN,
               "%" PRIu64 " thread%s, as oneDNN runs it: what Python and PyTorch "
               "do between operations is not in it",
               q->s.threads, q->s.threads > 1 ? "s" : "");
    put_run_mode(&to, q);
    if (cap_of(x, q) == FT__CAP_ABOVE)
        remark(&to, FT_REMARK_RUN,
               "the cap is above the %.4g W that the device is built for (TDP): "
               "it holds nothing back",
               d->tdp_w);
    if (cap_of(x, q) == FT__CAP_BELOW)
        remark(&to, FT_REMARK_RUN,
               "as much power as the lowest clock leaves, which is more than the cap");
    if (q->e.run_mode & FT__RUN_REPLAYED)
        remark(&to, FT_REMARK_RUN,
               "replayed as a CUDA graph%s: --run-mode eager has the host's time "
               "in it",
               q->q.run_mode ? "" : ", as what it was learned from");
    if (!x->a.memory_planned)
        remark(&to, FT_REMARK_MEMORY,
               "memory as PyTorch allocates it, operation by operation");
}

/* "": there is none. */
static const char *measuring(struct answer *x, const ft__question *a, const char *verb)
{
    const char *made = "";
    ft__buf b = {0};

    if (cap_of(x, a) == FT__CAP_HOLDS && !a->s.source.channels_last &&
        ft__advise(&b, a, x->a.graph, verb))
        made = b.bad ? "" : ft__answer_text(x, "%s", b.s);
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
        return ft__answer_text(
            x,
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
    made = b.bad ? "" : ft__answer_text(x, "%s, brings them in", b.s);
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

static void put_op_warnings(struct remarks *to, const ft__question *q)
{
    const ft__network_estimate *e = &q->e;
    uint32_t backward = n_backward(q, to->x->a.graph);

    if (e->n_scaled)
        remark(to, FT_REMARK_OUTSIDE,
               "%u of %u unique operations lie outside of what the predictor has "
               "seen%s",
               e->n_scaled, e->n_ops, learning(to->x, q));
    if (e->n_roofline > backward)
        remark(to, FT_REMARK_NEVER_MEASURED,
               "%u of %u unique operations are of kinds never measured: their "
               "times are lower bounds",
               e->n_roofline - backward, e->n_ops);
    if (backward)
        remark(to, FT_REMARK_BACKWARD,
               "%u of %u unique operations belong to backward pass and "
               "optimizer, which were not measured: their times are rooflines, "
               "lower bounds",
               backward, e->n_ops);
}

/* A training step that is derived from a graph exported for inference. */
static void put_folded(struct remarks *to, const ft__question *q)
{
    char what[512];

    if (q->graph->mode == FT_MODE_INFERENCE &&
        to->x->a.graph->mode == FT_MODE_TRAINING &&
        ft_graph_folded_norms(what, sizeof(what), q->graph))
        remark(to, FT_REMARK_FOLDED, "%s", what);
}

/* What the device has no units for: */
struct lacking {
    ft_dtype dtype; /* FT_DTYPE_NONE: it has them for all */
    ft_dtype in;    /* that it is computed in; FT_DTYPE_NONE: nobody knows */
};

/* The network's type, or that of products with weights, which may be stored in fewer
 * bits. */
static struct lacking lacking_of(const struct answer *x, const ft_device_facts *d,
                                 bool tf32)
{
    const ft_graph *g = x->a.graph;
    struct lacking out = {FT_DTYPE_NONE, FT_DTYPE_NONE};

    for (uint32_t i = 0; i < g->n_ops && out.dtype == FT_DTYPE_NONE; i++) {
        const ft_op *op = &g->op[i];
        const ft_dtype in = ft__device_computes_in(d, op);

        if (in != op->dtype)
            out = (struct lacking){op->dtype, in};
        else if ((op->kind == FT_KIND_linear || op->kind == FT_KIND_moe) &&
                 !ft__device_has_units(d, op->dtype, false))
            out.dtype = op->dtype;
    }
    if (out.in != FT_DTYPE_NONE && !ft__device_has_units(d, out.in, false))
        out = (struct lacking){out.in, FT_DTYPE_NONE};
    if (out.dtype == FT_DTYPE_NONE && !ft__device_has_units(d, x->asked.dtype, tf32))
        out.dtype = x->asked.dtype;
    return out;
}

static void put_no_hardware(struct remarks *to, const ft__question *q)
{
    const ft_device *device = q->s.source.on.device;
    const bool tf32 = q->q.policy && strcmp(q->q.policy, "tf32") == 0;
    struct lacking x;
    char how[80] = "libraries convert it, or refuse to run; the times are guesses";
    ft_remark *r;

    if (!device)
        return;
    x = lacking_of(to->x, ft_device_get(device), tf32);
    if (x.dtype == FT_DTYPE_NONE && q->half)
        x.dtype = FT_DTYPE_bf16;
    if (x.dtype == FT_DTYPE_NONE)
        return;
    if (x.dtype == FT_DTYPE_bf16 && q->half)
        snprintf(how, sizeof(how), "computed in fp16, as servers do there");
    else if (x.dtype == FT_DTYPE_fp32)
        snprintf(how, sizeof(how), "products are computed, and priced, in fp32");
    else if (x.in != FT_DTYPE_NONE)
        snprintf(how, sizeof(how), "products are computed in %s, weights read in %s",
                 ft_dtype_name(x.in), ft_dtype_name(x.dtype));
    r = remark(to, FT_REMARK_NO_HARDWARE, "%s has no hardware for %s: %s",
               ft_device_get(device)->title,
               x.dtype == FT_DTYPE_fp32 ? "tf32" : ft_dtype_name(x.dtype), how);
    if (r && r->text) {
        r->dtype = x.dtype;
        r->ending = r->text + strlen(r->text) - strlen(how);
    }
}

void ft__answer_put_warnings(struct answer *x, const ft__question *q)
{
    struct remarks to = {x, ft__answer_piece(x, MAX_WARNINGS, sizeof(*to.list)),
                         &x->a.n_warnings};
    const ft_answered_by by = x->a.by;

    if (!to.list)
        return;
    x->a.warning = to.list;
    put_folded(&to, q);
    put_no_hardware(&to, q);
    if (*q->s.other_engine)
        remark(&to, FT_REMARK_OTHER_ENGINE, "%s", q->s.other_engine);
    if (*q->s.other_machine)
        remark(&to, FT_REMARK_OTHER_MACHINE, "%s", q->s.other_machine);
    if (*q->s.damaged)
        remark(&to, FT_REMARK_DAMAGED, "%s", q->s.damaged);
    if (q->q.host && *x->a.host && strcmp(q->q.host, x->a.host) != 0)
        remark(&to, FT_REMARK_OTHER_HOST,
               "launches are taken to cost what they cost a host that is %s%s: "
               "nothing is known of %s",
               strcmp(x->a.host, "not known") == 0 ? "" : "called ", x->a.host,
               q->q.host);
    if ((q->q.host || q->q.launch_s > 0) && isnan(x->a.host_s))
        remark(&to, FT_REMARK_OTHER_HOST, "no launches are in these times: %s not used",
               !q->q.host          ? "--launch-time is"
               : q->q.launch_s > 0 ? "--host and --launch-time are"
                                   : "--host is");
    if (by == FT_ANSWERED_BY_SPECIFICATION &&
        q->s.source.model == FT__ANALYTIC_PHYSICS && q->e.n_roofline)
        remark(&to, FT_REMARK_UNNAMED,
               "%u of %u unique operations are not known by name: their times "
               "are lower bounds",
               q->e.n_roofline, q->e.n_ops);
    if (by != FT_ANSWERED_BY_SPECIFICATION &&
        (by != FT_ANSWERED_BY_FAMILY || x->a.among) && is_as_it_comes(q))
        put_op_warnings(&to, q);
    if (q->e.n_unused_power)
        remark(&to, FT_REMARK_OUTSIDE,
               "readings of power that --correct names (%u) correct nothing: they are "
               "fewer than five, or nothing is known of what the device draws",
               q->e.n_unused_power);
}

/* Does an optimizer keep its states in another type than what it trains? */
static bool has_narrow_states(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_adamw && ft_op_at(&g->op[i], FT_K_weights, 0))
            return true;
    return false;
}

/* The command that measures it, or why there is none. */
void ft__answer_put_verify(struct answer *x, const ft__question *q)
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
    else if (has_narrow_states(x->a.graph))
        x->a.unverified = "to verify it: no engine of foretell has optimizers with "
                          "states of 8 bits";
    else if (q->s.source.channels_last)
        x->a.unverified = "to verify it: no command of foretell measures images "
                          "channels-last";
    else if (lacks && ft__engine_lacks_kind(by, lacks->kind))
        x->a.unverified = ft__answer_text(x, "to verify it: %.*s does not run %s", name,
                                          by, ft__answer_spec(x, lacks));
    else if (lacks)
        x->a.unverified =
            ft__answer_text(x, "to verify it: %.*s computes in fp32 alone, not in %s",
                            name, by, ft_dtype_name(lacks->dtype));
    else if (cap_of(x, q) != FT__CAP_HOLDS)
        x->a.unverified =
            "to verify it: the device's driver may take no such power cap";
    else if (x->a.limit_bytes > 0 && x->a.memory.value > x->a.limit_bytes)
        x->a.unverified =
            x->a.max_batch > 0
                ? ft__answer_text(
                      x, "to verify it: it does not fit; --batch %" PRId64 " does",
                      x->a.max_batch)
            : x->a.max_batch == 0
                ? "to verify it: it does not fit, nor does any batch"
                : "to verify it: it does not fit; --max-batch says what does";
    else
        x->a.verify = measuring(x, q, "measure");
}
