#include "predict/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "predict/general.h"

/* Fewer rows make no regressor of their own. */
enum { LEAST_ROWS = 12 };
/* What is far from the training rows: intervals are so much wider. */
static const double far_factor = 2;

/* ---- targets ---- */

/* What a value of the metric is told relative to. */
static double scale_of(const ft__learner *l, const ft__samples *s, uint32_t i,
                       const ft__terms *t)
{
    const ft__dataset *d = &s->dataset[s->v[i].dataset];
    double power_w = d->file ? ft_device_get(d->file)->tdp_w : NAN;

    if (!(power_w > 0))
        power_w = 1;
    switch (l->opt.metric) {
    case FT__METRIC_TIME: return t->total_s;
    case FT__METRIC_POWER: return power_w;
    case FT__METRIC_ENERGY: return t->total_s * power_w;
    default: return 1;
    }
}

static bool is_bytes(const ft__learner *l)
{
    return l->opt.metric >= FT__METRIC_MEMORY;
}

static double target_of(const ft__learner *l, double value, double scale)
{
    return is_bytes(l) ? log(1 + value) : log(value / scale);
}

static double value_of(const ft__learner *l, double target, double scale)
{
    return is_bytes(l) ? fmax(0, exp(target) - 1) : scale * exp(target);
}

/* ---- rows of a matrix ---- */

struct rows {
    size_t n;
    const uint32_t *index; /* of samples */
    float *x;              /* all columns */
    double *y;
    double *scale;
    double *out; /* out of fold */
    double *spread;
    double *general;  /* out of fold, by the regressor of all kinds; NaN: not wanted */
    ft__scope *scope; /* of the regressor that out and spread are of */
    /* of one part: */
    size_t all;   /* that belong to it */
    size_t m;     /* that are drawn of them */
    uint32_t *of; /* rows here */
    float *px;
    double *py;
    uint64_t *group;
    double *pout;
    double *pspread;
    double *pgeneral;
    double *punused; /* spreads that nobody asks for */
};

static void rows_free(struct rows *r)
{
    free(r->x);
    free(r->y);
    free(r->scale);
    free(r->out);
    free(r->spread);
    free(r->general);
    free(r->scope);
    free(r->of);
    free(r->px);
    free(r->py);
    free(r->group);
    free(r->pout);
    free(r->pspread);
    free(r->pgeneral);
    free(r->punused);
}

static ft_status rows_make(struct rows *r, const ft__learner *l, const uint32_t *index,
                           size_t n, ft_error *err)
{
    size_t cells = (n + 1) * l->columns.n, m = n + 1;

    *r = (struct rows){.n = n,
                       .index = index,
                       .x = malloc(cells * sizeof(float)),
                       .y = calloc(m, sizeof(double)),
                       .scale = calloc(m, sizeof(double)),
                       .out = calloc(m, sizeof(double)),
                       .spread = calloc(m, sizeof(double)),
                       .general = calloc(m, sizeof(double)),
                       .scope = calloc(m, sizeof(ft__scope)),
                       .of = calloc(m, sizeof(uint32_t)),
                       .px = malloc(cells * sizeof(float)),
                       .py = calloc(m, sizeof(double)),
                       .group = calloc(m, sizeof(uint64_t)),
                       .pout = calloc(m, sizeof(double)),
                       .pspread = calloc(m, sizeof(double)),
                       .pgeneral = calloc(m, sizeof(double)),
                       .punused = calloc(m, sizeof(double))};
    if (r->x && r->y && r->scale && r->out && r->spread && r->general && r->scope &&
        r->of && r->px && r->py && r->group && r->pout && r->pspread && r->pgeneral &&
        r->punused)
        return FT_OK;
    rows_free(r);
    return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
}

static void fill_rows(struct rows *r, const ft__learner *l, const ft__samples *s)
{
    for (size_t i = 0; i < r->n; i++) {
        uint32_t at = r->index[i];
        ft__terms t;

        ft__base_terms(&l->base, &t, s, at);
        ft__columns_fill(&l->columns, r->x + i * l->columns.n, s, at, &t);
        r->scale[i] = scale_of(l, s, at, &t);
        r->y[i] = target_of(l, s->v[at].value[l->opt.metric], r->scale[i]);
        r->out[i] = r->spread[i] = r->general[i] = NAN;
        r->scope[i] = FT__N_SCOPES;
    }
}

/* ---- parts ---- */

/* The most particular regressor for an operation; l->n_parts: none. */
static uint32_t part_for(const ft__learner *l, const ft_op *op)
{
    uint32_t best = l->n_parts;

    for (uint32_t i = 0; i < l->n_parts; i++)
        if (ft__part_has(&l->part[i], op) &&
            (best == l->n_parts || l->part[i].scope < l->part[best].scope))
            best = i;
    return best;
}

/* About so many of n rows, equal operations together; what answers for rare kinds is
 * made of few of those that kinds are made of. */
static bool is_drawn(const ft__learner *l, const ft__part *part, uint64_t hash,
                     size_t n)
{
    ft__prng p = ft__prng_stream(l->opt.fit.seed ^ 0xd4a3, hash);
    size_t most = l->opt.part_rows;

    if (most && part->scope != FT__SCOPE_KIND && !l->opt.single)
        most = ft__class_rows(most);
    return !most || n <= most || ft__prng_unit(&p) * (double)n < (double)most;
}

/* The first dataset of the same device: one number a device. */
static uint32_t device_of(const ft__samples *s, uint32_t i)
{
    const char *name = s->dataset[s->v[i].dataset].device;
    uint32_t d = 0;

    while (strcmp(s->dataset[d].device, name) != 0)
        d++;
    return d;
}

static size_t take_part(struct rows *r, const ft__learner *l, const ft__samples *s,
                        const ft__part *p)
{
    uint32_t width = l->columns.n;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += ft__part_has(p, &s->v[r->index[i]].op);
    r->all = n;
    r->m = 0;
    for (size_t i = 0; i < r->n; i++) {
        const ft__sample *v = &s->v[r->index[i]];

        if (!ft__part_has(p, &v->op) || !is_drawn(l, p, v->hash, n))
            continue;
        memcpy(r->px + r->m * width, r->x + i * width, width * sizeof(float));
        r->py[r->m] = r->y[i];
        r->group[r->m] = v->hash;
        r->pgeneral[r->m] = r->general[i];
        r->of[r->m++] = (uint32_t)i;
    }
    return r->m;
}

/* Errors out of fold of the rows that cross-validation looked at. */
static ft_status find_errors(ft__part *p, const ft__learner *l, const struct rows *r,
                             ft_error *err)
{
    double *v = calloc(4 * r->m + 1, sizeof(*v)), *truth = v, *said = v + r->m;
    double *same = said + r->m, *base = same + r->m;
    size_t n = 0;
    ft_status st;

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    for (size_t i = 0; i < r->m; i++) {
        double scale = r->scale[r->of[i]];

        if (!isfinite(r->pout[i]))
            continue;
        truth[n] = value_of(l, r->py[i], scale);
        said[n] = value_of(l, r->pout[i], scale);
        same[n] = value_of(l, p->fit.centre, scale);
        base[n++] = scale;
    }
    st = ft_errors_compute(&p->learned, truth, said, n, l->columns.n, err);
    if (!st)
        st = ft_errors_compute(&p->constant, truth, same, n, 1, err);
    if (!st)
        st = ft_errors_compute(&p->physics, truth, base, n, 1, err);
    free(v);
    return st;
}

static uint64_t sum_of_rows(const struct rows *r, const ft__samples *s, ft__metric m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < r->m; i++)
        sum += ft__sample_sum(s, r->index[r->of[i]], m);
    return sum;
}

/* The same regressor as it was, or NULL. */
static const ft__part *part_before(const ft__learner *l, const ft__part *wanted)
{
    const ft__learner *b = l->opt.before;

    for (uint32_t i = 0; b && i < b->n_parts; i++)
        if (b->part[i].scope == wanted->scope && b->part[i].which == wanted->which &&
            b->part[i].phase == wanted->phase)
            return &b->part[i];
    return NULL;
}

enum { MOST_FOLDS = 10 };

static bool has_devices(const struct rows *r, const ft__samples *s)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < r->m; i++)
        seen |= 1ull << device_of(s, r->index[r->of[i]]) % 64;
    return __builtin_popcountll(seen) >= FT__LEAST_DEVICES;
}

/* Power jumps from row to row with what a sensor saw; of many rows boosting learns that
 * better than trees of means, and mixed with them. */
enum { BOOSTED_ROWS = 3000 };

/* Of so few devices luck makes a regressor look better than none by less than this. */
#define LEAST_GAIN 0.15

/* Methods for devices that are not among the rows: each known one is left out in turn,
 * and a mixture with the constant takes back what does not carry over. */
static ft__fit_options choose_how(const ft__learner *l, struct rows *r,
                                  const ft__samples *s)
{
    ft__fit_options how = l->opt.fit;

    if (!how.methods && l->opt.metric == FT__METRIC_POWER && r->m >= BOOSTED_ROWS) {
        how.methods = 1u << FT_METHOD_EXTRA | 1u << FT_METHOD_BOOST;
        how.mix = 1;
    }
    if (!l->opt.unseen || !has_devices(r, s))
        return how;
    for (size_t i = 0; i < r->m; i++)
        r->group[i] = device_of(s, r->index[r->of[i]]);
    how.mix = 1;
    how.gain = fmax(how.gain, LEAST_GAIN);
    how.n_folds = MOST_FOLDS;
    return how;
}

/* ---- what kinds have in common ---- */

/* The regressor of all kinds; l->n_parts: there is none. */
static uint32_t general_part(const ft__learner *l, ft_phase phase)
{
    uint32_t i = 0;

    while (i < l->n_parts &&
           (l->part[i].scope != FT__SCOPE_ALL || l->part[i].phase != phase))
        i++;
    return i;
}

/* Is an old regressor as good as it was? Not where it shares what has been made anew.
 */
static bool is_kept(const ft__learner *l, const ft__part *old)
{
    uint32_t g = general_part(l, old->phase);

    return !old->general || (g < l->n_parts && l->part[g].stored.section);
}

static ft_status mix_general(ft__part *p, struct rows *r, ft_error *err)
{
    if (p->scope != FT__SCOPE_KIND || !p->fit.n_models)
        return FT_OK;
    for (size_t i = 0; i < r->m; i++)
        if (!isfinite(r->pgeneral[i]) || !isfinite(r->pout[i]))
            return FT_OK;
    p->general = ft__general_share(r->pout, r->pgeneral, r->py, r->m);
    return p->general ? ft__general_retail(&p->fit, p->general, r->pout, r->py,
                                           r->pspread, r->m, err)
                      : FT_OK;
}

/* Fit a part if there are rows enough. */
static ft_status add_part(ft__learner *l, struct rows *r, const ft__samples *s,
                          const ft__part *wanted, ft_error *err)
{
    size_t n = take_part(r, l, s, wanted);
    const ft__part *old = part_before(l, wanted);
    ft__fit_options how;
    ft__part *p;
    ft_matrix x;
    ft_status st;

    if (old && n && r->all < old->fit.n_rows)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "%s %s was learned from %zu operations, of which the store holds "
            "%zu: old and new ones have to be in one store",
            ft__part_name(wanted), ft_phase_name(wanted->phase), old->fit.n_rows,
            r->all);
    if (n < LEAST_ROWS && !old)
        return FT_OK;
    how = choose_how(l, r, s);
    p = realloc(l->part, (l->n_parts + 1) * sizeof(*p));
    if (!p)
        return ft_fail(err, FT_ENOMEM, 0, "regressors");
    l->part = p;
    p += l->n_parts;
    if (old && is_kept(l, old) &&
        (!n || old->rows == sum_of_rows(r, s, l->opt.metric))) {
        st = ft__part_copy(p, old, l->columns.n, err);
        l->n_parts += st == FT_OK;
        return st;
    }
    *p = *wanted;
    x = (ft_matrix){r->px, r->m, l->columns.n};
    p->rows = sum_of_rows(r, s, l->opt.metric);
    st = ft__fit_make(&p->fit, r->pout, r->pspread, &x, r->py, r->group, &how, err);
    if (!st)
        st = mix_general(p, r, err);
    if (!st)
        st = ft__part_range(p, r->px, r->m, l->columns.n, err);
    if (!st)
        st = find_errors(p, l, r, err);
    if (st) {
        ft__part_free(p);
        return st;
    }
    l->n_parts++;
    /* A residual counts once, where it is most particular. */
    for (size_t i = 0; i < r->m; i++)
        if (p->scope < r->scope[r->of[i]]) {
            r->scope[r->of[i]] = p->scope;
            r->out[r->of[i]] = r->pout[i];
            r->spread[r->of[i]] = r->pspread[i];
        }
    return FT_OK;
}

static bool is_asked(const ft__learner *l, const ft__part *wanted, const ft__samples *s,
                     const uint32_t *ask, size_t n_ask)
{
    if (n_ask == 0)
        return true;
    for (size_t i = 0; i < n_ask; i++) {
        const ft_op *op = &s->v[ask[i]].op;

        uint32_t p = part_for(l, op);

        if (ft__part_has(wanted, op) &&
            (p == l->n_parts || l->part[p].scope > wanted->scope))
            return true;
    }
    return false;
}

/* Few rows, of several kinds, with nothing said about how to learn from them. */
static bool is_shared(const ft__learner *l, const struct rows *r, const ft__samples *s,
                      ft_phase phase)
{
    const ft_op *first = NULL;
    size_t n = 0, most = l->opt.part_rows;
    bool several = false;

    for (size_t i = 0; i < r->n; i++) {
        const ft_op *op = &s->v[r->index[i]].op;

        if (op->phase != phase)
            continue;
        n++;
        first = first ? first : op;
        several |= op->kind != first->kind;
    }
    return several && n <= FT__GENERAL_ROWS && (!most || n <= ft__class_rows(most)) &&
           !l->opt.fit.methods && !l->opt.single && !l->opt.unseen;
}

/* The regressors of all kinds, of which kinds take a share: before those of kinds. */
static ft_status add_general(ft__learner *l, struct rows *r, const ft__samples *s,
                             ft_error *err)
{
    ft_status st = FT_OK;

    for (int phase = 0; phase < FT_PHASE_COUNT && !st; phase++)
        if (is_shared(l, r, s, (ft_phase)phase))
            st = add_part(l, r, s,
                          &(ft__part){.scope = FT__SCOPE_ALL, .phase = (ft_phase)phase},
                          err);
    memcpy(r->general, r->out, r->n * sizeof(*r->general));
    return st;
}

static uint32_t scope_size(ft__scope scope)
{
    return scope == FT__SCOPE_KIND    ? FT_KIND_COUNT
           : scope == FT__SCOPE_CLASS ? FT_CLASS_COUNT
                                      : 1;
}

static ft_status add_parts(ft__learner *l, struct rows *r, const ft__samples *s,
                           const uint32_t *ask, size_t n_ask, ft_error *err)
{
    ft_status st = add_general(l, r, s, err);
    int first = l->opt.single ? FT__SCOPE_ALL : FT__SCOPE_KIND;

    for (int scope = first; scope < FT__N_SCOPES; scope++)
        for (uint32_t i = 0; i < scope_size((ft__scope)scope); i++)
            for (int phase = 0; phase < FT_PHASE_COUNT && !st; phase++) {
                const ft__part wanted = {
                    .scope = (ft__scope)scope, .which = i, .phase = (ft_phase)phase};

                if ((scope != FT__SCOPE_ALL ||
                     general_part(l, wanted.phase) == l->n_parts) &&
                    is_asked(l, &wanted, s, ask, n_ask))
                    st = add_part(l, r, s, &wanted, err);
            }
    return st;
}

/* ---- intervals ---- */

/* Those whose tails are to be shared: what is taken over has shared them. */
static size_t new_fits(ft__fit **fit, const ft__learner *l)
{
    size_t n = 0;

    for (uint32_t i = 0; i < l->n_parts; i++)
        if (!l->part[i].stored.section)
            fit[n++] = &l->part[i].fit;
    return n;
}

static ft_status share_tails(ft__learner *l, struct rows *r, ft_error *err)
{
    ft__fit **fit = calloc(l->n_parts + 1u, sizeof(ft__fit *));
    size_t n = 0, n_fits;
    ft_status st;

    if (!fit)
        return ft_fail(err, FT_ENOMEM, 0, "regressors");
    n_fits = new_fits(fit, l);
    for (size_t i = 0; i < r->n; i++)
        if (isfinite(r->out[i]) && r->spread[i] > 0)
            r->pout[n++] = (r->y[i] - r->out[i]) / r->spread[i];
    st = n && !l->opt.before ? ft_conformal(&l->low, &l->high, r->pout, n, 0.9, err)
                             : FT_OK;
    if (!st && (n || l->opt.before))
        ft__fit_share_tails(fit, n_fits, l->low, l->high);
    free(fit);
    return st;
}

/* ---- all of it ---- */

/* Rows with a value of the metric, and a time for the base. */
static size_t usable(uint32_t *out, const ft__samples *s, const uint32_t *row, size_t n,
                     ft__metric metric)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        const ft__sample *v = &s->v[row[i]];
        double value = v->value[metric];

        if (value > 0 || (metric >= FT__METRIC_MEMORY && value == 0))
            out[m++] = row[i];
    }
    return m;
}

static size_t with_time(uint32_t *out, const ft__samples *s, const uint32_t *row,
                        size_t n)
{
    return usable(out, s, row, n, FT__METRIC_TIME);
}

static ft_status learn(ft__learner *l, const ft__samples *s, const uint32_t *row,
                       size_t n, const uint32_t *ask, size_t n_ask, ft_error *err)
{
    struct rows r;
    ft_status st;

    l->rows_of = calloc(s->n_datasets + 1u, sizeof(*l->rows_of));
    st = l->rows_of ? rows_make(&r, l, row, n, err)
                    : ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    if (st)
        return st;
    fill_rows(&r, l, s);
    for (size_t i = 0; i < n; i++)
        l->rows_of[s->v[row[i]].dataset]++;
    memcpy(r.py, r.y, n * sizeof(*r.py));
    l->centre = l->opt.before ? l->opt.before->centre : ft__median(r.py, n);
    st = add_parts(l, &r, s, ask, n_ask, err);
    for (size_t i = 0; i < n && l->opt.held; i++)
        l->opt.held[row[i]] = value_of(l, r.out[i], r.scale[i]);
    l->opt.held = NULL;
    if (!st)
        st = share_tails(l, &r, err);
    rows_free(&r);
    return st;
}

static ft_status find_base(ft__learner *l, const ft__samples *s, const uint32_t *row,
                           size_t n, ft_error *err)
{
    const ft__base *known = l->opt.before ? &l->opt.before->base : l->opt.base;

    return known ? ft__base_extend(&l->base, known, s, row, n, err)
                 : ft__base_fit(&l->base, s, row, n, false, l->opt.fit.seed, err);
}

ft_status ft__learner_fit(ft__learner *out, const ft__samples *s, const uint32_t *row,
                          size_t n, const uint32_t *ask, size_t n_ask,
                          const ft__learn_options *opt, ft_error *err)
{
    uint32_t *own = calloc(n + 1, sizeof(*own));
    size_t m = 0;
    ft_status st = FT_OK;

    *out = (ft__learner){.opt = *opt,
                         .low = opt->before ? opt->before->low : -1,
                         .high = opt->before ? opt->before->high : 1};
    /* Trees stay within what they were shown. */
    if (opt->unseen && !opt->fit.methods)
        out->opt.fit.methods = 1u << FT_METHOD_EXTRA;
    if (!own)
        return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
    m = with_time(own, s, row, n);
    st = find_base(out, s, own, m, err);
    if (!st) {
        m = usable(own, s, row, n, opt->metric);
        if (m == 0)
            st = ft_fail(err, FT_ENOTFOUND, 0, "no row with a %s to learn from",
                         ft__metric_name(opt->metric));
    }
    if (!st)
        st = opt->before ? ft__columns_copy(&out->columns, &opt->before->columns, err)
                         : ft__columns_make(&out->columns, s, own, m, opt->unseen, err);
    if (!st)
        st = learn(out, s, own, m, ask, n_ask, err);
    free(own);
    if (st)
        ft__learner_free(out);
    return st;
}

void ft__learner_free(ft__learner *l)
{
    for (uint32_t i = 0; i < l->n_parts; i++)
        ft__part_free(&l->part[i]);
    free(l->part);
    free(l->rows_of);
    l->part = NULL;
    l->rows_of = NULL;
    l->n_parts = 0;
    ft__columns_free(&l->columns);
    ft__base_free(&l->base);
}

/* ---- predicting ---- */

/* One row; what no regressor is for has the median ratio and the spread of all. */
static void answer(const ft__learner *l, ft__answer *a, const ft__part *p,
                   const float *row, double value, double spread, double scale)
{
    double low = p ? p->fit.low : l->low, high = p ? p->fit.high : l->high;

    a->far = !p || (p->scope != FT__SCOPE_KIND && !l->opt.single) ||
             ft__part_is_outside(p, row);
    spread *= a->far ? far_factor : 1;
    a->value = value_of(l, value, scale);
    a->low = value_of(l, value + fmin(0, low) * spread, scale);
    a->high = value_of(l, value + fmax(0, high) * spread, scale);
    a->constant = value_of(l, p ? p->fit.centre : l->centre, scale);
    a->base = scale;
    a->measured = false;
}

/* What the regressor of all kinds says, as far as p listens to it. */
static ft_status add_share(const ft__learner *l, const ft__part *p, struct rows *r,
                           ft_error *err)
{
    const ft__fit *fit;
    double *said = r->pgeneral, share = (double)p->general / FT__GENERAL_SHARES;
    uint32_t g;
    ft_status st;

    if (!p->general)
        return FT_OK;
    g = general_part(l, p->phase);
    if (g == l->n_parts)
        return ft_fail(err, FT_EFORMAT, 0,
                       "the predictor lacks the regressor of all kinds that the one of "
                       "%s needs: make it again",
                       ft__part_name(p));
    st = ft__part_fit(&fit, l, g, err);
    if (st)
        return st;
    ft__fit_predict(fit, r->px, r->m, said, r->punused, r->py);
    for (size_t i = 0; i < r->m; i++)
        r->pout[i] += (said[i] - r->pout[i]) * share;
    return FT_OK;
}

/* Rows of one part, predicted in one call; those of none have the last number. */
static ft_status predict_part(const ft__learner *l, ft__answer *out, struct rows *r,
                              uint32_t index, ft_error *err)
{
    const ft__part *p = index < l->n_parts ? &l->part[index] : NULL;
    uint32_t width = l->columns.n;
    const ft__fit *fit;
    ft_status st;

    r->m = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (out[i].part != index)
            continue;
        memcpy(r->px + r->m * width, r->x + i * width, width * sizeof(float));
        r->of[r->m++] = (uint32_t)i;
    }
    if (p && r->m) {
        st = ft__part_fit(&fit, l, index, err);
        if (st)
            return st;
        ft__fit_predict(fit, r->px, r->m, r->pout, r->pspread, r->py);
        st = add_share(l, p, r, err);
        if (st)
            return st;
    }
    for (size_t i = 0; i < r->m; i++)
        answer(l, &out[r->of[i]], p, r->px + i * width, p ? r->pout[i] : l->centre,
               p ? r->pspread[i] : 0.5, r->scale[r->of[i]]);
    return FT_OK;
}

ft_status ft__learner_predict(const ft__learner *l, ft__answer *out,
                              const ft__samples *s, const uint32_t *row, size_t n,
                              ft_error *err)
{
    struct rows r;
    ft_status st = rows_make(&r, l, row, n, err);

    if (st)
        return st;
    fill_rows(&r, l, s);
    for (size_t i = 0; i < n; i++)
        out[i].part = part_for(l, &s->v[row[i]].op);
    for (uint32_t p = 0; p <= l->n_parts && !st; p++)
        st = predict_part(l, out, &r, p, err);
    rows_free(&r);
    return st;
}
