/* The plug-in: options, context, clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "opencl.h"
#include "options.h"

static bool read_option(void *to, const char *name, const char *value)
{
    ft__options *o = to;
    int n = -1;

    if (strcmp(name, "lib") == 0)
        return ft__option_text(o->lib, sizeof(o->lib), value);
    if (strcmp(name, "device") == 0)
        return ft__option_number(&o->device, value, FT__MAX_DEVICES - 1);
    if (strcmp(name, "as") == 0)
        o->as = n = ft__option_word("cpu|gpu", value);
    else if (strcmp(name, "clock") == 0)
        o->clock = (ft__clock)(n = ft__option_word("wall|device|cpu", value));
    else if (strcmp(name, "tune") == 0)
        o->tune = (n = ft__option_word("0|1", value)) == 1;
    else if (strcmp(name, "products") == 0 &&
             (n = ft__option_word("direct|tiles|clblast", value)) >= 0)
        o->products = (ft__products)(n + 1);
    return n >= 0;
}

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
    c->opt = (ft__options){.device = -1, .as = -1, .tune = true};
    st = ft__options_read(&c->opt, "opencl", cfg->options, read_option,
                          "lib=FILE, device=N, as=cpu|gpu, clock=wall|device|cpu, "
                          "tune=0|1, products=direct|tiles|clblast",
                          err);
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
    if (c->opt.clock == FT__CLOCK_CPU)
        return ft__host_cpu_now();
    return c->opt.clock == FT__CLOCK_DEVICE ? c->device_s : ft__host_now(NULL);
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
