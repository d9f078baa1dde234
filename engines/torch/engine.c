/* The plug-in: options, context, clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "host.h"
#include "options.h"
#include "torch.h"

static bool read_device(int *out, const char *text)
{
    *out = strcmp(text, "cpu") == 0 ? -1 : 0;
    if (*out < 0 || strcmp(text, "cuda") == 0)
        return true;
    return strncmp(text, "cuda:", 5) == 0 && ft__option_number(out, text + 5, 1023);
}

static bool read_option(void *to, const char *name, const char *value)
{
    ft__options *o = to;

    if (strcmp(name, "lib") == 0)
        return ft__option_text(o->lib, sizeof(o->lib), value);
    if (strcmp(name, "device") == 0)
        return read_device(&o->device, value);
    if (strcmp(name, "tf32") == 0)
        return ft__option_number(&o->tf32, value, 1);
    if (strcmp(name, "without") == 0)
        return ft__option_text(o->without, sizeof(o->without), value);
    return false;
}

/* A process holds one libtorch: its version, once it has been loaded. */
static char loaded_version[32] = "unknown until it is opened";

static const char *version(void)
{
    return loaded_version;
}

/* Where libtorch lies is known when the engine is opened. */
static int score(ft_error *err)
{
    (void)err;
    return 5;
}

static void engine_close(ft_engine_context *c)
{
    if (!c)
        return;
    ft__cuda_close(c);
    ft__api_close(&c->api);
    free(c);
}

static ft_status use_threads(ft_engine_context *c, ft_error *err)
{
    uint32_t there = 0;

    if (c->api.set_num_threads)
        c->api.set_num_threads((int)c->threads);
    if (c->api.torch_get_num_threads(&there) || there != c->threads)
        return ft_fail(err, FT_EBACKEND, 0,
                       "torch: asked for %u threads, PyTorch has %u: say "
                       "OMP_NUM_THREADS=%u",
                       c->threads, there, c->threads);
    return FT_OK;
}

/* Does a C++ function take numbers as we lay them out? leaky_relu(-2) is -0.02. Where
 * it is missing nothing is known, and whoever needs one finds out. */
static bool numbers_arrive(ft_engine_context *c)
{
    static const char spec[] = "leaky_relu x=1";
    const float x = -2;
    const ft_shape one = {.rank = 1, .dim = {1}};
    void *in[1] = {NULL}, *out[1] = {NULL};
    float y = x;
    ft_block_info info;
    ft_block *b;
    ft_op op;
    bool good;

    if (ft_op_parse(&op, spec, sizeof(spec) - 1, NULL) ||
        ft__torch_values.prepare(c, &b, &info, &op, 0, NULL))
        return true;
    good =
        !ft__torch_values.make(c, &in[0], &one, FT_DTYPE_fp32, FT_LAYOUT_PLAIN, NULL) &&
        !ft__torch_values.write(c, in[0], &x, NULL) &&
        !ft__block_run(b, 0, (const void *const *)in, out, NULL, NULL) &&
        !ft__torch_values.read(c, &y, out[0], NULL) && y > -0.0201f && y < -0.0199f;
    ft__torch_values.drop(c, out[0]);
    ft__torch_values.drop(c, in[0]);
    ft__block_free(b);
    return good;
}

static ft_status start(ft_engine_context *c, ft_error *err)
{
    ft_status st = ft__api_load(&c->api, c->opt.lib, c->opt.without, err);
    uint64_t v = c->api.version;

    if (st)
        return st;
    snprintf(loaded_version, sizeof(loaded_version), "%u.%u.%u", (unsigned)(v >> 56),
             (unsigned)(v >> 48 & 255), (unsigned)(v >> 40 & 255));
    c->api.aoti_torch_grad_mode_set_enabled(false);
    c->counts_heap = !ft__api_lacks(&c->api, "posix_memalign") && ft__heap_watch();
    c->device_type = c->api.aoti_torch_device_type_cpu();
    st = use_threads(c, err);
    c->api.scalars_work = c->api.scalars_work && numbers_arrive(c);
    return st ? st : ft__cuda_open(c, err);
}

static ft_status engine_open(ft_engine_context **out, const ft_engine_config *cfg,
                             ft_error *err)
{
    ft_engine_context *c;
    ft_status st;

    *out = NULL;
    if (cfg->threads < 1)
        return ft_fail(err, FT_EINVAL, 0, "torch: at least one thread is needed");
    c = calloc(1, sizeof(*c));
    if (!c)
        return ft_fail(err, FT_ENOMEM, 0, "torch: out of memory");
    c->threads = cfg->threads;
    c->seed = cfg->seed;
    c->opt = (ft__options){.device = -1, .tf32 = -1};
    st = ft__options_read(&c->opt, "torch", cfg->options, read_option,
                          "lib=PATH, device=cpu|cuda[:N], tf32=0|1, "
                          "without=SYMBOL+SYMBOL",
                          err);
    if (!st)
        st = start(c, err);
    if (st) {
        engine_close(c);
        return st;
    }
    *out = c;
    return FT_OK;
}

static void engine_memory(ft_engine_context *c, uint64_t *now, uint64_t *peak,
                          int reset)
{
    *now = *peak = 0;
    if (c->opt.device >= 0)
        ft__cuda_memory(c, now, peak, reset);
    else if (c->counts_heap)
        ft__heap_get(now, peak, reset);
}

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine torch = {
        .abi = FT_ENGINE_ABI,
        .name = "torch",
        .policy = FT_POLICY_STRIDED_VIEWS | FT_POLICY_EAGER | FT_POLICY_CPU_SCRATCH,
        .version = version,
        .score = score,
        .open = engine_open,
        .close = engine_close,
        .now = ft__host_now,
        .sync = ft__cuda_sync,
        .fill = ft__value_fill,
        .run = ft__block_run,
        .free_block = ft__block_free,
        .values = &ft__torch_values,
        .memory = engine_memory,
    };

    return &torch;
}
