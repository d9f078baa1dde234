/* What operations of one dataset were measured to take, looked up. */
#include "predict/model/templates.h"

#include <math.h>

#include "predict/file/image.h"

ft_status ft__templates_check(ft__templates *t, ft_error *err)
{
    if (t->section && !atomic_load(&t->sound)) {
        if (!ft__predictor_sound(t->section, t->bytes, t->checksum))
            return ft__predictor_damaged(0, "templates fail the checksum", err);
        atomic_store(&t->sound, true);
    }
    return FT_OK;
}

/* Which one; t->n: it was not measured. */
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

/* What a file says may be anything. */
double ft__templates_error(const ft__templates *t, uint64_t hash)
{
    const size_t at = place_of(t, hash);

    return t->error && at < t->n && t->error[at] > 0 ? fmin(t->error[at], 1) : 0;
}
