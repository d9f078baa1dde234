/* What measurements add up to: a network's operations in a store, with errors and what
 * is missing, its plan of memory, what a predictor says of it; and over several
 * networks error figures, and the kinds of operations that explain differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "learn/learn_inside.h"
#include "measure/validate.h"

static const double z90 = 1.645;

static int keep_newest(void *user, const ft_row *row)
{
    ft_row *newest = user;

    if (!newest->id || row->taken_at >= newest->taken_at)
        *newest = *row;
    return 0;
}

ft_status ft__validate_row(ft_row *row, ft__validation *k, const char *spec,
                           const char *metric, ft_error *err)
{
    ft_key key = k->base;

    *row = (ft_row){0};
    key.spec = spec;
    key.metric = metric;
    return ft_store_each(k->store, &key, 1, keep_newest, row, err);
}

/* ---- sums ---- */

/* A sum that is still growing. */
struct sum {
    double value;
    double squares; /* of errors: an operation's occurrences share one */
    uint32_t n;
    uint32_t missing;
};

static void add(struct sum *s, const ft_row *row, double count)
{
    if (!row->id || !isfinite(row->m.value)) {
        s->missing++;
        return;
    }
    s->n++;
    s->value += count * row->m.value;
    if (isfinite(row->m.error))
        s->squares += pow(count * row->m.error, 2);
}

static void finish(ft_figure *f, const struct sum *s, double shared)
{
    double common = isfinite(shared) ? shared * s->value : 0;

    *f = (ft_figure){.value = s->value, .sigma = sqrt(s->squares + common * common)};
}

static ft_kind_sum *kind_of(ft_validated *out, const ft_op *op)
{
    for (size_t i = 0; i < out->n_kinds; i++)
        if (out->kind[i].kind == op->kind && out->kind[i].phase == op->phase)
            return &out->kind[i];
    out->kind[out->n_kinds] = (ft_kind_sum){.kind = op->kind, .phase = op->phase};
    return &out->kind[out->n_kinds++];
}

static void add_kind(ft_validated *out, const ft_op *op, double count,
                     const ft_row *time, const ft_row *energy)
{
    ft_kind_sum *s = kind_of(out, op);

    s->n_unique++;
    s->count += count;
    s->time_s += count * time->m.value;
    s->energy_j += energy->id ? count * energy->m.value : NAN;
}

static void add_unpriced(ft_validated *out, const ft_op *op, uint64_t count)
{
    ft_unpriced *u = &out->unpriced[out->n_unpriced++];

    *u = (ft_unpriced){.op = *op, .count = count};
    snprintf(u->why, sizeof(u->why), "%s",
             op->kind == FT_KIND_generic ? "there is no rule for it: it is bounded by "
                                           "the bytes it moves"
                                         : "not measured");
}

static int by_time(const void *a, const void *b)
{
    double x = ((const ft_kind_sum *)a)->time_s, y = ((const ft_kind_sum *)b)->time_s;

    return (x < y) - (x > y);
}

static int by_count(const void *a, const void *b)
{
    const ft_unpriced *x = a, *y = b;

    return (x->count < y->count) - (x->count > y->count);
}

struct price_sums {
    struct sum time;
    struct sum energy;
    double workspace; /* the largest */
};

static ft_status price_op(ft_validated *out, ft__validation *k, uint32_t i,
                          struct price_sums *s, ft_error *err)
{
    const ft_op *op = &k->lowered->op[i];
    uint64_t count = k->lowered->op_count[i];
    ft_row time, energy, workspace;
    char spec[2048];
    ft_status st;

    out->n_ops++;
    ft_op_print(op, spec, sizeof(spec));
    st = ft__validate_row(&time, k, spec, "time", err);
    if (!st)
        st = ft__validate_row(&energy, k, spec, "energy", err);
    if (!st)
        st = ft__validate_row(&workspace, k, spec, "workspace", err);
    if (st)
        return st;
    add(&s->time, &time, (double)count);
    add(&s->energy, &energy, (double)count);
    if (workspace.id)
        s->workspace = fmax(s->workspace, workspace.m.value);
    if (time.id)
        add_kind(out, op, (double)count, &time, &energy);
    else
        add_unpriced(out, op, count);
    return FT_OK;
}

static void finish_energy(ft_validated *out, const struct sum *s)
{
    char why[200];

    if (s->n && !s->missing) {
        finish(&out->sum[FT_QUANTITY_ENERGY], s, out->shared);
        return;
    }
    if (s->n)
        snprintf(why, sizeof(why), "energy was not measured for %u of %u operations",
                 s->missing, s->n + s->missing);
    else
        snprintf(why, sizeof(why), "no operation's energy was measured");
    out->sum[FT_QUANTITY_ENERGY] = ft__figure_unknown(why);
}

/* ---- memory: weights, tensors as they are placed, the largest workspace, and
 * what engine and process need besides ---- */

static ft_status tensors(double *bytes, const ft__validation *k, ft_error *err)
{
    const ft_memory_policy policy = {FT_POLICY_EAGER};
    ft_memory m;
    ft_plan plan;
    ft_status st = ft_memory_make(&m, k->lowered, &policy, err);

    if (st)
        return st;
    *bytes = (double)(m.peak_bytes - m.part[FT_PART_WORKSPACE]);
    if (!k->planned)
        return FT_OK;
    st = ft_plan_make(&plan, k->lowered, err);
    if (st)
        return st;
    *bytes = (double)(m.part[FT_PART_WEIGHTS] + plan.arena_bytes);
    ft_plan_free(&plan);
    return FT_OK;
}

static ft_status sum_memory(ft_validated *out, ft__validation *k, double workspace,
                            ft_error *err)
{
    ft_row context, each;
    double bytes = 0;
    ft_status st = tensors(&bytes, k, err);

    if (!st)
        st = ft__validate_row(&context, k, "", "context", err);
    if (!st)
        st = ft__validate_row(&each, k, "", "context_per_operation", err);
    if (st)
        return st;
    if (!context.id) {
        out->sum[FT_QUANTITY_MEMORY] =
            ft__figure_unknown("the engine's own memory was not measured");
        return FT_OK;
    }
    bytes += workspace + context.m.value + (each.id ? each.m.value : 0) * out->n_ops;
    out->sum[FT_QUANTITY_MEMORY] = (ft_figure){.value = bytes, .sigma = NAN};
    return FT_OK;
}

static ft_status sum_all(ft_validated *out, ft__validation *k, ft_error *err)
{
    uint32_t n = k->lowered->n_ops;
    struct price_sums s = {0};
    ft_status st = FT_OK;

    out->kind = calloc(n + 1u, sizeof(*out->kind));
    out->unpriced = calloc(n + 1u, sizeof(*out->unpriced));
    if (!out->kind || !out->unpriced)
        return ft_fail(err, FT_ENOMEM, 0, "sums");
    for (uint32_t i = 0; i < n && !st; i++)
        if (ft__validate_runs(&k->lowered->op[i]))
            st = price_op(out, k, i, &s, err);
    if (st)
        return st;
    out->n_priced = s.time.n;
    finish(&out->sum[FT_QUANTITY_TIME], &s.time, out->shared);
    if (!s.time.n && out->n_ops)
        out->sum[FT_QUANTITY_TIME] = ft__figure_unknown("no operation was measured");
    finish_energy(out, &s.energy);
    qsort(out->kind, out->n_kinds, sizeof(*out->kind), by_time);
    qsort(out->unpriced, out->n_unpriced, sizeof(*out->unpriced), by_count);
    return sum_memory(out, k, s.workspace, err);
}

/* ---- prediction ---- */

static void take_estimate(ft_figure *f, const ft_estimate *e)
{
    *f = (ft_figure){.value = e->value, .sigma = (e->high - e->low) / (2 * z90)};
    if (e->basis == FT_BASIS_UNAVAILABLE)
        *f = ft__figure_unknown(e->why);
}

static void nothing_predicted(ft_validated *out, const char *why)
{
    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        out->predicted[q] = ft__figure_unknown(why);
}

/* loaded: NULL, or the predictor to ask. */
static ft_status ask(ft_validated *out, ft__validation *k, const ft_predictor *loaded,
                     ft_error *err)
{
    ft_query q = *k->opt->query;
    ft_answer *a;
    ft_error why = {0};
    ft_status st;

    q.graph = k->graph;
    q.totals = 1;
    q.loaded = loaded;
    q.predictor = loaded ? NULL : q.predictor;
    if (k->stored) {
        q.device = k->base.device;
        q.engine = k->base.engine;
    }
    st = ft_query_ask(&a, k->opt->data, &q, &why);
    if (st == FT_ENOTFOUND) {
        nothing_predicted(out, why.msg);
        return FT_OK;
    }
    if (st)
        return ft_fail(err, st, why.pos, "%s", why.msg);
    take_estimate(&out->predicted[FT_QUANTITY_TIME], &a->time);
    take_estimate(&out->predicted[FT_QUANTITY_ENERGY], &a->energy);
    take_estimate(&out->predicted[FT_QUANTITY_MEMORY], &a->memory);
    /* What sensors there are now is another matter. */
    if (a->energy.basis == FT_BASIS_UNAVAILABLE && a->by == FT_ANSWERED_BY_DEVICE)
        out->predicted[FT_QUANTITY_ENERGY] =
            ft__figure_unknown("no power was measured for this predictor");
    ft_answer_free(a);
    return FT_OK;
}

/* A predictor that has never seen this network's operations. */
static ft_status predict_without(ft_validated *out, ft__validation *k, ft_error *err)
{
    ft_train_options how = {.filter = k->base,
                            .seed = 1,
                            .threads = 1,
                            .without = k->lowered->n_ops ? &k->lowered->op[0] : NULL,
                            .n_without = k->lowered->n_ops,
                            .forget = 1};
    ft_predictor *p;
    ft_error why = {0};
    ft_status st = ft_predictor_train(&p, k->store, &how, &why);

    if (!st) {
        st = ask(out, k, p, err);
        ft_predictor_free(p);
        return st;
    }
    if (st != FT_ENOTFOUND && st != FT_EINVAL)
        return ft_fail(err, st, 0, "%s", why.msg);
    nothing_predicted(out, why.msg);
    return FT_OK;
}

static ft_status predict(ft_validated *out, ft__validation *k, ft_error *err)
{
    if (k->opt->forget)
        return predict_without(out, k, err);
    if (k->opt->query)
        return ask(out, k, NULL, err);
    nothing_predicted(out, "no predictor for this engine and these threads");
    return FT_OK;
}

ft_status ft__validate_price(ft_validated *out, ft__validation *k, double shared,
                             ft_error *err)
{
    ft_status st;

    out->shared = shared;
    st = sum_all(out, k, err);
    return st ? st : predict(out, k, err);
}

/* ---- over several networks ---- */

ft_status ft_validated_errors(ft_errors *out, const ft_validated *v, size_t n,
                              ft_quantity q, ft_estimator e, ft_error *err)
{
    double *measured = calloc(2 * n + 1, sizeof(*measured));
    double *estimate = measured ? measured + n : NULL;
    size_t m = 0;
    ft_status st;

    if (!measured)
        return ft_fail(err, FT_ENOMEM, 0, "error figures");
    for (size_t i = 0; i < n; i++) {
        double x = v[i].measured[q].value;
        double y = e == FT_ESTIMATOR_SUM ? v[i].sum[q].value : v[i].predicted[q].value;

        if (!isfinite(x) || !isfinite(y))
            continue;
        measured[m] = x;
        estimate[m++] = y;
    }
    st = ft__errors_compute(out, measured, estimate, m, 0, err);
    free(measured);
    return st;
}

/* ---- kinds that explain differences ---- */

enum { LEAST_NETWORKS = 3, SWEEPS = 2000 };
/* (relative error of a network's time / standard deviation of factors about 1)^2 */
static const double ridge = 0.02 / 0.1 * (0.02 / 0.1);

static size_t effect_of(ft_kind_effect *e, size_t *n, const ft_kind_sum *s)
{
    for (size_t i = 0; i < *n; i++)
        if (e[i].kind == s->kind && e[i].phase == s->phase)
            return i;
    e[*n] = (ft_kind_effect){
        .kind = s->kind, .phase = s->phase, .factor = NAN, .effect = NAN};
    return (*n)++;
}

static bool is_known(const ft_validated *v)
{
    return v->measured[FT_QUANTITY_TIME].value > 0 &&
           v->sum[FT_QUANTITY_TIME].value > 0;
}

static size_t find_kinds(ft_kind_effect *e, const ft_validated *v, size_t n)
{
    size_t n_kinds = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; is_known(&v[i]) && j < v[i].n_kinds; j++) {
            ft_kind_effect *k = &e[effect_of(e, &n_kinds, &v[i].kind[j])];

            k->n_networks++;
            k->share +=
                v[i].kind[j].time_s / v[i].sum[FT_QUANTITY_TIME].value / (double)n;
        }
    return n_kinds;
}

/* s[network * n_kinds + kind]: parts of the measured time. */
static void fill_shares(double *s, ft_kind_effect *e, size_t n_kinds,
                        const ft_validated *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; is_known(&v[i]) && j < v[i].n_kinds; j++)
            s[i * n_kinds + effect_of(e, &n_kinds, &v[i].kind[j])] =
                v[i].kind[j].time_s / v[i].measured[FT_QUANTITY_TIME].value;
}

/* Best factor of kind k when the others stand. */
static double best_factor(const double *s, const double *left, size_t n, size_t n_kinds,
                          size_t k, const ft_kind_effect *e)
{
    double above = ridge * e[k].share, below = above, now = e[k].factor;

    for (size_t i = 0; i < n; i++) {
        double x = s[i * n_kinds + k];

        above += x * (left[i] + x * now);
        below += x * x;
    }
    return fmax(0, above / below);
}

/* Coordinate descent; the objective is strictly convex. left[i] = 1 - sum f s. */
static void fit_factors(ft_kind_effect *e, size_t n_kinds, const double *s,
                        double *left, size_t n)
{
    for (size_t k = 0; k < n_kinds; k++)
        e[k].factor = 1;
    for (size_t i = 0; i < n; i++) {
        left[i] = 1;
        for (size_t k = 0; k < n_kinds; k++)
            left[i] -= s[i * n_kinds + k];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t k = 0; k < n_kinds; k++) {
            double f = best_factor(s, left, n, n_kinds, k, e);

            for (size_t i = 0; i < n; i++)
                left[i] -= (f - e[k].factor) * s[i * n_kinds + k];
            e[k].factor = f;
        }
    for (size_t k = 0; k < n_kinds; k++) {
        e[k].effect = 0;
        for (size_t i = 0; i < n; i++)
            e[k].effect += (e[k].factor - 1) * s[i * n_kinds + k] / (double)n;
    }
}

static int by_effect(const void *a, const void *b)
{
    const ft_kind_effect *x = a, *y = b;
    double p = isnan(x->effect) ? x->share : fabs(x->effect);
    double q = isnan(y->effect) ? y->share : fabs(y->effect);

    return (p < q) - (p > q);
}

ft_status ft_validated_kinds(ft_kind_effect **out, size_t *n_out, const ft_validated *v,
                             size_t n, ft_error *err)
{
    ft_validated *known = calloc(n + 1, sizeof(*known)); /* borrowed copies */
    size_t m = 0, most = 1;
    double *s = NULL;

    *out = NULL;
    *n_out = 0;
    for (size_t i = 0; known && i < n; i++)
        if (is_known(&v[i])) {
            known[m++] = v[i];
            most += v[i].n_kinds;
        }
    *out = calloc(most, sizeof(**out));
    if (known && *out)
        *n_out = find_kinds(*out, known, m);
    s = calloc((m + 1) * (*n_out + 1), sizeof(*s));
    if (!known || !*out || !s) {
        free(known);
        free(*out);
        free(s);
        *out = NULL;
        return ft_fail(err, FT_ENOMEM, 0, "kinds");
    }
    fill_shares(s, *out, *n_out, known, m);
    if (m >= LEAST_NETWORKS)
        fit_factors(*out, *n_out, s, s + m * *n_out, m);
    qsort(*out, *n_out, sizeof(**out), by_effect);
    free(known);
    free(s);
    return FT_OK;
}
