/* Power and energy of NVIDIA GPUs (NVML). */
#include <math.h>
#include <stdio.h>

#include "device/power/source.h"

/* What of a GPU a source is of. */
enum {
    WHOLE = FT__NVML_SCOPE_GPU,
    MODULE = FT__NVML_SCOPE_MODULE,
    MEMORY = FT__NVML_SCOPE_MEMORY
};

static bool energy(const ft__nvml *n, void *gpu, double *joules)
{
    unsigned long long millijoules;

    if (FT__NVML_CALL(n, total_energy, gpu, &millijoules))
        return false;
    *joules = (double)millijoules * 1e-3;
    return true;
}

/* The instant where the driver tells it, else what nvidia-smi showed before. */
static int power(const ft__nvml *n, void *gpu, double *watts)
{
    unsigned milliwatts;
    int code;

    *watts = ft__nvml_field_watts(n, gpu, FT__NVML_POWER_INSTANT, WHOLE);
    if (isfinite(*watts))
        return 0;
    code = FT__NVML_CALL(n, power_usage, gpu, &milliwatts);
    if (code == 0)
        *watts = milliwatts * 1e-3;
    return code;
}

static ft__read read_gpu(ft__power_source *s, ft_power_reading *out)
{
    const ft__nvml *n = &s->all->nvml;
    bool counts = energy(n, s->state, &out->joules);
    int code = power(n, s->state, &out->watts);

    if (counts || code == 0)
        return FT__READ_GOOD;
    snprintf(s->why, sizeof(s->why), "%s", n->error_string(code));
    return FT__READ_FAILED;
}

static double part_watts(const ft__nvml *n, void *gpu, unsigned scope)
{
    double watts = ft__nvml_field_watts(n, gpu, FT__NVML_POWER_INSTANT, scope);

    return watts > 0 ? watts
                     : ft__nvml_field_watts(n, gpu, FT__NVML_POWER_AVERAGE, scope);
}

static ft__read read_part(ft__power_source *s, ft_power_reading *out)
{
    out->watts = part_watts(&s->all->nvml, s->state, s->index);
    if (out->watts > 0)
        return FT__READ_GOOD;
    out->watts = NAN;
    snprintf(s->why, sizeof(s->why), "the driver no longer tells it");
    return FT__READ_FAILED;
}

/* What is known of the sensors (arXiv 2312.02741): those of GA100 and Hopper look
 * for about 25 ms of each 100 ms; nvmlDeviceGetPowerUsage averages over a second
 * from GA102 on. */
static void set_window(const ft__nvml *n, void *gpu, ft_domain *d)
{
    bool instant =
        isfinite(ft__nvml_field_watts(n, gpu, FT__NVML_POWER_INSTANT, WHOLE));
    int major = 0, minor = 0;

    (void)FT__NVML_CALL(n, compute_capability, gpu, &major, &minor);
    if (!instant && (major > 8 || (major == 8 && minor > 0)))
        d->window_s = 1;
    else if ((major == 8 && minor == 0) || major == 9) {
        d->window_s = 0.025;
        d->duty = 0.25;
    }
    d->least_s = 5; /* the counter's error is gone from here on: zeus#181 */
}

static void set_names(const ft__nvml *n, ft__sources *all, ft__power_source *s)
{
    char uuid[96];
    ft__nvml_pci pci;
    unsigned mig = 0, next;

    if (FT__NVML_CALL(n, uuid, s->state, uuid, sizeof(uuid)) == 0)
        s->alias[0] = ft__source_keep(all, "nvml:%s", uuid);
    if (FT__NVML_CALL(n, pci, s->state, &pci) == 0)
        s->alias[1] = ft__source_keep(all, "nvml:%.32s", pci.id);
    if (FT__NVML_CALL(n, mig_mode, s->state, &mig, &next) == 0 && mig)
        s->d.note = "MIG is on: this is the whole GPU's, not one instance's";
}

static ft__power_source *add_part(ft__sources *all, unsigned gpu, void *handle,
                                  unsigned scope, const char *what)
{
    ft__power_source *s;

    if (!(part_watts(&all->nvml, handle, scope) > 0))
        return NULL;
    s = ft__source_add(all, ft__source_keep(all, "nvml:%u/%s", gpu, what));
    if (!s)
        return NULL;
    s->state = handle;
    s->index = scope;
    s->read = read_part;
    s->d.tells_power = 1;
    s->d.least_s = 5;
    return s;
}

/* A module (GPU and CPU of a Grace Hopper) contains the GPU, that its memory. */
static void add_gpu(ft__sources *all, unsigned gpu)
{
    const ft__nvml *n = &all->nvml;
    void *handle = NULL;
    int code = n->handle_by_index(gpu, &handle);
    ft__power_source *s = ft__source_add(all, ft__source_keep(all, "nvml:%u", gpu)),
                     *part;
    const char *name;
    double v;

    if (!s)
        return;
    name = s->d.name;
    if (code) {
        ft__source_refuse(s, ft__source_keep(all, "%s", n->error_string(code)), "");
        return;
    }
    s->state = handle;
    s->read = read_gpu;
    s->d.counts = energy(n, handle, &v);
    s->d.tells_power = power(n, handle, &v) == 0;
    set_window(n, handle, &s->d);
    set_names(n, all, s);
    part = add_part(all, gpu, handle, MODULE, "module");
    if (part)
        all->source[all->n - 2].d.part_of = part->d.name;
    part = add_part(all, gpu, handle, MEMORY, "memory");
    if (part)
        part->d.part_of = name;
}

static void find(ft__sources *all)
{
    const char *library = all->nvml_library;

    if (!library || !ft__nvml_open(&all->nvml, library,
                                   ft__sources_has_pci(all, "0x10de", false))) {
        ft__power_source *s = ft__source_add(all, "nvml");

        if (s)
            ft__source_refuse(s,
                              library ? ft__source_keep(all, "%s", all->nvml.reason)
                                      : "not part of a recorded machine",
                              library ? all->nvml.remedy : "");
        return;
    }
    for (unsigned i = 0; i < all->nvml.n_devices; i++)
        add_gpu(all, i);
}

const ft__power_kind ft__sources_nvml = {.find = find};
