/* foretell train: from the store to a predictor. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/predictor.h"
#include "foretell/engine.h"

struct options {
    const char *out;
    const char *engine;
    const char *device;
    uint64_t threads;
    const char *setting;
    const char *method;
    bool mix;
    ft__texts without;
    bool forget;
    bool family;
    const char *where;
    uint64_t seed;
};

static const ft__option options[] = {
    {"out", 'o', FT__OPT_TEXT, offsetof(struct options, out), "P.ftp",
     "file to write; where predict looks first unless said otherwise"},
    {"engine", 0, FT__OPT_TEXT, offsetof(struct options, engine), "NAME",
     "learn from measurements with this one; " FT__DEFAULT_ENGINE},
    {"threads", 0, FT__OPT_COUNT, offsetof(struct options, threads), "N",
     "learn from measurements with so many threads; 1"},
    {"setting", 0, FT__OPT_TEXT, offsetof(struct options, setting), "TEXT",
     "learn from measurements at this setting, \"threads=1 clock=1200MHz\""},
    {"device", 0, FT__OPT_TEXT, offsetof(struct options, device), "NAME",
     "learn from measurements of this device; this machine"},
    {"family", 0, FT__OPT_FLAG, offsetof(struct options, family), NULL,
     "learn from all devices, settings and engines in the store, for any device that has "
     "a data sheet"},
    {"where", 0, FT__OPT_TEXT, offsetof(struct options, where), "NAME=VALUE,...",
     "with --family: which measurements, as evaluate has it: \"device=a30,l4 "
     "policy=default\""},
    {"method", 0, FT__OPT_TEXT, offsetof(struct options, method), "NAME,...",
     FT__METHODS_HELP},
    {"mix", 0, FT__OPT_FLAG, offsetof(struct options, mix), NULL,
     "mix the three best where that is better than the best"},
    {"without", 0, FT__OPT_TEXTS, offsetof(struct options, without), "MODEL",
     "leave out every operation of this model, to test on it later"},
    {"forget", 0, FT__OPT_FLAG, offsetof(struct options, forget), NULL,
     "keep no measured values: every answer is learned"},
    {"seed", 0, FT__OPT_COUNT, offsetof(struct options, seed), "N",
     "of the random choices; 1"},
    {0},
};

/* How the engine runs graphs: operations are left out as it runs them. */
static ft_status policy_of(ft__cli *c, uint32_t *policy, const char *engine,
                           ft_error *err)
{
    char dir[FT__PATH_MAX], path[FT__PATH_MAX + 512];
    const ft_engine *e;
    ft_status st;

    ft__path_plugins(c, dir);
    snprintf(path, sizeof(path), "%s/ft_%.256s.so", dir, engine);
    st = ft_engine_load(&e, path, err);
    if (!st)
        *policy = e->policy;
    return st;
}

static int leave_out(ft__cli *c, ft__ops *out, const struct options *o,
                     const char *engine)
{
    const ft__model_options as_it_is = {0};
    const ft__step inference = {0};
    uint32_t policy = 0;
    ft_error err = {0};
    ft_status st;
    int code = FT__EXIT_GOOD;

    if (!o->without.n)
        return code;
    st = policy_of(c, &policy, engine, &err);
    if (st)
        return ft__cli_fail(c, st, &err);
    for (size_t i = 0; i < o->without.n && !code; i++)
        code =
            ft__model_add_ops(c, out, o->without.v[i], &as_it_is, &inference, policy);
    return code;
}

/* Of one machine: which rows of the store. */
static ft_status train_one(ft_predictor **out, ft_store *store, const struct options *o,
                           ft_train_options *how, ft_error *err)
{
    ft_device *local = NULL;
    char setting[32];
    ft_status st = ft_device_local(&local, "", err);

    if (!st) {
        snprintf(setting, sizeof(setting), "threads=%u",
                 (unsigned)(o->threads ? o->threads : 1));
        how->filter.setting = o->setting ? o->setting : setting;
        how->filter.device = o->device && strcmp(o->device, "local") != 0
                                 ? o->device
                                 : ft_device_fingerprint(local);
        st = ft_predictor_train(out, store, how, err);
    }
    ft_device_free(local);
    return st;
}

static ft_status train(ft_predictor **out, const char *store_path,
                       const struct options *o, const ft_train_options *common,
                       ft_error *err)
{
    ft_train_options how = *common;
    ft_store *store = NULL;
    ft_status st = ft_store_open(&store, store_path, FT_STORE_READ, err);

    *out = NULL;
    if (!st)
        st = o->family ? ft_predictor_train(out, store, &how, err)
                       : train_one(out, store, o, &how, err);
    ft_store_close(store);
    return st;
}

static int check(ft__cli *c, const struct options *o)
{
    if (o->family && (o->device || o->threads || o->setting))
        return ft__cli_exit(c, FT__EXIT_USAGE,
                            "--family goes with --where, which says of which device, "
                            "setting and engine");
    if (o->where && !o->family)
        return ft__cli_exit(c, FT__EXIT_USAGE, "--where goes with --family");
    return FT__EXIT_GOOD;
}

static int save(ft__cli *c, const ft_predictor *p, const char *path, bool family)
{
    ft_error err = {0};
    bool printed;
    ft_status st = ft_predictor_save(p, path, &err);

    if (st)
        return ft__cli_fail(c, st, &err);
    printed = ft__predictor_print(c, p, path);
    if (!c->json && !c->csv)
        printf("\nwritten: %s\nnext: foretell predict MODEL --device %s\n", path,
               family ? "D" : "local");
    return ft__cli_done(c, printed);
}

static int run(ft__cli *c, const void *user)
{
    const struct options *o = user;
    const char *engine = o->engine ? o->engine : FT__DEFAULT_ENGINE;
    ft_train_options how = {.filter.engine = engine,
                            .seed = o->seed ? o->seed : 1,
                            .threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                            .mix = o->mix,
                            .forget = o->forget,
                            .family = o->family,
                            .where = o->where,
                            .log = &c->log};
    char store[FT__PATH_MAX], path[FT__PATH_MAX], data[FT__PATH_MAX];
    ft__ops without = {0};
    ft_predictor *p;
    ft_error err = {0};
    ft_status st;
    int code = check(c, o);

    if (!code)
        code = ft__methods_parse(c, &how.methods, o->method);
    if (code)
        return code;
    ft__path_data(c, data);
    how.data_dir = data;
    ft__path_store(c, store);
    code = ft__store_needed(c, store);
    if (!code)
        code = leave_out(c, &without, o, engine);
    if (!code) {
        how.without = without.op;
        how.n_without = without.n;
        st = train(&p, store, o, &how, &err);
        code = st ? ft__cli_fail(c, st, &err) : FT__EXIT_GOOD;
    }
    ft__ops_free(&without);
    if (code)
        return code;
    if (o->family)
        ft__path_family(path);
    else
        ft__path_predictor(path, engine, o->threads);
    code = ft__home_needed(c, o->out);
    if (!code)
        code = save(c, p, o->out ? o->out : path, o->family);
    ft_predictor_free(p);
    return code;
}

const ft__command ft__train_command = {
    .name = "train",
    .arguments = "",
    .summary = "learn a predictor from the measurements in the store",
    .more = "",
    .examples = "  foretell train\n"
                "  foretell train -o server.ftp --engine onednn --threads 8\n"
                "  foretell train --without vgg16.onnx --forget -o honest.ftp\n",
    .least_args = 0,
    .most_args = 0,
    .has_csv = true,
    .options_size = sizeof(struct options),
    .options = options,
    .run = run,
};
