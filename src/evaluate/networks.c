/* How well the predictor that users get answers for networks that were held out: hide
 * networks and what was measured of their operations or devices, train on the rest, ask
 * for each network as users do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/index.h"
#include "base/stats.h"
#include "evaluate/hold_out.h"
#include "predict/file/predictor.h"

struct networks_evaluation {
    ft__arena room;
    const ft_evaluate_options *opt;
    ft__metric metric;
    ft__family_options how;
    ft__samples s;
    ft__network_samples w;
    ft__splits split; /* of networks */
    double *physics;  /* of every network: predicted by specifications; NaN */
    bool *hidden;     /* of every network */
    uint32_t *row;    /* to learn from */
    ft__tested *tested;
    ft__op_answer *answer;
};

static const ft__dataset *ran_on(const struct networks_evaluation *e, size_t i)
{
    return &e->w.dataset[e->w.v[i].dataset];
}

static const char *left_out_name(const struct networks_evaluation *e, size_t i)
{
    switch (e->opt->protocol) {
    case FT_PROTOCOL_DEVICE: return ran_on(e, i)->device;
    case FT_PROTOCOL_ARCHITECTURE: return e->w.v[i].architecture;
    default: return e->w.v[i].name;
    }
}

static ft_status make_splits(struct networks_evaluation *e, ft_error *err)
{
    ft_status st = ft__splits_make(&e->split, e->w.n, err);

    for (size_t i = 0; i < e->w.n && !st; i++) {
        const char *name = left_out_name(e, i);

        if (e->w.v[i].value[e->metric] > 0 &&
            !(e->opt->only && strcmp(e->opt->only, name) != 0))
            st = ft__splits_add(&e->split.of[i], &e->split, name, err);
    }
    return st;
}

/* Whether network i says something of what is asked in this split: it leaves training.
 */
static bool goes_with(const struct networks_evaluation *e, size_t i, uint32_t split)
{
    if (e->opt->protocol != FT_PROTOCOL_DEVICE)
        return ft__split_is(&e->split, split, left_out_name(e, i));
    for (size_t k = 0; k < e->w.n; k++)
        if (e->split.of[k] == split)
            return e->opt->siblings
                       ? strcmp(ran_on(e, i)->device, ran_on(e, k)->device) == 0
                       : strcmp(ft__dataset_chip(ran_on(e, i)),
                                ft__dataset_chip(ran_on(e, k))) == 0;
    return false;
}

static bool is_hidden_part(const struct networks_evaluation *e, size_t row)
{
    const uint64_t key = ft__op_key(&e->s.v[row].op);

    for (size_t i = 0; i < e->w.n; i++)
        if (e->hidden[i] && e->w.v[i].n_regressors &&
            bsearch(&key, e->w.v[i].part, e->w.v[i].n_regressors, sizeof(key),
                    ft__by_number))
            return true;
    return false;
}

static bool is_hidden_device(const struct networks_evaluation *e, size_t row)
{
    const ft__dataset *d = &e->s.dataset[e->s.v[row].dataset];

    for (size_t i = 0; i < e->w.n; i++)
        if (e->hidden[i] &&
            strcmp(e->opt->siblings ? d->device : ft__dataset_chip(d),
                   e->opt->siblings ? ran_on(e, i)->device
                                    : ft__dataset_chip(ran_on(e, i))) == 0)
            return true;
    return false;
}

static size_t choose_rows(struct networks_evaluation *e)
{
    const bool devices = e->opt->protocol == FT_PROTOCOL_DEVICE;
    size_t n = 0;

    for (size_t i = 0; i < e->s.n; i++)
        if (!(devices ? is_hidden_device(e, i) : is_hidden_part(e, i)))
            e->row[n++] = (uint32_t)i;
    return n;
}

static const ft_estimate *estimate_of(const ft__network_estimate *e, ft__metric metric)
{
    return metric == FT__METRIC_ENERGY ? &e->energy : &e->time;
}

/* By specifications alone. */
static void ask_physics(struct networks_evaluation *e)
{
    for (size_t i = 0; i < e->w.n; i++) {
        const ft__device_use on = ft__dataset_use(ran_on(e, i));
        ft__network_estimate estimate;

        e->physics[i] = NAN;
        if (!on.device ||
            ft__predict_network(&estimate, NULL, &on, e->w.v[i].graph, NULL))
            continue;
        e->physics[i] = estimate_of(&estimate, e->metric)->value;
        ft__network_estimate_free(&estimate);
    }
}

/* Median of measured over predicted by specifications, of networks that are not hidden.
 */
static double constant_of(const struct networks_evaluation *e, double *scratch)
{
    size_t n = 0;

    for (size_t i = 0; i < e->w.n; i++) {
        double ratio = e->w.v[i].value[e->metric] / e->physics[i];

        if (!e->hidden[i] && isfinite(ratio))
            scratch[n++] = ratio;
    }
    return n ? ft__median(scratch, n) : NAN;
}

static ft_status ask(ft__op_answer *out, const struct networks_evaluation *e,
                     const ft_predictor *p, size_t i, char why[240], ft_error *err)
{
    const ft__device_use on = ft__dataset_use(ran_on(e, i));
    ft__network_estimate estimate;
    ft_error none = {0};
    ft_status st = ft__predict_network(&estimate, p, &on, e->w.v[i].graph, &none);
    const ft_estimate *x;

    *out = (ft__op_answer){.value = NAN, .low = NAN, .high = NAN};
    if (st == FT_ENOTFOUND) {
        snprintf(why, 240, "%.239s", none.msg);
        return FT_OK;
    }
    if (st)
        return ft_fail(err, st, none.pos, "%s", none.msg);
    x = estimate_of(&estimate, e->metric);
    *out = (ft__op_answer){
        .value = x->value, .low = x->low, .high = x->high, .basis = x->basis};
    ft__network_estimate_free(&estimate);
    return FT_OK;
}

static void describe(ft__tested *t, const struct networks_evaluation *e, size_t i)
{
    const ft__network_sample *w = &e->w.v[i];
    uint32_t device = 0;

    while (strcmp(e->w.dataset[device].device, ran_on(e, i)->device) != 0)
        device++;
    *t = (ft__tested){.on = ran_on(e, i),
                      .spec = w->spec,
                      .phase = w->phase,
                      .kind = "network",
                      .kind_order = FT_KIND_COUNT,
                      .device_order = device,
                      .hash = ft__hash_text(ft__hash_text(0, w->spec), w->phase),
                      .truth = w->value[e->metric]};
}

static ft_status ask_all(struct networks_evaluation *e, ft__test_results *out,
                         const ft_predictor *p, uint32_t split, ft_error *err)
{
    double *scratch = malloc((e->w.n + 1) * sizeof(*scratch)), constant;
    ft_status st = FT_OK;
    size_t n = 0;

    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "evaluation");
    constant = constant_of(e, scratch);
    free(scratch);
    for (size_t i = 0; i < e->w.n && !st; i++) {
        if (e->split.of[i] != split)
            continue;
        describe(&e->tested[n], e, i);
        st = ask(&e->answer[n], e, p, i, out->unanswered, err);
        e->answer[n].base = e->physics[i];
        e->answer[n++].constant = constant * e->physics[i];
    }
    return st ? st : ft__results_add(out, e->tested, e->answer, n, split, err);
}

static ft_status run_split(void *user, ft__test_results *out, uint32_t split,
                           ft_error *err)
{
    struct networks_evaluation *e = user;
    ft_predictor *p = NULL;
    size_t n;
    ft_status st;

    for (size_t i = 0; i < e->w.n; i++)
        e->hidden[i] = goes_with(e, i, split);
    n = choose_rows(e);
    st = ft__family_of_rows(&p, &e->s, e->row, n, &e->how, err);
    if (!st)
        st = ask_all(e, out, p, split, err);
    if (!st)
        ft__results_choices(out, p->family, e->metric);
    ft_predictor_free(p);
    out->n_learned += (double)n;
    out->n_splits++;
    return st;
}

static ft_status make_room(struct networks_evaluation *e, ft_error *err)
{
    const size_t n = e->w.n + 1;

    e->physics = ft__arena_need(&e->room, n, sizeof(*e->physics));
    e->hidden = ft__arena_need(&e->room, n, sizeof(*e->hidden));
    e->tested = ft__arena_need(&e->room, n, sizeof(*e->tested));
    e->answer = ft__arena_need(&e->room, n, sizeof(*e->answer));
    e->row = ft__arena_need(&e->room, e->s.n + 1, sizeof(*e->row));
    return e->room.bad ? ft_fail(err, FT_ENOMEM, 0, "%zu networks", e->w.n) : FT_OK;
}

static ft_status prepare(struct networks_evaluation *e, ft_store *store, ft_error *err)
{
    ft_status st = ft__samples_read(&e->s, store, NULL, e->opt->where, err);

    if (!st)
        st = ft__samples_know(&e->s, e->opt->data_dir, err);
    if (!st)
        st = ft__network_samples_read(&e->w, store, e->opt->networks, e->opt->find,
                                      e->opt->find_user, e->opt->data_dir, err);
    if (!st)
        st = make_room(e, err);
    if (!st)
        st = make_splits(e, err);
    if (st)
        return st;
    if (e->split.n == 0)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "the store holds no %s of networks whose operations are listed%s%s",
            ft__metric_name(e->metric),
            e->opt->only ? ", and that are called or ran on " : "",
            e->opt->only ? e->opt->only : "");
    ask_physics(e);
    return FT_OK;
}

static void finish(struct networks_evaluation *e)
{
    ft__samples_free(&e->s);
    ft__network_samples_free(&e->w);
    ft__splits_free(&e->split);
    ft__arena_free(&e->room);
}

ft_status ft__evaluate_networks(ft_evaluation *out, ft_store *store,
                                const ft_evaluate_options *opt,
                                const ft__family_options *how, ft__metric metric,
                                ft_error *err)
{
    const bool devices = opt->protocol == FT_PROTOCOL_DEVICE;
    struct networks_evaluation e = {.opt = opt, .metric = metric, .how = *how};
    ft_status st;

    e.how.networks = &e.w;
    e.how.no_known = devices;
    e.how.no_unknown = !devices;
    if (metric > FT__METRIC_ENERGY || metric == FT__METRIC_POWER)
        return ft_fail(err, FT_EINVAL, 0, "of networks time and energy are evaluated");
    st = prepare(&e, store, err);
    e.how.hidden = e.hidden;
    if (!st)
        st = ft__splits_evaluate(out, &e.split, run_split, &e, metric, opt, err);
    out->n_rows = e.w.n;
    out->n_datasets = e.s.n_datasets + e.w.n_datasets;
    finish(&e);
    return st;
}
