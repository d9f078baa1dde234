/* What can be set on a machine, what is in force, and what to do where it cannot. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/clocks/acts.h"
#include "device/clocks/hold.h"
#include "device/cpus.h"
#include "device/sysfs.h"

struct settings_list {
    ft_settings_list shown; /* first */
    ft_setting_state *state;
    size_t cap;
    ft_setting_state spare; /* for entries when memory is short */
    ft__arena arena;
    bool bad; /* memory was short */
};

/* While the list is made. */
struct look {
    struct settings_list *list;
    const char *root;
    bool is_virtual;
    ft__cpus online, present;
};

FT_PRINTF(2, 3) static const char *keep(struct settings_list *l, const char *fmt, ...)
{
    const char *kept;
    va_list ap;

    va_start(ap, fmt);
    kept = ft__arena_vfmt(&l->arena, fmt, ap);
    va_end(ap);
    l->bad = l->bad || !kept;
    return kept ? kept : "";
}

/* A new entry about which nothing is known. */
static ft_setting_state *add(struct settings_list *l, const char *device,
                             const char *name)
{
    ft_setting_state *s = ft__list_grow(l->state, l->shown.n, &l->cap, sizeof(*s));

    if (!s) {
        l->bad = true;
        return &l->spare;
    }
    l->state = s;
    s = &l->state[l->shown.n++];
    *s = (ft_setting_state){.device = device,
                            .name = name,
                            .now = NAN,
                            .text = "",
                            .least = NAN,
                            .most = NAN,
                            .normal = NAN,
                            .unit = "",
                            .choices = "",
                            .reason = "",
                            .remedy = ""};
    return s;
}

/* "600 900 1200 MHz"; where there are more than `most`, the first few and the last. */
static const char *list_mhz(struct settings_list *l, const double *hz, size_t n,
                            size_t most)
{
    enum { FEW = 4 };
    ft__buf b = {0};
    const char *kept;

    for (size_t i = 0; i < n; i++) {
        if (n > most && i == FEW)
            ft__buf_str(&b, ".. ");
        if (n <= most || i < FEW || i + FEW >= n)
            ft__buf_fmt(&b, "%.0f ", hz[i] * 1e-6);
    }
    kept = b.len ? keep(l, "%sMHz", b.s) : "";
    ft__buf_free(&b);
    return kept;
}

/* Whether all files of `a` may be written; takes it. */
static void judge(struct look *k, ft_setting_state *s, ft__acts *a)
{
    ft__refusal why;

    s->writable = ft__acts_allowed(&why, k->root, a, NULL) == FT_OK;
    if (why.code == EACCES || why.code == EPERM) {
        s->reason = "only root may set it";
        s->remedy = keep(k->list, "%s", why.remedy);
    } else if (why.code == EROFS) {
        s->reason = "it is mounted read-only here";
        s->remedy = "set it on the host";
    } else if (why.code) {
        s->reason = keep(k->list, "%s", strerror(why.code));
    }
    k->list->bad = k->list->bad || a->bad;
    ft__acts_free(a);
}

static void absent(struct look *k, ft_setting_state *s, const char *what)
{
    s->reason = keep(k->list, "this %s %s",
                     k->is_virtual ? "virtual machine" : "machine", what);
    s->remedy = k->is_virtual ? "set it on the host" : "";
}

static void show_cores(struct look *k)
{
    ft_setting_state *s = add(k->list, "cpu", "cpus online");
    ft__acts switches = {0};
    char text[1024], path[128];

    ft__cpus_print(&k->online, text, sizeof(text));
    s->text = keep(k->list, "%s", text);
    ft__cpus_print(&k->present, text, sizeof(text));
    s->choices = keep(k->list, "%s", text);
    for (unsigned i = 0; i < FT__MAX_CPUS; i++) {
        snprintf(path, sizeof(path), FT__CPU "/cpu%u/online", i);
        if (k->present.has[i] &&
            ft__sys_text(text, sizeof(text), k->root, "%s", path) != ENOENT)
            ft__acts_add(&switches, FT__ACT_PUT, path, "1");
    }
    if (switches.n)
        judge(k, s, &switches);
    else
        absent(k, s, "has no switches for its CPUs");
}

static void show_turbo(struct look *k)
{
    ft_setting_state *s = add(k->list, "cpu", "turbo");
    ft__acts switches = {0};
    ft__turbo t;

    if (!ft__turbo_read(&t, k->root)) {
        absent(k, s, "has no switch for turbo clocks");
        return;
    }
    s->text = t.is_on ? "on" : "off";
    s->choices = "on off";
    ft__acts_add(&switches, FT__ACT_PUT, t.path, "%s", t.on);
    judge(k, s, &switches);
}

/* CPUs that are alike. */
struct cpu_group {
    ft__policy policy; /* of the first; now_hz is the highest of all */
    ft__cpus cpus;
};

static bool alike(const ft__policy *a, const ft__policy *b)
{
    return a->least_hz == b->least_hz && a->most_hz == b->most_hz &&
           a->low_hz == b->low_hz && a->high_hz == b->high_hz &&
           a->n_steps == b->n_steps && strcmp(a->governor, b->governor) == 0 &&
           strcmp(a->governors, b->governors) == 0;
}

/* "name", or "name of CPUs 0-3" when there are other CPUs. */
static const char *name_of(struct look *k, const struct cpu_group *g, const char *name)
{
    char text[512];

    ft__cpus_print(&g->cpus, text, sizeof(text));
    return g->cpus.n == k->online.n ? name : keep(k->list, "%s of CPUs %s", name, text);
}

static void judge_files(struct look *k, const struct cpu_group *g, ft_setting_state *s,
                        const char *const *files)
{
    ft__acts all = {0};
    char path[128];

    for (unsigned i = 0; i < FT__MAX_CPUS; i++)
        for (size_t j = 0; g->cpus.has[i] && files[j]; j++) {
            snprintf(path, sizeof(path), FT__CPUFREQ "%s", i, files[j]);
            ft__acts_add(&all, FT__ACT_PUT, path, "0");
        }
    judge(k, s, &all);
}

static void show_group(struct look *k, const struct cpu_group *g)
{
    static const char *const clock_files[] = {"scaling_min_freq", "scaling_max_freq",
                                              NULL};
    static const char *const governor_files[] = {"scaling_governor", NULL};
    const ft__policy *p = &g->policy;
    ft_setting_state *s = add(k->list, "cpu", name_of(k, g, "core clock"));

    s->now = p->now_hz;
    s->text = p->low_hz == p->high_hz
                  ? keep(k->list, "fixed at %.0f MHz", p->low_hz * 1e-6)
                  : keep(k->list, "between %.0f and %.0f MHz", p->low_hz * 1e-6,
                         p->high_hz * 1e-6);
    s->least = p->least_hz;
    s->most = p->most_hz;
    s->normal = p->nominal_hz;
    s->unit = "Hz";
    s->choices = list_mhz(k->list, p->step_hz, p->n_steps, FT__MAX_STEPS);
    judge_files(k, g, s, clock_files);
    s = add(k->list, "cpu", name_of(k, g, "governor"));
    s->text = keep(k->list, "%s", p->governor);
    s->choices = keep(k->list, "%s", p->governors);
    judge_files(k, g, s, governor_files);
}

enum { MAX_GROUPS = 8 };

static void show_clocks(struct look *k)
{
    struct cpu_group *g = calloc(MAX_GROUPS, sizeof(*g));
    size_t n = 0;

    k->list->bad = k->list->bad || !g;
    for (unsigned i = 0; g && i < FT__MAX_CPUS; i++) {
        ft__policy p;
        size_t j = 0;

        if (!k->online.has[i] || !ft__policy_read(&p, k->root, i))
            continue;
        while (j < n && !alike(&g[j].policy, &p))
            j++;
        if (j == MAX_GROUPS)
            continue;
        if (j == n)
            g[n++].policy = p;
        g[j].policy.now_hz = fmax(g[j].policy.now_hz, p.now_hz);
        ft__cpus_put(&g[j].cpus, i, true);
    }
    for (size_t j = 0; j < n; j++)
        show_group(k, &g[j]);
    if (!n)
        absent(k, add(k->list, "cpu", "core clock"), "shows no CPU clock");
    free(g);
}

static void show_cpu(struct look *k)
{
    k->is_virtual = ft__is_virtual(k->root);
    ft__cpus_online(&k->online, &k->present, k->root);
    show_clocks(k);
    show_turbo(k);
    show_cores(k);
}

static void judge_gpu(struct settings_list *l, ft_setting_state *s, bool known,
                      const char *option)
{
    s->writable = known && geteuid() == 0;
    if (s->writable)
        return;
    s->reason = known ? "only root may set it" : "this device does not report it";
    if (known)
        s->remedy = keep(l, "sudo foretell clocks set --device %s %s -- CMD", s->device,
                         option);
}

static void show_gpu_clock(struct settings_list *l, const ft__nvml *g, void *handle,
                           const char *device, bool memory)
{
    double hz[FT__NVML_MAX_CLOCKS];
    unsigned n = ft__nvml_clocks(hz, g, handle, 0), now;
    const int which = memory ? FT__NVML_CLOCK_MEMORY : FT__NVML_CLOCK_GRAPHICS;
    ft_setting_state *s = add(l, device, memory ? "memory clock" : "core clock");

    /* Core clocks: those at the highest memory clock. */
    if (n && !memory)
        n = ft__nvml_clocks(hz, g, handle, (unsigned)lround(hz[n - 1] * 1e-6));
    s->unit = "Hz";
    if (FT__NVML_CALL(g, clock, handle, which, &now) == 0)
        s->now = now * 1e6;
    if (FT__NVML_CALL(g, clock_max, handle, which, &now) == 0)
        s->normal = now * 1e6;
    if (n) {
        s->least = hz[0];
        s->most = hz[n - 1];
        s->choices = list_mhz(l, hz, n, 12);
    }
    judge_gpu(l, s, n > 0, memory ? "--memory MHZ" : "--core MHZ");
}

static void show_gpu_power(struct settings_list *l, const ft__nvml *g, void *handle,
                           const char *device)
{
    ft_setting_state *s = add(l, device, "power cap");
    unsigned now, least, most;

    s->unit = "W";
    if (FT__NVML_CALL(g, power_limit, handle, &now) == 0)
        s->now = now * 1e-3;
    if (FT__NVML_CALL(g, power_limit_range, handle, &least, &most) == 0) {
        s->least = least * 1e-3;
        s->most = most * 1e-3;
    }
    if (FT__NVML_CALL(g, power_limit_default, handle, &now) == 0)
        s->normal = now * 1e-3;
    judge_gpu(l, s, s->most > 0, "--power-cap WATTS");
}

static void show_gpus(struct settings_list *l, ft__machine *m)
{
    ft_error why = {0};

    if (*m->root && !m->nvml)
        return;
    if (ft__machine_gpus(m, &why)) {
        add(l, "nvml", "clocks and power cap")->reason = keep(l, "%s", why.msg);
        return;
    }
    for (unsigned i = 0; i < m->gpus.n_devices; i++) {
        const char *device = keep(l, "nvml:%u", i);
        unsigned index;
        void *handle;

        if (ft__nvml_find(&handle, &index, &m->gpus, device, &why)) {
            add(l, device, "clocks and power cap")->reason = keep(l, "%s", why.msg);
            continue;
        }
        show_gpu_clock(l, &m->gpus, handle, device, false);
        show_gpu_clock(l, &m->gpus, handle, device, true);
        show_gpu_power(l, &m->gpus, handle, device);
    }
}

static void show_in_force(struct settings_list *l, const ft_settings_options *opt,
                          const char *root)
{
    ft__in_force now = ft__settings_in_force(opt->state_dir, root);

    if (now.holder)
        l->shown.in_force = keep(
            l, "process %ld holds settings and puts them back at its end", now.holder);
    else if (now.held)
        l->shown.in_force =
            "a run that was cut off left settings; put them back: foretell "
            "clocks reset";
    else if (now.kept)
        l->shown.in_force = keep(
            l, "%zu values are kept; put them back: foretell clocks reset", now.kept);
}

ft_status ft_settings_show(ft_settings_list **out, const ft_settings_options *opt,
                           ft_error *err)
{
    static const ft_settings_options none = {0};
    struct settings_list *l = calloc(1, sizeof(*l));
    struct look *k = calloc(1, sizeof(*k));
    ft__machine m = ft__machine_of(opt);

    *out = NULL;
    opt = opt ? opt : &none;
    if (l && k) {
        *k = (struct look){.list = l, .root = m.root};
        l->shown.in_force = "";
        show_cpu(k);
        show_gpus(l, &m);
        show_in_force(l, opt, m.root);
        ft__machine_close(&m);
    }
    if (!l || !k || l->bad) {
        free(k);
        ft_settings_list_free(&l->shown);
        return ft_fail(err, FT_ENOMEM, 0, "settings");
    }
    free(k);
    l->shown.state = l->state;
    *out = &l->shown;
    return FT_OK;
}

void ft_settings_list_free(ft_settings_list *shown)
{
    struct settings_list *l = (struct settings_list *)shown;

    if (!l)
        return;
    free(l->state);
    ft__arena_free(&l->arena);
    free(l);
}
