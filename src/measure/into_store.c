/* What is measured goes into a store: operations with times, energies and conditions;
 * and the machine and the engine themselves: memory of their own, from which duration
 * on times are proportional, what the calibrations take, probes. */
#include "measure/collection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/number.h"
#include "base/stats.h"
#include "graph/graph_inside.h"
#include "measure/measure_inside.h"
#include "measure/op_job.h"
#include "measure/rounds.h"
#include "predict/data/features.h"
#include "store/store_inside.h"

/* Members of the JSON object that begins b; NaN and "" are left out. */
static void add_number(ft__buf *b, const char *name, double v)
{
    const locale_t before = ft__locale_plain();

    if (!isnan(v))
        ft__buf_fmt(b, "%s\"%s\": %.9g", b->len > 1 ? ", " : "", name, v);
    ft__locale_back(before);
}

/* Quotes, backslashes and what is below a blank become apostrophes and blanks: these
 * are sentences of ours. */
static void add_text(ft__buf *b, const char *name, const char *text)
{
    if (!*text)
        return;
    ft__buf_fmt(b, "%s\"%s\": \"", b->len > 1 ? ", " : "", name);
    for (const char *p = text; *p; p++) {
        char c = *p == '"' || *p == '\\' ? '\'' : (unsigned char)*p < ' ' ? ' ' : *p;

        ft__buf_add(b, &c, 1);
    }
    ft__buf_str(b, "\"");
}

static void add_count(ft__buf *b, const char *name, uint64_t n)
{
    ft__buf_fmt(b, "%s\"%s\": %llu", b->len > 1 ? ", " : "", name,
                (unsigned long long)n);
}

static void add_marks(ft__buf *b, uint32_t marks)
{
    static const char *const name[] = {"clock moved", "throttled", "foreign load",
                                       "hot", "speed moved"};
    const char *comma = "";

    ft__buf_fmt(b, "%s\"marks\": [", b->len > 1 ? ", " : "");
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        if (marks & 1u << i) {
            ft__buf_fmt(b, "%s\"%s\"", comma, name[i]);
            comma = ", ";
        }
    ft__buf_str(b, "]");
}

/* The object's end; it goes to buf, and its length is returned. */
static size_t finish_object(ft__buf *b, char *buf, size_t size)
{
    size_t len;

    ft__buf_str(b, "}");
    len = b->bad ? 0 : b->len;
    snprintf(buf, size, "%s", b->bad ? "" : b->s);
    ft__buf_free(b);
    return len;
}

size_t ft__timing_conditions(const ft_network_timing *t, char *buf, size_t size)
{
    const ft_conditions *c = &t->conditions;
    ft__buf b = {0};

    ft__buf_str(&b, "{");
    add_number(&b, "clock_hz", c->clock_hz);
    add_number(&b, "clock_low_hz", c->clock_low_hz);
    add_number(&b, "clock_high_hz", c->clock_high_hz);
    add_number(&b, "memory_clock_hz", c->memory_clock_hz);
    add_number(&b, "temperature_max_k", c->temperature_max_k);
    add_number(&b, "foreign_load", c->foreign_load);
    if (c->throttle)
        add_count(&b, "throttle", c->throttle);
    add_count(&b, "rounds", t->rounds);
    add_count(&b, "redone", t->redone);
    add_count(&b, "outliers", t->outliers);
    add_marks(&b, c->marks);
    return finish_object(&b, buf, size);
}

size_t ft__energy_conditions(const ft_energy *e, char *buf, size_t size)
{
    ft__buf b = {0};

    ft__buf_str(&b, "{");
    add_number(&b, "counter_j", e->counter_j);
    add_number(&b, "integral_j", e->integral_j);
    add_number(&b, "loop_s", e->seconds);
    add_text(&b, "reason", e->reason);
    return finish_object(&b, buf, size);
}

/* Batches are never shorter than this, nor than the machine's floor. */
#define LEAST_BATCH_S 1e-3

/* Where time is short. */
enum { HASTY_ROUNDS = 3, HASTY_REDONE = 1 };

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

ft_status ft__notes_check(const char *const *note, size_t n, ft_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const size_t len =
            strspn(note[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_");

        if (len == 0 || len > 63 || note[i][len] != '=')
            return ft_fail(err, FT_EINVAL, 0,
                           "\"%.80s\" is no note: NAME=VALUE, the name of letters, "
                           "digits and '_'",
                           note[i]);
    }
    return FT_OK;
}

void ft__notes_put(ft__buf *b, const char *const *note, size_t n,
                   const char *conditions)
{
    ft__buf_str(b, "{");
    for (size_t i = 0; i < n; i++) {
        const char *value = strchr(note[i], '=');
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int)(value - note[i]), note[i]);
        add_text(b, name, value + 1);
    }
    if (conditions && conditions[0] == '{' && conditions[1] != '}')
        ft__buf_fmt(b, "%s%s", b->len > 1 ? ", " : "", conditions + 1);
    else
        ft__buf_str(b, "}");
}

ft_status ft__collection_put(struct ft__collection *k, const ft_key *key,
                             const ft_measurement *m, const ft_reading *readings,
                             size_t n, ft_error *err)
{
    ft_measurement noted = *m;
    ft__buf b = {0};
    ft_status st;

    if (!k->opt->n_notes)
        return ft__store_put(k->store, k->run, key, m, readings, n, err);
    ft__notes_put(&b, k->opt->note, k->opt->n_notes, m->conditions);
    noted.conditions = b.s;
    st = b.bad ? ft_fail(err, FT_ENOMEM, 0, "notes of %s", key->spec)
               : ft__store_put(k->store, k->run, key, &noted, readings, n, err);
    ft__buf_free(&b);
    return st;
}

static ft_status put(struct ft__collection *k, const ft__op_key *key,
                     const char *metric, const ft_measurement *m,
                     const ft_reading *readings, size_t n, ft_error *err)
{
    ft_key of_metric = key->key;

    of_metric.metric = metric;
    return ft__collection_put(k, &of_metric, m, readings, n, err);
}

/* A size that is exact needs to stand there once. */
static ft_status put_bytes(struct ft__collection *k, ft__op_key *key,
                           const char *metric, uint64_t bytes, ft_error *err)
{
    ft_measurement m = exact_bytes(bytes);
    ft_status st;
    int has;

    key->key.metric = metric;
    st = ft__store_has(k->store, &key->key, &has, err);
    return st || has ? st : put(k, key, metric, &m, NULL, 0, err);
}

/* Of one domain alone, under its name: with what was read. Of the sum, and of a meter
 * with one domain: plainly. */
static ft_status put_energy(struct ft__collection *k, const ft__op_key *key,
                            ft_energy *e, const ft_energy *readings, ft_error *err)
{
    char conditions[512], power[160], energy[160];
    const char *colon = e->domain[0] ? ":" : "";
    size_t n = readings ? readings->n_readings : 0;
    ft_status st;

    snprintf(power, sizeof(power), "power%s%s", colon, e->domain);
    snprintf(energy, sizeof(energy), "energy%s%s", colon, e->domain);
    ft__energy_conditions(e, conditions, sizeof(conditions));
    e->power.conditions = e->energy.conditions = conditions;
    st = put(k, key, power, &e->power, readings ? readings->readings : NULL, n, err);
    return st ? st
              : put(k, key, energy, &e->energy, readings ? readings->counted : NULL, n,
                    err);
}

static ft_status put_energies(struct ft__collection *k, const ft__op_key *key,
                              ft_network_timing *t, ft_error *err)
{
    bool alone = t->n_energy == 2;
    ft_status st = FT_OK;

    if (!t->n_energy)
        return FT_OK;
    st = put_energy(k, key, &t->energy[0], alone ? &t->energy[1] : NULL, err);
    for (uint32_t i = 1; i < t->n_energy && !alone && !st; i++)
        st = put_energy(k, key, &t->energy[i], &t->energy[i], err);
    k->report->powered += !t->energy[0].reason[0];
    if (t->energy[0].reason[0] && !k->report->why_no_power[0])
        snprintf(k->report->why_no_power, sizeof(k->report->why_no_power), "%s",
                 t->energy[0].reason);
    return st;
}

static ft_status put_timing(struct ft__collection *k, const ft_op *op,
                            ft_network_timing *t, ft_error *err)
{
    char conditions[1024];
    ft__op_key key;
    ft_status st;

    ft__timing_conditions(t, conditions, sizeof(conditions));
    t->time.conditions = conditions;
    ft__op_key_make(&key, k->session, op, "");
    st = put_bytes(k, &key, "workspace", t->workspace_bytes, err);
    if (!st && t->activation_bytes)
        st = put_bytes(k, &key, "memory", t->activation_bytes, err);
    if (!st && !isnan(t->launch.value))
        st = put(k, &key, "launch", &t->launch, t->launches, t->launch.n, err);
    if (!st)
        st = put_energies(k, &key, t, err);
    /* The time last: an operation counts as done when it has one. */
    if (!st)
        st = put(k, &key, "time", &t->time, t->readings, t->n_readings, err);
    k->report->redone += t->redone;
    k->report->outliers += t->outliers;
    k->report->disturbed += t->conditions.marks != 0;
    return st;
}

ft_status ft__measure_into_store(struct ft__collection *k, const ft_op *ops, size_t n,
                                 const unsigned char *powered, double time_s,
                                 ft_error *why, ft_error *err)
{
    ft_measure_options how = {.min_time_s = time_s,
                              .batch_time_s = fmax(LEAST_BATCH_S, k->floor_s),
                              .rounds = k->opt->rounds,
                              .max_redone = k->opt->max_redone,
                              .monitor = k->opt->monitor,
                              .meter = powered ? k->opt->meter : NULL,
                              .power_time_s = k->opt->power_time_s,
                              .powered = powered};
    ft_network_timing *t = calloc(n + 1, sizeof(*t));
    ft_status st;

    if (!t)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    if (k->hasty) {
        how.rounds = how.rounds ? how.rounds : HASTY_ROUNDS;
        how.max_redone = how.max_redone ? how.max_redone : HASTY_REDONE;
    }
    st = ft__measure_ops(t, why, k->session, ops, n, &how, err);
    for (size_t i = 0; i < n; i++) {
        if (!st && !why[i].status)
            st = put_timing(k, &ops[i], &t[i], err);
        ft_network_timing_free(&t[i]);
    }
    free(t);
    return st;
}

/* Weighted least squares of t = slope n + offset over points from..to, each
 * with the same relative error. */
static void fit_line(ft_linearity *l, size_t from)
{
    double sw = 0, swx = 0, swy = 0, swxx = 0, swxy = 0, det, sum = 0;

    for (size_t i = from; i < l->n; i++) {
        double x = (double)l->iterations[i], y = l->duration_s[i], w = 1 / (y * y);

        sw += w;
        swx += w * x;
        swy += w * y;
        swxx += w * x * x;
        swxy += w * x * y;
    }
    det = sw * swxx - swx * swx;
    l->slope_s = (sw * swxy - swx * swy) / det;
    l->offset_s = (swxx * swy - swx * swxy) / det;
    for (size_t i = 0; i < l->n; i++) {
        double line = l->slope_s * (double)l->iterations[i];

        l->deviation[i] = (l->duration_s[i] - line) / line;
        if (i >= from)
            sum += pow((l->duration_s[i] - line - l->offset_s) / l->duration_s[i], 2);
    }
    l->sigma = sqrt(sum / (double)(l->n - from - 2));
}

ft_status ft_measure_linearity(ft_linearity *out, ft_session *s, const ft_op *op,
                               ft_error *err)
{
    enum { STEPS = 18, REPEATS = 7 };
    ft__op_job *j;
    ft__job job;
    uint64_t n = 1, done = 0;
    ft_op low = *op;
    ft_status st;

    memset(out, 0, sizeof(*out));
    ft__op_lower(&low, s->engine->policy);
    st = ft__op_job_make(&j, s, &low, 1, err);
    if (st)
        return st;
    job = ft__op_job_get(j);
    for (int i = 0; i < 3 && !st; i++)
        st = ft__run_batch(&(double){0}, &job, done++, 1, err);
    /* Powers of two up to a quarter of a second; the median of several. */
    for (; out->n < STEPS && !st; n *= 2) {
        double t[REPEATS];

        for (int i = 0; i < REPEATS && !st; i++, done += n)
            st = ft__run_batch(&t[i], &job, done, n, err);
        if (st)
            break;
        out->duration_s[out->n] = ft__median(t, REPEATS);
        out->iterations[out->n] = n;
        if (out->duration_s[out->n++] > 0.25 / REPEATS)
            break;
    }
    if (!st && out->n < 8)
        st = ft_fail(err, FT_EINVAL, 0,
                     "one iteration takes too long to look for the floor");
    if (!st) {
        fit_line(out, out->n / 2);
        out->floor_s = out->duration_s[out->n - 1];
        for (size_t i = out->n; i-- > 0;) {
            if (fabs(out->deviation[i]) > 5 * fmax(out->sigma, 0.002))
                break;
            out->floor_s = out->duration_s[i];
        }
    }
    ft__op_job_free(j);
    return st;
}

/* Memory of the engine: what a process holds besides a network's weights,
 * activations and workspace, its code and tables, and code made for each operation. */
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
    ft_measurement m = exact_bytes(bytes);
    ft__op_key key;

    ft__op_key_make(&key, k->session, NULL, metric);
    return ft__collection_put(k, &key.key, &m, NULL, 0, err);
}

/* Where a version states a schedule, behind the program that makes it
 * ("0.27.0-3f2a91c4+rules": "+rules"); its end where it states none ("3.1+debian"). */
static const char *schedule_in(const char *version)
{
    enum { PROGRAM = 8 };
    const char *plus = strchr(version, '+');
    const bool is_one = plus && plus - version > PROGRAM && plus[-PROGRAM - 1] == '-' &&
                        strspn(plus - PROGRAM, "0123456789abcdef") == PROGRAM;

    return is_one ? plus : version + strlen(version);
}

/* The value of another schedule's row; NaN: there is none. */
struct sibling {
    const char *version;
    double value;
};

static int take_sibling(void *user, const ft_row *row)
{
    struct sibling *s = user;
    const char *schedule = schedule_in(s->version);
    const size_t len = (size_t)(schedule - s->version);

    if (*schedule && strncmp(row->key.engine_version, s->version, len + 1) == 0)
        s->value = row->m.value;
    return !isnan(s->value);
}

/* Schedules of an engine ("0.27.0-3f2a91c4+rules", "0.27.0-3f2a91c4+tuned:64") share
 * what it holds itself: with one that searches, each of the operations below would be
 * tuned first. */
static ft_status copy_context(struct ft__collection *k, bool *found, ft_error *err)
{
    static const char *const metrics[] = {"context_per_operation", "context"};
    ft_status st = FT_OK;

    *found = true;
    for (int i = 0; i < 2 && *found && !st; i++) {
        struct sibling s = {k->session->engine->version(), NAN};
        ft__op_key key;

        ft__op_key_make(&key, k->session, NULL, metrics[i]);
        key.key.engine_version = NULL;
        st = ft_store_each(k->store, &key.key, 1, take_sibling, &s, err);
        *found = !isnan(s.value);
        if (!st && *found)
            st = put_context(k, metrics[i], (uint64_t)s.value, err);
    }
    return st;
}

/* A small network of common kinds, then the same with many more convolutions and
 * activations: the difference is what each operation adds. */
static ft_status measure_context(struct ft__collection *k, ft_error *err)
{
    enum { FEW = 8, MORE = 80 };
    uint64_t small, large = 0, each, own;
    ft__job calibration;
    ft__buf text = {0};
    ft__op_key key;
    bool copied = false;
    int has;
    ft_status st;

    ft__op_key_make(&key, k->session, NULL, "context");
    st = ft__store_has(k->store, &key.key, &has, err);
    if (!st && !has)
        st = copy_context(k, &copied, err);
    if (st || has || copied)
        return st;
    /* What is ours, not the engine's: all but what came with opening it. */
    for (uint32_t i = 0; i < FT__N_CALIBRATIONS; i++)
        (void)ft__calibration_job(&calibration, k->session, i);
    own = ft__memory_now().own - k->session->opened_bytes + k->session->before_bytes;
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

/* Seconds of an iteration, in a stretch of some milliseconds; NaN: it does not run. */
static double stretch(ft_session *s, uint32_t which)
{
    static const double want_s = 5e-3;
    double once, took;
    uint64_t n;
    ft__job job;

    if (!ft__calibration_job(&job, s, which) ||
        ft__run_batch(&once, &job, 0, FT__CALIBRATION_INSTANCES, NULL) || !(once > 0))
        return NAN;
    n = (uint64_t)(want_s / once + 1) * FT__CALIBRATION_INSTANCES;
    return ft__run_batch(&took, &job, FT__CALIBRATION_INSTANCES, n, NULL)
               ? NAN
               : took / (double)n;
}

/* Find out what the others take for what the one of products takes, where that is not
 * known. On a slow device a few stretches must do. */
static void compare_calibrations(ft_session *s)
{
    enum { STRETCHES = 15, FEW = 3, P = FT__CALIBRATE_PRODUCTS };
    static const double long_enough_s = 2;
    double ratio[STRETCHES];

    for (uint32_t k = 0; k < FT__N_CALIBRATIONS; k++) {
        const double begin_s = s->engine->now(s->context);
        size_t n = 0;

        if (!isnan(s->usual_ratio[k]))
            continue;
        for (int i = 0; i < STRETCHES; i++) {
            if (i >= FEW && s->engine->now(s->context) > begin_s + long_enough_s)
                break;
            ratio[n] = k == P ? 1 : stretch(s, k) / stretch(s, P);
            n += isfinite(ratio[n]) ? 1 : 0;
        }
        s->usual_ratio[k] = ft__median(ratio, n); /* NaN of none */
    }
}

/* What the calibration took when nothing slowed it down, in sessions before, and what
 * the others take for it: constants once known, for measurements of all sessions are
 * given in these terms. Each schedule of an engine has its own. */
static void fact_name(char fact[128], const ft_session *s, const char *name)
{
    snprintf(fact, 128, "%s:%s%s %s", name, s->engine->name,
             schedule_in(s->engine->version()), s->setting);
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
    compare_calibrations(s);
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
    double usual_s = ft__calibrations_so_far(k->session).usual_s;
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
        ft__op_key key;
        int has;

        missing[n] = ft__probe(i);
        ft__op_lower(&missing[n], k->session->engine->policy);
        ft__op_key_make(&key, k->session, &missing[n], "time");
        st = ft__store_has(k->store, &key.key, &has, err);
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
