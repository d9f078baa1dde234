/* A few measurements of a device, by which a family's answers for it are corrected. */
#include "predict/model/calibration_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "graph/op_inside.h"
#include "learn/learn_inside.h"
#include "learn/numerics.h"
#include "predict/model/few_covariance.h"
#include "predict/query/op_query.h"

ft_status ft__calibration_set_read(ft__calibration_set **out, ft_store *store,
                                   ft_error *err)
{
    ft__calibration_set *k = calloc(1, sizeof(*k));
    ft_status st;

    *out = NULL;
    if (!k)
        return ft_fail(err, FT_ENOMEM, 0, "measurements");
    st = ft__samples_read(&k->s, store, NULL, NULL, err);
    if (!st)
        st = ft__network_samples_read(&k->networks, store, NULL, NULL, NULL, NULL, err);
    if (st) {
        ft__calibration_set_free(k);
        return st;
    }
    *out = k;
    return FT_OK;
}

void ft__calibration_set_free(ft__calibration_set *k)
{
    if (k) {
        ft__samples_free(&k->s);
        ft__network_samples_free(&k->networks);
    }
    free(k);
}

static bool is_known(const ft__sample *v, ft__metric metric)
{
    return v->value[metric] > 0 && !ft__costs_nothing(&v->op);
}

size_t ft__calibration_set_count(const ft__calibration_set *k, const char *device,
                                 ft__metric metric)
{
    size_t n = 0;

    for (size_t i = 0; i < k->s.n; i++)
        n += is_known(&k->s.v[i], metric) &&
             (!device || strcmp(k->s.dataset[k->s.v[i].dataset].device, device) == 0);
    return n;
}

size_t ft__calibration_set_networks(const ft__calibration_set *k, const char *device)
{
    const ft__network_samples *w = &k->networks;
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        n += !device || strcmp(w->dataset[w->v[i].dataset].device, device) == 0;
    return n;
}

/* Times or power predicted for a device that nobody measured, corrected by the few
 * operations that were measured on it since: a Gaussian process over log(measured /
 * answer) (Rasmussen, Williams 2006, chapter 2), whose covariance has a part that all
 * operations share, one for each kind and phase, one linear in what bounds an operation
 * (arithmetic, cache, memory, host), as rates and floors that differ from the
 * estimate's would make it, both of them for each element type, too, and for operations
 * of like size a smooth, a rough, and for all kinds of a class a far-reaching one; what
 * is of the device alone falls with the host's share; of time also
 * one linear in how much longer than answered other devices took for the operation, one
 * for products as narrow as another, and one for rows of one session; of power also one
 * for rows that divide by the same power of two, and no answer is above the cap. How
 * far element types lie apart is what the known rows are likeliest with. Noise is
 * Student's t (Lange, Little, Taylor 1989): single rows may be far off. Intervals are
 * those of the process, scaled by what the known rows are off by, each predicted from
 * the others (leave-one-out). */

struct process {
    struct ft__few_scales scale;
    size_t n;
    struct ft__few_point *at;
    double *inverse; /* of the covariance, n x n */
    double *weight;  /* that times the residuals */
    double *noise;   /* n, variances */
    double *cross;   /* 2 n, scratch */
    double reach;    /* in standard deviations */
};

/* The largest |log| by which other devices' times count as a feature. */
static const double most_other = 1.5;

static void set_other(struct ft__few_point *p, const double *others,
                      const ft__op_answer *a)
{
    const double answered = log(a->value / a->base);

    for (int k = 0; k < FT__MOST_OTHERS; k++) {
        const double other = others[k] - answered;

        p->other[k] = isfinite(other) ? fmax(fmin(other, most_other), -most_other) : 0;
    }
}

static struct ft__few_point size_of(const ft__model_set *l, const ft__samples *s,
                                    uint32_t i)
{
    struct ft__few_point p = ft__few_point_of(&s->v[i].op);
    ft__terms t;

    ft__base_terms(&l->base, &t, s, i);
    if (isfinite(t.compute_s)) {
        double share[FT__FEW_SHARES] = {t.compute_s, t.cache_s, t.memory_s, t.launch_s};

        for (int k = 0; k < FT__FEW_SHARES; k++)
            p.share[k] = fmin(share[k] / t.total_s, 2);
    }
    return p;
}

static double square(double v)
{
    return v * v;
}

/* covariances: n x n, the lower half, without noise; factor: 2 n x n, scratch. The
 * logarithm of their determinant with noise. */
static double invert(struct process *p, const double *covariances, double *factor)
{
    size_t n = p->n;
    double sum = 0;
    bool good;

    memcpy(factor, covariances, n * n * sizeof(*factor));
    for (size_t i = 0; i < n; i++)
        factor[i * n + i] += p->noise[i];
    good = ft__cholesky(factor, n);
    assert(good); /* the noise sees to it */
    (void)good;
    for (size_t i = 0; i < n; i++)
        sum += 2 * log(factor[i * n + i]);
    ft__cholesky_invert(p->inverse, factor, factor + n * n, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            p->inverse[j * n + i] = p->inverse[i * n + j];
    return sum;
}

/* Degrees of freedom of the noise, and how often its variances are found anew. */
enum { DEGREES = 4, REWEIGHTINGS = 3 };

/* What a row is off by beyond what the process explains is its noise times its weight;
 * the variances that are likeliest after it. */
static void reweigh(struct process *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->noise[i] = (DEGREES * p->at[i].noise + square(p->noise[i] * p->weight[i])) /
                      (DEGREES + 1);
}

/* Of a normal distribution nine tenths are within so many standard deviations. */
static const double normal_reach = 1.645;

/* Each known row predicted from the others: its residual is weight / d, its variance 1
 * / d, d on the diagonal of the inverse (Rasmussen, Williams 5.4.2), with the noise
 * that rows have before they are seen. Of few rows each end has hardly any: both have
 * one reach, and as their outer tenth scatters, the mean (in log) of that and of what
 * all of them show counts. */
static ft_status set_reach(struct process *p, ft_error *err)
{
    double low, squares = 0;
    ft_status st;

    for (size_t i = 0; i < p->n; i++) {
        const double d = p->inverse[i * p->n + i], noise = p->at[i].noise;

        p->cross[i] = p->weight[i] / d / sqrt(fmax(1 / d - p->noise[i] + noise, noise));
        p->cross[p->n + i] = -p->cross[i];
        squares += square(p->cross[i]) / (double)p->n;
    }
    st = ft__conformal(&low, &p->reach, p->cross, 2 * p->n, FT__COVERAGE, err);
    p->reach = sqrt(p->reach * normal_reach * sqrt(squares));
    return st;
}

/* The logarithm of the residuals' density, less a constant; covariances: 3 n x n,
 * scratch, the first n x n of which stay. */
static double weigh(struct process *p, const double *residual, double *covariances)
{
    const size_t n = p->n;
    double determinant;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            covariances[i * n + j] =
                ft__few_covariance(&p->scale, &p->at[i], &p->at[j]);
    for (size_t i = 0; i < n; i++)
        p->noise[i] = p->at[i].noise;
    determinant = invert(p, covariances, covariances + n * n);
    for (size_t i = 0; i < n; i++)
        p->weight[i] = ft__dot(p->inverse + i * n, residual, n);
    return -(determinant + ft__dot(p->weight, residual, n)) / 2;
}

static bool has_types(const struct process *p)
{
    for (size_t i = 1; i < p->n; i++)
        if (p->at[i].type != p->at[0].type)
            return true;
    return false;
}

/* How many times farther element types may lie apart. */
static const double apart = 4;

/* Types lie farther apart if the residuals are likelier so. */
static void set_types_apart(struct process *p, const double *residual,
                            double *covariances)
{
    const struct ft__few_scales usual = p->scale;
    const double likelihood = weigh(p, residual, covariances);

    p->scale.of_type *= apart;
    if (weigh(p, residual, covariances) <= likelihood)
        p->scale = usual;
}

static ft_status learn(struct process *p, const double *residual, ft_error *err)
{
    const size_t n = p->n;
    double *covariances = calloc(3 * n * n, sizeof(*covariances));

    if (!covariances)
        return ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n);
    if (has_types(p))
        set_types_apart(p, residual, covariances);
    weigh(p, residual, covariances);
    for (int k = 0; k < REWEIGHTINGS; k++) {
        reweigh(p);
        invert(p, covariances, covariances + n * n);
        for (size_t i = 0; i < n; i++)
            p->weight[i] = ft__dot(p->inverse + i * n, residual, n);
    }
    free(covariances);
    return set_reach(p, err);
}

/* The known rows leave so much of the prior variance: as much of the interval (in log)
 * is that which was answered before, as uneven as it was, the rest is theirs. */
static void correct_answer(ft__op_answer *a, const struct process *p,
                           const struct ft__few_point *at, double most)
{
    const double prior = ft__few_covariance(&p->scale, at, at);
    const double down = log(a->value / a->low), up = log(a->high / a->value);
    double change, left, reach, uneven, variance = prior;

    for (size_t i = 0; i < p->n; i++)
        p->cross[i] = ft__few_covariance(&p->scale, at, &p->at[i]);
    change = ft__dot(p->cross, p->weight, p->n);
    for (size_t i = 0; i < p->n; i++)
        variance -= p->cross[i] * ft__dot(p->inverse + i * p->n, p->cross, p->n);
    variance = fmax(variance, 0);
    left = variance / prior;
    reach = pow(p->reach * sqrt(variance + at->noise), 1 - left) *
            pow((up + down) / 2, left);
    uneven = up + down > 0 ? left * (up - down) / (up + down) : 0;
    a->value = fmin(a->value * exp(change), most);
    a->low = a->value * exp(-reach * (1 - uneven));
    a->high = fmin(a->value * exp(reach * (1 + uneven)), most);
}

static void process_free(struct process *p)
{
    free(p->at);
    free(p->inverse);
    free(p->weight);
    free(p->noise);
    free(p->cross);
}

static ft_status process_make(struct process *p, ft__metric metric, size_t n,
                              ft_error *err)
{
    *p = (struct process){.scale = metric == FT__METRIC_POWER ? ft__few_of_power
                                                              : ft__few_of_time,
                          .at = calloc(n + 1, sizeof(*p->at)),
                          .inverse = calloc(n * n + 1, sizeof(double)),
                          .weight = calloc(n + 1, sizeof(double)),
                          .noise = calloc(n + 1, sizeof(double)),
                          .cross = calloc(2 * n + 1, sizeof(double))};
    if (p->at && p->inverse && p->weight && p->noise && p->cross)
        return FT_OK;
    process_free(p);
    return ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n);
}

struct correcting {
    ft__metric metric;
    const ft__sample **of; /* the known samples that are used */
    uint32_t n;
    uint32_t n_used; /* those of them that were answered before */
    ft_op *op;
    ft__op_answer *predicted;
    double *others; /* FT__MOST_OTHERS of each */
    const char **session;
    ft__samples s;
};

static struct ft__few_point point_of(const struct correcting *c,
                                     const struct ft__few_scales *s,
                                     const ft__model_set *l, uint32_t i)
{
    struct ft__few_point p = size_of(l, &c->s, i);
    const double usual = square(s->noise), least = square(s->long_noise);

    set_other(&p, c->others + (size_t)i * FT__MOST_OTHERS, &c->predicted[i]);
    p.session = c->session[i];
    p.noise = least + (usual - least) / (1 + c->predicted[i].value / s->long_s);
    return p;
}

/* Keeps rows that have both a measured value and a prediction. */
static void take_residuals(struct process *p, double *residual,
                           const struct correcting *c, const ft__model_set *l)
{
    for (uint32_t i = 0; i < c->n; i++) {
        double r = log(c->s.v[i].value[c->metric] / c->predicted[i].value);

        if (!isfinite(r))
            continue;
        residual[p->n] = r;
        p->at[p->n++] = point_of(c, &p->scale, l, i);
    }
}

/* The highest power of a device: its cap, as it was seen to keep it. */
static double most_of(const struct correcting *c)
{
    const ft_device *file = c->s.dataset[c->s.v[0].dataset].file;
    double most = file ? ft_device_get(file)->tdp_w : NAN;

    if (c->metric != FT__METRIC_POWER || !(most > 0))
        return INFINITY;
    for (uint32_t i = 0; i < c->n; i++)
        most = fmax(most, c->s.v[i].value[FT__METRIC_POWER]);
    return most;
}

/* Answers for the n operations asked change by the known ones; fewer than
 * FT__LEAST_CALIBRATION change nothing. */
static ft_status correct_answers(struct correcting *c, const ft__model_set *l, size_t n,
                                 ft_error *err)
{
    double *residual = calloc((size_t)c->n + 1, sizeof(*residual));
    struct process p = {0};
    double most = c->n ? most_of(c) : INFINITY;
    ft_status st = FT_OK;

    if (!residual)
        st = ft_fail(err, FT_ENOMEM, 0, "%u measurements", c->n);
    if (!st)
        st = process_make(&p, c->metric, c->n, err);
    if (!st) {
        take_residuals(&p, residual, c, l);
        c->n_used = (uint32_t)p.n;
        if (p.n >= FT__LEAST_CALIBRATION)
            st = learn(&p, residual, err);
    }
    for (uint32_t i = c->n; i < c->n + n && !st && p.n >= FT__LEAST_CALIBRATION; i++) {
        const struct ft__few_point at = point_of(c, &p.scale, l, i);

        correct_answer(&c->predicted[i], &p, &at, most);
    }
    process_free(&p);
    free(residual);
    return st;
}

static void correcting_free(struct correcting *c)
{
    free(c->of);
    free(c->op);
    free(c->predicted);
    free(c->others);
    free(c->session);
    free(c->s.v);
    free(c->s.dataset);
}

static ft_status correcting_make(struct correcting *c, size_t n_known, size_t n,
                                 ft_error *err)
{
    size_t all = n_known + n + 1;

    c->of = calloc(all, sizeof(ft__sample *));
    c->op = calloc(all, sizeof(*c->op));
    c->predicted = calloc(all, sizeof(*c->predicted));
    c->others = calloc(all, FT__MOST_OTHERS * sizeof(*c->others));
    c->session = calloc(all, sizeof(*c->session));
    return c->of && c->op && c->predicted && c->others && c->session
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu measurements", n_known);
}

/* Was it measured on the same device, by the same engine and under the same clocks and
 * cap? Datasets differ in what else their settings say. */
static bool is_alike(const ft__dataset *a, const ft__dataset *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->policy, b->policy) == 0 &&
           strcmp(a->engine, b->engine) == 0 &&
           strcmp(a->engine_version, b->engine_version) == 0 &&
           ft__is_same_operating_point(a->setting, b->setting);
}

static bool is_taken(const ft__samples *s, size_t i, const ft__dataset *d,
                     ft__metric metric)
{
    return is_alike(&s->dataset[s->v[i].dataset], d) && is_known(&s->v[i], metric);
}

/* Evenly spaced samples where there are too many. */
uint32_t ft__calibration_set_like(const ft__sample **of, const ft__calibration_set *k,
                                  const ft__dataset *d, ft__metric metric)
{
    const ft__samples *s = &k->s;
    size_t n = 0, seen = 0, most;
    uint32_t n_taken = 0;

    for (size_t i = 0; i < s->n; i++)
        n += is_taken(s, i, d, metric);
    most = n < FT__MOST_CALIBRATION ? n : FT__MOST_CALIBRATION;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_taken(s, i, d, metric))
            continue;
        if (n_taken < (seen + 1) * most / n)
            of[n_taken++] = &s->v[i];
        seen++;
    }
    return n_taken;
}

/* The session of the known rows in which `setting`, completed by what the family knows,
 * asks: the one with most pairs of those whose pairs it all has. */
static const char *session_of(const struct correcting *c, const char *setting)
{
    const char *best = setting;
    int most = -1;

    for (uint32_t i = 0; i < c->n; i++) {
        const char *known = c->session[i];
        const int pairs = ft__pairs_in_common(known, known);

        if (pairs == ft__pairs_in_common(known, setting) && pairs > most) {
            best = known;
            most = pairs;
        }
    }
    return best;
}

/* Does a sensor see as much of the operation in both? */
static bool is_read_alike(const char *a, const char *b)
{
    const double x = ft__loop_calls(a), y = ft__loop_calls(b);

    return isnan(x) ? isnan(y) : fabs(x - y) < 1;
}

/* A measured operation is answered as measured. */
static void take_measured(ft__op_answer *a, const struct correcting *c, const ft_op *op,
                          const char *setting)
{
    const uint64_t hash = ft__op_hash(op);

    for (uint32_t i = 0; i < c->n; i++)
        if (c->of[i]->hash == hash &&
            (c->metric != FT__METRIC_POWER || is_read_alike(c->session[i], setting)))
            ft__answer_as_measured(a, c->of[i]->value[c->metric], 0);
}

static ft_status correct(struct correcting *c, ft__op_answer *predicted,
                         const ft__family *f, const ft__dataset *on,
                         const ft__op_answer *answered, const ft_op *ops, size_t n,
                         ft_error *err)
{
    const ft__model_set *l =
        ft__family_model_set(f, answered ? FT__METRIC_TIME : c->metric, on);
    const char *session;
    ft_status st = FT_OK;

    if (answered)
        memcpy(c->predicted, answered, c->n * sizeof(*answered));
    else
        st = ft__family_query(c->predicted, f, c->metric, on, c->op, NULL, c->n, err);
    if (st)
        return st;
    memcpy(c->op + c->n, ops, n * sizeof(*ops));
    memcpy(c->predicted + c->n, predicted, n * sizeof(*predicted));
    session = session_of(c, on->setting);
    for (size_t i = 0; i < n; i++)
        c->session[c->n + i] = session;
    st =
        ft__family_samples(&c->s, f, on, ft__family_index(f, on), c->op, c->n + n, err);
    if (!st)
        st = ft__family_others(c->others, f, on, c->op, c->n + n, err);
    for (uint32_t i = 0; i < c->n && !st; i++)
        c->s.v[i].value[c->metric] = c->of[i]->value[c->metric];
    if (!st)
        st = correct_answers(c, l, n, err);
    for (size_t i = 0; i < n && !st; i++) {
        if (!predicted[i].measured)
            predicted[i] = c->predicted[c->n + i];
        take_measured(&predicted[i], c, &ops[i], on->setting);
    }
    return st;
}

ft_status ft__calibration_set_correct(ft__op_answer *predicted, uint32_t *n_used,
                                      const ft__family *f, ft__metric metric,
                                      const ft__calibration_set *known,
                                      const ft__dataset *d, const ft__dataset *on,
                                      const ft__op_answer *answered, const ft_op *ops,
                                      size_t n, ft_error *err)
{
    struct correcting c = {.metric = metric};
    ft_status st;

    *n_used = 0;
    if (!d)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "what was measured of %s was so at other clocks, under another "
                       "cap or with other TF32: ask for those (--clock, "
                       "--memory-clock, --power-cap, --policy)",
                       on->device);
    st = correcting_make(&c, known->s.n, n, err);
    if (!st) {
        c.n = ft__calibration_set_like(c.of, known, d, c.metric);
        for (uint32_t i = 0; i < c.n; i++) {
            c.session[i] = known->s.dataset[c.of[i]->dataset].setting;
            c.op[i] = c.of[i]->op;
        }
        st = correct(&c, predicted, f, on, answered, ops, n, err);
    }
    *n_used = st ? 0 : c.n_used;
    correcting_free(&c);
    return st;
}
