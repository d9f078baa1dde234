/* The plug-in: options, context, clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"
#include "opencl.h"

/* ---- options ---- */

/* Which of the words, joined by '|', a value is; -1: none. */
static int word(const char *words, const char *value)
{
    size_t len = strlen(value);
    int n = 0;

    for (const char *p = words; *p; n++) {
        size_t end = strcspn(p, "|");

        if (end == len && memcmp(p, value, len) == 0)
            return n;
        p += end + (p[end] == '|');
    }
    return -1;
}

static bool read_device(int *out, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    *out = (int)n;
    return end != text && !*end && n >= 0 && n < FT__MAX_DEVICES;
}

static bool read_option(ft__options *o, const char *name, const char *value)
{
    int n = -1;

    if (strcmp(name, "lib") == 0)
        return (size_t)snprintf(o->lib, sizeof(o->lib), "%s", value) < sizeof(o->lib);
    if (strcmp(name, "device") == 0)
        return read_device(&o->device, value);
    if (strcmp(name, "as") == 0)
        o->as = n = word("cpu|gpu", value);
    else if (strcmp(name, "clock") == 0)
        o->clock = (ft__clock)(n = word("wall|device|cpu", value));
    else if (strcmp(name, "tune") == 0)
        o->tune = (n = word("0|1", value)) == 1;
    else if (strcmp(name, "products") == 0 &&
             (n = word("direct|tiles|clblast", value)) >= 0)
        o->products = (ft__products)(n + 1);
    return n >= 0;
}

static ft_status read_options(ft__options *o, const char *text, ft_error *err)
{
    char pair[600], *value;

    *o = (ft__options){.device = -1, .as = -1, .tune = true};
    while (text && *text) {
        size_t len = strcspn(text, ",");

        snprintf(pair, sizeof(pair), "%.*s", (int)(len < 599 ? len : 599), text);
        value = strchr(pair, '=');
        if (value)
            *value++ = '\0';
        if (!value || !read_option(o, pair, value))
            return ft_fail(err, FT_EINVAL, 0,
                           "opencl: bad option \"%.*s\"; it knows lib=FILE, device=N, "
                           "as=cpu|gpu, clock=wall|device|cpu, tune=0|1, "
                           "products=direct|tiles|clblast",
                           (int)(len < 191 ? len : 191), text);
        text += len + (text[len] == ',');
    }
    return FT_OK;
}

/* ---- context ---- */

/* Of the driver of the device opened last: ft_engine.version() gets no context. */
static char driver_version[64] = "unknown until it is opened";

static const char *version(void)
{
    return driver_version;
}

/* Which devices there are is known when the engine is opened. */
static int score(ft_error *err)
{
    (void)err;
    return 4;
}

static void engine_close(ft_engine_context *c)
{
    if (!c)
        return;
    ft__device_close(c);
    free(c); /* drivers have threads: the library stays */
}

static ft_status engine_open(ft_engine_context **out, const ft_engine_config *cfg,
                             ft_error *err)
{
    ft_engine_context *c;
    ft_status st;

    *out = NULL;
    if (cfg->threads < 1)
        return ft_fail(err, FT_EINVAL, 0, "opencl: at least one thread is needed");
    c = calloc(1, sizeof(*c));
    if (!c)
        return ft_fail(err, FT_ENOMEM, 0, "opencl: out of memory");
    st = read_options(&c->opt, cfg->options, err);
    if (!st)
        st = ft__library_open(c, err);
    if (!st)
        st = ft__device_open(c, cfg->threads, err);
    if (st) {
        engine_close(c);
        return st;
    }
    if (c->cl.clGetDeviceInfo(c->used, CL_DRIVER_VERSION, sizeof(driver_version),
                              driver_version, NULL))
        snprintf(driver_version, sizeof(driver_version), "of unknown version");
    *out = c;
    return FT_OK;
}

static double engine_now(ft_engine_context *c)
{
    struct timespec t;

    if (c->opt.clock != FT__CLOCK_CPU)
        return c->opt.clock == FT__CLOCK_DEVICE ? c->device_s : ft__host_now(NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void engine_memory(ft_engine_context *c, uint64_t *now, uint64_t *peak,
                          int reset)
{
    *now = c->bytes;
    *peak = c->peak;
    if (reset)
        c->peak = c->bytes;
}

static ft_status engine_device(ft_engine_context *c, uint32_t i, ft_engine_device *out,
                               ft_error *err)
{
    if (i >= c->n_devices)
        return ft_fail(err, FT_ENOTFOUND, 0, "opencl: no device %u", i);
    *out = c->device[i];
    return FT_OK;
}

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine opencl = {
        .abi = FT_ENGINE_ABI,
        .name = "opencl",
        .policy = FT_POLICY_EAGER,
        .version = version,
        .score = score,
        .open = engine_open,
        .close = engine_close,
        .now = engine_now,
        .sync = ft__finish,
        .fill = ft__value_fill,
        .run = ft__block_run,
        .free_block = ft__block_free,
        .values = &ft__opencl_values,
        .memory = engine_memory,
        .device = engine_device,
    };

    return &opencl;
}
