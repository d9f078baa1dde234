/* How well the predictor that users get answers for operations that were held out: hide
 * rows, train on the rest, ask for them as users do, score. */
#include "foretell/evaluate.h"
#include "foretell/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/prng.h"
#include "base/stats.h"
#include "evaluate/ask.h"
#include "evaluate/hold_out.h"
#include "evaluate/listed_networks.h"
#include "foretell/choose.h"
#include "graph/op_inside.h"
#include "learn/learn_inside.h"
#include "predict/file/predictor.h"
#include "predict/model/calibration_set.h"
#include "predict/model/family.h"

/* A split of the protocol STORES. */
static const char devices_not_known[] = "test, devices not learned from";

struct operations_evaluation {
    const ft_evaluate_options *opt;
    ft__samples s; /* what is tested: operations; CLOCKS: what was measured whole */
    ft__samples workloads; /* to learn from, too; none where they are tested */
    bool *top;             /* CLOCKS: per row, at the highest clocks of its workload */
    ft__metric metric;
    ft__family_options how;
    size_t n;       /* samples with a value of the metric */
    size_t n_train; /* STORES: rows of the first store */
    /* Without networks each row is tested in one split at most, and learned from in the
     * others. Networks overlap: a list of hashes each. */
    ft__splits split;
    const char **chip;            /* DEVICE only: of each split */
    ft__listed_networks networks; /* NETWORK only */
    double part;                  /* of the rows that are learned from */
    uint32_t *train, *test;
    uint32_t *known; /* measured on the device left out, to correct answers by */
    ft__op_answer *answer;
};

static bool is_measured(const struct operations_evaluation *e, size_t i)
{
    return e->s.v[i].value[e->metric] > 0;
}

/* What is never on both sides: equal operations, or all batches of a layer; kernels and
 * networks of one name. */
static uint64_t group_of(const ft__sample *v, bool layers)
{
    const char *name = v->whole ? strstr(v->whole->spec, "name=") : NULL;

    if (name)
        return ft__checksum(name, strcspn(name, " "));
    return layers ? ft__op_layer_hash(&v->op) : v->hash;
}

static ft_status split_folds(struct operations_evaluation *e, ft_error *err)
{
    uint32_t n = e->opt->n_folds ? e->opt->n_folds : e->top ? 10 : 5, index;
    uint64_t *group = malloc((e->s.n + 1) * sizeof(*group));
    ft_status st;
    char name[32];

    if (!group)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    for (size_t i = 0; i < e->s.n; i++)
        group[i] = group_of(&e->s.v[i], e->opt->protocol == FT_PROTOCOL_LAYER);
    st = ft__folds_make(e->split.of, group, e->s.n, n, e->opt->seed, err);
    free(group);
    for (uint32_t i = 0; i < n && !st; i++) {
        snprintf(name, sizeof(name), "fold %u", i + 1);
        st = ft__splits_add(&index, &e->split, name, err);
    }
    return st;
}

/* A share of the operations to learn from; the others are tested. */
static ft_status split_share(struct operations_evaluation *e, ft_error *err)
{
    uint32_t index;
    ft_status st;

    if (!(e->opt->share > 0 && e->opt->share < 1))
        return ft_fail(err, FT_EINVAL, 0, "the share to learn from is between 0 and 1");
    st = ft__splits_add(&index, &e->split, "the rest", err);
    for (size_t i = 0; i < e->s.n && !st; i++) {
        ft__prng p = ft__prng_stream(e->opt->seed, e->s.v[i].hash);

        e->split.of[i] = ft__prng_unit(&p) < e->opt->share ? FT__NOT_TESTED : index;
    }
    return st;
}

static const char *left_out_name(const struct operations_evaluation *e,
                                 const ft__sample *v)
{
    switch (e->opt->protocol) {
    case FT_PROTOCOL_DEVICE: return e->s.dataset[v->dataset].device;
    case FT_PROTOCOL_KIND: return ft_kind_name(v->op.kind);
    default: return e->s.dataset[v->dataset].setting;
    }
}

/* Is the name the one that is asked for, or a variant of a product, "h200-sxm" of
 * "h200", where no name is? */
static bool is_only(const struct operations_evaluation *e, const char *name,
                    bool variants)
{
    const char *only = e->opt->only;
    size_t len = only ? strlen(only) : 0;

    return !only || strcmp(only, name) == 0 ||
           (variants && strncmp(only, name, len) == 0 && name[len] == '-');
}

static ft_status split_by_name(struct operations_evaluation *e, ft_error *err)
{
    bool variants = e->opt->protocol == FT_PROTOCOL_DEVICE;
    ft_status st = FT_OK;

    for (size_t i = 0; i < e->s.n && e->opt->only; i++)
        variants = variants && strcmp(e->opt->only, left_out_name(e, &e->s.v[i])) != 0;
    for (size_t i = 0; i < e->s.n && !st; i++) {
        const char *name = left_out_name(e, &e->s.v[i]);

        e->split.of[i] = FT__NOT_TESTED;
        if (is_only(e, name, variants))
            st = ft__splits_add(&e->split.of[i], &e->split, name, err);
    }
    return st;
}

static ft_status split_devices(struct operations_evaluation *e, ft_error *err)
{
    ft_status st = split_by_name(e, err);

    if (st)
        return st;
    e->chip = calloc(e->split.n + 1u, sizeof(*e->chip));
    if (!e->chip)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    for (size_t i = 0; i < e->s.n; i++)
        if (e->split.of[i] != FT__NOT_TESTED)
            e->chip[e->split.of[i]] =
                ft__dataset_chip(&e->s.dataset[e->s.v[i].dataset]);
    return FT_OK;
}

/* Is any row of the first store of the same device? */
static bool is_learned_from(const struct operations_evaluation *e, uint32_t dataset)
{
    const char *device = e->s.dataset[dataset].device;

    for (size_t i = 0; i < e->n_train; i++)
        if (strcmp(e->s.dataset[e->s.v[i].dataset].device, device) == 0)
            return true;
    return false;
}

/* Devices that are only in the second store are as good as left out: tested apart. */
static ft_status split_stores(struct operations_evaluation *e, ft_error *err)
{
    bool *known = calloc(e->s.n_datasets + 1u, sizeof(*known));
    uint32_t index;
    ft_status st = FT_OK;

    if (!known)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    for (uint32_t i = 0; i < e->s.n_datasets; i++)
        known[i] = is_learned_from(e, i);
    for (int pass = 1; pass >= 0; pass--)
        for (size_t i = 0; i < e->s.n && !st; i++) {
            if (i < e->n_train)
                e->split.of[i] = FT__NOT_TESTED;
            else if (known[e->s.v[i].dataset] == (pass == 1)) {
                st = ft__splits_add(&index, &e->split,
                                    pass ? "test" : devices_not_known, err);
                e->split.of[i] = index;
            }
        }
    free(known);
    return st;
}

static ft_status split_networks(struct operations_evaluation *e, ft_store *store,
                                ft_error *err)
{
    ft_status st = ft__listed_networks_read(&e->networks, store, e->opt->only, err);
    uint32_t index;

    for (uint32_t i = 0; i < e->networks.n && !st; i++)
        st = ft__splits_add(&index, &e->split, e->networks.v[i].name, err);
    return st;
}

static ft_status make_splits(struct operations_evaluation *e, ft_store *store,
                             ft_error *err)
{
    ft_status st = ft__splits_make(&e->split, e->s.n, err);

    if (st)
        return st;
    switch (e->opt->protocol) {
    case FT_PROTOCOL_FOLDS:
    case FT_PROTOCOL_LAYER:
    case FT_PROTOCOL_CLOCKS: st = split_folds(e, err); break;
    case FT_PROTOCOL_SHARE: st = split_share(e, err); break;
    case FT_PROTOCOL_NETWORK: st = split_networks(e, store, err); break;
    case FT_PROTOCOL_STORES: st = split_stores(e, err); break;
    case FT_PROTOCOL_DEVICE: st = split_devices(e, err); break;
    default: st = split_by_name(e, err); break;
    }
    if (!st && e->split.n == 0)
        st = ft_fail(err, FT_ENOTFOUND, 0, "nothing to leave out: no %s%s%s",
                     ft_name(FT_NAMES_PROTOCOL, e->opt->protocol),
                     e->opt->only ? " is " : "", e->opt->only ? e->opt->only : "");
    return st;
}

static bool is_chip_of(const struct operations_evaluation *e, const ft__samples *s,
                       size_t i, uint32_t split)
{
    return e->chip &&
           strcmp(ft__dataset_chip(&s->dataset[s->v[i].dataset]), e->chip[split]) == 0;
}

/* With a device every device of its chip leaves training. */
static bool is_sibling(const struct operations_evaluation *e, size_t i, uint32_t split)
{
    return !e->opt->siblings && is_chip_of(e, &e->s, i, split);
}

static bool is_hidden(const struct operations_evaluation *e, size_t i, uint32_t split)
{
    if (e->opt->protocol == FT_PROTOCOL_NETWORK)
        return ft__network_has(&e->networks.v[split], e->s.v[i].hash);
    return e->split.of[i] == split && !(e->top && e->top[i]);
}

/* The second store is never learned from, whichever split of it is tested. */
static bool is_later_store(const struct operations_evaluation *e, size_t i)
{
    return e->opt->protocol == FT_PROTOCOL_STORES && i >= e->n_train;
}

/* Is the row among the first `part` of the operations, in an order that the seed
 * decides? Larger parts hold the smaller ones. */
static bool is_early(const struct operations_evaluation *e, size_t i, double part)
{
    ft__prng p = ft__prng_stream(e->opt->seed ^ 0x5eed, e->s.v[i].hash);

    return ft__prng_unit(&p) < part;
}

static double place_of(const struct operations_evaluation *e, uint32_t sample)
{
    ft__prng p = ft__prng_stream(e->opt->seed ^ 0xc0ffee, e->s.v[sample].hash);

    return ft__prng_unit(&p);
}

/* Places of so many tested rows in an order in which any of them may come first. */
static ft_status draw(bool *known, const struct operations_evaluation *e, size_t n,
                      size_t want, ft_error *err)
{
    double *place = malloc(n * sizeof(*place)), last;

    if (!place)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    for (size_t i = 0; i < n; i++)
        place[i] = place_of(e, e->test[i]);
    ft__sort(place, n);
    last = place[want - 1];
    free(place);
    for (size_t i = 0; i < n; i++)
        known[i] = place_of(e, e->test[i]) <= last;
    return FT_OK;
}

/* Those of the operations that are chosen of all: half of them and of the rows at most.
 */
static ft_status choose(bool *known, const struct operations_evaluation *e, size_t n,
                        size_t want, ft_error *err)
{
    ft_op *op = calloc(n + 1, sizeof(*op));
    uint32_t *chosen = calloc(want + 1, sizeof(*chosen)), n_ops = 0, n_chosen = 0;
    size_t *rows = calloc(n + 1, sizeof(*rows)), left = n / 2;
    ft__index of = {0}; /* by hash: the number in op, then -1 of those known */
    ft_status st =
        op && chosen && rows ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "evaluation");

    for (size_t i = 0; i < n && !st; i++) {
        const ft__sample *v = &e->s.v[e->test[i]];
        ft__index_slot *at = ft__index_at(&of, v->hash, NULL);

        if (!at) {
            st = ft_fail(err, FT_ENOMEM, 0, "evaluation");
            break;
        }
        if (!at->hash) {
            *at = (ft__index_slot){v->hash, NULL, n_ops};
            of.n++;
            op[n_ops++] = v->op;
        }
        rows[at->number]++;
    }
    want = want < n_ops / 2 ? want : n_ops / 2;
    if (!st)
        st = ft_choose_few(chosen, &n_chosen, op, n_ops, (uint32_t)want, err);
    for (uint32_t k = 0; k < n_chosen; k++)
        if (rows[chosen[k]] <= left) {
            left -= rows[chosen[k]];
            ft__index_at(&of, ft__op_hash(&op[chosen[k]]), NULL)->number = -1;
        }
    for (size_t i = 0; i < n && !st; i++)
        known[i] = ft__index_find(&of, e->s.v[e->test[i]].hash, NULL)->number < 0;
    ft__index_free(&of);
    free(op);
    free(rows);
    free(chosen);
    return st;
}

/* Of n tested rows as many as answers are corrected by, and all that are equal to one
 * of them, half of them at most, go to e->known; how many. */
static ft_status take_known(struct operations_evaluation *e, size_t *n, size_t *n_known,
                            ft_error *err)
{
    size_t want = e->opt->correct < *n / 2 ? e->opt->correct : *n / 2, left = 0;
    bool *known;
    ft_status st;

    *n_known = 0;
    if (want == 0)
        return FT_OK;
    known = calloc(*n, sizeof(*known));
    if (!known)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    st = (e->opt->chosen ? choose : draw)(known, e, *n, want, err);
    for (size_t i = 0; i < *n && !st; i++)
        if (known[i])
            e->known[(*n_known)++] = e->test[i];
        else
            e->test[left++] = e->test[i];
    if (!st)
        *n = left;
    free(known);
    return st;
}

/* What was measured whole, on devices of other chips than those left out. */
static ft_status take_workloads(ft__samples *out, const struct operations_evaluation *e,
                                uint32_t split, ft_error *err)
{
    uint32_t *row = calloc(e->workloads.n + 1, sizeof(*row));
    size_t n = 0;
    ft_status st;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    for (size_t i = 0; i < e->workloads.n; i++) {
        const char *device = e->workloads.dataset[e->workloads.v[i].dataset].device;
        bool gone = e->opt->siblings ? strcmp(device, e->split.name[split]) == 0
                                     : is_chip_of(e, &e->workloads, i, split);

        if (!gone)
            row[n++] = (uint32_t)i;
    }
    st = ft__samples_subset(out, &e->workloads, row, n, err);
    free(row);
    return st;
}

/* From e->train[n_train]. Where these were measured whole, operations have no part in
 * what is asked. */
static ft_status train(ft_predictor **out, struct operations_evaluation *e,
                       uint32_t split, size_t n_train, ft_error *err)
{
    const ft__samples none = {0};
    ft__samples workloads = {0};
    ft_status st = e->top
                       ? ft__samples_subset(&workloads, &e->s, e->train, n_train, err)
                       : take_workloads(&workloads, e, split, err);

    e->how.workloads = &workloads;
    if (!st)
        st = ft__family_of_rows(out, e->top ? &none : &e->s, e->train,
                                e->top ? 0 : n_train, &e->how, err);
    e->how.workloads = NULL;
    ft__samples_free(&workloads);
    return st;
}

/* Answers for e->test[n_test] by a predictor made of e->train[n_train]. */
static ft_status train_and_ask(struct operations_evaluation *e, ft__test_results *out,
                               uint32_t split, size_t n_train, size_t n_known,
                               size_t n_test, ft_error *err)
{
    ft_predictor *p;
    ft__calibration_set known = {0};
    ft_status st;

    st = ft__evaluate_needs(&e->how, &e->s, e->train, n_train, e->test, n_test, err);
    if (!st)
        st = train(&p, e, split, n_train, err);
    if (st)
        return st;
    if (n_known)
        st = ft__samples_subset(&known.s, &e->s, e->known, n_known, err);
    if (!st)
        st = ft__evaluate_query(e->answer, p, n_known ? &known : NULL, e->metric, &e->s,
                                e->test, n_test, out->unanswered, err);
    ft__results_choices(out, p->family, e->metric);
    ft__samples_free(&known.s);
    ft_predictor_free(p);
    return st;
}

static void describe(ft__tested *t, const struct operations_evaluation *e, uint32_t row)
{
    const ft__sample *v = &e->s.v[row];
    const ft__dataset *d = &e->s.dataset[v->dataset];
    uint32_t device = 0;

    while (strcmp(e->s.dataset[device].device, d->device) != 0)
        device++;
    *t = (ft__tested){.on = d,
                      .op = v->whole ? NULL : &v->op,
                      .spec = v->whole ? v->whole->spec : NULL,
                      .phase = ft_name(FT_NAMES_PHASE, v->op.phase),
                      .kind = ft_kind_name(v->op.kind),
                      .kind_order = (uint32_t)v->op.kind,
                      .device_order = device,
                      .hash = v->hash,
                      .truth = v->value[e->metric]};
}

static ft_status add_results(ft__test_results *out,
                             const struct operations_evaluation *e, size_t n,
                             uint32_t split, ft_error *err)
{
    ft__tested *tested = calloc(n + 1, sizeof(*tested));
    ft_status st;

    if (!tested)
        return ft_fail(err, FT_ENOMEM, 0, "results");
    for (size_t i = 0; i < n; i++)
        describe(&tested[i], e, e->test[i]);
    st = ft__results_add(out, tested, e->answer, n, split, err);
    free(tested);
    return st;
}

static ft_status run_split(void *user, ft__test_results *out, uint32_t split,
                           ft_error *err)
{
    struct operations_evaluation *e = user;
    size_t n_train = 0, n_test = 0, n_known;
    ft_status st;

    for (size_t i = 0; i < e->s.n; i++)
        if (is_hidden(e, i, split) && is_measured(e, i))
            e->test[n_test++] = (uint32_t)i;
        else if (!is_hidden(e, i, split) && !is_sibling(e, i, split) &&
                 (e->part >= 1 || is_early(e, i, e->part)) && !is_later_store(e, i))
            e->train[n_train++] = (uint32_t)i;
    if (n_test == 0)
        return FT_OK;
    st = take_known(e, &n_test, &n_known, err);
    if (!st)
        st = train_and_ask(e, out, split, n_train, n_known, n_test, err);
    if (!st)
        st = add_results(out, e, n_test, split, err);
    out->n_learned += (double)n_train;
    out->n_splits++;
    return st;
}

/* Equal steps on a logarithmic scale up to all the training rows. */
static ft_status run_curve(struct operations_evaluation *e, ft_evaluation *out,
                           ft_error *err)
{
    const double least = 0.02;
    ft_evaluate_options errors = *e->opt; /* and nothing else */
    uint32_t steps = e->opt->curve_steps;
    ft_status st = FT_OK;

    out->curve = calloc(steps + 1u, sizeof(*out->curve));
    if (!out->curve)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    errors.row = NULL;
    errors.choices = FT_CHOICES_NONE;
    for (uint32_t i = 0; i < steps && !st; i++) {
        ft_evaluation at = {0};

        e->part = steps > 1 ? pow(least, 1 - (double)i / (double)(steps - 1)) : 1;
        st = ft__splits_evaluate(&at, &e->split, run_split, e, e->metric, &errors, err);
        if (!st)
            out->curve[out->n_curve++] =
                (ft_curve_point){.rows = at.n_learned, .learned = at.all.learned};
        ft_evaluation_free(&at);
        /* Too few rows to learn from: the curve begins later. */
        if (st == FT_ENOTFOUND)
            st = FT_OK;
    }
    return st;
}

static ft_status find_top(struct operations_evaluation *e, ft_error *err)
{
    e->top = calloc(e->s.n + 1, sizeof(*e->top));
    return e->top ? ft__clocked_top(e->top, &e->s, err)
                  : ft_fail(err, FT_ENOMEM, 0, "%zu rows", e->s.n);
}

static ft_status read_samples(struct operations_evaluation *e, ft_store *store,
                              ft_store *test, ft_error *err)
{
    const bool clocks = e->opt->protocol == FT_PROTOCOL_CLOCKS;
    ft_status st =
        clocks ? ft__samples_read_workloads(&e->s, store, NULL, e->opt->where, err)
               : ft__samples_read(&e->s, store, NULL, e->opt->where, err);

    if (!st && !clocks)
        st = ft__samples_read_workloads(&e->workloads, store, NULL, e->opt->where, err);
    if (!st)
        st = ft__samples_know(&e->workloads, e->opt->data_dir, err);
    e->n_train = e->s.n;
    if (!st && test)
        st = ft__samples_read(&e->s, test, NULL, e->opt->where, err);
    if (!st)
        st = ft__samples_know(&e->s, e->opt->data_dir, err);
    if (st)
        return st;
    e->train = calloc(e->s.n + 1, sizeof(*e->train));
    e->test = calloc(e->s.n + 1, sizeof(*e->test));
    e->known = calloc(e->s.n + 1, sizeof(*e->known));
    e->answer = calloc(e->s.n + 1, sizeof(*e->answer));
    if (!e->train || !e->test || !e->known || !e->answer)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", e->s.n);
    for (size_t i = 0; i < e->s.n; i++)
        e->n += is_measured(e, i);
    if (e->n == 0)
        return ft_fail(err, FT_ENOTFOUND, 0, "the store holds no %s of %s that fit",
                       ft__metric_name(e->metric),
                       clocks ? "kernels and networks at clocks" : "operations");
    return clocks ? find_top(e, err) : FT_OK;
}

static ft_status start(struct operations_evaluation *e, const ft_evaluate_options *opt,
                       const ft_store *test, ft_error *err)
{
    const char *metric = opt->metric ? opt->metric : "time";

    *e = (struct operations_evaluation){
        .opt = opt, .part = 1, .metric = ft__metric_from_name(metric)};
    e->how = (ft__family_options){.learn = {.fit = {.methods = opt->methods,
                                                    .mix = opt->mix,
                                                    .seed = opt->seed,
                                                    .threads = opt->threads},
                                            .single = opt->single != 0},
                                  .most_bytes = opt->most_bytes,
                                  .metrics = 1u << FT__METRIC_TIME |
                                             (e->metric == FT__METRIC_ENERGY
                                                  ? 1u << FT__METRIC_POWER
                                                  : 1u << e->metric)};
    if (e->metric == FT__N_METRICS)
        return ft_fail(err, FT_EINVAL, 0, "no metric is called \"%s\"", metric);
    if (opt->correct &&
        (opt->protocol != FT_PROTOCOL_DEVICE || e->metric > FT__METRIC_POWER))
        return ft_fail(
            err, FT_EINVAL, 0,
            "times and power of devices left out can be corrected, nothing else");
    if (opt->networks && opt->protocol != FT_PROTOCOL_NETWORK &&
        opt->protocol != FT_PROTOCOL_DEVICE &&
        opt->protocol != FT_PROTOCOL_ARCHITECTURE)
        return ft_fail(err, FT_EINVAL, 0,
                       "networks are left out by network, device or family");
    if (!opt->kernels && opt->protocol == FT_PROTOCOL_KERNEL)
        return ft_fail(err, FT_EINVAL, 0,
                       "kernels in PTX alone are left out by kernel");
    if (!opt->networks && opt->protocol == FT_PROTOCOL_ARCHITECTURE)
        return ft_fail(err, FT_EINVAL, 0, "--leave-out family is for --networks");
    if ((opt->protocol == FT_PROTOCOL_STORES) != (test != NULL))
        return ft_fail(err, FT_EINVAL, 0,
                       "a second store is what the protocol %s tests",
                       ft_name(FT_NAMES_PROTOCOL, FT_PROTOCOL_STORES));
    return FT_OK;
}

static void finish(struct operations_evaluation *e)
{
    ft__samples_free(&e->s);
    ft__samples_free(&e->workloads);
    free(e->top);
    ft__listed_networks_free(&e->networks);
    ft__splits_free(&e->split);
    free(e->chip);
    free(e->train);
    free(e->test);
    free(e->known);
    free(e->answer);
}

ft_status ft_evaluate(ft_evaluation *out, ft_store *store, ft_store *test,
                      const ft_evaluate_options *opt, ft_error *err)
{
    struct operations_evaluation e;
    ft_status st = start(&e, opt, test, err);

    *out = (ft_evaluation){0};
    if (!st && (opt->networks || opt->kernels)) {
        st = opt->kernels
                 ? ft__evaluate_kernels(out, opt, err)
                 : ft__evaluate_networks(out, store, opt, &e.how, e.metric, err);
        if (st)
            ft_evaluation_free(out);
        return st;
    }
    if (!st)
        st = read_samples(&e, store, test, err);
    if (!st)
        st = make_splits(&e, store, err);
    if (!st)
        st = ft__splits_evaluate(out, &e.split, run_split, &e, e.metric, opt, err);
    if (!st && opt->curve_steps)
        st = run_curve(&e, out, err);
    out->n_rows = e.n;
    out->n_datasets = e.s.n_datasets;
    finish(&e);
    if (st)
        ft_evaluation_free(out);
    return st;
}

void ft_evaluation_free(ft_evaluation *e)
{
    for (int b = 0; b < FT_BY_COUNT; b++)
        free(e->by[b]);
    free(e->curve);
    *e = (ft_evaluation){0};
}
