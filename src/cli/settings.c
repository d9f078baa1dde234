/* Clocks, caps and cores as options of several commands. */
#include "cli/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const ft__option ft__clock_steps_table[] = {
    FT__TEXT(ft__clock_steps_options, clocks, "clocks", "MHZ,...",
             "at each of these core clocks in turn; put back afterwards"),
    FT__TEXT(ft__clock_steps_options, memory_clock, "memory-clock", "CLOCK",
             "with this memory clock of a GPU"),
    FT__TEXT(ft__clock_steps_options, power_cap, "power-cap", "WATTS",
             "with this power cap of a GPU"),
    FT__TEXT(ft__clock_steps_options, device, "clocks-of", "DEVICE",
             "whose clocks and cap: cpu, nvml:0; the engine's device"),
    {0},
};

int ft__hertz_parse(ft__cli *c, double *hz, const char *option, const char *text)
{
    return !text || ft__hertz_from_text(hz, text)
               ? FT__EXIT_GOOD
               : ft__usage(c,
                           "--%s wants a clock such as 1200MHz or 1.2GHz, not \"%s\"",
                           option, text);
}

int ft__watts_parse(ft__cli *c, double *w, const char *option, const char *text)
{
    return !text || ft__watts_from_text(w, text)
               ? FT__EXIT_GOOD
               : ft__usage(c, "--%s wants watts such as 150W, not \"%s\"", option,
                           text);
}

int ft__settings_parse(ft__cli *c, ft_settings *out, const ft__settings_texts *t)
{
    int code;

    *out = (ft_settings){.device = t->device,
                         .core_clock_hz = NAN,
                         .memory_clock_hz = NAN,
                         .power_cap_w = NAN,
                         .cpus_online = t->cpus,
                         .governor = t->governor,
                         .turbo = t->turbo,
                         .affinity = t->affinity};
    code = ft__hertz_parse(c, &out->core_clock_hz, "core", t->core);
    if (!code)
        code = ft__hertz_parse(c, &out->memory_clock_hz, "memory", t->memory);
    if (!code)
        code = ft__watts_parse(c, &out->power_cap_w, "power-cap", t->power_cap);
    return code;
}

int ft__clock_list_parse(ft__cli *c, double *hz, size_t *n, const char *list)
{
    char text[64];
    const char *at = list;
    bool more = true;

    for (*n = 0; more; ++*n) {
        size_t len = strcspn(at, ",");

        snprintf(text, sizeof(text), "%.*s", (int)len, at);
        if (*n == FT__MAX_CLOCKS || !ft__hertz_from_text(&hz[*n], text))
            return ft__usage(c,
                             "--clocks wants clocks such as 600,900,1200 (MHz), "
                             "at most %d, not \"%s\"",
                             FT__MAX_CLOCKS, list);
        more = at[len] == ',';
        at += len + more;
    }
    return FT__EXIT_GOOD;
}

void ft__machine_open(ft__this_machine *m, const ft__cli *c, const char *root)
{
    *m = (ft__this_machine){
        .how = {.root = root, .state_dir = m->state_dir, .log = &c->log}};
    ft__path_state(m->state_dir, root);
    ft__path_self(m->self);
    if (!*m->self)
        return;
    m->guard[0] = m->self;
    m->guard[1] = "clocks";
    m->guard[2] = "guard";
    m->how.guard = m->guard;
}

/* ---- measuring at one clock after the other ---- */

/* "torch:device=cuda:1" -> "nvml:1" */
static void device_of(ft__clock_steps *w, const char *given, const char *engine)
{
    const char *cuda = engine ? strstr(engine, "device=cuda") : NULL;
    unsigned gpu = 0;

    if (cuda)
        (void)sscanf(cuda, "device=cuda:%u", &gpu);
    if (given)
        snprintf(w->device, sizeof(w->device), "%s", given);
    else if (cuda)
        snprintf(w->device, sizeof(w->device), "nvml:%u", gpu);
    else
        snprintf(w->device, sizeof(w->device), "cpu");
}

int ft__clock_steps_parse(ft__cli *c, ft__clock_steps *w,
                          const ft__clock_steps_options *o, const char *engine)
{
    const ft__settings_texts texts = {.memory = o->memory_clock,
                                      .power_cap = o->power_cap};
    int code = ft__settings_parse(c, &w->settings, &texts);

    w->n = 0;
    if (!code && o->clocks)
        code = ft__clock_list_parse(c, w->clock_hz, &w->n, o->clocks);
    w->any = w->n || o->memory_clock || o->power_cap;
    if (w->n == 0)
        w->clock_hz[w->n++] = NAN;
    device_of(w, o->device, engine);
    w->settings.device = w->device;
    ft__machine_open(&w->machine, c, NULL);
    return code;
}

int ft__clock_steps_open(ft__cli *c, ft_session **out, const char *engine,
                         uint64_t threads, ft__clock_steps *w, size_t i)
{
    w->settings.core_clock_hz = w->clock_hz[i];
    return ft__session_open_held(c, out, engine, threads, w->any ? &w->settings : NULL,
                                 &w->machine.how);
}

ft_monitor *ft__clock_steps_monitor(const ft__clock_steps *w)
{
    ft_monitor *m;

    return ft_monitor_open(&m, w->device, &w->machine.how, NULL) ? NULL : m;
}

void ft__clock_steps_begin(const ft__cli *c, const ft__clock_steps *w, size_t i)
{
    if (w->n > 1 && c->json)
        puts(i ? "," : "[");
    else if (i)
        putchar('\n');
}

void ft__clock_steps_end(const ft__cli *c, const ft__clock_steps *w)
{
    if (w->n > 1 && c->json)
        puts("]");
}

json_t *ft__settings_json(const ft_settings *s)
{
    char text[512];

    ft_settings_print(s, text, sizeof(text));
    return ft__json("setting:s device:s core_clock_hz:g memory_clock_hz:g "
                    "power_cap_w:g cpus_online:s governor:s turbo:s affinity:s",
                    text, s->device ? s->device : "cpu", s->core_clock_hz,
                    s->memory_clock_hz, s->power_cap_w, s->cpus_online, s->governor,
                    s->turbo, s->affinity);
}

json_t *ft__conditions_json(const ft_conditions *x)
{
    static const char *const names[] = {"clock_moved", "throttled", "foreign_load",
                                        "hot"};
    json_t *marks = json_array();

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (x->marks & 1u << i)
            ft__json_append_take(&marks, json_string(names[i]));
    return ft__json("clock_hz:g clock_low_hz:g clock_high_hz:g memory_clock_hz:g "
                    "temperature_max_k:g foreign_load:g throttle:o samples:n marks:o",
                    x->clock_hz, x->clock_low_hz, x->clock_high_hz, x->memory_clock_hz,
                    x->temperature_max_k, x->foreign_load,
                    json_integer((json_int_t)x->throttle), x->n, marks);
}
