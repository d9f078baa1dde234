/* The plug-in: context, memory and options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "ort.h"

static int score(ft_error *err)
{
    /* Where the library lies is an option of open(), which says whether it is there. */
    (void)err;
    return 5;
}

/* ---- options ---- */

typedef struct options {
    char lib[4096];
    bool cuda;
} options;

static bool read_option(options *o, const char *text, size_t len)
{
    if (len > 4 && memcmp(text, "lib=", 4) == 0)
        return (size_t)snprintf(o->lib, sizeof(o->lib), "%.*s", (int)(len - 4),
                                text + 4) < sizeof(o->lib);
    o->cuda = len == 11 && memcmp(text, "device=cuda", len) == 0;
    return o->cuda || (len == 10 && memcmp(text, "device=cpu", len) == 0);
}

static ft_status read_options(options *o, const char *text, ft_error *err)
{
    memset(o, 0, sizeof(*o));
    while (text && *text) {
        size_t len = strcspn(text, ",");

        if (!read_option(o, text, len))
            return ft_fail(err, FT_EINVAL, 0,
                           "onnxruntime: bad option \"%.*s\"; it knows lib=PATH, "
                           "device=cpu, device=cuda",
                           (int)len, text);
        text += len + (text[len] == ',');
    }
    return FT_OK;
}

/* ---- context ---- */

/* Plug-ins do not print. */
static void ORT_API_CALL no_log(void *user, OrtLoggingLevel level, const char *category,
                                const char *id, const char *location,
                                const char *message)
{
    (void)user;
    (void)level;
    (void)category;
    (void)id;
    (void)location;
    (void)message;
}

static void engine_close(ft_engine_context *c)
{
    if (!c)
        return;
    if (c->cpu)
        c->api->ReleaseMemoryInfo(c->cpu);
    if (c->env)
        c->api->ReleaseEnv(c->env);
    free(c);
}

/* One arena for the sessions of all operations, as the operations of a network
 * share one: else each would keep its own scratch memory cold. */
static OrtStatus *share_arena(ft_engine_context *c)
{
    OrtArenaCfg *cfg;
    OrtStatus *s = c->api->CreateArenaCfg(0, -1, -1, -1, &cfg);

    if (s)
        return s;
    s = c->api->CreateAndRegisterAllocator(c->env, c->cpu, cfg);
    c->api->ReleaseArenaCfg(cfg);
    /* The process has one environment: an engine opened twice finds it there. */
    if (s)
        c->api->ReleaseStatus(s);
    return NULL;
}

/* One set of threads for the sessions of all operations: each having its own would
 * be hundreds. */
static OrtStatus *share_threads(ft_engine_context *c)
{
    const OrtApi *a = c->api;
    OrtThreadingOptions *t;
    OrtStatus *s = a->CreateThreadingOptions(&t);

    if (s)
        return s;
    s = a->SetGlobalIntraOpNumThreads(t, (int)c->threads);
    if (!s)
        s = a->SetGlobalInterOpNumThreads(t, 1);
    if (!s)
        s = a->SetGlobalSpinControl(t, 0);
    if (!s)
        s = a->CreateEnvWithCustomLoggerAndGlobalThreadPools(
            no_log, NULL, ORT_LOGGING_LEVEL_FATAL, "foretell", t, &c->env);
    a->ReleaseThreadingOptions(t);
    return s;
}

static ft_status start(ft_engine_context *c, ft_error *err)
{
    OrtStatus *s =
        c->threads > 1
            ? share_threads(c)
            : c->api->CreateEnvWithCustomLogger(no_log, NULL, ORT_LOGGING_LEVEL_FATAL,
                                                "foretell", &c->env);

    if (!s)
        s = c->api->DisableTelemetryEvents(c->env);
    if (!s)
        s = c->api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &c->cpu);
    if (!s)
        s = share_arena(c);
    return ft__ort_check(c->api, s, err);
}

static ft_status engine_open(ft_engine_context **out, const ft_engine_config *cfg,
                             ft_error *err)
{
    ft_engine_context *c;
    options opt;
    ft_status st;

    *out = NULL;
    if (cfg->threads < 1)
        return ft_fail(err, FT_EINVAL, 0, "onnxruntime: at least one thread is needed");
    st = read_options(&opt, cfg->options, err);
    if (st)
        return st;
    c = calloc(1, sizeof(*c));
    if (!c)
        return ft_fail(err, FT_ENOMEM, 0, "onnxruntime: out of memory");
    *c = (ft_engine_context){
        .threads = cfg->threads, .seed = cfg->seed, .cuda = opt.cuda};
    st = ft__ort_load(&c->api, opt.lib, err);
    if (!st)
        st = start(c, err);
    if (st) {
        engine_close(c);
        return st;
    }
    *out = c;
    return FT_OK;
}

/* ---- blocks ---- */

static ft_status run(ft_block *b, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err)
{
    if (instance >= b->instances)
        return ft_fail(err, FT_EINVAL, 0, "onnxruntime: instance %u of %u", instance,
                       b->instances);
    return b->run(b, instance, in, out, workspace, err);
}

static void free_block(ft_block *b)
{
    if (b)
        b->free(b);
}

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine onnxruntime = {
        .abi = FT_ENGINE_ABI,
        .name = "onnxruntime",
        .policy = 0,
        .version = ft__ort_version,
        .score = score,
        .open = engine_open,
        .close = engine_close,
        .now = ft__host_now,
        .sync = ft__host_sync,
        .alloc = ft__host_alloc,
        .release = ft__host_release,
        .fill = ft__host_fill,
        .prepare = ft__op_block,
        .run = run,
        .free_block = free_block,
        .load_model = ft__network_block,
    };

    return &onnxruntime;
}
