/* From settings that are wanted to what has to be written. Of the CPU: clocks,
 * governors, turbo and cores as Linux shows them in kHz, see
 * Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst; of one NVIDIA GPU its
 * clocks and power cap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device/clocks/plan.h"
#include "device/cpus.h"
#include "device/sysfs.h"

/* Whether `cpu` is the first of those of `among` that share its clock. */
static bool leads(const char *root, unsigned cpu, const ft__cpus *among)
{
    char text[4096], *at = text, *end;

    ft__sys_text(text, sizeof(text), root, FT__CPUFREQ "related_cpus", cpu);
    for (unsigned long other; other = strtoul(at, &end, 10), end != at; at = end)
        if (other < cpu && among->has[other])
            return false;
    return true;
}

/* The one of `choices` that is nearest to `want`, else `want` itself within least ..
 * most; NaN when it is further outside than 2 %. */
static double nearest(double want, const double *choices, size_t n, double least,
                      double most)
{
    double best = fmin(fmax(want, least), most);

    if (!(want >= 0.98 * least && want <= 1.02 * most))
        return NAN;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || fabs(choices[i] - want) < fabs(best - want))
            best = choices[i];
    return best;
}

struct planning {
    ft__settings_plan *plan;
    const ft_settings *want;
    const char *root;
    const ft_log *log;
    ft_error *err;
    ft__cpus online, present;
    ft__cpus stay;    /* online also afterwards */
    double warned_hz; /* of a clock that was near; 0: not yet */
};

/* `value` while it is set, `before` afterwards. */
static void change(const struct planning *g, const char *path, const char *value,
                   const char *before)
{
    ft__acts_add(&g->plan->apply, FT__ACT_PUT, path, "%s", value);
    ft__acts_add(&g->plan->restore, FT__ACT_PUT, path, "%s", before);
}

static ft_status unsupported(const struct planning *g, const char *what)
{
    bool is_virtual = ft__is_virtual(g->root);

    return ft_fail(g->err, FT_EUNSUPPORTED, 0, "this %s shows no %s%s",
                   is_virtual ? "virtual machine" : "machine", what,
                   is_virtual ? "; set it on the host" : "");
}

/* CPU 0 stays where the kernel cannot take it away. */
static ft_status plan_cores(struct planning *g)
{
    ft__cpus want;
    char path[128], text[512];

    g->stay = g->online;
    if (!g->want->cpus_online)
        return FT_OK;
    if (!ft__cpus_parse(&want, g->want->cpus_online))
        return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                       "\"%s\" is no list of CPUs such as 0-3,8", g->want->cpus_online);
    for (unsigned i = 0; i < FT__MAX_CPUS; i++) {
        bool has = want.has[i] || i == 0;

        if (want.has[i] && !g->present.has[i]) {
            ft__cpus_print(&g->present, text, sizeof(text));
            return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                           "there is no CPU %u here; there are %s", i, text);
        }
        if (has == g->online.has[i] || !g->present.has[i])
            continue;
        snprintf(path, sizeof(path), FT__CPU "/cpu%u/online", i);
        if (ft__sys_text(text, sizeof(text), g->root, "%s", path))
            return unsupported(g, "way to take CPUs away");
        change(g, path, has ? "1" : "0", text);
        ft__cpus_put(&g->stay, i, has);
        if (has && (g->want->core_clock_hz > 0 || g->want->governor))
            return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                           "CPU %u is offline, and its clock is not known before it is "
                           "online; first: foretell clocks set --cpus %s --keep",
                           i, g->want->cpus_online);
    }
    return FT_OK;
}

static ft_status plan_turbo(struct planning *g, double clock_hz, double nominal_hz)
{
    const char *want = g->want->turbo;
    bool on = want && strcmp(want, "on") == 0;
    ft__turbo t;

    if (want && !on && strcmp(want, "off") != 0)
        return ft_fail(g->err, FT_EUNSUPPORTED, 0, "turbo is on or off, not \"%s\"",
                       want);
    if (!ft__turbo_read(&t, g->root))
        return want ? unsupported(g, "switch for turbo clocks") : FT_OK;
    if (t.is_on == on || (!want && !(clock_hz <= 1.001 * nominal_hz)))
        return FT_OK;
    change(g, t.path, on ? t.on : t.off, t.is_on ? t.on : t.off);
    return FT_OK;
}

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = list; len && (p = strstr(p, word)); p += len)
        if ((p == list || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
            return true;
    return false;
}

static ft_status plan_governor(struct planning *g, const ft__policy *p)
{
    const char *want = g->want->governor;
    char path[128], speed[64];

    if (!want || strcmp(want, p->governor) == 0)
        return FT_OK;
    if (!has_word(p->governors, want))
        return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                       "CPU %u has no governor \"%s\"; it has %s", p->cpu, want,
                       p->governors);
    snprintf(path, sizeof(path), FT__CPUFREQ "scaling_governor", p->cpu);
    change(g, path, want, p->governor);
    /* Its clock is forgotten with it. */
    snprintf(path, sizeof(path), FT__CPUFREQ "scaling_setspeed", p->cpu);
    if (strcmp(p->governor, "userspace") == 0 &&
        ft__sys_text(speed, sizeof(speed), g->root, "%s", path) == 0)
        ft__acts_add(&g->plan->restore, FT__ACT_PUT, path, "%s", speed);
    return FT_OK;
}

static void limits(ft__acts *a, const ft__policy *p, double low_hz, double high_hz)
{
    char low[128], high[128];

    snprintf(low, sizeof(low), FT__CPUFREQ "scaling_min_freq", p->cpu);
    snprintf(high, sizeof(high), FT__CPUFREQ "scaling_max_freq", p->cpu);
    /* The lower limit may never pass the upper one, not even in between. */
    ft__acts_add(a, FT__ACT_PUT, low, "%.0f", p->least_hz * 1e-3);
    ft__acts_add(a, FT__ACT_PUT, high, "%.0f", high_hz * 1e-3);
    ft__acts_add(a, FT__ACT_PUT, low, "%.0f", low_hz * 1e-3);
}

static ft_status plan_clock(struct planning *g, const ft__policy *p)
{
    double want = g->want->core_clock_hz;
    double hz = nearest(want, p->step_hz, p->n_steps, p->least_hz, p->most_hz);

    if (isnan(hz))
        return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                       "CPU %u has no clock of %.0f MHz; it goes from %.0f to %.0f MHz",
                       p->cpu, want * 1e-6, p->least_hz * 1e-6, p->most_hz * 1e-6);
    if (fabs(hz - want) > 0.5e6 && hz != g->warned_hz) {
        ft__log(g->log, FT_LOG_WARN,
                "CPU %u has no clock of %.0f MHz; the nearest is taken, %.0f MHz",
                p->cpu, want * 1e-6, hz * 1e-6);
        g->warned_hz = hz;
    }
    limits(&g->plan->apply, p, hz, hz);
    limits(&g->plan->restore, p, p->low_hz, p->high_hz);
    if (g->plan->chosen.core_clock_hz == want) /* the first CPU's */
        g->plan->chosen.core_clock_hz = hz;
    return FT_OK;
}

typedef ft_status (*each_policy)(struct planning *g, const ft__policy *p);

static ft_status for_policies(struct planning *g, each_policy plan)
{
    ft_status st = FT_OK;
    size_t n = 0;

    for (unsigned i = 0; i < FT__MAX_CPUS && !st; i++) {
        ft__policy p;

        if (!g->stay.has[i] || !ft__policy_read(&p, g->root, i))
            continue;
        n++;
        if (leads(g->root, i, &g->stay))
            st = plan(g, &p);
    }
    if (!st && !n)
        st = unsupported(g, "CPU clock (" FT__CPU "/cpu0/cpufreq)");
    return st;
}

static ft_status plan_cpu(ft__settings_plan *p, const ft__machine *m, const ft_log *log,
                          ft_error *err)
{
    const ft_settings want = p->chosen;
    struct planning g = {
        .plan = p, .want = &want, .root = m->root, .log = log, .err = err};
    ft__policy first = {.nominal_hz = NAN};
    ft_status st;

    if (want.memory_clock_hz > 0 || want.power_cap_w > 0)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "a CPU's memory clock and power cap cannot be set; name a GPU, "
                       "--device nvml:0");
    ft__cpus_online(&g.online, &g.present, m->root);
    st = plan_cores(&g);
    if (!st && (want.turbo || want.core_clock_hz > 0)) {
        if (ft__cpus_first(&g.stay) < FT__MAX_CPUS)
            (void)ft__policy_read(&first, m->root, ft__cpus_first(&g.stay));
        st = plan_turbo(&g, want.core_clock_hz, first.nominal_hz);
    }
    if (!st && want.governor)
        st = for_policies(&g, plan_governor);
    if (!st && want.core_clock_hz > 0)
        st = for_policies(&g, plan_clock);
    return st;
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
    double hz[FT__NVML_MAX_CLOCKS], near;
    unsigned n = ft__nvml_clocks(hz, g->gpus, g->handle, memory_mhz);

    *mhz = 0;
    if (!n)
        return ft_fail(g->err, FT_EUNSUPPORTED, 0, "%s does not tell its %s clocks",
                       g->device, what);
    near = nearest(want_hz, hz, n, hz[0], hz[n - 1]);
    if (isnan(near))
        return ft_fail(g->err, FT_EUNSUPPORTED, 0,
                       "%s has no %s clock of %.0f MHz; it goes from %.0f to %.0f MHz",
                       g->device, what, want_hz * 1e-6, hz[0] * 1e-6, hz[n - 1] * 1e-6);
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
    double hz[FT__NVML_MAX_CLOCKS];
    unsigned n = ft__nvml_clocks(hz, g->gpus, g->handle, 0), now;

    if (FT__NVML_CALL(g->gpus, clock, g->handle, FT__NVML_CLOCK_MEMORY, &now) == 0)
        for (unsigned i = 0; i < n; i++)
            if (hz[i] == now * 1e6)
                return now;
    return n ? (unsigned)lround(hz[n - 1] * 1e-6) : 0;
}

/* Pascal and before know application clocks only, both clocks in one; and those may
 * be opened to every user. */
static void plan_applications(ft__settings_plan *p, const struct gpu *g,
                              unsigned memory, unsigned core)
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

/* Nothing says whether a clock was locked before: it is free afterwards. */
static void plan_lock(ft__settings_plan *p, const struct gpu *g, ft__verb verb,
                      unsigned mhz)
{
    ft__acts_add(&p->apply, verb, g->number, "%u,%u", mhz, mhz);
    ft__acts_add(&p->restore, verb, g->number, "free");
}

static ft_status plan_clocks(ft__settings_plan *p, const struct gpu *g)
{
    unsigned core = 0, memory = 0;
    ft_status st = FT_OK;

    if (p->chosen.memory_clock_hz > 0) {
        st = choose(&memory, g, p->chosen.memory_clock_hz, 0, "memory");
        p->chosen.memory_clock_hz = memory * 1e6;
    }
    if (!st && p->chosen.core_clock_hz > 0) {
        st = choose(&core, g, p->chosen.core_clock_hz,
                    memory ? memory : memory_clock(g), "core");
        p->chosen.core_clock_hz = core * 1e6;
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

static ft_status plan_power(ft__settings_plan *p, const struct gpu *g)
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

static ft_status plan_gpu(ft__settings_plan *p, ft__machine *m, const ft_log *log,
                          ft_error *err)
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

ft_status ft__plan_make(ft__settings_plan *p, const ft_settings *want, ft__machine *m,
                        const ft_log *log, ft_error *err)
{
    ft_status st;

    *p = (ft__settings_plan){.chosen = *want};
    if (!want->device || strcmp(want->device, "cpu") == 0)
        st = plan_cpu(p, m, log, err);
    else
        st = plan_gpu(p, m, log, err);
    if (!st && (p->apply.bad || p->instead.bad || p->restore.bad))
        st = ft_fail(err, FT_ENOMEM, 0, "settings");
    if (st)
        ft__plan_free(p);
    return st;
}
