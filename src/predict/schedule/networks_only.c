/* Devices of which networks were measured and no operation: learning from those
 * networks how much each category of operations takes of its estimate from
 * specifications, and what a network then takes. */
#include "predict/schedule/networks_only.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/solve.h"
#include "base/stats.h"
#include "foretell/names.h"
#include "learn/learn_inside.h"
#include "physics/physics.h"
#include "predict/model/family.h"
#include "predict/query/op_query.h"
#include "predict/schedule/schedule.h"

/* Categories of operations, whose estimates err alike. */
enum category {
    CATEGORY_FIRST,      /* convolutions of images: four channels at most */
    CATEGORY_POINT,      /* of 1 x 1 */
    CATEGORY_POINT_THIN, /* fewer than 64 channels in or out */
    CATEGORY_CONV,
    CATEGORY_CONV_THIN,
    CATEGORY_GROUPED,
    CATEGORY_GROUPED_THIN, /* fewer than 16 channels a group */
    CATEGORY_DEPTHWISE,    /* one or two channels a group; kernels up to 3, 5, more */
    CATEGORY_DEPTHWISE_5,
    CATEGORY_DEPTHWISE_7,
    CATEGORY_LINEAR,
    CATEGORY_PRODUCT,
    CATEGORY_ATTENTION,
    CATEGORY_BATCHNORM,
    CATEGORY_NORM, /* the others, which mixed precision computes in fp32 */
    CATEGORY_SOFTMAX,
    CATEGORY_IN_PLACE, /* activations */
    CATEGORY_UNARY,
    CATEGORY_BINARY, /* of images */
    CATEGORY_BINARY_TOKENS,
    CATEGORY_MOVE, /* and whatever streams */
    CATEGORY_REDUCE,
    CATEGORY_POOL,
    N_CATEGORIES
};

/* Channels below which tiles of a product are not filled, and those below which a
 * product is no more than a pass over its operands. */
enum { FEW_CHANNELS = 64, THIN = 16 };

static enum category category_of_conv(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t groups = ft_op_at(op, FT_K_groups, 0), in = x.dim[1];
    int64_t kernel = ft_op_at(op, FT_K_kernel, 0), out = ft_op_at(op, FT_K_out, 0);
    bool few = in < FEW_CHANNELS || out < FEW_CHANNELS;

    if (in <= 4)
        return CATEGORY_FIRST;
    if (groups > 1 && 2 * groups >= in)
        return kernel <= 3   ? CATEGORY_DEPTHWISE
               : kernel <= 5 ? CATEGORY_DEPTHWISE_5
                             : CATEGORY_DEPTHWISE_7;
    if (groups > 1)
        return in < THIN * groups ? CATEGORY_GROUPED_THIN : CATEGORY_GROUPED;
    if (kernel == 1)
        return few ? CATEGORY_POINT_THIN : CATEGORY_POINT;
    return few ? CATEGORY_CONV_THIN : CATEGORY_CONV;
}

static enum category category_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return category_of_conv(op);
    case FT_CLASS_MATMUL:
        return op->kind == FT_KIND_linear      ? CATEGORY_LINEAR
               : op->kind == FT_KIND_attention ? CATEGORY_ATTENTION
                                               : CATEGORY_PRODUCT;
    case FT_CLASS_POOL: return CATEGORY_POOL;
    case FT_CLASS_NORM:
        return op->kind == FT_KIND_batchnorm ? CATEGORY_BATCHNORM : CATEGORY_NORM;
    case FT_CLASS_SOFTMAX: return CATEGORY_SOFTMAX;
    case FT_CLASS_UNARY: return op->in_place ? CATEGORY_IN_PLACE : CATEGORY_UNARY;
    case FT_CLASS_BINARY:
        return ft_op_shape(op, FT_K_x).rank < 4 ? CATEGORY_BINARY_TOKENS
                                                : CATEGORY_BINARY;
    case FT_CLASS_REDUCE: return CATEGORY_REDUCE;
    default: return CATEGORY_MOVE;
    }
}

static bool is_thin(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    return op->kind == FT_KIND_linear &&
           (x.dim[x.rank - 1] <= THIN || ft_op_at(op, FT_K_out, 0) <= THIN);
}

/* The sort of a forward operation and what the device needs for it by its
 * specifications; NaN where something is not known. */
static enum category category_cost(double *time_s, const ft_op *op,
                                   const ft__hardware_spec *chip,
                                   const ft__physics_params *params)
{
    enum category category = category_of(op);
    ft__terms t;

    ft__physics(&t, op, chip, params);
    *time_s = t.busy_s;
    if (category == CATEGORY_LINEAR && is_thin(op)) {
        ft_cost cost;

        ft_op_cost(op, &cost);
        *time_s = 3 * (cost.bytes_read + cost.bytes_written) / (0.85 * chip->bandwidth);
        return CATEGORY_MOVE;
    }
    return category;
}

static_assert((int)N_CATEGORIES == (int)FT__CATEGORY_WEIGHTS, "one for every category");

/* Parts of the architectures that intervals are learned from, each without itself. */
enum { FOLDS = FT__LEAST_ARCHITECTURES - 1 };
/* Rows' worth: of the weights that all datasets have in common, at what specifications
 * say; of those of one dataset, at the common ones. */
static const double pull_common = 0.3;
static const double pull_own = 1;
/* Fewer rows of a dataset say nothing of their own. */
enum { LEAST_ROWS = 8 };

enum { PARTS = FT__CATEGORY_WEIGHTS, N = PARTS + 1, ROUNDS = 25 };
static const double SMALL = 0.1;  /* errors below count squared */
static const double LONGEST = 1;  /* step of a logarithm */
static const double FREE = 1e-3;  /* pull on a level that is fitted */
static const double FIXED = 1e12; /* on one that is not */

/* part[]: PARTS each, not all 0; whole above 0. */
struct category_sums {
    const double *part;
    double whole;
};

static double weights_estimate(const ft__category_weights *m, const double *part)
{
    double sum = 0;

    for (int i = 0; i < PARTS; i++)
        sum += exp(m->weight[i]) * part[i];
    return exp(m->level) * sum;
}

struct equations {
    double a[N * N];
    double b[N];
};

static void add_row(struct equations *q, const double *factor, double level,
                    const struct category_sums *v)
{
    double d[N], sum = 0, miss, weight;

    for (int i = 0; i < PARTS; i++)
        sum += d[i] = factor[i] * v->part[i];
    for (int i = 0; i < PARTS; i++)
        d[i] /= sum;
    d[PARTS] = 1;
    miss = log(v->whole / sum) - level;
    weight = 1 / sqrt(1 + miss / SMALL * (miss / SMALL));
    for (int i = 0; i < N; i++) {
        q->b[i] += weight * d[i] * miss;
        for (int j = 0; j <= i; j++)
            q->a[i * N + j] += weight * d[i] * d[j];
    }
}

/* Least absolute errors of log(whole / estimate), small ones squared (Gauss and Newton,
 * reweighted), with `pull` rows' worth of a prior at what *m holds; the level is fitted
 * with `level` alone, freely. */
static void weights_fit(ft__category_weights *m, const struct category_sums *v,
                        size_t n, double pull, int level)
{
    const ft__category_weights start = *m;

    for (int round = 0; round < ROUNDS; round++) {
        struct equations q;
        double factor[PARTS], longest = LONGEST;

        memset(&q, 0, sizeof(q));
        for (int i = 0; i < PARTS; i++) {
            factor[i] = exp(m->weight[i]);
            q.a[i * N + i] = pull;
            q.b[i] = pull * (start.weight[i] - m->weight[i]);
        }
        q.a[PARTS * N + PARTS] = level ? FREE : FIXED;
        for (size_t i = 0; i < n; i++)
            add_row(&q, factor, m->level, &v[i]);
        ft__solve(q.a, q.b, N);
        for (int i = 0; i < N; i++)
            longest = fmax(longest, fabs(q.b[i]));
        for (int i = 0; i < PARTS; i++)
            m->weight[i] += q.b[i] * LONGEST / longest;
        if (level)
            m->level += q.b[PARTS] * LONGEST / longest;
    }
}

static const char *phase_of(const char *phase)
{
    const char *forward = ft_name(FT_NAMES_PHASE, FT_PHASE_FORWARD);

    return strcmp(phase, forward) == 0 ? forward
                                       : ft_name(FT_NAMES_PHASE, FT_PHASE_STEP);
}

static bool is_sound(const ft__alone *a)
{
    const double most = log(1e3);
    bool good = ft__is_text(a->device, sizeof(a->device)) &&
                ft__is_text(a->setting, sizeof(a->setting)) &&
                ft__is_text(a->engine, sizeof(a->engine)) &&
                ft__is_text(a->version, sizeof(a->version)) &&
                ft__is_text(a->policy, sizeof(a->policy)) &&
                ft__is_text(a->phase, sizeof(a->phase)) && a->n > 0 &&
                a->low <= a->high && a->low >= -most && a->high <= most &&
                fabs(a->weights.level) <= most;

    for (int i = 0; good && i < PARTS; i++)
        good = fabs(a->weights.weight[i]) <= 2 * most;
    return good && strcmp(a->phase, phase_of(a->phase)) == 0;
}

/* Was any operation of the device of `on` learned from? */
static bool is_measured(const ft__family *f, const ft__dataset *on)
{
    for (uint32_t i = 0; i < f->n_datasets; i++)
        if (on->device && strcmp(on->device, f->dataset[i].device) == 0)
            return true;
    return false;
}

ft_status ft__alone_add(ft__family *f, const ft__alone *a, bool *sound, ft_error *err)
{
    ft__alone *grown;

    *sound = is_sound(a);
    if (!*sound)
        return FT_OK;
    grown = realloc(f->alone, (f->n_alone + 1u) * sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    f->alone = grown;
    grown[f->n_alone++] = *a;
    return FT_OK;
}

/* The estimate of an operation by specifications, and its category. *time_s is 0 of one
 * that costs nothing. FT_ENOTFOUND: the device's file lacks a fact. */
static ft_status price(double *time_s, enum category *category, const ft_op *op,
                       const ft_device_facts *d, const char *setting,
                       const char *policy, ft_error *err)
{
    const ft__physics_params params = ft__physics_default();
    ft__hardware_spec chip;

    *time_s = 0;
    *category = CATEGORY_MOVE;
    if (ft_kind_class(op->kind) == FT_CLASS_VIEW)
        return FT_OK;
    ft__hardware_spec_make(&chip, d, setting, policy, op);
    chip.renews = 1;
    *category = category_cost(time_s, op, &chip, &params);
    return isfinite(*time_s) ? FT_OK
                             : ft_fail(err, FT_ENOTFOUND, 0,
                                       "%s: its file lacks what an estimate needs; see "
                                       "\"foretell devices %s\"",
                                       d->name, d->name);
}

struct measured_network {
    uint32_t whole;
    uint32_t set;  /* its dataset, x 2, and whether it is more than a forward pass */
    uint32_t fold; /* of its architecture */
    double time_s;
    double part[PARTS];
};

struct weights_fitting {
    const ft__network_samples *w;
    struct measured_network *item;
    size_t n;
    uint32_t n_sets, n_architectures;
    struct category_sums *some; /* scratch */
    ft__category_weights *own;  /* of every set */
    double *residual;
};

static bool fill(struct measured_network *it, const ft__network_sample *w,
                 const ft__dataset *on)
{
    for (uint32_t i = 0; i < w->graph->n_ops; i++) {
        enum category category;
        double t;

        if (price(&t, &category, &w->graph->op[i], ft_device_get(on->file), on->setting,
                  on->policy, NULL))
            return false;
        it->part[category] += (double)w->graph->op_count[i] * t;
    }
    for (int i = 0; i < PARTS; i++)
        it->part[i] += 1e-15;
    return true;
}

/* Items of a set (UINT32_MAX: of all) that are not of a fold. */
static size_t gather(struct category_sums *out, const struct weights_fitting *y,
                     uint32_t set, uint32_t fold)
{
    size_t n = 0;

    for (size_t i = 0; i < y->n; i++)
        if (y->item[i].fold != fold && (set == UINT32_MAX || y->item[i].set == set))
            out[n++] = (struct category_sums){y->item[i].part, y->item[i].time_s};
    return n;
}

static void learn(const struct weights_fitting *y, uint32_t fold)
{
    ft__category_weights common = {{0}, 0};
    size_t n = gather(y->some, y, UINT32_MAX, fold);

    weights_fit(&common, y->some, n, pull_common, 0);
    for (uint32_t s = 0; s < y->n_sets; s++) {
        y->own[s] = common;
        n = gather(y->some, y, s, fold);
        if (n >= LEAST_ROWS)
            weights_fit(&y->own[s], y->some, n, pull_own, 1);
    }
}

/* Between which logarithms of measured over estimate nine in ten networks lie whose
 * architectures taught nothing. */
static ft_status find_range(double *low, double *high, const struct weights_fitting *y,
                            ft_error *err)
{
    size_t n = 0;

    for (uint32_t f = 0; f < FOLDS; f++) {
        learn(y, f);
        for (size_t i = 0; i < y->n; i++)
            if (y->item[i].fold == f)
                y->residual[n++] =
                    log(y->item[i].time_s /
                        weights_estimate(&y->own[y->item[i].set], y->item[i].part));
    }
    return ft__conformal(low, high, y->residual, n, FT__COVERAGE, err);
}

static bool put_text(char *to, size_t size, const char *from)
{
    return (size_t)snprintf(to, size, "%s", from) < size;
}

/* Width of the elements of its first product; of the first operation. */
static uint32_t bits_of(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ft_op *op = &g->op[i];
        const ft_class c = ft_kind_class(op->kind);

        if (c == FT_CLASS_CONV || c == FT_CLASS_MATMUL)
            return (uint32_t)ft_dtype_bits(op->dtype);
    }
    return g->n_ops ? (uint32_t)ft_dtype_bits(g->op[0].dtype) : 0;
}

static ft_status add_set(ft__family *f, const struct weights_fitting *y, uint32_t set,
                         double low, double high, ft_error *err)
{
    const ft__dataset *d = &y->w->dataset[set / 2];
    ft__alone a = {.low = low, .high = high, .weights = y->own[set]};
    const char *phase =
        ft_name(FT_NAMES_PHASE, set % 2 ? FT_PHASE_STEP : FT_PHASE_FORWARD);
    bool sound; /* if not, nothing is said of the set */

    for (size_t i = 0; i < y->n; i++)
        if (y->item[i].set == set) {
            a.n++;
            a.bits = bits_of(y->w->v[y->item[i].whole].graph);
        }
    if (a.n && put_text(a.device, sizeof(a.device), d->device) &&
        put_text(a.setting, sizeof(a.setting), d->setting) &&
        put_text(a.engine, sizeof(a.engine), d->engine) &&
        put_text(a.version, sizeof(a.version), d->engine_version) &&
        put_text(a.policy, sizeof(a.policy), d->policy) &&
        put_text(a.phase, sizeof(a.phase), phase))
        return ft__alone_add(f, &a, &sound, err);
    return FT_OK;
}

/* Architectures are dealt to folds in the order in which they come. */
static uint32_t fold_of(struct weights_fitting *y, size_t i)
{
    const char *name = y->w->v[y->item[i].whole].architecture;

    for (size_t j = 0; j < i; j++)
        if (strcmp(y->w->v[y->item[j].whole].architecture, name) == 0)
            return y->item[j].fold;
    return y->n_architectures++ % FOLDS;
}

static void find_items(struct weights_fitting *y, const ft__family *f,
                       const bool *hidden)
{
    for (uint32_t i = 0; i < y->w->n; i++) {
        const ft__network_sample *w = &y->w->v[i];
        const ft__dataset *on = &y->w->dataset[w->dataset];
        struct measured_network *it = &y->item[y->n];

        if ((hidden && hidden[i]) || !on->file || is_measured(f, on) ||
            ft__setting_differs(on->setting, ""))
            continue;
        *it = (struct measured_network){.whole = i,
                                        .time_s = w->value[FT__METRIC_TIME],
                                        .set = 2 * w->dataset +
                                               (phase_of(w->phase)[0] != 'f')};
        if (!fill(it, w, on))
            continue;
        it->fold = fold_of(y, y->n);
        y->n++;
    }
}

ft_status ft__alone_fit(ft__family *f, const ft__network_samples *w, const bool *hidden,
                        uint32_t *n, ft_error *err)
{
    struct weights_fitting y = {.w = w,
                                .n_sets = 2 * w->n_datasets,
                                .item = calloc(w->n + 1, sizeof(*y.item)),
                                .some = calloc(w->n + 1, sizeof(*y.some)),
                                .own = calloc(2u * w->n_datasets + 1u, sizeof(*y.own)),
                                .residual = calloc(w->n + 1, sizeof(*y.residual))};
    double low, high;
    ft_status st = y.item && y.some && y.own && y.residual
                       ? FT_OK
                       : ft_fail(err, FT_ENOMEM, 0, "%zu networks", w->n);

    *n = 0;
    if (!st)
        find_items(&y, f, hidden);
    if (!st && y.n_architectures >= FT__LEAST_ARCHITECTURES) {
        *n = (uint32_t)y.n;
        st = find_range(&low, &high, &y, err);
        if (!st)
            learn(&y, UINT32_MAX);
        for (uint32_t s = 0; s < y.n_sets && !st; s++)
            st = add_set(f, &y, s, low, high, err);
    }
    free(y.item);
    free(y.some);
    free(y.own);
    free(y.residual);
    return st;
}

static bool may_be(const char *asked, const char *known)
{
    return !asked || strcmp(asked, known) == 0;
}

static double likeness(const ft__alone *a, const ft__device_use *on)
{
    return 1000.0 * (on->engine_version && !strcmp(on->engine_version, a->version)) +
           100.0 * ft__pairs_in_common(on->setting, a->setting) +
           log10(1 + (double)a->n);
}

const ft__alone *ft__alone_find(const ft__family *f, const ft__device_use *on,
                                const ft_graph *g)
{
    const char *device = on->device ? ft_device_get(on->device)->name : on->name;
    const ft__dataset asked = {.device = (char *)device};
    const char *phase = phase_of(ft_name(FT_NAMES_PHASE, ft__graph_phase(g)));
    const ft__alone *best = NULL;

    if (!device || is_measured(f, &asked))
        return NULL;
    for (uint32_t i = 0; i < f->n_alone; i++) {
        const ft__alone *a = &f->alone[i];

        if (strcmp(a->device, device) == 0 && strcmp(a->phase, phase) == 0 &&
            a->bits == bits_of(g) && may_be(on->policy, a->policy) &&
            may_be(on->engine, a->engine) &&
            (!best || likeness(a, on) > likeness(best, on)))
            best = a;
    }
    return best;
}

static ft_status take(ft__network_estimate *out, ft__op_task *task, uint32_t i,
                      const ft__alone *a, const ft__device_use *on, const ft_graph *g,
                      const ft__log_residual *residual, ft_error *err)
{
    const bool rescaled = ft__setting_differs(on->setting, a->setting);
    enum category category;
    double t;
    ft_status st = price(&t, &category, &g->op[i], ft_device_get(on->device),
                         on->setting, on->policy, err);

    if (st)
        return st;
    t *= exp(a->weights.level + a->weights.weight[category]);
    *task = (ft__op_task){.count = (double)g->op_count[i],
                          .alone_s = t,
                          .bare_s = t,
                          .power_w = out->op_power[i].value};
    out->op_device[i] = out->op_time[i] =
        (ft_estimate){t, t * exp(residual->time_low), t * exp(residual->time_high),
                      rescaled ? FT_BASIS_SCALED : FT_BASIS_LEARNED, ""};
    if (out->op_power[i].value > 0)
        ft__estimate_op_energy(out, i);
    return FT_OK;
}

ft_status ft__alone_apply(ft__network_estimate *out, const ft__alone *a,
                          const ft__device_use *on, const ft_graph *g, ft_error *err)
{
    ft__log_residual residual = {.time_low = a->low,
                                 .time_high = a->high,
                                 .energy_low = -hypot(a->low, 0.35),
                                 .energy_high = hypot(a->high, 0.35),
                                 .power_low = -0.35,
                                 .power_high = 0.35};
    const ft__schedule s = ft__schedule_plain();
    ft__op_task *task = calloc(out->n_ops + 1u, sizeof(*task));
    ft_status st =
        task ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%u operations", out->n_ops);

    if (ft__setting_differs(on->setting, a->setting)) {
        residual.time_low = -hypot(a->low, FT__RESCALING_ERROR);
        residual.time_high = hypot(a->high, FT__RESCALING_ERROR);
    }
    for (uint32_t i = 0; i < out->n_ops && !st; i++)
        st = take(out, &task[i], i, a, on, g, &residual, err);
    if (!st)
        st = ft__estimate_assemble(out, g, task, &s, INFINITY, 0, &residual, err);
    free(task);
    if (st)
        return st;
    ft__estimate_why_no_power(out, ft_device_get(on->device));
    ft__estimate_count(out);
    out->n_networks = a->n;
    return FT_OK;
}
