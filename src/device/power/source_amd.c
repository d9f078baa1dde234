/* Power and energy of AMD GPUs (rocm_smi, amdsmi). */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/power/source.h"

/* AMD's management libraries: amdsmi, or the older rocm_smi; calls as their headers
 * give them, 0 is success. Energy is a count times a resolution in microjoules. */
struct amd {
    void *dl;
    int (*shut_down)(void);
    int (*energy)(void *gpu, uint64_t *count, float *resolution, uint64_t *time_ns);
    int (*rsmi_energy)(uint32_t gpu, uint64_t *, float *, uint64_t *);
    int (*rsmi_power)(uint32_t gpu, uint64_t *microwatts, int *kind);
    int (*rsmi_average)(uint32_t gpu, uint32_t sensor, uint64_t *microwatts);
};

enum { MOST_GPUS = 64, AMDSMI_GPUS = 2 /* AMDSMI_INIT_AMD_GPUS */ };

static bool joules_of(const struct amd *a, const ft__power_source *s, double *joules)
{
    uint64_t count, time;
    float resolution = 0;
    int code = -1;

    if (a->energy)
        code = a->energy(s->state, &count, &resolution, &time);
    else if (a->rsmi_energy)
        code = a->rsmi_energy(s->index, &count, &resolution, &time);
    if (code || !(resolution > 0))
        return false;
    *joules = (double)count * resolution * 1e-6;
    return true;
}

static bool watts_of(const struct amd *a, const ft__power_source *s, double *watts)
{
    uint64_t microwatts;
    int kind;

    if ((a->rsmi_power && a->rsmi_power(s->index, &microwatts, &kind) == 0) ||
        (a->rsmi_average && a->rsmi_average(s->index, 0, &microwatts) == 0)) {
        *watts = (double)microwatts * 1e-6;
        return true;
    }
    return false;
}

static ft__read read_gpu(ft__power_source *s, ft_power_reading *out)
{
    const struct amd *a = s->all->amd;
    bool counts = joules_of(a, s, &out->joules), tells = watts_of(a, s, &out->watts);

    if (counts || tells)
        return FT__READ_GOOD;
    snprintf(s->why, sizeof(s->why), "the library tells neither energy nor power");
    return FT__READ_FAILED;
}

static void add_gpu(ft__sources *all, unsigned index, void *handle)
{
    ft__power_source *s = ft__source_add(all, ft__source_keep(all, "amd:%u", index));
    ft_power_reading r = {NAN, NAN, NAN};

    if (!s)
        return;
    s->index = index;
    s->state = handle;
    s->read = read_gpu;
    s->d.counts = joules_of(all->amd, s, &r.joules);
    s->d.tells_power = watts_of(all->amd, s, &r.watts);
}

/* GPUs of all sockets. False: the library does not start. */
static bool with_amdsmi(ft__sources *all, struct amd *a)
{
    int (*init)(uint64_t), (*sockets)(uint32_t *, void **);
    int (*processors)(void *, uint32_t *, void **);
    void *socket[MOST_GPUS], *gpu[MOST_GPUS];
    uint32_t n_sockets = MOST_GPUS, n;
    unsigned index = 0;

    *(void **)&init = dlsym(a->dl, "amdsmi_init");
    *(void **)&sockets = dlsym(a->dl, "amdsmi_get_socket_handles");
    *(void **)&processors = dlsym(a->dl, "amdsmi_get_processor_handles");
    *(void **)&a->energy = dlsym(a->dl, "amdsmi_get_energy_count");
    if (!init || !sockets || !processors || !a->energy || init(AMDSMI_GPUS)) {
        a->energy = NULL;
        return false;
    }
    *(void **)&a->shut_down = dlsym(a->dl, "amdsmi_shut_down");
    if (sockets(&n_sockets, socket))
        return true;
    for (uint32_t i = 0; i < n_sockets && i < MOST_GPUS; i++) {
        n = MOST_GPUS;
        if (processors(socket[i], &n, gpu))
            continue;
        for (uint32_t j = 0; j < n && j < MOST_GPUS; j++)
            add_gpu(all, index++, gpu[j]);
    }
    return true;
}

static bool with_rocm_smi(ft__sources *all, struct amd *a)
{
    int (*init)(uint64_t), (*count)(uint32_t *);
    uint32_t n = 0;

    *(void **)&init = dlsym(a->dl, "rsmi_init");
    *(void **)&count = dlsym(a->dl, "rsmi_num_monitor_devices");
    if (!init || !count || init(0))
        return false;
    *(void **)&a->shut_down = dlsym(a->dl, "rsmi_shut_down");
    *(void **)&a->rsmi_energy = dlsym(a->dl, "rsmi_dev_energy_count_get");
    *(void **)&a->rsmi_power = dlsym(a->dl, "rsmi_dev_power_get");
    *(void **)&a->rsmi_average = dlsym(a->dl, "rsmi_dev_power_ave_get");
    if (count(&n) == 0)
        for (uint32_t i = 0; i < n && i < MOST_GPUS; i++)
            add_gpu(all, i, NULL);
    return true;
}

/* Of "a|b|c". */
static void *load_first(const char *names)
{
    char name[256];
    void *dl = NULL;

    while (!dl && *names) {
        size_t len = strcspn(names, "|");

        snprintf(name, sizeof(name), "%.*s", (int)len, names);
        dl = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        names += len + (names[len] == '|');
    }
    return dl;
}

static void close_amd(void *amd)
{
    struct amd *a = amd;

    if (a->shut_down)
        a->shut_down();
    if (a->dl)
        dlclose(a->dl);
    free(a);
}

static void find(ft__sources *all)
{
    const char *library = all->amd_library;
    size_t before = all->n;
    struct amd *a;

    if (!library || !(a = calloc(1, sizeof(*a))))
        return;
    all->amd = a;
    all->close_amd = close_amd;
    a->dl = load_first(library);
    if (!a->dl || (!with_rocm_smi(all, a) && !with_amdsmi(all, a)))
        a->shut_down = NULL;
    /* hwmon:amdgpu tells power without it: nothing to say where no AMD GPU is. */
    if (all->n == before && ft__sources_has_pci(all, "0x1002", true))
        ft__source_absent(all, "amd",
                          a->dl ? "AMD's management library sees no GPU"
                                : "neither rocm_smi nor amdsmi is installed",
                          a->dl ? "" : "install rocm-smi-lib or amd-smi-lib");
}

const ft__power_kind ft__sources_amd = {.find = find};
