/* Datasets: what samples share, found, compared and copied, and the hardware that they
 * were measured on. */
#include "predict/data/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ft__dataset_free(ft__dataset *d)
{
    free(d->device);
    free(d->setting);
    free(d->engine);
    free(d->engine_version);
    free(d->policy);
    if (!d->borrowed)
        ft_device_free(d->file);
    free(d->roof);
}

const char *ft__dataset_chip(const ft__dataset *d)
{
    return d->file ? ft_device_get(d->file)->chip : d->device;
}

bool ft__dataset_copy(ft__dataset *out, const ft__dataset *d)
{
    *out = (ft__dataset){.device = strdup(d->device),
                         .setting = strdup(d->setting),
                         .engine = strdup(d->engine),
                         .engine_version = strdup(d->engine_version),
                         .policy = strdup(d->policy),
                         .n = d->n,
                         .file = d->file,
                         .borrowed = true,
                         .context_bytes = d->context_bytes,
                         .context_per_op_bytes = d->context_per_op_bytes,
                         .lowering = d->lowering};
    return out->device && out->setting && out->engine && out->engine_version &&
           out->policy;
}

static bool is_of(const ft__dataset *d, const ft_key *k, const char *setting)
{
    const ft__dataset asked = {.device = (char *)k->device,
                               .setting = (char *)setting,
                               .engine = (char *)k->engine,
                               .engine_version = (char *)k->engine_version,
                               .policy = (char *)k->dtype_policy};

    return ft__dataset_order(d, &asked) == 0;
}

uint32_t ft__dataset_of(ft__dataset **list, uint32_t *n, const ft_key *k,
                        const char *setting, bool add)
{
    ft__dataset *d;

    for (uint32_t i = *n; i > 0; i--)
        if (is_of(&(*list)[i - 1], k, setting))
            return i - 1;
    if (!add)
        return UINT32_MAX;
    d = realloc(*list, (*n + 1) * sizeof(*d));
    if (!d)
        return UINT32_MAX;
    *list = d;
    d += *n;
    *d = (ft__dataset){.device = strdup(k->device),
                       .setting = strdup(setting),
                       .engine = strdup(k->engine),
                       .engine_version = strdup(k->engine_version),
                       .policy = strdup(k->dtype_policy),
                       .context_bytes = NAN};
    if (d->device && d->setting && d->engine && d->engine_version && d->policy)
        return (*n)++;
    ft__dataset_free(d);
    return UINT32_MAX;
}

int ft__dataset_order(const ft__dataset *a, const ft__dataset *b)
{
    const char *const x[] = {a->device, a->engine, a->engine_version, a->policy,
                             a->setting};
    const char *const y[] = {b->device, b->engine, b->engine_version, b->policy,
                             b->setting};
    int order = 0;

    for (size_t i = 0; i < sizeof(x) / sizeof(*x) && !order; i++)
        order = strcmp(x[i], y[i]);
    return order;
}

ft__hardware ft__hardware_of(const ft_device *file)
{
    ft__hardware h = {.capability = NAN};
    const ft_device_facts *d = file ? ft_device_get(file) : NULL;

    if (!d)
        return h;
    memcpy(h.vendor, d->vendor, strnlen(d->vendor, sizeof(h.vendor) - 1));
    memcpy(h.chip, d->chip, strnlen(d->chip, sizeof(h.chip) - 1));
    memcpy(h.type, d->type, strnlen(d->type, sizeof(h.type) - 1));
    h.capability = d->compute_capability;
    return h;
}
