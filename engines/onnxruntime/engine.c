/* The plug-in: context, memory and options. */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "options.h"
#include "ort.h"

const char ft__engine_name[] = "onnxruntime";

static int score(ft_error *err)
{
    /* Where the library lies is an option of open(), which says whether it is there. */
    (void)err;
    return 5;
}

typedef struct options {
    char lib[4096];
    int cuda;
} options;

static bool read_option(void *to, const char *name, const char *value)
{
    options *o = to;

    if (strcmp(name, "lib") == 0)
        return ft__option_text(o->lib, sizeof(o->lib), value);
    o->cuda = ft__option_word("cpu|cuda", value);
    return strcmp(name, "device") == 0 && o->cuda >= 0;
}

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
    options opt = {0};
    ft_status st;

    *out = NULL;
    if (cfg->threads < 1)
        return ft_fail(err, FT_EINVAL, 0, "onnxruntime: at least one thread is needed");
    st = ft__options_read(&opt, ft__engine_name, cfg->options, read_option,
                          "lib=PATH, device=cpu, device=cuda", err);
    if (st)
        return st;
    c = calloc(1, sizeof(*c));
    if (!c)
        return ft__no_memory(err);
    *c = (ft_engine_context){
        .threads = cfg->threads, .seed = cfg->seed, .cuda = opt.cuda == 1};
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

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine onnxruntime = {
        .abi = FT_ENGINE_ABI,
        .name = ft__engine_name,
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
        .run = ft__block_run,
        .free_block = ft__block_free,
        .load_model = ft__network_block,
    };

    return &onnxruntime;
}
