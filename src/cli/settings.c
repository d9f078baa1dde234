/* Clocks, caps and cores as options say them: settings to be made, and the operating
 * point that is asked about. */
#include "cli/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* text NULL: *hz stays. */
static int parse_hertz(ft__cli *c, double *hz, const char *option, const char *text)
{
    return !text || ft__hertz_from_text(hz, text)
               ? FT__EXIT_GOOD
               : ft__usage(c,
                           "--%s wants a clock such as 1200MHz or 1.2GHz, not \"%s\"",
                           option, text);
}

static bool watts_from_text(double *w, const char *text)
{
    return ft__number_from_text(w, text, "=1 W=1 kW=1e3 mW=1e-3");
}

static int parse_power_cap(ft__cli *c, double *w, const char *text)
{
    return !text || watts_from_text(w, text)
               ? FT__EXIT_GOOD
               : ft__usage(c, "--power-cap wants watts such as 150W, not \"%s\"", text);
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
    code = parse_hertz(c, &out->core_clock_hz, "core", t->core);
    if (!code)
        code = parse_hertz(c, &out->memory_clock_hz, "memory", t->memory);
    if (!code)
        code = parse_power_cap(c, &out->power_cap_w, t->power_cap);
    return code;
}

typedef bool value_from_text(double *out, const char *text);

static int list_parse(ft__cli *c, double *out, size_t *n, const char *list,
                      value_from_text *from, const char *wanted)
{
    char text[64];
    const char *at = list;
    bool more = true;

    for (*n = 0; more; ++*n) {
        size_t len = strcspn(at, ",");

        snprintf(text, sizeof(text), "%.*s", (int)len, at);
        if (*n == FT__MAX_CLOCKS || !from(&out[*n], text))
            return ft__usage(c, "%s, at most %d, not \"%s\"", wanted, FT__MAX_CLOCKS,
                             list);
        more = at[len] == ',';
        at += len + more;
    }
    return FT__EXIT_GOOD;
}

int ft__clock_list_parse(ft__cli *c, double *hz, size_t *n, const char *list)
{
    return list_parse(c, hz, n, list, ft__hertz_from_text,
                      "--clocks wants clocks such as 600,900,1200 (MHz)");
}

int ft__cap_list_parse(ft__cli *c, double *watts, size_t *n, const char *list)
{
    return list_parse(c, watts, n, list, watts_from_text,
                      "--power-caps wants caps such as 150,200,250 (W)");
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

const ft__option ft__operating_table[] = {
    FT__TEXT(ft__operating_options, clock, "clock", "CLOCK",
             "at this core clock, such as 1200 (MHz) or 1.2GHz"),
    FT__TEXT(ft__operating_options, memory_clock, "memory-clock", "CLOCK",
             "at this memory clock"),
    FT__TEXT(ft__operating_options, power_cap, "power-cap", "WATTS",
             "under this power cap"),
    FT__TEXT(ft__operating_options, policy, "policy", "P",
             "TF32 on devices that have it: default (in convolutions), tf32 (in all "
             "products), ieee (nowhere)"),
    {0},
};

const ft__option ft__query_table[] = {
    FT__TEXT(ft__query_options, setting, "setting", "NAME=VALUE ...",
             "as datasets name it, beside clocks and caps: \"cache=written "
             "optimizer=Adam\""),
    FT__TEXT(ft__query_options, engine_version, "engine-version", "V",
             "of --engine; the one whose measurements are most similar"),
    FT__TEXT(ft__query_options, run_mode, "run-mode", "MODE",
             "eager (the host issues each operation), compiled (of what torch.compile "
             "fused), graph (replayed as a CUDA graph, captured by hand), "
             "compiled-graph or cudagraphs (torch.compile's backend, which copies "
             "weights); as the device was measured, otherwise eager"),
    FT__TEXT(ft__query_options, host, "host", "NAME",
             "the processor that issues launches, as datasets name it"),
    FT__INPUT(ft__query_options, launch_time, "launch-time", "TIME|CSV",
              "the host takes this long to issue an operation like softmax, such as "
              "9us (elementwise ones 0.6 of it); or as long as models or operations "
              "timed on it say (columns model or spec, and time_s)"),
    {0},
};

/* Is it a time, of any value? Else it is a file's name. */
static bool is_time(double *s, const char *text)
{
    char *end, one[16];
    const double value = strtod(text, &end);

    snprintf(one, sizeof(one), "1%s", end);
    if (end == text || !ft__seconds_from_text(s, one))
        return false;
    *s *= value;
    return true;
}

int ft__launch_time_read(ft__cli *c, ft_query *q, ft_data *d, const char *text)
{
    double s;
    ft_status st;

    if (!text)
        return FT__EXIT_GOOD;
    if (is_time(&s, text)) {
        q->launch_s = s;
        return s != 0 ? FT__EXIT_GOOD
                      : ft__usage(c, "--launch-time %s: a launch takes more than 0 s",
                                  text);
    }
    if (!d)
        return ft__usage(c,
                         "--launch-time wants a time such as 9us, not \"%s\": predict "
                         "finds it in a table of timed models",
                         text);
    st = ft_launch_time(&q->launch_s, d, q, text, &c->err);
    return st ? ft__cli_check_asked(c, st) : FT__EXIT_GOOD;
}

static void add(ft__setting_options *u, const char *name, double value,
                const char *unit)
{
    size_t len = strlen(u->setting);

    snprintf(u->setting + len, sizeof(u->setting) - len, "%s%s=%.10g%s", len ? " " : "",
             name, value, unit);
}

static void write_setting(ft__setting_options *u)
{
    *u->setting = '\0';
    if (!isnan(u->clock_hz))
        add(u, "clock", u->clock_hz / 1e6, "MHz");
    if (!isnan(u->memory_hz))
        add(u, "memory", u->memory_hz / 1e6, "MHz");
    if (!isnan(u->power_w))
        add(u, "power", u->power_w, "W");
}

void ft__operating_set_clock(ft__setting_options *u, double clock_hz)
{
    u->clock_hz = clock_hz;
    write_setting(u);
}

void ft__operating_set_cap(ft__setting_options *u, double power_w)
{
    u->power_w = power_w;
    write_setting(u);
}

static int parse_policy(ft__cli *c, const char **out, const char *text)
{
    int which;

    *out = text;
    return ft__choice_parse(c, &which, "policy", text, "default, tf32, ieee");
}

int ft__operating_setting(ft__cli *c, char out[FT__SETTING_MAX],
                          const ft__setting_options *u, const char *more)
{
    const int n = snprintf(out, FT__SETTING_MAX, "%s%s%s", u->setting,
                           *u->setting && more ? " " : "", more ? more : "");

    return n < FT__SETTING_MAX ? FT__EXIT_GOOD : ft__usage(c, "--setting is too long");
}

int ft__nothing_corrected(ft__cli *c, const char *path)
{
    return ft__cli_exit(c, FT__EXIT_INPUT,
                        "--correct %s: it holds no operation, nor two networks in this "
                        "element type, of a device that is asked for and that a "
                        "predictor for a family answers for",
                        path);
}

int ft__operating_parse(ft__cli *c, ft__setting_options *out,
                        const ft__operating_options *o)
{
    int code;

    *out = (ft__setting_options){.clock_hz = NAN, .memory_hz = NAN, .power_w = NAN};
    code = parse_hertz(c, &out->clock_hz, "clock", o->clock);
    if (!code)
        code = parse_hertz(c, &out->memory_hz, "memory-clock", o->memory_clock);
    if (!code)
        code = parse_power_cap(c, &out->power_w, o->power_cap);
    if (!code)
        code = parse_policy(c, &out->policy, o->policy);
    write_setting(out);
    return code;
}
