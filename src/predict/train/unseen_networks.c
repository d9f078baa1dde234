/* How far off networks of devices that nobody measured are, by leaving out each chip.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "predict/file/predictor.h"
#include "predict/query/op_query.h"
#include "predict/schedule/unseen_networks.h"
#include "predict/train/train.h"

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
    const ft_device_use use = ft__dataset_use(on);
    ft_network_estimate e;
    ft__op_bounds b;
    ft_status st = ft_predict_network(&e, &p, &use, w->graph, err);
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
    how.log = NULL;
    st = ft__samples_subset(&others, s, row, n, err);
    if (!st && n)
        st = ft__train_operations(&f, &others, &how, err);
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
    out->part = fmin((double)FT__WIDEST, ft__student((size_t)out->chips) *
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
