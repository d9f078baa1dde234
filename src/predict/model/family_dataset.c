/* The datasets of a family: which one is meant, or most like what is asked. */
#include <math.h>
#include <string.h>

#include "base/pairs.h"
#include "predict/model/family.h"

bool ft__is_named(const char *asked, const char *known)
{
    return asked && strcmp(asked, known) == 0;
}

ft__device_use ft__dataset_use(const ft__dataset *d)
{
    return (ft__device_use){.device = d->file,
                            .name = d->device,
                            .setting = d->setting,
                            .policy = d->policy,
                            .engine = d->engine,
                            .engine_version = d->engine_version};
}

/* NULL: they are of several, or there are none. */
static const ft__dataset *only_device(const ft__family *f)
{
    if (!f->n_datasets || f->n_alone)
        return NULL;
    for (uint32_t i = 1; i < f->n_datasets; i++)
        if (strcmp(f->dataset[i].device, f->dataset[0].device) != 0)
            return NULL;
    return &f->dataset[0];
}

const ft__dataset *ft__family_machine(const ft__family *f)
{
    const ft__dataset *d = only_device(f);

    for (uint32_t i = 0; d && i < f->n_datasets; i++)
        if (f->dataset[i].roof)
            return &f->dataset[i];
    return d && !*f->templates[0].hardware.type ? d : NULL;
}

int ft__pairs_in_common(const char *a, const char *b)
{
    int n = 0;

    while (a && *a) {
        const size_t all = strcspn(a, " "), name = strcspn(a, "= ");
        size_t len;
        const char *value = name < all ? ft__pair_of(b, a, name, &len) : NULL;

        n += value && len == all - name - 1 && !memcmp(value, a + name + 1, len);
        a += all + (a[all] == ' ');
    }
    return n;
}

/* log10(rows) / 8 is below 3. */
static double most_of_setting(const char *setting)
{
    double sum = 3;

    for (; setting && *setting; setting++)
        sum += *setting == '=' ? 5 : 0;
    return sum;
}

/* Was power read in loops of another length? Such readings do not apply to the steady
 * state or to other loops. */
static bool is_of_another_loop(const ft__dataset *on, const ft__dataset *d)
{
    return !isnan(ft__loop_calls(d->setting)) &&
           !ft__is_same_loop(on->setting, d->setting);
}

/* The dataset that is most like what is asked. */
static const ft__dataset *most_like(const ft__family *f, const ft__dataset *on)
{
    const double of_setting = most_of_setting(on->setting);
    const ft__dataset *best = &f->dataset[0];
    double most = -INFINITY;

    for (uint32_t i = 0; i < f->n_datasets; i++) {
        const ft__dataset *d = &f->dataset[i];
        double is = 1000.0 * ft__is_named(on->device, d->device) +
                    300 * ft__is_named(on->engine, d->engine) +
                    100 * ft__is_named(on->engine_version, d->engine_version) +
                    50 * ft__is_named(on->policy, d->policy);

        if (is + of_setting <= most)
            continue;
        is += 5 * ft__pairs_in_common(on->setting, d->setting);
        is += log10(1 + (double)d->n) / 8;
        if (is > most && !is_of_another_loop(on, d)) {
            most = is;
            best = d;
        }
    }
    return best;
}

/* Clocks and caps, how long was measured and which calls are each device's own
 * affair. */
static bool is_own(const char *name, size_t n)
{
    static const char *const own[] = {"clock", "memory", "power", "loop", "calls"};

    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strlen(own[i]) == n && memcmp(name, own[i], n) == 0)
            return true;
    return false;
}

/* A setting, and the pairs that only the other one names. */
static void join_settings(ft__buf *out, const char *own, const char *other,
                          bool same_device)
{
    ft__buf_str(out, own ? own : "");
    while (*other) {
        const size_t all = strcspn(other, " "), name = strcspn(other, "= ");
        size_t len;

        if (name < all && !ft__pair_of(own, other, name, &len) &&
            (same_device || !is_own(other, name))) {
            ft__buf_str(out, out->len ? " " : "");
            ft__buf_add(out, other, all);
        }
        other += all + (other[all] == ' ');
    }
}

/* Are two settings the same pairs? */
static bool same_pairs(const char *a, const char *b)
{
    return strcmp(a, b) == 0 ||
           (strlen(a) == strlen(b) &&
            ft__pairs_in_common(a, b) == ft__pairs_in_common(a, a) &&
            ft__pairs_in_common(b, a) == ft__pairs_in_common(b, b));
}

uint32_t ft__family_index(const ft__family *f, const ft__dataset *on)
{
    uint32_t i = 0;

    while (i < f->n_datasets &&
           !(ft__is_named(on->device, f->dataset[i].device) &&
             ft__is_named(on->engine, f->dataset[i].engine) &&
             ft__is_named(on->engine_version, f->dataset[i].engine_version) &&
             ft__is_named(on->policy, f->dataset[i].policy) &&
             same_pairs(on->setting, f->dataset[i].setting)))
        i++;
    return i;
}

void ft__family_complete(ft__dataset *out, ft__buf *setting, const ft__family *f,
                         const ft__dataset *on)
{
    const ft__dataset *like = most_like(f, on);

    *out = *on;
    out->engine = on->engine ? on->engine : like->engine;
    out->engine_version =
        on->engine_version ? on->engine_version : like->engine_version;
    out->policy = on->policy ? on->policy : like->policy;
    join_settings(setting, on->setting,
                  is_of_another_loop(on, like) ? "" : like->setting,
                  ft__is_named(on->device, like->device));
    out->setting = setting->s;
}

bool ft__family_knows(const ft__family *f, ft__metric metric, const ft__dataset *on)
{
    const ft__model_set *l = f->model_set[metric][0];

    for (uint32_t i = 0; l && i < f->n_datasets; i++)
        if (l->rows_of[i] && ft__is_named(on->device, f->dataset[i].device) &&
            (metric != FT__METRIC_POWER ||
             ft__is_same_loop(on->setting, f->dataset[i].setting)))
            return true;
    return false;
}
