/* --clock, --memory-clock, --power-cap, --policy: the operating point of a device. */
#include <math.h>
#include <string.h>

#include "cli/operating_point.h"
#include "cli/settings.h"

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
             "eager (the host issues each operation) or graph (replayed as a CUDA "
             "graph); as the device was measured, otherwise eager"),
    FT__TEXT(ft__query_options, host, "host", "NAME",
             "the processor that issues launches, as datasets name it"),
    {0},
};

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

int ft__device_resolve(ft__cli *c, char *name, size_t size)
{
    char data_dir[FT__PATH_MAX], note[512];
    ft_status st;

    ft__path_data(c, data_dir);
    st = ft_device_resolve(name, size, note, sizeof(note), data_dir, &c->err);
    return ft__cli_check(c, st);
}

bool ft__device_is_there(ft__cli *c, const char *name, double *memory_bytes)
{
    char data_dir[FT__PATH_MAX];
    ft_device *d;
    bool is;

    ft__path_data(c, data_dir);
    is = !ft_device_load(&d, data_dir, name, NULL);
    if (is && memory_bytes)
        *memory_bytes = ft_device_get(d)->memory_bytes;
    ft_device_free(d);
    return is;
}

int ft__nothing_corrected(ft__cli *c, const char *path)
{
    return ft__cli_exit(c, FT__EXIT_INPUT,
                        "--correct %s: it holds no operation of a device that is asked "
                        "for and that a predictor for a family answers for",
                        path);
}

int ft__operating_parse(ft__cli *c, ft__setting_options *out,
                        const ft__operating_options *o)
{
    int code;

    *out = (ft__setting_options){.clock_hz = NAN, .memory_hz = NAN, .power_w = NAN};
    code = ft__hertz_parse(c, &out->clock_hz, "clock", o->clock);
    if (!code)
        code = ft__hertz_parse(c, &out->memory_hz, "memory-clock", o->memory_clock);
    if (!code)
        code = ft__watts_parse(c, &out->power_w, "power-cap", o->power_cap);
    if (!code)
        code = parse_policy(c, &out->policy, o->policy);
    write_setting(out);
    return code;
}
