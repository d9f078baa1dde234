/* Estimates for operations and whole networks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/estimate.h"
#include "predict/predictor.h"

/* How far a network's true time strays from the sum of its operations for
 * reasons that all of them share: clock drift, cache state (docs/accuracy.md
 * has the measurements). One sigma, relative. */
static const double common_sigma = 0.045;
/* The same for an operation that was measured itself. */
static const double repeat_sigma = 0.03;
/* A 90 % interval of a normal quantity is +- this many sigma. */
static const double z90 = 1.645;
/* Where a kind was never trained, or lies outside what was: widen by this. */
static const double scaled_factor = 2;

static ft_estimate unavailable(const char *why)
{
    return (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, why};
}

/* Sizes beyond the training rows by more than a factor of two. */
static bool outside(const ft__regressor_image *r, const float *row)
{
    static const uint32_t sizes[] = {FT__F_input_elements, FT__F_output_elements,
                                     FT__F_weight_elements, FT__F_flops, FT__F_bytes};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        if (row[sizes[i]] < r->least[sizes[i]] - 1 ||
            row[sizes[i]] > r->most[sizes[i]] + 1)
            return true;
    return false;
}

static ft_estimate from_measured(const ft__measured_image *m)
{
    double sigma = sqrt(pow(m->error_s / m->time_s, 2) + repeat_sigma * repeat_sigma);

    if (!isfinite(sigma))
        sigma = repeat_sigma;
    return (ft_estimate){m->time_s, m->time_s * exp(-z90 * sigma),
                         m->time_s * exp(z90 * sigma), FT_BASIS_MEASURED, ""};
}

/* What is not measured: rows gathered per regressor, predicted in one call. */
struct batch {
    const ft_predictor *p;
    const ft_op *ops;
    float *all;  /* features of every operation */
    float *rows; /* of those that one regressor answers */
    double *value;
    double *spread;
    double *scratch;
    uint32_t *index; /* which operation a row belongs to */
    uint32_t n;
};

static ft_status run_models(struct batch *b, uint32_t regressor, ft_error *err)
{
    const ft__fit *m;
    ft_status st = ft__predictor_models(&m, b->p, regressor, err);

    if (!st)
        ft__fit_predict(m, b->rows, b->n, b->value, b->spread, b->scratch);
    return st;
}

static ft_estimate learned_time(const struct batch *b, uint32_t i,
                                const ft__regressor_image *r)
{
    double base = ft__roofline(&b->ops[b->index[i]], &b->p->info->roof);
    double spread = b->spread[i], value = b->value[i];
    /* A norm that takes statistics reads its input once more than one that has
     * them, and no column tells the two apart. */
    bool far = r->whole_class || outside(r, b->rows + (size_t)i * FT__N_FEATURES) ||
               ft_op_at(&b->ops[b->index[i]], FT_K_train, 0);

    if (far)
        spread *= scaled_factor;
    return (ft_estimate){base * exp(value),
                         base * exp(value + r->interval_low * spread),
                         base * exp(value + r->interval_high * spread),
                         far ? FT_BASIS_SCALED : FT_BASIS_LEARNED, ""};
}

static ft_estimate learned_bytes(const struct batch *b, uint32_t i,
                                 const ft__regressor_image *r)
{
    double v = b->value[i], spread = b->spread[i];

    return (ft_estimate){fmax(0, exp(v) - 1),
                         fmax(0, exp(v + r->interval_low * spread) - 1),
                         fmax(0, exp(v + r->interval_high * spread) - 1),
                         r->whole_class ? FT_BASIS_SCALED : FT_BASIS_LEARNED, ""};
}

static ft_estimate learned_power(const struct batch *b, uint32_t i,
                                 const ft__regressor_image *r)
{
    double spread = b->spread[i], value = b->value[i];
    bool far = r->whole_class || outside(r, b->rows + (size_t)i * FT__N_FEATURES);

    if (far)
        spread *= scaled_factor;
    return (ft_estimate){exp(value), exp(value + r->interval_low * spread),
                         exp(value + r->interval_high * spread),
                         far ? FT_BASIS_SCALED : FT_BASIS_LEARNED, ""};
}

static ft_estimate learned(const struct batch *b, uint32_t i, ft__told what,
                           const ft__regressor_image *r)
{
    switch (what) {
    case FT__TOLD_TIME: return learned_time(b, i, r);
    case FT__TOLD_POWER: return learned_power(b, i, r);
    default: return learned_bytes(b, i, r);
    }
}

/* A bound is all there is: no kind like it was ever measured. */
static ft_estimate roofline_only(const ft_op *op, const ft__roof *roof)
{
    double t = ft__roofline(op, roof);

    return (ft_estimate){t, t, 10 * t, FT_BASIS_ROOFLINE, ""};
}

bool ft__is_whole(const ft_op *op)
{
    return op->kind == FT_KIND_kernel || op->kind == FT_KIND_network;
}

ft_status ft__check_operations(const ft_graph *g, ft_error *err)
{
    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++)
        if (ft__is_whole(ft_graph_op(g, i)))
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "a kernel or network by name is predicted from measurements "
                           "of it alone, in a list without operations");
    return FT_OK;
}

bool ft__costs_nothing(const ft_op *op)
{
    return ft_kind_class(op->kind) == FT_CLASS_VIEW || ft__is_whole(op);
}

/* Estimates of one metric for all operations whose out[] is still open
 * (basis UNAVAILABLE). Backward operations have regressors of their own, for no forward
 * measurement can answer for them. */
static ft_status fill_learned(struct batch *b, ft_estimate *out, size_t n,
                              ft__told what, ft_error *err)
{
    const uint32_t *of = b->p->of[what];

    for (uint32_t r = 0; r < b->p->n_regressors; r++) {
        const ft__regressor_image *image = b->p->regressor[r].image;
        ft_status st;

        b->n = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (out[i].basis != FT_BASIS_UNAVAILABLE ||
                of[ft__regressor_of(&b->ops[i])] != r)
                continue;
            memcpy(b->rows + (size_t)b->n * FT__N_FEATURES,
                   b->all + (size_t)i * FT__N_FEATURES, FT__N_FEATURES * sizeof(float));
            b->index[b->n++] = i;
        }
        if (b->n == 0)
            continue;
        st = run_models(b, r, err);
        if (st)
            return st;
        for (uint32_t i = 0; i < b->n; i++)
            out[b->index[i]] = learned(b, i, what, image);
    }
    return FT_OK;
}

static ft_status estimate_times(struct batch *b, ft_estimate *out, size_t n,
                                ft_error *err)
{
    ft_status st;

    for (size_t i = 0; i < n; i++) {
        const ft__measured_image *m = ft__predictor_measured(b->p, &b->ops[i]);

        out[i] = ft__costs_nothing(&b->ops[i])
                     ? (ft_estimate){0, 0, 0, FT_BASIS_MEASURED, ""}
                 : m ? from_measured(m)
                     : unavailable("");
    }
    st = fill_learned(b, out, n, FT__TOLD_TIME, err);
    for (size_t i = 0; i < n; i++)
        if (out[i].basis == FT_BASIS_UNAVAILABLE)
            out[i] = roofline_only(&b->ops[i], &b->p->info->roof);
    return st;
}

static ft_status estimate_workspaces(struct batch *b, ft_estimate *out, size_t n,
                                     ft_error *err)
{
    ft_status st;

    for (size_t i = 0; i < n; i++) {
        const ft__measured_image *m = ft__predictor_measured(b->p, &b->ops[i]);

        out[i] = m && m->workspace_bytes >= 0
                     ? (ft_estimate){m->workspace_bytes, m->workspace_bytes,
                                     m->workspace_bytes, FT_BASIS_MEASURED, ""}
                     : unavailable("");
    }
    st = fill_learned(b, out, n, FT__TOLD_WORKSPACE, err);
    /* No kind without a regressor was ever seen to need any. */
    for (size_t i = 0; i < n; i++)
        if (out[i].basis == FT_BASIS_UNAVAILABLE)
            out[i] = (ft_estimate){0, 0, 0, FT_BASIS_SCALED, ""};
    return st;
}

static ft_status estimate_powers(struct batch *b, ft_estimate *out, size_t n,
                                 ft_error *err)
{
    for (size_t i = 0; i < n; i++)
        out[i] = ft__costs_nothing(&b->ops[i])
                     ? (ft_estimate){0, 0, 0, FT_BASIS_MEASURED, ""}
                     : unavailable("");
    return fill_learned(b, out, n, FT__TOLD_POWER, err);
}

/* power: or NULL, as workspace. */
static ft_status predict_ops(const ft_predictor *p, const ft_op *ops, size_t n,
                             ft_estimate *time, ft_estimate *workspace,
                             ft_estimate *power, ft_error *err)
{
    struct batch b = {.p = p, .ops = ops};
    ft_status st;

    if (!p->info)
        return ft_fail(err, FT_EINVAL, 0,
                       "the predictor is for a family of devices: say for which one");
    b.all = malloc((n + 1) * FT__N_FEATURES * sizeof(*b.all));
    b.rows = malloc((n + 1) * FT__N_FEATURES * sizeof(*b.rows));
    b.value = malloc((n + 1) * sizeof(*b.value));
    b.spread = malloc((n + 1) * sizeof(*b.spread));
    b.scratch = malloc((n + 1) * sizeof(*b.scratch));
    b.index = malloc((n + 1) * sizeof(*b.index));
    if (b.all && b.rows && b.value && b.spread && b.scratch && b.index) {
        for (size_t i = 0; i < n; i++)
            ft__features(b.all + i * FT__N_FEATURES, &ops[i], &p->info->roof);
        st = estimate_times(&b, time, n, err);
        if (!st && workspace)
            st = estimate_workspaces(&b, workspace, n, err);
        if (!st && power)
            st = estimate_powers(&b, power, n, err);
    } else {
        st = ft_fail(err, FT_ENOMEM, 0, "%zu operations", n);
    }
    free(b.all);
    free(b.rows);
    free(b.value);
    free(b.spread);
    free(b.scratch);
    free(b.index);
    return st;
}

ft_status ft_predict_ops(const ft_predictor *p, const ft_op *ops, size_t n,
                         ft_estimate *time, ft_estimate *workspace, ft_error *err)
{
    return predict_ops(p, ops, n, time, workspace, NULL, err);
}

/* ---- networks ---- */

void ft__estimate_count(ft_network_estimate *e)
{
    for (uint32_t i = 0; i < e->n_ops; i++)
        switch (e->op_time[i].basis) {
        case FT_BASIS_MEASURED: e->n_measured++; break;
        case FT_BASIS_LEARNED: e->n_learned++; break;
        case FT_BASIS_SCALED: e->n_scaled++; break;
        case FT_BASIS_ROOFLINE: e->n_roofline++; break;
        case FT_BASIS_ANALYTIC:
        case FT_BASIS_UNAVAILABLE:
        case FT_BASIS_COUNT: break;
        }
}

/* A sum is as good as its weakest part that matters: of the bases that hold at
 * least a tenth of the time, the least certain. */
ft_basis ft__estimate_weakest(const ft_network_estimate *e, const double *count,
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

/* count[] times each operation. Errors of different operations are independent,
 * those of one operation's occurrences are the same error; on top of them what
 * all share. */
static ft_estimate sum_of(const ft_network_estimate *e, const double *count)
{
    double sum = 0, below = 0, above = 0, common;
    ft_estimate out;

    for (uint32_t i = 0; i < e->n_ops; i++) {
        const ft_estimate *t = &e->op_time[i];

        if (!(count[i] > 0))
            continue;
        sum += count[i] * t->value;
        below += pow(count[i] * (t->value - t->low), 2);
        above += pow(count[i] * (t->high - t->value), 2);
    }
    common = z90 * common_sigma * sum;
    out = (ft_estimate){.value = sum,
                        .low = fmax(0, sum - sqrt(below + common * common)),
                        .high = sum + sqrt(above + common * common),
                        .why = ""};
    out.basis = sum > 0 ? ft__estimate_weakest(e, count, sum) : FT_BASIS_MEASURED;
    return out;
}

ft_status ft__estimate_sum(ft_network_estimate *e, const ft_graph *g, ft_error *err)
{
    double *count = malloc((e->n_ops + 1u) * sizeof(*count));

    if (!count)
        return ft_fail(err, FT_ENOMEM, 0, "estimate");
    for (uint32_t i = 0; i < e->n_ops; i++)
        count[i] = (double)ft_graph_op_count(g, i);
    memcpy(e->op_device, e->op_time, e->n_ops * sizeof(*e->op_time));
    e->time = sum_of(e, count);
    for (int p = 0; p < FT_PHASE_COUNT; p++) {
        memset(count, 0, e->n_ops * sizeof(*count));
        for (uint32_t i = 0; i < ft_graph_n_nodes(g); i++)
            if (ft_graph_node(g, i)->phase == (ft_phase)p)
                count[ft_graph_node(g, i)->op] += (double)ft_graph_node(g, i)->repeat;
        e->phase_time[p] = sum_of(e, count);
    }
    free(count);
    return FT_OK;
}

/* ---- memory ---- */

/* An allocator that takes and gives back as operations run. */
ft_status ft__estimate_memory_allocated(ft_network_estimate *e, const ft_graph *g,
                                        uint32_t bits, ft_error *err)
{
    const ft_memory_policy policy = {FT_POLICY_EAGER | bits};
    ft_memory m;
    ft_status st = ft_memory_make(&m, g, &policy, err);

    for (int p = 0; p < FT_PART_COUNT; p++)
        e->part_bytes[p] = (double)m.part[p];
    e->two_largest_bytes = m.two_largest_bytes;
    e->twice_mean_bytes = m.twice_mean_bytes;
    return st;
}

/* Weights, and the rest at offsets that were planned ahead. */
static ft_status memory_as_planned(ft_network_estimate *e, const ft_graph *g,
                                   ft_error *err)
{
    ft_plan plan;
    ft_status st = ft__estimate_memory_allocated(e, g, 0, err);

    if (!st)
        st = ft_plan_make(&plan, g, err);
    if (st)
        return st;
    e->part_bytes[FT_PART_ACTIVATIONS] =
        fmax(0, (double)plan.arena_bytes - e->part_bytes[FT_PART_INPUTS]);
    ft_plan_free(&plan);
    return FT_OK;
}

ft_status ft__estimate_start(ft_network_estimate *out, const ft_graph *g, ft_error *err)
{
    memset(out, 0, sizeof(*out));
    out->n_ops = ft_graph_n_ops(g);
    out->op_time = calloc(6 * (out->n_ops + (size_t)1), sizeof(*out->op_time));
    if (!out->op_time)
        return ft_fail(err, FT_ENOMEM, 0, "estimate");
    out->op_device = out->op_time + out->n_ops;
    out->op_power = out->op_device + out->n_ops;
    out->op_energy = out->op_power + out->n_ops;
    out->op_memory = out->op_energy + out->n_ops;
    out->op_workspace = out->op_memory + out->n_ops;
    for (uint32_t i = 0; i < out->n_ops; i++) {
        out->op_power[i] = out->op_energy[i] =
            unavailable("no power was measured for this predictor");
        out->op_memory[i] = out->op_workspace[i] =
            unavailable("nothing of it was measured for this predictor");
    }
    out->energy = unavailable("no power was measured for this predictor");
    out->power = out->energy;
    out->host_s = out->busy_s = NAN;
    return FT_OK;
}

/* Workspace is shared by all operations: the largest one counts. */
static ft_estimate largest(const ft_estimate *workspace, uint32_t n)
{
    ft_estimate w = {0};

    for (uint32_t i = 0; i < n; i++) {
        w.value = fmax(w.value, workspace[i].value);
        w.low = fmax(w.low, workspace[i].low);
        w.high = fmax(w.high, workspace[i].high);
    }
    return w;
}

/* All parts that are known; w: what is not known exactly of them. */
void ft__estimate_memory_sum(ft_network_estimate *e, const ft_estimate *w)
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

static uint32_t count_running(const ft_graph *g)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ft_graph_n_ops(g); i++)
        n += !ft__costs_nothing(ft_graph_op(g, i));
    return n;
}

ft_status ft_predict_network(ft_network_estimate *out, const ft_predictor *p,
                             const ft_graph *g, ft_error *err)
{
    ft_estimate *workspace = NULL, w;
    ft_status st = ft__estimate_start(out, g, err);

    if (!st && !p->info)
        st = ft_fail(err, FT_EINVAL, 0,
                     "the predictor is for a family of devices: say for which one");
    if (!st)
        st = ft_graph_mode(g) == FT_MODE_INFERENCE
                 ? memory_as_planned(out, g, err)
                 : ft__estimate_memory_allocated(out, g, 0, err);
    if (!st) {
        /* And as many powers behind them. */
        workspace = calloc(2 * (out->n_ops + (size_t)1), sizeof(*workspace));
        st = workspace ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "estimate");
    }
    if (!st && out->n_ops)
        st = predict_ops(p, ft_graph_op(g, 0), out->n_ops, out->op_time, workspace,
                         workspace + out->n_ops, err);
    if (!st)
        st = ft__estimate_sum(out, g, err);
    if (!st) {
        ft__estimate_energy(out, workspace + out->n_ops, g);
        ft__estimate_count(out);
        w = largest(workspace, out->n_ops);
        out->part_bytes[FT_PART_WORKSPACE] = w.value;
        out->context_bytes = p->info->context_bytes +
                             p->info->context_per_op_bytes * (double)count_running(g);
        ft__estimate_memory_sum(out, &w);
    } else {
        ft_network_estimate_free(out);
    }
    free(workspace);
    return st;
}

void ft_network_estimate_free(ft_network_estimate *e)
{
    free(e->op_time);
    e->op_time = e->op_device = e->op_power = e->op_energy = e->op_memory =
        e->op_workspace = NULL;
}
