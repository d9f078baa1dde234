/* Many operations into a store, the most informative first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "predict/probes.h"
#include "run/session.h"

/* Batches are never shorter than this, nor than the machine's floor. */
#define LEAST_BATCH_S 1e-3

/* One operation asked for, and where it stands. */
struct candidate {
    ft_op op; /* lowered */
    double count;
    double work_s;  /* roofline time of all its occurrences */
    double spacing; /* distance to the nearest known one of its kind */
    float row[FT__N_FEATURES];
    bool known; /* measured, here or before */
    bool tried;
};

struct collection {
    ft_session *session;
    ft_store *store;
    int64_t run;
    const ft_collect_options *opt;
    struct candidate *c;
    size_t n;
    double floor_s; /* below it time is not proportional to iterations */
    double end_s;   /* INFINITY: no limit */
};

static void key_of(ft_key *key, const ft_session *s, ft_phase phase, const char *spec,
                   const char *metric)
{
    *key = (ft_key){.device = s->device,
                    .setting = s->setting,
                    .engine = s->engine->name,
                    .engine_version = s->engine->version(),
                    .spec = spec,
                    .phase = ft_phase_name(phase),
                    .dtype_policy = "default",
                    .metric = metric};
}

/* A size that is known exactly: one value, no scatter. */
static ft_measurement exact_bytes(uint64_t bytes)
{
    return (ft_measurement){.unit = "B",
                            .value = (double)bytes,
                            .error = 0,
                            .mad = NAN,
                            .mean = (double)bytes,
                            .std = NAN,
                            .n = 1,
                            .iterations = 1};
}

static ft_status measure_into_store(struct collection *k, const ft_op *op,
                                    double time_s, ft_error *err)
{
    ft_measure_options how = {.min_time_s = time_s,
                              .batch_time_s = fmax(LEAST_BATCH_S, k->floor_s)};
    ft_measurement workspace;
    char spec[2048];
    ft_timing t;
    ft_key key;
    ft_status st = ft_measure_op(&t, k->session, op, &how, err);

    if (st)
        return st;
    ft_op_print(op, spec, sizeof(spec));
    workspace = exact_bytes(t.workspace_bytes);
    key_of(&key, k->session, op->phase, spec, "workspace");
    st = ft_store_put(k->store, k->run, &key, &workspace, NULL, 0, err);
    key.metric = "time";
    /* The time last: an operation counts as done when it has one. */
    if (!st)
        st = ft_store_put(k->store, k->run, &key, &t.time, t.readings, t.n_readings,
                          err);
    ft_timing_free(&t);
    return st;
}

static ft_status has_time(struct collection *k, const ft_op *op, int *has,
                          ft_error *err)
{
    char spec[2048];
    ft_key key;

    ft_op_print(op, spec, sizeof(spec));
    key_of(&key, k->session, op->phase, spec, "time");
    return ft_store_has(k->store, &key, has, err);
}

/* ---- the machine itself ---- */

/* What a process holds besides a network's weights, activations and workspace:
 * the engine's code and tables, and code made for each operation. */

/* Bytes of that kind after running the network in `text`; 0 when it cannot be
 * told: an engine that lacks one of the kinds can still be measured. */
static uint64_t context_of(struct collection *k, const ft__buf *text,
                           uint64_t own_bytes)
{
    ft_measure_options brief = {.min_time_s = 1e-3, .min_batches = 1};
    ft_network_timing t = {0};
    ft_error why = {0};
    ft_graph *g = NULL;
    uint64_t known, bytes = 0;
    ft_status st = text->bad ? FT_ENOMEM : FT_OK;

    if (!st)
        st = ft_import_ops(&g, text->s, text->len, "context", &why);
    if (!st)
        st = ft_measure_network(&t, k->session, g, &brief, &why);
    known = t.weight_bytes + t.activation_bytes + t.workspace_bytes + own_bytes;
    if (!st && t.peak_process_bytes > known)
        bytes = t.peak_process_bytes - known;
    if (st)
        ft__log(k->opt->log, FT_LOG_INFO, "the engine's own memory: %s", why.msg);
    ft_network_timing_free(&t);
    ft_graph_free(g);
    return bytes;
}

static ft_status put_context(struct collection *k, const char *metric, uint64_t bytes,
                             ft_error *err)
{
    ft_measurement m = exact_bytes(bytes);
    ft_key key;

    key_of(&key, k->session, FT_PHASE_FORWARD, "", metric);
    return ft_store_put(k->store, k->run, &key, &m, NULL, 0, err);
}

/* A small network of common kinds, then the same with many more convolutions and
 * activations: the difference is what each operation adds. */
static ft_status measure_context(struct collection *k, ft_error *err)
{
    enum { FEW = 8, MORE = 80 };
    /* What is ours, not the engine's: all but what came with opening it. */
    uint64_t own =
        ft__anonymous_bytes() - k->session->opened_bytes + k->session->before_bytes;
    uint64_t small, large = 0, each;
    ft__buf text = {0};
    ft_key key;
    int has;
    ft_status st;

    key_of(&key, k->session, FT_PHASE_FORWARD, "", "context");
    st = ft_store_has(k->store, &key, &has, err);
    if (st || has)
        return st;
    ft__buf_str(&text,
                "conv2d x=1x3x32x32 out=16 kernel=3x3 stride=2x2 pad=1x1 bias=1\n"
                "relu x=1x16x16x16\nadd x=1x16x16x16 y=1x16x16x16\n"
                "maxpool2d x=1x16x16x16 kernel=2x2 stride=2x2 pad=0x0\n"
                "reduce_mean x=1x64x16x16 axes=2x3\nlinear x=1x64 out=10 bias=1\n"
                "matmul x=1x16x64 y=1x64x16\nsoftmax x=1x16x16 axis=2\n");
    small = context_of(k, &text, own);
    for (int i = 0; i < MORE / 2; i++) {
        int channels = 16 + 8 * i, wide = i % 2, depthwise = i % 4 == 3;

        ft__buf_fmt(&text,
                    "conv2d x=1x%dx14x14 out=%d kernel=%dx%d stride=1x1 pad=%dx%d "
                    "groups=%d bias=1\nrelu x=1x%dx14x14\n",
                    channels, channels, 1 + 2 * wide, 1 + 2 * wide, wide, wide,
                    depthwise ? channels : 1, channels);
    }
    if (small)
        large = context_of(k, &text, own);
    ft__buf_free(&text);
    if (!small) {
        ft__log(k->opt->log, FT_LOG_WARN, "memory of the engine itself is not known");
        return FT_OK;
    }
    each = large > small ? (large - small) / MORE : 0;
    st = put_context(k, "context_per_operation", each, err);
    return st ? st : put_context(k, "context", small - FEW * each, err);
}

/* Look for the floor once a machine; later collections read it. */
static ft_status measure_floor(struct collection *k, ft_error *err)
{
    static const char fact[] = "proportional_from_s";
    ft_op op = ft__probe(FT__PROBE_LAUNCH);
    ft_linearity l;
    ft_status st = ft_store_fact(k->store, k->session->device, fact, &k->floor_s, err);

    if (st || !isnan(k->floor_s))
        return st;
    st = ft_measure_linearity(&l, k->session, &op, err);
    k->floor_s = l.floor_s;
    return st ? st
              : ft_store_put_fact(k->store, k->session->device, fact, l.floor_s, err);
}

static ft_status measure_machine(struct collection *k, ft_error *err)
{
    ft_status st = measure_context(k, err);

    if (!st)
        st = measure_floor(k, err);
    for (uint32_t i = 0; i < FT__N_PROBES && !st; i++) {
        ft_op op = ft__probe(i);
        int has;

        ft_op_lower(&op, k->session->engine->policy);
        st = has_time(k, &op, &has, err);
        if (!st && (!has || k->opt->again))
            st = measure_into_store(k, &op, 0.3, err);
    }
    return st;
}

/* ---- what to measure next ---- */

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ft_op_hash(&((const struct candidate *)a)->op);
    uint64_t y = ft_op_hash(&((const struct candidate *)b)->op);

    return (x > y) - (x < y);
}

/* Lower, drop repeats (adding their counts), describe. */
static ft_status make_candidates(struct collection *k, const ft_op *ops,
                                 const uint64_t *count, size_t n, ft_error *err)
{
    /* Only the order of magnitude matters here: which operations are heavy. */
    const ft__roof rough = ft__flat_roof(1e11, 1e10, 1e-6);

    k->c = calloc(n + 1, sizeof(*k->c));
    if (!k->c)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    for (size_t i = 0; i < n; i++) {
        if (ft_kind_class(ops[i].kind) == FT_CLASS_VIEW ||
            ops[i].kind == FT_KIND_generic)
            continue;
        k->c[k->n].op = ops[i];
        ft_op_lower(&k->c[k->n].op, k->session->engine->policy);
        k->c[k->n++].count = count ? (double)count[i] : 1;
    }
    qsort(k->c, k->n, sizeof(*k->c), by_hash);
    n = k->n;
    k->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (k->n && ft_op_equal(&k->c[k->n - 1].op, &k->c[i].op))
            k->c[k->n - 1].count += k->c[i].count;
        else
            k->c[k->n++] = k->c[i];
    }
    for (size_t i = 0; i < k->n; i++) {
        struct candidate *c = &k->c[i];

        c->work_s = c->count * ft__roofline(&c->op, &rough);
        c->spacing = 16;
        ft__features(c->row, &c->op, &rough);
    }
    return FT_OK;
}

static double distance(const float *a, const float *b)
{
    double sum = 0;

    for (int i = 0; i < FT__N_FEATURES; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

static void mark_known(struct collection *k, size_t i)
{
    k->c[i].known = true;
    for (size_t j = 0; j < k->n; j++)
        if (!k->c[j].known && k->c[j].op.kind == k->c[i].op.kind)
            k->c[j].spacing = fmin(k->c[j].spacing, distance(k->c[i].row, k->c[j].row));
}

/* The largest expected gain: far from everything known of its kind, and a large
 * part of the work there is (square root: many small ones count as well). */
static size_t next_candidate(const struct collection *k)
{
    size_t best = k->n;
    double most = -1;

    for (size_t i = 0; i < k->n; i++) {
        double gain = k->c[i].spacing * sqrt(k->c[i].work_s);

        if (!k->c[i].known && !k->c[i].tried && gain > most) {
            most = gain;
            best = i;
        }
    }
    return best;
}

static ft_status mark_present(struct collection *k, ft_collect_report *out,
                              ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < k->n && !st; i++) {
        int has = 0;

        if (!k->opt->again)
            st = has_time(k, &k->c[i].op, &has, err);
        if (has) {
            mark_known(k, i);
            out->present++;
        }
    }
    return st;
}

/* Time for one operation: the budget shared out, within reason. */
static double share_of_time(const struct collection *k, size_t left)
{
    double share = (k->end_s - ft__now_s()) / (double)(left ? left : 1) * 0.7;

    if (k->opt->op_time_s > 0)
        return k->opt->op_time_s;
    return fmin(0.3, fmax(0.03, share));
}

static ft_status measure_one(struct collection *k, size_t i, double time_s,
                             ft_collect_report *out, ft_error *err)
{
    struct candidate *c = &k->c[i];
    ft_error why = {0};
    char spec[2048];
    ft_status st = measure_into_store(k, &c->op, time_s, &why);

    c->tried = true;
    ft_op_print(&c->op, spec, sizeof(spec));
    switch (st) {
    case FT_OK:
        out->measured++;
        mark_known(k, i);
        return FT_OK;
    case FT_EUNSUPPORTED:
        out->refused++;
        ft__log(k->opt->log, FT_LOG_INFO, "not run by the engine: %s: %s", spec,
                why.msg);
        return FT_OK;
    case FT_EBACKEND:
    case FT_ENOMEM:
        out->failed++;
        ft__log(k->opt->log, FT_LOG_WARN, "failed: %s: %s", spec, why.msg);
        return FT_OK;
    default:
        if (err)
            *err = why;
        return st;
    }
}

static ft_status measure_all(struct collection *k, ft_collect_report *out,
                             ft_error *err)
{
    size_t left = k->n - out->present, total = left;
    ft_status st = FT_OK;

    while (left && !st && ft__now_s() < k->end_s) {
        size_t i = next_candidate(k);

        ft__progress(k->opt->log, total - left, total, ft_kind_name(k->c[i].op.kind));
        st = measure_one(k, i, share_of_time(k, left), out, err);
        left--;
    }
    ft__progress(k->opt->log, total - left, total, "");
    out->left = left;
    return st;
}

ft_status ft_collect(ft_collect_report *out, ft_session *s, ft_store *store,
                     const ft_op *ops, const uint64_t *count, size_t n,
                     const ft_collect_options *opt, ft_error *err)
{
    struct collection k = {.session = s, .store = store, .opt = opt};
    double begin_s = ft__now_s();
    char environment[256];
    ft_status st;

    *out = (ft_collect_report){0};
    k.end_s = opt->budget_s > 0 ? begin_s + opt->budget_s : INFINITY;
    snprintf(environment, sizeof(environment),
             "{\"device\": \"%s\", \"engine\": \"%s %s\", \"setting\": \"%s\"}",
             s->device, s->engine->name, s->engine->version(), s->setting);
    st = ft_store_begin_run(store, &k.run, opt->command ? opt->command : "",
                            environment, err);
    /* Before anything else takes memory that would count as the engine's. */
    if (!st)
        st = measure_machine(&k, err);
    if (!st)
        st = make_candidates(&k, ops, count, n, err);
    out->wanted = k.n;
    if (!st)
        st = mark_present(&k, out, err);
    if (!st)
        st = measure_all(&k, out, err);
    free(k.c);
    out->seconds = ft__now_s() - begin_s;
    return st;
}
