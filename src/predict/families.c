/* How well networks foretell networks of families that are not among them. */
#include "predict/families.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/solve.h"
#include "base/stats.h"
#include "predict/mixture.h"
#include "predict/sorts.h"
#include "predict/whole.h"

static_assert((int)FT__N_SORTS == (int)FT__MIXTURE_PARTS, "a part for every sort");

/* Parts of the other families that intervals are learned from, each without itself. */
enum { FOLDS = 4 };
/* Rows' worth: of the weights that all datasets have in common, at what specifications
 * say; of those of one dataset, at the common ones. */
static const double pull_common = 0.3;
static const double pull_own = 1;
/* Fewer rows of a dataset say nothing of their own. */
enum { LEAST_ROWS = 8 };
enum { TOTALS = 3 }; /* a constant, FLOPs, bytes */

/* A network that was measured, with its operations. */
struct item {
    const ft__whole *whole;
    uint32_t family; /* index of the first item of that family */
    uint32_t fold;   /* of its family, to learn intervals */
    uint32_t dataset;
    const char *name; /* of the family */
    double total[TOTALS];
    double launches;
    double part[FT__MIXTURE_PARTS];
};

struct study {
    ft__wholes w;
    ft_device **device; /* of every dataset */
    uint32_t n_sets;    /* datasets x 2: forward, and with its backward pass */
    struct item *item;
    size_t n;
    ft__mixed *some; /* scratch */
    ft__mixture *own;
    double *stray;
};

/* ---- what a network consists of ---- */

static bool is_forward(const ft__whole *w)
{
    return strcmp(w->phase, ft_phase_name(FT_PHASE_FORWARD)) == 0;
}

static ft_status add_operation(struct item *it, const ft_op *op, double count,
                               const struct study *y, ft_error *err)
{
    const ft__dataset *d = &y->w.dataset[it->whole->dataset];
    const ft_device_facts *facts = ft_device_get(y->device[it->whole->dataset]);
    const ft__theta theta = ft__physics_default();
    ft_op form = *op;
    ft__chip chip;
    ft_cost cost;
    ft__sort_of sort;
    double t;

    if (ft_kind_class(op->kind) == FT_CLASS_VIEW)
        return FT_OK;
    if (!is_forward(it->whole))
        form.phase = FT_PHASE_FORWARD_BACKWARD;
    ft__chip_make(&chip, facts, d->setting, d->policy, &form);
    chip.renews = 1;
    sort = ft__sort_price(&t, &form, &chip, &theta);
    if (!isfinite(t))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s: its file lacks what an estimate needs; see \"foretell "
                       "devices %s\"",
                       d->device, d->device);
    ft_op_cost(op, &cost);
    it->part[sort] += count * t;
    it->total[1] += count * cost.flops;
    it->total[2] += count * (cost.bytes_read + cost.bytes_written);
    it->launches += count;
    return FT_OK;
}

static double batch_of(const char *spec)
{
    const char *x = strstr(spec, " x=");

    return x ? (double)strtoll(x + 3, NULL, 10) : NAN;
}

/* Everything is proportional to the batch, which fills the device. */
static ft_status fill(struct item *it, const ft_network_list *list,
                      const struct study *y, ft_error *err)
{
    double times = batch_of(it->whole->spec) / list->batch;
    ft_status st = FT_OK;

    it->name = list->family;
    it->total[0] = 1;
    for (size_t i = 0; i < list->n && !st; i++)
        st = add_operation(it, &list->op[i], list->count[i], y, err);
    for (int i = 0; i < FT__MIXTURE_PARTS; i++)
        it->part[i] = it->part[i] * times + 1e-15;
    for (int i = 1; i < TOTALS; i++)
        it->total[i] = log(it->total[i] * times);
    return st;
}

/* ---- learning ---- */

/* Items of a dataset (UINT32_MAX: of all) that are neither of a family nor of a fold.
 */
static size_t gather(ft__mixed *out, const struct study *y, uint32_t set,
                     uint32_t family, uint32_t fold)
{
    size_t n = 0;

    for (size_t i = 0; i < y->n; i++) {
        const struct item *it = &y->item[i];

        if (it->family != family && it->fold != fold &&
            (set == UINT32_MAX || it->dataset == set))
            out[n++] = (ft__mixed){it->part, it->whole->time_s};
    }
    return n;
}

static void learn(const struct study *y, uint32_t family, uint32_t fold)
{
    ft__mixture common = {{0}, 0};
    size_t n = gather(y->some, y, UINT32_MAX, family, fold);

    ft__mixture_fit(&common, y->some, n, pull_common, 0);
    for (uint32_t s = 0; s < y->n_sets; s++) {
        y->own[s] = common;
        n = gather(y->some, y, s, family, fold);
        if (n >= LEAST_ROWS)
            ft__mixture_fit(&y->own[s], y->some, n, pull_own, 1);
    }
}

static double estimate(const struct study *y, const struct item *it)
{
    return ft__mixture_estimate(&y->own[it->dataset], it->part);
}

/* The baseline: log time as a linear function of totals, by least squares. */
static double by_totals(const struct study *y, const struct item *asked)
{
    double a[TOTALS * TOTALS] = {0}, b[TOTALS] = {0}, sum = 0;

    for (size_t k = 0; k < y->n; k++) {
        const struct item *it = &y->item[k];

        if (it->family == asked->family || it->dataset != asked->dataset)
            continue;
        for (int i = 0; i < TOTALS; i++) {
            b[i] += it->total[i] * log(it->whole->time_s);
            for (int j = 0; j <= i; j++)
                a[i * TOTALS + j] += it->total[i] * it->total[j];
        }
    }
    for (int i = 0; i < TOTALS; i++)
        a[i * TOTALS + i] += 1e-6;
    ft__solve(a, b, TOTALS);
    for (int i = 0; i < TOTALS; i++)
        sum += b[i] * asked->total[i];
    return exp(sum);
}

/* Logarithms of truth over estimate, of families that neither the one left out nor
 * themselves taught anything. */
static size_t collect_strays(struct study *y, uint32_t family)
{
    size_t n = 0;

    for (uint32_t f = 0; f < FOLDS; f++) {
        learn(y, family, f);
        for (size_t i = 0; i < y->n; i++) {
            const struct item *it = &y->item[i];

            if (it->family != family && it->fold == f)
                y->stray[n++] = log(it->whole->time_s / estimate(y, it));
        }
    }
    return n;
}

static void answer(ft_network_case *c, const struct study *y, const struct item *it,
                   double low, double high)
{
    const ft__dataset *d = &y->w.dataset[it->whole->dataset];
    double t = estimate(y, it);

    *c = (ft_network_case){.device = d->device,
                           .setting = d->setting,
                           .policy = d->policy,
                           .spec = it->whole->spec,
                           .phase = it->whole->phase,
                           .family = it->name,
                           .time_s = it->whole->time_s,
                           .energy_j = NAN,
                           .sum_s = by_totals(y, it),
                           .sum_j = NAN,
                           .host_share = NAN,
                           .bounded_share = NAN,
                           .launches = it->launches};
    c->time = (ft_estimate){t, t * exp(low), t * exp(high), FT_BASIS_LEARNED, ""};
    c->energy = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE, "no power is known"};
}

static ft_status answer_family(ft_networks *out, struct study *y, uint32_t family,
                               ft_error *err)
{
    size_t n = collect_strays(y, family);
    double low, high;
    ft_status st = ft_conformal(&low, &high, y->stray, n, 0.9, err);

    if (st)
        return st;
    learn(y, family, UINT32_MAX);
    for (size_t i = 0; i < y->n; i++)
        if (y->item[i].family == family)
            answer(&out->v[i], y, &y->item[i], low, high);
    return FT_OK;
}

/* ---- the whole study ---- */

static uint32_t family_of(const struct study *y, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(y->item[j].name, y->item[i].name) == 0)
            return (uint32_t)j;
    return (uint32_t)i;
}

static ft_status find_devices(struct study *y, const char *data_dir, ft_error *err)
{
    ft_status st = FT_OK;

    y->device = calloc(y->w.n_datasets + 1, sizeof(*y->device));
    if (!y->device)
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", y->w.n_datasets);
    for (uint32_t i = 0; i < y->w.n_datasets && !st; i++)
        st = ft_device_load(&y->device[i], data_dir, y->w.dataset[i].device, err);
    return st;
}

static ft_status find_items(struct study *y, const ft_networks_options *opt,
                            ft_error *err)
{
    uint32_t families = 0;
    ft_status st = FT_OK;

    for (size_t i = 0; i < y->w.n && !st; i++) {
        const ft__whole *w = &y->w.v[i];
        const ft_network_list *list = opt->find(opt->user, w->spec);
        struct item *it = &y->item[y->n];

        if (!(w->time_s > 0) || !(batch_of(w->spec) > 0) || !list)
            continue;
        *it = (struct item){.whole = w, .dataset = 2 * w->dataset + !is_forward(w)};
        st = fill(it, list, y, err);
        it->family = family_of(y, y->n);
        it->fold = it->family == y->n ? families++ % FOLDS : y->item[it->family].fold;
        y->n++;
    }
    return st;
}

static ft_status prepare(struct study *y, ft_store *store,
                         const ft_networks_options *opt, ft_error *err)
{
    ft_status st = ft__wholes_list(&y->w, store, opt->networks, err);
    size_t n = y->w.n + 1;

    if (!st)
        st = find_devices(y, opt->data_dir, err);
    if (st)
        return st;
    y->n_sets = 2 * y->w.n_datasets;
    y->item = calloc(n, sizeof(*y->item));
    y->some = calloc(n, sizeof(*y->some));
    y->stray = calloc(n, sizeof(*y->stray));
    y->own = calloc(y->n_sets + 1, sizeof(*y->own));
    if (!y->item || !y->some || !y->stray || !y->own)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", n);
    return find_items(y, opt, err);
}

static uint32_t count_families(const struct study *y)
{
    uint32_t n = 0;

    for (size_t i = 0; i < y->n; i++)
        n += y->item[i].family == i;
    return n;
}

static ft_status sum_up(ft_networks *out, ft_error *err)
{
    double *truth = calloc(4 * out->n + 1, sizeof(*truth)), *value, *total, *width;
    size_t covered = 0;
    ft_status st;

    if (!truth)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", out->n);
    value = truth + out->n;
    total = value + out->n;
    width = total + out->n;
    for (size_t i = 0; i < out->n; i++) {
        const ft_network_case *c = &out->v[i];

        truth[i] = c->time_s;
        value[i] = c->time.value;
        total[i] = c->sum_s;
        width[i] = c->time.high / c->time.low;
        covered += c->time_s >= c->time.low && c->time_s <= c->time.high;
    }
    out->covered = (double)covered / (double)out->n;
    out->width = ft__median(width, out->n);
    st = ft_errors_compute(&out->time, truth, value, out->n, 0, err);
    if (!st)
        st = ft_errors_compute(&out->sum_time, truth, total, out->n, 0, err);
    free(truth);
    return st;
}

static ft_status run(ft_networks *out, struct study *y, const ft_networks_options *opt,
                     ft_error *err)
{
    uint32_t families = count_families(y), done = 0;
    ft_status st = FT_OK;

    if (families <= FOLDS)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%u families of networks whose operations are listed: %d at "
                       "least are needed, to leave one out and learn from the others",
                       families, FOLDS + 1);
    out->v = calloc(y->n + 1, sizeof(*out->v));
    if (!out->v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", y->n);
    out->n = y->n;
    for (uint32_t i = 0; i < y->n && !st; i++) {
        if (y->item[i].family != i)
            continue;
        ft__progress(opt->log, done++, families, "families");
        st = answer_family(out, y, i, err);
    }
    return st ? st : sum_up(out, err);
}

void ft__families_free(void *memory)
{
    struct study *y = memory;

    for (uint32_t i = 0; y->device && i < y->w.n_datasets; i++)
        ft_device_free(y->device[i]);
    free(y->device);
    free(y->item);
    free(y->some);
    free(y->stray);
    free(y->own);
    ft__wholes_free(&y->w);
    free(y);
}

ft_status ft__families_evaluate(ft_networks *out, ft_store *store,
                                const ft_networks_options *opt, ft_error *err)
{
    struct study *y = calloc(1, sizeof(*y));
    ft_status st;

    if (!y)
        return ft_fail(err, FT_ENOMEM, 0, "networks");
    out->memory = y;
    out->left_out = FT_LEAVE_FAMILY;
    st = prepare(y, store, opt, err);
    return st ? st : run(out, y, opt, err);
}
