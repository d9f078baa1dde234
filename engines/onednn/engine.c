/* The plug-in: context, memory and the way from an operation to a block. */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"
#include "onednn.h"
#include "runtime.h"

static const char *version(void)
{
    static char text[32]; /* written with the same bytes every time */
    const dnnl_version_t *v = dnnl_version();

    snprintf(text, sizeof(text), "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

static int score(ft_error *err)
{
    const dnnl_version_t *v = dnnl_version();

    if (v->major == DNNL_VERSION_MAJOR)
        return 10;
    ft_fail(err, FT_EUNSUPPORTED, 0,
            "onednn: oneDNN %d.%d is installed, this plug-in speaks version 2: install "
            "libdnnl2, or rebuild for the version there is",
            v->major, v->minor);
    return 0;
}

static const ft__kernels *choose_kernels(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &ft__kernels_v3;
#endif
    return &ft__kernels_base;
}

static void engine_close(ft_engine_context *c)
{
    if (!c)
        return;
    ft__dnnl_close(&c->dnnl);
    free(c);
}

static ft_status engine_open(ft_engine_context **out, const ft_engine_config *cfg,
                             ft_error *err)
{
    ft_engine_context *c;
    ft__guard guard;
    dnnl_status_t s;
    uint32_t there;

    *out = NULL;
    if (cfg->threads < 1)
        return ft_fail(err, FT_EINVAL, 0, "onednn: at least one thread is needed");
    if (cfg->options && *cfg->options)
        return ft_fail(err, FT_EINVAL, 0,
                       "onednn: it has no options, given were \"%s\"", cfg->options);
    c = calloc(1, sizeof(*c));
    if (!c)
        return ft_fail(err, FT_ENOMEM, 0, "onednn: out of memory");
    c->threads = cfg->threads;
    c->seed = cfg->seed;
    c->kernels = choose_kernels();
    ft__enter(&guard, c->threads);
    s = ft__dnnl_open(&c->dnnl);
    there = ft__start_workers(c->threads);
    ft__leave(&guard);
    if (there != c->threads) {
        engine_close(c);
        return ft_fail(
            err, FT_EBACKEND, 0,
            "onednn: asked for %u threads, OpenMP gives %u: ask for no more, or "
            "unset OMP_THREAD_LIMIT",
            cfg->threads, there);
    }
    if (s != dnnl_success) {
        engine_close(c);
        return ft_fail(err, FT_EBACKEND, 0, "onednn: oneDNN does not start (status %d)",
                       (int)s);
    }
    *out = c;
    return FT_OK;
}

static ft_status engine_sync(ft_engine_context *c, ft_error *err)
{
    dnnl_status_t s = dnnl_stream_wait(c->dnnl.stream);

    if (s != dnnl_success)
        return ft_fail(err, FT_EBACKEND, 0, "onednn: waiting failed (status %d)",
                       (int)s);
    return FT_OK;
}

void ft__block_clear(ft_block *b)
{
    ft__prim_free(b->prim);
    if (b->plan)
        (b->free_plan ? b->free_plan : free)(b->plan);
    free(b->weights);
}

static void free_block(ft_block *b)
{
    if (!b)
        return;
    ft__block_clear(b);
    free(b);
}

/* More weights than any machine holds: sizes below this do not overflow. */
#define MAX_WEIGHT_BYTES 0x1p46

static ft_status check_request(const ft_block *b, ft_error *err)
{
    ft_status st = ft_op_check(&b->op, err);
    ft_cost cost;

    if (st)
        return st;
    ft_op_cost(&b->op, &cost);
    if (cost.weight_bytes * b->instances > MAX_WEIGHT_BYTES)
        return ft__no_memory(b, err);
    if (b->instances < 1)
        return ft_fail(err, FT_EINVAL, 0, "onednn: at least one instance is needed");
    if (b->op.phase != FT_PHASE_FORWARD)
        return ft__unsupported(b, err, "only the forward phase is implemented");
    return FT_OK;
}

static ft_status prepare(ft_engine_context *c, ft_block **out, ft_block_info *info,
                         const ft_op *op, uint32_t instances,
                         const float *const *params, uint32_t n_params, ft_error *err)
{
    ft_block *b = calloc(1, sizeof(*b));
    ft__guard guard;
    ft_status st;

    *out = NULL;
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "onednn: out of memory");
    *b = (ft_block){.ctx = c, .op = *op, .instances = instances};
    ft__enter(&guard, c->threads);
    st = check_request(b, err);
    if (!st)
        st = ft__prepare(b, err);
    if (!st && params && n_params != b->n_params)
        st = ft_fail(err, FT_EINVAL, 0, "onednn: %s takes %u weights, given are %u",
                     ft_kind_name(op->kind), b->n_params, n_params);
    if (!st)
        st = ft__load_weights(b, params, err);
    ft__leave(&guard);
    if (st) {
        free_block(b);
        return st;
    }
    info->weight_bytes = ft__weight_bytes(b);
    info->workspace_bytes = b->workspace_bytes;
    info->implementation = b->implementation;
    *out = b;
    return FT_OK;
}

static ft_status run(ft_block *b, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err)
{
    ft__guard guard;
    dnnl_status_t s;

    if (instance >= b->instances)
        return ft_fail(err, FT_EINVAL, 0, "onednn: instance %u of %u", instance,
                       b->instances);
    ft__enter(&guard, b->ctx->threads);
    s = b->run(b, &(ft__call){instance, in, out, workspace});
    ft__leave(&guard);
    return s == dnnl_success ? FT_OK : ft__checked(b, s, err);
}

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine onednn = {
        .abi = FT_ENGINE_ABI,
        .name = "onednn",
        .policy = FT_POLICY_CHANNELS_LAST,
        .version = version,
        .score = score,
        .open = engine_open,
        .close = engine_close,
        .now = ft__host_now,
        .sync = engine_sync,
        .alloc = ft__host_alloc,
        .release = ft__host_release,
        .fill = ft__host_fill,
        .prepare = prepare,
        .run = run,
        .free_block = free_block,
    };

    return &onednn;
}
