/* The plug-in: context, memory and options. */
#define _GNU_SOURCE /* CPU sets */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "options.h"
#include "tvm.h"

const char ft__engine_name[] = "tvm";

static int score(ft_error *err)
{
    /* Where the library lies is an option of open(), which says whether it is there. */
    (void)err;
    return 3;
}

static bool read_schedule(ft_engine_context *c, const char *text)
{
    unsigned trials, columns, rows;
    char canonical[40];

    if (strcmp(text, "tuned") == 0)
        text = "tuned:64";
    if (sscanf(text, "tuned:%6u", &trials) == 1)
        snprintf(canonical, sizeof(canonical), "tuned:%u", trials);
    else if (sscanf(text, "tiles:%4ux%4u", &columns, &rows) == 2 && columns && rows)
        snprintf(canonical, sizeof(canonical), "tiles:%ux%u", columns, rows);
    else if (sscanf(text, "tiles:%6u", &trials) == 1)
        snprintf(canonical, sizeof(canonical), "tiles:%u", trials);
    else
        snprintf(canonical, sizeof(canonical), "%s",
                 strcmp(text, "default") == 0 ? "default" : "rules");
    if (strcmp(text, canonical) != 0)
        return false;
    snprintf(c->schedule, sizeof(c->schedule), "%.16s", text);
    return true;
}

static bool read_option(void *to, const char *name, const char *value)
{
    ft_engine_context *c = to;
    const struct text_option {
        const char *name;
        char *to;
        size_t size;
    } texts[] = {{"lib", c->lib, sizeof(c->lib)},
                 {"python", c->python, sizeof(c->python)},
                 {"cache", c->cache, sizeof(c->cache)},
                 {"target", c->target, sizeof(c->target)}};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (strcmp(name, texts[i].name) == 0)
            return *value && !strpbrk(value, "\t\n") &&
                   ft__option_text(texts[i].to, texts[i].size, value);
    if (strcmp(name, "export") == 0)
        return c->export = strcmp(value, "1") == 0;
    if (strcmp(name, "clock") == 0) {
        c->cpu_clock = strcmp(value, "cpu") == 0;
        return ft__option_word("wall|cpu", value) >= 0;
    }
    return strcmp(name, "schedule") == 0 && read_schedule(c, value);
}

/* What was opened last, as version() does not get the context: "0.27.0-3f2a91c4+rules".
 * A schedule, and another program that makes schedules, is another implementation of
 * every operation, so that both are part of the version. */
static char version_text[96];

static const char *version(void)
{
    return version_text;
}

static void engine_close(ft_engine_context *c)
{
    if (!c)
        return;
    ft__compiler_stop(c->compiler);
    free(c);
}

/* The runtime's threads are the process's: those asked for last. It also moves the
 * calling thread to the machine's first CPU, whatever CPUs the caller may use: taken
 * back. */
static ft_status set_threads(ft_engine_context *c, ft_error *err)
{
    tvm_any args[] = {ft__tvm_number(1), ft__tvm_number(c->threads)}, result = {0};
    cpu_set_t allowed;
    bool known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
    void *f = NULL;
    ft_status st = ft__tvm_global(&c->tvm, &f, "runtime.config_threadpool", err);

    if (!st)
        st = ft__tvm_check(&c->tvm, c->tvm.call(f, args, 2, &result), err);
    if (known)
        (void)sched_setaffinity(0, sizeof(allowed), &allowed);
    if (f)
        c->tvm.release(f);
    return st;
}

static ft_status engine_open(ft_engine_context **out, const ft_engine_config *cfg,
                             ft_error *err)
{
    ft_engine_context *c;
    ft_status st;

    *out = NULL;
    if (cfg->threads < 1)
        return ft_fail(err, FT_EINVAL, 0, "tvm: at least one thread is needed");
    c = calloc(1, sizeof(*c));
    if (!c)
        return ft__no_memory(err);
    c->threads = cfg->threads;
    c->seed = cfg->seed;
    snprintf(c->target, sizeof(c->target), "host");
    snprintf(c->schedule, sizeof(c->schedule), "rules");
    st = ft__options_read(c, ft__engine_name, cfg->options, read_option,
                          "lib=PATH, python=PATH, cache=FOLDER, "
                          "target=llvm:NAME=VALUE..., "
                          "schedule=default|rules|tiles:COLUMNSxROWS|tiles:SEED|"
                          "tuned[:TRIALS], clock=wall|cpu, export=1",
                          err);
    if (!st)
        st = ft__tvm_load(&c->tvm, c->lib, err);
    if (!st && !*c->cache)
        st = ft_fail(err, FT_EINVAL, 0,
                     "tvm: cache=FOLDER is needed, where compiled modules are kept");
    if (!st)
        st = set_threads(c, err);
    if (st) {
        engine_close(c);
        return st;
    }
    snprintf(version_text, sizeof(version_text), "%s-%08x+%s", ft__tvm_version(),
             ft__tvm_program(), c->schedule);
    *out = c;
    return FT_OK;
}

static double engine_now(ft_engine_context *c)
{
    return c->cpu_clock ? ft__host_cpu_now() : ft__host_now(c);
}

ft_status ft__run_elsewhere(ft_block *b, uint32_t instance, const void *const *in,
                            void *const *out, void *workspace, ft_error *err)
{
    (void)b, (void)instance, (void)in, (void)out, (void)workspace;
    return ft_fail(err, FT_EUNSUPPORTED, 0,
                   "tvm: with export=1 modules are written, to be run elsewhere");
}

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine tvm = {
        .abi = FT_ENGINE_ABI,
        .name = ft__engine_name,
        .policy = FT_POLICY_FUSED,
        .version = version,
        .score = score,
        .open = engine_open,
        .close = engine_close,
        .now = engine_now,
        .sync = ft__host_sync,
        .alloc = ft__host_alloc,
        .release = ft__host_release,
        .fill = ft__host_fill,
        .prepare = ft__op_block,
        .run = ft__block_run,
        .free_block = ft__block_free,
        .load_model = ft__network_block,
        .loads_graphs = 1,
    };

    return &tvm;
}
