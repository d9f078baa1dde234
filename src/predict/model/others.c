/* The answer of a regressor, and what other chips took for the same operation. */
#include "predict/model/others.h"

#include <math.h>
#include <string.h>

#include "predict/model/model_set.h"

/* In compute capability: Pascals are 0.1 apart, Maxwell and Pascal 0.8 to 0.9. Chosen
 * on DeepBench's operations (docs/notes/one-model.md). */
static const double reach = 0.3;
/* Of devices whose maker numbers no architectures. Set, not fitted. */
static const double unknown_distance = 1;

/* Generations differ by more than their numbers: 8.9 and 9.0. */
static double distance_between(const ft__hardware *a, const ft__hardware *b)
{
    const double x = a->capability, y = b->capability;

    if (!isfinite(x) || !isfinite(y))
        return unknown_distance;
    return fabs(x - y) + (floor(x) != floor(y) ? 1 : 0);
}

double ft__others_weight(const ft__hardware *own, const ft__hardware *other)
{
    if (!*own->type || strcmp(own->type, other->type) != 0 ||
        strcmp(own->vendor, other->vendor) != 0)
        return 0;
    return exp(-distance_between(own, other) / reach);
}

/* Chips as near as a P100 and a GTX 1080 Ti have the same kernels, whatever the known
 * ones show of each other, which may all be far. Both chosen on DeepBench's Pascals. */
static const double close = 0.15, share_of_close = 0.75;

/* The farther the nearest, the more is it as unsure as the regressor's answer. What the
 * host takes of it says nothing of another device's. */
static void take(ft__op_answer *a, const ft__others *o, double least,
                 const ft__others_ratio *r, const ft__terms *t)
{
    const double share = fmax(o->share, least) * ft__device_share(t);
    const double template_s = (a->base - t->aside_s) * exp(r->mean) + t->aside_s;
    const double sure = o->share > 0 ? r->weight : 0;
    const double low = pow(a->low / a->value, 1 - sure) * exp(sure * o->low);
    const double high = pow(a->high / a->value, 1 - sure) * exp(sure * o->high);

    a->value *= pow(template_s / a->value, share);
    a->low = a->value * low;
    a->high = a->value * high;
}

void ft__others_take(ft__op_answer *out, const ft__model_set *l, const ft__samples *s,
                     const ft__others_ratio *ratio, bool few)
{
    static const ft__others none;

    for (size_t i = 0; i < s->n; i++) {
        const bool known = out[i].part < l->n_regressors;
        const ft__others *o = known ? &l->part[out[i].part].others : &none;
        const double least =
            few && ratio[i].weight > exp(-close / reach) ? share_of_close : 0;

        if (isfinite(ratio[i].mean) && fmax(o->share, least) > 0)
            take(&out[i], o, least, &ratio[i], &s->terms[i]);
    }
}
