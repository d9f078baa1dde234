/* The machine and the engine themselves: memory of their own, the floor of
 * proportionality, probes. */
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/log.h"
#include "graph/graph_inside.h"
#include "measure/collection.h"
#include "predict/data/features.h"
#include "store/store_inside.h"

/* What a process holds besides a network's weights, activations and workspace:
 * the engine's code and tables, and code made for each operation. */

/* Bytes of that kind after running the network in `text`; 0 when it is not
 * known: an engine that lacks one of the kinds can still be measured. */
static uint64_t context_of(struct ft__collection *k, const ft__buf *text,
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

static ft_status put_context(struct ft__collection *k, const char *metric,
                             uint64_t bytes, ft_error *err)
{
    ft_measurement m = ft__exact_bytes(bytes);
    ft__named_key key;

    ft__collection_key(&key, k->session, NULL, metric);
    return ft__store_put(k->store, k->run, &key.key, &m, NULL, 0, err);
}

/* A small network of common kinds, then the same with many more convolutions and
 * activations: the difference is what each operation adds. */
static ft_status measure_context(struct ft__collection *k, ft_error *err)
{
    enum { FEW = 8, MORE = 80 };
    uint64_t small, large = 0, each, own;
    ft__job calibration;
    ft__buf text = {0};
    ft__named_key key;
    int has;
    ft_status st;

    ft__collection_key(&key, k->session, NULL, "context");
    st = ft__store_has(k->store, &key.key, &has, err);
    if (st || has)
        return st;
    /* What is ours, not the engine's: all but what came with opening it. */
    for (uint32_t i = 0; i < FT__N_CALIBRATIONS; i++)
        (void)ft__calibration_job(&calibration, k->session, i);
    own = ft__anonymous_bytes() - k->session->opened_bytes + k->session->before_bytes;
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

/* Look for the floor once a machine and engine; later collections read it. */
static ft_status measure_floor(struct ft__collection *k, ft_error *err)
{
    char fact[128];
    ft_op op = ft__probe(FT__PROBE_LAUNCH);
    ft_linearity l;
    ft_status st;

    snprintf(fact, sizeof(fact), "proportional_from_s:%s", k->session->engine->name);
    st = ft_store_fact(k->store, k->session->device, fact, &k->floor_s, err);

    if (st || !isnan(k->floor_s))
        return st;
    st = ft_measure_linearity(&l, k->session, &op, err);
    k->floor_s = l.floor_s;
    return st ? st
              : ft__store_put_fact(k->store, k->session->device, fact, l.floor_s, err);
}

/* What the calibration took when nothing slowed it down, in sessions before, and what
 * the others take for it: constants once known, for measurements of all sessions are
 * given in these terms. */
static void fact_name(char fact[128], const ft_session *s, const char *name)
{
    snprintf(fact, 128, "%s:%s %s", name, s->engine->name, s->setting);
}

static const char usual_fact[] = "calibration_s";
static const char *const ratio_fact[FT__N_CALIBRATIONS] = {
    [FT__CALIBRATE_CACHES] = "calibration_caches",
    [FT__CALIBRATE_MEMORY] = "calibration_memory",
};

static ft_status learn_usual(struct ft__collection *k, ft_error *err)
{
    ft_session *s = k->session;
    bool known[FT__N_CALIBRATIONS];
    char fact[128];
    ft_status st;

    fact_name(fact, s, usual_fact);
    st = ft_store_fact(k->store, s->device, fact, &s->usual_s, err);
    for (uint32_t i = 0; i < FT__N_CALIBRATIONS && !st; i++) {
        known[i] = !ratio_fact[i];
        if (known[i])
            continue;
        fact_name(fact, s, ratio_fact[i]);
        st = ft_store_fact(k->store, s->device, fact, &s->usual_ratio[i], err);
        known[i] = !isnan(s->usual_ratio[i]);
    }
    if (st || !s->clock_is_real)
        return st;
    ft__calibration_compare(s);
    for (uint32_t i = 0; i < FT__N_CALIBRATIONS && !st; i++) {
        if (known[i] || isnan(s->usual_ratio[i]))
            continue;
        fact_name(fact, s, ratio_fact[i]);
        st = ft__store_put_fact(k->store, s->device, fact, s->usual_ratio[i], err);
    }
    return st;
}

ft_status ft__keep_usual(struct ft__collection *k, ft_error *err)
{
    double usual_s = ft__calibration_usual(k->session);
    char fact[128];

    if (isnan(usual_s) || usual_s >= k->session->usual_s)
        return FT_OK;
    fact_name(fact, k->session, usual_fact);
    return ft__store_put_fact(k->store, k->session->device, fact, usual_s, err);
}

/* All probes together take a quarter of what is left, but are never so short that
 * they say nothing. */
static double probe_time(const struct ft__collection *k, size_t n)
{
    double share = (k->end_s - ft__clock_now(k->clock)) / (double)(n ? n : 1) * 0.25;

    return fmin(0.3, fmax(0.02, share));
}

/* Those that are missing, in one group. */
static ft_status measure_probes(struct ft__collection *k, ft_error *err)
{
    ft_error why[FT__N_PROBES];
    ft_op missing[FT__N_PROBES];
    size_t n = 0;
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < FT__N_PROBES && !st; i++) {
        int has;

        missing[n] = ft__probe(i);
        ft__op_lower(&missing[n], k->session->engine->policy);
        st = ft__has_time(k, &missing[n], &has, err);
        n += !has || k->opt->again;
    }
    if (!st)
        st = ft__measure_into_store(k, missing, n, NULL, probe_time(k, n), why, err);
    for (size_t i = 0; i < n && !st; i++)
        if (why[i].status) {
            st = why[i].status;
            if (err)
                *err = why[i];
        }
    return st;
}

/* How this engine runs graphs, for whoever learns from what was measured with it. */
static ft_status put_policy(struct ft__collection *k, ft_error *err)
{
    const ft_engine *e = k->session->engine;
    char fact[128];

    snprintf(fact, sizeof(fact), "policy:%s", e->name);
    return ft__store_put_fact(k->store, k->session->device, fact, e->policy, err);
}

ft_status ft__measure_machine(struct ft__collection *k, ft_error *err)
{
    ft_status st = measure_context(k, err);

    if (!st)
        st = put_policy(k, err);
    if (!st)
        st = learn_usual(k, err);
    if (!st)
        st = measure_floor(k, err);
    return st ? st : measure_probes(k, err);
}
