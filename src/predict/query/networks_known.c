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

struct known {
    const char *name;
    double part[PARTS];
    double off[QUANTITIES]; /* log(measured / predicted); NaN: one is not known */
};

struct knowing {
    struct known *network;
    size_t n;
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
           strcmp(policy_of(d->policy), policy_of(on->policy)) == 0 &&
           ft__graph_phase(w->graph) == ft__graph_phase(g) &&
           strcmp(ft_name(FT_NAMES_PHASE, ft__graph_phase(g)), w->phase) == 0 &&
           ft__graph_dtype(w->graph) == ft__graph_dtype(g);
}

/* A setting that the device does not have says nothing. */
static ft_status take_network(struct knowing *k, const ft__network_sample *w,
                              const ft_predictor *p, const ft__device_use *on,
                              ft_error *err)
{
    struct known *to = &k->network[k->n];
    ft__network_estimate e;
    ft_error why = {0};
    ft_status st = ft__predict_network(&e, p, on, w->graph, &why);

    if (st)
        return st == FT_ENOTFOUND ? FT_OK : ft_fail(err, st, why.pos, "%s", why.msg);
    to->name = w->name;
    to->off[TIME] = log(w->value[FT__METRIC_TIME] / e.time.value);
    to->off[ENERGY] = log(w->value[FT__METRIC_ENERGY] / e.energy.value);
    to->off[POWER] = to->off[ENERGY] - to->off[TIME];
    k->n += take_parts(to->part, &e, w->graph) && isfinite(to->off[TIME]);
    ft__network_estimate_free(&e);
    return FT_OK;
}

static ft_status take_all(struct knowing *k, const ft_predictor *p,
                          const ft__device_use *asked, const ft_graph *g, ft_error *err)
{
    const ft__network_samples *of = &asked->networks->networks;
    ft__device_use on = *asked;
    ft_status st = FT_OK;

    on.networks = NULL;
    on.answered = NULL;
    for (size_t i = 0; i < of->n && !st; i++) {
        on.setting = of->dataset[of->v[i].dataset].setting;
        if (is_like(&of->v[i], of, asked, g))
            st = take_network(k, &of->v[i], p, &on, err);
    }
    return st;
}

/* Rows of a name count as one network. The number of names. */
static size_t weigh(double *weight, const struct knowing *k, enum quantity q)
{
    double names = 0;

    for (size_t i = 0; i < k->n; i++) {
        const struct known *a = &k->network[i];
        double rows = 0;

        for (size_t j = 0; j < k->n; j++)
            rows += isfinite(k->network[j].off[q]) &&
                    strcmp(a->name, k->network[j].name) == 0;
        weight[i] = isfinite(a->off[q]) ? 1 / rows : 0;
        names += weight[i];
    }
    return (size_t)lround(names);
}

/* Ridge regression: what each part takes more, as a logarithm. */
static void fit(double *by_part, const struct knowing *k, enum quantity q,
                const double *weight)
{
    double a[PARTS * PARTS] = {0}, b[PARTS] = {0};

    for (int i = 0; i < PARTS; i++)
        a[i * PARTS + i] = pull;
    for (size_t n = 0; n < k->n; n++)
        for (int i = 0; i < PARTS && weight[n] > 0; i++) {
            const double x = weight[n] * k->network[n].part[i];

            b[i] += x * k->network[n].off[q];
            for (int j = 0; j <= i; j++)
                a[i * PARTS + j] += x * k->network[n].part[j];
        }
    ft__cholesky(a, PARTS); /* positive definite: pull sees to it */
    ft__cholesky_solve(by_part, a, b, PARTS);
}

/* The mean square of what networks of a name are off by, each told by the others. */
static double left_over(const struct knowing *k, enum quantity q, size_t names,
                        const double *weight, double *others)
{
    double by_part[PARTS], sum = 0;

    for (size_t i = 0; i < k->n; i++) {
        const struct known *a = &k->network[i];

        if (!(weight[i] > 0))
            continue;
        for (size_t j = 0; j < k->n; j++)
            others[j] = strcmp(a->name, k->network[j].name) == 0 ? 0 : weight[j];
        fit(by_part, k, q, others);
        sum += weight[i] * pow(a->off[q] - ft__dot(by_part, a->part, PARTS), 2);
    }
    return sum / (double)names;
}

/* *v by what networks like it showed, no less certain than it was; false: they show
 * nothing of it. */
static bool correct(ft_estimate *v, const struct knowing *k, enum quantity q,
                    const double *part, double *weight)
{
    const size_t names = weigh(weight, k, q);
    double by_part[PARTS], change, reach;

    if (names < FT__LEAST_NETWORKS || !(v->value > 0))
        return false;
    fit(by_part, k, q, weight);
    change = exp(ft__dot(by_part, part, PARTS));
    reach = ft__student(names) * sqrt(left_over(k, q, names, weight, weight + k->n));
    *v = (ft_estimate){v->value * change, change * fmax(v->low, v->value * exp(-reach)),
                       change * fmin(v->high, v->value * exp(reach)), v->basis, ""};
    return true;
}

static void scale(ft_estimate *v, double factor)
{
    v->value *= factor;
    v->low *= factor;
    v->high *= factor;
}

/* Its cap, or what it was told to keep to. */
static double most_power(const ft__device_use *on)
{
    const double cap = ft__pair_number(on->setting, "power");

    return cap > 0 ? cap : ft_device_get(on->device)->tdp_w;
}

static void correct_all(ft__network_estimate *e, const struct knowing *k,
                        const double *part, double *weight, double most_w)
{
    const double before = e->time.value;

    correct(&e->time, k, TIME, part, weight);
    if (!correct(&e->energy, k, ENERGY, part, weight))
        scale(&e->energy, e->time.value / before);
    correct(&e->power, k, POWER, part, weight);
    scale(&e->energy, fmin(1, most_w * e->time.value / e->energy.value));
    scale(&e->power, e->energy.value / e->time.value / e->power.value);
    for (int i = 0; i < FT_PHASE_COUNT; i++)
        scale(&e->phase_time[i], e->time.value / before);
}

ft_status ft__networks_known_correct(ft__network_estimate *e, const ft_predictor *p,
                                     const ft__device_use *on, const ft_graph *g,
                                     ft_error *err)
{
    const size_t most = on->networks->networks.n;
    struct knowing k = {.network = calloc(most + 1, sizeof(*k.network))};
    double *weight = calloc(2 * most + 1, sizeof(*weight)), part[PARTS];
    ft_status st =
        k.network && weight ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu networks", most);

    if (!st)
        st = take_all(&k, p, on, g, err);
    if (!st && weigh(weight, &k, TIME) >= FT__LEAST_NETWORKS &&
        take_parts(part, e, g)) {
        correct_all(e, &k, part, weight, most_power(on));
        e->n_known += (uint32_t)k.n;
    }
    free(weight);
    free(k.network);
    return st;
}
