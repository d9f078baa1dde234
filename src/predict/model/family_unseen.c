/* Intervals of devices that were not measured: what they have in common with those that
 * were, and how far off answers may be for what is not known of them. */
#include "predict/model/family.h"

#include <math.h>
#include <string.h>

#include "physics/setting.h"
#include "predict/data/baseline.h"
#include "predict/model/regressor.h"

/* The least interval factor of devices other than GPUs. */
static const double least_of_other_sort = 3;

/* What the devices that a metric was learned of have in common with one that was not
 * among them. */
struct relation {
    bool type;             /* one is of its type */
    bool maker;            /* and of its maker, too */
    bool several;          /* those of its type are of two chips or more */
    double oldest, newest; /* compute capabilities of the maker's; NaN */
};

static struct relation relation_to(const ft__family *f, ft__metric metric,
                                   const ft__dataset *on)
{
    const ft__model_set *l = ft__family_any(f, metric);
    const ft__hardware own = ft__hardware_of(on->file), *first = NULL;
    struct relation k = {.oldest = NAN, .newest = NAN};

    for (uint32_t i = 0; l && i < f->n_datasets; i++) {
        const ft__hardware *h = &f->templates[i].hardware;

        if (!l->rows_of[i])
            continue;
        if (strcmp(h->type, own.type) != 0)
            continue;
        first = first ? first : h;
        k.several = k.several || strcmp(h->chip, first->chip) != 0;
        if (strcmp(h->vendor, own.vendor) != 0)
            continue;
        k.maker = true;
        k.oldest = fmin(k.oldest, h->capability);
        k.newest = fmax(k.newest, h->capability);
    }
    k.type = first != NULL;
    return k;
}

/* 90 % of what other makers' kernels differ by, in log. On the MI100, the only such GPU
 * with rows, 0.4 covers 75 % of batched products. */
static const double between_makers = 0.4;

static double least_reach(const struct relation *k, const ft__dataset *on, bool time)
{
    if (strcmp(ft__hardware_of(on->file).type, "gpu") != 0)
        return least_of_other_sort;
    return k->several && (k->maker || (k->type && time)) ? 1 : FT__LEAST_REACH;
}

/* The largest interval factor on any device: intervals of kinds never measured have no
 * bound of their own. Chosen, not measured. */
static const double most_reach = 7;

/* Times shrink to the estimate by constants that nothing was fitted to. */
static void shrink_to_specification(ft__op_answer *out, const ft__model_set *l,
                                    const ft__samples *s, double share)
{
    for (size_t i = 0; i < s->n; i++) {
        double change;
        ft__terms t;

        ft__base_terms_by(&l->base, ft__physics_defaults(), &t, s, (uint32_t)i);
        change = pow(t.total_s / out[i].value, 1 - share);
        if (!isfinite(change) || s->dataset[s->v[i].dataset].roof)
            continue;
        out[i].value *= change;
        out[i].low *= change;
        out[i].high *= change;
    }
}

/* What hosts differ by, 90 % of the logarithm either way: 0.355 from the estimate (a
 * P100, a T4, an A100 and an MI100 of NeuSight, four hosts of Justus), times
 * Student's 1.86 for 8 degrees of freedom. */
static const double between_hosts = 0.66;
/* Likewise of TensorFlow 1's sessions of linear layers: 0.38, of these four. */
static const double between_sessions = 0.71;

/* Of a device newer than all that were measured, or older, 90 % of the logarithm for
 * each generation between: without it recurrent gradients of a Titan X (Maxwell) are
 * covered by 68 to 74 % (docs/notes/one-model.md). */
static const double between_generations = 0.15;
/* Of attention on a newer generation: its kernels are written anew for each, and what
 * the estimate lacks of them is unknown. What covers 90 % of single tokens on an A100
 * and an H200 whose own kernels are taken out of the estimate. */
static const double of_new_attention = 0.4;

/* Logarithm of the estimate beside a host that takes `times` as long over that by the
 * constants; 0 where the host is none of it. */
static double beside_host(const ft__terms *t, double times)
{
    ft__terms other = *t;
    double change;

    ft__physics_with_host(&other, times);
    change = log(other.total_s / t->total_s);
    return isfinite(change) ? change : 0;
}

/* An eager operation may have another host, of those that are known to be; what its
 * device takes may be off by what generations differ by. */
static void widen_for_unknown(ft__op_answer *out, const struct relation *k,
                              const ft__dataset *on, const ft__samples *s)
{
    /* Generations: one for each 1.0. */
    const double capability = ft__hardware_of(on->file).capability;
    const double newer = capability - k->newest;
    const double beyond = fmax(newer, k->oldest - capability);
    const bool gpu = strcmp(ft__hardware_of(on->file).type, "gpu") == 0;
    const bool tensorflow = ft__setting_read(on->setting).tensorflow;

    for (size_t i = 0; i < s->n; i++) {
        const ft__terms *t = &s->terms[i];
        const bool anew = newer > 0 && s->v[i].op.kind == FT_KIND_attention;
        const double kernels = anew ? of_new_attention * fmin(newer, 1)
                               : gpu && k->type && !k->maker ? between_makers
                                                             : 0;
        const double own =
            ft__device_share(t) * hypot(between_generations * fmax(beyond, 0), kernels);
        const double hosts = on->timed ? FT__TIMED_HOST
                             : ft__is_session(&s->v[i].op, tensorflow)
                                 ? between_sessions
                                 : between_hosts;
        const double down = hypot(own, beside_host(t, exp(-hosts))),
                     up = hypot(own, beside_host(t, exp(hosts)));

        if (!(up > 0))
            continue;
        out[i].low = out[i].value * exp(-hypot(log(out[i].value / out[i].low), down));
        out[i].high = out[i].value * exp(hypot(log(out[i].high / out[i].value), up));
    }
}

void ft__family_bound(ft__op_answer *out, size_t n, double least, double most)
{
    for (size_t i = 0; i < n; i++) {
        double down = fmin(fmax(out[i].value / out[i].low, least), most);
        double up = fmin(fmax(out[i].high / out[i].value, least), most);

        out[i].low = out[i].value / down;
        out[i].high = out[i].value * up;
    }
}

void ft__family_fit_to_device(ft__op_answer *out, const ft__family *f,
                              const ft__model_set *l, const ft__dataset *on,
                              const ft__samples *s)
{
    const ft__metric metric = l->opt.metric;
    struct relation k;
    double least;

    if (ft__family_knows(f, metric, on)) {
        ft__family_bound(out, s->n, 1, most_reach);
        return;
    }
    k = relation_to(f, metric, on);
    least = least_reach(&k, on, metric == FT__METRIC_TIME);
    /* What was learned applies in part to other makers, not to other types. */
    if (metric == FT__METRIC_TIME && on->file && !k.maker)
        shrink_to_specification(out, l, s, k.type ? FT__ONE_CHIP_SHARE : 0);
    if (metric == FT__METRIC_TIME)
        widen_for_unknown(out, &k, on, s);
    ft__family_bound(out, s->n, least, k.type ? most_reach : least);
    for (size_t i = 0; i < s->n; i++)
        out[i].far = out[i].far || !k.maker;
}
