#include "predict/schedule/unseen_networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"
#include "predict/query/op_query.h"

/* No interval is known to be wider, as parts of what operations may err by. */
static const double widest = 10;
/* Operations of a group that took less of the networks' time are not like theirs. */
static const double little = 0.02;
/* A network with this share of its time in such groups is none of theirs. */
static const double enough = 0.1;

static ft__task_group group_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return FT__TASK_CONV;
    case FT_CLASS_MATMUL: return FT__TASK_MATMUL;
    default: return FT__TASK_OTHER;
    }
}

bool ft__op_bounds_of(ft__op_bounds *out, const ft_network_estimate *e,
                      const ft_graph *g)
{
    double sum = 0, squares = 0;

    *out = (ft__op_bounds){0};
    for (uint32_t i = 0; i < e->n_ops; i++) {
        const ft_estimate *d = &e->op_device[i];
        double v = (double)g->op_count[i] * d->value, below, above;

        if (!(v > 0))
            continue;
        below = v * log(d->value / d->low);
        above = v * log(d->high / d->value);
        sum += v;
        squares += v * v;
        out->low += below;
        out->high += above;
        out->own_low += below * below;
        out->own_high += above * above;
        out->share[group_of(&g->op[i])] += v;
    }
    if (!(sum > 0))
        return false;
    out->low /= sum;
    out->high /= sum;
    out->own_low = sqrt(out->own_low) / sum;
    out->own_high = sqrt(out->own_high) / sum;
    out->alone = squares / (sum * sum);
    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        out->share[k] /= sum;
    return true;
}

bool ft__unseen_sound(const ft__unseen *u)
{
    bool good = u->part > 0 && u->part <= widest && u->alone > 0 && u->alone <= 1;

    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        good = good && u->share[k] >= 0 && u->share[k] <= 1;
    return good && u->n > 0 && u->chips >= 2;
}

double ft__unseen_unlike(const ft__unseen *u, const ft__op_bounds *of)
{
    double unlike = 0, alone = (of->alone - u->alone) / (1 - u->alone);

    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        if (u->share[k] < little)
            unlike += of->share[k] / enough;
    return fmin(1, fmax(unlike, u->alone < 1 ? fmax(0, alone) : 0));
}

ft_status ft__unseen_set(ft__family *f, const ft__unseen *u, ft_error *err)
{
    if (!f->unseen)
        f->unseen = malloc(sizeof(*f->unseen));
    if (!f->unseen)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    *f->unseen = *u;
    return FT_OK;
}

/* ---- chips left out ---- */

/* Residuals of one chip's networks, in parts of the mean bound of their operations. */
struct residuals {
    double squares;
    size_t n;
};

/* One that cannot be asked about says nothing. */
static ft_status add_network(struct residuals *r, ft__unseen *sum, const ft__family *f,
                             const ft__network_sample *w, const ft__dataset *on,
                             ft_error *err)
{
    const ft_predictor p = {.family = (ft__family *)f};
    const ft_device_use use = {.device = on->file,
                               .name = on->device,
                               .setting = on->setting,
                               .policy = on->policy,
                               .engine = on->engine,
                               .engine_version = on->engine_version};
    ft_network_estimate e;
    ft__op_bounds b;
    ft_status st = ft_predict_network_on(&e, &p, &use, w->graph, err);
    double off, bound;

    if (st)
        return st == FT_ENOTFOUND ? FT_OK : st;
    off = log(w->value[FT__METRIC_TIME] / e.time.value);
    if (ft__op_bounds_of(&b, &e, w->graph) && isfinite(off)) {
        bound = off < 0 ? b.low : b.high;
        r->squares += bound > 0 ? off / bound * (off / bound) : 0;
        r->n++;
        sum->n++;
        sum->alone += b.alone;
        for (int k = 0; k < FT__N_TASK_GROUPS; k++)
            sum->share[k] += b.share[k];
    }
    ft_network_estimate_free(&e);
    return FT_OK;
}

/* Residuals of a chip's networks by what rows of other chips teach, if there are any.
 */
static ft_status leave_chip(struct residuals *r, ft__unseen *sum, const ft__samples *s,
                            const ft__network_samples *w, const bool *usable,
                            const char *chip, const ft__family_options *opt,
                            ft_error *err)
{
    ft__family_options how = *opt;
    uint32_t *row = calloc(s->n + 1, sizeof(*row));
    ft__samples others = {0};
    ft__family f = {0};
    size_t n = 0;
    ft_status st = FT_OK;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", s->n);
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(ft__dataset_chip(&s->dataset[s->v[i].dataset]), chip) != 0)
            row[n++] = (uint32_t)i;
    how.metrics = 1u << FT__METRIC_TIME;
    how.no_known = true;
    how.before = NULL;
    how.learn.importance = NULL;
    how.networks = NULL;
    how.log = NULL;
    st = ft__samples_subset(&others, s, row, n, err);
    if (!st && n)
        st = ft__family_train(&f, &others, &how, err);
    for (size_t i = 0; i < w->n && n && !st; i++)
        if (usable[i] &&
            strcmp(ft__dataset_chip(&w->dataset[w->v[i].dataset]), chip) == 0)
            st = add_network(r, sum, &f, &w->v[i], &w->dataset[w->v[i].dataset], err);
    ft__family_free(&f);
    ft__samples_free(&others);
    free(row);
    return st;
}

/* On a device as it comes, by an engine whose operations were measured. */
static bool is_usable(const ft__samples *s, const ft__dataset *on)
{
    bool engine = false;

    for (uint32_t i = 0; i < s->n_datasets; i++)
        engine = engine || strcmp(s->dataset[i].engine, on->engine) == 0;
    return on->file && engine && !ft__setting_differs(on->setting, "");
}

/* Is the chip of network i that of one before it? */
static bool is_known_chip(const ft__network_samples *w, const bool *usable, size_t i)
{
    const char *chip = ft__dataset_chip(&w->dataset[w->v[i].dataset]);

    for (size_t j = 0; j < i; j++)
        if (usable[j] &&
            strcmp(ft__dataset_chip(&w->dataset[w->v[j].dataset]), chip) == 0)
            return true;
    return false;
}

/* All networks of a chip err alike: each chip counts as one, and there are few of them,
 * which Student's t makes up for. */
static ft_status learn(ft__unseen *out, const ft__samples *s,
                       const ft__network_samples *w, const bool *usable,
                       const ft__family_options *opt, uint32_t n_chips, ft_error *err)
{
    double squares = 0;
    ft_status st = FT_OK;

    for (size_t i = 0; i < w->n && !st; i++) {
        const char *chip = ft__dataset_chip(&w->dataset[w->v[i].dataset]);
        struct residuals r = {0};

        if (!usable[i] || is_known_chip(w, usable, i))
            continue;
        ft__progress(opt->log, out->chips, n_chips, chip);
        st = leave_chip(&r, out, s, w, usable, chip, opt, err);
        squares += r.n ? r.squares / (double)r.n : 0;
        out->chips += r.n > 0;
    }
    ft__progress(opt->log, n_chips, n_chips, "");
    if (st || out->chips < 2)
        return st;
    out->part = fmin(widest, ft__student((size_t)out->chips) *
                                 sqrt(squares / (double)out->chips));
    out->alone /= (double)out->n;
    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        out->share[k] /= (double)out->n;
    return FT_OK;
}

ft_status ft__unseen_fit(ft__family *f, const ft__samples *s,
                         const ft__network_samples *w, const bool *hidden,
                         const ft__family_options *opt, ft_error *err)
{
    bool *usable = calloc(w->n + 1, sizeof(*usable));
    ft__unseen found = {0};
    uint32_t n_chips = 0;
    ft_status st = FT_OK;

    if (!usable)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", w->n);
    for (size_t i = 0; i < w->n; i++) {
        usable[i] =
            !(hidden && hidden[i]) && is_usable(s, &w->dataset[w->v[i].dataset]);
        n_chips += usable[i] && !is_known_chip(w, usable, i);
    }
    if (n_chips >= 2)
        st = learn(&found, s, w, usable, opt, n_chips, err);
    free(usable);
    return st || !ft__unseen_sound(&found) ? st : ft__unseen_set(f, &found, err);
}
