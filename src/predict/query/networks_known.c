/* Networks measured whole on a device that is predicted by what others showed, or by
 * its specifications: what they take more than is predicted, others will. */
#include "predict/query/networks_known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "base/stats.h"
#include "foretell/names.h"
#include "graph/graph_inside.h"
#include "learn/numerics.h"
#include "predict/model/calibration_set.h"
#include "predict/query/estimate.h"
#include "predict/schedule/schedule.h"

/* What a network's time is spent on: groups of operations, and its host. */
enum { PARTS = FT__N_TASK_GROUPS + 1 };

/* The prediction counts as so many networks of which all time is spent on one part: of
 * 0.25, 0.5 and 1 what networks of an A100 at fixed clocks err least by
 * (docs/notes/networks.md). */
static const double pull = 0.5;

enum quantity { TIME, ENERGY, POWER, QUANTITIES };

struct known_network {
    const char *name;
    double part[PARTS];
    double log_error[QUANTITIES]; /* log(measured / predicted); NaN: one is not known */
    double weight[QUANTITIES];    /* rows of a name count as one network */
};

/* What the known networks show of a quantity. */
struct fit {
    size_t names;            /* 0: too few, nothing */
    double a[PARTS * PARTS]; /* its normal equations, factored */
    double by_part[PARTS];   /* what each part takes more, as a logarithm */
    double noise; /* variance about it: of the median known network, told by those of
                     other names, as one measurement may be far off */
};

struct ft__known_networks {
    struct known_network *network;
    size_t n;
    bool above_power; /* one drew more than the board may */
    struct fit fit[QUANTITIES];
};

/* Whichever of host and device takes longer sets the time; near each other either may.
 */
static bool take_parts(double *part, const ft__network_estimate *e, const ft_graph *g)
{
    const double ratio = pow(e->host_s / e->busy_s, 4);
    const double host = isfinite(ratio) ? ratio / (1 + ratio) : 0;
    ft__op_bounds b;

    if (!ft__op_bounds_of(&b, e, g))
        return false;
    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        part[k] = (1 - host) * b.share[k];
    part[FT__N_TASK_GROUPS] = host;
    return true;
}

static const char *policy_of(const char *policy)
{
    return policy && *policy ? policy : "default";
}

static bool is_like(const ft__network_sample *w, const ft__network_samples *of,
                    const ft__device_use *on, const ft_graph *g)
{
    const ft__dataset *d = &of->dataset[w->dataset];

    return strcmp(d->device, ft_device_get(on->device)->name) == 0 &&
           (!on->engine || strcmp(d->engine, on->engine) == 0) &&
           strcmp(policy_of(d->policy), policy_of(on->policy)) == 0 &&
           ft__graph_phase(w->graph) == ft__graph_phase(g) &&
           strcmp(ft_name(FT_NAMES_PHASE, ft__graph_phase(g)), w->phase) == 0 &&
           ft__graph_dtype(w->graph) == ft__graph_dtype(g);
}

static size_t count_like(const ft__device_use *on, const ft_graph *g)
{
    const ft__network_samples *of = &on->networks->networks;
    size_t n = 0;

    for (size_t i = 0; i < of->n; i++)
        n += is_like(&of->v[i], of, on, g);
    return n;
}

/* Where no engine is asked for, the one by which most were measured. */
static const char *engine_of(const ft__device_use *asked, const ft_graph *g)
{
    const ft__network_samples *of = &asked->networks->networks;
    const char *best = asked->engine;
    size_t most = 0;

    for (uint32_t i = 0; i < of->n_datasets && !asked->engine; i++) {
        ft__device_use on = *asked;
        size_t n;

        on.engine = of->dataset[i].engine;
        if (best && strcmp(on.engine, best) == 0)
            continue;
        n = count_like(&on, g);
        best = n > most ? on.engine : best;
        most = n > most ? n : most;
    }
    return best;
}

/* Its cap, or what it was told to keep to. */
static double most_power(const ft__device_use *on)
{
    const double cap = ft__pair_number(on->setting, "power");

    return cap > 0 ? cap : ft_device_get(on->device)->tdp_w;
}

/* As it was run: what names no mode was issued by the host. */
static const char *run_mode_of(const char *setting)
{
    size_t len = 0;
    const char *name = ft__pair(setting, "run_mode", &len);
    const uint32_t mode = name ? ft__run_mode_find(name, len) : FT__RUN_EAGER;

    return ft__run_mode_name(mode < FT__NO_RUN_MODE ? mode : FT__RUN_EAGER);
}

/* A setting that the device does not have says nothing. */
static ft_status take_network(ft__known_networks *k, const ft__network_sample *w,
                              const ft_predictor *p, const ft__device_use *on,
                              ft_error *err)
{
    struct known_network *to = &k->network[k->n];
    ft__network_estimate e;
    ft_error why = {0};
    ft_status st = ft__predict_network(&e, p, on, w->graph, &why);

    if (st)
        return st == FT_ENOTFOUND ? FT_OK : ft_fail(err, st, why.pos, "%s", why.msg);
    to->name = w->name;
    to->log_error[TIME] = log(w->value[FT__METRIC_TIME] / e.time.value);
    to->log_error[ENERGY] = log(w->value[FT__METRIC_ENERGY] / e.energy.value);
    to->log_error[POWER] = to->log_error[ENERGY] - to->log_error[TIME];
    if (take_parts(to->part, &e, w->graph) && isfinite(to->log_error[TIME])) {
        k->n++;
        k->above_power |=
            w->value[FT__METRIC_ENERGY] > most_power(on) * w->value[FT__METRIC_TIME];
    }
    ft__network_estimate_free(&e);
    return FT_OK;
}

/* Evenly spaced ones where there are too many. */
static ft_status take_all(ft__known_networks *k, const ft_predictor *p,
                          const ft__device_use *asked, const ft_graph *g, ft_error *err)
{
    const ft__network_samples *of = &asked->networks->networks;
    ft__device_use on = *asked;
    ft_status st = FT_OK;
    size_t n, seen = 0, taken = 0, most;

    on.engine = engine_of(asked, g);
    n = count_like(&on, g);
    most = n < FT__MOST_CALIBRATION ? n : FT__MOST_CALIBRATION;
    k->network = calloc(most + 1, sizeof(*k->network));
    if (!k->network)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", most);
    for (size_t i = 0; i < of->n && !st; i++) {
        const ft__dataset *d = &of->dataset[of->v[i].dataset];
        ft__device_use as = on;

        if (!is_like(&of->v[i], of, &on, g) || taken >= ++seen * most / n)
            continue;
        taken++;
        as.networks = NULL;
        as.answered = NULL;
        as.engine = asked->engine; /* as what is asked is predicted */
        as.engine_version = asked->engine_version ? d->engine_version : NULL;
        as.setting = d->setting;
        as.run_mode = run_mode_of(d->setting);
        st = take_network(k, &of->v[i], p, &as, err);
    }
    return st;
}

/* The number of names. */
static size_t weigh(ft__known_networks *k, enum quantity q)
{
    double names = 0;

    for (size_t i = 0; i < k->n; i++) {
        struct known_network *a = &k->network[i];
        double rows = 0;

        for (size_t j = 0; j < k->n; j++)
            rows += isfinite(k->network[j].log_error[q]) &&
                    strcmp(a->name, k->network[j].name) == 0;
        a->weight[q] = isfinite(a->log_error[q]) ? 1 / rows : 0;
        names += a->weight[q];
    }
    return (size_t)lround(names);
}

/* Ridge regression; left_out: NULL, or a name. */
static void solve(struct fit *f, const ft__known_networks *k, enum quantity q,
                  const char *left_out)
{
    double b[PARTS] = {0};

    memset(f->a, 0, sizeof(f->a));
    for (int i = 0; i < PARTS; i++)
        f->a[i * PARTS + i] = pull;
    for (size_t n = 0; n < k->n; n++) {
        const struct known_network *a = &k->network[n];

        if (!(a->weight[q] > 0) || (left_out && strcmp(a->name, left_out) == 0))
            continue;
        for (int i = 0; i < PARTS; i++) {
            const double x = a->weight[q] * a->part[i];

            b[i] += x * a->log_error[q];
            for (int j = 0; j <= i; j++)
                f->a[i * PARTS + j] += x * a->part[j];
        }
    }
    ft__cholesky(f->a, PARTS); /* positive definite: pull sees to it */
    ft__cholesky_solve(f->by_part, f->a, b, PARTS);
}

/* The variance of what the known networks tell of this mixture, in that of the noise.
 */
static double variance_of(const struct fit *f, const double *part)
{
    double x[PARTS];

    ft__cholesky_solve(x, f->a, part, PARTS);
    return ft__dot(part, x, PARTS);
}

/* Of a normal distribution half are within so many standard deviations. */
static const double half_within = 0.6745;

/* What a row is missed by when its name is left out. */
struct missed {
    double by, weight;
};

static int by_size(const void *a, const void *b)
{
    const double x = ((const struct missed *)a)->by, y = ((const struct missed *)b)->by;

    return (x > y) - (x < y);
}

/* That of the names, of which the rows have a share each; reorders v. */
static double median_of(struct missed *v, size_t n, double names)
{
    const double rounding = 1e-9;
    double up_to = 0;
    size_t i = 0;

    qsort(v, n, sizeof(*v), by_size);
    while ((up_to += v[i].weight) < names / 2 - rounding)
        i++;
    return up_to < names / 2 + rounding ? (v[i].by + v[i + 1].by) / 2 : v[i].by;
}

static void fit(ft__known_networks *k, enum quantity q)
{
    struct missed missed[FT__MOST_CALIBRATION];
    struct fit *f = &k->fit[q];
    const size_t names = weigh(k, q);
    size_t n = 0;

    if (names < FT__LEAST_NETWORKS)
        return;
    for (size_t i = 0; i < k->n; i++) {
        const struct known_network *a = &k->network[i];

        if (!(a->weight[q] > 0))
            continue;
        solve(f, k, q, a->name);
        missed[n++] = (struct missed){
            fabs(a->log_error[q] - ft__dot(f->by_part, a->part, PARTS)) /
                sqrt(1 + variance_of(f, a->part)),
            a->weight[q]};
    }
    f->names = names;
    f->noise = pow(median_of(missed, n, (double)names) / half_within, 2);
    solve(f, k, q, NULL);
}

/* So many networks the prediction's own interval counts for in the noise. It decides
 * little: with 1 or 4 an A100's networks have widths within 2 %
 * (docs/notes/networks.md, "Widths by the median"). */
enum { NETWORKS_BEFORE = 2 };

/* How far the interval of a network reaches; before: how far it did, and does for what
 * the known ones leave of its variance. That of the noise has a scaled inverse
 * chi-square distribution (Gelman et al. 2013). */
static double side(const struct fit *f, const double *part, double before)
{
    const double size = ft__dot(part, part, PARTS);
    const double left = pull * variance_of(f, part) / size;
    const double noise_before = pow(before / FT__Z90, 2) * pull / (pull + size);
    const size_t n = NETWORKS_BEFORE + f->names;
    const double noise =
        (NETWORKS_BEFORE * noise_before + (double)f->names * f->noise) / (double)n;

    return hypot(ft__student(n) * sqrt(noise * (1 - left)), before * sqrt(left));
}

/* *v by what networks like it showed; false: they show nothing of it. */
static bool correct(ft_estimate *v, const ft__known_networks *k, enum quantity q,
                    const double *part)
{
    const struct fit *f = &k->fit[q];
    double value;

    if (!f->names || !(v->value > 0))
        return false;
    value = v->value * exp(ft__dot(f->by_part, part, PARTS));
    *v = (ft_estimate){value, value * exp(-side(f, part, log(v->value / v->low))),
                       value * exp(side(f, part, log(v->high / v->value))), v->basis,
                       ""};
    return true;
}

static void scale(ft_estimate *v, double factor)
{
    v->value *= factor;
    v->low *= factor;
    v->high *= factor;
}

static void clip(ft_estimate *v, double most, double high)
{
    if (v->value > most)
        v->value = most;
    if (v->high > high)
        v->high = high;
    if (v->low > v->value)
        v->low = v->value;
}

static void scale_times(ft__network_estimate *e, double factor, double power)
{
    for (int i = 0; i < FT_PHASE_COUNT; i++)
        scale(&e->phase_time[i], factor);
    for (uint32_t i = 0; i < e->n_ops; i++) {
        scale(&e->op_device[i], factor);
        e->op_network_w[i] *= power;
    }
    e->host_s *= factor;
    e->busy_s *= factor;
}

ft_status ft__known_networks_make(ft__known_networks **out, const ft_predictor *p,
                                  const ft__device_use *on, const ft_graph *g,
                                  ft_error *err)
{
    ft__known_networks *k;
    ft_status st;

    *out = NULL;
    if (!on->networks || ft__graph_is_workload(g))
        return FT_OK;
    k = calloc(1, sizeof(*k));
    st = k ? take_all(k, p, on, g, err) : ft_fail(err, FT_ENOMEM, 0, "networks");
    for (enum quantity q = TIME; q < QUANTITIES && !st; q++)
        fit(k, q);
    if (!st && k->fit[TIME].names)
        *out = k;
    else
        ft__known_networks_free(k);
    return st;
}

void ft__known_networks_free(ft__known_networks *k)
{
    if (k)
        free(k->network);
    free(k);
}

void ft__known_networks_correct(const ft__known_networks *k, ft__network_estimate *e,
                                const ft__device_use *on, const ft_graph *g)
{
    const double time = e->time.value, power = e->power.value;
    double part[PARTS], most_w;

    if (!k || !take_parts(part, e, g))
        return;
    most_w = k->above_power ? INFINITY : most_power(on);
    correct(&e->time, k, TIME, part);
    if (!correct(&e->energy, k, ENERGY, part))
        scale(&e->energy, e->time.value / time);
    correct(&e->power, k, POWER, part);
    scale(&e->power, e->energy.value / e->time.value / e->power.value);
    clip(&e->energy, most_w * e->time.value, most_w * e->time.high);
    clip(&e->power, most_w, most_w);
    scale_times(e, e->time.value / time, e->power.value / power);
    e->n_known += (uint32_t)k->n;
}
