/* Clocks and power cap of one NVIDIA GPU. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "device/clocks/plan.h"

static double to_hz(unsigned mhz)
{
    return mhz * 1e6;
}

struct gpu {
    const ft__nvml *gpus;
    void *handle;
    char number[16];
    const char *device;
    const ft_log *log;
    ft_error *err;
};

/* The nearest of the clocks that the device offers; *mhz 0: it offers none. */
static ft_status choose(unsigned *mhz, const struct gpu *g, double want_hz,
                        unsigned memory_mhz, const char *what)
{
    unsigned all[FT__NVML_MAX_CLOCKS];
    unsigned n = ft__nvml_clocks(all, g->gpus, g->handle, memory_mhz);
    double hz[FT__NVML_MAX_CLOCKS], near;

    *mhz = 0;
    if (!n)
        return ft_fail(g->err, FT_EUNSUPPORTED, 0, "%s does not tell its %s clocks",
                       g->device, what);
    for (unsigned i = 0; i < n; i++)
        hz[i] = to_hz(all[i]);
    near = ft__nearest(want_hz, hz, n, hz[0], hz[n - 1]);
    if (isnan(near))
        return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                       "%s has no %s clock of %.0f MHz; it goes from %u to %u MHz",
                       g->device, what, want_hz * 1e-6, all[0], all[n - 1]);
    if (fabs(near - want_hz) > 0.5e6)
        ft__log(g->log, FT_LOG_WARN,
                "%s has no %s clock of %.0f MHz; the nearest is taken, %.0f MHz",
                g->device, what, want_hz * 1e-6, near * 1e-6);
    *mhz = (unsigned)lround(near * 1e-6);
    return FT_OK;
}

/* The memory clock that core clocks are listed for: the one asked for, else the one
 * of now, else the highest. */
static unsigned memory_clock(const struct gpu *g)
{
    unsigned all[FT__NVML_MAX_CLOCKS], now;
    unsigned n = ft__nvml_clocks(all, g->gpus, g->handle, 0);

    if (FT__NVML_CALL(g->gpus, clock, g->handle, FT__NVML_CLOCK_MEMORY, &now) == 0)
        for (unsigned i = 0; i < n; i++)
            if (all[i] == now)
                return now;
    return n ? all[n - 1] : 0;
}

/* Pascal and before know application clocks only, both clocks in one; and those may
 * be opened to every user. */
static void plan_applications(ft__plan *p, const struct gpu *g, unsigned memory,
                              unsigned core)
{
    unsigned old_memory, old_core;

    if (FT__NVML_CALL(g->gpus, clock_application, g->handle, FT__NVML_CLOCK_MEMORY,
                      &old_memory) ||
        FT__NVML_CALL(g->gpus, clock_application, g->handle, FT__NVML_CLOCK_GRAPHICS,
                      &old_core))
        return;
    ft__acts_add(&p->instead, FT__ACT_APPLICATIONS, g->number, "%u,%u",
                 memory ? memory : old_memory, core ? core : old_core);
    ft__acts_add(&p->restore, FT__ACT_APPLICATIONS, g->number, "%u,%u", old_memory,
                 old_core);
}

/* Whether a clock was locked before is told by nothing: it is free afterwards. */
static void plan_lock(ft__plan *p, const struct gpu *g, ft__verb verb, unsigned mhz)
{
    ft__acts_add(&p->apply, verb, g->number, "%u,%u", mhz, mhz);
    ft__acts_add(&p->restore, verb, g->number, "free");
}

static ft_status plan_clocks(ft__plan *p, const struct gpu *g)
{
    unsigned core = 0, memory = 0;
    ft_status st = FT_OK;

    if (p->chosen.memory_clock_hz > 0) {
        st = choose(&memory, g, p->chosen.memory_clock_hz, 0, "memory");
        p->chosen.memory_clock_hz = to_hz(memory);
    }
    if (!st && p->chosen.core_clock_hz > 0) {
        st = choose(&core, g, p->chosen.core_clock_hz,
                    memory ? memory : memory_clock(g), "core");
        p->chosen.core_clock_hz = to_hz(core);
    }
    if (st || (!core && !memory))
        return st;
    if (memory)
        plan_lock(p, g, FT__ACT_MEMORY, memory);
    if (core)
        plan_lock(p, g, FT__ACT_CORE, core);
    plan_applications(p, g, memory, core);
    return FT_OK;
}

static ft_status plan_power(ft__plan *p, const struct gpu *g)
{
    double want = p->chosen.power_cap_w;
    unsigned now, least, most;
    int code;

    if (!(want > 0))
        return FT_OK;
    code = FT__NVML_CALL(g->gpus, power_limit, g->handle, &now);
    if (!code)
        code = FT__NVML_CALL(g->gpus, power_limit_range, g->handle, &least, &most);
    if (code)
        return ft_fail(g->err, FT_EUNSUPPORTED, 0, "%s: it has no power cap: %s",
                       g->device, g->gpus->error_string(code));
    if (!(want >= 1e-3 * least && want <= 1e-3 * most))
        return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                       "%s takes no power cap of %.6g W; it goes from %.6g to %.6g W",
                       g->device, want, 1e-3 * least, 1e-3 * most);
    ft__acts_add(&p->apply, FT__ACT_POWER, g->number, "%.0f", 1e3 * want);
    ft__acts_add(&p->restore, FT__ACT_POWER, g->number, "%u", now);
    return FT_OK;
}

ft_status ft__plan_gpu(ft__plan *p, ft__machine *m, const ft_log *log, ft_error *err)
{
    struct gpu g = {
        .gpus = &m->gpus, .device = p->chosen.device, .log = log, .err = err};
    unsigned index;
    ft_status st;

    if (p->chosen.cpus_online || p->chosen.governor || p->chosen.turbo)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s has no CPUs, governors and turbo; those are --device cpu's",
                       g.device);
    st = ft__machine_gpus(m, err);
    if (!st)
        st = ft__nvml_find(&g.handle, &index, &m->gpus, g.device, err);
    if (st)
        return st;
    snprintf(g.number, sizeof(g.number), "%u", index);
    /* The cap first: clocks may be beyond the present one. */
    st = plan_power(p, &g);
    return st ? st : plan_clocks(p, &g);
}

void ft__plan_free(ft__plan *p)
{
    ft__acts_free(&p->apply);
    ft__acts_free(&p->instead);
    ft__acts_free(&p->restore);
}

ft_status ft__plan_make(ft__plan *p, const ft_settings *want, ft__machine *m,
                        const ft_log *log, ft_error *err)
{
    ft_status st;

    *p = (ft__plan){.chosen = *want};
    if (!want->device || strcmp(want->device, "cpu") == 0)
        st = ft__plan_cpu(p, m, log, err);
    else
        st = ft__plan_gpu(p, m, log, err);
    if (!st && (p->apply.bad || p->instead.bad || p->restore.bad))
        st = ft_fail(err, FT_ENOMEM, 0, "settings");
    return st;
}
