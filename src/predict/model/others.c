/* The answer of a regressor, and what other chips took for the same operation. */
#include "predict/model/others.h"

#include <math.h>
#include <string.h>

#include "predict/file/image.h"
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

ft_status ft__templates_check(ft__templates *t, ft_error *err)
{
    if (t->section && !atomic_load(&t->sound)) {
        if (!ft__predictor_sound(t->section, t->bytes, t->checksum))
            return ft__predictor_damaged(0, "templates fail the checksum", err);
        atomic_store(&t->sound, true);
    }
    return FT_OK;
}

/* The index of an operation; t->n: it was not measured. */
static size_t place_of(const ft__templates *t, uint64_t hash)
{
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->hash[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n && t->hash[low] == hash ? low : t->n;
}

double ft__templates_ratio(const ft__templates *t, uint64_t hash)
{
    const size_t at = place_of(t, hash);

    return at < t->n ? (double)t->ratio[at] : (double)NAN;
}

/* Files are not trusted, so the error is bounded. */
double ft__templates_error(const ft__templates *t, uint64_t hash)
{
    const size_t at = place_of(t, hash);

    return t->error && at < t->n && t->error[at] > 0 ? fmin(t->error[at], 1) : 0;
}
